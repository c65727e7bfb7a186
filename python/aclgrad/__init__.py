# SPDX-License-Identifier: Apache-2.0
"""A workbench for Ascend C kernels that needs no NPU, with five backward operators.

Each of the five has a function, for example `aclgrad.softmax_backward`. `aclgrad.load` makes such
functions for any operator project. The import loads no library; the first call does. The functions
are made from the specs when the first of them is asked for, since most commands need none.
"""

from pathlib import Path as _Path

from aclgrad.common import lazy as _lazy
from aclgrad.errors import AclgradError as AclgradError
from aclgrad.errors import AclnnError as AclnnError
from aclgrad.errors import ToolkitError as ToolkitError

__version__ = "0.2.0"
_HERE = _Path(__file__).parent
_OWN = ["AclgradError", "AclnnError", "ToolkitError", "__version__", "load"]


def __getattr__(name: str) -> object:
    ours = name != "__all__" and (name.startswith("_") or (_HERE / name).exists())
    if not ours and not (_HERE / f"{name}.py").exists():
        functions = _lazy.module("aclgrad.functions")
        names = functions.names()
        value = (
            [*_OWN, *names]
            if name == "__all__"
            else functions.load
            if name == "load"
            else functions.by_name(name)
            if name in names
            else None
        )
        if value is not None:
            globals()[name] = value
            return value
    raise AttributeError(f"module 'aclgrad' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__getattr__("__all__")})  # type: ignore[misc]
