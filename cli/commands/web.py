"""`selfplay web`: the board, and runs, in the browser."""

from __future__ import annotations

import re
import socket
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlencode

from typer import Argument, Option

from selfplay.errors import InputError, quoted

if TYPE_CHECKING:
    from selfplay.game.position import Position
    from selfplay.registry import PlayerSpec

_WILDCARDS = ("0.0.0.0", "::")
_LOOPBACK = ("127.0.0.1", "::1", "localhost")


def web(
    what: Annotated[
        list[str] | None,
        Argument(
            metavar="[RUN|MODEL|TOURNAMENT|FOLDER]...",
            help="Runs to look at, models to play beside the bundled tree, what `arena --out` "
            "wrote, or folders of such; paths or URIs.",
        ),
    ] = None,
    port: Annotated[int, Option(min=0, max=65535, help="Port; 0 takes any free one.")] = 8765,
    host: Annotated[
        str, Option(metavar="ADDRESS", help="Address to listen on; 0.0.0.0 for the network.")
    ] = "127.0.0.1",
    allowed_host: Annotated[
        list[str] | None,
        Option(metavar="NAME", help="A name under which browsers may reach it, too; repeatable."),
    ] = None,
    no_browser: Annotated[
        bool, Option("--no-browser", help="Only print the address; do not open it.")
    ] = False,
) -> None:
    """Play in the browser, see why a tree makes its moves, and look at runs.

    It answers to this machine only, and to its own page only. With another --host it answers to
    those who have the token in the address that it prints. Ctrl-C ends it.

    Example: selfplay web models/base examples/tiny --no-browser
    """
    from selfplay.web.opened import opened
    from selfplay.web.server import serve

    hosts = [_checked(name) for name in allowed_host or ()]
    found = opened(what or [])
    listening = _listen(host, port)
    token, name = None, _in_url(host)
    if host not in _LOOPBACK:
        import secrets

        token = secrets.token_urlsafe(24)
        own = _checked(socket.gethostname()) if host in _WILDCARDS else name
        name = hosts[0] if hosts else own
        hosts.append(own)
    place = f"{name}:{listening.getsockname()[1]}"
    _announce(f"http://{place}/{f'?token={token}' if token else ''}", opens=not no_browser)
    serve(listening, found, hosts, token)


def play_in_browser(players: Sequence[PlayerSpec | None], begin: Position, seed: int) -> None:
    """Serve the page with a game of these players; None is a person."""
    from selfplay.web.opened import opened
    from selfplay.web.players import BUNDLED, name_on_page, spec_of
    from selfplay.web.server import serve

    found = opened([spec.options.model for spec in players if spec and spec.name == BUNDLED])
    names = ["human" if spec is None else name_on_page(spec, found.models) for spec in players]
    for name in names:
        if name != "human":
            spec_of(name, found.models)
    listening = _listen(_LOOPBACK[0], 0)
    board = begin.board
    game = {"moves": begin.notation or "", "x": names[0], "o": names[1], "board": board.size}
    fragment = urlencode({**game, "connect": board.connect, "seed": seed}, safe=":,=")
    place = f"{_LOOPBACK[0]}:{listening.getsockname()[1]}"
    _announce(f"http://{place}/#{fragment}", opens=True)
    serve(listening, found, [], None)


def _announce(address: str, *, opens: bool) -> None:
    print(address, flush=True)
    print("Ctrl-C ends it", file=sys.stderr, flush=True)
    if opens:
        _open_browser(address)


def _checked(name: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9_.-]+|\[[0-9A-Fa-f:]+\]", name):
        raise InputError(
            f"--allowed-host is a name such as board.example.org, not {quoted(name)}: no port, no *"
        )
    return name


def _in_url(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _listen(host: str, port: int) -> socket.socket:
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listening = socket.create_server((host, port), family=family)
        # asyncio does this only for sockets that name their protocol: answers would wait 40 ms.
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return listening
    except OSError as error:
        other = f": try --port {port + 1}" if port < 65535 else ""
        raise InputError(
            f"cannot listen on {quoted(host)}, port {port} ({error.strerror}){other}"
        ) from None


def _open_browser(address: str) -> None:
    """Open the page; the connection waits until the server takes it."""
    import webbrowser
    from threading import Thread

    Thread(target=webbrowser.open, args=[address], daemon=True).start()
