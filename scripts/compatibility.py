#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tries every kernel of public operator libraries: which build, run and match, why not.

    scripts/compatibility.py /path/to/ops-nn /path/to/ops-math --doc docs/compatibility.md
    scripts/compatibility.py /path/to/other --short --doc docs/compatibility_other.md
    scripts/compatibility.py /path/to/ops-nn --unit matrix --doc docs/compatibility_matrix.md

The checkouts are yours; nothing of them is kept but names and figures. Results are cached in
build/compatibility, so that a second run tries only what has changed: an operator's sources, or
what failed and may build with a changed simulator.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import dataclasses
import hashlib
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))

import compatibility_golden

from aclgrad.building import operator_build
from aclgrad.building.compile_step import diagnose
from aclgrad.campaign.workers import cluster
from aclgrad.cases import made_inputs
from aclgrad.checks import exploration, operator_check
from aclgrad.common import files, locks
from aclgrad.common.cache import root as cache_root
from aclgrad.reading import layout
from aclgrad.reading.cpp_text import without_comments
from aclgrad.reading.layout import locate
from aclgrad.reading.sources import SourcesError, code, numpy_name
from aclgrad.running.isolation import CRASHED, SLOW, first_reason
from aclgrad.runtime.toolkit import sim_root
from aclgrad.spec.definition import Definition
from aclgrad.spec.soc import family

SOCS = {"ascend910b": "Ascend910B2", "ascend910_93": "Ascend910_9391"}
"""The families of architecture 2201 in order of preference, each with a SoC."""

COMPARED = ("golden", "own golden", "in the test")
"""Ways in which `aclgrad ut` knows that a result was compared."""

LIMIT = 30.0
"""Seconds for the cases of a kernel; a unit test has twice as many."""

LATE = "no result in time"
"""What a unit test says that gives none."""

OTHER_ARCH = re.compile(r"arch35|_apt|regbase")
"""In the paths of sources for another architecture."""

CUBE = re.compile(
    r"\b(Mmad|LoadData|Fixpipe)\w*"
    r"|\b(Matmul(Impl|Type|Config)|REGIST_MATMUL_OBJ|CubeFormat|catlass)\b|\bMatmul<"
    r"|\b(T|Que)Position::(A1|A2|B1|B2|CO1|CO2)\b"
    r"|\b(mmad|l1_to_l0_[ab]|mad|load_cbuf_to_c[ab]|copy_matrix_cc_to_gm)\s*[<(]"
)
"""What only kernels with matrix units say. Many include the headers of Matmul and use no part."""

OTHER_API = re.compile(r"\bTLOAD\b|c_api/")
"""What only kernels in PTO instructions or in the C API say."""

MATRIX_HOST = re.compile(r"\b(TCubeTiling|matmul_tiling|MatmulApiTiling)\b")
"""What only op_host of kernels with matrix units says."""

OTHERS = re.compile(
    r"\b(Mc2InitTiling|Mc2CcTiling|HcclResult|HcclCombinOpParam|GetHcclContext)\b|\bHccl<|MC2\(\)|hccl/hcom"
)
"""What operators say that talk to other devices."""

INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)


@dataclasses.dataclass
class Kernel:
    """One kernel source with its operator's folder."""

    library: str
    folder: Path
    source: Path
    soc: str
    categories: tuple[str, ...]  # the folders around its own
    alone: bool = (
        False  # a kernel file without a definition: of a torch extension, or a launch project
    )
    matrix: bool = False  # whether it uses matrix units

    @property
    def name(self) -> str:
        """The place in its library, as the table shows it."""
        return "/".join((self.library, *self.categories, self.source.stem))


def text_of(source: Path, seen: set[Path]) -> str:
    """A kernel source with the headers around it, other architectures' left out."""
    if source in seen or OTHER_ARCH.search(str(source)) or not source.is_file():
        return ""
    seen.add(source)
    text = source.read_text(errors="replace")
    return text + "".join(
        text_of((source.parent / name).resolve(), seen) for name in INCLUDE.findall(text)
    )


def uses_matrix_units(kernel: str, host: str = "") -> bool:
    """Whether a kernel's text, or that of its op_host, says so outside comments."""
    return bool(CUBE.search(without_comments(kernel)) or MATRIX_HOST.search(without_comments(host)))


