# SPDX-License-Identifier: Apache-2.0
"""Reads a kernel source: its entry, and the template instances that ASCENDC_TPL_* declares."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from aclgrad.common.expressions import integer
from aclgrad.reading.cpp_text import calls, directives, split_arguments, without_literals
from aclgrad.reading.sources import DEVICE_TYPES, Kernel, SourcesError
from aclgrad.spec.dtypes import CASTABLE, UNCASTABLE

_DTYPES = (*CASTABLE, *UNCASTABLE)
_MOST_VALUES = 4096  # of one template parameter
_MOST_INSTANCES = 16384


@dataclass(frozen=True)
class Entry:
    """A __global__ function of a kernel source."""

    name: str
    template: tuple[str, ...]  # kinds of its template parameters: "typename" or a type
    arity: int
    extern_c: bool
    alone: bool = True  # no other definition of that name in the text
    params: tuple[str, ...] = ()  # names


@dataclass(frozen=True)
class TemplateParam:
    """A template parameter that ASCENDC_TPL_ARGS_DECL declares."""

    name: str
    kind: str  # uint | bool | dtype | format
    index: int
    values: list[str]
    bits: int  # of a tiling key


@dataclass(frozen=True)
class Instance:
    """A template instance: its tiling key and its arguments, as C++ spells them."""

    key: str
    arguments: list[str]


_ENTRY = re.compile(
    r"(?:template\s*<(?P<template>[^{};]*?)>\s*)?(?P<c>extern\s*\"C\"\s*\{?\s*)?"
    r"__global__\s+(?:__aicore__\s+|__vector__\s+|inline\s+|__attribute__\s*\(\(.*?\)\)\s*|\[[^\]]*\]\s*)*"
    r"void\s+(?:__aicore__\s+)?(?P<name>\w+)\s*\((?P<params>[^{};]*?)\)\s*\{",
    re.DOTALL,
)


def entries(text: str) -> dict[str, Entry]:
    """The kernels that a source defines, by their names."""
    found = {}
    for match in _ENTRY.finditer(text):
        words = tuple(
            _template_kind(word) for word in split_arguments(match["template"] or "") if word
        )
        params = [word for word in split_arguments(match["params"]) if word and word != "void"]
        name = match["name"]
        found[name] = Entry(
            name,
            words,
            len(params),
            match["c"] is not None,
            name not in found,
            tuple(map(_name, params)),
        )
    return found


def _name(param: str) -> str:
    """What a parameter is called; macros that mark sections may stand behind it."""
    words = re.findall(r"\w+", param.partition("=")[0])
    return words[-1] if words else ""


def _template_kind(text: str) -> str:
    words = text.split("=", maxsplit=1)[0].split()
    return "typename" if words[0] in ("typename", "class") else " ".join(words[:-1] or words)


def _calls(text: str, word: str) -> list[list[str]]:
    """Arguments of each ``word(...)`` in a text."""
    return [split_arguments(text[found.end() : end]) for found, end in calls(text, word)]


def with_closed_asserts(text: str) -> str:
    """A source in which each ASSERT that a statement follows ends in a semicolon. A device build
    leaves nothing of them, so that some have none.
    """
    parts, start = [], 0
    for match, end in calls(text, "ASSERT"):
        at = min(end + 1, len(text))
        if re.match(r"\s*[\w}]", text[at:]) and not _in_directive(text, match.start()):
            parts += [text[start:at], ";"]
            start = at
    return "".join([*parts, text[start:]])


def with_keys_at_run_time(text: str) -> str:
    """A source that chooses by tiling key at run time: a device build has a binary for each key,
    so that the choice may be `if constexpr` or the preprocessor's there, and a library of the
    simulator has all keys.
    """
    text = _without_branches_by_key(text)
    parts, start = [], 0
    for match, end in calls(text, "constexpr"):
        is_condition = re.search(r"\bif\s+$", text[: match.start()])
        if is_condition and re.search(r"\bTILING_KEY_(IS|VAR)\b", text[match.end() : end]):
            parts.append(text[start : match.start()])
            start = match.start() + len("constexpr")
    return "".join([*parts, text[start:]])


def _without_branches_by_key(text: str) -> str:
    """A source whose functions have an `if` where they had an `#if` of tiling keys. One that asks
    whether there is a key at all, or that is outside of functions, stays.
    """
    if not re.search(r"(?m)^[ \t]*#.*\bTILING_KEY_VAR\b", text):
        return text
    code = without_literals(text)
    open_: list[list[re.Match[str]]] = []
    changes: list[tuple[int, int, str]] = []
    for found in directives(code):
        word = found[1]
        if word in ("if", "ifdef", "ifndef"):
            open_.append([found])
        elif open_ and word in ("elif", "else"):
            open_[-1].append(found)
        elif open_ and word == "endif":
            chain = [*open_.pop(), found]
            if _chooses_by_key(chain) and _in_function(code, chain[0].start()):
                changes += [_statement(one) for one in chain]
    for begin, end, statement in sorted(changes, reverse=True):
        text = text[:begin] + statement + text[end:]
    return text


def _chooses_by_key(chain: Sequence[re.Match[str]]) -> bool:
    conditions = [found[2] for found in chain if found[1] not in ("else", "endif")]
    return chain[0][1] == "if" and all(
        re.search(r"\bTILING_KEY_VAR\b", condition) and "defined" not in condition
        for condition in conditions
    )


def _statement(found: re.Match[str]) -> tuple[int, int, str]:
    """What stands in the place of a directive: begin, end and text. The rest of the line stays."""
    word, condition = found[1], found[2].rstrip()
    begin = found.start(1) - len(found[0][: found.start(1) - found.start()].lstrip())
    before = "" if word == "if" else "} "
    if word in ("if", "elif"):
        opened = "if" if word == "if" else "else if"
        return begin, found.start(2) + len(condition), f"{before}{opened} ({condition.strip()}) {{"
    return begin, found.end(1), "} else {" if word == "else" else "}"


def _in_function(code: str, at: int) -> bool:
    """Whether a place is in the braces of a function, and not only in those of a namespace or a
    class.
    """
    inside: list[bool] = []
    for found in re.finditer(r"[{}]", re.sub(r"(?m)^[ \t]*#.*$", _blank, code[:at])):
        if found[0] == "}":
            inside = inside[:-1]
        else:
            head = code[: found.start()].rstrip()
            inside.append(bool(re.search(r"\)\s*(?:const|noexcept|override)?$", head)))
    return any(inside)


def _blank(found: re.Match[str]) -> str:
    return " " * len(found[0])


def _in_directive(text: str, at: int) -> bool:
    """Whether a line, with those that it continues, is the preprocessor's."""
    start = text.rfind("\n", 0, at) + 1
    while start and text[:start].endswith("\\\n"):
        start = text.rfind("\n", 0, start - 1) + 1
    return text[start:at].lstrip().startswith("#")


