"""Files that are nearly right: broken by chance, or forged so that every checksum fits."""

from __future__ import annotations

import json
import random
import struct
import zlib
from collections.abc import Callable
from hashlib import blake2b
from io import BytesIO
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

Mutate = Callable[[random.Random, bytes], bytes]

_NUMBERS = (0, 1, -1, 2, 7, 42, 127, 128, 255, 256, 2**31, 2**31 - 1, 2**32, 2**53, 2**63, 10**30)
_TEXTS = (
    "", " ", "\0", "\x1b]0;owned\x07", "‮", "x" * 5000, "../../etc/passwd", "/dev/zero",
    "s3://KEY:hunter2@bucket/x", "tree:model=/dev/zero", "file:/dev/zero", "all:8", "7x6", "16x16",
    "999x999", "mcts:0", "mcts:-1", "mcts", "human", "random", "perfect", "é", "%s%n", "0" * 32,
    "nan", "-0", "1e400", "[", "{}", "null", "0-20", "sensible:3", "py:x.py:X", "a:b:c", "=", ":,",
)  # fmt: skip


def strange(chance: random.Random, depth: int = 0) -> Any:
    """A value that nobody expects."""
    kind = chance.randrange(9 if depth < 3 else 5)
    if kind == 0:
        return chance.choice((None, True, False, float("nan"), float("inf"), 1e308, -0.5))
    if kind in (1, 2):
        return chance.choice(_NUMBERS)
    if kind in (3, 4):
        return chance.choice(_TEXTS)
    if kind == 5:
        return {
            chance.choice(_TEXTS): strange(chance, depth + 1) for _ in range(chance.randrange(3))
        }
    if kind == 6:
        return [strange(chance, depth + 1) for _ in range(chance.randrange(4))]
    nested: Any = 1
    for _ in range(chance.choice((3, 50, 900))):
        nested = [nested]
    return nested


def of_bytes(chance: random.Random, data: bytes) -> bytes:
    """Bits turned over, parts cut out, doubled, moved or overwritten."""
    found = bytearray(data)
    for _ in range(chance.choice((1, 1, 1, 2, 5, 30))):
        if not found:
            break
        at = chance.randrange(len(found))
        end = min(len(found), at + chance.choice((1, 4, 8, 64, 4000)))
        match chance.randrange(7):
            case 0 | 1:
                found[at] ^= 1 << chance.randrange(8)
            case 2:
                found[at:end] = chance.randbytes(end - at)
            case 3:
                del found[at:end]
            case 4:
                found[at:at] = found[at:end]
            case 5:
                found[at:end] = bytes([chance.choice((0, 0x7F, 0x80, 0xFF))]) * (end - at)
            case 6:
                del found[at:]
    return bytes(found)


def of_record(chance: random.Random, record: Any) -> Any:
    """A record of JSON in which something is another."""
    if isinstance(record, dict) and record and chance.random() < 0.9:
        name = chance.choice(list(record))
        match chance.randrange(8):
            case 0:
                return {key: value for key, value in record.items() if key != name}
            case 1:
                return {**record, chance.choice(_TEXTS): strange(chance)}
            case _:
                return {**record, name: of_record(chance, record[name])}
    if isinstance(record, list) and record and chance.random() < 0.7:
        at = chance.randrange(len(record))
        return [*record[:at], of_record(chance, record[at]), *record[at + 1 :]]
    if isinstance(record, str) and record and chance.random() < 0.6:
        return of_text(chance, record)
    if isinstance(record, int) and chance.random() < 0.5:
        return record + chance.choice((-1, 1, 2, 100))
    return strange(chance)


def of_text(chance: random.Random, text: str) -> str:
    """A text in which signs are others, or a part is."""
    found = text
    for _ in range(chance.choice((1, 1, 2, 4))):
        at = chance.randrange(len(found) + 1)
        end = min(len(found), at + chance.choice((0, 1, 1, 3, 10)))
        new = chance.choice((*_TEXTS, *"0123456789:,=-+.x\n\t\"'", str(chance.choice(_NUMBERS))))
        found = found[:at] + new + found[end:]
    return found


def of_json(chance: random.Random, data: bytes) -> bytes:
    lines = data.decode().splitlines() if data.count(b"}\n") > 1 else [data.decode()]
    at = chance.randrange(len(lines))
    for _ in range(chance.choice((1, 1, 2))):
        lines[at] = json.dumps(of_record(chance, json.loads(lines[at])))
    return "\n".join(lines).encode()


