# SPDX-License-Identifier: Apache-2.0
"""The self-test of a package: a C++ program with one small call per operator, its numbers and what
must come out.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from aclgrad.building.build_tools import find_compiler
from aclgrad.codegen.examples import example, literal
from aclgrad.common import temporary
from aclgrad.errors import ToolkitError
from aclgrad.golden.limits import LIMITS, row_scale
from aclgrad.packaging import elf
from aclgrad.packaging.content import _render
from aclgrad.reading.aclnn_functions import Function, generated
from aclgrad.running.tensor_handles import scalar_of
from aclgrad.spec import dtypes
from aclgrad.spec.arguments import Attr
from aclgrad.spec.definition import Definition
from aclgrad.spec.dtypes import Array
from aclgrad.spec.op_spec import OpSpec

GOLDEN, PACKER = "golden", "packer"
_ELEMENTS = {"Int": "int64_t", "Float": "float", "Bool": "bool"}
_UNIT = 1e-5  # what is free in a float32 result of magnitude 1


@dataclass(frozen=True)
class SelfTestResult:
    """A tensor that the call writes, what it must hold, and how far off a number may be."""

    variable: str
    name: str
    want: Array
    absolute: float
    relative: float = 0.0


@dataclass(frozen=True)
class SelfTestCase:
    """One call of an aclnn function."""

    op_type: str
    api: str
    header: str
    lines: tuple[str, ...]  # declarations of its arguments
    words: tuple[str, ...]  # its arguments
    results: tuple[SelfTestResult, ...]
    against: str = GOLDEN

    @property
    def rendered(self) -> list[dict[str, Any]]:
        """The results as the template wants them."""
        return [
            {
                "variable": result.variable,
                "name": result.name if len(self.results) > 1 else "",
                "want": _hex(result.want),
                "absolute": f"{result.absolute:g}",
                "relative": f"{result.relative:g}",
            }
            for result in self.results
        ]


def case_of_spec(spec: OpSpec) -> SelfTestCase:
    """The example of an operator of this project."""
    made = example(spec)
    lines = []
    for arg in spec.tensors:
        desc = made.call.tensor(arg.name)
        values = made.inputs[arg.name] if not arg.out else np.zeros(desc.shape)
        lines.append(_tensor(arg.name, np.asarray(values).astype(desc.dtype.numpy)))
    words = [
        literal(arg, made.attrs[arg.name]) if isinstance(arg, Attr) else f"{arg.name}.get()"
        for arg in spec.args
    ]
    output = spec.output_args[0].name
    want = made.result.astype(made.call.tensor(output).dtype.numpy)
    # Sums of a few terms of magnitude 1: the last bits are free, everything else is wrong.
    result = SelfTestResult(output, output, want, _UNIT)
    return SelfTestCase(
        spec.op_type, spec.api, f"aclnn_{spec.header}.h", (*lines,), (*words,), (result,)
    )


def case_of_definition(
    op: Definition,
    inputs: Sequence[Sequence[Array]],
    attrs: Mapping[str, Any],
    outputs: Mapping[str, Array],
    against: str,
    function: Function | None = None,
) -> SelfTestCase:
    """A call of an operator's function, which CANN generates from the definition if no other is
    given. ``outputs`` by name, lists as name_0, name_1, .. in the definition's order.
    """
    function = function or generated(op)
    lines: list[str] = []
    words: list[str] = []
    made: dict[str, list[str]] = {}
    results = []
    refs = {item.name for item in op.inputs}
    for argument in function.arguments:
        at = argument.index
        if argument.source == "input":
            item, param, name = op.inputs[at], inputs[at], f"in{at}"
            if not param:
                words.append("nullptr")
            elif argument.type in ("aclScalar", "aclScalarList"):
                kind = argument.type.removeprefix("acl")
                array = np.ascontiguousarray(param[0]).reshape(-1)
                count = f", {array.size}" if kind == "ScalarList" else ""
                lines.append(f'auto* {name} = Make{kind}({_acl(array)}, "{_hex(array)}"{count});')
                words.append(name)
            elif argument.type.endswith("Array"):
                kind = argument.type.removeprefix("acl").removesuffix("Array")
                lines.append(_list(name, kind, param[0].reshape(-1).tolist()))
                words.append(name)
            else:
                listed = argument.type == "aclTensorList"
                made[item.name] = _tensors(lines, words, name, param, listed=listed)
        elif argument.source == "attr":
            attr = op.attrs[at]
            _attr(lines, words, f"attr{at}", attr.kind, attrs[attr.name], argument.type)
        else:
            item = op.outputs[at]
            wanted = _of(item.name, outputs)
            if argument.source == "dtype":
                words.append(_acl(wanted[0]))
                continue
            empty = [np.zeros_like(array) for array in wanted]
            listed = argument.type == "aclTensorList"
            made[item.name] = _tensors(lines, words, f"out{at}", empty, listed=listed)
    for item in op.outputs:
        if item.name in refs and item.name not in made:
            continue
        results += [
            SelfTestResult(name, item.name, want, *tolerance(want, against))
            for name, want in zip(made[item.name], _of(item.name, outputs), strict=True)
        ]
    return SelfTestCase(
        op.type, function.name, function.header, (*lines,), (*words,), (*results,), against
    )


def _of(name: str, outputs: Mapping[str, Array]) -> list[Array]:
    """The tensors of an output: one, or name_0, name_1, .."""
    pattern = re.compile(rf"{re.escape(name)}(_\d+)?")
    return [array for key, array in outputs.items() if pattern.fullmatch(key)]


def _tensors(
    lines: list[str], words: list[str], name: str, arrays: Sequence[Array], *, listed: bool
) -> list[str]:
    """Declare the tensors of a parameter; their names."""
    names = [f"{name}_{index}" for index in range(len(arrays))] if listed else [name]
    lines += [_tensor(own, array) for own, array in zip(names, arrays, strict=True)]
    words.append(
        f"MakeList({{{', '.join(f'&{own}' for own in names)}}})" if listed else f"{name}.get()"
    )
    return names


def _attr(
    lines: list[str], words: list[str], name: str, kind: str, value: Any, c_type: str
) -> None:
    listed = c_type.endswith("Array")
    one = value[0] if isinstance(value, (list, tuple)) and value else value
    if value is None:
        words.append("nullptr" if listed or c_type in ("char", "aclScalar") else "0")
    elif kind == "String":
        words.append(json.dumps(value))
    elif listed:
        values = value if isinstance(value, (list, tuple)) else [value]
        lines.append(_list(name, c_type.removeprefix("acl").removesuffix("Array"), values))
        words.append(name)
    elif c_type == "aclScalar":
        array = scalar_of(kind, one)
        lines.append(f'auto* {name} = MakeScalar({_acl(array)}, "{_hex(array)}");')
        words.append(name)
    else:
        words.append(_number(kind.removeprefix("List"), one))


def _number(kind: str, value: Any) -> str:
    return {"Bool": lambda: str(bool(value)).lower(), "Int": lambda: f"{int(value)}LL"}.get(
        kind, lambda: repr(float(value))
    )()


def _list(name: str, kind: str, values: Iterable[object]) -> str:
    numbers = [_number(kind, value) for value in values]
    if kind == "Float":
        numbers = [f"{number}F" for number in numbers]
    return f"auto* {name} = Make{kind}Array({{{', '.join(numbers)}}});"


def _tensor(name: str, array: Array) -> str:
    shape = "{" + ", ".join(map(str, array.shape)) + "}"
    return f'const Tensor {name}({shape}, {_acl(array)}, "{_hex(array)}");'


def _acl(array: Array) -> str:
    return f"ACL_{dtypes.of_array(array.dtype).label}"


def _hex(array: Array) -> str:
    """Bytes of an array, in lines that compilers take."""
    text = dtypes.in_memory(np.ascontiguousarray(array)).tobytes().hex()
    return '"\n        "'.join(text[at : at + 96] for at in range(0, len(text), 96))


def tolerance(want: Array, against: str) -> tuple[float, float]:
    """What a number may be off: nothing for integers, the precision rule's for a golden, a few
    units in the last place for another run of the same kernel.
    """
    name = want.dtype.name
    if dtypes.kind_of(want.dtype) in "iub":
        return 0.0, 0.0
    limits = LIMITS.get(name, LIMITS["float32"])
    if against == GOLDEN:
        # The precision rule at the smallest scale of any row, so that zeros fail in each of them.
        size = np.abs(want.astype(np.complex128 if want.dtype.kind == "c" else np.float64))
        scales = row_scale(np.where(np.isfinite(size), size, 0.0))
        least = np.min(scales[scales > 0], initial=limits.greatest)
        relative = limits.bound * 2.0**-limits.fraction_bits
        return float(relative * least), relative
    units = 2.0 ** (2 - limits.fraction_bits)
    return units, units


def source_of(cases: Sequence[SelfTestCase], device: str, soc: str) -> str:
    """The program's text."""
    return _render("self_test.cpp.j2", cases=cases, device=device, soc=soc)


