# SPDX-License-Identifier: Apache-2.0
"""Which operators of torch_npu stay as they are, by what they need."""

from __future__ import annotations

import os
import re
from functools import cache
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any

import torch  # type: ignore[import-not-found,unused-ignore]
import torch_npu  # type: ignore[import-not-found,unused-ignore]

_FUNCTION = re.compile(rb"aclnn(\w+?)GetWorkspaceSize")

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
        "_fused_sdp_choice",
    )
)
"""Memory, views, copies, choices: torch_npu needs no kernel for them, or one of libopapi.so's."""

_RELATIONS = ("eq", "ne", "lt", "le", "gt", "ge", "logical_and", "logical_or", "logical_xor")
HOST = frozenset(
    (
        "arange",
        "cat",
        "complex",
        "constant_pad_nd",
        "equal",
        "full",
        "full_like",
        "isfinite",
        "logical_not",
        "logical_not_",
        "npu_dtype_cast",
        "npu_dtype_cast_",
        "_npu_dtype_cast",
        "ones",
        "ones_like",
        "zeros",
        "zeros_like",
    )
) | {f"{name}{end}" for name in _RELATIONS for end in ("", "_")}
"""What libopapi.so has functions for, though not for every argument."""

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


_HOST_TENSORS = frozenset(
    (
        "_ctc_loss",
        "_foreach_copy_",
        "_index_put_impl_",
        "_pack_padded_sequence",
        "_pad_packed_sequence",
        "_unsafe_index",
        "_unsafe_index_put",
        "ctc_loss",
        "gru",
        "index",
        "index_put",
        "index_put_",
        "lstm",
        "rnn_relu",
        "rnn_tanh",
        "tensor_split",
    )
)
"""Operators that have arguments on the host beside tensors of a device: indices, lengths, pairs
that are copied one by one.
"""


def takes_host_tensors(op: Any) -> bool:
    """Whether an operator may have tensors of the host among those of a device."""
    space, _, name = op._schema.name.partition("::")
    return space != "aten" or name in _HOST_TENSORS


_CPU_KEYS = (
    "CPU",
    "CompositeImplicitAutograd",
    "CompositeExplicitAutograd",
    "CompositeExplicitAutogradNonFunctional",
)


def has_cpu_kernel(op: Any) -> bool:
    """Whether PyTorch's CPU can run an operator."""
    return any(torch._C._dispatch_has_kernel_for_dispatch_key(op._name, key) for key in _CPU_KEYS)


def on_host(op: Any) -> bool:
    """Whether libopapi.so may have what an operator needs."""
    return op._schema.name.partition("::")[2] in HOST


@cache
def _foreign_folders() -> tuple[Path, ...]:
    """Packages besides the toolkit's own."""
    own = Path(os.environ.get("ASCEND_HOME_PATH") or "/", "opp", "vendors", "aclgrad").resolve()
    folders = [Path(p) for p in os.environ.get("ASCEND_CUSTOM_OPP_PATH", "").split(":") if p]
    opp = os.environ.get("ASCEND_OPP_PATH")
    if opp:
        folders += (path for path in Path(opp, "vendors").glob("*") if path.is_dir())
    return tuple(folder for folder in folders if folder.resolve() != own)


@cache
def package_functions() -> frozenset[bytes]:
    """Names of the functions that packages besides the toolkit's own have, without ``aclnn``."""
    libraries = (folder / "op_api" / "lib" / "libcust_opapi.so" for folder in _foreign_folders())
    texts = (library.read_bytes() for library in libraries if library.is_file())
    return frozenset(name for text in texts for name in _FUNCTION.findall(text))


@cache
def foreign_packages() -> bool:
    """Whether a package besides the toolkit's own has something that torch_npu may ask for: names
    of its functions or operator types stand in torch_npu's library.
    """
    if not _foreign_folders():
        return False
    library = Path(torch_npu.__file__).parent / "lib" / "libtorch_npu.so"
    with library.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as text:
        if not package_functions().isdisjoint(_FUNCTION.findall(text)):
            return True
        for package in _foreign_folders():
            kernels = package.glob("op_impl/ai_core/tbe/kernel/*/*/*")
            types = {path.name.partition("_")[0] for path in kernels}
            # A compiler keeps short texts in its code, eight letters at a time.
            if any(text.find(name[:8].encode()) >= 0 for name in types):
                return True
    return False


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
