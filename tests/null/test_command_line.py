# SPDX-License-Identifier: Apache-2.0
"""The command line as people expect it: -h, the current directory, -k, explanations, known
findings, names of SoCs.
"""

from __future__ import annotations

import dataclasses
import errno
import json
import os
import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest

from aclgrad.cli import errors, known, operators
from aclgrad.cli.options import full_soc, full_socs
from aclgrad.common.display.terminal import Terminal
from aclgrad.findings import Finding, Merged, Place, Result
from aclgrad.spec.soc import FAMILIES, OF_FAMILY, family_of
from test_cli import COMMANDS, in_process, refused

TODAY = date(2026, 11, 28)


@pytest.mark.parametrize("command", COMMANDS)
def test_short_and_long_help_are_one(command: str) -> None:
    short = in_process(command, "-h")
    assert short.returncode == 0 and short.stdout == in_process(command, "--help").stdout


def test_the_command_says_what_it_is() -> None:
    assert "Ascend C kernels without an NPU" in in_process("-h").stdout


def test_headers_are_checked_for_the_project_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    refused("headers", "--cann", ".", match="no operator project here")
    refused("headers", "--cann", ".", "--shipped", "softmax_grad", match="keep one")
    refused("headers", match="--cann is missing")


@pytest.mark.parametrize("command", ["test", "check", "package"])
def test_no_project_here_is_an_error(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A forgotten cd does not run the five operators."""
    monkeypatch.chdir(tmp_path)
    refused(command, match="no operator project here")
    refused(command, "--shipped", match="Next: aclgrad build")  # meant, and nothing is built here
    if command != "package":
        refused(command, "--shipped", "softmax_grad", match="keep one")
    (tmp_path / "op_kernel").mkdir()
    assert "no operator project here" not in in_process(command).stderr


def test_list_and_keyword() -> None:
    every = in_process("test", "softmax_grad", "--list").stdout.splitlines()
    some = in_process(
        "test", "softmax_grad", "--list", "-k", "fp16 and not nan"
    ).stdout.splitlines()
    assert len(every) > len(some) > 10
    assert some == [name for name in every if "fp16" in name and "nan" not in name]


def test_operators_as_a_list() -> None:
    listed = in_process("test", "--ops", "softmax_grad,log_sigmoid_grad", "--list").stdout
    assert {name.split()[0] for name in listed.splitlines()} == {"softmax_grad", "log_sigmoid_grad"}


def test_keyword_expressions() -> None:
    assert operators.matches("fp32", "softmax FP32-5-nan")
    assert operators.matches("not fp16 and nan", "softmax fp32-5-nan")
    assert not operators.matches("fp32 and not nan", "softmax fp32-5-nan")
    assert operators.matches("fp16 or nan", "softmax fp32-5-nan")
    for words in ("", "fp32 and", "not"):
        with pytest.raises(ValueError, match="joined by and, or, not"):
            operators.matches(words, "softmax")


def test_last_failed_asks_for_a_failure(tmp_path: Path) -> None:
    refused("test", "softmax_grad", "--lf", "--out", tmp_path, match="knows of no failure")
    (tmp_path / "last_failed.json").write_text('{"a": 1}')
    refused("test", "softmax_grad", "--lf", "--out", tmp_path, match="not written by aclgrad test")


def test_explain_takes_kinds_and_choices(tmp_path: Path) -> None:
    text = in_process("explain", "ub-overflow").stdout
    assert text.startswith("ub-overflow: buffers beyond what UB holds") and "next: " in text
    assert json.loads(in_process("explain", "deadlock", "--json").stdout)["name"] == "deadlock"
    refused("explain", "ub-overflw", match="near it: ub-overflow", status=2)
    share = tmp_path / "share/aclgrad"
    share.mkdir(parents=True)
    source = Path(__file__).parents[2] / "simulator/src/unknowns.json"
    (share / "unknowns.json").write_text(source.read_text())
    from aclgrad.profiling.calibration import register

    register._read.cache_clear()
    done = in_process("explain", "exp.rounding", ACLGRAD_TOOLKIT=str(tmp_path))
    register._read.cache_clear()
    assert "the last bit: correctly rounded" in done.stdout, done.stderr


def test_socs_as_opdef_and_msopgen_write_them() -> None:
    assert full_soc("ascend910b") == full_soc("ai_core-Ascend910B2") == "Ascend910B2"
    assert full_soc("Ascend910B") == "Ascend910B"  # of Atlas training, no family
    assert full_soc(None) is None and full_soc("Ascend123") == "Ascend123"
    assert full_socs(["ascend910b,ascend310p", "Ascend910A"]) == [
        "Ascend910B2", "Ascend310P3", "Ascend910A",
    ]  # fmt: skip
    for family in FAMILIES:
        assert family_of(OF_FAMILY[family.name]) is family
    named = in_process("test", "softmax_grad", "--list", "--soc", "ascend310p").stdout
    assert (
        named
        and named == in_process("test", "softmax_grad", "--list", "--soc", "Ascend310P3").stdout
    )


def entry(text: str, folder: Path) -> list[known.Known]:
    path = folder / known.NAME
    path.write_text(text)
    return known.read(path)


def result(kind: str = "ub-overflow", severity: str = "error") -> Result:
    finding = Finding(kind, severity, "Square", at=Place(file="op_kernel/square.cpp", line=3))
    return Result((Merged(finding, 1, (), ""),), 1)


GOOD = """[[known]]
kind = "ub-overflow"
file = "square.cpp"
reason = "issue 7"
until = 2026-12-31
"""


def test_a_known_finding_is_no_error_until_its_end(tmp_path: Path) -> None:
    (one,) = entry(GOOD, tmp_path)
    left, said = known.apply(result(), [one], TODAY)
    assert not left.errors and said == ["known until 2026-12-31: 1 ub-overflow square.cpp: issue 7"]
    left, said = known.apply(result(), [one], date(2027, 1, 1))
    assert left.errors == 1 and "expired on 2026-12-31" in said[0]
    left, said = known.apply(result("deadlock"), [one], TODAY)
    assert left.errors == 1 and "remove the entry" in said[0]
    other = dataclasses.replace(one, file="other.cpp")
    assert known.apply(result(), [other], TODAY)[0].errors == 1
    other = dataclasses.replace(one, op="Cube")
    assert known.apply(result(), [other], TODAY)[0].errors == 1


@pytest.mark.parametrize(
    ("was", "becomes", "match"),
    [
        ('reason = "issue 7"\n', "", "want kind, reason and until"),
        ('reason = "issue 7"', 'reason = ""', "want text"),
        ("2026-12-31", '"soon"', "want a date"),
        ("ub-overflow", "ub-overflw", "which no finding has"),
        ("[[known]]", "[known]", r"want tables \[\[known\]\] alone"),
        ("until", "line = 3\nuntil", "if need be file and op"),
        ('"ub', "ub", r"Next: docs/debugging\.md"),
    ],
)
def test_a_wrong_entry_is_refused(was: str, becomes: str, match: str, tmp_path: Path) -> None:
    assert was in GOOD
    with pytest.raises(ValueError, match=match):
        entry(GOOD.replace(was, becomes), tmp_path)


def test_a_shell_completes_commands_and_options() -> None:
    def completed(*words: str) -> list[str]:
        environment = {
            **os.environ,
            "_ACLGRAD_COMPLETE": "complete_bash",
            "COMP_WORDS": " ".join(("aclgrad", *words)),
            "COMP_CWORD": str(len(words)),
        }
        code = "import sys; sys.argv[0] = 'aclgrad'; from aclgrad.cli import main; main()"
        done = subprocess.run(
            [sys.executable, "-c", code], env=environment, capture_output=True, text=True
        )
        return done.stdout.split()

    assert completed("te") == ["test"]
    assert completed("test", "--last") == ["--last-failed"]


def without_reader(*words: str, both: bool) -> subprocess.CompletedProcess[str]:
    """Run a command whose output nobody reads any more, as behind head."""
    read, write = os.pipe()
    os.close(read)
    try:
        return subprocess.run(
            [sys.executable, "-m", "aclgrad", *words],
            stdout=write,
            stderr=write if both else subprocess.PIPE,
            text=True,
            timeout=600,
            check=False,
        )
    finally:
        os.close(write)


@pytest.mark.parametrize(
    "words", [("-h",), ("--version",), ("explain", "deadlock"), ("explain", "161002", "--json")]
)
def test_a_closed_output_ends_a_command_quietly(words: tuple[str, ...]) -> None:
    done = without_reader(*words, both=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert without_reader(*words, both=True).returncode == 0


def test_an_error_that_nobody_reads_is_one() -> None:
    assert without_reader("explain", "nothing-of-this-name", both=True).returncode == 2


def test_a_child_whose_output_is_closed_has_not_crashed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Commands that run code of others print from a child: rich's own end of it is no crash."""

    def prints() -> bool:
        raise BrokenPipeError(errno.EPIPE, "Broken pipe")

    with pytest.raises(BrokenPipeError):
        errors.in_child(prints, "this")
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w") as closed, pytest.raises(BrokenPipeError):
        Terminal(closed).print("x" * 100_000)
    assert capsys.readouterr().err == ""
