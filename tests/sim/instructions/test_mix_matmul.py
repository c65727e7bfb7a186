# SPDX-License-Identifier: Apache-2.0
"""Matmul that vector cores of MIX kernels call: products of each way against float64, in any order
of the cores, and each mistake as what it is.
"""

from __future__ import annotations

import ctypes
import re
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from instructions import cube_model as model
from instructions.bench import KernelError, Runtime
from instructions.mix_library import mixed_library
from instructions.test_matmul import Product, compiler_says, field_names

ONE, TWO, VECTORS = 11, 12, 1  # tiling keys of mix_matmul.cpp
(
    ALL, TILES, DENSE, INTO_UB, ASYNC, OWN_A, TWO_OBJECTS, NO_END, NO_A, TILE_FIRST, NO_WAIT,
    NOT_TOLD, LATE_A, NOT_REGISTERED, AIC_RETURNS, OTHER_TYPE, NO_TILING, GOES_ON, LATER,
    LATER_ASKED, LATER_NO_SPACE, LATER_TWICE, LATER_NO_WAIT, NO_END_BETWEEN,
    FLAG_OF_OBJECTS, FLAG_OF_ITS_OWN,
) = range(26)  # fmt: skip
TILE = 128 * 1024  # bytes of the workspace for a tile of C
Array = npt.NDArray[Any]


