# SPDX-License-Identifier: Apache-2.0
"""Kernels launched by addresses: what bounds them, and every way in which their faults are told."""

from __future__ import annotations

import ctypes
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

import aclgrad_torch_npu
from npu_programs import Program

SOURCE = Path(__file__).parent / "launched" / "copies.asc"
NPU: Any = torch.npu  # type: ignore[attr-defined,unused-ignore]
Launch = Callable[[torch.Tensor, torch.Tensor, int], None]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("launched") / "libcopies.so"
    ascc = Path(os.environ["ASCEND_HOME_PATH"]) / "bin" / "ascc"
    words = ("-g", "--npu-arch=dav-2201", "--shared", "-fPIC", str(SOURCE), "-o", str(path))
    subprocess.run([ascc, *words], check=True)
    return path


@pytest.fixture
def launch(library: Path) -> Launch:
    function = ctypes.CDLL(str(library)).launch_copies
    function.argtypes = [ctypes.c_void_p] * 3 + [ctypes.c_uint32]

    def run(source: torch.Tensor, target: torch.Tensor, count: int) -> None:
        stream: Any = NPU.current_stream()
        function(stream.npu_stream, source.data_ptr(), target.data_ptr(), count)

    return run


def tensors() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Three that lie in one block of the pool, which was used before."""
    used = torch.ones(260000, device="npu")
    NPU.synchronize()
    del used
    made = (torch.arange(128.0).npu(), torch.zeros(128).npu(), torch.full((4096,), 7.0).npu())
    NPU.synchronize()
    return made


def event(_: torch.Tensor) -> None:
    recorded = NPU.Event()
    recorded.record()
    recorded.synchronize()


WAYS: dict[str, Callable[[torch.Tensor], Any]] = {
    "npu.synchronize": lambda _: NPU.synchronize(),
    "stream.synchronize": lambda _: NPU.current_stream().synchronize(),
    "event.synchronize": event,
    "cpu": lambda y: y.cpu(),
    "item": lambda y: y[0].item(),
    "tolist": lambda y: y[:3].tolist(),
    "numpy": lambda y: y.cpu().numpy(),
    "print": str,
    "copy_ to host": lambda y: torch.empty(128).copy_(y),
    "copy_ to pinned memory": lambda y: torch.empty(128).pin_memory().copy_(y),
    "non_blocking": lambda y: (y.to("cpu", non_blocking=True), NPU.synchronize()),
    "save": lambda y: torch.save(y, io.BytesIO()),
    "native operator": lambda y: (y == y).cpu(),
    "operator on the CPU": lambda y: y + 1,
    "equal": lambda y: torch.equal(y, y),
    "any": lambda y: bool(y.any()),
    "nonzero": lambda y: y.nonzero(),
    "mask": lambda y: y[y > 0],
}


@pytest.mark.parametrize("way", WAYS)
def test_every_way_to_wait_raises_the_report(way: str, launch: Launch) -> None:
    x, y, neighbour = tensors()
    launch(x, y, 1024)
    with pytest.raises(RuntimeError) as caught:
        WAYS[way](y)
    text = str(caught.value)
    assert "[gm-out-of-bounds] in copies" in text and f"{SOURCE}:" in text, text
    assert "argument 0, which has 512: past the end by 3584 B" in text
    assert f"launched at {__file__}:" in text
    if way == "event.synchronize":  # the stream has not been waited for, and tells it once more
        with pytest.raises(RuntimeError, match="gm-out-of-bounds"):
            NPU.synchronize()
    assert bool((neighbour == 7).all().cpu())
    launch(x, y, 128)
    assert torch.equal(y.cpu(), x.cpu())


def test_a_view_reaches_as_far_as_its_memory(launch: Launch) -> None:
    x, y, _ = tensors()
    launch(x[64:], y, 64)
    assert torch.equal(y.cpu()[:64], x.cpu()[64:])
    launch(x[64:], y, 72)
    with pytest.raises(RuntimeError, match="past the end by 32 B"):
        y.cpu()


def test_a_tensor_that_is_gone_raises(launch: Launch) -> None:
    x, y, _ = tensors()

    class Gone:
        address = torch.ones(128, device="npu").data_ptr()

        def data_ptr(self) -> int:
            return self.address

    launch(Gone(), y, 128)  # type: ignore[arg-type]
    with pytest.raises(RuntimeError, match="where no tensor is any more") as caught:
        y.cpu()
    assert "keep the tensor alive" in str(caught.value)
    launch(x, y, 128)
    assert torch.equal(y.cpu(), x.cpu())


LEVELS = """
import ctypes, json, sys, torch, aclgrad_torch_npu
launch = ctypes.CDLL(LIBRARY).launch_copies
launch.argtypes = [ctypes.c_void_p] * 3 + [ctypes.c_uint32]
x, y = torch.arange(128.0).npu(), torch.zeros(128).npu()
for _ in range(2):
    launch(torch.npu.current_stream().npu_stream, x.data_ptr(), y.data_ptr(), 1024)
