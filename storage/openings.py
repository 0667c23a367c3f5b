"""The openings of a run, wherever it is worked on: a list of them travels with the run."""

from __future__ import annotations

from selfplay.errors import InputError
from selfplay.game.openings import Deck, Openings, listed_openings, parse_openings
from selfplay.storage.location import Location
from selfplay.storage.spec import Spec, digest_of


def file_of(digest: str) -> str:
    """Named by what is in it: two who begin a run at once do not exchange each other's."""
    return f"openings-{digest[:16]}.txt"


def keep_openings(place: Location, spec: Spec) -> None:
    """Put a list of openings beside the rows: the file that it came from is on one machine."""
    deck = parse_openings(spec.opening, spec.geometry)
    if spec.opening_digest is not None and isinstance(deck, Deck):
        text = "".join(f"{position.notation}\n" for position in deck.positions)
        place.write(file_of(spec.opening_digest), text.encode())


def openings_of(place: Location, spec: Spec) -> Openings:
    """Where the games of a run begin."""
    if spec.opening_digest is None:
        return parse_openings(spec.opening, spec.geometry)
    file = file_of(spec.opening_digest)
    name = f"{place}/{file}"
    try:
        text = place.read(file).decode()
    except (FileNotFoundError, UnicodeDecodeError):
        raise InputError(f"the openings of this run cannot be read from {name}") from None
    deck = listed_openings(text, spec.geometry, name)
    if digest_of(deck) != spec.opening_digest:
        raise InputError(f"{name} does not hold the openings that this run was begun with")
    return deck
