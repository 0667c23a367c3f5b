"""Read and write files in a local folder or an object store, through one interface.

Writes are atomic: locally to a temporary file that is flushed and renamed, in an object store by
a single request. Requests to an object store are retried for a while.
"""

from __future__ import annotations

import fcntl
import logging
import os
import re
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from shutil import copyfileobj
from tempfile import TemporaryFile
from typing import Any, BinaryIO, NamedTuple, TypeVar
from urllib.parse import unquote, urlsplit

from pyarrow import ArrowException, fs

from selfplay.errors import InputError, quoted, without_keys
from selfplay.files import open_regular, remove_abandoned, written_whole

T = TypeVar("T")

MOST_BYTES = 1 << 30  # limit for files that are read as a whole

RETRY_SECONDS = 120.0  # how long requests to an object store are retried
_LOG_SECONDS = 30.0
_LOCK_SECONDS = 30.0

_log = logging.getLogger("selfplay")


class File(NamedTuple):
    """A file in a listing."""

    size: int
    modified: float  # seconds since 1970


class Location:
    """A local folder or an object-store prefix. File names use slashes."""

    def __init__(self, uri: str) -> None:
        _refuse_credentials(uri)
        address, self._query = _split_query(uri)
        self._address = address.rstrip("/") or "/"
        scheme = urlsplit(uri).scheme if "://" in uri else ""
        self.folder = None if scheme not in ("", "file") else _local(uri)
        if self.folder is not None:
            self.filesystem: fs.FileSystem = fs.LocalFileSystem()
            self.path = str(self.folder)
            return
        if scheme == "s3":
            # A small file then takes one request, not the three of a multipart upload.
            uri += ("&" if "?" in uri else "?") + "allow_delayed_open=true"
        try:
            self.filesystem, path = fs.FileSystem.from_uri(uri)
        except (ValueError, ArrowException, OSError) as error:
            raise InputError(f"{quoted(self.uri, 200)} is not a location: {error}") from None
        self.path = path.rstrip("/")

    @classmethod
    def of_file(cls, uri: str) -> tuple[Location, str]:
        """The folder of a file, and its name there."""
        _refuse_credentials(uri)
        address, query = _split_query(uri)
        folder, _, name = address.rpartition("/")
        if not name or name in (".", "..") or folder.endswith(":/"):
            raise InputError(f"{quoted(uri, 200)} is not a file: its name is missing")
        return cls((folder or ("/" if address.startswith("/") else ".")) + query), name

    def __str__(self) -> str:
        """For people: without the query."""
        return self._address

    @property
    def uri(self) -> str:
        """For commands."""
        return self._address + self._query

    @property
    def absolute(self) -> str:
        """The same location for any process, whatever its working directory."""
        return self.uri if self.folder is None else str(self.folder.absolute())

    def below(self, name: str) -> str:
        """The URI of a file or folder in it."""
        return f"{self._address}/{name}{self._query}"

    @property
    def is_empty(self) -> bool:
        """Whether it has no files, or does not exist."""
        if self.folder is None:
            return not self.files("")
        if self.folder.is_dir():
            return not any(self.folder.iterdir())
        return not self.folder.exists()

    @property
    def seems_writable(self) -> bool:
        """Whether permissions allow writing; only a write can tell for an object store."""
        if self.folder is None:
            return True
        folders = self.folder, *self.folder.absolute().parents
        existing = next(folder for folder in folders if folder.exists())
        return existing.is_dir() and os.access(existing, os.W_OK)

    def check_writable(self) -> None:
        """Write and remove a file: fail now, not after an hour of work."""
        name = f".writable-{secrets.token_hex(8)}"
        try:
            self.write(name, b"")
        except OSError as error:
            raise InputError(
                f"nothing can be written to {quoted(str(self), 200)}: {error.strerror or error}"
            ) from None
        with suppress(OSError):
            self.remove(name)

    def full(self, name: str) -> str:
        """A file's path in `filesystem`."""
        return f"{self.path}/{name}"

    def read(self, name: str, most: int = MOST_BYTES) -> bytes:
        """The bytes of a file; one with more than `most` is refused."""

        def whole(file: Any) -> bytes:
            if file.seek(0, os.SEEK_END) > most:
                raise InputError(f"{self}/{name} is too large: at most {most:,} bytes are read")
            file.seek(0)
            return bytes(file.read())

        return self._with_file(name, whole)

    def read_tail(self, name: str, count: int) -> tuple[bytes, int]:
        """The last bytes of a file, and its size."""

        def tail(file: Any) -> tuple[bytes, int]:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - count))
            return bytes(file.read()), size

        return self._with_file(name, tail)

    def _with_file(self, name: str, read: Callable[[Any], T]) -> T:
        if self.folder is not None:
            with open_regular(self.folder / name) as file:
                return read(file)

        def request() -> T:
            with self.filesystem.open_input_file(self.full(name)) as file:
                return read(file)

        return self._retry(request)

    def write(self, name: str, data: bytes, unless: Callable[[], bool] = lambda: False) -> bool:
        """Write or replace a file atomically, unless `unless()`; whether it was written.

        `unless` is called just before the file becomes visible: locally under a lock, so that no
        other writer comes in between.
        """
        if self.folder is None:
            return self._retry(lambda: self._put(name, data, unless))
        folder, path, written = self.folder, self.folder / name, False

        def replace(aside: Path, path: Path) -> None:
            nonlocal written
            with _locked(folder):
                if not unless():
                    aside.replace(path)
                    written = True

        path.parent.mkdir(parents=True, exist_ok=True)
        with written_whole(path, replace) as file:
            file.write(data)
        return written

    def _put(self, name: str, data: bytes, unless: Callable[[], bool]) -> bool:
        if unless():
            return False
        # No `with`: an exception inside it would commit a part of the file.
        stream = self.filesystem.open_output_stream(self.full(name))
        stream.write(data)
        stream.close()
        return True

    @contextmanager
    def writing(self, name: str) -> Iterator[BinaryIO]:
        """A file to write piece by piece; it appears, whole, when the block ends without an
        exception."""
        if self.folder is not None:
            with written_whole(self.folder / name) as file:
                yield file
            return
        with TemporaryFile() as aside:
            yield aside
            self._retry(lambda: self._upload(name, aside))

    def _upload(self, name: str, file: BinaryIO) -> None:
        file.seek(0)
        stream = self.filesystem.open_output_stream(self.full(name))
        copyfileobj(file, stream, 1 << 23)
        stream.close()

    def files(self, folder: str) -> dict[str, File]:
        """The files of a folder, without hidden ones; empty if it does not exist."""
        if self.folder is not None:
            where = self.folder / folder
            if not where.is_dir():
                return {}
            return {
                entry.name: File(entry.stat().st_size, entry.stat().st_mtime)
                for entry in os.scandir(where)
                if not entry.name.startswith(".") and entry.is_file()
            }
        selector = fs.FileSelector(self.full(folder), allow_not_found=True)
        listing = self._retry(lambda: self.filesystem.get_file_info(selector))
        return {
            info.base_name: File(info.size, info.mtime_ns / 1e9)
            for info in listing
            if info.type == fs.FileType.File and not info.base_name.startswith(".")
        }

    def folders(self) -> list[str]:
        """The names of the folders in it, without hidden ones."""
        if self.folder is not None:
            found = [entry.name for entry in os.scandir(self.folder) if entry.is_dir()]
        else:
            selector = fs.FileSelector(self.path, allow_not_found=True)
            listing = self._retry(lambda: self.filesystem.get_file_info(selector))
            found = [info.base_name for info in listing if info.type == fs.FileType.Directory]
        return [name for name in found if not name.startswith(".")]

    def remove(self, name: str) -> None:
        if self.folder is not None:
            (self.folder / name).unlink()
        else:
            self._retry(lambda: self.filesystem.delete_file(self.full(name)))

    def move(self, name: str, to: str) -> None:
        """Rename a file."""
        if self.folder is not None:
            target = self.folder / to
            target.parent.mkdir(parents=True, exist_ok=True)
            (self.folder / name).replace(target)
            return
        self._retry(lambda: self.filesystem.move(self.full(name), self.full(to)))

    def clean(self, folder: str) -> int:
        """Remove temporary files of killed writers; how many."""
        if self.folder is None or not (self.folder / folder).is_dir():
            return 0
        return remove_abandoned(self.folder / folder)

    def _retry(self, request: Callable[[], T]) -> T:
        """Repeat a request to an object store while it fails."""
        pause, began = 1.0, time.monotonic()
        while True:
            try:
                return request()
            except FileNotFoundError:
                raise
            except OSError as error:
                text = str(error)
                for code, meaning in _PERMANENT_ERRORS.items():
                    if code in text:
                        raise InputError(f"{self}: {meaning}") from None
                if time.monotonic() - began + pause > RETRY_SECONDS:
                    raise OSError(f"{self}: {text}") from None
                _log_retry(f"{self}: {text}")
            time.sleep(pause)
            pause = min(2 * pause, 30.0)


