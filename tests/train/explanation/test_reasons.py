"""The reasons name what a move does, and say nothing that is false by the exact solver."""

from __future__ import annotations

import re
from functools import cache

import pytest

from selfplay.game.board import Board
from selfplay.game.openings import parse_openings
from selfplay.game.position import Position
from selfplay.solver.solver import Solver
from selfplay.train.explanation.cells import Cell, falls_to, lines_of
from selfplay.train.explanation.forced_wins import forced_by, forced_win
from selfplay.train.explanation.motifs import Motif
from selfplay.train.explanation.reasons import Reasons
from selfplay.train.model import BASE, Model
from selfplay.train.player import TreePlayer
from tests.train.explanation.definitions import (
    Judge,
    completes,
    height,
    lines_through,
    moves_to_win,
    passed,
    wins,
)

KNOWN = {
    "win": """
        64774267223245133435742366:5 7272173626153443116531215666322745:4
        317645762666246735223345:5 345761245517167173634:4 7566573266547644235575172226244:3
        244614463441611222736537113776336275:5 433543716413171122:2
        5237366466277371242237236441114731145:5
    """,
    "block": """
        314635126154247745211767:7 51245155174162762524353341377443:2
        42331165713577324733444415522177126626:5 76656211143766555122347727512251334:4
        61167372453324641442277555643366571:1 24447347543267757521142322755661663:1
        63271555535176176421:2 7271775432342766244351732:2
    """,
    "double threat": """
        1457517162247517363152655:3 2753453265324226113321763:4 666136774516623452775427337:4
        5737247645236576634177:4 36352474567667126617114155:3 557622437343361557775:4
        2473736146122771261422:3 2552726563252425543734414:6
    """,
    "forced win": """
        5226126733657636335622:1
        273654145771344333136164457:2 161652113663371155437656575:3 232135716577377476626433:5
        3616424522641374314612461657777:3 15351554276427651122151:4
        5724371162243271423367473244:1
    """,
    "not below": """
        32554623614365665144173117756434232225:1 3425725154231444661655532334223711666:1
        27122375115461566735241774472231543335:4 36314313327754224565144351241262155:7
        26361425713376645377774221552115633562:1 441232443725632271537336566611462114:7
        6364276652753745614555442423623727731:3 745326415771551672116437415247522324:3
    """,
    "prevents a forced win": """
        6516224353341675636151747727324:1 3227774432262724711761334141155:6
        313117461352737511225266:7
        71411156566432646642322355173125233:4 
        6214547132372331544612144331:5 3611424361656612261144325542:4
    """,
    "odd threat": """
        3263712536172:5 5471327255235533772415311162761327:6 3147444347417112562:5
        572767714312:5 6735761615566:3 752321433364371341:2 7534277545566:4 161661376654:4
    """,
    "keeps an odd threat": """
        521712522337461155644447761242:3 66546553456124:1 43775626512665226464733723335275754:1
        73237177327113136:5 231774124133613334261166:5 46612772773554421316117164375344332:6
        37463452221557627226434544:5 243571635532253313:6
    """,
}
"""Positions with the move that has this motif, by `definitions`."""
WORDS = {
    "win": "wins at once",
    "block": "blocks",
    "double threat": "makes a double threat",
    "forced win": "wins by force in 3 moves",
    "not below": "does not play right below",
    "prevents a forced win": "stops [XO]'s threat to win by force",
    "odd threat": "makes an (odd|even) threat",
    "keeps an odd threat": "keeps an (odd|even) threat",
}


@cache
def solver() -> Solver:
    return Solver(threads=1)


@cache
def tree() -> TreePlayer:
    return TreePlayer(Board(), Model.load(BASE))


@pytest.mark.parametrize("name", KNOWN)
def test_the_first_sentence_names_the_motif(name: str) -> None:
    for text in KNOWN[name].split():
        columns, move = text.split(":")
        position = Position.parse(columns)
        assert getattr(Judge(solver(), position, int(move) - 1), name.replace(" ", "_"))()
        reasons = Reasons(position, int(move) - 1)
        assert reasons.motif.name == name, (text, reasons.sentences())
        assert re.match(f"Column {move} {WORDS[name]}", reasons.sentences()[0])
        check(reasons)


@pytest.mark.parametrize("openings", ["sensible:16-36", "14-32"])
def test_nothing_that_is_said_is_false(openings: str) -> None:
    source = parse_openings(openings, Board())
    names = set()
    for game in range(150):
        position = source.opening(11, game)
        reasons = tree().decide(position).why.reasons
        check(reasons)
        names.add(reasons.motif.name)
    assert len(names) > 8


