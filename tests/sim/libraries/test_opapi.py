# SPDX-License-Identifier: Apache-2.0
"""libopapi.so: copies, casts, fills, comparisons of tensors in device memory, against NumPy."""

from __future__ import annotations

import ctypes as c
import importlib.util
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aclgrad.errors import AclnnError
from aclgrad.ops import find
from aclgrad.runtime import Device
from aclgrad.runtime.toolkit import sim_root
from aclgrad.spec import dtypes
from aclgrad.spec.call import TensorDesc
from element_samples import CAST_TYPES, cast_reference, fresh, random_view, special_values, view_of
from opbase_harness import INVALID, NULLPTR, Array, Probe

ROOT = Path(__file__).parents[3]
FLOAT8 = 36
REAL = [name for name in CAST_TYPES if not name.startswith("complex")]


class OpApi(Probe):
    """The functions of libopapi.so."""

    def scalar(self, value: Any, dtype: str) -> int:
        data = np.array(value, np.dtype(dtype))
        acl = dtypes.of_array(data.dtype).acl
        return int(self.base.aclCreateScalar(c.c_void_p(data.ctypes.data), acl))

    def strided(self, array: Array, rng: np.random.Generator) -> tuple[int, Callable[[], Array]]:
        """A tensor with these values, other strides and an offset, and what reads it back."""
        storage = fresh(rng, array.size * 2 + 3, str(array.dtype))
        shape, steps, step = array.shape, [0] * array.ndim, 2
        for axis in rng.permutation(array.ndim):
            steps[axis] = step
            step *= shape[axis]
        view_of(storage, shape, steps, 3)[...] = array
        address = self.upload(storage)
        handle = self.tensor(address, array.dtype, shape, steps, 3, [storage.size])

        def read() -> Array:
            after = self.read(address, storage)
            got = view_of(after, shape, steps, 3).copy()
            view_of(after, shape, steps, 3)[...] = view_of(storage, shape, steps, 3)
            assert after.tobytes() == storage.tobytes(), "bytes between the elements changed"
            return got

        return handle, read

    def refuses(self, status: int, words: str, api: str, *args: Any) -> None:
        code, *_ = self.plan(api, *args)
        text = self.message()
        assert (code, words in text) == (status, True), text
        assert api in text


@pytest.fixture
def opapi(device: Device) -> Iterator[OpApi]:
    handle = OpApi(device, sim_root() / "lib64" / "libopapi.so")
    handle.message()
    yield handle
    handle.message()


def same(got: Array, want: Array) -> None:
    """Equal values, NaN with NaN, and signs of zeros."""

    def parts(values: Array) -> list[Array]:
        split = [values.real, values.imag] if values.dtype.kind == "c" else [values]
        return [p if p.dtype.kind in "iub" else p.astype(np.float64) for p in split]

    for mine, theirs in zip(parts(got), parts(want), strict=True):
        np.testing.assert_array_equal(mine, theirs)
        if mine.dtype.kind == "f":
            number = ~np.isnan(theirs)
            np.testing.assert_array_equal(np.signbit(mine[number]), np.signbit(theirs[number]))


# --- copies ---


@pytest.mark.parametrize("source", CAST_TYPES)
def test_copies_between_all_dtypes(opapi: OpApi, source: str) -> None:
    rng = np.random.default_rng(1)
    values = special_values(source)
    for target in CAST_TYPES:
        want = cast_reference(values, target)
        src, _ = opapi.strided(values, rng)
        dst, read = opapi.strided(np.zeros(values.shape, np.dtype(target)), rng)
        opapi.run("aclnnInplaceCopy", dst, src)
        same(read(), want)
        out, read = opapi.strided(np.zeros(values.shape, np.dtype(target)), rng)
        opapi.run("aclnnCast", src, c.c_int(dtypes.of_array(want.dtype).acl), out)
        same(read(), want)


@pytest.mark.parametrize("dtype", ["uint8", "float16", "float32", "int64", "complex128"])
def test_copies_of_views_that_broadcast(opapi: OpApi, dtype: str) -> None:
    rng = np.random.default_rng(len(dtype))
    for _ in range(40):
        shape, strides, offset, size = random_view(rng, output=True)
        storage = fresh(rng, size, dtype)
        wanted = storage.copy()
        keep = rng.random(len(shape)) < 0.7
        small = [d if k else 1 for d, k in zip(shape, keep, strict=True)]
        small = small[int(rng.integers(0, len(shape) + 1)) if not keep.any() else 0 :]
        array = fresh(rng, int(np.prod(small)), dtype).reshape(small)
        view_of(wanted, shape, strides, offset)[...] = array
        address = opapi.upload(storage)
        dst = opapi.tensor(address, dtype, shape, strides, offset, [size])
        src, _ = opapi.strided(array, rng)
        opapi.run("aclnnInplaceCopy", dst, src)
        assert opapi.read(address, storage).tobytes() == wanted.tobytes()


