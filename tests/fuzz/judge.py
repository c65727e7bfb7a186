# SPDX-License-Identifier: Apache-2.0
"""What a case must do: codes of both stages, and whether the numbers in the output are right."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aclgrad.golden.precision import compare
from aclgrad.spec.call import TensorDesc, broadcast
from aclgrad.spec.cases import view
from aclgrad.spec.checks import PARAM_INVALID, PARAM_NULLPTR, ResultPointers
from aclgrad.spec.steps import ZeroIfEmpty
from fuzz.draw import Drawn, too_long

INNER = 561000
INNER_NULLPTR = 561103
RUNTIME_ERROR = 361001
CANARY = 0xA5


def first_stage(case: Drawn) -> int:
    """Code of the first stage: the pointers, the handles, then the spec's prediction."""
    call, spec = case.call, case.spec
    pointers_first = isinstance(spec.checks[0], ResultPointers)
    if pointers_first and (call.workspace_size_null or call.executor_null):
        return PARAM_NULLPTR
    if any(call.tensors[name] is not None for name in case.odd):
        return PARAM_INVALID
    made = {n: None if d is None or too_long(d) else d for n, d in call.tensors.items()}
    return spec.predict(replace(call, tensors=made))


def touched(case: Drawn) -> list[str]:
    """Tensors whose memory the plan of a successful first stage reads or writes."""
    call, spec = case.call, case.spec
    hit = spec.first_hit(call)
    if hit is not None or any(call.tensor(arg.name).empty for arg in spec.empty_args):
        return []
    for step in spec.lowering:
        if isinstance(step, ZeroIfEmpty) and 0 in (
            broadcast(*(call.tensor(name).shape for name in step.of)) or ()
        ):
            return [step.arg]
    return [arg.name for arg in (*spec.kernel_args, *spec.output_args)]


def needed_bytes(desc: TensorDesc) -> int:
    """Bytes from a tensor's address to the end of what its view covers."""
    return (desc.reach[1] + 1) * desc.dtype.numpy.itemsize


def wrong_numbers(case: Drawn, inputs: Mapping[str, NDArray[Any]], storage: NDArray[Any]) -> str:
    """Hold an output's storage against the golden result; empty when it is right."""
    spec, call = case.spec, case.call
    desc = call.tensor(spec.output_args[0].name)
    if desc.empty or overlapping(desc):
        return ""
    actual = view(storage, compact(desc))
    golden = spec.evaluate(inputs, call.attrs)
    computed = spec.computed_dtype(call).numpy
    kind = desc.dtype.numpy.kind
    if kind == "c":
        if np.any(actual.imag != 0):
            return "the imaginary part is not 0"
        actual = actual.real
    elif kind == "b":
        return _wrong_bools(actual, golden)
    elif kind in "iu":
        return _wrong_integers(actual, golden, computed)
    terms = spec.magnitudes(inputs, call.attrs)
    report = compare(np.asarray(actual), golden, computed, terms=terms)
    return "" if report.passed else str(report)


def _wrong_bools(actual: NDArray[Any], golden: NDArray[np.float64]) -> str:
    clear = ~(np.abs(golden) < 1e-3) & ~np.isnan(golden)
    bad = int((actual.view(np.uint8)[clear] != 1).sum())
    return f"{bad} elements are not true although the result is not 0" if bad else ""


def _wrong_integers(
    actual: NDArray[Any], golden: NDArray[np.float64], computed: np.dtype[Any]
) -> str:
    limits = np.iinfo(actual.dtype)
    with np.errstate(all="ignore"):
        slack = 0.01 * np.abs(golden) + 0.05
        inside = (golden - slack > limits.min) & (golden + slack < limits.max)
        inside &= np.isfinite(golden)
        error = np.abs(actual.astype(np.float64) - np.trunc(golden))
        bad = int((inside & (error > 1 + slack)).sum())
    return f"{bad} integers are not the truncated result ({computed.name})" if bad else ""


def compact(desc: TensorDesc) -> TensorDesc:
    """The same view in a storage that ends with it; strides that no step follows are 0."""
    strides = [s if d > 1 else 0 for d, s in zip(desc.shape, desc.view_strides, strict=True)]
    return replace(desc, strides=tuple(strides), storage=(max(desc.reach[1] + 1, 0),))


def overlapping(desc: TensorDesc) -> bool:
    """Whether two elements of a view are one place in memory."""
    places = view(np.arange(desc.reach[1] + 1), compact(desc))
    return np.unique(places).size != places.size


def outside(desc: TensorDesc, nbytes: int) -> NDArray[np.bool_]:
    """Bytes of a buffer that do not belong to the view at its start."""
    size = desc.dtype.numpy.itemsize
    inside = np.zeros(nbytes // size + 1, bool)
    if not desc.empty:
        view(inside, compact(desc))[...] = True
    return ~np.repeat(inside, size)[:nbytes]
