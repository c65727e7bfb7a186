#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds, runs and verifies the examples of an asc-devkit checkout, unchanged, as tables.

scripts/compatibility_examples.py ../asc-devkit --output docs/compatibility_examples.md
"""

from __future__ import annotations

import argparse
import concurrent.futures
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from example_folders import ExampleRun, read_example, run_example

from aclgrad.common import files
from aclgrad.reading.sources import SourcesError

BASE = "examples/01_simd_cpp_api"
UNITS = {"vector": "Vector kernels", "matrix": "Kernels of the matrix unit"}
# Names that only kernels of the matrix unit have.
_MATRIX = re.compile(r"__cube__|__mix__\(1|\bMatmul<|\bMatmulImpl<|\bREGIST_MATMUL_OBJ|\bMmad\b")

# The causes of the findings, read in the sources of these examples; of one architecture, where it
# stands behind the name.
EXPLAINED = {
    "create_vec_index": "All 8 blocks write the same bytes of the output: the kernel never asks for"
    " its block. The values are equal, so the result is right.",
    "axpy_half_float": "All 8 blocks write the same bytes of the output: the kernel never asks for"
    " its block. The values are equal, so the result is right.",
    "reduce_computation": "16 values are copied out, of which the reduction has written one or two:"
    " the rest is what UB held before. The verification looks at the first ones only.",
    "region_proposal_sort": "`extractRepeat` divides elements by 16, not proposals: 32 repeats of"
    " 16 proposals read 8192 bytes of a buffer of 1024, where 4 repeats hold all 64 proposals. The"
    " check stops the kernel there. The repeats after the fourth overwrite none of the 64 results"
    " that are copied out, so the verification cannot notice. A copy with `SCORE_COUNT / 16`"
    " matches and has no finding.",
    "03_matrix_compute/batch_matmul": "The tensor of B in L0B is declared for 72 columns, and a"
    " transposing load of floats writes squares of 16: past its end, where nothing else lies.",
    "mmad_load3dv2": "The tensor of B in L0B is declared for 72 columns, and a transposing load of"
    " floats writes squares of 16: past its end, where nothing else lies.",
    "load_data_2dv2_l12l0": "Scenario 7: a transposing load of int8_t writes squares of 32. The"
    " next load writes half of one again without PipeBarrier<PIPE_MTE1>, and the last one ends"
    " past the tensor, where nothing else lies.",
    "load_data_with_stride": "In scenarios 1 and 2 Mmad writes 96 columns into a tensor of L0C that"
    " is declared for 80. In scenarios 5 and 6 the tensor of B in L0B is declared for 72 columns,"
    " and a load of floats writes squares of 16: past its end, where nothing else lies.",
    "06_compatibility_guide/fill": "A and B have the same bytes of L1, and both are filled with the"
    " same value. Fill of L1 works on MTE2, says its page; the kernel waits for MTE1 before it"
    " reads the values.",
    "cube_buffer_dump": "It counts blocks of the copy to FB as 64 bytes, as the restrictions of the"
    " page say. The table of the page and the header say 128: it copies twice as much, past the end"
    " of the tensor in L1, where nothing else lies. Nothing but the dumps orders that copy behind"
    " the one into L1. Mmad takes 32 values of a bias of 16. With findings as warnings the product"
    " is right, but its script looks for dumps in the lines of CANN, which the simulator prints in"
    " others.",
    "matmul_s4 dav-3510": "Its buffers take 256 KiB of UB, of which kernels have 248. With a"
    " smaller first one, which is enough, dbL0B of the tiling is 0, where 1 and 2 are documented,"
    " and both AIVs unpack all of A and B to the same bytes.",
    "matmul_s4": "Its script writes 32 words of the tiling, of which dbL0B is 0, and not those"
    " behind. Documented are 1 and 2.",
    "03_matrix_compute/mmad": "Scenario 1 multiplies 64 columns into a tensor of L0C that is"
    " declared for 48. In scenario 2 two Mmads of 6 fractals write one tile of L0C without the"
    " PipeBarrier<PIPE_M> that the page of Mmad asks for below 10.",
    "cross_core_set_wait_flag": "Scenarios 0 and 1 add to device memory that nothing has cleared."
    " In scenario 2 Cast widens bytes in place.",
    "00_matmul/batch_matmul": "The program frees none of its device memory.",
    "batch_matmul_iterate_n_batch": "The workspace is freed before the kernel that uses it has"
    " ended. Both AIVs ask for all batches, in one workspace, and copy"
    " equal values to the same bytes.",
    "mmad_with_sparse": "The first tile of A is loaded into L0A a second time, with the same values"
    " and without PipeBarrier<PIPE_MTE1>.",
    "matmul_callback": "Cores write neighbouring elements of one cache line by SetValue: the last"
    " line that is written back wins.",
    "matmul_ibshareAB": "Scenario 1 launches its kernel 10,000 times in a row, which takes minutes."
    " Scenario 2: both AIVs clear all of the output at once, with equal values.",
    "matmul_mx_ub_tscm_nz": "Both AIVs of an AI core copy the scales to the same bytes of L1 (bit 2"
    " of the queue's mask), and nothing orders the two copies, of equal values. The workspace is"
    " freed before the kernel that uses it has ended.",
    "fixpipe_l0c2ub": "Scenarios 1 and 2: mode 2 raises the counters of both AIVs, and the second"
    " one returns without a wait.",
    "matmul_gelu_high_performance": "On dav-3510 the second tile ends at 256 KiB of UB, of which"
    " kernels have 248: the rest takes options that give up the compiler's stack.",
    "matmul_splitk": "Fill does nothing on an AIC, so that the sums start from what the memory"
    " held.",
    "mmad_mx": "Fill of L1 works on MTE2, says its page; the kernel waits for MTE1 before it reads"
    " the values.",
    "load_data_2dmx_l12l0": "Fill of L1 works on MTE2, says its page; the kernel waits for MTE1"
    " before it reads the values. In scenarios 2 and 5 it counts columns of FP4 as of FP8 and fills"
    " past the declared end of the tensor.",
    "data_sync_barrier": "The kernel writes one value of the output, the verification wants zeros"
    " in all others: it counts on device memory that is zero when it is allocated. It is so with"
    " `ACLGRAD_SIM_MODE=fast`, and there it matches.",
    "tbufpool_management": "The kernel writes the first part of the output, the verification wants"
    " zeros in the rest: it counts on device memory that is zero when it is allocated. It is so"
    " with `ACLGRAD_SIM_MODE=fast`, and there it matches.",
}


@dataclass(frozen=True)
class Job:
    """One example in one scenario, for one architecture."""

    name: str
    scenario: str | None
    arch: str
    matrix: bool


def jobs(
    root: Path,
    architectures: Sequence[str],
    only: Sequence[str],
    unit: str | None,
    others: bool = True,
) -> Iterator[Job]:
    """All examples whose README says how to build, run and verify them. With `others` one that is
    for none of the architectures runs on its own first.
    """
    for project in sorted((root / BASE).rglob("CMakeLists.txt")):
        name = project.parent.relative_to(root / BASE).as_posix()
        if only and not any(word in name for word in only):
            continue
        try:
            example = read_example(project.parent)
        except SourcesError:
            continue
        sources = [path for path in project.parent.rglob("*") if path.suffix in (".asc", ".h")]
        matrix = any(_MATRIX.search(path.read_text("utf-8", "replace")) for path in sources)
        if unit is not None and matrix != (unit == "matrix"):
            continue
        own = [arch for arch in architectures if arch in example.architectures]
        for arch in own or (example.architectures[:1] if others else ()):
            for scenario in example.scenarios:
                yield Job(name, scenario, arch, matrix)


_COLUMNS: dict[str, Callable[[ExampleRun], bool]] = {
    "built": lambda outcome: outcome.built,
    "ran": lambda outcome: outcome.ran,
    "matched": lambda outcome: outcome.matched,
    "no finding": lambda outcome: outcome.ran and outcome.clean,
    "matched with warnings": lambda outcome: outcome.goes_on or (outcome.matched and outcome.clean),
}


def _row(name: str, own: Sequence[ExampleRun], arch: str) -> str:
    names = (f"/{name} {own[0].arch}", f"/{name}")
    explained = next(
        (why for end, why in EXPLAINED.items() if any(one.endswith(f"/{end}") for one in names)), ""
    )
    remarks = [f"on {own[0].arch}, the first it is for"] if own[0].arch != arch else []
    why = {re.sub(r"^\S+: (fatal )?error: ", "", o.why) for o in own if not o.goes_on}
    if not explained:
        remarks += sorted(cell.replace("|", "\\|") for cell in why - {""})
    kinds = sorted({f["kind"] for o in own for f in o.findings if f["severity"] == "error"})
    if kinds:
        remarks.append(", ".join(f"`{kind}`" for kind in kinds) + ":")
    if explained and (kinds or not all(o.matched for o in own)):
        remarks.append(explained)
    scenarios = ", ".join(o.scenario for o in own if o.scenario is not None) or "-"
    counts = " | ".join(f"{sum(test(o) for o in own)}/{len(own)}" for test in _COLUMNS.values())
    return f"| {name} | {scenarios} | {counts} | {' '.join(remarks)} |"


def table(outcomes: Sequence[ExampleRun], title: str, arch: str) -> list[str]:
    """A row for each example of a unit and an architecture."""
    runs: dict[str, list[ExampleRun]] = {}
    for outcome in outcomes:
        if outcome.applies:
            runs.setdefault(outcome.example, []).append(outcome)
    ran = [outcome for own in runs.values() for outcome in own]
    counts = {name: sum(test(o) for o in ran) for name, test in _COLUMNS.items()}
    return [
        f"## {title}",
        "",
        f"| example | scenarios | {' | '.join(_COLUMNS)} | remarks |",
        "|---" * (3 + len(_COLUMNS)) + "|",
        *(_row(name, own, arch) for name, own in runs.items()),
        "",
        f"{len(runs)} examples, {len(ran)} scenarios: "
        + ", ".join(f"{count} {name}" for name, count in counts.items())
        + f"; {len(outcomes) - len(ran)} more are for other architectures. Hints do not count.",
        "",
    ]


def page(
    found: Sequence[tuple[Job, ExampleRun]], revision: str, archs: Sequence[str], command: str
) -> str:
    """A table for each architecture and unit."""
    lines = [
        "<!-- Generated by scripts/compatibility_examples.py - do not edit -->",
        "# Examples of asc-devkit for the matrix unit"
        if "--unit matrix" in command
        else "# Examples of asc-devkit",
        "",
        f"The examples of a checkout at revision {revision}, each in every scenario that its"
        " project has for an architecture, built by its own CMakeLists.txt, run and verified by its"
        " own scripts, all unchanged, with the strict checks on. *Matched with warnings*: without a"
        " finding, or with `ACLGRAD_FINDINGS=warn`, where the kernel goes on as hardware does."
        " Scripts that make data of Ascend 950 need ml_dtypes and en_dtypes."
        + (
            " Only examples with a word behind `--only` in their name were taken."
            * ("--only" in command)
        )
        + f" Regenerate: `{command}`.",
        "",
    ]
    for arch in archs:
        for unit, title in UNITS.items():
            own = [
                outcome
                for job, outcome in found
                if job.matrix == (unit == "matrix")
                and (job.arch == arch or (arch == archs[0] and job.arch not in archs))
            ]
            lines += table(own, f"{title}, {arch}", arch) if own else []
    return "\n".join(lines)


def recorded(record: Path | None) -> dict[Job, ExampleRun]:
    """What earlier runs wrote into a record."""
    if record is None or not record.exists():
        return {}
    rows = [json.loads(line) for line in record.read_text().splitlines()]
    return {Job(**row["job"]): ExampleRun(**row["outcome"]) for row in rows}


def _rows(known: Mapping[Job, ExampleRun]) -> str:
    """The record of them."""
    rows = ({"job": asdict(job), "outcome": asdict(outcome)} for job, outcome in known.items())
    return "".join(json.dumps(row) + "\n" for row in rows)


def main() -> int:
    """Run all and print or write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--output", type=Path, help="file for the page; it is printed otherwise")
    parser.add_argument("--arch", action="append", help="default: dav-2201 and dav-3510")
    parser.add_argument("--unit", choices=UNITS, help="the kernels of one unit alone")
    parser.add_argument("--timeout", type=float, default=300, help="seconds for one program")
    parser.add_argument("--only", action="append", default=[], help="part of an example's name")
    parser.add_argument("--jobs", "-j", type=int, default=2)
    parser.add_argument(
        "--record", type=Path, help="file of outcomes: what it has is taken from it, and not run"
    )
    words = parser.parse_args()
    revision = subprocess.run(
        ["git", "-C", str(words.checkout), "describe", "--always"], capture_output=True, text=True
    ).stdout.strip()
    archs = words.arch or ["dav-2201", "dav-3510"]
    found: list[tuple[Job, ExampleRun]] = []
    known = recorded(words.record)

    def run(job: Job) -> tuple[Job, ExampleRun]:
        if job in known:
            return job, known[job]
        folder = words.checkout / BASE / job.name
        return job, run_example(
            folder, job.scenario, arch=job.arch, name=job.name, timeout=words.timeout
        )

    with concurrent.futures.ThreadPoolExecutor(words.jobs) as pool:
        for job, outcome in pool.map(
            run, list(jobs(words.checkout, archs, words.only, words.unit, others=not words.arch))
        ):
            found.append((job, outcome))
            if words.record is not None and job not in known:
                known[job] = outcome
                files.write(words.record, _rows(known))
            verdict = (
                "other architecture" if not outcome.applies
                else "clean" if outcome.matched and outcome.clean
                else "matched, findings" if outcome.matched
                else outcome.why
            )  # fmt: skip
            print(f"{job.name} {job.arch} {job.scenario or ''}: {verdict}", file=sys.stderr)
    given = ["--unit", words.unit] if words.unit else []
    given += [part for name in words.arch or () for part in ("--arch", name)]
    given += [part for name in words.only for part in ("--only", name)]
    given += ["--output", str(words.output)] if words.output else []
    command = " ".join(["scripts/compatibility_examples.py", "CHECKOUT", *given])
    text = page(found, revision or "an unknown revision", archs, command)
    if words.output is None:
        print(text)
    else:
        files.write(words.output, text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
