# SPDX-License-Identifier: Apache-2.0
"""Searches: optuna walks shapes, attributes, layouts and values towards the worst of its kind, many
trials at a time. What is known of a trial is in its row, so that a search goes on after a stop.
"""

from __future__ import annotations

import json
import math
from dataclasses import asdict, replace
from typing import Any

from aclgrad.campaign.plans import axes
from aclgrad.campaign.plans.plan import Block, Cell, Json, Plan
from aclgrad.campaign.results import summary
from aclgrad.campaign.results.store import Store
from aclgrad.campaign.workers import cluster
from aclgrad.campaign.workers.case_rows import BAD, REFUSED
from aclgrad.campaign.workers.cluster import Piece
from aclgrad.errors import ToolkitError

_AXES = ("attributes", "layout", "values", "mode", "chaos", "autosync", "keep_going", "seed")


class Search:
    """One block's search."""

    def __init__(self, block: Block, optuna: Any) -> None:
        self.block, self.optuna = block, optuna
        self.flying: dict[int, Any] = {}
        self.left = list(range(block.size - 1, -1, -1))
        sampler = optuna.samplers.TPESampler(
            seed=block.start, constant_liar=True, n_startup_trials=min(20, block.size // 4 + 1)
        )
        direction = "minimize" if block.search == "worst-share" else "maximize"
        self.study = optuna.create_study(direction=direction, sampler=sampler)
        self.space = self._space()

    def _space(self) -> dict[str, Any]:
        made = self.optuna.distributions
        space: dict[str, object] = {}
        given = self.block.document["shapes"]
        boxes = [axes.box(text) for text in given["boxes"]]
        kinds = len(boxes) + bool(given["random"])
        if kinds > 1:
            space["shapes"] = made.IntDistribution(0, kinds - 1)
        for number, box in enumerate(boxes):
            for place, dim in enumerate(box.dims):
                if len(dim) > 1:
                    space[f"box{number}.{place}"] = made.IntDistribution(0, len(dim) - 1)
        if given["random"]:
            drawn = axes.drawn(given["random"])
            if drawn.rank[0] < drawn.rank[1]:
                space["rank"] = made.IntDistribution(*drawn.rank)
            for place in range(drawn.rank[1]):
                space[f"dim{place}"] = made.IntDistribution(*drawn.dim, log=True)
        for name in _AXES:
            if (count := len(self.block.lists[name])) > 1:
                space[name] = made.CategoricalDistribution(tuple(range(count)))
        return space

    def cell(self, number: int, params: Json) -> Cell:
        """The case that a trial's parameters mean."""
        given = self.block.document["shapes"]
        boxes = [axes.box(text) for text in given["boxes"]]
        which = int(params.get("shapes", 0))
        if which < len(boxes):
            dims = boxes[which].dims
            shape = tuple(
                dim[int(params.get(f"box{which}.{place}", 0))] for place, dim in enumerate(dims)
            )
        else:
            drawn = axes.drawn(given["random"])
            rank, room, found = int(params.get("rank", drawn.rank[0])), drawn.elements, []
            for place in range(rank):
                found.append(max(drawn.dim[0], min(int(params[f"dim{place}"]), max(room, 1))))
                room //= found[-1]
            shape = tuple(found)
        chosen = {name: self.block.lists[name][int(params.get(name, 0))] for name in _AXES}
        return replace(
            self.block.base, index=self.block.start + number, shape=shape,
            word=json.dumps(params, sort_keys=True), **chosen,
        )  # fmt: skip

    def value(self, row: Json) -> float | None:
        """How good a trial is; None where it says nothing."""
        if row["verdict"] == REFUSED:
            return None
        if self.block.search == "worst-share":
            share: float | None = row.get("share")
            return share
        bad = row["verdict"] in BAD
        ulp = row.get("worst_ulp")
        known = ulp is not None and math.isfinite(ulp)
        if self.block.search == "finding" and bad:
            return 1e9
        if not known:
            return 1e6 if bad else None
        return float(ulp)  # type: ignore[arg-type]

    def know(self, row: Json) -> None:
        """Take in a trial of an earlier run."""
        number = row["index"] - self.block.start
        self.left.remove(number)
        value = self.value(row)
        params = json.loads(row["name"])
        if value is not None and set(params) == set(self.space):
            self.study.add_trial(
                self.optuna.trial.create_trial(params=params, distributions=self.space, value=value)
            )

    def ask(self) -> Cell:
        """The next trial."""
        number = self.left.pop()
        trial = self.study.ask(self.space)
        self.flying[number] = trial
        return self.cell(number, trial.params)

    def tell(self, row: Json) -> None:
        """What a trial showed."""
        trial = self.flying.pop(row["index"] - self.block.start)
        value = self.value(row)
        if value is None:
            self.study.tell(trial, state=self.optuna.trial.TrialState.FAIL)
        else:
            self.study.tell(trial, value)


class Searches:
    """Hands out trials of all searches in turn."""

    def __init__(self, plan: Plan, store: Store, tally: Any, version: str) -> None:
        try:
            import optuna
        except ImportError:
            raise ToolkitError(
                "search: optuna is not installed. Next: pip install 'aclgrad[campaign]'"
            ) from None
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self.store, self.tally, self.version = store, tally, version
        self.all = [Search(block, optuna) for block in plan.blocks if block.search]
        by_start = {
            number: one
            for one in self.all
            for number in range(one.block.start, one.block.start + one.block.size)
        }
        for _, _, row in summary.rows(store):
            if row["index"] in by_start:
                by_start[row["index"]].know(row)
        self.by_start = by_start
        self.turn = 0

    def take(self) -> Piece | None:
        """The next trial."""
        for _ in self.all:
            one = self.all[self.turn % len(self.all)]
            self.turn += 1
            if one.left:
                return Piece((_plain(one.ask()),), one.block.start)
        return None

    def give(self, piece: Piece, result: Json) -> None:
        """Store a trial's row."""
        cell = piece.items[0]
        rows = result.get("rows")
        if rows is None:
            rows = cluster.lost_rows([Cell(**cell).about()], result["lost"])
        rows[0] |= {"name": cell["word"], "index": cell["index"]}
        self.store.add(rows, self.version)
        self.tally.add(rows)
        self.by_start[cell["index"]].tell(rows[0])


def _plain(cell: Cell) -> Json:
    return asdict(cell)


def cell_of(block: Block, row: Json) -> Cell:
    """A trial's case, from its row."""
    return replace(
        block.base, index=row["index"], shape=axes.box(row["shape"])[0],
        attributes=json.loads(row["attributes"] or "{}"), layout=row["layout"],
        values=row["values"], mode=row["mode"], chaos=row["chaos"], autosync=row["autosync"],
        keep_going={"on": True, "off": False}.get(row["keep_going"]), seed=row["seed"],
    )  # fmt: skip
