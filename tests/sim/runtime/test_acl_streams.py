# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: F401, F811 - fixtures are imported by name
"""The ACL runtime of the simulator: streams, events, errors, options, programs that end badly."""

from __future__ import annotations

import ctypes
import json
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from acl_harness import (
    D2D,
    D2H,
    H2D,
    H2H,
    HOST_FUNC,
    INVALID_PARAM,
    RT_FEATURE_NOT_SUPPORT,
    RT_INVALID_HANDLE,
    RT_PARAM_INVALID,
    RT_STREAM_NO_CB_REG,
    RT_STREAM_SYNC_TIMEOUT,
    RT_TIMESTAMP_INVALID,
    RT_VECTOR_CORE_EXCEPTION,
    Acl,
    acl,
    compiled,
    kernels,
    launch,
    library,
    sleeping,
)

pytestmark = pytest.mark.sanitized

JUNK = 0x1234567890


def busy(acl: Acl, stream: int) -> bool:
    """Whether the stream still has work."""
    status = ctypes.c_int(-1)
    acl.ok("aclrtStreamQuery", stream, ctypes.byref(status))
    return status.value == 1


# Streams -------------------------------------------------------------------------------------


def test_a_launch_is_asynchronous_and_synchronize_waits(acl: Acl, kernels: ctypes.CDLL) -> None:
    """A kernel of 200 ms: the launch returns at once, the copy behind it sees its result."""
    stream = acl.pointer("aclrtCreateStream")
    byte, copy = acl.malloc(1), acl.malloc(1)
    acl.write(byte, b"\x05")
    start = time.monotonic()
    with sleeping(kernels):
        assert launch(acl, kernels, "acl_test_sleep", [byte], stream) == 0
        assert launch(acl, kernels, "acl_test_increment", [byte], stream) == 0
        acl.ok("aclrtMemcpyAsync", copy, 1, byte, 1, D2D, stream)
        assert busy(acl, stream)
        timeout = acl.fails(RT_STREAM_SYNC_TIMEOUT, "aclrtSynchronizeStreamWithTimeout", stream, 10)
    assert "10 ms" in timeout
    acl.ok("aclrtSynchronizeStream", stream)
    assert time.monotonic() - start >= 0.2
    assert not busy(acl, stream)
    assert acl.read(copy, 1) == b"\x06"
    acl.ok("aclrtDestroyStream", stream)


def test_order_within_a_stream(acl: Acl) -> None:
    """A thousand fills run in the order in which they were issued, on the default stream too."""
    for stream in (None, acl.pointer("aclrtCreateStream")):
        block = acl.malloc(1 << 16)
        for i in range(1000):
            acl.ok("aclrtMemsetAsync", block, 1 << 16, i % 251, 1 << 16, stream)
        acl.ok("aclrtSynchronizeStream", stream)
        assert acl.read(block, 1 << 16) == bytes([999 % 251]) * (1 << 16)


def test_streams_run_side_by_side(acl: Acl) -> None:
    """A task that waits for a task of another stream only ends if both run at once."""
    barrier = threading.Barrier(2, timeout=600)
    passed: list[int] = []

    def meet(_: object) -> None:
        passed.append(barrier.wait())

    function = HOST_FUNC(meet)
    streams = [acl.pointer("aclrtCreateStream") for _ in range(2)]
    for stream in streams:
        acl.ok("aclrtLaunchHostFunc", stream, function, None)
    acl.ok("aclrtSynchronizeDevice")
    assert sorted(passed) == [0, 1]


def test_copies_from_pageable_memory_may_be_overwritten(acl: Acl, kernels: ctypes.CDLL) -> None:
    """The call returns when the source is read; ordering with the stream's work holds."""
    stream = acl.pointer("aclrtCreateStream")
    byte, block = acl.malloc(1), acl.malloc(8)
    host = ctypes.create_string_buffer(b"original", 8)
    start = time.monotonic()
    assert launch(acl, kernels, "acl_test_sleep", [byte], stream) == 0
    acl.ok("aclrtMemcpyAsync", block, 8, host, 8, H2D, stream)
    assert time.monotonic() - start >= 0.2
    host.raw = b"changed!"
    acl.ok("aclrtSynchronizeStream", stream)
    assert acl.read(block, 8) == b"original"