_KINDS = {"UINT": "uint", "BOOL": "bool", "DTYPE": "dtype", "DATATYPE": "dtype", "FORMAT": "format"}
_BITS = {"bool": 1, "dtype": 8, "format": 8}
_LINK = re.compile(r"ASCENDC_TPL_(\w+?)_(?:DECL|SEL)\s*\((.*)\)\s*$", re.DOTALL)


def _number(text: str) -> int:
    value = integer(text)
    if value is None:
        raise SourcesError(
            f"ASCENDC_TPL: bounds must be numbers below 2^64, got {text[:60]!r}. Next: write them"
            " as literals or macros"
        )
    return value


def _uints(words: Sequence[str]) -> list[str]:
    """The values behind ASCENDC_TPL_UI_LIST, _RANGE or _MIX."""
    form, rest = words[0], list(words[1:])
    if form.endswith("UI_LIST") or not form.startswith("ASCENDC_TPL_UI"):
        return rest if form.startswith("ASCENDC_TPL_UI") else list(words)
    count = _number(rest[0]) if rest else 0
    if not 0 < count <= len(rest[1:]) // 2:
        raise SourcesError(
            f"{form}: wants a number of ranges and two bounds for each, got"
            f" ({', '.join(rest)[:60]}). Next: e.g. {form}, 1, 0, 7"
        )
    values: list[str] = []
    for index in range(count):
        low, high = (_number(word) for word in rest[1 + 2 * index : 3 + 2 * index])
        if high - low >= _MOST_VALUES - len(values):
            raise SourcesError(
                f"{form}: more than {_MOST_VALUES} values, from {low} to {high}. Next: list those"
                " that tiling uses with ASCENDC_TPL_UI_LIST"
            )
        values += [str(value) for value in range(low, high + 1)]
    return values + (rest[1 + 2 * count :] if form.endswith("UI_MIX") else [])


