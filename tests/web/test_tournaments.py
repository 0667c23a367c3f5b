"""The page of a tournament: it says what `arena` printed, and shows the games that were played."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from selfplay.errors import InputError
from selfplay.game.position import Position
from selfplay.storage.dataset import Dataset
from selfplay.web import tournaments
from selfplay.web.answers import ANSWERS
from selfplay.web.app import Answering, create_app
from selfplay.web.opened import Opened
from selfplay.workers.tournament.stored import NAME
from tests.cli.command import run

HOST = "127.0.0.1:8765"
PLAYERS = ("greedy", "random", "perfect")
PAIR = {"name": "cup", "a": "greedy", "b": "perfect"}


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, dict[str, Any]]:
    """The run of a tournament, and what `--json` printed."""
    place = str(tmp_path_factory.mktemp("arena") / "cup")
    options = ("--games=12", "--opening=sensible:24-30", "--seed=3", "--workers=0", "--json")
    done = run("arena", *PLAYERS, *options, "--out", place)
    assert (done.returncode, done.stderr) == (0, "")
    return place, json.loads(done.stdout)


def ask(place: str, what: str, **question: Any) -> dict[str, Any]:
    asked, _, answer = ANSWERS[what]
    record: dict[str, Any] = answer(asked.of({"name": "cup", **question}), {"cup": place})
    return record


def test_the_page_says_what_arena_printed(played: tuple[str, dict[str, Any]]) -> None:
    place, printed = played
    found = ask(place, "tournament")
    assert found["standings"] == printed
    assert found["reference"] == ["perfect"]
    assert (found["players_total"], found["opening"]) == (3, "sensible:24-30")


def test_the_games_are_those_of_the_scores(played: tuple[str, dict[str, Any]]) -> None:
    place, printed = played
    rows = 0
    for pair in printed["pairs"]:
        games = ask(place, "games", a=pair["a"], b=pair["b"])["games"]
        assert games == ask(place, "games", a=pair["b"], b=pair["a"])["games"]
        results: dict[bool, Counter[str]] = {True: Counter(), False: Counter()}
        for game in games:
            end = Position.parse(game["moves"])
            assert end.is_over
            assert end.ply == game["stones"]
            winner = {1: game["first"], 2: game["second"], None: None}[end.winner]
            assert game["winner"] == winner
            result = {pair["a"]: "wins", pair["b"]: "losses", None: "draws"}[winner]
            results[game["first"] == pair["a"]][result] += 1
        for side, is_first in (("a_first", True), ("a_second", False)):
            assert results[is_first] == Counter(pair[side])
        assert len({game["moves"] for game in games}) == pair["distinct_games"]
        rows += len(games)
    assert rows == Dataset(place).games == printed["games"]


def test_games_and_players_come_in_bounded_parts(
    played: tuple[str, dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    place, printed = played
    whole = ask(place, "games", **PAIR)["games"]
    monkeypatch.setattr(tournaments, "GAMES", 5)
    parts = [ask(place, "games", **PAIR, start=start) for start in (0, 5, 10, 15)]
    assert [len(part["games"]) for part in parts] == [5, 5, 2, 0]
    assert [game for part in parts for game in part["games"]] == whole
    monkeypatch.setattr(tournaments, "MOST_PLAYERS", 2)
    found = ask(place, "tournament")
    assert found["standings"]["players"] == printed["players"][:2]
    assert len(found["standings"]["pairs"]) == 1
    assert found["players_total"] == 3


@pytest.fixture(scope="module")
def client(played: tuple[str, dict[str, Any]]) -> Iterator[TestClient]:
    app = create_app(Answering(Opened(tournaments={"cup": played[0]})))
    headers = {"sec-fetch-site": "same-origin"}
    with TestClient(app, f"http://{HOST}", headers=headers) as client:
        yield client


@pytest.mark.parametrize(
    ("what", "question"),
    [
        ("tournament", {}),
        ("tournament", {"name": "/etc/passwd"}),
        ("tournament", {"name": "../cup"}),
        ("tournament", {"name": 1}),
        ("tournament", {"name": "cup", "file": "/etc/passwd"}),
        ("games", {"name": "cup", "a": "greedy", "b": "nobody"}),
        ("games", {**PAIR, "start": -1}),
        ("games", {**PAIR, "start": "0"}),
    ],
    ids=str,
)
def test_a_question_out_of_bounds_is_refused(
    client: TestClient, what: str, question: dict[str, Any]
) -> None:
    answer = client.post(f"/api/{what}", json=question)
    assert answer.status_code == 400, answer.text
    assert set(answer.json()) == {"error"}
    assert len(answer.text) < 400
    assert client.get("/api/opened").json()["tournaments"] == ["cup"]


def damaged(content: dict[str, Any]) -> Iterator[str]:
    """The file as no tournament writes it."""
    whole = json.dumps(content)
    yield ""
    yield "[]"
    yield whole[: len(whole) // 2]
    yield whole.replace('"version": 1', '"version": 2')
    for part, value in (
        ("players", ["greedy"]),
        ("players", ["greedy", "random", 3]),
        ("games", [[0, 3, 1, "4", None]]),
        ("games", [[0, 0, 1, "4", None]]),
        ("games", [[0, 1, 3, "4", None]]),
        ("games", [[0, 1, 1, "../4", None]]),
        ("games", 3),
        ("standings", {**content["standings"], "board": "99x99"}),
        ("standings", {**content["standings"], "players": []}),
        ("standings", {**content["standings"], "games": "12"}),
        ("standings", {**content["standings"], "draw_rate_of_equals": float("nan")}),
    ):
        yield json.dumps({**content, part: value})


def test_a_damaged_file_is_refused_in_one_line(
    played: tuple[str, dict[str, Any]], tmp_path: Path
) -> None:
    content = json.loads((Path(played[0]) / NAME).read_text())
    texts = list(damaged(content))
    assert len(texts) == len(set(texts))
    for number, text in enumerate([*texts, None]):
        place = tmp_path / str(number)
        place.mkdir()
        if text is not None:
            (place / NAME).write_text(text)
        with pytest.raises(InputError, match="the results of cup cannot be read") as refused:
            ask(str(place), "tournament")
        assert str(tmp_path) not in str(refused.value), text
