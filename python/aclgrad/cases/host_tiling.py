# SPDX-License-Identifier: Apache-2.0
"""The tiling function of an operator that comes as sources, alone: without data or a launch."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import TypedDict

import numpy as np

from aclgrad.building.operator_build import Builder
from aclgrad.cases import matmul_words
from aclgrad.reading.sources import SourcesError, numpy_name
from aclgrad.running import operator_call
from aclgrad.running.isolation import first_reason, isolated
from aclgrad.running.operand_words import given_or_zero, parse_attrs
from aclgrad.runtime import soc_table
from aclgrad.runtime.device import Device
from aclgrad.runtime.host_functions import HostTensor, TilingPlan, run_tiling
from aclgrad.runtime.settings import Settings
from aclgrad.spec import dtypes
from aclgrad.spec.definition import Definition, Value
from aclgrad.spec.soc import full_name
from aclgrad.testing.user_data import parse_shape

_SECONDS = 120.0


class _Answer(TypedDict, total=False):
    plan: TilingPlan
    error: str


Described = tuple[tuple[int, ...], dtypes.DType]


def tiling_of(
    builder: Builder,
    op: Definition,
    soc: str,
    words: Sequence[str],
    dtype: str,
    attr_words: Sequence[str],
) -> TilingPlan:
    """What tiling decides for SHAPE[:DTYPE] words: one per input, or one for all of them."""
    inputs = _inputs(op, words, dtypes.parse(dtype))
    row = _row(op, builder.combinations(op), inputs)
    attrs = parse_attrs(op, attr_words)

    def work() -> Iterator[_Answer]:
        yield _run(builder, op, soc, row, inputs, attrs)

    # Inference and tiling are the user's code: what they end is a child.
    answer: _Answer = {}
    for said, ended in isolated(work, time.monotonic() + _SECONDS):
        if ended is not None:
            answer = answer or {"error": f"{ended[0]}: {ended[1]}"}
        elif said is not None:
            answer = said
    if "error" in answer:
        raise SourcesError(
            f"{op.type}: its tiling took none of it: {answer['error']}. Next: another shape, or"
            " --attr"
        )
    return answer["plan"]


def _inputs(op: Definition, words: Sequence[str], kind: dtypes.DType) -> list[Described | None]:
    given: list[Described] = []
    for word in words:
        text, _, name = word.partition(":")
        given.append((parse_shape(text), dtypes.parse(name) if name else kind))
    wanted = [item for item in op.inputs if item.kind != "optional"]
    if len(given) == 1:
        given *= max(len(wanted), 1)
        return [None if item.kind == "optional" else given[0] for item in op.inputs]
    if not len(wanted) <= len(given) <= len(op.inputs):
        names = " ".join(item.name for item in op.inputs)
        raise SourcesError(
            f"{op.type}: got {len(given)} shapes, want one for all or one for each of {names}"
        )
    rest = iter(given if len(given) == len(op.inputs) else [*given])
    every = len(given) == len(op.inputs)
    return [next(rest) if every or item.kind != "optional" else None for item in op.inputs]


def _row(
    op: Definition, rows: Sequence[tuple[str, ...]], inputs: Sequence[Described | None]
) -> tuple[str, ...]:
    """The dtype combination that a word's dtypes mean: exactly, or by the first input."""
    names = [item[1].ge if item else None for item in inputs]
    exact = [
        row
        for row in rows
        if all(own is None or own == want for own, want in zip(names, row, strict=False))
    ]
    same_first = [row for row in rows if row[:1] == tuple(names[:1])]
    if not exact and not same_first:
        offered = ", ".join(dict.fromkeys(numpy_name(row[0]) for row in rows if row))
        raise SourcesError(
            f"{op.type}: no kernel for {numpy_name(str(names[0]))}. Next: --dtype with"
            f" one of {offered}"
        )
    return (exact or same_first)[0]


def _run(
    builder: Builder,
    op: Definition,
    soc: str,
    row: Sequence[str],
    inputs: Sequence[Described | None],
    attrs: Mapping[str, Value],
) -> _Answer:
    os.environ["ASCEND_CUSTOM_OPP_PATH"] = str(builder.package)
    device = Settings(soc=soc).open()
    kinds = [dtypes.by_label(name.removeprefix("DT_")) for name in row]
    try:
        outputs = _outputs(builder, op, device, inputs, kinds, attrs)
        described: list[list[HostTensor]] = [
            [] if item is None else [(item[0], kind, None)]
            for item, kind in zip(inputs, kinds, strict=False)
        ]
        plan = run_tiling(
            device.libraries, op.type, described, outputs, op.attrs, given_or_zero(op.attrs, attrs)
        )
        fields = plan.get("tiling")
        if isinstance(fields, dict) and kinds:
            words = matmul_words.described(fields, kinds[0].numpy.itemsize, _memories(soc))
            if words:
                plan["matmul"] = words
        return {"plan": plan}
    except Exception as error:
        return {"error": first_reason(str(error))}


def _memories(soc: str) -> dict[str, int]:
    chip = full_name(soc)
    return {name: soc_table.number(chip, f"{name}Bytes") for name in ("l1", "l0a", "l0b", "l0c")}


def _outputs(
    builder: Builder,
    op: Definition,
    device: Device,
    inputs: Sequence[Described | None],
    kinds: Sequence[dtypes.DType],
    attrs: Mapping[str, Value],
) -> list[list[HostTensor]]:
    if not op.outputs:
        return []
    arrays = [
        [] if item is None else [np.broadcast_to(np.zeros((), kind.numpy), item[0])]
        for item, kind in zip(inputs, kinds, strict=False)
    ]
    shapes = operator_call.infer(
        device, builder.host_library, op, arrays, attrs, [1] * len(op.outputs)
    )
    return [
        [(param[0][0], kind, None)]
        for param, kind in zip(shapes, kinds[len(op.inputs) :], strict=True)
    ]
