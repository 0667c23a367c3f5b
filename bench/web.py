"""The browser's server: how soon it is there, how fast it answers, how much memory it takes."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from http.client import HTTPConnection
from statistics import median
from typing import Any
from urllib.parse import urlsplit

from bench.report import Table
from selfplay.game.board import Board
from selfplay.game.openings import RandomPlies

STARTS, MOVES, POSITIONS, QUESTIONS, PAGES = 5, 100, 20, 2000, 4

HEADERS = {"Content-Type": "application/json", "Sec-Fetch-Site": "none"}


@contextmanager
def serving() -> Iterator[tuple[subprocess.Popen[str], str]]:
    """`selfplay web`, and its address."""
    command = [sys.executable, "-m", "selfplay", "web", "--no-browser", "--port", "0"]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    try:
        assert process.stdout is not None
        yield process, urlsplit(process.stdout.readline().strip()).netloc
    finally:
        process.send_signal(signal.SIGINT)
        process.wait()


class Page:
    """A connection that is kept."""

    def __init__(self, host: str) -> None:
        self._connection = HTTPConnection(host, timeout=120)

    def get(self, path: str) -> bytes:
        self._connection.request("GET", path)
        return self._connection.getresponse().read()

    def ask(self, what: str, **question: Any) -> Any:
        self._connection.request("POST", f"/api/{what}", json.dumps(question), HEADERS)
        answer = self._connection.getresponse()
        record = json.loads(answer.read())
        assert answer.status == 200, record
        return record


def seconds_of(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def first_board() -> float:
    """Seconds from the command to the page, its rules and its first position."""
    start = time.perf_counter()
    with serving() as (_, host):
        page = Page(host)
        for path in ("/", "/static/page.js", "/api/players"):
            page.get(path)
        page.ask("position")
        return time.perf_counter() - start


def asked_for(host: str, count: int) -> None:
    page = Page(host)
    for _ in range(count):
        page.ask("position", moves="44352")


def megabytes(process: int) -> float:
    """The memory of a process and of those that it started."""
    listed = subprocess.run(
        ["ps", "-eo", "pid,ppid,rss"], capture_output=True, text=True, check=True
    )
    rows = [tuple(map(int, line.split())) for line in listed.stdout.splitlines()[1:]]
    found = {process}
    for pid, parent, _ in sorted(rows):
        if parent in found:
            found.add(pid)
    return sum(memory for pid, _, memory in rows if pid in found) / 1024


def web() -> list[Table]:
    starts = [first_board() for _ in range(STARTS)]
    with serving() as (process, host):
        page = Page(host)
        page.ask("analyse", player="tree", moves="4")  # which compiles or loads
        moves = [
            seconds_of(lambda: page.ask("analyse", player="tree", moves="44352"))
            for _ in range(MOVES)
        ]
        asked_values = partial(page.ask, "values")
        asked_values(moves="44352")
        openings = [RandomPlies(Board(), 12, 12).opening(1, game) for game in range(POSITIONS)]
        values = [seconds_of(partial(asked_values, moves=each.notation)) for each in openings]
        with ThreadPoolExecutor(PAGES) as pages:
            each = QUESTIONS // PAGES
            taken = seconds_of(lambda: list(pages.map(asked_for, [host] * PAGES, [each] * PAGES)))
        memory = megabytes(process.pid)
    rows = (
        ("first board, from the command on, s", (median(starts),)),
        ("a move of the tree, ms", (1000 * median(moves),)),
        (f"game values of 12 random stones, the slowest of {POSITIONS}, s", (max(values),)),
        (f"positions a second, {PAGES} pages", (QUESTIONS / taken,)),
        ("memory of the server and its process, MB", (memory,)),
    )
    return [Table("The browser's server", ("",), rows)]
