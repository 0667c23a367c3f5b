"""`selfplay web`: the board in the browser."""

from __future__ import annotations

import re
import socket
import sys
from typing import Annotated

from typer import Argument, Option

from selfplay.errors import InputError, quoted

_WILDCARDS = ("0.0.0.0", "::")
_LOOPBACK = ("127.0.0.1", "::1", "localhost")


def web(
    models: Annotated[
        list[str] | None,
        Argument(metavar="MODEL", help="Model files to play, beside the bundled tree."),
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
    """Play in the browser: the board, why a tree makes its moves, and what they are worth.

    It answers to this machine only, and to its own page only. With another --host it answers to
    those who have the token in the address that it prints. Ctrl-C ends it.

    Example: selfplay web models/base --no-browser
    """
    from selfplay.web.players import names_of
    from selfplay.web.server import serve

    hosts = [_checked(name) for name in allowed_host or ()]
    named = names_of(_opened(models or []))
    listening = _listen(host, port)
    token, name = None, _in_url(host)
    if host not in _LOOPBACK:
        import secrets

        token = secrets.token_urlsafe(24)
        own = _checked(socket.gethostname()) if host in _WILDCARDS else name
        name = hosts[0] if hosts else own
        hosts.append(own)
    address = f"http://{name}:{listening.getsockname()[1]}/{f'?token={token}' if token else ''}"
    print(address, flush=True)
    print("Ctrl-C ends it", file=sys.stderr, flush=True)
    if not no_browser:
        _open_browser(address)
    serve(listening, named, hosts, token)


def _opened(models: list[str]) -> list[str]:
    """The models, after a look at each; the bundled one is there anyway."""
    if models:
        from selfplay.train.model import BASE, Model

        models = [model for model in models if model != BASE]
        for model in models:
            Model.load(model)
    return models


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
        return socket.create_server((host, port), family=family)
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
