# SPDX-License-Identifier: Apache-2.0
"""`aclgrad check` and --check, --autosync, --chaos on a kernel with planted faults."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from test_cli_run import aclgrad
from test_docs import ROOT
from test_findings import check_sarif
from test_report import parsed

SOURCE = ROOT / "tests" / "sim" / "programs" / "check_kernel.cpp"
OP = "log_sigmoid_grad"
SMALL, LARGE = ("--dtype", "fp32", "--shape", "64"), ("--dtype", "fp32", "--shape", "100x1000")
CLEAN, REDUNDANT, RACE, BARRIER, WRONG, BOUNDS, DROPPED = range(7)

Check = Callable[..., str]
Plant = Callable[[int], dict[str, Any]]


def line_of(text: str) -> int:
    return next(i for i, row in enumerate(SOURCE.read_text().splitlines(), 1) if text in row)


@pytest.fixture(scope="module")
def copied(toolkit: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A toolkit of its own, whose kernel is replaced."""
    return Path(shutil.copytree(toolkit, tmp_path_factory.mktemp("planted") / "toolkit"))


@pytest.fixture(scope="module")
def plant(copied: Path) -> Plant:
    """Puts a fault into the kernel for float; returns the environment that uses it."""
    folder = copied / "opp/vendors/aclgrad/op_impl/ai_core/tbe/kernel/ascend910b" / OP
    kernel = folder / "LogSigmoidGrad_float32_float32_float32.so"
    assert kernel.is_file()

    def build(number: int) -> dict[str, Any]:
        made = copied / f"plant{number}.so"
        if not made.exists():
            command = ["g++", "-std=c++17", "-O1", "-g", "-fno-omit-frame-pointer", "-fPIC"]
            command += ["-shared", "-Wall", "-Wextra", "-Werror", f"-DPLANT={number}"]
            command += ["-DDTYPE_GRADS=float", "-D__CCE_AICORE__=220", "-D__NPU_ARCH__=2201"]
            command += [f"-I{ROOT}/op_host", f"-I{copied}/include", str(SOURCE), "-o", str(made)]
            subprocess.run([*command, f"-L{copied}/lib64", "-lascendcl"], check=True)
        shutil.copy(made, kernel)
        return {"ACLGRAD_TOOLKIT": str(copied)}

    return build


@pytest.fixture
def check(plant: Plant) -> Check:
    """Runs `aclgrad check` on a planted fault."""

    def run(number: int, *words: object, status: int = 0) -> str:
        return aclgrad("check", OP, *words, status=status, **plant(number))

    return run


def kinds(text: str) -> list[str]:
    return re.findall(r"^(?:error|hint)\[([a-z0-9-]+)\]", text, re.M)


def as_on_the_page(kind: str, text: str) -> bool:
    """Whether the page shows this report, but for numbers: a race has others each time."""
    page = (ROOT / "docs" / "reference" / "findings.md").read_text()
    (shown,) = re.findall(rf"^```text\n(error\[{kind}\].*?)^```$", page, re.M | re.S)
    shown, text = (re.sub(r"\d|first at .*", "", each) for each in (shown, text))
    return shown in text


def test_both_ends_of_a_race_and_the_page(check: Check) -> None:
    text = check(RACE, *SMALL, "--no-hints", status=1)
    assert f"check_kernel.cpp:{line_of('PLANT 2')}\n      Div(out, g, x, count);" in text
    assert f"check_kernel.cpp:{line_of('DataCopyPad(g')}\n      DataCopyPad(g, gradsGm" in text
    page = (ROOT / "docs" / "debugging.md").read_text()
    (shown,) = re.findall(r"^```\n(error\[.*?)^```$", page, re.M | re.S)
    shown = shown.replace("tests/sim/programs", str(SOURCE.parent))
    assert shown in text.replace(" tests/sim/programs", f" {SOURCE.parent}"), text
    # The command of the report shows the finding again.
    (repeat,) = re.findall("repeat: aclgrad check log_sigmoid_grad (.*)", text)
    assert kinds(check(RACE, *shlex.split(repeat), status=1))[0] == "race-read-after-write"


