# SPDX-License-Identifier: Apache-2.0
"""What the timing model says of one call, and what follows from it. docs/profiling.md defines every
figure.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from aclgrad.common import files
from aclgrad.common.data import parse_json
from aclgrad.common.display import notebook
from aclgrad.errors import AclgradError
from aclgrad.findings import Finding
from aclgrad.profiling.estimate import (
    NOT_DECIDED,
    Bound,
    Estimate,
    bandwidth_bound,
    bound_by,
    chosen_cores,
    cores_there,
    estimate,
    imbalance,
    shares,
    undecided,
)

Json = dict[str, Any]


class ProfileError(AclgradError):
    """Something that cannot be profiled."""


class Kept(Protocol):
    """Who keeps the instructions of launches: a `Device`, or a program's files."""

    def profile_lines(self, launch: int, cores: Sequence[int] = ()) -> list[Json]:
        """What each line of the kernel costs, on some cores or on all."""

    def profile_changes(self, launch: int) -> list[Json]:
        """What a launch would take with one thing changed in its kernel."""

    def write_trace(self, launch: int, cores: Sequence[int], path: Path) -> None:
        """Write some cores as a Chrome trace."""


def _needed(launches: Sequence[Json], read_bytes: int, write_bytes: int) -> tuple[int, int]:
    """The floor of launches that may leave a part of an input alone, as a gather does."""
    read = sum(int(launch["gmReadBytes"]) for launch in launches)
    written = sum(int(launch["gmWriteBytes"]) for launch in launches)
    return min(read_bytes, read), min(write_bytes, written)


@dataclass
class Profiled:
    """One call or program: what was run, the launches that it led to, and its floor in GM bytes.

    ``launches`` are `Device.profiles`; ``lines`` and ``changes`` are `Device.profile_lines` and
    `Device.profile_changes` of the longest launch, empty when it is no longer kept. ``floors`` are
    of a program, whose launches each have their own; ``by`` keeps what is written of the ``kept``
    launches.
    """

    name: str
    shape: str
    dtype: str
    soc: str
    launches: list[Json]
    read_bytes: int
    write_bytes: int
    lines: list[Json] = field(default_factory=list)
    changes: list[Json] = field(default_factory=list, kw_only=True)
    note: str = ""
    floors: list[tuple[int, int]] = field(default_factory=list)
    by: Kept | None = field(default=None, repr=False, compare=False)
    kept: tuple[int, ...] = ()
    faults: tuple[Finding, ...] = ()  # that kernels went on after

    def _repr_html_(self) -> str:
        """What a notebook shows: the summary, and the lines that cost most."""
        kernel = self.kernel
        rows = [
            ("time", self.estimate.words),
            ("bound by", self.bound.words),
            ("bandwidth bound", f"{self.bound_us:.1f} us; {self.of_bound:.1%} of it is reached"),
            ("GM", f"{self.moved_bytes:,} bytes, {self.traffic:.2f} x the floor"),
            ("UB", f"{kernel['ubPeakBytes']:,} of {kernel['ubBytes']:,} bytes"),
            ("cores", f"{len(kernel['cores'])} of {cores_there(kernel)}"),
        ]
        costly = sorted(self.lines, key=lambda row: -float(row["cycles"]))[:5]
        lines = [
            (row["code"], row["text"], row["instruction"], row["pipe"], f"{row['cycles']:,.0f}")
            for row in costly
        ]
        headings = ("line", "source", "instruction", "pipe", "cycles")
        return notebook.table(self.title, rows) + (
            notebook.table("lines that cost most", lines, headings) if lines else ""
        )

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
            return sum(
                bandwidth_bound(launch, *_needed([launch], *floor)) for launch, floor in parts
            )
        return bandwidth_bound(
            self.kernel, *_needed(self.launches, self.read_bytes, self.write_bytes)
        )

    @property
    def of_bound(self) -> float:
        """How near the estimate comes to the modelled bandwidth bound: 1 is the best."""
        return self.bound_us / self.us

    @property
    def moved_bytes(self) -> int:
        """GM bytes of all launches."""
        return sum(int(item["gmReadBytes"]) + int(item["gmWriteBytes"]) for item in self.launches)

    @property
    def whole_bytes(self) -> int:
        """All inputs and outputs."""
        return self.read_bytes + self.write_bytes

    @property
    def floor_bytes(self) -> int:
        """What is needed of the inputs read once and of the outputs written once."""
        return sum(_needed(self.launches, self.read_bytes, self.write_bytes))

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
        if evidence == NOT_DECIDED:
            return sorted({words for launch in self.launches for words in undecided(launch)})
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
        of_main = launch == self.main
        lines, changes = (self.lines, self.changes) if of_main else ([], [])
        if self.by is not None and launch in self.kept and not lines:
            lines, changes = lines_of(self.by, launch), changes_of(self.by, launch)
        return replace(
            self,
            name=f"{self.name} {words}",
            launches=[item],
            read_bytes=self.floors[launch][0],
            write_bytes=self.floors[launch][1],
            lines=lines,
            changes=changes,
            floors=[],
            by=None,
            kept=(),
        )


# --- running -------------------------------------------------------------------------------------


def lines_of(by: Kept, launch: int, cores: Sequence[int] = ()) -> list[Json]:
    """What each line of a launch's kernel costs, with paths as a reader would write them."""
    rows = by.profile_lines(launch, cores)
    return [{**row, "code": short_path(row["code"])} for row in rows]


def changes_of(by: Kept, launch: int) -> list[Json]:
    """What a launch would take with one thing changed, with paths likewise."""
    changes = by.profile_changes(launch)
    for place in (place for change in changes for place in change["places"]):
        place["code"] = short_path(place["code"])
    return changes


def short_path(code: str) -> str:
    """A place in a source, from the working folder on when it lies below it."""
    path, colon, line = code.rpartition(":")
    try:
        path = str(Path(os.path.normpath(path)).relative_to(Path.cwd()))
    except ValueError:
        path = os.path.normpath(path) if path else ""
    return f"{path}{colon}{line}"


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
        "sensitivity": found.kernel.get("sensitivity", []),
        "advice": list(advice),
        "launches": found.launches,
        "lines": found.lines,
        "changes": found.changes,
    }


def from_json(path: Path) -> Profiled:
    """Read what ``aclgrad profile --json`` wrote."""
    try:
        advice = f"aclgrad profile OP SHAPE --json > {path}"
        document = parse_json(files.read(path, str(path), advice).decode())
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
            changes=document.get("changes", []),
        )
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise ProfileError(
            f"{path}: not a profile ({error}). Next: aclgrad profile OP SHAPE --json > {path}"
        ) from None
