"""`selfplay explain`: why a tree plays what it plays, and the tree itself."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from selfplay.errors import InputError, quoted

if TYPE_CHECKING:
    from selfplay.train.explanation import Explanation
    from selfplay.train.model import Model

FORMS = ("rules", "dot", "svg", "json", "onnx")


def explain(
    model: Annotated[
        str | None,
        typer.Argument(metavar="[MODEL]", help="Model file. [default: the bundled model]"),
    ] = None,
    position: Annotated[
        str | None, typer.Argument(metavar="[POSITION]", help="Columns played, such as 44352.")
    ] = None,
    export: Annotated[
        str | None, typer.Option("--export", help="Export the tree: rules, dot, svg, json or onnx.")
    ] = None,
    depth: Annotated[
        int | None,
        typer.Option("--depth", min=0, help="Levels of the tree to print. [default: 3]"),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Write the export there.")
    ] = None,
) -> None:
    """Explain a tree's move in a position; without a position, print the tree.

    Example: selfplay explain 44352
    """
    from selfplay.train.model import BASE, Model

    if export is not None and export not in FORMS:
        raise InputError(f"export is one of {', '.join(FORMS)}, not {quoted(export)}")
    if export == "onnx" and (out is None or depth is not None):
        raise InputError("onnx is for other programs: the whole tree, with --out FILE, no --depth")
    if position is None and model is not None and _is_position(model):
        model, position = None, model
    found = Model.load(model or BASE)
    if position is not None and export is None:
        tell(found, position)
    elif export == "onnx":
        from selfplay.train.tree.onnx_export import as_onnx

        assert out is not None
        out.write_bytes(as_onnx(found))
    else:
        text = exported(found, export or "rules", 3 if depth is None else depth)
        print(text) if out is None else out.write_text(text)


def _is_position(text: str) -> bool:
    """Whether a single argument is meant as a position, not as a model."""
    return text.replace(",", "").isdigit() and not Path(text).exists()


def exported(model: Model, form: str, depth: int) -> str:
    """The top of a tree in one of the forms."""
    from selfplay.train.explanation import wording_of
    from selfplay.train.tree.exports import as_dot, as_json, as_svg, as_text

    write = {"rules": as_text, "dot": as_dot, "svg": as_svg, "json": as_json}[form]
    return write(model.tree, wording_of(model), depth)


def tell(model: Model, text: str) -> None:
    from selfplay.cli.drawing import board_text, console
    from selfplay.cli.positions import unfinished
    from selfplay.cli.reasons import reasons
    from selfplay.train.player import TreePlayer

    position = unfinished(text, model.board)
    why: Explanation = TreePlayer(model.board, model).decide(position).why
    out = console()
    out.print(board_text(position, last=position.moves[-1] if position.moves else None))
    out.print()
    for line in reasons(why):
        out.print(line)
