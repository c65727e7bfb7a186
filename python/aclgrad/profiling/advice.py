# SPDX-License-Identifier: Apache-2.0
"""What to try next: rules on the numbers of a profile, each with the line of the kernel it is about
and the share of the time that is at stake.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from aclgrad.profiling.estimate import PIPES, before_us, core_cycles, imbalance, shares
from aclgrad.profiling.profiled import Json, Profiled

FULL_COPY = 64 * 1024
"""Bytes of a copy whose latency hardly shows any more."""

_UNALIGNED = 0.25  # of the blocks
_LEAST = 0.03  # of the time: less is not worth a word
_OVERLAP = 0.9  # of the time in which the busiest pipe works
_CONFLICTS = 0.1  # of the vector pipe's time
_DRAIN = 0.25  # of the vector pipe's time
_QUEUES = 0.5  # of what the scalar pipe works
_TRAFFIC = 1.05


@dataclass(frozen=True)
class Advice:
    """One thing to try. ``gain`` is the share of the time that it could save at most."""

    rule: str
    gain: float
    text: str
    where: str = ""

    def as_dict(self) -> Json:
        """For JSON and the page."""
        return asdict(self)


def costliest(
    lines: Sequence[Mapping[str, Any]], pipe: str | None = None, *, waits: bool = False,
    instruction: str = "",
) -> Mapping[str, Any] | None:  # fmt: skip
    """The row that takes most cycles, of a pipe, of what works or of what waits."""
    rows = [
        row
        for row in lines
        if (pipe is None or row["pipe"] == pipe)
        and row["waits"] == waits
        and instruction in row["instruction"]
    ]
    return max(rows, key=lambda row: float(row["cycles"]), default=None)


def place(row: Mapping[str, Any] | None) -> str:
    """``file:line  text`` of a row."""
    return f"{row['code']}  {row['text']}".rstrip() if row else ""


def advise(found: Profiled) -> list[Advice]:
    """All that applies, what promises most first."""
    given = [item for rule in _RULES if (item := rule(found)) is not None]
    # Nothing but fewer launches gains more than what is lost to the bandwidth bound.
    most = max(0.0, 1 - found.of_bound)
    capped = [
        item if item.rule == "launch" else replace(item, gain=min(item.gain, most))
        for item in given
    ]
    return sorted((item for item in capped if item.gain >= _LEAST), key=lambda item: -item.gain)


def _launch(found: Profiled) -> Advice | None:
    kernel = found.kernel
    before = before_us(kernel)
    share = before / kernel["microseconds"]
    if share < 0.3:
        return None
    inside = kernel["microseconds"] - before
    return Advice(
        "launch",
        share,
        f"The kernel itself takes {inside:.1f} us, its launch {before:.1f}"
        " us. Give it more work per launch: larger batches, or one kernel with its neighbours.",
    )


def _small_copies(found: Profiled) -> Advice | None:
    cores = found.kernel["cores"]
    used = shares(found.kernel)
    best: Advice | None = None
    for pipe, count, size, word in (
        ("mte2", "reads", "readBytes", "to UB"),
        ("mte3", "writes", "writeBytes", "to GM"),
    ):
        copies = sum(core[count] for core in cores)
        if not copies:
            continue
        mean = sum(core[size] for core in cores) / copies
        # One copy per core cannot become larger.
        per_core = copies / len(cores)
        if mean >= FULL_COPY or per_core < 4:
            continue
        # What the bytes need anyway is no loss.
        gain = max(0.0, used[pipe] - used["memory"]) * (1 - mean / FULL_COPY)
        row = costliest(found.lines, PIPES[pipe])
        free = found.kernel["ubBytes"] - found.kernel["ubPeakBytes"]
        larger = (
            f" take larger tiles: UB has {free:,} bytes free."
            if free >= mean
            else " make room for larger tiles: UB is full, so a buffer less would do it."
        )
        item = Advice(
            "small-copies",
            gain,
            f"A copy {word} moves {mean:,.0f} bytes in the mean, and its latency shows: hardly any"
            " more at 64 KiB, much below 16 KiB. Copy several rows at once"
            f" (DataCopyExtParams.blockCount) or{larger}",
            place(row),
        )
        if best is None or item.gain > best.gain:
            best = item
    return best


def _unaligned(found: Profiled) -> Advice | None:
    cores = found.kernel["cores"]
    blocks = sum(core["blocks"] for core in cores)
    share = sum(core["unalignedBlocks"] for core in cores) / max(blocks, 1)
    extra = {2201: 0.28}.get(found.kernel["npuArch"], 0.02)
    used = shares(found.kernel)
    if share < _UNALIGNED:
        return None
    rows = [row for row in found.lines if row["unaligned"]]
    row = max(rows, key=lambda item: float(item["cycles"]), default=None)
    cost = share * extra / (1 + share * extra)
    return Advice(
        "unaligned",
        cost * max(used["mte2"], used["memory"]),
        f"{share:.0%} of the blocks in GM cross lines of 512 bytes and do not start on a multiple"
        f" of {found.kernel['alignment']} bytes, which costs {extra:.0%} of their bytes again."
        " Split the work at such multiples where the shape allows it.",
        place(row),
    )


def _overlap(found: Profiled) -> Advice | None:
    used = shares(found.kernel)
    busy = {
        "VECTOR": used["vec"],
        "MTE2": used["mte2"],
        "MTE3": used["mte3"],
    }
    top = max(busy.values())
    tiles = max(core["reads"] for core in found.kernel["cores"])
    if top >= _OVERLAP or used["memory"] >= _OVERLAP or tiles < 4 or used["scalar"] >= top:
        return None
    words = ", ".join(f"{name} {value:.0%}" for name, value in busy.items())
    kernel = found.kernel
    row = max(
        (row for row in found.lines if row["waits"] and row["pipe"] != "SCALAR"),
        key=lambda item: float(item["cycles"]),
        default=None,
    )
    return Advice(
        "overlap",
        1 - max(top, used["memory"]),
        f"No pipe works all the time ({words}). Let copies run beside the computation: two buffers"
        f" per queue (InitBuffer(queue, 2, bytes)); UB use is {kernel['ubPeakBytes']:,} of"
        f" {kernel['ubBytes']:,} bytes.",
        place(row),
    )


def _conflicts(found: Profiled) -> Advice | None:
    kernel = found.kernel
    vector = sum(core["vec"] for core in kernel["cores"])
    share = kernel["conflictCycles"] / max(vector, 1.0)
    if share < _CONFLICTS:
        return None
    used = shares(kernel)
    gain = share * used["vec"]
    if used["memory"] > used["vec"]:
        gain = 0.0  # hidden behind the memory
    return Advice(
        "bank-conflicts",
        gain,
        f"Bank conflicts take {share:.0%} of the vector pipe's time. Lay the operands of one"
        " instruction in different bank groups: buffers whose distance is an odd multiple of 256"
        " bytes, for example.",
        place(costliest(found.lines, "VECTOR")),
    )


def _idle_cores(found: Profiled) -> Advice | None:
    kernel = found.kernel
    used, there = len(kernel["cores"]), kernel["vecCores"]
    if used >= there:
        return None
    inside = 1 - before_us(kernel) / kernel["microseconds"]
    gain = (1 - max(used / there, shares(kernel)["memory"])) * inside
    return Advice(
        "idle-cores",
        gain,
        f"{used} of {there} cores have work. Split along another axis as well, or split rows.",
    )


def _imbalance(found: Profiled) -> Advice | None:
    uneven = imbalance(found.kernel)
    times = [core_cycles(core) for core in found.kernel["cores"]]
    slowest = times.index(max(times))
    return Advice(
        "imbalance",
        uneven / (1 + uneven),
        f"Core {slowest} takes {1 + uneven:.2f} times the mean of all. Hand out smaller pieces, or"
        " let the remainder differ by one piece at most.",
    )


def _scalar(found: Profiled) -> Advice | None:
    used = shares(found.kernel)
    if used["scalar"] - used["cold"] < 0.5:
        return None
    gain = max(0.0, used["scalar"] - max(used["memory"], used["vec"]))
    if used["queue"] >= _QUEUES * used["scalar"]:
        return Advice(
            "small-tiles",
            gain,
            "AllocTensor, EnQue, DeQue and FreeTensor keep the scalar pipe busy"
            f" {used['queue']:.0%} of the time, of {used['scalar']:.0%} in all. They cost a small"
            " tile as much as a large one. Let a tile have more bytes, or one queue carry several"
            " tensors.",
            place(costliest(found.lines, "SCALAR")),
        )
    row = costliest(found.lines, "SCALAR")
    steps = sum(core["steps"] for core in found.kernel["cores"])
    return Advice(
        "scalar",
        gain,
        f"The scalar pipe works {used['scalar']:.0%} of the time, to issue {steps:,} steps and to"
        " read and write single values. Let one instruction do more (repeats, masks, blockCount),"
        " and keep sums in UB instead of GetValue.",
        place(row),
    )


def _barriers(found: Profiled) -> Advice | None:
    used = shares(found.kernel)
    vector = used["vec"]
    if not vector or used["vecDrain"] / vector < _DRAIN:
        return None
    gain = used["vecDrain"]
    if used["memory"] > vector:
        gain = 0.0
    row = costliest(found.lines, "VECTOR", waits=True, instruction="Barrier")
    return Advice(
        "barriers",
        gain,
        f"The vector pipe drains at barriers for {used['vecDrain'] / vector:.0%} of its time."
        " Interleave two independent chains of instructions, or work on more rows between two"
        " barriers.",
        place(row),
    )


def _traffic(found: Profiled) -> Advice | None:
    if found.traffic < _TRAFFIC:
        return None
    used = shares(found.kernel)
    return Advice(
        "traffic",
        (1 - 1 / found.traffic) * max(used["memory"], used["l2"], used["mte2"]),
        f"{found.moved_bytes:,} bytes are moved in GM, {found.traffic:.2f} times what the operator"
        " has to. Keep in UB what is used twice.",
        place(costliest(found.lines, "MTE2")),
    )


_RULES: tuple[Callable[[Profiled], Advice | None], ...] = (
    _launch,
    _small_copies,
    _unaligned,
    _overlap,
    _conflicts,
    _idle_cores,
    _imbalance,
    _scalar,
    _barriers,
    _traffic,
)
