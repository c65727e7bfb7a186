# SPDX-License-Identifier: Apache-2.0
"""Runs the cases of an operator project against its golden.

Inference, tiling and kernel are the user's code, so the cases run in a child process: what ends it
ends one case, and the next child goes on with the rest.
"""

from __future__ import annotations

import dataclasses
import itertools
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from numpy.typing import NDArray

from aclgrad.building import operator_build
from aclgrad.cases import golden_file
from aclgrad.cases.definition_lines import with_definition
from aclgrad.cases.golden_file import GoldenError, GoldenFile, ShapeError
from aclgrad.cases.grid import ProjectCase
from aclgrad.cases.tiling_fields import unset_tiling
from aclgrad.errors import AclnnError
from aclgrad.findings import Finding
from aclgrad.findings.finding import finding_from_json
from aclgrad.golden.limits import Tolerance
from aclgrad.golden.precision import Element, Report, compare, measure
from aclgrad.reading.definition_rules import inference_place
from aclgrad.reading.layout import locate
from aclgrad.reading.sources import SourcesError
from aclgrad.running import operator_call
from aclgrad.running.isolation import first_reason, isolated
from aclgrad.runtime import open_device
from aclgrad.runtime.device import Device
from aclgrad.spec.definition import Definition, Registered
from aclgrad.spec.naming import snake_case
from aclgrad.spec.soc import family_of
from aclgrad.testing.picture import Picture, draw, from_json
from aclgrad.testing.run import Judged, Outcome, UnsetTiling, run_call
from aclgrad.testing.writers import writers_of

Array = NDArray[Any]

_CASE_SECONDS = 600.0
"""The simulator ends what hangs long before; this is for what it cannot see."""


@dataclass(frozen=True)
class Subject:
    """An operator of a project: built, with its golden if it has one."""

    path: str
    builder: operator_build.Builder
    described: Registered
    op: Definition
    golden: GoldenFile | None

    @property
    def stem(self) -> str:
        """What reports call it."""
        return snake_case(self.op.type)

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """The dtype combinations of the definition."""
        return self.builder.combinations(self.op)

    def build(self, rows: Sequence[tuple[str, ...]]) -> None:
        """Build the kernels of dtype combinations and the aclnn functions."""
        self.builder.build_kernels(self.op, rows, self.described)
        self.builder.build_api([self.op])


def subjects(path: str, soc: str, *, jobs: int = 0, golden: bool = True) -> list[Subject]:
    """The operators of a project. With ``golden`` those that have one; none is an error."""
    builder = operator_build.Builder(locate(path), family_of(soc), jobs=jobs)
    described = builder.build_host()
    ops = operator_build.runnable(described, builder.sources, builder.soc)
    # The folder's own operator comes first, and is the one whose golden is missed.
    main = operator_call.main_of(ops, builder.sources)
    ops = [main, *(op for op in ops if op is not main)]
    with_golden = [op for op in ops if golden_file.find(op, builder.sources)]
    if golden and not with_golden:
        golden_file.need(ops[0], builder.sources, path)
    chosen = with_golden or ops[:1]
    return [
        Subject(
            path,
            builder,
            described,
            op,
            golden_file.need(op, builder.sources, path) if op in with_golden else None,
        )
        for op in chosen
    ]


@dataclass(frozen=True)
class Options:
    """How cases are run; None leaves it to the environment."""

    soc: str
    seed: int = 0
    checked: bool | None = None
    autosync: str | None = None
    chaos: int | None = None
    keep_going: bool | None = None
    seeds: tuple[int, ...] = ()  # of further runs, whose results have to be the same
    tolerance: Tolerance = None  # instead of the cases' own and the dtypes'


@dataclass
class Trial:
    """Outcomes, the simulator's options in force, and cases that the operator does not take."""

    outcomes: list[Outcome] = field(default_factory=list)
    in_force: dict[str, str] = field(default_factory=dict)
    refused: list[tuple[ProjectCase, str]] = field(default_factory=list)


