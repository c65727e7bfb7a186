# SPDX-License-Identifier: Apache-2.0
"""The operators in torch's registry: under torch.compile, torch.vmap, torch.func, and twice."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from aclgrad.errors import ToolkitError
from aclgrad.ops import all_specs
from aclgrad.runtime import Device
from samples import BY_API, KL, LOG_SOFTMAX, MASKED, SIGMOID, SOFTMAX

torch = pytest.importorskip(
    "torch", reason="torch is not installed; scripts/test.sh --torch installs it"
)
import aclgrad.torch as glue  # noqa: E402  needs torch
from aclgrad.torch.operators import OPERATORS  # noqa: E402

F = torch.nn.functional
DTYPES = [torch.float32, torch.float16, torch.bfloat16]
each_dtype = pytest.mark.parametrize("dtype", DTYPES, ids=str)


def random(*shape: int, dtype: Any = torch.float32, seed: int = 3) -> Any:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


MASK = random(1, 3, 4, 5) > 0.3
TARGET = torch.softmax(random(2, 3, 4, 5, seed=4), -1)


@dataclass(frozen=True)
class Row:
    """A function, torch's own, and the shape of one sample."""

    name: str
    api: str
    ours: Callable[..., Any]
    torchs: Callable[..., Any]
    shape: tuple[int, ...] = (2, 3, 4, 5)

    def __str__(self) -> str:
        return self.name


def masked(x: Any, mask: Any, scale: float) -> Any:
    return torch.softmax((x * scale).masked_fill(mask, -10000.0), -1)


def divergence(reduction: str, log_target: bool = False, target: Any = TARGET) -> Row:
    words: dict[str, Any] = {"reduction": reduction, "log_target": log_target}
    return Row(
        f"kl_div-{reduction}-log{log_target:d}-{'x'.join(map(str, target.shape))}",
        KL,
        lambda x, **more: glue.kl_div(x, target.to(x.dtype), **words, **more),
        lambda x: F.kl_div(x, target.to(x.dtype), **words),
    )


ROWS = [
    row
    for row in (
        Row("softmax", SOFTMAX, lambda x, **w: glue.softmax(x, -1, **w), lambda x: x.softmax(-1)),
        Row("softmax-0", SOFTMAX, lambda x, **w: glue.softmax(x, 0, **w), lambda x: x.softmax(0)),
        Row(
            "softmax-scalar",
            SOFTMAX,
            lambda x, **w: glue.softmax(x, 0, **w),
            lambda x: x.softmax(0),
            (),
        ),
        Row(
            "log_softmax",
            LOG_SOFTMAX,
            lambda x, **w: glue.log_softmax(x, 1, **w),
            lambda x: x.log_softmax(1),
        ),
        Row("logsigmoid", SIGMOID, glue.logsigmoid, F.logsigmoid),
        divergence("none"),
        divergence("mean", True),
        divergence("sum"),
        divergence("batchmean"),
        divergence("mean", target=random(4, 1).abs()),
        divergence("batchmean", target=random(3, 2, 3, 4, 5).abs()),
        Row(
            "masked",
            MASKED,
            lambda x, **w: glue.scaled_masked_softmax(x, MASK, 0.3, **w),
            lambda x: masked(x, MASK, 0.3),
        ),
    )
    if row.api in BY_API
]
each_row = pytest.mark.parametrize("row", ROWS, ids=str)
FEW = [row for row in ROWS if row.name in ("softmax", "kl_div-batchmean-log0-2x3x4x5", "masked")]
pytestmark = pytest.mark.filterwarnings("ignore:reduction", "ignore:Using a target size")


def loss(function: Callable[..., Any]) -> Callable[..., Any]:
    """A number of a sample, with another gradient for each element."""

    def of(x: Any) -> Any:
        y = function(x)
        weights = torch.arange(1.0, y.numel() + 1).reshape(y.shape)
        return (y * weights.to(y.dtype)).sum()

    return of


def operands(dtype: Any) -> dict[str, tuple[Any, ...]]:
    """Arguments of each operator, with and without the defaults."""

    def leaf(*shape: int, seed: int = 5) -> Any:
        return random(*shape, dtype=dtype, seed=seed).requires_grad_()

    return {
        "softmax_backward": (leaf(3, 4), leaf(3, 4, seed=6)),
        "log_softmax_backward": (leaf(3, 4), leaf(3, 4, seed=6), 0, "sim"),
        "log_sigmoid_backward": (leaf(3, 4), leaf(3, 4, seed=6)),
        "kl_div_backward": (leaf(1), leaf(3, 4).detach(), leaf(4, seed=6), 3, True),
        "scaled_masked_softmax_backward": (
            leaf(2, 3, 4, 5),
            leaf(2, 3, 4, 5, seed=6),
            MASK,
            0.5,
        ),
    }


def test_every_operator_is_registered() -> None:
    assert set(OPERATORS) == {spec.function for spec in all_specs()}
    assert set(OPERATORS) <= set(operands(torch.float32))