def test_copies_of_overlapping_views(opapi: OpApi) -> None:
    storage = np.arange(20, dtype=np.int32)
    for begin, end in ((0, 3), (3, 0)):
        address = opapi.upload(storage)
        src = opapi.tensor(address, np.int32, [17], [1], begin, [20])
        dst = opapi.tensor(address, np.int32, [17], [1], end, [20])
        opapi.run("aclnnInplaceCopy", dst, src)
        want = storage.copy()
        want[end : end + 17] = storage[begin : begin + 17]
        assert opapi.read(address, storage).tolist() == want.tolist()


def test_one_byte_types_without_arithmetic_are_moved(opapi: OpApi) -> None:
    """float8 has no conversion, but copies and zeros."""
    dims = (c.c_int64 * 1)(4)
    data = np.array([1, 2, 254, 255], np.uint8)
    make = opapi.base.aclCreateTensor
    src = make(dims, 1, FLOAT8, None, 0, 2, dims, 1, opapi.upload(data))
    address = opapi.upload(np.zeros(4, np.uint8))
    dst = make(dims, 1, FLOAT8, None, 0, 2, dims, 1, address)
    opapi.run("aclnnInplaceCopy", dst, src)
    assert opapi.read(address, data).tolist() == data.tolist()
    opapi.run("aclnnInplaceZero", dst)
    assert opapi.read(address, data).tolist() == [0] * 4
    opapi.refuses(INVALID, "got dtype DT_FLOAT8", "aclnnInplaceOne", dst)
    other = opapi.contiguous(np.zeros(4, np.float32))
    opapi.refuses(INVALID, "src: got dtype DT_FLOAT8", "aclnnInplaceCopy", other, src)


def test_tasks_run_in_the_order_of_the_stream(opapi: OpApi) -> None:
    """Nothing is waited for in between."""
    array = np.zeros((64, 64), np.float32)
    a, b = opapi.upload(array), opapi.upload(array)
    x = opapi.tensor(a, np.float32, array.shape)
    y = opapi.tensor(b, np.float32, array.shape, [1, 64])
    row = opapi.tensor(a, np.float32, [64], [1], 64, [4096])
    calls: list[Any] = [
        ("aclnnInplaceOne", x),
        ("aclnnInplaceFillScalar", row, opapi.scalar(7, "int64")),
        ("aclnnInplaceCopy", y, x),
        ("aclnnInplaceZero", x),
    ]
    for api, *args in calls:
        code, size, executor = opapi.plan(api, *args)
        assert (code, size) == (0, 0)
        assert opapi.launch(api, executor, None, 0) == 0
    opapi.device.synchronize()
    want = np.ones_like(array)
    want[:, 1] = 7
    np.testing.assert_array_equal(opapi.read(b, array), want)
    assert not opapi.read(a, array).any()


def softmax_reads(opapi: OpApi, address: int) -> None:
    """Runs a kernel on 4 x 8 floats."""
    desc = TensorDesc((4, 8), dtypes.FLOAT)
    out = opapi.device.buffer(128)
    tensors = {
        "gradOutput": opapi.device.tensor(desc, address),
        "output": opapi.device.tensor(desc, opapi.upload(np.ones((4, 8), np.float32))),
        "out": opapi.device.tensor(desc, out.address),
    }
    opapi.device.call(find("softmax_grad"), tensors, {"dim": -1})