print("equal", torch.equal(y.cpu(), x.cpu()))
y.tanh()
print(json.dumps(aclgrad_torch_npu.report(sys.stderr)))
"""


@pytest.mark.parametrize("level", ["warn", "gm-out-of-bounds@copies.asc=warn", "off"])
def test_less_than_an_error_runs_on(level: str, library: Path, program: Program) -> None:
    text = LEVELS.replace("LIBRARY", repr(str(library)))
    done = program(text, ACLGRAD_FINDINGS=level, ACLGRAD_TORCH_FALLBACK="warn")
    assert done.returncode == 0 and "equal True" in done.stdout, done.stderr
    warned = [line for line in done.stderr.splitlines() if "warning [gm-out-of-bounds]" in line]
    # Read and written past the end: two places, each in one line.
    assert len(warned) == (0 if level == "off" else 2), done.stderr
    data = json.loads(done.stdout.splitlines()[-1])
    assert data["kernels"] == [{"kernel": "copies", "launches": 2, "checked": 2, "failed": 0}]
    assert [row["severity"] for row in data["findings"]] == [
        "off" if level == "off" else "warning"
    ] * 2
    tanh = next(row for row in data["fallbacks"] if row["operator"] == "aten::tanh")
    assert tanh["calls"] == 1 and tanh["line"].endswith("program.py:9"), tanh
    assert "  kernel " in done.stderr and "copies" in done.stderr


def test_a_report_as_a_file(library: Path, program: Program, tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    text = LEVELS.replace("LIBRARY", repr(str(library)))
    done = program(
        text, ACLGRAD_FINDINGS="@elsewhere.asc=warn", ACLGRAD_TORCH_REPORT=str(path),
        ACLGRAD_TORCH_FALLBACK="silent",
    )  # fmt: skip
    assert done.returncode == 1 and "launched at" in done.stderr
    assert "what ran" not in done.stderr
    data = json.loads(path.read_text())
    assert [row["kernel"] for row in data["kernels"]] == ["copies"]
    assert data["findings"][0]["severity"] == "error"


def test_the_report_of_this_process() -> None:
    assert set(aclgrad_torch_npu.report(io.StringIO())) == {"kernels", "findings", "fallbacks"}


def test_a_second_derivative_that_is_not_there_raises() -> None:
    x = torch.randn(3, 5).log_softmax(-1).npu().requires_grad_()
    target = torch.softmax(torch.randn(3, 5), -1).npu()
    loss = torch.nn.functional.kl_div(x, target, reduction="batchmean").square()
    (first,) = torch.autograd.grad(loss, x, create_graph=True)
    with pytest.raises(NotImplementedError, match=r"npu::kl_div_backward has no derivative"):
        torch.autograd.grad(first.square().sum(), x)
    plain = torch.nn.functional.kl_div(x, target, reduction="sum")
    assert torch.autograd.grad(plain, x)[0].shape == x.shape


KNOWN = """
[[known]]
kind = "{kind}"
file = "{file}"
reason = "issue 12"
until = 2999-01-01
"""


@pytest.mark.parametrize(
    ("kind", "file", "status"),
    [
        ("gm-out-of-bounds", "copies.asc", 0),
        ("gm-out-of-bounds", "other.asc", 1),
        ("flag-leak", "copies.asc", 1),
    ],
)
def test_known_findings_of_a_folder_are_warnings(
    library: Path, tmp_path: Path, kind: str, file: str, status: int
) -> None:
    """aclgrad-known.toml, by kind and file: the program goes on, and exec ends with its status."""
    (tmp_path / "aclgrad-known.toml").write_text(KNOWN.format(kind=kind, file=file))
    (tmp_path / "program.py").write_text(
        "import ctypes, torch\n"
        f"launch = ctypes.CDLL({str(library)!r}).launch_copies\n"
        "launch.argtypes = [ctypes.c_void_p] * 3 + [ctypes.c_uint32]\n"
        "x, y = torch.arange(128.).npu(), torch.zeros(128).npu()\n"
        "launch(torch.npu.current_stream().npu_stream, x.data_ptr(), y.data_ptr(), 4096)\n"
        "torch.npu.synchronize()\n"
        "print(y[:128].cpu().sum().item())\n"
    )
    environment = {k: v for k, v in os.environ.items() if k != "ACLGRAD_SIM_REPORT"}
    done = subprocess.run(
        [sys.executable, "-m", "aclgrad", "exec", "--", sys.executable, "program.py"],
        cwd=tmp_path,
        env={**environment, "ACLGRAD_FINDINGS": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == status, done.stderr
    assert ("8128.0" in done.stdout) == (status == 0)
    assert f"known until 2999-01-01: {kind} {file}: issue 12" in done.stderr
