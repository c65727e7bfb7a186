# SPDX-License-Identifier: Apache-2.0
"""What the rows of a store say together. Rows are read in batches, so that memory does not grow
with their number.
"""

from __future__ import annotations

import json
import math
import shlex
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from aclgrad.campaign.results.store import Store
from aclgrad.campaign.workers.case_rows import BAD, PASSED

Json = dict[str, Any]

SHRUNK = "shrunk.json"
_CHANGES = 200  # differences that are listed
_CAUSES = 100
_KEY = (
    *("do", "soc", "shape", "attributes", "layout", "values", "mode", "chaos", "autosync"),
    *("keep_going", "seed", "name"),
)
"""What makes two rows of one operator and dtype the same case."""

_COLUMNS = (
    *("index", "verdict", "cause", "worst_ulp", "modelled_us", "share", "wall_seconds"),
    *("retries", *_KEY),
)


@dataclass
class Bin:
    """Cases of shapes of nearly one size."""

    count: int = 0
    bad: int = 0
    worst_ulp: float = 0.0
    share: float = math.inf
    first: str = ""  # shape of the worst


@dataclass
class Group:
    """Cases of one operator and dtype."""

    operator: str
    dtype: str
    verdicts: Counter[str] = field(default_factory=Counter)
    worst_ulp: float = 0.0
    worst_at: str = ""
    share: float = math.inf
    share_at: str = ""
    seconds: float = 0.0
    bins: dict[tuple[int, int], Bin] = field(default_factory=dict)

    def add(self, row: Json) -> None:
        """Count a row."""
        self.verdicts[row["verdict"]] += 1
        self.seconds += row["wall_seconds"] or 0.0
        place = sizes(row["shape"])
        one = self.bins.setdefault(place, Bin()) if place else Bin()
        one.count += 1
        one.bad += row["verdict"] in BAD
        ulp, share = row["worst_ulp"], row["share"]
        if ulp is not None and math.isfinite(ulp):
            if ulp > one.worst_ulp:
                one.worst_ulp, one.first = ulp, row["shape"]
            if ulp > self.worst_ulp:
                self.worst_ulp, self.worst_at = ulp, row["shape"]
        if share is not None:
            one.share = min(one.share, share)
            if share < self.share:
                self.share, self.share_at = share, row["shape"]


def sizes(shape: str) -> tuple[int, int] | None:
    """Powers of two below the last dim and below the product of the others."""
    if not shape:
        return None
    dims = [] if shape == "scalar" else [int(word) for word in shape.split("x")]
    if 0 in dims:
        return None
    last, rest = (dims[-1], math.prod(dims[:-1])) if dims else (1, 1)
    return last.bit_length() - 1, rest.bit_length() - 1


def rows(store: Store, columns: tuple[str, ...] = _COLUMNS) -> Iterator[tuple[str, str, Json]]:
    """Operator, dtype and row of all cases."""
    import pyarrow.parquet as pq

    for path in store.paths():
        operator = unquote(path.parts[-3].partition("=")[2])
        dtype = unquote(path.parts[-2].partition("=")[2])
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(4096, columns=list(columns)):
                for row in batch.to_pylist():
                    yield operator, dtype, row


def repeat(file: Path, cause: Json, store: Store, changes: str = "") -> str:
    """The command that runs one case again; a trial of a search is known by its row alone."""
    words = ["aclgrad", "campaign", str(file), "--case", f"{cause['index']}{changes}"]
    return shlex.join([*words, *(["--out", str(store.folder)] if cause["trial"] else [])])


