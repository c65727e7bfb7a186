# SPDX-License-Identifier: Apache-2.0
"""Handles of one call of an aclnn function: tensors, lists, arrays, scalars."""

from __future__ import annotations

import ctypes as c
from collections.abc import Sequence
from typing import Any

import numpy as np

from aclgrad.errors import AclnnError
from aclgrad.project.words import Array
from aclgrad.runtime.device import Device
from aclgrad.runtime.memory import Buffer, Tensor, storage_of
from aclgrad.spec import dtypes
from aclgrad.spec.call import TensorDesc, row_major


class Call:
    """One call's handles; all are given back at the end."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self.nnopbase = device.libraries.nnopbase
        self.keep: list[Any] = []
        self.handles: list[tuple[str, int]] = []

    def tensor(self, array: Array) -> tuple[Tensor, Buffer]:
        storage, desc = storage_of(array)
        buffer = self.device.upload(storage)
        tensor = self.device.tensor(desc, buffer.address)
        self.keep += [tensor, buffer]
        return tensor, buffer

    def empty(self, shape: Sequence[int], dtype: dtypes.DType) -> tuple[Tensor, Buffer]:
        desc = TensorDesc(tuple(shape), dtype, row_major(shape))
        buffer = self.device.buffer(desc.size * dtype.numpy.itemsize)
        tensor = self.device.tensor(desc, buffer.address)
        self.keep += [tensor, buffer]
        return tensor, buffer

    def _make(self, what: str, *args: Any) -> int:
        function = getattr(self.nnopbase, f"aclCreate{what}")
        function.restype = c.c_void_p
        handle = function(*args)
        if not handle:
            raise AclnnError(161001, function.__name__, self.device.libraries.recent_message())
        self.handles.append((what, int(handle)))
        return int(handle)

    def tensor_list(self, tensors: Sequence[Tensor]) -> int:
        """Make a list; it owns its tensors from here on."""
        handles = (c.c_void_p * max(len(tensors), 1))(*(tensor.handle for tensor in tensors))
        handle = self._make("TensorList", handles, c.c_uint64(len(tensors)))
        for tensor in tensors:
            tensor.detach()
        return handle

    def array(self, kind: str, values: Sequence[Any]) -> int:
        """Make an aclIntArray, aclFloatArray or aclBoolArray."""
        element: Any = {"Int": c.c_int64, "Float": c.c_float, "Bool": c.c_bool}[kind]
        data = (element * max(len(values), 1))(*values)
        return self._make(f"{kind}Array", data, c.c_uint64(len(values)))

    def scalar(self, array: Array) -> int:
        """Make an aclScalar of an array's first element."""
        data = np.ascontiguousarray(array.reshape(-1)[:1])
        self.keep.append(data)
        kind = dtypes.of_array(array.dtype).acl
        return self._make("Scalar", c.c_void_p(data.ctypes.data), kind)

    def scalar_list(self, array: Array) -> int:
        """Make an aclScalarList of an array's elements; it owns them from here on."""
        count = array.size
        scalars = [self.scalar(array.reshape(-1)[at : at + 1]) for at in range(count)]
        del self.handles[len(self.handles) - count :]
        return self._make("ScalarList", (c.c_void_p * max(count, 1))(*scalars), c.c_uint64(count))

    def close(self) -> None:
        """Give everything back."""
        for what, handle in self.handles:
            getattr(self.nnopbase, f"aclDestroy{what}")(c.c_void_p(handle))
        for item in self.keep:
            if isinstance(item, Tensor):
                item.destroy()
            elif isinstance(item, Buffer):
                item.free()
