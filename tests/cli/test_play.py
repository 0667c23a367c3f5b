"""`selfplay play`: through a pipe, on a dumb terminal, on a full screen."""

from __future__ import annotations

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

from scripts.picture import picture
from selfplay.cli.board.game import Game, Seat
from selfplay.cli.board.saved_games import game_line, load_games, save_game
from selfplay.errors import InputError
from selfplay.game.board import Board
from selfplay.game.position import Position
from selfplay.storage.dataset import Dataset
from selfplay.storage.verify import verify
from tests.cli.command import ROOT, SELFPLAY, run, terminal

TREE = f"tree:{ROOT / 'examples' / 'tree'}"
WINNING = "443322"  # X completes a line in column 1 and in column 5
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
    assert "X (human) wins, after 7 stones" in done.stdout
    assert "[X][X][X][X]" in done.stdout
    # 4, 4, 3: whoever answers elsewhere than at an end of the two has lost.
    rows = [line.split() for line in done.stdout.splitlines() if "to loss" in line]
    assert ["4", "O", "3"] in [row[:3] for row in rows]
    assert done.stdout.rstrip().endswith("The game: 4433225")


def test_every_command_works_through_a_pipe() -> None:
    asked = "4\nh\nw\ne\nu\n?\ns\nboo\nq\n"
    done = run("play", "--o", TREE, "--hints", "greedy", "--save", "/dev/full", stdin=asked)
    assert "greedy would play column" in done.stdout
    assert "%, because" in done.stdout
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
        self.child = terminal(arguments, cwd, **{"TERM": "xterm-256color", **environment})

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
    screen.sees("▼")
    screen.press("4")
    screen.sees(r"plays column [1-7]\s")
    screen.press("8")
    screen.sees("there is no column 8")
    screen.press("z")
    screen.sees("unknown command 'z'")
    screen.press("?")
    screen.sees("game value of each column")
    screen.press("h")
    screen.sees("mcts:10000 would play column")
    screen.press("w")
    screen.sees("%, because")
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
    terminal.press(LEFT + "e")
    terminal.sees("the start of the game")
    terminal.sees(" W ")
    terminal.press("5")
    terminal.sees("the game is over")
    terminal.press("r")
    terminal.sees("human .*against .*greedy")  # sides swapped
    terminal.press("q")
    terminal.sees("The game: 443322[15]")
    assert terminal.ends() == 0


def test_ctrl_c_pauses_a_search() -> None:
    terminal = Terminal("play", "--x", "mcts:seconds=100", "--o", "human")
    terminal.sees(r"is thinking: [1-9][0-9,]* rollouts")
    terminal.press(CTRL_C)
    terminal.sees("stopped: c continues")
    terminal.press("c")
    terminal.sees("is thinking")
    terminal.press(CTRL_C)
    terminal.sees("stopped")
    terminal.press("3")  # in its place
    terminal.sees("▼")
    terminal.press(CTRL_C)
    terminal.sees("interrupted; resume the game with: selfplay play --x mcts:seconds=100 --o human")
    assert terminal.ends() == 130


def test_without_colour_and_without_unicode() -> None:
    terminal = Terminal(
        "play", "--o", "greedy", NO_COLOR="1", PYTHONIOENCODING="ascii", PYTHONUTF8="0"
    )
    terminal.press("4")
    seen = terminal.sees(r"O \(greedy\) plays column")
    assert "X" in seen
    terminal.press("q")
    seen += terminal.sees("The game so far")
    assert seen.isascii()
    assert terminal.ends() == 0


def test_a_dumb_terminal_is_used_line_by_line() -> None:
    terminal = Terminal("play", "--o", "random", "--seed", "5", TERM="dumb")
    for column in "444":
        terminal.sees("X, your column: ")
        terminal.child.sendline(column)
        terminal.sees("O .*random.* plays column")
    terminal.sees("X, your column: ")
    terminal.press(CTRL_C)
    terminal.sees("interrupted; resume the game with: .*--from 4.4.4")
    assert terminal.ends() == 130


def test_without_options_it_asks_who_plays(tmp_path: Path) -> None:
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "mine").write_bytes((ROOT / "examples" / "tree").read_bytes())
    (tmp_path / "models" / "notes.txt").write_text("no model")
    terminal = Terminal("play", cwd=tmp_path)
    terminal.sees("Who plays")
    terminal.child.sendline("1")
    terminal.sees(r"1  tree:models/base +[0-9.]+% mistakes")
    terminal.sees(r"2  tree:models/mine +[0-9.]+% mistakes")
    terminal.sees(": ")
    terminal.child.sendline("99")
    terminal.sees("a number from 1 to")
    terminal.child.sendline("")
    terminal.sees("Your name")
    terminal.child.sendline("Anna")
    terminal.sees("Who moves first")
    terminal.child.sendline("2")
    terminal.sees("against .*Anna")
    terminal.sees("plays column")
    terminal.press("q")
    assert terminal.ends() == 0


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
    assert "X ([/b]) wins" in done.stdout
    assert "r[x]: 1 game" in done.stdout
    assert "\x1b" not in done.stdout


def test_a_killed_game_restores_the_terminal() -> None:
    terminal = Terminal("play", "--o", TREE)
    terminal.sees("▼")
    terminal.child.kill(signal.SIGTERM)
    terminal.child.expect(r"\x1b\[\?1049l")
    assert terminal.ends() == 128 + signal.SIGTERM


def test_a_small_window_gets_lines() -> None:
    terminal = Terminal("play", "--o", "human", "--board", "16x16")
    terminal.sees("the window is too small")
    terminal.sees("X, your column: ")
    terminal.child.sendline("q")
    assert terminal.ends() == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--record", "/dev/null/x"], "nothing can be written"),
        (["--hints", "human"], "not human"),
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
    assert any("is&#160;rated" in text for text in texts[0])
