# SPDX-License-Identifier: Apache-2.0
"""The case list of cases.toml."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any

from aclgrad.ops import find
from aclgrad.spec import dtypes
from aclgrad.spec.call import AttrValue
from aclgrad.spec.dtypes import DType
from aclgrad.spec.op_spec import OpSpec
from aclgrad.testing.user_data import parse_shape

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

CASES = Path(__file__).resolve().parents[1] / "cases.toml"
MODELLED_LIMITS = ("share", "traffic")
HOST_LIMITS = ("fast", "checked", "profile", "memory")
CLASS_LIMITS = ("share", "traffic", "above", "rise", "by_fp32")
SOC = "Ascend910B2"


@dataclass(frozen=True)
class BenchmarkCase:
    """One call of an operator on contiguous tensors, and the limits that its figures have."""

    op: str
    shape: tuple[int, ...]
    alias: str
    given: tuple[tuple[str, AttrValue], ...] = ()
    limits: Mapping[str, float] = field(default_factory=dict, hash=False, compare=False)
    soc: str = SOC

    @property
    def spec(self) -> OpSpec:
        """The operator."""
        return find(self.op)

    @property
    def dtype(self) -> DType:
        """Dtype of the tensors."""
        return dtypes.parse(self.alias)

    @property
    def attrs(self) -> dict[str, AttrValue]:
        """All attributes: those of the case over the operator's defaults."""
        return {**self.spec.defaults(), **dict(self.given)}

    @property
    def dims(self) -> str:
        """Shape as the command line takes it."""
        return "x".join(map(str, self.shape))

    @property
    def words(self) -> str:
        """Attributes as the command line takes them."""
        return " ".join(f"{name}={value}" for name, value in self.given)

    @property
    def key(self) -> str:
        """Its name in the baseline."""
        where = "" if self.soc == SOC else self.soc
        return " ".join(filter(None, (self.op, self.dims, self.alias, self.words, where)))

    def in_dtype(self, alias: str) -> BenchmarkCase:
        """The same in another dtype."""
        return replace(self, alias=alias)

    @property
    def size(self) -> int:
        """Elements of one tensor."""
        return math.prod(self.shape)

    @property
    def reduced(self) -> tuple[int, int, int]:
        """The shape as outer, reduced and inner dims; elementwise operators reduce nothing."""
        if self.op == "scaled_masked_softmax_grad_v2":
            dim = len(self.shape) - 1
        elif "dim" in self.attrs:
            dim = int(self.attrs["dim"]) % len(self.shape)
        else:
            return self.size, 1, 1
        return math.prod(self.shape[:dim]), self.shape[dim], math.prod(self.shape[dim + 1 :])


@dataclass(frozen=True)
class CaseClass:
    """Shapes that one thing limits, on one SoC, and what is wanted of all of them."""

    name: str
    soc: str
    limits: Mapping[str, float]
    cases: tuple[BenchmarkCase, ...]

    @property
    def key(self) -> str:
        """Its name, and where."""
        return self.name if self.soc == SOC else f"{self.name}, {self.soc}"


@dataclass(frozen=True)
class PublicKernel:
    """A public kernel of one of the operators, for some SoCs.

    ``inputs`` are the arguments of our function that its inputs stand for; ``attrs`` are its
    attributes, filled in from ours.
    """

    op: str
    soc: tuple[str, ...]
    path: str
    inputs: tuple[str, ...]
    attrs: tuple[str, ...]


@dataclass(frozen=True)
class Peer:
    """A case, and the public kernel that it is compared with on one SoC."""

    group: str  # its class
    soc: str
    case: BenchmarkCase
    kernel: PublicKernel

    @property
    def key(self) -> str:
        """The case, and where."""
        return self.case.key if self.soc == SOC else f"{self.case.key} {self.soc}"


@dataclass(frozen=True)
class Cases:
    """Everything that cases.toml holds."""

    modelled: tuple[BenchmarkCase, ...]
    host: tuple[BenchmarkCase, ...]
    public_kernels: tuple[PublicKernel, ...]
    classes: tuple[CaseClass, ...] = ()
    peers: tuple[Peer, ...] = ()


