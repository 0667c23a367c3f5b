"""The shape of the project: its public names, and which package may import which."""

import ast
from pathlib import Path

import pytest

import selfplay

ROOT = Path(__file__).parent.parent
FLOORS = {"selfplay": 1, "storage": 2, "workers": 3, "train": 3, "cli": 4}
HEAVY = {
    "selfplay": {"numpy", "numba", "llvmlite"},
    "storage": {"numpy", "pyarrow", "pandas"},
    "workers": {"numpy", "ray"},
    "train": {"numpy", "numba", "pandas", "ray"},
    "cli": {"typer", "rich"},  # and matplotlib, where it is there
}
KNOWN_HEAVY = {"numpy", "numba", "llvmlite", "pyarrow", "pandas", "ray", "typer", "rich"}


def imported_packages(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module.split(".")[0])
    return names


@pytest.mark.parametrize("package", [name for name in FLOORS if (ROOT / name).exists()])
def test_a_package_imports_only_from_below(package: str) -> None:
    for path in (ROOT / package).rglob("*.py"):
        imported = imported_packages(path)
        above = {
            name
            for name in imported & FLOORS.keys()
            if name != package and FLOORS[name] >= FLOORS[package]
        }
        assert not above, path
        assert imported & KNOWN_HEAVY <= HEAVY[package], path


def test_the_public_names_are_these() -> None:
    assert sorted(selfplay.__all__) == [
        "Board",
        "Decision",
        "GameRecord",
        "InputError",
        "MctsOptions",
        "MctsPlayer",
        "Player",
        "PlayerSpec",
        "Position",
        "Solver",
        "coverage",
        "parse_openings",
    ]
    for name in selfplay.__all__:
        assert getattr(selfplay, name).__name__ == name
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = selfplay.nothing
