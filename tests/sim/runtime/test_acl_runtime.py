# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: F401, F811 - fixtures are imported by name
"""The ACL runtime of the simulator: initialisation, device, context, memory."""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from acl_harness import (
    D2D,
    D2H,
    DEFAULT,
    H2D,
    H2H,
    INVALID_PARAM,
    REPEAT_FINALIZE,
    REPEAT_INITIALIZE,
    RT_CONTEXT_NULL,
    RT_CONTEXT_RELEASE,
    RT_INVALID_DEVICE,
    RT_INVALID_HANDLE,
    RT_MEMORY_ALLOCATION,
    RT_PARAM_INVALID,
    RT_SOC_VERSION,
    RT_STREAM_CONTEXT,
    UNINITIALIZE,
    Acl,
    acl,
    compiled,
    in_process,
    library,
)

pytestmark = [pytest.mark.quick, pytest.mark.sanitized]

# Initialisation ------------------------------------------------------------------------------


def test_before_init_everything_says_so(library: Path) -> None:
    """Each function that needs the runtime refuses, and none crashes on null arguments."""
    code = """
calls = {
    'aclrtMalloc': (ctypes.byref(p), ctypes.c_size_t(64), 0),
    'aclrtMallocHost': (ctypes.byref(p), ctypes.c_size_t(64)),
    'aclrtMemcpy': (p, ctypes.c_size_t(1), p, ctypes.c_size_t(1), 1),
    'aclrtMemset': (p, ctypes.c_size_t(1), 0, ctypes.c_size_t(1)),
    'aclrtCreateStream': (ctypes.byref(p),),
    'aclrtCreateEvent': (ctypes.byref(p),),
    'aclrtCreateContext': (ctypes.byref(p), 0),
    'aclrtSynchronizeStream': (p,),
    'aclrtSynchronizeDevice': (),
    'aclrtGetDevice': (ctypes.byref(ctypes.c_int()),),
    'aclFinalize': (),
}
for name, args in calls.items():
    print(name, getattr(lib, name)(*args), 'aclInit' in err())
"""
    done = in_process(library, code)
    lines = done.stdout.splitlines()
    assert len(lines) == 11, done.stderr
    for line in lines:
        assert line.split()[1:] == [str(UNINITIALIZE), "True"], line


def test_init_and_finalize_count(library: Path) -> None:
    """Every aclInit counts, aclFinalize clears the count, aclFinalizeReference counts down."""
    code = """
n = ctypes.c_uint64()
print([lib.aclInit(None), lib.aclInit(None), lib.aclFinalize(), lib.aclFinalize()])
print([lib.aclInit(None), lib.aclInit(None)])
print([lib.aclFinalizeReference(ctypes.byref(n)), n.value])
print([lib.aclrtSetDevice(0), lib.aclFinalizeReference(ctypes.byref(n)), n.value])
print([lib.aclFinalizeReference(None)])
"""
    done = in_process(library, code)
    assert [json.loads(line) for line in done.stdout.splitlines()] == [
        [0, REPEAT_INITIALIZE, 0, REPEAT_FINALIZE],
        [0, REPEAT_INITIALIZE],
        [0, 1],
        [0, 0, 0],
        [REPEAT_FINALIZE],
    ], done.stderr


def test_a_device_without_init_starts_the_runtime(library: Path) -> None:
    """Programs that go without aclInit run on hardware, so they run here."""
    code = "print(lib.aclrtSetDevice(0), lib.aclrtMalloc(ctypes.byref(p), ctypes.c_size_t(8), 0))"
    assert in_process(library, code).stdout.split() == ["0", "0"]


@pytest.mark.parametrize(
    ("variable", "value", "code", "want"),
    [
        ("ACLGRAD_SOC", "Ascend910B22", RT_SOC_VERSION, "Ascend910B2"),
        ("ACLGRAD_SOC", "310p", RT_SOC_VERSION, "Ascend310P1"),
        ("ACLGRAD_SIM_MODE", "slow", INVALID_PARAM, "checked or fast"),
        ("ACLGRAD_SIM_CORES", "49", INVALID_PARAM, "48"),
        ("ACLGRAD_SIM_CORES", "two", INVALID_PARAM, "48"),
        ("ACLGRAD_SIM_THREADS", "-1", INVALID_PARAM, "1024"),
    ],
)
def test_a_wrong_environment_fails_init(
    library: Path, variable: str, value: str, code: int, want: str
) -> None:
    """The message names variable and value and says what is possible; nothing runs."""
    done = in_process(library, "print(lib.aclInit(None)); print(err())", **{variable: value})
    first, _, text = done.stdout.partition("\n")
    assert int(first) == code
    assert variable in text and value in text and want in text
    assert variable in done.stderr


