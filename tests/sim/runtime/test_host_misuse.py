# SPDX-License-Identifier: Apache-2.0

"""Mistakes of host programs: each has an error code, a message and a finding of its kind."""

from __future__ import annotations

import ctypes
import json
import subprocess
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from acl_harness import (
    D2D,
    D2H,
    H2D,
    INVALID_PARAM,
    PROGRAMS,
    RT_INVALID_HANDLE,
    RT_PARAM_INVALID,
    RT_VECTOR_CORE_EXCEPTION,
    Acl,
    in_process,
)
from aclgrad.errors import AclnnError
from aclgrad.runtime import Device
from aclgrad.runtime.device import Planned
from aclgrad.spec.call import TensorDesc
from aclgrad.spec.dtypes import DOUBLE
from test_errors_executor import SHAPE, SOFTMAX, Bench

STREAM_NOT_COMPLETE = 507004
NULLPTR, INVALID, RUNTIME, INNER = 161001, 161002, 361001, 561000
Finding = dict[str, Any]


class Host(Acl):
    """The runtime of the open device, and what it has found."""

    def __init__(self, library: Path, device: Device) -> None:
        super().__init__(library)
        self.device = device
        self.streams: list[int] = []
        self.lib.aclsimFindings.restype = ctypes.c_char_p
        self.lib.aclsimClearFindings()
        self.message()

    def stream(self) -> int:
        """A stream that goes with the test: a fault stays with its stream."""
        self.streams.append(self.pointer("aclrtCreateStream"))
        return self.streams[-1]

    def findings(self) -> list[Finding]:
        """The errors since the test began."""
        found: list[Finding] = json.loads(self.lib.aclsimFindings())
        return [finding for finding in found if finding["severity"] == "error"]

    def finding(self, kind: str, api: str) -> Finding:
        """The one finding so far; the list is empty afterwards."""
        found = self.findings()
        assert [(f["kind"], f["at"]["instruction"]) for f in found] == [(kind, api)], found
        assert found[0]["severity"] == "error" and found[0]["core"] == -1
        assert "Next: " in found[0]["advice"] and found[0]["detail"] in found[0]["text"]
        self.lib.aclsimClearFindings()
        return found[0]

    def misuse(self, code: int, kind: str, words: str, name: str, *args: object) -> Finding:
        """A call that fails with code, says these words, and is listed as kind."""
        text = self.fails(code, name, *args)
        found = self.finding(kind, name)
        for word in words.split("|"):
            assert word in text and word in found["detail"], (word, text)
        assert ". Next: " in text
        return found

    def clean(self) -> None:
        """Nothing was found."""
        assert self.findings() == []


@pytest.fixture
def host(device: Device, toolkit: Path) -> Iterator[Host]:
    """The runtime that `device` has open, in checked mode, without findings."""
    device.set_option("mode", "checked")
    runtime = Host(toolkit / "lib64" / "libascendcl.so", device)
    runtime.ok("aclrtSetDevice", 0)
    yield runtime
    runtime.call("aclrtSynchronizeDevice")
    for stream in runtime.streams:
        runtime.call("aclrtDestroyStream", stream)
    runtime.ok("aclrtSynchronizeDevice")
    runtime.message()
    runtime.lib.aclsimClearFindings()


@pytest.fixture
def bench(host: Host) -> Bench:
    """A call of softmax_grad, laid out on the device."""
    return Bench(host.device)


