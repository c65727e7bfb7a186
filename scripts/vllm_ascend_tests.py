#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs vllm-ascend's tests of two of its own operators on the simulator, as they are.

    scripts/vllm_ascend_tests.py /path/to/vllm-ascend --write docs/reference/torch_npu_tests.md

The checkout is yours; nothing of it is kept but names and figures. Both operators are built from
its csrc by ``aclgrad build``. The tests call ``torch.ops._C_ascend``, which vllm-ascend's extension
registers; here this file does, by ctypes on the built aclnn functions, so that no extension has to
be compiled. torch_npu has to be where this Python finds it.
"""

from __future__ import annotations

import argparse
import collections
import ctypes
import importlib
import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_outcomes import Outcomes, outcomes

from aclgrad.common import page_sections, temporary

OPERATORS = ("add_rms_norm_bias", "moe_gating_top_k")
TESTS = "tests/e2e/nightly/single_node/ops/singlecard_ops"
FILES = {
    "add_rms_norm_bias": "test_add_rms_norm_bias.py",
    "moe_gating_top_k": "test_npu_moe_gating_top_k.py",
}
_LIBRARY = "ACLGRAD_VLLM_{}"
_DTYPES = {"float32": 0, "float16": 1, "int32": 3, "int64": 9, "bool": 12, "bfloat16": 27}
_SCHEMAS = (
    "npu_add_rms_norm_bias(Tensor x1, Tensor x2, Tensor gamma, Tensor? beta, float epsilon)"
    " -> (Tensor, Tensor, Tensor)",
    "moe_gating_top_k(Tensor x, int k, int k_group, int group_count, int group_select_mode,"
    " int renorm, int norm_type, bool out_flag, float routed_scaling_factor, float eps,"
    " Tensor? bias_opt=None) -> (Tensor, Tensor, Tensor)",
)


def _torch() -> Any:
    """PyTorch, which whoever checks this file need not have."""
    return importlib.import_module("torch")


def _handle(tensor: Any) -> ctypes.c_void_p:
    """An aclTensor over a tensor of torch."""
    create = ctypes.CDLL("libnnopbase.so").aclCreateTensor
    create.restype = ctypes.c_void_p
    rank = tensor.dim()
    dims = (ctypes.c_int64 * max(rank, 1))(*tensor.shape)
    strides = (ctypes.c_int64 * max(rank, 1))(*tensor.stride())
    size = (ctypes.c_int64 * 1)(tensor.numel())
    kind = _DTYPES[str(tensor.dtype).removeprefix("torch.")]
    count, one = ctypes.c_uint64(rank), ctypes.c_uint64(1)
    data = ctypes.c_void_p(tensor.data_ptr())
    where = (kind, strides, ctypes.c_int64(0), 2, size, one, data)
    return ctypes.c_void_p(create(dims, count, *where))


def _call(operator: str, function: str, *arguments: Any) -> None:
    """Run an aclnn function of a built package on the current stream."""
    torch = _torch()

    library = ctypes.CDLL(os.environ[_LIBRARY.format(operator.upper())])
    given: list[Any] = []
    for value in arguments:
        if isinstance(value, torch.Tensor):
            given.append(_handle(value))
        elif isinstance(value, bool):
            given.append(ctypes.c_bool(value))
        elif isinstance(value, float):
            given.append(ctypes.c_double(value))
        else:
            given.append(None if value is None else ctypes.c_int64(value))
    size, executor = ctypes.c_uint64(), ctypes.c_void_p()
    first = getattr(library, f"{function}GetWorkspaceSize")
    status = first(*given, ctypes.byref(size), ctypes.byref(executor))
    if status == 0:
        workspace = torch.empty(max(size.value, 1), dtype=torch.uint8, device="npu")
        stream = ctypes.c_void_p(torch.npu.current_stream().npu_stream)
        address = ctypes.c_void_p(workspace.data_ptr())
        status = getattr(library, function)(address, size, executor, stream)
    if status != 0:
        raise RuntimeError(f"{function}: error code {status}")
    torch.npu.synchronize()


def _add_rms_norm_bias(x1: Any, x2: Any, gamma: Any, beta: Any, epsilon: float) -> Any:
    torch = _torch()

    kept = x1.dim() - gamma.dim()
    shape = [*x1.shape[:kept], *([1] * gamma.dim())]
    rstd = torch.empty(shape, dtype=torch.float32, device=x1.device)
    y, x = torch.empty_like(x1), torch.empty_like(x1)
    given = (x1, x2, gamma, beta, float(epsilon), y, rstd, x)
    _call("add_rms_norm_bias", "aclnnAddRmsNormBias", *given)
    return y, rstd, x


def _moe_gating_top_k(
    x: Any,
    k: int,
    k_group: int,
    group_count: int,
    group_select_mode: int,
    renorm: int,
    norm_type: int,
    out_flag: bool,
    routed_scaling_factor: float,
    eps: float,
    bias_opt: Any = None,
) -> Any:
    torch = _torch()

    y = torch.empty(x.shape[0], k, dtype=x.dtype, device=x.device)
    index = torch.empty(x.shape[0], k, dtype=torch.int32, device=x.device)
    out = torch.empty(x.shape, dtype=torch.float32, device=x.device)
    numbers = (k, k_group, group_count, group_select_mode, renorm, norm_type, bool(out_flag))
    scales = (float(routed_scaling_factor), float(eps))
    _call("moe_gating_top_k", "aclnnMoeGatingTopK", x, bias_opt, *numbers, *scales, y, index, out)
    return y, index, out


def pytest_configure() -> None:
    """Register what vllm-ascend's extension would; pytest calls this, as ``-p`` names this file."""
    torch = _torch()
    importlib.import_module("torch_npu")

    library: Any = torch.library.Library("_C_ascend", "FRAGMENT")
    for schema, function in zip(_SCHEMAS, (_add_rms_norm_bias, _moe_gating_top_k), strict=True):
        library.define(schema)
        library.impl(schema.partition("(")[0], function, "PrivateUse1")
    globals()["_registered"] = library  # as long as the process lives


