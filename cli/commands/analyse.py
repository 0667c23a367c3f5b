"""`selfplay analyse`: what a player thinks of positions."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer

from selfplay.cli.options import BoardSize, Connect, Json, Positions, Seed
from selfplay.cli.players import build
from selfplay.cli.positions import for_each_position
from selfplay.game.board import Board

if TYPE_CHECKING:
    from selfplay.game.position import Position
    from selfplay.players import Decision
    from selfplay.registry import PlayerSpec


def analyse(
    positions: Positions = None,
    player: Annotated[
        str, typer.Option("--player", "-p", metavar="PLAYER", help="Player that analyses.")
    ] = "mcts:10000",
    board: BoardSize = "7x6",
    connect: Connect = 4,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Analyse positions with a player: its move, and what it knows of each column.

    An empty line, or nothing at a terminal, is the empty board. A line of stdin that is no
    position is reported with its number; the others are done, and the exit code is 1.

    Example: selfplay analyse 44352 --player mcts:100000
    """
    from selfplay.registry import PlayerSpec

    geometry = Board.parse(board, connect)
    spec = PlayerSpec.parse(player)
    thinker = build(spec, geometry)

    def act(text: str, position: Position) -> None:
        thinker.new_game(seed)
        decision = thinker.decide(position)
        if as_json:
            print(json.dumps(as_record(text, spec, geometry, seed, decision)), flush=True)
        else:
            show(position, str(spec), decision)

    raise typer.Exit(for_each_position(positions, geometry, act))


def as_record(
    text: str, player: PlayerSpec, board: Board, seed: int, decision: Decision
) -> dict[str, object]:
    """A decision in the words of `--json`."""
    return {
        "position": text,
        "board": board.size,
        "connect": board.connect,
        "player": str(player),
        "seed": seed,
        "move": decision.move,
        "value": decision.value,
        "visits": decision.visits,
        "proven": decision.proven,
        "wins": decision.wins,
        "iterations": decision.iterations,
        "rollouts": decision.rollouts,
        "evaluations": decision.evaluations,
        "nodes": decision.nodes,
        "leaves": decision.leaves,
        "depth": decision.depth,
        "seconds": decision.seconds,
    }


def show(position: Position, player: str, decision: Decision) -> None:
    """The board, the move, and what the player knows of each column."""
    from selfplay.cli.drawing import PLAYER_NAMES, board_text, console, decision_table

    out = console()
    last = position.moves[-1] if position.moves else None
    out.print(board_text(position, last=last))
    mover = PLAYER_NAMES[position.to_move]
    out.print(f"\n{mover} to move; {player} plays column {decision.move + 1}")
    if decision.value is not None or decision.shares is not None:
        out.print(decision_table(decision, out))
    if decision.rollouts:
        per_second = decision.rollouts / decision.seconds
        out.print(
            f"{decision.rollouts:,} rollouts in {decision.seconds:.3f} s "
            f"({per_second:,.0f}/s), {decision.nodes:,} nodes"
        )
    elif decision.depth:
        plies = "1 ply" if decision.depth == 1 else f"{decision.depth} plies"
        out.print(
            f"{plies} ahead in {decision.seconds:.3f} s: {decision.nodes:,} nodes, "
            f"{decision.leaves:,} leaves"
        )
    out.print()
