# SPDX-License-Identifier: Apache-2.0
"""The one place that decides whether a result is precise enough; docs/precision.md tells it with an
example.

Every finite element has to meet ``error <= bound * ulp(max(|golden|, scale))``. The scale is the
largest magnitude that the element's own formula rounds, or, where nobody says that, the largest
golden value of its row. NaN and Inf must stand in the same places. A result of zeros or of one
value is wrong where the golden is not.

The public mixed-tolerance standard is computed beside it and decides nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from aclgrad.golden.limits import (
    LIMITS,
    PUBLIC_RATIO,
    PUBLIC_ULP,
    Float64,
    Limits,
    Tolerance,
    bound_of,
    coarsest,
    round_to,
    row_scale,
    tiles,
)
from aclgrad.spec.dtypes import Array, kind_of

_RESOLVED = 4.0
"""ULP of the scale that two values must differ by to be seen as different."""
_PIECE = 1 << 14
"""Elements whose errors stay in a processor's second-level cache."""
_WORST = 5
"""Elements that a report shows."""


@dataclass(frozen=True)
class Element:
    """One element of a result beside its golden value."""

    index: tuple[int, ...]
    actual: float
    golden: float
    ulp_of_scale: float
    scale: float = 0.0

    def __str__(self) -> str:
        """Coordinate, both values, distance."""
        where = ", ".join(map(str, self.index))
        off = f"{count(self.ulp_of_scale)} ULP of its scale {self.scale:.3g}"
        return f"[{where}] got {self.actual:.9g}, want {self.golden:.9g} ({off})"


@dataclass(frozen=True)
class Report:
    """Verdict on one result.

    Errors are counted in ULP of the scale: spacings of the result's dtype at the larger of the
    golden value and the largest term of its formula. ``bound`` is what each element must meet.
    """

    passed: bool
    total: int
    matched: int
    max_abs: float
    max_ulp_of_scale: float
    mean_ulp_of_scale: float
    bound: float
    special_mismatches: int
    reasons: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    """What the public standard says where it says something else, and tolerances in use."""
    public_standard: bool | None = None
    """Whether the public mixed-tolerance standard would pass it; None for integers."""
    vacuous: bool = False
    """Whether a kernel that writes zeros would pass."""
    tolerance_given: bool = False
    """Whether ``bound`` is another than the dtype's own."""
    first_bad: Element | None = None
    worst: tuple[Element, ...] = field(default=())

    @property
    def matched_ratio(self) -> float:
        """Share of elements within the bound; 1 for an empty result."""
        return self.matched / self.total if self.total else 1.0

    def __str__(self) -> str:
        """Verdict, then what is wrong, first and worst elements."""
        verdict = {True: "passes", False: "fails", None: "does not apply"}[self.public_standard]
        head = f"{self.matched}/{self.total} elements match, max error {self.max_abs:.3g}"
        if self.bound:
            head += (
                f", {count(self.max_ulp_of_scale)} ULP of the scale (bound {self.bound:g}, mean"
                f" {count(self.mean_ulp_of_scale)})"
            )
        lines = [("passed: " if self.passed else "FAILED: ") + head]
        lines += [f"  {reason}" for reason in self.reasons]
        lines += [f"  {note}" for note in self.notes]
        if not self.notes and self.public_standard is not None:
            lines.append(f"  the public standard {verdict} it too")
        if self.first_bad is not None:
            lines.append(f"  first bad element: {self.first_bad}")
        if not self.passed:
            lines += [f"  worst: {element}" for element in self.worst]
        return "\n".join(lines)


def count(value: float) -> str:
    """An error in ULP: two decimals while they tell something."""
    return f"{value:.2f}" if value < 1000 else f"{value:.3g}"


def _greatest(values: Float64, count: int) -> NDArray[np.intp]:
    """Places of the greatest values, of equal ones the first: sorted, without sorting all."""
    least = np.partition(values, -count)[-count] if values.size > count else -np.inf
    above = np.flatnonzero(values > least)
    above = above[np.argsort(-values[above], kind="stable")]
    equal = np.flatnonzero(values == least)
    return np.concatenate([above, equal[: count - above.size]])


