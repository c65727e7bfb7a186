# SPDX-License-Identifier: Apache-2.0
"""Classes of shapes: the worst and the median case of each by what is wanted of the class."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from driver.cases import BenchmarkCase, CaseClass

Row = dict[str, Any]

COSTS = Path(__file__).resolve().parents[2] / "simulator" / "src" / "timing" / "costs.json"


@dataclass(frozen=True)
class Figure:
    """What one limit looks at."""

    words: str
    shown: Callable[[float], str]
    larger_is_better: bool = False

    def worst(self, values: Mapping[str, float]) -> str:
        """The case that is furthest from the limit."""
        return (min if self.larger_is_better else max)(values, key=lambda key: values[key])

    def meets(self, value: float, want: float) -> bool:
        """Whether a value is within a limit."""
        return value >= want if self.larger_is_better else value <= want


FIGURES = {
    "share": Figure("share of the bound", lambda value: f"{value:.0%}", True),
    "traffic": Figure("GM / floor", lambda value: f"{value:.2f}"),
    "above": Figure("us above launch and a copy each way", lambda value: f"{value:.2f}"),
    "rise": Figure("time per byte by the size before", lambda value: f"{value:.3f}"),
    "by_fp32": Figure("time by fp32's", lambda value: f"{value:.2f}"),
}


def _on_curve(curve: Sequence[Sequence[float]], size: float) -> float:
    """Cycles of a copy after its latency: linear between points, beyond them by the last rate."""
    last = (0.0, 0.0)
    for at, cycles in curve:
        if size <= at:
            return last[1] + (cycles - last[1]) * (size - last[0]) / (at - last[0])
        last = (at, cycles)
    return last[1] * size / last[0]


def copies_us(kernel: Mapping[str, Any], case: BenchmarkCase) -> float:
    """One copy each way, of what a core has of an operand, from memory and back."""
    law = json.loads(COSTS.read_text("utf-8"))["copies"].get(str(kernel["npuArch"]))
    if law is None:
        return 0.0
    size = case.size * case.dtype.numpy.itemsize / len(kernel["cores"])
    into = law["readLatency"] + law["missLatency"] + _on_curve(law["readMiss"], size)
    out = law["writeLatency"] + _on_curve(law["write"], size)
    return float(into + out) / float(kernel["mhz"])


def values(group: CaseClass, alias: str, name: str, figures: Mapping[str, Row]) -> dict[str, float]:
    """One figure of all cases of a dtype."""
    chosen = [case for case in group.cases if case.alias == alias and case.key in figures]
    if name not in ("rise", "by_fp32"):
        return {case.key: figures[case.key][name] for case in chosen}
    if name == "by_fp32":
        wide = [case.in_dtype("fp32").key for case in chosen]
        return {
            case.key: figures[case.key]["us"] / figures[key]["us"]
            for case, key in zip(chosen, wide, strict=True)
            if key in figures and key != case.key
        }
    found = {}
    for before, case in zip(chosen, chosen[1:], strict=False):
        # A sweep goes on until the operator, or another dim than the first, changes.
        if (before.op, before.shape[1:]) == (case.op, case.shape[1:]):
            was = figures[before.key]["us"] / before.size
            found[case.key] = figures[case.key]["us"] / case.size / was
    return found


@dataclass(frozen=True)
class Verdict:
    """A figure of a class in a dtype."""

    group: CaseClass
    alias: str
    name: str
    count: int
    worst: float
    median: float
    where: str
    errors: tuple[float, float]  # the model's least and largest for these cases

    @property
    def want(self) -> float | None:
        """The limit of the worst case, where there is one."""
        return self.group.limits.get(self.name)

    @property
    def met(self) -> bool:
        """Whether the worst case is within the limit."""
        return self.want is None or FIGURES[self.name].meets(self.worst, self.want)

    @property
    def within_error(self) -> bool:
        """Whether the model cannot tell the worst case from one that is at the limit."""
        if self.want is None or self.name == "traffic":  # bytes are counted
            return False
        return abs(self.worst / self.want - 1) <= self.errors[1]


def judge(groups: Sequence[CaseClass], figures: Mapping[str, Mapping[str, Row]]) -> list[Verdict]:
    """The share of the bound and all limits of all classes; ``figures`` by the class's name and the
    case's.
    """

    def found() -> Iterator[Verdict]:
        for group in groups:
            for alias in dict.fromkeys(case.alias for case in group.cases):
                for name in dict.fromkeys(("share", *group.limits)):
                    by_case = values(group, alias, name, figures[group.key])
                    if by_case:
                        where = FIGURES[name].worst(by_case)
                        errors = [figures[group.key][key]["band"] for key in by_case]
                        yield Verdict(
                            group,
                            alias,
                            name,
                            len(by_case),
                            by_case[where],
                            median(by_case.values()),
                            where,
                            (min(errors), max(errors)),
                        )

    return list(found())
