"""The body of a request, as JSON within bounds."""

from __future__ import annotations

import json

from starlette.exceptions import HTTPException
from starlette.requests import Request

from selfplay.errors import InputError

MOST_BODY = 64_000


async def content_of(request: Request) -> object:
    """The JSON of a request's body, which is not read beyond its bound."""
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > MOST_BODY:
            raise HTTPException(413, f"a question has at most {MOST_BODY:,} bytes")
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise InputError("a question is a JSON object") from None
