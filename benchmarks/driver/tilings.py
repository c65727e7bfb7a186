# SPDX-License-Identifier: Apache-2.0
"""Whether another tiling of a call is faster: the package's kernels on tiling data that the host
did not choose.
"""

from __future__ import annotations

import ctypes as c
import hashlib
import math
import os
import re
import struct
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from aclgrad.common import files
from aclgrad.errors import AclgradError, ToolkitError
from aclgrad.profiling.alternatives import changed
from aclgrad.profiling.calls import profiling
from aclgrad.profiling.estimate import before_us, error_band
from aclgrad.profiling.profiled import Profiled
from aclgrad.runtime import open_device
from aclgrad.runtime.toolkit import sim_root
from aclgrad.spec.dtypes import BOOL
from aclgrad.spec.soc import family_of
from driver.calls import Call, WrongNumbersError
from driver.cases import SOC, BenchmarkCase
from driver.choice_list import ROOT, Alternative
from driver.choice_list import Call as Asked
from driver.modelled import LOW

Row = dict[str, Any]

_HEADER = ROOT / "op_host" / "common" / "row_reduce_data.h"
FIELDS: list[str] = re.findall(r"^  FIELD\((\w+)\)", _HEADER.read_text("utf-8"), re.MULTILINE)
MASKED = "scaled_masked_softmax_grad_v2"
FAMILIES = {"ascend910_93": "ascend910b"}  # whose kernels a family uses
KEYS = {1: "Padded", 2: "Shared rows", 3: "Columns", 4: "Shared columns", 5: "Transposed"}
KEYS |= {6: "Packed", 7: "Registers"}
WORKSPACE = 48 << 20  # more than any tiling here asks for, with the system's part
ELEMENTS = 500_000_000  # all tilings of a call compute no more together, but for LEAST tilings
LEAST = 16
AHEAD = 1.001  # a tiling is faster if it takes less time by this
FAR = 1.3  # a layout is left when its first line of tilings takes longer by this
HOPELESS = 4.0  # a layout is left when one of its first tilings takes longer by this
MOST_COPIES = 8  # no tiling has this many times as many copies as the fastest one
ON_A_LINE = 12  # so many tilings are tried that differ in one number


