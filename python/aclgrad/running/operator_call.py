# SPDX-License-Identifier: Apache-2.0
"""Runs an operator that was built from its sources, through its aclnn functions."""

from __future__ import annotations

import ctypes as c
import itertools
import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from aclgrad.building import operator_build
from aclgrad.common.files import writing
from aclgrad.errors import AclnnError
from aclgrad.findings import ERROR, Finding
from aclgrad.reading.aclnn_functions import Function
from aclgrad.reading.layout import locate
from aclgrad.reading.sources import Sources, SourcesError
from aclgrad.running import guarded_call, tensor_handles
from aclgrad.running.isolation import enter
from aclgrad.running.operand_words import (
    OutputWord,
    Tensors,
    choose_any_row,
    choose_row,
    initial_outputs,
    parse_attrs,
)
from aclgrad.running.tensor_handles import Call, Made
from aclgrad.runtime import open_device as open_sim
from aclgrad.runtime import packages
from aclgrad.runtime.device import Device
from aclgrad.runtime.host_functions import HostTensor, infer_shape
from aclgrad.spec import dtypes
from aclgrad.spec.definition import Definition, Registered, Value
from aclgrad.spec.dtypes import Array
from aclgrad.spec.naming import snake_case
from aclgrad.spec.soc import chosen, family_of


@dataclass(frozen=True)
class Outputs:
    """What a call gives: arrays by name; of an output that is a list, name_0, name_1, .."""

    op: str
    outputs: dict[str, Array]
    findings: tuple[Finding, ...] = ()  # errors that the checks found and that did not end the run
    hints: tuple[Finding, ...] = ()


def flat(result: Outputs) -> Array:
    """All outputs as one array, by which two runs are compared."""
    arrays = [np.ascontiguousarray(array).reshape(-1) for array in result.outputs.values()]
    if len({array.dtype for array in arrays}) == 1:
        return np.concatenate(arrays)
    return np.concatenate([np.empty(0, np.uint8), *(array.view(np.uint8) for array in arrays)])


def by_severity(found: Sequence[Finding]) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
    """The errors among findings, and the hints."""
    errors = tuple(item for item in found if item.severity == ERROR)
    return errors, tuple(item for item in found if item.severity != ERROR)


def infer(
    device: Device,
    host: Path,
    op: Definition,
    inputs: Sequence[Tensors],
    attrs: Mapping[str, Value],
    counts: Sequence[int],
) -> list[list[tuple[tuple[int, ...], int]]]:
    """Shapes and dtypes of the outputs by the operator's own inference."""
    if not op.infer_shape:
        raise SourcesError(
            f"{op.type}: op_host has no shape inference. Next: say --outputs, e.g. --outputs"
            " 2x8:fp32"
        )
    device.libraries.call("aclrtSetDevice", 0)
    tensors: list[list[HostTensor]] = [
        [
            (
                array.shape,
                dtypes.of_array(array.dtype),
                array if item.value_depend or index in op.inference_reads else None,
            )
            for array in param
        ]
        for index, (param, item) in enumerate(zip(inputs, op.inputs, strict=True))
    ]
    with packages.first(packages.root_of(host)):
        return infer_shape(device.libraries, op.type, tensors, counts, op.attrs, attrs)


def main_of(ops: Sequence[Definition], sources: Sources) -> Definition:
    """The operator that a folder is named after, or the first."""
    return next((op for op in ops if snake_case(op.type) == sources.root.name), ops[0])


def pick(ops: Sequence[Definition], sources: Sources) -> Definition:
    """The operator that a folder is named after, or its only one."""
    main = main_of(ops, sources)
    if len(ops) > 1 and snake_case(main.type) != sources.root.name:
        names = ", ".join(op.type for op in ops)
        raise SourcesError(
            f"{sources}: holds {len(ops)} operators: {names}. Next: --op {ops[0].type}"
        )
    return main


def located(
    word: str | Path, soc: str, jobs: int = 0
) -> tuple[operator_build.Builder, Registered, Definition]:
    """What builds the operator that a path names, what its op_host registers, its definition."""
    builder = operator_build.Builder(locate(word), family_of(soc), jobs=jobs)
    described = builder.build_host()
    ops = operator_build.runnable(described, builder.sources, builder.soc)
    return builder, described, pick(ops, builder.sources)


