# SPDX-License-Identifier: Apache-2.0
"""Sort32, Sort, MrgSort, Extract against a stable NumPy sort, bit for bit."""

from __future__ import annotations

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


def scores_of(dtype: int, seed: int, size: int) -> Array:
    """Values with many ties, infinities and NaN among them."""
    rng = np.random.default_rng(seed)
    values = rng.integers(-20, 20, size).astype(DTYPES[dtype])
    values[rng.permutation(size)[: size // 8]] = rng.choice(
        [np.inf, -np.inf, np.nan, -0.0], size // 8
    )
    return values


def order_of(scores: Array) -> Array:
    """Descending and stable, a NaN before every number."""
    key = np.where(np.isnan(scores), np.inf, scores.astype(np.float64))
    return np.lexsort((np.arange(scores.size), -key, ~np.isnan(scores)))


def structures(scores: Array, index: Array) -> Array:
    """Eight bytes each: the score, nothing, the index."""
    raw = np.zeros((scores.size, 8), np.uint8)
    raw[:, : scores.itemsize] = scores.view(np.uint8).reshape(scores.size, scores.itemsize)
    raw[:, 4:] = index.astype(np.uint32).view(np.uint8).reshape(-1, 4)
    return raw.reshape(-1)


def after(base: Array, start: int, data: Array) -> Array:
    """A copy of base with data at byte start."""
    want = base.copy()
    raw = data.view(np.uint8)
    want[start : start + raw.size] = raw
    return want


@pytest.mark.parametrize("dtype", [FLOAT, HALF])
@pytest.mark.parametrize("op", [0, 1, 2, 3], ids=["Sort32", "Sort", "full", "Extract"])
def test_sort(bench: Bench, dtype: int, op: int) -> None:
    """32 per repeat, or everything."""
    dst = np.full(AREA, 0xA5, np.uint8)
    for repeat in (1, 2, 7, 31):
        size = 32 * repeat
        scores = scores_of(dtype, repeat, size)
        index = np.random.default_rng(9).integers(0, 2**32, size).astype(np.uint32)
        step = 32 if op < 2 else size
        order = np.concatenate(
            [start + order_of(scores[start : start + step]) for start in range(0, size, step)]
        )
        if op == 3:
            want = after(dst, 0, scores[order])
            want = after(want, AREA // 2, index[order])
        else:
            want = after(dst, 0, structures(scores[order], index[order]))
        call = Call(op=op, dtype=dtype, repeat=repeat, extra=(AREA // 2,))
        got = bench.run("gather:sort", call, dst, area(scores), area(index))
        assert (got == want).all()
    if op < 2:
        nothing = Call(op=op, dtype=dtype, repeat=0)
        assert (bench.run("gather:sort", nothing, dst, dst) == dst).all()


@pytest.mark.plants_faults
@pytest.mark.parametrize("op", [2, 3], ids=["full", "Extract"])
def test_full_sort_of_nothing(bench: Bench, op: int) -> None:
    """A board raises an exception."""
    dst = np.full(AREA, 0xA5, np.uint8)
    call = Call(op=op, dtype=FLOAT, repeat=0)
    assert (bench.run("gather:sort", call, dst, dst, finding="repeat-range") == dst).all()


@pytest.mark.parametrize("dtype", [FLOAT, HALF])
@pytest.mark.parametrize(
    ("valid", "lengths", "repeat"),
    [
        (15, (32, 32, 32, 32), 1),
        (15, (32, 32, 32, 32), 3),
        (7, (5, 40, 12, 0), 1),
        (3, (100, 1, 0, 0), 1),
        (15, (0, 7, 64, 3), 1),
    ],
)
def test_merge(bench: Bench, dtype: int, valid: int, lengths: tuple[int, ...], repeat: int) -> None:
    """Equal scores come in the order of their queues; suspension reports what it took."""
    dst = np.full(AREA, 0xA5, np.uint8)
    queues = [
        scores_of(dtype, 10 * r + q, length)
        for r in range(repeat)
        for q, length in enumerate(lengths)
    ]
    sorted_queues = [queue[order_of(queue)] for queue in queues]
    flat = np.concatenate(sorted_queues)
    source = area(structures(flat, np.arange(flat.size)))
    total = sum(lengths)
    order = np.concatenate(
        [r * total + order_of(flat[r * total : (r + 1) * total]) for r in range(repeat)]
    )
    want = after(dst, 0, structures(flat[order], order))
    call = Call(dtype=dtype, mode=valid, repeat=repeat, extra=lengths)
    assert (bench.run("gather:merge", call, dst, source) == want).all()
    if repeat > 1:
        return
    # Stops as soon as a queue that takes part has nothing left.
    ends = np.cumsum(lengths)[: {3: 2, 7: 3, 15: 4}[valid]]
    queue = np.searchsorted(ends, order, side="right")
    taken = [np.cumsum(queue == q) for q in range(ends.size)]
    stop = min(
        0 if length == 0 else int(np.argmax(taken[q] == length)) + 1
        for q, length in enumerate(lengths[: ends.size])
    )
    shares = [int((queue[:stop] == q).sum()) for q in range(4)]
    want = after(dst, 0, structures(flat[order[:stop]], order[:stop]))
    want = after(want, AREA - 32, np.array(shares, np.uint32))
    for op in (1, 2):
        call = Call(op=op, dtype=dtype, mode=valid, extra=lengths)
        assert (bench.run("gather:merge", call, dst, source) == want).all()


@pytest.mark.plants_faults
def test_sort_faults(bench: Bench) -> None:
    """Queues that do not exist, repeats that hardware would ignore, lengths past the end."""
    source = np.zeros(AREA, np.uint8)
    for call, text in (
        (Call(mode=5, extra=(8, 8, 8, 8)), r"merge-queues(.|\n)*validBit 5"),
        (Call(mode=15, extra=(8, 8, 8, 5000)), r"merge-queues(.|\n)*elementLengths\[3\] is 5000"),
        (Call(mode=15, repeat=2, extra=(8, 8, 8, 4)), r"merge-queues(.|\n)*repeatTimes 2"),
        (Call(mode=3, extra=(4000, 4000, 0, 0)), r"ub-out-of-bounds(.|\n)*src2"),
    ):
        with pytest.raises(KernelError, match=text):
            bench.run("gather:merge", call, source, source)
    with pytest.raises(KernelError, match=r"repeat-range(.|\n)*repeatTime 256"):
        bench.run("gather:sort", Call(op=0, repeat=256), source, source)
    with pytest.raises(KernelError, match=r"ub-out-of-bounds(.|\n)*dst"):
        bench.run("gather:sort", Call(op=0, repeat=129), source, source)


def padded(row_bytes: int, small: bool) -> int:
    """Bytes from one row of results to the next."""
    return row_bytes if small else -(-row_bytes // 32) * 32


@pytest.mark.parametrize("dtype", [FLOAT, HALF])
@pytest.mark.parametrize("smallest", [0, 1])
def test_top_k(norms: Bench, dtype: int, smallest: int) -> None:
    """The first k of every row and their places; equal ones in the order of the source."""
    rng = np.random.default_rng(smallest)
    kind = np.dtype(DTYPES[dtype])
    for op, rows, columns, n, k in (
        (0, 3, 64, 61, 5),
        (1, 2, 256, 256, 256),
        (2, 3, 32, 30, 9),
        (3, 4, 32, 32, 3),
        (4, 3, 32, 31, 10),
    ):
        x = rng.integers(-40, 40, (rows, columns)).astype(kind)
        x[0, :5] = [np.nan, np.inf, -np.inf, 3, 3]
        x[:, n:] = np.inf if smallest else -np.inf
        small = op > 2
        shape = (rows, columns) if small else (columns,)
        given = rng.integers(0, 10**6, shape, np.int32)
        raw = np.zeros(AREA, np.uint8)
        raw[: given.nbytes] = given.view(np.uint8).ravel()
        raw[24576 + 1] = 1  # the second row is finished
        places = np.broadcast_to(given, (rows, columns)) if op in (1, 2, 4) else None
        for worked in (0, 1) if op == 0 else (1,):
            extra = (worked, 0, rows, n, columns)
            call = Call(op=op, dtype=dtype, mode=smallest, count=k, extra=extra)
            got = norms.run("high_norm:topk", call, np.zeros(AREA, np.uint8), area(x), raw)
            value_row = padded(k * kind.itemsize, small)
            index_row = padded(k * 4, small)
            for r in range(rows):
                order = np.argsort(x[r].astype(np.float64) * (1 if smallest else -1), kind="stable")
                nans = np.flatnonzero(np.isnan(x[r]))
                order = np.concatenate([nans, order[~np.isin(order, nans)]])[:k]
                values = got[r * value_row :][: k * kind.itemsize].view(kind)
                np.testing.assert_array_equal(values, x[r][order])
                want = order if places is None else places[r][order]
                if op == 2 and r == 1:
                    want = np.full(k, n)
                indices = got[16384 + r * index_row :][: k * 4].view(np.int32)
                np.testing.assert_array_equal(indices, want)


TOP_K_MISUSES = {
    "small scratch": (Call(op=0, count=4, extra=(1, 1024, 2, 64, 64)), "ub-scratch"),
    "rows that are no multiple of 32": (Call(op=0, count=4, extra=(1, 0, 2, 40, 40)), "shape"),
    "more than there are": (Call(op=0, count=33, extra=(1, 0, 2, 32, 64)), "shape"),
    "none": (Call(op=0, count=0, extra=(1, 0, 2, 32, 64)), "shape"),
    "long rows in the small mode": (Call(op=3, count=4, extra=(1, 0, 2, 64, 64)), "shape"),
}


@pytest.mark.plants_faults
@pytest.mark.parametrize("name", TOP_K_MISUSES)
def test_misuse_of_top_k(norms: Bench, name: str) -> None:
    """Shapes and scratch that hardware would take without a word."""
    call, kind = TOP_K_MISUSES[name]
    zeros = np.zeros(AREA, np.uint8)
    with pytest.raises(KernelError, match=kind):
        norms.run("high_norm:topk", call, zeros, zeros, zeros)