def test_copies_from_pinned_memory_do_not_wait(acl: Acl, kernels: ctypes.CDLL) -> None:
    """They are asynchronous, and memory that is freed before the copy has run is still read."""
    stream = acl.pointer("aclrtCreateStream")
    size = 1 << 20
    byte, block = acl.malloc(1), acl.malloc(size)
    pinned = acl.pointer("aclrtMallocHost", size)
    ctypes.memset(pinned, 0x55, size)
    with sleeping(kernels):
        assert launch(acl, kernels, "acl_test_sleep", [byte], stream) == 0
        acl.ok("aclrtMemcpyAsync", block, size, pinned, size, H2D, stream)
        acl.ok("aclrtFreeHost", pinned)
        ctypes.memset(acl.pointer("aclrtMallocHost", size), 0xAA, size)
        assert busy(acl, stream)
    acl.ok("aclrtSynchronizeStream", stream)
    assert acl.read(block, size) == b"\x55" * size
    host = ctypes.create_string_buffer(8)
    acl.fails(RT_FEATURE_NOT_SUPPORT, "aclrtMemcpyAsync", host, 8, host, 8, H2H, stream)
    acl.fails(RT_PARAM_INVALID, "aclrtMemcpyAsync", host, 8, host, 8, D2H, stream)


def test_errors_are_sticky(
    acl: Acl, kernels: ctypes.CDLL, capfd: pytest.CaptureFixture[str]
) -> None:
    """A failed kernel stops its stream, is printed once, and is reported by every synchronise."""
    bad, good = (acl.pointer("aclrtCreateStream") for _ in range(2))
    byte = acl.malloc(1)
    acl.write(byte, b"\x00")
    assert launch(acl, kernels, "acl_test_fail", [byte], bad) == 0
    assert launch(acl, kernels, "acl_test_increment", [byte], bad) == 0
    for _ in range(2):
        text = acl.fails(RT_VECTOR_CORE_EXCEPTION, "aclrtSynchronizeStream", bad)
        assert "acl_test_fail" in text and "planted failure" in text
    printed = capfd.readouterr().err
    assert printed.startswith("aclgrad: ") and printed.count("planted failure") == 1
    assert acl.read(byte, 1) == b"\x00"
    acl.fails(RT_VECTOR_CORE_EXCEPTION, "aclrtSynchronizeDevice")
    assert launch(acl, kernels, "acl_test_increment", [byte], good) == 0
    acl.ok("aclrtSynchronizeStream", good)
    assert acl.read(byte, 1) == b"\x01"
    acl.ok("aclrtDestroyStream", bad)


def test_a_kernel_may_throw_anything(acl: Acl, kernels: ctypes.CDLL) -> None:
    """What is no std::exception is the launch's failure, too, and not the process's end."""
    stream = acl.pointer("aclrtCreateStream")
    assert launch(acl, kernels, "acl_test_throw", [acl.malloc(1)], stream) == 0
    text = acl.fails(RT_VECTOR_CORE_EXCEPTION, "aclrtSynchronizeStream", stream)
    assert "acl_test_throw" in text and "int" in text
    acl.ok("aclrtDestroyStream", stream)


def test_kernels_take_up_to_48_arguments(acl: Acl, kernels: ctypes.CDLL) -> None:
    """All are passed, whatever the kernel declares; one more is refused before it runs."""
    stream = acl.pointer("aclrtCreateStream")
    byte = acl.malloc(1)
    acl.write(byte, b"\x00")
    assert launch(acl, kernels, "acl_test_increment", [byte] * 48, stream) == 0
    acl.ok("aclrtSynchronizeStream", stream)
    assert launch(acl, kernels, "acl_test_increment", [byte] * 49, stream) == 0
    text = acl.fails(RT_VECTOR_CORE_EXCEPTION, "aclrtSynchronizeStream", stream)
    assert "49 arguments, at most 48" in text
    assert acl.read(byte, 1) == b"\x01"
    acl.ok("aclrtDestroyStream", stream)


def test_a_block_freed_under_a_stream_is_named(acl: Acl, kernels: ctypes.CDLL) -> None:
    """The kernel was issued before the free and runs after it."""
    for task in ("kernel", "copy", "fill"):
        stream = acl.pointer("aclrtCreateStream")
        byte, freed = acl.malloc(1), acl.malloc(16)
        with sleeping(kernels):
            assert launch(acl, kernels, "acl_test_sleep", [byte], stream) == 0
            if task == "kernel":
                assert launch(acl, kernels, "acl_test_increment", [freed], stream) == 0
            elif task == "copy":
                acl.ok("aclrtMemcpyAsync", byte, 1, freed, 1, D2D, stream)
            else:
                acl.ok("aclrtMemsetAsync", freed, 16, 0, 16, stream)
            acl.ok("aclrtFree", freed)
        text = acl.fails(RT_PARAM_INVALID, "aclrtSynchronizeStream", stream)
        assert "16 bytes that was freed by aclrtFree" in text


