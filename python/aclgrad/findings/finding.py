# SPDX-License-Identifier: Apache-2.0
"""One finding of the simulator, read from its JSON."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypedDict, cast

from aclgrad.common import files
from aclgrad.common.data import parse_json, rebuilt
from aclgrad.common.display.visible import visible
from aclgrad.findings.kinds import ERROR, KINDS


@dataclass(frozen=True)
class Place:
    """One end of a finding: an instruction or a host call, and its line."""

    pipe: str = ""
    instruction: str = ""
    note: str = ""
    file: str = ""
    line: int = 0
    text: str = ""

    @property
    def key(self) -> tuple[str, str, int]:
        """Equal for the same instruction of the source."""
        return self.instruction, self.file, self.line

    @property
    def known(self) -> bool:
        """Whether the line is known."""
        return bool(self.file) and self.line > 0

    @property
    def name(self) -> str:
        """``Mul on VECTOR``."""
        return " on ".join(filter(None, (self.instruction, self.pipe)))


@dataclass(frozen=True)
class Slice:
    """What a pipe does for a time, or several such things that are short; cycles."""

    lane: int
    begin: float
    end: float
    waits: bool
    name: str
    code: str
    count: int


@dataclass(frozen=True)
class Timeline:
    """The time around the ends of a finding, by the model of time; cycles since the launch began.
    Ends are in the order of ``at`` and ``related``: lane, begin, end.
    """

    mhz: float
    begin: float
    end: float
    lanes: tuple[tuple[int, str], ...]  # core and pipe
    ends: tuple[tuple[int, float, float], ...]
    slices: tuple[Slice, ...]
    arrows: tuple[tuple[int, int, float, float, str], ...]  # lanes, times, flag


@dataclass(frozen=True)
class Finding:
    """One finding, with the names of the simulator's JSON (aclsim.h)."""

    kind: str
    severity: str = ERROR
    op: str = ""
    core: int = -1
    block_dim: int = 0
    space: str = ""
    buffer: str = ""
    begin: int = 0
    end: int = 0
    at: Place = field(default_factory=Place)
    related: tuple[Place, ...] = ()
    detail: str = ""
    advice: str = ""
    soc: str = ""
    tiling: str = ""
    tiling_key: int = 0
    count: int = 1
    text: str = ""
    goes_on: str = ""
    after_fault: bool = False
    invented: str = ""  # the made-up inputs that a warning rests on
    timeline: Timeline | None = field(default=None, compare=False)

    @property
    def title(self) -> str:
        """What the kind means."""
        known = KINDS.get(self.kind)
        return known.title if known else self.kind.replace("-", " ")

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for findings that one change of the source fixes."""
        return self.kind, self.severity, self.op, self.at.key, *(p.key for p in self.related)

    @property
    def cause(self) -> tuple[object, ...]:
        """As ``key``, whatever the severity."""
        return self.kind, self.op, self.at.key, *(p.key for p in self.related)

    @property
    def where(self) -> str:
        """``core 0 of 40: Mul on VECTOR``, or the host call."""
        core = f"core {self.core} of {self.block_dim}" if self.core >= 0 else ""
        return ": ".join(filter(None, (core, self.at.name)))

    @property
    def going_on(self) -> list[str]:
        """How the core went on after the fault, and whether this may follow from another one."""
        texts = [f"keep-going: {self.goes_on}"] if self.goes_on else []
        if self.after_fault:
            texts.append("found after another fault of this core: it may be a consequence")
        return texts

    @property
    def on_invented(self) -> list[str]:
        """What a warning rests on, and how to make an error of it, or nothing."""
        if not self.invented:
            return []
        return [
            f"on invented inputs: {self.invented}",
            "No error, since the operator may not allow these inputs. To find out: aclgrad run PATH"
            " --inputs with inputs that it allows, or describe them in cases() of a golden file"
            " (aclgrad new --from PATH).",
        ]

    @property
    def bytes(self) -> str:
        """Which bytes, unless ``detail`` tells."""
        if self.end <= self.begin or f"[{self.begin}, {self.end})" in self.detail:
            return ""
        return f"{self.space} bytes [{self.begin}, {self.end}) of {self.buffer}"


def errors_of(found: Iterable[Finding]) -> list[Finding]:
    """Those that fail a check."""
    return [finding for finding in found if finding.severity == ERROR]


def consequence(faults: int) -> str:
    """What to say beside numbers that a kernel computed although it had faults."""
    return f"after {_count(faults, 'fault')}: wrong numbers may be their consequence"


_MOST_LINES, _MOST_CYCLES = 2**31, 1e15


class _ReportedPlace(TypedDict):
    pipe: str
    instruction: str
    note: str
    file: str
    line: int
    text: str


class _ReportedTimeline(TypedDict):
    mhz: float
    begin: float
    end: float
    lanes: list[tuple[int, str]]
    ends: list[tuple[int, float, float]]
    slices: list[tuple[int, float, float, bool, str, str, int]]
    arrows: list[tuple[int, int, float, float, str]]


class _ReportedByFew(TypedDict, total=False):
    goesOn: str
    afterFault: bool
    timeline: _ReportedTimeline


class Reported(_ReportedByFew):
    """A finding in the simulator's JSON, as it should be: a file may hold anything."""

    kind: str
    severity: str
    op: str
    core: int
    blockDim: int
    space: str
    buffer: str
    begin: int
    end: int
    at: _ReportedPlace
    related: list[_ReportedPlace]
    detail: str
    advice: str
    soc: str
    tiling: str
    tilingKey: int
    count: int
    text: str


