# SPDX-License-Identifier: Apache-2.0
"""What the simulator's checks found: read from its JSON, merged over cases, rendered as text, JSON
and SARIF.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from aclgrad import __version__
from aclgrad.files import reading

if TYPE_CHECKING:
    from rich.console import Console

ERROR, HINT = "error", "hint"

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
        "gm-conflict": "cores not ordered: same bytes of GM, one of them writes",
        "gm-line-shared": "cores write one cache line through their caches",
        "gm-cache": "data cache not cleaned: scalar write stays in it, or old value is read",
    },
    "rules of instructions": {
        "instruction-absent": "instruction that the SoC does not have",
        "dtype-unsupported": "dtype that the instruction does not have",
        "cast-unsupported": "pair of dtypes or rounding mode that Cast does not have",
        "repeat-range": "repeatTimes out of range",
        "stride-range": "stride out of range",
        "mask-range": "mask that names lanes which the type does not have",
        "int4-pairs": "int4 count or mask that splits a byte",
        "gather-pattern": "pattern that GatherMask does not have",
        "merge-queues": "queues that MrgSort cannot merge",
        "proposal-field": "field that a region proposal does not have",
        "reduce-order": "ReduceOrder that the SoC does not have",
        "copy-block-count": "blockCount out of range",
        "copy-block-length": "blockLen that the copy does not allow",
        "copy-padding": "padding that DataCopyPad does not allow",
        "atomic-length": "atomic copy of part of an element",
        "atomic-left-on": "atomic copies not switched off at the end",
        "shift-range": "shift by more than the width of the type",
        "overlap": "source and destination overlap",
        "shape": "shape that the call does not allow",
    },
    "kernel": {
        "crash": "signal raised in the kernel, e.g. SIGSEGV",
        "hang": "loop that goes on forever",
        "no-core": "kernel code outside of a launch",
        "tiling-key-unknown": "tiling key that no branch of the kernel has",
        "assert": "ASSERT failed",
        "trap": "Trap was called",
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
        "host-leak": "not given back by aclFinalize",
    },
    "redundancy": {
        "sync-redundant": "barrier or flag that orders nothing",
        "instruction-idle": "instruction that does nothing: a mask or repeat of 0",
        "mask-left-set": "mask not reset at the end",
    },
    "results": {
        "chaos-difference": "result depends on the order in which pipes run",
        "wrong-result": "result too far from the float64 golden",
        "call-failed": "call returned an error",
    },
}

RESULT_KINDS = frozenset(_TITLES["results"])
"""What `aclgrad check` finds itself, by comparing results. All other kinds are the simulator's."""


@dataclass(frozen=True)
class Kind:
    """A kind of finding. What hardware does and how to mend it is the ``advice`` of a finding."""

    name: str
    title: str
    group: str


KINDS = {
    name: Kind(name, title, group)
    for group, titles in _TITLES.items()
    for name, title in titles.items()
}
"""Every kind there is."""


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

    @property
    def title(self) -> str:
        """What the kind means."""
        known = KINDS.get(self.kind)
        return known.title if known else self.kind.replace("-", " ")

    @property
    def key(self) -> tuple[Any, ...]:
        """Equal for findings that one change of the source mends."""
        return self.kind, self.severity, self.op, self.at.key, *(p.key for p in self.related)

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
    def bytes(self) -> str:
        """Which bytes, unless ``detail`` tells."""
        if self.end <= self.begin or f"[{self.begin}, {self.end})" in self.detail:
            return ""
        return f"{self.space} bytes [{self.begin}, {self.end}) of {self.buffer}"


def errors_of(found: Iterable[Finding]) -> list[Finding]:
    """Those that are no hints."""
    return [finding for finding in found if finding.severity == ERROR]


def consequence(faults: int) -> str:
    """What to say beside numbers that a kernel computed although it had faults."""
    return f"after {_count(faults, 'fault')}: wrong numbers may be their consequence"


def from_json(entry: Mapping[str, Any]) -> Finding:
    """Read one object of aclsimFindings or one line of ACLGRAD_SIM_REPORT."""
    return Finding(
        kind=str(entry["kind"]),
        severity=str(entry["severity"]),
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
    )


def _place(entry: Mapping[str, Any]) -> Place:
    pipe, instruction, note, file = (
        _clean(entry[name]) for name in ("pipe", "instruction", "note", "file")
    )
    return Place(pipe, instruction, note, file, int(entry["line"]), _clean(entry["text"]).strip())


def _clean(text: object) -> str:
    # Names and source lines are the user's: none of them may drive a terminal.
    return re.sub(r"[\x00-\x09\x0b-\x1f\x7f]", " ", str(text))


def parse(text: str) -> tuple[Finding, ...]:
    """Read what aclsimFindings returns."""
    return tuple(map(from_json, json.loads(text)))


