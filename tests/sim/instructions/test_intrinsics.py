# SPDX-License-Identifier: Apache-2.0
"""The device compiler's own functions do what the API does with the same operands."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest

from instructions.bench import AREA, Bench, Call, KernelError, Runtime, area, compile_kernel

HALF = AREA // 2
CASES = [*range(18), *range(20, 26), *range(30, 36), *range(40, 46), *range(50, 59)]
CASES += [*range(60, 67), *range(70, 87)]


@pytest.fixture(scope="module")
def intrinsics(toolkit: Path, runtime: Runtime, tmp_path_factory: pytest.TempPathFactory) -> Bench:
    """The kernels of intrinsics.cpp."""
    path = compile_kernel(toolkit, tmp_path_factory.mktemp("intrinsics"), "intrinsics")
    return Bench(runtime, {"intrinsics": ctypes.CDLL(str(path))})


def test_same_as_the_api(intrinsics: Bench) -> None:
    """Strides, masks and rounding reach the instruction unchanged."""
    rng = np.random.default_rng(1)
    a = rng.normal(0, 4, 2048).astype(np.float32)
    a[::7] = 0.5
    for case in CASES:
        # Half of it equal for Compare, or the offsets of a gather.
        b = np.where(np.arange(2048) % 2 == 0, a, rng.permutation(a))
        if case == 73:
            b = rng.integers(0, 2048, 2048, np.uint32) * 4
        source = a.astype(np.float16) if case in (50, 58) else a
        zeros = np.zeros(AREA, np.uint8)
        got = intrinsics.run("intrinsics:intrinsic", Call(op=case), zeros, area(source), area(b))
        np.testing.assert_array_equal(got[:HALF], np.roll(got, -HALF)[:HALF], str(case))
        assert got[:HALF].any(), case


MISUSES = {90: "no buffer holds", 91: "past the end", 92: "ub-misaligned"}


@pytest.mark.plants_faults
@pytest.mark.parametrize("case", MISUSES)
def test_misuse(intrinsics: Bench, case: int) -> None:
    """Addresses are checked as tensors are."""
    a = area(np.zeros(64, np.float32))
    with pytest.raises(KernelError, match=MISUSES[case]):
        intrinsics.run("intrinsics:intrinsic", Call(op=case), a, a, a)


@pytest.mark.plants_faults
def test_a_queue_with_two_ways(intrinsics: Bench) -> None:
    """Each EnQue orders the pipes of its own way; without positions it is the queue's two ends."""
    runtime = intrinsics.runtime
    entry = intrinsics.libraries["intrinsics"]["two_ways"]
    a = np.arange(256, dtype=np.float32)
    with runtime.options(mode="checked"):
        got = runtime.launch(entry, [np.zeros_like(a), a, Call().pack()])[0]
        np.testing.assert_array_equal(got, a + 1)
        # Both ends in UB: MTE2 before MTE3, as without positions.
        got = runtime.launch(entry, [np.zeros_like(a), a, Call(mode=2).pack()])[0]
        np.testing.assert_array_equal(got, a)
        with pytest.raises(KernelError, match="race"):
            runtime.launch(entry, [np.zeros_like(a), a, Call(mode=1).pack()])


def test_cores_are_counted(intrinsics: Bench) -> None:
    """As GetBlockIdx and GetBlockNum count them."""
    entry = intrinsics.libraries["intrinsics"]["cores"]
    got = intrinsics.runtime.launch(entry, [np.zeros((3, 16), np.int32)], block_dim=3)[0]
    np.testing.assert_array_equal(got.reshape(3, 16)[:, :4], [[core, 3, 0, 1] for core in range(3)])


@pytest.mark.plants_faults
def test_system_workspace(intrinsics: Bench) -> None:
    """It is what SetSysWorkspace got in this launch; before that it is not null and not memory."""
    runtime = intrinsics.runtime
    entry = intrinsics.libraries["intrinsics"]["system_workspace"]
    unset = [np.zeros(16, np.int32), Call(mode=1).pack()]
    with pytest.raises(KernelError, match="the element starts at 0x1000, outside"):
        runtime.launch(entry, unset)
    got = runtime.launch(entry, [np.zeros(16, np.int32), Call().pack()])[0]
    assert got[0] == 3
    with pytest.raises(KernelError, match="the element starts at 0x1000, outside"):
        runtime.launch(entry, unset)
