from selfplay.game.board import Board
from selfplay.game.coverage import coverage
from selfplay.game.openings import parse_openings


def test_coverage_counts_what_was_dealt() -> None:
    board = Board()
    found = coverage(parse_openings("all:1", board), 1, 10)
    assert (found.games, found.covered, found.distinct) == (10, 4, 4)
    assert found.most_repeated == 3
    assert found.by_ply == {1: 10}
    random = coverage(parse_openings("0-2", board), 1, 200)
    assert random.distinct is None
    assert sum(random.by_ply.values()) == 200