def run(
    subject: Subject,
    cases: Sequence[ProjectCase],
    options: Options,
    step: Callable[[], None] = lambda: None,
    *,
    whole: bool = True,
) -> Trial:
    """Run cases of a built operator. If the standard grid is given as a ``whole``, an operator that
    takes none of it is an error.
    """
    trial = Trial()
    left = list(cases)
    while left:
        rest = list(left)
        deadline = time.monotonic() + _CASE_SECONDS * len(rest)

        def work(rest: Sequence[ProjectCase] = rest) -> Iterator[dict[str, Any]]:
            return _work(subject, rest, options)

        failure = ""
        debug = subject.builder.sources.debug  # a debugger sees this process
        answers = ((answer, None) for answer in work()) if debug else isolated(work, deadline)
        for answer, ended in answers:
            if answer is not None and "in_force" in answer:
                trial.in_force = answer["in_force"]
                continue
            if not left:
                continue
            case = left.pop(0)
            step()
            if ended is not None:
                trial.outcomes.append(Outcome(case, False, f"{ended[0]}: {ended[1]}", 0.0))
            elif "golden" in (answer or {}):
                assert answer is not None
                failure = answer["golden"]
            else:
                assert answer is not None
                found = _from_json(case, answer["outcome"])
                if found.refused and case.guessed:
                    trial.refused.append((case, found.message))
                else:
                    if found.refused and case.own is not None:
                        place = f"{found.message}\n  the case: {case.own.place}"
                        found = dataclasses.replace(found, message=place)
                    trial.outcomes.append(found)
        if failure:
            raise GoldenError(failure)
        if len(left) == len(rest):
            raise SourcesError(
                f"{subject.op.type}: the process that runs the cases ended before the first."
                f" Next: aclgrad run {subject.path} --inputs ..."
            )
    if whole and trial.refused and not trial.outcomes:
        case, why = trial.refused[-1]
        raise SourcesError(
            f"{subject.op.type}: it takes none of the {len(trial.refused)} cases of the standard"
            f" grid, in which all inputs have one shape; {case.name}: {first_reason(why)}. Next:"
            f" describe its cases in cases() of {subject.stem}_golden.py"
        )
    return trial


def _work(
    subject: Subject, cases: Sequence[ProjectCase], options: Options
) -> Iterator[dict[str, Any]]:
    """In the child: an answer per case, until one leaves the stream useless."""
    os.environ["ASCEND_CUSTOM_OPP_PATH"] = str(subject.builder.package)
    device = open_device()
    device.set_option("soc", options.soc)
    if options.checked is not None:
        device.set_option("mode", "checked" if options.checked else "fast")
    if options.autosync is not None:
        device.set_option("autosync", options.autosync)
    if options.chaos is not None:
        device.set_option("chaos", str(options.chaos))
    if options.keep_going is not None:
        device.set_option("keep_going", "on" if options.keep_going else "off")
    if names := os.environ.get("ACLGRAD_SIM_PARTIAL_OUTPUTS"):
        device.set_option("partial_outputs", names)
    device.takes_faults = True
    names_ = ("mode", "autosync", "chaos")
    yield {"in_force": {name: device.option(name) or "" for name in names_}}
    unset = unset_tiling(device, subject.builder)
    for case in cases:
        try:
            outcome = run_case(
                device, subject, case, options.seed, options.seeds, options.tolerance, unset
            )
        except GoldenError as error:
            yield {"golden": str(error)}
            return
        yield {"outcome": _to_json(outcome)}
        if outcome.errors or (outcome.report is None and not outcome.refused):
            return


def run_case(
    device: Device,
    subject: Subject,
    case: ProjectCase,
    seed: int,
    seeds: Sequence[int],
    tolerance: Tolerance = None,
    unset: UnsetTiling | None = None,
) -> Outcome:
    """Compute and judge one case of a project's operator: see `run_call`."""
    if tolerance is None and case.own is not None:
        tolerance = case.own.tolerance
    call = _ProjectCall(device, subject, case, seed, tolerance)
    return run_call(device, call, seeds, unset)


@dataclass
class _ProjectCall:
    """A case of an operator that comes as sources."""

    device: Device
    subject: Subject
    case: ProjectCase
    seed: int
    tolerance: Tolerance
    result: operator_call.Result | None = None  # of the first run
    refused: bool = False

    @cached_property
    def inputs(self) -> list[list[Array]]:
        """Made once: all runs have the same."""
        return self.case.inputs(self.seed)

    @property
    def op(self) -> str:
        return self.subject.stem

    def compute(self) -> Array:
        of, case = self.subject, self.case
        try:
            result = operator_call.call(
                self.device, of.builder, of.op, case.row, self.inputs, case.call.attrs
            )
        except AclnnError as error:
            self.refused = error.function.endswith("GetWorkspaceSize") or error.function.startswith(
                "shape inference"
            )
            raise
        self.result = self.result or result
        return operator_call.flat(result)

    def explained(self, found: tuple[Finding, ...]) -> tuple[Finding, ...]:
        of, case = self.subject, self.case
        return with_definition(
            found, self.device, of.builder, of.op, case.row, self.inputs, case.call.attrs
        )

    def failure(self, error: str, errors: Sequence[Finding]) -> tuple[str, bool]:
        texts = [finding.text or finding.detail for finding in errors]
        return "\n".join(texts or [error]), self.refused and not errors

    def judge(self) -> Judged:
        of = self.subject
        assert self.result is not None
        if of.golden is None:
            return Judged(None, "")
        try:
            return Judged(
                *judge(
                    of.golden, of.op, self.inputs, self.case.call.attrs, self.result,
                    self.device, self.tolerance,
                )
            )  # fmt: skip
        except ShapeError as error:
            place = inference_place(of.builder.sources, of.op.type)
            message = f"{error}\n  shape inference: {place or of.builder.sources}"
            return Judged(None, message, wrong=True)

    def floor_bytes(self) -> int:
        assert self.result is not None
        arrays = [array for param in self.inputs for array in param]
        return sum(array.nbytes for array in (*arrays, *self.result.outputs.values()))


