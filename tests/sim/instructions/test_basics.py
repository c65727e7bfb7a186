# SPDX-License-Identifier: Apache-2.0
"""Registers, scalars, UB outside of queues, operators, int4b_t, tensor lists against NumPy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

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
    HALF,
    INT8,
    INT16,
    INT32,
    MASK,
    UINT8,
    UINT16,
    Array,
    Bench,
    Call,
    KernelError,
    area,
    compile_kernel,
    flat,
    random_values,
    same_bits,
    source_of,
    walk,
    width_of,
    with_form,
)

pytestmark = [pytest.mark.quick, pytest.mark.sanitized]


def test_widening_from_the_far_half(bench: Bench) -> None:
    """Public kernels widen in place like this: no repeat writes what a later one reads."""
    halves = random_values(np.random.default_rng(5), HALF, 1024)
    kernel = bench.libraries["basics"].widen_behind
    out, *_ = bench.runtime.launch(kernel, [np.zeros(1024, np.float32), halves])
    same_bits(out, halves.astype(np.float32), FLOAT)


@pytest.mark.parametrize("dtype", [FLOAT, HALF])
def test_comparison_register(bench: Bench, dtype: int) -> None:
    """Compare without a destination, Select without a mask; every repeat takes the same bits."""
    kind = np.dtype(DTYPES[dtype])
    lanes = 256 // kind.itemsize
    a, b = source_of(dtype, 1), source_of(dtype, 2)
    b[::3] = a[::3]
    base = np.full(AREA, 0xA5, np.uint8)
    everywhere = np.arange(lanes)
    for op, form in ((0, MASK), (0, BITS), (1, MASK)):
        call = with_form(Call(op=op, dtype=dtype), form, lanes)
        call = replace(call, repeat=2, count=lanes - 5, extra=(AREA - 128,))
        if op == 1:
            bits = np.unpackbits(b.view(np.uint8)[:16], bitorder="little")
        else:
            works = walk(replace(call, repeat=1), 0, kind.itemsize, kind.itemsize)[0]
            with np.errstate(invalid="ignore"):
                less = a[:lanes] < b[:lanes]
            bits = np.where(np.isin(everywhere, works), less, 0).astype(np.uint8)
        want = base.copy()
        result = want.view(kind)
        for r in range(2):
            part = slice(r * lanes, r * lanes + lanes - 5)
            result[part] = np.where(bits[: lanes - 5] == 1, a[part], b[part])
        packed = np.packbits(bits, bitorder="little")
        # Float has no use for all of it: a comparison leaves 0 there.
        want[AREA - 128 : AREA - 112] = b.view(np.uint8)[:16] if op == 1 else 0
        want[AREA - 128 : AREA - 128 + packed.size] = packed
        got = bench.run("basics:select_register", call, base, area(a), area(b))
        same_bits(got, want, dtype)


@pytest.mark.parametrize("dtype", [FLOAT, HALF])
def test_accumulated(bench: Bench, dtype: int) -> None:
    """GetAccVal is what the last ReduceSum stored."""
    kind = np.dtype(DTYPES[dtype])
    for count in (1, 7, 64, 300):
        source = np.arange(count).astype(kind)
        total = np.array([source.sum(dtype=np.float32)]).astype(kind)
        got = bench.run(
            "basics:accumulated", Call(dtype=dtype, count=count), area(total), area(source)
        )
        assert (got.view(kind)[:2] == total).all()
        bits = np.frombuffer(total.tobytes().ljust(8, b"\0"), np.uint64)
        assert got.view(np.uint64)[1] == bits[0]


def test_dequantise(bench: Bench) -> None:
    """SetDeqScale's factor, applied in float and rounded once to half."""
    source = source_of(INT32, 4)[:4096]
    source[:6] = [65504, 65519, 65520, -65520, 2049, 2051]
    for scale in (1.0, 0.25, 2.5e-4, 60000.0):
        factor = np.float32(np.float16(scale))
        with np.errstate(over="ignore"):
            scaled = source.astype(np.float32) * np.float32(2.0**-17) * factor
            want = (scaled * np.float32(2.0**17)).astype(np.float16)
        call = Call(count=4096, scalar=scale, scalar_dtype=np.float16)
        got = bench.run("basics:dequantise", call, area(source), area(source))
        same_bits(got[:8192], want.view(np.uint8), HALF)


