# SPDX-License-Identifier: Apache-2.0
"""Classes of operators whose CPU kernels mean something else than a device's."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional as F

from npu_programs import Program

TWO_DEVICES = """
import torch
first, second = (torch.ones(3, device=f"npu:{number}") for number in (0, 1))
for call in (torch.add, torch.maximum, lambda *both: torch.stack(both)):
    try:
        print(call(first, second))
    except RuntimeError as error:
        print(str(error).partition("two devices, ")[2].partition("!")[0])
"""
HALVES = pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])


@HALVES
def test_half_types_are_rounded_once(dtype: torch.dtype) -> None:
    x = torch.linspace(1, 2, 16 * 7).reshape(16, 7).to(dtype)
    got = torch.prod(x.npu(), 0).cpu()
    assert torch.equal(got, torch.prod(x.float(), 0).to(dtype))
    in_dtype = torch.prod(x.npu(), 0, dtype=dtype).cpu()
    assert torch.equal(in_dtype, got)
    wide = torch.prod(x.npu(), 0, dtype=torch.float32).cpu()
    assert wide.dtype == torch.float32 and torch.equal(wide, torch.prod(x.float(), 0))


@HALVES
def test_half_types_that_the_cpu_has_not(dtype: torch.dtype) -> None:
    x = torch.randn(5, 3).to(dtype)
    got = torch.cdist(x.npu(), x.npu(), p=1.0).cpu()
    assert torch.equal(got, torch.cdist(x.float(), x.float(), p=1.0).to(dtype))


@HALVES
def test_half_types_in_place_and_out(dtype: torch.dtype) -> None:
    x = torch.linspace(0.5, 2, 12).to(dtype)
    want = torch.expm1(x.float()).to(dtype)
    changed = x.npu()
    assert changed.expm1_() is changed and torch.equal(changed.cpu(), want)
    for size in (0, 5, 12):
        out = torch.empty(size, dtype=dtype).npu()
        assert torch.equal(torch.expm1(x.npu(), out=out).cpu(), want), size


@HALVES
def test_a_scalar_is_compared_as_the_tensors_type(dtype: torch.dtype) -> None:
    assert bool((torch.tensor([0.1], dtype=dtype).npu() == 0.1).cpu().all())


@HALVES
def test_ranges_are_those_of_the_type(dtype: torch.dtype) -> None:
    x = torch.tensor([float("inf")], dtype=dtype)
    assert torch.equal(x.npu().nan_to_num().cpu(), x.nan_to_num())


def test_indices_of_32_bits() -> None:
    x, target = torch.randn(2, 3, 4, 4).log_softmax(1), torch.randint(0, 3, (2, 4, 4))
    got = F.nll_loss(x.npu(), target.int().npu()).cpu()
    torch.testing.assert_close(got, F.nll_loss(x, target))


@HALVES
def test_indices_of_32_bits_beside_half_types(dtype: torch.dtype) -> None:
    x = torch.linspace(-1, 1, 12).reshape(3, 4).to(dtype)
    target = torch.tensor([[1, 2, -1, 0]] * 3, dtype=torch.int32)
    got = F.multilabel_margin_loss(x.npu(), target.npu()).cpu()
    want = F.multilabel_margin_loss(x.float(), target.long()).to(dtype)
    assert torch.equal(got, want)
    values = torch.tensor([7, 8], dtype=dtype)
    put = x.npu().put_(torch.tensor([0, 5], dtype=torch.int32).npu(), values.npu())
    assert torch.equal(put.cpu(), x.put(torch.tensor([0, 5]), values))
    assert F.one_hot(torch.arange(3, dtype=torch.int32).npu(), 4).dtype == torch.int32


def test_tensors_of_the_host_are_refused() -> None:
    """As on a device: a number in a tensor may come from anywhere, and so may indices."""
    x, y = torch.ones(3), torch.arange(3)
    for call in (
        lambda: x.npu() + x,
        lambda: torch.where(x.npu() > 0, x.npu(), x),
        lambda: torch.searchsorted(x.npu(), x),
        lambda: torch.stack([x.npu(), x]),
    ):
        with pytest.raises(RuntimeError, match="same device"):
            call()
    assert (x.npu() + torch.tensor(1.0)).tolist() == [2.0] * 3
    assert x.npu()[y].tolist() == [1.0] * 3
    device, host = torch.zeros(3).npu(), torch.zeros(3)
    torch._foreach_copy_([device, host, device[:1]], [x.npu(), x, 2 * x[:1]])
    assert device.tolist() == [2.0, 1.0, 1.0] and host.tolist() == [1.0] * 3


def test_tensors_of_another_device_are_refused(program: Program) -> None:
    done = program(TWO_DEVICES, ACLGRAD_DEVICES="2")
    assert done.stdout == "npu:0 and npu:1\n" * 3, done.stdout + done.stderr


def test_integers_that_are_drawn_are_cut_off() -> None:
    drawn = torch.empty(200, dtype=torch.int32, device="npu").uniform_(-3, 3).cpu()
    assert drawn.unique().tolist() == [-2, -1, 0, 1, 2]
    assert not torch.rand(5, dtype=torch.int64, device="npu").cpu().any()


def test_a_result_given_by_its_shape() -> None:
    out = torch.empty(500).npu()
    torch.normal(torch.zeros(500).npu(), 1.0, out=out)
    assert out.cpu().std() > 0.5


def test_matmul_goes_backward() -> None:
    first, second = torch.randn(2, 3, 4), torch.randn(4, 5)
    device = [each.npu().requires_grad_() for each in (first, second)]
    host = [each.clone().requires_grad_() for each in (first, second)]
    torch.matmul(*device).sum().backward()
    torch.matmul(*host).sum().backward()
    for one, other in zip(device, host, strict=True):
        assert one.grad is not None and other.grad is not None
        torch.testing.assert_close(one.grad.cpu(), other.grad)


def test_what_both_refuse_is_the_backends_error() -> None:
    with pytest.raises(RuntimeError):
        torch.lerp(torch.ones(2, 3).npu(), torch.ones(4, 5).npu(), 0.5)
    assert torch.equal(torch.ones(3).npu().cpu(), torch.ones(3))
