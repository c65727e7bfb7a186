# SPDX-License-Identifier: Apache-2.0
"""An operator project, by its path: anybody's operators, or a kernel file."""

from __future__ import annotations

import dataclasses
import difflib
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from aclgrad import findings
from aclgrad.cli.common import open_device
from aclgrad.cli.operators import Asked, Computed, Given, Looked, Ran, run_cases, shortened
from aclgrad.cli.options import DeviceName, Running, Switch
from aclgrad.cli.progress_lines import Bar
from aclgrad.common.display.visible import visible
from aclgrad.common.files import check_output
from aclgrad.reading.auto_sync import Assumed, assume
from aclgrad.reading.command_words import soc_name
from aclgrad.reading.sources import SourcesError, numpy_name
from aclgrad.reporting.conditions import Conditions
from aclgrad.spec import dtypes

if TYPE_CHECKING:
    from aclgrad.cases import case_runs
    from aclgrad.cases.golden_file import GoldenFile
    from aclgrad.cases.grid import ProjectCase
    from aclgrad.cases.project_operator import ProjectOperator
    from aclgrad.findings import Run
    from aclgrad.golden.precision import Report
    from aclgrad.running.operand_words import Tensors
    from aclgrad.running.operator_call import Outputs
    from aclgrad.runtime.device import Device
    from aclgrad.runtime.host_functions import TilingPlan
    from aclgrad.testing.picture import Picture


