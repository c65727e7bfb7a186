# SPDX-License-Identifier: Apache-2.0
"""Fractals in the order of another architecture, which no number that is multiplied tells of."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest

from instructions.bench import KernelError, Runtime
from instructions.mix_library import A2, A5, mixed_library
from instructions.test_mix_matmul import Array

ONE_AND_TWO = 12  # AIC and AIVs of an AI core, in the key
M, N, K = 32, 48, 64
pytestmark = pytest.mark.usefixtures("on_its_soc")


@pytest.fixture(scope="module")
def library(arch: str, toolkit: Path, tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """The kernel of fractal_order.cpp."""
    return mixed_library(toolkit, tmp_path_factory.mktemp("order"), "fractal_order", arch)


def launch(runtime: Runtime, library: ctypes.CDLL, *words: int) -> None:
    """Multiply, and compare with NumPy's product."""
    random = np.random.default_rng(3)
    a = random.standard_normal((M, K)).astype(np.float16)
    b = random.standard_normal((K, N)).astype(np.float16)
    given: Array = np.ascontiguousarray(a.T) if words[2] else a
    told = np.array([*words, 0][:4], np.int32)
    arrays: list[Array] = [given, b, np.zeros((M, N), np.float32), told]
    (got,) = runtime.launch(library["product"], arrays, outputs=[2], key=ONE_AND_TWO)
    np.testing.assert_allclose(got, a.astype(np.float64) @ b.astype(np.float64), atol=1e-4)


@pytest.mark.parametrize("is_transposed", [0, 1])
@pytest.mark.parametrize("chaos", ["0", "3"])
def test_order_of_the_architecture(
    runtime: Runtime, library: ctypes.CDLL, arch: str, is_transposed: int, chaos: str
) -> None:
    with runtime.options(chaos=chaos):
        launch(runtime, library, int(arch == A2), 0, is_transposed)


@pytest.mark.plants_faults
@pytest.mark.parametrize("is_transposed", [0, 1])
@pytest.mark.parametrize("chaos", ["0", "3"])
def test_a_in_the_other_order(
    runtime: Runtime, library: ctypes.CDLL, arch: str, is_transposed: int, chaos: str
) -> None:
    order = r"column by column \(NZ\)" if arch == A2 else r"row by row \(ZZ\)"
    text = (
        r"\[fractal-order\][\s\S]*LoadData, which put them there\n  at [^\n]*fractal_order.cpp:\d+"
        rf"[\s\S]*2 x 4 fractals of A lie in L0A {order}"
    )
    with runtime.options(chaos=chaos), pytest.raises(KernelError, match=text):
        launch(runtime, library, int(arch == A5), 0, is_transposed)


@pytest.mark.plants_faults
def test_b_in_the_other_order(runtime: Runtime, library: ctypes.CDLL, arch: str) -> None:
    with pytest.raises(
        KernelError, match=r"\[fractal-order\][\s\S]*4 x 3 fractals of B lie in L0B one column"
    ):
        launch(runtime, library, int(arch == A2), 1, 0)


@pytest.mark.plants_faults
def test_a_matrix_for_a_vector(runtime: Runtime, library: ctypes.CDLL, arch: str) -> None:
    with pytest.raises(
        KernelError, match=r"\[fractal-order\][\s\S]*m is 1, so Mmad takes A as a v"
    ):
        launch(runtime, library, int(arch == A2), 0, 0, 1)
