# SPDX-License-Identifier: Apache-2.0
"""Which cases of the grid a command runs."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass, replace

from aclgrad.cases import Case
from aclgrad.checks import PARAM_INVALID
from aclgrad.dtypes import DType
from aclgrad.ops import all_specs, find
from aclgrad.soc import Family
from aclgrad.spec import OpSpec


def operators(words: Sequence[str], listed: str | None = None) -> list[OpSpec]:
    """Operators by words and by a comma list; all when neither names one."""
    if listed is not None and not listed.strip(" ,"):
        raise ValueError("--ops: got an empty list, want operators such as softmax_grad")
    names = [*words, *(word.strip() for word in (listed or "").split(",") if word.strip())]
    return list(dict.fromkeys(map(find, names))) if names else list(all_specs())


@dataclass(frozen=True)
class Selection:
    """Cases to run, operator by operator, and how many the SoC rules out."""

    groups: tuple[tuple[OpSpec, tuple[Case, ...]], ...]
    left_out: int = 0


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
    left_out = 0
    groups = []
    for spec, cases in grid.items():
        wanted = [
            case
            for case in cases
            if dtype in (None, case.dtype) and (not names or case.name in names)
        ]
        kept = [case for case in wanted if family is None or accepted(spec, case, family)]
        left_out += len(wanted) - len(kept)
        if kept:
            groups.append((spec, tuple(kept)))
    if not groups:
        if left_out and family is not None:
            asked = ", ".join(spec.op for spec in specs)
            raise ValueError(
                f"{asked}: {family.product} ({family.name}) supports none of the {left_out} cases"
                " asked for; docs/api lists what it supports"
            )
        wanted_dtype = f" has dtype {dtype.alias or dtype.name}" if dtype else " is defined"
        raise ValueError(f"no case{wanted_dtype}; try --dtype fp32 and other operators")
    return Selection(tuple(groups), left_out)


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
