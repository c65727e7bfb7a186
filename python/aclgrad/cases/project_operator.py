# SPDX-License-Identifier: Apache-2.0
"""An operator that comes as sources: anybody's."""

from __future__ import annotations

import dataclasses
import itertools
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from aclgrad.building import operator_build
from aclgrad.cases import golden_file, grid
from aclgrad.cases.definition_lines import with_definition
from aclgrad.cases.golden_file import GoldenFile, ShapeError
from aclgrad.cases.grid import ProjectCase
from aclgrad.cases.host_tiling import tiling_of
from aclgrad.cases.tiling_fields import unset_tiling
from aclgrad.errors import AclnnError
from aclgrad.findings import Finding
from aclgrad.golden.limits import Tolerance
from aclgrad.golden.precision import Report, compare, measure
from aclgrad.reading.definition_rules import inference_place
from aclgrad.reading.layout import locate
from aclgrad.running import operator_call
from aclgrad.running.isolation import in_debugger
from aclgrad.runtime.device import Device
from aclgrad.runtime.host_functions import TilingPlan
from aclgrad.spec.definition import Definition, Registered, Value
from aclgrad.spec.dtypes import Array, bytes_of
from aclgrad.spec.naming import snake_case
from aclgrad.spec.soc import family_of
from aclgrad.testing.picture import Picture, of_result
from aclgrad.testing.run import Judged, UnsetTiling


@dataclass(frozen=True)
class ProjectOperator:
    """An operator of a project: built, with its golden if it has one; see `Operator`."""

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

    @property
    def sources(self) -> str:
        """See `Operator`."""
        return str(self.builder.sources)

    @property
    def debugged(self) -> bool:
        """See `Operator`."""
        return self.builder.sources.debug or in_debugger()

    @property
    def prints(self) -> bool:
        """Host code of others prints for each case."""
        return False

    def cases(self, fast: bool = False) -> list[ProjectCase]:
        """See `Operator`."""
        return grid.cases(
            self.golden, self.op, self.rows, stem=self.stem, path=self.path, fast=fast
        )

    def one_shape(
        self,
        rows: Sequence[tuple[str, ...]],
        shape: tuple[int, ...],
        attrs: Mapping[str, Value],
        values: str = "uniform",
        layout: str = "contiguous",
    ) -> list[ProjectCase]:
        """A case of every dtype combination in which all tensors have one shape."""
        return grid.one_shape(
            self.op, rows, shape, attrs, stem=self.stem, path=self.path, values=values,
            layout=layout,
        )  # fmt: skip

    def begin(self) -> None:
        """See `Operator`."""
        os.environ["ASCEND_CUSTOM_OPP_PATH"] = str(self.builder.package)

    def unset_tiling(self, device: Device) -> UnsetTiling:
        """See `Operator`."""
        return unset_tiling(device, self.builder)

    def call(
        self, device: Device, case: ProjectCase, seed: int, tolerance: Tolerance = None
    ) -> ProjectCall:
        """See `Operator`."""
        if tolerance is None and case.own is not None:
            tolerance = case.own.tolerance
        return ProjectCall(device, self, case, seed, tolerance)

    def tiling(
        self, soc: str, shapes: Sequence[str], dtype: str, attrs: Sequence[str]
    ) -> TilingPlan:
        """See `Operator`: SHAPE[:DTYPE] per input, or one for all."""
        return tiling_of(self.builder, self.op, soc, shapes, dtype, attrs)

    def prepare(self, cases: Sequence[ProjectCase]) -> None:
        """See `Operator`."""
        self.build(list(dict.fromkeys(case.row for case in cases)))

    def build(self, rows: Sequence[tuple[str, ...]]) -> None:
        """Build the kernels of dtype combinations and the aclnn functions."""
        self.builder.build_kernels(self.op, rows, self.described)
        self.builder.build_api([self.op])


def operators_of(
    path: str, soc: str, *, jobs: int = 0, golden: bool = True
) -> list[ProjectOperator]:
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
        ProjectOperator(
            path,
            builder,
            described,
            op,
            golden_file.need(op, builder.sources, path) if op in with_golden else None,
        )
        for op in chosen
    ]


@dataclass
class ProjectCall:
    """A case of an operator that comes as sources."""

    device: Device
    subject: ProjectOperator
    case: ProjectCase
    seed: int
    tolerance: Tolerance
    result: operator_call.Outputs | None = None  # The first run has made it.
    refused: bool = False

    @cached_property
    def inputs(self) -> list[list[Array]]:
        """Made once: all runs have the same."""
        return self.case.inputs(self.seed)

    @property
    def op(self) -> str:
        """See `CaseCall`."""
        return self.subject.stem

    def compute(self) -> Array:
        """See `CaseCall`."""
        of, case = self.subject, self.case
        try:
            result = operator_call.call(
                self.device, of.builder, of.op, case.row, self.inputs, case.attrs
            )
        except AclnnError as error:
            self.refused = error.function.endswith("GetWorkspaceSize") or error.function.startswith(
                "shape inference"
            )
            raise
        self.result = self.result or result
        return operator_call.flat(result)

    def explained(self, found: tuple[Finding, ...]) -> tuple[Finding, ...]:
        """See `CaseCall`."""
        of, case = self.subject, self.case
        return with_definition(
            found, self.device, of.builder, of.op, case.row, self.inputs, case.attrs
        )

    def failure(self, error: str, errors: Sequence[Finding]) -> tuple[str, bool]:
        """See `CaseCall`."""
        texts = [finding.text or finding.detail for finding in errors]
        return "\n".join(texts or [error]), self.refused and not errors

    def judge(self) -> Judged:
        """See `CaseCall`."""
        of = self.subject
        assert self.result is not None
        if of.golden is None:
            return Judged(None, "")
        try:
            return Judged(
                *judge(
                    of.golden, of.op, self.inputs, self.case.attrs, self.result,
                    self.device, self.tolerance,
                )
            )  # fmt: skip
        except ShapeError as error:
            place = inference_place(of.builder.sources, of.op.type)
            message = f"{error}\n  shape inference: {place or of.builder.sources}"
            return Judged(None, message, wrong=True)

    def floor(self) -> tuple[int, int]:
        """See `CaseCall`."""
        assert self.result is not None
        read = sum(bytes_of(array) for param in self.inputs for array in param)
        return read, sum(map(bytes_of, self.result.outputs.values()))


def _shapes(op: Definition, result: operator_call.Outputs) -> list[tuple[tuple[int, ...], ...]]:
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
    attrs: Mapping[str, Value],
    result: operator_call.Outputs,
) -> list[Array | None]:
    """What the golden says, for each tensor of a result."""
    return golden.evaluate(inputs, attrs, _shapes(op, result))


def judge(
    golden: GoldenFile,
    op: Definition,
    inputs: Sequence[Sequence[Array]],
    attrs: Mapping[str, Value],
    result: operator_call.Outputs,
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
        want = exact[at]
        if array.dtype.kind != "c" and want is not None:
            measured = measure(array, want, terms=terms[at], tolerance=tolerance)
            picture = of_result(device, measured, array, attrs, name)
    return worst, "\n".join(lines), picture


def _badness(report: Report) -> tuple[bool, float]:
    """Failures first, then what is nearest to its bound."""
    return not report.passed, report.max_ulp_of_scale / max(report.bound, 1.0)