def test_destroy_waits_and_force_does_not(acl: Acl) -> None:
    """Destroying runs what was issued; with force, what has not begun is dropped."""
    runs: list[int] = []

    def task(_: object) -> None:
        time.sleep(0.02)
        runs.append(1)

    function = HOST_FUNC(task)
    for name, count in (("aclrtDestroyStream", 10), ("aclrtDestroyStreamForce", 3000)):
        runs.clear()
        stream = acl.pointer("aclrtCreateStream")
        for _ in range(count):
            acl.ok("aclrtLaunchHostFunc", stream, function, None)
        acl.ok(name, stream)
        assert (len(runs) == count) == (name == "aclrtDestroyStream"), (name, len(runs))


def test_unknown_handles(acl: Acl) -> None:
    """Destroyed handles, handles of another kind and junk are errors of every function."""
    stream, event = acl.pointer("aclrtCreateStream"), acl.pointer("aclrtCreateEvent")
    dead = acl.pointer("aclrtCreateStream")
    dead_event = acl.pointer("aclrtCreateEvent")
    acl.ok("aclrtDestroyStream", dead)
    acl.ok("aclrtDestroyEvent", dead_event)
    block = acl.malloc(8)
    status = ctypes.byref(ctypes.c_int())
    for wrong, text in ((dead, "was destroyed"), (event, "is an event"), (JUNK, "is not a stream")):
        for name, args in {
            "aclrtSynchronizeStream": (wrong,),
            "aclrtDestroyStream": (wrong,),
            "aclrtDestroyStreamForce": (wrong,),
            "aclrtStreamQuery": (wrong, status),
            "aclrtRecordEvent": (event, wrong),
            "aclrtStreamWaitEvent": (wrong, event),
            "aclrtMemsetAsync": (block, 8, 0, 8, wrong),
            "aclrtMemcpyAsync": (block, 8, block, 8, D2D, wrong),
        }.items():
            assert text in acl.fails(RT_INVALID_HANDLE, name, *args)
    for wrong, text in (
        (dead_event, "was destroyed"),
        (stream, "is a stream"),
        (JUNK, "is not an event"),
    ):
        for name, args in {
            "aclrtDestroyEvent": (wrong,),
            "aclrtRecordEvent": (wrong, stream),
            "aclrtStreamWaitEvent": (stream, wrong),
            "aclrtSynchronizeEvent": (wrong,),
            "aclrtQueryEventStatus": (wrong, status),
            "aclrtEventElapsedTime": (ctypes.byref(ctypes.c_float()), wrong, event),
        }.items():
            assert text in acl.fails(RT_INVALID_HANDLE, name, *args)
    acl.fails(INVALID_PARAM, "aclrtDestroyStream", None)
    acl.fails(INVALID_PARAM, "aclrtDestroyEvent", None)


# Events --------------------------------------------------------------------------------------


def test_event_orders_two_streams(acl: Acl, kernels: ctypes.CDLL) -> None:
    """The second stream copies what the first one writes 200 ms later."""
    first, second = (acl.pointer("aclrtCreateStream") for _ in range(2))
    event = acl.pointer("aclrtCreateEvent")
    byte, copy = acl.malloc(1), acl.malloc(1)
    acl.write(byte, b"\x01")
    with sleeping(kernels):
        assert launch(acl, kernels, "acl_test_sleep", [byte], first) == 0
        assert launch(acl, kernels, "acl_test_increment", [byte], first) == 0
        acl.ok("aclrtRecordEvent", event, first)
        acl.ok("aclrtStreamWaitEvent", second, event)
        acl.ok("aclrtMemcpyAsync", copy, 1, byte, 1, D2D, second)
        status = ctypes.c_int(-1)
        acl.ok("aclrtQueryEventStatus", event, ctypes.byref(status))
        assert status.value == 0
        acl.ok("aclrtDestroyEvent", event)
    acl.ok("aclrtSynchronizeStream", second)
    assert acl.read(copy, 1) == b"\x02"


