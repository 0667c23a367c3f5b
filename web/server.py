"""The running server: uvicorn on one socket, until Ctrl-C."""

from __future__ import annotations

import socket
from collections.abc import Mapping, Sequence

from uvicorn import Config, Server

from selfplay.web.app import create_app
from selfplay.web.background import Background

_MOST_CONNECTIONS = 200


class _EndsAtOnce(Server):
    """A server that leaves no request waiting for its answer when it ends."""

    def __init__(self, config: Config, background: Background) -> None:
        super().__init__(config)
        self._background = background

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await self._background.close()
        await super().shutdown(sockets)


def serve(
    listening: socket.socket, models: Mapping[str, str], hosts: Sequence[str], token: str | None
) -> None:
    """Serve the page on this socket; Ctrl-C is a KeyboardInterrupt after everything has ended."""
    background = Background(models)
    config = Config(
        create_app(background, hosts, token),
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        http="h11",
        loop="asyncio",
        ws="none",
        lifespan="on",
        limit_concurrency=_MOST_CONNECTIONS,
        timeout_graceful_shutdown=1,
    )
    with listening:
        _EndsAtOnce(config, background).run([listening])
