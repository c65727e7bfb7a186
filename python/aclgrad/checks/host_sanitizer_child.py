# SPDX-License-Identifier: Apache-2.0
"""The process of ``--sanitize-host`` that runs the instrumented library:
``python -m aclgrad.checks.host_sanitizer_child ASKED ANSWERS``.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from aclgrad.checks.host_sanitizer import MARK
from aclgrad.errors import AclnnError
from aclgrad.reading.sources import SourcesError
from aclgrad.running import operator_call
from aclgrad.running.operand_words import given_or_zero
from aclgrad.runtime import open_device
from aclgrad.runtime.device import Device
from aclgrad.runtime.host_functions import HostTensor, run_tiling
from aclgrad.spec import dtypes
from aclgrad.spec.definition import Definition, parse
from aclgrad.spec.dtypes import Array


def main(asked: Path, answers: Path) -> None:
    """Run inference and tiling of each case; a line of findings for each."""
    given = json.loads(asked.read_text())
    os.environ["ASCEND_CUSTOM_OPP_PATH"] = given["package"]
    device = open_device()
    device.set_option("soc", given["soc"])
    with answers.open("w") as out:
        for number, case in enumerate(given["cases"]):
            print(f"\n{MARK} {number}", file=sys.stderr, flush=True)
            device.clear_findings()
            # A refusal, or what the findings tell.
            with contextlib.suppress(AclnnError, SourcesError):
                _run(device, parse(given["op"]), Path(given["library"]), case)
            found = [dataclasses.asdict(item) for item in device.findings()]
            out.write(json.dumps(found) + "\n")
            out.flush()


def _run(device: Device, op: Definition, library: Path, case: Mapping[str, Any]) -> None:
    kinds = [dtypes.by_label(name.removeprefix("DT_")) for name in case["row"]]
    count = len(op.inputs)
    arrays = [[_array(tensor) for tensor in param] for param in case["inputs"]]
    longest = max(
        (len(p) for p, item in zip(arrays, op.inputs, strict=True) if item.kind == "dynamic"),
        default=1,
    )
    counts = [longest if item.kind == "dynamic" else 1 for item in op.outputs]
    shapes: Sequence[Sequence[tuple[tuple[int, ...], int]]] = []
    if op.outputs:
        shapes = operator_call.infer(device, library, op, arrays, case["attrs"], counts)
    reads = {*op.tiling_reads} | {
        index for index, item in enumerate(op.inputs) if item.value_depend
    }
    inputs: list[list[HostTensor]] = [
        [(a.shape, dtypes.of_array(a.dtype), a if index in reads else None) for a in param]
        for index, param in enumerate(arrays)
    ]
    outputs: list[list[HostTensor]] = [
        [(shape, kind, None) for shape, _ in param]
        for param, kind in zip(shapes, kinds[count:], strict=False)
    ]
    values = given_or_zero(op.attrs, case["attrs"])
    run_tiling(device.libraries, op.type, inputs, outputs, op.attrs, values)


def _array(tensor: Mapping[str, Any]) -> Array:
    numpy = dtypes.by_label(tensor["dtype"].removeprefix("DT_")).numpy
    if tensor["values"] is None:
        return np.broadcast_to(np.zeros((), numpy), tensor["shape"])
    return np.array(tensor["values"]).astype(numpy).reshape(tensor["shape"])


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
