# SPDX-License-Identifier: Apache-2.0
"""Types of tensors on Ascend 950: those of the pages give the numbers, others are refused."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

from instructions.bench import (
    COUNT,
    HERE,
    MASK,
    Array,
    Bench,
    Call,
    KernelError,
    Runtime,
    area,
    compile_kernel,
)

SOC = "Ascend950PR_9599"
LANES = 24
TABLE = tomllib.loads((HERE / "dtypes_950.toml").read_text())
KINDS: dict[str, npt.DTypeLike] = {
    "int8": np.int8,
    "uint8": np.uint8,
    "int16": np.int16,
    "uint16": np.uint16,
    "int32": np.int32,
    "uint32": np.uint32,
    "int64": np.int64,
    "uint64": np.uint64,
    "half": np.float16,
    "bfloat16": ml_dtypes.bfloat16,
    "float": np.float32,
}
REAL = ("half", "bfloat16", "float")
SCALAR = 3
RESULTS: dict[str, Callable[..., Array]] = {
    "Add": lambda d, a, b: a + b,
    "Sub": lambda d, a, b: a - b,
    "Mul": lambda d, a, b: a * b,
    "Div": lambda d, a, b: (
        a / b if a.dtype.kind == "f" else np.trunc(a.astype(float) / b.astype(float))
    ),
    "Max": lambda d, a, b: np.maximum(a, b),
    "Min": lambda d, a, b: np.minimum(a, b),
    "And": lambda d, a, b: a & b,
    "Or": lambda d, a, b: a | b,
    "AddRelu": lambda d, a, b: np.maximum(a + b, 0),
    "SubRelu": lambda d, a, b: np.maximum(a - b, 0),
    "MulAddDst": lambda d, a, b: a * b + d,
    "FusedMulAdd": lambda d, a, b: a * d + b,
    "MulAddRelu": lambda d, a, b: np.maximum(a * d + b, 0),
    "Prelu": lambda d, a, b: np.where(np.signbit(a), a * b, a),
    "Exp": lambda d, a: np.exp(a),
    "Ln": lambda d, a: np.log(a),
    "Sqrt": lambda d, a: np.sqrt(a),
    "Rsqrt": lambda d, a: 1 / np.sqrt(a),
    "Abs": lambda d, a: np.abs(a),
    "Reciprocal": lambda d, a: 1 / a if a.dtype.kind == "f" else np.trunc(1 / a.astype(float)),
    "Relu": lambda d, a: np.maximum(a, 0),
    "Not": lambda d, a: ~a,
    "Neg": lambda d, a: -a,
    "Adds": lambda d, a: a + a.dtype.type(SCALAR),
    "Muls": lambda d, a: a * a.dtype.type(SCALAR),
    "Maxs": lambda d, a: np.maximum(a, a.dtype.type(SCALAR)),
    "Mins": lambda d, a: np.minimum(a, a.dtype.type(SCALAR)),
    "ShiftLeft": lambda d, a: a << a.dtype.type(SCALAR),
    "ShiftRight": lambda d, a: a >> a.dtype.type(SCALAR),
    "LeakyRelu": lambda d, a: np.where(np.signbit(a), a * SCALAR, a),
    "Axpy": lambda d, a: a * a.dtype.type(SCALAR) + d,
    "Duplicate": lambda d, a: np.full_like(a, SCALAR),
    "CreateVecIndex": lambda d, a: (np.arange(a.size) + SCALAR).astype(a.dtype),
}
ROWS = [
    (group, name, kind)
    for group in ("binary", "unary", "scalar")
    for name in TABLE[group]
    for kind in KINDS
]
CASTS = [
    (source, target, mode)
    for source, targets in TABLE["cast"].items()
    for target, modes in targets.items()
    for mode in modes.split()
]
INT4_MODES = ("NONE", "RINT", "FLOOR", "CEIL", "ROUND", "TRUNC", "ODD")
INT4_CASTS = [
    (packs, kind, mode)
    for packs in (False, True)
    for kind in ("half", "bfloat16", "int16")
    for mode in INT4_MODES
]


def int4_name(packs: bool, kind: str, mode: str) -> str:
    """The kernel of a conversion to or from int4b_t."""
    return f"Cast_int4_{'from' if packs else 'to'}_{kind}_{mode}"


def ctype(kind: str) -> str:
    """The type in C++."""
    return kind if kind in ("half", "float") else f"{kind}_t"


def call_of(group: str, name: str, kind: str, form: str) -> str:
    """The call of one form: `count`, or `mask`."""
    params = "BinaryRepeatParams" if group == "binary" else "UnaryRepeatParams"
    tail = "c.count" if form == "count" else f"c.mask[0], 1, {params}()"
    scalar = f"static_cast<{ctype(kind)}>({SCALAR}.0f)"
    if name == "Duplicate":
        return f"Duplicate(d, {scalar}, {'c.count' if form == 'count' else 'c.mask[0], 1, 1, 8'});"
    if name == "CreateVecIndex":
        tail = "static_cast<uint32_t>(c.count)" if form == "count" else "c.mask[0], 1, 1, 8"
        return f"CreateVecIndex(d, {scalar}, {tail});"
    operands = {"binary": "d, a, b", "unary": "d, a", "scalar": f"d, a, {scalar}"}[group]
    return f"{name}({operands}, {tail});"


def source() -> str:
    """A kernel per instruction and type, and per conversion."""
    lines = [f'#include "{HERE / "bench.h"}"', "using namespace AscendC;"]
    for group, name, kind in ROWS:
        areas = "".join(
            f"auto {var} = areas.Area<{ctype(kind)}>({i}); (void){var}; "
            for i, var in enumerate("dab")
        )
        by_count = call_of(group, name, kind, "count")
        by_mask = "" if name in ("Neg", "Prelu") else call_of(group, name, kind, "mask")
        lines.append(
            f"CALL_KERNEL({name}_{kind}) {{ {areas} "
            f"if (c.form == kCount) {{ {by_count} }} else {{ {by_mask} }} }}"
        )
    for source_kind, target, mode in CASTS:
        lines.append(
            f"CALL_KERNEL(Cast_{source_kind}_{target}_{mode}) {{ "
            f"Cast(areas.Area<{ctype(target)}>(0), "
            f"areas.Area<{ctype(source_kind)}>(1), RoundMode::CAST_{mode}, c.count); }}"
        )
    for packs, kind, mode in INT4_CASTS:
        wide, packed = (
            f"areas.Area<{ctype(kind)}>({1 if packs else 0})",
            f"areas.Area<int8_t>({0 if packs else 1}).ReinterpretCast<int4b_t>()",
        )
        operands = f"{packed}, {wide}" if packs else f"{wide}, {packed}"
        lines.append(
            f"CALL_KERNEL({int4_name(packs, kind, mode)}) {{ "
            f"Cast({operands}, RoundMode::CAST_{mode}, c.count); }}"
        )
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def kernels(
    toolkit: Path, runtime: Runtime, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Bench]:
    """All of them on Ascend 950."""
    folder = tmp_path_factory.mktemp("dtypes_950")
    path = compile_kernel(
        toolkit, folder, "dtypes_950", "-O0", "-g", soc="ascend950", text=source()
    )
    with runtime.options(soc=SOC):
        yield Bench(runtime, {"dtypes": ctypes.CDLL(str(path))})


def values(kind: str, seed: int) -> Array:
    """Small values without 0, for which nothing but wrapping of 8 bits overflows."""
    rng = np.random.default_rng(seed)
    least = 1 if kind.startswith("u") else -9
    whole = rng.integers(least, 9, LANES)
    whole[whole == 0] = 1
    return whole.astype(KINDS[kind])


def in_float(function: Callable[..., Array], kind: str, *operands: Array) -> Array:
    """The result in the type; half and bfloat16 by way of float."""
    wide = [v.astype(np.float32) for v in operands] if kind in REAL else list(operands)
    with np.errstate(all="ignore"):
        return np.asarray(function(*wide)).astype(KINDS[kind])


@pytest.mark.plants_faults
@pytest.mark.parametrize("row", ROWS, ids=["-".join(row[1:]) for row in ROWS])
def test_type(kernels: Bench, row: tuple[str, str, str]) -> None:
    """Numbers of a type that the page lists, in its forms; another type is refused."""
    group, name, kind = row
    types = TABLE[group][name]
    for form in (COUNT, MASK):
        if form == MASK and name in ("Neg", "Prelu"):
            continue
        dst, a, b = (values(kind, seed) for seed in (1, 2, 3))
        if name in ("Ln", "Sqrt", "Rsqrt"):
            a = np.abs(a)
        lanes = min(LANES, 256 // a.itemsize)
        call = Call(form=form, mask=(lanes, 0), count=LANES)
        listed = kind in types["all"].split() or (form == COUNT and kind in types["count"].split())
        if not listed:
            with pytest.raises(KernelError, match=r"\[dtype-unsupported\]"):
                kernels.run(f"dtypes:{name}_{kind}", call, area(dst), area(a), area(b))
            continue
        got = kernels.run(f"dtypes:{name}_{kind}", call, area(dst), area(a), area(b))
        operands = (dst, a, b) if group == "binary" else (dst, a)
        if name == "Not" and kind in REAL:
            bits = a.view(f"u{a.itemsize}")
            want = (~bits).view(a.dtype)
        else:
            want = in_float(RESULTS[name], kind, *operands)
        n = LANES if form == COUNT else lanes
        have = got[: want.nbytes].view(want.dtype)[:n]
        if name in ("Exp", "Ln", "Rsqrt"):
            np.testing.assert_allclose(have.astype(float), want[:n].astype(float), rtol=2e-3)
        else:
            assert have.tobytes() == want[:n].tobytes(), (have, want)
        assert (got[LANES * a.itemsize :] == 0xA5).all()


ROUND: dict[str, Callable[[Array], Array]] = {
    "RINT": np.rint,
    "FLOOR": np.floor,
    "CEIL": np.ceil,
    "ROUND": lambda v: np.copysign(np.floor(np.abs(v) + 0.5), v),
    "TRUNC": np.trunc,
}


@pytest.mark.parametrize("cast", CASTS, ids=["-".join(cast) for cast in CASTS])
def test_cast(kernels: Bench, cast: tuple[str, str, str]) -> None:
    """Conversions that the page lists: whole numbers saturate, values that both types have stay."""
    source_kind, target, mode = cast
    a = (
        np.linspace(-40, 40, LANES).astype(np.float32)
        if source_kind in REAL
        else values(source_kind, 2)
    )
    a = a.astype(KINDS[source_kind])
    if source_kind not in REAL:
        a[:2] = [np.iinfo(KINDS[source_kind]).max, np.iinfo(KINDS[source_kind]).min]
    wide = a.astype(np.float64) if source_kind in REAL else a
    if target in REAL:
        exact = source_kind in REAL and target != "half"
        wide = wide if exact else np.clip(wide.astype(np.float64), -2048, 2048)
        a = a if exact else wide.astype(KINDS[source_kind])
        if mode not in ("NONE", "RINT"):
            a = (np.rint(wide / 8) * 8).astype(KINDS[source_kind])
        want = a.astype(KINDS[target])
    else:
        info = np.iinfo(KINDS[target])
        whole = ROUND.get(mode, lambda v: v)(wide)
        bounded = [min(max(int(v), info.min), info.max) for v in whole]
        want = np.array(bounded, dtype=KINDS[target])
        if (source_kind, target) == ("int64", "int32"):
            want = np.array([min(max(int(v), info.min), info.max) for v in a], dtype=np.int32)
    name = f"dtypes:Cast_{source_kind}_{target}_{mode}"
    got = kernels.run(name, Call(count=LANES), area(np.zeros(1, np.uint8)), area(a))
    assert got[: want.nbytes].tobytes() == want.tobytes(), (
        a,
        got[: want.nbytes].view(want.dtype),
        want,
    )


@pytest.mark.plants_faults
@pytest.mark.parametrize("cast", INT4_CASTS, ids=[int4_name(*cast) for cast in INT4_CASTS])
def test_int4(kernels: Bench, cast: tuple[bool, str, str]) -> None:
    """Two to a byte, the first in the lower half: the conversions of the page, others refused."""
    packs, kind, mode = cast
    modes = {"half": INT4_MODES[1:6], "int16": INT4_MODES[:1]} if packs else {}
    listed = mode in modes.get(kind, () if packs else INT4_MODES[:1])
    raw = np.arange(256, dtype=np.uint8)
    whole = np.stack([raw & 15, raw >> 4], 1).reshape(-1).astype(np.int8)
    whole -= 16 * (whole > 7).astype(np.int8)
    wide = np.linspace(-12, 12, 96).astype(KINDS[kind]) if packs else whole.astype(KINDS[kind])
    name = f"dtypes:{int4_name(packs, kind, mode)}"
    call, source_area = Call(count=wide.size), area(wide if packs else raw)
    if not listed:
        with pytest.raises(KernelError, match=r"\[cast-unsupported\](.|\n)*int4b_t"):
            kernels.run(name, call, area(np.zeros(1, np.uint8)), source_area)
        return
    got = kernels.run(name, call, area(np.zeros(1, np.uint8)), source_area)
    if packs:
        rounded = ROUND.get(mode, lambda v: v)(wide.astype(np.float64))
        bits = np.clip(rounded, -8, 7).astype(np.int8).reshape(-1, 2) & 15
        want = (bits[:, 0] | bits[:, 1] << 4).astype(np.uint8)
    else:
        want = wide
    assert got[: want.nbytes].tobytes() == want.tobytes()
    assert (got[want.nbytes :] == 0xA5).all()
