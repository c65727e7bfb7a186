# SPDX-License-Identifier: Apache-2.0
"""Gather, GatherMask, index vectors and transposition against NumPy, bit for bit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from instructions.bench import (
    AREA,
    BF16,
    BITS,
    COUNT,
    COUNTER_MASK,
    DTYPES,
    FLOAT,
    HALF,
    INT8,
    INT16,
    INT32,
    MASK,
    UINT16,
    UINT32,
    Array,
    Bench,
    Call,
    KernelError,
    area,
    same_bits,
    source_of,
    walk,
    width_of,
    with_form,
)

WIDE = [FLOAT, HALF, BF16, INT16, UINT16, INT32, UINT32]


@pytest.mark.parametrize("dtype", WIDE)
def test_gather(bench: Bench, dtype: int) -> None:
    """Offsets are bytes, one per lane whether it works or not; other lanes keep their values."""
    width = width_of(dtype)
    lanes = 256 // width
    rng = np.random.default_rng(dtype)
    dst, source = source_of(dtype, 1), source_of(dtype, 2)
    for form in (COUNT, MASK, BITS, COUNTER_MASK):
        for step in (8, 9):
            call = with_form(Call(dtype=dtype, rep=(step, 8, 8)), form, lanes)
            call = replace(call, extra=(64 * width,))
            offsets = rng.integers(0, source.size - 64, AREA // 4).astype(np.uint32) * width
            want = dst.copy()
            for r, (to, working) in enumerate(
                zip(
                    walk(call, 0, width, width),
                    walk(replace(call, rep=(8, 8, 8)), 0, width, width),
                    strict=True,
                )
            ):
                del r
                want[to] = source[offsets[working] // width + 64]
            got = bench.run("gather:gather", call, area(dst), area(source), area(offsets))
            same_bits(got, want.view(np.uint8), dtype)


@pytest.mark.plants_faults
def test_gather_faults(bench: Bench) -> None:
    """An offset that leaves the buffer, one between elements, dst among the sources."""
    source = area(source_of(FLOAT, 1))
    call = Call(form=COUNT, count=70)
    offsets = np.zeros(AREA // 4, np.uint32)
    offsets[69] = AREA - 2
    with pytest.raises(KernelError, match=r"ub-misaligned(.|\n)*lane 69 leads to byte 32766"):
        bench.run("gather:gather", call, source, source, area(offsets))
    offsets[69] = AREA
    with pytest.raises(
        KernelError, match=r"ub-out-of-bounds(.|\n)*the element that srcOffset names"
    ):
        bench.run("gather:gather", call, source, source, area(offsets))
    offsets[70] = AREA
    offsets[69] = 0
    bench.run("gather:gather", call, source, source, area(offsets))
    with pytest.raises(KernelError, match=r"dtype-unsupported(.|\n)*int8_t"):
        bench.run("gather:gather", replace(call, dtype=INT8), source, source, area(offsets))


@pytest.mark.plants_faults
@pytest.mark.parametrize("dtype", [UINT16, UINT32])
def test_gather_blocks(bench: Bench, dtype: int) -> None:
    """Eight blocks per repeat; a block stride of 0 counts as 1."""
    rng = np.random.default_rng(3)
    source = rng.integers(0, 255, AREA, dtype=np.uint8, endpoint=True)
    offsets = rng.integers(0, AREA // 32, 24).astype(np.uint32) * 32
    for blk, rep in ((1, 8), (2, 17), (0, 8)):
        want = np.full((AREA // 32, 32), 0xA5, np.uint8)
        for i, offset in enumerate(offsets):
            want[i // 8 * rep + i % 8 * max(blk, 1)] = source[offset : offset + 32]
        call = Call(dtype=dtype, repeat=3, blk=(blk, 1, 1), rep=(rep, 8, 8))
        got = bench.run(
            "gather:gather_blocks", call, np.full(AREA, 0xA5, np.uint8), source, area(offsets)
        )
        assert (got == want.reshape(-1)).all()
    offsets[20] += 2
    with pytest.raises(KernelError, match="ub-misaligned"):
        bench.run("gather:gather_blocks", call, source, source, area(offsets))


def chosen(pattern: int, bits: Array, r: int, stride: int, count: int) -> Array:
    """Which of a repeat's elements are kept."""
    index = np.arange(count)
    if pattern == 0:
        start = r * stride * 256
        return bits[start : start + count].astype(bool)
    if pattern == 7:
        return np.ones(count, bool)
    return index % 2 == pattern - 1 if pattern <= 2 else index % 4 == pattern - 3


