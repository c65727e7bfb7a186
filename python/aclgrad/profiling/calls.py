# SPDX-License-Identifier: Apache-2.0
"""Profiles one call: of an operator of the package, or of an operator project."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from aclgrad.findings import errors_of
from aclgrad.profiling.profiled import Profiled, ProfileError, changes_of, lines_of
from aclgrad.runtime.device import Device
from aclgrad.spec.call import AttrValue
from aclgrad.spec.dtypes import DType, bytes_of
from aclgrad.spec.op_spec import OpSpec

if TYPE_CHECKING:
    from aclgrad.running.operand_words import Tensors


_KEPT = 4  # launches of which a device keeps the instructions


@contextmanager
def profiling(device: Device) -> Iterator[None]:
    """Estimate the launches inside; `Device.profiles` has them afterwards."""
    before = {name: device.option(name) or "" for name in ("mode", "profile")}
    device.clear_profiles()
    device.set_option("mode", "fast")  # the checks do not change the estimate
    device.set_option("profile", "on")
    try:
        yield
    finally:
        for name, value in before.items():
            device.set_option(name, value)


def _collect(device: Device, name: str, shape: str, dtype: str, floor: tuple[int, int]) -> Profiled:
    launches = device.profiles()
    if not launches:
        raise ProfileError(
            f"{name} {shape} {dtype}: nothing was launched, so there is nothing to time: the"
            " tensors are empty. Next: give a shape without a dim of 0"
        )
    found = Profiled(name, shape, dtype, str(launches[0]["soc"]), launches, *floor, by=device)
    found.kept = tuple(range(max(0, len(launches) - _KEPT), len(launches)))
    if found.main in found.kept:
        found.lines = lines_of(device, found.main)
        found.changes = changes_of(device, found.main)
    return found


def profile_op(
    device: Device,
    spec: OpSpec,
    shape: tuple[int, ...],
    dtype: DType,
    attrs: Mapping[str, AttrValue],
) -> Profiled:
    """Estimate one of the package's operators on contiguous tensors of one shape."""
    from aclgrad.testing.run import execute, floor_parts
    from aclgrad.testing.selection import shape_case

    case = replace(shape_case(spec, shape, dtype, attrs), values="zero")
    dims = "x".join(map(str, shape)) or "scalar"
    floor = floor_parts(spec, case)
    _check_memory(f"{spec.op} {dims} {dtype.alias}", sum(floor))
    device.clear_findings()
    with profiling(device):
        execute(device, spec, case)
    faults = tuple(errors_of(device.findings()))
    changed = [f"{k}={v}" for k, v in attrs.items() if v != spec.defaults()[k]]
    found = _collect(device, spec.op, dims, dtype.alias, floor)
    found.faults = faults
    found.note = " ".join(changed)
    return found


def _check_memory(what: str, tensors: int) -> None:
    # Host and device copies of each tensor are there at the same time.
    there = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if 2 * tensors > there:
        raise ProfileError(
            f"{what}: the tensors have {tensors:,} bytes, this machine's memory {there:,}. Next: a"
            " smaller shape; beyond L2's size the time grows with the bytes"
        )


def profile_sources(
    path: str,
    inputs: Sequence[Tensors],
    attrs: Sequence[str] = (),
    *,
    soc: str | None = None,
    outputs: Sequence[str] = (),
    device: Device | None = None,
    **launch: Any,
) -> Profiled:
    """Estimate an operator that comes as sources, as ``aclgrad run PATH`` would run it: ``inputs``
    are the tensors of each parameter, ``attrs`` are NAME=VALUE words. A kernel file without op_host
    takes ``blocks``, ``tiling``, ``tiling_key`` and ``workspace`` besides.
    """
    from aclgrad.running import kernel_file, operator_call
    from aclgrad.runtime import open_device
    from aclgrad.spec import dtypes
    from aclgrad.spec.soc import chosen

    opened = device or open_device()
    name = chosen(soc)
    alone = kernel_file.find(path)
    if alone is None and launch:
        raise ProfileError(
            f"--{next(iter(launch)).replace('_', '-')}: {path} comes with op_host, whose tiling"
            " decides that. Next: leave it out"
        )
    with profiling(opened):
        if alone is not None:
            result = kernel_file.run_kernel(
                alone, inputs, outputs, attrs, soc=name, open_device=lambda: opened, **launch
            )
        else:
            result = operator_call.run(
                path, inputs, attrs, soc=name, outputs=outputs, open_device=lambda: opened
            )
    given = [array for param in inputs for array in param]
    floor = sum(map(bytes_of, given)), sum(map(bytes_of, result.outputs.values()))
    shapes = " ".join("x".join(map(str, array.shape)) or "scalar" for array in given)
    if len({array.shape for array in given}) == 1:
        shapes = shapes.split()[0]
    named = [dtypes.parse(array.dtype.name) for array in given]
    kinds = ",".join(dict.fromkeys(kind.alias or kind.name for kind in named))
    found = _collect(opened, result.op, shapes, kinds, floor)
    found.faults = result.findings
    found.note = " ".join([*attrs, *(f"{key}={value}" for key, value in launch.items())])
    return found


def sources_inputs(path: str, words: Sequence[str], dtype: DType, soc: str) -> list[Tensors]:
    """Tensors of zeros for the inputs of an operator that comes as sources: ``SHAPE[:DTYPE]`` per
    input, several with commas between for a list, one word for all of an operator, or ``-`` for an
    optional input that is absent.
    """
    from aclgrad.running import kernel_file, operator_call
    from aclgrad.running.operand_words import ABSENT
    from aclgrad.spec import dtypes
    from aclgrad.testing.user_data import parse_shape

    if len(words) == 1 and kernel_file.find(path) is None:
        op = operator_call.located(path, soc)[2]
        words = list(words) * sum(item.kind != "optional" for item in op.inputs)
    found: list[Tensors] = []
    for word in words:
        if word == ABSENT:
            found.append([])
            continue
        parts = word.split(",")
        if not all("x" in part.lower() or ":" in part for part in parts):
            parts = [word]  # 2,8192 is another way to write 2x8192
        tensors = [part.partition(":") for part in parts]
        found.append(
            [
                np.zeros(parse_shape(shape), (dtypes.parse(kind) if kind else dtype).numpy)
                for shape, _, kind in tensors
            ]
        )
    return found
