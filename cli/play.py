"""`selfplay play`: people and players at a board in the terminal."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from cli.options import BoardSize, Connect, Seed, board_from
from cli.players import build

if TYPE_CHECKING:
    from selfplay.position import Position


def play(
    x: Annotated[str, typer.Option("--x", metavar="PLAYER", help="Who moves first.")] = "human",
    o: Annotated[str, typer.Option("--o", metavar="PLAYER", help="Who moves second.")] = "mcts",
    board: BoardSize = "7x6",
    connect: Connect = 4,
    opening: Annotated[
        str, typer.Option("--opening", help="Begin after random plies, such as 4-8.")
    ] = "0",
    seed: Seed = 0,
) -> None:
    """Play a game: against a player, against each other, or watch two players.

    Type the number of a column to move, q to leave. Without a terminal, moves are read from
    stdin, one a line.

    Example: selfplay play --o mcts:100000
    """
    from cli.drawing import PLAYER_NAMES, board_text, console
    from selfplay.openings import parse_openings
    from selfplay.specs import PlayerSpec

    geometry = board_from(board, connect)
    specs = PlayerSpec.parse(x), PlayerSpec.parse(o)
    position = parse_openings(opening, geometry).opening(seed, 0)
    players = [build(spec, geometry, ask=ask_for_column) for spec in specs]
    for side, player in enumerate(players):
        player.new_game(seed + side)

    out = console()
    last = position.moves[-1] if position.moves else None
    while True:
        out.print(board_text(position, last=last))
        out.print()
        if position.is_over:
            break
        side = position.to_move - 1
        last = players[side].decide(position).move
        position = position.play(last)
        out.print(f"{PLAYER_NAMES[side + 1]} ({specs[side]}) plays column {last + 1}\n")
    if position.winner is None:
        out.print("A draw.")
    else:
        who = specs[position.winner - 1]
        out.print(f"{PLAYER_NAMES[position.winner]} ({who}) wins after {position.ply} stones.")
    out.print(f"The game: {position.notation}")


def ask_for_column(position: Position) -> int:
    """Ask at the keyboard until the answer is a column with room; 0-based."""
    from cli.drawing import PLAYER_NAMES

    while True:
        try:
            answer = input(f"{PLAYER_NAMES[position.to_move]}, your column: ").strip().lower()
        except EOFError:
            answer = "q"
        if answer in ("q", "quit"):
            print(f"\nThe game so far: {position.notation}")
            raise typer.Exit
        if not (answer.isascii() and answer.isdigit() and len(answer) < 4):
            complain(f"a column is a number from 1 to {position.board.columns}; q leaves")
        elif int(answer) - 1 in position.legal_moves:
            return int(answer) - 1
        elif 1 <= int(answer) <= position.board.columns:
            complain(f"column {answer} is full")
        else:
            complain(f"there is no column {answer}: columns are 1 to {position.board.columns}")


def complain(what: str) -> None:
    print(what, file=sys.stderr, flush=True)
