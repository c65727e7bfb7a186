# SPDX-License-Identifier: Apache-2.0
"""Operators that nobody has run on the CPU, with the meaning that they have on a device."""

from __future__ import annotations

import copy
import io
import pickle
import re
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import aclgrad_torch_npu
from npu_programs import Program

NPU = torch.device("npu", 0)


def same(got: Any, want: Any) -> None:
    if isinstance(want, torch.Tensor):
        assert got.device.type == "npu"
        host = got.cpu()
        assert host.dtype == want.dtype and host.shape == want.shape
        assert torch.equal(host, want) or torch.allclose(host, want, equal_nan=True)
    elif isinstance(want, (tuple, list)):
        assert len(got) == len(want)
        for one, other in zip(got, want, strict=True):
            same(one, other)
    else:
        assert got == want


CALLS: dict[str, Callable[[torch.Tensor], Any]] = {
    "scalar": lambda x: x + 1.5,
    "scalar left": lambda x: 2 - x,
    "double scalar": lambda x: x * 3.141592653589793,
    "integers": lambda x: (x * 10).int() + 1,
    "promotion": lambda x: (x * 10).int() * 0.5,
    "reduce": lambda x: x.sum(0, keepdim=True),
    "several results": lambda x: x.max(dim=1),
    "list": lambda x: torch.cat([x, x * 2], 1),
    "split": lambda x: [t + 0 for t in x.split(3, 1)],
    "strides": lambda x: x.t()[::2] + 1,
    "in place": lambda x: x.clone().add_(1),
    "in place on a view": lambda x: _in_place_on_a_view(x.clone()),
    "setitem": lambda x: _setitem(x.clone()),
    "index": lambda x: x[[0, 2], 1:],
    "mask": lambda x: x[x > 0],
    "where": lambda x: torch.where(x > 0, x, torch.zeros_like(x)),
    "expand": lambda x: x[:1].expand(4, 6) * 2,
    "einsum": lambda x: torch.einsum("ij,kj->ik", x, x),
    "matmul": lambda x: x @ x.t(),
    "sort": lambda x: x.sort(dim=1, descending=True),
    "bool": lambda x: bool((x > -100).all()),
    "item": lambda x: round(float(x.sum().item()), 4),
    "unique": lambda x: (x > 0).long().unique(),
    "foreach": lambda x: torch._foreach_mul([x, x + 1], 2.0),
    "norm": lambda x: x.norm(),
    "empty": lambda x: x[:0].sum(1),
    "complex": lambda x: torch.fft.rfft(x).abs(),
    "linspace": lambda x: torch.linspace(0, 1, 5, device=x.device),
    "arange": lambda x: torch.arange(3, 20, 4, device=x.device, dtype=torch.float32),
    "full": lambda x: torch.full((2, 3), 7, device=x.device),
    "eye": lambda x: torch.eye(3, device=x.device),
    "tril": lambda x: torch.tril_indices(3, 3, device=x.device),
    "half matmul": lambda x: (x.half() @ x.half().t()).float().round(decimals=1),
    "layer norm": lambda x: torch.nn.functional.layer_norm(x, (6,)),
    "attention": lambda x: torch.nn.functional.scaled_dot_product_attention(
        x.view(1, 1, 4, 6), x.view(1, 1, 4, 6), x.view(1, 1, 4, 6)
    ),
    "interpolate": lambda x: torch.nn.functional.interpolate(x.view(1, 1, 4, 6), scale_factor=2),
}


def _in_place_on_a_view(x: torch.Tensor) -> torch.Tensor:
    x[:, ::2].mul_(3)
    x.t()[1].copy_(x[:, 0])
    return x


def _setitem(x: torch.Tensor) -> torch.Tensor:
    x[1] = 5
    x[:, 2:4] = x[:, :2]
    x[x < 0] = 0
    return x


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_results_are_the_cpus(call: Callable[[torch.Tensor], Any]) -> None:
    x = torch.randn(4, 6, generator=torch.Generator().manual_seed(1))
    same(call(x.npu()), call(x))
    same(call(x.npu()), call(x))  # the second time it is known that there is no kernel


