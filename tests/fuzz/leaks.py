# SPDX-License-Identifier: Apache-2.0
"""Whether cases leave memory behind: the same ones over and over must not add up."""

from __future__ import annotations

import ctypes as c
import gc
import os
from collections.abc import Callable, Sequence

from fuzz.abi import Abi
from fuzz.draw import Drawn
from fuzz.execute import Runner

_ROUNDS = 6
_BLOCKS = 66_000
_WARM_UP = 40
"""Freed blocks, and rounds, until what the library keeps back of dead memory and handles is the
same every time.
"""


class _MallInfo(c.Structure):
    _fields_ = [(f"f{index}", c.c_size_t) for index in range(10)]  # noqa: RUF012


def allocated_bytes() -> Callable[[], int]:
    """Return a function that counts the bytes in use on the C heap."""
    process = c.CDLL(None)
    counter = getattr(process, "__sanitizer_get_current_allocated_bytes", None)
    if counter is not None:
        counter.restype = c.c_size_t
        return lambda: int(counter())
    info = process.mallinfo2
    info.restype = _MallInfo

    def in_use() -> int:
        now = info()
        return int(now.f7) + int(now.f4)  # uordblks, hblkhd

    return in_use


_LEAST = 64
"""Bytes per round that count: one small object."""


def check(abi: Abi, runner: Runner, cases: Sequence[Drawn]) -> str:
    """Run the cases again and again; returns what grows, or nothing."""
    for _ in range(_BLOCKS):
        abi.device.buffer(1).free()
    for _ in range(_WARM_UP):
        for case in cases:
            runner.run(case)
    measure = allocated_bytes()
    heap: list[int] = []
    device: list[int] = []
    threads: list[int] = []
    for _ in range(_ROUNDS):
        for case in cases:
            runner.run(case)
        gc.collect()
        heap.append(measure())
        device.append(abi.free_bytes())
        threads.append(len(os.listdir("/proc/self/task")))
    growing = all(later > earlier for earlier, later in zip(heap, heap[1:], strict=False))
    if growing and heap[-1] - heap[0] >= _LEAST * (len(heap) - 1):
        return f"the C heap grows with every repetition of {len(cases)} cases: {heap} bytes"
    if device[-1] < device[0]:
        return f"device memory shrinks with every repetition: {device} bytes free"
    if threads[-1] > threads[0]:
        return f"threads stay: {threads}"
    return ""
