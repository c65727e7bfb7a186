# SPDX-License-Identifier: Apache-2.0
"""Handles, executors, kernel launches and package look-up, by an operator made for it."""

from __future__ import annotations

import ctypes as c
import json
import math
import shutil
import subprocess
import threading
from pathlib import Path

import numpy as np
import pytest

import sanitizers
from aclgrad.errors import AclnnError
from opbase_harness import (
    INNER,
    INNER_NULLPTR,
    INVALID,
    NO_KERNEL,
    NO_PACKAGE,
    NULLPTR,
    RUNTIME,
    TILING,
    Array,
    Probe,
    built,
    probe,
)

__all__ = ["built", "probe"]

# --- handles ---


def test_getters(probe: Probe) -> None:
    tensor = probe.tensor(None, np.float16, (2, 3), (1, 2), 4, (5, 6))
    base = probe.base
    for name, want in (
        ("aclGetViewShape", [2, 3]),
        ("aclGetViewStrides", [1, 2]),
        ("aclGetStorageShape", [5, 6]),
    ):
        values, count = c.POINTER(c.c_int64)(), c.c_uint64()
        function = getattr(base, name)
        assert function(c.c_void_p(tensor), c.byref(values), c.byref(count)) == 0
        assert values[: count.value] == want
        for args in (
            (None, c.byref(values), c.byref(count)),
            (c.c_void_p(tensor), None, c.byref(count)),
            (c.c_void_p(tensor), c.byref(values), None),
        ):
            assert function(*args) == NULLPTR
    offset, kind = c.c_int64(), c.c_int()
    assert base.aclGetViewOffset(c.c_void_p(tensor), c.byref(offset)) == 0 and offset.value == 4
    assert base.aclGetDataType(c.c_void_p(tensor), c.byref(kind)) == 0 and kind.value == 1
    assert base.aclGetFormat(c.c_void_p(tensor), c.byref(kind)) == 0 and kind.value == 2
    for name in ("aclGetViewOffset", "aclGetDataType", "aclGetFormat"):
        assert getattr(base, name)(None, c.byref(kind)) == NULLPTR
        assert getattr(base, name)(c.c_void_p(tensor), None) == NULLPTR
    addr = c.c_void_p()
    assert base.aclSetRawTensorAddr(c.c_void_p(tensor), c.c_void_p(4096)) == 0
    assert base.aclGetRawTensorAddr(c.c_void_p(tensor), c.byref(addr)) == 0 and addr.value == 4096
    assert base.aclSetRawTensorAddr(None, None) == NULLPTR
    assert base.aclGetRawTensorAddr(c.c_void_p(tensor), None) == NULLPTR
    array, size = probe.ints([1, 2, 3]), c.c_uint64()
    assert base.aclGetIntArraySize(array, c.byref(size)) == 0 and size.value == 3
    assert base.aclDestroyIntArray(array) == 0
    assert base.aclGetIntArraySize(array, c.byref(size)) == INVALID


def test_create_and_destroy(probe: Probe) -> None:
    base = probe.base
    dims = (c.c_int64 * 30)(*[1] * 30)
    create = base.aclCreateTensor
    assert not create(None, 1, 0, None, 0, 2, dims, 1, None)
    assert not create(dims, 1, 0, None, 0, 2, None, 1, None)
    assert not create(dims, 26, 0, None, 0, 2, dims, 1, None) and "26" in probe.message()
    assert not base.aclCreateScalar(None, 0)
    for kind in ("Tensor", "Scalar", "IntArray", "FloatArray", "TensorList", "ScalarList"):
        destroy = getattr(base, "aclDestroy" + kind)
        assert destroy(None) == 0
        assert destroy(c.c_void_p(0x1234)) == INVALID and kind in probe.message()
    scalar_rank = create(None, 0, 0, None, 0, 2, None, 0, None)
    negative = create((c.c_int64 * 2)(-1, 3), 2, 0, None, 0, 2, dims, 1, None)
    assert scalar_rank and negative
    for tensor in (scalar_rank, negative):
        assert base.aclDestroyTensor(c.c_void_p(tensor)) == 0
        assert base.aclDestroyTensor(c.c_void_p(tensor)) == INVALID
    # A list takes its tensors with it.
    members = [probe.tensor(None, np.float32, (2,)) for _ in range(2)]
    listed = base.aclCreateTensorList((c.c_void_p * 2)(*members), c.c_uint64(2))
    assert base.aclDestroyTensorList(c.c_void_p(listed)) == 0
    for member in members:
        assert base.aclDestroyTensor(c.c_void_p(member)) == INVALID
    assert base.aclDestroyTensorList(c.c_void_p(listed)) == INVALID
    listed = base.aclCreateTensorList((c.c_void_p * 1)(member), c.c_uint64(1))
    assert base.aclDestroyTensorList(c.c_void_p(listed)) == INVALID


