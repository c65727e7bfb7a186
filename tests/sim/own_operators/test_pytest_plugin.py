# SPDX-License-Identifier: Apache-2.0
"""The pytest plugin: cases of operator projects as tests, and nothing where there is none."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
SQUARE = Path(__file__).parents[1] / "projects" / "math" / "square"


def run(folder: Path, *words: str) -> str:
    """Output of pytest in a folder, with this plugin and xdist only."""
    command = [sys.executable, "-m", "pytest", "-p", "pytest_aclgrad", "-p", "xdist.plugin", *words]
    environment = {
        **os.environ,
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "PYTHONPATH": str(ROOT / "python"),
    }
    for name in ("PYTEST_ADDOPTS", "PYTEST_XDIST_WORKER"):
        environment.pop(name, None)
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=folder, env=environment, check=False
    )
    return done.stdout + done.stderr


def test_cases_are_tests(tmp_path: Path) -> None:
    project = tmp_path / "square"
    shutil.copytree(SQUARE, project)
    kernel = project / "op_kernel" / "square.cpp"
    whole = "DataCopyPad(target, value, {1, data.count * 4, 0, 0, 0});"
    text = kernel.read_text("utf-8")
    assert whole in text
    kernel.write_text(text.replace(whole, "DataCopy(target, value, data.count / 8 * 8);"), "utf-8")
    (project / "square_golden.py").write_text(
        "from aclgrad.testing import case\n\n\n"
        "def golden(x):\n    return x * x + (x > 3)\n\n\n"
        "def cases():\n"
        "    yield case((64,), values=(0, 1), scale=None, name='good')\n"
        "    yield case((64,), values=(2, 4), scale=None, name='wrong')\n"
        "    yield case((63,), values=(0, 1), scale=None, name='tail')\n"
    )
    (project / "test_own.py").write_text(
        "import numpy as np\n\n\n"
        "def test_own(aclgrad_op):\n"
        "    x = np.full(64, 3, np.float32)\n"
        "    assert (aclgrad_op(x) == 9).all()\n"
    )
    text = run(tmp_path, "-n", "2", "-q")
    assert "2 failed, 2 passed" in text, text
    assert "Tensor-likes are not close!" in text
    assert re.search(r"Mismatched elements: \d+ / 64 \(\d+\.\d%\)", text)
    assert re.search(
        r"Worst element: at index \(\d+,\), got .* ULP of its scale, relative difference", text
    )
    assert "output-unwritten" in text  # the finding of the tail
    assert re.search(r"repeat: aclgrad test \S+ --case fp32-wrong --soc Ascend910B2", text)
    assert "Traceback" not in text
    (project / "square_golden.py").write_text("def golden(y):\n    return y\n")
    assert "want golden(x)" in run(tmp_path, "-q")


def test_it_costs_nothing_without_a_project(tmp_path: Path) -> None:
    (tmp_path / "lone_golden.py").write_text("raise RuntimeError\n")
    (tmp_path / "test_plain.py").write_text(
        "import sys\n\n\ndef test_plain():\n"
        "    assert not {'numpy', 'aclgrad'} & set(sys.modules)\n"
    )
    assert "1 passed" in run(tmp_path, "-q")
