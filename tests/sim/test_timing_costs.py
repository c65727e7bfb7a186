# SPDX-License-Identifier: Apache-2.0
"""Every function of the device API has a cost, or stands in a list of those that need none."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SIMULATOR = ROOT / "simulator" / "src"

# Copies of GM are timed by their bytes; the others run on the scalar pipe or not at all.
UNCOSTED = {
    "DataCopy (GM to UB)",
    "DataCopy (UB to GM)",
    "DataCopyPad (GM to UB)",
    "DataCopyPad (UB to GM)",
    "DumpTensor",
    "GetAccVal",
    "GetMrgSortResult",
    "GetReduceRepeatMaxMinSpr",
    "IBSet",
    "IBWait",
    "InitDetermineComputeWorkspace",
    "NotifyNextBlock",
    "WaitPreBlock",
}

_NAME = re.compile(r'"([^"]+)"')
_ASSIGNED = re.compile(r"\binstruction = ([^;]+);")
_ARRAY = re.compile(r"\b(k\w*Names)\[\]\s*=\s*\{([^}]*)\}")
_ROW = re.compile(r'(?:Row|Floats)(?:<[^>]*>)?\(\s*"(\w+)"')


def names_in(source: str) -> set[str]:
    """Names that a source file of the device API gives its instructions."""
    arrays = {name: set(_NAME.findall(text)) for name, text in _ARRAY.findall(source)}
    names = set(_ROW.findall(source))
    for value in _ASSIGNED.findall(source):
        names |= set(_NAME.findall(value))
        for array in re.findall(r"k\w*Names", value):
            names |= arrays[array]
    return names


def all_names() -> set[str]:
    """Those of all files."""
    found: set[str] = set()
    for path in sorted((SIMULATOR / "device").glob("*.cpp")):
        found |= names_in(path.read_text(encoding="utf-8"))
    return found


def costed() -> set[str]:
    """Functions with a cost."""
    costs = json.loads((SIMULATOR / "timing" / "costs.json").read_text(encoding="utf-8"))
    return {*costs["functions"], *costs["levels"]}


def missing(names: set[str]) -> set[str]:
    """Names that have neither a cost nor a place in the list."""
    return names - costed() - UNCOSTED


def test_names_are_found() -> None:
    names = all_names()
    assert {"Add", "WholeReduceSum", "Sigmoid", "SoftMax", "DataCopy (UB to UB)"} <= names
    assert len(names) > 100


def test_every_function_has_a_cost() -> None:
    assert missing(all_names()) == set()


def test_nothing_is_listed_for_nothing() -> None:
    assert all_names() >= UNCOSTED
    assert not UNCOSTED & costed()
    assert costed() <= all_names()


@pytest.mark.parametrize(
    "source",
    [
        'core.instruction = "Frobnicate";',
        'constexpr const char* kNewNames[] = {"Add", "Frobnicate"};\n'
        "core.instruction = kNewNames[i];",
        'at(High::kNew) = Row<float>("Frobnicate", ACLSIM_OF_A(a));',
        'core.instruction = many ? "Frobnicate" : "Add";',
    ],
)
def test_a_new_function_is_noticed(source: str) -> None:
    assert missing(names_in(source)) == {"Frobnicate"}
