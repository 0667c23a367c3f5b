"""Game lines that lead to a mistake, found by walking back through the levels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from selfplay.game.position import Position, format_moves
from selfplay.workers.proof.files import Level, levels_of, mistakes_in
from selfplay.workers.proof.judging import Judged
from selfplay.workers.proof.positions import stones_of
from selfplay.workers.proof.walk import Proof


@dataclass(frozen=True, slots=True)
class Mistake:
    """A line of moves whose last one gives the game value away."""

    line: str
    stones: int
    """Before the last move."""
    value: int
    after: int


def worst(proof: Proof, walk: Path, most_stones: int | None, count: int) -> list[Mistake]:
    """The mistakes that give away most, the shortest lines first."""
    found: list[tuple[int, Level, Any]] = []
    for level in _with_mistakes(walk, most_stones):
        rows = level.mistakes()
        given = rows["value"] - rows["after"]
        first = np.argsort(-given, kind="stable")[:count]
        found += [(int(given[at]), level, rows[at]) for at in first]
    found.sort(key=lambda entry: (-entry[0], entry[1].stones))
    return [_mistake(proof, level, row) for _, level, row in found[:count]]


def shortest(proof: Proof, walk: Path, most_stones: int | None) -> Mistake:
    """The first mistake of a walk that has one."""
    level = next(_with_mistakes(walk, most_stones))
    return _mistake(proof, level, level.mistakes()[0])


def _with_mistakes(walk: Path, most_stones: int | None) -> Iterator[Level]:
    for level in levels_of(walk):
        is_beyond = most_stones is not None and level.stones > most_stones
        if level.numbers is not None and not is_beyond and mistakes_in(level.numbers):
            yield level


def _mistake(proof: Proof, level: Level, row: Any) -> Mistake:
    board, image = proof.board, int(row["image"])
    (own,), (mask,) = stones_of(board, np.array([row["key"]], np.uint64))
    position = Position(board, int(own), int(mask), None)
    move = int(row["move"])
    if image:
        position, move = position.mirror(), board.columns - 1 - move
    moves = (*_line_to(proof, level, position), move)
    return Mistake(format_moves(moves, board), level.stones, int(row["value"]), int(row["after"]))


def _line_to(proof: Proof, level: Level, position: Position) -> tuple[int, ...]:
    """Moves that lead to a position of a level, the player's own ones among them."""
    start = proof.position
    if level.stones == proof.first_stones:
        if start.to_move == proof.side:
            return start.moves or ()
        for reply in start.legal_moves:
            if start.play(reply) == position:
                return (*(start.moves or ()), reply)
        raise AssertionError("a position does not follow from the start")
    for reply, after in _taken_back(position):
        for move, before in _taken_back(after):
            if _is_made(level.before, before, move):
                return (*_line_to(proof, level.before, before), move, reply)
    raise AssertionError("a position has no parent")


def _taken_back(position: Position) -> Iterator[tuple[int, Position]]:
    """The columns that may have been the last move, and the positions before it."""
    board = position.board
    waiting = position.own ^ position.mask
    tops = position.mask & ~(position.mask >> 1)
    for column in range(board.columns):
        top = tops & (((1 << board.rows) - 1) << (column * board.stride))
        if top & waiting:
            yield column, Position(board, waiting ^ top, position.mask ^ top, None)


def _is_made(level: Level, position: Position, move: int) -> bool:
    """Whether the player comes into a position, and the walk goes on after this move of it."""
    key = position.key(canonical=True)
    row = level.find(key)
    if row is None:
        return False
    k = int(position.key() != key)
    seen = position.board.columns - 1 - move if k else move
    goes_on = row["judged"][k] in (Judged.KEEPS, Judged.LOST)
    return bool(goes_on and row["moves"][k] == seen)
