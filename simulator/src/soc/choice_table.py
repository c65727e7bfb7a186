# SPDX-License-Identifier: Apache-2.0
"""The choices of unknowns.json that have alternatives, as choices.inc of soc/choices.h."""

from __future__ import annotations

import re
from typing import Any

MOST_ALTERNATIVES = 4


def enumerator(name: str) -> str:
    """The enumerator of a choice: "exp.rounding" has kExpRounding."""
    return "k" + "".join(word.capitalize() for word in re.split(r"[.-]", name))


def table(data: dict[str, Any]) -> str:
    """The enum of choices, one of alternatives for each, and their names."""
    choices = [row for row in data["choices"] if row.get("alternatives")]
    rows = []
    enums = []
    for row in choices:
        words = [row["chosen"], *row["alternatives"]]
        if len(words) > MOST_ALTERNATIVES or len(set(words)) < len(words):
            raise ValueError(f"unknowns.json: {row['id']} has too many alternatives, or one twice")
        named = ", ".join(enumerator(word) for word in words)
        enums.append(f"enum class {enumerator(row['id'])[1:]} : uint8_t {{ {named} }};\n")
        quoted = [f'"{word}"' for word in words]
        quoted += ["nullptr"] * (MOST_ALTERNATIVES - len(words))
        rows.append(f'    {{"{row["id"]}", {{{", ".join(quoted)}}}}},\n')
    names = ", ".join(enumerator(row["id"]) for row in choices)
    return (
        f"enum class Choice : uint8_t {{ {names} }};\n"
        f"inline constexpr size_t kChoices = {len(choices)};\n"
        f"inline constexpr size_t kMostAlternatives = {MOST_ALTERNATIVES};\n"
        + "".join(enums)
        + "struct ChoiceRow {\n  const char* name;\n"
        "  const char* alternatives[kMostAlternatives];\n};\n"
        "inline constexpr ChoiceRow kChoiceRows[] = {\n" + "".join(rows) + "};\n"
    )
