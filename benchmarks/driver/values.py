# SPDX-License-Identifier: Apache-2.0
"""Inputs of a case, and whether an output is right.

An input repeats a pool of random numbers, so that any element is known by its index: a check of
some rows needs neither the whole inputs nor the whole golden result, which for 64 M elements in
float64 would take more memory than the run.
"""

from __future__ import annotations

import zlib
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aclgrad.golden import precision
from aclgrad.runtime.memory import Buffer
from aclgrad.spec.dtypes import BOOL, DType
from driver.cases import BenchmarkCase

Array = NDArray[Any]

_POOL = 1_048_573  # a prime: no row, tile or core sees the numbers of the one before
_CHECKED = 1 << 18
_LEAST_ROWS = 64  # where rows are longer than what is checked otherwise


def pool(case: BenchmarkCase, name: str) -> Array:
    """The numbers that one input repeats."""
    return _pool(case.op, name, BOOL if name == "mask" else case.dtype)


@cache
def _pool(op: str, name: str, dtype: DType) -> Array:
    rng = np.random.default_rng(zlib.crc32(f"{op} {name}".encode()))
    if dtype == BOOL:
        return np.asarray(rng.random(_POOL) < 0.2)
    if name in ("output", "y", "target"):
        # Distributed as a forward softmax's results, but about 1: what has the size of 1 / 4096 is
        # within the tolerances of 16-bit dtypes if it is lost altogether.
        drawn = rng.standard_exponential(_POOL, np.float32)
        if op in ("log_softmax_grad", "kl_div_loss_grad"):
            drawn = np.log(np.maximum(drawn, np.float32(1e-30)))
    else:
        drawn = rng.standard_normal(_POOL, np.float32)
    return np.asarray(drawn.astype(dtype.numpy))


def whole(case: BenchmarkCase, name: str) -> Array:
    """One input as an array."""
    return np.resize(pool(case, name), case.shape)


def fill(case: BenchmarkCase, name: str, buffer: Buffer) -> None:
    """Write one input to the device, without a copy of it on the host."""
    numbers = pool(case, name)
    for at in range(0, case.size, _POOL):
        buffer.write(numbers[: case.size - at], at * numbers.itemsize)


def check(case: BenchmarkCase, output: Array) -> precision.Report:
    """Judge rows from everywhere in a flat output by the project's rule."""
    reduction = case.attrs.get("reduction")
    if reduction not in (None, 0):
        raise ValueError(f"{case.key}: a sample of rows has no mean. Next: reduction = 0")
    places = sample(case)
    attrs = {**case.attrs, "dim": -1} if "dim" in case.attrs else case.attrs
    shape = (1, 1, *places.shape) if len(case.shape) == 4 else places.shape
    inputs = {
        arg.name: pool(case, arg.name)[places % _POOL].reshape(shape)
        for arg in case.spec.input_args
    }
    golden = case.spec.evaluate(inputs, attrs)
    terms = case.spec.magnitudes(inputs, attrs)
    return precision.compare(output[places].reshape(shape), golden, terms=terms)


def sample(case: BenchmarkCase) -> NDArray[np.int64]:
    """Indices of rows that are reduced together: the first, the last, and one of each part of the
    tensor at random.
    """
    outer, row, inner = case.reduced
    rows = outer * inner
    count = min(rows, max(_CHECKED // row, _LEAST_ROWS))
    edges = np.linspace(0, rows, count + 1).astype(np.int64)
    within = np.random.default_rng(0).random(count)
    chosen = edges[:-1] + (within * np.diff(edges)).astype(np.int64)
    chosen[0], chosen[-1] = 0, rows - 1
    first = chosen // inner * row * inner + chosen % inner
    places: NDArray[np.int64] = first[:, None] + np.arange(row, dtype=np.int64) * inner
    return places
