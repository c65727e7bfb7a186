# SPDX-License-Identifier: Apache-2.0
"""Calls functions of a project's library: a crash in one is an error with its name."""

from __future__ import annotations

import ctypes as c
import platform
import struct
from collections.abc import Sequence
from typing import TYPE_CHECKING

from aclgrad.reading.sources import SourcesError
from aclgrad.runtime.library import Libraries

if TYPE_CHECKING:
    from _ctypes import CFuncPtr

_INTEGERS, _REALS, _REST = 8 if platform.machine() == "aarch64" else 6, 8, 48


class _Arguments(c.Structure):
    """The simulator's aclsimArguments."""

    _fields_ = [
        ("integers", c.c_uint64 * _INTEGERS),
        ("reals", c.c_uint64 * _REALS),
        ("rest", c.c_uint64 * _REST),
    ]


def call(libraries: Libraries, function: CFuncPtr, arguments: Sequence[object], where: str) -> int:
    """What a function returns, from arguments of ctypes."""
    guarded = libraries.optional(libraries.acl, "aclsimCallForeign")
    integers: list[int] = []
    reals: list[int] = []
    rest: list[int] = []
    for argument in arguments:
        real = isinstance(argument, (c.c_double, c.c_float))
        here, most = (reals, _REALS) if real else (integers, _INTEGERS)
        (here if len(here) < most else rest).append(_word(argument))
    if guarded is None or len(rest) > _REST:
        return int(function(*arguments))
    packed = _Arguments(
        (c.c_uint64 * _INTEGERS)(*integers),
        (c.c_uint64 * _REALS)(*reals),
        (c.c_uint64 * _REST)(*rest),
    )
    returned, text = c.c_int32(), c.create_string_buffer(1024)
    if guarded(
        c.cast(function, c.c_void_p),
        c.byref(packed),
        c.byref(returned),
        text,
        c.c_uint64(len(text)),
    ):
        what = text.value.decode("utf-8", "replace")
        raise SourcesError(f"{where} {what}\nNext: aclgrad run with these inputs, under gdb")
    return returned.value


def _word(argument: object) -> int:
    """Its bytes, as a register has them."""
    if argument is None:
        return 0
    if isinstance(argument, c.c_double):
        return int(struct.unpack("<Q", struct.pack("<d", argument.value))[0])
    if isinstance(argument, c.c_float):
        return int(struct.unpack("<I", struct.pack("<f", argument.value))[0])
    if isinstance(argument, (c.c_void_p, c.c_char_p)):
        return c.cast(argument, c.c_void_p).value or 0
    if hasattr(argument, "_obj"):  # of byref
        return c.addressof(argument._obj)
    if not hasattr(argument, "value"):
        raise TypeError(f"{argument!r} is no argument of a C function")
    return int(argument.value) & (2**64 - 1)
