"""Fixtures of all tests."""

from __future__ import annotations

import inspect
import json
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

# No deadlines: a test never depends on how fast the machine is. The same examples every time.
settings.register_profile("project", deadline=None, derandomize=True)
settings.load_profile("project")

# A shell starts what it puts in the background with Ctrl-C ignored, and children inherit that:
# processes that tests start shall be like those at a terminal.
signal.signal(signal.SIGINT, signal.default_int_handler)

pytest_plugins = ["tests.object_store"]

GOLDEN = Path(__file__).parent / "golden"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--write-golden", action="store_true", help="write golden files instead of comparing"
    )


SLOW = {
    "s3": {"store", "s3_server"},
    "ray": {"RayExecutor", "on_ray"},
    "process": {
        "run_process",
        "terminal",
        "SELFPLAY",
        "subprocess",
        "pexpect",
        "serving",
        "address",
        "Background",
    },
}
"""What a test uses that makes it slow, by marker."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what takes long by what it uses, so that `make quick` leaves it out."""
    for item in items:
        assert isinstance(item, pytest.Function)
        used = {*item.fixturenames, *names_of(item.function)}
        for marker, names in SLOW.items():
            if names & used:
                item.add_marker(marker)


def names_of(function: Any) -> set[str]:
    """The names that a function uses, and those of the functions of its module that it calls."""
    found: set[str] = set()
    todo = [function]
    while todo:
        one = todo.pop()
        for name in set(one.__code__.co_names) - found:
            found.add(name)
            other = one.__globals__.get(name)
            if getattr(other, "__globals__", None) is one.__globals__:
                todo.append(inspect.unwrap(other))
    return found


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, Any], None]:
    """Compare with a stored result. A new one is a decision: say why in the commit."""

    def compare(name: str, found: Any) -> None:
        path = GOLDEN / f"{name}.json"
        text = json.dumps(found, indent=None) + "\n"
        if request.config.getoption("--write-golden"):
            path.write_text(text)
        assert text == path.read_text(), f"{name} is not what it was: see tests/golden"

    return compare
