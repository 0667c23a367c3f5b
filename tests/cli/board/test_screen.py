"""A game on a full screen."""

from __future__ import annotations

import io
import re
import signal
from collections.abc import Iterator
from pathlib import Path

import pexpect
import pytest
from rich.console import Console

from scripts.picture import picture
from selfplay.cli.board.draw_board import Pen, draw_board
from selfplay.cli.board.game import Game, Seat
from selfplay.cli.board.panels import DecisionPanel, WhyPanel
from selfplay.cli.board.scene import (
    AFTER_GAME,
    CHOOSING,
    PAUSED,
    REPLAY,
    STOPPED,
    WATCHING,
    Key,
    Scene,
)
from selfplay.game.board import Board
from selfplay.game.position import Position
from selfplay.players import Decision
from selfplay.train.model import BASE, Model
from selfplay.train.player import TreePlayer
from tests.cli.board.terminal import Terminal
from tests.cli.command import ROOT, run

TREE = f"tree:{ROOT / 'examples' / 'tree'}"
WINNING = "443322"  # X completes a line in column 1 and in column 5
LEFT, RIGHT, ENTER, CTRL_C = "\x1b[D", "\x1b[C", "\r", "\x03"


@pytest.fixture
def screen(tmp_path: Path) -> Iterator[Terminal]:
    terminal = Terminal("play", "--o", TREE, "--seed", "5", cwd=tmp_path)
    yield terminal
    terminal.child.close(force=True)


def test_a_game_on_a_screen(screen: Terminal, tmp_path: Path) -> None:
    screen.sees("▗▇▇▇▖")
    screen.press("4")
    screen.sees(r"plays column [1-7]\s")
    screen.press("8")
    screen.sees("there is no column 8")
    screen.press("z")
    screen.sees("unknown command 'z'")
    screen.press("?")
    screen.sees("game value of each column")
    screen.press("h")
    screen.sees("perfect play would play column")
    screen.press("w")
    screen.sees(r"Column [1-7] \w+")
    screen.press("e")
    screen.sees("[WDL]")
    screen.press("s")
    screen.sees("saved to games.txt")
    screen.press("u")
    screen.sees("taken back")
    screen.press(LEFT + LEFT + RIGHT + ENTER)  # from column 4 to column 3
    screen.sees(r"plays column [1-7]\s")
    screen.press("q")
    screen.sees("The game so far: 3[1-7]")
    assert screen.ends() == 0
    assert (tmp_path / "games.txt").read_text().startswith("4")


def test_a_finished_game_is_stepped_through_and_played_again() -> None:
    terminal = Terminal("play", "--x", "greedy", "--o", "human", "--from", WINNING)
    terminal.sees("wins, after 7 stones")
    terminal.sees("mistakes, by perfect play|no mistake")
    terminal.press(LEFT + "h")
    terminal.sees("the start of the game")
    terminal.sees("● to move: perfect play would play")
    terminal.press("e")
    terminal.sees(" W ")
    terminal.press("5")
    terminal.sees("the game is over")
    terminal.press("r")
    terminal.sees("you.*against.*greedy")  # sides swapped
    terminal.press("q")
    terminal.sees("The game: 443322[15]")
    assert terminal.ends() == 0


def test_ctrl_c_pauses_a_search() -> None:
    terminal = Terminal("play", "--x", "mcts:seconds=100", "--o", "human")
    terminal.sees(r"is thinking: [1-9][0-9,]* rollouts")
    terminal.press("x" + CTRL_C)
    terminal.sees("stopped: c continues")
    terminal.press("c")
    assert "unknown" not in terminal.sees("is thinking")
    terminal.press(CTRL_C)
    terminal.sees("stopped")
    terminal.press("3")  # in its place
    terminal.sees("▗▇▇▇▖")
    terminal.press(CTRL_C)
    terminal.sees("interrupted; resume the game with: selfplay play --x mcts:seconds=100 --o human")
    assert terminal.ends() == 130


def test_without_colour_and_without_unicode() -> None:
    terminal = Terminal(
        "play", "--o", "greedy", NO_COLOR="1", PYTHONIOENCODING="ascii", PYTHONUTF8="0"
    )
    terminal.press("4")
    seen = terminal.sees(r"O: greedy plays column")
    assert "X" in seen
    terminal.press("q")
    seen += terminal.sees("The game so far")
    assert seen.isascii()
    assert terminal.ends() == 0


def test_a_dumb_terminal_is_used_line_by_line() -> None:
    terminal = Terminal("play", "--o", "random", "--seed", "5", TERM="dumb")
    for column in "444":
        terminal.sees("X, your column .*: ")
        terminal.child.sendline(column)
        terminal.sees("O: random plays column")
    terminal.sees("X, your column")
    terminal.press(CTRL_C)
    assert terminal.sees("selfplay: interrupted").endswith("\n")
    terminal.sees("; resume the game with: .*--from 4.4.4")
    assert terminal.ends() == 130


