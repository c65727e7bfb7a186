# SPDX-License-Identifier: Apache-2.0
"""The timing model against published board times, and its error bands against its errors. See
docs/reference/timing_validation.md.

Usage: validate.py [--check] [--record] [--held-out] [--group TEXT]
"""

from __future__ import annotations

import argparse
import ctypes as c
import json
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import cycle_model
from aclgrad.cli import progress_lines as told
from aclgrad.common import files, page_sections
from aclgrad.profiling.estimate import before_us, bound_by, error_band, undecided
from aclgrad.runtime import Device, open_device
from aclgrad.runtime.memory import Buffer
from board import CASES, BoardCase

HERE = Path(__file__).resolve().parent
RECORDED = HERE / "recorded.json"
DOCUMENT = HERE.parents[1] / "docs" / "reference" / "timing_validation.md"
MOST_DRIFT = 1.0  # percentage points
HOLD = 0.9  # of the stated ranges, of each source
ALIKE = 0.02  # two times that differ by less rank nothing
SOURCES = {
    "910B": ("kernels.cpp",),
    "910B cube": ("cube_kernels.cpp",),
    "950": ("kernels.cpp", "register_kernels.cpp"),
    "950 cube": ("cube_kernels.cpp",),
}
MACROS = {"910B": ("2201", "220"), "950": ("3510", "310")}
CUBE_MACROS = {"910B": "__DAV_C220_CUBE__", "950": "__DAV_C310_CUBE__"}


@dataclass(frozen=True)
class Row:
    """One quantity of one case."""

    case: BoardCase
    quantity: str
    board: float
    model: float
    bound: str = ""  # what the model says bounds the launch
    band: float = 0.0  # percent that it states
    undecided: bool = False  # no rule of the model can tell variants of it apart

    @property
    def whole(self) -> bool:
        """Whether the quantity is the time of the launch, and not that of a pipe that waits."""
        copies = self.quantity == self.bound or self.bound in ("memory", "l2")
        return self.quantity in ("task", "aiv", "inside", "kernel") or (
            "copy" in self.case.group and copies
        )

    @property
    def error(self) -> float:
        """Percent."""
        return 100 * (self.model / self.board - 1)

    @property
    def key(self) -> str:
        """Its name in recorded.json."""
        return f"{self.case.soc} | {self.case.group} | {self.case.name} | {self.quantity}"

    @property
    def fitted(self) -> bool:
        """Whether a constant of the model was fitted to it."""
        return self.quantity in self.case.fitted