def test_stale_tensors_are_refused_by_name(probe: Probe) -> None:
    good = probe.contiguous(np.zeros(3, np.float32))
    stale = probe.contiguous(np.zeros(3, np.float32))
    assert probe.base.aclDestroyTensor(c.c_void_p(stale)) == 0
    probe.contiguous(np.zeros(3, np.float32))  # must not take the stale handle's address
    for bad in (stale, 0x10, good + 8):
        code, *_ = probe.plan("aclnnProbeCopy", bad, good)
        assert code == INVALID and "argument self" in probe.message()
        code, *_ = probe.plan("aclnnProbeCopy", good, bad)
        assert code == INVALID and "argument out" in probe.message()
    code, *_ = probe.plan("aclnnProbeCopy", None, good)
    assert code == NULLPTR and "self" in probe.message()
    code, *_ = probe.plan("aclnnProbeReshape", good, c.c_void_p(0x10), good)
    assert code == INVALID and "shape is 0x10, which is not a live aclIntArray" in probe.message()


@pytest.mark.parametrize(
    ("shape", "strides", "offset"),
    [
        ((4,), (2,), 0),
        ((4,), (1,), 3),
        ((4,), (-1,), 2),
        ((2, 2), (2**62, 1), 0),
        ((-2, 3), None, 0),
    ],
)
def test_views_outside_their_storage(
    probe: Probe, shape: tuple[int, ...], strides: tuple[int, ...] | None, offset: int
) -> None:
    bad = probe.tensor(probe.upload(np.zeros(6)), np.float32, shape, strides, offset, (6,))
    good = probe.contiguous(np.zeros([abs(d) for d in shape], np.float32))
    code, *_ = probe.plan("aclnnProbeCopy", bad, good)
    assert code == INNER_NULLPTR and "self" in probe.message()
    if min(shape) > 0:
        code, *_ = probe.plan("aclnnProbeCopy", good, bad)
        assert code == INNER_NULLPTR and "out" in probe.message()


# --- executors ---


def shift(
    probe: Probe, bias: float, *tensors: int, api: str = "aclnnProbeShift"
) -> tuple[int, int, int]:
    return probe.plan(api, tensors[0], c.c_double(bias), tensors[1])


