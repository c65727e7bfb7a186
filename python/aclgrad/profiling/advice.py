# SPDX-License-Identifier: Apache-2.0
"""What to try next: rules on the numbers of a profile, each with the line of the kernel it is about
and the share of the time that is at stake.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from aclgrad.profiling.estimate import (
    LEAST_ERROR_US,
    before_us,
    core_cycles,
    cores_there,
    error_band,
    imbalance,
    pipes_of,
    shares,
)
from aclgrad.profiling.profiled import Json, Profiled

_LEAST = 0.03  # of the time: less is not worth a word
_UNALIGNED = 0.25  # a share of the blocks
_CONFLICTS = 0.1  # of the vector pipe's time
_DRAIN = 0.25  # of the vector pipe's time
_TRAFFIC = 1.05


@dataclass(frozen=True)
class Advice:
    """One thing to try. ``gain`` is the share of the time that it saves by the model, at most."""

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
) -> Mapping[str, object] | None:  # fmt: skip
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


def least_gain(found: Profiled) -> float:
    """Share of the time below which the model's error hides what a change saves."""
    return max(error_band(found.kernel), LEAST_ERROR_US / float(found.kernel["microseconds"]))


def advise(found: Profiled) -> list[Advice]:
    """All that applies and saves more than the model's error, what saves most first."""
    return [item for item in _all(found) if item.gain >= least_gain(found)]


def below_error(found: Profiled) -> list[Advice]:
    """What applies too, but saves no more than the error."""
    return [item for item in _all(found) if _LEAST <= item.gain < least_gain(found)]


def _all(found: Profiled) -> list[Advice]:
    given = [item for rule in _RULES if (item := rule(found)) is not None]
    # Nothing but fewer launches gains more than what is lost to the bandwidth bound.
    most = max(0.0, 1 - found.of_bound)
    capped = [
        item if item.rule == "launch" else replace(item, gain=min(item.gain, most))
        for item in given
    ]
    return sorted((*capped, *_changes(found)), key=lambda item: -item.gain)


def _changes(found: Profiled) -> list[Advice]:
    """What the model has tried on the instructions of the launch."""
    best: dict[str, Json] = {}
    for change in found.changes:
        rule = change["rule"]
        if rule not in best or change["microseconds"] < best[rule]["microseconds"]:
            best[rule] = change
    us = float(found.kernel["microseconds"])
    return [
        Advice(
            rule,
            1 - float(change["microseconds"]) / us,
            _TEXTS[rule](change, found),
            "\n".join(dict.fromkeys(place(row) for row in change["places"])),
        )
        for rule, change in best.items()
    ]


def _tiles(change: Json, found: Profiled) -> str:
    used = shares(found.kernel)
    copies = max(used["mte2"], used["mte3"])
    how = (
        "several copies into one tensor of the queue"
        if change["scattered"]
        else "one copy of more bytes or of several rows (DataCopyExtParams.blockCount)"
    )
    cores = found.kernel["cores"]
    waits = sum(core["vecWait"] / core_cycles(core) for core in cores) / len(cores)
    reasons = {
        f"the scalar pipe works {used['scalar']:.0%} of the time, {used['queue']:.0%} for"
        " AllocTensor, EnQue, DeQue and FreeTensor": used["scalar"],
        f"the vector pipe stands at flags and barriers {waits:.0%} of the time": (
            0.0 if found.bound.key == "scalar" else waits
        ),
        f"copies are under way {copies:.0%} of the time and need {used['memory']:.0%} of the"
        " memory's bandwidth, so their latency shows": copies - used["memory"],
    }
    return (
        f"A turn of the loop copies {change['bytes']:,.0f} bytes, {change['turns']:.0f} turns a"
        f" core: {max(reasons, key=lambda reason: reasons[reason])}. A small tile"
        " takes as much of that as a large one. Let a turn take"
        f" {change['factor']} times as much, for which UB has room: {how},"
        " and instructions that work on all of it (repeat times and strides)."
    )


def _rows(change: Json, found: Profiled) -> str:
    row = change["places"][0]
    return (
        f"A loop issues {row['instruction']} and its neighbours for one row at a time,"
        f" {row['count']:,} times on all cores. Let one instruction work on all rows of the tile:"
        " the form with repeat times and strides."
    )


def _fold(change: Json, found: Profiled) -> str:
    row = change["places"][0]
    name = row["instruction"]
    whole = "Max" if "Max" in name else "Min" if "Min" in name else "Sum"
    fold = {"Sum": "Add"}.get(whole, whole)
    return (
        f"{name} reduces several repeats of 256 bytes, each of which costs several cycles. Fold"
        f" the halves of a row onto each other with {fold} until 256 bytes are left, then one"
        f" WholeReduce{whole} with a repeat per row."
    )


