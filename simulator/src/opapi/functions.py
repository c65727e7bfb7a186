# SPDX-License-Identifier: Apache-2.0
"""The functions of libopapi.so, and their C code.

CANN's library has hundreds; these are what every tensor needs (copies, fills, comparisons), so that
clients such as PyTorch's NPU backend can keep tensors on the device.

Usage: functions.py SOURCE HEADER_FOLDER
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import jinja2


@dataclass(frozen=True)
class Function:
    """A function: name without aclnn, header without aclnn_, arguments in C, call of its body,
    whether its tensors may be in private formats, what else its header declares.
    """

    name: str
    header: str
    arguments: str
    body: str
    any_format: bool = False
    more: str = ""

    @property
    def parameters(self) -> list[tuple[str, str]]:
        """Type and name of each argument."""
        pairs = []
        for argument in self.arguments.split(", "):
            kind, _, name = argument.rpartition(" ")
            pairs.append((kind, name))
        return pairs

    @property
    def pointers(self) -> list[str]:
        """The arguments that must not be null."""
        return [name for kind, name in self.parameters if kind.endswith("*")]

    @property
    def outputs(self) -> list[str]:
        """Names of what is written."""
        return [name for _, name in self.parameters if name in ("out", "selfRef", "dstTensor")]

    @property
    def inputs(self) -> list[str]:
        """Names of what is only read."""
        return [name for _, name in self.parameters if name not in self.outputs]


_SELF = "const aclTensor* self"
_REF = "aclTensor* selfRef"
_OTHER = "const aclTensor* other"
_OUT = "aclTensor* out"

FUNCTIONS = [
    Function("InplaceCopy", "copy", f"{_REF}, const aclTensor* src", "Copy(selfRef, src"),
    Function("Cast", "cast", f"{_SELF}, const aclDataType dtype, {_OUT}", "Cast(self, dtype, out"),
    Function("InplaceZero", "zero", _REF, "Fill(selfRef, int64_t{0}"),
    Function("InplaceOne", "ones", f"const {_REF}", "Fill(selfRef, int64_t{1}"),
    Function(
        "InplaceFillScalar",
        "fill_scalar",
        f"{_REF}, const aclScalar* value",
        "Fill(selfRef, value",
    ),
    Function(
        "InplaceFillTensor",
        "fill_tensor",
        f"{_REF}, const aclTensor* value",
        "Fill(selfRef, value",
    ),
    Function(
        "Arange",
        "arange",
        f"const aclScalar* start, const aclScalar* end, const aclScalar* step, {_OUT}",
        "Arange(start, end, step, out",
    ),
    Function(
        "Cat", "cat", f"const aclTensorList* tensors, int64_t dim, {_OUT}", "Cat(tensors, dim, out"
    ),
    Function(
        "ConstantPadNd",
        "constant_pad_nd",
        f"{_SELF}, const aclIntArray* pad, const aclScalar* value, {_OUT}",
        "Pad(self, pad, value, out",
    ),
    Function(
        "Complex",
        "complex",
        f"const aclTensor* real, const aclTensor* imag, {_OUT}",
        "Complex(real, imag, out",
    ),
    Function(
        "NpuFormatCast",
        "npu_format_cast",
        "const aclTensor* srcTensor, aclTensor* dstTensor",
        "FormatCast(srcTensor, dstTensor",
        True,
        "ACLNN_API aclnnStatus aclnnNpuFormatCastCalculateSizeAndFormat(\n"
        "    const aclTensor* srcTensor, const int dstFormat, const int additionalDtype,\n"
        "    int64_t** dstShape, uint64_t* dstShapeSize, int* actualFormat);\n",
    ),
    Function("IsFinite", "isfinite", f"{_SELF}, {_OUT}", "IsFinite(self, out"),
    Function("Equal", "equal", f"{_SELF}, {_OTHER}, {_OUT}", "Equal(self, other, out"),
    Function("LogicalNot", "logical_not", f"{_SELF}, {_OUT}", "LogicalNot(self, out"),
    Function("InplaceLogicalNot", "logical_not", _REF, "LogicalNot(selfRef, selfRef"),
]
for _logic in ("And", "Or", "Xor"):
    _header, _call = f"logical_{_logic.lower()}", f"Logical(opapi::Logic::k{_logic}"
    FUNCTIONS += [
        Function(
            f"Logical{_logic}",
            _header,
            f"{_SELF}, {_OTHER}, {_OUT}",
            f"{_call}, self, other, out",
        ),
        Function(
            f"InplaceLogical{_logic}",
            _header,
            f"{_REF}, {_OTHER}",
            f"{_call}, selfRef, other, selfRef",
        ),
    ]
for _relation in ("Eq", "Ne", "Lt", "Le", "Gt", "Ge"):
    _call = f"Compare(opapi::Relation::k{_relation}"
    for _kind in ("Scalar", "Tensor"):
        _header = f"{_relation.lower()}_{_kind.lower()}"
        FUNCTIONS += [
            Function(
                f"{_relation}{_kind}",
                _header,
                f"{_SELF}, const acl{_kind}* other, {_OUT}",
                f"{_call}, self, other, out",
            ),
            Function(
                f"Inplace{_relation}{_kind}",
                _header,
                f"{_REF}, const acl{_kind}* other",
                f"{_call}, selfRef, other, selfRef",
            ),
        ]


def main(argv: list[str]) -> int:
    """Entry point."""
    if len(argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    templates = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,
    )
    by_header = sorted(FUNCTIONS, key=lambda function: function.header)
    headers = {name: list(group) for name, group in groupby(by_header, lambda f: f.header)}
    source = templates.get_template("functions.cpp.j2").render(headers=headers)
    Path(argv[1]).write_text(source, encoding="utf-8")
    folder = Path(argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    for name, functions in headers.items():
        text = templates.get_template("header.h.j2").render(name=name, functions=functions)
        target = folder / f"aclnn_{name}.h"
        # An unchanged header keeps its time, so that nothing that includes it is built again.
        if not target.is_file() or target.read_text(encoding="utf-8") != text:
            target.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
