# SPDX-License-Identifier: Apache-2.0
"""Fields of tiling structs, read from their source."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from aclgrad.cases.tiling_fields import fields_of, with_fields
from aclgrad.findings import Finding, Place

SOURCE = """\
#include <cstdint>
struct Other { int32_t first; };
// struct Plan { int64_t never; };
struct Plan {
  int64_t total;    // elements; of all
  /* of each
     core */ uint32_t perCore = 0;
  std::uint8_t kind{1};
  int16_t dims[2][3];
  double scale;
  bool last;
};
"""


def test_fields() -> None:
    fields = fields_of("Plan", SOURCE, "plan.h")
    assert [(one.name, one.begin, one.end, one.line) for one in fields] == [
        ("total", 0, 8, 5),
        ("perCore", 8, 12, 7),
        ("kind", 12, 13, 8),
        ("dims", 14, 26, 9),
        ("scale", 32, 40, 10),
        ("last", 40, 41, 11),
    ]
    assert fields[1].text == "core */ uint32_t perCore = 0;"
    assert [one.name for one in fields_of("Other", SOURCE, "plan.h")] == ["first"]


@pytest.mark.parametrize(
    "body",
    ["Inner inner;", "int32_t a;\n#if X\n", "int32_t dims[kMost];", "int32_t a : 3;", "int f();"],
)
def test_what_is_not_plain_has_no_fields(body: str) -> None:
    assert fields_of("Plan", f"struct Plan {{ {body} }};", "plan.h") == ()
    assert fields_of("Plan", "", "plan.h") == ()
    packed = "#pragma pack(1)\nstruct Plan { int32_t a; };"
    assert fields_of("Plan", packed, "plan.h") == ()


def unset(ranges: str, text: str = "auto* t = context->GetTilingData<ns::Plan>();") -> Finding:
    """As the simulator tells it."""
    detail = f"the tiling function leaves bytes {ranges} of the 48 of its tiling data as they were"
    return Finding(
        "tiling-unset", at=Place("host", "GetTilingData", "", "t.cpp", 3, text), detail=detail
    )


def test_names(tmp_path: Path) -> None:
    files = [tmp_path / "empty.h", tmp_path / "plan.h"]
    files[0].write_text("")
    files[1].write_text(SOURCE)
    found = with_fields(unset("[8, 12), [16, 20)"), files)
    assert found is not None
    assert found.detail == "the tiling function does not set perCore, dims"
    assert (found.at.file, found.at.line) == (str(files[1]), 7)
    assert [(place.file, place.line) for place in found.related] == [("t.cpp", 3)]


def test_padding_is_nothing(tmp_path: Path) -> None:
    (tmp_path / "plan.h").write_text(SOURCE)
    assert with_fields(unset("[13, 14), [26, 32), [41, 48)"), [tmp_path / "plan.h"]) is None


def test_unknown_structs_stay_as_they_are(tmp_path: Path) -> None:
    for item in (unset("[0, 8)", "context->GetRawTilingData()"), unset("[0, 8)")):
        assert with_fields(item, []) is item


def test_names_of_a_struct_with_others_in_it(tmp_path: Path) -> None:
    """The operator's own text of the tiling data says which fields differ."""
    (tmp_path / "plan.h").write_text(
        "struct Plan {\n  Inner split;  // slope;\n  float slope;\n  int32_t axes[kMost];\n};\n"
    )
    for name, line in (("slope", 3), ("axes", 4)):
        item = unset("[40, 44)")
        item = dataclasses.replace(item, detail=f"{item.detail}: {name}, gone")
        found = with_fields(item, [tmp_path / "plan.h"])
        assert found is not None
        assert found.detail == f"the tiling function does not set {name}"
        assert found.at.line == line
