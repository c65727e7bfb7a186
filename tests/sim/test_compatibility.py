# SPDX-License-Identifier: Apache-2.0
"""The sweep over a library of operators: every end that a kernel can have is seen and shown."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from aclgrad import peer_check
from aclgrad.peer_sources import PeerError
from aclgrad.runtime import Device

pytestmark = [pytest.mark.sim_only, pytest.mark.plants_faults]

LIBRARY = Path(__file__).parent / "peer_library"
SCRIPT = Path(__file__).parents[2] / "scripts" / "compatibility.py"
KERNEL = "op_kernel/square.cpp"
TILING = "op_host/square_tiling.cpp"
EDITS = {
    "wrong": (KERNEL, "Mul(value, value, value", "Add(value, value, value"),
    "faulty": (KERNEL, "DataCopy(target, value", "DataCopy(target[8], value"),
    "broken": (KERNEL, "Mul(value, value, value", "NoSuchInstruction(value"),
    "refusing": (TILING, "shape.GetDimNum() == 2", "shape.GetDimNum() > 0"),
    "crashing": (TILING, "context->SetTilingKey(0)", "*(volatile int*)nullptr = 0"),
    "later": ("op_host/square_def.cpp", '"ascend910b"', '"ascend950"'),
}  # fmt: skip


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory, session_device: Device) -> Iterator[Path]:
    """One cache for all tests here."""
    assert session_device.kind == "sim"
    folder = tmp_path_factory.mktemp("sweep")
    patch = pytest.MonkeyPatch()
    patch.setenv("ACLGRAD_CACHE", str(folder))
    yield folder
    patch.undo()


def plant(library: Path, category: str) -> Path:
    """A copy of the operator with a mistake, in a category of its own; returns its folder."""
    folder = library / category / "square"
    shutil.copytree(LIBRARY / "math" / "square", folder)
    if category in EDITS:
        path, old, new = EDITS[category]
        text = (folder / path).read_text()
        assert old in text
        (folder / path).write_text(text.replace(old, new))
    return folder


def sweep(library: Path, cache: Path, *words: str) -> str:
    """Run the script; returns what it prints."""
    command = [sys.executable, str(SCRIPT), str(library), "--cache", str(cache), *words]
    environment = {**os.environ, "PYTHONPATH": ""}
    return subprocess.run(
        command, capture_output=True, text=True, check=True, env=environment
    ).stdout


def test_every_end_of_a_kernel_is_seen(cache: Path, tmp_path: Path):
    """Matched, mismatched, with a finding, not built, refused, crashed, left out; then known."""
    library = tmp_path / "lib"
    shutil.copytree(LIBRARY / "common", library / "common")
    for category in ("math", *EDITS):
        plant(library, category)
    page = tmp_path / "page.md"
    printed = sweep(library, cache, "--doc", str(page), "--revision", "lib=abc123")
    assert "6 kernels, 0 known, 6 to try" in printed
    text = page.read_text()
    rows = {
        line.split(" | ")[0][2:]: line for line in text.splitlines() if line.startswith("| lib/")
    }
    assert rows["lib/math/square"].startswith("| lib/math/square | yes | yes | yes | yes |")
    assert "| yes | yes | yes | **no** | y: " in rows["lib/wrong/square"]
    assert "elements match, want 99%" in rows["lib/wrong/square"]
    assert "| yes | yes | finding |  | gm-out-of-bounds square.cpp:23:" in rows["lib/faulty/square"]
    assert "| yes | no |  |  | ‘NoSuchInstruction’ was not declared" in rows["lib/broken/square"]
    assert "| yes | yes | refused |  | " in rows["lib/refusing/square"]
    assert "x must not be a matrix" in rows["lib/refusing/square"]
    assert "| yes | yes | crashed |  | SIGSEGV in op_host" in rows["lib/crashing/square"]
    assert "not defined for Atlas A2 or A3 (1): lib/later/square." in text
    assert "Libraries: lib abc123. Vector kernels for Atlas A2 in them: 6." in text
    assert "Not looked into yet (2): lib/faulty/square, lib/wrong/square." in text
    for figure in (
        "| op_host and kernel build | 5 | 83 % |",
        "| ran without a finding | 2 | 33 % |",
        "| ran or ended with a finding | 1 |",
        "| results matched | 1 |",
        "| results did not match | 1 |",
        "| `NoSuchInstruction` | 1 | 1 | 1 |",
    ):
        assert figure in text
    assert "6 kernels, 6 known, 0 to try" in sweep(library, cache)


def test_unit_test_compares_what_nothing_else_does(cache: Path, tmp_path: Path):
    """Without a reference by name the operator's own unit test says whether results are right."""
    library = tmp_path / "lib"
    shutil.copytree(LIBRARY / "common", library / "common")
    folder = library / "math" / "square"
    shutil.copytree(LIBRARY / "math" / "square", folder)
    for path in folder.rglob("*.*"):
        path.write_text(path.read_text().replace("Square", "Quadrate"))
    tests = folder / "tests" / "ut" / "op_kernel"
    tests.mkdir(parents=True)
    (tests / "test_square.cpp").write_text(UNIT_TEST)
    sweep(library, cache)
    result = json.loads((cache / "results.json").read_text())["lib/math/square"]
    assert (result["op"], result["ran"]) == ("Quadrate", "clean")
    assert result["match"] == "matched by its unit test"
    kernel = folder / KERNEL
    kernel.write_text(kernel.read_text().replace("Mul(value, value", "Add(value, value"))
    sweep(library, cache)
    result = json.loads((cache / "results.json").read_text())["lib/math/square"]
    assert result["match"] == "mismatched: its unit test Square.values: failed"


