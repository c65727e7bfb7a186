# SPDX-License-Identifier: Apache-2.0
"""costs.json as the tables of costs.cpp."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import instruction_table

OFFICIAL = Path(__file__).resolve().parent / "official.json"
DTYPES = (
    *("float", "half", "bfloat16", "int8", "uint8", "int16", "uint16"),
    *("int32", "uint32", "int64", "uint64", "bool", "double"),
)  # in the order of DType
CALIBRATED = ("float", "half")  # what boards and other simulators have timed
WITHIN = 0.05
REPEAT = 256  # bytes

EVIDENCE = ("board", "official", "fitted", "simulator", "assumed", "extrapolated")
COPY_FIELDS = ("readLatency", "missLatency", "writeLatency", "leastCycles", "window")
COPY_FACTORS = (
    *("unaligned", "alignment", "sameLine", "requestBytes"),
    *("writeBack", "earlyWriteBack", "smallCopy"),
    *("ubBlock", "l1Row", "lineTurn", "atomicTurn", "besideVector"),
)
CURVES = ("readHit", "readMiss", "write")
MOST_INSTRUCTIONS = 40
UNITS = ("ports", "onePort", "load", "store", "barrier")
SCALAR = (
    *("start", "buffer", "cold", "coldFunction"),
    *("issue", "sync", "queue", "queueOut", "access", "gmMiss", "gmHit"),
    *("meet", "meetInGm", "mark"),
)
FUNCTION_TIMES = (
    "head",
    "drain",
    "queue",
    "dispatch",
    "ports",
    "ubAccesses",
    "ubWrites",
    "turn",
    "loop",
    "between",
)


def width(dtype: str) -> float:
    """Bytes of an element: of int16 2, of b32 4."""
    named = {"half": 2, "float": 4}
    found = re.search(r"\d+", dtype)
    return named[dtype] if dtype in named else int(found.group()) / 8 if found else 1


def asked_of(name: str, dtypes: str, rate: Any) -> float:
    """Cycles of a repeat, or of a register, that the official table asks."""
    if dtypes == "cycles":
        return float(rate)
    rate = rate[0] / rate[1] if isinstance(rate, list) else rate
    bytes_of = {"Sort32": 8, "MrgSort": 8}  # an element and its index
    widest = bytes_of.get(name, max(width(dtype) for dtype in dtypes.split(">")))
    repeat = 2 * REPEAT if name == "TransDataTo5HD" else REPEAT  # 16 rows of 32 bytes
    return float(repeat / widest / rate)


def dtypes_of(data: dict[str, Any], arch: str, row: list[Any], names: set[str]) -> int:
    """The types that a row's cost is known for, as bits: those that were timed, and those for
    which the official table asks no more.
    """
    known = set(CALIBRATED)
    for name in names:
        for dtypes, rate in data.get(arch, {}).get(name, {}).items():
            each = dtypes.split(">")
            if dtypes == "table" or not set(each) <= set(DTYPES):
                continue
            wide = max(width(dtype) for dtype in each) >= 4
            if asked_of(name, dtypes, rate) <= row[0 if wide else 1] * (1 + WITHIN):
                known |= set(each)
    return sum(1 << DTYPES.index(dtype) for dtype in known)


def evidence(word: str) -> str:
    """The enumerator of an evidence class."""
    if word not in EVIDENCE:
        raise ValueError(f"costs.json: evidence {word}, want one of {', '.join(EVIDENCE)}")
    return f"Evidence::k{word.capitalize()}"


def rows(name: str, lines: list[str], kind: str) -> str:
    """A constant table."""
    return (
        f"const {kind} {name}[] = {{\n" + "".join(f"    {{{line}}},\n" for line in lines) + "};\n"
    )


def table(data: dict[str, Any], calls: Sequence[instruction_table.Row] | None = None) -> str:
    """All tables, in the order of costs.cpp; ``calls``: other rows than those of
    instructions.def.
    """
    listed = list(calls or instruction_table.rows())
    of_functions, of_levels = instruction_table.functions(listed), instruction_table.levels(listed)
    known = data["instructions"]["2201"]
    official = json.loads(OFFICIAL.read_text(encoding="utf-8"))
    single: dict[str, set[str]] = {}  # functions that are one instruction
    for name, chain in of_functions.items():
        if len(chain) == 1:
            single.setdefault(chain[0], set()).add(name)
    instructions = [
        f'{arch}, "{name}", {row[0]}, {row[1]}, {row[2]}, {row[3]}, {evidence(row[4])},'
        f" {dtypes_of(official, arch, row, single.get(name, set()))}"
        for arch, named in data["instructions"].items()
        for name, row in named.items()
    ]
    functions = []
    everywhere = [("0", name, chain) for name, chain in {**of_functions, **of_levels}.items()]
    own = [(arch, *one) for arch, named in data["functionsOf"].items() for one in named.items()]
    for arch, name, chain in own + everywhere:
        repeated = name in of_levels
        chain = [chain] if repeated else chain
        for word in chain:
            if word not in known:
                raise ValueError(f"instructions.def: {name} is made of {word}, which has no cost")
        if len(chain) > MOST_INSTRUCTIONS:
            raise ValueError(
                f"instructions.def: {name} has more than {MOST_INSTRUCTIONS} instructions"
            )
        words = ", ".join(f'"{word}"' for word in chain)
        functions.append(f'{arch}, "{name}", {"true" if repeated else "false"}, {{{words}}}')
    copies = []
    for arch, law in data["copies"].items():
        curves = ", ".join(
            "{" + ", ".join(f"{{{point[0]}, {point[1]}}}" for point in law[curve]) + "}"
            for curve in CURVES
        )
        fields = ", ".join(str(law[name]) for name in (*COPY_FIELDS, *COPY_FACTORS))
        copies.append(f"{arch}, {fields}, {curves}, {evidence(law['evidence'])}")
    archs = [
        f"{arch}, {row['memoryFactor']}, {row['l2BytesPerSecond']}, {row['launchMicroseconds']},"
        f" {row['startCycles']}, {{{', '.join(map(str, row['band']))}}},"
        f" {evidence(row['evidence'])}"
        for arch, row in data["archs"].items()
    ]
    memory = [f'"{name}", {value}.0' for name, value in data["memoryBytesPerSecond"].items()]
    scalar = [
        f"{arch}, {{{', '.join(str(row[word]) for word in SCALAR)}, {evidence(row['evidence'])}}}"
        for arch, row in data["scalar"].items()
    ]
    of_vector = ", ".join(
        str(data["vector"][word])
        for word in ("leastCycles", "partialRepeat", "sharedGroups", "someRepeats", "readWrite")
    )
    registers = []
    for arch, named in data["registers"].items():
        for name, row in named.items():
            if row[4] not in UNITS:
                raise ValueError(f"costs.json: {name} runs in {row[4]}")
            unit = f"RegisterUnit::k{row[4][0].upper()}{row[4][1:]}"
            integers = data["registerIntegers"][arch].get(name, 1)
            numbers = ", ".join(map(str, (*row[:4], integers)))
            registers.append(f'{arch}, "{name}", {{{numbers}, {unit}, true, {evidence(row[5])}}}')
    function = data["vectorFunction"]
    of_function = ", ".join(str(function[word]) for word in FUNCTION_TIMES)
    return (
        rows("kInstructions", instructions, "InstructionRow")
        + rows("kFunctions", functions, "FunctionRow")
        + rows("kCopies", copies, "CopyRow")
        + rows("kArchs", archs, "ArchRow")
        + rows("kMemory", memory, "MemoryRow")
        + rows("kRegisters", registers, "RegisterRow")
        + f"const FunctionTimes kFunctionTimes = {{{of_function},"
        + f" {evidence(function['evidence'])}}};\n"
        + rows("kScalar", scalar, "ScalarRow")
        + f"const VectorCosts kVectorCosts = {{{of_vector}}};\n"
    )
