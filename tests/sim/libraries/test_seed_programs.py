# SPDX-License-Identifier: Apache-2.0
"""C++ programs compile with the words of `aclgrad config`, and on the simulator run with no
environment variable set.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import sanitizers
from aclgrad.building.build_tools import find_compiler
from aclgrad.codegen.render import generate
from aclgrad.ops import all_specs
from aclgrad.runtime import Toolkit, config
from aclgrad.spec.op_spec import OpSpec
from other_operators import LOSS

pytestmark = pytest.mark.on_board

ROOT = Path(__file__).resolve().parents[3]
SEEDS = ROOT.parent / "shared" / "seed_examples"
CLEAN = {
    key: value
    for key, value in os.environ.items()
    if not key.startswith(("ACLGRAD", "ASCEND", "LD_"))
} | sanitizers.variables()


def run_program(source: Path, toolkit: Toolkit, folder: Path, *flags: str) -> str:
    compiler = find_compiler()
    assert compiler is not None
    program = folder / "program"
    words = [*config.cflags(toolkit), *config.libs(toolkit)]
    command = [compiler, *flags, str(source), *words, "-o", str(program)]
    env = CLEAN if toolkit.device == "sim" else dict(os.environ)  # CANN wants its set_env.sh
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, env=env)
    assert done.returncode == 0, done.stderr
    done = subprocess.run(
        [str(program)], capture_output=True, text=True, timeout=600, cwd=folder, env=env
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.skipif(not SEEDS.is_dir(), reason="the seed programs do not lie beside this checkout")
@pytest.mark.parametrize(
    ("name", "op"),
    [
        ("test_aclnn_softmax_backward.cpp", "aclnnSoftmaxBackward"),
        ("test_aclnn_log_softmax_backward.cpp", "aclnnLogSoftmaxBackward"),
        ("test_aclnn_scaled_masked_softmax_backward.cpp", "aclnnScaledMaskedSoftmaxBackward"),
        ("test_aclnn_log_sigmoid_backward.cpp", "aclnnLogSigmoidBackward"),
        ("test_aclnn_kl_div_backward.cpp", "aclnnKlDivBackward"),
    ],
)
def test_seed_program_unchanged(name: str, op: str, toolkit_info: Toolkit, tmp_path: Path) -> None:
    expected = next(
        example
        for example in json.loads((SEEDS / "expected.json").read_text())["examples"]
        if example["op"] == op
    )
    text = run_program(SEEDS / name, toolkit_info, tmp_path)
    shape = re.escape(expected["print_format"].replace("\\n", ""))
    got = re.findall(shape.replace("%ld", r"\d+").replace("%f", r"(\S+)"), text)
    rounded = "expected_printed_float32_correctly_rounded_exp"
    if toolkit_info.device == "npu" and rounded in expected:
        # A board's Exp may be off by a few ULP.
        wanted = np.asarray(expected["expected_float64"], np.float32)
        assert np.abs(np.asarray(got, np.float32) - wanted).max() <= 4 * np.spacing(
            np.abs(wanted).max()
        )
        return
    assert got == expected.get(rounded, expected["expected_printed_from_float32"])


def test_headers_compile_alone(toolkit_info: Toolkit, tmp_path: Path) -> None:
    for header in ("aclnnop/aclnn_softmax_backward.h", "aclnnop/level2/aclnn_softmax_backward.h"):
        source = tmp_path / "alone.cpp"
        source.write_text(
            f'#include "{header}"\n#include "{header.replace("level2/", "")}"\nint main() {{}}\n'
        )
        command = [
            str(find_compiler()),
            "-fsyntax-only",
            "-Wall",
            "-Wextra",
            "-Werror",
            *config.cflags(toolkit_info),
            str(source),
        ]
        done = subprocess.run(command, capture_output=True, text=True, timeout=600)
        assert done.returncode == 0, done.stderr


@pytest.mark.sim_only
def test_toolkit_can_be_moved(toolkit_info: Toolkit, tmp_path: Path) -> None:
    moved = tmp_path / "elsewhere"
    shutil.copytree(toolkit_info.root, moved, symlinks=True)
    code = (
        "import numpy as np, aclgrad; x = np.ones((2, 3),"
        " np.float32);print(aclgrad.softmax_backward(x, x).tolist());print(sorted({l.split()[-1]"
        " for l in open('/proc/self/maps') if 'SoftmaxGrad' in l or 'libcust' in l}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=600,
        env={**CLEAN, "ACLGRAD_TOOLKIT": str(moved)},
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("[[-2.0, -2.0, -2.0]")
    assert str(toolkit_info.root) not in done.stdout


@pytest.mark.sim_only
@pytest.mark.parametrize("spec", [*all_specs(), LOSS], ids=lambda spec: spec.op)
def test_wrappers_compile_without_warnings(
    spec: OpSpec, toolkit_info: Toolkit, tmp_path: Path
) -> None:
    generate(tmp_path, tmp_path / "aclnnop", [spec])
    flags = ["-std=c++17", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", f"-I{tmp_path}"]
    for source in sorted((tmp_path / "op_api").glob("*.cpp")):
        command = [str(find_compiler()), *flags, *config.cflags(toolkit_info), str(source)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=600)
        assert done.returncode == 0, done.stderr
