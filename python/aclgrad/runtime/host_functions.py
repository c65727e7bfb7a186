# SPDX-License-Identifier: Apache-2.0
"""Functions of op_host, called alone by the simulator: tiling and the inference of shapes."""

from __future__ import annotations

import ctypes as c
import json
from collections.abc import Mapping, Sequence
from typing import TypedDict

import numpy as np

from aclgrad.common.data import Json
from aclgrad.errors import ToolkitError
from aclgrad.runtime.library import AttrC, Libraries, TensorDescC
from aclgrad.spec.definition import AttrDef, Value, elements, scalar
from aclgrad.spec.dtypes import Array, DType, in_memory

_TEXT = 1 << 20  # bytes of an answer

HostTensor = tuple[Sequence[int], DType, Array | None]
"""A tensor: shape, dtype, and its values where a function reads them."""

Params = Sequence[Sequence[HostTensor]]
"""Tensors of each input or output: none of an optional one that is absent, several of a list."""


class Choice(TypedDict):
    """A layout that a tiling function has tried."""

    layout: str
    when: str
    taken: bool


class _Choices(TypedDict, total=False):
    choices: list[Choice]
    matmul: dict[str, str]


class TilingPlan(_Choices):
    """What a tiling function decides. ``tiling`` has the fields of its data where they are known,
    ``choices`` the layouts that it has tried, ``matmul`` what a TCubeTiling in it says.
    """

    op: str
    soc: str
    blockDim: int
    tilingKey: int
    workspaceBytes: int
    tiling: dict[str, Json]


class HostTensorC(c.Structure):
    """The simulator's aclsimHostTensor."""

    _fields_ = [("desc", TensorDescC), ("data", c.c_void_p)]


def run_tiling(
    libraries: Libraries,
    op_type: str,
    inputs: Params,
    outputs: Params,
    defined: Sequence[AttrDef],
    attrs: Mapping[str, Value],
) -> TilingPlan:
    """What the tiling function of an operator decides. Only the simulator runs it alone."""
    function = libraries.optional(libraries.nnopbase, "aclsimRunTilingOn")
    if function is None:
        raise ToolkitError("tiling: only the simulator runs it alone. Next: use --device sim")
    function.restype = c.c_int32
    keep: list[object] = []  # what the structs point to
    text = c.create_string_buffer(_TEXT)
    code = function(
        op_type.encode(),
        *_tensors_c(inputs, keep),
        *_tensors_c(outputs, keep),
        *_attrs_c(defined, attrs, keep),
        text,
        c.c_size_t(len(text)),
    )
    libraries.check(code, "aclsimRunTilingOn")
    plan: TilingPlan = json.loads(text.value)
    return plan


def infer_shape(
    libraries: Libraries,
    op_type: str,
    inputs: Params,
    counts: Sequence[int],
    defined: Sequence[AttrDef],
    attrs: Mapping[str, Value],
) -> list[list[tuple[tuple[int, ...], int]]]:
    """Shapes and dtypes of the outputs by an operator's inference; ``counts`` are their tensors."""
    keep: list[object] = []
    text = c.create_string_buffer(_TEXT)
    code = libraries.nnopbase.aclsimInferShape(
        op_type.encode(),
        *_tensors_c(inputs, keep),
        (c.c_uint64 * max(len(counts), 1))(*counts),
        c.c_size_t(len(counts)),
        *_attrs_c(defined, attrs, keep),
        text,
        c.c_size_t(len(text)),
    )
    libraries.check(code, f"shape inference of {op_type}")
    return [
        [(tuple(item["shape"]), item["dtype"]) for item in param]
        for param in json.loads(text.value)
    ]


def _tensors_c(params: Params, keep: list[object]) -> tuple[object, object, object]:
    flat = []
    for shape, dtype, values in (tensor for param in params for tensor in param):
        dims = (c.c_int64 * max(len(shape), 1))(*shape)
        keep.append(dims)
        data = None
        if values is not None:
            keep.append(whole := in_memory(np.ascontiguousarray(values)))
            data = whole.ctypes.data
        flat.append(HostTensorC(TensorDescC(dims, len(shape), dtype.acl), data))
    counts = (c.c_uint64 * max(len(params), 1))(*map(len, params))
    return (HostTensorC * max(len(flat), 1))(*flat), counts, c.c_size_t(len(params))


def _attrs_c(
    defined: Sequence[AttrDef], attrs: Mapping[str, Value], keep: list[object]
) -> tuple[object, object]:
    values = []
    for attr in defined:
        value = attrs[attr.name]
        if value is None:
            break  # from here on inference sees the definition's defaults
        values.append(_attr_c(attr.kind, value, keep))
    return (AttrC * max(len(values), 1))(*values), c.c_size_t(len(values))


def _attr_c(kind: str, value: Value, keep: list[object]) -> AttrC:
    if kind == "String":
        return AttrC(3, 0, 0.0, str(value).encode(), None, 0)
    if kind == "ListFloat":
        listed = elements(value)
        reals = (c.c_double * max(len(listed), 1))(*(float(scalar(item)) for item in listed))
        keep.append(reals)
        return AttrC(6, 0, 0.0, None, None, len(listed), reals)
    if kind in ("ListInt", "ListBool", "ListListInt"):
        flat = elements(value)
        if kind == "ListListInt":
            inners = map(elements, flat)
            flat = [number for inner in inners for number in (len(inner), *inner)]
        data = (c.c_int64 * max(len(flat), 1))(*(int(scalar(item)) for item in flat))
        keep.append(data)
        code = {"ListInt": 4, "ListBool": 5, "ListListInt": 7}[kind]
        return AttrC(code, 0, 0.0, None, data, len(flat))
    code = {"Int": 0, "Float": 1, "Bool": 2}[kind]
    one = scalar(value)
    return AttrC(code, int(one) if code != 1 else 0, float(one), None, None, 0)
