"""Rollouts: a game played to its end by players who do not think, and their random numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from selfplay.kernels.jit import inline, kernel
from selfplay.kernels.state import (
    can_win,
    copy,
    is_among,
    is_full,
    is_open,
    load,
    play,
    safe_moves,
    scratch,
    wins_with,
)

UNIFORM, WIN_FIRST, CAREFUL = 0, 1, 2
"""How moves are chosen in rollouts."""


@inline
def advance(random: Any) -> Any:
    """The next random state: one multiplication, because a rollout is little more than this."""
    # A linear congruential generator: its low bits are poor, only high ones are ever used.
    return random * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)


@inline
def below(random: Any, n: Any) -> Any:
    """A number from 0 to n - 1 out of a random state."""
    return ((random >> np.uint64(32)) * np.uint64(n)) >> np.uint64(32)


@inline
def rollout(board: Any, state: Any, random: Any, policy: Any) -> Any:
    """Play to the end: the half points of the side to move, the random state, the plies.

    `UNIFORM`   any move
    `WIN_FIRST` a winning move where there is one, else any
    `CAREFUL`   the same, but none after which the other side wins at once; where only such are
                left, the game is lost
    """
    points = np.int32(2)
    plies = 0
    while not is_full(board, state):
        plies += 1
        if policy != UNIFORM and can_win(board, state):
            return points, random, plies
        if policy == CAREFUL:
            safe = safe_moves(board, state)
            if not safe:
                return np.int32(2) - points, random, plies
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
def rollouts(board: Any, packed: Any, count: Any, random: Any, policy: Any) -> Any:
    """Many rollouts from one position: the half points of the side to move, and all plies."""
    root = load(board, packed)
    room = scratch(board)
    random = np.uint64(random)
    points = plies = 0
    for _ in range(count):
        won, random, length = rollout(board, copy(board, root, room), random, policy)
        points += won
        plies += length
    return points, plies