def test_out_is_filled_and_resized() -> None:
    x = torch.randn(4, 6)
    y = x.npu()
    out = torch.empty(4, 6, device=NPU)
    assert torch.add(y, y, out=out) is out
    same(out, x + x)
    small = torch.empty(0, device=NPU)
    torch.add(y, y, out=small)
    same(small, x + x)
    values, indices = torch.empty(0, device=NPU), torch.empty(0, dtype=torch.long, device=NPU)
    torch.max(y, 1, out=(values, indices))
    same((values, indices), tuple(torch.max(x, 1)))
    view = torch.zeros(4, 12, device=NPU)
    torch.add(y, 1, out=view[:, ::2])
    same(view[:, ::2].contiguous(), x + 1)
    assert not view[:, 1::2].cpu().any()


def test_random_numbers_follow_the_npus_generator() -> None:
    draws: list[Callable[[], torch.Tensor]] = [
        lambda: torch.randn(5, device=NPU),
        lambda: torch.rand(5, device=NPU),
        lambda: torch.randint(0, 100, (5,), device=NPU),
        lambda: torch.randperm(9, device=NPU),
        lambda: torch.nn.functional.dropout(torch.ones(64, device=NPU), 0.5),
        lambda: torch.bernoulli(torch.full((32,), 0.5, device=NPU)),
        lambda: torch.multinomial(torch.ones(16, device=NPU), 5),
        lambda: torch.empty(7, device=NPU).exponential_(),
    ]
    for draw in draws:
        torch.npu.manual_seed(3)
        first, second = draw().cpu(), draw().cpu()
        torch.npu.manual_seed(3)
        assert torch.equal(draw().cpu(), first) and torch.equal(draw().cpu(), second)
        assert not torch.equal(first, second)
    state = torch.npu.get_rng_state()
    ahead = torch.rand(4, device=NPU).cpu()
    torch.npu.set_rng_state(state)
    assert torch.equal(torch.rand(4, device=NPU).cpu(), ahead)
    mine = torch.Generator(device="npu").manual_seed(1)
    own = torch.rand(4, device=NPU, generator=mine).cpu()
    assert torch.equal(torch.rand(4, device=NPU, generator=mine.manual_seed(1)).cpu(), own)


def test_random_numbers_leave_the_cpus_alone() -> None:
    torch.manual_seed(5)
    want = torch.rand(3)
    torch.manual_seed(5)
    torch.nn.functional.dropout(torch.ones(8, device=NPU), 0.5)
    torch.rand(4, device=NPU)
    assert torch.equal(torch.rand(3), want)


@pytest.mark.parametrize("options", [{}, {"foreach": True}, {"fused": True}], ids=str)
@pytest.mark.parametrize(
    "optimizer", [torch.optim.SGD, torch.optim.AdamW], ids=lambda o: o.__name__
)
def test_optimizers(optimizer: Any, options: dict[str, bool]) -> None:
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2))
    twin = copy.deepcopy(model).npu()
    x = torch.randn(16, 6)
    # torch_npu's fused SGD wants a momentum.
    settings = {"momentum": 0.9} if optimizer is torch.optim.SGD else {}
    for net, data in ((model, x), (twin, x.npu())):
        steps = optimizer(net.parameters(), lr=0.1, **settings, **options)
        for _ in range(3):
            steps.zero_grad()
            net(data).pow(2).mean().backward()
            steps.step()
    for got, want in zip(twin.parameters(), model.parameters(), strict=True):
        assert torch.allclose(got.cpu(), want, rtol=1e-4, atol=1e-5)


def test_a_model_can_be_saved_copied_and_pickled() -> None:
    model = torch.nn.Linear(3, 2).npu()
    stream = io.BytesIO()
    torch.save(model.state_dict(), stream)
    stream.seek(0)
    other = torch.nn.Linear(3, 2).npu()
    other.load_state_dict(torch.load(stream, map_location="npu"))
    same(other.weight.detach(), model.weight.detach().cpu())
    same(copy.deepcopy(model).weight.detach(), model.weight.detach().cpu())
    same(pickle.loads(pickle.dumps(model.weight.detach())), model.weight.detach().cpu())
    assert np.array_equal(model.weight.detach().cpu().numpy(), model.weight.detach().cpu())


