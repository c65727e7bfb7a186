# SPDX-License-Identifier: Apache-2.0
"""Command line of the fuzzer: worker processes that run seeds, a parent that outlives them.

The line of a case is in its worker's log file before the first call of the case, so a crash names
its case.
"""

from __future__ import annotations

import argparse
import faulthandler
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aclgrad.ops import all_specs, find
from aclgrad.spec.op_spec import OpSpec
from fuzz import leaks
from fuzz.draw import Drawn, draw
from fuzz.ledger import Finding, excuse, stale

_TIME_LIMIT = 60
"""Seconds that one case may take, also in an instrumented build."""

_REPORT_SECONDS = 0.5
_LEAK_CASES = 40
_LEAK_FROM = 500
"""Cases of a worker from which on its end looks for leaks."""


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


def work(args: argparse.Namespace) -> int:
    """Run every ``step``-th seed and report as lines of JSON."""
    # Only a worker loads the libraries.
    from aclgrad.runtime import open_device
    from fuzz.abi import Abi
    from fuzz.execute import Runner

    specs = [find(word) for word in args.op] or list(all_specs())
    abi = Abi(open_device("sim"))
    runner = Runner(abi)
    recent: list[Drawn] = []
    done = 0
    reported = time.monotonic()

    def report(**extra: Any) -> None:
        state = {
            "cases": done,
            "calls": abi.calls,
            "launches": runner.ran,
            "codes": dict(runner.codes),
        }
        print(json.dumps({**state, **extra}), flush=True)

    log = os.open(args.log, os.O_CREAT | os.O_RDWR | os.O_TRUNC)
    for seed in range(args.seed, args.seed + args.count, args.step):
        case = draw(seed, spec_of(seed, specs), abi.socs)
        line = f"{seed} {case.describe()}\n".encode()
        os.pwrite(log, line, 0)
        os.ftruncate(log, len(line))
        faulthandler.dump_traceback_later(args.timeout, exit=True)
        ran = runner.ran
        try:
            runner.run(case)
            if len(recent) < _LEAK_CASES and (runner.ran > ran or seed % 5 == 0):
                recent.append(case)
        except Exception as error:
            text = str(error) if type(error).__name__ == "Mismatch" else repr(error)
            report(repro=case.repro, failed=f"{text}\n    {case.describe()}")
        done += 1
        if args.verbose:
            print(case.describe(), file=sys.stderr)
        if time.monotonic() - reported > _REPORT_SECONDS:
            reported = time.monotonic()
            report()
    if done >= _LEAK_FROM:
        faulthandler.dump_traceback_later(20 * args.timeout, exit=True)
        calls, results, codes = abi.calls, runner.ran, Counter(runner.codes)
        grown = leaks.check(abi, runner, recent)
        abi.calls, runner.ran, runner.codes = calls, results, codes
        if grown:
            first = recent[0].seed if recent else args.seed
            command = f"python -m fuzz.run --seed {args.seed} --count {args.count} --jobs 1"
            report(repro=command, failed=f"{grown}; first of the repeated cases: seed {first}")
    faulthandler.cancel_dump_traceback_later()
    report(end=True)
    return 0


