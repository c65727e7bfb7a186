# SPDX-License-Identifier: Apache-2.0
"""Operators that PyTorch's CPU has not: formulas against PyTorch, derivatives against autograd."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch_npu
from torch.nn import functional as F

X = torch.linspace(-3, 3, 24).reshape(4, 6)


def close(got: torch.Tensor, want: torch.Tensor) -> None:
    torch.testing.assert_close(got.cpu(), want, rtol=1e-5, atol=1e-6)


CALLS: dict[str, tuple[Callable[[torch.Tensor], Any], Callable[[torch.Tensor], Any]]] = {
    "silu": (lambda x: torch_npu.npu_silu(x), F.silu),
    "mish": (lambda x: torch_npu.npu_mish(x), F.mish),
    "swiglu": (lambda x: torch_npu.npu_swiglu(x), lambda x: F.silu(x[:, :3]) * x[:, 3:]),
    "linear": (lambda x: torch_npu.npu_linear(x, x), lambda x: F.linear(x, x)),
    "bmmV2": (
        lambda x: torch_npu.npu_bmmV2(x[None], x.t()[None].contiguous(), []),
        lambda x: x[None] @ x.t()[None],
    ),
    "confusion_transpose": (
        lambda x: torch_npu.npu_confusion_transpose(x, (1, 0, 2), (4, 2, 3), False),
        lambda x: x.reshape(4, 2, 3).permute(1, 0, 2).contiguous(),
    ),
    "confusion_transpose, transposed first": (
        lambda x: torch_npu.npu_confusion_transpose(x.reshape(4, 2, 3), (1, 0, 2), (2, 12), True),
        lambda x: x.reshape(4, 2, 3).permute(1, 0, 2).reshape(2, 12),
    ),
    "rms_norm": (
        lambda x: torch_npu.npu_rms_norm(x, torch.ones_like(x[0]))[0],
        lambda x: x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6),
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_formula_and_derivative(name: str) -> None:
    on_npu, on_cpu = CALLS[name]
    device, host = X.npu().requires_grad_(), X.clone().requires_grad_()
    got, want = on_npu(device), on_cpu(host)
    close(got.detach(), want.detach())
    grad = torch.linspace(0, 1, want.numel()).reshape(want.shape)
    got.backward(grad.npu())
    want.backward(grad)
    assert device.grad is not None and host.grad is not None
    close(device.grad, host.grad)


def test_out_is_made_of_the_result() -> None:
    out = torch.empty(0).npu()
    torch_npu.npu_slice(X.npu(), [1, 2], [2, 3], out=out)
    assert torch.equal(out.cpu(), X[1:3, 2:5])
    torch_npu.npu_transpose(X.npu(), [1, 0], out=out)
    assert torch.equal(out.cpu(), X.t())


def test_adam_changes_its_tensors() -> None:
    var, m, v, grad = (torch.full((5,), value) for value in (1.0, 0.0, 0.0, 2.0))
    on_npu = tuple(each.npu() for each in (var, m, v))
    torch_npu.npu_apply_adam(0.9, 0.99, 0.1, 0.9, 0.99, 0.0, grad.npu(), False, False, out=on_npu)
    # The first step of Adam goes by the rate, whatever the gradient.
    close(on_npu[0], torch.full((5,), 0.9))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_running_statistics_change(dtype: torch.dtype) -> None:
    """Those of batch_norm_gather_stats_update, whose schema calls them inputs."""
    sums, squares = X.to(dtype), X.square().to(dtype) * 3
    mean, var = torch.full((6,), 2.0, dtype=dtype).npu(), torch.full((6,), 4.0, dtype=dtype).npu()
    counts = torch.tensor([4, 5, 6, 4], dtype=dtype).npu()
    given = (X.npu(), sums.npu(), squares.npu(), mean, var, 0.25, 1e-5, counts)
    got_mean, got_rstd = torch_npu.batch_norm_gather_stats_update(*given)
    want = sums.float().sum(0) / 19
    spread = squares.float().sum(0) / 19 - want.square()
    assert got_mean.dtype == got_rstd.dtype == dtype
    rough = {"rtol": 1e-5, "atol": 1e-5} if dtype == torch.float32 else {"rtol": 2e-3, "atol": 2e-3}
    for found, value in (
        (got_mean, want),
        (got_rstd, torch.rsqrt(spread + 1e-5)),
        (mean, 1.5 + want / 4),
        (var, 3 + spread / 4),
    ):
        torch.testing.assert_close(found.cpu().float(), value, **rough)


BOXES = torch.tensor([[2.0, 6.0, 3.0], [2.0, 6.0, 3.0], [2.0, 4.0, 2.0], [2.0, 4.0, 2.0]])
OTHERS = torch.tensor([[3.0, 6.0, 9.0], [2.0, 6.0, 3.0], [2.0, 2.0, 2.0], [2.0, 2.0, 4.0]])
INNER = torch.tensor([2.0, 4.0, 0.0])
UNION = torch.tensor([6.0, 16.0, 12.0])
DIAGONAL = torch.tensor([13.0, 32.0, 80.0])
APART = torch.tensor([1.0, 0.0, 36.0]) / DIAGONAL


@pytest.mark.parametrize("name", ["giou", "diou", "ciou"])
def test_overlap_of_boxes(name: str) -> None:
    """Columns of centre and size: values by hand, derivatives by differences."""
    call = getattr(torch_npu, f"npu_{name}")
    angle = torch.atan(OTHERS[2] / OTHERS[3]) - torch.atan(BOXES[2] / BOXES[3])
    shape = 4 / torch.pi**2 * angle.square()
    want = {
        "giou": (
            INNER / UNION
            - (torch.tensor([6.0, 16.0, 32.0]) - UNION) / torch.tensor([6.0, 16.0, 32.0])
        )[:, None],
        "diou": (INNER / UNION - APART)[None],
        "ciou": (INNER / UNION - APART - shape * shape / (1 - INNER / UNION + shape))[None],
    }[name]
    one, other = BOXES.npu().requires_grad_(), OTHERS.npu().requires_grad_()
    got = call(one, other, True, False, 0)
    close(got.detach(), torch.nan_to_num(want))
    got.sum().backward()
    for leaf, given in ((one, 0), (other, 1)):
        assert leaf.grad is not None
        moved = [BOXES.clone(), OTHERS.clone()]
        moved[given][2, 0] += 0.01
        step = call(moved[0].npu(), moved[1].npu(), True, False, 0).sum() - got.sum()
        assert abs(leaf.grad[2, 0].item() - step.item() / 0.01) < 0.02
    with pytest.raises(RuntimeError):
        call(one, other, False, False, 0)


def test_boxes_are_decoded() -> None:
    rois, deltas = torch.tensor([[1.0, 2.0, 3.0, 5.0]]), torch.tensor([[1.0, -2.0, 0.0, 1.0]])
    got = torch_npu.npu_bounding_box_decode(
        rois.npu(), deltas.npu(), 0, 0.5, 0, 0, 1, 0.25, 1, 1, (20, 30), 0.5
    )
    # Twice as high at most; its centre moves by a width, and by no height.
    close(got, torch.tensor([[4.0, 0.0, 6.0, 7.0]]))


def test_bits() -> None:
    values = torch.tensor([1, -1, 1, 1, -1, -1, 1, -1], dtype=torch.float16)
    packed = torch_npu.npu_sign_bits_pack(values.npu(), 1)
    assert packed.cpu().tolist() == [[0b01001101]]
    assert torch_npu.npu_sign_bits_unpack(packed, 1, torch.float16).cpu().tolist() == [
        values.tolist()
    ]
