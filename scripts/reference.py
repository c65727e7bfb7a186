#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Pages of docs/reference that are derived: commands, result codes, the device API's coverage, what
documents leave open, licences; and the address of the repository in CITATION.cff.

``scripts/reference.py`` writes them. tests/null/test_site.py fails when one is out of date.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import address
import licenses
from typer.testing import CliRunner

from aclgrad import cli, errors
from aclgrad.common import files
from aclgrad.common.page_sections import cell
from aclgrad.findings import KINDS

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "simulator/src"))

import instruction_table  # type: ignore[import-not-found,unused-ignore]  # noqa: E402

DOCS = ROOT / "docs"
_HEAD = "<!-- Written by scripts/reference.py. -->\n"
_CENSUS = ROOT / "tests/sim/programs/api_census.txt"
_ROW = re.compile(
    r"^\| ((?:[^|\\]|\\.)*) \| ((?:[^|\\]|\\.)*) \|(?:(?: ((?:[^|\\]|\\.)*))? \|)?$", re.M
)


def commands() -> str:
    """Each command with its own help."""
    parts = [
        f"# Commands\n\n{_HEAD}",
        "This page shows what each command prints for `--help`. Commands on operators\n"
        "take the name of one of the five operators, or the path of any project.\n",
        _table(
            ("command", "does"),
            {f"[`{n}`](#aclgrad-{n})": d for n, (_, d) in cli.COMMANDS.items()},
        ),
    ]
    for name in cli.COMMANDS:
        done = CliRunner().invoke(
            cli.app, [name, "--help"], prog_name="aclgrad", terminal_width=100, color=False
        )
        lines = "\n".join(line.rstrip() for line in done.stdout.strip().splitlines())
        parts.append(f"\n## aclgrad {name}\n\n```text\n{lines}\n```\n")
    return "\n".join(parts)


def codes() -> str:
    """Every result code that the tables know."""
    lines = [
        f"# Result codes\n\n{_HEAD}",
        "`aclgrad explain 161002` prints the same in a terminal. `aclGetRecentErrMsg()` has the\n"
        "text of the last error: argument, value, and what is wanted.\n",
        "| code | name | meaning | usual causes | next |",
        "|---|---|---|---|---|",
    ]
    for one in errors.CODES.values():
        words = (one.meaning, one.causes, one.next_step)
        lines.append(f"| {one.code} | `{one.name}` | {' | '.join(map(cell, words))} |")
    return "\n".join(lines) + "\n"


def _sections(page: str) -> Iterator[tuple[str, str]]:
    for part in re.split(r"^##+ ", page, flags=re.M)[1:]:
        head, _, body = part.partition("\n")
        yield head, body


def _anchor(title: str) -> str:
    return re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")


