# SPDX-License-Identifier: Apache-2.0
"""The Python function of an operator definition: its parameters, what they take, its docstring."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from aclgrad.common import callables
from aclgrad.errors import AclnnError
from aclgrad.reading.sources import numpy_name
from aclgrad.running.operand_words import OutputWord, Tensors
from aclgrad.spec import dtypes
from aclgrad.spec.arguments import WANTED, number
from aclgrad.spec.definition import AttrDef, Definition, Param, Value
from aclgrad.spec.dtypes import Array
from aclgrad.spec.naming import snake_case

_P = inspect.Parameter
Result = Array | list[Array]
"""What a function gives of one output: an array, or those of a list."""

_TYPES: dict[str, type] = {"Int": int, "Float": float, "Bool": bool, "String": str}


@dataclass(frozen=True)
class Plan:
    """Names of a function and its parameters. Where two would be the same, or a word of Python, one
    ends with ``_``.
    """

    name: str
    inputs: tuple[str, ...]
    attrs: tuple[str, ...]
    out: str
    signature: inspect.Signature


def plan(op: Definition) -> Plan:
    """The function of an operator: inputs in order, attributes by name, ``out``."""
    taken: list[str] = []

    def named(word: str) -> str:
        taken.append(callables.parameter_name(word, taken))
        return taken[-1]

    inputs = tuple(named(item.name) for item in op.inputs)
    attrs = tuple(named(attr.name) for attr in op.attrs)
    out = named("out")
    parameters: list[inspect.Parameter] = []
    required_follows = False
    for arg, item in reversed([*zip(inputs, op.inputs, strict=True)]):
        optional = item.kind == "optional"
        required_follows |= not optional
        # None must be said where Python has no default before what is required.
        default = None if optional and not required_follows else _P.empty
        parameters.insert(
            0, _P(arg, _P.POSITIONAL_OR_KEYWORD, default=default, annotation=_input_type(item))
        )
    for arg, attr in zip(attrs, op.attrs, strict=True):
        value = _P.empty if attr.required and attr.default is None else _default(attr)
        kind = _TYPES.get(attr.kind, "sequence")
        parameters.append(_P(arg, _P.KEYWORD_ONLY, default=value, annotation=kind))
    parameters.append(_P(out, _P.KEYWORD_ONLY, default=None, annotation="numpy.ndarray or None"))
    returned = "numpy.ndarray" if len(op.outputs) == 1 else "tuple"
    name = callables.parameter_name(snake_case(op.type))
    signature = inspect.Signature(parameters, return_annotation=returned)
    return Plan(name, inputs, attrs, out, signature)


def _input_type(item: Param) -> str:
    kind = "list of numpy.ndarray" if item.kind == "dynamic" else "numpy.ndarray"
    return f"{kind} or None" if item.kind == "optional" else kind


def _default(attr: AttrDef) -> Value:
    """The definition's default; of lists one that nobody can change."""
    value = attr.default
    if isinstance(value, list):
        element = {"ListBool": bool, "ListFloat": float}.get(attr.kind)
        return tuple(map(element, value) if element else value)
    return float(value) if attr.kind == "Float" and isinstance(value, (int, float)) else value


def on_host(item: Param) -> bool:
    """Whether the host reads an input's values: numbers, not device memory."""
    return bool(item.scalar or item.scalar_list or item.value_depend)


def either(words: Iterable[str]) -> str:
    """``float32, float16 or bfloat16``."""
    *most, last = words
    return f"{', '.join(most)} or {last}" if most else last


def tensors(function: str, arg: str, item: Param, value: object, offered: Sequence[str]) -> Tensors:
    """The arrays of one parameter: none for an absent one, several for a list."""
    kind = either(offered)
    if value is None:
        if item.kind == "optional":
            return []
        raise TypeError(f"{function}: {arg}: got None, want {_noun(item)} of {kind}")
    if item.kind == "dynamic":
        if not isinstance(value, (list, tuple)):
            raise TypeError(
                f"{function}: {arg}: got {type(value).__name__}, want a list of numpy.ndarray of"
                f" {kind}"
            )
        names = [f"{arg}[{at}]" for at in range(len(value))]
        return [_array(function, name, one, kind) for name, one in zip(names, value, strict=True)]
    return [_array(function, arg, value, kind)]


