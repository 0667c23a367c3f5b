"""Rollouts: a game played to its end by players who do not think, and their random numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from selfplay.compiled import inline, kernel
from selfplay.state import can_win, copy, is_full, is_open, load, play, scratch, wins_with


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
def rollout(board: Any, state: Any, random: Any, win_first: Any) -> Any:
    """Play to the end: the half points of the side to move, the random state, the plies.

    Moves are uniformly random; with `win_first` a winning one is taken where there is one.
    """
    points = np.int32(2)
    plies = 0
    while not is_full(board, state):
        plies += 1
        if win_first and can_win(board, state):
            return points, random, plies
        while True:
            random = advance(random)
            column = below(random, board.columns)
            if is_open(board, state, column):
                break
        if not win_first and wins_with(board, state, column):
            return points, random, plies
        state = play(board, state, column)
        points = np.int32(2) - points
    return np.int32(1), random, plies


@kernel
def rollouts(board: Any, packed: Any, count: Any, random: Any, win_first: Any) -> Any:
    """Many rollouts from one position: the half points of the side to move, and all plies."""
    root = load(board, packed)
    room = scratch(board)
    random = np.uint64(random)
    points = plies = 0
    for _ in range(count):
        won, random, length = rollout(board, copy(board, root, room), random, win_first)
        points += won
        plies += length
    return points, plies
