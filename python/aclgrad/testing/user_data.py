# SPDX-License-Identifier: Apache-2.0
"""What a user hands to the command line: .npy files, shapes, attributes. Every refusal says what
is wanted.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from aclgrad.common.files import writing
from aclgrad.functions import PLACEHOLDER, attr_value
from aclgrad.spec.arguments import number_of_text
from aclgrad.spec.call import AttrValue
from aclgrad.spec.dtypes import Array, DType
from aclgrad.spec.op_spec import OpSpec
from aclgrad.testing import npy


def load_inputs(spec: OpSpec, files: Sequence[Path], dtype: DType | None) -> dict[str, Array]:
    """Read one file per input tensor that is read."""
    wanted = [arg for arg in spec.input_args if not arg.unused]
    names = [arg.python for arg in wanted]
    if len(files) != len(names):
        raise ValueError(
            f"{spec.op}: got {len(files)} files, want {len(names)}:"
            f" {' '.join(f'{n}.npy' for n in names)}"
        )
    loaded = {arg.name: _load(path, dtype) for arg, path in zip(wanted, files, strict=True)}
    return {arg.name: loaded.get(arg.name, PLACEHOLDER) for arg in spec.input_args}


def _load(path: Path, dtype: DType | None) -> Array:
    array = npy.load(path, dtype)
    if dtype is not None and array.dtype != dtype.numpy:
        raise ValueError(f"{path}: got dtype {array.dtype.name}, want {dtype.name} as --dtype says")
    return array


def save(path: Path, array: Array) -> None:
    """Write a .npy file in one step: an interrupted run leaves no half file."""
    with writing(path) as file:
        np.save(file, array)


def parse_shape(text: str) -> tuple[int, ...]:
    """``2x8192`` -> (2, 8192); ``scalar`` -> ()."""
    if text == "scalar":
        return ()
    if not re.fullmatch(r"\d+([xX,]\d+)*", text):
        raise ValueError(f"shape: got {text!r}, want dims joined by x, e.g. 2x8192, or scalar")
    dims = tuple(int(word) for word in re.split(r"[xX,]", text))
    if any(dim >= 2**31 for dim in dims):
        raise ValueError(f"shape: got {text}, want dims below 2147483648")
    return dims


def unambiguous(words: Sequence[str]) -> Sequence[str]:
    """NAME=VALUE words as they are; refuses a name that has two values."""
    values: dict[str, str] = {}
    for word in words:
        name, _, text = word.partition("=")
        if values.setdefault(name, text) != text:
            raise ValueError(
                f"{name}: got {values[name]} and {text}, which contradict each other. Next: give"
                " it once"
            )
    return words


def parse_attrs(spec: OpSpec, words: Sequence[str]) -> dict[str, AttrValue]:
    """NAME=VALUE words over the defaults of an operator."""
    known = {name: arg for arg in spec.attr_args for name in (arg.name, arg.python)}
    values = spec.defaults()
    for word in unambiguous(words):
        name, equals, text = word.partition("=")
        if not equals or name not in known:
            raise ValueError(
                f"--attr {word}: want NAME=VALUE with NAME one of"
                f" {', '.join(a.python for a in spec.attr_args)}"
            )
        arg = known[name]
        try:
            values[arg.name] = attr_value(arg, number_of_text(arg.kind, text))
        except ValueError:
            kind = {"bool": "true or false", "double": "a number"}.get(
                arg.c_type, "a 64-bit integer"
            )
            raise ValueError(f"--attr {name}: got {text!r}, want {kind}") from None
    return values


def check_dims(spec: OpSpec, shape: Sequence[int], attrs: dict[str, AttrValue]) -> None:
    """Refuse a dim that the shape does not have: tiling itself is only ever given good ones."""
    rank = max(len(shape), 1)
    for check in spec.checks:
        attr = getattr(check, "attr", None)
        if attr is not None and check.kind == "dim_in_range" and not -rank <= attrs[attr] < rank:
            raise ValueError(
                f"{attr}: got {attrs[attr]}, want a value in [{-rank}, {rank - 1}] for a tensor of"
                f" rank {len(shape)}"
            )
