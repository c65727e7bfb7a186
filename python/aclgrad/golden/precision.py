# SPDX-License-Identifier: Apache-2.0
"""The one place that decides whether a result is precise enough.

Rule, per case: an element matches when ``|actual - golden| <= atol + rtol * |golden|``; at least
99 % of the elements
match; the largest error is within ``max_abs``, or within 32 ULP of its golden value. NaN and Inf
must stand in the same
places with the same sign, without exception.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

MATCHED_RATIO = 0.99
ULP_LIMIT = 32.0


@dataclass(frozen=True)
class Tolerance:
    """Limits of one dtype, and the layout of its significand that ULPs are counted by."""

    rtol: float
    atol: float
    max_abs: float
    fraction_bits: int
    min_exponent: int

    def ulp(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Spacing of the dtype's numbers at each value."""
        # By the bits of float64, as frexp and ldexp take most of a comparison's time.
        exponent = np.maximum((np.abs(values).view(np.int64) >> 52) - 1023, self.min_exponent)
        spacing: NDArray[np.float64] = (exponent - self.fraction_bits + 1023 << 52).view(np.float64)
        return spacing


TOLERANCES = {
    "float16": Tolerance(2.0**-9, 2.0**-9, 1e-1, 10, -14),
    "bfloat16": Tolerance(2.0**-6, 2.0**-6, 1e0, 7, -126),
    "float32": Tolerance(2.0**-10, 2.0**-16, 1e-2, 23, -126),
}


@dataclass(frozen=True)
class Element:
    """One element of a result beside its golden value."""

    index: tuple[int, ...]
    actual: float
    golden: float
    ulp: float

    def __str__(self) -> str:
        """Coordinate, both values, distance."""
        where = ", ".join(map(str, self.index))
        return f"[{where}] got {self.actual:.9g}, want {self.golden:.9g} ({self.ulp:.1f} ULP)"


@dataclass(frozen=True)
class Report:
    """Verdict on one result.

    ``max_ulp`` counts spacings of the result's dtype, but none finer than float32's at the largest
    term of the formula: where terms cancel, the remainder's own spacing says nothing of the
    arithmetic. Where the terms are not known, ``atol`` stands for the finest magnitude.
    """

    passed: bool
    total: int
    matched: int
    max_abs: float
    max_ulp: float
    mean_ulp: float
    special_mismatches: int
    reasons: tuple[str, ...] = ()
    first_bad: Element | None = None
    worst: tuple[Element, ...] = field(default=())

    @property
    def matched_ratio(self) -> float:
        """Share of elements within tolerance; 1 for an empty result."""
        return self.matched / self.total if self.total else 1.0

    def __str__(self) -> str:
        """Verdict, then what is wrong, first and worst elements."""
        head = (
            f"{self.matched}/{self.total} elements match, max error {self.max_abs:.3g}, "
            f"{self.max_ulp:.2f} ULP (mean {self.mean_ulp:.2f})"
        )
        lines = [("passed: " if self.passed else "FAILED: ") + head]
        lines += [f"  {reason}" for reason in self.reasons]
        if self.first_bad is not None:
            lines.append(f"  first bad element: {self.first_bad}")
        if not self.passed:
            lines += [f"  worst: {element}" for element in self.worst]
        return "\n".join(lines)


def round_to(golden: NDArray[np.float64], *dtypes: object) -> NDArray[np.float64]:
    """Round float64 values to one dtype after the other and widen again."""
    with np.errstate(all="ignore"):
        for dtype in dtypes:
            golden = golden.astype(np.dtype(dtype)).astype(np.float64)  # type: ignore[call-overload]
    return golden


def coarsest(*names: str) -> str:
    """Name of the dtype with the widest tolerance; dtypes without one of their own count as
    float32.
    """
    known = [name if name in TOLERANCES else "float32" for name in names]
    return max(known, key=lambda name: TOLERANCES[name].rtol)


def _greatest(values: NDArray[np.float64], count: int) -> NDArray[np.intp]:
    """Places of the greatest values, of equal ones the first: sorted, without sorting all."""
    least = np.partition(values, -count)[-count] if values.size > count else -np.inf
    above = np.flatnonzero(values > least)
    above = above[np.argsort(-values[above], kind="stable")]
    equal = np.flatnonzero(values == least)
    return np.concatenate([above, equal[: count - above.size]])


