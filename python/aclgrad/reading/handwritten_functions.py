# SPDX-License-Identifier: Apache-2.0
"""The aclnn functions that somebody wrote by hand for an operator: which there are, and which of
their arguments is which input, attribute or output of the definition.

Names decide, then the way from a function's argument to the launch of the kernel, as the sources
say it. What neither tells is not guessed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from aclgrad.common.files import text_of
from aclgrad.reading.aclnn_functions import Argument, Function
from aclgrad.reading.cpp_text import balanced, calls, closing, split_arguments
from aclgrad.reading.sources import code
from aclgrad.spec import naming
from aclgrad.spec.definition import AttrDef, Definition, Param

_ARRAYS = {"aclIntArray", "aclFloatArray", "aclBoolArray"}
_INTEGERS = {"int64_t", "int32_t", "int", "uint64_t", "uint32_t", "int8_t", "int16_t"}
_REALS = {"float", "double"}
_ATTR_TYPES = {
    "Int": {*_INTEGERS, "aclScalar", "aclIntArray"},
    "Float": {*_REALS, "aclScalar"},
    "Bool": {"bool", "aclScalar"},
    "String": {"char"},
    "ListInt": {"aclIntArray", *_INTEGERS},
    "ListFloat": {"aclFloatArray"},
    "ListBool": {"aclBoolArray"},
}
"""How functions take an attribute: a list of one number may be a number."""

_NO_CALLS = {"if", "for", "while", "switch", "catch", "return", "sizeof"}
_DEEPEST = 8
_NO_PARAM = re.compile(r"\[\[.*?\]\]|__attribute__\s*\(\(.*?\)\)|\[[^\]]*\]", re.DOTALL)
"""What stands beside the type and the name of a parameter."""
_BODY = re.compile(r"\s*(?:noexcept\s*)?(?:->\s*[\w:]+\s*)?(?:try\s*)?\{")
"""What may stand between the arguments of a function and its body."""


@dataclass(frozen=True)
class _Param:
    type: str  # without const, pointers and references
    name: str
    const: bool


@dataclass(frozen=True)
class _Defined:
    """A function with its body."""

    name: str
    params: tuple[_Param, ...]
    body: str
    file: Path


@dataclass
class _Launch:
    """What a launch of the kernel is given: arguments of the aclnn function, by place."""

    inputs: list[str] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)
    attrs: list[str] = field(default_factory=list)


def functions(
    op: Definition, files: Sequence[Path]
) -> tuple[list[Function], list[tuple[str, str]]]:
    """The functions that can be called with what the definition has, best first, and the others
    with the first argument that has no place in it.
    """
    table: dict[str, list[_Defined]] = {}
    for file in files:
        for defined in _definitions(file):
            table.setdefault(defined.name, []).append(defined)
    fit: list[tuple[tuple[bool, int, int], Function]] = []
    others = []
    for name, overloads in table.items():
        if not re.fullmatch(r"aclnn\w+GetWorkspaceSize", name):
            continue
        api = name.removesuffix("GetWorkspaceSize")
        bound, lacks = _bind(op, api, overloads[0], table)
        if bound is None:
            others.append((api, lacks))
        else:
            attrs = sum(argument.source == "attr" for argument in bound.arguments)
            rank = (api != f"aclnn{op.type}", _narrowed(op, bound), -attrs)
            fit.append((rank, bound))
    return [function for _, function in sorted(fit, key=lambda item: item[0])], others


def names(files: Iterable[Path]) -> set[str]:
    """The aclnn functions that sources define."""
    return {
        defined.name.removesuffix("GetWorkspaceSize")
        for file in files
        for defined in _definitions(file)
        if re.fullmatch(r"aclnn\w+GetWorkspaceSize", defined.name)
    }


def launched(files: Iterable[Path]) -> set[str]:
    """The operator types whose kernels sources launch."""
    pattern = re.compile(r"\bADD_TO_LAUNCHER_LIST_AICORE\(\s*(\w+)")
    return {name for file in files for name in pattern.findall(code(file))}


def _bind(  # noqa: C901
    op: Definition, api: str, defined: _Defined, table: Mapping[str, list[_Defined]]
) -> tuple[Function | None, str]:
    params = list(defined.params[:-2])
    if tuple(param.type for param in defined.params[-2:]) != ("uint64_t", "aclOpExecutor"):
        return None, "workspaceSize"
    traced = next(_launches(op.type, defined, {p.name: p.name for p in params}, table), None)
    traced = traced or _Launch()
    free = {param.name: param for param in params}
    places: dict[str, tuple[str, int]] = {}

    def take(source: str, index: int, name: str) -> None:
        places.setdefault(name, (source, index))
        free.pop(name, None)

    in_names = [item.name for item in op.inputs]
    wanted: list[tuple[str, int, str, str, Callable[[_Param], bool]]] = []
    for index, item in enumerate(op.inputs):
        along = traced.inputs[index] if index < len(traced.inputs) else ""
        wanted.append(("input", index, item.name, along, partial(_takes_input, item)))
    for index, attr in enumerate(op.attrs):
        along = traced.attrs[index] if index < len(traced.attrs) else ""
        wanted.append(("attr", index, attr.name, along, partial(_takes_attr, attr)))
    missing: list[tuple[str, int]] = []
    for source, index, name, along, takes in wanted:
        named = next((p for p in free.values() if _plain(p.name) == _plain(name)), None)
        if named is not None and takes(named):
            take(source, index, named.name)
        elif along in free and takes(free[along]):
            take(source, index, along)
        elif along not in places or source == "attr" or op.inputs[index].value_depend:
            missing.append((source, index))
    outputs = [at for at, item in enumerate(op.outputs) if item.name not in in_names]
    results = [param for param in free.values() if _is_result(param)]
    tensors = [param for param in free.values() if param.type in ("aclTensor", "aclTensorList")]
    if len(outputs) != len(results) and len(outputs) == len(tensors):
        results = tensors
    if len(outputs) != len(results):
        return None, results[-1].name if results else f"out, for {len(outputs)} outputs"
    by_name = {_plain(op.outputs[at].name): at for at in outputs}
    if all(_plain(param.name) in by_name for param in results):
        outputs = [by_name[_plain(param.name)] for param in results]
    for at, param in zip(outputs, results, strict=True):
        want = "aclTensorList" if op.outputs[at].kind == "dynamic" else "aclTensor"
        if param.type != want:
            return None, param.name
        take("output", at, param.name)
    for param in [param for param in free.values() if param.type == "aclDataType" and outputs]:
        take("dtype", outputs[0], param.name)
    for source, index in missing:
        if source == "input" and op.inputs[index].kind != "optional":
            return None, f"{op.inputs[index].name} of the definition"
        if source == "attr" and op.attrs[index].required:
            return None, f"{op.attrs[index].name} of the definition"
    if free:
        return None, next(iter(free))
    arguments = tuple(Argument(*places[param.name], param.type) for param in params)
    return Function(api, _header(defined.file, api), arguments, defined.file), ""


def _narrowed(op: Definition, function: Function) -> int:
    """Tensors of the definition that a function takes as one number each."""
    return sum(
        argument.source == "input"
        and argument.type == "aclScalar"
        and not op.inputs[argument.index].scalar
        for argument in function.arguments
    )


def _takes_input(item: Param, param: _Param) -> bool:
    if item.scalar or item.scalar_list:
        return param.type == ("aclScalarList" if item.scalar_list else "aclScalar")
    if item.kind == "dynamic":
        return param.type == "aclTensorList"
    # A tensor of one element may be given as a number, which the function makes a tensor of.
    return param.type in ("aclTensor", "aclScalar") or (item.value_depend and param.type in _ARRAYS)


def _takes_attr(item: AttrDef, param: _Param) -> bool:
    return param.type in _ATTR_TYPES.get(item.kind, ())


def _is_result(param: _Param) -> bool:
    """An output: not const, or called so by those that write const at all of them."""
    if param.type not in ("aclTensor", "aclTensorList"):
        return False
    return not param.const or bool(re.search(r"(?:^out|Out(?:Optional)?$)", param.name))


def _plain(name: str) -> str:
    """A name as definitions and functions have in common."""
    return re.sub(r"(?:Optional|Ref|Out)+$", "", naming.camel(name)).lower() or name.lower()


def _header(file: Path, api: str) -> str:
    """The header that declares a function."""
    for header in sorted(file.parent.rglob("aclnn*.h")):
        if f"{api}GetWorkspaceSize" in code(header):
            return header.name
    return f"{file.stem}.h"


# -- from an argument of the function to the launch -----------------------------------------------


def _launches(
    op_type: str,
    defined: _Defined,
    origin: Mapping[str, str],
    table: Mapping[str, list[_Defined]],
    above: tuple[_Defined, ...] = (),
) -> Iterator[_Launch]:
    """Launches of an operator's kernel that a function leads to. ``origin`` says which arguments of
    the aclnn function the names in this one stand for.
    """
    known = dict(origin)
    for match in re.finditer(r"\b(\w+)\s*=(?!=)\s*([^;]*);", defined.body):
        found = _origin(match[2], known)
        if found:
            # Later ones are other forms of the same.
            known.setdefault(match[1], found)
    for name, words in _calls(defined.body):
        if name == "ADD_TO_LAUNCHER_LIST_AICORE" and words and words[0].strip() == op_type:
            launch = _Launch()
            for kind, values in (call for word in words[1:] for call in _calls(word)):
                into = {
                    "OP_INPUT": launch.inputs,
                    "OP_OUTPUT": launch.outputs,
                    "OP_ATTR": launch.attrs,
                }.get(kind)
                if into is not None:
                    into += [_origin(value, known) for value in values]
            yield launch
        for inner in table.get(name, ()):
            if inner in above or inner is defined or len(above) > _DEEPEST:
                continue
            given = {
                param.name: _origin(word, known)
                for param, word in zip(inner.params, words, strict=False)
            }
            given = {key: value for key, value in given.items() if value}
            yield from _launches(op_type, inner, given, table, (*above, defined))


def _origin(expression: str, known: Mapping[str, str]) -> str:
    """The argument that a value is made of: the first in it that is more than asked for something,
    as ``self->GetDataType()`` does.
    """
    text = re.sub(r"\b\w+\s*[!=]=\s*nullptr", "", expression)
    for match in re.finditer(r"\b(\w+)\b\s*(->|\.)?\s*(\w+)?", text):
        asked = match[2] and not re.match(r"To[A-Z]|get$|data$|GetData$", match[3] or "")
        if match[1] in known and not asked:
            return known[match[1]]
    return ""


def _calls(text: str) -> Iterator[tuple[str, list[str]]]:
    for found, end in calls(text):
        if found[1] not in _NO_CALLS and end < len(text):
            yield found[1], split_arguments(text[found.end() : end], angles=False)


def _definitions(file: Path) -> Iterator[_Defined]:
    """The functions that a source defines."""
    text = balanced(text_of(file)) if file.is_file() else ""
    at = 0
    for found, end in calls(text):
        opening = _BODY.match(text, end + 1)
        if found.start() < at or found[1] in _NO_CALLS or opening is None:
            continue
        close = closing(text, opening.end() - 1)
        if close < 0:
            continue  # what it would hold may be functions
        params = split_arguments(text[found.end() : end], angles=False)
        yield _Defined(found[1], tuple(map(_param, params)), text[opening.end() : close], file)
        at = close


def _param(word: str) -> _Param:
    plain = _NO_PARAM.sub(" ", word.split("=")[0]).strip()
    match = re.fullmatch(r"(.*?)\b(\w+)", plain, re.DOTALL)
    kind, name = (match[1], match[2]) if match else (plain, "")
    words = re.findall(r"\w+", re.sub(r"\b(?:const|struct|std|op|AscendC|ge)\b", " ", kind))
    return _Param(words[-1] if words else "", name, bool(re.search(r"\bconst\b", kind)))
