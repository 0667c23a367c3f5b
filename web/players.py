"""The players that a page may ask for: models that the command line named, and others in bounds."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import PurePosixPath

from selfplay.errors import InputError, did_you_mean, printable, quoted
from selfplay.options import parse_value
from selfplay.registry import PRESETS, PlayerSpec, kind_of

BUNDLED = "tree"
LEVEL = ":level="
"""Between the name of a tree and its level."""
OFFERED = ("random", "greedy", "minimax:6", "mcts:100", "mcts:1000", "mcts:10000", "perfect")

_KINDS = ("random", "centre", "greedy", "minimax", "mcts", "perfect", *PRESETS)
_MOST = {"iterations": 400_000, "seconds": 10.0, "depth": 10, "solver": 100}
_MOST_MEMORY = 100
_LONGEST = 200


def names_of(models: Sequence[str]) -> dict[str, str]:
    """A name for each model file, which is a player on the page."""
    named = short_names(models, {"human", BUNDLED, *_KINDS})
    for name, model in named.items():
        if not set(name).isdisjoint(":,#&="):
            raise InputError(
                f"the model {quoted(model, 200)} would be called {quoted(name)} on the page: a "
                "player's name has none of the signs : , # & ="
            )
    return named


def short_names(locations: Sequence[str], taken: Collection[str] = ()) -> dict[str, str]:
    """A name for each file or folder: its own; after its folder's, if another has that."""
    named: dict[str, str] = {}
    for location in dict.fromkeys(locations):
        path = PurePosixPath(location.partition("?")[0])
        name = own = printable(path.name) or "run"
        if name in named or name in taken:
            name = own = f"{printable(path.parent.name)}-{own}".removeprefix("-")
        number = 1
        while name in named or name in taken:
            number += 1
            name = f"{own}-{number}"
        named[name] = location
    return named


def name_on_page(spec: PlayerSpec, models: Mapping[str, str]) -> str:
    """What the page calls a player: a tree by the name of its model."""
    if spec.name != BUNDLED:
        return str(spec)
    names = {model: name for name, model in models.items()}
    level = "" if spec.options.level is None else f"{LEVEL}{spec.options.level}"
    return names.get(spec.options.model, BUNDLED) + level


def spec_of(text: str, models: Mapping[str, str]) -> PlayerSpec:
    """The player of this name or spec; a tree may have a level. No file is opened but those of
    `models`, and the bundled tree's."""
    tree, has_level, level = text.partition(LEVEL)
    if tree == BUNDLED or tree in models:
        given: dict[str, object] = {"model": models[tree]} if tree in models else {}
        if has_level:  # a number and nothing else: other options name files
            given["level"] = parse_value("level", level[:_LONGEST], int)
        return PlayerSpec("tree", kind_of("tree").options()(**given))
    name = text.strip().partition(":")[0]
    if name not in _KINDS or len(text) > _LONGEST:
        known = did_you_mean(text[:_LONGEST], [BUNDLED, *models, *OFFERED])
        raise InputError(
            f"the page has no player {quoted(text)}; {known}; name models on the command line"
        )
    spec = PlayerSpec.parse(text)
    return replace(spec, options=_bounded(spec))


def tree_spec_of(name: str, models: Mapping[str, str]) -> PlayerSpec:
    """The tree of this name; other players are refused."""
    trees = [BUNDLED, *models]
    if name.partition(LEVEL)[0] not in trees:
        raise InputError(
            f"only a tree explains its moves, and {quoted(name)} is none: {', '.join(trees)}"
        )
    return spec_of(name, models)


def _bounded(spec: PlayerSpec) -> object:
    """The options with memory as far as the page may use it; others beyond bounds are refused."""
    options = spec.options
    given = {field.name: getattr(options, field.name) for field in fields(options)}
    for option, most in _MOST.items():
        if (given.get(option) or 0) > most:
            raise InputError(f"{option} is at most {most:,g} on the page")
    if given.get("book") is not None:
        raise InputError("a player on the page names no file: leave out book")
    if spec.name == "perfect" and given["seconds"] is None:
        options = replace(options, seconds=_MOST["seconds"])
    if "memory" in given:
        options = replace(options, memory=min(given["memory"], _MOST_MEMORY))
    return options
