# SPDX-License-Identifier: Apache-2.0
"""Matmul of the high-level API on cube cores of Ascend 950: the kernels of matmul.cpp, by the ways
into L0 of that unit, against NumPy in float64.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from instructions.bench import KernelError, Runtime, compile_kernel
from instructions.test_cube_950 import CUBE, SOC
from instructions.test_matmul import (
    DENSE,
    SHAPES,
    TILES,
    TILINGS,
    TYPES,
    Product,
    compiler_says,
)

TRANSPOSES = [(False, False), (True, False), (False, True), (True, True)]
OF_950: dict[str, tuple[Any, Any, Any]] = {
    **TYPES,
    "e4m3_float": (ml_dtypes.float8_e4m3fn, np.float32, np.float32),
    "e5m2_half": (ml_dtypes.float8_e5m2, np.float16, np.float32),
}


@pytest.fixture(scope="module")
def library(toolkit: Path, tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """The kernels of matmul.cpp, for the other unit."""
    folder = tmp_path_factory.mktemp("matmul_950")
    path = compile_kernel(toolkit, folder, "matmul", "-O1", "-g", CUBE, soc="ascend950")
    return ctypes.CDLL(str(path))


@pytest.fixture(autouse=True)
def on_950(runtime: Runtime) -> Iterator[None]:
    """The SoC of this file."""
    with runtime.options(soc=SOC):
        yield


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("trans_a", "trans_b"), TRANSPOSES)
@pytest.mark.parametrize("kernel", OF_950)
def test_types_and_transposes(
    runtime: Runtime,
    library: ctypes.CDLL,
    kernel: str,
    trans_a: bool,
    trans_b: bool,
    shape: tuple[int, int, int],
) -> None:
    """Tails of M, N and K, with a bias on every other shape."""
    src, out, bias = OF_950[kernel]
    with_bias = bias if SHAPES.index(shape) % 2 else None
    product = Product(kernel, *shape, src, out, trans_a=trans_a, trans_b=trans_b, bias=with_bias)
    product.check(product.run(runtime, library))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("trans_a", "trans_b"), TRANSPOSES)
@pytest.mark.parametrize(
    ("kernel", "of_a", "of_b"),
    [
        ("e4m3_e5m2", ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2),
        ("e5m2_e4m3", ml_dtypes.float8_e5m2, ml_dtypes.float8_e4m3fn),
    ],
)
def test_two_types_of_fp8(
    runtime: Runtime,
    library: ctypes.CDLL,
    kernel: str,
    of_a: Any,
    of_b: Any,
    trans_a: bool,
    trans_b: bool,
    shape: tuple[int, int, int],
) -> None:
    product = Product(kernel, *shape, of_a, trans_a=trans_a, trans_b=trans_b, bias=np.float32)
    product.b = product.b.astype(of_b)
    product.check(product.run(runtime, library))


COLUMNS = {
    "columns_half": (np.float16, np.float32, np.float32),
    "columns_float": (np.float32, np.float16, np.float32),
    "columns_int8": (np.int8, np.int32, np.int32),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("trans_a", "trans_b"), TRANSPOSES)
@pytest.mark.parametrize("kernel", COLUMNS)
def test_columns_one_behind_the_other(
    runtime: Runtime,
    library: ctypes.CDLL,
    kernel: str,
    trans_a: bool,
    trans_b: bool,
    shape: tuple[int, int, int],
) -> None:
    """COLUMN_MAJOR of A, B and C; a transpose has rows again."""
    src, out, bias = COLUMNS[kernel]
    product = Product(
        kernel, *shape, src, out, trans_a=trans_a, trans_b=trans_b, columns=True, bias=bias
    )
    product.check(product.run(runtime, library))


@pytest.mark.parametrize("parts", [(2, 3, 1), (1, 1, 2)])
@pytest.mark.parametrize("chaos", ["0", "2"])
def test_columns_of_parts(
    runtime: Runtime, library: ctypes.CDLL, parts: tuple[int, int, int], chaos: str
) -> None:
    """Each core's part of C, or of K, tile by tile and added up."""
    told = {"atomic": 1}
    product = Product("columns_half", 150, 170, 96, parts=parts, columns=True, way=TILES, told=told)
    with runtime.options(chaos=chaos):
        product.check(product.run(runtime, library))


