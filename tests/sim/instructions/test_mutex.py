# SPDX-License-Identifier: Apache-2.0
"""Mutexes of Ascend 950: pipes take turns by them, and each mistake is found as what it is."""

from __future__ import annotations

import ctypes
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from instructions.bench import KernelError, Runtime, compile_kernel
from instructions.test_cube_950 import SOC

FAULTS = {
    "in_without": ("race-write-after-read", "HardEvent::V_MTE2"),
    "compute_without": ("race-read-after-write", "HardEvent::MTE2_V"),
    "out_without": ("race-read-after-write", "HardEvent::V_MTE3"),
    "other_id": ("race-read-after-write", "HardEvent::MTE2_V"),
    "same_pipe": ("race-write-after-write", "PipeBarrier<PIPE_MTE2>"),
    "unlock_first": ("mutex-use", "Unlock of mutex 3 for VECTOR, which is not locked"),
    "lock_twice": ("mutex-use", "Lock of mutex 3, which MTE2 has locked and not unlocked"),
    "other_pipe": ("mutex-use", "Unlock of mutex 3 for VECTOR, which MTE2 has locked"),
    "never_unlocked": ("mutex-use", "mutex 3 is never unlocked"),
    "no_such_id": ("mutex-use", "Mutex::Lock of mutex 32, and there are 32"),
    "exhausted": ("mutex-use", "all 28 are allocated"),
    "released_twice": ("mutex-use", "mutex 0, which is not allocated"),
}


@pytest.fixture(scope="module")
def library(toolkit: Path, tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """The kernels of mutex.cpp."""
    folder = tmp_path_factory.mktemp("mutex")
    return ctypes.CDLL(str(compile_kernel(toolkit, folder, "mutex", "-O1", "-g", soc="ascend950")))


@pytest.fixture(autouse=True)
def on_950(runtime: Runtime) -> Iterator[None]:
    """Runs on an Ascend 950."""
    with runtime.options(soc=SOC):
        yield


def launch(runtime: Runtime, library: ctypes.CDLL, name: str) -> tuple[np.ndarray, np.ndarray]:
    """The input, and what the kernel makes of it."""
    x = np.arange(6 * 64, dtype=np.float32)
    (got,) = runtime.launch(library[name], [x, np.zeros_like(x)], outputs=[1])
    return x, got


@pytest.mark.parametrize("chaos", ["0", "1", "2", "3", "4", "5", "6", "7", "23"])
@pytest.mark.parametrize("name", ["right", "by_allocated_ids"])
def test_without_a_mistake(runtime: Runtime, library: ctypes.CDLL, name: str, chaos: str) -> None:
    with runtime.options(chaos=chaos):
        x, got = launch(runtime, library, name)
    np.testing.assert_array_equal(got, x + 1)


@pytest.mark.parametrize("chaos", ["0", "1", "4", "23"])
def test_a_pipe_that_comes_late(runtime: Runtime, library: ctypes.CDLL, chaos: str) -> None:
    with runtime.options(chaos=chaos):
        x, got = launch(runtime, library, "late_comer")
    np.testing.assert_array_equal(got, np.tile(x[:64] + 1, 6))


@pytest.mark.plants_faults
@pytest.mark.parametrize("name", FAULTS)
def test_mistake(runtime: Runtime, library: ctypes.CDLL, name: str) -> None:
    kind, text = FAULTS[name]
    with pytest.raises(KernelError) as caught:
        launch(runtime, library, name)
    assert f"[{kind}]" in str(caught.value)
    assert text in str(caught.value)


@pytest.mark.plants_faults
def test_ids_of_the_system_are_a_hint(runtime: Runtime, library: ctypes.CDLL) -> None:
    runtime.lib.aclsimClearFindings()
    x, got = launch(runtime, library, "reserved")
    np.testing.assert_array_equal(got, x + 1)
    (found,) = json.loads(runtime.lib.aclsimFindings())
    assert (found["kind"], found["severity"]) == ("mutex-use", "hint")


@pytest.mark.plants_faults
def test_other_architectures_have_none(
    toolkit: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    text = (
        '#include "kernel_operator.h"\nextern "C" __global__ __aicore__ void refused() {\n'
        "  AscendC::Mutex::Lock<PIPE_V>(0);\n}\n"
    )
    with pytest.raises(subprocess.CalledProcessError):
        compile_kernel(toolkit, tmp_path, "refused", "-O0", "-w", text=text)
    assert "Mutex is of Ascend 950 alone" in capfd.readouterr().err
