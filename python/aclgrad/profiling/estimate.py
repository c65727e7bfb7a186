# SPDX-License-Identifier: Apache-2.0
"""From counted cycles to a time, its error band and what limits it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_VECTOR_PIPES = {"vec": "VECTOR", "scalar": "SCALAR", "mte2": "MTE2", "mte3": "MTE3"}


"""Key of a pipe in a profile, and its lane in a trace; in the order of msopprof's columns."""


_CUBE_PIPES = {
    **{"cube": "CUBE", "scalar": "SCALAR", "mte1": "MTE1", "mte2": "MTE2", "mte3": "MTE3"},
    "fixpipe": "FIXP",
}


"""The same of a cube core."""


SATURATED = 0.7


"""Share of a bandwidth from which on it is what bounds a kernel."""


_LAUNCH_BOUND = 0.5


_UNEVEN = 0.25


LEAST_ERROR_US = 2.0  # the time of a launch itself is known no better


_ASSUMED_BAND = 0.5


_NEAR = 0.85  # of the share of what is used most: that may be what bounds a kernel as well


_ROW_SUMS = 0.1  # of the vector pipe's time, from which on all of it may take twice as long


_EXTRAPOLATED = "extrapolated"


YOURS = "board (yours)"  # of ACLGRAD_CALIBRATION
NOT_DECIDED = "not decided"  # no rule of the model tells variants of such a kernel apart
EVIDENCE = (
    *(YOURS, "board", "official", "fitted", "simulator", "assumed"),
    *(NOT_DECIDED, _EXTRAPOLATED),
)


"""Classes of evidence, the best first."""


@dataclass(frozen=True)
class Estimate:
    """Time of a call in microseconds, with the error that has to be expected."""

    us: float
    low: float
    high: float
    evidence: str
    ranking_only: bool = False  # nothing has been measured on this SoC

    @property
    def words(self) -> str:
        """The estimate as a sentence that cannot be taken for a measurement."""
        if self.ranking_only:
            return f"{self.us:.1f} us (estimate; extrapolated: ranking only)"
        return (
            f"{self.us:.1f} us (estimate; {self.low:.1f} to {self.high:.1f} us, evidence:"
            f" {self.evidence})"
        )


@dataclass(frozen=True)
class Bound:
    """What a kernel's time is bound by: a key, the share of it that is used, and words."""

    key: str
    share: float
    words: str


def bandwidth_bound(profile: Mapping[str, Any], read_bytes: float, write_bytes: float) -> float:
    """Microseconds that a launch takes when nothing but bandwidth costs time.

    launch + start + max(memory, L2): over the memory's bandwidth read_bytes, of the written bytes
    that L2 can hold what the model writes back at once, and all others, which a kernel may send
    past L2; over L2's bandwidth all bytes. ``profile`` is one of `Device.profiles`, for the SoC's
    figures.
    """
    early = profile["earlyWriteBack"]
    held = min(write_bytes, profile["l2Capacity"])
    past = min(1.0, early + profile["writeBack"]) * (write_bytes - held)
    memory = (read_bytes + early * held + past) / profile["memoryBytesPerCycle"]
    cache = (read_bytes + write_bytes) / profile["l2BytesPerCycle"]
    return before_us(profile) + float(max(memory, cache) / profile["mhz"])


def before_us(profile: Mapping[str, Any]) -> float:
    """Microseconds before the first call of the kernel: of the launch, and of each core's start."""
    start = profile.get("kernelStart", 0.0) / profile["mhz"]
    return float(profile["launchMicroseconds"] + start)


def shares(profile: Mapping[str, Any]) -> dict[str, float]:
    """Shares of the kernel's time, launch and start apart: of the two bandwidths, and of each pipe
    in the mean of the cores that run. ``vecDrain``: the part of ``vec`` in which the pipe stands at
    a barrier until its results are written. ``queue`` and ``cold``: the parts of ``scalar`` for
    operations of queues, and for code that runs for the first time.
    """
    start = float(profile.get("kernelStart", 0.0))
    cycles = max(float(profile["cycles"]) - start, 1.0)
    cores = profile["cores"]
    found = {
        "memory": profile["memoryBytes"] / (profile["memoryBytesPerCycle"] * cycles),
        "l2": profile["l2Bytes"] / (profile["l2BytesPerCycle"] * cycles),
    }
    for key in (*_VECTOR_PIPES, *_CUBE_PIPES, "vecDrain", "queue", "cold"):
        having = _having(profile, key) or cores
        found[key] = sum(core.get(key, 0.0) for core in having) / len(having) / cycles
    found["scalar"] -= start / cycles
    return found


