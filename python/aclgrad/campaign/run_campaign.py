# SPDX-License-Identifier: Apache-2.0
"""One campaign from its file to its page: what is done already, what is next, what came of it."""

from __future__ import annotations

import hashlib
import json
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from aclgrad.campaign.expand import Expanded, check_socs, expand
from aclgrad.campaign.plans.description import Campaign
from aclgrad.campaign.plans.plan import Block, Plan
from aclgrad.campaign.results import search, shrink, summary
from aclgrad.campaign.results.store import Ranges, Store
from aclgrad.campaign.workers import cluster, worker
from aclgrad.campaign.workers.case_rows import BAD, PASSED, REFUSED, archive_name
from aclgrad.campaign.workers.cluster import Piece, Source
from aclgrad.common import temporary

Json = dict[str, Any]

FIRST_CASES = 4
MOST_CASES = 2000


@dataclass
class Tally:
    """What is counted while a campaign runs."""

    total: int = 0
    done: int = 0
    verdicts: Counter[str] = field(default_factory=Counter)
    worst_ulp: float = 0.0
    seconds: float = 0.0  # of cases
    pieces: int = 0
    case_retries: int = 0

    def add(self, rows: list[Json]) -> None:
        """Count rows."""
        self.done += len(rows)
        self.pieces += 1
        for row in rows:
            self.verdicts[row["verdict"]] += 1
            self.seconds += row.get("wall_seconds") or 0.0
            self.case_retries += row.get("retries") or 0
            ulp = row.get("worst_ulp")
            if ulp is not None and ulp == ulp and row["verdict"] == PASSED:
                self.worst_ulp = max(self.worst_ulp, ulp)

    @property
    def bad(self) -> int:
        """Cases that failed, in this run."""
        return sum(self.verdicts[word] for word in BAD)

    def words(self, retries: int) -> str:
        """For people."""
        said = [f"{self.verdicts[PASSED]} passed"]
        said += [f"{self.verdicts[word]} {word}" for word in (*BAD, REFUSED) if self.verdicts[word]]
        said += [f"{retries + self.case_retries} retries"] * bool(retries + self.case_retries)
        return ", ".join(said)


class Sweeps:
    """Hands out what is missing of all sweeps, in pieces of about so many seconds."""

    def __init__(
        self, plan: Plan, done: Ranges, store: Store, tally: Tally, version: str, piece: float
    ) -> None:
        self.plan, self.store, self.tally, self.version = plan, store, tally, version
        self.piece = piece
        self._ranges = self._missing(done)
        self._cost: dict[tuple[str, ...], tuple[float, int]] = {}
        self._left: deque[tuple[int, int, Block]] = deque()

    def _missing(self, done: Ranges) -> Iterator[tuple[int, int, Block]]:
        for first, end in done.missing(self.plan.size):
            while first < end:
                block = self.plan.block_of(first)
                last = min(end, block.start + block.size)
                if not block.search:
                    yield first, last, block
                first = last

    def take(self) -> Piece | None:
        """The next piece: ranges until they cost enough."""
        items: list[list[int]] = []
        seconds, known = 0.0, True
        while seconds < self.piece and known:
            if not self._left:
                following = next(self._ranges, None)
                if following is None:
                    break
                self._left.append(following)
            first, end, block = self._left.popleft()
            each = self._each(block)
            known = each is not None
            room = FIRST_CASES if each is None else (self.piece - seconds) / max(each, 1e-6)
            last = min(end, first + max(1, min(int(room), MOST_CASES)))
            items.append([first, last])
            seconds += (last - first) * (each or 0.0)
            if last < end:
                self._left.appendleft((last, end, block))
                break
        return Piece(tuple(map(tuple, items))) if items else None

    def _each(self, block: Block) -> float | None:
        seconds, count = self._cost.get(_kind(block), (0.0, 0))
        return seconds / count if count else None

    def give(self, piece: Piece, result: Json) -> None:
        """Store the rows of a piece."""
        numbers = worker.spread(piece.items)
        rows = result.get("rows")
        if rows is None:
            abouts = [self.plan.cell(number).about() for number in numbers]
            rows = cluster.lost_rows(abouts, result["lost"])
        for number, row in zip(numbers, rows, strict=True):
            if "operator" not in row:  # the child ended before it had read the case
                row.update({**self.plan.cell(number).about(), **row, "index": number})
            kind = _kind(self.plan.block_of(number))
            seconds, count = self._cost.get(kind, (0.0, 0))
            self._cost[kind] = (seconds + (row.get("wall_seconds") or 0.0), count + 1)
        self.store.add(rows, self.version)
        self.tally.add(rows)


