# SPDX-License-Identifier: Apache-2.0
"""Public kernels of the same operations on the same simulator, from a checkout of their library."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from aclgrad.campaign import cluster
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


def asks(
    public_kernels: Sequence[PublicKernel], checkout: Path, cases: Sequence[Case]
) -> list[tuple[Case, tuple[Row, list[Any]]]]:
    """Cases that both have, and what `Ours` and `Theirs` are asked of each. Raises ValueError."""
    for public in public_kernels:
        if not (checkout / public.path).is_dir():
            raise ValueError(
                f"--against {checkout}: there is no folder {public.path}. Next: give the root of a"
                " checkout of the library"
            )
    found: list[tuple[Case, tuple[Row, list[Any]]]] = []
    for public in public_kernels:
        for case in (case for case in cases if case.op == public.op):
            found.append((case, (_plain(case), [asdict(public), str(checkout), _plain(case)])))
    return found


def compare(
    public_kernels: Sequence[PublicKernel], checkout: Path, cases: Sequence[Case], jobs: int
) -> Iterator[Row]:
    """Ours and theirs, case by case."""
    asked = asks(public_kernels, checkout, cases)
    chosen = [case for case, _ in asked]
    theirs = {
        row["case"]: row for row in _rows("Theirs", [ask[1] for _, ask in asked], chosen, jobs)
    }
    for ours in _rows("Ours", [ask[0] for _, ask in asked], chosen, jobs):
        row = {**theirs[ours["case"]], "ours": ours.get("us"), "theirs": None, "ratio": None}
        if "error" in ours:
            row["error"] = ours["error"]
        if "us" in row and ours.get("us"):
            row["theirs"] = row.pop("us")
            row["ratio"] = round(row["theirs"] / row["ours"], 3)
        yield row


def _rows(name: str, items: Sequence[Any], chosen: Sequence[Case], jobs: int) -> list[Row]:
    """What campaigns' engine brings of each item."""
    found: list[Row] = [{} for _ in items]

    def done(at: int, row: Row) -> None:
        case: Row = {"case": chosen[at].key}
        if "verdict" in row:  # of a process that ended
            row = {"stopped" if name == "Theirs" else "error": f"{chosen[at].key}: {row['cause']}"}
        found[at] = {**case, **row}

    folder = Path(__file__).resolve().parents[1]
    cluster.each(f"driver.public_kernels:{name}", items, done, path=[folder], workers=jobs)
    return found


def _plain(case: Case) -> Row:
    return {"op": case.op, "shape": case.shape, "alias": case.alias, "given": case.given}


def _case(item: Row) -> Case:
    given = tuple((name, value) for name, value in item["given"])
    return Case(item["op"], tuple(item["shape"]), item["alias"], given)


class Ours:
    """Measures our kernels, in a process that holds none of theirs."""

    def __init__(self, document: Any, folder: str) -> None:
        modelled.start(1)

    def __call__(self, item: Row) -> Row:
        """One case."""
        return modelled.measure(_case(item))


class Theirs:
    """Measures public kernels, in a process that holds none of ours."""

    def __init__(self, document: Any, folder: str) -> None:
        modelled.start(1)

    def __call__(self, item: Sequence[Any]) -> Row:
        """One case of an operator of a checkout."""
        public, checkout, case = item
        listed: Row = {key: tuple(value) if isinstance(value, list) else value
                  for key, value in public.items()}  # fmt: skip
        return measure(PublicKernel(**listed), Path(checkout), [_case(case)])[0]


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
