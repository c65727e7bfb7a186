# SPDX-License-Identifier: Apache-2.0
"""`aclgrad test`: which cases run, where the report lies, and that a case can be run again."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from xml.etree import ElementTree

import pytest

from test_cli_run import aclgrad

pytestmark = pytest.mark.usefixtures("toolkit")


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_report_takes_formats_and_out_the_folder(tmp_path: Path) -> None:
    words = ("test", "--ops", "softmax_grad,log_sigmoid_grad", "--fast", "--dtype", "fp16")
    text = aclgrad(*words, "--report", "html,json,junit", "--out", tmp_path / "r")
    assert names(tmp_path / "r") == [
        "history.json",
        "junit.xml",
        "precision.html",
        "precision.json",
    ]
    assert str(tmp_path / "r" / "precision.html") in text
    document = json.loads((tmp_path / "r" / "precision.json").read_text())
    assert [row["op"] for row in document["rows"]] == ["softmax_grad", "log_sigmoid_grad"]
    suites = ElementTree.parse(tmp_path / "r" / "junit.xml").getroot()
    assert int(suites.get("tests", "")) == len(document["cases"]) > 100
    assert suites.get("failures") == "0"
    page = (tmp_path / "r" / "precision.html").read_text()
    assert f"all {len(document['cases'])} cases passed" in page


def test_report_takes_a_folder_and_format_the_list(tmp_path: Path) -> None:
    words = ("test", "log_sigmoid_grad", "--fast", "--dtype", "bf16")
    aclgrad(*words, "--report", tmp_path / "r", "--format", "junit")
    assert names(tmp_path / "r") == ["junit.xml"]
    for wrong, why in (
        (("--report", tmp_path, "--out", tmp_path), "both name the folder"),
        (("--report", "html", "--format", "json"), "both list formats"),
        (("--format", "pdf"), "want a list like html,json,junit"),
    ):
        assert why in aclgrad(*words, *wrong, status=1)


def test_a_case_runs_again_by_the_command_of_the_report(tmp_path: Path) -> None:
    words = ("test", "softmax_grad", "--fast", "--seed", 3, "--dtype", "fp16")
    aclgrad(*words, "--out", tmp_path, "--format", "json")
    cases = json.loads((tmp_path / "precision.json").read_text())["cases"]
    worst = max(cases, key=lambda case: case["max_ulp_of_scale"] or 0)
    strided = next(case for case in cases if ">" in case["name"])
    for case in (worst, strided):
        command, *again = shlex.split(case["repro"])
        assert command == "aclgrad"
        text = aclgrad(*again, "--out", tmp_path / "again", "--format", "json")
        (one,) = json.loads((tmp_path / "again" / "precision.json").read_text())["cases"]
        assert {**one, "seconds": 0} == {**case, "seconds": 0}
        assert "elements match" in text
        # Without --out the report of a whole run stays as it is.
        assert "report:" not in aclgrad(*again)


def test_a_socs_contract_decides_what_runs(tmp_path: Path) -> None:
    words = ("test", "softmax_grad", "--fast", "--dtype", "bf16", "--out", tmp_path)
    text = aclgrad(*words, "--soc", "Ascend310P3", status=1)
    assert "Atlas inference (ascend310p) supports none" in text and not names(tmp_path)