def summary(store: Store, file: Path, against: Path | None) -> Json:
    """Everything that page and terminal show."""
    groups: dict[tuple[str, str], Group] = {}
    causes: dict[tuple[str, str, str], Json] = {}
    retries = 0
    for operator, dtype, row in rows(store):
        key = (operator, dtype)
        if key not in groups:
            groups[key] = Group(operator, dtype)
        groups[key].add(row)
        retries += row["retries"]
        if row["verdict"] in BAD:
            cause = causes.setdefault(
                (operator, row["verdict"], row["cause"]),
                {
                    "operator": operator, "verdict": row["verdict"], "cause": row["cause"],
                    "cases": 0, "index": row["index"], "shape": row["shape"], "dtypes": [],
                    "trial": row["name"].startswith("{"),
                },
            )  # fmt: skip
            cause["cases"] += 1
            if dtype not in cause["dtypes"]:
                cause["dtypes"].append(dtype)
            if is_smaller(row["shape"], cause["shape"]):
                cause |= {
                    "index": row["index"], "shape": row["shape"],
                    "trial": row["name"].startswith("{"),
                }  # fmt: skip
    listed = sorted(causes.values(), key=lambda item: -item["cases"])
    small = shrunk(store)
    for cause in listed:
        cause["repeat"] = repeat(file, cause, store)
        if found := small.get(str(cause["index"])):
            cause["shrunk"] = found
            cause["repeat"] = repeat(file, cause, store, found["words"])
    total = sum((group.verdicts for group in groups.values()), Counter[str]())
    about = store.about()
    made: Json = {
        "title": about["title"],
        "file": str(file),
        "store": str(store.folder),
        "version": about["version"],
        "cases": about["cases"],
        "rows": sum(total.values()),
        "verdicts": dict(total),
        "bad": sum(total[word] for word in BAD),
        "retries": retries,
        "groups": [_group(groups[key]) for key in sorted(groups)],
        "causes": listed[:_CAUSES],
        "moreCauses": max(0, len(listed) - _CAUSES),
    }
    if against is not None:
        made["against"] = differences(Store(against), store)
    return made


def is_smaller(shape: str, other: str) -> bool:
    """Whether a shape has fewer elements, nearly."""
    return sum(sizes(shape) or (99,)) < sum(sizes(other) or (99,))


def shrunk(store: Store) -> dict[str, Json]:
    """Failures made small, by the number of their case."""
    try:
        found: dict[str, Json] = json.loads((store.folder / SHRUNK).read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return found


def _group(group: Group) -> Json:
    return {
        "operator": group.operator,
        "dtype": group.dtype,
        "cases": sum(group.verdicts.values()),
        "passed": group.verdicts[PASSED],
        "bad": sum(group.verdicts[word] for word in BAD),
        "refused": group.verdicts["refused"],
        "worstUlp": group.worst_ulp,
        "worstUlpShape": group.worst_at,
        "leastShare": None if math.isinf(group.share) else group.share,
        "leastShareShape": group.share_at,
        "seconds": group.seconds,
        "bins": [
            {
                "last": last, "rest": rest, "cases": one.count, "bad": one.bad,
                "worstUlp": one.worst_ulp, "shape": one.first,
                "share": None if math.isinf(one.share) else one.share,
            }
            for (last, rest), one in sorted(group.bins.items())
        ],
    }  # fmt: skip


def differences(old: Store, new: Store) -> Json:
    """What the cases that both have say otherwise: verdicts, times by more than a percent, errors
    by more than half an ULP.
    """
    before = old.about()
    changed: list[Json] = []
    counts: Counter[str] = Counter()
    ours = {path.parent for path in new.paths()}
    for folder in sorted(ours):
        theirs = old.folder / folder.relative_to(new.folder)
        known = {_key(row): row for _, _, row in rows(_Part(old, theirs))}
        for operator, dtype, row in rows(_Part(new, folder)):
            was = known.pop(_key(row), None)
            if was is None:
                counts["new"] += 1
                continue
            counts["compared"] += 1
            if (what := _changed(was, row)) and len(changed) < _CHANGES:
                changed.append(
                    {
                        "operator": operator, "dtype": dtype, "shape": row["shape"],
                        "index": row["index"], "what": what,
                        "worse": row["verdict"] in BAD and was["verdict"] not in BAD,
                    }
                )  # fmt: skip
            counts["changed"] += bool(what)
        counts["gone"] += len(known)
    return {
        "store": str(old.folder), "version": before["version"],
        "compared": counts["compared"], "new": counts["new"], "gone": counts["gone"],
        "changed": counts["changed"],
        "changes": sorted(changed, key=lambda item: not item["worse"]),
    }  # fmt: skip


class _Part(Store):
    """The files of one operator and dtype."""

    def __init__(self, store: Store, part: Path) -> None:
        super().__init__(store.folder)
        self.part = part

    def paths(self) -> list[Path]:
        """The files of that folder alone."""
        return [path for path in super().paths() if path.parent == self.part]


def _key(row: Json) -> int:
    return hash(tuple(row[name] for name in _KEY))


def _changed(was: Json, row: Json) -> str:
    if was["verdict"] != row["verdict"]:
        return f"{was['verdict']}, now {row['verdict']}"
    said = []
    for name, words, least in (("worst_ulp", "ULP", 0.5), ("modelled_us", "us", None)):
        first, second = was[name], row[name]
        if first is None or second is None:
            continue
        if abs(second - first) > (least if least is not None else 0.01 * abs(first)):
            said.append(f"{first:.2f} {words}, now {second:.2f}")
    return "; ".join(said)
