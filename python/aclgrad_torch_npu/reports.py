# SPDX-License-Identifier: Apache-2.0
"""What ran: kernels, checked or not, what the checks found, and operators on the CPU."""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from typing import Any

from aclgrad_torch_npu import simulator

_FILE = "ACLGRAD_TORCH_REPORT"
_MOST = 8
"""Rows of a kind that the end of a program shows."""


def collect() -> dict[str, Any]:
    """The report as data: ``kernels``, ``findings``, ``fallbacks``."""
    from aclgrad_torch_npu import fallback

    found: Counter[tuple[str, str, str]] = Counter()
    for one in simulator.findings():
        place = f"{one['at']['file']}:{one['at']['line']}" if one["at"]["line"] else ""
        found[one["severity"], one["kind"], place] += one["count"]
    return {
        "kernels": sorted(simulator.launched(), key=lambda row: -row["launches"]),
        "findings": [
            {"severity": severity, "kind": kind, "at": place, "count": count}
            for (severity, kind, place), count in found.most_common()
        ],
        "fallbacks": [
            {"operator": name, "calls": count, "line": fallback.first_line(name)}
            for name, count in fallback.counts().items()
        ],
    }


def report(file: Any = None, most: int | None = None) -> dict[str, Any]:
    """Print what ran as a table, to standard output or to ``file``; return it as data."""
    data = collect()
    print(_table(data, most), file=file or sys.stdout)
    return data


def _table(data: dict[str, Any], most: int | None) -> str:
    rows: list[tuple[str, str, str, str]] = []
    for name, lines in (
        ("kernel", [_kernel(row) for row in data["kernels"]]),
        ("finding", [_finding(row) for row in data["findings"]]),
        ("on the CPU", [_fallback(row) for row in data["fallbacks"]]),
    ):
        rows += [(name, *line) for line in lines[:most]]
        if most is not None and len(lines) > most:
            rows.append((name, f"and {len(lines) - most} more", "", ""))
    if not rows:
        return "aclgrad: no kernel was launched, and no operator ran on the CPU"
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    text = "aclgrad: what ran\n"
    for first, second, third, fourth in rows:
        line = f"  {first:<{widths[0]}}  {second:<{widths[1]}}  {third:>{widths[2]}}  {fourth}"
        text += line.rstrip() + "\n"
    return text.rstrip()


def _kernel(row: dict[str, Any]) -> tuple[str, str, str]:
    checked, launches = row["checked"], row["launches"]
    how = "checked" if checked == launches else f"{checked:,} of them checked"
    how = how if checked else "not checked"
    return (
        row["kernel"],
        f"{launches:,}",
        how + (f", {row['failed']:,} failed" if row["failed"] else ""),
    )


def _finding(row: dict[str, Any]) -> tuple[str, str, str]:
    return f"{row['severity']} {row['kind']}", f"{row['count']:,}", row["at"]


def _fallback(row: dict[str, Any]) -> tuple[str, str, str]:
    return row["operator"], f"{row['calls']:,}", row["line"]


def at_exit(quiet: bool) -> None:
    """Write the report that ACLGRAD_TORCH_REPORT asks for, and unless quiet say what ran."""
    path = os.environ.get(_FILE)
    data = collect()
    if path:
        try:
            with open(path, "w", encoding="utf-8") as file:
                json.dump(data, file, indent=1)
        except OSError as error:
            print(f"aclgrad: {_FILE}={path}: {error}. Next: name a file", file=sys.stderr)
    if not quiet and any(data.values()):
        print(_table(data, _MOST), file=sys.stderr)