def instructions() -> str:
    """Each name of the device API that docs/reference/calls.md or the census has, once."""
    rows: dict[str, str] = {}
    for title, body in _sections((DOCS / "reference/calls.md").read_text(encoding="utf-8")):
        for found in _ROW.finditer(body):
            link = f"[{title}](calls.md#{_anchor(title)})"
            for name in re.findall(r"`([A-Za-z_]\w*(?:::\w+)?)[*]?`", found[1]):
                rows.setdefault(name, f"{link} | {found[2]} | {found[3] or ''}")
    for line in _CENSUS.read_text(encoding="utf-8").splitlines():
        if "::" in line and not line.startswith("#"):
            name = re.split(r"[@\[ ]", line)[0].strip(".")
            if re.fullmatch(r"[A-Za-z_]\w*", name) and name not in rows:
                rows[name] = " | compiles; used by public kernels | "
    lines = [
        f"# Device API\n\n{_HEAD}",
        "This page lists the names of Ascend C that the simulator has: those with a row in\n"
        "[What each call does](calls.md), and others that public kernels use. A name that the\n"
        "simulator does not have is a compile error.\n",
        '<div class="filter" data-table="names"></div>\n',
        "| name | where | dtypes, or what is modelled | result, or what is not modelled |",
        "|---|---|---|---|",
    ]
    here = {name: text for name, text in rows.items() if not name.startswith("acl")}
    lines += [f"| `{name}` | {here[name]} |" for name in sorted(here, key=str.lower)]
    lines += [
        "\n## Element-wise instructions\n",
        "From `simulator/include/ascendc/instructions.def`. *by count*: what the form with a\n"
        "count takes besides on Ascend 950. *cost*: the instruction of\n"
        "`simulator/src/timing/costs.json`. Pages are below `docs/zh/api/SIMD-API` of\n"
        "asc-devkit.\n",
        "| name | sources | dtypes | Ascend 950 | by count | cost | page |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in instruction_table.rows():
        if row.elementwise:
            sources = {"BINARY": "two", "UNARY": "one", "SCALAR": "one and a scalar"}[row.form]
            dtypes = (row.dtypes, row.dtypes_950(), row.dtypes_950(by_count=True))
            words = (sources, *map(", ".join, dtypes), f"`{row.chain[0]}`", row.page)
            lines.append(f"| `{row.name}` | {' | '.join(words)} |")
    lines += [
        "\n## Reductions\n",
        "From the same table, of float and half (half alone on architecture 1001). Several\n"
        "names share a page.\n",
        "| name | one result for each | operation | cost | page |",
        "|---|---|---|---|---|",
    ]
    of_each = {"WHOLE_REDUCE": "repeat", "BLOCK_REDUCE": "block of 32 bytes", "EXTREME": "call"}
    for row in instruction_table.rows():
        if row.form in of_each:
            operation, cost, page = row.arguments
            words = (of_each[row.form], operation.lower(), f"`{cost}`", page)
            lines.append(f"| `{row.name}` | {' | '.join(words)} |")
    return "\n".join(lines).replace("](#", "](calls.md#") + "\n"


def unknowns() -> str:
    """The register of open hardware questions."""
    register = json.loads((ROOT / "simulator/src/unknowns.json").read_text(encoding="utf-8"))
    parts = [
        f"# Open hardware questions\n\n{_HEAD}",
        "The documents leave some things open, and no board has run these kernels. This\n"
        "page lists each choice of the simulator and each cost of its timing model. A row\n"
        "has the evidence, the probe that asks a board ([`aclgrad\n"
        "calibrate`](../calibration.md)), and what depends on the answer. A row without a\n"
        "probe stays open, and says why there is none.\n\n"
        "## Choices\n",
        "| choice | API | what the simulator does | it could also | evidence | probe | depends |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in register["choices"]:
        words = [row["api"], row["what"], ", ".join(row.get("alternatives", [])) or "-"]
        words += [row["evidence"], row["probe"] or row["unasked"], row["depends"]]
        anchor = f'<a id="{row["id"]}"></a>`{row["id"]}`'
        parts.append(f"| {anchor} | {' | '.join(map(cell, words))} |")
    parts += [
        "\n## Costs\n\n`{arch}` is 2201 for A2 and A3, `{soc}` a name such as Ascend910B2.\n"
        "Values are in `simulator/src/timing/costs.json`.\n",
        "| cost | unit | what | evidence | probe | depends |",
        "|---|---|---|---|---|---|",
    ]
    for row in register["costs"]:
        words = [row["unit"], row["what"], row["evidence"]]
        words += [row["probe"] or row["unasked"], row["depends"]]
        parts.append(f"| `{row['id']}` | {' | '.join(map(cell, words))} |")
    parts.append("\nInstructions that no probe asks for:\n")
    for name, row in register["instructions"].items():
        fields = ", ".join(f"`{field}`" for field in row["fields"])
        parts.append(f"- `{name}` ({fields}): {row['unasked']}")
    parts += [
        "\n## Constants of the model\n\n"
        "A board can show whether these hold. `aclgrad calibrate` reports a difference\n"
        "and changes nothing.\n",
        "| constant | value | what | evidence | probe | depends |",
        "|---|---|---|---|---|---|",
    ]
    for row in register["constants"]:
        words = [str(row["value"]), row["what"], row["evidence"]]
        words += [row["probe"] or row["unasked"], row["depends"]]
        parts.append(f"| `{row['where']}` | {' | '.join(map(cell, words))} |")
    return "\n".join(parts) + "\n"


def restrictions() -> str:
    """What the device API's pages ask for, and which check finds it."""
    families: dict[str, list[dict[str, str]]] = tomllib.loads(
        (ROOT / "simulator/src/restrictions.toml").read_text(encoding="utf-8")
    )
    findings = (ROOT / "docs/reference/findings.md").read_text(encoding="utf-8")
    # Kinds without an example have no section of their own.
    anchors = dict(re.findall(r"^\| \[([a-z0-9-]+)\]\(#([a-z0-9-]+)\)", findings, re.M))
    rules = [rule for rows in families.values() for rule in rows]
    checked = sum("finds" in rule for rule in rules)
    parts = [
        f"# Rules of the documents\n\n{_HEAD}",
        "The public pages of the device API state restrictions for Atlas A2 and A3, the\n"
        f"inference series and the training series. {checked} of {len(rules)} are checked.\n"
        "A row names the page below `docs/zh/api/SIMD-API` of asc-devkit, the kind of the\n"
        "[finding](findings.md) and a test that sees it, or it says why there is no\n"
        "check. The list is kept by hand in `simulator/src/restrictions.toml`.",
    ]
    for family, rows in families.items():
        parts.append(f"\n## {family}\n\n| stated | page | checked | tested |\n|---|---|---|---|")
        for row in rows:
            kind = row.get("finds", "")
            check = f"[{kind}](findings.md#{anchors[kind]})" if kind else "no"
            tested = f"`tests/{row['test']}`" if "finds" in row else cell(row["unchecked"])
            page = row["page"].removesuffix(".md").rpartition("/")[2]
            parts.append(f"| {cell(row['rule'])} | {page} | {check} | {tested} |")
    return "\n".join(parts) + "\n"


def _table(heads: tuple[str, ...], rows: Mapping[str, str]) -> str:
    lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    return (
        "\n".join([*lines, *(f"| {name} | {cell(text)} |" for name, text in rows.items())]) + "\n"
    )


def kinds() -> str:
    """Each kind of finding in a line."""
    parts = [
        "# Kinds of findings in a line\n\n"
        "<!-- Written by scripts/reference.py. -->\n\n"
        "This page lists each kind of finding with its meaning. [Findings](findings.md)\n"
        "has a kernel with each of them, the report and the fix. `aclgrad explain KIND`\n"
        "prints the same."
    ]
    for group in dict.fromkeys(kind.group for kind in KINDS.values()):
        rows = {f"`{k.name}`": k.title for k in KINDS.values() if k.group == group}
        parts.append(f"\n## {group[0].upper()}{group[1:]}\n\n" + _table(("kind", "means"), rows))
    return "\n".join(parts)


PAGES = {
    "kinds.md": kinds,
    "commands.md": commands,
    "codes.md": codes,
    "device_api.md": instructions,
    "unknowns.md": unknowns,
    "restrictions.md": restrictions,
    "licenses.md": licenses.page,
}


def main() -> None:
    """Write what has changed."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    derived = {DOCS / "reference" / name: made for name, made in PAGES.items()}
    for path, made in {**derived, ROOT / "CITATION.cff": address.citation}.items():
        text = made()
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.parent.mkdir(exist_ok=True)
            files.write(path, text, str(path))
            print(f"wrote {path.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