class Project:
    """The operators of a project."""

    def __init__(self, word: str) -> None:
        self.word = word

    def cases(self, asked: Asked, running: Running) -> list[str]:
        """See `Operators`."""
        from aclgrad.cases.project_operator import operators_of

        return [
            f"{case.op} {case.name}"
            for operator in operators_of(self.word, soc_name(running.soc))
            for case in _chosen(operator, asked)
        ]

    def test(self, asked: Asked, running: Running, seed: int, shown: Bar) -> Ran:
        """See `Operators`."""
        from aclgrad.cases.project_operator import operators_of

        soc = soc_name(running.soc)
        options = self._options(running, self._assume(running), seed)
        options = dataclasses.replace(options, tolerance=asked.tolerance)
        groups = ((one, _chosen(one, asked)) for one in operators_of(self.word, soc))
        ran = run_cases(groups, options, shown, first=asked.first)
        ran.in_force = {**ran.in_force, "soc": soc}
        return ran

    def check(
        self, asked: Asked, running: Running, seed: int, seeds: str | None, shown: Bar
    ) -> Looked:
        """See `Operators`. Without cases of its own and shapes of the caller's the inputs are made
        from the definition.
        """
        from aclgrad.cases.project_operator import operators_of
        from aclgrad.checks import settled_cases
        from aclgrad.running import operand_words
        from aclgrad.testing import refusals, selection, user_data

        assumed = self._assume(running)
        chaos = selection.seeds(seeds) if seeds else ()
        running = dataclasses.replace(running, check=True, chaos=0)
        options = dataclasses.replace(self._options(running, assumed, seed), seeds=chaos)
        soc = soc_name(running.soc)
        subject = operators_of(self.word, soc, golden=False)[0]
        choice: dict[str, list[str]] = {}
        conditions = {"soc": soc, "autosync": assumed.value, "why": assumed.why}
        cases: list[ProjectCase] = []
        if asked.shapes:
            values = operand_words.parse_attrs(subject.op, asked.attrs)
            rows = _rows(subject, asked.dtype)
            for text in asked.shapes:
                dims = user_data.parse_shape(text)
                made = subject.one_shape(rows, dims, values)
                again = [
                    "--shape",
                    text,
                    *(part for item in asked.attrs for part in ("--attr", item)),
                ]
                choice |= {
                    case.name: [*again, "--dtype", dtypes.by_label(case.row[0][3:]).name]
                    for case in made
                }
                cases += made
        elif subject.golden is not None:
            # The findings of checks do not depend on the scale of the data.
            cases = [case for case in _chosen(subject, asked) if asked.names or not case.exponent]
        elif asked.names:
            raise ValueError(
                f"check {self.word}: it has no golden file with cases. Next: aclgrad new --from"
                f" {self.word}, or --shape"
            )
        else:
            return self._check_made(asked, running, conditions, seeds)
        ran = run_cases([(subject, cases)], options, shown)
        here = Conditions(
            "sim", soc, None, seed, asked.fast, "", assumed.value, seeds or "0",
            running.keep_going,
        )  # fmt: skip
        runs = [
            outcome.run(here.repro(outcome.case, "check", choice.get(outcome.case.name, ())))
            for outcome in settled_cases.settled(subject, ran.outcomes, options)
        ]
        standard = subject.golden is not None and subject.golden.own_cases is None
        notes = shortened(asked) if standard else []
        refused = [findings.Refused(item.case, item.reason) for item in ran.refused]
        hollow = refusals.too_many(ran.refused, [outcome.case.op for outcome in ran.outcomes])
        return Looked(runs, conditions, refused, notes, hollow)

    def sanitize(self, asked: Asked, running: Running, seed: int) -> list[Run]:
        """See `Operators`."""
        from aclgrad.cases import made_inputs
        from aclgrad.cases.project_operator import operators_of
        from aclgrad.checks import host_sanitizer
        from aclgrad.running import operand_words
        from aclgrad.testing import user_data

        soc = soc_name(running.soc)
        subject = operators_of(self.word, soc, golden=False)[0]
        op, rows = subject.op, _rows(subject, asked.dtype)
        if not asked.shapes and subject.golden is None:
            made = [
                host_sanitizer.of_arrays(
                    case.label, op, row, _shapes_of(case.inputs), case.attrs, case.inputs
                )
                for row in rows
                for case in made_inputs.cases(op, row)
            ]
        else:
            values = operand_words.parse_attrs(op, asked.attrs) if asked.shapes else {}
            shapes = [user_data.parse_shape(text) for text in asked.shapes]
            cases = [
                case for dims in shapes for case in subject.one_shape(rows, dims, values)
            ] or _chosen(subject, asked)
            read = any(host_sanitizer.reads_values(op, at) for at in range(len(op.inputs)))
            made = [
                host_sanitizer.of_arrays(
                    case.name,
                    op,
                    case.row,
                    [[desc.shape for desc in param] for param in case.descs],
                    case.attrs,
                    case.inputs(seed) if read else None,
                )
                for case in cases
            ]
        return host_sanitizer.sanitize(
            subject.builder.sources,
            subject.builder.soc,
            op,
            made,
            soc=soc,
            repro=f"aclgrad check {self.word} --soc {soc} --sanitize-host",
        )

    def _check_made(
        self, asked: Asked, running: Running, conditions: dict[str, str], seeds: str | None
    ) -> Looked:
        from aclgrad.checks import operator_check
        from aclgrad.testing import selection

        soc = conditions["soc"]
        checked = operator_check.check(
            self.word,
            soc=soc,
            dtype=dtypes.parse(asked.dtype).name if asked.dtype else "",
            fast=asked.fast,
            autosync=running.autosync and running.autosync.value,
            keep_going=running.keep_going,
            seeds=selection.seeds(seeds) if seeds else (),
        )
        runs = checked.runs(self.word, soc, seeds or "")
        return Looked(runs, conditions, checked.refused, [*checked.notes], checked.hollow)

    def run(self, given: Given, running: Running, save: Path | None, quiet: bool) -> Computed:
        """See `Operators`."""
        from aclgrad.running import kernel_file, operand_words
        from aclgrad.running import operator_call as project_running

        if given.out_dtype:
            raise SourcesError(
                "--out-dtype: a path's inference says the dtypes of its outputs. Next: leave it out"
            )
        assumed = self._assume(running)
        running = dataclasses.replace(running, autosync=Switch(assumed.value))
        if save is not None:
            check_output(save, "--save")
        kind = dtypes.parse(given.dtype) if given.dtype else None
        inputs = [operand_words.load(name, kind) for name in given.files]
        outputs = operand_words.output_words(given.outputs)
        if not quiet:
            print(visible(assumed.line), file=sys.stderr)
        soc = soc_name(running.soc)
        alone = kernel_file.find(self.word)
        report: Report | None = None
        picture: Picture | None = None
        verdict = ""
        kernel = given.kernel
        if alone is not None:
            if given.golden:
                raise SourcesError(
                    f"--golden: {self.word} is a kernel alone, which has no golden. Next: leave"
                    " --golden out"
                )
            result = kernel_file.run_kernel(
                alone,
                inputs,
                outputs,
                given.attrs,
                soc=soc,
                blocks=1 if kernel.blocks is None else kernel.blocks,
                tiling=kernel.tiling,
                tiling_key=kernel.tiling_key or 0,
                workspace=kernel.workspace,
                open_device=lambda: open_device(running),
            )
        else:
            if kernel.given():
                raise SourcesError(
                    f"{kernel.given()[0]}: {self.word} comes with op_host, whose tiling decides"
                    " that. Next: leave it out"
                )
            golden = _golden(self.word, soc) if given.golden else None
            device: Device | None = None

            def opened() -> Device:
                nonlocal device
                device = open_device(running)
                device.keep_writers(golden is not None)
                return device

            result = project_running.run(
                self.word, inputs, given.attrs, soc=soc, outputs=outputs, open_device=opened
            )
            if golden is not None and device is not None:
                report, verdict, picture = _judge(golden, inputs, given.attrs, result, device)
        if save is not None:
            project_running.save(save, result)
        return Computed(
            result.op, result.outputs, result.findings, report, verdict, assumed.as_json(), picture,
            result.hints,
        )  # fmt: skip

    def tiling(
        self, shapes: Sequence[str], dtype: str, attrs: Sequence[str], soc: str | None
    ) -> TilingPlan:
        """See `Operators`: SHAPE[:DTYPE] per input, or one for all."""
        from aclgrad.cases.project_operator import operators_of

        name = soc_name(soc)
        return operators_of(self.word, name, golden=False)[0].tiling(name, shapes, dtype, attrs)

    def _assume(self, running: Running) -> Assumed:
        """What is assumed of the device compiler."""
        if running.device is DeviceName.npu:
            raise ValueError("--device npu: a path runs on the simulator. Next: leave it out")
        chosen = running.autosync.value if running.autosync else None
        return assume(self.word, soc_name(running.soc), chosen)

    def _options(self, running: Running, assumed: Assumed, seed: int) -> case_runs.Options:
        from aclgrad.cases import case_runs

        return case_runs.Options(
            soc=soc_name(running.soc),
            checked=running.check,
            autosync=assumed.value,
            chaos=running.chaos,
            keep_going=running.keep_going,
            seed=seed,
        )


