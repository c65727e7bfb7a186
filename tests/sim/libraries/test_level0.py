# SPDX-License-Identifier: Apache-2.0
"""Level-0 functions that CANN brings along, against NumPy."""

from __future__ import annotations

import ctypes as c
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aclgrad.runtime import Device
from opbase_harness import INNER_NULLPTR, Array, Probe, compile_all

RANDOM = np.random.default_rng(3)
REAL = RANDOM.standard_normal((3, 1, 5)).astype(np.float32)
OTHER = RANDOM.standard_normal((4, 5)).astype(np.float32)
WHOLE = RANDOM.integers(-6, 7, (3, 5), np.int32)
HALF = RANDOM.standard_normal((2, 3, 4)).astype(np.float16)
NANS = np.where(RANDOM.random((4, 6)) < 0.2, np.nan, RANDOM.standard_normal((4, 6))).astype("f4")
BOOLS = RANDOM.random((3, 5)) < 0.5


@pytest.fixture(scope="module")
def library(toolkit: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("level0") / "liblevel0.so"
    compile_all(toolkit, path.parent, [("level0_probe.cpp", path, [])])
    return path


@pytest.fixture
def probe(device: Device, library: Path) -> Probe:
    return Probe(device, library)


def call(
    probe: Probe, name: str, inputs: Sequence[Array], numbers: Sequence[int], out: Array
) -> tuple[int, Array]:
    """The code of the first stage, and the result."""
    handles = [probe.contiguous(array) for array in inputs]
    probe.base.aclCreateTensorList.restype = c.c_void_p
    tensors = (c.c_void_p * max(len(handles), 1))(*handles)
    listed = int(probe.base.aclCreateTensorList(tensors, c.c_uint64(len(handles))))
    address = probe.upload(out)
    result = probe.tensor(address, out.dtype, out.shape)
    args = (c.c_char_p(name.encode()), listed, probe.ints(numbers), result)
    code, size, executor = probe.plan("aclnnLevelZero", *args)
    if code == 0:
        workspace = probe.device.buffer(size)
        assert probe.launch("aclnnLevelZero", executor, workspace.address, size) == 0
        probe.device.synchronize()
    return code, probe.read(address, out)


def wide(function: Callable[..., Any], *arrays: Array) -> Array:
    """In double, and rounded once."""
    with np.errstate(all="ignore"):
        return np.asarray(function(*(array.astype(np.float64) for array in arrays))).astype(
            arrays[0].dtype
        )


Two = Callable[[Array, Array], Array]
PAIRS: dict[str, Two] = {
    "Add": np.add,
    "Sub": np.subtract,
    "Mul": np.multiply,
    "Div": np.divide,
    "RealDiv": np.divide,
    "Mod": np.fmod,
    "Pow": np.power,
    "Maximum": np.maximum,
    "Minimum": np.minimum,
    "Axpy": lambda a, b: a + 2 * b,
}


def divided(a: Array, b: Array) -> Array:
    safe = np.where(b == 0, 1, b)
    return np.where(b == 0, 0, np.trunc(a / safe)).astype(a.dtype)


WHOLE_PAIRS: dict[str, Two] = {
    "Add": np.add,
    "Mul": np.multiply,
    "Div": divided,
    "Maximum": np.maximum,
    "Equal": np.equal,
    "NotEqual": np.not_equal,
    "Greater": np.greater,
    "GreaterEqual": np.greater_equal,
    "Less": np.less,
    "LessEqual": np.less_equal,
    "LogicalAnd": np.logical_and,
    "LogicalOr": np.logical_or,
}


CASES: list[tuple[str, list[Array], list[int], Array]] = [
    *((name, [REAL, OTHER], [], wide(function, REAL, OTHER)) for name, function in PAIRS.items()),
    *(
        (name, [WHOLE, WHOLE[::-1].copy()], [], function(WHOLE, WHOLE[::-1]))
        for name, function in WHOLE_PAIRS.items()
    ),
    ("Maximum", [NANS, NANS[::-1].copy()], [], np.maximum(NANS, NANS[::-1])),
    ("Less", [NANS, NANS[::-1].copy()], [], np.less(NANS, NANS[::-1])),
    ("LogicalNot", [BOOLS], [], ~BOOLS),
    ("Abs", [WHOLE], [], np.abs(WHOLE)),
    ("Neg", [HALF], [], -HALF),
    ("Exp", [HALF], [], wide(np.exp, HALF)),
    ("Sqrt", [np.abs(HALF)], [], wide(np.sqrt, np.abs(HALF))),
    ("Rsqrt", [np.abs(HALF)], [], wide(lambda a: 1 / np.sqrt(a), np.abs(HALF))),
    ("Log", [np.abs(REAL)], [], wide(lambda a: np.log(2 * a + 1), np.abs(REAL))),
    ("Muls", [HALF], [], wide(lambda a: -3 * a, HALF)),
    ("OnesLike", [HALF], [], np.ones_like(HALF)),
    ("SelectV2", [BOOLS, WHOLE, WHOLE * 9], [], np.where(BOOLS, WHOLE, WHOLE * 9)),
    ("MaskedFill", [WHOLE, BOOLS, WHOLE[:1, :1].copy()], [], np.where(BOOLS, WHOLE[0, 0], WHOLE)),
    ("ReduceMean", [HALF], [0, -1], wide(lambda a: a.mean((0, 2)), HALF)),
    ("ReduceMax", [NANS], [1], NANS.max(1)),
    ("ReduceMin", [WHOLE], [], WHOLE.min()),
    ("ReduceAny", [BOOLS], [0], np.asarray(BOOLS.any(0))),
    ("UnsqueezeNd", [WHOLE], [0, 3], WHOLE.reshape(1, 3, 5, 1)),
    ("SqueezeNd", [REAL], [1], REAL[:, 0]),
    ("SqueezeNd", [REAL], [], REAL[:, 0]),
    ("Expand", [REAL], [3, 4, 5], np.broadcast_to(REAL, (3, 4, 5)).copy()),
    ("ConcatD", [WHOLE, WHOLE[:, :2].copy()], [-1], np.concatenate([WHOLE, WHOLE[:, :2]], 1)),
    ("ConcatD", [HALF, HALF], [0], np.concatenate([HALF, HALF]).astype(np.float32)),
    ("SplitV", [WHOLE], [1, 2, 3], np.concatenate([WHOLE[:, 2:], WHOLE[:, :2]], 1)),
    ("Pad", [WHOLE], [1, 0, 2, 3], np.pad(WHOLE, ((1, 0), (2, 3)))),
    (
        "PadV3",
        [HALF],
        [1, 0, 2, 0, 3, 0],
        np.pad(HALF, ((1, 0), (0, 3), (2, 0)), constant_values=7),
    ),
    ("SortValues", [NANS], [1, 0], np.sort(NANS, 1)),
    ("SortPlaces", [WHOLE], [0, 0], np.argsort(WHOLE, 0, kind="stable").astype(np.int32)),
    ("SortPlaces", [WHOLE], [1, 1], np.argsort(-WHOLE, 1, kind="stable").astype(np.int32)),
    ("Arange", [], [3, 12, 3, 0], np.array([3, 6, 9], np.float32)),
    ("Arange", [], [3, 12, 3, 1], np.array([3, 6, 9, 12], np.int32)),
    ("TransData", [WHOLE], [2], WHOLE),
    ("ThroughBlocks", [HALF], [29], HALF),
    ("ThroughBlocks", [WHOLE.astype(np.int8)], [29], WHOLE.astype(np.int8)),
]


@pytest.mark.parametrize("case", CASES, ids=[f"{at}-{name}" for at, (name, *_) in enumerate(CASES)])
def test_values(probe: Probe, case: tuple[str, list[Array], list[int], Array]) -> None:
    name, inputs, numbers, want = case
    code, got = call(probe, name, inputs, numbers, np.zeros_like(np.asarray(want)))
    assert code == 0, probe.message()
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize(
    ("name", "inputs", "numbers", "words"),
    [
        ("Add", [WHOLE, HALF], [], "got DT_INT32 and DT_FLOAT16, want one data type"),
        ("Add", [WHOLE, WHOLE[:2].copy()], [], "do not broadcast"),
        ("Exp", [WHOLE], [], "Exp of DT_INT32 is not supported"),
        ("ReduceMax", [WHOLE], [2], "axis 2 of a tensor of rank 2"),
        ("UnsqueezeNd", [WHOLE], [1, 1], "dim 1 twice"),
        ("ConcatD", [WHOLE, HALF[0]], [0], "does not fit"),
        ("SplitV", [WHOLE], [1, 2, 2], "do not sum up"),
        ("Pad", [WHOLE], [1, 1], "want two numbers from 0 on for each of 2 dims, got 2"),
        ("SortValues", [WHOLE], [2, 0], "along dim 2 is not supported"),
        ("TransData", [WHOLE], [29], "blocks are of elements of 1 or 2 bytes"),
        ("AddOfBlocks", [HALF], [29], "make the tensor ND first"),
        ("CastOfBlocks", [np.zeros((16, 16), np.float16)], [29], "make the tensor ND first"),
        ("TransData", [WHOLE], [3], "is not simulated: of the private formats FRACTAL_NZ is"),
    ],
)
def test_refusals(
    probe: Probe, name: str, inputs: list[Array], numbers: list[int], words: str
) -> None:
    """Bad arguments are named, and nothing is computed."""
    code, got = call(probe, name, inputs, numbers, np.zeros((3, 5), np.int32))
    assert code == INNER_NULLPTR and words in probe.message()
    assert not got.any()
