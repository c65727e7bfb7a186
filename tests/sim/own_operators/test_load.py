# SPDX-License-Identifier: Apache-2.0
"""aclgrad.load: operators of projects and packages as functions on NumPy arrays."""

from __future__ import annotations

import inspect
import re
import shutil
import threading
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import aclgrad
from aclgrad.building import operator_build
from aclgrad.reading.layout import locate
from aclgrad.runtime import Device
from aclgrad.runtime.toolkit import sim_root
from aclgrad.spec.soc import family

MATH = Path(__file__).parents[1] / "projects" / "math"
X = np.arange(12, dtype=np.float32).reshape(3, 4)


@pytest.fixture(scope="module", autouse=True)
def simulator(session_device: Device) -> None:
    """What is built runs there."""
    assert session_device.kind == "sim"


def test_function_is_its_definition() -> None:
    ops = aclgrad.load(MATH / "scale_add")
    assert list(ops) == ["scale_add"] and "scale_add" in dir(ops) and "scale_add(" in repr(ops)
    function = ops.scale_add
    assert function.__name__ == "scale_add"
    parameters = inspect.signature(function).parameters
    assert [*parameters] == ["x", "bias", "scale", "repeat", "out"]
    assert parameters["bias"].default is None and parameters["x"].default is inspect.Parameter.empty
    assert parameters["scale"].default == 2.0 and parameters["repeat"].default == 1
    assert parameters["scale"].kind is inspect.Parameter.KEYWORD_ONLY
    text = inspect.getdoc(function)
    assert text is not None
    for word in (
        "ScaleAdd",
        "x : ndarray of float32 or float16",
        "bias :",
        "optional",
        "scale : float, default 2.0",
    ):
        assert word in text


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_arrays_of_any_strides(dtype: type) -> None:
    function = aclgrad.load(MATH / "scale_add").scale_add
    x: np.ndarray = np.arange(48).reshape(6, 8).astype(dtype)
    for view in (x, x.T, x[::-1, ::-2], x[1:4, 2:5], np.broadcast_to(x[0], (3, 8)), x[:0]):
        got = function(view)
        assert got.dtype == x.dtype and got.shape == view.shape
        np.testing.assert_array_equal(got, view * dtype(2))
        np.testing.assert_array_equal(function(view, view, scale=3), view * dtype(3) + view)
    scalar = function(dtype(3))
    assert scalar.shape == () and scalar == 6
    np.testing.assert_array_equal(function(bias=None, x=x), x * dtype(2))


def test_bfloat16_and_packages(device: Device) -> None:
    """Our own package, as any other: the operators' definitions, not the aclnn functions."""
    ops = aclgrad.load(sim_root() / "opp")
    rng = np.random.default_rng(1)
    y, g = (rng.random((5, 40)).astype(ml_dtypes.bfloat16) for _ in range(2))
    want = aclgrad.softmax_backward(g, y)
    got = ops.softmax_grad(y, g, axes=[-1])
    assert got.dtype == want.dtype
    np.testing.assert_array_equal(got, want)
    with pytest.raises(aclgrad.AclnnError, match=r"(?s)softmax_grad: .*axis 7"):
        ops.softmax_grad(y, g, axes=(7,))


def test_kernel_whose_dtypes_are_too_long_for_a_file_name(tmp_path: Path) -> None:
    """Thirty parameters: the build and the look-up give the library the same short name."""
    folder = tmp_path / "square"
    shutil.copytree(MATH / "square", folder)
    more = [f"unused{index}" for index in range(30)]
    definition = folder / "op_host" / "square_def.cpp"
    inputs = "".join(
        f'    Input("{name}").ParamType(OPTIONAL).DataType({{ge::DT_FLOAT}})'
        ".Format({ge::FORMAT_ND});\n"
        for name in more
    )
    text = definition.read_text()
    definition.write_text(text.replace('    Output("y")', f'{inputs}    Output("y")'))
    kernel = folder / "op_kernel" / "square.cpp"
    args = "".join(f"GM_ADDR {name}, " for name in more)
    kernel.write_text(kernel.read_text().replace("GM_ADDR y,", f"{args}GM_ADDR y,"))
    x = np.arange(12, dtype=np.float32)
    np.testing.assert_array_equal(aclgrad.load(folder).square(x), x * x)
    builder = operator_build.Builder(locate(folder), family("ascend910b"))
    (library,) = builder.package.rglob("Square_*.so")
    assert re.fullmatch(r"Square_[0-9a-f]{16}\.so", library.name)


