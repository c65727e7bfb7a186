# SPDX-License-Identifier: Apache-2.0
"""Measures the operators and the simulator: modelled time, wall time, memory, builds. README.md
beside it says how.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterable
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import track

from aclgrad.common import files
from aclgrad.errors import AclgradError
from driver import (
    baseline,
    builds,
    cases,
    classes,
    cliffs,
    commands,
    host,
    modelled,
    public_kernels,
    tables,
)
from driver.calls import WrongNumbersError

Row = dict[str, Any]

HERE = Path(__file__).resolve().parent


class Run:
    """One call of the driver: what it measured, and what is wrong with that."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.console = Console(width=None if sys.stdout.isatty() else 160)
        self.cases = cases.load(options.only)
        self.recorded = baseline.read()
        self.results: Row = {}
        self.tables: dict[str, tables.Table] = {}
        self.failures: list[str] = []
        self.misses: list[str] = []  # said by the table that is recorded

    def track(self, items: Iterable[Row], total: int, what: str) -> list[Row]:
        """Collect rows behind a progress bar."""
        bar = track(items, what, total=total, console=self.console, transient=True)
        return list(bar if self.console.is_terminal else items)

    def add(self, section: str, rows: Any, table: tables.Table) -> None:
        """Keep and show a section."""
        self.results[section] = rows
        self.tables[section] = table
        table.show(self.console)

    def modelled(self) -> None:
        """Estimates, against the baseline and the limits."""
        chosen = self.cases.modelled
        rows = self.track(
            modelled.measure_all(chosen, self.options.jobs), len(chosen), "modelled time"
        )
        figures = {row["case"]: row for row in rows}
        self.add("modelled", rows, tables.modelled(chosen, figures))
        self.tables["modelled summary"] = tables.modelled_summary(chosen, figures)
        before = self.recorded
        self.failures += [row["error"] for row in rows if "error" in row]
        right = [(case, row) for case, row in zip(chosen, rows, strict=True) if "error" not in row]
        for case, row in right:
            self.failures += baseline.lost(case, row, before.get(case.key))
        if self.options.record:
            return
        drift = baseline.drifted(right, before, whole=not self.options.only)
        self.failures += drift
        if drift:
            self.failures.append("Next: bench.py --modelled --record when the change is meant")
        if not drift and not self.options.only:
            for section, table in (
                ("modelled", tables.modelled(chosen, before)),
                ("modelled summary", tables.modelled_summary(chosen, before)),
            ):
                page = tables.document(section)
                if tables.in_document(section, table) != page.read_text("utf-8"):
                    self.failures.append(
                        f"{page}: its table is not the baseline's. Next: bench.py --modelled"
                        " --record"
                    )

    def classes(self) -> None:
        """Estimates of classes of shapes; wrong numbers alone fail."""
        groups = self.cases.classes
        places = [(group, case) for group in groups for case in group.cases]
        items = modelled.measure_all(
            [case for _, case in places], self.options.jobs, [group.soc for group, _ in places]
        )
        rows = self.track(items, len(places), "classes of shapes")
        figures: dict[str, dict[str, Row]] = {group.key: {} for group in groups}
        for (group, case), row in zip(places, rows, strict=True):
            if "error" in row:
                self.failures.append(f"{group.key}: {row['error']}")
            else:
                figures[group.key][case.key] = row
        self.add("classes", rows, tables.classes(classes.judge(groups, figures), rows))
        self.add("below", [], tables.below(groups, rows))

    def cliffs(self) -> None:
        """Lengths of rows and columns whose neighbours are far cheaper."""
        sweeps = cliffs.sweeps()
        chosen = [case for cases in sweeps.values() for _, case in cases]
        items = modelled.measure_all(chosen, self.options.jobs)
        rows = self.track(items, len(chosen), "cliffs")
        self.failures += [row["error"] for row in rows if "error" in row]
        figures = {row["case"]: row for row in rows}
        found, steepest = list(cliffs.find(sweeps, figures)), cliffs.steepest(sweeps, figures)
        self.add("cliffs", rows, tables.cliffs(found, steepest, len(chosen)))

    def host(self) -> None:
        """Processor time and memory, against the limits."""
        chosen = self.cases.host
        items = (host.measure(case, self.options.rounds) for case in chosen)
        rows = self.track(items, len(chosen), "processor time and memory")
        figures = {row["case"]: row for row in rows}
        self.add("host", rows, tables.host(chosen, figures, host.machine()))
        for case, row in zip(chosen, rows, strict=True):
            self.misses += baseline.over(case, row)

    def scaling(self) -> None:
        """Wall time by host threads."""
        chosen = self.cases.host
        items = (row for case in chosen for row in host.scaling(case, self.options.rounds))
        rows = self.track(items, len(chosen) * len(host.MODES), "host threads")
        self.add("scaling", rows, tables.scaling(rows, host.machine()))

    def builds(self) -> None:
        """Build times."""
        rows = self.track(builds.measure(), 6, "builds")
        self.add("builds", rows, tables.builds(rows, host.machine()))

    def commands(self) -> None:
        """Small calls and commands."""
        rows = self.track(commands.measure(self.options.rounds), 7, "commands")
        self.add("commands", rows, tables.commands(rows, host.machine()))

    def against(self, checkout: Path) -> None:
        """Public kernels."""
        files.make_folder(self.options.out, "--out")
        items = public_kernels.compare(
            checkout,
            self.cases.peers,
            self.options.jobs,
            store=self.options.out / "against.json",
            revision=self.options.revision,
        )
        rows = self.track(items, len(self.cases.peers), "public kernels")
        name = f"{checkout.absolute().name} {self.options.revision}".strip()
        self.add("against", rows, tables.against(rows, name))
        self.tables["against summary"] = tables.against_summary(rows, name)
        self.failures += public_kernels.failures(rows)
        self.misses += public_kernels.misses(rows)

    def write(self) -> None:
        """JSON and markdown into the folder, and the record."""
        folder = self.options.out
        files.make_folder(folder, "--out")
        results = {"host machine": host.machine(), **self.results}
        files.write(folder / "bench.json", json.dumps(results, indent=1) + "\n", "--out")
        text = [f"## {table.title}\n\n{table.markdown()}\n" for table in self.tables.values()]
        files.write(folder / "bench.md", "\n".join(text), "--out")
        self.console.print(f"written: {folder / 'bench.json'}, {folder / 'bench.md'}", markup=False)
        if not self.options.record:
            return
        if "modelled" in self.results:
            baseline.write(self.results["modelled"])
        for section, table in self.tables.items():
            tables.record(section, table)
        self.console.print(f"recorded: {', '.join(self.tables)}")


