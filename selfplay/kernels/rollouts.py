"""Rollouts (playouts): random games to the end, by one of four policies."""

from __future__ import annotations

import numpy as np

from selfplay.arrays import Int, UInt64Array
from selfplay.game.board import Board
from selfplay.kernels.jit import inline, kernel
from selfplay.kernels.state import (
    State,
    can_win,
    copy,
    is_among,
    is_full,
    is_open,
    load,
    patient_moves,
    play,
    safe_moves,
    scratch,
    wins_with,
)

UNIFORM, WIN_FIRST, CAREFUL, PATIENT = range(4)
"""The rollout policies."""


@inline
def advance(random: np.uint64) -> np.uint64:
    """The next state of a linear congruential generator, the fastest there is."""
    # Its low bits are poor: `below` uses the high ones only.
    return random * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)


@inline
def below(random: np.uint64, n: Int) -> np.uint64:
    """A number from 0 to n - 1 from a random state."""
    return ((random >> np.uint64(32)) * np.uint64(n)) >> np.uint64(32)


@inline
def rollout(
    board: Board, state: State, random: np.uint64, policy: int
) -> tuple[np.int32, np.uint64, int]:
    """Play to the end: half points for the side to move, random state, number of plies.

    `UNIFORM`   any legal move
    `WIN_FIRST` a winning move if there is one, else any
    `CAREFUL`   like `WIN_FIRST`, but never a move that lets the opponent win at once; a game with
                no other move counts as lost
    `PATIENT`   like `CAREFUL`, but no move right below a cell that would complete one's own line,
                as long as there is another
    """
    points = np.int32(2)
    plies = 0
    while not is_full(board, state):
        plies += 1
        if policy != UNIFORM and can_win(board, state):
            return points, random, plies
        if policy >= CAREFUL:
            safe = safe_moves(board, state)
            if not safe:
                return np.int32(2) - points, random, plies
            if policy == PATIENT:
                safe = patient_moves(board, state, safe)
            while True:
                random = advance(random)
                column = below(random, board.columns)
                if is_among(board, safe, column):
                    break
        else:
            while True:
                random = advance(random)
                column = below(random, board.columns)
                if is_open(board, state, column):
                    break
            if policy == UNIFORM and wins_with(board, state, column):
                return points, random, plies
        state = play(board, state, column)
        points = np.int32(2) - points
    return np.int32(1), random, plies


@kernel
def rollouts(
    board: Board, packed: UInt64Array, count: int, random: np.uint64, policy: int
) -> tuple[Int, int]:
    """Many rollouts from one position: half points for the side to move, and plies, in total."""
    root = load(board, packed)
    buffer = scratch(board)
    random = np.uint64(random)
    points: Int = 0
    plies = 0
    for _ in range(count):
        won, random, length = rollout(board, copy(board, root, buffer), random, policy)
        points += won
        plies += length
    return points, plies
