# SPDX-License-Identifier: Apache-2.0
"""Writes what `aclgrad headers` found into its docs page.

aclgrad headers --cann DIR --json > result.json
.venv/bin/python scripts/headers_page.py result.json docs/reference/cann_headers.md
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from aclgrad.common import page_sections
from aclgrad.headers.op_compiler import Front
from aclgrad.headers.report import FRONT_HEADINGS, front_rows


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
    rows: list[tuple[str, ...]] = []
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
        lines += _table(FRONT_HEADINGS, rows)
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


if __name__ == "__main__":
    result, page = map(Path, sys.argv[1:])
    told = section(json.loads(result.read_text("utf-8")))
    page_sections.write(page, "headers", f"\n{told}\n")