def _noun(item: Param) -> str:
    return "a list of numpy.ndarray" if item.kind == "dynamic" else "a numpy.ndarray"


def _array(function: str, arg: str, value: object, kind: str) -> Array:
    if value is None:
        raise TypeError(f"{function}: {arg}: got None, want a numpy.ndarray of {kind}")
    try:
        array = np.asarray(value)
        dtypes.of_array(array.dtype)
    except (TypeError, ValueError) as error:
        if isinstance(value, np.ndarray):
            raise TypeError(
                f"{function}: {arg}: got {value.dtype.name}, want {kind}; convert it with"
                " astype or Tensor.to"
            ) from None
        raise TypeError(
            f"{function}: {arg}: got {type(value).__name__}, want a numpy.ndarray of {kind}:"
            f" {error}"
        ) from None
    return array


def converted(function: str, arg: str, array: Array, dtype: str) -> Array:
    """Values that the host reads, in the dtype of the definition."""
    want = dtypes.by_label(dtype.removeprefix("DT_")).numpy
    if not np.can_cast(array.dtype, want, "same_kind"):
        raise TypeError(f"{function}: {arg}: got {array.dtype.name}, want {want.name}")
    made = array.astype(want)
    if want.kind in "iu" and not np.array_equal(made, array):
        raise ValueError(f"{function}: {arg}: got {array.tolist()}, which {want.name} cannot hold")
    return made


def attribute(function: str, arg: str, attr: AttrDef, value: object) -> Value:
    """The value of one attribute; refuses what would be cut off on the way."""
    kind = attr.kind
    if value is None and not attr.required:
        return attr.default
    try:
        return _value(kind, value)
    except (TypeError, ValueError, OverflowError):
        inner = kind.replace("List", "")
        plural = {"Int": "integers", "Float": "numbers", "Bool": "True and False"}
        want = f"a sequence of {plural[inner]}" if kind.startswith("List") else WANTED[kind]
        raise TypeError(f"{function}: {arg}: got {value!r}, want {want}") from None


def _value(kind: str, value: object) -> Value:
    if kind.startswith("List"):
        if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
            raise TypeError
        return [_value(kind.removeprefix("List"), item) for item in value]
    if kind == "String":
        if not isinstance(value, str):
            raise TypeError
        return value
    return number(kind, value)


def outputs(function: str, arg: str, op: Definition, out: object) -> list[OutputWord]:
    """Shapes and dtypes of ``out``, for operators that have no shape inference of their own."""
    if out is None and not op.infer_shape and op.outputs:
        count = len(op.outputs)
        example = "numpy.empty(shape, dtype)"
        what = example if count == 1 else f"a tuple of {count} arrays, {example} each"
        raise TypeError(f"{function}: op_host has no shape inference. Next: {arg}={what}")
    if out is None:
        return []
    words: list[OutputWord] = []
    for name, array in _flat(function, arg, len(op.outputs), out):
        if not isinstance(array, np.ndarray):
            raise TypeError(f"{function}: {name}: got {type(array).__name__}, want a numpy.ndarray")
        if not array.flags.writeable:
            raise ValueError(f"{function}: {name}: got an array that is read-only")
        words.append((array.shape, None))
    return [] if op.infer_shape else words


def _flat(function: str, arg: str, count: int, out: object) -> list[tuple[str, object]]:
    """The arrays of ``out`` with their names for messages."""
    many = count != 1
    if not many:
        out = (out,)
    if not (isinstance(out, tuple) and len(out) == count):
        got = f"a tuple of {len(out)}" if isinstance(out, tuple) else type(out).__name__
        raise TypeError(f"{function}: {arg}: got {got}, want a tuple of {count} arrays")
    found: list[tuple[str, object]] = []
    for place, value in enumerate(out):
        name = f"{arg}[{place}]" if many else arg
        if isinstance(value, list):
            found += [(f"{name}[{at}]", one) for at, one in enumerate(value)]
        else:
            found.append((name, value))
    return found


