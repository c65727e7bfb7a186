# SPDX-License-Identifier: Apache-2.0
"""Memory that the host can still give, so that a problem that does not fit ends with an error: the
kernel answers a process that takes too much by killing it, without a word.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from aclgrad.errors import AclgradError

_ASK_FROM = 32 << 20
"""Bytes; less is not worth the question."""

_SLACK = 16 << 20
"""Bytes that a process wants besides."""

_GROUPS = {
    "memory": ("memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
    "": ("", "memory.max", "memory.current", "inactive_file"),
}
"""By the controller that /proc/self/cgroup names: a folder and the files of each version."""


def need(nbytes: int, what: str) -> None:
    """Refuse what the host cannot give now. Small amounts are not asked for."""
    if nbytes < _ASK_FROM:
        return
    left, limit = available()
    if nbytes + _SLACK > left:
        raise AclgradError(
            f"{what}: {nbytes >> 20:,} MB of memory wanted, {limit} leaves {left >> 20:,} MB. Next:"
            " smaller tensors, or raise the limit"
        )


def available(root: Path = Path("/")) -> tuple[int, str]:
    """Bytes that this process may still take, and what limits them. Unknown counts as no limit."""
    words = _words(root / "proc/meminfo")
    free = (words.get("MemAvailable:", 1 << 50) + words.get("SwapFree:", 0)) * 1024
    return min([(free, "the host"), *_groups(root)])


def _groups(root: Path) -> Iterator[tuple[int, str]]:
    """What each control group around this process leaves. In a container the topmost folder may be
    the group's own.
    """
    with suppress(OSError):
        for line in (root / "proc/self/cgroup").read_text(errors="replace").splitlines():
            _, controllers, group = line.split(":", 2)
            for controller in controllers.split(","):
                if controller not in _GROUPS:
                    continue
                folder, limit, used, reclaimable = _GROUPS[controller]
                top = root / "sys/fs/cgroup" / folder
                parts = [part for part in group.split("/") if part]
                for depth in range(len(parts) + 1):
                    at = top.joinpath(*parts[:depth])
                    most, taken = _number(at / limit), _number(at / used)
                    if most is None or taken is None:
                        continue
                    taken -= min(taken, _words(at / "memory.stat").get(reclaimable, 0))
                    name = f"the control group's limit of {most >> 20:,} MB ({at / limit})"
                    yield max(0, most - taken), name


def _number(path: Path) -> int | None:
    with suppress(OSError, ValueError):  # no such file, or "max"
        return int(path.read_text())
    return None


def _words(path: Path) -> dict[str, int]:
    """Numbers behind the first word of each line."""
    found = {}
    with suppress(OSError):
        for line in path.read_text(errors="replace").splitlines():
            word, _, rest = line.partition(" ")
            number = rest.split()[:1]
            if number and number[0].isdigit():
                found[word] = int(number[0])
    return found
