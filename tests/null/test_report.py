# SPDX-License-Identifier: Apache-2.0
"""The precision report from outcomes that are made up, and the choice of cases."""

from __future__ import annotations

import json
import math
import re
import shlex
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest
import xmlschema

from aclgrad.cases.grid import ProjectCase
from aclgrad.golden.precision import Report
from aclgrad.ops import all_specs, find
from aclgrad.reporting import html, junit, report, table
from aclgrad.reporting.pictures import histogram
from aclgrad.reporting.report import Conditions
from aclgrad.spec.cases import Case
from aclgrad.spec.dtypes import FLOAT16
from aclgrad.spec.soc import family
from aclgrad.testing import selection
from aclgrad.testing.refusals import RefusedCase
from aclgrad.testing.run import Outcome
from other_operators import MASKED

HERE = Conditions("sim", "Ascend910B2", "checked", finished="2026-01-02 03:04 UTC")
CASES = {spec.op: list(spec.cases(spec, True)) for spec in all_specs()}
VOID = {"area", "base", "br", "hr", "img", "input", "link", "meta", "line", "rect"}


def outcome(
    case: Case, ulp: float | None = 0.4, passed: bool = True, message: str = "m"
) -> Outcome:
    judged = None if ulp is None else Report(passed, 10, 10, 1e-3, ulp, ulp / 2, 128.0, 0)
    return Outcome(case, passed, message, 0.002, judged, 125, 100)


def mixed() -> list[Outcome]:
    softmax, sigmoid = CASES["softmax_grad"], CASES["log_sigmoid_grad"]
    return [
        outcome(softmax[0]),
        outcome(softmax[1], 3.0),
        outcome(softmax[2], 77.0, False, "FAILED: <worst> & 'bad'\n  first bad element: [1]"),
        outcome(sigmoid[0], None, False, "561003 no kernel\x1b[0m for <b>"),
        outcome(sigmoid[1], 0.0),
    ]


