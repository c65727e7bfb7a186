# SPDX-License-Identifier: Apache-2.0
"""What the timing model says of a case: the same figures on every machine."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

from aclgrad.profiling.calls import profiling
from aclgrad.profiling.estimate import before_us, error_band, shares
from aclgrad.profiling.profiled import Profiled
from aclgrad.runtime import open_device
from driver import classes
from driver.calls import Call, WrongNumbersError
from driver.cases import SOC, Case

Row = dict[str, Any]

LIMITS = ("memory", "l2", "vec", "scalar", "mte2", "mte3")  # what may be busy all the time


def start(threads: int) -> None:
    """Prepare a process that measures."""
    # The caller's settings of the simulator are not this measurement's.
    for name in [name for name in os.environ if name.startswith("ACLGRAD_SIM_")]:
        del os.environ[name]
    device = open_device("sim")
    device.set_option("soc", SOC)
    device.set_option("threads", str(threads))


def measure(case: Case, soc: str = SOC) -> Row:
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
    except WrongNumbersError as error:
        return {"case": case.key, "error": str(error)}
    finally:
        call.close()
        device.clear_profiles()
        if soc != SOC:
            device.set_option("soc", SOC)
    found = Profiled(
        case.op, case.dims, case.alias, soc, launches, call.read_bytes, call.write_bytes
    )
    used = {name: share for name, share in shares(found.kernel).items() if name in LIMITS}
    busiest = max(used, key=lambda name: used[name])
    launch = before_us(found.kernel) / found.us
    return {
        "case": case.key,
        "us": round(found.us, 3),
        "share": round(found.of_bound, 4),
        "traffic": round(found.traffic, 4),
        "bound by": found.bound.key,
        "busiest": busiest,
        "of busiest": round(launch + used[busiest] * (1 - launch), 4),
        "band": error_band(found.kernel),
        "cores": len(found.kernel["cores"]),
        "above": found.us - before_us(found.kernel) - classes.copies_us(found.kernel, case),
    }


def measure_all(
    cases: Sequence[Case], jobs: int, socs: Sequence[str] | None = None
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