@dataclass(frozen=True)
class Errors:
    """Distances of a result from its golden, element by element. ``excess`` is the error by what
    the rule allows, ``special`` a NaN or Inf in the wrong place, ``wrong`` what breaks the rule.
    """

    got: NDArray[np.float64]
    want: NDArray[np.float64]
    error: NDArray[np.float64]
    ulps: NDArray[np.float64]
    excess: NDArray[np.float64]
    usable: NDArray[np.bool_]
    special: NDArray[np.bool_]
    matched: NDArray[np.bool_]
    beyond: NDArray[np.bool_]
    max_abs: float

    @property
    def wrong(self) -> NDArray[np.bool_]:
        """Elements to look at."""
        return ~self.matched | self.beyond


def measure(
    actual: NDArray[Any],
    golden: NDArray[np.float64],
    *computed_in: object,
    terms: NDArray[np.float64] | None = None,
) -> Errors:
    """Measure a result as `compare` judges it."""
    if actual.shape != golden.shape:
        raise ValueError(f"result: got shape {actual.shape}, want {golden.shape}")
    chain = [np.dtype(dtype).name for dtype in computed_in]  # type: ignore[call-overload]
    limits = TOLERANCES[coarsest(*chain, actual.dtype.name)]
    rounded = round_to(golden, *computed_in, actual.dtype)
    got = actual.astype(np.float64)
    with np.errstate(all="ignore"):
        finite = np.isfinite(rounded)
        special_ok = np.where(np.isnan(rounded), np.isnan(got), got == rounded)
        bad_special = np.where(finite, ~np.isfinite(got), ~special_ok)
        usable = finite & np.isfinite(got)
        # An overflow that the dtype rounds back to its largest number is not in `golden`'s range.
        want = np.where(np.isfinite(golden), golden, rounded)
        error = np.where(usable, np.abs(got - want), np.where(bad_special, np.inf, 0.0))
        scale = np.where(usable, np.abs(want), 0.0)
        allowed = limits.atol + limits.rtol * scale
        excess = error / allowed
    matched = error <= allowed
    own_ulps = np.where(usable, error / limits.ulp(scale), error)
    if terms is None:
        spacing = limits.ulp(np.maximum(scale, limits.atol))
    else:
        rounded_at = np.where(np.isfinite(terms), terms, 0.0)
        spacing = np.maximum(limits.ulp(scale), TOLERANCES["float32"].ulp(rounded_at))
    ulps = np.where(usable, error / spacing, error)
    beyond = usable & (error > limits.max_abs) & (own_ulps > ULP_LIMIT)
    return Errors(
        got, rounded, error, ulps, excess, usable, bad_special, matched, beyond, limits.max_abs
    )


def compare(
    actual: NDArray[Any],
    golden: NDArray[np.float64],
    *computed_in: object,
    terms: NDArray[np.float64] | None = None,
) -> Report:
    """Judge a result against a float64 golden of the same shape.

    ``computed_in`` names the dtypes that the result was rounded to before its own: a float32
    result cast from a float16 one is held to the limits of float16. ``terms`` holds, per element,
    the largest magnitude that the float32 arithmetic rounded on the way.
    """
    found = measure(actual, golden, *computed_in, terms=terms)
    return judge(found)


def judge(found: Errors) -> Report:
    """Verdict on what was measured."""
    got, want, ulps, error = found.got, found.want, found.ulps, found.error
    usable, bad_special, matched, beyond = found.usable, found.special, found.matched, found.beyond
    total = int(got.size)
    reasons = []
    if bad_special.any():
        reasons.append(f"{int(bad_special.sum())} NaN or Inf differ in place or sign")
    if total and matched.mean() < MATCHED_RATIO:
        reasons.append(f"{matched.mean():.2%} of the elements match, want {MATCHED_RATIO:.0%}")
    if beyond.any():
        reasons.append(
            f"error above {found.max_abs:g} and above {ULP_LIMIT:.0f} ULP in {int(beyond.sum())}"
            " elements"
        )

    def element(flat: int) -> Element:
        index = tuple(int(i) for i in np.unravel_index(flat, got.shape))
        return Element(index, float(got[index]), float(want[index]), float(ulps[index]))

    bad = np.flatnonzero(found.wrong)
    worst = _greatest(ulps.ravel(), 5)
    any_usable = bool(usable.any())
    return Report(
        passed=not reasons,
        total=total,
        matched=int(matched.sum()),
        max_abs=float(error[usable].max()) if any_usable else 0.0,
        max_ulp=float(ulps[usable].max()) if any_usable else 0.0,
        mean_ulp=float(ulps[usable].mean()) if any_usable else 0.0,
        special_mismatches=int(bad_special.sum()),
        reasons=tuple(reasons),
        first_bad=element(int(bad[0])) if bad.size else None,
        worst=tuple(element(int(flat)) for flat in worst),
    )