def test_config_file(acl: Acl, library: Path, tmp_path: Path) -> None:
    """A configuration that is not there or not JSON is refused; an empty object is fine."""
    good, bad = tmp_path / "acl.json", tmp_path / "bad.json"
    good.write_text("{}")
    bad.write_text("hello")
    paths = [str(tmp_path / "none.json"), str(bad), str(good)]
    done = in_process(library, f"print([lib.aclInit(n.encode()) for n in {paths!r}])")
    assert json.loads(done.stdout) == [100003, 100006, 0]


def test_leaks_are_listed_in_checked_mode_only(library: Path) -> None:
    """One block on stderr that counts what is left."""
    code = """
lib.aclInit(None); lib.aclrtSetDevice(0)
for i in range(7): lib.aclrtMalloc(ctypes.byref(p), ctypes.c_size_t(100), 0)
lib.aclrtCreateStream(ctypes.byref(p)); lib.aclrtCreateEvent(ctypes.byref(p)); lib.aclFinalize()
"""
    text = in_process(library, code).stderr
    assert "7 device block(s) of 700 bytes, 1 stream(s), 1 event(s)" in text
    assert "and 2 more" in text
    assert [line.split()[0] for line in text.splitlines()] == [
        "aclgrad:",
        *["block"] * 5,
        "and",
        "stream",
        "event",
    ]
    assert in_process(library, code, ACLGRAD_SIM_MODE="fast").stderr == ""


# Device and context --------------------------------------------------------------------------


def test_device(acl: Acl) -> None:
    """There is one device; any other is an error."""
    count, device = ctypes.c_uint32(), ctypes.c_int32(-1)
    acl.ok("aclrtGetDeviceCount", ctypes.byref(count))
    acl.ok("aclrtGetDevice", ctypes.byref(device))
    assert (count.value, device.value) == (1, 0)
    for wrong in (1, 2**32 - 1):
        assert "device 0 only" in acl.fails(RT_INVALID_DEVICE, "aclrtSetDevice", wrong)
    assert acl.lib.aclrtGetSocName() == b"Ascend910B2"


def test_reset_counts_the_sets(acl: Acl) -> None:
    """The device is released by as many resets as there were sets; its memory goes with it."""
    acl.ok("aclrtSetDevice", 0)
    block = acl.malloc(64)
    acl.ok("aclrtResetDevice", 0)
    acl.read(block, 1)
    acl.ok("aclrtResetDevice", 0)
    acl.fails(RT_CONTEXT_RELEASE, "aclrtResetDevice", 0)
    acl.fails(RT_CONTEXT_NULL, "aclrtMalloc", ctypes.byref(ctypes.c_void_p()), 64, 0)
    acl.ok("aclrtSetDevice", 0)
    text = acl.fails(RT_PARAM_INVALID, "aclrtMemset", block, 1, 0, 1)
    assert "freed by aclrtResetDevice" in text


def test_a_thread_needs_a_context(acl: Acl) -> None:
    """A new thread has none until it sets one; then it shares the device's."""
    context = ctypes.c_void_p()
    acl.ok("aclrtGetCurrentContext", ctypes.byref(context))
    texts: list[str] = []

    def work() -> None:
        out = ctypes.c_void_p()
        texts.append(acl.fails(RT_CONTEXT_NULL, "aclrtMalloc", ctypes.byref(out), 64, 0))
        acl.ok("aclrtSetCurrentContext", context)
        acl.ok("aclrtFree", acl.malloc(64))
        texts.append("done")

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert "aclrtSetDevice" in texts[0] and texts[1:] == ["done"]


def test_streams_belong_to_their_context(acl: Acl) -> None:
    """A stream of another context is refused; a destroyed context takes its streams along."""
    stream = acl.pointer("aclrtCreateStream")
    context = acl.pointer("aclrtCreateContext", 0)
    text = acl.fails(RT_STREAM_CONTEXT, "aclrtSynchronizeStream", stream)
    assert "aclrtSetCurrentContext" in text
    inner = acl.pointer("aclrtCreateStream")
    acl.ok("aclrtDestroyContext", context)
    acl.ok("aclrtSynchronizeStream", stream)
    acl.fails(RT_INVALID_HANDLE, "aclrtSynchronizeStream", inner)
    text = acl.fails(RT_INVALID_HANDLE, "aclrtSetCurrentContext", context)
    assert "was destroyed" in text


