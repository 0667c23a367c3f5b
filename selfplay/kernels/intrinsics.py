"""Machine instructions on bits that numba has no name for. Compiled code only."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic


@intrinsic  # type: ignore[untyped-decorator]
def trailing_zeros(_context: Any, word: Any) -> Any:
    """The place of the lowest bit that is set, in a word that is not zero."""

    def generate(_: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

    return word(word), generate


@intrinsic  # type: ignore[untyped-decorator]
def leading_zeros(_context: Any, word: Any) -> Any:
    """How many bits stand above the highest that is set, in a word that is not zero."""

    def generate(_: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return builder.ctlz(args[0], ir.Constant(ir.IntType(1), 1))

    return word(word), generate


@intrinsic  # type: ignore[untyped-decorator]
def population(_context: Any, word: Any) -> Any:
    """How many bits are set."""

    def generate(_: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return word(word), generate


@intrinsic  # type: ignore[untyped-decorator]
def highest_lane(_context: Any, board: Any, rows: Any, at: Any, weight: Any, turn: Any) -> Any:
    """The lane in which rows[at, 0] + weight * rows[at, 1] is highest, all lanes at once.

    `rows` is float32 [n, 2, lanes]; of equal lanes the last wins, counted round the columns
    from `turn` on. The bits of a float that is not negative are in its order as integers, and
    any negative is below them: the lowest bits make room for the lane's number, and one maximum
    over integers finds value and lane together.
    """
    lanes, columns = board.board.lanes, board.board.columns

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        _, rows, at, weight, turn = args
        word, single = ir.IntType(32), ir.FloatType()
        words, singles = ir.VectorType(word, lanes), ir.VectorType(single, lanes)

        def everywhere(scalar: Any, vector: Any) -> Any:
            nothing = ir.Constant(vector, ir.Undefined)
            first = builder.insert_element(nothing, scalar, ir.Constant(word, 0))
            return builder.shuffle_vector(first, nothing, ir.Constant(words, [0] * lanes))

        def minus_a_round(number: Any, constant: Any) -> Any:
            beyond = builder.icmp_signed(">=", number, constant(columns))
            return builder.select(beyond, builder.sub(number, constant(columns)), number)

        data = context.make_array(signature.args[1])(context, builder, rows).data
        start = builder.mul(at, ir.Constant(at.type, 2 * lanes))
        vectors = builder.bitcast(builder.gep(data, [start]), singles.as_pointer())
        base = builder.load(vectors, align=4)
        slope = builder.load(builder.gep(vectors, [ir.Constant(word, 1)]), align=4)
        value = builder.fadd(base, builder.fmul(slope, everywhere(weight, singles)))
        coarse = builder.and_(builder.bitcast(value, words), ir.Constant(words, [-lanes] * lanes))
        lane = ir.Constant(words, list(range(lanes)))
        turned = minus_a_round(
            builder.add(lane, everywhere(turn, words)),
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
        return minus_a_round(back, lambda n: ir.Constant(word, n))

    return types.int32(board, rows, types.int64, types.float32, types.int32), generate
