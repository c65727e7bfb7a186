# SPDX-License-Identifier: Apache-2.0
"""What `aclgrad new --like` starts from: each is right on its whole grid and on each SoC that its
README names, no check finds a fault in it, and its cases notice a planted one.
"""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from aclgrad.projects.scaffold import Like
from test_own_operator import aclgrad

pytestmark = [
    pytest.mark.journey,
    pytest.mark.usefixtures("no_packages"),
    pytest.mark.plants_faults,
]

FAULTS = {
    Like.elementwise: ("Maxs(x, x, 0.0F, count)", "Maxs(x, x, 1.0F, count)"),
    Like.elementwise_ternary: ("Add(dst, x, a, count)", "Sub(dst, x, a, count)"),
    Like.row_reduction: ("Sub(dst, f, sy, ", "Add(dst, f, sy, "),
    Like.row_statistics: ("sum += SumOfProducts(", "sum = SumOfProducts("),  # rows of two tiles
    Like.gather: ("Copy(row * columns_ + at, ", "Copy(row * columns_, "),  # rows of two tiles
    Like.matmul: ("cmatrixInitVal = first", "cmatrixInitVal = true"),  # K beyond a tile
    Like.flash_attention: (  # keys beyond a tile
        "Exp(factor_, factor_, kHalf)",
        "Duplicate(factor_, 1.0F, kHalf)",
    ),
    Like.blank: ("static_cast<int32_t>(lanes)", "static_cast<int32_t>(lanes / 64 * 64)"),
}
SOCS = {
    **dict.fromkeys(Like, ("Ascend910_9392", "Ascend950PR_9599")),
    Like.row_reduction: ("Ascend910_9392", "Ascend950PR_9599", "Ascend310P3", "Ascend910A"),
}


def scaffold(like: Like, place: Path) -> tuple[str, Path]:
    """What `aclgrad new` says, and the project that it writes: each time the same, in one place."""
    project = place / like.value
    shutil.rmtree(project, ignore_errors=True)
    return aclgrad("new", "my_op", like.value, "--like", like.value, cwd=place), project


@pytest.mark.parametrize("like", Like)
def test_scaffold_is_green_and_its_cases_notice_a_fault(like: Like, place: Path) -> None:
    said, project = scaffold(like, place)
    assert re.search(r"^MyOp computes .+\. Change golden and kernel ", said, re.M)
    found = json.loads(aclgrad("test", "--json", cwd=project))
    assert found["passed"] and len(found["cases"]) > 40
    assert any(case["name"].endswith("-2^-20") for case in found["cases"])
    (case,) = re.findall(r'"default": "(\S+)"', (project / ".vscode/launch.json").read_text())
    assert case in {case["name"] for case in found["cases"]}
    checked = aclgrad("check", "--autosync", "off", "--chaos", "1", "--fast", cwd=project)
    assert re.search(r"^0 errors", checked, re.M)
    # The commands of its README.
    readme = (project / "README.md").read_text()
    commands = re.findall(r"^aclgrad (tiling|profile) ([^#]*)", readme, re.M)
    assert [name for name, _ in commands] == ["tiling", "profile"]
    for name, words in commands:
        found = json.loads(aclgrad(name, *words.split(), "--json", cwd=project))
        assert name != "tiling" or (found["tiling"] and found["blockDim"] > 1), found
    kernel = project / "op_kernel/my_op.cpp"
    right, wrong = FAULTS[like]
    text = kernel.read_text()
    assert right in text
    kernel.write_text(text.replace(right, wrong))
    assert "failed" in aclgrad("test", "-x", cwd=project, status=1)


@pytest.mark.parametrize(("like", "soc"), [(like, soc) for like in Like for soc in SOCS[like]])
def test_scaffold_is_green_on_other_socs(like: Like, soc: str, place: Path) -> None:
    _, project = scaffold(like, place)
    found = json.loads(aclgrad("test", "--fast", "--soc", soc, "--json", cwd=project))
    assert found["passed"] and len(found["cases"]) > 20


def test_names_of_cann_are_warned_of(tmp_path: Path) -> None:
    """Its functions (aclnnAdd), and its operators that have another function (SoftmaxGrad)."""
    for name, known in (("add", "Add"), ("softmax_grad", "SoftmaxGrad")):
        said = aclgrad("new", name, cwd=tmp_path)
        assert f"warning: CANN has an operator or function of its own named {known}." in said
        assert f"Next: another name, such as my_{name}" in said
    assert "warning" not in aclgrad("new", "my_op", cwd=tmp_path)
