"""`selfplay arena`, as text and as JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pexpect
import pytest

from selfplay.storage.dataset import Dataset
from tests.cli.command import json_lines, run, run_process, terminal

FAST = ["--games=4", "--workers=0", "--seed=1"]


def test_a_tournament_as_json() -> None:
    done = run("arena", "greedy", "random", "mcts:50", *FAST, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    (record,) = json_lines(done.stdout)
    assert (record["games"], record["games_total"], record["repeatable"]) == (12, 12, True)
    for pair in record["pairs"]:  # type: ignore[attr-defined]
        assert pair.keys() >= {
            "a", "b", "games", "distinct_games", "a_first", "a_second", "a_score", "interval",
        }  # fmt: skip
        assert sum(pair["a_first"].values()) == sum(pair["a_second"].values()) == 2
        assert pair["interval"][0] <= pair["a_score"] <= pair["interval"][1]
    players = record["players"]
    assert {player["player"] for player in players} == {"greedy", "random", "mcts:50"}  # type: ignore[attr-defined]
    assert players[0].keys() >= {"player", "elo", "interval", "ms_per_move"}  # type: ignore[index]
    again = json.loads(run("arena", "mcts:50", "greedy", *FAST, "--json").stdout)
    (pair,) = (p for p in record["pairs"] if p["b"] == "mcts:50" and p["a"] == "greedy")  # type: ignore[attr-defined]
    assert again["pairs"][0]["a_first"]["wins"] == pair["a_second"]["losses"]


def test_a_tournament_as_tables_with_a_plot_and_a_run(tmp_path: Path) -> None:
    more = ["--plot=elo.svg", "--out=run", "--opening=0", "--move-seconds=60"]
    done = run("arena", "centre", "minimax:2", *FAST, *more, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0] == "4 games: 7x6 connect 4, openings 0, seed 1"
    assert "95 % conf." in lines[2]
    (pair,) = (line for line in lines if line.startswith("centre - minimax:2"))
    assert pair.split()[-2] == "2"  # of four games: nothing in them is left to chance
    assert "identical games count only once" in done.stdout
    assert "Elo are unknown: they need 5 openings" in done.stdout
    assert "moving first" not in done.stdout
    assert "<svg" in (tmp_path / "elo.svg").read_text()
    dataset = Dataset(str(tmp_path / "run"))
    assert lines[-1] == f"run: 4 games, {dataset.positions} positions"
    assert run("dataset", "verify", "run", cwd=tmp_path).returncode == 0
    assert run("dataset", "info", "run", cwd=tmp_path).returncode == 0
    assert run("train", "run", "--out", "tree", cwd=tmp_path).returncode == 0
    again = run("arena", "centre", "minimax:2", *FAST, "--out=run", cwd=tmp_path)
    assert again.returncode == 2
    assert "run holds a run" in again.stderr


def test_a_player_over_the_time_limit_forfeits() -> None:
    done = run("arena", "mcts:seconds=0.2", "random", "--games=2", "--workers=0",
               "--move-seconds=0.05")  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert "mcts:seconds=0.2 forfeited 2 games: a move took longer than 0.05 s" in done.stdout
    assert "forfeited" in done.stdout.splitlines()[2]
    assert "because of players with a time limit: mcts:seconds=0.2" in done.stdout


def test_ctrl_c_prints_the_standings_so_far() -> None:
    child = terminal(
        ["arena", "mcts:2000", "random", "--games", "20000", "--workers", "0"],
    )
    child.expect("of 20,000 games")
    child.expect("mcts:2000")  # the table grows
    child.sendintr()
    child.expect("finishing the games in progress")
    child.expect("as second")
    child.expect(r"selfplay: stopped: [0-9,]+ of 20,000 games were played\r\n")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 130


def test_the_second_ctrl_c_stops_at_once() -> None:
    child = terminal(["arena", "mcts:seconds=600", "random", "--workers", "0", "--games", "2"])
    child.expect("0 of 2 games, 1 worker")
    child.sendintr()
    child.expect("Ctrl-C again stops at once")
    child.sendintr()
    child.expect("selfplay: stopped: 0 of 2 games were played\r\n")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 130


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["random"], "two players or more"),
        (["random", "random"], "'random' and 'random' are the same player"),
        (["random", "human"], "can only play in"),
        (["random", "greedy", "--games", "3"], "not 3: every opening"),
        (["random", "greedy", "--games", "0"], "not 0"),
        (["random", "tree:examples/tree", "--board", "8x8"], "plays on 7x6"),
        (["random", "perfect", "--board", "16x16"], "64 bits"),
        (["random", "greedy", "--move-seconds", "0"], "above 0 and at most 1,000,000, not 0"),
        (["random", "greedy", "--opening", "0-99"], "leaves no game"),
        (["random", "greedy", "--plot", "elo.doc"], "one of .svg, .png, .pdf"),
        (["random", "greedy", "--plot", "nowhere/elo.svg"], "there is no folder"),
        (["random", "greedy", "--out", "examples/tiny"], "holds a run"),
        (["random", "greedy", "--out", "examples"], "is not empty"),
        (["random", "greedy", "--workers", "0", "--address", "auto"], "does not go with"),
    ],
    ids=str,
)
def test_bad_options_get_one_line(arguments: list[str], message: str) -> None:
    done = run("arena", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_bad_address_gets_one_line() -> None:
    done = run_process("arena", "random", "greedy", "--address", "nowhere")
    assert (done.returncode, done.stdout) == (2, "")
    assert "an address is auto or HOST:PORT" in done.stderr
    assert done.stderr.count("\n") == 1


def test_rollouts_by_stones(tmp_path: Path) -> None:
    few = ["--seconds=0.02", "--step=20", "--positions=1", "--json", "--plot=r.png"]
    done = run("bench", "rollouts", *few, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    rows = json_lines(done.stdout)
    assert [row["stones"] for row in rows] == [0, 20, 40]
    assert float(str(rows[0]["rollouts"])) > 100
    assert (tmp_path / "r.png").read_bytes().startswith(b"\x89PNG")