def is_mixed(profile: Mapping[str, Any]) -> bool:
    """Whether a launch ran on cube cores and on vector cores."""
    return profile.get("coreKind") == "mix"


def on_cubes(profile: Mapping[str, Any], core: int | None = None) -> bool:
    """Whether a launch, or a core of it, ran on cube cores."""
    if is_mixed(profile) and core is not None:
        return str(profile["cores"][core]["name"]).startswith("AIC")
    return profile.get("coreKind") == "cube"


def pipes_of(profile: Mapping[str, Any], core: int | None = None) -> Mapping[str, str]:
    """The pipes of the launch's cores, or of one: key in the profile, and lane in the trace."""
    if is_mixed(profile) and core is None:
        return {**_VECTOR_PIPES, **_CUBE_PIPES}
    return _CUBE_PIPES if on_cubes(profile, core) else _VECTOR_PIPES


def _having(profile: Mapping[str, Any], pipe: str) -> list[Mapping[str, Any]]:
    """The cores that have a pipe."""
    cores: list[Mapping[str, Any]] = profile["cores"]
    if not is_mixed(profile) or (pipe in _VECTOR_PIPES) == (pipe in _CUBE_PIPES):
        return cores
    cube = pipe in _CUBE_PIPES
    return [core for i, core in enumerate(cores) if on_cubes(profile, i) == cube]


def pipe_share(profile: Mapping[str, Any], key: str) -> float:
    """The share of the time that a key of the cores has, in the mean of those with its pipe."""
    having = _having(profile, key.removesuffix("Wait"))
    cycles = max(float(profile["cycles"]), 1.0) * max(len(having), 1)
    return float(sum(core[key] for core in having)) / cycles


def cores_there(profile: Mapping[str, Any]) -> int:
    """How many cores of the launch's kinds the SoC has."""
    if is_mixed(profile):
        return int(profile["aicCores"]) + int(profile["vecCores"])
    return int(profile["aicCores" if on_cubes(profile) else "vecCores"])


def imbalance(profile: Mapping[str, Any]) -> float:
    """Time of the slowest core by the mean of those of its kind that run, less 1."""
    start = float(profile.get("kernelStart", 0.0))
    kinds: dict[bool, list[float]] = {}
    for i, core in enumerate(profile["cores"]):
        kinds.setdefault(on_cubes(profile, i), []).append(max(core_cycles(core) - start, 1.0))
    return max(max(times) * len(times) / max(sum(times), 1.0) for times in kinds.values()) - 1


def bound_by(profile: Mapping[str, Any]) -> Bound:
    """What to look at first. The order matters: what comes first hides what comes after it."""
    launch = before_us(profile) / profile["microseconds"]
    if launch >= _LAUNCH_BOUND:
        return Bound(
            "launch",
            launch,
            f"launch: {launch:.0%} of the time is the launch itself and the cores' start",
        )
    used = shares(profile)
    names = {"memory": "memory", "l2": "L2"}
    key = max(names, key=lambda name: used[name])
    if used[key] >= SATURATED:
        if used["vec"] > used[key]:
            return _vector_bound(used["vec"])
        return Bound(key, used[key], f"{names[key]}: {used[key]:.0%} of its bandwidth is used")
    uneven = imbalance(profile)
    if uneven >= _UNEVEN:
        return Bound(
            "imbalance",
            uneven,
            f"imbalance: the slowest core takes {1 + uneven:.2f} times the mean",
        )
    busy = {
        "vector": used["vec"],
        "scalar": used["scalar"],
        "mte2": used["mte2"],
        "mte3": used["mte3"],
        "cube": used["cube"],
        "mte1": used["mte1"],
        "fixpipe": used["fixpipe"],
    }
    key = max(busy, key=lambda name: busy[name])
    if busy[key] < SATURATED:
        return Bound(
            "waits", 1 - busy[key],
            f"pipes that wait for each other: the busiest, {key.upper()}, works"
            f" {busy[key]:.0%} of the time",
        )  # fmt: skip
    if key == "vector":
        return _vector_bound(busy[key])
    words = {
        "scalar": f"scalar pipe: it works {busy[key]:.0%} of the time",
        "cube": f"cube pipe: {busy[key]:.0%} of the time it works",
        "mte1": f"MTE1: loads from L1 take {busy[key]:.0%} of the time",
        "fixpipe": f"FIXP: copies out of L0C take {busy[key]:.0%} of the time",
        "mte2": f"MTE2: copies from GM are under way {busy[key]:.0%} of the time, by their latency"
        " or one core's rate",
        "mte3": f"MTE3: copies to GM are under way {busy[key]:.0%} of the time, by their latency"
        " or one core's rate",
    }
    return Bound(key, busy[key], words[key])


