"""The pages about runs: they say what the commands say, and read nothing but what was opened."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pytest

from selfplay.errors import InputError
from selfplay.game.position import Position
from selfplay.storage import watch
from selfplay.storage.dataset import Dataset, shard_path
from selfplay.storage.location import Location
from selfplay.storage.manifest import Manifest
from selfplay.storage.shard import encode
from selfplay.storage.spec import Spec
from selfplay.web import run_data
from selfplay.web.opened import Opened, opened
from selfplay.web.run_data import answer
from tests import ROOT
from tests.cli.command import json_lines, run
from tests.storage.made import make_run

SPEC = Spec(games=24, shard_games=4, teacher="greedy", opening="0-3", seed=3).resolved()


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    return make_run(tmp_path_factory.mktemp("runs") / "made", SPEC)


@pytest.fixture(autouse=True)
def time_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_data, "_SECONDS", 60)


def ask(place: Path | Location, what: str, **question: Any) -> dict[str, Any]:
    """An answer as the page gets it."""
    given = Opened(runs={"made": str(place)})
    found: dict[str, Any] = json.loads(json.dumps(answer(what, {"run": "made", **question}, given)))
    return found


def command(*arguments: str) -> dict[str, Any]:
    (said,) = json_lines(run(*arguments, "--json").stdout)
    return said


def test_what_lies_there_decides_what_it_is(tmp_path: Path) -> None:
    mine, cup, tree = tmp_path / "mine", tmp_path / "cup", tmp_path / "tree-1"
    make_run(mine, SPEC, range(1))
    source = {"arena": {"players": ["greedy", "random"], "games_per_pair": 2}}
    Manifest.of_source("a" * 32, SPEC.parsed_board, 2, 1000, source).write(Location(str(cup)))
    body = b"selfplay tree 2\nnever looked into"
    tree.write_bytes(body + blake2b(body, digest_size=16).digest())
    (tmp_path / "notes.txt").write_text("none of these")
    runs = {"cup": str(cup), "mine": str(mine)}
    wanted = Opened({"tree-1": str(tree)}, runs, {"cup": str(cup)})
    assert opened([str(tmp_path)]) == opened([f"{cup}/", f"{mine}", str(tree)]) == wanted
    assert opened([mine.as_uri()]).runs == {"mine": mine.as_uri()}
    shutil.copytree(mine, tmp_path / "other" / "mine")
    both = opened([str(mine), str(tmp_path / "other" / "mine"), str(mine)]).runs
    assert list(both) == ["mine", "other-mine"]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("nothing", None, "no run and no model"),
        ("text", b"hello", "no run and no model"),
        ("tree", b"selfplay tree 2\nhalf", "tree"),
        ("run/run.json", b"{", "damaged"),
        ("empty/x/y", b"", "no run and no model"),
    ],
)
def test_what_is_nothing_is_refused(
    tmp_path: Path, name: str, content: bytes | None, said: str
) -> None:
    if content is not None:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(content)
    done = run("web", "--no-browser", str(tmp_path / name.partition("/")[0]))
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1 or said == "no run and no model"


@pytest.mark.parametrize("is_complete", [True, False])
def test_the_page_says_what_status_and_info_say(tmp_path: Path, *, is_complete: bool) -> None:
    place = tmp_path / "run"
    make_run(place, SPEC, None if is_complete else range(1, 4))
    told, shown = command("status", str(place)), ask(place, "status")
    ages = [record.pop("seconds_since_last") for record in (told, shown["status"])]
    assert shown["status"] == told
    assert ages[0] == pytest.approx(ages[1], abs=30)
    assert ask(place, "statistics")["info"] == command("dataset", "info", str(place))


def test_label_quality_is_that_of_the_command() -> None:
    place = ROOT / "examples" / "tiny"
    found = ask(place, "statistics")
    assert found["quality"] == command("dataset", "quality", str(place))
    assert found["info"] == command("dataset", "info", str(place))


def test_a_run_that_grows_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    original = watch.read_footer
    monkeypatch.setattr(watch, "read_footer", lambda p, n: (read.append(n), original(p, n))[1])
    for shards in (1, 3, 6):
        make_run(tmp_path, SPEC, range(shards))
        assert ask(tmp_path, "status")["status"]["shards"] == shards
        found = ask(tmp_path, "statistics")
        assert found["info"] == command("dataset", "info", str(tmp_path))
    assert sorted(read)[-1] == 5
    assert len(read) <= 1 + 3 + 6  # a shard that was written again counts as another


def test_what_is_broken_is_said_and_the_rest_works(tmp_path: Path) -> None:
    place, other = tmp_path / "run", tmp_path / "other"
    make_run(place, SPEC)
    make_run(other, Spec(games=24, shard_games=4, teacher="greedy", seed=9).resolved(), range(1, 2))
    part = "shards/part-0000{}.parquet".format
    shutil.copy(other / part(1), place / part(1))
    data = (place / part(2)).read_bytes()
    (place / part(2)).write_bytes(data[: len(data) // 2])
    flipped = bytearray((place / part(4)).read_bytes())
    flipped[100] ^= 1
    (place / part(4)).write_bytes(flipped)
    (place / "shards/notes.txt").write_text("")
    told = [
        (problem["shard"], problem["what"])
        for problem in command("dataset", "verify", str(place))["problems"]
    ]
    assert [number for number, _ in told] == [None, 1, 2, 4]
    games = ask(place, "games")
    assert [game["game"] // 4 for game in games["games"]] == [0] * 4 + [3] * 4 + [5] * 4
    assert games["next"] is None
    found = ask(place, "status")
    lines = [what if n is None else f"part-0000{n}.parquet: {what}" for n, what in told]
    # A file without its end is no Parquet file, and is refused when it is read.
    lines[2] = lines[2].replace("it cannot be read", "it is no Parquet file")
    assert found["problems"] == lines[:3]
    assert found["more_problems"] == 1
    assert ask(place, "statistics")["info"]["games"] == 12
    assert ask(place, "explore")["read"] == 3
    with pytest.raises(InputError, match="no positions of game 5"):
        ask(place, "game", game=5)
    (place / "run.json").write_text("{")
    with pytest.raises(InputError, match=r"^made/run\.json is damaged") as refused:
        ask(place, "status")
    assert str(tmp_path) not in str(refused.value)


def test_forged_games_are_found_when_they_are_counted(tmp_path: Path) -> None:
    made = make_run(tmp_path / "run", SPEC)
    rows = made.read(2)
    forged = replace(rows, played=(rows.played + 1) % 7)
    data = encode(forged, made.board, made.manifest.identity, 2, made.manifest.games_of(2))
    made.place.write(shard_path(2), data)
    ask(made.place, "statistics")
    told = command("dataset", "verify", str(made.place))["problems"][0]
    said = f"part-00002.parquet: game {told['game']}: {told['what']}"
    assert ask(made.place, "status")["problems"] == [said]


def games_of(made: Dataset) -> dict[int, list[dict[str, Any]]]:
    """The rows of every game, as Python's objects."""
    games: dict[int, list[dict[str, Any]]] = {}
    for row in made.scan().to_table().to_pylist():
        games.setdefault(row["game"], []).append(row)
    return games


