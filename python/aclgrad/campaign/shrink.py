# SPDX-License-Identifier: Apache-2.0
"""A failure made small: the smallest shape, the fewest cores, the plainest layout and the simplest
order of the pipes that still show it. One case of each cause is shrunk, all causes side by side.
"""

from __future__ import annotations

import json
import re
from collections.abc import Generator
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from aclgrad.campaign import search, summary
from aclgrad.campaign.cluster import Cluster, Piece
from aclgrad.campaign.plan import Cell, Json, Plan
from aclgrad.campaign.store import Store
from aclgrad.campaign.work import BAD, CRASHED, LOST, SLOW, WRONG
from aclgrad.common import files

MOST_CAUSES = 12
MOST_STEPS = 120
_ORDERS = 6
"""Chaos seeds that are fixed orders of the pipes; later ones mix them."""

Steps = Generator[Cell, bool, Cell]


def smaller(cell: Cell) -> Steps:
    """Cases to try; each is sent whether it still fails. Returns the smallest that did."""
    if cell.case < 0 and cell.shape is not None:
        for changes in ({"layout": "contiguous"}, {"values": "uniform"}):
            if any(getattr(cell, name) != value for name, value in changes.items()):
                trial = replace(cell, **changes)  # type: ignore[arg-type]
                if (yield trial):
                    cell = trial
        cell = yield from _shape(cell)
    cores = 1
    while cores <= 32 and not cell.cores:
        trial = replace(cell, cores=cores)
        if (yield trial):
            cell = trial
        cores *= 2
    for seed in range(1, min(cell.chaos, _ORDERS + 1)):
        trial = replace(cell, chaos=seed)
        if (yield trial):
            return trial
    return cell


def _shape(cell: Cell) -> Steps:
    changed = True
    while changed:
        changed = False
        for place in range(len(cell.shape or ())):
            # To 1 at once, else by halves, else bit by bit to the edge.
            low = 0
            while True:
                assert cell.shape is not None
                dim = cell.shape[place]
                if dim - low <= 1:
                    break
                value = 1 if low == 0 else (low + dim) // 2
                shape = (*cell.shape[:place], value, *cell.shape[place + 1 :])
                trial = replace(cell, shape=shape)
                if (yield trial):
                    cell, changed = trial, True
                    if value == 1:
                        break
                else:
                    low = value
    return cell


def same(cause: Json, row: Json) -> bool:
    """Whether a row fails as the first one did."""
    if row["verdict"] != cause["verdict"]:
        return False
    if row["verdict"] in (WRONG, CRASHED, SLOW):
        return True
    return _plain(row.get("cause") or "") == _plain(cause["cause"])


def _plain(text: str) -> str:
    return re.sub(r"\d+", "0", text)


@dataclass
class _One:
    cause: Json
    first: Cell
    steps: Steps
    best: Cell
    waiting: Cell | None = None
    tried: int = 0
    ended: bool = False


@dataclass
class Shrinking:
    """Hands out one trial of each cause at a time."""

    ones: list[_One] = field(default_factory=list)

    def add(self, cause: Json, cell: Cell) -> None:
        """Begin with a failure."""
        one = _One(cause, cell, smaller(cell), cell)
        self.ones.append(one)
        self._next(one, None)

    def _next(self, one: _One, answer: bool | None) -> None:
        try:
            one.waiting = next(one.steps) if answer is None else one.steps.send(answer)
        except StopIteration as end:
            one.best, one.ended, one.waiting = end.value, True, None

    def take(self) -> Piece | None:
        """The next trial of some cause."""
        for number, one in enumerate(self.ones):
            if one.waiting is not None:
                cell, one.waiting = one.waiting, None
                one.tried += 1
                return Piece((asdict(cell),), 1_000_000 * (number + 1) + one.tried)
        return None

    def give(self, piece: Piece, result: Json) -> None:
        """Go on by what a trial showed."""
        one = self.ones[piece.search // 1_000_000 - 1]
        (row,) = result.get("rows") or [{"verdict": LOST}]
        fails = same(one.cause, row)
        if fails:
            item = piece.items[0]
            one.best = Cell(**{**item, "shape": item["shape"] and tuple(item["shape"])})
        if one.tried >= MOST_STEPS:
            one.ended = True
            return
        self._next(one, fails)


def words_of(first: Cell, best: Cell) -> str:
    """What to add to the number of a case: ``,shape=3x8,cores=1``."""
    changes = [
        ("shape", best.dims if best.dims != first.dims else ""),
        ("cores", best.cores if best.cores != first.cores else ""),
        ("chaos", best.chaos if best.chaos != first.chaos else ""),
        ("layout", best.layout if best.layout != first.layout else ""),
        ("values", best.values if best.values != first.values else ""),
    ]
    return "".join(f",{name}={value}" for name, value in changes if value != "")


def said(best: Cell) -> str:
    """A small case for people."""
    words = [f"shape {best.dims}"] if best.dims else []
    words += [f"{best.cores} core{'s' * (best.cores > 1)}"] if best.cores else []
    if best.chaos:
        kind = f"order {best.chaos} of the pipes" if best.chaos <= _ORDERS else "mixed orders"
        words.append(f"chaos seed {best.chaos} ({kind})")
    return ", ".join(words) or "what it was"


def run(crew: Cluster, plan: Plan, store: Store) -> None:
    """Shrink one case of each cause that is not shrunk yet."""
    place = store.folder / summary.SHRUNK
    known: dict[str, Any] = summary.shrunk(store)
    firsts: dict[tuple[str, str, str], Json] = {}
    for operator, _, row in summary.rows(store):
        if row["verdict"] in BAD and row["verdict"] != LOST:
            key = (operator, row["verdict"], row["cause"])
            if key not in firsts or summary.is_smaller(row["shape"], firsts[key]["shape"]):
                firsts[key] = row
    source = Shrinking()
    for row in [*firsts.values()][:MOST_CAUSES]:
        block = plan.block_of(row["index"])
        if str(row["index"]) in known or block.document["alone"]:
            continue
        cell = search.cell_of(block, row) if block.search else plan.cell(row["index"])
        source.add(row, cell)
    if not source.ones:
        return
    crew.run(source)
    for one in source.ones:
        known[str(one.first.index)] = {
            "words": words_of(one.first, one.best), "said": said(one.best), "tried": one.tried,
        }  # fmt: skip
    files.write(place, json.dumps(known, indent=1) + "\n", "--out")
