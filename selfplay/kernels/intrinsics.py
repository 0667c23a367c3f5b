"""Bit and SIMD instructions that numba lacks. For compiled code only."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.base import BaseContext
from numba.core.typing import Signature
from numba.extending import intrinsic
from numba.types import Type

from selfplay.arrays import Int

Intrinsic = tuple[Signature, Callable[..., ir.Value]]

_ZERO_IS_UNDEFINED = ir.Constant(ir.IntType(1), 1)


def _on_word(emit: Callable[[ir.IRBuilder, ir.Value], ir.Value]) -> Callable[[Int], Int]:
    @intrinsic  # type: ignore[untyped-decorator]
    def instruction(_context: object, word: Type) -> Intrinsic:
        def generate(
            _: object, builder: ir.IRBuilder, _signature: object, args: Sequence[ir.Value]
        ) -> ir.Value:
            return emit(builder, args[0])

        return word(word), generate

    return instruction


trailing_zeros = _on_word(lambda builder, word: builder.cttz(word, _ZERO_IS_UNDEFINED))
"""The index of the lowest set bit of a word that is not zero."""

leading_zeros = _on_word(lambda builder, word: builder.ctlz(word, _ZERO_IS_UNDEFINED))
"""The number of zeros above the highest set bit of a word that is not zero."""

population = _on_word(lambda builder, word: builder.ctpop(word))
"""The number of set bits."""


@intrinsic  # type: ignore[untyped-decorator]
def highest_lane(
    _context: object, board: Type, rows: Type, at: Type, weight: Type, turn: Type
) -> Intrinsic:
    """The lane with the highest rows[at, 0] + weight * rows[at, 1], computed by SIMD.

    `rows` is float32 [n, 2, lanes]. Ties go to the last lane, counted cyclically from column
    `turn`. Floats ≥ 0 sort like their bits as integers, and negative ones sort below: with the
    lane's number in the lowest bits, one integer maximum finds value and lane together.
    """
    lanes, columns = board.board.lanes, board.board.columns

    def generate(
        context: BaseContext, builder: ir.IRBuilder, signature: Signature, args: Sequence[ir.Value]
    ) -> ir.Value:
        _, rows, at, weight, turn = args
        word, single = ir.IntType(32), ir.FloatType()
        words, singles = ir.VectorType(word, lanes), ir.VectorType(single, lanes)

        def broadcast(scalar: ir.Value, vector: ir.Type) -> ir.Value:
            undefined = ir.Constant(vector, ir.Undefined)
            first = builder.insert_element(undefined, scalar, ir.Constant(word, 0))
            return builder.shuffle_vector(first, undefined, ir.Constant(words, [0] * lanes))

        def modulo_columns(number: ir.Value, constant: Callable[[int], ir.Constant]) -> ir.Value:
            wraps = builder.icmp_signed(">=", number, constant(columns))
            return builder.select(wraps, builder.sub(number, constant(columns)), number)

        data = context.make_array(signature.args[1])(context, builder, rows).data
        start = builder.mul(at, ir.Constant(at.type, 2 * lanes))
        vectors = builder.bitcast(builder.gep(data, [start]), singles.as_pointer())
        base = builder.load(vectors, align=4)
        slope = builder.load(builder.gep(vectors, [ir.Constant(word, 1)]), align=4)
        value = builder.fadd(base, builder.fmul(slope, broadcast(weight, singles)))
        coarse = builder.and_(builder.bitcast(value, words), ir.Constant(words, [-lanes] * lanes))
        lane = ir.Constant(words, list(range(lanes)))
        turned = modulo_columns(
            builder.add(lane, broadcast(turn, words)),
            lambda n: ir.Constant(words, [n] * lanes),
        )
        keys = builder.or_(coarse, builder.and_(turned, ir.Constant(words, [lanes - 1] * lanes)))
        maximum = cgutils.get_or_insert_function(
            builder.module,
            ir.FunctionType(word, [words]),
            f"llvm.vector.reduce.smax.v{lanes}i32",
        )
        best = builder.and_(builder.call(maximum, [keys]), ir.Constant(word, lanes - 1))
        back = builder.add(builder.sub(best, turn), ir.Constant(word, columns))
        return modulo_columns(back, lambda n: ir.Constant(word, n))

    return types.int32(board, rows, types.int64, types.float32, types.int32), generate
