# SPDX-License-Identifier: Apache-2.0
"""The compiled instruction kernels, once per session."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from instructions.bench import Bench, Runtime, compile_kernel
from instructions.mix_library import A2, A5
from instructions.test_cube_950 import SOC

_SOURCES = ("basics", "elementwise", "gather", "moves", "reduce")


@pytest.fixture(scope="session")
def runtime(toolkit: Path) -> Runtime:
    """The simulator's runtime."""
    return Runtime(toolkit)


@pytest.fixture(scope="session")
def bench(toolkit: Path, runtime: Runtime, tmp_path_factory: pytest.TempPathFactory) -> Bench:
    """The instruction kernels, ready to launch."""
    folder = tmp_path_factory.mktemp("instructions")
    with ThreadPoolExecutor(2) as pool:
        paths = pool.map(lambda name: compile_kernel(toolkit, folder, name), _SOURCES)
        libraries = {
            name: ctypes.CDLL(str(path)) for name, path in zip(_SOURCES, paths, strict=True)
        }
    return Bench(runtime, libraries)


@pytest.fixture(scope="session")
def norms(toolkit: Path, runtime: Runtime, tmp_path_factory: pytest.TempPathFactory) -> Bench:
    """The kernels of high_norm.cpp."""
    path = compile_kernel(toolkit, tmp_path_factory.mktemp("norms"), "high_norm")
    return Bench(runtime, {"high_norm": ctypes.CDLL(str(path))})


@pytest.fixture(scope="module", params=[A2, A5])
def arch(request: pytest.FixtureRequest) -> str:
    """The architecture that mixed_library compiles for."""
    return str(request.param)


@pytest.fixture
def on_its_soc(arch: str, runtime: Runtime) -> Iterator[None]:
    """A SoC of the architecture."""
    with runtime.options(**({"soc": SOC} if arch == A5 else {})):
        yield