def test_launch_and_workspace(probe: Probe) -> None:
    array = np.arange(300, dtype=np.float32).reshape(20, 15)
    out = np.zeros_like(array)
    address = probe.upload(out)
    x, y = probe.contiguous(array), probe.tensor(address, out.dtype, out.shape)
    strided = probe.tensor(probe.upload(array), array.dtype, (15, 20), (1, 15), 0, (300,))
    flipped = probe.tensor(address, out.dtype, (15, 20), (1, 15), 0, (300,))
    flat = probe.tensor(address, out.dtype, (15, 20))
    tensor_bytes = math.ceil(300 * 4 / 512) * 512
    for bias, given, result, want, size in (
        (1.5, x, y, array + np.float32(1.5), 0),
        (2.5, strided, flat, array.T + np.float32(2.5), tensor_bytes),
        (3.5, strided, flipped, array + np.float32(3.5), 2 * tensor_bytes),
        (101.0, x, y, array + np.float32(101), 1024),
    ):
        code, planned, executor = shift(probe, bias, given, result)
        assert (code, planned) == (0, size), probe.message()
        workspace = probe.device.buffer(planned)
        assert probe.launch("aclnnProbeShift", executor, workspace.address, planned) == 0
        probe.device.synchronize()
        assert (probe.read(address, out).reshape(-1) == want.reshape(-1)).all()
    # Intermediate results need memory, the last one goes straight to out.
    code, planned, executor = shift(probe, 1.0, x, y, api="aclnnProbeChain")
    assert (code, planned) == (0, tensor_bytes + math.ceil(600 / 512) * 512)
    # In place, and over memory that it half shares with its input.
    code, planned, executor = shift(probe, 1.0, y, y)
    assert (code, planned) == (0, 0)
    half = probe.tensor(address, out.dtype, (100,), None, 50, (300,))
    other = probe.tensor(address, out.dtype, (100,), None, 100, (300,))
    code, planned, executor = shift(probe, 1.0, half, other)
    assert (code, planned) == (0, 512)
    before = probe.read(address, out).reshape(-1)
    workspace = probe.device.buffer(planned)
    assert probe.launch("aclnnProbeShift", executor, workspace.address, planned) == 0
    probe.device.synchronize()
    after = probe.read(address, out).reshape(-1)
    assert (after[100:200] == before[50:150] + 1).all()
    assert (after[:100] == before[:100]).all() and (after[200:] == before[200:]).all()


def test_outputs_are_poisoned_in_checked_mode(probe: Probe) -> None:
    array = np.arange(8, dtype=np.float32)
    probe.device.set_option("mode", "checked")
    out = np.zeros(10, np.float32)
    address = probe.upload(out)
    y = probe.tensor(address, np.float32, (8,), None, 1, (10,))
    probe.device.set_option("partial_outputs", "y")
    try:
        probe.run("aclnnProbeShift", probe.contiguous(array), c.c_double(-2.0), y)
    finally:
        probe.device.set_option("partial_outputs", "none")
    got = probe.read(address, out)
    assert np.isnan(got[8]) and (got[1:8] == array[:7] - 2).all() and got[[0, 9]].tolist() == [0, 0]


@pytest.mark.plants_faults
def test_kernel_fault_names_the_parameter(probe: Probe) -> None:
    x = probe.contiguous(np.zeros(8, np.float32))
    y = probe.contiguous(np.zeros(8, np.float32))
    code, size, executor = shift(probe, -1000.0, x, y)
    assert code == 0 and probe.launch("aclnnProbeShift", executor, None, size) == 0
    with pytest.raises(Exception, match="ProbeShift") as caught:
        probe.device.synchronize()
    assert '"count":8' in str(caught.value)


def test_executor_rules(probe: Probe) -> None:
    base, array = probe.base, np.arange(5, dtype=np.float32)
    out = probe.upload(np.zeros(5, np.float32))
    x, y = probe.contiguous(array), probe.tensor(out, np.float32, (5,))

    def run(executor: int) -> int:
        return probe.launch("aclnnProbeShift", executor, None, 0)

    assert probe.launch("aclnnProbeShift", 0, None, 0) == NULLPTR
    _, _, executor = shift(probe, 1.0, x, y)
    assert run(executor) == 0
    assert run(executor) == INNER and "not a live executor" in probe.message()
    for bad in (executor, x, 0x40):
        handle = c.c_void_p(bad)
        assert run(bad) == INNER
        assert base.aclSetAclOpExecutorRepeatable(handle) == INNER
        assert base.aclDestroyAclOpExecutor(handle) == INNER
        assert base.aclSetTensorAddr(handle, c.c_size_t(0), c.c_void_p(x), None) == INNER
    assert base.aclSetAclOpExecutorRepeatable(None) == INNER_NULLPTR
    assert base.aclDestroyAclOpExecutor(None) == INNER_NULLPTR
    _, _, executor = shift(probe, 1.0, x, y)
    assert base.aclDestroyAclOpExecutor(c.c_void_p(executor)) == 0
    assert base.aclDestroyAclOpExecutor(c.c_void_p(executor)) == INNER


