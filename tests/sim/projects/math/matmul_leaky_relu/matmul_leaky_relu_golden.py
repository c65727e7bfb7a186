# SPDX-License-Identifier: Apache-2.0
"""What MatmulLeakyRelu computes, and shapes that fill no fractal, no tile, or several cores."""

import numpy as np

from aclgrad.testing import case


def golden(a, b, bias, negative_slope=0.01):
    """LeakyReLU of the product and the bias in float64."""
    x = a @ b + bias
    return np.where(x > 0, x, x * negative_slope)


def terms(a, b, bias, negative_slope=0.01):
    """The sum of absolute products, which no partial sum exceeds."""
    return np.abs(a) @ np.abs(b) + np.abs(bias)


def cases():
    """M, N and K, each at its edges."""
    for m, n, k in (
        (16, 16, 16),
        (1, 1, 1),
        (1, 300, 65),
        (100, 130, 70),
        (33, 17, 200),
        (129, 1, 15),
        (400, 333, 640),
        (1300, 1000, 40),  # several tiles for each core
    ):
        yield case(
            {"a": (m, k), "b": (k, n), "bias": (n,)},
            attrs={"negative_slope": 0.25 if m % 2 else 0.001},
            values=(-1, 1),
            name=f"{m}x{n}x{k}",
        )
    yield case({"a": (0, 5), "b": (5, 7), "bias": (7,)}, name="empty")