# Errors that no retry helps, in one line instead of the store's many.
_PERMANENT_ERRORS = {
    "NO_SUCH_BUCKET": "there is no such bucket",
    "ACCESS_DENIED": "access is denied: check the credentials and their permissions",
    "INVALID_ACCESS_KEY_ID": "the credentials are not known there",
    "SIGNATURE_DOES_NOT_MATCH": "the credentials are wrong",
}

_logged_at = -_LOG_SECONDS


def _log_retry(error: str) -> None:
    """Log why the program waits, once for all threads."""
    global _logged_at
    if time.monotonic() - _logged_at >= _LOG_SECONDS:
        _logged_at = time.monotonic()
        _log.warning("waiting up to two minutes for the store: %s", quoted(error, 300))


def _split_query(uri: str) -> tuple[str, str]:
    """A URI's address, and its query with the question mark; paths have none."""
    address, mark, query = uri.partition("?") if "://" in uri else (uri, "", "")
    return address, mark + query


_SCHEME = re.compile(r"[a-z][a-z0-9+.-]+:/[^/]", re.I)


def _refuse_credentials(uri: str) -> None:
    """Refuse a URI with credentials: it would end up in files, logs and process lists."""
    if _SCHEME.match(uri) and not os.path.exists(uri):
        raise InputError(f"a URI has two slashes after its scheme: {quoted(uri[:8])}…")
    scheme, mark, rest = uri.partition("://")
    if not mark:
        return
    plain = unquote(rest)
    authority = re.split(r"[/?#]", plain, maxsplit=1)[0]
    user, has_user, _ = authority.rpartition("@")
    has_key = ":" in user or without_keys(f"{scheme}://{plain}") != f"{scheme}://{plain}"
    if scheme == "s3":  # a bucket has neither; a key may hold slashes
        has_key |= bool(has_user) or ":" in authority
    elif scheme in ("gs", "gcs"):
        has_key |= bool(has_user) and user != "anonymous"
    if has_key:
        raise InputError(
            f"a {quoted(scheme, 20)} URI holds a key: give it by the environment "
            "(AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, GOOGLE_APPLICATION_CREDENTIALS) or by a "
            "profile, where no file, log or process list shows it"
        )


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Lock out other writers of a folder. Without it, if the file system has no locks or another
    process holds this one too long, the check just before the renaming has to suffice."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        yield
        return
    try:
        end = time.monotonic() + _LOCK_SECONDS
        while time.monotonic() < end:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                time.sleep(0.001)
            except OSError:
                break
        yield
    finally:
        os.close(descriptor)


def _local(uri: str) -> Path:
    path = uri
    if uri.startswith("file://"):
        parts = urlsplit(uri)
        if parts.netloc not in ("", "localhost"):
            raise InputError(f"{quoted(uri, 200)} names a host: write file:///{parts.netloc}…")
        path = parts.path
    if "\0" in path:
        raise InputError(f"{quoted(uri, 200)} is not a path")
    if not path:
        raise InputError("a run has a name: a folder, or a URI such as s3://bucket/run")
    return Path(os.path.expanduser(path))
