"""Write the rows of chosen games to a stream, as JSON lines or Parquet."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import BinaryIO, Literal, get_args

import pyarrow as pa
import pyarrow.parquet as pq

from selfplay.storage.games import Wanted
from selfplay.storage.manifest import Manifest
from selfplay.storage.rows import Rows, schema

Form = Literal["jsonl", "parquet"]
FORMS: tuple[str, ...] = get_args(Form)

_GROUP_ROWS = 50_000


def write_selection(
    shards: Iterable[Rows], manifest: Manifest, wanted: Wanted, form: str, file: BinaryIO
) -> None:
    """Write what is wanted of these shards, with few of their rows in memory."""
    tables = _tables(shards, manifest, wanted)
    if form == "jsonl":
        for table in tables:
            for batch in table.to_batches(max_chunksize=1000):
                file.writelines(json_lines(batch))
        return
    with pq.ParquetWriter(file, schema(manifest.board), compression="zstd") as writer:
        kept: list[pa.Table] = []
        for table in tables:
            kept.append(table)
            if sum(map(len, kept)) >= _GROUP_ROWS:
                writer.write_table(pa.concat_tables(kept))
                kept = []
        if kept:
            writer.write_table(pa.concat_tables(kept))


def _tables(shards: Iterable[Rows], manifest: Manifest, wanted: Wanted) -> Iterator[pa.Table]:
    for rows in shards:
        found = rows[wanted.rows_of(rows, manifest)]
        if len(found):
            yield found.to_table(manifest.board)


def json_lines(batch: pa.RecordBatch) -> Iterator[bytes]:
    """An object with all columns for each row."""
    return (json.dumps(row).encode() + b"\n" for row in batch.to_pylist())
