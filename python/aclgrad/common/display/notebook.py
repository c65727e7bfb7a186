# SPDX-License-Identifier: Apache-2.0
"""Tables as notebooks show them: plain HTML without styles of its own, as themes differ."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape


def table(
    title: str, rows: Iterable[Sequence[object]], headings: Sequence[str] = (), note: str = ""
) -> str:
    """A table with a caption; the first cell of a row names it."""
    parts = [f"<table><caption>{escape(title)}</caption>"]
    if headings:
        cells = "".join(f'<th scope="col">{escape(word)}</th>' for word in headings)
        parts.append(f"<thead><tr>{cells}</tr></thead>")
    parts.append("<tbody>")
    for first, *rest in rows:
        cells = "".join(f"<td>{escape(str(cell))}</td>" for cell in rest)
        parts.append(f'<tr><th scope="row">{escape(str(first))}</th>{cells}</tr>')
    parts.append("</tbody></table>")
    return "".join(parts) + (f"<p>{escape(note)}</p>" if note else "")
