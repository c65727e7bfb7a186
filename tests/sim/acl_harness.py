# SPDX-License-Identifier: Apache-2.0
"""libascendcl.so through ctypes, and the fixtures that the runtime's tests share."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from compile_once import compile_once

PROGRAMS = Path(__file__).parent / "programs"

INVALID_PARAM = 100000
UNINITIALIZE = 100001
REPEAT_INITIALIZE = 100002
REPEAT_FINALIZE = 100037
RT_PARAM_INVALID = 107000
RT_INVALID_DEVICE = 107001
RT_CONTEXT_NULL = 107002
RT_STREAM_CONTEXT = 107003
RT_TIMESTAMP_INVALID = 107006
RT_STREAM_NO_CB_REG = 107015
RT_INVALID_HANDLE = 107017
RT_FEATURE_NOT_SUPPORT = 207000
RT_MEMORY_ALLOCATION = 207001
RT_CONTEXT_RELEASE = 507007
RT_SOC_VERSION = 507008
RT_VECTOR_CORE_EXCEPTION = 507035
RT_STREAM_SYNC_TIMEOUT = 507046

H2H, H2D, D2H, D2D, DEFAULT = range(5)

HOST_FUNC = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


SANITIZED = "san.so" in os.environ.get("LD_PRELOAD", "")
"""Run by ``python -m aclgrad.checkout.instrumented_build``."""


class Acl:
    """libascendcl.so: sizes and pointers go in as plain integers."""

    def __init__(self, library: Path) -> None:
        """Loads the library; nothing is initialised yet."""
        # Its own symbols first, even where the original was loaded for everybody. Sanitizers refuse
        # that.
        deep = 0 if SANITIZED else os.RTLD_DEEPBIND
        self.lib = ctypes.CDLL(str(library), mode=os.RTLD_NOW | deep)
        for name in ("aclGetRecentErrMsg", "aclsimGetOption", "aclsimSocJson", "aclsimSocNames"):
            getattr(self.lib, name).restype = ctypes.c_char_p
        self.lib.aclrtGetSocName.restype = ctypes.c_char_p
        self.lib.aclFloat16ToFloat.restype = ctypes.c_float
        self.lib.aclFloat16ToFloat.argtypes = [ctypes.c_uint16]
        self.lib.aclFloatToFloat16.restype = ctypes.c_uint16
        self.lib.aclFloatToFloat16.argtypes = [ctypes.c_float]

    def call(self, name: str, *args: object) -> int:
        """Calls a function that returns an aclError. An int wider than 32 bits must not be cut."""
        wide = [ctypes.c_uint64(a & (2**64 - 1)) if isinstance(a, int) else a for a in args]
        return int(getattr(self.lib, name)(*wide))

    def ok(self, name: str, *args: object) -> None:
        """A call that must succeed."""
        error = self.call(name, *args)
        assert error == 0, f"{name}: {error}: {self.message()}"

    def fails(self, code: int, name: str, *args: object) -> str:
        """A call that must fail with code; returns its message."""
        self.message()
        error = self.call(name, *args)
        text = self.message()
        assert error == code, f"{name}: {error}, want {code}: {text}"
        assert text.startswith(name + ": ") and str(code) in text
        return text

    def message(self) -> str:
        """What aclGetRecentErrMsg has for this thread."""
        text = self.lib.aclGetRecentErrMsg()
        return text.decode() if text is not None else ""

    def pointer(self, name: str, *args: object) -> int:
        """The pointer or handle that a function returns in its first argument."""
        out = ctypes.c_void_p()
        self.ok(name, ctypes.byref(out), *args)
        assert out.value is not None
        return out.value

    def malloc(self, size: int) -> int:
        """A device block."""
        return self.pointer("aclrtMalloc", size, 0)

    def write(self, device: int, data: bytes) -> None:
        """Host bytes to the device."""
        self.ok("aclrtMemcpy", device, len(data), data, len(data), H2D)

    def read(self, device: int, size: int) -> bytes:
        """Device bytes to the host."""
        buffer = ctypes.create_string_buffer(size)
        self.ok("aclrtMemcpy", buffer, size, device, size, D2H)
        return buffer.raw

    def option(self, name: str) -> str:
        """An option in force."""
        return str(self.lib.aclsimGetOption(name.encode()).decode())


_copies: dict[Path, Path] = {}


@pytest.fixture(scope="session")
def library(
    toolkit: Path, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """The runtime library under test.

    A copy: these tests reset the device and finalise, and other tests of this process have a
    device open on the original. That is open before: a library that is loaded later would take the
    copy, which has the same name. One for all modules: each takes of the few thread-local bytes
    that a process has for libraries loaded late. With a sanitizer there is one library, no device.
    """
    if SANITIZED:
        return toolkit / "lib64" / "libascendcl.so"
    request.getfixturevalue("session_device")
    if toolkit not in _copies:
        folder = tmp_path_factory.mktemp("runtime")
        _copies[toolkit] = Path(shutil.copy(toolkit / "lib64" / "libascendcl.so", folder))
    return _copies[toolkit]


@pytest.fixture
def acl(library: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Acl]:
    """A runtime with device 0 in use, in checked mode, and nothing left behind afterwards."""
    for name in ("ACLGRAD_SOC", "ACLGRAD_SIM_MODE", "ACLGRAD_SIM_CORES"):
        monkeypatch.delenv(name, raising=False)
    runtime = Acl(library)
    runtime.message()
    runtime.ok("aclInit", None)
    runtime.ok("aclrtSetDevice", 0)
    options = {name: runtime.option(name) for name in ("soc", "mode")}
    runtime.ok("aclsimSetOption", b"mode", b"checked")
    yield runtime
    runtime.ok("aclrtResetDeviceForce", 0)
    for name, value in options.items():
        runtime.ok("aclsimSetOption", name.encode(), value.encode())
    runtime.ok("aclsimSetOption", b"cores", b"0")
    runtime.ok("aclFinalize")


@pytest.fixture(scope="session")
def compiled(toolkit: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Compiles a program of tests/sim/programs; with -shared, without the runtime."""
    folder = tmp_path_factory.mktemp("programs")

    def build(name: str, *flags: str) -> Path:
        libs = [f"-L{toolkit}/lib64", "-lascendcl", f"-Wl,-rpath,{toolkit}/lib64"]
        if "-shared" in flags:
            libs = []
        command = ["g++", "-std=c++17", "-Wall", "-Wextra", "-Werror", f"-I{toolkit}/include"]
        return compile_once(folder, name, [*command, f"{PROGRAMS}/{name}.cpp", *flags, *libs])

    return build


