# SPDX-License-Identifier: Apache-2.0
"""aclgrad.load's functions on tensors of torch: the memory of any strides and dtypes, and no result
that autograd would take for a constant.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import aclgrad
from aclgrad.runtime import Device
from aclgrad.runtime.toolkit import sim_root

torch = pytest.importorskip("torch", reason="scripts/test.sh --torch installs it")

MATH = Path(__file__).parents[1] / "projects" / "math"


@pytest.fixture(scope="module", autouse=True)
def simulator(session_device: Device) -> None:
    """What is built runs there."""
    assert session_device.kind == "sim"


def test_tensors_of_any_strides_come_back_as_tensors() -> None:
    function = aclgrad.load(MATH / "scale_add").scale_add
    x = torch.arange(48.0).reshape(6, 8)
    for view in (x, x.T, x[:, ::2], x[1:4, 2:5], x[0].expand(3, 8), x[:0], x[0, 3], x.half()):
        got = function(view, view, scale=3)
        assert isinstance(got, torch.Tensor) and got.dtype == view.dtype
        torch.testing.assert_close(got, view * 3 + view, rtol=0, atol=0)
    out = torch.empty(6, 8)
    assert function(x, out=out) is out
    torch.testing.assert_close(out, x * 2, rtol=0, atol=0)
    for one in aclgrad.load(MATH / "list_scale").list_scale([x, x[1:]]):
        assert isinstance(one, torch.Tensor)
    assert isinstance(function(x.numpy()), np.ndarray)


def test_bfloat16() -> None:
    """Bit for bit what arrays of ml_dtypes give."""
    from aclgrad.torch.tensors import array_of

    y, g = (torch.rand(5, 40).bfloat16() for _ in range(2))
    got = aclgrad.load(sim_root() / "opp").softmax_grad(y, g)
    assert got.dtype == torch.bfloat16
    np.testing.assert_array_equal(array_of(got), aclgrad.softmax_backward(array_of(g), array_of(y)))


def test_no_result_is_a_constant_for_autograd() -> None:
    function = aclgrad.load(MATH / "scale_add").scale_add
    x = torch.ones(3, 4, requires_grad=True)
    y = function(x)
    assert y.requires_grad
    with pytest.raises(NotImplementedError, match=r"scale_add: its derivative .* Next: make it"):
        y.sum().backward()
    assert all(one.requires_grad for one in aclgrad.load(MATH / "list_scale").list_scale([x, x]))
    with pytest.raises(RuntimeError, match=r"scale_add: out: got one beside a tensor that"):
        function(x, out=torch.empty(3, 4))
    with torch.no_grad():
        assert not function(x).requires_grad
    assert not function(x.detach()).requires_grad


@pytest.mark.parametrize(
    ("words", "kind", "message"),
    [
        ({"x": torch.ones(2).double()}, TypeError, "x: got float64, want float32 or float16; conv"),
        (
            {"x": torch.ones(2, device="meta")},
            TypeError,
            "x: got a meta tensor, want one with",
        ),
        ({"x": torch.ones(2).to_sparse()}, ValueError, "want a dense tensor on the CPU"),
        ({"bias": np.ones(2, np.float32)}, TypeError, "bias: got ndarray beside a torch.Tensor, w"),
        ({"out": np.ones(2, np.float32)}, TypeError, "out: got ndarray beside a torch.Tensor, wan"),
        ({"out": torch.empty(3)}, ValueError, r"out: got shape \(3,\), want \(2,\)"),
        ({"bias": torch.ones(2).half()}, TypeError, "bias: got float16, want float32 beside x of"),
    ],
)
def test_wrong_tensors_are_named(
    words: dict[str, object], kind: type[Exception], message: str
) -> None:
    with pytest.raises(kind, match=rf"scale_add: .*{message}"):
        aclgrad.load(MATH / "scale_add").scale_add(**{"x": torch.ones(2), **words})


def test_arrays_alone_do_not_import_torch() -> None:
    program = (
        "import sys, numpy, aclgrad; x = numpy.ones(4, 'f4');"
        " aclgrad.load(sys.argv[1]).scale_add(x); assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program, str(MATH / "scale_add")], check=True)
