# SPDX-License-Identifier: Apache-2.0
"""Which source of a repository defines what an operator's op_host lacks."""

from __future__ import annotations

from pathlib import Path

from aclgrad.building.common_code import CommonCode
from aclgrad.reading.sources import Sources


def test_a_member_is_that_of_its_class(tmp_path: Path) -> None:
    """A neighbour that comes first has a member of the same name, in a class of its own."""
    texts = {
        "aaa": "ge::graphStatus AaaTiling::GetPlatformInfo()\n{\n}\n",
        "wide": "namespace optiling {\nge::graphStatus WideTiling::GetPlatformInfo()\n{\n}\n"
        "ge::graphStatus TilingForWide(gert::TilingContext* context)\n{\n}\n}\n",
    }
    files = {}
    for name, text in texts.items():
        files[name] = tmp_path / "activation" / name / "op_host" / f"{name}_tiling.cpp"
        files[name].parent.mkdir(parents=True)
        files[name].write_text(text)
    root = tmp_path / "activation" / "mine"
    (root / "op_host").mkdir(parents=True)
    for name in (
        "optiling::WideTiling::GetPlatformInfo()",
        "optiling::TilingForWide(gert::TilingContext*)",
    ):
        sources = Sources(root, "mine", (), (), tmp_path)
        common = CommonCode(tmp_path / "kept" / f"{len(name)}.json", sources)
        assert common.find_sources([name]) == [files["wide"]]


def test_an_operator_in_a_folder_that_is_skipped_has_its_own_headers(tmp_path: Path) -> None:
    """A copy of an operator below build/ does not compile against the headers of the original."""
    (tmp_path / ".git").mkdir()
    copy = tmp_path / "build" / "copy"
    for root in (tmp_path, copy):
        header = root / "op_kernel" / "parts" / "rows.h"
        header.parent.mkdir(parents=True)
        header.write_text("#pragma once\n")
    common = CommonCode(tmp_path / "kept.json", Sources(copy, "mine", (), (), tmp_path))
    assert common.find_header("parts/rows.h")
    assert common.roots == [copy / "op_kernel"]


def test_what_kernels_want_is_no_folder_of_others(tmp_path: Path) -> None:
    """Else all other compiles would have another word from the second command on."""
    (tmp_path / ".git").mkdir()
    for name in ("host", "kernel"):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}_words.h").write_text("")
    root = tmp_path / "mine"
    root.mkdir()
    kept = tmp_path / "kept.json"
    common = CommonCode(kept, Sources(root, "mine", (), (), tmp_path))
    assert common.find_header("host_words.h")
    assert common.find_header("kernel_words.h", kernels=True)
    assert common.find_header("host_words.h", kernels=True)
    again = CommonCode(kept, Sources(root, "mine", (), (), tmp_path))
    for one in (common, again):
        assert one.roots == [tmp_path / "host"] and one.kernel_roots == [tmp_path / "kernel"]
    assert again.find_header("kernel_words.h")
    assert again.roots == [tmp_path / "host", tmp_path / "kernel"]
