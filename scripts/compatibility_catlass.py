#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds the examples of a catlass checkout unchanged, runs and verifies them, as a table.

scripts/compatibility_catlass.py ../catlass --output docs/compatibility_catlass.md
"""

from __future__ import annotations

import argparse
import concurrent.futures
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aclgrad.building.build_tools import need_tool
from aclgrad.common import files, temporary
from aclgrad.common.cache import root as cache_root
from aclgrad.running.kernel_file import compiler, run_program
from aclgrad.runtime.toolkit import sim_root

GEMM = ("256 512 1024", "97 133 211", "1 300 65")
GROUPED = ("3 128 160 96", "2 97 133 65")
W4A4 = ("256 512 1024", "97 128 208")
SCALED = ("256 512 1024", "97 133 256")
CASES: Mapping[str, Sequence[str]] = {
    "01_batched_matmul": GROUPED,
    "02_grouped_matmul_slice_m": GROUPED,
    "05_grouped_matmul_slice_k": GROUPED,
    "07_grouped_matmul_slice_m_per_token_dequant_moe": GROUPED,
    "08_grouped_matmul": GROUPED,
    "10_grouped_matmul_slice_m_per_token_dequant": GROUPED,
    "11_grouped_matmul_slice_k_per_token_dequant": GROUPED,
    "16_group_gemm": ("3 128,256,97 256,133,128 64,256,128",),
    "17_gemv_aiv": ("256 512", "97 133"),
    "18_gemv_aic": ("256 512", "97 133"),
    "19_mla": ("1 1 128 16 16 128",),
    "21_basic_matmul_preload_zN": ("256 512 1024", "97 144 208"),
    "23_flash_attention_infer": ("1 177 512 1 1 128 0 1 --dtype bf16", "1 60 200 2 1 128 0 0"),
    "24_conv_bias": ("2 1 4 8 48 16 32 1 1 1 1 1 1 1 1 1 0 0 0",),
    "33_basic_conv2d": ("1 9 11 32 16 3 3 2 2 2 2 1 1 1 1",),
    "31_small_matmul": ("256 1024 256", *GEMM[1:]),
    "38_w4a4_matmul_per_token_per_channel_dequant": W4A4,
    "40_flash_attention_infer_tla": ("1 177 512 1 1 128 0 1 --dtype bf16",),
    "41_sparse_matmul_tla": ("160 320 64",),
    "45_strided_batched_matmul_tla": GROUPED,
    "47_ascend950_grouped_matmul_slice_m_per_token_dequant": GROUPED,
    "48_ascend950_grouped_matmul_slice_m_per_tensor_per_channel_dequant": (
        "3 128 160 96 0",
        "2 97 133 65 1",
    ),
    "49_ascend950_flash_attention_infer": ("1 177 512 1 1 128 0 1 1 --dtype half",),
    "50_ascend950_basic_matmul_gemv": ("1 128 127", "1 300 65"),
    "51_ascend950_quant_matmul_per_group_per_block_tla": ("128 128 128", "256 384 512"),
    "53_ascend950_fp8_mx_matmul": SCALED,
    "54_ascend950_fp4_mx_matmul": SCALED,
    "55_ascend950_mx_grouped_matmul_slice_m": (),
    "56_ascend950_basic_conv2d_tla": ("1 9 11 32 16 3 3 2 2 2 2 1 1 1 1",),
    "57_ascend950_matmul_full_dequant": ("64 64 64 per_token per_channel",),
    "58_ascend950_fp8_mx_batch_matmul": ("2 256 128 192", "3 96 130 320"),
    "59_ascend950_a8w4_mx_matmul": ("128 128 128",),
    "60_ascend950_grouped_matmul_slice_m": GROUPED,
    "73_ascend950_matmul_full_loadA": ("256 512 256", "97 133 211", "1 300 65"),
    "74_ascend950_weight_quant_a8w4_grouped_mx_matmul": ("2 256 256 256",),
    "67_ascend950_batched_matmul": GROUPED,
}
"""Arguments of the examples that do not take m, n and k."""

GENERATORS: Mapping[str, Sequence[str]] = {
    "19_mla": ("gen_data.py 1 1 128 16 16 128 half",),
    "23_flash_attention_infer": (
        "gen_data.py 1 177 512 1 1 128 0 1 bf16 1",
        "gen_data.py 1 60 200 2 1 128 0 0 half 1",
    ),
    "24_conv_bias": ("gen_data.py 2 64 1 8 48 32 1 1 1 1 1 1 1 1 1 0 0 0 float16",),
    "29_a2_fp8_e4m3_matmul": tuple(f"gen_data.py {case} 0 0" for case in GEMM),
    "32_w4a8_matmul": tuple(f"gen_data.py {case}" for case in GEMM),
    "38_w4a4_matmul_per_token_per_channel_dequant": tuple(f"gen_data.py {c}" for c in W4A4),
    "40_flash_attention_infer_tla": ("gen_data.py 1 177 512 1 1 128 0 1 bf16 1",),
    "41_sparse_matmul_tla": ("sparse_gen_data.py 160 320 64",),
    "49_ascend950_flash_attention_infer": ("gen_data.py 1 177 512 1 1 128 0 1 1 half",),
    "57_ascend950_matmul_full_dequant": (
        "scripts/gen_data.py --shape '64 64 64' --x1_quant_mode per_token"
        " --x2_quant_mode per_channel",
    ),
    "74_ascend950_weight_quant_a8w4_grouped_mx_matmul": (
        "gen_data.py group_list 128,128 256 256 256 1",
    ),
    "53_ascend950_fp8_mx_matmul": tuple(f"gen_data.py {case} 0 1" for case in SCALED),
    "54_ascend950_fp4_mx_matmul": tuple(f"gen_data.py {case} 0 1" for case in SCALED),
    "58_ascend950_fp8_mx_batch_matmul": (
        "gen_data.py 2 256 128 192 0 1",
        "gen_data.py 3 96 130 320 0 1",
    ),
    "59_ascend950_a8w4_mx_matmul": ("gen_data.py 128 128 128 0 1",),
}
"""What makes the data of each case, of the examples that read theirs."""

_REMAINDER = (
    "takes a remainder by the number of tiles of the next block, which is 0 behind the last one,"
    " and does not use it: undefined by C++, without consequence"
)
_LEAK = "leaves device memory at the end"
_OPTION = "its project builds it by an option alone, which writes generated sources beside its own"
_ATTENTION = (
    "reads the block table one element past its end, for a block that it does not use; frees memory"
    " of the host by aclrtFreeHost"
)
_CRASH = "clang++ 14 crashes while it compiles it"
_UNFILLED = "takes ids of flags from a list that it fills where it has no unit flags alone"
_WORKSPACE = "frees the workspace before it waits for the stream"
_TAIL = "copies whole blocks of 32 bytes past the end of tensors of ragged sizes"
EXPLAINED: Mapping[str, str] = {
    "06_optimized_matmul": _REMAINDER,
    "14_optimized_matmul_tla": _REMAINDER,
    "15_gemm": _REMAINDER,
    "16_group_gemm": _REMAINDER,
    "17_gemv_aiv": _TAIL,
    "18_gemv_aic": f"{_TAIL}; and {_REMAINDER}",
    "20_matmul_bias": "copies the bias of a whole tile, past the end of a bias of ragged size; and"
    f" {_LEAK}",
    "21_basic_matmul_preload_zN": f"{_REMAINDER}; allocates k x n elements for a B of whole"
    " fractals, so that ragged sizes are out of bounds",
    "23_flash_attention_infer": _ATTENTION,
    "24_conv_bias": "sets flags of MTE1_MTE2 that are set and not waited for, which the page of"
    " SetFlag calls undefined",
    "26_matmul_relu": _REMAINDER,
    "102_dynamic_optimized_matmul": _OPTION,
    "103_dynamic_optimized_quant_matmul_per_token_basic": _OPTION,
    "32_w4a8_matmul": _WORKSPACE,
    "38_w4a4_matmul_per_token_per_channel_dequant": f"{_WORKSPACE}; copies the scales of a whole"
    " tile, past the end of those of ragged sizes",
    "40_flash_attention_infer_tla": _ATTENTION,
    "42_quant_optimized_matmul_tla": f"{_REMAINDER}; and {_LEAK}",
    "44_quant_matmul_full_loadA_tla": "loads parts of L0B twice, with no PipeBarrier<PIPE_MTE1>"
    " between the two",
    "55_ascend950_mx_grouped_matmul_slice_m": "not run: a script of its own makes data, starts it"
    " and compares",
    "61_ascend950_svd_quant_matmul": "uses SetCtrlSpr and DataCopyPad with PaddingMode::Compact,"
    " which are not simulated",
    "62_ascend950_broadcast_matmul_perblock_quant": _CRASH,
    "64_ascend950_matmul_evg": "its seven programs use Divs, which is not simulated",
    "70_ascend950_flash_attention_chunk_prefill": _CRASH,
    "46_ascend950_matmul_fixpipe_opti": _UNFILLED,
    "47_ascend950_grouped_matmul_slice_m_per_token_dequant": "its AIC copies results to tensors of"
    f" UB that get their addresses in the AIVs' half alone; {_UNFILLED}",
    "50_ascend950_basic_matmul_gemv": _TAIL,
    "52_quant_multi_core_splitk_matmul_tla": _UNFILLED,
    "68_ascend950_multi_core_splitk_matmul": _UNFILLED,
    "69_ascend950_tail_multi_core_splitk_matmul": _UNFILLED,
}
"""The causes of what is not right, read in the sources of these examples."""

_LIMIT = 900


@dataclass
class ExampleResult:
    """One example with its cases."""

    name: str
    built: bool = False
    cases: int = 0
    right: int = 0
    wrong: int = 0  # that ended with a wrong number
    clean: int = 0
    why: list[str] = field(default_factory=list)
    kinds: set[str] = field(default_factory=set)


def examples(checkout: Path, arch: str) -> list[str]:
    """The names that the checkout's own list has for an architecture."""
    text = (checkout / "examples" / "CMakeLists.txt").read_text()
    chip = {"2201": "ATLASA2", "3510": "ASCEND950"}[arch]
    listed = re.search(rf"set\(EXAMPLE_{chip}([^)]*)\)", text)
    return listed[1].split() if listed else []


