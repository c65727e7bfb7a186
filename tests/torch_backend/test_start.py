# SPDX-License-Identifier: Apache-2.0
"""The ways to begin, and what is said when a part is missing."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from npu_programs import ROOT, Program

STEP = """
x = torch.randn(4, 8, device="npu", requires_grad=True)
torch.softmax(x, -1).pow(2).sum().backward()
print("grad", float(x.grad.sum().abs()) < 1e-5)
"""
OUTSIDE: dict[str, str | None] = dict.fromkeys(
    ("ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME", "ASCEND_OPP_PATH", "LD_LIBRARY_PATH")
)


@pytest.fixture
def outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """A shell in which nothing was set, but torch_npu is installed."""
    for name in OUTSIDE:
        monkeypatch.delenv(name, raising=False)
    folder = next(
        p for p in os.environ["PYTHONPATH"].split(":") if (Path(p) / "torch_npu").is_dir()
    )
    monkeypatch.setenv("PYTHONPATH", folder)


def run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)


@pytest.fixture
def step(tmp_path: Path) -> Path:
    path = tmp_path / "step.py"
    path.write_text("import torch\n" + STEP)
    return path


@pytest.mark.usefixtures("outside")
def test_exec(step: Path) -> None:
    done = run(sys.executable, "-m", "aclgrad", "exec", "--", sys.executable, str(step))
    assert done.returncode == 0 and "grad True" in done.stdout, done.stderr


@pytest.mark.usefixtures("outside")
def test_set_env(step: Path) -> None:
    line = f'source "$({sys.executable} -m aclgrad config --set-env)"; {sys.executable} {step}'
    done = run("bash", "-c", line)
    assert done.returncode == 0 and "grad True" in done.stdout, done.stderr


@pytest.mark.usefixtures("outside")
def test_notebook(tmp_path: Path) -> None:
    """The environment of the process is set too late for the loader."""
    path = tmp_path / "cell.py"
    path.write_text(f"import aclgrad.torch.npu\nimport torch\n{STEP}")
    done = run(sys.executable, str(path))
    assert done.returncode == 0 and "grad True" in done.stdout, done.stderr


@pytest.mark.usefixtures("outside")
def test_a_python_without_aclgrad(step: Path, tmp_path: Path) -> None:
    """The Python that the environment was made from, with torch and torch_npu only."""
    from aclgrad.runtime import find_toolkit
    from aclgrad.runtime.environment import variables

    empty = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    changed = variables(find_toolkit("sim"), empty)
    packages = Path(sys.prefix) / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}"
    links = tmp_path / "packages"
    links.mkdir()
    for path in (packages / "site-packages").iterdir():
        if "aclgrad" not in path.name and path.suffix != ".pth":
            (links / path.name).symlink_to(path)
    extra = os.environ["PYTHONPATH"]
    done = subprocess.run(
        [Path(sys.base_prefix) / "bin" / "python3", step],
        capture_output=True, text=True, timeout=240, check=False,
        env={**changed, "PYTHONPATH": f"{changed['PYTHONPATH']}:{extra}:{links}"},
    )  # fmt: skip
    assert done.returncode == 0 and "grad True" in done.stdout, done.stderr
    assert "what ran" in done.stderr or os.environ.get("ACLGRAD_TORCH_FALLBACK")


def test_explicit_import_first(program: Program) -> None:
    done = program("import torch_npu, torch\n" + STEP)
    assert done.returncode == 0 and "grad True" in done.stdout, done.stderr


def test_without_autoload(program: Program) -> None:
    """torch_npu alone, and the fallback on request."""
    text = "import torch_npu, torch, aclgrad_torch_npu\naclgrad_torch_npu.install()\n" + STEP
    done = program(text, TORCH_DEVICE_BACKEND_AUTOLOAD="0")
    assert done.returncode == 0 and "grad True" in done.stdout, done.stderr


@pytest.mark.parametrize("soc", ["Ascend910B2", "Ascend910_9391", "Ascend950PR_9589"])
def test_socs(program: Program, soc: str) -> None:
    text = "import torch\nprint(torch.npu.get_device_name(0))\n" + STEP
    done = program(text, ACLGRAD_SOC=soc)
    assert done.returncode == 0 and soc in done.stdout and "grad True" in done.stdout, done.stderr


def test_programs_of_the_page(program: Program) -> None:
    page = (ROOT / "docs" / "torch_npu.md").read_text(encoding="utf-8")
    found = re.findall(r"^```python\n(.*?)^```$", page, re.M | re.S)
    assert found
    for text in found:
        done = program(text)
        assert done.returncode == 0, done.stderr


def test_exec_words(tmp_path: Path) -> None:
    command = (sys.executable, "-m", "aclgrad", "exec")
    done = run(*command, "--soc", "Ascend910_9391", "--", "bash", "-c", "echo $ACLGRAD_SOC --json")
    assert done.stdout == "Ascend910_9391 --json\n"
    done = run(*command, "--", "no-such-program")
    assert done.returncode == 1 and "no-such-program is no program. Next:" in done.stderr
    done = run(*command, "--soc", "Ascend9", "--", "ls")
    assert done.returncode == 1 and "Ascend9" in done.stderr


@pytest.mark.usefixtures("outside")
def test_cpu_functions_without_a_device(tmp_path: Path) -> None:
    """Torch loads torch_npu, which finds no CANN."""
    path = tmp_path / "cpu.py"
    path.write_text("from aclgrad.torch import softmax\n")
    done = run(sys.executable, str(path))
    assert done.returncode == 1
    assert "Next: aclgrad exec -- python" in done.stderr


def test_doctor() -> None:
    done = run(sys.executable, "-m", "aclgrad", "doctor")
    assert "torch_npu: 2.13.0" in done.stdout, done.stdout


def test_doctor_of_another_python(tmp_path: Path) -> None:
    """Of the Python that the environment was made from, which has no torch."""
    base = str(Path(sys.base_prefix) / "bin" / "python3")
    done = run(sys.executable, "-m", "aclgrad", "doctor", "--python", base)
    subjects = [line.split(":")[0].split(maxsplit=1)[-1] for line in done.stdout.splitlines()]
    assert f"python of torch: {base}" in done.stdout and "torch" not in subjects
    assert f"torch_npu: {base} has neither torch nor torch_npu" in done.stdout
    assert "python" in subjects
    done = run(sys.executable, "-m", "aclgrad", "doctor", "--python", str(tmp_path))
    assert done.returncode == 1 and "doctor --python PATH/bin/python" in done.stdout


def test_version_pair_is_stated() -> None:
    lock = (ROOT / "requirements" / "locked.txt").read_text()
    assert lock.count("\ntorch-npu==2.13.0 ") == 1
