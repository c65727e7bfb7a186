# SPDX-License-Identifier: Apache-2.0
"""``aclgrad new``: an operator project that is green at once, or the Python side of one that is
there.
"""

from __future__ import annotations

import json
import keyword
import re
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from aclgrad.building import operator_build
from aclgrad.cases import golden_file
from aclgrad.codegen.render import render
from aclgrad.common import files
from aclgrad.errors import AclgradError
from aclgrad.projects import cann_names, vscode
from aclgrad.reading.layout import locate
from aclgrad.reading.sources import SourcesError
from aclgrad.running import operator_call
from aclgrad.spec.definition import Definition
from aclgrad.spec.naming import pascal_case, snake_case
from aclgrad.spec.soc import family_of


class Like(str, Enum):
    """What the operator starts as."""

    elementwise = "elementwise"
    elementwise_ternary = "elementwise-ternary"
    row_reduction = "row-reduction"
    row_statistics = "row-statistics"
    gather = "gather"
    matmul = "matmul"
    flash_attention = "flash-attention"
    blank = "blank"


@dataclass(frozen=True)
class _Start:
    """What a new operator computes until its author changes it."""

    computes: str
    socs: str
    case: str  # one of its tests, for the debugger
    sizes: tuple[str, str]  # shapes for `aclgrad tiling` and `aclgrad profile`


_FP32 = "fp32-6x17-special_each"
_VECTOR = "Atlas A2, A3 and Ascend 950"
_STARTS = {
    Like.elementwise: _Start(
        "leaky ReLU, y = max(x, 0) + slope * min(x, 0)", _VECTOR, _FP32, ("8x1000", "4096x4096")
    ),
    Like.elementwise_ternary: _Start(
        "y = x + value * a * b of inputs of one shape", _VECTOR, _FP32, ("8x1000", "4096x4096")
    ),
    Like.row_reduction: _Start(
        "the gradient of softmax along any axes, f - y * sum(f) with f = grad * y",
        f"{_VECTOR}, and in fp32 and fp16 on 310P and 910",
        "fp32-6x17-special",
        ("8x1000", "4096x4096"),
    ),
    Like.row_statistics: _Start(
        "the gradient of an RMS norm of rows, from grad, x and one number for each row, rstd",
        _VECTOR,
        "fp32-special",
        ("8x1000 8x1000 8", "4096x4096 4096x4096 4096"),
    ),
    Like.gather: _Start(
        "y[i, :] = table[index[i], :]",
        _VECTOR,
        "fp32+int32+fp32-special_each",
        ("1000x64:fp32 32:int32", "32000x4096:fp32 2048:int32"),
    ),
    Like.matmul: _Start(
        "the matrix product a x b on cube cores",
        "Atlas A2 and A3",
        "fp16-33x17x200",
        ("400x300:fp16 300x200:fp16", "1024x1024:fp16 1024x1024:fp16"),
    ),
    Like.flash_attention: _Start(
        "softmax(scale * q x k^T) x v, on cube and vector cores at once",
        "Atlas A2 and A3",
        "fp16-3x33x200x72",
        (
            "1x300x64:fp16 1x200x64:fp16 1x200x64:fp16",
            "32x1024x128:fp16 32x1024x128:fp16 32x1024x128:fp16",
        ),
    ),
    Like.blank: _Start("a copy, y = x", _VECTOR, _FP32, ("8x1000", "4096x4096")),
}


class Shape(str, Enum):
    """Where its files lie."""

    operator = "operator"
    msopgen = "msopgen"


_CPP = (
    "alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl const"
    " constexpr const_cast continue decltype default delete do double dynamic_cast else enum"
    " explicit export extern false float for friend goto if inline int long mutable namespace new"
    " noexcept not not_eq nullptr operator or or_eq private protected public register"
    " reinterpret_cast return short signed sizeof static static_assert static_cast struct switch"
    " template this thread_local throw true try typedef typeid typename union unsigned using"
    " virtual void volatile wchar_t while xor xor_eq concept requires half"
)
_TAKEN = (
    "main exit free malloc memcpy memset printf read write std ops optiling common elementwise"
    " rowreduce"
)


@dataclass(frozen=True)
class Made:
    """What was written."""

    folder: Path
    files: tuple[Path, ...]
    notes: tuple[str, ...] = ()  # what the author has to know of the name and what it computes


class NewError(AclgradError):
    """A project that cannot be made, with the next step."""


def op_type(name: str) -> str:
    """The operator type of a name. Raises `NewError` for one that C++ or Python would not take."""
    if not re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", name, re.ASCII):
        near = snake_case(re.sub(r"\W+", "_", name, flags=re.ASCII)).strip("_")
        near = re.sub(r"_+", "_", near)
        good = re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", near, re.ASCII)
        raise NewError(
            f"new: got the name {name!r}, want words of a-z and 0-9 joined by _. Next: aclgrad new"
            f" {near if good else 'huber_grad'}"
        )
    if name in _CPP.split() or keyword.iskeyword(name):
        raise NewError(
            f"new: {name!r} is a keyword of C++ or Python, and the kernel's function has this name."
            f" Next: aclgrad new {name}_op"
        )
    if name in _TAKEN.split():
        raise NewError(
            f"new: {name!r} is a name of the C library or of the shared headers, and the kernel's"
            f" function has this name. Next: aclgrad new {name}_op"
        )
    found = pascal_case(name)
    if snake_case(found) != name:
        raise NewError(
            f"new: CANN would call the files of {found} {snake_case(found)}, not {name}. Next:"
            f" aclgrad new {snake_case(found)}"
        )
    return found


