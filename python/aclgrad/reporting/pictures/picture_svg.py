# SPDX-License-Identifier: Apache-2.0
"""A picture of a wrong result as an inline SVG, and the data that pointer and keyboard ask for.

It stands without scripts; colours come from the page.
"""

from __future__ import annotations

from html import escape
from itertools import groupby
from typing import Any

from aclgrad.testing.picture import BEYOND, LEVELS, SPECIAL, UNWRITTEN, Picture

NAMES = {
    "a": "right, up to a quarter of what the rule allows",
    "b": "right",
    "c": "wrong, up to 8 times what the rule allows",
    "d": "wrong, up to 1000 times what it allows",
    "e": "wrong by more than 1000 times what the rule allows",
    SPECIAL: "NaN or Inf in the wrong place",
    UNWRITTEN: "unwritten",
}
_LEFT, _TOP, _EDGE = 46.0, 16.0, 4.0


def legend(picture: Picture) -> list[tuple[str, str]]:
    """Class and words of each colour that occurs, and of the lines."""
    used = set("".join(picture.marks))
    found = [(f"m{mark}", NAMES[mark]) for mark in (*LEVELS, SPECIAL, UNWRITTEN) if mark in used]
    if picture.core_lines:
        found.append(("line-core", "border between cores"))
    if picture.tile_lines:
        found.append(("line-tile", "border between tiles: what one copy writes"))
    return found


def summary(picture: Picture) -> str:
    """Shape, bins, how much is wrong: beside a picture, and for who cannot see it."""
    shape = " x ".join(map(str, picture.shape)) or "scalar"
    folded = f", as rows of {picture.columns} elements" if picture.folded else ""
    bins = (
        "a square for each element"
        if picture.row_bin == picture.column_bin == 1
        else f"a square shows the worst of {picture.row_bin} x {picture.column_bin} elements"
    )
    return f"{shape}{folded}; {bins}; {picture.wrong} of {picture.total} elements are wrong"


def worst(picture: Picture, count: int = 8) -> list[tuple[str, str, str, str, str]]:
    """Rows of a table for who cannot see the picture: index, got, want, ULP, core."""
    order = sorted(picture.cells, key=lambda at: _severity(picture, int(at)))
    return [
        (_index(cell.index), cell.got, cell.want, cell.ulp, _core(picture, int(at)))
        for at in order[:count]
        for cell in [picture.cells[at]]
    ]


def _severity(picture: Picture, at: int) -> tuple[int, int]:
    row, column = divmod(at, picture.size[1])
    return -(LEVELS + SPECIAL + UNWRITTEN).index(picture.marks[row][column]), at


def _index(index: tuple[int, ...]) -> str:
    return f"[{', '.join(map(str, index))}]"


def _core(picture: Picture, at: int) -> str:
    row, column = divmod(at, picture.size[1])
    core = picture.cores[row][column]
    return "several" if core == -2 else "" if core < 0 else str(core)


def data(picture: Picture) -> dict[str, Any]:
    """What a page's script needs to tell of a bin."""
    return {
        "rows": picture.rows,
        "columns": picture.columns,
        "rowBin": picture.row_bin,
        "columnBin": picture.column_bin,
        "marks": picture.marks,
        "cores": [[[core, len(list(run))] for core, run in groupby(row)] for row in picture.cores],
        "cells": {
            at: [_index(cell.index), cell.got, cell.want, cell.ulp, cell.wrong]
            for at, cell in picture.cells.items()
        },
        "size": _size(picture),
        "left": _LEFT,
        "top": _TOP,
    }


def _size(picture: Picture) -> float:
    down, across = picture.size
    return max(8.0, min(18.0, 704 / across, 480 / down))


def svg(picture: Picture, number: int) -> str:
    """The picture, which can be focused: the page's script moves a cursor over it."""
    down, across = picture.size
    size = _size(picture)
    wide, tall = picture.columns / picture.column_bin * size, picture.rows / picture.row_bin * size
    width = max(_LEFT + wide + _EDGE, 150.0)
    height = _TOP + tall + _EDGE
    label = escape(f"Where it is wrong: {picture.where}. {summary(picture)}", quote=True)
    parts = [
        f'<svg class="where" viewBox="0 0 {width:g} {height:g}" width="{width:g}"'
        f' height="{height:g}" role="img" tabindex="0" data-at="{number}" aria-label="{label}">'
    ]
    for row, marks in enumerate(picture.marks):
        column = 0
        tall_here = min(1.0, picture.rows / picture.row_bin - row) * size
        for mark, run in groupby(marks):
            count = len(list(run))
            if mark != BEYOND:
                end = min(column + count, picture.columns / picture.column_bin)
                left, top = _LEFT + column * size, _TOP + row * size
                parts.append(_rect(f"m{mark}", left, top, (end - column) * size, tall_here))
                if mark in (SPECIAL, UNWRITTEN):
                    parts.append(_stripes(mark, left, top, (end - column) * size, tall_here, size))
            column += count

    def x(column: int) -> str:
        return f"{_LEFT + column / picture.column_bin * size:.1f}"

    def y(row: int) -> str:
        return f"{_TOP + row / picture.row_bin * size:.1f}"

    for name, lines in (("line-tile", picture.tile_lines), ("line-core", picture.core_lines)):
        path = "".join(f"M{x(x0)} {y(y0)}L{x(x1)} {y(y1)}" for x0, y0, x1, y1 in lines)
        if path:
            parts.append(f'<path class="{name}" d="{path}"/>')
    parts.append(_labels(picture, size, wide))
    parts.append(f'<rect class="cursor" width="{size:g}" height="{size:g}" visibility="hidden"/>')
    return "".join(parts) + "</svg>"


def _rect(name: str, x: float, y: float, width: float, height: float) -> str:
    return f'<rect class="{name}" x="{x:g}" y="{y:g}" width="{width:.4g}" height="{height:.4g}"/>'


def _stripes(mark: str, x: float, y: float, width: float, height: float, step: float) -> str:
    """What tells NaN and unwritten apart where colours do not."""
    path = ""
    at = 0.0
    while at < width - 1e-6:
        right = min(at + step, width)
        path += f"M{x + at:g} {y + height:g}L{x + right:g} {y:g}"
        if mark == UNWRITTEN:
            path += f"M{x + at:g} {y:g}L{x + right:g} {y + height:g}"
        at += step
    return f'<path class="stripes" d="{path}"/>'


def _labels(picture: Picture, size: float, wide: float) -> str:
    down = picture.size[0]
    texts = [f'<text x="{_LEFT:g}" y="{_TOP - 5:g}">0</text>']
    if wide > 40:
        texts.append(
            f'<text class="end" x="{_LEFT + wide:g}" y="{_TOP - 5:g}">{picture.columns - 1}</text>'
        )
    if wide > 200:
        texts.append(
            f'<text class="middle" x="{_LEFT + wide / 2:g}" y="{_TOP - 5:g}">columns</text>'
        )
    step = max(1, -(-down // 8), int(-(-24 // size)))
    for row in range(0, down, step):
        y = _TOP + row * size + min(size, 11)
        texts.append(
            f'<text class="end" x="{_LEFT - 5:g}" y="{y:g}">{row * picture.row_bin}</text>'
        )
    return "".join(texts)
