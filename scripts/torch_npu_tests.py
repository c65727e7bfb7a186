#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs op-plugin's tests of PyTorch's NPU backend on the simulator and says what fails, and why.

    scripts/torch_npu_tests.py /path/to/op-plugin --sample 60 --seed 1 --record build/sample.json
    scripts/torch_npu_tests.py /path/to/op-plugin --resume --write PAGE

The checkout is yours; nothing of it is kept but names and figures. torch_npu has to be where this
Python finds it (``PYTHONPATH``, where it is not installed), and so has expecttest. pytest-xdist
shares the files among processes: a crash or a hang costs the test that ran. Files with failures are
run again, each in a process of its own: some leave settings of the process behind for the next.
``--resume`` goes on with a run that was cut off.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import random
import re
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from aclgrad.common import page_sections

sys.path.insert(0, str(Path(__file__).resolve().parent))


OURS = (
    "test_softmax_backward_data.py",
    "test_log_softmax_backward.py",
    "test_logsigmoid_backward.py",
    "test_kl_div_backward.py",
    "test_scaled_masked_softmax.py",
)
"""Files whose operators are this project's."""

_CRASH = r"worker '\w+' crashed"

CLASSES = (
    ("a finding in a kernel", r"aclgrad finding|FINDING"),
    ("crash, or over the time limit", _CRASH),
    (
        "operator of torch_npu without a formula for the CPU",
        r"aclnn\w+ not in lib|error code is (?:200001|100024)",
    ),
    ("PyTorch's CPU has no kernel of it", r"from the 'CPU' backend"),
    (
        "dtype that PyTorch's CPU has not",
        r"not implemented for|same dtype|Unsupported datatype|UnknownQuantizer",
    ),
    ("a message of CANN's own checks", r"does not match \""),
    ("differs from the test's values", r"result error|AssertionError"),
)
"""Reasons of failures by what the text of one says, the first that fits."""

_RECORD = "TORCH_NPU_TESTS_RECORD"

_END = "TORCH_NPU_TESTS_END"
"""When a file is over its time limit, in seconds since 1970."""

_CUT = "over the time limit of the file"

Outcome = tuple[str, str]
"""Passed, failed or skipped, and the reason."""

Results = dict[str, dict[str, Outcome]]
"""By file and test."""


class Recorder:
    """A pytest plugin that writes each outcome at once, so that nothing is lost with a process."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A test, or its setup or teardown."""
        if report.when == "call" or report.outcome != "passed":
            self._write(report)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """A file."""
        if report.outcome == "failed":
            self._write(report)

    def _write(self, report: Any) -> None:
        file, _, test = report.nodeid.partition("::")
        row = (Path(file).name, test or "(import)", report.outcome, report.longreprtext)
        with self._path.open("a") as rows:
            rows.write(json.dumps(row) + "\n")


def add(record: Path, name: str, test: str, outcome: Outcome) -> None:
    """Record an outcome that is no test's of pytest."""
    with record.open("a", encoding="utf-8") as rows:
        rows.write(json.dumps((name, test, *outcome)) + "\n")


def run(
    folder: Path,
    files: Sequence[str],
    jobs: int,
    limit: float,
    record: Path,
    together: float | None = None,
) -> None:
    """Run test files, within seconds for all together if these are given. A crash ends pytest, and
    another one takes the tests that have no outcome: a process that pytest-xdist puts in the place
    of a crashed one waits for a second test before it begins with the first, for ever where there
    is none.
    """
    os.environ.pop(_END, None)
    if together is not None:
        os.environ[_END] = str(time.time() + together)
    while True:
        before = crashes(record)
        run_once(folder, files, jobs, limit, record)
        if crashes(record) == before:
            return


def crashes(record: Path) -> int:
    """How many tests have ended their process."""
    text = record.read_text() if record.exists() else ""
    return sum(bool(re.search(_CRASH, row)) for row in text.splitlines())


