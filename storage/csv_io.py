"""Import and export positions and moves as CSV files, and export rows as JSON lines.

csv-012     cell_0 … cell_41,move    row by row from the top left: 0 empty, 1 and 2 the players
csv-signed  pos_0 … pos_41,move      column by column from the bottom left: 0, 1 and -1
csv         all columns of a run, lists as one column per element; null is empty
jsonl       all columns of a run, a JSON object per line
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path
from typing import BinaryIO, Literal, get_args

import numpy as np
import pyarrow as pa
from pyarrow import csv as arrow_csv

from selfplay.arrays import Array
from selfplay.errors import InputError, quoted
from selfplay.game.board import Board
from selfplay.storage.dataset import Dataset, write_run
from selfplay.storage.location import Location
from selfplay.storage.manifest import Manifest
from selfplay.storage.row_checks import faults
from selfplay.storage.rows import NO_MOVE, NO_RESULT, Rows
from selfplay.storage.selection import json_lines

Format = Literal["csv", "csv-012", "csv-signed", "jsonl"]

TableOf = Callable[[Rows, Board], pa.Table]

SHARD_ROWS = 20_000
_LONGEST_LINE = 65_536
_CELLS_AND_MOVES = {str(number) for number in range(-1, 16)}
_SHOWN = 5


_OTHERS = {
    *("arrow", "avro", "db", "feather", "gz", "h5", "npy", "npz", "orc", "parquet", "pickle"),
    *("tsv", "xlsx", "xz", "zip", "zst"),
}


def check_ending(file: str, form: Format) -> None:
    """Refuse a file whose name says another format."""
    ending = file.partition("?")[0].rpartition("/")[2].rpartition(".")[2].lower()
    named = {"csv": "csv", "json": "jsonl", "jsonl": "jsonl", "ndjson": "jsonl"}.get(ending)
    if ending in _OTHERS or (named is not None and named != form.partition("-")[0]):
        raise InputError(
            f"{quoted(file)} does not name a file of --format {form}; there is: "
            f"{', '.join(get_args(Format))} (default: csv); the shards of a run are Parquet files"
        )


def export(dataset: Dataset, form: Format, place: Location, name: str) -> int:
    """Write all rows to a file, atomically; the number of rows."""
    with place.writing(name) as file:
        if form == "jsonl":
            return _write_lines(dataset, file)
        return _write_csv(dataset, _TABLES[form], file)


def _write_csv(dataset: Dataset, table_of: TableOf, file: BinaryIO) -> int:
    count = 0
    no_rows = _unlabelled(np.zeros((0, dataset.board.cells)), np.zeros(0), dataset.board)
    options = arrow_csv.WriteOptions(include_header=False, quoting_style="none")
    file.write((",".join(table_of(no_rows, dataset.board).column_names) + "\n").encode())
    for _, rows in dataset.rows():
        if len(rows):
            arrow_csv.write_csv(table_of(rows, dataset.board), file, options)
        count += len(rows)
    return count


def _write_lines(dataset: Dataset, file: BinaryIO) -> int:
    count = 0
    for batch in dataset.batches():
        file.writelines(json_lines(batch))
        count += len(batch)
    return count


def _cell_columns(prefix: str, cells: Array, move: Array) -> pa.Table:
    columns = {f"{prefix}_{number}": cells[:, number] for number in range(cells.shape[1])}
    return pa.table({**columns, "move": move})


def _all_columns(rows: Rows, board: Board) -> pa.Table:
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


def _by_columns(cells: Array, board: Board) -> Array:
    """Cells row by row from the top left as cells column by column from the bottom left."""
    grid = cells.reshape(-1, board.rows, board.columns)
    return grid[:, ::-1].transpose(0, 2, 1).reshape(len(cells), board.cells)


def _by_rows(cells: Array, board: Board) -> Array:
    """The inverse of `_by_columns`."""
    grid = cells.reshape(-1, board.columns, board.rows)
    return grid.transpose(0, 2, 1)[:, ::-1].reshape(len(cells), board.cells)


def _signed_columns(rows: Rows, board: Board) -> pa.Table:
    signed = np.where(rows.board == 2, np.int8(-1), rows.board)
    return _cell_columns("pos", _by_columns(signed, board), rows.move)


_TABLES: dict[str, TableOf] = {
    "csv-012": lambda rows, board: _cell_columns("cell", rows.board, rows.move),
    "csv-signed": _signed_columns,
    "csv": _all_columns,
}


def _unlabelled(cells: Array, move: Array, board: Board) -> Rows:
    """Rows with positions and moves only, each position a game of its own."""
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
    """Make a run of a file of positions and moves; one bad line refuses the file."""
    rows = read_csv(path, board)
    digest = blake2b(f"imported {rows.fingerprint()}".encode(), digest_size=16).hexdigest()
    manifest = Manifest.of_source(digest, board, len(rows), SHARD_ROWS, {"imported": path.name})
    return write_run(place, manifest, lambda games: rows[games.start : games.stop])


def read_csv(path: Path, board: Board) -> Rows:
    """Positions and moves from a file; errors name the line."""
    try:
        if not path.is_file() and path.exists():
            raise InputError(f"{quoted(str(path), 200)} is not a file")
        with path.open(newline="", encoding="utf-8-sig") as file:
            header = next(csv.reader([file.readline(_LONGEST_LINE)]), [])
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not a text file"
        raise InputError(f"cannot read {quoted(str(path), 200)}: {reason}") from None
    numbers = range(board.cells)
    headers = {prefix: [*(f"{prefix}_{n}" for n in numbers), "move"] for prefix in ("cell", "pos")}
    if header not in headers.values():
        raise InputError(
            f"{path}: the first line is not that of csv-012 (cell_0,…,cell_{board.cells - 1},move) "
            f"or csv-signed (pos_0,…) of a {board.size} board"
        )
    values = _parse_numbers(path, header)
    cells, move = values[:, :-1], values[:, -1]
    if header == headers["pos"]:
        cells = np.where(cells == -1, 2, np.where(cells == 2, 3, cells))
        cells = _by_rows(cells, board)
    rows = _unlabelled(cells, move, board)
    if not len(rows):
        raise InputError(f"{path} has no positions: nothing was imported")
    wrong = [
        (game, what) for what, game in faults(rows, board, range(len(rows))) if game is not None
    ]
    if wrong:
        shown = "; ".join(f"line {game + 2}: {what}" for game, what in sorted(wrong)[:_SHOWN])
        raise InputError(f"{path}: {shown}; nothing was imported")
    return rows


def _parse_numbers(path: Path, header: list[str]) -> Array:
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
    """What is wrong with the first bad line; slow, so only after Arrow's parser has failed."""
    with path.open(newline="", encoding="utf-8-sig", errors="replace") as file:
        file.readline()
        for number, line in enumerate(iter(lambda: file.readline(_LONGEST_LINE), ""), 2):
            values = [value.strip() for value in line.split(",")] if line.strip() else []
            if len(values) != width:
                return f"line {number}: {len(values)} values instead of {width}"
            for value in values:
                if value not in _CELLS_AND_MOVES:
                    return f"line {number}: {quoted(value)} is not a cell or a column"
    return "it is not a CSV file of positions"
