# SPDX-License-Identifier: Apache-2.0
"""The matrix unit: each step of a product against its exact effect, over dtypes and parameters."""

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
from instructions.bench import Runtime, compile_kernel

CUBE = "-D__DAV_C220_CUBE__"
K2D, TRANSPOSED, MAP, FROM_GM, FILLED, MAP_AGAIN = range(6)
NO_QUANT, F322F16, F322BF16, DEQF16, VDEQF16, QF322B8, VQF322B8, REQ8, VREQ8 = range(9)
TO_NZ, TO_ND, BY_L1 = range(3)
ALL_PIPES = ["0", "1", "2", "3", "9", "17"]

Array = npt.NDArray[Any]


@pytest.fixture(scope="module")
def library(toolkit: Path, tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """The kernels of cube.cpp."""
    folder = tmp_path_factory.mktemp("cube")
    return ctypes.CDLL(str(compile_kernel(toolkit, folder, "cube", "-O1", "-g", CUBE)))


def some(rng: np.random.Generator, shape: tuple[int, ...], dtype: npt.DTypeLike) -> Array:
    """Numbers that products do not round away."""
    if np.issubdtype(dtype, np.integer):
        info = np.iinfo(dtype)
        return rng.integers(info.min, info.max, shape, endpoint=True).astype(dtype)
    return rng.uniform(-2, 2, shape).astype(dtype)


def raw(array: Array) -> Array:
    """As bytes."""
    return np.ascontiguousarray(array).view(np.uint8).reshape(-1)


def at_least(array: Array, unit: int = 32) -> Array:
    """Filled up with zeros, as blocks."""
    return np.pad(array, (0, model.up(max(array.size, unit), unit) - array.size))


@dataclass
class Product:
    """What cube.cpp's pipeline does; see there for the words."""

    kernel: str
    a: Array  # bytes in L1, or in GM
    b: Array
    load_a: list[int]
    load_b: list[int]
    m: int
    n: int
    k: int
    out: npt.DTypeLike = np.float32
    to: int = TO_ND
    fix: dict[str, int] = field(default_factory=dict)
    bias: Array = field(default_factory=lambda: np.zeros(0, np.uint8))
    quant: Array = field(default_factory=lambda: np.zeros(0, np.uint64))
    mmads: int = 1
    hf32: int = 0
    given_bias: bool = False
    configured: bool = False
    unit_flag: bool = False
    clears_flags: bool = False
    source: bool = False
    initial: bool = True
    align_k: bool = False
    elements: int = 0
    before: float = 0  # in the output

    def words(self) -> Array:
        """In the order of the kernel."""
        words = np.zeros(128, np.int64)
        words[:8] = [
            self.a.size,
            self.b.size,
            self.bias.size,
            self.quant.nbytes,
            self.mmads,
            self.hf32,
            self.given_bias,
            2 if self.clears_flags else self.configured,
        ]
        words[10 : 10 + len(self.load_a)] = self.load_a
        words[40 : 40 + len(self.load_b)] = self.load_b
        words[70:77] = [
            self.m,
            self.n,
            self.k,
            3 if self.unit_flag else 0,
            self.source,
            self.initial,
            self.align_k,
        ]
        rows = model.up(self.m, 16)
        defaults = {
            "n": self.n if self.to == TO_ND else model.up(self.n, 16),
            "m": self.m,
            "srcStride": rows,
            "dstStride": self.n
            if self.to == TO_ND
            else rows * 16 * np.dtype(self.out).itemsize // 32,
            "quant": NO_QUANT,
            "relu": 0,
            "unit": 3 if self.unit_flag else 0,
            "split": 0,
            "ndNum": 1,
            "srcNd": 0,
            "dstNd": 0,
            "atomic": 0,
            "low": 0,
            "high": 0,
        }
        assert not set(self.fix) - set(defaults), self.fix
        words[80] = self.to
        words[81:95] = list((defaults | self.fix).values())
        words[95] = self.elements
        return words.astype(np.uint32).view(np.int32)

    def run(self, runtime: Runtime, library: ctypes.CDLL) -> Array:
        """The output's elements."""
        out = np.full(self.elements, self.before, self.out)
        arrays = [self.a, self.b, out, at_least(self.bias), at_least(raw(self.quant)), self.words()]
        (got,) = runtime.launch(library[self.kernel], arrays, outputs=[2])
        return got


def plain(kernel: str, a: Array, b: Array, out: npt.DTypeLike = np.float32, **more: Any) -> Product:
    """Both operands lie in L1 as L0 wants them: one run of fractals each."""
    left, right = raw(model.fractals(a, "zz")), raw(model.fractals(b, "zn"))
    if a.shape[0] == 1:
        left = at_least(raw(a), 512)
    m, n, k = a.shape[0], b.shape[1], a.shape[1]
    product = Product(
        kernel,
        left,
        right,
        [K2D, 0, left.size // 512, 1, 0],
        [K2D, 0, right.size // 512, 1, 0],
        m,
        n,
        k,
        out,
        **more,
    )
    if not product.elements:
        product.elements = m * n
    return product


STEPS = {np.dtype(np.float16): 16, np.dtype(ml_dtypes.bfloat16): 16, np.dtype(np.float32): 8}


def product_of(a: Array, b: Array, initial: Array | None = None) -> Array:
    """Mmad's result."""
    return model.mmad(a, b, initial, STEPS.get(a.dtype, 32))


TYPES = {
    "half_float": (np.float16, np.float32),
    "bf16_float": (ml_dtypes.bfloat16, np.float32),
    "float_float": (np.float32, np.float32),
    "int8_int32": (np.int8, np.int32),
}
SHAPES = [(16, 16, 16), (33, 50, 41), (1, 17, 70), (128, 64, 96), (5, 100, 3), (20, 16, 130)]


@pytest.mark.parametrize("chaos", ALL_PIPES)
def test_in_any_order_of_pipes(runtime: Runtime, library: ctypes.CDLL, chaos: str) -> None:
    rng = np.random.default_rng(3)
    a, b = some(rng, (33, 41), np.float16), some(rng, (41, 50), np.float16)
    with runtime.options(chaos=chaos):
        got = plain("half_float", a, b).run(runtime, library)
    np.testing.assert_array_equal(got.reshape(33, 50), product_of(a, b))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kernel", TYPES)
def test_mmad(
    runtime: Runtime, library: ctypes.CDLL, kernel: str, shape: tuple[int, int, int]
) -> None:
    """Tails of M, N and K, vectors, and each pair of types."""
    dtype, out = TYPES[kernel]
    m, n, k = shape
    rng = np.random.default_rng(m * n * k)
    a, b = some(rng, (m, k), dtype), some(rng, (k, n), dtype)
    got = plain(kernel, a, b, out).run(runtime, library)
    np.testing.assert_array_equal(got.reshape(m, n), product_of(a, b))


@pytest.mark.parametrize("shape", [(16, 16, 64), (20, 33, 130), (3, 64, 66)])
def test_mmad_of_4_bits(
    runtime: Runtime, library: ctypes.CDLL, shape: tuple[int, int, int]
) -> None:
    m, n, k = shape
    rng = np.random.default_rng(k)
    a, b = (rng.integers(-8, 8, size).astype(np.int8) for size in ((m, k), (k, n)))
    left, right = model.packed(a, "zz"), model.packed(b, "zn")
    product = Product(
        "int4_int32",
        left,
        right,
        [K2D, 0, left.size // 512, 1, 0],
        [K2D, 0, right.size // 512, 1, 0],
        m,
        n,
        k,
        np.int32,
        elements=m * n,
    )
    np.testing.assert_array_equal(product.run(runtime, library).reshape(m, n), product_of(a, b))


@pytest.mark.parametrize("kernel", TYPES)
def test_mmads_add_up(runtime: Runtime, library: ctypes.CDLL, kernel: str) -> None:
    """Each begins with what is in L0C, and integers saturate."""
    dtype, out = TYPES[kernel]
    rng = np.random.default_rng(5)
    a, b = some(rng, (20, 48), dtype), some(rng, (48, 24), dtype)
    if dtype is np.int8:
        a[0], b[:, 0] = 127, 127
    want = None
    for _ in range(3):
        want = product_of(a, b, want)
    got = plain(kernel, a, b, out, mmads=3).run(runtime, library)
    np.testing.assert_array_equal(got.reshape(20, 24), want)


@pytest.mark.parametrize("by", ["table", "tensor"])
@pytest.mark.parametrize("kernel", ["half_float", "half_float_by_half_bias", "int8_int32"])
def test_bias(runtime: Runtime, library: ctypes.CDLL, kernel: str, by: str) -> None:
    """One row for all rows, from BT; half becomes float on the way there."""
    dtype, out = TYPES[kernel.removesuffix("_by_half_bias")]
    rng = np.random.default_rng(6)
    a, b = some(rng, (20, 48), dtype), some(rng, (48, 32), dtype)
    kind = np.float16 if kernel.endswith("half_bias") else out
    bias = some(rng, (32,), kind) if kind is not np.int32 else rng.integers(-9, 9, 32, np.int32)
    got = plain(
        kernel, a, b, out, bias=raw(bias), source=True, initial=False, given_bias=by == "tensor"
    ).run(runtime, library)
    want = product_of(a, b, np.broadcast_to(bias.astype(out), (20, 32)))
    np.testing.assert_array_equal(got.reshape(20, 32), want)


def test_inf_and_nan(runtime: Runtime, library: ctypes.CDLL) -> None:
    """Inf times 0, and Inf less Inf, are NaN."""
    a = np.ones((16, 16), np.float16)
    b = np.ones((16, 16), np.float16)
    a[1, 0], a[2, :2], a[3, 3], b[0, 4], b[1, 5] = np.inf, [np.inf, -np.inf], np.nan, 0, np.inf
    a[4, 0] = 0
    b[0, 6] = np.inf
    with np.errstate(invalid="ignore"):
        want = product_of(a, b)
    got = plain("half_float", a, b).run(runtime, library).reshape(16, 16)
    np.testing.assert_array_equal(got, want)
    assert np.isnan(got[1, 4])
    assert np.isnan(got[2, 0])


@pytest.mark.parametrize("toward_zero", [False, True])
def test_hf32(runtime: Runtime, library: ctypes.CDLL, toward_zero: bool) -> None:
    """Operands keep 11 bits behind the point."""
    rng = np.random.default_rng(8)
    a, b = some(rng, (16, 24), np.float32), np.eye(24, 16, dtype=np.float32)
    a[0, 0] = 1 + 2**-12  # a tie
    a[1, 0] = 1 + 3 * 2**-12
    bits = a.view(np.uint32)
    odd = 0 if toward_zero else bits >> 12 & 1
    want = ((bits + 0x7FF + odd) & 0xFFFFF000).astype(np.uint32).view(np.float32)[:, :16]
    got = plain("float_float", a, b, hf32=2 if toward_zero else 1).run(runtime, library)
    np.testing.assert_array_equal(got.reshape(16, 16), want)


def test_unit_flag(runtime: Runtime, library: ctypes.CDLL) -> None:
    """It orders Mmad and Fixpipe in place of M_FIX, in any order of pipes."""
    rng = np.random.default_rng(9)
    a, b = some(rng, (48, 32), np.float16), some(rng, (32, 40), np.float16)
    want = product_of(a, b, product_of(a, b))
    for chaos in ALL_PIPES:
        with runtime.options(chaos=chaos):
            got = plain("half_float", a, b, mmads=2, unit_flag=True).run(runtime, library)
        np.testing.assert_array_equal(got.reshape(48, 40), want)


def test_unit_flags_are_cleared(runtime: Runtime, library: ctypes.CDLL) -> None:
    """SetFixPipeConfig(L0C, true): the Fixpipe behind it needs no flag of its own."""
    rng = np.random.default_rng(9)
    a, b = some(rng, (48, 32), np.float16), some(rng, (32, 40), np.float16)
    product = plain("half_float", a, b, unit_flag=True, clears_flags=True, fix={"unit": 0})
    for chaos in ALL_PIPES:
        with runtime.options(chaos=chaos):
            got = product.run(runtime, library)
        np.testing.assert_array_equal(got.reshape(48, 40), product_of(a, b))


# --- loads ----------------------------------------------------------------------------------------


LOADS = [
    model.Load2d(0, 4, 1),
    model.Load2d(3, 4, 2),
    model.Load2d(7, 3, 0, 1),
    model.Load2d(1, 2, 5, 2),
    model.Load2d(0, 4, 1, transpose=True),
    model.Load2d(2, 3, 3, transpose=True),
]


def shown(
    runtime: Runtime, library: ctypes.CDLL, l1: Array, load: list[int], to_b: bool, size: int
) -> Array:
    """Fractals of half in L0A or L0B, by a product with the unit matrix, as bytes."""
    unit = np.eye(16, dtype=np.float16)
    other = raw(model.fractals(unit, "zz"))
    whole = [K2D, 0, 1, 1, 0]
    if to_b:  # a row of fractals along N: 16 x (16 size)
        product = Product("half_float", other, l1, whole, load, 16, 16 * size, 16)
    else:  # a column of fractals along M: (16 size) x 16
        product = Product("half_float", l1, other, load, whole, 16 * size, 16, 16)
    product.elements = 256 * size
    got = product.run(runtime, library).astype(np.float16)
    if to_b:
        got = got.reshape(16, size, 16).transpose(1, 2, 0)
    return raw(got)


@pytest.mark.parametrize("to_b", [False, True])
@pytest.mark.parametrize("load", LOADS)
def test_load_2d(runtime: Runtime, library: ctypes.CDLL, load: model.Load2d, to_b: bool) -> None:
    """By all parameters; fractals in gaps are no part of what is looked at."""
    rng = np.random.default_rng(load.repeat)
    l1 = raw(some(rng, (256 * 12,), np.float16))
    words = [K2D, load.start, load.repeat, load.stride, 0, int(load.transpose), 0]
    if load.gap:  # shown one by one: the gaps have no value
        words[4] = load.gap
        want = load.run(l1)
        unit = raw(model.fractals(np.eye(16, dtype=np.float16), "zz"))
        step = [K2D, 0, 1, 1, 0]
        product = Product("half_float", l1, unit, words, step, 16, 16, 16, elements=256)
        got = raw(product.run(runtime, library).astype(np.float16))
        np.testing.assert_array_equal(got, want[:512])
        return
    got = shown(runtime, library, l1, words, to_b, load.repeat)
    np.testing.assert_array_equal(got, load.run(l1)[: 512 * load.repeat])


@pytest.mark.parametrize("descending", [False, True])
def test_load_from_gm(runtime: Runtime, library: ctypes.CDLL, descending: bool) -> None:
    """Straight into L0, backwards too."""
    rng = np.random.default_rng(2)
    gm = raw(some(rng, (256 * 8,), np.float16))
    load = model.Load2d(6 if descending else 1, 3, 2, descending=descending)
    words = [FROM_GM, load.start, 3, 2, 0, 0, int(descending)]
    got = shown(runtime, library, gm, words, False, 3)
    np.testing.assert_array_equal(got, load.run(gm)[: 512 * 3])


@pytest.mark.parametrize("rows", [32, 64])
@pytest.mark.parametrize("kernel", ["half_float", "float_float", "int8_int32"])
def test_load_transposed(runtime: Runtime, library: ctypes.CDLL, kernel: str, rows: int) -> None:
    """A column of squares of B, K x N in NZ, becomes what L0B wants."""
    dtype, out = TYPES[kernel]
    bits = np.dtype(dtype).itemsize * 8
    side = 32 if bits == 8 else 16
    rng = np.random.default_rng(rows)
    a, b = some(rng, (32, rows), dtype), some(rng, (rows, side), dtype)
    left, nz = raw(model.fractals(a, "zz")), raw(model.to_nz(b))
    if bits == 32:  # the halves of a square lie apart in NZ, and side by side in squares
        nz = np.ascontiguousarray(nz.reshape(2, rows // 16, 512).transpose(1, 0, 2)).reshape(-1)
    gap = 0 if bits == 16 else 1
    load = model.Transposed(bits, 0, rows // side, 1, gap, 0)
    words = [TRANSPOSED, 0, rows // side, 1, gap, 0]
    whole = [K2D, 0, left.size // 512, 1, 0]
    product = Product(kernel, left, nz, whole, words, 32, side, rows, out, elements=32 * side)
    k0 = model.columns_of(bits)
    parts = load.run(nz).view(dtype)[: rows * side].reshape(rows // k0, side // 16, 16, k0)
    np.testing.assert_array_equal(parts.transpose(0, 3, 1, 2).reshape(rows, side), b)
    got = product.run(runtime, library).reshape(32, side)
    np.testing.assert_array_equal(got, product_of(a, b))


MAPS = [
    model.FeatureMap(6, 5, 16, 16, 16),
    model.FeatureMap(6, 5, 32, 32, 30),
    model.FeatureMap(6, 7, 16, 9 * 16, 16, kernel=(3, 3), m_start=0),
    model.FeatureMap(6, 7, 32, 96, 16, kernel=(3, 3), pad=(1, 1, 1, 1), value=2, m_start=16),
    model.FeatureMap(9, 8, 16, 64, 16, k_start=32, kernel=(2, 3), stride=(2, 1), dilation=(1, 2)),
]


@pytest.mark.parametrize("kind", [MAP, MAP_AGAIN])
@pytest.mark.parametrize("feature", MAPS)
def test_feature_map_into_a(
    runtime: Runtime, library: ctypes.CDLL, feature: model.FeatureMap, kind: int
) -> None:
    """The window of img2col's matrix, with padding, strides and dilation. A second load may keep
    the map and the padding of the first.
    """
    rng = np.random.default_rng(feature.k)
    image = some(rng, (feature.channels * feature.h * feature.w,), np.float16)
    window = feature.window(image)
    b = some(rng, (feature.k, 16), np.float16)
    right = raw(model.fractals(b, "zn"))
    m = window.shape[0]
    words = [kind, feature.h, feature.w, feature.channels, feature.k, feature.m]
    words += [feature.k_start, feature.m_start, *feature.stride, *feature.kernel]
    words += [*feature.dilation, *feature.pad, 0, int(feature.value)]
    product = Product(
        "half_float", at_least(raw(image)), right, words, [K2D, 0, right.size // 512, 1, 0], m, 16,
        feature.k, elements=m * 16,
    )  # fmt: skip
    got = product.run(runtime, library).reshape(m, 16)
    np.testing.assert_array_equal(got, product_of(window, b))


MAPS_OF_4_BITS = [
    model.FeatureMap(1, 48, 128, 128, 48, bits=4),
    model.FeatureMap(6, 7, 64, 9 * 64, 16, kernel=(3, 3), pad=(1, 1, 1, 1), m_start=16, bits=4),
    model.FeatureMap(9, 8, 128, 128, 16, k_start=64, kernel=(2, 3), stride=(2, 1), bits=4),
]


@pytest.mark.parametrize("feature", MAPS_OF_4_BITS)
def test_feature_map_of_4_bits(
    runtime: Runtime, library: ctypes.CDLL, feature: model.FeatureMap
) -> None:
    """Blocks of 64 channels, two in a byte."""
    rng = np.random.default_rng(feature.k)
    numbers = rng.integers(-8, 8, feature.channels * feature.h * feature.w).astype(np.int8)
    window = feature.window(numbers)
    b = rng.integers(-8, 8, (feature.k, 16)).astype(np.int8)
    right = model.packed(b, "zn")
    words = [MAP, feature.h, feature.w, feature.channels, feature.k, feature.m]
    words += [feature.k_start, feature.m_start, *feature.stride, *feature.kernel]
    words += [*feature.dilation, *feature.pad, 0, 0]
    product = Product(
        "int4_int32", at_least(model.nibbles(numbers)), right, words,
        [K2D, 0, right.size // 512, 1, 0], feature.m, 16, feature.k, np.int32,
        elements=feature.m * 16,
    )  # fmt: skip
    got = product.run(runtime, library).reshape(feature.m, 16)
    np.testing.assert_array_equal(got, product_of(window, b))


@pytest.mark.parametrize("kernel", ["half_float", "float_float"])
def test_feature_map_into_b(runtime: Runtime, library: ctypes.CDLL, kernel: str) -> None:
    """A matrix in NZ is a feature map of one column: one load makes L0B's fractals of it."""
    dtype, _ = TYPES[kernel]
    rng = np.random.default_rng(1)
    a, b = some(rng, (20, 48), dtype), some(rng, (48, 32), dtype)
    left = raw(model.fractals(a, "zz"))
    words = [MAP, 48, 1, 32, 32, 48, 0, 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0]
    product = Product(
        kernel, left, raw(model.to_nz(b)), [K2D, 0, left.size // 512, 1, 0], words, 20, 32, 48,
        elements=20 * 32,
    )  # fmt: skip
    got = product.run(runtime, library).reshape(20, 32)
    np.testing.assert_array_equal(got, product_of(a, b))


def test_feature_map_transposed_into_a(runtime: Runtime, library: ctypes.CDLL) -> None:
    """A as K x M in NZ."""
    rng = np.random.default_rng(4)
    a, b = some(rng, (32, 48), np.float16), some(rng, (48, 16), np.float16)
    right = raw(model.fractals(b, "zn"))
    words = [MAP, 48, 1, 32, 32, 48, 0, 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 1, 0]
    product = Product(
        "half_float", raw(model.to_nz(np.ascontiguousarray(a.T))), right, words,
        [K2D, 0, right.size // 512, 1, 0], 32, 16, 48, elements=32 * 16,
    )  # fmt: skip
    got = product.run(runtime, library).reshape(32, 16)
    np.testing.assert_array_equal(got, product_of(a, b))


def test_fill(runtime: Runtime, library: ctypes.CDLL) -> None:
    """Fractals of one value, 512 bytes each."""
    rng = np.random.default_rng(4)
    a = some(rng, (16, 32), np.float16)
    left = raw(model.fractals(a, "zz"))
    product = Product(
        "half_float", left, left, [K2D, 0, 2, 1, 0], [FILLED, 2, 2, 0, 3], 16, 32, 32,
        elements=512,
    )  # fmt: skip
    want = product_of(a, np.full((32, 32), 3, np.float16))
    np.testing.assert_array_equal(product.run(runtime, library).reshape(16, 32), want)


ND_SHAPES = [
    (1, 5, 40, 0, 48, 16, 1, 0),
    (1, 16, 16, 0, 16, 16, 1, 0),
    (1, 33, 70, 0, 70, 48, 1, 0),
    (3, 4, 20, 100, 24, 4, 1, 256),
    (2, 3, 17, 51, 17, 8, 2, 512),
]


@pytest.mark.parametrize("shape", ND_SHAPES)
@pytest.mark.parametrize("kernel", ["nd2nz_half", "nd2nz_float", "nd2nz_int8"])
def test_nd2nz(runtime: Runtime, library: ctypes.CDLL, kernel: str, shape: tuple[int, ...]) -> None:
    """Columns of C0, the last one filled with zeros; what lies between keeps its value."""
    dtype = {"half": np.float16, "float": np.float32, "int8": np.int8}[kernel.split("_")[1]]
    count, rows, columns, src_matrix, pitch, c0_stride, n_stride, dst_matrix = shape
    rng = np.random.default_rng(rows)
    source = some(rng, (4096,), dtype)
    before = some(rng, (65536 // np.dtype(dtype).itemsize,), dtype)
    c0 = model.BLOCK // np.dtype(dtype).itemsize
    want = before.copy()
    for i in range(count):
        for n in range(rows):
            for d in range(model.up(columns, c0)):
                at = i * dst_matrix + d // c0 * c0_stride * c0 + n * n_stride * c0 + d % c0
                inside = d < columns
                want[at] = source[i * src_matrix + n * pitch + d] if inside else 0
    words = np.zeros(16, np.int32)
    words[:9] = [65536, *shape]
    out = np.zeros_like(before)
    (got,) = runtime.launch(library[kernel], [source, out, before, words], outputs=[1])
    np.testing.assert_array_equal(got, want)


def test_strided_copies(runtime: Runtime, library: ctypes.CDLL) -> None:
    """GM to L1 and back, in blocks of 32 bytes with gaps."""
    source = np.arange(32 * 40, dtype=np.uint32).astype(np.uint8)
    out = np.zeros(32 * 20, np.uint8)
    words = np.array([4, 3, 2, 1, 4, 3, 1, 2], np.int32)
    (got,) = runtime.launch(library["strided"], [source, out, words], outputs=[1])
    blocks, want = source.reshape(-1, 32), out.reshape(-1, 32).copy()
    for i in range(4):
        want[5 * i : 5 * i + 3] = blocks[5 * i : 5 * i + 3]
    np.testing.assert_array_equal(got.reshape(-1, 32), want)


# --- out of L0C ----------------------------------------------------------------------------------


def values(rng: np.random.Generator, kernel: str) -> tuple[Array, Array, Array]:
    """Both operands and their product."""
    dtype = np.int8 if kernel.startswith("int8") else np.float16
    a, b = some(rng, (40, 32), dtype), some(rng, (32, 64), dtype)
    return a, b, product_of(a, b)


CASTS = [
    ("half_float", np.float32, NO_QUANT),
    ("half_half", np.float16, F322F16),
    ("half_bf16", ml_dtypes.bfloat16, F322BF16),
    ("int8_int32", np.int32, NO_QUANT),
]


def relu_of(matrix: Array, relu: int) -> Array:
    """The larger of it and 0."""
    return np.maximum(matrix, matrix.dtype.type(0)) if relu else matrix


@pytest.mark.parametrize("relu", [0, 1])
@pytest.mark.parametrize("to", [TO_NZ, TO_ND])
@pytest.mark.parametrize(("kernel", "out", "quant"), CASTS)
def test_fixpipe_casts(
    runtime: Runtime, library: ctypes.CDLL, kernel: str, out: npt.DTypeLike, quant: int, to: int,
    relu: int,
) -> None:  # fmt: skip
    rng = np.random.default_rng(quant)
    a, b, c = values(rng, kernel)
    want = relu_of(c, relu).astype(out)
    product = plain(kernel, a, b, out, to=to, fix={"quant": quant, "relu": relu})
    if to == TO_ND:
        got = product.run(runtime, library).reshape(40, 64)
        np.testing.assert_array_equal(got, want)
        return
    product.elements = 48 * 64
    got = product.run(runtime, library)
    at = model.nz_positions(40, 64, 48 * 16 * np.dtype(out).itemsize // 32, np.dtype(out).itemsize)
    for row in range(40):
        for column in range(64):
            assert got[at(row, column)] == want[row, column]


def test_fixpipe_pitch_and_several_matrices(runtime: Runtime, library: ctypes.CDLL) -> None:
    """Rows of the destination further apart, and ndNum matrices of one tile of L0C."""
    rng = np.random.default_rng(1)
    a, b, c = values(rng, "half_float")
    out = {"dstStride": 24, "n": 16, "ndNum": 3, "srcNd": 3, "dstNd": 1000}
    got = plain("half_float", a, b, fix=out, elements=3000).run(runtime, library)
    for i in range(3):
        part = np.lib.stride_tricks.as_strided(got[i * 1000 :], (40, 16), (96, 4))
        np.testing.assert_array_equal(part, c[:, 16 * i : 16 * i + 16])


def test_channel_split(runtime: Runtime, library: ctypes.CDLL) -> None:
    """Fractals of 16 x 8 floats."""
    rng = np.random.default_rng(1)
    a, b, c = values(rng, "half_float")
    fix = {"split": 1, "dstStride": 48}
    got = plain("half_float", a, b, to=TO_NZ, fix=fix, elements=48 * 64).run(runtime, library)
    at = model.nz_positions(40, 64, 48, 4, split=True)
    for row in range(40):
        for column in range(64):
            assert got[at(row, column)] == c[row, column]


SCALED = [
    ("int8_half", np.float16, DEQF16, VDEQF16, model.word_of(0.0078125)),
    ("int8_half", np.float16, DEQF16, VDEQF16, model.word_of(0.5, shift=4)),
    ("half_int8", np.int8, QF322B8, VQF322B8, model.word_of(3.25, -7)),
    ("half_uint8", np.uint8, QF322B8, VQF322B8, model.word_of(2.5, 100, signed=False)),
    ("int8_int8", np.int8, REQ8, VREQ8, model.word_of(0.001, 5)),
]


@pytest.mark.parametrize("relu", [0, 1])
@pytest.mark.parametrize("by", ["scalar", "tensor", "config"])
@pytest.mark.parametrize(("kernel", "out", "scalar", "vector", "word"), SCALED)
def test_quantisation(
    runtime: Runtime, library: ctypes.CDLL, kernel: str, out: npt.DTypeLike, scalar: int,
    vector: int, word: int, by: str, relu: int,
) -> None:  # fmt: skip
    """One parameter, or one for each column: given in L1, or in the fixpipe buffer."""
    rng = np.random.default_rng(vector)
    a, b, c = values(rng, kernel)
    words = np.full(64, word, np.uint64)
    fix = {"quant": scalar, "relu": relu, "low": word & 0xFFFFFFFF, "high": word >> 32}
    more: dict[str, Any] = {}
    if by != "scalar":
        factors = rng.uniform(0.5, 2, 64)
        words = np.array(
            [
                (word & ~0xFFFFFFFF)
                | (model.word_of(np.uint32(word & 0xFFFFE000).view(np.float32) * f) & 0xFFFFFFFF)
                for f in factors
            ],
            np.uint64,
        )
        fix = {"quant": vector, "relu": relu}
        more = {"quant": words, "configured": by == "config"}
    product = plain(kernel, a, b, out, fix=fix, **more)
    got = product.run(runtime, library).reshape(40, 64)
    np.testing.assert_array_equal(got, model.quantise(c, out, words, bool(relu)))


def test_8_bits_to_nz(runtime: Runtime, library: ctypes.CDLL) -> None:
    """Fractals are merged to 32 columns; an odd one stays 16 wide."""
    rng = np.random.default_rng(1)
    a, b, c = values(rng, "half_int8")
    word = model.word_of(2.0)
    fix = {
        "quant": QF322B8, "low": word & 0xFFFFFFFF, "high": word >> 32, "n": 48, "dstStride": 40,
    }  # fmt: skip
    product = plain("half_int8", a, b, np.int8, to=TO_NZ, fix=fix, elements=40 * 32 * 2)
    got = product.run(runtime, library)
    want = model.quantise(c, np.int8, np.full(64, word, np.uint64), False)
    at = model.nz_positions(40, 48, 40, 1)
    for row in range(40):
        for column in range(48):
            assert got[at(row, column)] == want[row, column]


@pytest.mark.parametrize(
    ("kernel", "out", "quant"),
    [("half_half", np.float16, F322F16), ("half_int8", np.int8, QF322B8)],
)
def test_by_way_of_l1(
    runtime: Runtime, library: ctypes.CDLL, kernel: str, out: npt.DTypeLike, quant: int
) -> None:
    """Fixpipe into L1, and the copy from there to GM."""
    rng = np.random.default_rng(1)
    a, b = some(rng, (48, 32), np.float16), some(rng, (32, 64), np.float16)
    c = product_of(a, b)
    word = model.word_of(2.0)
    fix = {"quant": quant, "low": word & 0xFFFFFFFF, "high": word >> 32}
    width = np.dtype(out).itemsize
    fix["dstStride"] = 48 * (32 if width == 1 else 16) * width // 32
    product = plain(kernel, a, b, out, to=BY_L1, fix=fix, elements=48 * 64)
    got = product.run(runtime, library)
    want = (
        c.astype(out)
        if width == 2
        else model.quantise(c, np.int8, np.full(64, word, np.uint64), False)
    )
    np.testing.assert_array_equal(got, model.to_nz(np.ascontiguousarray(want)))


def test_result_in_l1_goes_to_where_its_parameters_lie(
    runtime: Runtime, library: ctypes.CDLL
) -> None:
    """Hardware has the vector of quantisation in FB by then."""
    rng = np.random.default_rng(1)
    a, b = some(rng, (48, 32), np.float16), some(rng, (32, 64), np.float16)
    words = np.array([model.word_of(factor) for factor in rng.uniform(0.5, 2, 64)], np.uint64)
    fix = {"quant": VQF322B8, "dstStride": 48}
    product = plain(
        "half_int8", a, b, np.int8, to=BY_L1, fix=fix, quant=words, elements=48 * 64
    )  # fmt: skip
    want = model.quantise(product_of(a, b), np.int8, words, False)
    got = product.run(runtime, library)
    np.testing.assert_array_equal(got, model.to_nz(np.ascontiguousarray(want)))


def test_atomic_add(runtime: Runtime, library: ctypes.CDLL) -> None:
    rng = np.random.default_rng(1)
    a, b, c = values(rng, "half_float")
    got = plain("half_float", a, b, fix={"atomic": 1}, before=2.0).run(runtime, library)
    np.testing.assert_array_equal(got.reshape(40, 64), np.float32(2) + c)


def test_who_runs(runtime: Runtime, library: ctypes.CDLL) -> None:
    """Numbers of AICs, and that the source knows where it runs."""
    out = np.zeros(5 * 16, np.int32)
    (got,) = runtime.launch(library["who"], [out], block_dim=5)
    want = [[core, 5, 0, 1, 1, 0, 0, 0] for core in range(5)]
    np.testing.assert_array_equal(got.reshape(5, 16)[:, :8], want)


WINDOW = """
#include "kernel_operator.h"
using namespace AscendC;
template <typename T>
struct Loads {
  void OnAscend950(const LocalTensor<T>& to, const LocalTensor<T>& from) {
    LoadData2DParamsV2 window;
    window.mStep = 1;
    LoadData(to, from, window);
  }
};
void Taken(LocalTensor<half> to, LocalTensor<half> from) {
  Loads<half> loads;
  static_cast<void>(loads), static_cast<void>(to), static_cast<void>(from);
  @
}
"""


def test_a_load_of_ascend_950(
    toolkit: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """A function that nobody calls here may have it; a call of it does not compile."""
    compile_kernel(toolkit, tmp_path, "unused", "-O0", CUBE, text=WINDOW.replace("@", ""))
    text = WINDOW.replace("@", "loads.OnAscend950(to, from);")
    with pytest.raises(subprocess.CalledProcessError):
        compile_kernel(toolkit, tmp_path, "used", "-O0", CUBE, text=text)
    said = "LoadData of LoadData2DParamsV2 exists on architecture 3510 only"
    assert said in capfd.readouterr().err
