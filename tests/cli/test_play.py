"""`selfplay play` through a pipe."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfplay.cli.board.game import Game, Seat
from selfplay.cli.board.saved_games import game_line, load_games, save_game
from selfplay.errors import InputError
from selfplay.game.board import Board
from selfplay.game.position import Position
from selfplay.storage.dataset import Dataset
from selfplay.storage.verify import verify
from tests.cli.command import ROOT, SELFPLAY, run

TREE = f"tree:{ROOT / 'examples' / 'tree'}"
WINNING = "443322"  # X completes a line in column 1 and in column 5


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
    assert re.search(r"^O: tree:.* in column \d, stone 2\n\nColumn \d", done.stdout, re.M)
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
