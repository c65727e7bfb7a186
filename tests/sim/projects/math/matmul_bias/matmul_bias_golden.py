# SPDX-License-Identifier: Apache-2.0
"""What MatmulBias has to compute, and shapes that fill no fractal, no tile, or several cores."""

import numpy as np

from aclgrad.testing import case


def golden(a, b, bias, transpose_b=False):
    """The product and the bias in float64."""
    return a @ (b.T if transpose_b else b) + bias


def terms(a, b, bias, transpose_b=False):
    """The sum of absolute products, which no partial sum exceeds."""
    return np.abs(a) @ np.abs(b.T if transpose_b else b) + np.abs(bias)


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
    ):
        for transposed in (False, True):
            shape = (n, k) if transposed else (k, n)
            yield case(
                {"a": (m, k), "b": shape, "bias": (n,)},
                attrs={"transpose_b": transposed},
                values=(-1, 1),
                name=f"{m}x{n}x{k}{'-transposed' if transposed else ''}",
            )
    yield case({"a": (0, 5), "b": (5, 7), "bias": (7,)}, name="empty")
