"""A tournament comes out the same whoever plays it, and goes on whatever its players do."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

import pytest

from selfplay.errors import InputError
from selfplay.game.board import Board
from selfplay.game.match import Forfeit
from selfplay.game.openings import parse_openings
from selfplay.game.position import Position
from selfplay.players import CentrePlayer, Decision
from selfplay.registry import KINDS, Kind, NoOptions
from selfplay.storage.location import Location
from selfplay.storage.recorded import save_games
from selfplay.storage.verify import verify
from selfplay.workers.executors.local import LocalExecutor
from selfplay.workers.executors.ray import RayExecutor
from selfplay.workers.tournament.standings import Tally, standings
from selfplay.workers.tournament.tournament import GameResult, Tournament, play
from tests.workers.executors.test_ray import forgive_ray

PLAYERS = ("mcts:50", "greedy", "random", "tree:examples/tree")


def never() -> bool:
    return False


def tournament(
    players: Sequence[str] = PLAYERS,
    games: int = 6,
    opening: str = "0-8",
    move_seconds: float | None = None,
    *,
    keeps_rows: bool = False,
) -> Tournament:
    board = Board()
    openings = parse_openings(opening, board)
    return Tournament.of(players, board, openings, games, 1, move_seconds, keeps_rows=keeps_rows)


def played(what: Tournament) -> list[GameResult]:
    *_, progress = play(what, LocalExecutor(), never)
    assert (progress.is_complete, progress.failed) == (True, [])
    return in_order(progress.results)


def in_order(results: Sequence[GameResult]) -> list[GameResult]:
    """Without what differs each time."""
    return [
        replace(result, seconds=(0, 0)) for result in sorted(results, key=lambda found: found.game)
    ]


def test_the_same_games_whoever_plays_them() -> None:
    what = tournament()
    executor = RayExecutor(2)
    with executor.start():
        *_, progress = play(what, executor, never)
    forgive_ray()
    assert progress.is_complete
    assert in_order(progress.results) == played(what)


def test_two_players_play_the_same_games_in_any_company() -> None:
    def games(players: Sequence[str]) -> dict[tuple[str, int], str]:
        what = tournament(players)
        found = {}
        for result in played(what):
            fixture = what.fixture(result.game)
            if {players[fixture.first], players[fixture.second]} == {"mcts:50", "random"}:
                found[players[fixture.first], fixture.opening] = result.moves
        return found

    alone = games(("mcts:50", "random"))
    assert len(alone) == 6
    assert alone == games(("random", "greedy", "mcts:50"))


def test_every_pair_plays_every_opening_with_either_side_first() -> None:
    what = tournament(games=4)
    fixtures = [what.fixture(game) for game in range(what.games)]
    assert len({(f.first, f.second, f.opening) for f in fixtures}) == what.games == 6 * 4
    assert len({fixture.seed for fixture in fixtures}) == what.games
    for one, other in zip(fixtures[::2], fixtures[1::2], strict=True):
        assert (one.first, one.second, one.opening) == (other.second, other.first, other.opening)
    openings = {result.moves[: what.openings[0].ply] for result in played(what)[:12]}
    assert openings == {what.openings[0].notation}


@pytest.mark.parametrize("games", [2, 200, 100_000])
def test_items_are_all_games_once_and_couples_stay_together(games: int) -> None:
    what = replace(tournament(games=2), openings=(Position(),) * (games // 2))
    parts = [what.games_of(item) for item in what.items]
    assert [game for part in parts for game in part] == list(range(what.games))
    assert all(part.start % 2 == part.stop % 2 == 0 for part in parts)
    assert len(parts) <= 2000 or len(parts[0]) == 200


class Trouble:
    """Plays in the middle, until it has trouble."""

    def __init__(self, after: int) -> None:
        self._after = after
        self._is_spoilt = False

    def new_game(self, seed: int) -> None:
        self._moves = 0

    def decide(self, position: Position) -> Decision:
        assert not self._is_spoilt, "a player that has failed is built anew"
        self._moves += 1
        if self._moves > self._after:
            self._is_spoilt = True
            return self.fail(position)
        return CentrePlayer().decide(position)

    def fail(self, position: Position) -> Decision:
        raise ZeroDivisionError("over\nand out")


class Slow(Trouble):
    def fail(self, position: Position) -> Decision:
        with suppress(Exception):  # however it defends itself
            time.sleep(600)
        return CentrePlayer().decide(position)


class Cheat(Trouble):
    def fail(self, position: Position) -> Decision:
        return Decision(move=99)


class Unwilling(Trouble):
    def new_game(self, seed: int) -> None:
        raise InputError("not today")


@pytest.fixture
def trouble(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, kind in (
        ("trouble", Trouble),
        ("slow", Slow),
        ("cheat", Cheat),
        ("unwilling", Unwilling),
    ):
        monkeypatch.setitem(
            KINDS, name, Kind(name, lambda: NoOptions, lambda *_, kind=kind: kind(2))
        )


@pytest.mark.usefixtures("trouble")
@pytest.mark.parametrize(
    ("player", "move_seconds", "reason"),
    [
        ("trouble", None, "ZeroDivisionError: over and out"),
        ("slow", 0.2, "a move took longer than 0.2 s"),
        ("cheat", None, "column 100 is not on the board: columns are 1 to 7"),
        ("unwilling", None, "not today"),
    ],
)
def test_who_cannot_go_on_forfeits_the_game_alone(
    player: str, move_seconds: float | None, reason: str, tmp_path: object
) -> None:
    what = tournament((player, "random", "centre"), 4, "0", move_seconds, keeps_rows=True)
    results = played(what)
    found = standings(what, results)
    by_name = {standing.player: standing for standing in found.players}
    assert set(by_name[player].forfeits) == {reason}
    assert not by_name["random"].forfeits + by_name["centre"].forfeits
    forfeited = by_name[player].forfeits.total()
    assert forfeited >= 4
    assert by_name[player].tally.losses >= forfeited
    assert [pair.games for pair in found.pairs] == [4, 4, 4]
    # What was played of these games is as good as of others, and they have no outcome.
    games = [result.rows for result in results if result.rows is not None]
    dataset = save_games(games, what.board, Location(f"{tmp_path}/run"), {"arena": {}})
    assert list(verify(dataset)) == []
    assert dataset.games == (4 if player == "unwilling" else 12)


def test_kept_games_have_the_moves_and_what_was_known(tmp_path: object) -> None:
    what = tournament(("mcts:50", "greedy"), 4, "2", keeps_rows=True)
    results = played(what)
    games = [result.rows for result in results if result.rows is not None]
    dataset = save_games(games, what.board, Location(f"{tmp_path}/run"), {"arena": {}})
    assert (dataset.games, list(verify(dataset))) == (4, [])
    (_, rows), *_ = dataset.rows()
    assert (rows.move == rows.played).all()
    assert "".join(str(move + 1) for move in rows.move[rows.game == 0]) == results[0].moves[2:]
    assert sorted(set(rows.visits.any(axis=1))) == [False, True]
    with pytest.raises(InputError, match="holds a run: save these games in a new place"):
        save_games(games, what.board, Location(f"{tmp_path}/run"), {})
    with pytest.raises(InputError, match="is not empty"):
        save_games(games, what.board, Location(str(tmp_path)), {})


def result(game: int, winner: int | None, moves: str) -> GameResult:
    return GameResult(game, winner, len(moves), moves, (2, 1), (0.004, 0.001))


def test_results_come_to_a_table() -> None:
    what = tournament(("random", "greedy"), 6)
    results = [
        result(0, 1, "1122"),  # random first
        result(1, 1, "1133"),  # greedy first
        result(2, None, "44"),
        replace(result(3, 2, "444"), forfeit=Forfeit(1, "tired")),
        result(4, None, "44"),
        result(5, 2, "444"),
    ]
    found = standings(what, reversed(results))
    (pair,) = found.pairs
    assert (pair.a, pair.b, pair.games, pair.distinct) == ("random", "greedy", 6, 4)
    assert (pair.a_first, pair.a_second) == (Tally(1, 2, 0), Tally(2, 0, 1))
    assert (pair.score, pair.mean_length) == (pytest.approx(4 / 6), 3)
    assert pair.interval[0] < 4 / 6 < pair.interval[1]
    assert pair.effective_openings == pytest.approx(9 / 5)  # the last two couples are the same
    best, other = found.players
    assert (best.player, best.tally) == ("random", Tally(3, 2, 1))
    assert (other.forfeits, other.as_first) == ({"tired": 1}, Tally(1, 0, 2))
    assert best.ms_per_move == pytest.approx(1000 * 3 * 0.005 / 9)


def test_what_was_stopped_is_what_is_there() -> None:
    what = tournament()
    calls = iter([False, True])
    *_, progress = play(what, LocalExecutor(), lambda: next(calls))
    assert (progress.games, progress.is_complete) == (2, False)
    assert progress.seconds_left is not None
    found = standings(what, progress.results)
    assert (found.games, len(found.pairs)) == (2, 1)


@pytest.mark.usefixtures("trouble")
def test_games_that_cannot_be_played_are_told_and_the_others_are_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A player that can be built but once fails in its first game."""
    built: list[Trouble] = []

    def once(*_: object) -> Trouble:
        if built:
            raise ZeroDivisionError("out of stock")
        built.append(Trouble(0))
        return built[0]

    monkeypatch.setitem(KINDS, "trouble", Kind("trouble", lambda: NoOptions, once))
    *_, progress = play(tournament(("random", "centre", "trouble"), 2, "0"), LocalExecutor(), never)
    assert (progress.games, progress.is_complete) == (2, False)
    reasons = [failure.reason for failure in progress.failed]
    assert reasons == ["ZeroDivisionError: out of stock"] * 2


def test_a_player_by_the_clock_is_told() -> None:
    assert tournament(("mcts:50", "random")).is_repeatable
    what = tournament(("mcts:seconds=1", "random"))
    assert (what.is_repeatable, what.timed_players) == (False, ["mcts:seconds=1"])
    assert not tournament(("random", "greedy"), move_seconds=5).is_repeatable


@pytest.mark.parametrize(
    ("players", "games", "message"),
    [
        (("random",), 2, "two players or more"),
        (("random", "mcts", "mcts:10000"), 2, "'mcts' and 'mcts:10000' are the same player"),
        (("random", "greedy"), 0, "an even number from 2 to 100,000.*not 0"),
        (("random", "greedy"), 5, "not 5: every opening is played twice"),
        (("random", "gready"), 2, "did you mean 'greedy'"),
    ],
)
def test_what_is_no_tournament_is_refused(players: Sequence[str], games: int, message: str) -> None:
    with pytest.raises(InputError, match=message):
        tournament(players, games)
    with pytest.raises(InputError, match="plays on 7x6, not 8x8"):
        replace(tournament(), board=Board(8, 8)).build()
