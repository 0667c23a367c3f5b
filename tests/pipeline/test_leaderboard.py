"""The leaderboard: an entry for every player, until somebody stops it."""

from selfplay.pipeline.leaderboard import Settings, measure
from selfplay.train.evaluation.positions import EvaluationSet
from selfplay.workers.executors.local import LocalExecutor

SETTINGS = Settings(
    players={"the best": "greedy", "random": "random"},
    opponent="random",
    games=4,
    opening="0-8",
    seed=1,
    slow={"the best": (2, 50)},
)


def test_every_player_is_measured_against_the_opponent() -> None:
    *_, progress = measure(SETTINGS, LocalExecutor(), lambda: False)
    best, opponent = progress.entries
    assert progress.is_complete
    assert best.result.all.positions == 50
    assert best.pair is not None
    assert best.pair.a_first.games + best.pair.a_second.games == 2
    assert opponent.result.all.positions == len(EvaluationSet.load().final)
    assert opponent.pair is None


def test_a_stopped_leaderboard_keeps_its_entries() -> None:
    progress = list(measure(SETTINGS, LocalExecutor(), lambda: True))[-1]
    assert (progress.entries, progress.is_complete) == ((), False)