def check(reasons: Reasons) -> None:
    sentences = reasons.sentences()
    assert 1 <= len(sentences) <= 3
    assert all(sentence[0].isupper() and sentence.endswith(".") for sentence in sentences)
    scores = solver().scores(reasons.position)
    for motif in reasons.motifs:
        check_motif(reasons, motif, scores)
    others = [scores[column] or 0 for column in reasons.ranked]
    if reasons.is_only_move:
        assert max(others) < 0
    if reasons.allowed is not None:
        assert reasons.allowed[0] != reasons.move
        assert (scores[reasons.allowed[0]] or 0) < 0
        assert winner_of(reasons.position, reasons.allowed) == 3 - reasons.position.to_move
    if reasons.change is not None:
        position, (column, row) = reasons.position, reasons.change.cell
        own = position.own ^ 1 << (column * 7 + row)
        other = Position(position.board, own, position.mask, None)
        assert tree().decide(other).move == reasons.change.move != reasons.move


def winner_of(position: Position, line: tuple[int, ...]) -> int | None:
    for column in line:
        position = position.play(column)
    return position.winner


def wins_within(position: Position, score: int | None, line: tuple[int, ...]) -> bool:
    """Whether the side to move wins at least as soon as in this line of moves."""
    return moves_to_win(solver(), position, score) <= (len(line) + 1) // 2


def check_motif(reasons: Reasons, motif: Motif, scores: tuple[int | None, ...]) -> None:
    position, move = reasons.position, reasons.move
    after, other = position.play(move), passed(position)
    own, theirs = after.own ^ after.mask, after.own
    line = motif.line or ()
    winning = {(column, height(position, column)) for column in wins(position)}
    match motif.name:
        case "win":
            assert after.winner
            assert (move, height(position, move)) in motif.cells
        case "misses a win":
            assert set(motif.cells) == winning
            assert not after.winner
        case "only column":
            assert position.legal_moves == (move,)
        case "lost":
            assert max(score for score in scores if score is not None) < 0
            assert winner_of(position, line) == 3 - position.to_move
        case "allows a win":
            assert (scores[move] or 0) < 0
            assert winner_of(position, line) == 3 - position.to_move
        case "block":
            assert wins(other) == [move]
        case "double threat" | "forced win":
            assert line[0] == move
            assert winner_of(position, line) == position.to_move
            assert wins_within(position, scores[move], line)
            assert all(completes(after, own, *cell) for cell in motif.cells[:2]) or len(line) > 3
        case "not below":
            assert all(column != move for column, _ in motif.cells)
            for column, row in motif.cells:
                assert row == height(position, column) + 1
                assert column in wins(position.play(column))
        case "prevents a forced win":
            assert winner_of(other, line)
            assert wins_within(other, solver().score(other), line)
        case "odd threat" | "keeps an odd threat" | "threat above":
            ((column, row),) = motif.cells
            assert completes(after, own, column, row)
            assert not completes(after, theirs, column, row - 1)
            assert row > height(after, column)
            if motif.name != "threat above":
                assert row % 2 == 1 - position.to_move % 2
            was = completes(position, position.own, column, row)
            assert was == (motif.name == "keeps an odd threat")
        case "threat":
            ((column, row),) = motif.cells
            assert wins(passed(after)) == [column]
            assert row == height(after, column)
            assert not wins(after)
        case "builds a line" | "breaks a line":
            stones, against = (own, theirs) if motif.name == "builds a line" else (theirs, 0)
            through = lines_through(position, move, height(position, move))
            assert list(motif.cells) in map(sorted, through)
            bits = [1 << (column * 7 + row) for column, row in motif.cells]
            assert sum(bool(stones & bit) for bit in bits) == motif.count
            assert not any(against & bit or position.own & bit & ~stones for bit in bits)
        case "opens lines" | "waits":
            lines = lines_through(position, move, height(position, move))
            count = sum(not any(theirs >> (c * 7 + r) & 1 for c, r in some) for some in lines)
            assert count == motif.count


def test_a_win_by_force_is_proven_move_by_move() -> None:
    position = Position.parse("4455")  # three in a row with both ends open
    assert forced_win(position) == (2, 1, 5)
    assert forced_by(position, 2) == (2, 1, 5)
    assert forced_by(position, 0) is None
    assert forced_win(Position.parse("")) is None
    assert forced_win(Position.parse("112233")) == (3,)


def test_cells_fall_to_sides_as_they_do_when_the_other_columns_are_full() -> None:
    for board in (Board(), Board(6, 5), Board(5, 5), Board(7, 5)):
        for column in range(board.columns):
            stones = (board.columns - 1) * board.rows
            for row in range(board.rows):
                side = 1 + (stones + row) % 2
                assert falls_to(board, Cell(column, row), side)
                assert not falls_to(board, Cell(column, row), 3 - side)


def test_every_line_of_a_board_is_known() -> None:
    assert len(lines_of(Board())) == 69
    assert len(lines_of(Board(9, 7, 5))) == 5 * 7 + 9 * 3 + 2 * 5 * 3


def test_the_sides_have_the_signs_that_the_screen_gives_them() -> None:
    reasons = Reasons(Position.parse("44352"), 0)
    assert (
        reasons.sentences(("", "●", "○"))[0]
        == "Column 1 blocks ●, who would complete a line there."
    )
    assert reasons.line == (1, 0)
    assert reasons.cells == ((0, 0),)
