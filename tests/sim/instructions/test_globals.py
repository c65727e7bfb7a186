# SPDX-License-Identifier: Apache-2.0
"""Arrays that a kernel's source declares in GM, and what lies behind tensors."""

from __future__ import annotations

import ctypes
import re
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from instructions.bench import KernelError, Runtime, compile_kernel

pytestmark = pytest.mark.plants_faults


@pytest.fixture(scope="module")
def library(toolkit: Path, tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """The kernels of globals.cpp."""
    folder = tmp_path_factory.mktemp("globals")
    return ctypes.CDLL(str(compile_kernel(toolkit, folder, "globals")))


@pytest.mark.parametrize(
    ("name", "dtype", "count"),
    [
        ("of_the_file", np.int32, 16),
        ("of_a_constexpr", np.float32, 8),
        ("of_a_header", np.int16, 16),
        ("of_a_class", np.float16, 16),
        ("of_a_function", np.int64, 4),
    ],
)
def test_copies(
    runtime: Runtime, library: ctypes.CDLL, name: str, dtype: npt.DTypeLike, count: int
) -> None:
    """Tables are as good a source as tensors."""
    (got,) = runtime.launch(library[name], [np.full(count, 99, dtype)])
    np.testing.assert_array_equal(got, np.arange(count).astype(dtype))


def test_elements(runtime: Runtime, library: ctypes.CDLL) -> None:
    (got,) = runtime.launch(library["by_element"], [np.zeros(16, np.int32)])
    np.testing.assert_array_equal(got, 2 * np.arange(16))


def test_a_variable_may_be_written(runtime: Runtime, library: ctypes.CDLL) -> None:
    (got,) = runtime.launch(library["written"], [np.zeros(16, np.uint32)])
    assert (got == 7).all()


@pytest.mark.parametrize("threads", ["1", "3"])
@pytest.mark.parametrize("name", ["of_each_core", "of_each_core_at_once"])
def test_variables_of_each_core(
    runtime: Runtime, library: ctypes.CDLL, name: str, threads: str
) -> None:
    """__BLOCK_LOCAL__: no core sees what another one has written, whatever host thread it is on."""
    with runtime.options(threads=threads):
        for _ in range(2):
            (got,) = runtime.launch(library[name], [np.zeros(8 * 16, np.uint32)], block_dim=8)
            np.testing.assert_array_equal(got[::16], 40 + np.arange(8))


@pytest.mark.parametrize(
    ("name", "kind", "text"),
    [
        ("past_its_end", "gm-out-of-bounds", "bytes [32, 96) of assist, which has 64"),
        ("write_to_it", "gm-write-to-constant", "writes into assist, a constant"),
        ("of_the_stack", "gm-out-of-bounds", "outside every tensor of this launch"),
    ],
)
def test_faults(runtime: Runtime, library: ctypes.CDLL, name: str, kind: str, text: str) -> None:
    """A table has an end and no writers."""
    with pytest.raises(KernelError) as caught:
        runtime.launch(library[name], [np.zeros(64, np.int32)])
    assert f"[{kind}]" in str(caught.value)
    assert text in str(caught.value)


@pytest.mark.parametrize(
    ("bytes_", "offset", "soc", "text"),
    [
        (60, 0, "", "the tensor ends its allocation of 60 B, for which aclrtMalloc takes 96"),
        (60, 0, "Ascend950PR_9599", "of 60 B, for which aclrtMalloc takes 64"),
        (60, 64, "", "read other data of the same allocation: it has 64 B behind the tensor"),
        (32, 0, "Ascend950PR_9599", "its padding the allocation of 32 B ends 0 B behind"),
    ],
)
def test_behind_a_tensor(
    runtime: Runtime, library: ctypes.CDLL, bytes_: int, offset: int, soc: str, text: str
) -> None:
    """The report tells padding from other data."""
    block = runtime.malloc(bytes_ + offset)
    with runtime.options(soc=soc or runtime.option("soc")):
        runtime.enqueue("kernel", library["read_64_bytes"], runtime.stream, [(block, bytes_)], 1, 0)
        code = runtime.lib.aclrtSynchronizeStream(runtime.stream)
    report = runtime.message()
    runtime.lib.aclrtDestroyStream(runtime.stream)
    runtime.stream = runtime.new_stream()
    runtime.free(block)
    assert code == 507035
    assert text in re.sub(r"\s+", " ", report)
