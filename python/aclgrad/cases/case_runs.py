# SPDX-License-Identifier: Apache-2.0
"""Runs the cases of an operator against its golden: ours and a project's alike.

Inference, tiling and kernel may be anybody's code, so the cases run in a child process: what ends
it ends one case, and the next child goes on with the rest.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypedDict, cast

from aclgrad.cases.golden_file import GoldenError
from aclgrad.cases.operator import C, Operator
from aclgrad.common import host_memory
from aclgrad.common.data import rebuilt
from aclgrad.findings.finding import Written as WrittenFinding
from aclgrad.findings.finding import finding_from_json
from aclgrad.golden.limits import Tolerance
from aclgrad.golden.precision import Element, Report
from aclgrad.reading.sources import SourcesError
from aclgrad.running.isolation import Answered, case_by_case, first_reason, in_turn
from aclgrad.runtime.settings import Settings
from aclgrad.spec.cases import Case
from aclgrad.testing.picture import Written as WrittenPicture
from aclgrad.testing.picture import from_json
from aclgrad.testing.run import Outcome, run_call

_CASE_SECONDS = 600.0
"""The simulator ends what hangs long before; this is for what it cannot see."""

_PARTS = 2
"""Processes that share many cases: not as many as there are cores, since what a process has seen
decides which case an unset field of tiling data is found in.
"""
_FEW = 32
"""Cases that one process runs: another one costs as much as it saves."""
_ROOM = 2 << 30
"""Bytes of memory that two processes want: each takes some 350 MB for the largest tensors."""


@dataclass(frozen=True, kw_only=True)
class Options(Settings):
    """How cases are run."""

    seed: int = 0
    seeds: tuple[int, ...] = ()  # of further runs, whose results have to be the same
    tolerance: Tolerance = None  # instead of the cases' own and the dtypes'


@dataclass
class Trial:
    """Outcomes, the simulator's options in force, and cases that the operator does not take."""

    outcomes: list[Outcome] = field(default_factory=list)
    in_force: dict[str, str | None] = field(default_factory=dict)
    refused: list[tuple[Case, str]] = field(default_factory=list)


def run(
    operator: Operator[C],
    cases: Sequence[C],
    options: Options,
    step: Callable[[], None] = lambda: None,
    *,
    whole: bool = True,
    first: bool = False,
) -> Trial:
    """Run cases of a built operator, or until the ``first`` that fails. If the standard grid is
    given as a ``whole``, an operator that takes none of it is an error.
    """
    trial = Trial()

    left = [*cases]
    for answer, ended in _answers(operator, cases, options):
        case = left.pop(0)
        step()
        if ended is not None or answer is None:
            found = Outcome(case, False, ": ".join(ended or ()), 0.0)
        else:
            trial.in_force = answer["in_force"]
            if "golden" in answer:
                raise GoldenError(answer["golden"])
            found = _from_json(case, answer["outcome"])
        if found.refused and case.guessed:
            trial.refused.append((case, found.message))
            continue
        if found.refused and case.place:
            place = f"{found.message}\n  the case: {case.place}"
            found = dataclasses.replace(found, message=place)
        trial.outcomes.append(found)
        if first and not found.passed:
            return trial
    if left:
        raise SourcesError(
            f"{operator.op.type}: the process that runs the cases ended before {left[0].name}."
            f" Next: aclgrad run {operator.path} --inputs ..."
        )
    if whole and trial.refused and not trial.outcomes:
        last, why = trial.refused[-1]
        raise SourcesError(
            f"{operator.op.type}: it takes none of the {len(trial.refused)} cases of the standard"
            f" grid, in which all inputs have one shape; {last.name}: {first_reason(why)}. Next:"
            f" describe its cases in cases() of {operator.stem}_golden.py"
        )
    return trial


