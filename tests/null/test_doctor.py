# SPDX-License-Identifier: Apache-2.0
"""What doctor says about operator packages: the order of the look-up, conflicts, what is missing.

Packages here are folders with empty files: doctor looks, and loads nothing but the toolkit.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
from pathlib import Path

import pytest

from aclgrad.cli import installation as doctor
from aclgrad.cli.npu import DoctorLine
from aclgrad.ops import all_specs
from aclgrad.runtime import packages

TBE = "op_impl/ai_core/tbe"
ALL = tuple((spec.op_type, spec.op) for spec in all_specs())


def vendor(root: Path, *ops: tuple[str, str], opapi: str | None = "library") -> Path:
    """Folder of a package with these operators."""
    for op_type, op in ops:
        kernel = root / TBE / "kernel/ascend910b" / op / f"{op_type}_float16_float16.so"
        kernel.parent.mkdir(parents=True)
        kernel.touch()
    tiling = root / TBE / "op_tiling/lib/linux" / platform.machine() / "libcust_opmaster_rt2.0.so"
    tiling.parent.mkdir(parents=True)
    tiling.touch()
    if opapi is not None:
        (root / "op_api/lib").mkdir(parents=True)
        (root / "op_api/lib/libcust_opapi.so").write_text(opapi)
    return root


@pytest.fixture
def toolkit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A simulator's toolkit of empty files; nothing else in the environment."""
    for name in ("ASCEND_CUSTOM_OPP_PATH", "ASCEND_OPP_PATH", "LD_LIBRARY_PATH"):
        monkeypatch.delenv(name, raising=False)
    root = tmp_path / "toolkit"
    for name in ("libascendcl.so", "libnnopbase.so"):
        (root / "lib64").mkdir(parents=True, exist_ok=True)
        (root / "lib64" / name).touch()
    vendor(root / "opp/vendors/aclgrad", *ALL)
    (root / "opp/vendors/config.ini").write_text("load_priority=aclgrad\n")
    monkeypatch.setenv("ACLGRAD_TOOLKIT", str(root))
    return root


def findings(what: str) -> list[DoctorLine]:
    return [finding for finding in doctor.libraries("sim") if finding.what.startswith(what)]


def one(what: str) -> DoctorLine:
    found = findings(what)
    assert len(found) == 1, found
    return found[0]


