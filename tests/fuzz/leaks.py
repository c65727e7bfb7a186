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
_BATCHES = 2
"""Of so many rounds, each of which must grow before it counts as a leak."""

_WARM_UP = 16
"""Rounds until tables and caches have the size that they keep."""

EXACT = {"GLIBC_TUNABLES": "glibc.malloc.tcache_count=0"}
"""The environment of a process that is measured: what a thread has freed and keeps for itself would
count as in use, another amount each time.
"""


class _MallInfo(c.Structure):
    _fields_ = [(f"f{index}", c.c_size_t) for index in range(10)]


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
    measure = allocated_bytes()

    def run() -> tuple[int, int, int]:
        for case in cases:
            runner.run(case)
        abi.restart()
        gc.collect()
        return measure(), abi.free_bytes(), len(os.listdir("/proc/self/task"))

    for _ in range(_WARM_UP):
        run()
    grown = ""
    for _ in range(_BATCHES):
        heap, device, threads = zip(*(run() for _ in range(_ROUNDS)), strict=True)
        grown = _growth(heap, device, threads, len(cases))
        if not grown:
            break
    return grown


def _growth(heap: Sequence[int], device: Sequence[int], threads: Sequence[int], cases: int) -> str:
    growing = all(later > earlier for earlier, later in zip(heap, heap[1:], strict=False))
    if growing and heap[-1] - heap[0] >= _LEAST * (len(heap) - 1):
        return f"the C heap grows with every repetition of {cases} cases: {heap} bytes"
    if device[-1] < device[0]:
        return f"device memory shrinks with every repetition: {device} bytes free"
    if threads[-1] > threads[0]:
        return f"threads stay: {threads}"
    return ""
