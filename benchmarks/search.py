# SPDX-License-Identifier: Apache-2.0
"""Whether another tiling would be faster, for calls of cases.toml that reach less than three
quarters of the bandwidth bound: every layout that takes the shape, other tiles, numbers of cores,
widths of columns, chunk buffers and parts that UB holds, by the timing model. The kernels are the
package's, and the numbers of what beats the host's tiling are checked. One operator and dtype of
each class, shape, width of dtype and SoC is drawn at random. Rows of unchanged kernels are kept in
build/search.

Usage: search.py [--only WORDS] [--rule "NAME = VALUE"] [--minutes N] [--record] [--check]
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from rich.console import Console

from aclgrad.common import files
from aclgrad.errors import AclgradError
from aclgrad.profiling.alternatives import load
from driver import cases, modelled, tables, tilings
from driver.choice_list import ROOT, alternatives

Row = dict[str, Any]
Kept = dict[str, Row]

WORK = ROOT / "build" / "search"
STORE = WORK / "search.json"  # rows by what they were measured with
TINY = 1 << 15  # elements of a tensor whose launch is most of its time
GAIN = 1.03  # a tiling that is faster by more is worth a look at the host's rule


def drawn(only: str, seed: int) -> Iterator[tuple[str, cases.BenchmarkCase, str]]:
    """A class's name, a case and a SoC: one of each shape and width of dtype of a class."""
    draw = random.Random(seed)
    for group in cases.load().classes:
        found: dict[tuple[object, ...], list[cases.BenchmarkCase]] = {}
        for case in group.cases:
            masked = case.op.startswith("scaled")
            if masked or case.op in ("softmax_grad", "log_softmax_grad"):
                key = case.shape, case.given, case.dtype.numpy.itemsize, masked
                found.setdefault(key, []).append(case)
        for some in found.values():
            case = draw.choice(some)
            if all(word in f"{group.key} {case.key}" for word in only.split()):
                yield group.key, case, group.soc


def measure(
    group: str, case: cases.BenchmarkCase, soc: str, program: Path, rule: Path, most: int
) -> Row:
    """A row of the search; cases that are not low have no more than their share."""
    return {"class": group, "alias": case.alias} | tilings.search(case, soc, program, rule, most)


def parse() -> argparse.Namespace:
    """Options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", metavar="WORDS", help="cases whose name has them")
    parser.add_argument("--rule", default="", help="a change of choices.toml of the host's rule")
    parser.add_argument("--seed", type=int, default=1, help="of the draw")
    parser.add_argument("--most", type=int, default=48, help="tilings of a call")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes")
    parser.add_argument(
        "--minutes", type=float, default=float("inf"), help="no case is begun after so many"
    )
    parser.add_argument("--record", action="store_true", help="put the table into the docs")
    parser.add_argument(
        "--check", action="store_true", help=f"exit status 1 where one is {GAIN - 1:.0%} faster"
    )
    return parser.parse_args()


def main() -> int:
    """Entry point."""
    options = parse()
    if options.record and (options.only or options.rule):
        print("error: --record: the host's rule and all cases, or none", file=sys.stderr)
        return 1
    try:
        change = None
        if options.rule:
            change = next(one for one in alternatives(load(ROOT)) if one.name == options.rule)
        program, rule = tilings.build(WORK), tilings.build(WORK, change)
    except StopIteration:
        print(f"error: --rule {options.rule}: choices.toml has none of that name", file=sys.stderr)
        return 1
    except AclgradError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    chosen = list(drawn(options.only, options.seed))
    # Classes take turns, and what is most often low goes first: a stopped run has some of all.
    turns: Counter[str] = Counter()
    order = []
    for one in sorted(chosen, key=lambda one: one[1].size):
        turns[one[0]] += 1
        wide, tiny = one[1].alias == "fp32", one[1].size < TINY
        order.append(((tiny, wide, turns[one[0]]), one))
    chosen = [one for _, one in sorted(order, key=lambda pair: pair[0])]
    kept: Kept = json.loads(STORE.read_text("utf-8")) if STORE.exists() else {}
    state = f"{tilings.state(program, rule)} {options.most}"
    keys = [hashlib.sha256(f"{state} {one}".encode()).hexdigest() for one in chosen]
    until = time.monotonic() + 60 * options.minutes
    with ProcessPoolExecutor(
        options.jobs, mp_context=get_context("spawn"), initializer=modelled.start, initargs=(1,)
    ) as pool:
        left = [pair for pair in zip(keys, chosen, strict=True) if pair[0] not in kept]
        pending: dict[Future[Row], str] = {}
        while pending or (left and time.monotonic() < until):
            while left and len(pending) < options.jobs and time.monotonic() < until:
                key, one = left.pop(0)
                pending[pool.submit(measure, *one, program, rule, options.most)] = key
            for done in wait(pending, return_when=FIRST_COMPLETED).done:
                kept[pending.pop(done)] = done.result()
                print(json.dumps(done.result()), flush=True)
                files.write(STORE, json.dumps(kept, indent=1), "build/search")
    rows = [kept[key] for key in keys if key in kept]
    table = tables.searched(rows, len(chosen))
    table.show(Console())
    wrong = [f"{row['class']}: {row['case']}: {row['error']}" for row in rows if "error" in row]
    slow = [row for row in rows if row.get("ratio", 1.0) > GAIN]
    for line in wrong:
        print(line, file=sys.stderr)
    for row in slow:
        print(f"{row['case']} {row['soc']}: {row['ratio']} {row['best']}", file=sys.stderr)
    if options.record and not wrong:
        tables.record("searched", table)
    return 1 if wrong or (options.check and slow) else 0


if __name__ == "__main__":
    sys.exit(main())