def mended(fix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the command that doctor names and take over what it exports."""
    done = subprocess.run(
        ["bash", "-c", f"{fix}; env -0"], capture_output=True, text=True, check=True
    )
    values = dict(item.split("=", 1) for item in done.stdout.split("\0") if "=" in item)
    for name in ("ASCEND_CUSTOM_OPP_PATH", "ASCEND_OPP_PATH", "LD_LIBRARY_PATH"):
        if name in values:
            monkeypatch.setenv(name, values[name])
        else:
            monkeypatch.delenv(name, raising=False)


def test_own_package_alone_is_no_conflict(toolkit: Path) -> None:
    package = one("package 1")
    assert package.status == "ok" and "SoftmaxGrad" in package.value
    assert "load_priority" in package.value
    assert all(one(op).status == "ok" for _, op in ALL)
    assert not findings("same operator") and not findings("copies") and not findings("package 2")
    assert "ACLGRAD_TOOLKIT" in one("toolkit").value


def test_order_is_custom_then_opp_then_own(
    toolkit: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = (vendor(tmp_path / name, ("Foo", "foo")) for name in ("b", "a"))
    opp = tmp_path / "opp"
    third, fourth = (vendor(opp / "vendors" / name, ("Bar", "bar")) for name in ("z", "y"))
    (opp / "vendors/config.ini").write_text("load_priority=z, y\n")
    monkeypatch.setenv("ASCEND_CUSTOM_OPP_PATH", f"{first}:{second}:{first}")
    monkeypatch.setenv("ASCEND_OPP_PATH", str(opp))
    own = toolkit / "opp/vendors/aclgrad"
    found = packages.look_up(toolkit / "opp")
    assert [candidate.root for candidate in found] == [first, second, third, fourth, own]
    assert "entry 2" in one("package 2").value and "ASCEND_OPP_PATH" in one("package 3").value
    # Without config.ini: by name.
    (opp / "vendors/config.ini").unlink()
    assert [c.root.name for c in packages.look_up(toolkit / "opp")][2:4] == ["y", "z"]


def test_conflict_between_two_vendors_and_its_mending(
    toolkit: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = vendor(tmp_path / "one", ("Foo", "foo"), ("Bar", "bar"))
    second = vendor(tmp_path / "two", ("Foo", "foo"))
    monkeypatch.setenv("ASCEND_CUSTOM_OPP_PATH", f"{first}:{second}")
    conflict = one("same operator")
    assert conflict.status == "problem" and "Bar" not in conflict.value
    assert conflict.value == f"Foo: {first} goes before {second}"
    mended(conflict.fix, monkeypatch)
    assert not findings("same operator")
    assert os.environ["ASCEND_CUSTOM_OPP_PATH"] == str(first)


def test_a_package_over_the_toolkits_own_is_a_note(
    toolkit: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = vendor(tmp_path / "v", *ALL)
    monkeypatch.setenv("ASCEND_CUSTOM_OPP_PATH", str(package))
    assert one("same operator").status == "note"
    assert str(package) in one("softmax_grad").value
    assert one("copies").status == "note" and not findings("libcust_opapi.so and kernels")


def test_wrapper_and_kernels_of_different_builds(
    toolkit: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = vendor(tmp_path / "v", *ALL, opapi="another build")
    monkeypatch.setenv("ASCEND_CUSTOM_OPP_PATH", str(package))
    found = findings("libcust_opapi.so and kernels")
    assert [finding.status for finding in found] == ["problem", "problem"]
    assert "Python" in found[0].value and "C++ programs" in found[1].value
    mended(found[0].fix, monkeypatch)
    assert not findings("libcust_opapi.so and kernels")
    # With the package's own library in front, only Python is left.
    monkeypatch.setenv("ASCEND_CUSTOM_OPP_PATH", str(package))
    monkeypatch.setenv("LD_LIBRARY_PATH", str(package / "op_api/lib"))
    assert "Python" in one("libcust_opapi.so and kernels").value
    assert "(LD_LIBRARY_PATH)" in one("libcust_opapi.so of C++").value


@pytest.mark.parametrize("entry", ["gone", "holder", "empty"])
def test_wrong_entries_of_the_custom_path(
    entry: str, toolkit: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = vendor(tmp_path / "good", ("Foo", "foo"))
    inside = vendor(tmp_path / "holder/mine", ("Bar", "bar"))
    (tmp_path / "empty").mkdir()
    monkeypatch.setenv("ASCEND_CUSTOM_OPP_PATH", f"{good}:{tmp_path / entry}")
    bad = one("package 2")
    assert bad.status == "problem"
    mended(bad.fix, monkeypatch)
    want = f"{good}:{inside}" if entry == "holder" else str(good)
    assert os.environ["ASCEND_CUSTOM_OPP_PATH"] == want
    assert one("package 2").status == "ok"


def test_config_ini_that_does_not_fit_the_folders(
    toolkit: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vendors = toolkit / "opp/vendors"
    vendor(vendors / "other", ("Foo", "foo"))
    (vendors / "config.ini").write_text("load_priority=removed,aclgrad\n")
    problems = [finding for finding in findings("package") if finding.status == "problem"]
    assert ["not installed" in problems[0].value, "never looked at" in problems[1].value] == [
        True
    ] * 2
    mended(problems[0].fix, monkeypatch)
    assert (vendors / "config.ini").read_text() == "load_priority=aclgrad\n"
    mended(one("package 2").fix, monkeypatch)
    assert (vendors / "config.ini").read_text() == "load_priority=other,aclgrad\n"
    assert all(finding.status == "ok" for finding in findings("package"))


def test_package_of_the_other_device(
    toolkit: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = vendor(tmp_path / "v", ("Foo", "foo"))
    for kernel in package.rglob("Foo_*.so"):
        kernel.rename(kernel.with_suffix(".o"))
    monkeypatch.setenv("ASCEND_CUSTOM_OPP_PATH", str(package))
    assert "for an NPU only" in one("package for another").value
    mended(one("package for another").fix, monkeypatch)
    assert not findings("package for another")


def test_missing_parts(toolkit: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = toolkit / "opp/vendors/aclgrad"
    next(own.rglob("libcust_opmaster_rt2.0.so")).unlink()
    next(own.rglob("SoftmaxGrad_*.so")).unlink()
    assert "no tiling library" in next(f for f in findings("package") if f.status != "ok").value
    assert one("softmax_grad").status == "problem" and one("softmax_grad").fix == "aclgrad build"
    (toolkit / "share/cmake/aclgrad").mkdir(parents=True)
    stamp = toolkit / "share/cmake/aclgrad/aclgrad-config-version.cmake"
    stamp.write_text('set(PACKAGE_VERSION "0.0.9")\n')
    assert one("toolkit version").fix == "unset ACLGRAD_TOOLKIT"


def test_operators_of_a_cann_package(tmp_path: Path) -> None:
    root = vendor(tmp_path / "v")
    config = root / TBE / "config/ascend910b/aic-ascend910b-ops-info.json"
    config.parent.mkdir(parents=True)
    config.write_text(json.dumps({"SoftmaxGrad": {}, "Other": {}}))
    (root / "version.info").write_text("custom_opp_compiler_version=8.1.RC1\n")
    candidate = packages.Candidate(root, "test")
    assert candidate.operators == {"Other": ("ascend910b",), "SoftmaxGrad": ("ascend910b",)}
    assert candidate.version == "8.1.RC1"


def test_another_aclgrad_on_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = tmp_path / "aclgrad" / "__init__.py"
    module.parent.mkdir()
    module.touch()
    before = [finding.what for finding in doctor._python()]
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}/nowhere")
    (found,) = [each for each in doctor._python() if each.what not in before]
    assert str(module.parent) in found.value and found.status == "note"
    assert found.fix == f"take {tmp_path} out of PYTHONPATH"


def test_npu_without_and_with_cann(
    toolkit: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def about(what: str) -> DoctorLine:
        return next(finding for finding in doctor.examine("npu") if finding.what == what)

    monkeypatch.delenv("ASCEND_HOME_PATH", raising=False)
    assert about("toolkit").status == "problem" and "set_env.sh" in about("toolkit").fix
    building = about("building with CANN")
    assert "ASCEND_HOME_PATH is not set" in building.value and "set_env.sh" in building.fix
    home = tmp_path / "cann"
    modules = home / "compiler/tikcpp/ascendc_kernel_cmake"
    modules.mkdir(parents=True)
    (modules / "asc-config.cmake").touch()
    (home / "compiler/version.info").write_text("Version=9.1.0\n")
    monkeypatch.setenv("ASCEND_HOME_PATH", str(home))
    building = about("building with CANN")
    assert building.status == "ok" and "9.1.0" in building.value and str(modules) in building.value
    assert "libcust_opapi.so" in about("toolkit").value