def test_columns_of_tiles_one_behind_the_other(runtime: Runtime, library: ctypes.CDLL) -> None:
    """enSequentialWrite: as many elements to a column as the tile has rows."""
    product = Product("columns_half", 50, 100, 50, columns=True, way=DENSE)
    got = product.run(runtime, library, elements=4 * 32 * 64).reshape(4, -1)
    plain = Product("columns_half", 50, 100, 50, columns=True).run(runtime, library)
    for number, (row, column) in enumerate([(0, 0), (32, 0), (0, 64), (32, 64)]):
        tile = plain[row : row + 32, column : column + 64]
        np.testing.assert_array_equal(got[number, : tile.size], tile.T.reshape(-1))


@pytest.mark.parametrize("kernel", ["columns_to_rows", "rows_to_columns"])
def test_one_of_them_in_columns(runtime: Runtime, library: ctypes.CDLL, kernel: str) -> None:
    product = Product(kernel, 77, 45, 100, bias=np.float32)
    a = product.a
    if kernel == "columns_to_rows":
        product.a = np.ascontiguousarray(a.T).reshape(a.shape)  # as its columns lie in memory
        got = product.run(runtime, library)
        product.a = a
    else:
        b = product.b
        product.b = np.ascontiguousarray(b.T).reshape(b.shape)
        got = product.run(runtime, library).reshape(45, 77).T
        product.b = b
    product.check(got)


@pytest.mark.parametrize("chaos", ["0", "1", "2", "3"])
@pytest.mark.parametrize("given", TILINGS, ids=str)
@pytest.mark.parametrize("kernel", ["half_float", "int8_int32"])
def test_any_valid_tiling_in_any_order_of_pipes(
    runtime: Runtime, library: ctypes.CDLL, kernel: str, given: dict[str, Any], chaos: str
) -> None:
    src, out, bias = TYPES[kernel]
    product = Product(kernel, 90, 110, 300, src, out, bias=bias, trans_a=True, **given)
    with runtime.options(chaos=chaos):
        product.check(product.run(runtime, library))


def test_tile_of_all_of_l0c(runtime: Runtime, library: ctypes.CDLL) -> None:
    """256 KiB, and the table has a bias for 1024 columns."""
    product = Product("half_float", 70, 1000, 60, base=(64, 1008, 16), bias=np.float32)
    product.check(product.run(runtime, library))


@pytest.mark.parametrize("trans", [False, True])
@pytest.mark.parametrize("kernel", ["half_nz", "float_nz", "int8_nz"])
def test_matrices_in_fractals(
    runtime: Runtime, library: ctypes.CDLL, kernel: str, trans: bool
) -> None:
    src, out = {"half_nz": (np.float16, np.float32), "float_nz": (np.float32, np.float32)}.get(
        kernel, (np.int8, np.int32)
    )
    product = Product(
        kernel, 60, 100, 130, src, out, trans_a=trans, trans_b=not trans, nz=True, way=TILES
    )
    product.check(product.run(runtime, library))


@pytest.mark.plants_faults
def test_tiling_that_does_not_fit(runtime: Runtime, library: ctypes.CDLL) -> None:
    product = Product("half_float", 300, 300, 64, base=(272, 256, 32))
    with pytest.raises(KernelError, match=r"L0C: baseM x .* are 278528 bytes of 262144"):
        product.run(runtime, library)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["-D__NPU_ARCH__=2002", "-D__CCE_AICORE__=200", "-DASCENDC_CUBE_ONLY"],
            "matrix units: Matmul is simulated for architectures 2201 and 3510",
        ),
        (
            ["-D__NPU_ARCH__=2002", "-D__CCE_AICORE__=200"],
            "matrix units: Matmul is simulated for architectures 2201 and 3510",
        ),
    ],
)
def test_what_other_units_refuse(toolkit: Path, words: list[str], said: str) -> None:
    """The class that is missing, by name."""
    text = (
        '#include "lib/matmul_intf.h"\n#include "kernel_operator.h"\nusing namespace AscendC;\n'
        "using Gm = MatmulType<TPosition::GM, CubeFormat::ND, half>;\n"
        'extern "C" __global__ __aicore__ void k(GM_ADDR c, GM_ADDR tiling) {\n'
        "  TPipe pipe;\n  Matmul<Gm, Gm, Gm> object;\n  GlobalTensor<half> to;\n"
        "  object.Init(reinterpret_cast<TCubeTiling*>(tiling), &pipe);\n"
        "  object.IterateAll(to);\n}\n"
    )
    assert said in compiler_says(toolkit, text, *words)
