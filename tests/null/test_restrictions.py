# SPDX-License-Identifier: Apache-2.0
"""simulator/src/restrictions.toml: a rule that is called checked has a kind and a test. A rule of
an instruction on UB has the page that the instruction's row in instructions.def has.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from aclgrad.findings.kinds import KINDS

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "simulator" / "src"))

import instruction_table  # noqa: E402

FAMILIES: dict[str, list[dict[str, str]]] = tomllib.loads(
    (ROOT / "simulator/src/restrictions.toml").read_text(encoding="utf-8")
)
RULES = [{"family": family, **rule} for family, rules in FAMILIES.items() for rule in rules]
ON_UB = "基础API/Memory矢量计算/"
PAGES = {row.name: row.page for row in instruction_table.rows() if row.page}


def faults_of(rule: dict[str, str]) -> list[str]:
    """What is wrong with a row."""
    told = {"family", "page", "rule"}
    checked, unchecked = told | {"finds", "test"}, told | {"unchecked"}
    if set(rule) not in (checked, unchecked) or not all(rule.values()):
        return [f"fields {sorted(rule)}"]
    wrong = [] if rule["page"].endswith(".md") else [f"page {rule['page']}"]
    instruction = rule["page"].rpartition("/")[2].removesuffix(".md")
    told_by_row = PAGES.get(instruction, rule["page"])
    if rule["page"].startswith(ON_UB) and rule["page"] != told_by_row:
        wrong.append(f"{instruction} has the page {told_by_row}")
    if "unchecked" in rule:
        return wrong
    if rule["finds"] not in KINDS:
        wrong.append(f"no kind {rule['finds']}")
    path, _, name = rule["test"].partition(":")
    file = ROOT / "tests" / path
    if not name or not file.is_file() or name not in file.read_text(encoding="utf-8"):
        wrong.append(f"no test {rule['test']}")
    return wrong


def test_every_row_holds() -> None:
    wrong = {rule.get("rule", ""): faults for rule in RULES if (faults := faults_of(rule))}
    assert wrong == {}


def test_no_rule_stands_twice() -> None:
    seen = [(rule["page"], rule["rule"]) for rule in RULES]
    assert len(seen) == len(set(seen))


@pytest.mark.parametrize(
    "change",
    [
        {"finds": "no-such-kind"},
        {"test": "sim/nowhere.py:x"},
        {"rule": ""},
        {"unchecked": "also"},
        {"page": f"{ON_UB}elsewhere/Add.md"},
    ],
)
def test_a_wrong_row_is_seen(change: dict[str, str]) -> None:
    row = next(rule for rule in RULES if "finds" in rule)
    assert faults_of(row) == []
    assert faults_of({**row, **change}) != []
