# SPDX-License-Identifier: Apache-2.0
"""What the engine of campaigns costs: per piece, with two workers against one, and in memory of the
client for a million cases. README.md beside it says how.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from aclgrad.campaign import expand, run_campaign
from aclgrad.campaign.plans import description
from aclgrad.campaign.plans.plan import Plan
from aclgrad.campaign.results.store import Ranges, Store
from aclgrad.campaign.results.summary import summary
from aclgrad.campaign.workers import cluster
from aclgrad.campaign.workers.cluster import Piece

MILLION = 'operators = "softmax_grad"\ndtypes = "fp32"\nshapes = "1..1000x1..1000"\n'


class Sleeper:
    """A case that takes its time and none of the processor's."""

    def __init__(self, document: Any, folder: str) -> None:
        self.seconds = float(document["seconds"])

    def __call__(self, item: int) -> dict[str, Any]:
        """Sleep."""
        started = time.perf_counter()
        time.sleep(self.seconds)
        return {"index": item, "verdict": "passed", "slept": time.perf_counter() - started}


class Pieces:
    """Pieces of sleeping cases."""

    def __init__(self, count: int, cases: int) -> None:
        self.left = [Piece(((at * cases, (at + 1) * cases),)) for at in range(count)]
        self.slept = 0.0

    def take(self) -> Piece | None:
        """The next one."""
        return self.left.pop() if self.left else None

    def give(self, piece: Piece, result: dict[str, Any]) -> None:
        """Add up what was slept."""
        self.slept += sum(row["slept"] for row in result["rows"])


def engine(workers: int, pieces: int, cases: int, seconds: float) -> tuple[float, float]:
    """Wall time of pieces, and the time that their cases slept."""
    setup = {
        "call": "campaign:Sleeper", "path": [str(Path(__file__).resolve().parent)],
        "document": {"seconds": seconds},
    }  # fmt: skip
    with cluster.opened(None, workers) as crew:
        crew.upload({}, setup)
        crew.run(Pieces(workers, 1))  # children start
        source = Pieces(pieces, cases)
        started = time.perf_counter()
        crew.run(source)
        return time.perf_counter() - started, source.slept


def memory(rows: bool) -> None:
    """Print the client's peak in MB: after imports, with a million cases handed out, and after the
    summary of a million rows.
    """
    cluster.need("pyarrow")

    def peak() -> float:
        # The status is of this program alone; what getrusage says is that of whoever started it,
        # too.
        status = Path("/proc/self/status").read_text("ascii")
        return int(status.partition("VmHWM:")[2].split()[0]) / 1024

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        file = folder / "million.toml"
        file.write_text(MILLION)
        said = [peak()]
        campaign = description.load(file)
        plan = expand.expand(campaign).plan
        store, tally = Store(folder / "out"), run_campaign.Tally(plan.size)
        source = run_campaign.Sweeps(plan, Ranges(), store, tally, "1", campaign.piece)
        pieces = 0
        while source.take() is not None:
            pieces += 1
        said.append(peak())
        if rows:
            fill(store, plan)
            summary(store, file, None)
            said.append(peak())
        print(plan.size, pieces, *(f"{value:.0f}" for value in said))


def fill(store: Store, plan: Plan) -> None:
    """Write a row for every case."""
    store.begin({"digest": "0", "version": "1", "title": "million", "cases": plan.size})
    step = 2000
    for first in range(0, plan.size, step):
        cases = (plan.cell(at).about() for at in range(first, first + step))
        store.add([{**row, "verdict": "passed", "worst_ulp": 0.5} for row in cases], "1")
    store.gather()


def main() -> None:
    """Entry point."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pieces", type=int, default=20, help="for each worker")
    parser.add_argument("--cases", type=int, default=20, help="of a piece")
    parser.add_argument("--seconds", type=float, default=0.05, help="of a case")
    parser.add_argument("--rows", action="store_true", help="store a million rows as well")
    parser.add_argument("--memory", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.memory:
        memory(options.rows)
        return
    walls = {}
    for workers in (1, 2):
        pieces = 2 * options.pieces  # the same work for one and for two
        walls[workers], slept = engine(workers, pieces, options.cases, options.seconds)
        cost = workers * walls[workers] / slept - 1
        print(
            f"{workers} workers: {pieces} pieces of {slept / pieces:.2f} s in"
            f" {walls[workers]:.2f} s: the engine costs {cost:.2%},"
            f" {1e3 * cost * slept / pieces:.1f} ms a piece"
        )
    print(f"two workers against one: {walls[1] / walls[2]:.2f} times")
    words = [sys.executable, __file__, "--memory", *(["--rows"] if options.rows else [])]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    cases, pieces, *peaks = done.stdout.split()
    print(f"{cases} cases in {pieces} pieces: peak of the client {' MB, '.join(peaks)} MB")


if __name__ == "__main__":
    main()
