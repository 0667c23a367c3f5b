import pickle
import zipfile
from pathlib import Path

import numpy as np
import pytest

from selfplay.errors import InputError
from selfplay.game.board import Board
from selfplay.game.enumeration import positions_after
from selfplay.game.openings import RandomPlies
from selfplay.game.position import Position
from selfplay.registry import PlayerSpec
from selfplay.solver.book import Book, shipped_book
from selfplay.solver.book_builder import CHUNK, book_of, chunks_of
from selfplay.solver.solver import Solver

SMALL = Board(5, 4)


def built(board: Board, plies: int) -> Book:
    solver = Solver(board, memory=1, book=None)
    deepest = [position for chunk in chunks_of(board, plies) for position in chunk]
    scores = {position.key(canonical=True): solver.score(position) or 0 for position in deepest}
    return book_of(board, plies, scores)


def test_a_book_says_what_the_solver_says(tmp_path: Path) -> None:
    built(SMALL, 3).save(tmp_path / "book.npz")
    book = Book.load(tmp_path / "book.npz")
    plain, reading = Solver(SMALL, memory=1, book=None), Solver(SMALL, memory=1, book=book)
    for ply in range(4):
        for position in positions_after(SMALL, ply):
            assert book.score(position) == plain.score(position)
    assert book.score(Position.parse("1111", SMALL)) is None
    position = Position.parse("12", SMALL)
    before = reading.nodes
    assert reading.scores(position) == plain.scores(position)
    assert reading.nodes == before
    player = PlayerSpec.parse(f"perfect:book={tmp_path / 'book.npz'}").build(SMALL)
    assert player.decide(position).nodes == 0


def test_chunks_are_of_positions_that_may_be_listed() -> None:
    chunks = chunks_of(SMALL, 4)
    keys = [position.key(canonical=True) for chunk in chunks for position in chunk]
    assert keys == sorted(set(keys))
    assert {len(chunk) for chunk in chunks[:-1]} == {CHUNK}
    with pytest.raises(InputError, match="plies is a number from 0 to 19"):
        chunks_of(SMALL, 20)


class Trap:
    def __reduce__(self) -> tuple[object, ...]:
        return (pytest.fail, ("a book was unpickled",))


def test_what_is_no_book_is_refused_and_nothing_is_executed(tmp_path: Path) -> None:
    file = tmp_path / "book.npz"
    with pytest.raises(InputError, match="there is no book"):
        Book.load(file)
    file.write_bytes(b"")
    with pytest.raises(InputError, match="is not a book"):
        Book.load(file)
    file.write_bytes(pickle.dumps(Trap()))
    with pytest.raises(InputError, match="is not a book"):
        Book.load(file)
    trap = np.array([Trap()], object)
    np.savez(file, board=trap, plies=trap, steps=trap, scores=trap)
    with pytest.raises(InputError, match="is not a book"):
        Book.load(file)
    good = built(SMALL, 2)
    good.save(file)
    data = file.read_bytes()
    file.write_bytes(data[: len(data) // 2])
    with pytest.raises(InputError, match="is not a book"):
        Book.load(file)
    Book(SMALL, 2, good.keys, good.scores[:-1]).save(file)
    with pytest.raises(InputError, match="one score per position"):
        Book.load(file)
    with zipfile.ZipFile(file, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("board.npy", b"no array")
    with pytest.raises(InputError, match="is not a book"):
        Book.load(file)
    Book(SMALL, 2, good.keys[::-1], good.scores).save(file)
    with pytest.raises(InputError, match="not sorted"):
        Book.load(file)
    with pytest.raises(InputError, match="this book is for 5x4"):
        Solver(Board(), book=good)


def test_the_shipped_book() -> None:
    book = shipped_book(Board())
    assert book is not None
    assert book.plies >= 4
    solver = Solver(Board())
    assert solver.scores(Position()) == (-2, -1, 0, 1, 0, -1, -2)
    assert solver.nodes == 0
    # Every position is there, and is worth what its best successor is worth.
    stones = [0, 1, 2, book.plies - 1]
    for ply in stones:
        for position in positions_after(Board(), ply, canonical=True, unfinished=True)[:300]:
            successors = [solver._known(position.play(move)) for move in position.legal_moves]
            assert book.score(position) == max(-s for s in successors if s is not None)
    # The deepest are what the solver finds, where it finds it soon.
    searching = Solver(Board(), book=None)
    for game in range(3):
        position = RandomPlies(Board(), book.plies, book.plies).opening(12, game)
        assert book.score(position) == searching.score(position)
    assert shipped_book(Board(8, 7)) is None