def kernels_of(checkout: Path) -> tuple[list[Kernel], dict[str, str]]:  # noqa: C901
    """Every kernel of architecture 2201 in a checkout, and the others with a reason."""
    kernels: list[Kernel] = []
    left_out: dict[str, str] = {}
    for folder in sorted(checkout.glob("**/op_kernel")):
        operator = folder.parent
        below = operator.relative_to(checkout).parts
        if "tests" in below:
            continue
        try:
            operators = layout.find(operator).operators
        except SourcesError:
            _take_alone(checkout, operator, kernels, left_out)
            continue
        definitions = "".join(code(item.definition) for item in operators)
        if not definitions:
            _take_alone(checkout, operator, kernels, left_out)
            continue
        host_text = "".join(
            path.read_text(errors="replace")
            for path in sorted((operator / "op_host").rglob("*"))
            if path.suffix in (".cpp", ".cc", ".h") and not OTHER_ARCH.search(str(path))
        )
        soc = next((name for name in SOCS if f'"{name}"' in definitions), None)
        included = {
            name
            for source in folder.glob("*.cpp")
            for name in INCLUDE.findall(source.read_text(errors="replace"))
        }
        for source in sorted(folder.glob("*.cpp")):
            if "_apt" in source.name or "__global__" not in source.read_text(errors="replace"):
                continue
            kernel_text = text_of(source, set()) if soc else ""
            matrix = uses_matrix_units(kernel_text, host_text)
            kernel = Kernel(checkout.name, operator, source, soc or "", below[:-1], matrix=matrix)
            if OTHERS.search(kernel_text) or OTHERS.search(host_text):
                left_out[kernel.name] = "talks to other devices"
            elif source.name in included:
                left_out[kernel.name] = "a part of the kernel's source beside it"
            elif "question" in below:
                left_out[kernel.name] = "a task whose kernel is still to be written"
            elif "scripts" in below:
                left_out[kernel.name] = "a template that a generator fills in, no operator"
            elif soc is None:
                left_out[kernel.name] = "not defined for Atlas A2 or A3"
            elif used := OTHER_API.search(kernel_text):
                left_out[kernel.name] = f"PTO or C API: {used[0]}"
            else:
                kernels.append(kernel)
    return kernels, left_out


def of_unit(
    unit: str, kernels: Sequence[Kernel], left_out: Mapping[str, str]
) -> tuple[list[Kernel], dict[str, str]]:
    """The kernels that use matrix units or vector units only, as asked for; the others have a
    reason.
    """
    chosen = [kernel for kernel in kernels if kernel.matrix == (unit == "matrix")]
    why = "vector units only" if unit == "matrix" else "matrix units"
    others = {kernel.name: why for kernel in kernels if kernel not in chosen}
    return chosen, {**left_out, **others}


def _take_alone(
    checkout: Path, folder: Path, kernels: list[Kernel], left_out: dict[str, str]
) -> None:
    """Kernel files that somebody launches by hand."""
    below = folder.relative_to(checkout).parts
    for source in sorted((folder / "op_kernel").glob("*.cpp")):
        if "_apt" in source.name or "__global__" not in source.read_text(errors="replace"):
            continue
        text = text_of(source, set())
        matrix = uses_matrix_units(text)
        kernel = Kernel(
            checkout.name, folder, source, "ascend910b", below[:-1], alone=True, matrix=matrix
        )
        if OTHERS.search(text):
            left_out[kernel.name] = "talks to other devices"
        elif used := OTHER_API.search(text):
            left_out[kernel.name] = f"PTO or C API: {used[0]}"
        else:
            kernels.append(kernel)


def build_alone(kernel: Kernel, includes: Sequence[str], result: dict[str, Any]) -> None:
    """What `aclgrad build` says of a kernel file; nothing tells its inputs."""
    words = [f"--include={folder}" for folder in includes]
    done = subprocess.run(
        [sys.executable, "-I", "-m", "aclgrad", "build", str(kernel.source), *words],
        capture_output=True,
        text=True,
        check=False,
        timeout=10 * LIMIT,
    )
    result["host"] = result["kernel"] = done.returncode == 0
    if done.returncode:
        errors = [line for line in done.stderr.splitlines() if "error: " in line]
        result["why"] = (errors or done.stderr.splitlines() or ["?"])[0].removeprefix("error: ")
    else:
        result["ran"], result["why"] = exploration.REFUSED, "a kernel file: built, not run"


