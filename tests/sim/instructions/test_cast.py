# SPDX-License-Identifier: Apache-2.0
"""Cast against exact references: every pair, every mode, every half and bf16, dense floats."""

from __future__ import annotations

from dataclasses import replace

import ml_dtypes
import numpy as np
import pytest

from instructions.bench import (
    AREA,
    BF16,
    COUNT,
    DTYPES,
    FLOAT,
    FORMS,
    HALF,
    INT8,
    INT16,
    INT32,
    INT64,
    UINT8,
    Array,
    Bench,
    Call,
    area,
    flat,
    random_values,
    same_bits,
    walk,
    width_of,
    with_form,
)

NONE, RINT, FLOOR, CEIL, ROUND, TRUNC, ODD = range(7)
FIVE = (RINT, FLOOR, CEIL, ROUND, TRUNC)

# The documented conversions of Atlas A2.
PAIRS: dict[tuple[int, int], tuple[int, ...]] = {
    (HALF, FLOAT): (NONE,),
    (HALF, INT32): FIVE,
    (HALF, INT16): FIVE,
    (HALF, INT8): (*FIVE, NONE),
    (HALF, UINT8): (*FIVE, NONE),
    (BF16, FLOAT): (NONE,),
    (BF16, INT32): FIVE,
    (FLOAT, HALF): (*FIVE, NONE, ODD),
    (FLOAT, BF16): FIVE,
    (FLOAT, INT16): FIVE,
    (FLOAT, INT32): FIVE,
    (FLOAT, INT64): FIVE,
    (FLOAT, FLOAT): FIVE,
    (INT8, HALF): (NONE,),
    (UINT8, HALF): (NONE,),
    (INT16, HALF): (*FIVE, NONE),
    (INT16, FLOAT): (NONE,),
    (INT32, FLOAT): (*FIVE, NONE),
    (INT32, HALF): (*FIVE, NONE, ODD),  # no mode plays a part
    (INT32, INT16): (NONE,),
    (INT32, INT64): (NONE,),
    (INT64, INT32): (NONE,),
    (INT64, FLOAT): FIVE,
}


def to_integer(values: Array, mode: int) -> Array:
    """Rounds float64 values to whole numbers."""
    if mode == FLOOR:
        return np.floor(values)
    if mode == CEIL:
        return np.ceil(values)
    if mode == TRUNC:
        return np.trunc(values)
    if mode == ROUND:
        return np.sign(values) * np.floor(np.abs(values) + 0.5)
    return np.rint(values)


def saturate(values: Array, dtype: int) -> Array:
    """Whole float64 values to an integer type: saturated, NaN to 0."""
    info = np.iinfo(DTYPES[dtype])
    out = np.zeros(values.shape, DTYPES[dtype])
    out[values >= info.max] = info.max
    out[values <= info.min] = info.min
    inside = (values > info.min) & (values < info.max)
    out[inside] = values[inside].astype(DTYPES[dtype])
    return out


def to_short_float(values: Array, dtype: int, mode: int) -> Array:
    """Float64 values to half, bf16 or float by any mode, by way of the neighbours on the grid.

    Half: what needs an exponent that half lacks is infinite in every mode.
    """
    digits, lowest = {HALF: (10, -14), BF16: (7, -126), FLOAT: (23, -126)}[dtype]
    finite = np.isfinite(values)
    safe = np.where(finite, values, 0.0)
    exponent = np.maximum(np.frexp(safe)[1] - 1, lowest)
    scale = np.ldexp(1.0, exponent - digits)
    units = np.abs(safe) / scale  # exact: a power of two
    low = np.floor(units)
    rest = units - low
    odd = low % 2 == 1
    negative = np.signbit(safe)
    up = {
        FLOOR: negative & (rest > 0),
        CEIL: ~negative & (rest > 0),
        TRUNC: np.zeros_like(odd),
        ROUND: rest >= 0.5,
        ODD: ~odd & (rest > 0),
    }.get(mode, (rest > 0.5) | ((rest == 0.5) & odd))
    magnitude = (low + up) * scale
    limit = 65536.0 if dtype == HALF else 2.0**128
    magnitude = np.where(magnitude >= limit, np.inf, magnitude)
    if dtype == HALF:
        magnitude = np.where(np.abs(safe) >= limit, np.inf, magnitude)
    result = np.where(finite, np.copysign(magnitude, safe), values)
    with np.errstate(all="ignore"):
        return result.astype(np.float32).astype(DTYPES[dtype])


