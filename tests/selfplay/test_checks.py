import pytest

from selfplay.checks import allocating, check_choice, check_memory, check_range, check_seconds
from selfplay.errors import InputError


def test_what_is_in_range_or_not_given_passes() -> None:
    check_range("depth", None, 1, 256)
    check_range("depth", 256, 1, 256)
    check_range("nodes", 10**9, 1)
    check_seconds(None)
    check_choice("order", "left", ("centre", "left"))
    check_memory(64)


def test_messages_say_what_would_be_right() -> None:
    with pytest.raises(InputError, match=r"^depth is a number from 1 to 256, not 0$"):
        check_range("depth", 0, 1, 256)
    with pytest.raises(InputError, match=r"^nodes is a number from 1 up, not nan$"):
        check_range("nodes", float("nan"), 1)
    with pytest.raises(InputError, match=r"^order is one of centre, left, not 'right'$"):
        check_choice("order", "right", ("centre", "left"))
    with pytest.raises(InputError, match="lower memory=7"), allocating(7):
        raise MemoryError
