# SPDX-License-Identifier: Apache-2.0
"""The five operators under PyTorch's own functions on an NPU, against float64 on the CPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch_npu

import aclgrad.torch
from aclgrad.golden.precision import compare
from aclgrad.torch.tensors import array_of
from aclgrad_torch_npu import launches

F = torch.nn.functional
DTYPES = [torch.float32, torch.float16, torch.bfloat16]
each_dtype = pytest.mark.parametrize("dtype", DTYPES, ids=str)
Function = Callable[[torch.Tensor], torch.Tensor]

# What the forward function has left is rounded to the dtype, and so are PyTorch's own results.
CHAIN = {"float16": 32.0, "bfloat16": 16.0}


def gradient(function: Function, x: torch.Tensor, grad: torch.Tensor) -> torch.Tensor:
    leaf = x.detach().requires_grad_()
    function(leaf).backward(grad)
    assert leaf.grad is not None
    return leaf.grad


def check(function: Function, x: torch.Tensor, grad: torch.Tensor) -> None:
    """The NPU's gradient is the CPU's in float64, and it ran on the device."""
    want = gradient(function, x.double(), grad.double())
    got = gradient(function, x.npu(), grad.npu())
    assert got.device.type == "npu" and got.dtype == x.dtype and got.shape == x.shape
    outcome = compare(array_of(got.cpu()), want.numpy(), tolerance=CHAIN)
    assert outcome.passed, outcome


@each_dtype
@pytest.mark.parametrize("dim", [0, 1, -1])
@pytest.mark.parametrize(
    ("function", "op_type"), [(F.softmax, "SoftmaxGrad"), (F.log_softmax, "LogSoftmaxGrad")]
)
def test_softmax(function: Any, op_type: str, dim: int, dtype: torch.dtype) -> None:
    x, grad = torch.randn(5, 7, 33).to(dtype), torch.randn(5, 7, 33).to(dtype)
    before = launches(op_type)
    check(lambda t: function(t, dim), x, grad)
    assert launches(op_type) == before + 1


@each_dtype
def test_logsigmoid(dtype: torch.dtype) -> None:
    before = launches("LogSigmoidGrad")
    check(F.logsigmoid, torch.randn(6, 41).to(dtype), torch.randn(6, 41).to(dtype))
    assert launches("LogSigmoidGrad") == before + 1


@each_dtype
@pytest.mark.parametrize("reduction", ["none", "mean", "sum", "batchmean"])
@pytest.mark.parametrize("log_target", [False, True])
def test_kl_div(log_target: bool, reduction: str, dtype: torch.dtype) -> None:
    x = torch.randn(6, 41).to(dtype)
    target = torch.randn(6, 41).softmax(-1).to(dtype)
    target = target.log() if log_target else target

    def loss(t: torch.Tensor) -> torch.Tensor:
        other = target.to(device=t.device, dtype=t.dtype)
        return F.kl_div(t, other, reduction=reduction, log_target=log_target)

    grad = torch.randn(6, 41) if reduction == "none" else torch.tensor(2.0)
    before = launches("KlDivLossGrad")
    check(loss, x, grad.to(dtype))
    assert launches("KlDivLossGrad") == before + 1


@each_dtype
@pytest.mark.parametrize("mask_shape", [(2, 3, 32, 32), (1, 1, 32, 32), (2, 1, 32, 32)], ids=str)
def test_scaled_masked_softmax(mask_shape: tuple[int, ...], dtype: torch.dtype) -> None:
    x, grad = torch.randn(2, 3, 32, 32).to(dtype), torch.randn(2, 3, 32, 32).to(dtype)
    mask = torch.rand(mask_shape) > 0.7

    def function(t: torch.Tensor) -> torch.Tensor:
        if t.device.type == "npu":
            return torch_npu.npu_scaled_masked_softmax(t, mask.npu(), 0.5, False)
        return torch.softmax((t * 0.5).masked_fill(mask, -10000.0), -1)

    names = ("ScaledMaskedSoftmaxGrad", "ScaledMaskedSoftmaxGradV2")  # on A2, on 950
    before = sum(map(launches, names))
    check(function, x, grad)
    assert sum(map(launches, names)) == before + 1


@each_dtype
def test_gradients_of_any_strides(dtype: torch.dtype) -> None:
    base, grads = torch.randn(9, 24).to(dtype), torch.randn(24, 9).to(dtype)
    check(lambda t: F.softmax(t.t(), 0), base, grads)
    check(lambda t: F.softmax(t[:, ::2], 1), base, torch.randn(9, 12).to(dtype))
    check(lambda t: F.logsigmoid(t).sum(), base, torch.tensor(1.0).to(dtype))  # expanded


def test_autocast() -> None:
    layer = torch.nn.Linear(16, 8)
    x = torch.randn(4, 16)
    want = torch.autograd.grad(F.log_softmax(layer(x), -1)[:, 0].sum(), layer.weight)[0]
    layer.npu()
    with torch.autocast("npu", dtype=torch.bfloat16):
        loss = F.log_softmax(layer(x.npu()), -1)[:, 0].sum()
    got = torch.autograd.grad(loss, layer.weight)[0].cpu()
    assert torch.allclose(got, want, rtol=5e-2, atol=5e-2)


def test_many_sizes() -> None:
    """Whole blocks and tails, short and long rows."""
    for rows, cols in [(1, 1), (3, 8), (2, 127), (64, 1000), (7, 5003), (1, 20000)]:
        x, grad = torch.randn(rows, cols), torch.randn(rows, cols)
        check(lambda t: F.softmax(t, -1), x, grad)
        check(lambda t: F.log_softmax(t, -1), x, grad)


def test_functions_for_the_cpu_say_where_tensors_of_an_npu_go() -> None:
    with pytest.raises(ValueError, match="got a tensor on npu:0, want one on the CPU"):
        aclgrad.torch.softmax(torch.zeros(3, 4, device="npu"), -1)
