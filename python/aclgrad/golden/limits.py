# SPDX-License-Identifier: Apache-2.0
"""The numbers of the precision rule: bounds and spacings of the dtypes, and the scale of elements
whose formula does not name its terms.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

TILE = 2048
"""Elements of a row that share a scale, at most."""

NEIGHBOURS = 32
"""Elements that share a scale where rows are shorter than this."""

PUBLIC_RATIO = 0.99
PUBLIC_ULP = 32.0
"""The public standard's share of elements that must match, and the ULP of the golden value that
excuse an error above ``max_abs``.
"""

Float64 = NDArray[np.float64]
Tolerance = float | Mapping[str, float] | None
"""A bound in ULP of the scale for every dtype, bounds by NumPy's names, or None for the default."""


@dataclass(frozen=True)
class Limits:
    """Limits of one dtype, and the layout of its significand that ULPs are counted by.

    ``bound`` is in ULP of the scale; ``rtol``, ``atol`` and ``max_abs`` are the public standard's.
    """

    bound: float
    rtol: float
    atol: float
    max_abs: float
    fraction_bits: int
    min_exponent: int
    greatest: float

    def ulp(self, values: Float64) -> Float64:
        """Spacing of the dtype's numbers at each value."""
        # By the bits of float64, as frexp and ldexp take most of a comparison's time.
        exponent = np.maximum((np.abs(values).view(np.int64) >> 52) - 1023, self.min_exponent)
        spacing: Float64 = (exponent - self.fraction_bits + 1023 << 52).view(np.float64)
        return spacing

    @property
    def overflow(self) -> float:
        """Least magnitude that is rounded to Inf."""
        return self.greatest + float(self.ulp(np.array([self.greatest]))[0]) / 2


LIMITS = {
    "float16": Limits(4.0, 2.0**-9, 2.0**-9, 1e-1, 10, -14, 65504.0),
    "bfloat16": Limits(2.0, 2.0**-6, 2.0**-6, 1e0, 7, -126, (2.0 - 2.0**-7) * 2.0**127),
    "float32": Limits(128.0, 2.0**-10, 2.0**-16, 1e-2, 23, -126, (2.0 - 2.0**-23) * 2.0**127),
}


def round_to(golden: Float64, *dtypes: object) -> Float64:
    """Round float64 values to one dtype after the other and widen again."""
    with np.errstate(all="ignore"):
        for dtype in dtypes:
            golden = golden.astype(np.dtype(dtype)).astype(np.float64)  # type: ignore[call-overload]
    return golden


def coarsest(*names: str) -> str:
    """Name of the dtype with the widest spacing; dtypes without limits of their own count as
    float32.
    """
    known = [name if name in LIMITS else "float32" for name in names]
    return min(known, key=lambda name: LIMITS[name].fraction_bits)


def bound_of(tolerance: Tolerance, name: str) -> float | None:
    """The bound that a tolerance says for a dtype; None where it says nothing."""
    if tolerance is None or isinstance(tolerance, (int, float)):
        return tolerance
    return tolerance.get(name)


@dataclass(frozen=True)
class Tiles:
    """The largest number of each piece of neighbours: of a row, of 2048 elements of a long row, of
    32 elements of several short rows.
    """

    most: Float64  # rows by pieces
    shape: tuple[int, ...]
    columns: int
    width: int

    def spread(self, values: Float64) -> Float64:
        """One number per piece, for each element."""
        rows, pieces = values.shape
        whole = np.broadcast_to(values[:, :, None], (rows, pieces, self.width))
        result: Float64 = whole.reshape(rows, -1)[:, : self.columns].reshape(self.shape)
        return result

    def at(self, flat: int) -> float:
        """The number of the piece that an element is in."""
        row, column = divmod(flat, self.columns)
        return float(self.most[row, column // self.width])


def tiles(size: Float64) -> Tiles:
    """The pieces of neighbours that share a scale."""
    columns = size.shape[-1] if size.shape[-1] >= NEIGHBOURS else size.size
    pieces = -(-columns // (TILE if columns == size.shape[-1] else NEIGHBOURS))
    width = -(-columns // pieces)
    rows = size.reshape(-1, columns)
    if columns != pieces * width:
        padded = np.zeros((rows.shape[0], pieces * width))
        padded[:, :columns] = rows
        rows = padded
    most = rows.reshape(rows.shape[0], pieces, width).max(axis=2)
    return Tiles(most, size.shape, columns, width)


def row_scale(size: Float64) -> Float64:
    """The largest of the neighbours of each element: see `Tiles`."""
    if size.size <= 1:
        return size
    found = tiles(size)
    return found.spread(found.most)
