# SPDX-License-Identifier: Apache-2.0
"""aclgrad.torch against torch's own autograd."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from aclgrad.golden.precision import compare
from aclgrad.runtime import Device
from samples import BY_API, KL, LOG_SOFTMAX, MASKED, SIGMOID, SOFTMAX

torch = pytest.importorskip(
    "torch", reason="torch is not installed; scripts/test.sh --torch installs it"
)
import aclgrad.torch as glue  # noqa: E402  needs torch
from aclgrad.torch.gradients import MASKED as MASKED_VALUE  # noqa: E402
from aclgrad.torch.tensors import array_of, tensor_of  # noqa: E402

F = torch.nn.functional
DTYPES = [torch.float32, torch.float16, torch.bfloat16]
pytestmark = pytest.mark.filterwarnings("ignore:reduction", "ignore:Using a target size")
each_dtype = pytest.mark.parametrize("dtype", DTYPES, ids=str)


@dataclass(frozen=True)
class Row:
    """One function beside torch's: both take the leaf and the other tensors."""

    name: str
    api: str
    shape: tuple[int, ...]
    ours: Callable[..., Any]
    torchs: Callable[..., Any]
    others: tuple[Any, ...] = ()

    def __str__(self) -> str:
        return f"{self.name}-{'x'.join(map(str, self.shape)) or 'scalar'}"


def masked(x: Any, mask: Any, scale: float) -> Any:
    return torch.softmax((x * scale).masked_fill(mask, MASKED_VALUE), -1)


def rows() -> list[Row]:
    found = [
        Row(f"{name}-dim{dim}", api, shape, ours, torchs, (dim,))
        for name, api, ours, torchs in (
            ("softmax", SOFTMAX, glue.softmax, torch.softmax),
            ("log_softmax", LOG_SOFTMAX, glue.log_softmax, torch.log_softmax),
        )
        for shape, dim in (((5,), 0), ((4, 33), -1), ((4, 33), 0), ((3, 5, 7), 1), ((), 0))
    ]
    found += [
        Row("logsigmoid", SIGMOID, shape, glue.logsigmoid, F.logsigmoid)
        for shape in ((), (3, 700), (2, 1, 2, 1, 2, 1, 2, 1, 3), (0, 4))
    ]
    for reduction in ("none", "mean", "sum", "batchmean"):
        for log in (False, True):
            for shape, target in (
                ((6, 35), (6, 35)),
                ((6, 35), (35,)),
                ((1, 35), (6, 35)),
                ((35,), (6, 35)),
                ((), (4, 3)),
                ((), ()),
            ):
                name = f"kl_div-{reduction}-log{log:d}-target{'x'.join(map(str, target))}"
                keys = {"reduction": reduction, "log_target": log}
                values = torch.rand(target, generator=torch.Generator().manual_seed(5)) + 0.1
                found.append(
                    Row(
                        name,
                        KL,
                        shape,
                        lambda x, t, keys=keys: glue.kl_div(x, t, **keys),
                        lambda x, t, keys=keys: F.kl_div(x, t, **keys),
                        (values.log() if log else values,),
                    )
                )
    for leading in ((2, 3), (1, 3), (2, 1), (1, 1)):
        for scale in (1.0, 0.125, -2.0):
            mask = torch.rand((*leading, 4, 65), generator=torch.Generator().manual_seed(6)) < 0.4
            mask[:, :, 0] = True
            name = f"masked-{leading[0]}x{leading[1]}-scale{scale}"
            found.append(
                Row(name, MASKED, (2, 3, 4, 65), glue.scaled_masked_softmax, masked, (mask, scale))
            )
    return [row for row in found if row.api in BY_API]


# What the forward function has left is rounded to the dtype, and so are PyTorch's own results.
CHAIN = {"float16": 32.0, "bfloat16": 16.0}


def gradient(function: Callable[..., Any], x: Any, others: tuple[Any, ...], seed: int) -> Any:
    """Value and gradient at a leaf of the same values, for a random gradient of the result."""
    leaf = x.detach().requires_grad_()
    like = [
        other.to(x.dtype) if torch.is_tensor(other) and other.is_floating_point() else other
        for other in others
    ]
    value = function(leaf, *like)
    g = torch.randn(value.shape, generator=torch.Generator().manual_seed(seed))
    value.backward(g.bfloat16().to(value.dtype))
    return value.detach(), leaf.grad


