"""The `selfplay` command as a whole: its commands, and how anything that goes wrong is told."""

from __future__ import annotations

import os
import sys
import traceback
from importlib.metadata import version
from io import TextIOWrapper
from typing import Annotated, NoReturn, TextIO, cast

import typer

from selfplay.cli.commands import (
    analyse,
    arena,
    bench,
    book,
    dataset,
    evaluate,
    explain,
    generate,
    improve,
    iris,
    openings,
    play,
    quickstart,
    solve,
    status,
    train,
)
from selfplay.cli.endings import Unfailing, give_up
from selfplay.errors import InputError, printable, without_keys
from selfplay.pipeline.job import StoppedError
from selfplay.workers.executors.interface import JobError

app = typer.Typer(
    name="selfplay",
    invoke_without_command=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Reproducible self-play data for Connect Four, and decision trees trained on it.",
    epilog="PLAYER is human, random, greedy, minimax:6, mcts:10000, perfect or tree:MODEL, with "
    "options after a colon. Help on a command: `selfplay analyse --help`.",
)
app.command("quickstart")(quickstart.quickstart)
app.command("analyse")(analyse.analyse)
app.command("play")(play.play)
app.command("arena")(arena.arena)
app.command("solve")(solve.solve)
app.command("openings")(openings.openings)
app.command("generate")(generate.generate)
app.command("status")(status.status)
app.command("train")(train.train)
app.command("improve")(improve.improve)
app.command("evaluate")(evaluate.evaluate)
app.command("explain")(explain.explain)
app.command("iris")(iris.iris)
app.add_typer(bench.app, name="bench")
app.add_typer(book.app, name="book")
app.add_typer(dataset.app, name="dataset")

FAILED, BAD_INPUT, INTERRUPTED = 1, 2, 130

_LONGEST_MESSAGE = 500


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"selfplay {version('selfplay')}")
        raise typer.Exit


@app.callback()
def root(
    context: typer.Context,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
    _version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Reproducible self-play data for Connect Four, and decision trees trained on it."""
    if context.invoked_subcommand is None:
        print(context.get_help())


def run() -> NoReturn:
    """Run the command line. What goes wrong ends in one line on stderr and an exit code:
    2 for bad input, 1 for a failure, 130 after Ctrl-C."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # closed by whoever called
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # a sign that cannot be shown is no reason to fail
            stream.reconfigure(errors="replace")
    sys.stderr = cast("TextIO", Unfailing(sys.stderr))
    debug = "--debug" in sys.argv[1:2]
    try:
        code = app(prog_name="selfplay", standalone_mode=False)
        # Only now does a reader that went away, or a full disk, make itself known.
        sys.stdout.flush()
    except KeyboardInterrupt:
        code = INTERRUPTED
    except Exception as error:
        if debug:
            traceback.print_exc()
        _explain(error)
    if code == INTERRUPTED:
        _fail("interrupted", INTERRUPTED)
    sys.exit(code if isinstance(code, int) else 0)


def _explain(error: Exception) -> NoReturn:
    match error:
        case InputError():
            _fail(str(error), BAD_INPUT)
        case StoppedError():
            _fail(str(error), INTERRUPTED)
        case JobError():
            _fail(str(error), FAILED)
        case typer.TyperException():
            _fail(error.format_message() or "see `selfplay --help`", error.exit_code)
        case BrokenPipeError():
            # The reader of a pipe went away, as `head` does: nobody is left to tell.
            give_up(sys.stdout)
            sys.exit(FAILED)
        case OSError():
            give_up(sys.stdout)
            where = f" ({error.filename})" if error.filename else ""
            _fail(f"{error.strerror or error}{where}", FAILED)
        case MemoryError():
            _fail("this machine does not have the memory", FAILED)
        case _:
            _fail(
                f"{type(error).__name__}: {error} (this is a fault of the program: "
                "`selfplay --debug …` shows where)",
                FAILED,
            )


def _fail(message: str, code: int) -> NoReturn:
    line = printable(without_keys(" ".join(message.split())))
    if len(line) > _LONGEST_MESSAGE:
        line = f"{line[:_LONGEST_MESSAGE]}…"
    print("selfplay:", line, file=sys.stderr, flush=True)
    sys.exit(code)
