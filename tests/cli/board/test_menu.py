"""The menu, and the choice it remembers."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from selfplay.cli.board.choice import Choice
from selfplay.cli.board.opponents import at_level, is_offered, opponents, parted
from selfplay.game.board import Board
from selfplay.train.evaluation.evaluation import evaluate
from selfplay.train.evaluation.positions import EvaluationSet
from selfplay.train.model import BASE, Model
from selfplay.train.player import TreePlayer
from tests.cli.board.terminal import Terminal
from tests.cli.command import ROOT, run


def test_without_options_a_game_starts_and_a_key_opens_the_menu(tmp_path: Path) -> None:
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "mine").write_bytes((ROOT / "examples" / "tree").read_bytes())
    (tmp_path / "models" / "notes.txt").write_text("no model")
    terminal = Terminal("play", cwd=tmp_path, XDG_STATE_HOME=str(tmp_path))
    terminal.sees("you.*against.*tree")
    terminal.sees("m chooses other players")
    terminal.press("4")
    terminal.sees("tree plays column")
    terminal.press("m")
    terminal.sees("first .*you")
    terminal.press("3")
    offered = terminal.sees("grandmaster")
    order = ["random", "greedy", "minimax", "mcts:100 ", "mcts:1000 ", "mcts:10000 "]
    places = [offered.index(spec) for spec in order]
    assert places == sorted(places)
    assert re.search(r"tree:models/mine +[0-9.]+% mistakes", offered)
    terminal.press("2")
    terminal.sees("second .*random")
    terminal.press("4\r")  # swap sides, start
    terminal.sees("random.*against.*you")
    terminal.press("q")
    assert terminal.ends() == 0
    again = Terminal("play", "--board", "8x7", cwd=tmp_path, XDG_STATE_HOME=str(tmp_path))
    again.sees("random.*against.*you")  # remembered
    again.sees("1-8 .*play")
    again.press("q")
    assert again.ends() == 0


def test_a_dumb_terminal_has_the_same_menu(tmp_path: Path) -> None:
    terminal = Terminal("play", TERM="dumb", XDG_STATE_HOME=str(tmp_path))
    terminal.sees("X, your column")
    terminal.child.sendline("m")
    terminal.sees(r"2 +X: first +you")
    for answer, seen in (("99", "a number from 1 to 6"), ("3", r"2 +beginner +random")):
        terminal.child.sendline(answer)
        terminal.sees(seen)
    terminal.child.sendline("2")
    terminal.sees(r"3 +O: second +random")
    terminal.sees(": ")
    terminal.child.sendline("")
    terminal.sees("X, your column")
    terminal.child.sendline("q")
    assert terminal.ends() == 0


@pytest.mark.parametrize(
    "stored",
    [
        "",
        "[" * 4000,
        "{" + " " * 5000 + "}",
        '["human", "tree"]',
        '{"first": "tree:s3://bucket/model", "second": "human:x", "size": "9x", "delay": NaN}',
        '{"first": 1, "second": "py:x:y", "size": "7x6", "connect": true, "delay": -1}',
    ],
)
def test_what_is_wrong_with_the_last_choice_is_ignored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stored: str
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    (tmp_path / "selfplay").mkdir()
    (tmp_path / "selfplay" / "play.json").write_text(stored)
    choice = Choice.load()
    assert {choice.first, choice.second} <= {"human", "tree"}
    assert (choice.board, choice.delay) == (Board(), 1.0)


def test_the_last_choice_is_remembered_unless_the_board_is_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "new"))
    chosen = Choice("perfect", "human", "7x6", 4, 2.0)
    chosen.save()
    assert Choice.load() == chosen
    assert Choice.load(Board(10, 10)) == Choice("mcts:10000", "human", "10x10", 4, 2.0)


def test_a_tree_is_chosen_at_a_level(tmp_path: Path) -> None:
    tree = 2 + [one.spec for one in opponents(Board())].index("tree")  # after a person
    keys = f"m\n3\n{tree}\n2\nq\nq\n"
    done = run("play", "--o", "random", stdin=keys, XDG_STATE_HOME=str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert re.search(r"O: second +tree:level=2", done.stdout), done.stdout
    assert is_offered("tree:level=2", Board())
    assert not is_offered("tree:level=2", Board(8, 7))
    assert not is_offered("tree:level=9", Board())
    assert parted("tree:models/mine,level=3") == ("tree:models/mine", 3)
    assert at_level("tree:models/mine", 3) == "tree:models/mine,level=3"


def test_leaving_the_menu_is_no_error() -> None:
    done = run("play", "--o", "human", stdin="m\nq\nq\n")
    assert (done.returncode, done.stderr) == (0, "")


def test_the_menu_counts_mistakes_as_evaluate_does() -> None:
    (mistakes,) = (one.detail.partition("%")[0] for one in opponents(Board()) if one.spec == "tree")
    tree = TreePlayer(Board(), Model.load(BASE))
    found = evaluate("tree", tree, EvaluationSet.load().development)
    assert mistakes == f"{100 * found.all.mistake_rate:.1f}"
