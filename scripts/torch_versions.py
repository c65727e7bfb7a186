#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tries versions of PyTorch's NPU backend on the simulator, and says how much of each works.

    scripts/torch_versions.py 2.10.0 2.12.0.post3 --write docs/torch_npu.md
    scripts/torch_versions.py --installed /path/to/folder --resume --record build/versions.json

Each version of torch_npu gets a folder with the PyTorch of its number, for the length of its tests:
a few files of tests/torch_backend. What pip finds decides which build of PyTorch that is: one for
CPUs alone is preferred, and one for CUDA gets stand-ins in the place of CUDA's libraries.
``--installed`` takes folders that are filled already. ``--record`` keeps the results, and
``--resume`` adds to them. ``--write`` keeps what the page says of versions that are not in them.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import cuda_stand_ins
from pytest_outcomes import Outcomes, outcomes

from aclgrad.common import files, page_sections, temporary

ROOT = Path(__file__).resolve().parents[1]
TESTS = ("operators", "fallback", "findings_are_exceptions")
"""Files of tests/torch_backend, without what is equal in their names."""

_VERSIONS = "import importlib.metadata as m; print(m.version('torch'), m.version('torch_npu'))"

Row = dict[str, tuple[int, dict[str, str]]]
"""By file: how many tests ran, and what the failed ones say. A version that does not start has one
of no file."""


def torch_of(version: str) -> str:
    """The version of PyTorch that a torch_npu belongs to."""
    return re.sub(r"\.post\d+$", "", version)


def order(name: str) -> list[int]:
    """Sorts names of rows: newer versions come last."""
    return [int(number) for number in re.findall(r"\d+", re.sub(r"\+\w+", "", name))]


def install(version: str, folder: Path) -> None:
    """Put a torch_npu and its PyTorch into a folder."""
    pip = [sys.executable, "-I", "-m", "pip", "install", "-q", "--target", str(folder)]
    torch = torch_of(version)
    # PyTorch needs Python packages that are here. CUDA's libraries take gigabytes.
    for wanted in ([f"torch=={torch}+cpu"], ["--no-deps", f"torch=={torch}"]):
        done = subprocess.run([*pip, *wanted], capture_output=True, text=True, check=False)
        if done.returncode == 0:
            break
    else:
        raise SystemExit(f"error: pip cannot install torch {torch}\n{done.stderr}")
    cuda_stand_ins.put_in(folder)
    subprocess.run([*pip, "--no-deps", f"torch_npu=={version}"], check=True)


def tried(folder: Path, work: Path) -> tuple[str, Row]:
    """Run the tests; return "TORCH, TORCH_NPU" and what came of each file."""
    paths = filter(None, (str(folder), os.environ.get("PYTHONPATH")))
    environment = {**os.environ, "PYTHONPATH": ":".join(paths)}
    # The table says what works, not how fast the machine is.
    environment.setdefault("ACLGRAD_TESTS_SECONDS", "3600")
    inside = (sys.executable, "-I", "-m", "aclgrad", "exec", "--allow-findings", "--")
    python = (*inside, sys.executable, "-P")
    asked = subprocess.run(
        [sys.executable, "-P", "-c", _VERSIONS],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    name = ", ".join(asked.stdout.split())
    result = work / "result.xml"
    options = ("-q", "-p", "no:cacheprovider", f"--junitxml={result}")
    tests = [f"tests/torch_backend/test_{file}.py" for file in TESTS]
    command = [*python, "-m", "pytest", *options, *tests]
    done = subprocess.run(command, env=environment, cwd=ROOT, check=False)
    if result.exists():
        return name, by_file(outcomes(result))
    start = subprocess.run(
        [*python, "-c", "import torch, torch_npu; torch.zeros(1).npu()"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    lines = [line for line in start.stderr.splitlines() if "Error" in line]
    said = lines[-1] if start.returncode else f"pytest ended with {done.returncode}"
    return name, {"": (1, {"import torch_npu" if start.returncode else "tests": said[:200]})}


def by_file(found: Outcomes) -> Row:
    """Tell the outcomes of several files apart."""
    row: Row = {}
    for file in TESTS:
        here = [name for name in found.ran if f"test_{file}::" in name]
        row[file] = (len(here), {name: found.failed[name] for name in here if name in found.failed})
    return row


def cells(row: Row) -> list[str]:
    """Tests that pass, by file."""
    found = [row.get(file, (0, {})) for file in TESTS]
    return [f"{ran - len(failed)} of {ran}" if ran else "-" for ran, failed in found]


def table(rows: Mapping[str, Row], before: str = "") -> str:
    """Tests that pass, by version and file, and what the failed ones say. What an earlier table
    says of other versions is kept: a run takes hours and gigabytes, and few take all versions.
    """
    shown = {name: cells(row) for name, row in rows.items()}
    reasons: dict[str, set[str]] = {}
    for name, row in rows.items():
        for _, failed in row.values():
            for test, reason in failed.items():
                short = page_sections.cell(f"{test.rpartition('::')[2]}: {reason}")
                reasons.setdefault(short, set()).add(_torch_npu(name))
    taken = set(map(_torch_npu, rows))
    for line in before.splitlines():
        parts = re.split(r" *(?<!\\)\| *", line)[1:-1]
        if len(parts) == 1 + len(TESTS) and parts[0][:1].isdigit():
            shown |= {} if _torch_npu(parts[0]) in taken else {parts[0]: parts[1:]}
        elif len(parts) == 2 and parts[1][:1].isdigit():
            reasons.setdefault(parts[0], set()).update(set(parts[1].split(", ")) - taken)
    lines = [
        f"| torch, torch_npu | {' | '.join(TESTS)} |",
        f"|---|{'---|' * len(TESTS)}",
        *(f"| {name} | {' | '.join(shown[name])} |" for name in sorted(shown, key=order)),
    ]
    reasons = {each: names for each, names in reasons.items() if names}
    if reasons:
        lines += ["", "| what fails | torch_npu |", "|---|---|"]
    lines += [f"| {each} | {', '.join(sorted(reasons[each], key=order))} |" for each in reasons]
    return "\n".join(lines)


def _torch_npu(name: str) -> str:
    """The version of torch_npu that a row's name ends with: no two rows have the same."""
    return name.rpartition(", ")[2]


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("versions", nargs="*", help="of torch_npu")
    parser.add_argument("--installed", type=Path, action="append", default=[], metavar="FOLDER")
    parser.add_argument("--record", type=Path, default=ROOT / "build" / "torch_versions.json")
    parser.add_argument("--resume", action="store_true", help="keep what the record has")
    page_sections.add_option(parser)
    words = parser.parse_args(argv)
    rows: dict[str, Row] = {}
    if words.resume and words.record.exists():
        rows = json.loads(words.record.read_text(encoding="utf-8"))

    def keep(found: tuple[str, Row]) -> None:
        rows[found[0]] = found[1]
        words.record.parent.mkdir(parents=True, exist_ok=True)
        files.write(words.record, json.dumps(rows, indent=1), str(words.record))

    for folder in words.installed:
        with temporary.folder() as work:
            keep(tried(folder.resolve(), Path(work)))
    for version in words.versions:
        with temporary.folder() as work:
            install(version, Path(work, "installed"))
            keep(tried(Path(work, "installed"), Path(work)))
    before = page_sections.read(words.write, "torch_versions") if words.write else ""
    page_sections.show(words.write, "torch_versions", table(rows, before))
    return 0


if __name__ == "__main__":
    sys.exit(main())
