# SPDX-License-Identifier: Apache-2.0
"""What cores do together: SyncAll, cross-core flags, atomic copies, the data cache."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from instructions.bench import KernelError, Runtime, compile_kernel

pytestmark = pytest.mark.sanitized

ROW = 64


@pytest.fixture(scope="module")
def library(toolkit: Path, tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """cores.cpp."""
    return ctypes.CDLL(str(compile_kernel(toolkit, tmp_path_factory.mktemp("cores"), "cores")))


@pytest.fixture(params=["1", "2", "7"])
def threads(runtime: Runtime, request: pytest.FixtureRequest) -> Iterator[None]:
    """Fewer host threads than cores: a core that waits must not keep the others from running."""
    with runtime.options(threads=request.param):
        yield


@pytest.mark.usefixtures("threads")
@pytest.mark.parametrize("cores", [1, 2, 40])
@pytest.mark.parametrize("kernel", ["exchange", "exchange_flag"])
def test_exchange(runtime: Runtime, library: ctypes.CDLL, kernel: str, cores: int) -> None:
    """Each core sees what another wrote before the meeting."""
    rows = np.arange(cores * ROW, dtype=np.float32).reshape(cores, ROW)
    out, *_ = runtime.launch(
        library[kernel], [np.zeros_like(rows), rows, np.zeros_like(rows)], block_dim=cores
    )
    np.testing.assert_array_equal(out, rows[::-1])


@pytest.mark.reads_addresses
@pytest.mark.usefixtures("threads")
def test_stack_of_each_core_has_a_guard(runtime: Runtime, library: ctypes.CDLL) -> None:
    """A frame that the stack has no room for must not reach over the guard.

    What is below is mostly the stack of another thread, with all that it needs to end at its top.
    """
    cores, *_ = runtime.launch(library.stacks, [np.zeros((40, ROW), np.uint64)], block_dim=40)
    regions = [line.split(maxsplit=2) for line in Path("/proc/self/maps").read_text().splitlines()]
    bounds = [tuple(int(end, 16) for end in region[0].split("-")) for region in regions]
    for address in set(cores[:, 0].tolist()):
        stack = next(i for i, (begin, end) in enumerate(bounds) if begin <= address < end)
        begin, end = bounds[stack - 1]
        assert (end, regions[stack - 1][1]) == (bounds[stack][0], "---p")
        assert end - begin >= 1 << 20


@pytest.mark.usefixtures("threads")
@pytest.mark.parametrize("cores", [1, 40])
def test_atomic_add(runtime: Runtime, library: ctypes.CDLL, cores: int) -> None:
    """Sums are made in the order of the cores, whatever the host threads do."""
    rng = np.random.default_rng(3)
    rows = rng.standard_normal((cores, ROW)).astype(np.float32)
    start = rng.standard_normal(ROW).astype(np.float32)
    out, *_ = runtime.launch(library.sum_rows, [start, rows], block_dim=cores)
    want = start.copy()
    for row in rows:
        want = want + row
    np.testing.assert_array_equal(out, want)


@pytest.mark.usefixtures("threads")
@pytest.mark.parametrize("cores", [1, 40])
def test_atomic_add_before_a_flag(runtime: Runtime, library: ctypes.CDLL, cores: int) -> None:
    """The same with a flag between cores; a core sees its own sums before it waits."""
    rows = np.random.default_rng(3).standard_normal((cores, ROW)).astype(np.float32)
    zeros = np.zeros((cores, 2, ROW), np.float32)
    sums = np.zeros((cores + 1, ROW), np.float32)
    out, *_ = runtime.launch(library.sum_rows_flag, [zeros, rows, sums], block_dim=cores)
    want = np.zeros(ROW, np.float32)
    for row in rows:
        want = want + row
    np.testing.assert_array_equal(out.reshape(zeros.shape)[:, 0], np.tile(want, (cores, 1)))
    np.testing.assert_array_equal(out.reshape(zeros.shape)[:, 1], rows)


def test_atomic_max(runtime: Runtime, library: ctypes.CDLL) -> None:
    """The greatest of what was there and all rows."""
    rows = np.random.default_rng(4).standard_normal((24, ROW)).astype(np.float32)
    start = np.full(ROW, 0.5, np.float32)
    out, *_ = runtime.launch(library.max_rows, [start, rows], block_dim=24)
    np.testing.assert_array_equal(out, np.maximum(start, rows.max(axis=0)))


def test_cleaned_scalar_write(runtime: Runtime, library: ctypes.CDLL) -> None:
    """A scalar write that was cleaned before SyncAll is seen by the others."""
    zeros = np.zeros((8, ROW), np.float32)
    out, *_ = runtime.launch(library.scalar_exchange, [zeros, zeros, zeros], block_dim=8)
    np.testing.assert_array_equal(out.reshape(8, ROW)[:, 0], np.arange(8)[::-1])


@pytest.mark.plants_faults
@pytest.mark.usefixtures("threads")
def test_a_core_that_does_not_come(runtime: Runtime, library: ctypes.CDLL) -> None:
    """Hardware hangs; here the report names the core that left."""
    with pytest.raises(KernelError, match=r"\[deadlock\][\s\S]*waits for core 1 of 6"):
        runtime.launch(library.sync_missing, [np.zeros(8, np.float32)], block_dim=6)


@pytest.mark.plants_faults
def test_more_blocks_than_cores(runtime: Runtime, library: ctypes.CDLL) -> None:
    """The rest would only start when the first have ended."""
    rows = np.zeros((100, ROW), np.float32)
    with pytest.raises(KernelError, match=r"\[syncall-cores\] in"):
        runtime.launch(library.exchange, [rows, rows, rows], block_dim=100)


@pytest.mark.usefixtures("threads")
@pytest.mark.parametrize("cores", [1, 2, 40])
def test_block_marks(runtime: Runtime, library: ctypes.CDLL, cores: int) -> None:
    """IBSet lets the core go on that waits for the same block and event."""
    row = np.arange(ROW, dtype=np.float32)
    marks = np.zeros((4 * cores + cores + 1) * 8, np.int32)
    zeros = np.zeros((cores, ROW), np.float32)
    out, *_ = runtime.launch(library.hand_on, [zeros, row, marks], block_dim=cores)
    np.testing.assert_array_equal(out, row + 1 + np.arange(cores, dtype=np.float32)[:, None])


@pytest.mark.usefixtures("threads")
@pytest.mark.parametrize("cores", [1, 24])
def test_turns(runtime: Runtime, library: ctypes.CDLL, cores: int) -> None:
    """WaitPreBlock and NotifyNextBlock: blocks in ascending order, so float sums have one too."""
    rows = np.random.default_rng(8).standard_normal((cores, ROW)).astype(np.float32)
    marks = np.zeros(cores * 8, np.int32)
    zeros = np.zeros((2, ROW), np.float32)
    out, *_ = runtime.launch(library.in_turns, [zeros, rows, marks], block_dim=cores)
    want = np.zeros(ROW, np.float32)
    for row in rows:
        want = want + row
    np.testing.assert_array_equal(out, np.stack([want, want]))


@pytest.mark.plants_faults
def test_no_mark(runtime: Runtime, library: ctypes.CDLL) -> None:
    """Hardware hangs in IBWait; a workspace that is too small is found at once."""
    with pytest.raises(KernelError, match=r"\[deadlock\][\s\S]*IBWait waits for an IBSet"):
        runtime.launch(library.no_mark, [np.zeros(64, np.int32)], block_dim=4)
    with pytest.raises(KernelError, match=r"\[block-event\][\s\S]*IBSet of block 4"):
        runtime.launch(library.no_block, [np.zeros(64, np.int32)], block_dim=4)
    with pytest.raises(KernelError, match=r"\[gm-out-of-bounds\][\s\S]*gmWorkspace"):
        runtime.launch(library.no_mark, [np.zeros(8, np.int32)], block_dim=4)


def test_bypass(runtime: Runtime, library: ctypes.CDLL) -> None:
    """Accesses past the data cache are seen without cleaning it."""
    out, *_ = runtime.launch(library.bypass, [np.zeros(8, np.int32), np.full(8, 41, np.int32)])
    assert out[0] == 42


@pytest.mark.usefixtures("threads")
@pytest.mark.parametrize("cores", [1, 2, 24])
def test_handshake_past_the_data_cache(runtime: Runtime, library: ctypes.CDLL, cores: int) -> None:
    """A core that reads the mark comes after the core that wrote it, on one host thread too."""
    rows = np.random.default_rng(5).standard_normal((cores, ROW)).astype(np.float32)
    zeros = np.zeros_like(rows)
    mark = np.zeros(16, np.int32)
    out, *_ = runtime.launch(library.handshake, [zeros, rows, zeros, mark], block_dim=cores)
    np.testing.assert_array_equal(out, rows)


@pytest.mark.plants_faults
@pytest.mark.usefixtures("threads")
def test_polling_in_vain(runtime: Runtime, library: ctypes.CDLL) -> None:
    with pytest.raises(KernelError, match=r"\[deadlock\][\s\S]*reads the same value again and"):
        runtime.launch(library.handshake_in_vain, [np.zeros(16, np.int32)], block_dim=5)


@pytest.mark.plants_faults
def test_reading_without_a_handshake(runtime: Runtime, library: ctypes.CDLL) -> None:
    """One look at memory that another core writes orders nothing."""
    with pytest.raises(KernelError, match=r"\[gm-conflict\]"):
        zeros = np.zeros(16, np.int32)
        runtime.launch(library.no_handshake, [zeros, zeros], block_dim=2)
