# SPDX-License-Identifier: Apache-2.0
"""Whether the tiling's choices hold when a cost of the timing model is wrong: on each path, its
time by that of an alternative, with each cost as it is, halved and doubled. choices.toml beside it
has the alternatives. Cores share an axis only where that earns more than a tenth even if their
flags take four times as long.

Usage: choices.py [--only WORDS] [--record]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console

from aclgrad.cli import lines
from aclgrad.common import files
from aclgrad.profiling.alternatives import applied, copy_sources, load
from aclgrad.profiling.calls import profile_sources, sources_inputs
from aclgrad.runtime import Device, open_device
from aclgrad.spec import dtypes
from driver import tables

ROOT = Path(__file__).resolve().parents[1]
SOC = "Ascend910B2"
HOLDS = 1.15
"""The most that a choice may take by its alternative."""
ALONE = "each core alone"
EARNS = 0.9
"""The most that cores which share may take by those that do not, with SLOW_FLAGS."""
SLOW_FLAGS = {"scalar.meet": 4000.0}


@dataclass(frozen=True)
class Times:
    """Microseconds of a launch: at the model's costs, and by cost with it halved and doubled."""

    us: float
    moved: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    def at(self, cost: str, which: int) -> float:
        """With a cost halved (0) or doubled (1); a cost that it does not have changes nothing."""
        return self.moved[cost][which] if cost in self.moved else self.us


@dataclass(frozen=True)
class Verdict:
    """A choice by an alternative: ratios of their times, and where the worst one is."""

    ratio: float
    worst: float
    where: str
    most: float = HOLDS

    @property
    def holds(self) -> bool:
        """Whether it is near the alternative, or better, whatever cost is wrong."""
        return self.worst <= self.most


def judge(chosen: Times, other: Times) -> Verdict:
    """Compare a choice with an alternative."""
    ratio = chosen.us / other.us
    worst, where = ratio, ""
    for cost in sorted({*chosen.moved, *other.moved}):
        for which, word in enumerate(("halved", "doubled")):
            found = chosen.at(cost, which) / other.at(cost, which)
            if found > worst * (1 + 1e-6):
                worst, where = found, f"{cost} {word}"
    return Verdict(ratio, worst, where)


def judge_sharing(chosen: Times, slow: Times, alone: Times) -> Verdict:
    """Compare cores that share, as modelled and with slow flags, with those that do not."""
    ratio = slow.us / alone.us
    return Verdict(chosen.us / alone.us, ratio, "flags between cores at four times", EARNS)


def times(device: Device, sources: Path, shape: str, axis: int, alias: str) -> Times:
    """One launch."""
    inputs = sources_inputs(str(sources), [shape], dtypes.parse(alias), SOC)
    found = profile_sources(str(sources), inputs, [f"axes=[{axis}]"], soc=SOC, device=device)
    rows = found.kernel["sensitivity"]
    return Times(found.us, {row["cost"]: (row["halved"], row["doubled"]) for row in rows})


@dataclass
class Choice:
    """A case of the list in one dtype, and what it takes."""

    case: Mapping[str, Any]
    alias: str
    chosen: Times | None = None
    verdicts: dict[str, Verdict] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """Shape, dtype, axis."""
        axis = f" axis {self.case['axis']}" if "axis" in self.case else ""
        return f"{self.case['shape']} {self.alias}{axis}"


def apart(
    folder: Path, choices: Sequence[Choice], costs: Mapping[str, float] | None = None
) -> list[Times]:
    """Their times, in a process of its own: one process registers an operator once."""
    environment = dict(os.environ)
    if costs:
        board = folder / "board.json"
        overlay = {"costs": dict(costs), "choices": {}}
        files.write(board, json.dumps({"overlay": overlay}), str(board))
        environment["ACLGRAD_CALIBRATION"] = str(board)
    work = [[choice.case["shape"], choice.case.get("axis", -1), choice.alias] for choice in choices]
    command = [sys.executable, __file__, "--times", str(folder)]
    run = subprocess.run(
        command,
        input=json.dumps(work),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        env=environment,
    )
    found = json.loads(run.stdout.splitlines()[-1])
    return [
        Times(us, {cost: (halved, doubled) for cost, halved, doubled in moved})
        for us, moved in found
    ]


