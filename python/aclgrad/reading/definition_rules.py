# SPDX-License-Identifier: Apache-2.0
"""What CANN's build refuses in a definition, or takes and never finds: dtype lists that do not fit
together, kernel files under other names, definitions that nobody registers.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from aclgrad.common.files import FileError, text_of
from aclgrad.reading import cmake_text
from aclgrad.reading.cpp_text import closing
from aclgrad.reading.sources import Sources, SourcesError, code
from aclgrad.spec.definition import Definition, Param, Params

_DEFINITION = r"\b(?:class|struct)\s+\w+[^;{]*\bOpDef\b"


def _definition(sources: Sources, op_type: str) -> tuple[Path, str, int, int] | None:
    """The file of a definition, its text, and where the definition begins and ends in it."""
    for path in (*sources.host, *sources.helpers):
        try:
            text = text_of(path)
        except FileError:
            continue
        begin = re.search(rf"\b(?:class|struct)\s+{op_type}\b[^;{{]*\bOpDef\b", text)
        if begin is not None:
            after = re.compile(_DEFINITION).search(text, begin.end())
            return path, text, begin.start(), after.start() if after else len(text)
    return None


def place(sources: Sources, op_type: str, pattern: str = "") -> str:
    """Where a definition has the first match of a pattern, or begins: ``file:line``."""
    defined = _definition(sources, op_type)
    if defined is None:
        return ""
    path, text, begin, end = defined
    found = re.compile(pattern).search(text, begin, end) if pattern else None
    return _at(path, text, found.start() if found else begin)


def _at(path: Path, text: str, offset: int) -> str:
    return f"{path}:{text.count(chr(10), 0, offset) + 1}"


def _place_of(sources: Sources, op_type: str, kind: str, item: Param, *, other_soc: bool) -> str:
    """Where a definition gives a parameter its dtypes: the first place with a list of the same
    length, or the last for a SoC that is not built for, as those have their lists behind. The first
    that names the parameter if there is none.
    """
    defined = _definition(sources, op_type)
    if defined is None:
        return ""
    path, text, begin, end = defined
    named = re.compile(rf"\b{kind.title()}\(\s*\"{re.escape(item.name)}\"\s*\)([^;]*)")
    found = [*named.finditer(text, begin, end)]
    same = [one for one in found if _listed(one[1]) == len(item.dtypes)]
    chosen = (same[-1:] if other_soc else same[:1]) or found[:1]
    return _at(path, text, chosen[0].start() if chosen else begin)


def _listed(calls: str) -> int:
    """How many dtypes the braces of DataType(...) have; 0 without braces."""
    found = re.search(r"\bDataType\(\s*\{([^}]*)\}", calls)
    return found[1].count("DT_") if found else 0


def dtypes_place(sources: Sources, op_type: str, kind: str, item: Param) -> str:
    """Where a definition gives the dtypes of an ``input`` or ``output``: ``file:line``."""
    where = _place_of(sources, op_type, kind, item, other_soc=False)
    path, _, line = where.rpartition(":")
    if not path:
        return ""
    # The list is behind the name, on the same line or on one of the next.
    rest = text_of(Path(path)).splitlines()[int(line) - 1 :]
    behind = next((at for at, text in enumerate(rest) if "DataType" in text), 0)
    return f"{path}:{int(line) + behind}"


def inference_place(sources: Sources, op_type: str) -> str:
    """Where the shape inference of an operator begins: ``file:line``."""
    texts = {path: text_of(path) for path in (*sources.host, *sources.helpers)}
    registered = (
        rf"IMPL_OP(?:_INFERSHAPE)?\(\s*{op_type}\s*\)[^;]*?\.InferShape\(\s*&?([\w:]+)",
        r"\bSetInferShape\(\s*&?([\w:]+)",
    )
    for pattern in registered:
        for text in texts.values():
            if found := re.search(pattern, text):
                name = found[1].rpartition("::")[2]
                for path, code in texts.items():
                    if at := re.search(rf"\b{name}\s*\(\s*(?:\w+::)*InferShapeContext\b", code):
                        return f"{path}:{code.count(chr(10), 0, at.start()) + 1}"
    return ""


def check(op: Definition, sources: Sources) -> None:
    """Raise `SourcesError` for what CANN's build would not take, for any SoC that is named."""
    for soc, params in (("", op), *op.other_socs.items()):
        place_of = functools.partial(_place_of, sources, op.type, other_soc=bool(soc))
        for kind, item, text in _faults(params, place_of):
            where = place_of(kind, item)
            raise SourcesError(
                f"{op.type}{soc and f' for {soc}'}: {text}" + (f"\n  at {where}" if where else "")
            )


