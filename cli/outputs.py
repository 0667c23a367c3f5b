"""Output files: where a command writes one, and what it says before it replaces another."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from selfplay.errors import InputError, printable, quoted

if TYPE_CHECKING:
    from selfplay.storage.location import Location


def output_file(uri: str) -> tuple[Location, str]:
    """The folder of an output file, and its name there. Call it before any work: what cannot be
    written is refused, and a file that will be replaced is named."""
    from selfplay.storage.location import Location

    place, name = Location.of_file(uri)
    if place.folder is not None:
        require_file_place(place.folder / name)
    if name in place.files(""):
        print(f"{printable(uri)} exists: it is replaced", file=sys.stderr, flush=True)
    return place, name


def require_file_place(file: Path) -> None:
    """Refuse a file in a folder that does not exist, or that is a folder itself."""
    if not file.parent.is_dir():
        folder = quoted(str(file.parent), 200)
        raise InputError(f"there is no folder {folder} for {quoted(file.name)}")
    if file.is_dir():
        raise InputError(f"{quoted(str(file), 200)} is a folder, not a file")
