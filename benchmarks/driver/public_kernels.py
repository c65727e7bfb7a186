# SPDX-License-Identifier: Apache-2.0
"""Public kernels of the same operations on the same simulator, from a checkout of their library."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from aclgrad.campaign.workers import worker
from aclgrad.campaign.workers.child import Child, ChildError
from aclgrad.common import files
from aclgrad.errors import AclgradError
from aclgrad.findings.finding import Finding
from aclgrad.profiling.calls import profiling
from aclgrad.reading.sources import SourcesError
from aclgrad.running import operator_call
from aclgrad.runtime import open_device
from driver import modelled, values
from driver.cases import SOC, BenchmarkCase, Peer, PublicKernel

Row = dict[str, Any]

LEAST_RATIO = 0.999
"""Theirs by ours; what differs by less takes as long: a tenth of a percent is a few cycles."""

LEAST_MEAN = 2.2
BIG = 1 << 28
"""Bytes of one tensor: such a case runs alone, as its process holds some ten times as much."""

SECONDS = 1800.0

_FOLDER = Path(__file__).resolve().parents[1]
_NONE = "no case ran on both sides"


def measure(public: PublicKernel, checkout: Path, case: BenchmarkCase, soc: str = SOC) -> Row:
    """One case, in a process that holds none of our kernels: theirs have the same names. Its time
    counts in spite of findings that a board may pass over, and they stand beside it.
    """
    row: Row = {"case": case.key}
    device = open_device("sim")
    device.set_option("keep_going", "on")
    device.takes_faults = True
    if case.reduced[2] > 1 and not any("{dim}" in word for word in public.attrs):
        return row | {"refused": "reduces the last dim only"}
    words = [word.format(**case.attrs) for word in public.attrs]
    inputs = [[values.whole(case, name)] for name in public.inputs]
    try:
        with profiling(device):
            result = operator_call.run(
                str(checkout / public.path),
                inputs,
                words,
                soc=soc,
                outputs=[case.dims],  # some have no shape inference
                open_device=lambda: device,
            )
        launches: list[dict[str, Any]] = device.profiles()
    except AclgradError as error:
        return row | {"refused": _refusal(error)}
    finally:
        device.clear_profiles()
        device.set_option("keep_going", "off")
    output = next(iter(result.outputs.values())).reshape(-1)
    report = values.check(case, output)
    if stop := next((one for one in result.findings if not _harmless(one)), None):
        return row | {"stopped": _line(stop)}
    for finding in result.findings[:1]:
        row["finding"] = _line(finding)
    if not report.passed:
        return row | {"wrong": "; ".join(report.reasons)}
    return row | {"us": round(sum(float(launch["microseconds"]) for launch in launches), 3)}


def _harmless(finding: Finding) -> bool:
    """Whether hardware may do the same with no harm: a read behind a tensor, or a missing wait with
    right numbers here. One that writes there, or beyond its buffer, spoils what others have.
    """
    return not finding.goes_on or finding.at.instruction.endswith("(GM to UB)")


def _line(finding: Finding) -> str:
    """A finding's kind, place and reason."""
    where = f"{Path(finding.at.file).name}:{finding.at.line}"
    return f"{finding.kind} at {where}: {finding.detail.partition(chr(10))[0]}"


def _refusal(error: AclgradError) -> str:
    """What a build lacks, or what the operator says last, without advice."""
    text = str(error).partition("Next: ")[0]
    return _last(text.partition("\n")[0] if isinstance(error, SourcesError) else text)


