# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: F401, F811 - fixtures are imported by name
"""Reserved addresses and mapped memory, registered host memory, batches of copies."""

from __future__ import annotations

import ctypes

import pytest

from acl_harness import (
    H2D,
    INVALID_PARAM,
    RT_FEATURE_NOT_SUPPORT,
    RT_INVALID_HANDLE,
    RT_MEMORY_ALLOCATION,
    RT_PARAM_INVALID,
    Acl,
    acl,
    library,
)

PIECE = 2 << 20
HOST, DEVICE = 0, 1
PINNED, MAPPED = 0x10000000, 2


class Location(ctypes.Structure):
    """aclrtMemLocation."""

    _fields_ = (("id", ctypes.c_uint32), ("type", ctypes.c_int))


class Property(ctypes.Structure):
    """aclrtPhysicalMemProp."""

    _fields_ = (
        ("handle_type", ctypes.c_int),
        ("allocation_type", ctypes.c_int),
        ("attribute", ctypes.c_int),
        ("location", Location),
        ("reserve", ctypes.c_uint64),
    )


class BatchAttribute(ctypes.Structure):
    """aclrtMemcpyBatchAttr."""

    _fields_ = (("to", Location), ("source", Location), ("rsv", ctypes.c_uint8 * 16))


def physical(acl: Acl, size: int = PIECE) -> int:
    """Physical memory of device 0."""
    wanted = Property(location=Location(0, DEVICE))
    return acl.pointer("aclrtMallocPhysical", size, ctypes.byref(wanted), 0)


def test_a_segment_grows_and_shrinks(acl: Acl) -> None:
    """What is mapped beside one another is one block; bounds end where the mapping does."""
    start = acl.pointer("aclrtReserveMemAddress", 8 * PIECE, 0, None, 1)
    text = acl.fails(RT_PARAM_INVALID, "aclrtMemset", start, 64, 0, 64)
    assert "where nothing is mapped" in text
    pieces = [physical(acl) for _ in range(3)]
    for i in (0, 2, 1):
        acl.ok("aclrtMapMem", start + i * PIECE, PIECE, 0, pieces[i], 0)
    acl.ok("aclrtMemset", start, 3 * PIECE, 7, 3 * PIECE)
    assert acl.read(start + PIECE - 2, 4) == b"\7" * 4
    text = acl.fails(RT_PARAM_INVALID, "aclrtMemset", start + 3 * PIECE - 8, 64, 0, 64)
    assert "it has 8 left" in text
    assert "aclrtUnmapMem" in acl.fails(RT_PARAM_INVALID, "aclrtFree", start)
    acl.ok("aclrtUnmapMem", start + PIECE)
    assert "it has 1 left" in acl.fails(RT_PARAM_INVALID, "aclrtMemset", start + PIECE - 1, 2, 0, 2)
    assert acl.read(start + 2 * PIECE, 4) == b"\7" * 4
    text = acl.fails(RT_PARAM_INVALID, "aclrtReleaseMemAddress", start)
    assert "still has memory mapped" in text
    # Physical memory keeps what it holds, wherever it is mapped next.
    acl.ok("aclrtMapMem", start + 5 * PIECE, PIECE, 0, pieces[1], 0)
    assert acl.read(start + 5 * PIECE, 4) == b"\7" * 4
    for i in (0, 2, 5):
        acl.ok("aclrtUnmapMem", start + i * PIECE)
    acl.ok("aclrtReleaseMemAddress", start)
    assert "freed by aclrtReleaseMemAddress" in acl.fails(
        RT_PARAM_INVALID, "aclrtMemset", start, 64, 0, 64
    )
    for piece in pieces:
        acl.ok("aclrtFreePhysical", piece)


