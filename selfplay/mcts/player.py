"""Monte Carlo tree search as a player: UCT with proven results, the exact solver and tree reuse."""

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
from selfplay.kernels.rollouts import CAREFUL, PATIENT, UNIFORM, WIN_FIRST
from selfplay.kernels.state import pack
from selfplay.mcts import search
from selfplay.mcts.exact import UNKNOWN, first_attempts, typical_nodes
from selfplay.mcts.tree import CLOSED, Tree, advance_root, new_tree, node_bytes, reset
from selfplay.players import HOW, Decision, refuse_if_over
from selfplay.seeding import Stream, derive
from selfplay.solver import kernel as solver

DEFAULT_ITERATIONS = 10_000

Rollout = Literal["patient", "careful", "win-first", "uniform"]

_POLICIES = {"patient": PATIENT, "careful": CAREFUL, "win-first": WIN_FIRST, "uniform": UNIFORM}

# Iterations between two checks for Ctrl-C, or of the clock.
_ITERATIONS = 1 << 15
_TIMED_ITERATIONS = 1 << 11
_SOLVER_NODES = 1 << 17

# Twice the half points fit 32 bits.
_MAX_VISITS = (1 << 29) - 2 * _ITERATIONS

# The solver's table has at least 2^20 entries, 8 MB; more are worth it from some hundred thousand
# iterations on.
_TABLE_BITS, _LARGE_TABLE_BITS, _LARGE_FROM = 20, 23, 300_000

# The share of the iterations before the solver is asked about the root.
_FIRST_SHARE = 16

