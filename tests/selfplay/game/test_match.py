import pytest

from selfplay.errors import InputError
from selfplay.game.board import Board
from selfplay.game.match import Forfeit, Referee, match
from selfplay.game.position import Position
from selfplay.players import Decision, HumanPlayer, RandomPlayer
from selfplay.registry import PlayerSpec


def build(spec: str, board: Board | None = None):  # type: ignore[no-untyped-def]
    return PlayerSpec.parse(spec).build(board or Board())


def test_a_game_is_recorded_in_full() -> None:
    opening = Position.parse("44")
    game = match(build("mcts:200"), build("random"), opening, 1)
    assert game.final.is_over
    assert game.winner == game.final.winner == 1
    assert game.positions[0] == opening
    for position, decision, after in zip(
        game.positions, game.decisions, [*game.positions[1:], game.final], strict=True
    ):
        assert position.play(decision.move) == after


def test_the_same_seed_is_the_same_game() -> None:
    def moves(seed: int) -> tuple[int, ...] | None:
        return match(build("mcts:300"), build("random"), Position(), seed).final.moves

    assert moves(1) == moves(1) != moves(2)


def test_a_game_does_not_depend_on_the_games_before() -> None:
    mcts, random = build("mcts:300"), build("random")
    first = match(mcts, random, Position(), 1).final.moves
    match(random, mcts, Position(), 2)
    assert match(mcts, random, Position(), 1).final.moves == first


def test_the_second_player_moves_first_where_the_opening_says_so() -> None:
    class Columns:
        def __init__(self, column: int) -> None:
            self.column = column

        def new_game(self, seed: int) -> None:
            pass

        def decide(self, position: Position) -> Decision:
            return Decision(move=self.column)

    game = match(Columns(0), Columns(1), Position.parse("4"), 1)
    assert game.final.moves == (3, 1, 0, 1, 0, 1, 0, 1)
    assert game.winner == 2


class Stubborn:
    """Plays one column, full or not."""

    def new_game(self, seed: int) -> None:
        pass

    def decide(self, position: Position) -> Decision:
        return Decision(move=0)


def test_before_a_referee_who_breaks_the_rules_has_lost() -> None:
    game = match(Stubborn(), Stubborn(), Position(), 1, referee=Referee())
    assert game.final.notation == "111111"
    assert (game.winner, game.forfeit) == (2, Forfeit(1, "column 1 is full"))
    assert len(game.decisions) == len(game.seconds) == 6
    with pytest.raises(InputError, match="column 1 is full"):
        match(Stubborn(), Stubborn(), Position(), 1)


def test_before_a_referee_who_thinks_too_long_has_lost() -> None:
    slow = build("mcts:seconds=600")
    for _ in range(2):  # and may be asked again
        game = match(build("random"), slow, Position(), 1, referee=Referee(0.1))
        assert game.forfeit == Forfeit(2, "a move took longer than 0.1 s")
        assert (game.winner, game.final.ply) == (1, 1)


def test_a_player_may_play_against_itself() -> None:
    player = build("mcts:100", Board(4, 4))
    assert match(player, player, Position(Board(4, 4)), 1).final.is_over


def test_random_plays_every_legal_move() -> None:
    player = RandomPlayer()
    moves = set()
    for seed in range(100):
        player.new_game(seed)
        moves.add(player.decide(Position.parse("444444")).move)
    assert moves == {0, 1, 2, 4, 5, 6}


def test_a_human_is_asked() -> None:
    asked = []

    def answer(position: Position) -> int:
        asked.append(position)
        return 5

    player = HumanPlayer(answer)
    player.new_game(1)
    assert player.decide(Position.parse("44")).move == 5
    assert asked == [Position.parse("44")]


@pytest.mark.parametrize("spec", ["random", "mcts:10"])
def test_nobody_decides_on_a_finished_game(spec: str) -> None:
    with pytest.raises(InputError, match="the game is over"):
        build(spec).decide(Position.parse("1212121"))
