# SPDX-License-Identifier: Apache-2.0
"""Kernels whose local arrays are larger than a thread's stack and its guard."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

# The lowest elements are written and no others: where nothing looks at what lies between, they are
# another thread's, or nobody's.
KERNEL = """\
#include "kernel_operator.h"
{frame}
extern "C" __global__ __aicore__ void poke(GM_ADDR x, GM_ADDR y) {{
  volatile int32_t r = Frame(AscendC::GetBlockIdx());
}}
"""
ARRAY = """\
static __attribute__((noinline)) int32_t Frame(int32_t by) {{
  volatile int32_t here[{bytes} / 4];
  for (int k = 0; k < 2000; ++k) here[k] = by;
  return here[by % 7];
}}"""
LENGTH = """\
static __attribute__((noinline)) int32_t Frame(int32_t by) {{
  volatile int32_t here[{bytes} / 4 + by];
  for (int k = 0; k < 2000; ++k) here[k] = by;
  return here[by % 7];
}}"""
MAIN = """
#include "acl/acl.h"
int main() {
  aclrtSetDevice(0);
  aclrtStream stream = nullptr;
  aclrtCreateStream(&stream);
  uint8_t* y = nullptr;
  aclrtMalloc(reinterpret_cast<void**>(&y), 256, ACL_MEM_MALLOC_HUGE_FIRST);
  poke<<<8, nullptr, stream>>>(y, y);
  return aclrtSynchronizeStream(stream) == 0 ? 0 : 1;
}
"""


@pytest.mark.parametrize(
    ("road", "frame", "size"),
    [
        ("run", ARRAY, 18_500_000),
        ("asc", ARRAY, 18_500_000),
        ("asc", ARRAY, 33_000_000),
        ("asc", LENGTH, 20_000_000),
    ],
)
def test_a_frame_beyond_the_guard_is_a_fault(
    toolkit: Path, tmp_path: Path, road: str, frame: str, size: int
) -> None:
    """At the function's line, every time; before, some runs ended well, with another's stack
    overwritten.
    """
    text = KERNEL.format(frame=frame.format(bytes=size))
    if road == "run":
        source = tmp_path / "poke.cpp"
        np.save(tmp_path / "x.npy", np.zeros(64, np.float32))
        command = [sys.executable, "-m", "aclgrad", "run", str(source), str(tmp_path / "x.npy")]
        command += ["--outputs", "64:fp32=0", "--blocks", "8", "-o", str(tmp_path / "y.npy")]
    else:
        source = tmp_path / "poke.asc"
        text += MAIN
        command = [str(tmp_path / "poke")]
    source.write_text(text)
    if road == "asc":
        words = [toolkit / "bin" / "ascc", "-g", "--npu-arch=dav-2201", source, "-o", command[0]]
        subprocess.run([str(word) for word in words], check=True)
    for _ in range(3):
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=300, check=False, cwd=tmp_path,
            env={**os.environ, "ACLGRAD_SIM_THREADS": "8"},
        )  # fmt: skip
        said = done.stdout + done.stderr
        assert done.returncode == 1 and "a stack that is full" in said, said
        line = next(at for at, row in enumerate(text.splitlines(), 1) if "Frame(int32_t" in row)
        near = [f"{source}:{at}" for at in range(line, line + 4)]
        assert any(place in said for place in near), said
