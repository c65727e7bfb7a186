# SPDX-License-Identifier: Apache-2.0
"""What notebooks show of results, without a notebook."""

from __future__ import annotations

import inspect

from aclgrad.common import callables
from aclgrad.common.display.notebook import table
from aclgrad.findings import Finding, Result, Run, merge
from aclgrad.findings.finding import Place
from test_profile import kernel, profiled
from test_report import parsed


def test_tables_nest_and_escape() -> None:
    text = table("a <b>", [("x", "1 < 2", 3)], ("name", "words", "count"), "note & more")
    parsed(text)
    assert "a &lt;b&gt;" in text and "1 &lt; 2" in text and "note &amp; more" in text


def test_operators_show_their_functions() -> None:
    signature = inspect.Signature([inspect.Parameter("x", inspect.Parameter.POSITIONAL_ONLY)])
    function = callables.make("huber", signature, "Huber <loss>.\n\nMore.", lambda x: x, "m")
    text = callables.Operators("some/path", {"huber": function})._repr_html_()
    parsed(text)
    assert "some/path" in text and "(x, /)" in text and "Huber &lt;loss&gt;." in text
    assert "More" not in text


def test_profiles_show_time_bound_and_lines() -> None:
    found = profiled(kernel())
    text = found._repr_html_()
    parsed(text)
    assert found.title in text and found.estimate.words in text and "lines that cost" in text
    assert text.count("<table>") == 2
    assert profiled(kernel(), lines=[])._repr_html_().count("<table>") == 1


def test_results_of_checks_show_each_finding() -> None:
    finding = Finding("race-read-after-write", at=Place("VECTOR", "Div", "reads", "k.cpp", 7))
    result = Result(tuple(merge([Run("case", "again", (finding,))])), 1)
    text = result._repr_html_()
    parsed(text)
    assert "k.cpp:7" in text and "race-read-after-write" in text and result.verdict in text
