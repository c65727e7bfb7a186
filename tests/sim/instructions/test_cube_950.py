# SPDX-License-Identifier: Apache-2.0
"""The matrix unit of Ascend 950: windows into L0, products of all types, results in all layouts."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest

from instructions import cube_model as model
from instructions.bench import Runtime, compile_kernel

SOC = "Ascend950PR_9589"
CUBE = "-D__DAV_C310_CUBE__"
ALL_PIPES = ["0", "1", "2", "3", "9"]
NO_QUANT, F322F16, F322BF16 = range(3)
QF322B8 = 5
QF322F16, VQF322F16, QF322BF16, VQF322BF16, QF322F32, VQF322F32, QF322FP8 = range(9, 16)
QF322HIF8, QF322HIF8_HYBRID, QS322BF16 = 17, 19, 21
TO_NZ, TO_ND, TO_DN, BY_REGISTERS, OLDER_NZ, OLDER_ND, ND_BY_REGISTERS = range(7)
E4M3, E5M2, E2M1 = ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2, ml_dtypes.float4_e2m1fn

Array = npt.NDArray[Any]


@pytest.fixture(scope="module")
def library(toolkit: Path, tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """The kernels of cube_950.cpp."""
    folder = tmp_path_factory.mktemp("cube_950")
    path = compile_kernel(toolkit, folder, "cube_950", "-O1", "-g", CUBE, soc="ascend950")
    return ctypes.CDLL(str(path))


@pytest.fixture(autouse=True)
def on_950(runtime: Runtime) -> Iterator[None]:
    """The SoC of this file."""
    with runtime.options(soc=SOC):
        yield


def hif8(codes: Array) -> Array:
    """What HiFloat8's bits are worth, by the table of its paper."""
    values = np.zeros(256, np.float32)
    for code in range(256):
        rest = code & 127
        for prefix, size in ((0x60, 4), (0x40, 3), (0x20, 2), (0x10, 1), (0x08, 0)):
            if rest >= prefix:
                mantissa = {4: 1, 3: 2}.get(size, 3)
                exponent = 0
                if size:
                    bits = rest >> mantissa & ((1 << size) - 1)
                    magnitude = bits & ((1 << (size - 1)) - 1) | 1 << (size - 1)
                    exponent = -magnitude if bits >> (size - 1) else magnitude
                part = rest & ((1 << mantissa) - 1)
                values[code] = (1 + part / 2**mantissa) * 2.0**exponent
                break
        else:
            values[code] = 0 if rest == 0 else 2.0 ** (rest - 23)
        values[code] *= -1 if code & 128 else 1
    values[[0x6F, 0xEF]] = np.inf, -np.inf
    values[0x80] = np.nan
    return values[codes]


def to_hif8(values: Array) -> Array:
    """The nearest code of each; ties go away from 0, what is too large becomes 2^15."""
    codes = np.array([code for code in range(128) if code not in (0x6F,)], np.uint8)
    worth = hif8(codes)
    order = np.argsort(worth)
    codes, worth = codes[order], worth[order]
    magnitude = np.minimum(np.abs(values.astype(np.float64)), 2.0**15)
    middle = (worth[1:].astype(np.float64) + worth[:-1]) / 2
    code = codes[np.searchsorted(middle, magnitude, side="right")]
    return np.where((values < 0) & (code != 0), code | 128, code).astype(np.uint8)


def raw(array: Array) -> Array:
    """As bytes."""
    return np.ascontiguousarray(array).view(np.uint8).reshape(-1)