# Memory --------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 31, 512, 4096, 4097, 3 << 20])
def test_copy_there_and_back(acl: Acl, size: int) -> None:
    """Bytes survive the round trip over three kinds of copy."""
    data = os.urandom(size)
    first, second = acl.malloc(size), acl.malloc(size)
    assert first % 512 == 0 and second % 512 == 0
    assert second >= first + size + 4096 or first >= second + size + 4096
    acl.write(first, data)
    acl.ok("aclrtMemcpy", second, size, first, size, D2D)
    assert acl.read(second, size) == data
    buffer = ctypes.create_string_buffer(size)
    acl.ok("aclrtMemcpy", buffer, size, second, size, DEFAULT)
    assert buffer.raw == data


@pytest.mark.parametrize("name", ["aclrtMalloc", "aclrtMallocAlign32", "aclrtMallocCached"])
def test_malloc_arguments(acl: Acl, name: str) -> None:
    """Nothing, nowhere, and more than the device has."""
    out = ctypes.c_void_p()
    acl.fails(INVALID_PARAM, name, ctypes.byref(out), 0, 0)
    acl.fails(INVALID_PARAM, name, None, 64, 0)
    text = acl.fails(RT_MEMORY_ALLOCATION, name, ctypes.byref(out), (64 << 30) + 1, 0)
    assert str((64 << 30) + 1) in text and str(64 << 30) in text
    acl.fails(RT_MEMORY_ALLOCATION, name, ctypes.byref(out), 2**64 - 1, 0)
    assert out.value is None


def test_memory_is_limited_and_given_back(acl: Acl) -> None:
    """The SoC's memory is the limit, aclrtGetMemInfo counts, a free makes room again."""
    acl.ok("aclsimSetOption", b"mode", b"fast")
    acl.ok("aclsimSetOption", b"soc", b"Ascend950DT_950y")
    free, total = ctypes.c_size_t(), ctypes.c_size_t()
    acl.ok("aclrtGetMemInfo", 1, ctypes.byref(free), ctypes.byref(total))
    assert total.value == 17179869184 == free.value
    block = acl.malloc(10 << 30)
    acl.ok("aclrtGetMemInfo", 1, ctypes.byref(free), ctypes.byref(total))
    assert free.value == total.value - (10 << 30)
    text = acl.fails(
        RT_MEMORY_ALLOCATION, "aclrtMalloc", ctypes.byref(ctypes.c_void_p()), 10 << 30, 0
    )
    assert "out of device memory" in text
    acl.ok("aclrtFree", block)
    acl.ok("aclrtFree", acl.malloc(10 << 30))


def test_new_memory_is_poisoned_in_checked_mode_only(acl: Acl) -> None:
    """NaN bytes in checked mode, up to the last; a block that is used again is filled again."""
    for _ in range(3):
        block = acl.malloc(5000)
        assert acl.read(block, 5000) == b"\xff" * 5000
        acl.write(block, bytes(5000))
        acl.ok("aclrtFree", block)
    acl.ok("aclsimSetOption", b"mode", b"fast")
    assert acl.read(acl.malloc(5000), 5000) == bytes(5000)


@pytest.mark.no_thread_sanitizer("its notes on each byte are resident too")
def test_poison_is_linear(library: Path) -> None:
    """200 MiB are handed out before the process is ended, and the next 200 are the same pages. In a
    process of its own: memory that other tests have used and freed would be taken first.
    """
    code = (
        "import re\n"
        "def resident():\n"
        "    status = open('/proc/self/status').read()\n"
        "    return int(re.search(r'VmRSS:\\s+(\\d+) kB', status)[1]) >> 10\n"
        "assert lib.aclInit(None) == 0 and lib.aclrtSetDevice(0) == 0, err()\n"
        "before = resident()\n"
        "size = ctypes.c_size_t(200 << 20)\n"
        "assert lib.aclrtMalloc(ctypes.byref(p), size, 0) == 0, err()\n"
        "print(resident() - before)\n"
        "assert lib.aclrtFree(p) == 0, err()\n"
        "assert lib.aclrtMalloc(ctypes.byref(p), size, 0) == 0, err()\n"
        "assert lib.aclrtFree(p) == 0, err()\n"
        "print(resident() - before)\n"
    )
    done = in_process(library, code)
    assert done.returncode == 0, done.stderr
    taken, again = map(float, done.stdout.split())
    assert taken > 195
    assert again < 240


