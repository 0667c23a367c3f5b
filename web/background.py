"""The process that thinks for the pages: it answers one question at a time, and drops it if told.

The server never waits for compiled code, and the process gives way to others on the machine.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

import selfplay
from selfplay.errors import InputError, PlayerError, printable, without_keys
from selfplay.web.api import ANSWERS, Models, Question

LONGEST_SECONDS = 60.0
"""For an answer; the first one on a board may have to compile."""
_SECONDS_TO_DROP = 60.0
_MOST_BYTES = 1 << 20
_NICENESS = 5

OK, BAD_INPUT, FAILED, TOO_LONG = 200, 400, 500, 503


class Background:
    """The process, seen from the server. It starts with the first question."""

    def __init__(self, models: Mapping[str, str]) -> None:
        self.models = models
        self._turn = asyncio.Lock()
        self._is_closed = False
        self._starting: asyncio.Future[Process] | None = None

    async def ask(self, what: str, question: Question) -> tuple[int, dict[str, Any]]:
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
                return FAILED, {"error": "the process that thinks has ended: ask again"}
        status, record = json.loads(answer)
        return status, record

    async def close(self) -> None:
        """End the process; whoever waits for an answer is told."""
        self._is_closed = True
        await self._kill()

    async def _started(self) -> Process:
        if self._starting is None:
            self._starting = asyncio.ensure_future(self._start())
        return await asyncio.shield(self._starting)

    async def _start(self) -> Process:
        here = str(Path(selfplay.__file__).parents[1])
        path = os.pathsep.join(filter(None, [here, os.environ.get("PYTHONPATH")]))
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", "selfplay.web.background"),
            *(json.dumps(dict(self.models)),),
            stdin=PIPE,
            stdout=PIPE,
            env={**os.environ, "PYTHONPATH": path},
            limit=_MOST_BYTES,
            start_new_session=True,  # Ctrl-C is for the server
        )
        assert process.stdout is not None
        await process.stdout.readline()  # from here on it can be told to drop a question
        return process

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
        starting, self._starting = self._starting, None
        if starting is not None:
            process = await starting
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()


class _Worker:
    """The process from inside: lines of JSON in, lines of JSON out."""

    def __init__(self, models: Models) -> None:
        self._models = models
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
            status, record = self._answered(asked["what"], asked["question"])
            answers.write(json.dumps([status, record]).encode() + b"\n")
            answers.flush()

    def _answered(self, what: str, question: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        try:
            self._is_answering = True
            record = ANSWERS[what](Question.of(question), self._models)
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
    _Worker(json.loads(sys.argv[1])).run(sys.stdin.buffer, answers)


if __name__ == "__main__":
    main()
