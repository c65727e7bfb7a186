# SPDX-License-Identifier: Apache-2.0
"""Reductions against a NumPy model of the documented trees, bit for bit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from instructions.bench import (
    AREA,
    BITS,
    COUNT,
    COUNTER_MASK,
    COUNTER_PRESET,
    DTYPES,
    FLOAT,
    FORMS,
    HALF,
    MASK,
    Array,
    Bench,
    Call,
    KernelError,
    area,
    random_values,
    repeats,
    same_bits,
    walk,
    with_form,
)


def tree(values: Array) -> Array:
    """Neighbours are added first; every level rounds to the type."""
    while values.size > 1:
        with np.errstate(all="ignore"):
            wide = values[0::2].astype(np.float32) + values[1::2].astype(np.float32)
            values = wide.astype(values.dtype)
    return values


def lane_values(call: Call, source: Array, neutral: float) -> list[tuple[Array, Array]]:
    """Per repeat: all lanes (neutral where they do not work) and which of them work."""
    width = source.dtype.itemsize
    lanes = 256 // width
    result = []
    for places, working in zip(walk(call, 1, width, width), repeats(call, width), strict=True):
        values = np.full(lanes, neutral, source.dtype)
        values[working] = source[places]
        works = np.zeros(lanes, bool)
        works[working] = True
        result.append((values, works))
    return result


def extreme(values: Array, works: Array, largest: bool) -> int:
    """Index of the first extreme lane; a NaN wins."""
    wide = values.astype(np.float64)
    nan = works & np.isnan(wide)
    if nan.any():
        return int(np.argmax(nan))
    wide = np.where(works, wide if largest else -wide, -np.inf)
    best = wide.max()
    return int(np.argmax(works & (wide == best)))


def source_of(dtype: int, seed: int, ties: bool = False) -> Array:
    """Random values with special ones and, on request, many equal ones."""
    rng = np.random.default_rng(seed)
    size = AREA // np.dtype(DTYPES[dtype]).itemsize
    if ties:
        return rng.integers(-3, 4, size).astype(DTYPES[dtype])
    values = rng.normal(0, 100, size).astype(DTYPES[dtype])
    values[size // 2 :] = random_values(rng, dtype, size - size // 2)
    return values


STRIDES = [((1, 1, 1), (1, 8, 8)), ((1, 2, 1), (3, 17, 8)), ((1, 0, 1), (2, 1, 8))]
MASK_FORMS = [form for form in FORMS if form != COUNT]


@pytest.mark.parametrize("dtype", [FLOAT, HALF])
@pytest.mark.parametrize("seed", range(3))
def test_whole_reduce_sum(bench: Bench, dtype: int, seed: int) -> None:
    """One sum per repeat, its stride counted in results."""
    source = source_of(dtype, seed)
    source = np.roll(source, source.size // 2) if seed == 2 else source
    kind = source.dtype
    dst = source_of(dtype, 99)
    for form in MASK_FORMS:
        for blk, rep in STRIDES:
            call = with_form(Call(op=0, dtype=dtype, blk=blk, rep=rep), form, 256 // kind.itemsize)
            want = dst.copy()
            for r, (values, _) in enumerate(lane_values(call, source, 0.0)):
                want[r * rep[0]] = tree(values)[0]
            got = bench.run("reduce:reduce", call, area(dst), area(source))
            same_bits(got, want.view(np.uint8), dtype)


@pytest.mark.parametrize("dtype", [FLOAT, HALF])
@pytest.mark.parametrize("op", [1, 2], ids=["max", "min"])
@pytest.mark.parametrize("order", range(4))
def test_whole_reduce_extreme(bench: Bench, dtype: int, op: int, order: int) -> None:
    """Value and index in every order; ties take the lowest index; the index is bits."""
    dst = source_of(dtype, 99)
    kind = dst.dtype
    for seed in range(3):
        source = source_of(dtype, seed, ties=seed == 1)
        source = np.roll(source, source.size // 2) if seed == 2 else source
        for form in MASK_FORMS:
            for blk, rep in STRIDES:
                call = Call(op=op, dtype=dtype, mode=order, blk=blk, rep=rep)
                call = with_form(call, form, 256 // kind.itemsize)
                raw = area(dst)
                unit = 4 if order == 3 else kind.itemsize * (2 if order < 2 else 1)
                for r, (values, works) in enumerate(lane_values(call, source, 0.0)):
                    index = extreme(values, works, op == 1)
                    value = values[index : index + 1].tobytes()
                    bits = index.to_bytes(4, "little")
                    stored = [
                        value + bits[: kind.itemsize],
                        bits[: kind.itemsize] + value,
                        value,
                        bits,
                    ]
                    start = r * rep[0] * unit
                    raw[start : start + unit] = np.frombuffer(stored[order], np.uint8)
                got = bench.run("reduce:reduce", call, area(dst), area(source))
                same_bits(got, raw, dtype)


@pytest.mark.parametrize("dtype", [FLOAT, HALF])
@pytest.mark.parametrize("op", [3, 4, 5], ids=["sum", "max", "min"])
def test_block_reduce(bench: Bench, dtype: int, op: int) -> None:
    """One result per 32-byte block; a block without a working lane writes nothing."""
    dst = source_of(dtype, 99)
    kind = dst.dtype
    per_block = 32 // kind.itemsize
    for seed in range(3):
        source = source_of(dtype, seed, ties=seed == 1)
        source = np.roll(source, source.size // 2) if seed == 2 else source
        for form in MASK_FORMS:
            for blk, rep in STRIDES:
                call = with_form(
                    Call(op=op, dtype=dtype, blk=blk, rep=rep), form, 256 // kind.itemsize
                )
                if form == BITS:
                    high = 0xFFFF_0000 if dtype == HALF else 0
                    call = replace(call, mask=(0xFF00_0000_0000_0001, high))
                want = dst.copy()
                for r, (values, works) in enumerate(lane_values(call, source, 0.0)):
                    for b in range(8):
                        part = slice(b * per_block, (b + 1) * per_block)
                        if not works[part].any():
                            continue
                        where = extreme(values[part], works[part], op == 4)
                        result = tree(values[part])[0] if op == 3 else values[part][where]
                        want[r * rep[0] * 8 + b] = result
                got = bench.run("reduce:reduce", call, area(dst), area(source))
                same_bits(got, want.view(np.uint8), dtype)


@pytest.mark.parametrize("dtype", [FLOAT, HALF])
def test_pair_reduce_sum(bench: Bench, dtype: int) -> None:
    """Neighbours; a pair without a working lane keeps its destination."""
    dst, source = source_of(dtype, 99), source_of(dtype, 1)
    kind = dst.dtype
    lanes = 256 // kind.itemsize
    for form in MASK_FORMS:
        for blk, rep in STRIDES:
            call = with_form(Call(op=6, dtype=dtype, blk=blk, rep=rep), form, lanes)
            want = dst.copy()
            for r, (values, works) in enumerate(lane_values(call, source, 0.0)):
                for i in range(lanes // 2):
                    if works[2 * i : 2 * i + 2].any():
                        want[r * rep[0] * lanes // 2 + i] = tree(values[2 * i : 2 * i + 2])[0]
            got = bench.run("reduce:reduce", call, area(dst), area(source))
            same_bits(got, want.view(np.uint8), dtype)


@pytest.mark.parametrize("dtype", [FLOAT, HALF])
def test_reduce_sum(bench: Bench, dtype: int) -> None:
    """The count form adds repeats in order, the others as a tree over trees."""
    dst, source = source_of(dtype, 99), source_of(dtype, 1)
    kind = dst.dtype
    lanes = 256 // kind.itemsize

    def expect(call: Call, ordered: bool) -> None:
        sums = np.concatenate([tree(v) for v, _ in lane_values(call, source, 0.0)])
        want = dst.copy()
        if ordered:
            total = sums[0]
            for value in sums[1:]:
                with np.errstate(all="ignore"):
                    total = (np.float32(total) + np.float32(value)).astype(kind)
            want[0] = total
        else:
            while sums.size > 1:
                padded = np.zeros(-(-sums.size // lanes) * lanes, kind)
                padded[: sums.size] = sums
                sums = np.concatenate([tree(row) for row in padded.reshape(-1, lanes)])
            want[0] = sums[0]
        got = bench.run("reduce:reduce", call, area(dst), area(source))
        same_bits(got, want.view(np.uint8), dtype)

    for count in (1, 7, lanes - 1, lanes, lanes + 1, lanes * 5 + 3, source.size // 2, source.size):
        expect(Call(op=7, dtype=dtype, form=COUNT, count=count), True)
    for form in (MASK, BITS, COUNTER_MASK):
        for rep in (8, 9, 1, 0):
            call = with_form(Call(op=7, dtype=dtype, rep=(1, rep, 8)), form, lanes)
            expect(call, False)
    expect(Call(op=7, dtype=dtype, form=MASK, mask=(lanes, 0), repeat=128), False)
    expect(
        Call(op=7, dtype=dtype, form=MASK, mask=(lanes - 5, 0), repeat=1000, rep=(1, 1, 8)), False
    )
    # The count that SetVectorMask left, in counter mode.
    expect(Call(op=7, dtype=dtype, form=COUNTER_PRESET, mask=(lanes * 3 + 1, 0)), False)
    got = bench.run("reduce:reduce", Call(op=7, dtype=dtype, form=COUNT), area(dst), area(source))
    same_bits(got, dst.view(np.uint8), dtype)


@pytest.mark.parametrize("dtype", [FLOAT, HALF])
@pytest.mark.parametrize("op", [8, 9], ids=["max", "min"])
def test_reduce_extreme(bench: Bench, dtype: int, op: int) -> None:
    """One value for all repeats, with the index on request."""
    dst = source_of(dtype, 99)
    kind = dst.dtype
    lanes = 256 // kind.itemsize
    calls = [Call(form=COUNT, count=n) for n in (1, 9, lanes, lanes * 7 + 5, AREA // kind.itemsize)]
    calls += [with_form(Call(rep=(1, 8, 8)), form, lanes) for form in (MASK, BITS, COUNTER_MASK)]
    for seed in range(3):
        source = source_of(dtype, seed, ties=seed == 1)
        source = np.roll(source, source.size // 2) if seed == 2 else source
        for base in calls:
            for index in (0, 1):
                call = replace(base, op=op, dtype=dtype, mode=index)
                values, works = zip(*lane_values(call, source, 0.0), strict=True)
                where = extreme(np.concatenate(values), np.concatenate(works), op == 8)
                want = area(dst)
                result = np.concatenate(values)[where : where + 1].tobytes()
                result += where.to_bytes(4, "little")[: kind.itemsize] if index else b""
                want[: len(result)] = np.frombuffer(result, np.uint8)
                got = bench.run("reduce:reduce", call, area(dst), area(source))
                same_bits(got, want, dtype)


@pytest.mark.plants_faults
def test_scratch_too_small(bench: Bench) -> None:
    """The mask form keeps one sum per repeat in sharedTmpBuffer."""
    call = Call(op=7, form=MASK, mask=(64, 0), repeat=9000, rep=(1, 0, 8))
    with pytest.raises(KernelError, match=r"ub-out-of-bounds(.|\n)*sharedTmpBuffer"):
        bench.run("reduce:reduce", call, area(source_of(FLOAT, 1)), area(source_of(FLOAT, 2)))
