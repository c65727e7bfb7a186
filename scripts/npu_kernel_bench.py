#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs NPUKernelBench's own checks of its reference answers on the simulator, through PyTorch.

    scripts/npu_kernel_bench.py /path/to/NPUKernelBench --tasks level1
    scripts/npu_kernel_bench.py /path/to/NPUKernelBench --write docs/torch_npu.md

Each answer becomes a package (``aclgrad package``), each pybind.cpp an extension against the
headers of torch and torch_npu; its module.py, prepare_inputs.py and test_cases.csv then run
under ``aclgrad exec``. The checkout is yours; only names and figures of it are kept. torch_npu
has to be where this Python finds it (``PYTHONPATH``), and so have pandas and PyYAML, which the
benchmark imports.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import importlib
import importlib.util
import json
import os
import re
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import marked_tables

from aclgrad.runtime.toolkit import sim_root

MATRIX = ("GMM", "Gemm", "Gemv", "Matmul", "MatDot")
"""Parts of the names of tasks that need matrix units."""

MODULE = "kernel_gen_ops"


@dataclass
class Outcome:
    """What became of a task."""

    task: str
    passed: int = 0
    cases: int = 0
    stage: str = ""
    reason: str = ""

    @property
    def accepted(self) -> bool:
        """Whether its own check accepts every case."""
        return self.cases > 0 and self.passed == self.cases and not self.stage


class Failed(Exception):
    """A stage of a task: its name, and what it said."""


def names(task: Path) -> tuple[str, str]:
    """Return the operator's type and the name of its kernel."""
    sources = sorted((task / "answer" / "0" / "op_host").glob("*.cpp"))
    for source in sources:
        found = re.search(r"OP_ADD\(\s*(\w+)", source.read_text(errors="replace"))
        if found:
            return found[1], source.stem
    raise Failed("package", "no OP_ADD in the answer's op_host")


def call(stage: str, command: Sequence[Any], limit: float, **more: Any) -> str:
    """Run a program; what it prints is the reason if it fails."""
    try:
        done = subprocess.run(
            list(map(str, command)), capture_output=True, text=True, timeout=limit, **more
        )
    except subprocess.TimeoutExpired:
        raise Failed(stage, f"over {limit:.0f} s") from None
    if done.returncode:
        lines = [line for line in (done.stderr + done.stdout).splitlines() if line.strip()]
        errors = [line for line in lines if "error" in line.lower()]
        raise Failed(stage, (errors or lines or [f"exit code {done.returncode}"])[0][:300])
    return done.stdout


def package(task: Path, work: Path, soc: str, limit: float) -> Path:
    """Build and install the answer; return the vendor folder."""
    vendor = work / "opp" / "vendors" / "customize"
    if not (vendor / "op_api" / "lib" / "libcust_opapi.so").exists():
        aclgrad = [
            sys.executable,
            "-I",
            "-m",
            "aclgrad",
            "package",
            task / "answer" / "0",
            "--soc",
            soc,
        ]
        call("package", [*aclgrad, "-o", work / "dist"], limit)
        for installer in (work / "dist").glob("*.run"):
            call("package", ["bash", installer, "--quiet", f"--install-path={work / 'opp'}"], limit)
    return vendor


def torch_extensions() -> Any:
    """Import torch.utils.cpp_extension, without the backend, which only loads under exec."""
    given = os.environ.get("TORCH_DEVICE_BACKEND_AUTOLOAD")
    os.environ["TORCH_DEVICE_BACKEND_AUTOLOAD"] = "0"
    try:
        return importlib.import_module("torch.utils.cpp_extension")
    finally:
        del os.environ["TORCH_DEVICE_BACKEND_AUTOLOAD"]
        if given is not None:
            os.environ["TORCH_DEVICE_BACKEND_AUTOLOAD"] = given


