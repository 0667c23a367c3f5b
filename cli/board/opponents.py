"""The players that the menu offers for a board, by strength."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from selfplay.errors import InputError
from selfplay.game.board import Board

if TYPE_CHECKING:
    from selfplay.train.model import Model

MODELS = Path("models")


class Opponent(NamedTuple):
    """A player: its spec, a word for its strength, and details."""

    spec: str
    level: str
    detail: str = ""


_LEVELS = (
    (Opponent("random", "beginner"), 0.642),
    (Opponent("greedy", "casual"), 0.164),
    (Opponent("minimax:depth=6,eval=threats", "skilled"), 0.093),
    (Opponent("mcts:100", "strong"), 0.070),
    (Opponent("mcts:1000", "expert"), 0.040),
    (Opponent("mcts:10000", "master"), 0.018),
    (Opponent("mcts:100000", "grandmaster"), 0.010),
    (Opponent("perfect", "perfect"), 0.0),
)
"""Each with its share of mistakes by `selfplay evaluate PLAYER` on 7x6."""


def default_opponent(board: Board) -> str:
    """The bundled tree where it can play, else a search."""
    return "tree" if board == Board() else "mcts:10000"


def is_offered(spec: str, board: Board) -> bool:
    """Whether the menu offers this player for a board."""
    spec, level = parted(spec)
    if level is not None and level not in levels():
        return False
    if spec == "perfect":
        return board.fits_word
    if any(spec == one.spec for one, _ in _LEVELS):
        return True
    model = next((_load(path) for path in _files() if _spec_of(path) == spec), None)
    return model is not None and model.board == board


def parted(spec: str) -> tuple[str, int | None]:
    """The spec of a tree without its level, and the level; of others the spec, and None."""
    found = re.fullmatch(r"(tree(?::.+)?)[:,]level=(\d+)", spec)
    return (found[1], int(found[2])) if found else (spec, None)


def at_level(tree: str, level: int) -> str:
    """The spec of a tree at a level; the strongest is the tree itself."""
    if level == levels()[-1]:
        return tree
    return f"{tree}{',' if ':' in tree else ':'}level={level}"


def levels() -> range:
    from selfplay.train.levels import LEVELS

    return range(1, LEVELS + 1)


def opponents(board: Board) -> list[Opponent]:
    """The players for a board, the weakest first; then trees whose strength is unknown."""
    ranked = [entry for entry in _LEVELS if entry[0].spec != "perfect" or board.fits_word]
    unknown = []
    for spec, model in _trees(board).items():
        leaves, mistakes = f"{model.tree.leaves:,} leaves", _mistakes(model)
        if mistakes is None:
            unknown.append(Opponent(spec, "trained", leaves))
        else:
            levels = ["beginner", *(one.level for one, bound in _LEVELS if mistakes <= bound)]
            ranked.append(
                (Opponent(spec, levels[-1], f"{mistakes:.1%} mistakes, {leaves}"), mistakes)
            )
    ranked.sort(key=lambda entry: -entry[1])
    return [one for one, _ in ranked] + unknown


def _trees(board: Board) -> dict[str, Model]:
    """The trees that play on this board, by spec."""
    models = {_spec_of(path): _load(path) for path in _files()}
    return {spec: model for spec, model in models.items() if model and model.board == board}


def _files() -> list[str]:
    """The bundled model and the files in `models/`."""
    from selfplay.train.model import BASE

    found = sorted(map(str, MODELS.iterdir())) if MODELS.is_dir() else []
    return list(dict.fromkeys([BASE, *found]))


def _spec_of(path: str) -> str:
    from selfplay.train.model import BASE

    return "tree" if path == BASE else f"tree:{path}"


def _load(path: str) -> Model | None:
    from selfplay.train.model import Model

    try:
        return Model.load(path)
    except InputError:  # not a model
        return None


def _mistakes(model: Model) -> float | None:
    """A tree's share of mistakes in the contested positions of the development half, as `selfplay
    evaluate` counts them, if there is a set for its board."""
    from selfplay.train.evaluation.positions import bundled
    from selfplay.train.player import TreePlayer

    found = bundled(model.board)
    if found is None:
        return None
    positions = found.development
    contested = positions.contested
    player = TreePlayer(model.board, model)
    moves = player.moves(positions.own[contested], positions.mask[contested])
    values, best = positions.values[contested], positions.best[contested]
    return float((values[range(len(values)), moves] < best).mean())
