# SPDX-License-Identifier: Apache-2.0
"""Cast between float or half and the 8-bit floating-point types of Ascend 950, by tensors."""

from __future__ import annotations

import ctypes
from pathlib import Path

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest

from instructions.bench import KernelError, Runtime, compile_kernel
from instructions.test_cube_950 import SOC, hif8, to_hif8

COUNT = 1024
SOURCE = """
#include "kernel_operator.h"
using namespace AscendC;
template <typename T, typename U>
void Run(GM_ADDR in, GM_ADDR out, RoundMode mode) {
  constexpr uint32_t kCount = 1024;
  GlobalTensor<U> from;
  GlobalTensor<T> to;
  from.SetGlobalBuffer(reinterpret_cast<__gm__ U*>(in), kCount);
  to.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(out), kCount);
  const LocalTensor<U> source(TPosition::VECIN, 0, kCount);
  const LocalTensor<T> result(TPosition::VECOUT, 8192, kCount);
  DataCopy(source, from, kCount);
  PipeBarrier<PIPE_ALL>();
  Cast(result, source, mode, kCount);
  PipeBarrier<PIPE_ALL>();
  DataCopy(to, result, kCount);
}
#define CAST(name, T, U, mode)                                             \\
  extern "C" __global__ __aicore__ void name(GM_ADDR in, GM_ADDR out) {    \\
    Run<T, U>(in, out, RoundMode::mode);                                   \\
  }
CAST(to_e4m3, fp8_e4m3fn_t, float, CAST_RINT)
CAST(to_e5m2, fp8_e5m2_t, float, CAST_RINT)
CAST(to_hif8, hifloat8_t, float, CAST_ROUND)
CAST(half_to_hif8, hifloat8_t, half, CAST_ROUND)
CAST(from_e4m3, float, fp8_e4m3fn_t, CAST_NONE)
CAST(from_e5m2, float, fp8_e5m2_t, CAST_NONE)
CAST(from_hif8, float, hifloat8_t, CAST_NONE)
CAST(half_from_hif8, half, hifloat8_t, CAST_NONE)
CAST(wrong_mode, fp8_e4m3fn_t, float, CAST_FLOOR)
CAST(random_mode, hifloat8_t, float, CAST_HYBRID)
"""


@pytest.fixture(scope="module")
def library(toolkit: Path, tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """One kernel for each pair of types."""
    folder = tmp_path_factory.mktemp("narrow_casts")
    path = compile_kernel(
        toolkit, folder, "narrow_casts", "-O1", "-g", soc="ascend950", text=SOURCE
    )
    return ctypes.CDLL(str(path))


def run(
    runtime: Runtime, library: ctypes.CDLL, name: str, values: npt.NDArray[np.generic], out: object
) -> npt.NDArray[np.generic]:
    """The result's elements."""
    with runtime.options(soc=SOC):
        arrays = [values, np.zeros(COUNT, np.dtype(out))]  # type: ignore[call-overload]
        (got,) = runtime.launch(library[name], arrays, outputs=[1])
    result: npt.NDArray[np.generic] = got
    return result


def numbers(dtype: npt.DTypeLike) -> npt.NDArray[np.generic]:
    """Of all sizes that the types have, ties and what is beyond them among these."""
    rng = np.random.default_rng(1)
    values = (
        rng.uniform(1, 2, COUNT) * 2.0 ** rng.integers(-14, 15, COUNT) * rng.choice([-1, 1], COUNT)
    )
    values[:6] = [0, 1.0625, 1.1875, 448, 6e4, 1 / 512]
    return values.astype(dtype)


@pytest.mark.parametrize("name", ["to_e4m3", "to_e5m2"])
def test_to_fp8(runtime: Runtime, library: ctypes.CDLL, name: str) -> None:
    """Ties to even; what is too large becomes the largest number."""
    dtype = ml_dtypes.float8_e4m3fn if name == "to_e4m3" else ml_dtypes.float8_e5m2
    values = numbers(np.float32)
    largest = np.float32(448 if name == "to_e4m3" else 57344)
    want = np.clip(values, -largest, largest).astype(dtype).view(np.uint8)
    np.testing.assert_array_equal(run(runtime, library, name, values, np.uint8), want)


@pytest.mark.parametrize("name", ["to_hif8", "half_to_hif8"])
def test_to_hifloat8(runtime: Runtime, library: ctypes.CDLL, name: str) -> None:
    """Ties away from 0."""
    values = numbers(np.float16 if name.startswith("half") else np.float32)
    got = run(runtime, library, name, values, np.uint8)
    np.testing.assert_array_equal(got, to_hif8(values.astype(np.float32)))


@pytest.mark.parametrize("name", ["from_e4m3", "from_e5m2", "from_hif8", "half_from_hif8"])
def test_from_8_bits(runtime: Runtime, library: ctypes.CDLL, name: str) -> None:
    codes = np.tile(np.arange(256, dtype=np.uint8), COUNT // 256)
    out = np.float16 if name.startswith("half") else np.float32
    fp8 = {"from_e4m3": ml_dtypes.float8_e4m3fn, "from_e5m2": ml_dtypes.float8_e5m2}
    want = codes.view(fp8[name]).astype(out) if name in fp8 else hif8(codes).astype(out)
    np.testing.assert_array_equal(run(runtime, library, name, codes, out), want)


@pytest.mark.plants_faults
@pytest.mark.parametrize(("name", "mode"), [("wrong_mode", "FLOOR"), ("random_mode", "HYBRID")])
def test_other_modes(runtime: Runtime, library: ctypes.CDLL, name: str, mode: str) -> None:
    with pytest.raises(KernelError, match=rf"(?s)cast-unsupported\].* with CAST_{mode} on {SOC}"):
        run(runtime, library, name, numbers(np.float32), np.uint8)
