# SPDX-License-Identifier: Apache-2.0
"""What the checks have found as one HTML page: sources with their lines marked, and both ends of a
race on the timeline of their core.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from aclgrad import __version__
from aclgrad.common import files
from aclgrad.common.display.visible import visible
from aclgrad.findings import ERROR, Merged, Result, describe
from aclgrad.findings.finding import Place
from aclgrad.reporting.html import environment
from aclgrad.reporting.pictures.pipes import pipes_svg
from aclgrad.reporting.pictures.race_times import drawn

_AROUND = 5  # lines before and behind the one that is marked
_MOST_LINE = 300  # characters
_MOST_SOURCE = 4 << 20  # bytes
# A page stays below 3 MB: what is told in full, and what is a row of a table behind it.
_MOST_TOLD = 1_900_000
_MOST_ROWS = 4000


@dataclass(frozen=True)
class End:
    """One place of a finding."""

    letter: str
    words: str
    where: str


@dataclass(frozen=True)
class Excerpt:
    """Lines of a source around one place, or around several that lie near each other."""

    ends: tuple[End, ...]
    lines: tuple[tuple[int, str, bool], ...]  # number, text, whether it is a place

    @property
    def letters(self) -> str:
        """The letters of its ends, for a caption."""
        return " and ".join(end.letter for end in self.ends)


@cache
def _template(name: str) -> jinja2.Template:
    return environment().get_template(name)


def page(
    result: Result,
    base: Path | None = None,
    title: str = "Findings",
    below: Path | None = None,
) -> str:
    """The page. Paths below ``base``, the working folder when left out, are relative. Where the
    findings are of a file that anybody may have written, sources are shown that lie ``below``.
    """
    base = base or Path.cwd()
    errors = [item for item in result.found if item.finding.severity == ERROR]
    told: list[Markup] = []
    size = 0
    for at, item in enumerate(result.found):
        shown = _item(at, item, base, result.cases, below)
        told.append(Markup(_template("finding.html.j2").render(item=shown)))
        size += len(told[-1].encode())
        if size > _MOST_TOLD:
            break
    rest = result.found[len(told) :]
    return (
        _template("findings.html.j2").render(
            title=title,
            verdict=result.counts,
            conditions=[*_conditions(result), ("aclgrad", __version__)],
            errors=len(errors),
            kinds=_kinds(result.found),
            told=told,
            rest=[_row(at, item, base) for at, item in enumerate(rest[:_MOST_ROWS], len(told))],
            left=len(rest) - len(rest[:_MOST_ROWS]),
        )
        + "\n"
    )


def _conditions(result: Result) -> list[tuple[str, str]]:
    """What the run assumed; the reason of autosync is part of its value."""
    said = dict(result.conditions)
    if (why := said.pop("why", "")) and "autosync" in said:
        said["autosync"] += f": {why}"
    return [*said.items()]


def _kinds(found: Sequence[Merged]) -> list[dict[str, object]]:
    """A row for each kind: what it is, how many, and the first of them."""
    rows: dict[str, dict[str, Any]] = {}
    for at, item in enumerate(found):
        finding = item.finding
        row = rows.setdefault(
            finding.kind,
            {"kind": finding.kind, "title": finding.title, "at": at, "count": 0, "times": 0,
             "severity": finding.severity},
        )  # fmt: skip
        row["count"] += 1
        row["times"] += item.count
    return list(rows.values())


def _row(at: int, item: Merged, base: Path) -> tuple[int, str, str, str]:
    place = item.finding.at
    where = f"{_name(Path(place.file), base)}:{place.line}" if place.known else ""
    return at, item.finding.kind, item.finding.where[:100], where[-100:]


def _item(at: int, item: Merged, base: Path, cases: int, below: Path | None) -> dict[str, object]:
    finding = item.finding
    places = [finding.at, *finding.related]
    times = drawn(finding)
    svg = "" if times else pipes_svg(finding)
    return {
        "at": at,
        "kind": finding.kind,
        "title": finding.title,
        "error": finding.severity == ERROR,
        "where": ", ".join(filter(None, (finding.op, finding.where))),
        "detail": finding.detail,
        "advice": finding.advice,
        "invented": finding.on_invented,
        "excerpts": excerpts(places, base, below),
        "times": times,
        "pipes": Markup(svg) if svg else "",
        "text": describe(item, base, cases),
        "repro": item.repro,
    }


def excerpts(places: Sequence[Place], base: Path, below: Path | None = None) -> list[Excerpt]:
    """The lines around each place; its own alone when the file is not here or another by now. What
    two places show of one source is shown once.
    """
    found: list[tuple[Path, range, list[tuple[str, Place]]]] = []
    for letter, place in zip("ABCDEFGH", places, strict=False):
        if not place.known:
            continue
        path = Path(place.file)
        path = path if path.is_absolute() else base / path
        lines = _lines(path, below)
        there = place.line <= len(lines) and place.text in lines[place.line - 1].replace("\t", " ")
        around = _AROUND if there else 0
        shown = range(
            max(1, place.line - around),
            min(len(lines) if there else place.line, place.line + around) + 1,
        )
        for at, (other, lines_of, ends) in enumerate(found):
            near = shown.start <= lines_of.stop and lines_of.start <= shown.stop
            if other == path and (shown == lines_of or (near and there and len(lines_of) > 1)):
                both = range(min(shown.start, lines_of.start), max(shown.stop, lines_of.stop))
                found[at] = (path, both, [*ends, (letter, place)])
                break
        else:
            found.append((path, shown, [(letter, place)]))
    return [_excerpt(path, shown, ends, base, below) for path, shown, ends in found]


def _excerpt(
    path: Path, shown: range, ends: Sequence[tuple[str, Place]], base: Path, below: Path | None
) -> Excerpt:
    marked = {place.line for _, place in ends}
    if len(shown) > 1:
        lines = _lines(path, below)
        texts = {number: lines[number - 1][:_MOST_LINE] for number in shown}
    else:
        texts = {place.line: place.text for _, place in ends}
    return Excerpt(
        tuple(
            End(
                letter,
                ", which ".join(filter(None, (place.name, place.note))),
                f"{_name(path, base)}:{place.line}",
            )
            for letter, place in ends
        ),
        tuple((number, text, number in marked) for number, text in texts.items()),
    )


@lru_cache(maxsize=64)
def _lines(path: Path, below: Path | None) -> tuple[str, ...]:
    """The lines of a source; none if it cannot be read, or lies where it may not be."""
    folders = () if below is None else (below,)
    try:
        text = files.read(path, str(path), "", most=_MOST_SOURCE, below=folders)
    except files.FileError:
        return ()
    return tuple(visible(text.decode("utf-8", "replace")).split("\n"))


def _name(path: Path, base: Path) -> str:
    return path.relative_to(base).as_posix() if path.is_relative_to(base) else str(path)
