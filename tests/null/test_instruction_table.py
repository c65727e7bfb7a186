# SPDX-License-Identifier: Apache-2.0
"""instructions.def: what Python reads of it is what the compiler reads."""

from __future__ import annotations

import re
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SIMULATOR = ROOT / "simulator" / "src"
sys.path.insert(0, str(SIMULATOR))

import instruction_table  # noqa: E402
from instruction_table import REDUCTIONS, SETS, SETS_950, Row, rows  # noqa: E402


def preprocessed(text: str) -> str:
    """A macro of lanes.cpp with the macros that it uses, in their place."""
    macros = dict(
        re.findall(r"#define ACLSIM_ROWS_(\w+)\(row, fn\)((?:.*\\\n)*.*)", text),
    )
    for name in SETS:
        for other, body in macros.items():
            macros[name] = macros[name].replace(f"ACLSIM_ROWS_{other}(row, fn)", body)
    return "\n".join(f"{name}: {macros[name]}" for name in SETS)


def test_sets_are_those_of_the_sources() -> None:
    """Words of the dtype columns mean the same in Python as in C++."""
    found = preprocessed((SIMULATOR / "device/lanes.cpp").read_text(encoding="utf-8"))
    for name, line in zip(SETS, re.split(r"^\w+: ", found, flags=re.M)[1:], strict=True):
        listed = [word.lower() for word in re.findall(r"DType::k(\w+)", line)]
        assert sorted(listed) == sorted(SETS[name].split()), name
    text = (SIMULATOR / "device/dtype_sets.h").read_text(encoding="utf-8")
    constants: dict[str, set[str]] = {}
    for name, value in re.findall(r"constexpr uint32_t (k\w+) =\s+(DTypes[^;]*|k[^;]*);", text):
        constants[name] = {word.lower() for word in re.findall(r"DType::k(\w+)", value)}
        for other in re.findall(r"(?<!::)\bk[A-Z]\w*", value):
            constants[name] |= constants[other]
    for name, words in SETS_950.items():
        assert constants[name] == set(words.split()), name


def test_rows_are_read_as_they_stand() -> None:
    (row,) = rows('ACLSIM_UNARY(Abs, FLOATS, DTypes({kInt16, kInt32}) | kB64, 0, "vabs", "a/b.md")')
    assert row == Row(
        "UNARY", "Abs", ("FLOATS", "DTypes({kInt16, kInt32}) | kB64", "0", "vabs", "a/b.md")
    )
    assert row.dtypes == ("float", "half")
    assert row.dtypes_950() == ("int16", "int32", "int64", "uint64")
    assert row.dtypes_950(by_count=True) == ()
    (own,) = rows('ACLSIM_SCALAR_OWN_FORMS(Axpy, FLOATS, kReals, kB64, "vaxpy", "c.md")')
    assert (own.form, own.own_forms, own.chain) == ("SCALAR", True, ("vaxpy",))


def test_every_row_is_whole() -> None:
    """Each line with a macro is a row, no call stands there twice, and pages are pages."""
    text = instruction_table.DEFINITIONS.read_text(encoding="utf-8")
    table = rows()
    assert len(table) == len(re.findall(r"^ACLSIM_", text, flags=re.M))
    forms = {"FUNCTION", "LEVELS", *REDUCTIONS}
    calls = [row.name for row in table if row.elementwise or row.form in forms]
    assert [name for name, count in Counter(calls).items() if count > 1] == []
    assert len(calls) > 150
    for row in table:
        if row.elementwise:
            assert len(row.arguments) == 5, row
            assert row.page.endswith(f"/{row.name}.md"), row


def test_reductions_are_rows() -> None:
    """Each has an operation, a cost and a page; the kernel of their tests calls each."""
    (row,) = rows('ACLSIM_EXTREME(ReduceMax, Max, "vcmax", "a/ReduceMax.md")')
    assert (row.arguments[0], row.chain, row.page) == ("Max", (), "a/ReduceMax.md")
    assert instruction_table.levels([row]) == {"ReduceMax": "vcmax"}
    (row,) = rows('ACLSIM_WHOLE_REDUCE(WholeReduceSum, Sum, "vcadd", "a/ReduceRepeat.md")')
    assert (row.chain, row.page) == (("vcadd",), "a/ReduceRepeat.md")
    kernel = (ROOT / "tests/sim/instructions/reduce.cpp").read_text(encoding="utf-8")
    called = set(re.findall(r"_FORMS\((\w+)[,)]", kernel))
    listed = {row.name for row in rows() if row.form in REDUCTIONS}
    assert len(listed) >= 8 and listed - called == set(), "add a case to reduce.cpp"
    whole = {row.arguments[0] for row in rows() if row.form == "WHOLE_REDUCE"}
    assert {row.arguments[0] for row in rows() if row.form in REDUCTIONS} <= whole
