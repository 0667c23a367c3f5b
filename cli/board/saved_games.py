"""Saved games: a text file with a line per game, or a run to train on."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from selfplay.cli.board.game import Game, Seat
from selfplay.cli.rendering import PLAYER_NAMES
from selfplay.errors import InputError, quoted
from selfplay.game.board import Board
from selfplay.game.position import Position
from selfplay.players import Decision

_LONGEST = 4096


def game_line(game: Game) -> str:
    """A game as a line: columns played, players, result and, if unusual, the board; by tabs."""
    position, board = game.position, game.start.board
    parts = [position.notation or "", *map(str, game.seats), _result(position)]
    if board != Board():
        parts.append(str(board))
    return "\t".join(parts)


def _result(position: Position) -> str:
    if position.winner is None:
        return "a draw" if position.is_over else "unfinished"
    return f"{PLAYER_NAMES[position.winner]} wins"


def save_game(game: Game, path: Path) -> None:
    """Append a game to a file."""
    with path.open("a", encoding="utf-8") as file:
        file.write(game_line(game) + "\n")


def load_games(path: Path, board: Board) -> list[Game]:
    """The games of a file. Only the columns are required; `board` is used where none is given."""
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise InputError(f"{path} is not text: a file of games has one on each line") from None
    except OSError as error:
        raise InputError(f"cannot read games from {path}: {error.strerror}") from None
    games = []
    for number, line in enumerate(lines, 1):
        if line.strip() and not line.startswith("#"):
            try:
                games.append(_parse_game(line, board))
            except InputError as error:
                raise InputError(f"{path}, line {number}: {error}") from None
    if not games:
        raise InputError(f"there are no games in {path}")
    return games


def _parse_game(line: str, board: Board) -> Game:
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
    seats = Seat.of("human", first), Seat.of("human", second)
    return Game(Position(board), seats, moves=list(final.moves or ()))


def save_as_run(games: Sequence[Game], run: str) -> str:
    """Write games as a run, labelled with the moves played; returns a summary."""
    from selfplay.storage.labelling import rows_of_game
    from selfplay.storage.location import Location
    from selfplay.storage.recorded import save_games

    games = [game for game in games if game.moves]
    if not games:
        return f"{run} was not written: no move was played"
    board = games[0].start.board
    rows = [
        rows_of_game(
            number,
            board,
            game.positions[:-1],
            [d or Decision(move=m) for m, d in zip(game.moves, game.decisions, strict=True)],
            game.moves,
            game.position.winner,
            finished=game.position.is_over,
        )
        for number, game in enumerate(games)
    ]
    people = sorted({str(seat) for game in games for seat in game.seats})
    dataset = save_games(rows, board, Location(run), {"played by": people})
    return f"{run}: {dataset.sizes}"
