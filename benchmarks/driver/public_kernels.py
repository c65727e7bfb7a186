# SPDX-License-Identifier: Apache-2.0
"""Public kernels of the same operations on the same simulator, from a checkout of their library."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from aclgrad.errors import AclgradError
from aclgrad.profiling.calls import profiling
from aclgrad.project import running
from aclgrad.runtime import open_device
from driver import modelled, values
from driver.cases import SOC, Case, PublicKernel

Row = dict[str, Any]

LEAST_RATIO = 1.0
LEAST_MEAN = 1.5

_FAULT = "kernel fault ["


def measure(public: PublicKernel, checkout: Path, cases: Sequence[Case]) -> list[Row]:
    """All cases of one operator, in a process that holds none of our kernels: theirs have the same
    names.
    """
    return [_measure(public, checkout, case) for case in cases]


def _measure(public: PublicKernel, checkout: Path, case: Case) -> Row:
    row: Row = {"case": case.key}
    device = open_device("sim")
    if case.reduced[2] > 1 and not any("{dim}" in word for word in public.attrs):
        return row | {"refused": "reduces the last dim only"}
    words = [word.format(**case.attrs) for word in public.attrs]
    inputs = [[values.whole(case, name)] for name in public.inputs]
    try:
        with profiling(device):
            result = running.run(
                str(checkout / public.path),
                inputs,
                words,
                soc=SOC,
                open_device=lambda: device,
            )
        launches = device.profiles()
    except AclgradError as error:
        text = str(error)
        return row | ({"stopped": _fault(text)} if _FAULT in text else {"refused": _last(text)})
    finally:
        device.clear_profiles()
    output = next(iter(result.outputs.values())).reshape(-1)
    report = values.check(case, output)
    if not report.passed:
        return row | {"wrong": "; ".join(report.reasons)}
    return row | {"us": round(sum(float(launch["microseconds"]) for launch in launches), 3)}


def _fault(text: str) -> str:
    """Kind, place and reason of a kernel fault's report."""
    head, *lines = [line.strip() for line in text[text.index(_FAULT) :].splitlines()]
    kind = head.removeprefix(_FAULT).partition("]")[0]
    place = next((line for line in lines if line.startswith("at ")), "").rsplit("/", 1)[-1]
    reason = next((line for line in lines[2:] if line), "")
    return f"{kind} at {place}: {reason}"


def _last(text: str) -> str:
    return [line.strip() for line in text.splitlines() if line.strip()][-1]


def compare(
    public_kernels: Sequence[PublicKernel], checkout: Path, cases: Sequence[Case], jobs: int
) -> Iterator[Row]:
    """Ours and theirs, case by case."""
    for public in public_kernels:
        if not (checkout / public.path).is_dir():
            raise SystemExit(
                f"--against {checkout}: there is no folder {public.path}. Next: give the root of a"
                " checkout of the library"
            )
    by_op = {
        public.op: [case for case in cases if case.op == public.op] for public in public_kernels
    }
    chosen = [case for public in public_kernels for case in by_op[public.op]]
    with ProcessPoolExecutor(
        jobs,
        mp_context=get_context("spawn"),
        initializer=modelled.start,
        initargs=(1,),
    ) as pool:
        pending = [
            pool.submit(measure, public, checkout, by_op[public.op])
            for public in public_kernels
            if by_op[public.op]
        ]
        theirs = {row["case"]: row for job in pending for row in job.result()}
    for ours in modelled.measure_all(chosen, jobs):
        row = {**theirs[ours["case"]], "ours": ours.get("us"), "theirs": None, "ratio": None}
        if "error" in ours:
            row["error"] = ours["error"]
        if "us" in row and ours.get("us"):
            row["theirs"] = row.pop("us")
            row["ratio"] = round(row["theirs"] / row["ours"], 3)
        yield row


def mean(rows: Sequence[Row]) -> float | None:
    """Geometric mean of the ratios that there are."""
    ratios = [row["ratio"] for row in rows if row["ratio"] is not None]
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else None


def failures(rows: Sequence[Row]) -> list[str]:
    """What the comparison does not meet."""
    lines = [row["error"] for row in rows if "error" in row]
    lines += [
        f"{row['case']}: {row['ours']} us, theirs {row['theirs']} us: slower"
        for row in rows
        if row["ratio"] is not None and row["ratio"] < LEAST_RATIO
    ]
    overall = mean(rows)
    if overall is None:
        lines.append("no case ran on both sides")
    elif overall < LEAST_MEAN:
        lines.append(f"geometric mean {overall:.2f}, want at least {LEAST_MEAN}")
    return lines
