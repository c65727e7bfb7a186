# SPDX-License-Identifier: Apache-2.0
"""The Python function of each operator, made from its spec."""

from __future__ import annotations

import inspect
import operator
import os
import re
from collections.abc import Callable
from functools import cache
from types import ModuleType
from typing import SupportsIndex

import numpy as np

from aclgrad.common import callables, lazy
from aclgrad.common.callables import Operators
from aclgrad.errors import AclnnError
from aclgrad.ops import all_specs
from aclgrad.spec import dtypes, naming
from aclgrad.spec.arguments import WANTED, Attr, Tensor, number
from aclgrad.spec.call import AttrValue, TensorDesc
from aclgrad.spec.dtypes import Array
from aclgrad.spec.op_spec import OpSpec

PLACEHOLDER = np.empty(0, np.float32)
"""Stands for a tensor that the library wants to be there and never reads."""


def names() -> tuple[str, ...]:
    """Names of all operator functions."""
    return tuple(_ALL)


def by_name(name: str) -> Callable[..., Array]:
    """Return the function of this name."""
    return _ALL[name]


def load(path: str | os.PathLike[str], *, soc: str | None = None) -> Operators:
    """Make Python functions of the operators of a project, or of an operator package.

    Parameters
    ----------
    path : str or path
        An operator project, which is built when needed (a kernel with the first call that needs
        it), or the folder of an operator package that is built for the simulator.
    soc : str, optional
        Simulated SoC; ``$ACLGRAD_SOC`` or Ascend910B2 when left out.

    Returns
    -------
    Operators
        A function for each operator, named like the operator in snake case, with the inputs and
        attributes of its definition: ``load("huber_grad").huber_grad(x, t, delta=1.0)``. It takes
        and returns NumPy arrays, or CPU tensors of torch.

    Raises
    ------
    ToolkitError
        There is no operator, or it does not build. The message says why and what to do.
    """
    loaded: Operators = lazy.module("aclgrad.running.loading").load(path, soc=soc)
    return loaded


def attr_value(attr: Attr, value: object) -> AttrValue:
    """Return a value as the C function takes it; refuses what would be cut off on the way."""
    kind = attr.kind
    try:
        return number(kind, value)
    except (TypeError, ValueError, OverflowError) as error:
        if isinstance(error, ValueError) and isinstance(value, SupportsIndex) and kind != "Float":
            want = "a 64-bit integer" if kind == "Int" else WANTED[kind]
            raise ValueError(f"{attr.python}: got {operator.index(value)}, want {want}") from None
        raise TypeError(f"{attr.python}: got {value!r}, want {WANTED[kind]}") from None


def signature(spec: OpSpec) -> inspect.Signature:
    """Parameters of an operator's function: the arguments of the C function but the output."""
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
            annotation=a.python_type,
        )
        for a in spec.attr_args
    ]
    parameters += [
        kinds("out_dtype", kinds.KEYWORD_ONLY, default=None, annotation="numpy dtype or None"),
        kinds("device", kinds.KEYWORD_ONLY, default="sim", annotation=str),
    ]
    return inspect.Signature(parameters, return_annotation=np.ndarray)


def _make(spec: OpSpec) -> Callable[..., Array]:
    tensors, attributes = spec.input_args, spec.attr_args
    count = len(tensors)

    def call(*values: object) -> Array:
        inputs = {
            arg.name: _array(spec, arg, value) for arg, value in zip(tensors, values, strict=False)
        }
        try:
            attrs = {
                arg.name: value
                if type(value) is type(arg.default) is float
                else attr_value(arg, value)
                for arg, value in zip(attributes, values[count:], strict=False)
            }
        except (TypeError, ValueError) as error:
            raise type(error)(f"{spec.function}: {error}") from None
        out_dtype, device = values[-2:]
        return compute(spec, inputs, attrs, out_dtype, device)

    return callables.make(spec.function, signature(spec), docstring(spec), call, "aclgrad")


def _array(spec: OpSpec, arg: Tensor, value: object) -> Array:
    """An argument as an array of a dtype that tensors have."""
    if type(value) is np.ndarray and dtypes.is_known(value.dtype):
        return value
    where = f"{spec.function}: {arg.python}"
    if value is None:
        if arg.unused:
            return PLACEHOLDER
        wanted = arg.dtypes or spec.kernel_dtypes
        names = ", ".join(dtype.name for dtype in wanted)
        raise TypeError(f"{where}: got None, want a numpy.ndarray of {names}")
    try:
        array = np.asarray(value)
        dtypes.of_array(array.dtype)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{where}: {error}") from None
    return array


def result_desc(spec: OpSpec, inputs: dict[str, Array], out_dtype: object = None) -> TensorDesc:
    """Describe the result: shape and, unless told otherwise, dtype of the input that the kernel
    follows.
    """
    like = inputs[spec.result_like]
    return TensorDesc(like.shape, dtypes.of_array(like.dtype if out_dtype is None else out_dtype))


def compute(
    spec: OpSpec,
    inputs: dict[str, Array],
    attrs: dict[str, AttrValue],
    out_dtype: object = None,
    device: object = "sim",
) -> Array:
    """Run one operator on arrays."""
    try:
        out = result_desc(spec, inputs, out_dtype)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{spec.function}: out_dtype: {error}") from None
    try:
        result: Array = _runtime().open_device(device).run(spec, inputs, attrs, out)
    except AclnnError as error:
        raise error.reworded(_reworded(spec, error, out_dtype)) from None
    return result


@cache
def _runtime() -> ModuleType:
    return lazy.module("aclgrad.runtime")


def _reworded(spec: OpSpec, error: AclnnError, out_dtype: object) -> str:
    """A refusal of the library in NumPy's words and with the names of the Python function."""
    text = re.sub(rf"^\[{error.code}\] ", "", error.message)
    names = {arg.name: arg.python for arg in spec.args}
    where = re.match(rf"{spec.api}: (\w+)", text)
    also = f"; {where[1]}" if where and where[1] != names.get(where[1], where[1]) else ""
    for arg in spec.output_args:
        # Users give no output: its shape and dtype come from elsewhere.
        of_dtype = out_dtype is not None and "dtype" in text
        names[arg.name] = "out_dtype" if of_dtype else naming.snake(spec.result_like)
    text = re.sub(
        rf"\b({'|'.join(names)})\b(?! of\b)",
        lambda found: names[found[1]],
        text.removeprefix(f"{spec.api}: "),
    )
    text = dtypes.numpy_words(text) or "refused"
    return f"{spec.function}: {text} ({error.function}: {error.code} {error.name}{also})"


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
        kind = attr.python_type.__name__
        lines += [f"{attr.python} : {kind}, default {attr.default}", f"    {_sentence(attr.doc)}"]
    like = next(arg for arg in spec.input_args if arg.name == spec.result_like)
    lines += [
        "out_dtype : numpy dtype, optional",
        f"    Dtype of the result; that of {like.python} when left out.",
        "device : {'sim', 'npu'}",
        "    The simulator, or an NPU with CANN. Neither is used in place of the other.",
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


# With the module: a thread that asks for the first function later would import specs while others
# fork.
_ALL = {spec.function: _make(spec) for spec in all_specs()}