def test_a_game_between_players_can_be_paused() -> None:
    terminal = Terminal("play", "--x", "greedy", "--o", "mcts:100", "--delay", "60")
    seen = terminal.sees("greedy plays column")
    terminal.press("p")
    seen += terminal.sees("continue")
    assert "1-7" not in seen
    terminal.press("w")
    terminal.sees("● greedy in column 4, stone 1")
    terminal.press("p")
    terminal.sees("mcts:100 plays column")
    terminal.press("3")
    terminal.sees("the players move")
    terminal.press("q")
    assert terminal.ends() == 0


def test_a_column_of_two_digits_is_typed_within_a_moment() -> None:
    terminal = Terminal("play", "--o", "human", "--board", "12x4")
    terminal.sees("1-12")
    terminal.press("3")
    terminal.sees("plays column 3")
    terminal.press("12")
    terminal.sees("plays column 12")
    terminal.press("1")
    terminal.sees("plays column 1 ")
    terminal.press("q")
    terminal.sees("3,12,1")
    assert terminal.ends() == 0


def test_a_killed_game_restores_the_terminal() -> None:
    terminal = Terminal("play", "--o", TREE)
    terminal.sees("▗▇▇▇▖")
    terminal.child.kill(signal.SIGTERM)
    terminal.child.expect(r"\x1b\[\?1049l")
    assert terminal.ends() == 128 + signal.SIGTERM


def test_a_small_window_gets_lines() -> None:
    terminal = Terminal("play", "--o", "human", "--board", "10x10", LINES="15")
    terminal.sees("the window is too small")
    terminal.sees("X, your column")
    terminal.child.sendline("q")
    assert terminal.ends() == 0


def test_the_picture_in_the_readme_is_up_to_date() -> None:
    shown, drawn = (ROOT / "docs" / "play.svg").read_text(), picture()
    texts = [re.findall(r">([^<]+)</text>", svg) for svg in (shown, drawn)]
    assert texts[0] == texts[1]
    assert any(text.startswith("Column ") for text in texts[0])


def test_what_is_typed_while_the_other_thinks_is_dropped() -> None:
    terminal = Terminal("play", "--o", "mcts:seconds=1")
    terminal.sees("▗▇▇▇▖")
    terminal.press("4444")
    terminal.sees("mcts:seconds=1 plays column")
    terminal.press("q")
    terminal.sees(r"The game so far: 4[1-7]\s")
    assert terminal.ends() == 0


def test_a_panel_without_room_beside_the_board_covers_it() -> None:
    terminal = Terminal("play", "--o", "human", COLUMNS="60", LINES="15")
    terminal.sees("s save")
    terminal.sees(r"q quit  \? help")
    terminal.press("?")
    terminal.sees("play that column")
    terminal.sees("this help")
    terminal.sees("any key: back to the board")
    terminal.press("5")  # no move
    terminal.sees(r"q quit  \? help")
    terminal.press("q")
    assert "The game" not in terminal.sees(pexpect.EOF)


@pytest.mark.parametrize("width", [24, 30, 40])
def test_a_narrow_panel_has_whole_numbers(width: int) -> None:
    decision = Decision(move=2, visits=(12345,) * 9, value=(-0.123,) * 9, proven=(None,) * 9)
    console = Console(file=io.StringIO(), width=width, _environ={})
    console.print(DecisionPanel(decision))
    lines = console.file.getvalue().splitlines()  # type: ignore[attr-defined]
    assert len(lines) == 10
    assert all("12,345" in line and "-0.123" in line for line in lines[1:])


@pytest.mark.parametrize("keys", [CHOOSING, STOPPED, WATCHING, PAUSED, AFTER_GAME, REPLAY])
def test_the_keys_below_the_board_fit_80_characters(keys: tuple[Key, ...]) -> None:
    scene = Scene(Game(Position(Board(12, 4)), (Seat.of("human"), Seat.of("human"))), keys=keys)
    words = [f"{key} {word}" for key, word, _ in scene.keys_on_board if word]
    assert len("  ".join(words)) <= 80
    assert words[-1] == "? help"


def test_the_stone_on_screen_is_explained() -> None:
    game = Game(Position(), (Seat.of("greedy"), Seat.of("human")))
    game.play(3, Decision(move=3))
    game.play(2)
    game.play(1, Decision(move=1))
    found = [game.decision_before(at) for at in range(4)]
    assert found == [None, (0, Decision(move=3)), None, (2, Decision(move=1))]
    alone = run("play", "--o", "human", stdin="4\nw\nq\n")
    assert "people play both sides" in alone.stderr
    finished = run("play", "--x", "greedy", "--o", "human", "--from", WINNING, stdin="w\nh\n")
    assert "X: greedy in column 1, stone 7" in finished.stdout
    assert "the game is over" in finished.stderr


def test_the_cells_that_a_reason_names_are_marked() -> None:
    game = Game(Position.parse("4435"), (Seat.of("human"), Seat.of("tree")))
    game.play(1)
    decision = TreePlayer(Board(), Model.load(BASE)).decide(game.position)
    pen = Pen(unicode=False, colour=False, discs=False)
    scene = Scene(game, panel=WhyPanel("why", decision, pen))
    assert scene.named == ((0, 0),)
    drawn = draw_board(scene.position, pen, last=scene.last, named=scene.named).plain
    assert drawn.splitlines()[5].startswith("<.>(X) X ")
    scene.clear()
    assert scene.named == ()
