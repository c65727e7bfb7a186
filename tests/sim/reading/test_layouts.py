# SPDX-License-Identifier: Apache-2.0
"""Every layout that projects come in: found by what the files say, built and run as it is."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import commands
from aclgrad.building import operator_build
from aclgrad.reading import layout
from aclgrad.reading.launch_lists import read
from aclgrad.reading.sources import SourcesError
from aclgrad.running import kernel_file, operator_call
from aclgrad.spec.definition import Definition
from aclgrad.spec.naming import snake_case
from aclgrad.spec.soc import family_of

pytestmark = [pytest.mark.journey, pytest.mark.usefixtures("no_packages")]

LIBRARY = Path(__file__).parents[1] / "projects"
PAIR, LAUNCH = LIBRARY / "pair", LIBRARY / "launch"
HALVE = "HalveTheValuesWhereTheyStandWithoutAWord"
SOC = "Ascend910B2"


def tool(*words: object) -> subprocess.CompletedProcess[str]:
    return commands.run(*words)


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("math/square", "square: operator folder, Square"),
        ("math/square/op_host", "square: operator folder, Square"),
        ("math/square/op_kernel/square.cpp", "square: operator folder, Square"),
        ("pair", f"pair: msopgen project, 2 operators: AddOne, {HALVE}"),
        ("pair/op_host/halve.cc", f"{snake_case(HALVE)}: msopgen project, {HALVE}"),
        ("launch", "totals.cpp: kernel-launch project"),
        ("launch/kernels/totals.cpp", "totals.cpp: kernel-launch project"),
        ("math/planted/op_kernel/planted.cpp", "planted.cpp: kernel alone"),
        ("layouts.asc", "layouts.asc: program"),
    ],
)
def test_what_a_path_is(path: str, line: str) -> None:
    assert layout.find(LIBRARY / path).line == line


def test_layout_can_be_overruled() -> None:
    kernel = LIBRARY / "math" / "square" / "op_kernel" / "square.cpp"
    assert layout.find(kernel, "kernel").line == "square.cpp: kernel alone"
    assert [op.type for op in layout.find(PAIR, op="add_one").operators] == ["AddOne"]
    with pytest.raises(SourcesError, match=rf"--op Sub: .* it has AddOne, {HALVE}"):
        layout.find(PAIR, op="Sub")


def test_every_verb_can_overrule() -> None:
    """The same words, of `test` and `tiling` too, and a path beside a name is one more."""
    for name in ("AddOne", HALVE):
        plan = tool("tiling", PAIR, "16", "--op", name, "--json")
        assert plan.returncode == 0 and json.loads(plan.stdout)["op"] == name, plan.stderr
        done = tool("test", PAIR, "--op", name)
        assert done.returncode == 1
        assert f"{name}: there is no golden" in done.stderr, done.stderr
    square = LIBRARY / "math" / "square"
    for words in (("tiling", square, "64"), ("test", square)):
        done = tool(*words, "--layout", "kernel")
        assert done.returncode == 1 and "nothing says what its inputs are" in done.stderr
    done = tool("check", "log_sigmoid_grad", square, "--shape", "64", "--dtype", "fp32")
    assert done.returncode == 0 and "in 2 cases" in done.stdout, done.stdout + done.stderr


def test_what_is_no_operator(tmp_path: Path) -> None:
    """Every refusal names the file and the next step."""
    (tmp_path / "empty").mkdir()
    with pytest.raises(SourcesError, match=r"no kernel found and no operator.*\. Next: "):
        layout.find(tmp_path / "empty")
    (tmp_path / "groups" / "op_kernel_aicpu").mkdir(parents=True)
    with pytest.raises(SourcesError, match=r"groups: its kernel is for the AI CPU.*\. Next: "):
        layout.find(tmp_path / "groups")
    (tmp_path / "notes.txt").write_text("none")
    with pytest.raises(SourcesError, match=r"notes.txt: no source of an operator.*\. Next: "):
        layout.find(tmp_path / "notes.txt")
    with pytest.raises(SourcesError, match=r"no such file or folder\. Next: "):
        layout.find(tmp_path / "none")
    with pytest.raises(SourcesError, match=r"operator projects below it: math/clip_rows, .*more"):
        layout.find(LIBRARY)
    square = tmp_path / "square"
    shutil.copytree(LIBRARY / "math" / "square", square)
    shutil.copy(square / "op_host" / "square_def.cpp", square / "op_host" / "again.cpp")
    with pytest.raises(SourcesError, match=r"two definitions of Square clash: .*again.cpp, .*def"):
        layout.find(square)
    (square / "op_host" / "again.cpp").unlink()
    definition = square / "op_host" / "square_def.cpp"
    definition.write_text(definition.read_text().replace("OP_ADD(Square)", "// OP_ADD(Square)"))
    with pytest.raises(
        SourcesError,
        match=r"Square: nothing registers its definition\n  at .*square_def.cpp:\d+\nNext: ",
    ):
        layout.find(square)


def test_sources_of_graph_mode_stay_out(tmp_path: Path) -> None:
    """What runs an operator of a graph by its aclnn function belongs to no package of operators."""
    square = tmp_path / "square"
    shutil.copytree(LIBRARY / "math" / "square", square)
    fallback = square / "op_host" / "fallback_square.cpp"
    fallback.write_text('#include "fallback/fallback.h"\nIMPL_OP(Square).OpExecuteFunc(Run);\n')
    found = layout.find(square)
    assert found.host and fallback not in found.host
    fallback.write_text("IMPL_OP(Square);\n")
    assert fallback in layout.find(square).host


def test_sources_that_the_lists_leave_out(tmp_path: Path) -> None:
    """Lists that name the sources of op_host one by one decide which have to build; the others are
    built if they can be, and the build says which could not.
    """
    square = tmp_path / "square"
    shutil.copytree(LIBRARY / "math" / "square", square)
    lists = square / "op_host" / "CMakeLists.txt"
    proto = square / "op_host" / "square_proto.cpp"
    proto.write_text(
        '#include "register/op_impl_registry.h"\nIMPL_OP(Square).InferShape(Unknown);\n'
    )
    for text in ("", "file(GLOB sources *.cpp)\n", "add(square_def.cpp square_proto.cpp)\n"):
        lists.write_text(text)
        done = tool("build", square, "--soc", SOC)
        assert done.returncode == 1 and "Unknown" in done.stderr, done.stdout + done.stderr
    lists.write_text("add(square_def.cpp)  # and not square_proto.cpp\n")
    done = tool("build", square, "--soc", SOC)
    assert done.returncode == 0, done.stderr
    assert re.search(rf"left out {proto}, which does not build: .*Unknown", done.stdout)
    proto.write_text(proto.read_text().replace("Unknown", "nullptr"))
    done = tool("build", square, "--soc", SOC)
    assert done.returncode == 0 and "left out" not in done.stdout, done.stdout + done.stderr


def test_neighbours_are_no_repository(tmp_path: Path) -> None:
    """What merely lies beside a project is not on its include path."""
    shutil.copytree(LIBRARY / "math" / "square", tmp_path / "square")
    (tmp_path / "other" / "op_host").mkdir(parents=True)
    sources = layout.locate(tmp_path / "square")
    assert sources.repository == tmp_path / "square"
    assert all(tmp_path / "square" in (path, *path.parents) for path in sources.host_includes)


def test_operators_side_by_side(tmp_path: Path) -> None:
    """Several operators need a choice; an output that is added to begins as it is told."""
    x = np.arange(16, dtype=np.float32)
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "y.npy", x * 10)
    which = tool("run", PAIR, "--inputs", tmp_path / "x.npy")
    assert which.returncode == 1 and "holds 2 operators" in which.stderr
    assert "Next: --op AddOne" in which.stderr
    words = ["run", PAIR, "--op", "AddOne", "--inputs", tmp_path / "x.npy"]
    for initial, want in (("16=0", x + 1), (f"={tmp_path / 'y.npy'}", x * 11 + 1)):
        done = tool(*words, "--outputs", initial, "--save", tmp_path / "out.npy")
        assert done.returncode == 0, done.stderr + done.stdout
        assert "msopgen project, AddOne" in done.stderr
        np.testing.assert_array_equal(np.load(tmp_path / "out.npy"), want)


def test_a_project_is_built_as_far_as_it_can(tmp_path: Path) -> None:
    """A kernel that does not build ends the build of its operator, not of the project."""
    made = shutil.copytree(LIBRARY, tmp_path / "projects") / "pair"
    kernel = next((made / "op_kernel").glob("*add*.cpp"))
    kernel.write_text(kernel.read_text() + "\nint broken = not_a_thing;\n")
    done = tool("build", made)
    assert done.returncode == 1
    assert f"built: {HALVE}. Not built: AddOne\n" in done.stderr
    assert f"{kernel.name}:" in done.stderr and "not_a_thing" in done.stderr


def test_operator_without_outputs() -> None:
    """What it changes of its inputs is its result. Its type is long, a header of its repository is
    looked for, and so is the source of a function that op_host calls.
    """
    x = np.arange(20, dtype=np.float32)
    choice = layout.Choice(op=HALVE)
    layout.choose(PAIR, choice)
    try:
        result = operator_call.run(str(PAIR), [[x]])
        with pytest.raises(SourcesError, match=r"has no outputs, got 1 --outputs"):
            operator_call.run(str(PAIR), [[x]], outputs=["16"])
    finally:
        layout.choose(PAIR, layout.Choice())
    want = np.concatenate([x[:16] / 2, x[16:]])
    assert list(result.outputs) == ["x"]
    np.testing.assert_array_equal(result.outputs["x"], want)


def test_lists_of_a_launch_project() -> None:
    said = read(LAUNCH)
    assert said is not None
    assert said.sources == (LAUNCH / "kernels" / "totals.cpp",)
    assert said.words == ((LAUNCH / "headers",), ("-DTOTALS_STEP=1",))


def test_kernels_with_values_among_their_arguments(tmp_path: Path) -> None:
    """Numbers and structs by value, one entry of several, what is in and out, -D."""
    kernel = LAUNCH / "kernels" / "totals.cpp"
    x = np.arange(32, dtype=np.float32)
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "total.npy", 100 * x)
    saved = tmp_path / "out.npy"
    words = ["run", kernel, "--inputs", tmp_path / "x.npy", "--save", saved]
    words += ["--outputs", f"total:={tmp_path / 'total.npy'}"]
    several = tool(*words)
    assert several.returncode == 1
    assert "it has totals_float, totals_half, totals_changed" in several.stderr
    assert "Next: --entry totals_float" in several.stderr
    first = [*words, "--entry", "totals_float"]
    missing = tool(*first, "--attr", "count=32")
    assert "argument scale, a float32, is passed by value and is missing" in missing.stderr
    unknown = tool(*first, "--attr", "count=32", "--attr", "scale=1", "--attr", "size=1")
    assert "values are count, scale. Next" in unknown.stderr
    wrong = tool(*first, "--attr", "count=-1", "--attr", "scale=1")
    assert "--attr count=-1: want count, a uint32. Next" in wrong.stderr
    done = tool(*first, "--attr", "count=32", "--attr", "scale=3", "-D", "TOTALS_MORE=5")
    assert done.returncode == 0, done.stderr + done.stdout
    np.testing.assert_array_equal(np.load(saved), 103 * x + 5)
    struct = ["--attr", "change=f32:0.5 u32:32", "--attr", "twice=true"]
    done = tool(*words, "--entry", "totals_changed", *struct)
    assert done.returncode == 0, done.stderr + done.stdout
    np.testing.assert_array_equal(np.load(saved), 101 * x)


def test_all_entries_are_built() -> None:
    made = kernel_file.build_all(layout.locate(LAUNCH), family_of(SOC))
    assert [path.name.rsplit("-", 1)[0] for path in made] == [
        "totals-totals_float",
        "totals-totals_half",
        "totals-totals_changed",
    ]


def test_kernels_of_the_later_architecture(tmp_path: Path) -> None:
    """_apt.cpp and arch35 count for Ascend950, and an operator that has nothing else says so."""
    square = tmp_path / "square"
    shutil.copytree(LIBRARY / "math" / "square", square)
    kernel = square / "op_kernel" / "square.cpp"
    kernel.rename(square / "op_kernel" / "square_apt.cpp")
    (square / "op_host" / "arch35").mkdir()
    tiling = square / "op_host" / "square_tiling.cpp"
    shutil.copy(tiling, square / "op_host" / "arch35" / "square_tiling_arch35.cpp")
    sources = layout.locate(square)
    assert [path.name for path in sources.kernels_for(3510)] == ["square_apt.cpp"]
    assert sources.kernels_for(2201) == []
    needed = [{path.name for path in sources.host_for(arch)[0]} for arch in (2201, 3510)]
    assert needed[1] - needed[0] == {"square_tiling_arch35.cpp"}
    builder = operator_build.Builder(sources, family_of(SOC))
    with pytest.raises(SourcesError, match=r"for Ascend950 alone, .* Next: --soc Ascend950PR_9589"):
        builder.kernel_source(Definition(type="Square"))
    later = operator_build.Builder(sources, family_of("Ascend950PR_9589"))
    assert later.kernel_source(Definition(type="Square")).name == "square_apt.cpp"


def test_definition_by_a_macro_of_its_own(tmp_path: Path) -> None:
    square = tmp_path / "square"
    shutil.copytree(LIBRARY / "math" / "square", square)
    definition = square / "op_host" / "square_def.cpp"
    definition.rename(square / "op_host" / "words.cpp")
    text = (square / "op_host" / "words.cpp").read_text()
    (square / "op_host" / "words.cpp").write_text(text.replace("OP_ADD(", "OWN_OP_ADD("))
    assert [op.type for op in layout.find(square).operators] == ["Square"]


KERNEL = 'extern "C" __global__ __aicore__ void {name}(GM_ADDR x, GM_ADDR tiling) {{}}\n'


def test_kernel_file_of_many_operators(tmp_path: Path) -> None:
    """It is for the operator of its name, of a definition that names it, or of its function."""
    for folder in ("op_host", "op_kernel"):
        (tmp_path / folder).mkdir()
    for stem, kernel, words in (
        ("alpha", "alpha", ""),
        ("beta", "beta", ""),
        (
            "gamma",
            "shared_file",
            '  this->AICore().ExtendCfgInfo("opFile.value", "shared_file");\n',
        ),
        ("delta", "kernels_of_delta", ""),
    ):
        (tmp_path / "op_host" / f"{stem}.cpp").write_text(
            f"class {stem.title()} : public OpDef {{\n{words}}};\nOP_ADD({stem.title()});\n"
        )
        (tmp_path / "op_kernel" / f"{kernel}.cpp").write_text(KERNEL.format(name=stem))
    for kernel, op in (
        ("alpha", "Alpha"),
        ("beta", "Beta"),
        ("shared_file", "Gamma"),
        ("kernels_of_delta", "Delta"),
    ):
        found = layout.find(tmp_path / "op_kernel" / f"{kernel}.cpp")
        assert [one.type for one in found.operators] == [op]
        assert [path.stem for path in found.kernels] == [kernel]


@pytest.mark.parametrize(
    ("text", "kernel"),
    [
        (KERNEL.format(name="k"), True),
        ("extern __global__ __aicore__ void k(GM_ADDR x);\nint main() { return 0; }\n", False),
        ("// __global__ void k() {}\nint main() { return 0; }\n", False),
        ("#define ENTRY(n) \\\n  extern __global__ void n(GM_ADDR x);\n  ENTRY(k)\n", True),
        ("template <typename T>\n__global__ __aicore__ void k(GM_ADDR x = (0)) {\n}\n", True),
    ],
)
def test_file_that_declares_a_kernel_has_none(tmp_path: Path, text: str, kernel: bool) -> None:
    """A program beside the kernel, as in CANN's samples."""
    (tmp_path / "other.cpp").write_text(text)
    (tmp_path / "real.cpp").write_text(KERNEL.format(name="real"))
    names = [path.stem for path in layout.find(tmp_path).kernels]
    assert names == (["other", "real"] if kernel else ["real"])


def test_a_search_ends_when_it_has_found_many_projects(tmp_path: Path) -> None:
    """`aclgrad check /` looked into thousands of folders without an end."""
    for number in range(60):
        place = tmp_path / f"op{number}" / "op_kernel" / "k.cpp"
        place.parent.mkdir(parents=True)
        place.write_text(KERNEL.format(name="k"))
    with pytest.raises(SourcesError, match=r"at least 50 operator projects below it: op0, op1, "):
        layout.find(tmp_path)