def _vector_bound(share: float) -> Bound:
    return Bound("vector", share, f"vector pipe: {share:.0%} of the time it works")


def near_bounds(profile: Mapping[str, Any]) -> set[str]:
    """What bounds a launch, and what is used nearly as much: a small error decides which it is."""
    bound = bound_by(profile)
    used = shares(profile)
    if bound.key not in ("memory", "l2", "vector", "scalar"):
        return {bound.key}
    pipes = {"memory": "memory", "l2": "l2", "vec": "vector", "scalar": "scalar"}
    near = {name for key, name in pipes.items() if used[key] >= _NEAR * bound.share}
    return {bound.key, *near}


def undecided(launch: Mapping[str, Any]) -> list[str]:
    """What bounds a launch though no rule of the model can tell variants of it apart: published
    ones of vector functions differ by up to a factor of two for reasons that it does not have, and
    no public measurement says what a sum of many rows by one instruction takes.
    """
    if "vector" not in near_bounds(launch):
        return []
    found = []
    rows = [row for row in launch["instructions"] if row["pipe"] == "VECTOR"]
    functions = sum(row["cycles"] for row in rows if row["name"] == "vector function")
    if functions > 0.5 * sum(row["cycles"] for row in rows):
        found.append(
            "vector functions (order of issue, banks of stores, unrolling, register pressure)"
        )
    if launch.get("rowSums", 0.0) >= _ROW_SUMS:
        found.append("sums of many rows by one instruction")
    return found


def error_band(launch: Mapping[str, Any]) -> float:
    """Relative error to expect of a launch, by what bounds it and by its evidence."""
    vector, memory, other = launch["band"]
    bands = {"vector": vector, "memory": memory}
    band = max(bands.get(key, other) for key in near_bounds(launch))
    if launch["assumed"] or launch.get("uncounted") or launch["evidence"] == _EXTRAPOLATED:
        band = max(band, _ASSUMED_BAND)
    return float(band)


def most_us(launch: Mapping[str, Any]) -> float:
    """Time of a launch at its worst. Sums of many rows by one instruction each take their factor:
    the one published kernel of that kind takes twice the sum of its instructions.
    """
    us = float(launch["microseconds"])
    inside = us - before_us(launch)
    factor = 1 + min(1.0, launch.get("rowSums", 0.0) / _ROW_SUMS)
    vector = before_us(launch) + factor * shares(launch)["vec"] * inside
    return float(max(us * (1 + error_band(launch)), vector))


def estimate(launches: Sequence[Mapping[str, Any]]) -> Estimate:
    """Add launches up; the error of each follows from what bounds it and from its evidence."""
    us = below = above = 0.0
    worst = 0
    for launch in launches:
        took = float(launch["microseconds"])
        us += took
        below += max(error_band(launch) * took, LEAST_ERROR_US)
        above += max(most_us(launch) - took, LEAST_ERROR_US)
        worst = max(worst, EVIDENCE.index(launch["evidence"]))
        if launch["assumed"]:
            worst = max(worst, EVIDENCE.index("assumed"))
        if undecided(launch):
            worst = max(worst, EVIDENCE.index(NOT_DECIDED))
    ranking_only = any(launch["socEvidence"] == _EXTRAPOLATED for launch in launches)
    return Estimate(us, max(0.0, us - below), us + above, EVIDENCE[worst], ranking_only)


def core_cycles(core: Mapping[str, Any]) -> float:
    """How long a core runs: cores start one after the other."""
    return max(float(core["cycles"] - core["start"]), 1.0)


def chosen_cores(profile: Mapping[str, Any]) -> list[int]:
    """The slowest, the fastest and the first core, without repetition."""
    return list(profile["shown"])
