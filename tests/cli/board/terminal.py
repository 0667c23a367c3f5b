"""A game in a real terminal."""

from __future__ import annotations

import re
from pathlib import Path

import pexpect

from tests.cli.command import ROOT, terminal

STATE = ROOT / "tests" / "no-such-folder"  # nothing is remembered
ANSI = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")


class Terminal:
    """A real terminal of 80 by 24."""

    def __init__(self, *arguments: str, cwd: Path | None = None, **environment: str) -> None:
        values = {"TERM": "xterm-256color", "XDG_STATE_HOME": str(STATE), **environment}
        self.child = terminal(arguments, cwd, **values)

    def sees(self, text: str) -> str:
        """Wait for a text; returns what was printed before it."""
        self.child.expect(text)
        return ANSI.sub("", str(self.child.before))

    def press(self, keys: str) -> None:
        self.child.send(keys)

    def ends(self) -> int:
        self.child.expect(pexpect.EOF)
        self.child.close()
        assert self.child.exitstatus is not None
        return self.child.exitstatus