def _kind(block: Block) -> tuple[str, ...]:
    item = block.document
    return (item["operator"], item["dtype"], item["soc"], *item["do"], str(item["sweep"]))


@dataclass
class Watched:
    """A source whose progress is shown."""

    source: Source
    shown: Callable[[], None]

    def take(self) -> Piece | None:
        """See `Source`."""
        return self.source.take()

    def give(self, piece: Piece, result: Json) -> None:
        """See `Source`."""
        self.source.give(piece, result)
        self.shown()


@dataclass
class Ended:
    """A campaign that has run to its end."""

    store: Store
    tally: Tally
    retries: int
    seconds: float
    threads: int
    known: int  # cases that an earlier run had done


def digest_of(campaign: Campaign, expanded: Expanded) -> str:
    """Names what a campaign does; the place of its file is no part of it."""
    document = {**expanded.plan.document, "title": campaign.title}
    return hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()[:16]


def setup_of(plan: Plan) -> Json:
    """What a worker's child is set up with."""
    return {"call": "aclgrad.campaign.workers.case_rows:Cases", "document": plan.document}


def run(
    campaign: Campaign,
    store: Store,
    *,
    address: str | None = None,
    insecure: bool = False,
    workers: int = 0,
    bar: Any,
    tell: Callable[[str], None],
) -> Ended:
    """Run what is missing of a campaign; the caller holds the store. Raises `CampaignError` before
    anything starts, or when the scheduler is gone.
    """
    cluster.need("pyarrow")
    expanded = expand(campaign, tell)
    plan = expanded.plan
    with cluster.opened(address, workers, insecure=insecure) as crew:
        crew.check()
        if any(sweep.socs for sweep in campaign.sweeps):
            check_socs(campaign, crew.socs())
        about = {
            "digest": digest_of(campaign, expanded), "version": crew.version,
            "title": campaign.title, "file": str(campaign.path), "cases": plan.size,
            "plan": plan.document,
        }  # fmt: skip
        store.begin(about)
        done = store.done()
        tally = Tally(plan.size, done.count)
        crew.limit = plan.limit
        files = {archive_name(name): data for name, data in expanded.packages.items()}
        crew.upload(files, setup_of(plan))
        threads = crew.threads()
        tell(f"{plan.size} cases, {done.count} done before, {threads} at a time on {crew.place}")
        if link := crew.dashboard:
            tell(f"dashboard: {link}")
        known = done.count
        task = bar.add_task(campaign.title, total=plan.size)

        def shown() -> None:
            words = tally.words(crew.retries)
            bar.update(task, completed=tally.done, description=f"{campaign.title}: {words}")

        shown()
        started = time.perf_counter()
        crew.run(Watched(Sweeps(plan, done, store, tally, crew.version, campaign.piece), shown))
        if any(block.search for block in plan.blocks):
            crew.run(Watched(search.Searches(plan, store, tally, crew.version), shown))
        store.gather()
        if campaign.shrink:
            bar.update(task, description=f"{campaign.title}: shrinking what was found")
            shrink.run(crew, plan, store)
        return Ended(store, tally, crew.retries, time.perf_counter() - started, threads, known)


def one(campaign: Campaign, words: str, out: Path) -> Json:
    """Run one case again, here: its number, and what to change, such as 12,shape=3x8,cores=1."""
    expanded = expand(campaign)
    number, *changes = words.split(",")
    if not number.isdigit():
        raise ValueError(f"--case {words}: want the number of a case, e.g. --case 12")
    block = expanded.plan.block_of(int(number))
    if block.search:
        found = (row for _, _, row in summary.rows(Store(out)) if row["index"] == int(number))
        row = next(found, None)
        if row is None:
            raise ValueError(f"--case {number}: is a trial that {out} does not have. Next: --out")
        cell = search.cell_of(block, row)
    else:
        cell = expanded.plan.cell(int(number))
    cell = cell.changed(dict(_pair(word) for word in changes))
    hand = worker.Hand()
    with temporary.folder() as folder:
        for name, data in expanded.packages.items():
            (folder / archive_name(name)).write_bytes(data)
        setup = {**setup_of(expanded.plan), "folder": str(folder)}
        try:
            return hand.run(setup, [asdict(cell)], campaign.limit)[0]
        finally:
            hand.drop()


def _pair(word: str) -> tuple[str, str]:
    name, equals, value = word.partition("=")
    if not equals:
        raise ValueError(f"--case: got {word!r}, want NAME=VALUE, e.g. shape=3x8")
    return name, value
