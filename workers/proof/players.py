"""The player of a proof: one whose move follows from the stones alone, and the moves it makes."""

from __future__ import annotations

import numpy as np

from selfplay.arrays import Array
from selfplay.errors import InputError, PlayerError
from selfplay.game.board import Board, mirrored
from selfplay.game.position import Position
from selfplay.players import Batched, Player
from selfplay.registry import BUILT_IN, PlayerSpec
from selfplay.workers.proof.positions import IMAGE, ITSELF, stone_in, stones_of

_BY_STONES = {"centre", "minimax", "perfect", "tree"}
"""`perfect` chooses among equally strong moves by a seed: here it is 0."""
_SEEDS = (0, 1)


def check_player(spec: PlayerSpec) -> None:
    """Refuse a player that may move otherwise the next time."""
    is_foreign = spec.name == "py" or spec.name not in {*BUILT_IN, *_BY_STONES}
    if spec.is_timed or not (spec.name in _BY_STONES or is_foreign):
        reason = "has a time limit" if spec.is_timed else "moves by chance, or by earlier moves"
        raise InputError(
            f"{spec} {reason}: a proof needs a player whose move follows from the stones alone, "
            "such as tree:MODEL, minimax:6, centre or perfect"
        )


class Asking:
    """Asks a player in positions as they arise."""

    def __init__(self, spec: PlayerSpec, board: Board) -> None:
        check_player(spec)
        self._name = str(spec)
        self._board = board
        self._player = spec.build(board)
        self._seeds = _SEEDS[:1] if spec.name in _BY_STONES else _SEEDS

    def moves(self, keys: Array, images: Array) -> Array:
        """int8 [position, 2]: its move in each position and in its mirror image, mirrored back; -1
        where that image does not arise."""
        own, mask = stones_of(self._board, keys)
        arises = np.stack((images & ITSELF, images & IMAGE), axis=1) != 0
        if isinstance(self._player, Batched):
            found = self._player.moves_of_images(own, mask)
        else:
            found = self._decided(own, mask, arises)
        moves = np.where(arises, found, -1).astype(np.int8)
        for k in range(2):
            if (stone_in(self._board, mask, np.maximum(moves[:, k], 0)) == 0)[arises[:, k]].any():
                raise PlayerError(f"{self._name} plays a column that is full or not there")
        return moves

    def moves_among(self, keys: Array, columns: Array) -> Array:
        """int [position]: of these columns, the one that a tree rates best."""
        assert isinstance(self._player, Batched)
        return self._player.moves_among(*stones_of(self._board, keys), columns)

    def _decided(self, own: Array, mask: Array, arises: Array) -> Array:
        board = self._board
        found = np.zeros((len(own), 2), np.int64)
        turned = mirrored(board, own), mirrored(board, mask)
        for row, k in np.argwhere(arises).tolist():
            stones = turned if k else (own, mask)
            position = Position(board, int(stones[0][row]), int(stones[1][row]), None)
            move = self._decide(self._player, position)
            found[row, k] = board.columns - 1 - move if k else move
        return found

    def _decide(self, player: Player, position: Position) -> int:
        moves = []
        for seed in self._seeds:
            player.new_game(seed)
            moves.append(player.decide(position).move)
        if len(set(moves)) > 1:
            raise InputError(
                f"{self._name} moves by chance: in {position.notation or position} it plays "
                f"{' or '.join(str(move + 1) for move in moves)}"
            )
        self._board.check_column(moves[0])
        return moves[0]
