# SPDX-License-Identifier: Apache-2.0
"""What each choice of the tiling and the kernels earns: every tuning constant and every path of
choices.toml beside other values, by the timing model, and whether that is more than the model's
error. Where it is more than 3 %, each cost is halved and doubled as well. A change of the
tiling is timed on shapes that it plans otherwise: of the benchmarks, else of 20,000 random ones.
Results of unchanged sources are kept in build/choices. The first run takes about half an hour on
two idle cores, as each change builds its operator anew.

Usage: choices.py [--only WORDS] [--cost NAME=CYCLES] [--jobs N] [--record]
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import queue
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path

from rich.console import Console

from aclgrad.cli import progress_lines
from aclgrad.common import files
from aclgrad.errors import AclgradError
from aclgrad.profiling.alternatives import copy_sources, load
from aclgrad.profiling.calls import profile_sources, sources_inputs
from aclgrad.profiling.estimate import NOT_DECIDED, error_band, undecided
from aclgrad.runtime import open_device
from aclgrad.runtime.toolkit import sim_root
from aclgrad.spec import dtypes
from driver import tables
from driver.choice_list import (
    AS_IT_IS,
    ROOT,
    Alternative,
    Call,
    Planner,
    alternatives,
    benchmark_calls,
    parse_call,
    random_calls,
    spread,
)

WORK = ROOT / "build" / "choices"
MOST_CALLS = 3  # a change is timed on so many, unless it names more
NEAR = 0.03  # no cost is moved where two times differ by less
SAME = 1e-4  # two times that differ by less are equal
UNDECIDED = 1.0  # by what no rule tells apart, published variants differ by up to this


@dataclass(frozen=True)
class Times:
    """Microseconds of a launch: at the model's costs, and by cost with it halved and doubled."""

    us: float = 0.0
    moved: Mapping[str, Sequence[float]] = field(default_factory=dict)
    error: float = 0.0  # the model's, for what bounds this launch
    key: int = 0
    failed: str = ""
    # The reasons why no rule tells variants of such a launch apart.
    undecided: list[str] = field(default_factory=list)

    def at(self, cost: str, which: int) -> float:
        """With a cost halved (0) or doubled (1); a cost that it does not have changes nothing."""
        return self.moved[cost][which] if cost in self.moved else self.us


@dataclass(frozen=True)
class Gain:
    """What a choice earns on a call: the alternative's time by its own, less 1."""

    call: str
    key: int
    us: float
    now: float
    least: tuple[float, str]
    most: tuple[float, str]
    error: float
    undecided: str = ""

    @property
    def verdict(self) -> str:
        """What follows from it."""
        if self.undecided and self.error < abs(self.now) <= UNDECIDED:
            return f"{NOT_DECIDED}: {self.undecided}"
        if self.now > self.error:
            if self.least[0] < 0:
                return f"depends on {self.least[1]}"
            return f"earns {self.now:.0%}, above the error"
        if self.now < -self.error:
            return f"costs {-self.now:.0%}, above the error: the other one is better"
        for gain, cost in (self.least, self.most):
            if abs(gain) > self.error:
                return f"depends on {cost}"
        return "below the error: the simpler one will do"


def judge(call: str, chosen: Times, other: Times) -> Gain | None:
    """Compare a choice with an alternative; None where nothing differs."""
    gains = [(other.us / chosen.us - 1, "")]
    # The two are near if the alternative's costs were not moved.
    for cost in sorted({*chosen.moved, *other.moved} if other.moved else ()):
        for which, word in enumerate(("halved", "doubled")):
            gains.append((other.at(cost, which) / chosen.at(cost, which) - 1, f"{cost} {word}"))
    least, most = min(gains), max(gains)
    if max(-least[0], most[0]) < SAME and chosen.key == other.key:
        return None
    error = max(chosen.error, other.error)
    reasons = ", ".join(sorted({*chosen.undecided, *other.undecided}))
    return Gain(call, chosen.key, chosen.us, gains[0][0], least, most, error, reasons)


@dataclass
class Judged:
    """An alternative and what its calls say."""

    name: str
    gains: list[Gain]
    tried: int
    beyond: bool  # no shape of the benchmarks reaches it, a random one does
    failed: str = ""

    @property
    def deciding(self) -> Gain | None:
        """The call on which most is at stake by the model's error."""
        return max(self.gains, key=lambda gain: abs(gain.now) / gain.error, default=None)

    @property
    def verdict(self) -> str:
        """The verdict on the call that decides, unless another one rests on a cost."""
        if self.failed:
            return f"no other: {self.failed}"
        if self.deciding is None:
            return "no effect" if self.tried else "no effect: planned alike on all shapes"
        verdicts = [gain.verdict for gain in self.gains]
        dependent = next((words for words in verdicts if words.startswith("depends")), "")
        own = self.deciding.verdict
        return dependent if dependent and own.startswith("below") else own


