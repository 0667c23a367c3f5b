"""The server of the pages about runs: streams, downloads, and whom and what it refuses."""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import Iterator
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pyarrow.parquet as pq
import pytest
from starlette.testclient import TestClient

from selfplay.storage.dataset import Dataset
from selfplay.storage.games import Wanted
from selfplay.storage.selection import write_selection
from selfplay.web.app import Answering, create_app
from selfplay.web.opened import Opened
from selfplay.web.streams import MOST_STREAMS
from tests.storage.made import make_run
from tests.web.test_runs import SPEC, brute, games_of

HOST = "127.0.0.1:8765"
STREAM = "/stream/run", b"run=made"
SAME = {"sec-fetch-site": "same-origin"}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    return make_run(tmp_path_factory.mktemp("runs") / "made", SPEC)


@pytest.fixture(scope="module")
def client(made: Dataset) -> Iterator[TestClient]:
    app = create_app(Answering(Opened(runs={"made": str(made.place)})))
    with TestClient(app, f"http://{HOST}", headers=SAME) as client:
        yield client


def test_a_download_has_the_rows_of_the_games(client: TestClient, made: Dataset) -> None:
    games = games_of(made)
    chosen = brute(games, {"result": "win", "shortest": 10})
    wanted = [row for number in chosen for row in games[number]]
    assert wanted
    asked = "/download/games?run=made&result=win&shortest=10&longest=&format="
    lines = client.get(f"{asked}jsonl")
    assert [json.loads(line) for line in lines.text.splitlines()] == wanted
    assert lines.headers["content-disposition"] == 'attachment; filename="made-games.jsonl"'
    out = BytesIO()
    shards = (rows for _, rows in made.rows())
    write_selection(shards, made.manifest, Wanted(result=1, shortest=10), "parquet", out)
    assert pq.read_table(BytesIO(out.getvalue())).to_pylist() == wanted


@pytest.mark.parametrize("name", ["other", "../made", "/etc", "made/", "made/run.json", "", ".."])
def test_what_is_not_open_is_not_found(client: TestClient, name: str) -> None:
    answers = [
        client.post("/api/run/status", json={"run": name}),
        client.get("/stream/run", params={"run": name}),
        client.get("/download/games", params={"run": name}),
    ]
    for one in answers:
        assert one.status_code == 404
        assert list(one.json()) == ["error"]


@pytest.mark.parametrize("path", ["/stream/run?run=made", "/download/games?run=made"])
@pytest.mark.parametrize("site", ["cross-site", "same-site", None])
def test_another_site_gets_no_stream(made: Dataset, path: str, site: str | None) -> None:
    app = create_app(Answering(Opened(runs={"made": str(made.place)})))
    headers = {} if site is None else {"sec-fetch-site": site}
    closed = TestClient(app, f"http://{HOST}", headers=headers)
    assert closed.get(path).status_code == 403
    assert closed.get(path, headers={"host": "evil.example", **SAME}).status_code == 400


def test_bad_requests_are_refused_and_leave_it_alive(made: Dataset) -> None:
    asyncio.run(ask_badly(made))


async def ask_badly(made: Dataset) -> None:
    answering = Answering(Opened(runs={"made": str(made.place)}))
    app = create_app(answering)
    chance = random.Random(1)
    whats = ["status", "statistics", "games", "game", "explore", "none", "../analyse"]
    bad: list[Any] = [-1, 1.5, 1 << 60, "x", None, [], {}, True, "/etc/passwd", "\0", "9" * 50]
    names = ["at", "game", "moves", "result", "shortest", "longest", "player", "mistakes", "place"]
    for number in range(1000):
        question = {"run": "made", chance.choice(names[:2]): chance.choice(bad)}
        question[chance.choice(names)] = chance.choice(bad[:-1])
        messages: list[Any] = []
        if number % 3:
            body = json.dumps(question).encode()
            await call(app, messages, f"/api/run/{chance.choice(whats)}", body=body)
        else:
            path = chance.choice(["/stream/run", "/download/games"])
            await call(app, messages, path, urlencode(question).encode())
        assert 400 <= messages[0]["status"] < 500, (question, text_of(messages))
        assert str(made.place) not in text_of(messages)
        assert "root:" not in text_of(messages)
    await call(app, messages := [], "/api/run/status", body=b'{"run": "made"}')
    assert messages[0]["status"] == 200
    await answering.close()


def test_streams_tell_what_changes_and_end_at_once(tmp_path: Path) -> None:
    make_run(tmp_path, SPEC, range(1))
    asyncio.run(follow(tmp_path))


async def follow(place: Path) -> None:
    answering = Answering(Opened(runs={"made": str(place)}))
    app = create_app(answering)
    got: list[list[Any]] = [[] for _ in range(MOST_STREAMS)]
    streams = [
        asyncio.ensure_future(call(app, messages, "/stream/run", b"run=made")) for messages in got
    ]
    await until(lambda: all("event: status" in text_of(messages) for messages in got))
    refused: list[Any] = []
    await call(app, refused, *STREAM)
    assert refused[0]["status"] == 503
    make_run(place, SPEC)
    await until(lambda: all('"shards": 6' in text_of(messages) for messages in got))
    streams.pop().cancel()
    await asyncio.sleep(0.1)
    again = asyncio.ensure_future(call(app, refused := [], *STREAM))
    await until(lambda: "event: status" in text_of(refused))
    began = time.monotonic()
    await answering.close()
    await asyncio.wait_for(asyncio.gather(again, *streams), 1)
    assert time.monotonic() - began < 1


async def call(
    app: Any, messages: list[Any], path: str, query: bytes = b"", body: bytes | None = None
) -> None:
    """Ask as a page does: by POST if there is a body. What comes is kept until it ends."""
    headers = {"host": HOST, "content-type": "application/json", **SAME}
    scope = {
        "type": "http",
        "method": "GET" if body is None else "POST",
        "path": path,
        "query_string": query,
        "headers": [(key.encode(), value.encode()) for key, value in headers.items()],
    }
    coming = iter([{"type": "http.request", "body": body or b""}])

    async def receive() -> dict[str, Any]:
        for message in coming:
            return message
        await asyncio.Event().wait()
        return {}

    async def send(message: Any) -> None:
        messages.append(message)

    with suppress(asyncio.CancelledError):
        await app(scope, receive, send)


def text_of(messages: list[Any]) -> str:
    return b"".join(message.get("body", b"") for message in messages).decode()


async def until(is_so: Any) -> None:
    for _ in range(400):
        if is_so():
            return
        await asyncio.sleep(0.05)
    raise TimeoutError
