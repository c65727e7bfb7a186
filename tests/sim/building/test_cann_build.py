# SPDX-License-Identifier: Apache-2.0
"""The CANN build without CANN: CMake configures and generates against a stand-in toolkit, and
against the public CMake modules when ACLGRAD_CANN_CMAKE names them (docs/cann_build.md).
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from aclgrad.checkout import cann_build
from aclgrad.errors import ToolkitError
from aclgrad.ops import all_specs
from aclgrad.runtime.toolkit import checkout
from cann_standin.toolkit import ROOT, add_libraries, make_toolkit

PUBLIC = os.environ.get("ACLGRAD_CANN_CMAKE")
pytestmark = [
    pytest.mark.journey,
    pytest.mark.skipif(checkout() is None, reason="operators are built from a checkout"),
]

public_modules = pytest.mark.skipif(
    PUBLIC is None,
    reason="ACLGRAD_CANN_CMAKE does not name the folder cmake/asc of the public asc-devkit",
)


def take(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASCEND_HOME_PATH", str(home))
    monkeypatch.setenv("PATH", f"{home / 'bin'}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("CMAKE_EXPORT_COMPILE_COMMANDS", "1")


def calls(made: cann_build.Build) -> str:
    return (made.cmake / "calls.txt").read_text()


def compile_command(made: cann_build.Build, source: str) -> list[str]:
    commands = json.loads((made.cmake / "compile_commands.json").read_text())
    found = [entry for entry in commands if entry["file"].endswith(source)]
    assert found, source
    return shlex.split(found[0]["command"])


def check_syntax(made: cann_build.Build, *sources: str) -> None:
    """Compile with exactly the generated flags, without writing an object."""
    for source in sources:
        words = compile_command(made, source)
        at = words.index("-o")
        done = subprocess.run(
            [*words[:at], *words[at + 2 :], "-fsyntax-only"], capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr


def test_cann_9_project_configures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    take(make_toolkit(tmp_path / "cann", "ASC"), monkeypatch)
    monkeypatch.setenv("STANDIN_SKIPS_DEFINITIONS", "1")
    made = cann_build.configure("Ascend910B2", tmp_path / "b")
    assert (made.cann.style, made.cann.version, made.family.name) == ("ASC", "9.1.0", "ascend910b")
    assert (made.cmake / "Makefile").is_file()
    text = calls(made)
    for spec in all_specs():
        want = f"npu_op_kernel_sources ascendc_kernels OP_TYPE {spec.op_type} KERNEL_DIR {spec.op}"
        assert f"{want} KERNEL_FILE {spec.op}.cpp\n" in text
        assert f"aclnn_{spec.header}.h" in text and f"{spec.op}_def.cpp" in text
    includes = f"-I{ROOT}/op_kernel -I{ROOT}/op_host"
    assert f"npu_op_kernel_options ascendc_kernels ALL {includes}\n" in text
    assert "npu_op_code_gen aclgrad OPS_ACLNN_GEN 0\n" in text
    assert "ENABLE_SOURCE_PACKAGE False ENABLE_BINARY_PACKAGE True" in text
    assert re.search(r"npu_op_library cust_opapi ACLNN .*aclnn_kl_div_backward\.cpp", text)
    assert "cust_optiling cust_op_proto cust_opapi ascendc_kernels\n" in text

    # CANN has headers with the names of ours; ours are found first.
    words = compile_command(made, "aclnn_softmax_backward.cpp")
    folders = [word[2:] for word in words if word.startswith("-I")]
    own, theirs = str(made.cmake / "gen/include"), str(made.cann.home / "include")
    assert folders.index(own) < folders.index(theirs)
    # level0/broadcast_to.h is in no toolkit.
    assert (made.cmake / "compat/level0/broadcast_to.h").is_file()
    assert not (made.cmake / "compat/log").exists()
    check_syntax(made, "aclnn_kl_div_backward.cpp")


def test_operators_without_a_kernel_for_the_soc_are_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    take(make_toolkit(tmp_path / "cann", "ASC"), monkeypatch)
    monkeypatch.setenv("STANDIN_SKIPS_DEFINITIONS", "1")
    made = cann_build.configure("Ascend310P3", tmp_path / "b")
    assert "OP_TYPE SoftmaxGrad" in calls(made) and "OP_TYPE KlDivLossGrad" not in calls(made)
    assert (
        "kl_div_loss_grad: no kernel for ascend310p, left out"
        in (made.folder / "configure.log").read_text()
    )


def test_cann_8_project_configures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    take(make_toolkit(tmp_path / "cann", "template"), monkeypatch)
    made = cann_build.configure("Ascend910_9391", tmp_path / "b")
    assert (made.cann.style, made.cann.version) == ("template", "8.1.RC1")
    text = calls(made)
    assert text.startswith("opbuild\n")
    options = f"ALL -I{ROOT}/op_kernel -I{ROOT}/op_host\n"
    assert f"add_ops_compile_options {options}" in text
    kernels = re.findall(r"^kernel (\w+)$", text, re.M)
    assert sorted(kernels) == sorted(stem for spec in all_specs() for stem in spec.types.values())
    # 8.1 has no log/log.h: the operators' own macros take its place.
    assert (made.cmake / "compat/log/log.h").is_file()
    check_syntax(made, "kl_div_loss_grad_tiling.cpp")
    # A second run finds its own project there.
    monkeypatch.setenv("STANDIN_SKIPS_DEFINITIONS", "1")
    assert cann_build.configure("Ascend910_9391", tmp_path / "b").folder == made.folder


def test_a_definition_that_does_not_compile_stops_the_configuration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = make_toolkit(tmp_path / "cann", "ASC")
    (home / "include/register").unlink()
    take(home, monkeypatch)
    with pytest.raises(ToolkitError, match=r"(?s)configure failed:.*register/op.*configure\.log"):
        cann_build.configure("Ascend910B2", tmp_path / "b")


def test_refusals_name_the_next_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ASCEND_HOME_PATH", raising=False)
    script = [str(ROOT / "scripts/build.sh"), "--device", "npu", "--soc", "Ascend910B2"]
    done = subprocess.run(script, capture_output=True, text=True)
    assert done.returncode == 1 and "ASCEND_HOME_PATH is not set" in done.stderr
    assert "Next: source <CANN>/set_env.sh" in done.stderr
    with pytest.raises(ToolkitError, match=r"ASCEND_HOME_PATH is not set.*Next: source"):
        cann_build.configure("Ascend910B2")
    monkeypatch.setenv("ASCEND_HOME_PATH", str(tmp_path / "none"))
    with pytest.raises(ToolkitError, match="which is not a folder. Next: source"):
        cann_build.configure("Ascend910B2")
    monkeypatch.setenv("ASCEND_HOME_PATH", str(tmp_path))
    with pytest.raises(ToolkitError, match=r"neither asc-config\.cmake .* nor .*Next: install"):
        cann_build.configure("Ascend910B2")
    take(make_toolkit(tmp_path / "cann", "ASC"), monkeypatch)
    with pytest.raises(ToolkitError, match="Next: add --soc"):
        cann_build.configure(None)
    with pytest.raises(ValueError, match="belongs to no known family"):
        cann_build.configure("Ascend1")


@public_modules
def test_public_modules_build_a_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All steps: definitions, host libraries, one compiler call per kernel, staging. The compiler
    of the kernels is a stand-in that has the simulator's headers.
    """
    assert PUBLIC is not None
    home = make_toolkit(tmp_path / "cann", "ASC", Path(PUBLIC))
    add_libraries(home)
    take(home, monkeypatch)
    vendor = cann_build.build_npu("Ascend910B2", folder=tmp_path / "b", jobs=2)
    tbe = vendor / "op_impl/ai_core/tbe"
    info = json.loads((tbe / "config/ascend910b/aic-ascend910b-ops-info.json").read_text())
    assert set(info) == {name for spec in all_specs() for name in spec.types}
    for spec in all_specs():
        assert (vendor / f"op_api/include/aclnnop/aclnn_{spec.header}.h").is_file()
        for op_type, stem in spec.types.items():
            kernels = list((tbe / "kernel/ascend910b" / stem).glob("*.o"))
            assert len(kernels) == len(info[op_type]["output0"]["dtype"].split(","))
    assert (tbe / "op_tiling/liboptiling.so").resolve().name == "libcust_opmaster_rt2.0.so"
    names = subprocess.run(
        ["nm", "-DC", "--defined-only", vendor / "op_api/lib/libcust_opapi.so"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    for spec in all_specs():
        assert f" {spec.api}GetWorkspaceSize" in names and f" {spec.api}\n" in names