@pytest.fixture(scope="session")
def kernels(compiled: Callable[..., Path]) -> ctypes.CDLL:
    """The test kernels."""
    return ctypes.CDLL(str(compiled("acl_kernels", "-shared", "-fPIC")))


def launch(acl: Acl, kernels: ctypes.CDLL, name: str, args: list[int], stream: int | None) -> int:
    """Launches a test kernel on one core; every argument is one byte wide."""
    entry = ctypes.cast(getattr(kernels, name), ctypes.c_void_p)
    pointers = (ctypes.c_void_p * len(args))(*args)
    sizes = (ctypes.c_uint64 * len(args))(*([1] * len(args)))
    return acl.call(
        "aclsimLaunchKernel", name.encode(), entry, 1, 0, pointers, sizes, len(args), stream
    )


@contextmanager
def sleeping(kernels: ctypes.CDLL) -> Iterator[None]:
    """Inside, acl_test_sleep has not ended."""
    kernels.acl_test_hold()
    try:
        yield
    finally:
        kernels.acl_test_let_go()


def in_process(library: Path, code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs code with `lib` (the CDLL) and `err()` in a process of its own."""
    prelude = (
        "import ctypes\n"
        f"lib = ctypes.CDLL({str(library)!r})\n"
        "lib.aclGetRecentErrMsg.restype = ctypes.c_char_p\n"
        "def err(): return (lib.aclGetRecentErrMsg() or b'').decode()\n"
        "p = ctypes.c_void_p()\n"
    )
    clean = {k: v for k, v in os.environ.items() if not k.startswith("ACLGRAD_")}
    return subprocess.run(
        [sys.executable, "-c", prelude + code],
        capture_output=True,
        text=True,
        timeout=600,
        env=clean | environment,
    )