def _faults(op: Params, place_of: Callable[[str, Param], str]) -> Iterator[tuple[str, Param, str]]:
    """Parameters, inputs or outputs, and what is wrong with them."""
    params = [("input", item) for item in op.inputs]
    params += [("output", item) for item in op.outputs]
    listed = [(kind, item) for kind, item in params if item.dtypes and not item.any_of]
    if listed:
        kind, first = listed[0]
        for other, item in listed[1:]:
            if len(item.dtypes) == len(first.dtypes):
                continue
            there = place_of(kind, first)
            text = (
                f"{other} {item.name} has {_count(item)} in its DataType list, {kind}"
                f" {first.name} has {_count(first)}" + (f" ({there})" if there else "") + "; CANN"
                " wants lists of one length, of which each column is a kernel. Next: give each"
                " parameter a dtype per column, or DataTypeList for one that takes any"
            )
            yield other, item, text
    for kind, item in params:
        if not item.dtypes:
            text = (
                f"{kind} {item.name} has no DataType, so no kernel is built for it. Next:"
                ' DataType({...}), or Follow("x")'
            )
            yield kind, item, text


def _count(item: Param) -> str:
    count = len(item.dtypes)
    return f"{count} dtype{'s' * (count != 1)}"


def check_kernel_file(op: Definition, sources: Sources, taken: Path, wanted: Sequence[str]) -> None:
    """Raise `SourcesError` where CANN's build would look for the kernel in another file."""
    if taken.stem in wanted or _named_by_cmake(sources, taken):
        return
    named = op.config.get("opFile.value")
    where = place(sources, op.type, r"\"opFile\.value\"" if named else "")
    why = f'"opFile.value" names {named}.cpp' if named else "its type is called so"
    raise SourcesError(
        f"{op.type}: its kernel is in {taken.name}, and CANN's build looks for {wanted[-1]}.cpp,"
        f" as {why}."
        + (f"\n  at {where}" if where else "")
        + f"\nNext: rename {taken} to {taken.with_name(wanted[-1] + taken.suffix).name}, or"
        f' ExtendCfgInfo("opFile.value", "{taken.stem}") in the definition'
    )


def _named_by_cmake(sources: Sources, kernel: Path) -> bool:
    """Whether the project's own build says which file an operator's kernel is in."""
    folders = [kernel.parent, kernel.parent.parent, sources.root]
    named = re.compile(rf"KERNEL_FILE\s+\S*{re.escape(kernel.name)}")
    lists = dict.fromkeys(folder / "CMakeLists.txt" for folder in folders)
    return any(
        path.is_file() and named.search(cmake_text.without_comments(text_of(path)))
        for path in lists
    )


def unregistered(paths: Iterable[Path]) -> str:
    """What a definition that no OP_ADD registers is told; empty without one."""
    texts = {path: code(path) for path in paths}
    added = {name for text in texts.values() for name in re.findall(r"\bOP_ADD\(\s*(\w+)", text)}
    for path, text in texts.items():
        for found in re.finditer(r"\b(?:class|struct)\s+(\w+)[^;{]*\bOpDef\b", text):
            if found[1] not in added:
                return (
                    f"{found[1]}: nothing registers its definition\n  at"
                    f" {_at(path, text, _behind(text, found.end()))}\nNext:"
                    f" OP_ADD({found[1]}); behind the class"
                )
    return ""


def _behind(text: str, start: int) -> int:
    """Where the first pair of braces behind a place ends; the place itself where none does."""
    opening = text.find("{", start)
    return start if opening < 0 else max(closing(text, opening), start)
