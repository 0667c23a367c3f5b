"""Fixtures of all tests."""

from __future__ import annotations

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


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what takes long by what it uses, so that `make quick` leaves it out."""
    for item in items:
        names = vars(item.module)  # type: ignore[attr-defined]
        if {"store", "s3_server"} & set(item.fixturenames):  # type: ignore[attr-defined]
            item.add_marker("s3")
        if {"RayExecutor", "ray"} & names.keys():
            item.add_marker("ray")
        used = {getattr(value, "__module__", None) for value in names.values()}
        if "subprocess" in names or "tests.cli.command" in used:
            item.add_marker("process")


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
