"""Minimax as a player, to a fixed depth or for a fixed time; and greedy, which ignores replies."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import inf
from time import perf_counter
from typing import Literal, get_args

import numpy as np

from selfplay.checks import allocating, check_choice, check_memory, check_range, check_seconds
from selfplay.errors import InputError
from selfplay.game.board import Board
from selfplay.game.position import Position
from selfplay.minimax import kernel
from selfplay.minimax.heuristics import Name, evaluation
from selfplay.minimax.kernel import Settings
from selfplay.players import HOW, Decision, refuse_if_over
from selfplay.seeding import Stream, derive

DEFAULT_DEPTH = 4

Order = Literal["centre", "left"]

# Positions visited between two checks of the clock and for Ctrl-C.
_SLICE = 1 << 14


@dataclass(frozen=True, slots=True, kw_only=True)
class MinimaxOptions:
    """How a `minimax` player searches."""

    depth: int | None = None
    """The number of plies to search; 4 by default."""
    seconds: float | None = None
    """Time per move, instead of a depth: iterative deepening with a transposition table and killer
    moves."""
    eval: Name = "segments"
    """The heuristic where the search ends."""
    cells: bool = False
    """Add the number of lines through the cell of each move of the search."""
    pruning: bool = True
    """Prune with alpha-beta."""
    order: Order = "centre"
    """Try columns from the centre outwards, or from left to right."""
    skip_empty: bool = True
    """When summing over lines, skip those without stones."""
    incremental: bool = True
    """Update the sum over lines with every move instead of computing it at every leaf."""
    memory: int = field(default=64, metadata=HOW)
    """With seconds: the size of the transposition table, in MB."""

    def __post_init__(self) -> None:
        if self.depth is None and self.seconds is None:
            object.__setattr__(self, "depth", DEFAULT_DEPTH)
        if self.depth is not None and self.seconds is not None:
            raise InputError("minimax takes depth or seconds, not both")
        check_range("depth", self.depth, 1, 256)
        check_seconds(self.seconds)
        check_choice("eval", self.eval, get_args(Name))
        check_choice("order", self.order, get_args(Order))
        if self.seconds is not None and not self.pruning:
            raise InputError("minimax always prunes with seconds: remove pruning=off")
        check_memory(self.memory)


@dataclass(frozen=True, slots=True)
class _Result:
    """The result of a search."""

    move: int
    depth: int
    proven: tuple[int | None, ...]
    evaluations: tuple[float | None, ...]


class MinimaxPlayer:
    """Plays the first move with the highest value."""

    def __init__(self, board: Board, options: MinimaxOptions | None = None) -> None:
        self.board = board
        self.options = options = options or MinimaxOptions()
        by_clock = options.seconds is not None
        columns = list(range(board.columns))
        if options.order == "centre":
            columns.sort(key=lambda column: abs(2 * column - (board.columns - 1)))
        self._settings = Settings(
            options.pruning, options.skip_empty, options.incremental, by_clock, np.array(columns)
        )
        self._deepest = min(options.depth or board.cells, board.cells)
        with allocating(options.memory):
            self._memory = kernel.new_memory(
                board, self._deepest, options.memory * 1_000_000 if by_clock else 0
            )
        self._searches = 0
        self._depth = 0
        # Compile everything before the first decision is timed.
        self._search(Position(board), 1, None)

    def new_game(self, seed: int) -> None:
        """Earlier games leave only move ordering in the table."""

    def decide(self, position: Position) -> Decision:
        if position.board != self.board:
            raise InputError(f"this player plays on {self.board}, not on {position.board}")
        refuse_if_over(position)
        start = perf_counter()
        counters = self._memory.counters[0]
        for count in ("nodes", "leaves", "lines"):
            counters[count] = 0
        found = self._deepen(position, start)
        return Decision(
            move=found.move,
            value=tuple(None if result is None else float(result) for result in found.proven),
            proven=found.proven,
            evaluations=found.evaluations,
            nodes=int(counters["nodes"]),
            leaves=int(counters["leaves"]),
            lines=int(counters["lines"]),
            depth=found.depth,
            seconds=perf_counter() - start,
        )

    def so_far(self) -> dict[str, int]:
        return {"nodes": int(self._memory.counters[0]["nodes"]), "plies ahead": self._depth}

    def _deepen(self, position: Position, start: float) -> _Result:
        """Iterative deepening. A search that time cuts short counts if it has valued its first
        move, which is the best one of the search before."""
        deepest = min(self._deepest, self.board.cells - position.ply)
        seconds = self.options.seconds
        if seconds is None:
            self._search(position, deepest, None)
            return self._result(position, deepest)
        found = None
        for depth in range(1, deepest + 1):
            finished = self._search(position, depth, start + seconds if found else None)
            if np.isinf(self._memory.floats[0, kernel.BEST]):
                break
            latest = self._result(position, depth, found)
            if found and not finished and latest.proven[latest.move] == -1:
                break  # all moves lose: the previous one loses no sooner
            found = latest
            decided = found.proven[found.move] in (1, -1)
            if not finished or decided:
                break
        assert found is not None
        return found

    def _search(self, position: Position, depth: int, deadline: float | None) -> bool:
        """Search to a depth; whether that was finished before the deadline."""
        chosen = evaluation(self.options.eval, self.board, depth, cells=self.options.cells)
        kernel.begin(self._memory, position, chosen)
        self._searches += 1
        self._depth = depth
        finished = False
        while not finished:
            if deadline is not None and perf_counter() > deadline:
                break
            finished = kernel.search(
                self.board,
                self._memory,
                kernel.lookup(self.board),
                (chosen.lines, chosen.cells, chosen.bonus, chosen.divisor),
                self._settings,
                depth,
                self._searches,
                _SLICE,
            )
        return finished

    def _result(self, position: Position, depth: int, before: _Result | None = None) -> _Result:
        memory = self._memory
        to_the_end = depth == self.board.cells - position.ply
        proven: list[int | None] = []
        evaluations: list[float | None] = []
        for value, exact in zip(memory.values.tolist(), memory.exact.tolist(), strict=True):
            # A value that is not exact is an upper bound.
            lost = value <= -kernel.LEAST_WIN
            won = exact and value >= kernel.LEAST_WIN
            drawn = exact and to_the_end and not (won or lost)
            proven.append(1 if won else -1 if lost else 0 if drawn else None)
            evaluations.append(value if exact and not (won or lost or drawn) else None)
        if before is not None:  # proofs stay valid
            proven = [b if p is None else p for p, b in zip(proven, before.proven, strict=True)]
        move = int(memory.integers[0, kernel.CHOICE])
        if proven[move] == -1:
            # Time ran out: a move that was not tried cannot be worse.
            legal = position.legal_moves
            untried = [c for c in self._settings.order.tolist() if c in legal and proven[c] is None]
            move = untried[0] if untried else move
        return _Result(move, depth, tuple(proven), tuple(evaluations))


class GreedyPlayer:
    """Plays the move with the best evaluation, one ply ahead.

    It evaluates segments and the cell of the move. Its evaluations never fall during a game.
    """

    def __init__(self, board: Board) -> None:
        options = MinimaxOptions(depth=1, eval="segments", cells=True, pruning=False)
        self._minimax = MinimaxPlayer(board, options)
        self.new_game(0)

    def new_game(self, seed: int) -> None:
        self._seed = seed
        self._reached = -inf

    def decide(self, position: Position) -> Decision:
        decision = self._minimax.decide(position)
        assert decision.evaluations is not None
        assert decision.proven is not None
        # Wins have no evaluation, nor has a draw by the last cell, the only move.
        worth = {
            column: inf if decision.proven[column] else decision.evaluations[column] or 0.0
            for column in position.legal_moves
        }
        best = max(worth.values())
        reached = self._reached
        self._reached = reached if best == inf else max(reached, best)
        choices = [column for column, value in worth.items() if value == best]
        return replace(
            decision,
            move=Stream(derive(self._seed, position.key())).choice(choices),
            evaluations=tuple(
                None if value is None else max(value, reached) for value in decision.evaluations
            ),
        )
