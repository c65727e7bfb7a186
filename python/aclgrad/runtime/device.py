# SPDX-License-Identifier: Apache-2.0
"""An open device: context, stream, and calls of aclnn functions in their two stages."""

from __future__ import annotations

import atexit
import ctypes as c
import json
import os
import threading
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from aclgrad.errors import AclnnError, ToolkitError
from aclgrad.findings import Finding, parse
from aclgrad.runtime.library import ALREADY_INITIALISED, AttrC, LaunchStats, Libraries, TensorDescC
from aclgrad.runtime.memory import Buffer, Tensor, storage_of
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
    "partial_outputs",
)

_KERNEL_FAULT = 507035

_C_TYPES = {"int64_t": c.c_int64, "double": c.c_double, "bool": c.c_bool}


_devices: weakref.WeakSet[Device] = weakref.WeakSet()


@dataclass(frozen=True)
class Planned:
    """What the first stage handed out."""

    workspace_size: int
    executor: int | None


class Device:
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
        self._forked = self.stream is not None
        self.stream = None

    def _new_stream(self) -> int | None:
        stream = c.c_void_p()
        self.libraries.call("aclrtCreateStream", c.byref(stream))
        return stream.value

    def close(self) -> None:
        """Give the device back."""
        if self.stream is not None:
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
        name = f"{spec.api}GetWorkspaceSize"
        types: list[Any] = [_C_TYPES.get(arg.c_type, c.c_void_p) for arg in spec.args]
        function = self.libraries.aclnn(name, [*types, c.c_void_p, c.c_void_p])
        size, executor = c.c_uint64(0), c.c_void_p()
        values: list[Any] = []
        for arg in spec.args:
            if arg.c_type in _C_TYPES:
                values.append(attrs[arg.name])
            else:
                tensor = tensors[arg.name]
                values.append(None if tensor is None else tensor.handle)
        code = function(
            *values,
            None if workspace_size_null else c.byref(size),
            None if executor_null else c.byref(executor),
        )
        self.libraries.check(code, name)
        return Planned(size.value, executor.value)

    def launch(
        self,
        spec: OpSpec,
        planned: Planned,
        workspace: int | None,
        workspace_size: int | None = None,
    ) -> None:
        """Second stage, without waiting for its end."""
        function = self.libraries.aclnn(spec.api, [c.c_void_p, c.c_uint64, c.c_void_p, c.c_void_p])
        size = planned.workspace_size if workspace_size is None else workspace_size
        self.libraries.check(function(workspace, size, planned.executor, self.stream), spec.api)

    def call(
        self, spec: OpSpec, tensors: Mapping[str, Tensor | None], attrs: Mapping[str, AttrValue]
    ) -> None:
        """Both stages and the wait."""
        with self._lock:
            self._use()
            planned = self.plan(spec, tensors, attrs)
            workspace = self.buffer(planned.workspace_size)
            try:
                self.launch(spec, planned, workspace.address)
                self.synchronize()
            finally:
                workspace.free()

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
            tensors: dict[str, Tensor | None] = {}
            buffers: list[Buffer] = []
            # Freed here and not with the objects: a caught exception keeps this frame alive.
            try:
                for arg in spec.input_args:
                    storage, desc = storage_of(inputs[arg.name])
                    buffers.append(self.upload(storage))
                    tensors[arg.name] = self.tensor(desc, buffers[-1].address)
                result = self.buffer(out.size * out.dtype.numpy.itemsize)
                buffers.append(result)
                tensors[spec.output_args[0].name] = self.tensor(out, result.address)
                self.call(spec, tensors, attrs)
                return result.read(out.dtype.numpy).reshape(out.shape)
            finally:
                for tensor in tensors.values():
                    if tensor is not None:
                        tensor.destroy()
                for buffer in buffers:
                    buffer.free()

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

    def set_option(self, name: str, value: str) -> None:
        """Set one of the simulator's ``OPTIONS``."""
        function = self.libraries.optional(self.libraries.acl, "aclsimSetOption")
        if function is None:
            raise ToolkitError(f"option {name}: only the simulator has it. Next: use --device sim")
        function.argtypes, function.restype = [c.c_char_p, c.c_char_p], c.c_int32
        self.libraries.check(function(name.encode(), value.encode()), "aclsimSetOption")

    def option(self, name: str) -> str | None:
        """Return one of ``OPTIONS`` as it is in force; None on an NPU or for an unknown name."""
        function = self.libraries.optional(self.libraries.acl, "aclsimGetOption")
        if function is None:
            return None
        function.argtypes, function.restype = [c.c_char_p], c.c_char_p
        text = function(name.encode())
        return text.decode() if text else None

    def reset_stats(self) -> None:
        """Forget the counters; does nothing on an NPU."""
        function = self.libraries.optional(self.libraries.acl, "aclsimResetStats")
        if function is not None:
            function.argtypes, function.restype = [], None
            function()

    def stats(self) -> LaunchStats | None:
        """Return the simulator's counters since the last reset; None on an NPU."""
        function = self.libraries.optional(self.libraries.acl, "aclsimGetStats")
        if function is None:
            return None
        function.argtypes, function.restype = [c.POINTER(LaunchStats)], None
        stats = LaunchStats()
        function(c.byref(stats))
        return stats

    def clear_findings(self) -> None:
        """Forget what the checks have found; does nothing on an NPU."""
        function = self.libraries.optional(self.libraries.acl, "aclsimClearFindings")
        if function is not None:
            function.argtypes, function.restype = [], None
            function()

    def findings(self) -> tuple[Finding, ...]:
        """Return what the checks have found since `clear_findings`; nothing on an NPU."""
        function = self.libraries.optional(self.libraries.acl, "aclsimFindings")
        if function is None:
            return ()
        function.argtypes, function.restype = [], c.c_char_p
        return parse(function().decode("utf-8", "replace"))

    def clear_profiles(self) -> None:
        """Forget the estimates of earlier launches; does nothing on an NPU."""
        function = self.libraries.optional(self.libraries.acl, "aclsimClearProfiles")
        if function is not None:
            function.argtypes, function.restype = [], None
            function()

    def profiles(self) -> list[dict[str, Any]]:
        """Return the timing model's estimates of the launches since `clear_profiles`, as
        docs/timing_model.md describes them. Empty unless the option profile is on.
        """
        function = self.libraries.optional(self.libraries.acl, "aclsimProfiles")
        if function is None:
            return []
        function.argtypes, function.restype = [], c.c_char_p
        return list(json.loads(function()))

    def profile_lines(self, launch: int, cores: Sequence[int] = ()) -> list[dict[str, Any]]:
        """Return what each line of a profiled launch's kernel costs, on some cores or on all."""
        function = self.libraries.optional(self.libraries.acl, "aclsimProfileLines")
        if function is None:
            raise ToolkitError("profile: only the simulator has one. Next: use --device sim")
        function.argtypes = [c.c_size_t, c.POINTER(c.c_uint32), c.c_size_t]
        function.restype = c.c_char_p
        text = function(launch, (c.c_uint32 * max(len(cores), 1))(*cores), len(cores))
        if text is None:
            message = self.libraries.recent_message()
            raise AclnnError(100000, "aclsimProfileLines", message)
        return list(json.loads(text))

    def write_trace(self, launch: int, cores: Sequence[int], path: Path) -> None:
        """Write some cores of a profiled launch as a Chrome trace."""
        function = self.libraries.optional(self.libraries.acl, "aclsimWriteTrace")
        if function is None:
            raise ToolkitError("trace: only the simulator has one. Next: use --device sim")
        function.argtypes = [c.c_size_t, c.POINTER(c.c_uint32), c.c_size_t, c.c_char_p]
        function.restype = c.c_int32
        chosen = (c.c_uint32 * max(len(cores), 1))(*cores)
        self.libraries.check(
            function(launch, chosen, len(cores), str(path).encode()), "aclsimWriteTrace"
        )

    def soc_names(self) -> list[str]:
        """Names of the SoCs that the simulator knows; empty on an NPU."""
        function = self.libraries.optional(self.libraries.acl, "aclsimSocNames")
        if function is None:
            return []
        function.argtypes, function.restype = [], c.c_char_p
        return [str(name) for name in json.loads(function())]

    def tiling(
        self,
        spec: OpSpec,
        shapes: Mapping[str, Sequence[int]],
        dtype: DType,
        attrs: Mapping[str, AttrValue],
    ) -> dict[str, Any]:
        """Run the operator's tiling function alone. Only the simulator can."""
        function = self.libraries.optional(self.libraries.nnopbase, "aclsimRunTiling")
        if function is None:
            raise ToolkitError("tiling: only the simulator runs it alone. Next: use --device sim")
        function.restype = c.c_int32
        keep: list[Any] = []  # what the structs point to

        def descs(items: Sequence[Any]) -> Any:
            array = (TensorDescC * len(items))()
            by_name = {arg.name: arg for arg in spec.tensors}
            for slot, item in zip(array, items, strict=True):
                shape = list(shapes[item.arg])
                dims = (c.c_int64 * max(len(shape), 1))(*shape)
                keep.append(dims)
                own = by_name[item.arg].dtypes
                slot.dims = dims
                slot.rank = len(shape)
                slot.dtype = (own[0] if own else dtype).acl
            return array

        def attr(item: Any) -> AttrC:
            value = attrs[item.arg]
            if item.type == "ListInt":
                values = (c.c_int64 * 1)(int(value))
                keep.append(values)
                return AttrC(4, 0, 0.0, None, values, 1)
            if item.type == "String":
                text = dict(enumerate(item.choices)).get(int(value), item.default).encode()
                return AttrC(3, 0, 0.0, text, None, 0)
            kind = {"Int": 0, "Float": 1, "Bool": 2}[item.type]
            return AttrC(kind, int(value) if kind != 1 else 0, float(value), None, None, 0)

        inputs, outputs = descs(spec.inputs), descs(spec.outputs)
        attributes = (AttrC * max(len(spec.attrs), 1))(*map(attr, spec.attrs))
        text = c.create_string_buffer(1 << 20)
        code = function(
            spec.op_type.encode(),
            inputs,
            c.c_size_t(len(inputs)),
            outputs,
            c.c_size_t(len(outputs)),
            attributes,
            c.c_size_t(len(spec.attrs)),
            text,
            c.c_size_t(len(text)),
        )
        self.libraries.check(code, "aclsimRunTiling")
        plan: dict[str, Any] = json.loads(text.value)
        return plan


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
