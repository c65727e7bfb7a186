# SPDX-License-Identifier: Apache-2.0
"""Shows what `aclgrad headers` found on a terminal; scripts/headers_page.py fills its docs page."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table

from aclgrad.common.display.terminal import Terminal
from aclgrad.headers.check import HeadersChecked
from aclgrad.headers.op_compiler import Front

OUT = Terminal()
FRONT_HEADINGS = ("operator", "SoC", "kernels", "tiling keys", "kernel types", "struct", "result")
Rows = list[tuple[str, ...]]


def show(result: HeadersChecked) -> None:
    """Print tables, what was not checked, and the first errors."""
    for found in result.sets:
        columns, rows = result.cells(found.name)
        title = f"type-checked against {found.name}"
        _print(title, ("operator", *columns), [(op, *cells) for op, cells in rows], "error")
        for name, path, commit in found.sources:
            OUT.print(f"{name} {commit or path}", markup=False)
        for scripts in dict.fromkeys(f.scripts for f in result.fronts if f.headers == found.name):
            mine = [f for f in result.fronts if (f.headers, f.scripts) == (found.name, scripts)]
            _print(f"front end of the op compiler, {scripts}", FRONT_HEADINGS, front_rows(mine))
            absent = sorted({name for front in mine for name in front.absent})
            if absent:
                OUT.print(f"without {', '.join(absent)}", markup=False)
    for item in result.skipped:
        OUT.print(f"not checked: {item.what}: {item.why}", markup=False)
    for note in result.notes:
        OUT.print(note, markup=False)
    _errors(result)
    total, kernels = len(result.outcomes), len(result.fronts)
    OUT.print(f"{total - len(result.failed)} of {total} compilations without an error")
    if kernels:
        taken = kernels - len(result.refused)
        OUT.print(f"{taken} of {kernels} kernels pass the op compiler's front end")


def _errors(result: HeadersChecked) -> None:
    for outcome in result.failed:
        job = outcome.job
        OUT.print(f"\n{job.op} {job.column} {job.label} ({job.headers})", markup=False)
        for problem in outcome.problems[:3]:
            OUT.print(f"  {problem}", markup=False)
        if len(outcome.problems) > 3:
            OUT.print(f"  and {len(outcome.problems) - 3} more")
    for front in result.refused:
        OUT.print(f"\n{front.op} {front.soc} {front.dtypes} ({front.scripts})", markup=False)
        for error in front.errors:
            OUT.print(f"  {error}", markup=False)


def front_rows(fronts: Sequence[Front]) -> Rows:
    """Rows of the table: dtype combinations that are alike in one."""
    groups: dict[tuple[str, ...], int] = {}
    for front in fronts:
        key = (
            front.op,
            front.soc,
            front.tiling_keys,
            front.kernel_types,
            ", ".join(front.structs),
            front.result,
        )
        groups[key] = groups.get(key, 0) + 1
    return [(op, soc, str(count), *rest) for (op, soc, *rest), count in groups.items()]


def _print(title: str, headings: Sequence[str], rows: Rows, bad: str = "") -> None:
    table = Table(title=title, title_justify="left")
    for heading in headings:
        table.add_column(heading, no_wrap=bool(bad))
    for row in rows:
        table.add_row(*row, style="red" if bad and any(bad in cell for cell in row) else None)
    Terminal(width=max(120, OUT.width), soft_wrap=False).print(table)
