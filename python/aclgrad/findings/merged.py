# SPDX-License-Identifier: Apache-2.0
"""Findings of several runs: equal ones become one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from aclgrad.common.display.notebook import table
from aclgrad.findings.finding import Finding, _count
from aclgrad.findings.kinds import ERROR, HINT, WARNING


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
    """Join equal findings, errors first, each group in the order of appearance. What is an error in
    one case is no warning in others.

    That something orders nothing in one launch means little: a hint is kept if every case that
    launched the operator gives it.
    """
    all_runs = list(runs)
    launched = sum(run.launched for run in all_runs)
    seen: dict[tuple[Any, ...], Merged] = {}
    certain = {item.cause for run in all_runs for item in run.findings if item.severity == ERROR}
    for run in all_runs:
        for finding in run.findings:
            if finding.severity == WARNING and finding.cause in certain:
                finding = replace(finding, severity=ERROR, invented="")
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
    order = (ERROR, WARNING, HINT)
    return sorted(found, key=lambda item: order.index(item.finding.severity))


@dataclass(frozen=True)
class Refused:
    """A case that the operator's inference or tiling did not take."""

    label: str
    reason: str


@dataclass(frozen=True)
class Result:
    """Everything that a check found, and what it ran on."""

    found: tuple[Merged, ...]
    cases: int = 0
    conditions: Mapping[str, str] = field(default_factory=dict)
    refused: tuple[Refused, ...] = ()
    notes: tuple[str, ...] = ()  # what was not looked at

    @property
    def errors(self) -> int:
        """Number of different errors."""
        return sum(item.finding.severity == ERROR for item in self.found)

    @property
    def hints(self) -> int:
        """Number of different hints."""
        return sum(item.finding.severity == HINT for item in self.found)

    @property
    def warnings(self) -> int:
        """Number of different findings that rest on invented inputs."""
        return sum(item.finding.severity == WARNING for item in self.found)

    def _repr_html_(self) -> str:
        """What a notebook shows: a row for each finding."""
        rows = [
            (
                item.finding.kind,
                item.finding.title,
                item.finding.where,
                f"{item.finding.at.file}:{item.finding.at.line}" if item.finding.at.known else "",
                item.count,
            )
            for item in self.found
        ]
        return table(self.verdict, rows, ("kind", "what it is", "where", "line", "times"))

    @property
    def counts(self) -> str:
        """One line: ``2 errors, 0 hints in 399 cases on Ascend910B2``."""
        text = _count(self.errors, "error")
        if self.warnings:
            text += f", {_count(self.warnings, 'warning')}"
        text += f", {_count(self.hints, 'hint')}"
        if self.cases:
            text += f" in {_count(self.cases, 'case')}"
        if soc := self.conditions.get("soc"):
            text += f" on {soc}"
        return text

    @property
    def verdict(self) -> str:
        """The counts and the other conditions: ``... on Ascend910B2 (autosync on)``."""
        named = ("soc", "why")
        rest = [f"{name} {value}" for name, value in self.conditions.items() if name not in named]
        why = self.conditions.get("why")
        said = f" ({', '.join(rest)}{f': {why}' if why else ''})" if rest else ""
        return f"{self.counts}{said}"


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
        **({"invented": finding.invented} if finding.invented else {}),
        **({"timeline": asdict(finding.timeline)} if finding.timeline else {}),
        "cases": list(item.cases),
        "repro": item.repro,
    }
