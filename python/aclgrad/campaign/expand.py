# SPDX-License-Identifier: Apache-2.0
"""From a campaign file to its plan: which operators, dtypes and SoCs there are, and how many cases
each has. Projects are built here. Everything that can be wrong with a file is said here.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aclgrad import ops
from aclgrad.campaign.plans.description import Campaign, CampaignError, Sweep, is_path
from aclgrad.campaign.plans.plan import Json, Plan, size_of
from aclgrad.campaign.workers import checkout_actions, packing
from aclgrad.cases import grid
from aclgrad.errors import AclgradError
from aclgrad.reading.command_words import soc_name
from aclgrad.spec.op_spec import OpSpec
from aclgrad.spec.soc import family_of
from aclgrad.testing import selection

FUZZ_CASES = 100


@dataclass
class Expanded:
    """A plan, and the archives of built operators that its workers need."""

    plan: Plan
    packages: dict[str, bytes] = field(default_factory=dict)


@dataclass
class _Maker:
    campaign: Campaign
    tell: Callable[[str], None]
    blocks: list[tuple[Json, int]] = field(default_factory=list)
    built: dict[tuple[str, str, tuple[str, ...]], packing.Built] = field(default_factory=dict)

    def sweep(self, sweep: Sweep) -> None:
        """Add the blocks of one sweep."""
        before = len(self.blocks)
        if {"compatibility", "unit-tests", "against"} & set(sweep.do):
            self._places(sweep)
        elif "fuzz" in sweep.do:
            self._fuzz(sweep)
        elif "mutation" in sweep.do:
            self._mutation(sweep)
        else:
            self._calls(sweep)
        total = sum(size for _, size in self.blocks[before:])
        if not total:
            key = "dtypes" if sweep.dtypes else "socs" if sweep.socs else "operators"
            why = "no operator has these dtypes on these SoCs"
            if sweep.checkouts:
                key, why = "only" if sweep.only else "checkouts", "no kernel of that name"
            raise self.campaign.refuse(sweep, key, f"the product is empty: {why}")

    def _calls(self, sweep: Sweep) -> None:
        folder = self.campaign.path.parent
        words = sweep.operators or tuple(spec.op for spec in ops.need_all())
        specs: list[tuple[str, OpSpec | Path]] = []
        for word in words:
            path = is_path(word, folder)
            if path is not None:
                if not path.exists():
                    raise self.campaign.refuse(sweep, "operators", f"{path}: no such path", word)
                specs.append((word, path))
                continue
            try:
                specs.append((word, ops.find(word)))
            except ValueError as error:
                raise self.campaign.refuse(sweep, "operators", str(error), word) from None
        taken: set[str] = set()
        for word, found in specs:
            for soc in sweep.socs or (soc_name(None),):
                if isinstance(found, OpSpec):
                    taken |= self._named(sweep, found, soc)
                else:
                    taken |= self._project(sweep, word, found, soc)
        for name in sweep.attributes:
            if name not in taken:
                raise self.campaign.refuse(
                    sweep, "attributes", f"{name}: no operator of the sweep has it", name
                )

    def _named(self, sweep: Sweep, spec: OpSpec, soc: str) -> set[str]:
        family = family_of(soc)
        known = {arg.name: arg for arg in spec.attr_args}
        own = {name: values for name, values in sweep.attributes.items() if name in known}
        for name, values in own.items():
            types: tuple[type, ...] = (int,)
            types = {"bool": (bool,), "double": (int, float)}.get(known[name].c_type, types)
            for value in values:
                if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
                    raise self.campaign.refuse(
                        sweep, "attributes",
                        f"{name}: got {value!r}, want {known[name].c_type}", name,
                    )  # fmt: skip
        for kind in spec.dtypes_on(family) if spec.kernels_on(family) else ():
            if sweep.dtypes and (kind.alias or kind.name) not in sweep.dtypes:
                continue
            count = 0
            if sweep.cases:
                chosen = [spec.cases(spec, sweep.cases == "fast")]
                count = sum(
                    case.dtype == kind and selection.accepted(spec, case, family)
                    for case in chosen[0]
                )
            self._add(sweep, spec.op, kind.alias or kind.name, soc, own, "on", count)
        return set(own)

    def _project(self, sweep: Sweep, word: str, path: Path, soc: str) -> set[str]:
        golden = "precision" in sweep.do or bool(sweep.cases)
        key = (str(path), packing.family_key(soc), sweep.dtypes)
        try:
            if key not in self.built:
                self.tell(f"building {path.name}")
                self.built[key] = packing.build(path, soc, sweep.dtypes, golden=golden)
            made = self.built[key]
            subject = made.subject
            listed = []
            if sweep.cases:
                own_words = {"stem": subject.stem, "path": str(path)}
                listed = grid.cases(
                    subject.golden, subject.op, subject.rows, **own_words,
                    fast=sweep.cases == "fast",
                )  # fmt: skip
        except CampaignError:
            raise
        except (AclgradError, ValueError, OSError) as error:
            raise self.campaign.refuse(sweep, "operators", str(error), word) from None
        known = [attr.name for attr in subject.op.attrs]
        own = {name: values for name, values in sweep.attributes.items() if name in known}
        for row in made.rows:
            count = sum(case.row == row for case in listed)
            self._add(
                sweep, subject.stem, made.label(row), soc, own, made.autosync, count,
                package=made.digest, row=row,
            )  # fmt: skip
        return set(own)

    def _add(
        self, sweep: Sweep, operator: str, dtype: str, soc: str, attributes: dict[str, Any],
        autosync: str, grid_size: int, *, package: str = "", row: tuple[str, ...] = (),
    ) -> None:  # fmt: skip
        rows = [*sweep.models.get("", ()), *sweep.models.get(operator, ())]
        boxes = [*sweep.shapes, *(text for text in rows if text not in sweep.shapes)]
        item: Json = {
            "do": list(sweep.do), "operator": operator, "dtype": dtype, "soc": soc,
            "package": package, "row": list(row), "cases": sweep.cases, "alone": False, "word": "",
            "shapes": {"boxes": boxes, "random": sweep.random},
            "attributes": {name: list(values) for name, values in attributes.items()},
            "layout": list(sweep.layouts), "values": list(sweep.values),
            "mode": list(sweep.modes), "chaos": list(sweep.chaos),
            "autosync": list(sweep.autosync or (autosync,)),
            "keep_going": list(sweep.keep_going or (None,)), "seed": list(sweep.seeds),
            "search": sweep.search, "trials": sweep.trials, "sweep": sweep.number,
        }  # fmt: skip
        if not (sweep.cases or boxes or sweep.random):
            return
        if size := size_of(item, grid_size):
            self.blocks.append((item, size))

    def _alone(
        self, sweep: Sweep, operator: str, word: str, soc: str, seeds: int, dtype: str = "any"
    ) -> None:
        environment = {name: list(values) for name, values in sweep.environment.items()}
        item: Json = {
            "do": list(sweep.do), "operator": operator, "dtype": dtype, "soc": soc, "package": "",
            "row": [], "cases": "", "alone": True, "word": word, "attributes": environment,
            "shapes": {"boxes": [], "random": None}, "layout": ["contiguous"],
            "values": ["uniform"], "mode": ["checked"], "chaos": [0], "autosync": ["on"],
            "keep_going": [None], "search": "", "trials": 0, "sweep": sweep.number,
            "seed": list(range(FUZZ_CASES)) if not seeds else list(sweep.seeds),
        }  # fmt: skip
        self.blocks.append((item, size_of(item)))

    def _fuzz(self, sweep: Sweep) -> None:
        for word in sweep.operators or tuple(spec.op for spec in ops.need_all()):
            try:
                spec = ops.find(word)
            except ValueError as error:
                raise self.campaign.refuse(sweep, "operators", str(error), word) from None
            self._alone(sweep, spec.op, spec.op, "any", len(sweep.seeds) > 1)

    def _mutation(self, sweep: Sweep) -> None:
        """Faults that are planted in operators, a case each."""
        folder, actions = self.campaign.path.parent, checkout_actions.load()
        for word in sweep.operators:
            try:
                found = actions.mutated(word, folder)
            except ValueError as error:
                raise self.campaign.refuse(sweep, "operators", str(error), word) from None
            for operator in found:
                for soc in sweep.socs or (soc_name(None),):
                    for fault in actions.faults(operator, sweep.trials, sweep.seeds[0], soc):
                        self._alone(sweep, Path(operator).stem, fault, soc, 1)

    def _places(self, sweep: Sweep) -> None:
        """Cases that are places of this machine's disk, or of one that all workers share."""
        key = "operators" if "unit-tests" in sweep.do else "checkouts"
        for word in sweep.operators if key == "operators" else sweep.checkouts:
            path = (self.campaign.path.parent / Path(word).expanduser()).resolve()
            python = key == "operators" and path.suffix == ".py" and path.is_file()
            if not (path.is_dir() or python):
                raise self.campaign.refuse(sweep, key, f"{path}: no such folder", word)
            if key == "operators":
                tests = f"{path}::{sweep.only}" if python else str(path)
                for soc in sweep.socs or (soc_name(None),):
                    self._alone(sweep, path.stem if python else path.name, tests, soc, 1)
                continue
            if "against" in sweep.do:
                try:
                    listed = checkout_actions.load().compared(path, sweep.only)
                except ValueError as error:
                    raise self.campaign.refuse(sweep, key, str(error), word) from None
                for number, case in listed.items():
                    place = f"{path}::{number}"
                    self._alone(sweep, case.op, place, case.soc, 1, case.alias)
                continue
            for name in checkout_actions.load().names(path, sweep.only):
                self._alone(sweep, path.name, f"{path}::{name}", "any", 1)


def expand(campaign: Campaign, tell: Callable[[str], None] = lambda text: None) -> Expanded:
    """The plan of a file. Raises `CampaignError` before anything runs."""
    maker = _Maker(campaign, tell)
    for sweep in campaign.sweeps:
        maker.sweep(sweep)
    packages = {made.digest: made.archive() for made in maker.built.values()}
    plan = Plan.of(maker.blocks, limit=campaign.limit, title=campaign.title)
    return Expanded(plan, packages)


def check_socs(campaign: Campaign, known: list[str]) -> None:
    """Refuse SoCs that the workers' simulator does not know."""
    for sweep in campaign.sweeps:
        for soc in sweep.socs:
            if soc not in known:
                near = difflib.get_close_matches(soc, known, 4, 0.5)
                raise campaign.refuse(
                    sweep, "socs", f"{soc}: unknown to the simulator. Next: {', '.join(near)}", soc
                )