@pytest.fixture(scope="session")
def misuse_kernels(toolkit: Path, tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """Kernels that write and read where they should not."""
    target = tmp_path_factory.mktemp("misuse") / "libkernels.so"
    command = ["g++", "-std=c++17", "-fPIC", "-shared", "-g", "-O1", "-Wall", "-Wextra", "-Werror"]
    command += ["-D__NPU_ARCH__=2201", "-D__CCE_AICORE__=220", f"-I{toolkit}/include"]
    command += [str(PROGRAMS / "host_kernels.cpp"), "-o", str(target)]
    command += [f"-L{toolkit}/lib64", "-lascendcl", f"-Wl,-rpath,{toolkit}/lib64"]
    subprocess.run(command, check=True)
    return ctypes.CDLL(str(target))


def launch(
    host: Host,
    kernels: ctypes.CDLL,
    name: str,
    args: list[tuple[int, int]],
    stream: int | None,
    cores: int = 1,
) -> int:
    """Launches a kernel on (address, bytes) arguments."""
    pointers = (ctypes.c_void_p * len(args))(*(a for a, _ in args))
    sizes = (ctypes.c_uint64 * len(args))(*(b for _, b in args))
    entry = ctypes.cast(getattr(kernels, name), ctypes.c_void_p)
    return host.call(
        "aclsimLaunchKernel", name.encode(), entry, cores, 0, pointers, sizes, len(args), stream
    )


def refused(host: Host, code: int, kind: str, words: str, call: Any) -> None:
    """A call of an aclnn function: fails with code, says these words, is listed as kind."""
    with pytest.raises(AclnnError) as caught:
        call()
    assert caught.value.code == code, caught.value.message
    found = [f for f in host.findings() if f["kind"].startswith("host-")]
    assert [f["kind"] for f in found] == [kind], found
    for word in words.split("|"):
        assert word in caught.value.message and word in found[0]["detail"], caught.value.message
    assert ". Next: " in caught.value.message and "Next: " in found[0]["advice"]
    host.lib.aclsimClearFindings()


# Copies: kind and size -----------------------------------------------------------------------


def test_copy_in_the_wrong_direction(host: Host) -> None:
    block = host.malloc(64)
    buffer = ctypes.create_string_buffer(64)
    for kind, dst, src, words, right in (
        (H2D, buffer, buffer, "dst|is host memory|HOST_TO_DEVICE wants device", "HOST_TO_HOST"),
        (D2H, block, buffer, "dst|device block|DEVICE_TO_HOST wants host", "HOST_TO_DEVICE"),
        (D2D, block, buffer, "src|is host memory|TO_DEVICE wants device", "HOST_TO_DEVICE"),
        (H2D, block, block, "src|device block|TO_DEVICE wants host", "DEVICE_TO_DEVICE"),
    ):
        found = host.misuse(
            RT_PARAM_INVALID, "host-memcpy-kind", words, "aclrtMemcpy", dst, 64, src, 64, kind
        )
        assert f"pass ACL_MEMCPY_{right} " in found["advice"]
    words = "kind is 99|want an aclrtMemcpyKind"
    host.misuse(INVALID_PARAM, "host-memcpy-kind", words, "aclrtMemcpy", block, 8, block, 8, 99)
    host.ok("aclrtFree", block)


def test_copy_of_the_wrong_size(host: Host) -> None:
    block = host.malloc(100)
    buffer = ctypes.create_string_buffer(200)
    kind, code = "host-memcpy-size", RT_PARAM_INVALID
    words = "count is 101|destMax, 100"
    host.misuse(code, kind, words, "aclrtMemcpy", block, 100, buffer, 101, H2D)
    words = "dst|of 100 bytes|101 bytes are wanted|has 100 left"
    host.misuse(code, kind, words, "aclrtMemcpy", block, 200, buffer, 101, H2D)
    words = "src|byte 60|41 bytes are wanted|has 40 left"
    host.misuse(code, kind, words, "aclrtMemcpy", buffer, 200, block + 60, 41, D2H)
    words = "width is 9|dpitch (8)"
    host.misuse(INVALID_PARAM, kind, words, "aclrtMemcpy2d", block, 8, buffer, 9, 9, 2, H2D)
    words = "count is 101|maxCount, 100"
    host.misuse(code, kind, words, "aclrtMemset", block, 100, 0, 101)
    host.ok("aclrtFree", block)
    host.clean()


def test_memory_of_the_wrong_side(host: Host, misuse_kernels: ctypes.CDLL) -> None:
    buffer = ctypes.create_string_buffer(64)
    address, kind = ctypes.addressof(buffer), "host-wrong-memory"
    host.misuse(RT_PARAM_INVALID, kind, "devPtr|host memory", "aclrtFree", address)
    host.misuse(RT_PARAM_INVALID, kind, "devPtr|want", "aclrtMemset", address, 64, 0, 64)
    host.misuse(RT_PARAM_INVALID, kind, "hostPtr|want", "aclrtFreeHost", address)
    assert launch(host, misuse_kernels, "poke", [(address, 4), (address, 8)], None) != 0
    assert "argument 0 of kernel poke" in host.message()
    assert "want device memory" in host.finding(kind, "aclsimLaunchKernel")["detail"]


def test_a_mistake_in_a_loop_is_listed_a_few_times(host: Host) -> None:
    block = host.malloc(64)
    for distance in range(1, 101):
        words = (64, bytes(64), 64 + distance, H2D)
        assert host.call("aclrtMemcpy", block, *words) == RT_PARAM_INVALID
    found = host.findings()
    assert len(found) <= 16 and sum(f["count"] for f in found) == 100
    host.message()
    host.ok("aclrtFree", block)


# Use after free ------------------------------------------------------------------------------


def test_memory_after_its_free(host: Host, misuse_kernels: ctypes.CDLL) -> None:
    block = host.malloc(100)
    host.ok("aclrtFree", block)
    buffer = ctypes.create_string_buffer(8)
    for name, args in {
        "aclrtMemcpy": (buffer, 8, block + 8, 8, D2H),
        "aclrtMemset": (block, 8, 0, 8),
        "aclrtMemcpyAsync": (block, 8, block, 8, D2D, None),
    }.items():
        words = "100 bytes that was freed by aclrtFree"
        host.misuse(RT_PARAM_INVALID, "host-use-after-free", words, name, *args)
    assert launch(host, misuse_kernels, "poke", [(block, 4), (block, 8)], None) == INVALID_PARAM
    host.message()
    host.finding("host-use-after-free", "aclsimLaunchKernel")
    words = "freed by aclrtFree|want the start of a live block"
    host.misuse(RT_PARAM_INVALID, "host-double-free", words, "aclrtFree", block)
    host.misuse(RT_PARAM_INVALID, "host-use-after-free", words, "aclsimRenew", block)
    words = "want the start of a live block"
    host.misuse(RT_PARAM_INVALID, "host-out-of-bounds", words, "aclsimRenew", host.malloc(64) + 8)


def test_streams_and_events_after_their_destruction(host: Host) -> None:
    stream, event = host.stream(), host.pointer("aclrtCreateEvent")
    host.ok("aclrtDestroyStream", stream)
    host.ok("aclrtDestroyEvent", event)
    code, gone = RT_INVALID_HANDLE, "host-use-after-free"
    host.misuse(code, gone, "stream 0x|was destroyed", "aclrtSynchronizeStream", stream)
    host.misuse(code, gone, "event 0x|was destroyed", "aclrtSynchronizeEvent", event)
    host.misuse(code, gone, "event 0x|was destroyed", "aclrtRecordEvent", event, None)
    host.misuse(code, "host-double-free", "was destroyed", "aclrtDestroyStream", stream)
    host.misuse(code, "host-double-free", "was destroyed", "aclrtDestroyEvent", event)
    words = "stream 0x|is an event, want a stream"
    host.misuse(code, "host-wrong-handle", words, "aclrtSynchronizeStream", event)
    host.misuse(code, "host-wrong-handle", "is not an event", "aclrtDestroyEvent", 0x1230)


def test_free_under_a_stream(host: Host, misuse_kernels: ctypes.CDLL) -> None:
    """Named whether the stream is through with it or not: only a wait makes it right."""
    stream = host.stream()
    block = host.malloc(64)
    host.ok("aclrtMemsetAsync", block, 64, 0, 64, stream)
    time.sleep(0.1)
    host.ok("aclrtFree", block)
    found = host.finding("host-use-after-free", "aclrtFree")
    assert "block of 64 bytes is freed" in found["detail"]
    assert "devPtr of aclrtMemsetAsync" in found["detail"]
    assert found["related"][0]["instruction"] == "aclrtMemsetAsync"
    block = host.malloc(64)
    host.ok("aclrtMemsetAsync", block, 64, 0, 64, stream)
    host.ok("aclrtSynchronizeStream", stream)
    host.ok("aclrtFree", block)
    block = host.malloc(64)
    host.ok("aclrtMemsetAsync", block, 64, 0, 64, stream)
    host.ok("aclrtFreeWithDevSync", block)
    host.ok("aclrtDestroyStream", stream)
    host.clean()


# Accesses that wait for nothing --------------------------------------------------------------


def test_copies_that_do_not_wait(host: Host) -> None:
    stream = host.stream()
    block, other = host.malloc(64), host.malloc(64)
    buffer = ctypes.create_string_buffer(64)
    host.ok("aclrtMemset", other, 64, 1, 64)
    host.ok("aclrtMemcpyAsync", block, 64, other, 64, D2D, stream)
    time.sleep(0.1)  # the stream is idle; by luck that is no synchronisation
    code, kind = STREAM_NOT_COMPLETE, "host-unsynchronised"
    words = "src 0x|8 bytes are read|writes 64 bytes|dst of aclrtMemcpyAsync|nothing has waited"
    found = host.misuse(code, kind, words, "aclrtMemcpy", buffer, 64, block + 8, 8, D2H)
    assert "aclrtSynchronizeStream" in found["advice"]
    words = "dst 0x|overwritten by the host|reads 64 bytes|src of aclrtMemcpyAsync"
    host.misuse(code, kind, words, "aclrtMemcpy", other, 64, buffer, 64, H2D)
    words = "devPtr 0x|overwritten"
    host.misuse(code, kind, words, "aclrtMemset", block + 63, 1, 0, 1)
    # What is only read may be read, and what lies beside may be written.
    host.ok("aclrtMemcpy", buffer, 64, other, 64, D2H)
    third = host.malloc(64)
    host.ok("aclrtMemset", third, 64, 0, 64)
    host.clean()
    host.ok("aclrtSynchronizeStream", stream)
    assert host.read(block, 64) == b"\x01" * 64
    host.clean()
    for address in (block, other, third):
        host.ok("aclrtFree", address)
    host.ok("aclrtDestroyStream", stream)


@pytest.mark.parametrize(
    "wait", ["stream", "device", "event", "event of another stream", "query", "destroy", "callback"]
)
def test_every_way_to_wait_counts(host: Host, wait: str) -> None:
    stream, second = (host.stream() for _ in range(2))
    event = host.pointer("aclrtCreateEvent")
    block = host.malloc(64)
    host.ok("aclrtMemsetAsync", block, 64, 7, 64, stream)
    if wait == "stream":
        host.ok("aclrtSynchronizeStream", stream)
    elif wait == "device":
        host.ok("aclrtSynchronizeDevice")
    elif wait == "event":
        host.ok("aclrtRecordEvent", event, stream)
        host.ok("aclrtSynchronizeEvent", event)
    elif wait == "event of another stream":
        host.ok("aclrtRecordEvent", event, stream)
        host.ok("aclrtStreamWaitEvent", second, event)
        host.ok("aclrtSynchronizeStream", second)
    elif wait == "query":
        status = ctypes.c_int(1)
        while status.value == 1:
            host.ok("aclrtStreamQuery", stream, ctypes.byref(status))
    elif wait == "destroy":
        host.ok("aclrtDestroyStream", stream)
    else:
        done: list[bytes] = []
        function = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: done.append(b""))
        host.ok("aclrtLaunchHostFunc", stream, function, None)
        while not done:
            time.sleep(0.01)
    assert host.read(block, 64) == b"\x07" * 64
    host.clean()
    host.ok("aclrtFree", block)
    host.ok("aclrtDestroyEvent", event)
    for one in (second,) if wait == "destroy" else (stream, second):
        host.ok("aclrtDestroyStream", one)


