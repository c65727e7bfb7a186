# SPDX-License-Identifier: Apache-2.0
"""Operators of which torch_npu asks for a function that lacks one of their arguments, by operators
that hand it over. torch_npu asks for aclnnGelu whatever the approximation is, which by its document
is the one by tanh.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch  # type: ignore[import-not-found,unused-ignore]

from aclgrad_torch_npu.operators import package_functions


def _gelu(x: torch.Tensor, *, approximate: str = "none", out: torch.Tensor) -> torch.Tensor:
    y = torch.ops.npu.npu_gelu(x, approximate=approximate)
    if out.shape != y.shape:
        out.resize_(y.shape)
    return out.copy_(y)


def _gelu_backward(
    gradient: torch.Tensor, x: torch.Tensor, *, approximate: str = "none"
) -> torch.Tensor:
    y: torch.Tensor = torch.ops.npu.npu_gelu_backward(gradient, x, approximate=approximate)
    return y


_WITH_ALL: dict[str, tuple[str, Callable[..., Any]]] = {
    "aten::gelu.out": ("GeluV2", _gelu),
    "aten::gelu_backward": ("GeluBackwardV2", _gelu_backward),
}


def find(name: str) -> Callable[..., Any] | None:
    """What runs an operator with all its arguments, where a package has the function for it."""
    function, run = _WITH_ALL.get(name, ("", None))
    return run if function.encode() in package_functions() else None
