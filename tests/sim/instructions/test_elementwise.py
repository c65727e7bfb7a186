# SPDX-License-Identifier: Apache-2.0
"""Element-wise instructions against NumPy, every dtype in every form."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from instructions.bench import (
    AREA,
    BITS,
    COUNT,
    COUNTER_MASK,
    DTYPES,
    FLOAT,
    FORMS,
    HALF,
    INT16,
    INT32,
    MASK,
    OF_ONE,
    OF_SCALAR,
    OF_TWO,
    PRESET_BITS,
    PRESET_MASK,
    UINT16,
    UINT32,
    Array,
    Bench,
    Call,
    area,
    flat,
    instruction_table,
    operations,
    random_values,
    same_bits,
    walk,
    width_of,
    with_form,
)

STRIDES = [
    ((1, 1, 1), (8, 8, 8)),
    ((1, 0, 1), (8, 0, 8)),
    ((2, 1, 2), (16, 9, 17)),
    ((1, 2, 0), (10, 16, 0)),
]


def compute(dtype: int, *values: Array) -> tuple[Array, ...]:
    """Operands in the type that the vector unit computes in."""
    if dtype == HALF:
        return tuple(v.astype(np.float32) for v in values)
    return values


def wider(dtype: int, function: Callable[..., Any], *values: Array) -> Array:
    """The function on operands of a type, rounded once to it."""
    with np.errstate(all="ignore"):
        return np.asarray(function(*compute(dtype, *values))).astype(DTYPES[dtype])


def float_max(a: Array, b: Array) -> Array:
    """Maximum with NaN winning and +0 above -0."""
    if a.dtype.kind != "f":
        return np.maximum(a, b)
    zero = (a == 0) & (b == 0)
    both = np.where(np.signbit(a) & np.signbit(b), np.float32(-0.0), np.float32(0.0))
    return np.where(zero, both, np.maximum(a, b)).astype(a.dtype)


def float_min(a: Array, b: Array) -> Array:
    """Minimum, likewise."""
    if a.dtype.kind != "f":
        return np.minimum(a, b)
    return -float_max(-a, -b)


def relu(a: Array) -> Array:
    """Maximum with +0."""
    return float_max(a, np.zeros_like(a))


Function = Callable[..., Array]
Instruction = tuple[int, Function, tuple[int, ...]]

NUMBERS = {
    "float": FLOAT,
    "half": HALF,
    "int16": INT16,
    "uint16": UINT16,
    "int32": INT32,
    "uint32": UINT32,
}

SUMS_OF_PRODUCTS = ("MulAddDst", "FusedMulAdd", "MulAddRelu", "Axpy")
"""Half rounds their products, so that half has functions of its own."""


def instructions(form: str, functions: Mapping[str, Function]) -> dict[str, Instruction]:
    """The instructions of a form in instructions.def: number, function and dtypes. Each needs a
    function here.
    """
    numbers = operations(form)
    found: dict[str, Instruction] = {}
    for row in instruction_table.rows():
        if row.form == form:
            dtypes = tuple(NUMBERS[word] for word in row.dtypes)
            if row.name in SUMS_OF_PRODUCTS:
                dtypes = tuple(dtype for dtype in dtypes if dtype != HALF)
            found[row.name] = (numbers[row.name], functions[row.name], dtypes)
    assert set(found) == set(functions)
    return found


BINARY = instructions(
    "BINARY",
    {
        "Add": lambda a, b, d: a + b,
        "Sub": lambda a, b, d: a - b,
        "Mul": lambda a, b, d: a * b,
        "Div": lambda a, b, d: a / b,
        "Max": lambda a, b, d: float_max(a, b),
        "Min": lambda a, b, d: float_min(a, b),
        "And": lambda a, b, d: a & b,
        "Or": lambda a, b, d: a | b,
        "AddRelu": lambda a, b, d: relu(a + b),
        "SubRelu": lambda a, b, d: relu(a - b),
        "MulAddDst": lambda a, b, d: d + a * b,
        "FusedMulAdd": lambda a, b, d: a * d + b,
        "MulAddRelu": lambda a, b, d: relu(a * d + b),
    },
)


def half(product: Array) -> Array:
    """A product as half rounds it before it is added to."""
    return product.astype(np.float16).astype(np.float32)


HALF_SUMS: dict[str, Function] = {
    "MulAddDst": lambda a, b, d: d + half(a * b),
    "FusedMulAdd": lambda a, b, d: half(a * d) + b,
    "MulAddRelu": lambda a, b, d: relu(half(a * d) + b),
}


def operands(dtype: int, seed: int) -> tuple[Array, Array, Array]:
    """dst, src0, src1 with a full area of values each."""
    rng = np.random.default_rng(seed)
    size = AREA // width_of(dtype)
    dst, a, b = (random_values(rng, dtype, size) for _ in range(3))
    return dst, a, b


def check(
    bench: Bench,
    kernel: str,
    call: Call,
    values: tuple[Array, ...],
    function: Callable[..., Array],
    finding: str = "",
) -> None:
    """Runs one call; lanes that work hold function(src0, src1, dst), all others what they had."""
    dtype = call.dtype
    dst, a, b = values
    got = bench.run(kernel, call, area(dst), area(a), area(b), finding=finding)
    width = width_of(dtype)
    want = dst.copy()
    parts = zip(*(walk(call, slot, width, width) for slot in range(3)), strict=True)
    with np.errstate(all="ignore"):
        for to, i, j in parts:  # in order: a repeat may read what the one before wrote
            x, y, z = compute(dtype, a[i], b[j], want[to])
            want[to] = np.asarray(function(x, y, z)).astype(DTYPES[dtype])
    same_bits(got, want.view(np.uint8), dtype)


def check_forms(
    bench: Bench, kernel: str, op: int, function: Callable[..., Array], dtypes: Sequence[int]
) -> None:
    """One instruction: forms x dtypes, strides with the mask forms."""
    for dtype in dtypes:
        values = operands(dtype, op)
        lanes = 256 // width_of(dtype)
        for form in FORMS:
            for blk, rep in STRIDES if form != COUNT else STRIDES[:1]:
                call = with_form(Call(op=op, dtype=dtype, blk=blk, rep=rep), form, lanes)
                check(bench, kernel, call, values, function)


@pytest.mark.parametrize("name", BINARY)
def test_binary(bench: Bench, name: str) -> None:
    """Two sources: forms x dtypes, strides with the mask forms."""
    check_forms(bench, "elementwise:binary", *BINARY[name])


@pytest.mark.parametrize("name", HALF_SUMS)
def test_half_rounds_products(bench: Bench, name: str) -> None:
    """Of two sources and the destination: the product is a half before the sum is."""
    check_forms(bench, "elementwise:binary", BINARY[name][0], HALF_SUMS[name], (HALF,))


@pytest.mark.parametrize("name", ["Mul", "MulAddDst"])
def test_one_repeat_of_a_source_for_all(bench: Bench, name: str) -> None:
    """The second source stands still: its blocks, or one of them, serve every repeat."""
    op, function, dtypes = BINARY[name]
    for dtype in (FLOAT, HALF):
        values = operands(dtype, op)
        lanes = 256 // width_of(dtype)
        function = function if dtype in dtypes else HALF_SUMS[name]
        for step in (0, 1, 2):
            call = Call(op=op, dtype=dtype, repeat=19, blk=(1, 1, step), rep=(8, 8, 0))
            whole = replace(call, form=MASK, mask=(lanes, 0))
            check(bench, "elementwise:binary", whole, values, function)
            tail = replace(call, form=COUNTER_MASK, mask=(19 * lanes - 5, 0))
            check(bench, "elementwise:binary", tail, values, function)


def test_source_that_a_repeat_overwrites(bench: Bench) -> None:
    """Its blocks are read again in every repeat: what the first one wrote counts in the others."""
    dst, a, _ = operands(FLOAT, 2)
    a[:64], dst[:64] = np.arange(64), 1
    call = Call(form=MASK, mask=(64, 0), repeat=5, rep=(8, 8, 0))
    got = bench.run("elementwise:add_to_second", call, area(dst), area(a))
    want = dst.copy()
    with np.errstate(all="ignore"):
        want[:64] += a[:64]
        want[64:320] = a[64:320] + np.tile(want[:64], 4)
    same_bits(got, want.view(np.uint8), FLOAT)


def test_counts_and_masks(bench: Bench) -> None:
    """Tails of the count form, empty and full masks, no repeat at all."""
    values = operands(FLOAT, 5)
    add = BINARY["Add"][1]
    for count in (0, 1, 7, 8, 9, 63, 64, 65, 1000, AREA // 4):
        check(bench, "elementwise:binary", Call(form=COUNT, count=count), values, add)
    for mask in (0, 1, 64):
        call = Call(form=MASK, mask=(mask, 0), repeat=2)
        check(bench, "elementwise:binary", call, values, add)
    check(bench, "elementwise:binary", Call(form=MASK, mask=(64, 0), repeat=0), values, add)
    check(bench, "elementwise:binary", Call(form=BITS, mask=(0, 0), repeat=3), values, add)
    check(bench, "elementwise:binary", Call(form=COUNTER_MASK, mask=(0, 0)), values, add)
    call = Call(form=MASK, mask=(64, 0), repeat=127, rep=(8, 8, 8))
    check(bench, "elementwise:binary", call, values, add)


@pytest.mark.plants_faults
def test_lanes_that_the_type_has_not(bench: Bench) -> None:
    """They are a finding, and the lanes that there are work; all bits stand for all lanes."""
    values = operands(FLOAT, 5)
    add = BINARY["Add"][1]
    full = (1 << 64) - 1
    check(bench, "elementwise:binary", Call(form=BITS, mask=(full, full), repeat=2), values, add)
    calls = [Call(form=MASK, mask=(mask, 0), repeat=2) for mask in (65, 1000)]
    calls += [
        Call(form=form, mask=mask, repeat=2)
        for form in (BITS, PRESET_BITS)
        for mask in ((full, 1), (0xFF, full))
    ]
    for call in calls:
        check(bench, "elementwise:binary", call, values, add, finding="mask-range")


def test_bitwise_counts_16_bit_lanes_of_32_bit_tensors(bench: Bench) -> None:
    """And, Or, Not of int32 in the count form: the count is one of 16-bit lanes."""
    for op in (OF_TWO["And"], OF_TWO["Or"]):
        values = operands(UINT16, op)
        dst, a, b = values
        got = bench.run(
            "elementwise:binary", Call(op=op, dtype=INT32, count=37), *map(area, values)
        )
        want = dst.copy()
        want[:37] = (a & b if op == 6 else a | b)[:37]
        same_bits(got, want.view(np.uint8), UINT16)
    got = bench.run(
        "elementwise:unary", Call(op=OF_ONE["Not"], dtype=UINT32, count=5), area(dst), area(a)
    )
    want = dst.copy()
    want[:5] = ~a[:5]
    same_bits(got, want.view(np.uint8), UINT16)


def double(function: Callable[[Array], Array]) -> Callable[..., Array]:
    """Evaluates in float64 and rounds to float32, as the best possible instruction would."""
    return lambda a, b, d: function(a.astype(np.float64)).astype(np.float32)


UNARY = instructions(
    "UNARY",
    {
        "Exp": double(np.exp),
        "Ln": double(np.log),
        "Abs": lambda a, b, d: np.abs(a),
        "Sqrt": lambda a, b, d: np.sqrt(a),
        "Rsqrt": lambda a, b, d: np.float32(1) / np.sqrt(a),
        "Reciprocal": lambda a, b, d: np.float32(1) / a,
        "Relu": lambda a, b, d: relu(a),
        "Not": lambda a, b, d: ~a,
    },
)


@pytest.mark.parametrize("name", UNARY)
def test_unary(bench: Bench, name: str) -> None:
    """One source: forms x dtypes x strides."""
    check_forms(bench, "elementwise:unary", *UNARY[name])


@pytest.mark.parametrize("name", ["Exp", "Ln", "Sqrt", "Rsqrt", "Reciprocal"])
def test_unary_of_every_half(bench: Bench, name: str) -> None:
    """All 65536 inputs, in four launches."""
    op, function, _ = UNARY[name]
    every = np.arange(65536, dtype=np.uint16).view(np.float16)
    for part in every.reshape(4, -1):
        call = Call(op=op, dtype=HALF, count=part.size)
        check(bench, "elementwise:unary", call, (part, part, part), function)


@pytest.mark.parametrize("name", ["Exp", "Ln"])
def test_transcendental_floats(bench: Bench, name: str) -> None:
    """Dense samples of float over the whole range, correctly rounded."""
    op, function, _ = UNARY[name]
    rng = np.random.default_rng(op)
    size = AREA // 4
    bits = rng.integers(0, 2**32, size, dtype=np.uint32).view(np.float32)
    narrow = rng.uniform(-104, 89, size).astype(np.float32)
    near_one = (1 + rng.normal(0, 1e-3, size)).astype(np.float32)
    for values in (bits, narrow, near_one):
        call = Call(op=op, dtype=FLOAT, count=size)
        check(bench, "elementwise:unary", call, (values, values, values), function)


SCALAR = instructions(
    "SCALAR",
    {
        "Adds": lambda a, s, d: a + s,
        "Muls": lambda a, s, d: a * s,
        "Maxs": lambda a, s, d: float_max(a, s),
        "Mins": lambda a, s, d: float_min(a, s),
        "ShiftLeft": lambda a, s, d: np.left_shift(a, s),
        "ShiftRight": lambda a, s, d: np.right_shift(a, s),
        "LeakyRelu": lambda a, s, d: np.where(np.signbit(a), a * s, a),
        "Axpy": lambda a, s, d: d + a * s,
    },
)
SCALAR["Axpy of half"] = (SCALAR["Axpy"][0], lambda a, s, d: d + half(a * s), (HALF,))


def scalars(name: str, dtype: int) -> list[Any]:
    """Scalars that reach the corners of an instruction."""
    if name.startswith("Shift"):
        bits = width_of(dtype) * 8
        return [0, 1, bits - 1, bits]
    if dtype in (FLOAT, HALF):
        return [2.5, -0.0, 0.0, np.nan, np.inf, -3.0]
    info = np.iinfo(DTYPES[dtype])
    return [3, info.min, info.max]


@pytest.mark.parametrize("name", SCALAR)
def test_scalar(bench: Bench, name: str) -> None:
    """A source and a scalar: forms x dtypes x strides, and the corners of the scalar."""
    op, function, dtypes = SCALAR[name]
    for dtype in dtypes:
        kind = np.dtype(DTYPES[dtype])
        values = operands(dtype, op)
        lanes = 256 // width_of(dtype)
        for index, value in enumerate(scalars(name, dtype)):
            operand = np.array(value).astype(kind)
            # The model's second source is the scalar itself.
            filled = (values[0], values[1], np.full_like(values[1], operand))
            base = Call(op=op, dtype=dtype, scalar=value, scalar_dtype=kind)
            for form in FORMS if index == 0 else [COUNT]:
                for blk, rep in STRIDES if form != COUNT else STRIDES[:1]:
                    call = with_form(replace(base, blk=blk, rep=rep), form, lanes)
                    check(bench, "elementwise:scalar", call, filled, function)


def test_shift_right_with_rounding(bench: Bench) -> None:
    """The rounding form adds back the last bit that was shifted out."""
    for dtype in (INT16, INT32):
        values = operands(dtype, 3)
        for shift in (0, 1, 5, width_of(dtype) * 8 - 1):
            call = Call(
                op=OF_SCALAR["ShiftRightRound"],
                form=MASK,
                dtype=dtype,
                mask=(256 // width_of(dtype), 0),
                repeat=2,
                scalar=shift,
                scalar_dtype=DTYPES[dtype],
            )

            def rounded(a: Array, s: Array, d: Array, by: int = shift) -> Array:
                wide = a.astype(np.int64)
                return (wide >> by) + ((wide >> (by - 1)) & 1 if by else 0)

            check(bench, "elementwise:scalar", call, values, rounded)


@pytest.mark.parametrize("op", [0, 1])
def test_half_into_float(bench: Bench, op: int) -> None:
    """MulAddDst and Axpy with half sources and a float destination: 64 lanes per repeat."""
    rng = np.random.default_rng(op)
    dst = random_values(rng, FLOAT, AREA // 4)
    a, b = (random_values(rng, HALF, AREA // 2) for _ in range(2))
    scalar = np.float16(1.5)
    for form in FORMS:
        call = with_form(Call(op=op, blk=(1, 1, 1), rep=(8, 4, 5), scalar=scalar), form, 64)
        call = replace(call, scalar_dtype=np.float16)
        got = bench.run("elementwise:accumulate_half", call, area(dst), area(a), area(b))
        want = dst.copy()
        to = flat(walk(call, 0, 4, 4))
        x = a[flat(walk(call, 1, 2, 4))].astype(np.float32)
        y = b[flat(walk(call, 2, 2, 4))].astype(np.float32) if op == 0 else np.float32(scalar)
        with np.errstate(all="ignore"):
            want[to] += x * y
        same_bits(got, want.view(np.uint8), FLOAT)


def test_accumulating_repeats(bench: Bench) -> None:
    """One block as dst and src1, which every repeat adds to: the documented exception."""
    dst, a, _ = operands(FLOAT, 1)
    # Through the model: src1 aliases dst when both walk with repeat stride 0.
    call = Call(form=MASK, mask=(64, 0), repeat=5, rep=(0, 8, 0))
    got = bench.run("elementwise:binary", call, area(dst), area(a), area(dst))
    with np.errstate(all="ignore"):
        want = dst.copy()
        want[:64] = a[256:320] + dst[:64]
    same_bits(got, want.view(np.uint8), FLOAT)


@pytest.mark.parametrize("op", [0, 1], ids=["Duplicate", "Copy"])
def test_fill(bench: Bench, op: int) -> None:
    """Duplicate and Copy of 16- and 32-bit types; Copy's counter mode counts per repeat."""
    for dtype in (FLOAT, HALF, INT16, UINT16, INT32, UINT32):
        dst, a, b = operands(dtype, op)
        kind = np.dtype(DTYPES[dtype])
        lanes = 256 // kind.itemsize
        for form in FORMS[op:]:
            for blk, rep in STRIDES:
                call = Call(op=op, dtype=dtype, blk=blk, rep=rep, scalar=7, scalar_dtype=kind)
                call = with_form(call, form, lanes)
                model = call
                if op == 1 and form >= COUNTER_MASK:
                    call = replace(call, mask=(lanes - 3, 0), repeat=3)
                    model = replace(call, form=MASK)
                got = bench.run("elementwise:fill", call, area(dst), area(a))
                want = dst.copy()
                to = flat(walk(model, 0, kind.itemsize, kind.itemsize))
                source = flat(walk(model, 1, kind.itemsize, kind.itemsize))
                want[to] = a[source] if op == 1 else kind.type(7)
                same_bits(got, want.view(np.uint8), dtype)