@pytest.mark.parametrize("spelling", ["acl", "Acl"])
def test_repeatable_executor_and_new_addresses(probe: Probe, spelling: str) -> None:
    base = probe.base
    first, second = (np.arange(6, dtype=np.float32) + k for k in (0, 50))
    out = np.zeros(6, np.float32)
    outs = [probe.upload(out), probe.upload(out)]
    x, y = probe.contiguous(first), probe.tensor(outs[0], np.float32, (6,))
    _, _, executor = shift(probe, 1.0, x, y)
    handle, zero = c.c_void_p(executor), c.c_size_t(0)
    assert base.aclSetAclOpExecutorRepeatable(handle) == 0
    for _ in range(2):
        assert probe.launch("aclnnProbeShift", executor, None, 0) == 0
    set_in = getattr(base, spelling + "SetInputTensorAddr")
    set_out = getattr(base, spelling + "SetOutputTensorAddr")
    assert set_in(handle, zero, c.c_void_p(x), c.c_void_p(probe.upload(second))) == 0
    assert set_out(handle, zero, c.c_void_p(y), c.c_void_p(outs[1])) == 0
    assert probe.launch("aclnnProbeShift", executor, None, 0) == 0
    probe.device.synchronize()
    assert (probe.read(outs[0], out) == first + 1).all()
    assert (probe.read(outs[1], out) == second + 1).all()
    members = (c.c_void_p * 2)(x, y)
    listed = c.c_void_p(base.aclCreateTensorList(members, c.c_uint64(2)))
    dynamic = getattr(base, spelling + "SetDynamicTensorAddr")
    assert dynamic(handle, zero, c.c_size_t(1), listed, c.c_void_p(outs[0])) == 0
    assert dynamic(handle, zero, c.c_size_t(2), listed, None) == INVALID
    assert dynamic(handle, zero, zero, None, None) == INNER_NULLPTR
    assert set_in(handle, zero, None, None) == INNER_NULLPTR
    assert set_in(None, zero, c.c_void_p(x), None) == INNER_NULLPTR
    assert probe.launch("aclnnProbeShift", executor, None, 0) == 0
    probe.device.synchronize()
    assert (probe.read(outs[0], out) == second + 1).all()
    assert base.aclDestroyAclOpExecutor(handle) == 0


def test_second_stage_memory(probe: Probe) -> None:
    array = np.zeros((4, 200), np.float32)
    good = probe.tensor(probe.upload(array), array.dtype, (200, 4), (1, 200), 0, (800,))
    out = probe.tensor(probe.upload(array), array.dtype, (200, 4))

    def attempt(given: int, workspace: int | None, size: int | None = None) -> tuple[int, str]:
        code, planned, executor = shift(probe, 1.0, given, out)
        assert code == 0
        code = probe.launch(
            "aclnnProbeShift", executor, workspace, planned if size is None else size
        )
        # Whatever happened, the executor is used up.
        assert probe.launch("aclnnProbeShift", executor, workspace, planned) == INNER
        return code, probe.message()

    enough = probe.device.buffer(4096)
    host = np.zeros(8192, np.uint8)
    aligned = host.ctypes.data + -host.ctypes.data % 64  # a misaligned one is another refusal
    assert attempt(good, enough.address)[0] == 0
    assert attempt(good, None)[0] == NULLPTR
    assert attempt(good, None, 0)[0] == INVALID
    assert attempt(good, enough.address, 16)[0] == INVALID
    small = probe.device.buffer(64)
    for workspace in (small.address, aligned):
        code, text = attempt(good, workspace)
        assert code == INVALID and "3584 bytes" in text
    for address in (None, aligned, small.address, 0x1000):
        bad = probe.tensor(address, array.dtype, (200, 4), (1, 200), 0, (800,))
        code, text = attempt(bad, enough.address)
        assert code == RUNTIME and "argument self" in text and "3200 bytes" in text
    probe.device.synchronize()


