# SPDX-License-Identifier: Apache-2.0
"""Follows the import of torch_npu, so that the fallback is there however that began."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

_NAME = "torch_npu"


class _Following(Loader):
    """The module's own loader, with something to do before and after it."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """As the module's own."""
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        """Run the module between `prepare` and `complete`."""
        import aclgrad_torch_npu

        aclgrad_torch_npu.prepare()
        self._loader.exec_module(module)
        aclgrad_torch_npu.complete()

    def __getattr__(self, name: str) -> object:
        return getattr(self._loader, name)


class _Finder(MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Wrap the loader of torch_npu, once."""
        if fullname != _NAME:
            return None
        from aclgrad_torch_npu import simulator

        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None and simulator.in_place():
            spec.loader = _Following(spec.loader)
        return spec


def install() -> None:
    """Watch for torch_npu."""
    if _NAME not in sys.modules and not any(isinstance(f, _Finder) for f in sys.meta_path):
        sys.meta_path.insert(0, _Finder())
