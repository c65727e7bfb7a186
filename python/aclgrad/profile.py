# SPDX-License-Identifier: Apache-2.0
"""What the timing model says of one call, and what follows from it. docs/profiling.md defines every
figure.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from aclgrad.call import AttrValue
from aclgrad.dtypes import DType
from aclgrad.errors import AclgradError
from aclgrad.files import reading
from aclgrad.findings import Finding, errors_of
from aclgrad.runtime.device import Device
from aclgrad.spec import OpSpec

if TYPE_CHECKING:
    from aclgrad.peer_run import Array, Param

Json = dict[str, Any]

PIPES = {"vec": "VECTOR", "scalar": "SCALAR", "mte2": "MTE2", "mte3": "MTE3"}
"""Key of a pipe in a profile, and its lane in a trace; in the order of msopprof's columns."""

SATURATED = 0.7
"""Share of a bandwidth from which on it is what bounds a kernel."""

_LAUNCH_BOUND = 0.5
_UNEVEN = 0.25
_LEAST_ERROR_US = 2.0  # of any estimate: the time of a launch is known no better
_ASSUMED_BAND = 0.5
_EXTRAPOLATED = "extrapolated"
_KEPT = 4  # launches of which a device keeps the instructions


class ProfileError(AclgradError):
    """Something that cannot be profiled."""


class Kept(Protocol):
    """Who keeps the instructions of launches: a `Device`, or a program's files."""

    def profile_lines(self, launch: int, cores: Sequence[int] = ()) -> list[Json]:
        """What each line of the kernel costs, on some cores or on all."""

    def write_trace(self, launch: int, cores: Sequence[int], path: Path) -> None:
        """Write some cores as a Chrome trace."""


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


@dataclass
class Profiled:
    """One call or program: what was run, the launches that it led to, and its floor in GM bytes.

    ``launches`` are `Device.profiles`; ``lines`` are `Device.profile_lines` of the longest launch,
    empty when it is no longer kept. ``floors`` are of a program, whose launches each have their
    own; ``by`` keeps what is written of the ``kept`` launches.
    """

    name: str
    shape: str
    dtype: str
    soc: str
    launches: list[Json]
    read_bytes: int
    write_bytes: int
    lines: list[Json] = field(default_factory=list)
    note: str = ""
    floors: list[tuple[int, int]] = field(default_factory=list)
    by: Kept | None = field(default=None, repr=False, compare=False)
    kept: tuple[int, ...] = ()
    faults: tuple[Finding, ...] = ()  # that kernels went on after

    @property
    def title(self) -> str:
        """What was run."""
        words = [self.name, self.shape, self.dtype, self.note, f"on {self.soc}"]
        return " ".join(word for word in words if word)

    @property
    def family(self) -> str:
        """What was run, whatever the shape."""
        return " ".join(
            word for word in (self.name, self.dtype, self.note, f"on {self.soc}") if word
        )

    @property
    def main(self) -> int:
        """The launch that takes longest."""
        return max(range(len(self.launches)), key=lambda i: float(self.launches[i]["microseconds"]))

    @property
    def kernel(self) -> Json:
        """Profile of the launch that takes longest."""
        return self.launches[self.main]

    @property
    def us(self) -> float:
        """Estimated time of all launches."""
        return sum(float(launch["microseconds"]) for launch in self.launches)

    @property
    def bound_us(self) -> float:
        """Time that the bandwidth alone would take; see `bandwidth_bound`."""
        if self.floors:
            parts = zip(self.launches, self.floors, strict=True)
            return sum(bandwidth_bound(launch, *floor) for launch, floor in parts)
        return bandwidth_bound(self.kernel, self.read_bytes, self.write_bytes)

    @property
    def of_bound(self) -> float:
        """How near the estimate comes to the modelled bandwidth bound: 1 is the best."""
        return self.bound_us / self.us

    @property
    def moved_bytes(self) -> int:
        """GM bytes of all launches."""
        return sum(int(item["gmReadBytes"]) + int(item["gmWriteBytes"]) for item in self.launches)

    @property
    def floor_bytes(self) -> int:
        """Every input read once and every output written once."""
        return self.read_bytes + self.write_bytes

    @property
    def traffic(self) -> float:
        """GM bytes by the floor."""
        return self.moved_bytes / self.floor_bytes if self.floor_bytes else 0.0

    @property
    def bound(self) -> Bound:
        """What bounds the longest launch."""
        return bound_by(self.kernel)

    @property
    def estimate(self) -> Estimate:
        """Time with its error band."""
        return estimate(self.launches)

    @property
    def assumed(self) -> list[str]:
        """Instructions without a cost."""
        return sorted({name for launch in self.launches for name in launch["assumed"]})

    def rests_on(self, evidence: str) -> list[str]:
        """What of the kernels, the copies and the chip has a cost of this class of evidence."""
        found = (launch["grounds"].get(evidence, []) for launch in self.launches)
        return sorted({name for names in found for name in names})

    def cores(self, launch: int, asked: Sequence[int] = ()) -> list[int]:
        """The cores of a launch to show: those asked for that it has, else those that tell most."""
        there = len(self.launches[launch]["cores"])
        return [core for core in asked if core < there] or chosen_cores(self.launches[launch])

    def alone(self, launch: int) -> Profiled:
        """One launch of a program."""
        item = self.launches[launch]
        words = f"launch {launch + 1} of {len(self.launches)}: {item['op']}"
        lines = self.lines if launch == self.main else []
        if self.by is not None and launch in self.kept and not lines:
            lines = lines_of(self.by, launch)
        return replace(
            self,
            name=f"{self.name} {words}",
            launches=[item],
            read_bytes=self.floors[launch][0],
            write_bytes=self.floors[launch][1],
            lines=lines,
            floors=[],
            by=None,
            kept=(),
        )