def _casts(change: Json, found: Profiled) -> str:
    count = sum(row["count"] for row in change["places"])
    return (
        f"{count:,} Casts take bytes that have been cast to the same type before and have not"
        " changed since. Keep the first result in a buffer of its own."
    )


def _stay_in_ub(change: Json, found: Profiled) -> str:
    count = sum(row["count"] for row in change["places"])
    return (
        f"The scalar pipe reads {count:,} results of the vector pipe, which wait for each other"
        " there and back. Leave them in UB as operands of the next instruction: Brcb makes a block"
        " of each, which a stride of 0 repeats over the row."
    )


def _registers(change: Json, found: Profiled) -> str:
    count = sum(row["count"] for row in change["places"])
    return (
        f"{count:,} instructions take through UB what the one before has just made. Write the chain"
        " as a vector function (__simd_vf__), which keeps it in registers."
    )


def _depth(change: Json, found: Profiled) -> str:
    kernel = found.kernel
    free = kernel["ubBytes"] - kernel["ubPeakBytes"]
    room = (
        f"UB has {free:,} bytes free for the {change['bytes']:,.0f} that they need."
        if free >= change["bytes"]
        else f"UB has {free:,} bytes free of the {change['bytes']:,.0f} that they need, so tiles"
        " become smaller."
    )
    return (
        f"{', '.join(change['queues'])}: one buffer each, so that a copy waits for the computation"
        f" on the tile before. Two let them overlap (InitBuffer(queue, 2, bytes)). {room}"
    )


def _traffic(change: Json, found: Profiled) -> str:
    return (
        f"{found.moved_bytes:,} bytes are moved in GM, {found.traffic:.2f} times what the operator"
        f" has to; {change['bytes']:,.0f} of them again, most of {change['tensor']}. Keep in UB"
        " what is used twice, sums until they are complete."
    )


_TEXTS: Mapping[str, Callable[[Json, Profiled], str]] = {
    "tiles": _tiles,
    "rows": _rows,
    "fold": _fold,
    "casts": _casts,
    "scalar": _stay_in_ub,
    "registers": _registers,
    "depth": _depth,
    "traffic": _traffic,
}


def excess(found: Profiled) -> str:
    """What moves most of the bytes beyond the floor; nothing where hardly any are."""
    change = next((item for item in found.changes if item["rule"] == "traffic"), None)
    if change is None or found.traffic < _TRAFFIC:
        return ""
    return f"; most again: {change['tensor']} at {place(change['places'][0])}"


def decides(found: Profiled) -> str:
    """The instruction or wait that decides: of what bounds the kernel, or of the pipe that works
    most, with its lines and its share of the time.
    """
    kernel, bound = found.kernel, found.bound
    used, pipes = shares(kernel), pipes_of(kernel)
    pipe = bound.key if bound.key in pipes else "vec" if bound.key == "vector" else ""
    pipe = pipe or max(pipes, key=lambda key: used[key])
    waits = bound.key == "waits"
    key = "bytes" if bound.key in ("memory", "l2") else "issue" if pipe == "scalar" else "cycles"

    def weight(row: Mapping[str, Any]) -> float:
        of_scalar = row["cycles"] if row["pipe"] == "SCALAR" and key == "issue" else 0.0
        return float(row.get(key, 0.0) + of_scalar)

    rows = [
        row
        for row in found.lines
        if (key != "cycles" or row["pipe"] == pipes[pipe])
        and (key == "issue" or row["waits"] == waits)
    ]
    sums: dict[str, float] = {}
    for row in rows:
        sums[row["instruction"]] = sums.get(row["instruction"], 0.0) + weight(row)
    if not any(sums.values()):
        return ""
    name = max(sums, key=lambda each: sums[each])
    lines = sorted((row for row in rows if row["instruction"] == name), key=weight, reverse=True)
    all_ = found.moved_bytes if key == "bytes" else sum(core_cycles(c) for c in kernel["cores"])
    what = "of the bytes" if key == "bytes" else f"of the time, {pipes[pipe]}"
    what += " waits there" if waits else ""
    more = [f"{row['code']} {weight(row) / all_:.0%}" for row in lines[1:3] if weight(row)]
    words = f"{name}: {sums[name] / all_:.0%} {what}; {place(lines[0])}"
    return words + (f" {weight(lines[0]) / all_:.0%}; {'; '.join(more)}" if more else "")


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
    used, there = len(kernel["cores"]), cores_there(kernel)
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


_RULES: tuple[Callable[[Profiled], Advice | None], ...] = (
    _launch,
    _unaligned,
    _conflicts,
    _idle_cores,
    _imbalance,
    _barriers,
)
