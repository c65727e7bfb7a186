# SPDX-License-Identifier: Apache-2.0
"""Matmul that vector cores of Ascend 950 call: the kernels of mix_matmul.cpp against float64."""

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
from instructions.test_matmul import Product
from instructions.test_mix_matmul import (
    ALL,
    ASYNC,
    DENSE,
    INTO_UB,
    NOT_TOLD,
    ONE,
    SHAPES,
    TILE_FIRST,
    TILES,
    TWO,
    near,
    run,
)  # fmt: skip


@pytest.fixture(scope="module")
def library(toolkit: Path, tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """The kernels of mix_matmul.cpp, for the other SoC."""
    folder = tmp_path_factory.mktemp("mix_matmul_950")
    return mixed_library(toolkit, folder, "mix_matmul", A5)


@pytest.fixture(autouse=True)
def on_950(runtime: Runtime) -> Iterator[None]:
    """The SoC of this file."""
    with runtime.options(soc=SOC):
        yield


@pytest.mark.parametrize("key", [ONE, TWO])
@pytest.mark.parametrize("parts", [(1, 1, 1), (2, 2, 1)])
@pytest.mark.parametrize(("m", "n", "k"), SHAPES)
@pytest.mark.parametrize("way", [ALL, TILES, ASYNC])
def test_to_gm(
    runtime: Runtime, library: ctypes.CDLL, way: int, m: int, n: int, k: int, parts: Any, key: int
) -> None:
    product = Product("to_gm", m, n, k, parts=parts, bias=np.float32, seed=m, way=way)
    want = product.want()
    if way == ASYNC:
        single = product.numbers()["singleCoreM"]
        want[[row for row in (0, single) if row < m]] += 1
    near(run(runtime, library, product, key), want, product)


@pytest.mark.parametrize("trans_a", [False, True])
@pytest.mark.parametrize("trans_b", [False, True])
def test_transposed(runtime: Runtime, library: ctypes.CDLL, trans_a: bool, trans_b: bool) -> None:
    product = Product("to_gm", 70, 90, 50, parts=(2, 1, 1))
    product.trans_a, product.trans_b = trans_a, trans_b
    near(run(runtime, library, product), product.want(), product)


@pytest.mark.parametrize("chaos", ["0", "2", "5"])
@pytest.mark.parametrize("threads", ["1", "3"])
def test_tiles_into_ub(runtime: Runtime, library: ctypes.CDLL, threads: str, chaos: str) -> None:
    product = Product("to_ub", 130, 140, 70, parts=(2, 3, 1), way=INTO_UB)
    with runtime.options(chaos=chaos, threads=threads, mode="checked"):
        near(run(runtime, library, product), 2 * product.want(), product)


@pytest.mark.parametrize("kernel", ["from_ub", "all_to_ub", "by_own_copies"])
@pytest.mark.parametrize(("m", "n", "k"), [(1, 1, 1), (33, 70, 65), (64, 96, 100)])
def test_operands_and_results_in_ub(
    runtime: Runtime, library: ctypes.CDLL, kernel: str, m: int, n: int, k: int
) -> None:
    product = Product(kernel, m, n, k, parts=(2, 1, 1), bias=np.float32)
    near(run(runtime, library, product), product.want(), product)


def test_tile_larger_than_one_of_2201(runtime: Runtime, library: ctypes.CDLL) -> None:
    """L0C has 256 KiB, and the way from there to UB leaves out the workspace."""
    tiling = {"baseM": 192, "baseN": 192}
    product = Product("all_to_ub", 192, 192, 16, parts=(1, 1, 1), bias=np.float32, tiling=tiling)
    near(run(runtime, library, product, room=64), product.want(), product)


@pytest.mark.parametrize("chaos", ["0", "1", "2", "5"])
@pytest.mark.parametrize("threads", ["1", "3"])
def test_operand_behind_another(
    runtime: Runtime, library: ctypes.CDLL, threads: str, chaos: str
) -> None:
    """The kernel hands the second operand over without a wait for the first product."""
    product = Product("from_ub", 70, 96, 50, parts=(2, 1, 1), bias=np.float32, way=3)
    with runtime.options(chaos=chaos, threads=threads, mode="checked"):
        near(run(runtime, library, product), 3 * product.want() - product.of_bias, product)


@pytest.mark.plants_faults
def test_undefined_operand_in_ub(runtime: Runtime, library: ctypes.CDLL) -> None:
    """What nothing has written stays undefined on its way to the AIC."""
    product = Product("from_ub", 70, 96, 50, parts=(2, 1, 1), bias=np.float32, way=2)
    with pytest.raises(KernelError, match=r"undefined-read[\s\S]*mix_matmul.cpp:"):
        run(runtime, library, product)


@pytest.mark.plants_faults
def test_operand_larger_than_ub(runtime: Runtime, library: ctypes.CDLL) -> None:
    """B has 810,000 bytes by its sizes: past UB, and past what both AIVs pass operands in."""
    product = Product("from_ub", 1, 900, 450, parts=(1, 1, 1), bias=np.float32, way=2)
    with pytest.raises(KernelError, match=r"ub-out-of-bounds[\s\S]*`pipe.InitBuffer\(inB_"):
        run(runtime, library, product)


def test_integers(runtime: Runtime, library: ctypes.CDLL) -> None:
    product = Product("from_ub_int8", 70, 45, 90, np.int8, np.int32, parts=(2, 1, 1), bias=np.int32)
    np.testing.assert_array_equal(run(runtime, library, product), product.want())


def test_what_both_ask_for_is_computed_once(runtime: Runtime, library: ctypes.CDLL) -> None:
    product = Product("shared", 70, 90, 50, way=ALL, told={"atomic": 1})
    near(run(runtime, library, product), product.want(), product)


def test_tiles_one_behind_the_other(runtime: Runtime, library: ctypes.CDLL) -> None:
    product = Product("to_gm", 64, 128, 32, way=DENSE)
    got = run(runtime, library, product, elements=64 * 128).reshape(2, 2, 32, 64)
    near(got.transpose(1, 2, 0, 3).reshape(64, 128), product.want(), product)


@pytest.mark.parametrize("chaos", ["0", "1", "5"])
@pytest.mark.parametrize("threads", ["1", "3"])
@pytest.mark.parametrize(("m", "n", "k"), [(1, 64, 32), (33, 70, 65), (130, 141, 40)])
@pytest.mark.parametrize("kernel", ["halves_of_rows", "halves_by_share"])
def test_halves_of_a_tile(
    runtime: Runtime,
    library: ctypes.CDLL,
    kernel: str,
    m: int,
    n: int,
    k: int,
    threads: str,
    chaos: str,
) -> None:
    """SplitMMatmulPolicy, or ibShare of A and B alone: the first AIV has the odd row of a tile."""
    product = Product(kernel, m, n, k, parts=(2, 1, 1), way=INTO_UB, seed=m)
    cores = product.numbers()["usedCoreNum"]
    with runtime.options(chaos=chaos, threads=threads, mode="checked"):
        near(run(runtime, library, product, cores=cores), 2 * product.want(), product)


@pytest.mark.parametrize("kernel", ["halves_of_rows", "halves_by_share", "halves_of_columns"])
@pytest.mark.parametrize("way", [INTO_UB, ALL])
def test_halves_of_one_tile(runtime: Runtime, library: ctypes.CDLL, kernel: str, way: int) -> None:
    """SplitNMatmulPolicy is for a part of one tile."""
    product = Product(kernel, 31, 64, 32, way=way)
    near(run(runtime, library, product), 2 * product.want(), product)


@pytest.mark.plants_faults
@pytest.mark.parametrize(
    ("kernel", "n", "way", "key", "says"),
    [
        ("halves_of_columns", 48, INTO_UB, TWO, "SplitNMatmulPolicy halves a tile of 48 columns"),
        ("halves_of_rows", 64, TILE_FIRST, TWO, "each AIV gets half of the tile in UB"),
        (
            "halves_by_share",
            64,
            INTO_UB,
            ONE,
            "halves of a tile are for two AIVs, and the AIC has 1",
        ),
    ],
)
def test_mistakes_with_halves(
    runtime: Runtime, library: ctypes.CDLL, kernel: str, n: int, way: int, key: int, says: str
) -> None:
    product = Product(kernel, 32, n, 32, way=way)
    with pytest.raises(KernelError, match=rf"matmul-use[\s\S]*{says}"):
        run(runtime, library, product, key)


@pytest.mark.plants_faults
@pytest.mark.parametrize("threads", ["1", "3"])
def test_both_have_their_halves_before_the_next_tile(
    runtime: Runtime, library: ctypes.CDLL, threads: str
) -> None:
    """An AIV that waits for the other one's next tile would get half of that."""
    product = Product("halves_of_rows", 64, 64, 32, way=NOT_TOLD)
    with runtime.options(threads=threads), pytest.raises(KernelError, match="deadlock"):
        run(runtime, library, product)
