# SPDX-License-Identifier: Apache-2.0
"""What Linear has to compute, and shapes that fill no fractal, no tile, or several cores."""

import numpy as np

from aclgrad.testing import case


def golden(x, weight):
    """The product in float64."""
    return x @ weight.T


def terms(x, weight):
    """The sum of absolute products, which no partial sum exceeds."""
    return np.abs(x) @ np.abs(weight).T


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
        yield case({"x": (m, k), "weight": (n, k)}, values=(-1, 1), name=f"{m}x{n}x{k}")
    yield case({"x": (40, 50), "weight": (30, 50)}, layout="transposed", name="strided")
    yield case({"x": (0, 5), "weight": (7, 5)}, name="empty")