def new(name: str, folder: Path | None, like: Like, shape: Shape, *, editor: bool = True) -> Made:
    """Write a project into a folder that is not there yet, or is empty."""
    kind, start = op_type(name), _STARTS[like]
    root = Path(name) if folder is None else folder
    if root.is_file() or (root.is_dir() and any(root.iterdir())):
        raise NewError(
            f"new: {root} exists already, nothing was written. Next: another folder: aclgrad new"
            f" {name} FOLDER; or for sources that are there: aclgrad new --from {root}"
        )
    header = f"{name}_tiling_data.h"
    context: dict[str, object] = {
        "type": kind,
        "stem": name,
        "namespace": name.replace("_", "") + "op",
        "guard": f"{name.upper()}_TILING_DATA_H_",
        "like": like.value,
        "start": start,
    }

    def text(template: str) -> str:
        return render(f"new/{like.value}/{template}.j2", **context)

    notes: list[tuple[str, str]] = []
    made: dict[str, str] = {}

    def add(path: str, what: str, content: str) -> None:
        made[path] = content
        notes.append((path, what))

    if shape is Shape.msopgen:
        both = text("def.cpp") + "\n" + text("tiling.cpp")
        add(f"op_host/{name}.cpp", "definition, shape inference and tiling", both)
    else:
        add(f"op_host/{name}_def.cpp", "definition and shape inference", text("def.cpp"))
        add(f"op_host/{name}_tiling.cpp", "tiling", text("tiling.cpp"))
    add(f"op_kernel/{name}.cpp", "the kernel", text("kernel.cpp"))
    if like is not Like.row_reduction:
        add(f"op_kernel/{header}", "what tiling tells the kernel", text("tiling_data.h"))
    add(f"{name}_golden.py", "what it computes, in NumPy, and its cases", text("golden.py"))
    made["README.md"] = render("new/README.md.j2", **context, files=notes, editor=editor)
    made[".gitignore"] = render("new/gitignore.j2")
    if shape is Shape.msopgen:
        made["CMakePresets.json"] = json.dumps(_PRESETS, indent=2) + "\n"
    if editor:
        made |= vscode.files(name, start.case)
    for path, content in made.items():
        files.make_folder((root / path).parent, "new")
        files.write(root / path, content, "new")
    said = f"{kind} computes {start.computes}. Change golden and kernel to what it is to compute."
    return Made(root, tuple(root / path for path in made), (said, *_taken_by_cann(kind)))


def _taken_by_cann(kind: str) -> tuple[str, ...]:
    """A warning where CANN has an aclnn function of this name."""
    if kind not in cann_names.names():
        return ()
    return (
        f"warning: CANN has an operator or function of its own named {kind}. On an NPU the order of"
        f" libraries and packages decides which one runs. Next: another name, such as"
        f" my_{snake_case(kind)}",
    )


_PRESETS = {
    "version": 1,
    "cmakeMinimumRequired": {"major": 3, "minor": 19, "patch": 0},
    "configurePresets": [
        {
            "name": "default",
            "displayName": "Default",
            "generator": "Unix Makefiles",
            "binaryDir": "${sourceDir}/build_out",
            "cacheVariables": {
                "CMAKE_BUILD_TYPE": {"type": "STRING", "value": "Release"},
                "ASCEND_COMPUTE_UNIT": {"type": "STRING", "value": "ascend910b"},
                "vendor_name": {"type": "STRING", "value": "customize"},
            },
        }
    ],
}


def from_sources(word: str, soc: str) -> Made:
    """Write a golden file for each operator of a project that has none."""
    builder = operator_build.Builder(locate(word), family_of(soc))
    described = builder.build_host()
    ops = operator_build.runnable(described, builder.sources, builder.soc)
    missing = [op for op in ops if golden_file.find(op, builder.sources) is None]
    if not missing:
        path = golden_file.find(operator_call.main_of(ops, builder.sources), builder.sources)
        raise NewError(f"new --from {word}: {path} is there already. Next: aclgrad test {word}")
    made = []
    for op in missing:
        path = builder.sources.root / golden_file.file_names(op, builder.sources)[0]
        files.write(path, _golden(op), "new --from")
        made.append(path)
    return Made(builder.sources.root, tuple(made))


def _golden(op: Definition) -> str:
    names = op.arguments
    if bad := [name for name in names if not name.isidentifier()]:
        raise SourcesError(f"{op.type}: {bad[0]!r} cannot be a parameter of golden(...)")
    same = all(item.kind == "required" and not item.value_depend for item in op.inputs)
    each = ", ".join(
        f'"{item.name}": ' + ("None" if item.kind == "optional" else "shape") for item in op.inputs
    )
    return render(
        "new/from_golden.py.j2",
        type=op.type,
        parameters=[golden_file.python_name(name) for name in names],
        outputs=[item.name for item in op.outputs],
        shapes="shape" if same else f"{{{each}}}",
    )
