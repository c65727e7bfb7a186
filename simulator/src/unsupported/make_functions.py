# SPDX-License-Identifier: Apache-2.0
"""Turns functions.json into C++: one source for each library with the functions that the simulator
has by name only. Each says by aclGetRecentErrMsg what it would be and what to do instead.

Usage: make_functions.py functions.json LIBRARY TARGET
       make_functions.py --libraries functions.json    (LIBRARY=NEEDED,NEEDED a line)
       make_functions.py --filter NM TARGET LIBRARY...  (names of other libraries, for a filter)
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

OWN = {"_init", "_fini", "_edata", "_end", "__bss_start"}


def quoted(text: str) -> str:
    """A C string literal."""
    return json.dumps(text)


def source(table: dict[str, Any], library: str) -> str:
    """The functions of one library."""
    lines = [
        "#include <cstdint>",
        '#include "runtime/unsupported.h"',
        "// Every caller passes what its own declaration says; none of it is looked at.",
        'extern "C" {',
    ]
    for group in table["groups"]:
        if group["library"] != library:
            continue
        what = f"{quoted(group['feature'])}, {quoted(group['instead'])}"
        for functions, end in ((group["functions"], ""), (group.get("nothing", []), ", 0")):
            for name in functions:
                call = f"aclsim::Unsupported({quoted(name)}, {what}, {group['code']})"
                lines.append(f"int64_t {name}() {{ return {call}{end}; }}")
        # Programs ask these before every step: a message would stand in the text of later errors.
        for name in group.get("quiet", []):
            lines.append(f"int64_t {name}() {{ return {group['code']}; }}")
    marks = table["annotations"]
    if marks["library"] == library:
        lines.append(f"// {marks['why']}")
        lines += [f"int64_t {name}() {{ return 0; }}" for name in marks["functions"]]
    return "\n".join([*lines, "}", ""])


def names(nm: str, library: str) -> list[tuple[str, bool, int]]:
    """What a library defines: name, whether it is a function, bytes."""
    text = subprocess.run(
        [nm, "-D", "-S", "--defined-only", library], check=True, capture_output=True, text=True
    ).stdout
    found = []
    for line in text.splitlines():
        parts = line.split()
        if len(parts) == 4 and parts[3] not in OWN and parts[2] in "TWVBDRui":
            found.append((parts[3], parts[2] in "TWi", int(parts[1], 16)))
    return found


def filter_source(nm: str, libraries: list[str]) -> str:
    """The same names without what is behind them, which the dynamic loader takes from the
    libraries.
    """
    lines = ['asm(".text\\n"']
    known = set()
    for library in libraries:
        for name, function, size in names(nm, library):
            if name not in known:
                known.add(name)
                kind = "function" if function else "object"
                lines.append(
                    f'".globl {name}\\n.type {name}, %{kind}\\n.size {name}, {size}\\n{name}:\\n"'
                )
    return "\n".join([*lines, '".byte 0\\n");', ""])


def main(argv: list[str]) -> int:
    """Entry point: 0, 1 (bad table) or 2 (usage)."""
    if len(argv) == 3 and argv[1] == "--libraries":
        table = json.loads(Path(argv[2]).read_text(encoding="utf-8"))
        print(
            *(f"{name}={','.join(needed)}" for name, needed in table["libraries"].items()), sep="\n"
        )
        return 0
    if len(argv) > 4 and argv[1] == "--filter":
        Path(argv[3]).write_text(filter_source(argv[2], argv[4:]), encoding="utf-8")
        return 0
    if len(argv) != 4:
        print(__doc__, file=sys.stderr)
        return 2
    table = json.loads(Path(argv[1]).read_text(encoding="utf-8"))
    Path(argv[3]).write_text(
        f"// Generated from {Path(argv[1]).name}. Do not edit.\n{source(table, argv[2])}",
        encoding="utf-8",
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