def test_event_times(acl: Acl, kernels: ctypes.CDLL) -> None:
    """200 ms lie between the records; no time without a record or without the flag."""
    start, end, flagged = (
        acl.pointer("aclrtCreateEvent"),
        acl.pointer("aclrtCreateEventWithFlag", 8),
        acl.pointer("aclrtCreateEventWithFlag", 1),
    )
    ms = ctypes.c_float()
    byte = acl.malloc(1)
    name = "aclrtEventElapsedTime"
    acl.fails(RT_TIMESTAMP_INVALID, name, ctypes.byref(ms), start, end)
    acl.ok("aclrtRecordEvent", start, None)
    with sleeping(kernels):
        assert launch(acl, kernels, "acl_test_sleep", [byte], None) == 0
        acl.ok("aclrtRecordEvent", end, None)
        acl.fails(RT_TIMESTAMP_INVALID, name, ctypes.byref(ms), start, end)
        acl.fails(507047, "aclrtSynchronizeEventWithTimeout", end, 5)
    acl.ok("aclrtSynchronizeEvent", end)
    acl.ok(name, ctypes.byref(ms), start, end)
    assert 200 <= ms.value < 60000
    acl.ok("aclrtRecordEvent", flagged, None)
    acl.ok("aclrtSynchronizeEvent", flagged)
    acl.fails(RT_TIMESTAMP_INVALID, name, ctypes.byref(ms), start, flagged)
    for flag in (0, 0x100):
        acl.fails(
            RT_PARAM_INVALID, "aclrtCreateEventWithFlag", ctypes.byref(ctypes.c_void_p()), flag
        )


def test_event_reset(acl: Acl) -> None:
    """A reset makes an event unrecorded again; only ACL_EVENT_SYNC events can be reset."""
    status = ctypes.c_int(-1)
    event = acl.pointer("aclrtCreateEventWithFlag", 1)
    for name, want in (("aclrtRecordEvent", 1), ("aclrtResetEvent", 0)):
        acl.ok(name, event, None)
        acl.ok("aclrtSynchronizeStream", None)
        acl.ok("aclrtQueryEventStatus", event, ctypes.byref(status))
        assert status.value == want
    acl.ok("aclrtSynchronizeEvent", event)
    acl.fails(RT_PARAM_INVALID, "aclrtResetEvent", acl.pointer("aclrtCreateEvent"), None)


def test_a_failure_reaches_streams_that_wait(acl: Acl, kernels: ctypes.CDLL) -> None:
    """Waiting for an event of a failed stream fails too, instead of using data never made."""
    bad, waiting = (acl.pointer("aclrtCreateStream") for _ in range(2))
    event = acl.pointer("aclrtCreateEvent")
    byte = acl.malloc(1)
    assert launch(acl, kernels, "acl_test_fail", [byte], bad) == 0
    acl.ok("aclrtRecordEvent", event, bad)
    acl.ok("aclrtStreamWaitEvent", waiting, event)
    text = acl.fails(RT_VECTOR_CORE_EXCEPTION, "aclrtSynchronizeStream", waiting)
    assert "waits for event" in text and "planted failure" in text
    acl.fails(RT_VECTOR_CORE_EXCEPTION, "aclrtSynchronizeEvent", event)


def test_callbacks_run_on_the_subscribed_thread(acl: Acl) -> None:
    """In order, on the thread that subscribed; nothing without a subscription."""
    stream = acl.pointer("aclrtCreateStream")
    ran: list[tuple[int, int]] = []
    function = HOST_FUNC(lambda data: ran.append((int(data or 0), threading.get_ident())))
    acl.fails(RT_STREAM_NO_CB_REG, "aclrtLaunchCallback", function, 1, 0, stream)
    stop = threading.Event()

    def serve() -> None:
        while not stop.is_set():
            acl.call("aclrtProcessReport", 20)

    thread = threading.Thread(target=serve)
    thread.start()
    assert thread.ident is not None
    acl.ok("aclrtSubscribeReport", thread.ident, stream)
    for i in range(1, 6):
        acl.ok("aclrtLaunchCallback", function, i, 1, stream)
    acl.ok("aclrtSynchronizeStream", stream)
    assert ran == [(i, thread.ident) for i in range(1, 6)]
    acl.ok("aclrtUnSubscribeReport", thread.ident, stream)
    stop.set()
    thread.join()


# Errors, options, facts ----------------------------------------------------------------------


