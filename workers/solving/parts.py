"""The parts of a file being built: a file for every chunk of positions that is solved."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path

from selfplay.errors import InputError, quoted
from selfplay.files import is_aside, read_bounded, write_whole
from selfplay.workers.executors.interface import JobError

Row = tuple[int, ...]
"""A solved position: its key or its stones, and what is known of it."""

_NAME = re.compile(r"part-([0-9]{5})\.txt")
_MOST_BYTES = 1 << 16
MOST_CHUNKS = 10**5
"""As many as there are names."""


class Parts(ABC):
    """The folder of the parts of one file.

    A part is text: a line that says what it is, a line of numbers for every position, and a
    checksum.
    """

    what: str
    """The file being built."""

    def __init__(self, file: Path, chunks: int) -> None:
        self.folder = file.with_name(f"{file.name}.parts")
        self.chunks = chunks
        """The number of chunks, or the most that may be needed."""

    @abstractmethod
    def head(self, chunk: int) -> str:
        """The line that says what a part is."""

    @abstractmethod
    def is_of(self, chunk: int, rows: Sequence[Row]) -> bool:
        """Whether these may be the rows of a chunk."""

    def read(self) -> dict[int, list[Row]]:
        """The rows of every chunk that is solved; a file that is no part of this build, or is
        damaged, is refused."""
        return {self._chunk_of(path): self._read(path) for path in self._files()}

    def write(self, chunk: int, rows: Sequence[Row]) -> None:
        """Write a part atomically."""
        if not self.is_of(chunk, rows):
            raise JobError(
                f"a worker solved other positions than those of chunk {chunk}: install the same "
                "version on every node"
            )
        self.folder.mkdir(exist_ok=True)
        lines = [self.head(chunk), *(" ".join(map(str, row)) for row in rows)]
        text = "".join(f"{line}\n" for line in lines)
        write_whole(self.folder / f"part-{chunk:05d}.txt", _sealed(text.encode()))

    def remove(self) -> None:
        """Remove all parts, and the folder unless it has something else."""
        if self.folder.exists():
            for path in self.folder.iterdir():
                if is_aside(path) or _NAME.fullmatch(path.name):
                    path.unlink()
            with suppress(OSError):
                self.folder.rmdir()

    def _files(self) -> Iterator[Path]:
        if self.folder.exists():
            yield from (path for path in sorted(self.folder.iterdir()) if not is_aside(path))

    def _chunk_of(self, path: Path) -> int:
        name = _NAME.fullmatch(path.name)
        if name is None or int(name[1]) >= self.chunks:
            raise InputError(f"{path} is not a part of this {self.what}: move it elsewhere")
        return int(name[1])

    def _read(self, path: Path) -> list[Row]:
        chunk, data = self._chunk_of(path), read_bounded(path, _MOST_BYTES, "part")
        text = data[: data.rfind(b"checksum ")]
        if data != _sealed(text):
            raise InputError(f"{path} is damaged: remove it, and its positions are solved again")
        head, *lines = text.decode().splitlines()
        rows = [tuple(map(int, line.split())) for line in lines]
        if head != self.head(chunk) or not self.is_of(chunk, rows):
            raise InputError(
                f"{path} is {quoted(head)}, not {self.head(chunk)!r}: remove {self.folder}, or "
                "name another file with --out"
            )
        return rows


def _sealed(text: bytes) -> bytes:
    return text + f"checksum {blake2b(text, digest_size=16).hexdigest()}\n".encode()
