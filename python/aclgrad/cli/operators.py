# SPDX-License-Identifier: Apache-2.0
"""What words of a command line name, in one concept: operators of this package by their names, or
an operator project by its path. Each verb of a command is a method, the same to its caller.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from aclgrad.cli.options import Running
from aclgrad.cli.progress_lines import Bar
from aclgrad.reading.command_words import KernelOptions
from aclgrad.spec.dtypes import Array

if TYPE_CHECKING:
    from aclgrad.cases.case_runs import Options
    from aclgrad.cases.operator import C, Operator
    from aclgrad.findings import Finding, Refused, Run
    from aclgrad.golden.limits import Tolerance
    from aclgrad.golden.precision import Report
    from aclgrad.runtime.host_functions import TilingPlan
    from aclgrad.testing.picture import Picture
    from aclgrad.testing.refusals import RefusedCase
    from aclgrad.testing.run import Outcome


@dataclass(frozen=True)
class Asked:
    """Which cases a command line asks for: of the grid, or with shapes and attributes of its."""

    dtype: str | None = None
    names: Sequence[str] = ()
    fast: bool = False
    shapes: Sequence[str] = ()
    attrs: Sequence[str] = ()
    tolerance: Tolerance = None
    keyword: str = ""
    failed: frozenset[str] | None = None  # of the last run, as "op case"
    first: bool = False  # stop at the first failure

    def wants(self, op: str, case: str) -> bool:
        """Whether -k and --lf choose a case."""
        if self.failed is not None and f"{op} {case}" not in self.failed:
            return False
        return not self.keyword or matches(self.keyword, f"{op} {case}")


def matches(expression: str, text: str) -> bool:
    """Whether a text has the words of an expression, as of pytest's -k: ``fp32 and not nan``."""
    words = expression.split()
    if not words or words[-1] in ("and", "or", "not"):
        raise ValueError(
            f"-k {expression!r}: want words joined by and, or, not. Next: -k 'fp32 and not nan'"
        )
    text = text.lower()

    def holds(term: str) -> bool:
        wanted = True
        while term.startswith("not "):
            wanted, term = not wanted, term[4:].lstrip()
        return (term.lower() in text) == wanted

    return any(
        all(holds(term) for term in group.split(" and ")) for group in " ".join(words).split(" or ")
    )


@dataclass
class Ran:
    """What cases showed, those that were refused, and the options in force."""

    outcomes: list[Outcome] = field(default_factory=list)
    refused: list[RefusedCase] = field(default_factory=list)
    in_force: Mapping[str, str | None] = field(default_factory=dict)


def run_cases(
    groups: Iterable[tuple[Operator[C], Sequence[C]]],
    options: Options,
    shown: Bar,
    *,
    first: bool = False,
) -> Ran:
    """Run cases of operators, or until the ``first`` that fails; ``shown`` is a bar."""
    from aclgrad.cases import case_runs
    from aclgrad.running.isolation import first_reason
    from aclgrad.testing.refusals import RefusedCase

    ran = Ran()
    for operator, cases in groups:
        task = shown.add_task(f"building {operator.stem}", total=len(cases))
        operator.prepare(cases)
        shown.update(task, description=f"{operator.stem} on {options.soc or options.device}")
        done = case_runs.run(
            operator, cases, options, partial(shown.advance, task), whole=not first, first=first
        )
        ran.in_force = done.in_force
        ran.outcomes += done.outcomes
        ran.refused += [
            RefusedCase(operator.stem, case.name, first_reason(why)) for case, why in done.refused
        ]
        if first and not all(outcome.passed for outcome in done.outcomes):
            break
    return ran


@dataclass
class Looked:
    """What the checks found in each case, under which conditions, and what was not looked at."""

    runs: list[Run] = field(default_factory=list)
    conditions: dict[str, str] = field(default_factory=dict)
    refused: list[Refused] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    hollow: str = ""  # why the run proves too little


def shortened(asked: Asked) -> list[str]:
    """What `check` says of a standard grid that --fast has made shorter."""
    short = asked.fast and not asked.names and not asked.shapes
    return ["--fast left out: most lengths around blocks, long rows"] if short else []


@dataclass(frozen=True)
class Given:
    """A call of a command line: its tensors, its attributes, and what is said of its results."""

    files: Sequence[str]
    attrs: Sequence[str] = ()
    dtype: str | None = None
    out_dtype: str | None = None
    outputs: Sequence[str] = ()
    kernel: KernelOptions = field(default_factory=KernelOptions)
    golden: bool = False


@dataclass(frozen=True)
class Computed:
    """Results of a call by name, what the checks found, and what the golden says."""

    op: str
    outputs: Mapping[str, Array]
    errors: Sequence[Finding] = ()
    report: Report | None = None
    verdict: str = ""
    autosync: Mapping[str, str] | None = None
    picture: Picture | None = None
    hints: Sequence[Finding] = ()


class Operators(Protocol):
    """Operators that a command is about."""

    def cases(self, asked: Asked, running: Running) -> list[str]:
        """The cases that `test` would run, as "op case"."""

    def test(self, asked: Asked, running: Running, seed: int, shown: Bar) -> Ran:
        """Run cases against their golden; ``shown`` is a bar."""

    def check(
        self, asked: Asked, running: Running, seed: int, seeds: str | None, shown: Bar
    ) -> Looked:
        """Run cases for what the checks find, and again for each seed of chaos."""

    def sanitize(self, asked: Asked, running: Running, seed: int) -> list[Run]:
        """Run definition, inference and tiling of the same cases under sanitizers."""

    def run(self, given: Given, running: Running, save: Path | None, quiet: bool) -> Computed:
        """Compute one call, and save its results."""

    def tiling(
        self, shapes: Sequence[str], dtype: str, attrs: Sequence[str], soc: str | None
    ) -> TilingPlan:
        """What the tiling decides for shapes."""