class Page(HTMLParser):
    """Fails on tags that do not nest."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: set[str] = set()
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        assert not {"src", "srcset"} & given.keys() and tag != "link", f"{tag} loads something"
        if given.get("id"):
            assert given["id"] not in self.ids
            self.ids.add(str(given["id"]))
        if tag == "a":
            self.links.append(str(given["href"]))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag


def parsed(text: str) -> Page:
    page = Page()
    page.feed(text)
    page.close()
    assert page.open == []
    return page


def test_page_is_whole_and_needs_nothing_else() -> None:
    text = html.page(mixed(), HERE)
    page = parsed(text)
    assert all(link.startswith("#") and link[1:] in page.ids for link in page.links)
    assert "http" not in text and "url(" not in text and "@import" not in text
    assert "2 of 5 cases FAILED" in text and "prefers-color-scheme: dark" in text
    for label, value in HERE.described():
        assert f"<dt>{label}</dt><dd>{value}</dd>" in text
    for item in mixed():
        assert item.case.name in text and report.as_json([item], HERE)["cases"][0]["shape"] in text


def test_failures_come_first_and_text_is_escaped() -> None:
    text = html.page(mixed(), HERE)
    assert text.index('id="failures"') < text.index('id="summary"')
    for told in ("561003 no kernel", "FAILED: &lt;worst&gt; &amp;"):
        assert text.index('id="failures"') < text.index(told) < text.index('id="summary"')
    listed = text[text.index('id="softmax_grad"') :]
    at = [listed.rindex(f">{item.case.name}</td>") for item in mixed()[:3]]
    assert at[2] < at[1] < at[0]
    assert "<b>" not in text and "<worst>" not in text


def test_page_of_a_good_run_has_no_failures() -> None:
    text = html.page([item for item in mixed() if item.passed], HERE)
    parsed(text)
    assert "all 3 cases passed" in text and 'id="failures"' not in text and "FAILED" not in text


def test_many_failures_are_cut_short_and_all_listed() -> None:
    items = [outcome(case, 99.0, False) for case in CASES["softmax_grad"][:30]]
    text = html.page(items, HERE)
    assert text.count('class="failure"') == 1 and "30 cases" in text and "url(" not in text
    assert all(
        f'<td class="mono">{item.case.name}</td>' in text
        for item in items
        if ">" not in item.case.name
    )


def test_worst_case_comes_with_its_command() -> None:
    strange = next(case for case in CASES["softmax_grad"] if ">" in case.name)
    here = replace(HERE, seed=7, fast=True, mode="fast", soc="Ascend910_9391")
    command = here.repro(strange)
    assert shlex.split(command) == [
        "aclgrad", "test", "softmax_grad", "--case", strange.name,
        "--soc", "Ascend910_9391", "--seed", "7", "--fast", "--no-check",
    ]  # fmt: skip
    text = html.page([outcome(strange)], here)
    shown = re.search(r'<pre class="command"[^>]*>(.*?)</pre>', text)
    assert shown is not None
    import html as escapes

    assert escapes.unescape(shown[1]) == command
    assert Conditions("npu", "npu").repro(strange).endswith("--device npu")


def test_histogram_counts_every_case_once() -> None:
    case = CASES["softmax_grad"][0]
    errors = [0.0, 0.25, 0.26, 0.5, 1.0, 1.01, 32.0, 32.01, math.inf, math.nan, None]
    found = {item.name: item.passed for item in histogram.bins([outcome(case, e) for e in errors])}
    assert found == {
        "0": 1, "¼": 1, "½": 2, "1": 1, "2": 1, "4": 0, "8": 0, "16": 0, "32": 1, "> 32": 2,
        "none": 2,
    }  # fmt: skip
    svg = histogram.svg([outcome(case, 0.1), outcome(case, 0.2, False)], "a < b")
    root = ElementTree.fromstring(svg)
    assert root.get("aria-label") == "a < b"
    assert {"1 passed", "1 failed"} < {title.text for title in root.iter("title")}
    ElementTree.fromstring(histogram.svg([], "nothing"))


def parse_junit(text: str) -> ElementTree.Element:
    """The document, which the schema allows and whose counts are true."""
    xmlschema.validate(text, str(Path(__file__).with_name("junit.xsd")))
    root = ElementTree.fromstring(text.encode())
    for suite in (root, *root.findall("testsuite")):
        cases = [*suite.iter("testcase")]
        assert int(suite.get("tests", "")) == len(cases)
        assert int(suite.get("failures", "")) == sum(c.find("failure") is not None for c in cases)
        skipped = sum(case.find("skipped") is not None for case in cases)
        assert int(suite.get("skipped", skipped)) == skipped
    return root


def test_junit_is_what_ci_servers_read() -> None:
    text = junit.document(mixed(), HERE)
    root = parse_junit(text)
    assert text.startswith('<?xml version="1.0" encoding="utf-8"?>')
    assert root.tag == "testsuites"
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == ("5", "2", "0")
    suites = root.findall("testsuite")
    assert [suite.get("name") for suite in suites] == ["softmax_grad.fp32", "log_sigmoid_grad.fp32"]
    for suite in suites:
        assert [child.tag for child in suite][0] == "properties"
        assert all(float(case.get("time", "")) > 0 for case in suite.findall("testcase"))
    shown = suites[0].findtext("testcase/system-out") or ""
    assert shown.splitlines()[0] == "max_ulp_of_scale: 0.40"
    refused = suites[1].find("testcase/failure")
    assert refused is not None and refused.get("type") == "refused"
    assert r"no kernel\x1b[0m for <b>" in refused.get("message", "")
    assert "aclgrad test log_sigmoid_grad --case" in (refused.text or "")
    left = RefusedCase("softmax_grad", "a", "b")
    for outcomes in ([], mixed()):
        root = parse_junit(junit.document(outcomes, HERE, [left, replace(left, op="b")]))
        assert len([*root.iter("skipped")]) == 2


def test_json_has_every_case(tmp_path: Path) -> None:
    paths = report.write_formats(tmp_path, ("html", "json", "junit"), mixed(), HERE)
    assert [path.name for path in paths] == list(report.FORMATS.values())
    document = json.loads((tmp_path / "precision.json").read_text())
    assert document["passed"] is False and document["soc"] == "Ascend910B2"
    assert len(document["cases"]) == 5 and document["rows"][0]["passed"] == 2
    assert document["cases"][2]["repro"].startswith("aclgrad test softmax_grad --case ")


def test_shapes_that_differ_are_named() -> None:
    texts = {case.name: table.shape_text(case) for case in CASES["kl_div_loss_grad"]}
    assert "4x33, target 33" in texts.values()
    assert "4x33, gradOutput 33, target scalar" in texts.values()
    mixed_dtypes = {table.dtype_text(case) for case in CASES["kl_div_loss_grad"]}
    assert {"fp32", "fp16+bf16", "fp16+fp32"} <= mixed_dtypes
    assert "fp16 to fp64" in {table.dtype_text(case) for case in CASES["softmax_grad"]}


@pytest.mark.parametrize("op", ["huber_grad", "softmax_grad"])
def test_project_in_a_folder_of_its_operators_name(op: str) -> None:
    """``aclgrad new huber_grad && aclgrad test huber_grad``: no operator of this package, whatever
    its name.
    """
    case = ProjectCase("one", op, CASES["softmax_grad"][0].call, path=op)
    text = html.page([outcome(case)], HERE)
    assert op in text and "aclnnSoftmaxBackward" not in text
    assert table.shape_text(case) and table.dtype_text(case)


def test_formats() -> None:
    assert report.parse_formats("junit, html") == ("html", "junit")
    assert report.is_formats("html,json,junit") and not report.is_formats("report/html")
    with pytest.raises(ValueError, match="got 'pdf', want a list like html,json,junit"):
        report.parse_formats("html,pdf")


def test_operators_by_word_and_list() -> None:
    both = selection.operators(["softmax_grad"], "aclnnLogSigmoidBackward, softmax_grad")
    assert [spec.op for spec in both] == ["softmax_grad", "log_sigmoid_grad"]
    assert selection.operators([]) == list(all_specs())
    with pytest.raises(ValueError, match="want one of"):
        selection.operators([], "softmin")
    with pytest.raises(ValueError, match="empty list"):
        selection.operators(["softmax_grad"], " ,")


def test_cases_by_name_and_dtype() -> None:
    spec = find("softmax_grad")
    name = CASES["softmax_grad"][5].name
    chosen = selection.choose(all_specs(), fast=True, names=[name])
    assert [(s.op, [c.name for c in cases]) for s, cases in chosen.groups][-1] == (spec.op, [name])
    halves = selection.choose([spec], dtype=FLOAT16)
    assert {case.dtype for _, cases in halves.groups for case in cases} == {FLOAT16}
    with pytest.raises(ValueError, match=f"is no case of softmax_grad; near it: .*{name}"):
        selection.choose([spec], fast=True, names=[name + "x"])
    with pytest.raises(ValueError, match="add --fast"):
        selection.choose([spec], names=["nothing like it"])


def test_cases_follow_the_contract_of_the_soc() -> None:
    spec = find("softmax_grad")
    chosen = selection.choose([spec], fast=True, family=family("ascend310p"))
    kinds = {case.dtype.alias for _, cases in chosen.groups for case in cases}
    assert kinds == {"fp32", "fp16"} and len(chosen.refused) > 50
    # Accepted by the checks: the missing kernel must show as a failure, not vanish.
    assert selection.choose([spec], fast=True, family=family("ascend950")).refused == ()
    with pytest.raises(ValueError, match=r"kl_div_loss_grad: Atlas inference \(ascend310p\)"):
        selection.choose([find("kl_div_loss_grad")], fast=True, family=family("ascend310p"))
    with pytest.raises(ValueError, match="try --dtype fp32"):
        selection.choose([MASKED])
