# SPDX-License-Identifier: Apache-2.0
"""`aclgrad headers`: with stand-ins, and with the folders of ACLGRAD_HEADERS."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from aclgrad.errors import ToolkitError
from aclgrad.headers import check as header_check
from aclgrad.headers import trees
from aclgrad.headers.trees import REPOSITORIES
from aclgrad.ops import all_specs, find
from aclgrad.runtime.toolkit import sim_root
from aclgrad.spec.op_spec import OpSpec, replace

pytestmark = pytest.mark.journey

ROOT = Path(__file__).resolve().parents[3]
STAND_IN = Path(__file__).with_name("cann_headers")
KERNEL = """\
#include "kernel_operator.h"
struct TinyTiling {
  int32_t count;
};
using AscendC::Add;
using AscendC::Cast;
extern "C" __global__ __aicore__ void tiny(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR workspace,
                                           GM_ADDR tiling) {
  REGISTER_TILING_DEFAULT(TinyTiling);
  GET_TILING_DATA_WITH_STRUCT(TinyTiling, data, tiling);
  AscendC::GlobalTensor<DTYPE_SOFTMAX> gm;
  gm.SetGlobalBuffer(reinterpret_cast<__gm__ DTYPE_SOFTMAX*>(x));
  AscendC::LocalTensor<DTYPE_SOFTMAX> in;
  AscendC::LocalTensor<float> a, b;
  AscendC::DataCopy(in, gm, data.count);
  if constexpr (!std::is_same_v<DTYPE_SOFTMAX, float>) {
    Cast(a, in, AscendC::RoundMode::CAST_NONE, data.count);
  }
  Add(b, a, a, data.count);  // here
  AscendC::Finish();
}
"""
CPU, DEVICE = "2201 cpu", "2201 device"
FAULTS = {
    "unknown function": ("Addd(b, a, a, data.count);", (CPU, DEVICE), "Addd"),
    "mixed element types": (
        "AscendC::LocalTensor<int16_t> i;\n  Add(b, a, i, data.count);",
        (CPU, DEVICE),
        "Add",
    ),
    "bf16 Add": (
        "AscendC::LocalTensor<bfloat16_t> h;\n  Add(h, h, h, data.count);",
        (CPU, DEVICE),
        "vadd",
    ),
    "conversion that the SoC lacks": (
        "AscendC::LocalTensor<int8_t> c;\n  Cast(c, a, AscendC::RoundMode::CAST_NONE, data.count);",
        (CPU, DEVICE),
        "vconv|float",
    ),
    "wrong enumerator": (
        "Cast(a, in, AscendC::RoundMode::CAST_UP, data.count);",
        (CPU, DEVICE),
        "CAST_UP",
    ),
    "GM address as a plain pointer": (
        "float* raw = reinterpret_cast<__gm__ float*>(y);\n  data.count += raw[0] > 0;",
        (DEVICE,),
        "__gm__",
    ),
    "std::vector": ("std::vector<int> v(4);", (DEVICE,), "vector"),
}


@pytest.fixture(scope="session")
def cann(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The stand-in as an installation; its host side are the simulator's headers."""
    home = tmp_path_factory.mktemp("cann") / "home"
    shutil.copytree(STAND_IN, home)
    (home / "x86_64-linux" / "include").symlink_to(sim_root() / "include")
    return home


def tiny() -> OpSpec:
    """A kernel of a few lines under the specification of an operator."""
    spec = find("softmax_grad")
    kernels = {"ascend910b": spec.kernels["ascend910b"][1:2]}  # half: the one that is converted
    return replace(spec, op_type="Tiny", kernels=kernels)


def sources(folder: Path, kernel: str, definition: str = "") -> Path:
    """A checkout with one operator."""
    (folder / "op_kernel" / "tiny").mkdir(parents=True)
    (folder / "op_kernel" / "tiny" / "tiny.cpp").write_text(kernel)
    (folder / "op_host" / "tiny").mkdir(parents=True)
    text = definition or '#include "register/op_def_registry.h"\n'
    (folder / "op_host" / "tiny" / "tiny_def.cpp").write_text(text)
    return folder


def kernels_of(result: header_check.HeadersChecked) -> dict[str, tuple[header_check.Problem, ...]]:
    return {
        outcome.job.column: outcome.problems
        for outcome in result.outcomes
        if outcome.job.column in (CPU, DEVICE)
    }


def branches(wanted: tuple[str, ...]) -> set[str]:
    """Without a new enough clang++ the device branch is skipped, and said to be."""
    return {name for name in wanted if name == CPU or header_check.find_clang()}


def test_a_correct_kernel_passes(cann: Path, tmp_path: Path) -> None:
    root = sources(tmp_path, KERNEL)
    result = header_check.check([cann], [tiny()], root=root)
    assert [str(p) for outcome in result.failed for p in outcome.problems] == []
    assert set(kernels_of(result)) == branches((CPU, DEVICE))
    assert {outcome.job.label for outcome in result.outcomes} == {
        "float16_float16_float16", "tiny_def.cpp", "aclnn_softmax_backward.cpp", "tiny.cpp",
    }  # fmt: skip
    assert bool(result.skipped) == (header_check.find_clang() is None)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_found(cann: Path, tmp_path: Path, fault: str) -> None:
    """Each in the branches that can know of it, at the line that is wrong, and nowhere else."""
    line, wanted, words = FAULTS[fault]
    right = "Add(b, a, a, data.count);  // here"
    root = sources(tmp_path, KERNEL.replace(right, line))
    # The host side is the same in all: looked at above.
    plan = header_check.check([cann], [tiny()], root=root, kernels_only=True)
    found = kernels_of(plan)
    assert {name for name, problems in found.items() if problems} == branches(wanted)
    at = KERNEL[: KERNEL.index(right)].count("\n") + 1
    lines = range(at, at + line.count("\n") + 1)
    for name in branches(wanted):
        places = {p.origin or p.place for p in found[name]}
        assert places & {f"op_kernel/tiny/tiny.cpp:{number}" for number in lines}, found[name]
        assert re.search(words, " ".join(p.text for p in found[name]))


