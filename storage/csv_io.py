"""Positions as CSV: out for programs that read nothing else, and in from programs that wrote it.

csv-012     cell_0 … cell_41,move    row by row from the top left: 0 empty, 1 and 2 the players
csv-signed  pos_0 … pos_41,move      column by column from the bottom left: 0, 1 and -1
csv         all columns of a run, lists spread out; what is null is empty
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Literal

import numpy as np
import pyarrow as pa
from pyarrow import csv as arrow_csv

from selfplay.arrays import Array
from selfplay.errors import InputError, quoted
from selfplay.files import written_whole
from selfplay.game.board import Board
from selfplay.storage.dataset import Dataset, write
from selfplay.storage.location import Location
from selfplay.storage.manifest import Manifest
from selfplay.storage.rows import NO_MOVE, NO_RESULT, Rows
from selfplay.storage.verify import faults

Format = Literal["csv-012", "csv-signed", "csv"]

SHARD_ROWS = 20_000
_LONGEST_LINE = 65_536
_SHOWN = 5


def export(dataset: Dataset, form: Format, out: Path) -> int:
    """Write all rows to a file, which is there when it is whole; how many rows."""
    table_of = _TABLES[form]
    count = 0
    with written_whole(out) as file:
        header = table_of(_no_rows(dataset.board), dataset.board).column_names
        file.write((",".join(header) + "\n").encode())
        options = arrow_csv.WriteOptions(include_header=False, quoting_style="none")
        for _, rows in dataset.rows():
            if len(rows):
                arrow_csv.write_csv(table_of(rows, dataset.board), file, options)
            count += len(rows)
    return count


def _cells(prefix: str, cells: Array, move: Array) -> pa.Table:
    columns = {f"{prefix}_{number}": cells[:, number] for number in range(cells.shape[1])}
    return pa.table({**columns, "move": move})


def _table_012(rows: Rows, board: Board) -> pa.Table:
    return _cells("cell", rows.board, rows.move)


def _table_signed(rows: Rows, board: Board) -> pa.Table:
    signed = np.where(rows.board == 2, np.int8(-1), rows.board)
    return _cells("pos", _by_columns(signed, board), rows.move)


def _table_of_all(rows: Rows, board: Board) -> pa.Table:
    table = rows.to_table(board)
    columns = {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        if pa.types.is_fixed_size_list(column.type):
            width = column.type.list_size
            flat = column.combine_chunks().flatten()
            for number in range(width):
                columns[f"{name}_{number}"] = flat[number::width]
        else:
            columns[name] = column
    return pa.table(columns)


_TABLES: dict[str, Callable[[Rows, Board], pa.Table]] = {
    "csv-012": _table_012,
    "csv-signed": _table_signed,
    "csv": _table_of_all,
}


def _by_columns(cells: Array, board: Board) -> Array:
    """Cells row by row from the top left as cells column by column from the bottom left."""
    grid = cells.reshape(-1, board.rows, board.columns)
    return grid[:, ::-1].transpose(0, 2, 1).reshape(len(cells), board.cells)


def _by_rows(cells: Array, board: Board) -> Array:
    """The other way round."""
    grid = cells.reshape(-1, board.columns, board.rows)
    return grid.transpose(0, 2, 1)[:, ::-1].reshape(len(cells), board.cells)


def _no_rows(board: Board) -> Rows:
    return unlabelled(np.zeros((0, board.cells), np.int8), np.zeros(0, np.int8), board)


def unlabelled(cells: Array, move: Array, board: Board) -> Rows:
    """Positions of which nothing but a move is known, each a game of its own."""
    count = len(cells)
    return Rows(
        game=np.arange(count, dtype=np.int64),
        ply=(cells != 0).sum(axis=1).astype(np.int16),
        board=cells.astype(np.int8),
        move=move.astype(np.int8),
        visits=np.zeros((count, board.columns), np.int32),
        value=np.full((count, board.columns), np.nan, np.float32),
        proven=np.full((count, board.columns), NO_RESULT, np.int8),
        played=np.full(count, NO_MOVE, np.int8),
        outcome=np.full(count, NO_RESULT, np.int8),
    )


def import_csv(path: Path, place: Location, board: Board) -> Dataset:
    """A run out of a file of positions and moves. If any line is wrong nothing is written."""
    rows = read(path, board)
    digest = blake2b(f"imported {rows.fingerprint()}".encode(), digest_size=16)
    described = Manifest.of_source(
        digest.hexdigest(), board, len(rows), SHARD_ROWS, {"imported": path.name}
    )
    described.begin(place)
    for shard in range(described.shards):
        games = described.games_of(shard)
        write(place, described, shard, rows[games.start : games.stop])
    return Dataset(place)


def read(path: Path, board: Board) -> Rows:
    """Positions and moves from a file; what is wrong is told by its line."""
    try:
        if not path.is_file() and path.exists():
            raise InputError(f"{quoted(str(path), 200)} is not a file")
        with path.open(newline="", encoding="utf-8-sig") as file:
            header = next(csv.reader([file.readline(_LONGEST_LINE)]), [])
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not a text file"
        raise InputError(f"cannot read {quoted(str(path), 200)}: {reason}") from None
    prefix = next((p for p in ("cell", "pos") if header == _header(p, board)), None)
    if prefix is None:
        raise InputError(
            f"{path}: the first line is not that of csv-012 (cell_0,…,cell_{board.cells - 1},move) "
            f"or csv-signed (pos_0,…) of a {board.size} board"
        )
    numbers = _numbers(path, header)
    cells, move = numbers[:, :-1], numbers[:, -1]
    if prefix == "pos":
        cells = np.where(cells == -1, 2, np.where(cells == 2, 3, cells))
        cells = _by_rows(cells, board)
    rows = unlabelled(cells, move, board)
    if not len(rows):
        raise InputError(f"{path} has no positions: nothing was imported")
    wrong = [
        (game, what) for what, game in faults(rows, board, range(len(rows))) if game is not None
    ]
    if wrong:
        shown = "; ".join(f"line {game + 2}: {what}" for game, what in sorted(wrong)[:_SHOWN])
        raise InputError(f"{path}: {shown}; nothing was imported")
    return rows


def _header(prefix: str, board: Board) -> list[str]:
    return [*(f"{prefix}_{number}" for number in range(board.cells)), "move"]


def _numbers(path: Path, header: list[str]) -> Array:
    try:
        table = arrow_csv.read_csv(
            path,
            parse_options=arrow_csv.ParseOptions(ignore_empty_lines=False),
            convert_options=arrow_csv.ConvertOptions(
                column_types={name: pa.int8() for name in header}, null_values=[]
            ),
        )
    except pa.ArrowException:
        raise InputError(
            f"{path}: {_first_bad_line(path, len(header))}; nothing was imported"
        ) from None
    return np.stack([column.to_numpy() for column in table.columns], axis=1)


def _first_bad_line(path: Path, width: int) -> str:
    """What is wrong with the first line that cannot be read: found with more care, less speed."""
    for number, fields in _lines(path):
        if len(fields) != width:
            return f"line {number}: {len(fields)} values instead of {width}"
        for value in fields:
            if value not in _CELLS_AND_MOVES:
                return f"line {number}: {quoted(value)} is not a cell or a column"
    return "it is not a CSV file of positions"


_CELLS_AND_MOVES = {str(number) for number in range(-1, 16)}


def _lines(path: Path) -> Iterator[tuple[int, list[str]]]:
    with path.open(newline="", encoding="utf-8-sig", errors="replace") as file:
        file.readline()
        number = 1
        while line := file.readline(_LONGEST_LINE):
            number += 1
            yield number, [value.strip() for value in line.split(",")] if line.strip() else []
