// SPDX-License-Identifier: Apache-2.0
// A kernel whose cores take a while each, without keeping the host busy.
#include <unistd.h>

#include "kernel_operator.h"

extern "C" __global__ void slow_cores(GM_ADDR out) {
  constexpr uint32_t kFloats = 4096;
  constexpr useconds_t kMicroseconds = 300'000;
  AscendC::TPipe pipe;
  AscendC::TBuf<> buffer;
  pipe.InitBuffer(buffer, kFloats * sizeof(float));
  AscendC::GlobalTensor<float> to;
  to.SetGlobalBuffer(reinterpret_cast<float*>(out) + AscendC::GetBlockIdx() * kFloats);
  const auto values = buffer.Get<float>();
  AscendC::Duplicate(values, 1.0F, kFloats);
  AscendC::PipeBarrier<PIPE_ALL>();
  AscendC::DataCopy(to, values, kFloats);
  usleep(kMicroseconds);
}
