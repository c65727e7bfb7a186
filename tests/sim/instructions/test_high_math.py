# SPDX-License-Identifier: Apache-2.0
"""High-level functions of elements against NumPy in float64: mathematics and activations."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from instructions.bench import (
    BF16,
    DTYPES,
    FLOAT,
    HALF,
    INT8,
    INT16,
    INT32,
    UINT16,
    Array,
    Bench,
    Call,
    KernelError,
    Runtime,
    area,
    compile_kernel,
    random_values,
    width_of,
)

WORK_COUNT, PLAIN_COUNT, WORK_WHOLE, PLAIN_WHOLE = range(4)
EVERY = (WORK_COUNT, PLAIN_COUNT, WORK_WHOLE, PLAIN_WHOLE)
COUNTED = (WORK_COUNT, PLAIN_COUNT)
BARE = (PLAIN_COUNT, PLAIN_WHOLE)
NOWHERE = -1  # dst is not in the source's area
COUNT = 301


@pytest.fixture(scope="module")
def high(toolkit: Path, runtime: Runtime, tmp_path_factory: pytest.TempPathFactory) -> Bench:
    """The kernels of high_math.cpp."""
    path = compile_kernel(toolkit, tmp_path_factory.mktemp("high"), "high_math")
    return Bench(runtime, {"high_math": ctypes.CDLL(str(path))})


def each(function: Callable[[float], float]) -> Callable[[Array], Array]:
    """A function of the math module on arrays; what it refuses is NaN."""

    def one(x: float) -> float:
        try:
            return function(x)
        except (ValueError, OverflowError):
            return math.nan

    return lambda a: np.array([one(float(x)) for x in a], np.float64)


def lgamma(x: float) -> float:
    """Log |gamma(x)|: infinite at the poles."""
    if math.isinf(x) or (x <= 0 and x == math.floor(x)):
        return math.inf
    return math.lgamma(x)


def digamma(a: Array) -> Array:
    """The logarithmic derivative of gamma, by its series of reciprocals and a tail integral."""
    n = np.arange(200_000, dtype=np.float64)
    result = []
    for x in a.astype(np.float64):
        tail = np.log((n[-1] + 1.5) / (n[-1] + x + 0.5))  # of sum 1/(n+1) - 1/(n+x)
        result.append(np.sum(1 / (n + 1) - 1 / (n + x)) - tail - np.euler_gamma)
    return np.array(result)


def logistic(a: Array) -> Array:
    """1 / (1 + exp(-a))."""
    return 1 / (1 + np.exp(-a))


def swish(a: Array, beta: float) -> Array:
    """A / (1 + exp(-beta a)), 0 at minus infinity."""
    return np.where(np.isneginf(a * beta), a * 0.0 if beta == 0 else 0.0, a * logistic(beta * a))


def gelu(a: Array) -> Array:
    """Gaussian error linear unit, 0.5 a (1 + tanh x), without its cancellation."""
    x = math.sqrt(2 / math.pi) * (a + 0.044715 * a**3)
    return np.where(np.isneginf(a), 0.0, a * logistic(2 * x))


def faster_gelu_v2(a: Array) -> Array:
    """Its approximation by a parabola."""
    bell = -0.1444 * (np.minimum(np.abs(0.7071 * a), 1.769) - 1.769) ** 2 + 0.5
    return a * (np.where(a < 0, -1, 1) * bell + 0.5)


def sign(a: Array) -> Array:
    """-1, 0 or 1; 0 of NaN."""
    return np.where(a > 0, 1.0, np.where(a < 0, -1.0, 0.0))


WIDE = (-20.0, 20.0)
Function = Callable[[Array], Array]
SCALAR = 0.75
# Number in high_math.cpp, function, forms, range of the values.
UNARY: dict[str, tuple[int, Function, tuple[int, ...], tuple[float, float]]] = {
    "Log": (0, np.log, BARE, (0.0, 50.0)),
    "Log10": (1, np.log10, BARE, (0.0, 50.0)),
    "Log2": (2, np.log2, EVERY, (0.0, 50.0)),
    "Floor": (3, np.floor, COUNTED, WIDE),
    "Ceil": (4, np.ceil, COUNTED, WIDE),
    "Round": (5, np.rint, COUNTED, WIDE),
    "Trunc": (6, np.trunc, EVERY, WIDE),
    "Frac": (7, lambda a: a - np.trunc(a), EVERY, WIDE),
    "Sign": (8, sign, EVERY, WIDE),
    "Sin": (9, np.sin, EVERY, (-60000.0, 60000.0)),
    "Cos": (10, np.cos, EVERY, (-60000.0, 60000.0)),
    "Tan": (11, np.tan, EVERY, WIDE),
    "Asin": (12, np.arcsin, EVERY, (-1.0, 1.0)),
    "Acos": (13, np.arccos, EVERY, (-1.0, 1.0)),
    "Atan": (14, np.arctan, EVERY, WIDE),
    "Sinh": (15, np.sinh, EVERY, (-11.0, 11.0)),
    "Cosh": (16, np.cosh, EVERY, (-11.0, 11.0)),
    "Tanh": (17, np.tanh, EVERY, (-10.0, 10.0)),
    "Asinh": (18, np.arcsinh, EVERY, (-60000.0, 60000.0)),
    "Acosh": (19, np.arccosh, EVERY, (1.0, 60000.0)),
    "Atanh": (20, np.arctanh, EVERY, (-1.0, 1.0)),
    "Erf": (21, each(math.erf), EVERY, (-4.0, 4.0)),
    "Erfc": (22, each(math.erfc), EVERY, (-4.0, 9.0)),
    "Lgamma": (23, each(lgamma), COUNTED, (-9.0, 30.0)),
    "Sigmoid": (25, logistic, EVERY, WIDE),
    "Gelu": (26, gelu, COUNTED, (-5.0, 5.0)),
    "FasterGelu": (27, lambda a: swish(a, 1.702), COUNTED, WIDE),
    "FasterGeluV2": (28, faster_gelu_v2, COUNTED, (-5.0, 5.0)),
    "Exp": (29, np.exp, COUNTED, (-11.0, 11.0)),
    "Silu": (30, lambda a: swish(a, 1.0), (PLAIN_COUNT,), WIDE),
    "Swish": (31, lambda a: swish(a, SCALAR), (PLAIN_COUNT,), WIDE),
    "ClampMax": (32, lambda a: np.where(a > SCALAR, SCALAR, a), COUNTED, (-2.0, 2.0)),
    "ClampMin": (33, lambda a: np.where(a < SCALAR, SCALAR, a), COUNTED, (-2.0, 2.0)),
}
SPECIAL = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5]


def close(got: Array, want: Array, dtype: int) -> None:
    """Within 2 units in the last place of float, 1 of half; NaN is NaN and infinite is infinite."""
    kind = np.dtype(DTYPES[dtype])
    values = got.view(kind).astype(np.float64)
    with np.errstate(all="ignore"):
        rounded = want.astype(kind).astype(np.float64)
        spacing = np.abs(np.spacing(np.abs(want).astype(np.float32 if dtype == BF16 else kind)))
    limit = {FLOAT: 2.0, HALF: 1.0, BF16: 65536.0}[dtype] * spacing.astype(np.float64)
    same = (values == rounded) | (np.isnan(values) & np.isnan(rounded))
    with np.errstate(invalid="ignore"):
        near = np.abs(values - want) <= limit
    bad = ~(same | near)
    if bad.any():
        i = int(np.argmax(bad))
        raise AssertionError(f"{bad.sum()} differ, first at {i}: {values[i]!r} want {want[i]!r}")


def values_of(dtype: int, low: float, high: float, seed: int, special: bool = True) -> Array:
    """Values of a range, and the special ones in front."""
    rng = np.random.default_rng(seed)
    values = rng.uniform(low, high, COUNT)
    if special:
        values[: len(SPECIAL)] = SPECIAL
    return values.astype(DTYPES[dtype])


def call_of(op: int, form: int, dtype: int, **rest: object) -> Call:
    """A call of high_math.cpp's kernels."""
    extra = (form, 0, NOWHERE)
    scalar_dtype = np.int32 if dtype == INT32 else np.dtype(DTYPES[dtype])
    return Call(
        op=op, dtype=dtype, count=COUNT, extra=extra, scalar=rest.get("scalar", SCALAR),
        scalar_dtype=scalar_dtype,
    )  # fmt: skip