@pytest.mark.plants_faults
@pytest.mark.parametrize("how", ["copy", "cast", "fill", "compare", "cat", "gaps"])
def test_what_was_never_written_stays_so(opapi: OpApi, how: str) -> None:
    """A kernel is told of what a copy brought from unwritten memory, and of nothing else."""
    source = opapi.device.buffer(256)
    assert source.address is not None
    kind = np.dtype(np.float32 if how != "cast" else np.float64)
    half = np.ones((4, 4), kind)
    target = opapi.device.buffer(128)
    assert target.address is not None
    dst = opapi.tensor(target.address, np.float32, [4, 8])
    whole = opapi.tensor(source.address, kind, [4, 8], [1, 4])
    written = opapi.tensor(source.address, kind, [4, 4], [1, 4], 0, [32])
    opapi.run("aclnnInplaceCopy", written, opapi.contiguous(half))
    calls: dict[str, list[tuple[Any, ...]]] = {
        "copy": [("aclnnInplaceCopy", dst, whole)],
        "cast": [("aclnnCast", whole, c.c_int(0), dst)],
        "fill": [
            (
                "aclnnInplaceFillTensor",
                dst,
                opapi.tensor(source.address, kind, [], [], 16, [32]),
            )
        ],
        "compare": [("aclnnEqTensor", whole, whole, dst)],
        "cat": [
            (
                "aclnnCat",
                opapi.base.aclCreateTensorList(
                    (c.c_void_p * 2)(
                        written, opapi.tensor(source.address, kind, [4, 4], [1, 4], 16, [32])
                    ),
                    c.c_uint64(2),
                ),
                c.c_int64(1),
                dst,
            )
        ],
        "gaps": [
            ("aclnnInplaceOne", opapi.tensor(target.address, np.float32, [4, 4], [8, 1], 0, [32]))
        ],
    }
    for api, *args in calls[how]:
        opapi.run(api, *args)
    with pytest.raises(AclnnError) as caught:
        softmax_reads(opapi, target.address)
    assert "undefined-read" in str(caught.value)
    first = 0 if how == "fill" else 16
    assert f"from byte {first} of" in str(caught.value) or f"from byte {first}" in str(caught.value)
    rest = opapi.tensor(target.address, np.float32, [4, 8], [1, 4])
    opapi.run("aclnnInplaceFillScalar", rest, opapi.scalar(0.5, "float64"))
    softmax_reads(opapi, target.address)


# --- fills ---


@pytest.mark.parametrize("dtype", CAST_TYPES)
def test_fills(opapi: OpApi, dtype: str) -> None:
    rng = np.random.default_rng(2)
    kind = np.dtype(dtype)
    zeros = np.zeros((3, 1, 5), kind)
    for value, of in ((2.75, "float64"), (-3, "int64"), (True, "bool"), (300, "int32")):
        want = np.broadcast_to(cast_reference(np.array([value], np.dtype(of)), dtype), zeros.shape)
        x, read = opapi.strided(zeros, rng)
        opapi.run("aclnnInplaceFillScalar", x, opapi.scalar(value, of))
        same(read(), want)
        for shape in ([], [1]):
            x, read = opapi.strided(zeros, rng)
            number = opapi.upload(np.array([0, value], np.dtype(of)))
            opapi.run(
                "aclnnInplaceFillTensor", x, opapi.tensor(number, np.dtype(of), shape, None, 1, [2])
            )
            same(read(), want)
    x, read = opapi.strided(zeros + np.array(1, kind), rng)
    opapi.run("aclnnInplaceZero", x)
    same(read(), zeros)
    opapi.run("aclnnInplaceOne", x)
    same(read(), np.ones(zeros.shape, kind))


@pytest.mark.parametrize("dtype", [d for d in REAL if d != "bool"])
def test_arange(opapi: OpApi, dtype: str) -> None:
    kind = np.dtype(dtype)
    ranges: list[tuple[float, float, float]] = [(0, 12, 1), (3, 100, 7), (100, 2, -9), (5, 5, 1)]
    if kind.kind not in "iu":
        ranges.append((-1.5, 2.0, 0.25))
    for start, end, step in ranges:
        want = np.arange(start, end, step).astype(kind)
        out, read = opapi.strided(np.zeros(want.shape, kind), np.random.default_rng(3))
        of = "int64" if isinstance(step, int) else "float64"
        opapi.run("aclnnArange", *(opapi.scalar(v, of) for v in (start, end, step)), out)
        np.testing.assert_array_equal(read().astype(np.float64), want.astype(np.float64))


def test_arange_of_wide_integers(opapi: OpApi) -> None:
    big = 2**60 + 1
    values = [opapi.scalar(v, "int64") for v in (big, big + 12, 5)]
    out, read = opapi.strided(np.zeros(3, np.int64), np.random.default_rng(3))
    opapi.run("aclnnArange", *values, out)
    assert read().tolist() == [big, big + 5, big + 10]


