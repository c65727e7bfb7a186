# SPDX-License-Identifier: Apache-2.0
"""Where a definition and the rest of an operator disagree: lines that explain an error which the
kernel then shows.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from aclgrad.building import operator_build
from aclgrad.common.files import text_of
from aclgrad.findings import ERROR, Finding, Place
from aclgrad.reading.definition_rules import dtypes_place
from aclgrad.reading.kernel_entry import entries
from aclgrad.reading.sources import SourcesError
from aclgrad.running import operator_call
from aclgrad.running.operand_words import Tensors
from aclgrad.runtime.device import Device
from aclgrad.spec import dtypes
from aclgrad.spec.definition import Definition, Value


def with_definition(
    found: tuple[Finding, ...],
    device: Device,
    builder: operator_build.Builder,
    op: Definition,
    row: Sequence[str],
    inputs: Sequence[Tensors],
    attrs: Mapping[str, Value],
) -> tuple[Finding, ...]:
    """Findings, where an error also has the line of a kernel whose parameters are in another order
    than the definition's, and one about an output the line that declares its dtype, where dtype
    inference gives another one.
    """
    # A package that has travelled to another machine came without its sources.
    if not isinstance(builder, operator_build.Builder) or not any(
        one.severity == ERROR for one in found
    ):
        return found
    order = _order(builder, op)
    # Inference runs again only for errors about outputs: it may itself be what failed.
    names = {item.name for item in op.outputs}
    asked = any(one.severity == ERROR and one.buffer in names for one in found)
    dtypes_of = _declared(device, builder, op, row, inputs, attrs) if asked else {}

    def explained(item: Finding) -> Finding:
        if item.severity != ERROR:
            return item
        places = (*order, *dtypes_of.get(item.buffer, ()))
        return dataclasses.replace(item, related=(*item.related, *places))

    return tuple(explained(item) for item in found)


def _order(builder: operator_build.Builder, op: Definition) -> tuple[Place, ...]:
    """The entry of a kernel that has the definition's parameters in another order."""
    try:
        source = builder.kernel_source(op)
    except SourcesError:  # an installed package
        return ()
    text = text_of(source)
    declared = tuple(item.name for item in (*op.inputs, *op.outputs))
    for entry in entries(text).values():
        taken = tuple(name for name in entry.params if name in declared)
        at = re.search(rf"\b{entry.name}\s*\(", text)
        if at is None or taken == declared or sorted(taken) != sorted(declared):
            continue
        note = f"takes {', '.join(taken)}, where the definition has {', '.join(declared)}"
        line = text.count("\n", 0, at.start()) + 1
        shown = text.splitlines()[line - 1].strip()
        return (Place("", entry.name, note, str(source), line, shown),)
    return ()


def _declared(
    device: Device,
    builder: operator_build.Builder,
    op: Definition,
    row: Sequence[str],
    inputs: Sequence[Tensors],
    attrs: Mapping[str, Value],
) -> dict[str, tuple[Place, ...]]:
    """Outputs of another dtype than inference gives, with the line of their DataType list."""
    if not op.infer_data_type or any(item.kind == "dynamic" for item in op.outputs):
        return {}
    counts = [1] * len(op.outputs)
    inferred = operator_call.infer(device, builder.host_library, op, inputs, attrs, counts)
    places: dict[str, tuple[Place, ...]] = {}
    for item, word, param in zip(op.outputs, row[len(op.inputs) :], inferred, strict=True):
        declared = dtypes.by_label(word.removeprefix("DT_"))
        given = dtypes.by_acl(param[0][1]) if param else declared
        if given is None or given == declared:
            continue
        where = dtypes_place(builder.sources, op.type, "output", item)
        if not where:
            continue
        file, _, line = where.rpartition(":")
        text = text_of(Path(file)).splitlines()[int(line) - 1].strip()
        note = f"says {declared.name}, where dtype inference gives {given.name}"
        places[item.name] = (Place("", "definition", note, file, int(line), text),)
    return places
