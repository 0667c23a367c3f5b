"""Games as lines of text: the columns played, who played them, how it ended."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from selfplay.cli.board.game import Game, Seat, result_of
from selfplay.cli.drawing import PLAYER_NAMES
from selfplay.errors import InputError, quoted
from selfplay.game.board import Board
from selfplay.game.position import Position
from selfplay.players import Decision

_SIDES = tuple(PLAYER_NAMES.values())
_LONGEST = 4096


def line_of(game: Game) -> str:
    """The line that stands for a game."""
    position, board = game.position, game.start.board
    parts = [position.notation or "", *map(str, game.seats), result_of(position, _SIDES)]
    if board != Board():
        parts.append(str(board))
    return "\t".join(parts)


def keep(game: Game, path: Path) -> None:
    """Put a game behind the others in a file."""
    with path.open("a", encoding="utf-8") as file:
        file.write(line_of(game) + "\n")


def kept_in(path: Path, board: Board) -> list[Game]:
    """The games of a file; of a line, all but the columns may be left out."""
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise InputError(f"{path} is no text: a file of games has one on each line") from None
    except OSError as error:
        raise InputError(f"cannot read games from {path}: {error.strerror}") from None
    games = []
    for number, line in enumerate(lines, 1):
        if line.strip() and not line.startswith("#"):
            try:
                games.append(_game_of(line, board))
            except InputError as error:
                raise InputError(f"{path}, line {number}: {error}") from None
    if not games:
        raise InputError(f"there are no games in {path}")
    return games


def _game_of(line: str, board: Board) -> Game:
    if len(line) > _LONGEST:
        raise InputError(f"longer than {_LONGEST} characters: not a game")
    notation, *rest = line.split("\t")
    first, second, _, on = (*rest, "", "", "", "")[:4]
    if on:
        size, _, connect = on.partition(" connect ")
        if not (connect.isascii() and connect.isdigit() and len(connect) < 3):
            raise InputError(f"a board is written as in 7x6 connect 4, not {quoted(on)}")
        board = Board.parse(size, int(connect))
    final = Position.parse(notation, board)
    seats = Seat.of("human", first or _SIDES[0]), Seat.of("human", second or _SIDES[1])
    return Game(Position(board), seats, moves=list(final.moves or ()))


def keep_as_run(games: Sequence[Game], run: str) -> str:
    """Make a run of games: what was played stands for what a teacher says. What came of it."""
    from selfplay.storage.labelling import rows_of_game
    from selfplay.storage.location import Location
    from selfplay.storage.recorded import keep_games

    made = [game for game in games if game.moves]
    if not made:
        return f"no stone was played: there is nothing to keep in {run}"
    board = made[0].start.board
    rows = [
        rows_of_game(
            number,
            board,
            game.positions[:-1],
            [
                decision or Decision(move=move)
                for move, decision in zip(game.moves, game.decisions, strict=True)
            ],
            game.moves,
            game.position.winner,
            finished=game.position.is_over,
        )
        for number, game in enumerate(made)
    ]
    people = sorted({str(seat) for game in made for seat in game.seats})
    dataset = keep_games(rows, board, Location(run), {"played by": people})
    games_word = "game" if len(made) == 1 else "games"
    return f"{run}: {len(made)} {games_word}, {dataset.positions} positions"
