# SPDX-License-Identifier: Apache-2.0
"""Description of one aclnn call, without data: what checks are evaluated on and tests are made
of.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from aclgrad.spec.dtypes import FLOAT, DType
from aclgrad.spec.soc import Family, family

AttrValue = int | float | bool

PRIVATE_FORMATS = {
    "NC1HWC0": 3,
    "FRACTAL_Z": 4,
    "NC1HWC0_C04": 12,
    "FRACTAL_NZ": 29,
    "NDC1HWC0": 32,
    "FRACTAL_Z_3D": 33,
}
"""Formats whose elements do not lie where the dims say."""

FORMATS = {"NCHW": 0, "NHWC": 1, "ND": 2, **PRIVATE_FORMATS}
"""The storage formats that a check or a test names, with their aclFormat values."""

MAX_ELEMENTS = 2**48
"""No tensor has more, and no element lies further from the start of its storage: device addresses
have 48 bits.
"""


def row_major(shape: Sequence[int]) -> tuple[int, ...]:
    """Strides, in elements, of a contiguous tensor."""
    strides = [1] * len(shape)
    for axis in range(len(shape) - 2, -1, -1):
        strides[axis] = strides[axis + 1] * shape[axis + 1]
    return tuple(strides)


@dataclass(frozen=True)
class TensorDesc:
    """What aclCreateTensor is told: strides and offset count elements."""

    shape: tuple[int, ...]
    dtype: DType = FLOAT
    strides: tuple[int, ...] | None = None
    offset: int = 0
    storage: tuple[int, ...] | None = None
    format: str = "ND"

    @property
    def rank(self) -> int:
        """Number of view dims."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements of the view."""
        return math.prod(self.shape)

    @property
    def empty(self) -> bool:
        """Whether any dim is 0. A tensor of rank 0 has one element."""
        return 0 in self.shape

    @property
    def view_strides(self) -> tuple[int, ...]:
        """The strides given, or the row-major ones."""
        return row_major(self.shape) if self.strides is None else self.strides

    @property
    def storage_shape(self) -> tuple[int, ...]:
        """The storage dims given, or the view's."""
        return self.shape if self.storage is None else self.storage

    @property
    def contiguous(self) -> bool:
        """Whether the view is row-major, dims of size 1 aside."""
        if self.size <= 1:
            return True
        expected = row_major(self.shape)
        return all(
            dim == 1 or stride == want
            for dim, stride, want in zip(self.shape, self.view_strides, expected, strict=True)
        )

    @property
    def reach(self) -> tuple[int, int]:
        """First and last place in the storage that a view which is not empty covers."""
        steps = [(dim - 1) * s for dim, s in zip(self.shape, self.view_strides, strict=True)]
        first = self.offset + sum(step for step in steps if step < 0)
        return first, self.offset + sum(step for step in steps if step > 0)

    @property
    def inside_storage(self) -> bool:
        """Whether every element of the view lies in the storage."""
        if self.empty:
            return True
        first, last = self.reach
        return first >= 0 and last < math.prod(self.storage_shape) < 2**63

    @property
    def addressable(self) -> bool:
        """Whether a copy of the view touches nothing but its storage, which memory can hold."""
        if min(self.shape, default=0) < 0 or not self.inside_storage:
            return False
        return self.empty or max(self.size, self.reach[1] + 1) <= MAX_ELEMENTS


@dataclass(frozen=True)
class Call:
    """Arguments of the first stage. A tensor of None is a null pointer."""

    tensors: Mapping[str, TensorDesc | None]
    attrs: Mapping[str, AttrValue] = field(default_factory=dict)
    family: Family = field(default_factory=lambda: family("ascend910b"))
    workspace_size_null: bool = False
    executor_null: bool = False

    def tensor(self, name: str) -> TensorDesc:
        """Return a tensor that an earlier check has found to be there."""
        desc = self.tensors[name]
        if desc is None:
            raise ValueError(f"{name} is a null pointer; check it with NotNull before its shape")
        return desc

    def with_tensor(self, name: str, **changes: object) -> Call:
        """Return this call with fields of one tensor changed."""
        desc = replace(self.tensor(name), **changes)  # type: ignore[arg-type]
        return replace(self, tensors={**self.tensors, name: desc})

    def with_null(self, name: str) -> Call:
        """Return this call with one tensor a null pointer."""
        return replace(self, tensors={**self.tensors, name: None})

    def with_attr(self, name: str, value: AttrValue) -> Call:
        """Return this call with one attribute changed."""
        return replace(self, attrs={**self.attrs, name: value})

    def describe(self) -> str:
        """One line for test ids and failure reports."""
        words = [
            f"{name}=null" if desc is None else f"{name}={list(desc.shape)}{desc.dtype.label}"
            for name, desc in self.tensors.items()
        ]
        words += [f"{name}={value}" for name, value in self.attrs.items()]
        return f"{self.family.name} {' '.join(words)}"


def broadcast(first: tuple[int, ...], second: tuple[int, ...]) -> tuple[int, ...] | None:
    """Shape that both broadcast to, right-aligned; None when they do not."""
    rank = max(len(first), len(second))
    padded = [(1,) * (rank - len(shape)) + shape for shape in (first, second)]
    dims = []
    for a, b in zip(*padded, strict=True):
        if a != b and 1 not in (a, b):
            return None
        dims.append(b if a == 1 else a)
    return tuple(dims)