@pytest.mark.parametrize("dim", [0, 1, -1])
def test_cat(opapi: OpApi, dim: int) -> None:
    rng = np.random.default_rng(4)
    parts = []
    for length, dtype in ((2, "int32"), (0, "float32"), (5, "bool"), (1, "float16")):
        shape = [3, 4, 2]
        shape[dim] = length
        parts.append(rng.integers(0, 9, shape).astype(dtype))
    want = np.concatenate([p.astype(np.float32) for p in parts], dim)
    handles = [opapi.strided(p, rng)[0] for p in parts]
    handles.insert(1, opapi.contiguous(np.zeros(0, np.float32)))
    tensors = opapi.base.aclCreateTensorList(
        (c.c_void_p * len(handles))(*handles), c.c_uint64(len(handles))
    )
    out, read = opapi.strided(np.zeros(want.shape, np.float32), rng)
    opapi.run("aclnnCat", tensors, c.c_int64(dim), out)
    same(read(), want)


@pytest.mark.parametrize("dtype", ["float32", "float16", "int64", "bool"])
@pytest.mark.parametrize("pad", [[], [1, 2], [-1, 2], [0, 0, 3, 1], [1, -2, -1, 2, 1, 0], [-4, 0]])
def test_pads(opapi: OpApi, pad: list[int], dtype: str) -> None:
    """Each pair from the last dim on; negative numbers take elements away."""
    rng = np.random.default_rng(7)
    x = rng.integers(0, 9, (2, 3, 4)).astype(dtype)
    want = x
    for i in range(0, len(pad), 2):
        axis = x.ndim - 1 - i // 2
        widths = [(0, 0)] * x.ndim
        widths[axis] = (max(pad[i], 0), max(pad[i + 1], 0))
        kept = slice(max(-pad[i], 0), x.shape[axis] - max(-pad[i + 1], 0))
        want = np.pad(
            want[(slice(None),) * axis + (kept,)], widths, constant_values=np.asarray(1, dtype)
        )
    out, read = opapi.strided(np.zeros(want.shape, dtype), rng)
    numbers = opapi.ints(pad)
    opapi.run(
        "aclnnConstantPadNd", opapi.strided(x, rng)[0], numbers, opapi.scalar(1, "int64"), out
    )
    same(read(), want)


# --- comparisons and logic ---

RELATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "Eq": np.equal,
    "Ne": np.not_equal,
    "Lt": np.less,
    "Le": np.less_equal,
    "Gt": np.greater,
    "Ge": np.greater_equal,
}


def few_values(rng: np.random.Generator, shape: Sequence[int], dtype: str) -> Array:
    """Values that often are equal, with NaN, infinities and zeros of both signs."""
    pool: list[Any] = [0, 1, 2, 3, 100]
    kind = np.dtype(dtype)
    if kind.kind == "i":
        pool += [-1, -100]
    elif kind.kind not in "ub":
        pool += [-0.0, 0.5, float("nan"), float("inf"), -float("inf")]
    if kind.kind == "c":
        pool += [1j, 2 + 1j, complex(float("nan"), 1)]
    values: Array = np.array(pool)[rng.integers(0, len(pool), shape)].astype(kind)
    return values


def common(a: Array, b: Array) -> Any:
    """The type in which a comparison is exact here."""
    return complex if "c" in a.dtype.kind + b.dtype.kind else np.float64


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("dtype", CAST_TYPES)
def test_comparisons(opapi: OpApi, relation: str, dtype: str) -> None:
    rng = np.random.default_rng(5)
    ordered = relation not in ("Eq", "Ne")
    a = few_values(rng, (3, 1, 70), dtype)
    others = (
        [dtype] if dtype.startswith("uint") and dtype != "uint8" else [dtype, "uint8", "float32"]
    )
    for other in others:
        b = few_values(rng, (4, 70), other)
        x, _ = opapi.strided(a, rng)
        y, _ = opapi.strided(b, rng)
        if ordered and a.dtype.kind == "c":
            out = opapi.contiguous(np.zeros((3, 4, 70), np.bool_))
            opapi.refuses(INVALID, "one with an order", f"aclnn{relation}Tensor", x, y, out)
            return
        kind = common(a, b)
        want = RELATIONS[relation](a.astype(kind), b.astype(kind))
        for out_type in ("bool", "float16"):
            out, read = opapi.strided(np.zeros(want.shape, np.dtype(out_type)), rng)
            opapi.run(f"aclnn{relation}Tensor", x, y, out)
            same(read(), want.astype(np.dtype(out_type)))
        small, read = opapi.strided(a, rng)
        z, _ = opapi.strided(b[0], rng)
        opapi.run(f"aclnnInplace{relation}Tensor", small, z)
        same(read(), RELATIONS[relation](a.astype(kind), b[0].astype(kind)).astype(a.dtype))


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("dtype", REAL)
def test_comparisons_with_numbers(opapi: OpApi, relation: str, dtype: str) -> None:
    rng = np.random.default_rng(6)
    a = few_values(rng, (5, 40), dtype)
    scalars: list[tuple[Any, str]] = [(2, "int64"), (300, "int64"), (-1, "int64"), (True, "bool")]
    scalars += [(0.5, "float64"), (float("nan"), "float32")]
    for value, of in scalars:
        if dtype == "uint64" and value == -1:
            continue  # has no type in common
        x, _ = opapi.strided(a, rng)
        out, read = opapi.strided(np.zeros(a.shape, np.bool_), rng)
        opapi.run(f"aclnn{relation}Scalar", x, opapi.scalar(value, of), out)
        want = RELATIONS[relation](a.astype(np.float64), np.float64(value))
        same(read(), want)
        y, read = opapi.strided(a, rng)
        opapi.run(f"aclnnInplace{relation}Scalar", y, opapi.scalar(value, of))
        same(read(), want.astype(a.dtype))


