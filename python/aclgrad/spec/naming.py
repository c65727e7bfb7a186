# SPDX-License-Identifier: Apache-2.0
"""Every name that is derived from another one. No other module converts spellings."""

import re
from collections.abc import Iterable

_LONGEST_STEM = 200
"""A file name has at most 255 bytes, of which suffixes of intermediate files take some."""

_OP_TYPE = re.compile(r"(?:[A-Z][a-z0-9]*)+")
_STEM = re.compile(r"[a-z][a-z0-9]*(?:_[a-z][a-z0-9]*)*")


def op_stem(op_type: str) -> str:
    """File stem of an OpType of ours, which is spelled in one way: ``SoftmaxGrad`` ->
    ``softmax_grad``.
    """
    if not _OP_TYPE.fullmatch(op_type):
        raise ValueError(
            f"OpType: got {op_type!r}, want PascalCase letters and digits, e.g. SoftmaxGrad"
        )
    return snake_case(op_type)


def snake_case(op_type: str) -> str:
    """File stem of an operator type as CANN's tools spell it: ``RecomputeWUFwd`` ->
    ``recompute_wu_fwd``, ``AccumulateNV2`` -> ``accumulate_nv2``. A run of capitals is one word.
    """
    text = re.sub(r"([A-Z0-9]+)([A-Z][a-z])", r"\1_\2", op_type)
    return re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", text).lower()


def simulator_stem(op_type: str) -> str:
    """The folder and entry that the simulator looks for: every capital starts a word, so that
    ``RecomputeWUFwd`` -> ``recompute_w_u_fwd``.
    """
    return re.sub(r"(?<!^)(?=[A-Z])", "_", op_type).lower()


def kernel_stem(op_type: str, dtypes: Iterable[str]) -> str:
    """The file stem of a kernel library for a dtype combination: the type and the dtypes, joined by
    _, or a sum over them where that is too long for a file name. package.cpp of the simulator
    looks for the same.
    """
    stem = "_".join([op_type, *dtypes])
    if len(stem) <= _LONGEST_STEM:
        return stem
    total = 0xCBF29CE484222325  # 64-bit FNV-1a
    for byte in stem.encode():
        total = (total ^ byte) * 0x100000001B3 % 2**64
    return f"{op_type}_{total:016x}"


def pascal_case(stem: str) -> str:
    """The operator type of words joined by _ in which each word has one capital."""
    return "".join(word.capitalize() for word in stem.split("_"))


def op_type(stem: str) -> str:
    """The same of a file stem of ours."""
    if not _STEM.fullmatch(stem):
        raise ValueError(f"operator stem: got {stem!r}, want lower snake_case, e.g. softmax_grad")
    return pascal_case(stem)


def snake(name: str) -> str:
    """Python spelling of a camelCase C name: ``fixTriuMask`` -> ``fix_triu_mask``."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


def camel(name: str) -> str:
    """C++ spelling of a snake_case name: ``grad_x`` -> ``gradX``. camelCase is left as it is."""
    first, *rest = name.split("_")
    return first + "".join(part[:1].upper() + part[1:] for part in rest)


def python_function(api: str) -> str:
    """``aclnnSoftmaxBackward`` -> ``softmax_backward``."""
    if not re.fullmatch(r"aclnn[A-Z]\w*", api):
        raise ValueError(
            f"API name: got {api!r}, want aclnn<PascalCase>, e.g. aclnnSoftmaxBackward"
        )
    return snake(api.removeprefix("aclnn"))


def dtype_macro(kernel_arg: str) -> str:
    """Return the macro of an input's or output's device type: ``grad_x`` -> ``DTYPE_GRAD_X``."""
    return f"DTYPE_{kernel_arg.upper()}"


def include_guard(header_stem: str) -> str:
    """``softmax_backward`` -> ``ACLNNOP_ACLNN_SOFTMAX_BACKWARD_H_``."""
    return f"ACLNNOP_ACLNN_{header_stem.upper()}_H_"