class Runner:
    """Launches the cases on the simulator with the timing model on."""

    def __init__(self, device: Device, folder: Path) -> None:
        self.device = device
        self.toolkit = device.libraries.toolkit
        self.folder = folder
        self.kernels: dict[str, c.CDLL] = {}
        self.buffers: dict[int, Buffer] = {}
        device.set_option("mode", "fast")

    def library(self, case: BoardCase) -> c.CDLL:
        """The kernels for the case's architecture and cores."""
        soc_family = next(name for name in MACROS if name in case.soc)
        family = f"{soc_family} cube" if case.cube else soc_family
        if family not in self.kernels:
            arch, cce = MACROS[soc_family]
            target = self.folder / f"kernels_{family.replace(' ', '_')}.so"
            sources = [str(HERE / name) for name in SOURCES[family]]
            if family in cycle_model.SOC:
                generated = self.folder / "cycle_model.cpp"
                lines = [one.source for one in cycle_model.kernels()]
                generated.write_text('#include "kernels.h"\n' + "".join(lines), encoding="utf-8")
                sources.append(str(generated))
            command = ["g++", "-std=c++17", "-fPIC", "-shared", "-O1", "-fno-omit-frame-pointer"]
            command += [f"-D__NPU_ARCH__={arch}", f"-D__CCE_AICORE__={cce}"]
            command += [f"-D{CUBE_MACROS[soc_family]}"] if case.cube else []
            command += [
                f"-I{self.toolkit.include_dirs[0]}",
                f"-I{HERE}",
                *sources,
                "-o",
                str(target),
            ]
            command += [f"-L{self.toolkit.library_dir}", "-lascendcl"]
            subprocess.run(command, check=True)
            self.kernels[family] = c.CDLL(str(target))
        return self.kernels[family]

    def block(self, slot: int, size: int) -> int:
        """Device memory of at least this size, the same for all cases."""
        have = self.buffers.get(slot)
        if have is None or have.nbytes < size:
            if have is not None:
                have.free()
            have = self.buffers[slot] = self.device.buffer(size)
        assert have.address is not None
        return have.address

    def profile(self, case: BoardCase, offset: int = 0) -> dict[str, Any]:
        """The estimate of the case's launch; offset moves its tensors by bytes."""
        self.device.set_option("soc", case.soc)
        packed = np.frombuffer(case.parameters.pack(), np.uint8)
        sizes = [max(case.x, 512), max(case.y, 512), max(case.z, 512), packed.nbytes]
        addresses = [self.block(slot, size + offset) + offset for slot, size in enumerate(sizes)]
        addresses[3] -= offset
        self.buffers[3].write(packed)
        entry = c.cast(getattr(self.library(case), case.kernel), c.c_void_p)
        self.device.clear_profiles()
        self.device.set_option("profile", "on")
        libraries = self.device.libraries
        try:
            code = libraries.acl.aclsimLaunchKernel(
                case.kernel.encode(),
                entry,
                c.c_uint32(case.block_dim),
                c.c_uint64(0),
                (c.c_void_p * 4)(*addresses),
                (c.c_uint64 * 4)(*sizes),
                c.c_size_t(4),
                c.c_void_p(self.device.stream),
            )
            libraries.check(code, "aclsimLaunchKernel")
            self.device.synchronize()
        finally:
            self.device.set_option("profile", "off")
        return self.device.profiles()[0]

    def rows(self, case: BoardCase) -> list[Row]:
        """What the board took against what the model says."""
        found = self.profile(case)
        cores, mhz = found["cores"], found["mhz"]

        def mean(name: str) -> float:
            return float(sum(core[name] for core in cores) / len(cores) / mhz)

        begin = found["kernelStart"] / mhz
        took = {"aiv": mean("cycles") - mean("start"), "scalar": mean("scalar")}
        took = {name: begin + (value - begin) * case.scale for name, value in took.items()}
        took["aic"] = took["aiv"]
        pipes = ("vec", "mte2", "mte3", "mte1", "cube", "fixpipe")
        took |= {pipe: mean(pipe) * case.scale for pipe in pipes if pipe in cores[0]}
        # Behind the kernel's start, as its own clock has it; and without the launch, as a cycle
        # model has it.
        took["inside"] = (mean("cycles") - mean("start") - begin) * case.scale
        before = before_us(found)
        took["kernel"] = begin + (found["microseconds"] - before) * case.scale
        took["task"] = before + (found["microseconds"] - before) * case.scale
        bound, band, open_ = bound_by(found).key, 100 * error_band(found), bool(undecided(found))
        return [
            Row(case, name, board, took[name], bound, band, open_)
            for name, board in case.board.items()
        ]


def markdown(rows: list[Row]) -> str:
    """The table of the document."""
    lines = [
        "| SoC | experiment | case | quantity | board us | model us | error % | fitted |",
        "|---|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {row.case.soc.removeprefix('Ascend')} | {row.case.group} | {row.case.name} |"
        f" {row.quantity} | {row.board:.4g} | {row.model:.4g} | {row.error:+.1f} |"
        f" {'yes' if row.fitted else 'no'} |"
        for row in rows
    ]
    outside = [f"* {line}" for line in beyond(rows)]
    share = f"Outside of the stated range, {len(outside)} of {sum(row.whole for row in rows)}:"
    tables = [summary(rows), "", ranks(rows), "", bands(rows), "", share, "", *outside]
    return "\n".join([*lines, "", *tables])


def source(row: Row) -> str:
    """What has the row's time: boards of a family, or the cycle model."""
    if row.case.group.startswith("cycle model"):
        return "CANN's cycle model of 950"
    return "boards, A2" if "910B" in row.case.soc else "boards, 950"


