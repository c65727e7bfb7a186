# SPDX-License-Identifier: Apache-2.0
"""PyTorch's NPU backend, torch_npu, on the simulator: operators that nobody has run on the CPU.

PyTorch loads this package by its entry point ``torch.backends`` wherever the simulator stands in
CANN's place (``aclgrad exec``, ``aclgrad config --set-env``, ``import aclgrad.torch.npu``). It
imports PyTorch and the standard library only, so it also works in an environment without aclgrad.

``ACLGRAD_TORCH_FALLBACK`` says what becomes of an operator without a kernel: ``warn`` (the default,
once for each operator), ``silent`` or ``error``.
"""

from __future__ import annotations

import importlib
import importlib.util
import os

__all__ = ["autoload", "install", "summary"]


def autoload() -> None:
    """Load torch_npu, if it is installed, and put the fallback behind its operators."""
    from aclgrad_torch_npu import simulator

    if importlib.util.find_spec("torch_npu") is None or not simulator.in_place():
        return
    install()


def install() -> None:
    """Load torch_npu on the simulator and register the fallback. May be called again."""
    # Its queue hands operators to another thread, where an error is no longer that of the call: the
    # simulator runs launches on threads of its own anyway.
    os.environ.setdefault("TASK_QUEUE_ENABLE", "0")
    importlib.import_module("torch_npu")

    from aclgrad_torch_npu import fallback

    fallback.register()


def summary() -> dict[str, int]:
    """Count the calls that ran on the CPU, by operator, most first."""
    from aclgrad_torch_npu import fallback

    return fallback.counts()
