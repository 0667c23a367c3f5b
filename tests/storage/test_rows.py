import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfplay.game.board import Board
from selfplay.storage.rows import NO_RESULT, VALUE_STEPS, Rows, rounded, schema
from tests.storage.made import SPEC, shard_of


def test_rows_survive_a_table() -> None:
    rows = shard_of(SPEC, 0)
    table = rows.to_table(SPEC.parsed_board)
    assert table.schema == schema(Board())
    again = Rows.from_table(table)
    assert again.fingerprint() == rows.fingerprint()
    for (name, one), (_, other) in zip(rows.columns(), again.columns(), strict=True):
        assert one.dtype == other.dtype, name
        np.testing.assert_array_equal(one, other)
    # However the table is cut.
    pieces = [table.slice(0, 3), table.slice(3, 10), table.slice(13)]
    assert Rows.from_table(pa.concat_tables(pieces)).fingerprint() == rows.fingerprint()
    assert Rows.from_table(table.slice(5, 9)).fingerprint() == rows[5:14].fingerprint()


def test_what_is_unknown_is_null() -> None:
    table = shard_of(SPEC, 0).to_table(SPEC.parsed_board)
    for row in table.to_pylist():
        legal = [row["board"][column] == 0 for column in range(7)]
        for column in range(7):
            if not legal[column]:
                assert row["visits"][column] == 0
                assert row["value"][column] is None
                assert row["proven"][column] is None
        assert row["move"] in range(7)
        assert legal[row["move"]]
    proven = [result for row in table.to_pylist() for result in row["proven"]]
    assert None in proven
    assert {1, -1} <= set(proven)
    unfinished = shard_of(SPEC, 0)
    unfinished.outcome[:] = NO_RESULT
    assert unfinished.to_table(Board()).column("outcome").null_count == len(unfinished)


@pytest.mark.parametrize("name", [name for name, _ in shard_of(SPEC, 0).columns()])
def test_every_column_is_in_the_fingerprint(name: str) -> None:
    rows = shard_of(SPEC, 1)
    before = rows.fingerprint()
    column = getattr(rows, name)
    column[len(column) // 2] = column[len(column) // 2] + 1
    assert rows.fingerprint() != before


@given(st.floats(-1, 1, width=32))
def test_values_are_kept_in_steps(value: float) -> None:
    (kept,) = rounded(np.array([value], np.float32))
    assert abs(kept - value) <= 0.5 / VALUE_STEPS
    assert float(kept * VALUE_STEPS).is_integer()
    assert not np.signbit(kept) or kept < 0
