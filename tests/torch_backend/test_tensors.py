# SPDX-License-Identifier: Apache-2.0
"""What every tensor needs runs on the device, without the CPU's kernels: copies of any strides and
dtypes, fills, comparisons.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from aclgrad_torch_npu.fallback import counts
from npu_programs import Program

DTYPES = [
    *(torch.bool, torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64),
    *(torch.float16, torch.bfloat16, torch.float32, torch.float64),
    *(torch.complex64, torch.complex128),
]
REAL = [dtype for dtype in DTYPES if not dtype.is_complex]
each_dtype = pytest.mark.parametrize("dtype", DTYPES, ids=str)
each_real = pytest.mark.parametrize("dtype", REAL, ids=str)


@pytest.fixture(autouse=True)
def only_on_the_device() -> Iterator[None]:
    """Nothing of a test runs on the CPU."""
    before = counts()
    yield
    assert counts() == before


def values(dtype: torch.dtype) -> torch.Tensor:
    """Numbers that every dtype has, with equal ones among them."""
    return torch.arange(48).reshape(4, 12).remainder(7).to(dtype)


def same(got: torch.Tensor, want: torch.Tensor) -> None:
    assert got.device.type == "npu"
    torch.testing.assert_close(got.cpu(), want, rtol=0, atol=0, equal_nan=True)


VIEWS: list[Callable[[torch.Tensor], torch.Tensor]] = [
    lambda x: x,
    lambda x: x.t(),
    lambda x: x[1:3, ::2],
    lambda x: x[:, 5],
    lambda x: x[:1].expand(5, 12),
    lambda x: x.reshape(2, 2, 12).permute(2, 0, 1),
    lambda x: x[2, 3],
    lambda x: x[:0],
]


@each_dtype
def test_views_and_their_copies(dtype: torch.dtype) -> None:
    x = values(dtype)
    for view in VIEWS:
        mine = view(x.npu())
        same(mine, view(x))
        same(mine.contiguous(), view(x).contiguous())
        same(mine.clone(), view(x).clone())


@each_dtype
def test_copies_between_dtypes(dtype: torch.dtype) -> None:
    x = values(dtype)
    for other in DTYPES:
        if other is not torch.float64:  # torch_npu makes that float32
            same(x.npu().to(other), x.to(other))
        same(x.to("npu", other), x.to(other))
        torch.testing.assert_close(x.npu().to("cpu", other), x.to(other), rtol=0, atol=0)
        want = torch.ones(4, 12, dtype=other)
        got = want.npu()
        want[:, ::2].copy_(x[:, 1::2])
        got[:, ::2].copy_(x.npu()[:, 1::2])
        same(got, want)
        want.t().copy_(x[:1, :4])
        got.t().copy_(x.npu()[:1, :4])
        same(got, want)


def test_casts_to_integers_saturate() -> None:
    x = torch.tensor([float("nan"), 1e20, -1e20, 300.7, -300.7]).npu()
    assert x.to(torch.int32).tolist() == [0, 2**31 - 1, -(2**31), 300, -300]
    assert x.to(torch.int8).tolist() == [0, 127, -128, 127, -128]
    assert x.to(torch.bool).tolist() == [True] * 5


@each_dtype
def test_new_tensors(dtype: torch.dtype) -> None:
    x = values(dtype)
    for make in (torch.zeros, torch.ones):
        same(make(3, 5, dtype=dtype, device="npu"), make(3, 5, dtype=dtype))
    for like in (torch.zeros_like, torch.ones_like):
        same(like(x.npu()), like(x))
    same(torch.full((2, 3), 5, dtype=dtype, device="npu"), torch.full((2, 3), 5, dtype=dtype))
    same(torch.tensor([1, 0, 2]).to(dtype).npu(), torch.tensor([1, 0, 2]).to(dtype))
    same(torch.cat([x.npu(), x.npu()[:2]]), torch.cat([x, x[:2]]))
    assert x.npu()[2, 3].item() == x[2, 3].item()
    if dtype in REAL[1:]:
        same(torch.arange(1, 9, 3, dtype=dtype, device="npu"), torch.arange(1, 9, 3, dtype=dtype))


@each_dtype
@pytest.mark.parametrize("value", [3, 0.5, True])
def test_assignments(dtype: torch.dtype, value: float) -> None:
    want, got = values(dtype), values(dtype).npu()
    for x in (want, got):
        x[:, ::2] = value
        x[1] = x[2]
        x[3, 3] = x[0, 1]
        x.t()[4].zero_()
    same(got, want)


RELATIONS = [operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge]


@each_dtype
@pytest.mark.parametrize("relation", RELATIONS, ids=lambda f: str(f.__name__))
def test_comparisons(dtype: torch.dtype, relation: Callable[[Any, Any], torch.Tensor]) -> None:
    x, y = values(dtype), values(dtype).flip(1)
    if dtype.is_complex and relation not in (operator.eq, operator.ne):
        with pytest.raises(RuntimeError, match="one with an order"):
            relation(x.npu(), y.npu())
        return
    for first, second in ((x, y), (x, y[:1]), (x[:, 2:], y[:, ::2][:, :1]), (x.t(), y[0, 0])):
        same(relation(first.npu(), second.npu()), relation(first, second))
    for number in (2, 0.5, False):
        same(relation(x.npu(), number), relation(x, number))
        same(relation(x.npu()[:, ::2], torch.tensor(number)), relation(x[:, ::2], number))


@each_dtype
def test_logic(dtype: torch.dtype) -> None:
    x, y = values(dtype), values(dtype).flip(1)[:1]
    same(torch.logical_not(x.npu()), torch.logical_not(x))
    for function in (torch.logical_and, torch.logical_or, torch.logical_xor):
        same(function(x.npu(), y.npu()), function(x, y))
    same(torch.isfinite(x.npu()), torch.isfinite(x))
    assert torch.equal(x.npu(), x.npu())
    assert not torch.equal(x.npu(), x.flip(0).npu())
    assert not torch.equal(x.npu(), x[:2].npu())


@each_real
def test_in_place(dtype: torch.dtype) -> None:
    x = values(dtype)
    same(x.npu().le_(2), x.clone().le_(2))
    same(x.npu().eq_(x.npu().t()[:1, :1]), x.clone().eq_(x[0, 0]))
    same(x.npu().logical_not_(), x.clone().logical_not_())


def test_a_copy_that_does_not_wait() -> None:
    x = torch.arange(1000.0).pin_memory()
    there = x.to("npu", torch.float16, non_blocking=True)
    back = there.to("cpu", torch.float32, non_blocking=True)
    torch.npu.synchronize()
    assert torch.equal(back, x.half().float())


@pytest.mark.parametrize("soc", ["Ascend910_9391", "Ascend950PR_9589"])
def test_other_socs(program: Program, soc: str) -> None:
    """On Ascend 950 torch_npu has no road but aclnn functions."""
    done = program(
        f"import pytest, sys; sys.exit(pytest.main([{str(Path(__file__))!r}, '-q', '-p',"
        " 'no:cacheprovider', '-k', 'not other_socs']))",
        ACLGRAD_SOC=soc,
    )
    assert done.returncode == 0, done.stdout[-4000:]


BY_TYPES = """
import torch
torch.npu.set_compile_mode(jit_compile=True)
x = torch.arange(60.0).reshape(6, 10)
wrong = []
for name, call in {
    "transposed": lambda x: x.t().contiguous(),
    "columns": lambda x: x[:, 2:5].clone(),
    "steps": lambda x: x[::2, ::3].clone(),
    "permuted": lambda x: x.reshape(2, 3, 10).permute(2, 0, 1).contiguous(),
    "expanded": lambda x: x[:1].expand(4, 10).contiguous(),
    "diagonal": lambda x: x.diagonal().clone(),
    "into columns": lambda x: (z := x.clone())[:, 1:4].copy_(x[:, 5:8]) * 0 + z[:, 1:4],
    "filled": lambda x: x.clone().fill_(3),
    "zeros": torch.zeros_like,
    "added": lambda x: x + x.flip(0),
}.items():
    if not torch.equal(call(x.npu()).cpu(), call(x)):
        wrong.append(name)
print("RESULT", wrong)
"""


def test_copies_by_operator_types(program: Program) -> None:
    """What set_compile_mode has torch_npu ask for in the place of aclnn functions."""
    done = program(BY_TYPES)
    assert done.stdout == "RESULT []\n", done.stdout + done.stderr
