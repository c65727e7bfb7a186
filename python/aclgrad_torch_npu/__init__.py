# SPDX-License-Identifier: Apache-2.0
"""PyTorch's NPU backend, torch_npu, on the simulator: operators that nobody has run on the CPU.

It comes with torch_npu, whoever imports that first, wherever the simulator stands in CANN's place:
``aclgrad exec``, ``aclgrad config --set-env`` (by `aclgrad_torch_npu.hook`), ``import
aclgrad.torch.npu``. It imports PyTorch and the standard library only, so it also works in an
environment without aclgrad.

``ACLGRAD_TORCH_FALLBACK`` says what becomes of an operator without a kernel: ``warn`` (the default,
once for each operator), ``silent`` or ``error``.
"""

from __future__ import annotations

import importlib
import os
from typing import Any

__all__ = ["complete", "install", "launches", "prepare", "report", "summary"]


def install() -> None:
    """Load torch_npu on the simulator and register the fallback. May be called again."""
    prepare()
    importlib.import_module("torch_npu")
    complete()


def prepare() -> None:
    """Set the environment, before torch_npu: its queue hands operators to another thread, where an
    error is no longer that of the call, and the simulator runs launches on threads of its own. And
    after a finding the program may go on, which on an NPU it may not.
    """
    os.environ.setdefault("TASK_QUEUE_ENABLE", "0")
    os.environ.setdefault("ACLGRAD_SIM_RECOVER", "on")


def complete() -> None:
    """After torch_npu: the fallback behind its operators, words before what is not there."""
    from aclgrad_torch_npu import first_calls, refusals, simulator

    first_calls.make()
    simulator.know_launches()
    refusals.install()
    # It registers itself, also where its own import of torch is what loads torch_npu.
    importlib.import_module("aclgrad_torch_npu.fallback")


def summary() -> dict[str, int]:
    """Count the calls that ran on the CPU, by operator, most first."""
    from aclgrad_torch_npu import fallback

    return fallback.counts()


def report(file: Any = None) -> dict[str, Any]:
    """Print what ran, as a table: kernels and whether they were checked, findings, operators on the
    CPU with the line that called them first. Returns the same as data for JSON.
    """
    from aclgrad_torch_npu import reports

    return reports.report(file)


def launches(op_type: str) -> int:
    """Count the launches of one operator's kernel, by its type: ``SoftmaxGrad``."""
    from aclgrad_torch_npu import simulator

    return simulator.launches(op_type)
