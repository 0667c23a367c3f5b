"""Monte Carlo tree search as a player: UCT with proven results and tree reuse."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Literal, get_args

import numpy as np

from selfplay.arrays import UInt64Array
from selfplay.checks import allocating, check_choice, check_memory, check_range, check_seconds
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

_POLICIES = {"careful": CAREFUL, "win-first": WIN_FIRST, "uniform": UNIFORM}

# Iterations between two checks for Ctrl-C, or of the clock.
_ITERATIONS = 1 << 15
_TIMED_ITERATIONS = 1 << 11

# Scores are half points in 32 bits.
_MAX_VISITS = (1 << 30) - 2 * _ITERATIONS


@dataclass(frozen=True, slots=True, kw_only=True)
class MctsOptions:
    """How an `mcts` player searches."""

    iterations: int | None = None
    """Visits of the root per decision, including those of a reused tree; 10000 by default."""
    seconds: float | None = None
    """Time per move, instead of iterations. Games are then not reproducible."""
    exploration: float = 0.5
    """The weight of the UCT exploration term."""
    rollout: Rollout = "careful"
    """The rollout policy: take a win and never let the opponent win at once (careful), only take
    a win (win-first), or play at random (uniform)."""
    proven: bool = True
    """Propagate proven wins, draws and losses up the tree."""
    reuse: bool = True
    """Reuse the subtree of the position that the game has reached."""
    max_children: int | None = None
    """The number of moves that a node considers, chosen at random; all by default."""
    memory: int = field(default=2000, metadata=HOW)
    """The maximum size of the tree, in MB."""

    def __post_init__(self) -> None:
        if self.seconds is None and self.iterations is None:
            object.__setattr__(self, "iterations", DEFAULT_ITERATIONS)
        if self.iterations is not None and self.seconds is not None:
            raise InputError("mcts takes iterations or seconds, not both")
        check_range("iterations", self.iterations, 1)
        check_seconds(self.seconds)
        check_choice("rollout", self.rollout, get_args(Rollout))
        check_range("exploration", self.exploration, 0, 1000)
        check_range("max_children", self.max_children, 1)
        check_memory(self.memory)

    def capacity(self, board: Board) -> int:
        """The maximum number of nodes; refused if they do not fit the memory."""
        node = kernel.node_bytes(board)
        room = self.memory * 1_000_000 // node
        if self.iterations is None:
            return room
        # An iteration adds at most one node to the root.
        needed = self.iterations + 1
        if needed > room:
            raise InputError(
                f"{needed - 1:,} iterations would need {needed * node / 1e9:,.1f} GB, more than "
                f"memory={self.memory} MB allows: at most {room - 1:,} fit"
            )
        return needed


class MctsPlayer:
    """Searches, and plays the most visited move."""

    def __init__(self, board: Board, options: MctsOptions | None = None) -> None:
        self.board = board
        self.options = options or MctsOptions()
        with allocating(self.options.memory):
            self._tree = kernel.new_tree(board, self.options.capacity(board))
        self._counters = self._tree.counters[0]
        self._root: Position | None = None
        self._rollouts_before = 0
        self._seed = 0
        self._compile()

    def _compile(self) -> None:
        """Compile everything before the first decision is timed."""
        empty = Position(self.board)
        self._reset(empty, 0)
        self._search(pack(empty), 0)
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
        root, self._root = self._root, None  # until the tree is consistent again
        if not (self.options.reuse and self._advance_root(root, position)):
            self._reset(position, search_seed)
        self._root = position
        self._rollouts_before = int(self._counters["rollouts"])
        self._run(position, start)
        return self._decision(search_seed, perf_counter() - start)

    def so_far(self) -> dict[str, int]:
        return {"rollouts": int(self._counters["rollouts"]) - self._rollouts_before}

    def tree(self) -> kernel.Tree:
        """A copy of the last decision's tree."""
        bounds, counts, counters = self._tree
        used = self._counters["nodes"]
        return kernel.Tree(bounds[:used].copy(), counts[:used].copy(), counters.copy())

    def _advance_root(self, root: Position | None, position: Position) -> bool:
        """Move the root to this position if it is one or two plies later; whether it was."""
        moves = None if root is None else root.moves_to(position, at_most=2)
        return moves is not None and all(
            kernel.advance_root(self.board, self._tree, move, self.options.proven) for move in moves
        )

    def _run(self, position: Position, start: float) -> None:
        options, counters = self.options, self._counters
        packed = pack(position)
        while counters["proven"] == kernel.UNKNOWN:
            if options.iterations is not None:
                wanted = min(_ITERATIONS, options.iterations - int(counters["visits"]))
                if wanted <= 0:
                    return
            elif options.seconds is not None:
                wanted = _TIMED_ITERATIONS
                time_is_up = perf_counter() - start >= options.seconds
                if (time_is_up and counters["visits"] > 0) or counters["visits"] > _MAX_VISITS:
                    return
            self._search(packed, wanted)

    def _reset(self, position: Position, seed: int) -> None:
        kernel.reset(
            self.board,
            self._tree,
            pack(position),
            np.uint64(seed),
            self.options.max_children or 0,
        )

    def _search(self, packed: UInt64Array, iterations: int) -> None:
        kernel.search(
            self.board,
            self._tree,
            packed,
            iterations,
            self.options.exploration,
            _POLICIES[self.options.rollout],
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
    """A proven win, else the most visited move that is not a proven loss."""

    def rank(column: int) -> tuple[int, int]:
        result = proven[column]
        return (1 if result == 1 else -1 if result == -1 else 0, visits[column])

    best = max(map(rank, legal))
    return stream.choice([column for column in legal if rank(column) == best])
