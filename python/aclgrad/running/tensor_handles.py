# SPDX-License-Identifier: Apache-2.0
"""Handles of one call of an aclnn function: tensors, lists, arrays, scalars."""

from __future__ import annotations

import ctypes as c
import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from aclgrad.common import host_memory
from aclgrad.errors import AclnnError
from aclgrad.reading.aclnn_functions import Argument, Function
from aclgrad.reading.sources import SourcesError
from aclgrad.running.operand_words import _ZEROS, Tensors
from aclgrad.runtime.device import Device
from aclgrad.runtime.memory import Buffer, Tensor, storage_of
from aclgrad.spec import dtypes
from aclgrad.spec.call import TensorDesc, row_major
from aclgrad.spec.definition import AttrDef, Definition, Value
from aclgrad.spec.dtypes import Array

_C_TYPES: dict[str, Callable[..., object]] = {
    "int64_t": c.c_int64,
    "int32_t": c.c_int32,
    "int": c.c_int,
    "int16_t": c.c_int16,
    "int8_t": c.c_int8,
    "uint64_t": c.c_uint64,
    "uint32_t": c.c_uint32,
    "float": c.c_float,
    "double": c.c_double,
    "bool": c.c_bool,
}

Made = tuple[Tensor, Buffer, tuple[int, ...], dtypes.DType]
"""A tensor of a call, with its memory, shape and dtype."""


class Call:
    """One call's handles; all are given back at the end."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self.nnopbase = device.libraries.nnopbase
        self.keep: list[object] = []
        self.handles: list[tuple[str, int]] = []

    def tensor(self, array: Array) -> tuple[Tensor, Buffer]:
        """A tensor with an array's values."""
        storage, desc = storage_of(array)
        buffer = self.device.upload(storage)
        tensor = self.device.tensor(desc, buffer.address)
        self.keep += [tensor, buffer]
        return tensor, buffer

    def empty(self, shape: Sequence[int], dtype: dtypes.DType) -> tuple[Tensor, Buffer]:
        """A tensor whose memory nobody has written."""
        desc = TensorDesc(tuple(shape), dtype, row_major(shape))
        buffer = self.device.buffer(dtype.nbytes(desc.size))
        tensor = self.device.tensor(desc, buffer.address)
        self.keep += [tensor, buffer]
        return tensor, buffer

    def _make(self, what: str, *args: object) -> int:
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

    def array(self, kind: str, values: Sequence[Value]) -> int:
        """Make an aclIntArray, aclFloatArray or aclBoolArray."""
        size = max(len(values), 1)
        made: dict[str, Callable[..., object]] = {
            "Int": c.c_int64 * size,
            "Float": c.c_float * size,
            "Bool": c.c_bool * size,
        }
        return self._make(f"{kind}Array", made[kind](*values), c.c_uint64(len(values)))

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

    def shape_of(self, tensor: Tensor) -> tuple[int, ...]:
        """The shape that a tensor has now: a kernel may have written another one."""
        dims, rank = c.POINTER(c.c_int64)(), c.c_uint64(0)
        code = self.nnopbase.aclGetViewShape(
            c.c_void_p(tensor.handle), c.byref(dims), c.byref(rank)
        )
        self.device.libraries.check(code, "aclGetViewShape")
        shape = tuple(dims[: rank.value])
        # The caller owns the dims, which come of new[]. A sanitizer's delete[] comes before that of
        # libstdc++, as it does for programs in C++.
        everywhere = c.CDLL(None)
        known = hasattr(everywhere, "_ZdaPv")
        delete = (everywhere if known else c.CDLL("libstdc++.so.6"))["_ZdaPv"]
        delete.argtypes, delete.restype = [c.c_void_p], None
        delete(dims)
        return shape

    def close(self) -> None:
        """Give everything back."""
        for what, handle in self.handles:
            getattr(self.nnopbase, f"aclDestroy{what}")(c.c_void_p(handle))
        for item in self.keep:
            if isinstance(item, Tensor):
                item.destroy()
            elif isinstance(item, Buffer):
                item.free()


def _output(
    call: Call, initial: Array | None, shape: tuple[int, ...], dtype: dtypes.DType
) -> tuple[Tensor, Buffer]:
    if initial is None:
        return call.empty(shape, dtype)
    return call.tensor(np.ascontiguousarray(initial, dtype.numpy))