def fingerprint(kernel: Kernel) -> str:
    """Changes with the operator's sources."""
    digest = hashlib.sha256()
    for folder in (kernel.folder / "op_kernel", kernel.folder / "op_host"):
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                digest.update(f"{path}\n".encode() + path.read_bytes())
    return digest.hexdigest()


def toolkit_fingerprint() -> str:
    """Changes with the simulator's headers and libraries, and with the code that builds."""
    digest = hashlib.sha256()
    own = sorted(Path(operator_build.__file__).parent.parent.rglob("*.py"))
    made = [*(sim_root() / "include").rglob("*.h"), *(sim_root() / "lib64").glob("*.so")]
    for path in [*sorted(made), *own]:
        digest.update(path.read_bytes())
    return digest.hexdigest()


def names_missing(log: Path) -> list[str]:
    """Every name that a failed compile asked for, first one first."""
    if not log.is_file():
        return []
    names: list[str] = []
    for line in log.read_text(errors="replace").splitlines():
        if " error: " in line:
            missing = diagnose(line)
            name = missing.name if missing.kind != "form" else f"{missing.name} (another form)"
            if missing.name and name not in names:
                names.append(name)
    return names


def alone(cache: Path, folder: Path) -> contextlib.AbstractContextManager[None]:
    """One process at a time builds the host library of a folder."""
    key = hashlib.sha256(str(folder).encode()).hexdigest()[:16]
    return locks.alone(cache / f"{key}.lock")


def nothing() -> dict[str, Any]:
    """What is known of a kernel before it is tried."""
    return {
        "host": False,
        "kernel": False,
        "ran": "",
        "finding": "",
        "match": "",
        "why": "",
        "missing": [],
        "seconds": 0.0,
    }


def plain(kernel: Kernel) -> dict[str, Any]:
    """A kernel as it goes to another process."""
    return {**vars(kernel), "folder": str(kernel.folder), "source": str(kernel.source)}


class Tries:
    """What the engine of campaigns calls for each kernel, in a process of its own."""

    def __init__(self, document: dict[str, Any], folder: str) -> None:
        self.cache, self.unit_tests = Path(document["cache"]), bool(document["unit tests"])
        self.includes: list[str] = document["includes"]

    def __call__(self, item: dict[str, Any]) -> dict[str, Any]:
        """Try one."""
        places = {"folder": Path(item["folder"]), "source": Path(item["source"])}
        kernel = Kernel(**{**item, **places, "categories": tuple(item["categories"])})
        return attempt(kernel, self.cache, self.unit_tests, self.includes)


def attempt(
    kernel: Kernel, cache: Path, unit_tests: bool, includes: Sequence[str] = ()
) -> dict[str, Any]:
    """Build an operator's host library and its kernel for one dtype combination, and run it."""
    result = nothing()
    started = time.monotonic()
    os.environ["ACLGRAD_CACHE"] = str(cache)
    builder = None
    try:
        if kernel.alone:
            build_alone(kernel, includes, result)
            result["seconds"] = round(time.monotonic() - started, 1)
            return result
        sources = locate(kernel.folder)
        roots = (*map(Path, includes), *sources.roots)
        # Tiling for other architectures is no part of the question.
        host = tuple(path for path in sources.host if path in sources.host_for(2201)[0])
        helpers = tuple(path for path in sources.helpers if not OTHER_ARCH.search(str(path)))
        sources = dataclasses.replace(
            sources, name=kernel.source.stem, host=host, helpers=helpers, roots=roots
        )
        builder = operator_build.Builder(
            sources, family(kernel.soc), optimise="-O0", debug="-g1", jobs=1, cache=cache
        )
        with alone(cache, kernel.folder):
            described = builder.build_host()
        result["host"] = True
        ops = operator_build.runnable(described, sources, builder.soc)
        op = next((op for op in ops if builder.kernel_source(op) == kernel.source), None)
        if op is None:
            raise SourcesError(
                f"{kernel.source.name} belongs to none of {', '.join(op.type for op in ops)}"
            )
        result["op"] = op.type
        row = operator_check.prefer_float(builder.combinations(op))
        result["dtypes"] = [*map(numpy_name, row)]
        builder.build_kernel(builder.kernel(op, row), described)
        result["kernel"] = True
        result["built seconds"] = round(time.monotonic() - started, 1)
        builder.build_api([op])
        run(kernel, builder, op, row, result)
        if unit_tests and result["match"] == "":
            run_unit_tests(kernel, result)
    except SourcesError as error:
        message = error.missing.message if error.missing else str(error).splitlines()[0]
        refused = re.search(r"matrix units: \S+ is not simulated yet", str(error))
        result["why"] = refused[0] if refused else message
        if error.missing is not None:
            result["missing"] = names_missing(builder.folder / "error.log") if builder else []
            result["missing"] = result["missing"] or [error.missing.name or error.missing.message]
    except (OSError, ValueError, KeyError, subprocess.SubprocessError) as error:
        result["why"] = f"{type(error).__name__}: {error}"
    result["seconds"] = round(time.monotonic() - started, 1)
    return result