def read_report(path: Path) -> list[Finding]:
    """Read a file that ACLGRAD_SIM_REPORT named."""
    found = []
    advice = f"run the program with ACLGRAD_SIM_REPORT={path}"
    with reading(path, str(path), advice) as file:
        text = file.read().decode("utf-8", "replace")
    for number, line in enumerate(text.splitlines(), 1):
        try:
            if line.strip():
                found.append(from_json(json.loads(line)))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise ValueError(
                f"{path}:{number}: got {line[:60]!r}, want a finding as a line of JSON. Next:"
                f" remove the file and run the program with ACLGRAD_SIM_REPORT={path}"
            ) from None
    return found


@dataclass(frozen=True)
class Run:
    """What one case showed, and the command that shows it again."""

    label: str
    repro: str
    findings: tuple[Finding, ...]
    launched: bool = True


@dataclass(frozen=True)
class Merged:
    """Equal findings of several runs; ``finding`` is the first of them."""

    finding: Finding
    count: int
    cases: tuple[str, ...]
    repro: str


def merge(runs: Iterable[Run]) -> list[Merged]:
    """Join equal findings, errors first, each group in the order of appearance.

    That something orders nothing in one launch means little: a hint is kept if every case that
    launched the operator gives it.
    """
    all_runs = list(runs)
    launched = sum(run.launched for run in all_runs)
    seen: dict[tuple[Any, ...], Merged] = {}
    for run in all_runs:
        for finding in run.findings:
            known = seen.get(finding.key)
            if known is None:
                known = Merged(finding, 0, (), run.repro)
            new = (run.label,) if run.label and run.label not in known.cases else ()
            seen[finding.key] = Merged(
                known.finding, known.count + finding.count, known.cases + new, known.repro
            )
    found = [
        item
        for item in seen.values()
        if item.finding.severity != HINT or len(all_runs) == 1 or len(item.cases) == launched
    ]
    return sorted(found, key=lambda item: item.finding.severity != ERROR)


@dataclass(frozen=True)
class Result:
    """Everything that a check found, and what it ran on."""

    found: tuple[Merged, ...]
    cases: int = 0
    conditions: Mapping[str, str] = field(default_factory=dict)

    @property
    def errors(self) -> int:
        """Number of different errors."""
        return sum(item.finding.severity == ERROR for item in self.found)

    @property
    def hints(self) -> int:
        """Number of different hints."""
        return len(self.found) - self.errors

    @property
    def verdict(self) -> str:
        """One line: ``2 errors, 0 hints in 399 cases on Ascend910B2 (autosync on)``."""
        text = f"{_count(self.errors, 'error')}, {_count(self.hints, 'hint')}"
        if self.cases:
            text += f" in {_count(self.cases, 'case')}"
        if soc := self.conditions.get("soc"):
            text += f" on {soc}"
        named = ("soc", "why")
        rest = [f"{name} {value}" for name, value in self.conditions.items() if name not in named]
        why = self.conditions.get("why")
        return f"{text} ({', '.join(rest)}{f': {why}' if why else ''})" if rest else text


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'s' * (number != 1)}"


def print_text(result: Result, console: Console, base: Path | None = None) -> None:
    """Print for people. Paths below ``base``, the working folder when left out, are relative."""
    base = base or Path.cwd()
    for item in result.found:
        finding = item.finding
        style = "bold red" if finding.severity == ERROR else "yellow"
        console.print(f"{finding.severity}[{finding.kind}]", style=style, markup=False, end="")
        console.print(f" {finding.title}", style="bold", markup=False)
        text = textwrap.indent(describe(item, base, result.cases), "  ")
        console.print(f"{text}\n", markup=False)
    console.print(result.verdict, style="red" if result.errors else "green", markup=False)


def describe(item: Merged, base: Path, cases: int) -> str:
    """Return everything but kind and title: where, what, why, how often and how to see it again."""
    finding = item.finding
    lines = [", ".join(filter(None, (finding.op, finding.where)))]
    lines += _source(finding.at, base)
    for place in finding.related:
        lines.append(", which ".join(filter(None, (place.name, place.note))))
        lines += _source(place, base)
    texts = [finding.bytes, *finding.detail.splitlines(), finding.advice, *finding.going_on]
    lines += [text.strip() for text in texts]
    if finding.core >= 0 or finding.tiling:
        tiling = f", {finding.tiling}" if finding.tiling else ""
        lines.append(f"tiling on {finding.soc}: key {finding.tiling_key}{tiling}")
    times = f"{item.count} times" if item.count > 1 else ""
    if item.cases and cases > 1:
        times += f"{' ' * bool(times)}in {len(item.cases)} of {cases} cases, first {item.cases[0]}"
    lines.append(times)
    lines.append(f"repeat: {item.repro}" if item.repro else "")
    return "\n".join(line for line in lines if line)


def _source(place: Place, base: Path) -> list[str]:
    if not place.file:
        return []
    if not place.known:
        return [f"at {place.file} (no line: build the kernel with -g)"]
    line = f"at {_relative(place.file, base)}:{place.line}"
    return [line, f"    {place.text}"] if place.text else [line]


def _relative(file: str, base: Path) -> str:
    path = Path(file)
    return path.relative_to(base).as_posix() if path.is_relative_to(base) else file


