"""The typer application of all commands, and the exit code and message of every error."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable
from importlib.metadata import version
from io import TextIOWrapper
from typing import Annotated, NoReturn, TextIO, cast

import typer

from selfplay.cli.commands import bench, book, dataset, evaluation
from selfplay.cli.commands.analyse import analyse
from selfplay.cli.commands.arena import arena
from selfplay.cli.commands.evaluate import evaluate
from selfplay.cli.commands.explain import explain
from selfplay.cli.commands.generate import generate
from selfplay.cli.commands.improve import improve
from selfplay.cli.commands.iris import iris
from selfplay.cli.commands.openings import openings
from selfplay.cli.commands.play import play
from selfplay.cli.commands.prove import prove
from selfplay.cli.commands.quickstart import quickstart
from selfplay.cli.commands.solve import solve
from selfplay.cli.commands.status import status
from selfplay.cli.commands.train import train
from selfplay.cli.commands.web import web
from selfplay.cli.streams import LossyStream, discard_output
from selfplay.errors import InputError, PlayerError, printable, without_keys
from selfplay.pipeline.job import StoppedError
from selfplay.workers.executors.interface import JobError

# In the order in which people use them, which is that of `--help`.
COMMANDS: tuple[Callable[..., None], ...] = (
    *(quickstart, generate, status, train, improve, evaluate, explain),
    *(play, web, arena, prove, analyse, solve, openings, iris),
)

app = typer.Typer(
    name="selfplay",
    invoke_without_command=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    epilog="PLAYER is human, random, greedy, minimax:6, mcts:10000, usual, default-0.1, perfect or "
    "tree:MODEL, with options after a colon. Help on a command: `selfplay analyse --help`.",
)
for command in COMMANDS:
    app.command()(command)
GROUPS = {"dataset": dataset, "evaluation": evaluation, "book": book, "bench": bench}
for name, group in GROUPS.items():
    app.add_typer(group.app, name=name)

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
    """Run the command line. An error is one line on stderr and an exit code: 2 for bad input, 1
    for a failure, 130 after Ctrl-C."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # closed by the calling process
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # an unencodable character is no reason to fail
            stream.reconfigure(errors="replace")
    sys.stderr = cast("TextIO", LossyStream(sys.stderr))
    debug = "--debug" in sys.argv[1:2]
    try:
        code = app(prog_name="selfplay", standalone_mode=False)
        # Only the flush shows that the reader of a pipe left, or that the disk is full.
        sys.stdout.flush()
    except KeyboardInterrupt:
        code = INTERRUPTED
    except Exception as error:
        if debug:
            traceback.print_exc()
        _exit_with(error)
    if code == INTERRUPTED:
        _exit("interrupted", INTERRUPTED)
    sys.exit(code if isinstance(code, int) else 0)


def _exit_with(error: Exception) -> NoReturn:
    match error:
        case InputError():
            _exit(str(error), BAD_INPUT)
        case StoppedError():
            _exit(str(error), INTERRUPTED)
        case JobError() | PlayerError():
            _exit(str(error), FAILED)
        case typer.TyperException():
            message = error.format_message().replace("Value error, ", "")
            _exit(message or "see `selfplay --help`", error.exit_code)
        case BrokenPipeError():  # the reader of the pipe left, as `head` does: nobody to tell
            discard_output(sys.stdout)
            sys.exit(FAILED)
        case OSError():
            discard_output(sys.stdout)
            where = f" ({error.filename})" if error.filename else ""
            _exit(f"{error.strerror or error}{where}", FAILED)
        case MemoryError():
            _exit("not enough memory", FAILED)
        case _:
            reason = f"{type(error).__name__}: {error}"
            hint = "this is a bug: `selfplay --debug …` shows the traceback"
            _exit(f"{reason} ({hint})", FAILED)


def _exit(message: str, code: int) -> NoReturn:
    line = printable(without_keys(" ".join(message.split())))
    if len(line) > _LONGEST_MESSAGE:
        line = f"{line[:_LONGEST_MESSAGE]}…"
    print("selfplay:", line, file=sys.stderr, flush=True)
    sys.exit(code)
