# SPDX-License-Identifier: Apache-2.0
"""aclnn functions that somebody wrote by hand: compiled with what they need, and what runs."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import aclgrad
import commands
from aclgrad.building import operator_build
from aclgrad.errors import AclnnError
from aclgrad.reading import handwritten_functions
from aclgrad.reading.layout import locate
from aclgrad.reading.sources import SourcesError
from aclgrad.running import operator_call
from aclgrad.spec.definition import Definition, Param
from aclgrad.spec.soc import family_of

pytestmark = [pytest.mark.journey, pytest.mark.usefixtures("no_packages")]

LIBRARY = Path(__file__).parent / "by_hand"
SOC = "Ascend910B2"
GOLDEN = """from aclgrad.testing import case


def golden(x, offset, scale):
    return scale * x + 2 * offset


def cases():
    yield case((3, 70), attrs={"scale": 0.5})
"""


_AFTER_A_CRASH = """
import sys
from pathlib import Path
import numpy as np, aclgrad
from aclgrad.checks import operator_check
affine, other = map(Path, sys.argv[1:])
x = np.ones(4, np.float32)
try:
    aclgrad.load(affine).affine(x, x)
except aclgrad.errors.AclgradError as error:
    assert "crashed: SIGSEGV" in str(error), error
checked = operator_check.check(other, soc="Ascend910B2", dtype="float32", fast=True)
kinds = {item.kind for run in checked.runs(other, "Ascend910B2") for item in run.findings}
assert "call-failed" not in kinds, kinds
"""


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """A copy of the repository that a test may change."""
    shutil.copytree(LIBRARY, tmp_path / "library")
    return tmp_path / "library"


@pytest.fixture
def arrays() -> tuple[np.ndarray, np.ndarray]:
    """X and offset, in which a sum of float16 would be rounded another way."""
    random = np.random.default_rng(7)
    return random.standard_normal((5, 33)), random.standard_normal((5, 33)) * 40


def tool(*words: object) -> subprocess.CompletedProcess[str]:
    return commands.run(*words)


def test_what_its_arguments_are() -> None:
    """By the way from the function to the launch, as names have nothing in common."""
    sources = locate(LIBRARY / "math" / "affine")
    builder = operator_build.Builder(sources, family_of(SOC))
    op = operator_call.pick(builder.build_host().ops, sources)
    (function,), others = handwritten_functions.functions(op, sources.api)
    assert (function.name, function.header) == ("aclnnScaledOffset", "aclnn_scaled_offset.h")
    assert [(a.source, a.index) for a in function.arguments] == [
        ("input", 1),
        ("input", 0),
        ("attr", 0),
        ("output", 0),
    ]
    assert others == []


OVERLOADED = """
aclnnStatus aclnn{name}GetWorkspaceSize(const aclTensor* self, const {kind}* other, aclTensor* out,
                                        uint64_t* workspaceSize, aclOpExecutor** executor) {{
  ADD_TO_LAUNCHER_LIST_AICORE(Equal, OP_INPUT(self, {other}), OP_OUTPUT(out));
}}
"""


def test_a_tensor_before_a_number(tmp_path: Path) -> None:
    """A form for one number cannot take what the definition calls a tensor."""
    forms = [("EqScalar", "aclScalar", "ToTensor(other)"), ("EqTensor", "aclTensor", "other")]
    for name, kind, other in forms:
        text = OVERLOADED.format(name=name, kind=kind, other=other)
        (tmp_path / f"aclnn_{name.lower()}.cpp").write_text(text)
    op = Definition((Param("x1"), Param("x2")), (Param("y"),), "Equal")
    for files in (sorted(tmp_path.iterdir()), sorted(tmp_path.iterdir(), reverse=True)):
        found, others = handwritten_functions.functions(op, files)
        assert [function.name for function in found] == ["aclnnEqTensor", "aclnnEqScalar"]
        assert others == []


def test_a_macro_of_a_header_beside_them() -> None:
    """Sources whose functions a macro defines belong to op_api as well."""
    root = Path(__file__).resolve().parents[3] / "examples" / "torch_operators"
    assert {file.name for file in locate(root).api} == {
        *("elementwise.cpp", "graph.cpp", "lists.cpp"),
        *("losses.cpp", "matrices.cpp", "reductions.cpp"),
    }


def test_it_runs(arrays: tuple[np.ndarray, np.ndarray]) -> None:
    """float16, which no kernel knows, goes through its Cast; a neighbour's level-0 function and one
    of the simulator double the offset; its check answers with its own code.
    """
    x, offset = (array.astype(np.float16) for array in arrays)
    path = str(LIBRARY / "math" / "affine")
    result = operator_call.run(path, [[x], [offset]], ["scale=3"])
    want = x.astype(np.float32) * 3 + 2 * offset.astype(np.float32)
    assert result.outputs["y"].dtype == np.float16
    np.testing.assert_array_equal(result.outputs["y"], want.astype(np.float16))
    with pytest.raises(AclnnError, match="factor is -1") as caught:
        operator_call.run(path, [[x], [offset]], ["scale=-1"])
    assert caught.value.code == 561999


def test_python_and_cases(library: Path, arrays: tuple[np.ndarray, np.ndarray]) -> None:
    """`load` and `test` call it too."""
    path = library / "math" / "affine"
    x, offset = (array.astype(np.float32) for array in arrays)
    function = aclgrad.load(path).affine
    np.testing.assert_array_equal(function(x, offset, scale=0.5), x * np.float32(0.5) + 2 * offset)
    (path / "affine_golden.py").write_text(GOLDEN)
    done = tool("test", path, "--fast")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Affine" in done.stdout or "affine" in done.stdout


def test_package_has_it(library: Path, tmp_path: Path) -> None:
    """With its header; the package's self-test calls it."""
    path = library / "math" / "affine"
    (path / "affine_golden.py").write_text(GOLDEN)
    done = tool("package", path, "--vendor", "byhand", "-o", tmp_path / "packed")
    assert done.returncode == 0, done.stdout + done.stderr
    (made,) = (tmp_path / "packed").rglob("*.run")
    installed = tmp_path / "installed"
    install = subprocess.run(
        ["bash", made, f"--install-path={installed}"], capture_output=True, text=True, check=False
    )
    assert install.returncode == 0, install.stdout + install.stderr
    assert [*installed.rglob("aclnnop/aclnn_scaled_offset.h")]
    (api,) = installed.rglob("libcust_opapi.so")
    names = subprocess.run(["nm", "-D", api], capture_output=True, text=True, check=True).stdout
    assert " T aclnnScaledOffset\n" in names
    assert "aclnnAffine" not in names and " T _ZN4l0op" not in names


