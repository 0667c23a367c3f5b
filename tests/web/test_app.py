"""The server: what it answers is what the commands say, and whom it refuses."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient

from selfplay.errors import InputError
from selfplay.game.board import Board
from selfplay.game.position import Position
from selfplay.registry import PlayerSpec
from selfplay.train.levels import LEVELS
from selfplay.web.app import LOCAL_HOSTS, Answering, create_app
from selfplay.web.bodies import MOST_BODY
from selfplay.web.opened import Opened, opened
from selfplay.web.players import names_of, spec_of
from tests.cli.command import json_lines, run

HOST = "127.0.0.1:8765"
SAME = {"sec-fetch-site": "same-origin"}


@pytest.fixture(scope="module")
def client(tree: str) -> Iterator[TestClient]:
    app = create_app(Answering(opened([tree])))
    with TestClient(app, f"http://{HOST}", headers=SAME) as client:
        yield client


@pytest.fixture(scope="module")
def closed() -> TestClient:
    """A client that brings no headers of its own; nothing that it asks needs a process."""
    return TestClient(create_app(Answering(Opened())), f"http://{HOST}")


def test_the_page_is_offered_the_trees_by_name(client: TestClient) -> None:
    offered = client.get("/api/players").json()
    assert offered["trees"] == ["tree", "small"]
    for player in offered["players"]:
        assert str(spec_of(player, {}))


def ask(client: TestClient, what: str, **question: Any) -> dict[str, Any]:
    answer = client.post(f"/api/{what}", json=question)
    assert answer.status_code == 200, answer.text
    record: dict[str, Any] = answer.json()
    return record


def test_a_position_is_what_the_engine_says(client: TestClient) -> None:
    found = ask(client, "position", moves="1122334")
    position = Position.parse("1122334")
    assert found["winner"] == 1
    assert found["is_over"]
    assert found["legal_moves"] == []
    assert tuple(found["winning_line"]) == position.winning_line
    assert tuple(found["cells"]) == position.cells()


@pytest.mark.parametrize("moves", ["44352", "4435255"])
def test_the_page_explains_what_explain_explains(client: TestClient, tree: str, moves: str) -> None:
    (said,) = json_lines(run("explain", tree, moves, "--json").stdout)
    assert ask(client, "explain", moves=moves, player="small") == said
    assert ask(client, "analyse", moves=moves, player="small")["move"] == said["move"]


def test_a_level_explains_the_move_that_it_makes(client: TestClient, tree: str) -> None:
    moves = set()
    for seed in range(8):
        asked: dict[str, Any] = {"moves": "4435255", "player": "small:level=1", "seed": seed}
        said, found = ask(client, "explain", **asked), ask(client, "analyse", **asked)
        spec = PlayerSpec.parse(f"tree:{tree},level=1")
        player = spec.build(Board())
        player.new_game(seed)
        decision = player.decide(Position.parse("4435255"))
        assert said["move"] == found["move"] == decision.move
        assert said["sentences"] == decision.why.reasons.sentences()
        assert said["ratings"] == found["ratings"]
        moves.add(decision.move)
    assert len(moves) > 1


def test_the_path_has_the_words_of_explain(client: TestClient, tree: str) -> None:
    text = run("explain", tree, "4435255", "--path").stdout.partition("\n\ncolumn")[2]
    said = ask(client, "explain", moves="4435255", player="small")
    told = [said["before_path"], *said["path"], *said["after_path"]]
    assert [line.strip() for line in f"column{text}".splitlines()] == told
    assert len(said["path_cells"]) == len(said["path"]) > 0


def test_who_can_play_on_a_board_is_offered(client: TestClient) -> None:
    offered = ask(client, "offered")
    assert (offered["trees"], offered["levels"]) == (["tree", "small"], LEVELS)
    assert "perfect" in offered["players"]
    assert ask(client, "offered", connect=5)["trees"] == []
    large = ask(client, "offered", board="10x10")
    assert large["trees"] == []
    assert "mcts:1000" in large["players"]
    assert "perfect" not in large["players"]


@pytest.mark.parametrize("player", ["mcts:300", "minimax:3", "random", "greedy"])
def test_the_page_analyses_what_analyse_analyses(client: TestClient, player: str) -> None:
    asked = ("analyse", "44352", "--player", player, "--seed", "7", "--json")
    (said,) = json_lines(run(*asked).stdout)
    found = ask(client, "analyse", moves="44352", player=player, seed=7)
    assert without_time(found) == without_time(said)


@pytest.mark.parametrize("moves", ["44444326555222", "44352551123"])
def test_the_page_solves_what_solve_solves(client: TestClient, moves: str) -> None:
    (said,) = json_lines(run("solve", moves, "--json").stdout)
    found = ask(client, "solve", moves=moves)
    results = found.pop("results")
    assert without_time(found) == without_time(said)
    values = ask(client, "values", moves=moves)
    words = [{1: "win", 0: "draw", -1: "loss", None: None}[value] for value in values["values"]]
    assert values["results"] == words
    assert [result and result.split()[0] for result in results] == words


def without_time(record: dict[str, Any]) -> dict[str, Any]:
    """What does not depend on the clock, or on what was searched before."""
    return {key: value for key, value in record.items() if key not in ("seconds", "nodes")}


@pytest.mark.parametrize(
    "question",
    [
        {"moves": "8"},
        {"moves": "4" * 7},
        {"moves": "../../etc/passwd"},
        {"moves": 4},
        {"moves": "4" * 5000},
        {"board": "/etc/passwd"},
        {"board": "99x99"},
        {"connect": True},
        {"connect": 1e999},
        {"seed": -1},
        {"seed": 10**30},
        {"model": "/etc/passwd"},
        {"player": "tree:/etc/passwd"},
        {"player": "tree:level=3,model=/etc/passwd"},
        {"player": "tree:level=0"},
        {"player": "small:level="},
        {"player": "py:/tmp/mine.py:Mine"},
        {"player": "perfect:book=/etc/passwd"},
        {"player": "human"},
        {"player": "mcts:1000000000"},
        {"player": "mcts:seconds=3600"},
        {"player": "minimax:40"},
        {"player": "x" * 3000},
        {"player": "small/../small"},
        {"moves": "1122334"},
    ],
    ids=str,
)
def test_a_question_out_of_bounds_is_refused(client: TestClient, question: dict[str, Any]) -> None:
    text = str(question).replace("'", '"').replace("True", "true").replace("inf", "1e999")
    answer = client.post("/api/analyse", content=text, headers={"content-type": "application/json"})
    assert answer.status_code == 400, answer.text
    assert set(answer.json()) == {"error"}
    assert "root:" not in answer.text
    assert len(answer.text) < 1000


@pytest.mark.parametrize("content", ["", "[", "[]", "null", "3", "[" * 60_000, '{"a": 1}', "\xff"])
def test_what_is_no_question_is_refused(client: TestClient, content: str) -> None:
    headers = {"content-type": "application/json"}
    answer = client.post("/api/position", content=content.encode("latin-1"), headers=headers)
    assert answer.status_code == 400


def test_a_body_is_bounded(client: TestClient) -> None:
    headers = {"content-type": "application/json"}
    answer = client.post("/api/position", content=b" " * (MOST_BODY + 1), headers=headers)
    assert answer.status_code == 413


@pytest.mark.parametrize(
    "headers",
    [
        {"sec-fetch-site": "same-origin"},
        {"sec-fetch-site": "none"},
        {"origin": f"http://{HOST}"},
    ],
)
def test_the_page_may_ask(closed: TestClient, headers: dict[str, str]) -> None:
    assert closed.post("/api/position", json={}, headers=headers).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"sec-fetch-site": "cross-site", "origin": f"http://{HOST}"},
        {"origin": "http://evil.example"},
        {"origin": f"http://{HOST}.evil.example"},
        {"origin": "null"},
    ],
)
def test_another_site_may_not(closed: TestClient, headers: dict[str, str]) -> None:
    assert closed.post("/api/position", json={}, headers=headers).status_code == 403


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "127.0.0.2", "", "*"])
@pytest.mark.parametrize("path", ["/", "/static/page.js", "/api/players"])
def test_another_host_is_refused(closed: TestClient, host: str, path: str) -> None:
    assert closed.get(path, headers={"host": host}).status_code == 400


@pytest.mark.parametrize("host", LOCAL_HOSTS)
def test_local_hosts_are_answered(closed: TestClient, host: str) -> None:
    assert closed.get("/", headers={"host": f"{host}:8765"}).status_code == 200


@pytest.mark.parametrize("kind", ["application/x-www-form-urlencoded", "text/plain", ""])
def test_a_form_is_refused(closed: TestClient, kind: str) -> None:
    headers = {**SAME, "content-type": kind}
    assert closed.post("/api/position", content="{}", headers=headers).status_code == 415


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/api/analyse"),
        ("DELETE", "/api/analyse"),
        ("POST", "/"),
        ("GET", "/static/../app.py"),
        ("GET", "/static/%2e%2e/app.py"),
        ("GET", "/static//etc/passwd"),
        ("POST", "/api/none"),
        ("GET", "/api/../../etc/passwd"),
    ],
)
def test_there_is_nothing_else(closed: TestClient, method: str, path: str) -> None:
    answer = closed.request(method, path, headers={**SAME, "content-type": "application/json"})
    assert answer.status_code in (404, 405)


def test_every_answer_is_closed_to_others(closed: TestClient) -> None:
    answers = [
        closed.get("/"),
        closed.get("/static/page.js"),
        closed.get("/nothing"),
        closed.post("/api/position"),
        closed.get("/", headers={"host": "evil.example"}),
    ]
    assert [answer.status_code for answer in answers] == [200, 200, 404, 403, 400]
    for answer in answers:
        policy = answer.headers["content-security-policy"]
        assert policy.startswith("default-src 'self'; frame-ancestors 'none'")
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["cross-origin-resource-policy"] == "same-origin"
        assert not any(name.startswith("access-control") for name in answer.headers)


def test_with_a_token_nobody_else_is_answered() -> None:
    app = create_app(Answering(Opened()), ["board.example"], "secret")
    client = TestClient(app, "http://board.example:8765", headers=SAME, follow_redirects=False)
    for path in (
        "/",
        "/static/page.js",
        "/api/players",
        "/?token=other",
        "/api/players?token=secret",
    ):
        assert client.get(path).status_code == 403
    assert client.get("/", headers={"cookie": "selfplay-token=other"}).status_code == 403
    welcome = client.get("/?token=secret")
    assert (welcome.status_code, welcome.headers["location"]) == (303, "/")
    assert "HttpOnly" in welcome.headers["set-cookie"]
    assert client.get("/").status_code == 200
    assert client.post("/api/position", json={}).status_code == 200


def test_bad_requests_leave_it_alive(closed: TestClient) -> None:
    chance = random.Random(1)
    for _ in range(500):
        body = bytes(chance.randrange(256) for _ in range(chance.randrange(40)))
        headers = {**SAME, "content-type": "application/json"}
        assert closed.post("/api/position", content=body, headers=headers).status_code == 400
    assert closed.post("/api/position", json={}, headers=SAME).status_code == 200


def test_models_have_names_not_paths() -> None:
    assert names_of(["models/mine", "s3://bucket/other"]) == {
        "mine": "models/mine",
        "other": "s3://bucket/other",
    }
    assert list(names_of(["a/mine", "b/mine", "a/mine/", "b/x/mine"])) == [
        "mine",
        "b-mine",
        "a-mine",
        "x-mine",
    ]
    # No name of another player.
    assert list(names_of(["tree", "a/tree", "a/human"])) == ["tree-2", "a-tree", "a-human"]
    with pytest.raises(InputError, match="would be called"):
        names_of(["a/x,y"])


def test_memory_is_bounded() -> None:
    assert spec_of("mcts:seconds=1", {}).options.memory == 100
    assert spec_of("perfect", {}).options.seconds == 10
