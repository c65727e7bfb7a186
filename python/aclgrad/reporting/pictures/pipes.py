# SPDX-License-Identifier: Apache-2.0
"""The ends of a finding on the pipes that do them, as an inline SVG: what nothing keeps apart lies
below each other.
"""

from __future__ import annotations

from html import escape

from aclgrad.findings.finding import Finding, Place

_ORDER = ("SCALAR", "MTE2", "MTE1", "VECTOR", "CUBE", "FIXP", "MTE3")
_WIDTH, _ROW, _HEAD, _LEFT, _BOX = 620, 34, 22, 110, 200


def pipes_svg(finding: Finding) -> str:
    """The picture; empty unless there are two ends on pipes."""
    ends = [place for place in (finding.at, *finding.related) if place.pipe in _ORDER][:4]
    if len(ends) < 2:
        return ""
    race = finding.kind.startswith("race-")
    lanes = _lanes(finding, ends)
    names = list(dict.fromkeys(lanes))
    used = sorted(names, key=_sort)
    height = _HEAD + _ROW * len(used) + 30
    words = "; ".join(
        f"{letter}: {place.name}{', ' + place.note if place.note else ''}, on {lane}"
        for letter, place, lane in zip("ABCD", ends, lanes, strict=False)
    )
    parts = [
        f'<svg class="pipes" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}"'
        f' role="img" tabindex="0"><title>{escape(words)}</title>'
    ]
    for row, lane in enumerate(used):
        y = _HEAD + row * _ROW
        parts.append(f'<text x="4" y="{y + 20}">{escape(lane)}</text>')
        parts.append(f'<path class="lane" d="M{_LEFT} {y + 15}H{_WIDTH - 8}"/>')
    boxes = []
    for at, (letter, place, lane) in enumerate(zip("ABCD", ends, lanes, strict=False)):
        y = _HEAD + used.index(lane) * _ROW
        # The later ends of a finding were issued before: they stand further left. On one lane one
        # comes after the other.
        same = lanes[:at].count(lane)
        x = _LEFT + 30 + (len(ends) - 1 - at) * 45 + same * (_BOX + 10)
        boxes.append((x, y))
        parts.append(
            f'<rect class="end {"AB"[at % 2]}" x="{x}" y="{y + 2}" width="{_BOX}" height="26"/>'
            f'<text class="inside" x="{x + 8}" y="{y + 19}">{letter}'
            f" {escape(place.instruction[:26])}</text>"
        )
    (x0, _), (x1, _) = boxes[0], boxes[1]
    low, high = max(x0, x1), min(x0, x1) + _BOX
    if race and low < high:
        bottom = _HEAD + _ROW * len(used)
        parts.append(
            f'<rect class="clash" x="{low}" y="{_HEAD - 4}" width="{high - low}"'
            f' height="{bottom - _HEAD + 4}"/>'
            f'<text class="middle" x="{(low + high) / 2:g}" y="{bottom + 16}">nothing keeps them'
            " apart: either may be first</text>"
        )
    return "".join(parts) + "</svg>"


def _lanes(finding: Finding, ends: list[Place]) -> list[str]:
    """Pipe of each end, with its core where they are of several."""
    cores = [_core(place) for place in ends]
    if not any(core for core in cores):
        return [place.pipe for place in ends]
    own = f"core {finding.core}"
    return [f"{core or own} {place.pipe}" for core, place in zip(cores, ends, strict=True)]


def _core(place: Place) -> str:
    """``writes on core 3`` -> ``core 3``."""
    _, found, number = place.note.partition(" on core ")
    digits = number.split(",")[0].split(" ")[0]
    return f"core {digits}" if found and digits.isdigit() else ""


def _sort(lane: str) -> tuple[str, int]:
    core, _, pipe = lane.rpartition(" ")
    return core, _ORDER.index(pipe)
