# SPDX-License-Identifier: Apache-2.0
"""What `aclgrad check` found with inputs that the standard grid had to invent: the cases are run
again with other values.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from aclgrad.cases import case_runs
from aclgrad.cases.grid import ProjectCase
from aclgrad.cases.made_inputs import DRAWS
from aclgrad.cases.project_operator import ProjectOperator
from aclgrad.checks.exploration import HOST_CODE, stays
from aclgrad.findings import WARNING, Finding
from aclgrad.testing.run import Outcome


def settled(
    subject: ProjectOperator, outcomes: Sequence[Outcome], options: case_runs.Options
) -> list[Outcome]:
    """The outcomes, with warnings for errors that rest on invented values."""
    plain = {
        finding.cause for outcome in outcomes for finding in outcome.errors if not _why(outcome)
    }
    return [
        _settled(subject, outcome, options, plain)
        if _why(outcome) and not outcome.passed
        else outcome
        for outcome in outcomes
    ]


def _why(outcome: Outcome) -> str:
    return outcome.case.invented if isinstance(outcome.case, ProjectCase) else ""


def _settled(
    subject: ProjectOperator,
    outcome: Outcome,
    options: case_runs.Options,
    plain: set[tuple[object, ...]],
) -> Outcome:
    case, why = outcome.case, _why(outcome)
    assert isinstance(case, ProjectCase)
    others = [dataclasses.replace(case, draw=draw, guessed=True) for draw in DRAWS]
    again = case_runs.run(subject, others, options, whole=False).outcomes
    if not outcome.errors:
        if not again or all(not other.passed for other in again):
            return outcome
        kind = "wrong-result" if outcome.report else "call-failed"
        found = Finding(kind, WARNING, case.op, detail=outcome.message, invented=why)
        return dataclasses.replace(outcome, passed=True, findings=(*outcome.findings, found))
    shown = [other.errors for other in again]
    findings = tuple(
        finding
        if finding not in outcome.errors
        or finding.cause in plain
        or finding.kind in HOST_CODE
        or stays(finding, shown, exactly=finding.kind == "output-unwritten")
        else dataclasses.replace(finding, severity=WARNING, invented=why)
        for finding in outcome.findings
    )
    certain = any(item in outcome.errors for item in findings)
    return dataclasses.replace(outcome, passed=not certain, findings=findings)