# Their pages exclude some of the values here: a finding, and the numbers are right all the same.
LIMITED = {"Sin", "Cos", "Tan", "Asin", "Acos", "Asinh", "Acosh", "Atanh"}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.plants_faults if name in LIMITED else ())
        for name in UNARY
    ],
)
def test_function_of_an_element(high: Bench, name: str) -> None:
    """Every form in float and half; what lies behind the last element stays."""
    finding = "value-range" if name in LIMITED else ""
    op, function, forms, (low, top) = UNARY[name]
    for dtype in (FLOAT, HALF):
        a = values_of(dtype, low, top, op)
        dst = random_values(np.random.default_rng(op), dtype, 1000)
        with np.errstate(all="ignore"):
            want = function(a.astype(np.float64))
        for form in forms:
            call = call_of(op, form, dtype)
            got = high.run("high_math:high_unary", call, area(dst), area(a), finding=finding)
            size = COUNT * width_of(dtype)
            close(got[:size], want, dtype)
            np.testing.assert_array_equal(got[size:], area(dst)[size:])


def test_digamma(high: Bench) -> None:
    """Against its series, to what the series gives in double."""
    a = values_of(FLOAT, 0.25, 30.0, 1, special=False)[:40]
    a[20:] = -a[20:]
    a = np.concatenate([a, np.full(COUNT - 40, 1.0)]).astype(np.float32)
    got = high.run("high_math:high_unary", call_of(24, WORK_COUNT, FLOAT), area(a), area(a))
    want = digamma(a[:41])
    np.testing.assert_allclose(got.view(np.float32)[:41], want, rtol=3e-6, atol=3e-6)


