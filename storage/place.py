"""Where runs are: a folder on this machine or a prefix in an object store, through one door.

What is written appears in one step. On this machine it is written aside, flushed and renamed; in
an object store it is a single request, made when everything is in memory.
"""

from __future__ import annotations

import os
import re
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from pyarrow import ArrowException, fs

from selfplay.errors import InputError, quoted

_ASIDE = re.compile(r"\.(?P<name>.+)\.(?P<host>[^.]*)-(?P<process>[0-9]+)\.aside")
_OLD_SECONDS = 24 * 3600


class File(NamedTuple):
    """What a listing says of a file."""

    size: int
    modified: float
    """When it was written, in seconds since 1970."""


class Place:
    """A folder, wherever it is, and the files in it. Names have slashes between their parts."""

    def __init__(self, uri: str) -> None:
        self.uri = uri.rstrip("/") or "/"
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

    def __str__(self) -> str:
        return self.uri

    @property
    def absolute(self) -> str:
        """What names this place in any process."""
        return self.uri if self.folder is None else str(self.folder.absolute())

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

    def full(self, name: str) -> str:
        """The path of a file, as `filesystem` has it."""
        return f"{self.path}/{name}"

    def read(self, name: str) -> bytes:
        """A file as a whole; FileNotFoundError if there is none."""
        if self.folder is not None:
            return (self.folder / name).read_bytes()
        with _told(self), self.filesystem.open_input_file(self.full(name)) as file:
            return bytes(file.read())

    def write(self, name: str, data: bytes) -> None:
        """Put a file there, in one step, over what may be there."""
        if self.folder is None:
            with _told(self):
                # An exception inside an open stream would commit a part: there is one call.
                stream = self.filesystem.open_output_stream(self.full(name))
                stream.write(data)
                stream.close()
            return
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        aside = path.with_name(f".{path.name}.{_host()}-{os.getpid()}.aside")
        try:
            with aside.open("wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            aside.replace(path)
        except BaseException:
            aside.unlink(missing_ok=True)
            raise
        _flush_folder(path.parent)

    def files(self, folder: str) -> dict[str, File]:
        """The files in a folder; none where there is no such folder."""
        if self.folder is not None:
            where = self.folder / folder
            if not where.is_dir():
                return {}
            return {
                entry.name: File(entry.stat().st_size, entry.stat().st_mtime)
                for entry in os.scandir(where)
                if entry.is_file() and not _ASIDE.fullmatch(entry.name)
            }
        with _told(self):
            selector = fs.FileSelector(self.full(folder), allow_not_found=True)
            found = self.filesystem.get_file_info(selector)
        return {
            info.base_name: File(info.size, info.mtime_ns / 1e9)
            for info in found
            if info.type == fs.FileType.File
        }

    def move(self, name: str, to: str) -> None:
        """Give a file another name."""
        if self.folder is not None:
            target = self.folder / to
            target.parent.mkdir(parents=True, exist_ok=True)
            (self.folder / name).replace(target)
            return
        with _told(self):
            self.filesystem.move(self.full(name), self.full(to))

    def clean(self, folder: str) -> int:
        """Remove what writers left that were killed; how many files it was."""
        if self.folder is None or not (self.folder / folder).is_dir():
            return 0
        left = [path for path in (self.folder / folder).iterdir() if _is_left(path)]
        for path in left:
            path.unlink(missing_ok=True)
        return len(left)


def _local(uri: str) -> Path:
    path = uri
    if uri.startswith("file://"):
        parts = urlsplit(uri)
        if parts.netloc not in ("", "localhost"):
            raise InputError(f"{quoted(uri, 200)} names a machine: write file:///{parts.netloc}…")
        path = parts.path
    if not path:
        raise InputError("a run has a name: a folder, or a URI such as s3://bucket/run")
    return Path(os.path.expanduser(path))


def _host() -> str:
    return socket.gethostname().replace(".", "_")


def _is_left(path: Path) -> bool:
    """Whether this was written aside by a process that is no more."""
    match = _ASIDE.fullmatch(path.name)
    if match is None:
        return False
    if match["host"] == _host():
        return not _is_alive(int(match["process"]))
    try:
        return time.time() - path.stat().st_mtime > _OLD_SECONDS
    except FileNotFoundError:
        return False


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


def _flush_folder(folder: Path) -> None:
    """Have a new name survive a power failure, too."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _told(place: Place) -> Iterator[None]:
    """What object stores say goes on for lines: the part that a person can use."""
    try:
        yield
    except FileNotFoundError:
        raise
    except OSError as error:
        text = str(error)
        for sign, meaning in _MEANINGS.items():
            if sign in text:
                raise InputError(f"{place}: {meaning}") from None
        raise OSError(f"{place}: {text}") from None


_MEANINGS = {
    "NO_SUCH_BUCKET": "there is no such bucket",
    "ACCESS_DENIED": "access is denied: look at the credentials and their rights",
    "INVALID_ACCESS_KEY_ID": "the credentials are not known there",
    "SIGNATURE_DOES_NOT_MATCH": "the credentials are wrong",
}
