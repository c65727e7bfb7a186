# SPDX-License-Identifier: Apache-2.0
"""What runs op-plugin's tests: a test that ends its process costs itself and no other."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[3] / "scripts" / "torch_npu_tests.py"
CRASH = "import os\n\n\ndef test_ends():\n    os._exit(3)\n\n\ndef test_goes_on():\n    pass\n"


def test_a_crash_costs_one_test(tmp_path: Path) -> None:
    folder = tmp_path / "test" / "test_base_ops"
    folder.mkdir(parents=True)
    (folder / "test_a.py").write_text(CRASH)
    for name in "bc":
        (folder / f"test_{name}.py").write_text("def test_alone():\n    pass\n")
    (folder / "test_d.py").write_text("import no_such_module\n")
    record = tmp_path / "record.jsonl"
    words = [
        "--files",
        *(f"test_{name}" for name in "abcd"),
        "--jobs",
        "1",
        "--record",
        str(record),
    ]
    done = subprocess.run(
        [sys.executable, SCRIPT, tmp_path, *words], capture_output=True, text=True, timeout=240
    )
    assert done.returncode == 0, done.stdout + done.stderr
    rows = [json.loads(row) for row in record.read_text().splitlines()]
    assert {tuple(row[:3]) for row in rows} == {
        ("test_a.py", "test_ends", "failed"),
        ("test_a.py", "test_goes_on", "passed"),
        ("test_b.py", "test_alone", "passed"),
        ("test_c.py", "test_alone", "passed"),
        ("test_d.py", "(import)", "failed"),
    }
    assert "| crash, or over the time limit | 1 |" in done.stdout
