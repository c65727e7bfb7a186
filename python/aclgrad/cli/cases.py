# SPDX-License-Identifier: Apache-2.0
"""``aclgrad test``, ``check`` and ``tiling`` with a path in place of an operator's name."""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Sequence
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from aclgrad import findings
from aclgrad.cli import sources
from aclgrad.cli.common import ERR, Switch, progress
from aclgrad.project import grid, trial
from aclgrad.project.alone import tiling_of
from aclgrad.project.auto_sync import assume
from aclgrad.project.request import is_path, soc_name
from aclgrad.project.sources import SourcesError, numpy_name
from aclgrad.project.words import parse_attrs
from aclgrad.reporting.conditions import Conditions
from aclgrad.spec import dtypes
from aclgrad.testing import selection
from aclgrad.testing.user_data import parse_shape

if TYPE_CHECKING:
    from rich.console import Console

    from aclgrad.project.grid import ProjectCase
    from aclgrad.testing.run import Outcome


@dataclasses.dataclass
class Ran:
    """What the cases of some paths showed."""

    outcomes: list[Outcome]
    left_out: list[str]
    in_force: dict[str, str]


def only_paths(words: Sequence[str]) -> None:
    """Refuse a mixture of paths and names."""
    names = [word for word in words if not is_path(word)]
    if names:
        raise SourcesError(
            f"{names[0]}: paths and names of operators do not mix. Next: one command each"
        )


def _options(
    soc: str | None,
    seed: int,
    checked: bool | None,
    autosync: Switch | None,
    chaos: int | None,
    keep_going: bool | None,
    seeds: tuple[int, ...] = (),
) -> trial.Options:
    sync = autosync.value if autosync else None
    return trial.Options(soc_name(soc), seed, checked, sync, chaos, keep_going, seeds)


def test(
    words: Sequence[str],
    soc: str | None,
    seed: int,
    checked: bool | None,
    autosync: Switch | None,
    chaos: int | None,
    keep_going: bool | None,
    console: Console,
    *,
    dtype: str | None,
    names: Sequence[str],
    fast: bool,
) -> tuple[Ran, Conditions]:
    """Run the cases of operator projects against their goldens."""
    only_paths(words)
    options = _options(soc, seed, checked, autosync, chaos, keep_going)
    ran = Ran([], [], {})
    with progress(console) as bar:
        for word in words:
            assumed = assume(word, options.soc, options.autosync)
            own = dataclasses.replace(options, autosync=assumed.value)
            for subject in trial.subjects(word, options.soc):
                _run(subject, _chosen(subject, dtype, names, fast), own, bar, ran)
    conditions = Conditions(
        "sim",
        options.soc,
        ran.in_force.get("mode"),
        seed,
        fast,
        f"{datetime.now(timezone.utc):%F %R} UTC",
        ran.in_force.get("autosync"),
        ran.in_force.get("chaos") or "0",
        keep_going,
    )
    return ran, conditions


def _run(
    subject: trial.Subject,
    cases: Sequence[ProjectCase],
    options: trial.Options,
    progress: Any,
    ran: Ran,
) -> None:
    subject.build(list(dict.fromkeys(case.row for case in cases)))
    task = progress.add_task(f"{subject.stem} on {options.soc}", total=len(cases))
    done = trial.run(subject, cases, options, lambda: progress.advance(task))
    ran.outcomes += done.outcomes
    ran.in_force = done.in_force
    if done.refused:
        case, why = done.refused[0]
        ran.left_out.append(
            f"{len(done.refused)} cases left out: {subject.stem} does not take them; the first,"
            f" {case.name}: {why.splitlines()[-1].strip()}"
        )


def _rows(subject: trial.Subject, dtype: str | None) -> list[tuple[str, ...]]:
    rows = subject.rows
    if dtype is None:
        return rows
    wanted = dtypes.parse(dtype)
    chosen = [row for row in rows if row and row[0] == wanted.ge]
    if not chosen:
        offered = ", ".join(dict.fromkeys(numpy_name(row[0]) for row in rows if row))
        raise SourcesError(
            f"{subject.op['type']}: no kernel whose first input is {wanted.name}. Next: --dtype"
            f" with one of {offered}"
        )
    return chosen