def bandwidth_bound(profile: Mapping[str, Any], read_bytes: float, write_bytes: float) -> float:
    """Microseconds that a launch takes when nothing but bandwidth costs time.

    launch + max(memory, L2): over the memory's bandwidth read_bytes, of the written bytes that L2
    can hold what the model writes back at once, and all others, which a kernel may send past L2;
    over L2's bandwidth all bytes. ``profile`` is one of `Device.profiles`, for the SoC's figures.
    """
    early = profile["earlyWriteBack"]
    held = min(write_bytes, profile["l2Capacity"])
    past = min(1.0, early + profile["writeBack"]) * (write_bytes - held)
    memory = (read_bytes + early * held + past) / profile["memoryBytesPerCycle"]
    cache = (read_bytes + write_bytes) / profile["l2BytesPerCycle"]
    return float(profile["launchMicroseconds"] + max(memory, cache) / profile["mhz"])


def shares(profile: Mapping[str, Any]) -> dict[str, float]:
    """Shares of the kernel's time, the launch apart: of the two bandwidths, and of each pipe in the
    mean of the cores that run. ``vecDrain``: the part of ``vec`` in which the pipe stands at a
    barrier until its results are written.
    """
    cycles = max(float(profile["cycles"]), 1.0)
    cores = profile["cores"]
    found = {
        "memory": profile["memoryBytes"] / (profile["memoryBytesPerCycle"] * cycles),
        "l2": profile["l2Bytes"] / (profile["l2BytesPerCycle"] * cycles),
    }
    for key in (*PIPES, "vecDrain"):
        found[key] = sum(core[key] for core in cores) / len(cores) / cycles
    return found


def imbalance(profile: Mapping[str, Any]) -> float:
    """Time of the slowest core by the mean of those that run, less 1."""
    times = [core_cycles(core) for core in profile["cores"]]
    return max(times) * len(times) / max(sum(times), 1.0) - 1


def bound_by(profile: Mapping[str, Any]) -> Bound:
    """What to look at first. The order matters: what comes first hides what comes after it."""
    launch = profile["launchMicroseconds"] / profile["microseconds"]
    if launch >= _LAUNCH_BOUND:
        return Bound("launch", launch, f"launch: {launch:.0%} of the time is the launch itself")
    used = shares(profile)
    for key, name in (("memory", "memory"), ("l2", "L2")):
        if used[key] >= SATURATED:
            return Bound(key, used[key], f"{name}: {used[key]:.0%} of its bandwidth is used")
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
    }
    key = max(busy, key=lambda name: busy[name])
    if busy[key] < SATURATED:
        return Bound(
            "waits", 1 - busy[key],
            f"pipes that wait for each other: the busiest, {key.upper()}, works"
            f" {busy[key]:.0%} of the time",
        )  # fmt: skip
    words = {
        "vector": f"vector pipe: {busy[key]:.0%} of the time it works",
        "scalar": f"scalar pipe: it works {busy[key]:.0%} of the time",
        "mte2": f"MTE2: copies to UB are under way {busy[key]:.0%} of the time, by their latency"
        " or one core's rate",
        "mte3": f"MTE3: copies to GM are under way {busy[key]:.0%} of the time, by their latency"
        " or one core's rate",
    }
    return Bound(key, busy[key], words[key])


def error_band(launch: Mapping[str, Any]) -> float:
    """Relative error to expect of a launch, by what bounds it and by its evidence."""
    vector, memory, other = launch["band"]
    band = {"vector": vector, "memory": memory}.get(bound_by(launch).key, other)
    if launch["assumed"] or launch["evidence"] == _EXTRAPOLATED:
        band = max(band, _ASSUMED_BAND)
    return float(band)


