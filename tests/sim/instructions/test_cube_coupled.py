# SPDX-License-Identifier: Apache-2.0
"""The matrix unit of coupled cores: products that leave L0C by UB; each mistake as what it is."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from instructions import cube_model as model
from instructions.bench import KernelError, Runtime, compile_kernel

ALL_PIPES = ["0", "1", "2", "3", "9", "17"]
BY_L1, BY_UB, FROM_GM = range(3)
NOTHING, ROW, FRACTALS = range(3)
KEPT = 7
C = {np.float32: np.float32, np.float16: np.float32, np.int32: np.int32}
"""What L0C holds, by the type that leaves it; half_half has half there."""
SOCS = {"ascend310p": "Ascend310P3", "ascend910": "Ascend910A"}

Array = npt.NDArray[Any]


@pytest.fixture(scope="module")
def libraries(toolkit: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, ctypes.CDLL]:
    """The kernels of cube_coupled.cpp, by family of SoCs."""
    return {
        family: ctypes.CDLL(
            str(
                compile_kernel(
                    toolkit, tmp_path_factory.mktemp(family), "cube_coupled", "-O1", "-g",
                    soc=family,
                )
            )
        )
        for family in SOCS
    }  # fmt: skip


@pytest.fixture(params=SOCS)
def library(
    request: pytest.FixtureRequest, libraries: dict[str, ctypes.CDLL], runtime: Runtime
) -> Iterator[ctypes.CDLL]:
    """Those of one family, on its SoC."""
    with runtime.options(soc=SOCS[request.param]):
        yield libraries[request.param]


def raw(array: Array) -> Array:
    """As bytes."""
    return np.ascontiguousarray(array).view(np.uint8).reshape(-1)


def run(
    runtime: Runtime,
    library: ctypes.CDLL,
    kernel: str,
    operands: tuple[Array, Array],
    shape: tuple[int, int, int],
    out: Any,
    *,
    way: int = BY_L1,
    mmads: int = 1,
    begin: Array | None = None,
    rows: bool = False,
    relu: bool = False,
) -> Array:
    """The product's rows and columns."""
    m, n, k = shape
    left, right = operands
    m1, n1 = -(-m // 16), -(-n // 16)
    # Whole fractals leave L0C: what no Mmad writes has a value of its own, and keeps it.
    tails = begin is None and (m % 16 != 0 or n % 16 != 0)
    if tails:
        begin = np.full((n1, m1 * 16, 16), KEPT, np.float16 if kernel == "half_half" else C[out])
    start = np.zeros(32, np.uint8) if begin is None else raw(begin)
    kind = NOTHING if begin is None else ROW if begin.ndim == 1 else FRACTALS
    words = np.zeros(16, np.int32)
    words[:14] = [
        left.size, right.size, start.size, way, left.size // 512, right.size // 512, m, n, k,
        mmads, kind, rows, relu, tails,
    ]  # fmt: skip
    result: Array = np.zeros(m1 * n1 * (16 if rows else 256), out)
    (got,) = runtime.launch(library[kernel], [left, right, start, result, words], outputs=[3])
    if rows:
        return got.reshape(n1 * 16)[:n].reshape(1, n)
    matrix = nz_rows(got, m1 * 16)
    assert not tails or ((matrix[m:] == KEPT).all() and (matrix[:, n:] == KEPT).all())
    return matrix[:m, :n]


def nz_rows(fractals: Array, rows: int) -> Array:
    """Columns of 16 elements of L0C as a matrix."""
    return fractals.reshape(-1, rows, 16).transpose(1, 0, 2).reshape(rows, -1)


def to_l0c(matrix: Array) -> Array:
    """The other way round, filled up to whole fractals."""
    rows, columns = (model.up(size, 16) for size in matrix.shape)
    padded = np.zeros((rows, columns), matrix.dtype)
    padded[: matrix.shape[0], : matrix.shape[1]] = matrix
    return padded.reshape(rows, -1, 16).transpose(1, 0, 2)


def some(rng: np.random.Generator, shape: tuple[int, ...], dtype: npt.DTypeLike) -> Array:
    """Numbers that products do not round away."""
    if np.issubdtype(dtype, np.integer):
        info = np.iinfo(dtype)
        return rng.integers(info.min, info.max, shape, endpoint=True).astype(dtype)
    return rng.uniform(-2, 2, shape).astype(dtype)


def operands_of(a: Array, b: Array) -> tuple[Array, Array]:
    """Both as L0 has them; a vector as it is."""
    left = raw(model.fractals(a, "zz"))
    if a.shape[0] == 1:
        left = np.pad(raw(a), (0, model.up(raw(a).size, 512) - raw(a).size))
    return left, raw(model.fractals(b, "zn"))


TYPES = {
    "half_float": (np.float16, np.float16, np.float32),
    "half_half": (np.float16, np.float16, np.float16),
    "half_float_half": (np.float16, np.float16, np.float16),
    "int8_int32": (np.int8, np.int8, np.int32),
    "uint8_int8_int32": (np.uint8, np.int8, np.int32),
}
SHAPES = [(16, 16, 16), (33, 50, 41), (1, 17, 70), (64, 64, 96), (5, 100, 3)]


@pytest.mark.parametrize("way", [BY_L1, BY_UB, FROM_GM])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kernel", TYPES)
def test_mmad(
    runtime: Runtime, library: ctypes.CDLL, kernel: str, shape: tuple[int, int, int], way: int
) -> None:
    """Each pair of types, tails of M, N and K, vectors; A by each way that these cores have."""
    of_a, of_b, out = TYPES[kernel]
    m, n, k = shape
    rng = np.random.default_rng(m * n * k)
    a, b = some(rng, (m, k), of_a), some(rng, (k, n), of_b)
    got = run(runtime, library, kernel, operands_of(a, b), shape, out, way=way)
    want = model.mmad(a, b, None, 32 if of_b is np.int8 else 16)
    np.testing.assert_array_equal(got, want.astype(out))
    if of_a is np.float16:
        exact = a.astype(np.float64) @ b.astype(np.float64)
        np.testing.assert_allclose(got, exact, rtol=2e-3, atol=2e-2)


def four_bits(runtime: Runtime, library: ctypes.CDLL) -> tuple[Array, Array]:
    """What a product of int4b_t is, and what it must be."""
    rng = np.random.default_rng(2)
    m, n, k = 20, 33, 130
    a, b = (rng.integers(-8, 8, size).astype(np.int8) for size in ((m, k), (k, n)))
    operands = (model.packed(a, "zz"), model.packed(b, "zn"))
    got = run(runtime, library, "int4_int32", operands, (m, n, k), np.int32)
    return got, model.mmad(a, b, None, 64)


def test_mmad_of_4_bits(runtime: Runtime, libraries: dict[str, ctypes.CDLL]) -> None:
    with runtime.options(soc="Ascend310P3"):
        got, want = four_bits(runtime, libraries["ascend310p"])
    np.testing.assert_array_equal(got, want)


@pytest.mark.plants_faults
def test_910_has_no_4_bits(runtime: Runtime, libraries: dict[str, ctypes.CDLL]) -> None:
    with runtime.options(soc="Ascend910A"), pytest.raises(KernelError, match="dtype-unsupported"):
        four_bits(runtime, libraries["ascend910"])


@pytest.mark.parametrize("kernel", ["half_float", "half_half", "int8_int32"])
@pytest.mark.parametrize("begin", ["row", "fractals"])
def test_what_c_begins_with(
    runtime: Runtime, library: ctypes.CDLL, kernel: str, begin: str
) -> None:
    """A bias by BroadCastVecToMM, or fractals that were in UB; then two Mmads on top of it."""
    of_a, of_b, out = TYPES[kernel]
    rng = np.random.default_rng(3)
    a, b = some(rng, (20, 48), of_a), some(rng, (48, 32), of_b)
    start = rng.integers(-9, 9, 32 if begin == "row" else (20, 32)).astype(out)
    given = start if begin == "row" else to_l0c(start)
    got = run(runtime, library, kernel, operands_of(a, b), (20, 32, 48), out, mmads=2, begin=given)
    want: Array = np.broadcast_to(start, (20, 32))
    for _ in range(2):
        want = model.mmad(a, b, want, 16).astype(out)
    np.testing.assert_array_equal(got, want)


def test_first_rows(runtime: Runtime, library: ctypes.CDLL) -> None:
    """BLOCK_MODE_VECTOR, of a product of a vector, with relu."""
    rng = np.random.default_rng(4)
    a, b = some(rng, (1, 48), np.float16), some(rng, (48, 60), np.float16)
    got = run(
        runtime, library, "half_float", operands_of(a, b), (1, 60, 48), np.float32, rows=True,
        relu=True,
    )  # fmt: skip
    np.testing.assert_array_equal(got, np.maximum(model.mmad(a, b, None, 16), 0))


FAULTS = {
    "no_mte2_mte1": ("race-read-after-write", "HardEvent::MTE2_MTE1"),
    "no_mte1_m": ("race-read-after-write", "HardEvent::MTE1_M"),
    "no_m_v": ("race-read-after-write", "HardEvent::M_V"),
    "no_v_m": ("race-write-after-read", "HardEvent::V_M"),
    "no_v_mte3": ("race-read-after-write", "HardEvent::V_MTE3"),
    "no_mte3_mte1": ("race-read-after-write", "HardEvent::MTE3_MTE1"),
    "first_adds_up": ("undefined-read", "L0C"),
    "too_few_repeats": ("undefined-read", "L0A"),
    "past_l1": ("ub-out-of-bounds", "L1 1047552"),
    "past_l0c": ("ub-out-of-bounds", "L0C 260096"),
    "misaligned": ("ub-misaligned", "L0A byte 32"),
    "vector_on_l1": ("instruction-absent", "lies in L1, Adds takes it from UB"),
    "fixpipe": ("instruction-absent", "no copy from L0C to GM"),
    "bias_table": ("instruction-absent", "has no bias table"),
    "plain_copy_out": ("instruction-absent", "without a block mode"),
    "wrong_types": ("dtype-unsupported", "bfloat16_t x bfloat16_t"),
    "transposed_load": ("instruction-absent", "LoadDataWithTranspose does not exist"),
    "nd2nz": ("instruction-absent", "DataCopy (ND to NZ)"),
    "from_l1": ("instruction-absent", "no copy from L1 to GM"),
}


def fixed() -> tuple[list[Array], Array]:
    """Both operands as L0 has them, the output, and what it must be: fractals of L0C."""
    rng = np.random.default_rng(1)
    a, b = (rng.integers(-4, 5, (32, 32)).astype(np.float16) for _ in range(2))
    arrays = [model.fractals(a, "zz"), model.fractals(b, "zn"), np.zeros(1024, np.float32)]
    return arrays, a.astype(np.float32) @ b.astype(np.float32)


@pytest.mark.parametrize("chaos", ALL_PIPES)
@pytest.mark.parametrize("name", ["right", "by_queues"])
def test_without_a_mistake(runtime: Runtime, library: ctypes.CDLL, name: str, chaos: str) -> None:
    arrays, want = fixed()
    with runtime.options(chaos=chaos):
        (got,) = runtime.launch(library[name], arrays, outputs=[2])
    np.testing.assert_array_equal(nz_rows(got, 32), want)


@pytest.mark.plants_faults
@pytest.mark.parametrize("name", FAULTS)
def test_mistake(runtime: Runtime, library: ctypes.CDLL, name: str) -> None:
    kind, text = FAULTS[name]
    arrays, _ = fixed()
    with pytest.raises(KernelError) as caught:
        runtime.launch(library[name], arrays, outputs=[2])
    assert f"[{kind}]" in str(caught.value), str(caught.value)
    assert text in str(caught.value), str(caught.value)
