# SPDX-License-Identifier: Apache-2.0
"""The operators as the backward of PyTorch functions on CPU tensors.

Each function computes forward with torch and backward with the operator of the same name, on the
simulator or an NPU. Tensors are float32, float16 or bfloat16 of any strides and reach the operator
as views of their own memory. Needs PyTorch, which is an optional extra.

>>> from aclgrad.torch import softmax
>>> softmax(x, dim=-1).sum().backward()
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch  # type: ignore[import-not-found,unused-ignore]
import torch.nn.functional as F  # type: ignore[import-not-found,unused-ignore]  # noqa: N812
from numpy.typing import NDArray
from torch.autograd.function import (  # type: ignore[import-not-found,unused-ignore]
    once_differentiable,
)

from aclgrad import functions
from aclgrad.errors import ToolkitError
from aclgrad.runtime.toolkit import check_kind
from aclgrad.spec import dtypes

__all__ = ["kl_div", "log_softmax", "logsigmoid", "scaled_masked_softmax", "softmax"]

MASKED = -10000.0
"""What a masked place counts as before the softmax, as in CANN's forward operator."""

# Releases of torch differ in how, and whether, they type it.
_once: Callable[[Callable[..., Any]], Callable[..., Any]] = once_differentiable

_FLOATS = (torch.float32, torch.float16, torch.bfloat16)
_REDUCTIONS = {"none": 0, "mean": 1, "sum": 2, "batchmean": 3}


def array_of(tensor: torch.Tensor) -> NDArray[Any]:
    """Return a NumPy view of a tensor's memory."""
    plain = tensor.detach().resolve_neg()
    if plain.dtype == torch.bfloat16:
        # NumPy knows bfloat16 only through ml_dtypes, torch hands it out only as bits.
        bits: NDArray[Any] = plain.view(torch.int16).numpy()
        return bits.view(dtypes.BF16.numpy)
    array: NDArray[Any] = plain.numpy()
    return array


def tensor_of(array: NDArray[Any]) -> torch.Tensor:
    """Return a tensor on an array's memory."""
    if array.dtype == dtypes.BF16.numpy:
        return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(array)


def _operator(name: str, *args: Any, device: str) -> torch.Tensor:
    values = [array_of(arg) if isinstance(arg, torch.Tensor) else arg for arg in args]
    return tensor_of(functions.by_name(name)(*values, device=device))


def _apply(function: Any, *args: Any) -> torch.Tensor:
    result: torch.Tensor = function.apply(*args)
    return result


def _check(function: str, device: str, **tensors: torch.Tensor) -> None:
    try:
        check_kind(device)  # before forward: backward is too late to say so
    except ToolkitError as error:
        raise ToolkitError(f"{function}: {error}") from None
    for name, tensor in tensors.items():
        where = f"{function}: {name}"
        if not isinstance(tensor, torch.Tensor):
            raise TypeError(f"{where}: got {type(tensor).__name__}, want a torch.Tensor")
        if tensor.device.type != "cpu" or tensor.layout != torch.strided:
            raise ValueError(
                f"{where}: got a {tensor.layout} tensor on {tensor.device}, want a dense tensor on"
                " the CPU; convert it with Tensor.cpu() or Tensor.to_dense()"
            )
        if tensor.dtype not in _FLOATS:
            raise TypeError(
                f"{where}: got {tensor.dtype}, want torch.float32, float16 or bfloat16; convert it"
                " with Tensor.to"
            )


class Softmax(torch.autograd.Function):  # type: ignore[misc,unused-ignore]
    """Softmax whose backward is aclnnSoftmaxBackward."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, dim: int, device: str) -> torch.Tensor:
        """Compute in torch; keep the result."""
        y = torch.softmax(x, dim)
        ctx.save_for_backward(y)
        ctx.dim, ctx.device = dim, device
        return y

    @staticmethod
    @_once
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor, None, None]:
        """Run the operator."""
        (y,) = ctx.saved_tensors
        return _operator("softmax_backward", grad, y, ctx.dim, device=ctx.device), None, None


class LogSoftmax(torch.autograd.Function):  # type: ignore[misc,unused-ignore]
    """Log-softmax whose backward is aclnnLogSoftmaxBackward."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, dim: int, device: str) -> torch.Tensor:
        """Compute in torch; keep the result."""
        y = torch.log_softmax(x, dim)
        ctx.save_for_backward(y)
        ctx.dim, ctx.device = dim, device
        return y

    @staticmethod
    @_once
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor, None, None]:
        """Run the operator."""
        (y,) = ctx.saved_tensors
        return _operator("log_softmax_backward", grad, y, ctx.dim, device=ctx.device), None, None


