# SPDX-License-Identifier: Apache-2.0
"""Words of a command line that describe an operator's inputs, attributes and outputs."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from aclgrad.reading.sources import SourcesError, numpy_name
from aclgrad.spec import dtypes
from aclgrad.spec.arguments import number_of_text
from aclgrad.spec.definition import AttrDef, Definition, Value
from aclgrad.spec.dtypes import Array
from aclgrad.testing import npy
from aclgrad.testing.user_data import unambiguous

OutputWord = tuple[tuple[int, ...], "dtypes.DType | None"]
"""Shape and dtype of an output; without a dtype it is the definition's."""

Tensors = Sequence[Array]
"""The tensors of one parameter: none for an absent one, several for a list."""

ABSENT = "-"
"""Stands for an optional input that is not given."""


def load(word: str, dtype: dtypes.DType | None) -> Tensors:
    """Read the tensors of one parameter: a file, a list of files joined by commas, or ``-``."""
    if word == ABSENT:
        return []
    return [npy.load(Path(name), dtype) for name in word.split(",")]


def parse_attrs(op: Definition, words: Sequence[str]) -> dict[str, Value]:
    """Values of the operator's attributes: NAME=VALUE words over the definition's defaults."""
    known = {attr.name: attr for attr in op.attrs}
    values = {name: attr.default for name, attr in known.items()}
    for word in unambiguous(words):
        name, equal, text = word.partition("=")
        if not equal or name not in known:
            raise SourcesError(
                f"--attr {word}: {op.type} has the attributes {', '.join(known) or '(none)'}."
                " Next: --attr NAME=VALUE"
            )
        try:
            values[name] = _attr_value(known[name].kind, text)
        except ValueError:
            raise SourcesError(
                f"--attr {word}: want a value of type {known[name].kind}. Next: e.g."
                f" {name}={_EXAMPLES[known[name].kind]}"
            ) from None
    unset = [name for name, attr in known.items() if values[name] is None and attr.required]
    if unset:
        raise SourcesError(
            f"{op.type}: attribute {unset[0]} is required. Next: --attr"
            f" {unset[0]}={_EXAMPLES[known[unset[0]].kind]}"
        )
    return values


_EXAMPLES = {
    "Int": "1",
    "Float": "0.5",
    "Bool": "true",
    "String": "none",
    "ListInt": "0,1",
    "ListFloat": "0.5,1",
    "ListBool": "true,false",
    "ListListInt": "",
}


_ZEROS = {"Int": 0, "Float": 0.0, "Bool": False}


def given_or_zero(attrs: Sequence[AttrDef], given: Mapping[str, Value]) -> dict[str, Value]:
    """Values of a definition's attributes, those that are None as the zero of their kind."""
    return {
        attr.name: attr_zero(attr.kind) if given[attr.name] is None else given[attr.name]
        for attr in attrs
    }


def attr_zero(kind: str) -> Value:
    """What an attribute without a default is passed as; None where the C function takes a null."""
    return _ZEROS.get(kind)


def _attr_value(kind: str, text: str) -> Value:
    if kind.startswith("List"):
        return [
            _attr_value(kind.removeprefix("List"), part)
            for part in text.strip("[]").split(",")
            if part.strip()
        ]
    return text if kind == "String" else number_of_text(kind, text)


def choose_row(
    op: Definition, rows: Sequence[tuple[str, ...]], inputs: Sequence[Tensors]
) -> tuple[str, ...]:
    """The dtype combination of the definition that the inputs have."""
    given = [dtypes.of_array(param[0].dtype).ge if param else None for param in inputs]
    for row in rows:
        if all(own is None or own == want for own, want in zip(given, row, strict=False)):
            return row
    offered = "; ".join(", ".join(map(numpy_name, row[: len(given)])) for row in rows)
    got = ", ".join(numpy_name(name) if name else "absent" for name in given)
    raise SourcesError(
        f"{op.type}: inputs have dtypes {got}, its definition has {offered}. Next: convert"
        " them with ndarray.astype"
    )


def choose_any_row(rows: Sequence[tuple[str, ...]], inputs: Sequence[Tensors]) -> tuple[str, ...]:
    """The dtype combination of the definition that the inputs have, or else the first with their
    dtypes in place of its own: outputs change with the inputs of their dtype.
    """
    given = [dtypes.of_array(param[0].dtype).ge if param else None for param in inputs]
    for row in rows:
        if all(own is None or own == want for own, want in zip(given, row, strict=False)):
            return row
    instead: dict[str, str] = {}
    for own, want in zip(given, rows[0], strict=False):
        instead.setdefault(want, own or want)
    outputs = (instead.get(name, name) for name in rows[0][len(given) :])
    kept = (own or want for own, want in zip(given, rows[0], strict=False))
    return (*kept, *outputs)


def output_words(options: Sequence[str]) -> list[str]:
    """The words of all --outputs: spaces stand between two, but not behind a comma of a shape."""
    return re.sub(r",\s+", ",", " ".join(options)).split()


def initial_outputs(words: Sequence[str]) -> tuple[list[OutputWord], list[Array | None]]:
    """Like `parse_outputs`, with what each holds before the launch: ``=0`` or ``=FILE`` behind it
    says so, and a file alone says its shape and dtype as well.
    """
    shapes: list[OutputWord] = []
    initial: list[Array | None] = []
    for word in words:
        spec, given, text = word.partition("=")
        own = parse_outputs([spec]) if spec else []
        if not given:
            shapes += own
            initial += [None] * len(own)
        elif text == "0":
            shapes += own
            initial += [np.zeros(shape) for shape, _ in own]
        else:
            array = npy.load(Path(text), own[0][1] if own else None)
            if len(own) > 1 or (own and own[0][0] != array.shape):
                raise SourcesError(
                    f"--outputs {word}: {text} has the shape {list(array.shape)}, want"
                    f" {spec}. Next: --outputs ={text}"
                )
            shapes.append((array.shape, dtypes.of_array(array.dtype)))
            initial.append(array)
    return shapes, initial


def parse_outputs(words: Sequence[str]) -> list[OutputWord]:
    """``2x8:fp32 scalar`` -> shapes, each with a dtype or none."""
    found: list[OutputWord] = []
    for word in itertools.chain.from_iterable(word.split(",") for word in words):
        shape, _, name = word.partition(":")
        try:
            dims = () if shape == "scalar" else tuple(int(dim) for dim in shape.lower().split("x"))
        except ValueError:
            raise SourcesError(
                f"--outputs {word}: want dims joined by x and a dtype, e.g. 2x8:fp32, or"
                " scalar:fp32"
            ) from None
        found.append((dims, dtypes.parse(name) if name else None))
    return found
