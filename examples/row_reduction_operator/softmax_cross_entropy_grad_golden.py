# SPDX-License-Identifier: Apache-2.0
"""What SoftmaxCrossEntropyGrad computes, in float64, and the cases it is tested on."""

import numpy as np

from aclgrad.testing import case, sum_scale


def golden(log_softmax, labels, axes):
    """Evaluate grad_x = exp(log_softmax) * sum(labels, axes) - labels."""
    return np.exp(log_softmax) * labels.sum(axis=tuple(axes), keepdims=True) - labels


def terms(log_softmax, labels, axes):
    """Magnitudes that cancel in the golden: the label and its share of the sum."""
    return np.maximum(np.exp(log_softmax) * sum_scale(labels, tuple(axes)), np.abs(labels))


def cases():
    """Yield each layout and loop: short, odd, long, shared rows, columns; then special values."""
    values = {"log_softmax": (-8, 0), "labels": (0, 1)}
    for shape, axis in (
        ((8, 64), -1),
        ((1,), 0),
        ((300, 3), 1),
        ((4000, 10), 1),
        ((13, 127), -1),
        ((5, 1009), -1),
        ((2, 32000), -1),
        ((1, 1 << 17), -1),
        ((31, 17, 7), 1),
        ((3, 8192, 5), 1),
        ((4, 64, 256), 1),
        ((0, 3), -1),
        ((3, 0), 0),
    ):
        yield case(shape, attrs={"axes": [axis]}, values=values, scale="labels")
    for special in ("nan", "inf", "-inf", "special", "zero"):
        yield case((6, 17), values=special)
    for layout in ("offset", "gaps", "transposed"):
        yield case((4, 6, 17), values=values, layout=layout, scale="labels")
