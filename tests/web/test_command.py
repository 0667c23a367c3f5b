"""`selfplay web` as a process: its address, its end, and the process that thinks for it."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from threading import Thread
from urllib.request import Request, urlopen

import pytest

from selfplay.web.api import Question
from selfplay.web.background import FAILED, OK, Background
from selfplay.web.opened import Opened
from tests import ROOT
from tests.cli.command import run
from tests.web.server import GIVE_UP, serving


def test_ctrl_c_ends_it_in_the_middle_of_an_answer() -> None:
    with serving() as (process, address):
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/", address)
        assert b"<title>selfplay" in urlopen(address, timeout=GIVE_UP).read()
        asked = Request(
            f"{address}api/analyse",
            json.dumps({"player": "mcts:seconds=10"}).encode(),
            {"content-type": "application/json", "sec-fetch-site": "none"},
        )
        waiting = Thread(target=lambda: refused(asked))
        waiting.start()
        (child,) = wait_for_child(process.pid)
        process.send_signal(signal.SIGINT)
        start = time.monotonic()
        assert process.wait(GIVE_UP) == 130
        assert time.monotonic() - start < 3
        waiting.join(GIVE_UP)
        assert not Path(f"/proc/{child}").exists()


def refused(asked: Request) -> None:
    with pytest.raises(OSError, match="500"):
        urlopen(asked, timeout=GIVE_UP)


def wait_for_child(pid: int) -> list[str]:
    """The processes that a process has started."""
    for _ in range(10 * GIVE_UP):
        found = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        if found:
            return found
        time.sleep(0.1)
    raise TimeoutError


def test_the_network_needs_a_token() -> None:
    with serving("--host", "0.0.0.0", "--allowed-host", "board.example") as (process, address):
        found = re.fullmatch(r"http://board\.example:(\d+)/\?token=[\w-]{32}", address)
        assert found is not None
        with pytest.raises(OSError, match="403"):
            urlopen(f"http://127.0.0.1:{found[1]}/", timeout=GIVE_UP)
        assert process.poll() is None


def test_bad_arguments_are_refused() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        for arguments, said in (
            (["--port", str(port)], f"port {port} .*: try --port {port + 1}"),
            (["--allowed-host", "*"], "a name such as"),
            (["--host", "nowhere.invalid"], "cannot listen on"),
            (["no-such-model"], "there is no run and no model"),
        ):
            done = run("web", "--no-browser", *arguments)
            assert done.returncode == 2
            assert re.search(said, done.stderr), done.stderr
            assert done.stdout == ""


def test_a_question_is_dropped_and_the_next_is_answered() -> None:
    async def ask_and_leave() -> float:
        background = Background(Opened())
        try:
            ready = Question(moves="4435", player="mcts:50")
            with pytest.raises(TimeoutError):  # before the process is ready
                await asyncio.wait_for(background.ask("analyse", ready), 0.05)
            assert (await background.ask("analyse", ready))[0] == OK
            long = Question(moves="44", player="mcts:seconds=10")
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(background.ask("analyse", long), 1)
            start = time.monotonic()
            status, record = await background.ask("analyse", ready)
            assert (status, record["position"]) == (OK, "4435")
            return time.monotonic() - start
        finally:
            await background.close()

    assert asyncio.run(ask_and_leave()) < 8


def test_a_process_that_has_died_is_replaced() -> None:
    async def kill_and_ask() -> None:
        background = Background(Opened())
        try:
            question = Question(moves="44", player="random")
            first = await background.ask("analyse", question)
            process = await background._started()
            process.kill()
            await process.wait()
            assert (await background.ask("analyse", question))[0] == FAILED
            status, record = await background.ask("analyse", question)
            assert (status, record["move"]) == (OK, first[1]["move"])
        finally:
            await background.close()

    asyncio.run(kill_and_ask())


def test_first_page_compiles_nothing() -> None:
    """What the server imports is light: compiled code is for the process that thinks."""
    code = (
        "import sys\n"
        "from selfplay.web import app\n"
        "print({'numba', 'numpy', 'ray', 'pyarrow', 'pandas'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == "set()\n", done.stderr


def test_play_opens_the_page_with_its_players(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    served = []

    def serve(listening: socket.socket, found: Opened, *_: object) -> None:
        listening.close()
        served.append(found)

    monkeypatch.setattr("selfplay.web.server.serve", serve)
    monkeypatch.setattr("webbrowser.open", lambda _address: True)
    (tmp_path / "mine").write_bytes((ROOT / "examples" / "tree").read_bytes())
    seats = ("--x", "tree:mine,level=2", "--o", "human")
    done = run("play", "--web", *seats, "--from", "44", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    game = "moves=44&x=mine:level=2&o=human&board=7x6&connect=4&seed=0"
    assert re.fullmatch(rf"http://127\.0\.0\.1:\d+/#{game}\n", done.stdout)
    assert served == [Opened({"mine": "mine"})]
    for arguments in (["--delay", "1"], ["--o", "mcts:seconds=99"], ["--o", "py:mine.py:Mine"]):
        done = run("play", "--web", *arguments)
        assert (done.returncode, done.stdout) == (2, "")
        assert len(done.stderr.splitlines()) == 1
