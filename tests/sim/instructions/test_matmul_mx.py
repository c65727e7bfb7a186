# SPDX-License-Identifier: Apache-2.0
"""Products of MX types by Matmul on cube cores of Ascend 950, against NumPy in float64 with the
scales: ragged shapes, transposes of numbers and scales, fractals in GM, and any valid tiling.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest

from instructions.bench import KernelError, Runtime, compile_kernel
from instructions.test_cube_950 import CUBE, E2M1, E4M3, E5M2, SOC
from instructions.test_matmul import HEAD, Product, compiler_says, field_names, up
from instructions.test_matmul_narrow import in_fractals

ALL, TILES, NO_SCALE_A, NO_SCALE_B = range(4)
ONES = 0x01010101  # mxTypePara
TRANSPOSES = [(False, False), (True, False), (False, True), (True, True)]
Array = npt.NDArray[Any]


@pytest.fixture(scope="module")
def library(toolkit: Path, tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """The kernels of matmul_mx.cpp."""
    folder = tmp_path_factory.mktemp("matmul_mx")
    path = compile_kernel(toolkit, folder, "matmul_mx", "-O1", "-g", CUBE, soc="ascend950")
    return ctypes.CDLL(str(path))


@pytest.fixture(autouse=True)
def on_950(runtime: Runtime) -> Iterator[None]:
    """The SoC of this file."""
    with runtime.options(soc=SOC):
        yield


@dataclass(frozen=True)
class Form:
    """A type of A or B: what its codes are worth, and how many of them a byte holds."""

    worth: Array
    in_byte: int = 1

    def some(self, rng: np.random.Generator, shape: tuple[int, int]) -> Array:
        finite = np.flatnonzero(np.isfinite(self.worth) & (np.abs(self.worth) <= 8))
        return rng.choice(finite, shape).astype(np.uint8)


BYTES = np.arange(256, dtype=np.uint8)
OF = {
    "e4m3": Form(BYTES.view(E4M3).astype(np.float64)),
    "e5m2": Form(BYTES.view(E5M2).astype(np.float64)),
    "e2m1": Form(BYTES[:16].view(E2M1).astype(np.float64), 2),
    "e1m2": Form(np.array([(1 if c < 8 else -1) * (c % 8) / 4 for c in range(16)]), 2),
}
KERNELS: dict[str, tuple[str, str, npt.DTypeLike, npt.DTypeLike]] = {
    "e4m3_float": ("e4m3", "e4m3", np.float32, np.float32),
    "e5m2_e4m3_half": ("e5m2", "e4m3", np.float16, np.float16),
    "e2m1_float": ("e2m1", "e2m1", np.float32, np.float32),
    "e1m2_e2m1_bf16": ("e1m2", "e2m1", ml_dtypes.bfloat16, np.float32),
    "e5m2_nz": ("e5m2", "e5m2", np.float32, np.float32),
    "e1m2_nz": ("e1m2", "e1m2", np.float32, np.float32),
    "untold": ("e4m3", "e4m3", np.float32, np.float32),
}


def pairs_in_gm(scales: Array, by_lines: bool, nz: bool) -> Array:
    """Scales of lines (rows of A, columns of B) in pairs along K, as they lie in GM."""
    lines, groups = scales.shape
    whole = np.zeros((up(lines, 16) if nz else lines, up(groups, 2)), np.uint8)
    whole[:lines, :groups] = scales
    pairs = whole.reshape(whole.shape[0], -1, 2)
    if nz:
        return pairs.reshape(-1, 16, pairs.shape[1], 2).transpose(0, 2, 1, 3).reshape(-1)
    return (pairs if by_lines else pairs.transpose(1, 0, 2)).reshape(-1)


@dataclass
class Mx(Product):
    """A product of a kernel of matmul_mx.cpp."""

    trans_scale_a: bool = False
    trans_scale_b: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        rng = np.random.default_rng(self.m + self.n + self.k + self.seed)
        of_a, of_b, self.out, dtype = KERNELS[self.kernel]
        self.form_a, self.form_b = OF[of_a], OF[of_b]
        self.codes_a = self.form_a.some(rng, (self.m, self.k))
        self.codes_b = self.form_b.some(rng, (self.k, self.n))
        self.nz = self.kernel.endswith("_nz")
        groups = -(-self.k // 32)
        self.scale_a = rng.integers(124, 129, (self.m, groups)).astype(np.uint8)
        self.scale_b = rng.integers(124, 129, (self.n, groups)).astype(np.uint8)
        self.a = self.scaled(self.form_a.worth[self.codes_a], self.scale_a)
        self.b = self.scaled(self.form_b.worth[self.codes_b].T, self.scale_b).T
        self.of_bias = rng.uniform(-1, 1, self.n).astype(dtype)

    @staticmethod
    def scaled(values: Array, scales: Array) -> Array:
        factors = np.exp2(scales.astype(np.float64) - 127).repeat(32, axis=1)
        return values * factors[:, : values.shape[1]]

    def codes(self, codes: Array, form: Form, transposed: bool) -> Array:
        """As they lie in GM."""
        lying = np.ascontiguousarray(codes.T if transposed else codes)
        flat = in_fractals(lying, 32 * form.in_byte) if self.nz else lying.reshape(-1)
        return flat if form.in_byte == 1 else flat[::2] | flat[1::2] << 4

    def arrays(self) -> list[Array]:
        numbers = {"mxTypePara": ONES} | self.numbers()
        words = [numbers.get(name, 0) for name in field_names()]
        told = [self.trans_a, self.trans_b, self.trans_scale_a, self.trans_scale_b, self.way]
        words += [*map(int, told), int(self.bias is not None)]
        return [
            self.codes(self.codes_a, self.form_a, self.trans_a),
            self.codes(self.codes_b, self.form_b, self.trans_b),
            pairs_in_gm(self.scale_a, not self.trans_scale_a, self.nz),
            pairs_in_gm(self.scale_b, self.trans_scale_b, self.nz),
            np.zeros(self.m * self.n, self.out),
            self.of_bias,
            np.array(words, np.int64).astype(np.uint32).view(np.int32),
        ]

    def run(
        self, runtime: Runtime, library: ctypes.CDLL, elements: int = 0, before: float = 0
    ) -> Array:
        """C."""
        assert elements == 0 and before == 0
        cores = self.numbers()["usedCoreNum"]
        kernel = library[self.kernel]
        (got,) = runtime.launch(kernel, self.arrays(), outputs=[4], block_dim=cores)
        return got.reshape(self.m, self.n)


def product(kernel: str, m: int, n: int, k: int, **more: Any) -> Mx:
    given: dict[str, Any] = {"base": (32, 64, 64)}
    return Mx(kernel, m, n, k, **(given | more))


SHAPES = [(32, 64, 64), (1, 2, 2), (33, 70, 166), (100, 130, 42), (6, 200, 260), (78, 16, 480)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("trans_a", "trans_b"), TRANSPOSES)
@pytest.mark.parametrize("kernel", ["e4m3_float", "e5m2_e4m3_half", "e2m1_float", "e1m2_e2m1_bf16"])
def test_types_and_transposes(
    runtime: Runtime,
    library: ctypes.CDLL,
    kernel: str,
    trans_a: bool,
    trans_b: bool,
    shape: tuple[int, int, int],
) -> None:
    """Tails of M, N and K, with a bias on every other shape."""
    m, n, k = shape
    m += m % 2 if OF[KERNELS[kernel][0]].in_byte == 2 and trans_a else 0
    bias = KERNELS[kernel][3] if SHAPES.index(shape) % 2 else None
    base = (32, 64, 64 * OF[KERNELS[kernel][0]].in_byte)
    mx = product(kernel, m, n, k, base=base, trans_a=trans_a, trans_b=trans_b, bias=bias)
    mx.check(mx.run(runtime, library))


@pytest.mark.parametrize(("trans_scale_a", "trans_scale_b"), TRANSPOSES)
@pytest.mark.parametrize("parts", [(1, 1, 1), (2, 3, 1)])
def test_transposed_scales_and_parts_of_cores(
    runtime: Runtime, library: ctypes.CDLL, parts: Any, trans_scale_a: bool, trans_scale_b: bool
) -> None:
    mx = product("e4m3_float", 75, 170, 300, parts=parts, bias=np.float32)
    mx.trans_scale_a, mx.trans_scale_b = trans_scale_a, trans_scale_b
    mx.check(mx.run(runtime, library))


@pytest.mark.parametrize(("trans_a", "trans_b"), TRANSPOSES)
@pytest.mark.parametrize("kernel", ["e5m2_nz", "e1m2_nz"])
def test_fractals_in_gm(
    runtime: Runtime, library: ctypes.CDLL, kernel: str, trans_a: bool, trans_b: bool
) -> None:
    """Numbers and scales; M, N and K ragged inside them."""
    parts = (1 if trans_a else 3, 1 if not trans_b else 3, 1)
    more: dict[str, Any] = {"trans_a": trans_a, "trans_b": trans_b, "base": (64, 64, 64)}
    mx = product(kernel, 75, 90, 150, parts=parts, **more)
    mx.check(mx.run(runtime, library))


def test_tiles_one_by_one(runtime: Runtime, library: ctypes.CDLL) -> None:
    """Iterate and GetTensorC are IterateAll."""
    one = product("e4m3_float", 70, 100, 150, way=TILES)
    got = one.run(runtime, library)
    one.check(got)
    one.way = ALL
    np.testing.assert_array_equal(one.run(runtime, library), got)


def factors(ka: int, kb: int, m: int, n: int) -> int:
    """As mxTypePara."""
    return ka | kb << 8 | m << 16 | n << 24


TILINGS: list[dict[str, Any]] = [
    {"base": (16, 32, 64)},
    {"base": (32, 64, 128), "tiling": {"dbL0C": 2}},
    {"base": (32, 64, 64), "tiling": {"dbL0A": 1, "dbL0B": 1, "iterateOrder": 1}},
    {"base": (32, 64, 64), "tiling": {"stepKa": 2, "depthA1": 4, "stepKb": 3, "depthB1": 3}},
    {
        "base": (32, 64, 64),
        "tiling": {"stepKa": 7, "depthA1": 28, "stepM": 2, "stepKb": 7, "stepN": 2, "depthB1": 14},
    },
    {"base": (32, 64, 64), "tiling": {"mxTypePara": factors(3, 2, 1, 1)}},
    {"base": (16, 32, 64), "tiling": {"mxTypePara": factors(7, 9, 2, 3), "iterateOrder": 1}},
    {
        "base": (16, 32, 64),
        "tiling": {
            "stepKa": 4, "depthA1": 4, "stepKb": 2, "depthB1": 4,
            "mxTypePara": factors(2, 127, 127, 127),
        },
    },
]  # fmt: skip


@pytest.mark.parametrize("chaos", ["0", "1", "2", "3"])
@pytest.mark.parametrize("given", TILINGS, ids=str)
def test_any_valid_tiling_in_any_order_of_pipes(
    runtime: Runtime, library: ctypes.CDLL, given: dict[str, Any], chaos: str
) -> None:
    mx = product("e4m3_float", 90, 110, 430, bias=np.float32, trans_a=True, **given)
    with runtime.options(chaos=chaos):
        mx.check(mx.run(runtime, library))


FAULTS: dict[str, tuple[dict[str, Any], str]] = {
    "scaleA": ({"way": NO_SCALE_A}, r"the scales of A are not set\n[\s\S]*Call SetTensorScaleA"),
    "scaleB": ({"way": NO_SCALE_B}, r"the scales of B are not set\n[\s\S]*Call SetTensorScaleB"),
    "turned A": ({"kernel": "untold", "trans_scale_a": True}, "scaleA is to be transposed, which"),
    "turned B": ({"kernel": "untold"}, "scaleB is to be transposed, which"),
    "NZ of A": ({"kernel": "e5m2_nz", "trans_scale_a": True}, "scaleA is NZ, whose .* not transp"),
    "NZ of B": ({"kernel": "e5m2_nz", "trans_scale_b": False}, "scaleB is NZ, whose .* transposed"),
    "no factor": ({"tiling": {"mxTypePara": 0}}, "factors 0 along K and 0 along M"),
    "M before K": (
        {"tiling": {"mxTypePara": factors(1, 1, 2, 1)}},
        "the factor 2 along M, and 64 of 430 elements along K lie in L1",
    ),
    "baseK": ({"base": (32, 64, 96)}, "baseK of the tiling is 96; it is a multiple of 64"),
    "L1": (
        {"tiling": {"stepKb": 62, "depthB1": 124}},
        "does not fit L1: .* are 5[0-9]+ bytes of 524288, scales with them",
    ),
    "square": (
        {"base": (16, 64, 64), "trans_a": True, "tiling": {"stepM": 3, "depthA1": 3}},
        "a tile of A begins in the middle of a square",
    ),
    "fractal": (
        {"kernel": "e5m2_nz", "base": (16, 64, 64), "trans_a": True},
        "A is NZ, and a tile begins at column 16, within a fractal of 32 columns",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
@pytest.mark.plants_faults
def test_mistakes_are_named(runtime: Runtime, library: ctypes.CDLL, name: str) -> None:
    """With sizes; what is right beside each passes."""
    given, said = FAULTS[name]
    given = {"kernel": "e4m3_float"} | given
    with pytest.raises(KernelError, match=r"matmul-use[\s\S]*" + said):
        product(given.pop("kernel"), 90, 110, 430, **given).run(runtime, library)
    right = product("untold", 90, 110, 430, trans_scale_b=False)
    right.check(right.run(runtime, library))


REFUSED = {
    "both have scales (MatmulTypeWithScale), or neither": ("Mx<fp8_e5m2_t>", "Gm<fp8_e5m2_t>"),
    "two of fp8_e4m3fn_t and fp8_e5m2_t, or": ("Mx<fp8_e5m2_t>", "Mx<fp4x2_e2m1_t>"),
    "scales in VECOUT are not simulated": ("Mx<fp8_e5m2_t, TPosition::VECOUT>",),
    "scales in TSCM, A1 or B1 are NZ": ("Mx<fp8_e5m2_t, TPosition::TSCM>",),
    "in this format is not simulated yet; it is ND or NZ": (
        "Mx<fp8_e5m2_t, TPosition::GM, CubeFormat::VECTOR>",
    ),
    "scales in this format are not simulated": (
        "Mx<fp8_e5m2_t, TPosition::GM, CubeFormat::ND, CubeFormat::VECTOR>",
    ),
    "MatmulWithScalePolicy and MatmulTypeWithScale go": ("Gm<fp8_e5m2_t>", "Gm<fp8_e5m2_t>"),
    "float, half or bfloat16_t": ("Mx<fp8_e5m2_t>", "Mx<fp8_e5m2_t>", "Gm<int8_t>"),
    "of the NORM and MDL templates": (
        "Mx<fp8_e5m2_t>", "Mx<fp8_e5m2_t>", "Gm<float>", "CFG_IBSHARE_NORM",
    ),
    "copies of the kernel's own of A or B": (
        "Mx<fp8_e5m2_t>", "Mx<fp8_e5m2_t>", "Gm<float>", "CFG_NORM",
        "MatmulCallBackFunc<nullptr, OwnCopy>",
    ),
    "with scales (MatmulTypeWithScale)": (
        "Gm<fp4x2_e2m1_t>", "Gm<fp4x2_e2m1_t>", "Gm<float>", "CFG_NORM", "MatmulCallBackFunc<>",
        "MatmulPolicy",
    ),
}  # fmt: skip


@pytest.mark.parametrize("said", REFUSED)
def test_what_is_not_simulated_does_not_compile(toolkit: Path, said: str) -> None:
    text = HEAD + (
        "template <typename T> using Gm = MatmulType<TPosition::GM, CubeFormat::ND, T>;\n"
        "template <typename T, TPosition at = TPosition::GM, CubeFormat format = CubeFormat::ND,"
        " CubeFormat scales = format>\nusing Mx = MatmulTypeWithScale<TPosition::GM, at, format,"
        " T, false, TPosition::GM, scales>;\n"
        "void OwnCopy(const LocalTensor<int8_t>&, const __gm__ void*, int, int, int, int, uint64_t,"
        " uint64_t);\n"
        'extern "C" __global__ __aicore__ void k(GM_ADDR) {\n  Matmul<%s> object;\n}\n'
    )

    def types(of: tuple[str, ...]) -> str:
        given = of[:1] * 2 if len(of) == 1 else of[:2]
        rest = ("Gm<float>", "CFG_NORM", "MatmulCallBackFunc<>", "MatmulWithScalePolicy")
        c, config, copies, policy = of[2:] + rest[len(of[2:]) :]
        return ", ".join([*given, c, c, config, copies, f"Impl::Detail::{policy}"])

    words = ["-U__NPU_ARCH__", "-D__NPU_ARCH__=3510", CUBE]
    assert said in compiler_says(toolkit, text % types(REFUSED[said]), *words)
    assert compiler_says(toolkit, text % types(("Mx<fp8_e5m2_t>",)), *words) == ""
