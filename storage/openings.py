"""The openings of a run, wherever it is worked on: a list of them travels with the run."""

from __future__ import annotations

from selfplay.errors import InputError
from selfplay.openings import Deck, Openings, listed_openings, parse_openings
from storage.place import Place
from storage.spec import Spec, digest_of

NAME = "openings.txt"


def keep_openings(place: Place, spec: Spec) -> None:
    """Put a list of openings beside the rows: the file that it came from is on one machine."""
    deck = parse_openings(spec.opening, spec.geometry)
    if spec.has_opening_file and isinstance(deck, Deck):
        text = "".join(f"{position.notation}\n" for position in deck.positions)
        place.write(NAME, text.encode())


def openings_of(place: Place, spec: Spec) -> Openings:
    """Where the games of a run begin."""
    if not spec.has_opening_file:
        return parse_openings(spec.opening, spec.geometry)
    name = f"{place}/{NAME}"
    try:
        text = place.read(NAME).decode()
    except (FileNotFoundError, UnicodeDecodeError):
        raise InputError(f"the openings of this run cannot be read from {name}") from None
    deck = listed_openings(text, spec.geometry, name)
    if digest_of(deck) != spec.opening_digest:
        raise InputError(f"{name} does not hold the openings that this run was begun with")
    return deck
