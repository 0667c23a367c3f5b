"""The `selfplay` command: one file per command, and the drawing of boards and tables.

At import nothing heavy is loaded: each command imports what it needs when it runs.
"""

from __future__ import annotations

import sys
from typing import NoReturn


def main() -> NoReturn:
    """The `selfplay` command. Nothing is imported before Ctrl-C is looked after."""
    try:
        from selfplay.cli.main import run

        run()
    except KeyboardInterrupt:
        print("selfplay: interrupted", file=sys.stderr)
        raise SystemExit(130) from None
