# SPDX-License-Identifier: Apache-2.0
"""Operators by their other types: the same numbers, by kernels of their own."""

from __future__ import annotations

import ctypes as c
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from aclgrad.codegen.render import public_headers, render, sources
from aclgrad.ops import all_specs
from aclgrad.runtime import Device
from aclgrad.runtime.packages import look_up
from aclgrad.spec.call import TensorDesc
from aclgrad.spec.op_spec import OpSpec
from aclgrad.spec.soc import family_of

TYPES = [(spec, name) for spec in all_specs() for name in spec.further_types]
SOCS = ("Ascend910B2", "Ascend910_9391", "Ascend950PR_9589")


def by_type(spec: OpSpec, op_type: str) -> OpSpec:
    """The operator as if that were its only type, with a function of its own."""
    return replace(spec, op_type=op_type, further_types=(), api="aclnnByType", header="by_type")


@pytest.fixture(scope="module")
def library(toolkit: Path, tmp_path_factory: pytest.TempPathFactory) -> c.CDLL:
    """The function that asks for the first of the types."""
    folder = tmp_path_factory.mktemp("by_type")
    other = by_type(*TYPES[0])
    for name, text in {
        **{f"aclnnop/{path}": text for path, text in public_headers(other).items()},
        "aclnnop/aclnn_util.h": render("aclnn_util.h.j2"),
        **sources(other),
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    lib = toolkit / "lib64"
    command = ["g++", "-std=c++17", "-O1", "-shared", "-fPIC", f"-I{folder}"]
    command += [f"-I{toolkit / 'include'}", *map(str, sorted(folder.glob("*.cpp")))]
    command += ["-o", str(folder / "libby_type.so"), f"-L{lib}", f"-Wl,-rpath,{lib}"]
    command += ["-lnnopbase", "-lregister", "-lascendcl"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return c.CDLL(str(folder / "libby_type.so"))


def test_one_operator_has_another_type() -> None:
    assert [(spec.op_type, name) for spec, name in TYPES] == [
        ("ScaledMaskedSoftmaxGradV2", "ScaledMaskedSoftmaxGrad")
    ]


@pytest.mark.parametrize("soc", SOCS)
def test_the_same_numbers(
    device: Device, library: c.CDLL, monkeypatch: pytest.MonkeyPatch, soc: str
) -> None:
    spec, op_type = TYPES[0]
    rng = np.random.default_rng(1)
    shape = (2, 3, 5, 40)
    mask = rng.random((2, 1, 5, 40)) < 0.3
    with device.with_option("soc", soc):
        for dtype in spec.dtypes[family_of(soc).name]:
            inputs = {
                "gradOutput": rng.normal(size=shape).astype(dtype.numpy),
                "y": rng.random(shape).astype(dtype.numpy),
                "mask": mask,
            }
            attrs = {"scale": 0.25, "fixTriuMask": False}
            out = TensorDesc(shape, dtype)
            want = device.run(spec, inputs, attrs, out)
            assert want[~np.broadcast_to(mask, shape)].any()
            with monkeypatch.context() as patch:
                patch.setattr(device.libraries, "opapi", library)
                got = device.run(by_type(spec, op_type), inputs, attrs, out)
            assert got.tobytes() == want.tobytes()


def test_the_package_lists_it(device: Device) -> None:
    """As an operator with kernels, like the others."""
    own = next(item for item in look_up(device.libraries.toolkit.opp) if item.operators)
    for _, op_type in TYPES:
        assert set(own.operators[op_type]) == {"ascend910b", "ascend950"}
