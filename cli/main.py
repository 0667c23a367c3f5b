"""The `selfplay` command as a whole: its commands, and how anything that goes wrong is told."""

from __future__ import annotations

import os
import sys
from importlib.metadata import version
from typing import Annotated, NoReturn

import typer

from cli import analyse, openings, play
from selfplay.errors import InputError

app = typer.Typer(
    name="selfplay",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Connect Four: self-play, search and data that can be trusted.",
    epilog="Each command explains itself: `selfplay analyse --help`.",
)
app.command("analyse")(analyse.analyse)
app.command("play")(play.play)
app.command("openings")(openings.openings)

BAD_INPUT, FAILED, INTERRUPTED = 2, 1, 130


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"selfplay {version('selfplay')}")
        raise typer.Exit


@app.callback()
def root(
    debug: Annotated[
        bool, typer.Option("--debug", help="Show the traceback of anything that goes wrong.")
    ] = False,
    _version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Say the version."),
    ] = False,
) -> None:
    """Connect Four: self-play, search and data that can be trusted."""


def main() -> NoReturn:
    """Run the command line. What goes wrong ends in one line on stderr and an exit code:
    2 for bad input, 1 for a failure, 130 after Ctrl-C."""
    debug = "--debug" in sys.argv[1:2]
    try:
        code = app(prog_name="selfplay", standalone_mode=False)
        # Only now does a reader that went away make itself known.
        sys.stdout.flush()
    except (InputError, typer.TyperException) as error:
        if debug:
            raise
        if isinstance(error, typer.TyperException):
            _fail(error.format_message() or "see `selfplay --help`", error.exit_code)
        _fail(str(error), BAD_INPUT)
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    except BrokenPipeError:
        # The reader of a pipe went away, as `head` does: nobody is left to tell.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = FAILED
    except Exception as error:
        if debug:
            raise
        _fail(
            f"{type(error).__name__}: {error} (this is a fault of the program: "
            "`selfplay --debug …` shows where)",
            FAILED,
        )
    if code == INTERRUPTED:
        _fail("interrupted", INTERRUPTED)
    sys.exit(code if isinstance(code, int) else 0)


def _fail(message: str, code: int) -> NoReturn:
    print("selfplay:", " ".join(message.split()), file=sys.stderr)
    sys.exit(code)
