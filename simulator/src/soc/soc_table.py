# SPDX-License-Identifier: Apache-2.0
"""soc.json as the initialisers of soc.cpp's table."""

from __future__ import annotations

import json
from typing import Any

FIELDS = (
    *("name", "shortName", "npuArch", "cceAicore", "aicCores", "aivCores", "vecFreqMhz"),
    *("ubBytes", "ubReservedBytes", "ubTilingBytes"),
    *("l2Bytes", "memBytes", "l2Rate", "memRate", "fixpipeTablesBytes"),
    *("dataCopyPad", "bf16", "coupled"),
)
SPACES = ("UB", "L1", "L0A", "L0B", "L0C", "BT", "FB", "MXA", "MXB", "INDEX")
"""As the enum of soc.h, behind GM."""


def vector_cores(row: dict[str, Any]) -> int:
    """Cores that one launch of a vector kernel is spread over.

    910 has no vector cores of their own: the vector unit is part of the AI core. 310P has both
    kinds, and both have a UB of their own; a kernel runs on the AI cores unless it asks for both,
    so block dimensions are counted in AI cores there.
    """
    if row["vecCores"] == 0 or row["npuArch"] == 2002:
        return int(row["aicCores"])
    return int(row["vecCores"])


def literal(value: object) -> str:
    """C++ literal; null (a fact that the source does not state) is 0."""
    if value is None:
        return "0"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value)
    return str(value)


def spaces(row: dict[str, Any], aligns: dict[str, int]) -> str:
    """Size and alignment of each address space; GM has the SoC's memory and no size of a core."""
    rows = [(row[f"{name.lower()}Bytes"], aligns[name]) for name in SPACES]
    return "{{{0, 1}, " + ", ".join(f"{{{literal(size)}, {align}}}" for size, align in rows) + "}}"


def matrix(row: dict[str, Any]) -> str:
    """The matrix unit. A memory's ways are a bit for each one that copies from it reach."""
    facts = row["matrix"]
    names = ("GM", *SPACES)
    ways = [0] * len(names)
    for way in facts["ways"]:
        source, target = (names.index(name) for name in way.split())
        ways[source] |= 1 << target
    products, scaled = (
        ", ".join(
            "{" + ", ".join(f'"{name}"' for name in product.split()) + "}"
            for product in facts.get(kind, ())
        )
        for kind in ("products", "scaledProducts")
    )
    lacks, unsimulated, types = (
        ", ".join(json.dumps(name) for name in facts.get(kind, ()))
        for kind in ("lacks", "unsimulated", "tableTypes")
    )
    return (
        f"{{.nzA = {literal(facts['l0a'] == 'NZ')}, .tableBlock = {literal(facts['tableBlock'])}, "
        f".tableTypes = {{{types}}}, .floatK = {literal(facts['floatK'])}, "
        f".ways = {{{', '.join(map(str, ways))}}}, "
        f".lacks = {{{lacks}}}, .unsimulated = {{{unsimulated}}}, .products = {{{products}}}, "
        f".scaledProducts = {{{scaled}}}}}"
    )


def intrinsics(row: dict[str, Any]) -> str:
    """What tiling is told of the matrix unit: names and types."""
    found = row["intrinsics"].items()
    return "{" + ", ".join(f'{{"Intrinsic_{name}", "{types}"}}' for name, types in found) + "}"


def table(data: dict[str, Any]) -> str:
    """One designated initialiser per SoC, in the order of soc.h."""
    lines = [f"// {data['source']}"]
    seen: set[str] = set()
    for values in data["socs"]:
        row = dict(zip(data["columns"], values, strict=True))
        if row["name"] in seen:
            raise ValueError(f"soc.json: {row['name']} is listed twice")
        seen.add(row["name"])
        row |= data["archs"][str(row["npuArch"])]
        row["aivCores"] = vector_cores(row)
        fields = [f".{field} = {literal(row[field])}" for field in FIELDS]
        fields.append(f".matrix = {matrix(row)}")
        fields.append(f".intrinsics = {intrinsics(row)}")
        fields.append(f".spaces = {spaces(row, data['aligns'])}")
        lines.append("{" + ", ".join(fields) + "},")
    return "\n".join(lines) + "\n"
