"""The server of the page: routes, limits and headers. It is closed to everybody but its page."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from http.cookies import CookieError, SimpleCookie
from pathlib import Path
from typing import TypeVar
from urllib.parse import parse_qs

from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from selfplay.errors import InputError, printable, without_keys
from selfplay.web import api
from selfplay.web.answers import ANSWERS
from selfplay.web.asked import Asked
from selfplay.web.background import RUNS, Background
from selfplay.web.bodies import content_of
from selfplay.web.opened import Opened
from selfplay.web.players import BUNDLED, OFFERED
from selfplay.web.run_routes import STREAMS, run_routes
from selfplay.web.streams import Streams

LOCAL_HOSTS = ("localhost", "127.0.0.1", "[::1]")
_LEFT = 499
"""The page has left before the answer; nobody reads it."""

A = TypeVar("A", bound=Asked)

_NOT_FROM_PAGE = "only the page itself may ask"
_PAGES = {"/": "index.html", "/model": "model.html", "/tournament": "tournament.html"}
_STATIC = Path(__file__).parent / "static"
_COOKIE = "selfplay-token"
_HEADERS = {
    "Content-Security-Policy": "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; "
    "form-action 'self'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-cache",
}


class Answering:
    """The processes that answer the pages, and the streams to them."""

    def __init__(self, opened: Opened) -> None:
        self.positions = Background(opened)
        self.runs = Background(opened, RUNS)
        self.streams = Streams(self.runs)

    async def close(self) -> None:
        """End them at once; whoever waits for an answer is told."""
        self.streams.close()
        await self.runs.close()
        await self.positions.close()


def create_app(
    answering: Answering, hosts: Sequence[str] = (), token: str | None = None
) -> ASGIApp:
    """The server of the pages. It answers to local hosts and `hosts`; with a token, only to those
    who have it."""
    background = answering.positions

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        if answering.runs.opened.runs:
            answering.runs.prepare()
        try:
            yield
        finally:
            await answering.close()

    async def players(_request: Request) -> Response:
        trees = [BUNDLED, *background.opened.models]
        return JSONResponse({"trees": trees, "players": OFFERED})

    async def position(request: Request) -> Response:
        return JSONResponse(api.position(await _question(request, api.Question)))

    async def answer(request: Request) -> Response:
        what = request.path_params["what"]
        if what not in ANSWERS:
            raise HTTPException(404)
        return await _answer(request, background, what)

    app = Starlette(
        routes=[
            *(Route(path, partial(_page, file)) for path, file in _PAGES.items()),
            Route("/api/players", players),
            Route("/api/position", position, methods=["POST"]),
            *run_routes(answering.runs, answering.streams),
            Route("/api/{what}", answer, methods=["POST"]),
            Mount("/static", StaticFiles(directory=_STATIC)),
        ],
        exception_handlers={InputError: _refuse_input, HTTPException: _refuse},
        lifespan=lifespan,
    )
    guarded = Guard(app, token)
    trusted = TrustedHostMiddleware(guarded, [*LOCAL_HOSTS, *hosts], www_redirect=False)
    return WithHeaders(trusted)


async def _page(file: str, _request: Request) -> Response:
    return FileResponse(_STATIC / file)


async def _question(request: Request, asked: type[A]) -> A:
    return asked.of(await content_of(request))


async def _answer(request: Request, background: Background, what: str) -> Response:
    """The answer to a question, which is dropped if the page leaves."""
    question = await _question(request, ANSWERS[what].asked)
    asking = asyncio.create_task(background.ask(what, question))
    leaving = asyncio.create_task(_until_it_leaves(request))
    try:
        await asyncio.wait({asking, leaving}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        leaving.cancel()
        if not asking.done():
            asking.cancel()
    try:
        status, record = await asking
    except asyncio.CancelledError:
        return Response(status_code=_LEFT)
    return JSONResponse(record, status)


async def _until_it_leaves(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _refuse_input(_request: Request, error: Exception) -> Response:
    return JSONResponse({"error": printable(without_keys(str(error)))}, 400)


def _refuse(_request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return JSONResponse({"error": error.detail}, error.status_code, error.headers)


class WithHeaders:
    """Adds the headers that close a page to others, also to refusals and errors."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(_HEADERS)
            await send(message)

        with suppress(ClientDisconnect):  # in the middle of its question
            await self._app(scope, receive, send_with_headers)


class Guard:
    """Refuses what does not come from the page itself: other sites, forms, those without token."""

    def __init__(self, app: ASGIApp, token: str | None) -> None:
        self._app, self._token = app, token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        app = self._app
        if scope["type"] == "http":
            app = self._refusal(scope) or app
        elif scope["type"] != "lifespan":
            return
        await app(scope, receive, send)

    def _refusal(self, scope: Scope) -> Response | None:
        """What is sent in place of an answer, if anything."""
        headers = Headers(scope=scope)
        if self._token is not None:
            query = parse_qs(scope["query_string"].decode("latin-1"))
            if scope["path"] == "/" and self._is_token(query.get("token", [""])[0]):
                welcome = RedirectResponse("/", 303)  # to an address that can be shown
                welcome.set_cookie(_COOKIE, self._token, httponly=True, samesite="strict")
                return welcome
            if not self._is_token(_cookie(headers)):
                return _error(403, "open the address with the token that `selfplay web` printed")
        if scope["method"] != "POST":
            is_stream = scope["path"].startswith(STREAMS)
            return _error(403, _NOT_FROM_PAGE) if is_stream and not _is_from_page(headers) else None
        if not _is_from_page(headers):
            return _error(403, _NOT_FROM_PAGE)
        if headers.get("content-type", "").partition(";")[0].strip() != "application/json":
            return _error(415, "a question is application/json")
        return None

    def _is_token(self, text: str) -> bool:
        assert self._token is not None
        return secrets.compare_digest(text.encode(), self._token.encode())


def _cookie(headers: Headers) -> str:
    try:
        found = SimpleCookie(headers.get("cookie", "")).get(_COOKIE)
    except CookieError:
        return ""
    return "" if found is None else found.value


def _is_from_page(headers: Headers) -> bool:
    """Whether a browser says that the page asks, or a person in the address line."""
    site = headers.get("sec-fetch-site")
    if site is not None:
        return site in ("same-origin", "none")
    origin = headers.get("origin", "")
    return origin.partition("://")[2] == headers.get("host") and origin.startswith("http")


def _error(status: int, text: str) -> Response:
    return JSONResponse({"error": text}, status)
