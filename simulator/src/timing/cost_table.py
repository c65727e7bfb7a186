# SPDX-License-Identifier: Apache-2.0
"""costs.json as the tables of costs.cpp."""

from __future__ import annotations

from typing import Any

EVIDENCE = ("board", "official", "fitted", "simulator", "assumed", "extrapolated")
COPY_FIELDS = ("readLatency", "missLatency", "writeLatency", "leastCycles", "window")
COPY_FACTORS = (
    *("unaligned", "alignment", "sameLine", "requestBytes"),
    *("writeBack", "earlyWriteBack", "smallCopy"),
    *("ubBlock", "lineTurn", "besideVector"),
)
CURVES = ("readHit", "readMiss", "write")
MOST_INSTRUCTIONS = 32
UNITS = ("ports", "onePort", "load", "store", "barrier")
SCALAR = (
    *("start", "buffer", "cold", "coldFunction"),
    *("issue", "sync", "queue", "access", "gmMiss", "gmHit", "meet", "mark"),
)
FUNCTION_TIMES = ("head", "drain", "queue", "dispatch", "ports", "ubAccesses", "ubWrites", "turn", "loop", "between")


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


def table(data: dict[str, Any]) -> str:
    """All tables, in the order of costs.cpp."""
    known = data["instructions"]["2201"]
    instructions = [
        f'{arch}, "{name}", {row[0]}, {row[1]}, {row[2]}, {row[3]}, {evidence(row[4])}'
        for arch, named in data["instructions"].items()
        for name, row in named.items()
    ]
    functions = []
    for name, chain in [*data["functions"].items(), *data["levels"].items()]:
        levels = name in data["levels"]
        chain = [chain] if levels else chain
        for word in chain:
            if word not in known:
                raise ValueError(f"costs.json: {name} is made of {word}, which has no cost")
        if len(chain) > MOST_INSTRUCTIONS:
            raise ValueError(f"costs.json: {name} has more than {MOST_INSTRUCTIONS} instructions")
        words = ", ".join(f'"{word}"' for word in chain)
        functions.append(f'"{name}", {"true" if levels else "false"}, {{{words}}}')
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
