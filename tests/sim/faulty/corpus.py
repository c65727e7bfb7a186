# SPDX-License-Identifier: Apache-2.0
"""Builds the corpus of faulty kernels and runs single kernels of it."""

from __future__ import annotations

import ctypes
import json
import re
import struct
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from compile_once import compile_once
from raw_simulator import TO_DEVICE, TO_HOST, RawSimulator

HERE = Path(__file__).parent
SOURCES = ("queues", "flags", "rows", "cores", "ids", "masks", "outputs", "meetings")
SEEDS = range(1, 13)

Array = npt.NDArray[Any]
Finding = dict[str, Any]


@dataclass(frozen=True)
class Tiling:
    """As struct Tiling in corpus.h."""

    total: int = 0
    per_core: int = 0
    tile: int = 0
    rows: int = 0
    columns: int = 0

    def pack(self) -> Array:
        """The bytes that the kernel reads."""
        data = struct.pack("<5I", self.total, self.per_core, self.tile, self.rows, self.columns)
        return np.frombuffer(data, np.uint8).copy()


@dataclass(frozen=True)
class Launch:
    """What a correct kernel is launched with, and the numbers it must give."""

    x: Array
    y: Array
    want: Array
    tiling: Tiling
    cores: int = 1
    workspace: int = 0
    cleared: int = 0  # bytes of the workspace that the host has cleared


@dataclass(frozen=True)
class Fault:
    """One fault: how it is reported, and where. at and ends are labels in the source."""

    name: str
    kind: str
    at: str = ""
    ends: tuple[str, ...] = ()
    soc: str = ""
    auto_sync: bool = True
    # Numbers go wrong under chaos: of every race, and of nothing else.
    race: bool = False
    tiling: dict[str, int] = field(default_factory=dict)
    tiling_bytes: int = 0

    def of(self, launch: Launch) -> Launch:
        """The launch with this fault's tiling."""
        return replace(launch, tiling=replace(launch.tiling, **self.tiling))


def labels(source: str) -> dict[str, int]:
    """Label -> line of a source of the corpus, or of the header that all share."""
    found: dict[str, int] = {}
    for file in (f"{source}.cpp", "corpus.h"):
        for number, line in enumerate((HERE / file).read_text().splitlines(), 1):
            for label in re.findall(r"@(\w+)(?=[\w@ ]*$)", line.partition("//")[2]):
                assert label not in found, label
                found[label] = number
    return found


def kernels(source: str) -> set[str]:
    """Entry points of a source of the corpus."""
    text = (HERE / f"{source}.cpp").read_text()
    return {f"{a}_{b}" for a, b in re.findall(r"^KERNEL\((\w+), (\w+)\)", text, re.M)}


def build(toolkit: Path, folder: Path, level: str) -> dict[str, ctypes.CDLL]:
    """Source name -> its library, compiled side by side."""

    def compile_one(name: str) -> Path:
        command = ["g++", "-std=c++17", "-fPIC", "-shared", "-Wall", "-Wextra", "-Werror"]
        command += ["-D__NPU_ARCH__=2201", "-D__CCE_AICORE__=220", f"-I{toolkit}/include"]
        command += [str(HERE / f"{name}.cpp"), level, "-gdwarf-4"]
        # Calls leave their frames behind, so that every report finds its line.
        command += ["-fno-omit-frame-pointer", "-fno-optimize-sibling-calls"]
        command += [f"-L{toolkit}/lib64", "-lascendcl", f"-Wl,-rpath,{toolkit}/lib64"]
        return compile_once(folder, f"{name}{level}.so", command)

    with ThreadPoolExecutor(2) as pool:
        targets = list(pool.map(compile_one, SOURCES))
    return {name: ctypes.CDLL(str(path)) for name, path in zip(SOURCES, targets, strict=True)}


class Simulator(RawSimulator):
    """Runs kernels of the corpus: every launch has fresh device memory."""

    def findings(self, severity: str = "error") -> list[Finding]:
        """What has been found since the last launch began."""
        found = json.loads(self.lib.aclsimFindings().decode())
        return [entry for entry in found if entry["severity"] == severity]

    def launch(
        self, entry: Any, launch: Launch, tiling_bytes: int = 0
    ) -> tuple[int, Array, list[Finding]]:
        """The launch's code, its output and the errors that it has found."""
        tiling = launch.tiling.pack()[: tiling_bytes or None]
        sizes = [launch.x.nbytes, launch.y.nbytes, launch.want.nbytes]
        sizes += [max(launch.workspace, 32), tiling.nbytes]
        blocks = [self.malloc(size) for size in sizes]
        for block, array in ((0, launch.x), (1, launch.y), (4, tiling)):
            self.copy(blocks[block], array.ctypes.data, array.nbytes, TO_DEVICE)
        if launch.cleared:
            zeros = np.zeros(launch.cleared, np.uint8)
            self.copy(blocks[3], zeros.ctypes.data, zeros.nbytes, TO_DEVICE)
        stream = self.new_stream()
        self.lib.aclsimClearFindings()
        self.expect_output(blocks[2], launch.want.nbytes, launch.want.itemsize, "z")
        self.enqueue("corpus", entry, stream, list(zip(blocks, sizes, strict=True)), launch.cores)
        code = self.lib.aclrtSynchronizeStream(stream)
        found = self.findings()
        out = np.empty_like(launch.want)
        self.copy(out.ctypes.data, blocks[2], out.nbytes, TO_HOST)
        self.lib.aclrtDestroyStream(stream)
        for block in blocks:
            self.free(block)
        return code, out, found


def lines_of(finding: Finding) -> list[int]:
    """Lines of the corpus that a finding names, its own place first."""
    places: Sequence[Finding] = [finding["at"], *finding["related"]]
    if finding["at"]["instruction"] != "the kernel":
        # All kernels make their tensors at one line of the header.
        places = [place for place in places if place["instruction"] != "SetGlobalBuffer"]
    return [place["line"] for place in places if Path(place["file"]).parent == HERE]
