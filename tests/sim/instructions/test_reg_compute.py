# SPDX-License-Identifier: Apache-2.0
"""Vector functions of Ascend 950 against NumPy: instructions, loads, stores, errors."""

from __future__ import annotations

import ctypes
import functools
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from aclgrad.spec.soc import family
from instructions.bench import (
    BF16,
    BITS,
    DTYPES,
    FLOAT,
    HALF,
    HERE,
    INT8,
    INT16,
    INT32,
    MASK,
    UINT8,
    UINT16,
    UINT32,
    Array,
    Bench,
    Call,
    KernelError,
    Runtime,
    area,
    compile_kernel,
    random_values,
    same_bits,
    width_of,
)

SOC = "Ascend950PR_9599"
REG = 256


@pytest.fixture(scope="module")
def kernels(
    toolkit: Path, runtime: Runtime, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Bench]:
    """The kernels of reg_compute.cpp on their SoC."""
    folder = tmp_path_factory.mktemp("reg_compute")
    path = compile_kernel(toolkit, folder, "reg_compute", soc="ascend950")
    with runtime.options(soc=SOC):
        yield Bench(runtime, {"reg_compute": ctypes.CDLL(str(path))})


def register(dtype: int, seed: int) -> Array:
    """One register's worth of values."""
    return random_values(np.random.default_rng(seed), dtype, REG // width_of(dtype))


def run(kernels: Bench, name: str, call: Call, *sources: Array, mask: Array | None = None) -> Array:
    """The first bytes of dst. Sources follow one another; a mask by bits is a lane each."""
    areas = [area(source) for source in sources]
    while len(areas) < 3:
        areas.append(area(np.zeros(1, np.uint8)))
    if mask is not None:
        kind = f"u{REG // mask.size}"
        areas[2][1024 : 1024 + REG] = mask.astype(kind).view(np.uint8)
    return kernels.run(f"reg_compute:{name}", call, *areas)


def lanes_of(form: int, count: int, lanes: int) -> Array:
    """Which lanes work."""
    if form == BITS:
        return np.random.default_rng(count).integers(0, 2, lanes).astype(bool)
    return np.arange(lanes) < count


def masked(
    kernels: Bench,
    name: str,
    op: int,
    dtype: int,
    want: Callable[..., Any],
    *,
    merge: bool = True,
    scalar: Any = 0,
    count: int = 0,
) -> None:
    """One operation with all lanes, the first few, any; zeroing and merging."""
    dst, a, b = (register(dtype, seed) for seed in (1, 2, 3))
    lanes = dst.size
    with np.errstate(all="ignore"):
        result = np.asarray(want(dst, a, b)).astype(DTYPES[dtype])
    for form, first, mode in (
        (MASK, lanes, 0),
        (MASK, lanes - 3, 0),
        (MASK, 0, 0),
        (BITS, 7, 0),
        (BITS, 9, 1),
        (MASK, 5, 1),
    ):
        if mode == 1 and not merge:
            continue
        works = lanes_of(form, first, lanes)
        call = Call(
            op=op,
            form=form,
            dtype=dtype,
            mask=(first, 0),
            mode=mode,
            scalar=scalar,
            scalar_dtype=DTYPES[dtype],
            count=count,
        )
        got = run(kernels, name, call, dst, a, b, mask=works if form == BITS else None)
        other = dst if mode == 1 else np.zeros_like(dst)
        same_bits(got[:REG], np.where(works, result, other).view(np.uint8), dtype)
        assert (got[REG:] == 0xA5).all()


def wide(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function in float, as half and bfloat16 are computed."""
    return lambda *operands: function(*(v.astype(np.float32) for v in operands))


def fused(x: Array, y: Array, z: Array) -> Array:
    """Product and sum, rounded once: exact enough in long double for what the samples hold."""
    kind = np.longdouble
    return (x.astype(kind) * y.astype(kind) + z.astype(kind)).astype(np.float32)


def float_max(a: Array, b: Array) -> Array:
    """NaN wins, +0 is above -0."""
    zero = (a == 0) & (b == 0)
    return np.where(zero, np.where(np.signbit(a), b, a), np.maximum(a, b))


def float_min(a: Array, b: Array) -> Array:
    """NaN wins, -0 is below +0."""
    zero = (a == 0) & (b == 0)
    return np.where(zero, np.where(np.signbit(a), a, b), np.minimum(a, b))


ARITHMETIC = [np.add, np.subtract, np.multiply]


@pytest.mark.plants_faults
@pytest.mark.parametrize("dtype", [FLOAT, HALF, BF16, INT8, UINT8, INT16, UINT16, INT32, UINT32])
def test_arithmetic(kernels: Bench, dtype: int) -> None:
    """Two sources; integers wrap, half and bfloat16 are computed in float."""
    real = dtype in (FLOAT, HALF, BF16)
    narrow = dtype in (INT8, UINT8)
    for op, function in enumerate(ARITHMETIC):
        of = wide(function) if real else function
        if narrow and function is np.multiply:
            continue
        masked(kernels, "arithmetic", op, dtype, lambda _d, a, b, f=of: f(a, b))
    of = wide(float_max) if real else np.maximum
    masked(kernels, "arithmetic", 3, dtype, lambda _d, a, b: of(a, b))
    of = wide(float_min) if real else np.minimum
    masked(kernels, "arithmetic", 4, dtype, lambda _d, a, b: of(a, b))
    if narrow:
        for op in (2, 5):
            with pytest.raises(KernelError, match=r"\[dtype-unsupported\]"):
                run(kernels, "arithmetic", Call(op=op, dtype=dtype), *[register(dtype, 1)] * 3)
        return
    total = fused if real else (lambda a, b, d: a * b + d)
    masked(kernels, "arithmetic", 5, dtype, lambda d, a, b: total(a, b, d))


@pytest.mark.parametrize("dtype", [FLOAT, HALF])
def test_floats(kernels: Bench, dtype: int) -> None:
    """What only float and half have."""
    kind: Any = np.dtype(DTYPES[dtype]).type
    s = kind(-1.75)

    def exact(function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda _d, a, _b: function(a.astype(np.float64))

    def one(op: int, want: Callable[..., Any], merge: bool = True, scalar: Any = 0) -> None:
        masked(kernels, "floats", op, dtype, want, merge=merge, scalar=scalar)

    one(0, lambda _d, a, b: wide(np.divide)(a, b), merge=False)
    one(1, exact(np.exp))
    one(2, exact(np.log))
    one(3, exact(np.sqrt))
    one(4, lambda _d, a, _b: np.abs(a))
    one(5, lambda _d, a, _b: -a)
    one(6, lambda _d, a, _b: float_max(a, np.zeros_like(a)))
    one(7, exact(np.log2), merge=False)
    one(8, exact(np.log10), merge=False)
    one(9, lambda d, a, b: fused(d, a, b))
    one(10, lambda _d, a, b: np.where(np.signbit(a), wide(np.multiply)(a, b), a.astype(np.float32)))
    one(11, lambda _d, a, b: np.abs(wide(np.subtract)(a, b)))
    one(12, lambda _d, a, _b: wide(np.add)(a, np.full_like(a, s)), False, s)
    one(13, lambda _d, a, _b: wide(np.multiply)(a, np.full_like(a, s)), False, s)
    one(14, lambda _d, a, _b: float_max(a, np.full_like(a, s)), False, s)
    one(15, lambda _d, a, _b: float_min(a, np.full_like(a, s)), False, s)
    one(16, lambda d, a, _b: fused(a, np.full_like(a, s), d), False, s)
    one(
        17,
        lambda _d, a, _b: np.where(np.signbit(a), wide(np.multiply)(a, np.full_like(a, s)), a),
        False,
        s,
    )
    one(18, lambda _d, a, _b: np.floor(a), merge=False)
    one(19, lambda _d, a, _b: np.rint(a), merge=False)


@pytest.mark.plants_faults
@pytest.mark.parametrize("dtype", [INT8, INT16, UINT16, INT32, UINT32])
def test_integers(kernels: Bench, dtype: int) -> None:
    """Bits, shifts and sequences."""
    bits = 8 * width_of(dtype)
    kind = np.dtype(DTYPES[dtype])

    def shifted(values: Array, by: Array | int, left: bool) -> Array:
        distance = np.broadcast_to(np.asarray(by), values.shape).astype(np.int64)
        out = np.where((distance >= bits) | (distance < 0), bits - 1, distance)
        if left:
            moved = np.where(
                distance >= bits, 0, values.astype(np.int64) << np.minimum(distance, bits)
            )
            return moved.astype(np.uint64).astype(kind)
        far = np.where(values < 0, -1, 0) if kind.kind == "i" else np.zeros_like(values)
        return np.where(distance >= bits, far, values.astype(np.int64) >> out).astype(kind)

    functions = [np.bitwise_and, np.bitwise_or, np.bitwise_xor]
    for op, function in enumerate(functions):
        masked(kernels, "integers", op, dtype, lambda _d, a, b, f=function: f(a, b))
    masked(kernels, "integers", 3, dtype, lambda _d, a, _b: ~a)
    for op, left in ((4, True), (5, False)):
        for by in (0, 3, bits - 1):
            masked(
                kernels,
                "integers",
                op,
                dtype,
                lambda _d, a, _b, n=by, to=left: shifted(a, n, to),
                merge=False,
                count=by,
            )
    lanes = REG // width_of(dtype)
    distances = np.arange(lanes).astype(kind) % (bits + 2)
    a = register(dtype, 2)
    for op, left in ((6, True), (7, False)):
        call = Call(op=op, dtype=dtype, form=MASK, mask=(lanes, 0))
        got = run(kernels, "integers", call, a, a, distances)
        same_bits(got[:REG], shifted(a, distances, left).view(np.uint8), dtype)
    for op in (8, 9):
        call = Call(op=op, dtype=dtype, form=MASK, mask=(lanes, 0), count=100)
        if kind.kind == "u":
            with pytest.raises(KernelError, match=r"\[dtype-unsupported\]"):
                run(kernels, "integers", call, a, a, a)
            continue
        got = run(kernels, "integers", call, a, a, a)[:REG].view(kind)
        steps = np.arange(lanes) if op == 8 else np.arange(lanes)[::-1]
        np.testing.assert_array_equal(got, (100 + steps).astype(kind))
    works = lanes_of(BITS, 3, lanes)
    call = Call(op=10, dtype=dtype, form=BITS)
    got = run(kernels, "integers", call, a, a, a, mask=works)[:REG].view(kind)
    np.testing.assert_array_equal(got, (np.cumsum(works) - works).astype(kind))


@pytest.mark.parametrize("dtype", [UINT8, HALF, FLOAT, INT32])
def test_lanes(kernels: Bench, dtype: int) -> None:
    """What moves lanes."""
    kind = np.dtype(DTYPES[dtype]).type
    lanes = REG // width_of(dtype)
    dst, a, b = (register(dtype, seed) for seed in (1, 2, 3))
    works = lanes_of(BITS, 5, lanes)
    s = kind(7)
    both = np.stack([a, b], 1).ravel()
    one_after_other = np.concatenate([a, b])
    squeezed = np.zeros_like(a)
    squeezed[: works.sum()] = a[works]
    zero = np.zeros_like(a)
    wants = [
        np.where(works, a, b),
        np.where(works, a, dst),
        a,
        np.where(works, a[0], zero),
        np.where(works, s, zero),
        np.full_like(a, s),
        both[:lanes],
        both[lanes:],
        one_after_other[::2],
        one_after_other[1::2],
        squeezed,
    ]
    for op, want in enumerate(wants):
        call = Call(op=op, dtype=dtype, form=BITS, scalar=s, scalar_dtype=kind)
        got = run(kernels, "lanes", call, dst, a, b, mask=works)
        same_bits(got[:REG], np.ascontiguousarray(want.astype(kind)).view(np.uint8), dtype)


def saturated(values: Array, kind: np.dtype[Any]) -> Array:
    """To the nearest value of an integer type; NaN to 0."""
    info = np.iinfo(kind)
    clean = np.nan_to_num(
        values.astype(np.float64), nan=0.0, posinf=float(info.max), neginf=float(info.min)
    )
    return np.clip(clean, info.min, info.max).astype(kind)


CASTS: list[tuple[Any, Any, Callable[[Array], Array], bool]] = [
    (np.float32, np.float16, lambda v: v, False),
    (np.float16, np.float32, lambda v: v, False),
    (np.float32, ml_dtypes.bfloat16, lambda v: v, False),
    (ml_dtypes.bfloat16, np.float32, lambda v: v, False),
    (np.int32, np.float32, lambda v: saturated(np.floor(v), np.dtype(np.int32)), True),
    (np.float32, np.int32, lambda v: v, False),
    (np.int16, np.int32, lambda v: saturated(v, np.dtype(np.int16)), True),
    (np.int32, np.int16, lambda v: v, False),
    (np.uint8, np.float16, lambda v: saturated(np.rint(v), np.dtype(np.uint8)), True),
    (np.float16, np.int8, lambda v: v, False),
    (np.float16, ml_dtypes.bfloat16, lambda v: v.astype(np.float32), False),
    (np.int64, np.int32, lambda v: v, False),
]


@pytest.mark.parametrize("op", range(len(CASTS)))
def test_cast(kernels: Bench, op: int) -> None:
    """Between widths, by layout, with a mask of the source's lanes."""
    to, source, function, saturates = CASTS[op]
    to, source = np.dtype(to), np.dtype(source)
    dtype = DTYPES.index(source.type) if source.type in DTYPES else BF16
    src = random_values(np.random.default_rng(op), dtype, REG // source.itemsize)
    n = REG // max(to.itemsize, source.itemsize)
    widens = to.itemsize > source.itemsize
    ratio = max(to.itemsize, source.itemsize) // min(to.itemsize, source.itemsize)
    for part in (0, 1) if ratio > 1 else (0,):
        for form, first in ((MASK, src.size), (MASK, 9), (BITS, 3)):
            works = lanes_of(form, first, src.size)
            call = Call(op=op, form=form, mask=(first, 0), mode=part % ratio, count=int(saturates))
            got = run(kernels, "cast", call, src, src, src, mask=works if form == BITS else None)
            with np.errstate(all="ignore"):
                result = np.asarray(function(src)).astype(to)
            want = np.zeros(REG // to.itemsize, to)
            if widens:
                where = np.arange(n) * ratio + part
                want[:] = np.where(works[where], result[where], np.zeros(1, to))
            else:
                where = np.arange(n) * ratio + (part if ratio > 1 else 0)
                want[where] = np.where(works[:n], result[:n], np.zeros(1, to))
            number = BF16 if to == ml_dtypes.bfloat16 else DTYPES.index(to.type)
            same_bits(got[:REG], want.view(np.uint8), number)


def test_cast_saturation(kernels: Bench) -> None:
    """SAT clips and NO_SAT keeps the lowest bits; floats become infinite without it."""
    big = np.array([1e6, -1e6, 257.0, -3.0, np.inf, np.nan] + [0.0] * 58, np.float32)
    for count, want in ((0, [np.inf, -np.inf]), (1, [65504.0, -65504.0])):
        got = run(kernels, "cast", Call(op=1, form=MASK, mask=(64, 0), count=count), big, big)
        got = got[:REG].view(np.float16)
        assert list(got[[0, 2]]) == want
        assert got[8] == (65504.0 if count else np.inf)
        assert got[10] == 0.0 if count else np.isnan(got[10])
    numbers = np.array([257, -3, 70000] + [0] * 61, np.int32)
    for count, narrowed in ((0, [257, -3, 4464]), (1, [257, -3, 32767])):
        got = run(
            kernels, "cast", Call(op=6, form=MASK, mask=(64, 0), count=count), numbers, numbers
        )
        assert list(got[:REG].view(np.int16)[[0, 2, 4]]) == narrowed
    half = np.array([257.0, -3.0, np.inf] + [0.0] * 125, np.float16)
    for count, narrowed in ((0, [1, 253, 255]), (1, [255, 0, 255])):
        got = run(kernels, "cast", Call(op=8, form=MASK, mask=(128, 0), count=count), half, half)
        assert list(got[:REG][[0, 2, 4]]) == narrowed


@pytest.mark.parametrize("dtype", [FLOAT, HALF, BF16, INT8, UINT16, INT32])
def test_compare(kernels: Bench, dtype: int) -> None:
    """A bit per lane; lanes outside of the mask compare false."""
    a, b = register(dtype, 2), register(dtype, 3)
    b[::3] = a[::3]
    lanes = a.size
    works = lanes_of(BITS, 4, lanes)
    functions = [np.less, np.greater, np.equal, np.less_equal, np.greater_equal, np.not_equal]
    for op, function in enumerate(functions):
        with np.errstate(all="ignore"):
            want = function(a, b)
        call = Call(op=op, dtype=dtype, form=BITS)
        got = run(kernels, "compare", call, a, a, b, mask=works)[:REG].view(DTYPES[dtype])
        np.testing.assert_array_equal(got.astype(np.float32) != 0, want & works)
    s = a[5]
    call = Call(op=6, dtype=dtype, form=BITS, scalar=s, scalar_dtype=DTYPES[dtype])
    got = run(kernels, "compare", call, a, a, b, mask=works)[:REG].view(DTYPES[dtype])
    with np.errstate(all="ignore"):
        want = (a >= s) & works
    np.testing.assert_array_equal(got.astype(np.float32) != 0, want)


def tree(values: Array, kind: Any) -> Any:
    """Sums of two neighbours, then of two of these."""
    while values.size > 1:
        values = (values[::2] + values[1::2]).astype(kind)
    return values[0]


def reduced(
    kernels: Bench, call: Call, src: Array, mask: Array | None, to: np.dtype[Any], op: int
) -> Array:
    """The register that a reduction leaves."""
    return run(kernels, "reduce", replace(call, op=op), src, src, src, mask=mask)[:REG].view(to)


@pytest.mark.parametrize("dtype", [FLOAT, HALF, INT16, INT32])
def test_reduce(kernels: Bench, dtype: int) -> None:
    """Sums as a tree, extremes with the first index, by blocks and by pairs."""
    kind = np.dtype(DTYPES[dtype])
    to = np.dtype(np.int32 if dtype == INT16 else kind)
    lanes = REG // kind.itemsize
    rng = np.random.default_rng(dtype)
    if kind.kind == "f":
        src = rng.normal(0, 3, lanes).astype(kind)
    else:
        src = rng.integers(-9, 9, lanes).astype(kind)
    per_block = 32 // kind.itemsize
    for form, first in ((MASK, lanes), (MASK, 21), (MASK, 0), (BITS, 6)):
        works = lanes_of(form, first, lanes)

        call = Call(dtype=dtype, form=form, mask=(first, 0))
        mask = works if form == BITS else None
        go = functools.partial(reduced, kernels, call, src, mask, to)
        kept = np.where(works, src, np.zeros(1, kind)).astype(to)
        got = go(0)
        assert got[0] == tree(kept, to)
        assert not got[1:].any()
        got = go(1)
        np.testing.assert_array_equal(
            got[:8], [tree(block, to) for block in kept.reshape(8, per_block)]
        )
        assert not got[8:].any()
        if dtype == INT16:
            continue
        least = -np.inf if kind.kind == "f" else np.iinfo(kind).min
        most = np.inf if kind.kind == "f" else np.iinfo(kind).max
        for op, fill, pick in ((2, least, np.argmax), (3, most, np.argmin)):
            values = np.where(works, src, np.array(fill).astype(kind))
            got = go(op)
            assert got[0] == values[pick(values)]
            index = got[1:2].view(f"u{kind.itemsize}")[0]
            assert index == (pick(values) if works.any() else 0)
            assert not got[2:].any()
        values = np.where(works, src, np.array(least).astype(kind)).reshape(8, per_block)
        np.testing.assert_array_equal(go(4)[:8], values.max(1))
        if kind.kind == "f":
            pairs = (kept[::2].astype(np.float32) + kept[1::2].astype(np.float32)).astype(kind)
            got = go(5)
            np.testing.assert_array_equal(got[: lanes // 2], pairs)
            assert not got[lanes // 2 :].any()


def loaded(op: int, raw: Array) -> Array:
    """What a load of `raw` leaves in its register, or in two."""
    b8, b16, b32 = raw, raw.view(np.uint16), raw.view(np.uint32)

    def spread(values: Array, step: int) -> Array:
        out = np.zeros(values.size * step, values.dtype)
        out[::step] = values
        return out

    parts: list[Any] = [
        b8[:256],
        np.repeat(b8[:1], 256),
        np.repeat(b16[:1], 128),
        np.repeat(b32[:1], 64),
        np.repeat(b8[:128], 2),
        np.repeat(b16[:64], 2),
        b8[:512:2],
        b16[:256:2],
        spread(b8[:128], 2),
        spread(b16[:64], 2),
        spread(b32[:32], 2),
        spread(b8[:64], 4),
        np.tile(b8[:32], 8),
        np.repeat(b16[:8], 16),
        np.repeat(b32[:8], 8),
        np.concatenate([b8[:512:2], b8[1:512:2]]),
        np.concatenate([b16[:256:2], b16[1:256:2]]),
        np.concatenate([b32[:128:2], b32[1:128:2]]),
        b8[:512],
        b8[:512].reshape(8, 64)[:, :32].ravel(),
        b8[256:512],
        b8[64:320],
    ]
    return np.ascontiguousarray(parts[op]).view(np.uint8)


@pytest.mark.parametrize("op", range(22))
def test_load(kernels: Bench, op: int) -> None:
    """Every distribution of LoadAlign, the forms for blocks, offsets and addresses that move on."""
    raw = np.random.default_rng(op).integers(0, 256, 4096, dtype=np.uint8)
    start = {1: 3, 2: 6, 3: 12, 18: 13}.get(op, 64)
    got = run(kernels, "load", Call(op=op, extra=(start, 0, 0, 0, 0)), raw, raw, raw)
    want = loaded(op, raw[start : start + 1024].copy())
    np.testing.assert_array_equal(got[: want.size], want)


def stored(op: int, a: Array, b: Array, works: dict[int, Array], count: int) -> tuple[Array, Array]:
    """Bytes that a store writes and which of them, from where it starts."""

    def lanes(values: Array, width: int) -> tuple[Array, Array]:
        return values.view(np.uint8), np.repeat(works[width], values.itemsize)

    def whole(values: Array) -> tuple[Array, Array]:
        raw = np.ascontiguousarray(values).view(np.uint8)
        return raw, np.ones(raw.size, bool)

    def both(kind: Any) -> Array:
        return np.stack([a.view(kind), b.view(kind)], 1).ravel()

    if op < 3:
        width = (1, 2, 4)[op]
        return lanes(a.view(f"u{width}"), width)
    if op < 6:
        return whole(a[: (1, 2, 4)[op - 3]])
    if op == 6:
        return lanes(a.view(np.uint16).astype(np.uint8), 2)
    if op == 7:
        return lanes(a.view(np.uint32).astype(np.uint16), 4)
    if op == 8:
        return lanes(a.view(np.uint32).astype(np.uint8), 4)
    if op < 12:
        return whole(both(f"u{(1, 2, 4)[op - 9]}"))
    if op == 12:
        return whole(np.concatenate([a[:count], b[:count]]))
    if op == 13:
        out, which = np.zeros((8, 64), np.uint8), np.zeros((8, 64), bool)
        out[:, :32] = a.reshape(8, 32)
        which[:, :32] = np.repeat(works[2], 2).reshape(8, 32)
        return out.ravel(), which.ravel()
    return whole(np.concatenate([a[works[1]], b[works[1]]]))


@pytest.mark.parametrize("op", range(15))
def test_store(kernels: Bench, op: int) -> None:
    """Every distribution of StoreAlign and the forms for blocks and bytes that are not aligned."""
    rng = np.random.default_rng(op)
    a, b = (rng.integers(0, 256, REG, dtype=np.uint8) for _ in range(2))
    start = {3: 5, 4: 6, 5: 12, 12: 13, 14: 7}.get(op, 64)
    for count in (256, 37, 0, 1):
        works = {width: np.arange(REG // width) < count for width in (1, 2, 4)}
        dst = rng.integers(0, 256, 4096, dtype=np.uint8)
        call = Call(
            op=op, form=MASK, mask=(count, 0), count=min(count, 256), extra=(start, 0, 0, 0, 0)
        )
        got = run(kernels, "store", call, dst, a, b)[: dst.size]
        data, which = stored(op, a, b, works, min(count, 256))
        want = dst.copy()
        part = want[start : start + data.size]
        part[which] = data[which]
        np.testing.assert_array_equal(got, want)


def test_pack(kernels: Bench) -> None:
    """Pack keeps the lower halves, UnPack widens by the sign."""
    raw = np.random.default_rng(1).integers(0, 256, REG, dtype=np.uint8)
    low = raw.view(np.uint32).astype(np.uint16)
    none = np.zeros_like(low)
    halves = raw.view(np.int16).astype(np.int32)
    wants = [
        np.concatenate([low, none]),
        np.concatenate([none, low]),
        halves[:64],
        halves[64:],
    ]
    for op, want in enumerate(wants):
        got = run(kernels, "pack", Call(op=op), raw, raw, raw)
        np.testing.assert_array_equal(got[:REG], np.ascontiguousarray(want).view(np.uint8))


def test_masks(kernels: Bench) -> None:
    """Masks bit by bit."""
    rng = np.random.default_rng(2)
    a, b = (rng.integers(0, 2, 256).astype(bool) for _ in range(2))
    zeros = np.zeros(128, bool)

    def doubled(bits: Array) -> Array:
        return np.stack([bits, np.zeros_like(bits)], 1).ravel()

    pairs = np.stack([a.reshape(-1, 2), b.reshape(-1, 2)], 1).ravel()
    row = np.concatenate([a, b])

    def every(width: int, lanes: Array) -> Array:
        bits = np.zeros(256, bool)
        bits[np.asarray(lanes) * width] = True
        return bits

    wants = [
        a & b,
        a | b,
        (a ^ b) & a,
        ~a & b,
        np.where(b, a, b),
        np.concatenate([a[::2], zeros]),
        np.concatenate([zeros, a[::2]]),
        doubled(a[:128]),
        doubled(a[128:]),
        pairs,
        np.concatenate([row[::2], row[1::2]]),
        every(2, np.arange(3)),
        every(4, np.arange(0, 64, 4)),
        every(2, np.arange(64)),
        np.zeros(256, bool),
        every(8, np.arange(32)),
    ]
    raw = [np.packbits(bits, bitorder="little") for bits in (a, a, b)]
    for op, want in enumerate(wants):
        got = run(kernels, "masks", Call(op=op), *raw)
        bits = np.unpackbits(got[: want.size // 8], bitorder="little").astype(bool)
        np.testing.assert_array_equal(bits, want, err_msg=str(op))


def test_pick(kernels: Bench) -> None:
    """Gather from UB, Scatter to it, Gather of lanes."""
    rng = np.random.default_rng(3)
    values = rng.integers(0, 1 << 31, 512).astype(np.uint32)
    dst = rng.integers(0, 1 << 31, 512).astype(np.uint32)
    index = rng.permutation(512)[:64].astype(np.uint32)
    for count in (64, 11):
        works = np.arange(64) < count
        call = Call(op=0, form=MASK, mask=(count, 0))
        got = run(kernels, "pick", call, dst, values, index)[:REG].view(np.uint32)
        np.testing.assert_array_equal(got, np.where(works, values[index], 0))
        call = Call(op=1, form=MASK, mask=(count, 0))
        got = run(kernels, "pick", call, dst, values, index)[:2048].view(np.uint32)
        want = dst.copy()
        want[index[works]] = values[:64][works]
        np.testing.assert_array_equal(got, want)
    few = index % 64
    got = run(kernels, "pick", Call(op=2), dst, values, few)[:REG].view(np.uint32)
    np.testing.assert_array_equal(got, values[few])


def test_half_row(kernels: Bench) -> None:
    """A row of half: widened, multiplied, summed, narrowed."""
    rng = np.random.default_rng(4)
    a, b = (rng.normal(0, 1, 64).astype(np.float16) for _ in range(2))
    for count in (64, 37, 1):
        call = Call(form=MASK, mask=(count, 0))
        got = run(kernels, "half_row", call, a, a, b)[:REG].view(np.float16)
        product = np.where(np.arange(64) < count, a.astype(np.float32) * b.astype(np.float32), 0)
        want = (product - tree(product.astype(np.float32), np.float32)).astype(np.float16)
        np.testing.assert_array_equal(got[:count], want[:count])
        np.testing.assert_array_equal(got[count:64], a[count:])


WRONG = {
    0: "vector-function",
    1: "ub-misaligned",
    2: "ub-out-of-bounds",
    3: "local-memory-order",
    5: "undefined-read",
    6: "undefined-read",
    8: "ub-out-of-bounds",
    9: "vector-function",
    10: "unaligned-register",
    11: "undefined-read",
}


@pytest.mark.plants_faults
@pytest.mark.parametrize("op", range(12))
def test_wrong(kernels: Bench, op: int) -> None:
    """Each rule is found where it is broken, with its line; 4 and 7 break none."""
    call = Call(op=op)
    if op in (4, 7):
        run(kernels, "wrong", call, np.zeros(64, np.float32))
        return
    with pytest.raises(KernelError) as failed:
        run(kernels, "wrong", call, np.zeros(64, np.float32))
    text = str(failed.value)
    assert f"[{WRONG[op]}]" in text
    assert "reg_compute.cpp:" in text


@pytest.mark.plants_faults
def test_other_socs(kernels: Bench) -> None:
    """A kernel that was built for Ascend 950 says so elsewhere."""
    with (
        kernels.runtime.options(soc="Ascend910B2"),
        pytest.raises(KernelError, match="no vector functions"),
    ):
        run(kernels, "pack", Call(), np.zeros(64, np.float32))


def test_other_architectures_refuse(toolkit: Path) -> None:
    """Elsewhere the first of the names is a compile error that says where they exist."""
    arch = family("ascend910b")
    command = ["g++", "-std=c++17", "-fsyntax-only", f"-I{toolkit}/include"]
    command += [f"-D__NPU_ARCH__={arch.npu_arch}", f"-D__CCE_AICORE__={arch.cce_aicore}"]
    done = subprocess.run(
        [*command, str(HERE / "reg_compute.cpp")], capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    for name in ("RegTensor", "__VEC_SCOPE__"):
        assert f"{name} exists on architecture 3510 only" in done.stderr
