# SPDX-License-Identifier: Apache-2.0
"""Normalisation and softmax in pieces against NumPy in float64."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from instructions.bench import (
    AREA,
    DTYPES,
    FLOAT,
    HALF,
    Array,
    Bench,
    Call,
    KernelError,
    area,
)

EPSILON = 0.0009765625
# Of the result area, in bytes: values, means (maxima), variances (sums), reciprocals (factors),
# maxima of the piece.
OUT = (0, 16384, 20480, 24576, 28672)
LAYER, ROWS, PLAIN, RMS, GROUP, BATCH, NORMALIZE, BARE = range(8)


def pieces(*arrays: Array) -> Array:
    """Arrays at every 8192nd byte of an area."""
    raw = np.full(AREA, 0xA5, np.uint8)
    for i, values in enumerate(arrays):
        data = np.frombuffer(np.ascontiguousarray(values).tobytes(), np.uint8)
        raw[i * 8192 : i * 8192 + data.size] = data
    return raw


def part(raw: Array, where: int, dtype: int, *shape: int) -> Array:
    """One of the results."""
    kind = np.dtype(DTYPES[dtype])
    size = int(np.prod(shape)) * kind.itemsize
    values: Array = raw[OUT[where] : OUT[where] + size].view(kind).reshape(shape)
    return values


def close(got: Array, want: Array) -> None:
    """Rounded once from float64, up to what its own evaluation leaves."""
    kind = got.dtype
    wanted = np.asarray(want).astype(kind).astype(np.float64)
    with np.errstate(all="ignore"):
        room = np.spacing(np.abs(wanted).astype(kind)).astype(np.float64)
        distance = np.abs(got.astype(np.float64) - wanted)
    assert (distance <= room + 1e-12).all(), (distance / room).max()


def normal(seed: int, dtype: int, *shape: int) -> Array:
    """Values of about one."""
    values: Array = np.random.default_rng(seed).normal(0.5, 1, shape).astype(DTYPES[dtype])
    return values


def run(norms: Bench, call: Call, x: Array, *others: Array) -> Array:
    """Dst starts as zeros, so that what is not written shows."""
    call = replace(call, scalar=EPSILON) if call.scalar == 0 else call
    return norms.run("high_norm:norm", call, np.zeros(AREA, np.uint8), area(x), pieces(*others))


@pytest.mark.parametrize("dtype", [FLOAT, HALF])
@pytest.mark.parametrize("worked", [0, 1])
def test_rows(norms: Bench, dtype: int, worked: int) -> None:
    """LayerNorm, RmsNorm and Normalize of whole and of padded rows."""
    for op in (LAYER, ROWS, PLAIN, RMS, NORMALIZE, BARE):
        if op in (PLAIN, BARE) and not worked:
            continue
        for rows, n, step in ((1, 16, 16), (5, 61, 64), (8, 128, 128)):
            wide = FLOAT if op in (ROWS, NORMALIZE) else dtype
            x = normal(op, dtype, rows, step)
            gamma, beta = normal(7, wide, step), normal(8, wide, step)
            known = normal(9, FLOAT, 2, rows) ** 2
            call = Call(op=op, dtype=dtype, extra=(worked, 0, rows, n, step))
            got = run(norms, call, x, gamma, beta, known[0], known[1])
            v = x[:, :n].astype(np.float64)
            mean, variance = v.mean(1), v.var(1)
            if op == RMS:
                mean, variance = mean * 0, (v * v).mean(1)
            if op in (NORMALIZE, BARE):
                mean, variance = known[0].astype(np.float64), known[1].astype(np.float64)
            rstd = 1 / np.sqrt(variance + EPSILON)
            want = (v - mean[:, None]) * rstd[:, None]
            if op not in (PLAIN, BARE):
                want = want * gamma[:n].astype(np.float64)
                want = want + (0 if op == RMS else beta[:n].astype(np.float64))
            close(part(got, 0, dtype, rows, step)[:, :n], want)
            if op == LAYER:
                close(part(got, 1, dtype, rows), mean)
                close(part(got, 2, dtype, rows), variance)
            elif op in (ROWS, PLAIN):
                close(part(got, 1, FLOAT, rows), mean)
            if op in (ROWS, PLAIN, NORMALIZE):
                close(part(got, 3, FLOAT, rows), rstd)
            if op in (RMS, BARE):
                assert not got[OUT[1] :].any()


@pytest.mark.parametrize("dtype", [FLOAT, HALF])
@pytest.mark.parametrize("worked", [0, 1])
def test_groups_and_batches(norms: Bench, dtype: int, worked: int) -> None:
    """GroupNorm over channels of a group, BatchNorm over the first axis."""
    x = normal(1, dtype, 3, 2, 2, 32)  # batches, groups, channels of a group, pixels
    gamma, beta = normal(2, dtype, 4), normal(3, dtype, 4)
    call = Call(op=GROUP, dtype=dtype, extra=(worked, 0, 6, 64, 64))
    got = run(norms, call, x, gamma, beta)
    v = x.astype(np.float64)
    mean, variance = v.mean((2, 3)), v.var((2, 3))
    want = (v - mean[..., None, None]) / np.sqrt(variance + EPSILON)[..., None, None]
    want = want * gamma.reshape(2, 2, 1).astype(np.float64) + beta.reshape(2, 2, 1)
    close(part(got, 0, dtype, 3, 2, 2, 32), want)
    close(part(got, 1, dtype, 3, 2), mean)
    close(part(got, 2, dtype, 3, 2), variance)

    x = normal(4, dtype, 16, 48)
    gamma, beta = normal(5, dtype, 16), normal(6, dtype, 16)
    call = Call(op=BATCH, dtype=dtype, extra=(worked, 0, 16, 48, 48))
    got = run(norms, call, x, gamma, beta)
    v = x.astype(np.float64)
    mean, variance = v.mean(0), v.var(0)
    want = (v - mean) / np.sqrt(variance + EPSILON)
    close(part(got, 0, dtype, 16, 48), want * gamma[:, None].astype(np.float64) + beta[:, None])
    close(part(got, 1, dtype, 48), mean)
    close(part(got, 2, dtype, 48), variance)


@pytest.mark.parametrize("dtype", [FLOAT, HALF])
def test_welford_update(norms: Bench, dtype: int) -> None:
    """Lane by lane; lanes behind those that count stay, or take the operands' values."""
    mean, variance = normal(1, FLOAT, 64), normal(2, FLOAT, 64) ** 2
    x = normal(3, dtype, 64)
    parts = pieces(mean, mean, mean, variance)
    for worked, op in ((0, 0), (1, 0), (1, 1)):
        call = Call(op=op, dtype=dtype, scalar=0.25, extra=(worked, 0, 1, 50, 64))
        got = norms.run("high_norm:welford", call, np.zeros(AREA, np.uint8), area(x), parts)
        m, s, v = mean.astype(np.float64), variance.astype(np.float64), x.astype(np.float64)
        new = m + (v - m) * 0.25
        wants = np.stack([new, s + (v - m) * (v - new)])
        wants[:, 50:] = np.stack([m, s])[:, 50:] if op == 1 else 0
        close(part(got, 1, FLOAT, 64), wants[0])
        close(part(got, 2, FLOAT, 64), wants[1])


