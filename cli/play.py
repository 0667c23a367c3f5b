"""`selfplay play`: people and players at a board in the terminal."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from cli.options import BoardSize, Connect, Seed
from cli.players import build
from selfplay.board import Board

if TYPE_CHECKING:
    from selfplay.players import Decision
    from selfplay.position import Position


def play(
    x: Annotated[str, typer.Option("--x", metavar="PLAYER", help="Who moves first.")] = "human",
    o: Annotated[str, typer.Option("--o", metavar="PLAYER", help="Who moves second.")] = "mcts",
    board: BoardSize = "7x6",
    connect: Connect = 4,
    opening: Annotated[
        str,
        typer.Option("--opening", help="Begin after 4-8 random plies, with one of all:4, file:F."),
    ] = "0",
    seed: Seed = 0,
) -> None:
    """Play a game: against a player, against each other, or watch two players.

    Type the number of a column to move, q to leave. Without a terminal, moves are read from
    stdin, one a line.

    Example: selfplay play --o mcts:100000
    """
    from cli.drawing import PLAYER_NAMES, board_text, console
    from selfplay.match import match
    from selfplay.openings import parse_openings
    from selfplay.specs import PlayerSpec

    geometry = Board.parse(board, connect)
    specs = PlayerSpec.parse(x), PlayerSpec.parse(o)
    start = parse_openings(opening, geometry).opening(seed, 0)
    first, second = (build(spec, geometry, ask=ask_for_column) for spec in specs)
    out = console()

    def draw(position: Position) -> None:
        last = position.moves[-1] if position.moves else None
        out.print(board_text(position, last=last))
        out.print()

    def watch(position: Position, decision: Decision) -> None:
        side = position.to_move
        after = position.play(decision.move)
        out.print(f"{PLAYER_NAMES[side]} ({specs[side - 1]}) plays column {decision.move + 1}\n")
        # What a person just did stands on the board after the answer, too.
        if after.is_over or specs[side - 1].name != "human" or specs[2 - side].name == "human":
            draw(after)

    draw(start)
    final = match(first, second, start, seed, watch).final
    if final.winner is None:
        out.print("A draw.")
    else:
        who = specs[final.winner - 1]
        out.print(f"{PLAYER_NAMES[final.winner]} ({who}) wins after {final.ply} stones.")
    out.print(f"The game: {final.notation}")


def ask_for_column(position: Position) -> int:
    """Ask at the keyboard until the answer is a column with room; 0-based."""
    from cli.drawing import PLAYER_NAMES

    while True:
        # Whoever pipes moves in does not need to be asked.
        question = f"{PLAYER_NAMES[position.to_move]}, your column: "
        try:
            answer = input(question if sys.stdin.isatty() else "").strip().lower()
        except EOFError:
            answer = "q"
        except UnicodeDecodeError:
            answer = "?"
        if answer in ("q", "quit"):
            print(f"\nThe game so far: {position.notation}" if position.moves else "")
            raise typer.Exit
        free = ", ".join(str(column + 1) for column in position.legal_moves)
        if not (answer.isascii() and answer.isdigit() and len(answer) < 4):
            complain(f"a column is a number from 1 to {position.board.columns}; q leaves")
        elif int(answer) - 1 in position.legal_moves:
            return int(answer) - 1
        elif 1 <= int(answer) <= position.board.columns:
            complain(f"column {answer} is full; open are {free}")
        else:
            complain(f"there is no column {answer}: columns are 1 to {position.board.columns}")


def complain(what: str) -> None:
    print(what, file=sys.stderr, flush=True)