def run_once(folder: Path, files: Sequence[str], jobs: int, limit: float, record: Path) -> None:
    """Run test files under ``aclgrad exec``, with this file as a plugin of pytest."""
    command = [
        sys.executable,
        "-I",
        "-m",
        "aclgrad",
        "exec",
        "--allow-findings",
        "--",
        sys.executable,
        "-P",
        "-m",
        "pytest",
    ]
    command += ["-q", "--import-mode=importlib", "-n", str(jobs), "--dist=loadfile"]
    command += ["--max-worker-restart=0", "-p", "no:cacheprovider", "-p", "no:aclgrad"]
    command += ["-o", f"faulthandler_timeout={limit}", "-o", "faulthandler_exit_on_timeout=true"]
    # A conftest.py above the folder is of another suite: vllm-ascend's asks Triton for the device.
    command += ["-p", Path(__file__).stem, f"--rootdir={folder}", f"--confcutdir={folder}", *files]
    given = os.environ.get("PYTHONPATH", "")
    environment = {
        **os.environ,
        "ACLGRAD_TORCH_FALLBACK": "silent",
        "OMP_NUM_THREADS": "1",
        "PYTHONPATH": os.pathsep.join(
            os.path.abspath(place)
            for place in (*filter(None, given.split(os.pathsep)), str(Path(__file__).parent))
        ),
        _RECORD: str(record),
    }
    subprocess.run(command, cwd=folder, env=environment, check=False)


