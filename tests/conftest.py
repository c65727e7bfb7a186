# SPDX-License-Identifier: Apache-2.0
"""Options, device fixtures and the per-test watchdog of all tiers.

null: needs no toolkit. sim: runs on the simulator; with --device npu what is marked on_board runs,
on an NPU.
"""

from __future__ import annotations

import faulthandler
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

import processor_time
import tiers
from aclgrad.errors import ToolkitError
from aclgrad.runtime import OPTIONS, Device, Toolkit, find_toolkit, open_device

# Images set it. Each command that a test starts would compile the package again.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

ROOT = Path(__file__).resolve().parents[1]
_TIME_LIMIT = 1800.0  # a busy machine takes ten times as long as an idle one, and a hang for ever

settings.register_profile(
    "aclgrad",
    derandomize=True,
    deadline=None,
    max_examples=40,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("aclgrad")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Options of this test suite."""
    group = parser.getgroup("aclgrad")
    group.addoption("--device", choices=("sim", "npu"), default="sim", help="where operators run")
    group.addoption("--seed", type=int, default=0, help="other random values for the same cases")
    group.addoption(
        "--tier",
        choices=tiers.TIERS,
        default="all",
        help="of files, by marks: tests/tiers.py",
    )
    group.addoption("--update", action="store_true", help="rewrite tests/codegen_ref")


def pytest_configure(config: pytest.Config) -> None:
    """Describe the marks, and measure tests."""
    config.pluginmanager.register(processor_time)
    for name, text in tiers.MARKS.items():
        config.addinivalue_line("markers", f"{name}: {text}")
    config.addinivalue_line("markers", "on_board: runs on an NPU as on the simulator")
    config.addinivalue_line("markers", "sim_only: an exception in a module that is on_board")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out the files of other tiers without importing them. Specs of projects are files of
    tests too, whose operators are built when they are collected.
    """
    tier = config.getoption("--tier")
    if tier == "all" or collection_path.is_dir():
        return None
    return None if tiers.belongs(collection_path, tier) else True


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """With --device npu only what is meant for a board."""
    if config.getoption("--device") == "npu":

        def is_left_out(item: pytest.Item) -> bool:
            marks = {mark.name for mark in item.iter_markers()}
            return "on_board" not in marks or "sim_only" in marks

        left_out = [item for item in items if is_left_out(item)]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if not is_left_out(item)]


@pytest.fixture(scope="session")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that all processes of this run share."""
    base = tmp_path_factory.getbasetemp()
    return base.parent if base.name.startswith("popen-gw") else base


@pytest.fixture(scope="session", autouse=True)
def operator_cache(run_folder: Path) -> Iterator[Path]:
    """One cache of operators for all processes of this run: what several tests build is compiled
    once, and the user's own cache stays as it is.
    """
    folder = run_folder / "operators"
    (folder / "parsed").mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.chmod(0o700)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ACLGRAD_CACHE", str(folder))
        yield folder


@pytest.fixture(scope="session")
def new_cache(operator_cache: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Path]:
    """Makes caches without an operator. The headers are parsed, which takes longer than most
    operators.
    """

    def make() -> Path:
        folder = tmp_path_factory.mktemp("cache")
        (folder / "parsed").symlink_to(operator_cache / "parsed")
        return folder

    return make


@pytest.fixture(scope="module", autouse=True)
def own_environment() -> Iterator[None]:
    """The packages of operators that a module builds and runs in this process, and the settings of
    the simulator that it changes, are not those of the next module.
    """

    def is_own(name: str) -> bool:
        return name == "ASCEND_CUSTOM_OPP_PATH" or name.startswith("ACLGRAD_SIM_")

    before = {name: value for name, value in os.environ.items() if is_own(name)}
    yield
    for name in filter(is_own, list(os.environ)):
        del os.environ[name]
    os.environ.update(before)


@pytest.fixture(autouse=True)
def watchdog() -> Iterator[None]:
    """End the process with all stacks when one test hangs."""
    faulthandler.dump_traceback_later(_TIME_LIMIT, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()


@pytest.fixture(scope="session")
def seed(pytestconfig: pytest.Config) -> int:
    """Value of --seed."""
    return int(pytestconfig.getoption("--seed"))


@pytest.fixture(scope="session")
def device_kind(pytestconfig: pytest.Config) -> str:
    """Value of --device."""
    return str(pytestconfig.getoption("--device"))


@pytest.fixture(scope="session")
def toolkit_info(device_kind: str) -> Toolkit:
    """Folders of the toolkit under test. A missing simulator is a failure, a missing NPU a skip."""
    try:
        return find_toolkit(device_kind)
    except ToolkitError as error:
        if device_kind == "npu":
            pytest.skip(str(error))
        pytest.fail(str(error), pytrace=False)


@pytest.fixture(scope="session")
def toolkit(toolkit_info: Toolkit) -> Path:
    """Folder of the toolkit under test."""
    return toolkit_info.root


@pytest.fixture(scope="session")
def session_device(toolkit_info: Toolkit, device_kind: str) -> Device:
    """Open the device once per process."""
    return open_device(device_kind)


@pytest.fixture
def device(session_device: Device) -> Iterator[Device]:
    """Hand out the open device; on the simulator, put its options back afterwards."""
    with session_device.keeping(*OPTIONS):
        yield session_device
