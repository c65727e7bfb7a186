# SPDX-License-Identifier: Apache-2.0
"""PyTorch: the operators in its registry and as the backward of functions on CPU tensors, and the
NPU backend on the simulator (``aclgrad.torch.npu``).

PyTorch, an optional extra, is imported with the first function: the backend has to come before it.
May import: ``common``, ``errors``, ``functions``, ``ops``, ``runtime``, ``spec``.

>>> from aclgrad.torch import softmax
>>> softmax(x, dim=-1).sum().backward()
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from aclgrad.torch.functional import (
        kl_div,
        log_softmax,
        logsigmoid,
        scaled_masked_softmax,
        softmax,
    )

__all__ = ["kl_div", "log_softmax", "logsigmoid", "scaled_masked_softmax", "softmax"]

if sys.modules.get("torch", ...) is None or importlib.util.find_spec("torch") is None:
    raise ModuleNotFoundError(
        "aclgrad.torch: PyTorch is not installed. Next: pip install torch", name="torch"
    )


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        functional = importlib.import_module("aclgrad.torch.functional")
    except RuntimeError as error:
        if "torch_npu" not in str(error):
            raise
        raise ImportError(
            "aclgrad.torch: torch loads torch_npu, which finds neither CANN nor the simulator."
            " Next: aclgrad exec -- python PROGRAM, or TORCH_DEVICE_BACKEND_AUTOLOAD=0 for the CPU"
            " alone"
        ) from error
    value = globals()[name] = getattr(functional, name)
    return value
