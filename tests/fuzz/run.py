# SPDX-License-Identifier: Apache-2.0
"""Command line of the fuzzer: seeds run by the engine of campaigns, in processes whose end is a
failure of the case that they were at.
"""

from __future__ import annotations

import argparse
import faulthandler
import os
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aclgrad.campaign.workers import cluster
from aclgrad.checkout import instrumented_build
from aclgrad.errors import AclgradError
from aclgrad.ops import all_specs, find
from aclgrad.spec.op_spec import OpSpec
from fuzz import leaks
from fuzz.draw import Drawn, draw
from fuzz.ledger import Finding, excuse, stale

_TIME_LIMIT = 60
"""Seconds that one case may take, also in an instrumented build."""

_PIECE = 250
_LEAK_CASES = 40
_LEAK_FROM = 500
"""Cases of a process after which it looks for leaks."""


@dataclass
class Outcome:
    """What a run found."""

    cases: int = 0
    calls: int = 0
    launches: int = 0
    seconds: float = 0.0
    codes: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    excused: set[Finding] = field(default_factory=set)

    def fail(self, repro: str, text: str) -> None:
        """Note a failure, unless the ledger knows it."""
        known = excuse(f"{repro}\n{text}")
        if known is not None:
            self.excused.add(known)
            return
        self.failures.append(f"{repro}\n    {text.strip()}")
        print(f"FAILED {self.failures[-1]}", flush=True)

    def summary(self) -> str:
        """Speed and histogram of codes."""
        lines = [
            f"{self.cases} cases, {self.calls} calls, {self.launches} results compared,"
            f" {self.seconds:.1f} s, {self.calls / max(self.seconds, 1e-9):.0f} calls/s"
        ]
        for code, count in sorted(self.codes.items()):
            lines.append(f"  {code:>12} {count:8d}  {count / max(self.calls, 1):6.1%}")
        lines.append(f"{len(self.failures)} failures, {len(self.excused)} known")
        return "\n".join(lines)


def spec_of(seed: int, specs: Sequence[OpSpec]) -> OpSpec:
    """Operators take turns."""
    return specs[seed % len(specs)]


class Cases:
    """Runs seeds in a child of the engine that campaigns have; one case per seed."""

    def __init__(self, document: dict[str, Any], folder: str) -> None:
        # Only a child loads the libraries.
        from aclgrad.runtime import open_device
        from fuzz.abi import Abi
        from fuzz.execute import Runner

        self.specs = [find(word) for word in document["ops"]] or list(all_specs())
        self.abi = Abi(open_device("sim"))
        self.runner = Runner(self.abi)
        self.timeout = float(document["timeout"])
        self.recent: list[Drawn] = []
        self.done = 0

    def _draw(self, seed: int) -> Drawn:
        return draw(seed, spec_of(seed, self.specs), self.abi.socs)

    def about(self, seed: int) -> dict[str, Any]:
        """Said before the first call of a case, so that a crash names it."""
        case = self._draw(seed)
        return {"repro": case.repro, "case": case.describe()}

    def __call__(self, seed: int) -> dict[str, Any]:
        """Run one case."""
        case = self._draw(seed)
        calls, ran, codes = self.abi.calls, self.runner.ran, Counter(self.runner.codes)
        row: dict[str, Any] = self.about(seed)
        faulthandler.dump_traceback_later(self.timeout, exit=True)
        try:
            self.run(case)
            if len(self.recent) < _LEAK_CASES and (self.runner.ran > ran or seed % 5 == 0):
                self.recent.append(case)
        except Exception as error:
            row["failed"] = str(error) if type(error).__name__ == "Mismatch" else repr(error)
        row |= {
            "calls": self.abi.calls - calls,
            "launches": self.runner.ran - ran,
            "codes": dict(Counter(self.runner.codes) - codes),
        }
        self.done += 1
        if self.done == _LEAK_FROM:
            faulthandler.dump_traceback_later(20 * self.timeout, exit=True)
            grown = leaks.check(self.abi, self.runner, self.recent)
            if grown:
                first = self.recent[0].seed if self.recent else seed
                row["leak"] = f"{grown}; first of the repeated cases: seed {first}"
        faulthandler.cancel_dump_traceback_later()
        return row

    def run(self, case: Drawn) -> None:
        """Compare one case with the model."""
        self.runner.run(case)


