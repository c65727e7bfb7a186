# SPDX-License-Identifier: Apache-2.0
"""The generator of planted faults: each edit is what its kind says, and a verdict needs a place."""

from pathlib import Path
from typing import Any

import pytest

from mutation import faults, page, plant, verdict
from mutation.source import calls, code_only

ROOT = Path(__file__).resolve().parents[2]
KERNEL = """\
// SetFlag<HardEvent::MTE2_V>(0);
__aicore__ inline void Run(uint32_t count) {
  DataCopy(x, xGm[at * 8], count);  // PipeBarrier<PIPE_V>();
  AscendC::SetFlag<AscendC::HardEvent::MTE2_V>(EVENT_ID0);
  queue.EnQue(x);
  Axpy<float><<<8, nullptr, stream>>>(in, out, 2.0f, count);
  for (uint32_t i = 0; i < count; ++i) {
    AscendC::Add(y, y, x,
                 count);
  }
}
"""


def found(kind: str, source: str = KERNEL) -> list[faults.Fault]:
    return [fault for fault in faults.faults(source, "kernel") if fault.kind == kind]


def test_comments_and_launches_are_no_places() -> None:
    assert [fault.line for fault in found("flag-dropped")] == [4]
    assert found("barrier-dropped") == []
    assert [call.name for call in calls(code_only(KERNEL), "Axpy")] == []


def test_a_fault_keeps_the_lines() -> None:
    for fault in faults.faults(KERNEL, "kernel"):
        planted = fault.plant(KERNEL)
        assert planted != KERNEL
        assert planted.count("\n") == KERNEL.count("\n"), fault


def test_edits_are_what_their_kind_says() -> None:
    assert "count) + 32" in found("copy-long")[0].plant(KERNEL)
    assert "V_MTE2" in found("event-turned")[0].plant(KERNEL)
    assert "i <= count" in found("loop-long")[0].plant(KERNEL)
    dropped = found("unwritten-operand")[0]
    assert "Add" not in dropped.plant(KERNEL)
    assert (dropped.line, dropped.last_line) == (8, 9)


def test_our_programs_have_hundreds_of_faults_of_most_kinds() -> None:
    kinds: set[str] = set()
    total = 0
    for word in ("tests/sim/projects/math/*", "tests/mutation/programs/*.asc"):
        for operator in plant.operators(word, ROOT):
            for file, side in plant.sources(operator):
                listed = list(faults.faults(file.read_text("utf-8"), side))
                total += len(listed)
                kinds |= {fault.kind for fault in listed}
    assert total > 300
    assert len(kinds) > 25


def test_few_trials_are_spread_over_kinds() -> None:
    (operator,) = plant.operators("examples/asc_kernel/axpy.asc", ROOT)
    source = (ROOT / "examples/asc_kernel/axpy.asc").read_text("utf-8")
    listed = list(faults.faults(source, "kernel"))
    chosen = [listed[int(word.split("::")[2])].kind for word in plant.planned(operator, 12, 0)]
    assert len(set(chosen)) == 12