def test_error_text_is_per_thread_and_read_once(acl: Acl) -> None:
    """The newest message comes first, reading clears, another thread has its own."""
    acl.call("aclrtFree", None)
    acl.call("aclrtCreateStream", None)
    other: list[str] = []
    thread = threading.Thread(target=lambda: other.append(acl.message()))
    thread.start()
    thread.join()
    lines = acl.message().splitlines()
    assert [line.split(":")[0] for line in lines] == ["aclrtCreateStream", "aclrtFree"]
    assert acl.message() == "" and other == [""]
    acl.call("aclrtSetDevice", 5)
    codes = [acl.call("aclrtPeekAtLastError", 0), acl.call("aclrtGetLastError", 0)]
    assert codes == [107001, 107001] and acl.call("aclrtGetLastError", 0) == 0


def test_options(acl: Acl, kernels: ctypes.CDLL) -> None:
    """Set, read back, refuse what is wrong, and refuse while a stream works."""
    for name, value in {"threads": "2", "cores": "3", "mode": "fast", "soc": "Ascend310P3"}.items():
        acl.ok("aclsimSetOption", name.encode(), value.encode())
        assert acl.option(name) == value
    acl.ok("aclsimSetOption", b"soc", b"Ascend910B2")
    acl.ok("aclsimSetOption", b"cores", b"0")
    acl.ok("aclsimSetOption", b"threads", b"0")
    assert acl.option("cores") == "48"
    wrong = {"cores": "49", "threads": "x", "mode": "", "soc": "Ascend910B9", "speed": "1"}
    for name, value in wrong.items():
        acl.fails(INVALID_PARAM, "aclsimSetOption", name.encode(), value.encode())
    acl.fails(INVALID_PARAM, "aclsimSetOption", None, b"1")
    assert acl.lib.aclsimGetOption(b"speed") is None
    with sleeping(kernels):
        assert launch(acl, kernels, "acl_test_sleep", [acl.malloc(1)], None) == 0
        assert "stream has work" in acl.fails(INVALID_PARAM, "aclsimSetOption", b"mode", b"checked")
    acl.ok("aclrtSynchronizeDevice")


def test_soc_facts(acl: Acl) -> None:
    """All 61 SoCs, with the facts that differ between architectures."""
    names = json.loads(acl.lib.aclsimSocNames())
    assert len(names) == len(set(names)) == 61
    socs = {name: json.loads(acl.lib.aclsimSocJson(name.encode())) for name in names}
    assert json.loads(acl.lib.aclsimSocJson(None)) == socs["Ascend910B2"]
    assert socs["Ascend910B2"] == {
        "name": "Ascend910B2", "shortName": "Ascend910B", "npuArch": 2201, "cceAicore": 220,
        "aicCores": 24, "aivCores": 48, "vecFreqMhz": 1800, "ubBytes": 196352,
        "ubTilingBytes": 196352, "l1Bytes": 524288, "l0aBytes": 65536, "l0cBytes": 131072,
        "l2Bytes": 201326592, "memBytes": 68719476736, "dataCopyPad": True, "bf16": True,
    }  # fmt: skip
    assert (socs["Ascend310P1"]["aivCores"], socs["Ascend910A"]["aivCores"]) == (10, 32)
    assert socs["Ascend910A"]["memBytes"] is None
    for soc in socs.values():
        has_pad = soc["npuArch"] in (2201, 3002, 3510)
        assert soc["dataCopyPad"] is has_pad and soc["bf16"] is has_pad, soc["name"]
    assert acl.lib.aclsimSocJson(b"Ascend1") is None and "near matches" in acl.message()


def test_headers_are_valid_c(toolkit: Path, tmp_path: Path) -> None:
    """C99 without extensions and C++17 take every public header alone."""
    for header in ["acl.h", "acl_base.h", "acl_base_rt.h", "acl_rt.h", "acl_op.h", "acl_mdl.h"]:
        source = tmp_path / "header.c"
        source.write_text(f'#include "acl/{header}"\nint main(void) {{ return ACL_SUCCESS; }}\n')
        for language in (["-x", "c", "-std=c99"], ["-x", "c++", "-std=c++17"]):
            flags = ["-Wall", "-Wextra", "-pedantic", "-Werror", "-fsyntax-only"]
            subprocess.run(
                ["g++", *flags, f"-I{toolkit}/include", *language, str(source)], check=True
            )