@dataclass(frozen=True)
class Errors:
    """Distances of a result from its golden, element by element. ``spacing`` is one ULP of the
    scale, ``excess`` the error by what the rule allows, ``special`` a NaN or Inf in the wrong
    place; ``public_close`` and ``public_far`` are what the public standard counts.
    """

    got: Float64
    want: Float64  # rounded as the result is
    exact: Float64
    error: Float64
    scale: Float64
    spacing: Float64
    bound: float
    usable: NDArray[np.bool_]
    special: NDArray[np.bool_]
    public_close: NDArray[np.bool_] | None
    public_far: NDArray[np.bool_] | None
    limits: Limits | None
    by_terms: bool
    tolerance_given: bool

    @cached_property
    def ulps(self) -> Float64:
        """Errors in ULP of the scale."""
        with np.errstate(all="ignore"):
            found: Float64 = np.asarray(self.error / self.spacing)
        return found

    @cached_property
    def excess(self) -> Float64:
        """Errors by what the rule allows: above 1 is wrong."""
        with np.errstate(all="ignore"):
            found: Float64 = np.where(
                self.error == 0, 0.0, self.error / (max(self.bound, 0.5) * self.spacing)
            )
        return found

    @cached_property
    def wrong(self) -> NDArray[np.bool_]:
        """Elements to look at."""
        return np.asarray(~(self.error <= self.bound * self.spacing))


def measure(
    actual: Array,
    golden: Array,
    *computed_in: object,
    terms: Array | None = None,
    tolerance: Tolerance = None,
) -> Errors:
    """Measure a result as `compare` judges it."""
    if actual.shape != golden.shape:
        raise ValueError(f"result: got shape {actual.shape}, want {golden.shape}")
    if kind_of(actual.dtype) in "biu":
        return _measure_integers(actual, golden, tolerance)
    if actual.dtype.kind == "c":
        return _measure_complex(actual, golden, *computed_in, terms=terms, tolerance=tolerance)
    return _measure_real(
        actual, golden.astype(np.float64, copy=False), *computed_in, terms=terms,
        tolerance=tolerance,
    )  # fmt: skip


@dataclass(frozen=True)
class _Rule:
    """What decides for one dtype: those that the result was rounded to, its own the last."""

    dtypes: tuple[np.dtype[np.generic], ...]
    tolerance: Tolerance

    @cached_property
    def limits(self) -> list[Limits]:
        """Limits of each dtype."""
        return [LIMITS.get(dtype.name, LIMITS["float32"]) for dtype in self.dtypes]

    @cached_property
    def coarse(self) -> Limits:
        """Limits of the dtype with the widest spacing."""
        return LIMITS[coarsest(*(dtype.name for dtype in self.dtypes))]

    @cached_property
    def edge(self) -> float:
        """The least number that is rounded to Inf."""
        return min(item.overflow for item in self.limits)

    @cached_property
    def given(self) -> float | None:
        """The bound of the tolerance."""
        return bound_of(self.tolerance, self.dtypes[-1].name)

    @cached_property
    def bound(self) -> float:
        """How many ULP of the scale are allowed."""
        return self.coarse.bound if self.given is None else self.given

    def scale(self, golden: Float64, terms: Array | None) -> Float64:
        """The scale of each element."""
        with np.errstate(all="ignore"):
            size = np.where(np.isfinite(golden), np.abs(golden), 0.0)
            if terms is None:
                return np.minimum(row_scale(size), self.coarse.greatest)
            named = np.abs(terms.astype(np.float64, copy=False))
            return np.maximum(size, np.where(np.isfinite(named), named, 0.0))

    def spacing(self, scale: Float64) -> Float64:
        """One ULP of each scale."""
        spacing = self.limits[0].ulp(scale)
        for other in self.limits[1:]:
            spacing = np.maximum(spacing, other.ulp(scale))
        return spacing

    def spacings(
        self, golden: Float64, terms: Array | None
    ) -> tuple[Float64, Callable[[int], float]]:
        """One ULP of the scale of each element, flat, and the scale of an element. Neighbours that
        share a scale share its ULP.
        """
        if terms is not None:
            scale = self.scale(golden, terms).reshape(-1)
            return self.spacing(scale), lambda flat: float(scale[flat])
        size = np.abs(golden)
        if not np.isfinite(size.max()):
            size = np.where(np.isfinite(size), size, 0.0)
        found = tiles(size)
        found = replace(found, most=np.minimum(found.most, self.coarse.greatest))
        return found.spread(self.spacing(found.most)).reshape(-1), found.at

    def errors(self, actual: Array, golden: Float64, scale: Float64, by_terms: bool) -> Errors:
        """Errors of a result, or of a piece of one."""
        bound = self.bound
        rounded = round_to(golden, *self.dtypes)
        got = actual.astype(np.float64)
        with np.errstate(all="ignore"):
            exact = np.isfinite(golden)
            size = np.where(exact, np.abs(golden), 0.0)
            spacing = self.spacing(scale)
            # Inf stands for the least number that is rounded to it: near there either is right.
            beyond = np.isinf(got) & exact
            near = np.where(beyond, np.copysign(np.maximum(self.edge, size), got), got)
            usable = exact & np.isfinite(near)
            same = np.where(np.isnan(golden), np.isnan(got), got == golden)
            error = np.where(usable, np.abs(near - golden), np.where(same, 0.0, np.inf))
            matched = error <= bound * spacing
            finite = np.isfinite(rounded)
            special = ~matched & ((finite != np.isfinite(got)) | ~finite)
            # A NaN or Inf in a wrong place has no distance that means anything.
            error = np.where(special, np.inf, error)
            close, far = _public(self.coarse, error, size)
        shown = np.where(finite, golden, rounded)
        return Errors(
            got, rounded, shown, error, scale, spacing, bound, usable & ~special, special, close,
            far, self.coarse, by_terms, self.given is not None,
        )  # fmt: skip


