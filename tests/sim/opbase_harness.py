# SPDX-License-Identifier: Apache-2.0
"""Builds the probe functions and their operator package, and calls them on NumPy arrays."""

from __future__ import annotations

import ctypes as c
import platform
import subprocess
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from aclgrad.runtime import Device
from aclgrad.spec import dtypes

PROGRAMS = Path(__file__).parent / "programs"
Array = NDArray[Any]

NULLPTR, INVALID, RUNTIME, INNER = 161001, 161002, 361001, 561000
TILING, NO_KERNEL, NO_PACKAGE, INNER_NULLPTR = 561002, 561003, 561107, 561103


def compile_all(toolkit: Path, folder: Path, jobs: Sequence[tuple[str, Path, list[str]]]) -> None:
    """Builds shared libraries with the host compiler."""

    def build(job: tuple[str, Path, list[str]]) -> None:
        source, target, options = job
        target.parent.mkdir(parents=True, exist_ok=True)
        lib = toolkit / "lib64"
        command = ["g++", "-std=c++17", "-O1", "-g", "-shared", "-fPIC", "-Wall", "-Wextra"]
        command += ["-Werror", "-Wno-unknown-pragmas", f"-I{toolkit / 'include'}", *options]
        command += [str(PROGRAMS / source), "-o", str(target), f"-L{lib}", f"-Wl,-rpath,{lib}"]
        command += ["-lnnopbase", "-lregister", "-lascendcl"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(build, jobs))


@pytest.fixture(scope="session")
def built(toolkit: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder with libprobe.so and vendors/probe, a package that holds ProbeShift."""
    folder = tmp_path_factory.mktemp("opbase")
    impl = folder / "vendors" / "probe" / "op_impl" / "ai_core" / "tbe"
    tiling = impl / "op_tiling" / "lib" / "linux" / platform.machine()
    kernel = impl / "kernel" / "ascend910b" / "probe_shift"
    compile_all(
        toolkit,
        folder,
        [
            ("opbase_probe.cpp", folder / "libprobe.so", []),
            ("opbase_probe_op.cpp", tiling / "libcust_opmaster_rt2.0.so", []),
            (
                "opbase_probe_kernel.cpp",
                kernel / "ProbeShift_float32_int32_float32.so",
                ["-D__NPU_ARCH__=2201", "-D__CCE_AICORE__=220", "-Wno-unused-parameter"],
            ),
        ],
    )
    return folder


class Probe:
    """The functions of libprobe.so, on NumPy arrays."""

    def __init__(self, device: Device, library: Path) -> None:
        self.device = device
        self.base = device.libraries.nnopbase
        self.lib = c.CDLL(str(library))
        self.keep: list[Any] = []
        for name in ("aclCreateIntArray", "aclCreateTensorList", "aclCreateScalar"):
            getattr(self.base, name).restype = c.c_void_p

    def message(self) -> str:
        return self.device.libraries.recent_message()

    def upload(self, storage: Array) -> int:
        """A device copy; one spare byte keeps an empty one addressable."""
        buffer = self.device.buffer(max(storage.nbytes, 1))
        buffer.write(storage)
        self.keep.append(buffer)
        assert buffer.address is not None
        return buffer.address

    def tensor(
        self,
        address: int | None,
        dtype: Any,
        shape: Sequence[int],
        strides: Sequence[int] | None = None,
        offset: int = 0,
        storage: Sequence[int] | None = None,
        form: int = 2,
    ) -> int:
        dims = (c.c_int64 * max(len(shape), 1))(*shape)
        steps = None if strides is None else (c.c_int64 * max(len(strides), 1))(*strides)
        held = shape if storage is None else storage
        block = (c.c_int64 * max(len(held), 1))(*held)
        acl = dtypes.of_array(np.dtype(dtype)).acl
        handle = self.base.aclCreateTensor(
            dims, len(shape), acl, steps, offset, form, block, len(held), address
        )
        assert handle, self.message()
        return int(handle)

    def contiguous(self, array: Array) -> int:
        return self.tensor(self.upload(array), array.dtype, array.shape)

    def ints(self, values: Sequence[int]) -> Any:
        data = (c.c_int64 * max(len(values), 1))(*values)
        return c.c_void_p(self.base.aclCreateIntArray(data, c.c_uint64(len(values))))

    def plan(self, api: str, *args: Any) -> tuple[int, int, int]:
        """First stage: code, workspace size, executor."""
        size, executor = c.c_uint64(12345), c.c_void_p()
        values = [c.c_void_p(a) if isinstance(a, int) else a for a in args]
        function = getattr(self.lib, api + "GetWorkspaceSize")
        code = function(*values, c.byref(size), c.byref(executor))
        if code:
            assert size.value == 12345 and executor.value is None, "results written on error"
        return int(code), size.value, executor.value or 0

    def launch(self, api: str, executor: int, workspace: int | None, size: int) -> int:
        """Second stage: its code."""
        function = getattr(self.lib, api)
        return int(
            function(
                c.c_void_p(workspace),
                c.c_uint64(size),
                c.c_void_p(executor),
                c.c_void_p(self.device.stream),
            )
        )

    def run(self, api: str, *args: Any) -> int:
        """Both stages and the wait; returns the workspace size."""
        code, size, executor = self.plan(api, *args)
        assert code == 0, self.message()
        workspace = self.device.buffer(size)
        code = self.launch(api, executor, workspace.address, size)
        assert code == 0, self.message()
        self.device.synchronize()
        return size

    def read(self, address: int, like: Array) -> Array:
        result = np.empty_like(like)
        if result.nbytes:
            self.device.libraries.call(
                "aclrtMemcpy", result.ctypes.data, result.nbytes, address, result.nbytes, 2
            )
        return result

    def unary(self, api: str, array: Array, shape: Sequence[int], dtype: Any, *args: Any) -> Array:
        """One contiguous input, one contiguous output."""
        out = np.zeros(tuple(shape), dtype)
        address = self.upload(out)
        self.run(api, self.contiguous(array), *args, self.tensor(address, dtype, shape))
        return self.read(address, out)


@pytest.fixture
def probe(device: Device, built: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Probe]:
    """The probe functions, with the probe package in reach."""
    monkeypatch.setenv("ASCEND_CUSTOM_OPP_PATH", str(built / "vendors" / "probe"))
    handle = Probe(device, built / "libprobe.so")
    handle.message()
    yield handle
    handle.message()
