"""A real S3 protocol server on this machine, and a way to have it fail."""

from __future__ import annotations

import http.client
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest


@pytest.fixture(scope="session")
def s3_server() -> Iterator[int]:
    """The port of an S3 server in a process of its own."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    server = subprocess.Popen(
        [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        for _ in range(300):
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                time.sleep(0.1)
        yield port
    finally:
        server.terminate()
        server.wait()


@dataclass
class Store:
    """An object store as a test sees it: every request passes by here."""

    uri: str
    fail: Callable[[str, str, int], str | None] = lambda verb, path, number: None
    """Of a request's verb, path and number: a status and an error to answer with instead, such as
    `503 SlowDown`, or `hang up`, or None."""
    requests: list[str] = field(default_factory=list)


@pytest.fixture
def store(
    s3_server: int, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> Iterator[Store]:
    """A new bucket, reached through a proxy that may fail."""
    bucket = "b" + re.sub("[^a-z0-9]", "", request.node.name.lower())[:40]
    found = Store(f"s3://{bucket}/run")

    class Proxy(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle_any(self) -> None:
            found.requests.append(f"{self.command} {self.path}")
            fault = found.fail(self.command, self.path, len(found.requests))
            if fault == "hang up":
                self.rfile.read(min(100, int(self.headers.get("Content-Length") or 0)))
                self.close_connection = True
                self.connection.close()
                return
            body = self.body()
            if fault is not None:
                status, code = fault.split()
                text = f"<Error><Code>{code}</Code><Message>no</Message></Error>".encode()
                self.answer(int(status), [("Content-Type", "application/xml")], text)
                return
            upstream = http.client.HTTPConnection("127.0.0.1", s3_server)
            passed = {
                name: value
                for name, value in self.headers.items()
                if name.lower() not in ("transfer-encoding", "content-length", "expect")
            }
            upstream.request(self.command, self.path, body, passed)
            response = upstream.getresponse()
            data = response.read()
            skipped = ("content-length", "transfer-encoding", "connection", "date", "server")
            headers = [(n, v) for n, v in response.getheaders() if n.lower() not in skipped]
            upstream.close()
            if self.command == "HEAD":
                headers.append(("Content-Length", response.getheader("Content-Length") or "0"))
            self.answer(response.status, headers, data)

        def body(self) -> bytes:
            if self.headers.get("Transfer-Encoding") != "chunked":
                return self.rfile.read(int(self.headers.get("Content-Length") or 0))
            parts = []
            while size := int(self.rfile.readline(), 16):
                parts.append(self.rfile.read(size))
                self.rfile.readline()
            while self.rfile.readline().strip():
                pass
            return b"".join(parts)

        def answer(self, status: int, headers: list[tuple[str, str]], data: bytes) -> None:
            self.send_response(status)
            for name, value in headers:
                self.send_header(name, value)
            if self.command != "HEAD":
                self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_PUT = do_POST = do_HEAD = do_DELETE = handle_any  # noqa: N815

        def log_message(self, *_: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        def handle_error(self, *_: object) -> None:
            """Whoever hung up in the middle meant to."""

    server = Server(("127.0.0.1", 0), Proxy)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    monkeypatch.setattr("selfplay.storage.location.RETRY_SECONDS", 0.0)
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{server.server_address[1]}")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    direct = http.client.HTTPConnection("127.0.0.1", s3_server)
    direct.request("PUT", f"/{bucket}")
    direct.getresponse().read()
    direct.close()
    try:
        yield found
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
