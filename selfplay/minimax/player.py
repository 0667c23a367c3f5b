"""Minimax as a player, to a fixed depth or for so many seconds; and greedy, which does not
look at the opponent."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import inf, isfinite
from time import perf_counter
from typing import Literal, get_args

import numpy as np

from selfplay.errors import InputError
from selfplay.game.board import Board
from selfplay.game.position import Position
from selfplay.minimax import kernel
from selfplay.minimax.heuristics import Name, evaluation
from selfplay.minimax.kernel import Setting
from selfplay.players import HOW, Decision, refuse_if_over
from selfplay.seeding import Stream, derive

DEFAULT_DEPTH = 4

Order = Literal["centre", "left"]

# Positions visited between two looks at the clock and at Ctrl-C.
_SLICE = 1 << 14


@dataclass(frozen=True, slots=True, kw_only=True)
class MinimaxOptions:
    """How a `minimax` player searches."""

    depth: int | None = None
    """How many plies to look ahead; 4 if no time is given."""
    seconds: float | None = None
    """Look ahead ply by ply for so long instead, with a table of positions and killer moves."""
    eval: Name = "segments"
    """What a position is worth where the search ends."""
    cells: bool = False
    """Let stones that the search puts count by the runs through their cells, too."""
    pruning: bool = True
    """Leave out what cannot change the result."""
    order: Order = "centre"
    """Try columns from the centre outwards, or from left to right."""
    skip_empty: bool = True
    """Where runs are looked at, leave out those without stones."""
    incremental: bool = True
    """Keep the sum over runs up to date instead of taking it at every leaf."""
    memory: int = field(default=64, metadata=HOW)
    """With seconds: the table of positions, in MB."""

    def __post_init__(self) -> None:
        if self.depth is None and self.seconds is None:
            object.__setattr__(self, "depth", DEFAULT_DEPTH)
        if self.depth is not None and self.seconds is not None:
            raise InputError("minimax takes depth or seconds, not both")
        if self.depth is not None and not 1 <= self.depth <= 256:
            raise InputError(f"depth is a number from 1 to 256, not {self.depth}")
        if self.seconds is not None and not (isfinite(self.seconds) and self.seconds > 0):
            raise InputError(f"seconds is a time above 0, not {self.seconds:g}")
        for name, choices in (("eval", get_args(Name)), ("order", get_args(Order))):
            if getattr(self, name) not in choices:
                raise InputError(
                    f"{name} is one of {', '.join(choices)}, not {getattr(self, name)!r}"
                )
        if self.seconds is not None and not self.pruning:
            raise InputError("by seconds minimax always prunes")
        if not 1 <= self.memory <= 64_000:
            raise InputError(f"memory is a number of MB from 1 to 64000, not {self.memory}")


@dataclass(frozen=True, slots=True)
class _Found:
    """What a search has found out."""

    move: int
    depth: int
    proven: tuple[int | None, ...]
    evaluations: tuple[float | None, ...]


class MinimaxPlayer:
    """Plays the first of the moves with the highest value, and knows what it took to find it."""

    def __init__(self, board: Board, options: MinimaxOptions | None = None) -> None:
        self.board = board
        self.options = options = options or MinimaxOptions()
        by_clock = options.seconds is not None
        self._setting = Setting(
            options.pruning, options.skip_empty, options.incremental, remember=by_clock
        )
        columns = list(range(board.columns))
        if options.order == "centre":
            columns.sort(key=lambda column: abs(2 * column - (board.columns - 1)))
        self._order = np.array(columns)
        self._deepest = min(options.depth or board.cells, board.cells)
        try:
            self._memory = kernel.new_memory(
                board, self._deepest, options.memory * 1_000_000 if by_clock else 0
            )
        except MemoryError:
            raise InputError(
                f"this machine does not have the memory: lower memory={options.memory}"
            ) from None
        self._searches = 0
        self._depth = 0
        # Have everything compiled before the first decision is timed.
        self._search(Position(board), 1, None)

    def new_game(self, seed: int) -> None:
        """What the table keeps of earlier games is no more than an order of moves."""

    def decide(self, position: Position) -> Decision:
        if position.board != self.board:
            raise InputError(f"this player plays on {self.board}, not on {position.board}")
        refuse_if_over(position)
        start = perf_counter()
        counters = self._memory.counters[0]
        for count in ("nodes", "leaves", "runs"):
            counters[count] = 0
        found = self._look_ahead(position, start)
        return Decision(
            move=found.move,
            value=tuple(None if result is None else float(result) for result in found.proven),
            proven=found.proven,
            evaluations=found.evaluations,
            nodes=int(counters["nodes"]),
            leaves=int(counters["leaves"]),
            runs=int(counters["runs"]),
            depth=found.depth,
            seconds=perf_counter() - start,
        )

    def so_far(self) -> dict[str, int]:
        return {"nodes": int(self._memory.counters[0]["nodes"]), "plies ahead": self._depth}

    def _look_ahead(self, position: Position, start: float) -> _Found:
        """What the deepest search says; one that time cut short counts from its first move on,
        for that is the best one of the search before."""
        deepest = min(self._deepest, self.board.cells - position.ply)
        seconds = self.options.seconds
        if seconds is None:
            self._search(position, deepest, None)
            return self._found(position, deepest)
        found = None
        for depth in range(1, deepest + 1):
            finished = self._search(position, depth, start + seconds if found else None)
            if np.isinf(self._memory.floats[0, kernel.BEST]):
                break
            latest = self._found(position, depth, found)
            if found and not finished and latest.proven[latest.move] == -1:
                break  # all is lost: the move before loses no sooner
            found = latest
            decided = found.proven[found.move] in (1, -1)
            if not finished or decided:
                break
        assert found is not None
        return found

    def _search(self, position: Position, depth: int, deadline: float | None) -> bool:
        """Search so deep; whether that was finished before the deadline."""
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
                kernel.geometry(self.board),
                (chosen.runs, chosen.cells, chosen.bonus, chosen.divisor),
                self._setting,
                self._order,
                depth,
                self._searches,
                _SLICE,
            )
        return finished

    def _found(self, position: Position, depth: int, before: _Found | None = None) -> _Found:
        memory = self._memory
        to_the_end = depth == self.board.cells - position.ply
        proven: list[int | None] = []
        evaluations: list[float | None] = []
        for value, exact in zip(memory.values.tolist(), memory.exact.tolist(), strict=True):
            # What is not exact is at most so much.
            lost = value <= -kernel.LEAST_WIN
            won = exact and value >= kernel.LEAST_WIN
            drawn = exact and to_the_end and not (won or lost)
            proven.append(1 if won else -1 if lost else 0 if drawn else None)
            evaluations.append(value if exact and not (won or lost or drawn) else None)
        if before is not None:  # what is proven stays so
            proven = [b if p is None else p for p, b in zip(proven, before.proven, strict=True)]
        move = int(memory.integers[0, kernel.CHOICE])
        if proven[move] == -1:
            # Where the clock stopped the search: what was not tried cannot be worse.
            legal = position.legal_moves
            untried = [c for c in self._order.tolist() if c in legal and proven[c] is None]
            move = untried[0] if untried else move
        return _Found(move, depth, tuple(proven), tuple(evaluations))


class GreedyPlayer:
    """Plays for the best position after its own move, as if nobody were to answer.

    The position is worth its segments and the cell of the move. What a move is worth never
    falls in the course of a game.
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
        # A win has no evaluation, nor has the draw of the last cell, which is the only move.
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