def test_a_library_is_named_by_the_environment(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A variable that is not set, or names no folder, ends the campaign with what to do."""
    monkeypatch.delenv("LIBRARY", raising=False)
    with pytest.raises(plant.Unknown, match=r"LIBRARY is not set.*Next: git clone"):
        plant.operators("$LIBRARY/math/square", tmp_path)
    monkeypatch.setenv("LIBRARY", str(tmp_path / "nowhere"))
    with pytest.raises(plant.Unknown, match=r"nowhere: no such folder.*Next: git clone"):
        plant.operators("$LIBRARY/math/square", tmp_path)
    monkeypatch.setenv("LIBRARY", str(ROOT / "tests/sim/projects"))
    (operator,) = plant.operators("$LIBRARY/math/square", tmp_path)
    assert operator == str(ROOT / "tests/sim/projects/math/square")


def test_another_campaign_is_a_section() -> None:
    row = {
        "name": "tail-dropped theirs/op_kernel/theirs.h:12",
        "message": "planted => edit",
        "operator": "theirs",
        "verdict": "passed",
        "cause": "named",
    }
    text = page.section([row], "Public kernels", "Theirs.", "command")
    assert text.startswith("\n## Public kernels\n\nTheirs.\n")
    assert "Of 1 effective faults that a check can name, 1 (100%) are named" in text
    assert "### By kind" in text and "### By operator" in text and "| theirs | 1 |" in text
    assert text.count("\n## ") == 1


def test_sections_of_other_campaigns_stay() -> None:
    text = "# Page\n\nown\n\n## By kind\n\n## Public kernels\n\ntheirs\n"
    with_matrix = page.replaced(text, page.MATRIX, "\n## Matrix unit\n\nnew\n")
    assert with_matrix == text.replace("## Public", "## Matrix unit\n\nnew\n\n## Public")
    assert page.replaced(with_matrix, page.MATRIX, "") == text
    assert page.replaced(text, "", "# Other\n") == "# Other\n\n## Public kernels\n\ntheirs\n"


def test_edits_of_the_matrix_unit() -> None:
    source = (ROOT / "examples/asc_kernel/matmul.asc").read_text("utf-8")
    planted = {
        "sum-unstarted": "mmad.cmatrixInitVal = false;",
        "load-short": "LoadData2DParams(i, (across) - 1, down",
        "extent-long": "mmad.m = (m == 1 ? 2 : m) + 16;",
        "result-short": "out.nSize = (n) / 2;",
        "unit-flag-one-side": "mmad.unitFlag = 3; mmad.cmatrixInitVal",
        "event-turned": "HardEvent::MTE2_MTE1",
        "architecture-other": "#if __NPU_ARCH__ == 3510",
    }
    for kind, text in planted.items():
        assert text in found(kind, source)[0].plant(source), kind


def test_a_word_that_names_nothing_is_refused() -> None:
    with pytest.raises(plant.Unknown, match="no operator project"):
        plant.operators("tests/null", ROOT)


@pytest.mark.parametrize(
    ("places", "kind", "sign"),
    [
        ((("op_kernel/k.cpp", 5),), "race-read-after-write", "named"),
        ((("op_kernel/k.cpp", 8),), "undefined-read", "named"),  # the same tensor
        ((("op_kernel/k.cpp", 11),), "flag-leak", "elsewhere"),
        ((("other.cpp", 5),), "flag-leak", "elsewhere"),
        ((), "wrong-result", "numbers"),
    ],
)
def test_a_verdict_goes_by_the_place(places: Any, kind: str, sign: str) -> None:
    fault = faults.Fault("queue-call-dropped", KERNEL.index("queue.EnQue"), 0, ";", 5, 5)
    if sign == "named" and kind == "undefined-read":
        start = KERNEL.index("DataCopy(x")
        fault = faults.Fault("copy-dropped", start, start + 20, ";", 3, 3)
    ran = [verdict.Ran(1, "", ((kind, "", places),))]
    assert verdict.judge(fault, "op_kernel/k.cpp", KERNEL, ran).sign == sign


def test_a_command_that_says_nothing_is_no_sign() -> None:
    fault = faults.Fault("arithmetic", 0, 3, "Sub", 1, 1)
    assert verdict.judge(fault, "k.cpp", KERNEL, [verdict.Ran(0, "")]).sign == "nothing"


def test_a_program_brings_the_headers_that_it_includes() -> None:
    (program,) = plant.operators("tests/mutation/programs/ascend950/packed_rows.asc", ROOT)
    ((file, _),) = plant.sources(program)
    root, name = plant.original(program)
    assert file == root / name == Path(program)
    assert (root / "host.h").is_file()


def test_only_commands_that_pass_without_the_fault_can_show_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    program = tmp_path / "program" / "axpy.asc"
    program.parent.mkdir()
    program.write_text(KERNEL)
    monkeypatch.setattr(plant, "cache_root", lambda: tmp_path / "cache")
    monkeypatch.setattr(plant, "judged", lambda *_: "")
    passes = [True, False, False, False]
    tried: list[int] = []

    def run(command: verdict.Command, seconds: float) -> verdict.Ran:
        del seconds
        seed = int(command.environment.get("ACLGRAD_SIM_CHAOS", 0))
        planted = Path(command.words[1]).read_text() != KERNEL
        tried.extend([seed] * planted)
        return verdict.Ran(0 if passes[seed] else 1, "" if passes[seed] else "no header host.h")

    monkeypatch.setattr(verdict, "run", run)
    (word, *_) = plant.planned(str(program), 1, 0)
    assert plant.tried(word, "Ascend910B2", 1)["cause"].startswith("nothing")
    assert set(tried) == {0}
    passes[0] = False
    plant.quiet.cache_clear()
    row = plant.tried(word, "Ascend910B2", 1)
    assert row["verdict"] == "refused"
    assert "no command passes without a fault: no header host.h" in row["message"]


def test_a_warning_is_a_sign_where_the_operator_has_none() -> None:
    fault = faults.Fault("arithmetic", 0, 3, "Sub", 1, 1)
    ran = verdict.Ran(0, "", warnings=(("output-unwritten", "", ()),))
    assert verdict.judge(fault, "k.cpp", KERNEL, [ran]).sign == "warned"
    had = ran.without(frozenset({"output-unwritten"}))
    assert verdict.judge(fault, "k.cpp", KERNEL, [had]).sign == "nothing"


def test_the_page_takes_later_judgements(monkeypatch: pytest.MonkeyPatch) -> None:
    row = {
        "name": "buffer-huge square/math/square/op_kernel/square.cpp:17",
        "verdict": "failed",
        "cause": "nothing: buffer-huge",
        "operator": "square",
        "message": "pipe.InitBuffer(buffer, 8); => pipe.InitBuffer(buffer, (8) * 16);\n",
    }
    monkeypatch.setattr(page, "judged", lambda *_: "")
    assert "Without a sign and not yet judged" in page.page([row], "command")
    seen = []

    def judged(*words: str) -> str:
        seen.append(words)
        return "no effect: the buffers fit"

    monkeypatch.setattr(page, "judged", judged)
    assert "Without a sign" not in page.page([row], "command")
    place = ("square", "square/math/square/op_kernel/square.cpp")
    assert seen == [("buffer-huge", *place, "pipe.InitBuffer(buffer, 8);")]


@pytest.mark.parametrize(
    ("statement", "operand"),
    [
        ("TQue<TPosition::VECIN, 2> yIn;", "yIn"),
        ("out.SetGlobalBuffer((__gm__ float*)y, count);", "out"),
        ("pipe.InitBuffer(work, 4096);", "work"),
        ("AscendC::DataCopy<float>(x, xGm[at], count);", "x"),
        ("for (uint32_t at = 0; at < count; ++at) {", ""),
        ("const uint32_t core = GetBlockIdx();", ""),
    ],
)
def test_what_a_statement_is_about(statement: str, operand: str) -> None:
    assert verdict._operand(statement) == operand


@pytest.mark.parametrize(
    ("statement", "index"),
    [
        ("  for (uint32_t at = 0; at < count; ++at) {", "at"),
        ("const int64_t first = 0 * tiling.perCore;", "first"),
        ("x.SetGlobalBuffer(y + GetBlockIdx() * count);", ""),
    ],
)
def test_the_index_of_a_statement(statement: str, index: str) -> None:
    assert verdict._index(statement) == index


def test_no_fault_stands_in_the_main_function_of_a_program() -> None:
    """It has what is right: a fault there is none of the kernel."""
    (operator,) = plant.operators("tests/mutation/programs/row_means.asc", ROOT)
    source = Path(operator).read_text("utf-8")
    main = source.count("\n", 0, faults.main_of(source)) + 1
    listed = list(faults.faults(source, "kernel"))
    kept = plant.planned(operator, 1000, 0)
    assert 0 < len(kept) == sum(fault.line < main for fault in listed) < len(listed)


def test_faults_stand_in_what_is_compiled_for_a_soc(tmp_path: Path) -> None:
    operator = tmp_path / "relu"
    for file in ("op_kernel/relu.cpp", "op_kernel/arch35/relu_apt.h", "op_host/relu_tiling.cpp"):
        (operator / file).parent.mkdir(parents=True, exist_ok=True)
        (operator / file).write_text("void F() {\n  PipeBarrier<PIPE_V>();\n}\n")
    places = {
        soc: {word.split("::")[1] for word in plant.planned(str(operator), 9, 0, soc)}
        for soc in ("Ascend910B2", "Ascend950PR_9589")
    }
    assert places["Ascend910B2"] == {"relu/op_kernel/relu.cpp"}
    assert places["Ascend950PR_9589"] == {"relu/op_kernel/arch35/relu_apt.h"}


def test_what_is_not_named_has_a_reason() -> None:
    row = {
        "name": "loop-short total.asc/total.asc:42",
        "verdict": "passed",
        "cause": "numbers",
        "operator": "total",
        "message": "for (uint32_t i = 0; i < cores; ++i) { => for (;;) {",
    }
    other = {**row, "name": "loop-short other.asc/other.asc:1"}
    text = page.page([row, other], "aclgrad campaign")
    assert "| loop-short total.asc/total.asc:42 | wrong numbers only: the sum has" in text
    assert "| loop-short other.asc/other.asc:1 | wrong numbers only: not yet judged |" in text
