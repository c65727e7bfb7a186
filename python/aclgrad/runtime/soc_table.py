# SPDX-License-Identifier: Apache-2.0
"""The simulator's table of SoCs: cores of one, and sizes of its architecture."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from aclgrad.runtime.toolkit import sim_root


@cache
def facts(soc: str) -> dict[str, Any]:
    """Cores of a SoC, and what its architecture has, by the table's names."""
    table = json.loads((sim_root() / "share/cmake/aclgrad/soc.json").read_text(encoding="utf-8"))
    at = {name: place for place, name in enumerate(table["columns"])}
    row = next(row for row in table["socs"] if row[at["name"]] == soc)
    own = {name: row[place] for name, place in at.items()}
    return {**table["archs"][str(own["npuArch"])], **own}
