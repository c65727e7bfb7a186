#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Rooms of the Python package and of the simulator, and who needs whom, read from the sources.

``scripts/rooms.py`` prints the pictures of docs/design.md (Mermaid), ``--write`` puts them there,
and the lines of the Python package by rooms. tests/null/test_rooms.py holds the page to them.
"""

from __future__ import annotations

import argparse
import ast
import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from aclgrad.common import files, page_sections

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "python" / "aclgrad"
SIMULATOR = ROOT / "simulator" / "src"
PAGE = ROOT / "docs" / "design.md"

Graph = dict[str, set[str]]


def modules(package: Path = PACKAGE) -> dict[str, Path]:
    """Every module of the package by its dotted name below it; a room's own module is the room."""
    found = {}
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        if name:
            found[name] = path
    return found


def _imported(path: Path, known: Mapping[str, Path], package: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [(item.name, "") for item in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = [(node.module, item.name) for item in node.names]
        else:
            continue
        for module, name in names:
            if package and module != package and not module.startswith(f"{package}."):
                continue
            below = module[len(package) + 1 :] if package else module
            whole = f"{below}.{name}".strip(".")
            if whole in known:
                yield whole
            elif below in known:
                yield below


def imports(package: Path = PACKAGE) -> Graph:
    """Which modules each module imports, wherever the import stands. Those of a folder that is no
    package are imported by their names alone.
    """
    known = modules(package)
    inside = package.name if (package / "__init__.py").is_file() else ""
    return {name: set(_imported(path, known, inside)) - {name} for name, path in known.items()}


def room(module: str, known: Collection[str]) -> str:
    """The room a module lives in: the nearest folder of the ``known`` modules. A module at the top
    is one of its own.
    """
    inside, _, _ = module.rpartition(".")
    here = any(name.startswith(f"{module}.") for name in known)
    return module if here or not inside else inside


def between_rooms(graph: Graph) -> Graph:
    """The same for rooms."""
    rooms: Graph = {}
    for name, wanted in graph.items():
        rooms.setdefault(room(name, graph), set()).update(room(other, graph) for other in wanted)
    return {name: wanted - {name} for name, wanted in rooms.items()}


def circle(graph: Graph) -> list[str]:
    """Modules that import each other in a circle; empty when there is none."""
    done: set[str] = set()

    def visit(name: str, path: list[str]) -> list[str]:
        if name in path:
            return [*path[path.index(name) :], name]
        if name in done:
            return []
        for other in sorted(graph.get(name, ())):
            found = visit(other, [*path, name])
            if found:
                return found
        done.add(name)
        return []

    return next((found for name in sorted(graph) if (found := visit(name, []))), [])


def includes(source: Path = SIMULATOR) -> Graph:
    """Which rooms the files of each of the simulator's rooms include headers of."""
    folders = (path for path in source.iterdir() if path.is_dir() and path.name != "__pycache__")
    rooms: Graph = {path.name: set() for path in folders}
    for path in sorted([*source.rglob("*.h"), *source.rglob("*.cpp")]):
        name = path.relative_to(source).parts[0]
        for header in re.findall(r'^\s*#\s*include "(\w+)/', path.read_text("utf-8"), re.M):
            if name in rooms and header in rooms:
                rooms[name].add(header)
    return {name: wanted - {name} for name, wanted in rooms.items()}


def may_include(page: str) -> Graph:
    """Which rooms each of the simulator's may include, by the table of docs/design.md."""
    rows = re.findall(r"^\| `src/(\w+)` \|[^|]*\|[^|]*\|([^|]*)\|$", page, re.M)
    return {name: set(re.findall(r"\w+", re.sub(r"\(.*?\)", "", words))) for name, words in rows}


def picture(rooms: Graph) -> str:
    """Rooms as a Mermaid graph; what others on the way need too is left out."""

    def reach(name: str) -> set[str]:
        return set().union(*({other} | reach(other) for other in rooms[name]))

    lines = ["```mermaid", "graph TD"]
    for name in sorted(rooms):
        direct = [
            other
            for other in sorted(rooms[name])
            if not any(other in reach(between) for between in rooms[name] - {other})
        ]
        lines += [f"  {name} --> {other}" for other in direct]
    return "\n".join([*lines, "```"])


def pictures() -> dict[str, str]:
    """The pictures by their marks in the page."""
    return {"rooms": picture(between_rooms(imports())), "simulator": picture(includes())}


def fill(page: str) -> str:
    """The page with the pictures of today between their marks."""
    for name, text in pictures().items():
        page = page_sections.filled(PAGE, name, text, page)
    return page


def lines(name: str) -> int:
    """Lines of Python below a room, or below a package beside this one."""
    found = next(path for path in (PACKAGE / name, PACKAGE.parent / name) if path.is_dir())
    return sum(path.read_bytes().count(b"\n") for path in found.rglob("*.py"))


def counted(page: str) -> str:
    """The page with today's lines, to the next hundred, in its table of rooms, and of all."""

    def row(found: re.Match[str]) -> str:
        count = sum(map(lines, re.findall(r"\w+", found[1])))
        return f"| {found[1]} | {round(count, -2):,} |"

    page = re.sub(r"^\| ((?:`\w+`(?:, )?)+) \| [\d,]+ \|", row, page, flags=re.M)
    every = sum(path.read_bytes().count(b"\n") for path in PACKAGE.parent.rglob("*.py"))
    return re.sub(r"(?<=^The package has )[\d,]+", f"{round(every, -2):,}", page, flags=re.M)


def main() -> None:
    """Print or write the pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="put them into docs/design.md")
    if parser.parse_args().write:
        files.write(PAGE, counted(fill(PAGE.read_text(encoding="utf-8"))), str(PAGE))
    else:
        print(*pictures().values(), sep="\n\n")


if __name__ == "__main__":
    main()