def summary(rows: list[Row]) -> str:
    """Errors, apart for rows that were fitted to and those that were held out."""
    lines = [
        "| source | rows | count | median error % | worst error % | within 25 % |",
        "|---|---|---|---|---|---|",
    ]
    for word in sorted({source(row) for row in rows}):
        for fitted in (True, False):
            errors = [
                abs(row.error) for row in rows if source(row) == word and row.fitted == fitted
            ]
            if errors:
                near = sum(error <= 25 for error in errors) / len(errors)
                lines.append(
                    f"| {word} | {'fitted' if fitted else 'held out'} | {len(errors)} |"
                    f" {np.median(errors):.1f} | {max(errors):.1f} | {near:.0%} |"
                )
    return "\n".join(lines)


def variants(rows: list[Row]) -> list[list[Row]]:
    """Rows of one kernel in several variants: those of an experiment, by what was measured."""
    groups: dict[tuple[str, str, str], list[Row]] = {}
    for row in rows:
        if row.whole or row.quantity == "vec":
            found = groups.setdefault((row.case.soc, row.case.group, row.quantity), [])
            found.append(row)
    alike = ("add", "copy", "product", "banks", "blocks", "100 x", "gelu", "softmax", "quantiser")
    return [
        found
        for (_, group, _), found in groups.items()
        if len(found) > 1 and group.startswith(alike)
    ]


def apart(group: list[Row]) -> list[tuple[Row, Row]]:
    """Pairs whose times differ by more than a tenth, the longer one first."""
    pairs = [(a, b) for a in group for b in group if a.board > 1.1 * b.board]
    return [(a, b) for a, b in pairs if a is not b]


def left_open(a: Row, b: Row) -> bool:
    """Whether the model has two variants alike, and says that it cannot tell them apart."""
    return a.undecided and b.undecided and abs(a.model / b.model - 1) <= ALIKE


def turned(rows: list[Row]) -> list[str]:
    """Pairs that the model ranks otherwise."""
    return [
        f"{a.key} takes longer than {b.case.name}: {a.board:.4g} and {b.board:.4g} us,"
        f" the model has {a.model:.4g} and {b.model:.4g}"
        for group in variants(rows)
        for a, b in apart(group)
        if a.model <= b.model and not left_open(a, b)
    ]


