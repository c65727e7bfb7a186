# SPDX-License-Identifier: Apache-2.0
"""Text that others wrote, for people: what would drive a terminal, turn the direction of reading or
take no room is shown as its escape sequence.
"""

from __future__ import annotations

import unicodedata


def visible(text: str) -> str:
    r"""The text with ``\x1b`` and ``\u202e`` as they are written here; lines and tabs stay."""
    # Texts of many lines are the rule among findings.
    if text.replace("\n", "").replace("\t", "").isprintable():
        return text
    text = text.replace("\r\n", "\n")
    return "".join(
        letter if letter in "\n\t" or letter.isprintable() or unicodedata.category(letter) == "Zs"
        else letter.encode("unicode_escape", "surrogatepass").decode("ascii")
        for letter in text
    )  # fmt: skip
