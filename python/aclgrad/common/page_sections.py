# SPDX-License-Identifier: Apache-2.0
"""Sections of pages that a script writes: what stands between two lines with the section's name,
``<!-- NAME: generated -->`` and ``<!-- NAME: end -->``, or with # where a page has such comments.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from aclgrad.common import files


def _pattern(name: str) -> re.Pattern[str]:
    """Finds a section: its first line, what is inside, its last line."""
    mark = rf"[ ]*(?:<!-- |# ){re.escape(name)}: {{}}(?: -->)?\n"
    inside = f"(^{mark.format('generated')})(.*?)(^{mark.format('end')})"
    return re.compile(inside, re.DOTALL | re.MULTILINE)


def _text(page: Path | str, text: str | None = None) -> str:
    """A page, or the text given, with the end of its last line."""
    old = Path(page).read_text("utf-8") if text is None else text
    return old if old.endswith("\n") else f"{old}\n"


def _want_one(page: Path | str, name: str, count: int) -> None:
    if count != 1:
        raise ValueError(
            f"{page}: got {count} sections of the name {name}, want one. Next: put in the lines"
            f" <!-- {name}: generated --> and <!-- {name}: end -->"
        )


def filled(page: Path | str, name: str, inside: str, text: str | None = None) -> str:
    """The text of a page, or the one given, with a section replaced."""
    line = inside if inside.endswith("\n") else f"{inside}\n"
    new, count = _pattern(name).subn(lambda found: f"{found[1]}{line}{found[3]}", _text(page, text))
    _want_one(page, name, count)
    return new


def read(page: Path | str, name: str) -> str:
    """What a section of a page has inside."""
    found: list[tuple[str, str, str]] = _pattern(name).findall(_text(page))
    _want_one(page, name, len(found))
    return found[0][1]


def write(page: Path, name: str, inside: str) -> None:
    """Replace a section of a page."""
    files.write(page, filled(page, name, inside), str(page))


def add_option(parser: argparse.ArgumentParser) -> None:
    """Let a script that makes a section be told the page that gets it."""
    parser.add_argument("--write", type=Path, metavar="PAGE", help="replace the table of this page")


def show(page: Path | None, name: str, inside: str) -> None:
    """Print a section that a script has made, and put it into a page if one is named."""
    print(inside)
    if page is not None:
        write(page, name, inside)


def cell(text: str) -> str:
    """Make a text safe in a table."""
    return " ".join(text.split()).replace("|", "\\|")
