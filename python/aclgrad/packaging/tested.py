# SPDX-License-Identifier: Apache-2.0
"""Which operators a vendor folder holds, and the cases that its self-test runs."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from aclgrad.building.aclnn_library import exported
from aclgrad.cases import golden_file, grid, made_inputs
from aclgrad.cases.project_operator import judge, wanted
from aclgrad.checks import operator_check
from aclgrad.common import temporary
from aclgrad.errors import ToolkitError
from aclgrad.findings import HOST_KINDS
from aclgrad.ops import all_specs, need_all
from aclgrad.packaging.operators import PackagedOperator, of_definition, of_spec
from aclgrad.packaging.projects import VendorFolder
from aclgrad.packaging.self_test import (
    GOLDEN,
    PACKER,
    SelfTestCase,
    case_of_definition,
    case_of_spec,
    compiled,
    source_of,
    that_compile,
    tolerance,
)
from aclgrad.reading import handwritten_functions
from aclgrad.reading.aclnn_functions import generated
from aclgrad.reading.sources import Sources
from aclgrad.running import operator_call
from aclgrad.running.isolation import first_reason
from aclgrad.runtime.packages import Candidate
from aclgrad.runtime.toolkit import Toolkit
from aclgrad.spec import dtypes
from aclgrad.spec.definition import Definition
from aclgrad.spec.op_spec import OpSpec
from aclgrad.spec.soc import DEFAULT_SOC, FAMILIES, Family, family_of

_MOST_CASES = 24
_SECONDS = 60.0  # for the cases of one operator that are tried


@dataclass(frozen=True)
class Found:
    """The operators of a vendor folder: by a spec of ours, or by their definitions."""

    operators: tuple[PackagedOperator, ...]
    specs: Mapping[str, OpSpec]
    definitions: Mapping[str, Mapping[str, Definition]] = field(default_factory=dict)


def operators_in(folder: Path, toolkit: Toolkit, device: str, *, ours: bool) -> Found:
    """What a vendor folder holds: this project's operators, or what its own files say."""
    own = need_all() if ours else all_specs()
    specs = {spec.op_type: spec for spec in own}
    if device == "npu":
        named = Candidate(folder, "").operators
        known = {name: spec for name, spec in specs.items() if not named or name in named}
        return Found(_types_of(known.values()), known)
    if ours:
        return Found(_types_of(specs.values()), specs)
    library = VendorFolder(folder, FAMILIES[0], toolkit)
    for path in (library.host_library, library.api_library):
        if not path.is_file():
            raise ToolkitError(f"package: {path} is missing. Next: aclgrad build")
    exported = library.api_library.read_bytes()
    definitions: dict[str, dict[str, Definition]] = {}
    for family in FAMILIES:
        for op in VendorFolder(folder, family, toolkit).definitions():
            definitions.setdefault(op.type, {})[family.name] = op
    known = {
        name: spec
        for name, spec in specs.items()
        if name in definitions and f"{spec.api}GetWorkspaceSize\0".encode() in exported
    }
    ours_too = {name for spec in known.values() for name in spec.types}
    operators = list(_types_of(known.values()))
    for op_type, by_family in definitions.items():
        if op_type not in ours_too:
            operators.append(_defined(library, op_type, by_family))
    if not operators:
        raise ToolkitError(
            f"package: {library.host_library} registers no operator. Next: OP_ADD(Name) in op_host"
        )
    return Found(
        tuple(operators),
        known,
        {name: op for name, op in definitions.items() if name not in ours_too},
    )


def _types_of(specs: Iterable[OpSpec]) -> tuple[PackagedOperator, ...]:
    return tuple(operator for spec in specs for operator in of_spec(spec))


def _defined(
    folder: VendorFolder, op_type: str, by_family: Mapping[str, Definition]
) -> PackagedOperator:
    """An operator by its definitions, for the families that the folder has kernels for."""
    rows = {name: folder.combinations(op) for name, op in by_family.items()}
    whole = of_definition(by_family, rows)
    place = folder.package / "op_impl/ai_core/tbe/kernel"
    there = {name: own for name, own in rows.items() if (place / name / whole.stem).is_dir()}
    if not there:
        raise ToolkitError(
            f"package: {place} has no kernel of {op_type}, which is defined for"
            f" {', '.join(by_family)}. Next: aclgrad build PATH"
        )
    return of_definition({name: by_family[name] for name in there}, there)