def test_wrong_direction(acl: Acl) -> None:
    """Each kind names the pointer that is on the wrong side."""
    block = acl.malloc(64)
    host = ctypes.create_string_buffer(64)
    cases = [
        (H2D, block, block, "src"),
        (H2D, host, host, "dst"),
        (D2H, block, block, "dst"),
        (D2H, host, host, "src"),
        (D2D, block, host, "src"),
        (H2H, host, block, "src"),
    ]
    for kind, dst, src, wrong in cases:
        text = acl.fails(RT_PARAM_INVALID, "aclrtMemcpy", dst, 64, src, 64, kind)
        assert text.startswith(f"aclrtMemcpy: {wrong} 0x"), (kind, text)
    for kind in (6, 99, 2**32 - 1):
        acl.fails(INVALID_PARAM, "aclrtMemcpy", block, 64, host, 64, kind)


def test_sizes(acl: Acl) -> None:
    """Too much for the block, for destMax, from an offset; nothing at all is a success."""
    block = acl.malloc(100)
    host = ctypes.create_string_buffer(200)
    text = acl.fails(RT_PARAM_INVALID, "aclrtMemcpy", block, 200, host, 101, H2D)
    assert f"0x{block:x}" in text and "100 bytes" in text and "101 bytes are wanted" in text
    text = acl.fails(RT_PARAM_INVALID, "aclrtMemcpy", host, 200, block + 60, 41, D2H)
    assert "byte 60" in text and "has 40 left" in text
    acl.fails(RT_PARAM_INVALID, "aclrtMemcpy", block, 10, host, 11, H2D)
    text = acl.fails(RT_PARAM_INVALID, "aclrtMemcpy", block + 100, 1, host, 1, H2D)
    assert "0 bytes behind the end" in text
    acl.ok("aclrtMemcpy", block + 60, 40, host, 40, H2D)
    acl.ok("aclrtMemcpy", None, 0, None, 0, H2D)
    acl.fails(INVALID_PARAM, "aclrtMemcpy", None, 1, host, 1, H2D)
    acl.fails(INVALID_PARAM, "aclrtMemcpy", block, 1, None, 1, H2D)


def test_use_after_free_and_double_free(acl: Acl) -> None:
    """The message says who freed the block."""
    block = acl.malloc(100)
    acl.ok("aclrtFree", block)
    for name, args in {
        "aclrtFree": (block,),
        "aclrtMemcpy": (ctypes.create_string_buffer(8), 8, block + 8, 8, D2H),
        "aclrtMemset": (block, 8, 0, 8),
    }.items():
        text = acl.fails(RT_PARAM_INVALID, name, *args)
        assert "100 bytes that was freed by aclrtFree" in text, text
    acl.fails(INVALID_PARAM, "aclrtFree", None)
    live = acl.malloc(100)
    assert "byte 8" in acl.fails(RT_PARAM_INVALID, "aclrtFree", live + 8)
    assert "host memory" in acl.fails(RT_PARAM_INVALID, "aclrtFree", 0x1000)
    acl.ok("aclrtFree", live)


def test_freed_addresses_stay_named_over_many_blocks(acl: Acl) -> None:
    """Ten thousand blocks later the address was not handed out again and is known as freed."""
    first = acl.malloc(64)
    acl.ok("aclrtFree", first)
    for _ in range(10000):
        block = acl.malloc(64)
        assert block != first
        acl.ok("aclrtFree", block)
    assert "freed by aclrtFree" in acl.fails(RT_PARAM_INVALID, "aclrtFree", first)


def test_unmapped_host_memory_is_an_error(acl: Acl) -> None:
    """A host pointer that is not mapped ends the call, not the process."""
    block = acl.malloc(64)
    text = acl.fails(RT_PARAM_INVALID, "aclrtMemcpy", block, 64, 0x1000, 64, H2D)
    assert "0x1000" in text and "not accessible" in text
    acl.fails(RT_PARAM_INVALID, "aclrtMemcpy", 0x1000, 64, block, 64, D2H)
    acl.write(block, b"x" * 64)