def long_to_float(values: Array, mode: int) -> Array:
    """Integers to float by any mode, in exact integer arithmetic."""
    out = np.empty(values.shape, np.float32)
    for index, value in enumerate(int(v) for v in values):
        size = abs(value)
        shift = max(size.bit_length() - 24, 0)
        low, rest, tie = size >> shift, size & ((1 << shift) - 1), (1 << shift) >> 1
        up = {
            FLOOR: value < 0 and rest > 0,
            CEIL: value > 0 and rest > 0,
            TRUNC: False,
            ROUND: shift > 0 and rest >= tie,
        }.get(mode, shift > 0 and (rest > tie or (rest == tie and low & 1 == 1)))
        out[index] = float((low + int(up)) << shift) * (-1 if value < 0 else 1)
    return out


def reference(values: Array, source: int, target: int, mode: int) -> Array:
    """What Cast must give."""
    if source in (INT64, INT32) and target in (INT64, INT32, INT16):
        info = np.iinfo(DTYPES[target])
        clipped: Array = np.clip(values.astype(object), info.min, info.max)
        return clipped.astype(DTYPES[target])
    if target == HALF and source == INT32:  # SetDeqScale's factor is 1 from the start
        with np.errstate(over="ignore"):
            return values.astype(np.float32).astype(np.float16)
    if source in (INT64, INT32):
        return long_to_float(values, mode)
    with np.errstate(invalid="ignore"):  # signalling NaN among all the halves
        wide = values.astype(np.float32).astype(np.float64)
    if source == FLOAT and target == FLOAT:
        return to_integer(wide, mode).astype(np.float32) + np.float32(0)
    if target in (FLOAT, HALF, BF16):
        return to_short_float(wide, target, mode)
    return saturate(to_integer(wide, mode), target)