@dataclass(frozen=True)
class Tiling:
    """What the kernel is told, and where that is in the search."""

    place: tuple[int, ...]  # the layout, then what may be moved
    key: int
    cores: int
    workspace: int
    fields: tuple[int, ...]

    @property
    def copies(self) -> int:
        """How many tiles or chunks there are."""
        of = dict(zip(FIELDS, self.fields, strict=True))
        if self.chunks:
            return of["outer"] * of["colTiles"] * self.chunks
        return self.cores * -(of["coreUnits"] // -of["tileUnits"])

    @property
    def chunks(self) -> int:
        """Chunks of a shared axis, 0 with full load."""
        of = dict(zip(FIELDS, self.fields, strict=True))
        return -((of["sideRows"] or of["reduce"]) // -of["chunk"]) if of["chunk"] else 0

    @property
    def chunks_kept(self) -> bool:
        """Whether cores share an axis, and all its chunks stay in UB between the passes."""
        of = dict(zip(FIELDS, self.fields, strict=True))
        if not self.chunks:
            return False
        parts = -(self.chunks // -of["partChunks"])
        return of["keptChunks"] >= -(parts // -of["pieces"]) * of["partChunks"]

    @property
    def words(self) -> str:
        """What it is, for the table."""
        names = ("columns", "buffers", "parts", "more") if self.key in (2, 4) else ()
        names = names or ("columns", "cores", "units of a tile", "through L2")
        numbers = zip(names, self.place[1:], strict=True)
        return f"{KEYS[self.key]}, " + ", ".join(f"{name} {n}" for name, n in numbers if n)


def build(folder: Path, change: Alternative | None = None) -> Path:
    """The program that lists tilings, from the host's sources or with a change of its rule."""
    texts = {path.name: path.read_text("utf-8") for path in (ROOT / "op_host/common").iterdir()}
    texts["tilings.cpp"] = Path(__file__).with_name("tilings.cpp").read_text("utf-8")
    for one in change.changes if change else ():
        name = Path(one["file"]).name
        texts[name] = changed(texts[name], one, change.name if change else "")
    digest = hashlib.sha256("".join(texts.values()).encode()).hexdigest()[:16]
    place = folder / digest
    program = place / "tilings"
    if not program.exists():
        (place / "common").mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            files.write(place / "common" / name, text, str(place))
        part = program.with_suffix(f".{os.getpid()}")
        compiler = os.environ.get("CXX", "g++")
        words = [compiler, "-std=c++17", "-O1", f"-I{place}", f"{place}/common/tilings.cpp"]
        run = subprocess.run([*words, "-o", str(part)], capture_output=True, text=True)
        if run.returncode:
            raise ToolkitError(f"tilings.cpp does not compile: {run.stderr[:400]}")
        os.replace(part, program)
    return program


def state(*programs: Path) -> str:
    """A sum over programs, the search, the model of time and the kernels."""
    paths = [sim_root() / "lib64" / "libascendcl.so", *sorted(_kernels().rglob("*SoftmaxGrad*.so"))]
    found = hashlib.sha256()
    for path in (*programs, Path(__file__), *paths):
        found.update(path.read_bytes())
    return found.hexdigest()


def _kernels() -> Path:
    return sim_root() / "opp/vendors/aclgrad/op_impl/ai_core/tbe/kernel"


def listed(program: Path, case: BenchmarkCase, soc: str) -> list[Tiling]:
    """All tilings of a call that UB holds; the first one is the host's."""
    masked = case.op == MASKED
    asked = Asked(case if masked else replace(case, op="softmax_grad"), soc)  # all plan alike
    run = subprocess.run([program], input=asked.facts, capture_output=True, text=True)
    if run.returncode:
        raise ToolkitError(f"{case.key}: {run.stderr.strip()}")
    found = []
    for line in run.stdout.splitlines():
        numbers = tuple(map(int, line.split()))
        key, cores, workspace = numbers[5:8]
        found.append(Tiling(numbers[:5], key, cores, workspace, numbers[8:]))
    return found


class Kernel:
    """The kernel of a case on one SoC, with the case's tensors."""

    def __init__(self, case: BenchmarkCase, soc: str) -> None:
        self.case, self.soc = case, soc
        self.device = open_device("sim")
        self.device.set_option("soc", soc)
        self.call = Call(self.device, case)
        self.space = self.device.buffer(WORKSPACE)

    @cached_property
    def entry(self) -> c.c_void_p:
        """Its function."""
        spec = self.case.spec
        family = family_of(self.soc).name
        bools = {arg.name for arg in spec.tensors if BOOL in arg.dtypes}
        types = [
            "bool" if one.arg in bools else self.case.dtype.numpy.name
            for one in (*spec.inputs, *spec.outputs)
        ]
        folder = _kernels() / FAMILIES.get(family, family) / spec.op
        library = folder / f"{spec.op_type}_{'_'.join(types)}.so"
        return c.cast(getattr(c.CDLL(str(library)), spec.op), c.c_void_p)

    def data(self, tiling: Tiling) -> bytes:
        """The tiling data, with the operator's own fields behind those of the rows."""
        found = struct.pack(f"{len(tiling.fields)}q", *tiling.fields)
        if self.case.op == MASKED:
            rows = math.prod(self.case.shape[:3])  # the mask is as large as the tensors
            found += struct.pack("4qfi", rows, rows, 0, rows, self.case.attrs["scale"], 0)
        return found

    def launch(self, tiling: Tiling) -> None:
        """Run it, and wait."""
        call, spec = self.call, self.case.spec
        # Results of the tiling before would pass for those of rows that this one leaves out.
        call.result.write(np.full(call.result.nbytes, 0xFF, np.uint8))
        buffers = dict(zip((arg.name for arg in spec.tensors), call.buffers, strict=True))
        ordered = [buffers[one.arg] for one in (*spec.inputs, *spec.outputs)]
        data = self.device.upload(np.frombuffer(self.data(tiling), np.uint8).copy())
        try:
            ordered += [self.space, data]
            count = len(ordered)
            code = self.device.libraries.acl.aclsimLaunchKernel(
                spec.op_type.encode(),
                self.entry,
                c.c_uint32(tiling.cores),
                c.c_uint64(tiling.key),
                (c.c_void_p * count)(*(buffer.address for buffer in ordered)),
                (c.c_uint64 * count)(*(buffer.nbytes for buffer in ordered)),
                c.c_size_t(count),
                c.c_void_p(self.device.stream),
            )
            self.device.libraries.check(code, spec.op)
            self.device.synchronize()
        finally:
            data.free()

    def profiled(self, tiling: Tiling, to_beat: float = math.inf) -> Profiled | None:
        """The estimate, none where the kernel refuses the tiling; the numbers of what takes less
        than ``to_beat`` are checked.
        """
        call = self.call
        self.device.clear_profiles()
        try:
            with profiling(self.device):
                self.launch(tiling)
            launches = self.device.profiles()
            found = Profiled(
                self.case.op,
                self.case.dims,
                self.case.alias,
                self.soc,
                launches,
                call.read_bytes,
                call.write_bytes,
            )
            if found.us < to_beat:
                call.check()
        except (AclgradError, WrongNumbersError):
            return None
        finally:
            self.device.clear_findings()
        return found

    def us(self, tiling: Tiling, to_beat: float) -> float:
        """Microseconds, infinite where the kernel refuses the tiling."""
        found = self.profiled(tiling, to_beat)
        return found.us if found else math.inf

    def close(self) -> None:
        """Give everything back."""
        self.space.free()
        self.call.close()
        self.device.clear_profiles()
        self.device.set_option("soc", SOC)


class Search:
    """Goes from tiling to tiling, along one number at a time, as long as that is faster."""

    def __init__(
        self,
        own: Tiling,
        us: float,
        tilings: Sequence[Tiling],
        time: Callable[[Tiling, float], float],
        most: int,
    ) -> None:
        self.tilings, self.time, self.most = tilings, time, most
        self.own, self.best, self.best_us = own, own, us
        self.seen = {self.own.fields + (self.own.key, self.own.cores): us}

    def us(self, tiling: Tiling) -> float:
        """The time of a tiling, which is the best from now on if it is faster."""
        what = (*tiling.fields, tiling.key, tiling.cores)
        if what not in self.seen:
            if len(self.seen) > self.most:
                return math.inf
            self.seen[what] = self.time(tiling, self.best_us)
            if self.seen[what] * AHEAD < self.best_us:
                self.best, self.best_us = tiling, self.seen[what]
        return self.seen[what]

    def run(self) -> None:
        """Try every layout, the host's own one first."""
        groups: dict[int, list[Tiling]] = {}
        for tiling in self.tilings:
            groups.setdefault(tiling.place[0], []).append(tiling)
        for group in sorted(groups.values(), key=lambda group: group[0].key != self.own.key):
            same = [one for one in group if one.fields == self.own.fields]
            for at in [*same[:1], self.start(group)]:
                if self.us(at) < HOPELESS * self.best_us:
                    self.climb(group, at)

    def start(self, group: Sequence[Tiling]) -> Tiling:
        """Where to begin beside the host's tiling, the fastest of a few: of each width of columns
        the one of fewest copies that is read once, or some from everywhere on most of the cores.
        None is tried any more when one is far slower.
        """
        once = [one for one in group if one.chunks_kept]
        cores = max(one.cores for one in group)
        most = [one for one in group if one.cores * 8 >= cores * 7]
        few = most[len(most) // 8 :: max(1, len(most) // 4)]
        if once:
            columns = {one.place[1] for one in once}
            few = [
                min((one for one in once if one.place[1] == width), key=lambda one: one.copies)
                for width in columns
            ]
        few.sort(key=lambda one: one.copies)
        for one in few:
            if self.us(one) > HOPELESS * self.best_us:
                return one
        return min(few, key=self.us)

    def climb(self, group: Sequence[Tiling], at: Tiling) -> None:
        """Move along one number after the other until none is faster."""
        us, still = self.us(at), 0
        axes = [axis for axis in (3, 2, 1, 4) if len({one.place[axis] for one in group}) > 1]
        for axis in axes * 4:
            found = min(self.line(group, at, axis), key=self.us, default=at)
            still = 0 if self.us(found) * AHEAD < us else still + 1
            if still == 0:
                at, us = found, self.us(found)
            if still >= len(axes) or us > FAR * self.best_us:
                return

    def line(self, group: Sequence[Tiling], at: Tiling, axis: int) -> Iterator[Tiling]:
        """Tilings that are as near to one as can be but for one number: near ones and others."""
        values = sorted({one.place[axis] for one in group})
        near = sorted(values, key=lambda value: abs(value - at.place[axis]))[: ON_A_LINE // 2]
        spread = values[:: max(1, 2 * len(values) // ON_A_LINE)]

        def apart(one: Tiling) -> float:
            pairs = zip(one.place, at.place, strict=True)
            return sum(abs(math.log((a + 1) / (b + 1))) for a, b in pairs)

        for value in dict.fromkeys([*near, *spread, values[-1]]):
            found = min((one for one in group if one.place[axis] == value), key=apart)
            if found.copies <= MOST_COPIES * max(at.copies, self.best.copies):
                yield found


def search(case: BenchmarkCase, soc: str, program: Path, rule: Path, most: int) -> Row:
    """The host's tiling of a call, by ``rule``, beside the fastest one of up to ``most`` others; a
    tensor of many elements has fewer.
    """
    most = min(most, max(LEAST, ELEMENTS // case.size))
    kernel = Kernel(case, soc)
    row: Row = {"case": case.key, "soc": soc}
    try:
        own = listed(rule, case, soc)[0]
        before = kernel.profiled(own)
        if before is None:
            return row | {"error": "the kernel refuses the host's tiling"}
        row |= {"us": round(before.us, 3), "share": round(before.of_bound, 4)}
        if before.of_bound >= LOW:
            return row
        tilings = listed(program, case, soc)[1:]
        found = Search(own, before.us, tilings, kernel.us, most)
        found.run()
    finally:
        kernel.close()
    return row | {
        "best us": round(found.best_us, 3),
        "ratio": round(before.us / found.best_us, 4),
        "best": "" if found.best == own else found.best.words,
        "own": KEYS[own.key],
        "tried": len(found.seen),
        "refused": sum(map(math.isinf, found.seen.values())),
        "band": error_band(before.kernel),
        "outside": round(before_us(before.kernel) / before.us, 4),
    }