class Worker(threading.Thread):
    """Drives one worker process, and starts another one after a crash."""

    def __init__(self, index: int, args: argparse.Namespace, folder: Path, lock: Any) -> None:
        super().__init__(daemon=True)
        self.index, self.args, self.lock = index, args, lock
        self.log = folder / f"worker-{index}.case"
        self.errors = folder / f"worker-{index}.err"
        self.first = args.seed + index
        self.total = Outcome()  # of processes that are gone
        self.now = Outcome()
        self.crashes = 0

    def run(self) -> None:
        """Run until the seeds are used up."""
        end = self.args.seed + self.args.count
        while self.first < end and self.crashes < self.args.max_crashes:
            if not self.process(end):
                return

    def process(self, end: int) -> bool:
        """One process; True when seeds are left after a crash."""
        command = [sys.executable, "-m", "fuzz.run", "--worker", "--seed", str(self.first)]
        command += ["--count", str(end - self.first), "--step", str(self.args.jobs)]
        command += ["--log", str(self.log), "--timeout", str(self.args.timeout)]
        command += [word for op in self.args.op for word in ("--op", op)]
        command += ["--verbose"] * self.args.verbose
        self.log.unlink(missing_ok=True)
        ended = False
        with self.errors.open("wb") as errors:
            child = subprocess.Popen(
                command,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                env={**os.environ, **leaks.EXACT},
            )
            assert child.stdout is not None
            for line in child.stdout:
                if not line.startswith("{"):
                    continue
                ended = self.note(json.loads(line)) or ended
            status = child.wait()
        if self.args.verbose:
            print(self.errors.read_text(errors="replace"), end="")
        for key in ("cases", "calls", "launches"):
            setattr(self.total, key, getattr(self.total, key) + getattr(self.now, key))
        self.total.codes += self.now.codes
        self.now = Outcome()
        if ended and status == 0:
            return False
        self.crashes += 1
        return self.crashed(status)

    def note(self, state: dict[str, Any]) -> bool:
        """Take one line of a worker in; True for its last."""
        self.now.cases, self.now.calls = state["cases"], state["calls"]
        self.now.launches, self.now.codes = state["launches"], Counter(state["codes"])
        if "failed" in state:
            with self.lock:
                self.total.fail(state["repro"], state["failed"])
        return bool(state.get("end"))

    def crashed(self, status: int) -> bool:
        text = self.errors.read_text(errors="replace")
        # A sanitizer says first what is wrong, the rest is stacks.
        says = ("ERROR: AddressSanitizer", "runtime error:", "WARNING: ThreadSanitizer")
        start = max(0, *map(text.find, says))
        report = text[max(start - 200, 0) : start + 3000] or "no output"
        what = signal.Signals(-status).name if status < 0 else f"exit status {status}"
        line = self.log.read_text() if self.log.exists() else ""
        seed, _, case = line.strip().partition(" ")
        with self.lock:
            if not seed:
                self.total.fail(
                    "python -m fuzz.run", f"a worker died before its first case: {what}\n{report}"
                )
                return False
            repro, _, text = case.partition(" # ")
            self.total.fail(repro, f"the process died: {what}\n    {case}\n{report}")
        # Counts come twice a second; the log knows how far it was.
        self.total.cases = (int(seed) - self.args.seed - self.index) // self.args.jobs + 1
        self.first = int(seed) + self.args.jobs
        return True


def drive(args: argparse.Namespace) -> Outcome:
    """Share the seeds out to worker processes and add up what they find."""
    start = time.monotonic()
    folder = Path(args.log_dir or tempfile.mkdtemp(prefix="aclgrad-fuzz-"))
    folder.mkdir(parents=True, exist_ok=True)
    print(f"seeds {args.seed}..{args.seed + args.count - 1}, {args.jobs} workers, logs in {folder}")
    lock = threading.Lock()
    workers = [Worker(index, args, folder, lock) for index in range(min(args.jobs, args.count))]
    for worker in workers:
        worker.start()
    shown = start
    while any(worker.is_alive() for worker in workers):
        time.sleep(0.1)
        if time.monotonic() - shown > args.progress:
            shown = time.monotonic()
            cases = sum(worker.total.cases + worker.now.cases for worker in workers)
            failures = sum(len(worker.total.failures) for worker in workers)
            speed = cases / (shown - start)
            print(f"{cases}/{args.count} cases, {speed:.0f}/s, {failures} failures", flush=True)
    outcome = Outcome(seconds=time.monotonic() - start)
    for worker in workers:
        outcome.cases += worker.total.cases
        outcome.calls += worker.total.calls
        outcome.launches += worker.total.launches
        outcome.codes += worker.total.codes
        outcome.failures += worker.total.failures
        outcome.excused |= worker.total.excused
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
    parser.add_argument("--max-crashes", type=int, default=20, help="per worker, then it stops")
    parser.add_argument("--progress", type=float, default=10, help="seconds between progress lines")
    parser.add_argument("--log-dir", help="where the workers' last cases and errors go")
    parser.add_argument("--verbose", action="store_true", help="print every case")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--step", type=int, default=1, help=argparse.SUPPRESS)
    parser.add_argument("--log", default=os.devnull, help=argparse.SUPPRESS)
    args = parser.parse_args(argv)
    if args.worker:
        return work(args)
    outcome = drive(args)
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
