# SPDX-License-Identifier: Apache-2.0
"""The Python package and the simulator are made of rooms: no circles, each says what it needs."""

from __future__ import annotations

import ast
import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
_found = importlib.util.spec_from_file_location("rooms", ROOT / "scripts" / "rooms.py")
assert _found and _found.loader
rooms = importlib.util.module_from_spec(_found)
_found.loader.exec_module(rooms)

GRAPH = rooms.imports()


def test_few_places() -> None:
    here = [path for path in rooms.PACKAGE.iterdir() if path.name != "__pycache__"]
    assert len(here) <= 29, sorted(path.name for path in here)


def test_no_circle() -> None:
    assert rooms.circle(GRAPH) == []
    assert rooms.circle(rooms.between_rooms(GRAPH)) == []


@pytest.mark.parametrize("name", ["scripts", "benchmarks"])
def test_no_circle_of_scripts(name: str) -> None:
    graph = rooms.imports(ROOT / name)
    assert rooms.circle(graph) == []
    assert sum(map(len, graph.values())) > 5


def test_circles_of_scripts_are_seen(tmp_path: Path) -> None:
    (tmp_path / "wheel.py").write_text("def f():\n    import proof\n")
    (tmp_path / "proof.py").write_text("from wheel import f\n")
    assert rooms.circle(rooms.imports(tmp_path)) == ["proof", "wheel", "proof"]


def test_circles_are_seen(tmp_path: Path) -> None:
    package = tmp_path / "aclgrad"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "spec.py").write_text("def f():\n    from aclgrad import checks\n")
    (package / "checks.py").write_text("from aclgrad.cases import Case\n")
    (package / "cases.py").write_text("import aclgrad.spec\n")
    assert rooms.circle(rooms.imports(package)) == ["cases", "spec", "checks", "cases"]


def test_circles_of_rooms_within_rooms_are_seen(tmp_path: Path) -> None:
    package = tmp_path / "aclgrad"
    for name, text in (
        ("__init__.py", ""),
        ("a/__init__.py", ""),
        ("a/one/__init__.py", ""),
        ("a/one/x.py", "from aclgrad.a.two import y\n"),
        ("a/two/__init__.py", ""),
        ("a/two/y.py", ""),
        ("a/two/z.py", "import aclgrad.a.one.x\n"),
    ):
        path = package / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    graph = rooms.imports(package)
    assert rooms.circle(graph) == []
    assert rooms.circle(rooms.between_rooms(graph)) == ["a.one", "a.two", "a.one"]


ROOMS = sorted({rooms.room(name, GRAPH) for name in GRAPH if "." in name})


@pytest.mark.parametrize("name", ROOMS)
def test_docstring_says_what_a_room_imports(name: str) -> None:
    path = rooms.PACKAGE / name.replace(".", "/") / "__init__.py"
    text = ast.get_docstring(ast.parse(path.read_text("utf-8")))
    assert text and "May import: " in text, name
    allowed = text.partition("May import: ")[2]
    missing = {f"``{other}``" for other in rooms.between_rooms(GRAPH)[name]}
    assert {word for word in missing if word not in allowed} == set()


@pytest.mark.parametrize("name", [name for name in ROOMS if name != "cli"])
def test_rooms_are_small(name: str) -> None:
    """What one looks for is found by the names in a room; ``cli`` has a module for each verb."""
    files = [path for module, path in rooms.modules().items() if rooms.room(module, GRAPH) == name]
    assert len([path for path in files if path.name != "__init__.py"]) <= 12
    assert sum(path.read_text("utf-8").count("\n") for path in files) <= 3000


def test_picture_is_of_today() -> None:
    page = (ROOT / "docs" / "design.md").read_text("utf-8")
    assert rooms.fill(page) == page, "Next: python scripts/rooms.py --write"


def test_lines_of_rooms_are_nearly_those_of_today() -> None:
    """Each room is in one row, and no row is 500 lines off."""
    page = (ROOT / "docs" / "design.md").read_text("utf-8")
    rows = re.findall(r"^\| ((?:`\w+`(?:, )?)+) \| ([\d,]+) \|", page, re.M)
    listed = [name for names, _ in rows for name in re.findall(r"\w+", names)]
    folders = [path.parent.name for path in rooms.PACKAGE.glob("*/__init__.py")]
    assert sorted(listed) == sorted([*folders, "aclgrad_torch_npu"])
    today = re.findall(r"^\| (?:`\w+`(?:, )?)+ \| ([\d,]+) \|", rooms.counted(page), re.M)
    off = [
        abs(int(said.replace(",", "")) - int(found.replace(",", "")))
        for (_, said), found in zip(rows, today, strict=True)
    ]
    assert max(off) <= 500, "Next: python scripts/rooms.py --write"


def test_no_circle_in_the_simulator() -> None:
    assert rooms.circle(rooms.includes()) == []


def test_simulator_includes_what_the_table_allows() -> None:
    allowed = rooms.may_include((ROOT / "docs" / "design.md").read_text("utf-8"))
    assert rooms.circle(allowed) == []
    found = rooms.includes()
    assert set(allowed) == set(found)
    assert {
        name: found[name] - allowed[name] for name in found if found[name] - allowed[name]
    } == {}


def test_a_planted_include_is_seen(tmp_path: Path) -> None:
    for name, text in (
        (
            "engine/core.cpp",
            '#include <map>\n#include "engine/core.h"\n#  include "timing/tape.h"\n',
        ),
        ("timing/tape.h", '// #include "device/vec.h"\n#include "engine/record.h"\n'),
        ("device/vec.cpp", '#include "acl/acl.h"\n#include "device/vec.h"\n'),
    ):
        path = tmp_path / name
        path.parent.mkdir()
        path.write_text(text)
    found = rooms.includes(tmp_path)
    assert found == {"engine": {"timing"}, "timing": {"engine"}, "device": set()}
    assert rooms.circle(found) == ["engine", "timing", "engine"]


LOCK = re.compile(r'Mutex<(\d+), "([^"]+)">')


def locks(folder: Path) -> set[tuple[int, str]]:
    """Rows and names of the locks of the sources below a folder."""
    files = (path for path in folder.rglob("*") if path.suffix in (".h", ".cpp"))
    found = (LOCK.findall(path.read_text("utf-8")) for path in files)
    return {(int(row), name) for each in found for row, name in each}


def test_locks_have_the_rows_of_the_table() -> None:
    page = (ROOT / "docs" / "design.md").read_text("utf-8")
    text = page.partition("**Locks have an order.**")[2].partition("* **Mutable state")[0]
    rows = re.findall(r"^ *\| (\d+) \| (.*) \|$", text, re.M)
    listed = {(int(row), name) for row, names in rows for name in names.split("; ")}
    assert len(listed) > 40 and listed == locks(ROOT / "simulator/src")


def test_every_lock_has_a_row(tmp_path: Path) -> None:
    """A plain mutex would be in no order; lock.h alone has them."""
    plain = re.compile(r"std::(?:recursive_|shared_|timed_)*mutex\b|std::condition_variable\b")
    sources = ROOT / "simulator/src"
    found = [
        str(path.relative_to(sources))
        for path in sorted(sources.rglob("*"))
        if path.suffix in (".h", ".cpp") and plain.search(path.read_text("utf-8"))
    ]
    assert found == ["host/lock.h"]
    (tmp_path / "a.h").write_text('aclsim::Mutex<2, "planted"> mutex;\n')
    assert locks(tmp_path) == {(2, "planted")}
