# SPDX-License-Identifier: Apache-2.0
"""TSCM: vector cores put operands into L1 of their AIC and ask Matmul for products of them, against
float64, in any order of the cores, and each mistake as what it is.
"""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import pytest

from instructions import cube_model as model
from instructions.bench import KernelError, Runtime
from instructions.mix_library import mixed_library
from instructions.test_matmul import Product
from instructions.test_mix_matmul import ONE, TWO, near, run

(
    FROM_GM, FROM_UB, PADDED, BLOCKS, IN_TURNS, NOT_COPIED, PAST_THE_END, FREED, BY_VECTOR,
    TOO_EARLY, NO_ROOM, OVERLAP, WILD_SOURCE, NO_TSCM,
) = range(14)  # fmt: skip
SHAPES = [(1, 3, 2), (33, 70, 65), (96, 64, 80)]
pytestmark = pytest.mark.usefixtures("on_its_soc")


@pytest.fixture(scope="module")
def library(toolkit: Path, tmp_path_factory: pytest.TempPathFactory, arch: str) -> ctypes.CDLL:
    """The kernels of mix_tscm.cpp."""
    folder = tmp_path_factory.mktemp(f"mix_tscm_{arch}")
    return mixed_library(toolkit, folder, "mix_tscm", arch)


@pytest.mark.parametrize("key", [ONE, TWO])
@pytest.mark.parametrize("kernel", ["left", "right", "both"])
@pytest.mark.parametrize(("m", "n", "k"), SHAPES)
@pytest.mark.parametrize("way", [FROM_GM, PADDED, IN_TURNS])
def test_product(
    runtime: Runtime, library: ctypes.CDLL, way: int, m: int, n: int, k: int, kernel: str, key: int
) -> None:
    """Parts along M, each AIV's own; B is copied by each."""
    product = Product(kernel, m, n, k, parts=(2, 1, 1), way=way, seed=m)
    near(run(runtime, library, product, key), product.want(), product)


@pytest.mark.parametrize("kernel", ["left", "right", "both"])
def test_whole_rows_of_ub(runtime: Runtime, library: ctypes.CDLL, kernel: str) -> None:
    """DataCopy takes rows that lie one behind the other."""
    product = Product(kernel, 40, 64, 48, parts=(2, 1, 1), way=FROM_UB)
    near(run(runtime, library, product), product.want(), product)


@pytest.mark.parametrize("trans_a", [False, True])
@pytest.mark.parametrize("trans_b", [False, True])
def test_transposed(runtime: Runtime, library: ctypes.CDLL, trans_a: bool, trans_b: bool) -> None:
    product = Product("both", 20, 90, 50, way=FROM_GM)
    product.trans_a, product.trans_b = trans_a, trans_b
    near(run(runtime, library, product, ONE), product.want(), product)


def test_whole_blocks(runtime: Runtime, library: ctypes.CDLL) -> None:
    """A lies in fractals in GM, and is copied as it is."""
    product = Product("left", 32, 50, 64, way=BLOCKS)
    want = product.want()
    a, k = product.a, product.k
    product.a = model.to_nz(a).reshape(32, 64)
    got = run(runtime, library, product, ONE)
    product.a = a
    assert k == 64
    near(got, want, product)


@pytest.mark.parametrize("chaos", ["0", "1", "2", "5"])
@pytest.mark.parametrize("threads", ["1", "3"])
@pytest.mark.parametrize("way", [FROM_GM, PADDED, IN_TURNS])
def test_any_order_of_cores(
    runtime: Runtime, library: ctypes.CDLL, way: int, threads: str, chaos: str
) -> None:
    product = Product("both", 130, 40, 70, parts=(4, 1, 1), way=way)
    with runtime.options(chaos=chaos, threads=threads, mode="checked"):
        near(run(runtime, library, product), product.want(), product)


def test_both_have_the_same_bytes(runtime: Runtime, library: ctypes.CDLL) -> None:
    """With bit 2 of the mask, 280 KiB of each AIV fit into L1 of 512 KiB."""
    product = Product("one_for_both", 16, 40, 70, way=NO_ROOM)
    near(run(runtime, library, product), product.want(), product)


FAULTS: dict[int, tuple[str, str]] = {
    NOT_COPIED: ("undefined-read", "which nothing has written"),
    PAST_THE_END: (
        "ub-out-of-bounds",
        r"dst covers bytes \[0, 32768\) of its buffer, which has 16384[\s\S]*L1 \d+ of its AIC",
    ),
    FREED: ("ub-use-after-free", "dst is a tensor that FreeTensor gave back"),
    BY_VECTOR: (
        "instruction-absent",
        "dst lies in L1 of the AIC, which Duplicate on an AIV does not reach",
    ),
    TOO_EARLY: ("race-write-after-read", "DataCopy .*to NZ"),
    NO_ROOM: ("ub-overflow", "573440 B of TSCM wanted for 2 AIVs of an AI core, its L1 of 524288"),
    OVERLAP: ("ub-overflow", r"TSCM of the AIVs begins at L1 \d+|of L1 wanted in all"),
    WILD_SOURCE: ("gm-out-of-bounds", "src"),
    NO_TSCM: ("matmul-use", "its type says TSCM, and the tensor does not lie there"),
}


@pytest.mark.plants_faults
@pytest.mark.parametrize("threads", ["1", "3"])
@pytest.mark.parametrize("way", FAULTS)
def test_mistake(runtime: Runtime, library: ctypes.CDLL, way: int, threads: str) -> None:
    kind, text = FAULTS[way]
    changed: dict[str, Any] = {"parts": (2, 1, 1)}
    if way == OVERLAP:  # blocks of B take most of the rest of L1
        changed["tiling"] = {"stepKb": 16, "depthB1": 32}
    elif way == TOO_EARLY:  # blocks of B, and another AIV's turns, order nothing
        changed["parts"] = (1, 1, 1)
        changed["tiling"] = {"stepKb": 2, "depthB1": 4}
    product = Product("left", 192 if way == TOO_EARLY else 64, 64, 64, way=way, **changed)
    with (
        runtime.options(threads=threads),
        pytest.raises(KernelError, match=rf"\[{kind}\][\s\S]*({text})") as caught,
    ):
        run(runtime, library, product, ONE if way == TOO_EARLY else TWO)
    assert "mix_tscm.cpp:" in str(caught.value)


@pytest.mark.plants_faults
def test_copy_without_a_server(runtime: Runtime, library: ctypes.CDLL) -> None:
    product = Product("early", 16, 16, 16)
    with pytest.raises(KernelError, match=r"matmul-use[\s\S]*no Matmul object is registered"):
        run(runtime, library, product)