def test_memory_freed_before_the_stream_gets_there(probe: Probe) -> None:
    acl, stream = probe.device.libraries.acl, c.c_void_p(probe.device.stream)
    gate = threading.Event()
    wait = c.CFUNCTYPE(None, c.c_void_p)(lambda _: gate.wait(30) and None)
    x = np.zeros(4, np.float32)
    buffer = probe.device.upload(x)
    given, out = probe.tensor(buffer.address, x.dtype, x.shape), probe.contiguous(x)
    code, _, executor = shift(probe, 1.0, given, out)
    assert code == 0 and acl.aclrtLaunchHostFunc(stream, wait, None) == 0, probe.message()
    assert probe.launch("aclnnProbeShift", executor, None, 0) == 0
    freed = threading.Thread(target=buffer.free)
    freed.start()
    freed.join(1)
    gate.set()
    freed.join()
    # The runtime may let a free wait for the stream; then there is nothing to complain about.
    try:
        probe.device.synchronize()
    except AclnnError as error:
        assert "lost its memory" in error.message


def test_tensor_destroyed_between_the_stages(probe: Probe) -> None:
    x = probe.contiguous(np.zeros(4, np.float32))
    y = probe.contiguous(np.zeros(4, np.float32))
    code, _, executor = shift(probe, 1.0, x, y)
    assert code == 0 and probe.base.aclDestroyTensor(c.c_void_p(x)) == 0
    assert probe.launch("aclnnProbeShift", executor, None, 0) == INVALID
    assert "destroyed" in probe.message()


# --- packages ---


def test_tiling_refusals_keep_their_message(probe: Probe) -> None:
    x = probe.contiguous(np.zeros(4, np.float32))
    y = probe.contiguous(np.zeros(4, np.float32))
    for bias, text in ((math.nan, "bias is NaN, which no one can add"), (math.inf, "is infinite")):
        code, *_ = shift(probe, bias, x, y)
        message = probe.message()
        assert code == INNER_NULLPTR and text in message and str(TILING) in message


def test_run_tiling(probe: Probe) -> None:
    class Desc(c.Structure):
        _fields_ = [("dims", c.POINTER(c.c_int64)), ("rank", c.c_uint64), ("dtype", c.c_int32)]

    class Attr(c.Structure):
        _fields_ = [
            *(("kind", c.c_int32), ("i", c.c_int64), ("f", c.c_double), ("s", c.c_char_p)),
            *(("list", c.POINTER(c.c_int64)), ("size", c.c_uint64)),
        ]

    function, text = probe.base.aclsimRunTiling, c.create_string_buffer(4096)

    def tile(op: bytes, dtype: int, bias: float, room: int = 4096) -> int:
        desc = Desc((c.c_int64 * 2)(6, 7), 2, dtype)
        attr = Attr(1, 0, bias, None, None, 0)
        one = c.c_size_t(1)
        return int(
            function(
                *(op, c.byref(desc), one, c.byref(desc), one, c.byref(attr), one, text),
                c.c_size_t(room),
            )
        )

    assert tile(b"ProbeShift", 0, 101.0) == 0, probe.message()
    assert json.loads(text.value) == {
        **{"op": "ProbeShift", "soc": probe.device.option("soc"), "blockDim": 4, "tilingKey": 7},
        **{"workspaceBytes": 1000, "tiling": {"count": 42, "mode": 3}},
    }
    assert tile(b"ProbeShift", 0, math.nan) == TILING and "bias is NaN" in probe.message()
    assert tile(b"ProbeShift", 1, 1.0) == NO_KERNEL and "dtype" in probe.message()
    assert tile(b"NoSuchOp", 0, 1.0) == NO_KERNEL and "NoSuchOp" in probe.message()
    assert tile(b"ProbeShift", 0, 1.0, 16) == INVALID and "16" in probe.message()
    assert tile(None, 0, 1.0) == NULLPTR  # type: ignore[arg-type]


