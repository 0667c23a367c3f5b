"""A player for selfplay: it takes a win, gives none away, and stays near a column."""

from selfplay import Board, Position


class Cautious:
    def __init__(self, board: Board, column: int = 4) -> None:
        self.column = column - 1  # columns are counted from 0

    def new_game(self, seed: int) -> None:
        """All randomness of a game comes from its seed; this player needs none."""

    def decide(self, position: Position) -> int:
        moves = position.winning_moves or [
            move for move in position.legal_moves if not position.play(move).winning_moves
        ]
        return min(moves or position.legal_moves, key=lambda move: abs(move - self.column))