def brute(games: dict[int, list[dict[str, Any]]], question: dict[str, Any]) -> list[int]:
    """The games that a question asks for, the slow way."""

    def fits(rows: list[dict[str, Any]]) -> bool:
        result = rows[-1]["outcome"] * (1 if rows[-1]["ply"] % 2 == 0 else -1)
        wanted = {"win": 1, "draw": 0, "loss": -1}.get(question.get("result", ""), result)
        stones = rows[-1]["ply"] + 1
        cells = list(Position.parse(question.get("moves", "")).cells())
        wrong = any(
            max((v for v in row["proven"] if v is not None), default=-1)
            > (1 if (own := row["proven"][row["played"]]) is None else own)
            for row in rows
        )
        return (
            result == wanted
            and question.get("shortest", 0) <= stones <= question.get("longest", 99)
            and ("moves" not in question or any(row["board"] == cells for row in rows))
            and (wrong or "mistakes" not in question)
        )

    return [number for number, rows in games.items() if fits(rows)]


def test_all_is_found_while_footers_are_still_read(
    made: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch, "_AT_ONCE", 2)
    monkeypatch.setattr(run_data, "_SECONDS", 0)
    run_data.watch_of.cache_clear()
    assert ask(made.place, "status")["read"] == 2
    assert ask(made.place, "game", game=23)["rows"]
    run_data.watch_of.cache_clear()
    found: list[int] = []
    at: int | None = 0
    while at is not None:
        page = ask(made.place, "games", at=at)
        found, at = [*found, *(game["game"] for game in page["games"])], page["next"]
        assert page["shards"] == 6
    assert found == list(range(24))