def print_times(folder: Path) -> None:
    """Print the times of calls, in a process of its own: one process registers an operator once."""
    device = open_device("sim")
    for words, soc, beside in json.loads(sys.stdin.read()):
        at = words.index("--attr") if "--attr" in words else words.index("--op")
        attrs = [words[i + 1] for i, word in enumerate(words) if word == "--attr"]
        inputs = sources_inputs(str(folder), words[:at], dtypes.parse("fp32"), soc)
        times = Times()
        for moves in ("off", "on"):
            device.set_option("sensitivity", moves)
            try:
                found = profile_sources(str(folder), inputs, attrs, soc=soc, device=device)
            except AclgradError as error:
                why = " ".join(str(error).split())
                times = Times(failed=(why.partition("): ")[2] or why)[:100])
                break
            kernel = found.kernel
            rows = kernel.get("sensitivity", ()) if moves == "on" else ()
            moved = {row["cost"]: (row["halved"], row["doubled"]) for row in rows}
            failed = found.faults[0].kind if found.faults else ""
            key = int(kernel["tilingKey"])
            times = Times(found.us, moved, error_band(kernel), key, failed, undecided(kernel))
            if beside == 0 or abs(found.us / beside - 1) < NEAR:
                break
        print(json.dumps(asdict(times)))


class Timer:
    """Times calls of changed sources, as many at once as there are places to build them."""

    def __init__(self, jobs: int, cost: str) -> None:
        self.places: queue.Queue[Path] = queue.Queue(jobs)
        for at in range(jobs):
            self.places.put(WORK / f"place{at}")
        self.cost = cost
        self.store = WORK / "times.json"
        self.kept: dict[str, dict[str, object]] = (
            json.loads(self.store.read_text("utf-8")) if self.store.exists() else {}
        )
        toolkit = sim_root()
        parts = [toolkit / "lib64" / "libascendcl.so", toolkit / "lib64" / "libregister.so"]
        parts += sorted(path for path in (toolkit / "include").rglob("*.h") if path.is_file())
        self.simulator = hashlib.sha256(b"".join(path.read_bytes() for path in parts)).hexdigest()
        self.fresh: set[tuple[Path, str]] = set()

    def times(self, alternative: Alternative, calls: Mapping[Call, float]) -> dict[Call, Times]:
        """The times of calls, kept ones where sources and simulator are the same. Costs are moved
        for those that are not near a time; 0 is near all.
        """
        found: dict[Call, Times] = {}
        for op, soc in dict.fromkeys((call.case.op, call.soc) for call in calls):
            mine = {call: us for call, us in calls.items() if (call.case.op, call.soc) == (op, soc)}
            place = self.places.get()
            try:
                found.update(self._times(place, op, alternative, mine))
            finally:
                self.places.put(place)
        return found

    def _times(
        self, place: Path, op: str, alternative: Alternative, calls: Mapping[Call, float]
    ) -> Iterator[tuple[Call, Times]]:
        folder = place / op
        if (place, op) not in self.fresh:
            shutil.rmtree(folder, ignore_errors=True)
            copy_sources(ROOT, folder, op)
            self.fresh.add((place, op))
        with alternative.applied(folder):
            texts = [path.read_bytes() for path in sorted(folder.rglob("*.*")) if path.is_file()]
            content = [hashlib.sha256(b"".join(texts)).hexdigest(), self.simulator, self.cost]
            digests = {
                call: hashlib.sha256(json.dumps([*content, call.key, us]).encode()).hexdigest()
                for call, us in calls.items()
            }
            left = {call: us for call, us in calls.items() if digests[call] not in self.kept}
            for call, times in zip(left, self._run(folder, left) if left else (), strict=True):
                self.kept[digests[call]] = times
        for call in calls:
            yield call, Times(**self.kept[digests[call]])  # type: ignore[arg-type]

    def _run(self, folder: Path, calls: Mapping[Call, float]) -> list[dict[str, object]]:
        environment = {**os.environ, "ACLGRAD_SIM_THREADS": "1"}
        if self.cost:
            name, _, cycles = self.cost.partition("=")
            board = folder.parent / "board.json"
            overlay = {"overlay": {"costs": {name: float(cycles)}, "choices": {}}}
            files.write(board, json.dumps(overlay), str(board))
            environment["ACLGRAD_CALIBRATION"] = str(board)
        run = subprocess.run(
            [sys.executable, __file__, "--times", str(folder)],
            input=json.dumps([(call.words, call.soc, us) for call, us in calls.items()]),
            capture_output=True,
            text=True,
            env=environment,
        )
        found: list[dict[str, object]] = [json.loads(line) for line in run.stdout.splitlines()]
        why = (run.stderr.strip().splitlines() or [""])[-1][:100] or f"status {run.returncode}"
        return found + [{"failed": why}] * (len(calls) - len(found))

    def all_times(self, pool: ThreadPoolExecutor, calls: Mapping[Call, float]) -> dict[Call, Times]:
        """The times of calls of the sources as they are."""
        groups: dict[tuple[str, str], dict[Call, float]] = {}
        for at, (call, us) in enumerate(calls.items()):
            place = call.case.op, f"{call.soc} {at % self.places.maxsize}"
            groups.setdefault(place, {})[call] = us
        found: dict[Call, Times] = {}
        for times in pool.map(lambda group: self.times(AS_IT_IS, group), groups.values()):
            found.update(times)
            self.keep()
        return found

    def keep(self) -> None:
        """Keep the times for the next run."""
        files.write(self.store, json.dumps(dict(self.kept)), str(self.store))


