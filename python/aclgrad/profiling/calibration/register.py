# SPDX-License-Identifier: Apache-2.0
"""What the simulator does not know: unknowns.json, and the values of costs.json that it names."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from aclgrad.errors import ToolkitError
from aclgrad.runtime.toolkit import sim_root

CURVES = ("readHit", "readMiss", "write")
CURVE_BYTES = 65536
_MEASURED = "2201"  # the architecture whose costs stand for those that have none


@dataclass(frozen=True)
class Choice:
    """A row of the register: what the simulator does where the documents leave it open."""

    id: str
    api: str
    what: str
    evidence: str
    probe: str | None
    depends: str
    chosen: str = ""
    alternatives: tuple[str, ...] = ()
    unasked: str = ""  # why there is no probe


@dataclass(frozen=True)
class Cost:
    """A row of the register: a number of the timing model, for one SoC."""

    id: str  # as ACLGRAD_CALIBRATION has it
    value: float
    unit: str
    what: str
    evidence: str
    probe: str | None
    depends: str
    unasked: str = ""  # why there is no probe


@dataclass(frozen=True)
class Constant:
    """A row of the register: a number or rule in the source of the timing model."""

    where: str
    value: float | str
    what: str
    evidence: str
    probe: str | None
    depends: str
    unasked: str = ""


def _facts(name: str) -> Path:
    return sim_root() / "share" / "aclgrad" / name


@cache
def _read(name: str) -> dict[str, Any]:
    path = _facts(name)
    try:
        data: dict[str, object] = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ToolkitError(f"{path}: {error.strerror}. Next: aclgrad build") from None
    return data


def unknowns() -> dict[str, Any]:
    """The whole register."""
    return _read("unknowns.json")


def digest() -> str:
    """What a file of a board was made against: register and costs."""
    both = b"".join(_facts(name).read_bytes() for name in ("unknowns.json", "costs.json"))
    return hashlib.sha256(both).hexdigest()[:16]


def socs() -> list[dict[str, Any]]:
    """The simulator's table of SoCs: name, npuArch, vecCores, l2Bytes, ubTilingBytes, ..."""
    data = _read("soc.json")
    rows = [dict(zip(data["columns"], row, strict=True)) for row in data["socs"]]
    return [
        {
            **row,
            **data["archs"][str(row["npuArch"])],
            "vecCores": row["vecCores"] or row["aicCores"],
        }
        for row in rows
    ]


def choices() -> list[Choice]:
    """All rows of choices."""
    return [
        Choice(**{**row, "alternatives": tuple(row.get("alternatives", ()))})
        for row in unknowns()["choices"]
    ]


def constants() -> list[Constant]:
    """All rows of constants."""
    return [Constant(**row) for row in unknowns()["constants"]]


def _on_curve(curve: list[list[float]], size: float) -> float:
    for (x0, y0), (x1, y1) in zip(curve, curve[1:], strict=False):
        if x0 <= size <= x1:
            return y0 + (y1 - y0) * (size - x0) / (x1 - x0)
    return curve[-1][1] * size / curve[-1][0]


def _value(name: str, arch: int, l2_bytes: int) -> tuple[float, str]:
    """The simulator's own value of a cost and its evidence."""
    data = _read("costs.json")
    group, *rest = name.split(".", 2 if name.startswith(("memory", "l2")) else -1)
    if group == "memory":
        return float(data["memoryBytesPerSecond"][rest[0]]), "documented"
    if group == "l2":
        return float(l2_bytes), "documented"
    if group in ("vector", "vectorFunction"):
        return float(data[group][rest[0]]), data[group]["evidence"]
    if group == "scalar":
        row = data["scalar"].get(str(arch)) or data["scalar"][_MEASURED]
        return float(row[rest[0]]), row["evidence"]
    if group == "chips":
        row = data["archs"].get(rest[0]) or data["archs"][_MEASURED]
        return float(row[rest[1]]), row["evidence"]
    if group == "copies":
        law = data["copies"].get(rest[0]) or data["copies"][_MEASURED]
        value = law[rest[1]]
        if rest[1] in CURVES:
            value = _on_curve(value, CURVE_BYTES)
        return float(value), law["evidence"]
    family, instruction, field = rest
    if group == "registers":
        row = data["registers"][family][instruction]
        return float(row[data["registerColumns"].index(field)]), row[5]
    own = data["instructions"].get(family, {}).get(instruction)
    row = own or data["instructions"][_MEASURED][instruction]
    values = {"repeat32": row[0], "repeat16": row[1], "wait": row[2] + row[3]}
    return float(values[field]), row[4] if own else "extrapolated"


def costs(soc: str, arch: int, l2_bytes: int) -> list[Cost]:
    """All rows of costs of a SoC, patterns written out."""
    found = []
    lacking = unknowns()["instructions"]
    instructions = sorted(_read("costs.json")["instructions"][_MEASURED])
    registers = sorted(_read("costs.json")["registers"].get(str(arch), {}))
    for row in unknowns()["costs"]:
        each = [""]
        if "{instruction}" in row["id"]:
            each = instructions
        elif "{register}" in row["id"]:
            each = registers
        elif row["id"].startswith("vectorFunction.") and not registers:
            continue
        for instruction in each:
            name = row["id"].format(
                arch=arch, soc=soc, instruction=instruction, register=instruction
            )
            value, evidence = _value(name, arch, l2_bytes)
            probe = row["probe"]
            lacks = lacking.get(instruction, {"fields": []})
            unasked = lacks["unasked"] if name.rpartition(".")[2] in lacks["fields"] else ""
            unasked = unasked or row.get("unasked", "")
            found.append(
                Cost(
                    name,
                    value,
                    row["unit"],
                    f"{instruction}: {row['what']}" if instruction else row["what"],
                    row["evidence"] if row["evidence"] != "costs.json" else evidence,
                    None if unasked else probe.format(instruction=instruction),
                    row["depends"],
                    unasked,
                )
            )
    return found