def _bits(word: str) -> int:
    match = re.fullmatch(r"ASCENDC_TPL_(\d+)_BW", word.strip())
    return int(match[1]) if match else _number(word)


def instances_of(
    text: str, entry: Entry, kernel: Kernel
) -> tuple[list[TemplateParam], list[Instance]]:
    """Template parameters and selected instances with their tiling keys as C++ expressions."""
    declarations = _calls(text, "ASCENDC_TPL_ARGS_DECL")
    selections = _calls(text, "ASCENDC_TPL_SEL")
    if not declarations or not selections:
        return [], []
    params: list[TemplateParam] = []
    for link in declarations[0][1:]:
        match = _LINK.match(link)
        if match is None or match[1] not in _KINDS:
            continue
        words = split_arguments(match[2])
        kind = _KINDS[match[1]]
        values = _uints(words[2:]) if kind == "uint" else words[1:]
        bits = _bits(words[1]) if kind == "uint" else _BITS[kind]
        params.append(TemplateParam(words[0], kind, len(params), values, bits))
    seen: set[tuple[str, ...]] = set()
    found = []
    for selection in selections[0]:
        chosen: dict[str, Sequence[str]] = {param.name: param.values for param in params}
        for link in split_arguments(selection[selection.find("(") + 1 : selection.rfind(")")]):
            match = _LINK.match(link)
            if match is None or match[1] not in _KINDS:
                continue
            words = split_arguments(match[2])
            chosen[words[0]] = _uints(words[1:]) if match[1] == "UINT" else words[1:]
        combinations = math.prod(len(chosen[param.name]) for param in params)
        if combinations > _MOST_INSTANCES:
            raise SourcesError(
                f"{entry.name}: its template parameters have {combinations} combinations, want at"
                f" most {_MOST_INSTANCES}. Next: select those that tiling uses in ASCENDC_TPL_SEL"
            )
        for row in itertools.product(*(chosen[param.name] for param in params)):
            if row not in seen:
                seen.add(row)
                found.append(_instance(params, row, entry, kernel))
    return params, found


def _instance(
    params: Sequence[TemplateParam], values: Sequence[str], entry: Entry, kernel: Kernel
) -> Instance:
    key, arguments, bit = [], [], 0
    for param, value, kind in zip(params, values, entry.template, strict=False):
        code, argument = f"static_cast<uint64_t>({value})", f"({value})"
        if param.kind == "uint":
            code = f"PlaceOf(kDeclared{param.index}, {code})"
        elif param.kind == "dtype" and not (_is_number(value) and kind != "typename"):
            dtype = _tensor_dtype(value, kernel)
            code = f"static_cast<uint64_t>(C_{dtype})"
            argument = DEVICE_TYPES.get(dtype, "void") if kind == "typename" else f"(C_{dtype})"
        elif param.kind == "bool":
            argument = f"static_cast<bool>({value})"
        key.append(f"({code} << {bit})")
        bit += param.bits
        arguments.append(argument if kind == "typename" else f"static_cast<{kind}>({argument})")
    return Instance(" | ".join(key), arguments)


def _is_number(word: str) -> bool:
    """Dtypes may be numbers, of which many are none of tensors."""
    return bool(re.fullmatch(r"[\d\s()]+", word))


def _tensor_dtype(word: str, kernel: Kernel) -> str:
    """C_DT_FLOAT -> DT_FLOAT; ASCENDC_TPL_INPUT(1) -> the dtype of input 1 in this kernel."""
    match = re.fullmatch(r"ASCENDC_TPL_(INPUT|OUTPUT)\s*\((.*)\)", word)
    if match:
        first = 0 if match[1] == "INPUT" else len(kernel.op.inputs)
        return kernel.dtypes[first + _number(match[2])]
    if _is_number(word):
        value = _number(word)
        return next((dtype.ge for dtype in _DTYPES if dtype.acl == value), "DT_UNDEFINED")
    return word.strip().removeprefix("C_")