def load(only: str = "", path: Path = CASES) -> Cases:
    """Read the list; ``only`` keeps the cases whose key has all of its words."""
    document = tomllib.loads(path.read_text("utf-8"))

    def chosen(table: str, limits: tuple[str, ...]) -> tuple[BenchmarkCase, ...]:
        found = [case for group in document[table] for case in _expand(table, group, limits)]
        keys = [case.key for case in found]
        if twice := {key for key in keys if keys.count(key) > 1}:
            raise ValueError(f"{path}: [[{table}]] has twice: {', '.join(sorted(twice))}")
        return tuple(case for case in found if all(word in case.key for word in only.split()))

    public_kernels = tuple(
        PublicKernel(
            item["op"],
            tuple(item.get("soc", [SOC])),
            item["path"],
            tuple(item["inputs"]),
            tuple(item["attrs"]),
        )
        for item in document.get("public_kernel", [])
    )
    cases = Cases(
        chosen("modelled", MODELLED_LIMITS),
        chosen("host", HOST_LIMITS),
        public_kernels,
        tuple(_classes(document.get("class", []), only)),
        tuple(_peers(document.get("against", []), public_kernels, only)),
    )
    if not (cases.modelled or cases.host or cases.classes or cases.peers):
        raise ValueError(f"--only {only}: no case has that. Next: words of a case's name")
    return cases


def _classes(tables: Sequence[dict[str, Any]], only: str) -> Iterator[CaseClass]:
    """A table may have several SoCs; one with the name of that before has more of its cases."""
    found: dict[str, CaseClass] = {}
    for table in tables:
        group = {key: value for key, value in table.items() if key not in ("name", "soc")}
        expanded = tuple(_expand("class", group, CLASS_LIMITS))
        for soc in table.get("soc", [SOC]):
            limits = {name: table[name] for name in CLASS_LIMITS if name in table}
            made = CaseClass(table["name"], soc, limits, expanded)
            if before := found.get(made.key):
                made = replace(before, cases=before.cases + expanded)
            found[made.key] = made
    for made in found.values():
        kept = [
            case
            for case in made.cases
            if all(word in f"{made.key} {case.key}" for word in only.split())
        ]
        if kept:
            yield replace(made, cases=tuple(kept))


def _peers(
    tables: Sequence[dict[str, Any]], public_kernels: Sequence[PublicKernel], only: str
) -> Iterator[Peer]:
    """Cases of each table on each of its SoCs."""
    known = {(kernel.op, soc): kernel for kernel in public_kernels for soc in kernel.soc}
    found: set[str] = set()
    for table in tables:
        group = {key: value for key, value in table.items() if key not in ("class", "soc")}
        for soc in table.get("soc", [SOC]):
            for case in _expand("against", group, ()):
                if (case.op, soc) not in known:
                    raise ValueError(
                        f"cases.toml: [[against]] {case.key}: no [[public_kernel]] of {soc}"
                    )
                peer = Peer(table["class"], soc, case, known[case.op, soc])
                if peer.key in found:
                    raise ValueError(f"cases.toml: [[against]] has twice: {peer.key}")
                found.add(peer.key)
                if all(word in f"{peer.group} {peer.key}" for word in only.split()):
                    yield peer


def _expand(table: str, group: dict[str, Any], limits: tuple[str, ...]) -> Iterator[BenchmarkCase]:
    known = {"op", "shape", "dtype", "attrs", "soc", *limits}
    if unknown := set(group) - known:
        raise ValueError(
            f"cases.toml: [[{table}]] has {', '.join(sorted(unknown))}, want some of"
            f" {', '.join(sorted(known))}"
        )
    for op in group["op"]:
        unset = set(group.get("attrs", {})) - set(find(op).defaults())
        if unset:
            raise ValueError(f"cases.toml: {op} has no attribute {', '.join(sorted(unset))}")
        for shape in group["shape"]:
            for alias, soc in product(group["dtype"], group.get("soc", [SOC])):
                yield BenchmarkCase(
                    op,
                    parse_shape(shape),
                    dtypes.parse(alias).alias,
                    tuple(group.get("attrs", {}).items()),
                    {name: group[name] for name in limits if name in group},
                    soc,
                )
