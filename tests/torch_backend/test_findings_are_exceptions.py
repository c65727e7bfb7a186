# SPDX-License-Identifier: Apache-2.0
"""A kernel's fault is an exception of Python, and the program goes on."""

from __future__ import annotations

import pytest
import torch

NPU = torch.device("npu", 0)


def backward(grad: torch.Tensor, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    y = torch.full(grad.shape, 0.125, device=NPU, dtype=grad.dtype)
    return torch._softmax_backward_data(grad, y, -1, dtype)


def test_a_finding_is_an_exception_and_the_program_goes_on() -> None:
    for _ in range(2):
        torch.npu.synchronize()
        with pytest.raises(RuntimeError) as caught:
            # So much that torch asks for new memory: what it has kept was written before.
            torch.npu.empty_cache()
            backward(torch.empty(2048, 4096, device=NPU))
            torch.npu.synchronize()
        text = str(caught.value)
        assert "undefined-read" in text and "SoftmaxGrad" in text and "pipeline.h" in text
        assert f"launched at {__file__}:" in text, text
        good = backward(torch.ones(4, 8, device=NPU))
        torch.npu.synchronize()
        assert good.cpu().abs().max() == 0


def test_a_refused_dtype_has_the_documented_code() -> None:
    grad = torch.ones(4, 8, device=NPU, dtype=torch.float64)
    with pytest.raises(RuntimeError) as caught:
        backward(grad, torch.float64)
    text = str(caught.value)
    assert "161002" in text and "gradOutput" in text
    assert "107002" not in text.partition("161002")[0]
    assert backward(torch.ones(4, 8, device=NPU)).cpu().abs().max() == 0


def test_a_missing_feature_does_not_hide_the_next_error() -> None:
    with pytest.raises(RuntimeError, match="not support"):
        torch.npu.Event(interprocess=True).ipc_handle()  # type: ignore[attr-defined,unused-ignore]
    test_a_refused_dtype_has_the_documented_code()
