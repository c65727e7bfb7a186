# SPDX-License-Identifier: Apache-2.0
"""Runs code of others in a process of its own: whatever ends that ends the case it was at."""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import json
import math
import mmap
import os
import re
import select
import signal
import sys
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NoReturn, TypeVar

from aclgrad.common import host_memory
from aclgrad.errors import AclgradError

CRASHED, SLOW = "crashed", "timed out"
"""How work may end, beside well."""

A = TypeVar("A", bound=Mapping[str, object])
"""An answer: what JSON has types for."""

Ended = tuple[str, str]
Answered = tuple[A | None, Ended | None]
"""An answer of a process, or how it ended when it did not end well."""

_RAISED, _DONE = "raised", "done"
"""Keys of the last answer of a child: what exception ended it, or that it has done its work."""

_STAGE = mmap.mmap(-1, 512)
"""The code of others that a process is in; its parent reads it when that has ended the process."""


def enter(where: str) -> None:
    """Say which code of others runs now."""
    _STAGE[:] = where.encode()[: len(_STAGE)].ljust(len(_STAGE), b"\0")


def entered() -> str:
    """What a child has said last."""
    return _STAGE[:].rstrip(b"\0").decode("utf-8", "replace") or "op_host or in the kernel"


def isolated(
    work: Callable[[], Iterator[A]], deadline: float, *, prints: bool = False
) -> Iterator[Answered[A]]:
    """What work yields in a forked child, and how it ended when it did not end well. What it
    ``prints`` is shown or not.
    """
    read, write = os.pipe()
    _widen(write)
    _flush()
    enter("")
    child = os.fork()
    if child == 0:
        _be_child(work, read, write, prints)
    os.close(write)
    status = None
    try:
        answers: Generator[Answered[A], None, tuple[bool, Ended | None]]
        answers = _answers(read, child, deadline)
        done, ended = yield from answers
        _, status = os.waitpid(child, 0)
    finally:
        if status is None:  # nobody wants the rest
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
    if ended is None and os.WIFSIGNALED(status):
        name = signal.Signals(os.WTERMSIG(status)).name
        ended = (CRASHED, f"{name} in {entered()}")
        if name == "SIGKILL":
            ended = (CRASHED, f"{ended[1]}, as the system ends what takes too much: {_short()}")
    elif ended is None and not done:
        ended = (CRASHED, f"it ended the process with status {os.WEXITSTATUS(status)}")
    if ended is not None:
        yield None, ended


def _widen(pipe: int) -> None:
    """Let a child go on while its parent waits for another one."""
    with contextlib.suppress(OSError):  # the user has reached the limit of such memory
        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, 1 << 20)


def _answers(
    read: int, child: int, deadline: float
) -> Generator[Answered[A], None, tuple[bool, Ended | None]]:
    """The answers of a child, whether it has done its work, and how it ended if one says so, or it
    was ended.
    """
    pending, done = b"", False
    ended: Ended | None = None
    with os.fdopen(read, "rb", buffering=0) as stream:
        while True:
            left = None if deadline == math.inf else max(deadline - time.monotonic(), 0)
            ready, _, _ = select.select([stream], [], [], left)
            if not ready:
                os.kill(child, signal.SIGKILL)
                ended = (SLOW, "it did not end within the time limit")
                break
            data = stream.read(1 << 16)
            if not data:
                break
            pending += data
            *lines, pending = pending.split(b"\n")
            for line in lines:
                answer = json.loads(line)
                if raised := answer.get(_RAISED):
                    ended = (CRASHED, raised)
                elif _DONE in answer:
                    done = True
                else:
                    yield answer, None
    return done, ended


def case_by_case(
    count: int,
    work: Callable[[int], Iterator[A]],
    deadline: Callable[[int], float],
    until: float = math.inf,
    *,
    prints: bool = False,
) -> Generator[Answered[A]]:
    """What ``work(first)`` answers for each of ``count`` cases. Whatever ends a process ends the
    case that it was at, and ``until`` then another goes on behind it; ``deadline`` is that of a
    process for so many cases. A process without an answer is the last.
    """
    done = 0
    while done < count and time.monotonic() < until:
        first = done
        for answered in isolated(partial(work, first), deadline(count - first), prints=prints):
            if done < count:
                done += 1
                yield answered
        if done == first:
            return


def in_turn(parts: Sequence[Generator[Answered[A]]]) -> Generator[Answered[A]]:
    """One answer of each part after the other, until a part has none. The processes of all parts
    run at the same time.
    """
    try:
        while True:
            for part in parts:
                answered = next(part, None)
                if answered is None:
                    return
                yield answered
    finally:
        for part in parts:
            part.close()


def _keep_memory() -> None:
    """Let the allocator keep freed memory: arrays of each case would be mapped and cleared anew,
    a third of a run's processor time.
    """
    libc = ctypes.CDLL(None)
    if hasattr(libc, "mallopt"):  # glibc's
        trim_threshold, mmap_threshold = -1, -3
        libc.mallopt(mmap_threshold, 32 << 20)
        libc.mallopt(trim_threshold, 512 << 20)


def _raised(error: BaseException) -> str:
    """What the parent says of an exception that ended its child."""
    if isinstance(error, AclgradError):
        return str(error)
    lacks_memory = isinstance(error, MemoryError)
    name = "MemoryError" if lacks_memory else type(error).__name__  # NumPy has one of its own
    text = f"{name}: {error}" if str(error) else name
    return f"{text}; {_short()}" if lacks_memory else text


def _short() -> str:
    left, limit = host_memory.available()
    return f"{limit} leaves {left >> 20:,} MB. Next: smaller tensors, or raise the limit"


def _be_child(
    work: Callable[[], Iterator[Mapping[str, object]]], read: int, write: int, prints: bool
) -> NoReturn:
    """Never returns: the parent's exit handlers are not the child's."""
    status = 1
    try:
        os.close(read)
        stream = os.fdopen(write, "wb")

        def send(answer: Mapping[str, object]) -> None:
            stream.write(json.dumps(answer).encode() + b"\n")
            stream.flush()

        try:
            _keep_memory()
            if not prints:
                quiet = os.open(os.devnull, os.O_RDWR)
                os.dup2(quiet, 1)
                os.dup2(quiet, 2)
            for answer in work():
                send(answer)
            send({_DONE: True})
            status = 0
        except BaseException as error:
            send({_RAISED: _raised(error)})
    finally:
        try:
            _flush()
        finally:
            os._exit(status)


def _flush() -> None:
    """Write out what this process has printed, from Python and from C."""
    sys.stdout.flush()
    ctypes.CDLL(None).fflush(None)


def in_debugger() -> bool:
    """Whether a debugger traces this process; it would not see what a child does."""
    try:
        status = Path("/proc/self/status").read_text("ascii", "replace")
    except OSError:
        return False
    return re.search(r"^TracerPid:\s*[1-9]", status, re.MULTILINE) is not None


def first_reason(message: str) -> str:
    """The line of an error that names the cause: reports of op_host come last."""
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    return lines[-1][:300] if lines else ""