UNIT_TEST = """
#include <gtest/gtest.h>
#include "tikicpulib.h"
#include "../../../op_kernel/square_tiling_data.h"
extern "C" void square(uint8_t* x, uint8_t* y, uint8_t* workspace, uint8_t* tiling);
TEST(Square, values) {
  auto* x = static_cast<float*>(AscendC::GmAlloc(64 * 4));
  auto* y = static_cast<float*>(AscendC::GmAlloc(64 * 4));
  auto* workspace = static_cast<uint8_t*>(AscendC::GmAlloc(32));
  auto* tiling = static_cast<uint8_t*>(AscendC::GmAlloc(sizeof(SquareTilingData)));
  for (int i = 0; i < 64; ++i) x[i] = i + 3;
  reinterpret_cast<SquareTilingData*>(tiling)->count = 64;
  ICPU_RUN_KF(square, 1, reinterpret_cast<uint8_t*>(x), reinterpret_cast<uint8_t*>(y), workspace,
              tiling);
  for (int i = 0; i < 64; ++i) EXPECT_EQ(y[i], x[i] * x[i]);
  AscendC::GmFree(x);
  AscendC::GmFree(y);
  AscendC::GmFree(workspace);
  AscendC::GmFree(tiling);
}
"""


def test_check_reports_what_generated_inputs_show(cache: Path, tmp_path: Path):
    """`aclgrad check PATH` on an operator and on one with a fault, as a user types them."""
    library = tmp_path / "lib"
    shutil.copytree(LIBRARY / "common", library / "common")
    tool = [sys.executable, "-m", "aclgrad", "check"]
    fine = subprocess.run(
        [*tool, str(plant(library, "math")), "--format", "json"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert fine.returncode == 0, fine.stderr
    assert json.loads(fine.stdout)["findings"] == []
    faulty = subprocess.run(
        [*tool, str(plant(library, "faulty"))], capture_output=True, text=True, check=False
    )
    assert faulty.returncode == 1
    assert "error[gm-out-of-bounds]" in faulty.stdout and "square.cpp:23" in faulty.stdout
    with pytest.raises(PeerError, match=r"(?s)took none of .* x must not be a matrix"):
        peer_check.check(str(plant(library, "refusing")), soc="Ascend910B2")
    with pytest.raises(PeerError, match="SIGSEGV in op_host or in the kernel, inputs x"):
        peer_check.check(str(plant(library, "crashing")), soc="Ascend910B2")
    with pytest.raises(PeerError, match="no kernel whose first input is float16"):
        peer_check.check(str(library / "math" / "square"), soc="Ascend910B2", dtype="float16")