class LogSigmoid(torch.autograd.Function):  # type: ignore[misc,unused-ignore]
    """Logsigmoid whose backward is aclnnLogSigmoidBackward."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, device: str) -> torch.Tensor:
        """Compute in torch; keep the input."""
        ctx.save_for_backward(x)
        ctx.device = device
        return F.logsigmoid(x)

    @staticmethod
    @_once
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor, None]:
        """Run the operator."""
        (x,) = ctx.saved_tensors
        return _operator("log_sigmoid_backward", grad, x, None, device=ctx.device), None


class KlDiv(torch.autograd.Function):  # type: ignore[misc,unused-ignore]
    """Kullback-Leibler divergence whose backward is aclnnKlDivBackward."""

    @staticmethod
    def forward(
        ctx: Any,
        input: torch.Tensor,
        target: torch.Tensor,
        reduction: str,
        log_target: bool,
        device: str,
    ) -> torch.Tensor:
        """Compute in torch; keep the target and the shape of the input."""
        ctx.save_for_backward(target)
        # No value of the input counts: one element stands for all, the memory is not kept.
        ctx.like = np.broadcast_to(array_of(input.new_zeros(())), input.shape)
        ctx.reduction, ctx.log_target, ctx.device = _REDUCTIONS[reduction], log_target, device
        return F.kl_div(input, target, reduction=reduction, log_target=log_target)

    @staticmethod
    @_once
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        """Run the operator."""
        (target,) = ctx.saved_tensors
        reduction = ctx.reduction
        if reduction == 3:
            own = ctx.like.shape[0] if ctx.like.ndim else 1
            common = np.broadcast_shapes(ctx.like.shape, target.shape)
            if common and common[0] != own:
                # The operator divides by dim 0 of the common shape, torch by that of the input.
                grad, reduction = grad.float() / max(own, 1), 2
        result = _operator(
            "kl_div_backward",
            grad,
            ctx.like,
            target,
            reduction,
            ctx.log_target,
            device=ctx.device,
        )
        return result, None, None, None, None


class ScaledMaskedSoftmax(torch.autograd.Function):  # type: ignore[misc,unused-ignore]
    """Scaled and masked softmax whose backward is aclnnScaledMaskedSoftmaxBackward."""

    @staticmethod
    def forward(
        ctx: Any, x: torch.Tensor, mask: torch.Tensor, scale: float, device: str
    ) -> torch.Tensor:
        """Compute in float32 in torch; keep result and mask."""
        wide = (x.float() * scale).masked_fill_(mask, MASKED)
        y = torch.softmax(wide, -1).to(x.dtype)
        ctx.save_for_backward(y, mask)
        ctx.scale, ctx.device = scale, device
        return y

    @staticmethod
    @_once
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        """Run the operator."""
        y, mask = ctx.saved_tensors
        result = _operator(
            "scaled_masked_softmax_backward", grad, y, mask, ctx.scale, False, device=ctx.device
        )
        return result, None, None, None


def softmax(x: torch.Tensor, dim: int = -1, *, device: str = "sim") -> torch.Tensor:
    """Softmax of a tensor, differentiated by aclnnSoftmaxBackward.

    Parameters
    ----------
    x : Tensor of float32, float16 or bfloat16
        Values on the CPU, any strides, up to 8 dims.
    dim : int, default -1
        Dim to normalise over.
    device : {'sim', 'npu'}
        Where backward runs: the simulator, or an NPU with CANN.

    Returns
    -------
    Tensor
        What ``torch.softmax(x, dim)`` returns. Differentiable once.

    Raises
    ------
    TypeError, ValueError
        The tensor has another dtype or is not a dense tensor on the CPU.
    AclnnError
        From backward: the library refused the call.
    """
    _check("softmax", device, x=x)
    return _apply(Softmax, x, dim, device)


def log_softmax(x: torch.Tensor, dim: int = -1, *, device: str = "sim") -> torch.Tensor:
    """Logarithm of the softmax of a tensor, differentiated by aclnnLogSoftmaxBackward.

    Parameters
    ----------
    x : Tensor of float32, float16 or bfloat16
        Values on the CPU, any strides, up to 8 dims.
    dim : int, default -1
        Dim to normalise over.
    device : {'sim', 'npu'}
        Where backward runs: the simulator, or an NPU with CANN.

    Returns
    -------
    Tensor
        What ``torch.log_softmax(x, dim)`` returns. Differentiable once.

    Raises
    ------
    TypeError, ValueError
        The tensor has another dtype or is not a dense tensor on the CPU.
    AclnnError
        From backward: the library refused the call.
    """
    _check("log_softmax", device, x=x)
    return _apply(LogSoftmax, x, dim, device)


def logsigmoid(x: torch.Tensor, *, device: str = "sim") -> torch.Tensor:
    """Logarithm of the sigmoid of a tensor, differentiated by aclnnLogSigmoidBackward.

    Parameters
    ----------
    x : Tensor of float32, float16 or bfloat16
        Values on the CPU, any strides.
    device : {'sim', 'npu'}
        Where backward runs: the simulator, or an NPU with CANN.

    Returns
    -------
    Tensor
        What ``torch.nn.functional.logsigmoid(x)`` returns. Differentiable once.

    Raises
    ------
    TypeError, ValueError
        The tensor has another dtype or is not a dense tensor on the CPU.
    AclnnError
        From backward: the library refused the call.
    """
    _check("logsigmoid", device, x=x)
    return _apply(LogSigmoid, x, device)


def kl_div(
    input: torch.Tensor,
    target: torch.Tensor,
    reduction: str = "mean",
    log_target: bool = False,
    *,
    device: str = "sim",
) -> torch.Tensor:
    """Kullback-Leibler divergence, differentiated with respect to input by aclnnKlDivBackward.

    Parameters
    ----------
    input : Tensor of float32, float16 or bfloat16
        Logarithms of probabilities, on the CPU, any strides, up to 8 dims.
    target : Tensor of float32, float16 or bfloat16
        Probabilities, or their logarithms; broadcasts with input. A constant: the operator has no
        gradient for it.
    reduction : {'mean', 'none', 'sum', 'batchmean'}
        As in ``torch.nn.functional.kl_div``; batchmean divides by dim 0 of input.
    log_target : bool, default False
        Whether target holds logarithms.
    device : {'sim', 'npu'}
        Where backward runs: the simulator, or an NPU with CANN.

    Returns
    -------
    Tensor
        What ``torch.nn.functional.kl_div`` returns. Differentiable once.

    Raises
    ------
    TypeError, ValueError
        A tensor has another dtype or is not a dense tensor on the CPU, the reduction is unknown, or
        target wants a gradient.
    AclnnError
        From backward: the library refused the call.
    """
    _check("kl_div", device, input=input, target=target)
    if reduction not in _REDUCTIONS:
        raise ValueError(
            f"kl_div: reduction: got {reduction!r}, want one of {', '.join(_REDUCTIONS)}"
        )
    if target.requires_grad and torch.is_grad_enabled():
        raise ValueError(
            "kl_div: target: got a tensor that requires a gradient, which the operator does not"
            " compute; pass target.detach(), or use torch.nn.functional.kl_div"
        )
    return _apply(KlDiv, input, target, reduction, bool(log_target), device)


def scaled_masked_softmax(
    x: torch.Tensor, mask: torch.Tensor, scale: float = 1.0, *, device: str = "sim"
) -> torch.Tensor:
    """Softmax over the last dim of scaled and masked values, differentiated by
    aclnnScaledMaskedSoftmaxBackward.

    Parameters
    ----------
    x : Tensor of float32, float16 or bfloat16
        Values [B, N, S1, S2] on the CPU, any strides; S2 up to 4096 (8192 on Ascend 950).
    mask : Tensor of bool
        True where a value counts as -10000; [B, N, S1, S2], where B and N may be 1. No gradient
        passes there.
    scale : float, default 1.0
        Factor of x.
    device : {'sim', 'npu'}
        Where backward runs: the simulator, or an NPU with CANN.

    Returns
    -------
    Tensor
        ``softmax((x * scale).masked_fill(mask, -10000), -1)``, computed in float32 and rounded
        once to the dtype of x. Differentiable once.

    Raises
    ------
    TypeError, ValueError
        A tensor has another dtype or shape, or is not a dense tensor on the CPU.
    AclnnError
        From backward: the library refused the call.
    """
    _check("scaled_masked_softmax", device, x=x)
    if not isinstance(mask, torch.Tensor) or mask.dtype != torch.bool or mask.device != x.device:
        given = isinstance(mask, torch.Tensor)
        got = f"{mask.dtype} on {mask.device}" if given else type(mask).__name__
        raise TypeError(f"scaled_masked_softmax: mask: got {got}, want torch.bool on the CPU")
    if x.dim() != 4:
        raise ValueError(
            f"scaled_masked_softmax: x: got shape {list(x.shape)}, want 4 dims; add some with"
            " Tensor.reshape"
        )
    leading = [
        want if got == want else 1 for got, want in zip(mask.shape, x.shape[:2], strict=False)
    ]
    if list(mask.shape) != [*leading, *x.shape[2:]]:
        raise ValueError(
            f"scaled_masked_softmax: mask: got shape {list(mask.shape)}, want {list(x.shape)},"
            " dims 0 and 1 may be 1"
        )
    factor = float(scale)
    if math.isfinite(factor) and abs(factor) > float(np.finfo(np.float32).max):
        raise ValueError(
            f"scaled_masked_softmax: scale: got {factor:g}, want a number that float32 holds"
        )
    return _apply(ScaledMaskedSoftmax, x, mask, factor, device)