def test_axpy_rounds_once(high: Bench) -> None:
    """Dst + src * scalar in one rounding; half into float too."""
    for dtype in (FLOAT, HALF):
        a, dst = (values_of(dtype, -9.0, 9.0, seed) for seed in (1, 2))
        got = high.run("high_math:high_unary", call_of(34, WORK_COUNT, dtype), area(dst), area(a))
        scalar = float(np.array(SCALAR).astype(DTYPES[dtype]))
        with np.errstate(all="ignore"):
            want = a.astype(np.float64) * scalar + dst.astype(np.float64)
        close(got[: COUNT * width_of(dtype)], want, dtype)
    a, wide = values_of(HALF, -9.0, 9.0, 3), values_of(FLOAT, -9.0, 9.0, 4)
    got = high.run("high_math:high_binary", call_of(6, WORK_COUNT, HALF), area(wide), area(a))
    with np.errstate(all="ignore"):
        close(got[: COUNT * 4], a.astype(np.float64) * SCALAR + wide, FLOAT)


def power(a: Array, b: Array) -> Array:
    """In double."""
    with np.errstate(all="ignore"):
        return np.power(a.astype(np.float64), b.astype(np.float64))


@pytest.mark.parametrize("dtype", [FLOAT, HALF])
def test_power(high: Bench, dtype: int) -> None:
    """Two tensors, and a scalar on either side, in every form."""
    a = values_of(dtype, 0.0, 9.0, 1)
    b = values_of(dtype, -3.0, 3.0, 2)
    a[20:60], b[20:60] = -a[20:60], np.round(b[20:60].astype(np.float32)).astype(b.dtype)
    scalar = np.full(COUNT, SCALAR)
    for side, want in ((0, power(a, b)), (4, power(a, scalar)), (8, power(scalar, b))):
        for form in EVERY:
            call = call_of(0, form + side, dtype)
            got = high.run("high_math:high_binary", call, area(a), area(a), area(b))
            close(got[: COUNT * width_of(dtype)], want, dtype)


def test_power_of_integers(high: Bench) -> None:
    """Wraps; a negative exponent leaves 0, or 1 and -1 of themselves."""
    rng = np.random.default_rng(3)
    a = rng.integers(-12, 12, COUNT).astype(np.int32)
    b = rng.integers(-3, 14, COUNT).astype(np.int32)

    def wrapped(x: int, y: int) -> int:
        if y < 0:
            return {1: 1, -1: -1 if y % 2 else 1}.get(x, 0)
        return int((x**y + 2**31) % 2**32 - 2**31)

    want = np.array([wrapped(int(x), int(y)) for x, y in zip(a, b, strict=True)], np.int32)
    got = high.run("high_math:high_binary", call_of(0, 0, INT32), area(a), area(a), area(b))
    np.testing.assert_array_equal(got.view(np.int32)[:COUNT], want)
    got = high.run(
        "high_math:high_binary", call_of(0, 5, INT32, scalar=3), area(a), area(a), area(b)
    )
    np.testing.assert_array_equal(got.view(np.int32)[:COUNT], a**3)


