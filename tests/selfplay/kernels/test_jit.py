"""How compiled code is kept: in processes of their own, with a cache of their own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests import ROOT

SEARCH = [sys.executable, "-m", "selfplay", "analyse", "2", "--board", "4x4"]
SEARCH += ["--player", "minimax:2", "--json"]


def environment(cache: Path) -> dict[str, str]:
    return {**os.environ, "NUMBA_CACHE_DIR": str(cache), "PYTHONPATH": str(ROOT)}


def test_processes_that_start_together_agree_and_damaged_code_is_made_anew(tmp_path: Path) -> None:
    started = [
        subprocess.Popen(SEARCH, env=environment(tmp_path), stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    outputs = {process.communicate()[0].partition('"seconds"')[0] for process in started}
    assert len(outputs) == 1
    assert [process.returncode for process in started] == [0, 0, 0]
    kept = [path for path in tmp_path.rglob("*.nb?") if path.is_file()]
    assert kept
    for number, path in enumerate(kept):
        path.write_bytes(path.read_bytes()[: 100 * (number % 2)])
    again = subprocess.run(SEARCH, env=environment(tmp_path), capture_output=True, text=True)
    assert (again.returncode, again.stderr) == (0, "")
    assert again.stdout.partition('"seconds"')[0] in outputs


def test_ctrl_c_while_compiling_waits_for_the_compiler(tmp_path: Path) -> None:
    process = subprocess.Popen(
        SEARCH, env=environment(tmp_path), stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    # The lock's file appears as the first function is about to be compiled.
    while not list(tmp_path.rglob("lock")):
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate()
    assert (process.returncode, output, errors) == (130, "", "selfplay: interrupted\n")


CALLER = """
from selfplay.kernels.jit import kernel
from {package}.helper import step

@kernel
def count(n):
    return step(n)
"""
HELPER = """
from selfplay.kernels.jit import inline

@inline
def step(n):
    return n + {amount}
"""


def test_a_change_in_what_a_kernel_calls_is_seen(tmp_path: Path) -> None:
    package = tmp_path / "elsewhere"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "caller.py").write_text(CALLER.format(package="elsewhere"))
    command = [sys.executable, "-c", "from elsewhere.caller import count; print(count(1))"]
    found = []
    for amount in (1, 100):
        (package / "helper.py").write_text(HELPER.format(amount=amount))
        done = subprocess.run(
            command,
            env={**environment(tmp_path / "cache"), "PYTHONPATH": f"{ROOT}:{tmp_path}"},
            capture_output=True,
            text=True,
            check=True,
        )
        found.append(int(done.stdout))
    assert found == [2, 101]


FORK = """
import os, threading
from selfplay import Board
from selfplay.kernels import jit as compiled
from selfplay.minimax.player import GreedyPlayer

started = threading.Event()
compiled.before_first_compilation(started.set)
thread = threading.Thread(target=lambda: GreedyPlayer(Board()))
thread.start()
started.wait()
wait, done = os.pipe()
if os.fork() == 0:
    os.close(done)
    os.read(wait, 1)  # until the parent is through: the lock's file is open here, too
    os._exit(0)
thread.join()
print("through")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_fork_while_another_thread_compiles_blocks_nobody(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORK],
        env=environment(tmp_path),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (done.stdout, done.stderr) == ("through\n", "")


THREADS = """
from concurrent.futures import ThreadPoolExecutor
from selfplay import Board, Position
from selfplay.minimax.player import GreedyPlayer

def search(seed):
    player = GreedyPlayer(Board())
    player.new_game(1)
    return player.decide(Position()).evaluations

with ThreadPoolExecutor(8) as pool:
    print(len(set(pool.map(search, range(8)))))
"""


def test_threads_that_start_together_agree(tmp_path: Path) -> None:
    for _ in ("compiling", "loading"):
        done = subprocess.run(
            [sys.executable, "-c", THREADS],
            env=environment(tmp_path),
            capture_output=True,
            text=True,
        )
        assert (done.stdout, done.stderr) == ("1\n", "")


def test_where_nothing_can_be_written_it_works_all_the_same(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    done = subprocess.run(SEARCH, env=environment(file), capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