def _golden(word: str, soc: str) -> GoldenFile:
    """The golden of the operator that a path names; none is an error before anything runs."""
    from aclgrad.cases import golden_file
    from aclgrad.running import operator_call

    builder, _, op = operator_call.located(word, soc)
    return golden_file.need(op, builder.sources, word)


def _judge(
    golden: GoldenFile,
    inputs: Sequence[Tensors],
    attrs: Sequence[str],
    result: Outputs,
    device: Device,
) -> tuple[Report, str, Picture | None]:
    from aclgrad.cases.project_operator import judge
    from aclgrad.running import operand_words

    every = [*inputs, *([[]] * (len(golden.op.inputs) - len(inputs)))]
    values = operand_words.parse_attrs(golden.op, attrs)
    return judge(golden, golden.op, every, values, result, device)


def _shapes_of(params: Sequence[Tensors]) -> list[list[tuple[int, ...]]]:
    return [[array.shape for array in param] for param in params]


def _rows(subject: ProjectOperator, dtype: str | None) -> list[tuple[str, ...]]:
    rows = subject.rows
    if dtype is None:
        return rows
    wanted = dtypes.parse(dtype)
    chosen = [row for row in rows if row and row[0] == wanted.ge]
    if not chosen:
        offered = ", ".join(dict.fromkeys(numpy_name(row[0]) for row in rows if row))
        raise SourcesError(
            f"{subject.op.type}: no kernel whose first input is {wanted.name}. Next: --dtype"
            f" with one of {offered}"
        )
    return chosen


def _chosen(subject: ProjectOperator, asked: Asked) -> list[ProjectCase]:
    rows = _rows(subject, asked.dtype)
    found = subject.cases(asked.fast)
    for name in asked.names:
        if not any(case.name == name for case in found):
            near = difflib.get_close_matches(name, [case.name for case in found], 3)
            hint = f"; near it: {', '.join(near)}" if near else ""
            raise ValueError(f"--case: got {name!r}, which is no case of {subject.path}{hint}")
    chosen = [
        case for case in found if case.row in rows and (not asked.names or case.name in asked.names)
    ]
    if not chosen:
        raise ValueError(
            f"{subject.path}: no case has dtype {asked.dtype}. Next: leave --dtype out"
        )
    return [case for case in chosen if asked.wants(case.op, case.name)]