def run(
    word: str | Path,
    inputs: Sequence[Tensors],
    attr_words: Sequence[str] = (),
    *,
    soc: str | None = None,
    outputs: Sequence[str] = (),
    jobs: int = 0,
    open_device: Callable[[], Device] = open_sim,
) -> Outputs:
    """Build what the inputs' dtypes need and compute the outputs on the simulator."""
    name = chosen(soc)
    builder, described, op = located(word, name, jobs)
    given = [*inputs, *([[]] * (len(op.inputs) - len(inputs)))]
    _check_inputs(op, inputs, given)
    attrs = parse_attrs(op, attr_words)
    builder.build_api([op])
    rows = builder.combinations(op)
    if builder.function_of(op).by_hand:
        # It may take more than its kernels do, and run another one than the inputs say.
        row = choose_any_row(rows, given)
    else:
        row = choose_row(op, rows, given)
    if row in rows:
        builder.build_all([builder.kernel(op, row)], described)
    builder.drop_stale(op)

    os.environ["ASCEND_CUSTOM_OPP_PATH"] = str(builder.package)
    device = open_device()
    device.set_option("soc", name)
    shapes, initial = initial_outputs(outputs)
    return call(device, builder, op, row, given, attrs, shapes, initial)


def call(
    device: Device,
    builder: operator_build.Builder,
    op: Definition,
    row: Sequence[str],
    inputs: Sequence[Tensors],
    attrs: Mapping[str, Value],
    outputs: Sequence[OutputWord] = (),
    initial: Sequence[Array | None] = (),
) -> Outputs:
    """Compute the outputs of an operator that is built; a tensor list or none per input. What
    ``initial`` has of an output is there before the launch.
    """
    device.clear_findings()
    out_types = [dtypes.by_label(name.removeprefix("DT_")) for name in row[len(inputs) :]]
    shapes = _output_shapes(device, builder, op, inputs, attrs, outputs, out_types)
    names = [item.name for item, outs in zip(op.outputs, shapes, strict=True) for _ in outs]
    begun = [name for name, array in zip(names, initial, strict=False) if array is not None]
    if not begun:
        return _execute(device, builder, op, inputs, attrs, shapes)
    # Nothing may be put in their place to see what the kernel leaves out.
    partial = device.option("partial_outputs") or "none"
    others = [] if partial == "none" else [partial]
    device.set_option("partial_outputs", ",".join([*(f"={name}" for name in begun), *others]))
    try:
        return _execute(device, builder, op, inputs, attrs, shapes, initial)
    finally:
        device.set_option("partial_outputs", partial)


def _check_inputs(op: Definition, inputs: Sequence[Tensors], given: Sequence[Tensors]) -> None:
    names = " ".join(
        f"{item.name}.npy" if item.kind != "optional" else f"[{item.name}.npy|-]"
        for item in op.inputs
    )
    if len(inputs) > len(op.inputs):
        raise SourcesError(
            f"{op.type}: got {len(inputs)} inputs, want {len(op.inputs)}. Next: --inputs {names}"
        )
    for item, param in zip(op.inputs, given, strict=True):
        if item.kind != "optional" and not param:
            raise SourcesError(f"{op.type}: input {item.name} is missing. Next: --inputs {names}")
        if item.kind != "dynamic" and len(param) > 1:
            raise SourcesError(
                f"{op.type}: input {item.name} is one tensor, got {len(param)}. Next:"
                f" --inputs {names}"
            )


def _output_shapes(
    device: Device,
    builder: operator_build.Builder,
    op: Definition,
    inputs: Sequence[Tensors],
    attrs: Mapping[str, Value],
    wanted: Sequence[OutputWord],
    types: Sequence[dtypes.DType],
) -> list[list[tuple[tuple[int, ...], dtypes.DType]]]:
    longest = max(
        (
            len(param)
            for param, item in zip(inputs, op.inputs, strict=True)
            if item.kind == "dynamic"
        ),
        default=1,
    )
    counts = [longest if item.kind == "dynamic" else 1 for item in op.outputs]
    if not op.outputs:
        if wanted:
            raise SourcesError(
                f"{op.type}: has no outputs, got {len(wanted)} --outputs. Next: leave them out;"
                " the inputs that it changes are its results"
            )
        return []
    if wanted:
        if len(wanted) != sum(counts):
            raise SourcesError(
                f"{op.type}: got {len(wanted)} --outputs, want {sum(counts)}:"
                f" {', '.join(item.name for item in op.outputs)}"
            )
        rest = iter(wanted)
        return [
            [(shape, dtype or own) for shape, dtype in itertools.islice(rest, count)]
            for count, own in zip(counts, types, strict=True)
        ]
    inferred = infer(device, builder.host_library, op, inputs, attrs, counts)
    return [
        [(shape, own) for shape, _ in param] for param, own in zip(inferred, types, strict=True)
    ]


