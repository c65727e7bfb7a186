# SPDX-License-Identifier: Apache-2.0
"""What the fallback needs from the simulator's libraries."""

from __future__ import annotations

import ctypes
import importlib.util
import os
import sys
from functools import cache
from types import FrameType
from typing import Any

_TORCH = importlib.util.find_spec("torch")
LIBRARIES = tuple(
    os.path.dirname(origin)
    for origin in (__file__, _TORCH.origin if _TORCH else None)
    if origin is not None
)
"""Folders whose lines are not the program's."""


@cache
def _acl() -> ctypes.CDLL | None:
    """The simulator's libascendcl.so, when that is what the name stands for in this process."""
    try:
        library = ctypes.CDLL("libascendcl.so", mode=ctypes.RTLD_GLOBAL)
        library.aclsimHostView.restype = ctypes.c_void_p
        library.aclsimHostView.argtypes = (ctypes.c_void_p, ctypes.c_uint64, ctypes.c_int32)
        library.aclsimLaunchesOf.restype = ctypes.c_uint64
        library.aclsimLaunchesOf.argtypes = (ctypes.c_char_p,)
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


def _describe(text: Any, size: int) -> None:
    """Write the line of the program that this thread is in: the first outside of PyTorch."""
    frame: FrameType | None = sys._getframe().f_back
    while frame is not None and frame.f_code.co_filename.startswith(LIBRARIES):
        frame = frame.f_back
    if frame is not None:
        place = f"{frame.f_code.co_filename}:{frame.f_lineno}".encode()[: size - 1]
        ctypes.memmove(text, place + b"\0", len(place) + 1)


# Kept, as the simulator holds its address.
_DESCRIBE = ctypes.CFUNCTYPE(None, ctypes.POINTER(ctypes.c_char), ctypes.c_uint64)(_describe)


def name_launches() -> None:
    """Let failures of launches name the program's line."""
    library = _acl()
    if library is not None:
        library.aclsimSetDescribeCaller(_DESCRIBE)