def of_lines(chance: random.Random, data: bytes) -> bytes:
    """Change, repeat or drop a line of a text file."""
    lines = data.decode().split("\n")
    at = chance.randrange(len(lines))
    match chance.randrange(6):
        case 0:
            del lines[at]
        case 1:
            lines.insert(at, chance.choice(lines))
        case 2:
            lines[at] = lines[at] * chance.choice((2, 5000))
        case _:
            lines[at] = of_text(chance, lines[at])
    return "\n".join(lines).encode("utf-8", "replace")


def of_shard(chance: random.Random, data: bytes) -> bytes:
    """A shard whose pages and footer are in order, and whose rows, columns or claims are not."""
    table = pq.read_table(BytesIO(data))
    metadata = dict(table.schema.metadata)
    for _ in range(chance.choice((1, 1, 2))):
        name = chance.choice(table.column_names)
        match chance.randrange(7):
            case 0:
                key = chance.choice(list(metadata))
                metadata[key] = of_text(chance, metadata[key].decode()).encode("utf-8", "replace")
            case 1:
                table = table.drop_columns([name])
                if not table.column_names:
                    return data
            case 2:
                rows = [chance.randrange(len(table)) for _ in range(chance.choice((0, 5, 400)))]
                table = table.take(pa.array(rows, pa.int64()))
                if not len(table):
                    break
            case 3:
                table = table.rename_columns(
                    [f"{other}x" if other == name else other for other in table.column_names]
                )
            case _:
                table = _with_other_values(chance, table, name)
    metadata[b"selfplay.rows"] = str(len(table)).encode()
    out = BytesIO()
    pq.write_table(table.replace_schema_metadata(metadata), out, write_page_checksum=True)
    return out.getvalue()


def _with_other_values(chance: random.Random, table: pa.Table, name: str) -> pa.Table:
    column = table.column(name).combine_chunks()
    at = table.column_names.index(name)
    field = table.schema.field(name)
    values = column.flatten() if pa.types.is_fixed_size_list(column.type) else column
    array = values.to_numpy(zero_copy_only=False).copy()
    if array.dtype == object or not len(array):
        return table
    which = [chance.randrange(len(array)) for _ in range(chance.choice((1, 1, 3, 50)))]
    limits = np.iinfo(array.dtype) if array.dtype.kind == "i" else None
    for index in which:
        if limits is None:
            array[index] = chance.choice((float("nan"), float("inf"), -2.0, 0.5, 1e30))
        else:
            new = chance.choice((*_NUMBERS, -2, 3, limits.min, limits.max))
            array[index] = min(max(new, limits.min), limits.max)
    kind = field.type.value_type if pa.types.is_fixed_size_list(field.type) else field.type
    new_values = pa.array(array.astype(kind.to_pandas_dtype()), kind)
    if pa.types.is_fixed_size_list(field.type):
        new_values = pa.FixedSizeListArray.from_arrays(new_values, type=field.type)
    return table.set_column(at, field, new_values)


def of_model(chance: random.Random, data: bytes) -> bytes:
    """A model whose checksum fits, and whose header or nodes do not."""
    magic, content = data[: data.index(b"\n") + 1], data[:-16]
    (length,) = struct.unpack_from("<I", content, len(magic))
    start = len(magic) + 4
    header = json.loads(content[start : start + length])
    body = zlib.decompress(content[start + length + 4 :])
    if chance.random() < 0.5:
        header = of_record(chance, header)
    else:
        body = of_bytes(chance, body)
    text = json.dumps(header).encode()
    packed = zlib.compress(body)
    found = b"".join(
        (magic, struct.pack("<I", len(text)), text, struct.pack("<I", len(packed)), packed)
    )
    return found + blake2b(found, digest_size=16).digest()


def of_arrays(chance: random.Random, data: bytes) -> bytes:
    """Change one array of an archive."""
    with np.load(BytesIO(data)) as archive:
        arrays = {name: archive[name] for name in archive.files}
    name = chance.choice(list(arrays))
    array = arrays[name]
    match chance.randrange(5):
        case 0:
            del arrays[name]
        case 1:
            arrays[name] = np.array(strange(chance, 3)).astype(str)
        case 2 if array.dtype.kind != "U":
            arrays[name] = array.astype(chance.choice((np.int8, np.float64, np.int64, np.uint8)))
        case 3:
            arrays[name] = np.resize(array, chance.choice(((0,), (3,), (2, 2), (100_000,))))
        case _:
            flat = array.reshape(-1).copy()
            for _ in range(chance.choice((1, 3, 50))):
                flat[chance.randrange(len(flat))] = chance.randrange(100)
            arrays[name] = flat.reshape(array.shape)
    out = BytesIO()
    np.savez_compressed(out, **arrays)
    return out.getvalue()
