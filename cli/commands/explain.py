"""`selfplay explain`: why a tree makes a move; the tree as text, picture or file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from typer import Argument, Option

from selfplay.cli.model_reports import show_importances, show_weights
from selfplay.cli.options import Json
from selfplay.errors import InputError, quoted

if TYPE_CHECKING:
    from selfplay.train.model import Model

_ENDINGS = {
    ".txt": "rules",
    ".dot": "dot",
    ".gv": "dot",
    ".svg": "svg",
    ".json": "json",
    ".onnx": "onnx",
}
"""What the ending of a file promises."""
_PICTURES = (".png", ".pdf", ".jpg", ".jpeg", ".gif", ".ps", ".eps")


def explain(
    model: Annotated[
        str | None, Argument(metavar="MODEL", help="Model file. [default: the bundled model]")
    ] = None,
    position: Annotated[
        str | None, Argument(metavar="POSITION", help="Columns played, such as 44352.")
    ] = None,
    export: Annotated[
        Literal["rules", "dot", "svg", "json", "onnx"] | None,
        Option(help="Export the tree instead."),
    ] = None,
    depth: Annotated[
        int | None, Option(min=0, help="Levels of the tree to print. [default: 3]")
    ] = None,
    out: Annotated[Path | None, Option(metavar="FILE", help="Write to a file.")] = None,
    importances: Annotated[
        bool, Option("--importances", help="Rank the features by gain and permutation importance.")
    ] = False,
    weights: Annotated[
        bool, Option("--weights", help="Rank the learned weights by the points they move.")
    ] = False,
    run: Annotated[
        str | None,
        Option(
            metavar="RUN",
            help="Positions for permutation importance. [default: the evaluation set]",
        ),
    ] = None,
    path: Annotated[
        bool, Option("--path", help="Show the move's path through the tree and its leaf, too.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Explain a tree's move in a position; without a position, print the tree.

    A move is explained by what it does, what another would have allowed, and a stone whose
    other colour would have changed the move.

    Gain importance is a feature's share of the decrease of impurity in training. Permutation
    importance is how many more wrong moves the tree makes when the feature is shuffled.
    Weights are shown by how far they spread the points of moves, in some positions.

    In JSON, columns and rows count from 0; the path is always there.

    Example: selfplay explain 44352
    """
    from selfplay.train.explanation.path import wording_of
    from selfplay.train.model import BASE, Model
    from selfplay.train.tree import exports

    if export == "onnx" and (out is None or depth is not None):
        raise InputError("onnx is binary and always the whole tree: with --out FILE, no --depth")
    of_model = importances or weights
    if (of_model and (position, export, depth, out) != (None,) * 4) or (importances and weights):
        raise InputError(
            "--importances and --weights are of the whole model: one of them, with no position, "
            "--export, --depth or --out"
        )
    if run is not None and not importances:
        raise InputError("--run is for --importances")
    if position is None and model is not None and not of_model and _is_position(model):
        model, position = None, model
    if as_json and not of_model and (position is None or export is not None):
        raise InputError(
            "--json is for a position, --importances or --weights; the tree as JSON: --export json"
        )
    if position is not None and (export, depth) != (None, None):
        raise InputError("--export and --depth are of the tree: with no position")
    if path and position is None:
        raise InputError("--path is of a move: with a position")
    if out is not None:
        content: str = export or "rules"
        if position is not None:
            content = "json" if as_json else "text"
        _check_ending(out, content)
    loaded = Model.load(model or BASE)
    if importances:
        show_importances(loaded, run, as_json=as_json)
    elif weights:
        show_weights(loaded, as_json=as_json)
    elif position is not None:
        show_reasons(loaded, position, out, with_path=path, as_json=as_json)
    elif export == "onnx":
        from selfplay.train.tree.onnx_export import as_onnx

        assert out is not None
        out.write_bytes(as_onnx(loaded))
    else:
        writers = {
            "rules": exports.as_text,
            "dot": exports.as_dot,
            "svg": exports.as_svg,
            "json": exports.as_json,
        }
        write = writers[export or "rules"]
        text = write(loaded.tree, wording_of(loaded), 3 if depth is None else depth)
        print(text) if out is None else out.write_text(text)


def _is_position(text: str) -> bool:
    """Whether a single argument is a position, not a model file."""
    return text.replace(",", "").isdigit() and not Path(text).exists()


def _check_ending(out: Path, content: str) -> None:
    """Refuse a file whose name promises another content."""
    ending = out.suffix.lower()
    if ending in _PICTURES:
        raise InputError(f"there are no {ending} pictures of a tree: --export svg --out FILE.svg")
    promised = _ENDINGS.get(ending, content)
    if content not in (promised, "text" if promised == "rules" else promised):
        instead = "another ending" if content == "text" else f"--export {promised}"
        raise InputError(f"{quoted(str(out), 200)} promises {promised}, not {content}: {instead}")


def show_reasons(
    model: Model, text: str, file: Path | None, *, with_path: bool, as_json: bool
) -> None:
    """Print the reasons for the tree's move, or write them to a file, as text or JSON."""
    from selfplay.cli.positions import parse_unfinished
    from selfplay.cli.rendering import board_text, console
    from selfplay.train.explanation.path_text import path_lines
    from selfplay.train.player import TreePlayer
    from selfplay.web.records import explanation_record

    position = parse_unfinished(text, model.board)
    why = TreePlayer(model.board, model).decide(position).why
    lines = [*why.reasons.sentences(), *(["", *path_lines(why)] if with_path else [])]
    board, reasons = board_text(position), "\n".join(lines)
    record = json.dumps(explanation_record(text, why))
    if file is not None:
        file.write_text(f"{record}\n" if as_json else f"{board.plain}\n\n{reasons}\n")
        return
    if as_json:
        print(record)
        return
    out = console()
    out.print(board)
    out.print()
    out.print(reasons)
