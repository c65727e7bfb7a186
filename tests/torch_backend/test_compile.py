# SPDX-License-Identifier: Apache-2.0
"""torch.compile on an NPU: what works, and what says why not."""

from __future__ import annotations

import importlib
from multiprocessing.reduction import ForkingPickler
from typing import Any

import pytest
import torch

from aclgrad_torch_npu import launches


def step(x: Any) -> Any:
    return torch.softmax(x * 2, -1).square().sum()


@pytest.fixture
def leaf() -> Any:
    torch._dynamo.reset()
    return torch.randn(6, 40).npu().requires_grad_()


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_backends_that_run_operators(leaf: Any, backend: str) -> None:
    (want,) = torch.autograd.grad(step(leaf), leaf)
    before = launches("SoftmaxGrad")
    (got,) = torch.autograd.grad(torch.compile(step, backend=backend, fullgraph=True)(leaf), leaf)
    assert torch.equal(got, want) and launches("SoftmaxGrad") == before + 1


@pytest.mark.filterwarnings("ignore:triton-ascend")
@pytest.mark.parametrize(
    ("backend", "why"),
    [
        ("inductor", "inductor makes no code for a simulated NPU"),
        ("npu", "needs CANN's graph engine"),
        ("npugraph_ex", "graph capture is not simulated"),
    ],
)
def test_backends_that_are_not_there_name_one_that_is(leaf: Any, backend: str, why: str) -> None:
    with pytest.raises(Exception, match=f"{why}.*Next: .*backend='aot_eager'"):
        torch.compile(step, backend=backend)(leaf.detach())
    assert torch.npu.current_stream() == torch.npu.default_stream()


@pytest.mark.filterwarnings("ignore:triton-ascend")
def test_inductor_still_compiles_for_the_cpu() -> None:
    torch._dynamo.reset()
    x = torch.randn(6, 40)
    torch.testing.assert_close(torch.compile(step)(x), step(x))


def test_graph_capture() -> None:
    graph = torch.npu.NPUGraph()  # type: ignore[attr-defined,unused-ignore]
    with pytest.raises(NotImplementedError, match="graph capture is not simulated; run the"):
        graph.capture_begin()
    capture = torch.npu.graph(graph)  # type: ignore[attr-defined,unused-ignore]
    with pytest.raises(NotImplementedError, match="graph capture is not simulated"), capture:
        raise AssertionError("captured")
    assert torch.npu.current_stream() == torch.npu.default_stream()


def test_profiler_and_memory_of_several_processes() -> None:
    profiler: Any = importlib.import_module("torch_npu.profiler")
    with pytest.raises(NotImplementedError, match="Next: aclgrad profile"), profiler.profile():
        pass
    with pytest.raises(NotImplementedError, match=r"Next: send tensor.cpu\(\)"):
        ForkingPickler.dumps(torch.ones(3).npu())
    assert ForkingPickler.dumps(torch.ones(3))
