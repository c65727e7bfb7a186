# SPDX-License-Identifier: Apache-2.0
"""What LinearGelu has to compute, and shapes that fill no fractal, no tile, or several cores."""

import numpy as np

from aclgrad.testing import case


def golden(x, weight, bias):
    """The usual approximation of gelu by tanh, of the product in float64."""
    z = x @ weight.T + bias
    return z / (1 + np.exp(-1.5957691216057308 * (z + 0.044715 * z**3)))


def terms(x, weight, bias):
    """The sum of absolute products, which no partial sum exceeds."""
    return np.abs(x) @ np.abs(weight).T + np.abs(bias)


def cases():
    """M, N and K, each at its edges."""
    for m, n, k in (
        (16, 16, 16),
        (1, 1, 1),
        (1, 300, 65),
        (100, 130, 70),
        (33, 17, 200),
        (129, 1, 15),
        (400, 333, 40),
    ):
        yield case(
            {"x": (m, k), "weight": (n, k), "bias": (n,)}, values=(-1, 1), name=f"{m}x{n}x{k}"
        )
    yield case(
        {"x": (40, 50), "weight": (30, 50), "bias": (30,)},
        values=(-1, 1),
        layout="transposed",
        name="strided",
    )
    yield case({"x": (0, 5), "weight": (7, 5), "bias": (7,)}, name="empty")