def estimate(launches: Sequence[Mapping[str, Any]]) -> Estimate:
    """Add launches up; the error of each follows from what bounds it and from its evidence."""
    order = ("board", "official", "fitted", "simulator", "assumed", _EXTRAPOLATED)
    us = error = 0.0
    worst = 0
    for launch in launches:
        us += launch["microseconds"]
        error += max(error_band(launch) * launch["microseconds"], _LEAST_ERROR_US)
        worst = max(worst, order.index(launch["evidence"]))
        if launch["assumed"]:
            worst = max(worst, order.index("assumed"))
    ranking_only = any(launch["socEvidence"] == _EXTRAPOLATED for launch in launches)
    return Estimate(us, max(0.0, us - error), us + error, order[worst], ranking_only)


def core_cycles(core: Mapping[str, Any]) -> float:
    """How long a core runs: cores start one after the other."""
    return max(float(core["cycles"] - core["start"]), 1.0)


def chosen_cores(profile: Mapping[str, Any]) -> list[int]:
    """The slowest, the fastest and the first core, without repetition."""
    return list(profile["shown"])


# --- running -------------------------------------------------------------------------------------


@contextmanager
def profiling(device: Device) -> Iterator[None]:
    """Estimate the launches inside; `Device.profiles` has them afterwards."""
    before = {name: device.option(name) or "" for name in ("mode", "profile")}
    device.clear_profiles()
    device.set_option("mode", "fast")  # the checks do not change the estimate
    device.set_option("profile", "on")
    try:
        yield
    finally:
        for name, value in before.items():
            device.set_option(name, value)


def _collect(device: Device, name: str, shape: str, dtype: str, floor: tuple[int, int]) -> Profiled:
    launches = device.profiles()
    if not launches:
        raise ProfileError(
            f"{name} {shape} {dtype}: nothing was launched, so there is nothing to time: the"
            " tensors are empty. Next: give a shape without a dim of 0"
        )
    found = Profiled(name, shape, dtype, str(launches[0]["soc"]), launches, *floor, by=device)
    found.kept = tuple(range(max(0, len(launches) - _KEPT), len(launches)))
    if found.main in found.kept:
        found.lines = lines_of(device, found.main)
    return found


def lines_of(by: Kept, launch: int, cores: Sequence[int] = ()) -> list[Json]:
    """What each line of a launch's kernel costs, with paths as a reader would write them."""
    rows = by.profile_lines(launch, cores)
    return [{**row, "code": short_path(row["code"])} for row in rows]


def short_path(code: str) -> str:
    """A place in a source, from the working folder on when it lies below it."""
    path, colon, line = code.rpartition(":")
    try:
        path = str(Path(os.path.normpath(path)).relative_to(Path.cwd()))
    except ValueError:
        path = os.path.normpath(path) if path else ""
    return f"{path}{colon}{line}"


def profile_op(
    device: Device,
    spec: OpSpec,
    shape: tuple[int, ...],
    dtype: DType,
    attrs: Mapping[str, AttrValue],
) -> Profiled:
    """Estimate one of the package's operators on contiguous tensors of one shape."""
    from aclgrad.run import execute, floor_parts
    from aclgrad.selection import shape_case

    case = replace(shape_case(spec, shape, dtype, attrs), values="zero")
    dims = "x".join(map(str, shape)) or "scalar"
    floor = floor_parts(spec, case)
    _check_memory(f"{spec.op} {dims} {dtype.alias}", sum(floor))
    device.clear_findings()
    with profiling(device):
        execute(device, spec, case)
    faults = tuple(errors_of(device.findings()))
    changed = [f"{k}={v}" for k, v in attrs.items() if v != spec.defaults()[k]]
    found = _collect(device, spec.op, dims, dtype.alias, floor)
    found.faults = faults
    found.note = " ".join(changed)
    return found


def _check_memory(what: str, tensors: int) -> None:
    # Host and device copies of each tensor are there at the same time.
    there = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if 2 * tensors > there:
        raise ProfileError(
            f"{what}: the tensors have {tensors:,} bytes, this machine's memory {there:,}. Next: a"
            " smaller shape; beyond L2's size the time grows with the bytes"
        )


