"""Write the documents that follow from the code: docs/cli.md and the list in docs/architecture.md.

python -m scripts.reference
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from scripts import ROOT

CLI, ARCHITECTURE = ROOT / "docs" / "cli.md", ROOT / "docs" / "architecture.md"
BEGIN, END = "<!-- files -->", "<!-- end of files -->"

FLOORS = ("cli", "web", "pipeline", "train", "workers", "storage", "selfplay")
_WIDTH = 100


def cli_reference() -> str:
    """Every command's help, as it is printed."""
    from selfplay.cli.main import app

    parts = [
        "# The commands\n\nWhat `--help` says, in one place. `make reference` writes this page.",
    ]
    for name, command in _commands("selfplay", typer.main.get_command(app)):
        context = typer.Context(command, info_name=name, max_content_width=_WIDTH)
        context.terminal_width = _WIDTH
        parts.append(f"## {name}\n\n```text\n{command.get_help(context).rstrip()}\n```")
    return "\n\n".join(parts) + "\n"


def _commands(name: str, command: Any) -> Iterator[tuple[str, Any]]:
    yield name, command
    for word, below in getattr(command, "commands", {}).items():
        yield from _commands(f"{name} {word}", below)


def list_of_files() -> str:
    """A table a room: every file and the first sentence of its docstring."""
    parts = []
    for floor in FLOORS:
        for room in sorted({path.parent for path in (ROOT / floor).rglob("*.py")}):
            if any((ROOT / "selfplay" / other) in (room, *room.parents) for other in FLOORS):
                continue
            files = [path for path in sorted(room.glob("*.py")) if _purpose(path)]
            if files:
                rows = [f"| `{path.name}` | {_purpose(path)} |" for path in files]
                title = f"### {room.relative_to(ROOT)}/"
                parts.append("\n".join([title, "", "| file | |", "|---|---|", *rows]))
    return "\n\n".join(parts)


def _purpose(path: Path) -> str:
    text = ast.get_docstring(ast.parse(path.read_text())) or ""
    return " ".join(text.partition("\n\n")[0].split()).replace("|", "\\|")


def architecture() -> str:
    """The document with the list as it has to be."""
    text = ARCHITECTURE.read_text()
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{list_of_files()}\n\n{END}{after}"


def main() -> None:
    CLI.write_text(cli_reference())
    ARCHITECTURE.write_text(architecture())


if __name__ == "__main__":
    main()
