# SPDX-License-Identifier: Apache-2.0
"""Every handle of the C interface, used wrongly: a code and a message, never a crash.

The functions come from the headers: a new one without a row below fails.
"""

from __future__ import annotations

import ctypes as c
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from aclgrad.runtime import Device

pytestmark = [pytest.mark.quick, pytest.mark.sanitized]

HEADERS = Path(__file__).resolve().parents[3] / "simulator" / "include"
NAMES = ("acl/acl_base.h", "acl/acl_rt.h", "aclnn/acl_meta.h")


@dataclass(frozen=True)
class Prototype:
    result: str
    name: str
    types: tuple[str, ...]


def prototypes() -> list[Prototype]:
    """What the headers declare, with types that have lost const and their parameters' names."""
    found = []
    for header in NAMES:
        text = re.sub(r"//[^\n]*|/\*.*?\*/", "", (HEADERS / header).read_text(), flags=re.S)
        for result, name, rest in re.findall(
            r"ACL_FUNC_VISIBILITY\s+([\w\s]+?\**)\s*(\w+)\(([^;]*)\);", text
        ):
            types = [
                re.sub(r"\s*\w+$", "", part.replace("const ", "").strip())
                for part in rest.split(",")
                if part.strip() not in ("", "void")
            ]
            found.append(Prototype(result, name, tuple(types)))
    assert len(found) > 90
    return found


ALL = prototypes()
MISUSE, STALE, NNOP_STALE = 100000, 107017, 161002


@dataclass(frozen=True)
class Pair:
    """A kind of handle: who makes and who ends it, and the codes of null and of a dead one."""

    type: str
    makers: tuple[str, ...]
    enders: tuple[str, ...]
    null: int
    dead: int
    make: Callable[[Handles], int]


class Handles:
    """Makes one live handle of each kind."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self.acl, self.nnopbase = device.libraries.acl, device.libraries.nnopbase

    def call(self, name: str, *args: object) -> int:
        """Every argument as wide as a register; the result as an aclError."""
        wide: list[Any] = [c.c_uint64(a & (2**64 - 1)) if isinstance(a, int) else a for a in args]
        prototype = c.CFUNCTYPE(c.c_int32, *[type(a) for a in wide])
        library = self.nnopbase if hasattr(self.nnopbase, name) else self.acl
        return int(prototype((name, library))(*wide))

    def returned(self, name: str, *args: object) -> int:
        """A function that returns its handle."""
        wide: list[Any] = [c.c_uint64(a & (2**64 - 1)) if isinstance(a, int) else a for a in args]
        library = self.nnopbase if hasattr(self.nnopbase, name) else self.acl
        made = c.CFUNCTYPE(c.c_void_p, *[type(a) for a in wide])((name, library))(*wide)
        assert made, self.device.libraries.recent_message()
        return int(made)

    def out(self, name: str, *args: object) -> int:
        """A function that writes its handle to its first argument."""
        handle = c.c_void_p()
        code = self.call(name, c.cast(c.byref(handle), c.c_void_p), *args)
        assert code == 0 and handle.value, self.device.libraries.recent_message()
        return handle.value

    def context(self) -> int:
        """A context that is not this thread's."""
        made = self.out("aclrtCreateContext", 0)
        assert self.call("aclrtSetDevice", 0) == 0
        return made

    def array(self, kind: str, values: c.Array[c.c_int64]) -> int:
        return self.returned(f"aclCreate{kind}Array", c.cast(values, c.c_void_p), len(values))

    def tensor(self) -> int:
        dims = c.cast((c.c_int64 * 1)(4), c.c_void_p)
        return self.returned("aclCreateTensor", dims, 1, 0, c.c_void_p(), 0, 2, dims, 1, 0)

    def scalar(self) -> int:
        return self.returned("aclCreateScalar", c.cast((c.c_float * 1)(1.0), c.c_void_p), 0)

    def many(self, kind: str, item: int) -> int:
        items = c.cast((c.c_uint64 * 1)(item), c.c_void_p)
        return self.returned(f"aclCreate{kind}List", items, 1)


def ints() -> c.Array[c.c_int64]:
    return (c.c_int64 * 2)(1, 2)


MALLOCS = ("aclrtMalloc", "aclrtMallocAlign32", "aclrtMallocCached")
EVENTS = ("aclrtCreateEvent", "aclrtCreateEventWithFlag", "aclrtCreateEventExWithFlag")
STREAMS = ("aclrtCreateStream", "aclrtCreateStreamWithConfig")
STREAM_ENDS = ("aclrtDestroyStream", "aclrtDestroyStreamForce")
FREES = ("aclrtFree", "aclrtFreeWithDevSync")


