# SPDX-License-Identifier: Apache-2.0
"""The package without a toolkit: importing loads nothing, functions are documented, refusals
help.
"""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import aclgrad
from aclgrad import errors
from aclgrad.errors import AclnnError, ToolkitError
from aclgrad.ops import all_specs
from aclgrad.runtime.memory import storage_of
from aclgrad.runtime.toolkit import find_toolkit


def test_import_loads_no_library_and_no_torch() -> None:
    code = (
        "import aclgrad, aclgrad.cli, aclgrad.runtime, sys\n"
        "maps = open('/proc/self/maps').read()\n"
        "assert 'libascendcl' not in maps and 'libcust_opapi' not in maps\n"
        "assert 'torch' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=600)


@pytest.mark.parametrize("spec", all_specs(), ids=lambda spec: spec.op)
def test_function_follows_the_spec(spec) -> None:  # type: ignore[no-untyped-def]
    function = getattr(aclgrad, spec.function)
    names = list(inspect.signature(function).parameters)
    assert names == [a.python for a in (*spec.input_args, *spec.attr_args)] + [
        "out_dtype",
        "device",
    ]
    for heading in ("Parameters\n----------", "Returns\n-------", "Raises\n------", spec.formula):
        assert heading in function.__doc__
    assert spec.function in aclgrad.__all__


def test_attribute_values_are_checked_before_any_library_is_needed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ACLGRAD_TOOLKIT", "/nowhere")
    x = np.ones((2, 3), np.float32)
    with pytest.raises(TypeError, match=r"dim: got 1\.5, want an integer"):
        aclgrad.softmax_backward(x, x, 1.5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="dim: got .* want a 64-bit integer"):
        aclgrad.softmax_backward(x, x, 2**63)
    with pytest.raises(ValueError, match="array dtype: got object"):
        aclgrad.softmax_backward(np.array([None]), x)


def test_missing_toolkit_names_the_command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ACLGRAD_TOOLKIT", str(tmp_path))
    with pytest.raises(ToolkitError, match=r"libascendcl\.so.*Next: aclgrad build"):
        find_toolkit("sim")


def test_npu_never_falls_back(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("ASCEND_HOME_PATH", raising=False)
    with pytest.raises(ToolkitError, match="ASCEND_HOME_PATH is not set"):
        find_toolkit("npu")
    monkeypatch.setenv("ASCEND_HOME_PATH", str(tmp_path / "none"))
    with pytest.raises(ToolkitError, match="not a folder"):
        find_toolkit("npu")
    monkeypatch.setenv("ASCEND_HOME_PATH", str(tmp_path))
    monkeypatch.setenv("ASCEND_CUSTOM_OPP_PATH", str(tmp_path / "vendor"))
    with pytest.raises(ToolkitError, match="no libcust_opapi.so"):
        find_toolkit("npu")
    library = tmp_path / "vendor/op_api/lib/libcust_opapi.so"
    library.parent.mkdir(parents=True)
    library.touch()
    with pytest.raises(ToolkitError, match="missing .*libascendcl.so"):
        find_toolkit("npu")
    with pytest.raises(ToolkitError, match="want sim or npu"):
        find_toolkit("gpu")


def test_error_carries_code_name_and_message() -> None:
    error = AclnnError(161002, "aclnnXGetWorkspaceSize", " dim: got 9 \n")
    assert (error.code, error.name, error.message) == (
        161002,
        "ACLNN_ERR_PARAM_INVALID",
        "dim: got 9",
    )
    assert "161002" in str(error) and "dim: got 9" in str(error)
    assert AclnnError(424242, "f").name == "unknown code"


@pytest.mark.parametrize("code", sorted(errors.CODES))
def test_every_code_is_explained(code: int) -> None:
    known = errors.explain(code)
    assert known.name and known.meaning.endswith(".")
    assert (known.causes.endswith(".") and known.next_step.endswith(".")) or code == 0
    assert errors.explain(known.name.lower()) == known


def test_every_code_of_the_headers_has_its_entry() -> None:
    source = Path(__file__).resolve().parents[2] / "simulator" / "include"
    pattern = re.compile(r"\b(ACL(?:NN)?_(?:ERR|ERROR)_[A-Z0-9_]+)(?: =|) (\d{6})\b")
    headers = ("acl/acl_base.h", "acl/error_codes/rt_error_codes.h", "opdev/op_errno.h")
    found = [hit for name in headers for hit in pattern.findall((source / name).read_text())]
    assert len(found) > 230
    assert {(name, int(code)) for name, code in found} <= {
        (known.name, code) for code, known in errors.CODES.items()
    }


def test_codes_between_the_tables() -> None:
    with pytest.raises(errors.UnknownCodeError, match="internal errors"):
        errors.explain(561999)
    with pytest.raises(errors.UnknownCodeError, match="got 7"):
        errors.explain("7")


def test_strided_arrays_are_sent_without_a_copy() -> None:
    base = np.arange(24, dtype=np.float32).reshape(4, 6)
    for array in (
        base,
        base.T,
        base[:, ::2],
        base[1:3, 1:4],
        np.broadcast_to(base[0], (3, 6)),
        base[2, 3],
    ):
        array = np.asarray(array)
        storage, desc = storage_of(array)
        assert np.shares_memory(storage, base) or array.ndim == 0
        assert desc.inside_storage and desc.shape == array.shape
        again = np.lib.stride_tricks.as_strided(
            storage[desc.offset :], desc.shape, [s * storage.itemsize for s in desc.view_strides]
        )
        assert np.array_equal(again, array)


def test_arrays_that_a_view_cannot_describe_are_copied() -> None:
    base = np.arange(24, dtype=np.float32).reshape(4, 6)
    packed = np.zeros(5, np.dtype([("tag", np.uint8), ("value", np.float32)]))["value"]
    for array in (base[::-1], base[:, ::-2], base.astype(">f4"), packed):
        storage, desc = storage_of(array)
        assert storage.dtype == np.float32 and not np.shares_memory(storage, array)
        assert np.array_equal(storage.reshape(desc.shape), array)
    storage, desc = storage_of(np.empty((3, 0), np.float16))
    assert storage.size == 0 and desc.shape == (3, 0)
