# SPDX-License-Identifier: Apache-2.0
"""The list of choices.toml: other values of constants, other paths, and the calls that each of them
plans otherwise.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import random
import re
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from aclgrad.common import files
from aclgrad.errors import ToolkitError
from aclgrad.profiling.alternatives import applied, call_of, changed
from driver import cases

ROOT = Path(__file__).resolve().parents[2]
DECLARED = re.compile(
    r"\bconst(?:expr)?\s+(?!bool\b|RoundMode\b|reg::)[\w:]+(?:<[^>;]*>)?\s+(k[A-Z]\w*)(?:\[\w*\])?"
    r"\s*=?\s*([^;]*);"
)
"""A constant that is a number, or several."""
LARGEST = 1 << 24  # elements of a tensor: a larger one is planned alike
_OPS = ("softmax_grad", "scaled_masked_softmax_grad_v2", "log_sigmoid_grad")  # others plan alike
_SOCS = json.loads((ROOT / "simulator" / "src" / "soc" / "soc.json").read_text("utf-8"))


@dataclass(frozen=True)
class Call:
    """A call of an operator on one SoC."""

    case: cases.BenchmarkCase
    soc: str

    @property
    def key(self) -> str:
        """Its name in the table."""
        return self.case.key + ("" if self.soc == cases.SOC else f" {self.soc}")

    @property
    def words(self) -> list[str]:
        """The call as ``aclgrad profile`` takes it for the operator's sources."""
        given = [f"{name}={value}" for name, value in self.case.given]
        return call_of(self.case.spec, self.case.dims, self.case.alias, given)

    @property
    def facts(self) -> str:
        """What plans.cpp reads of it."""
        row = next(row for row in _SOCS["socs"] if row[0] == self.soc)
        soc = dict(zip(_SOCS["columns"], row, strict=True))
        arch = soc["npuArch"]
        kind = {_OPS[0]: "r", _OPS[1]: "m", _OPS[2]: "e"}[self.case.op]
        cores = soc["vecCores"] if _SOCS["archs"][str(arch)]["dataCopyPad"] else soc["aicCores"]
        size = _SOCS["archs"][str(arch)]["ubTilingBytes"]
        numbers = [*self.case.reduced, self.case.dtype.numpy.itemsize, cores, size, soc["l2Bytes"]]
        numbers += [4 if arch == 1001 else 8, int(arch in (1001, 2002)), int(arch == 3510)]
        return " ".join([kind, *map(str, numbers)])


@dataclass(frozen=True)
class Alternative:
    """Another value of a constant, or another path, as changes of the sources."""

    name: str
    changes: tuple[Mapping[str, str], ...]
    calls: tuple[str, ...]  # names of calls that a change of op_kernel is timed on

    @property
    def plans(self) -> bool:
        """Whether the tiling changes."""
        return any(change["file"].startswith("op_host") for change in self.changes)

    @contextmanager
    def applied(self, folder: Path) -> Iterator[None]:
        """The sources in a folder with it."""
        with ExitStack() as stack:
            for change in self.changes:
                stack.enter_context(applied(folder, self.name, change))
            yield


AS_IT_IS = Alternative("", (), ())


def parse_call(text: str) -> Call:
    """OP SHAPE DTYPE [ATTRIBUTE=VALUE] [SOC]."""
    op, shape, alias, *rest = text.split()
    socs = [word for word in rest if "=" not in word]
    given = tuple(
        (name, int(value)) for name, _, value in (w.partition("=") for w in rest if "=" in w)
    )
    size = tuple(map(int, shape.split("x")))
    return Call(cases.BenchmarkCase(op, size, alias, given), socs[0] if socs else cases.SOC)


def declared(path: str) -> dict[str, re.Match[str]]:
    """The numeric constants of a source by their names."""
    text = (ROOT / path).read_text("utf-8")
    return {found[1]: found for found in DECLARED.finditer(text)}


def _change(file: str, name: str, value: object) -> dict[str, str]:
    found = declared(file).get(name)
    if found is None:
        raise ToolkitError(
            f"benchmarks/choices.toml: {file} has no constant {name}. Next: drop it from the list"
        )
    end = found.start(2) - found.start()
    return {"file": file, "from": found[0], "to": f"{found[0][:end]}{value};"}


def alternatives(listed: Mapping[str, Any]) -> Iterator[Alternative]:
    """Everything that is listed: paths, then constants by their files."""
    for name, change in listed["alternatives"].items():
        yield Alternative(name, (change,), tuple(change.get("cases", "").split()))
    for file, constants in listed["constants"].items():
        for name, entry in constants.items():
            for value in entry["other"]:
                calls = tuple(entry.get("cases", "").split())
                yield Alternative(f"{name} = {value}", (_change(file, name, value),), calls)


