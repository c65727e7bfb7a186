# SPDX-License-Identifier: Apache-2.0
"""Turns facts into the C++ tables that are compiled in: soc.json for soc.cpp, costs.json for
costs.cpp, unknowns.json for choices.h.

Usage: make_table.py soc.json|costs.json|unknowns.json TARGET
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from soc import choice_table, soc_table

from timing import cost_table

TABLES = {
    "soc.json": soc_table.table,
    "costs.json": cost_table.table,
    "unknowns.json": choice_table.table,
}


def main(argv: list[str]) -> int:
    """Entry point: 0, 1 (bad table) or 2 (usage)."""
    if len(argv) != 3 or Path(argv[1]).name not in TABLES:
        print(__doc__, file=sys.stderr)
        return 2
    source, target = Path(argv[1]), Path(argv[2])
    try:
        text = TABLES[source.name](json.loads(source.read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError) as error:
        print(f"{source}: {error!r}", file=sys.stderr)
        return 1
    target.write_text(f"// Generated from {source.name}. Do not edit.\n{text}", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
