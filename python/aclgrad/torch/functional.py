# SPDX-License-Identifier: Apache-2.0
"""Functions of ``torch.nn.functional`` on CPU tensors, with the operators as their backward.

Forward is torch's. Backward is the operator of the same name on the simulator or an NPU, on views
of the tensors' own memory. All of them compile in one graph, and work under ``torch.vmap`` and the
transforms of ``torch.func``. Needs PyTorch, which is an optional extra.

>>> from aclgrad.torch import softmax
>>> softmax(x, dim=-1).sum().backward()
"""

from __future__ import annotations

import math
import warnings

import torch  # type: ignore[import-not-found,unused-ignore]
import torch.nn._reduction  # type: ignore[import-not-found,unused-ignore]

from aclgrad.runtime.toolkit import find_toolkit
from aclgrad.torch import checks
from aclgrad.torch.gradients import FUNCTIONS, REDUCTIONS

__all__ = ["kl_div", "log_softmax", "logsigmoid", "scaled_masked_softmax", "softmax"]


def softmax(
    input: torch.Tensor,
    dim: int | None = None,
    _stacklevel: int = 3,
    dtype: torch.dtype | None = None,
    *,
    device: str = "sim",
) -> torch.Tensor:
    """Softmax of a tensor, differentiated by aclnnSoftmaxBackward.

    Parameters
    ----------
    input : Tensor of float32, float16 or bfloat16
        Values on the CPU, any strides, up to 8 dims.
    dim : int
        Dim to normalise over. Without it torch's old choice is taken, with its warning.
    dtype : torch.dtype, optional
        What input is converted to first.
    device : {'sim', 'npu', 'golden'}
        Where backward runs: the simulator, an NPU with CANN, or the formula in float64, which
        takes float64 as well.

    Returns
    -------
    Tensor
        What ``torch.nn.functional.softmax`` returns. Differentiable any number of times; the first
        derivative is the operator.

    Raises
    ------
    TypeError, ValueError
        The tensor has another dtype or is not a dense tensor on the CPU.
    AclnnError
        From backward: the library refused the call.
    """
    input = _converted("softmax", input, dtype, device)
    dim = _dim("softmax", input, dim, _stacklevel)
    result: torch.Tensor = FUNCTIONS["softmax"](input, dim, device)
    return result


def log_softmax(
    input: torch.Tensor,
    dim: int | None = None,
    _stacklevel: int = 3,
    dtype: torch.dtype | None = None,
    *,
    device: str = "sim",
) -> torch.Tensor:
    """Logarithm of the softmax of a tensor, differentiated by aclnnLogSoftmaxBackward.

    Parameters
    ----------
    input : Tensor of float32, float16 or bfloat16
        Values on the CPU, any strides, up to 8 dims.
    dim : int
        Dim to normalise over. Without it torch's old choice is taken, with its warning.
    dtype : torch.dtype, optional
        What input is converted to first.
    device : {'sim', 'npu', 'golden'}
        Where backward runs: the simulator, an NPU with CANN, or the formula in float64, which
        takes float64 as well.

    Returns
    -------
    Tensor
        What ``torch.nn.functional.log_softmax`` returns. Differentiable any number of times; the
        first derivative is the operator.

    Raises
    ------
    TypeError, ValueError
        The tensor has another dtype or is not a dense tensor on the CPU.
    AclnnError
        From backward: the library refused the call.
    """
    input = _converted("log_softmax", input, dtype, device)
    dim = _dim("log_softmax", input, dim, _stacklevel)
    result: torch.Tensor = FUNCTIONS["log_softmax"](input, dim, device)
    return result


def logsigmoid(input: torch.Tensor, *, device: str = "sim") -> torch.Tensor:
    """Logarithm of the sigmoid of a tensor, differentiated by aclnnLogSigmoidBackward.

    Parameters
    ----------
    input : Tensor of float32, float16 or bfloat16
        Values on the CPU, any strides.
    device : {'sim', 'npu', 'golden'}
        Where backward runs: the simulator, an NPU with CANN, or the formula in float64, which
        takes float64 as well.

    Returns
    -------
    Tensor
        What ``torch.nn.functional.logsigmoid`` returns. Differentiable any number of times; the
        first derivative is the operator.

    Raises
    ------
    TypeError, ValueError
        The tensor has another dtype or is not a dense tensor on the CPU.
    AclnnError
        From backward: the library refused the call.
    """
    _check("logsigmoid", device, input=input)
    result: torch.Tensor = FUNCTIONS["logsigmoid"](input, device)
    return result