@dataclass(frozen=True)
class Tested:
    """The program, and what it does not test or not against a golden."""

    program: bytes
    untested: Mapping[str, str]
    without_golden: tuple[str, ...]


def self_tested(
    found: Found,
    folder: Path,
    toolkit: Toolkit,
    device: str,
    packed: Sequence[str],
    socs: Sequence[str],
    projects: Mapping[str, Sources],
) -> Tested:
    """Compile the self-test, and run it once if it has cases that are not this project's."""
    families = [family for family in FAMILIES if family.name in packed]
    soc = _soc(found.operators, families, socs, toolkit) if device == "sim" else ""
    cases: list[SelfTestCase] = []
    untested: dict[str, str] = {}
    for op in found.operators:
        runs = [family_of(soc)] if soc else families
        if not all(op.rows_on(family) for family in runs):
            if op.op_type in found.definitions:
                untested[op.op_type] = f"no kernel for {soc}, which the self-test simulates"
        elif op.op_type in found.specs:
            cases.append(case_of_spec(found.specs[op.op_type]))
        elif op.op_type in found.definitions:
            own = projects.get(op.op_type)
            case = _defined_case(found.definitions[op.op_type], folder, toolkit, soc, own)
            if isinstance(case, SelfTestCase):
                cases.append(case)
            else:
                untested[op.op_type] = case
    include = [*toolkit.include_dirs, folder / "op_api" / "include"]
    try:
        program = compiled("self_test.cpp", source_of(cases, device, soc), include)
    except ToolkitError:
        refused = that_compile(cases, include)
        if not refused or found.specs.keys() & refused.keys():
            raise
        # A function that somebody wrote by hand may want other arguments than the definition has.
        untested |= {name: f"its header refuses the call: {why}" for name, why in refused.items()}
        cases = [case for case in cases if case.op_type not in refused]
        program = compiled("self_test.cpp", source_of(cases, device, soc), include)
    if found.definitions and device == "sim":
        _seen_to_pass(program, folder, toolkit)
    return Tested(program, untested, tuple(c.op_type for c in cases if c.against == PACKER))


def _soc(
    operators: Sequence[PackagedOperator],
    families: Sequence[Family],
    socs: Sequence[str],
    toolkit: Toolkit,
) -> str:
    """The SoC on which most operators run. The toolkit may be for another machine."""
    table = json.loads((toolkit.root / "share/cmake/aclgrad/soc.json").read_text())
    names: list[str] = [DEFAULT_SOC, *(row[0] for row in table["socs"])]
    asked = [name for name in socs if name in names]
    arches = {family.npu_arch for family in families}
    fits = [name for name in [*asked, *names] if family_of(name).npu_arch in arches]
    return max(fits, key=lambda name: sum(bool(op.rows_on(family_of(name))) for op in operators))


def _defined_case(
    by_family: Mapping[str, Definition],
    folder: Path,
    toolkit: Toolkit,
    soc: str,
    sources: Sources | None,
) -> SelfTestCase | str:
    """A small call that the operator takes, with what its golden says, or else what the simulator
    computes; or why not.
    """
    family = family_of(soc)
    op = by_family[family.name]
    vendor = VendorFolder(folder, family, toolkit)
    by_hand, _ = (
        handwritten_functions.functions(op, sources.api) if sources is not None else ([], [])
    )
    found = exported(vendor.api_library, [*by_hand, generated(op)])
    if not found:
        return f"libcust_opapi.so has no {generated(op).name}"
    function = vendor.functions[op.type] = found[0]
    row = operator_check.prefer_float(vendor.combinations(op))
    with temporary.folder() as place:
        kept = place / "outputs.npz"

        def keep(_: Definition, case: made_inputs.MadeCase, result: operator_call.Outputs) -> str:
            operator_call.save(kept, result)
            return "kept"

        golden = _golden(op, sources)
        tried = [*made_inputs.cases(op, row, _MOST_CASES)]
        if golden is not None:
            tried = _own_cases(golden, op, row) or tried
        outcomes = operator_check.run_cases(
            vendor, op, row, tried, soc=soc, judge=keep, seconds=_SECONDS
        )
        best = operator_check.best(outcomes)
        if best is None or not best.ran or not kept.is_file():
            why = first_reason(best.message) if best else "none fits its definition"
            errors = best.errors if best else []
            # A finding may be the fault of made-up inputs. A tiling that decides what no launch can
            # have is the operator's fault in any case.
            certain = [e for e in errors if golden is not None or e.kind in HOST_KINDS]
            if certain or golden is not None:
                text = certain[0].text if certain else f"it takes none of its cases: {why}"
                path = f" {sources}" if sources is not None else ""
                raise ToolkitError(f"package: {op.type}: {text}\nNext: aclgrad test{path}")
            return errors[0].text if errors else f"it took no generated input: {why}"
        with np.load(kept) as made:
            outputs = {name: made[name] for name in made.files}
    for item, label in zip(op.outputs, row[len(op.inputs) :], strict=True):
        for name in outputs:
            # NumPy writes dtypes that it does not know as plain bytes.
            if re.fullmatch(rf"{item.name}(_\d+)?", name):
                outputs[name] = outputs[name].view(dtypes.by_label(label.removeprefix("DT_")).numpy)
    case = tried[len(outcomes) - 1]
    if golden is None:
        return case_of_definition(op, case.inputs, case.attrs, outputs, PACKER, function)
    want = _judged(golden, op, case, outputs)
    return case_of_definition(op, case.inputs, case.attrs, want, GOLDEN, function)