def copy_out(function: str, arg: str, results: Sequence[Result], out: object) -> None:
    """Write results to the arrays that the caller gave, all or none."""
    pairs: list[tuple[Array, Array]] = []
    targets = _flat(function, arg, len(results), out)
    flat = [one for item in results for one in (item if isinstance(item, list) else [item])]
    if len(flat) != len(targets):
        raise TypeError(f"{function}: {arg}: got {len(targets)} arrays, want {len(flat)}")
    for (name, target), array in zip(targets, flat, strict=True):
        assert isinstance(target, np.ndarray), name  # `outputs` has seen that
        if target.dtype != array.dtype:
            raise TypeError(f"{function}: {name}: got {target.dtype.name}, want {array.dtype.name}")
        if target.shape != array.shape:
            raise ValueError(f"{function}: {name}: got shape {target.shape}, want {array.shape}")
        pairs.append((target, array))
    for target, array in pairs:
        np.copyto(target, array)


def reworded(error: AclnnError) -> str:
    """A refusal of the library in NumPy's words; other errors, which quote sources, as they are."""
    if error.code // 1000 not in (161, 561):
        return str(error)
    text = dtypes.numpy_words(error.message or str(error))
    return re.sub(r"^\[\d+\] ", "", text) + f" ({error.function}: {error.code} {error.name})"


def docstring(op: Definition, made: Plan, rows: Sequence[Sequence[str]], soc: str) -> str:
    """Numpydoc text from a definition."""
    lines = [f"{op.type} on the simulated {soc}, by its definition.", ""]
    lines += ["Takes and returns NumPy arrays, or CPU tensors of torch.", ""]
    lines += ["Parameters", "----------"]
    for place, (arg, item) in enumerate(zip(made.inputs, op.inputs, strict=True)):
        kinds = either(dict.fromkeys(numpy_name(row[place]) for row in rows))
        many = "list of ndarray" if item.kind == "dynamic" else "ndarray"
        optional = ", optional" if item.kind == "optional" else ""
        lines.append(f"{arg} : {many} of {kinds}{optional}")
        lines.append("    Values that the host reads." if on_host(item) else "    Any strides.")
    for arg, attr in zip(made.attrs, op.attrs, strict=True):
        kind = attr.kind
        word = _TYPES[kind].__name__ if kind in _TYPES else f"sequence ({kind})"
        default = made.signature.parameters[arg].default
        lines.append(f"{arg} : {word}" + ("" if default is _P.empty else f", default {default!r}"))
        lines.append("    Attribute.")
    lines.append(f"{made.out} : ndarray or tuple of ndarray, optional")
    lines.append(
        "    Where results are written."
        + ("" if op.infer_shape else " Needed: the operator has no shape inference.")
    )
    lines += ["", "Returns", "-------"]
    for place, item in enumerate(op.outputs, len(op.inputs)):
        kinds = either(dict.fromkeys(numpy_name(row[place]) for row in rows))
        many = "list of ndarray" if item.kind == "dynamic" else "ndarray"
        lines.append(f"{item.name} : {many} of {kinds}")
    if not op.outputs:
        lines.append("None")
    if len(rows) > 1 and rows[0]:
        lines += ["", "Notes", "-----", "Combinations of dtypes, inputs -> outputs:"]
        count = len(op.inputs)
        for row in rows:
            names = [*map(numpy_name, row)]
            lines.append(f"{', '.join(names[:count])} -> {', '.join(names[count:])}")
    lines += [
        "",
        "Raises",
        "------",
        "TypeError, ValueError",
        "    An argument is not one of these.",
    ]
    lines += ["AclnnError", "    The operator refused the call, or a check found a fault."]
    return "\n".join(lines) + "\n"