def compiler(helper: Path) -> list[Any]:
    """Command to compile an extension against torch and torch_npu."""
    cpp_extension = torch_extensions()

    torch_npu = Path(str(importlib.util.find_spec("torch_npu").origin)).parent  # type: ignore[union-attr]
    includes = [*cpp_extension.include_paths(), sysconfig.get_paths()["include"]]
    includes += [torch_npu / "include", torch_npu / "include" / "third_party" / "acl" / "inc"]
    includes += [sim_root() / "include", helper.parent]
    flags = ["-std=c++20", "-fPIC", "-O0", "-w", f"-DTORCH_EXTENSION_NAME={MODULE}"]
    return ["g++", *flags, *(f"-I{each}" for each in includes)]


def libraries() -> list[Any]:
    """What an extension is linked with."""
    cpp_extension = torch_extensions()
    torch_npu = Path(str(importlib.util.find_spec("torch_npu").origin)).parent  # type: ignore[union-attr]
    folders = [*cpp_extension.library_paths(), torch_npu / "lib"]
    found = [f"-L{each}" for each in folders] + [f"-Wl,-rpath,{each}" for each in folders]
    return [*found, "-ltorch", "-ltorch_cpu", "-ltorch_python", "-lc10", "-ltorch_npu"]


def extension(task: Path, work: Path, helper: Path, op_type: str, name: str, limit: float) -> None:
    """Build the task's pybind.cpp, with the names that the benchmark puts into it."""
    result = work / f"{MODULE}{sysconfig.get_config_var('EXT_SUFFIX')}"
    if result.exists():
        return
    text = (task / "validation" / "pybind.cpp").read_text()
    text = text.replace("aclnnCustomOp", f"aclnn{op_type}").replace("custom_pybind_api", name)
    source = work / "pybind.cpp"
    source.write_text(text)
    prefix = ["-include", helper.parent / "prefix.h"]
    command = [*compiler(helper), *prefix, "-shared", source, "-o", result, *libraries()]
    call("pybind.cpp", command, limit)


def prepare(checkout: Path, build: Path, limit: float) -> Path:
    """Compile what all pybind.cpp include once; return the benchmark's header of helpers."""
    given = checkout / "libs" / "common_include" / "msopgen" / "validation"
    helper = build / "helper" / "pytorch_npu_helper.hpp"
    helper.parent.mkdir(parents=True, exist_ok=True)
    helper.write_text((given / helper.name).read_text())
    prefix = helper.parent / "prefix.h"
    if not prefix.with_suffix(".h.gch").exists():
        prefix.write_text(f'#include "{helper.name}"\n')
        command = [*compiler(helper), "-x", "c++-header", prefix, "-o", f"{prefix}.gch"]
        call("pybind.cpp", command, limit)
    return helper


def run_task(checkout: Path, task: Path, build: Path, helper: Path, options: Any) -> Outcome:
    """Build a task's answer and run its cases."""
    label = "/".join(task.parts[-3:])
    outcome = Outcome(label)
    work = build / label
    work.mkdir(parents=True, exist_ok=True)
    try:
        op_type, name = names(task)
        vendor = package(task, work, options.soc, options.limit)
        extension(task, work, helper, op_type, name, options.limit)
        command = [sys.executable, "-I", "-m", "aclgrad", "exec", "--soc", options.soc, "--"]
        command += [sys.executable, Path(__file__).resolve(), checkout, "--inside", task, work]
        command += ["--cases", str(options.cases)]
        path = [vendor / "op_api" / "lib", *os.environ.get("LD_LIBRARY_PATH", "").split(":")]
        environment = {
            **os.environ,
            "ASCEND_CUSTOM_OPP_PATH": str(vendor),
            "LD_LIBRARY_PATH": ":".join(map(str, filter(None, path))),
            "ACLGRAD_TORCH_FALLBACK": "silent",
            "OMP_NUM_THREADS": "1",
        }
        call("run", command, options.limit, env=environment)
        found = json.loads((work / "cases.json").read_text())
        outcome.cases, outcome.passed = len(found), sum(not reason for reason in found)
        outcome.reason = next((reason for reason in found if reason), "")
    except Failed as error:
        outcome.stage, outcome.reason = error.args
    print(label, f"{outcome.passed}/{outcome.cases}", outcome.stage, outcome.reason, flush=True)
    return outcome