@pytest.mark.parametrize(
    ("old", "new", "lacks"),
    [
        ("l0op::Doubled(shift,", "l0op::Halved(shift,", "Halved is not known to the simulator"),
        ("doubled.h", "tripled.h", "no header math/doubled/op_api/tripled.h"),
    ],
)
def test_what_is_missing(
    library: Path,
    arrays: tuple[np.ndarray, np.ndarray],
    capfd: pytest.CaptureFixture[str],
    old: str,
    new: str,
    lacks: str,
) -> None:
    """The generated function runs instead, and one line says why."""
    path = library / "math" / "affine"
    source = path / "op_api" / "aclnn_scaled_offset.cpp"
    source.write_text(source.read_text().replace(old, new))
    x, offset = (array.astype(np.float32) for array in arrays)
    result = operator_call.run(str(path), [[x], [offset]], ["scale=-1"])
    np.testing.assert_array_equal(result.outputs["y"], offset - x)
    assert lacks in capfd.readouterr().err


def test_other_operators_kernels_are_not_here(
    library: Path, arrays: tuple[np.ndarray, np.ndarray], capfd: pytest.CaptureFixture[str]
) -> None:
    doubled = library / "math" / "doubled" / "op_api" / "doubled.cpp"
    doubled.write_text(
        doubled.read_text()
        .replace("const aclTensor* Doubled", "OP_TYPE_REGISTER(Doubled);\nconst aclTensor* Doubled")
        .replace(
            "return Muls", "ADD_TO_LAUNCHER_LIST_AICORE(Doubled, OP_INPUT(self));\n  return Muls"
        )
    )
    x, offset = (array.astype(np.float32) for array in arrays)
    path = str(library / "math" / "affine")
    result = operator_call.run(path, [[x], [offset]], ["scale=-1"])
    np.testing.assert_array_equal(result.outputs["y"], offset - x)
    assert "op_api needs the kernel of Doubled" in capfd.readouterr().err


LAUNCHES = """\
#include "doubled.h"

#include "opdev/make_op_executor.h"
#include "opdev/op_dfx.h"

namespace l0op {

OP_TYPE_REGISTER(Doubled);

const aclTensor* Doubled(const aclTensor* self, aclOpExecutor* executor) {
  L0_DFX(Doubled, self);
  aclTensor* out = executor->AllocTensor(self->GetViewShape(), self->GetDataType());
  const auto status = ADD_TO_LAUNCHER_LIST_AICORE(Doubled, OP_INPUT(self), OP_OUTPUT(out));
  return status == ACLNN_SUCCESS ? out : nullptr;
}

}  // namespace l0op
"""


