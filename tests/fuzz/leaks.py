# SPDX-License-Identifier: Apache-2.0
"""Whether cases leave memory behind: the same ones over and over must not add up."""

from __future__ import annotations

import ctypes as c
import gc
import os
from collections.abc import Callable, Sequence

from aclgrad.call import TensorDesc
from fuzz.abi import Abi
from fuzz.draw import Drawn
from fuzz.execute import Runner

_ROUNDS = 6
_QUARANTINE = 4200
"""More handles than the library keeps back after their end."""


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


def check(abi: Abi, runner: Runner, cases: Sequence[Drawn]) -> str:
    """Run the cases again and again; returns what grows, or nothing."""
    for _ in range(_QUARANTINE):
        abi.destroy_tensor(abi.tensor(TensorDesc((1,)), None))
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
    # The first rounds fill caches.
    tail = heap[1:]
    growing = all(later > earlier for earlier, later in zip(tail, tail[1:], strict=False))
    if growing and (tail[-1] - tail[0]) / (len(tail) - 1) >= 16 * len(cases):
        return f"the C heap grows with every repetition of {len(cases)} cases: {heap} bytes"
    if device[-1] < device[1]:
        return f"device memory shrinks with every repetition: {device} bytes free"
    if threads[-1] > threads[1]:
        return f"threads stay: {threads}"
    return ""
