# SPDX-License-Identifier: Apache-2.0
"""A picture of a wrong result for terminals and logs: at most 16 lines, plain characters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aclgrad.testing.picture import BEYOND, LEVELS, SPECIAL, UNWRITTEN, Picture

if TYPE_CHECKING:
    from rich.console import Console

_ROWS = 10
_SIGNS = {
    BEYOND: " ",
    UNWRITTEN: "u",
    SPECIAL: "N",
    "a": ".",
    "b": ".",
    "c": "+",
    "d": "x",
    "e": "#",
}
_STYLES = {"+": "yellow", "x": "red", "#": "bold red", "N": "magenta", "u": "cyan", ".": "dim"}
_MEANINGS = {
    ".": "right",
    "+": "up to 8 times what the rule allows",
    "x": "up to 1000 times",
    "#": "more",
    "N": "NaN or Inf",
    "u": "unwritten",
}
_ORDER = BEYOND + LEVELS + SPECIAL + UNWRITTEN


def lines(picture: Picture) -> list[str]:
    """Sixteen lines at most, none wider than 96 characters."""
    step = -(-len(picture.marks) // _ROWS)
    shape = " x ".join(map(str, picture.shape)) or "scalar"
    folded = f", as rows of {picture.columns}" if picture.folded else ""
    found = [f"where it is wrong: {picture.where}", f"  {shape}{folded}; {_bins(picture, step)}"]
    seen: set[str] = set()
    labels = _labels(picture)
    wide = max(map(len, labels))
    for label, at in zip(labels, range(0, len(picture.marks), step), strict=True):
        marks = ["".join(column) for column in zip(*picture.marks[at : at + step], strict=True)]
        signs = "".join(_SIGNS[max(column, key=_ORDER.index)] for column in marks)
        seen |= set(signs)
        found.append(f"  {label:>{wide}} {signs.rstrip()}{_cores(picture, at, step)}")
    legend = [f"{sign} {words}" for sign, words in _MEANINGS.items() if sign in seen]
    return [*found, f"  {', '.join(legend)}"]


def show(picture: Picture, console: Console) -> None:
    """Print it, in colours where there are some."""
    from rich.text import Text

    first, second, *grid, legend = lines(picture)
    for line in (first, second):
        console.print(line, markup=False)
    left = max(map(len, _labels(picture))) + 3
    for line in grid:
        text = Text(line)
        for at, sign in enumerate(line[left : left + picture.size[1]], left):
            text.stylize(_STYLES.get(sign, ""), at, at + 1)
        console.print(text)
    console.print(legend, markup=False)


def _bins(picture: Picture, step: int) -> str:
    rows, columns = picture.row_bin * step, picture.column_bin
    if rows == columns == 1:
        return "a sign for each element"
    return f"a sign is the worst of {rows} x {columns} elements"


def _labels(picture: Picture) -> list[str]:
    step = -(-len(picture.marks) // _ROWS)
    return [_rows(picture, at, step) for at in range(0, len(picture.marks), step)]


def _rows(picture: Picture, at: int, step: int) -> str:
    first = at * picture.row_bin
    last = min(picture.rows, (at + step) * picture.row_bin) - 1
    return f"row {first}" if first == last else f"rows {first}-{last}"


def _cores(picture: Picture, at: int, step: int) -> str:
    """Behind a row: the cores that wrote it."""
    cores = sorted({core for row in picture.cores[at : at + step] for core in row if core >= 0})
    if not cores:
        return ""
    if len(cores) > 1 and cores[-1] - cores[0] + 1 == len(cores):
        return f"  cores {cores[0]}-{cores[-1]}"
    return (
        f"  core{'s' * (len(cores) > 1)} {','.join(map(str, cores[:4]))}{',..' * (len(cores) > 4)}"
    )
