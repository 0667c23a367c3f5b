"""The `selfplay` command: one file per command in `commands/`, the terminal game in `board/`.

Importing it loads nothing heavy: each command imports what it needs when it runs.
"""

from __future__ import annotations

import sys
from typing import NoReturn


def main() -> NoReturn:
    """Run the `selfplay` command; Ctrl-C is handled from before the first import."""
    try:
        from selfplay.cli.main import run

        run()
    except KeyboardInterrupt:
        print("selfplay: interrupted", file=sys.stderr)
        raise SystemExit(130) from None
