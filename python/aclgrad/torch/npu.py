# SPDX-License-Identifier: Apache-2.0
"""PyTorch's NPU backend, torch_npu, on the simulator, in this process.

Import it before torch, in a notebook for instance; for programs there is ``aclgrad exec``.

>>> import aclgrad.torch.npu
>>> import torch
>>> torch.softmax(torch.randn(4, 8, device="npu", requires_grad=True), -1).sum().backward()

Operators that no package has run on the CPU, see `aclgrad_torch_npu`; `summary` counts them.
"""

from __future__ import annotations

import importlib.util
import warnings

from aclgrad.errors import ToolkitError
from aclgrad.runtime import find_toolkit
from aclgrad.runtime.environment import enter
from aclgrad.runtime.packages import outdated

__all__ = ["summary"]

_INSTALL = "Next: pip install 'aclgrad[torch-npu]'"


def _load() -> None:
    for name in ("torch", "torch_npu"):
        if importlib.util.find_spec(name) is None:
            raise ModuleNotFoundError(
                f"aclgrad.torch.npu: {name} is not installed. {_INSTALL}", name=name
            )
    toolkit = find_toolkit("sim")
    for text in outdated(toolkit.root):
        warnings.warn(f"aclgrad.torch.npu: {text}", stacklevel=2)
    enter(toolkit)
    try:
        package = importlib.import_module("aclgrad_torch_npu")
        package.install()
    except ImportError as error:
        raise ToolkitError(f"aclgrad.torch.npu: {error}. Next: aclgrad doctor") from error


_load()


def summary() -> dict[str, int]:
    """Count the calls that ran on the CPU for lack of a kernel, by operator, most first."""
    counts: dict[str, int] = importlib.import_module("aclgrad_torch_npu").summary()
    return counts
