import numpy as np

from selfplay.seeding import Stream, derive


def test_seeds_are_what_they_were() -> None:
    # Data sets depend on these numbers: they never change.
    assert derive(1, "opening", 7) == 5656430230409741299
    stream = Stream(42)
    assert [stream.bits() for _ in range(2)] == [13679457532755275413, 2949826092126892291]


def test_an_integer_is_its_value() -> None:
    assert derive(1, "game", np.int64(3)) == derive(1, "game", 3)  # type: ignore[arg-type]


def test_parts_are_kept_apart() -> None:
    assert derive("a", 1) != derive("a1;")
    assert len({derive(1, 23), derive(12, 3), derive("1", 23), derive(123)}) == 4


def test_below_stays_below() -> None:
    stream = Stream(1)
    assert {stream.below(3) for _ in range(100)} == {0, 1, 2}
    assert {stream.below(1) for _ in range(10)} == {0}
