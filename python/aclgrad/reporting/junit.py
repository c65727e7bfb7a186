# SPDX-License-Identifier: Apache-2.0
"""JUnit XML: one suite per operator and dtype, one test case per case of the grid. It has what the
schemas of all readers allow: Jenkins refuses properties of a test case.
"""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree

from aclgrad.common.display.visible import visible
from aclgrad.findings import consequence
from aclgrad.golden.precision import count
from aclgrad.reporting.conditions import Conditions
from aclgrad.reporting.table import grouped
from aclgrad.testing.refusals import RefusedCase
from aclgrad.testing.run import Outcome


def document(
    outcomes: Sequence[Outcome], conditions: Conditions, refused: Sequence[RefusedCase] = ()
) -> str:
    """Return the report in the form that CI servers read."""
    root = ElementTree.Element(
        "testsuites",
        {
            **_totals(outcomes),
            "name": "aclgrad precision",
            "tests": str(len(outcomes) + len(refused)),
        },
    )
    for (op, dtype), group in grouped(outcomes).items():
        suite = ElementTree.SubElement(
            root, "testsuite", {"name": f"{op}.{dtype}", **_totals(group), "skipped": "0"}
        )
        properties = ElementTree.SubElement(suite, "properties")
        for label, value in conditions.described():
            ElementTree.SubElement(properties, "property", {"name": label, "value": value})
        for outcome in group:
            _case(suite, f"{op}.{dtype}", outcome, conditions)
    for op in dict.fromkeys(item.op for item in refused):
        left = [item for item in refused if item.op == op]
        count = str(len(left))
        suite = ElementTree.SubElement(
            root,
            "testsuite",
            {**_totals([]), "name": f"{op}.refused", "tests": count, "skipped": count},
        )
        for item in left:
            named = {"classname": f"aclgrad.{op}", "name": item.case, "time": "0.000"}
            case = ElementTree.SubElement(suite, "testcase", named)
            ElementTree.SubElement(case, "skipped", {"message": item.reason})
    # XML 1.0 has no way to write most control characters, not even escaped.
    for element in root.iter():
        element.text = visible(element.text or "") or None
        for name, value in element.attrib.items():
            element.set(name, visible(value))
    ElementTree.indent(root, " ")
    text = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n'


def _totals(group: Sequence[Outcome]) -> dict[str, str]:
    return {
        "tests": str(len(group)),
        "failures": str(sum(not outcome.passed for outcome in group)),
        "errors": "0",
        "time": f"{sum(outcome.seconds for outcome in group):.3f}",
    }


def _case(suite: ElementTree.Element, name: str, outcome: Outcome, conditions: Conditions) -> None:
    case = ElementTree.SubElement(
        suite,
        "testcase",
        {
            "classname": f"aclgrad.{name}",
            "name": outcome.case.name,
            "time": f"{outcome.seconds:.3f}",
        },
    )
    if outcome.report is not None:
        report = outcome.report
        values = {
            "max_ulp_of_scale": count(report.max_ulp_of_scale),
            "bound_in_ulp_of_scale": f"{report.bound:g}",
            "public_standard": {True: "passed", False: "failed", None: "does not apply"}[
                report.public_standard
            ],
        }
        shown = ElementTree.SubElement(case, "system-out")
        shown.text = "".join(f"{label}: {value}\n" for label, value in values.items())
    if not outcome.passed:
        kind = "finding" if outcome.errors else "precision" if outcome.report else "refused"
        first = outcome.message.partition("\n")[0]
        if outcome.after_faults:
            first += f"; numbers {consequence(outcome.after_faults)}"
        failure = ElementTree.SubElement(case, "failure", {"type": kind, "message": first})
        failure.text = f"{outcome.message}\nrepeat: {conditions.repro(outcome.case)}"
