# SPDX-License-Identifier: Apache-2.0
"""Device buffers and aclTensor handles that free themselves."""

from __future__ import annotations

import contextlib
import ctypes as c
import mmap
import os
import weakref
from collections import deque
from functools import lru_cache
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from aclgrad.common import host_memory
from aclgrad.errors import AclnnError
from aclgrad.runtime.library import MEMCPY_D2H, MEMCPY_H2D, Libraries
from aclgrad.spec import dtypes
from aclgrad.spec.call import FORMATS, TensorDesc
from aclgrad.spec.dtypes import Array

S = TypeVar("S", bound=np.generic)

NORMAL_ONLY = 2  # ACL_MEM_MALLOC_NORMAL_ONLY


class Buffer:
    """Bytes of device memory; freed with the object."""

    def __init__(self, libraries: Libraries, nbytes: int) -> None:
        host_memory.need(nbytes, "a tensor on the device")
        self._libraries = libraries
        self.nbytes = nbytes
        pointer = c.c_void_p()
        if nbytes:
            libraries.call("aclrtMalloc", c.byref(pointer), nbytes, NORMAL_ONLY)
        self.address = pointer.value
        self._finalizer = weakref.finalize(self, _free, libraries, self.address, os.getpid())

    @classmethod
    def of(cls, libraries: Libraries, array: Array) -> Buffer:
        """Copy a contiguous array to the device."""
        buffer = cls(libraries, array.nbytes)
        buffer.write(array)
        return buffer

    def write(self, array: Array, at: int = 0) -> None:
        """Copy a contiguous array into the buffer, from byte ``at`` on."""
        if array.nbytes:
            self._libraries.call(
                "aclrtMemcpy",
                (self.address or 0) + at,
                self.nbytes - at,
                address_of(array),
                array.nbytes,
                MEMCPY_H2D,
            )

    def read(self, dtype: np.dtype[S]) -> NDArray[S]:
        """Copy the whole buffer back as a flat array."""
        array = new_array(self.nbytes, dtype)
        if array.nbytes:
            self._libraries.call(
                "aclrtMemcpy",
                address_of(array),
                array.nbytes,
                self.address,
                array.nbytes,
                MEMCPY_D2H,
            )
        return array

    def values(self, dtype: dtypes.DType, count: int) -> Array:
        """Copy the first elements back, as a flat array."""
        if dtype.packed:
            return dtypes.from_memory(self.read(np.dtype(np.uint8)), count)
        return self.read(dtype.numpy)[:count]

    def free(self) -> None:
        """Free now instead of with the object."""
        self._finalizer()


_KEPT_FROM = 8 << 20
_kept: deque[mmap.mmap] = deque(maxlen=4)
"""Pages of results that nobody has any more. The system may take them; the next result of about
that size saves the page faults, which take longer than the copy."""


def new_array(nbytes: int, dtype: np.dtype[S]) -> NDArray[S]:
    """Return a flat array that holds anything."""
    host_memory.need(nbytes, "a result")
    if nbytes < _KEPT_FROM:
        return np.empty(nbytes // dtype.itemsize, dtype)
    pages = _pages(nbytes)
    array = np.frombuffer(pages, dtype, nbytes // dtype.itemsize)
    weakref.finalize(array, _keep, pages).atexit = False
    return array


def _pages(nbytes: int) -> mmap.mmap:
    for _ in range(len(_kept)):
        try:
            pages = _kept.popleft()
        except IndexError:  # another thread has it
            break
        if nbytes <= len(pages) <= 2 * nbytes:
            return pages
        _kept.append(pages)
    pages = mmap.mmap(-1, nbytes, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    with contextlib.suppress(OSError):  # only a hint, and not every host knows it
        pages.madvise(mmap.MADV_HUGEPAGE)
    return pages


def _keep(pages: mmap.mmap) -> None:
    with contextlib.suppress(OSError):
        pages.madvise(mmap.MADV_FREE)
        _kept.append(pages)


def address_of(array: Array) -> int:
    """Where an array's elements are; ``array.ctypes`` takes several times as long."""
    address: int = array.__array_interface__["data"][0]
    return address


def _free(libraries: Libraries, address: int | None, owner: int) -> None:
    if address and os.getpid() == owner:  # a forked child has the object and not the memory
        libraries.acl.aclrtFree(address)


def _destroy(libraries: Libraries, handle: int, owner: int) -> None:
    if os.getpid() == owner:
        libraries.nnopbase.aclDestroyTensor(handle)


@lru_cache(maxsize=4096)
def _int64s(values: tuple[int, ...]) -> c.Array[c.c_int64]:
    """An array for calls that only read it."""
    return (c.c_int64 * max(len(values), 1))(*values)


def create_tensor(libraries: Libraries, desc: TensorDesc, address: int | None) -> int:
    """An aclTensor handle, which its owner destroys."""
    storage = desc.storage_shape
    handle = libraries.nnopbase.aclCreateTensor(
        _int64s(desc.shape),
        len(desc.shape),
        desc.dtype.acl,
        None if desc.strides is None else _int64s(desc.strides),
        desc.offset,
        FORMATS[desc.format],
        _int64s(storage),
        len(storage),
        address,
    )
    if not handle:
        raise AclnnError(161001, "aclCreateTensor", libraries.recent_message())
    return int(handle)


class Tensor:
    """An aclTensor on a device address; destroyed with the object."""

    def __init__(self, libraries: Libraries, desc: TensorDesc, address: int | None) -> None:
        self.desc = desc
        self.handle = create_tensor(libraries, desc, address)
        self._finalizer = weakref.finalize(self, _destroy, libraries, self.handle, os.getpid())

    def destroy(self) -> None:
        """Destroy now instead of with the object."""
        self._finalizer()

    def detach(self) -> None:
        """Leave the destruction to whoever owns the handle now."""
        self._finalizer.detach()


@lru_cache(maxsize=4096)
def _dense(shape: tuple[int, ...], dtype: dtypes.DType) -> TensorDesc:
    return TensorDesc(shape, dtype)


def storage_of(array: Array) -> tuple[Array, TensorDesc]:
    """Return an array as a flat storage and a view of it, without a copy where the strides allow
    one.

    The storage is the span of memory that the view touches. Negative strides, strides that are not
    whole elements and
    foreign byte orders are copied, and so is int4, whose storage has two elements a byte.
    """
    dtype = dtypes.of_array(array.dtype)
    if dtype.packed:
        return dtypes.in_memory(array), _dense(array.shape, dtype)
    flags = array.flags
    if flags.c_contiguous and flags.aligned and array.size and array.dtype.isnative:
        return array.reshape(-1), _dense(array.shape, dtype)
    size = array.itemsize
    steps = [stride // size for stride in array.strides]
    if (
        any(stride < 0 or stride % size for stride in array.strides)
        or not array.flags.aligned
        or not array.dtype.isnative
    ):
        array = np.ascontiguousarray(array, dtype.numpy).reshape(array.shape)
        steps = [stride // size for stride in array.strides]
    if array.size == 0:
        return np.empty(0, dtype.numpy), TensorDesc(array.shape, dtype)
    if array.flags.c_contiguous:
        return array.reshape(-1), TensorDesc(array.shape, dtype)
    span = 1 + sum((dim - 1) * step for dim, step in zip(array.shape, steps, strict=True))
    storage = np.lib.stride_tricks.as_strided(array, (span,), (size,))
    return storage, TensorDesc(array.shape, dtype, tuple(steps), 0, (span,))
