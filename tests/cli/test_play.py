"""`selfplay play`: through a pipe, on a dumb terminal, on a full screen."""

from __future__ import annotations

import io
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pexpect
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from scripts.picture import picture
from selfplay.cli.board.choice import Choice
from selfplay.cli.board.game import Game, Seat
from selfplay.cli.board.opponents import opponents
from selfplay.cli.board.panels import DecisionPanel
from selfplay.cli.board.perfect_play import PerfectPlay
from selfplay.cli.board.saved_games import game_line, load_games, save_game
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
from selfplay.errors import InputError
from selfplay.game.board import Board
from selfplay.game.position import Position
from selfplay.players import Decision
from selfplay.solver.solver import Solver
from selfplay.storage.dataset import Dataset
from selfplay.storage.verify import verify
from selfplay.train.evaluation.evaluation import evaluate
from selfplay.train.evaluation.positions import EvaluationSet
from selfplay.train.model import BASE, Model
from selfplay.train.player import TreePlayer
from tests.cli.command import ROOT, SELFPLAY, run, terminal

TREE = f"tree:{ROOT / 'examples' / 'tree'}"
WINNING = "443322"  # X completes a line in column 1 and in column 5
STATE = ROOT / "tests" / "no-such-folder"  # nothing is remembered
ANSI = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")


def test_a_game_through_a_pipe() -> None:
    done = run("play", "--o", "human", stdin="4\nx\n9\n4\n4\n4\n4\n4\n4\n3\n")
    assert done.returncode == 0
    assert "a column is a number from 1 to 7" in done.stderr
    assert "there is no column 9" in done.stderr
    assert "choose one of 1, 2, 3, 5, 6, 7" in done.stderr
    assert "your column" not in done.stdout
    assert "The game so far: 4444443" in done.stdout
    assert "selfplay play --x human --o human --from 4444443" in done.stdout


def test_a_finished_game_is_reviewed() -> None:
    done = run("play", "--o", "human", stdin="4\n4\n3\n3\n2\n2\n5\n")
    assert "X: first player wins, after 7 stones" in done.stdout
    assert "[X][X][X][X]" in done.stdout
    # 4, 4, 3: whoever answers elsewhere than at an end of the two has lost.
    rows = [line.split() for line in done.stdout.splitlines() if "to loss" in line]
    assert ["4", "O", "3"] in [row[:3] for row in rows]
    assert done.stdout.rstrip().endswith("The game: 4433225")


def test_every_command_works_through_a_pipe() -> None:
    asked = "4\nh\nw\ne\nu\n?\ns\nboo\nq\n"
    done = run("play", "--o", TREE, "--hints", "greedy", "--save", "/dev/full", stdin=asked)
    assert "greedy would play column" in done.stdout
    assert re.search(r"^O: tree:.* in column \d, stone 2\nrated \d+%; ", done.stdout, re.M)
    assert "taken back" in done.stdout
    assert re.search(r"^( [WDL] ){7}$", done.stdout, re.M)
    assert "play that column" in done.stdout
    assert "cannot write /dev/full: No space left on device" in done.stderr
    assert "unknown command 'boo'" in done.stderr


def test_games_are_saved_and_replayed(tmp_path: Path) -> None:
    for moves in ("4\n4\ns\nq\n", "1\ns\nq\n"):
        assert run("play", "--o", "human", stdin=moves, cwd=tmp_path).returncode == 0
    assert (tmp_path / "games.txt").read_text() == (
        "44\thuman\thuman\tunfinished\n1\thuman\thuman\tunfinished\n"
    )
    done = run("play", "--replay", "games.txt", "--record", "mine", cwd=tmp_path)
    assert "game 2 of 2" in done.stdout
    assert "mine: 2 games, 3 positions" in done.stdout
    dataset = Dataset(str(tmp_path / "mine"))
    assert list(verify(dataset)) == []
    assert dataset.read(0).played.tolist() == [3, 3, 0]
    again = run("play", "--record", "mine", stdin="4\n", cwd=tmp_path)
    assert (again.returncode, again.stdout) == (2, "")