def _measure_real(
    actual: Array, golden: Float64, *computed_in: object, terms: Array | None, tolerance: Tolerance
) -> Errors:
    rule = _rule(actual, computed_in, tolerance)
    return rule.errors(actual, golden, rule.scale(golden, terms), terms is not None)


def _rule(actual: Array, computed_in: tuple[object, ...], tolerance: Tolerance) -> _Rule:
    return _Rule((*(np.dtype(each) for each in computed_in), actual.dtype), tolerance)  # type: ignore[call-overload]


def _passing(
    actual: Array, golden: Array, *computed_in: object, terms: Array | None, tolerance: Tolerance
) -> Report | None:
    """The report of a result of which every element is near enough by both rules, in pieces that
    stay in the processor's cache; None where something has to be told of the whole result.
    """
    rule = _rule(actual, computed_in, tolerance)
    limits, bound = rule.coarse, rule.bound
    exact = golden.astype(np.float64, copy=False)
    spacings, scale_at = rule.spacings(exact, terms)
    told, greatest, total = False, 0.0, 0.0
    least, most = np.inf, -np.inf
    worst: list[tuple[float, int, Element]] = []
    for begin in range(0, actual.size, _PIECE):
        part = slice(begin, begin + _PIECE)
        got = actual.reshape(-1)[part].astype(np.float64)
        want, spacing = exact.reshape(-1)[part], spacings[part]
        with np.errstate(all="ignore"):
            error, size = np.abs(got - want), np.abs(want)
            ulps = error / spacing
            farthest, largest = float(error.max()), float(ulps.max())
            # NaN and Inf of either side end here.
            if not (largest <= bound and float(size.max()) < rule.edge):
                return None
            if (error > limits.atol + limits.rtol * size).any():
                return None
            if farthest > limits.max_abs and _public(limits, error, size)[1].any():
                return None
        told = told or bool((np.abs(round_to(want, *rule.dtypes)) > spacing).any())
        least, most = min(least, got.min()), max(most, got.max())
        greatest = max(greatest, farthest)
        total += float(ulps.sum())
        if len(worst) < _WORST or largest > worst[-1][0]:
            least_shown = worst[-1][0] if len(worst) == _WORST else -np.inf
            above = np.flatnonzero(ulps > least_shown)
            for flat in map(int, above[_greatest(ulps[above], _WORST)]):
                where = tuple(map(int, np.unravel_index(begin + flat, actual.shape)))
                shown = float(got[flat]), float(want[flat]), float(ulps[flat])
                item = Element(where, *shown, scale_at(begin + flat))
                worst.append((float(ulps[flat]), -begin - flat, item))
            worst = sorted(worst, key=lambda item: item[:2], reverse=True)[:_WORST]
    if least == most:
        return None
    return Report(
        passed=True,
        total=actual.size,
        matched=actual.size,
        max_abs=greatest,
        max_ulp_of_scale=worst[0][0],
        mean_ulp_of_scale=total / actual.size,
        bound=bound,
        special_mismatches=0,
        notes=tuple(_tolerance_notes(bound, limits, rule.given is not None)),
        public_standard=True,
        vacuous=not told,
        tolerance_given=rule.given is not None,
        worst=tuple(item[2] for item in worst),
    )


