# SPDX-License-Identifier: Apache-2.0
"""How large the numbers get that a formula rounds on the way: what ``terms()`` is made of."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def sum_scale(summands: NDArray[np.number], axis: int | tuple[int, ...]) -> NDArray[np.float64]:
    """Magnitude of the partial sums of ``summands.sum(axis, keepdims=True)``.

    The larger of the sum and the root of the sum of squares, which is how far a sum of numbers of
    either sign strays from zero on its way.
    """
    total = np.abs(summands.sum(axis=axis, keepdims=True))
    strayed = np.sqrt((summands * summands).sum(axis=axis, keepdims=True))
    found: NDArray[np.float64] = np.maximum(total, strayed)
    return found
