"""Reasons: a move in at most three sentences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from selfplay.game.board import has_line
from selfplay.game.position import FIRST, SECOND, SYMBOLS, Position, format_moves
from selfplay.train.explanation.cells import Cell, bits_of, cells_of
from selfplay.train.explanation.forced_wins import Line, own_moves
from selfplay.train.explanation.motifs import Motif, Situation, motifs_of

_BESIDE_A_BLOCK = ("double threat", "forced win", "odd threat", "threat")
_NEEDS_NO_OTHER = ("misses a win", "only column", "lost", "allows a win", "forced win")
"""Motifs that show a line of moves themselves, or that no other move makes clearer."""
_NEEDS_NO_CHANGE = ("win", "lost")

Choose = Callable[[Sequence[Position]], Sequence[int]]
"""The moves that a tree plays."""


@dataclass(frozen=True)
class Change:
    """A counterfactual: with a stone of the other colour, another move."""

    cell: Cell
    move: int


@dataclass(frozen=True)
class Reasons:
    """The reasons for a move, computed on demand."""

    position: Position
    move: int
    ratings: tuple[float | None, ...] | None = None
    choose: Choose | None = None
    remark: str = ""
    """A sentence that comes first."""

    @cached_property
    def ranked(self) -> list[int]:
        """The other columns, best rated first."""
        others = [column for column in self.position.legal_moves if column != self.move]
        return sorted(others, key=lambda column: -self._rating(column))

    def _rating(self, column: int) -> float:
        return (self.ratings[column] if self.ratings else None) or 0.0

    @property
    def runner_up(self) -> int | None:
        return self.ranked[0] if self.ratings and self.ranked else None

    @cached_property
    def motifs(self) -> tuple[Motif, ...]:
        """What the move does: one motif, or of a block also what else it does."""
        found = motifs_of(self._situation)
        first = next(found)
        if first.name != "block":
            return (first,)
        return (first, *[motif for motif in found if motif.name in _BESIDE_A_BLOCK][:1])

    @property
    def motif(self) -> Motif:
        return self.motifs[0]

    @cached_property
    def _situation(self) -> Situation:
        return Situation(self.position, self.move, self.runner_up)

    @cached_property
    def allowed(self) -> Line | None:
        """The moves by which another column would have lost: the next best if it fails, else one
        that shows what the move is about."""
        name, losing = self.motif.name, self._situation.losing
        failing = [column for column in self.ranked if column in losing]
        if name == "not below":
            failing = [column for column in failing if losing[column] == (column, column)]
        elif name in _NEEDS_NO_OTHER:
            failing = []
        elif name != "prevents a forced win" and self.ratings is not None:
            failing = failing[:1] if failing[:1] == self.ranked[:1] else []
        return losing[failing[0]] if failing else None

    @property
    def is_only_move(self) -> bool:
        """Whether every other column is found to lose."""
        return len(self.ranked) > 1 and all(
            column in self._situation.losing for column in self.ranked
        )

    @cached_property
    def change(self) -> Change | None:
        """A stone that the motif rests on, which as the other side's would have changed the
        move."""
        position, changed = self.position, []
        if self.choose is None or self.motif.name in _NEEDS_NO_CHANGE:
            return None
        for stone in bits_of(self.motif.stones):
            own = position.own ^ stone
            board = position.board
            if not (has_line(board, own) or has_line(board, own ^ position.mask)):
                changed.append((stone, Position(board, own, position.mask, None)))
        if not changed:
            return None
        moves = self.choose([other for _, other in changed])
        for (stone, _), move in zip(changed, moves, strict=True):
            if move != self.move:
                return Change(cells_of(position.board, stone)[0], int(move))
        return None

    @property
    def cells(self) -> tuple[Cell, ...]:
        """The cells that the first sentence names."""
        return tuple(dict.fromkeys(cell for motif in self.motifs for cell in motif.cells))

    @property
    def line(self) -> Line | None:
        """The line of moves of the sentences, or one that proves what they say; it begins with the
        move, or with the other one that would have failed."""
        if self.motif.name == "prevents a forced win":
            return self.allowed
        return self.allowed or next((motif.line for motif in self.motifs if motif.line), None)

    def sentences(self, signs: Sequence[str] = SYMBOLS) -> list[str]:
        """What the move does, what another would have allowed, and what would have changed it. The
        sides have these signs, from index 1."""
        words = _Words(self, signs)
        texts = (self.remark, words.does(), words.instead(), words.changed())
        return [text for text in texts if text]


class _Words:
    """The sentences of reasons."""

    def __init__(self, why: Reasons, signs: Sequence[str]) -> None:
        side = why.position.to_move
        self.why, self.me, self.other = why, signs[side], signs[FIRST + SECOND - side]
        self.column = f"Column {why.move + 1}"

    def does(self) -> str:
        first, *more = map(self._phrase, self.why.motifs)
        return f"{self.column} {', and '.join([first, *more])}."

    def _phrase(self, motif: Motif) -> str:
        me, other, cells = self.me, self.other, motif.cells
        where = _one_of(cells)
        match motif.name:
            case "win":
                return "wins at once: it completes a line"
            case "misses a win":
                return f"misses a win: {me} could have completed a line at {where}"
            case "only column":
                return "is the only one left"
            case "lost":
                line = self._line(motif)
                return f"loses, as every other column does: {line}, {other} wins at {where}"
            case "allows a win":
                return f"lets {other} win at {where}: {self._line(motif)}"
            case "block":
                return f"blocks {other}, who would complete a line there"
            case "double threat":
                return f"makes a double threat: {self._double(motif)}"
            case "forced win":
                moves = own_moves(motif.line or ())
                return f"wins by force in {moves} moves: {self._line(motif)}, a line at {where}"
            case "not below":
                return f"does not play right below {where}, where {other} would complete a line"
            case "prevents a forced win":
                moves = own_moves(motif.line or ())
                return f"stops {other}'s threat to win by force, in {moves} moves, at {where}"
            case "odd threat" | "keeps an odd threat":
                verb = "makes" if motif.name == "odd threat" else "keeps"
                kind = "an even threat" if cells[0].row % 2 else "an odd threat"
                must = f"once all other columns are full, {other} must play right below it"
                return f"{verb} {kind} at {where}: {must}"
            case "threat":
                return f"threatens to complete a line at {where}, which {other} must block"
            case "threat above":
                return f"makes a threat at {where}: right below it, {other} would let {me} win"
            case "builds a line":
                return f"builds a line: {self._share(motif, f'are now {me}')}"
            case "breaks a line":
                return f"breaks a line of {other}'s: {self._share(motif, f'were {other}')}"
            case "opens lines":
                lines = "line" if motif.count == 1 else "lines"
                return f"lies on {motif.count} {lines} that {me} can still complete"
            case "waits":
                return f"is a waiting move: no line that {me} can still complete runs through it"

    def _double(self, motif: Motif) -> str:
        low, high = motif.cells[:2]
        if low.column == high.column:
            return f"if {self.other} blocks {_name(low)}, {self.me} wins right above it"
        return f"{self.me} can win at {_one_of(motif.cells)}, and {self.other} blocks only one"

    def _share(self, motif: Motif, are_whose: str) -> str:
        first, *_, last = motif.cells
        ends = f"from {_name(first)} to {_name(last)}"
        return (
            f"of the {len(motif.cells)} cells {ends}, {motif.count} {are_whose}'s, the rest empty"
        )

    def _line(self, motif: Motif) -> str:
        return self._moves(motif.line or ())

    def _moves(self, line: Line) -> str:
        text = format_moves(line, self.why.position.board)
        return text if "," in text else " ".join(text)

    def instead(self) -> str:
        """What another move would have led to, or how it is rated."""
        why = self.why
        if why.allowed is not None:
            text = f"column {why.allowed[0] + 1} would have allowed {self._moves(why.allowed)}"
            every = why.is_only_move and why.motif.name != "block"
            start = "Every other column loses: " if every else ""
            return f"{start}{text if start else text.capitalize()}: {self.other} wins."
        if why.runner_up is None or why.motif.name in ("win", "lost"):
            return ""
        here, there = why._rating(why.move), why._rating(why.runner_up)
        return f"The tree rates it {here:.0%}, and column {why.runner_up + 1} next, {there:.0%}."

    def changed(self) -> str:
        change = self.why.change
        if change is None:
            return ""
        stones = self.why.position.own
        stride = self.why.position.board.stride
        was_own = stones >> (change.cell.column * stride + change.cell.row) & 1
        whose = self.other if was_own else self.me
        return (
            f"If the stone at {_name(change.cell)} were {whose}'s, "
            f"the tree would play column {change.move + 1}."
        )


def _name(cell: Cell) -> str:
    return f"column {cell.column + 1}, row {cell.row + 1}"


def _one_of(cells: Sequence[Cell]) -> str:
    return " or ".join(map(_name, cells))
