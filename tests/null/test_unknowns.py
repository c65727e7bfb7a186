# SPDX-License-Identifier: Apache-2.0
"""What the simulator had to choose or assume has a row in the register."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
SIMULATOR = ROOT / "simulator" / "src"
PROBES = ROOT / "python" / "aclgrad" / "profiling" / "calibration" / "probes"
_CONSTANT = re.compile(r"^(?:inline )?constexpr (?:double|size_t|u?int\w+_t) (k\w+) =", re.M)
_NOT_OF_HARDWARE = {
    "kEpsilon",
    "kNever",
    "kAutomaticFlag",
    "kDecides",
    "kRegisterArch",
}


def register() -> dict[str, Any]:
    data: dict[str, Any] = json.loads((SIMULATOR / "unknowns.json").read_text(encoding="utf-8"))
    return data


def costs() -> dict[str, Any]:
    data: dict[str, Any] = json.loads(
        (SIMULATOR / "timing" / "costs.json").read_text(encoding="utf-8")
    )
    return data


def unlisted_choices(page: str, known: set[str]) -> list[str]:
    """Lines of a page that speak of a choice and do not name a row of the register."""
    found = []
    for line in page.splitlines():
        spoken = re.findall(r"\bchoices?\b", line)
        named = re.findall(r"\[(?:a )?choices?\]\((?:reference/)?unknowns\.md#([\w.-]+)\)", line)
        if len(spoken) != len(named) or not set(named) <= known:
            found.append(line)
    return [line for line in found if "the choice made here is named as such" not in line]


def test_every_choice_of_the_documents_has_a_row() -> None:
    known = {row["id"] for row in register()["choices"]}
    for name in ("reference/calls.md", "host_programs.md"):
        page = (ROOT / "docs" / name).read_text(encoding="utf-8")
        assert "[a choice]" in page and unlisted_choices(page, known) == []
    assert unlisted_choices("| `Foo` | rounds down: a choice |", known)
    assert unlisted_choices("[a choice](reference/unknowns.md#no.row)", known)


def test_every_constant_of_the_model_has_a_row() -> None:
    listed = {row["where"] for row in register()["constants"]} | _NOT_OF_HARDWARE
    for name in ("model.cpp", "tape.cpp", "tape.h", "tape_conflicts.cpp", "l2.h"):
        found = _CONSTANT.findall((SIMULATOR / "timing" / name).read_text(encoding="utf-8"))
        assert found, name
        assert set(found) <= listed, f"{name}: {set(found) - listed} have no row in unknowns.json"


def test_every_cost_has_a_row() -> None:
    patterns = {row["id"] for row in register()["costs"]}
    wanted = {f"copies.{{arch}}.{name}" for name in costs()["copies"]["2201"]}
    for group in ("vector", "vectorFunction"):
        wanted |= {f"{group}.{name}" for name in costs()[group]}
    wanted |= {f"scalar.{name}" for name in costs()["scalar"]["2201"]}
    wanted |= {
        f"chips.{{arch}}.{name}"
        for name in costs()["archs"]["2201"]
        if name not in ("band", "memoryFactor")  # not of a board: what an estimate states
    }
    wanted |= {f"registers.{{arch}}.{{register}}.{name}" for name in costs()["registerColumns"][:4]}
    wanted = {name for name in wanted if not name.endswith(".evidence")}
    assert wanted <= patterns, wanted - patterns


def test_rows_without_a_probe_say_why() -> None:
    data = register()
    for row in (*data["choices"], *data["costs"], *data["constants"]):
        assert (row["probe"] is None) == bool(row.get("unasked")), row
    for name, row in data["instructions"].items():
        assert name in costs()["instructions"]["2201"] and row["fields"] and row["unasked"]


@pytest.mark.parametrize("row", register()["choices"], ids=lambda row: row["id"])
def test_choices_name_evidence_and_what_depends_on_them(row: dict[str, Any]) -> None:
    assert row["evidence"] and row["depends"] and row["what"] and "probe" in row
    assert ("alternatives" in row) == ("chosen" in row)


def test_probes_of_the_register_exist() -> None:
    from aclgrad.profiling.calibration.probes import plan

    made = plan(48, 201326592, 196352)
    for row in register()["choices"]:
        assert row["probe"] is None or row["probe"] in made.values, row["id"]
    for row in (*register()["costs"], *register()["constants"]):
        probe = row["probe"]
        if probe is not None and "{instruction}" not in probe:
            assert probe in made.timings, row
    lacking = register()["instructions"]
    words = {"repeat32": "float", "repeat16": "half", "wait": "waited"}
    for name in costs()["instructions"]["2201"]:
        for field, word in words.items():
            asked = f"vector {name} {word}" in made.timings
            assert asked == (field not in lacking.get(name, {"fields": []})["fields"]), name
