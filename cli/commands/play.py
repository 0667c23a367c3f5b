"""`selfplay play`: people and players at a board in the terminal."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from selfplay.cli.options import BoardSize, Connect, Seed
from selfplay.errors import InputError
from selfplay.game.board import Board
from selfplay.pipeline.job import StoppedError

HINTS = "mcts:10000"

if TYPE_CHECKING:
    from rich.console import Console

    from selfplay.cli.board.game import Game
    from selfplay.cli.board.session import GameSession


def play(
    x: Annotated[str | None, typer.Option("--x", metavar="PLAYER", help="First player.")] = None,
    o: Annotated[str | None, typer.Option("--o", metavar="PLAYER", help="Second player.")] = None,
    board: BoardSize = "7x6",
    connect: Connect = 4,
    opening: Annotated[
        str | None,
        typer.Option(
            "--opening", help="Openings: 4-8 random plies, sensible:4-8, all:4 or file:F."
        ),
    ] = None,
    start: Annotated[
        str | None,
        typer.Option("--from", metavar="POSITION", help="Start position, such as 44352."),
    ] = None,
    seed: Seed = 0,
    hints: Annotated[
        str | None,
        typer.Option(
            "--hints",
            metavar="PLAYER",
            help="Player that gives hints (key h). [default: mcts:10000]",
        ),
    ] = None,
    delay: Annotated[
        float,
        typer.Option(
            "--delay", min=0, max=3600, help="Seconds between moves when no person plays."
        ),
    ] = 0.0,
    save: Annotated[
        Path,
        typer.Option("--save", metavar="FILE", help="File for saved games (key s), one per line."),
    ] = Path("games.txt"),
    replay: Annotated[
        Path | None,
        typer.Option("--replay", metavar="FILE", help="Step through the saved games of a file."),
    ] = None,
    record: Annotated[
        str | None,
        typer.Option("--record", metavar="RUN", help="Write the games as a run, to train on."),
    ] = None,
) -> None:
    """Play against a player or a person, or watch two players.

    Without --x and --o, at a terminal, you are asked who plays. Choose columns by number or with
    the arrows; ? lists the keys. Without a terminal, moves are read from stdin, one a line.

    Example: selfplay play --o mcts:100000
    """
    from selfplay.cli.board.game import Game, Seat
    from selfplay.cli.board.menu import ask_who_plays
    from selfplay.cli.board.records import kept_in
    from selfplay.cli.drawing import console
    from selfplay.game.openings import parse_openings
    from selfplay.game.position import Position

    geometry = Board.parse(board, connect)
    if replay is not None and (x, o, start, opening) != (None,) * 4:
        raise InputError("--replay looks at games that were played: without --x, --o, --from")
    if start is not None and opening is not None:
        raise InputError("a game begins with an opening or from a position, not both")
    if record is not None:
        from selfplay.storage.location import Location
        from selfplay.storage.recorded import refuse_if_taken

        refuse_if_taken(Location(record))
    out = console()
    sit = partial(_sit, out, hints, save, delay, record)
    if replay is not None:
        games = kept_in(replay, geometry)
        if len({game.start.board for game in games}) > 1:
            raise InputError(f"the games in {replay} are on several boards: look at one at a time")
        sit(games[0].start.board, lambda session: session.look_through(games), games)
        return
    if x is None and o is None and _is_interactive(out):
        seats = ask_who_plays(out, geometry)
        if seats is None:
            return
    else:
        seats = Seat.of(x or "human"), Seat.of(o or _usual_opponent(geometry))
    if start is not None:
        begin = Position.parse(start, geometry)
        if begin.is_over:
            raise InputError(f"the game {start} is over")
    else:
        begin = parse_openings(opening or "0", geometry).opening(seed, 0)
    game = Game(begin, seats, seed)
    sit(geometry, lambda session: session.play(game))


def _usual_opponent(board: Board) -> str:
    """The bundled tree, where it can play."""
    return "tree" if board == Board() else "mcts"


def _is_interactive(out: Console) -> bool:
    return out.is_terminal and sys.stdin.isatty() and not out.is_dumb_terminal


def _sit(
    out: Console,
    hints: str | None,
    save: Path,
    delay: float,
    record: str | None,
    board: Board,
    what: Callable[[GameSession], None],
    games: Sequence[Game] = (),
) -> None:
    """Sit down at a board; how it was left is said when the screen is gone."""
    from rich.console import Console

    from selfplay.cli.board.game import Players, Seat
    from selfplay.cli.board.judge import Judge
    from selfplay.cli.board.lines import Lines
    from selfplay.cli.board.records import keep_as_run
    from selfplay.cli.board.screen import Screen
    from selfplay.cli.board.session import GameSession
    from selfplay.cli.players import announce_compilation

    if hints is not None:
        Seat.of(hints)  # what is wrong with it is said at once
        if Seat.of(hints).is_person:
            raise InputError("hints come from players that play by themselves: not human")
    view = (
        Screen(Console(highlight=False, markup=False, emoji=False))
        if _is_interactive(out)
        else Lines(out)
    )
    if isinstance(view, Screen) and not view.has_room(board):
        print("the window is too small for this board: line by line, then", file=sys.stderr)
        view = Lines(out)
    if isinstance(view, Screen):
        announce_compilation(board, view.note)
    else:
        announce_compilation(board)
    players = Players(lambda spec: spec.build(board))
    session = GameSession(view, players, Judge(board), hints or HINTS, save, delay)
    try:
        with view if isinstance(view, Screen) else nullcontext():
            what(session)
        for game in [game for game in session.games if game.moves][-1:]:
            _farewell(out, game, isinstance(view, Screen))
    except KeyboardInterrupt:
        raise StoppedError(_how_to_go_on(session)) from None
    finally:
        if record is not None:
            out.print(keep_as_run(games or session.games, record))


def _farewell(out: Console, game: Game, was_on_screen: bool) -> None:
    """What is left when the screen is gone."""
    from selfplay.cli.board.game import result_of
    from selfplay.cli.board.picture import Pen, picture

    position = game.position
    if was_on_screen:
        out.print(picture(position, Pen.of(out), game.moves[-1]))
    if not position.is_over:
        out.print(f"The game so far: {position.notation}")
        out.print(f"Go on with it:   {_command(game)}")
        return
    if was_on_screen:
        out.print(result_of(position, game.names))
    out.print(f"The game: {position.notation}")


def _how_to_go_on(session: GameSession) -> str:
    game = session.games[-1] if session.games else None
    if game is None or not game.moves or game.position.is_over:
        return "left the board"
    return f"left the game; go on with it: {_command(game)}"


def _command(game: Game) -> str:
    """The command that begins where a game is."""
    board, words = game.start.board, ["selfplay", "play"]
    if board.size != "7x6":
        words += ["--board", board.size]
    if board.connect != 4:
        words += ["--connect", str(board.connect)]
    for side, seat in zip(("--x", "--o"), game.seats, strict=True):
        words += [side, shlex.quote(seat.text)]
    return " ".join([*words, "--from", game.position.notation or ""])
