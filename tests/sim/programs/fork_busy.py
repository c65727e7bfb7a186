# SPDX-License-Identifier: Apache-2.0
"""Forks again and again while threads call operators: fork_busy.py <forks> <threads>."""

from __future__ import annotations

import os
import signal
import sys
import threading

import numpy as np
from numpy.testing import (
    assert_allclose,  # numpy imports it on first use, and no fork waits for that
)

import aclgrad
from aclgrad.runtime import open_device

_SECONDS = 60
_GRAD = np.arange(120, dtype=np.float32).reshape(3, 40)
_WANT = _GRAD * 0.5 - (_GRAD * 0.5).sum(-1, keepdims=True) * 0.5


def call() -> None:
    """One call that must give the right numbers."""
    got = aclgrad.softmax_backward(_GRAD, np.full_like(_GRAD, 0.5), dim=-1)
    assert_allclose(got, _WANT, rtol=1e-4)


def fork(depth: int) -> None:
    """A child that uses the package, and so does its own child."""
    child = os.fork()
    if child == 0:
        signal.alarm(_SECONDS)
        try:
            call()
            assert open_device() is device
            if depth:
                fork(depth - 1)
            os._exit(0)
        finally:
            os._exit(1)
    _, status = os.waitpid(child, 0)
    assert status == 0, f"a child at depth {depth} ended with status {status:#x}"


forks, count = map(int, sys.argv[1:])
device = open_device()
buffer = device.buffer(64)
buffer.write(np.arange(64, dtype=np.uint8))
done = threading.Event()


def work() -> None:
    """Keep the libraries busy."""
    while not done.is_set():
        call()


threads = [threading.Thread(target=work) for _ in range(count)]
for thread in threads:
    thread.start()
for _ in range(forks):
    fork(1)
done.set()
for thread in threads:
    thread.join()
assert (buffer.read(np.dtype(np.uint8)) == np.arange(64)).all()
if os.fork() == 0:
    signal.alarm(_SECONDS)
    call()
    sys.exit(0)  # through the interpreter's exit handlers
_, status = os.wait()
assert status == 0, f"a child that exits ended with status {status:#x}"
call()
