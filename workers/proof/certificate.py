"""The certificate of a proof: what was walked, in numbers that anybody can find again."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any

from selfplay.errors import InputError, quoted
from selfplay.files import read_bounded, write_whole
from selfplay.game.board import Board
from selfplay.game.position import FIRST, SECOND
from selfplay.workers.proof.walk import FORMAT, Proof, Walk

_MOST_BYTES = 1 << 18
_RESULTS = {1: "win", 0: "draw", -1: "loss"}
PROVEN, KEPT, GIVEN_AWAY = "proven", "kept so far", "given away"


def verdict_of(walk: Walk) -> str:
    """What a complete walk shows."""
    if walk.mistakes:
        return GIVEN_AWAY
    return PROVEN if walk.is_whole else KEPT


def certificate_of(walk: Walk) -> dict[str, Any]:
    """The certificate of a complete walk."""
    left_out = ("seconds", "goes_on")
    record = {
        **walk.proof.record,
        "complete_player": walk.proof.player,
        "value": _RESULTS[walk.value],
        "stones": walk.most_stones,
        "levels": [
            {name: value for name, value in level.items() if name not in left_out}
            for level in walk.levels
        ],
        "mistakes": walk.mistakes,
        "verdict": verdict_of(walk),
    }
    return {**record, "checksum": _checksum(record)}


def save(certificate: Mapping[str, Any], path: Path) -> None:
    write_whole(path, (json.dumps(certificate, indent=2) + "\n").encode())


def load(path: Path) -> dict[str, Any]:
    """Read a certificate; a damaged one is refused."""
    try:
        record = json.loads(read_bounded(path, _MOST_BYTES, "certificate"))
    except FileNotFoundError:
        raise InputError(f"there is no certificate {quoted(str(path), 200)}") from None
    except ValueError as error:
        raise _refused(path, quoted(str(error), 100)) from None
    if not isinstance(record, dict) or record.get("format") != FORMAT:
        raise _refused(path, f"its format is not {FORMAT!r}")
    content = {name: value for name, value in record.items() if name != "checksum"}
    if record.get("checksum") != _checksum(content):
        raise _refused(path, "its checksum does not match: it was changed")
    return record


def proof_in(certificate: Mapping[str, Any], path: Path, player: str | None) -> Proof:
    """What a certificate says is proven; of the player `player` if given, which has to be the same.

    A player that is code runs only if it is given.
    """
    try:
        if player is None:
            player = str(certificate["complete_player"])
            if player.strip().startswith("py:"):
                raise InputError(
                    f"{path} names code, which runs only if the command line names it: give the "
                    f"player {quoted(player, 100)} as PLAYER"
                )
        board = Board.parse(certificate["board"], certificate["connect"])
        side = {"first": FIRST, "second": SECOND}[certificate["as"]]
        proof = Proof.of(player, board, certificate["from"], side)
        stones, levels = certificate["stones"], certificate["levels"]
        is_sound = stones is None or (type(stones) is int and stones >= 0)
        if not is_sound or not all(type(level["stones"]) is int for level in levels):
            raise TypeError("stones are whole numbers")
    except (KeyError, TypeError, AttributeError) as error:
        raise _refused(path, f"{type(error).__name__}: {quoted(str(error))}") from None
    if proof.record["player"] != certificate["player"]:
        raise InputError(
            f"{path} is of {quoted(str(certificate['player']), 100)}, not of "
            f"{quoted(proof.record['player'], 100)}"
        )
    return proof


def differences(certificate: Mapping[str, Any], found: Mapping[str, Any]) -> Iterator[str]:
    """Where a certificate and the one found by repeating it differ."""
    there, here = ({n["stones"]: n for n in one["levels"]} for one in (certificate, found))
    for stones in sorted(there.keys() | here.keys()):
        one, other = there.get(stones, {}), here.get(stones, {})
        for name in {**one, **other}:
            if one.get(name) != other.get(name):
                yield f"{stones} stones: {name} {one.get(name)}, found {other.get(name)}"
    for name in sorted(found.keys() - {"levels", "checksum", "complete_player"}):
        if certificate.get(name) != found[name]:
            yield f"{name} {certificate.get(name)}, found {found[name]}"


def _checksum(record: Mapping[str, Any]) -> str:
    text = json.dumps(record, sort_keys=True)
    return blake2b(text.encode(), digest_size=16).hexdigest()


def _refused(path: Path, reason: str) -> InputError:
    return InputError(f"{quoted(str(path), 200)} is not a certificate: {reason}")
