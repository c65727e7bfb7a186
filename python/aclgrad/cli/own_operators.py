# SPDX-License-Identifier: Apache-2.0
"""Operators of this package, by their specs."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from aclgrad.cases import case_runs
from aclgrad.cases.spec_operator import SpecOperator
from aclgrad.cli.common import open_device, settings_of
from aclgrad.cli.operators import Asked, Computed, Given, Looked, Ran, run_cases, shortened
from aclgrad.cli.options import DeviceName, Running
from aclgrad.cli.progress_lines import Bar
from aclgrad.common.files import check_output
from aclgrad.findings import errors_of
from aclgrad.golden.precision import compare, measure
from aclgrad.reading.command_words import soc_name
from aclgrad.reporting.conditions import Conditions
from aclgrad.runtime.toolkit import checkout, sim_root
from aclgrad.spec import dtypes
from aclgrad.spec.op_spec import OpSpec
from aclgrad.spec.soc import DEFAULT_SOC, family_of
from aclgrad.testing import selection, user_data
from aclgrad.testing.picture import of_result

if TYPE_CHECKING:
    from aclgrad.findings import Run
    from aclgrad.runtime.host_functions import TilingPlan


class Named:
    """Operators of this package; whether somebody ``named`` them, or all are meant."""

    def __init__(self, specs: Sequence[OpSpec], named: bool) -> None:
        self.specs, self.named = specs, named

    def cases(self, asked: Asked, running: Running) -> list[str]:
        """See `Operators`."""
        dtype = dtypes.parse(asked.dtype) if asked.dtype else None
        simulated = running.device is DeviceName.sim
        family = family_of(soc_name(running.soc)) if simulated else None
        chosen = selection.choose(
            self.specs, fast=asked.fast, dtype=dtype, names=asked.names, family=family
        )
        cases = ((case.op, case.name) for _, group in chosen.groups for case in group)
        return [f"{op} {name}" for op, name in cases if asked.wants(op, name)]

    def test(self, asked: Asked, running: Running, seed: int, shown: Bar) -> Ran:
        """See `Operators`."""
        dtype = dtypes.parse(asked.dtype) if asked.dtype else None
        # Refuse wrong words before a device is opened.
        selection.choose(self.specs, fast=asked.fast, dtype=dtype, names=asked.names)
        simulated = running.device is DeviceName.sim
        if simulated and not os.environ.get("LD_PRELOAD"):
            from aclgrad.checkout import spec_differences

            _tell_what_is_not_built()
            spec_differences.check(self.specs)
        device = open_device(running)
        soc = device.option("soc") or "npu"
        family = family_of(soc) if simulated else None
        chosen = selection.choose(
            self.specs, fast=asked.fast, dtype=dtype, names=asked.names, family=family
        )
        groups = [
            (self._operator(spec, soc), [case for case in group if asked.wants(case.op, case.name)])
            for spec, group in chosen.groups
        ]
        options = case_runs.Options(
            **{**vars(settings_of(running)), "soc": soc if simulated else None},
            seed=seed,
            tolerance=asked.tolerance,
        )
        ran = run_cases(groups, options, shown, first=asked.first)
        in_force = {name: device.option(name) for name in ("soc", "mode", "autosync", "chaos")}
        return Ran(ran.outcomes, [*chosen.refused, *ran.refused], in_force)

    @staticmethod
    def _operator(spec: OpSpec, soc: str) -> SpecOperator:
        return SpecOperator(spec, DEFAULT_SOC if soc == "npu" else soc, soc == "npu")

    def check(
        self, asked: Asked, running: Running, seed: int, seeds: str | None, shown: Bar
    ) -> Looked:
        """See `Operators`."""
        dtype = dtypes.parse(asked.dtype) if asked.dtype else None
        chaos = selection.seeds(seeds) if seeds else ()
        shapes = [user_data.parse_shape(text) for text in asked.shapes]
        if not shapes:
            selection.choose(self.specs, fast=asked.fast, dtype=dtype, names=asked.names)
        attrs = {spec: user_data.parse_attrs(spec, asked.attrs) for spec in self.specs}
        _tell_what_is_not_built()
        device = open_device(running)
        soc, autosync = soc_name(device.option("soc")), device.option("autosync")
        chosen = selection.to_check(
            attrs, shapes, family_of(soc), dtype, asked.names, asked.fast, self.named
        )
        groups = [
            (self._operator(spec, soc), [case for of, case, _ in chosen if of is spec])
            for spec in dict.fromkeys(spec for spec, _, _ in chosen)
        ]
        options = case_runs.Options(
            **{**vars(settings_of(running)), "soc": soc}, seed=seed, seeds=chaos
        )
        here = Conditions(
            "sim", soc, None, seed, asked.fast, "", autosync, seeds or "0", running.keep_going
        )
        runs = [
            outcome.run(here.repro(case, "check", words))
            for outcome, (_, case, words) in zip(
                run_cases(groups, options, shown).outcomes, chosen, strict=True
            )
        ]
        conditions = {"soc": soc, "autosync": autosync or ""}
        return Looked(runs, conditions, notes=shortened(asked))

    def sanitize(self, asked: Asked, running: Running, seed: int) -> list[Run]:
        """See `Operators`."""
        from aclgrad.checks import own_host_code

        dtype = dtypes.parse(asked.dtype) if asked.dtype else None
        shapes = [user_data.parse_shape(text) for text in asked.shapes]
        attrs = {spec: user_data.parse_attrs(spec, asked.attrs) for spec in self.specs}
        soc = soc_name(running.soc)
        chosen = selection.to_check(
            attrs, shapes, family_of(soc), dtype, asked.names, asked.fast, self.named
        )
        return [
            run
            for spec in self.specs
            for run in own_host_code.sanitize(
                spec, [case for of, case, _ in chosen if of is spec], soc
            )
        ]

    def run(self, given: Given, running: Running, save: Path | None, quiet: bool) -> Computed:
        """See `Operators`."""
        from aclgrad.functions import result_desc

        (spec,) = self.specs
        if given.kernel.given() or given.outputs:
            option = (*given.kernel.given(), "--outputs")[0]
            raise ValueError(
                f"{option} is for a kernel file; {spec.op} has its own tiling and inference. Next:"
                " leave it out"
            )
        kind = dtypes.parse(given.dtype) if given.dtype else None
        inputs = user_data.load_inputs(spec, [Path(name) for name in given.files], kind)
        attrs = user_data.parse_attrs(spec, given.attrs)
        out = result_desc(
            spec, inputs, dtypes.parse(given.out_dtype).numpy if given.out_dtype else None
        )
        if save is not None:
            check_output(save)
        device = open_device(running)
        device.clear_findings()
        device.keep_writers(given.golden)
        result = device.run(spec, inputs, attrs, out)
        if save is not None:
            user_data.save(save, result)
        report = picture = None
        if given.golden:
            dtype = next(iter(inputs.values())).dtype
            terms = spec.magnitudes(inputs, attrs)
            wanted = spec.evaluate(inputs, attrs)
            report = compare(result, wanted, dtype, terms=terms)
            if not report.passed:
                measured = measure(result, wanted, dtype, terms=terms)
                picture = of_result(device, measured, result, attrs)
        found = device.findings()
        errors = errors_of(found)
        return Computed(
            spec.op,
            {spec.output_args[0].python: result},
            errors,
            report,
            str(report or ""),
            picture=picture,
            hints=[finding for finding in found if finding not in errors],
        )

    def tiling(
        self, shapes: Sequence[str], dtype: str, attrs: Sequence[str], soc: str | None
    ) -> TilingPlan:
        """See `Operators`."""
        (spec,) = self.specs
        return SpecOperator(spec).tiling(soc_name(soc), shapes, dtype, attrs)


def _tell_what_is_not_built() -> None:
    """Say so when a checkout's sources are not those that it was built from."""
    from aclgrad.checkout import ninja_by_content

    root = checkout()
    if root is None or sim_root() != root / "build" / "sim" / "toolkit":
        return
    changed = ninja_by_content.changed_since(root / "build" / "sim", root)
    if changed:
        more = f" and {len(changed) - 1} more" if len(changed) > 1 else ""
        name = changed[0].relative_to(root)
        print(
            f"warning: {name}{more}: not what was built. Next: aclgrad build",
            file=sys.stderr,
            flush=True,
        )