def test_what_the_package_lacks(
    probe: Probe, built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(array: Array, code: int) -> str:
        x, y = probe.contiguous(array), probe.contiguous(array)
        assert shift(probe, 1.0, x, y)[0] == INNER_NULLPTR
        message = probe.message()
        assert str(code) in message and "aclgrad doctor" in message
        return message

    assert "dtype combination" in refused(np.zeros(4, np.float16), NO_KERNEL)
    x = np.zeros(4, np.float32)
    probe.device.set_option("soc", "Ascend310P3")
    assert "ascend910b" in refused(x, NO_KERNEL)
    probe.device.set_option("soc", "Ascend910B2")
    copy = tmp_path / "probe"
    shutil.copytree(built / "vendors" / "probe", copy)
    shutil.rmtree(copy / "op_impl" / "ai_core" / "tbe" / "kernel")
    monkeypatch.setenv("ASCEND_CUSTOM_OPP_PATH", f"{tmp_path / 'nowhere'}:{copy}")
    assert str(copy) in refused(x, NO_KERNEL)
    # The next package in the list has what the first one lacks.
    monkeypatch.setenv("ASCEND_CUSTOM_OPP_PATH", f"{copy}:{built / 'vendors' / 'probe'}")
    assert shift(probe, 1.0, probe.contiguous(x), probe.contiguous(x))[0] == 0
    monkeypatch.delenv("ASCEND_CUSTOM_OPP_PATH")
    assert "none of the packages" in refused(x, NO_KERNEL)
    (built / "vendors" / "config.ini").write_text("load_priority = probe\n")
    monkeypatch.setenv("ASCEND_OPP_PATH", str(built))
    assert shift(probe, 1.0, probe.contiguous(x), probe.contiguous(x))[0] == 0


def test_no_package_at_all(toolkit: Path, built: Path, tmp_path: Path) -> None:
    """In a process of its own, with libraries that have no package beside them."""
    for name in ("libascendcl.so", "libregister.so", "libnnopbase.so"):
        (tmp_path / "lib64").mkdir(exist_ok=True)
        shutil.copy(toolkit / "lib64" / name, tmp_path / "lib64")
    source = tmp_path / "none.cpp"
    source.write_text(
        """
        #include <cstdio>
        #include "acl/acl.h"
        #include "opdev/make_op_executor.h"
        OP_TYPE_REGISTER(ProbeShift);
        int main() {
          auto unique = CREATE_EXECUTOR();
          aclOpExecutor* executor = unique.get();
          aclTensor* x = executor->AllocTensor({4}, op::DataType::DT_FLOAT);
          const int code = ADD_TO_LAUNCHER_LIST_AICORE(ProbeShift, OP_INPUT(x), OP_OUTPUT(x));
          std::printf("%d %s", code, aclGetRecentErrMsg());
        }
        """
    )
    lib = tmp_path / "lib64"
    command = ["g++", "-std=c++17", f"-I{toolkit / 'include'}", str(source), f"-L{lib}"]
    command += ["-lnnopbase", "-lregister", "-lascendcl", f"-Wl,-rpath,{lib}"]
    subprocess.run([*command, "-o", str(tmp_path / "none")], check=True)
    done = subprocess.run(
        [str(tmp_path / "none")],
        env={
            "ASCEND_CUSTOM_OPP_PATH": "/nowhere/a",
            "ASCEND_OPP_PATH": "/nowhere/b",
            **sanitizers.variables(),
        },
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith(str(NO_PACKAGE))
    for word in ("/nowhere/a", "/nowhere/b", "aclgrad doctor"):
        assert word in done.stdout
