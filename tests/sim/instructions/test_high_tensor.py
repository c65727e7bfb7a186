# SPDX-License-Identifier: Apache-2.0
"""High-level functions of matrices against NumPy: Broadcast, reductions, CumSum, softmax."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from instructions.bench import (
    DTYPES,
    FLOAT,
    HALF,
    INT8,
    INT32,
    UINT8,
    Array,
    Bench,
    Call,
    KernelError,
    Runtime,
    area,
    compile_kernel,
    random_values,
    width_of,
)


@pytest.fixture(scope="module")
def high(toolkit: Path, runtime: Runtime, tmp_path_factory: pytest.TempPathFactory) -> Bench:
    """The kernels of high_tensor.cpp."""
    path = compile_kernel(toolkit, tmp_path_factory.mktemp("high"), "high_tensor")
    return Bench(runtime, {"high_tensor": ctypes.CDLL(str(path))})


def matrix(dtype: int, rows: int, columns: int, seed: int, special: bool = False) -> Array:
    """Values of about one, or over the whole range."""
    rng = np.random.default_rng(seed)
    if special:
        return random_values(rng, dtype, rows * columns).reshape(rows, columns)
    return rng.normal(0, 1, (rows, columns)).astype(DTYPES[dtype])


def result(raw: Array, dtype: int, *shape: int) -> Array:
    """The first elements of an area."""
    size = int(np.prod(shape)) * width_of(dtype)
    values: Array = raw[:size].view(DTYPES[dtype]).reshape(shape)
    return values


def same(got: Array, want: Array) -> None:
    """Bit for bit, except that one NaN is as good as another."""
    np.testing.assert_array_equal(got.astype(np.float64), want.astype(np.float64))


def near(got: Array, want: Array, dtype: int, ulps: float = 1.0) -> None:
    """Within units in the last place of the wanted number."""
    kind = np.dtype(DTYPES[dtype])
    with np.errstate(all="ignore"):
        spacing = np.spacing(np.abs(want).astype(kind)).astype(np.float64)
        error = np.abs(got.astype(np.float64) - want) / spacing
    finite = np.isfinite(want)
    same(got[~finite], want[~finite])
    assert (error[finite] <= ulps).all(), error[finite].max()


@pytest.mark.parametrize("dtype", [FLOAT, HALF, INT8, UINT8])
@pytest.mark.parametrize("worked", [0, 1])
def test_broadcast(high: Bench, dtype: int, worked: int) -> None:
    """A scalar, a row, a column, whole and broken rows, under both names; a row over itself."""
    block = 32 // width_of(dtype)
    shapes = ((0, 1, 77), (1, 5, 2 * block), (2, 9, block), (2, 7, 13), (3, 3, 5), (4, 5, block))
    for op, rows, columns in shapes:
        a = random_values(np.random.default_rng(op), dtype, 1000)
        call = Call(op=op, dtype=dtype, extra=(worked, 0, rows, columns, rows))
        got = high.run("high_tensor:broadcast", call, area(a[::-1]), area(a))
        row = a[::-1] if op == 4 else a
        source = a[:1] if op == 0 else row[:columns] if op in (1, 4) else a[:rows, None]
        want = np.broadcast_to(source, (rows, columns))
        same(result(got, dtype, rows, columns), want)
        size = rows * columns * width_of(dtype)
        np.testing.assert_array_equal(got[size:], area(a[::-1])[size:])


def tree(values: Array, lanes: int, kind: Any) -> Any:
    """Neighbours first in every repeat, rounding to a type, then over the sums of the repeats."""
    while True:
        padded = np.zeros(-(-values.size // lanes) * lanes, np.float32)
        padded[: values.size] = values
        level = padded.reshape(-1, lanes)
        with np.errstate(all="ignore"):
            while level.shape[1] > 1:
                level = (level[:, ::2] + level[:, 1::2]).astype(kind).astype(np.float32)
        values = level[:, 0]
        if values.size == 1:
            return values[0]


@pytest.mark.parametrize("dtype", [FLOAT, HALF])
def test_sum_and_mean(high: Bench, dtype: int) -> None:
    """Sum and Mean add in the documented tree; Mean of half in float when it is told to."""
    kind = np.dtype(DTYPES[dtype])
    lanes = 256 // kind.itemsize
    for rows, n, step in ((1, 1, 16), (3, 61, 64), (2, 300, 304), (1, 4200, 4208)):
        for special in (False, True):
            a = matrix(dtype, rows, step, n, special)
            sums = np.array([tree(row[:n].astype(np.float32), lanes, kind) for row in a])
            wide = np.array([tree(row[:n].astype(np.float32), 64, np.float32) for row in a])
            with np.errstate(all="ignore"):
                wants = (sums.astype(kind), (sums / n).astype(kind), (wide / n).astype(kind))
            for op, want in enumerate(wants):
                for worked in (0, 1):
                    call = Call(op=op, dtype=dtype, extra=(worked, 0, rows, n, step))
                    got = high.run("high_tensor:high_reduce", call, area(a), area(a))
                    same(result(got, dtype, rows), want)


REDUCTIONS: list[tuple[int, Callable[..., Any], tuple[int, ...], float]] = [
    (3, np.sum, (FLOAT,), 1),
    (5, np.mean, (FLOAT,), 1),
    (7, np.max, (FLOAT, HALF), 0),
    (9, np.min, (FLOAT, HALF), 0),
    (11, np.prod, (FLOAT,), 1),
    (13, lambda a, axis: np.any(a, axis=axis).astype(np.float64), (FLOAT, UINT8), 0),
    (15, lambda a, axis: np.all(a, axis=axis).astype(np.float64), (FLOAT, UINT8), 0),
]


@pytest.mark.parametrize("entry", REDUCTIONS, ids=lambda e: str(e[0]))
def test_reductions_with_a_pattern(
    high: Bench, entry: tuple[int, Callable[..., Any], tuple[int, ...], float]
) -> None:
    """AR and RA; rows are padded to whole blocks, and the padding takes no part."""
    op, function, dtypes, ulps = entry
    for dtype in dtypes:
        block = 32 // width_of(dtype)
        for rows, columns in ((1, 1), (5, 3), (7, block), (4, 100), (16, 64)):
            step = -(-columns // block) * block
            a = matrix(dtype, rows, step, op)
            if op >= 13:
                a = (np.random.default_rng(rows).random(a.shape) < 0.8).astype(DTYPES[dtype])
            elif rows == 7 and ulps == 0:
                a = matrix(dtype, rows, step, op, special=True)
            used = a[:, :columns].astype(np.float64)
            for axis in (1, 0):
                with np.errstate(all="ignore"):
                    want = function(used, axis=axis).astype(np.float64)
                for worked in (0, 1):
                    call = Call(op=op + 1 - axis, dtype=dtype, extra=(worked, 0, rows, columns))
                    got = high.run("high_tensor:high_reduce", call, area(a), area(a))
                    count = rows if axis == 1 else columns
                    values = result(got, dtype, count)
                    if ulps == 0:
                        same(values, want)
                    else:
                        near(values, want, dtype, ulps)


@pytest.mark.parametrize("dtype", [FLOAT, HALF])
def test_cumsum(high: Bench, dtype: int) -> None:
    """Line by line in float, along either axis, with and without the last row."""
    kind = np.dtype(DTYPES[dtype])
    for rows, columns in ((1, 16), (5, 32), (20, 48)):
        a = matrix(dtype, rows, columns, rows)
        before = matrix(dtype, 1, columns, 99)
        for op in range(3):
            axis = 1 if op == 0 else 0
            want = np.cumsum(a.astype(np.float32), axis=axis, dtype=np.float32).astype(kind)
            for worked in (0, 1):
                call = Call(op=op, dtype=dtype, extra=(worked, 0, rows, columns))
                got = high.run("high_tensor:cumsum", call, area(a), area(a), area(before))
                values = result(got, dtype, rows + 1, columns)
                same(values[:rows], want)
                same(values[rows], before[0] if op == 2 else want[-1])


def softmax(a: Array, n: int) -> tuple[Array, Array, Array]:
    """Softmax, maxima and sums over the first n of every row, in double."""
    x = a.astype(np.float64)
    with np.errstate(all="ignore"):
        top = np.max(x[:, :n], axis=1, keepdims=True)
        total = np.sum(np.exp(x[:, :n] - top), axis=1, keepdims=True)
        return np.exp(x - top) / total, top, total


def run_softmax(high: Bench, call: Call, a: Array, before: Array) -> tuple[Array, Array, Array]:
    """Result, maxima and sums of a call; before: what the first area holds."""
    rows, _, step = call.extra[2:5]
    raw = high.run("high_tensor:softmax", call, area(before), area(a))
    kind = FLOAT if call.op == 2 else call.dtype
    width = 32 // width_of(kind)
    tops = result(raw[16384:], kind, rows, width)
    return result(raw, call.dtype, rows, step), tops, result(raw[24576:], kind, rows, width)


@pytest.mark.parametrize("dtype", [FLOAT, HALF])
def test_softmax(high: Bench, dtype: int) -> None:
    """SoftMax with and without statistics, SimpleSoftMax of them, LogSoftMax to base 10."""
    for rows, n, step in ((1, 16, 16), (4, 61, 64), (3, 300, 304)):
        a = matrix(dtype, rows, step, rows)
        a[0, 3] = -np.inf
        block = 32 // width_of(dtype)

        def run(
            op: int,
            worked: int,
            before: Array = a,
            values: Array = a,
            shape: tuple[int, int, int] = (rows, n, step),
        ) -> tuple[Array, Array, Array]:
            call = Call(op=op, dtype=dtype, extra=(worked, 0, *shape))
            return run_softmax(high, call, a=values, before=before)

        for worked in (0, 1):
            near(run(0, worked)[0], softmax(a, step)[0], dtype)
            want, top, total = softmax(a, n)
            for op in (1, 2) if dtype == HALF else (1,):
                got, tops, totals = run(op, worked)
                near(got, want, dtype)
                same(tops, np.broadcast_to(top, tops.shape))
                kind = FLOAT if op == 2 else dtype
                near(totals, np.broadcast_to(total, totals.shape), kind)
        near(run(5, 1)[0], want, dtype)
        got, tops, totals = run(4, 1)
        near(got, np.log10(want, where=want > 0, out=np.full_like(want, -np.inf)), dtype)
        near(totals, np.broadcast_to(total, totals.shape), dtype)
        # Statistics that were rounded to the type.
        statistics = np.zeros(32768, np.uint8)
        tops = np.broadcast_to(top, (rows, block)).astype(DTYPES[dtype])
        totals = np.broadcast_to(total, (rows, block)).astype(DTYPES[dtype])
        statistics[16384 : 16384 + tops.nbytes] = np.frombuffer(tops.tobytes(), np.uint8)
        statistics[24576 : 24576 + totals.nbytes] = np.frombuffer(totals.tobytes(), np.uint8)
        with np.errstate(all="ignore"):
            simple = np.exp(a.astype(np.float64) - tops[:, :1]) / totals[:, :1].astype(np.float64)
        for worked in (0, 1):
            near(run(3, worked, statistics)[0], simple, dtype)


@pytest.mark.parametrize(("op", "apart"), [(6, 8), (7, 1)])
def test_adjust_softmax_result(high: Bench, op: int, apart: int) -> None:
    """Rows with the given maximum are overwritten; true if there was one."""
    raw = np.zeros(32768, np.uint8)
    values = matrix(FLOAT, 4, 16, 1)
    tops = np.ones((4, apart), np.float32)
    for hit in (False, True):
        tops[2] = np.float32(np.uint32(0xFF7FFFFF).view(np.float32)) if hit else 1
        raw[: values.nbytes] = np.frombuffer(values.tobytes(), np.uint8)
        raw[16384 : 16384 + tops.nbytes] = np.frombuffer(tops.tobytes(), np.uint8)
        call = Call(op=op, dtype=FLOAT, extra=(0, 0, 4, 16, 16))
        got = high.run("high_tensor:softmax", call, raw, raw)
        want = values.copy()
        want[2] = 2 if hit else want[2]
        same(result(got, FLOAT, 4, 16), want)
        assert got[28672:].view(np.int32)[0] == hit


def fault(high: Bench, kernel: str, call: Call) -> str:
    """The report of a call that cannot run."""
    a = matrix(FLOAT, 8, 64, 1)
    with pytest.raises(KernelError) as error:
        high.run(f"high_tensor:{kernel}", call, area(a), area(a))
    return str(error.value)


@pytest.mark.plants_faults
@pytest.mark.parametrize(
    ("kernel", "call", "kind", "words"),
    [
        ("broadcast", Call(op=1, extra=(0, 0, 4, 7, 4)), "shape", "rows of 28 bytes"),
        ("broadcast", Call(op=2, extra=(0, 0, 4, 8, 3)), "shape", "3 x 1"),
        ("broadcast", Call(op=2, extra=(1, 32, 4, 8, 4)), "ub-scratch", "256 are the least"),
        (
            "broadcast",
            Call(op=2, dtype=INT32, extra=(0, 0, 4, 8, 4)),
            "dtype-unsupported",
            "int32_t",
        ),
        ("broadcast", Call(op=2, extra=(0, 0, 100, 100, 100)), "ub-out-of-bounds", "dst"),
        ("high_reduce", Call(op=0, extra=(1, 0, 2, 12, 12)), "shape", "12 of 12 elements"),
        ("high_reduce", Call(op=0, extra=(1, 0, 2, 17, 16)), "shape", "17 of 16 elements"),
        ("high_reduce", Call(op=3, mode=1, extra=(1, 0, 2, 8)), "shape", "srcInnerPad"),
        ("high_reduce", Call(op=3, extra=(1, 480, 2, 128)), "ub-scratch", "512 are the least"),
        ("high_reduce", Call(op=3, dtype=HALF, extra=(1, 0, 2, 16)), "dtype-unsupported", "half"),
        ("cumsum", Call(op=1, extra=(1, 0, 3, 12)), "shape", "inner 12 of float"),
        ("cumsum", Call(op=0, extra=(1, 64, 3, 16)), "ub-scratch", "2048 are the least"),
        ("softmax", Call(op=1, extra=(1, 0, 2, 16, 12)), "shape", "srcK 12"),
        ("softmax", Call(op=1, extra=(1, 0, 2, 17, 16)), "shape", "oriSrcK 17"),
        ("softmax", Call(op=1, extra=(1, 64, 2, 16, 16)), "ub-scratch", "352 are the least"),
    ],
)
def test_faults(high: Bench, kernel: str, call: Call, kind: str, words: str) -> None:
    """Each with its numbers."""
    text = fault(high, kernel, call)
    assert f"[{kind}]" in text
    assert words in text


@pytest.mark.plants_faults
def test_definedness(high: Bench, runtime: Runtime) -> None:
    """A result is as defined as the elements that it is made of: padding is not asked."""
    a = matrix(FLOAT, 1, 64, 1)
    entry = high.libraries["high_tensor"]["reduce_flow"]
    cases = [
        (Call(mode=0, extra=(1, 0, 8, 32, 32)), True),
        (Call(mode=0, extra=(1, 0, 8, 32, 33)), False),
        (Call(mode=1, count=32, extra=(1, 0, 8, 32, 64)), True),
        (Call(mode=1, count=40, extra=(1, 0, 8, 32, 64)), False),
    ]
    with runtime.options(mode="checked"):
        for call, defined in cases:
            arrays = [np.zeros(64, np.float32), a, call.pack()]
            if not defined:
                with pytest.raises(KernelError, match="undefined"):
                    runtime.launch(entry, arrays)
                continue
            got = runtime.launch(entry, arrays)[0]
            if call.mode == 0:
                same(got[:8], np.full(8, tree(a[0, :32], 64, np.float32)))
            else:
                same(got[:32], a[0, :32])