def test_welford_finalize(norms: Bench) -> None:
    """Lanes of the same or of different weight; the documented example among them."""
    for op, head, weights in (
        (2, 32, (4, 0)),
        (2, 20, (4, 3)),
        (3, 0, (0, 0)),
    ):
        mean = np.arange(32, dtype=np.float32)
        variance = normal(2, FLOAT, 32) ** 2
        counts = np.random.default_rng(3).integers(1, 5, 32, np.int32)
        n = counts.astype(np.float64)
        if op == 2:
            n = np.where(np.arange(32) < head, *weights).astype(np.float64)
        for worked in (0, 1):
            call = Call(op=op, mask=weights, scalar=1 / n.sum(), extra=(worked, 0, head, 0, 32))
            parts = pieces(mean, mean, mean, variance)
            got = norms.run(
                "high_norm:welford", call, np.zeros(AREA, np.uint8), area(counts), parts
            )
            reciprocal = np.float64(np.float32(1 / n.sum()))
            want = (mean * n).sum() * reciprocal
            close(part(got, 1, FLOAT, 1), want)
            total = variance.astype(np.float64).sum() + (n * (mean - want) ** 2).sum()
            close(part(got, 2, FLOAT, 1), total * reciprocal)


@pytest.mark.parametrize(("dtype", "wide"), [(FLOAT, 0), (HALF, 0), (HALF, 1)])
def test_softmax_flash(norms: Bench, dtype: int, wide: int) -> None:
    """One piece, and a piece after others: the documented formulas."""
    rows, n, step = 7, 61, 64
    kind = FLOAT if wide else dtype
    x = normal(1, dtype, rows, step)
    before = normal(2, kind, 2, rows, 1) ** 2
    for op in range(5 if wide else 7):
        lanes = 1 if op >= 4 else 32 // np.dtype(DTYPES[kind]).itemsize
        spread = np.broadcast_to(before, (2, rows, lanes))
        for worked in (1,) if op in (3, 4) else (0, 1):
            call = Call(op=op, dtype=dtype, mode=wide, extra=(worked, 0, rows, n, step))
            parts = pieces(x, x, spread[0], spread[1])
            got = norms.run("high_norm:flash", call, np.zeros(AREA, np.uint8), area(x), parts)
            update, divide = op in (1, 3, 4, 5), op < 2
            v = x[:, :n].astype(np.float64)
            last, total = before[0].astype(np.float64), before[1].astype(np.float64)
            top = v.max(1, keepdims=True)
            if op == 5:
                close(part(got, 4, kind, rows, 1), top)
            else:
                assert not got[OUT[4] :].any()
            top = np.maximum(top, last) if update else top
            e = np.exp(v - top)
            sums = e.sum(1, keepdims=True)
            factor = np.exp(last - top)
            if update:
                sums = sums + factor * total
                factor = factor * total / sums if divide else factor
                blocks = 1 if op >= 4 else 32 // np.dtype(DTYPES[dtype]).itemsize
                close(part(got, 3, dtype, rows, blocks), np.broadcast_to(factor, (rows, blocks)))
            else:
                assert not got[OUT[3] : OUT[4]].any()
            close(part(got, 0, dtype, rows, step)[:, :n], e / sums if divide else e)
            close(part(got, 1, kind, rows, lanes), np.broadcast_to(top, (rows, lanes)))
            close(part(got, 2, kind, rows, lanes), np.broadcast_to(sums, (rows, lanes)))


