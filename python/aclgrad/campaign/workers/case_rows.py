# SPDX-License-Identifier: Apache-2.0
"""Runs one case, in a child process of a worker, and says what became of it as a row."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from aclgrad import ops
from aclgrad.campaign.plans.description import CampaignError
from aclgrad.campaign.plans.plan import Cell, Json, Plan
from aclgrad.campaign.workers import checkout_actions, packing
from aclgrad.cases.operator import Operator
from aclgrad.cases.project_operator import ProjectOperator
from aclgrad.cases.spec_operator import SpecOperator
from aclgrad.golden.precision import Report
from aclgrad.profiling.calls import profiling
from aclgrad.profiling.profiled import Profiled
from aclgrad.running.operand_words import given_or_zero
from aclgrad.runtime import open_device
from aclgrad.runtime.device import Device
from aclgrad.spec.cases import Case, strided
from aclgrad.spec.dtypes import parse
from aclgrad.spec.op_spec import OpSpec
from aclgrad.spec.soc import DEFAULT_SOC, family_of
from aclgrad.testing import selection
from aclgrad.testing.run import Outcome, run_call

_TEXT = 2000  # characters of a message that are kept

PASSED, WRONG, FINDING, FAILED, REFUSED = "passed", "wrong", "finding", "failed", "refused"
CRASHED, SLOW, LOST = "crashed", "timed out", "lost"
BAD = (WRONG, FINDING, FAILED, CRASHED, SLOW, LOST)


_DEFAULTS = {
    "soc": DEFAULT_SOC, "mode": "checked", "autosync": "on", "keep_going": "off", "cores": "0",
    "held": "all",
}  # fmt: skip


class Cases:
    """Cases of a plan, one after the other, on one open simulator."""

    def __init__(self, document: Json, folder: str) -> None:
        self.plan, self.folder = Plan(document), Path(folder)
        self.device: Device | None = None
        self._subjects: dict[str, ProjectOperator] = {}
        self._grids: dict[tuple[str, str, str, str, bool], list[Any]] = {}
        self._checkout: checkout_actions.Runner | None = None
        self._set: dict[str, str] = {}

    def about(self, item: Any) -> Json:
        """What is known of a case before it runs."""
        return self.plan.cell(item).about()

    def __call__(self, item: Any) -> Json:
        """Run a case."""
        cell = self.plan.cell(item)
        row = cell.about()
        if checkout_actions.NAMES & {*cell.do}:
            return row | self._by_checkout(cell)
        if "unit-tests" in cell.do:
            return row | _unit_tests(cell, self.plan.limit)
        return row | self._call(cell)

    def _call(self, cell: Cell) -> Json:
        device = self._opened(cell)
        operator: Operator[Any] = (
            self._subject(cell.package)
            if cell.package
            else SpecOperator(ops.find(cell.operator), cell.soc)
        )
        operator.begin()
        case = self._case(operator, cell)
        row = _described(case) if cell.case >= 0 else {}
        if isinstance(operator, SpecOperator) and not selection.accepted(
            operator.spec, case, family_of(cell.soc)
        ):
            return row | {"verdict": REFUSED, "cause": "the documented checks refuse it"}
        if "precision" in cell.do or "check" in cell.do:
            chaos = (cell.chaos,) if cell.chaos else ()
            outcome = run_call(device, operator.call(device, case, cell.seed), chaos)
            row |= judged(outcome) | ({"verdict": REFUSED} if outcome.refused else {})
        if "profile" in cell.do and row.get("verdict", PASSED) == PASSED:
            call = operator.call(device, case, cell.seed)
            device.clear_findings()
            with profiling(device):
                call.compute()
            row |= _timed(device, cell, call.floor())
        if cell.held != "all":
            row["held"] = list(dict.fromkeys(map(_instruction, device.held())))
        return row

    def _opened(self, cell: Cell) -> Device:
        if self.device is None:
            self.device = open_device("sim")
            self.device.takes_faults = True
        checked = cell.mode == "checked" or "check" in cell.do
        going = not checked if cell.keep_going is None else cell.keep_going
        wanted = {
            "soc": cell.soc,
            "mode": "checked" if checked else "fast",
            "autosync": cell.autosync,
            "keep_going": "on" if going else "off",
            "cores": str(cell.cores),
            "held": cell.held,
        }
        for name, value in wanted.items():
            if self._set.get(name) != value:
                self.device.set_option(name, value)
                self._set[name] = value
        return self.device

    def _case(self, operator: Operator[Any], cell: Cell) -> Case:
        if cell.case < 0:
            return (
                _spec_case(operator.spec, cell)
                if isinstance(operator, SpecOperator)
                else _project_case(operator, cell)
            )
        key = (cell.operator, cell.dtype, cell.soc, cell.package, cell.fast)
        if key not in self._grids:
            every = operator.cases(cell.fast)
            self._grids[key] = (
                [
                    case
                    for case in every
                    if case.dtype == parse(cell.dtype)
                    and selection.accepted(operator.spec, case, family_of(cell.soc))
                ]
                if isinstance(operator, SpecOperator)
                else [case for case in every if case.row == cell.row]
            )
        found: Case = self._grids[key][cell.case]
        return found

    def _subject(self, digest: str) -> ProjectOperator:
        if digest not in self._subjects:
            self._subjects[digest] = packing.unpack(digest, self.folder / archive_name(digest))
        return self._subjects[digest]

    def _by_checkout(self, cell: Cell) -> Json:
        if self._checkout is None:
            try:
                self._checkout = checkout_actions.load().Runner(self.plan.limit)
            except CampaignError as error:
                return {"verdict": FAILED, "cause": str(error)}
        # The fuzzer sets options too, and begins with those of a new process.
        for name, value in _DEFAULTS.items() if self._set else ():
            open_device("sim").set_option(name, value)
        self._set = {}
        return self._checkout(cell)


def _spec_case(spec: OpSpec, cell: Cell) -> Case:
    attrs = {**spec.defaults(), **cell.attributes}
    assert cell.shape is not None
    case = selection.shape_case(spec, cell.shape, parse(cell.dtype), attrs)
    given, _, out = cell.layout.partition(">")
    tensors = {
        arg.name: case.call.tensor(arg.name)
        if arg.unused
        else strided(case.call.tensor(arg.name), (out or _like(given)) if arg.out else given)
        for arg in spec.tensors
    }
    name = "-".join([case.name, cell.values, cell.layout])
    call = dataclasses.replace(case.call, tensors=tensors, family=family_of(cell.soc))
    return dataclasses.replace(case, name=name, call=call, values=cell.values)


def _project_case(operator: Operator[Any], cell: Cell) -> Case:
    assert cell.shape is not None and isinstance(operator, ProjectOperator)
    given = {**operator.op.defaults(), **cell.attributes}
    (case,) = operator.one_shape(
        [cell.row],
        cell.shape,
        given_or_zero(operator.op.attrs, given),
        cell.values,
        cell.layout.partition(">")[0],
    )
    return case


def _instruction(held: Json) -> str:
    place = f" at {Path(held['file']).name}:{held['line']}" if held["file"] else ""
    return f"{held['instruction']} on {held['pipe']}{place}"


def archive_name(digest: str) -> str:
    """The file of a built package among those of a worker."""
    return f"aclgrad-{digest}.tar.gz"


def _like(layout: str) -> str:
    return layout if layout in ("offset", "gaps", "transposed") else "contiguous"


def _described(case: Case) -> Json:
    """A case of a grid, whose shape and values are its own."""
    first = next((desc for desc in case.call.tensors.values() if desc is not None), None)
    dims = "" if first is None else "x".join(map(str, first.shape)) or "scalar"
    return {"name": case.name, "shape": dims, "values": case.values}


def judged(outcome: Outcome) -> Json:
    """What an outcome says."""
    report, errors = outcome.report, outcome.errors
    kinds = list(dict.fromkeys(finding.kind for finding in outcome.findings))
    row: Json = {"findings": kinds}
    if report is not None:
        row["worst_ulp"] = float(report.max_ulp_of_scale)
        row["worst_at"] = ",".join(map(str, report.worst[0].index)) if report.worst else ""
    if outcome.passed:
        return row | {"verdict": PASSED}
    row["message"] = outcome.message[:_TEXT]
    if errors:
        first = errors[0]
        place = f"{Path(first.at.file).name}:{first.at.line}" if first.at.file else ""
        return row | {"verdict": FINDING, "cause": f"{first.kind} {place}".strip()}
    if report is None:
        return row | {"verdict": FAILED, "cause": _last(outcome.message)}
    return row | {"verdict": WRONG, "cause": _why(report, outcome)}


def _why(report: Report, outcome: Outcome) -> str:
    if outcome.picture is not None:
        return outcome.picture.cause
    return f"wrong numbers: {report.reasons[0]}" if report.reasons else "wrong numbers"


def _last(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:200] if lines else "failed"


def _timed(device: Device, cell: Cell, floor: tuple[int, int]) -> Json:
    launches = device.profiles()
    found: Json = {"verdict": PASSED}
    if launches:
        timed = Profiled(
            cell.operator, cell.dims, cell.dtype, cell.soc, launches, floor[0], floor[1]
        )
        found |= {"modelled_us": timed.us, "share": timed.of_bound}
    return found


def _unit_tests(cell: Cell, limit: float) -> Json:
    """Those of a project, by ``aclgrad ut``, or of a Python file, FILE::EXPRESSION, by pytest."""
    place, python, only = cell.word.partition(".py::")
    command = [sys.executable, "-I", "-m", "aclgrad", "ut", cell.word, "--soc", cell.soc]
    environment = {**os.environ, **cell.attributes}
    if python:
        command = [
            sys.executable,
            "-I",
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            f"{place}.py",
        ]
        command += ["-k", only] if only else []
        environment["ACLGRAD_SOC"] = cell.soc
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=max(limit - 1, 1),
        env=environment, cwd=Path(place).parent if python else None,
    )  # fmt: skip
    if done.returncode == 0:
        return {"verdict": PASSED, "message": _last(done.stdout)}
    text = done.stdout + done.stderr
    errors = [line for line in text.splitlines() if line.startswith(("error: ", "FAILED ", "E  "))]
    cause = errors[0][:200] if errors else _last(done.stdout or done.stderr)
    return {"verdict": FAILED, "cause": cause, "message": text[-_TEXT:]}
