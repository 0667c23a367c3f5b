"""`selfplay openings`: the randomized openings of a run, and what they cover."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated

import typer

from selfplay.cli.options import BoardSize, Connect, Json, Seed
from selfplay.game.board import Board


def openings(
    opening: Annotated[
        str,
        typer.Argument(
            help="0-20 or 8: random plies; sensible:0-20: wins are taken and prevented; "
            "all:4: every position with 4 stones; file:PATH.",
        ),
    ] = "0-20",
    games: Annotated[
        int, typer.Option("--games", min=1, max=1_000_000_000, help="Number of openings.")
    ] = 10,
    board: BoardSize = "7x6",
    connect: Connect = 4,
    seed: Seed = 0,
    coverage: Annotated[
        bool, typer.Option("--coverage", help="Print coverage statistics instead.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Print the random openings of a run, one per line.

    Example: selfplay openings all:2 --games 100 --coverage
    """
    from selfplay.game.coverage import coverage as measure
    from selfplay.game.openings import parse_openings

    dealt = parse_openings(opening, Board.parse(board, connect))
    if not coverage:
        for game in range(games):
            position = dealt.opening(seed, game)
            text = position.notation or ""
            print(json.dumps({"game": game, "position": text}) if as_json else text)
        return
    found = measure(dealt, seed, games)
    if as_json:
        print(json.dumps(asdict(found)))
        return
    from selfplay.cli.drawing import bar, console, has_unicode, plain_table

    out = console()
    of_all = "" if found.distinct is None else f" of {found.distinct:,}"
    out.print(
        f"{found.games:,} games, {found.covered:,}{of_all} different openings "
        f"(mirror images count once), the commonest {found.most_repeated:,} times"
    )
    most = max(found.by_ply.values())
    out.print(
        plain_table(
            ("stones", "games", ""),
            [
                (str(ply), f"{count:,}", bar(count / most, 24, unicode=has_unicode(out)))
                for ply, count in found.by_ply.items()
            ],
        )
    )
