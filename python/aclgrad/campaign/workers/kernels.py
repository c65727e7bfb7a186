# SPDX-License-Identifier: Apache-2.0
"""What campaigns take from a checkout of this project: kernels of other people's libraries, which
scripts/compatibility.py tries and benchmarks/bench.py --against times beside ours, and the faults
of tests/mutation.
"""

from __future__ import annotations

import importlib
import re
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from aclgrad.campaign.plans.description import CampaignError
from aclgrad.campaign.workers.child import Child
from aclgrad.common.cache import root as cache_root
from aclgrad.runtime.toolkit import checkout

Json = dict[str, Any]


@cache
def _module(folder: str, name: str) -> Any:
    """A module of a checkout of this project, which knows the libraries."""
    source = checkout()
    if source is None:
        raise CampaignError(
            "compatibility, against, mutation: need a checkout of aclgrad, whose scripts and tests"
            " they use. Next: git clone it, and run the campaign from there"
        )
    for place in (source / folder, source / "python"):
        if str(place) not in sys.path:
            sys.path.insert(0, str(place))
    return importlib.import_module(name)


def _script() -> Any:
    return _module("scripts", "compatibility")


@cache
def _kernels(path: Path) -> dict[str, Any]:
    found, _ = _script().kernels_of(path)
    return {kernel.name: kernel for kernel in found}


def names(path: Path, only: str) -> list[str]:
    """Kernels of a checkout whose name a regular expression is found in."""
    return [name for name in _kernels(path) if re.search(only, name)]


def tried(word: str) -> Json:
    """Build one and run it; ``word`` is CHECKOUT::NAME."""
    place, _, name = word.partition("::")
    kernel = _kernels(Path(place))[name]
    cache = cache_root() / "compatibility"
    cache.mkdir(exist_ok=True)
    result = _script().attempt(kernel, cache, True)
    row: Json = {"name": name, "dtype": "any", "message": str(result["why"])}
    if result["finding"]:
        return row | {"verdict": "finding", "cause": result["finding"]}
    if result["match"].startswith("mis"):
        return row | {"verdict": "wrong", "cause": result["match"][:200]}
    if result["ran"] == "clean":
        return row | {"verdict": "passed", "cause": result["match"]}
    return row | {"verdict": "failed", "cause": result["why"][:200]}


def mutated(word: str, folder: Path) -> list[str]:
    """The operators that a mutation sweep's word means. Raises ValueError."""
    found: list[str] = _module("tests", "mutation.plant").operators(word, folder)
    return found


def faults(operator: str, trials: int, seed: int, soc: str) -> list[str]:
    """At most ``trials`` faults of what is compiled of an operator for a SoC, as words."""
    found: list[str] = _module("tests", "mutation.plant").planned(operator, trials, seed, soc)
    return found


def planted(word: str, soc: str, limit: float) -> Json:
    """Plant a fault and say what the checks showed."""
    row: Json = _module("tests", "mutation.plant").tried(word, soc, max(limit - 5, 1))
    return row


@dataclass(frozen=True)
class Compared:
    """One call, ours and theirs; ``ask`` is what each side is asked."""

    op: str
    alias: str
    dims: str
    soc: str
    ask: tuple[Json, Any]


@cache
def _compared(path: Path) -> dict[int, Compared]:
    public = _module("benchmarks", "driver.public_kernels")
    peers = _module("benchmarks", "driver.cases").load().peers
    return {
        number: Compared(peer.case.op, peer.case.alias, peer.case.dims, peer.soc, ask)
        for number, (peer, ask) in enumerate(public.asks(path, peers))
    }


def compared(path: Path, only: str) -> dict[int, Compared]:
    """Calls to compare, by their numbers, of operators whose name a regular expression is found in.
    Raises ValueError.
    """
    return {number: case for number, case in _compared(path).items() if re.search(only, case.op)}


class Comparison:
    """Runs ours and theirs in a process each: their kernels have the same names."""

    def __init__(self) -> None:
        self._children: dict[tuple[str, str], Child] = {}

    def __call__(self, word: str, limit: float) -> Json:
        """Ours beside theirs; ``word`` is CHECKOUT::NUMBER."""
        place, _, number = word.partition("::")
        case = _compared(Path(place))[int(number)]
        row: Json = {"shape": case.dims, "name": ""}
        ours = self._child("Ours", case.soc).run(case.ask[0], limit)
        if "error" in ours:
            return row | {"verdict": "wrong", "cause": ours["error"][:200]}
        row |= {"modelled_us": ours["us"], "share": ours["share"]}
        theirs = self._child("Theirs", case.soc).run(case.ask[1], limit)
        for what in ("refused", "stopped", "wrong"):
            if what in theirs:
                return row | {"verdict": "passed", "message": f"theirs {what}: {theirs[what]}"}
        said = f"theirs {theirs['us']:g} us, {theirs['us'] / ours['us']:.2f} times ours"
        least = _module("benchmarks", "driver.public_kernels").LEAST_RATIO
        if theirs["us"] < ours["us"] * least:
            return row | {"verdict": "failed", "cause": "slower than theirs", "message": said}
        return row | {"verdict": "passed", "message": said}

    def _child(self, side: str, soc: str) -> Child:
        # A library has several operators of one name, for different SoCs.
        if (side, soc) not in self._children:
            source = checkout()
            assert source is not None
            setup = {
                "call": f"driver.public_kernels:{side}", "document": None, "folder": "",
                "path": [str(source / "benchmarks")],
            }  # fmt: skip
            self._children[side, soc] = Child(setup)
        return self._children[side, soc]