@pytest.mark.parametrize(
    "question",
    [
        {},
        {"result": "win"},
        {"result": "loss", "shortest": 12},
        {"longest": 15},
        {"moves": "4"},
        {"moves": "44"},
        {"mistakes": "proven"},
    ],
    ids=str,
)
def test_games_are_found_page_by_page(
    made: Dataset, monkeypatch: pytest.MonkeyPatch, question: dict[str, Any]
) -> None:
    monkeypatch.setattr(run_data, "PAGE", 3)
    monkeypatch.setattr(run_data, "_SECONDS", 0)
    found: list[int] = []
    at: int | None = 0
    while at is not None:
        page = ask(made.place, "games", at=at, **question)
        assert len(page["games"]) <= 3
        assert page["read"] == 1
        found += [game["game"] for game in page["games"]]
        assert page["next"] is None or page["next"] > at
        at = page["next"]
    assert found == brute(games_of(made), question)


def test_a_game_is_its_rows_and_moves(made: Dataset) -> None:
    rows = games_of(made)[5]
    game = ask(made.place, "game", game=5)
    for row, told in zip(rows, game["rows"], strict=True):
        position = Position.parse(told.pop("moves"))
        assert list(position.cells()) == row.pop("board")
        assert told == row
    end = Position.parse(game["moves"])
    assert end.is_over
    assert {1: 1, 2: -1, None: 0}[end.winner] == rows[0]["outcome"] * (-1) ** rows[0]["ply"]


@pytest.mark.parametrize("moves", ["", "4", "3", "5", "44", "35"])
def test_an_exploration_counts_both_images(
    made: Dataset, monkeypatch: pytest.MonkeyPatch, moves: str
) -> None:
    monkeypatch.setattr(run_data, "_SECONDS", 0)
    position = Position.parse(moves)
    wanted = [dict.fromkeys(("played", "chosen", "wins", "draws", "losses"), 0) for _ in range(7)]
    count = 0
    for row in made.scan().to_table().to_pylist():
        is_same = tuple(row["board"]) == position.cells()
        if not is_same and tuple(row["board"]) != position.mirror().cells():
            continue
        count += 1
        played, chosen = (row[k] if is_same else 6 - row[k] for k in ("played", "move"))
        wanted[played]["played"] += 1
        wanted[chosen]["chosen"] += 1
        wanted[played][{1: "wins", 0: "draws", -1: "losses"}[row["outcome"]]] += 1
    found, at = [dict.fromkeys(one, 0) for one in wanted], 0
    total = 0
    while at is not None:
        part = ask(made.place, "explore", moves=moves, at=at)
        for sums, one in zip(found, part["columns"], strict=True):
            for name in sums:
                sums[name] += one[name]
        total, at = total + part["count"], part["next"]
    assert (total, found) == (count, wanted)


def test_players_of_a_tournament_are_known(tmp_path: Path) -> None:
    place = tmp_path / "cup"
    done = run(
        *("arena", "greedy", "random", "centre", "--games", "4", "--workers", "0"),
        *("--out", str(place), "--json"),
    )
    (told,) = json_lines(done.stdout)
    games = ask(place, "games")["games"]
    assert ask(place, "status")["players"] == ["greedy", "random", "centre"]
    assert isinstance(told["pairs"], list)
    for pair in told["pairs"]:
        sides = [pair["a"], pair["b"]]
        results = [game["result"] for game in games if game["players"] == sides]
        counts = {"wins": 1, "draws": 0, "losses": -1}
        assert pair["a_first"] == {name: results.count(value) for name, value in counts.items()}
    of_second = ask(place, "games", player=1)["games"]
    assert of_second == [game for game in games if "random" in game["players"]]
    with pytest.raises(InputError, match="no player 3"):
        ask(place, "games", player=3)