def test_numbers_take_the_type_of_the_tensor(opapi: OpApi) -> None:
    """0.1 as a number equals 0.1 as a tensor has it, as in PyTorch."""
    for dtype in ("float16", "bfloat16", "float32"):
        a = np.array([0.1], np.dtype(dtype))
        got = np.zeros(1, np.bool_)
        address = opapi.upload(got)
        out = opapi.tensor(address, np.bool_, [1])
        opapi.run("aclnnEqScalar", opapi.contiguous(a), opapi.scalar(0.1, "float64"), out)
        assert opapi.read(address, got).tolist() == [True]


@pytest.mark.parametrize("dtype", ["float32", "int64", "uint64"])
def test_comparisons_see_the_last_bit(opapi: OpApi, dtype: str) -> None:
    kind = np.dtype(dtype)
    top = np.iinfo(kind).max - 1 if kind.kind in "iu" else 1
    a = np.array([top, top], kind)
    b = a.copy()
    b[1] = np.nextafter(b[1], kind.type(2)) if kind.kind == "f" else b[1] + kind.type(1)
    out, read = opapi.strided(np.zeros(2, np.bool_), np.random.default_rng(0))
    opapi.run("aclnnLtTensor", opapi.contiguous(a), opapi.contiguous(b), out)
    assert read().tolist() == [False, True]


@pytest.mark.parametrize("dtype", CAST_TYPES)
def test_logic(opapi: OpApi, dtype: str) -> None:
    rng = np.random.default_rng(7)
    a, b = few_values(rng, (3, 1, 20), dtype), few_values(rng, (2, 20), "float32")
    yes, other = a != 0, b != 0
    logic = {"And": np.logical_and, "Or": np.logical_or, "Xor": np.logical_xor}
    for name, function in logic.items():
        want = function(yes, other)
        x, y = opapi.strided(a, rng)[0], opapi.strided(b, rng)[0]
        out, read = opapi.strided(np.zeros(want.shape, np.int16), rng)
        opapi.run(f"aclnnLogical{name}", x, y, out)
        same(read(), want.astype(np.int16))
        x, read = opapi.strided(a, rng)
        y = opapi.strided(b[0], rng)[0]
        opapi.run(f"aclnnInplaceLogical{name}", x, y)
        same(read(), function(yes, other[0]).astype(a.dtype))
    x, read = opapi.strided(a, rng)
    out, result = opapi.strided(np.zeros(a.shape, np.bool_), rng)
    opapi.run("aclnnLogicalNot", x, out)
    same(result(), ~yes)
    opapi.run("aclnnInplaceLogicalNot", x)
    same(read(), (~yes).astype(a.dtype))
    opapi.run("aclnnIsFinite", opapi.strided(a, rng)[0], out)
    finite = np.isfinite(a) if a.dtype.kind in "cf" else np.isfinite(a.astype(np.float64))
    same(result(), finite)