def run(command: Sequence[str | Path], folder: Path, **environment: str) -> tuple[int, str]:
    """Status and output of a command."""
    done = subprocess.run(
        [str(word) for word in command],
        cwd=folder,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    return done.returncode, done.stdout


def build(checkout: Path, folder: Path, names: Sequence[str], words: argparse.Namespace) -> None:
    """Build by the checkout's own CMakeLists.txt whatever builds."""
    toolkit = sim_root()
    compiler(toolkit)
    configure = [
        *(need_tool("cmake"), "-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={need_tool('ninja')}"),
        *("-S", str(checkout), "-B", str(folder), f"-DCMAKE_CXX_COMPILER={words.compiler}"),
        f"-DCATLASS_ARCH={words.arch}",
        f"-DCMAKE_PREFIX_PATH={toolkit / 'share' / 'cmake' / 'aclgrad'}",
    ]
    status, text = run(configure, checkout, ASCEND_HOME_PATH=str(toolkit))
    if status:
        raise SystemExit(f"error: cmake: {text[-2000:]}")
    # An example of several programs is no target of its name, and Ninja would build nothing at all.
    _, listed = run([need_tool("ninja"), "-C", folder, "-t", "targets", "all"], folder)
    known = [name for name in names if f"\n{name}: " in listed]
    run([need_tool("ninja"), "-C", folder, "-k", "0", "-j", str(words.jobs), *known], folder)


def program_of(folder: Path, name: str) -> Path:
    """Where the build puts an example's program."""
    return folder / "examples" / name / name


def try_case(checkout: Path, program: Path, outcome: ExampleResult, index: int, case: str) -> None:
    """Run an example once, in folders as its README.md has them."""
    name = outcome.name
    with temporary.folder() as work:
        own = work / "examples" / name
        own.mkdir(parents=True)
        here = work / "output" / "bin"
        here.mkdir(parents=True)
        (here / "examples").symlink_to(work / "examples")
        for made in ("data", "input", "output"):
            (here / made).symlink_to(own / made)
        if name in GENERATORS:
            source = checkout / "examples" / name
            for script in source.rglob("*.py"):
                target = own / script.relative_to(source)
                target.parent.mkdir(exist_ok=True)
                shutil.copy(script, target)
            words = shlex.split(GENERATORS[name][index])
            status, text = run([sys.executable, *words], own)
            if status:
                outcome.why.append(f"{words[0]}: {last(text)}")
                return
        try:
            ended = run_program(
                [str(program), *shlex.split(case)],
                folder=here,
                environment={"ACLGRAD_SIM_KEEP_GOING": "1"},
                timeout=_LIMIT,
            )
        except subprocess.TimeoutExpired:
            outcome.why.append(f"{case}: did not end within {_LIMIT} s")
            return
    errors = [found for found in ended.findings if found["severity"] == "error"]
    outcome.kinds |= {str(found["kind"]) for found in errors}
    outcome.clean += not errors
    # Their comparison takes NaN for equal, so that a kernel that did not end may pass it, and one
    # whose instructions were left out. Flags and registers of the other kind of core that are left
    # out change no number here.
    missing = re.compile(r"the core ends here|this (?!Set|WaitFlag).* was left out")
    ends = any(missing.search(found["goesOn"]) for found in errors)
    if ended.status == 0 and "Compare success" in ended.output and not ends:
        outcome.right += 1
    else:
        outcome.wrong += "Compare failed" in ended.output and not errors
        outcome.why.append(f"{case}: {reason(ended.output, errors)}")


def last(text: str) -> str:
    """The last line that says something."""
    return ([line.strip() for line in text.splitlines() if line.strip()] or ["no output"])[-1]


def reason(output: str, errors: Sequence[Mapping[str, Any]]) -> str:
    """Why a run is not right: the first finding, or what the program said last."""
    if errors:
        return f"{errors[0]['kind']}: {errors[0].get('detail') or errors[0].get('title', '')}"
    return last(output)


def first_error(folder: Path, name: str) -> str:
    """What the compiler refuses of an example."""
    _, text = run([need_tool("ninja"), "-C", folder, name], folder)
    lines = [line.strip() for line in text.splitlines() if "error" in line]
    return re.sub(r"\S+/", "", (lines or [last(text)])[0])


def table(outcomes: Sequence[ExampleResult], revision: str, arch: str) -> str:
    """The page."""
    built = [outcome for outcome in outcomes if outcome.built]
    whole = [one for one in built if one.cases == one.right]
    cases = sum(one.cases for one in built)
    words = {
        "2201": " --output docs/compatibility_catlass.md",
        "3510": " --arch 3510 --output docs/compatibility_catlass_950.md",
    }[arch]
    title = {"2201": "Examples of catlass", "3510": "Examples of catlass for Ascend 950"}[arch]
    lines = [
        "<!-- Generated by scripts/compatibility_catlass.py - do not edit -->",
        f"# {title}",
        "",
        f"The examples of a checkout at {revision} for architecture {arch}, built by its own"
        " CMakeLists.txt with clang++ as the host's compiler, run on small and on ragged shapes,"
        " with the strict checks on and going on after faults. Each compares its result with a"
        " golden of its own."
        f" Regenerate: `scripts/compatibility_catlass.py CHECKOUT{words}`.",
        "",
        "catlass specialises member templates within their classes, which clang++ and g++ take from"
        " version 14 on: with an older g++ configure with `-DCMAKE_CXX_COMPILER=clang++`.",
        "",
        f"{len(built)} of {len(outcomes)} examples build; {len(whole)} of these are right in every"
        f" case. Of {cases} cases {sum(one.right for one in built)} are right,"
        f" {sum(one.clean for one in built)} have no error of the checks, and"
        f" {sum(one.wrong for one in built)} have a wrong number that no check explains.",
        "",
        "| example | built | right | no finding | remarks |",
        "|---|---|---|---|---|",
    ]
    for one in outcomes:
        counts = f"{one.right}/{one.cases} | {one.clean}/{one.cases}" if one.built else " | "
        kinds = ", ".join(f"`{kind}`" for kind in sorted(one.kinds))
        why = EXPLAINED.get(one.name) or "; ".join(dict.fromkeys(one.why))
        remarks = ": ".join(filter(None, (kinds, why))).replace("|", "\\|")
        lines.append(f"| {one.name} | {'yes' if one.built else 'no'} | {counts} | {remarks} |")
    return "\n".join([*lines, ""])


def main() -> int:
    """Try all and print or write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--output", type=Path, help="file for the page; it is printed otherwise")
    parser.add_argument("--arch", default="2201", choices=("2201", "3510"))
    parser.add_argument("--only", default="", help="regular expression of the examples' names")
    parser.add_argument("--compiler", default=os.environ.get("CXX", "clang++"))
    parser.add_argument("--build", type=Path, help="folder to build in [default: in the cache]")
    parser.add_argument("--no-build", action="store_true", help="try what is built already")
    parser.add_argument("--jobs", "-j", type=int, default=2)
    words = parser.parse_args()
    checkout = words.checkout.resolve()
    folder = (words.build or cache_root() / "compatibility" / f"catlass-{words.arch}").resolve()
    names = [name for name in examples(checkout, words.arch) if re.search(words.only, name)]
    if not words.no_build:
        build(checkout, folder, names, words)

    def attempt(name: str) -> ExampleResult:
        outcome = ExampleResult(name, built=program_of(folder, name).is_file())
        if not outcome.built:
            outcome.why.append(first_error(folder, name))
            return outcome
        cases = CASES.get(name, GEMM)
        outcome.cases = len(cases)
        for index, case in enumerate(cases):
            try_case(checkout, program_of(folder, name), outcome, index, case)
        return outcome

    outcomes: list[ExampleResult] = []
    with concurrent.futures.ThreadPoolExecutor(words.jobs) as pool:
        for outcome in pool.map(attempt, names):
            outcomes.append(outcome)
            print(
                f"{outcome.name}: {outcome.right}/{outcome.cases} right; {'; '.join(outcome.why)}",
                file=sys.stderr,
                flush=True,
            )
    _, revision = run(["git", "-C", checkout, "rev-parse", "--short=10", "HEAD"], checkout)
    page = table(outcomes, revision.strip() or "an unknown revision", words.arch)
    if words.output is None:
        print(page)
    else:
        files.write(words.output, page)
    return 0


if __name__ == "__main__":
    sys.exit(main())