def measure(only: str, cost: str, jobs: int) -> list[Judged]:
    """Every alternative on its calls."""
    listed = load(ROOT)
    chosen = [one for one in alternatives(listed) if only in one.name]
    calls, strange = benchmark_calls(listed), random_calls()
    planner, timer = Planner(WORK / "plans"), Timer(jobs, cost)
    with progress_lines.telling("choices"), ThreadPoolExecutor(jobs) as pool:

        def calls_of(one: Alternative) -> tuple[list[Call], str]:
            named = [parse_call(listed["cases"][name]) for name in one.calls]
            most = MOST_CALLS - len(named)
            try:
                found = spread(planner.reached(one, calls), planner.key, most)
                if not found and not named:
                    found = spread(planner.reached(one, strange), planner.key, 1)
            except AclgradError as error:
                return [], str(error)
            return list(dict.fromkeys([*named, *found])), ""

        asked = []
        for at, found in enumerate(pool.map(calls_of, chosen)):
            progress_lines.tell(f"plans: {chosen[at].name}", at, len(chosen))
            asked.append(found)
        wanted = dict.fromkeys(call for found, _ in asked for call in found)
        progress_lines.tell("times as they are", 0, len(chosen))
        own = timer.all_times(pool, dict.fromkeys(wanted, 0.0))
        others = []

        def timed(at: int) -> dict[Call, Times]:
            its = {call: own[call].us for call in asked[at][0] if not own[call].failed}
            return timer.times(chosen[at], its)

        for at, times in enumerate(pool.map(timed, range(len(chosen)))):
            progress_lines.tell(f"times: {chosen[at].name}", at, len(chosen))
            others.append(times)
            timer.keep()
        moved = {call for times in others for call, other in times.items() if other.moved}
        own.update(timer.all_times(pool, dict.fromkeys(moved, -1.0)))
        timer.keep()
    result = []
    for one, (its, failed), times in zip(chosen, asked, others, strict=True):
        failures = [other.failed for other in times.values() if other.failed]
        pairs = ((call, other) for call, other in times.items() if not other.failed)
        judged = [judge(call.key, own[call], other) for call, other in pairs]
        gains = [gain for gain in judged if gain]
        failed = failed or (failures[0] if failures and not gains else "")
        beyond = bool(its) and not set(calls).intersection(its)
        result.append(Judged(one.name, gains, len(its), beyond, failed))
    return result


HEADINGS = ["choice", "other", "call that decides", "key", "us", "earns", "at least", "at most"]
HEADINGS += ["error", "reached", "verdict"]


def row(one: Judged) -> list[str]:
    """A line of the table."""
    gain = one.deciding
    end = [f"{len(one.gains)} of {one.tried}", one.verdict]
    name, _, other = one.name.partition(" = ")
    if gain is None:
        return [name, other, *[""] * 7, *end]
    low, high = (f"{found:+.1%} {cost}".strip() for found, cost in (gain.least, gain.most))
    call = gain.call + (" (random)" if one.beyond else "")
    line = [name, other, call, str(gain.key), f"{gain.us:.1f}", f"{gain.now:+.1%}", low, high]
    return [*line, f"{gain.error:.0%}", *end]


def summary(found: Sequence[Judged]) -> tuple[tables.Table, tables.Table]:
    """The ten lines on which most is at stake by the model's error, and all."""
    kinds = Counter(re.split(r"[,:]| \d| on ", one.verdict)[0] for one in found)
    ranked = sorted(
        (one for one in found if one.deciding),
        key=lambda one: -abs(one.deciding.now) / one.deciding.error if one.deciding else 0.0,
    )
    counts = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())
    return (
        tables.Table("choices on which most is at stake", HEADINGS, list(map(row, ranked[:10]))),
        tables.Table("choices", HEADINGS, list(map(row, found)), f"{len(found)} lines: {counts}."),
    )


def main() -> int:
    """Entry point: 0."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", metavar="WORDS", help="alternatives that have them")
    parser.add_argument(
        "--cost", default="", metavar="NAME=CYCLES", help="with this cost in place of the model's"
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="built at once")
    parser.add_argument("--record", action="store_true", help="rewrite docs/reference/choices.md")
    parser.add_argument("--times", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.record and (options.only or options.cost):
        parser.error("--record: all at the model's costs. Next: leave --only and --cost out")
    if options.times:
        print_times(options.times)
        return 0
    console = Console(width=None if sys.stdout.isatty() else 200)
    found = measure(options.only, options.cost, options.jobs)
    for section, table in zip(("choices at stake", "choices"), summary(found), strict=True):
        table.show(console)
        if options.record:
            tables.record(section, table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