def _public(
    limits: Limits, error: Float64, size: Float64
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Elements that the public standard takes for close, and those that are too far at all."""
    close: NDArray[np.bool_] = error <= limits.atol + limits.rtol * size
    far = np.isfinite(error) & (error > limits.max_abs) & (error > PUBLIC_ULP * limits.ulp(size))
    return close, far


def _measure_integers(actual: Array, golden: Array, tolerance: Tolerance) -> Errors:
    """Exact, unless a tolerance says how many units may be off. A golden between two integers
    takes either.
    """
    boolean = actual.dtype.kind == "b"
    given = None if boolean else bound_of(tolerance, actual.dtype.name)
    got = actual.astype(np.float64)
    with np.errstate(all="ignore"):
        want = golden.astype(np.float64)
        error = np.where(np.isfinite(want), np.abs(got - want), np.inf)
        if kind_of(golden.dtype) in "biu":
            # Above 2^53 float64 does not tell neighbours apart.
            error = np.where((error == 0) & (actual != golden), 1.0, error)
        else:
            between = np.isfinite(want) & (want != np.trunc(want))
            error = np.where(between & (error < 1), 0.0, error)
    usable = np.isfinite(error)
    return Errors(
        got, want, want, error, np.abs(np.where(np.isfinite(want), want, 0.0)), np.ones(got.shape),
        given or 0.0, usable, ~usable, None, None, None, False, given is not None,
    )  # fmt: skip


def _measure_complex(
    actual: Array, golden: Array, *computed_in: object, terms: Array | None, tolerance: Tolerance
) -> Errors:
    """Both parts at the scale of the whole number, on a last axis of two."""
    if terms is None:
        size = np.abs(np.where(np.isfinite(golden), golden, 0.0))
        terms = row_scale(np.asarray(size, np.float64))
    parts = [np.stack([item.real, item.imag], -1) for item in (actual, golden)]
    scales = np.stack([np.abs(terms)] * 2, -1)
    return measure(parts[0], parts[1], *computed_in, terms=scales, tolerance=tolerance)


def compare(
    actual: Array,
    golden: Array,
    *computed_in: object,
    terms: Array | None = None,
    tolerance: Tolerance = None,
) -> Report:
    """Judge a result against a float64 golden of the same shape.

    ``computed_in`` names the dtypes that the result was rounded to before its own: a float32
    result cast from a float16 one is held to the limits of float16. ``terms`` holds, per element,
    the largest magnitude that the arithmetic rounded on the way. ``tolerance`` is a bound in ULP of
    the scale other than the dtype's own.
    """
    if actual.shape == golden.shape and actual.size > 1 and kind_of(actual.dtype) not in "biuc":
        found = _passing(actual, golden, *computed_in, terms=terms, tolerance=tolerance)
        if found is not None:
            return found
    return judge(measure(actual, golden, *computed_in, terms=terms, tolerance=tolerance))


def _tells(found: Errors) -> bool:
    """Whether a result of zeros would be wrong."""
    finite = np.isfinite(found.want)
    resolved = finite & (np.abs(found.want) > found.spacing * (0.5 if found.limits is None else 1))
    return bool((resolved | ~finite).any())


def _element(found: Errors, flat: int, index: Sequence[int | np.intp]) -> Element:
    return Element(
        tuple(map(int, index)), float(found.got.flat[flat]), float(found.exact.flat[flat]),
        float(found.ulps.flat[flat]), float(found.scale.flat[flat]),
    )  # fmt: skip


def judge(found: Errors) -> Report:
    """Verdict on what was measured."""
    got, usable, wrong = found.got, found.usable, found.wrong
    total, ulps = int(got.size), found.ulps
    finite = np.isfinite(found.want)
    tells = _tells(found)
    reasons = []
    if total and not got.any() and tells:
        most = float(np.abs(found.want[finite]).max()) if finite.any() else np.inf
        reasons.append(f"every element is 0, and the golden reaches {most:.3g}")
    elif total > 1 and np.isfinite(got).all() and got.min() == got.max() and _varies(found, finite):
        reasons.append(f"every element is {got.flat[0]:.9g}, and the golden is not constant")
    if found.special.any():
        reasons.append(f"{int(found.special.sum())} NaN or Inf differ in place or sign")
    off = int((wrong & ~found.special).sum())
    if off:
        reasons.append(_too_far(found, off))

    def element(flat: int) -> Element:
        return _element(found, flat, np.unravel_index(flat, got.shape))

    public = _public_verdict(found)
    passed = not reasons
    notes = _notes(found, passed, public, element)
    bad = np.flatnonzero(wrong)
    any_usable = bool(usable.any())
    return Report(
        passed=passed,
        total=total,
        matched=total - int(wrong.sum()),
        max_abs=float(found.error[usable].max()) if any_usable else 0.0,
        max_ulp_of_scale=float(ulps[usable].max()) if any_usable else 0.0,
        mean_ulp_of_scale=float(ulps[usable].mean()) if any_usable else 0.0,
        bound=found.bound,
        special_mismatches=int(found.special.sum()),
        reasons=tuple(reasons),
        notes=tuple(notes),
        public_standard=public,
        vacuous=not tells,
        tolerance_given=found.tolerance_given,
        first_bad=element(int(bad[0])) if bad.size else None,
        worst=tuple(element(int(flat)) for flat in _greatest(ulps.ravel(), _WORST)),
    )


def _varies(found: Errors, finite: NDArray[np.bool_]) -> bool:
    """Whether the golden has values that the dtype tells apart at the scale."""
    own = found.limits.bound if found.limits else 0.0
    if not finite.any():
        return False
    spread = float(found.want[finite].max() - found.want[finite].min())
    return spread > min(own, _RESOLVED) * float(found.spacing.max())


def _too_far(found: Errors, off: int) -> str:
    if found.limits is None:
        allowed = f"by more than {found.bound:g}" if found.bound else "and integers are exact"
        return f"{off} element{'s' * (off > 1)} off from the golden, {allowed}"
    scale = "the largest term of its formula" if found.by_terms else "the largest golden of its row"
    which = "elements are further off" if off > 1 else "element is further off"
    return f"{off} {which} than {found.bound:g} ULP of the scale, which is {scale}"


def _public_verdict(found: Errors) -> bool | None:
    if found.public_close is None or found.public_far is None:
        return None
    enough = not found.got.size or bool(found.public_close.mean() >= PUBLIC_RATIO)
    return enough and not found.public_far.any() and not found.special.any()


def _tolerance_notes(bound: float, limits: Limits | None, given: bool) -> list[str]:
    """What the caller allowed in place of the dtype's own bound."""
    if not given:
        return []
    if limits is None:
        return [f"tolerance given: {bound:g} units instead of none"]
    return [f"tolerance given: {bound:g} ULP of the scale instead of {limits.bound:g}"]


def _notes(
    found: Errors, passed: bool, public: bool | None, element: Callable[[int], Element]
) -> list[str]:
    """What has to be known beside the verdict."""
    notes = _tolerance_notes(found.bound, found.limits, found.tolerance_given)
    if public is None or public is passed:
        return notes
    if public:
        notes.append(
            "the public standard alone would pass it: it lets 1 % of the elements be off, and an"
            f" error of {found.limits.atol if found.limits else 0:.2g} everywhere"
        )
        if not found.by_terms and float(np.max(found.ulps[found.usable], initial=0.0)) < 1e5:
            notes.append(
                "if larger numbers are rounded on the way, terms() in the golden says how large"
            )
        return notes
    assert found.public_close is not None and found.public_far is not None
    missed = ~found.public_close | found.public_far
    with np.errstate(all="ignore"):
        share = np.where(missed & (found.scale > 0), np.abs(found.want) / found.scale, np.inf)
    place = element(int(np.argmin(share)))
    where = ", ".join(map(str, place.index))
    ratio = place.scale / abs(place.golden) if place.golden else np.inf
    text = (
        f"the public standard alone fails: {found.public_close.mean():.2%} of the elements are"
        " within its rtol and atol"
    )
    if ratio >= 2:
        part = f"1/{ratio:.2g} of" if np.isfinite(ratio) else "nothing of"
        what = (
            f"the terms cancel to {part} the largest"
            if found.by_terms
            else f"the golden is {part} the largest in its row"
        )
        text += (
            f"; at [{where}] {what}, {place.scale:.3g}, and the error is"
            f" {count(place.ulp_of_scale)} ULP of that"
        )
    notes.append(text)
    return notes
