# SPDX-License-Identifier: Apache-2.0
"""Which cases of the grid a command runs."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from aclgrad.ops import find, need_all
from aclgrad.spec.call import AttrValue, Call, TensorDesc
from aclgrad.spec.cases import Case
from aclgrad.spec.checks import PARAM_INVALID
from aclgrad.spec.dtypes import DType
from aclgrad.spec.op_spec import OpSpec
from aclgrad.spec.soc import Family
from aclgrad.testing.refusals import RefusedCase

MOST_SEEDS = 1_000_000


def operators(words: Sequence[str], listed: str | None = None) -> list[OpSpec]:
    """Operators by words and by a comma list; all when neither names one."""
    if listed is not None and not listed.strip(" ,"):
        raise ValueError("--ops: got an empty list, want operators such as softmax_grad")
    names = [*words, *(word.strip() for word in (listed or "").split(",") if word.strip())]
    return list(dict.fromkeys(map(find, names))) if names else list(need_all())


@dataclass(frozen=True)
class Selection:
    """Cases to run, operator by operator, and those that the SoC rules out."""

    groups: tuple[tuple[OpSpec, tuple[Case, ...]], ...]
    refused: tuple[RefusedCase, ...] = ()


def choose(
    specs: Sequence[OpSpec],
    *,
    fast: bool = False,
    dtype: DType | None = None,
    names: Sequence[str] = (),
    family: Family | None = None,
) -> Selection:
    """Return the cases that are asked for and that the SoC family accepts.

    A case that the documented checks refuse on the family, or for which the spec builds no kernel,
    is not part of its grid; one whose kernel is missing from the package is, and fails.
    """
    grid = {spec: list(spec.cases(spec, fast)) for spec in specs}
    for name in names:
        if not any(case.name == name for cases in grid.values() for case in cases):
            raise ValueError(_unknown(name, grid, fast))
    refused: list[RefusedCase] = []
    groups = []
    for spec, cases in grid.items():
        wanted = [
            case
            for case in cases
            if dtype in (None, case.dtype) and (not names or case.name in names)
        ]
        kept = []
        for case in wanted:
            if family is None or accepted(spec, case, family):
                kept.append(case)
            else:
                reason = f"not supported on {family.product} ({family.name})"
                refused.append(RefusedCase(spec.op, case.name, reason, unsupported=True))
        if kept:
            groups.append((spec, tuple(kept)))
    if not groups:
        if refused and family is not None:
            asked = ", ".join(spec.op for spec in specs)
            raise ValueError(
                f"{asked}: {family.product} ({family.name}) supports none of the {len(refused)}"
                " cases"
                " asked for; docs/api lists what it supports"
            )
        wanted_dtype = f" has dtype {dtype.alias or dtype.name}" if dtype else " is defined"
        raise ValueError(f"no case{wanted_dtype}; try --dtype fp32 and other operators")
    return Selection(tuple(groups), tuple(refused))


def shape_case(
    spec: OpSpec, shape: tuple[int, ...], dtype: DType, attrs: Mapping[str, AttrValue]
) -> Case:
    """Return a case whose tensors all have one shape."""
    tensors: dict[str, TensorDesc | None] = {
        arg.name: TensorDesc((1,) if arg.unused else shape, arg.dtypes[0] if arg.dtypes else dtype)
        for arg in spec.tensors
    }
    dims = "x".join(map(str, shape)) or "scalar"
    words = [f"{name}{value}" for name, value in attrs.items()]
    return Case("-".join([dtype.alias, dims, *words]), spec.op, Call(tensors, dict(attrs)))


def to_check(
    attrs: Mapping[OpSpec, Mapping[str, AttrValue]],
    shapes: Sequence[tuple[int, ...]],
    family: Family,
    dtype: DType | None = None,
    names: Sequence[str] = (),
    fast: bool = False,
    named: bool = True,
) -> list[tuple[OpSpec, Case, list[str]]]:
    """Return cases, each with the words that choose it: of the grid, or of every dtype with the
    given shapes and attributes. Operators that are not ``named`` only get shapes that they accept.
    """
    if not shapes:
        chosen = choose(tuple(attrs), fast=fast, dtype=dtype, names=names, family=family)
        # The findings of checks do not depend on the scale of the data.
        return [
            (spec, case, [])
            for spec, group in chosen.groups
            for case in group
            if names or not case.exponent
        ]
    found = []
    for spec, values in attrs.items():
        for shape in shapes:
            for kind in (dtype,) if dtype else spec.dtypes_on(family):
                case = shape_case(spec, shape, kind, values)
                if named or accepted(spec, case, family):
                    dims = "x".join(map(str, shape)) or "scalar"
                    words = ["--shape", dims, "--dtype", kind.alias]
                    for name, value in values.items():
                        if value != spec.defaults()[name]:
                            words += ["--attr", f"{name}={value}"]
                    found.append((spec, case, words))
    if not found:
        asked = ", ".join(spec.op for spec in attrs)
        raise ValueError(
            f"--shape: {family.product} ({family.name}) supports none of the shapes and dtypes for"
            f" {asked}; docs/api lists what it supports"
        )
    return found


def seeds(text: str) -> tuple[int, ...]:
    """``1,5-7`` -> (1, 5, 6, 7)."""
    found: list[int] = []
    for word in text.split(","):
        match = re.fullmatch(r"(\d+)(?:-(\d+))?", word.strip())
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
        if not 1 <= first <= last < 2**31 or last - first >= MOST_SEEDS:
            raise ValueError(
                f"--chaos: got {word!r}, want seeds from 1 on, such as 7, 1,2,3 or 1-20,"
                f" of a range at most {MOST_SEEDS}"
            )
        found += range(first, last + 1)
    return tuple(dict.fromkeys(found))


def accepted(spec: OpSpec, case: Case, family: Family) -> bool:
    """Whether a case can run on a family: a kernel is built for it, and the documented checks let
    it pass, and not only as it is empty.
    """
    if case.dtype not in spec.dtypes_on(family) or not spec.kernels_on(family):
        return False
    return spec.predict(replace(case.call, family=family)) != PARAM_INVALID


def _unknown(name: str, grid: dict[OpSpec, list[Case]], fast: bool) -> str:
    known = [case.name for cases in grid.values() for case in cases]
    near = difflib.get_close_matches(name, known, 3)
    text = f"--case: got {name!r}, which is no case of {', '.join(spec.op for spec in grid)}"
    if near:
        text += f"; near it: {', '.join(near)}"
    return text + ("" if fast else "; add --fast if it is of the short grid")
