# SPDX-License-Identifier: Apache-2.0
"""Findings as text for people."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

from aclgrad.findings.finding import Place
from aclgrad.findings.kinds import ERROR
from aclgrad.findings.merged import Merged, Result

if TYPE_CHECKING:
    from rich.console import Console


def print_text(result: Result, console: Console, base: Path | None = None) -> None:
    """Print for people. Paths below ``base``, the working folder when left out, are relative."""
    base = base or Path.cwd()
    for item in result.found:
        finding = item.finding
        style = "bold red" if finding.severity == ERROR else "yellow"
        console.print(f"{finding.severity}[{finding.kind}]", style=style, markup=False, end="")
        console.print(f" {finding.title}", style="bold", markup=False)
        text = textwrap.indent(describe(item, base, result.cases), "  ")
        console.print(f"{text}\n", markup=False)
    if refused := result.refused:
        many = "case" if len(refused) == 1 else "cases"
        console.print(
            f"{len(refused)} {many} refused by the operator; the last, {refused[-1].label}:"
            f" {refused[-1].reason}",
            markup=False,
        )
    for note in result.notes:
        console.print(note, markup=False)
    console.print(result.verdict, style="red" if result.errors else "green", markup=False)


def describe(item: Merged, base: Path, cases: int) -> str:
    """Return everything but kind and title: where, what, why, how often and how to see it again."""
    finding = item.finding
    lines = [", ".join(filter(None, (finding.op, finding.where)))]
    lines += _source(finding.at, base)
    for place in finding.related:
        lines.append(", which ".join(filter(None, (place.name, place.note))))
        lines += _source(place, base)
    texts = [finding.bytes, *finding.detail.splitlines(), finding.advice, *finding.going_on]
    texts += finding.on_invented
    lines += [text.strip() for text in texts]
    if finding.core >= 0 or finding.tiling:
        tiling = f", {finding.tiling}" if finding.tiling else ""
        lines.append(f"tiling on {finding.soc}: key {finding.tiling_key}{tiling}")
    times = f"{item.count} times" if item.count > 1 else ""
    if item.cases and cases > 1:
        times += f"{' ' * bool(times)}in {len(item.cases)} of {cases} cases, first {item.cases[0]}"
    lines.append(times)
    lines.append(f"repeat: {item.repro}" if item.repro else "")
    return "\n".join(line for line in lines if line)


def _source(place: Place, base: Path) -> list[str]:
    if not place.file:
        return []
    if not place.known:
        return [f"at {place.file} (no line: build the kernel with -g)"]
    line = f"at {_relative(place.file, base)}:{place.line}"
    return [line, f"    {place.text}"] if place.text else [line]


def _relative(file: str, base: Path) -> str:
    path = Path(file)
    return path.relative_to(base).as_posix() if path.is_relative_to(base) else file
