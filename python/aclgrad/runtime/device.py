# SPDX-License-Identifier: Apache-2.0
"""An open device: context, stream, and calls of aclnn functions in their two stages."""

from __future__ import annotations

import atexit
import ctypes as c
import os
import threading
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from aclgrad.errors import AclnnError, ToolkitError
from aclgrad.runtime.library import ALREADY_INITIALISED, Libraries
from aclgrad.runtime.memory import Buffer, Tensor, create_tensor, storage_of
from aclgrad.runtime.simulator import SimulatorCalls
from aclgrad.runtime.toolkit import check_kind, find_toolkit
from aclgrad.spec.call import AttrValue, TensorDesc, row_major
from aclgrad.spec.dtypes import DType
from aclgrad.spec.op_spec import OpSpec

# Of the simulator. soc is first: it decides how many cores there are to choose from.
OPTIONS = (
    "soc",
    "mode",
    "threads",
    "cores",
    "autosync",
    "chaos",
    "profile",
    "hang_limit",
    "keep_going",
    "recover",
    "partial_outputs",
)

_KERNEL_FAULT = 507035
_KEPT_BYTES, _KEPT_OF_A_SIZE, _KEPT_SIZES = 1 << 16, 4, 32

_C_TYPES = {"int64_t": c.c_int64, "double": c.c_double, "bool": c.c_bool}


_devices: weakref.WeakSet[Device] = weakref.WeakSet()


@dataclass(frozen=True)
class Planned:
    """What the first stage handed out."""

    workspace_size: int
    executor: int | None


