"""The menu: who plays, on which board, how fast."""

from __future__ import annotations

from dataclasses import replace

from selfplay.cli.board.choice import Choice
from selfplay.cli.board.opponents import Opponent, at_level, levels, opponents, parted
from selfplay.cli.board.scene import Row, View
from selfplay.game.board import Board
from selfplay.game.position import FIRST, SECOND

_BOARDS = (
    Board(),
    Board(5, 4),
    Board(6, 5),
    Board(8, 7),
    Board(9, 7, 5),
    Board(10, 10),
    Board(12, 10, 5),
)
_DELAYS = (0.0, 0.5, 1.0, 2.0, 5.0)
_PERSON = Opponent("human", "you", "a person at this keyboard")


class Menu:
    """Asks for a choice in a view."""

    def __init__(self, view: View, *, may_change_board: bool) -> None:
        self._view = view
        self._boards = _BOARDS if may_change_board else ()

    def open(self, choice: Choice) -> Choice | None:
        """Change a choice until the user starts a game with it; None to go back."""
        while (row := self._view.choose("New game", self._rows(choice), 0)) is not None:
            match row:
                case 0:
                    return choice
                case 1:
                    choice = replace(choice, first=self._player("First player", choice, FIRST))
                case 2:
                    choice = replace(choice, second=self._player("Second player", choice, SECOND))
                case 3:
                    choice = replace(choice, first=choice.second, second=choice.first)
                case 4:
                    choice = self._delay(choice)
                case _:
                    choice = self._board(choice)
        return None

    def _rows(self, choice: Choice) -> list[Row]:
        pen, rows = self._view.pen, [Row("start")]
        for side, spec in ((FIRST, choice.first), (SECOND, choice.second)):
            rows.append(Row(pen.named(side, ("first", "second")[side - 1]), _shown(spec)))
        rows.append(Row("swap sides"))
        rows.append(Row("pause", f"{choice.delay:g} s", "between moves when you watch"))
        if self._boards:
            rows.append(Row("board", _named(choice.board)))
        return rows

    def _player(self, title: str, choice: Choice, side: int) -> str:
        before = (choice.first, choice.second)[side - 1]
        offered = [_PERSON, *opponents(choice.board)]
        specs = [one.spec for one in offered]
        name, level = parted(before)
        if name not in specs:  # from the command line
            specs.append(before)
            offered.append(Opponent(before, "as given"))
            name = before
        rows = [Row(one.level, one.spec, one.detail) for one in offered]
        at = self._view.choose(title, rows, specs.index(name))
        if at is None:
            return before
        chosen, _ = parted(specs[at])
        is_tree = chosen.partition(":")[0] == "tree"
        return self._level(chosen, level) if is_tree else chosen

    def _level(self, tree: str, level: int | None) -> str:
        """A level of a tree; the strongest, unless another is chosen."""
        offered = list(levels())
        words = {offered[0]: "for beginners", offered[-1]: "the strongest"}
        rows = [Row(f"level {number}", words.get(number, "")) for number in offered]
        at = self._view.choose("Level", rows, offered.index(level or offered[-1]))
        return at_level(tree, offered[-1] if at is None else offered[at])

    def _delay(self, choice: Choice) -> Choice:
        nearest = min(_DELAYS, key=lambda delay: abs(delay - choice.delay))
        rows = [Row(f"{delay:g} s") for delay in _DELAYS]
        at = self._view.choose("Pause between moves", rows, _DELAYS.index(nearest))
        return choice if at is None else replace(choice, delay=_DELAYS[at])

    def _board(self, choice: Choice) -> Choice:
        boards = [board for board in self._boards if self._view.has_room(board)]
        before = boards.index(choice.board) if choice.board in boards else 0
        at = self._view.choose("Board", [Row(_named(board)) for board in boards], before)
        return choice if at is None else choice.on(boards[at])


def _named(board: Board) -> str:
    return f"{board.size}, {board.connect} in a row"


def _shown(spec: str) -> str:
    return "you" if spec == "human" else spec
