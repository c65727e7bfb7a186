# SPDX-License-Identifier: Apache-2.0
"""What scripts of examples take of TensorFlow, by NumPy: a dtype's name, and products of matrices
that a session computes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import TypeAlias

import ml_dtypes
import numpy as np
import numpy.typing as npt

_Array: TypeAlias = npt.NDArray[np.float64]


class _Node:
    """A value that is computed when a session runs, from what was fed."""

    def __init__(self, value: Callable[[Mapping[_Node, _Array]], _Array]) -> None:
        self.value = value


class _Session:
    """Runs one node."""

    def __enter__(self) -> _Session:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def run(self, node: _Node, feed_dict: Mapping[_Node, _Array]) -> _Array:
        """The node's value."""
        return node.value(feed_dict)


def placeholder(dtype: npt.DTypeLike, shape: tuple[int, ...]) -> _Node:
    """A value that is fed, as such an array."""
    node = _Node(lambda fed: np.asarray(fed[node], dtype).reshape(shape))
    return node


def matmul(a: _Node, b: _Node, transpose_a: bool = False, transpose_b: bool = False) -> _Node:
    """The product of two matrices, or of their transposes."""

    def compute(fed: Mapping[_Node, _Array]) -> _Array:
        left, right = a.value(fed), b.value(fed)
        return (left.swapaxes(-1, -2) if transpose_a else left) @ (
            right.swapaxes(-1, -2) if transpose_b else right
        )

    return _Node(compute)


def add(a: _Node, b: _Node) -> _Node:
    """The sum of two."""
    return _Node(lambda fed: a.value(fed) + b.value(fed))


bfloat16 = SimpleNamespace(as_numpy_dtype=ml_dtypes.bfloat16)
compat = SimpleNamespace(
    v1=SimpleNamespace(
        Session=_Session,
        disable_eager_execution=lambda: None,
        placeholder=placeholder,
    )
)