def test_a_game_starts_from_a_position() -> None:
    done = run("play", "--o", "human", "--from", WINNING, stdin="7\nq\n")
    assert "The game so far: 4433227" in done.stdout
    assert "is over" in run("play", "--from", WINNING + "5").stderr
    assert "not both" in run("play", "--from", "4", "--opening", "2").stderr


@pytest.mark.parametrize("content", ["44x\n", "\n", "4" * 5000, "4\tA\tB\tX\t7x99\n"])
def test_a_file_without_games_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "games").write_text(content)
    with pytest.raises(InputError, match="games"):
        load_games(tmp_path / "games", Board())


@given(st.lists(st.integers(0, 6), max_size=30), st.booleans())
def test_a_saved_game_is_loaded_again(
    tmp_path_factory: pytest.TempPathFactory, moves: list[int], is_wide: bool
) -> None:
    board = Board(12, 9) if is_wide else Board()
    game = Game(Position(board), (Seat.of("human", "A\tB"), Seat.of("random")))
    for move in moves:
        if move in game.position.legal_moves:
            game.play(move)
    path = tmp_path_factory.mktemp("kept") / "games"
    save_game(game, path)
    (again,) = load_games(path, Board())
    assert (again.position, again.moves) == (game.position, game.moves)
    assert game_line(again).split("\t")[1] == "A B"


def test_taking_back_returns_to_the_last_choice_of_a_person() -> None:
    game = Game(Position(), (Seat.of("human"), Seat.of("random")))
    with pytest.raises(InputError, match="nothing to take back"):
        game.take_back()
    for move in (3, 3, 2, 2):
        game.play(move)
    game.take_back()
    assert game.moves == [3, 3]
    second = Game(Position(), (Seat.of("random"), Seat.of("human")))
    second.play(0)
    with pytest.raises(InputError, match="you have not moved yet"):
        second.take_back()


def test_a_tree_needs_no_search() -> None:
    code = (
        "import sys\nfrom selfplay.cli import main\n"
        f"sys.argv[1:] = ['play', '--o', '{TREE}']\n"
        "try:\n    main()\nfinally:\n"
        "    kernels = {f'selfplay.{room}.kernel' for room in ('mcts', 'solver', 'minimax')}\n"
        "    found = kernels | {'ray', 'pandas'}\n"
        "    print(sorted(found & set(sys.modules)), file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], input="4\nq\n", capture_output=True, text=True, check=False
    )
    assert done.stderr == "[]\n"
    assert "The game so far: 4" in done.stdout


