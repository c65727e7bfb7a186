# SPDX-License-Identifier: Apache-2.0
"""All faults of a program's kernel in one program, for machines that have no day for a campaign:
the kernel stands there once for each fault, and each run launches one of them.

The settings of the runs and the judgement are those of a campaign. The program launches one kernel,
at one place, and its kernel's part lies between its first constant and ``#define CHECK``.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "python")]

from aclgrad.runtime.toolkit import sim_root  # noqa: E402
from mutation import faults, plant, verdict  # noqa: E402

SECONDS = 600.0
_FIRST, _BEHIND = "constexpr ", "#define CHECK"


def program_of(file: str, source: str, listed: list[faults.Fault]) -> str:
    """The program; its argument is the number of a fault, and 0 is the kernel as it is."""
    begin, end = source.index(_FIRST), source.index(_BEHIND)
    rest = len(source) - end
    planted = [fault.plant(source) for fault in listed]
    kernels = [source[begin:end], *(text[begin : len(text) - rest] for text in planted)]
    line = source[:begin].count("\n") + 1
    text = source[:begin]
    for number, kernel in enumerate(kernels):
        text += f'namespace f{number} {{\n#line {line} "{file}"\n{kernel}\n}}\n'
    host = source[end:]
    launch = re.search(r"(\w+)<<<(.*?)>>>\((.*?)\);", host, re.DOTALL)
    assert launch, file
    cases = ""
    for number in range(len(kernels)):
        shape = f"f{number}::Shape{{shape.m, shape.n, shape.k}}"
        arguments = re.sub(r"\bshape\b", shape, launch[3])
        call = f"f{number}::{launch[1]}<<<{launch[2]}>>>({arguments})"
        cases += f"case {number}: {call}; break;\n"
    host = f"{host[: launch.start()]}switch (which) {{\n{cases}}}{host[launch.end() :]}"
    host = host.replace(
        "int main() {", "int main(int, char** argv) {\n  which = std::atoi(argv[1]);"
    )
    shared = re.findall(r"\bconstexpr uint32_t (k\w+) =", source[begin:end])
    used = "".join(f"using f0::{name};\n" for name in shared if name in host)
    return f"{text}#include <cstdlib>\nstatic int which = 0;\nusing f0::Shape;\n{used}{host}"


def build(path: Path, listed: list[faults.Fault], folder: Path) -> Path:
    """Compile the program of all faults."""
    text, program = folder / f"{path.stem}_all.asc", folder / f"{path.stem}_all"
    text.write_text(program_of(path.name, path.read_text("utf-8"), listed), "utf-8")
    toolkit = sim_root()
    words = [toolkit / "bin" / "ascc", text, "-o", program, f"-L{toolkit}/lib64", "-lascendcl"]
    subprocess.run([*map(str, words), f"-Wl,-rpath,{toolkit}/lib64"], check=True)
    return program


def shown(program: Path, number: int, environment: dict[str, str]) -> verdict.Ran:
    """What one run says."""
    command = [str(program), str(number)]
    report = program.with_suffix(".jsonl")
    report.unlink(missing_ok=True)
    env = {**os.environ, **environment, "ACLGRAD_SIM_REPORT": str(report)}
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", check=False,
            timeout=SECONDS, env=env,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return verdict.Ran(-1, f"did not end within {SECONDS:g} s")
    told = report.read_text("utf-8").splitlines() if report.is_file() else []
    hints = (one for one in map(json.loads, told) if one["severity"] == "hint")
    text = "\n".join((done.stdout + done.stderr, *(one["text"] for one in hints)))
    found = tuple(verdict.faults_in(text)) if done.returncode else ()
    return verdict.Ran(done.returncode, text, found)


def rows_of(path: Path, only: str = "") -> list[dict[str, Any]]:
    """A row for each fault of the kernel's part whose kind or edit has this expression."""
    source = path.read_text("utf-8")
    begin, end = source.index(_FIRST), source.index(_BEHIND)
    listed = [
        each
        for each in faults.faults(source, "kernel")
        if begin <= each.start
        and each.end <= end
        and re.search(only, f"{each.kind} {each.describe(source)}")
    ]
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        program = build(path, listed, Path(folder))
        settings = [dict(each.environment) for each in verdict.commands(path, "Ascend910B2", "")]
        settings = [each for each in settings if shown(program, 0, each).status == 0]
        assert settings, f"{path} fails as it is"
        for number, fault in enumerate(listed, 1):
            ran: list[verdict.Ran] = []
            for environment in settings:
                ran.append(shown(program, number, environment))
                if verdict.judge(fault, path.name, source, ran).sign in ("named", "elsewhere"):
                    break
            found = verdict.judge(fault, path.name, source, ran)
            row = plant.row_of(str(path), path.name, source, fault, found)
            rows.append(row | {"operator": path.stem})
            print(row["name"], row["cause"], flush=True)
    return rows


def main() -> None:
    """Write the rows of some programs."""
    parser = argparse.ArgumentParser(description="Plant all faults of programs' kernels at once.")
    parser.add_argument("programs", type=Path, nargs="+")
    parser.add_argument("--only", default="", help="an expression for kinds and edits")
    parser.add_argument("--output", type=Path, required=True, help="rows as JSON")
    given = parser.parse_args()
    rows = [row for program in given.programs for row in rows_of(program, given.only)]
    given.output.write_text(json.dumps(rows, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
