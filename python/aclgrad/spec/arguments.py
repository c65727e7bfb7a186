# SPDX-License-Identifier: Apache-2.0
"""Arguments of an operator: of its API, and of the OpDef behind it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from aclgrad.spec import naming
from aclgrad.spec.call import AttrValue
from aclgrad.spec.dtypes import DType


@dataclass(frozen=True)
class Tensor:
    """A tensor argument of the API. ``dtypes`` is for those that do not follow the operator's
    table.
    """

    name: str
    doc: str
    out: bool = False
    dtypes: tuple[DType, ...] = ()
    unused: bool = False  # checked for null, never read: any shape and dtype will do

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