def as_json(result: Result) -> dict[str, Any]:
    """Everything, for programs; docs/debugging.md lists the names."""
    return {
        "aclgrad": __version__,
        "conditions": dict(result.conditions),
        "cases": result.cases,
        "errors": result.errors,
        "hints": result.hints,
        "findings": [merged_json(item) for item in result.found],
    }


def merged_json(item: Merged) -> dict[str, Any]:
    """One finding with the names of aclsimFindings, its cases and the command to repeat it."""
    finding = item.finding
    return {
        "kind": finding.kind,
        "title": finding.title,
        "severity": finding.severity,
        "op": finding.op,
        "core": finding.core,
        "blockDim": finding.block_dim,
        "space": finding.space,
        "buffer": finding.buffer,
        "begin": finding.begin,
        "end": finding.end,
        "at": vars(finding.at).copy(),
        "related": [vars(place).copy() for place in finding.related],
        "detail": finding.detail,
        "advice": finding.advice,
        "soc": finding.soc,
        "tiling": finding.tiling,
        "tilingKey": finding.tiling_key,
        "count": item.count,
        "goesOn": finding.goes_on,
        "afterFault": finding.after_fault,
        "cases": list(item.cases),
        "repro": item.repro,
    }


def source_root(start: Path) -> Path:
    """Return the folder that code hosts count paths from: the repository's, or ``start``."""
    return next((f for f in (start, *start.parents) if (f / ".git").exists()), start)


def as_sarif(result: Result, root: Path | None = None) -> dict[str, Any]:
    """SARIF 2.1.0. Locations below ``root`` are relative to it, as code hosts want them."""
    root = root or source_root(Path.cwd())
    kinds: dict[str, Finding] = {}
    for item in result.found:
        kinds.setdefault(item.finding.kind, item.finding)
    order = list(kinds)
    return {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "aclgrad check",
                        "version": __version__,
                        "rules": [_rule(finding) for finding in kinds.values()],
                    }
                },
                "originalUriBaseIds": {"SRCROOT": {"uri": root.as_uri().rstrip("/") + "/"}},
                "invocations": [{"executionSuccessful": True}],
                "properties": {**result.conditions, "cases": result.cases},
                "results": [
                    _sarif_result(item, order.index(item.finding.kind), root)
                    for item in result.found
                ],
            }
        ],
    }


def _level(severity: str) -> str:
    return "error" if severity == ERROR else "note"


def _rule(finding: Finding) -> dict[str, Any]:
    return {
        "id": finding.kind,
        "name": "".join(word.capitalize() for word in finding.kind.split("-")),
        "shortDescription": {"text": finding.title},
        "help": {"text": finding.advice or finding.title},
        "defaultConfiguration": {"level": _level(finding.severity)},
    }


def _sarif_result(item: Merged, rule: int, root: Path) -> dict[str, Any]:
    finding = item.finding
    parts = [finding.title, finding.where, *finding.detail.splitlines(), finding.advice]
    parts += finding.going_on
    if item.repro:
        parts.append(f"Repeat: {item.repro}")
    print_hash = hashlib.sha256(repr((finding.kind, finding.op, finding.at.text)).encode())
    # A place that only the end of the kernel shows has no line, but the other end may.
    first, *others = [p for p in (finding.at, *finding.related) if p.known] or [finding.at]
    return {
        "ruleId": finding.kind,
        "ruleIndex": rule,
        "level": _level(finding.severity),
        "message": {"text": "\n".join(part.strip() for part in parts if part)},
        "locations": [_location(first, root, finding.op)],
        "relatedLocations": [
            {**_location(place, root, finding.op), "id": number, "message": {"text": _note(place)}}
            for number, place in enumerate(others)
        ],
        "partialFingerprints": {"kindOpSource/v1": print_hash.hexdigest()[:32]},
        "properties": {
            name: value
            for name, value in merged_json(item).items()
            if name not in ("kind", "title", "severity", "at", "related", "detail", "advice")
        },
    }


def _note(place: Place) -> str:
    return ", which ".join(filter(None, (place.name, place.note))) or "the other end"


def _location(place: Place, root: Path, op: str) -> dict[str, Any]:
    location: dict[str, Any] = {}
    if place.known:
        path = Path(place.file)
        if path.is_absolute() and not path.is_relative_to(root):
            artifact = {"uri": path.as_uri()}
        else:
            artifact = {"uri": quote(_relative(place.file, root)), "uriBaseId": "SRCROOT"}
        region: dict[str, Any] = {"startLine": place.line}
        if place.text:
            region["snippet"] = {"text": place.text}
        location["physicalLocation"] = {"artifactLocation": artifact, "region": region}
    if op:
        location["logicalLocations"] = [{"fullyQualifiedName": op, "kind": "function"}]
    return location


def render(result: Result, form: str) -> str:
    """Return the text of a report file: text, json or sarif."""
    if form == "text":
        from rich.console import Console

        page = io.StringIO()
        print_text(result, Console(file=page, highlight=False, soft_wrap=True))
        return page.getvalue()
    document = as_json(result) if form == "json" else as_sarif(result)
    return json.dumps(document, indent=1) + "\n"
