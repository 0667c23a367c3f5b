"""The review that a page asks for is the one that `play` shows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from selfplay.web.app import Answering, create_app
from selfplay.web.opened import Opened
from tests.cli.command import run

GAME, BOARD = "42421111332534235545", "5x4"
"""A game with mistakes of each kind, on a board that is solved at once."""


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    app = create_app(Answering(Opened()))
    headers = {"sec-fetch-site": "same-origin"}
    with TestClient(app, "http://127.0.0.1:8765", headers=headers) as client:
        yield client


def ask(client: TestClient, **question: Any) -> dict[str, Any]:
    answer = client.post("/api/review", json=question)
    assert answer.status_code == 200, answer.text
    record: dict[str, Any] = answer.json()
    return record


def test_a_planted_mistake_of_each_kind_is_found_as_the_command_finds_it(
    client: TestClient, tmp_path: Path
) -> None:
    found = ask(client, board=BOARD, moves=GAME)
    assert [move["number"] for move in found["moves"]] == list(range(1, len(GAME) + 1))
    mistakes = [move for move in found["moves"] if move["kind"]]
    late = [(one["number"], one["side"], one["kind"], one["phase"]) for one in mistakes[-3:]]
    assert late == [
        (13, 1, "win to loss", "up to 15 stones"),
        (18, 2, "win to draw", "16-25"),
        (19, 1, "draw to loss", "16-25"),
    ]
    for move in mistakes:
        value, left = (move["values"][column] for column in (move["better"][0], move["played"]))
        assert (value, left) == (move["value"], move["left"])
    games = tmp_path / "games.txt"
    games.write_text(f"{GAME}\t\t\t\t{BOARD} connect 4")
    shown = run("play", "--replay", str(games)).stdout
    rows = re.findall(r"^(\d+) +([XO]) +(\d) +([\d ]+?) +(\w+ to \w+)", shown, re.M)
    assert rows == [
        (
            str(one["number"]),
            " XO"[one["side"]],
            str(one["played"] + 1),
            " ".join(str(column + 1) for column in one["better"]),
            one["kind"],
        )
        for one in mistakes
    ]


def test_a_review_comes_in_parts_from_the_end(client: TestClient) -> None:
    whole = ask(client, board=BOARD, moves=GAME)["moves"]
    for number in range(len(GAME), 0, -1):
        (one,) = ask(client, board=BOARD, moves=GAME[:number], last=1)["moves"]
        assert one == whole[number - 1]
    assert ask(client, board=BOARD, moves=GAME, last=4)["moves"] == whole[-4:]
    assert ask(client, board=BOARD, moves=GAME, last=200)["moves"] == whole
    assert ask(client, moves="")["moves"] == []


@pytest.mark.parametrize(
    ("question", "problem"),
    [
        ({"moves": "48"}, "column 8"),
        ({"moves": "12121213"}, "over"),
        ({"moves": "44", "last": -1}, "last is a number of moves"),
        ({"moves": "44", "last": True}, "last"),
        ({"moves": "44", "last": 10**9}, "last is a number of moves"),
        ({"moves": "44", "lats": 1}, "last"),
        ({"moves": "1,2", "board": "10x10"}, "64 bits"),
    ],
    ids=str,
)
def test_bad_input_is_refused(client: TestClient, question: dict[str, Any], problem: str) -> None:
    answer = client.post("/api/review", json=question)
    assert answer.status_code == 400, answer.text
    assert problem in answer.json()["error"]
