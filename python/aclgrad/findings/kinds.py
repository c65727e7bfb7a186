# SPDX-License-Identifier: Apache-2.0
"""Every kind of finding: its severity, its title and what it means."""

from __future__ import annotations

from dataclasses import dataclass

ERROR, WARNING, HINT = "error", "warning", "hint"
"""An error fails a check; a warning would, but rests on inputs that nobody has confirmed."""

_TITLES = {
    "memory": {
        "ub-out-of-bounds": "access past the ends of a UB buffer",
        "ub-misaligned": "UB operand off the boundary that the instruction needs",
        "ub-never-allocated": "LocalTensor without a buffer",
        "ub-use-after-free": "tensor used after FreeTensor",
        "ub-overflow": "buffers beyond what UB holds",
        "ub-reserved": "buffers in the part of UB that the toolchain keeps",
        "ub-scratch": "scratch overwrites values, or is too small",
        "gm-out-of-bounds": "access past the ends of a GM tensor",
        "gm-overrun": "write past the ends of a device allocation",
        "workspace-too-small": "access past the end of the workspace that the tiling asked for",
        "gm-write-to-input": "write into an input",
        "gm-write-to-constant": "write into a constant of the kernel's source",
        "output-unwritten": "output, or part of one, that nobody wrote",
        "undefined-read": "result made of bytes that nobody has written",
        "undefined-padding": "result made of padding without a defined value",
    },
    "queues and flags": {
        "queue-not-initialised": "queue or TBuf without InitBuffer",
        "queue-exhausted": "AllocTensor with all buffers in use",
        "queue-tensor-limit": "more tensors of a position in use than allowed",
        "queue-order": "EnQue or FreeTensor in the wrong state",
        "queue-depth": "more EnQue without DeQue than the depth of the queue",
        "queue-empty": "DeQue from an empty queue",
        "queue-foreign-tensor": "tensor of another queue",
        "queue-leak": "buffer not given back at the end of the kernel",
        "flag-set-twice": "flag set again before it was waited for",
        "flag-wait-twice": "flag waited for again before it was set",
        "flag-leak": "flag set and never waited for",
        "mutex-use": "Lock and Unlock of a mutex that are no pair",
        "event-id-range": "event id that does not exist",
        "event-id-exhausted": "no free event id",
        "event-id-shared": "event id of a hand-written flag that a queue has in use",
        "barrier-pipe": "barrier of a pipe that has none",
        "deadlock": "wait that nothing can end",
        "syncall-cores": "SyncAll that not all cores can reach, or that leaves some out",
        "sync-workspace": "words of SyncAll, IBSet or IBWait that were not cleared before",
        "cross-core-flag": "cross-core flag out of range or never waited for",
        "block-event": "IBSet or IBWait of no block or event, or a mark never waited for",
    },
    "order of pipes and cores": {
        "race-read-after-write": "pipes not ordered: may read before the write",
        "race-write-after-read": "pipes not ordered: may write before the read",
        "race-write-after-write": "pipes not ordered: either write may be last",
        "local-memory-order": (
            "loads and stores of a vector function to the same bytes, by two registers, without a"
            " barrier"
        ),
        "gm-conflict": "cores not ordered: same bytes of GM, one of them writes",
        "gm-line-shared": "cores write one cache line through their caches",
        "gm-cache": "data cache not cleaned: scalar write stays in it, or old value is read",
        "atomic-order": "floating-point sum of several cores: its last bits change from run to run",
    },
    "rules of instructions": {
        "instruction-absent": "instruction that the SoC does not have",
        "dtype-unsupported": "dtype that the instruction does not have",
        "cast-unsupported": "pair of dtypes or rounding mode that Cast does not have",
        "count-range": "count of elements out of range",
        "repeat-range": "repeatTimes out of range",
        "stride-range": "stride out of range",
        "mask-range": "mask that names lanes which the type or the mode does not have",
        "int4-pairs": "int4 count or mask that splits a byte",
        "gather-pattern": "pattern that GatherMask does not have",
        "fractal-order": "fractals of a matrix in another order than Mmad takes",
        "merge-queues": "queues that MrgSort cannot merge",
        "proposal-field": "field that a region proposal does not have",
        "reduce-order": "ReduceOrder that the SoC does not have",
        "copy-block-count": "blockCount out of range",
        "copy-block-length": "blockLen that the copy does not allow",
        "copy-padding": "padding that DataCopyPad does not allow",
        "atomic-length": "atomic copy of part of an element",
        "atomic-dtype": "atomic copy of another dtype than the one that was set",
        "atomic-left-on": "atomic copies not switched off at the end",
        "shift-range": "shift by more than the width of the type",
        "overlap": "source and destination overlap",
        "shape": "shape that the call does not allow",
        "value-range": "value of an operand that the function does not allow",
        "vector-function": "register instruction outside of a vector function, or one in another",
        "unaligned-register": (
            "StoreUnAlign and LoadUnAlign in a wrong order, or without their Pre or Post"
        ),
        "matmul-use": "Matmul object used in a wrong order, or with a tiling that does not fit",
    },
    "kernel": {
        "crash": "signal raised in the kernel, e.g. SIGSEGV",
        "hang": "loop that goes on forever",
        "no-core": "kernel code outside of a launch",
        "assert": "ASSERT failed",
        "trap": "Trap was called",
    },
    "definition, inference and tiling": {
        "tiling-block-dim": "block dim that no launch can have",
        "tiling-key-unknown": "tiling key that the kernel does not have",
        "tiling-workspace": "workspace that no NPU has",
        "tiling-data": "tiling data of another size than the kernel's struct or the registration",
        "tiling-unset": "kernel that depends on tiling data which its tiling function does not set",
        "attr-index": "read of an attribute that the definition does not have",
        "param-index": "read of an input or output that the definition does not have",
        "attr-type": "attribute read as another type than the definition gives it",
        "host-code": "inference or tiling that crashes, throws or does not end",
    },
    "host program": {
        "host-executor-reused": "second stage twice with an executor that is not repeatable",
        "host-workspace": "workspace null, too small or not on the device",
        "host-memcpy-kind": "copy in another direction than its kind says",
        "host-memcpy-size": "copy or fill past the ends of a block",
        "host-wrong-memory": "host pointer where the device is wanted, or the reverse",
        "host-out-of-bounds": "tensor larger than its device memory",
        "host-use-after-free": "memory or handle used after it was given back",
        "host-double-free": "given back twice",
        "host-destroyed-tensor": "tensor used after it was destroyed",
        "host-wrong-handle": "handle of another type",
        "host-unsynchronised": "memory touched while a stream still works on it",
        "stream-race": "streams not ordered: same bytes of memory, one of them writes",
        "host-leak": "not given back by aclFinalize",
    },
    "redundancy": {
        "sync-redundant": "barrier or flag that orders nothing",
        "instruction-idle": "instruction that does nothing: a mask or repeat of 0",
        "compare-remainder": "comparison whose last lanes get no bits",
        "mask-left-set": "mask not reset at the end",
        "sort-alignment": "Sort32 operand off the boundary that its page asks for",
        "event-id-pair": "AllocEventID and ReleaseEventID that are no pair",
        "cache-left-dirty": "scalar write that nothing but the end of the kernel brings to GM",
    },
    "host code under sanitizers": {
        "host-address": "access outside of an array or a block that host code owns",
        "host-undefined": "host code without a defined result, such as an overflow",
    },
    "results": {
        "chaos-difference": "result depends on the order in which pipes run",
        "wrong-result": "result too far from the float64 golden",
        "call-failed": "call returned an error",
    },
}


HOST_KINDS = frozenset(_TITLES["definition, inference and tiling"])
"""What op_host has wrong whatever the kernel does."""

RESULT_KINDS = frozenset(_TITLES["results"]) | frozenset(_TITLES["host code under sanitizers"])


"""What `aclgrad check` finds itself, by comparing results and by `--sanitize-host`. All other kinds
are the simulator's.
"""


@dataclass(frozen=True)
class Kind:
    """A kind of finding. What hardware does and how to fix it is the ``advice`` of a finding."""

    name: str
    title: str
    group: str


KINDS = {
    name: Kind(name, title, group)
    for group, titles in _TITLES.items()
    for name, title in titles.items()
}


"""Every kind there is."""
