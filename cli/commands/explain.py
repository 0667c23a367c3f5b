"""`selfplay explain`: why a tree makes a move; the tree as text, picture or file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from typer import Argument, Option

from selfplay.errors import InputError

if TYPE_CHECKING:
    from selfplay.train.model import Model


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
    out: Annotated[Path | None, Option(metavar="FILE", help="Write the tree to a file.")] = None,
) -> None:
    """Explain a tree's move in a position; without a position, print the tree.

    Example: selfplay explain 44352
    """
    from selfplay.train.explanation import wording_of
    from selfplay.train.model import BASE, Model
    from selfplay.train.tree.exports import as_dot, as_json, as_svg, as_text

    if export == "onnx" and (out is None or depth is not None):
        raise InputError("onnx is binary and always the whole tree: with --out FILE, no --depth")
    if position is None and model is not None and _is_position(model):
        model, position = None, model
    loaded = Model.load(model or BASE)
    if position is not None and export is None:
        show_reasons(loaded, position)
    elif export == "onnx":
        from selfplay.train.tree.onnx_export import as_onnx

        assert out is not None
        out.write_bytes(as_onnx(loaded))
    else:
        writers = {"rules": as_text, "dot": as_dot, "svg": as_svg, "json": as_json}
        write = writers[export or "rules"]
        text = write(loaded.tree, wording_of(loaded), 3 if depth is None else depth)
        print(text) if out is None else out.write_text(text)


def _is_position(text: str) -> bool:
    """Whether a single argument is a position, not a model file."""
    return text.replace(",", "").isdigit() and not Path(text).exists()


def show_reasons(model: Model, text: str) -> None:
    from selfplay.cli.explanation_text import explanation_lines
    from selfplay.cli.positions import parse_unfinished
    from selfplay.cli.rendering import board_text, console
    from selfplay.train.player import TreePlayer

    position = parse_unfinished(text, model.board)
    out = console()
    out.print(board_text(position))
    out.print()
    for line in explanation_lines(TreePlayer(model.board, model).decide(position).why):
        out.print(line)
