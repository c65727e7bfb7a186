# SPDX-License-Identifier: Apache-2.0
"""What a TCubeTiling decides, in plain words: parts of cores, tiles, and bytes of each memory."""

from __future__ import annotations

from collections.abc import Mapping

from aclgrad.common.data import Json

_MARKS = ("usedCoreNum", "singleCoreM", "baseM", "depthA1", "stepKa", "dbL0C")
"""A struct with these fields is a TCubeTiling."""
_SUM_BYTES = 4  # an element of L0C is fp32 or int32
_ROWS = 16  # a fractal has so many rows
_BLOCK = 32  # and each of them so many bytes


def described(
    fields: Mapping[str, Json], element: int, memories: Mapping[str, int]
) -> dict[str, str]:
    """Rows for each TCubeTiling among the fields. An element of A and B has ``element`` bytes;
    ``memories`` has the bytes of l1, l0a, l0b and l0c.
    """
    prefixes = [name.removesuffix(_MARKS[0]) for name in fields if name.endswith(_MARKS[0])]
    rows: dict[str, str] = {}
    for prefix in prefixes:
        if all(f"{prefix}{mark}" in fields for mark in _MARKS):
            own = {
                name.removeprefix(prefix): int(value)
                for name, value in fields.items()
                if name.startswith(prefix) and isinstance(value, (int, float))
            }
            for name, words in _of_one(own, element, memories).items():
                rows[f"{prefix}{name}"] = words
    return rows


def _of_one(t: Mapping[str, int], element: int, memories: Mapping[str, int]) -> dict[str, str]:
    m, n, k = (t[f"single{axis}"] for axis in ("CoreM", "CoreN", "CoreK"))
    base_m, base_n, base_k = t["baseM"], t["baseN"], t["baseK"]
    if min(base_m, base_n, base_k, m, n, k) < 1:
        return {"cores": "nothing is set: GetTiling has refused, or nobody has called it"}
    tiles = (_parts(m, base_m), _parts(n, base_n))
    steps = _parts(k, base_k)
    order = "down a column first" if t["iterateOrder"] == 0 else "along a row first"
    held = []
    total = 0
    for name, base, step, step_k, depth in (
        ("A", base_m, t["stepM"], t["stepKa"], t["depthA1"]),
        ("B", base_n, t["stepN"], t["stepKb"], t["depthB1"]),
    ):
        outer, inner = base * step, base_k * step_k
        blocks = depth // max(step * step_k, 1)
        size = blocks * _up(outer, _ROWS) * _up(inner, _BLOCK // element) * element
        total += size
        held.append(f"{_count(blocks, 'block')} of {name} of {outer} x {inner}, {_kib(size)}")
    bias = base_n * _SUM_BYTES if t["isBias"] else 0
    words = {
        "cores": f"{_count(t['usedCoreNum'], 'core')}, each {m} x {n} of C's {t['M']} x {t['N']}"
        f" and {k} of K's {t['Ka']}",
        "tiles": f"{_count(tiles[0] * tiles[1], 'tile')} of C in a core, {base_m} x {base_n},"
        f" {order}; each takes K in {_count(steps, 'step')} of {base_k}",
        "L1": f"{'; '.join(held)}{'; the bias' if bias else ''}: "
        f"{_share(total + bias, memories['l1'])}",
    }
    for name, memory, outer, double in (
        ("L0A", "l0a", base_m, t["dbL0A"]),
        ("L0B", "l0b", base_n, t["dbL0B"]),
    ):
        size = double * outer * base_k * element
        words[name] = (
            f"{_count(double, 'tile')} of {name[-1]}, {outer} x {base_k}:"
            f" {_share(size, memories[memory])}"
        )
    sums = t["dbL0C"] * base_m * base_n * _SUM_BYTES
    words["L0C"] = (
        f"{_count(t['dbL0C'], 'tile')} of C, {base_m} x {base_n}: {_share(sums, memories['l0c'])}"
    )
    batches = t.get("BatchNum", 0)
    if batches > 1:
        words["batches"] = f"up to {batches} products at once"
    return words


def _parts(extent: int, part: int) -> int:
    return -(-extent // part)


def _up(value: int, unit: int) -> int:
    return _parts(value, unit) * unit


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"


def _kib(size: int) -> str:
    return f"{size / 1024:g} KiB"


def _share(size: int, room: int) -> str:
    over = ", more than there is" if size > room else ""
    return f"{_kib(size)} of {_kib(room)}{over}"