def test_an_event_before_the_work_is_no_wait(host: Host) -> None:
    stream, event = host.stream(), host.pointer("aclrtCreateEvent")
    block = host.malloc(64)
    host.ok("aclrtRecordEvent", event, stream)
    host.ok("aclrtMemsetAsync", block, 64, 7, 64, stream)
    host.ok("aclrtSynchronizeEvent", event)
    buffer = ctypes.create_string_buffer(64)
    host.misuse(
        STREAM_NOT_COMPLETE,
        "host-unsynchronised",
        "src 0x|writes 64 bytes",
        "aclrtMemcpy",
        buffer,
        64,
        block,
        64,
        D2H,
    )
    host.ok("aclrtSynchronizeStream", stream)
    host.ok("aclrtFree", block)
    host.ok("aclrtDestroyStream", stream)
    host.ok("aclrtDestroyEvent", event)


def test_output_and_input_of_an_operator_without_a_wait(host: Host, bench: Bench) -> None:
    planned = bench.plan()
    bench.device.launch(SOFTMAX, planned, None)
    words = "src 0x|aclnnSoftmaxBackward|nothing has waited for that"
    code, kind = STREAM_NOT_COMPLETE, "host-unsynchronised"
    refused(host, code, kind, words, lambda: bench.out.read(np.dtype(np.float32)))
    words = "dst 0x|aclnnSoftmaxBackward|overwritten by the host"
    refused(host, code, kind, words, lambda: bench.buffers[0].write(bench.grad))
    bench.buffers[0].read(np.dtype(np.float32))
    bench.device.synchronize()
    bench.check()
    host.clean()


