"""Taught moves are found in a position and in its mirror image, and nowhere else."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from selfplay.errors import InputError
from selfplay.game.board import Board, mirrored
from selfplay.game.position import Position
from selfplay.train.model import Model
from selfplay.train.taught import UNTAUGHT, TaughtMoves
from tests.strategies import unfinished


def stones(positions: list[Position], board: Board) -> tuple[np.ndarray, np.ndarray]:
    own = np.array([position.own for position in positions], np.uint64)
    return own, np.array([position.mask for position in positions], np.uint64)


@settings(max_examples=30)
@given(st.lists(unfinished(Board()), min_size=2, max_size=12), st.data())
def test_what_was_taught_is_found_in_both_images(
    positions: list[Position], data: st.DataObject
) -> None:
    board = Board()
    own, mask = stones(positions, board)
    moves = np.array([data.draw(st.sampled_from(each.legal_moves)) for each in positions])
    half = len(positions) // 2
    taught = TaughtMoves.of(board, own[:half], mask[:half], moves[:half])
    taught = TaughtMoves.from_bytes(taught.data, board)
    by_stones: dict[tuple[int, int], int] = {}
    for k in range(half):
        image = mirrored(board, positions[k].own), mirrored(board, positions[k].mask)
        by_stones[image] = board.columns - 1 - int(moves[k])
        by_stones[positions[k].own, positions[k].mask] = int(moves[k])
    for each, found in zip(positions, taught.find(own, mask).tolist(), strict=True):
        image = mirrored(board, each.own), mirrored(board, each.mask)
        if image != (each.own, each.mask):  # else either move is the same
            assert found == by_stones.get((each.own, each.mask), UNTAUGHT)
        else:
            assert (found != UNTAUGHT) == ((each.own, each.mask) in by_stones)
    images = taught.find(mirrored(board, own), mirrored(board, mask))
    symmetric = mirrored(board, own) == own
    there = (taught.find(own, mask) != UNTAUGHT) & ~symmetric
    assert ((images != UNTAUGHT) == (taught.find(own, mask) != UNTAUGHT)).all()
    assert (images[there] == board.columns - 1 - taught.find(own, mask)[there]).all()


def test_a_model_keeps_what_it_was_taught() -> None:
    model = Model.load("models/base")
    position, other = Position.parse("44352"), Position.parse("4435")
    own, mask = stones([position, other], model.board)
    taught = TaughtMoves.of(model.board, own[:1], mask[:1], np.array([6]))
    knowing = replace(model, taught=taught)
    again = Model.from_bytes(knowing.to_bytes())

    def knows(model: Model) -> list[int]:
        return model.with_taught(np.zeros((2, 1), np.int64), own, mask)[:, 0].tolist()

    assert again.fingerprint == knowing.fingerprint != model.fingerprint
    assert knows(again) == [6, 0]
    assert knows(model) == [0, 0]
    more = taught.with_more(TaughtMoves.of(model.board, own, mask, np.array([0, 5])))
    assert more.find(own, mask).tolist() == [0, 5]
    for wrong in (taught.data * 2, taught.data[:-1] + b"\x07"):
        with pytest.raises(InputError, match="out of order or out of range"):
            TaughtMoves.from_bytes(wrong, model.board)
    full = replace(taught, moves=np.array([2], np.int8))
    column_full = Position.parse("333333")
    (own_full,), (mask_full,) = stones([column_full], model.board)
    full = TaughtMoves.of(model.board, np.array([own_full]), np.array([mask_full]), np.array([2]))
    assert full.find(np.array([own_full]), np.array([mask_full])).tolist() == [UNTAUGHT]