def run(
    kernel: Kernel,
    builder: operator_build.Builder,
    op: Definition,
    row: tuple[str, ...],
    result: dict[str, Any],
) -> None:
    """Run a built kernel on generated inputs until a case is clean, and compare that one."""
    outcomes = operator_check.run_cases(
        builder,
        op,
        row,
        made_inputs.cases(op, row),
        soc=SOCS[kernel.soc],
        judge=compatibility_golden.judge,
        seconds=LIMIT,
    )
    best = operator_check.best(outcomes)
    if best is None:
        result["why"] = "no case fits its definition"
        return
    status = (
        exploration.REFUSED if best.status == exploration.CLEAN and not best.ran else best.status
    )
    result["ran"], result["case"], result["match"] = status, best.label, best.verdict
    if not best.ran:
        why = first_reason(best.message)
        result["why"] = why.replace(f"{kernel.folder}{os.sep}", "")
    for found in best.errors[:1]:
        place = Path(found.at.file).name if found.at.file else "?"
        result["finding"] = f"{found.kind} {place}:{found.at.line}"
        result["why"] = found.detail or found.title


def unit_tests_of(kernel: Kernel) -> list[Path]:
    """The operator's own test of this kernel, where it has one."""
    folder = kernel.folder / "tests/ut/op_kernel"
    return sorted(folder.glob(f"test_{kernel.source.stem}*.cpp"))[:1]


def run_unit_tests(kernel: Kernel, result: dict[str, Any]) -> None:
    """Compare by the operator's own unit test, where it has one."""
    for test in unit_tests_of(kernel):
        command = [sys.executable, "-I", "-m", "aclgrad", "ut", str(test), "--json", "--jobs", "1"]
        # Its compilers are in a group of their own, so that a time limit ends them too.
        with subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        ) as process:
            try:
                document = json.loads(process.communicate(timeout=2 * LIMIT)[0])
            except (subprocess.TimeoutExpired, ValueError):
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                result["unit test"] = LATE
                continue
        cases = [case for file in document["files"] for case in file["tests"]]
        errors = [file["error"] for file in document["files"] if not file["built"]]
        if errors:
            result["unit test"] = errors[0].splitlines()[0]
            continue
        kinds = collections.Counter(case["match"] for case in cases)
        result["unit test"] = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
        result["match"] = verdict_of(cases)


def verdict_of(cases: Sequence[Mapping[str, Any]]) -> str:
    """What the tests of a unit test say of a kernel's results: nothing where none compares."""
    for case in cases:
        if case["match"] == "mismatch":
            return f"mismatched: its unit test {case['test']}: {case['detail']}"
        if case["match"] in COMPARED and case["status"] == "failed":
            return f"mismatched: its unit test {case['test']} failed: {case['detail']}"
    compared = [case for case in cases if case["match"] in COMPARED]
    passed = compared and all(case["status"] == "passed" for case in compared)
    return "matched by its unit test" if passed else ""