# Executors, workspaces, tensors --------------------------------------------------------------


def test_second_stage_twice(host: Host, bench: Bench) -> None:
    planned = bench.plan()
    bench.run(planned)
    host.clean()
    words = "argument executor|has run and was not repeatable|is not a live executor"
    again = partial(bench.device.launch, SOFTMAX, planned, None)
    refused(host, INNER, "host-executor-reused", words, again)
    planned = bench.plan()
    nn = bench.device.libraries.nnopbase
    assert nn.aclDestroyAclOpExecutor(planned.executor) == 0
    words = "argument executor|was destroyed|is not a live executor"
    again = partial(bench.device.launch, SOFTMAX, planned, None)
    refused(host, INNER, "host-use-after-free", words, again)
    assert nn.aclDestroyAclOpExecutor(planned.executor) == INNER
    host.finding("host-double-free", "aclDestroyAclOpExecutor")
    stray = Planned(0, host.device.stream)
    words = "argument executor|no create function returned it"
    again = partial(bench.device.launch, SOFTMAX, stray, None)
    refused(host, INNER, "host-wrong-handle", words, again)


def test_workspaces_that_do_not_do(host: Host) -> None:
    bench = Bench(host.device, TensorDesc(SHAPE, DOUBLE))
    size = bench.plan().workspace_size
    assert size > 0
    big, small = host.malloc(size), host.malloc(32)
    memory = np.zeros(size + 64, np.uint8).ctypes.data
    for code, words, address, bytes_ in (
        (NULLPTR, f"workspace is NULL|workspaceSize is {size}", None, size),
        (INVALID, f"workspace has {size - 1} bytes|asked for {size}", big, size - 1),
        (INVALID, f"workspace has 0 bytes|asked for {size}", None, 0),
        (INVALID, f"workspace at|must be {size} bytes|32 are there", small, size),
        (INVALID, "workspace at|device memory|is host memory", memory // 64 * 64 + 64, size),
        (INVALID, "workspace is at|want a multiple of 32", big + 8, size),
    ):
        call = partial(host.device.launch, SOFTMAX, bench.plan(), address, bytes_)
        refused(host, code, "host-workspace", words, call)
    host.ok("aclrtFree", big)
    host.ok("aclrtFree", small)


def test_tensors_on_the_wrong_memory(host: Host, bench: Bench) -> None:
    array = np.zeros(SHAPE, np.float32)
    small, freed = host.malloc(64), host.malloc(array.nbytes)
    host.ok("aclrtFree", freed)
    for kind, words, address in (
        ("host-wrong-memory", "240 bytes of device memory|is host memory", array.ctypes.data),
        ("host-wrong-memory", "240 bytes of device memory|its address is NULL", None),
        ("host-out-of-bounds", "240 bytes of device memory|64 are there", small),
        ("host-use-after-free", "240 bytes of device memory|freed by aclrtFree", freed),
    ):
        bench.tensors["out"] = bench.device.tensor(TensorDesc(SHAPE), address)
        refused(host, RUNTIME, kind, words, lambda: bench.run(bench.plan()))
    host.ok("aclrtFree", small)


def test_destroyed_tensors(host: Host, bench: Bench) -> None:
    nn = bench.device.libraries.nnopbase
    tensor = bench.tensors["output"]
    assert tensor is not None
    planned = bench.plan()
    tensor.destroy()
    words = "argument|destroyed after the first stage|a live aclTensor is wanted"
    between = partial(bench.device.launch, SOFTMAX, planned, None)
    refused(host, INVALID, "host-destroyed-tensor", words, between)
    words = "argument output|is not a live aclTensor|that was destroyed"
    refused(host, INVALID, "host-destroyed-tensor", words, bench.plan)
    assert nn.aclDestroyTensor(tensor.handle) == INVALID
    assert (
        "is not a live aclTensor" in host.finding("host-double-free", "aclDestroyTensor")["detail"]
    )


def test_a_tensor_may_go_once_the_second_stage_has_returned(host: Host, bench: Bench) -> None:
    """The launch has its address and shape by then."""
    bench.device.launch(SOFTMAX, bench.plan(), None)
    for tensor in bench.tensors.values():
        assert tensor is not None
        tensor.destroy()
    bench.device.synchronize()
    bench.check()
    host.clean()


# Writes past a block, memory that nothing has written ----------------------------------------


@pytest.mark.parametrize(
    ("distance", "words"),
    [
        (100, "from byte 100 of device block|0 byte(s) behind its end"),
        (97, "1 byte(s) were written from byte 100"),
        (4500, "from byte 4500 of|4400 byte(s) behind"),
        (-4, "from byte -4 of|0 byte(s) before its start"),
        (-1500, "1496 byte(s) before its start"),
    ],
)
def test_overrun_by_pointer(
    host: Host, misuse_kernels: ctypes.CDLL, distance: int, words: str
) -> None:
    stream = host.stream()
    block, offset = host.malloc(100), host.malloc(8)
    host.write(offset, distance.to_bytes(8, "little", signed=True))
    assert launch(host, misuse_kernels, "poke", [(block, 100), (offset, 8)], stream) == 0
    text = host.fails(RT_VECTOR_CORE_EXCEPTION, "aclrtSynchronizeStream", stream)
    (found,) = host.findings()
    assert (found["kind"], found["op"], found["buffer"]) == ("gm-overrun", "poke", "argument 0")
    for word in ("which has 100 bytes", *words.split("|")):
        assert word in text and word in found["detail"]
    assert found["at"]["file"].endswith("host_kernels.cpp") and found["core"] == 0
    assert found["at"]["text"].endswith("// POKE")
    host.lib.aclsimClearFindings()
    host.ok("aclrtFree", block)
    host.ok("aclrtFree", offset)
    host.ok("aclrtDestroyStream", stream)
    host.clean()  # told once


def test_overrun_by_pointer_of_one_core_among_many_stores(
    host: Host, misuse_kernels: ctypes.CDLL
) -> None:
    """All cores write to the same page; one of them, at one line, too far."""
    block, count = host.malloc(100), host.malloc(8)
    host.write(count, (25).to_bytes(8, "little"))
    stream = host.stream()
    args = [(block, 100), (count, 8)]
    assert launch(host, misuse_kernels, "fill_by_pointer", args, stream, cores=3) == 0
    host.fails(RT_VECTOR_CORE_EXCEPTION, "aclrtSynchronizeStream", stream)
    host.ok("aclrtDestroyStream", stream)
    (found,) = host.findings()
    assert (found["kind"], found["core"]) == ("gm-overrun", 2)
    assert found["at"]["text"].endswith("// ONE_MORE")


def test_overrun_by_pointer_that_happens_once(host: Host, misuse_kernels: ctypes.CDLL) -> None:
    """The kernel does something else when it runs again: its beginning is named, as such."""
    block, offset = host.malloc(100), host.malloc(8)
    host.write(offset, (100).to_bytes(8, "little"))
    stream = host.stream()
    assert launch(host, misuse_kernels, "poke_once", [(block, 100), (offset, 8)], stream) == 0
    host.fails(RT_VECTOR_CORE_EXCEPTION, "aclrtSynchronizeStream", stream)
    host.ok("aclrtDestroyStream", stream)
    (found,) = host.findings()
    assert (found["kind"], found["core"]) == ("gm-overrun", -1)
    assert found["at"]["line"] > 0 and "begins here" in found["at"]["note"]


def test_overrun_of_another_block_shows_at_its_free(
    host: Host, misuse_kernels: ctypes.CDLL
) -> None:
    first, offset, other = host.malloc(64), host.malloc(8), host.malloc(64)
    host.write(offset, (other + 64 - first).to_bytes(8, "little", signed=True))
    assert launch(host, misuse_kernels, "poke", [(first, 64), (offset, 8)], None) == 0
    host.ok("aclrtSynchronizeStream", None)
    host.clean()
    host.ok("aclrtFree", other)
    (found,) = host.findings()
    assert (found["kind"], found["at"]["instruction"]) == ("gm-overrun", "aclrtFree")
    assert "from byte 64 of" in found["detail"] and "last launch was poke" in found["detail"]


@pytest.mark.parametrize("written", [0, 12, 16, "copied", "filled", "moved", "renewed"])
def test_reads_of_what_nothing_has_written(
    host: Host, misuse_kernels: ctypes.CDLL, written: int | str
) -> None:
    stream = host.stream()
    values, total, count = host.malloc(16), host.malloc(4), host.malloc(8)
    host.write(count, (4).to_bytes(8, "little"))
    if isinstance(written, int):
        host.write(values, bytes(written)) if written else None
    elif written == "copied":
        host.ok("aclrtMemcpy2d", values, 8, bytes(16), 8, 8, 2, H2D)
    elif written == "filled":
        host.ok("aclrtMemset", values, 16, 0, 16)
    elif written == "renewed":
        host.ok("aclrtMemset", values, 16, 0, 16)
        host.ok("aclsimRenew", values)
    else:
        unwritten = host.malloc(16)
        host.ok("aclrtMemset", values, 16, 0, 16)
        host.ok("aclrtMemcpy", values, 16, unwritten, 16, D2D)
    args = [(values, 16), (total, 4), (count, 8)]
    assert launch(host, misuse_kernels, "add_up", args, stream) == 0
    if written in (16, "copied", "filled"):
        host.ok("aclrtSynchronizeStream", stream)
        host.clean()
        return
    host.fails(RT_VECTOR_CORE_EXCEPTION, "aclrtSynchronizeStream", stream)
    (found,) = host.findings()
    assert (found["kind"], found["buffer"]) == ("undefined-read", "argument 0")
    assert found["begin"] == (written if isinstance(written, int) else 0)
    source = (PROGRAMS / "host_kernels.cpp").read_text().splitlines()
    line = next(i for i, text in enumerate(source, 1) if "READ" in text)
    assert (Path(found["at"]["file"]).name, found["at"]["line"]) == ("host_kernels.cpp", line)


def test_what_a_kernel_wrote_by_pointer_is_written(host: Host, misuse_kernels: ctypes.CDLL) -> None:
    values, total, count, offset = (host.malloc(n) for n in (4, 4, 8, 8))
    host.write(count, (1).to_bytes(8, "little"))
    host.write(offset, bytes(8))
    assert launch(host, misuse_kernels, "poke", [(values, 4), (offset, 8)], None) == 0
    args = [(values, 4), (total, 4), (count, 8)]
    assert launch(host, misuse_kernels, "add_up", args, None) == 0
    host.ok("aclrtSynchronizeStream", None)
    host.clean()


@pytest.mark.parametrize("how", ["contiguous", "strided"])
def test_an_operator_on_an_input_that_nothing_has_written(host: Host, how: str) -> None:
    """A copy that makes the input contiguous does not make it written."""
    bench = Bench(host.device)
    unwritten = host.device.buffer(bench.grad.nbytes)
    desc = TensorDesc(SHAPE)
    if how == "strided":
        desc = TensorDesc(SHAPE, strides=(1, SHAPE[0]), storage=(SHAPE[1], SHAPE[0]))
    bench.tensors["gradOutput"] = host.device.tensor(desc, unwritten.address)
    with pytest.raises(AclnnError):
        bench.run(bench.plan())
    found = host.findings()
    assert {f["kind"] for f in found} == {"undefined-read"}, found
    assert "grad_softmax from byte 0" in found[0]["detail"] and found[0]["buffer"] == "grad_softmax"
    assert "op_kernel/" in found[0]["at"]["file"] and found[0]["at"]["line"] > 0
    unwritten.write(np.ascontiguousarray(bench.grad.T if how == "strided" else bench.grad))
    host.lib.aclsimClearFindings()
    bench.run(bench.plan())
    bench.check()
    host.clean()


def test_fast_mode_lists_nothing_and_keeps_no_book(host: Host, misuse_kernels: ctypes.CDLL) -> None:
    """Codes are the same. What was written meanwhile is not held against the program later."""
    host.device.set_option("mode", "fast")
    values, total, count = (host.malloc(n) for n in (4, 4, 8))
    host.fails(RT_PARAM_INVALID, "aclrtMemcpy", values, 8, bytes(8), 8, H2D)
    host.write(values, bytes(4))
    host.write(count, (1).to_bytes(8, "little"))
    host.clean()
    host.device.set_option("mode", "checked")
    args = [(values, 4), (total, 4), (count, 8)]
    assert launch(host, misuse_kernels, "add_up", args, None) == 0
    host.ok("aclrtSynchronizeStream", None)
    assert host.read(total, 4) == bytes(4)
    host.clean()
    for block in (values, total, count):
        host.ok("aclrtFree", block)


@pytest.mark.no_thread_sanitizer("its notes on each byte are resident too")
def test_the_book_of_writes_is_an_eighth(toolkit: Path) -> None:
    """A bit per byte, and only for what was written."""
    code = """
def resident(): return int(open('/proc/self/statm').read().split()[1]) * 4096
lib.aclInit(None); lib.aclrtSetDevice(0)
size = 64 << 20
before = resident()
lib.aclrtMalloc(ctypes.byref(p), ctypes.c_size_t(size), 0)
made = resident() - before - size
lib.aclrtMemset(p, ctypes.c_size_t(size), 0, ctypes.c_size_t(size))
print(made, resident() - before - size)
lib.aclrtFree(p); lib.aclrtResetDevice(0); lib.aclFinalize()
print(resident() - before)
"""
    done = in_process(toolkit / "lib64" / "libascendcl.so", code)
    made, written, freed = map(int, done.stdout.split())
    # Huge pages of the host round up.
    assert made < 8 << 20 and freed < 8 << 20, done.stdout + done.stderr
    assert written - made < 9 << 20, done.stdout


# What is left at the end ---------------------------------------------------------------------


@pytest.fixture(scope="session")
def program(toolkit: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A C++ program with debug information."""
    target = tmp_path_factory.mktemp("misuse") / "program"
    command = ["g++", "-std=c++17", "-g", "-Wall", "-Wextra", "-Werror", f"-I{toolkit}/include"]
    command += [str(PROGRAMS / "host_misuse.cpp"), "-o", str(target), f"-L{toolkit}/lib64"]
    command += ["-lascendcl", "-lnnopbase", f"-Wl,-rpath,{toolkit}/lib64"]
    subprocess.run(command, check=True)
    return target


def line_of(mark: str) -> tuple[str, int]:
    """Where the program has this mark."""
    source = (PROGRAMS / "host_misuse.cpp").read_text().splitlines()
    return "host_misuse.cpp", next(
        i for i, text in enumerate(source, 1) if text.endswith(f"// {mark}")
    )


def place(end: dict[str, Any]) -> tuple[str, int]:
    """Where an end of a finding is."""
    return Path(end["file"]).name, end["line"]


@pytest.mark.parametrize(
    ("what", "kind"),
    [("unsynchronised", "host-unsynchronised"), ("free", "host-use-after-free")],
)
def test_the_line_of_a_program(program: Path, what: str, kind: str) -> None:
    done = subprocess.run([program, what], capture_output=True, text=True, timeout=600, check=True)
    found = next(f for f in json.loads(done.stdout) if f["kind"] == kind)
    assert place(found["at"]) == line_of("MISTAKE " + what)
    if what == "unsynchronised":
        assert place(found["related"][0]) == line_of("WRITE")


def test_leaks(program: Path) -> None:
    done = subprocess.run(
        [program, "leak"], capture_output=True, text=True, timeout=600, check=True
    )
    found = json.loads(done.stdout)
    assert {f["kind"] for f in found} == {"host-leak"}
    assert {f["buffer"]: place(f["related"][0]) for f in found} == {
        "device block(s) of 256 bytes": line_of("MALLOC"),
        "stream(s)": line_of("STREAM"),
        "aclTensor(s)": line_of("TENSOR"),
    }
    assert {place(f["at"]) for f in found} == {line_of("FINALIZE")}
    first = done.stderr.splitlines()[0]
    assert "1 device block(s) of 256 bytes, 1 stream(s), 1 aclTensor(s)" in first
    assert f"made at {PROGRAMS}/host_misuse.cpp:{line_of('TENSOR')[1]}" in done.stderr
