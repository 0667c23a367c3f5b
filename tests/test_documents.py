"""Every command that the documents show is run; every link in them leads somewhere."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def blocks(document: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", document.read_text(), re.M | re.S)


def commands(document: Path) -> list[str]:
    lines = [line for block in blocks(document, "console") for line in block.splitlines()]
    return [line[2:].split("  #")[0].strip() for line in lines if line.startswith("$ ")]


SHOWN = [(d.name, c) for d in DOCUMENTS for c in commands(d)]


@pytest.mark.parametrize(("document", "command"), [s for s in SHOWN if "selfplay " in s[1]])
def test_a_command_that_is_shown_runs(document: str, command: str) -> None:
    if command.startswith("git clone"):
        return
    stages = [stage.strip() for stage in command.split("|")]
    assert all(stage.startswith("selfplay ") for stage in stages), document
    # Someone who leaves at once stands in for the person at the keyboard.
    output = "q\n"
    for stage in stages:
        done = subprocess.run(
            [sys.executable, "-m", "cli", *shlex.split(stage)[1:]],
            input=output,
            capture_output=True,
            text=True,
            cwd=ROOT,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, "")
        output = done.stdout
    assert output


def shown_output(document: Path) -> list[tuple[str, str]]:
    """Commands that stand with their output, and what it is."""
    found = []
    for block in blocks(document, "console"):
        command, _, output = block.partition("\n")
        if output and not re.search(r"^\$ ", output, re.M):
            found.append((command.removeprefix("$ "), output))
    return found


@pytest.mark.parametrize(
    ("command", "output"), [pair for document in DOCUMENTS for pair in shown_output(document)]
)
def test_the_output_that_is_shown_is_what_comes(command: str, output: str) -> None:
    def without_times(text: str) -> list[str]:
        return [re.sub(r" in [0-9.]+ s .*", "", line).rstrip() for line in text.splitlines()]

    words = [sys.executable, "-m", "cli", *shlex.split(command)[1:]]
    done = subprocess.run(words, capture_output=True, text=True, cwd=ROOT, check=True)
    assert without_times(done.stdout.rstrip()) == without_times(output.rstrip())


def test_make_has_the_verbs_that_are_shown() -> None:
    verbs = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M))
    for document in DOCUMENTS:
        shown = set(re.findall(r"(?:\$ |`)make ([a-z-]+)", document.read_text()))
        assert shown <= verbs, document


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_python_that_is_shown_runs(document: Path) -> None:
    for code in blocks(document, "python"):
        subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, cwd=ROOT)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_somewhere(document: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", document.read_text()):
        assert (document.parent / target).exists(), target