def that_compile(cases: Sequence[SelfTestCase], include: Sequence[Path]) -> dict[str, str]:
    """The compiler's first error for each case whose call its header does not allow."""
    refused = {}
    for case in cases:
        try:
            compiled(
                "self_test.cpp", source_of([case], "sim", ""), include, words=("-fsyntax-only",)
            )
        except ToolkitError as error:
            refused[case.op_type] = str(error).splitlines()[1]
    return refused


def compiled(name: str, source: str, include: Sequence[Path], words: Sequence[str] = ()) -> bytes:
    """A program of the package."""
    compiler = find_compiler()
    if compiler is None:
        raise ToolkitError(
            f"package: no C++ compiler found for {name}. Next: apt-get install g++, or set CXX"
        )
    # Relative names, no build id, no symbols: the same source gives the same program.
    own = ["-std=c++17", "-O1", "-s", "-Wl,--build-id=none", f"-frandom-seed={name}", *words]
    own += [f"-I{path}" for path in dict.fromkeys(include)]
    with temporary.folder() as folder:
        (folder / name).write_text(source)
        command = [compiler, *own, name, "-o", "program", "-ldl"]
        done = subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False)
        if done.returncode:
            first = "\n".join(done.stderr.strip().splitlines()[:10])
            raise ToolkitError(
                f"package: {name} does not compile:\n{first}\n"
                "Next: aclgrad doctor, and aclgrad build"
            )
        if "-fsyntax-only" in words:
            return b""
        return elf.inside((Path(folder) / "program").read_bytes(), f"bin/{Path(name).stem}")