def _chosen(
    subject: trial.Subject, dtype: str | None, names: Sequence[str], fast: bool
) -> list[ProjectCase]:
    rows = _rows(subject, dtype)
    found = grid.cases(
        subject.golden, subject.op, subject.rows, stem=subject.stem, path=subject.path, fast=fast
    )
    for name in names:
        if not any(case.name == name for case in found):
            near = difflib.get_close_matches(name, [case.name for case in found], 3)
            hint = f"; near it: {', '.join(near)}" if near else ""
            raise ValueError(f"--case: got {name!r}, which is no case of {subject.path}{hint}")
    chosen = [case for case in found if case.row in rows and (not names or case.name in names)]
    if not chosen:
        raise ValueError(f"{subject.path}: no case has dtype {dtype}. Next: leave --dtype out")
    return chosen


def check(
    words: Sequence[str],
    soc: str | None,
    dtype: str | None,
    shapes: Sequence[str],
    names: Sequence[str],
    attrs: Sequence[str],
    dim: int | None,
    chaos: str | None,
    fast: bool,
    seed: int,
    autosync: Switch | None,
    keep_going: bool | None,
) -> findings.Result:
    """What the checks find on a project's own cases or on given shapes; without either on inputs
    that are made from its definition.
    """
    if len(words) > 1:
        raise ValueError(f"check: {words[1]}: one path at a time. Next: a command each")
    if shapes and names:
        raise ValueError("--shape and --case: both choose what is run; keep one")
    given = [*attrs, *([f"dim={dim}"] if dim is not None else [])]
    if given and not shapes:
        raise ValueError("--attr and --dim: the cases have their own. Next: give a --shape too")
    word = words[0]
    seeds = selection.seeds(chaos) if chaos else ()
    options = _options(soc, seed, True, autosync, 0, keep_going, seeds)
    assumed = assume(word, options.soc, options.autosync)
    options = dataclasses.replace(options, autosync=assumed.value)
    subject = trial.subjects(word, options.soc, golden=False)[0]
    choice: dict[str, list[str]] = {}
    if shapes:
        values = parse_attrs(subject.op, given)
        cases = []
        for text in shapes:
            made = grid.one_shape(
                subject.op,
                _rows(subject, dtype),
                parse_shape(text),
                values,
                stem=subject.stem,
                path=word,
            )
            cases += made
            words_ = ["--shape", text, *(part for item in given for part in ("--attr", item))]
            choice |= {
                case.name: [*words_, "--dtype", dtypes.by_label(case.row[0][3:]).name]
                for case in made
            }
    elif subject.golden is not None:
        cases = _chosen(subject, dtype, names, fast)
    elif names or chaos:
        raise ValueError(
            f"check {word}: it has no golden file with cases. Next: aclgrad new --from {word}, or"
            " --shape"
        )
    else:
        sync = autosync.value if autosync else None
        return sources.check(word, soc=soc, dtype=dtype, autosync=sync, keep_going=keep_going)
    ran = Ran([], [], {})
    with progress(ERR) as bar:
        _run(subject, cases, options, bar, ran)
    here = Conditions(
        "sim", options.soc, None, seed, fast, "", assumed.value, chaos or "0", keep_going
    )
    runs = [
        outcome.run(here.repro(outcome.case, "check", choice.get(outcome.case.name, ())))
        for outcome in ran.outcomes
    ]
    conditions = {"soc": options.soc, "autosync": assumed.value, "why": assumed.why}
    if chaos:
        conditions["chaos"] = chaos
    return findings.Result(tuple(findings.merge(runs)), len(runs), conditions)


def tiling(
    word: str,
    shapes: Sequence[str],
    dtype: str,
    attrs: Sequence[str],
    soc: str | None,
) -> dict[str, Any]:
    """What the tiling of a project's operator decides: SHAPE[:DTYPE] per input, or one for all."""
    name = soc_name(soc)
    subject = trial.subjects(word, name, golden=False)[0]
    return tiling_of(subject, name, shapes, dtype, attrs)
