# SPDX-License-Identifier: Apache-2.0
"""How long builds take, in a folder of their own and without a compiler cache."""

from __future__ import annotations

import os
import resource
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from aclgrad.checkout.cmake_build import build
from aclgrad.ops import all_specs
from aclgrad.runtime.toolkit import checkout

Row = dict[str, Any]


def _spent() -> float:
    """CPU seconds of the processes that have ended, which other work on the machine adds little
    to.
    """
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measure() -> Iterator[Row]:
    """Seconds of each build, one after the other, from an empty folder."""
    os.environ.pop("CMAKE_CXX_COMPILER_LAUNCHER", None)
    os.environ["CCACHE_DISABLE"] = "1"
    with tempfile.TemporaryDirectory() as name:
        yield from measure_in(Path(name))


def measure_in(folder: Path) -> Iterator[Row]:
    """Seconds of each build in a folder; what the compiler costs depends on what is there."""
    root = checkout()
    assert root is not None  # this file is part of one

    def seconds(*targets: str) -> float:
        begin = time.perf_counter()
        build(targets, folder=folder)
        return round(time.perf_counter() - begin, 2)

    def cold(what: str, target: str) -> Row:
        before = _spent()
        row = {"build": what, "cold": seconds(target)}
        return row | {"cold, CPU": round(_spent() - before, 2)}

    yield cold("simulator and what operators share", "cust_opapi")
    for spec in all_specs():
        row = cold(spec.op, spec.op)
        source = root / "op_kernel" / spec.op / f"{spec.op}.cpp"
        before = source.stat()
        source.touch()
        try:
            row["touched"] = seconds(spec.op)
        finally:
            os.utime(source, ns=(before.st_atime_ns, before.st_mtime_ns))
        row["nothing to do"] = seconds(spec.op)
        yield row
