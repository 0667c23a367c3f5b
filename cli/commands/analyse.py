"""`selfplay analyse`: a player's move in positions, and what it knows of each column."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer

from selfplay.cli.compilation import announce_compilation
from selfplay.cli.options import BoardSize, Connect, Json, Positions, Seed
from selfplay.cli.positions import for_each_position
from selfplay.game.board import Board

if TYPE_CHECKING:
    from selfplay.game.position import Position
    from selfplay.players import Decision


def analyse(
    positions: Positions = None,
    player: Annotated[
        str, typer.Option("--player", "-p", metavar="PLAYER", help="Player that analyses.")
    ] = "mcts:10000",
    size: BoardSize = "7x6",
    connect: Connect = 4,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Analyse positions with a player: its move, and what it knows of each column.

    Without arguments, positions are read from stdin, one per line; an empty line is the empty
    board. An invalid line is reported with its number and skipped, and the exit code is 1.

    Example: selfplay analyse 44352 --player mcts:100000
    """
    from selfplay.registry import PlayerSpec
    from selfplay.web.records import analysis_record

    board = Board.parse(size, connect)
    spec = PlayerSpec.parse(player)
    announce_compilation(board)
    analyser = spec.build(board)

    def act(text: str, position: Position) -> None:
        analyser.new_game(seed)
        decision = analyser.decide(position)
        if not as_json:
            show(position, str(spec), decision)
            return
        record = analysis_record(text, position, str(spec), seed, decision)
        print(json.dumps(record), flush=True)

    raise typer.Exit(for_each_position(positions, board, act))


def show(position: Position, player: str, decision: Decision) -> None:
    """Print the board, the move, and what the player knows of each column."""
    from selfplay.cli.rendering import PLAYER_NAMES, board_text, console, decision_table

    out = console()
    out.print(board_text(position))
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
