# SPDX-License-Identifier: Apache-2.0
"""The stub of the package, which editors and type checkers read in place of ``__init__.py``: the
functions there are made from the specs when it is imported.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from aclgrad.codegen.render import render, write_if_different
from aclgrad.ops import need_all
from aclgrad.spec.op_spec import OpSpec

PLACE = Path("python/aclgrad/__init__.pyi")
"""In a checkout."""


def stub(specs: Iterable[OpSpec] | None = None) -> str:
    """The stub's text."""
    return render("aclgrad.pyi.j2", specs=tuple(need_all() if specs is None else specs))


def write(root: Path) -> list[Path]:
    """Bring the stub of a checkout up to date; returns the path if it changed."""
    path = root / PLACE
    return [path] if write_if_different(path, stub()) else []
