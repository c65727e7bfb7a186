# SPDX-License-Identifier: Apache-2.0
"""Memory that the host leaves, by what /proc and both versions of control groups say."""

from __future__ import annotations

from pathlib import Path

import pytest

from aclgrad.cases import case_runs
from aclgrad.common import host_memory
from aclgrad.errors import AclgradError

MB = 1 << 20


def host(root: Path, groups: str, files: dict[str, str]) -> Path:
    """A host with 1,000 MB free and 24 MB of swap."""
    numbers = {"MemTotal": 9000, "MemAvailable": 1000, "SwapFree": 24}
    info = "".join(f"{word}:  {mb * 1024} kB\n" for word, mb in numbers.items())
    files = {"proc/meminfo": info, "proc/self/cgroup": groups} | files
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def test_no_group_has_a_limit(tmp_path: Path) -> None:
    root = host(tmp_path, "0::/a\n", {"sys/fs/cgroup/a/memory.max": "max\n"})
    assert host_memory.available(root) == (1024 * MB, "the host")
    assert host_memory.available(tmp_path / "none")[1] == "the host"


def test_first_version(tmp_path: Path) -> None:
    """A group around this one leaves least; files that nobody uses give way."""
    top = "sys/fs/cgroup/memory"
    files = {
        f"{top}/a/memory.limit_in_bytes": str(512 * MB),
        f"{top}/a/memory.usage_in_bytes": str(500 * MB),
        f"{top}/a/memory.stat": f"cache 7\ntotal_inactive_file {100 * MB}\n",
        f"{top}/a/b/memory.limit_in_bytes": str(2048 * MB),
        f"{top}/a/b/memory.usage_in_bytes": str(400 * MB),
    }
    left, limit = host_memory.available(host(tmp_path, "4:cpu:/x\n3:memory:/a/b\n", files))
    assert left == 112 * MB and "limit of 512 MB" in limit and "/a/memory.limit" in limit


def test_second_version_in_a_container(tmp_path: Path) -> None:
    """Whose root is the group's own."""
    top = "sys/fs/cgroup"
    files = {f"{top}/memory.max": str(64 * MB), f"{top}/memory.current": str(80 * MB)}
    left, limit = host_memory.available(host(tmp_path, "0::/\n", files))
    assert left == 0 and "limit of 64 MB" in limit


def test_refusal() -> None:
    host_memory.need(1 << 20, "a tensor")
    with pytest.raises(AclgradError, match=r"a tensor: .* MB of memory wanted, .* Next: smaller"):
        host_memory.need(1 << 60, "a tensor")


def test_cases_share_processes_where_memory_allows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_memory, "available", lambda: (8 << 30, "the host"))
    assert case_runs.parts_of(300, prints=False) == 2
    assert case_runs.parts_of(300, prints=True) == case_runs.parts_of(5, prints=False) == 1
    monkeypatch.setattr(host_memory, "available", lambda: (512 << 20, "the control group"))
    assert case_runs.parts_of(300, prints=False) == 1
