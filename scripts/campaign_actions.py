# SPDX-License-Identifier: Apache-2.0
"""The actions of campaigns that need a checkout of this project: fuzz runs cases of tests/fuzz,
mutation plants faults of tests/mutation, compatibility tries kernels of other people's libraries
(scripts/compatibility.py), against times such kernels beside ours (benchmarks/driver).
`aclgrad.campaign.workers.checkout_actions` loads this file.
"""

from __future__ import annotations

import importlib
import re
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from aclgrad import ops
from aclgrad.campaign.plans.plan import Cell
from aclgrad.campaign.workers.child import Child
from aclgrad.common.cache import root as cache_root
from aclgrad.runtime import open_device

ROOT = Path(__file__).resolve().parent.parent
Json = dict[str, Any]
_TEXT = 2000  # characters of a message that are kept


@cache
def _module(folder: str, name: str) -> Any:
    for place in (ROOT / folder, ROOT / "python"):
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


def _tried(word: str) -> Json:
    """Build a kernel and run it; ``word`` is CHECKOUT::NAME."""
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


class _Comparison:
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
            setup = {
                "call": f"driver.public_kernels:{side}", "document": None, "folder": "",
                "path": [str(ROOT / "benchmarks")],
            }  # fmt: skip
            self._children[side, soc] = Child(setup)
        return self._children[side, soc]


class Runner:
    """Runs cases of these actions, one after the other."""

    def __init__(self, limit: float) -> None:
        self._limit = limit  # seconds for a case
        self._comparison = _Comparison()
        self._fuzzer: Any = None

    def __call__(self, cell: Cell) -> Json:
        """The verdict of a case and what belongs to it."""
        if "fuzz" in cell.do:
            return self._fuzzed(cell)
        if "compatibility" in cell.do:
            return _tried(cell.word)
        if "mutation" in cell.do:
            plant = _module("tests", "mutation.plant")
            row: Json = plant.tried(cell.word, cell.soc, max(self._limit - 5, 1))
            return row
        return self._comparison(cell.word, self._limit)

    def _fuzzed(self, cell: Cell) -> Json:
        if self._fuzzer is None:
            abi = _module("tests", "fuzz.abi").Abi(open_device("sim"))
            self._fuzzer = abi, _module("tests", "fuzz.execute").Runner(abi)
        abi, runner = self._fuzzer
        drawn = _module("tests", "fuzz.draw").draw(cell.seed, ops.find(cell.operator), abi.socs)
        try:
            runner.run(drawn)
        except Exception as error:
            return {
                "verdict": "wrong" if type(error).__name__ == "Mismatch" else "failed",
                "cause": str(error).partition("\n")[0][:200],
                "message": f"{error}\n{drawn.describe()}"[:_TEXT],
                "name": drawn.repro,
            }
        return {"verdict": "passed", "name": drawn.repro}