def built(checkout: Path, operator: str) -> str:
    """Build an operator; return the path of its library."""
    folder = checkout / "csrc" / "moe" / operator
    command = [sys.executable, "-I", "-m", "aclgrad", "build", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    found = re.search(r"ASCEND_CUSTOM_OPP_PATH=([^;]+);", done.stdout)
    if done.returncode != 0 or found is None:
        raise SystemExit(f"error: {operator} does not build\n{done.stdout}{done.stderr}")
    return str(Path(found[1], "op_api", "lib", "libcust_opapi.so"))


def table(all_outcomes: Mapping[str, Outcomes]) -> str:
    """Tests by operator, and what the failed ones say."""
    lines = ["| operator | tests | passed | share |", "|---|---|---|---|"]
    reasons: collections.Counter[tuple[str, str]] = collections.Counter()
    for operator, (ran, failed) in all_outcomes.items():
        passed = len(ran) - len(failed)
        lines.append(f"| {operator} | {len(ran)} | {passed} | {passed / max(len(ran), 1):.1%} |")
        reasons.update((operator, reason) for reason in failed.values())
    if reasons:
        lines += ["", "| reason of a failure | operator | tests |", "|---|---|---|"]
    for (operator, reason), tests in reasons.most_common():
        lines.append(f"| {page_sections.cell(reason)} | {operator} | {tests} |")
    return "\n".join(lines)


def run(checkout: Path, operator: str, findings: str, work: Path) -> Outcomes:
    """Run the tests of one operator."""
    stub = work / "vllm_ascend"
    stub.mkdir(exist_ok=True)
    # The tests import this function; the operators are there without it.
    (stub / "utils.py").write_text("def enable_custom_op():\n    return True\n", encoding="utf-8")
    library = built(checkout, operator)
    paths = [str(work), str(Path(__file__).resolve().parent), os.environ.get("PYTHONPATH", "")]
    environment = {
        **os.environ,
        "PYTHONPATH": ":".join(filter(None, paths)),
        "ACLGRAD_FINDINGS": findings,
        "ACLGRAD_TORCH_FALLBACK": "silent",
        # torch_npu asks for the functions in the packages of this variable.
        "ASCEND_CUSTOM_OPP_PATH": str(Path(library).parents[2]),
        _LIBRARY.format(operator.upper()): library,
    }
    result = work / f"{operator}.xml"
    test = checkout / TESTS / FILES[operator]
    options = ("-q", "-p", "vllm_ascend_tests", "-p", "no:cacheprovider", f"--junitxml={result}")
    # conftest.py above the tests asks Triton for the device and prints times.
    apart = (f"--confcutdir={test.parent}", "--import-mode=importlib")
    inside = (sys.executable, "-I", "-m", "aclgrad", "exec", "--allow-findings", "--")
    command = [*inside, sys.executable, "-P", "-m", "pytest", *options, *apart, str(test)]
    done = subprocess.run(command, env=environment, cwd=work, check=False)
    if not result.exists():
        raise SystemExit(f"error: pytest of {operator} ended with {done.returncode} and no result")
    return outcomes(result)


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("checkout", type=Path, help="of vllm-ascend")
    parser.add_argument("--findings", default="warn", choices=("error", "warn", "off"))
    parser.add_argument("--operator", choices=OPERATORS, action="append")
    page_sections.add_option(parser)
    words = parser.parse_args(argv)
    checkout = words.checkout.resolve()
    found = {}
    with temporary.folder() as folder:
        for operator in words.operator or OPERATORS:
            found[operator] = run(checkout, operator, words.findings, Path(folder))
            print(table({operator: found[operator]}), file=sys.stderr, flush=True)
    page_sections.show(words.write, "vllm_ascend_tests", table(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
