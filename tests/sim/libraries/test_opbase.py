# SPDX-License-Identifier: Apache-2.0
"""l0 built-ins: copies between views, casts, sums; and that headers stand alone."""

from __future__ import annotations

import ctypes as c
import math
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from element_samples import CAST_TYPES, cast_reference, fresh, random_view, special_values, view_of
from opbase_harness import INNER_NULLPTR, Array, Probe, built, probe

__all__ = ["built", "probe"]

# --- views ---

SIZES = {1: "uint8", 2: "uint16", 4: "uint32", 8: "uint64", 16: "complex128"}


@pytest.mark.parametrize("size", SIZES)
def test_contiguous_and_view_copy(probe: Probe, size: int) -> None:
    rng = np.random.default_rng(size)
    for _ in range(60):
        shape, in_strides, in_offset, in_size = random_view(rng, output=False)
        _, out_strides, out_offset, out_size = random_view(rng, output=True)
        if len(out_strides) != len(shape):  # an output of the same shape: strides of a dense one
            order = rng.permutation(len(shape))
            out_strides, step = [0] * len(shape), 1
            for axis in order:
                out_strides[axis], step = step, step * (shape[axis] + 1)
            out_offset = 3
        else:
            out_strides, step = [0] * len(shape), 2
            for axis in rng.permutation(len(shape)):
                out_strides[axis], step = -step, step * shape[axis]
            out_offset = sum((d - 1) * -s for d, s in zip(shape, out_strides, strict=True))
        reach = sum(max(0, (d - 1) * s) for d, s in zip(shape, out_strides, strict=True))
        source = fresh(rng, in_size, SIZES[size])
        target = fresh(rng, out_offset + reach + 4, SIZES[size])
        address = probe.upload(target)
        probe.run(
            "aclnnProbeCopy",
            probe.tensor(
                probe.upload(source), source.dtype, shape, in_strides, in_offset, [in_size]
            ),
            probe.tensor(address, target.dtype, shape, out_strides, out_offset, [target.size]),
        )
        want = target.copy()
        view_of(want, shape, out_strides, out_offset)[...] = view_of(
            source, shape, in_strides, in_offset
        )
        got = probe.read(address, target)
        case = (shape, in_strides, in_offset, out_strides, out_offset)
        assert got.tobytes() == want.tobytes(), case


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("shape", [(1021, 1030), (3, 700, 701), (300, 5, 900)])
def test_large_transposes(probe: Probe, size: int, shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(size)
    array = fresh(rng, math.prod(shape), SIZES[size]).reshape(shape)
    perm = list(range(len(shape)))[::-1]
    got = probe.unary(
        "aclnnProbeTranspose", array, [shape[p] for p in perm], array.dtype, probe.ints(perm)
    )
    assert got.tobytes() == np.ascontiguousarray(array.transpose(perm)).tobytes()
    # The same through strides, on the output side.
    out = np.zeros(array.size, array.dtype)
    address = probe.upload(out)
    strides = [s // array.itemsize for s in np.empty(shape[::-1], array.dtype).transpose().strides]
    probe.run(
        "aclnnProbeCopy",
        probe.contiguous(array),
        probe.tensor(address, array.dtype, shape, strides, 0, [out.size]),
    )
    assert probe.read(address, out).tobytes() == got.tobytes()


def test_copy_of_overlapping_memory(probe: Probe) -> None:
    data = np.arange(24, dtype=np.float32)
    address = probe.upload(data)
    probe.run(
        "aclnnProbeDirect",
        probe.tensor(address, data.dtype, (4, 5), (5, 1), 0, (24,)),
        probe.tensor(address, data.dtype, (4, 5), (1, 4), 2, (24,)),
    )
    want = data.copy()
    view_of(want, (4, 5), (1, 4), 2)[...] = data[:20].reshape(4, 5)
    assert (probe.read(address, data) == want).all()


def test_shapes(probe: Probe) -> None:
    array = np.arange(24, dtype=np.int16).reshape(4, 1, 6)
    for shape, want in ([(2, 12), (2, 12)], [(-1, 8), (3, 8)], [(4, 6, 1), (4, 6, 1)]):
        got = probe.unary("aclnnProbeReshape", array, want, array.dtype, probe.ints(shape))
        assert (got == array.reshape(want)).all()
    wide = probe.unary(
        "aclnnProbeBroadcast", array, (2, 4, 3, 6), np.int16, probe.ints([2, 4, 3, 6])
    )
    assert (wide == np.broadcast_to(array, (2, 4, 3, 6))).all()
    got = probe.unary("aclnnProbeSlice", array, (2, 1, 6), np.int16)
    assert (got == array[1:3]).all()
    assert (probe.unary("aclnnProbeZeros", array + 1, array.shape, np.int16) == 0).all()
    assert (probe.unary("aclnnProbeFill", array, (4,), np.float16) == 2.5).all()
    out = probe.contiguous(np.zeros((5, 5), np.int16))
    for api, arg in (("Reshape", [5, 5]), ("Broadcast", [4, 2, 7]), ("Transpose", [0, 0, 1])):
        code, *_ = probe.plan("aclnnProbe" + api, probe.contiguous(array), probe.ints(arg), out)
        assert code == INNER_NULLPTR and api in probe.message()


def test_copies_that_the_host_asks_for(probe: Probe) -> None:
    """framework_op.h: host tensors to the device, and one on the device to another."""
    array = np.zeros(3, np.int32)
    for sync in (0, 1):
        got = probe.unary("aclnnProbeUpload", array, (3,), np.int32, c.c_int64(sync))
        assert got.tolist() == [7, -1, 1 << 30]
    out = probe.contiguous(array)
    for on, words in (
        (2, "CopyToNpu: the tensor is on the device, want one on the host"),
        (3, "CopyNpuToNpu: the tensor is on the host, want one on the device"),
    ):
        code, *_ = probe.plan("aclnnProbeUpload", probe.contiguous(array), c.c_int64(on), out)
        assert code == INNER_NULLPTR and words in probe.message()


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "int32", "int8", "float64"])
@pytest.mark.parametrize("axes", [(), (0,), (-1,), (0, 2), (1,)])
def test_reduce_sum(probe: Probe, dtype: str, axes: tuple[int, ...]) -> None:
    rng = np.random.default_rng(1)
    array = (rng.normal(size=(5, 33, 7)) * 20).astype(np.dtype(dtype))
    exact = array.astype(np.int64 if array.dtype.kind == "i" else np.float64)
    want = exact.sum(axis=axes or None).astype(array.dtype)
    got = probe.unary("aclnnProbeSum", array, want.shape, array.dtype, probe.ints(axes))
    np.testing.assert_allclose(got.astype(np.float64), want.astype(np.float64), rtol=1e-6)


