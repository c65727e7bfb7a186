# SPDX-License-Identifier: Apache-2.0
"""Every function of the device API has a cost, or stands in a list of those that need none."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[3]
SIMULATOR = ROOT / "simulator" / "src"
sys.path.insert(0, str(SIMULATOR))

import instruction_table  # noqa: E402

from timing import cost_table  # noqa: E402

# Copies of GM are timed by their bytes, those into TSCM are the AIC's; the others run on the scalar
# pipe or not at all.
UNCOSTED = {
    "DataCopy (DN to NZ)",
    "DataCopy (GM to L1)",
    "DataCopy (GM to TSCM)",
    "DataCopy (GM to UB)",
    "DataCopy (L1 to GM)",
    "DataCopy (L1 to a table)",
    "DataCopy (ND to NZ into TSCM)",
    "DataCopy (ND to NZ)",
    "DataCopy (ND to NZ, UB to TSCM)",
    "DataCopy (dimensions)",
    "DataCopy (UB to GM)",
    "DataCopy (UB to TSCM)",
    "DataCopyPad (GM to L1)",
    "DataCopyPad (GM to UB)",
    "DataCopyPad (L1 to GM)",
    "DataCopyPad (UB to GM)",
    "DumpTensor",
    "asc_dump",
    "Fixpipe (L0C to GM)",
    "GetAccVal",
    "GetMrgSortResult",
    "GetReduceRepeatMaxMinSpr",
    "IBSet",
    "IBWait",
    "InitDetermineComputeWorkspace",
    "LoadData",
    "LoadData (GM to L0A)",
    "LoadData (GM to L0B)",
    "LoadData (GM to L1)",
    "LoadData (feature map)",
    "LoadDataWithTranspose",
    "Matmul",
    "NotifyNextBlock",
    "ReadGmByPassDCache",
    "SetFixPipeConfig",
    "SetFixpipeNz2ndFlag",
    "SetFixpipePreQuantFlag",
    "SetFmatrix",
    "SetLoadDataBoundary",
    "SetLoadDataPaddingValue",
    "SetLoadDataRepeat",
    "SetLoadDataRepeatWithStride",
    "SetVectorMask",
    "WaitPreBlock",
    "WriteGmByPassDCache",
    "vector function",
}

_NAME = re.compile(r'"([^"]+)"')
_ASSIGNED = re.compile(r"\binstruction =\s+([^;]+);")
_ARRAY = re.compile(r"\b(k\w*Names)\[\]\s*=\s*\{([^}]*)\}")
_ROW = re.compile(r'(?:Row|Floats)(?:<[^>]*>)?\(\s*"(\w+)"')


def _listed(array: str) -> set[str]:
    """Names of an array: as they stand there, and those of instructions.def."""
    forms = set(re.findall(r"#define ACLSIM_(\w+)", array))
    table = {
        row.arguments[0] if row.form == "SCALAR_VARIANT" else row.name
        for row in instruction_table.rows()
        if row.form in forms
    }
    return set(_NAME.findall(array)) - {"ascendc/instructions.def"} | table


def names_in(source: str) -> set[str]:
    """Names that a source file of the device API gives its instructions."""
    arrays = {name: _listed(text) for name, text in _ARRAY.findall(source)}
    names = set(_ROW.findall(source))
    for value in _ASSIGNED.findall(source):
        names |= set(_NAME.findall(value))
        for array in re.findall(r"k\w*Names", value):
            names |= arrays[array]
    return names


def all_names() -> set[str]:
    """Those of all files."""
    found: set[str] = set()
    for path in sorted((SIMULATOR / "device").glob("*.cpp")):
        found |= names_in(path.read_text(encoding="utf-8"))
    return found


def costed() -> set[str]:
    """Functions with a cost."""
    table = instruction_table.rows()
    return {*instruction_table.functions(table), *instruction_table.levels(table)}


def missing(names: set[str]) -> set[str]:
    """Names that have neither a cost nor a place in the list."""
    return names - costed() - UNCOSTED


def test_names_are_found() -> None:
    names = all_names()
    assert {"Add", "WholeReduceSum", "Sigmoid", "SoftMax", "DataCopy (UB to UB)"} <= names
    assert len(names) > 100


def test_every_function_has_a_cost() -> None:
    assert missing(all_names()) == set()


def register_names(source: str) -> set[str]:
    """Instructions of vector functions that a source has."""
    found = set(re.findall(r'InFunction\("(\w+)"', source))
    for words in re.findall(r"constexpr const char\* k\w*Names\[\] = \{(.*?)\};", source, re.S):
        found |= set(re.findall(r'"(\w+)"', words))
    for row in instruction_table.rows():
        if row.form == "REG_BINARY_OP" and "ACLSIM_REG_BINARY_OP" in source:
            found |= {row.name, row.arguments[1]}
        elif row.form == "REG_UNARY_OP" and "ACLSIM_REG_UNARY_OP" in source:
            found.add(row.arguments[0])
    return found


def test_every_register_instruction_has_a_cost() -> None:
    data = json.loads((SIMULATOR / "timing" / "costs.json").read_text(encoding="utf-8"))
    names: set[str] = set()
    for path in sorted((SIMULATOR / "device").glob("reg_*.cpp")):
        names |= register_names(path.read_text(encoding="utf-8"))
    costs = set(data["registers"]["3510"])
    assert {"Add", "LoadAlign", "MaskAnd", "Adds"} <= names
    assert names <= costs, names - costs
    assert costs <= names | {"ReduceSum", "ReduceMax", "ReduceMin"}, costs - names
    assert register_names('InFunction("Frobnicate")') == {"Frobnicate"}


def facts(name: str) -> dict[str, Any]:
    """costs.json, or official.json."""
    data: dict[str, Any] = json.loads((SIMULATOR / "timing" / name).read_text(encoding="utf-8"))
    return data


def against_official(costs: dict[str, Any]) -> dict[str, str]:
    """Where costs are more than 5 % off the official tables: by instruction, what they have."""
    found: dict[str, str] = {}
    functions = instruction_table.functions(instruction_table.rows())
    official = facts("official.json")
    for name, row in official["2201"].items():
        chain = functions.get(name, [])
        if len(chain) != 1:
            continue
        for dtypes, rate in row.items():
            if dtypes == "table":
                continue
            want = cost_table.asked_of(name, dtypes, rate)
            wide = max(cost_table.width(dtype) for dtype in dtypes.split(">")) >= 4
            have = costs["instructions"]["2201"][chain[0]][0 if wide else 1]
            if abs(have / want - 1) > cost_table.WITHIN + 1e-9:
                found[chain[0]] = f"{name} of {dtypes}: {have} cycles a repeat, the table {want:g}"
    for name, row in official["3510"].items():
        known = costs["registers"]["3510"].get(name)
        if known is None:
            continue
        for dtypes, rate in row.items():
            if dtypes == "table":
                continue
            want = cost_table.asked_of(name, dtypes, rate)
            wide = dtypes == "cycles" or cost_table.width(dtypes.split(">")[0]) >= 4
            integer = any("int" in dtype for dtype in dtypes.split(">"))
            factor = costs["registerIntegers"]["3510"].get(name, 1) if integer else 1
            have = known[2 if wide else 3] * factor
            if abs(have / want - 1) > cost_table.WITHIN + 1e-9:
                found[name] = f"{name} of {dtypes}: {have} cycles a register, the table {want:g}"
    return found


def test_costs_are_the_official_ones_or_name_what_speaks_against_them() -> None:
    costs = facts("costs.json")
    rows = {**costs["instructions"]["2201"], **costs["registers"]["3510"]}
    off = against_official(costs)
    against = {name for name, row in rows.items() if ", against the " in row[-1]}
    assert set(off) == against, {name: off.get(name) for name in set(off) ^ against}
    assert all(rows[name][-3] == "board" for name in off)


def test_costs_that_leave_the_official_table_are_found() -> None:
    costs = facts("costs.json")
    costs["instructions"]["2201"]["vsel"][0] = 2
    costs["registers"]["3510"]["Squeeze"][2] = 1
    assert {"vdiv", "vsel", "Squeeze"} <= set(against_official(costs))


def unsourced(costs: dict[str, Any]) -> list[str]:
    """Numbers whose class, error or source is missing or unknown."""
    rows = {
        f"{group}.{arch}.{name}": row[-3:]
        for group in ("instructions", "registers")
        for arch, named in costs[group].items()
        for name, row in named.items()
    }
    wanted = {
        f"{group}.{arch}.{name}"
        for group in ("copies", "archs", "scalar", "functionsOf")
        for arch, named in costs[group].items()
        for name in named
    }
    wanted |= {f"{group}.{name}" for group in ("vector", "vectorFunction") for name in costs[group]}
    wanted |= {"memoryBytesPerSecond", "registerIntegers"}
    wanted = {name for name in wanted if name.rpartition(".")[2] not in ("evidence", "band")}
    found = sorted(wanted ^ set(costs["costs"]))
    for name, row in {**rows, **costs["costs"]}.items():
        kind, error, source = row[-3:]
        classes = ("board", "official", "fitted", "simulator", "assumed")
        known = isinstance(source, str) and source.split()[0].rstrip(":;") in costs["sources"]
        if kind not in classes or not isinstance(error, int | float) or error <= 0 or not known:
            found.append(f"{name}: {row}")
    return found


def test_every_cost_has_a_source_a_class_and_an_error() -> None:
    costs = facts("costs.json")
    assert unsourced(costs) == []
    costs["instructions"]["2201"]["vadd"][-1] = "hearsay"
    del costs["costs"]["scalar.3510.queue"]
    costs["copies"]["2201"]["newField"] = 1
    assert [line.partition(":")[0] for line in unsourced(costs)] == [
        *("copies.2201.newField", "scalar.3510.queue", "instructions.2201.vadd")
    ]


def test_a_row_is_known_for_the_types_that_it_was_timed_for() -> None:
    official = facts("official.json")

    def known(arch: str, row: list[Any], name: str) -> set[str]:
        bits = cost_table.dtypes_of(official, arch, row, {name})
        return {dtype for at, dtype in enumerate(cost_table.DTYPES) if bits >> at & 1}

    assert known("2201", [1, 1], "Add") == {"float", "half", "int16", "int32"}
    assert known("2201", [1, 1], "Nothing") == {"float", "half"}
    assert "int32" in known("3510", [2, 2], "Add")
    assert "int32" not in known("3510", [1.25, 1.25], "Adds")  # the table asks for 2 cycles


def test_nothing_is_listed_for_nothing() -> None:
    assert all_names() >= UNCOSTED
    assert not UNCOSTED & costed()
    assert costed() <= all_names()


@pytest.mark.parametrize(
    "source",
    [
        'core.instruction = "Frobnicate";',
        'constexpr const char* kNewNames[] = {"Add", "Frobnicate"};\n'
        "core.instruction = kNewNames[i];",
        'at(High::kNew) = Row<float>("Frobnicate", ACLSIM_OF_A(a));',
        'core.instruction = many ? "Frobnicate" : "Add";',
    ],
)
def test_a_new_function_is_noticed(source: str) -> None:
    assert missing(names_in(source)) == {"Frobnicate"}


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """timing_parts.cpp with a table of costs that lacks one function."""
    folder = tmp_path_factory.mktemp("parts")
    costs = json.loads((SIMULATOR / "timing" / "costs.json").read_text(encoding="utf-8"))
    rows = [row for row in instruction_table.rows() if row.name != "Relu"]
    (folder / "cost_table.inc").write_text(cost_table.table(costs, rows), encoding="utf-8")
    command = ["g++", "-std=c++20", "-O1", "-Wall", "-Wextra", "-Werror", f"-I{folder}"]
    command += [f"-I{SIMULATOR}", f"-I{ROOT / 'simulator' / 'include'}"]
    command += [str(Path(__file__).with_name("timing_parts.cpp"))]
    command += [str(SIMULATOR / "timing" / "costs.cpp"), "-o", str(folder / "parts")]
    subprocess.run(command, check=True)
    return folder / "parts"


def test_a_function_without_a_cost_is_known_as_such(parts: Path) -> None:
    run = subprocess.run(
        [str(parts), "Relu", "Add", "Sigmoid"], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stdout
    assert run.stdout.splitlines() == [
        "2201 Relu unknown assumed",
        "2201 Add known board",
        "2201 Sigmoid known assumed",
        "3510 Relu unknown assumed",
        "3510 Add known fitted",
        "3510 Sigmoid known assumed",
        "1001 Relu unknown assumed",
        "1001 Add known extrapolated",
        "1001 Sigmoid known extrapolated",
    ]


def test_bandwidth_is_shared_to_the_last_bit(toolkit: Path, tmp_path: Path) -> None:
    """On every instruction set of this host: a result must not depend on where it was made."""
    command = ["g++", "-std=c++20", "-O2", "-Wall", "-Wextra", "-Werror", f"-I{SIMULATOR}"]
    command += [str(Path(__file__).with_name("timing_shares.cpp")), "-o", str(tmp_path / "shares")]
    command += [f"-L{toolkit}/lib64", "-lascendcl", f"-Wl,-rpath,{toolkit}/lib64"]
    subprocess.run(command, check=True)
    run = subprocess.run([str(tmp_path / "shares")], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout


@pytest.mark.parametrize(
    ("chain", "word"), [("vnothing", "vnothing"), ("vadd " * 41, "more than 40")]
)
def test_bad_chains_are_refused(chain: str, word: str) -> None:
    rows = [*instruction_table.rows(), instruction_table.Row("COST", "Another", (chain,))]
    with pytest.raises(ValueError, match=word):
        cost_table.table(facts("costs.json"), rows)


@pytest.mark.parametrize(
    ("wrong", "word"),
    [
        ({"instructions": {"2201": {"vadd": [1, 1, 1, 1, "hearsay"]}}}, "hearsay"),
    ],
)
def test_bad_costs_are_refused(wrong: dict[str, Any], word: str, tmp_path: Path) -> None:
    costs = json.loads((SIMULATOR / "timing" / "costs.json").read_text(encoding="utf-8"))
    for part, rows in wrong.items():
        for name, row in rows.items():
            if isinstance(row, dict):
                costs[part][name].update(row)
            else:
                costs[part][name] = row
    (tmp_path / "costs.json").write_text(json.dumps(costs), encoding="utf-8")
    make = [sys.executable, str(SIMULATOR / "make_table.py")]
    run = subprocess.run(
        [*make, str(tmp_path / "costs.json"), str(tmp_path / "cost_table.inc")],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert run.returncode == 1
    assert word in run.stderr
