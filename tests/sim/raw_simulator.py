# SPDX-License-Identifier: Apache-2.0
"""The simulator by ctypes, without the Python package: what the runners of single kernels share."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

TO_DEVICE, TO_HOST = 1, 2


class RawSimulator:
    """libascendcl.so, initialised."""

    def __init__(self, toolkit: Path) -> None:
        """Initialises the runtime; another user in this process may have done so before."""
        self.lib = ctypes.CDLL(str(toolkit / "lib64" / "libascendcl.so"), mode=ctypes.RTLD_GLOBAL)
        for name in ("aclGetRecentErrMsg", "aclsimGetOption", "aclsimFindings"):
            getattr(self.lib, name).restype = ctypes.c_char_p
        self.lib.aclInit(None)
        self.ok(self.lib.aclrtSetDevice(0))

    def ok(self, code: int) -> None:
        """What a call must return."""
        assert code == 0, self.message()

    def message(self) -> str:
        """What aclGetRecentErrMsg has to say."""
        return (self.lib.aclGetRecentErrMsg() or b"").decode()

    def option(self, name: str) -> str:
        """An option in force."""
        return str(self.lib.aclsimGetOption(name.encode()).decode())

    def set_options(self, **options: str) -> dict[str, str]:
        """Sets options, returns those in force before."""
        before = {name: self.option(name) for name in options}
        for name, value in options.items():
            self.ok(self.lib.aclsimSetOption(name.encode(), value.encode()))
        return before

    @contextmanager
    def options(self, **options: str) -> Iterator[None]:
        """Other options for a while."""
        before = self.set_options(**options)
        try:
            yield
        finally:
            self.set_options(**before)

    def new_stream(self) -> ctypes.c_void_p:
        """A stream of the current context."""
        stream = ctypes.c_void_p()
        self.ok(self.lib.aclrtCreateStream(ctypes.byref(stream)))
        return stream

    def malloc(self, size: int) -> int:
        """Device memory."""
        out = ctypes.c_void_p()
        self.ok(self.lib.aclrtMalloc(ctypes.byref(out), ctypes.c_size_t(size), 0))
        assert out.value
        return out.value

    def free(self, address: int) -> None:
        """Gives device memory back."""
        self.ok(self.lib.aclrtFree(ctypes.c_void_p(address)))

    def copy(self, to: int, source: int, size: int, kind: int) -> None:
        """A blocking copy."""
        bytes_ = ctypes.c_size_t(size)
        self.ok(
            self.lib.aclrtMemcpy(ctypes.c_void_p(to), bytes_, ctypes.c_void_p(source), bytes_, kind)
        )

    def expect_output(self, address: int, size: int, width: int, name: str) -> None:
        """Says that the next launch writes these bytes, elements of width, from end to end."""
        self.ok(
            self.lib.aclsimExpectOutput(
                ctypes.c_void_p(address),
                ctypes.c_uint64(size),
                ctypes.c_uint32(width),
                name.encode(),
            )
        )

    def enqueue(
        self,
        name: str,
        entry: Any,
        stream: ctypes.c_void_p,
        blocks: Sequence[tuple[int, int]],
        cores: int,
        key: int = 0,
    ) -> None:
        """A launch on blocks of (address, bytes); the stream runs it."""
        count = len(blocks)
        self.ok(
            self.lib.aclsimLaunchKernel(
                name.encode(),
                ctypes.cast(entry, ctypes.c_void_p),
                ctypes.c_uint32(cores),
                ctypes.c_uint64(key),
                (ctypes.c_void_p * count)(*(address for address, _ in blocks)),
                (ctypes.c_uint64 * count)(*(size for _, size in blocks)),
                ctypes.c_size_t(count),
                stream,
            )
        )
