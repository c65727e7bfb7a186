# SPDX-License-Identifier: Apache-2.0
"""One rank of test_hccl.py: a process that uses libhccl.so by ctypes, without PyTorch.

Usage: hccl_rank.py TOOLKIT RANK RANKS ROOT SCENARIO
ROOT is a file with the root info, which rank 0 makes.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

TYPES = {"int8": 0, "int16": 1, "int32": 2, "float16": 3, "float32": 4, "int64": 5, "uint8": 7}
SUM, PROD, MAX, MIN = 0, 1, 2, 3
TO_DEVICE, TO_HOST = 1, 2
ROOT_BYTES = 4108
Array = NDArray[np.generic]


class Item(ctypes.Structure):
    """HcclSendRecvItem."""

    _fields_ = (
        ("kind", ctypes.c_int),
        ("memory", ctypes.c_void_p),
        ("count", ctypes.c_uint64),
        ("type", ctypes.c_int),
        ("peer", ctypes.c_uint32),
    )


class Rank:
    """A device of this process, a stream, a communicator."""

    def __init__(self, toolkit: str, rank: int, ranks: int, device: int) -> None:
        """Opens the libraries and the device."""
        self.acl = ctypes.CDLL(f"{toolkit}/lib64/libascendcl.so", mode=ctypes.RTLD_GLOBAL)
        self.hccl = ctypes.CDLL(f"{toolkit}/lib64/libhccl.so")
        self.acl.aclGetRecentErrMsg.restype = ctypes.c_char_p
        self.hccl.HcclGetErrorString.restype = ctypes.c_char_p
        self.rank, self.ranks = rank, ranks
        self.files: list[str] = []
        self.comm, self.stream = ctypes.c_void_p(), ctypes.c_void_p()
        self.ok(self.acl.aclInit(None))
        self.ok(self.acl.aclrtSetDevice(device))
        self.ok(self.acl.aclrtCreateStream(ctypes.byref(self.stream)))

    def message(self) -> str:
        """What aclGetRecentErrMsg has to say."""
        return (self.acl.aclGetRecentErrMsg() or b"").decode()

    def ok(self, code: int) -> None:
        """What a call must return."""
        if code != 0:
            raise RuntimeError(f"{code}: {self.message()}")

    def join(self, root: Path) -> None:
        """Become a rank of the communicator whose root info rank 0 writes."""
        info = ctypes.create_string_buffer(ROOT_BYTES)
        if self.rank == 0:
            self.ok(self.hccl.HcclGetRootInfo(info))
            self.files = shared_files()
            part = root.with_suffix(".part")
            part.write_bytes(info.raw)
            part.rename(root)
        while not root.exists():
            time.sleep(0.01)
        info.raw = root.read_bytes()
        self.ok(
            self.hccl.HcclCommInitRootInfo(self.ranks, info, self.rank, ctypes.byref(self.comm))
        )

    def put(self, values: Array) -> int:
        """Device memory with these values."""
        memory = ctypes.c_void_p()
        self.ok(self.acl.aclrtMalloc(ctypes.byref(memory), max(values.nbytes, 1), 0))
        at = memory.value or 0
        if values.nbytes:
            size, data = ctypes.c_uint64(values.nbytes), pointer(values.ctypes.data)
            self.ok(self.acl.aclrtMemcpy(memory, size, data, size, TO_DEVICE))
        return at

    def get(self, memory: int, like: Array) -> Array:
        """What is there, once the stream is done."""
        self.ok(self.acl.aclrtSynchronizeStream(self.stream))
        values = np.empty_like(like)
        if values.nbytes:
            size, data = ctypes.c_uint64(values.nbytes), pointer(values.ctypes.data)
            self.ok(self.acl.aclrtMemcpy(data, size, pointer(memory), size, TO_HOST))
        return values

    def call(self, name: str, *args: object) -> None:
        """A function on this communicator and stream; addresses as int, counts as c_uint64."""
        self.ok(getattr(self.hccl, name)(*args, self.comm, self.stream))


def pointer(address: int) -> ctypes.c_void_p:
    """An address for ctypes, which passes an int in 32 bits."""
    return ctypes.c_void_p(address)


def of(rank: int, size: int, dtype: str) -> Array:
    """What a rank sends."""
    values = np.random.default_rng(rank).integers(-20, 20, size)
    if np.dtype(dtype).kind == "f":
        return (values / 7).astype(dtype)
    return values.astype(dtype)


def reduced(arrays: list[Array], op: int) -> Array:
    """The same, in the order of the ranks, each step rounded."""
    step = (np.add, np.multiply, np.maximum, np.minimum)[op]
    total = arrays[0].copy()
    for array in arrays[1:]:
        total = step(total, array)
    return total


def same(got: Array, want: Array, what: object) -> None:
    """Bit for bit."""
    if got.tobytes() != want.tobytes():
        raise AssertionError(f"{what}: got {got[:8]}, want {want[:8]}")


def collectives(me: Rank) -> None:
    """Every call with the numbers of NumPy, for sizes of no, few and many bytes."""
    n, r = me.ranks, me.rank
    count = ctypes.c_uint64
    for size in (0, 1, 5, 4096, 200_003):
        for dtype in ("float32", "float16", "int32", "int8", "int64"):
            kind = TYPES[dtype]
            sent = [of(rank, size, dtype) for rank in range(n)]
            mine = me.put(sent[r])
            for op in (SUM, PROD, MAX, MIN):
                into = me.put(np.zeros(size, dtype))
                me.call("HcclAllReduce", pointer(mine), pointer(into), count(size), kind, op)
                same(me.get(into, sent[0]), reduced(sent, op), ("AllReduce", size, dtype, op))
            into = me.put(np.zeros(size, dtype))
            me.call("HcclReduce", pointer(mine), pointer(into), count(size), kind, SUM, n - 1)
            if r == n - 1:
                same(me.get(into, sent[0]), reduced(sent, SUM), ("Reduce", size, dtype))
            whole = np.concatenate(sent)
            into = me.put(np.zeros(size * n, dtype))
            me.call("HcclAllGather", pointer(mine), pointer(into), count(size), kind)
            same(me.get(into, whole), whole, ("AllGather", size, dtype))
            long = [of(100 + rank, size * n, dtype) for rank in range(n)]
            mine_long = me.put(long[r])
            into = me.put(np.zeros(size, dtype))
            me.call("HcclReduceScatter", pointer(mine_long), pointer(into), count(size), kind, SUM)
            want = reduced(long, SUM)[r * size : (r + 1) * size]
            same(me.get(into, want), want, ("ReduceScatter", size, dtype))
            into = me.put(np.zeros(size * n, dtype))
            args = (pointer(mine_long), count(size), kind, pointer(into), count(size), kind)
            me.call("HcclAlltoAll", *args)
            want = np.concatenate([one[r * size : (r + 1) * size] for one in long])
            same(me.get(into, want), want, ("AlltoAll", size, dtype))
            into = me.put(np.zeros(size, dtype))
            me.call("HcclScatter", pointer(mine_long), pointer(into), count(size), kind, 0)
            want = long[0][r * size : (r + 1) * size]
            same(me.get(into, want), want, ("Scatter", size, dtype))
            buffer = me.put(sent[r])
            me.call("HcclBroadcast", pointer(buffer), count(size), kind, n - 1)
            same(me.get(buffer, sent[0]), sent[n - 1], ("Broadcast", size, dtype))
    # Rank r sends r + i + 1 numbers to rank i.
    counts = [[a + b + 1 for b in range(n)] for a in range(n)]
    full = [of(rank, sum(counts[rank]), "float32") for rank in range(n)]
    starts = [np.concatenate([[0], np.cumsum(row)]).astype(np.uint64) for row in counts]
    want = np.concatenate([full[a][int(starts[a][r]) : int(starts[a][r + 1])] for a in range(n)])
    got_counts = np.array([counts[a][r] for a in range(n)], np.uint64)
    got_starts = np.concatenate([[0], np.cumsum(got_counts)[:-1]]).astype(np.uint64)
    sent_counts = np.array(counts[r], np.uint64)
    mine, into = me.put(full[r]), me.put(np.zeros_like(want))
    sending = (pointer(mine), pointer(sent_counts.ctypes.data), pointer(starts[r].ctypes.data), 4)
    getting = (pointer(into), pointer(got_counts.ctypes.data), pointer(got_starts.ctypes.data), 4)
    me.call("HcclAlltoAllV", *sending, *getting)
    same(me.get(into, want), want, "AlltoAllV")
    me.call("HcclBarrier")
    me.ok(me.acl.aclrtSynchronizeStream(me.stream))


def messages(me: Rank) -> None:
    """A ring by send and receive, and all to all in one batch."""
    n, r, size = me.ranks, me.rank, 300_000
    mine, into = me.put(of(r, size, "float32")), me.put(np.zeros(size, "float32"))
    send = (pointer(mine), ctypes.c_uint64(size), 4, (r + 1) % n)
    receive = (pointer(into), ctypes.c_uint64(size), 4, (r - 1) % n)
    for name, args in sorted([("HcclSend", send), ("HcclRecv", receive)], reverse=r != 0):
        me.call(name, *args)
    same(me.get(into, of(0, size, "float32")), of((r - 1) % n, size, "float32"), "ring")
    others = [rank for rank in range(n) if rank != r]
    parts = {rank: me.put(np.zeros(size, "float32")) for rank in others}
    items = [Item(0, mine, size, 4, rank) for rank in others]
    items += [Item(1, parts[rank], size, 4, rank) for rank in others]
    me.call("HcclBatchSendRecv", (Item * len(items))(*items), len(items))
    for rank in others:
        same(me.get(parts[rank], of(0, size, "float32")), of(rank, size, "float32"), "batch")


def all_reduce(me: Rank, count: int = 4) -> str:
    """One call; what it says when it fails."""
    mine = me.put(np.ones(8, "float32"))
    me.call("HcclAllReduce", pointer(mine), pointer(mine), ctypes.c_uint64(count), 4, SUM)
    code = me.acl.aclrtSynchronizeStream(me.stream)
    text = me.message()
    error = ctypes.c_int(-1)
    me.ok(me.hccl.HcclGetCommAsyncError(me.comm, ctypes.byref(error)))
    return f"{code != 0} {error.value} {text}"


def other_call(me: Rank) -> None:
    """Rank 1 broadcasts where the others reduce."""
    if me.rank == 1:
        mine = me.put(np.ones(8, "float32"))
        me.call("HcclBroadcast", pointer(mine), ctypes.c_uint64(4), 4, 0)
        me.acl.aclrtSynchronizeStream(me.stream)
        print(me.message())
    else:
        print(all_reduce(me))


def other_count(me: Rank) -> None:
    """Rank 1 reduces more."""
    print(all_reduce(me, 4 + me.rank % 2))


def killed(me: Rank) -> None:
    """Rank 1 dies before the call."""
    if me.rank == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    print(all_reduce(me))


def late(me: Rank) -> None:
    """Rank 1 never calls."""
    if me.rank == 1:
        time.sleep(4)
        os._exit(0)
    print(all_reduce(me))


def left(me: Rank) -> None:
    """Rank 1 destroys its communicator."""
    if me.rank == 1:
        me.ok(me.hccl.HcclCommDestroy(me.comm))
        time.sleep(2)
    else:
        print(all_reduce(me))


def shared_files() -> list[str]:
    """Rights of the open files through which this process shares memory."""
    rights = []
    for number in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            if "aclgrad-hccl" in os.readlink(f"/proc/self/fd/{number}"):
                rights.append(oct(os.stat(f"/proc/self/fd/{number}").st_mode & 0o777))
    return rights


def files(me: Rank) -> None:
    """Rank 0 has one until all are there; afterwards nobody has, and there is no name to delete."""
    print(me.files, shared_files())


SCENARIOS: dict[str, Callable[[Rank], None]] = {
    one.__name__: one
    for one in (
        collectives,
        messages,
        other_call,
        other_count,
        killed,
        late,
        left,
        files,
    )
}


def main(toolkit: str, rank: int, ranks: int, root: str, scenario: str) -> int:
    """Entry point."""
    me = Rank(toolkit, rank, ranks, 0 if scenario == "one_device" else rank)
    if scenario == "alone":
        me.ranks = 2
    try:
        me.join(Path(root))
    except RuntimeError as error:
        print(error)
        return 3
    SCENARIOS[scenario](me)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4], sys.argv[5]))
