# SPDX-License-Identifier: Apache-2.0
"""Backward operators for Ascend NPUs in Ascend C, with a simulator that needs only g++.

One function per operator, for example `aclgrad.softmax_backward`; `aclgrad.load` makes functions of
anybody's operators. Importing the package loads no
library; the first call does.
"""

from aclgrad import functions as _functions
from aclgrad.errors import AclgradError, AclnnError, ToolkitError
from aclgrad.functions import load

__version__ = "0.1.0"
__all__ = [
    "AclgradError",
    "AclnnError",
    "ToolkitError",
    "__version__",
    "load",
    *_functions.names(),
]
globals().update({_name: _functions.by_name(_name) for _name in _functions.names()})