def _execute(
    device: Device,
    builder: operator_build.Builder,
    op: Definition,
    inputs: Sequence[Tensors],
    attrs: Mapping[str, Value],
    shapes: Sequence[Sequence[tuple[tuple[int, ...], dtypes.DType]]],
    initial: Sequence[Array | None] = (),
) -> Outputs:
    function = builder.function_of(op)
    call = Call(device)
    try:
        arguments: list[object] = []
        made: dict[str, list[Made]] = {}
        # First what takes memory now: outputs take it where a kernel writes them.
        given = [
            tensor_handles.tensors(call, function, op, item.index, inputs[item.index], item, made)
            for item in function.arguments
            if item.source == "input"
        ]
        fresh = tensor_handles.outputs(call, op, shapes, initial)
        for argument in function.arguments:
            if argument.source == "input":
                arguments.append(given.pop(0))
            elif argument.source == "attr":
                attr = op.attrs[argument.index]
                arguments.append(tensor_handles.attribute(call, attr, attrs[attr.name], argument))
            elif argument.source == "dtype":
                arguments.append(c.c_int(shapes[argument.index][0][1].acl))
            else:
                tensors = [entry[0] for entry in fresh[op.outputs[argument.index].name]]
                listed = argument.type == "aclTensorList"
                handle = call.tensor_list(tensors) if listed else tensors[0].handle
                arguments.append(c.c_void_p(handle))
        tensor_handles.refuse_untaken(op, function, inputs, attrs)
        _two_stages(device, builder, function, arguments)
        arrays: dict[str, Array] = {}
        for item in op.outputs:
            name = item.name
            entries = fresh[name] if name in fresh else made[name]
            for index, (tensor, buffer, shape, dtype) in enumerate(entries):
                if item.shape_from_result and len(entries) == 1:
                    shape = call.shape_of(tensor)
                array = buffer.values(dtype, math.prod(shape))
                arrays[name if len(entries) == 1 else f"{name}_{index}"] = array.reshape(shape)
        if not op.outputs:
            arrays = _changed(op, inputs, made)
        return Outputs(op.type, arrays, *by_severity(device.findings()))
    finally:
        call.close()


def _changed(
    op: Definition, inputs: Sequence[Tensors], made: Mapping[str, Sequence[Made]]
) -> dict[str, Array]:
    """What an operator without outputs has done: the inputs that are not what they were."""
    arrays: dict[str, Array] = {}
    for item, param in zip(op.inputs, inputs, strict=True):
        for index, (entry, before) in enumerate(zip(made.get(item.name, ()), param, strict=False)):
            _, buffer, shape, dtype = entry
            array = buffer.values(dtype, math.prod(shape)).reshape(shape)
            if array.tobytes() != np.ascontiguousarray(before).tobytes():
                arrays[item.name if len(param) == 1 else f"{item.name}_{index}"] = array
    return arrays


def _two_stages(
    device: Device, builder: operator_build.Builder, function: Function, arguments: list[object]
) -> None:
    library = c.CDLL(str(builder.api_library))
    by_hand = f", written by hand in {function.by_hand.name}," if function.by_hand else ""
    size, executor = c.c_uint64(0), c.c_void_p()
    api = function.name
    first = getattr(library, f"{api}GetWorkspaceSize")
    first.restype = c.c_int32
    tried: set[Path] = set()
    while True:
        where = f"{api}: {api}GetWorkspaceSize{by_hand}"
        enter(where.partition(" ")[2].rstrip(","))
        try:
            code = guarded_call.call(
                device.libraries, first, [*arguments, c.byref(size), c.byref(executor)], where
            )
            device.libraries.check(code, f"{api}GetWorkspaceSize")
            break
        except AclnnError as error:
            # By hand it may cast, and launch the kernel of another dtype or of a neighbour.
            found = builder.build_missing(str(error)) if function.by_hand else None
            if found is None or found in tried:
                raise
            tried.add(found)
    enter(f"{api} or in the kernel")
    workspace = device.buffer(size.value)
    try:
        second = getattr(library, api)
        second.restype = c.c_int32
        address = c.c_void_p(workspace.address)
        code = guarded_call.call(
            device.libraries,
            second,
            [address, size, executor, c.c_void_p(device.stream)],
            f"{api}: {api}{by_hand}",
        )
        device.libraries.check(code, api)
        device.synchronize()
    finally:
        workspace.free()
    enter("")


def save(path: Path, result: Outputs) -> None:
    """Write one output as .npy, or all as .npz."""
    if path.suffix != ".npz" and len(result.outputs) != 1:
        raise SourcesError(
            f"--save {path}: {result.op} has {len(result.outputs)} outputs. Next: --save"
            f" {path.with_suffix('.npz')}"
        )
    with writing(path, "--save") as file:
        if path.suffix == ".npz":
            np.savez(file, allow_pickle=False, **result.outputs)
        else:
            np.save(file, next(iter(result.outputs.values())))