def _golden(op: Definition, sources: Sources | None) -> golden_file.GoldenFile | None:
    path = golden_file.find(op, sources) if sources is not None else None
    return golden_file.load(path, op) if path is not None else None


def _own_cases(
    golden: golden_file.GoldenFile, op: Definition, row: tuple[str, ...]
) -> list[made_inputs.MadeCase]:
    """The smallest cases of the project that have something in them."""
    place = str(golden.path.parent)
    found = []
    for case in grid.cases(golden, op, [row], stem=golden.path.stem, path=place, fast=True):
        if case.exponent:
            continue
        arrays = case.inputs()
        size = sum(array.size for param in arrays for array in param)
        if size and all(array.size for param in arrays for array in param):
            found.append(
                (size, case.name, made_inputs.MadeCase(case.name, arrays, dict(case.attrs)))
            )
    return [case for _, _, case in sorted(found, key=lambda item: item[:2])[:_MOST_CASES]]


def _judged(
    golden: golden_file.GoldenFile,
    op: Definition,
    case: made_inputs.MadeCase,
    outputs: Mapping[str, Any],
) -> dict[str, Any]:
    """The golden's numbers, once the kernel's are seen to be precise enough."""
    result = operator_call.Outputs(op.type, dict(outputs))
    report, text, _ = judge(golden, op, case.inputs, case.attrs, result)
    if not report.passed:
        raise ToolkitError(
            f"package: {op.type}: kernel and golden differ in {case.label}:\n{text}\nNext:"
            f" aclgrad test {golden.path.parent}"
        )
    want = {}
    for (name, array), exact in zip(
        outputs.items(), wanted(golden, op, case.inputs, case.attrs, result), strict=True
    ):
        rounded = array if exact is None else exact.astype(array.dtype)
        # The rule lets one element of a hundred be further off; that one is held to this run.
        absolute, relative = tolerance(array, GOLDEN)
        close = np.isclose(_wide(array), _wide(rounded), relative, absolute, equal_nan=True)
        want[name] = np.where(close, rounded, array)
    return want


def _seen_to_pass(program: bytes, folder: Path, toolkit: Toolkit) -> None:
    """Run the self-test on what will be packed."""
    with temporary.folder() as place:
        test = place / "bin" / "self_test"
        test.parent.mkdir()
        test.write_bytes(program)
        test.chmod(0o755)
        for name in ("op_api", "op_impl"):
            (place / name).symlink_to((folder / name).resolve())
        environment = {
            "PATH": "/usr/bin:/bin",
            "ASCEND_HOME_PATH": str(toolkit.root),
            "ASCEND_CUSTOM_OPP_PATH": str(place),
            "LD_LIBRARY_PATH": str(toolkit.library_dir),
        }
        done = subprocess.run(
            [str(test)],
            capture_output=True,
            text=True,
            errors="replace",
            env=environment,
            check=False,
        )
    if done.returncode:
        raise ToolkitError(
            f"package: the self-test fails on what is to be packed, status {done.returncode}:\n"
            f"{(done.stdout + done.stderr).strip()}\nNext: aclgrad check PATH"
        )


def _wide(array: Any) -> Any:
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)
