# SPDX-License-Identifier: Apache-2.0
"""The Python function of each operator, made from its spec."""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aclgrad.common import lazy
from aclgrad.ops import all_specs
from aclgrad.spec import dtypes
from aclgrad.spec.arguments import Attr
from aclgrad.spec.call import AttrValue, TensorDesc
from aclgrad.spec.op_spec import OpSpec

PLACEHOLDER = np.empty(0, np.float32)
"""Stands for a tensor that the library wants to be there and never reads."""

_PYTHON_TYPES = {"int64_t": int, "double": float, "bool": bool}


def names() -> tuple[str, ...]:
    """Names of all operator functions."""
    return tuple(spec.function for spec in all_specs())


@cache
def by_name(name: str) -> Callable[..., NDArray[Any]]:
    """Return the function of this name."""
    return _make(next(spec for spec in all_specs() if spec.function == name))


def attr_value(attr: Attr, value: object) -> AttrValue:
    """Return a value as the C function takes it; refuses what would be cut off on the way."""
    if attr.c_type == "bool":
        return bool(value)
    if attr.c_type == "double":
        return float(value)  # type: ignore[arg-type]
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(f"{attr.python}: got {value!r}, want an integer") from None
    if not -(2**63) <= number < 2**63:
        raise ValueError(f"{attr.python}: got {number}, want a 64-bit integer")
    return number


def _make(spec: OpSpec) -> Callable[..., NDArray[Any]]:
    kinds = inspect.Parameter
    parameters = [
        kinds(
            a.python,
            kinds.POSITIONAL_OR_KEYWORD,
            default=None if a.unused else kinds.empty,
            annotation="numpy.ndarray or None" if a.unused else np.ndarray,
        )
        for a in spec.input_args
    ]
    parameters += [
        kinds(
            a.python,
            kinds.POSITIONAL_OR_KEYWORD,
            default=a.default,
            annotation=_PYTHON_TYPES[a.c_type],
        )
        for a in spec.attr_args
    ]
    parameters += [
        kinds("out_dtype", kinds.KEYWORD_ONLY, default=None, annotation="numpy dtype or None"),
        kinds("device", kinds.KEYWORD_ONLY, default="sim", annotation=str),
    ]
    signature = inspect.Signature(parameters, return_annotation=np.ndarray)

    def function(*args: Any, **kwargs: Any) -> NDArray[Any]:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        given = bound.arguments
        inputs = {
            arg.name: PLACEHOLDER
            if arg.unused and given[arg.python] is None
            else np.asarray(given[arg.python])
            for arg in spec.input_args
        }
        attrs = {arg.name: attr_value(arg, given[arg.python]) for arg in spec.attr_args}
        return compute(spec, inputs, attrs, given["out_dtype"], given["device"])

    function.__name__ = function.__qualname__ = spec.function
    function.__module__ = "aclgrad"
    function.__doc__ = docstring(spec)
    function.__signature__ = signature  # type: ignore[attr-defined]
    return function


def result_desc(
    spec: OpSpec, inputs: dict[str, NDArray[Any]], out_dtype: object = None
) -> TensorDesc:
    """Describe the result: shape and, unless told otherwise, dtype of the input that the kernel
    follows.
    """
    like = inputs[spec.result_like]
    return TensorDesc(like.shape, dtypes.of_array(like.dtype if out_dtype is None else out_dtype))


def compute(
    spec: OpSpec,
    inputs: dict[str, NDArray[Any]],
    attrs: dict[str, AttrValue],
    out_dtype: object = None,
    device: str = "sim",
) -> NDArray[Any]:
    """Run one operator on arrays."""
    runtime = lazy.module("aclgrad.runtime")
    out = result_desc(spec, inputs, out_dtype)
    for array in inputs.values():
        dtypes.of_array(array.dtype)
    result: NDArray[Any] = runtime.open_device(device).run(spec, inputs, attrs, out)
    return result


def docstring(spec: OpSpec) -> str:
    """Numpydoc text of an operator's function."""
    labels = ", ".join(dtype.name for dtype in spec.kernel_dtypes)
    lines = [spec.brief, "", f"``{spec.formula}``", "", "Parameters", "----------"]
    for tensor in spec.input_args:
        kind = " or ".join(d.name for d in tensor.dtypes) or labels
        if tensor.unused:
            lines += [f"{tensor.python} : ndarray, optional", f"    {_sentence(tensor.doc)}"]
            continue
        lines += [
            f"{tensor.python} : ndarray of {kind}",
            f"    {_sentence(tensor.doc)} Any strides.",
        ]
    for attr in spec.attr_args:
        kind = _PYTHON_TYPES[attr.c_type].__name__
        lines += [f"{attr.python} : {kind}, default {attr.default}", f"    {_sentence(attr.doc)}"]
    like = next(arg for arg in spec.input_args if arg.name == spec.result_like)
    lines += [
        "out_dtype : numpy dtype, optional",
        f"    Dtype of the result; that of {like.python} when left out.",
        "device : {'sim', 'npu'}",
        "    The simulator, or an NPU with CANN. Never the one in place of the other.",
        "",
        "Returns",
        "-------",
        "ndarray",
        f"    {_sentence(spec.output_args[0].doc)}",
        "",
        "Raises",
        "------",
        "AclnnError",
        (
            "    The library refused the call; carries the aclnn code, its name and the library's"
            " message."
        ),
        "ToolkitError",
        "    A library that is needed is missing; says which, and what to run.",
    ]
    if spec.notes:
        lines += ["", "Notes", "-----", *spec.notes]
    return "\n".join(lines) + "\n"


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:].rstrip(".") + "."
