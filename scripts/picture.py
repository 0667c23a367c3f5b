"""`python -m scripts.picture FILE.svg`: draw the game that the README shows."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from html import escape
from pathlib import Path

from rich.console import Console
from rich.segment import Segment
from rich.style import Style

from selfplay.cli.board.game import Game, Seat
from selfplay.cli.board.panels import WhyPanel
from selfplay.cli.board.scene import Scene
from selfplay.cli.board.screen_view import ScreenView
from selfplay.game.board import Board
from selfplay.game.position import Position

COLUMNS, LINES = 84, 24
OPPONENT = "tree"
MOVES = "43443443637"
"""The game so far; the tree moves next, and has to stop a line of four."""

WIDTH, HEIGHT, MARGIN, BASELINE = 10, 20, 20, 15
"""Of a character, around the terminal, and of the line that letters stand on, in pixels."""
TEXT, GROUND = "#d5d9e0", "#11151c"
QUADRANTS = dict(zip("▘▝▀▖▌▞▛▗▚▐▜▄▙▟█", range(1, 16), strict=True))
"""Which quarters of its cell a character fills: 1 and 2 above, 4 and 8 below."""
EIGHTHS = "▁▂▃▄▅▆▇"


def picture() -> str:
    """The terminal after a few moves against the bundled tree, which explains its last one."""
    game = Game(Position(Board()), (Seat.of("human"), Seat.of(OPPONENT)))
    for column in MOVES:
        game.play(int(column) - 1)
    tree = game.seats[1].spec.build(Board())
    tree.new_game(0)
    decision = tree.decide(game.position)
    game.play(decision.move, decision)
    console = Console(
        file=io.StringIO(),
        width=COLUMNS,
        height=LINES,
        force_terminal=True,
        color_system="truecolor",
        legacy_windows=False,
        highlight=False,
        _environ={},
    )
    screen = ScreenView(console)
    screen.cursor = 3
    name = screen.pen.named(2, OPPONENT)
    title = f"{name} in column {decision.move + 1}, stone {game.position.ply}"
    scene = Scene(game, message=f"{name} plays column {decision.move + 1}")
    scene.panel = WhyPanel(title, decision, screen.pen)
    return "\n".join(svg(console.render_lines(screen.render(scene), pad=False))) + "\n"


def svg(lines: list[list[Segment]]) -> Iterator[str]:
    """The lines of a terminal as SVG. Block characters are drawn, not left to a font: they then
    meet, as they do in a terminal."""
    width = COLUMNS * WIDTH + 2 * MARGIN
    height = len(lines) * HEIGHT + 2 * MARGIN
    yield f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}">'
    yield f'<rect width="{width}" height="{height}" rx="10" fill="{GROUND}"/>'
    font = "ui-monospace, SFMono-Regular, Menlo, Consolas, DejaVu Sans Mono, monospace"
    yield f'<g font-family="{font}" font-size="16" shape-rendering="crispEdges">'
    for row, line in enumerate(lines):
        column = 0
        for segment in line:
            style, text = segment.style or Style(), segment.text.rstrip("\n")
            x, y = MARGIN + column * WIDTH, MARGIN + row * HEIGHT
            colour = style.color.get_truecolor().hex if style.color else TEXT
            if style.bgcolor:
                ground = style.bgcolor.get_truecolor().hex
                yield box(x, y, len(text) * WIDTH, HEIGHT, ground)
            if set(text) & set(QUADRANTS):
                for place, sign in enumerate(text):
                    yield from block(x + place * WIDTH, y, sign, colour)
            elif text.strip():
                yield words(x, y, text, colour, style)
            column += len(text)
    yield "</g></svg>"


def box(x: float, y: float, width: float, height: float, colour: str) -> str:
    crisp = 'shape-rendering="crispEdges"'
    return (
        f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" fill="{colour}" {crisp}/>'
    )


def block(x: float, y: float, sign: str, colour: str) -> Iterator[str]:
    """A block character: some lower eighths of its cell, or some quarters, by lines."""
    if sign in EIGHTHS:
        height = HEIGHT * (EIGHTHS.index(sign) + 1) / 8
        yield box(x, y + HEIGHT - height, WIDTH, height, colour)
        return
    filled = QUADRANTS.get(sign, 0)
    for half in range(2):
        left, right = filled >> 2 * half & 1, filled >> 2 * half & 2
        if left or right:
            start = 0 if left else WIDTH / 2
            width = WIDTH if left and right else WIDTH / 2
            yield box(x + start, y + half * HEIGHT / 2, width, HEIGHT / 2, colour)


def words(x: float, y: float, text: str, colour: str, style: Style) -> str:
    shown = text.strip()
    x += (len(text) - len(text.lstrip())) * WIDTH
    look = ' font-weight="bold"' if style.bold else ""
    look += ' opacity="0.6"' if style.dim else ""
    look += ' text-decoration="underline"' if style.underline else ""
    return (
        f'<text x="{x:g}" y="{y + BASELINE:g}" fill="{colour}"{look} '
        f'textLength="{len(shown) * WIDTH}">{escape(shown)}</text>'
    )


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(picture())
