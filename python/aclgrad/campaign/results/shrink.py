# SPDX-License-Identifier: Apache-2.0
"""A failure made small: the smallest shape, the fewest cores, the plainest layout, the simplest
order of the pipes and the fewest late instructions that still show it. One case of each cause is
shrunk, all causes side by side.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Generator, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from aclgrad.campaign.plans.plan import Cell, Json, Plan
from aclgrad.campaign.results import search, summary
from aclgrad.campaign.results.store import Store
from aclgrad.campaign.workers.case_rows import BAD, CRASHED, LOST, SLOW, WRONG
from aclgrad.campaign.workers.cluster import Crew, Piece
from aclgrad.common import files

MOST_CAUSES = 12
MOST_STEPS = 200
_ORDERS = 6
"""Chaos seeds that are fixed orders of the pipes; later ones mix them."""

_MOST_ISSUED = 1 << 16
_MOST_HELD = 4

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
    for seed in range(min(cell.chaos, _ORDERS + 1)):
        trial = replace(cell, chaos=seed)
        if (yield trial):
            cell = trial
            break
    return (yield from _held(cell)) if cell.chaos else cell


def _held(cell: Cell) -> Steps:
    """The few instructions whose lateness shows it, all others running when they are issued: by
    halves the first number that all up to it are needed for, then the last that all from it on.
    """

    def late(*ranges: tuple[int, int]) -> Cell:
        words = (f"{first}" if first == last else f"{first}-{last}" for first, last in ranges)
        return replace(cell, held="+".join(words))

    end = 1
    while not (yield late((0, end - 1))):
        end *= 2
        if end > _MOST_ISSUED:
            return cell
    low = end // 2
    while end - low > 1:
        middle = (low + end) // 2
        if (yield late((0, middle - 1))):
            end = middle
        else:
            low = middle
    kept = [(end - 1, end - 1)]
    best = late((0, end - 1))
    for _ in range(_MOST_HELD):
        if (yield late(*kept)):
            return (yield from _fewest(kept, late))
        first, beyond = 0, kept[0][0]
        while beyond - first > 1:
            middle = (first + beyond) // 2
            if (yield late((middle, kept[0][0] - 1), *kept)):
                first = middle
            else:
                beyond = middle
        best = late((first, kept[0][0] - 1), *kept)
        kept.insert(0, (first, first))
    return best


def _fewest(kept: list[tuple[int, int]], late: Callable[..., Cell]) -> Steps:
    """Without those that are not needed beside the others."""
    for one in list(kept):
        fewer = [other for other in kept if other != one]
        if fewer and (yield late(*fewer)):
            kept = fewer
    return late(*kept)


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
    held: list[str] = field(default_factory=list)
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
            one.held = row.get("held") or []
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
        ("held", best.held if best.held != first.held else ""),
        ("layout", best.layout if best.layout != first.layout else ""),
        ("values", best.values if best.values != first.values else ""),
    ]
    return "".join(f",{name}={value}" for name, value in changes if value != "")


def said(best: Cell, held: Sequence[str] = ()) -> str:
    """A small case for people."""
    words = [f"shape {best.dims}"] if best.dims else []
    words += [f"{best.cores} core{'s' * (best.cores > 1)}"] if best.cores else []
    if best.chaos:
        kind = f"order {best.chaos} of the pipes" if best.chaos <= _ORDERS else "mixed orders"
        words.append(f"chaos seed {best.chaos} ({kind})")
    if best.held != "all":
        words.append(f"late are only {' and '.join(held[:_MOST_HELD]) or best.held}")
    return ", ".join(words) or "what it was"


def run(crew: Crew, plan: Plan, store: Store) -> None:
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
            "words": words_of(one.first, one.best), "said": said(one.best, one.held),
            "tried": one.tried,
        }  # fmt: skip
    files.write(place, json.dumps(known, indent=1) + "\n", "--out")
