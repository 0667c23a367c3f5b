"""The game state as bitboards, for boards that fit a machine word (see `state.py`).

Four words: the stones of the side to move, of both, and the winning cells of either side. A move
changes the winning cells of one side only, so that keeping both costs one update per move.
"""

from __future__ import annotations

import numpy as np

from selfplay.arrays import Int, UInt64Array
from selfplay.game.board import Board, next_cells, position_key, winning_cells
from selfplay.kernels.intrinsics import population
from selfplay.kernels.jit import inline

State = tuple[np.uint64, np.uint64, np.uint64, np.uint64]

_ONE = np.uint64(1)


def load(board: Board, packed: UInt64Array) -> State:
    own, mask = packed[0], packed[1]
    return own, mask, winning_cells(board, own), winning_cells(board, own ^ mask)


def scratch(board: Board) -> None:
    return None


def copy(board: Board, state: State, buffer: None) -> State:
    return state


def is_open(board: Board, state: State, column: Int) -> bool:
    top = np.uint64(column) * np.uint64(board.stride) + np.uint64(board.rows - 1)
    return (state[1] >> top) & _ONE == 0


def is_full(board: Board, state: State) -> bool:
    return state[1] == board.full


def can_win(board: Board, state: State) -> bool:
    return state[2] & next_cells(board, state[1]) != 0


def wins_with(board: Board, state: State, column: Int) -> bool:
    return state[2] & _stone(board, state[1], column) != 0


def safe_moves(board: Board, state: State) -> np.uint64:
    return safe_stones(board, state[1], state[3])


def patient_moves(board: Board, state: State, moves: np.uint64) -> np.uint64:
    own_wins = state[2] & board.full & ~state[1]
    patient = moves & ~(own_wins >> _ONE)
    return patient if patient else moves


def is_among(board: Board, moves: np.uint64, column: Int) -> bool:
    return moves & _cells(board, column) != 0


def key(board: Board, state: State) -> np.uint64:
    return position_key(board, state[0], state[1])


def stones(board: Board, state: State) -> Int:
    return np.int64(population(state[1]))


def play(board: Board, state: State, column: Int) -> State:
    own, mask, _, opponent_wins = state
    stone = _stone(board, mask, column)
    return own ^ mask, mask | stone, opponent_wins, winning_cells(board, own | stone)


@inline
def safe_stones(board: Board, mask: np.uint64, opponent_wins: np.uint64) -> np.uint64:
    """The cells to play after which the opponent cannot win at once."""
    free = next_cells(board, mask)
    dangers = opponent_wins & board.full & ~mask
    forced = free & dangers
    if forced & (forced - _ONE):
        return np.uint64(0)
    return (forced if forced else free) & ~(dangers >> _ONE)


@inline
def _stone(board: Board, mask: np.uint64, column: Int) -> np.uint64:
    return next_cells(board, mask) & _cells(board, column)


@inline
def _cells(board: Board, column: Int) -> np.uint64:
    """The cells of a column."""
    return np.uint64((1 << board.rows) - 1) << (np.uint64(column) * np.uint64(board.stride))
