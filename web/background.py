"""The processes that answer the pages: each one question at a time, which it drops if told.

One thinks about positions, one reads runs, so that reading never waits for a search. The server
never waits for compiled code or for a disk, and the processes give way to others on the machine.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import selfplay
from selfplay.errors import InputError, PlayerError, printable, without_keys
from selfplay.web.opened import Opened

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

LONGEST_SECONDS = 60.0
"""For an answer; the first one on a board may have to compile."""
_SECONDS_TO_DROP = 60.0
_MOST_BYTES = 1 << 22
_NICENESS = 5

POSITIONS, RUNS = "selfplay.web.answers", "selfplay.web.run_data"
"""Modules whose function `answer` answers."""

Answer = Callable[[str, object, Opened], dict[str, Any]]

OK, BAD_INPUT, FAILED, TOO_LONG = 200, 400, 500, 503


class Background:
    """A process, seen from the server. It starts with the first question."""

    def __init__(self, opened: Opened, module: str = POSITIONS) -> None:
        self.opened = opened
        self._module = module
        self._turn = asyncio.Lock()
        self._is_closed = False
        self._starting: asyncio.Future[Process] | None = None
        self._ready: asyncio.Future[bytes] | None = None

    async def ask(self, what: str, question: DataclassInstance) -> tuple[int, dict[str, Any]]:
        """A status as of HTTP, and the answer. If cancelled, the question is dropped."""
        async with self._turn:
            if self._is_closed:
                return FAILED, {"error": "the server is ending"}
            process = await self._started()
            assert process.stdin is not None
            assert process.stdout is not None
            line = json.dumps({"what": what, "question": asdict(question)})
            process.stdin.write(line.encode() + b"\n")
            reading = asyncio.ensure_future(process.stdout.readline())
            try:
                answer = await asyncio.wait_for(asyncio.shield(reading), LONGEST_SECONDS)
            except TimeoutError:
                await self._drop(process, reading)
                return TOO_LONG, {"error": f"it took more than {LONGEST_SECONDS:.0f} s"}
            except asyncio.CancelledError:
                await self._drop(process, reading)
                raise
            if not answer:
                await self._kill()
                return FAILED, {"error": "the process that answers has ended: ask again"}
        status, record = json.loads(answer)
        return status, record

    def prepare(self) -> None:
        """Start the process before there is a question, without waiting for it."""
        if self._starting is None:
            self._starting = asyncio.ensure_future(self._start())

    async def close(self) -> None:
        """End the process; whoever waits for an answer is told."""
        self._is_closed = True
        await self._kill()

    async def _started(self) -> Process:
        self.prepare()
        assert self._starting is not None
        process = await asyncio.shield(self._starting)
        assert process.stdout is not None
        if self._ready is None:
            self._ready = asyncio.ensure_future(process.stdout.readline())
        await asyncio.shield(self._ready)  # from here on it can be told to drop a question
        return process

    async def _start(self) -> Process:
        argument = [self._module, asdict(self.opened)]
        return await start("selfplay.web.background", argument, stdin=PIPE)

    async def _drop(self, process: Process, reading: asyncio.Future[bytes]) -> None:
        """Have a question dropped; a process that does not is ended."""
        with suppress(ProcessLookupError):
            process.send_signal(signal.SIGINT)
        answer = b""
        with suppress(TimeoutError, asyncio.CancelledError):
            answer = await asyncio.wait_for(reading, _SECONDS_TO_DROP)
        if not answer:
            await self._kill()

    async def _kill(self) -> None:
        starting, self._starting, self._ready = self._starting, None, None
        if starting is not None:
            process = await starting
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()


async def start(module: str, argument: object, stdin: int = DEVNULL) -> Process:
    """A process of this module, with an argument as JSON, whose stdout is read."""
    here = str(Path(selfplay.__file__).parents[1])
    path = os.pathsep.join(filter(None, [here, os.environ.get("PYTHONPATH")]))
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-m", module, json.dumps(argument)),
        stdin=stdin,
        stdout=PIPE,
        env={**os.environ, "PYTHONPATH": path},
        limit=_MOST_BYTES,
        start_new_session=True,  # Ctrl-C is for the server
    )


class _Worker:
    """The process from inside: lines of JSON in, lines of JSON out."""

    def __init__(self, answer: Answer, opened: Opened) -> None:
        self._answer, self._opened = answer, opened
        self._is_answering = False

    def drop(self, *_: object) -> None:
        """Handle SIGINT: it stops a question, once, and nothing else."""
        if self._is_answering:
            self._is_answering = False
            raise KeyboardInterrupt

    def run(self, questions: IO[bytes], answers: IO[bytes]) -> None:
        signal.signal(signal.SIGINT, self.drop)
        answers.write(b"ready\n")
        answers.flush()
        for line in questions:
            asked = json.loads(line)
            answer = json.dumps(self._answered(asked["what"], asked["question"])).encode()
            if len(answer) >= _MOST_BYTES:
                answer = json.dumps([FAILED, {"error": "the answer is too long"}]).encode()
            answers.write(answer + b"\n")
            answers.flush()

    def _answered(self, what: str, question: object) -> tuple[int, dict[str, Any]]:
        try:
            self._is_answering = True
            record = self._answer(what, question, self._opened)
            self._is_answering = False
            return OK, record
        except KeyboardInterrupt:
            return TOO_LONG, {"error": "dropped"}
        except InputError as error:
            return BAD_INPUT, {"error": printable(without_keys(str(error)))}
        except PlayerError as error:
            return FAILED, {"error": printable(without_keys(str(error)))}
        except MemoryError:
            return FAILED, {"error": "not enough memory"}
        except Exception as error:
            print(f"selfplay: {what}: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
            return FAILED, {"error": f"this is a bug: {type(error).__name__}"}
        finally:
            self._is_answering = False


def main() -> None:
    os.nice(_NICENESS)
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no answer
    module, opened = json.loads(sys.argv[1])
    _Worker(import_module(module).answer, Opened(**opened)).run(sys.stdin.buffer, answers)


if __name__ == "__main__":
    main()