def values(shape: tuple[int, ...], dtype: Any) -> Any:
    return torch.randn(shape, generator=torch.Generator().manual_seed(7)).to(dtype)


@each_dtype
@pytest.mark.parametrize("row", rows(), ids=str)
def test_gradient_is_that_of_torch(row: Row, dtype: Any, device: Device) -> None:
    x = values(row.shape, dtype)
    value, got = gradient(row.ours, x, row.others, 8)
    assert got.dtype == dtype and got.shape == x.shape
    # Parameters that are rounded to the dtype enter both sides alike.
    others = tuple(
        other.to(dtype) if torch.is_tensor(other) and other.is_floating_point() else other
        for other in row.others
    )
    for side in (dtype, torch.float64):
        same, want = gradient(row.torchs, x.to(side), others, 8)
        for mine, its in ((value, same), (got, want)):
            report = compare(array_of(mine), its.double().numpy(), tolerance=CHAIN)
            assert report.passed, f"torch in {side}: {report}"


@each_dtype
def test_views_share_their_memory(dtype: Any) -> None:
    base = values((6, 8), dtype)
    for tensor in (base, base.T, base[1:, ::2], base[0].expand(3, 8), base[2, 3]):
        array = array_of(tensor)
        assert array.ctypes.data == tensor.data_ptr() and array.shape == tuple(tensor.shape)
        assert [step // array.itemsize for step in array.strides] == list(tensor.stride())
        again = tensor_of(array)
        assert again.data_ptr() == tensor.data_ptr() and again.dtype == dtype
        assert torch.equal(again, tensor)


@each_dtype
def test_strided_leaves_and_expanded_gradients(dtype: Any, device: Device) -> None:
    x = values((7, 12), dtype)
    for view in (x.T, x[::2, 1:], x[3].expand(4, 12)):
        wide = view.double().requires_grad_()
        leaf = view.detach().requires_grad_()
        # sum() hands backward one element with stride 0.
        (glue.softmax(leaf, 0)[1:] * 2).sum().backward()
        (torch.softmax(wide, 0)[1:] * 2).sum().backward()
        assert compare(array_of(leaf.grad), wide.grad.numpy(), tolerance=CHAIN).passed


def test_composed_with_torch_and_itself(device: Device) -> None:
    if not {LOG_SOFTMAX, KL, MASKED} <= set(BY_API):
        pytest.skip("some operators are not part of this build")
    mask = torch.ones(5, 5, dtype=torch.bool).triu(1).reshape(1, 1, 5, 5)
    target = torch.softmax(values((2, 3, 5, 4), torch.float32), -1)

    def loss(q: Any, attention: Any, logarithm: Any, distance: Any) -> Any:
        weights = attention(q @ q.transpose(-1, -2), mask, 0.5)
        return distance(logarithm(F.logsigmoid(weights @ q), -1), target, reduction="batchmean")

    grads = []
    for functions in (
        (glue.scaled_masked_softmax, glue.log_softmax, glue.kl_div),
        (masked, torch.log_softmax, F.kl_div),
    ):
        q = values((2, 3, 5, 4), torch.float32).requires_grad_()
        loss(q, *functions).backward()
        grads.append(q.grad)
    torch.testing.assert_close(*grads, rtol=1e-5, atol=1e-7)


def simple_calls() -> list[tuple[str, str, Callable[[Any], Any]]]:
    some = torch.full((1, 2, 3, 4), 0.25)
    calls: list[tuple[str, str, Callable[[Any], Any]]] = [
        ("softmax", SOFTMAX, lambda x: glue.softmax(x, -1)),
        ("log_softmax", LOG_SOFTMAX, lambda x: glue.log_softmax(x, -1)),
        ("logsigmoid", SIGMOID, glue.logsigmoid),
        ("kl_div", KL, lambda x: glue.kl_div(x, some, reduction="sum")),
        ("masked", MASKED, lambda x: glue.scaled_masked_softmax(x, some.bool())),
    ]
    return [call for call in calls if call[1] in BY_API]


each_function = pytest.mark.parametrize(
    "function", [pytest.param(call[2], id=call[0]) for call in simple_calls()]
)


@each_function
def test_without_gradient_nothing_is_recorded(function: Callable[[Any], Any]) -> None:
    assert function(values((1, 2, 3, 4), torch.float32)).grad_fn is None
    with torch.no_grad():
        leaf = values((1, 2, 3, 4), torch.float32).requires_grad_()
        assert not function(leaf).requires_grad


@each_function
def test_other_tensors_are_refused(function: Callable[[Any], Any]) -> None:
    for dtype in (torch.float64, torch.int32, torch.complex64):
        with pytest.raises(TypeError, match=r"got torch\..*, want torch.float32"):
            function(torch.zeros((1, 2, 3, 4), dtype=dtype))
    with pytest.raises(ValueError, match="torch.sparse_coo"):
        function(torch.zeros(1, 2, 3, 4).to_sparse())
    with pytest.raises(TypeError, match=r"got ndarray, want a torch\.Tensor"):
        function(np.zeros((1, 2, 3, 4), np.float32))


# kl_div keeps neither its input nor its result.
@pytest.mark.parametrize(
    "function",
    [pytest.param(call[2], id=call[0]) for call in simple_calls() if call[1] != KL],
)
def test_saved_values_that_changed_are_noticed(function: Callable[[Any], Any]) -> None:
    x = values((1, 2, 3, 4), torch.float32).requires_grad_() * 1
    y = function(x)
    for tensor in (x, y):
        tensor.detach().zero_()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_kl_div_says_what_it_cannot_do() -> None:
    x, target = values((3, 4), torch.float32), torch.rand(3, 4, requires_grad=True)
    with pytest.raises(ValueError, match=r"target: .* pass target.detach\(\)"):
        glue.kl_div(x, target)
    with pytest.raises(ValueError, match="reduction: got 'median', want one of none, mean"):
        glue.kl_div(x, target.detach(), reduction="median")
    with pytest.raises(TypeError, match="say reduction='sum'"):
        glue.kl_div(x, target.detach(), "sum")  # type: ignore[arg-type]


def test_kl_div_of_mixed_dtypes(device: Device) -> None:
    leaf = values((3, 40), torch.float16).requires_grad_()
    target = torch.rand(3, 40, generator=torch.Generator().manual_seed(9))
    glue.kl_div(leaf, target, reduction="sum").backward()
    assert leaf.grad.dtype == torch.float16 and torch.equal(leaf.grad, -target.half())


def test_masks_and_shapes_are_checked_before_forward() -> None:
    x = values((2, 3, 4, 5), torch.float32)
    for shape in ((3, 3, 4, 5), (2, 3, 1, 5), (2, 3, 4), (1, 2, 3, 4, 5), (1, 1, 4, 1)):
        with pytest.raises(ValueError, match="mask: got shape"):
            glue.scaled_masked_softmax(x, torch.zeros(shape, dtype=torch.bool))
    with pytest.raises(ValueError, match="input: got shape"):
        glue.scaled_masked_softmax(x[0], torch.zeros((3, 4, 5), dtype=torch.bool))
    with pytest.raises(TypeError, match=r"mask: got torch\.float32"):
        glue.scaled_masked_softmax(x, torch.zeros(2, 3, 4, 5))
    with pytest.raises(ValueError, match="scale: got"):
        glue.scaled_masked_softmax(x, torch.zeros((2, 3, 4, 5), dtype=torch.bool), 1e300)


def test_functions_are_documented() -> None:
    for name in glue.__all__:
        text = getattr(glue, name).__doc__
        for heading in ("Parameters\n", "Returns\n", "Raises\n"):
            assert heading in text, name


def test_without_torch_the_command_is_named() -> None:
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "import aclgrad\n"
        "try: import aclgrad.torch\n"
        "except ModuleNotFoundError as error: print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": ":".join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        check=True,
        timeout=600,
    )
    assert "PyTorch is not installed. Next: pip install torch" in done.stdout
