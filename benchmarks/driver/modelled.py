# SPDX-License-Identifier: Apache-2.0
"""What the timing model says of a case: the same figures on every machine."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

from aclgrad.common import temporary
from aclgrad.profiling.calls import profiling
from aclgrad.profiling.estimate import before_us, error_band, shares
from aclgrad.profiling.profiled import Profiled
from aclgrad.runtime import Device, open_device
from driver import classes
from driver.calls import Call, WrongNumbersError
from driver.cases import SOC, BenchmarkCase

Row = dict[str, Any]

LOW = 0.75  # of the bandwidth bound; what limits a case below it is looked for
PIPES = {"mte2": "MTE2", "vec": "VECTOR", "mte3": "MTE3"}  # what each tile passes in turn
WORKS = ("memory", "l2", "scalar", *PIPES)  # what may work all the time


def start(threads: int) -> None:
    """Prepare a process that measures."""
    # The caller's settings of the simulator are not this measurement's.
    for name in [name for name in os.environ if name.startswith("ACLGRAD_SIM_")]:
        del os.environ[name]
    device = open_device("sim")
    device.set_option("soc", SOC)
    device.set_option("threads", str(threads))


def measure(case: BenchmarkCase, soc: str = SOC) -> Row:
    """One launch: its numbers are checked, then its estimate is looked at."""
    device = open_device("sim")
    if soc != SOC:
        device.set_option("soc", soc)
    call = Call(device, case)
    try:
        with profiling(device):
            call.launch()
        launches = device.profiles()
        call.check()
        found = Profiled(
            case.op, case.dims, case.alias, soc, launches, call.read_bytes, call.write_bytes
        )
        limit = limit_of(device, found) if found.of_bound < LOW else {}
    except WrongNumbersError as error:
        return {"case": case.key, "error": str(error)}
    finally:
        call.close()
        device.clear_profiles()
        if soc != SOC:
            device.set_option("soc", SOC)
    return {
        "case": case.key,
        "us": round(found.us, 3),
        "share": round(found.of_bound, 4),
        "traffic": round(found.traffic, 4),
        "bound by": found.bound.key,
        **limit,
        "band": error_band(found.kernel),
        "cores": len(found.kernel["cores"]),
        "above": found.us - before_us(found.kernel) - classes.copies_us(found.kernel, case),
    }


def limit_of(device: Device, found: Profiled) -> Row:
    """What keeps a case from its bandwidth bound, and which part of the time that accounts for.

    Nothing is faster than the launch and the work of any one unit. Each tile passes MTE2, VECTOR
    and MTE3 in turn, so no order of the same tiles is faster than, for any of the three: what comes
    before its first work, its work, and what comes behind its last one (the bound of a flow shop by
    one machine), on the core that ends last. The larger of both is taken: a pipe that waits at a
    barrier for its own results works as well.
    """
    kernel = found.kernel
    launch = before_us(kernel) / found.us
    used = shares(kernel)
    limits = {name: (launch + used[name] * (1 - launch), launch) for name in WORKS}
    cores = kernel["cores"]
    last = max(range(len(cores)), key=lambda core: cores[core]["cycles"])
    with temporary.folder() as folder:
        path = folder / "trace.json"
        device.write_trace(found.main, [last], path)
        events = json.loads(path.read_text("utf-8"))["traceEvents"]
    for name, lane in PIPES.items():
        first, behind, work = span(event for event in events if event.get("tid") == lane)
        outside = found.us - (behind - first) if work else 0.0
        limits[name] = max(limits[name], ((outside + work) / found.us, outside / found.us))
    name = max(limits, key=lambda name: limits[name])
    of_limit, outside = limits[name]
    return {"limit": name, "of limit": round(of_limit, 4), "outside": round(outside, 4)}


def span(events: Iterable[Mapping[str, Any]]) -> tuple[float, float, float]:
    """First start, last end and working time of a pipe's slices, which may lie over one another."""
    slices = sorted((e["ts"], e["ts"] + e["dur"]) for e in events if e["ph"] == "X")
    if not slices:
        return 0.0, 0.0, 0.0
    work, until = 0.0, slices[0][0]
    for start, stop in slices:
        work += max(0.0, stop - max(start, until))
        until = max(until, stop)
    return slices[0][0], until, work


def measure_all(
    cases: Sequence[BenchmarkCase], jobs: int, socs: Sequence[str] | None = None
) -> Iterator[Row]:
    """Measure in several processes, the largest cases first; in the order of the list."""
    threads = max(1, (os.cpu_count() or 1) // jobs)
    order = sorted(range(len(cases)), key=lambda at: -cases[at].size)
    with ProcessPoolExecutor(
        jobs, mp_context=get_context("spawn"), initializer=start, initargs=(threads,)
    ) as pool:
        pending = {at: pool.submit(measure, cases[at], socs[at] if socs else SOC) for at in order}
        for at in range(len(cases)):
            yield pending[at].result()
