from collections import Counter
from collections.abc import Callable
from itertools import islice
from math import sqrt
from typing import Any

import numpy as np
import pytest

from selfplay.errors import InputError
from selfplay.game.board import Board
from selfplay.game.openings import RandomPlies
from selfplay.game.position import Position
from selfplay.kernels.state import pack
from selfplay.mcts.player import MctsOptions, MctsPlayer
from selfplay.mcts.search import sqrt_log
from selfplay.mcts.tree import SKIPPED, Tree, advance_root
from selfplay.players import Decision
from selfplay.registry import PlayerSpec
from selfplay.solver.solver import Solver, sign
from tests import oracle

SEVEN_BY_SIX = Board()
SMALL = Board(4, 4, 3)
BIG = Board(9, 8)


def search(position: Position, seed: int = 1, **options: Any) -> tuple[Decision, Tree]:
    player = MctsPlayer(position.board, MctsOptions(**options))
    player.new_game(seed)
    return player.decide(position), player.tree()


def untimed(decision: Decision) -> dict[str, Any]:
    return {
        name: getattr(decision, name)
        for name in ("move", "visits", "wins", "value", "proven", "iterations", "rollouts", "nodes")
    }


# Of version 0.1: no solver, no transpositions, and all iterations.
PLAIN: dict[str, Any] = {"solver": 0, "transpositions": False, "early_stop": False}
PLAIN_SPEC = "solver=0,transpositions=off,early_stop=off"

# The searches that golden files hold: small enough to read, different enough to catch.
SPECS: dict[str, tuple[Position, str]] = {
    "mcts-default": (Position(SEVEN_BY_SIX), "default-0.1:60"),
    "mcts-default-big": (Position(BIG), "default-0.1:60"),
    "mcts-exact": (Position.parse("44444623"), "mcts:300"),
    "mcts-exact-big": (Position(BIG), "mcts:60"),
    "mcts-empty": (Position(SEVEN_BY_SIX), "mcts:60,rollout=win-first"),
    "mcts-uniform": (Position(SEVEN_BY_SIX), "mcts:60,rollout=uniform"),
    "mcts-unproven": (Position.parse("44352"), "mcts:60,rollout=win-first,proven=off"),
    "mcts-proven": (Position.parse("4131"), "mcts:200,rollout=win-first"),
    "mcts-children": (Position(SEVEN_BY_SIX), "mcts:60,rollout=win-first,max_children=3"),
    "mcts-solved": (Position.parse("2213", SMALL), "mcts:60,rollout=win-first"),
    "mcts-big": (Position(BIG), "mcts:60,rollout=win-first"),
}
GOLDEN_SEARCHES = {
    name: (position, spec)
    if spec.startswith("default-0.1") or "exact" in name
    else (position, f"{spec},exploration={sqrt(2)},{PLAIN_SPEC}")
    for name, (position, spec) in SPECS.items()
}


@pytest.mark.parametrize("name", GOLDEN_SEARCHES)
def test_trees_are_what_they_were(name: str, golden: Callable[[str, Any], None]) -> None:
    position, spec = GOLDEN_SEARCHES[name]
    player = PlayerSpec.parse(spec).build(position.board)
    assert isinstance(player, MctsPlayer)
    player.new_game(1)
    decision, tree = player.decide(position), player.tree()
    nodes = [
        dict(zip(("visits", "score", "link"), node, strict=True))
        for node in tree.counts[:, :, : position.board.columns].tolist()
    ]
    golden(name, {"move": decision.move, "nodes": nodes})


@pytest.mark.parametrize("board", [SEVEN_BY_SIX, BIG], ids=str)
def test_the_same_seed_gives_the_same_decision(board: Board) -> None:
    position = Position(board)
    one, same, other = (
        untimed(search(position, seed=seed, iterations=5000)[0]) for seed in (1, 1, 2)
    )
    assert one == same != other