def test_kernel_that_chooses_by_key_in_the_preprocessor(tmp_path: Path) -> None:
    """A device build has a binary for each key; a library of the simulator has all keys."""
    shutil.copytree(MATH / "square", tmp_path / "square")
    tiling = tmp_path / "square/op_host/square_tiling.cpp"
    chosen = tiling.read_text().replace("SetTilingKey(0)", "SetTilingKey(data->count % 2 + 1)")
    chosen = chosen.replace(
        "  context->SetTilingKey",
        "  auto* data = context->GetTilingData<SquareTilingData>();\n  context->SetTilingKey",
    )
    tiling.write_text(chosen)
    kernel = tmp_path / "square/op_kernel/square.cpp"
    head, line, rest = kernel.read_text().partition("  Mul(value, value, value, data.count);\n")
    assert line
    choice = "  TILING_KEY_IS(1);\n  TILING_KEY_IS(2);\n#if TILING_KEY_VAR == 1\n" + line
    choice += "#elif TILING_KEY_VAR == 2\n  Adds(value, value, 1.0F, data.count);\n#endif\n"
    kernel.write_text(head + choice + rest)
    square = aclgrad.load(tmp_path / "square").square
    np.testing.assert_array_equal(square(X[0]), X[0] * X[0])
    np.testing.assert_array_equal(square(X[0, :3]), X[0, :3] + 1)


def test_lists_tuples_and_out() -> None:
    ops = aclgrad.load(MATH / "list_scale")
    assert ops.list_scale([]) == []
    made = ops.list_scale([X, X[1:]])
    assert isinstance(made, list)
    np.testing.assert_array_equal(made[1], aclgrad.load(MATH / "list_scale").list_scale([X[1:]])[0])
    clip = aclgrad.load(MATH / "clip_rows").clip_rows
    out = np.zeros((4, 3), np.float32).T, np.zeros_like(X)
    got = clip(X, limits=[1, 5.0], out=out)
    assert got[0] is out[0]
    np.testing.assert_array_equal(out[0], X.clip(1, 5))
    np.testing.assert_array_equal(out[1], X)
    for words, message in (
        ({}, "clip_rows: op_host has no shape inference. Next: out=a tuple of 2 arrays"),
        ({"out": out[0]}, r"clip_rows: out: got ndarray, want a tuple of 2"),
        ({"out": (X, X.astype("f8"))}, r"clip_rows: out\[1\]: got float64, want float32"),
    ):
        with pytest.raises(TypeError, match=message):
            clip(X, limits=(1, 5), **words)
    totals = aclgrad.load(MATH / "column_totals").column_totals
    x = np.arange(48, dtype=np.float32).reshape(3, 16)
    np.testing.assert_array_equal(totals(x, keep=[True]), 1 * (x.sum(0) + 5).reshape(1, 16))
    with pytest.raises(ValueError, match=r"out: got shape \(16,\), want \(1, 16\)"):
        totals(x, keep=[True], out=np.empty(16, np.float32))


