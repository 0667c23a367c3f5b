import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfplay.errors import InputError
from selfplay.game.board import Board, next_cells, winning_cells
from selfplay.game.position import Position, format_moves
from tests import oracle
from tests.strategies import games


def after(board: Board, moves: list[int]) -> Position:
    position = Position(board)
    for move in moves:
        position = position.play(move)
    return position


@given(games())
def test_the_rules_are_the_oracles(game: tuple[Board, list[int]]) -> None:
    board, moves = game
    position, grid = after(board, moves), oracle.play_all(board, moves)
    last = 2 - len(moves) % 2
    won = oracle.has_won(board, grid, last)
    free = oracle.open_columns(board, grid)
    assert position.cells() == oracle.cells(board, grid)
    assert position.ply == len(moves)
    assert position.to_move == 3 - last
    assert position.winner == (last if won else None)
    assert position.is_draw == (not free and not won)
    assert position.is_over == (won or not free)
    assert position.legal_moves == (() if won else tuple(free))


@given(games())
def test_winning_cells_are_the_moves_that_win(game: tuple[Board, list[int]]) -> None:
    board, moves = game
    position, grid = after(board, moves), oracle.play_all(board, moves)
    if position.is_over:
        return
    wins = winning_cells(board, position.own) & next_cells(board, position.mask)
    for column in position.legal_moves:
        cells = ((1 << board.rows) - 1) << (column * board.stride)
        wins_here = oracle.has_won(
            board, oracle.drop(grid, column, position.to_move), position.to_move
        )
        assert bool(wins & cells) == wins_here


@given(games())
def test_round_trips(game: tuple[Board, list[int]]) -> None:
    board, moves = game
    position = after(board, moves)
    assert Position.parse(format_moves(moves, board), board) == position
    assert position.notation == format_moves(moves, board)
    for signed in (False, True):
        assert Position.from_cells(position.cells(signed=signed), board, signed=signed) == position
    assert position.mirror().mirror() == position


@given(games())
def test_the_mirror_image_is_played_in_a_mirror(game: tuple[Board, list[int]]) -> None:
    board, moves = game
    position = after(board, moves)
    image = after(board, [board.columns - 1 - move for move in moves])
    assert position.mirror() == image
    assert position.key(canonical=True) == image.key(canonical=True)
    assert (position.key() == image.key()) == (position == image)


@given(games())
def test_moves_are_found_where_only_stones_are_known(game: tuple[Board, list[int]]) -> None:
    board, moves = game
    position = after(board, moves)
    found = Position.from_cells(position.cells(), board).notation
    assert found is not None
    assert Position.parse(found, board) == position


def test_positions_are_values() -> None:
    by_one_way, by_another = Position.parse("1234"), Position.parse("3214")
    assert by_one_way == by_another
    assert len({by_one_way, by_another}) == 1
    assert by_one_way != Position.parse("1243")
    assert by_one_way != Position.parse("1234", Board(8, 7))
    with pytest.raises(AttributeError):
        by_one_way.mask = 0  # type: ignore[misc]


def test_a_line_with_the_last_stone_is_a_win_and_no_draw() -> None:
    board = Board(4, 4)
    position = Position.parse("2122433431424131", board)
    assert position.ply == board.cells
    assert position.winner == 2
    assert not position.is_draw


