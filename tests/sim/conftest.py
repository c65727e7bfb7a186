# SPDX-License-Identifier: Apache-2.0
"""What every test of this folder is held to: no kernel of ours has a fault that a check sees."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

import sanitizers
from aclgrad.findings import ERROR, parse
from aclgrad.runtime import Device
from aclgrad.runtime.toolkit import sim_root

_LEFT_MS = 2000
_DEVICE_FAULT = 507000  # codes from here on are of what the device did, not of the call


def pytest_configure(config: pytest.Config) -> None:
    """Describe the mark."""
    config.addinivalue_line("markers", "plants_faults: kernels of this test have faults on purpose")
    config.addinivalue_line("markers", "reads_addresses: results of this test are the host's own")
    config.addinivalue_line("markers", "own_runtime: this test takes the runtime down")
    config.addinivalue_line("markers", "no_sanitizer(reason): no sanitizer can run this test")
    for kind in sanitizers.KINDS:
        config.addinivalue_line(
            "markers", f"no_{kind}_sanitizer(reason): {kind.title()}Sanitizer cannot run this test"
        )


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what takes a process of its own where that has one copy of the runtime, and skip what
    the sanitizer of this process cannot run.
    """
    kind = sanitizers.loaded()
    for item in items:
        names = (f"no_{kind}_sanitizer", "no_sanitizer") if kind else ()
        for refused in filter(None, map(item.get_closest_marker, names)):
            item.add_marker(pytest.mark.skip(reason=refused.args[0]))
        if "acl" in getattr(item, "fixturenames", ()):  # of acl_harness.py
            item.add_marker("own_runtime")


def _loaded(path: Path) -> ctypes.CDLL | None:
    """The simulator's library, if something in this process has loaded it."""
    try:
        library = ctypes.CDLL(str(path), mode=os.RTLD_NOW | os.RTLD_NOLOAD)
    except OSError:
        return None
    library.aclsimFindings.restype = ctypes.c_char_p
    return library


@pytest.fixture(scope="module")
def no_packages(session_device: Device) -> Iterator[None]:
    """Only what the tests build is loaded."""
    assert session_device.kind == "sim"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ASCEND_CUSTOM_OPP_PATH", "")
        yield


@pytest.fixture(scope="session", autouse=True)
def shield_of_cmake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """CMake of tests runs without ThreadSanitizer's library."""
    with pytest.MonkeyPatch.context() as patch:
        if sanitizers.loaded() == "thread":
            folder = tmp_path_factory.mktemp("shield")
            sanitizers.write_shield(folder)
            patch.setenv("PATH", str(folder), prepend=os.pathsep)
        yield


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the tests of a module put their project, one after the other: what a test leaves as the
    one before had it is not compiled again. Only for commands: a process keeps what it has loaded.
    """
    return tmp_path_factory.mktemp("place")


@pytest.fixture(autouse=True)
def no_unexpected_finding(request: pytest.FixtureRequest, device_kind: str) -> Iterator[None]:
    """Fail a test whose kernels have an error finding, or that leaves a failed stream to the next
    test. Calls of the host that are refused are the tests' own business: their code tells.
    """
    watched = device_kind == "sim" and not request.node.get_closest_marker("plants_faults")
    path = sim_root() / "lib64" / "libascendcl.so"
    if device_kind == "sim" and (library := _loaded(path)) is not None:
        library.aclGetRecentErrMsg()  # an earlier test's errors are no part of this one's
        if watched:
            library.aclsimClearFindings()
    yield
    if device_kind != "sim" or (library := _loaded(path)) is None:
        return
    code = library.aclrtSynchronizeDeviceWithTimeout(_LEFT_MS)
    if code >= _DEVICE_FAULT:
        pytest.fail(
            f"the test leaves a stream that failed or goes on: error {code}; the next"
            " synchronisation of this process would meet it",
            pytrace=False,
        )
    if not watched:
        return
    text = library.aclsimFindings()
    if text == b"[]":
        return
    found = [
        finding.text
        for finding in parse(text.decode("utf-8", "replace"))
        if finding.severity == ERROR and not finding.kind.startswith("host-")
    ]
    library.aclsimClearFindings()
    if found:
        pytest.fail("findings of the checks:\n" + "\n".join(found), pytrace=False)
