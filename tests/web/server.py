"""The server of the page, as a process of its own and as an application for a test client."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests import ROOT
from tests.cli.command import SELFPLAY, run

GIVE_UP = 20


def small_tree(folder: Path) -> str:
    """A tree trained on the example run."""
    path = folder / "small"
    done = run("train", "examples/tiny", "--out", str(path), cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return str(path)


@contextmanager
def serving(*arguments: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """`selfplay web` as a process, and the address that it prints."""
    command = [*SELFPLAY, "web", "--no-browser", "--port", "0", *arguments]
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    try:
        assert process.stdout is not None
        yield process, process.stdout.readline().strip()
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=GIVE_UP)
