"""What pages ask about runs, answered from their shards: each answer takes a part of a second, and
says where to go on."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import cache

from selfplay.errors import InputError
from selfplay.game.position import Position
from selfplay.storage.dataset import Dataset
from selfplay.storage.games import (
    Games,
    Wanted,
    continuations,
    line_or_none,
    notation_of,
    occurrences,
    players_of,
)
from selfplay.storage.label_quality import LabelQuality
from selfplay.storage.rows import NO_RESULT, Rows
from selfplay.storage.watch import MOST_POSITIONS, Watch
from selfplay.web.opened import Opened
from selfplay.web.records import Record, quality_record, statistics_record, status_record
from selfplay.web.run_questions import RunQuestion
from selfplay.workers.generation.status import status_of

PAGE = 50
_SECONDS = 0.4
"""For an answer: between two, others are answered."""
_SAMPLES = 5
_SHOWN_PROBLEMS = 3
_FEW_SHARDS = 200
_RESULTS = {"any": None, "win": 1, "draw": 0, "loss": -1, "unfinished": NO_RESULT}


def status(question: RunQuestion, watch: Watch) -> Record:
    """What `selfplay status` says, what the run is of, and what is wrong with it."""
    dataset = watch.look(_SECONDS)
    manifest, spec = dataset.manifest, dataset.spec
    players = players_of(manifest)
    shards = len(dataset.planned_files)
    problems = list(map(str, watch.problems))
    now = status_of(dataset)
    return {
        "status": status_record(now),
        "board": dataset.board.size,
        "connect": dataset.board.connect,
        "teachers": manifest.teachers,
        "opening": None if spec is None else spec.opening,
        "seed": None if spec is None else spec.seed,
        "resume": spec.command_to_resume(question.run) if spec and now.is_idle else None,
        "players": None if players is None else players[0],
        "read": shards - len(watch.unread),
        "files": shards,
        "is_small": shards <= _FEW_SHARDS and dataset.positions <= MOST_POSITIONS // 10,
        "problems": problems[:_SHOWN_PROBLEMS],
        "more_problems": max(0, len(problems) - _SHOWN_PROBLEMS),
    }


def statistics(_question: RunQuestion, watch: Watch) -> Record:
    """What `selfplay dataset info` and `quality` say, as soon as all shards are counted."""
    dataset = watch.look(_SECONDS)
    shards, info, quality = _shards(dataset, watch), None, None
    counted = watch.tally(dataset, _SECONDS)
    if counted == shards:
        info = statistics_record(dataset, watch.statistics(dataset))
        measured = LabelQuality.finished(dataset, watch.plies(dataset))
        quality = None if measured is None else quality_record(dataset, measured)
    return {"read": counted, "shards": shards, "info": info, "quality": quality}


def games(question: RunQuestion, watch: Watch) -> Record:
    """A page of games from `at` on, or less than one if that takes long; and where to go on."""
    dataset = watch.look(_SECONDS)
    wanted, players = wanted_of(question, dataset), players_of(dataset.manifest)
    shard_games = dataset.manifest.shard_games
    found: list[Record] = []
    read, following = 0, None
    for shard, rows in _scan(watch, dataset, question.at // shard_games):
        if rows is None:
            following = shard * shard_games
            break
        read += 1
        table = Games.of(rows, dataset.manifest)
        is_wanted = wanted.among(table, rows, players and players[1])
        for k in (is_wanted & (table.number >= question.at)).nonzero()[0].tolist():
            game = rows[table.first[k] : table.last[k] + 1]
            sides = None
            if players is not None:
                sides = [players[0][int(one[0])] for one in players[1](table.number[k : k + 1])]
            found.append({**_summary(table, k), "players": sides, **_course(game, dataset)})
            if len(found) == PAGE:
                following = min(int(table.number[k]) + 1, (shard + 1) * shard_games)
                break
        if following is not None:
            break
    return {
        "games": found,
        "read": read,
        "shards": _shards(dataset, watch),
        "next": following,
    }


def game(question: RunQuestion, watch: Watch) -> Record:
    """The rows of a game, with its positions."""
    dataset = watch.look(_SECONDS)
    shard = question.game // dataset.manifest.shard_games
    if shard in watch.unread:
        dataset = watch.look(_SECONDS, shard)
    rows = watch.read(dataset, shard) if shard in dataset.footers else None
    rows = None if rows is None else rows[rows.game == question.game]
    if rows is None or not len(rows):
        raise InputError(f"the run has no positions of game {question.game:,}")
    line = line_or_none(rows, dataset.board)
    known = rows.to_table(dataset.board).drop_columns(["board"]).to_pylist()
    for number, row in enumerate(known):
        row["moves"] = None if line is None else notation_of(line[number])
    return {**_course(rows, dataset), "game": question.game, "rows": known}


def explore(question: RunQuestion, watch: Watch) -> Record:
    """Where a position occurs in the shards from `at` on, mirror images too, and what followed."""
    dataset = watch.look(_SECONDS)
    position = Position.parse(question.moves, dataset.board)
    columns: list[dict[str, int]] = []
    samples: list[int] = []
    read, count, following = 0, 0, None
    for shard, rows in _scan(watch, dataset, question.at):
        if rows is None:
            following = shard
            break
        read += 1
        at, _ = occurrences(rows, position)
        count += len(at)
        samples += rows.game[at[:_SAMPLES]].tolist()
        here = continuations(rows, position) if len(at) or not columns else []
        columns = _summed(columns, here) if columns and here else columns or here
    return {
        "count": count,
        "columns": columns,
        "samples": samples[:_SAMPLES],
        "read": read,
        "shards": _shards(dataset, watch),
        "next": following,
    }


ANSWERS: dict[str, Callable[[RunQuestion, Watch], Record]] = {
    "status": status,
    "statistics": statistics,
    "games": games,
    "game": game,
    "explore": explore,
}


def answer(what: str, content: object, opened: Opened) -> Record:
    """The answer to a question from JSON, without the place of the run."""
    question = RunQuestion.of(content)
    place = question.place(opened)
    try:
        return ANSWERS[what](question, watch_of(place))
    except (InputError, OSError) as error:
        text = str(error) if isinstance(error, InputError) else f"{error.strerror or 'an error'}"
        raise InputError(text.replace(place.rstrip("/"), question.run)) from None


@cache
def watch_of(place: str) -> Watch:
    """What is known of a run, for the next question."""
    return Watch(place)


def wanted_of(question: RunQuestion, dataset: Dataset) -> Wanted:
    """The games that a question asks for."""
    players = players_of(dataset.manifest)
    if question.player is not None and question.player >= len(players[0] if players else ()):
        raise InputError(f"the run knows no player {question.player}")
    return Wanted(
        result=_RESULTS[question.result],
        shortest=question.shortest,
        longest=question.longest,
        through=Position.parse(question.moves, dataset.board) if question.moves.strip() else None,
        player=question.player,
        has_mistakes=question.mistakes == "proven",
    )


def _scan(watch: Watch, dataset: Dataset, start: int) -> Iterator[tuple[int, Rows | None]]:
    """The rows of the shards from `start` on; None for the first that there is no time for."""
    end, is_first = time.monotonic() + _SECONDS, True
    for shard in sorted({*dataset.shards(), *watch.unread}):
        if shard < start:
            continue
        if shard in watch.unread or (not is_first and time.monotonic() > end):
            yield shard, None
            return
        is_first, rows = False, watch.read(dataset, shard)
        if rows is not None:
            yield shard, rows


def _shards(dataset: Dataset, watch: Watch) -> int:
    """The sound shards, and those that may be."""
    return len(dataset.shards()) + len(watch.unread)


def _summary(games: Games, k: int) -> Record:
    result, stones = int(games.result[k]), int(games.stones[k])
    is_open = result == NO_RESULT
    return {
        "game": int(games.number[k]),
        "result": None if is_open else result,
        "stones": None if is_open or not stones else stones,
        "mistakes": int(games.mistakes[k]),
    }


def _course(rows: Rows, dataset: Dataset) -> Record:
    """The moves of a game, as far as they are known, and how many stones it began with."""
    line = line_or_none(rows, dataset.board)
    notation = None if line is None else notation_of(line[-1])
    return {"moves": notation, "opening": int(rows.ply[0])}


def _summed(one: list[dict[str, int]], other: list[dict[str, int]]) -> list[dict[str, int]]:
    return [
        {name: mine[name] + its[name] for name in mine}
        for mine, its in zip(one, other, strict=True)
    ]