@each_dtype
@pytest.mark.parametrize("name", sorted(OPERATORS))
def test_torchs_own_check(name: str, dtype: Any, device: Device) -> None:
    """Schema, shapes without data, autograd, symbolic shapes."""
    torch.library.opcheck(getattr(torch.ops.aclgrad, name).default, operands(dtype)[name])


@each_row
def test_compiles_in_one_graph(row: Row, device: Device) -> None:
    x = random(*row.shape).requires_grad_()
    (want,) = torch.autograd.grad(loss(row.ours)(x), x)
    torch._dynamo.reset()
    compiled = torch.compile(loss(row.ours), fullgraph=True, backend="aot_eager")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (got,) = torch.autograd.grad(compiled(x), x)
    assert torch.equal(got, want)


def test_compiles_with_inductor_and_other_shapes(device: Device) -> None:
    torch._dynamo.reset()
    compiled = torch.compile(lambda x: glue.softmax(x * 2, -1).square().sum(), fullgraph=True)
    for rows in (3, 5, 7):
        x = random(rows, 9).requires_grad_()
        (got,) = torch.autograd.grad(compiled(x), x)
        (want,) = torch.autograd.grad((x * 2).softmax(-1).square().sum(), x)
        torch.testing.assert_close(got, want)


@each_row
def test_vmap_is_a_loop(row: Row, device: Device) -> None:
    samples = random(6, *row.shape)
    gradient = torch.func.grad(loss(row.ours))
    want = torch.stack([gradient(sample) for sample in samples])
    for at in range(samples.dim()):
        got = torch.func.vmap(gradient, in_dims=at)(samples.movedim(0, at))
        torch.testing.assert_close(got, want)
    # The other way round: the gradient of what is mapped.
    leaf = samples.clone().requires_grad_()
    torch.func.vmap(loss(row.ours))(leaf).sum().backward()
    torch.testing.assert_close(leaf.grad, want)
    twice = torch.func.vmap(torch.func.vmap(gradient))(samples.unflatten(0, (2, 3)))
    torch.testing.assert_close(twice.flatten(0, 1), want)


@each_dtype
@pytest.mark.parametrize("name", sorted(OPERATORS))
def test_vmap_of_an_operator_is_a_loop(name: str, dtype: Any, device: Device) -> None:
    """Each tensor alone and all together have samples."""
    values = [v.detach() if torch.is_tensor(v) else v for v in operands(dtype)[name]]
    tensors = [i for i, value in enumerate(values) if torch.is_tensor(value)]
    operator = getattr(torch.ops.aclgrad, name)
    for batched in ([i] for i in tensors) if dtype == torch.float32 else [tensors]:
        given = list(values)
        for i in batched:
            given[i] = torch.stack([values[i], values[i].flip(-1), values[i].roll(1, -1)], -1)
        dims = tuple(-1 if i in batched else None for i in range(len(values)))
        got = torch.func.vmap(operator, in_dims=dims)(*given)
        for sample in range(3):
            one = [v[..., sample] if i in batched else v for i, v in enumerate(given)]
            torch.testing.assert_close(got[sample], operator(*one))


def test_vmap_does_not_reach_into_the_samples(device: Device) -> None:
    with pytest.raises(IndexError, match="dim: got -2, want -1 to 0"):
        torch.func.vmap(lambda g: torch.ops.aclgrad.softmax_backward(g, g, -2))(random(3, 4))


