#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs sgl-kernel-npu's own Python tests on the simulator, as they are.

    scripts/sgl_kernel_npu_tests.py /path/to/sgl-kernel-npu --resume --write PAGE

The checkout is yours, and so is the build of it: its CMake lists put the library into
``python/sgl_kernel_npu/sgl_kernel_npu/lib``, as docs/layouts.md says. Nothing of it is kept but
names and figures. torch_npu has to be where this Python finds it. Files are run as the checkout's
``scripts/run_kernel_tests.sh`` does: tests of unittest and pytest one by one, others as programs.
What imports Triton is named and not run. ``--resume`` goes on with a run that was cut off.
"""

from __future__ import annotations

import argparse
import ast
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import torch_npu_tests

from aclgrad.common import page_sections

ROOT = Path(__file__).resolve().parents[1]
TESTS = "tests/python/sgl_kernel_npu"
PACKAGE = "python/sgl_kernel_npu"
LIBRARY = f"{PACKAGE}/sgl_kernel_npu/lib/libsgl_kernel_npu.so"
ELSEWHERE = (("tests/python/deepep", "several NPUs that exchange data (deep_ep)"),)
"""Folders of tests that need more than the simulator has, and what that is."""

_SAYS_FAILED = r"\bfail(?:ed)?[=:] ?[1-9]|❌|⚠️|\bFAIL(?:ED)?\b|accuracy: False|Traceback \("
"""What programs print that catch their own errors and end with 0."""

CLASSES = (
    ("a finding in a kernel", r"aclgrad finding|FINDING|error: [a-z-]+ at "),
    ("an error of the test's own", r"default_value\(\) INTERNAL ASSERT|'tuple' object has no"),
    ("compares times", r"not greater than"),
    ("captures a graph", r"graph capture is not simulated"),
    ("instructions of PTO", r"PTO|mega_chunk_gdn|ACLGRAD_LEAVE_OUT"),
    ("over the time limit, or a crash", r"worker '\w+' crashed|did not end"),
    ("differs from the test's values", r"AssertionError|result error|" + _SAYS_FAILED),
)
"""Reasons of failures by what the text of one says, the first that fits."""


def _imports(path: Path) -> Iterator[str]:
    """Modules that a file imports when it is imported itself."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    waiting: list[ast.stmt] = list(tree.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
        elif isinstance(node, ast.If | ast.Try | ast.With):
            inside = (each for each in ast.walk(node) if each is not node)
            waiting += [each for each in inside if isinstance(each, ast.Import | ast.ImportFrom)]


def needs(path: Path, name: str, packages: Path) -> bool:
    """Whether a file imports a module, itself or by what it imports of a folder of packages."""
    seen: set[Path] = set()
    waiting = [path]
    while waiting:
        file = waiting.pop()
        if file in seen:
            continue
        seen.add(file)
        for module in _imports(file):
            if module.partition(".")[0] == name:
                return True
            parts = module.split(".")
            for end in range(1, len(parts) + 1):
                place = packages.joinpath(*parts[:end])
                files = (place.with_suffix(".py"), place / "__init__.py")
                waiting += [each for each in files if each.is_file()]
    return False


def functions(path: Path) -> int:
    """How many functions of a file are tests, by their names."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return sum(
        isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
        for node in ast.walk(tree)
    )


def is_program(path: Path) -> bool:
    """Whether a file of tests is run by itself: its tests are no unittest's or pytest's."""
    text = path.read_text(encoding="utf-8")
    if re.search(r"^class \w+\([\w.]*TestCase\):", text, re.MULTILINE) or "pytest.main" in text:
        return False
    return "__main__" in text or not re.search(r"^def test_", text, re.MULTILINE)


def run_program(path: Path, limit: float) -> torch_npu_tests.Outcome:
    """Run a file by itself; what it prints may say that it failed."""
    inside = (sys.executable, "-I", "-m", "aclgrad", "exec", "--allow-findings", "--")
    try:
        done = subprocess.run(
            [*inside, sys.executable, "-P", str(path)],
            capture_output=True,
            text=True,
            check=False,
            cwd=path.parent,
            timeout=limit,
        )
    except subprocess.TimeoutExpired:
        return "failed", f"did not end within {limit:g} s"
    said = done.stdout + done.stderr
    bad = re.search(_SAYS_FAILED, said)
    if done.returncode == 0 and not bad:
        return "passed", ""
    return "failed", said[-6000:]


def run(checkout: Path, names: Sequence[str], limit: float, record: Path) -> None:
    """Run files of tests; each outcome is recorded at once."""
    folder = checkout / TESTS
    programs = [name for name in names if is_program(folder / name)]
    files = [name for name in names if name not in programs]
    if files:
        torch_npu_tests.run(folder, files, 1, limit, record)
    for name in programs:
        outcome = run_program(folder / name, limit)
        torch_npu_tests.add(record, name, "(program)", outcome)


def table(results: torch_npu_tests.Results, without: Mapping[str, Sequence[Path]]) -> str:
    """Tests by file, what was not run by what it needs, and why tests fail."""
    lines = [torch_npu_tests.by_file(results, CLASSES)]
    lines += ["", "| not run, as they need | files | test functions |", "|---|---|---|"]
    for need, paths in without.items():
        count = sum(map(functions, paths))
        lines.append(f"| {page_sections.cell(need)} | {len(paths)} | {count} |")
    return "\n".join(lines)


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("checkout", type=Path, help="of sgl-kernel-npu, built")
    parser.add_argument("--files", nargs="+", help=f"names in {TESTS}")
    torch_npu_tests.add_options(parser, ROOT / "build" / "sgl_kernel_npu_tests.jsonl")
    words = parser.parse_args(argv)
    checkout, record = words.checkout.resolve(), words.record.resolve()
    if not (checkout / LIBRARY).is_file():
        parser.error(f"{checkout / LIBRARY} is missing. Next: build it as docs/layouts.md says")
    paths = sorted((checkout / TESTS).glob("test_*.py"))
    triton = [path for path in paths if needs(path, "triton", checkout / PACKAGE)]
    names = [path.name for path in paths if path not in triton]
    if not words.again:
        folders = (checkout / TESTS, checkout / PACKAGE)
        # The library is built for this SoC.
        torch_npu_tests.prepare(folders, "Ascend910_9382", words.findings)
        known = torch_npu_tests.begin(record, words.resume)
        chosen = words.files or [name for name in names if name not in known]
        run(checkout, chosen, words.limit, record)
    without = {"Triton, whose compiler makes code for NPUs alone": triton}
    without |= {need: sorted((checkout / place).glob("test_*.py")) for place, need in ELSEWHERE}
    results = torch_npu_tests.read(record, ())
    page_sections.show(words.write, "sgl_kernel_npu_tests", table(results, without))
    return 0


if __name__ == "__main__":
    sys.exit(main())
