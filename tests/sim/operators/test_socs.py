# SPDX-License-Identifier: Apache-2.0
"""Every SoC generation: its own kernels on its own restrictions, and refusals where it has none."""

import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from aclgrad.errors import AclnnError
from aclgrad.golden.precision import compare
from aclgrad.ops import all_specs
from aclgrad.runtime import Device
from aclgrad.runtime.toolkit import sim_root
from aclgrad.spec import soc
from aclgrad.spec.call import TensorDesc
from aclgrad.spec.cases import Case
from aclgrad.spec.dtypes import FLOAT, FLOAT16, DType
from aclgrad.spec.op_spec import OpSpec
from aclgrad.testing import selection
from aclgrad.testing.run import run_case

SOCS = (
    "Ascend910_9391",
    "Ascend950PR_9579",
    "Ascend310P1",
    "Ascend310P3",
    "Ascend910A",
    "Ascend910ProB",
)
SPECS = {spec.op: spec for spec in all_specs()}


@pytest.mark.parametrize("op", SPECS)
@pytest.mark.parametrize("name", SOCS)
def test_grid(op: str, name: str, device: Device, seed: int) -> None:
    spec, family = SPECS[op], soc.family_of(name)
    if not spec.kernels_on(family):
        refused(spec, name, device)
        return
    device.set_option("soc", name)
    outcomes = [
        run_case(device, spec, case, seed)
        for group in selection.choose([spec], fast=True, family=family).groups
        for case in group[1]
    ]
    assert outcomes
    failed = [outcome for outcome in outcomes if not outcome.passed]
    assert not failed, "\n".join(f"{bad.case.name}: {bad.message}" for bad in failed)


@pytest.mark.parametrize("dtype", [FLOAT, FLOAT16], ids=lambda dtype: dtype.label)
@pytest.mark.parametrize("shape", [(75, 5, 15), (1000, 15), (501, 7), (333, 63)], ids=str)
@pytest.mark.parametrize("name", ["Ascend310P3", "Ascend910A"])
def test_in_place(name: str, shape: tuple[int, ...], dtype: DType, device: Device) -> None:
    """Copies of whole blocks do not reach into what the next core writes."""
    spec = SPECS["softmax_grad"]
    device.set_option("soc", name)
    values = np.random.default_rng(1).uniform(-1, 1, (2, *shape)).astype(dtype.numpy)
    arrays = dict(zip(("gradOutput", "output"), values, strict=True))
    desc = TensorDesc(shape, dtype)
    buffers = {arg: device.upload(array) for arg, array in arrays.items()}
    tensors = {arg: device.tensor(desc, buffer.address) for arg, buffer in buffers.items()}
    out = buffers["gradOutput"]
    tensors[spec.output_args[0].name] = device.tensor(desc, out.address)
    device.call(spec, tensors, {"dim": 1})
    report = compare(
        out.read(dtype.numpy).reshape(shape),
        spec.evaluate(arrays, {"dim": 1}),
        terms=spec.magnitudes(arrays, {"dim": 1}),
    )
    assert report.passed, str(report)


@pytest.mark.parametrize("dtype", [FLOAT, FLOAT16], ids=lambda dtype: dtype.label)
@pytest.mark.parametrize("op", ["softmax_grad", "log_softmax_grad"])
@pytest.mark.parametrize("name", ["Ascend310P3", "Ascend910A"])
def test_odd_rows(name: str, op: str, dtype: DType, device: Device) -> None:
    """Streams and padded rows, on the edges of groups of 16 and 128, with any number of cores."""
    spec = SPECS[op]
    device.set_option("soc", name)
    rng = np.random.default_rng(1)
    rows = (1, 2, 17, 130, 700)
    for length in (2, 3, 7, 10, 13, 33, 36, 47, 50, 61, 63, 65, 72, 127, 197, 257, 1023):
        for shape in ((count, length) for count in rows[: 5 if length < 300 else 3]):
            values = rng.uniform(-2, 0, (2, *shape)).astype(dtype.numpy)
            arrays = dict(zip((arg.name for arg in spec.tensors), values, strict=False))
            want = spec.evaluate(arrays, {"dim": 1})
            found = []
            for cores in ("0", "3"):
                device.set_option("cores", cores)
                found.append(device.run(spec, arrays, {"dim": 1}, TensorDesc(shape, dtype)))
            device.set_option("cores", "0")
            report = compare(found[0], want, terms=spec.magnitudes(arrays, {"dim": 1}))
            assert report.passed, f"{shape}: {report}"
            assert found[0].tobytes() == found[1].tobytes(), shape


@pytest.mark.parametrize("name", ["Ascend310P3", "Ascend910A"])
def test_cores_with_many_tiles_of_tiny_rows(name: str, device: Device) -> None:
    """No tile is too short to be stored, wherever the rows of a core begin."""
    spec = SPECS["softmax_grad"]
    device.set_option("soc", name)
    for shape in ((100_003, 3), (60_001, 7)):
        values = np.random.default_rng(1).uniform(-1, 1, (2, *shape)).astype(np.float16)
        arrays = dict(zip((arg.name for arg in spec.tensors), values, strict=False))
        got = device.run(spec, arrays, {"dim": 1}, TensorDesc(shape, FLOAT16))
        report = compare(
            got, spec.evaluate(arrays, {"dim": 1}), terms=spec.magnitudes(arrays, {"dim": 1})
        )
        assert report.passed, f"{shape}: {report}"


@pytest.mark.parametrize("op", SPECS)
def test_no_kernels_for_310b(op: str, device: Device) -> None:
    refused(SPECS[op], "Ascend310B1", device)


def refused(spec: OpSpec, name: str, device: Device) -> None:
    """A SoC without kernels: 161002 where the contract refuses it, 561003 where it does not."""
    out = spec.output_args[0].name

    def is_filled(case: Case) -> bool:
        desc = case.call.tensors[out]
        return desc is not None and all(desc.shape)

    case = next(filter(is_filled, spec.cases(spec, True)))
    device.set_option("soc", name)
    outcome = run_case(device, spec, case)
    code = spec.predict(replace(case.call, family=soc.family_of(name))) or 561003
    assert not outcome.passed and str(code) in outcome.message, outcome.message


def test_an_unknown_soc_is_refused(device: Device) -> None:
    with pytest.raises(AclnnError, match="Ascend910B"):
        device.set_option("soc", "Ascend910B9")


@pytest.mark.parametrize(
    ("said", "name"),
    [
        *soc.OF_FAMILY.items(),
        ("ai_core-Ascend910B3", "Ascend910B3"),
        ("ASCEND910B1", "Ascend910B1"),
        ("Ascend910B", "Ascend910B"),
    ],
)
def test_names_in_the_environment(said: str, name: str) -> None:
    """As OpDef and msopgen write them: what the simulator takes is what the commands take."""
    program = (
        "import ctypes, json, sys; acl = ctypes.CDLL(sys.argv[1]);"
        " acl.aclsimSocJson.restype = ctypes.c_char_p;"
        " print(json.loads(acl.aclsimSocJson(None))['name'])"
    )
    words = [sys.executable, "-c", program, str(sim_root() / "lib64/libascendcl.so")]
    environment = {**os.environ, "ACLGRAD_SOC": said}
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == name
