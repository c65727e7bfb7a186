#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs NPUKernelBench's own checks of its reference answers on the simulator, through PyTorch.

    scripts/npu_kernel_bench.py /path/to/NPUKernelBench --tasks level1
    scripts/npu_kernel_bench.py /path/to/NPUKernelBench --tasks none --write PAGE

Each answer is built (``aclgrad build``), each pybind.cpp an extension against the
headers of torch and torch_npu; its module.py, prepare_inputs.py and test_cases.csv then run
under ``aclgrad exec``, and again without the simulator's checks where those found something. The
checkout is yours; only names and figures of it are kept, in outcomes.json of the build folder, to
which a run of some tasks adds. torch_npu has to be where this Python finds it (``PYTHONPATH``), and
so have pandas and PyYAML, which the benchmark imports.
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


from aclgrad.common import page_sections
from aclgrad.runtime.toolkit import sim_root

MATRIX = re.compile(r"\bMmad\b|\bREGIST_MATMUL_OBJ\b|matmul_intf\.h")
"""What the kernels have that need matrix units."""

MODULE = "kernel_gen_ops"
FINDING = "finding "
PATH = re.compile(r"(?<![\w.])/(?:[\w.+-]+/)+")
"""Folders of this machine."""


@dataclass
class TaskResult:
    """What became of a task."""

    task: str
    passed: int = 0
    cases: int = 0
    unchecked: int = 0  # accepted of a second run, without the simulator's checks
    stage: str = ""
    reason: str = ""

    @property
    def accepted(self) -> bool:
        """Whether its own check accepts every case, and the simulator's checks find nothing."""
        return self.cases > 0 and self.passed == self.cases and not self.stage

    @property
    def right(self) -> bool:
        """Whether its own check accepts every case, with or without a finding."""
        return self.accepted or (self.cases > 0 and self.unchecked == self.cases)


class Failed(Exception):
    """A stage of a task: its name, and what it said."""


def names(task: Path) -> tuple[str, str]:
    """Return the operator's type and the name of its kernel, as the benchmark has them."""
    kernels = sorted((task / "answer" / "0" / "op_kernel").glob("*.cpp"))
    if not kernels:
        raise Failed("build", "no kernel in the answer's op_kernel")
    return task.name, kernels[0].stem


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
    return str(done.stdout)


def build_answer(task: Path, name: str, cache: Path, soc: str, limit: float) -> Path:
    """Build the answer; return the vendor folder. Not by ``aclgrad package``, whose test of itself
    would refuse an operator that has a fault for some input.
    """
    command = [sys.executable, "-I", "-m", "aclgrad", "build", task / "answer" / "0", "--soc", soc]
    call("build", command, limit, env={**os.environ, "ACLGRAD_CACHE": str(cache)})
    for library in cache.glob(f"{name}-*/vendor/op_api/lib/libcust_opapi.so"):
        return library.parents[2]
    raise Failed("build", f"no library of functions in {cache}")


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


def label(task: Path) -> str:
    """Name of a task: level, family and operator."""
    return "/".join(task.parts[-3:])


def run_task(checkout: Path, task: Path, build: Path, helper: Path, options: Any) -> TaskResult:
    """Build a task's answer and run its cases."""
    outcome = TaskResult(label(task))
    work = build / outcome.task
    work.mkdir(parents=True, exist_ok=True)
    try:
        op_type, name = names(task)
        vendor = build_answer(task, name, build / "cache", options.soc, options.limit)
        extension(task, work, helper, op_type, name, options.limit)
        found = run_cases(checkout, task, work, vendor, options, "checked")
        outcome.cases, outcome.passed = len(found), sum(not reason for reason in found)
        outcome.reason = next((reason for reason in found if reason), "")
        if any(reason.startswith(FINDING) for reason in found):
            again = run_cases(checkout, task, work, vendor, options, "fast")
            outcome.unchecked = sum(not reason for reason in again)
    except Failed as error:
        outcome.stage, outcome.reason = error.args
    except Exception as error:  # Of one task, which is not to take the others' outcomes along.
        outcome.stage, outcome.reason = "script", f"{type(error).__name__}: {error}"[:300]
    said = f"{outcome.unchecked} unchecked" if outcome.unchecked else outcome.stage
    print(outcome.task, f"{outcome.passed}/{outcome.cases}", said, outcome.reason, flush=True)
    return outcome


def needs_matrix(task: Path) -> bool:
    """Whether a task's kernel multiplies matrices by units of their own."""
    sources = (task / "answer" / "0" / "op_kernel").rglob("*")
    return any(
        MATRIX.search(each.read_text(errors="replace")) for each in sources if each.is_file()
    )


def run_cases(
    checkout: Path, task: Path, work: Path, vendor: Path, options: Any, mode: str
) -> list[str]:
    """Run a task's cases in a process of their own; return the reason of each, empty where it is
    accepted.
    """
    command = [sys.executable, "-I", "-m", "aclgrad", "exec", "--soc", options.soc]
    command += ["--allow-findings", "--"]
    command += [sys.executable, Path(__file__).resolve(), checkout, "--inside", task, work]
    command += ["--cases", str(options.cases)]
    path = [vendor / "op_api" / "lib", *os.environ.get("LD_LIBRARY_PATH", "").split(":")]
    report = work / "findings.jsonl"
    report.unlink(missing_ok=True)
    result = work / "cases.json"
    result.unlink(missing_ok=True)
    environment = {
        **os.environ,
        "ASCEND_CUSTOM_OPP_PATH": str(vendor),
        "LD_LIBRARY_PATH": ":".join(map(str, filter(None, path))),
        "ACLGRAD_SIM_MODE": mode,
        "ACLGRAD_SIM_REPORT": str(report),
        "ACLGRAD_TORCH_FALLBACK": "silent",
        "OMP_NUM_THREADS": "1",
    }
    call("run", command, options.limit, env=environment)
    found: list[str] = json.loads(result.read_text())
    return found


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
    report = Path(os.environ["ACLGRAD_SIM_REPORT"])
    for _, row in list(utils.preprocess_dataframe(table).iterrows())[: cases or None]:
        before = len(findings(report))
        try:
            reason = _one_case(torch, utils, module, given, row)
        except Exception as error:
            reason = next(iter(str(error).splitlines()), type(error).__name__)[:300]
        # Errors of the kernel come before what the check says of the numbers.
        reasons.append(next(iter(findings(report)[before:]), reason))
        print(row.to_dict(), reasons[-1] or "accepted", flush=True)
    (work / "cases.json").write_text(json.dumps(reasons))