@pytest.mark.parametrize("dtype", WIDE)
@pytest.mark.parametrize("pattern", range(8))
def test_gather_mask(bench: Bench, dtype: int, pattern: int) -> None:
    """Normal mode takes 256 bytes per repeat, counter mode any number of elements."""
    width = width_of(dtype)
    lanes = 256 // width
    dst, source = source_of(dtype, 1), source_of(dtype, 2)
    raw = np.random.default_rng(pattern).integers(0, 255, AREA, dtype=np.uint8, endpoint=True)
    bits = np.unpackbits(raw, bitorder="little")
    per_block = 32 // width
    calls = [
        Call(repeat=3),
        Call(repeat=2, blk=(1, 2, 1), rep=(8, 17, 1)),
        Call(op=1, repeat=1, count=lanes * 5 + 3, rep=(8, 8, 0)),
        Call(op=1, repeat=2, count=70, rep=(8, 40, 2)),
        Call(op=2, repeat=4, rep=(8, 8, 1)),
        Call(repeat=0),
    ]
    for base in calls:
        call = replace(base, dtype=dtype, mode=pattern, extra=(AREA - 32,))
        want = dst.copy()
        kept: list[Array] = []
        for r in range(call.repeat):
            count = call.count if call.op == 1 else lanes
            index = np.arange(count)
            place = (r * call.rep[1] + index // per_block * call.blk[1]) * per_block
            values = (dst if call.op == 2 else source)[place + index % per_block]
            kept.append(values[chosen(pattern, bits, r, call.rep[2], count)])
        flat = np.concatenate(kept) if kept else source[:0]
        want[: flat.size] = flat
        expected = want.view(np.uint8).copy()
        expected[AREA - 32 : AREA - 24] = np.frombuffer(np.uint64(flat.size).tobytes(), np.uint8)
        got = bench.run("gather:gather_mask", call, area(dst), area(source), raw)
        same_bits(got, expected, dtype)


@pytest.mark.plants_faults
def test_gather_mask_faults(bench: Bench) -> None:
    """A pattern that does not exist, sources past the end, dst inside of src0."""
    source = area(source_of(FLOAT, 1))
    with pytest.raises(KernelError, match=r"gather-pattern(.|\n)*src1Pattern 9, legal are 1..7"):
        bench.run("gather:gather_mask", Call(mode=9), source, source)
    with pytest.raises(KernelError, match=r"ub-out-of-bounds(.|\n)*src0"):
        bench.run("gather:gather_mask", Call(mode=1, repeat=129), source, source)
    with pytest.raises(KernelError, match="dtype-unsupported"):
        bench.run("gather:gather_mask", Call(mode=1, repeat=1, dtype=INT8), source, source)


@pytest.mark.plants_faults
@pytest.mark.parametrize("dtype", [FLOAT, HALF, INT16, INT32])
def test_create_index(bench: Bench, dtype: int) -> None:
    """first, first + 1, ... by the number of the lane; other lanes keep their values."""
    width = width_of(dtype)
    kind = np.dtype(DTYPES[dtype])
    dst = source_of(dtype, 1)
    for form in (COUNT, MASK, BITS, COUNTER_MASK):
        for blk, rep in ((1, 8), (2, 17)):
            call = with_form(
                Call(dtype=dtype, blk=(blk, 1, 1), rep=(rep, 8, 8)), form, 256 // width
            )
            call = replace(call, scalar=5, scalar_dtype=kind)
            want = dst.copy()
            dense = replace(call, blk=(1, 1, 1), rep=(8, 8, 8))
            for to, numbers in zip(
                walk(call, 0, width, width), walk(dense, 0, width, width), strict=True
            ):
                want[to] = (numbers + 5).astype(kind)
            got = bench.run("gather:create_index", call, area(dst))
            same_bits(got, want.view(np.uint8), dtype)
    with pytest.raises(KernelError, match="dtype-unsupported"):
        bench.run("gather:create_index", Call(dtype=UINT16, count=8), area(dst))


@pytest.mark.parametrize("dtype", [FLOAT, HALF, INT16, INT32])
def test_progression(bench: Bench, dtype: int) -> None:
    """Eight values, then eight times the step is added up to 64, then 64 times."""
    kind: np.dtype[Any] = np.dtype(DTYPES[dtype])
    first, step = (kind.type(0.1), 3) if dtype in (FLOAT, HALF) else (kind.type(-7), 3)
    dst = source_of(dtype, 1)
    for count in (1, 7, 8, 63, 64, 65, 1000):
        values = np.zeros(count, kind)
        for i in range(count):
            back = 8 if i < 64 else 64
            values[i] = (
                np.float32(first) + np.float32(step * i)
                if i < 8
                else np.float32(values[i - back]) + np.float32(step * back)
            )
        want = dst.copy()
        want[:count] = values
        call = Call(op=1, dtype=dtype, count=count, scalar=first, scalar_dtype=kind, extra=(step,))
        got = bench.run("gather:create_index", call, area(dst))
        same_bits(got, want.view(np.uint8), dtype)


@pytest.mark.plants_faults
@pytest.mark.parametrize("dtype", [FLOAT, HALF, INT16, INT32])
def test_short_progression_anywhere(bench: Bench, dtype: int) -> None:
    """Up to a block is written value by value: its place has to be an element's, not a block's."""
    kind = np.dtype(DTYPES[dtype])
    dst = source_of(dtype, 1)
    block = 32 // kind.itemsize

    def call(count: int, start: int) -> Call:
        scalar = kind.type(4)
        return Call(1, dtype=dtype, count=count, scalar=scalar, scalar_dtype=kind, extra=(3, start))

    for count, start in ((1, 1), (5, 3), (block, block + 1)):
        want = dst.copy()
        want[start : start + count] = 4 + 3 * np.arange(count)
        got = bench.run("gather:create_index", call(count, start), area(dst))
        same_bits(got, want.view(np.uint8), dtype)
    with pytest.raises(KernelError, match="ub-misaligned"):
        bench.run("gather:create_index", call(block + 1, 3), area(dst))


@pytest.mark.plants_faults
@pytest.mark.parametrize("dtype", [HALF, INT16, UINT16])
def test_transpose_tile(bench: Bench, dtype: int) -> None:
    """16 x 16, also in place."""
    dst, source = source_of(dtype, 1), source_of(dtype, 2)
    for mode in (0, 1):
        tile = (dst if mode else source)[:256].reshape(16, 16)
        want = dst.copy()
        want[:256] = tile.T.reshape(-1)
        got = bench.run("gather:transpose", Call(dtype=dtype, mode=mode), area(dst), area(source))
        same_bits(got, want.view(np.uint8), dtype)
    with pytest.raises(KernelError, match="dtype-unsupported"):
        bench.run("gather:transpose", Call(dtype=FLOAT), area(dst), area(source))


@pytest.mark.plants_faults
@pytest.mark.parametrize("dtype", [FLOAT, HALF, INT8])
def test_transpose_batches(bench: Bench, dtype: int) -> None:
    """[N, C, H, W] to [N, H, W, C] and back; the documented scratch is needed."""
    dst, source = source_of(dtype, 1), source_of(dtype, 2)
    n, c, h, w = 3, 5, 4, 16
    size = n * c * h * w
    for kind, shape in ((11, (n, c, h * w)), (12, (n, h * w, c))):
        want = dst.copy()
        want[:size] = source[:size].reshape(shape).transpose(0, 2, 1).reshape(-1)
        call = Call(op=kind, dtype=dtype, extra=(n, c, h, w))
        got = bench.run("gather:transpose", call, area(dst), area(source))
        same_bits(got, want.view(np.uint8), dtype)
    with pytest.raises(KernelError, match=r"ub-out-of-bounds(.|\n)*sharedTmpBuffer"):
        bench.run("gather:transpose", Call(op=11, dtype=HALF, extra=(1, 80, 4, 16)), area(dst))
    with pytest.raises(KernelError, match=r"shape(.|\n)*hSize \* wSize 6"):
        bench.run("gather:transpose", Call(op=11, dtype=HALF, extra=(1, 8, 2, 3)), area(dst))
    with pytest.raises(KernelError, match="transposeType 3"):
        bench.run("gather:transpose", Call(op=3, dtype=HALF, extra=(1, 8, 4, 16)), area(dst))


@pytest.mark.plants_faults
@pytest.mark.parametrize(
    ("op", "start", "first", "count", "found"),
    [
        (0, 0, 0, 64, False),
        (0, 32, 0, 32, False),
        (0, 32, 24, 16, True),
        (1, 0, 0, 32, False),
        (1, 0, 24, 16, True),
        (2, 0, 0, 32, False),
        (2, 8, 0, 8, True),
        (3, 32, 0, 64, False),
        (3, 40, 0, 8, True),
        (4, 0, 0, 32, False),
        (4, 1, 0, 32, True),
        (5, 0, 0, 64, False),
        (5, 64, 0, 64, True),
        (6, 32, 0, 64, False),
        (6, 64, 0, 8, True),
    ],
)
def test_undefined_sources(
    bench: Bench, op: int, start: int, first: int, count: int, found: bool
) -> None:
    """Elements without a value are followed to the output one by one, through selections too."""
    call = Call(op=op, count=count, extra=(start, first))
    entry = bench.libraries["gather"]["undefined_sources"]
    memory = np.zeros(count, np.float32)
    if not found:
        bench.runtime.launch(entry, [memory, call.pack()])
        return
    with pytest.raises(KernelError, match="undefined-read"):
        bench.runtime.launch(entry, [memory, call.pack()])


@pytest.mark.plants_faults
def test_a_source_may_be_freed_at_once(bench: Bench) -> None:
    entry = bench.libraries["gather"]["freed_source"]
    memory = np.arange(128, dtype=np.float32)
    (got,) = bench.runtime.launch(entry, [memory, Call().pack()])
    assert got[64:].tolist() == memory[:64].tolist()
    with pytest.raises(KernelError, match="ub-use-after-free"):
        bench.runtime.launch(entry, [memory, Call(op=1).pack()])