def _to_json(outcome: Outcome) -> dict[str, Any]:
    """All of an outcome but its case."""
    fields = {field.name for field in dataclasses.fields(outcome)} - {
        "case", "report", "findings", "picture",
    }  # fmt: skip
    return {
        **{name: getattr(outcome, name) for name in fields},
        "report": outcome.report and dataclasses.asdict(outcome.report),
        "picture": outcome.picture and dataclasses.asdict(outcome.picture),
        "findings": [dataclasses.asdict(item) for item in outcome.findings],
    }


def _from_json(case: ProjectCase, data: dict[str, Any]) -> Outcome:
    report = data.pop("report")
    if report is not None:
        first = report.pop("first_bad")
        report = Report(
            **{**report, "reasons": tuple(report["reasons"]), "notes": tuple(report["notes"])}
            | {
                "first_bad": first and _element(first),
                "worst": tuple(map(_element, report["worst"])),
            }
        )
    found = tuple(map(finding_from_json, data.pop("findings")))
    shown = data.pop("picture")
    picture = shown and from_json(shown)
    return Outcome(case, report=report, findings=found, picture=picture, **data)


def _element(data: dict[str, Any]) -> Element:
    return Element(**{**data, "index": tuple(data["index"])})


def _shapes(op: Definition, result: operator_call.Result) -> list[tuple[tuple[int, ...], ...]]:
    """Shapes of a result's tensors, output by output."""
    shapes = []
    for item in op.outputs:
        name = item.name
        many = itertools.takewhile(
            result.outputs.__contains__, (f"{name}_{i}" for i in itertools.count())
        )
        parts = [name] if name in result.outputs else list(many)
        shapes.append(tuple(result.outputs[part].shape for part in parts))
    return shapes


def wanted(
    golden: GoldenFile,
    op: Definition,
    inputs: Sequence[Sequence[Array]],
    attrs: Mapping[str, Any],
    result: operator_call.Result,
) -> list[Array | None]:
    """What the golden says, for each tensor of a result."""
    return golden.evaluate(inputs, attrs, _shapes(op, result))


def judge(
    golden: GoldenFile,
    op: Definition,
    inputs: Sequence[Sequence[Array]],
    attrs: Mapping[str, Any],
    result: operator_call.Result,
    device: Device | None = None,
    tolerance: Tolerance = None,
) -> tuple[Report, str, Picture | None]:
    """Compare all outputs with the golden: the worst report, what to say of each, and where the
    worst is wrong. The ``device`` knows who wrote what.
    """
    exact = wanted(golden, op, inputs, attrs, result)
    terms = golden.magnitudes(inputs, attrs, _shapes(op, result))
    reports: list[tuple[Report, str, int]] = []
    lines = []
    outputs = result.outputs.items()
    for at, ((name, array), want, size) in enumerate(zip(outputs, exact, terms, strict=True)):
        if want is None:
            continue
        report = compare(array, want, terms=size, tolerance=tolerance)
        reports.append((report, name, at))
        lines.append(f"{name}: {report}" if len(exact) > 1 else str(report))
    worst, name, at = max(reports, key=lambda item: _badness(item[0]))
    public = [
        report.public_standard for report, _, _ in reports if report.public_standard is not None
    ]
    worst = dataclasses.replace(
        worst,
        vacuous=all(report.vacuous for report, _, _ in reports),
        public_standard=all(public) if public else None,
    )
    picture = None
    if not worst.passed:
        array = result.outputs[name]
        writers = writers_of(device, array.size, name) if device else None
        axis = next((attrs[key] for key in ("dim", "axis", "axes") if key in attrs), None)
        want = exact[at]
        if array.dtype.kind != "c" and want is not None:
            measured = measure(array, want, terms=terms[at], tolerance=tolerance)
            picture = draw(measured, array, axis if isinstance(axis, int) else None, writers)
    return worst, "\n".join(lines), picture


def _badness(report: Report) -> tuple[bool, float]:
    """Failures first, then what is nearest to its bound."""
    return not report.passed, report.max_ulp_of_scale / max(report.bound, 1.0)
