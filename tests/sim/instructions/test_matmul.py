# SPDX-License-Identifier: Apache-2.0
"""Matmul of the high-level API on cube cores, against NumPy in float64: types, formats, transposes,
bias, quantisation, ragged shapes and every way of asking for C.
"""

from __future__ import annotations

import ctypes
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest

from instructions import cube_model as model
from instructions.bench import KernelError, Runtime, compile_kernel

CUBE = "-D__DAV_C220_CUBE__"
(
    ALL, TILES, TILES_TWICE, DENSE, STEPS, NO_END, NO_A, NO_B, TILE_FIRST, TWO_OBJECTS,
    ONE_AFTER_THE_OTHER, ONE_IN_THE_OTHER,
) = range(12)  # fmt: skip
FIELDS = Path(__file__).parents[3] / "simulator" / "include" / "kernel_tiling" / "tiling_fields.h"

Array = npt.NDArray[Any]


@pytest.fixture(scope="module")
def library(toolkit: Path, tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """The kernels of matmul.cpp."""
    folder = tmp_path_factory.mktemp("matmul")
    return ctypes.CDLL(str(compile_kernel(toolkit, folder, "matmul", "-O1", "-g", CUBE)))


def field_names() -> list[str]:
    """Of a TCubeTiling, in order."""
    text = FIELDS.read_text("utf-8")
    words = text[text.index("ACLSIM_CUBE_TILING") :].split("X(int32_t, ")[1:]
    return [word.partition(")")[0] for word in words]


def up(value: int, unit: int) -> int:
    """The next multiple."""
    return model.up(value, unit)


@dataclass
class Product:
    """A product, its tiling and what the kernel does with it."""

    kernel: str
    m: int
    n: int
    k: int
    src: npt.DTypeLike = np.float16
    out: npt.DTypeLike = np.float32
    base: tuple[int, int, int] = (32, 64, 32)
    parts: tuple[int, int, int] = (1, 1, 1)  # cores along M, N and K
    trans_a: bool = False
    trans_b: bool = False
    nz: bool = False
    columns: bool = False  # A, B and C are COLUMN_MAJOR
    bias: npt.DTypeLike | None = None
    way: int = ALL
    told: dict[str, int] = field(default_factory=dict)
    tiling: dict[str, int] = field(default_factory=dict)
    words: Array | None = None  # of quantisation
    seed: int = 1

    def __post_init__(self) -> None:
        rng = np.random.default_rng(self.seed)

        def some(shape: tuple[int, ...], dtype: npt.DTypeLike) -> Array:
            if np.issubdtype(dtype, np.integer):
                return rng.integers(-100, 100, shape).astype(dtype)
            return rng.uniform(-1, 1, shape).astype(dtype)

        self.a, self.b = some((self.m, self.k), self.src), some((self.k, self.n), self.src)
        self.of_bias = some((self.n,), np.float32 if self.bias is None else self.bias)

    def numbers(self) -> dict[str, int]:
        """The tiling's fields."""
        single = [
            min(size, up(-(-size // part), 32))
            for size, part in zip((self.m, self.n, self.k), self.parts, strict=True)
        ]
        base_m, base_n, base_k = self.base
        cores = 1
        for size, part in zip((self.m, self.n, self.k), single, strict=True):
            cores *= -(-size // part)
        fields = {
            "usedCoreNum": cores, "M": self.m, "N": self.n, "Ka": self.k, "Kb": self.k,
            "singleCoreM": single[0], "singleCoreN": single[1], "singleCoreK": single[2],
            "baseM": base_m, "baseN": base_n, "baseK": base_k, "stepM": 1, "stepN": 1,
            "stepKa": 1, "stepKb": 1, "depthA1": 2, "depthB1": 2, "dbL0A": 2, "dbL0B": 2,
            "dbL0C": 1, "isBias": int(self.bias is not None),
        }  # fmt: skip
        return fields | self.tiling

    def in_memory(self, matrix: Array, transposed: bool) -> Array:
        """As it lies in GM."""
        lying = np.ascontiguousarray(matrix.T if transposed != self.columns else matrix)
        return model.to_nz(lying) if self.nz else lying.reshape(-1)

    def all_words(self) -> Array:
        """Of the kernel: the tiling, then what is done."""
        numbers = self.numbers()
        words = [numbers.get(name, 0) for name in field_names()]
        assert not set(numbers) - set(field_names())
        told = {
            "trans_a": int(self.trans_a), "trans_b": int(self.trans_b), "way": self.way,
            "atomic": 0, "bias": int(self.bias is not None), "quant": 0, "low": 0, "high": 0,
            "hf32": 0, "org_kc": 0, "tail_k": 0, "none": 0,
        }  # fmt: skip
        assert not set(self.told) - set(told)
        numbers_of_told = [*words, *(told | self.told).values()]
        return np.array(numbers_of_told, np.int64).astype(np.uint32).view(np.int32)

    def run(
        self, runtime: Runtime, library: ctypes.CDLL, elements: int = 0, before: float = 0
    ) -> Array:
        """C, or so many elements of it."""
        out = np.full(elements or self.m * self.n, before, self.out)
        quant = np.zeros(4, np.uint64) if self.words is None else self.words
        arrays = [
            self.in_memory(self.a, self.trans_a), self.in_memory(self.b, self.trans_b), out,
            self.of_bias, quant, self.all_words(),
        ]  # fmt: skip
        cores = self.numbers()["usedCoreNum"]
        (got,) = runtime.launch(library[self.kernel], arrays, outputs=[2], block_dim=cores)
        if elements:
            return got
        return got.reshape(self.n, self.m).T if self.columns else got.reshape(self.m, self.n)

    def want(self) -> Array:
        """In float64, or exactly."""
        exact = np.int64 if np.issubdtype(self.src, np.integer) else np.float64
        product = self.a.astype(exact) @ self.b.astype(exact)
        return product if self.bias is None else product + self.of_bias.astype(exact)

    def check(self, got: Array) -> None:
        """Against float64: sums of float, rounded once more to what C is."""
        want = self.want()
        if np.issubdtype(self.src, np.integer):
            np.testing.assert_array_equal(got, want)
            return
        terms = np.abs(self.a.astype(np.float64)) @ np.abs(self.b.astype(np.float64)) + 1
        rounding = {4: 0.0, 2: 2.0**-10 if self.out is np.float16 else 2.0**-7}
        allowed = terms * 2.0**-22 * np.sqrt(self.k) + np.abs(want) * rounding[got.itemsize]
        assert np.all(np.abs(got.astype(np.float64) - want) <= allowed)


TYPES = {
    "half_float": (np.float16, np.float32, np.float32),
    "half_float_mdl": (np.float16, np.float32, np.float16),
    "half_half": (np.float16, np.float16, np.float32),
    "bf16_bf16": (ml_dtypes.bfloat16, ml_dtypes.bfloat16, np.float32),
    "float_float": (np.float32, np.float32, np.float32),
    "int8_int32": (np.int8, np.int32, np.int32),
}
SHAPES = [(32, 64, 32), (1, 1, 1), (33, 17, 70), (100, 130, 41), (5, 200, 129), (77, 15, 300)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(
    ("trans_a", "trans_b"), [(False, False), (True, False), (False, True), (True, True)]
)
@pytest.mark.parametrize("kernel", TYPES)
def test_types_and_transposes(
    runtime: Runtime,
    library: ctypes.CDLL,
    kernel: str,
    trans_a: bool,
    trans_b: bool,
    shape: tuple[int, int, int],
) -> None:
    """Tails of M, N and K, with a bias on every other shape."""
    src, out, bias = TYPES[kernel]
    product = Product(kernel, *shape, src, out, trans_a=trans_a, trans_b=trans_b)
    if SHAPES.index(shape) % 2:
        product = Product(kernel, *shape, src, out, trans_a=trans_a, trans_b=trans_b, bias=bias)
    product.check(product.run(runtime, library))


TILINGS: list[dict[str, Any]] = [
    {"base": (16, 16, 32)},
    {"base": (48, 32, 64), "tiling": {"dbL0C": 2}},
    {"base": (32, 32, 32), "tiling": {"dbL0A": 1, "dbL0B": 1, "iterateOrder": 1}},
    {"base": (32, 48, 32), "tiling": {"stepKa": 2, "depthA1": 4}},
    {"base": (32, 48, 32), "tiling": {"stepKb": 3, "depthB1": 3, "iterateOrder": 1}},
    {
        "base": (32, 48, 32),
        "tiling": {"stepKa": 10, "depthA1": 20, "stepM": 2, "stepKb": 10, "depthB1": 10},
    },
    {
        "base": (32, 32, 32),
        "tiling": {"stepKa": 10, "depthA1": 10, "stepKb": 10, "stepN": 3, "depthB1": 30},
    },
]


@pytest.mark.parametrize("chaos", ["0", "1", "2", "3"])
@pytest.mark.parametrize("given", TILINGS, ids=str)
@pytest.mark.parametrize("kernel", ["half_float", "int8_int32"])
def test_any_valid_tiling_in_any_order_of_pipes(
    runtime: Runtime, library: ctypes.CDLL, kernel: str, given: dict[str, Any], chaos: str
) -> None:
    src, out, bias = TYPES[kernel]
    product = Product(kernel, 90, 110, 300, src, out, bias=bias, **given)
    with runtime.options(chaos=chaos):
        product.check(product.run(runtime, library))


@pytest.mark.parametrize("parts", [(3, 1, 1), (1, 3, 1), (2, 3, 1)])
@pytest.mark.parametrize("trans", [False, True])
def test_parts_of_cores(
    runtime: Runtime, library: ctypes.CDLL, parts: tuple[int, int, int], trans: bool
) -> None:
    product = Product(
        "half_float", 150, 170, 64, parts=parts, trans_a=trans, trans_b=trans, bias=np.float32
    )
    product.check(product.run(runtime, library))


@pytest.mark.parametrize("way", [ALL, TILES])
def test_parts_of_k_are_added_up_in_gm(runtime: Runtime, library: ctypes.CDLL, way: int) -> None:
    """Each core has a part of K, and Fixpipe adds."""
    product = Product(
        "half_float", 40, 50, 300, parts=(1, 1, 3), way=way, told={"atomic": 1}, seed=3
    )
    product.check(product.run(runtime, library))


@pytest.mark.parametrize(("atomic", "of"), [(2, np.maximum), (3, np.minimum)])
def test_larger_and_smaller_ones(
    runtime: Runtime, library: ctypes.CDLL, atomic: int, of: np.ufunc
) -> None:
    product = Product("half_float", 40, 50, 33, told={"atomic": atomic})
    plain = Product("half_float", 40, 50, 33).run(runtime, library)
    got = product.run(runtime, library, before=0.5)
    np.testing.assert_array_equal(got, of(plain, np.float32(0.5)))


def test_tiles_one_by_one(runtime: Runtime, library: ctypes.CDLL) -> None:
    """Iterate and GetTensorC are IterateAll; a tile can be taken twice."""
    product = Product("half_float", 70, 100, 50, way=TILES)
    product.check(product.run(runtime, library))
    once = Product("half_float", 70, 100, 50).run(runtime, library)
    twice = Product("half_float", 70, 100, 50, way=TILES_TWICE).run(runtime, library)
    np.testing.assert_array_equal(twice, 2 * once)


def test_tiles_one_behind_the_other(runtime: Runtime, library: ctypes.CDLL) -> None:
    """enSequentialWrite: each is a matrix of baseM x baseN."""
    product = Product("half_float", 50, 100, 50, way=DENSE)
    got = product.run(runtime, library, elements=4 * 32 * 64).reshape(4, 32, 64)
    plain = Product("half_float", 50, 100, 50).run(runtime, library)
    for number, (row, column) in enumerate([(0, 0), (32, 0), (0, 64), (32, 64)]):
        tile = plain[row : row + 32, column : column + 64]
        np.testing.assert_array_equal(got[number, : tile.shape[0], : tile.shape[1]], tile)


@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize(("m", "n", "k"), [(32, 64, 96), (50, 100, 70), (17, 30, 20)])
def test_parts_of_k_that_are_not_added_up(
    runtime: Runtime, library: ctypes.CDLL, m: int, n: int, k: int, order: int
) -> None:
    """isPartialOutput: a tile for each baseK of K, before those of the next place in C."""
    tiling = {"iterateOrder": order, "stepKa": 2, "depthA1": 2}
    product = Product("half_partial", m, n, k, way=DENSE, tiling=tiling)
    steps, down, across = -(-k // 32), -(-m // 32), -(-n // 64)
    elements = steps * down * across * 32 * 64
    got = product.run(runtime, library, elements=elements).reshape(-1, steps, 32, 64)
    places = [(row, column) for column in range(across) for row in range(down)]
    for number, (row, column) in enumerate(sorted(places) if order else places):
        rows, columns = slice(row * 32, row * 32 + 32), slice(column * 64, column * 64 + 64)
        for step in range(steps):
            part = Product("half_partial", m, n, k)
            part.a = product.a[rows, step * 32 : step * 32 + 32]
            part.b = product.b[step * 32 : step * 32 + 32, columns]
            part.check(got[number, step, : part.a.shape[0], : part.b.shape[1]])


@pytest.mark.plants_faults
@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"way": ALL}, "IterateAll of a Matmul object: the config has isPartialOutput"),
        ({"way": TILES}, "GetTensorC of a Matmul object: the config has isPartialOutput"),
        ({"way": STEPS}, "Iterate of a Matmul object: enPartialSum is true"),
        ({"way": DENSE, "bias": np.float32}, "SetBias of a Matmul object: the config has isPart"),
    ],
)
def test_mistakes_with_parts_that_are_not_added_up(
    runtime: Runtime, library: ctypes.CDLL, given: dict[str, Any], said: str
) -> None:
    with pytest.raises(KernelError, match=rf"matmul-use[\s\S]*{said}"):
        Product("half_partial", 32, 64, 32, **given).run(runtime, library)


def test_dual_master_means_nothing_to_cube_cores(runtime: Runtime, library: ctypes.CDLL) -> None:
    product = Product("half_dual_master", 70, 100, 50, bias=np.float32)
    product.check(product.run(runtime, library))


@pytest.mark.parametrize("trans", [False, True])
def test_halves_of_k_add_up_in_l0c(runtime: Runtime, library: ctypes.CDLL, trans: bool) -> None:
    """With enPartialSum, Iterate goes on with the tile that is there."""
    product = Product("half_float", 30, 60, 96, way=STEPS, trans_a=trans, trans_b=trans)
    product.check(product.run(runtime, library))


def test_two_objects_share_the_memories(runtime: Runtime, library: ctypes.CDLL) -> None:
    """Both have all of L1's halves and L0C: the second one waits for the first one's work."""
    for chaos in ("0", "1", "2", "3"):
        product = Product("half_float", 32, 64, 128, way=TWO_OBJECTS)
        with runtime.options(chaos=chaos):
            got = product.run(runtime, library)
        plain = Product("half_float", 32, 64, 128).run(runtime, library)
        np.testing.assert_array_equal(got, 2 * plain)


@pytest.mark.parametrize(
    ("trans_a", "trans_b"), [(False, False), (True, False), (False, True), (True, True)]
)
@pytest.mark.parametrize(
    ("kernel", "src", "out"),
    [
        ("half_nz", np.float16, np.float32),
        ("float_nz", np.float32, np.float32),
        ("int8_nz", np.int8, np.int32),
    ],
)
def test_nz_in_gm(
    runtime: Runtime,
    library: ctypes.CDLL,
    kernel: str,
    src: npt.DTypeLike,
    out: npt.DTypeLike,
    trans_a: bool,
    trans_b: bool,
) -> None:
    """Whole fractals in GM, M, N and K ragged inside them."""
    product = Product(
        kernel, 75, 90, 140, src, out, nz=True, trans_a=trans_a, trans_b=trans_b, parts=(2, 2, 1)
    )
    product.check(product.run(runtime, library))


@pytest.mark.parametrize(
    ("kernel", "out", "wide"), [("half_to_nz", np.float16, 16), ("half_to_split", np.float32, 8)]
)
def test_c_in_nz(
    runtime: Runtime, library: ctypes.CDLL, kernel: str, out: npt.DTypeLike, wide: int
) -> None:
    product = Product(kernel, 48, 96, 50, out=out)
    got = product.run(runtime, library, elements=48 * 96)
    product.check(got.reshape(96 // wide, 48, wide).transpose(1, 0, 2).reshape(48, 96))


def test_rows_of_c_that_begin_on_blocks(runtime: Runtime, library: ctypes.CDLL) -> None:
    """ND_ALIGN, and SetOrgShape with a pitch of C of its own."""
    product = Product("half_aligned", 40, 50, 50, out=np.float16)
    got = product.run(runtime, library, elements=40 * 64)
    product.check(np.ascontiguousarray(got.reshape(40, 64)[:, :50]))
    product = Product("half_float", 40, 50, 50, told={"org_kc": 77})
    got = product.run(runtime, library, elements=40 * 77)
    product.check(np.ascontiguousarray(got.reshape(40, 77)[:, :50]))


@pytest.mark.parametrize("n", [64, 50, 17])
@pytest.mark.parametrize("by_vector", [False, True])
@pytest.mark.parametrize(
    ("kernel", "src", "out", "factor"),
    [
        ("int8_half", np.int8, np.float16, 0.0078125),
        ("int8_int8", np.int8, np.int8, 0.001),
        ("half_int8", np.float16, np.int8, 10.0),
    ],
)
def test_quantisation(
    runtime: Runtime,
    library: ctypes.CDLL,
    kernel: str,
    src: npt.DTypeLike,
    out: npt.DTypeLike,
    factor: float,
    by_vector: bool,
    n: int,
) -> None:
    """One parameter, or one for each column, which L1 gets tile by tile."""
    word = model.word_of(factor, 3 if out is np.int8 else 0)
    words = np.full(n, word, np.uint64)
    told = {"quant": 1, "low": word & 0xFFFFFFFF, "high": word >> 32}
    if by_vector:
        factors = np.random.default_rng(n).uniform(0.5, 2, n) * factor
        words = np.array([model.word_of(f, 3 if out is np.int8 else 0) for f in factors], np.uint64)
        told = {"quant": 2}
    product = Product(kernel, 40, n, 64, src, out, base=(32, 32, 32), told=told, words=words)
    got = product.run(runtime, library)
    sums = product.want().astype(np.int32 if src is np.int8 else np.float32)
    np.testing.assert_allclose(
        got.astype(np.float64),
        model.quantise(sums, out, words, False).astype(np.float64),
        rtol=0,
        atol=1 if src is np.float16 else 0,  # float sums in another order
    )


def test_negative_results_become_zero(runtime: Runtime, library: ctypes.CDLL) -> None:
    got = Product("half_relu", 40, 50, 33).run(runtime, library)
    plain = Product("half_float", 40, 50, 33).run(runtime, library)
    np.testing.assert_array_equal(got, np.maximum(plain, 0))
    assert (plain < 0).any()


def test_hf32(runtime: Runtime, library: ctypes.CDLL) -> None:
    """Operands are rounded: another result than without, and End switches it off."""
    shape = (20, 30, 40)
    plain = Product("float_float", *shape, np.float32).run(runtime, library)
    rounded = Product("float_float", *shape, np.float32, told={"hf32": 1}).run(runtime, library)
    assert (plain != rounded).any()
    np.testing.assert_allclose(rounded, plain, atol=40 * 2.0**-11)


@pytest.mark.plants_faults
@pytest.mark.parametrize("rows", [False, True])
def test_rows_longer_than_65535(runtime: Runtime, library: ctypes.CDLL, rows: bool) -> None:
    """A config with intrinsicsCheck copies them row by row; without it that is a mistake."""
    product = Product("half_long" if rows else "half_float", 2, 3, 65600, base=(16, 16, 1024))
    if rows:
        product.check(product.run(runtime, library))
        return
    with pytest.raises(KernelError, match=r"matmul-use[\s\S]*rows of A have 65600 elements"):
        product.run(runtime, library)


@pytest.mark.parametrize("k", [64, 300, 41])
@pytest.mark.parametrize("trans_b", [False, True])
def test_row_vector(runtime: Runtime, library: ctypes.CDLL, trans_b: bool, k: int) -> None:
    product = Product("half_vector", 1, 90, k, base=(16, 64, 128), trans_b=trans_b)
    product.check(product.run(runtime, library))


@pytest.mark.parametrize("kernel", ["half_tscm", "half_tscm_buffer", "half_a1"])
@pytest.mark.parametrize("shape", [(32, 48, 64), (33, 50, 70), (128, 128, 128)])
def test_a_in_l1_and_c_in_l0c(
    runtime: Runtime, library: ctypes.CDLL, shape: tuple[int, int, int], kernel: str
) -> None:
    """TSCM or A1, of a queue or a TBuf, and CO1, which the kernel fills and empties."""
    product = Product(kernel, *shape, base=(128, 128, 64))
    product.check(product.run(runtime, library))


@pytest.mark.parametrize("trans", [False, True])
def test_layouts_of_batches_without_one_of_a(
    runtime: Runtime, library: ctypes.CDLL, trans: bool
) -> None:
    product = Product(
        "half_normal", 100, 130, 41, base=(48, 64, 32), trans_a=trans, trans_b=trans,
        bias=np.float32,
    )  # fmt: skip
    product.check(product.run(runtime, library))


@pytest.mark.parametrize("kernel", ["half_constant", "half_constant_alone"])
@pytest.mark.parametrize("shape", [(64, 96, 160), (50, 90, 141)])
def test_tilings_that_the_compiler_knows(
    runtime: Runtime, library: ctypes.CDLL, shape: tuple[int, int, int], kernel: str
) -> None:
    """GetMatmulApiTiling; its fields go before those at run time, which are other ones here."""
    product = Product(kernel, *shape, base=(16, 16, 16))
    product.check(product.run(runtime, library))


@pytest.mark.parametrize("shape", [(96, 192, 40), (150, 230, 64), (32, 64, 32)])
@pytest.mark.parametrize("kernel", ["half_upper", "half_lower", "half_nbuffer33"])
@pytest.mark.parametrize("way", [ALL, TILES])
def test_policies(
    runtime: Runtime, library: ctypes.CDLL, shape: tuple[int, int, int], kernel: str, way: int
) -> None:
    """Triangles: tiles of 32 x 64 are counted from C's first one; those left out keep what C had.
    C's type is in VECIN, and a GlobalTensor takes it.
    """
    product = Product(kernel, *shape, base=(32, 64, 32), bias=np.float32, way=way)
    down, right = np.indices((product.m, product.n)) // np.array((32, 64))[:, None, None]
    left_out = {"half_upper": down > right, "half_lower": down < right}.get(
        kernel, np.zeros((product.m, product.n), bool)
    )
    assert left_out.any() == (kernel != "half_nbuffer33" and shape != (32, 64, 32))
    got = product.run(runtime, library, before=-777)
    assert np.all(got[left_out] == -777)
    product.check(np.where(left_out, product.want().astype(np.float32), got))


@pytest.mark.parametrize("kernel", ["half_no_end", "half_float"])
def test_without_end(runtime: Runtime, library: ctypes.CDLL, kernel: str) -> None:
    """A config whose enableEnd is off, and the last object of a TPipe: CANN's page of End asks for
    it between objects, and the pipe takes back the flags.
    """
    product = Product(kernel, 40, 50, 33, way=NO_END)
    product.check(product.run(runtime, library))


MISTAKES: dict[str, tuple[dict[str, Any], str]] = {
    "no end before the next": (
        {"way": ONE_AFTER_THE_OTHER},
        r"End of a Matmul object: the object before this one .* End was not called",
    ),
    "no end between": (
        {"way": ONE_IN_THE_OTHER},
        r"End of a Matmul object: the object ends after products of another .* End was not called",
    ),
    "no a": ({"way": NO_A}, r"Iterate of a Matmul object: A is not set"),
    "no b": ({"way": NO_B}, r"Iterate of a Matmul object: B is not set"),
    "no tile": ({"way": TILE_FIRST}, r"GetTensorC of a Matmul object: there is no tile"),
    "atomic": ({"told": {"atomic": 7}}, r"enAtomic is 7; it is 0 to 3"),
    "bias": ({"told": {"bias": 1}}, r"the tiling's isBias is 0"),
    "tail": ({"told": {"tail_k": -3}}, r"SetTail of a Matmul object: K is -3"),
    "empty": ({"tiling": {"baseK": 0}}, r"baseK of the tiling is 0"),
    "fractal": ({"base": (24, 64, 32)}, r"baseM of the tiling is 24; it is a multiple of 16"),
    "L0A": ({"base": (1024, 16, 32)}, r"L0A: baseM x baseK x dbL0A are 131072 bytes of 65536"),
    "L0B": ({"base": (16, 1024, 32)}, r"L0B: baseN x baseK x dbL0B are 131072 bytes of 65536"),
    "L0C": ({"base": (192, 192, 32)}, r"L0C: baseM x .* are 147456 bytes of 131072"),
    "L1": (
        {"base": (128, 128, 64), "tiling": {"stepKa": 16, "depthA1": 32}},
        r"does not fit L1: 2 blocks of A of 262144 bytes, 2 of B of 16384 .* 557056 bytes of ",
    ),
    "table": (
        {"base": (16, 512, 32), "bias": np.float32, "tiling": {"dbL0B": 1, "dbL0A": 1}},
        r"the bias table: baseN x 4 bytes are 2048 bytes of 1024",
    ),
    "L1 by far": (
        {"tiling": {"stepKa": 2**25, "depthA1": 2**25}},
        r"does not fit L1: a block of 32 x 1073741824 elements",
    ),
    "depth": ({"tiling": {"depthA1": 3}}, r"depthA1 of the tiling is 3; .* 1 or 2"),
    "double": ({"tiling": {"dbL0C": 3}}, r"dbL0C of the tiling is 3"),
}


@pytest.mark.parametrize("name", MISTAKES)
@pytest.mark.plants_faults
def test_mistakes_are_named(runtime: Runtime, library: ctypes.CDLL, name: str) -> None:
    """With sizes; what is right beside each passes."""
    given, said = MISTAKES[name]
    product = Product("half_float", 40, 50, 64, **given)
    with pytest.raises(KernelError, match=r"matmul-use[\s\S]*" + said):
        product.run(runtime, library)
    Product("half_float", 40, 50, 64).run(runtime, library)


@pytest.mark.plants_faults
def test_config_without_a_bias(runtime: Runtime, library: ctypes.CDLL) -> None:
    """SetBias may stand in a branch that is not taken."""
    product = Product("half_no_bias", 40, 50, 33)
    product.check(product.run(runtime, library))
    product = Product("half_no_bias", 40, 50, 33, bias=np.float32)
    with pytest.raises(KernelError, match=r"matmul-use[\s\S]*the config has enableSetBias off"):
        product.run(runtime, library)


@pytest.mark.plants_faults
def test_tiles_that_begin_inside_what_is_moved_whole(
    runtime: Runtime, library: ctypes.CDLL
) -> None:
    """A square of bytes that is turned, and a fractal of NZ: other columns would come."""
    given: dict[str, Any] = {"src": np.int8, "out": np.int32, "base": (32, 48, 32)}
    two = {"stepN": 2, "depthB1": 2}
    product = Product("int8_int32", 40, 150, 64, tiling=two, **given)
    with pytest.raises(KernelError, match=r"matmul-use[\s\S]*a tile of B begins in the middle of"):
        product.run(runtime, library)
    product = Product("int8_nz", 40, 150, 64, nz=True, **given)
    with pytest.raises(KernelError, match="B is NZ, and a tile begins at column 48, within a fra"):
        product.run(runtime, library)
    product = Product("int8_int32", 40, 150, 64, **given)
    product.check(product.run(runtime, library))


@pytest.mark.plants_faults
def test_no_parameter_of_quantisation(runtime: Runtime, library: ctypes.CDLL) -> None:
    product = Product("int8_half", 40, 50, 64, np.int8, np.float16)
    with pytest.raises(KernelError, match=r"C is quantised, and no parameter is set"):
        product.run(runtime, library)
    product = Product("half_float", 40, 50, 64, told={"quant": 1})
    with pytest.raises(KernelError, match=r"SetQuantScalar .* C of this type is not quantised"):
        product.run(runtime, library)


@pytest.mark.plants_faults
def test_a_bias_that_the_table_does_not_take(runtime: Runtime, library: ctypes.CDLL) -> None:
    """Kernels give a bias that they never set the type of C; one that is set is named."""
    bf16 = ml_dtypes.bfloat16
    product = Product("bf16_of_bf16", 40, 50, 33, bf16, bf16)
    product.check(product.run(runtime, library))
    product = Product("bf16_of_bf16", 40, 50, 33, bf16, bf16, bias=bf16)
    with pytest.raises(KernelError, match=r"SetBias of a Matmul object: the bias is of bfloat16_t"):
        product.run(runtime, library)


HEAD = '#define ASCENDC_CUBE_ONLY\n#include "lib/matmul_intf.h"\nusing namespace AscendC;\n'
REFUSED = {
    "fp4x2 types with scales": "Matmul<Gm<uint8_t>, Gm<uint8_t>, Gm<int32_t>>",
    "A and B have one type": "Matmul<Gm<half>, Gm<float>, Gm<float>>",
    "C of integers is": "Matmul<Gm<int8_t>, Gm<int8_t>, Gm<float>>",
    "A in VECOUT": "Matmul<At<TPosition::VECOUT>, Gm<half>, Gm<float>>",
    "C goes to GM, UB or CO1": "Matmul<Gm<half>, Gm<half>, At<TPosition::A1>>",
    "SplitMMatmulPolicy and SplitNMatmulPolicy are of MIX kernels": (
        "Matmul<Gm<half>, Gm<half>, Gm<float>, Gm<float>, CFG_NORM, MatmulCallBackFunc<>,"
        " Impl::Detail::SplitMMatmulPolicy>"
    ),
    "policies of the kernel's own": (
        "Matmul<Gm<half>, Gm<half>, Gm<float>, Gm<float>, CFG_NORM, MatmulCallBackFunc<>,"
        " OwnPolicy>"
    ),
    "COLUMN_MAJOR does not exist before 950": "Matmul<Column<half>, Gm<half>, Gm<float>>",
    "isPartialOutput is of the MDL template": (
        "Matmul<Gm<half>, Gm<half>, Gm<float>, Gm<float>, kPartialNorm>"
    ),
    "a policy with modules of the kernel's own, such as CopyCubeInA": (
        "Matmul<Gm<half>, Gm<half>, Gm<float>, Gm<float>, CFG_NORM, MatmulCallBackFunc<>,"
        " OwnModule>"
    ),
    "A and B of a batch have a LayoutMode": "Matmul<Batch<half>, Gm<half>, Gm<float>>",
    "without a LayoutMode of A there is one product": "Matmul<Gm<half>, Batch<half>, Gm<float>>",
    "NORM template, without quantisation": "Matmul<Batch<half>, Batch<half>, Batch<int8_t>>",
}


def compiler_says(toolkit: Path, text: str, *flags: str) -> str:
    """About a source."""
    command = ["g++", "-std=c++17", "-fsyntax-only", "-D__NPU_ARCH__=2201", "-D__CCE_AICORE__=220"]
    command += [*flags, f"-I{toolkit}/include", "-x", "c++", "-"]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=False).stderr


@pytest.mark.parametrize("said", REFUSED)
def test_what_is_not_simulated_does_not_compile(toolkit: Path, said: str) -> None:
    text = HEAD + (
        "template <typename T> using Gm = MatmulType<TPosition::GM, CubeFormat::ND, T>;\n"
        "template <typename T> using Batch = MatmulType<TPosition::GM, CubeFormat::ND, T, false,"
        " LayoutMode::NORMAL>;\n"
        "template <typename T> using Column ="
        " MatmulType<TPosition::GM, CubeFormat::COLUMN_MAJOR, T>;\n"
        "constexpr MatmulConfig kPartialNorm = [] { MatmulConfig c = CFG_NORM;"
        " c.isPartialOutput = true; return c; }();\n"
        "template <TPosition pos> using At = MatmulType<pos, CubeFormat::ND, half>;\n"
        "template <const auto&, typename...> struct OwnPolicy {};\n"
        "template <const auto& config, typename M, typename A, typename B, typename C, typename D>"
        " struct SixTypes : Impl::Detail::MatmulPolicy<config, M, A, B, C, D> {};\n"
        "template <const auto& config, typename... Types> struct OwnModule :"
        " Impl::Detail::MatmulPolicy<config, Types...> { using CopyCubeInA = int; };\n"
        'extern "C" __global__ __aicore__ void k(GM_ADDR) {\n  %s object;\n}\n'
    )
    assert said in compiler_says(toolkit, text % REFUSED[said], CUBE)
    plain = "Gm<half>, Gm<half>, Gm<float>"
    derived = f"Matmul<{plain}, Gm<float>, CFG_NORM, MatmulCallBackFunc<>, SixTypes>"
    for taken in (f"Matmul<{plain}>", derived):
        assert compiler_says(toolkit, text % taken, CUBE) == ""


@pytest.mark.parametrize("half", [CUBE, "-D__DAV_C220_VEC__", "-DNO_HALF"])
def test_vector_cores_may_call(toolkit: Path, half: str) -> None:
    """Without ASCENDC_CUBE_ONLY; what includes the header and uses none of it compiles."""
    head = HEAD.partition("\n")[2]
    use = (
        "using Gm = MatmulType<TPosition::GM, CubeFormat::ND, half>;\n"
        'extern "C" __global__ __aicore__ void k(__kfc_workspace__ GM_ADDR) {\n'
        "  Matmul<Gm, Gm, Gm> object;\n}\n"
    )
    assert compiler_says(toolkit, head + use, half) == ""
    assert compiler_says(toolkit, head + "inline void Unused() {}\n", half) == ""
