"""The rules of the game once more: slow, obvious, and sharing nothing with the engine."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cache

from selfplay.game.board import Board

Grid = tuple[tuple[int, ...], ...]
"""A column of stones from the bottom up, for every column: 1 or 2."""


def empty(board: Board) -> Grid:
    return ((),) * board.columns


def open_columns(board: Board, grid: Grid) -> list[int]:
    return [c for c in range(board.columns) if len(grid[c]) < board.rows]


def drop(grid: Grid, column: int, player: int) -> Grid:
    return (*grid[:column], (*grid[column], player), *grid[column + 1 :])


def stone(grid: Grid, column: int, row: int) -> int:
    if 0 <= column < len(grid) and 0 <= row < len(grid[column]):
        return grid[column][row]
    return 0


def has_won(board: Board, grid: Grid, player: int) -> bool:
    for column in range(board.columns):
        for row in range(board.rows):
            for right, up in ((1, 0), (0, 1), (1, 1), (1, -1)):
                line = [stone(grid, column + i * right, row + i * up) for i in range(board.connect)]
                if line == [player] * board.connect:
                    return True
    return False


def play_all(board: Board, moves: Sequence[int]) -> Grid:
    grid = empty(board)
    for ply, move in enumerate(moves):
        grid = drop(grid, move, 1 + ply % 2)
    return grid


def cells(board: Board, grid: Grid) -> tuple[int, ...]:
    return tuple(
        stone(grid, column, row)
        for row in reversed(range(board.rows))
        for column in range(board.columns)
    )


@cache
def value(board: Board, grid: Grid, mover: int) -> int:
    """The game value for the side to move: 1, 0, -1. For positions near the end."""
    if has_won(board, grid, 3 - mover):
        return -1
    moves = open_columns(board, grid)
    if not moves:
        return 0
    best = -1
    for move in moves:
        best = max(best, -value(board, drop(grid, move, mover), 3 - mover))
        if best == 1:
            break
    return best


def winning_columns(board: Board, grid: Grid, mover: int) -> list[int]:
    return [c for c in open_columns(board, grid) if has_won(board, drop(grid, c, mover), mover)]


def safe_columns(board: Board, grid: Grid, mover: int) -> list[int]:
    """The moves after which the other side cannot win at once."""
    return [
        column
        for column in open_columns(board, grid)
        if not winning_columns(board, drop(grid, column, mover), 3 - mover)
    ]


@cache
def expected_points(board: Board, grid: Grid, mover: int, policy: str) -> Fraction:
    """The points (win 1, draw ½) that a rollout brings the side to move on average."""
    moves = open_columns(board, grid)
    if not moves:
        return Fraction(1, 2)
    wins = winning_columns(board, grid, mover)
    if wins and policy != "uniform":
        return Fraction(1)
    if policy == "careful":
        moves = safe_columns(board, grid, mover)
        if not moves:
            return Fraction(0)
    points = [
        Fraction(1)
        if move in wins
        else 1 - expected_points(board, drop(grid, move, mover), 3 - mover, policy)
        for move in moves
    ]
    return sum(points, Fraction(0)) / len(points)
