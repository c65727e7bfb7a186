# SPDX-License-Identifier: Apache-2.0
"""What torch_npu cannot do on the simulator, in words: its own errors speak of what comes later.

It takes no notice when graph capture, the profiler or memory shared by processes is refused, its
backend of torch.compile asks for packages that would not help, and inductor's has no code generator
left.
"""

from __future__ import annotations

import importlib
from typing import Any

_NEXT = "Next: torch.compile(..., backend='aot_eager')"
_CAPTURE = f"graph capture is not simulated; run the operators one by one, without it. {_NEXT}"
_GRAPHS = (
    f"torch.compile: the backend 'npu' needs CANN's graph engine, which is not simulated. {_NEXT}"
)
_INDUCTOR = (
    "torch.compile: inductor makes no code for a simulated NPU; torch_npu's generators need"
    f" triton-ascend and CANN's compiler. {_NEXT}"
)
_PROFILER = (
    "torch_npu's profiler has nothing to record on a simulated NPU. Next: aclgrad profile estimates"
    " what an operator takes on an NPU"
)
_SHARED = (
    "tensors of a simulated NPU are not shared between processes. Next: send tensor.cpu(), and"
    " .npu() where it arrives"
)


_ATB = (
    "torch_npu's operators of ATB (_npu_reshape_and_cache, _npu_paged_attention, ...) need"
    " libatb.so, which is not simulated. Next: the npu_ operators that do the same, such as"
    " npu_scatter_pa_kv_cache and npu_fused_infer_attention_score"
)


def install() -> None:
    """Put the words where torch_npu would go on."""
    atb: Any = importlib.import_module("torch_npu.op_plugin.atb._atb_ops")
    if atb.NNAL_EX is not None:
        atb._register_atb_extensions = _refuse(_ATB)
    graphs: Any = importlib.import_module("torch_npu.npu.graphs")
    graphs.NPUGraph.capture_begin = _refuse(_CAPTURE)
    # This one has made the stream of the capture the current one before it begins to capture.
    graphs.graph.__enter__ = _refuse(_CAPTURE)
    profiler: Any = importlib.import_module("torch_npu.profiler.profiler")
    # Not a later step: it swallows what those raise.
    profiler._KinetoProfile.__init__ = profiler.profile.__init__ = _refuse(_PROFILER)
    profiler._KinetoProfile.stopped = True
    torch: Any = importlib.import_module("torch")
    torch.UntypedStorage._share_npu_ = _refuse(_SHARED)
    backends: Any = importlib.import_module("torch_npu.dynamo")
    backends._get_global_npu_backend = _refuse(_GRAPHS)
    registry: Any = importlib.import_module("torch_npu.utils._dynamo")._InductorNpuRegistry
    load = registry.register_inductor_npu

    def load_and_look() -> None:
        load()
        common: Any = importlib.import_module("torch._inductor.codegen.common")
        if common.get_scheduling_for_device("npu") is None:
            wrapper: Any = importlib.import_module("torch._inductor.codegen.wrapper")
            scheduling = type("Scheduling", (), {"__init__": _refuse(_INDUCTOR)})
            common.register_backend_for_device("npu", scheduling, wrapper.PythonWrapperCodegen)

    registry.register_inductor_npu = load_and_look


def _refuse(words: str) -> Any:
    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(words)

    return refuse
