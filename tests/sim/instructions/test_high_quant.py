# SPDX-License-Identifier: Apache-2.0
"""Quantisation bit by bit against NumPy, and the register that ReduceMax leaves."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from instructions.bench import (
    AREA,
    BF16,
    DTYPES,
    FLOAT,
    HALF,
    Array,
    Bench,
    Call,
    KernelError,
    area,
)


def factors(*arrays: Array) -> Array:
    """Scales, and offsets 8192 bytes behind them."""
    raw = np.zeros(AREA, np.uint8)
    for i, values in enumerate(arrays):
        data = np.frombuffer(values.tobytes(), np.uint8)
        raw[i * 8192 : i * 8192 + data.size] = data
    return raw


@pytest.mark.parametrize("dtype", [FLOAT, HALF])
def test_quant(norms: Bench, dtype: int) -> None:
    """Everything in half, product and sum rounded, to the nearest even and saturated."""
    rng = np.random.default_rng(1)
    rows, columns = 5, 64
    x = rng.normal(0, 60, (rows, columns)).astype(DTYPES[dtype])
    x[0, :6] = [np.nan, np.inf, -np.inf, 65504, -0.0, 2.5]
    scales = rng.normal(1, 0.5, columns).astype(DTYPES[dtype])
    offsets = rng.normal(0, 5, columns).astype(DTYPES[dtype])
    for op in range(6):
        for worked in (0, 1):
            extra = (worked, 0, rows, columns, columns)
            call = Call(op=op, dtype=dtype, mode=3, scalar=1.1, count=x.size, extra=extra)
            zeros = np.zeros(AREA, np.uint8)
            got = norms.run("high_norm:quant", call, zeros, area(x), factors(scales, offsets))
            scale = np.float16(np.float32(1.1)) if op % 3 == 0 else scales.astype(np.float16)
            offset = offsets.astype(np.float16) if op % 3 == 2 else np.float16(3)
            with np.errstate(all="ignore"):
                value = x.astype(np.float16) * scale + offset
            want = np.clip(np.rint(np.nan_to_num(value.astype(np.float64))), -128, 127)
            np.testing.assert_array_equal(
                got[: x.size].view(np.int8).reshape(x.shape), want.astype(np.int8)
            )
            assert not got[x.size :].any()


@pytest.mark.parametrize(
    ("dtype", "scaled"), [(FLOAT, FLOAT), (FLOAT, BF16), (BF16, FLOAT), (BF16, BF16), (HALF, FLOAT)]
)
def test_dequant(norms: Bench, dtype: int, scaled: int) -> None:
    """One product in float, rounded once to the result's type; its rows fill whole blocks."""
    rng = np.random.default_rng(2)
    kind = np.dtype(DTYPES[dtype])
    x = rng.integers(-(2**31), 2**31 - 1, (4, 24), np.int32)
    x[1:] //= 2**16
    scales = rng.normal(0, 1, 24).astype(DTYPES[scaled])
    wide = scales.astype(np.float32)
    raw = factors(scales)
    if dtype == HALF:  # the lower half of 64 bits
        raw = factors(np.stack([wide, wide + 1], 1).copy())
    step = -(-24 * kind.itemsize // 32) * 32 // kind.itemsize
    for op, counted in ((6, 20), (7, 24), (8, 13)):
        if op == 7 and dtype == HALF:
            continue
        for worked in (0, 1) if op != 8 else (1,):
            extra = (worked, 0, 4, counted, 24)
            call = Call(op=op, dtype=dtype, src_dtype=scaled, scalar=0.3, extra=extra)
            got = norms.run("high_norm:quant", call, np.zeros(AREA, np.uint8), area(x), raw)
            scale = np.float32(0.3) if op == 7 else wide[:counted]
            if op == 7 and scaled == BF16:
                scale = np.float32(ml_dtypes.bfloat16(0.3))
            with np.errstate(all="ignore"):
                want = (x[:, :counted].astype(np.float32) * scale).astype(kind)
            size = 4 * step * kind.itemsize
            values = got[:size].view(kind).reshape(4, step)
            np.testing.assert_array_equal(
                values[:, :counted].astype(np.float32), want.astype(np.float32)
            )
            assert not values[:, counted:].astype(np.float32).any()


def test_a_long_row_is_several(norms: Bench) -> None:
    """One row that is a multiple of the scales' length is that many rows."""
    x = np.arange(64, dtype=np.int32)
    scales = np.arange(16, dtype=np.float32)
    call = Call(op=6, dtype=FLOAT, src_dtype=FLOAT, extra=(1, 0, 1, 16, 64))
    got = norms.run("high_norm:quant", call, np.zeros(AREA, np.uint8), area(x), factors(scales))
    np.testing.assert_array_equal(got[:256].view(np.float32), x * np.tile(scales, 4))


@pytest.mark.parametrize("dtype", [HALF, BF16])
@pytest.mark.parametrize("transposed", [0, 1])
@pytest.mark.parametrize("groups", [1, 2])
def test_anti_quant(norms: Bench, dtype: int, transposed: int, groups: int) -> None:
    """Sum and product round in half, once in bf16; channels have a scale per group along K."""
    rng = np.random.default_rng(4)
    kind = np.dtype(DTYPES[dtype])
    wide = np.dtype(np.float16 if dtype == HALF else np.float32)
    k, n = (64, 7) if transposed else (6, 64)
    x = rng.integers(-128, 128, (n, k) if transposed else (k, n), np.int8)
    shape = (n, groups) if transposed else (groups, n)
    scales = rng.normal(0, 1, shape).astype(kind)
    offsets = rng.normal(0, 20, shape).astype(kind)
    axis = 1 if transposed else 0
    spread = [np.repeat(v, k // groups, axis).astype(wide) for v in (scales, offsets)]
    for op in range(4):
        for worked in (0, 1):
            extra = (worked, 0, 1, k, scales.size)
            call = Call(op=op, dtype=dtype, mode=transposed, scalar=0.7, count=x.size, extra=extra)
            zeros = np.zeros(AREA, np.uint8)
            raw = factors(scales, offsets)
            got = norms.run("high_norm:anti_quant", call, zeros, area(x), raw)
            scale = spread[0] if op < 2 else np.asarray(0.7, kind).astype(wide)
            offset = spread[1] if op == 0 else wide.type(3 if op == 2 else 0)
            want = ((x.astype(wide) + offset) * scale).astype(kind)
            values = got[: x.size * 2].view(kind).reshape(x.shape)
            np.testing.assert_array_equal(values.astype(np.float32), want.astype(np.float32))


@pytest.mark.parametrize("dtype", [FLOAT, HALF])
@pytest.mark.parametrize("op", [0, 1, 2], ids=["ReduceMax", "WholeReduceMax", "WholeReduceMin"])
def test_extreme_register(norms: Bench, dtype: int, op: int) -> None:
    """GetReduceMaxMinCount and its newer name give the extreme of all repeats and where it is."""
    x = np.random.default_rng(3).normal(0, 1, 1000).astype(DTYPES[dtype])
    count = 500 if op == 0 else 7 * 256 // x.itemsize
    got = norms.run(
        "high_norm:extreme", Call(dtype=dtype, op=op, count=count), area(x * 0), area(x), area(x)
    )
    values = got.view(np.dtype(DTYPES[dtype]))
    at = x[:count].argmin() if op == 2 else x[:count].argmax()
    assert values[64] == values[66] == x[at]
    assert values[65:66].view(f"u{values.itemsize}")[0] == at
    if op == 0:
        assert values[:2].tobytes() == values[64:66].tobytes()


MISUSES = {
    "small scratch of AscendQuant": (Call(op=0, count=64, extra=(1, 256, 1, 64, 64)), "ub-scratch"),
    "small scratch of AscendDequant": (
        Call(op=6, extra=(1, 256, 2, 64, 64)),
        "ub-scratch",
    ),
    "half a row of scales": (Call(op=1, count=96, extra=(1, 0, 1, 64, 64)), "shape"),
    "more offsets than scales": (Call(op=2, count=64, extra=(1, 0, 1, 32, 64)), "shape"),
    "rows that are no blocks": (Call(op=8, extra=(1, 0, 2, 10, 12)), "shape"),
    "more than a row": (Call(op=8, extra=(1, 0, 2, 17, 16)), "shape"),
}


ANTI_MISUSES = {
    "small scratch": (Call(op=0, dtype=BF16, count=128, extra=(1, 512, 1, 2, 64)), "ub-scratch"),
    "scales of half the channels": (
        Call(op=0, dtype=HALF, count=128, extra=(1, 0, 1, 2, 32)),
        "shape",
    ),
    "rows that are no blocks": (Call(op=2, dtype=HALF, count=40, extra=(1, 0, 1, 2, 1)), "shape"),
    "K of another source": (Call(op=2, dtype=HALF, count=96, extra=(1, 0, 1, 5, 1)), "shape"),
}


@pytest.mark.plants_faults
@pytest.mark.parametrize("name", ANTI_MISUSES)
def test_misuse_of_anti_quant(norms: Bench, name: str) -> None:
    """Channels that hardware would mix up."""
    call, kind = ANTI_MISUSES[name]
    zeros = np.zeros(AREA, np.uint8)
    with pytest.raises(KernelError, match=kind):
        norms.run("high_norm:anti_quant", call, zeros, zeros, zeros)


@pytest.mark.plants_faults
@pytest.mark.parametrize("name", MISUSES)
def test_misuse(norms: Bench, name: str) -> None:
    """Shapes and scratch that hardware would take without a word."""
    call, kind = MISUSES[name]
    zeros = np.zeros(AREA, np.uint8)
    with pytest.raises(KernelError, match=kind):
        norms.run("high_norm:quant", call, zeros, zeros, zeros)
