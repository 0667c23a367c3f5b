"""The cells that a split speaks about are those that its feature counts."""

from __future__ import annotations

from selfplay.game.board import Board
from selfplay.game.openings import RandomPlies
from selfplay.train.explanation.split_cells import cells_of_feature, is_seen_mirrored
from selfplay.train.features.feature_set import FeatureSet
from tests.train.features.test_feature_set import as_arrays

BOARD = Board()


def test_they_are_as_many_as_the_feature_says_and_where_it_says() -> None:
    features = FeatureSet("lookahead", BOARD)
    openings = RandomPlies(BOARD, 4, 30)
    positions = [openings.opening(3, number) for number in range(20)]
    named = list(zip(features.names, features.widths.tolist(), strict=True))
    counted, seen = set(), 0
    for position, codes in zip(positions, features.encode(*as_arrays(positions)), strict=True):
        for move in position.legal_moves:
            cells = position.play(move).cells()
            is_mirrored = is_seen_mirrored(position, move)
            for number, (name, width) in enumerate(named):
                found = cells_of_feature(name, position, move, is_mirrored=is_mirrored)
                code = int(codes[move][number])
                if name.startswith("the cell in"):
                    ((column, row),) = found
                    side = cells[(BOARD.rows - 1 - row) * BOARD.columns + column]
                    assert code == (side and 1 + (side != position.to_move)), (name, move)
                    seen += is_mirrored
                elif found and ("lowest" in name or name == "row"):
                    assert {row + 1 - (name == "row") for _, row in found} == {code}, name
                elif found and name != "columns from the edge":
                    lower = len(found) if "above another" not in name else 1
                    assert code >= min(lower, width - 1) > 0, name
                    counted.add(name)
                elif name in counted:
                    assert code == 0, name
    assert len(counted) > 12
    assert seen > 20
