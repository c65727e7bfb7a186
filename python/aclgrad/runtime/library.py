# SPDX-License-Identifier: Apache-2.0
"""ctypes declarations of the C functions that the package calls."""

from __future__ import annotations

import ctypes as c
from collections.abc import Sequence
from typing import Protocol, TypeVar

from aclgrad.errors import AclnnError, ToolkitError
from aclgrad.runtime.toolkit import Toolkit

ALREADY_INITIALISED = 100002
MEMCPY_H2D, MEMCPY_D2H = 1, 2

_P, _PP = c.c_void_p, c.POINTER(c.c_void_p)
_I64P = c.POINTER(c.c_int64)
_ACL: dict[str, list[type]] = {
    "aclInit": [c.c_char_p],
    "aclFinalize": [],
    "aclrtSetDevice": [c.c_int32],
    "aclrtResetDevice": [c.c_int32],
    "aclrtCreateStream": [_PP],
    "aclrtDestroyStream": [_P],
    "aclrtSynchronizeStream": [_P],
    "aclrtMalloc": [_PP, c.c_size_t, c.c_int],
    "aclrtFree": [_P],
    "aclrtMemcpy": [_P, c.c_size_t, _P, c.c_size_t, c.c_int],
}
_NNOPBASE: dict[str, list[type]] = {
    "aclDestroyTensor": [_P],
    "aclSetAclOpExecutorRepeatable": [_P],
    "aclDestroyAclOpExecutor": [_P],
    "aclSetTensorAddr": [_P, c.c_size_t, _P, _P],
    "aclSetInputTensorAddr": [_P, c.c_size_t, _P, _P],
    "aclSetOutputTensorAddr": [_P, c.c_size_t, _P, _P],
}


R = TypeVar("R", covariant=True)


class Function(Protocol[R]):
    """A function of a library as ctypes gives it. It returns a number, or what ``restype`` says."""

    argtypes: Sequence[type]
    restype: type | None

    def __call__(self, *arguments: object) -> R:
        """Call it."""


Stages = tuple[Function[int], Function[int]]
"""The functions of a call: the first asks for a workspace, the second launches."""


class LaunchStats(c.Structure):
    """The simulator's aclsimLaunchStats."""

    _fields_ = [
        ("launches", c.c_uint64),
        ("gm_read_bytes", c.c_uint64),
        ("gm_write_bytes", c.c_uint64),
        ("instructions", c.c_uint64),
        ("ub_peak_bytes", c.c_uint64),
        ("kernel_nanos", c.c_uint64),
        ("block_dim", c.c_uint32),
        ("reserved", c.c_uint32),
    ]


class TensorDescC(c.Structure):
    """The simulator's aclsimTensorDesc."""

    _fields_ = [("dims", _I64P), ("rank", c.c_uint64), ("dtype", c.c_int32)]


class AttrC(c.Structure):
    """The simulator's aclsimAttr; kind is INT, FLOAT, BOOL, STRING, LIST_INT, LIST_BOOL,
    LIST_FLOAT, LIST_LIST_INT from 0.
    """

    _fields_ = [
        ("kind", c.c_int),
        ("i", c.c_int64),
        ("f", c.c_double),
        ("s", c.c_char_p),
        ("list", _I64P),
        ("list_size", c.c_uint64),
        ("reals", c.POINTER(c.c_double)),
    ]


class Libraries:
    """The three libraries of a toolkit, loaded."""

    def __init__(self, toolkit: Toolkit) -> None:
        self.toolkit = toolkit
        self._stages: dict[str, Stages] = {}
        loaded = []
        for path in toolkit.libraries:
            try:
                # Global: an operator package resolves toolkit symbols from what is loaded already.
                loaded.append(c.CDLL(str(path), mode=c.RTLD_GLOBAL))
            except OSError as error:
                raise ToolkitError(
                    f"cannot load {path}: {error}. Next: run `aclgrad doctor`"
                ) from None
        self.acl, self.nnopbase, self.opapi = loaded
        for library, table in ((self.acl, _ACL), (self.nnopbase, _NNOPBASE)):
            for name, argtypes in table.items():
                function: Function[int] = self._symbol(library, name)
                function.argtypes, function.restype = argtypes, c.c_int32
        if (renew := self.optional(self.acl, "aclsimRenew")) is not None:
            renew.argtypes, renew.restype = [_P], c.c_int32
        self._message: Function[bytes | None] = self._symbol(self.acl, "aclGetRecentErrMsg")
        self._message.argtypes, self._message.restype = [], c.c_char_p
        create: Function[int | None] = self._symbol(self.nnopbase, "aclCreateTensor")
        create.argtypes = [
            _I64P,
            c.c_uint64,
            c.c_int,
            _I64P,
            c.c_int64,
            c.c_int,
            _I64P,
            c.c_uint64,
            _P,
        ]
        create.restype = c.c_void_p

    def _symbol(self, library: c.CDLL, name: str) -> Function[R]:
        try:
            function: Function[R] = getattr(library, name)
            return function
        except AttributeError:
            raise ToolkitError(
                f"{library._name} has no {name}; it does not fit this package. Next: run `aclgrad"
                " doctor`"
            ) from None

    def optional(self, library: c.CDLL, name: str) -> Function[int] | None:
        """Return a function that only the simulator has, or None."""
        function: Function[int] | None = getattr(library, name, None)
        return function

    def optional_text(self, library: c.CDLL, name: str) -> Function[bytes | None] | None:
        """Return a function that only the simulator has and that returns text, or None."""
        function: Function[bytes | None] | None = getattr(library, name, None)
        if function is not None:
            function.restype = c.c_char_p
        return function

    def aclnn(self, name: str, argtypes: Sequence[type]) -> Function[int]:
        """Return one function of the operator package."""
        function: Function[int] = self._symbol(self.opapi, name)
        function.argtypes, function.restype = argtypes, c.c_int32
        return function

    def stages(self, api: str, argtypes: Sequence[type]) -> Stages:
        """Both stages of a function of the operator package."""
        found = self._stages.get(api)
        if found is None:
            found = self._stages[api] = (
                self.aclnn(f"{api}GetWorkspaceSize", [*argtypes, c.c_void_p, c.c_void_p]),
                self.aclnn(api, [c.c_void_p, c.c_uint64, c.c_void_p, c.c_void_p]),
            )
        return found

    def recent_message(self) -> str:
        """Take this thread's error text, which the call clears."""
        text = self._message()
        return text.decode("utf-8", "replace") if text else ""

    def check(self, code: int, function: str) -> None:
        """Raise `AclnnError` unless the code is 0."""
        if code != 0:
            raise AclnnError(code, function, self.recent_message())

    def call(self, name: str, *args: object) -> None:
        """Call an acl function and raise on error."""
        self.check(getattr(self.acl, name)(*args), name)