def test_a_decision_does_not_depend_on_how_the_iterations_are_cut(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole, _ = search(Position(SEVEN_BY_SIX), iterations=3000)
    monkeypatch.setattr("selfplay.mcts.player._ITERATIONS", 7)
    cut, _ = search(Position(SEVEN_BY_SIX), iterations=3000)
    assert untimed(whole) == untimed(cut)


@pytest.mark.parametrize("proven", [True, False])
@pytest.mark.parametrize("rollout", ["patient", "careful", "win-first", "uniform"])
@pytest.mark.parametrize("board", [SEVEN_BY_SIX, BIG, Board(4, 4)], ids=str)
def test_every_visit_is_counted_once_on_its_way(board: Board, rollout: str, proven: bool) -> None:
    """What a move was visited and what it scored are its first rollout and its node's moves."""
    _, tree = search(Position(board), iterations=4000, proven=proven, rollout=rollout, **PLAIN)
    visits, scores, links = (tree.counts[:, i, : board.columns] for i in range(3))
    assert visits[0].sum() == 4000
    checked = 0
    for at, column in zip(*np.nonzero(links >= 4), strict=True):
        child = links[at, column] >> 2
        below = visits[child].sum()
        # What is proven is not walked into again, but visited.
        again = visits[at, column] - 1 - below
        assert again == 0 or (again > 0 and links[at, column] & 3)
        certain = max(0, (links[at, column] & 3) - 1)
        first_rollout = scores[at, column] - again * certain - (2 * below - scores[child].sum())
        assert first_rollout in (0, 1, 2)
        checked += 1
    assert checked == len(tree.counts) - 1


@pytest.mark.parametrize("solver", [0, 5])
def test_every_position_has_one_node_with_the_visits_from_all_sides(solver: int) -> None:
    _, tree = search(Position.parse("44"), iterations=9000, solver=solver, early_stop=False)
    visits, scores, links = (tree.counts[:, i, :7] for i in range(3))
    assert len(set(tree.keys.tolist())) == len(tree.keys)
    parents = Counter((links[links >= 4] >> 2).tolist())
    assert max(parents.values()) > 2
    assert set(parents) == set(range(1, len(tree.keys)))
    for at, count in parents.items():
        assert tree.totals[at, 0] == visits[at].sum() + count
        assert 0 <= tree.totals[at, 1] - scores[at].sum() <= 2 * count
        assert tree.keys[tree.slots[tree.slots == at + 1][0] - 1] == tree.keys[at]


def test_bounds_follow_from_counts() -> None:
    _, tree = search(Position(SEVEN_BY_SIX), iterations=3000, proven=False, **PLAIN)
    visits, scores = (tree.counts[:, i, :7].astype(np.float32) for i in range(2))
    tried = visits > 0
    np.testing.assert_array_equal(
        tree.bounds[:, 0, :7][tried], (np.float32(0.5) * scores / np.maximum(visits, 1))[tried]
    )
    np.testing.assert_allclose(tree.bounds[:, 1, :7][tried], visits[tried] ** -0.5, rtol=1e-6)


def test_the_exploration_term_is_right() -> None:
    numbers = np.array([1, 2, 3, 100, 127, 128, 129, 1000, 123456, 2**20 + 1, 2**31 - 1])
    table = np.array([sqrt_log_of(int(n)) for n in numbers])
    np.testing.assert_allclose(table, np.sqrt(np.log(numbers)), rtol=1e-3)


def sqrt_log_of(n: int) -> float:
    from numba import njit

    return float(njit(lambda n: sqrt_log(n))(n))


def near_the_end(board: Board, count: int, empty: int) -> list[Position]:
    openings = RandomPlies(board, board.cells - empty, board.cells - empty)
    found = (openings.opening(11, game) for game in range(100 * count))
    return list(islice((p for p in found if p.ply == board.cells - empty), count))


@pytest.mark.parametrize(
    ("board", "empty", "options"),
    [
        (SEVEN_BY_SIX, 10, {}),
        (SEVEN_BY_SIX, 10, {"max_children": 2}),
        (SMALL, 10, {}),
        (Board(8, 8, 5), 6, {}),
    ],
    ids=str,
)
def test_what_is_proven_is_true(board: Board, empty: int, options: dict[str, Any]) -> None:
    solved = 0
    for position in near_the_end(board, 30, empty):
        decision, _ = search(position, iterations=20_000, early_stop=False, **options)
        grid = oracle.play_all(board, position.moves or ())
        mover = position.to_move
        assert decision.proven is not None
        for column, claimed in enumerate(decision.proven):
            if claimed is not None:
                after = oracle.drop(grid, column, mover)
                true_value = (
                    1
                    if oracle.has_won(board, after, mover)
                    else -oracle.value(board, after, 3 - mover)
                )
                assert claimed == true_value, (position, column)
        value = oracle.value(board, grid, mover)
        if decision.iterations < 20_000:
            assert decision.proven[decision.move] == value
            solved += 1
    # A drawn one may take longer; one in which moves are left out may never be solved.
    assert solved > (0 if options else 20)


def test_what_is_proven_stays_true_as_the_game_goes_on() -> None:
    """Proofs of a tree that is used again, and what its root is proven by then."""
    proven_roots = 0
    player = MctsPlayer(SEVEN_BY_SIX, MctsOptions(iterations=1000))
    for position in near_the_end(SEVEN_BY_SIX, 30, 11):
        player.new_game(1)
        while not position.is_over:
            decision = player.decide(position)
            assert decision.proven is not None
            claimed = decision.proven[decision.move]
            if claimed is not None and decision.iterations < 1000:
                grid = oracle.play_all(position.board, position.moves or ())
                assert claimed == oracle.value(position.board, grid, position.to_move)
                proven_roots += decision.rollouts == 0
            position = position.play(decision.move)
    assert proven_roots > 30


def test_what_is_proven_stays_true_when_a_position_is_searched_again() -> None:
    """The solver works on positions below while it has not finished a move of the root."""
    position = RandomPlies(SEVEN_BY_SIX, 14, 14).opening(8, 13)
    player = MctsPlayer(SEVEN_BY_SIX, MctsOptions(iterations=20_000, early_stop=False))
    player.new_game(1)
    scores = Solver(SEVEN_BY_SIX, book=None).scores(position)
    for _ in range(3):
        proven = player.decide(position).proven
        assert proven is not None
        for result, score in zip(proven, scores, strict=True):
            assert result is None or (score is not None and result == sign(score))


def test_a_forced_win_is_known_and_ends_the_search() -> None:
    # X makes three in a row on the bottom with both ends free: O can stop only one.
    decision, _ = search(Position.parse("4131"), iterations=100_000)
    assert decision.proven is not None
    assert decision.proven[decision.move] == 1
    assert decision.value is not None
    assert decision.value[decision.move] == 1
    assert decision.iterations < 10_000


def test_proofs_can_be_switched_off() -> None:
    decision, _ = search(Position.parse("4131"), iterations=10_000, proven=False, **PLAIN)
    assert decision.iterations == 10_000
    assert decision.proven == (None,) * 7


def test_a_proven_loss_is_never_chosen_over_hope() -> None:
    # O has to answer at 1, anything else loses at once.
    decision, _ = search(Position.parse("44352"), iterations=1000)
    assert decision.move == 0
    assert decision.proven == (None, -1, -1, -1, -1, -1, -1)


def test_illegal_columns_are_never_visited() -> None:
    decision, _ = search(Position.parse("444444"), iterations=2000)
    assert decision.visits is not None
    assert decision.value is not None
    assert decision.visits[3] == 0
    assert decision.value[3] is None


@pytest.mark.parametrize("proven", [True, False])
def test_max_children_bounds_what_a_node_considers(proven: bool) -> None:
    _, tree = search(Position(SEVEN_BY_SIX), iterations=2000, max_children=2, proven=proven)
    links = tree.counts[:, 2, :7]
    assert (((links >= 0).sum(axis=1)) <= 2).all()
    assert (links == SKIPPED).any()


def subtree(tree: Tree, at: int) -> Any:
    visits, scores, links = tree.counts[at].tolist()
    return (
        visits,
        scores,
        [link if link < 0 else link & 3 for link in links],
        tree.bounds[at].tolist(),
        [subtree(tree, link >> 2) for link in links if link >= 4],
    )


@pytest.mark.parametrize("board", [SEVEN_BY_SIX, BIG], ids=str)
def test_the_tree_moves_on_with_the_game(board: Board) -> None:
    position = Position(board)
    player = MctsPlayer(board, MctsOptions(iterations=5000))
    player.new_game(3)
    move = player.decide(position).move
    before = player.tree()
    node = before.counts[0, 2, move] >> 2
    assert advance_root(board, player._tree, move, True)
    after = player.tree()
    assert subtree(after, 0) == subtree(before, node)
    assert after.counters[0]["visits"] == after.counts[0, 0].sum()
    assert after.counts[0, 0].sum() >= before.counts[0, 0, move] - 1
    assert len(after.counts) < len(before.counts)


def test_shared_nodes_are_found_after_the_tree_has_moved_on() -> None:
    player = MctsPlayer(SEVEN_BY_SIX, MctsOptions(iterations=3000, early_stop=False))
    player.new_game(3)
    position = Position(SEVEN_BY_SIX)
    for _ in range(6):
        position = position.play(player.decide(position).move)
        keys = player.tree().keys
        assert len(set(keys.tolist())) == len(keys) > 500


def test_early_stop_keeps_the_move_and_saves_iterations() -> None:
    saved = 0
    for game in range(40):
        position = RandomPlies(SEVEN_BY_SIX, 2, 8).opening(5, game)
        whole, _ = search(position, iterations=2000, solver=0, proven=False, early_stop=False)
        stopped, _ = search(position, iterations=2000, solver=0, proven=False)
        assert stopped.move == whole.move
        saved += whole.iterations - stopped.iterations
    assert saved > 40 * 300


def test_the_solver_settles_what_it_may_settle() -> None:
    """A late position whole, and more columns of an earlier one than the search alone."""
    known = Counter[int]()
    for game in range(20):
        late = RandomPlies(SEVEN_BY_SIX, 24, 24).opening(8, game)
        decision, _ = search(late, iterations=10_000)
        assert decision.proven is not None
        assert decision.proven[decision.move] is not None
        assert decision.iterations <= 10_000 // 16
        early = RandomPlies(SEVEN_BY_SIX, 14, 14).opening(8, game)
        for solver in (0, 20):
            decision, _ = search(early, iterations=2000, solver=solver)
            assert decision.proven is not None
            known[solver] += sum(result is not None for result in decision.proven)
    assert known[0] < known[20]


def test_a_win_at_once_is_taken_and_a_loss_at_once_avoided() -> None:
    lost = 0
    for position in near_the_end(SEVEN_BY_SIX, 150, 16):
        decision, _ = search(position, iterations=500)
        assert not position.winning_moves or decision.move in position.winning_moves
        if decision.proven is not None and decision.proven[decision.move] == -1:
            loses_at_once = [bool(position.play(m).winning_moves) for m in position.legal_moves]
            lost += not all(loses_at_once)
            assert all(loses_at_once) or not position.play(decision.move).winning_moves
    assert lost > 3


@pytest.mark.parametrize("solver", [0, 5])
def test_large_boards_do_without_solver_and_transpositions(solver: int) -> None:
    decision, tree = search(Position(BIG), iterations=500, solver=solver, early_stop=False)
    plain, _ = search(Position(BIG), iterations=500, **PLAIN)
    assert untimed(decision) == untimed(plain)
    assert len(tree.keys) == 0


def test_reused_visits_count() -> None:
    position = Position(SEVEN_BY_SIX)
    player = MctsPlayer(SEVEN_BY_SIX, MctsOptions(iterations=5000, **PLAIN))
    player.new_game(3)
    first = player.decide(position)
    assert first.iterations == 5000
    position = position.play(first.move)
    second = player.decide(position)
    assert first.visits is not None
    had = first.visits[first.move] - 1
    assert had > 1000
    assert second.iterations == 5000
    assert 0 < second.rollouts <= 5000 - had
    position = position.play(second.move).play(3)
    assert player.decide(position).rollouts < 5000


def test_without_proofs_a_reused_tree_is_searched_all_the_same() -> None:
    player = MctsPlayer(SEVEN_BY_SIX, MctsOptions(iterations=1000, proven=False, early_stop=False))
    player.new_game(1)
    player.decide(Position.parse("4131"))
    decision = player.decide(Position.parse("413151"))
    assert decision.iterations == 1000
    assert decision.move in (1, 5)  # both win at once


def test_a_new_game_forgets() -> None:
    position = Position(SEVEN_BY_SIX)
    player = MctsPlayer(SEVEN_BY_SIX, MctsOptions(iterations=3000))
    player.new_game(3)
    fresh = untimed(player.decide(position))
    player.decide(position.play(3))
    player.new_game(3)
    assert untimed(player.decide(position)) == fresh


def test_reuse_can_be_switched_off() -> None:
    position = Position.parse("44")
    player = MctsPlayer(SEVEN_BY_SIX, MctsOptions(iterations=3000, reuse=False))
    player.new_game(3)
    player.decide(Position.parse("4"))
    assert untimed(player.decide(position)) == untimed(search(position, seed=3, iterations=3000)[0])


def test_a_time_limit_ends_the_search() -> None:
    decision, _ = search(Position(SEVEN_BY_SIX), seconds=0.05)
    assert decision.iterations > 0
    assert decision.seconds >= 0.05


def test_a_search_by_time_ends_before_its_counts_overflow(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("selfplay.mcts.player._MAX_VISITS", 5000)
    decision, _ = search(Position(SEVEN_BY_SIX), seconds=1000, solver=0)
    assert 5000 < decision.iterations < 10_000


def test_in_a_tie_no_column_is_favoured() -> None:
    for board in (SEVEN_BY_SIX, BIG):
        firsts = Counter(search(Position(board), seed=s, iterations=1)[0].move for s in range(1800))
        expected = 1800 / board.columns
        assert len(firsts) == board.columns
        assert all(abs(count - expected) < 5 * expected**0.5 for count in firsts.values())


def test_a_move_that_was_not_tried_is_better_than_a_proven_loss() -> None:
    # Only column 1 does not lose at once; two moves of seven are considered.
    for seed in range(50):
        decision, _ = search(Position.parse("44352"), seed=seed, iterations=50, max_children=2)
        assert decision.proven is not None
        assert decision.proven[decision.move] is None


def test_a_full_memory_ends_the_growth_but_not_the_search() -> None:
    player = MctsPlayer(SEVEN_BY_SIX, MctsOptions(iterations=50, early_stop=False))
    player._search(pack(Position(SEVEN_BY_SIX)), 5000)
    assert player._counters["nodes"] == 51
    assert player._counters["visits"] == 5000


@pytest.mark.parametrize(
    ("board", "megabytes"), [(SEVEN_BY_SIX, 60), (Board(16, 16), 120)], ids=str
)
def test_a_million_iterations_take_little_memory(board: Board, megabytes: int) -> None:
    decision, tree = search(Position(board), iterations=1_000_000, early_stop=False)
    assert decision.iterations == 1_000_000
    assert sum(array.nbytes for array in tree) < megabytes * 1e6


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"iterations": 0}, "from 1 up, not 0"),
        ({"iterations": -5}, "from 1 up, not -5"),
        ({"iterations": 5, "seconds": 1.0}, "not both"),
        ({"seconds": 0.0}, "above 0, not 0"),
        ({"seconds": -1.0}, "above 0, not -1"),
        ({"seconds": float("nan")}, "above 0, not nan"),
        ({"seconds": float("inf")}, "above 0, not inf"),
        ({"exploration": float("nan")}, "exploration is"),
        ({"exploration": -1.0}, "exploration is"),
        ({"max_children": 0}, "from 1 up, not 0"),
        ({"memory": 0}, "MB from 1"),
        ({"rollout": "fast"}, "careful, win-first, uniform, not 'fast'"),
        ({"solver": -1}, "solver is a number from 0"),
    ],
)
def test_bad_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        MctsOptions(**options)


def test_what_does_not_fit_the_memory_is_refused() -> None:
    with pytest.raises(InputError, match=r"1,000,000,000,000 iterations would need 192,000\.0 GB"):
        MctsPlayer(SEVEN_BY_SIX, MctsOptions(iterations=10**12))


def test_a_finished_game_is_not_searched() -> None:
    with pytest.raises(InputError, match="the game is over"):
        search(Position.parse("1212121"), iterations=10)


def test_a_player_stays_on_its_board() -> None:
    player = MctsPlayer(SMALL, MctsOptions(iterations=10))
    with pytest.raises(InputError, match="plays on 4x4"):
        player.decide(Position())