def test_from_several_threads() -> None:
    results: list[torch.Tensor] = []

    def work(number: int) -> None:
        x = torch.full((8, 8), float(number), device=NPU)
        for _ in range(20):
            x = (x + 1).tanh() * number
        results.append(x.cpu() - _host(number))

    def _host(number: int) -> torch.Tensor:
        x = torch.full((8, 8), float(number))
        for _ in range(20):
            x = (x + 1).tanh() * number
        return x

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4 and all(r.abs().max() < 1e-5 for r in results)


def test_each_operator_is_named_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ACLGRAD_TORCH_FALLBACK", "warn")
    x = torch.randn(3, device=NPU)
    capsys.readouterr()
    torch.special.i0e(x)
    torch.special.i0e(x)
    ours = [line for line in capsys.readouterr().err.splitlines() if "special_i0e" in line]
    assert len(ours) == 1 and "ACLGRAD_TORCH_FALLBACK" in ours[0]
    assert __file__ in ours[0]
    name = next(name for name in aclgrad_torch_npu.summary() if "special_i0e" in name)
    assert aclgrad_torch_npu.summary()[name] == 2


def test_error_names_the_operator_and_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACLGRAD_TORCH_FALLBACK", "error")
    x = torch.zeros(3, device=NPU)
    with pytest.raises(
        NotImplementedError, match=r"aten::erfinv.*Next:.*ACLGRAD_TORCH_FALLBACK=warn"
    ):
        torch.erfinv(x)


def test_unknown_mode_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACLGRAD_TORCH_FALLBACK", "loud")
    with pytest.raises(RuntimeError, match="got 'loud', want warn, silent, error"):
        torch.zeros(3, device=NPU).erfinv()


def test_summary_at_exit(program: Program) -> None:
    text = "import torch\nx = torch.ones(3, device='npu')\nprint(float((x + x).tanh().sum()))\n"
    loud = program(text, ACLGRAD_TORCH_FALLBACK="warn")
    assert loud.returncode == 0, loud.stderr
    assert re.search(r"^  on the CPU +aten::tanh +1 +\S+program\.py:3$", loud.stderr, re.M)
    said = [line for line in loud.stderr.splitlines() if "aten::tanh runs on the CPU" in line]
    assert len(said) == 1 and "program.py:3: " in said[0], loud.stderr
    assert "not released" not in loud.stderr
    quiet = program(text, ACLGRAD_TORCH_FALLBACK="silent")
    assert quiet.stdout == loud.stdout and "on the CPU" not in quiet.stderr


@pytest.mark.parametrize(
    ("left", "right"),
    [((3,), (3,)), ((3,), (3, 4)), ((2, 3), (3,)), ((2, 3), (3, 4)), ((5, 2, 3), (3, 4)),
     ((5, 1, 2, 3), (6, 3, 4)), ((3,), (5, 3, 4)), ((5, 2, 3), (3,))],
    ids=str,
)  # fmt: skip
def test_derivative_of_matmul(left: tuple[int, ...], right: tuple[int, ...]) -> None:
    a, b = torch.randn(left, requires_grad=True), torch.randn(right, requires_grad=True)
    one, other = (t.detach().npu().requires_grad_() for t in (a, b))
    (a @ b).pow(2).sum().backward()
    (one @ other).pow(2).sum().backward()
    for got, want in ((one.grad, a.grad), (other.grad, b.grad)):
        assert got is not None and want is not None
        assert torch.allclose(got.cpu(), want, rtol=1e-4, atol=1e-5)


def test_pytorch_without_get_kernel(program: Program) -> None:
    """Older versions cannot keep the entries that leave the dispatcher, and need not."""
    done = program(
        "import torch\n"
        "vars(torch.library).pop('get_kernel', None)\n"
        "x = torch.ones(3, device='npu')\n"
        "print(float((x + x).tanh().sum()))\n"
    )
    assert done.returncode == 0 and done.stdout.startswith("2.892"), done.stderr
