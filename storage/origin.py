"""Where the rows of a run come from: a `generate` command, or other runs with theirs."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from typing import Any

from selfplay.errors import without_keys
from selfplay.options import options_of
from selfplay.storage.dataset import Dataset
from selfplay.storage.spec import Spec

_MOST_LEVELS = 4  # of runs made of other runs; the file that names them may be a stranger's


def origin_of(dataset: Dataset) -> dict[str, Any]:
    """A run as a source of another one, for `run.json`."""
    origin: dict[str, Any] = {"run": str(dataset.place), "fingerprint": dataset.fingerprint}
    if dataset.spec is None:
        return {**origin, "source": dataset.manifest.source}
    return {**origin, "command": without_keys(generate_command(dataset.spec, name_of(dataset)))}


def name_of(dataset: Dataset) -> str:
    return str(dataset.place).rsplit("/", 1)[-1]


def generate_command(spec: Spec, place: str) -> str:
    """The command that generates a run with this spec."""
    words = ["selfplay", "generate", place]
    default = Spec()
    for option in options_of(Spec):
        if (value := getattr(spec, option.name)) != getattr(default, option.name):
            words += [f"--{option.name.replace('_', '-')}", str(value)]
    return shlex.join(words)


def source_text(source: object, levels: int = _MOST_LEVELS) -> str:
    """The source of a run in a few words, as Markdown."""
    match source:
        case {"merged": [*runs]} if levels:
            named = "; ".join(_run_text(run, levels) for run in runs)
            return f"merged, each game once, from {named}"
        case {"split": {"part": str(part), "test": float(test)} as run} if levels:
            share = test if part == "test" else 1 - test
            return f"the {part} set, {share:.0%} of the positions, of {_run_text(run, levels)}"
        case {"imported": str(file)}:
            return f"imported from the file `{file}`"
        case {"played by": [*people]}:
            return f"games played by {', '.join(map(str, people))}"
    return f"`{json.dumps(source)}`"


def _run_text(run: object, levels: int) -> str:
    if not isinstance(run, Mapping):
        return f"`{run}`"
    text = f"`{run.get('run')}` (fingerprint `{run.get('fingerprint')}`"
    if "command" in run:
        text += f", made with `{run['command']}`"
    elif run.get("source"):
        text += f", {source_text(run['source'], levels - 1)}"
    return f"{text})"
