"""Every command that the documents show is run; every link in them leads somewhere."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from scripts import reference
from tests import ROOT
from tests.cli.command import run

DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def blocks(document: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", document.read_text(), re.M | re.S)


def commands(document: Path) -> list[tuple[str, str]]:
    """The commands of a document in order, each with the output that is shown, if any is."""
    found = []
    for block in blocks(document, "console"):
        for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
            command, _, output = part.partition("\n")
            found.append((command.split("  #")[0].strip(), output))
    return [(command, output) for command, output in found if "selfplay " in command]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_commands_that_are_shown_run(document: Path, tmp_path: Path) -> None:
    for folder in ("examples", "tests"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    for command, shown in commands(document):
        if not command.startswith(("git clone", "ray ", "sbatch ", "kubectl ")):
            output = run_command(command, tmp_path)
            if shown:
                assert without_times(output) == without_times(shown), command


def run_command(command: str, where: Path) -> str:
    """What a command prints that is shown; it has nothing to complain of."""
    stages = [stage.strip() for stage in command.split("|")]
    assert all(stage.startswith("selfplay ") for stage in stages), command
    # Someone who leaves at once stands in for the person at the keyboard.
    output = "q\n"
    for stage in stages:
        done = run(*shlex.split(stage)[1:], stdin=output, cwd=where)
        progress = re.compile(r" shards, | positions solved$")
        complaints = [line for line in done.stderr.splitlines() if not progress.search(line)]
        assert (done.returncode, complaints) == (0, []), command
        output = done.stdout
    assert output or " --out " in command, command
    return output


def without_times(text: str) -> list[str]:
    """Lines to be compared: how long something took is another matter each time."""
    text = re.sub(r" in [0-9.]+ s .*|, [0-9,]+ positions/s", "", text.rstrip())
    return [line.rstrip() for line in text.splitlines()]


def test_documents_that_follow_from_the_code_do() -> None:
    """`make reference` writes them anew."""
    assert reference.CLI.read_text() == reference.cli_reference()
    assert reference.ARCHITECTURE.read_text() == reference.architecture()


def test_what_the_architecture_names_is_where_it_says() -> None:
    text = reference.ARCHITECTURE.read_text()
    hops = re.findall(r"`([\w/]+\.py)`:?\s+`([\w.]+)`", text)
    places = [(path, name) for name, path in re.findall(r"`([\w.]+)` in `([\w/]+\.py)`", text)]
    assert min(len(hops) - 10, len(places) - 5) > 0
    hops += places
    for path, name in hops:
        source = (ROOT / path).read_text()
        for part in name.split("."):
            assert re.search(rf"^\s*(def|class) {part}\b|^{part}\b.* = ", source, re.M), (
                path,
                name,
            )


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
