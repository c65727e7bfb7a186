# SPDX-License-Identifier: Apache-2.0
"""Where a result is wrong, as data for a picture: rows by columns, in bins that show their worst
element, with the borders of cores and of the pieces that they wrote.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypedDict, TypeVar

import numpy as np
from numpy.typing import NDArray

from aclgrad.common.data import rebuilt
from aclgrad.golden.precision import Errors
from aclgrad.runtime.device import Device
from aclgrad.spec.definition import Value
from aclgrad.spec.dtypes import Array
from aclgrad.testing.pattern import Wrong, pattern
from aclgrad.testing.writers import Writers, writers_of

ROWS, COLUMNS = 40, 64
"""Bins of a picture, at most."""
BEYOND, UNWRITTEN, SPECIAL = " ", "u", "n"
LEVELS = "abcde"
"""Error by what the rule allows: up to a quarter, 1, 8, 1000, and above; from c on it is wrong."""
_LEVEL_EDGES = (0.25, 1.0, 8.0, 1000.0)
_MOST_LINES = 400
# Scores of what has no finite error, above all that have one.
_SPECIAL, _UNWRITTEN = 1e300, 2e300

Line = tuple[int, int, int, int]
S = TypeVar("S", bound=np.generic)


@dataclass(frozen=True)
class Cell:
    """The worst element of a bin with wrong elements, and how many of these there are."""

    index: tuple[int, ...]
    got: str
    want: str
    ulp: str
    wrong: int


@dataclass(frozen=True)
class Picture:
    """A result folded to ``rows`` x ``columns``. A mark per bin, row by row; lines are from
    (column, row) to (column, row) in elements.
    """

    shape: tuple[int, ...]
    rows: int
    columns: int
    row_bin: int
    column_bin: int
    folded: bool  # at no axis of the tensor: rows only make the picture square
    marks: tuple[str, ...]
    cores: tuple[tuple[int, ...], ...]  # of each bin's worst element
    cells: dict[str, Cell]  # by number of the bin
    core_lines: tuple[Line, ...]
    tile_lines: tuple[Line, ...]
    wrong: int
    total: int
    cause: str
    where: str

    @property
    def size(self) -> tuple[int, int]:
        """Bins: rows and columns."""
        return len(self.marks), len(self.marks[0])


class Written(TypedDict):
    """The fields of a picture for which JSON has another type."""

    shape: list[int]
    marks: list[str]
    cores: list[list[int]]
    cells: dict[str, _WrittenCell]
    core_lines: list[list[int]]
    tile_lines: list[list[int]]


class _WrittenCell(TypedDict):
    index: list[int]


def from_json(data: Written) -> Picture:
    """Read what `dataclasses.asdict` and JSON made of a picture."""
    return rebuilt(
        Picture,
        data,
        shape=tuple(data["shape"]),
        marks=tuple(data["marks"]),
        cores=tuple(map(tuple, data["cores"])),
        cells={
            name: rebuilt(Cell, cell, index=tuple(cell["index"]))
            for name, cell in data["cells"].items()
        },
        core_lines=tuple(map(tuple, data["core_lines"])),
        tile_lines=tuple(map(tuple, data["tile_lines"])),
    )


def of_result(
    device: Device | None,
    errors: Errors,
    actual: Array,
    attrs: Mapping[str, Value],
    name: str = "",
) -> Picture | None:
    """Draw what is wrong in an output: along the dim that an attribute names, and with who wrote
    what, where the device knows.
    """
    axis = next((attrs[key] for key in ("dim", "axis", "axes") if key in attrs), None)
    writers = writers_of(device, actual.size, name) if device else None
    return draw(errors, actual, axis if isinstance(axis, int) else None, writers)


def draw(
    errors: Errors, actual: Array, axis: int | None, writers: Writers | None
) -> Picture | None:
    """Draw what is wrong; None if nothing is. ``axis`` is the one that the operator
    reduces, the last when left out.
    """
    wrong = errors.wrong.ravel()
    if not wrong.any():
        return None
    pieces = None if writers is None else writers.pieces
    own = _columns(errors.wrong.shape, axis)
    columns, folded = _fold(wrong.size, own, pieces)
    rows = -(-wrong.size // columns)
    unwritten = wrong & _unwritten(actual, writers)
    with np.errstate(all="ignore"):
        score = np.where(wrong, np.maximum(errors.excess.ravel(), 1.001), errors.excess.ravel())
    score = np.minimum(np.nan_to_num(score, nan=_SPECIAL / 2, posinf=_SPECIAL / 2), _SPECIAL / 2)
    score[errors.special.ravel()] = _SPECIAL
    score[unwritten] = _UNWRITTEN
    row_bin, column_bin = -(-rows // ROWS), -(-columns // COLUMNS)
    worst = _worst(score, rows, columns, row_bin, column_bin)
    counts = _counts(wrong, rows, columns, row_bin, column_bin)
    cells: dict[str, Cell] = {}
    marks, cores = [], []
    for r, line in enumerate(worst):
        marks.append("".join(_mark(score[at]) if at >= 0 else BEYOND for at in line))
        cores.append(
            tuple(-1 if writers is None or at < 0 else int(writers.cores[at]) for at in line)
        )
        for c, at in enumerate(line):
            if at >= 0 and counts[r][c]:
                cells[str(r * len(line) + c)] = _cell(errors, int(at), int(counts[r][c]))
    of_rows, of_columns = (rows, columns) if own == wrong.size else (wrong.size // own, own)
    two = Wrong(
        _grid(wrong, of_rows, of_columns, False),
        _grid(np.ones(wrong.size, bool), of_rows, of_columns, False),
        None if writers is None else _grid(writers.cores, of_rows, of_columns, -3),
        None if writers is None else _grid(writers.pieces, of_rows, of_columns, -3),
        folded and own == wrong.size,
    )
    kind = (
        "unwritten"
        if unwritten.sum() == wrong.sum()
        else "NaN or Inf"
        if errors.special.sum() == wrong.sum()
        else "wrong"
    )
    cause, where = pattern(two)
    return Picture(
        tuple(errors.wrong.shape), rows, columns, row_bin, column_bin, folded,
        tuple(marks), tuple(cores), cells,
        *_borders(writers, rows, columns), int(wrong.sum()), int(wrong.size),
        f"{kind}: {cause}", where if kind == "wrong" else f"{kind}: {where}",
    )  # fmt: skip


def _columns(shape: Sequence[int], axis: int | None) -> int:
    """Elements of a row: those behind the axis, or along the last."""
    if not shape:
        return 1
    at = -1 if axis is None or not -len(shape) <= axis < len(shape) else axis
    # Rows are those that are reduced; an axis in the middle is reduced over what is behind it.
    columns = math.prod(shape[at % len(shape) + 1 :])
    return columns if columns > 1 else max(shape[-1], 1)


def _fold(total: int, columns: int, pieces: NDArray[np.int64] | None) -> tuple[int, bool]:
    """Columns of the picture, and whether no axis of the tensor says so: few long rows are cut."""
    rows = total // columns
    if rows >= 4 or columns < (256 if rows == 1 else 4096):
        return columns, False
    if pieces is not None:
        # One row for each copy, where copies are alike.
        starts = np.flatnonzero(np.diff(pieces, prepend=-9))
        lengths, counts = np.unique(np.diff(starts, append=total), return_counts=True)
        length = int(lengths[counts.argmax()])
        if 16 <= length <= total // 4 and total // length <= 4096:
            return length, True
    return 1 << math.ceil(math.log2(math.sqrt(total))), True


def _unwritten(actual: Array, writers: Writers | None) -> NDArray[np.bool_]:
    """Elements that still hold what was there before the launch."""
    flat = np.ascontiguousarray(actual).reshape(-1)
    raw = flat.view(np.uint8).reshape(flat.size, -1)
    poison = (raw == 0xFF).all(axis=1)
    if writers is not None:
        poison &= writers.cores == -1
    untouched: NDArray[np.bool_] = poison | (raw == 0xA5).all(axis=1)
    return untouched


def _grid(flat: NDArray[S], rows: int, columns: int, rest: float) -> NDArray[S]:
    if flat.size == rows * columns:
        return flat.reshape(rows, columns)
    whole = np.full(rows * columns, rest, flat.dtype)
    whole[: flat.size] = flat
    return whole.reshape(rows, columns)


def _binned(
    flat: NDArray[S], rows: int, columns: int, row_bin: int, column_bin: int, rest: float
) -> NDArray[S]:
    """Bins by bins, with the elements of each on the last axis."""
    down, across = -(-rows // row_bin), -(-columns // column_bin)
    whole = np.full((down * row_bin, across * column_bin), rest, flat.dtype)
    whole[:rows, :columns] = _grid(flat, rows, columns, rest)
    parts = whole.reshape(down, row_bin, across, column_bin).transpose(0, 2, 1, 3)
    return parts.reshape(down, across, row_bin * column_bin)


def _worst(
    score: NDArray[np.float64], rows: int, columns: int, row_bin: int, column_bin: int
) -> NDArray[np.int64]:
    """Place of the worst element of each bin; -1 for a bin without elements."""
    parts = _binned(score, rows, columns, row_bin, column_bin, -1.0)
    inside = parts.argmax(axis=2)
    down, across = inside.shape
    row = np.arange(down)[:, None] * row_bin + inside // column_bin
    column = np.arange(across)[None, :] * column_bin + inside % column_bin
    places: NDArray[np.int64] = np.where(parts.max(axis=2) < 0, -1, row * columns + column)
    return places


def _counts(
    wrong: NDArray[np.bool_], rows: int, columns: int, row_bin: int, column_bin: int
) -> NDArray[np.int64]:
    counts: NDArray[np.int64] = _binned(wrong, rows, columns, row_bin, column_bin, False).sum(
        axis=2
    )
    return counts


def _mark(score: float) -> str:
    if score >= _UNWRITTEN:
        return UNWRITTEN
    if score >= _SPECIAL:
        return SPECIAL
    return LEVELS[sum(score > edge for edge in _LEVEL_EDGES)]


def _cell(errors: Errors, at: int, wrong: int) -> Cell:
    index = tuple(int(i) for i in np.unravel_index(at, errors.got.shape))
    ulp = float(errors.ulps[index])
    text = f"{ulp:.1f}" if ulp < 1e5 else f"{ulp:.2g}"
    got, want = (f"{float(values[index]):.9g}" for values in (errors.got, errors.exact))
    return Cell(index, got, want, text if math.isfinite(ulp) else "-", wrong)


def _borders(
    writers: Writers | None, rows: int, columns: int
) -> tuple[tuple[Line, ...], tuple[Line, ...]]:
    """The lines between cores and between tiles."""
    if writers is None:
        return (), ()
    cores, pieces = (_grid(of, rows, columns, -3) for of in (writers.cores, writers.pieces))
    return _lines(cores), _lines(pieces)


def _lines(of: Array) -> tuple[Line, ...]:
    """Where neighbours differ, unless that is everywhere."""
    rows, columns = of.shape
    lines: list[Line] = []
    inside = of != -3
    for across in (True, False):
        one, two = (of[:-1], of[1:]) if across else (of[:, :-1], of[:, 1:])
        a, b = (inside[:-1], inside[1:]) if across else (inside[:, :-1], inside[:, 1:])
        differ = (one != two) & a & b
        if not across:
            differ = differ.T
        borders = np.flatnonzero(differ.any(axis=1))
        if borders.size > (ROWS if across else COLUMNS):
            continue
        for at in borders:
            edges = np.flatnonzero(np.diff(differ[at].astype(np.int8), prepend=0, append=0))
            for begin, end in edges.reshape(-1, 2):
                place = int(at) + 1
                lines.append(
                    (int(begin), place, int(end), place)
                    if across
                    else (place, int(begin), place, int(end))
                )
    return tuple(lines) if len(lines) <= _MOST_LINES else ()
