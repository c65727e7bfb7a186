# SPDX-License-Identifier: Apache-2.0
"""Operators of torch_npu's own that nobody here has: where they are to be had."""

from __future__ import annotations

import re

COMPLETE = frozenset(
    (
        "npu::npu_scaled_masked_softmax_backward",
        "npu::kl_div_backward",
        "npu::npu_change_data_ptr",
        "npu::npu_format_cast",
        "npu::npu_format_cast.Tensor",
        "npu::npu_format_cast_",
        "npu::npu_format_cast_.acl_format",
        "npu::_npu_format_cast",
        "npu::_npu_format_cast.aclnn",
    )
)
"""Operators that this project's own packages or torch_npu alone run."""

_CLASSES = (
    (
        r"moe|gmm|grouped|ffn|attention|attn|mla_|rope|rotary|lightning|nsa_|kv_cache|pa_cache|mhc_"
        r"|delta_rule|causal_conv|all_gather|reduce_scatter|all_?to_?all|all_reduce|distribute",
        "ops-transformer",
    ),
    (r"roi|nms|iou|box|grid_assign|anchor|deformable|rotated|ifmr", "ops-cv"),
    (r"fft|stft|stride|normalize|sign_bits|random|dropout|float_status|hans_", "ops-math"),
    (r"", "ops-nn"),
)
"""Public repositories by what an operator's name tells; the first that fits."""

_MATRICES = re.compile(r"matmul|gmm|_mm_|attention|mla|ffn|conv|linear|lstm|gru|mm_", re.ASCII)


def where(name: str) -> str:
    """The public repository that has an operator: ``npu::npu_moe_re_routing``."""
    return next(place for words, place in _CLASSES if re.search(words, name))


def words(name: str, found: re.Match[str] | None, said: str) -> str:
    """Say what is missing, that this is the simulator, and what to do."""
    function = next((group for group in found.groups() if group), None) if found else None
    what = function or "its function"
    place = where(name)
    text = (
        f"{name}: no installed package has {what}, and the simulator has no formula for it. The"
        f" operator is public, most likely in {place}. Next: aclgrad build CHECKOUT/OPERATOR, whose"
        " ASCEND_CUSTOM_OPP_PATH torch_npu then finds"
    )
    if _MATRICES.search(name):
        text += "; which kernels with matrix units run: docs/compatibility.md"
    return text
