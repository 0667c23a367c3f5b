"""The command as a process: with pipes, or at a real terminal."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pexpect

from tests import ROOT

SELFPLAY = [sys.executable, "-m", "selfplay"]


def run(
    *arguments: str, stdin: str | None = None, cwd: Path | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*SELFPLAY, *arguments],
        input=stdin,
        stdin=None if stdin is not None else subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
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
    """At a terminal of 80 by 24; results go into a file, if one is given."""
    command = shlex.join([*SELFPLAY, *arguments]) + (f" > {stdout}" if stdout else "")
    return pexpect.spawn(
        "/bin/sh",
        ["-c", f"exec {command}"],
        encoding="utf-8",
        dimensions=(24, 80),
        timeout=60,
        cwd=None if cwd is None else str(cwd),
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
    )
