# SPDX-License-Identifier: Apache-2.0
"""`aclgrad headers`: the op compiler's front end, with scripts that stand in for CANN's."""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
from pathlib import Path

import pytest

from aclgrad.building.build_tools import find_compiler
from aclgrad.headers import check, op_compiler, projects, report, trees
from aclgrad.headers.trees import HeaderSet
from aclgrad.ops import find
from aclgrad.spec.op_spec import OpSpec, replace

HERE = Path(__file__).parents[1]
_found = importlib.util.spec_from_file_location(
    "headers_page", HERE.parents[1] / "scripts" / "headers_page.py"
)
assert _found and _found.loader
headers_page = importlib.util.module_from_spec(_found)
_found.loader.exec_module(headers_page)
PLACES = {
    "9.x": "asc_op_compile_base/asc_op_compiler",
    "8.x": "tbe/tikcpp",
}
KERNEL = """\
extern "C" void tiny(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR workspace, GM_ADDR tiling) {
#if defined(__DAV_C220_VEC__) && SHORT_OF(SHORT)
  @types@
  if (TILING_KEY_IS(1)) {} else if (TILING_KEY_IS(20)) {} @more@
#endif
}
"""
DEFAULT = "KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);"
OF_20 = "KERNEL_TASK_TYPE(20, KERNEL_TYPE_MIX_AIV_1_0);"


def tiny() -> OpSpec:
    """An operator of one kernel, half."""
    spec = find("softmax_grad")
    kernels = {"ascend910b": spec.kernels["ascend910b"][1:2]}
    return replace(spec, op_type="Tiny", kernels=kernels)


def run(
    folder: Path, types: str, more: str = "", generation: str = "9.x"
) -> list[op_compiler.Front]:
    """The front end on one kernel, on both SoCs of its architecture."""
    home = folder / "home"
    scripts = home / "python/site-packages" / PLACES[generation]
    shutil.copytree(HERE / "building" / "cann_op_compiler" / "scripts", scripts)
    for package in scripts.parents:
        if package == home / "python/site-packages":
            break
        (package / "__init__.py").touch()
    source = folder / "op_kernel/tiny/tiny.cpp"
    source.parent.mkdir(parents=True)
    text = KERNEL.replace("@types@", types).replace("@more@", more)
    source.write_text(text.replace("SHORT_OF(SHORT)", "1"))
    sets = HeaderSet("CANN 1", (("CANN 1", home, ""),), (), home, (), (), None, home, True)
    compiler = find_compiler()
    assert compiler is not None
    planned = op_compiler.plan(
        sets, op_compiler.sources_of([tiny()], folder), compiler, folder / "cache"
    )
    fronts = [kernel.run() for kernel in planned]
    assert [front.soc for front in fronts] == ["ascend910b", "ascend910_93"]
    assert list((folder / "cache/op_compiler").iterdir()) == []
    return fronts


@pytest.mark.parametrize("generation", PLACES)
def test_what_is_inferred(tmp_path: Path, generation: str) -> None:
    front = run(tmp_path, DEFAULT + OF_20, generation=generation)[0]
    assert front.errors == ()
    assert (front.op, front.dtypes) == ("tiny", "float16_float16_float16")
    assert front.scripts == PLACES[generation].partition("/")[0]
    assert front.tiling_keys == "1, 20"
    assert front.types == {"1": "KERNEL_TYPE_AIV_ONLY", "20": "KERNEL_TYPE_MIX_AIV_1_0"}
    assert front.kernel_types == "AIV_ONLY; 20: MIX_AIV_1_0"
    assert front.structs == ("TinyTiling",)
    names = [item.name for item in (*tiny().inputs, *tiny().outputs)]
    assert list(front.arguments) == [*names, "workspace", "tiling"]
    assert front.user_workspace and front.reached
    assert front.result == "reaches the compiler"


def test_without_types_the_compiler_decides(tmp_path: Path) -> None:
    front = run(tmp_path, "")[0]
    assert front.errors == () and front.types == {}
    assert front.kernel_types == "left to the compiler" and front.reached


def test_what_is_raised(tmp_path: Path) -> None:
    for front in run(tmp_path, OF_20):
        assert not front.reached
        assert [error.partition(" (")[0] for error in front.errors] == [
            "must provide default kernel type"
        ]
        assert "(compile_op.py:" in front.errors[0]


def test_what_is_printed_as_an_error_counts(tmp_path: Path) -> None:
    """It reads on, and leaves the key out."""
    fronts = run(tmp_path, "", "else if (TILING_KEY_IS(kKey)) {}")
    # The stand-in goes on to its compiler, as the real one does: what it printed before is kept.
    assert all(front.errors == ("kKey can not be processed",) for front in fronts)


