import pytest

from selfplay.errors import InputError
from selfplay.game.board import Board
from selfplay.game.match import match
from selfplay.game.openings import RandomPlies
from selfplay.game.position import Position
from selfplay.registry import PlayerSpec
from selfplay.solver.player import PerfectOptions, PerfectPlayer
from selfplay.solver.solver import Solver, strongest_of


def test_the_perfect_player_plays_a_strongest_move_and_says_what_it_knows() -> None:
    player = PlayerSpec.parse("perfect:memory=8").build(Board())
    judge = Solver()
    for game in range(5):
        position = RandomPlies(Board(), 18, 24).opening(3, game)
        player.new_game(game)
        decision = player.decide(position)
        scores = judge.scores(position)
        assert decision.scores == scores
        assert decision.move in (strongest_of(scores) or ())
        assert decision.proven == tuple(
            None if score is None else (score > 0) - (score < 0) for score in scores
        )


def test_values_alone_are_those_of_the_scores() -> None:
    fast, full = (
        PlayerSpec.parse(f"perfect:memory=8,scores={s}").build(Board()) for s in ("off", "on")
    )
    for game in range(10):
        position = RandomPlies(Board(), 16, 30).opening(4, game)
        quick, slow = fast.decide(position), full.decide(position)
        assert quick.proven == slow.proven
        assert quick.scores is None
        assert slow.proven is not None
        assert slow.proven[quick.move] == slow.proven[slow.move]


def test_the_perfect_player_says_so_if_it_cannot() -> None:
    player = PerfectPlayer(Board(), PerfectOptions(seconds=0.01))
    with pytest.raises(InputError, match=r"could not solve 1234567 in 0\.01 s"):
        player.decide(Position.parse("1234567"))


def test_perfect_never_loses_what_is_won() -> None:
    perfect = PerfectPlayer(Board())
    judge = Solver()
    random = PlayerSpec.parse("random").build(Board())
    mcts = PlayerSpec.parse("mcts:2000").build(Board())
    played = 0
    for game in range(60):
        opening = RandomPlies(Board(), 18, 18).opening(4, game)
        if judge.value(opening) != 1:
            continue
        played += 1
        for opponent in (random, mcts):
            assert match(perfect, opponent, opening, game).winner == opening.to_move
    assert played > 15
