"""The shape of the project: what may import what, one import root, and its public names."""

import ast
import subprocess
import sys
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import selfplay
from tests import ROOT

FLOORS = {"storage": 2, "workers": 3, "train": 3, "pipeline": 4, "web": 5, "cli": 6}
GROUND = 1
HEAVY = {
    "": {"numpy", "numba", "llvmlite"},
    "storage": {"numpy", "pyarrow", "pandas"},
    "workers": {"numpy", "ray"},
    "train": {"numpy", "numba", "pandas", "ray"},
    "pipeline": {"numpy"},
    "web": {"starlette", "uvicorn"},
    "cli": {"typer", "rich"},  # and matplotlib, where it is there
}
KNOWN_HEAVY = set().union(*HEAVY.values())
ROOMS = ("game", "kernels", "mcts", "minimax", "solver")


def sources() -> dict[str, Path]:
    """Every module of the package and its file: links lead to the floors above the first."""
    folders = [ROOT / "selfplay", *(ROOT / "selfplay" / room for room in ROOMS)]
    found = [path for folder in folders for path in folder.glob("*.py")]
    for floor in FLOORS:
        found += (ROOT / "selfplay" / floor).rglob("*.py")
    return {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
        for path in found
    }


def imports(path: Path) -> set[str]:
    """What a file imports, wherever in it: modules, and names that may be modules."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def floor_of(module: str) -> str:
    parts = module.split(".")
    return parts[1] if len(parts) > 1 and parts[1] in FLOORS else ""


@pytest.mark.parametrize("floor", ["", *FLOORS])
def test_a_floor_imports_only_from_below(floor: str) -> None:
    for module, path in sources().items():
        if floor_of(module) != floor or module in ("selfplay", "selfplay.__main__"):
            continue
        imported = imports(path)
        ours = {floor_of(name) for name in imported if name.startswith("selfplay.")}
        level = FLOORS.get(floor, GROUND)
        assert not {f for f in ours if f != floor and FLOORS.get(f, GROUND) >= level}, path
        heavy = {name.split(".")[0] for name in imported} & KNOWN_HEAVY
        assert heavy <= HEAVY[floor], path


def test_no_two_modules_import_each_other() -> None:
    found = sources()
    graph = {
        module: {name for name in imports(path) if name in found and name != module}
        for module, path in found.items()
        if module not in ("selfplay", "selfplay.__main__")
    }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_nothing_is_imported_but_by_its_one_name() -> None:
    """`storage` and the others are folders of the repository, not names that are installed."""
    for path in [*sources().values(), *(ROOT / "tests").rglob("*.py"), *(ROOT / "bench").glob("*")]:
        if path.suffix == ".py":
            bare = {name.split(".")[0] for name in imports(path)} & FLOORS.keys()
            assert not bare, path


def test_the_folders_of_the_floors_are_links() -> None:
    for floor in FLOORS:
        link = ROOT / "selfplay" / floor
        if (ROOT / floor).exists():
            assert link.is_symlink()
            assert link.resolve() == ROOT / floor


def test_the_public_names_are_these() -> None:
    assert sorted(selfplay.__all__) == [
        "Board",
        "Dataset",
        "Decision",
        "GameRecord",
        "ID3Classifier",
        "InputError",
        "LocalExecutor",
        "Location",
        "MctsOptions",
        "MctsPlayer",
        "Model",
        "Player",
        "PlayerSpec",
        "Position",
        "RayExecutor",
        "Solver",
        "Spec",
        "TrainingConfig",
        "coverage",
        "evaluate",
        "generate",
        "parse_openings",
        "plan",
        "train_model",
        "verify",
    ]
    for name in selfplay.__all__:
        assert getattr(selfplay, name).__name__ == name
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = selfplay.nothing


def test_the_package_is_the_command(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "selfplay", "--version"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith("selfplay ")
