# SPDX-License-Identifier: Apache-2.0
"""What CANN's build refuses in a definition, or takes and never finds: dtype lists that do not fit
together, kernel files under other names, definitions that nobody registers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from aclgrad.project.sources import Sources, SourcesError


def place(sources: Sources, op_type: str, pattern: str = "") -> str:
    """Where a definition has the first match of a pattern, or begins: ``file:line``."""
    for path in (*sources.host, *sources.helpers):
        try:
            text = path.read_text(errors="replace")
        except OSError:
            continue
        begin = re.search(rf"\b(?:class|struct)\s+{op_type}\b[^;{{]*\bOpDef\b", text)
        if begin is None:
            continue
        end = re.compile(r"\b(?:class|struct)\s+\w+[^;{]*\bOpDef\b").search(text, begin.end())
        found = re.compile(pattern).search(text, begin.end(), end.start() if end else len(text))
        at = found.start() if pattern and found else begin.start()
        return f"{path}:{text.count(chr(10), 0, at) + 1}"
    return ""


def inference_place(sources: Sources, op_type: str) -> str:
    """Where the shape inference of an operator begins: ``file:line``."""
    texts = {path: path.read_text(errors="replace") for path in (*sources.host, *sources.helpers)}
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


def check(op: Mapping[str, Any], sources: Sources) -> None:
    """Raise `SourcesError` for what CANN's build would not take."""
    for pattern, text in _faults(op):
        where = place(sources, op["type"], pattern)
        raise SourcesError(f"{op['type']}: {text}" + (f"\n  at {where}" if where else ""))


def _faults(op: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """A pattern for the place, and what is wrong there."""
    params = [("input", item) for item in op["inputs"]]
    params += [("output", item) for item in op["outputs"]]
    listed = [(kind, item) for kind, item in params if item["dtypes"] and not item["anyOf"]]
    if listed:
        kind, first = listed[0]
        for other, item in listed[1:]:
            if len(item["dtypes"]) == len(first["dtypes"]):
                continue
            yield (
                rf"\b{other.title()}\(\s*\"{re.escape(item['name'])}\"",
                f"{other} {item['name']} has {_count(item)} in its DataType list, {kind}"
                f" {first['name']} has {_count(first)}; CANN wants lists of one length, of which"
                " each column is a kernel. Next: give each parameter a dtype per column, or"
                " DataTypeList for one that takes any",
            )
    for kind, item in params:
        if not item["dtypes"]:
            yield (
                rf"\b{kind.title()}\(\s*\"{re.escape(item['name'])}\"",
                f"{kind} {item['name']} has no DataType, so no kernel is built for it. Next:"
                ' DataType({...}), or Follow("x")',
            )


def _count(item: Mapping[str, Any]) -> str:
    count = len(item["dtypes"])
    return f"{count} dtype{'s' * (count != 1)}"


def check_kernel_file(
    op: Mapping[str, Any], sources: Sources, taken: Path, wanted: Sequence[str]
) -> None:
    """Raise `SourcesError` where CANN's build would look for the kernel in another file."""
    if taken.stem in wanted or _named_by_cmake(sources, taken):
        return
    named = op.get("config", {}).get("opFile.value")
    where = place(sources, op["type"], r"\"opFile\.value\"" if named else "")
    why = f'"opFile.value" names {named}.cpp' if named else "its type is called so"
    raise SourcesError(
        f"{op['type']}: its kernel is in {taken.name}, and CANN's build looks for {wanted[-1]}.cpp,"
        f" as {why}."
        + (f"\n  at {where}" if where else "")
        + f"\nNext: rename {taken} to {taken.with_name(wanted[-1] + taken.suffix).name}, or"
        f' ExtendCfgInfo("opFile.value", "{taken.stem}") in the definition'
    )


def _named_by_cmake(sources: Sources, kernel: Path) -> bool:
    """Whether the project's own build says which file an operator's kernel is in."""
    folders = [kernel.parent, kernel.parent.parent, sources.root]
    for path in dict.fromkeys(folder / "CMakeLists.txt" for folder in folders):
        if path.is_file() and re.search(
            rf"KERNEL_FILE\s+\S*{re.escape(kernel.name)}", path.read_text(errors="replace")
        ):
            return True
    return False


def unregistered(sources: Sources) -> str:
    """What a definition that no OP_ADD registers is told; empty without one."""
    texts = {path: path.read_text(errors="replace") for path in (*sources.host, *sources.helpers)}
    added = {name for text in texts.values() for name in re.findall(r"\bOP_ADD\(\s*(\w+)", text)}
    for text in texts.values():
        for name in re.findall(r"\b(?:class|struct)\s+(\w+)[^;{]*\bOpDef\b", text):
            if name not in added:
                return (
                    f"{name}: nothing registers its definition\n  at {place(sources, name)}\nNext:"
                    f" OP_ADD({name}); behind the class"
                )
    return ""
