# SPDX-License-Identifier: Apache-2.0
"""Backward operators for Ascend NPUs in Ascend C, with a simulator that needs only g++.

One function per operator, for example `aclgrad.softmax_backward`. Importing the package loads no
library; the first call does.
"""

from collections.abc import Callable
from typing import Any

from aclgrad.errors import AclgradError, AclnnError, ToolkitError

__version__ = "0.1.0"
__all__ = ["AclgradError", "AclnnError", "ToolkitError", "__version__"]


def __getattr__(name: str) -> Callable[..., Any]:
    from aclgrad import functions

    if name in functions.names():
        function = functions.by_name(name)
        globals()[name] = function
        return function
    raise AttributeError(f"module 'aclgrad' has no attribute {name!r}")


def __dir__() -> list[str]:
    from aclgrad import functions

    return sorted([*__all__, *functions.names()])