class Device(SimulatorCalls):
    """One open device with one stream. Calls from several threads are serialised.

    A forked child has nothing of its parent's device but the object, which is opened anew with the
    child's first call. Buffers and tensors stay with the parent.
    """

    def __init__(self, kind: str = "sim") -> None:
        self.kind = kind
        self.libraries = Libraries(find_toolkit(kind))
        self._lock = threading.RLock()
        # Kernels that went on after faults count as run: whoever sets this asks for `findings`.
        self.takes_faults = False
        self._kept: dict[int, list[Buffer]] = {}  # for inputs of small calls, by size
        self.stream: int | None = None
        self._open()
        _devices.add(self)

    def _open(self) -> None:
        code = self.libraries.acl.aclInit(None)
        if code != ALREADY_INITIALISED:
            self.libraries.check(code, "aclInit")
        self.libraries.call("aclrtSetDevice", 0)
        self._forked = False
        self.stream = self._new_stream()

    def _after_fork(self) -> None:
        # Another thread of the parent may hold the lock for ever.
        self._lock = threading.RLock()
        self._kept = {}
        self._forked = self.stream is not None
        self.stream = None

    def _new_stream(self) -> int | None:
        stream = c.c_void_p()
        self.libraries.call("aclrtCreateStream", c.byref(stream))
        return stream.value

    def close(self) -> None:
        """Give the device back."""
        if self.stream is not None:
            self._drop_kept()
            self.libraries.acl.aclrtDestroyStream(self.stream)
            self.stream = None
            self.libraries.acl.aclrtResetDevice(0)
            self.libraries.acl.aclFinalize()

    def buffer(self, nbytes: int) -> Buffer:
        """Allocate device memory."""
        return Buffer(self.libraries, nbytes)

    def upload(self, array: NDArray[Any]) -> Buffer:
        """Copy a contiguous array to the device."""
        return Buffer.of(self.libraries, array)

    def tensor(self, desc: TensorDesc, address: int | None) -> Tensor:
        """Make an aclTensor."""
        return Tensor(self.libraries, desc, address)

    def synchronize(self) -> None:
        """Wait for the stream; raises what a launch reported.

        A stream that a kernel fault has stopped takes no more work: the next call gets a new one.
        """
        code = self.libraries.acl.aclrtSynchronizeStream(self.stream)
        if code:
            message = self.libraries.recent_message()
            self.libraries.acl.aclrtDestroyStream(self.stream)
            self.stream = self._new_stream()
            went_on = code == _KERNEL_FAULT and self.option("keep_going") == "on"
            if not (self.takes_faults and went_on):
                raise AclnnError(code, "aclrtSynchronizeStream", message)

    def plan(
        self,
        spec: OpSpec,
        tensors: Mapping[str, Tensor | None],
        attrs: Mapping[str, AttrValue],
        *,
        workspace_size_null: bool = False,
        executor_null: bool = False,
    ) -> Planned:
        """First stage. Raises `AclnnError` with the code and the library's message."""
        values: list[Any] = []
        for arg in spec.args:
            if arg.c_type in _C_TYPES:
                values.append(attrs[arg.name])
            else:
                tensor = tensors[arg.name]
                values.append(None if tensor is None else tensor.handle)
        return self._plan(spec, values, workspace_size_null, executor_null)

    def _plan(
        self,
        spec: OpSpec,
        values: Sequence[Any],
        workspace_size_null: bool = False,
        executor_null: bool = False,
    ) -> Planned:
        function, _ = self._stages(spec)
        size, executor = c.c_uint64(0), c.c_void_p()
        code = function(
            *values,
            None if workspace_size_null else c.byref(size),
            None if executor_null else c.byref(executor),
        )
        if code:
            self.libraries.check(code, f"{spec.api}GetWorkspaceSize")
        return Planned(size.value, executor.value)

    def _stages(self, spec: OpSpec) -> tuple[Any, Any]:
        types = tuple(_C_TYPES.get(arg.c_type, c.c_void_p) for arg in spec.args)
        return self.libraries.stages(spec.api, types)

    def launch(
        self,
        spec: OpSpec,
        planned: Planned,
        workspace: int | None,
        workspace_size: int | None = None,
    ) -> None:
        """Second stage, without waiting for its end."""
        _, function = self._stages(spec)
        size = planned.workspace_size if workspace_size is None else workspace_size
        self.libraries.check(function(workspace, size, planned.executor, self.stream), spec.api)

    def call(
        self, spec: OpSpec, tensors: Mapping[str, Tensor | None], attrs: Mapping[str, AttrValue]
    ) -> None:
        """Both stages and the wait."""
        with self._lock:
            self._use()
            self._finish(spec, self.plan(spec, tensors, attrs))

    def run(
        self,
        spec: OpSpec,
        inputs: Mapping[str, NDArray[Any]],
        attrs: Mapping[str, AttrValue],
        out: TensorDesc,
    ) -> NDArray[Any]:
        """Compute one output of a contiguous description from arrays of any strides."""
        with self._lock:
            self._use()
            values: dict[str, Any] = dict(attrs)
            handles: list[int] = []
            # Freed here and not with the objects: a caught exception keeps this frame alive.
            buffers: list[Buffer] = []
            done = False
            try:
                for arg in spec.input_args:
                    storage, desc = storage_of(inputs[arg.name])
                    buffers.append(self._input_buffer(storage.nbytes))
                    buffers[-1].write(storage)
                    handles.append(create_tensor(self.libraries, desc, buffers[-1].address))
                    values[arg.name] = handles[-1]
                result = self.buffer(out.size * out.dtype.numpy.itemsize)
                try:
                    handles.append(create_tensor(self.libraries, out, result.address))
                    values[spec.output_args[0].name] = handles[-1]
                    self._finish(spec, self._plan(spec, [values[arg.name] for arg in spec.args]))
                    array = result.read(out.dtype.numpy).reshape(out.shape)
                finally:
                    result.free()
                done = True
                return array
            finally:
                for handle in handles:
                    self.libraries.nnopbase.aclDestroyTensor(handle)
                for buffer in buffers:
                    self._give_back(buffer, keep=done)

    def _finish(self, spec: OpSpec, planned: Planned) -> None:
        """Second stage and the wait."""
        if not planned.workspace_size:
            self.launch(spec, planned, None)
            self.synchronize()
            return
        workspace = self.buffer(planned.workspace_size)
        try:
            self.launch(spec, planned, workspace.address)
            self.synchronize()
        finally:
            workspace.free()

    def _input_buffer(self, nbytes: int) -> Buffer:
        """A buffer of exactly this size, a kept one if there is any. All of it is written before a
        kernel sees it, so that checks see what they see of a new one. Outputs and workspaces are
        new: nobody may read there what an earlier call has left.
        """
        kept = self._kept.get(nbytes)
        return kept.pop() if kept else self.buffer(nbytes)

    def _give_back(self, buffer: Buffer, keep: bool) -> None:
        if keep and 0 < buffer.nbytes <= _KEPT_BYTES:
            kept = self._kept.setdefault(buffer.nbytes, [])
            if len(kept) < _KEPT_OF_A_SIZE and (kept or len(self._kept) <= _KEPT_SIZES):
                kept.append(buffer)
                return
        buffer.free()

    def _drop_kept(self) -> None:
        for kept in self._kept.values():
            for buffer in kept:
                buffer.free()
        self._kept.clear()

    def _use(self) -> None:
        if self._forked:
            self._open()
        # ACL keeps the current device per thread.
        self.libraries.call("aclrtSetDevice", 0)

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Keep other threads from the device; this one may use it."""
        with self._lock:
            self._use()
            yield

    @contextmanager
    def with_option(self, name: str, value: str) -> Iterator[None]:
        """Have one of ``OPTIONS`` another value for a while."""
        before = self.option(name)
        if before in (None, value):
            yield
            return
        self.set_option(name, value)
        try:
            yield
        finally:
            self.set_option(name, str(before))


_open: dict[str, Device] = {}
_open_lock = threading.Lock()


def open_device(kind: str = "sim") -> Device:
    """Return the process's device, opened on first use. A process drives one kind of device."""
    check_kind(kind)
    with _open_lock:
        if kind not in _open:
            if _open:
                raise ToolkitError(
                    f"device: this process already drives {next(iter(_open))}; use another process"
                    f" for {kind}"
                )
            _open[kind] = Device(kind)
            atexit.register(_close_all)
        device = _open[kind]
    with device._lock:
        if device._forked:
            device._open()
    return device


def _close_all() -> None:
    for device in _open.values():
        device.close()
    _open.clear()


def _after_fork_in_child() -> None:
    global _open_lock
    _open_lock = threading.Lock()
    for device in _devices:
        device._after_fork()


os.register_at_fork(after_in_child=_after_fork_in_child)


def contiguous(shape: Sequence[int], dtype: DType) -> TensorDesc:
    """Describe a row-major tensor."""
    return TensorDesc(tuple(shape), dtype, row_major(shape))


__all__ = ["AclnnError", "Device", "Planned", "contiguous", "open_device"]