def ranking(results: dict[str, dict[str, Any]], stage: str) -> list[tuple[str, int, int, int]]:
    """Missing names with the kernels that name them at all, first, and only."""
    anywhere, first, only = (
        collections.Counter[str](),
        collections.Counter[str](),
        collections.Counter[str](),
    )
    for result in results.values():
        failed = not result["host"] if stage == "host" else result["host"] and not result["kernel"]
        names = (result["missing"] or [result["why"][:80]]) if failed else []
        if not names:
            continue
        anywhere.update(set(names))
        first[names[0]] += 1
        if len(set(names)) == 1:
            only[names[0]] += 1
    ranked = sorted(anywhere.items(), key=lambda item: (-item[1], item[0]))
    return [(name, count, first[name], only[name]) for name, count in ranked]


@dataclasses.dataclass(frozen=True)
class Figures:
    """Kernels by how far they came."""

    tried: int
    host: int
    built: int
    clean: int
    faulty: int
    refused: int
    ended: int
    matched: int
    by_test: int
    mismatched: int
    late: int
    untested: int

    @classmethod
    def of(cls, results: dict[str, dict[str, Any]]) -> Figures:
        """Count results."""
        rows = [*results.values()]
        built = [row for row in rows if row["kernel"]]
        ran = collections.Counter(row["ran"] for row in built)
        matches = [row["match"] for row in built]
        return cls(
            len(rows),
            sum(row["host"] for row in rows),
            len(built),
            ran[exploration.CLEAN],
            ran[exploration.FAULTY],
            ran[exploration.REFUSED] + ran[""],
            ran[CRASHED] + ran[SLOW],
            sum(match.startswith("matched") for match in matches),
            sum(match == "matched by its unit test" for match in matches),
            sum(match.startswith("mismatched") for match in matches),
            sum(row.get("unit test") == LATE for row in built),
            sum(not row["match"] and "unit test" not in row for row in built),
        )

    @property
    def lines(self) -> list[tuple[str, int]]:
        """For a table or a terminal."""
        tests = [
            (f"- of these with a unit test that gave no result in {2 * LIMIT:.0f} s", self.late),
            ("- of these without a unit test, or with one that was not tried", self.untested),
        ]
        return [
            ("op_host builds and registers itself", self.host),
            ("op_host and kernel build", self.built),
            ("ran without a finding", self.clean),
            ("ran or ended with a finding", self.faulty),
            ("took none of the generated cases", self.refused),
            ("crashed or did not end within 30 s", self.ended),
            ("results matched", self.matched),
            ("- of these by the operator's own unit test", self.by_test),
            ("results did not match", self.mismatched),
            ("built, results not compared", self.built - self.matched - self.mismatched),
            *((what, count) for what, count in tests if count),
        ]


def escape(text: str) -> str:
    """For a cell of a Markdown table, without what differs from one machine or run to the next."""
    first = (text.splitlines() or [""])[0]
    first = re.sub(r"/\S*/(?:(?=ops-)|toolkit/include/)", "", first)
    first = re.sub(r"0x[0-9a-f]{9,}", "0x...", first)
    return first.replace("|", "\\|")


def faults() -> dict[str, dict[str, str]]:
    """What was looked into by hand, per kernel: kind, place and evidence."""
    return dict(json.loads(Path(__file__).with_name("compatibility_faults.json").read_text()))


_INTRODUCTION = """# Other people's operators

How many operators of public libraries build and run as they are. Made by
`scripts/compatibility.py` from checkouts; this repository contains no part of them. All results are
the simulator's. [layouts.md](layouts.md) says which projects build. The examples of the toolkit
itself are in [compatibility_examples.md](compatibility_examples.md), those for the matrix unit in
[compatibility_examples_matrix.md](compatibility_examples_matrix.md) and, for Ascend 950, in
[compatibility_examples_matrix_950.md](compatibility_examples_matrix_950.md) (but for best
practices, which multiply 8,192 x 8,192 x 8,192 numbers), those of catlass in
[compatibility_catlass.md](compatibility_catlass.md) and, for Ascend 950, in
[compatibility_catlass_950.md](compatibility_catlass_950.md), attention kernels on it in
[compatibility_attention.md](compatibility_attention.md); what `aclgrad check` says of
41 operators is in [compatibility_check.md](compatibility_check.md). More libraries: {others}.\
{matrix}

* *builds*: op_host builds and registers itself, and the kernel builds for one dtype combination of
  its definition, the first with float32 if it has one.
* *ran*: the operator took one of up to 48 generated inputs (shapes by the role of a parameter's
  name, attributes by their defaults), and its kernel ended without a finding of the checks.
  *finding*: none of the inputs that it took ran without one. That is a fault of the kernel, or of
  an input that no check of the operator refused.
* *matched*: the result agrees with a reference in NumPy by the operator's name
  (`scripts/compatibility_golden.py`), by the rule of `aclgrad.golden.precision`, or its own unit
  test agrees with its golden data.
"""


