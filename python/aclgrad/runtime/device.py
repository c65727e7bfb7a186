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

from aclgrad.errors import AclnnError, ToolkitError
from aclgrad.runtime.library import ALREADY_INITIALISED, Libraries, Stages
from aclgrad.runtime.memory import Buffer, Tensor, create_tensor, storage_of
from aclgrad.runtime.prepared import Key, Prepared, PreparedCalls, key_of
from aclgrad.runtime.simulator import SimulatorCalls
from aclgrad.runtime.toolkit import DeviceKind, check_kind, find_toolkit
from aclgrad.spec.call import AttrValue, TensorDesc, row_major
from aclgrad.spec.dtypes import Array, DType
from aclgrad.spec.op_spec import OpSpec

# Options of the simulator. soc is first: it decides how many cores there are to choose from.
OPTIONS = (
    "soc",
    "mode",
    "threads",
    "cores",
    "autosync",
    "chaos",
    "held",
    "profile",
    "sensitivity",
    "race_times",
    "hang_limit",
    "keep_going",
    "recover",
    "progress",
    "partial_outputs",
    "tiling_buffer",
    "findings",
)

_KERNEL_FAULT = 507035

_C_TYPES = {"int64_t": c.c_int64, "double": c.c_double, "bool": c.c_bool}


_devices: weakref.WeakSet[Device] = weakref.WeakSet()


@dataclass(frozen=True)
class Planned:
    """What the first stage handed out."""

    workspace_size: int
    executor: int | None

    @property
    def repeats(self) -> bool:
        """Whether it may run again without memory of its own."""
        return self.executor is not None and not self.workspace_size


class Device(SimulatorCalls):
    """One open device with one stream. Calls from several threads are serialised.

    A forked child has nothing of its parent's device but the object, which is opened anew with the
    child's first call. Buffers and tensors stay with the parent.
    """

    def __init__(self, kind: DeviceKind = "sim") -> None:
        self.kind = kind
        self.libraries = Libraries(find_toolkit(kind))
        self._lock = threading.RLock()
        # Kernels that went on after faults count as run: whoever sets this asks for `findings`.
        self.takes_faults = False
        self._calls = PreparedCalls()
        self.stream: int | None = None
        if kind == "sim":
            self.silence_findings()  # `findings` gives them
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
        self._calls = PreparedCalls()
        self._forked = self.stream is not None
        self.stream = None

    def _new_stream(self) -> int | None:
        stream = c.c_void_p()
        self.libraries.call("aclrtCreateStream", c.byref(stream))
        return stream.value

    def close(self) -> None:
        """Give the device back."""
        if self.stream is not None:
            self._calls.clear()
            self.libraries.acl.aclrtDestroyStream(self.stream)
            self.stream = None
            self.libraries.acl.aclrtResetDevice(0)
            self.libraries.acl.aclFinalize()

    def buffer(self, nbytes: int) -> Buffer:
        """Allocate device memory."""
        return Buffer(self.libraries, nbytes)

    def upload(self, array: Array) -> Buffer:
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
        values: list[AttrValue | int | None] = []
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
        values: Sequence[object],
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

    def _stages(self, spec: OpSpec) -> Stages:
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
        inputs: Mapping[str, Array],
        attrs: Mapping[str, AttrValue],
        out: TensorDesc,
    ) -> Array:
        """Compute one output of a contiguous description from arrays of any strides."""
        with self._lock:
            self._use()
            # Not every function of CANN lets its executors be repeated.
            key = key_of(spec.api, inputs, attrs, out) if self.kind == "sim" else None
            prepared = None if key is None else self._calls.find(key)
            if key is not None and prepared is not None:
                return self._repeat(key, prepared, inputs)
            values: dict[str, object] = dict(attrs)
            handles: list[int] = []
            # Freed here and not with the objects: a caught exception keeps this frame alive.
            buffers: list[Buffer] = []
            again: int | None = None
            try:
                for arg in spec.input_args:
                    storage, desc = storage_of(inputs[arg.name])
                    buffers.append(self.upload(storage))
                    handles.append(create_tensor(self.libraries, desc, buffers[-1].address))
                    values[arg.name] = handles[-1]
                result = self.buffer(out.dtype.nbytes(out.size))
                buffers.append(result)
                handles.append(create_tensor(self.libraries, out, result.address))
                values[spec.output_args[0].name] = handles[-1]
                planned = self._plan(spec, [values[arg.name] for arg in spec.args])
                if key is not None and planned.repeats and self._calls.comes_again(key):
                    again = planned.executor
                    self.libraries.nnopbase.aclSetAclOpExecutorRepeatable(again)
                self._finish(spec, planned)
                array = result.read(out.dtype.numpy).reshape(out.shape)
                if key is not None and again is not None:
                    second = self._stages(spec)[1]
                    call = Prepared(self.libraries, again, second, buffers, handles, out)
                    self._calls.keep(key, call)
                    again, handles, buffers = None, [], []
                return array
            finally:
                if again is not None:
                    self.libraries.nnopbase.aclDestroyAclOpExecutor(again)
                for handle in handles:
                    self.libraries.nnopbase.aclDestroyTensor(handle)
                for buffer in buffers:
                    buffer.free()

    def _repeat(self, key: Key, prepared: Prepared, inputs: Mapping[str, Array]) -> Array:
        try:
            return prepared.run(inputs, self.stream, self.synchronize)
        except BaseException:
            self._calls.drop(key)
            raise

    def set_option(self, name: str, value: str) -> None:
        """See `SimulatorCalls`. What is prepared is for the options in force."""
        self._calls.clear()
        super().set_option(name, value)

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
    def keeping(self, *names: str) -> Iterator[None]:
        """Put some of ``OPTIONS`` back at the end, in this order: a SoC before its cores.

        The simulator changes no option while a stream has work, so this waits for the device and
        raises what the launches that were not waited for report.
        """
        before = {name: self.option(name) for name in names}
        try:
            yield
            self.libraries.call("aclrtSynchronizeDevice")
        finally:
            if self.libraries.acl.aclrtSynchronizeDevice():
                self.libraries.recent_message()  # no part of what a later call says
            for name, value in before.items():
                if value is None:
                    continue
                if name == "cores":  # all of a SoC are not as many of the next one
                    self.set_option(name, "0")
                if self.option(name) != value:
                    self.set_option(name, value)

    @contextmanager
    def with_option(self, name: str, value: str) -> Iterator[None]:
        """Have one of ``OPTIONS`` another value for a while."""
        if self.option(name) in (None, value):
            yield
            return
        with self.keeping(name):
            self.set_option(name, value)
            yield


_open: dict[str, Device] = {}
_open_lock = threading.Lock()


def open_device(kind: object = "sim") -> Device:
    """Return the process's device, opened on first use. A process drives one kind of device."""
    kind = check_kind(kind)
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
