"""`selfplay openings`: the random openings of a run, and how many positions they cover."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated

from typer import Argument, Option

from selfplay.cli.options import BoardSize, Connect, Json, Seed
from selfplay.game.board import Board


def openings(
    opening: Annotated[
        str,
        Argument(
            metavar="OPENING",
            help="0-20 or 8: random plies; sensible:0-20: the same, taking and blocking wins; "
            "all:4: every position with 4 stones; file:PATH.",
        ),
    ] = "0-20",
    games: Annotated[int, Option(min=1, max=1_000_000_000, help="Number of openings.")] = 10,
    size: BoardSize = "7x6",
    connect: Connect = 4,
    seed: Seed = 0,
    coverage: Annotated[
        bool, Option("--coverage", help="Print coverage statistics instead.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Print the random openings of a run, one per line.

    A run with the same seed has these openings: to test a tree, take positions of another seed
    than its runs'.

    Example: selfplay openings all:2 --games 100 --coverage
    """
    from selfplay.game.coverage import coverage as coverage_of
    from selfplay.game.openings import parse_openings

    parsed = parse_openings(opening, Board.parse(size, connect))
    if not coverage:
        for game in range(games):
            text = parsed.opening(seed, game).notation or ""
            print(json.dumps({"game": game, "position": text}) if as_json else text)
        return
    covered = coverage_of(parsed, seed, games)
    if as_json:
        print(json.dumps(asdict(covered)))
        return
    from selfplay.cli.rendering import bar, console, has_unicode, plain_table

    out = console()
    total = "" if covered.distinct is None else f" of {covered.distinct:,}"
    out.print(
        f"{covered.games:,} games, {covered.covered:,}{total} different openings (mirror images "
        f"count once); the most frequent occurs {covered.most_repeated:,} times"
    )
    most, unicode = max(covered.by_ply.values()), has_unicode(out)
    rows = [
        (f"{ply}", f"{count:,}", bar(count / most, 24, unicode=unicode))
        for ply, count in covered.by_ply.items()
    ]
    out.print(plain_table(("stones", "games", ""), rows))
