# SPDX-License-Identifier: Apache-2.0
"""Tables of the results, for the terminal and for the pages of docs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from rich.console import Console
from rich.table import Table as RichTable

from aclgrad.common import files, page_sections
from driver import baseline, public_kernels
from driver.cases import HOST_LIMITS, BenchmarkCase, CaseClass
from driver.classes import FIGURES, Verdict
from driver.cliffs import Cliff
from driver.host import THREADS
from driver.modelled import LOW

Row = dict[str, Any]

DTYPES = ("fp32", "fp16", "bf16")

BOUNDED = 0.85  # A case that takes no longer than its limit by this share has no room to speak of.

DOCS = Path(__file__).resolve().parents[2] / "docs"
# Tables of every case; what is not named here is in the short page.
IN_FULL = ("modelled", "classes", "below", "searched", "cliffs", "against", "scaling")


@dataclass(frozen=True)
class Table:
    """Headings, lines of cells, and a sentence below."""

    title: str
    headings: Sequence[str]
    lines: Sequence[Sequence[str]]
    below: str = ""

    def markdown(self) -> str:
        """The table without its title."""
        rows = [self.headings, ["---"] * len(self.headings), *self.lines]
        text = "\n".join(f"| {' | '.join(row)} |" for row in rows)
        return f"{text}\n\n{self.below}" if self.below else text

    def show(self, console: Console) -> None:
        """Print it."""
        table = RichTable(title=self.title, title_justify="left")
        for at, heading in enumerate(self.headings):
            table.add_column(heading, justify="right" if at else "left", overflow="fold")
        for line in self.lines:
            table.add_row(*(cell.replace("[", r"\[") for cell in line))
        console.print(table)
        if self.below:
            console.print(self.below, markup=False)


def modelled(cases: Sequence[BenchmarkCase], figures: Mapping[str, Row]) -> Table:
    """One line per shape, the dtypes beside each other; * marks what misses its limit."""
    lines: dict[tuple[str, str, str], dict[str, str]] = {}
    limits: dict[tuple[str, str, str], tuple[str, str]] = {}
    missed = 0
    for case in cases:
        found = figures[case.key]
        place = (case.op, case.dims, case.words)
        cells = lines.setdefault(place, {})
        if "error" in found:
            cells[case.alias] = "wrong numbers"
            continue
        unmet = baseline.unmet(case, found)
        missed += bool(unmet)
        star = {name: "*" if name in unmet else "" for name in baseline.FIGURES}
        cells[case.alias] = f"{found['us']:.1f} ({found['share']:.0%}{star['share']})"
        moved = f"{found['traffic']:.2f}{star['traffic']}"
        cells["moved"] = moved if moved > cells.get("moved", "") else cells["moved"]
        share, traffic = (case.limits.get(name) for name in ("share", "traffic"))
        limits[place] = (
            "" if share is None else f"{share:.0%}",
            "" if traffic is None else f"{traffic:g}",
        )
    return Table(
        "modelled on Ascend910B2: us (share of the bandwidth bound)",
        ["operator", "shape", "attributes", *DTYPES, "GM / floor", "limits"],
        [
            [
                *place,
                *(cells.get(name, "") for name in DTYPES),
                cells.get("moved", ""),
                ", ".join(filter(None, limits.get(place, ()))),
            ]
            for place, cells in lines.items()
        ],
        f"{len(cases)} cases, {missed} miss a limit (marked *)."
        if missed
        else f"{len(cases)} cases, all within their limits.",
    )


def modelled_summary(cases: Sequence[BenchmarkCase], figures: Mapping[str, Row]) -> Table:
    """A line per operator: the median and the worst share of the bound by dtype."""
    by_op: dict[str, dict[str, list[float]]] = {}
    for case in cases:
        if "error" not in figures[case.key]:
            shares = by_op.setdefault(case.op, {}).setdefault(case.alias, [])
            shares.append(figures[case.key]["share"])

    def cell(shares: Sequence[float]) -> str:
        return f"{median(shares):.0%} ({min(shares):.0%})" if shares else ""

    return Table(
        "share of the bandwidth bound: median (worst)",
        ["operator", "cases", *DTYPES],
        [
            [
                op,
                str(sum(map(len, found.values()))),
                *(cell(found.get(name, ())) for name in DTYPES),
            ]
            for op, found in by_op.items()
        ],
    )


def classes(verdicts: Sequence[Verdict], rows: Sequence[Row]) -> Table:
    """A line per class, dtype and limit; * marks what misses it."""
    lines = []
    for found in verdicts:
        shown = FIGURES[found.name].shown
        least, most = (f"{error:.0%}" for error in found.errors)
        lines.append(
            [
                found.group.key,
                found.alias,
                FIGURES[found.name].words,
                str(found.count),
                f"{shown(found.worst)}{'' if found.met else '*'}",
                shown(found.median),
                "" if found.want is None else shown(found.want),
                least if least == most else f"{least} to {most}",
                found.where.replace(f" {found.alias}", ""),
            ]
        )
    missed = [found for found in verdicts if not found.met]
    near = sum(found.within_error for found in missed)
    shares = [row["share"] for row in rows if "error" not in row]
    low = sum(share < LOW for share in shares) / max(len(shares), 1)
    return Table(
        "classes of shapes: the worst and the median case",
        [
            "class",
            "dtype",
            "figure",
            "cases",
            "worst",
            "median",
            "wanted",
            "model's error",
            "worst case",
        ],
        lines,
        f"{len(verdicts)} lines, {len(missed)} miss what is wanted (marked *), {near} of them by"
        f" less than the model's error. Of all {len(rows)} cases {low:.0%} reach less than 75 % of"
        " the bound.",
    )


LIMITED_BY = {
    "memory": "memory, with what copies that start off 256 bytes cost",
    "l2": "L2, which moves whole lines for parts of them",
    "vec": "VECTOR",
    "scalar": "SCALAR",
    "mte2": "MTE2: a copy to UB is under way",
    "mte3": "MTE3: a copy to GM is under way",
}


def below(groups: Sequence[CaseClass], rows: Sequence[Row]) -> Table:
    """What limits the cases of less than three quarters of the bandwidth bound."""
    found: dict[tuple[str, str, str], list[Row]] = {}
    keys = [(group.key, case.alias) for group in groups for case in group.cases]
    for (name, alias), row in zip(keys, rows, strict=True):
        if "error" not in row and row["share"] < LOW:
            width = "fp32" if alias == "fp32" else "16 bit"
            found.setdefault((name, width, row["limit"]), []).append(row)

    def cell(cases: Sequence[Row], name: str) -> str:
        values = [row[name] for row in cases]
        return f"{median(values):.0%} ({min(values):.0%})"

    low = [row for cases in found.values() for row in cases]
    limits = dict.fromkeys(row["limit"] for row in low)
    bounded = [row["limit"] for row in low if row["of limit"] >= BOUNDED]
    by_limit = [
        f"{bounded.count(name)} of {sum(row['limit'] == name for row in low)} by {name}"
        for name in limits
    ]
    shares = [row["share"] for row in rows if "error" not in row]
    return Table(
        "cases below three quarters of the bandwidth bound, by what limits them",
        [
            "class",
            "dtype",
            "limited by",
            "cases",
            "of the bandwidth bound",
            "launch, fill and drain",
            "of the limit",
        ],
        [
            [name, width, LIMITED_BY[limit], str(len(cases))]
            + [cell(cases, figure) for figure in ("share", "outside", "of limit")]
            for (name, width, limit), cases in found.items()
        ],
        f"{len(low)} of {len(rows)} cases, whose median is {median(shares):.0%}; median (least)."
        f" At {BOUNDED:.0%} of the limit or more are {len(bounded)} of the"
        f" {len(low)}: {', '.join(by_limit)}.",
    )


def searched(rows: Sequence[Row], drawn: int) -> Table:
    """Times of the host's tilings by those of the fastest that a search finds. `drawn` is how many
    cases would be timed without a limit.
    """
    found: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        if "ratio" in row:
            width = "fp32" if row["alias"] == "fp32" else "16 bit"
            found.setdefault((row["class"], width), []).append(row)
    lines = []
    for (name, width), some in sorted(found.items()):
        worst = max(some, key=lambda row: row["ratio"])
        lines.append(
            [
                name,
                width,
                str(len(some)),
                str(sum(row["tried"] - row["refused"] for row in some)),
                f"{median(row['ratio'] for row in some):.3f}",
                f"{worst['ratio']:.3f}",
                f"{max(row['band'] for row in some):.0%}",
                worst["case"] if worst["best"] else "",
                worst["best"],
            ]
        )
    low = [row for some in found.values() for row in some]
    below = f"{len(rows)} of {drawn} drawn cases are timed ({len(rows) / drawn:.0%})."
    if low:
        ratios = [row["ratio"] for row in low]
        ours = median(row["share"] for row in low)
        best = median(row["share"] * row["ratio"] for row in low)
        high = sum(row["share"] * row["ratio"] >= LOW for row in low)
        tried = sum(row["tried"] - row["refused"] for row in low)
        below += (
            f" Of {len(low)} low ones {tried} tilings are tried: ours by the best is"
            f" {median(ratios):.3f} in the median, at most {max(ratios):.3f}; above 1.03 in"
            f" {sum(ratio > 1.03 for ratio in ratios)}. With the best tiling of each the median of"
            f" their shares is {best:.1%} in place of {ours:.1%}, and {high} of them reach"
            f" {LOW:.0%}."
        )
    headings = ["class", "dtype", "cases", "tilings", "ours / best", "worst", "model's error"]
    return Table("low cases beside other tilings", [*headings, "where", "by"], lines, below)


def cliffs(found: Sequence[Cliff], steepest: Sequence[str], lengths: int) -> Table:
    """Lengths that take far longer by the byte than the one before them."""
    return Table(
        "cliffs between neighbouring lengths",
        ["sweep", "length", "us", "length before", "us", "by the byte", "longer and cheaper"],
        [
            [one.sweep, str(one.length), f"{one.us:.1f}", str(one.before), f"{one.us_before:.1f}"]
            + [f"{one.jump:.2f}", str(one.longer)]
            for one in found
        ],
        f"{len(found)} of {lengths} lengths. The steepest steps: {', '.join(steepest)}.",
    )


def host(cases: Sequence[BenchmarkCase], figures: Mapping[str, Row], machine: Row) -> Table:
    """Ratios to NumPy, each with its limit."""

    def cell(case: BenchmarkCase, name: str) -> str:
        value, limit = figures[case.key].get(name), case.limits.get(name)
        if value is None:
            return ""
        return f"{value:.2f}" + ("" if limit is None else f" ({limit:g})")

    return Table(
        "processor time by NumPy's, peak memory by the tensors' bytes (limit)",
        ["case", "NumPy ms", *HOST_LIMITS, "torch"],
        [
            [case.key, f"{figures[case.key]['numpy ms']:.1f}"]
            + [cell(case, name) for name in (*HOST_LIMITS, "torch")]
            for case in cases
        ],
        ", ".join(f"{name} {value}" for name, value in machine.items()) + ".",
    )


def scaling(rows: Sequence[Row], machine: Row) -> Table:
    """A line per case and mode, a column per number of host threads."""
    return Table(
        "host threads: ms (work by that of one thread, speed-up by the longest thread)",
        ["case", "mode", "1 thread", *(f"{count} threads" for count in THREADS[1:])],
        [
            [row["case"], row["mode"], f"{row['ms'][0]:.1f}"]
            + [
                f"{ms:.1f} ({work:.2f}, {path:.1f})"
                for ms, work, path in list(zip(row["ms"], row["work"], row["path"], strict=True))[
                    1:
                ]
            ]
            for row in rows
        ],
        f"{machine['machine']}, {machine['cores']} cores.",
    )


def builds(rows: Sequence[Row], machine: Row) -> Table:
    """Seconds of each build."""
    kinds = ("cold", "cold, CPU", "touched", "nothing to do")
    return Table(
        "build times, s",
        ["build", *kinds],
        [
            [row["build"], *(f"{row[kind]:.1f}" if kind in row else "" for kind in kinds)]
            for row in rows
        ],
        f"{machine['machine']}, {machine['cores']} cores, without a compiler cache.",
    )


def commands(rows: Sequence[Row], machine: Row) -> Table:
    """Processor time of small things."""
    return Table(
        "small things, processor time",
        ["what", "least", "limit", "unit"],
        [[row["what"], f"{row['least']:.3f}", f"{row['limit']:g}", row["unit"]] for row in rows],
        f"{machine['machine']}, {machine['cores']} cores, without a compiler cache.",
    )


def against(rows: Sequence[Row], checkout: str) -> Table:
    """Ours and theirs, class by class."""

    def words(row: Row) -> str:
        if row["ratio"] is not None:
            slower = row["ratio"] < public_kernels.LEAST_RATIO
            found = row.get("finding", "").partition(": ")[0]
            ratio = f"{row['ratio']:.3f}*" if slower else f"{row['ratio']:.2f}"
            return f"{ratio}, with {found}" if found else ratio
        kinds = ("error", "wrong", "stopped", "refused", "died")
        kind = next((name for name in kinds if name in row), "")
        return f"{kind}: {row[kind]}".replace("|", "/") if kind else ""

    def us(value: float | None) -> str:
        return "" if value is None else f"{value:.{1 if value >= 10 else 3}f}"

    ran = [row for row in rows if row["ratio"] is not None]
    return Table(
        "public kernels on the same simulator: modelled us",
        ["class", "case", "ours", "theirs", "theirs / ours"],
        [
            [row["class"], row["case"], us(row["ours"]), us(row["theirs"]), words(row)]
            for name in public_kernels.classes(rows)
            for row in rows
            if row["class"] == name
        ],
        f"{checkout}: {len(ran)} of {len(rows)} ran on both sides with right numbers.",
    )


def against_summary(rows: Sequence[Row], checkout: str) -> Table:
    """A line per class: how much longer theirs take."""

    def line(name: str, found: Sequence[Row], middle: float | None) -> list[str]:
        ratios = [row["ratio"] for row in found if row["ratio"] is not None]
        words = [middle, min(ratios), max(ratios)] if ratios else []
        cells = [f"{value:.2f}" for value in words if value is not None] or [""] * 3
        return [name, f"{len(ratios)} of {len(found)}", *cells]

    by_class = {
        name: [row for row in rows if row["class"] == name] for name in public_kernels.classes(rows)
    }
    return Table(
        "public kernels: their modelled time by ours",
        ["class", "cases that ran", "geometric mean", "least", "most"],
        [
            *(line(name, found, public_kernels.mean(found)) for name, found in by_class.items()),
            line("all, one vote per class", rows, public_kernels.mean_of_classes(rows)),
        ],
        f"{checkout}.",
    )


def document(section: str) -> Path:
    """The page that has a section."""
    if section.startswith("choices"):
        return DOCS / "reference" / "choices.md"
    return DOCS / "reference" / "benchmarks.md" if section in IN_FULL else DOCS / "benchmarks.md"


def record(section: str, table: Table) -> None:
    """Put a section's table into its page."""
    files.write(document(section), in_document(section, table), "--record")


def in_document(section: str, table: Table) -> str:
    """The page's text with a section's table put in."""
    return page_sections.filled(document(section), section, f"\n{table.markdown()}\n\n")