def test_page_has_the_source_around_both_ends(check: Check, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    text = check(RACE, *SMALL, "--html", page, status=1)
    assert "race-" in text  # on the terminal all the same
    html = page.read_text("utf-8")
    parsed(html)
    assert "nothing orders the two" in html.partition("The report in full")[0]
    marked = [int(number) for number in re.findall(r"<mark><b>(\d+)</b>", html)]
    told = [int(number) for number in re.findall(r"check_kernel\.cpp:(\d+)$", text, re.M)]
    assert len(marked) >= 2 and marked == told[: len(marked)]  # the launch's own report follows
    assert html.count("<span><b>") > 10 and "aclgrad check" in html
    assert html.count('<figure class="times"') >= 1 and "Nothing makes it wait." in html
    assert sorted(re.findall(r'class="bar end (\w)"', html)[:2]) == ["A", "B"]
    assert "http" not in html and "<script" not in html


def test_ends_of_a_race_have_the_times_of_the_profile(
    check: Check, plant: Plant, tmp_path: Path
) -> None:
    output, page = tmp_path / "found.json", tmp_path / "page.html"
    words = (*LARGE, "--no-hints", "--format", "json", "-o", output)
    check(RACE, *words, "--html", page, status=1)
    (found,) = json.loads(output.read_text())["findings"]
    line = found["timeline"]
    trace = tmp_path / "trace.json"
    shape = ("100x1000", "--dtype", "fp32", "--cores", str(found["core"]), "--trace", trace)
    aclgrad("profile", OP, *shape, **plant(RACE))
    events = json.loads(trace.read_text())["traceEvents"]
    for place, (lane, begin, end) in zip(
        [found["at"], *found["related"]], line["ends"], strict=True
    ):
        core, pipe = line["lanes"][lane]
        assert (core, pipe) == (found["core"], place["pipe"])
        code = f"{SOURCE.name}:{place['line']}"
        ends = [
            (event["ts"] + event["dur"]) * line["mhz"]
            for event in events
            if event["ph"] == "X" and event["tid"] == pipe and event["args"]["code"].endswith(code)
        ]
        assert begin < end and min(abs(each - end) for each in ends) <= 2, (code, end, ends)
    # Nobody pays for what is not shown.
    check(RACE, *words, status=1)
    assert "timeline" not in json.loads(output.read_text())["findings"][0]


def test_what_nobody_wrote(check: Check) -> None:
    words = ("--dtype", "fp32", "--shape", "100", "--no-hints")
    text = check(DROPPED, *words, status=1)
    assert kinds(text)[0] == "output-unwritten"
    assert f"check_kernel.cpp:{line_of('PLANT 6')}" in text
    assert "bytes [384, 400) (elements 96 to 99 of 100)" in text
    # Who allows it sees what comes of it.
    for name in ("*", "LogSigmoidGrad.*"):
        assert "output-unwritten" not in check(DROPPED, *words, "--partial-output", name, status=1)
    assert "output-unwritten" in check(DROPPED, *words, "--partial-output", "other", status=1)


def test_cases_are_merged(check: Check) -> None:
    text = check(RACE, *SMALL, "--shape", "100x1000", status=1)
    assert kinds(text) == ["race-read-after-write"]
    assert re.search(r"\d+ times in 2 of 2 cases, first fp32-64\n", text)
    assert "1 error, 0 hints in 2 cases on Ascend910B2 (autosync on)" in text
    grid = check(RACE, "--dtype", "fp32", "--fast", status=1)
    assert kinds(grid) == ["race-read-after-write"] and "check log_sigmoid_grad --case" in grid


def test_chaos_shows_the_race_as_wrong_numbers(check: Check) -> None:
    text = check(RACE, *LARGE, "--chaos", "1-3", status=1)
    assert set(kinds(text)) == {"race-read-after-write", "chaos-difference"}
    assert re.search(r"chaos seed \d: \d+ of 100000 elements differ", text)
    assert as_on_the_page("chaos-difference", text)
    assert kinds(check(CLEAN, *LARGE, "--chaos", "1-3")) == []


def test_autosync_off(check: Check) -> None:
    assert kinds(check(BARRIER, *LARGE)) == []
    text = check(BARRIER, *LARGE, "--autosync", "off", status=1)
    assert set(kinds(text)) <= {"race-read-after-write", "race-write-after-write"}
    assert f"check_kernel.cpp:{line_of('Adds(x, x')}" in text
    assert "PipeBarrier<PIPE_V>" in text and "--autosync off" in text
    # The rest of the kernel has all its barriers.
    assert kinds(check(CLEAN, *LARGE, "--autosync", "off")) == []


def test_hints_hold_in_every_case(check: Check) -> None:
    text = check(REDUNDANT, *SMALL, "--shape", "100x1000")
    assert kinds(text) == ["sync-redundant"]
    assert f"check_kernel.cpp:{line_of('PLANT 1')}" in text
    assert kinds(check(REDUNDANT, *SMALL, "--shape", "100x1000", "--no-hints")) == []
    # This one orders nothing as long as there is one tile.
    assert f"check_kernel.cpp:{line_of('a hint unless')}" in check(CLEAN, *SMALL)
    assert kinds(check(CLEAN, *SMALL, "--shape", "100x1000")) == []


def test_wrong_numbers(check: Check) -> None:
    text = check(WRONG, *SMALL, "--no-hints", status=1)
    assert kinds(text) == ["wrong-result"] and "0/64 elements match" in text
    assert as_on_the_page("wrong-result", text)


def test_json_and_sarif(check: Check, tmp_path: Path) -> None:
    text = check(BOUNDS, *LARGE, "--format", "json", status=1)
    document = json.JSONDecoder().raw_decode(text)[0]
    (found,) = document["findings"]
    assert (found["kind"], found["severity"], found["count"]) == ("ub-out-of-bounds", "error", 48)
    assert (found["at"]["line"], found["blockDim"]) == (line_of("PLANT 5"), 48)
    assert json.loads(found["tiling"])["total"] == 100000
    path = tmp_path / "found.sarif"
    text = check(BOUNDS, *LARGE, "--format", "sarif", "--output", path, status=1)
    assert f"{path}: 1 error, 0 hints in 1 case" in text
    sarif = json.loads(path.read_text())
    check_sarif(sarif)
    (result,) = sarif["runs"][0]["results"]
    place = result["locations"][0]["physicalLocation"]
    assert place["region"]["startLine"] == line_of("PLANT 5")
    assert place["artifactLocation"]["uri"].endswith("tests/sim/programs/check_kernel.cpp")
    assert result["ruleId"] == "ub-out-of-bounds"


def test_report_of_a_program(plant: Plant, tmp_path: Path) -> None:
    """A C++ program writes its findings by itself."""
    environment = plant(RACE)
    root = Path(environment["ACLGRAD_TOOLKIT"])
    program, report = tmp_path / "program", tmp_path / "found.jsonl"
    words = aclgrad("config", "--cflags", "--libs", **environment).split()
    assert str(root) in " ".join(words)
    source = ROOT / "examples" / "aclnn_logsigmoid_backward.cpp"
    subprocess.run(["g++", str(source), *words, "-o", str(program)], check=True)
    # Without the folder of libraries that a sanitizer's run names: those of the planted copy count.
    inherited = {name: text for name, text in os.environ.items() if name != "LD_LIBRARY_PATH"}
    reports = {**inherited, "ACLGRAD_SIM_REPORT": str(report)}
    done = subprocess.run([program], env=reports, capture_output=True)
    assert done.returncode != 0
    text = aclgrad("findings", "--no-hints", report, status=1)
    assert kinds(text) == ["race-read-after-write"] and "repeat:" not in text
    assert f"check_kernel.cpp:{line_of('PLANT 2')}" in text
    for former in (("--report", report), (f"--show={report}",)):
        assert aclgrad("check", "--no-hints", *former, status=1) == text
    check_sarif(json.loads(aclgrad("findings", report, "--format", "sarif", status=1)))
    report.write_text("")
    assert aclgrad("findings", report) == "0 errors, 0 hints\n"
    assert "--shape" in aclgrad("findings", report, "--shape", "4", status=2)


def test_test_lists_findings(plant: Plant, tmp_path: Path) -> None:
    environment = plant(RACE)
    words = ("test", OP, "--dtype", "fp32", "--fast", "--format", "html,json,junit")
    text = aclgrad(*words, "--out", tmp_path, status=1, **environment)
    assert "kernel fault [race-read-after-write] in LogSigmoidGrad" in text
    document = json.loads((tmp_path / "precision.json").read_text())
    (found,) = document["findings"]
    failed = [case for case in document["cases"] if not case["passed"]]
    assert {*map(str, found["cases"])} == {case["name"] for case in failed}
    assert all(case["findings"] == ["race-read-after-write"] for case in failed)
    assert "check_kernel.cpp" in (tmp_path / "precision.html").read_text()
    assert 'type="finding"' in (tmp_path / "junit.xml").read_text()
    # In program order the numbers are right, late copies spoil them.
    name = failed[-1]["name"]
    fast = ("test", OP, "--case", name, "--fast", "--no-check")
    aclgrad(*fast, **environment)
    assert "FAILED" in aclgrad(*fast, "--chaos", 1, status=1, **environment)


def test_run_has_the_options(plant: Plant, tmp_path: Path) -> None:
    environment = plant(BARRIER)
    rng = np.random.default_rng(0)
    files = []
    for name in ("g", "x"):
        files.append(tmp_path / f"{name}.npy")
        np.save(files[-1], rng.normal(size=5000).astype(np.float32))
    words = ("run", OP, *files, "-o", tmp_path / "o.npy", "--golden")
    aclgrad(*words, **environment)
    text = aclgrad(*words, "--autosync", "off", status=1, **environment)
    assert "[race-read-after-write]" in text and "check_kernel.cpp" in text
    aclgrad(*words, "--autosync", "off", "--no-check", **environment)
    spoilt = ("--autosync", "off", "--no-check", "--chaos", 1)
    aclgrad(*words, *spoilt, **plant(CLEAN))


def test_keep_going(check: Check) -> None:
    """The finding says what was done instead; the command that repeats it goes on too."""
    text = check(BOUNDS, *LARGE, "--keep-going", status=1)
    assert kinds(text) == ["ub-out-of-bounds"]
    assert "keep-going: done as on hardware, with what lies next to the buffer in UB" in text
    (repeat,) = re.findall("repeat: aclgrad check log_sigmoid_grad (.*)", text)
    assert "--keep-going" in repeat
    assert "keep-going" not in check(BOUNDS, *LARGE, status=1)


def test_test_marks_numbers_after_faults(plant: Plant, tmp_path: Path) -> None:
    environment = plant(BOUNDS)
    words = ("test", OP, "--dtype", "fp32", "--fast", "--keep-going", "--format", "html,json,junit")
    text = aclgrad(*words, "--out", tmp_path, status=1, **environment)
    assert re.search(r"\(\d+ after faults\)", text), text
    consequence = "after 1 fault: wrong numbers may be their consequence"
    assert consequence in text
    document = json.loads((tmp_path / "precision.json").read_text())
    (found,) = document["findings"]
    assert found["kind"] == "ub-out-of-bounds" and "done as on hardware" in found["goesOn"]
    failed = [case for case in document["cases"] if not case["passed"]]
    assert failed and all(
        case["after_faults"] == 1 and case["max_ulp_of_scale"] < 4 for case in failed
    )
    assert all("--keep-going" in case["repro"] for case in failed)
    assert f"numbers {consequence}" in (tmp_path / "junit.xml").read_text()
    assert consequence in (tmp_path / "precision.html").read_text()


def test_run_writes_numbers_after_faults(plant: Plant, tmp_path: Path) -> None:
    environment = plant(BOUNDS)
    rng = np.random.default_rng(0)
    files = []
    for name in ("g", "x"):
        files.append(tmp_path / f"{name}.npy")
        np.save(files[-1], rng.normal(size=100000).astype(np.float32))
    output = tmp_path / "o.npy"
    words = ("run", OP, *files, "-o", output, "--golden")
    for ends in ((), ("--no-check", "--no-keep-going")):
        aclgrad(*words, *ends, status=1, **environment)
        assert not output.exists()
    for goes_on in (("--keep-going",), ("--no-check",)):
        text = aclgrad(*words, *goes_on, status=1, **environment)
        assert "after 1 fault: wrong numbers may be their consequence" in text
        assert "keep-going: done as on hardware, with what lies next to the buffer in UB" in text
        text = aclgrad(*words, *goes_on, "--json", status=1, **environment)
        document = json.JSONDecoder().raw_decode(text)[0]
        assert document["after_faults"] == 1 and document["golden"]["passed"]
        assert "consequence" in document["golden"]["note"]
        assert np.load(output).shape == (100000,)
        output.unlink()


def test_the_environment_keeps_going(plant: Plant) -> None:
    """As for a program of one's own; a wrong word is refused by aclInit."""
    check, planted = ("check", OP, *LARGE), plant(BOUNDS)
    text = aclgrad(*check, ACLGRAD_SIM_KEEP_GOING="1", status=1, **planted)
    assert "keep-going: done as on hardware, with what lies next to the buffer in UB" in text
    text = aclgrad(*check, ACLGRAD_SIM_KEEP_GOING="maybe", status=1, **planted)
    assert "want on (or 1), off (or 0), or default" in text


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--chaos", "0"), "want seeds from 1 on"),
        (("--shape", "4", "--case", "x"), "keep one"),
        (("--dim", "1"), "give a --shape too"),
        (("--output", "/nowhere/x"), "there is no folder"),
        (("--shape", "4x"), "want dims joined by x"),
        (("--shape", "4", "--attr", "y=1"), "want NAME=VALUE"),
        (("--case", "nonsense"), "no case of log_sigmoid_grad"),
    ],
)
def test_refused_words(toolkit: Path, words: tuple[str, ...], why: str) -> None:
    assert why in aclgrad("check", OP, *words, status=1)


def test_a_refused_shape_says_why(toolkit: Path) -> None:
    text = aclgrad("check", "scaled_masked_softmax_grad_v2", "--shape", "4x4", status=1)
    assert kinds(text) == ["call-failed"] and "161002" in text
    assert as_on_the_page("call-failed", text)


def test_the_operators_are_clean(toolkit: Path) -> None:
    """Under chaos too, and without the compiler's help."""
    assert kinds(aclgrad("check", "--fast", "--dtype", "fp16", "--chaos", 1)) == []
    words = ("--autosync", "off", "--chaos", 2)
    assert kinds(aclgrad("check", "--fast", "--dtype", "bf16", *words)) == []
