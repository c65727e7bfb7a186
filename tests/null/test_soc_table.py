# SPDX-License-Identifier: Apache-2.0
"""simulator/src/soc: address spaces of the table of SoCs."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path
from typing import Any

import pytest

SOC = Path(__file__).resolve().parents[2] / "simulator" / "src" / "soc"
_found = importlib.util.spec_from_file_location("soc_table", SOC / "soc_table.py")
assert _found and _found.loader
soc_table = importlib.util.module_from_spec(_found)
_found.loader.exec_module(soc_table)
DATA: dict[str, Any] = json.loads((SOC / "soc.json").read_text("utf-8"))


def test_spaces_are_those_of_the_header() -> None:
    header = (SOC / "soc.h").read_text("utf-8")
    (words,) = re.findall(r"enum class Space : uint8_t \{(.*?)\}", header)
    assert [word.strip()[1:].upper() for word in words.split(",")] == ["GM", *soc_table.SPACES]


@pytest.mark.parametrize("arch", sorted(DATA["archs"]))
def test_a_space_is_whole_units_of_its_alignment(arch: str) -> None:
    for name in soc_table.SPACES:
        size = DATA["archs"][arch][f"{name.lower()}Bytes"]
        assert size is None or size % DATA["aligns"][name] == 0, name


def test_row_has_sizes_and_alignments() -> None:
    (row,) = [row for row in soc_table.table(DATA).splitlines() if '"Ascend910B2"' in row]
    assert ".coupled = false" in row
    assert row.endswith(
        ".spaces = {{{0, 1}, {196352, 32}, {524288, 32}, {65536, 512}, {65536, 512},"
        " {131072, 64}, {1024, 64}, {2048, 64}, {0, 32}, {0, 32}, {16384, 32}}}},"
    )
    (row,) = [row for row in soc_table.table(DATA).splitlines() if '"Ascend910A"' in row]
    assert ".coupled = true" in row
    assert row.endswith("{262144, 64}, {0, 64}, {0, 64}, {0, 32}, {0, 32}, {0, 32}}}},")


def test_ways_of_the_matrix_unit() -> None:
    """A bit for each memory that copies reach, in the row of the one that they come from."""
    names = ["GM", *soc_table.SPACES]
    for arch, row in DATA["archs"].items():
        found = re.search(r"\.ways = \{(.*?)\}", soc_table.matrix(row))
        assert found, arch
        masks = list(map(int, found[1].split(",")))
        ways = {
            f"{source} {names[i]}"
            for source, mask in zip(names, masks, strict=True)
            for i in range(len(names))
            if mask >> i & 1
        }
        assert ways == set(row["matrix"]["ways"]), arch
