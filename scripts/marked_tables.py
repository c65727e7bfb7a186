# SPDX-License-Identifier: Apache-2.0
"""Generated parts of pages, between markers."""

from __future__ import annotations

from pathlib import Path


def write(page: Path, name: str, text: str) -> None:
    """Replace what stands between a page's markers of that name."""
    begin, end = f"<!-- {name}: begin, written by the script -->", f"<!-- {name}: end -->"
    old = page.read_text()
    if begin not in old or end not in old:
        raise SystemExit(f"{page}: got no lines {begin!r} and {end!r}. Next: put them in")
    head, tail = old.partition(begin)[0], old.partition(end)[2]
    page.write_text(f"{head}{begin}\n{text}\n{end}{tail}")


def cell(text: str) -> str:
    """Make a text safe in a table."""
    return " ".join(text.split()).replace("|", "\\|")
