# SPDX-License-Identifier: Apache-2.0
"""The matrix unit of Ascend 950: each mistake is found as what it is; without one nothing is."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Iterator
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from instructions import cube_model as model
from instructions.bench import KernelError, Runtime, compile_kernel
from instructions.test_cube_950 import CUBE, SOC, scale_fractals, scaled

FAULTS = {
    "no_mte2_mte1": ("race-read-after-write", "HardEvent::MTE2_MTE1"),
    "no_mte1_m": ("race-read-after-write", "HardEvent::MTE1_M"),
    "no_m_fix": ("race-read-after-write", "HardEvent::M_FIX"),
    "no_m_mte1": ("race-write-after-read", "HardEvent::M_MTE1"),
    "no_barrier": ("race-write-after-write", "PipeBarrier<PIPE_M>"),
    "first_adds_up": ("undefined-read", "L0C"),
    "scales_forgotten": ("undefined-read", "L0A_MX"),
    "short_window": ("undefined-read", "L0A"),
    "window_past_tensor": ("ub-out-of-bounds", "src"),
    "overlapping_columns": ("value-range", "dstStride"),
    "odd_k": ("value-range", "no multiple of 64"),
    "address_of_512": ("ub-misaligned", "L0A byte 512"),
    "past_l0c": ("ub-out-of-bounds", "L0C 260096"),
    "from_gm": ("instruction-absent", "no copy from GM to L0A"),
    "to_gm": ("instruction-absent", "no copy from L1 to GM"),
    "gap": ("instruction-absent", "gaps of transposing LoadData (L1 to L0A) does not exist"),
    "transposed_a": ("instruction-absent", "LoadDataWithTranspose (L1 to L0A) does not exist"),
    "fill_a": ("instruction-absent", "InitConstValue of L0A does not exist"),
    "sparse": ("instruction-absent", "MmadWithSparse does not exist on Ascend950"),
    "boundary": ("instruction-absent", "SetLoadDataBoundary does not exist"),
    "feature_map": ("instruction-absent", "without SetLoadDataRepeatWithStride"),
    "hybrid": ("instruction-absent", "whose rounding is random"),
    "short_columns": ("value-range", "dstStride"),
    "short_dst_stride": ("value-range", "elements"),
    "wrong_types": ("dtype-unsupported", "QS322BF16_PRE"),
    "odd_table": ("value-range", "no multiple of 64"),
}
# Calls that do not compile, and what the compiler is to say.
REFUSED = {
    "int4b_t does not exist on architecture 3510": """
  const LocalTensor<int4b_t> a(TPosition::A2, 0, 64), b(TPosition::B2, 0, 64);
  const LocalTensor<int32_t> c(TPosition::CO1, 0, 256);
  Mmad(c, a, b, MmadParams(16, 16, 64, 0, false, true));""",
    "a GlobalTensor lies in GM, and config says UB": """
  static constexpr FixpipeConfig kToUb = {CO2Layout::ROW_MAJOR, true};
  const LocalTensor<float> c(TPosition::CO1, 0, 256);
  Fixpipe<float, float, kToUb>(GlobalTensor<float>(), c,
                               FixpipeParamsArch3510<CO2Layout::ROW_MAJOR>(16, 16, 16, 16));""",
}


@pytest.fixture(scope="module")
def library(toolkit: Path, tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """The kernels of cube_950_faults.cpp."""
    folder = tmp_path_factory.mktemp("cube_950_faults")
    path = compile_kernel(toolkit, folder, "cube_950_faults", "-O1", "-g", CUBE, soc="ascend950")
    return ctypes.CDLL(str(path))


@pytest.fixture(autouse=True)
def on_950(runtime: Runtime) -> Iterator[None]:
    """The SoC of this file."""
    with runtime.options(soc=SOC):
        yield


def operands() -> tuple[list[model.Array], model.Array]:
    """Both in NZ, their scales, the output, and what it must be."""
    rng = np.random.default_rng(1)
    a, b = (
        rng.integers(-4, 5, size).astype(ml_dtypes.float8_e4m3fn) for size in ((32, 64), (64, 32))
    )
    of_m, of_n = (rng.integers(125, 130, (32, 2)).astype(np.uint8) for _ in range(2))
    scales = np.concatenate([scale_fractals(of_m), scale_fractals(of_n)])
    right = np.ascontiguousarray(b.T)
    arrays = [model.to_nz(a), model.to_nz(right), scales, np.zeros((32, 32), np.float32)]
    left = scaled(a.astype(np.float32), of_m)
    return arrays, left @ scaled(right.astype(np.float32), of_n).T


@pytest.mark.parametrize("chaos", ["0", "1", "2", "3", "4", "5", "23"])
def test_without_a_mistake(runtime: Runtime, library: ctypes.CDLL, chaos: str) -> None:
    arrays, want = operands()
    with runtime.options(chaos=chaos):
        (got,) = runtime.launch(library["right"], arrays, outputs=[3])
    np.testing.assert_array_equal(got, want)


@pytest.mark.plants_faults
@pytest.mark.parametrize("name", FAULTS)
def test_mistake(runtime: Runtime, library: ctypes.CDLL, name: str) -> None:
    kind, text = FAULTS[name]
    arrays, _ = operands()
    with pytest.raises(KernelError) as caught:
        runtime.launch(library[name], arrays, outputs=[3])
    assert f"[{kind}]" in str(caught.value), str(caught.value)
    assert text in str(caught.value), str(caught.value)


@pytest.mark.plants_faults
@pytest.mark.parametrize("message", REFUSED)
def test_refused_by_the_compiler(
    toolkit: Path, tmp_path: Path, message: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """With the name of what is missing."""
    text = (
        '#include "kernel_operator.h"\nusing namespace AscendC;\n'
        f'extern "C" __global__ __aicore__ void refused() {{{REFUSED[message]}\n}}\n'
    )
    with pytest.raises(subprocess.CalledProcessError):
        compile_kernel(toolkit, tmp_path, "refused", "-O0", "-w", CUBE, soc="ascend950", text=text)
    assert message in capfd.readouterr().err
