# SPDX-License-Identifier: Apache-2.0
"""The page at the end of a campaign, and what the terminal shows of it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from aclgrad.campaign.results.store import Store
from aclgrad.common import files
from aclgrad.common.display.terminal import Terminal
from aclgrad.reporting.html import environment, number

Json = dict[str, Any]

PAGE, DATA = "campaign.html", "summary.json"


@dataclass(frozen=True)
class Cell:
    """The cases of one bin of shapes."""

    text: str
    heat: int  # 0 for the best bin of the map, 100 for the worst
    told: str
    bad: bool


@dataclass(frozen=True)
class HeatMap:
    """Bins over the last dim, across, and over the product of the other dims, down."""

    name: str
    columns: tuple[str, ...]
    lines: tuple[tuple[str, tuple[Cell | None, ...]], ...]


def heat_map(group: Json, figure: str) -> HeatMap | None:
    """The worst error of each bin in ULP, or its least share of the bandwidth bound. Shades span
    what this map has, so that bins differ to the eye where their figures do.
    """
    bins = [item for item in group["bins"] if figure != "share" or item["share"] is not None]
    if not bins:
        return None
    columns = range(min(item["last"] for item in bins), max(item["last"] for item in bins) + 1)
    lines = range(min(item["rest"] for item in bins), max(item["rest"] for item in bins) + 1)
    worse = {
        (item["rest"], item["last"]): item["worstUlp"] if figure == "ulp" else -item["share"]
        for item in bins
    }
    best, span = min(worse.values()), max(worse.values()) - min(worse.values())
    placed = {(item["rest"], item["last"]): item for item in bins}

    def cell(line: int, column: int) -> Cell | None:
        item = placed.get((line, column))
        if item is None:
            return None
        text = number(item["worstUlp"]) if figure == "ulp" else f"{item['share']:.0%}"
        heat = round(100 * (worse[line, column] - best) / span) if span else 0
        told = (
            f"last dim {_span(column)}, others {_span(line)}: {text}"
            f"{' ULP' if figure == 'ulp' else ''}, {item['cases']} cases, {item['bad']} failed"
        )
        return Cell(text, heat, told, bool(item["bad"]))

    name = "worst error in ULP" if figure == "ulp" else "least share of the bandwidth bound"
    return HeatMap(
        f"{group['operator']} {group['dtype']}: {name}",
        tuple(_short(at) for at in columns),
        tuple((_short(at), tuple(cell(at, column) for column in columns)) for at in lines),
    )


def _short(power: int) -> str:
    for size, letter in ((30, "G"), (20, "M"), (10, "k")):
        if power >= size:
            return f"{1 << (power - size)}{letter}"
    return str(1 << power)


def _span(power: int) -> str:
    first = 1 << power
    return str(first) if power == 0 else f"{first} to {2 * first - 1}"


def render(found: Json) -> str:
    """The page."""
    template = environment().get_template("campaign.html.j2")
    return (
        template.render(
            found=found,
            map=heat_map,
            share=lambda value: "-" if value is None else f"{value:.1%}",
            ulp=number,
        )
        + "\n"
    )


def write(store: Store, found: Json) -> Path:
    """Write page and figures into the store's folder."""
    path = store.folder / PAGE
    files.write(store.folder / DATA, json.dumps(found, indent=1) + "\n", "--out")
    files.write(path, render(found), "--out")
    return path


def show(found: Json, console: Console) -> None:
    """The summary for a terminal."""
    table = Table(title=f"campaign {found['title']}", title_justify="left")
    for heading in ("op", "dtype", "cases", "passed", "refused", "worst ULP", "least share"):
        table.add_column(
            heading, justify="left" if heading in ("op", "dtype") else "right", no_wrap=True
        )
    for group in found["groups"]:
        share = group["leastShare"]
        table.add_row(
            group["operator"], group["dtype"], str(group["cases"]), str(group["passed"]),
            str(group["refused"]), number(group["worstUlp"]),
            "-" if share is None else f"{share:.1%}",
            style="red" if group["bad"] else None,
        )  # fmt: skip
    Terminal(console.file, width=max(100, console.width), soft_wrap=False).print(table)
    for cause in found["causes"][:5]:
        console.print(
            f"\n{cause['operator']} {cause['verdict']}: {cause['cause']}, {cause['cases']} cases,"
            f" e.g. {cause['shape'] or '-'}\nrepeat: {cause['repeat']}",
            markup=False,
        )
    if rest := len(found["causes"]) + found["moreCauses"] - min(5, len(found["causes"])):
        console.print(f"\nand {rest} more causes, all in the page")
    if "against" in found:
        old = found["against"]
        console.print(
            f"against {old['store']}: {old['compared']} cases compared, {old['changed']} changed,"
            f" {old['new']} new, {old['gone']} gone",
            markup=False,
        )
        for item in old["changes"][:5]:
            console.print(
                f"  {item['operator']} {item['dtype']} {item['shape']}: {item['what']}",
                markup=False,
            )
    rate = found["ran"] / found["seconds"] if found["seconds"] else 0.0
    console.print(
        f"{found['ran']} cases in {found['seconds']:.0f} s ({rate:.1f} a second, {found['workers']}"
        f" at a time), {found['rows'] - found['ran']} done before, {found['retries']} retries\n"
        f"page: {found['page']}",
        markup=False,
    )
