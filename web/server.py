"""The running server: uvicorn on one socket, until Ctrl-C."""

from __future__ import annotations

import socket
from collections.abc import Sequence

from uvicorn import Config, Server

from selfplay.web.app import Answering, create_app
from selfplay.web.opened import Opened

_MOST_CONNECTIONS = 200


class _EndsAtOnce(Server):
    """A server that leaves no request waiting for its answer when it ends."""

    def __init__(self, config: Config, answering: Answering) -> None:
        super().__init__(config)
        self._answering = answering

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await self._answering.close()
        await super().shutdown(sockets)


def serve(
    listening: socket.socket, opened: Opened, hosts: Sequence[str], token: str | None
) -> None:
    """Serve the pages on this socket; Ctrl-C is a KeyboardInterrupt after everything has ended."""
    answering = Answering(opened)
    config = Config(
        create_app(answering, hosts, token),
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
        _EndsAtOnce(config, answering).run([listening])
