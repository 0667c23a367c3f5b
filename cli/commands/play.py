"""`selfplay play`: games between people and players in the terminal."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Context, Option

from selfplay.cli.options import BoardSize, Connect, Seed
from selfplay.errors import InputError
from selfplay.game.board import Board
from selfplay.pipeline.job import StoppedError

if TYPE_CHECKING:
    from rich.console import Console

    from selfplay.cli.board.draw_board import Pen
    from selfplay.cli.board.game import Game
    from selfplay.cli.board.session import GameSession


def play(
    context: Context,
    x: Annotated[str | None, Option("--x", metavar="PLAYER", help="First player.")] = None,
    o: Annotated[str | None, Option("--o", metavar="PLAYER", help="Second player.")] = None,
    size: BoardSize = "7x6",
    connect: Connect = 4,
    opening: Annotated[
        str | None, Option(help="Opening: 4-8 random plies, sensible:4-8, all:4 or file:F.")
    ] = None,
    start: Annotated[
        str | None, Option("--from", metavar="POSITION", help="Start position, such as 44352.")
    ] = None,
    seed: Seed = 0,
    hints: Annotated[
        str | None,
        Option(
            metavar="PLAYER",
            help="Player that gives hints (key h). [default: perfect play, or mcts:10000 where "
            "that takes longer than a second]",
        ),
    ] = None,
    delay: Annotated[
        float | None,
        Option(
            min=0,
            max=3600,
            help="Seconds between moves when no person plays. [default: 1 at a terminal]",
        ),
    ] = None,
    save: Annotated[
        Path, Option(metavar="FILE", help="File for saved games (key s), one per line.")
    ] = Path("games.txt"),
    replay: Annotated[
        Path | None, Option(metavar="FILE", help="Step through the saved games of a file.")
    ] = None,
    record: Annotated[
        str | None, Option(metavar="RUN", help="Write the games as a run, to train on.")
    ] = None,
    web: Annotated[
        bool, Option("--web", help="Play in the browser, as `selfplay web` does.")
    ] = False,
) -> None:
    """Play against a player or a person, or watch two players.

    Without --x and --o you play the last choice of the menu (key m), at first the tree. Choose a
    column by number or with the arrows; ? lists the keys. Without a terminal it reads moves from
    stdin, one per line.

    Example: selfplay play --o mcts:100000
    """
    from selfplay.cli.board.game import Game, Seat
    from selfplay.cli.board.opponents import default_opponent
    from selfplay.cli.board.saved_games import load_games
    from selfplay.cli.rendering import console
    from selfplay.game.openings import parse_openings
    from selfplay.game.position import Position

    board = Board.parse(size, connect)
    if web and (only := _given(context) & {"hints", "delay", "save", "replay", "record"}):
        raise InputError(f"--{min(only)} is for the terminal: without --web")
    if replay is not None and (x, o, start, opening) != (None,) * 4:
        raise InputError("--replay shows saved games: without --x, --o, --from, --opening")
    if start is not None and opening is not None:
        raise InputError("a game starts with --opening or --from, not both")
    if "save" in _given(context):
        from selfplay.cli.outputs import require_file_place

        require_file_place(save)
    if record is not None:
        from selfplay.storage.location import Location
        from selfplay.storage.recorded import require_new_location

        require_new_location(Location(record))
    out = console()
    run_session = partial(_run_session, out, hints, save, record)
    if replay is not None:
        games = load_games(replay, board)
        if len({game.start.board for game in games}) > 1:
            raise InputError(f"the games in {replay} are on several boards: use a file for each")
        run_session(games[0].start.board, 0.0, lambda session: session.replay(games), games)
        return
    seats, message = (x or "human", o), ""
    if out.is_terminal and sys.stdin.isatty():
        from selfplay.cli.board.choice import Choice

        if x is None and o is None:
            sized = {"size", "connect"} & _given(context) or start is not None
            choice = Choice.load(board if sized else None)
            seats, board = (choice.first, choice.second), choice.board
            message = "m chooses other players, another board"
        else:
            choice = Choice()
        delay = choice.delay if delay is None else delay
    first, second = seats
    seated = Seat.of(first), Seat.of(second or default_opponent(board))
    for seat in seated:
        seat.spec.require_board(board)
    if start is not None:
        begin = Position.parse(start, board)
        if begin.is_over:
            raise InputError(f"the game {start} is over")
    else:
        begin = parse_openings(opening or "0", board).opening(seed, 0)
    if web:
        from selfplay.cli.commands.web import play_in_browser

        specs = [None if seat.is_person else seat.spec for seat in seated]
        play_in_browser(specs, begin, seed)
        return
    game = Game(begin, seated, seed)
    run_session(board, delay or 0.0, lambda session: session.play(game, message))


def _given(context: Context) -> set[str]:
    """The parameters that the user gave."""
    source = context.get_parameter_source
    return {name for name in context.params if getattr(source(name), "name", "") != "DEFAULT"}


def _is_interactive(out: Console) -> bool:
    return out.is_terminal and sys.stdin.isatty() and not out.is_dumb_terminal


def _run_session(
    out: Console,
    hints: str | None,
    save: Path,
    record: str | None,
    board: Board,
    delay: float,
    action: Callable[[GameSession], None],
    games: Sequence[Game] = (),
) -> None:
    """Run a session on the screen or line by line, then print how to resume and write the run."""
    from rich.console import Console

    from selfplay.cli.board.game import Seat
    from selfplay.cli.board.line_view import LineView
    from selfplay.cli.board.saved_games import save_as_run
    from selfplay.cli.board.screen_view import ScreenView
    from selfplay.cli.board.session import GameSession

    if hints is not None:
        hinting = Seat.of(hints)
        if hinting.is_person:
            raise InputError("--hints is a player that moves by itself, not human")
        hinting.spec.require_board(board)
    screen = None
    if _is_interactive(out):
        screen = ScreenView(Console(highlight=False, markup=False, emoji=False))
        if not screen.has_room(board):
            print("the window is too small for this board: showing lines", file=sys.stderr)
            screen = None
    view = screen or LineView(out)
    session = GameSession(view, hints, save, delay, is_recorded=record is not None)
    try:
        with screen or nullcontext():
            action(session)
        for game in [game for game in session.games if game.moves][-1:]:
            _print_end(out, game, None if screen is None else screen.pen)
    except KeyboardInterrupt:
        raise StoppedError(_interrupted(session)) from None
    finally:
        if record is not None:
            out.print(save_as_run(games or session.games, record))


def _print_end(out: Console, game: Game, pen: Pen | None) -> None:
    """Print how to resume the last game; with `pen`, for a screen that is gone, its end, too."""
    from selfplay.cli.board.draw_board import draw_board
    from selfplay.cli.board.game import result_of

    position = game.position
    if pen is not None:
        out.print(draw_board(position, pen, last=game.moves[-1]))
    if not position.is_over:
        out.print(f"The game so far: {position.notation}")
        out.print(f"Resume with:     {_resume_command(game)}")
        return
    if pen is not None:
        out.print(result_of(game, pen))
    out.print(f"The game: {position.notation}")


def _interrupted(session: GameSession) -> str:
    game = session.games[-1] if session.games else None
    if game is None or not game.moves or game.position.is_over:
        return "interrupted"
    return f"interrupted; resume the game with: {_resume_command(game)}"


def _resume_command(game: Game) -> str:
    board, words = game.start.board, ["selfplay", "play"]
    if board.size != "7x6":
        words += ["--board", board.size]
    if board.connect != 4:
        words += ["--connect", str(board.connect)]
    for side, seat in zip(("--x", "--o"), game.seats, strict=True):
        words += [side, shlex.quote(seat.text)]
    return " ".join([*words, "--from", game.position.notation or ""])
