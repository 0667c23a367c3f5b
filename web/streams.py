"""Streams: what runs become as it happens, and downloads. They end with the server."""

from __future__ import annotations

import asyncio
import json
import re
import time
from asyncio.subprocess import Process
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing, suppress
from dataclasses import asdict
from typing import Any

from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from selfplay.web.background import BAD_INPUT, OK, Background, start
from selfplay.web.run_questions import RunQuestion

MOST_STREAMS = 16

_PAUSE, _LONGEST_PAUSE, _HEARTBEAT = 1.0, 3.0, 10.0
_CHANGES_ALWAYS = "seconds_since_last"
_PIECE = 1 << 16
_READY = b"+"
"""What `download` begins with if the run and the question are sound; it is not sent on."""
_EVENTS = "text/event-stream"
_END = {"type": "http.response.body", "body": b"", "more_body": False}
_TYPES = {"jsonl": "application/x-ndjson", "parquet": "application/vnd.apache.parquet"}

Parts = AsyncGenerator[bytes, None]


class Streams:
    """All streams of the server, which are bounded."""

    def __init__(self, runs: Background) -> None:
        self._runs = runs
        self._open = 0
        self.closing = asyncio.Event()
        self._latest: dict[str, tuple[float, asyncio.Task[tuple[int, dict[str, Any]]]]] = {}

    def close(self) -> None:
        self.closing.set()

    def status(self, question: RunQuestion) -> Response:
        """The status of a run as Server-sent events: whenever it changes, and as a heartbeat."""
        self._count()
        return _Stream(self._events(question), self.closing, self.release, _EVENTS, {})

    async def download(self, question: RunQuestion, place: str, form: str) -> Response:
        """The rows of the games that a question asks for. A process of its own reads them, no
        faster than they are fetched."""
        if form not in _TYPES:
            raise HTTPException(400, f"a format is one of {', '.join(_TYPES)}")
        self._count()
        process = None
        try:
            process = await start("selfplay.web.download", [place, asdict(question), form])
            if await _read(process, len(_READY)) != _READY:
                raise HTTPException(BAD_INPUT, "these rows cannot be read: see the run's page")
        except BaseException:
            _kill(process)
            self.release()
            raise

        name = re.sub(r"[^A-Za-z0-9_.-]", "_", question.run)
        headers = {"Content-Disposition": f'attachment; filename="{name}-games.{form}"'}

        def release() -> None:
            _kill(process)
            self.release()

        return _Stream(_pieces(process), self.closing, release, _TYPES[form], headers)

    def _count(self) -> None:
        if self._open >= MOST_STREAMS or self.closing.is_set():
            raise HTTPException(503, f"at most {MOST_STREAMS} streams are open at once")
        self._open += 1

    def release(self) -> None:
        self._open -= 1

    async def _events(self, question: RunQuestion) -> Parts:
        shown: object = None
        said, pause = 0.0, _PAUSE
        while True:
            began = time.monotonic()
            status, record = await self._newest(question)
            taken = time.monotonic() - began
            what = "status" if status == OK else "problem"
            lasting = _without_clock(record)
            if lasting != shown or began - said > _HEARTBEAT:
                shown, said = lasting, began
                yield f"event: {what}\ndata: {json.dumps(record)}\n\n".encode()
            if not _is_partial(record):
                await asyncio.sleep(pause)
                pause = min(max(_PAUSE, 5 * taken), _LONGEST_PAUSE)

    async def _newest(self, question: RunQuestion) -> tuple[int, dict[str, Any]]:
        """The status of a run, asked once for all streams."""
        asked, task = self._latest.get(question.run, (0.0, None))
        if task is None or (
            task.done() and (time.monotonic() - asked > _PAUSE / 2 or _is_partial(task.result()[1]))
        ):
            task = asyncio.ensure_future(self._runs.ask("status", question))
            self._latest[question.run] = time.monotonic(), task
        return await asyncio.shield(task)


class _Stream(Response):
    """A response that is sent while it comes about, until the page leaves or the server ends."""

    def __init__(
        self,
        parts: Parts,
        closing: asyncio.Event,
        release: Callable[[], None],
        media_type: str,
        headers: Mapping[str, str],
    ) -> None:
        super().__init__(None, headers=headers, media_type=media_type)
        del self.headers["content-length"]
        self._parts, self._closing, self._release = parts, closing, release

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        tasks = [
            asyncio.ensure_future(one)
            for one in (self._send(send), _until_it_leaves(receive), self._closing.wait())
        ]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            self._release()
            if self.media_type == _EVENTS and self._closing.is_set():
                await send(_END)

    async def _send(self, send: Send) -> None:
        """Send all parts; without the last line, the page knows that it is not all."""
        start = {"type": "http.response.start", "status": OK, "headers": self.raw_headers}
        async with aclosing(self._parts) as parts:
            await send(start)
            async for part in parts:
                await send({"type": "http.response.body", "body": part, "more_body": True})
        await send(_END)


async def _until_it_leaves(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _pieces(process: Process) -> Parts:
    """What a process writes."""
    while piece := await _read(process, _PIECE):
        yield piece
    if code := await process.wait():
        raise OSError(f"the download ended with exit code {code}")


async def _read(process: Process, most: int) -> bytes:
    assert process.stdout is not None
    return await process.stdout.read(most)


def _kill(process: Process | None) -> None:
    if process is not None:
        with suppress(ProcessLookupError):
            process.kill()


def _is_partial(record: Mapping[str, Any]) -> bool:
    """Whether there are footers left to read: the next answer has more."""
    return record.get("read") != record.get("files")


def _without_clock(record: Mapping[str, Any]) -> object:
    status = {**record.get("status", {}), _CHANGES_ALWAYS: None}
    return {**record, "status": status}