def _last(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else ""


def asks(checkout: Path, peers: Sequence[Peer]) -> list[tuple[Peer, tuple[Row, Row]]]:
    """What `Ours` and `Theirs` are asked of each case. Raises ValueError."""
    for path in dict.fromkeys(peer.kernel.path for peer in peers):
        if not (checkout / path).is_dir():
            raise ValueError(
                f"--against {checkout}: there is no folder {path}. Next: give the root of a"
                " checkout of the library"
            )
    found = []
    for peer in peers:
        ours: Row = {"case": _plain(peer.case), "soc": peer.soc}
        theirs = {**ours, "kernel": asdict(peer.kernel), "checkout": str(checkout.resolve())}
        found.append((peer, (ours, theirs)))
    return found


def compare(
    checkout: Path,
    peers: Sequence[Peer],
    jobs: int,
    *,
    store: Path,
    revision: str = "",
) -> Iterator[Row]:
    """Ours and theirs, each case in processes of its own; what the store has is not run again."""
    asked = asks(checkout, peers)
    kept = Store(store)
    where = f"{worker.version(operators=False)} {checkout.resolve()} {revision}"

    def row(ask: tuple[Peer, tuple[Row, Row]]) -> Row:
        peer, (ours, theirs) = ask
        return compared(
            peer,
            kept.get(
                f"ours {peer.key}",
                worker.version(),
                lambda: alone("driver.public_kernels:Ours", ours),
            ),
            kept.get(
                f"theirs {peer.key}", where, lambda: alone("driver.public_kernels:Theirs", theirs)
            ),
        )

    def big(ask: tuple[Peer, Any]) -> bool:
        case = ask[0].case
        return case.size * case.dtype.numpy.itemsize >= BIG

    with ThreadPoolExecutor(jobs) as pool:
        small = pool.map(row, [ask for ask in asked if not big(ask)])
        rows = {found["case"]: found for found in small}
    rows |= {found["case"]: found for found in map(row, filter(big, asked))}
    for peer in peers:
        yield rows[peer.key]


def compared(peer: Peer, ours: Row, theirs: Row) -> Row:
    """A row of the table."""
    row = {**theirs, "case": peer.key, "class": peer.group, "ours": ours.get("us")}
    row |= {"theirs": row.pop("us", None), "ratio": None}
    if "error" in ours or "died" in ours:
        row["error"] = ours.get("error") or f"{peer.key}: {ours['died']}"
    elif row["theirs"]:
        row["ratio"] = round(row["theirs"] / row["ours"], 4)
    return row


def alone(call: str, item: Row, folder: Path = _FOLDER) -> Row:
    """What became of one case, in a process of its own; of one that died, its last words.
    ``call`` is the module and the class in a folder.
    """
    setup = {"call": call, "document": None, "folder": "", "path": [str(folder)]}
    try:
        child = Child(setup)
    except ChildError as error:
        return {"died": _words(error)}
    try:
        return child.run(item, SECONDS)
    except ChildError as error:
        return {"died": _words(error)}
    finally:
        child.close()


def _words(error: ChildError) -> str:
    """How a process ended, and the last line that it wrote."""
    how = str(error).partition("\n")[0] if error.kind == "crashed" else error.kind
    last = _last(str(error))
    return how if last == how else f"{how}: {last}"


class Store:
    """Results of cases by their names, in one file: a run that was stopped goes on. Each has with
    it what it depends on, the simulator and its kernels or the checkout: of another it is new.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._held: dict[str, tuple[str, Row]] = {}
        with suppress(OSError, ValueError):
            self._held = json.loads(path.read_text("utf-8"))

    def get(self, name: str, version: str, make: Callable[[], Row]) -> Row:
        """The result of a name. A death is not kept: it may be this machine's doing."""
        was, row = self._held.get(name, ("", {}))
        if was == version:
            return row
        row = make()
        if "died" not in row:
            self._held[name] = (version, row)
            files.write(self._path, json.dumps(dict(self._held), indent=0) + "\n", "--out")
        return row


def _plain(case: BenchmarkCase) -> Row:
    return {"op": case.op, "shape": case.shape, "alias": case.alias, "given": case.given}


def _case(item: Row) -> BenchmarkCase:
    given = tuple((name, value) for name, value in item["given"])
    return BenchmarkCase(item["op"], tuple(item["shape"]), item["alias"], given)


class Ours:
    """Measures our kernels, in a process that holds none of theirs."""

    def __init__(self, document: Any, folder: str) -> None:
        modelled.start(1)

    def __call__(self, item: Row) -> Row:
        """One case."""
        return modelled.measure(_case(item["case"]), item["soc"])


class Theirs:
    """Measures public kernels, in a process that holds none of ours."""

    def __init__(self, document: Any, folder: str) -> None:
        modelled.start(1)

    def __call__(self, item: Row) -> Row:
        """One case of an operator of a checkout."""
        listed: Row = {key: tuple(value) if isinstance(value, list) else value
                       for key, value in item["kernel"].items()}  # fmt: skip
        kernel = PublicKernel(**listed)
        return measure(kernel, Path(item["checkout"]), _case(item["case"]), item["soc"])


def mean(rows: Sequence[Row]) -> float | None:
    """Geometric mean of the ratios that there are."""
    return _geometric([row["ratio"] for row in rows if row["ratio"] is not None])


def mean_of_classes(rows: Sequence[Row]) -> float | None:
    """Geometric mean of the classes' means: each has one vote, however many cases it has."""
    found = [mean([row for row in rows if row["class"] == name]) for name in classes(rows)]
    return _geometric([value for value in found if value is not None])


def classes(rows: Sequence[Row]) -> list[str]:
    """Names of the classes, in the order of the list."""
    return list(dict.fromkeys(row["class"] for row in rows))


def _geometric(ratios: Sequence[float]) -> float | None:
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else None


def failures(rows: Sequence[Row]) -> list[str]:
    """Rows that are none: wrong numbers of ours, processes that died."""
    lines = [row["error"] for row in rows if "error" in row]
    lines += [f"{row['case']}: theirs died: {row['died']}" for row in rows if "died" in row]
    return lines if any(row["ratio"] is not None for row in rows) else [*lines, _NONE]


def misses(rows: Sequence[Row]) -> list[str]:
    """What is wanted of the comparison and not so."""
    lines = [
        f"{row['case']}: {row['ours']} us, theirs {row['theirs']} us: slower"
        for row in rows
        if row["ratio"] is not None and row["ratio"] < LEAST_RATIO
    ]
    overall = mean_of_classes(rows)
    if overall is not None and overall < LEAST_MEAN:
        lines.append(f"geometric mean of the classes {overall:.2f}, want at least {LEAST_MEAN}")
    return lines