def print_times(folder: Path) -> None:
    """What `apart` reads: for each case the time, and costs with it halved and doubled."""
    device = open_device("sim")
    device.set_option("sensitivity", "on")
    found = [times(device, folder, *words) for words in json.loads(sys.stdin.read())]
    print(
        json.dumps([(one.us, [(name, *both) for name, both in one.moved.items()]) for one in found])
    )


def measure(only: str, console: Console) -> list[Choice]:
    """All choices by their alternatives."""
    listed = load(ROOT)
    choices = [Choice(case, alias) for case in listed["cases"] for alias in case["dtype"]]
    choices = [choice for choice in choices if only in f"{choice.case['path']} {choice.key}"]
    with tempfile.TemporaryDirectory() as made, lines.telling("timing choices"):
        folder = Path(made)
        copy_sources(ROOT, folder, "softmax_grad")
        for choice, found in zip(choices, apart(folder, choices), strict=True):
            choice.chosen = found
            console.print(choice.case["path"], choice.key, f"{found.us:.1f} us")
        shared = [choice for choice in choices if ALONE in choice.case["against"]]
        slow = apart(folder, shared, SLOW_FLAGS) if shared else []
        for number, (name, change) in enumerate(listed["alternatives"].items()):
            lines.tell(f"timing choices against {name}", number, len(listed["alternatives"]))
            against = [choice for choice in choices if name in choice.case["against"]]
            if not against:
                continue
            with applied(folder, name, change):
                others = apart(folder, against)
            for choice, other in zip(against, others, strict=True):
                assert choice.chosen is not None
                verdict = (
                    judge_sharing(choice.chosen, slow[shared.index(choice)], other)
                    if name == ALONE
                    else judge(choice.chosen, other)
                )
                choice.verdicts[name] = verdict
                console.print(
                    f"{choice.key}, {name}: {verdict.ratio:.2f}, at worst {verdict.worst:.2f}"
                    f" {verdict.where}"
                )
    return choices


def table(choices: Sequence[Choice]) -> tables.Table:
    """A line per alternative; * marks those that a wrong cost makes better by more than HOLDS."""
    rows = [
        (choice, name, verdict) for choice in choices for name, verdict in choice.verdicts.items()
    ]
    broken = sum(not verdict.holds for _, _, verdict in rows)
    return tables.Table(
        f"choices on {SOC}: time by that of an alternative",
        ["path", "case", "us", "alternative", "as modelled", "at worst", "where"],
        [
            [
                choice.case["path"],
                choice.key,
                f"{choice.chosen.us:.1f}" if choice.chosen else "",
                name,
                f"{verdict.ratio:.2f}",
                f"{verdict.worst:.2f}{'' if verdict.holds else '*'}",
                verdict.where,
            ]
            for choice, name, verdict in rows
        ],
        f"{len(rows)} alternatives; {broken} would be better by more than {HOLDS - 1:.0%} (marked"
        f" *) if one cost were wrong by a factor of two. Those that share an axis take at most"
        f" {EARNS:.0%} of a core's time alone, with flags of four times the assumed cost.",
    )


def main() -> int:
    """Entry point: 0."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", metavar="WORDS", help="cases that have them")
    parser.add_argument("--record", action="store_true", help="rewrite the table of the document")
    parser.add_argument("--times", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.only and options.record:
        parser.error("--record: all cases or none. Next: leave --only out")
    if options.times:
        print_times(options.times)
        return 0
    console = Console(width=None if sys.stdout.isatty() else 160)
    found = table(measure(options.only, console))
    found.show(console)
    if options.record:
        tables.record("choices", found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
