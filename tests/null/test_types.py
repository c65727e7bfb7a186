# SPDX-License-Identifier: Apache-2.0
"""What gives an Operator its parameters, cases, golden, tiling, call and sources has types: no
`Any` on that way, which would switch mypy off there.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "python" / "aclgrad"
WAY = (
    *("spec", "ops", "golden", "cases", "running", "runtime", "testing", "findings/finding.py"),
    *("functions.py", "checks/operator_check.py", "checks/exploration.py"),
    *("cli/operators.py", "cli/own_operators.py", "cli/project_operators.py"),
)


def uses_of_any(path: Path) -> Iterator[str]:
    """Lines that import `typing.Any`, or name it as an attribute of the module."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("typing"):
            if any(item.name in ("Any", "*") for item in node.names):
                yield f"{path}:{node.lineno}"
        elif isinstance(node, ast.Attribute) and node.attr == "Any":
            yield f"{path}:{node.lineno}"


def files_of(word: str) -> list[Path]:
    place = PACKAGE / word
    return [place] if place.is_file() else sorted(place.rglob("*.py"))


@pytest.mark.parametrize("word", WAY)
def test_no_any_on_the_way_of_an_operator(word: str) -> None:
    files = files_of(word)
    assert files
    assert [use for path in files for use in uses_of_any(path)] == []


@pytest.mark.parametrize(
    "text",
    [
        "from typing import Any\n",
        "from typing import Protocol, Any as Whatever\n",
        "def f() -> None:\n    from typing import Any\n",
        "import typing as t\nx: t.Any = 1\n",
    ],
)
def test_a_planted_any_is_seen(text: str, tmp_path: Path) -> None:
    path = tmp_path / "planted.py"
    path.write_text(f'"""Any strides."""\n{text}')
    assert len([*uses_of_any(path)]) == 1