def window(rows: int, columns: int, k0: int, *, transpose: bool = False) -> list[int]:
    """All of a matrix in NZ, by LoadData2DParamsV2; L0 has its columns of fractals dense."""
    m1, k1 = -(-rows // 16), -(-columns // k0)
    return [0, 0, m1, k1, m1, k1 * k0 // 16 if transpose else m1, int(transpose)]


@dataclass
class Product:
    """What cube_950.cpp's pipeline does; see there for the words."""

    kernel: str
    a: Array
    b: Array
    load_a: list[int]
    load_b: list[int]
    shape: tuple[int, int, int]
    out: npt.DTypeLike = np.float32
    to: int = TO_ND
    fix: dict[str, int] = field(default_factory=dict)
    bias: Array = field(default_factory=lambda: np.zeros(0, np.uint8))
    quant: Array = field(default_factory=lambda: np.zeros(0, np.uint64))
    scales: tuple[Array, Array] | None = None
    mmads: int = 1
    by_fractals: bool = False
    no_gemv: bool = False
    by_intrinsics: bool = False  # loads of MX formats
    hf32: bool = False
    elements: int = 0
    lines: list[int] = field(default_factory=list)  # of LoadDataWithStride

    def words(self) -> Array:
        """In the order of the kernel."""
        m, n, k = self.shape
        words = np.zeros(96, np.int64)
        words[:4] = [self.a.size, self.b.size, self.bias.size, self.quant.nbytes]
        words[10 : 10 + len(self.load_a)] = self.load_a
        words[17] = self.by_fractals
        words[20 : 20 + len(self.load_b)] = self.load_b
        words[30:37] = [m, n, k, self.mmads, 0, self.no_gemv, self.hf32]
        rows, padded = model.up(m, 16), model.up(n, 16)
        strides = {TO_NZ: rows * 16, TO_DN: m, BY_REGISTERS: rows * 16}
        defaults = {
            "n": padded if self.to in (TO_NZ, BY_REGISTERS) else n, "m": m, "srcStride": rows,
            "dstStride": strides.get(self.to, n), "quant": NO_QUANT, "relu": 0, "unit": 0, "num": 1,
            "srcNd": 0, "dstNd": 0, "low": 0, "high": 0, "split": 0, "srcRow": 1,
        }  # fmt: skip
        assert not set(self.fix) - set(defaults), self.fix
        words[40] = self.to
        words[41:55] = list((defaults | self.fix).values())
        if self.scales:
            words[4:6] = [part.size for part in self.scales]
            for at, lines in ((60, m), (70, n)):
                pairs = -(-k // 64)
                words[at : at + 6] = [0, 0, -(-lines // 16), pairs, pairs, pairs]
        words[79] = self.by_intrinsics
        words[80 : 80 + len(self.lines)] = self.lines
        return words.astype(np.uint32).view(np.int32)

    def run(self, runtime: Runtime, library: ctypes.CDLL) -> Array:
        """The output's elements."""
        m, n, _ = self.shape
        out = np.zeros(self.elements or m * n, self.out)
        more = self.bias if self.bias.size else raw(self.quant)
        more = np.concatenate(self.scales) if self.scales else more
        more = np.pad(more, (0, max(32, model.up(more.size, 32)) - more.size))
        arrays = [self.a, self.b, out, more, self.words()]
        (got,) = runtime.launch(library[self.kernel], arrays, outputs=[2])
        return got


def whole(kernel: str, a: Array, b: Array, **more: Any) -> Product:
    """A lies M x K in L1, B as N x K: both as they are."""
    k0 = model.columns_of(a.itemsize * 8)
    m, k = a.shape
    n = b.shape[1]
    return Product(
        kernel,
        raw(model.to_nz(a)),
        raw(model.to_nz(np.ascontiguousarray(b.T))),
        window(m, k, k0),
        window(n, k, k0),
        (m, n, k),
        **more,
    )


def some(rng: np.random.Generator, shape: tuple[int, ...], dtype: npt.DTypeLike) -> Array:
    """Numbers that products do not round away."""
    if np.issubdtype(dtype, np.integer):
        info = np.iinfo(dtype)
        return rng.integers(info.min, info.max, shape, endpoint=True).astype(dtype)
    return rng.uniform(-2, 2, shape).astype(dtype)


def close(got: Array, a: Array, b: Array) -> None:
    """Against float64, within what sums in float32 may be off by."""
    left, right = a.astype(np.float64), b.astype(np.float64)
    limit = (np.abs(left) @ np.abs(right)) * 2.0**-23 * (left.shape[1] // 8 + 2)
    assert (np.abs(got - left @ right) <= limit + 1e-30).all()


TYPES = {
    "half_float": (np.float16, np.float16, np.float32, 16),
    "bf16_float": (ml_dtypes.bfloat16, ml_dtypes.bfloat16, np.float32, 16),
    "float_float": (np.float32, np.float32, np.float32, 8),
    "int8_int32": (np.int8, np.int8, np.int32, 32),
    "e4m3_float": (E4M3, E4M3, np.float32, 32),
    "e5m2_e4m3_float": (E5M2, E4M3, np.float32, 32),
}
SHAPES = [(16, 16, 16), (33, 50, 41), (1, 17, 70), (128, 64, 96), (5, 100, 3), (20, 16, 130)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kernel", TYPES)
def test_mmad(
    runtime: Runtime, library: ctypes.CDLL, kernel: str, shape: tuple[int, int, int]
) -> None:
    """Fractals of A column by column; tails of M, N and K; vectors; each pair of types."""
    of_a, of_b, out, step = TYPES[kernel]
    m, n, k = shape
    rng = np.random.default_rng(m * n * k)
    a, b = some(rng, (m, k), of_a), some(rng, (k, n), of_b)
    product = whole(kernel, a, b, out=out)
    if m == 1:  # a vector lies element behind element
        product.a = np.pad(raw(a), (0, model.up(raw(a).size, 512) - raw(a).size))
        product.load_a = [0, product.a.size // 512, 1, 0, 0, 0, 0]
        product.by_fractals = True
    got = product.run(runtime, library).reshape(m, n)
    if np.issubdtype(out, np.integer):
        np.testing.assert_array_equal(got, model.mmad(a, b, None, step))
    else:
        np.testing.assert_array_equal(got, model.mmad(a.astype(np.float32), b, None, step))
        close(got, a, b)


def test_one_row_as_a_matrix(runtime: Runtime, library: ctypes.CDLL) -> None:
    """DisableGemv."""
    rng = np.random.default_rng(1)
    a, b = some(rng, (1, 48), np.float16), some(rng, (48, 20), np.float16)
    got = whole("half_float", a, b, no_gemv=True).run(runtime, library)
    np.testing.assert_array_equal(got.reshape(1, 20), model.mmad(a, b, None, 16))


@pytest.mark.parametrize("chaos", ALL_PIPES)
def test_in_any_order_of_pipes(runtime: Runtime, library: ctypes.CDLL, chaos: str) -> None:
    rng = np.random.default_rng(3)
    a, b = some(rng, (33, 41), np.float16), some(rng, (41, 50), np.float16)
    with runtime.options(chaos=chaos):
        got = whole("half_float", a, b, mmads=2).run(runtime, library)
    want = model.mmad(a, b, model.mmad(a, b, None, 16), 16)
    np.testing.assert_array_equal(got.reshape(33, 50), want)


@pytest.mark.parametrize("shape", [(16, 16, 32), (40, 33, 70)])
def test_hifloat8(runtime: Runtime, library: ctypes.CDLL, shape: tuple[int, int, int]) -> None:
    m, n, k = shape
    rng = np.random.default_rng(k)
    finite = np.array([c for c in range(256) if np.isfinite(hif8(np.array(c)))], np.uint8)
    a, b = rng.choice(finite, (m, k)), rng.choice(finite, (k, n))
    got = whole("hif8_float", a, b).run(runtime, library).reshape(m, n)
    np.testing.assert_array_equal(got, model.mmad(hif8(a), hif8(b), None, 32))
    close(got, hif8(a), hif8(b))


@pytest.mark.parametrize("kernel", ["half_float", "float_float", "int8_int32", "e4m3_float"])
def test_transposed_windows(runtime: Runtime, library: ctypes.CDLL, kernel: str) -> None:
    """A as K x M and B as K x N, a part of each, turned on the way."""
    dtype, _, out, step = TYPES[kernel]
    k0 = model.columns_of(np.dtype(dtype).itemsize * 8)
    rng = np.random.default_rng(7)
    m, n, k = 64, 32, 96
    a, b = some(rng, (k + 32, m + 2 * k0), dtype), some(rng, (k, n), dtype)
    product = Product(
        kernel, raw(model.to_nz(a)), raw(model.to_nz(b)), [2, 2, k // 16, m // k0, (k + 32) // 16,
        m // 16, 1], [0, 0, k // 16, n // k0, k // 16, n // 16, 1], (m, n, k), out,
    )  # fmt: skip
    left = np.ascontiguousarray(a[32:, 2 * k0 :].T)
    got = product.run(runtime, library).reshape(m, n)
    if out is np.float32:
        left, b = left.astype(np.float32), b.astype(np.float32)
    np.testing.assert_array_equal(got, model.mmad(left, b, None, step))


@pytest.mark.parametrize("kernel", ["half_float", "float_float", "int8_int32"])
def test_fractals_apart(runtime: Runtime, library: ctypes.CDLL, kernel: str) -> None:
    """LoadData of LoadData2DParams takes a row of fractals, with room for the others by dstGap."""
    dtype, _, out, step = TYPES[kernel]
    k0 = model.columns_of(np.dtype(dtype).itemsize * 8)
    rng = np.random.default_rng(9)
    m, n, k = 48, 32, 96
    a, b = some(rng, (m, k), dtype), some(rng, (k, n), dtype)
    product = whole(kernel, a, b, out=out)
    product.load_a = [0, k // k0, m // 16, 0, m // 16 - 1]
    product.by_fractals = True
    got = product.run(runtime, library).reshape(m, n)
    if out is np.float32:
        a, b = a.astype(np.float32), b.astype(np.float32)
    np.testing.assert_array_equal(got, model.mmad(a, b, None, step))


def test_windows(runtime: Runtime, library: ctypes.CDLL) -> None:
    """A part of A, from a row and a column on, and with columns taken backwards."""
    rng = np.random.default_rng(8)
    a, b = some(rng, (96, 80), np.float16), some(rng, (48, 32), np.float16)
    right = raw(model.to_nz(np.ascontiguousarray(b.T)))
    for load, part in (
        ([2, 1, 3, 3, 6, 3, 0], a[32:80, 16:64]),
        ([2, 3, 3, 3, -6, 3, 0], np.concatenate([a[32:80, c : c + 16] for c in (48, 32, 16)], 1)),
    ):
        product = Product(
            "half_float", raw(model.to_nz(a)), right, load, window(32, 48, 16), (48, 32, 48)
        )
        got = product.run(runtime, library).reshape(48, 32)
        np.testing.assert_array_equal(got, model.mmad(part, b, None, 16))


@pytest.mark.parametrize("trans_a", [False, True])
@pytest.mark.parametrize("kernel", ["half_float", "float_float", "int8_int32"])
def test_loads_with_stride(
    runtime: Runtime, library: ctypes.CDLL, kernel: str, trans_a: bool
) -> None:
    """LoadDataWithStride, 16 or 32 lines of M and N at a time: each goes between the others. B is
    turned on the way, and A is where it lies turned.
    """
    src, _, out, step = TYPES[kernel]
    rng = np.random.default_rng(6)
    at_once, k0 = (32, 32) if src is np.int8 else (16, step)
    m, n, k = 64 if src is np.int8 else 40, 50, 70
    a, b = some(rng, (m, k), src), some(rng, (k, n), src)

    def lying(matrix: Array) -> Array:
        """With whole steps of columns."""
        columns = model.up(matrix.shape[1], max(at_once, k0))
        return np.pad(matrix, ((0, 0), (0, columns - matrix.shape[1])))

    left, right = lying(np.ascontiguousarray(a.T) if trans_a else a), lying(b)
    lines = [model.up(left.shape[0], 16), left.shape[1], model.up(m, at_once), int(trans_a)]
    lines += [model.up(k, 16), right.shape[1], right.shape[1]]
    product = Product(
        kernel, raw(model.to_nz(left)), raw(model.to_nz(right)), [], [], (m, n, k), out, lines=lines
    )
    got = product.run(runtime, library).reshape(m, n)
    of_a = a if src is np.int8 else a.astype(np.float32)
    np.testing.assert_array_equal(got, model.mmad(of_a, b, None, step))


def scale_fractals(scales: Array) -> Array:
    """Lines x groups of scales in fractals of 16 x 2."""
    lines, groups = model.up(scales.shape[0], 16), model.up(scales.shape[1], 2)
    padded = np.full((lines, groups), 127, np.uint8)
    padded[: scales.shape[0], : scales.shape[1]] = scales
    return padded.reshape(lines // 16, 16, groups // 2, 2).transpose(0, 2, 1, 3).reshape(-1)


def scaled(values: Array, scales: Array) -> Array:
    """Rows of numbers, 32 of them with one power of two."""
    return values * np.exp2(scales.astype(np.float32) - 127).repeat(32, axis=1)


@pytest.mark.parametrize("by_intrinsics", [False, True])
@pytest.mark.parametrize("shape", [(16, 16, 64), (40, 50, 192), (1, 20, 128)])
@pytest.mark.parametrize("kernel", ["mx_e4m3", "mx_e5m2_e4m3"])
def test_mx_of_8_bits(
    runtime: Runtime,
    library: ctypes.CDLL,
    kernel: str,
    shape: tuple[int, int, int],
    by_intrinsics: bool,
) -> None:
    m, n, k = shape
    rng = np.random.default_rng(m)
    of_a = E5M2 if "e5m2" in kernel else E4M3
    a, b = some(rng, (m, k), of_a), some(rng, (k, n), E4M3)
    of_m, of_n = (rng.integers(110, 140, (lines, k // 32)).astype(np.uint8) for lines in (m, n))
    product = whole(kernel, a, b, scales=(scale_fractals(of_m), scale_fractals(of_n)))
    product.no_gemv = True
    product.by_intrinsics = by_intrinsics
    left = scaled(a.astype(np.float32), of_m)
    right = scaled(b.astype(np.float32).T, of_n).T
    got = product.run(runtime, library).reshape(m, n)
    np.testing.assert_array_equal(got, model.mmad(left, right, None, 32))
    close(got, left, right)


@pytest.mark.parametrize("by_intrinsics", [False, True])
@pytest.mark.parametrize("kernel", ["mx_e2m1", "mx_e1m2_e2m1"])
def test_mx_of_4_bits(
    runtime: Runtime, library: ctypes.CDLL, kernel: str, by_intrinsics: bool
) -> None:
    m, n, k = 40, 33, 192
    rng = np.random.default_rng(4)
    a, b = (rng.integers(0, 16, size).astype(np.int8) for size in ((m, k), (k, n)))
    e2m1 = np.arange(16, dtype=np.uint8).view(E2M1).astype(np.float32)
    e1m2 = np.array([(1 if c < 8 else -1) * (c % 8) / 4 for c in range(16)], np.float32)
    of_m, of_n = (rng.integers(120, 130, (lines, k // 32)).astype(np.uint8) for lines in (m, n))

    def nz(codes: Array) -> Array:
        rows = model.up(codes.shape[0], 16)
        padded = np.zeros((rows, codes.shape[1]), np.uint8)
        padded[: codes.shape[0]] = codes
        low, high = padded[:, 0::2], padded[:, 1::2]
        return model.to_nz((low | high << 4).astype(np.uint8))

    product = Product(
        kernel, nz(a), nz(np.ascontiguousarray(b.T)), window(m, k, 64), window(n, k, 64), (m, n, k),
        scales=(scale_fractals(of_m), scale_fractals(of_n)), by_intrinsics=by_intrinsics,
    )  # fmt: skip
    left = scaled((e1m2 if "e1m2" in kernel else e2m1)[a], of_m)
    right = scaled(e2m1[b].T, of_n).T
    got = product.run(runtime, library).reshape(m, n)
    np.testing.assert_array_equal(got, model.mmad(left, right, None, 64))
    close(got, left, right)


@pytest.mark.parametrize("kernel", ["half_float", "half_by_bf16_bias"])
def test_bias(runtime: Runtime, library: ctypes.CDLL, kernel: str) -> None:
    """From BT, of which 950 has four times as much; bfloat16 becomes float on the way."""
    rng = np.random.default_rng(6)
    a, b = some(rng, (20, 48), np.float16), some(rng, (48, 128), np.float16)
    bias = some(rng, (128,), ml_dtypes.bfloat16 if "bf16" in kernel else np.float32)
    got = whole(kernel, a, b, bias=raw(bias)).run(runtime, library)
    start = np.tile(bias.astype(np.float32), (20, 1))
    np.testing.assert_array_equal(got.reshape(20, 128), model.mmad(a, b, start, 16))


def values_of(rng: np.random.Generator) -> tuple[Array, Array, Array]:
    """A, B and their product."""
    a, b = some(rng, (36, 48), np.float16), some(rng, (48, 40), np.float16)
    return a, b, model.mmad(a, b, None, 16)


def test_columns(runtime: Runtime, library: ctypes.CDLL) -> None:
    """NZ to DN."""
    a, b, want = values_of(np.random.default_rng(1))
    got = whole("half_float", a, b, to=TO_DN, fix={"dstStride": 38}, elements=40 * 38)
    result = got.run(runtime, library).reshape(40, 38)
    np.testing.assert_array_equal(result[:, :36], want.T)
    assert (result[:, 36:] == 0).all()


@pytest.mark.parametrize("to", [TO_NZ, OLDER_NZ])
def test_fractals(runtime: Runtime, library: ctypes.CDLL, to: int) -> None:
    """NZ, whose stride counts elements here, in the params of 2201 too."""
    a, b, want = values_of(np.random.default_rng(2))
    product = whole("half_float", a, b, to=to, fix={"n": 32, "dstStride": 600}, elements=1200)
    got = product.run(runtime, library).reshape(2, 600)
    np.testing.assert_array_equal(got[0, : 36 * 16].reshape(36, 16), want[:, :16])
    np.testing.assert_array_equal(got[1, : 36 * 16].reshape(36, 16), want[:, 16:32])


@pytest.mark.parametrize("to", [TO_ND, OLDER_ND, ND_BY_REGISTERS])
def test_matrices_side_by_side(runtime: Runtime, library: ctypes.CDLL, to: int) -> None:
    """Two of them lie in L0C so many rows of 16 elements apart, by whatever params."""
    a, b, want = values_of(np.random.default_rng(6))
    fix = {"n": 16, "num": 2, "srcNd": 48, "dstNd": 36 * 16, "dstStride": 16}
    product = whole("half_float", a, b, to=to, fix=fix, elements=2 * 36 * 16)
    got = product.run(runtime, library).reshape(2, 36, 16)
    np.testing.assert_array_equal(got, want[:, :32].reshape(36, 2, 16).transpose(1, 0, 2))


@pytest.mark.parametrize("relu", [0, 1])
def test_copy_by_registers(runtime: Runtime, library: ctypes.CDLL, relu: int) -> None:
    """DataCopy out of L0C, whose stride counts 32 bytes, with SetFixpipePreQuantFlag."""
    a, b, c = values_of(np.random.default_rng(2))
    word = model.word_of(2.0, 3)
    fix = {"quant": QF322B8, "low": word & 0xFFFFFFFF, "high": word >> 32, "relu": relu}
    product = whole(
        "half_int8", a, b, out=np.int8, to=BY_REGISTERS, fix=fix | {"n": 32, "dstStride": 40},
        elements=36 * 32,
    )  # fmt: skip
    got = product.run(runtime, library).reshape(36, 32)
    words = np.full(32, word, np.uint64)
    want = model.quantise(np.ascontiguousarray(c[:, :32]), np.int8, words, bool(relu))
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("relu", [0, 1])
@pytest.mark.parametrize("mode", ["half", "bf16", "float", "e4m3", "hif8", "vector"])
def test_quantised(runtime: Runtime, library: ctypes.CDLL, mode: str, relu: int) -> None:
    """By a factor of 10 bits of mantissa for all columns, or one for each."""
    a, b, product = values_of(np.random.default_rng(3))
    modes = {"half": QF322F16, "bf16": QF322BF16, "float": QF322F32, "e4m3": QF322FP8,
             "hif8": QF322HIF8, "vector": VQF322F16}  # fmt: skip
    word = model.word_of(0.3, signed=False)
    factor = np.array(word & 0xFFFFE000, np.uint32).view(np.float32)
    fix = {"quant": modes[mode], "relu": relu, "low": word & 0xFFFFFFFF, "high": word >> 32}
    quant = np.zeros(0, np.uint64)
    if mode == "vector":
        factors = np.linspace(-1, 1, 48).astype(np.float32)
        quant = np.array([model.word_of(float(one), signed=False) for one in factors], np.uint64)
        factor = (quant[:40] & 0xFFFFE000).astype(np.uint32).view(np.float32)
    kernel, out = {"half": ("half_half", np.float16), "vector": ("half_half", np.float16),
                   "bf16": ("half_bf16", ml_dtypes.bfloat16), "float": ("half_float", np.float32),
                   "e4m3": ("half_e4m3", np.uint8), "hif8": ("half_hif8", np.uint8),
                   }[mode]  # fmt: skip
    scaled_up = np.where((product < 0) & bool(relu), np.float32(0), product * factor)
    want: Array = scaled_up.astype(np.float32)
    if mode == "e4m3":
        want = want.astype(E4M3).view(np.uint8)
    elif mode == "hif8":
        want = to_hif8(want)
    else:
        want = want.astype(out)
    got = whole(kernel, a, b, out=out, fix=fix, quant=quant).run(runtime, library)
    np.testing.assert_array_equal(got.reshape(36, 40), want)


def test_integers_to_bf16(runtime: Runtime, library: ctypes.CDLL) -> None:
    rng = np.random.default_rng(5)
    a, b = some(rng, (20, 64), np.int8), some(rng, (64, 32), np.int8)
    word = model.word_of(0.01, signed=False)
    factor = np.array(word & 0xFFFFE000, np.uint32).view(np.float32)
    fix = {"quant": QS322BF16, "low": word & 0xFFFFFFFF, "high": word >> 32}
    got = whole("int8_bf16", a, b, out=ml_dtypes.bfloat16, fix=fix).run(runtime, library)
    want = (model.mmad(a, b, None, 32).astype(np.float32) * factor).astype(ml_dtypes.bfloat16)
    np.testing.assert_array_equal(got.reshape(20, 32), want)


def test_by_way_of_l1(runtime: Runtime, library: ctypes.CDLL) -> None:
    rng = np.random.default_rng(9)
    a, b = some(rng, (48, 48), np.float16), some(rng, (48, 48), np.float16)
    out = np.zeros((48, 48), np.float32)
    arrays = [model.to_nz(a), model.to_nz(b), out]
    for chaos in ALL_PIPES:
        with runtime.options(chaos=chaos):
            (got,) = runtime.launch(library["chained"], arrays, outputs=[2])
        first = model.mmad(a, b, None, 16).astype(np.float16)
        np.testing.assert_array_equal(got, model.mmad(first, b, None, 16))


def test_columns_into_nz(runtime: Runtime, library: ctypes.CDLL) -> None:
    """DN to NZ, with zeros behind the last column."""
    rng = np.random.default_rng(10)
    m, k, pitch = 37, 43, 50
    source = some(rng, (k, pitch), np.float16)
    unit = model.to_nz(np.eye(48, dtype=np.float16))
    out = np.zeros((m, k), np.float32)
    words = np.array([m, k, pitch, 0, 0, 0, 0, 0], np.int32)
    (got,) = runtime.launch(library["from_columns"], [source, unit, out, words], outputs=[2])
    np.testing.assert_array_equal(got, source[:, :m].T.astype(np.float32))
