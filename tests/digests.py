# SPDX-License-Identifier: Apache-2.0
"""A plugin of pytest: ``-p digests --digests FOLDER`` writes, for each test, a sum of every byte
that kernels have computed in it but the signs of NaNs, to compare machines: scripts/wheel_proof.py.
What kernels with planted faults leave behind is left out: races, and values that nobody set. So are
addresses.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import os
from functools import wraps
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aclgrad.runtime.memory import Buffer
from raw_simulator import TO_HOST, RawSimulator

_sums: dict[str, Any] = {}
_counts: dict[str, int] = {}
_left_out: set[str] = set()


def _add(data: bytes) -> None:
    test = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" ")[0]
    if test in _left_out:
        return
    # The sign of a NaN that arithmetic makes is the processor's: set on x86-64, clear on aarch64.
    halves = np.frombuffer(data + bytes(len(data) % 2), np.uint16)
    fp16 = (halves & 0x7C00 == 0x7C00) & (halves & 0x3FF != 0)
    bf16 = (halves & 0x7F80 == 0x7F80) & (halves & 0x7F != 0)
    data = np.where(fp16 | bf16, halves & 0x7FFF, halves).tobytes()
    _sums.setdefault(test, hashlib.sha256()).update(data)
    _counts[test] = _counts.get(test, 0) + len(data)


def pytest_addoption(parser: pytest.Parser) -> None:
    """The folder, and how much of the grid."""
    parser.addoption("--digests", type=Path, help="folder for sums of what kernels compute")
    parser.addoption("--every", type=int, default=1, help="of the grid only one case in so many")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out most of the grid, and note what no other machine can have."""
    marks = ("plants_faults", "reads_addresses")
    _left_out.update(i.nodeid for i in items if any(map(i.get_closest_marker, marks)))
    every = config.getoption("--every")
    grid = [item for item in items if item.path.name == "test_precision_grid.py"]
    left = {item.nodeid for index, item in enumerate(grid) if index % every}
    config.hook.pytest_deselected(items=[item for item in items if item.nodeid in left])
    items[:] = [item for item in items if item.nodeid not in left]


def pytest_configure(config: pytest.Config) -> None:
    """Listen where results come from the device."""
    copy, read = RawSimulator.copy, Buffer.read

    @wraps(copy)
    def copy_and_add(self: RawSimulator, to: int, source: int, size: int, kind: int) -> None:
        copy(self, to, source, size, kind)
        if kind == TO_HOST:
            _add(ctypes.string_at(to, size))

    @wraps(read)
    def read_and_add(self: Buffer, *words: Any) -> Any:
        array = read(self, *words)
        _add(array.tobytes())
        return array

    if config.getoption("--digests"):
        RawSimulator.copy = copy_and_add  # type: ignore[method-assign]
        Buffer.read = read_and_add  # type: ignore[method-assign,assignment]


def pytest_sessionfinish(session: pytest.Session) -> None:
    """One file for each process."""
    folder = session.config.getoption("--digests")
    if folder and _sums:
        worker = os.environ.get("PYTEST_XDIST_WORKER", "main")
        found = {test: [_counts[test], _sums[test].hexdigest()] for test in sorted(_sums)}
        (folder / f"{worker}.json").write_text(json.dumps(found, indent=1) + "\n")