def test_physical_memory_counts(acl: Acl) -> None:
    """It is the device's, mapped or not, and goes when it is freed and mapped no more."""
    info = ctypes.create_string_buffer(32 + 16 + 64)
    count = ctypes.c_size_t()

    def used() -> int:
        acl.ok("aclrtGetMemUsageInfo", 0, info, 1, ctypes.byref(count))
        return int.from_bytes(info.raw[32:40], "little")

    before = used()
    piece = physical(acl, 4 * PIECE)
    assert used() == before + 4 * PIECE
    start = acl.pointer("aclrtReserveMemAddress", 4 * PIECE, 0, None, 0)
    acl.ok("aclrtMapMem", start, 4 * PIECE, 0, piece, 0)
    acl.ok("aclrtFreePhysical", piece)
    assert used() == before + 4 * PIECE
    acl.ok("aclrtUnmapMem", start)
    assert used() == before
    assert int.from_bytes(info.raw[40:48], "little") >= before + 4 * PIECE
    acl.ok("aclrtReleaseMemAddress", start)
    fresh = physical(acl)
    start = acl.pointer("aclrtReserveMemAddress", PIECE, 0, None, 0)
    acl.ok("aclrtMapMem", start, PIECE, 0, fresh, 0)
    assert acl.read(start, 4) != bytes(4), "new memory is poisoned in checked mode"
    acl.ok("aclrtUnmapMem", start)
    acl.ok("aclrtFreePhysical", fresh)
    acl.ok("aclrtReleaseMemAddress", start)


