# SPDX-License-Identifier: Apache-2.0
"""Products of 4-bit integers and of 4:2 sparse matrices, exactly: by Matmul at ragged shapes and
any valid tiling, and by the instructions themselves.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from instructions import cube_model as model
from instructions.bench import KernelError, Runtime, compile_kernel
from instructions.test_matmul import CUBE, HEAD, Product, compiler_says, field_names, up

Array = npt.NDArray[Any]


@pytest.fixture(scope="module")
def library(toolkit: Path, tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """The kernels of matmul_narrow.cpp."""
    folder = tmp_path_factory.mktemp("matmul_narrow")
    return ctypes.CDLL(str(compile_kernel(toolkit, folder, "matmul_narrow", "-O1", "-g", CUBE)))


def in_fractals(matrix: Array, columns: int) -> Array:
    """NZ with fractals of 16 rows and so many columns."""
    rows, width = up(matrix.shape[0], 16), up(matrix.shape[1], columns)
    whole = np.zeros((rows, width), matrix.dtype)
    whole[: matrix.shape[0], : matrix.shape[1]] = matrix
    return whole.reshape(rows, width // columns, columns).transpose(1, 0, 2).reshape(-1)


def packed(numbers: Array) -> Array:
    """Two 4-bit integers in a byte, the first one low."""
    flat = numbers.reshape(-1).astype(np.uint8) & 15
    return flat[::2] | flat[1::2] << 4


@dataclass
class Narrow(Product):
    """A product of a kernel of matmul_narrow.cpp."""

    index: Array | None = None

    def of_b(self) -> Array:
        """As it lies in GM."""
        return packed(self.lying(self.b, self.trans_b))

    def lying(self, matrix: Array, transposed: bool) -> Array:
        lying = np.ascontiguousarray(matrix.T if transposed else matrix)
        return in_fractals(lying, 64) if self.nz else lying

    def run(
        self, runtime: Runtime, library: ctypes.CDLL, elements: int = 0, before: float = 0
    ) -> Array:
        """C."""
        assert elements == 0 and before == 0
        numbers = self.numbers()
        words = [numbers.get(name, 0) for name in field_names()]
        told = {"trans_b": int(self.trans_b), "bias": int(self.bias is not None)}
        told |= {"low": 0, "high": 0, "indexed": 1, "none": 0}
        words += (told | self.told).values()
        arrays = [
            packed(self.lying(self.a, False)) if self.index is None else self.a.reshape(-1),
            self.of_b(),
            np.zeros(self.m * self.n, self.out),
            self.of_bias.astype(np.int32),
            np.zeros(32, np.uint8) if self.index is None else self.index,
            np.array(words, np.int64).astype(np.uint32).view(np.int32),
        ]
        kernel, cores = library[self.kernel], numbers["usedCoreNum"]
        (got,) = runtime.launch(kernel, arrays, outputs=[2], block_dim=cores)
        return got.reshape(self.m, self.n)


def of_4_bits(kernel: str, m: int, n: int, k: int, **more: Any) -> Narrow:
    given: dict[str, Any] = {"base": (32, 64, 64), "out": np.int32, "seed": m}
    product = Narrow(kernel, m, n, k, np.int8, **(given | more))
    rng = np.random.default_rng(m + n + k)
    product.a = rng.integers(-8, 8, (m, k)).astype(np.int8)
    product.b = rng.integers(-8, 8, (k, n)).astype(np.int8)
    return product


SHAPES_4 = [(1, 2, 2), (33, 70, 66), (100, 130, 200), (16, 64, 64), (5, 30, 258)]


@pytest.mark.parametrize("trans_b", [False, True])
@pytest.mark.parametrize("parts", [(1, 1, 1), (2, 2, 1)])
@pytest.mark.parametrize(("m", "n", "k"), SHAPES_4)
def test_int4(
    runtime: Runtime, library: ctypes.CDLL, m: int, n: int, k: int, parts: Any, trans_b: bool
) -> None:
    product = of_4_bits("int4_int32", m, n, k, parts=parts, trans_b=trans_b, bias=np.int32)
    np.testing.assert_array_equal(product.run(runtime, library), product.want())


@pytest.mark.parametrize("trans_b", [False, True])
@pytest.mark.parametrize("steps", [{}, {"stepKa": 4, "depthA1": 8, "stepKb": 2, "depthB1": 2}])
@pytest.mark.parametrize("base", [(16, 16, 64), (48, 128, 128)])
def test_int4_with_any_valid_tiling(
    runtime: Runtime, library: ctypes.CDLL, base: Any, steps: dict[str, int], trans_b: bool
) -> None:
    product = of_4_bits(
        "int4_int32", 90, 150, 400, base=base, tiling=steps, trans_b=trans_b, bias=np.int32
    )
    for chaos in ("0", "2"):
        with runtime.options(chaos=chaos):
            np.testing.assert_array_equal(product.run(runtime, library), product.want())


@pytest.mark.parametrize("trans_b", [False, True])
def test_int4_in_nz(runtime: Runtime, library: ctypes.CDLL, trans_b: bool) -> None:
    product = of_4_bits("int4_nz", 75, 90, 140, nz=True, trans_b=trans_b)
    np.testing.assert_array_equal(product.run(runtime, library), product.want())


def test_int4_dequantised(runtime: Runtime, library: ctypes.CDLL) -> None:
    word = model.word_of(0.0078125, 0)
    told = {"low": word & 0xFFFFFFFF, "high": word >> 32}
    product = of_4_bits("int4_half", 40, 50, 64, out=np.float16, told=told)
    words = np.full(50, word, np.uint64)
    want = model.quantise(product.want().astype(np.int32), np.float16, words, False)
    np.testing.assert_array_equal(product.run(runtime, library), want)


@pytest.mark.plants_faults
def test_rows_of_int4_are_whole_bytes(runtime: Runtime, library: ctypes.CDLL) -> None:
    product = of_4_bits("int4_int32", 16, 16, 64)
    product.tiling = {"Ka": 63, "Kb": 63, "singleCoreK": 63}
    with pytest.raises(KernelError, match=r"matmul-use[\s\S]*rows of A have 63 elements"):
        product.run(runtime, library)


def thinned(b: Array, rng: np.random.Generator) -> tuple[Array, Array, Array]:
    """A K x N matrix with at most two numbers of four in each column; its numbers alone, as
    N x K / 2; and the two bits for each of these: 0 to 2 of the first, 1 to 3 of the second one.
    """
    k, n = b.shape
    dense, bits = np.zeros((n, k // 2), np.int8), np.zeros((n, k // 2), np.uint8)
    for column in range(n):
        for group in range(0, k, 4):
            first, second = sorted(rng.choice(4, 2, replace=False))
            kept = b[group : group + 4, column].copy()
            b[group : group + 4, column] = 0
            b[group + first, column], b[group + second, column] = kept[first], kept[second]
            dense[column, group // 2 : group // 2 + 2] = kept[first], kept[second]
            bits[column, group // 2 : group // 2 + 2] = first, second - 1
    return b, dense, bits


def index_of(bits: Array) -> Array:
    """Four entries in a byte, in fractals of 16 x 8 bytes."""
    n, kept = bits.shape
    whole = np.zeros((n, up(kept, 4)), np.uint8)
    whole[:, :kept] = bits
    quads = whole.reshape(n, -1, 4)
    return in_fractals(
        quads[..., 0] | quads[..., 1] << 2 | quads[..., 2] << 4 | quads[..., 3] << 6, 8
    )


@dataclass
class Sparse(Narrow):
    """B without its zeros, and its index."""

    dense: Array | None = None

    def of_b(self) -> Array:
        assert self.dense is not None
        return self.dense.reshape(-1)


def sparse(m: int, n: int, k: int, **more: Any) -> Sparse:
    given: dict[str, Any] = {"base": (32, 64, 64), "trans_b": True, "out": np.int32, "seed": m}
    product = Sparse("sparse", m, n, k, np.int8, **(given | more))
    product.b, product.dense, bits = thinned(product.b, np.random.default_rng(n))
    product.index = index_of(bits)
    return product


@pytest.mark.parametrize("parts", [(1, 1, 1), (2, 2, 1)])
@pytest.mark.parametrize(("m", "n", "k"), [(16, 16, 64), (33, 70, 68), (100, 130, 300), (1, 5, 4)])
def test_sparse(runtime: Runtime, library: ctypes.CDLL, m: int, n: int, k: int, parts: Any) -> None:
    product = sparse(m, n, k, parts=parts, bias=np.int32)
    np.testing.assert_array_equal(product.run(runtime, library), product.want())


@pytest.mark.parametrize("chaos", ["0", "1", "3"])
@pytest.mark.parametrize(
    "steps",
    [
        {"stepKb": 3, "depthB1": 3},
        {"stepKa": 5, "depthA1": 10, "stepKb": 5, "depthB1": 10, "stepN": 1},
        {"stepKb": 6, "depthB1": 12, "stepN": 2, "stepKa": 6, "depthA1": 6},
    ],
)
def test_sparse_with_any_valid_tiling(
    runtime: Runtime, library: ctypes.CDLL, steps: dict[str, int], chaos: str
) -> None:
    product = sparse(50, 200, 380, base=(32, 48, 64), tiling=steps, bias=np.int32)
    with runtime.options(chaos=chaos):
        np.testing.assert_array_equal(product.run(runtime, library), product.want())


@pytest.mark.plants_faults
@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"told": {"indexed": 0}}, "B is sparse, and its index is not set"),
        ({"told": {"trans_b": 0}}, "B is sparse, and not transposed"),
        ({"base": (32, 64, 32)}, "baseK of the tiling is 32; it is a multiple of 64"),
    ],
)
def test_mistakes_of_sparse_products(
    runtime: Runtime, library: ctypes.CDLL, changed: dict[str, Any], said: str
) -> None:
    with pytest.raises(KernelError, match=rf"matmul-use[\s\S]*{said}"):
        sparse(32, 64, 128, **changed).run(runtime, library)


def by_instructions(
    runtime: Runtime, library: ctypes.CDLL, m: int, n: int, k: int, without: int = 0
) -> tuple[Array, Array]:
    """C, and what it is to be."""
    rng = np.random.default_rng(m * n + k)
    a = rng.integers(-128, 128, (m, k)).astype(np.int8)
    b, dense, bits = thinned(rng.integers(-128, 128, (k, n)).astype(np.int8), rng)
    arrays = [
        in_fractals(a, 32), in_fractals(dense, 32), np.zeros(m * n, np.int32), np.zeros(1),
        index_of(bits), np.array([m, n, k, without], np.int32),
    ]  # fmt: skip
    (got,) = runtime.launch(library["by_instructions"], arrays, outputs=[2])
    return got.reshape(m, n), a.astype(np.int64) @ b.astype(np.int64)


@pytest.mark.parametrize(
    ("m", "n", "k"), [(128, 128, 64), (1, 16, 64), (17, 33, 128), (40, 50, 92), (16, 16, 4)]
)
def test_mmad_with_sparse(runtime: Runtime, library: ctypes.CDLL, m: int, n: int, k: int) -> None:
    """A single row is a matrix, not a vector."""
    got, want = by_instructions(runtime, library, m, n, k)
    np.testing.assert_array_equal(got, want)


def test_two_elements_of_one_row(runtime: Runtime, library: ctypes.CDLL) -> None:
    """Index entries 1 and 0 are both of row 1: the page's table has its element twice."""
    a = np.arange(16 * 64, dtype=np.int64).reshape(16, 64).astype(np.int8)
    dense = np.ones((16, 32), np.int8)
    bits = np.tile(np.array([1, 0], np.uint8), (16, 16))
    arrays = [
        in_fractals(a, 32), in_fractals(dense, 32), np.zeros(256, np.int32), np.zeros(1),
        index_of(bits), np.array([16, 16, 64, 0], np.int32),
    ]  # fmt: skip
    (got,) = runtime.launch(library["by_instructions"], arrays, outputs=[2])
    want = 2 * a[:, 1::4].astype(np.int64).sum(axis=1)
    np.testing.assert_array_equal(got.reshape(16, 16), np.tile(want[:, None], (1, 16)))