@pytest.mark.parametrize("dtype", CAST_TYPES)
def test_equal(opapi: OpApi, dtype: str) -> None:
    rng = np.random.default_rng(8)
    a = few_values(rng, (4, 6), "uint8").astype(np.dtype(dtype))
    b = a.copy()
    b[3, 5] = a[3, 5] == 0
    out, read = opapi.strided(np.zeros(1, np.bool_), rng)
    pairs = [(a, a, True), (a, b, False), (a, a[:3], False), (a[:0], a[:0], True)]
    if dtype in ("float32", "float16", "complex64"):
        pairs.append((a * np.float16("nan"), a * np.float16("nan"), False))
    for x, y, want in pairs:
        x, y = x.astype(np.dtype(dtype)), y.astype(np.dtype(dtype))
        opapi.run("aclnnEqual", opapi.strided(x, rng)[0], opapi.strided(y, rng)[0], out)
        assert read().tolist() == [want]


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex(opapi: OpApi, dtype: str) -> None:
    rng = np.random.default_rng(9)
    real, imag = few_values(rng, (3, 1), "float32"), few_values(rng, (4,), "float64")
    want = np.zeros((3, 4), np.dtype(dtype))
    want.real, want.imag = real, imag
    out, read = opapi.strided(np.zeros_like(want), rng)
    opapi.run("aclnnComplex", opapi.strided(real, rng)[0], opapi.strided(imag, rng)[0], out)
    same(read(), want)


# --- formats ---