def ranks(rows: list[Row]) -> str:
    """How the model ranks variants of one kernel."""
    lines = [
        "| SoC | experiment | quantity | variants | rank correlation | pairs apart by 10 % | ranked"
        " as measured | not decided |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for group in variants(rows):
        board, model = (
            np.argsort(np.argsort([getattr(row, name) for row in group]))
            for name in ("board", "model")
        )
        pairs = apart(group)
        undecided_ = sum(left_open(a, b) for a, b in pairs)
        right = sum(a.model > b.model and not left_open(a, b) for a, b in pairs)
        first = group[0]
        lines.append(
            f"| {first.case.soc.removeprefix('Ascend')} | {first.case.group} | {first.quantity} |"
            f" {len(group)} | {np.corrcoef(board, model)[0, 1]:.2f} | {len(pairs)} | {right} |"
            f" {undecided_} |"
        )
    return "\n".join(lines)


def bands(rows: list[Row]) -> str:
    """Worst error of whole launches by what bounds them, and the band that the model states."""
    lines = ["| SoC | bound by | launches | worst error % | stated % |", "|---|---|---|---|---|"]
    for soc in ("910B", "950"):
        here = [row for row in rows if soc in row.case.soc and row.whole]
        for bound in sorted({row.bound for row in here}):
            some = [row for row in here if row.bound == bound]
            least = min(row.band for row in some)
            stated = f"{least:.0f}"
            if max(row.band for row in some) > least:
                stated += f" to {max(row.band for row in some):.0f}"
            lines.append(
                f"| {soc} | {bound} | {len(some)} | {max(abs(row.error) for row in some):.1f} |"
                f" {stated} |"
            )
    return "\n".join(lines)


def beyond(rows: list[Row]) -> list[str]:
    """Whole launches whose error is larger than the band that the model states for them."""
    return [
        f"{row.key}: error {row.error:+.1f} %, band {row.band:.0f} %"
        for row in rows
        if row.whole and abs(row.error) > row.band
    ]


def drifted(rows: list[Row]) -> list[str]:
    """Rows whose error is no longer the recorded one."""
    recorded: dict[str, float] = json.loads(RECORDED.read_text(encoding="utf-8"))
    lines = []
    for row in rows:
        want = recorded.pop(row.key, None)
        if want is None:
            lines.append(f"{row.key}: not recorded")
        elif abs(row.error - want) > MOST_DRIFT:
            lines.append(f"{row.key}: error {row.error:+.1f} %, recorded {want:+.1f} %")
    return lines + [f"{key}: recorded, but no longer there" for key in recorded]


def record(rows: list[Row]) -> None:
    """Writes recorded.json and the table of the document."""
    errors = {row.key: round(row.error, 2) for row in rows}
    files.write(RECORDED, json.dumps(errors, indent=1) + "\n", "--record")
    page_sections.write(DOCUMENT, "validation", f"\n{markdown(rows)}\n\n")


def main() -> int:  # noqa: C901
    """Entry point: 0, or 1 when an error has drifted or is larger than stated."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--check", action="store_true", help="1 when an error has drifted or is larger than stated"
    )
    parser.add_argument("--record", action="store_true", help="record these errors")
    parser.add_argument("--group", default="", help="only cases whose group or name has this text")
    parser.add_argument(
        "--held-out", action="store_true", help="only rows that nothing was fitted to"
    )
    options = parser.parse_args()
    if options.held_out and (options.check or options.record):
        parser.error("--held-out: with neither --check nor --record, which are about all rows")
    if options.group and (options.check or options.record):
        parser.error("--group: with neither --check nor --record, which are about all cases")
    console = Console(width=None if sys.stdout.isatty() else 150)
    rows: list[Row] = []
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as folder, told.telling("published experiments"):
        runner = Runner(open_device("sim"), Path(folder))
        for number, case in enumerate(CASES):
            told.tell(f"{case.soc} {case.group} {case.name}", number, len(CASES))
            if options.group in f"{case.group} {case.name} {case.soc}":
                start = time.monotonic()
                rows += runner.rows(case)
                if time.monotonic() - start > 1.0 and not options.check:
                    took = time.monotonic() - start
                    console.print(f"{case.soc} {case.group} {case.name}: {took:.1f} s")
    rows = [row for row in rows if not (options.held_out and row.fitted)]
    table = Table("SoC", "experiment", "case", "quantity", "board us", "model us", "error %", "")
    for row in rows:
        bad = "red" if abs(row.error) > 15 else ""
        table.add_row(
            row.case.soc.removeprefix("Ascend"),
            row.case.group,
            row.case.name,
            row.quantity,
            f"{row.board:.4g}",
            f"{row.model:.4g}",
            f"{row.error:+.1f}",
            "fitted" if row.fitted else "",
            style=bad,
        )
    console.print(table)
    console.print(summary(rows), f"{time.monotonic() - begun:.1f} s")
    console.print(ranks(rows))
    console.print(bands(rows))
    if options.record:
        record(rows)
    lines = drifted(rows) if options.check else []
    for line in lines:
        console.print(f"drift: {line}. Next: validate.py --record when the change is meant")
    wide = []
    for word in sorted({source(row) for row in rows}) if options.check else ():
        whole = [row for row in rows if row.whole and source(row) == word]
        outside = beyond(whole)
        if len(outside) > (1 - HOLD) * len(whole):
            wide += outside
    for line in wide:
        console.print(f"beyond its band: {line}. Next: widen band in costs.json")
    wrong = turned(rows) if options.check else []
    for line in wrong:
        console.print(f"ranked the wrong way round: {line}")
    return 1 if lines or wide or wrong else 0


if __name__ == "__main__":
    sys.exit(main())
