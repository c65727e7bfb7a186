# SPDX-License-Identifier: Apache-2.0
"""What the ``<stem>_golden.py`` of an operator project imports: `case`."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeGuard

from aclgrad.golden.limits import Tolerance
from aclgrad.spec import dtypes as known_dtypes
from aclgrad.spec.definition import Value
from aclgrad.testing import tolerance as tolerances

Shape = tuple[int, ...]
Shapes = Shape | tuple[Shape, ...] | None
"""The shapes of one input: dims, the dims of each tensor of a list, or None for an absent one."""

LAYOUTS = ("contiguous", "offset", "gaps", "transposed", "expanded")

VALUES = (
    *("uniform", "normal", "wide", "probability", "log_probability", "zero"),
    *("nan", "inf", "-inf", "special", "special_each", "all_nan", "all_inf", "all_-inf"),
)
"""Named contents. ``nan``, ``inf``, ``-inf`` and ``special`` are put into the first input."""


@dataclass(frozen=True, eq=False)
class OwnCase:
    """One case as `case` describes it, and where it was written."""

    shapes: tuple[object, ...] | Mapping[str, object]  # as `shapes_of` takes them
    dtypes: tuple[str, ...]
    attrs: Mapping[str, Value]
    values: object
    layout: str
    name: str
    place: str  # file:line
    tolerance: Tolerance = None  # in ULP of the scale
    scale: tuple[str, ...] | None = None  # inputs that further runs make smaller; None: all


def case(  # noqa: C901
    shapes: int | Sequence[int] | Mapping[str, object],
    *,
    dtypes: str | Sequence[str] = (),
    attrs: Mapping[str, Value] | None = None,
    values: object = "uniform",
    layout: str = "contiguous",
    name: str = "",
    tolerance: float | Mapping[str, float] | None = None,
    scale: str | Sequence[str] | None = "all",
) -> OwnCase:
    """Describe one case of ``cases()``.

    Args:
        shapes: dims of all inputs, e.g. ``(8, 64)``, or a dict with the dims of each input by its
            name; ``None`` is an optional input that is absent, a list of dims a list of tensors.
        dtypes: dtypes of the first input, e.g. ``"fp16"``; all of the definition when left out.
        attrs: attributes by name; the definition's defaults for the rest.
        values: one of `VALUES`, a pair ``(low, high)``, or a dict of these or arrays by input.
        layout: memory layout of the inputs, one of `LAYOUTS`.
        name: what reports and ``--case`` call it; made of the rest when left out.
        tolerance: bound in ULP of the scale instead of the dtype's own, or a dict of bounds by
            dtype; docs/precision.md says what is counted.
        scale: inputs that further runs of the case multiply by 2^-10 and 2^-20, such as the
            incoming gradient: a name, several names, or None for no such runs. When left out all
            floating-point inputs of random values.
    """
    frame = sys._getframe(1)
    place = f"{frame.f_code.co_filename}:{frame.f_lineno}"

    def refuse(what: str, got: object, want: str) -> None:
        raise ValueError(f"{place}: case: {what}: got {got!r}, want {want}")

    if isinstance(shapes, Mapping):
        whole: tuple[object, ...] | Mapping[str, object] = dict(shapes)
    else:
        whole = _parts(shapes)
    for item in whole.values() if isinstance(whole, Mapping) else [whole]:
        for dims in item if _is_list(item) else [item]:
            plain = dims is None or all(isinstance(dim, int) and dim >= 0 for dim in _parts(dims))
            if not plain:
                refuse("shapes", dims, "dims such as (8, 64)")
    words = (dtypes,) if isinstance(dtypes, str) else tuple(dtypes)
    for word in words:
        try:
            known_dtypes.parse(word)
        except ValueError as error:
            raise ValueError(f"{place}: case: {error}") from None
    if layout not in LAYOUTS:
        refuse("layout", layout, f"one of {', '.join(LAYOUTS)}")
    for value in values.values() if isinstance(values, Mapping) else [values]:
        if isinstance(value, str) and value not in VALUES:
            refuse("values", value, f"one of {', '.join(VALUES)}, or a pair (low, high)")
    bound = (
        None
        if tolerance is None
        else tolerances.by_dtype(tolerance, f"{place}: case: tolerance: got {tolerance!r}")
    )
    names: tuple[str, ...] | None = None
    if isinstance(scale, str):
        names = None if scale == "all" else (scale,)
    elif scale is None or isinstance(scale, Sequence):
        names = tuple(scale or ())
    else:
        refuse("scale", scale, "the name of an input, several names, or None")
    return OwnCase(whole, words, dict(attrs or {}), values, layout, name, place, bound, names)


def _parts(item: object) -> tuple[object, ...]:
    return tuple(item) if isinstance(item, Iterable) else (item,)


def _dims(item: object) -> Shape:
    """Dims that `case` has seen to be whole numbers."""
    return tuple(dim for dim in _parts(item) if isinstance(dim, int))


def _is_list(item: object) -> TypeGuard[Sequence[object]]:
    """Whether it is dims of several tensors."""
    return isinstance(item, (list, tuple)) and any(isinstance(x, (list, tuple)) for x in item)


def shapes_of(item: object) -> tuple[Shape, ...]:
    """The dims of each tensor of one input; none for an absent one."""
    if item is None:
        return ()
    return tuple(map(_dims, item)) if _is_list(item) else (_dims(item),)
