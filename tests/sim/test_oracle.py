# SPDX-License-Identifier: Apache-2.0
"""PyTorch on the CPU as a second opinion beside the golden."""

from __future__ import annotations

import numpy as np
import pytest

import aclgrad
from aclgrad.ops import find
from aclgrad.precision import compare
from aclgrad.runtime import Device

torch = pytest.importorskip("torch", reason="torch is not installed; scripts/test.sh installs it")
SPEC = find("softmax_grad")
SHAPES = [
    ((5,), 0),
    ((4, 33), -1),
    ((4, 33), 0),
    ((3, 5, 7), 1),
    ((2, 3000), 1),
    ((3000, 2), 0),
    ((2, 3, 2, 5), 2),
]


@pytest.mark.parametrize("name", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize(("shape", "dim"), SHAPES)
def test_result_matches_torch(shape: tuple[int, ...], dim: int, name: str, device: Device) -> None:
    rng = np.random.default_rng(2)
    dtype = getattr(torch, name)
    wide_x, wide_g = (torch.from_numpy(rng.normal(size=shape).astype(np.float32)) for _ in range(2))
    y, g = torch.softmax(wide_x, dim).to(dtype), wide_g.to(dtype)
    want = torch._softmax_backward_data(g.double(), y.double(), dim, torch.float64).numpy()

    import ml_dtypes

    numpy_dtype = np.dtype(ml_dtypes.bfloat16 if name == "bfloat16" else name)
    g_array, y_array = (tensor.float().numpy().astype(numpy_dtype) for tensor in (g, y))
    golden = SPEC.evaluate({"gradOutput": g_array, "output": y_array}, {"dim": dim})
    np.testing.assert_allclose(golden, want, rtol=1e-9, atol=1e-12)

    got = aclgrad.softmax_backward(g_array, y_array, dim, device=device.kind)
    report = compare(got, want)
    assert report.passed, str(report)


def test_result_is_what_autograd_gives(device: Device) -> None:
    x = torch.randn(6, 40, generator=torch.Generator().manual_seed(0), requires_grad=True)
    y = torch.softmax(x, -1)
    g = torch.randn(6, 40, generator=torch.Generator().manual_seed(1))
    y.backward(g)
    got = aclgrad.softmax_backward(g.numpy(), y.detach().numpy(), device=device.kind)
    np.testing.assert_allclose(got, x.grad.numpy(), rtol=1e-4, atol=1e-6)