def samples(source: int) -> Array:
    """Every value of a short type; floats and long integers dense where rounding decides."""
    kind = np.dtype(DTYPES[source])
    if kind.itemsize <= 2:
        every = np.arange(2 ** (8 * kind.itemsize)).astype(f"u{kind.itemsize}")
        return every.view(kind)
    rng = np.random.default_rng(source)
    if source in (INT32, INT64):
        info = np.iinfo(kind)
        ties = [
            s * ((1 << b) + d)
            for b in range(1, kind.itemsize * 8 - 1)
            for d in range(-2, 3)
            for s in (1, -1)
        ]
        halves = [(1 << 24 + b) + k * (1 << b) // 2 for b in range(1, 6) for k in range(-8, 9)]
        wide = rng.integers(info.min, info.max, 2000, dtype=kind, endpoint=True)
        return np.concatenate([np.array([info.min, info.max, 0, *ties, *halves], kind), wide])
    halves16 = np.arange(0x7C01, dtype=np.uint16).view(np.float16).astype(np.float32)
    bf16 = np.arange(0, 0x7F81, 7, dtype=np.uint16).view(ml_dtypes.bfloat16).astype(np.float32)
    grids = [halves16, bf16, np.arange(0, 70000, 0.5, dtype=np.float32)]
    grids += [
        np.float32(2.0**power) + np.arange(-3, 4, 0.5, dtype=np.float32) for power in range(64)
    ]
    parts = []
    for grid in grids:
        with np.errstate(all="ignore"):
            middle = (grid[1:].astype(np.float64) + grid[:-1].astype(np.float64)) / 2
        ties32 = middle.astype(np.float32)
        up, down = np.nextafter(ties32, np.float32(np.inf)), np.nextafter(ties32, np.float32(0))
        parts += [grid, ties32, up, down]
    random = rng.integers(0, 2**32, 20000, dtype=np.uint32).view(np.float32)
    special = np.array(
        [
            np.nan,
            np.inf,
            0.0,
            1e-45,
            65503.99,
            65504,
            65519.99,
            65520,
            65535.99,
            65536,
            3.4028235e38,
            2147483520,
            2147483648,
            9.223371e18,
            9.223372e18,
        ],
        np.float32,
    )
    positive = np.concatenate([*parts, special])
    return np.concatenate([positive, -positive, random])


@pytest.mark.parametrize(
    "pair", PAIRS, ids=lambda p: f"{np.dtype(DTYPES[p[0]])}-{np.dtype(DTYPES[p[1]])}"
)
def test_values(bench: Bench, pair: tuple[int, int]) -> None:
    """Every mode of a pair, bit for bit."""
    source, target = pair
    values = samples(source)
    chunk = AREA // max(width_of(source), width_of(target))
    for mode in PAIRS[pair]:
        want = reference(values, source, target, mode)
        got = np.empty_like(want)
        for begin in range(0, values.size, chunk):
            part = values[begin : begin + chunk]
            call = Call(dtype=target, src_dtype=source, mode=mode, count=part.size)
            out = bench.run("elementwise:cast", call, area(part[:0]), area(part))
            got[begin : begin + part.size] = out.view(want.dtype)[: part.size]
        same_bits(got.view(np.uint8), want.view(np.uint8), target)


@pytest.mark.parametrize(
    "pair", PAIRS, ids=lambda p: f"{np.dtype(DTYPES[p[0]])}-{np.dtype(DTYPES[p[1]])}"
)
def test_forms(bench: Bench, pair: tuple[int, int]) -> None:
    """Masks and strides count by the wider type; lanes that do not work keep their values."""
    source, target = pair
    rng = np.random.default_rng(1)
    width, source_width = width_of(target), width_of(source)
    lane_width = max(width, source_width)
    dst = random_values(rng, target, AREA // width)
    values = random_values(rng, source, AREA // source_width)
    mode = PAIRS[pair][0]
    converted = reference(values[:4096], source, target, mode)
    for form in FORMS:
        for blk, rep in (((1, 1, 1), (8, 8, 8)), ((2, 1, 1), (17, 4, 8)), ((1, 0, 1), (8, 9, 8))):
            if form == COUNT and blk != (1, 1, 1):
                continue
            call = Call(dtype=target, src_dtype=source, mode=mode, blk=blk, rep=rep)
            call = with_form(call, form, 256 // lane_width)
            want = dst.copy()
            want[flat(walk(call, 0, width, lane_width))] = converted[
                flat(walk(call, 1, source_width, lane_width))
            ]
            got = bench.run("elementwise:cast", call, area(dst), area(values))
            same_bits(got, want.view(np.uint8), target)
    # The documented dense strides: the narrow side moves by half or less per repeat.
    dense = Call(
        dtype=target,
        src_dtype=source,
        mode=mode,
        form=1,
        mask=(256 // lane_width, 0),
        repeat=4,
        rep=(8 * width // lane_width, 8 * source_width // lane_width, 8),
    )
    got = bench.run("elementwise:cast", dense, area(dst), area(values))
    want = dst.copy()
    count = 4 * 256 // lane_width
    want[:count] = converted[:count]
    same_bits(got, want.view(np.uint8), target)
    got = bench.run("elementwise:cast", replace(dense, repeat=0), area(dst), area(values))
    same_bits(got, dst.view(np.uint8), target)
