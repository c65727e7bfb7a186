# SPDX-License-Identifier: Apache-2.0
"""Shows what `aclgrad headers` found: on a terminal, and in its docs page.

aclgrad headers --cann DIR --json > result.json
python -m aclgrad.headers.report result.json docs/reference/cann_headers.md
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.table import Table

from aclgrad.common import files
from aclgrad.common.display.terminal import Terminal
from aclgrad.headers.check import HeadersChecked
from aclgrad.headers.op_compiler import Front

BEGIN = "<!-- begin: written by python -m aclgrad.headers.report -->"
END = "<!-- end -->"
OUT = Terminal()
_FRONT_HEADINGS = ("operator", "SoC", "kernels", "tiling keys", "kernel types", "struct", "result")
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
            _print(f"front end of the op compiler, {scripts}", _FRONT_HEADINGS, front_rows(mine))
            absent = sorted({name for front in mine for name in front.absent})
            if absent:
                OUT.print(f"without {', '.join(absent)}", markup=False)
    for item in result.skipped:
        OUT.print(f"not checked: {item.what}: {item.why}", markup=False)
    for note in result.notes:
        OUT.print(note, markup=False)
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
    total, kernels = len(result.outcomes), len(result.fronts)
    OUT.print(f"{total - len(result.failed)} of {total} compilations without an error")
    if kernels:
        taken = kernels - len(result.refused)
        OUT.print(f"{taken} of {kernels} kernels pass the op compiler's front end")


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


# -- the docs page ------------------------------------------------------------------------------


def section(result: Mapping[str, Any]) -> str:
    """Everything of a --json result that the docs page tells, as Markdown."""
    lines = [f"{', '.join(result['compilers'])}.", ""]
    for headers in result["headers"]:
        lines += _of_headers(headers, result)
    for item in result["skipped"]:
        lines.append(f"* Not checked: {item['what']}: {item['why']}.")
    lines += [f"* {note}." for note in result["notes"]]
    return "\n".join(lines).rstrip() + "\n"


def _of_headers(headers: Mapping[str, Any], result: Mapping[str, Any]) -> list[str]:
    name = headers["name"]
    mine = [item for item in result["results"] if item["headers"] == name]
    good = sum(item["ok"] for item in mine)
    lines = [f"### {name[0].upper()}{name[1:]}", ""]
    lines += [f"{good} of {len(mine)} compilations without an error of our sources.", ""]
    columns = list(dict.fromkeys(item["check"] for item in mine))
    columns.sort(key=lambda column: column in ("op_host", "op_api"))
    rows: Rows = []
    for op in dict.fromkeys(item["op"] for item in mine):
        groups = ([i for i in mine if (i["op"], i["check"]) == (op, c)] for c in columns)
        rows.append((_code(op), *(_cell(group) for group in groups)))
    lines += _table(("operator", *columns), rows)
    fronts = [_front(item) for item in result["op_compiler"] if item["headers"] == name]
    for scripts in dict.fromkeys(front.scripts for front in fronts):
        chosen = [front for front in fronts if front.scripts == scripts]
        taken = sum(not front.errors for front in chosen)
        lines += [f"`{scripts}`: {taken} of {len(chosen)} kernels pass its front end.", ""]
        rows = [(_code(op), *rest) for op, *rest in front_rows(chosen)]
        lines += _table(_FRONT_HEADINGS, rows)
    sources = [(one["name"], one["commit"]) for one in headers["sources"] if one["commit"]]
    return lines + (_table(("repository", "commit"), sources) if sources else [])


def _front(item: Mapping[str, Any]) -> Front:
    return Front(
        item["op"],
        item["headers"],
        item["scripts"],
        item["soc"],
        item["dtypes"],
        tuple(map(str, item["tiling_keys"])),
        item["kernel_types"],
        tuple(item["tiling_structs"]),
        tuple(item["arguments"]),
        item["user_workspace"],
        item["reaches_compiler"],
        tuple(item["errors"]),
        tuple(item["absent_modules"]),
    )


def _cell(group: Sequence[Mapping[str, Any]]) -> str:
    errors = sum(len(item["errors"]) for item in group)
    if errors:
        return f"{errors} error{'s' * (errors > 1)}"
    return f"ok ({len(group)})" if group else "-"


def _code(name: str) -> str:
    return name if name == "common" else f"`{name}`"


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    lines = [headings, ["---"] * len(headings), *rows]
    return [*(f"| {' | '.join(cells)} |" for cells in lines), ""]


def fill(page: str, text: str) -> str:
    """Put a section between its marks."""
    if page.count(BEGIN) != 1 or page.count(END) != 1:
        raise ValueError(f"the page has not one {BEGIN} and one {END}. Next: add them")
    pattern = rf"{re.escape(BEGIN)}.*?{re.escape(END)}"
    return re.sub(pattern, lambda _: f"{BEGIN}\n\n{text}\n{END}", page, flags=re.DOTALL)


if __name__ == "__main__":
    result, page = map(Path, sys.argv[1:])
    told = section(json.loads(result.read_text("utf-8")))
    files.write(page, fill(page.read_text("utf-8"), told), str(page))
