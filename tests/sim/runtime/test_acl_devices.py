# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: F401, F811 - fixtures are imported by name
"""Several devices, switches and limits, and what streams wait for."""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from acl_harness import (
    D2D,
    H2D,
    INVALID_PARAM,
    RT_CONTEXT_NULL,
    RT_FEATURE_NOT_SUPPORT,
    RT_INVALID_DEVICE,
    RT_MEMORY_ALLOCATION,
    RT_PARAM_INVALID,
    RT_STREAM_CONTEXT,
    RT_STREAM_SYNC_TIMEOUT,
    Acl,
    acl,
    compiled,
    in_process,
    kernels,
    launch,
    library,
    sleeping,
)

PARAMETER_NOT_SET = 107021
SPEC_NOT_FOUND = 0x071A0001
CUBE, VECTOR = 0, 1


@pytest.fixture
def eight(acl: Acl, monkeypatch: pytest.MonkeyPatch) -> Iterator[Acl]:
    """The same runtime with eight devices; device 0 is in use."""
    monkeypatch.setenv("ACLGRAD_DEVICES", "8")
    yield acl
    for device in range(1, 8):
        active = ctypes.c_int32()
        acl.ok("aclrtGetPrimaryCtxState", device, None, ctypes.byref(active))
        if active.value:
            acl.ok("aclrtResetDeviceForce", device)
    acl.ok("aclrtSetDevice", 0)


def number(acl: Acl, name: str, *args: object) -> int:
    """What a function writes to its last argument."""
    value = ctypes.c_int64()
    acl.ok(name, *args, ctypes.byref(value))
    return value.value


def test_devices_are_beside_one_another(eight: Acl) -> None:
    """Each has its memory, its streams and its context; copies go between them."""
    assert number(eight, "aclrtGetDeviceCount") == 8
    first = eight.malloc(64)
    eight.write(first, b"a" * 64)
    used = [ctypes.c_size_t(), ctypes.c_size_t()]

    def free() -> int:
        eight.ok("aclrtGetMemInfo", 1, ctypes.byref(used[0]), ctypes.byref(used[1]))
        return used[1].value - used[0].value

    assert free() >= 64
    stream = eight.pointer("aclrtCreateStream")
    eight.ok("aclrtSetDevice", 3)
    assert number(eight, "aclrtGetDevice") & 0xFFFFFFFF == 3
    assert free() == 0
    second = eight.malloc(64)
    eight.ok("aclrtMemcpy", second, 64, first, 64, D2D)
    assert eight.read(second, 64) == b"a" * 64
    assert "belongs to context" in eight.fails(RT_STREAM_CONTEXT, "aclrtSynchronizeStream", stream)
    eight.ok("aclrtResetDeviceForce", 3)
    eight.ok("aclrtSetDevice", 0)
    assert eight.read(first, 64) == b"a" * 64
    assert "was freed by aclrtResetDevice" in eight.fails(RT_PARAM_INVALID, "aclrtFree", second)
    eight.ok("aclrtDestroyStream", stream)
    eight.ok("aclrtFree", first)


