# SPDX-License-Identifier: Apache-2.0
"""Products of MX types that vector cores of Ascend 950 ask their AIC for, against float64: in GM,
and in fractals in UB and TSCM.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from instructions.bench import KernelError, Runtime
from instructions.mix_library import A5, mixed_library
from instructions.test_cube_950 import SOC
from instructions.test_matmul_mx import KERNELS, TILES, TRANSPOSES, Array, Mx
from instructions.test_mix_matmul import ONE, TWO

ROOM = 16 * 1024 * 1024  # of the workspace
KERNELS |= {
    "mix_e4m3": ("e4m3", "e4m3", np.float32, np.float32),
    "mix_e2m1": ("e2m1", "e2m1", np.float32, np.float32),
    "ub_e1m2_nz": ("e1m2", "e1m2", np.float32, np.float32),
    "ub_e5m2_nz": ("e5m2", "e5m2", np.float32, np.float32),
    "tscm_e1m2_nz": ("e1m2", "e1m2", np.float32, np.float32),
    "tscm_e5m2_nz": ("e5m2", "e5m2", np.float32, np.float32),
}


@pytest.fixture(scope="module")
def library(toolkit: Path, tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """The kernels of mix_matmul_mx.cpp."""
    folder = tmp_path_factory.mktemp("mix_matmul_mx")
    return mixed_library(toolkit, folder, "mix_matmul_mx", A5)


@pytest.fixture(autouse=True)
def on_950(runtime: Runtime) -> Iterator[None]:
    """The SoC of this file."""
    with runtime.options(soc=SOC):
        yield


def run(runtime: Runtime, library: ctypes.CDLL, mx: Mx, key: int = TWO) -> Array:
    """C."""
    arrays = [*mx.arrays(), np.zeros(ROOM, np.uint8)]
    blocks = -(-mx.numbers()["usedCoreNum"] // (key % 10))
    kernel = library[mx.kernel]
    (got,) = runtime.launch(kernel, arrays, outputs=[4], block_dim=blocks, key=key)
    return got.reshape(mx.m, mx.n)


def product(kernel: str, m: int, n: int, k: int, **more: Any) -> Mx:
    given: dict[str, Any] = {"base": (64, 64, 64)}
    return Mx(kernel, m, n, k, **(given | more))


@pytest.mark.parametrize("key", [ONE, TWO])
@pytest.mark.parametrize("parts", [(1, 1, 1), (2, 2, 1)])
@pytest.mark.parametrize(("m", "n", "k"), [(2, 2, 2), (33, 70, 166), (130, 100, 42)])
@pytest.mark.parametrize("kernel", ["mix_e4m3", "mix_e2m1"])
def test_to_gm(
    runtime: Runtime,
    library: ctypes.CDLL,
    kernel: str,
    m: int,
    n: int,
    k: int,
    parts: Any,
    key: int,
) -> None:
    mx = product(kernel, m, n, k, parts=parts, bias=np.float32)
    mx.check(run(runtime, library, mx, key))


@pytest.mark.parametrize(("trans_a", "trans_b"), TRANSPOSES)
@pytest.mark.parametrize(("trans_scale_a", "trans_scale_b"), TRANSPOSES)
def test_transposed(
    runtime: Runtime,
    library: ctypes.CDLL,
    trans_scale_a: bool,
    trans_scale_b: bool,
    trans_a: bool,
    trans_b: bool,
) -> None:
    mx = product("mix_e4m3", 70, 90, 150, parts=(2, 1, 1), way=TILES)
    mx.trans_a, mx.trans_b = trans_a, trans_b
    mx.trans_scale_a, mx.trans_scale_b = trans_scale_a, trans_scale_b
    mx.check(run(runtime, library, mx))


@pytest.mark.parametrize("chaos", ["0", "2", "5"])
@pytest.mark.parametrize(("trans_a", "trans_b"), TRANSPOSES)
@pytest.mark.parametrize("kernel", ["ub_e1m2_nz", "ub_e5m2_nz", "tscm_e1m2_nz", "tscm_e5m2_nz"])
def test_fractals_of_vector_cores(
    runtime: Runtime, library: ctypes.CDLL, kernel: str, trans_a: bool, trans_b: bool, chaos: str
) -> None:
    """Of A, B and the scales: M and N ragged, two AIVs with whole columns of fractals of B."""
    mx = product(kernel, 75, 150, 192, trans_a=trans_a, trans_b=trans_b)
    mx.tiling = {} if trans_b else {"singleCoreN": 128, "usedCoreNum": 2}
    with runtime.options(chaos=chaos, mode="checked"):
        mx.check(run(runtime, library, mx))


@pytest.mark.plants_faults
def test_part_of_k_is_even(runtime: Runtime, library: ctypes.CDLL) -> None:
    for kernel in ("ub_e5m2_nz", "tscm_e5m2_nz"):
        mx = product(kernel, 32, 64, 70, trans_b=True)
        with pytest.raises(KernelError, match=r"matmul-use[\s\S]*K is 70: where A or B lies in UB"):
            run(runtime, library, mx)
    mx = product("tscm_e5m2_nz", 32, 64, 100)
    with pytest.raises(KernelError, match=r"matmul-use[\s\S]*K is 100: where rows in TSCM are"):
        run(runtime, library, mx)
    mx = product("ub_e5m2_nz", 32, 64, 100)
    mx.check(run(runtime, library, mx))
    mx = product("tscm_e5m2_nz", 32, 64, 100, trans_b=True)
    mx.check(run(runtime, library, mx))