def test_ctrl_c_stops_a_long_search() -> None:
    process = subprocess.Popen(
        [*SELFPLAY, "play", "--x", "mcts:seconds=1000", "--o", "random"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline().split() == ["·"] * 7  # the board is there, X thinks
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert errors == "selfplay: interrupted\n"
    assert process.returncode == 130


class Terminal:
    """A real terminal of 80 by 24."""

    def __init__(self, *arguments: str, cwd: Path | None = None, **environment: str) -> None:
        values = {"TERM": "xterm-256color", "XDG_STATE_HOME": str(STATE), **environment}
        self.child = terminal(arguments, cwd, **values)

    def sees(self, text: str) -> str:
        """Wait for a text; returns what was printed before it."""
        self.child.expect(text)
        return ANSI.sub("", str(self.child.before))

    def press(self, keys: str) -> None:
        self.child.send(keys)

    def ends(self) -> int:
        self.child.expect(pexpect.EOF)
        self.child.close()
        assert self.child.exitstatus is not None
        return self.child.exitstatus


@pytest.fixture
def screen(tmp_path: Path) -> Iterator[Terminal]:
    terminal = Terminal("play", "--o", TREE, "--seed", "5", cwd=tmp_path)
    yield terminal
    terminal.child.close(force=True)


LEFT, RIGHT, ENTER, CTRL_C = "\x1b[D", "\x1b[C", "\r", "\x03"


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
    screen.sees("rated")
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


def test_a_hint_is_perfect_play_and_agrees_with_the_review() -> None:
    done = run("play", "--o", "human", stdin="2\nh\n3\nq\n")
    assert "perfect play would play column 3" in done.stdout
    assert re.search(r"> 3 +win in \d+", done.stdout)
    assert re.search(r" 4 +(draw|loss)", done.stdout)


def test_without_perfect_play_a_search_gives_hints() -> None:
    done = run("play", "--o", "mcts:30", "--board", "10x10", stdin="5\nw\nh\nq\n")
    assert "perfect play takes longer here" in done.stdout
    assert "mcts:10000 would play column" in done.stdout
    seen = re.search(r"O: mcts:30 in column \d+, stone 2\n\d+ rollouts", done.stdout)
    assert seen is not None
    rows = re.findall(r"^ +>? *\d+ +(\d+) +[^\d\n]*([+-]\d.*)?$", done.stdout[seen.end() :], re.M)
    assert rows
    assert all(int(visits) >= 10 or not value for visits, value in rows)


@pytest.mark.parametrize("moves", ["112233", "4444", "17263"])
def test_results_count_the_moves_of_the_winner(moves: str) -> None:
    position = Position.parse(moves, board := Board(5, 4) if "7" not in moves else Board())
    hint = PerfectPlay().hint(position)
    assert hint is not None
    for column, result in hint.results().items():
        assert result == by_playing(position.play(column), position.to_move, Solver(board)), column


def by_playing(position: Position, side: int, solver: Solver) -> str:
    """The result after a column, by playing strongest moves to the end."""
    first = position.ply - 1
    while not position.is_over:
        strongest = solver.strongest_moves(position)
        assert strongest is not None
        position = position.play(strongest[0])
    if position.winner is None:
        return "draw"
    word = "win" if position.winner == side else "loss"
    return f"{word} in {(position.ply - first + (word == 'win')) // 2}"


def test_an_ascii_terminal_gets_ascii() -> None:
    asked = "4\n?\nw\nh\nq\n"
    done = run("play", "--o", TREE, "--hints", "greedy", stdin=asked, PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.isascii()
    assert "<>" in done.stdout


def test_names_are_shown_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "g").write_text("4433225\t[/b]\t:smile: \x1b[31mred\n")
    done = run("play", "--replay", "g", "--record", "r[x]", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "X: [/b] wins" in done.stdout
    assert "r[x]: 1 game" in done.stdout
    assert "\x1b" not in done.stdout


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


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--record", "/dev/null/x"], "nothing can be written"),
        (["--hints", "human"], "not human"),
        (["--save", "nowhere/games.txt"], "there is no folder 'nowhere' for 'games.txt'"),
        (["--replay", "g", "--x", "random"], "without --x"),
        (["--replay", "g"], "a board is written as in 7x6 connect 4, not '7x6 connect ²'"),
    ],
)
def test_bad_options_are_refused_before_a_game(
    tmp_path: Path, arguments: list[str], message: str
) -> None:
    (tmp_path / "g").write_text("4\tA\tB\t\t7x6 connect ²\n")
    done = run("play", *arguments, stdin="4\n", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr


def test_the_picture_in_the_readme_is_up_to_date() -> None:
    shown, drawn = (ROOT / "docs" / "play.svg").read_text(), picture()
    texts = [re.findall(r">([^<]+)</text>", svg) for svg in (shown, drawn)]
    assert texts[0] == texts[1]
    assert any("rated" in text for text in texts[0])


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


def test_leaving_the_menu_is_no_error() -> None:
    done = run("play", "--o", "human", stdin="m\nq\nq\n")
    assert (done.returncode, done.stderr) == (0, "")


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


def test_a_board_too_large_for_perfect_play_has_no_review() -> None:
    moves = "\n".join("1213141") + "\n"
    done = run("play", "--o", "human", "--board", "10x10", stdin=moves)
    assert "after 7 stones; no review: the board is too large" in done.stdout


def test_the_menu_counts_mistakes_as_evaluate_does() -> None:
    (mistakes,) = (one.detail.partition("%")[0] for one in opponents(Board()) if one.spec == "tree")
    tree = TreePlayer(Board(), Model.load(BASE))
    found = evaluate("tree", tree, EvaluationSet.load())
    assert mistakes == f"{100 * found.all.mistake_rate:.1f}"