def pytest_configure(config: pytest.Config) -> None:
    """Record in the process that hears of all tests, not in those that run them."""
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Recorder(Path(os.environ[_RECORD])))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests that have an outcome."""
    known = read(Path(os.environ[_RECORD]), ())
    for item in [*items]:
        file, _, test = item.nodeid.partition("::")
        if test in known.get(Path(file).name, {}):
            items.remove(item)
            config.hook.pytest_deselected(items=[item])


def pytest_runtest_setup() -> None:
    """Leave out tests that would begin after the time limit of their file."""
    if time.time() > float(os.environ.get(_END, "inf")):
        pytest.skip(_CUT)


def read(record: Path, files: Sequence[str]) -> Results:
    """Read what was recorded."""
    results: Results = {name: {} for name in files}
    for row in record.read_text().splitlines() if record.exists() else ():
        file, test, outcome, text = json.loads(row)
        tests = results.setdefault(file, {})
        # A teardown may fail after the test has passed.
        if tests.get(test, ("", ""))[0] != "failed":
            tests[test] = (outcome, text)
    return results


def unfinished(record: Path, files: Sequence[str], jobs: int) -> list[str]:
    """Files that a run which was cut off has left. Those that it was in are taken out of its
    record: they are among the last that say something, one for each job.
    """
    rows = record.read_text().splitlines() if record.exists() else []
    names = [json.loads(row)[0] for row in rows]
    last = list(dict.fromkeys(reversed(names)))[:jobs]
    kept = [row for row, name in zip(rows, names, strict=True) if name not in last]
    record.write_text("".join(f"{row}\n" for row in kept))
    return [name for name in files if name not in set(names) or name in last]


def run_alone(folder: Path, files: Sequence[str], limit: float, record: Path) -> None:
    """Run files again, each by itself."""
    for name in files:
        run(folder, [name], 1, limit, record)


def failing(results: Results) -> list[str]:
    """Files of which a test fails."""
    return sorted(
        name
        for name, tests in results.items()
        if any(outcome == "failed" for outcome, _ in tests.values())
    )


def reason(text: str, classes: Sequence[tuple[str, str]] = CLASSES) -> str:
    """Class of a failure."""
    return next((name for name, pattern in classes if re.search(pattern, text)), "other")


def chosen(folder: Path, wanted: Sequence[str] | None, sample: int | None, seed: int) -> list[str]:
    """Files to run, ours first."""
    if wanted:
        return [name if name.endswith(".py") else f"{name}.py" for name in wanted]
    others = sorted({each.name for each in folder.glob("test_*.py")} - set(OURS))
    if sample is not None:
        others = sorted(random.Random(seed).sample(others, min(sample, len(others))))
    return [*OURS, *others]


def count(results: Results, names: Iterable[str]) -> Mapping[str, int]:
    """Outcomes of some files."""
    return collections.Counter(
        outcome for name in names for outcome, _ in results.get(name, {}).values()
    )


def by_file(results: Results, classes: Sequence[tuple[str, str]]) -> str:
    """Tests of each file, and why they fail."""
    head = ("file", "tests", "passed", "skipped by themselves", "why others fail")
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    total: collections.Counter[str] = collections.Counter()
    for name, tests in sorted(results.items()):
        cut = sum(_CUT in text for kind, text in tests.values() if kind == "skipped")
        found = collections.Counter(count(results, [name]))
        found["skipped"] -= cut
        total.update(found)
        why = collections.Counter(
            reason(text, classes) for kind, text in tests.values() if kind == "failed"
        )
        said = [f"{each} ({number})" for each, number in why.most_common()]
        said += [f"not run: {_CUT} ({cut})"] if cut else []
        ran = found["passed"] + found["failed"]
        row = (name, ran, found["passed"], found["skipped"], ", ".join(said) or "-")
        lines.append(f"| {' | '.join(map(str, row))} |")
    ran = total["passed"] + total["failed"]
    lines.append(f"| all of these | {ran} | {total['passed']} | {total['skipped']} | |")
    return "\n".join(lines)


def prepare(folders: Sequence[Path], soc: str, findings: str) -> None:
    """What the tests of a checkout import, and how the simulator runs them."""
    given = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    os.environ["PYTHONPATH"] = os.pathsep.join([*map(str, folders), *filter(None, given)])
    os.environ.setdefault("ACLGRAD_SOC", soc)
    os.environ["ACLGRAD_TORCH_FALLBACK"] = "silent"
    os.environ["ACLGRAD_FINDINGS"] = findings


def add_options(parser: argparse.ArgumentParser, record: Path) -> None:
    """Options of the scripts that run tests of a checkout and record them."""
    parser.add_argument("--findings", default="warn", choices=("error", "warn", "off"))
    parser.add_argument("--limit", type=float, default=600, help="seconds for a test")
    parser.add_argument("--record", type=Path, default=record)
    parser.add_argument("--resume", action="store_true", help="only what the record has not")
    parser.add_argument("--again", action="store_true", help="only read the record of a run")
    page_sections.add_option(parser)


def begin(record: Path, resume: bool) -> Results:
    """What a record has that a run goes on with, or none."""
    record.parent.mkdir(parents=True, exist_ok=True)
    if not resume:
        record.unlink(missing_ok=True)
    return read(record, ())


def table(results: Results) -> str:
    """Write the shares, the reasons, and the files with failures."""
    groups = (("ours", set(OURS)), ("others", set(results) - set(OURS)))
    lines = [
        "| files | run | tests | passed | share | skipped by themselves |",
        "|---|---|---|---|---|---|",
    ]
    for name, part in groups:
        found = count(results, part)
        files = sum(bool(results.get(each)) for each in part)
        ran = found["passed"] + found["failed"]
        share = f"{found['passed'] / ran:.1%}" if ran else "-"
        lines.append(
            f"| {name} | {files} | {ran} | {found['passed']} | {share} | {found['skipped']} |"
        )
    rows = []
    reasons: collections.Counter[str] = collections.Counter()
    for name, tests in sorted(results.items()):
        why = collections.Counter(reason(text) for kind, text in tests.values() if kind == "failed")
        reasons.update(why)
        if why:
            found = count(results, [name])
            said = ", ".join(f"{each} ({n})" for each, n in why.most_common())
            rows.append(f"| {name} | {found['passed']} | {found['failed']} | {said} |")
    lines += ["", "| reason of a failure | tests |", "|---|---|"]
    lines += [f"| {each} | {n} |" for each, n in reasons.most_common()]
    return "\n".join(
        [*lines, "", "| file | passed | failed | reasons |", "|---|---|---|---|", *rows]
    )


def main() -> int:
    """Run the tests of a checkout of op-plugin."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("checkout", type=Path, help="op-plugin")
    parser.add_argument("--files", nargs="+", help="names in test/test_base_ops")
    parser.add_argument("--sample", type=int, help="that many of the others, at random")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--limit", type=float, default=300, help="seconds for a test")
    parser.add_argument("--record", type=Path, default=Path("build/torch_npu_tests.jsonl"))
    page_sections.add_option(parser)
    parser.add_argument("--resume", action="store_true", help="only what the record has not")
    parser.add_argument("--again", action="store_true", help="only read the record of a run")
    arguments = parser.parse_args()

    folder = arguments.checkout.resolve() / "test" / "test_base_ops"
    files = chosen(folder, arguments.files, arguments.sample, arguments.seed)
    record = arguments.record.resolve()
    alone = record.with_name(f"{record.stem}_alone{record.suffix}")
    if not arguments.again:
        record.parent.mkdir(parents=True, exist_ok=True)
        if not arguments.resume:
            record.unlink(missing_ok=True)
            alone.unlink(missing_ok=True)
        left = unfinished(record, files, arguments.jobs)
        if left:
            run(folder, left, arguments.jobs, arguments.limit, record)
    results = read(record, files)
    if not arguments.again:
        run_alone(folder, unfinished(alone, failing(results), 1), arguments.limit, alone)
    results.update(read(alone, ()))
    text = table(results)
    page_sections.show(arguments.write, "torch_npu_tests", text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