def test_mask_register_outlives_a_mask_form(bench: Bench) -> None:
    """A preset form after SetVectorMask uses all 128 bits for half, the low 64 for float."""
    for dtype, lanes in ((HALF, 128), (FLOAT, 64)):
        values = operands(dtype, 9)
        call = Call(form=PRESET_MASK, dtype=dtype, mask=(lanes - 1, 0), repeat=2)
        check(bench, "elementwise:binary", call, values, BINARY["Add"][1])


COMPARE: list[Callable[[Array, Array], Array]] = [
    lambda a, b: a < b,
    lambda a, b: a > b,
    lambda a, b: a == b,
    lambda a, b: a <= b,
    lambda a, b: a >= b,
    lambda a, b: a != b,
]


@pytest.mark.parametrize("mode", range(6), ids=["LT", "GT", "EQ", "LE", "GE", "NE"])
def test_compare(bench: Bench, mode: int) -> None:
    """Bits of whole repeats; the mask plays no part, the count form drops a partial repeat."""
    for dtype in (FLOAT, HALF, INT32) if mode == 2 else (FLOAT, HALF):
        rng = np.random.default_rng(mode)
        kind = np.dtype(DTYPES[dtype])
        size = AREA // kind.itemsize
        dst = rng.integers(0, 256, AREA, dtype=np.uint8)
        a, b = (rng.integers(-3, 4, size).astype(kind) for _ in range(2))
        if dtype != INT32:
            a[::5], b[::7], a[::11], b[::13] = np.nan, np.nan, np.inf, -0.0
        lanes = 256 // kind.itemsize
        for op in (0, 1):
            for form in (COUNT, MASK, BITS):
                blk, rep = STRIDES[0] if form == COUNT else STRIDES[2]
                call = Call(
                    op=op,
                    src_dtype=dtype,
                    mode=mode,
                    blk=blk,
                    rep=rep,
                    scalar=2,
                    scalar_dtype=kind,
                )
                call = with_form(call, form, lanes)
                whole = replace(call, form=MASK, mask=(lanes, 0), repeat=3)
                if form == COUNT:
                    whole = replace(whole, blk=(1, 1, 1), rep=(8, 8, 8))
                x = a[flat(walk(whole, 1, kind.itemsize, kind.itemsize))]
                y: Array = np.full_like(x, 2)
                if op == 0:
                    y = b[flat(walk(whole, 2, kind.itemsize, kind.itemsize))]
                holds = COMPARE[mode](x, y).astype(np.bool_)
                bits = np.packbits(holds, bitorder="little")
                want = dst.copy()
                want[: bits.size] = bits
                got = bench.run("elementwise:compare", call, dst, area(a), area(b))
                np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("mode", range(3), ids=["same bits", "scalar", "tensors"])