def test_each_device_has_its_own_memory_to_run_out_of(eight: Acl) -> None:
    """What one has taken, another still has."""
    eight.ok("aclsimSetOption", b"mode", b"fast")
    free, total = ctypes.c_size_t(), ctypes.c_size_t()
    eight.ok("aclrtGetMemInfo", 1, ctypes.byref(free), ctypes.byref(total))
    most = eight.malloc(free.value)
    block = ctypes.c_void_p()
    assert "out of device memory" in eight.fails(
        RT_MEMORY_ALLOCATION, "aclrtMalloc", ctypes.byref(block), total.value // 2, 0
    )
    eight.ok("aclrtSetDevice", 1)
    eight.ok("aclrtFree", eight.malloc(total.value // 2))
    eight.ok("aclrtFree", most)


def test_devices_that_do_not_exist(eight: Acl, library: Path) -> None:
    """The message says which there are; a number that is none fails at the start."""
    text = eight.fails(RT_INVALID_DEVICE, "aclrtSetDevice", 8)
    assert "devices 0 to 7" in text and "ACLGRAD_DEVICES=8" in text
    for wrong in ("0", "65", "two", "-1"):
        done = in_process(library, "print(lib.aclInit(None), err())", ACLGRAD_DEVICES=wrong)
        assert done.stdout.startswith("100000") and "1 to 64" in done.stdout, done.stdout


def test_peers_and_names_of_devices(eight: Acl) -> None:
    """Every device reaches every other one; what is not enabled cannot be disabled."""
    eight.ok("aclrtSetDevice", 0)
    can = ctypes.c_int32()
    eight.ok("aclrtDeviceCanAccessPeer", ctypes.byref(can), 0, 1)
    assert can.value == 1
    eight.ok("aclrtDeviceCanAccessPeer", ctypes.byref(can), 2, 2)
    assert can.value == 0
    eight.fails(RT_INVALID_DEVICE, "aclrtDeviceCanAccessPeer", ctypes.byref(can), 0, 9)
    assert "not enabled" in eight.fails(RT_PARAM_INVALID, "aclrtDeviceDisablePeerAccess", 1)
    eight.ok("aclrtDeviceEnablePeerAccess", 1, 0)
    eight.ok("aclrtDeviceDisablePeerAccess", 1)
    eight.fails(INVALID_PARAM, "aclrtDeviceEnablePeerAccess", 1, 5)
    eight.fails(RT_INVALID_DEVICE, "aclrtDeviceEnablePeerAccess", 0, 0)
    names = []
    for device in (0, 1):
        uuid = ctypes.create_string_buffer(16)
        eight.ok("aclrtDeviceGetUuid", device, uuid)
        names.append(uuid.raw)
    assert names[0] != names[1] and names[0].startswith(b"Ascend910B")
    logical = ctypes.c_int32()
    eight.ok("aclrtGetLogicDevIdByUserDevId", 5, ctypes.byref(logical))
    assert logical.value == 5
    pid = ctypes.c_int32()
    eight.ok("aclrtDeviceGetBareTgid", ctypes.byref(pid))
    assert pid.value > 0


def test_a_thread_has_no_context_before_its_own_set_device(acl: Acl) -> None:
    """As in CANN: the primary context of a device is that of the threads that have set it."""
    seen: list[int] = []

    def work() -> None:
        seen.append(acl.call("aclrtSynchronizeDevice"))
        acl.message()
        acl.ok("aclrtSetDevice", 0)
        seen.append(acl.call("aclrtSynchronizeDevice"))
        acl.ok("aclrtResetDevice", 0)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [RT_CONTEXT_NULL, 0]


def test_limits_of_cores(acl: Acl) -> None:
    """A stream's limit counts in the threads that use it, then the device's, then all cores."""
    value = ctypes.c_uint32()

    def cores() -> int:
        acl.ok("aclrtGetResInCurrentThread", VECTOR, ctypes.byref(value))
        return value.value

    every = cores()
    acl.ok("aclrtSetDeviceResLimit", 0, VECTOR, 8)
    assert cores() == 8
    stream = acl.pointer("aclrtCreateStream")
    acl.ok("aclrtSetStreamResLimit", stream, VECTOR, 3)
    assert cores() == 8
    acl.ok("aclrtUseStreamResInCurrentThread", stream)
    assert cores() == 3 and acl.option("cores") == "3"
    acl.ok("aclrtGetStreamResLimit", stream, CUBE, ctypes.byref(value))
    acl.ok("aclrtResetStreamResLimit", stream)
    assert cores() == 8
    acl.ok("aclrtUnuseStreamResInCurrentThread", stream)
    acl.ok("aclrtResetDeviceResLimit", 0)
    assert cores() == every
    for wrong in (0, every + 1):
        text = acl.fails(RT_PARAM_INVALID, "aclrtSetDeviceResLimit", 0, VECTOR, wrong)
        assert f"1 to {every}" in text
    acl.fails(INVALID_PARAM, "aclrtSetDeviceResLimit", 0, 7, 1)
    acl.ok("aclrtDestroyStream", stream)


def test_switches_give_back_what_was_set(acl: Acl) -> None:
    """Per stream, per device, per context and for the process."""
    stream = acl.pointer("aclrtCreateStream")
    word = ctypes.c_uint32(7)
    acl.ok("aclrtGetStreamOverflowSwitch", stream, ctypes.byref(word))
    assert word.value == 0
    acl.ok("aclrtSetStreamOverflowSwitch", stream, 1)
    acl.ok("aclrtGetStreamOverflowSwitch", stream, ctypes.byref(word))
    assert word.value == 1
    acl.fails(INVALID_PARAM, "aclrtSetStreamOverflowSwitch", stream, 2)
    value = (ctypes.c_uint32 * 4)(42)
    for attribute in (3, 5):
        acl.ok("aclrtSetStreamAttribute", stream, attribute, value)
        got = (ctypes.c_uint32 * 4)()
        acl.ok("aclrtGetStreamAttribute", stream, attribute, got)
        assert got[0] == 42
    for attribute, name in ((1, "failure mode"), (2, "overflow"), (4, "operator information")):
        two, got = (ctypes.c_uint32 * 4)(2), (ctypes.c_uint32 * 4)(7, 7, 7, 7)
        assert name in acl.fails(INVALID_PARAM, "aclrtSetStreamAttribute", stream, attribute, two)
        acl.ok("aclrtGetStreamAttribute", stream, attribute, got)
        assert list(got) == [int(attribute == 2), 0 if attribute == 1 else 7, 7, 7]
    for other in (0, 6, 99, -1):
        assert "1 to 5" in acl.fails(INVALID_PARAM, "aclrtSetStreamAttribute", stream, other, value)
    for mode in (1, 0):
        acl.ok("aclrtSetDeviceSatMode", mode)
        acl.ok("aclrtGetDeviceSatMode", ctypes.byref(word))
        assert word.value == mode
    acl.fails(RT_PARAM_INVALID, "aclrtSetDeviceSatMode", 2)
    assert number(acl, "aclrtGetSysParamOpt", 1) == 0
    acl.fails(PARAMETER_NOT_SET, "aclrtCtxGetSysParamOpt", 0, ctypes.byref(ctypes.c_int64()))
    acl.ok("aclrtCtxSetSysParamOpt", 0, 1)
    assert number(acl, "aclrtCtxGetSysParamOpt", 0) == 1
    acl.ok("aclrtSetSysParamOpt", 0, 2)
    assert number(acl, "aclrtGetSysParamOpt", 0) == 2
    acl.ok("aclrtSetSysParamOpt", 0, 0)
    acl.fails(INVALID_PARAM, "aclrtSetSysParamOpt", 9, 1)
    acl.ok("aclrtDestroyStream", stream)


def test_what_the_platform_says(acl: Acl) -> None:
    """Text by section and key, as the runtime below ACL reads it from the platform's files."""
    text = ctypes.create_string_buffer(b"\x55" * 32, 32)

    def asked(label: bytes, key: bytes, most: int = 32) -> tuple[bytes, bytes, object, int]:
        return label, key, text, most

    for key, value in (("l0_a_size", 65536), ("l0_c_size", 131072), ("l1_size", 524288)):
        acl.ok("rtGetSocSpec", *asked(b"AICoreSpec", key.encode()))
        assert text.value == str(value).encode()
    acl.ok("rtGetSocSpec", *asked(b"version", b"NpuArch", 5))
    assert text.value == b"2201"
    assert "want 5" in acl.fails(
        RT_PARAM_INVALID, "rtGetSocSpec", *asked(b"version", b"NpuArch", 4)
    )
    for label, unknown in ((b"AICoreSpec", b"l9_size"), (b"nothing", b"NpuArch")):
        message = acl.fails(SPEC_NOT_FOUND, "rtGetSocSpec", *asked(label, unknown))
        assert unknown.decode() in message
    for place, name in enumerate(("label", "key", "val")):
        words: list[object] = [*asked(b"version", b"NpuArch")]
        words[place] = None
        assert f"{name} is null" in acl.fails(RT_PARAM_INVALID, "rtGetSocSpec", *words)
    assert text.value == b"2201"


def test_limits_of_time_and_versions(acl: Acl) -> None:
    """What is set is what is got; CANN's packages have a version, the driver has none."""
    actual = ctypes.c_uint64()
    acl.ok("aclrtSetOpExecuteTimeOutV2", 3_000_000, ctypes.byref(actual))
    assert actual.value == 3_000_000
    got = ctypes.c_uint32()
    acl.ok("aclrtGetOpExecuteTimeout", ctypes.byref(got))
    assert got.value == 3000
    acl.ok("aclrtSetOpExecuteTimeOut", 0)
    text = ctypes.create_string_buffer(128)
    acl.ok("aclsysGetVersionStr", b"runtime", text)
    package = ctypes.create_string_buffer(1024)
    acl.ok("aclsysGetCANNVersion", 0, package)
    assert package.value == text.value and text.value.count(b".") == 2
    assert "simulated" in acl.fails(100003, "aclsysGetVersionStr", b"driver", text)
    acl.fails(INVALID_PARAM, "aclsysGetCANNVersion", 99, package)
    number = ctypes.c_int32()
    acl.ok("aclsysGetVersionNum", b"runtime", ctypes.byref(number))
    major, minor, patch = map(int, text.value.split(b"."))
    assert number.value == major * 10_000_000 + minor * 100_000 + patch * 1_000
    assert "simulated" in acl.fails(100003, "aclsysGetVersionNum", b"driver", ctypes.byref(number))
    bf16 = ctypes.c_int32()
    acl.ok("aclGetCannAttribute", 1, ctypes.byref(bf16))
    assert bf16.value == 1
    acl.fails(INVALID_PARAM, "aclGetCannAttribute", 3, ctypes.byref(bf16))
    status, model = ctypes.c_int32(9), ctypes.c_void_p(9)
    acl.ok("aclmdlRICaptureGetInfo", None, ctypes.byref(status), ctypes.byref(model))
    assert status.value == 0 and model.value is None


@pytest.mark.plants_faults
@pytest.mark.parametrize("goes_on", [False, True])
def test_failure_mode(acl: Acl, kernels: ctypes.CDLL, goes_on: bool) -> None:
    """A stream stops at its first failure, unless the program has asked for the other mode."""
    stream = acl.pointer("aclrtCreateStream")
    acl.ok("aclrtSetStreamFailureMode", stream, 0 if goes_on else 1)
    block = acl.malloc(64)
    acl.write(block, b"a" * 64)
    gone = acl.malloc(64)
    held = acl.pointer("aclrtMallocHost", 64)
    with sleeping(kernels):
        launch(acl, kernels, "acl_test_sleep", [block], stream)
        acl.ok("aclrtMemcpyAsync", gone, 64, held, 64, H2D, stream)
        acl.call("aclrtFree", gone)
        acl.ok("aclrtMemsetAsync", block, 64, 98, 64, stream)
    assert acl.call("aclrtSynchronizeStream", stream) == RT_PARAM_INVALID
    assert acl.read(block, 1) == (b"b" if goes_on else b"a")
    again = acl.call("aclrtSynchronizeStream", stream)
    assert again == (0 if goes_on else RT_PARAM_INVALID)
    acl.ok("aclrtDeviceTaskAbort", 0, 0)
    acl.ok("aclrtMemsetAsync", block, 64, 99, 64, stream)
    acl.ok("aclrtSynchronizeStream", stream)
    assert acl.read(block, 1) == b"c"
    acl.ok("aclrtDestroyStream", stream)
    acl.ok("aclrtFreeHost", held)


def test_abort_drops_what_has_not_begun(acl: Acl, kernels: ctypes.CDLL) -> None:
    """What a stream is at ends by itself; a limit says how long that may take."""
    stream = acl.pointer("aclrtCreateStream")
    block = acl.malloc(64)
    acl.write(block, b"a" * 64)
    before = kernels.acl_test_begun()
    with sleeping(kernels):
        launch(acl, kernels, "acl_test_sleep", [block], stream)
        while kernels.acl_test_begun() == before:
            time.sleep(0.001)
        acl.ok("aclrtMemsetAsync", block, 64, 98, 64, stream)
        text = acl.fails(RT_STREAM_SYNC_TIMEOUT, "aclrtDeviceTaskAbort", 0, 50)
        assert "what it had begun" in text
    acl.ok("aclrtDeviceTaskAbort", 0, 0)
    assert acl.read(block, 1) == b"a"
    acl.fails(RT_INVALID_DEVICE, "aclrtDeviceTaskAbort", 9, 0)
    acl.ok("aclrtDestroyStream", stream)
    acl.ok("aclrtFree", block)


def test_values_that_streams_wait_for(acl: Acl) -> None:
    """A write of one stream lets another one go on; a limit ends a wait in vain."""
    one, two = acl.pointer("aclrtCreateStream"), acl.pointer("aclrtCreateStream")
    word = acl.malloc(32)
    acl.write(word, bytes(32))
    acl.ok("aclrtValueWait", word, 5, 1, one)
    status = ctypes.c_int32()
    acl.ok("aclrtStreamQuery", one, ctypes.byref(status))
    assert status.value == 1
    acl.ok("aclrtValueWrite", word, 5, 0, two)
    acl.ok("aclrtSynchronizeStream", one)
    acl.ok("aclrtSynchronizeStream", two)
    assert acl.read(word, 8) == (5).to_bytes(8, "little")
    for flag, value in ((0, 4), (1, 5), (2, 4), (3, 0)):
        acl.ok("aclrtValueWait", word, value, flag, one)
    acl.ok("aclrtSynchronizeStream", one)
    acl.fails(RT_PARAM_INVALID, "aclrtValueWait", word, 5, 4, one)
    acl.fails(RT_PARAM_INVALID, "aclrtValueWait", word + 4, 5, 1, one)
    acl.fails(RT_PARAM_INVALID, "aclrtValueWrite", word + 32, 5, 0, one)
    acl.ok("aclrtSetOpWaitTimeout", 1)
    acl.ok("aclrtValueWait", word, 6, 1, one)
    assert acl.call("aclrtSynchronizeStream", one) == RT_STREAM_SYNC_TIMEOUT
    assert "in vain for 1 seconds" in acl.message()
    acl.ok("aclrtSetOpWaitTimeout", 0)
    for stream in (one, two):
        acl.ok("aclrtDestroyStreamForce", stream)
    acl.ok("aclrtFree", word)


def test_an_event_that_nobody_reaches_in_time(acl: Acl, kernels: ctypes.CDLL) -> None:
    """The limit of waits counts for events too."""
    one, two = acl.pointer("aclrtCreateStream"), acl.pointer("aclrtCreateStream")
    event = acl.pointer("aclrtCreateEvent")
    block = acl.malloc(64)
    acl.ok("aclrtSetOpWaitTimeout", 1)
    with sleeping(kernels):
        launch(acl, kernels, "acl_test_sleep", [block], one)
        acl.ok("aclrtRecordEvent", event, one)
        acl.ok("aclrtStreamWaitEvent", two, event)
        assert acl.call("aclrtSynchronizeStream", two) == RT_STREAM_SYNC_TIMEOUT
        assert "aclrtSetOpWaitTimeout" in acl.message()
    acl.ok("aclrtSetOpWaitTimeout", 0)
    acl.ok("aclrtSynchronizeStream", one)
    for stream in (one, two):
        acl.ok("aclrtDestroyStreamForce", stream)
    acl.ok("aclrtDestroyEvent", event)


def test_an_event_for_other_processes(acl: Acl) -> None:
    """There is none: who asks for it is told at once."""
    event = ctypes.c_void_p()
    for name in ("aclrtCreateEventWithFlag", "aclrtCreateEventExWithFlag"):
        text = acl.fails(RT_FEATURE_NOT_SUPPORT, name, ctypes.byref(event), 0x40)
        assert "ACL_EVENT_IPC" in text