def kl_div(
    input: torch.Tensor,
    target: torch.Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
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
    size_average, reduce : bool, optional
        torch's old words for reduction, with its warning.
    reduction : {'mean', 'none', 'sum', 'batchmean'}
        As in ``torch.nn.functional.kl_div``; batchmean divides by dim 0 of input.
    log_target : bool, default False
        Whether target holds logarithms.
    device : {'sim', 'npu', 'golden'}
        Where backward runs: the simulator, an NPU with CANN, or the formula in float64, which
        takes float64 as well.

    Returns
    -------
    Tensor
        What ``torch.nn.functional.kl_div`` returns. Differentiable any number of times; the first
        derivative is the operator.

    Raises
    ------
    TypeError, ValueError
        A tensor has another dtype or is not a dense tensor on the CPU, the reduction is unknown, or
        target wants a gradient.
    AclnnError
        From backward: the library refused the call.
    """
    _check("kl_div", device, input=input, target=target)
    if isinstance(size_average, str):
        raise TypeError(
            f"kl_div: size_average: got {size_average!r}; say reduction={size_average!r}, which is"
            " not the third argument, as in torch.nn.functional.kl_div"
        )
    if size_average is not None or reduce is not None:
        reduction = torch.nn._reduction.legacy_get_string(size_average, reduce)
    if reduction not in REDUCTIONS:
        raise ValueError(
            f"kl_div: reduction: got {reduction!r}, want one of {', '.join(REDUCTIONS)}"
        )
    if target.requires_grad and torch.is_grad_enabled():
        raise ValueError(
            "kl_div: target: got a tensor that requires a gradient, which the operator does not"
            " compute; pass target.detach(), or use torch.nn.functional.kl_div"
        )
    number = REDUCTIONS.index(reduction)
    result: torch.Tensor = FUNCTIONS["kl_div"](input, target, number, bool(log_target), device)
    return result


def scaled_masked_softmax(
    input: torch.Tensor, mask: torch.Tensor, scale: float = 1.0, *, device: str = "sim"
) -> torch.Tensor:
    """Softmax over the last dim of scaled and masked values, differentiated by
    aclnnScaledMaskedSoftmaxBackward.

    Parameters
    ----------
    input : Tensor of float32, float16 or bfloat16
        Values [B, N, S1, S2] on the CPU, any strides; S2 up to 4096 (8192 on Ascend 950).
    mask : Tensor of bool
        True where a value counts as -10000; [B, N, S1, S2], where B and N may be 1. No gradient
        passes there.
    scale : float, default 1.0
        Factor of input.
    device : {'sim', 'npu', 'golden'}
        Where backward runs: the simulator, an NPU with CANN, or the formula in float64, which
        takes float64 as well.

    Returns
    -------
    Tensor
        ``softmax((input * scale).masked_fill(mask, -10000), -1)``, computed in float32 and rounded
        once to the dtype of input. Differentiable any number of times; the first derivative is the
        operator.

    Raises
    ------
    TypeError, ValueError
        A tensor has another dtype or shape, or is not a dense tensor on the CPU.
    AclnnError
        From backward: the library refused the call.
    """
    _check("scaled_masked_softmax", device, input=input)
    checks.booleans("scaled_masked_softmax: mask", mask)
    if input.dim() != 4:
        raise ValueError(
            f"scaled_masked_softmax: input: got shape {list(input.shape)}, want 4 dims; add some"
            " with Tensor.reshape"
        )
    leading = [
        want if got == want else 1 for got, want in zip(mask.shape, input.shape[:2], strict=False)
    ]
    if list(mask.shape) != [*leading, *input.shape[2:]]:
        raise ValueError(
            f"scaled_masked_softmax: mask: got shape {list(mask.shape)}, want {list(input.shape)},"
            " dims 0 and 1 may be 1"
        )
    factor = float(scale)
    if math.isfinite(factor) and abs(factor) > torch.finfo(torch.float32).max:
        raise ValueError(
            f"scaled_masked_softmax: scale: got {factor:g}, want a number that float32 holds"
        )
    result: torch.Tensor = FUNCTIONS["scaled_masked_softmax"](input, mask, factor, device)
    return result


def _check(function: str, device: str, **tensors: torch.Tensor) -> None:
    checks.device_word(function, device)
    if device == "npu" and not torch.compiler.is_compiling():
        find_toolkit("npu")  # backward would be late to miss it
    for name, tensor in tensors.items():
        checks.floats(f"{function}: {name}", tensor, device)


def _converted(
    function: str, input: torch.Tensor, dtype: torch.dtype | None, device: str
) -> torch.Tensor:
    checks.dense(f"{function}: input", input)
    if dtype is not None:
        input = input.to(dtype)
    _check(function, device, input=input)
    return input


def _dim(function: str, input: torch.Tensor, dim: int | None, stacklevel: int) -> int:
    if dim is not None:
        return dim
    dim = 0 if input.dim() in (0, 1, 3) else 1
    warnings.warn(
        f"{function}: no dim is given; torch takes {dim} for {input.dim()} dims. Next: dim={dim},"
        " or what is meant",
        stacklevel=stacklevel,
    )
    return dim