def test_select(bench: Bench, mode: int) -> None:
    """Bits choose; mode 0 starts at the first bit in every repeat."""
    for dtype in (FLOAT, HALF):
        dst, a, b = operands(dtype, mode)
        kind = np.dtype(DTYPES[dtype])
        lanes = 256 // kind.itemsize
        rng = np.random.default_rng(mode)
        selector = rng.integers(0, 256, AREA // 2, dtype=np.uint8)
        bits = np.unpackbits(selector, bitorder="little").astype(bool)
        second = np.concatenate([area(b)[: AREA // 2], selector])
        for form in (COUNT, MASK, BITS, COUNTER_MASK):
            blk, rep = STRIDES[0] if form == COUNT else ((1, 1, 1), (9, 8, 10))
            call = Call(dtype=dtype, mode=mode, blk=blk, rep=rep, scalar=-2, scalar_dtype=kind)
            call = with_form(call, form, lanes)
            want = dst.copy()
            parts = zip(
                *(walk(call, slot, kind.itemsize, kind.itemsize) for slot in range(3)), strict=True
            )
            flat_call = replace(call, blk=(1, 1, 1), rep=(8, 8, 8))
            places = walk(flat_call, 0, kind.itemsize, kind.itemsize)
            for (to, i, j), place in zip(parts, places, strict=True):
                chosen = bits[place % lanes if mode == 0 else place]
                want[to] = np.where(chosen, a[i], kind.type(-2) if mode == 1 else b[j])
            got = bench.run("elementwise:select_bits", call, area(dst), area(a), second)
            same_bits(got, want.view(np.uint8), dtype)


FLOATS = AREA // 4
CHAIN_OPS = 8  # of the kernel's steps; the last takes a reference
CHAIN_COUNTS = (64, 2048, 4096, 5000, 5000, 6400)


def chain_of(rng: np.random.Generator) -> Array:
    """Instructions one after another whose operands meet at the same bytes or at shifted ones."""
    steps = []
    count = int(rng.choice(CHAIN_COUNTS))
    places = [area * FLOATS + shift for area in range(3) for shift in (0, 0, 64, 1024)]
    for _ in range(int(rng.integers(3, 40))):
        op = int(rng.choice(CHAIN_OPS, p=[0.2, 0.2, 0.2, 0.15, 0.15, 0.05, 0.04, 0.01]))
        count = int(rng.choice(CHAIN_COUNTS)) if rng.random() < 0.1 else count
        to, source, other = (int(place) for place in rng.choice(places, 3))
        # In one instruction operands coincide or lie apart.
        source, other = (
            to if place // FLOATS == to // FLOATS else place for place in (source, other)
        )
        if op == 6 and source == to:
            continue
        steps.append((op, to, source, other, count // 8 * 8 if op == 6 else count))
    return np.array([len(steps), *np.ravel(steps)], np.int32)


@pytest.mark.parametrize("seed", range(60))
def test_many_in_a_row(bench: Bench, seed: int) -> None:
    """Fast mode runs them strip by strip; no lane may see another order than the program's."""
    rng = np.random.default_rng(seed)
    areas = [rng.uniform(-1, 1, FLOATS).astype(np.float32) for _ in range(3)]
    program = chain_of(rng)
    kernel = bench.libraries["elementwise"].chain
    results = []
    for mode in ("checked", "fast"):
        with bench.runtime.options(mode=mode):
            results.append(bench.runtime.launch(kernel, [*areas, program])[0])
    assert results[0].tobytes() == results[1].tobytes(), program[1:].reshape(-1, 5)