def inside(checkout: Path, task: Path, work: Path, cases: int) -> None:
    """Run a task's cases in this process, as the benchmark does."""
    sys.path[:0] = [str(checkout), str(work)]
    sys.argv = sys.argv[:1]
    pandas = importlib.import_module("pandas")
    torch = importlib.import_module("torch")
    utils = importlib.import_module("framework.utils")
    validation = task / "validation"
    module = utils.load_module_from_path("model_module", str(validation / "module.py"))
    given = module
    if not hasattr(module, "get_init_inputs"):
        path = str(validation / "prepare_inputs.py")
        given = utils.load_module_from_path("prepare_inputs_module", path)
    table = pandas.read_csv(validation / "test_cases.csv", sep=";")
    reasons = []
    for _, row in list(utils.preprocess_dataframe(table).iterrows())[: cases or None]:
        try:
            reasons.append(_one_case(torch, utils, module, given, row))
        except Exception as error:
            reasons.append(next(iter(str(error).splitlines()), type(error).__name__)[:300])
    (work / "cases.json").write_text(json.dumps(reasons))


def _one_case(torch: Any, utils: Any, module: Any, given: Any, row: Any) -> str:
    device = torch.device("npu:0")

    def move(value: Any, where: Any) -> Any:
        if isinstance(value, (torch.Tensor, torch.nn.Module)):
            return value.to(where)
        if isinstance(value, (list, tuple)):
            return type(value)(move(each, where) for each in value)
        if isinstance(value, dict):
            return {key: move(each, where) for key, each in value.items()}
        return value

    torch.manual_seed(0)
    torch.npu.manual_seed(0)
    first = given.get_init_inputs(row, device=device)
    inputs = given.get_inputs(row, device=device)
    on_cpu = move(inputs, "cpu")
    wanted = module.Model(*move(first, "cpu")).to("cpu")(*on_cpu)
    got = move(module.ModelNew(*first).to(device)(*inputs), "cpu")
    torch.npu.synchronize()
    if hasattr(given, "custom_check_precision"):
        accepted, absolute, _ = given.custom_check_precision(row, wanted, got)
    else:
        limits = utils.config.eval
        accepted, absolute, _ = utils.check_precision(
            wanted, got, limits.max_abs_error, limits.max_rel_error
        )
    return "" if accepted else f"differs by up to {absolute.float().max().item():.3g}"


def table(outcomes: Sequence[Outcome]) -> str:
    """Write the shares and the tasks that fail."""
    vector = [each for each in outcomes if not any(word in each.task for word in MATRIX)]
    accepted = sum(each.accepted for each in vector)
    lines = [f"{accepted} of {len(vector)} vector tasks give the answer that their check accepts."]
    lines += ["", "| task | cases | stage | reason |", "|---|---|---|---|"]
    lines += [
        f"| {each.task} | {each.passed}/{each.cases} | {each.stage or 'cases'} |"
        f" {marked_tables.cell(each.reason)} |"
        for each in outcomes
        if not each.accepted
    ]
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("checkout", type=Path, help="NPUKernelBench")
    parser.add_argument("--tasks", nargs="+", default=[""], help="parts of tasks' folders")
    parser.add_argument("--cases", type=int, default=0, help="that many of each task; 0 is all")
    parser.add_argument("--soc", default="Ascend910B2")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--limit", type=float, default=600, help="seconds for each stage")
    parser.add_argument("--build", type=Path, default=Path("build/npu_kernel_bench"))
    parser.add_argument("--write", type=Path, help="put the table into this page")
    parser.add_argument("--inside", nargs=2, type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    checkout = options.checkout.resolve()
    if options.inside:
        inside(checkout, *options.inside, options.cases)
        return 0

    build = options.build.resolve()
    helper = prepare(checkout, build, options.limit)
    tasks = [
        each.parent
        for each in sorted((checkout / "tasks").glob("*/*/*/answer"))
        if any(word in str(each.relative_to(checkout)) for word in options.tasks)
    ]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        outcomes = list(
            pool.map(lambda task: run_task(checkout, task, build, helper, options), tasks)
        )
    (build / "outcomes.json").write_text(json.dumps([asdict(each) for each in outcomes], indent=1))
    text = table(outcomes)
    print(text)
    if options.write:
        marked_tables.write(options.write, "npu_kernel_bench", text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