def test_launch_arguments_and_counts(acl: Acl, kernels: ctypes.CDLL) -> None:
    """A launch is refused with the argument's name; the counters count launches."""
    host = ctypes.addressof(ctypes.create_string_buffer(8))
    assert launch(acl, kernels, "acl_test_increment", [host], None) == INVALID_PARAM
    assert "argument 0" in acl.message()
    byte = acl.malloc(1)
    for entry, block_dim in ((1, 1), (None, 1)):
        acl.fails(
            INVALID_PARAM, "aclsimLaunchKernel", b"k", entry, block_dim, 0, None, None, 0, None
        )
    kernel = ctypes.cast(kernels.acl_test_increment, ctypes.c_void_p)
    acl.fails(INVALID_PARAM, "aclsimLaunchKernel", b"k", kernel, 0, 0, None, None, 0, None)
    acl.lib.aclsimResetStats()
    for _ in range(3):
        assert launch(acl, kernels, "acl_test_increment", [byte], None) == 0
    acl.ok("aclrtSynchronizeStream", None)
    stats = (ctypes.c_uint64 * 7)()
    acl.lib.aclsimGetStats(ctypes.byref(stats))
    assert stats[0] == 3 and stats[5] > 0 and stats[6] == 1


@pytest.mark.parametrize(
    ("value", "bits"),
    [
        (1.0, 0x3C00), (-2.0, 0xC000), (65504.0, 0x7BFF), (65519.0, 0x7BFF), (1e9, 0x7BFF),
        (float("-inf"), 0xFBFF), (float("nan"), 0x7BFF), (2.0**-24, 1), (2.0**-25, 0),
        (2.0**-14, 0x0400), (1 + 2.0**-11, 0x3C00), (1 + 3 * 2.0**-11, 0x3C02), (-0.0, 0x8000),
        (2047.0 / 2048.0 * 2.0**-14, 0x0400), (1023 * 2.0**-24, 0x03FF),
    ],
)  # fmt: skip
def test_fp16_rounds_to_even_and_saturates(acl: Acl, value: float, bits: int) -> None:
    """CANN's conversion knows no infinity."""
    assert acl.lib.aclFloatToFloat16(value) == bits
    back = acl.lib.aclFloat16ToFloat(bits)
    assert acl.lib.aclFloatToFloat16(back) == bits


# Programs that end badly ---------------------------------------------------------------------


@pytest.mark.parametrize("what", ["live", "freed"])
@pytest.mark.parametrize("handler", ["", "handler"])
def test_host_dereference(compiled: Callable[..., Path], what: str, handler: str) -> None:
    """The message names block and address; then the process dies, or the program's handler runs."""
    program = compiled("acl_host_dereference")
    done = subprocess.run(
        [program, what, handler], capture_output=True, text=True, timeout=600, check=False
    )
    address = done.stdout.strip()
    assert f"host code accessed device memory: {address} is byte 100 of the device" in done.stderr
    assert "4096 bytes" in done.stderr and "aclrtMemcpy" in done.stderr
    assert ("freed by aclrtFree" in done.stderr) == (what == "freed")
    assert done.returncode == (3 if handler else -signal.SIGSEGV)
    assert ("own handler ran" in done.stderr) == bool(handler)


@pytest.mark.parametrize(("handler", "code"), [("", -signal.SIGSEGV), ("handler", 3)])
def test_other_faults_are_left_alone(
    compiled: Callable[..., Path], handler: str, code: int
) -> None:
    """A fault that has nothing to do with the device goes where it went before aclInit."""
    program = compiled("acl_host_dereference")
    done = subprocess.run(
        [program, "other", handler], capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == code
    assert "aclgrad" not in done.stderr


@pytest.mark.parametrize("how", ["exit", "return", "callback", "fork"])
def test_a_process_may_end_at_any_time(compiled: Callable[..., Path], how: str) -> None:
    """Twenty minutes of queued work neither hold the process up nor crash it."""
    program = compiled("acl_process_end")
    done = subprocess.run([program, how], capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(("what", "says"), [(0, "std::runtime_error: no file"), (1, "int")])
@pytest.mark.parametrize(("how", "codes"), [("host", "0 507000 "), ("callback", "500000 507000 ")])
def test_an_exception_of_a_host_function_is_the_streams_failure(
    compiled: Callable[..., Path], how: str, codes: str, what: int, says: str
) -> None:
    """Of any type. Before, most ended the process, and a blocking callback held its stream for
    ever.
    """
    program = compiled("host_exceptions")
    done = subprocess.run(
        [program, how, str(what)], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(codes), done.stdout
    assert f" was given threw {says}; " in done.stdout and "Next: catch it" in done.stdout