_MATRIX = """# Other people's operators with matrix units

Kernels that use matrix units (cube and MIX kernels) of the libraries in
[compatibility.md](compatibility.md), which says what the words mean and how this page is made.
Products are compared with NumPy's in float64. Each kernel without a result is here with the first
reason.
"""

WORDS = {"vector": "vector kernels", "matrix": "kernels with matrix units"}
"""What --unit chooses."""

_SHORT = """# Other people's operators: {title}

[compatibility.md](compatibility.md) says what the words mean, and how this page is made.
"""


def _title(commits: Mapping[str, str]) -> str:
    return ", ".join(sorted(commits))


def _others(doc: Path | None) -> str:
    """Links to the pages of other libraries that lie beside one."""
    beside = sorted(doc.parent.glob(f"{doc.stem}_*.md")) if doc is not None else []
    linked = _INTRODUCTION + _with_matrix_units(doc)
    found = [path for path in beside if f"({path.name})" not in linked]
    return ", ".join(
        f"[{path.stem.removeprefix(f'{doc.stem}_').replace('_', '-')}]({path.name})"
        for path in found
        if doc is not None
    )


def _with_matrix_units(doc: Path | None) -> str:
    """A link to the page of matrix kernels, where it lies beside one."""
    page = doc.with_name(f"{doc.stem}_matrix.md") if doc is not None else None
    if page is None or not page.is_file():
        return ""
    return f"\nKernels with matrix units are in [{page.name}]({page.name})."


def document(
    results: dict[str, dict[str, Any]],
    total: int,
    left_out: Mapping[str, str],
    commits: dict[str, str],
    short: bool = False,
    draw: str = "",
    others: str = "none",
    unit: str = "vector",
    matrix: str = "",
    headers: Mapping[str, str] | None = None,
) -> str:
    """The text of docs/compatibility.md, or of a page of one more library."""
    figures = Figures.of(results)
    libraries = ", ".join(f"{name} {commit}" for name, commit in sorted(commits.items()))
    of = "all of them" if figures.tried == total else f"{figures.tried} of them"
    of += f", {draw}" if draw else ""
    with_headers = ", ".join(f"{name} {commit}" for name, commit in sorted((headers or {}).items()))
    of += f". With the headers of {with_headers}" if with_headers else ""
    head = _MATRIX if unit == "matrix" else _SHORT if short else _INTRODUCTION
    head = head.format(title=_title(commits), others=others, matrix=matrix)
    lines = [
        head,
        f"{libraries}: {total} {WORDS[unit]} for Atlas A2. Tried: {of}.",
        "",
        f"| of {figures.tried} kernels | | |",
        "|---|---|---|",
    ]
    share = max(figures.tried, 1)
    lines += [
        f"| {name} | {count} | {100 * count / share:.0f} % |" for name, count in figures.lines
    ]
    lines.append("")
    failed = {name: result for name, result in sorted(results.items()) if not result["kernel"]}
    if failed:
        lines += ["## What does not build", ""]
        lines += [f"* {name}: {escape(result['why'])[:160]}" for name, result in failed.items()]
        lines.append("")
    lines += _wrong(results, each=unit == "matrix")
    lines += _faults(results)
    reasons = collections.Counter(why.split(":", maxsplit=1)[0] for why in left_out.values())
    if reasons:
        lines += ["## Left out", ""]
        lines += [f"* {count}: {why}" for why, count in sorted(reasons.items())]
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


_REFUSALS = (
    ("tiling refused every generated input", r"tiling function failed|tiling of|[Tt]iling"),
    ("inference gave no shape", r"inference|infer"),
    ("a parameter check refused every generated input", r""),
)
"""Why an operator took nothing, by what it said last."""


