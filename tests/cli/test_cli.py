"""The command line: help, stdin and stdout, exit codes and error messages."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pexpect
import pytest
from typer.main import get_command

from selfplay.cli.main import app
from selfplay.game.board import Board
from selfplay.train.features.feature_set import FeatureSet
from selfplay.train.model import Model
from selfplay.train.tree.tree import LEAF, Tree
from tests.cli.command import ROOT, SELFPLAY, json_lines, run

COMMANDS = [
    f"{name} {below}".strip()
    for name, command in get_command(app).commands.items()  # type: ignore[attr-defined]
    for below in getattr(command, "commands", [""])
]


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["analyse", "--help"]])
def test_help_loads_nothing_heavy(arguments: list[str]) -> None:
    code = (
        "import sys\n"
        "from selfplay.cli import main\n"
        f"sys.argv[1:] = {arguments!r}\n"
        "try:\n    main()\n"
        "finally:\n"
        "    heavy = {'ray', 'numba', 'numpy', 'pyarrow', 'pandas', 'rich'} & set(sys.modules)\n"
        "    print('loaded', sorted(heavy), file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == "loaded []\n"
    assert "selfplay" in done.stdout.lower()


@pytest.mark.parametrize("command", [name for name in COMMANDS if name != "web"])
def test_the_example_of_every_command_runs(command: str, tmp_path: Path) -> None:
    text = run(*command.split(), "--help").stdout
    examples = [line.split("Example: ")[1] for line in text.splitlines() if "Example: " in line]
    assert len(examples) == 1
    words = examples[0].split()
    assert f"{' '.join(words)} ".startswith(f"selfplay {command} ")
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    done = run(*words[1:], stdin="q\n", cwd=tmp_path)
    complaints = [line for line in done.stderr.splitlines() if " shards, " not in line]
    assert (done.returncode, complaints) == (0, [])


def test_the_installed_command_is_the_module() -> None:
    installed = os.path.join(os.path.dirname(sys.executable), "selfplay")
    for arguments in (["--version"], ["--help"]):
        outputs = {
            subprocess.run([*command, *arguments], capture_output=True, text=True).stdout
            for command in ([installed], SELFPLAY)
        }
        assert len(outputs) == 1


def test_shell_completion_knows_the_commands() -> None:
    done = run(_SELFPLAY_COMPLETE="complete_bash", COMP_WORDS="selfplay ana", COMP_CWORD="1")
    assert done.stdout.split() == ["analyse"]


def test_analyse_writes_json() -> None:
    done = run("analyse", "44352", "", "--player", "mcts:500", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    first, second = json_lines(done.stdout)
    assert (first["position"], second["position"]) == ("44352", "")
    assert first["move"] == 0
    assert first["proven"] == [None, -1, -1, -1, -1, -1, -1]
    assert sum(second["visits"]) == second["iterations"] == 500  # type: ignore[arg-type]
    for record in (first, second):
        assert record.keys() >= {
            "position", "move", "value", "visits", "proven", "iterations", "seconds",
        }  # fmt: skip


def test_analyse_reads_stdin_and_names_bad_lines() -> None:
    done = run("analyse", "--player", "mcts:50", "--json", stdin="44\n\n48\nx\n12121213\n444444\n")
    assert done.returncode == 1
    assert [record["position"] for record in json_lines(done.stdout)] == ["44", "", "444444"]
    problems = done.stderr.splitlines()
    assert [problem.split(":")[1] for problem in problems] == [" line 3", " line 4", " line 5"]


def test_a_very_long_line_is_refused() -> None:
    done = run("analyse", "--player", "random", "--json", stdin="4\n" + "4" * 100_000 + "\n44\n")
    assert len(json_lines(done.stdout)) == 2
    assert done.stderr == "selfplay: line 2: longer than 4096 characters: not a position\n"


def test_a_byte_order_mark_is_ignored() -> None:
    done = run("analyse", "--player", "random", "--json", stdin="\ufeff44\n")
    assert (done.returncode, done.stderr) == (0, "")


def test_without_arguments_help_is_printed() -> None:
    assert run().stdout == run("--help").stdout != ""


@pytest.mark.parametrize("arguments", [["openings"], ["analyse", "--player", "random"], ["--help"]])
def test_a_full_disk_gets_one_line(arguments: list[str]) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*SELFPLAY, *arguments], stdout=full, stderr=subprocess.PIPE, input="4\n", text=True
        )
    assert (done.returncode, done.stderr) == (1, "selfplay: No space left on device\n")


def test_closed_standard_streams_are_no_error() -> None:
    command = " ".join([*SELFPLAY, "openings", "<&-", ">&-", "2>&-"])
    assert subprocess.run(command, shell=True, check=False).returncode == 0


def test_analyse_is_deterministic() -> None:
    def decisions(seed: str) -> list[object]:
        done = run("analyse", "--player", "mcts:300", "--json", "--seed", seed, stdin="4\n44\n")
        return [record["visits"] for record in json_lines(done.stdout)]

    assert decisions("1") == decisions("1") != decisions("2")


def test_analyse_draws_the_board_and_bars() -> None:
    done = run("analyse", "44352", "--player", "mcts:500")
    assert ". X X X O . ." in done.stdout
    assert "O to move; mcts:500 plays column 1" in done.stdout
    assert "█" in done.stdout
    assert "\x1b" not in done.stdout


def test_without_unicode_bars_are_plain() -> None:
    done = run("analyse", "44352", "--player", "mcts:500", PYTHONIOENCODING="ascii")
    assert "####" in done.stdout
    assert done.returncode == 0


def test_analyse_on_another_board() -> None:
    done = run("analyse", "1,12", "--board", "12x9", "--player", "mcts:50", "--json")
    (record,) = json_lines(done.stdout)
    assert len(record["visits"]) == 12  # type: ignore[arg-type]


def test_openings_feed_analyse() -> None:
    openings = run("openings", "0-6", "--games", "4", "--seed", "3")
    assert len(openings.stdout.splitlines()) == 4
    done = run("analyse", "--player", "random", "--json", stdin=openings.stdout)
    assert [r["position"] for r in json_lines(done.stdout)] == openings.stdout.splitlines()


def test_openings_report_their_coverage() -> None:
    done = run("openings", "all:2", "--games", "50", "--coverage", "--json")
    (record,) = json_lines(done.stdout)
    assert (record["covered"], record["distinct"], record["most_repeated"]) == (25, 25, 2)
    assert (
        "25 of 25 different openings"
        in run("openings", "all:2", "--games", "50", "--coverage").stdout
    )


def test_solve_writes_json() -> None:
    done = run("solve", "--json", "--memory", "8", stdin="44444321122\n121212\nx\n")
    assert done.returncode == 1
    first, second = json_lines(done.stdout)
    assert first["score"] == 3
    assert first["scores"] == [3, -3, -14, -3, -4, -3, -3]
    assert first["best"] == [0]
    assert (second["score"], second["best"]) == (18, [0])
    assert "line 3" in done.stderr


def test_solve_prints_unknown_at_the_node_limit() -> None:
    (record,) = json_lines(run("solve", "1234567", "--json", "--nodes", "1000").stdout)
    assert (record["score"], record["best"]) == (None, None)
    assert record["scores"] == [None] * 7
    assert "unknown within the limit" in run("solve", "1234567", "--nodes", "1000").stdout


def test_the_ablation_of_minimax_as_json() -> None:
    done = run("bench", "minimax", "--board", "6x5", "--depth", "3", "--eval", "threats", "--json")
    rows = json_lines(done.stdout)
    assert [row["search"] for row in rows][:2] == ["plain", "pruning"]
    assert len({row["evaluation"] for row in rows}) == 1
    runs = [row["runs"] for row in rows]
    assert runs[0] == max(runs) > min(runs) == runs[-1]  # type: ignore[type-var]


def test_a_book_is_built_once(tmp_path: Path) -> None:
    build = ["book", "build", "--board", "4x4", "--out", "b.npz", "--json", "--plies"]
    first, again = (json_lines(run(*build, "3", cwd=tmp_path).stdout)[0] for _ in range(2))
    assert first["positions"] == again["positions"] == 1 + 2 + 10 + 24  # up to mirror images
    assert [path.name for path in tmp_path.iterdir()] == ["b.npz"]
    other = run(*build, "2", cwd=tmp_path)
    assert other.returncode == 2
    assert "is the book of 4x4 connect 4 with 3 plies" in other.stderr
    done = run("solve", "12", "--board", "4x4", "--book", "b.npz", "--json", cwd=tmp_path)
    assert json_lines(done.stdout)[0]["nodes"] == 0


def test_an_interrupted_build_prints_how_to_resume(tmp_path: Path) -> None:
    build = ["book", "build", "--board", "6x5", "--plies", "7", "--out", "b.npz", "--workers=0"]
    child = pexpect.spawn(SELFPLAY[0], [*SELFPLAY[1:], *build], cwd=str(tmp_path), timeout=60)
    child.expect(r"[1-9]\d* of 186 chunks, .* remaining")
    child.sendintr()
    child.expect("finishing the chunks in progress")
    child.expect("positions are solved; the same command resumes from b.npz.parts")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 130
    assert [path.name for path in tmp_path.iterdir()] == ["b.npz.parts"]
    assert "part-00000.txt" in [path.name for path in (tmp_path / "b.npz.parts").iterdir()]


BAD_INPUT = [
    (["analyse", "48"], "column 8 is not on the board"),
    (["analyse", "44x"], "write the columns played as digits"),
    (["analyse", "1111111"], "column 1 is full"),
    (["analyse", "44", "1212121"], "'1212121': the game is over"),
    (["analyse", "--player", "minimax:depth=3,seconds=1"], "depth or seconds, not both"),
    (["analyse", "--player", "greedy:3"], "write key=value"),
    (["analyse", "--player", "perfect:book=nowhere.npz"], "there is no book nowhere.npz"),
    (["explain", "examples/tree", "--export", "onnx"], "with --out FILE"),
    (["train", "examples/tiny", "--out", "examples"], "'examples' is a folder: a model is a file"),
    (["train", "examples/tiny", "--out", "README.md/x"], "nothing can be written to 'README.md'"),
    (["solve", "--book", "README.md"], "README.md is not a book"),
    (
        ["bench", "minimax", "--eval", "vibes"],
        "'vibes' is not one of 'segments', 'threats'",
    ),
    (["bench", "minimax", "--board", "7x6", "--position", "1212121"], "the game is over"),
    (["book", "build", "--plies", "3", "--board", "9x9"], "fit 64 bits"),
    (["book", "build", "--plies", "15"], "too many positions"),
    (["analyse", "4" * 100_000], "move 7: column 4 is full"),
    (["analyse", "--board", "9" * 100_000], "COLUMNSxROWS"),
    (["analyse", "--player", "m" * 100_000], "there is no player"),
    (["analyse", "--player", "mcts:1000,memory=64000,iterations=5"], "given twice"),
    (["analyse", "--board", "3x3"], "4 to 16 columns, not 3"),
    (["analyse", "--board", "17x6"], "4 to 16 columns, not 17"),
    (["analyse", "--board", "big"], "COLUMNSxROWS"),
    (["analyse", "--connect", "7"], "from 3 to 6, not 7"),
    (["analyse", "--connect", "four"], "--connect"),
    (["analyse", "--player", "mcts:0"], "from 1 up, not 0"),
    (["analyse", "--player", "mcts:-1"], "from 1 up, not -1"),
    (["analyse", "--player", "mcts:1000000000000"], "would need 192,000.0 GB"),
    (["analyse", "--player", "mtcs:100"], "did you mean 'mcts'?"),
    (["analyse", "--player", "mcts:iteration=5"], "did you mean 'iterations'?"),
    (["analyse", "--player", "mcts:seconds=0"], "above 0, not 0"),
    (["analyse", "--player", "mcts:seconds=nan"], "above 0, not nan"),
    (["analyse", "--player", "human"], "can only play in"),
    (["analyse", "--seed", "one"], "--seed"),
    (["analyse", "--payer", "random"], "--payer"),
    (["analise"], "analise"),
    (["openings", "20-0"], "not 20-0"),
    (["openings", "file:nowhere.txt"], "No such file"),
    (["openings", "--games", "0"], "--games"),
    (["solve", "--board", "8x8"], "boards that fit 64 bits"),
    (["solve", "44", "--nodes", "0"], "from 1 up, not 0"),
    (["solve", "44", "--seconds", "nan"], "above 0, not nan"),
    (["solve", "44", "--memory", "0"], "MB from 1 to 64000"),
    (["play", "--o", "tree", "--board", "6x5"], "tree:models/base plays on 7x6, not 6x5"),
    (["play", "--hints", "tree", "--board", "6x5"], "tree:models/base plays on 7x6, not 6x5"),
    (["arena", "tree", "greedy", "--connect", "5"], "7x6 connect 4, not 7x6 connect 5"),
    (["analyse", "--player", "tree", "--board", "6x5"], "tree:models/base plays on 7x6, not 6x5"),
    (["generate", "x", "--explorer", "tree", "--board", "6x5"], "base plays on 7x6, not 6x5"),
    (["evaluate", "greedy", "--compare", "tree", "--board", "6x5"], "base plays on 7x6, not 6x5"),
    (
        ["evaluate", "greedy", "--board", "6x5", "--connect", "5"],
        "`selfplay evaluation build --board 6x5 --connect 5 --out FILE` makes one for --set FILE",
    ),
    (["evaluate", "greedy", "--set", "README.md"], "'README.md' is not an evaluation set"),
    (["evaluate", "greedy", "--positions", "x", "--final"], "leave out --set and --final"),
    (["evaluation", "build", "--out", "x.npz", "--board", "9x9"], "fit 64 bits"),
    (["evaluation", "build", "--out", "x.npz", "--plies", "20-8"], "such as 8-30, up to 40"),
    (["evaluation", "build", "--out", "x.npz", "--plies", "8-41"], "up to 40 on a 7x6 board"),
    (["evaluation", "build", "--out", "x.npz", "--plies", "all"], "written 8-30 or 12, not 'all'"),
    (["evaluation", "build", "--out", "x/x.npz"], "there is no folder 'x'"),
    (["explain", "examples/tree", "--json"], "for a position, --importances or --weights"),
    (["explain", "examples/tree", "--path"], "--path is of a move"),
    (["explain", "examples/tree", "44", "--depth", "2"], "--depth are of the tree"),
    (["explain", "examples/tree", "44", "--out", "why.svg"], "promises svg, not text"),
    (["explain", "examples/tree", "--out", "tree.png"], "no .png pictures"),
    (["explain", "examples/tree", "--export", "svg", "--out", "a.dot"], "promises dot, not svg"),
    (["train", "examples/tiny", "examples/tiny", "--out", "x"], "have the same rows"),
    (["play", "--o", "tree", "--connect", "5"], "it needs --board 7x6 --connect 4"),
    (["explain", "44", "--importances", "--depth", "2"], "of the whole model"),
    (["explain", "--importances", "--weights"], "one of them"),
    (["play", "--x", "nobody"], "there is no player 'nobody'"),
    (["play", "--opening", "0-99"], "leaves no game"),
]


@pytest.mark.parametrize(("arguments", "message"), BAD_INPUT, ids=lambda v: str(v)[:40])
def test_bad_input_gets_one_clear_line(arguments: list[str], message: str) -> None:
    done = run(*arguments, stdin="44\n")
    (line,) = done.stderr.splitlines()
    assert line.startswith("selfplay: ")
    assert message in line
    assert len(line) < 520
    assert done.stdout == ""
    assert done.returncode == 2


def test_a_tree_of_another_board_is_evaluated_there(tmp_path: Path) -> None:
    features = FeatureSet("cells", Board(4, 4), target="move")
    nothing = np.zeros(1, np.int32)
    tree = Tree("threshold", np.array([LEAF], np.int32), nothing, nothing, np.ones((1, 4), int))
    Model(tree, features, "move", "off").save(str(tmp_path / "four"))
    (tmp_path / "positions.txt").write_text("12\n1122\n")
    done = run("evaluate", "tree:four", cwd=tmp_path)
    assert (done.returncode, "no evaluation set for 4x4" in done.stderr) == (2, True)
    on_file = ("--positions", "positions.txt", "--no-baselines", "--json")
    done = run("evaluate", "greedy", "--board", "4x4", *on_file, cwd=tmp_path)
    assert json_lines(done.stdout)[0]["positions"] == 2
    by_phase = json_lines(done.stdout)[0]["by_phase"]
    assert by_phase["16-25"]["mistake_rate"] is by_phase["16-25"]["interval"] is None  # type: ignore[index]
    done = run("evaluate", "tree:four", *on_file[:-1], cwd=tmp_path)
    assert re.search(r"^16-25 +0 +– +– +– +–$", done.stdout, re.M)
    assert "its training runs are not here" in done.stdout
    done = run("evaluate", "tree:four", "--board", "7x6", *on_file, cwd=tmp_path)
    assert "tree:four plays on 4x4, not 7x6" in done.stderr
    done = run("explain", "four", "--importances", "--json", cwd=tmp_path)
    assert {line["permutation"] for line in json_lines(done.stdout)} == {None}
    assert "no evaluation set for 4x4" in done.stderr
    assert "this model has no weights" in run("explain", "four", "--weights", cwd=tmp_path).stderr


def test_the_heaviest_weights_are_shown() -> None:
    asked = ("explain", "examples/tree", "--weights")
    features, patterns = run(*asked).stdout.split("\n\n")[-3::2]
    assert re.search(r"^forces a win, in steps( +\d+){5}$", features, re.M)
    assert len(re.findall(r"^columns? \d.*row.* \d+$", patterns, re.M)) == 10
    names = [line["name"] for line in json_lines(run(*asked, "--json").stdout) if "name" in line]
    assert len(set(names)) == len(names) > 40


def test_why_a_tree_moves() -> None:
    won = run("explain", "examples/tree", "112233").stdout
    assert won.splitlines()[7:] == ["", "Column 4 wins at once: it completes a line."]
    asked = ("explain", "examples/tree", "44352")
    blocked = run(*asked).stdout
    assert "Column 1 blocks X, who would complete a line there.\nColumn 4 would" in blocked
    assert "leaf of" not in blocked
    with_path = run(*asked, "--path").stdout
    assert with_path.startswith(blocked)
    assert "leaf of" in with_path


def test_training_says_what_it_leaves_out(tmp_path: Path) -> None:
    options = ("--labels", "optimal", "--out", str(tmp_path / "model"), "--json")
    done = run("train", "examples/tiny", *options)
    (report,) = json_lines(done.stdout)
    left_out: dict[str, int] = report["left_out"]  # type: ignore[assignment]
    assert sum(left_out.values()) + report["rows"] == 339  # type: ignore[operator]
    assert "324 positions left out" in done.stderr
    assert "only 15 are used" in done.stderr


def test_a_log_shows_how_many_labels_are_solved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("selfplay.cli.progress.LOG_SECONDS", 0.0)
    shutil.copytree(ROOT / "examples" / "tiny", tmp_path / "run")
    (tmp_path / "run" / "quality.json").unlink(missing_ok=True)
    done = run("dataset", "quality", "run", "--sample", "3", cwd=tmp_path)
    assert done.stderr.splitlines()[-1] == "3 of 3 positions solved"


def test_debug_shows_the_traceback() -> None:
    done = run("--debug", "analyse", "48")
    assert "Traceback" in done.stderr
    assert done.returncode == 2


def test_a_closed_pipe_is_no_error() -> None:
    command = " ".join([*SELFPLAY, "openings", "--games", "20000", "|", "head", "-1"])
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert len(done.stdout.splitlines()) == 1


def test_an_explanation_as_json() -> None:
    done = run("explain", "examples/tree", "44352", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    (record,) = json_lines(done.stdout)
    assert (record["position"], record["board"]) == ("44352", "7x6")
    ratings = record["ratings"]
    assert max(ratings) == ratings[record["move"]]  # type: ignore[call-overload,index]
    assert record["path"]
    assert (record["motif"], record["cells"], record["line"]) == ("block", [[0, 0]], [3, 0])
    text = run("explain", "examples/tree", "44352", "--path").stdout
    assert all(sentence in text for sentence in record["sentences"])  # type: ignore[attr-defined]
    assert all(condition in text for condition in record["path"])  # type: ignore[attr-defined]