FULL = (1, 0, 2, 64, 64)
MISUSES: dict[str, tuple[str, Call, str]] = {
    "rows that are no blocks": ("norm", Call(op=LAYER, extra=(1, 0, 2, 60, 61)), "shape"),
    "more than a row": ("norm", Call(op=RMS, extra=(1, 0, 2, 65, 64)), "shape"),
    "group of a padded channel": ("norm", Call(op=GROUP, extra=(1, 0, 2, 60, 64)), "shape"),
    "small scratch of LayerNorm": ("norm", Call(op=LAYER, extra=(1, 800, 2, 64, 64)), "ub-scratch"),
    "small scratch of rows": ("norm", Call(op=ROWS, extra=(1, 512, 2, 64, 64)), "ub-scratch"),
    "small scratch of RmsNorm": ("norm", Call(op=RMS, extra=(1, 256, 2, 64, 64)), "ub-scratch"),
    "small scratch of GroupNorm": ("norm", Call(op=GROUP, extra=(1, 512, 2, 64, 64)), "ub-scratch"),
    "small scratch of BatchNorm": ("norm", Call(op=BATCH, extra=(1, 512, 8, 64, 64)), "ub-scratch"),
    "small scratch of Normalize": (
        "norm",
        Call(op=NORMALIZE, extra=(1, 480, 2, 64, 64)),
        "ub-scratch",
    ),
    "small scratch of WelfordUpdate": (
        "welford",
        Call(op=0, extra=(1, 256, 1, 64, 64)),
        "ub-scratch",
    ),
    "small scratch of WelfordFinalize": (
        "welford",
        Call(op=3, extra=(1, 512, 0, 0, 64)),
        "ub-scratch",
    ),
    "lanes without a count": ("welford", Call(op=2, mask=(4, 0), extra=(1, 0, 8, 0, 64)), "shape"),
    "nothing to update": ("welford", Call(op=0, extra=(1, 0, 1, 0, 64)), "shape"),
    "small scratch of SoftmaxFlash": ("flash", Call(op=1, extra=(1, 512, 2, 64, 64)), "ub-scratch"),
    "small scratch of SoftmaxFlashV2": (
        "flash",
        Call(op=3, extra=(1, 256, 2, 64, 64)),
        "ub-scratch",
    ),
    "flash rows that are no blocks": ("flash", Call(op=0, extra=(1, 0, 2, 60, 61)), "shape"),
}


@pytest.mark.plants_faults
@pytest.mark.parametrize("name", list(MISUSES))
def test_misuse(norms: Bench, name: str) -> None:
    """Shapes and scratch that hardware would take without a word."""
    kernel, call, kind = MISUSES[name]
    zeros: Any = np.zeros(AREA, np.uint8)
    with pytest.raises(KernelError, match=kind):
        norms.run(f"high_norm:{kernel}", call, zeros, zeros, zeros)


@pytest.mark.plants_faults
@pytest.mark.parametrize("op", [0, 1, 2])
def test_checks_see_the_operands(norms: Bench, op: int) -> None:
    """Padding is not asked; what takes part has to be there, and to be waited for."""
    runtime = norms.runtime
    entry = norms.libraries["high_norm"]["norm_flow"]
    with runtime.options(mode="checked"):
        for mode, counted, kind in ((0, 32, None), (0, 64, "undefined"), (1, 32, "race")):
            call = Call(op=op, mode=mode, extra=(0, 0, 0, 32, counted))
            arrays = [np.zeros(128, np.uint8), normal(1, FLOAT, 64), call.pack()]
            if kind is None:
                assert runtime.launch(entry, arrays)[0].any()
                continue
            with pytest.raises(KernelError, match=kind):
                runtime.launch(entry, arrays)