def unpacked(raw: Array) -> Array:
    """Signed four-bit numbers, the lower half of a byte first."""
    nibbles = np.stack([raw & 15, raw >> 4], axis=1).reshape(-1).astype(np.int8)
    return np.where(nibbles > 7, nibbles - 16, nibbles).astype(np.int8)


ROUND = {0: np.rint, 1: np.rint, 2: np.floor, 3: np.ceil, 5: np.trunc}


def half_up(values: Array) -> Array:
    """Halves go away from zero."""
    return np.sign(values) * np.floor(np.abs(values) + 0.5)


def test_int4_values(bench: Bench) -> None:
    """All bytes to half; half to int4b_t in every mode, saturated."""
    raw = np.arange(256, dtype=np.uint8)
    got = bench.run("basics:cast_int4", Call(op=0, count=512), area(raw), area(raw))
    assert (got.view(np.float16)[:512] == unpacked(raw)).all()
    values = np.concatenate(
        [np.arange(-12, 12, 0.25), [np.nan, np.inf, -np.inf, 1e4, 7.5, -8.5, 0.5, 2.5]]
    ).astype(np.float16)
    for mode in (0, 1, 2, 3, 4, 5):
        rounded = (half_up if mode == 4 else ROUND[mode])(values.astype(np.float64))
        want = np.nan_to_num(np.clip(rounded, -8, 7), nan=0.0).astype(np.int8)
        call = Call(op=1, mode=mode, count=values.size)
        got = bench.run("basics:cast_int4", call, area(values), area(values))
        assert (unpacked(got[: values.size // 2]) == want).all(), mode


def test_int4_forms(bench: Bench) -> None:
    """Masks and strides; a byte is two lanes, so both work or neither."""
    rng = np.random.default_rng(5)
    raw = rng.integers(0, 255, AREA, dtype=np.uint8, endpoint=True)
    halves = unpacked(raw[: AREA // 2]).astype(np.float16)[: AREA // 2]
    for op in (0, 1):
        for form in (MASK, BITS, COUNTER_MASK):
            for blk, rep in (((1, 1, 1), (8, 2, 8)), ((2, 2, 1), (16, 5, 8))):
                strides = (rep[0], rep[1], 8) if op == 0 else (rep[1], rep[0], 8)
                call = Call(op=op, blk=blk, rep=strides)
                if form == MASK:
                    call = replace(call, form=form, mask=(100, 0), repeat=3)
                elif form == BITS:
                    call = replace(call, form=form, mask=(0xC03F_0000_F00F_3333, 0xC3), repeat=2)
                else:
                    call = replace(call, form=form, mask=(300, 0), repeat=1)
                wide = flat(walk(call, op, 2, 2))
                # The packed side: as if its bytes had two lanes each, 64 to a block.
                parts = walk(replace(call, rep=(8, 8, 8), blk=(1, 1, 1)), 0, 2, 2)
                narrow = np.concatenate(
                    [
                        (r * strides[1 - op] + (lanes - r * 128) // 64 * blk[1 - op]) * 64
                        + (lanes - r * 128) % 64
                        for r, lanes in enumerate(parts)
                    ]
                )
                if op == 0:
                    want = np.full(AREA, 0xA5, np.uint8)
                    want.view(np.float16)[wide] = unpacked(raw)[narrow]
                    got = bench.run("basics:cast_int4", call, np.full(AREA, 0xA5, np.uint8), raw)
                    assert (got == want).all()
                else:
                    want4 = unpacked(np.full(AREA, 0xA5, np.uint8))
                    want4[narrow] = halves[wide].astype(np.int8)
                    got = bench.run(
                        "basics:cast_int4", call, np.full(AREA, 0xA5, np.uint8), area(halves)
                    )
                    assert (unpacked(got) == want4).all()


@pytest.mark.plants_faults
def test_int4_faults(bench: Bench) -> None:
    """Odd counts, masks that split a byte, modes that do not exist."""
    raw = np.zeros(AREA, np.uint8)
    for call in (
        Call(op=0, count=7),
        Call(op=0, form=MASK, mask=(99, 0)),
        Call(op=0, form=BITS, mask=(0b0111, 0)),
    ):
        with pytest.raises(KernelError, match="int4-pairs"):
            bench.run("basics:cast_int4", call, raw, raw)
    with pytest.raises(KernelError, match=r"cast-unsupported(.|\n)*int4b_t to half"):
        bench.run("basics:cast_int4", Call(op=0, mode=1, count=8), raw, raw)


def test_int4_sizes(bench: Bench) -> None:
    """Two elements to a byte in sizes, sub-tensors and copies."""
    source = np.arange(AREA, dtype=np.uint32).astype(np.uint8)
    want = np.full(AREA, 0xA5, np.uint8)
    want[32 : 32 + 96] = source[64 : 64 + 96]
    got = bench.run("basics:int4_sizes", Call(count=200), np.full(AREA, 0xA5, np.uint8), source)
    assert (got == want).all()


def test_operators(bench: Bench) -> None:
    """Arithmetic over the whole destination, comparisons over the whole sources."""
    a, b = source_of(FLOAT, 1), source_of(FLOAT, 2)
    b[::3] = a[::3]
    x, y = source_of(INT16, 3), source_of(INT16, 4)
    base = np.full(AREA, 0xA5, np.uint8)
    count = 64 * 5
    with np.errstate(all="ignore"):
        floats = [a + b, a - b, a * b, a / b]
        words = [x | y, x & y]
        flags = [a < b, a > b, a <= b, a >= b, a == b]
    flags.append(a != b)
    for op, result in enumerate([*floats, *words, *flags]):
        want = base.copy()
        if op < 6:
            part = result[:count].view(np.uint8)
        else:
            part = np.packbits(result[:count], bitorder="little")
        want[: part.size] = part
        sources = (area(x), area(y)) if op in (4, 5) else (area(a), area(b))
        got = bench.run("basics:operators", Call(op=op, count=count), base, *sources)
        same_bits(got, want, FLOAT if op < 4 else INT8)


def test_scalars(bench: Bench) -> None:
    """Bit counts, conversions and what the utilities say."""
    rng = np.random.default_rng(1)
    bits = rng.integers(0, 2**64, 64, dtype=np.uint64)
    bits[:4] = [0, 2**64 - 1, 0x0100000000000020, 1]
    reals = (rng.normal(0, 1, 64) * 10.0 ** rng.integers(-8, 12, 64)).astype(np.float32)
    reals[:8] = [0.5, -0.5, 2.5, -2.5, np.nan, np.inf, -np.inf, 1e-9]
    got = bench.run("basics:scalars", Call(), area(bits), area(bits), area(reals))
    rows = got.view(np.int64)[: 64 * 14].reshape(64, 14)
    for value, real, row in zip(bits.tolist(), reals, rows.tolist(), strict=True):
        text = f"{value:064b}"
        assert row[0] == text.count("1")
        assert row[1] == text.count("0")
        assert row[2] == (64 - value.bit_length())
        same = (
            text if text[0] == "1" else text.replace("0", "x").replace("1", "0").replace("x", "1")
        )
        assert row[3] == len(same) - len(same.lstrip("1")) - 1
        assert row[4] == (text[::-1].find("1"))
        assert row[5] == (text[::-1].find("0"))
        assert row[6] == int(np.float32(real).view(np.uint32))
        wide = np.float64(real)
        modes: tuple[Callable[..., Array], ...] = (np.rint, np.floor, np.ceil, half_up, np.trunc)
        for function, answer in zip(modes, row[7:12], strict=True):
            whole = np.nan_to_num(function(wide), nan=0.0, posinf=2.0**40, neginf=-(2.0**40))
            assert answer == int(np.clip(whole, -(2**31), 2**31 - 1)), real
        with np.errstate(over="ignore"):
            nearest = np.float16(real)
        if np.isnan(real):
            assert row[12] & 0x7FFF > 0x7C00
        elif np.float32(nearest) == real or np.isinf(real):
            assert row[12] == int(nearest.view(np.uint16))
        else:
            assert row[12] & 1 == 1
            odd = np.array([row[12]], np.uint16).view(np.float16)[0]
            with np.errstate(over="ignore"):  # past the largest half lies Inf
                lower = np.nextafter(odd, np.float16(-np.inf))
                upper = np.nextafter(odd, np.float16(np.inf))
            assert float(lower) < wide < float(upper) or abs(wide) > 65504
        assert row[13] == 16


def test_allocator(bench: Bench) -> None:
    """Tensors from the bottom of UB, each on 32 bytes."""
    source = np.arange(104, dtype=np.float32)
    entry = bench.libraries["basics"]["allocator"]
    (got,) = bench.runtime.launch(entry, [np.zeros(104, np.float32), source])
    want = np.concatenate([source[:8] + 2 * source[8:16], 2 * source[8:]])
    assert (got == want).all()


@pytest.mark.plants_faults
@pytest.mark.parametrize("dtype", [FLOAT, HALF, INT32, UINT16])
def test_init_output(bench: Bench, dtype: int) -> None:
    """Every element, no more, whatever UB is left."""
    kind = np.dtype(DTYPES[dtype])
    entry = bench.libraries["basics"]["init_output"]
    for taken, count in ((64, 1000), (64, 100_003), (184 * 1024 - 96, 77), (64, 0)):
        call = Call(dtype=dtype, count=count, scalar=7, scalar_dtype=kind, extra=(taken,))
        memory = np.full(2 * count + 5, 3, kind)
        (got,) = bench.runtime.launch(entry, [memory, call.pack()])
        assert (got[: 2 * count] == 7).all()
        assert (got[2 * count :] == 3).all()
    call = replace(call, count=8, extra=(184 * 1024,))
    with pytest.raises(KernelError, match=r"assert(.|\n)*InitGlobalMemory"):
        bench.runtime.launch(entry, [np.zeros(16, kind), call.pack()])


def test_pad_value(bench: Bench) -> None:
    """DataCopyPad without isPad fills with SetPadValue's value."""
    source = np.arange(64, dtype=np.float16)
    base = np.full(AREA, 0xA5, np.uint8)
    want = base.copy()
    row = np.full(32, 9, np.float16)
    row[1:21] = source[:20]
    want[:64] = row.view(np.uint8)
    call = Call(scalar=9, scalar_dtype=np.float16, extra=(20,))
    assert (bench.run("basics:pad_value", call, base, area(source), base) == want).all()


def test_tensor_list(bench: Bench) -> None:
    """Shapes and addresses of a list; a list of scalars has a count only."""
    words = [6 * 8, 2 | 0 << 32, 3, 5, 1 | 1 << 32, 7, 4096, 8192]
    got = bench.run(
        "basics:tensor_list", Call(), area(np.zeros(1)), area(np.array(words, np.uint64))
    )
    assert got.view(np.uint64)[:10].tolist() == [2, 2, 0, 3, 5, 4096, 1, 1, 7, 8192]
    words = [3 * 8, 0 | 2 << 32, 2**32 - 1, 4096, 8192]
    got = bench.run(
        "basics:tensor_list", Call(), area(np.zeros(1)), area(np.array(words, np.uint64))
    )
    assert got.view(np.uint64)[:7].tolist() == [2, 0, 0, 4096, 0, 0, 8192]
    words = [3 * 8, 0, 2**32 - 1]
    got = bench.run(
        "basics:tensor_list", Call(), area(np.zeros(1)), area(np.array(words, np.uint64))
    )
    assert got.view(np.uint64)[0] == 0


def test_reduce_names(bench: Bench) -> None:
    """ReduceRepeat, ReduceDataBlock and ReducePairElem are the older instructions."""
    source = np.random.default_rng(1).integers(-99, 99, AREA // 4).astype(np.float32)
    rows = source[:192]
    answers = [
        rows.reshape(3, 64).sum(1),
        rows.reshape(3, 64).max(1),
        rows.reshape(24, 8).min(1),
        rows.reshape(96, 2).sum(1),
    ]
    for op, answer in enumerate(answers):
        got = bench.run("basics:reduce_names", Call(op=op), area(np.zeros(1)), area(source))
        assert (got.view(np.float32)[: answer.size] == answer).all()


def two_steps(op: int, a: Array, b: Array, dtype: int, src_dtype: int, scale: float) -> Array:
    """The instruction in the type of its sources, then the conversion."""
    kind, source = np.dtype(DTYPES[dtype]), np.dtype(DTYPES[src_dtype])
    with np.errstate(all="ignore"):
        if op == 3:
            total = (a + b).astype(np.float32) * np.float32(2.0**-17) * np.float32(scale)
            halves = (total * np.float32(2.0**17)).astype(np.float16)
            return np.where(np.signbit(halves), np.float16(0), halves)
        if src_dtype == INT16:
            whole = (a + b, a - b)[op]
            return np.clip(whole, 0, 127).astype(kind)
        x, y = a.astype(np.float32), b.astype(np.float32)
        wide = (x + y, x - y, x * y)[op]
        wide = wide if op == 2 else np.where(np.isnan(wide), wide, np.maximum(wide, 0))
        result = wide.astype(source)
        if dtype == HALF:
            return result.astype(kind)
        info = np.iinfo(kind)
        nearest = np.nan_to_num(np.rint(result.astype(np.float64)), nan=0.0)
        return np.clip(nearest, info.min, info.max).astype(kind)


@pytest.mark.parametrize(
    ("op", "dtype", "src_dtype"),
    [
        *((op, *pair) for op in (0, 1) for pair in ((INT8, HALF), (INT8, INT16), (HALF, FLOAT))),
        (2, INT8, HALF),
        (2, UINT8, HALF),
        (3, HALF, INT32),
    ],
)
def test_binary_cast(bench: Bench, op: int, dtype: int, src_dtype: int) -> None:
    """Every form; masks and strides count by the sources, which are wider."""
    dst, a, b = source_of(dtype, 1), source_of(src_dtype, 2), source_of(src_dtype, 3)
    width, source_width = width_of(dtype), width_of(src_dtype)
    scale = np.float16(0.37)
    for form in (COUNT, MASK, BITS):
        for rep in ((8, 8, 8), (5, 9, 8)):
            call = Call(op=op, dtype=dtype, src_dtype=src_dtype, rep=rep)
            call = with_form(call, form, 256 // source_width)
            call = replace(call, scalar=scale, scalar_dtype=np.float16)
            want = dst.copy()
            to, i, j = (
                flat(walk(call, slot, width if slot == 0 else source_width, source_width))
                for slot in range(3)
            )
            result = two_steps(op, a[i], b[j], dtype, src_dtype, float(scale))
            if dtype == HALF and src_dtype == FLOAT and op < 2:
                result = np.where(np.isnan(result), 0, result)  # as the pages say
            want[to] = result
            got = bench.run("basics:binary_cast", call, area(dst), area(a), area(b))
            same_bits(got, want.view(np.uint8), dtype)


def test_buffer_pools(bench: Bench) -> None:
    """Pools in pools, two that share bytes, one that places its buffers itself."""
    values = random_values(np.random.default_rng(6), FLOAT, 512)
    kernel = bench.libraries["basics"].pools
    out, *_ = bench.runtime.launch(kernel, [np.zeros(512, np.float32), values])
    with np.errstate(all="ignore"):
        want = (values + np.float32(3)) + np.float32(4)
    same_bits(out, want, FLOAT)


@pytest.mark.plants_faults
def test_shared_pool_without_reset(bench: Bench) -> None:
    """What the first pool has under way still uses the bytes."""
    kernel = bench.libraries["basics"].pools
    with pytest.raises(KernelError, match=r"\[race-[\s\S]*from"):
        bench.runtime.launch(kernel, [np.zeros(512, np.float32)] * 2, key=1)


@pytest.mark.parametrize("form", [COUNTER_MASK, COUNTER_PRESET])
def test_copy_of_long_repeats(bench: Bench, form: int) -> None:
    """Copy's counter mode goes on behind the eighth block of a repeat, at the blocks' stride."""
    for dtype in (FLOAT, HALF):
        kind = np.dtype(DTYPES[dtype])
        per_block = 32 // kind.itemsize
        dst, a = source_of(dtype, 7), source_of(dtype, 8)
        for count, repeat, blk, rep in (
            (18 * per_block, 1, (1, 8), (8, 8)),
            (9 * per_block + 3, 3, (1, 2), (11, 25)),
            (33 * per_block - 1, 2, (2, 1), (70, 40)),
        ):
            call = Call(
                op=1, dtype=dtype, form=form, mask=(count, 0), repeat=repeat,
                blk=(*blk, 1), rep=(*rep, 1), scalar=7, scalar_dtype=kind,
            )  # fmt: skip
            got = bench.run("elementwise:fill", call, area(dst), area(a))
            want = dst.copy()
            lane = np.arange(count)
            for r in range(repeat):
                to, source = (
                    (r * rep[i] + lane // per_block * blk[i]) * per_block + lane % per_block
                    for i in (0, 1)
                )
                want[to] = a[source]
            same_bits(got, want.view(np.uint8), dtype)


LAYOUTS = """
#include "kernel_operator.h"
using namespace AscendC;
template <size_t value>
using I = Std::Int<value>;
constexpr auto plain = MakeLayout(MakeShape(3, 4, 5), MakeStride(20, 5, 1));
constexpr auto nested = MakeLayout(MakeShape(MakeShape(2, 4), MakeShape(3, 5)),
                                   MakeStride(MakeStride(3, 6), MakeStride(1, 24)));
static_assert(plain(MakeCoord(1, 2, 3)) == 33);
static_assert(nested(MakeCoord(11, 12)) == 129 && nested(MakeCoord(I<11>{}, I<12>{})) == 129);
static_assert(Crd2Idx(MakeCoord(MakeCoord(1, 3), MakeCoord(2, 4)), nested) == 3 + 18 + 2 + 96);
static_assert(nested(17) == 1 * 3 + 0 * 6 + 2 * 1 + 0 * 24);
static_assert(nested.GetSize() == 120 && decltype(nested)::size == 0);
static_assert(Layout<Shape<I<4>, I<2>>, Stride<I<4>, I<1>>>::size == 16);
static_assert(plain.GetShape<0, 2>() == Std::make_tuple(3, 5));
static_assert(plain.GetStride() == MakeStride(20, 5, 1) && &plain.layout() == &plain);
static_assert(Std::is_same_v<Std::add_volatile_t<int>, volatile int>);
static_assert(is_layout_v<Layout<Coord<int>, Stride<int>>> && !is_layout_v<int>);
"""


def test_layouts(toolkit: Path, tmp_path: Path) -> None:
    """The element of a coordinate, as the pages of Layout and Crd2Idx have it."""
    compile_kernel(toolkit, tmp_path, "layouts", text=LAYOUTS)
