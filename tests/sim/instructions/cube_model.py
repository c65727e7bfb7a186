# SPDX-License-Identifier: Apache-2.0
"""What each step of a product does to memory, in NumPy: fractals, loads, Mmad and Fixpipe."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

FRACTAL = 512
ROWS = 16
BLOCK = 32
L0 = 65536


def columns_of(bits: int) -> int:
    """Columns of a fractal, K0."""
    return BLOCK * 8 // bits


def up(value: int, to: int) -> int:
    """The next multiple."""
    return -(-value // to) * to


def to_nz(matrix: Array) -> Array:
    """Rows and columns filled up to whole fractals, columns of K0 one behind the other."""
    k0 = BLOCK // matrix.itemsize
    rows, columns = (up(size, to) for size, to in zip(matrix.shape, (ROWS, k0), strict=True))
    padded = np.zeros((rows, columns), matrix.dtype)
    padded[: matrix.shape[0], : matrix.shape[1]] = matrix
    return padded.reshape(rows, columns // k0, k0).transpose(1, 0, 2).reshape(-1)


def fractals(matrix: Array, order: str) -> Array:
    """``zz`` as L0A has A, ``zn`` as L0B has B."""
    k0 = BLOCK // matrix.itemsize
    if order == "zn":
        matrix = matrix.T
    rows, columns = up(matrix.shape[0], ROWS), up(matrix.shape[1], k0)
    padded = np.zeros((rows, columns), matrix.dtype)
    padded[: matrix.shape[0], : matrix.shape[1]] = matrix
    parts = padded.reshape(rows // ROWS, ROWS, columns // k0, k0)
    axes = (0, 2, 1, 3) if order == "zz" else (2, 0, 1, 3)
    return parts.transpose(axes).reshape(-1)


def packed(matrix: Array, order: str) -> Array:
    """The same of 4-bit numbers, as bytes: the first of two in the lower half."""
    k0 = columns_of(4)
    if order == "zn":
        matrix = matrix.T
    rows, columns = up(matrix.shape[0], ROWS), up(matrix.shape[1], k0)
    padded = np.zeros((rows, columns), np.int8)
    padded[: matrix.shape[0], : matrix.shape[1]] = matrix
    parts = padded.reshape(rows // ROWS, ROWS, columns // k0, k0)
    return nibbles(parts.transpose((0, 2, 1, 3) if order == "zz" else (2, 0, 1, 3)).reshape(-1))


def nibbles(numbers: Array) -> Array:
    """4-bit numbers as bytes."""
    each = numbers.astype(np.uint8) & 15
    return (each[0::2] | each[1::2] << 4).astype(np.uint8)


@dataclass(frozen=True)
class Load2d:
    """LoadData of fractals, by its parameters."""

    start: int = 0
    repeat: int = 1
    stride: int = 1
    gap: int = 0
    transpose: bool = False
    descending: bool = False

    def run(self, l1: Array) -> Array:
        """Bytes of L0."""
        l0 = np.zeros(L0, np.uint8)
        for i in range(self.repeat):
            at = self.start + (-i if self.descending else i) * self.stride
            part = l1[at * FRACTAL : (at + 1) * FRACTAL]
            if self.transpose:
                part = part.view(np.uint16).reshape(ROWS, ROWS).T.reshape(-1).view(np.uint8)
            l0[i * (self.gap + 1) * FRACTAL :][:FRACTAL] = part
        return l0


@dataclass(frozen=True)
class Transposed:
    """LoadDataWithTranspose, by its parameters."""

    bits: int
    start: int = 0
    repeat: int = 1
    stride: int = 1
    gap: int = 0
    fractal_gap: int = 0

    def run(self, l1: Array) -> Array:
        """Bytes of L0: squares of 16 or more rows, transposed."""
        count, side = {8: (2, 32), 16: (1, 16), 32: (2, 16)}[self.bits]
        dtype = {8: np.uint8, 16: np.uint16, 32: np.uint32}[self.bits]
        columns = columns_of(self.bits)
        l0 = np.zeros(L0, np.uint8)
        for i in range(self.repeat):
            at = (self.start + i * self.stride) * count * FRACTAL
            parts = l1[at : at + count * FRACTAL].view(dtype).reshape(count, ROWS, columns)
            square = np.concatenate(parts, axis=1 if self.bits == 32 else 0)
            assert square.shape == (side, side)
            turned = square.T
            for f in range(count):
                part = (
                    turned[:, columns * f : columns * (f + 1)]
                    if self.bits == 32
                    else turned[ROWS * f : ROWS * (f + 1)]
                )
                target = (i * (self.gap + 1) + f * (self.fractal_gap + 1)) * FRACTAL
                l0[target : target + FRACTAL] = (
                    np.ascontiguousarray(part).view(np.uint8).reshape(-1)
                )
        return l0


@dataclass(frozen=True)
class FeatureMap:
    """LoadData of a feature map (NC1HWC0) as img2col makes a matrix of it, and a window of that."""

    h: int
    w: int
    channels: int
    k: int
    m: int
    k_start: int = 0
    m_start: int = 0
    stride: tuple[int, int] = (1, 1)  # w, h
    kernel: tuple[int, int] = (1, 1)  # w, h
    dilation: tuple[int, int] = (1, 1)  # w, h
    pad: tuple[int, int, int, int] = (0, 0, 0, 0)  # left, right, top, bottom
    value: float = 0
    transpose: bool = False
    bits: int = 0  # of an element; 0: as the array has it

    def matrix(self, image: Array) -> Array:
        """All of it: a row for each place of the filter."""
        c0 = columns_of(self.bits or 8 * image.itemsize)
        image = image.reshape(self.channels // c0, self.h, self.w, c0)
        left, right, top, bottom = self.pad
        padded = np.pad(
            image,
            ((0, 0), (top, bottom), (left, right), (0, 0)),
            constant_values=image.dtype.type(self.value),
        )
        kw, kh = self.kernel
        dw, dh = self.dilation
        wo = (self.w + left + right - ((kw - 1) * dw + 1)) // self.stride[0] + 1
        ho = (self.h + top + bottom - ((kh - 1) * dh + 1)) // self.stride[1] + 1
        rows = []
        for y in range(ho):
            for x in range(wo):
                at = padded[
                    :,
                    y * self.stride[1] : y * self.stride[1] + (kh - 1) * dh + 1 : dh,
                    x * self.stride[0] : x * self.stride[0] + (kw - 1) * dw + 1 : dw,
                ]
                rows.append(at.reshape(-1))
        return np.array(rows)

    def window(self, image: Array) -> Array:
        """What the instruction loads."""
        return self.matrix(image)[
            self.m_start : self.m_start + self.m, self.k_start : self.k_start + self.k
        ]


def mmad(a: Array, b: Array, initial: Array | None, step: int) -> Array:
    """Float: per step the sum of the products one after the other, then added; int32: exact."""
    if np.issubdtype(a.dtype, np.integer):
        exact = a.astype(np.int64) @ b.astype(np.int64)
        exact += 0 if initial is None else initial.astype(np.int64)
        return np.clip(exact, -(2**31), 2**31 - 1).astype(np.int32)
    c = np.zeros((a.shape[0], b.shape[1]), np.float32)
    if initial is not None:
        c[:] = initial
    left, right = a.astype(np.float32), b.astype(np.float32)
    for first in range(0, a.shape[1], step):
        total = np.zeros_like(c)
        for k in range(first, min(first + step, a.shape[1])):
            total = total + left[:, k : k + 1] * right[k]
        c = c + total
    return c


def quantise(
    values: Array,
    target: npt.DTypeLike,
    word: Array,
    relu: bool,
) -> Array:
    """By words of parameters, one for each column, as the documents have it."""
    factor = (word & 0xFFFFE000).astype(np.uint32).view(np.float32)
    offset = ((word >> 37) & 0x1FF).astype(np.int64)
    offset = np.where(offset >= 256, offset - 512, offset)
    shift = ((word >> 32) & 15).astype(np.int64)
    shifts = (word >> 36) & 1
    if np.issubdtype(values.dtype, np.integer):
        moved = np.clip(values.astype(np.int64) >> shift, -32768, 32767)
        values = np.where(shifts == 1, moved, values)
    x = values.astype(np.float32)
    y = np.where((x < 0) & relu, np.float32(0), x * factor)
    if np.dtype(target) == np.float16:
        return y.astype(np.float16)
    info = np.iinfo(target)
    whole = np.clip(np.rint(y), -256, 255).astype(np.int64) + offset
    return np.clip(whole, info.min, info.max).astype(target)


def word_of(
    factor: float, offset: int = 0, *, signed: bool = True, shift: int | None = None
) -> int:
    """A parameter of quantisation."""
    bits = int(np.array(factor, np.float32).view(np.uint32)) & 0xFFFFE000
    word = bits | (offset & 0x1FF) << 37 | int(signed) << 46
    return word if shift is None else word | shift << 32 | 1 << 36


def nz_positions(
    rows: int, columns: int, stride: int, width: int, *, split: bool = False
) -> Callable[[int, int], int]:
    """Where Fixpipe to NZ puts an element, in elements; stride in 32 bytes."""
    block = 8 if split else 32 if width == 1 else 16

    def at(row: int, column: int) -> int:
        first = column // block * block
        inside = min(block, columns - first)
        return column // block * stride * BLOCK // width + row * inside + column - first

    assert rows
    return at