def test_scripts_that_lack_a_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STAND_IN_IMPORT", "no_such_module.part")
    (error,) = run(tmp_path, DEFAULT)[0].errors
    assert " import no_such_module, which this Python has not. Next: " in error
    assert error.endswith("pip install no_such_module")


def test_native_parts_that_are_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STAND_IN_IMPORT", "tbe.tvm.contrib")
    front = run(tmp_path, DEFAULT, generation="8.x")[0]
    assert front.errors == () and set(front.absent) >= {"tbe.tvm", "tbe.tvm.contrib"}


def test_process_that_ends(tmp_path: Path) -> None:
    (error,) = run(tmp_path, "", "HANG")[0].errors
    assert error.startswith("ended with status 3")


def test_kernels_of_a_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, toolkit: Path
) -> None:
    """What its definition registers, on every SoC of it."""
    home = tmp_path / "home"
    scripts = home / "python/site-packages/asc_op_compile_base/asc_op_compiler"
    shutil.copytree(HERE / "building" / "cann_op_compiler" / "scripts", scripts)
    (scripts.parent / "__init__.py").touch()
    (home / "include").mkdir()
    (home / "include/kernel_operator.h").touch()
    sources = (("CANN 1", home, ""),)
    sets = HeaderSet("CANN 1", sources, (home / "include",), home, (), (), None, home, True)
    monkeypatch.setattr(trees, "find", lambda folders: [sets])
    project = tmp_path / "square"
    shutil.copytree(HERE / "projects/math/square", project)
    result = projects.check([home], [str(project)])
    assert {front.op for front in result.fronts} == {"square"} and not result.skipped
    assert {front.dtypes for front in result.fronts} >= {"float32_float32"}
    assert result.refused == []
    kernel = next((project / "op_kernel").glob("*.cpp"))
    kernel.write_text(
        kernel.read_text() + f"// {OF_20}\n".replace("// ", "inline void f() { ") + "}\n"
    )
    result = projects.check([home], [str(project)])
    assert result.refused == list(result.fronts)
    assert "must provide default kernel type" in result.refused[0].errors[0]


# -- the docs page ------------------------------------------------------------------------------


def result(fronts: list[op_compiler.Front]) -> dict[str, object]:
    """As `aclgrad headers --json` prints it."""
    found = check.HeadersChecked((), ("g++ 1",), (), (), ("a note",), 1.0, tuple(fronts)).as_json()
    source = {"name": "asc-devkit", "path": "/x", "commit": "abc 2026-01-01"}
    found["headers"] = [{"name": "CANN 1", "sources": [source]}]
    outcome = {"op": "tiny", "headers": "CANN 1", "check": "2201 cpu", "ok": True, "errors": []}
    found["results"] = [outcome, outcome]
    return json.loads(json.dumps(found))  # type: ignore[no-any-return]


def test_section_of_the_docs_page(tmp_path: Path) -> None:
    text = headers_page.section(result(run(tmp_path, DEFAULT + OF_20)))
    assert "2 of 2 compilations without an error of our sources." in text
    assert "| `tiny` | ok (2) |" in text
    assert "2 of 2 kernels pass its front end" in text
    row = "| `tiny` | ascend910b | 1 | 1, 20 | AIV_ONLY; 20: MIX_AIV_1_0 | TinyTiling |"
    assert row in text


def test_docs_page_has_the_form_of_the_tool() -> None:
    """What stands between the marks was written by the tool, for all operators."""
    page = (HERE.parents[1] / "docs/reference/cann_headers.md").read_text()
    told = page.partition("<!-- headers: generated -->")[2].partition("<!-- headers: end -->")[0]
    assert " compilations without an error of our sources." in told
    assert "kernels pass its front end." in told
    for spec in ("softmax_grad", "log_sigmoid_grad"):
        assert re.search(rf"^\| `{spec}` \|.* ok \(\d+\) \|$", told, re.MULTILINE)
        assert f"| `{spec}` | ascend910b | 3 | " in told
    headings = [line for line in told.splitlines() if line.startswith("| operator | SoC |")]
    assert headings and set(headings) == {f"| {' | '.join(report.FRONT_HEADINGS)} |"}


def test_command_prints_both(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fronts = run(tmp_path, OF_20)
    report.show(check.HeadersChecked((), ("g++ 1",), (), (), (), 1.0, tuple(fronts)))
    out = capsys.readouterr().out
    assert "must provide default kernel type" in out
    assert "0 of 2 kernels pass the op compiler's front end" in out