def findings(report: Path) -> list[str]:
    """Errors that the simulator's checks have found so far."""
    if not report.exists() or os.environ.get("ACLGRAD_SIM_MODE") == "fast":
        return []
    rows = map(json.loads, report.read_text().splitlines())
    return [
        f"{FINDING}{row['kind']}: {row['detail'].splitlines()[0]}"
        f" ({Path(row['at'].get('file') or '?').name}:{row['at'].get('line')})"
        for row in rows
        if row.get("severity") == "error"
    ]


def _one_case(torch: Any, utils: Any, module: Any, given: Any, row: Any) -> str:
    device = torch.device("npu:0")

    def move(value: Any, where: Any) -> Any:
        if isinstance(value, torch.Tensor | torch.nn.Module):
            return value.to(where)
        if isinstance(value, list | tuple):
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
    result = module.ModelNew(*first).to(device)(*inputs)
    try:
        torch.npu.synchronize()
    except RuntimeError:
        # Without the checks a kernel goes on after a fault, and its numbers are there.
        if os.environ.get("ACLGRAD_SIM_MODE") != "fast":
            raise
    got = move(result, "cpu")
    if hasattr(given, "custom_check_precision"):
        accepted, absolute, _ = given.custom_check_precision(row, wanted, got)
    else:
        limits = utils.config.eval
        accepted, absolute, _ = utils.check_precision(
            wanted, got, limits.max_abs_error, limits.max_rel_error
        )
    return "" if accepted else f"differs by up to {absolute.float().max().item():.3g}"


def table(outcomes: Sequence[TaskResult], vector: int, matrix: int) -> str:
    """Write the shares and the tasks that fail."""
    accepted = sum(each.accepted for each in outcomes)
    right = sum(each.right for each in outcomes)
    share = f" ({right / len(outcomes):.0%})" if outcomes else ""
    lines = [
        f"{len(outcomes)} of the {vector} vector tasks were run. {right}{share} give the answer"
        " that their check accepts",
        f"in every case: {accepted} with nothing found by the simulator's checks,"
        f" {right - accepted} with a finding, in a run without the checks.",
        f"{matrix} tasks that need matrix units were left out. How many cases were",
        "accepted without the checks is said where they found something.",
        "",
        "| task | accepted, of cases | and unchecked | reason |",
        "|---|---|---|---|",
    ]
    lines += [
        f"| {each.task} | {each.passed}/{each.cases} | {each.unchecked or '-'} |"
        f" {page_sections.cell(PATH.sub('', f'{each.stage} {each.reason}').strip())} |"
        for each in outcomes
        if not each.accepted
    ]
    return "\n".join(lines)


def main() -> int:
    """Run the benchmark's tasks."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("checkout", type=Path, help="NPUKernelBench")
    parser.add_argument("--tasks", nargs="+", default=[""], help="parts of tasks' folders")
    parser.add_argument("--resume", action="store_true", help="only tasks without an outcome yet")
    parser.add_argument("--cases", type=int, default=0, help="that many of each task; 0 is all")
    parser.add_argument("--soc", default="Ascend910B2")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--limit", type=float, default=600, help="seconds for each stage")
    parser.add_argument("--build", type=Path, default=Path("build/npu_kernel_bench"))
    page_sections.add_option(parser)
    parser.add_argument("--inside", nargs=2, type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    checkout = options.checkout.resolve()
    if options.inside:
        task, work = options.inside
        inside(checkout, task, work, options.cases)
        return 0

    build = options.build.resolve()
    helper = prepare(checkout, build, options.limit)
    tasks = [
        each.parent
        for each in sorted((checkout / "tasks").glob("*/*/*/answer"))
        if any(word in str(each.relative_to(checkout)) for word in options.tasks)
        and not needs_matrix(each.parent)
    ]
    record = build / "outcomes.json"
    known = json.loads(record.read_text()) if record.exists() else []
    outcomes = {each["task"]: TaskResult(**each) for each in known}
    if options.resume:
        tasks = [each for each in tasks if label(each) not in outcomes]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        runs = [pool.submit(run_task, checkout, task, build, helper, options) for task in tasks]
        for done in concurrent.futures.as_completed(runs):
            outcomes[done.result().task] = done.result()
            rows = [asdict(each) for _, each in sorted(outcomes.items())]
            record.write_text(json.dumps(rows, indent=1))
    every = [each.parent for each in (checkout / "tasks").glob("*/*/*/answer")]
    matrix = sum(map(needs_matrix, every))
    known_now = [each for _, each in sorted(outcomes.items())]
    text = table(known_now, len(every) - matrix, matrix)
    page_sections.show(options.write, "npu_kernel_bench", text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
