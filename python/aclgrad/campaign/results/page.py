# SPDX-License-Identifier: Apache-2.0
"""The page at the end of a campaign, and what the terminal shows of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from markupsafe import Markup
from rich.console import Console
from rich.table import Table

from aclgrad.campaign.results.store import Store
from aclgrad.common import files
from aclgrad.common.display.terminal import Terminal
from aclgrad.reporting.html import environment, number
from aclgrad.reporting.pictures import charts

Json = dict[str, Any]

PAGE, DATA = "campaign.html", "summary.json"
_SIDE = 26  # of a bin


def heat_map(group: Json, figure: str) -> str:
    """Bins over the last dim and the others, as dots: the larger, the worse."""
    bins = [item for item in group["bins"] if figure != "share" or item["share"] is not None]
    if not bins:
        return ""
    columns = range(min(item["last"] for item in bins), max(item["last"] for item in bins) + 1)
    lines = range(min(item["rest"] for item in bins), max(item["rest"] for item in bins) + 1)
    top = max((item["worstUlp"] for item in bins), default=0) or 1.0
    name = "worst error in ULP" if figure == "ulp" else "least share of the bandwidth bound"
    plot = charts.Plot(
        "Dot", f"{group['operator']} {group['dtype']}: {name} over shapes",
        _SIDE * len(columns) + 74, _SIDE * len(lines) + 74, range=(0, 1),
        x_labels=[_short(at) for at in columns], x_title="last dim",
        x_labels_major_every=2, show_minor_x_labels=False,
    )  # fmt: skip
    placed = {(item["rest"], item["last"]): item for item in bins}
    for line in lines:
        marks: list[dict[str, Any] | None] = []
        for column in columns:
            item = placed.get((line, column))
            if item is None:
                marks.append(None)
                continue
            value = item["worstUlp"] / top if figure == "ulp" else 1 - min(item["share"], 1.0)
            shown = f"{number(item['worstUlp'])} ULP" if figure == "ulp" else f"{item['share']:.0%}"
            words = (
                f"last dim {_span(column)}, others {_span(line)}: {shown},"
                f" {item['cases']} cases, {item['bad']} failed"
            )
            bad = {"node": {"class": "fail"}} if item["bad"] else {}
            marks.append(charts.mark(max(0.15, value), words, **bad))
        plot.add("bin", marks, _short(line))
    return plot.svg()


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
            map=lambda group, figure: Markup(heat_map(group, figure)),
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
