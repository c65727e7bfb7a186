// SPDX-License-Identifier: Apache-2.0
// Select with all of UB allocated: its scratch is at the start of the toolchain's 8 KB. The line that is named ends in "FOUND".
// clang-format off: a call stays on the line that is named.
#include "bench.h"

using namespace AscendC;

namespace {

constexpr uint32_t kReserved = 184 * 1024;
constexpr uint32_t kLanes = 64;

struct All {
  explicit All(GM_ADDR gmIn) : gm(gmIn) {
    pipe.InitBuffer(buffer, 192 * 1024 - 256);
    for (LocalTensor<float> part : {At(0), At(4096)}) {
      Duplicate(part, 1.0f, kLanes);
    }
    Duplicate(At(8192).ReinterpretCast<uint16_t>(), static_cast<uint16_t>(0x5555), 16);
  }
  LocalTensor<float> At(uint32_t byte) { return buffer.GetWithOffset<float>(kLanes, byte); }
  LocalTensor<uint8_t> Mask() { return At(8192).ReinterpretCast<uint8_t>(); }
  void Load(uint32_t byte) {
    DataCopy(At(byte), Global<float>(gm), kLanes);
    PipeBarrier<PIPE_ALL>();
  }
  void Store(uint32_t byte) {
    PipeBarrier<PIPE_ALL>();
    DataCopy(Global<float>(gm), At(byte), kLanes);
  }
  GM_ADDR gm;
  TPipe pipe;
  TBuf<> buffer;
};

}  // namespace

extern "C" __global__ __aicore__ void with_a_scalar(GM_ADDR gm) {
  All all(gm);
  Select(all.At(0), all.Mask(), all.At(4096), 3.0f, SELMODE::VSEL_TENSOR_SCALAR_MODE, kLanes);
  all.Store(0);
}

extern "C" __global__ __aicore__ void with_a_tensor(GM_ADDR gm) {
  All all(gm);
  Duplicate(all.At(12288), 3.0f, kLanes);
  Select(all.At(0), all.Mask(), all.At(4096), all.At(12288), SELMODE::VSEL_TENSOR_TENSOR_MODE, kLanes);
  all.Store(0);
}

extern "C" __global__ __aicore__ void filled_afterwards(GM_ADDR gm) {
  All all(gm);
  all.Load(kReserved);
  Select(all.At(0), all.Mask(), all.At(4096), 3.0f, SELMODE::VSEL_TENSOR_SCALAR_MODE, kLanes);
  PipeBarrier<PIPE_ALL>();
  Duplicate(all.At(kReserved), 3.0f, kLanes);
  Select(all.At(0), all.Mask(), all.At(4096), 3.0f, SELMODE::VSEL_TENSOR_SCALAR_MODE, kLanes);
  all.Store(0);
}

extern "C" __global__ __aicore__ void behind_the_scratch(GM_ADDR gm) {
  All all(gm);
  Duplicate(all.At(kReserved + 128), 1.0f, kLanes);
  Select(all.At(0), all.Mask(), all.At(kReserved + 128), 3.0f, SELMODE::VSEL_TENSOR_SCALAR_MODE, kLanes);
  all.Store(0);
}

extern "C" __global__ __aicore__ void lives_across(GM_ADDR gm) {
  All all(gm);
  all.Load(kReserved);
  Select(all.At(0), all.Mask(), all.At(4096), 3.0f, SELMODE::VSEL_TENSOR_SCALAR_MODE, kLanes);  // FOUND
  all.Store(kReserved);
}

extern "C" __global__ __aicore__ void is_a_source(GM_ADDR gm) {
  All all(gm);
  all.Load(kReserved);
  Select(all.At(0), all.Mask(), all.At(4096), all.At(kReserved), SELMODE::VSEL_TENSOR_TENSOR_MODE, kLanes);  // FOUND
  all.Store(0);
}

extern "C" __global__ __aicore__ void decides(GM_ADDR gm) {
  All all(gm);
  all.Load(kReserved);
  Select(all.At(0), all.Mask(), all.At(4096), 3.0f, SELMODE::VSEL_TENSOR_SCALAR_MODE, kLanes);  // FOUND
  PipeBarrier<PIPE_ALL>();
  if (all.At(kReserved).GetValue(1) > 0.0f) {
    all.Store(0);
  }
}