@pytest.mark.plants_faults
@pytest.mark.parametrize(
    ("without", "said"),
    [
        (1, "undefined-read"),
        (2, "race-read-after-write"),
        (3, "kDirectionAlign of MmadWithSparse is true"),
    ],
)
def test_mistakes_of_the_instructions(
    runtime: Runtime, library: ctypes.CDLL, without: int, said: str
) -> None:
    with pytest.raises(KernelError, match=said):
        by_instructions(runtime, library, 32, 32, 64, without)


REFUSED = {
    "A of int4b_t has no transpose": "Matmul<Gm<int4b_t, true>, Gm<int4b_t>, Gm<int32_t>>",
    "C of int4b_t is int32_t or half": "Matmul<Gm<int4b_t>, Gm<int4b_t>, Gm<int8_t>>",
    "SparseMatmulType is of B": "Matmul<Thin<int8_t, true>, Gm<int8_t>, Gm<int32_t>>",
    "is transposed, of int8_t": "Matmul<Gm<int8_t>, Thin<int8_t, false>, Gm<int32_t>>",
    "of the MDL template": "Matmul<Gm<int8_t>, Thin<int8_t, true>, Gm<int32_t>>",
}


@pytest.mark.parametrize("said", REFUSED)
def test_what_does_not_exist_does_not_compile(toolkit: Path, said: str) -> None:
    text = HEAD + (
        "template <typename T, bool turned = false>"
        " using Gm = MatmulType<TPosition::GM, CubeFormat::ND, T, turned>;\n"
        "template <typename T, bool turned> using Thin ="
        " SparseMatmulType<TPosition::GM, TPosition::GM, CubeFormat::ND, T, turned>;\n"
        'extern "C" __global__ __aicore__ void k(GM_ADDR) {\n  %s object;\n}\n'
    )
    assert said in compiler_says(toolkit, text % REFUSED[said], CUBE)
    mixed = text.partition("\n")[2] % "Matmul<Gm<int8_t>, Thin<int8_t, true>, Gm<int32_t>>"
    assert "of kernels of cube cores alone" in compiler_says(toolkit, mixed, CUBE)
