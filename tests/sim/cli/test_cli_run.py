# SPDX-License-Identifier: Apache-2.0
"""The command line on a built toolkit."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import commands
from aclgrad.ops import find
from aclgrad.runtime import Device
from aclgrad.spec.soc import family_of

pytestmark = pytest.mark.usefixtures("toolkit")


def aclgrad(*words: object, status: int = 0, **environment: Any) -> str:
    done = commands.run(*words, environment=environment)
    assert done.returncode == status, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout if status == 0 else done.stdout + done.stderr


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    rng = np.random.default_rng(0)
    for name in ("g", "y"):
        np.save(tmp_path / f"{name}.npy", rng.normal(size=(4, 100)).astype(np.float32))
    return tmp_path / "g.npy", tmp_path / "y.npy"


def test_run_writes_the_result(files: tuple[Path, Path], tmp_path: Path) -> None:
    text = aclgrad(
        "run", "softmax_grad", *files, "--dim", -1, "-o", tmp_path / "dx.npy", "--golden"
    )
    assert "passed" in text
    g, y = (np.load(path).astype(np.float64) for path in files)
    want = y * (g - (g * y).sum(-1, keepdims=True))
    np.testing.assert_allclose(np.load(tmp_path / "dx.npy"), want, rtol=1e-3, atol=1e-4)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["dx.npy", "g.npy", "y.npy"]


def test_run_replaces_regular_files_only(files: tuple[Path, Path], tmp_path: Path) -> None:
    """Devices stay, links that were planted at a guessed name lead nowhere, nothing is lost."""
    null = Path("/dev/null").stat()
    aclgrad("run", "softmax_grad", *files, "-o", "/dev/null")
    assert Path("/dev/null").stat().st_rdev == null.st_rdev
    out, victim, mine = (tmp_path / name for name in ("out.npy", "victim", "keep.npy.part"))
    victim.write_text("precious")
    (tmp_path / "out.npy.part").symlink_to(victim)
    mine.write_text("mine")
    for path in (out, tmp_path / "keep.npy"):
        aclgrad("run", "softmax_grad", *files, "-o", path)
        assert np.load(path).shape == np.load(files[0]).shape
    assert victim.read_text() == "precious" and mine.read_text() == "mine"
    os.mkfifo(tmp_path / "pipe.npy")
    text = aclgrad("run", "softmax_grad", tmp_path / "pipe.npy", files[1], "-o", out, status=1)
    assert "is a pipe, want a regular file. Next: " in text


def test_run_bf16_and_json(tmp_path: Path) -> None:
    for name in ("g", "y"):
        np.save(tmp_path / f"{name}.npy", np.ones((3, 8), ml_dtypes.bfloat16))
    out = tmp_path / "o.npy"
    text = aclgrad(
        "run",
        "softmax_grad",
        tmp_path / "g.npy",
        tmp_path / "y.npy",
        "-o",
        out,
        "--dtype",
        "bf16",
        "--out-dtype",
        "fp32",
        "--golden",
        "--json",
    )
    document = json.loads(text)
    assert document["golden"]["passed"] and document["dtype"] == "float32"
    assert np.array_equal(np.load(out), np.full((3, 8), -7, np.float32))


def test_run_shows_the_librarys_refusal(files: tuple[Path, Path], tmp_path: Path) -> None:
    text = aclgrad("run", "softmax_grad", *files, "--dim", 5, "-o", tmp_path / "dx.npy", status=1)
    assert "161002" in text and "dim: got 5, want a value in [-2, 1]" in text
    assert not (tmp_path / "dx.npy").exists()


def test_tiling(tmp_path: Path) -> None:
    words = ("tiling", "softmax_grad", "2x8192", "--dtype", "bf16", "--soc", "Ascend910B2")
    plan = json.loads(aclgrad(*words, "--json"))
    assert plan["soc"] == "Ascend910B2" and plan["blockDim"] >= 1 and plan["tiling"]
    assert "blockDim" in aclgrad(*words)
    assert json.loads(aclgrad("tiling", "softmax_grad", "scalar", "--json"))["blockDim"] == 1


def test_table_and_report(tmp_path: Path) -> None:
    text = aclgrad("test", "softmax_grad", "--fast", "--dtype", "fp16", "--report", tmp_path / "r")
    assert "softmax_grad" in text and "fp16" in text and "report:" in text
    document = json.loads((tmp_path / "r" / "precision.json").read_text())
    assert document["passed"] and document["soc"] == "Ascend910B2"
    row = document["rows"][0]
    assert row["cases"] == row["passed"] == len(document["cases"]) > 50
    assert row["max_ulp_of_scale"] < 32


def test_soc_without_kernels_fails_with_the_reason(tmp_path: Path, device: Device) -> None:
    spec = find("softmax_grad")
    found = [soc for soc in device.soc_names() if not spec.kernels_on(family_of(soc))]
    if not found:
        pytest.skip("every SoC has its kernels")
    words = ("--fast", "--dtype", "fp16", "--soc", found[0], "--report", tmp_path)
    text = aclgrad("test", "softmax_grad", *words, status=1)
    assert "supports none of the" in text and "docs/api" in text


def test_unwritable_report_folder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    text = aclgrad(
        "test", "--fast", "--dtype", "bf16", "--report", tmp_path / "file" / "r", status=1
    )
    assert "error: " in text and "file" in text


def test_doctor_finds_no_problem() -> None:
    report = json.loads(aclgrad("doctor", "--json"))
    assert report["ok"], report
    assert any(
        finding["what"] == "softmax_grad" and "ascend910b" in finding["value"]
        for finding in report["findings"]
    )


def test_config_words(toolkit: Path) -> None:
    assert all(word.startswith("-I") for word in aclgrad("config", "--cflags").split())
    assert all(
        word.startswith(("-L", "-l", "-Wl,-rpath,")) for word in aclgrad("config", "--libs").split()
    )
    assert (Path(aclgrad("config", "--opp-path").strip()) / "vendors").is_dir()
    assert json.loads(aclgrad("config", "--json"))["opp_path"] == str(toolkit / "opp")


def test_page_beside_the_golden(files: tuple[Path, Path], tmp_path: Path) -> None:
    page, words = tmp_path / "page.html", ("run", "softmax_grad", *files, "--html")
    assert "Next: add --golden" in aclgrad(*words, page, status=1)
    assert aclgrad(*words, page, "--golden")
    text = page.read_text("utf-8")
    assert "400 of 400 elements match the golden" in text and "Where it is wrong" not in text


def test_words_of_a_compiler_reach_a_program(tmp_path: Path) -> None:
    """-D and -I of an .asc file, in a folder whose name shells and makefiles would take apart."""
    folder = tmp_path / "a b (x) [y] 'z' $HOME é #1" / "simulator/src"
    (folder / "inc").mkdir(parents=True)
    (folder / "inc/own.h").write_text("#define OWN 7\n")
    program = folder / "program.asc"
    program.write_text(
        '#include "kernel_operator.h"\n#include "own.h"\n#include <cstdio>\n'
        'int main() { std::printf("%d %d\\n", OWN, WHICH); return 0; }\n'
    )
    words = ["run", program, "-I", folder / "inc", "-D"]
    assert aclgrad(*words, "WHICH=1") == "7 1\n"
    assert aclgrad(*words, "WHICH=2") == "7 2\n"


HINTED = """\
#include "kernel_operator.h"
using namespace AscendC;
extern "C" __global__ __aicore__ void k(GM_ADDR y) {
  TPipe pipe; TBuf<> b; pipe.InitBuffer(b, 256); auto a = b.Get<float>();
  GlobalTensor<float> out; out.SetGlobalBuffer((__gm__ float*)y, 64); Duplicate(a, 1.0f, 64);
  SetFlag<HardEvent::V_MTE3>(EVENT_ID0); WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
  DataCopy(out, a, 64);
  SetMaskCount();
}
"""


def test_run_shows_hints(tmp_path: Path) -> None:
    """At the kernel's line in a folder with a space and with a name of the simulator's own."""
    folder = tmp_path / "a b (c)" / "include/ascendc"
    folder.mkdir(parents=True)
    kernel = folder / "left.cpp"
    kernel.write_text(HINTED)
    said = aclgrad("run", kernel, "--outputs", "float32[64]")
    assert "hint [mask-left-set] in k" in said and f"at {kernel}:8" in said
    document = json.loads(aclgrad("run", kernel, "--outputs", "float32[64]", "--json"))
    assert document["findings"] == [] and "mask-left-set" in document["hints"][0]


def test_results_by_options_of_their_own(tmp_path: Path) -> None:
    """Each --outputs adds to those before it."""
    kernel = tmp_path / "two.cpp"
    kernel.write_text(HINTED.replace("GM_ADDR y)", "GM_ADDR y, GM_ADDR z)"))
    words = ("--outputs", "float32[64]", "--outputs", "8x4:fp16", "--partial-output", "*")
    document = json.loads(aclgrad("run", kernel, *words, "--json"))
    assert [out["shape"] for out in document["outputs"].values()] == [[64], [8, 4]]


def test_wait_for_a_cube_core_says_so(tmp_path: Path) -> None:
    kernel = tmp_path / "mix.cpp"
    kernel.write_text(
        '#include "kernel_operator.h"\nusing namespace AscendC;\n'
        'extern "C" __global__ __aicore__ void k(GM_ADDR y) {\n'
        "  if ASCEND_IS_AIC { CrossCoreSetFlag<2, PIPE_FIX>(3); return; }\n"
        "  if ASCEND_IS_AIV { CrossCoreWaitFlag(3); }\n}\n"
    )
    said = aclgrad("run", kernel, "--outputs", "float32[64]=0", status=1)
    assert "flag 3, which no core sets" in said and "needs a MIX kernel type" in said
    assert f"at {kernel}:" in said


def test_a_fault_is_shown_once(tmp_path: Path) -> None:
    """As an error, and with --keep-going as a finding; of the program, unless it is to be quiet."""
    kernel = tmp_path / "one.cpp"
    kernel.write_text(
        '#include "kernel_operator.h"\nusing namespace AscendC;\n'
        'extern "C" __global__ __aicore__ void one(GM_ADDR y) {\n'
        "  TPipe pipe;\n  TBuf<TPosition::VECCALC> buffer;\n  pipe.InitBuffer(buffer, 256);\n"
        "  LocalTensor<float> a = buffer.Get<float>();\n  Duplicate(a, 1.0f, -64);\n}\n"
    )
    words = ("run", kernel, "--outputs", "float32[64]=0", "--partial-output", "*")
    for more in ((), ("--keep-going",)):
        assert aclgrad(*words, *more, status=1).count("[count-range]") == 1
