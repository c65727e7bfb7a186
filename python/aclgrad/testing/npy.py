# SPDX-License-Identifier: Apache-2.0
"""Reads .npy files of anybody: the header is judged before a byte is allocated for its claims, and
nothing is ever unpickled.
"""

from __future__ import annotations

import ast
import math
import os
from pathlib import Path
from typing import BinaryIO

import numpy as np

from aclgrad.common import host_memory
from aclgrad.common.files import FileError, reading
from aclgrad.errors import AclgradError
from aclgrad.spec.dtypes import INT4, Array, DType

_MAGIC = b"\x93NUMPY"
_LENGTH_BYTES: dict[tuple[int, ...], int] = {(1, 0): 2, (2, 0): 4, (3, 0): 4}
_LONGEST_HEADER = 4096
"""Headers of plain numbers take 128 bytes; that of a record dtype may be longer, and is refused."""
_MOST_DIMS = 32


def load(path: Path, dtype: DType | None = None) -> Array:
    """Read an array. ``dtype`` is what a file may hold that NumPy writes as opaque bytes."""
    advice = f"save a tensor with numpy.save({str(path)!r}, array)"
    with reading(path, str(path), advice) as file:
        try:
            array = _read(file, path)
        except MemoryError:
            raise FileError(f"{path}: not enough memory for it. Next: free -h") from None
    if array.dtype.kind != "V":
        return array
    # NumPy stores ml_dtypes.int4 as opaque bytes whose upper half is 0.
    if array.dtype.itemsize == 1 and (array.view(np.uint8) < 16).all():
        return array.view(INT4.numpy)
    # NumPy stores ml_dtypes.bfloat16 as two opaque bytes.
    if dtype is None or dtype.numpy.itemsize != array.dtype.itemsize:
        raise FileError(
            f"{path}: dtype {array.dtype.str} does not tell what its numbers are. Next: for"
            " bfloat16 add --dtype bf16"
        )
    return array.view(dtype.numpy)


def _refusal(path: Path, got: str, want: str) -> FileError:
    return FileError(
        f"{path}: not a NumPy .npy file that can be used: {got}, want {want}. Next: save it with"
        " numpy.save"
    )


def _read(file: BinaryIO, path: Path) -> Array:
    start = file.read(len(_MAGIC) + 2)
    if start[:4] == b"PK\x03\x04":
        raise _refusal(path, "got an .npz archive", "one array per .npy file")
    if start[: len(_MAGIC)] != _MAGIC:
        raise _refusal(path, f"it starts with {start[: len(_MAGIC)]!r}", repr(_MAGIC))
    version = tuple(start[len(_MAGIC) :])
    if version not in _LENGTH_BYTES:
        got = ".".join(map(str, version)) or "no version"
        raise _refusal(path, f"got format {got}", "1.0, 2.0 or 3.0")
    descr, fortran, shape = _header(file, path, _LENGTH_BYTES[version])
    kind = _dtype(descr, path)
    count = math.prod(shape)
    needed = count * kind.itemsize
    left = os.fstat(file.fileno()).st_size - file.tell()
    if needed > left:
        what = f"shape {_text(shape)} of {kind.name} takes {needed:,} bytes"
        raise _refusal(path, f"{what}, and the file has {left:,} behind its header", "all of them")
    try:
        host_memory.need(needed, str(path))
    except AclgradError as error:
        raise FileError(str(error)) from None
    array = np.fromfile(file, kind, count)
    if array.size != count:
        raise _refusal(path, f"it ends after {array.size:,} elements", f"{count:,}")
    try:
        array = array.reshape(shape, order="F" if fortran else "C")
    except ValueError as error:
        raise _refusal(path, f"got shape {_text(shape)} ({error})", "dims that fit") from None
    return array if kind.isnative else array.astype(kind.newbyteorder("="))


def _header(file: BinaryIO, path: Path, length_bytes: int) -> tuple[object, bool, tuple[int, ...]]:
    length = int.from_bytes(file.read(length_bytes), "little")
    if length > _LONGEST_HEADER:
        want = f"at most {_LONGEST_HEADER:,}"
        raise _refusal(path, f"its header claims {length:,} bytes", want)
    text = file.read(length)
    if len(text) != length:
        raise _refusal(path, f"it ends within its header, after {len(text)} bytes", f"{length}")
    try:
        header = ast.literal_eval(text.decode("utf-8" if length_bytes == 4 else "latin-1").strip())
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        header = None
    names = {"descr", "fortran_order", "shape"}
    if not isinstance(header, dict) or set(header) != names:
        raise _refusal(
            path, f"its header is {text[:60]!r}", f"a dict of {', '.join(sorted(names))}"
        )
    shape, fortran = header["shape"], header["fortran_order"]
    if not isinstance(shape, tuple) or not all(type(dim) is int for dim in shape):
        raise _refusal(path, f"got shape {str(shape)[:60]}", "a tuple of whole numbers")
    if len(shape) > _MOST_DIMS or any(not 0 <= dim < 2**63 for dim in shape):
        want = f"at most {_MOST_DIMS} dims from 0 to 2^63 - 1"
        raise _refusal(path, f"got shape {_text(shape)}", want)
    if type(fortran) is not bool:
        raise _refusal(path, f"got fortran_order {str(fortran)[:60]}", "True or False")
    return header["descr"], fortran, shape


def _dtype(descr: object, path: Path) -> np.dtype[np.generic]:
    want = "one of plain numbers"
    if not isinstance(descr, str):
        raise _refusal(path, f"got dtype {str(descr)[:60]}", want)
    try:
        kind = np.dtype(descr)
    except (TypeError, ValueError, SyntaxError):
        raise _refusal(path, f"got dtype {descr[:60]!r}", want) from None
    if kind.hasobject:
        raise _refusal(path, "it holds pickled Python objects, which are never read", want)
    if kind.kind not in "biufcV" or kind.names or kind.subdtype or not kind.itemsize:
        raise _refusal(path, f"got dtype {descr[:60]!r}", want)
    return kind


def _text(shape: tuple[int, ...]) -> str:
    text = "x".join(map(str, shape)) or "scalar"
    return text if len(text) <= 60 else f"{text[:57]}..."
