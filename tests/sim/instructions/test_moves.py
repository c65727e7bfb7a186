# SPDX-License-Identifier: Apache-2.0
"""Copies between GM and UB, Brcb, TransDataTo5HD, SelectWithBytesMask, DropOut and
SoftmaxGrad.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from instructions.bench import (
    AREA,
    BLOCK,
    DTYPES,
    FLOAT,
    HALF,
    INT8,
    INT64,
    UINT8,
    UINT16,
    UINT32,
    Array,
    Bench,
    Call,
    KernelError,
    area,
    same_bits,
    width_of,
)

POISON = 0xFF


def raw_bytes(seed: int) -> Array:
    """An area of random bytes."""
    return np.random.default_rng(seed).integers(0, 256, AREA, dtype=np.uint8)


def moved(dst: Array, src: Array, count: int, size: int, dst_step: int, src_step: int) -> Array:
    """Blocks of size bytes, each step bytes after the one before."""
    want = dst.copy()
    for i in range(count):
        want[i * dst_step : i * dst_step + size] = src[i * src_step : i * src_step + size]
    return want


@pytest.mark.parametrize("kernel", ["copy_in", "copy_out", "copy_ub"])
def test_data_copy(bench: Bench, kernel: str) -> None:
    """The count form drops what is less than a block; the others count blocks."""
    dst, src = raw_bytes(1), raw_bytes(2)
    for dtype in (HALF,) if kernel == "copy_ub" else (FLOAT, HALF, INT8, INT64):
        width = width_of(dtype)
        for count in (0, 1, 32 // width, 100, AREA // width):
            size = count * width // BLOCK * BLOCK
            got = bench.run(
                f"moves:{kernel}", Call(dtype=dtype, count=count), dst, src, raw_bytes(3)
            )
            np.testing.assert_array_equal(got, moved(dst, src, 1, size, 0, 0))
        for count, size, src_gap, dst_gap in (
            (1, 3, 0, 0),
            (4, 2, 0, 0),
            (7, 2, 3, 1),
            (0, 2, 0, 0),
            (5, 0, 1, 1),
            (100, 1, 1, 2),
        ):
            call = Call(op=1, dtype=dtype, extra=(count, size, src_gap, dst_gap))
            got = bench.run(f"moves:{kernel}", call, dst, src, raw_bytes(3))
            steps = (size + dst_gap) * BLOCK, (size + src_gap) * BLOCK
            np.testing.assert_array_equal(got, moved(dst, src, count, size * BLOCK, *steps))


def padded(
    dst: Array,
    src: Array,
    dtype: int,
    count: int,
    size: int,
    gaps: tuple[int, int],
    pad: tuple[bool, int, int, Any],
) -> Array:
    """What DataCopyPad leaves in UB: the documented fill rules."""
    is_pad, left, right, value = pad
    width = width_of(dtype)
    used = left * width + size + right * width
    row = -(-used // BLOCK) * BLOCK
    fill = np.array([value]).astype(DTYPES[dtype]).tobytes() if is_pad else bytes([POISON]) * width
    want = dst.copy()
    for i in range(count):
        start = i * (row + gaps[1] * BLOCK)
        block = src[i * (size + gaps[0]) : i * (size + gaps[0]) + size]
        tail = row - left * width - size
        filler = block[:width].tobytes() if left == right == 0 else fill
        data = fill * left + block.tobytes() + filler * (tail // width)
        want[start : start + row] = np.frombuffer(data, np.uint8)
    return want


@pytest.mark.plants_faults
@pytest.mark.parametrize("old", [False, True], ids=["ext params", "params"])
@pytest.mark.parametrize("dtype", [FLOAT, HALF, UINT8, INT64])
def test_data_copy_pad_in(bench: Bench, dtype: int, old: bool) -> None:
    """Lengths in bytes, GM gaps in bytes, UB gaps in blocks, padding in elements."""
    dst, src = raw_bytes(1), raw_bytes(2)
    width = width_of(dtype)
    kind = np.dtype(DTYPES[dtype])
    scalar_dtype = np.dtype(np.uint64) if old and dtype != FLOAT else kind
    value = 0 if dtype == INT64 else 7
    bits = int.from_bytes(np.array([value]).astype(kind).tobytes(), "little")
    for count, elements, gaps in (
        (1, 1, (0, 0)),
        (3, 5, (width, 0)),
        (4, 32 // width, (3 * width, 2)),
        (2, 100, (0, 1)),
        (0, 5, (0, 0)),
        (3, 0, (0, 0)),
        (5, 33, (8 * width, 3)),
    ):
        for is_pad, left, right in (
            (False, 0, 0),
            (True, 0, 0),
            (True, 0, 3),
            (True, 2, 1),
            (False, 1, 2),
            (True, 32 // width, 32 // width),
        ):
            size = elements * width
            if size == 0 or count == 0:
                want = dst
            else:
                want = padded(dst, src, dtype, count, size, gaps, (is_pad, left, right, value))
            call = Call(
                op=3 if old else 2,
                dtype=dtype,
                scalar=bits if old and dtype != FLOAT else value,
                scalar_dtype=scalar_dtype,
                extra=(count, size, gaps[0], gaps[1], int(is_pad) | left << 8 | right << 16),
            )
            if not is_pad and left and size and count:
                # Junk on hardware: copying it out is a finding.
                with pytest.raises(KernelError, match="undefined-padding"):
                    bench.run("moves:copy_in", call, dst, src, raw_bytes(3))
                continue
            # A block that is filled up without being asked to has documented lanes, which no
            # result may rest on.
            filled_up = not is_pad and count and size % BLOCK
            finding = "undefined-padding" if filled_up else ""
            got = bench.run("moves:copy_in", call, dst, src, raw_bytes(3), finding=finding)
            np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("op", [2, 3], ids=["ext params", "params"])
@pytest.mark.parametrize("dtype", [FLOAT, HALF, UINT8, INT64])
def test_data_copy_pad_out(bench: Bench, dtype: int, op: int) -> None:
    """Exact bytes leave UB; every block there starts on 32 bytes."""
    dst, src = raw_bytes(1), raw_bytes(2)
    width = width_of(dtype)
    for count, elements, src_gap, dst_gap in (
        (1, 1, 0, 0),
        (3, 5, 0, width),
        (4, 33, 2, 0),
        (7, 9, 1, 3 * width),
        (2, 0, 0, 0),
        (0, 4, 0, 0),
    ):
        size = elements * width
        row = -(-size // BLOCK) * BLOCK
        call = Call(op=op, dtype=dtype, extra=(count, size, src_gap, dst_gap))
        got = bench.run("moves:copy_out", call, dst, src, raw_bytes(3))
        want = moved(dst, src, count, size, size + dst_gap, row + src_gap * BLOCK)
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("dtype", [FLOAT, HALF, 2, UINT16, UINT32])
def test_brcb(bench: Bench, dtype: int) -> None:
    """Eight elements per repeat, each fills a block."""
    dst, src = raw_bytes(1), raw_bytes(2)
    width = width_of(dtype)
    elements = src.reshape(-1, width)
    for repeat, blk, rep in ((1, 1, 8), (3, 1, 8), (2, 2, 17), (5, 1, 8), (0, 1, 8)):
        want = dst.copy().reshape(-1, BLOCK)
        for r in range(repeat):
            for b in range(8):
                want[r * rep + b * blk] = np.tile(elements[r * 8 + b], BLOCK // width)
        call = Call(dtype=dtype, repeat=repeat, blk=(blk, 1, 1), rep=(rep, 8, 8))
        got = bench.run("moves:brcb", call, dst, src)
        np.testing.assert_array_equal(got, want.reshape(-1))


def transposed(rows: Array, width: int, high: tuple[int, int], old: Array) -> Array:
    """16 source blocks to 16 destination blocks."""
    matrix = rows.reshape(16, BLOCK // width, width)
    if width == 2:
        return matrix.transpose(1, 0, 2).reshape(16, BLOCK)
    if width == 4:
        return matrix.transpose(1, 0, 2).reshape(16, BLOCK)
    out = old.copy()
    out[:, high[0] * 16 : high[0] * 16 + 16] = rows[:, high[1] * 16 : high[1] * 16 + 16].T
    return out


@pytest.mark.parametrize("dtype", [FLOAT, HALF, INT8, UINT32])
@pytest.mark.parametrize("op", range(3), ids=["addresses", "tensors", "address tensors"])
def test_trans_data_to_5hd(bench: Bench, dtype: int, op: int) -> None:
    """Transposes 16 blocks per repeat; with one repeat a stride shifts the start."""
    dst, src = raw_bytes(1), raw_bytes(2)
    width = width_of(dtype)
    for repeat, src_block, dst_block, rep in (
        (1, 1, 1, (0, 0)),
        (1, 2, 3, (1, 2)),
        (3, 4, 1, (16, 1)),
        (0, 1, 1, (1, 1)),
    ):
        for mode in range(4 if width == 1 else 1):
            want = dst.copy().reshape(-1, BLOCK)
            blocks = src.reshape(-1, BLOCK)
            for r in range(repeat):
                step = 1 if repeat == 1 else r
                rows = blocks[np.arange(16) * src_block + step * rep[1]]
                to = np.arange(16) * dst_block + step * rep[0]
                want[to] = transposed(rows, width, (mode & 1, mode >> 1), want[to])
            call = Call(
                op=op,
                dtype=dtype,
                mode=mode,
                repeat=repeat,
                rep=(*rep, 0),
                extra=(src_block, dst_block),
            )
            got = bench.run("moves:trans_data", call, dst, src)
            np.testing.assert_array_equal(got, want.reshape(-1))


@pytest.mark.plants_faults
def test_trans_data_of_32_bit_lanes_on_910(bench: Bench) -> None:
    """It turns 16-bit words alone."""
    with bench.runtime.options(soc="Ascend910A"):
        call = Call(dtype=HALF, repeat=1, extra=(1, 1))
        bench.run("moves:trans_data", call, raw_bytes(1), raw_bytes(2))
        with pytest.raises(KernelError, match="TransDataTo5HD has no float form on Ascend910A"):
            bench.run("moves:trans_data", replace(call, dtype=FLOAT), raw_bytes(1), raw_bytes(2))


@pytest.mark.parametrize("op", range(3), ids=["scalar if set", "scalar if not", "old name"])
@pytest.mark.parametrize("flag", [UINT8, INT8, UINT16, 7])
def test_select_with_bytes_mask(bench: Bench, op: int, flag: int) -> None:
    """Whole mask elements choose; the mask's last axis may be longer than the source's."""
    rng = np.random.default_rng(op)
    for dtype in (FLOAT, HALF):
        kind = np.dtype(DTYPES[dtype])
        for rows, columns, mask_columns in ((1, 32, 32), (3, 16, 32), (5, 64, 96)):
            source = rng.normal(size=(rows, columns)).astype(kind)
            mask = rng.integers(0, 3, (rows, mask_columns)).astype(DTYPES[flag])
            taken = (mask[:, :columns] != 0) != (op == 1)
            want = area(np.where(taken, kind.type(-9), source).astype(kind))
            call = Call(
                op=op,
                dtype=dtype,
                src_dtype=flag,
                scalar=-9,
                scalar_dtype=kind,
                extra=(rows, columns, mask_columns),
            )
            got = bench.run("moves:select_bytes", call, area(source[:0]), area(source), area(mask))
            np.testing.assert_array_equal(got, want)


DROP_OUT = {
    # mode: elements in a row of the source, bytes in one of the mask
    "byte misaligned": (1, 32, 64),
    "byte aligned": (2, 32, 32),
    "bit aligned": (3, 64, 8),
    "bit misaligned": (4, 48, 32),
    "told by the axes": (0, 64, 8),
    "padded bytes by the axes": (0, 32, 64),
    "without scratch": (5, 48, 48),
}


@pytest.mark.parametrize("dtype", [FLOAT, HALF])
@pytest.mark.parametrize(("mode", "columns", "mask_columns"), DROP_OUT.values(), ids=DROP_OUT)
def test_drop_out(bench: Bench, mode: int, columns: int, mask_columns: int, dtype: int) -> None:
    """An element by its byte of the mask or by its bit, the lowest first; the factor is of T."""
    rng = np.random.default_rng(mode)
    kind = np.dtype(DTYPES[dtype])
    rows = 5
    source = rng.normal(size=(rows, columns)).astype(kind)
    mask = rng.integers(0, 256, (rows, mask_columns), dtype=np.uint8)
    in_bytes = columns <= mask_columns
    if in_bytes:
        mask = (mask % 2).astype(np.uint8)
    flags = mask if in_bytes else np.unpackbits(mask, axis=1, bitorder="little")
    factor = np.asarray(np.float32(1) / np.float32(0.75)).astype(kind)
    want = np.where(flags[:, :columns] != 0, (source * factor).astype(kind), np.zeros_like(source))
    call = Call(op=mode, dtype=dtype, extra=(rows, columns, mask_columns))
    got = bench.run("moves:drop_out", call, area(source[:0]), area(source), area(mask))
    np.testing.assert_array_equal(got, area(want))


@pytest.mark.plants_faults
def test_drop_out_refuses(bench: Bench) -> None:
    """Rows of the mask that are shorter than the source's."""
    call = Call(op=4, dtype=FLOAT, extra=(2, 64, 4))
    empty = area(np.zeros(0, np.float32))
    with pytest.raises(KernelError, match="maskLastAxis is 4 for rows of 64 elements, by bits"):
        bench.run("moves:drop_out", call, empty, empty, empty)


