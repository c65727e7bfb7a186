# SPDX-License-Identifier: Apache-2.0
"""One row per operator and dtype, and all that was measured as JSON."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from aclgrad import __version__
from aclgrad.findings import Merged, Run, merge, merged_json
from aclgrad.golden.precision import Report, count
from aclgrad.ops import find
from aclgrad.reporting.conditions import Conditions
from aclgrad.reporting.groups import groups_of
from aclgrad.spec.cases import Case
from aclgrad.spec.dtypes import DType
from aclgrad.testing.refusals import RefusedCase, reasons
from aclgrad.testing.run import Outcome


@dataclass(frozen=True)
class Row:
    """One operator on one dtype."""

    op: str
    dtype: str
    cases: int
    passed: int
    max_ulp_of_scale: float
    mean_ulp_of_scale: float
    nearest_ulp_of_scale: float  # of the case that is nearest to its bound
    bound: float  # of that case
    public_failed: int | None  # cases that the public standard fails; None where it does not apply
    golden_of_zeros: int
    max_abs: float
    traffic: float | None
    max_traffic: float | None
    after_faults: int = 0

    @property
    def passed_text(self) -> str:
        """How many passed, and how many have numbers that follow faults."""
        return (
            f"{self.passed} ({self.after_faults} after faults)"
            if self.after_faults
            else str(self.passed)
        )

    @property
    def error_text(self) -> str:
        """The error that is nearest to its bound, and the bound."""
        shown = count(self.nearest_ulp_of_scale)
        return f"{shown} of {self.bound:g}" if self.bound else f"{shown}, exact wanted"

    @property
    def public_text(self) -> str:
        """What the public standard says of the cases."""
        if self.public_failed is None:
            return "-"
        return f"{self.public_failed} fail" if self.public_failed else "all pass"

    @property
    def traffic_text(self) -> str:
        """GM bytes moved by the floor over all cases, and in the worst one."""
        if self.traffic is None or self.max_traffic is None:
            return "not counted"
        return f"{self.traffic:.2f} (worst {self.max_traffic:.2f})"


def grouped(outcomes: Sequence[Outcome]) -> dict[tuple[str, str], list[Outcome]]:
    """Outcomes by operator and dtype, in the order of first appearance."""
    groups: dict[tuple[str, str], list[Outcome]] = {}
    for outcome in outcomes:
        groups.setdefault((outcome.case.op, alias_of(outcome.case.dtype)), []).append(outcome)
    return groups


def rows(outcomes: Sequence[Outcome]) -> list[Row]:
    """One row per group."""
    return [_row(op, dtype, group) for (op, dtype), group in grouped(outcomes).items()]


def _row(op: str, dtype: str, group: list[Outcome]) -> Row:
    counted = [outcome for outcome in group if outcome.traffic is not None]
    moved = sum(outcome.moved_bytes for outcome in counted)
    floor = sum(outcome.floor_bytes for outcome in counted)
    reports = [outcome.report for outcome in group if outcome.report]
    nearest = max(reports, key=_by_bound, default=None)
    public = [report.public_standard for report in reports if report.public_standard is not None]
    return Row(
        op,
        dtype,
        len(group),
        sum(outcome.passed for outcome in group),
        max((report.max_ulp_of_scale for report in reports), default=0.0),
        _mean_ulp_of_scale(group),
        nearest.max_ulp_of_scale if nearest else 0.0,
        nearest.bound if nearest else 0.0,
        public.count(False) if public else None,
        sum(report.vacuous for report in reports),
        max((outcome.report.max_abs for outcome in group if outcome.report), default=0.0),
        moved / floor if floor else None,
        max((outcome.traffic for outcome in counted if outcome.traffic), default=None),
        sum(outcome.after_faults > 0 for outcome in group),
    )


def _by_bound(report: Report) -> float:
    share = report.max_ulp_of_scale / max(report.bound, 0.5)
    return -1.0 if math.isnan(share) else share


def _mean_ulp_of_scale(group: list[Outcome]) -> float:
    """Mean over the elements of all cases."""
    reports = [outcome.report for outcome in group if outcome.report]
    elements = sum(report.total for report in reports)
    return sum(report.mean_ulp_of_scale * report.total for report in reports) / max(elements, 1)


def found(outcomes: Sequence[Outcome], conditions: Conditions) -> list[Merged]:
    """What the checks have found, over all cases."""
    return merge(
        Run(outcome.case.name, conditions.repro(outcome.case), outcome.findings, outcome.launched)
        for outcome in outcomes
    )


def as_json(
    outcomes: Sequence[Outcome], conditions: Conditions, refused: Sequence[RefusedCase] = ()
) -> dict[str, Any]:
    """Everything that was measured."""
    return {
        "aclgrad": __version__,
        "device": conditions.device,
        "soc": conditions.soc,
        "mode": conditions.mode,
        "seed": conditions.seed,
        "fast": conditions.fast,
        "finished": conditions.finished,
        "passed": all(outcome.passed for outcome in outcomes),
        "counts": {
            "passed": sum(outcome.passed for outcome in outcomes),
            "failed": sum(not outcome.passed for outcome in outcomes),
            "refused": len(refused),
        },
        "refused": [
            {"op": reason.op, "reason": reason.text, "cases": list(reason.cases)}
            for reason in reasons(refused)
        ],
        "rows": [row.__dict__ for row in rows(outcomes)],
        "findings": [merged_json(item) for item in found(outcomes, conditions)],
        "golden_of_zeros": [
            outcome.case.name for outcome in outcomes if outcome.report and outcome.report.vacuous
        ],
        "causes": [
            {
                "op": group.op,
                "cause": group.title,
                "cases": [outcome.case.name for outcome in group.outcomes],
                "where": group.first.picture.where if group.first.picture else "",
                "repro": conditions.repro(group.first.case),
            }
            for group in groups_of(outcomes)
        ],
        "cases": [
            {
                "op": outcome.case.op,
                "name": outcome.case.name,
                "shape": shape_text(outcome.case),
                "dtype": dtype_text(outcome.case),
                "passed": outcome.passed,
                "seconds": round(outcome.seconds, 6),
                "max_ulp_of_scale": _number(
                    outcome.report.max_ulp_of_scale if outcome.report else None
                ),
                "mean_ulp_of_scale": _number(
                    outcome.report.mean_ulp_of_scale if outcome.report else None
                ),
                "max_abs": _number(outcome.report.max_abs if outcome.report else None),
                "bound_in_ulp_of_scale": outcome.report.bound if outcome.report else None,
                "tolerance_given": bool(outcome.report and outcome.report.tolerance_given),
                "public_standard": _public(outcome),
                "golden_of_zeros": bool(outcome.report and outcome.report.vacuous),
                "matched_ratio": outcome.report.matched_ratio if outcome.report else None,
                "gm_over_floor": outcome.traffic,
                "after_faults": outcome.after_faults,
                "findings": [finding.kind for finding in outcome.errors],
                "message": outcome.message,
                "repro": conditions.repro(outcome.case),
            }
            for outcome in outcomes
        ],
    }


def _public(outcome: Outcome) -> str | None:
    """What the public mixed-tolerance standard says; it decides nothing."""
    verdict = outcome.report.public_standard if outcome.report else None
    return None if verdict is None else "passed" if verdict else "failed"


def remarks(outcomes: Sequence[Outcome]) -> list[str]:
    """What has to be known beside the verdicts: goldens of zeros, other tolerances, and where the
    public standard alone fails.
    """
    reports = [(outcome, outcome.report) for outcome in outcomes if outcome.report]
    found = []
    if zeros := sum(report.vacuous for _, report in reports):
        found.append(
            f"{zeros} cases have a golden of zeros or no elements: they only check that nothing"
            " else is written"
            if zeros > 1
            else "1 case has a golden of zeros or no elements: it only checks that nothing else is"
            " written"
        )
    if given := [report for _, report in reports if report.tolerance_given]:
        bounds = ", ".join(f"{bound:g}" for bound in sorted({report.bound for report in given}))
        found.append(f"{len(given)} cases have a tolerance of their own: {bounds} ULP of the scale")
    alone = [(outcome, report) for outcome, report in reports
             if outcome.passed and report.public_standard is False]  # fmt: skip
    for outcome, report in alone[:3]:
        found.append(f"{outcome.case.op} {outcome.case.name}: {report.notes[-1]}")
    if len(alone) > 3:
        found.append(f"the public standard alone fails {len(alone) - 3} more cases; see the report")
    return found


def _number(value: float | None) -> float | None:
    return value if value is None or math.isfinite(value) else None


def alias_of(dtype: DType) -> str:
    """A dtype as tables spell it."""
    return dtype.alias or dtype.name


def shape_text(case: Case) -> str:
    """Shape of the result, then those of the inputs that differ from it; of an operator that comes
    as sources the shapes of its inputs.
    """
    if case.of_project:
        given: dict[str, str] = {}
        for name, desc in case.call.tensors.items():
            if desc is not None:
                given.setdefault("x".join(map(str, desc.shape)) or "scalar", name)
        first, *rest = given
        return ", ".join([first, *(f"{given[shape]} {shape}" for shape in rest)])
    spec = find(case.op)
    shapes = {
        arg.name: "x".join(map(str, case.call.tensor(arg.name).shape)) or "scalar"
        for arg in (*spec.output_args, *spec.kernel_args)
    }
    result = shapes[spec.output_args[0].name]
    others = [f"{name} {shape}" for name, shape in shapes.items() if shape != result]
    return ", ".join([result, *others])


def dtype_text(case: Case) -> str:
    """Dtypes of the floating-point inputs, and of the output where it differs."""
    if case.of_project:
        return "+".join(
            dict.fromkeys(alias_of(desc.dtype) for desc in case.call.tensors.values() if desc)
        )
    spec = find(case.op)
    inputs = [case.call.tensor(arg.name).dtype for arg in spec.kernel_args if not arg.dtypes]
    text = "+".join(dict.fromkeys(dtype.alias for dtype in inputs))
    out = case.call.tensor(spec.output_args[0].name).dtype.alias
    return text if out in text.split("+") else f"{text} to {out}"
