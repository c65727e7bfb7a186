#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs vllm-ascend's tests of its own operators on the simulator, as they are.

    scripts/vllm_ascend_tests.py /path/to/vllm-ascend --resume --write PAGE

The checkout is yours, and so is the build of its extension by its own CMake lists, as
docs/layouts.md says. Nothing of it is kept but names and figures. The operators that its
``csrc/build_aclnn.sh`` names are built by ``aclgrad build``; those that build are in
``ASCEND_CUSTOM_OPP_PATH``. torch_npu has to be where this Python finds it. ``--resume`` goes on
with a run that was cut off.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest_outcomes
import torch_npu_tests

from aclgrad.common import page_sections, temporary

ROOT = Path(__file__).resolve().parents[1]
TESTS = "tests/e2e/nightly/single_node/ops/singlecard_ops"
EXTENSION = "vllm_ascend_C*.so"

CLASSES = (
    (
        "vllm-ascend's Python, which needs vllm",
        r"No module named 'vllm|cannot import name .* from 'vllm",
    ),
    ("captures a graph", r"graph capture is not simulated"),
    ("dtype without a formula on the CPU", r"the formula on the CPU has"),
    ("no package has the operator", r"aclnn\w+ not in lib|aclnn\w+: no package has it"),
    *torch_npu_tests.CLASSES,
)
"""Reasons of failures by what the text of one says, the first that fits."""

_UTILS = """import torch
import torch_npu
import vllm_ascend.vllm_ascend_C

def enable_custom_op():
    return True

def bootstrap_custom_op_env(**_):
    pass
"""
"""What the tests import of vllm-ascend's own Python, which imports vllm. pytest loads it before
them, as test_recurrent_gated_delta_rule.py leaves that to the files that it is run with.
"""

_BUILDS = "csrc/"
"""Before the names of operators in the record, which has files of tests, too."""


def operators(checkout: Path) -> list[str]:
    """The operators that vllm-ascend builds for Atlas A2."""
    text = (checkout / "csrc" / "build_aclnn.sh").read_text(encoding="utf-8")
    found = re.search(r"\^ascend910b \]\].*?CUSTOM_OPS_ARRAY=\((.*?)\)", text, re.DOTALL)
    if found is None:
        raise SystemExit("error: csrc/build_aclnn.sh lists no operators for ascend910b")
    return re.findall(r'"(\w+)"', found[1])


def build(checkout: Path, operator: str, include: Path, limit: float) -> torch_npu_tests.Outcome:
    """Build an operator, or the several that its folder has: the folders of the packages, or why
    there are none.
    """
    folder = next(checkout.glob(f"csrc/*/{operator}"), None)
    if folder is None:
        return "failed", "its folder is not in the checkout"
    packages = []
    for each in sorted(file.parents[1] for file in folder.glob("*/op_host/*_def.cpp")) or [folder]:
        command = [sys.executable, "-I", "-m", "aclgrad", "build", str(each)]
        try:
            done = subprocess.run(
                [*command, f"--include={include}"],
                capture_output=True,
                text=True,
                check=False,
                timeout=limit,
            )
        except subprocess.TimeoutExpired:
            return "failed", f"did not end within {limit:g} s"
        found = re.search(r"ASCEND_CUSTOM_OPP_PATH=([^;]+);", done.stdout)
        if done.returncode != 0 or found is None:
            said = (done.stdout + done.stderr).strip()
            error = re.search(r"error: (.*)", said)
            return "failed", error[1] if error else said[-400:]
        packages.append(found[1])
    return "passed", os.pathsep.join(packages)


def table(results: torch_npu_tests.Results) -> str:
    """Tests by file, and which operators build."""
    tests = {name: rows for name, rows in results.items() if not name.startswith(_BUILDS)}
    lines = [torch_npu_tests.by_file(tests, CLASSES), ""]
    built, refused = [], []
    for name, rows in sorted(results.items()):
        for outcome, text in rows.values() if name.startswith(_BUILDS) else ():
            operator = name.removeprefix(_BUILDS)
            if outcome == "passed":
                built.append(operator)
            else:
                said = pytest_outcomes.FOLDERS.sub("", text)[:300]
                refused.append(f"| {operator} | {page_sections.cell(said)} |")
    lines.append(
        f"{len(built)} of {len(built) + len(refused)} operators build: {', '.join(built)}."
    )
    if refused:
        lines += ["", "| operator | why it does not build |", "|---|---|", *refused]
    return "\n".join(lines)


def run(checkout: Path, names: Sequence[str], words: argparse.Namespace, record: Path) -> None:
    """Run files of tests, with the packages of the record and the extension of the checkout."""
    packages = [
        text
        for name, rows in torch_npu_tests.read(record, ()).items()
        for outcome, text in rows.values()
        if name.startswith(_BUILDS) and outcome == "passed"
    ]
    given = os.environ.get("ASCEND_CUSTOM_OPP_PATH", "").split(os.pathsep)
    os.environ["ASCEND_CUSTOM_OPP_PATH"] = os.pathsep.join([*packages, *filter(None, given)])
    with temporary.folder() as folder:
        stub = Path(folder, "vllm_ascend")
        stub.mkdir()
        (stub / "__init__.py").touch()
        (stub / "utils.py").write_text(_UTILS, encoding="utf-8")
        extension = next(words.build.glob(EXTENSION))
        (stub / extension.name).symlink_to(extension)
        os.environ["PYTEST_PLUGINS"] = "vllm_ascend.utils"
        torch_npu_tests.prepare([Path(folder)], "Ascend910B2", words.findings)
        for name in names:
            torch_npu_tests.run(checkout / TESTS, [name], 1, words.limit, record, words.file_limit)


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("checkout", type=Path, help="of vllm-ascend, its extension built")
    parser.add_argument("--build", type=Path, help="folder of that build [CHECKOUT/build]")
    parser.add_argument("--catlass", type=Path, help="its headers [those of the submodule]")
    parser.add_argument("--operators", nargs="*", help="to build [all for ascend910b]")
    parser.add_argument("--files", nargs="*", help=f"names in {TESTS}")
    parser.add_argument("--file-limit", type=float, help="seconds after which a file ends")
    torch_npu_tests.add_options(parser, ROOT / "build" / "vllm_ascend_tests.jsonl")
    words = parser.parse_args(argv)
    checkout, record = words.checkout.resolve(), words.record.resolve()
    words.build = (words.build or checkout / "build").resolve()
    include = words.catlass or checkout / "csrc" / "third_party" / "catlass" / "include"
    if not any(words.build.glob(EXTENSION)):
        parser.error(f"no {EXTENSION} in {words.build}. Next: build it as docs/layouts.md says")
    if not words.again:
        known = torch_npu_tests.begin(record, words.resume)
        for operator in operators(checkout) if words.operators is None else words.operators:
            if f"{_BUILDS}{operator}" not in known:
                outcome = build(checkout, operator, include.resolve(), words.limit)
                torch_npu_tests.add(record, f"{_BUILDS}{operator}", "(build)", outcome)
        names = sorted(path.name for path in (checkout / TESTS).glob("test_*.py"))
        # Those of Atlas 300I Duo want another build of the extension.
        names = [name for name in names if "_310" not in name and name not in known]
        run(checkout, names if words.files is None else words.files, words, record)
    results = torch_npu_tests.read(record, ())
    page_sections.show(words.write, "vllm_ascend_tests", table(results))
    return 0


if __name__ == "__main__":
    sys.exit(main())