def random_calls(count: int = 20_000) -> list[Call]:
    """Calls that no benchmark has, always the same: for what no benchmark reaches."""
    draw = random.Random(1)

    def size(least: int, most: int) -> int:
        return int(math.exp(draw.uniform(math.log(least), math.log(most + 1))))

    found: list[Call] = []
    while len(found) < count:
        soc = draw.choice([cases.SOC] * 4 + ["Ascend910B3", "Ascend950DT_9571", "Ascend310P3"])
        op = draw.choice([_OPS[0]] * 3 + list(_OPS[1:]))
        given: tuple[tuple[str, int], ...] = ()
        shape: tuple[int, ...] = size(16, 65536), size(8, 300_000)
        if op == _OPS[1]:
            shape = size(1, 256), size(1, 32), size(8, 512), size(8, 1024)
        elif op == _OPS[2]:
            shape = (size(1000, 1 << 24),)
        elif draw.random() < 0.6:
            shape, given = (size(1, 2048), size(4, 30_000), size(2, 4096)), (("dim", 1),)
        if math.prod(shape) <= LARGEST and (soc != "Ascend310P3" or op == _OPS[0]):
            alias = draw.choice(["fp32", "fp16"])
            found.append(Call(cases.BenchmarkCase(op, shape, alias, given), soc))
    return found


def benchmark_calls(listed: Mapping[str, Any]) -> list[Call]:
    """All calls of cases.toml whose plans differ, and those of the list itself."""
    there = cases.load()
    found = [Call(case, cases.SOC) for case in there.modelled]
    found += [Call(case, group.soc) for group in there.classes for case in group.cases]
    found = [call for call in found if call.case.op in _OPS and call.case.alias != "bf16"]
    return list(dict.fromkeys([*map(parse_call, listed["cases"].values()), *found]))


class Planner:
    """Plans calls by the tiling's sources with something changed, without building an operator."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.before: dict[Call, str] = {}

    @cached_property
    def sources(self) -> dict[str, str]:
        """Texts by their places."""
        paths = [*(ROOT / "op_host" / "common").glob("*.h"), ROOT / "benchmarks/driver/plans.cpp"]
        paths += (ROOT / "op_host" / "common").glob("*.cpp")
        paths = [path for path in paths if "_context" not in path.name]
        return {str(path.relative_to(ROOT)): path.read_text("utf-8") for path in paths}

    def plans(self, alternative: Alternative, calls: Sequence[Call]) -> dict[Call, str]:
        """A line per call: the tiling key, then what else the plan is."""
        texts = dict(self.sources)
        for change in alternative.changes:
            if change["file"] in texts:
                texts[change["file"]] = changed(texts[change["file"]], change, "")
        headers = {path: text for path, text in texts.items() if path.endswith(".h")}
        folder = self.folder / _digest(headers)
        for path, text in headers.items():
            place = folder / "common" / Path(path).name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, "utf-8")
        objects = []
        for text in (text for path, text in texts.items() if path.endswith(".cpp")):
            made = folder / f"{_digest(text)}.o"
            objects.append(str(made))
            if not made.exists():
                self._compile(["-c", "-x", "c++", "-"], made, folder, text)
        program = folder / _digest(objects)
        if not program.exists():
            self._compile(objects, program, folder)
        asked = "\n".join(call.facts for call in calls)
        kept = program.with_suffix(f".{_digest(asked)}.plans")
        if not kept.exists():
            run = subprocess.run([program], input=asked, capture_output=True, text=True)
            if run.returncode or run.stdout.count("\n") != len(calls):
                raise ToolkitError(f"the tiling ended with status {run.returncode}")
            files.write(kept, run.stdout, str(kept))
        lines = kept.read_text("utf-8").splitlines()
        return dict(zip(calls, lines, strict=True))

    def _compile(self, words: Sequence[str], made: Path, folder: Path, text: str = "") -> None:
        part = made.with_suffix(f".{os.getpid()}-{id(words)}")
        command = [os.environ.get("CXX", "g++"), "-std=c++17", "-O0", f"-I{folder}", *words]
        run = subprocess.run([*command, "-o", part], input=text, capture_output=True, text=True)
        if run.returncode:
            errors = [line for line in run.stderr.splitlines() if "error" in line]
            raise ToolkitError(f"does not compile: {(errors or ['no reason'])[0]}")
        os.replace(part, made)

    def key(self, call: Call) -> str:
        """The tiling key of a call that was planned."""
        return self.before[call].partition(" ")[0]

    def reached(self, alternative: Alternative, calls: Sequence[Call]) -> list[Call]:
        """Calls that it plans otherwise."""
        if not alternative.plans:
            return []
        if unplanned := [call for call in calls if call not in self.before]:
            self.before |= self.plans(AS_IT_IS, unplanned)
        after = self.plans(alternative, calls)
        return [call for call in calls if after[call] != self.before[call]]


def spread(calls: Sequence[Call], key: Callable[[Call], str], most: int) -> list[Call]:
    """A few of many calls: one of each tiling key and dtype, the most frequent first, on the SoC
    that has most of them: each SoC is another build.
    """
    small = sorted((call for call in calls if call.case.size <= LARGEST), key=_size)
    socs = Counter(call.soc for call in small).most_common(1)
    groups: dict[tuple[str, str], list[Call]] = {}
    for call in (call for call in small if call.soc == socs[0][0]):
        groups.setdefault((key(call), call.case.alias), []).append(call)
    ranked = sorted(groups.values(), key=len, reverse=True)
    return [group[len(group) // 4] for group in ranked[: max(0, most)]]


def _size(call: Call) -> int:
    return call.case.size


def _digest(what: object) -> str:
    return hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()[:16]