@pytest.fixture(scope="module")
def library(toolkit: Path, tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """The kernels of mix_matmul.cpp."""
    return mixed_library(toolkit, tmp_path_factory.mktemp("mix_matmul"), "mix_matmul")


def run(
    runtime: Runtime,
    library: ctypes.CDLL,
    product: Product,
    key: int = TWO,
    elements: int = 0,
    room: int = 16 * 1024 * 1024,
    cores: int = 0,
) -> Array:
    """C, or so many elements of it, by ``cores`` AI cores, or as many as the parts of C want."""
    numbers = product.numbers()
    words = [numbers.get(name, 0) for name in field_names()]
    words += [int(product.trans_a), int(product.trans_b), product.way]
    words += [int(product.bias is not None), product.told.get("atomic", 0)]
    arrays = [
        product.in_memory(product.a, product.trans_a),
        product.in_memory(product.b, product.trans_b),
        np.zeros(elements or product.m * product.n, product.out),
        product.of_bias,
        np.zeros(product.m * product.k, np.float16) if product.words is None else product.words,
        np.array(words, np.int32),
        np.zeros(room, np.uint8),
    ]
    blocks = cores or -(-numbers["usedCoreNum"] // (key % 10))
    kernel = library[product.kernel]
    (got,) = runtime.launch(kernel, arrays, outputs=[2], block_dim=blocks, key=key)
    return got if elements else got.reshape(product.m, product.n)


def near(got: Array, want: Array, product: Product) -> None:
    """Sums of float32 in another order."""
    bound = np.abs(product.a.astype(np.float64)) @ np.abs(product.b.astype(np.float64)) + 4
    assert np.all(np.abs(got - want) <= bound * product.k * 2.0**-24)


SHAPES = [(1, 1, 1), (33, 70, 65), (130, 100, 40), (64, 333, 100)]


@pytest.mark.parametrize("key", [ONE, TWO])
@pytest.mark.parametrize("parts", [(1, 1, 1), (2, 1, 1), (1, 3, 1), (2, 2, 1)])
@pytest.mark.parametrize(("m", "n", "k"), SHAPES)
def test_all_to_gm(
    runtime: Runtime, library: ctypes.CDLL, m: int, n: int, k: int, parts: Any, key: int
) -> None:
    """Parts along M share B, parts along N share A; an odd count leaves an AIV without work."""
    product = Product("to_gm", m, n, k, parts=parts, bias=np.float32, seed=m)
    near(run(runtime, library, product, key), product.want(), product)


@pytest.mark.parametrize("trans_a", [False, True])
@pytest.mark.parametrize("trans_b", [False, True])
@pytest.mark.parametrize("way", [ALL, TILES])
def test_transposed(
    runtime: Runtime, library: ctypes.CDLL, way: int, trans_a: bool, trans_b: bool
) -> None:
    product = Product("to_gm", 70, 90, 50, parts=(2, 1, 1), way=way)
    product.trans_a, product.trans_b = trans_a, trans_b
    near(run(runtime, library, product), product.want(), product)


CHAOS = ["0", "1", "2", "5"]


@pytest.mark.parametrize("chaos", CHAOS)
@pytest.mark.parametrize("threads", ["1", "3"])
@pytest.mark.parametrize("way", [ALL, ASYNC])
def test_what_both_ask_for_is_computed_once(
    runtime: Runtime, library: ctypes.CDLL, way: int, threads: str, chaos: str
) -> None:
    """With ibShare of A and B each AIV asks for all of C, which is added up once."""
    product = Product("shared", 70, 90, 50, way=way, told={"atomic": 1})
    with runtime.options(chaos=chaos, threads=threads, mode="checked"):
        got = run(runtime, library, product)
    near(got, product.want(), product)
    # One AIV of an AI core alone.
    near(run(runtime, library, product, key=ONE), product.want(), product)


@pytest.mark.parametrize("way", [ALL, TILES])
def test_b_of_both(runtime: Runtime, library: ctypes.CDLL, way: int) -> None:
    """With ibShare of B alone each AIV gets its own C."""
    product = Product("shared_b", 70, 90, 50, parts=(2, 1, 1), way=way)
    near(run(runtime, library, product), product.want(), product)


@pytest.mark.parametrize("chaos", CHAOS)
@pytest.mark.parametrize("threads", ["1", "3"])
@pytest.mark.parametrize(
    ("kernel", "key"), [("dual_master", TWO), ("dual_master", ONE), ("dual_master_alone", ONE)]
)
def test_each_half_runs_its_own_code(
    runtime: Runtime, library: ctypes.CDLL, kernel: str, key: int, threads: str, chaos: str
) -> None:
    """enableMixDualMaster: no request goes to the AIC, and a flag of the kernel's own orders the
    halves.
    """
    trans = chaos == "1"
    product = Product(kernel, 70, 90, 50, trans_a=trans, trans_b=trans, bias=np.float32)
    product.parts = (2, 1, 1)
    with runtime.options(chaos=chaos, threads=threads, mode="checked"):
        got = run(runtime, library, product, key, cores=2)
    near(got, 2 * product.want(), product)


@pytest.mark.plants_faults
def test_two_aivs_of_a_dual_master_share_a_and_b(runtime: Runtime, library: ctypes.CDLL) -> None:
    product = Product("dual_master_alone", 70, 90, 50)
    with pytest.raises(KernelError, match="enableMixDualMaster with two AIVs for each AIC wants"):
        run(runtime, library, product)


@pytest.mark.plants_faults
def test_tiles_of_what_both_ask_for(runtime: Runtime, library: ctypes.CDLL) -> None:
    with pytest.raises(KernelError, match="A and B have ibShare, whose results come by IterateAll"):
        run(runtime, library, Product("shared", 70, 90, 50, way=TILES))


@pytest.mark.parametrize("chaos", CHAOS)
@pytest.mark.parametrize("threads", ["1", "2", "3"])
@pytest.mark.parametrize("way", [ALL, TILES, INTO_UB, ASYNC, OWN_A, TWO_OBJECTS])
def test_any_order_of_cores(
    runtime: Runtime, library: ctypes.CDLL, way: int, threads: str, chaos: str
) -> None:
    """Tiles of the two AIVs take turns in one L0C, and each is right."""
    product = Product("to_ub" if way == INTO_UB else "to_gm", 130, 140, 70, parts=(2, 3, 1))
    product.way = way
    if way == OWN_A:  # parts along N would copy the same rows
        product.parts = (4, 1, 1)
    want = product.want()
    if way == INTO_UB:
        want *= 2
    elif way == TWO_OBJECTS:
        want *= 3
    elif way == ASYNC:
        want[[0, product.numbers()["singleCoreM"]]] += 1
    with runtime.options(chaos=chaos, threads=threads, mode="checked"):
        near(run(runtime, library, product), want, product)


@pytest.mark.parametrize(("m", "n", "k"), SHAPES)
@pytest.mark.parametrize("key", [ONE, TWO])
def test_tiles_into_ub(
    runtime: Runtime, library: ctypes.CDLL, m: int, n: int, k: int, key: int
) -> None:
    product = Product("to_ub", m, n, k, parts=(2, 2, 1), way=INTO_UB)
    near(run(runtime, library, product, key), 2 * product.want(), product)


@pytest.mark.parametrize("chaos", CHAOS)
@pytest.mark.parametrize("threads", ["1", "3"])
@pytest.mark.parametrize("way", [LATER, LATER_ASKED])
def test_tiles_that_are_asked_for_at_once(
    runtime: Runtime, library: ctypes.CDLL, way: int, threads: str, chaos: str
) -> None:
    """Iterate<false>: the AIC goes on while the AIV takes tile after tile from the workspace."""
    product = Product("to_ub", 130, 140, 70, parts=(2, 2, 1), way=way)
    product.words = np.zeros(4 * 2 * (96 * 128), np.float16)  # four parts of whole tiles of float
    with runtime.options(chaos=chaos, threads=threads):
        near(run(runtime, library, product), 2 * product.want(), product)


@pytest.mark.plants_faults
@pytest.mark.parametrize(
    ("way", "says"),
    [
        (LATER_NO_SPACE, "there is no memory in GM for C"),
        (LATER_TWICE, r"Iterate<false> has made \d+, and all are taken"),
    ],
)
def test_mistakes_of_tiles_that_are_asked_for_at_once(
    runtime: Runtime, library: ctypes.CDLL, way: int, says: str
) -> None:
    product = Product("to_ub", 40, 50, 70, way=way)
    product.words = np.zeros(2 * 64 * 64, np.float16)
    with pytest.raises(KernelError, match=rf"matmul-use[\s\S]*{says}"):
        run(runtime, library, product)


@pytest.mark.plants_faults
def test_a_tile_that_is_not_waited_for(runtime: Runtime, library: ctypes.CDLL) -> None:
    """GetTensorC<false> copies into UB; WaitGetTensorC orders the vector unit behind it."""
    product = Product("to_ub", 40, 50, 70, way=LATER_NO_WAIT)
    product.words = np.zeros(2 * 64 * 64, np.float16)
    with pytest.raises(KernelError, match=r"race-read-after-write[\s\S]*Muls on VECTOR"):
        run(runtime, library, product)


def test_tiles_one_behind_the_other(runtime: Runtime, library: ctypes.CDLL) -> None:
    product = Product("to_gm", 64, 128, 32, way=DENSE)
    got = run(runtime, library, product, elements=64 * 128).reshape(2, 2, 32, 64)
    near(got.transpose(1, 2, 0, 3).reshape(64, 128), product.want(), product)


def test_sums_in_gm(runtime: Runtime, library: ctypes.CDLL) -> None:
    product = Product("to_gm", 40, 50, 30, parts=(2, 1, 1), told={"atomic": 1})
    near(run(runtime, library, product), product.want(), product)


@pytest.mark.parametrize("key", [ONE, TWO])
@pytest.mark.parametrize("kernel", ["without_end", "to_gm"])
def test_without_end(runtime: Runtime, library: ctypes.CDLL, kernel: str, key: int) -> None:
    """A config whose enableEnd is off, and the last object of a kernel: CANN's page of End asks for
    it between objects. The AIC's flags are taken back all the same.
    """
    product = Product(kernel, 70, 90, 50, parts=(2, 2, 1), way=NO_END, bias=np.float32)
    near(run(runtime, library, product, key), product.want(), product)


@pytest.mark.parametrize("key", [ONE, TWO])
@pytest.mark.parametrize("trans", [False, True])
@pytest.mark.parametrize(("m", "n", "k"), [(1, 1, 1), (33, 70, 65), (64, 96, 100)])
def test_operands_in_ub(
    runtime: Runtime, library: ctypes.CDLL, m: int, n: int, k: int, trans: bool, key: int
) -> None:
    """A, B and the bias of each AIV, in rows of whole blocks."""
    product = Product("from_ub", m, n, k, parts=(2, 1, 1), bias=np.float32)
    product.trans_a = product.trans_b = trans
    near(run(runtime, library, product, key), product.want(), product)


@pytest.mark.parametrize("trans", [False, True])
def test_operands_in_veccalc(runtime: Runtime, library: ctypes.CDLL, trans: bool) -> None:
    """Matmul asks whether an operand lies in UB, not for which queue's position it has."""
    product = Product("from_veccalc", 33, 70, 65, parts=(2, 1, 1), bias=np.float32)
    product.trans_a = product.trans_b = trans
    near(run(runtime, library, product), product.want(), product)


@pytest.mark.parametrize(
    ("kernel", "trans"), [("from_ub_int8", False), ("from_ub_int8", True), ("int8_int32", False)]
)
def test_integers(runtime: Runtime, library: ctypes.CDLL, kernel: str, trans: bool) -> None:
    product = Product(kernel, 70, 45, 90, np.int8, np.int32, parts=(2, 1, 1), bias=np.int32)
    product.trans_a = product.trans_b = trans
    np.testing.assert_array_equal(run(runtime, library, product), product.want())


@pytest.mark.parametrize("by_vector", [False, True])
def test_dequantised(runtime: Runtime, library: ctypes.CDLL, by_vector: bool) -> None:
    factors = np.random.default_rng(3).uniform(0.5, 2, 45) / 1000
    words = np.array([model.word_of(factor, 0) for factor in factors], np.uint64)
    product = Product(
        "int8_half", 70, 45, 90, np.int8, np.float16, parts=(2, 1, 1), bias=np.int32,
        way=int(by_vector), words=words,
    )  # fmt: skip
    used = words if by_vector else np.full_like(words, words[0])
    want = model.quantise(product.want().astype(np.int32), np.float16, used, False)
    np.testing.assert_array_equal(run(runtime, library, product), want)


@pytest.mark.parametrize("key", [ONE, TWO])
@pytest.mark.parametrize(("m", "n", "k"), [(1, 1, 1), (33, 70, 65), (130, 100, 40)])
@pytest.mark.parametrize("kernel", ["all_to_ub", "all_to_veccalc"])
def test_all_into_ub(
    runtime: Runtime, library: ctypes.CDLL, kernel: str, m: int, n: int, k: int, key: int
) -> None:
    """The tiles side by side, in rows of whole blocks, whatever position of UB the type names."""
    product = Product(kernel, m, n, k, parts=(2, 1, 1), bias=np.float32)
    near(run(runtime, library, product, key), product.want(), product)


@pytest.mark.parametrize("steps", [1, 2])
@pytest.mark.parametrize(("m", "n", "k"), [(33, 70, 65), (130, 100, 140)])
def test_own_copies(
    runtime: Runtime, library: ctypes.CDLL, m: int, n: int, k: int, steps: int
) -> None:
    """MatmulCallBackFunc: A and B into L1 a tile at a time, whatever the steps; C out of L0C."""
    tiling = {"stepKa": steps, "stepKb": steps, "depthA1": 2 * steps, "depthB1": 2 * steps}
    product = Product("by_own_copies", m, n, k, parts=(2, 1, 1), bias=np.float32, tiling=tiling)
    near(run(runtime, library, product), product.want(), product)


FAULTS = {
    FLAG_OF_OBJECTS: ("cross-core-flag", "flag 3 is set by the kernel, and is one of its Matmul"),
    NO_END_BETWEEN: ("matmul-use", "End of a Matmul object: the object ends after products of ano"),
    NO_A: ("matmul-use", "Iterate of a Matmul object: A is not set"),
    TILE_FIRST: ("matmul-use", "GetTensorC of a Matmul object: there is no tile of C"),
    NO_WAIT: ("gm-conflict", r"(AIC 0 writes and AIV 0 reads|AIV 0 reads and AIC 0 writes|AIC)"),
    NOT_TOLD: ("matmul-use", "WaitIterateAll of a Matmul object: no IterateAll<false> has an end"),
    LATE_A: ("gm-conflict", r"AIV \d"),
    NOT_REGISTERED: (
        "deadlock",
        r"server of Matmul objects on AIC \d waits for AIV \d, which left the kernel without",
    ),
    AIC_RETURNS: ("deadlock", r"Matmul on AIV \d waits for AIC \d, which has left the kernel"),
    OTHER_TYPE: ("matmul-use", "object number 0 of the AIV has another type than the AIC's"),
    NO_TILING: ("matmul-use", "the object has no tiling"),
    GOES_ON: ("matmul-use", "it goes on behind REGIST_MATMUL_OBJ and calls an object"),
}


def test_flag_beside_those_of_the_objects(runtime: Runtime, library: ctypes.CDLL) -> None:
    product = Product("to_gm", 70, 90, 50, parts=(2, 2, 1), way=FLAG_OF_ITS_OWN)
    near(run(runtime, library, product), product.want(), product)


@pytest.mark.plants_faults
@pytest.mark.parametrize("threads", ["1", "3"])
@pytest.mark.parametrize("way", FAULTS)
def test_mistake(runtime: Runtime, library: ctypes.CDLL, way: int, threads: str) -> None:
    kind, text = FAULTS[way]
    product = Product("to_gm", 70, 90, 50, parts=(2, 2, 1), way=way)
    with runtime.options(threads=threads), pytest.raises(KernelError) as caught:
        run(runtime, library, product)
    said = str(caught.value)
    assert f"[{kind}]" in said and "mix_matmul.cpp:" in said and re.search(text, said), said


@pytest.mark.plants_faults
def test_workspace_without_room(runtime: Runtime, library: ctypes.CDLL) -> None:
    product = Product("to_ub", 70, 90, 50, parts=(2, 2, 1), way=INTO_UB)
    with pytest.raises(KernelError, match=r"no room for a tile of C of AIV [123]") as caught:
        run(runtime, library, product, room=2 * TILE)
    assert "mix_matmul.cpp:" in str(caught.value)


@pytest.mark.plants_faults
def test_workspace_without_room_for_operands(runtime: Runtime, library: ctypes.CDLL) -> None:
    product = Product("from_ub", 70, 90, 50, parts=(2, 1, 1), bias=np.float32)
    with pytest.raises(KernelError, match=r"no room for A of AIV [01]") as caught:
        run(runtime, library, product, room=TILE)
    assert "mix_matmul.cpp:" in str(caught.value)


NO_FIT: dict[str, tuple[dict[str, Any], str]] = {
    "fractal": ({"base": (24, 64, 32)}, r"baseM of the tiling is 24; it is a multiple of 16"),
    "L0C": ({"base": (192, 192, 32)}, r"L0C: baseM x .* are 147456 bytes of 131072"),
    "L1": (
        {"base": (128, 128, 64), "tiling": {"stepKa": 16, "depthA1": 32}},
        r"does not fit L1: 2 blocks of A of 262144 bytes, 2 of B of 16384 .* 557056 bytes of ",
    ),
    "empty": ({"tiling": {"baseK": 0}}, r"baseK of the tiling is 0"),
}


@pytest.mark.plants_faults
@pytest.mark.parametrize("name", NO_FIT)
def test_tiling_does_not_fit(runtime: Runtime, library: ctypes.CDLL, name: str) -> None:
    """The AIC's server says so, with the line of the AIV that asks."""
    changed, text = NO_FIT[name]
    product = Product("to_gm", 70, 90, 50, parts=(2, 1, 1), **changed)
    with pytest.raises(KernelError, match=text) as caught:
        run(runtime, library, product)
    said = str(caught.value)
    assert "[matmul-use]" in said and "mix_matmul.cpp:" in said, said


@pytest.mark.plants_faults
def test_kernel_of_vector_cores(runtime: Runtime, library: ctypes.CDLL) -> None:
    product = Product("to_gm", 16, 16, 16)
    with pytest.raises(KernelError, match="the kernel runs on AIVs alone"):
        run(runtime, library, product, key=VECTORS)


REFUSED = {
    "A and B lie in GM, UB or TSCM": "Matmul<At<TPosition::A1>, Gm, Gm> mm",
    "C goes to GM or UB": "Matmul<Gm, Gm, At<TPosition::CO1>> mm",
    "C in VECIN is ND or ND_ALIGN": "Matmul<Gm, Gm, At<TPosition::VECIN>> mm",
    "A and B of a batch have a LayoutMode": (
        "using N = MatmulType<TPosition::GM, CubeFormat::ND, half, false, LayoutMode::NORMAL>;"
        " Matmul<N, N, Gm> mm; mm.Iterate()"
    ),
    "A, B and C of IterateBatch have": "Matmul<Gm, Gm, Gm> mm; mm.IterateBatch(c, 2, 2, false)",
    "GetTensorC<false> takes a LocalTensor": "Matmul<Gm, Gm, Gm> mm; mm.GetTensorC<false>(c)",
    "takes a LocalTensor where A is in UB or TSCM": (
        "Matmul<Gm, Gm, Gm> mm; mm.SetTensorA(LocalTensor<half>())"
    ),
}


@pytest.mark.parametrize("said", REFUSED)
def test_what_is_not_simulated_does_not_compile(toolkit: Path, said: str) -> None:
    text = (
        '#include "lib/matmul_intf.h"\nusing namespace AscendC;\n'
        "using Gm = MatmulType<TPosition::GM, CubeFormat::ND, half>;\n"
        "template <TPosition pos> using At = MatmulType<pos, CubeFormat::NZ, half>;\n"
        'extern "C" __global__ __aicore__ void k(GM_ADDR) {\n  GlobalTensor<half> c; %s;\n}\n'
    )
    for half in ("-D__DAV_C220_CUBE__", "-D__DAV_C220_VEC__"):
        assert said in compiler_says(toolkit, text % REFUSED[said], half)
        assert compiler_says(toolkit, text % "Matmul<Gm, Gm, Gm> mm", half) == ""
