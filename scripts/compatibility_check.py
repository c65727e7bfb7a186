#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `aclgrad check --fast` says of 41 vector kernels of public libraries, and whose fault it is.

    scripts/compatibility_check.py /path/to/ops-math /path/to/ops-nn

The operators are drawn at random for each category. The checkouts are yours; nothing of them is
kept but names, figures and lines. What was judged by hand is in compatibility_checked.json.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import compatibility

from aclgrad.common import files
from aclgrad.common.cache import root as cache_root

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "compatibility_check.md"
JUDGED = Path(__file__).with_name("compatibility_checked.json")
LIMIT = 300
"""Seconds for an operator, its build with them."""

WANTED = {
    "activation": 5, "norm": 5, "index": 5, "loss": 4, "quant": 4,
    "foreach": 4, "optim": 3, "pooling": 3, "math": 4, "conversion": 4,
}  # fmt: skip
"""Operators by the folder that they are in; half of them are experimental, where there are any."""

_SUMMARY = ("cases", "errors", "warnings")


def drawn(checkouts: Sequence[Path], seed: int) -> dict[str, Path]:
    """Folders of operators by name."""
    folders: dict[str, dict[str, Path]] = {category: {} for category in WANTED}
    for checkout in checkouts:
        for kernel in compatibility.kernels_of(checkout)[0]:
            if kernel.soc == "ascend910b" and kernel.categories[-1] in folders:
                name = "/".join((kernel.library, *kernel.categories, kernel.folder.name))
                folders[kernel.categories[-1]][name] = kernel.folder
    draw = random.Random(seed)
    found: dict[str, Path] = {}
    for category, count in WANTED.items():
        there = folders[category]
        tried = sorted(name for name in there if "experimental" in name)
        settled = sorted(there.keys() - tried)
        some = min(len(settled), (count + 1) // 2 if tried else count)
        more = min(len(tried), count - some)
        some = min(len(settled), count - more)
        for name in draw.sample(settled, some) + draw.sample(tried, more):
            found[name] = there[name]
    return found


def checked(folder: Path, output: Path, dtype: str = "") -> dict[str, Any]:
    """The figures of `aclgrad check`, or why there are none."""
    words = ["check", str(folder), "--fast", "--format", "json", "-o", str(output)]
    words += ["--dtype", dtype] if dtype else []
    output.unlink(missing_ok=True)
    started = time.monotonic()
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-m", "aclgrad", *words],
            capture_output=True,
            text=True,
            check=False,
            timeout=LIMIT,
        )
    except subprocess.TimeoutExpired:
        return {"why": f"did not end within {LIMIT} s"}
    row: dict[str, Any] = {"seconds": round(time.monotonic() - started), "dtype": dtype}
    if output.is_file():
        report = json.loads(output.read_text("utf-8"))
        kinds = {one["kind"] for one in report["findings"] if one["severity"] == "error"}
        row |= {name: report[name] for name in _SUMMARY} | {"kinds": sorted(kinds)}
        return row | {"refused": len(report["refused"])}
    failed = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    why = (failed or done.stderr.splitlines() or ["?"])[0].removeprefix("error: ")
    return row | {"why": why.partition(" Next: ")[0].replace(f"{folder}/", "")[:140]}


def page(
    rows: Mapping[str, Mapping[str, Any]],
    judged: Mapping[str, Mapping[str, str]],
    commits: Mapping[str, str],
    seed: int,
) -> str:
    """The page, in Markdown."""
    whose: dict[str, int] = dict.fromkeys(("upstream", "harmless", "simulator", "open"), 0)
    table = []
    for name, row in rows.items():
        title = f"{name} ({row['dtype']} only)" if row.get("dtype") else name
        note = judged.get(name, {"kind": "open", "what": "not looked into yet"})
        if "why" in row:
            table.append(f"| {title} | | | | | {compatibility.escape(row['why'])} |")
            continue
        reason = ""
        if row["errors"]:
            whose[note["kind"]] += 1
            where = f"{note['where']}: " if "where" in note else ""
            reason = f"{note['kind']}, {', '.join(row['kinds'])}: {where}{note['what']}"
        figures = " | ".join(str(row[key]) for key in ("cases", "refused", "errors", "warnings"))
        table.append(f"| {title} | {figures} | {compatibility.escape(reason)} |")
    clean = sum("why" not in row and not row["errors"] for row in rows.values())
    left = sum("why" in row for row in rows.values())
    lines = [
        "# What check says of other people's operators",
        "",
        f"`aclgrad check --fast` on {len(rows)} unmodified vector kernels for Atlas A2 without",
        f"a golden, drawn with seed {seed} from",
        ", ".join(f"{name} {commit}" for name, commit in sorted(commits.items())) + ". Written by",
        "`scripts/compatibility_check.py`; this repository contains no part of the libraries.",
        "",
        f"* {clean}: no error;",
        f"* {whose['upstream']}: errors of the operator, by the vendor's documents (*upstream*);",
        f"* {whose['harmless']}: errors of the operator that have no consequence (*harmless*);",
        f"* {whose['simulator']}: errors that are the simulator's (*simulator*);",
        f"* {whose['open']}: errors that nobody has looked into (*open*);",
        f"* {left}: not tried, for the reason in the table.",
        "",
        "*Warnings* rest on [inputs that check invents](debugging.md#inputs-that-check-invents).",
        "",
        "| operator | tried | refused | errors | warnings | whose, and why |",
        "|---|---|---|---|---|---|",
        *table,
    ]
    return "\n".join(lines) + "\n"


def main() -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("checkouts", nargs="+", type=Path, help="local checkouts")
    parser.add_argument("--output", type=Path, default=PAGE, help="default: the page of the docs")
    parser.add_argument("--only", default="", help="regular expression of names to try again")
    parser.add_argument("--dtype", default="", help="of the first input [default: three of them]")
    parser.add_argument("--known", action="store_true", help="try nothing, write what is known")
    parser.add_argument("--seed", type=int, default=34, help="of the draw [default: 34]")
    parser.add_argument(
        "--revision", action="append", default=[], metavar="NAME=COMMIT", help="without .git"
    )
    options = parser.parse_args()
    for checkout in options.checkouts:
        if not checkout.is_dir():
            sys.exit(f"error: {checkout}: no such folder. Next: git clone it, then give its path")
    checkouts = sorted((path.resolve() for path in options.checkouts), key=lambda path: path.name)
    cache = cache_root() / "compatibility"
    cache.mkdir(parents=True, exist_ok=True)
    book = cache / "checked.json"
    known: dict[str, dict[str, Any]] = json.loads(book.read_text()) if book.is_file() else {}
    operators = drawn(checkouts, options.seed)
    for name, folder in operators.items():
        if (options.only and re.search(options.only, name)) or (
            not options.known and not options.only
        ):
            known[name] = checked(folder, cache / "checked-one.json", options.dtype)
            files.write(book, json.dumps(known), "--cache")
            print(name, known[name], flush=True)
    commits = {path.name: compatibility.commit_of(path) for path in checkouts}
    commits |= dict(item.split("=", 1) for item in options.revision)
    rows = {name: known[name] for name in operators if name in known}
    text = page(rows, json.loads(JUDGED.read_text("utf-8")), commits, options.seed)
    files.write(options.output, text, "--output")
    print(f"wrote {options.output}")
    return 0


if __name__ == "__main__":
    os.nice(3)
    sys.exit(main())
