"""`selfplay evaluate`: a player's mistake rate on solved positions."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from selfplay.cli.options import Json
from selfplay.errors import InputError
from selfplay.game.board import Board
from selfplay.wording import counted

if TYPE_CHECKING:
    from selfplay.train.evaluation.evaluation import Result
    from selfplay.train.evaluation.positions import EvaluationSet

BASELINES = ("random", "centre", "greedy", "mcts:100")

REMINDER = (
    "selfplay: the final half is meant to be looked at once per release: choose by the development "
    "half, and note this look in docs/evaluation.md"
)

_OF_ALL = (
    *("mean_regret", "could_win", "missed_wins", "missed_wins_interval"),
    *("could_blunder", "blunders", "blunders_interval", "microseconds_per_move"),
)


def evaluate(
    player: Annotated[
        str, Argument(metavar="PLAYER", help="Player, such as tree:MODEL or mcts:1000.")
    ],
    file: Annotated[
        Path | None,
        Option("--positions", metavar="FILE", help="Evaluate on these positions, one per line."),
    ] = None,
    set_file: Annotated[
        Path | None,
        Option(
            "--set",
            metavar="FILE",
            help="Evaluation set from `selfplay evaluation build`. [default: bundled]",
        ),
    ] = None,
    final: Annotated[
        bool,
        Option("--final", help="Use the final half of the set: once per release, not to choose."),
    ] = False,
    size: Annotated[
        str | None,
        Option(
            "--board",
            metavar="COLUMNSxROWS",
            help="Board of the positions. [default: that of --set or a tree, else 7x6]",
        ),
    ] = None,
    connect: Annotated[
        int | None, Option(metavar="K", help="Stones in a row that win, with --board. [default: 4]")
    ] = None,
    limit: Annotated[int | None, Option(min=1, help="Use only this many positions.")] = None,
    compare: Annotated[
        list[str] | None,
        Option(
            metavar="PLAYER",
            help="Also evaluate this player (repeatable) instead of the baselines.",
        ),
    ] = None,
    baselines: Annotated[bool, Option(help="Also evaluate simple players.")] = True,
    as_json: Json = False,
) -> None:
    """Measure a player's mistake rate against perfect play.

    The positions are the development half of an evaluation set, solved exactly and never trained
    on. A mistake is a move that does not keep the game value; a position is contested if some
    legal move is a mistake. Sets for 7x6, 6x5 and 8x7 are bundled; `selfplay evaluation build`
    makes others, and --positions are solved first.

    Example: selfplay evaluate greedy --limit 200
    """
    from selfplay.cli.progress import progress
    from selfplay.registry import PlayerSpec
    from selfplay.train.evaluation.evaluation import evaluate as evaluate_player
    from selfplay.train.evaluation.positions import EvaluationSet, read_positions, scored

    if file is not None and (set_file is not None or final):
        raise InputError("--positions are not of a set: leave out --set and --final")
    others = compare or (BASELINES if baselines else ())
    specs = [PlayerSpec.parse(name) for name in (player, *others)]
    board = specs[0].board or Board()
    if size is not None or connect is not None:
        board = Board.parse(size or Board().size, connect or 4)
    elif set_file is not None:
        board = EvaluationSet.load(set_file).board
    for spec in specs:  # refuse a wrong one before any work is done
        spec.require_board(board)
    if file is None:
        positions = _half(board, set_file, final=final)
    else:
        with progress("positions solved", in_logs=True) as update:
            positions = scored(read_positions(file, board), update)
    if limit is not None:
        positions = positions[:limit]
    results, repeats = [], dict[str, int | None]()
    for name in [player, *(() if as_json and not compare else others)]:
        with progress(name) as update:
            built = PlayerSpec.parse(name).build(positions.board)
            results.append(evaluate_player(name, built, positions, update))
        if file is not None or set_file is not None:
            repeats.update(_repeats(name, built, positions))
    if as_json:
        for result in results:
            repeated = {"in_training_runs": repeats.get(result.player)} if file or set_file else {}
            print(json.dumps(as_record(result) | repeated))
    else:
        show(results)
        for name, count in repeats.items():
            print(_repeats_text(name, count))


def _half(board: Board, file: Path | None, *, final: bool) -> EvaluationSet:
    from selfplay.train.evaluation.positions import EvaluationSet, how_to_build

    instead = f"{how_to_build(board, '--set')}, or give --positions FILE"
    found = EvaluationSet.for_board(board, file, instead)
    if not final:
        return found.development
    print(REMINDER, file=sys.stderr)
    return found.final


def _repeats(name: str, player: object, positions: EvaluationSet) -> dict[str, int | None]:
    """How many positions a tree's training runs have, too; nothing for other players."""
    from selfplay.train.evaluation.overlap import in_training_runs
    from selfplay.train.player import TreePlayer

    if not isinstance(player, TreePlayer):
        return {}
    return {name: in_training_runs(player.model, positions)}


def _repeats_text(name: str, count: int | None) -> str:
    if count is None:
        return f"{name}: its training runs are not here: it may have seen these positions"
    return f"{name}: {counted(count, 'position')} also in its training runs, mirror images included"


def as_record(result: Result) -> dict[str, object]:
    """The result of a player for `--json`."""
    record = {
        "player": result.player,
        **result.as_record(),
        **{name: getattr(result, name) for name in _OF_ALL},
    }
    for name, of in (("missed_wins", "could_win"), ("blunders", "could_blunder")):
        if not record[of]:
            record[f"{name}_interval"] = None
    return record


def show(results: list[Result]) -> None:
    from selfplay.cli.rendering import (
        MISTAKES,
        console,
        mistake_cells,
        percent,
        percent_range,
        plain_table,
    )

    first, out = results[0], console()
    counts = (
        f"{counted(first.all.positions, 'position')}, {first.all.contested:,} of them contested"
    )
    out.print(f"{first.player}: {counts}\n")
    out.print(plain_table(MISTAKES, [mistake_cells(*row) for row in first.rows().items()]))
    rows: list[tuple[str, ...]] = [
        (name, f"{count:,}", f"{of:,}", percent_range(interval, of))
        for name, count, of, interval in (
            ("missed wins in one", first.missed_wins, first.could_win, first.missed_wins_interval),
            ("allowed wins in one", first.blunders, first.could_blunder, first.blunders_interval),
        )
    ]
    out.print()
    out.print(plain_table(("", "", "of", "95 % conf."), rows))
    rows = [
        (
            result.player,
            percent(result.all.mistake_rate, result.all.contested),
            percent(result.all.optimal_share, result.all.positions),
            f"{result.mean_regret:.3f}",
            f"{result.missed_wins:,} of {result.could_win:,}",
            f"{result.blunders:,} of {result.could_blunder:,}",
            f"{result.microseconds_per_move:,.0f}",
        )
        for result in results
    ]
    header = ("", "mistakes", "optimal", "regret", "missed wins", "allowed wins", "µs per move")
    out.print("\ncomparison")
    out.print(plain_table(header, rows))
