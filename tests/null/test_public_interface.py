# SPDX-License-Identifier: Apache-2.0
"""What programs of others rest on: names, parameters, options, keys of JSON. Exit codes are in
test_cli.py; options of commands in docs/reference/commands.md, which test_docs_generated.py holds
to the code.
"""

from __future__ import annotations

import inspect
import json
from pathlib import Path

import pytest

import aclgrad
from aclgrad import findings, testing
from aclgrad.cli import operators, run
from aclgrad.golden.precision import Report
from aclgrad.ops import find
from aclgrad.reporting.conditions import Conditions
from aclgrad.reporting.table import as_json
from aclgrad.testing.run import Outcome

FUNCTIONS = {
    "kl_div_backward",
    "log_sigmoid_backward",
    "log_softmax_backward",
    "scaled_masked_softmax_backward",
    "softmax_backward",
}


def parameters(function: object) -> str:
    assert callable(function)
    return ", ".join(inspect.signature(function).parameters)


def test_names_of_the_package() -> None:
    own = {"AclgradError", "AclnnError", "ToolkitError", "__version__", "load"}
    assert set(aclgrad.__all__) == own | FUNCTIONS
    assert parameters(aclgrad.load) == "path, soc"
    assert set(testing.__all__) == {"OwnCase", "case", "sum_scale"}
    assert (
        parameters(testing.case) == "shapes, dtypes, attrs, values, layout, name, tolerance, scale"
    )


def test_options_of_the_pytest_plugin(pytestconfig: pytest.Config) -> None:
    """The plugin is installed, so that its options are known here."""
    for name in ("soc", "chaos", "autosync", "fast"):
        pytestconfig.getoption(f"--aclgrad-{name}")
    with pytest.raises(ValueError, match="no option named"):
        pytestconfig.getoption("--aclgrad-jobs")


def test_keys_of_findings() -> None:
    finding = findings.Finding("race-in-core", op="relu", detail="d", text="t")
    runs = [findings.Run("a", "aclgrad check relu", (finding,), True)]
    document = json.loads(
        findings.render(findings.Result(tuple(findings.merge(runs)), cases=1), "json")
    )
    assert set(document) == {
        "aclgrad", "conditions", "cases", "errors", "warnings", "hints", "refused", "notes",
        "findings",
    }  # fmt: skip
    (only,) = document["findings"]
    assert set(only) == {
        "kind", "title", "severity", "op", "core", "blockDim", "space", "buffer", "begin", "end",
        "at", "related", "detail", "advice", "soc", "tiling", "tilingKey", "count", "goesOn",
        "afterFault", "cases", "repro",
    }  # fmt: skip
    assert set(only["at"]) == {"pipe", "instruction", "note", "file", "line", "text"}


def test_keys_of_the_precision_report() -> None:
    spec = find("softmax_grad")
    case = next(iter(spec.cases(spec, True)))
    judged = Report(True, 10, 10, 1e-3, 0.4, 0.2, 128.0, 0)
    outcome = Outcome(case, True, "m", 0.002, judged, 125, 100)
    document = as_json([outcome], Conditions("sim", "Ascend910B2", "checked"), [])
    assert set(document) == {
        "aclgrad", "device", "soc", "mode", "seed", "fast", "finished", "passed", "counts",
        "refused", "rows", "findings", "golden_of_zeros", "causes", "cases",
    }  # fmt: skip
    (row,), (one,) = document["rows"], document["cases"]
    assert set(row) == {
        "op", "dtype", "cases", "passed", "max_ulp_of_scale", "mean_ulp_of_scale",
        "nearest_ulp_of_scale", "bound", "public_failed", "golden_of_zeros", "max_abs", "traffic",
        "max_traffic", "after_faults",
    }  # fmt: skip
    assert set(one) == {
        "op", "name", "shape", "dtype", "passed", "seconds", "max_ulp_of_scale",
        "mean_ulp_of_scale", "max_abs", "bound_in_ulp_of_scale", "tolerance_given",
        "public_standard", "golden_of_zeros", "matched_ratio", "gm_over_floor", "after_faults",
        "findings", "message", "repro",
    }  # fmt: skip


def test_keys_of_a_run(tmp_path: Path) -> None:
    computed = operators.Computed("relu", {})
    assert set(run._document(computed, tmp_path)) == {
        "op", "outputs", "output", "save", "after_faults", "findings", "hints",
    }  # fmt: skip