def note(outcome: Outcome, args: argparse.Namespace, row: dict[str, Any]) -> None:
    """Take in what became of a case."""
    outcome.cases += 1
    outcome.calls += row.get("calls", 0)
    outcome.launches += row.get("launches", 0)
    outcome.codes += Counter(row.get("codes", {}))
    if args.verbose:
        print(row.get("case", ""), file=sys.stderr)
    repro = row.get("repro", "python -m fuzz.run")
    if died := row.get("died") or (row.get("message", "no output") if "verdict" in row else ""):
        # A sanitizer says first what is wrong, the rest is stacks.
        says = ("ERROR: AddressSanitizer", "runtime error:", "WARNING: ThreadSanitizer")
        start = max(0, *map(died.find, says))
        again = "" if "verdict" in row else " (not when it ran alone)"
        outcome.fail(
            repro, f"the process died{again}: {died[max(start - 200, 0) :]}\n    {row.get('case')}"
        )
    elif "failed" in row:
        outcome.fail(repro, f"{row['failed']}\n    {row['case']}")
    if "leak" in row:
        outcome.fail(f"python -m fuzz.run --seed {args.seed} --count {args.count}", row["leak"])


def drive(
    args: argparse.Namespace, call: str = "fuzz.run:Cases", path: Sequence[Path] = ()
) -> Outcome:
    """Share the seeds out to worker processes and add up what they find."""
    start = time.monotonic()
    outcome = Outcome()
    end = args.seed + args.count
    # A few pieces for each process, so that none waits long for the last.
    size = max(1, min(_PIECE, -(-args.count // (4 * args.jobs))))
    pieces = [(first, min(first + size, end)) for first in range(args.seed, end, size)]
    print(f"seeds {args.seed}..{end - 1}, {args.jobs} processes", flush=True)
    shown = start

    def done(at: int, row: dict[str, Any]) -> None:
        nonlocal shown
        note(outcome, args, row)
        if time.monotonic() - shown > args.progress:
            shown = time.monotonic()
            speed = outcome.cases / (shown - start)
            text = f"{outcome.cases}/{args.count} cases, {speed:.0f}/s"
            print(f"{text}, {len(outcome.failures)} failures", flush=True)

    words = [f"{name}={value}" for name, value in leaks.EXACT.items()]
    before = (
        instrumented_build.command_line(instrumented_build.Sanitizer(args.sanitize), [])
        if args.sanitize
        else []
    )
    cluster.each(
        call, pieces, done,
        path=[Path(__file__).resolve().parents[1], *path],
        document={"ops": args.op, "timeout": args.timeout},
        workers=min(args.jobs, len(pieces)), limit=30 * args.timeout,
        before=[*(before or ["env"]), *words],
    )  # fmt: skip
    outcome.seconds = time.monotonic() - start
    if outcome.cases < args.count:
        outcome.failures.append(f"{args.count - outcome.cases} cases were not run")
    return outcome


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point."""
    parser = argparse.ArgumentParser("python -m fuzz.run", description=__doc__)
    parser.add_argument("--op", action="append", default=[], help="only this operator; repeatable")
    parser.add_argument("--seed", type=int, default=0, help="first seed; one case per seed")
    parser.add_argument("--count", type=int, default=1000, help="number of cases")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="worker processes")
    parser.add_argument("--timeout", type=int, default=_TIME_LIMIT, help="seconds for one case")
    parser.add_argument("--progress", type=float, default=10, help="seconds between progress lines")
    parser.add_argument("--verbose", action="store_true", help="print every case")
    parser.add_argument("--sanitize", choices=("address", "thread"), help="an instrumented build")
    args = parser.parse_args(argv)
    try:
        outcome = drive(args)
    except AclgradError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(outcome.summary())
    for line in stale(outcome.excused) if args.count >= 1000 else []:
        print(line)
    if outcome.failures:
        print("to repeat one:")
        for failure in outcome.failures[:20]:
            print("  " + failure.partition("\n")[0])
    return 1 if outcome.failures else 0


if __name__ == "__main__":
    sys.exit(main())