def in_blocks(x: Array, columns: int) -> Array:
    """FRACTAL_NZ of a matrix, element by element."""
    rows, wide = x.shape
    made = np.zeros((-(-wide // columns), -(-rows // 16), 16, columns), x.dtype)
    for (row, column), value in np.ndenumerate(x):
        made[column // columns, row // 16, row % 16, column % columns] = value
    return made


# Of elements and of the type that says how wide blocks are.
@pytest.mark.parametrize(
    ("dtype", "code", "columns"),
    [("float16", -1, 16), ("int8", 2, 32), ("float32", 1, 16), ("float32", 0, 8), ("int32", 3, 8)],
)
def test_format_casts_with_the_storage_asked_for(
    opapi: OpApi, dtype: str, code: int, columns: int
) -> None:
    x = np.arange(20 * 35).reshape(20, 35).astype(np.dtype(dtype))
    rng = np.random.default_rng(1)
    for source in (opapi.contiguous(x), opapi.strided(x, rng)[0]):
        dims, rank, actual = c.POINTER(c.c_int64)(), c.c_uint64(), c.c_int()
        ask = opapi.lib.aclnnNpuFormatCastCalculateSizeAndFormat
        pointers = (c.byref(dims), c.byref(rank), c.byref(actual))
        assert ask(c.c_void_p(source), 29, code, *pointers) == 0, opapi.message()
        want = in_blocks(x, columns)
        assert (tuple(dims[: rank.value]), actual.value) == (want.shape, 29)
        junk = np.full_like(want, 9)
        address = opapi.upload(junk)
        blocks = opapi.tensor(address, x.dtype, x.shape, None, 0, want.shape, 29)
        opapi.run("aclnnNpuFormatCast", source, blocks)
        np.testing.assert_array_equal(opapi.read(address, junk), want)
        assert ask(c.c_void_p(blocks), 2, code, *pointers) == 0, opapi.message()
        assert (tuple(dims[: rank.value]), actual.value) == (x.shape, 2)
        back, read = opapi.strided(np.zeros_like(x), rng)
        opapi.run("aclnnNpuFormatCast", blocks, back)
        np.testing.assert_array_equal(read(), x)


def test_format_casts_that_are_refused(opapi: OpApi) -> None:
    x = np.zeros((16, 16), np.float16)
    plain, line = opapi.contiguous(x), opapi.contiguous(x[0])
    double = opapi.contiguous(x.astype(np.float64))
    ask = opapi.lib.aclnnNpuFormatCastCalculateSizeAndFormat
    dims, rank, actual = c.POINTER(c.c_int64)(), c.c_uint64(), c.c_int()
    pointers = (c.byref(dims), c.byref(rank), c.byref(actual))
    for source, form, words in (
        (plain, 3, "dstFormat: got 3, want 29 (FRACTAL_NZ) or a base format"),
        (line, 29, "srcTensor: got shape [16], want 2 to 6 dims"),
        (double, 29, "want types of 1, 2 or 4 bytes"),
    ):
        assert ask(c.c_void_p(source), form, -1, *pointers) != 0
        assert words in opapi.message()
    # Of a transposed view nobody can tell where it is in the blocks, square or not.
    blocks = opapi.tensor(opapi.upload(x), x.dtype, x.shape, [1, 16], 0, (1, 1, 16, 16), 29)
    opapi.refuses(INVALID, "want the whole tensor", "aclnnNpuFormatCast", blocks, plain)
    opapi.refuses(INVALID, "want one data type", "aclnnNpuFormatCast", double, plain)


# --- what is refused ---


def functions() -> list[Any]:
    """The table that the library is made of."""
    path = ROOT / "simulator" / "src" / "opapi" / "functions.py"
    spec = importlib.util.spec_from_file_location("opapi_functions", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return list(module.FUNCTIONS)


@pytest.mark.parametrize("function", functions(), ids=lambda f: f.name)
def test_arguments_of_every_function(opapi: OpApi, function: Any) -> None:
    """No null pointer, no private format, at most 8 dims; empty tensors are no work."""

    def argument(kind: str, name: str, shape: Sequence[int], format_: int = 2) -> Any:
        if kind.endswith("Scalar*"):
            return opapi.scalar(1 if name != "end" else 3, "int64")
        if kind.endswith("IntArray*"):
            return opapi.ints([0, 0])
        if kind in ("int64_t", "const aclDataType"):
            return c.c_int64(0)
        dtype: np.dtype[Any] = np.dtype(
            np.complex64 if (function.name, name) == ("Complex", "out") else np.float32
        )
        if (function.name, name) == ("Equal", "out"):
            dtype, shape = np.dtype(np.bool_), [1] * len(shape)
        dims = (c.c_int64 * 9)(*shape)
        address = opapi.upload(np.zeros(shape, dtype))
        acl = dtypes.of_array(dtype).acl
        handle = opapi.base.aclCreateTensor(
            dims, len(shape), acl, None, 0, format_, dims, len(shape), address
        )
        if kind.endswith("List*"):
            return opapi.base.aclCreateTensorList((c.c_void_p * 1)(handle), c.c_uint64(1))
        return handle

    api = f"aclnn{function.name}"
    shape = [1] if function.name == "InplaceFillTensor" else [2]
    good = [argument(kind, name, shape) for kind, name in function.parameters]
    opapi.run(api, *good)
    for i, (kind, name) in enumerate(function.parameters):
        if not kind.endswith("*"):
            continue
        bad = [*good[:i], None, *good[i + 1 :]]
        opapi.refuses(NULLPTR, f"{name}: got a null pointer", api, *bad)
        if not kind.endswith("Tensor*"):
            continue
        bad[i] = argument(kind, name, [1] * 9)
        opapi.refuses(INVALID, f"{name}: got 9 dims, want at most 8", api, *bad)
        bad[i] = argument(kind, name, [2, 16, 16, 16], 29)
        words = "do not go together" if function.any_format else f"{name}: got format FRACTAL_NZ"
        opapi.refuses(INVALID, words, api, *bad)
    assert opapi.lib[f"{api}GetWorkspaceSize"](*[None] * (len(good) + 2)) == NULLPTR
    if function.name not in ("InplaceFillTensor", "Arange", "Equal"):
        empty = [argument(kind, name, [0, 3]) for kind, name in function.parameters]
        assert opapi.run(api, *empty) == 0


def test_shapes_and_dtypes_that_do_not_fit(opapi: OpApi) -> None:
    def tensor(shape: Sequence[int], dtype: str = "float32") -> int:
        return opapi.contiguous(np.zeros(tuple(shape), np.dtype(dtype)))

    def pair(*tensors: int) -> Any:
        return opapi.base.aclCreateTensorList(
            (c.c_void_p * len(tensors))(*tensors), c.c_uint64(len(tensors))
        )

    one, many = opapi.scalar(1, "int64"), tensor([2, 3])
    refused: list[tuple[str, str, tuple[Any, ...]]] = [
        ("InplaceCopy", "src: got shape [3, 2], want one that broadcasts", (many, tensor([3, 2]))),
        ("InplaceCopy", "src: got shape [4, 2, 3]", (many, tensor([4, 2, 3]))),
        (
            "Cast",
            "out: got dtype DT_FLOAT, want the one of argument dtype",
            (many, c.c_int(1), many),
        ),
        ("Cast", "out: got shape [3], want the shape of self", (many, c.c_int(0), tensor([3]))),
        ("InplaceFillTensor", "value: got shape [2], want [] or [1]", (many, tensor([2]))),
        ("Arange", "step: got 0", (one, one, opapi.scalar(0, "int64"), tensor([2]))),
        (
            "Arange",
            "step: got -1",
            (one, opapi.scalar(3, "int64"), opapi.scalar(-1, "int64"), many),
        ),
        ("Arange", "out: got shape [9]", (opapi.scalar(0, "int64"), one, one, tensor([9]))),
        ("Arange", "out: got dtype DT_BOOL", (one, one, one, tensor([2], "bool"))),
        ("Cat", "dim: got 2", (pair(many), c.c_int64(2), many)),
        (
            "Cat",
            "tensors[1]: got shape [2, 3]",
            (pair(tensor([2, 3]), tensor([2, 3])), c.c_int64(0), many),
        ),
        (
            "Cat",
            "out: got shape [2, 3], want 1 along dim 0",
            (pair(tensor([1, 3])), c.c_int64(0), many),
        ),
        (
            "ConstantPadNd",
            "pad: got 6 numbers, want two for each dim",
            (many, opapi.ints([1] * 6), one, many),
        ),
        (
            "ConstantPadNd",
            "out: got shape [2, 3], want shape [2, 5]",
            (many, opapi.ints([1, 1]), one, many),
        ),
        (
            "ConstantPadNd",
            "out: got dtype DT_INT32, want dtype DT_FLOAT",
            (many, opapi.ints([]), one, tensor([2, 3], "int32")),
        ),
        ("Complex", "out: got dtype DT_FLOAT", (many, many, many)),
        (
            "Complex",
            "imag: got dtype DT_INT32",
            (many, tensor([2, 3], "int32"), tensor([2, 3], "complex64")),
        ),
        ("EqTensor", "other: got shape [2]", (many, tensor([2]), many)),
        (
            "EqTensor",
            "out: got shape [2, 3], want shape [4, 2, 3]",
            (many, tensor([4, 1, 1]), many),
        ),
        ("EqTensor", "other: got dtype DT_UINT64", (many, tensor([3], "uint64"), many)),
        ("LtScalar", "one with an order", (many, opapi.scalar(1j, "complex64"), many)),
        ("Equal", "out: got dtype DT_FLOAT of shape [2, 3]", (many, many, many)),
        ("IsFinite", "out: got shape [3]", (many, tensor([3], "bool"))),
        ("InplaceLogicalAnd", "selfRef: got shape [3], want shape [2, 3]", (tensor([3]), many)),
    ]
    for name, words, args in refused:
        opapi.refuses(INVALID, words, f"aclnn{name}", *args)


def test_views_outside_of_their_storage(opapi: OpApi) -> None:
    address = opapi.upload(np.zeros(6, np.float32))
    outside = opapi.tensor(address, np.float32, [2, 4], [4, 1], 0, [6])
    plain = opapi.contiguous(np.zeros((2, 4), np.float32))
    for args in ((plain, outside), (outside, plain)):
        code, *_ = opapi.plan("aclnnInplaceCopy", *args)
        assert code != 0
        assert "reaches outside its storage" in opapi.message()


@given(
    shape=st.lists(st.integers(0, 4), max_size=4),
    drop=st.integers(0, 4),
    ones=st.lists(st.booleans(), min_size=4, max_size=4),
    names=st.tuples(st.sampled_from(REAL), st.sampled_from(REAL)),
    seed=st.integers(0, 1000),
)
def test_any_copy(
    session_device: Device,
    shape: list[int],
    drop: int,
    ones: list[bool],
    names: tuple[str, str],
    seed: int,
) -> None:
    opapi = OpApi(session_device, sim_root() / "lib64" / "libopapi.so")
    rng = np.random.default_rng(seed)
    small = [1 if one else d for d, one in zip(shape, ones, strict=False)][drop:]
    source = rng.integers(0, 100, small).astype(np.dtype(names[0]))
    dst, read = opapi.strided(np.zeros(shape, np.dtype(names[1])), rng)
    opapi.run("aclnnInplaceCopy", dst, opapi.strided(source, rng)[0])
    want = cast_reference(source.reshape(-1), names[1]).reshape(small)
    same(read(), np.broadcast_to(want, shape))


def test_a_c_program_uses_the_headers(toolkit: Path, tmp_path: Path) -> None:
    """Every header by itself is C, and libopapi.so is all that a program of it needs to name."""
    headers = {f.header for f in functions()}
    lines = [f'#include "aclnnop/aclnn_{name}.h"' for name in sorted(headers)]
    names = [f"(void*)aclnn{f.name}, (void*)aclnn{f.name}GetWorkspaceSize" for f in functions()]
    text = "\n".join(
        [*lines, f"void* all[] = {{{', '.join(names)}}};", "int main(void) {return 0;}"]
    )
    source = tmp_path / "all.c"
    source.write_text(text)
    lib = toolkit / "lib64"
    command = ["gcc", "-Wall", "-Wextra", "-Werror", f"-I{toolkit / 'include'}", str(source)]
    command += [f"-L{lib}", f"-Wl,-rpath,{lib}", "-lopapi", "-o", str(tmp_path / "all")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert subprocess.run([str(tmp_path / "all")], check=False).returncode == 0
