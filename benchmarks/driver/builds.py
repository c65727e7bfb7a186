# SPDX-License-Identifier: Apache-2.0
"""How long builds take, in a folder of their own and without a compiler cache."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from aclgrad.build import build
from aclgrad.ops import all_specs
from aclgrad.runtime.toolkit import checkout

Row = dict[str, Any]


def measure() -> Iterator[Row]:
    """Seconds of each build, one after the other."""
    os.environ.pop("CMAKE_CXX_COMPILER_LAUNCHER", None)
    os.environ["CCACHE_DISABLE"] = "1"
    root = checkout()
    assert root is not None  # this file is part of one
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)

        def seconds(*targets: str) -> float:
            begin = time.perf_counter()
            build(targets, folder=folder)
            return round(time.perf_counter() - begin, 2)

        yield {"build": "simulator and what operators share", "cold": seconds("cust_opapi")}
        for spec in all_specs():
            row: Row = {"build": spec.op, "cold": seconds(spec.op)}
            source = root / "op_kernel" / spec.op / f"{spec.op}.cpp"
            before = source.stat()
            source.touch()
            try:
                row["touched"] = seconds(spec.op)
            finally:
                os.utime(source, ns=(before.st_atime_ns, before.st_mtime_ns))
            row["nothing to do"] = seconds(spec.op)
            yield row