def test_a_misspelt_definition_is_found(cann: Path, tmp_path: Path) -> None:
    text = '#include "register/op_def_registry.h"\nops::OpDeff wrong("x");\n'
    root = sources(tmp_path, KERNEL, text)
    result = header_check.check([cann], [tiny()], root=root)
    (failed,) = result.failed
    assert (failed.job.column, failed.job.label) == ("op_host", "tiny_def.cpp")
    assert failed.problems[0].place == "op_host/tiny/tiny_def.cpp:2"
    columns, rows = result.cells(failed.job.headers)
    assert dict(rows)["tiny"][columns.index("op_host")] == "1 error"


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(ToolkitError, match="neither a CANN installation nor a checkout"):
        header_check.check([tmp_path], [tiny()])
    with pytest.raises(ToolkitError, match="is not a folder"):
        header_check.check([tmp_path / "no"], [tiny()])
    devkit = tmp_path / "any name"
    (devkit / "include/basic_api").mkdir(parents=True)
    (devkit / "include/basic_api/kernel_tensor.h").touch()
    (devkit / "impl/basic_api").mkdir(parents=True)
    with pytest.raises(ToolkitError) as caught:
        header_check.check([tmp_path], [tiny()])
    lacking = [r.name for r in REPOSITORIES if r.name != "asc-devkit" and not r.optional]
    said = str(caught.value)
    assert f"include those of {', '.join(lacking[:-1])} and {lacking[-1]}, of which" in said
    # One sentence and one command, which a shell takes as it is.
    command = said[said.index("Next: ") + 6 : said.rindex(", then --headers")]
    done = subprocess.run(
        ["bash", "-c", f"git() {{ echo $PWD $2; }}; {command}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines() == [
        f"{tmp_path} https://github.com/hicann/{name}" for name in lacking
    ]


def test_another_library_is_not_taken_for_one_that_is_asked_for(tmp_path: Path) -> None:
    """Libraries of operators are laid out alike; the folder's name or its origin tells."""
    for repository in trees.REPOSITORIES:
        for mark in repository.marks:
            (tmp_path / repository.name / mark).mkdir(parents=True)
            (tmp_path / f"a-fork-like-{repository.name}" / mark).mkdir(parents=True)
    (headers,) = trees.find([tmp_path])
    assert {name: root.name for name, root, _ in headers.sources} == {
        one.name: one.name for one in trees.REPOSITORIES
    }
    (tmp_path / "ops-nn").rename(tmp_path / "nn")
    (tmp_path / "nn/.git").mkdir()
    (tmp_path / "nn/.git/config").write_text(
        '[remote "origin"]\n\turl = https://example.com/someone/ops-nn.git\n'
    )
    (headers,) = trees.find([tmp_path])
    assert ("ops-nn", tmp_path / "nn") in {(name, root) for name, root, _ in headers.sources}


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "aclgrad", *words],
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_command_refuses_what_goes_with_a_run(cann: Path) -> None:
    done = run("headers", "--cann", str(cann), "--shape", "4x4")
    assert done.returncode == 2
    assert "No such option: --shape" in done.stderr
    done = run("check", "--json")
    assert done.returncode == 2
    assert "No such option: --json" in done.stderr


def test_the_command_prints_a_table_and_fails_with_a_source(cann: Path) -> None:
    """The stand-ins lack much that an operator of ours needs; its host side passes."""
    done = run("headers", "log_sigmoid_grad", "--cann", str(cann))
    assert done.returncode == 1, done.stderr
    former = run("check", "log_sigmoid_grad", "--headers", str(cann))
    assert (former.returncode, former.stdout) == (1, done.stdout)
    assert "type-checked against CANN 8.0-standin" in done.stdout
    (row,) = (line for line in done.stdout.splitlines() if line.startswith("│ log_sig"))
    cells = [cell.strip() for cell in row.strip("│").split("│")]
    assert cells[0] == "log_sigmoid_grad"
    assert "errors" in cells[1]
    assert cells[-2:] == ["ok (2)", "ok (2)"]  # op_host, op_api
    assert "op_kernel/" in done.stdout


@pytest.mark.skipif("ACLGRAD_HEADERS" not in os.environ, reason="ACLGRAD_HEADERS is not set")
def test_our_operators_against_the_real_headers() -> None:
    """ACLGRAD_HEADERS: folders as for --cann, separated by colons."""
    folders = os.environ["ACLGRAD_HEADERS"].split(":")
    done = run("headers", *(word for folder in folders for word in ("--cann", folder)), "--json")
    result = json.loads(done.stdout)
    wrong = [item for item in result["results"] if not item["ok"]]
    assert wrong == []
    assert {item["op"] for item in result["results"]} >= {spec.op for spec in all_specs()}
    assert [item for item in result["op_compiler"] if not item["ok"]] == []
    assert done.returncode == 0
