# SPDX-License-Identifier: Apache-2.0
"""The page of a mutation campaign: what names the faults, by kind."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from mutation.faults import KINDS
from mutation.judged import judged

SIGNS = ("named", "elsewhere", "numbers", "warned", "nothing")
_NO_EFFECT = "no effect"
_SAID = {
    "named": "named",
    "elsewhere": "an error elsewhere",
    "numbers": "wrong numbers only",
    "warned": "a warning only",
    "nothing": "without a sign",
}


MATRIX = "Matrix unit"
PUBLIC = "Public kernels"


def replaced(text: str, title: str, section: str) -> str:
    """The page with this section in the place of what it had: with no title, what comes first."""
    parts = {"": ""}
    name = ""
    for line in text.splitlines(keepends=True):
        found = line.removeprefix("## ").strip()
        name = found if line.startswith("## ") and found in (MATRIX, PUBLIC) else name
        parts[name] = parts.get(name, "") + line
    parts[title] = section
    own = (parts[part].strip("\n") for part in ("", MATRIX, PUBLIC) if parts.get(part))
    return "\n\n".join(own) + "\n"


def section(rows: Iterable[Mapping[str, Any]], title: str, text: str, command: str) -> str:
    """The tables of another campaign, as a section of the page."""
    whole = page(rows, command)
    first = whole.index("Of ")
    cut = whole.index("A wrong index (")
    tables = whole[whole.index("## By kind") :].replace("\n## ", "\n### ")
    return f"\n## {title}\n\n{text}\n\n```\n{command}\n```\n\n{whole[first:cut]}### {tables[3:]}"


def page(rows: Iterable[Mapping[str, Any]], command: str) -> str:
    """The whole page, in Markdown."""
    by_kind: dict[str, Counter[str]] = defaultdict(Counter)
    by_group: dict[str, Counter[str]] = defaultdict(Counter)
    unseen: list[tuple[str, str]] = []
    reasons: list[tuple[str, str]] = []
    visible = {kind.name: kind.visible for kind in KINDS}
    left_out: Counter[tuple[str, str]] = Counter()
    for row in rows:
        kind, _, place = str(row["name"]).partition(" ")
        operator, _, _ = place.partition("/")
        message = str(row["message"])
        cause = str(row["cause"])
        if row["verdict"] == "failed":
            planted = message.partition(" => ")[0]
            cause = judged(kind, operator, place.rpartition(":")[0], planted) or cause
        elif row["verdict"] != "passed":
            left_out[operator, cause] += 1
            continue
        if cause.startswith(_NO_EFFECT):
            by_kind[kind][_NO_EFFECT] += 1
            continue
        sign = cause.partition(":")[0]
        if sign not in SIGNS:
            reasons.append((str(row["name"]), cause))
            sign = "nothing"
        by_kind[kind][sign] += 1
        if sign not in ("named", "nothing") and visible.get(kind, True):
            planted = message.partition(" => ")[0]
            why = judged(kind, operator, place.rpartition(":")[0], planted)
            reasons.append((str(row["name"]), f"{_SAID[sign]}: {why or 'not yet judged'}"))
        if visible.get(kind, True):
            by_group[str(row["operator"])][sign] += 1
        if sign == "nothing" and row["verdict"] == "failed":
            unseen.append((str(row["name"]), message.partition("\n")[0]))
    total = sum((count for kind, count in by_kind.items() if visible.get(kind, True)), Counter())
    effective = sum(total[sign] for sign in SIGNS) or 1
    lines = [
        "# How strict the checks are",
        "",
        "A campaign plants faults in operators, one at a time, and runs the commands that the",
        "documentation recommends. The tables count what these commands showed. To write this",
        "page:",
        "",
        "```",
        command,
        "```",
        "",
        "* **named**: an error at most two lines from the planted line, in the planted loop, or at",
        "  a line that uses the same tensor, queue, event (its id or its HardEvent) or field, or",
        "  the wrong index; for a program also wrong numbers with the hint of an unwritten output",
        "  at such a line;",
        "* **elsewhere**: an error at another place;",
        "* **numbers**: no error but wrong results, or results that depend on when the pipes run;",
        "* **warned**: a warning, which fails nothing, because `check` invented the inputs;",
        "* **nothing**: no sign;",
        "* **no effect**: the fault changes nothing; `tests/mutation/judged.toml` says why.",
        "",
        f"Of {effective} effective faults that a check can name, "
        + ", ".join(f"{_share(total[sign], effective)} are {said}" for sign, said in _SAID.items())
        + ".",
        "",
        "A wrong index (`core-offset`, `core-next`, `loop-short`) leaves a part of an output that",
        "two cores write, or that no core writes. The finding is at the access, not at the line",
        "that computes the index. A dropped copy is found where its data are read.",
        "",
        "## By kind",
        "",
        "| kind | a fault | named | elsewhere | numbers | warned | nothing | no effect |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for each in KINDS:
        found = by_kind.get(each.name)
        if found:
            mark = (
                ""
                if each.visible
                else " (only numbers can show it: all accesses are in bounds and in order)"
            )
            cells = " | ".join(str(found[sign] or "") for sign in (*SIGNS, _NO_EFFECT))
            lines.append(f"| `{each.name}` | {each.means}{mark} | {cells} |")
    lines += [
        "",
        "## By operator",
        "",
        "The table leaves out the kinds that only numbers can show.",
        "",
    ]
    lines += [
        "| operator | named | elsewhere | numbers | warned | nothing |",
        "|---|---|---|---|---|---|",
    ]
    for name, found in sorted(by_group.items()):
        lines.append(f"| {name} | " + " | ".join(str(found[sign] or "") for sign in SIGNS) + " |")
    if reasons:
        lines += ["", "## What is not named", "", "| fault | because |", "|---|---|"]
        lines += [f"| {name} | {why} |" for name, why in sorted(set(reasons))]
    if unseen:
        lines += [
            "",
            "## Without a sign and not yet judged",
            "",
            "| fault | planted |",
            "|---|---|",
        ]
        lines += [
            f"| {name} | `{text.replace('|', chr(92) + '|')}` |" for name, text in sorted(unseen)
        ]
    if left_out:
        lines += ["", "## Not tried", "", "| operator | faults | because |", "|---|---|---|"]
        lines += [
            f"| {name} | {count} | {why.replace('|', chr(92) + '|')} |"
            for (name, why), count in sorted(left_out.items())
        ]
    return "\n".join(lines) + "\n"


def _share(count: int, of: int) -> str:
    return f"{count} ({count / of:.0%})"


def rows_of(store: Path) -> list[dict[str, Any]]:
    """The rows that a campaign's folder holds."""
    import pyarrow.dataset

    table = pyarrow.dataset.dataset(store / "rows", partitioning="hive").to_table()
    found: list[dict[str, Any]] = table.sort_by("index").to_pylist()
    return found
