# SPDX-License-Identifier: Apache-2.0
"""Which operators of torch_npu stay as they are, by what they need."""

from __future__ import annotations

from typing import Any

MEMORY = frozenset(
    (
        "_copy_from",
        "_copy_from_and_resize",
        "_lazy_clone",
        "_local_scalar_dense",
        "_pin_memory",
        "_reshape_alias",
        "_to_copy",
        "as_strided",
        "as_strided_",
        "clone",
        "contiguous",
        "copy_",
        "copy_memory_",
        "empty",
        "empty_like",
        "empty_strided",
        "empty_with_format",
        "empty_with_swapped_memory",
        "is_pinned",
        "is_set_to",
        "new_empty_strided",
        "npu_change_data_ptr",
        "get_npu_format",
        "get_storage_size",
        "record_stream",
        "resize_",
        "resize_as_",
        "set_",
        "squeeze",
        "unfold",
        "unsafe_empty_with_format",
        "unsqueeze",
        "view",
        "view_as_complex",
        "view_as_real",
        "fill_",
        "zero_",
        "one_",
    )
)
"""Memory, views and copies: torch_npu needs no kernel for them, or one of libopapi.so's."""

ACLGRAD = frozenset(
    (
        "_softmax_backward_data",
        "_log_softmax_backward_data",
        "log_sigmoid_backward",
        "kl_div_backward",
        "npu_scaled_masked_softmax_backward",
    )
)
"""Operators of this project, whatever they are called with: what they refuse is an error."""


def untouched(op: Any) -> bool:
    """Whether torch_npu's own kernel of an operator is always the right one."""
    name = op._schema.name.partition("::")[2]
    if name in MEMORY or name in ACLGRAD:
        return True
    # A view shares memory with its argument, which no result of the CPU could.
    return any(
        value.alias_info is not None and not value.alias_info.is_write
        for value in op._schema.returns
    )
