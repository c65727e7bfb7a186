# SPDX-License-Identifier: Apache-2.0
"""What the fallback needs from the simulator's libraries."""

from __future__ import annotations

import ctypes
import importlib
import json
import os
import sys
import sysconfig
from array import array
from functools import cache
from importlib.machinery import PathFinder
from types import FrameType
from typing import Any


def _folder(package: str) -> str | None:
    spec = PathFinder.find_spec(package)  # not through `hook`, which asks this module
    return os.path.dirname(spec.origin) if spec and spec.origin else None


LIBRARIES = tuple(
    folder
    for folder in (os.path.dirname(__file__), _folder("torch"), _folder("torch_npu"))
    if folder is not None
)
"""Folders whose lines are not the program's."""

_INSTALLED = tuple({sysconfig.get_path("purelib"), sysconfig.get_path("platlib")})
"""Where packages lie, whose lines are the program's only where it has none of its own."""


@cache
def _acl() -> ctypes.CDLL | None:
    """The simulator's libascendcl.so, when that is what the name stands for in this process."""
    try:
        library = ctypes.CDLL("libascendcl.so", mode=ctypes.RTLD_GLOBAL)
        library.aclsimHostView.restype = ctypes.c_void_p
        library.aclsimHostView.argtypes = (ctypes.c_void_p, ctypes.c_uint64, ctypes.c_int32)
        library.aclsimLaunchesOf.restype = ctypes.c_uint64
        library.aclsimLaunchesOf.argtypes = (ctypes.c_char_p,)
        library.aclsimLaunched.restype = ctypes.c_char_p
        library.aclsimFindings.restype = ctypes.c_char_p
        library.aclsimGetOption.restype = ctypes.c_char_p
        library.aclsimGetOption.argtypes = (ctypes.c_char_p,)
        library.aclGetRecentErrMsg.restype = ctypes.c_char_p
    except (OSError, AttributeError):
        return None
    return library


def in_place() -> bool:
    """Whether the simulator stands in CANN's place."""
    return _acl() is not None


def launches(op_type: str) -> int:
    """How often an operator's kernel was launched."""
    library = _acl()
    return int(library.aclsimLaunchesOf(op_type.encode())) if library else 0


def recent_error() -> str:
    """Text of the last refusal."""
    library = _acl()
    text = library.aclGetRecentErrMsg() if library else None
    return text.decode(errors="replace") if text else ""


def host_view(device: int, size: int, written: bool) -> int:
    """Address of the bytes behind device memory; ``written`` says that they are defined from now
    on.
    """
    library = _acl()
    view = library.aclsimHostView(device, size, int(written)) if library else None
    if view is None:
        raise RuntimeError(f"device memory at {device:#x}: {recent_error()}")
    return int(view)


def private_formats() -> bool:
    """Whether a tensor has been described in a private format."""
    library = _acl()
    return bool(library.aclsimPrivateFormats()) if library else False


def place(frame: FrameType | None) -> str:
    """The line of the program that a frame belongs to: ``train.py:31``, the first outside of
    PyTorch and of installed packages; ``(by wrapper.py:7)`` where such a package stands between.
    """
    inner = ""
    while frame is not None:
        name = frame.f_code.co_filename
        if not name.startswith(LIBRARIES) and not name.startswith("<"):
            line = f"{name}:{frame.f_lineno}"
            if not name.startswith(_INSTALLED):
                return f"{line} (by {inner})" if inner else line
            inner = inner or line
        frame = frame.f_back
    return inner


def _describe(text: Any, size: int) -> None:
    """Write the line of the program that this thread is in."""
    line = place(sys._getframe().f_back).encode()[: size - 1]
    if line:
        ctypes.memmove(text, line + b"\0", len(line) + 1)


def _tensors(memories: Any, room: int) -> int:
    """Write where torch_npu's pool has tensors: address, bytes of the tensor, bytes set aside."""
    snapshot: Any = importlib.import_module("torch_npu")._C._npu_memorySnapshot
    found = []
    try:
        for segment in snapshot(None)["segments"]:
            for block in segment["blocks"]:
                live = block["state"] != "inactive"
                size = block.get("requested_size", block["size"]) if live else 0
                found.append((block["address"], size, block["size"]))
    except (RuntimeError, KeyError):  # another allocator, which has its own idea of tensors
        return 0
    if len(found) <= room:
        flat = array("Q", (number for one in sorted(found) for number in one))
        ctypes.memmove(memories, flat.buffer_info()[0], len(flat) * flat.itemsize)
    return len(found)


# Kept, as the simulator holds their addresses.
_DESCRIBE = ctypes.CFUNCTYPE(None, ctypes.POINTER(ctypes.c_char), ctypes.c_uint64)(_describe)
_TENSORS = ctypes.CFUNCTYPE(ctypes.c_uint64, ctypes.c_void_p, ctypes.c_uint64)(_tensors)


def know_launches() -> None:
    """Let failures of launches name the program's line, and launches know where tensors end."""
    library = _acl()
    if library is not None:
        library.aclsimSetDescribeCaller(_DESCRIBE)
        library.aclsimSetListTensors(_TENSORS)


def launched() -> list[dict[str, Any]]:
    """What was launched: kernel, launches, checked, failed."""
    library = _acl()
    return list(json.loads(library.aclsimLaunched() or b"[]")) if library else []


def findings() -> list[dict[str, Any]]:
    """What the checks have found, with the names of aclsim.h."""
    library = _acl()
    return list(json.loads(library.aclsimFindings() or b"[]")) if library else []


def option(name: str) -> str:
    """An option of the simulator that is in force."""
    library = _acl()
    return (library.aclsimGetOption(name.encode()) or b"").decode() if library else ""
