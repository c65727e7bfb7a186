# SPDX-License-Identifier: Apache-2.0
"""Keeps what jinja2 makes of templates: to translate those of a kernel and of the report takes as
long as to compile a small kernel.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import jinja2

from aclgrad.common import cache
from aclgrad.errors import ToolkitError

if TYPE_CHECKING:
    from jinja2.bccache import Bucket


class _Kept(jinja2.FileSystemBytecodeCache):
    """A file that cannot be read or written costs time and nothing else."""

    def load_bytecode(self, bucket: Bucket) -> None:
        try:
            super().load_bytecode(bucket)
        except Exception:  # of a damaged file
            bucket.reset()

    def dump_bytecode(self, bucket: Bucket) -> None:
        with contextlib.suppress(OSError):
            super().dump_bytecode(bucket)


def kept() -> jinja2.BytecodeCache | None:
    """Where templates are kept, in the cache of builds; None where that cannot be used. A template
    is known by its text, jinja2 and Python by their versions.
    """
    try:
        folder = cache.root() / "templates"
        folder.mkdir(mode=0o700, exist_ok=True)
    except (ToolkitError, OSError):
        return None
    return _Kept(str(folder), f"{jinja2.__version__}-%s")
