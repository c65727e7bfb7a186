# SPDX-License-Identifier: Apache-2.0
"""One small call per operator, for the documentation and the example programs."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from aclgrad.spec.arguments import Attr, Tensor
from aclgrad.spec.call import AttrValue, Call, TensorDesc
from aclgrad.spec.dtypes import BOOL, FLOAT, Array, DType
from aclgrad.spec.op_spec import Float64, OpSpec

_COLUMNS = 100

# All but the logarithms are exact in binary, so that every digit of a printed result is known.
_GRADIENT = (1.0, 2.0, 3.0, -1.0, 0.0, 1.0)
_PROBABILITY = (0.25, 0.25, 0.5, 0.5, 0.25, 0.25)
_MASK = (0.0, 1.0, 0.0, 0.0, 0.0, 1.0)

CPP_TYPES = {FLOAT.name: "float", BOOL.name: "uint8_t"}


@dataclass(frozen=True)
class Example:
    """Arguments of the call and the float64 golden of its result."""

    call: Call
    inputs: dict[str, Array]
    result: Float64

    @property
    def attrs(self) -> dict[str, AttrValue]:
        """Scalar arguments by name."""
        return dict(self.call.attrs)

    @property
    def printed(self) -> str:
        """What the C++ program prints: one line per row."""
        rows = self.result.reshape(-1, self.result.shape[-1])
        return "".join(" ".join(f"{value:9.6f}" for value in row) + "\n" for row in rows)


def example(spec: OpSpec) -> Example:
    """Make the call: two rows of three elements, in float32."""
    shape = (1,) * (max(2, spec.rank or 0) - 2) + (2, 3)
    tensors: dict[str, TensorDesc | None] = {}
    inputs = {}
    for index, arg in enumerate(spec.tensors):
        dtype = arg.dtypes[0] if arg.dtypes else FLOAT
        tensors[arg.name] = TensorDesc(shape, dtype)
        if not arg.out:
            inputs[arg.name] = _values(arg, dtype, index == 0).reshape(shape)
    call = Call(tensors, spec.defaults())
    return Example(call, inputs, spec.evaluate(inputs, call.attrs))


def _values(arg: Tensor, dtype: DType, gradient: bool) -> Array:
    values: tuple[float, ...] = _GRADIENT if gradient else _PROBABILITY
    if dtype == BOOL:
        values = _MASK
    elif arg.unused:
        values = (0.0,) * len(values)
    return np.array(arg.example or values).astype(dtype.numpy)


def braces(values: Iterable[object]) -> str:
    """Numbers as a C++ initializer list."""
    return "{" + ", ".join(f"{float(value):g}" for value in values) + "}"  # type: ignore[arg-type]


def nested(array: Array) -> str:
    """Return an array as nested Python lists, whole numbers without a point."""
    if array.ndim == 0:
        return str(bool(array)) if array.dtype == np.bool_ else f"{float(array):g}"
    return "[" + ", ".join(nested(item) for item in array) + "]"


def literal(attr: Attr, value: AttrValue) -> str:
    """Attribute as a C++ literal."""
    return str(value).lower() if attr.c_type == "bool" else str(value)


def cpp_words(spec: OpSpec, attrs: dict[str, AttrValue]) -> list[str]:
    """Arguments of the first stage as the example programs name them."""
    return [
        f"/*{arg.name}=*/{literal(arg, attrs[arg.name])}"
        if isinstance(arg, Attr)
        else f"{arg.name}.get()"
        for arg in spec.args
    ]


def packed(lead: str, words: Sequence[str], tail: str) -> str:
    """Join call arguments the way clang-format does: filled lines below the open bracket."""
    lines = [lead]
    for word, last in zip(words, itertools.chain([False] * (len(words) - 1), [True]), strict=True):
        text = word + (tail if last else ",")
        space = "" if lines[-1].endswith("(") else " "
        if len(lines[-1] + space + text) > _COLUMNS and len(lines[-1].strip()):
            lines.append(" " * len(lead) + text)
        else:
            lines[-1] += space + text
    return "\n".join(lines)


def python_call(spec: OpSpec, attrs: dict[str, AttrValue]) -> str:
    """Call of the Python function; tensors that are never read are left out."""
    words = [arg.python for arg in spec.input_args if not arg.unused]
    words += [f"{arg.python}={attrs[arg.name]}" for arg in spec.attr_args]
    return f"aclgrad.{spec.function}({', '.join(words)})"
