"""The command: called in this process, as a process with pipes, or at a real terminal."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Sequence
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pexpect
import pytest

from selfplay.cli.main import run as command
from selfplay.workers.executors import ray
from selfplay.workers.executors.local import LocalExecutor
from tests import ROOT

SELFPLAY = [sys.executable, "-m", "selfplay"]


def run(
    *arguments: str, stdin: str = "", cwd: Path | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run the command in this process, without Ray, which saves the start of both."""
    encoding = environment.get("PYTHONIOENCODING", "utf-8")
    out, err = (TextIOWrapper(BytesIO(), encoding=encoding) for _ in range(2))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["selfplay", *arguments])
        patch.setattr(sys, "stdin", TextIOWrapper(BytesIO(stdin.encode())))
        patch.setattr(sys, "stdout", out)
        patch.setattr(sys, "stderr", err)
        patch.setattr(ray, "RayExecutor", lambda workers, address: LocalExecutor())
        for name, value in {"COLUMNS": "80", "LINES": "25", **environment}.items():
            patch.setenv(name, value)
        if cwd is not None:
            patch.chdir(cwd)
        try:
            command()
        except SystemExit as end:
            code = end.code
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
    assert isinstance(code, int)
    texts = [stream.buffer.getvalue().decode(encoding) for stream in (out, err)]  # type: ignore[attr-defined]
    return subprocess.CompletedProcess(arguments, code, *texts)


def run_process(
    *arguments: str, cwd: Path | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run the command as a process of its own, with pipes."""
    return subprocess.run(
        [*SELFPLAY, *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        cwd=cwd,
        check=False,
    )


def json_lines(text: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in text.splitlines()]


def terminal(
    arguments: Sequence[str],
    cwd: Path | None = None,
    stdout: Path | None = None,
    **environment: str,
) -> pexpect.spawn:
    """Run the command at a terminal of 80 by 24; stdout may go to a file."""
    words = shlex.join([*SELFPLAY, *arguments]) + (f" > {stdout}" if stdout else "")
    return pexpect.spawn(
        "/bin/sh",
        ["-c", f"exec {words}"],
        encoding="utf-8",
        dimensions=(24, 80),
        timeout=60,
        cwd=None if cwd is None else str(cwd),
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
    )