def profile_peer(
    path: str,
    inputs: Sequence[Param],
    attrs: Sequence[str] = (),
    *,
    soc: str | None = None,
    outputs: Sequence[str] = (),
    device: Device | None = None,
    **launch: Any,
) -> Profiled:
    """Estimate an operator that comes as sources, as ``aclgrad run PATH`` would run it: ``inputs``
    are the tensors of each parameter, ``attrs`` are NAME=VALUE words. A kernel file without op_host
    takes ``blocks``, ``tiling``, ``tiling_key`` and ``workspace`` besides.
    """
    from aclgrad import dtypes, peer_file, peer_run
    from aclgrad.runtime import open_device
    from aclgrad.soc import DEFAULT_SOC

    opened = device or open_device()
    name = soc or os.environ.get("ACLGRAD_SOC") or DEFAULT_SOC
    alone = peer_file.find(path)
    if alone is None and launch:
        raise ProfileError(
            f"--{next(iter(launch)).replace('_', '-')}: {path} comes with op_host, whose tiling"
            " decides that. Next: leave it out"
        )
    if alone is not None and attrs:
        raise ProfileError(f"--attr {attrs[0]}: a kernel alone has no attributes. Next: --tiling")
    with profiling(opened):
        if alone is not None:
            result = peer_file.run_kernel(
                alone, inputs, outputs, soc=name, open_device=lambda: opened, **launch
            )
        else:
            result = peer_run.run(
                path, inputs, attrs, soc=name, outputs=outputs, open_device=lambda: opened
            )
    given = [array for param in inputs for array in param]
    floor = sum(map(_bytes, given)), sum(map(_bytes, result.outputs.values()))
    shapes = " ".join("x".join(map(str, array.shape)) or "scalar" for array in given)
    if len({array.shape for array in given}) == 1:
        shapes = shapes.split()[0]
    named = [dtypes.parse(array.dtype.name) for array in given]
    kinds = ",".join(dict.fromkeys(kind.alias or kind.name for kind in named))
    found = _collect(opened, result.op, shapes, kinds, floor)
    found.faults = result.findings
    found.note = " ".join([*attrs, *(f"{key}={value}" for key, value in launch.items())])
    return found


def _bytes(array: Array) -> int:
    return int(array.nbytes)


def peer_inputs(path: str, words: Sequence[str], dtype: DType, soc: str) -> list[Param]:
    """Tensors of zeros for the inputs of an operator that comes as sources: ``SHAPE[:DTYPE]`` per
    input, one word for all of an operator, or ``-`` for an optional input that is absent.
    """
    from aclgrad import dtypes, peer_file, peer_run
    from aclgrad.user_data import parse_shape

    if len(words) == 1 and peer_file.find(path) is None:
        op = peer_run.describe(path, soc)
        words = list(words) * sum(item["kind"] != "optional" for item in op["inputs"])
    found: list[Param] = []
    for word in words:
        if word == peer_run.ABSENT:
            found.append([])
            continue
        shape, _, kind = word.partition(":")
        chosen = dtypes.parse(kind) if kind else dtype
        found.append([np.zeros(parse_shape(shape), chosen.numpy)])
    return found


# --- documents -----------------------------------------------------------------------------------


def as_json(found: Profiled, advice: Sequence[Mapping[str, Any]]) -> Json:
    """Everything about one call; `from_json` reads it back."""
    guess = found.estimate
    return {
        "name": found.name,
        "shape": found.shape,
        "dtype": found.dtype,
        "note": found.note,
        "soc": found.soc,
        "microseconds": round(found.us, 3),
        "kind": "estimate",
        "low": round(guess.low, 3),
        "high": round(guess.high, 3),
        "evidence": guess.evidence,
        "rankingOnly": guess.ranking_only,
        "boundBy": found.bound.key,
        "boundWords": found.bound.words,
        "bandwidthBoundMicroseconds": round(found.bound_us, 3),
        "ofBandwidthBound": round(found.of_bound, 4),
        "readFloorBytes": found.read_bytes,
        "writeFloorBytes": found.write_bytes,
        "floors": found.floors,
        "gmOverFloor": round(found.traffic, 4),
        "imbalance": round(imbalance(found.kernel), 4),
        "shares": {name: round(value, 4) for name, value in shares(found.kernel).items()},
        "assumed": found.assumed,
        "advice": list(advice),
        "launches": found.launches,
        "lines": found.lines,
    }


def from_json(path: Path) -> Profiled:
    """Read what ``aclgrad profile --json`` wrote."""
    try:
        advice = f"aclgrad profile OP SHAPE --json > {path}"
        with reading(path, str(path), advice) as file:
            document = json.load(file)
        return Profiled(
            document["name"],
            document["shape"],
            document["dtype"],
            document["soc"],
            document["launches"],
            document["readFloorBytes"],
            document["writeFloorBytes"],
            document["lines"],
            document["note"],
            [(read, written) for read, written in document["floors"]],
        )
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise ProfileError(
            f"{path}: not a profile ({error}). Next: aclgrad profile OP SHAPE --json > {path}"
        ) from None


__all__ = [
    "PIPES",
    "Bound",
    "Estimate",
    "Kept",
    "ProfileError",
    "Profiled",
    "as_json",
    "bandwidth_bound",
    "bound_by",
    "chosen_cores",
    "core_cycles",
    "error_band",
    "estimate",
    "from_json",
    "imbalance",
    "lines_of",
    "peer_inputs",
    "profile_op",
    "profile_peer",
    "profiling",
    "shares",
]
