# SPDX-License-Identifier: Apache-2.0
"""The C functions under test, called with anything: nothing is checked on this side."""

from __future__ import annotations

import ctypes as c
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aclgrad.runtime import Device
from aclgrad.runtime.memory import Buffer
from aclgrad.spec.call import Call, TensorDesc
from aclgrad.spec.op_spec import OpSpec
from fuzz.draw import format_number

NO_SIZE = 0xA5A5A5A5A5A5A5A5
NO_EXECUTOR = 0x5C5C5C5C5C5C5C5C
"""Stand in the result variables before the first stage; a refusal leaves them there."""

GARBAGE = 0x7E57
_C_TYPES: dict[str, Any] = {"int64_t": c.c_int64, "double": c.c_double, "bool": c.c_bool}


@dataclass(frozen=True)
class Stage1:
    """What a first stage returned and left behind."""

    code: int
    workspace_size: int
    executor: int
    message: str


class Abi:
    """One open simulator."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self.libraries = self.device.libraries
        self.socs = self.device.soc_names()
        self.calls = 0
        self._functions: dict[str, Any] = {}
        self._options: dict[str, str] = {}
        self._host = (c.c_uint8 * (1 << 16))()
        self.freed_stream = self._destroyed_stream()

    @property
    def host(self) -> int:
        """Address of host memory."""
        return c.addressof(self._host)

    @property
    def freed(self) -> int:
        """An address that was just freed: young enough that nobody has got it again."""
        buffer = self.device.buffer(1 << 16)
        address = buffer.address or 0
        buffer.free()
        return address

    def _destroyed_stream(self) -> int:
        stream = c.c_void_p()
        self.libraries.call("aclrtCreateStream", c.byref(stream))
        self.libraries.call("aclrtDestroyStream", stream)
        return stream.value or 0

    def restart(self) -> None:
        """Finalise and begin anew: nothing stays that the libraries keep of dead memory and handles
        to name a use of it.
        """
        self.device.close()
        self.device._open()

    def set_option(self, name: str, value: str) -> None:
        """Simulate another SoC, or the same one in another way."""
        if self._options.get(name) != value:
            if name == "soc":
                self.set_option("cores", "0")  # the new one may have fewer
            self.device.set_option(name, value)
            self._options[name] = value

    def tensor(self, desc: TensorDesc, address: int | None) -> int | None:
        """AclCreateTensor; None where it makes nothing."""
        handle = self.libraries.nnopbase.aclCreateTensor(
            _int64s(desc.shape),
            desc.rank,
            desc.dtype.acl,
            None if desc.strides is None else _int64s(desc.strides),
            desc.offset,
            format_number(desc.format),
            _int64s(desc.storage_shape),
            len(desc.storage_shape),
            address,
        )
        if not handle:
            self.libraries.recent_message()
        return handle or None

    def destroy_tensor(self, handle: int | None) -> int:
        """AclDestroyTensor."""
        return self._quiet(self.libraries.nnopbase.aclDestroyTensor(handle))

    def destroy_executor(self, executor: int | None) -> int:
        """AclDestroyAclOpExecutor."""
        return self._quiet(self.libraries.nnopbase.aclDestroyAclOpExecutor(executor))

    def set_repeatable(self, executor: int | None) -> int:
        """AclSetAclOpExecutorRepeatable."""
        return self._quiet(self.libraries.nnopbase.aclSetAclOpExecutorRepeatable(executor))

    def set_address(
        self, kind: str, executor: int | None, index: int, tensor: int | None, address: int | None
    ) -> int:
        """AclSet<kind>TensorAddr."""
        function = getattr(self.libraries.nnopbase, f"aclSet{kind}TensorAddr")
        return self._quiet(function(executor, index, tensor, address))

    def _quiet(self, code: int) -> int:
        if code:
            self.libraries.recent_message()
        return int(code)

    def plan(self, spec: OpSpec, handles: dict[str, int | None], call: Call) -> Stage1:
        """First stage."""
        name = f"{spec.api}GetWorkspaceSize"
        function = self._functions.get(name)
        if function is None:
            types = [_C_TYPES.get(arg.c_type, c.c_void_p) for arg in spec.args]
            function = self.libraries.aclnn(name, [*types, c.c_void_p, c.c_void_p])
            self._functions[name] = function
        values = [
            call.attrs[arg.name] if arg.c_type in _C_TYPES else handles[arg.name]
            for arg in spec.args
        ]
        size, executor = c.c_uint64(NO_SIZE), c.c_void_p(NO_EXECUTOR)
        self.calls += 1
        code = function(
            *values,
            None if call.workspace_size_null else c.byref(size),
            None if call.executor_null else c.byref(executor),
        )
        message = self.libraries.recent_message() if code else ""
        return Stage1(code, size.value, executor.value or 0, message)

    def launch(
        self,
        spec: OpSpec,
        workspace: int | None,
        size: int,
        executor: int | None,
        stream: int | None,
    ) -> tuple[int, str]:
        """Second stage: code and message."""
        function = self._functions.get(spec.api)
        if function is None:
            types = [c.c_void_p, c.c_uint64, c.c_void_p, c.c_void_p]
            function = self._functions[spec.api] = self.libraries.aclnn(spec.api, types)
        self.calls += 1
        code = function(workspace, size, executor, stream)
        return code, self.libraries.recent_message() if code else ""

    def synchronize(self, stream: int | None) -> tuple[int, str]:
        """Wait for a stream; one that failed is replaced."""
        code = self.libraries.acl.aclrtSynchronizeStream(stream)
        if not code:
            return 0, ""
        message = self.libraries.recent_message()
        if stream is not None:
            self.device.stream = self.device._new_stream()
            self.libraries.acl.aclrtDestroyStream(stream)
            self.libraries.recent_message()
        return code, message

    def upload(self, array: NDArray[Any], spare: int = 0) -> Buffer:
        """Copy bytes to the device, with some to spare behind them."""
        raw = array.reshape(-1).view(np.uint8)
        buffer = self.device.buffer(max(raw.nbytes + spare, 1))
        if raw.nbytes:
            buffer.write(raw)
        return buffer

    def free_bytes(self) -> int:
        """Device memory that nobody holds."""
        free, total = c.c_size_t(), c.c_size_t()
        self.libraries.call("aclrtGetMemInfo", 0, c.byref(free), c.byref(total))
        return free.value


def _int64s(values: tuple[int, ...]) -> Any:
    return (c.c_int64 * max(len(values), 1))(*values)