def test_kernels_of_neighbours_are_built(
    library: Path, arrays: tuple[np.ndarray, np.ndarray]
) -> None:
    """When they are launched; one that does not build is named, with the command."""
    neighbour, square = library / "math" / "doubled", LIBRARY.parents[1] / "projects/math/square"
    for file in (file for file in square.rglob("*") if file.suffix in (".cpp", ".h")):
        target = neighbour / str(file.relative_to(square)).replace("square", "doubled")
        target.parent.mkdir(parents=True, exist_ok=True)
        text = file.read_text().replace("Square", "Doubled").replace("square", "doubled")
        target.write_text(text.replace("Mul(value", "Add(value"))
    (neighbour / "op_api" / "doubled.cpp").write_text(LAUNCHES)
    x, offset = (array.astype(np.float32).reshape(-1)[:160] for array in arrays)
    path = str(library / "math" / "affine")
    result = operator_call.run(path, [[x], [offset]], ["scale=3"])
    y = result.outputs["y"].astype(np.float32)
    np.testing.assert_allclose(y, x * 3 + 2 * offset, rtol=1e-6)
    kernel = neighbour / "op_kernel" / "doubled.cpp"
    kernel.write_text(kernel.read_text().replace("Add(value", "Addd(value"))
    with pytest.raises(
        SourcesError, match=rf"(?s)launches doubled: .*Addd.*\nNext: aclgrad build {neighbour}$"
    ):
        operator_call.run(path, [[x], [offset]], ["scale=3"])


def test_a_crash_says_where(library: Path) -> None:
    """In a child of check and in the process of whoever calls it."""
    path = library / "math" / "affine"
    source = path / "op_api" / "aclnn_scaled_offset.cpp"
    text = source.read_text()
    assert "if (factor->ToFloat() >= 0)" in text
    crash = "if (volatile int* none = nullptr; *none >= 0)"
    source.write_text(text.replace("if (factor->ToFloat() >= 0)", crash))
    done = tool("check", path)
    where = (
        "aclnnScaledOffsetGetWorkspaceSize, written by hand in aclnn_scaled_offset.cpp,"
        " crashed: SIGSEGV at address 0x0, at "
    )
    assert done.returncode == 1 and where in done.stderr, done.stderr
    assert re.search(r"op_api/aclnn_scaled_offset.cpp:\d+, inputs ", done.stderr), done.stderr
    x = np.ones(4, np.float32)
    with pytest.raises(SourcesError, match=where):
        aclgrad.load(path).affine(x, x)


def test_a_crash_leaves_nothing_behind(library: Path) -> None:
    """It skips the destructors of the function that it ends. The next calls of the process and of
    its children keep their executors all the same.
    """
    path = library / "math" / "affine"
    source = path / "op_api" / "aclnn_scaled_offset.cpp"
    crash = "if (*static_cast<volatile int*>(nullptr) >= 0)"
    text = source.read_text()
    assert "if (factor->ToFloat() >= 0)" in text
    source.write_text(text.replace("if (factor->ToFloat() >= 0)", crash))
    other = Path(__file__).parents[1] / "projects" / "math" / "clip_rows"
    command = [sys.executable, "-c", _AFTER_A_CRASH, str(path), str(other)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_function_for_cpp_alone(library: Path) -> None:
    """Nobody could call it by its name."""
    path = library / "math" / "affine"
    header = path / "op_api" / "aclnn_scaled_offset.h"
    header.write_text(header.read_text().replace("__cplusplus", "NO_SUCH_LANGUAGE"))
    x = np.ones(4, np.float32)
    with pytest.raises(SourcesError, match="aclnnScaledOffset for C.* alone, want a C function"):
        operator_call.run(str(path), [[x], [x]])


def test_arguments_without_a_place(library: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """What the definition does not tell is not guessed."""
    path = library / "math" / "affine"
    for name in ("aclnn_scaled_offset.cpp", "aclnn_scaled_offset.h"):
        file = path / "op_api" / name
        text = file.read_text().replace("aclTensor* out,", "aclTensor* out, int64_t group,")
        file.write_text(text)
    x = np.ones(4, np.float32)
    result = operator_call.run(str(path), [[x], [x]], ["scale=-3"])
    np.testing.assert_array_equal(result.outputs["y"], x - 3)
    line = "Affine: aclnnScaledOffset of op_api has group, which its definition does not tell"
    assert line in capfd.readouterr().err


@pytest.mark.plants_faults
@pytest.mark.parametrize(
    ("given", "read", "wrong"),
    [
        ("double", "GetAttrPointer<double>(0)", False),
        ("double", "GetFloat(0)", True),
        ("float", "GetAttrPointer<double>(0)", True),
    ],
)
def test_attribute_that_is_handed_over_as_a_double(
    library: Path, given: str, read: str, wrong: bool
) -> None:
    """CANN hands out the bytes that OP_ATTR was given."""
    folder = library / "math" / "affine"
    call, tiling = folder / "op_api/affine.cpp", folder / "op_host/affine_tiling.cpp"
    text = call.read_text()
    assert "OP_ATTR(factor)" in text
    call.write_text(text.replace("OP_ATTR(factor)", f"OP_ATTR(static_cast<{given}>(factor))"))
    text = tiling.read_text()
    assert "GetFloat(0)" in text
    tiling.write_text(text.replace("GetFloat(0)", read))
    x = np.arange(4, dtype=np.float32)
    ran = operator_call.run(folder, [[x], [x]], ["scale=0.3"], soc=SOC)
    assert [found.kind for found in ran.findings] == ["attr-type"] * wrong
    if not wrong:
        got = ran.outputs["y"].astype(np.float64)
        np.testing.assert_allclose(got, 2.3 * x.astype(np.float64), rtol=1e-6)
