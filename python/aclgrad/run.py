# SPDX-License-Identifier: Apache-2.0
"""Runs cases of the grid on a device and judges them."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aclgrad.cases import Case, view
from aclgrad.errors import AclnnError
from aclgrad.precision import Report, compare
from aclgrad.runtime import Device
from aclgrad.runtime.memory import Tensor
from aclgrad.spec import Launch, OpSpec

_CANARY = 0xA5
"""Fills the output's storage before a run; bytes outside the view must still hold it afterwards."""


@dataclass(frozen=True)
class Outcome:
    """What became of one case. ``traffic`` is GM bytes moved by the floor, None when it was not
    counted.
    """

    case: Case
    passed: bool
    message: str
    seconds: float
    report: Report | None = None
    traffic: float | None = None
    moved_bytes: int = 0
    floor_bytes: int = 0


def floor_bytes(spec: OpSpec, case: Case) -> int:
    """Least bytes that kernels can move: each input read once, each output written once."""
    like = case.call.tensor(next(step.like for step in spec.lowering if isinstance(step, Launch)))
    sizes = [case.call.tensor(arg.name) for arg in spec.kernel_args] + [like] * len(spec.outputs)
    return sum(desc.size * desc.dtype.numpy.itemsize for desc in sizes)


def execute(
    device: Device, spec: OpSpec, case: Case, seed: int = 0
) -> tuple[NDArray[Any], NDArray[np.uint8]]:
    """Compute one case; return the flat storage of the output and the bytes that were in it
    before.
    """
    storages = case.storages(spec, seed)
    tensors: dict[str, Tensor | None] = {}
    buffers = []
    for arg in spec.input_args:
        buffers.append(device.upload(storages[arg.name]))
        tensors[arg.name] = device.tensor(case.call.tensor(arg.name), buffers[-1].address)
    name = spec.output_args[0].name
    desc = case.call.tensor(name)
    before = np.full(math.prod(desc.storage_shape) * desc.dtype.numpy.itemsize, _CANARY, np.uint8)
    out = device.upload(before)
    tensors[name] = device.tensor(desc, out.address)
    device.call(spec, tensors, case.call.attrs)
    return out.read(desc.dtype.numpy), before


def inputs_of(spec: OpSpec, case: Case, seed: int = 0) -> dict[str, NDArray[Any]]:
    """Views of a case's inputs."""
    storages = case.storages(spec, seed)
    return {
        arg.name: view(storages[arg.name], case.call.tensor(arg.name)) for arg in spec.input_args
    }


def golden(spec: OpSpec, case: Case, seed: int = 0) -> NDArray[np.float64]:
    """Golden result of a case in float64."""
    return spec.evaluate(inputs_of(spec, case, seed), case.call.attrs)


def run_case(device: Device, spec: OpSpec, case: Case, seed: int = 0) -> Outcome:
    """Compute and judge one case. A refused call or a kernel fault is a failed case, not an
    exception.
    """
    start = time.perf_counter()
    device.reset_stats()
    try:
        storage, before = execute(device, spec, case, seed)
    except AclnnError as error:
        return Outcome(case, False, str(error), time.perf_counter() - start)
    stats = device.stats()
    desc = case.call.tensor(spec.output_args[0].name)
    actual = view(storage, desc)
    computed = spec.computed_dtype(case.call).numpy
    terms = spec.magnitudes(inputs_of(spec, case, seed), case.call.attrs)
    report = compare(actual, golden(spec, case, seed), computed, terms=terms)
    message = str(report)
    inside = np.zeros(storage.size, bool)
    if not desc.empty:
        view(inside, desc)[...] = True
    outside = ~np.repeat(inside, storage.itemsize)
    spoiled = int((storage.view(np.uint8)[outside] != before[outside]).sum())
    if spoiled:
        message = (
            f"FAILED: {spoiled} bytes outside the view of the output were overwritten\n{message}"
        )
    moved = 0 if stats is None else stats.gm_read_bytes + stats.gm_write_bytes
    floor = floor_bytes(spec, case)
    return Outcome(
        case,
        report.passed and not spoiled,
        message,
        time.perf_counter() - start,
        report,
        moved / floor if moved and floor else None,
        moved,
        floor,
    )


def run_cases(
    device: Device, spec: OpSpec, cases: Iterable[Case], seed: int = 0
) -> Iterator[Outcome]:
    """Run cases one after the other."""
    for case in cases:
        yield run_case(device, spec, case, seed)
