# SPDX-License-Identifier: Apache-2.0
"""The matrix unit: each mistake of a list is found as what it is; without one nothing is."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest

from instructions import cube_model as model
from instructions.bench import KernelError, Runtime, compile_kernel

CUBE = "-D__DAV_C220_CUBE__"
FAULTS = {
    "no_mte2_mte1": ("race-read-after-write", "HardEvent::MTE2_MTE1"),
    "no_mte1_m": ("race-read-after-write", "HardEvent::MTE1_M"),
    "no_m_fix": ("race-read-after-write", "HardEvent::M_FIX"),
    "no_m_mte1": ("race-write-after-read", "HardEvent::M_MTE1"),
    "no_barrier": ("race-write-after-write", "PipeBarrier<PIPE_M>"),
    "no_fix_m": ("race-write-after-read", "HardEvent::FIX_M"),
    "read_before_fix": ("race-read-after-write", "HardEvent::FIX_MTE2"),
    "first_adds_up": ("undefined-read", "L0C"),
    "too_few_repeats": ("undefined-read", "L0A"),
    "columns_behind_n": ("undefined-read", "L0C"),
    "past_l1": ("ub-out-of-bounds", "L1 523264"),
    "misaligned": ("ub-misaligned", "L0A byte 32"),
    "from_l0c": ("instruction-absent", "src lies in L0C"),
    "flag_not_taken": ("flag-leak", "never cleared"),
    "flag_not_set": ("deadlock", "unit flag"),
    "flag_of_other_size": ("value-range", "drains 2048 B"),
    "long_pitch": ("value-range", "srcDValue"),
    "short_src_stride": ("value-range", "srcStride"),
    "short_dst_stride": ("value-range", "dstStride"),
    "high_repeat": ("value-range", "repeatTimes"),
    "bias_dropped": ("value-range", "cmatrixInitVal"),
    "sign_forgotten": ("value-range", "bit 46"),
    "wrong_types": ("dtype-unsupported", "F322F16"),
    "short_parameters": ("ub-out-of-bounds", "the quantisation tensor"),
    "vector_code": ("instruction-absent", "VECTOR"),
    "vector_event": ("event-id-range", "on an AIC, which has no pipe V"),
    "pad_copy": ("instruction-absent", "DataCopyPad"),
    "no_pitch": ("value-range", "srcDValue"),
    "no_buffer": ("ub-never-allocated", "never given a buffer"),
    "too_much": ("ub-overflow", "of L0C wanted"),
}


@pytest.fixture(scope="module")
def library(toolkit: Path, tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """The kernels of cube_faults.cpp."""
    folder = tmp_path_factory.mktemp("cube_faults")
    return ctypes.CDLL(str(compile_kernel(toolkit, folder, "cube_faults", "-O1", "-g", CUBE)))


def operands() -> tuple[list[model.Array], model.Array]:
    """Both, as L0 has them, the output, and what it must be."""
    rng = np.random.default_rng(1)
    a, b = (rng.integers(-4, 5, (32, 32)).astype(np.float16) for _ in range(2))
    arrays = [model.fractals(a, "zz"), model.fractals(b, "zn"), np.zeros((32, 32), np.float32)]
    return arrays, a.astype(np.float32) @ b.astype(np.float32)


@pytest.mark.parametrize("chaos", ["0", "1", "2", "3", "4", "5", "6", "7", "23"])
@pytest.mark.parametrize("name", ["right", "by_queues"])
def test_without_a_mistake(runtime: Runtime, library: ctypes.CDLL, name: str, chaos: str) -> None:
    arrays, want = operands()
    with runtime.options(chaos=chaos):
        (got,) = runtime.launch(library[name], arrays, outputs=[2])
    np.testing.assert_array_equal(got, want)


@pytest.mark.plants_faults
@pytest.mark.parametrize("name", FAULTS)
def test_mistake(runtime: Runtime, library: ctypes.CDLL, name: str) -> None:
    kind, text = FAULTS[name]
    arrays, _ = operands()
    with pytest.raises(KernelError) as caught:
        runtime.launch(library[name], arrays, outputs=[2])
    assert f"[{kind}]" in str(caught.value), str(caught.value)
    assert text in str(caught.value), str(caught.value)


@pytest.mark.plants_faults
@pytest.mark.parametrize("name", ["no_buffer", "no_pitch"])
def test_what_hardware_does_is_done(runtime: Runtime, library: ctypes.CDLL, name: str) -> None:
    """A result without a buffer is at address 0 of L0C, and one row has no pitch: kernels of
    sgl-kernel-npu count on both.
    """
    arrays, want = operands()
    with runtime.options(findings="warn"):
        (got,) = runtime.launch(library[name], arrays, outputs=[2])
    np.testing.assert_array_equal(got, want)


@pytest.mark.plants_faults
def test_cube_code_on_a_vector_core(runtime: Runtime, toolkit: Path, tmp_path: Path) -> None:
    """A kernel that was compiled for AIVs."""
    path = compile_kernel(toolkit, tmp_path, "cube_faults", "-O1", "-g", "-Wno-unused")
    arrays, _ = operands()
    library = ctypes.CDLL(str(path))
    with pytest.raises(KernelError, match="SetFixpipeNz2ndFlag is an instruction of the matrix"):
        runtime.launch(library["nz2nd"], arrays, outputs=[2])
    # A bit of a register that AIVs have too.
    runtime.launch(library["mode"], arrays, outputs=[2])
