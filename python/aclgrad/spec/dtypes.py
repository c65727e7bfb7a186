# SPDX-License-Identifier: Apache-2.0
"""The dtypes of the aclnn interface and their spellings in NumPy, ACL, GE and Ascend C."""

import re
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from aclgrad.common import lazy

Array = NDArray[np.generic]
"""An array of any dtype. What is computed with one first takes a dtype that is known."""


@dataclass(frozen=True)
class DType:
    """One dtype. ``label`` is the spelling of the aclnn documents, ``name`` NumPy's."""

    label: str
    name: str
    acl: int
    device: str = ""  # Ascend C type; empty when no kernel of this project takes it
    alias: str = ""
    packed: bool = False  # two elements a byte in memory, one a byte in NumPy

    @property
    def ge(self) -> str:
        """Enumerator in ge::DataType."""
        return f"DT_{self.label}"

    @cached_property
    def numpy(self) -> np.dtype[np.generic]:
        """NumPy dtype."""
        if self.name in ("bfloat16", "int4"):
            # Imported on use: code generation must run on a Python that has only Jinja2 and NumPy.
            kind = getattr(lazy.module("ml_dtypes"), self.name)
            dtype: np.dtype[np.generic] = np.dtype(kind)
            return dtype
        return np.dtype(self.name)

    @property
    def kind(self) -> str:
        """NumPy's letter for its kind of numbers, which is no other for int4 than for int8."""
        return "i" if self.packed else self.numpy.kind

    def nbytes(self, count: int) -> int:
        """Bytes of memory that so many elements take."""
        return (count + 1) // 2 if self.packed else count * int(self.numpy.itemsize)


FLOAT = DType("FLOAT", "float32", 0, "float", "fp32")
FLOAT16 = DType("FLOAT16", "float16", 1, "half", "fp16")
BF16 = DType("BF16", "bfloat16", 27, "bfloat16_t", "bf16")
BOOL = DType("BOOL", "bool", 12, "bool")
INT8 = DType("INT8", "int8", 2)
INT32 = DType("INT32", "int32", 3)
DOUBLE = DType("DOUBLE", "float64", 11, "", "fp64")

CASTABLE = (
    FLOAT,
    FLOAT16,
    BF16,
    BOOL,
    DOUBLE,
    INT8,
    DType("INT16", "int16", 6),
    INT32,
    DType("INT64", "int64", 9),
    DType("UINT8", "uint8", 4),
    DType("UINT16", "uint16", 7),
    DType("UINT32", "uint32", 8),
    DType("UINT64", "uint64", 10),
    DType("COMPLEX64", "complex64", 16),
    DType("COMPLEX128", "complex128", 17),
)
"""Dtypes that l0op::Cast converts a floating-point result to."""

INT4 = DType("INT4", "int4", 29, packed=True)

UNCASTABLE = (
    DType("STRING", "object", 13),
    INT4,
    DType("UINT1", "uint8", 30),
    DType("COMPLEX32", "complex64", 33),
)
"""Dtypes an aclTensor may have, but that no cast reaches. But for int4, which ml_dtypes has, their
NumPy names only stand in for a layout.
"""

_BY_LABEL = {dtype.label: dtype for dtype in CASTABLE + UNCASTABLE}
_BY_WORD = {
    word: dtype
    for dtype in (*CASTABLE, INT4)
    for word in (dtype.label.lower(), dtype.name, dtype.alias)
    if word
}


def by_label(label: str) -> DType:
    """Return the dtype the aclnn documents call ``label``."""
    return _BY_LABEL[label]


def by_acl(number: int) -> DType | None:
    """The dtype of a number of ``aclDataType``; none for a number that no tensor has."""
    return next((dtype for dtype in _BY_LABEL.values() if dtype.acl == number), None)


def known(name: str) -> bool:
    """Whether there is an array of a dtype that a definition spells DT_..."""
    return name.removeprefix("DT_") in _BY_LABEL


def numpy_words(text: str) -> str:
    """A message of the library as NumPy users read it: ``float64`` for DT_DOUBLE, shapes in
    parentheses.
    """

    def name(match: re.Match[str]) -> str:
        found = _BY_LABEL.get(match[1])
        return match[1].lower() if found is None or found in UNCASTABLE else found.name

    def shape(match: re.Match[str]) -> str:
        dims = match[2]
        return f"{match[1]}({dims}{',' if dims and ',' not in dims else ''})"

    text = re.sub(r"\bDT_([A-Z]\w*)", name, text)
    return re.sub(r"((?:shapes?|which is|and|with) )\[(\d+(?:, ?\d+)*|)\]", shape, text)


def parse(word: str) -> DType:
    """Return the dtype a user wrote: ``bf16``, ``bfloat16``, ``FLOAT``, ..."""
    try:
        return _BY_WORD[word.lower()]
    except KeyError:
        known = ", ".join(dtype.alias or dtype.name for dtype in CASTABLE)
        raise ValueError(f"dtype: got {word!r}, want one of {known}") from None


_BY_NUMPY: dict[object, DType] = {}


def is_known(dtype: np.dtype[np.generic]) -> bool:
    """Whether `of_array` has been asked for a NumPy dtype before and knew it."""
    return dtype in _BY_NUMPY


def of_array(dtype: object) -> DType:
    """Return the dtype of a NumPy array."""
    if isinstance(dtype, np.dtype) and dtype in _BY_NUMPY:
        return _BY_NUMPY[dtype]
    name = np.dtype(dtype).name  # type: ignore[call-overload]
    try:
        return _BY_NUMPY.setdefault(np.dtype(dtype), _BY_WORD[name])  # type: ignore[call-overload]
    except KeyError:
        raise ValueError(
            f"array dtype: got {name}, want one of {', '.join(dtype.name for dtype in CASTABLE)}; "
            "convert it with ndarray.astype"
        ) from None


def kind_of(dtype: np.dtype[np.generic]) -> str:
    """NumPy's letter for a kind of numbers; int4, which NumPy lacks, is among the integers."""
    return "i" if dtype.name == INT4.name else dtype.kind


def bytes_of(array: Array) -> int:
    """Memory that a tensor of an array's elements takes."""
    return of_array(array.dtype).nbytes(array.size)


def in_memory(array: Array) -> Array:
    """A contiguous array as the device has it: itself, but int4 two elements a byte, the first of
    them in the lower half. A last one alone has zeros beside it.
    """
    if array.dtype.name != INT4.name:
        return array
    halves = array.reshape(-1).astype(np.int8).view(np.uint8) & 15
    halves = np.concatenate([halves, np.zeros(halves.size % 2, np.uint8)])
    return halves[::2] | halves[1::2] << 4


def from_memory(stored: NDArray[np.uint8], count: int) -> Array:
    """The int4 elements of what `in_memory` gave."""
    halves = np.stack([stored & 15, stored >> 4], -1).reshape(-1)[:count]
    # A sign in bit 3.
    return ((halves.view(np.int8) ^ 8) - 8).astype(INT4.numpy)
