# SPDX-License-Identifier: Apache-2.0
"""Views and values of every type, and what conversions of them promise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

CAST_TYPES = [
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "bfloat16", "float32", "float64", "complex64", "complex128"),
]
NARROW = {"float16": (11, -14, 15), "bfloat16": (8, -126, 127)}


def random_view(rng: np.random.Generator, *, output: bool) -> tuple[list[int], list[int], int, int]:
    """Shape, strides, offset and storage size. An output names no element twice."""
    rank = int(rng.integers(0, 9))
    shape = [int(d) for d in rng.choice([1, 1, 2, 3, 4, 7], rank)]
    strides = [0] * rank
    step = int(rng.integers(1, 3))
    for axis in rng.permutation(rank):
        if not output and rng.random() < 0.2:
            strides[axis] = int(rng.integers(0, 4))  # expanded or overlapping
            continue
        strides[axis] = step * int(rng.choice([1, 1, -1]))
        step *= shape[axis] + int(rng.random() < 0.2)
    low = sum(min(0, (d - 1) * s) for d, s in zip(shape, strides, strict=True))
    high = sum(max(0, (d - 1) * s) for d, s in zip(shape, strides, strict=True))
    offset = -low + int(rng.integers(0, 5))
    return shape, strides, offset, offset + high + 1 + int(rng.integers(0, 5))


def view_of(storage: Array, shape: Sequence[int], strides: Sequence[int], offset: int) -> Array:
    size = storage.itemsize
    return np.lib.stride_tricks.as_strided(
        storage[offset:], shape, [s * size for s in strides], writeable=True
    )


def fresh(rng: np.random.Generator, count: int, dtype: str) -> Array:
    return rng.integers(0, 256, count * np.dtype(dtype).itemsize, np.uint8).view(dtype)


def nearest(value: float | int, name: str) -> float:
    """The value rounded once to a 16-bit float: exact, by fractions, ties to even."""
    if isinstance(value, float) and (value == 0 or not math.isfinite(value)):
        return value
    digits, low, high = NARROW[name]
    exact = abs(Fraction(value))
    if exact == 0:
        return 0.0
    exponent = low
    while exact >= Fraction(2) ** (exponent + 1):
        exponent += 1
    unit = Fraction(2) ** (exponent - digits + 1)
    rounded = round(exact / unit) * unit  # Python rounds halves to even
    limit = (2 - Fraction(2) ** (1 - digits)) * Fraction(2) ** high
    result = math.inf if rounded > limit else float(rounded)
    return math.copysign(result, value)


def special_values(name: str) -> Array:
    dtype = np.dtype(name)
    if dtype.kind == "b":
        return np.array([False, True, True])
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        edges = [info.min, info.min + 1, 0, 1, 2, 3, 100, info.max - 1, info.max]
        big = [2**k + d for k in (11, 16, 24, 53, 62) for d in (-1, 0, 1, 3)]
        ties = [(257 << k) + d for k in (0, 8, 40) for d in (-1, 0, 1)]
        return np.array([v for v in edges + big + ties if v <= info.max], dtype)
    if dtype.kind == "c":
        real = special_values("float32" if name == "complex64" else "float64").astype(dtype)
        imag = np.roll(np.nan_to_num(real.real, posinf=3, neginf=-3), 1) * dtype.type(1j)
        return np.asarray(real + imag)
    values = [0.0, -0.0, 0.5, -0.5, 1.5, 2.5, -1.75, 127.9, 128.0, -128.9, 255.5, 256.0, 300.0]
    values += [65504.0, 65519.9, 65520.0, 70000.0, 2.0**31, 2.0**31 - 200, -(2.0**31), 2.0**63]
    values += [1e20, -1e20, 1 / 3, 2.0**-14, 2.0**-24, 2.0**-25, 1.5 * 2.0**-25, 6.1e-5, 1e-39]
    values += [1e-45, 1 + 2.0**-8, 1 + 2.0**-9, 1 + 3 * 2.0**-9, 1 + 2.0**-11, 1 + 3 * 2.0**-12]
    values += [1 + 2.0**-9 + 2.0**-40, 1 + 2.0**-12 + 2.0**-45, 3.38e38, 3.396e38, 3.4e38]
    values += [math.inf, -math.inf, math.nan]
    with np.errstate(over="ignore"):
        return np.array(values).astype(dtype)


def cast_reference(array: Array, name: str) -> Array:
    """What l0op::Cast promises, by NumPy where NumPy promises the same."""
    target = np.dtype(name)
    with np.errstate(all="ignore"):
        if target.kind == "b":
            return np.asarray(array != 0)
        if array.dtype.kind == "c" and target.kind != "c":
            return cast_reference(array.real, name)
        if name in NARROW:
            if array.dtype.itemsize > 2 or array.dtype.kind == "u":
                rounded = [nearest(v, name) for v in array.tolist()]
                return np.array(rounded, np.float64).astype(np.float32).astype(target)
            return array.astype(np.float32).astype(target)
        wide = array.astype(np.float32) if array.dtype == ml_dtypes.bfloat16 else array
        if wide.dtype.kind == "f" and target.kind in "iu":
            info = np.iinfo(target)
            values = np.zeros(wide.shape, target)
            for i, value in enumerate(wide.tolist()):
                if not math.isnan(value):
                    bounded = min(max(value, info.min), info.max)
                    values[i] = min(max(int(bounded), info.min), info.max)
            return values
        return wide.astype(target)
