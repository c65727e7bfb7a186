# SPDX-License-Identifier: Apache-2.0
"""Copies of Ascend 950 against NumPy: several dimensions with strides, DataCopyPad in loops."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from instructions.bench import AREA, Bench, Call, KernelError, Runtime, area, compile_kernel

SOC = "Ascend950PR_9599"


@pytest.fixture(scope="module")
def kernels(
    toolkit: Path, runtime: Runtime, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Bench]:
    """The kernels of nd_copy.cpp on their SoC."""
    path = compile_kernel(toolkit, tmp_path_factory.mktemp("nd_copy"), "nd_copy", soc="ascend950")
    with runtime.options(soc=SOC):
        yield Bench(runtime, {"nd_copy": ctypes.CDLL(str(path))})


@pytest.mark.parametrize(
    ("sizes", "src", "dst"),
    [
        ((37, 1, 1), (3, 0, 0), (1, 0, 0)),
        ((7, 50, 1), (1, 7, 0), (64, 1, 0)),  # a transposition
        ((16, 9, 1), (1, 20, 0), (1, 16, 0)),  # rows out of longer ones
        ((5, 6, 1), (0, 1, 0), (1, 8, 0)),  # each element of a column to a row
        ((4, 5, 6), (1, 8, 64), (40, 8, 1)),
    ],
)
def test_dimensions(
    kernels: Bench, sizes: tuple[int, ...], src: tuple[int, ...], dst: tuple[int, ...]
) -> None:
    """Each element by its strides; all else stays."""
    rng = np.random.default_rng(1)
    values = rng.normal(size=AREA // 4).astype(np.float32)
    want = area(np.zeros(1, np.uint8)).view(np.float32).copy()
    before = want.copy()
    for at in product(*(range(size) for size in sizes)):
        to = sum(i * stride for i, stride in zip(at, dst, strict=True))
        want[to] = values[sum(i * stride for i, stride in zip(at, src, strict=True))]
    dim = 3 if sizes[2] > 1 else 2 if sizes[1] > 1 else 1
    call = Call(op=dim, blk=(src[0], src[1], src[2]), rep=(dst[0], dst[1], dst[2]), extra=sizes)
    got = kernels.run("nd_copy:nd_copy", call, before.view(np.uint8), values.view(np.uint8))
    np.testing.assert_array_equal(got.view(np.uint32), want.view(np.uint32))


@pytest.mark.plants_faults
def test_bounds(kernels: Bench) -> None:
    """The last element decides, on both sides."""
    zeros = np.zeros(AREA, np.uint8)
    for src, dst in ((4096, 1), (1, 4096)):
        call = Call(op=2, blk=(1, src, 0), rep=(1, dst, 0), extra=(4, 3, 1))
        with pytest.raises(KernelError, match="out-of-bounds"):
            kernels.run("nd_copy:nd_copy", call, zeros, zeros)


@pytest.mark.parametrize("op", [0, 1])
def test_loops(kernels: Bench, op: int) -> None:
    """Two rows of 40 bytes, in two loops."""
    rng = np.random.default_rng(2)
    src, dst = (rng.integers(0, 256, AREA, dtype=np.uint8) for _ in range(2))
    gm, ub = ((200, 2000), (160, 1024)) if op == 0 else ((200, 2000), (160, 1024))
    source, target = (gm, ub) if op == 0 else (ub, gm)
    call = Call(
        op=op,
        blk=(source[0], source[1], 0),
        rep=(target[0], target[1], 0),
        extra=(3, 2),
    )
    got = kernels.run("nd_copy:pad_loops", call, dst, src)
    want = dst.copy()
    for j, i, row in product(range(2), range(3), range(2)):
        # Rows in UB are padded to 64 bytes, and a gap there is a block.
        to = j * target[1] + i * target[0] + row * (64 if op == 0 else 48)
        at = j * source[1] + i * source[0] + row * (48 if op == 0 else 96)
        want[to : to + 40] = src[at : at + 40]
        if op == 0:
            want[to + 40 : to + 64] = got[to + 40 : to + 64]
    np.testing.assert_array_equal(got, want)