def ends(kind: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return (f"aclCreate{kind}",), (f"aclDestroy{kind}",)


PAIRS = (
    Pair("aclrtContext", ("aclrtCreateContext",), ("aclrtDestroyContext",), MISUSE, STALE,
         lambda h: h.context()),
    Pair("aclrtStream", STREAMS, STREAM_ENDS, MISUSE, STALE, lambda h: h.out(STREAMS[0])),
    Pair("aclrtEvent", EVENTS, ("aclrtDestroyEvent",), MISUSE, STALE, lambda h: h.out(EVENTS[0])),
    Pair("device memory", MALLOCS, FREES, MISUSE, 107000, lambda h: h.out(MALLOCS[0], 64, 0)),
    Pair("host memory", ("aclrtMallocHost",), ("aclrtFreeHost",), MISUSE, 107000,
         lambda h: h.out("aclrtMallocHost", 64)),
    Pair("aclDataBuffer*", *ends("DataBuffer"), MISUSE, MISUSE,
         lambda h: h.returned("aclCreateDataBuffer", 0, 8)),
    Pair("aclTensor*", *ends("Tensor"), 0, NNOP_STALE, lambda h: h.tensor()),
    Pair("aclScalar*", *ends("Scalar"), 0, NNOP_STALE, lambda h: h.scalar()),
    Pair("aclIntArray*", *ends("IntArray"), 0, NNOP_STALE, lambda h: h.array("Int", ints())),
    Pair("aclFloatArray*", *ends("FloatArray"), 0, NNOP_STALE, lambda h: h.array("Float", ints())),
    Pair("aclBoolArray*", *ends("BoolArray"), 0, NNOP_STALE, lambda h: h.array("Bool", ints())),
    Pair("aclTensorList*", *ends("TensorList"), 0, NNOP_STALE,
         lambda h: h.many("Tensor", h.tensor())),
    Pair("aclScalarList*", *ends("ScalarList"), 0, NNOP_STALE,
         lambda h: h.many("Scalar", h.scalar())),
)  # fmt: skip

# Made by operators' first stages; tests/fuzz and test_errors_executor.py misuse them.
EXECUTOR_ENDS = {"aclDestroyAclOpExecutor"}

# Their functions return values, or want more than a handle; the files named misuse them.
ELSEWHERE = {
    "aclCreateTensorDesc": "libraries/test_aclop.py",
    "aclDestroyTensorDesc": "libraries/test_aclop.py",
    "aclrtMallocPhysical": "runtime/test_acl_virtual_memory.py",
    "aclrtFreePhysical": "runtime/test_acl_virtual_memory.py",
    "aclrtMallocHostWithCfg": "runtime/test_acl_virtual_memory.py",
    "aclrtMemGetAllocationGranularity": "runtime/test_acl_virtual_memory.py",
}


@pytest.fixture
def handles(device: Device) -> Handles:
    return Handles(device)


def test_every_function_has_a_row() -> None:
    makers = {name for pair in PAIRS for name in pair.makers}
    enders = {name for pair in PAIRS for name in pair.enders} | EXECUTOR_ENDS
    for name, page in ELSEWHERE.items():
        assert name in (Path(__file__).parents[1] / page).read_text(encoding="utf-8"), name
    for prototype in ALL:
        if prototype.name in ELSEWHERE:
            continue
        if re.search(r"Create|Malloc|Alloc", prototype.name):
            assert prototype.name in makers, f"{prototype.name}: no row in PAIRS"
        if re.search(r"Destroy|Free", prototype.name):
            assert prototype.name in enders, f"{prototype.name}: no row in PAIRS"
    assert makers | enders <= {prototype.name for prototype in ALL}


@pytest.mark.parametrize("ender", [(pair, name) for pair in PAIRS for name in pair.enders],
                         ids=lambda pair: pair[1])  # fmt: skip
def test_ends_once(handles: Handles, ender: tuple[Pair, str]) -> None:
    """Null, twice, another kind's handle, host memory and numbers that are no address."""
    pair, end = ender
    message = handles.device.libraries.recent_message
    assert handles.call(end, 0) == pair.null
    message()
    handle = pair.make(handles)
    assert handles.call(end, handle) == 0, message()
    for _ in range(2):
        assert handles.call(end, handle) == pair.dead
        text = message()
        assert end in text and f"{handle:x}" in text and "Next: " in text or "want" in text, text
    own = (c.c_uint64 * 8)()
    foreign = [c.addressof(own), c.addressof(own) + 1, 1, 2**64 - 1, 2**47]
    others = [other for other in PAIRS if other is not pair]
    live = [other.make(handles) for other in others]
    for wrong in foreign + live:
        assert handles.call(end, wrong) == pair.dead, f"{end}({wrong:#x})"
        assert end in message()
    for other, one in zip(others, live, strict=True):
        assert handles.call(other.enders[0], one) == 0, f"{end} has harmed {other.type}"


def test_use_after_the_end(handles: Handles) -> None:
    """Each function that takes a handle, with one that is gone and zeros else."""
    message = handles.device.libraries.recent_message
    seen = 0
    for pair in PAIRS:
        for prototype in ALL:
            if pair.type not in prototype.types or prototype.name in pair.enders:
                continue
            handle = pair.make(handles)
            assert handles.call(pair.enders[0], handle) == 0, message()
            space = (c.c_uint64 * 64)()
            args: list[object] = []
            for text in prototype.types:
                pointer = c.cast(space, c.c_void_p)
                args.append(handle if text == pair.type else pointer if "*" in text else 0)
            seen += 1
            if prototype.result == "void*" or prototype.name.startswith("aclGetDataBufferSize"):
                assert handles.call(prototype.name, *args) == 0, prototype.name
                assert "was destroyed" in message(), prototype.name
                continue
            code = handles.call(prototype.name, *args)
            assert code not in (0, 1), f"{prototype.name} takes a dead {pair.type}"
            assert message(), prototype.name
    assert seen > 40