# What a search with a time limit is taken for when the solver's share of it is set.
_ITERATIONS_PER_SECOND = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class MctsOptions:
    """How an `mcts` player searches."""

    iterations: int | None = None
    """Visits of the root per decision, including those of a reused tree; 10000 by default."""
    seconds: float | None = None
    """Time per move, instead of iterations. Games are then not reproducible."""
    exploration: float = 0.5
    """The weight of the UCT exploration term."""
    rollout: Rollout = "patient"
    """The rollout policy: take a win and never let the opponent win at once (careful), and do not
    play right below one's own winning cell either (patient); only take a win (win-first), or play
    at random (uniform)."""
    proven: bool = True
    """Propagate proven wins, draws and losses up the tree."""
    reuse: bool = True
    """Reuse the subtree of the position that the game has reached."""
    solver: int = 5
    """Nodes of the exact solver per visit of a position, where it may succeed; 0: no solver. There
    is none on boards beyond 64 bits, or without proven results."""
    transpositions: bool = True
    """Share the node of a position among the orders of moves that lead to it. They are not on
    boards beyond 64 bits."""
    early_stop: bool = True
    """Stop when no other move can be visited most any more."""
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
        check_range("solver", self.solver, 0, 1000)
        if not self.proven:
            object.__setattr__(self, "solver", 0)
        check_range("max_children", self.max_children, 1)
        check_memory(self.memory)

    def capacity(self, board: Board) -> int:
        """The maximum number of nodes; refused if they do not fit the memory."""
        node = node_bytes(board)
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
        self.options = options = options or MctsOptions()
        goal = options.iterations or 0
        with allocating(options.memory):
            shares = options.transpositions and board.fits_word
            self._tree = new_tree(board, options.capacity(board), shares)
            self._solver = _solver_memory(board, goal)
        solver_nodes = options.solver if self._solver else 0
        self._rules = search.Rules(
            exploration=np.float32(options.exploration),
            policy=_POLICIES[options.rollout],
            proven=options.proven,
            max_children=options.max_children or 0,
            first_attempts=first_attempts(board, solver_nodes),
            solver_nodes=solver_nodes,
            goal=goal if options.early_stop else 0,
        )
        self._counters = self._tree.counters[0]
        self._root: Position | None = None
        self._rollouts_before = 0
        self._seed = 0
        self._compile()

    def _compile(self) -> None:
        """Compile everything before the first decision is timed."""
        empty = Position(self.board)
        self._reset(empty, 0)
        if self._solver is not None:
            search.solve_root(self.board, self._tree, pack(empty), self._solver, 0)
        self._search(pack(empty), 0)
        advance_root(self.board, self._tree, 0, self.options.proven)

    def new_game(self, seed: int) -> None:
        self._seed = seed
        self._root = None

    def decide(self, position: Position) -> Decision:
        if position.board != self.board:
            raise InputError(f"this player plays on {self.board}, not on {position.board}")
        refuse_if_over(position)
        start, options = perf_counter(), self.options
        search_seed = derive(self._seed, position.key())
        root, self._root = self._root, None  # until the tree is consistent again
        if not (options.reuse and self._advance_root(root, position)):
            self._reset(position, search_seed)
        self._root = position
        self._rollouts_before = int(self._counters["rollouts"])
        budget = self._root_budget(position)
        done = budget > 0 and self._run(position, start, self._first_visits)
        if budget > 0 and not done:
            self._solve_root(position, start, budget)
        if not done:
            self._run(position, start, options.iterations)
        return self._decision(position, search_seed, perf_counter() - start)

    def so_far(self) -> dict[str, int]:
        return {"rollouts": int(self._counters["rollouts"]) - self._rollouts_before}

    def tree(self) -> Tree:
        """A copy of the last decision's tree."""
        used = self._counters["nodes"]
        bounds, counts, totals, keys, slots, counters = self._tree
        return Tree(
            bounds[:used].copy(),
            counts[:used].copy(),
            totals[:used].copy(),
            keys[:used].copy(),
            slots.copy(),
            counters.copy(),
        )

    def _advance_root(self, root: Position | None, position: Position) -> bool:
        """Move the root to this position if it is one or two plies later; whether it was."""
        moves = None if root is None else root.moves_to(position, at_most=2)
        return moves is not None and all(
            advance_root(self.board, self._tree, move, self.options.proven) for move in moves
        )

    @property
    def _first_visits(self) -> int:
        """Of the root, before the solver is asked: they rank moves of the same result."""
        most = self.options.iterations or _TIMED_ITERATIONS
        return min(most, max(most // _FIRST_SHARE, 8 * self.board.columns))

    def _root_budget(self, position: Position) -> int:
        """The solver's nodes that the whole search is worth; 0 if it would hardly succeed."""
        options = self.options
        visits = options.iterations or int((options.seconds or 0) * _ITERATIONS_PER_SECOND)
        budget = self._rules.solver_nodes * visits
        return budget if 2 * typical_nodes(self.board.cells - position.ply) <= budget else 0

    def _solve_root(self, position: Position, start: float, budget: int) -> None:
        """Prove the root's moves one by one, as far as these nodes of the solver go."""
        # A column that the solver had begun is begun anew: it has worked on others since.
        self._counters["asked"], self._counters["asking"] = 0, False
        deadline = start + (self.options.seconds or float("inf")) / 2
        packed, done = pack(position), False
        assert self._solver is not None  # or there is no budget
        while not done and budget > 0 and perf_counter() < deadline:
            nodes = min(_SOLVER_NODES, budget)
            done = search.solve_root(self.board, self._tree, packed, self._solver, nodes)
            budget -= nodes

    def _run(self, position: Position, start: float, visits: int | None) -> bool:
        """Search until the root has this many visits or the time is up.

        Return whether the search is over: its root is proven, or its choice is settled.
        """
        counters, seconds = self._counters, self.options.seconds
        packed = pack(position)
        done = counters["proven"] != UNKNOWN
        while not done:
            wanted = _TIMED_ITERATIONS
            if visits is not None:
                wanted = min(_ITERATIONS, visits - int(counters["visits"]))
            if wanted <= 0 or counters["visits"] > _MAX_VISITS:
                break
            if seconds is not None and counters["visits"] and perf_counter() - start >= seconds:
                break
            done = self._search(packed, wanted)
        return bool(done)

    def _reset(self, position: Position, seed: int) -> None:
        if self._solver is not None and self._rules.solver_nodes:
            solver.forget(self._solver)  # a table lives as long as a tree
        reset(self.board, self._tree, pack(position), np.uint64(seed), self._rules.max_children)

    def _search(self, packed: UInt64Array, iterations: int) -> bool:
        return search.search(self.board, self._tree, packed, iterations, self._rules, self._solver)

    def _decision(self, position: Position, seed: int, seconds: float) -> Decision:
        columns = self.board.columns
        counters = self._counters
        visits, scores, links = self._tree.counts[0, :, :columns].tolist()
        legal = [column for column, link in enumerate(links) if link != CLOSED]
        wins = tuple(score / 2 for score in scores)
        uses_solver = self._rules.solver_nodes > 0
        at_once = position.winning_moves if uses_solver else ()
        proven = tuple(
            1
            if column in at_once
            else (link & 3) - 2
            if self.options.proven and link > 0 and link & 3
            else None
            for column, link in enumerate(links)
        )
        sooner = _sooner(position, proven) if uses_solver else ()
        value = tuple(
            float(result) if result is not None else (2 * won - count) / count if count else None
            for result, won, count in zip(proven, wins, visits, strict=True)
        )
        return Decision(
            move=_choose(visits, proven, legal, Stream(seed), sooner),
            visits=tuple(visits),
            wins=wins,
            value=value,
            proven=proven,
            iterations=int(counters["visits"]),
            rollouts=int(counters["rollouts"]) - self._rollouts_before,
            nodes=int(counters["nodes"]),
            seconds=seconds,
        )


def _sooner(position: Position, proven: Sequence[int | None]) -> Sequence[int]:
    """Moves to prefer among equal results, as the solver does not tell soon from late: those that
    win at once, or of lost ones those that do not lose at once."""
    if position.winning_moves or any(proven[column] != -1 for column in position.legal_moves):
        return position.winning_moves
    return [move for move in position.legal_moves if not position.play(move).winning_moves]


def _solver_memory(board: Board, iterations: int) -> solver.Memory | None:
    """Allocate the solver's memory; None on boards beyond one word. 0 iterations: a time limit."""
    if not board.fits_word:
        return None
    is_large = iterations == 0 or iterations >= _LARGE_FROM
    bits = max(solver.least_bits(board), _LARGE_TABLE_BITS if is_large else _TABLE_BITS)
    return solver.new_memory(board, np.zeros(1 << min(bits, board.key_bits), np.uint64))


def _choose(
    visits: Sequence[int],
    proven: Sequence[int | None],
    legal: Sequence[int],
    stream: Stream,
    sooner: Sequence[int],
) -> int:
    """A proven win, else the most visited move that is not a proven loss."""

    def rank(column: int) -> tuple[int, bool, int]:
        result = 1 if proven[column] == 1 else -1 if proven[column] == -1 else 0
        return (result, column in sooner, visits[column])

    best = max(map(rank, legal))
    return stream.choice([column for column in legal if rank(column) == best])
