# SPDX-License-Identifier: Apache-2.0
"""Plots as inline SVG, drawn by pygal. Colours come from the page: templates/plots.css.j2."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from html import escape
from pathlib import Path
from xml.etree.ElementTree import Element

FONT = 14  # pixels, of the page's style too
# pygal's own style and script read these, and pages do without them.
_UNUSED = ("script", "style", "defs", "desc")
_UNUSED_CLASSES = ("background", "plot tooltip-overlay")
_DIGITS = re.compile(r"(\d+\.\d)\d+")


def mark(value: object, words: str, **more: object) -> dict[str, object]:
    """A value that tells of itself when pointed at."""
    return {"value": value, "tooltip": words, **more}


class Plot:
    """A chart of pygal (``Bar``, ``XY``...), named for a screen reader."""

    def __init__(self, chart: str, label: str, width: float, height: float, **settings: object):
        # Here, as few commands draw.
        import pygal
        from pygal.etree import etree
        from pygal.style import Style

        etree.to_etree()  # lxml, where somebody has it, writes other bytes
        sizes = {f"{text}_font_size": FONT for text in ("label", "value", "legend", "title")}
        self._kinds: list[str] = []
        self._label = label
        self._chart = getattr(pygal, chart)(
            **{
                "width": round(width), "height": round(height), "explicit_size": True,
                "margin": 8, "margin_bottom": 14, "spacing": 6,
                "truncate_label": -1, "truncate_legend": -1,
                "show_legend": False, "legend_at_bottom": True, "legend_at_bottom_columns": 1,
                "style": Style(**sizes), "css": [], "js": [], "no_prefix": True,
                "classes": ("plot", chart.lower()),
                **settings,
            }
        )  # fmt: skip
        self._chart.add_xml_filter(self._plain)

    def add(self, kind: str, values: Sequence[object], title: str = "", **settings: object) -> None:
        """A row of values; the page's style knows its kind, the legend its title."""
        self._kinds.append(kind)
        self._chart.add(title, values, **settings)

    def svg(self) -> str:
        """The element; the same bytes for the same values."""
        return str(self._chart.render(disable_xml_declaration=True))

    def _plain(self, root: Element) -> Element:
        # Children first, so that groups that are left without any go too.
        for parent in reversed(list(root.iter())):
            guide = parent.get("class", "").endswith("guides")
            for child in list(parent):
                if (
                    not isinstance(child.tag, str)
                    or child.tag in _UNUSED
                    or child.get("class") in _UNUSED_CLASSES
                    or (child.tag == "title" and (guide or parent is root))
                    or (child.tag == "g" and not len(child))
                ):
                    parent.remove(child)
            for name, value in parent.attrib.items():
                parent.set(name, _DIGITS.sub(r"\1", value))
            if names := parent.get("class"):
                parent.set("class", " ".join(filter(None, map(self._named, names.split()))))
            parent.attrib.pop("id", None)
        root.attrib.pop("xmlns")
        root.set("role", "img")
        root.set("aria-label", self._label)
        return root

    def _named(self, name: str) -> str:
        """Colours by what they mean instead of by number."""
        if name.startswith("color-"):
            return self._kinds[int(name.removeprefix("color-"))]
        return "" if name.startswith(("reactive", "tooltip", "serie-", "activate")) else name


def decades(low: float, high: float, room: float = 360) -> list[float]:
    """Powers of ten between two values, as many as so many pixels have room for; with 2 and 5 times
    them if those too.
    """
    span = math.log10(high / low)
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    wide = 0.6 * FONT * max(len(f"{10.0**power:g}") for power in powers)
    steps = (1, 2, 5) if wide < 0.3 * room / span else (1,)
    found = [
        float(f"{step}e{power}")
        for power in powers[:: math.ceil(span * wide / room)]
        for step in steps
    ]
    return [value for value in found if low <= value <= high]


def picture(titles: Sequence[str], plots: Sequence[str], width: int, height: int) -> str:
    """Plots of one size side by side as a file of their own, below the lines of a title."""
    templates = Path(__file__).parent.parent / "templates"
    style = "".join((templates / f"{name}.css.j2").read_text() for name in ("colours", "plots"))
    top = 8 + 20 * len(titles)
    heading = "".join(
        f'<text class="heading" x="16" y="{24 + 20 * index}">{escape(title)}</text>'
        for index, title in enumerate(titles)
    )
    placed = "".join(
        plot.replace("<svg ", f'<svg x="{width * index}" y="{top}" ', 1)
        for index, plot in enumerate(plots)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width * len(plots)} {height + top}"'
        f' width="{width * len(plots)}" height="{height + top}"><style>{style}'
        "svg { font-family: system-ui, sans-serif; } .heading { fill: var(--text); }"
        f'</style><rect width="100%" height="100%" fill="var(--back)"/>{heading}{placed}</svg>\n'
    )
