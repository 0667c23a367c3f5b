"""Where runs are: a folder on this machine or a prefix in an object store, through one door.

What is written appears in one step. On this machine it is written aside, flushed and renamed; in
an object store it is a single request, made when everything is in memory. A store that fails for
a while is waited for, whoever asks.
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
from typing import NamedTuple, TypeVar
from urllib.parse import unquote, urlsplit

from pyarrow import ArrowException, fs

from selfplay.errors import InputError, quoted, without_keys
from selfplay.files import (
    aside_of,
    flush_folder,
    open_regular,
    read_bounded,
    remove_abandoned,
)

T = TypeVar("T")

MOST_BYTES = 1 << 30
"""Of any file that is read as a whole."""

PATIENCE_SECONDS = 120.0
"""An object store that is out of order for a while is waited for."""
_TOLD_APART = 30.0
_LOCK_SECONDS = 30.0

_log = logging.getLogger("selfplay")


class File(NamedTuple):
    """What a listing says of a file."""

    size: int
    modified: float
    """When it was written, in seconds since 1970."""


class Location:
    """A folder, wherever it is, and the files in it. Names have slashes between their parts."""

    def __init__(self, uri: str) -> None:
        _refuse_keys(uri)
        address, mark, query = uri.partition("?") if "://" in uri else (uri, "", "")
        self._address = address.rstrip("/") or "/"
        self._query = mark + query
        scheme = urlsplit(uri).scheme if "://" in uri else ""
        self.folder = None if scheme not in ("", "file") else _local(uri)
        if self.folder is not None:
            self.filesystem: fs.FileSystem = fs.LocalFileSystem()
            self.path = str(self.folder)
            return
        if scheme == "s3":
            # A file that is written at once then is one request, not the three of an upload
            # in parts.
            uri += ("&" if "?" in uri else "?") + "allow_delayed_open=true"
        try:
            self.filesystem, path = fs.FileSystem.from_uri(uri)
        except (ValueError, ArrowException, OSError) as error:
            raise InputError(f"{quoted(self.uri, 200)} is no place: {error}") from None
        self.path = path.rstrip("/")

    @classmethod
    def of_file(cls, uri: str) -> tuple[Location, str]:
        """The folder that a file is in, and its name there."""
        _refuse_keys(uri)
        address, mark, query = uri.partition("?") if "://" in uri else (uri, "", "")
        folder, _, name = address.rpartition("/")
        if not name or name in (".", "..") or folder.endswith(":/"):
            raise InputError(f"{quoted(uri, 200)} is no file: a name is missing")
        return cls((folder or ("/" if address.startswith("/") else ".")) + mark + query), name

    def __str__(self) -> str:
        """Without what is only for machines: as people know it."""
        return self._address

    @property
    def uri(self) -> str:
        """What a command takes."""
        return self._address + self._query

    @property
    def absolute(self) -> str:
        """What names this place in any process."""
        return self.uri if self.folder is None else str(self.folder.absolute())

    def below(self, name: str) -> str:
        """What a command takes for a file or a folder of this place."""
        return f"{self._address}/{name}{self._query}"

    @property
    def is_empty(self) -> bool:
        """Whether nothing is there, or no such place yet."""
        if self.folder is None:
            return not self.files("")
        if self.folder.is_dir():
            return not any(self.folder.iterdir())
        return not self.folder.exists()

    @property
    def may_be_written(self) -> bool:
        """Whether it looks as if; of an object store nobody knows before it is tried."""
        if self.folder is None:
            return True
        folders = self.folder, *self.folder.absolute().parents
        there = next(folder for folder in folders if folder.exists())
        return there.is_dir() and os.access(there, os.W_OK)

    def prove_writable(self) -> None:
        """Write something and remove it again: refuse now what would fail in an hour."""
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
        """The path of a file, as `filesystem` has it."""
        return f"{self.path}/{name}"

    def read(self, name: str, most: int = MOST_BYTES) -> bytes:
        """A file as a whole; FileNotFoundError if there is none. A larger one is refused."""
        if self.folder is not None:
            return read_bounded(self.folder / name, most)

        def get() -> bytes:
            with self.filesystem.open_input_file(self.full(name)) as file:
                if file.size() > most:
                    raise InputError(f"{self}/{name} is too large: at most {most:,} bytes are read")
                return bytes(file.read())

        return self._patiently(get)

    def read_end(self, name: str, count: int) -> tuple[bytes, int]:
        """The last bytes of a file, and how many it has in all."""
        if self.folder is not None:
            with open_regular(self.folder / name) as file:
                size = file.seek(0, os.SEEK_END)
                file.seek(max(0, size - count))
                return file.read(), size

        def get() -> tuple[bytes, int]:
            with self.filesystem.open_input_file(self.full(name)) as file:
                size = file.size()
                file.seek(max(0, size - count))
                return bytes(file.read()), size

        return self._patiently(get)

    def write(self, name: str, data: bytes, unless: Callable[[], bool] = lambda: False) -> bool:
        """Put a file there, in one step, over what may be there; whether it was.

        `unless` is asked at the last moment, and may refuse. On this machine no other writer comes
        between the question and the file.
        """
        if self.folder is None:
            return self._patiently(lambda: self._put(name, data, unless))
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        aside = aside_of(path)
        try:
            with aside.open("xb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            with _alone(self.folder):
                if unless():
                    return False
                aside.replace(path)
        finally:
            aside.unlink(missing_ok=True)
        flush_folder(path.parent)
        return True

    def _put(self, name: str, data: bytes, unless: Callable[[], bool]) -> bool:
        if unless():
            return False
        # An exception inside an open stream would commit a part: there is one call.
        stream = self.filesystem.open_output_stream(self.full(name))
        stream.write(data)
        stream.close()
        return True

    def files(self, folder: str) -> dict[str, File]:
        """The files in a folder that are not hidden; none where there is no such folder."""
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
        found = self._patiently(lambda: self.filesystem.get_file_info(selector))
        return {
            info.base_name: File(info.size, info.mtime_ns / 1e9)
            for info in found
            if info.type == fs.FileType.File and not info.base_name.startswith(".")
        }

    def remove(self, name: str) -> None:
        if self.folder is not None:
            (self.folder / name).unlink()
        else:
            self._patiently(lambda: self.filesystem.delete_file(self.full(name)))

    def move(self, name: str, to: str) -> None:
        """Give a file another name."""
        if self.folder is not None:
            target = self.folder / to
            target.parent.mkdir(parents=True, exist_ok=True)
            (self.folder / name).replace(target)
            return
        self._patiently(lambda: self.filesystem.move(self.full(name), self.full(to)))

    def clean(self, folder: str) -> int:
        """Remove what writers left that were killed; how many files it was."""
        if self.folder is None or not (self.folder / folder).is_dir():
            return 0
        return remove_abandoned(self.folder / folder)

    def _patiently(self, act: Callable[[], T]) -> T:
        """Ask an object store, and again where it does not answer as it should."""
        pause, began = 1.0, time.monotonic()
        while True:
            try:
                return act()
            except FileNotFoundError:
                raise
            except OSError as error:
                text = str(error)
                for sign, meaning in _MEANINGS.items():
                    if sign in text:
                        raise InputError(f"{self}: {meaning}") from None
                if time.monotonic() - began + pause > PATIENCE_SECONDS:
                    raise OSError(f"{self}: {text}") from None
                _tell_of_waiting(f"{self}: {text}")
            time.sleep(pause)
            pause = min(2 * pause, 30.0)


# What object stores say goes on for lines: the part that a person can use.
_MEANINGS = {
    "NO_SUCH_BUCKET": "there is no such bucket",
    "ACCESS_DENIED": "access is denied: look at the credentials and their rights",
    "INVALID_ACCESS_KEY_ID": "the credentials are not known there",
    "SIGNATURE_DOES_NOT_MATCH": "the credentials are wrong",
}

_told_at = -_TOLD_APART


def _tell_of_waiting(trouble: str) -> None:
    """Say why nothing seems to happen, once for all who wait."""
    global _told_at
    if time.monotonic() - _told_at >= _TOLD_APART:
        _told_at = time.monotonic()
        _log.warning("waiting up to two minutes for the store: %s", quoted(trouble, 300))


_SCHEME = re.compile(r"[a-z][a-z0-9+.-]+:/[^/]", re.I)


def _refuse_keys(uri: str) -> None:
    """What is in a URI ends up in files, logs and process lists: not a place for keys."""
    if _SCHEME.match(uri) and not os.path.exists(uri):
        raise InputError(f"a URI has two slashes behind its scheme: {quoted(uri[:8])}…")
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
            f"a {quoted(scheme, 20)} URI holds a key: keys come from the environment "
            "(AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, GOOGLE_APPLICATION_CREDENTIALS) or from "
            "a profile, where no file, log or process list shows them"
        )


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Keep other writers of a folder out, where its file system knows locks. Elsewhere, and if
    somebody sits on the lock, what is read just before the renaming has to do."""
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
            raise InputError(f"{quoted(uri, 200)} names a machine: write file:///{parts.netloc}…")
        path = parts.path
    if "\0" in path:
        raise InputError(f"{quoted(uri, 200)} is no path")
    if not path:
        raise InputError("a run has a name: a folder, or a URI such as s3://bucket/run")
    return Path(os.path.expanduser(path))