def _answers(
    operator: Operator[C], cases: Sequence[C], options: Options
) -> Iterator[Answered[_Answer]]:
    """The answer for each case, in the order of the cases."""
    if operator.debugged:
        return ((answer, None) for answer in _work(operator, cases, options))

    def deadline(count: int) -> float:
        return time.monotonic() + _CASE_SECONDS * count

    def part_of(chosen: Sequence[C]) -> Generator[Answered[_Answer]]:
        def work(first: int) -> Iterator[_Answer]:
            return _work(operator, chosen[first:], options)

        return case_by_case(len(chosen), work, deadline, prints=operator.prints)

    parts = parts_of(len(cases), prints=operator.prints)
    return in_turn([part_of(cases[part::parts]) for part in range(parts)])


def parts_of(count: int, *, prints: bool) -> int:
    """How many processes share so many cases. One keeps the order of what kernels print."""
    if prints or count <= _FEW or host_memory.available()[0] < _ROOM:
        return 1
    return _PARTS


def _work(operator: Operator[C], cases: Sequence[C], options: Options) -> Iterator[_Answer]:
    """In the child: an answer per case, until one leaves the stream useless."""
    operator.begin()
    device = options.open()
    in_force = {name: device.option(name) for name in ("soc", "mode", "autosync", "chaos")}
    unset = operator.unset_tiling(device)
    for case in cases:
        call = operator.call(device, case, options.seed, options.tolerance)
        try:
            outcome = run_call(device, call, options.seeds, unset)
        except GoldenError as error:
            yield {"in_force": in_force, "golden": str(error)}
            return
        yield {"in_force": in_force, "outcome": _to_json(outcome)}
        useless = outcome.errors or (outcome.report is None and not outcome.refused)
        if useless and not operator.debugged:
            return


class _WrittenElement(TypedDict):
    index: list[int]


class _WrittenReport(TypedDict):
    reasons: list[str]
    notes: list[str]
    first_bad: _WrittenElement | None
    worst: list[_WrittenElement]


class _Written(TypedDict):
    """The fields of an outcome for which JSON has another type."""

    report: _WrittenReport | None
    picture: WrittenPicture | None
    findings: list[WrittenFinding]


class _InForce(TypedDict):
    in_force: dict[str, str | None]


class _Answer(_InForce, total=False):
    """What a child says of a case: its outcome, or an error of the golden, which ends the run."""

    golden: str
    outcome: _Written


def _to_json(outcome: Outcome) -> _Written:
    """All of an outcome but its case."""
    fields = {field.name for field in dataclasses.fields(outcome)} - {
        "case", "report", "findings", "picture",
    }  # fmt: skip
    whole = {
        **{name: getattr(outcome, name) for name in fields},
        "report": outcome.report and _plain(outcome.report),
        "picture": outcome.picture and dataclasses.asdict(outcome.picture),
        "findings": list(map(_plain, outcome.findings)),
    }
    return cast(_Written, whole)


def _plain(value: object) -> object:
    """As `dataclasses.asdict` makes it. That copies each string, which took a quarter of the time
    of small cases.
    """
    if isinstance(value, (str, int, float)) or value is None:
        return value
    if dataclasses.is_dataclass(value):
        return {name: _plain(each) for name, each in vars(value).items()}
    assert isinstance(value, (list, tuple))
    return [_plain(each) for each in value]


def _from_json(case: Case, data: _Written) -> Outcome:
    shown = data["picture"]
    return rebuilt(
        Outcome,
        data,
        case=case,
        report=data["report"] and _report(data["report"]),
        picture=shown and from_json(shown),
        findings=tuple(map(finding_from_json, data["findings"])),
    )


def _report(data: _WrittenReport) -> Report:
    first = data["first_bad"]
    return rebuilt(
        Report,
        data,
        reasons=tuple(data["reasons"]),
        notes=tuple(data["notes"]),
        first_bad=first and _element(first),
        worst=tuple(map(_element, data["worst"])),
    )


def _element(data: _WrittenElement) -> Element:
    return rebuilt(Element, data, index=tuple(data["index"]))
