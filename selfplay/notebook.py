"""HTML for notebooks: boards as SVG, and tables."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

_CELL = 32
_COLOURS = ("#fff", "#d62728", "#ffd23f")
"""An empty cell, the first player's stones, the second's."""


def board_svg(
    columns: int, cells: Sequence[int], last: int | None = None, line: Sequence[int] = ()
) -> str:
    """A board, its cells row by row from the top left; the last move and the line are marked."""
    rows = len(cells) // columns
    width, height = columns * _CELL, rows * _CELL
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height + 18}" '
        f'viewBox="0 0 {width} {height + 18}" font-family="sans-serif" font-size="12" '
        'text-anchor="middle">',
        f'<rect width="{width}" height="{height}" rx="6" fill="#2458b8"/>',
    ]
    for index, code in enumerate(cells):
        row, column = divmod(index, columns)
        x, y = (column + 0.5) * _CELL, (row + 0.5) * _CELL
        ring = ' stroke="#111" stroke-width="3"' if index in line else ""
        parts.append(f'<circle cx="{x}" cy="{y}" r="{_CELL * 0.4}" fill="{_COLOURS[code]}"{ring}/>')
        if index == last:
            parts.append(f'<circle cx="{x}" cy="{y}" r="4" fill="#111"/>')
    for column in range(columns):
        x = (column + 0.5) * _CELL
        parts.append(f'<text x="{x}" y="{height + 14}" fill="#888">{column + 1}</text>')
    return "".join([*parts, "</svg>"])


def table(
    rows: Sequence[Sequence[str]], header: Sequence[str] = (), bold: int | None = None
) -> str:
    """A table of texts; the row with the number `bold` stands out."""
    lines = [_row("th", header)] if header else []
    lines += [_row("th" if number == bold else "td", row) for number, row in enumerate(rows)]
    return f"<table>{''.join(lines)}</table>"


def _row(tag: str, cells: Sequence[str]) -> str:
    return f"<tr>{''.join(f'<{tag}>{escape(cell)}</{tag}>' for cell in cells)}</tr>"
