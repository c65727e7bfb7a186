# SPDX-License-Identifier: Apache-2.0
"""Shapes that a campaign file describes, by their place: nothing is listed that a range says."""

from __future__ import annotations

import csv
import hashlib
import io
import math
import random
import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

Shape = tuple[int, ...]

_DIM = re.compile(r"(\d+)(?:\.\.(\d+)(?:([*+])(\d+))?)?")
_LARGEST = 2**31
_MOST_DIMS = 32
_MOST_SHAPES = 10**12


class Axis(Protocol):
    """Shapes by their place."""

    def __len__(self) -> int:
        """How many there are."""

    def __getitem__(self, at: int) -> Shape:
        """One of them."""


@dataclass(frozen=True)
class Steps:
    """The values of one dim: every ``step``-th, or each ``step`` times the one before."""

    first: int
    last: int
    step: int = 1
    times: bool = False

    def __len__(self) -> int:
        """How many values there are."""
        if not self.times:
            return (self.last - self.first) // self.step + 1
        count, value = 0, self.first
        while value <= self.last:
            count, value = count + 1, value * self.step
        return count

    def __getitem__(self, at: int) -> int:
        """One value."""
        return self.first * self.step**at if self.times else self.first + at * self.step


@dataclass(frozen=True)
class Box:
    """``1..64x4096``: every combination of the dims' values, the last dim fastest."""

    dims: tuple[Steps, ...]

    def __len__(self) -> int:
        """How many shapes there are."""
        return math.prod(map(len, self.dims))

    def __getitem__(self, at: int) -> Shape:
        """One of them."""
        found: list[int] = []
        for dim in reversed(self.dims):
            at, digit = divmod(at, len(dim))
            found.append(dim[digit])
        return tuple(reversed(found))


@dataclass(frozen=True)
class Random:
    """Shapes drawn by a seed, each from its own place: dims by their logarithm."""

    count: int
    seed: int
    rank: tuple[int, int]
    dim: tuple[int, int]
    elements: int

    def __len__(self) -> int:
        """How many shapes there are."""
        return self.count

    def __getitem__(self, at: int) -> Shape:
        """One of them."""
        key = hashlib.sha256(f"{self.seed}:{at}".encode()).digest()
        rng = random.Random(int.from_bytes(key[:8], "big"))
        room = self.elements
        found = []
        for _ in range(rng.randint(*self.rank)):
            low, high = self.dim[0], min(self.dim[1], max(room, self.dim[0]))
            value = round(math.exp(rng.uniform(math.log(low), math.log(high))))
            found.append(min(max(value, low), high))
            room //= found[-1]
        rng.shuffle(found)
        return tuple(found)


@dataclass(frozen=True)
class Joined:
    """Several one after the other."""

    parts: tuple[Axis, ...]
    ends: tuple[int, ...]

    @staticmethod
    def of(parts: Sequence[Axis]) -> Joined:
        """Put axes behind one another."""
        ends, total = [], 0
        for part in parts:
            total += len(part)
            ends.append(total)
        return Joined(tuple(parts), tuple(ends))

    def __len__(self) -> int:
        """How many shapes there are."""
        return self.ends[-1] if self.ends else 0

    def __getitem__(self, at: int) -> Shape:
        """One of them."""
        which = bisect_right(self.ends, at)
        return self.parts[which][at - (self.ends[which - 1] if which else 0)]


def box(text: str) -> Box:
    """``8x1..64``, ``1..4096*2x16``, ``scalar``. Raises ValueError that says what is wrong."""
    want = (
        "dims joined by x, each a number or a range such as 1..64, 1..4096*2 or 8..512+8; or scalar"
    )
    if text == "scalar":
        return Box(())
    dims = []
    for word in text.lower().split("x"):
        match = _DIM.fullmatch(word)
        if match is None:
            raise ValueError(f"got {text!r}, want {want}")
        first, last = int(match[1]), int(match[2] or match[1])
        times, step = match[3] == "*", int(match[4] or 1)
        if last < first:
            raise ValueError(f"got {text!r}: {word} is empty, want the smaller number first")
        if last >= _LARGEST:
            raise ValueError(f"got {text!r}, want dims below {_LARGEST}")
        if step < (2 if times else 1) or (times and first < 1):
            raise ValueError(f"got {text!r}: {word} never gets to its end")
        dims.append(Steps(first, last, step, times))
    if len(dims) > _MOST_DIMS or math.prod(map(len, dims)) > _MOST_SHAPES:
        raise ValueError(
            f"got {text!r}, want at most {_MOST_DIMS} dims and {_MOST_SHAPES:,} shapes"
        )
    return Box(tuple(dims))


def drawn(table: Mapping[str, object]) -> Random:
    """The table ``random`` of a file. Raises ValueError that says what is wrong."""
    known: dict[str, Any] = {
        "count": 100, "seed": 0, "rank": [1, 4], "dim": [1, 4096], "elements": 1 << 20,
    }  # fmt: skip
    if unknown := [name for name in table if name not in known]:
        raise ValueError(f"got {unknown[0]!r}, want {', '.join(known)}")
    given = {**known, **table}
    for name in ("count", "seed", "elements"):
        if type(given[name]) is not int or not (name != "seed") <= given[name] <= _MOST_SHAPES:
            want = f"a whole number from 1 to {_MOST_SHAPES:,}"
            raise ValueError(f"{name}: got {given[name]!r}, want {want}")
    for name in ("rank", "dim"):
        pair = given[name] if isinstance(given[name], list) else [given[name]] * 2
        if len(pair) != 2 or any(
            type(item) is not int or not 1 <= item < _LARGEST for item in pair
        ):
            want = f"a number below {_LARGEST} or a pair such as [1, 8]"
            raise ValueError(f"{name}: got {given[name]!r}, want {want}")
        if pair[0] > pair[1] or (name == "rank" and pair[1] > 8):
            raise ValueError(f"{name}: got {given[name]!r}, want the smaller first, ranks up to 8")
        given[name] = tuple(pair)
    return Random(given["count"], given["seed"], given["rank"], given["dim"], given["elements"])


def models(text: str) -> dict[str, list[str]]:
    """Shapes of a CSV by operator; those for all operators are under "". Raises ValueError."""
    rows = csv.DictReader(io.StringIO(text), skipinitialspace=True)
    if not rows.fieldnames or "shape" not in rows.fieldnames:
        raise ValueError(f"its columns are {', '.join(rows.fieldnames or ['none'])}, want shape")
    found: dict[str, list[str]] = {}
    for number, row in enumerate(rows, 2):
        shape = (row["shape"] or "").strip()
        try:
            box(shape)
        except ValueError as error:
            raise ValueError(f"line {number}: {error}") from None
        listed = found.setdefault((row.get("operator") or "").strip(), [])
        if shape not in listed:
            listed.append(shape)
    return found
