# SPDX-License-Identifier: Apache-2.0
"""Boundary values of arithmetic, comparisons, conversions and reductions, as the pages have them.

Each table has a row for the first operand and a column for the second one, both in the order of
``NAMES``; they hold for float and half alike, whose largest number is MAX and smallest MIN. The
pages give them for Atlas A2 and A3 outside of saturation mode.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from instructions.bench import (
    AREA,
    BF16,
    COUNT,
    DTYPES,
    FLOAT,
    HALF,
    INT8,
    INT16,
    INT32,
    INT64,
    MASK,
    OF_ONE,
    OF_SCALAR,
    OF_TWO,
    UINT8,
    Array,
    Bench,
    Call,
    area,
    same_bits,
)

NAMES = ("MIN", "MAX", "+0", "-0", "nan", "+inf", "-inf")
LARGEST = {FLOAT: float(np.finfo(np.float32).max), HALF: 65504.0, BF16: 3.3895313892515355e38}

ADD = """
-inf +0   MIN  MIN  nan +inf -inf
+0   +inf MAX  MAX  nan +inf -inf
MIN  MAX  +0   +0   nan +inf -inf
MIN  MAX  +0   -0   nan +inf -inf
nan  nan  nan  nan  nan nan  nan
+inf +inf +inf +inf nan +inf nan
-inf -inf -inf -inf nan nan  -inf
"""
SUB = """
+0   -inf MIN  MIN  nan -inf +inf
+inf +0   MAX  MAX  nan -inf +inf
MAX  MIN  +0   +0   nan -inf +inf
MAX  MIN  -0   +0   nan -inf +inf
nan  nan  nan  nan  nan nan  nan
+inf +inf +inf +inf nan nan  +inf
-inf -inf -inf -inf nan -inf nan
"""
MUL = """
+inf -inf -0   +0   nan -inf +inf
-inf +inf +0   -0   nan +inf -inf
-0   +0   +0   -0   nan nan  nan
+0   -0   -0   +0   nan nan  nan
nan  nan  nan  nan  nan nan  nan
-inf +inf nan  nan  nan +inf -inf
+inf -inf nan  nan  nan -inf +inf
"""
DIV = """
+1   -1   -inf +inf nan -0   +0
-1   +1   +inf -inf nan +0   -0
-0   +0   nan  nan  nan +0   -0
+0   -0   nan  nan  nan -0   +0
nan  nan  nan  nan  nan nan  nan
-inf +inf +inf -inf nan nan  nan
+inf -inf -inf +inf nan nan  nan
"""
MAXIMUM = """
MIN  MAX  +0   -0   nan +inf MIN
MAX  MAX  MAX  MAX  nan +inf MAX
+0   MAX  +0   +0   nan +inf +0
-0   MAX  +0   -0   nan +inf -0
nan  nan  nan  nan  nan nan  nan
+inf +inf +inf +inf nan +inf +inf
MIN  MAX  +0   -0   nan +inf -inf
"""
MINIMUM = """
MIN  MIN  MIN  MIN  nan MIN  -inf
MIN  MAX  +0   -0   nan MAX  -inf
MIN  +0   +0   -0   nan +0   -inf
MIN  -0   -0   -0   nan -0   -inf
nan  nan  nan  nan  nan nan  nan
MIN  MAX  +0   -0   nan +inf -inf
-inf -inf -inf -inf nan -inf -inf
"""
ADD_RELU = """
+0   +0   +0   +0   nan +inf +0
+0   +inf MAX  MAX  nan +inf +0
+0   MAX  +0   +0   nan +inf +0
+0   MAX  +0   +0   nan +inf +0
nan  nan  nan  nan  nan nan  nan
+inf +inf +inf +inf nan +inf nan
+0   +0   +0   +0   nan nan  +0
"""
SUB_RELU = """
+0   +0   +0   +0   nan +0   +inf
+inf +0   MAX  MAX  nan +0   +inf
MAX  +0   +0   +0   nan +0   +inf
MAX  +0   +0   +0   nan +0   +inf
nan  nan  nan  nan  nan nan  nan
+inf +inf +inf +inf nan nan  +inf
+0   +0   +0   +0   nan +0   nan
"""
LEAKY_RELU = """
+inf -inf -0   +0   nan -inf +inf
MAX  MAX  MAX  MAX  MAX MAX  MAX
+0   +0   +0   +0   +0  +0   +0
+0   -0   -0   +0   nan nan  nan
nan  nan  nan  nan  nan nan  nan
+inf +inf +inf +inf +inf +inf +inf
+inf -inf nan  nan  nan -inf +inf
"""
# Of a product and what is added to it: rows for products of +0, -0, +inf, -inf, nan.
PRODUCTS: dict[str, tuple[tuple[str, str], ...]] = {
    "+0": (("+0", "+0"), ("-0", "-0"), ("+0", "MAX"), ("-0", "MIN")),
    "-0": (("+0", "-0"), ("+0", "MIN"), ("-0", "MAX")),
    "+inf": (("+inf", "+inf"), ("+inf", "MAX"), ("-inf", "MIN"), ("MAX", "MAX"), ("MIN", "MIN")),
    "-inf": (("+inf", "-inf"), ("+inf", "MIN"), ("-inf", "MAX"), ("MAX", "MIN")),
    "nan": (("nan", "MAX"), ("nan", "+inf"), ("+0", "+inf"), ("+0", "-inf"), ("-0", "+inf")),
}
SUMS = """
MIN  MAX  +0   +0   nan +inf -inf
MIN  MAX  +0   -0   nan +inf -inf
+inf +inf +inf +inf nan +inf nan
-inf -inf -inf -inf nan nan  -inf
nan  nan  nan  nan  nan nan  nan
"""
RELU_SUMS = """
+0   MAX  +0   +0   nan +inf +0
+0   MAX  +0   +0   nan +inf +0
+inf +inf +inf +inf nan +inf nan
+0   +0   +0   +0   nan nan  +0
nan  nan  nan  nan  nan nan  nan
"""

UNARY = {
    "Exp": "+0 +inf +1 +1 nan +inf +0",
    "Ln": "nan ? -inf -inf nan +inf nan",
    "Abs": "MAX MAX +0 +0 nan +inf +inf",
    "Sqrt": "nan ? +0 -0 nan +inf nan",
    "Rsqrt": "nan ? +inf -inf nan +0 nan",
    "Reciprocal": "? ? +inf -inf nan +0 -0",
    "Relu": "+0 MAX +0 +0 nan +inf +0",
}
BINARY = {
    "Add": ADD,
    "Sub": SUB,
    "Mul": MUL,
    "Div": DIV,
    "Max": MAXIMUM,
    "Min": MINIMUM,
    "AddRelu": ADD_RELU,
    "SubRelu": SUB_RELU,
}
SCALAR = {
    "Adds": ADD,
    "Muls": MUL,
    "Maxs": MAXIMUM,
    "Mins": MINIMUM,
    "LeakyRelu": LEAKY_RELU,
}
# The smallest and the largest integer with either: MIN and MIN, MIN and MAX, MAX and MAX.
INTEGERS = {
    "Add": (0, -1, -2),
    "Sub": (0, 1, 0),
    "Mul": (0, "MIN", 1),
    "Max": ("MIN", "MAX", "MAX"),
    "Min": ("MIN", "MIN", "MAX"),
}
# By row and column, 1 where it holds.
COMPARE = {
    0: ("LT", "0111010 0000010 0100010 0100010 0000000 0000000 1111010"),
    1: ("GT", "0000001 1011001 1000001 1000001 0000000 1111001 0000000"),
    2: ("EQ", "1000000 0100000 0011000 0011000 0000000 0000010 0000001"),
    3: ("LE", "1111010 0100010 0111010 0111010 0000000 0000010 1111011"),
    4: ("GE", "1000001 1111001 1011001 1011001 0000000 1111011 0000001"),
}
NONE, RINT = 0, 1
HIGHEST, LOWEST = math.inf, -math.inf
# From, to, mode, and results of MIN, MAX, +0, -0, nan, +inf, -inf.
FLOAT_CASTS = [
    (HALF, INT8, NONE, (-128, 127, 0, 0, 0, 127, -128)),
    (HALF, UINT8, NONE, (0, 255, 0, 0, 0, 255, 0)),
    (HALF, INT32, RINT, (-65504, 65504, 0, 0, 0, 2**31 - 1, -(2**31))),
    (HALF, FLOAT, NONE, (-65504, 65504, 0.0, -0.0, math.nan, math.inf, -math.inf)),
    (BF16, INT32, RINT, (-(2**31), 2**31 - 1, 0, 0, 0, 2**31 - 1, -(2**31))),
    (BF16, FLOAT, NONE, (-LARGEST[BF16], LARGEST[BF16], 0.0, -0.0, math.nan, math.inf, -math.inf)),
    (FLOAT, INT16, RINT, (-(2**15), 2**15 - 1, 0, 0, 0, 2**15 - 1, -(2**15))),
    (FLOAT, INT32, RINT, (-(2**31), 2**31 - 1, 0, 0, 0, 2**31 - 1, -(2**31))),
    (FLOAT, INT64, RINT, (-(2**63), 2**63 - 1, 0, 0, 0, 2**63 - 1, -(2**63))),
    (FLOAT, HALF, NONE, (-math.inf, math.inf, 0.0, -0.0, math.nan, math.inf, -math.inf)),
    (FLOAT, BF16, RINT, (-math.inf, math.inf, 0.0, -0.0, math.nan, math.inf, -math.inf)),
    (FLOAT, FLOAT, RINT, (-LARGEST[FLOAT], LARGEST[FLOAT], 0, 0, math.nan, math.inf, -math.inf)),
]
# From, to, mode, and results of the smallest and the largest one, and of 0.
INTEGER_CASTS = [
    (UINT8, HALF, NONE, (0, 255, 0)),
    (INT8, HALF, NONE, (-128, 127, 0)),
    (INT16, HALF, NONE, (-32768, 32768, 0)),
    (INT16, FLOAT, NONE, (-32768, 32767, 0)),
    (INT32, INT16, NONE, (-32768, 32767, 0)),
    (INT32, FLOAT, NONE, (-2147483648.0, 2147483648.0, 0)),
    (INT32, INT64, NONE, (-(2**31), 2**31 - 1, 0)),
    (INT64, INT32, NONE, (-(2**31), 2**31 - 1, 0)),
    (INT64, FLOAT, RINT, (-(2.0**63), 2.0**63, 0)),
]
# Of a whole repeat, or a block, of such values, or of these by turns: sum, maximum, minimum.
REDUCED = {
    ("MIN",): ("-inf", "MIN", "MIN"),
    ("MAX",): ("+inf", "MAX", "MAX"),
    ("+0",): ("+0", "+0", "+0"),
    ("-0",): ("-0", "-0", "-0"),
    ("nan",): ("nan", "nan", "nan"),
    ("+inf",): ("+inf", "+inf", "+inf"),
    ("-inf",): ("-inf", "-inf", "-inf"),
    ("+inf", "-inf", "nan"): ("nan", "nan", "nan"),
    ("+inf", "-inf"): ("nan", "+inf", "-inf"),
    ("+inf", "nan"): ("nan", "nan", "nan"),
    ("-inf", "nan"): ("nan", "nan", "nan"),
}

both = pytest.mark.parametrize("dtype", [FLOAT, HALF], ids=["float", "half"])


def values_of(names: list[str] | tuple[str, ...], dtype: int) -> Array:
    """The numbers that the tables name, MIN and MAX by the type."""
    largest = LARGEST[dtype]
    known = {"MIN": -largest, "MAX": largest, "-0": -0.0, "?": 7.0}
    return np.array(
        [known.get(n, float(n) if n not in known else 0) for n in names], np.float64
    ).astype(DTYPES[dtype])


def pairs(dtype: int) -> tuple[Array, Array]:
    """Every value with every value."""
    values = values_of(NAMES, dtype)
    return np.repeat(values, len(NAMES)), np.tile(values, len(NAMES))


def filled(values: Array) -> Array:
    """An area that begins with the values."""
    out = np.zeros(AREA // values.itemsize, values.dtype)
    out[: values.size] = values
    return out


def agree(got: Array, want: list[str], dtype: int, what: str) -> None:
    """The first results are those of the table; a question mark stands for any."""
    known = np.array([name != "?" for name in want])
    results = got.view(DTYPES[dtype])[: len(want)]
    try:
        same_bits(results[known].copy(), values_of(want, dtype)[known].copy(), dtype)
    except AssertionError as differs:
        raise AssertionError(f"{what}: {differs}") from None


@both
@pytest.mark.parametrize("name", UNARY)
def test_unary(bench: Bench, name: str, dtype: int) -> None:
    op, row = OF_ONE[name], UNARY[name]
    source = filled(values_of(NAMES, dtype))
    got = bench.run(
        "elementwise:unary", Call(op=op, dtype=dtype, count=7), area(source), area(source)
    )
    agree(got, row.split(), dtype, name)


@both
@pytest.mark.parametrize("name", BINARY)
def test_binary(bench: Bench, name: str, dtype: int) -> None:
    op, table = OF_TWO[name], BINARY[name]
    a, b = map(filled, pairs(dtype))
    call = Call(op=op, dtype=dtype, count=49)
    agree(
        bench.run("elementwise:binary", call, area(a), area(a), area(b)), table.split(), dtype, name
    )


@both
@pytest.mark.parametrize("name", SCALAR)
def test_scalar(bench: Bench, name: str, dtype: int) -> None:
    op, table = OF_SCALAR[name], SCALAR[name]
    source = filled(values_of(NAMES, dtype))
    columns = np.array(table.split()).reshape(7, 7).T
    for column, value in zip(columns, values_of(NAMES, dtype), strict=True):
        call = Call(op=op, dtype=dtype, count=7, scalar=value, scalar_dtype=DTYPES[dtype])
        got = bench.run("elementwise:scalar", call, area(source), area(source))
        agree(got, column.tolist(), dtype, f"{name} of {value}")


@pytest.mark.parametrize("dtype", [INT16, INT32], ids=["int16", "int32"])
@pytest.mark.parametrize("name", INTEGERS)
def test_integers(bench: Bench, name: str, dtype: int) -> None:
    """They wrap."""
    op, results = OF_TWO[name], INTEGERS[name]
    info = np.iinfo(DTYPES[dtype])
    known = {"MIN": info.min, "MAX": info.max}
    want = np.array([known.get(str(value), value) for value in results], DTYPES[dtype])
    a = filled(np.array([info.min, info.min, info.max], DTYPES[dtype]))
    b = filled(np.array([info.min, info.max, info.max], DTYPES[dtype]))
    call = Call(op=op, dtype=dtype, count=3)
    got = bench.run("elementwise:binary", call, area(a), area(a), area(b)).view(DTYPES[dtype])
    assert got[:3].tolist() == want.tolist()


@both
@pytest.mark.parametrize("name", ["MulAddDst", "FusedMulAdd", "MulAddRelu", "Axpy"])
def test_product_and_sum(bench: Bench, name: str, dtype: int) -> None:
    """The product is rounded to the type before the sum: that of half overflows by itself."""
    rows = np.array((RELU_SUMS if name == "MulAddRelu" else SUMS).split()).reshape(5, 7)
    for row, factors in zip(rows, PRODUCTS.values(), strict=True):
        added = filled(values_of(NAMES, dtype))
        for pair in factors:
            x, y = values_of(pair, dtype)
            first, second = (filled(np.full(7, value, DTYPES[dtype])) for value in (x, y))
            if name == "Axpy":
                call = Call(
                    op=OF_SCALAR["Axpy"], dtype=dtype, count=7, scalar=y, scalar_dtype=DTYPES[dtype]
                )
                got = bench.run("elementwise:scalar", call, area(added), area(first))
            elif name == "MulAddDst":
                call = Call(op=OF_TWO["MulAddDst"], dtype=dtype, count=7)
                got = bench.run("elementwise:binary", call, area(added), area(first), area(second))
            else:
                call = Call(op=OF_TWO[name], dtype=dtype, count=7)
                got = bench.run("elementwise:binary", call, area(second), area(first), area(added))
            agree(got, row.tolist(), dtype, f"{name} of {pair}")


@pytest.mark.parametrize("name", ["MulAddDst", "FusedMulAdd", "MulAddRelu", "Axpy"])
def test_half_rounds_its_product(bench: Bench, name: str) -> None:
    """300 * 300 is infinite, 2049 is 2048, and what is added to that counts no more."""
    x = filled(np.array([300, 683, 0.1], np.float16))
    y = filled(np.array([300, 3, 0.1], np.float16))
    added = filled(np.array([-60000, -2048, 1000], np.float16))
    want = np.float16(x[:3] * y[:3]).astype(np.float32) + added[:3].astype(np.float32)
    for i in range(3):
        if name == "Axpy":
            call = Call(
                op=OF_SCALAR["Axpy"], dtype=HALF, count=3, scalar=y[i], scalar_dtype=np.float16
            )
            got = bench.run("elementwise:scalar", call, area(added), area(x))
        elif name == "MulAddDst":
            got = bench.run(
                "elementwise:binary",
                Call(op=OF_TWO["MulAddDst"], dtype=HALF, count=3),
                area(added),
                area(x),
                area(y),
            )
        else:
            call = Call(op=OF_TWO[name], dtype=HALF, count=3)
            got = bench.run("elementwise:binary", call, area(y), area(x), area(added))
        result = got.view(np.float16)[i]
        assert result == np.float16(want[i]), (name, i, result, want[i])


@both
@pytest.mark.parametrize("mode", COMPARE, ids=lambda mode: COMPARE[mode][0])
def test_compare(bench: Bench, mode: int, dtype: int) -> None:
    a, b = map(filled, pairs(dtype))
    lanes = 256 // a.itemsize
    call = Call(op=0, src_dtype=dtype, mode=mode, form=COUNT, count=lanes)
    got = bench.run("elementwise:compare", call, np.zeros(AREA, np.uint8), area(a), area(b))
    bits = np.unpackbits(got[:8], bitorder="little")[:49].reshape(7, 7)
    assert ["".join(map(str, row)) for row in bits] == COMPARE[mode][1].split()


@pytest.mark.parametrize(("source", "target", "mode", "want"), FLOAT_CASTS)
def test_casts_of_floats(
    bench: Bench, source: int, target: int, mode: int, want: tuple[float, ...]
) -> None:
    values = filled(values_of(NAMES, source))
    call = Call(dtype=target, src_dtype=source, mode=mode, count=7)
    got = bench.run("elementwise:cast", call, np.zeros(AREA, np.uint8), area(values))
    kind = np.dtype(DTYPES[target])
    integer = kind.kind in "iu"
    expected = np.array(
        [int(v) for v in want] if integer else want, kind if integer else np.float64
    )
    same_bits(got.view(kind)[:7].copy(), expected.astype(kind), target)


@pytest.mark.parametrize(("source", "target", "mode", "want"), INTEGER_CASTS)
def test_casts_of_integers(
    bench: Bench, source: int, target: int, mode: int, want: tuple[float, ...]
) -> None:
    info = np.iinfo(DTYPES[source])
    values = filled(np.array([info.min, info.max, 0], DTYPES[source]))
    call = Call(dtype=target, src_dtype=source, mode=mode, count=3)
    got = bench.run("elementwise:cast", call, np.zeros(AREA, np.uint8), area(values))
    same_bits(got.view(DTYPES[target])[:3].copy(), np.array(want).astype(DTYPES[target]), target)


@both
@pytest.mark.parametrize("values", REDUCED, ids="".join)
def test_reduced(bench: Bench, values: tuple[str, ...], dtype: int) -> None:
    """WholeReduce, BlockReduce and Reduce of one repeat: sum, maximum, minimum."""
    kind = np.dtype(DTYPES[dtype])
    lanes, block = 256 // kind.itemsize, 32 // kind.itemsize
    source = filled(np.resize(values_of(values, dtype), lanes))
    for i, want in enumerate(REDUCED[values]):
        for op, count in ((i, 1), (3 + i, 8)):
            call = Call(
                op=op,
                dtype=dtype,
                form=MASK,
                mask=(lanes, 0),
                rep=(1, 8, 8),
                mode=2 if op < 3 else 0,
            )
            got = bench.run("reduce:reduce", call, np.zeros(AREA, np.uint8), area(source))
            # Values by turns leave a block with others than the next one.
            agree(got, [want] * (count if len(values) == 1 else 1), dtype, f"reduction {op}")
        call = Call(op=7 + i, dtype=dtype, form=COUNT, count=lanes)
        got = bench.run("reduce:reduce", call, np.zeros(AREA, np.uint8), area(source))
        agree(got, [want], dtype, f"reduction {7 + i}")
    assert block in (8, 16)
