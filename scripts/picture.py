"""`python -m scripts.picture FILE.svg`: draw the game that the README shows."""

from __future__ import annotations

import io
import sys
from pathlib import Path

from rich.console import Console

from selfplay.cli.board.game import Game, Seat
from selfplay.cli.board.panels import why_panel
from selfplay.cli.board.screen_view import ScreenView
from selfplay.cli.board.session import Scene
from selfplay.game.board import Board
from selfplay.game.position import Position

COLUMNS, LINES = 80, 24
OPPONENT = "tree"
YOURS = (3, 3, 2, 4, 1)
"""The columns a person plays, 0-based; the tree answers."""


def picture() -> str:
    """The terminal after a few moves against the bundled tree, which explains its last one."""
    seats = Seat.of("human", "you"), Seat.of(OPPONENT)
    game = Game(Position(Board()), seats)
    tree = seats[1].spec.build(Board())
    tree.new_game(0)
    for column in YOURS:
        game.play(column)
        decision = tree.decide(game.position)
        game.play(decision.move, decision)
    console = Console(
        file=io.StringIO(),
        record=True,
        width=COLUMNS,
        height=LINES,
        force_terminal=True,
        color_system="truecolor",
        legacy_windows=False,
        highlight=False,
        _environ={},
    )
    screen = ScreenView(console)
    scene = Scene(game, message=f"{game.names[1]} plays column {game.moves[-1] + 1}")
    scene.panel = why_panel(game.position.ply, decision.why, screen.panel_lines)
    console.print(screen.render(scene))
    return console.export_svg(title=f"selfplay play --o {OPPONENT}", unique_id="play")


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(picture())