def from_json(entry: Reported) -> Finding:
    """Read one object of aclsimFindings or one line of ACLGRAD_SIM_REPORT."""
    return Finding(
        kind=_clean(entry["kind"]),
        severity=_clean(entry["severity"]),
        op=_clean(entry["op"]),
        core=int(entry["core"]),
        block_dim=int(entry["blockDim"]),
        space=_clean(entry["space"]),
        buffer=_clean(entry["buffer"]),
        begin=int(entry["begin"]),
        end=int(entry["end"]),
        at=_place(entry["at"]),
        related=tuple(_place(place) for place in entry["related"]),
        detail=_clean(entry["detail"]),
        advice=_clean(entry["advice"]),
        soc=_clean(entry["soc"]),
        tiling=_clean(entry["tiling"]),
        tiling_key=int(entry["tilingKey"]),
        count=int(entry["count"]),
        text=_clean(entry["text"]),
        goes_on=_clean(entry.get("goesOn", "")),
        after_fault=bool(entry.get("afterFault", False)),
        timeline=_timeline(entry["timeline"]) if "timeline" in entry else None,
    )


def _timeline(entry: _ReportedTimeline) -> Timeline:
    lanes = tuple((int(core), _clean(pipe)) for core, pipe in entry["lanes"])
    lane = range(len(lanes)).index  # a ValueError unless there is such a lane
    slices = (
        Slice(lane(at), float(begin), float(end), bool(waits), _clean(name), _clean(code), int(of))
        for at, begin, end, waits, name, code, of in entry["slices"]
    )
    arrows = (
        (lane(of), lane(to), float(begin), float(end), _clean(name))
        for of, to, begin, end, name in entry["arrows"]
    )
    ends = tuple((lane(at), float(begin), float(end)) for at, begin, end in entry["ends"])
    mhz, begin, end = map(float, (entry["mhz"], entry["begin"], entry["end"]))
    times = (begin, end, *(time for _, *both in ends for time in both))
    absurd = not 1e-3 <= mhz <= 1e6 or any(abs(time) > _MOST_CYCLES for time in times)
    if absurd or not (end > begin and len(ends) > 1):
        raise ValueError(f"no time: {begin} to {end} at {mhz} MHz")
    return Timeline(mhz, begin, end, lanes, ends, tuple(slices), tuple(arrows))


def _place(entry: _ReportedPlace) -> Place:
    pipe, instruction, note = map(_clean, (entry["pipe"], entry["instruction"], entry["note"]))
    line = int(entry["line"])
    if not 0 <= line < _MOST_LINES:
        raise ValueError(f"got line {line}")
    return Place(
        pipe, instruction, note, str(entry["file"]), line, _clean(str(entry["text"]).strip())
    )


def _clean(text: object) -> str:
    return visible(str(text).replace("\t", " "))


def parse(text: str) -> tuple[Finding, ...]:
    """Read what aclsimFindings returns."""
    return tuple(map(from_json, json.loads(text)))


def read_report(path: Path) -> list[Finding]:
    """Read a file that ACLGRAD_SIM_REPORT named."""
    found = []
    advice = f"run the program with ACLGRAD_SIM_REPORT={path}"
    text = files.read(path, str(path), advice).decode("utf-8", "replace")
    for number, line in enumerate(text.split("\n"), 1):
        try:
            if line.strip():
                found.append(from_json(parse_json(line)))
        except (ValueError, KeyError, TypeError, AttributeError):
            raise ValueError(
                f"{path}:{number}: got {line[:60]!r}, want a finding as a line of JSON. Next:"
                f" remove the file and run the program with ACLGRAD_SIM_REPORT={path}"
            ) from None
    return found


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'s' * (number != 1)}"


class _WrittenTimeline(TypedDict):
    lanes: list[list[object]]
    ends: list[list[object]]
    slices: list[dict[str, object]]
    arrows: list[list[object]]


class Written(TypedDict):
    """The fields of a finding for which JSON has another type."""

    at: dict[str, object]
    related: list[dict[str, object]]
    timeline: _WrittenTimeline | None


def written(item: Finding) -> Written:
    """A finding for another process."""
    return cast(Written, dataclasses.asdict(item))


def finding_from_json(item: Written) -> Finding:
    """A finding that a child has sent."""
    line = item["timeline"]
    return rebuilt(
        Finding,
        item,
        at=rebuilt(Place, item["at"]),
        related=tuple(rebuilt(Place, place) for place in item["related"]),
        timeline=line
        and rebuilt(
            Timeline,
            line,
            lanes=tuple(map(tuple, line["lanes"])),
            ends=tuple(map(tuple, line["ends"])),
            slices=tuple(rebuilt(Slice, each) for each in line["slices"]),
            arrows=tuple(map(tuple, line["arrows"])),
        ),
    )
