# SPDX-License-Identifier: Apache-2.0
"""MIX kernels of Ascend 950: the kernels and tests of mix.cpp that say nothing of Atlas A2."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from pathlib import Path

import pytest

from instructions.bench import Runtime
from instructions.mix_library import A5, mixed_library
from instructions.test_cube_950 import SOC
from instructions.test_mix import (  # noqa: F401 - tests of this file too
    test_a_key_may_have_one_kind_of_core,
    test_answers_keep_a_counter_low,
    test_counter_overflows,
    test_each_core_knows_its_place,
    test_flags_among_one_kind,
    test_sync_all,
)


@pytest.fixture(scope="module")
def library(toolkit: Path, tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """The kernels of mix.cpp, for the other SoC."""
    return mixed_library(toolkit, tmp_path_factory.mktemp("mix_950"), "mix", A5)


@pytest.fixture(autouse=True)
def on_950(runtime: Runtime) -> Iterator[None]:
    """The SoC of this file."""
    with runtime.options(soc=SOC):
        yield
