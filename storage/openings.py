"""Save and load a run's list of openings, so that every machine has the same one."""

from __future__ import annotations

from selfplay.errors import InputError
from selfplay.game.openings import Deck, Openings, listed_openings, parse_openings
from selfplay.storage.location import Location
from selfplay.storage.spec import Spec, digest_of


def openings_file(digest: str) -> str:
    """The file name has the digest: runs begun at the same time do not overwrite each other's."""
    return f"openings-{digest[:16]}.txt"


def save_openings(place: Location, spec: Spec) -> None:
    """Copy a list of openings into the run: the original file is on one machine only."""
    deck = parse_openings(spec.opening, spec.parsed_board)
    if spec.opening_digest is not None and isinstance(deck, Deck):
        text = "".join(f"{position.notation}\n" for position in deck.positions)
        place.write(openings_file(spec.opening_digest), text.encode())


def load_openings(place: Location, spec: Spec) -> Openings:
    """The openings of a run's games."""
    if spec.opening_digest is None:
        return parse_openings(spec.opening, spec.parsed_board)
    file = openings_file(spec.opening_digest)
    name = f"{place}/{file}"
    try:
        text = place.read(file).decode()
    except (FileNotFoundError, UnicodeDecodeError):
        raise InputError(f"the openings of this run cannot be read from {name}") from None
    deck = listed_openings(text, spec.parsed_board, name)
    if digest_of(deck) != spec.opening_digest:
        raise InputError(f"{name} does not hold the openings that this run was begun with")
    return deck
