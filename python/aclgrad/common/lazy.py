# SPDX-License-Identifier: Apache-2.0
"""Imports on first use that a fork does not cut in two.

A child of os.fork() has one thread. Where another thread of its parent was importing a module, the
child waits for that module for ever. So a fork waits for the imports that are made here.
"""

from __future__ import annotations

import importlib
import os
import threading
from types import ModuleType

_importing = threading.RLock()
os.register_at_fork(
    before=_importing.acquire,
    after_in_parent=_importing.release,
    after_in_child=_importing.release,
)


def module(name: str) -> ModuleType:
    """Import a module on a path that any thread may take first: a call of an operator."""
    with _importing:
        return importlib.import_module(name)