# --- casts ---


@pytest.mark.parametrize("source", CAST_TYPES)
@pytest.mark.parametrize("target", CAST_TYPES)
def test_cast(probe: Probe, source: str, target: str) -> None:
    array = special_values(source)
    got = probe.unary("aclnnProbeCast", array, array.shape, np.dtype(target))
    want = cast_reference(array, target)

    def parts(values: Array) -> list[Array]:
        split = [values.real, values.imag] if values.dtype.kind == "c" else [values]
        return [p if p.dtype.kind in "iub" else p.astype(np.float64) for p in split]

    for mine, theirs in zip(parts(got), parts(want), strict=True):
        np.testing.assert_array_equal(mine, theirs, err_msg=str(array))
        if mine.dtype.kind == "f":
            nan = np.isnan(theirs)
            np.testing.assert_array_equal(np.signbit(mine[~nan]), np.signbit(theirs[~nan]))


def test_cast_of_a_non_zero_byte_is_true(probe: Probe) -> None:
    array = np.array([0, 1, 2, 255], np.uint8).view(np.bool_)
    assert probe.unary("aclnnProbeCast", array, array.shape, np.int32).tolist() == [0, 1, 1, 1]


def test_cast_to_unknown_types(probe: Probe) -> None:
    source = probe.contiguous(np.zeros(4, np.float32))
    for acl in (13, 29, 30, 33, 36, 1000, -1):
        dims = (c.c_int64 * 1)(4)
        out = probe.base.aclCreateTensor(dims, 1, acl, None, 0, 2, dims, 1, None)
        code, *_ = probe.plan("aclnnProbeCast", source, out)
        assert code == INNER_NULLPTR and "Cast" in probe.message()


def test_every_header_stands_alone(toolkit: Path, tmp_path: Path) -> None:
    include = toolkit / "include"
    folders = ["aclnn", "aclnn_kernels", "register"]
    headers = [h for f in folders for h in sorted((include / f).glob("*.h"))]
    assert len(headers) > 10

    def check(batch: list[Path]) -> None:
        source = tmp_path / f"{batch[0].stem}.cpp"
        for header in batch:
            source.write_text(f'#include "{header.relative_to(include)}"\n')
            command = ["g++", "-std=c++17", "-fsyntax-only", "-Wall", "-Wextra", "-Werror"]
            done = subprocess.run(
                [*command, f"-I{include}", str(source)], capture_output=True, text=True, check=False
            )
            assert done.returncode == 0, done.stderr

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(check, [headers[0::2], headers[1::2]]))