def _wrong(results: Mapping[str, dict[str, Any]], *, each: bool = False) -> list[str]:
    """What built and did not come to a result; each kernel with its reason, or how many."""
    lines: list[str] = []
    ended = (CRASHED, SLOW)
    items = [
        f"* {name}: {escape(result['why'])[:200]}"
        for name, result in sorted(results.items())
        if result["ran"] in ended
    ]
    if items:
        lines += ["## What crashed or did not end", "", *items, ""]
    alone = sum(result["why"].startswith("a kernel file") for result in results.values())
    by_name = {
        name: result["why"]
        for name, result in sorted(results.items())
        if result["kernel"]
        and result["ran"] in (exploration.REFUSED, "")
        and not result["why"].startswith("a kernel file")
    }
    refused = [*by_name.values()]
    if refused or alone:
        counts = collections.Counter(
            next(label for label, pattern in _REFUSALS if re.search(pattern, why))
            for why in refused
        )
        lines += ["## Why some ran on nothing", ""]
        if alone:
            lines.append(f"* {alone}: a kernel file alone, which does not tell what its inputs are")
        if each:
            found_out = {name: f" ({item['what']})" for name, item in faults().items()}
            lines += [
                f"* {name}: {escape(why)[:200]}{found_out.get(name, '')}"
                for name, why in by_name.items()
            ]
        else:
            lines += [f"* {count}: {label}" for label, count in counts.most_common()]
        lines.append("")
    return lines


def _faults(results: dict[str, dict[str, Any]]) -> list[str]:
    """What was found in public kernels, as far as it was looked into."""
    wrong = {
        name
        for name, result in results.items()
        if result["finding"] or result["match"].startswith("mismatched")
    }
    known = {name: item for name, item in faults().items() if name in wrong}
    if not wrong:
        return []
    lines = ["## Findings", ""]
    for kind, title in (
        ("upstream", "real faults of the operators, by what their sources say"),
        ("input", "generated inputs that the operator does not claim to take and does not refuse"),
        ("harmless", "without consequence"),
        ("simulator", "limits of the simulator"),
    ):
        items = [(name, item) for name, item in sorted(known.items()) if item["kind"] == kind]
        if items:
            lines.append(f"* {len(items)}: {title}:")
            lines += [f"    * {name}, {item['where']}: {item['what']}" for name, item in items]
    open_ = sorted(wrong - known.keys())
    if open_:
        lines.append(f"* {len(open_)}: not looked into yet:")
        lines += [
            f"    * {name}: {escape(results[name]['finding'] or results[name]['match'])[:120]}"
            for name in open_
        ]
    return [*lines, ""]


