"""The routes of the pages about runs."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Route

from selfplay.web.bodies import content_of
from selfplay.web.run_questions import NotOpenedError, RunQuestion
from selfplay.web.streams import Streams

if TYPE_CHECKING:
    from selfplay.web.background import Background

STREAMS = ("/stream/", "/download/")
"""Addresses of what is asked by GET, and yet only by pages."""

QUESTIONS = ("status", "statistics", "games", "game", "explore")

_PAGE = Path(__file__).parent / "static" / "run.html"
_FORMAT = "format"


def run_routes(runs: Background, streams: Streams) -> list[Route]:
    """What pages may ask about the opened runs."""

    def checked(question: RunQuestion) -> tuple[RunQuestion, str]:
        try:
            return question, question.place(runs.opened)
        except NotOpenedError as error:
            raise HTTPException(404, str(error)) from None

    async def page(_request: Request) -> Response:
        return FileResponse(_PAGE)

    async def opened(_request: Request) -> Response:
        kinds = ("models", "runs", "tournaments")
        return JSONResponse({kind: list(getattr(runs.opened, kind)) for kind in kinds})

    async def answer(request: Request) -> Response:
        what = request.path_params["what"]
        if what not in QUESTIONS:
            raise HTTPException(404, "there is no such question")
        question, _ = checked(RunQuestion.of(await content_of(request)))
        # It takes a part of a second: it is not dropped if the page leaves.
        status, record = await asyncio.shield(runs.ask(what, question))
        return JSONResponse(record, status)

    async def stream(request: Request) -> Response:
        question, _ = checked(RunQuestion.of_query(request.query_params))
        return streams.status(question)

    async def download(request: Request) -> Response:
        query = dict(request.query_params)
        form = query.pop(_FORMAT, "jsonl")
        question, place = checked(RunQuestion.of_query(query))
        return await streams.download(question, place, form)

    return [
        Route("/run", page),
        Route("/api/opened", opened),
        Route("/api/run/{what}", answer, methods=["POST"]),
        Route("/stream/run", stream),
        Route("/download/games", download),
    ]
