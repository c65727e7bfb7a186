# SPDX-License-Identifier: Apache-2.0
"""Arguments of an operator: of its API, and of the OpDef behind it."""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, SupportsFloat, SupportsIndex

import numpy as np

from aclgrad.spec import naming
from aclgrad.spec.call import AttrValue
from aclgrad.spec.dtypes import DType


def _several(kind: type, count: int = 0) -> Callable[[object], bool]:
    """Whether a value is a tuple of one type, and of a length where one is said."""
    return lambda value: (
        isinstance(value, tuple)
        and all(isinstance(item, kind) for item in value)
        and count in (0, len(value))
    )


_HOLDS: dict[str, Callable[[object], bool]] = {
    "str": lambda value: isinstance(value, str),
    "int": lambda value: type(value) is int,
    "bool": lambda value: isinstance(value, bool),
    "bool | None": lambda value: value is None or isinstance(value, bool),
    "AttrValue": lambda value: isinstance(value, (int, float)),
    "tuple[str, ...]": _several(str),
    "tuple[str, str]": _several(str, 2),
    "tuple[DType, ...]": _several(DType),
}


class TypedFields:
    """A dataclass whose fields are seen to have the types that it says."""

    def __post_init__(self) -> None:
        """Refuse a field of another type, such as a string where a tuple of them is meant."""
        for item in dataclasses.fields(self):  # type: ignore[arg-type]
            value = getattr(self, item.name)
            if not _HOLDS[str(item.type)](value):
                raise TypeError(
                    f"{type(self).__name__}: {item.name}: got {value!r}, want {item.type}"
                )


WANTED = {"Int": "an integer", "Float": "a number", "Bool": "True or False", "String": "a str"}
"""What a message calls values of a kind."""


def number(kind: str, value: object) -> AttrValue:
    """An Int, Float or Bool from any Python or NumPy number, with nothing cut off. Raises TypeError
    or OverflowError for what is no number, ValueError for one that the kind does not have.
    """
    if kind == "Float":
        if isinstance(value, (str, bytes)) or not isinstance(value, (SupportsFloat, SupportsIndex)):
            raise TypeError
        return float(value)
    if isinstance(value, np.bool_):
        value = bool(value)
    if not isinstance(value, SupportsIndex):
        raise TypeError
    whole = operator.index(value)
    if not -(2**63) <= whole < 2**63 or (kind == "Bool" and whole not in (0, 1)):
        raise ValueError
    return bool(whole) if kind == "Bool" else whole


def number_of_text(kind: str, text: str) -> AttrValue:
    """An Int, Float or Bool as words of a command line have it. Raises ValueError."""
    if kind == "Int":
        return int(text, 0)
    if kind == "Float":
        return float(text)
    return bool(["false", "0", "true", "1"].index(text.strip().lower()) // 2)


@dataclass(frozen=True)
class Tensor:
    """A tensor argument of the API. ``dtypes`` is for those that do not follow the operator's
    table, ``example`` for those whose two rows of three numbers in the documentation are not
    gradients, if they come first, or probabilities.
    """

    name: str
    doc: str
    out: bool = False
    dtypes: tuple[DType, ...] = ()
    unused: bool = False  # checked for null, never read: any shape and dtype will do
    example: tuple[float, ...] = ()

    @property
    def c_type(self) -> str:
        """Type in the C function."""
        return "aclTensor*" if self.out else "const aclTensor*"

    @cached_property
    def python(self) -> str:
        """Name in the Python function."""
        return naming.snake(self.name)


@dataclass(frozen=True)
class Attr:
    """A scalar argument of the API: ``c_type`` is int64_t, double or bool."""

    name: str
    c_type: str
    default: AttrValue
    doc: str
    out: ClassVar[bool] = False

    @cached_property
    def python(self) -> str:
        """Name in the Python function."""
        return naming.snake(self.name)

    @property
    def kind(self) -> str:
        """What a definition calls its type."""
        return {"int64_t": "Int", "double": "Float", "bool": "Bool"}[self.c_type]

    @property
    def python_type(self) -> type:
        """Type in the Python function."""
        return {"int64_t": int, "double": float, "bool": bool}[self.c_type]


@dataclass(frozen=True)
class KernelTensor:
    """An input or output of the OpDef, and the API argument that it stands for."""

    name: str
    arg: str
    optional: bool = False  # what the OpDef says; the API always passes it


@dataclass(frozen=True)
class KernelAttr:
    """An attribute of the OpDef made from an API attribute.

    ``type`` is ListInt, Int, Float, Bool or String; a String takes its text from ``choices`` by
    the API's
    number, and the OpDef's default for any other number.
    """

    name: str
    arg: str
    type: str
    choices: tuple[str, ...] = ()
    default: str = ""