@pytest.mark.parametrize("dtype", [FLOAT, HALF])
def test_softmax_grad_step(bench: Bench, dtype: int) -> None:
    """(g - sum(g y)) y per row; half computes in float and rounds once; isFront gives the sums."""
    rng = np.random.default_rng(1)
    kind = np.dtype(DTYPES[dtype])
    for rows, columns, used in ((1, 16, 16), (4, 64, 64), (3, 112, 100), (2, 1024, 1024)):
        grad, y = (rng.normal(size=(rows, columns)).astype(kind) for _ in range(2))
        g64, y64 = grad.astype(np.float64), y.astype(np.float64)
        sums = (g64 * y64)[:, :used].sum(1, keepdims=True)
        for front in (0, 1):
            for op in (0, 1) if used == columns else (0,):
                call = Call(op=op, dtype=dtype, extra=(rows, columns, used, front))
                got = bench.run(
                    "moves:softmax_grad_step", call, area(grad[:0]), area(grad), area(y)
                )
                exact = np.repeat(sums, 32 // kind.itemsize, 1) if front else (g64 - sums) * y64
                result = got.view(kind)[: exact.size].reshape(exact.shape)
                error = np.abs(result.astype(np.float64) - exact)
                scale = np.abs(g64 * y64).sum(1, keepdims=True) * (1 if front else np.abs(y64) + 1)
                limit = scale * 2.0**-20 + np.abs(exact) * np.finfo(kind).eps
                assert (error <= limit).all()
                same_bits(
                    got[exact.size * kind.itemsize :],
                    area(grad[:0])[exact.size * kind.itemsize :],
                    UINT8,
                )


def test_copy_slices(bench: Bench) -> None:
    """Pieces of three blocks, seven elements apart, of every second row."""
    dst, src = raw_bytes(1), raw_bytes(2)
    want = dst.copy()
    for row in (0, 2):
        for first in (16, 47):
            at = (row * 87 + first) * 4
            want[at : at + 96] = src[at : at + 96]
    got = bench.run("moves:copy_slices", Call(), dst, src, raw_bytes(3))
    np.testing.assert_array_equal(got, want)


@pytest.mark.plants_faults
def test_copy_slices_off_the_blocks(bench: Bench) -> None:
    """UB has no bytes between blocks."""
    with pytest.raises(KernelError, match="a stride in UB is whole blocks"):
        bench.run("moves:copy_slices", Call(extra=(1,)), raw_bytes(1), raw_bytes(2), raw_bytes(3))
