# SPDX-License-Identifier: Apache-2.0
"""What the wrong elements of a result have in common, in words: the first thing one looks for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from aclgrad.spec.dtypes import Array

_NEARLY = 0.9  # some elements of a wrong tile are right by chance


@dataclass(frozen=True)
class Wrong:
    """Wrong elements by rows and columns, and who wrote each, if that is known."""

    wrong: NDArray[np.bool_]
    valid: NDArray[np.bool_]
    cores: NDArray[np.int32] | None = None
    pieces: NDArray[np.int64] | None = None
    folded: bool = False


def pattern(two: Wrong) -> tuple[str, str]:
    """The pattern's name, the same for all shapes, and what it is here."""
    count, total = int(two.wrong.sum()), int(two.valid.sum())
    if count >= _NEARLY * total and total > 1:
        word = "every element" if count == total else f"nearly every element ({count} of {total})"
        return "every element", word
    if count == 1:
        return "one element", "one element"
    found = _of_cores(two) or (None if two.folded else _of_columns(two)) or _of_pieces(two)
    found = found or (None if two.folded else _of_rows(two)) or _range(two)
    return found or ("scattered", f"{count} of {total} elements, scattered")


def _of_cores(two: Wrong) -> tuple[str, str] | None:
    if two.cores is None:
        return None
    hit = np.unique(two.cores[two.wrong])
    hit = hit[hit >= 0]
    known = np.unique(two.cores[two.valid & (two.cores >= 0)])
    if not hit.size or hit.size == known.size:
        return None
    theirs = np.isin(two.cores, hit)
    if two.wrong[theirs].mean() < _NEARLY or (two.wrong & ~theirs).any():
        return None
    if hit.size == 1:
        last = ", the last" if hit[0] == known[-1] else ""
        return "all of one core", f"all of core {hit[0]}{last} of {known.size} cores"
    return "all of some cores", f"all of {_listed(hit)} of {known.size} cores"


def _of_columns(two: Wrong) -> tuple[str, str] | None:
    columns = two.wrong.shape[1]
    hit = np.flatnonzero(two.wrong.any(axis=0))
    lines = two.wrong.any(axis=1)
    if hit.size == columns or lines.sum() < 2 or two.wrong[lines][:, hit].mean() < _NEARLY:
        return None
    where = "each row" if lines.all() else f"{int(lines.sum())} of {lines.size} rows"
    size = hit.size
    if hit[-1] - hit[0] + 1 == size:
        lanes = "lane" if size == 1 else f"{size} lanes"
        if hit[-1] == columns - 1:
            return "the last lanes of rows", f"the last {lanes} of {where}"
        if hit[0] == 0:
            return "the first lanes of rows", f"the first {lanes} of {where}"
        named = f"column {hit[0]}" if size == 1 else f"columns {hit[0]} to {hit[-1]}"
        return "columns of rows", f"{named} of {where}"
    steps = np.unique(np.diff(hit))
    if steps.size == 1 and size > 2:
        return "every n-th column", f"every {steps[0]}th column of {where}, from {hit[0]} on"
    return None


def _of_pieces(two: Wrong) -> tuple[str, str] | None:
    if two.pieces is None or two.cores is None:
        return None
    hit = np.unique(two.pieces[two.wrong & (two.pieces >= 0)])
    known = np.unique(two.pieces[two.valid & (two.pieces >= 0)])
    theirs = np.isin(two.pieces, hit)
    if not 0 < hit.size < known.size or two.wrong[theirs].mean() < _NEARLY:
        return None
    if (two.wrong & ~theirs).any():
        return None
    core_of = _cores_of(two)
    if hit.size == 1:
        return "one tile", f"one tile (what one copy writes), of core {core_of[int(hit[0])]}"
    ends: dict[str, set[int]] = {"last": set(), "first": set()}
    for core in set(core_of.values()):
        own = [piece for piece in map(int, known) if core_of[piece] == core]
        if not own:
            continue
        ends["last"].add(max(own))
        ends["first"].add(min(own))
    for word, pieces in ends.items():
        if set(map(int, hit)) == pieces:
            return f"the {word} tile of each core", f"the {word} tile of each core"
    return "some tiles", f"{hit.size} of {known.size} tiles (what one copy writes)"


def _cores_of(two: Wrong) -> dict[int, int]:
    assert two.pieces is not None and two.cores is not None
    pieces, first = np.unique(two.pieces, return_index=True)
    return {int(piece): int(two.cores.ravel()[at]) for piece, at in zip(pieces, first, strict=True)}


def _of_rows(two: Wrong) -> tuple[str, str] | None:
    rows = two.wrong.shape[0]
    hit = np.flatnonzero(two.wrong.any(axis=1))
    if rows < 2 or hit.size == rows or two.wrong[hit].sum() < _NEARLY * two.valid[hit].sum():
        return None
    if hit[-1] - hit[0] + 1 != hit.size:
        return "some rows", f"{hit.size} of {rows} whole rows, from {hit[0]} on"
    words = "row" if hit.size == 1 else f"{hit.size} rows"
    if hit[-1] == rows - 1:
        return "the last rows", f"the last {words}"
    if hit[0] == 0:
        return "the first rows", f"the first {words}"
    return "rows", f"row {hit[0]}" if hit.size == 1 else f"rows {hit[0]} to {hit[-1]}"


def _range(two: Wrong) -> tuple[str, str] | None:
    flat, valid = two.wrong.ravel(), int(two.valid.sum())
    hit = np.flatnonzero(flat)
    if flat[hit[0] : hit[-1] + 1].mean() < _NEARLY:
        return None
    rows, columns = two.wrong.shape
    if rows > 1 and not two.folded and hit[0] // columns == hit[-1] // columns:
        first, last = hit[0] % columns, hit[-1] % columns
        return "a part of one row", f"row {hit[0] // columns}, columns {first} to {last}"
    if hit[-1] == valid - 1:
        return "the last elements", f"the last {valid - hit[0]} elements"
    if hit[0] == 0:
        return "the first elements", f"the first {hit[-1] + 1} elements"
    return "a range", f"elements {hit[0]} to {hit[-1]}"


def _listed(cores: Array) -> str:
    if cores[-1] - cores[0] + 1 == cores.size:
        return f"cores {cores[0]} to {cores[-1]}"
    names = ", ".join(map(str, cores[:6]))
    return f"cores {names}{', ...' if cores.size > 6 else ''}"