def outputs(
    call: Call,
    op: Definition,
    shapes: Sequence[Sequence[tuple[tuple[int, ...], dtypes.DType]]],
    initial: Sequence[Array | None],
) -> dict[str, list[Made]]:
    """Memory for the outputs that are not inputs as well, by name."""
    begun = iter(initial)
    in_names = {item.name for item in op.inputs}
    wanted = {
        item.name: outs
        for item, outs in zip(op.outputs, shapes, strict=True)
        if item.name not in in_names
    }
    nbytes = [dtype.nbytes(math.prod(shape)) for outs in wanted.values() for shape, dtype in outs]
    host_memory.need(sum(nbytes), "the outputs")
    return {
        name: [(*_output(call, next(begun, None), *out), *out) for out in outs]
        for name, outs in wanted.items()
    }


def refuse_untaken(
    op: Definition,
    function: Function,
    inputs: Sequence[Tensors],
    attrs: Mapping[str, Value],
) -> None:
    """What a function by hand has no argument for must be as it is left out."""
    for index, attr in enumerate(op.attrs):
        value = attrs[attr.name]
        if function.attr(index) is None and value not in (None, attr.default):
            raise SourcesError(
                f"{op.type}: {function.name} does not take {attr.name}, got {value!r}. Next:"
                " leave it out"
            )
    taken = {a.index for a in function.arguments if a.source == "input"}
    for index, (item, param) in enumerate(zip(op.inputs, inputs, strict=True)):
        if param and item.kind == "optional" and index not in taken:
            raise SourcesError(
                f"{op.type}: {function.name} does not take {item.name}. Next: - in its place"
            )


def attribute(call: Call, attr: AttrDef, value: Value, argument: Argument) -> object:
    """An attribute as a function takes it: a list of one number may be a number."""
    if value is None and argument.type in _C_TYPES:
        value = _ZEROS.get(attr.kind, 0)
    if argument.type in _C_TYPES:
        one = value[0] if isinstance(value, (list, tuple)) and len(value) == 1 else value
        if isinstance(one, (list, tuple)):
            raise SourcesError(f"{attr.name}: the aclnn function takes one number, got {len(one)}")
        return _C_TYPES[argument.type](one)
    if value is None:
        return None
    if argument.type == "char":
        return c.c_char_p(str(value).encode())
    if argument.type == "aclScalar":
        return c.c_void_p(call.scalar(scalar_of(attr.kind, value)))
    kind = argument.type.removeprefix("acl").removesuffix("Array")
    return c.c_void_p(call.array(kind, value if isinstance(value, (list, tuple)) else [value]))


def scalar_of(kind: str, value: Value) -> Array:
    """What is in the aclScalar of an attribute."""
    kinds: dict[str, type[np.generic]] = {"Int": np.int64, "Float": np.float32, "Bool": np.bool_}
    return np.asarray(value, kinds[kind])


def tensors(
    call: Call,
    function: Function,
    op: Definition,
    index: int,
    param: Tensors,
    argument: Argument,
    made: dict[str, list[Made]],
) -> object:
    """An input as an argument of an aclnn function; ``made`` gets the tensors that it has."""
    item = op.inputs[index]
    if not param and item.kind == "dynamic" and function.by_hand is None:
        return c.c_void_p(call.tensor_list([]))  # CANN's own functions want a list
    if not param:
        return None
    if argument.type == "aclScalar":
        if not item.scalar and param[0].size != 1:
            raise AclnnError(
                161002,
                f"{function.name}GetWorkspaceSize",
                f"{item.name}: got {param[0].size} elements, want one number",
            )
        return c.c_void_p(call.scalar(param[0]))
    if argument.type == "aclScalarList":
        return c.c_void_p(call.scalar_list(param[0]))
    if argument.type.endswith("Array"):
        kind = argument.type.removeprefix("acl").removesuffix("Array")
        return c.c_void_p(call.array(kind, param[0].reshape(-1).tolist()))
    if item.name in {out.name for out in op.outputs}:
        param = [np.asarray(array, order="C") for array in param]  # read back as a whole
    entries = [(*call.tensor(array), array.shape, dtypes.of_array(array.dtype)) for array in param]
    made[item.name] = entries
    made_here = [entry[0] for entry in entries]
    listed = argument.type == "aclTensorList"
    return c.c_void_p(call.tensor_list(made_here) if listed else made_here[0].handle)