def test_mappings_that_do_not_fit(acl: Acl) -> None:
    """Each is refused with what is there and what is wanted."""
    start = acl.pointer("aclrtReserveMemAddress", 4 * PIECE, 0, None, 0)
    piece = physical(acl)
    refused = (
        (start + 4096, PIECE, 0, piece, "multiple of"),
        (start, PIECE // 2, 0, piece, "all 2097152 bytes"),
        (start + 4 * PIECE, PIECE, 0, piece, "aclrtReserveMemAddress"),
        (start, PIECE, 4096, piece, "offset"),
    )
    for at, size, offset, handle, words in refused:
        assert words in acl.fails(RT_PARAM_INVALID, "aclrtMapMem", at, size, offset, handle, 0)
    acl.ok("aclrtMapMem", start, PIECE, 0, piece, 0)
    again = acl.fails(RT_PARAM_INVALID, "aclrtMapMem", start + PIECE, PIECE, 0, piece, 0)
    assert "mapped at" in again
    other = physical(acl)
    assert "already" in acl.fails(RT_PARAM_INVALID, "aclrtMapMem", start, PIECE, 0, other, 0)
    acl.fails(RT_PARAM_INVALID, "aclrtUnmapMem", start + PIECE)
    acl.ok("aclrtFreePhysical", other)
    acl.fails(RT_INVALID_HANDLE, "aclrtFreePhysical", other)
    acl.fails(RT_INVALID_HANDLE, "aclrtMapMem", start + PIECE, PIECE, 0, other, 0)
    acl.ok("aclrtUnmapMem", start)
    acl.ok("aclrtFreePhysical", piece)
    acl.ok("aclrtReleaseMemAddress", start)
    acl.fails(RT_PARAM_INVALID, "aclrtReleaseMemAddress", start)
    made = ctypes.c_void_p()
    wanted = Property(location=Location(0, DEVICE))
    for size, code in ((PIECE - 1, RT_PARAM_INVALID), (1 << 50, RT_MEMORY_ALLOCATION)):
        reference = ctypes.byref(made), size, ctypes.byref(wanted), 0
        acl.fails(code, "aclrtMallocPhysical", *reference)
    granularity = ctypes.c_size_t()
    acl.ok("aclrtMemGetAllocationGranularity", ctypes.byref(wanted), 0, ctypes.byref(granularity))
    assert granularity.value == PIECE


def test_a_reset_takes_mapped_memory_along(acl: Acl) -> None:
    """And its address range can be released afterwards."""
    start = acl.pointer("aclrtReserveMemAddress", PIECE, 0, None, 0)
    acl.ok("aclrtMapMem", start, PIECE, 0, physical(acl), 0)
    acl.ok("aclrtResetDeviceForce", 0)
    acl.ok("aclrtSetDevice", 0)
    acl.fails(RT_PARAM_INVALID, "aclrtMemset", start, 64, 0, 64)
    acl.ok("aclrtReleaseMemAddress", start)


def test_host_memory_of_the_programs_own(acl: Acl) -> None:
    """Registered, it is pinned; a device address for it is more than the simulator can give."""
    buffer = ctypes.create_string_buffer(b"x" * 4096, 4096)
    where = ctypes.addressof(buffer)
    acl.ok("aclrtHostRegisterV2", where, 4096, PINNED)
    assert "already" in acl.fails(RT_PARAM_INVALID, "aclrtHostRegisterV2", where + 8, 8, PINNED)
    block = acl.malloc(4096)
    stream = acl.pointer("aclrtCreateStream")
    acl.ok("aclrtMemcpyAsyncWithCondition", block, 4096, where, 4096, H2D, stream)
    acl.ok("aclrtSynchronizeStream", stream)
    assert acl.read(block, 4) == b"xxxx"
    acl.fails(RT_PARAM_INVALID, "aclrtFreeHost", where)
    acl.ok("aclrtHostUnregister", where)
    acl.fails(RT_PARAM_INVALID, "aclrtHostUnregister", where)
    address = ctypes.c_void_p()
    for call in (
        ("aclrtHostRegister", where, 4096, 0, ctypes.byref(address)),
        ("aclrtHostRegisterV2", where, 4096, MAPPED),
    ):
        assert "ACL_HOST_REG_PINNED" in acl.fails(RT_FEATURE_NOT_SUPPORT, *call)
    acl.ok("aclrtFreeHost", acl.pointer("aclrtMallocHostWithCfg", 64, None))
    acl.ok("aclrtCmoAsync", block, 4096, 0, stream)
    acl.fails(RT_PARAM_INVALID, "aclrtCmoAsync", block, 4097, 0, stream)
    acl.fails(RT_PARAM_INVALID, "aclrtCmoAsync", block, 64, 9, stream)
    acl.ok("aclrtDestroyStream", stream)
    acl.ok("aclrtFree", block)


@pytest.mark.parametrize("on_stream", [False, True])
def test_batches_of_copies(acl: Acl, on_stream: bool) -> None:
    """One attribute for each run of copies; the first that fails is named."""
    blocks = [acl.malloc(64) for _ in range(3)]
    texts = [ctypes.create_string_buffer(bytes([65 + i]) * 64, 64) for i in range(3)]
    back = ctypes.create_string_buffer(64)
    acl.write(blocks[2], b"z" * 64)
    to = (ctypes.c_void_p * 3)(blocks[0], blocks[1], ctypes.addressof(back))
    source = (ctypes.c_void_p * 3)(*(ctypes.addressof(text) for text in texts[:2]), blocks[2])
    sizes = (ctypes.c_size_t * 3)(64, 64, 64)
    host, device = Location(0, HOST), Location(0, DEVICE)
    attributes = (BatchAttribute * 2)(
        BatchAttribute(to=device, source=host), BatchAttribute(to=host, source=device)
    )
    indexes = (ctypes.c_size_t * 2)(0, 2)
    fail = ctypes.c_size_t()
    name = "aclrtMemcpyBatchAsync" if on_stream else "aclrtMemcpyBatch"
    rest: tuple[object, ...] = (None,) if on_stream else ()
    call = (to, sizes, source, sizes, 3, attributes, indexes, 2, ctypes.byref(fail), *rest)
    acl.ok(name, *call)
    acl.ok("aclrtSynchronizeStream", None)
    assert fail.value == 2**64 - 1
    assert acl.read(blocks[0], 2) == b"AA" and acl.read(blocks[1], 2) == b"BB"
    assert back.raw == b"z" * 64
    sizes[1] = 4096
    assert acl.call(name, *call) == RT_PARAM_INVALID and fail.value == 1
    acl.message()
    indexes[0] = 1
    acl.fails(RT_PARAM_INVALID, name, *call)
    for block in blocks:
        acl.ok("aclrtFree", block)
