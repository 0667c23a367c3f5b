"""The parts of a book being built: a file for every chunk of positions that is solved."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path

from selfplay.errors import InputError, quoted
from selfplay.files import is_aside, read_bounded, write_whole
from selfplay.game.board import Board
from selfplay.solver.book_builder import chunks_of
from selfplay.workers.executors.interface import JobError

_NAME = re.compile(r"part-([0-9]{5})\.txt")
_MOST_BYTES = 1 << 16


class Parts:
    """The folder of the parts of one book.

    A part is text: a line that says what it is, a line with key and score for every position, and
    a checksum.
    """

    def __init__(self, folder: Path, board: Board, plies: int) -> None:
        self.folder = folder
        self.board = board
        self.plies = plies
        self._keys = [
            [position.key(canonical=True) for position in chunk]
            for chunk in chunks_of(board, plies)
        ]

    @property
    def chunks(self) -> int:
        return len(self._keys)

    @property
    def positions(self) -> int:
        return sum(map(len, self._keys))

    def read(self) -> dict[int, dict[int, int]]:
        """The scores by key of every chunk that is solved; a file that is no part of this book, or
        is damaged, is refused."""
        return {self._chunk_of(path): self._read(path) for path in self._files()}

    def write(self, chunk: int, scores: Mapping[int, int]) -> None:
        """Write a part atomically."""
        if list(scores) != self._keys[chunk]:
            raise JobError(
                f"a worker solved other positions than those of chunk {chunk}: install the same "
                "version on every node"
            )
        self.folder.mkdir(exist_ok=True)
        lines = [self._head(chunk), *(f"{key} {score}" for key, score in scores.items())]
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

    def _head(self, chunk: int) -> str:
        return f"part {chunk} of {self.chunks}, {self.plies} plies on {self.board}"

    def _chunk_of(self, path: Path) -> int:
        name = _NAME.fullmatch(path.name)
        if name is None or int(name[1]) >= self.chunks:
            raise InputError(f"{path} is not a part of this book: move it elsewhere")
        return int(name[1])

    def _read(self, path: Path) -> dict[int, int]:
        chunk, data = self._chunk_of(path), read_bounded(path, _MOST_BYTES, "part of a book")
        text = data[: data.rfind(b"checksum ")]
        if data != _sealed(text):
            raise InputError(f"{path} is damaged: remove it, and its positions are solved again")
        head, *lines = text.decode().splitlines()
        scores = {int(key): int(score) for key, score in map(str.split, lines)}
        if head != self._head(chunk) or list(scores) != self._keys[chunk]:
            raise InputError(
                f"{path} is {quoted(head)}, not {self._head(chunk)!r}: remove {self.folder}, or "
                "name another file with --out"
            )
        return scores


def _sealed(text: bytes) -> bytes:
    return text + f"checksum {blake2b(text, digest_size=16).hexdigest()}\n".encode()