def commit_of(checkout: Path) -> str:
    """The commit that was tried."""
    done = subprocess.run(
        ["git", "-C", str(checkout), "rev-parse", "--short=10", "HEAD"],
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout.strip() or "without a commit"


def main() -> int:  # noqa: C901
    """Entry point."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "checkouts", nargs="+", type=Path, help="local checkouts, e.g. ops-nn ops-math"
    )
    parser.add_argument(
        "--doc", type=Path, help="write the table there, e.g. docs/compatibility.md"
    )
    parser.add_argument(
        "--short", action="store_true", help="a page without the kernels that are fine"
    )
    parser.add_argument(
        "--unit", choices=WORDS, default="vector", help="kernels that use them [default: vector]"
    )
    parser.add_argument("--only", default="", help="regular expression of kernel names")
    parser.add_argument(
        "--cache",
        type=Path,
        help="where builds are kept [default: the package's cache]",
    )
    parser.add_argument(
        "--include",
        action="append",
        default=[],
        type=Path,
        metavar="FOLDER",
        help="headers of a submodule that a checkout lacks, e.g. catlass/include",
    )
    parser.add_argument("--jobs", "-j", type=int, default=2, help="operators at a time")
    parser.add_argument(
        "--again",
        action="store_true",
        help="try what was fine before as well after the simulator has changed",
    )
    parser.add_argument(
        "--unit-tests",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="run the unit test of a kernel that nothing else compares",
    )
    parser.add_argument(
        "--revision",
        action="append",
        default=[],
        metavar="NAME=COMMIT",
        help="commit of a checkout without .git",
    )
    parser.add_argument("--known", action="store_true", help="try nothing, print what is known")
    parser.add_argument(
        "--every", type=int, default=1, help="only every nth kernel, for a quick look"
    )
    parser.add_argument("--sample", type=int, default=0, help="only so many, drawn at random")
    parser.add_argument("--seed", type=int, default=0, help="of the draw")
    options = parser.parse_args()
    cache = (options.cache or cache_root() / "compatibility").resolve()
    cache.mkdir(parents=True, exist_ok=True)
    book = cache / "results.json"
    known: dict[str, dict[str, Any]] = json.loads(book.read_text()) if book.is_file() else {}

    kernels: list[Kernel] = []
    left_out: dict[str, str] = {}
    # A draw does not depend on the order in which they were named.
    for checkout in sorted(options.checkouts, key=lambda path: path.resolve().name):
        if not checkout.is_dir():
            print(
                f"error: {checkout}: no such folder. Next: git clone it, then give its path",
                file=sys.stderr,
            )
            return 1
        found, skipped = of_unit(options.unit, *kernels_of(checkout.resolve()))
        kernels += found
        left_out |= skipped
    kernels = [kernel for kernel in kernels if re.search(options.only, kernel.name)][
        :: options.every
    ]
    there = len(kernels)
    if options.sample and options.sample < there:
        kernels = random.Random(options.seed).sample(kernels, options.sample)
    if not (sim_root() / "lib64" / "libnnopbase.so").is_file():
        print("error: the simulator is not built. Next: aclgrad build", file=sys.stderr)
        return 1
    toolkit = toolkit_fingerprint()
    prints = {kernel.name: fingerprint(kernel) for kernel in kernels}

    def settled(kernel: Kernel) -> bool:
        result = known.get(kernel.name, {})
        good = result.get("ran") == exploration.CLEAN and not result["match"].startswith("mis")
        if good and options.unit_tests and not result["match"] and "unit test" not in result:
            good = not unit_tests_of(kernel)
        same = result.get("toolkit") == toolkit or (good and not options.again)
        return bool(same) and result.get("sources") == prints[kernel.name]

    open_ = [kernel for kernel in kernels if not settled(kernel) and not options.known]
    # Whatever ends a run early, what it has tried is a fair sample.
    random.Random(0).shuffle(open_)
    print(f"{len(kernels)} kernels, {len(kernels) - len(open_)} known, {len(open_)} to try")
    started = time.monotonic()
    tried = 0

    def done(at: int, row: dict[str, Any]) -> None:
        nonlocal tried
        tried += 1
        kernel = open_[at]
        # The process that tried it has ended: the row says how.
        result = row if "host" in row else {**nothing(), "why": row["cause"]}
        known[kernel.name] = {**result, "sources": prints[kernel.name], "toolkit": toolkit}
        # A kernel takes up to minutes: whatever ends a run, none is tried twice.
        files.write(book, json.dumps(known), "--cache")
        if tried % 20 == 0 or tried == len(open_):
            print(f"{tried}/{len(open_)} after {time.monotonic() - started:.0f} s", flush=True)

    if open_:
        cluster.each(
            "compatibility:Tries",
            [plain(kernel) for kernel in open_],
            done,
            path=[Path(__file__).resolve().parent],
            document={
                "cache": str(cache),
                "unit tests": options.unit_tests,
                "includes": [str(folder.resolve()) for folder in options.include],
            },
            workers=options.jobs,
        )
    results = {kernel.name: known[kernel.name] for kernel in kernels if kernel.name in known}
    print(f"{len(results)} kernels")
    for name, count in Figures.of(results).lines:
        print(f"{count:5}  {name}")
    for stage in ("host", "kernel"):
        print(f"\nmissing in {stage}: kernels that name it, first error, only error")
        for name, count, first, only in ranking(results, stage)[:40]:
            print(f"{count:5} {first:5} {only:5}  {name}")
    if options.doc:
        files.write(
            options.doc,
            document(
                results,
                there,
                left_out,
                {
                    **{path.resolve().name: commit_of(path) for path in options.checkouts},
                    **dict(item.split("=", 1) for item in options.revision),
                },
                options.short,
                f"drawn at random (--sample {options.sample} --seed {options.seed})"
                if len(kernels) < there
                else "",
                _others(options.doc),
                options.unit,
                _with_matrix_units(options.doc),
                {folder.resolve().parent.name: commit_of(folder) for folder in options.include},
            ),
            "--doc",
        )
        print(f"\nwrote {options.doc}")
    return 0


if __name__ == "__main__":
    os.nice(5)
    sys.exit(main())
