# SPDX-License-Identifier: Apache-2.0
"""All cases of a campaign by their number: blocks of one operator, dtype and SoC behind one
another, each a product of axes. A plan is a JSON document, the same for the client and workers.
"""

from __future__ import annotations

import json
import math
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from aclgrad.campaign.plans import axes

Json = dict[str, Any]


@dataclass(frozen=True)
class Cell:
    """One case: all that decides its result."""

    do: tuple[str, ...]
    operator: str
    dtype: str
    soc: str
    package: str = ""  # digest of a project's built package
    row: tuple[str, ...] = ()  # dtypes of a project's kernel
    shape: axes.Shape | None = None
    attributes: Mapping[str, Any] = field(default_factory=dict)
    layout: str = "contiguous"
    values: str = "uniform"
    mode: str = "checked"
    chaos: int = 0
    autosync: str = "on"
    keep_going: bool | None = None
    seed: int = 0
    cores: int = 0
    held: str = "all"  # what chaos holds back
    case: int = -1  # place in the operator's grid
    fast: bool = False
    word: str = ""  # of a case that is no call of an operator: a path, a kernel
    index: int = -1

    @property
    def dims(self) -> str:
        """The shape in a word."""
        if self.shape is None:
            return ""
        return "x".join(map(str, self.shape)) or "scalar"

    def about(self) -> Json:
        """What a row of the store says of a case before it has run."""
        return {
            "index": self.index,
            "do": "+".join(self.do),
            "operator": self.operator,
            "dtype": self.dtype,
            "soc": self.soc,
            "shape": self.dims,
            "attributes": json.dumps(self.attributes, sort_keys=True) if self.attributes else "",
            "layout": self.layout,
            "values": self.values,
            "mode": self.mode,
            "chaos": self.chaos,
            "autosync": self.autosync,
            "keep_going": {None: "", True: "on", False: "off"}[self.keep_going],
            "seed": self.seed,
            "cores": self.cores,
            "name": self.word,
        }

    def changed(self, words: Mapping[str, str]) -> Cell:
        """The same case with another shape, fewer cores and the like. Raises ValueError."""
        changes: Json = {}
        for name, text in words.items():
            if name == "shape":
                changes["shape"] = axes.box(text)[0]
            elif name in ("cores", "chaos", "seed"):
                changes[name] = int(text)
            elif name in ("layout", "values", "mode", "held"):
                changes[name] = text
            else:
                raise ValueError(
                    f"{name}: want shape, cores, chaos, held, seed, layout, values or mode"
                )
        return replace(self, **changes)


_AXES = ("attributes", "layout", "values", "mode", "chaos", "autosync", "keep_going", "seed")
"""Behind the shape, which changes slowest."""


@dataclass(frozen=True)
class Block:
    """Cases of one operator, dtype and SoC."""

    start: int
    size: int
    document: Json

    @property
    def search(self) -> str:
        """What trials of this block look for; empty for a sweep."""
        return str(self.document["search"])

    @cached_property
    def shapes(self) -> axes.Joined:
        """The shapes' axis."""
        given = self.document["shapes"]
        parts: list[axes.Axis] = [axes.box(text) for text in given["boxes"]]
        if given["random"]:
            parts.append(axes.drawn(given["random"]))
        return axes.Joined.of(parts)

    @cached_property
    def lists(self) -> dict[str, list[Any]]:
        """Values of each axis behind the shape."""
        found = {name: list(self.document[name]) for name in _AXES}
        found["attributes"] = list(_products(self.document["attributes"]))
        return found

    @cached_property
    def base(self) -> Cell:
        """What all cases of the block have."""
        item = self.document
        return Cell(
            tuple(item["do"]), item["operator"], item["dtype"], item["soc"],
            item["package"], tuple(item["row"]), fast=item["cases"] == "fast", word=item["word"],
        )  # fmt: skip

    def cell(self, at: int) -> Cell:
        """The case at a place of the block."""
        index = self.start + at
        found: Json = {}
        for name in reversed(_AXES):
            at, digit = divmod(at, len(self.lists[name]))
            found[name] = self.lists[name][digit]
        if self.document["cases"]:
            found["case"] = at
        elif len(self.shapes):
            found["shape"] = self.shapes[at]
        return replace(self.base, index=index, **found)


def _products(table: Mapping[str, list[Any]]) -> Iterator[Json]:
    """Every combination of attributes."""
    names = list(table)
    for at in range(math.prod(len(values) for values in table.values())):
        found = {}
        for name in reversed(names):
            at, digit = divmod(at, len(table[name]))
            found[name] = table[name][digit]
        yield {name: found[name] for name in names}


def size_of(document: Json, grid: int = 0) -> int:
    """How many cases a block has; ``grid`` of its operator's own."""
    if document["search"]:
        return int(document["trials"])
    block = Block(0, 0, document)
    first = grid if document["cases"] else max(len(block.shapes), bool(document["alone"]))
    return first * math.prod(len(values) for values in block.lists.values())


@dataclass(frozen=True)
class Plan:
    """A whole campaign."""

    document: Json

    @staticmethod
    def of(blocks: list[tuple[Json, int]], **more: Any) -> Plan:
        """Put blocks behind one another."""
        return Plan({"blocks": [{**item, "size": size} for item, size in blocks], **more})

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """All blocks in their order."""
        found, start = [], 0
        for item in self.document["blocks"]:
            found.append(Block(start, item["size"], item))
            start += item["size"]
        return tuple(found)

    @cached_property
    def _starts(self) -> list[int]:
        return [block.start for block in self.blocks]

    @property
    def size(self) -> int:
        """How many cases there are."""
        return self.blocks[-1].start + self.blocks[-1].size if self.blocks else 0

    @property
    def limit(self) -> float:
        """Seconds for one case."""
        return float(self.document["limit"])

    def block_of(self, index: int) -> Block:
        """The block that a case belongs to. Raises ValueError."""
        if not 0 <= index < self.size:
            raise ValueError(f"got case {index}, want 0 to {self.size - 1}")
        return self.blocks[bisect_right(self._starts, index) - 1]

    def cell(self, item: int | Json) -> Cell:
        """A case by its number, or one that is written out."""
        if isinstance(item, dict):
            return cell_from_json(item)
        block = self.block_of(item)
        return block.cell(item - block.start)


def cell_from_json(item: Json) -> Cell:
    """A case that was written as ``vars``."""
    shape = item.get("shape")
    tuples = {"do": tuple(item["do"]), "row": tuple(item.get("row", ()))}
    return Cell(**{**item, **tuples, "shape": None if shape is None else tuple(shape)})
