# SPDX-License-Identifier: Apache-2.0
"""A fault in one operator's spec leaves the other operators working and names file and line."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from aclgrad import ops

PROGRAM = """
import sys
import aclgrad.ops as ops
from aclgrad import cli
for name in [name for name in sys.modules if name.startswith("aclgrad.ops.")]:
    del sys.modules[name]
ops.__path__ = [sys.argv.pop(1)]
# An editable install finds modules by their names alone.
sys.meta_path = [item for item in sys.meta_path if "Redirecting" not in type(item).__name__]
ops._load.cache_clear()
cli.main()
"""

FAULTS = {
    "syntax": ("def golden(", "def golden((", "SyntaxError"),
    "golden": ("self: Float64, buffer: Float64)", "itself: Float64, buffer: Float64)", "golden"),
    "name": ("SPEC = OpSpec(", "SPEC = OpSpek(", "NameError"),
    "argument": ('SameShape("self"', 'SameShape("elf"', "not an argument"),
    "missing": ("SPEC = OpSpec(", "SPOC = OpSpec(", "AttributeError"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_other_operators_and_doctor_go_on(name: str, tmp_path: Path, toolkit: Path) -> None:
    old, new, why = FAULTS[name]
    folder = tmp_path / "ops"
    shutil.copytree(Path(ops.__file__).parent, folder)
    path = folder / "log_sigmoid_grad.py"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", PROGRAM, str(folder), *words]
        return subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)

    good = run("tiling", "softmax_grad", "8x64")
    assert good.returncode == 0, good.stderr
    for words in (["tiling", "log_sigmoid_grad", "8x64"], ["test", "--fast", "--dtype", "bf16"]):
        bad = run(*words)
        assert bad.returncode == 1 and "Traceback" not in bad.stderr, bad.stderr
        assert f"log_sigmoid_grad: {path}:" in bad.stderr and why in bad.stderr
        assert "Next: fix the line" in bad.stderr
    doctor = run("doctor")
    assert "log_sigmoid_grad.py:" in doctor.stdout and "softmax_grad" in doctor.stdout