@each_row
def test_transforms_of_func(row: Row, device: Device) -> None:
    x = random(*row.shape)
    ours, torchs = loss(row.ours), loss(row.torchs)
    first, same = torch.func.grad_and_value(ours)(x), torch.func.grad_and_value(torchs)(x)
    for got, want in zip(first, same, strict=True):
        torch.testing.assert_close(got, want, rtol=2e-5, atol=1e-5)

    def second(function: Callable[..., Any]) -> Any:
        return torch.func.grad(lambda x: torch.func.grad(function)(x).square().sum())(x)

    torch.testing.assert_close(second(ours), second(torchs), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("row", FEW, ids=str)
def test_jacobian(row: Row, device: Device) -> None:
    x = random(1, 3, 4, 5)
    got = torch.func.jacrev(lambda x: row.ours(x.expand(2, -1, -1, -1)))(x)
    want = torch.func.jacrev(lambda x: row.torchs(x.expand(2, -1, -1, -1)))(x)
    torch.testing.assert_close(got, want, rtol=1e-4, atol=1e-6)


@each_row
def test_numeric_gradients_by_the_golden(row: Row) -> None:
    """In float64, without a kernel; the derivatives of the derivatives are those of all devices."""
    x = random(*row.shape, dtype=torch.float64).requires_grad_()
    for check in (torch.autograd.gradcheck, torch.autograd.gradgradcheck):
        assert check(lambda x: row.ours(x, device="golden"), (x,), fast_mode=True)


@each_dtype
@each_row
def test_differentiates_twice(row: Row, dtype: Any, device: Device) -> None:
    grads = []
    for function, side in ((row.ours, dtype), (row.torchs, torch.float64)):
        x = random(*row.shape, dtype=dtype).to(side).requires_grad_()
        (first,) = torch.autograd.grad(function(x).square().sum(), x, create_graph=True)
        first.square().sum().backward()
        grads.append(x.grad.double())
    size = float(grads[1].abs().max())
    near = {torch.float32: 1e-5, torch.float16: 8e-3, torch.bfloat16: 6e-2}[dtype]
    torch.testing.assert_close(grads[0], grads[1], rtol=near, atol=near * size + 1e-12)


@pytest.mark.parametrize("name", sorted(OPERATORS))
def test_derivatives_by_every_operand(name: str) -> None:
    """Also by what no function of ours asks for: the result of the softmax, the target."""
    values = [v.double() if takes_gradient(v) else v for v in operands(torch.float32)[name]]
    leaves = [v.detach().requires_grad_() for v in values if takes_gradient(v)]
    plain = [v.double() if torch.is_tensor(v) and v.is_floating_point() else v for v in values]
    attrs = [v for v in plain if not isinstance(v, str)]

    def golden(*tensors: Any) -> Any:
        given = iter(tensors)
        every = [next(given) if takes_gradient(v) else v for v in attrs]
        return getattr(torch.ops.aclgrad, name)(*every, device="golden")

    assert len(leaves) == 2 and torch.autograd.gradcheck(golden, leaves, fast_mode=True)


def takes_gradient(value: Any) -> bool:
    return bool(torch.is_tensor(value) and value.requires_grad)


@pytest.mark.parametrize("name", ["softmax", "log_softmax", "logsigmoid", "kl_div"])
def test_arguments_are_those_of_torch(name: str) -> None:
    # logsigmoid is a function of C, which has no signature.
    function = getattr(F, name) if name != "logsigmoid" else lambda input: input
    theirs = inspect.signature(function).parameters
    ours = inspect.signature(getattr(glue, name)).parameters
    assert {**{key: item.default for key, item in theirs.items()}, "device": "sim"} == {
        key: item.default for key, item in ours.items()
    }
    assert list(theirs) == list(ours)[:-1]


def test_conversion_first(device: Device) -> None:
    x = random(3, 4, dtype=torch.float16).requires_grad_()
    y = glue.softmax(x, -1, dtype=torch.float32)
    y.square().sum().backward()
    assert y.dtype == torch.float32 and x.grad.dtype == torch.float16
    assert torch.equal(y, F.softmax(x, -1, dtype=torch.float32))
    whole = glue.log_softmax(torch.arange(4), 0, dtype=torch.bfloat16)
    assert torch.equal(whole, F.log_softmax(torch.arange(4), 0, dtype=torch.bfloat16))


@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (2, 3, 4), (2, 3, 4, 5)])
def test_old_words_of_torch(shape: tuple[int, ...]) -> None:
    x = random(*shape)
    with pytest.warns(UserWarning, match="softmax: no dim is given; torch takes"):
        got = glue.softmax(x)
    with pytest.warns(UserWarning, match="Implicit"):
        assert torch.equal(got, F.softmax(x))
    with pytest.warns(UserWarning, match="reduction='sum'"):
        got = glue.kl_div(x, x.exp(), size_average=False)
    assert torch.equal(got, F.kl_div(x, x.exp(), reduction="sum"))


def test_shapes_without_data() -> None:
    x = torch.empty(2, 3, 4, 5, device="meta", requires_grad=True)
    mask = torch.empty(1, 3, 4, 5, dtype=torch.bool, device="meta")
    for value in (
        glue.softmax(x, -1),
        glue.logsigmoid(x),
        glue.kl_div(x, x.detach(), reduction="batchmean"),
        glue.scaled_masked_softmax(x, mask, 0.5),
    ):
        (grad,) = torch.autograd.grad(value.sum(), x)
        assert grad.device.type == "meta" and grad.shape == x.shape


def test_refusals_of_an_operator() -> None:
    x = random(3, 4)
    operator = torch.ops.aclgrad.softmax_backward
    with pytest.raises(TypeError, match="softmax_backward: output: got torch.float64, .*golden"):
        operator(x, x.double())
    with pytest.raises(ToolkitError, match="softmax_backward: device: got 'tpu', want sim, npu or"):
        operator(x, x, -1, "tpu")
    with pytest.raises(ValueError, match="grad_output: got a torch.sparse_coo tensor"):
        operator(x.to_sparse(), x)
    with pytest.raises(TypeError, match="mask: got torch.float32, want torch.bool"):
        y = random(1, 1, 3, 4)
        torch.ops.aclgrad.scaled_masked_softmax_backward(y, y, y)


def test_an_npu_that_is_not_there_is_missed_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ASCEND_HOME_PATH", raising=False)
    with pytest.raises(ToolkitError, match="ASCEND_HOME_PATH is not set"):
        glue.softmax(random(3, 4), -1, device="npu")
    with pytest.raises(ToolkitError, match="logsigmoid: device: got 'cuda', want sim, npu"):
        glue.logsigmoid(random(3, 4), device="cuda")
