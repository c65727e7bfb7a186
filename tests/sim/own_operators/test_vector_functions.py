# SPDX-License-Identifier: Apache-2.0
"""Vector functions of .asc programs for Ascend 950: by asc_vf_call and by their names."""

from __future__ import annotations

from pathlib import Path

import pytest

import commands

PROGRAM = """\
#include <cstdio>
#include <vector>
#include "acl/acl.h"
#include "kernel_operator.h"
using namespace AscendC;

template <typename T>
struct Adder {
  __simd_callee__ static inline void Add(Reg::RegTensor<T>& value, Reg::MaskReg& mask) {
    Reg::Adds(value, value, T(1), mask);
  }
  __simd_vf__ static inline void Run(__ubuf__ T* x);
  __simd_vf__ static void Twice(__ubuf__ T* x) { NEXT }
};
template <typename T>
__simd_vf__ inline void Adder<T>::Run(__ubuf__ T* x) {
  Reg::MaskReg all = Reg::CreateMask<T>();
  Reg::RegTensor<T> value;
  Reg::LoadAlign(value, x);
  Add(value, all);
  Reg::StoreAlign(x, value, all);
}
inline void Bare(__ubuf__ float* x) {
  Reg::RegTensor<float> value;
  Reg::LoadAlign(value, x);
}

__global__ __vector__ void rows(GM_ADDR gm) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 256);
  LocalTensor<float> x = buffer.Get<float>();
  GlobalTensor<float> in;
  in.SetGlobalBuffer((__gm__ float*)gm, 64);
  DataCopy(x, in, 64);
  PipeBarrier<PIPE_ALL>();
  __ubuf__ float* at = (__ubuf__ float*)x.GetPhyAddr();
  CALLS
  PipeBarrier<PIPE_ALL>();
  DataCopy(in, x, 64);
}

int main() {
  aclrtSetDevice(0);
  aclrtStream stream = nullptr;
  aclrtCreateStream(&stream);
  std::vector<float> x(64, 5.0f);
  uint8_t* gm = nullptr;
  aclrtMalloc(reinterpret_cast<void**>(&gm), 256, ACL_MEM_MALLOC_HUGE_FIRST);
  aclrtMemcpy(gm, 256, x.data(), 256, ACL_MEMCPY_HOST_TO_DEVICE);
  rows<<<1, nullptr, stream>>>(gm);
  if (aclrtSynchronizeStream(stream) != ACL_SUCCESS) return 1;
  aclrtMemcpy(x.data(), 256, gm, 256, ACL_MEMCPY_DEVICE_TO_HOST);
  std::printf("%g %g\\n", x[0], x[63]);
  aclrtFree(gm);
  return 0;
}
"""
BY_NAME, BY_CALL = "Adder<float>::Run(at);", "asc_vf_call<Adder<float>::Run>(at);"
NEXT = "Run(x);"


def run(folder: Path, calls: str) -> tuple[int, str]:
    """What the program says, on an Ascend 950."""
    source = folder / "rows.asc"
    source.write_text(PROGRAM.replace("CALLS", calls).replace("NEXT", NEXT))
    done = commands.run("run", source, "--soc", "Ascend950PR_9599")
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize(
    "calls",
    [BY_NAME, BY_CALL, BY_NAME + BY_CALL, BY_CALL + BY_NAME, f"VF_CALL<{BY_NAME[:-5]}>(at);"],
)
def test_calls(tmp_path: Path, calls: str) -> None:
    status, said = run(tmp_path, calls)
    times = calls.count("Run")
    assert status == 0, said
    assert f"{5 + times} {5 + times}" in said


@pytest.mark.plants_faults
@pytest.mark.parametrize(
    ("calls", "what"),
    [
        ("Bare(at);", "a register instruction outside of a vector function"),
        ("Adder<float>::Twice(at);", "a vector function within another one"),
        ("asc_vf_call<Adder<float>::Twice>(at);", "a vector function within another one"),
        ("__VEC_SCOPE__ { Adder<float>::Run(at); }", "a vector function within another one"),
        (f"{BY_NAME} Bare(at);", "a register instruction outside of a vector function"),
    ],
)
def test_mistakes(tmp_path: Path, calls: str, what: str) -> None:
    status, said = run(tmp_path, calls)
    assert status != 0
    assert "[vector-function]" in said and what in said, said