@pytest.mark.parametrize(
    ("text", "board", "message"),
    [
        ("8", Board(), "column 8 is not on the board: columns are 1 to 7"),
        ("0", Board(), "column 0 is not on the board"),
        ("1111111", Board(), "move 7: column 1 is full"),
        ("12121213", Board(), "move 8: the game is over"),
        ("44a", Board(), "digits"),
        ("4,4", Board(), "digits"),
        ("-1", Board(), "digits"),
        ("٤٤", Board(), "digits"),
        ("4" * 1000, Board(), "move 7: column 4 is full"),
        ("4 4", Board(), "digits"),
        ("44", Board(10, 6), "column 44 is not on the board"),
        ("4,,4", Board(10, 6), "commas"),
        ("4,x", Board(10, 6), "commas"),
    ],
)
def test_bad_notation_is_refused(text: str, board: Board, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Position.parse(text, board)


@pytest.mark.parametrize("move", [-1, 7, 100])
def test_a_refused_move_changes_nothing(move: int) -> None:
    position = Position.parse("444")
    with pytest.raises(InputError):
        position.play(move)
    assert position == Position.parse("444")


def test_moves_may_come_out_of_an_array() -> None:
    position = Position.parse("44").play(np.int8(3))  # type: ignore[arg-type]
    assert position == Position.parse("444")
    assert type(position.mask) is int
    assert position.notation == "444"


def test_where_no_game_leads_there_is_no_notation() -> None:
    # The second player's stone below the first's, alone: nobody can have begun with it.
    cells = [0] * 28 + [1] + [0] * 6 + [2] + [0] * 6
    position = Position.from_cells(cells)
    assert position.notation is None
    assert str(position) == position.render()


def test_the_search_for_moves_gives_up() -> None:
    # Fifty columns' worth of ways, all of which end on the same impossible column.
    board = Board(10, 10)
    column = [2, 2, 1, 1, 2, 2, 1]
    grid = [column if c % 2 else [3 - stone for stone in column] for c in range(10)]
    rows = [[grid[c][r] if r < 7 else 0 for c in range(10)] for r in reversed(range(10))]
    cells = [stone for row in rows for stone in row]
    notation = Position.from_cells(cells, board).notation
    assert notation is None or Position.parse(notation, board).cells() == tuple(cells)


def test_wide_boards_are_written_with_commas() -> None:
    board = Board(11, 6)
    position = Position.parse("4, 4,11", board)
    assert position.moves == (3, 3, 10)
    assert str(position) == "4,4,11"


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ([0] * 41, "42 cells, not 41"),
        ([0] * 41 + [3], "cell 41 holds 3"),
        ([0] * 28 + [1, 0, 0, 0, 0, 0, 0] + [0] * 7, "floats"),
        ([0] * 35 + [1, 1, 0, 0, 0, 0, 0], "2 stones of the first player and 0"),
        ([0] * 35 + [2, 0, 0, 0, 0, 0, 0], "0 stones of the first player and 1"),
        ([0] * 28 + [2, 2, 2, 2, 0, 0, 0] + [1, 1, 1, 1, 0, 0, 0], "both players have won"),
        ([0] * 28 + [2, 2, 2, 0, 0, 0, 0] + [1, 1, 1, 1, 2, 0, 0], "the side to move has won"),
    ],
)
def test_impossible_cells_are_refused(cells: list[int], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Position.from_cells(cells)


def test_lines_that_no_single_move_completes_are_refused() -> None:
    # Two separate lines of the first player: the game had ended with either.
    rows = [
        [2, 0, 0, 0, 0, 0, 0],
        [1, 1, 1, 1, 0, 0, 0],
        [2, 2, 2, 1, 2, 2, 1],
        [1, 1, 1, 1, 2, 2, 2],
    ]
    cells = [0] * 14 + [cell for row in rows for cell in row]
    with pytest.raises(InputError, match="the last move"):
        Position.from_cells(cells)


@given(games(), st.integers(0, 3))
def test_moves_to_finds_the_way(game: tuple[Board, list[int]], back: int) -> None:
    board, moves = game
    earlier, later = after(board, moves[: max(0, len(moves) - back)]), after(board, moves)
    found = earlier.moves_to(later, at_most=3)
    assert found is not None
    for move in found:
        earlier = earlier.play(move)
    assert earlier == later


def test_moves_to_refuses_what_is_too_far_or_not_ahead() -> None:
    assert Position.parse("12").moves_to(Position.parse("1234"), at_most=1) is None
    assert Position.parse("1234").moves_to(Position.parse("12"), at_most=9) is None
    assert Position.parse("11").moves_to(Position.parse("22"), at_most=2) is None


def test_render_draws_the_board() -> None:
    assert Position.parse("44352").render().splitlines() == [
        ". . . . . . .",
        ". . . . . . .",
        ". . . . . . .",
        ". . . . . . .",
        ". . . O . . .",
        ". X X X O . .",
        "1 2 3 4 5 6 7",
    ]