def parse() -> argparse.Namespace:
    """Options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    what = parser.add_argument_group("what to measure (--modelled and --host when left out)")
    what.add_argument("--modelled", action="store_true", help="estimated time and GM traffic")
    what.add_argument("--classes", action="store_true", help="estimates by class of shapes")
    what.add_argument(
        "--cliffs", action="store_true", help="lengths that neighbours undercut by the byte"
    )
    what.add_argument(
        "--host", action="store_true", help="processor time and memory of the simulator"
    )
    what.add_argument("--scaling", action="store_true", help="wall time by host threads")
    what.add_argument("--builds", action="store_true", help="build times; takes minutes")
    what.add_argument("--commands", action="store_true", help="small calls and commands")
    what.add_argument(
        "--against", type=Path, metavar="CHECKOUT", help="public kernels of a library's checkout"
    )
    parser.add_argument("--revision", default="", help="of that checkout, for the table")
    parser.add_argument("--check", action="store_true", help="exit status 1 when a limit is missed")
    parser.add_argument("--record", action="store_true", help="rewrite baseline.json and the docs")
    parser.add_argument("--only", default="", metavar="WORDS", help="cases whose name has them")
    parser.add_argument("--rounds", type=int, default=7, help="of wall times; the least counts")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes")
    parser.add_argument("--out", type=Path, default=HERE.parent / "build" / "bench")
    parser.add_argument("--peak", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.record and options.only:
        parser.error("--record: all cases or none. Next: leave --only out")
    if options.rounds < 1 or options.jobs < 1:
        parser.error("--rounds, --jobs: want at least 1")
    asked = ("modelled", "classes", "cliffs", "host", "scaling", "builds", "commands", "against")
    if not any(getattr(options, name) for name in asked):
        options.modelled = options.host = True
    return options


def main() -> int:  # noqa: C901
    """Entry point: 0, or 1 when something fails that --check or --record asks for."""
    options = parse()
    if options.peak:
        host.print_peak(next(case for case in cases.load().host if case.key == options.peak))
        return 0
    try:
        run = Run(options)
        if options.modelled:
            run.modelled()
        if options.classes:
            run.classes()
        if options.cliffs:
            run.cliffs()
        if options.host:
            run.host()
        if options.scaling:
            run.scaling()
        if options.builds:
            run.builds()
        if options.commands:
            run.commands()
        if options.against:
            run.against(options.against)
    except (ValueError, AclgradError, WrongNumbersError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except BrokenProcessPool:
        print(
            "error: a measuring process was killed, as one out of memory is. Next: --jobs 1",
            file=sys.stderr,
        )
        return 1
    for line in [*run.failures, *run.misses]:
        print(line, file=sys.stderr)
    if options.record and run.failures:
        print(
            "not recorded. Next: fix the above, or change the limit in cases.toml", file=sys.stderr
        )
        return 1
    run.write()
    return 1 if (run.failures or run.misses) and options.check else 0


if __name__ == "__main__":
    sys.exit(main())
