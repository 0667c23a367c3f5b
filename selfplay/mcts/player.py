"""Monte Carlo tree search as a player: UCT with proven results and tree reuse."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import isfinite
from time import perf_counter
from typing import Literal, get_args

import numpy as np

from selfplay.errors import InputError
from selfplay.game.board import Board
from selfplay.game.position import Position
from selfplay.kernels.rollouts import CAREFUL, UNIFORM, WIN_FIRST
from selfplay.kernels.state import pack
from selfplay.mcts import kernel
from selfplay.players import HOW, Decision, refuse_if_over
from selfplay.seeding import Stream, derive

DEFAULT_ITERATIONS = 10_000

Rollout = Literal["careful", "win-first", "uniform"]

_MANNERS = {"careful": CAREFUL, "win-first": WIN_FIRST, "uniform": UNIFORM}

# Iterations between two looks at Ctrl-C, or at the clock.
_CHUNK = 1 << 15
_TIMED_CHUNK = 1 << 11

# Scores are counted in half points, in 32 bits.
_MOST_VISITS = (1 << 30) - 2 * _CHUNK


@dataclass(frozen=True, slots=True, kw_only=True)
class MctsOptions:
    """How an `mcts` player searches."""

    iterations: int | None = None
    """What a decision rests on, visits of a reused tree included; 10000 if no time is given."""
    seconds: float | None = None
    """Think for so long instead. The same game then need not repeat itself."""
    exploration: float = 0.5
    """The weight of the UCT exploration term."""
    rollout: Rollout = "careful"
    """In rollouts take a win, and make no move that lets the other side win at once; or only
    take a win; or neither. Moves are random otherwise."""
    proven: bool = True
    """Carry proven wins, draws and losses up the tree."""
    reuse: bool = True
    """Keep the part of the tree that the moves of the game lead to."""
    max_children: int | None = None
    """How many moves a node considers, chosen at random; all if not given."""
    memory: int = field(default=2000, metadata=HOW)
    """What the tree may take, in MB."""

    def __post_init__(self) -> None:
        if self.seconds is None and self.iterations is None:
            object.__setattr__(self, "iterations", DEFAULT_ITERATIONS)
        if self.iterations is not None and self.seconds is not None:
            raise InputError("mcts takes iterations or seconds, not both")
        if self.iterations is not None and self.iterations < 1:
            raise InputError(f"iterations is a number from 1 up, not {self.iterations}")
        if self.seconds is not None and not (isfinite(self.seconds) and self.seconds > 0):
            raise InputError(f"seconds is a time above 0, not {self.seconds:g}")
        if self.rollout not in get_args(Rollout):
            raise InputError(
                f"rollout is one of {', '.join(get_args(Rollout))}, not {self.rollout!r}"
            )
        if not (isfinite(self.exploration) and 0 <= self.exploration <= 1000):
            raise InputError(f"exploration is a number from 0 to 1000, not {self.exploration:g}")
        if self.max_children is not None and self.max_children < 1:
            raise InputError(f"max_children is a number from 1 up, not {self.max_children}")
        if not 1 <= self.memory <= 64_000:
            raise InputError(f"memory is a number of MB from 1 to 64000, not {self.memory}")

    def capacity(self, board: Board) -> int:
        """How many nodes the tree may need; refuses what does not fit the memory."""
        node = kernel.node_bytes(board)
        room = self.memory * 1_000_000 // node
        if self.iterations is None:
            return room
        # An iteration adds a node at most, and the root was there before.
        needed = self.iterations + 1
        if needed > room:
            raise InputError(
                f"{needed - 1:,} iterations would need {needed * node / 1e9:,.1f} GB, more than "
                f"memory={self.memory} MB allows: at most {room - 1:,} fit"
            )
        return needed


class MctsPlayer:
    """Searches, and plays the move it has tried most often."""

    def __init__(self, board: Board, options: MctsOptions | None = None) -> None:
        self.board = board
        self.options = options or MctsOptions()
        try:
            self._tree = kernel.new_tree(board, self.options.capacity(board))
        except MemoryError:
            raise InputError(
                f"this machine does not have the memory: lower memory={self.options.memory}"
            ) from None
        self._counters = self._tree.counters[0]
        self._root: Position | None = None
        self._rollouts_before = 0
        self._seed = 0
        self._compile()

    def _compile(self) -> None:
        """Have everything compiled before the first decision is timed."""
        empty = Position(self.board)
        self._plant(empty, 0)
        self._grow(pack(empty), 0)
        kernel.advance_root(self.board, self._tree, 0, self.options.proven)

    def new_game(self, seed: int) -> None:
        self._seed = seed
        self._root = None

    def decide(self, position: Position) -> Decision:
        if position.board != self.board:
            raise InputError(f"this player plays on {self.board}, not on {position.board}")
        refuse_if_over(position)
        start = perf_counter()
        search_seed = derive(self._seed, position.key())
        root, self._root = self._root, None  # until the tree is in order again
        if not (self.options.reuse and self._follow(root, position)):
            self._plant(position, search_seed)
        self._root = position
        self._rollouts_before = int(self._counters["rollouts"])
        self._think(position, start)
        return self._decision(search_seed, perf_counter() - start)

    def so_far(self) -> dict[str, int]:
        return {"rollouts": int(self._counters["rollouts"]) - self._rollouts_before}

    def tree(self) -> kernel.Tree:
        """A copy of the tree behind the last decision."""
        bounds, counts, counters = self._tree
        used = self._counters["nodes"]
        return kernel.Tree(bounds[:used].copy(), counts[:used].copy(), counters.copy())

    def _follow(self, root: Position | None, position: Position) -> bool:
        """Move the root of the tree to this position, if it is one or two plies on."""
        moves = None if root is None else root.moves_to(position, at_most=2)
        return moves is not None and all(
            kernel.advance_root(self.board, self._tree, move, self.options.proven) for move in moves
        )

    def _think(self, position: Position, start: float) -> None:
        options, counters = self.options, self._counters
        packed = pack(position)
        while counters["proven"] == kernel.UNKNOWN:
            if options.iterations is not None:
                wanted = min(_CHUNK, options.iterations - int(counters["visits"]))
                if wanted <= 0:
                    return
            elif options.seconds is not None:
                wanted = _TIMED_CHUNK
                thought = perf_counter() - start >= options.seconds
                if (thought and counters["visits"] > 0) or counters["visits"] > _MOST_VISITS:
                    return
            self._grow(packed, wanted)

    def _plant(self, position: Position, seed: int) -> None:
        kernel.reset(
            self.board,
            self._tree,
            pack(position),
            np.uint64(seed),
            self.options.max_children or 0,
        )

    def _grow(self, packed: kernel.Array, iterations: int) -> None:
        kernel.search(
            self.board,
            self._tree,
            packed,
            iterations,
            self.options.exploration,
            _MANNERS[self.options.rollout],
            self.options.proven,
            self.options.max_children or 0,
        )

    def _decision(self, seed: int, seconds: float) -> Decision:
        columns = self.board.columns
        counters = self._counters
        visits, scores, links = self._tree.counts[0, :, :columns].tolist()
        legal = [column for column, link in enumerate(links) if link != kernel.CLOSED]
        wins = tuple(score / 2 for score in scores)
        proven = tuple(
            (link & 3) - 2 if self.options.proven and link > 0 and link & 3 else None
            for link in links
        )
        value = tuple(
            float(result) if result is not None else (2 * won - count) / count if count else None
            for result, won, count in zip(proven, wins, visits, strict=True)
        )
        return Decision(
            move=_choose(visits, proven, legal, Stream(seed)),
            visits=tuple(visits),
            wins=wins,
            value=value,
            proven=proven,
            iterations=int(counters["visits"]),
            rollouts=int(counters["rollouts"]) - self._rollouts_before,
            nodes=int(counters["nodes"]),
            seconds=seconds,
        )


def _choose(
    visits: Sequence[int],
    proven: Sequence[int | None],
    legal: Sequence[int],
    stream: Stream,
) -> int:
    """A proven win, else the most visited of the moves that are not proven to lose.

    If all that were tried are lost, any that was not tried is better.
    """

    def rank(column: int) -> tuple[int, int]:
        result = proven[column]
        return (1 if result == 1 else -1 if result == -1 else 0, visits[column])

    best = max(map(rank, legal))
    return stream.choice([column for column in legal if rank(column) == best])