def test_functions_of_two_tensors(high: Bench) -> None:
    """Fmod, GeGLU, SwiGLU, ReGlu in every form, and Xor."""
    cases: list[tuple[int, tuple[int, ...], Callable[[Array, Array], Array]]] = [
        (1, EVERY, np.fmod),
        (2, EVERY, lambda a, b: a * gelu(b)),
        (3, EVERY, lambda a, b: a * swish(b, 1.5)),
        (4, COUNTED, lambda a, b: a * np.where(b <= 0, 0.0, b)),
    ]
    for op, forms, function in cases:
        for dtype in (FLOAT, HALF, BF16) if op == 4 else (FLOAT, HALF):
            a, b = (values_of(dtype, -6.0, 6.0, seed) for seed in (op, op + 9))
            with np.errstate(all="ignore"):
                want = function(a.astype(np.float64), b.astype(np.float64))
            for form in forms:
                call = call_of(op, form, dtype)
                got = high.run("high_math:high_binary", call, area(a), area(a), area(b))
                close(got[: COUNT * width_of(dtype)], want, dtype)
    for dtype in (INT16, UINT16):
        x, y = (random_values(np.random.default_rng(seed), dtype, COUNT) for seed in (1, 2))
        for form in EVERY:
            got = high.run(
                "high_math:high_binary", call_of(5, form, dtype), area(x), area(x), area(y)
            )
            np.testing.assert_array_equal(got.view(DTYPES[dtype])[:COUNT], x ^ y)


def test_scratch_from_what_is_left(high: Bench) -> None:
    """Without sharedTmpBuffer one block of each temporary must be left of UB."""
    a = values_of(FLOAT, -9.0, 9.0, 1)
    for more in (88832, 89856):  # 1280 bytes are left, the documented least, and 256
        call = Call(op=14, count=COUNT, extra=(PLAIN_COUNT, 0, NOWHERE, more))
        got = high.run("high_math:high_unary", call, area(a), area(a))
        close(got[: COUNT * 4], np.arctan(a.astype(np.float64)), FLOAT)


def test_in_place(high: Bench) -> None:
    """The very same tensor is computed right, whether the documentation allows it or not."""
    for op, function in ((6, np.trunc), (17, np.tanh)):
        a = values_of(FLOAT, -9.0, 9.0, op)
        call = Call(op=op, count=COUNT, extra=(PLAIN_COUNT, 0, 0))
        got = high.run("high_math:high_unary", call, area(a), area(a))
        close(got[: COUNT * 4], function(a.astype(np.float64)), FLOAT)


@pytest.mark.plants_faults
@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (Call(op=17, count=COUNT, extra=(0, 128, NOWHERE)), "ub-scratch", "256 are the least"),
        (Call(op=14, count=9, extra=(0, 1024, NOWHERE)), "ub-scratch", "1280 are the least"),
        (
            Call(op=14, dtype=HALF, count=9, extra=(1, 0, NOWHERE, 89856)),
            "ub-scratch",
            "that is 256 of",
        ),
        (Call(op=17, count=COUNT, extra=(1, 0, 32)), "overlap", "start 32 bytes apart"),
        (Call(op=17, count=COUNT, extra=(1, 0, 4096 + 4)), "ub-misaligned", "dst"),
        (Call(op=9, count=8193, extra=(1, 0, NOWHERE)), "ub-out-of-bounds", "dst"),
        (Call(op=17, dtype=INT8, count=8, extra=(1, 0, NOWHERE)), "dtype-unsupported", "int32_t"),
    ],
)
def test_faults(high: Bench, call: Call, kind: str, words: str) -> None:
    """Each with its numbers."""
    a = values_of(FLOAT, -9.0, 9.0, 1)
    with pytest.raises(KernelError) as error:
        high.run("high_math:high_unary", call, area(a), area(a))
    assert f"[{kind}]" in str(error.value)
    assert words in str(error.value)


@pytest.mark.plants_faults
def test_definedness(high: Bench, runtime: Runtime) -> None:
    """An element is as defined as its source; the scratch is undefined afterwards."""
    a = values_of(FLOAT, -9.0, 9.0, 1)[:256]
    entry = high.libraries["high_math"]["high_flow"]
    with runtime.options(mode="checked"):
        for extra, faulty in (((1024, 0), False), ((1056, 0), True), ((1024, 32), True)):
            arrays = [np.zeros(512, np.float32), a, Call(extra=extra).pack()]
            if not faulty:
                got = runtime.launch(entry, arrays)[0]
                close(got[:256].view(np.uint8), logistic(a.astype(np.float64)), FLOAT)
                continue
            with pytest.raises(KernelError, match="undefined"):
                runtime.launch(entry, arrays)
