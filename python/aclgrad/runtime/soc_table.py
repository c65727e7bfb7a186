# SPDX-License-Identifier: Apache-2.0
"""The simulator's table of SoCs: cores of one, and sizes of its architecture."""

from __future__ import annotations

import json
from functools import cache

from aclgrad.common.data import Json
from aclgrad.runtime.toolkit import sim_root


@cache
def facts(soc: str) -> dict[str, Json]:
    """Cores of a SoC, and what its architecture has, by the table's names."""
    table = json.loads((sim_root() / "share/cmake/aclgrad/soc.json").read_text(encoding="utf-8"))
    at = {name: place for place, name in enumerate(table["columns"])}
    row = next(row for row in table["socs"] if row[at["name"]] == soc)
    own = {name: row[place] for name, place in at.items()}
    return {**table["archs"][str(own["npuArch"])], **own}


def number(soc: str, name: str) -> int:
    """One of them that is a whole number."""
    value = facts(soc)[name]
    if not isinstance(value, int):
        raise TypeError(f"{soc}: {name} is {value!r}")
    return value