def test_memset(acl: Acl) -> None:
    """A byte value, in part of a block; pageable host memory is refused."""
    block = acl.malloc(16)
    acl.ok("aclrtMemset", block, 16, 0, 16)
    acl.ok("aclrtMemset", block + 4, 12, 0x1AB, 8)
    assert acl.read(block, 16) == bytes(4) + b"\xab" * 8 + bytes(4)
    acl.fails(RT_PARAM_INVALID, "aclrtMemset", block, 8, 0, 9)
    acl.fails(RT_PARAM_INVALID, "aclrtMemset", block, 17, 0, 17)
    acl.fails(RT_PARAM_INVALID, "aclrtMemset", ctypes.create_string_buffer(8), 8, 0, 8)


def test_memcpy_2d(acl: Acl) -> None:
    """Rows with pitches; the padding between them is untouched; the extent is checked."""
    block = acl.malloc(28)
    acl.ok("aclrtMemset", block, 28, 0x2E, 28)
    acl.ok("aclrtMemcpy2d", block, 12, b"abcdefghi", 3, 3, 3, H2D)
    assert acl.read(block, 28) == b"abc.........def.........ghi."
    back = ctypes.create_string_buffer(9)
    acl.ok("aclrtMemcpy2d", back, 3, block, 12, 3, 3, D2H)
    assert back.raw == b"abcdefghi"
    acl.fails(RT_PARAM_INVALID, "aclrtMemcpy2d", block, 12, b"abcdefghijkl", 3, 3, 4, H2D)
    acl.fails(INVALID_PARAM, "aclrtMemcpy2d", block, 2, b"abc", 3, 3, 1, H2D)
    acl.fails(INVALID_PARAM, "aclrtMemcpy2d", block, 2**40, b"abc", 2**40, 3, 2**40, H2D)
    acl.fails(INVALID_PARAM, "aclrtMemcpy2d", block, 12, b"abc", 3, 3, 1, H2H)


def test_pinned_host_memory(acl: Acl) -> None:
    """Pinned memory is host memory with a known size, freed by aclrtFreeHost only."""
    pinned = acl.pointer("aclrtMallocHost", 64)
    block = acl.malloc(128)
    ctypes.memset(pinned, 0x41, 64)
    acl.ok("aclrtMemcpy", block, 128, pinned, 64, H2D)
    assert acl.read(block, 64) == b"A" * 64
    text = acl.fails(RT_PARAM_INVALID, "aclrtMemcpy", block, 128, pinned, 65, H2D)
    assert "aclrtMallocHost block of 64 bytes" in text
    acl.fails(RT_PARAM_INVALID, "aclrtFree", pinned)
    acl.fails(RT_PARAM_INVALID, "aclrtFreeHost", block)
    acl.ok("aclrtFreeHost", pinned)
    acl.fails(RT_PARAM_INVALID, "aclrtFreeHost", pinned)
    acl.fails(INVALID_PARAM, "aclrtMallocHost", ctypes.byref(ctypes.c_void_p()), 0)


def test_two_threads_allocate(acl: Acl) -> None:
    """Blocks of concurrent threads never overlap, and keep what was written."""
    failures: list[str] = []

    def work(mark: int) -> None:
        try:
            acl.ok("aclrtSetDevice", 0)
            blocks = []
            for i in range(300):
                size = 1 + (i * 97 + mark * 31) % 9000
                block = acl.malloc(size)
                acl.ok("aclrtMemset", block, size, mark, size)
                blocks.append((block, size))
                if i % 3 == 2:
                    old, length = blocks.pop(0)
                    assert acl.read(old, length) == bytes([mark]) * length
                    acl.ok("aclrtFree", old)
            for block, size in blocks:
                assert acl.read(block, size) == bytes([mark]) * size
                acl.ok("aclrtFree", block)
        except BaseException as error:
            failures.append(repr(error))

    threads = [threading.Thread(target=work, args=(mark,)) for mark in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    free, total = ctypes.c_size_t(), ctypes.c_size_t()
    acl.ok("aclrtGetMemInfo", 0, ctypes.byref(free), ctypes.byref(total))
    assert free.value == total.value


def test_a_large_block_takes_memory_where_it_is_used(compiled: Callable[..., Path]) -> None:
    """Checked mode fills it without: a byte that is written stays alone, in its block and beside
    others.
    """
    done = subprocess.run(
        [compiled("large_blocks")], capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    for line in done.stdout.splitlines():
        taken, _, shown = line.partition(" MiB: ")
        assert int(taken) < 200, done.stdout
        assert shown == "ff 5a ff ff ff ff", done.stdout
