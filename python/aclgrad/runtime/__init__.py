# SPDX-License-Identifier: Apache-2.0
"""Drives the ACL and aclnn C ABI by library name: the simulator's toolkit or CANN's, with the same
code.

May import: ``common``, ``errors``, ``findings``, ``spec``.
"""

from aclgrad.runtime.device import OPTIONS, Device, open_device
from aclgrad.runtime.toolkit import Toolkit, find_toolkit

__all__ = ["OPTIONS", "Device", "Toolkit", "find_toolkit", "open_device"]