@pytest.mark.parametrize(
    ("args", "words", "kind", "message"),
    [
        ((), {}, TypeError, r"scale_add\(\) missing a required argument: 'x'"),
        ((X, X, X), {}, TypeError, r"scale_add\(\) too many positional arguments"),
        ((X,), {"skale": 1}, TypeError, "got an unexpected keyword argument 'skale'"),
        ((X,), {"x": X}, TypeError, r"scale_add\(\) multiple values for argument 'x'"),
        ((None,), {}, TypeError, "scale_add: x: got None, want a numpy.ndarray of float32 or flo"),
        ((X.astype("f8"),), {}, TypeError, "scale_add: x: got float64, want float32 or float16; c"),
        ((X.astype("O"),), {}, TypeError, "scale_add: x: got object, want float32 or float16"),
        (([[1, 2], [3]],), {}, TypeError, "scale_add: x: got list, want a numpy.ndarray of float"),
        ((X, X.astype("f2")), {}, TypeError, "bias: got float16, want float32 beside x of float32"),
        ((X,), {"scale": "2"}, TypeError, "scale_add: scale: got '2', want a number"),
        ((X,), {"repeat": 1.5}, TypeError, "scale_add: repeat: got 1.5, want an integer"),
        ((X,), {"repeat": 2**63}, TypeError, "scale_add: repeat: got 9223372036854775808, want"),
        ((X,), {"out": X.astype("f8")}, TypeError, "scale_add: out: got float64, want float32"),
        ((X,), {"out": np.broadcast_to(X, X.shape)}, ValueError, "out: got an array that is read-"),
    ],
)  # fmt: skip
def test_wrong_arguments_are_named(
    args: tuple[object, ...], words: dict[str, object], kind: type[Exception], message: str
) -> None:
    with pytest.raises(kind, match=message) as caught:
        aclgrad.load(MATH / "scale_add").scale_add(*args, **words)
    assert "DT_" not in str(caught.value)


def test_what_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(AttributeError, match="no operator scale_sub, there is scale_add"):
        aclgrad.load(MATH / "scale_add").scale_sub  # noqa: B018
    with pytest.raises(aclgrad.ToolkitError, match="no such file or folder"):
        aclgrad.load(tmp_path / "none")
    for name in ("first", "second"):
        (tmp_path / "vendors" / name / "op_impl").mkdir(parents=True)
    with pytest.raises(aclgrad.ToolkitError, match=r"2 operator packages: .*first, .*Next: name o"):
        aclgrad.load(tmp_path)
    with pytest.raises(aclgrad.ToolkitError, match="no tiling library for this machine"):
        aclgrad.load(tmp_path / "vendors" / "first")
    (tmp_path / "own.run").touch()
    with pytest.raises(aclgrad.ToolkitError, match="an installer, want what it installs"):
        aclgrad.load(tmp_path / "own.run")
    with pytest.raises(ValueError, match="SoC: got 'Ascend1'"):
        aclgrad.load(MATH / "scale_add", soc="Ascend1")


def test_operators_of_the_same_name_stay_apart(tmp_path: Path) -> None:
    """Two projects, one type: tiling, inference and kernel of each are its own. So is a package."""
    shutil.copytree(MATH.parent, tmp_path / "library")
    other = tmp_path / "library" / "math" / "scale_add"
    tiling = other / "op_host" / "scale_add_tiling.cpp"
    text = tiling.read_text()
    assert "data->scale = *scale;" in text
    tiling.write_text(text.replace("data->scale = *scale;", "data->scale = *scale + 3;"))
    two, five = aclgrad.load(MATH / "scale_add"), aclgrad.load(other)
    package = aclgrad.load(operator_build.build(MATH / "scale_add", soc="Ascend910B2").package)
    for _ in range(2):
        np.testing.assert_array_equal(two.scale_add(X), 2 * X)
        np.testing.assert_array_equal(five.scale_add(X), 5 * X)
        np.testing.assert_array_equal(package.scale_add(X, X), 3 * X)
        aclgrad.softmax_backward(X, X)


def test_threads_share_functions() -> None:
    two = aclgrad.load(MATH / "scale_add").scale_add
    failures: list[object] = []

    def work(number: int) -> None:
        x = np.full((number + 1, 7), number, np.float32)
        for _ in range(5):
            if not np.array_equal(two(x), 2 * x):
                failures.append(number)

    workers = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert failures == []
