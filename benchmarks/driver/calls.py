# SPDX-License-Identifier: Apache-2.0
"""A case on the simulator."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from numpy.typing import NDArray

from aclgrad.golden import precision
from aclgrad.runtime.device import Device, contiguous
from aclgrad.runtime.memory import Buffer, Tensor
from aclgrad.spec.dtypes import BOOL
from driver import values
from driver.cases import BenchmarkCase


class WrongNumbersError(Exception):
    """A result that is not timed."""


class Call:
    """One case on an open device: inputs uploaded, launched as often as asked."""

    def __init__(self, device: Device, case: BenchmarkCase) -> None:
        self.device, self.case = device, case
        self.buffers: list[Buffer] = []
        self.tensors: dict[str, Tensor | None] = {}
        read = {arg.name for arg in case.spec.kernel_args}
        self.read_bytes = 0
        for arg in case.spec.tensors:
            dtype = BOOL if BOOL in arg.dtypes else case.dtype
            desc = contiguous((1,) if arg.unused else case.shape, dtype)
            buffer = device.buffer(desc.size * dtype.numpy.itemsize)
            if arg.name in read:
                values.fill(case, arg.name, buffer)
                self.read_bytes += buffer.nbytes
            self.buffers.append(buffer)
            self.tensors[arg.name] = device.tensor(desc, buffer.address)
            if arg.out:
                self.result = buffer

    @property
    def write_bytes(self) -> int:
        """Bytes of the output."""
        return self.result.nbytes

    def launch(self, clock: Callable[[], float] = time.perf_counter) -> float:
        """Seconds from the second stage's call to the end of the stream's work."""
        device, spec = self.device, self.case.spec
        planned = device.plan(spec, self.tensors, self.case.attrs)
        workspace = device.buffer(planned.workspace_size)
        begin = clock()
        device.launch(spec, planned, workspace.address)
        device.synchronize()
        took = clock() - begin
        workspace.free()
        return took

    def output(self) -> NDArray[Any]:
        """The flat result."""
        return self.result.read(self.case.dtype.numpy)

    def check(self) -> precision.Report:
        """Judge the result; raises `WrongNumbersError`."""
        report = values.check(self.case, self.output())
        if not report.passed:
            raise WrongNumbersError(f"{self.case.key}: wrong numbers, not timed: {report}")
        return report

    def close(self) -> None:
        """Give the tensors and buffers back."""
        for tensor in self.tensors.values():
            if tensor is not None:
                tensor.destroy()
        for buffer in self.buffers:
            buffer.free()
