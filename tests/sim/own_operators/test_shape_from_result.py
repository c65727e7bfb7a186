# SPDX-License-Identifier: Apache-2.0
"""Outputs whose shape the kernel finds out: OutputShapeDependOnCompute."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

import aclgrad
from aclgrad.running import operator_call

pytestmark = pytest.mark.usefixtures("no_packages")

SQUARE = Path(__file__).parents[1] / "projects" / "math" / "square"
WRITTEN = """
  GlobalTensor<uint64_t> words;
  words.SetGlobalBuffer((__gm__ uint64_t*)shape, 9);
  words.SetValue(0, 2);
  words.SetValue(1, {rows});
  words.SetValue(2, data.count / 8);
  DataCacheCleanAndInvalid<uint64_t, CacheLine::ENTIRE_DATA_CACHE, DcciDst::CACHELINE_OUT>(words);
}}
"""


def made(folder: Path, rows: int) -> str:
    """An operator that squares, and says that its result is so many rows of an eighth."""
    path = folder / "square"
    shutil.copytree(SQUARE, path)
    definition = path / "op_host" / "square_def.cpp"
    text = definition.read_text()
    marked = text.replace('Output("y")', 'Output("y").OutputShapeDependOnCompute()')
    assert marked != text
    definition.write_text(marked)
    kernel = path / "op_kernel" / "square.cpp"
    text = kernel.read_text()
    assert "GM_ADDR y, GM_ADDR workspace" in text
    text = text.replace(
        "GM_ADDR y, GM_ADDR workspace", "GM_ADDR y, GM_ADDR shape, GM_ADDR workspace"
    )
    kernel.write_text(text.rstrip().removesuffix("}") + WRITTEN.format(rows=rows))
    return str(path)


def test_the_kernel_says_the_shape(tmp_path: Path) -> None:
    """It has an argument for it behind the outputs; what it writes there is the result's shape."""
    x = np.arange(256, dtype=np.float32)
    path = made(tmp_path, 3)
    result = operator_call.run(path, [[x]])
    np.testing.assert_array_equal(result.outputs["y"], (x * x)[:96].reshape(3, 32))
    assert result.findings == ()
    np.testing.assert_array_equal(aclgrad.load(path).square(x), (x * x)[:96].reshape(3, 32))


def test_a_shape_that_does_not_fit(tmp_path: Path) -> None:
    """Nobody reads past the memory of the output."""
    x = np.arange(256, dtype=np.float32)
    result = operator_call.run(made(tmp_path, 9), [[x]])
    np.testing.assert_array_equal(result.outputs["y"], x * x)
