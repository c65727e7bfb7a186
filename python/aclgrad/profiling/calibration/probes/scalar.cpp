// SPDX-License-Identifier: Apache-2.0
// Times of the scalar pipe. params: what, how often, and of kDepth how many instructions.
#include "probe.h"

namespace probe {

using namespace AscendC;

enum What { kNothing, kBarrier, kFlags, kQueue, kAccess, kMiss, kHit, kIssue, kDepth };

__aicore__ inline void Scalar(GM_ADDR in, GM_ADDR out, GM_ADDR params) {
  const int32_t what = Param(params, 0);
  const int32_t times = Param(params, 1);
  TPipe pipe;
  TQue<TPosition::VECIN, 2> queue;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(queue, 2, 1024);
  pipe.InitBuffer(buffer, 32768);
  Ticks ticks(pipe, params);
  LocalTensor<float> ub = buffer.Get<float>();
  LocalTensor<float> other = ub[512];  // far more places than the compiler looks back
  GlobalTensor<int32_t> gm;
  gm.SetGlobalBuffer(reinterpret_cast<__gm__ int32_t*>(in));
  Duplicate(ub, 1.0f, 8192);
  PipeBarrier<PIPE_ALL>();
  float sum = 0;
  int32_t found = 0;
  ticks.Begin();
  for (int32_t i = 0; i < times; ++i) {
    if (what == kBarrier) {
      PipeBarrier<PIPE_V>();
    } else if (what == kFlags) {
      SetFlag<HardEvent::MTE2_V>(EVENT_ID3);
      WaitFlag<HardEvent::MTE2_V>(EVENT_ID3);
    } else if (what == kQueue) {
      LocalTensor<float> tensor = queue.AllocTensor<float>();
      queue.EnQue(tensor);
      tensor = queue.DeQue<float>();
      queue.FreeTensor(tensor);
    } else if (what == kAccess || what == kIssue) {
      sum += ub.GetValue(static_cast<uint32_t>(i % 64));
      if (what == kIssue) {
        Adds(other[static_cast<uint32_t>(i % 96) * 64], ub[128], 1.0f, 64, 1, {1, 1, 8, 8});
      }
    } else if (what == kMiss) {
      found += gm.GetValue(static_cast<uint64_t>(i) * 16 + 16);
    } else if (what == kHit) {
      found += gm.GetValue(static_cast<uint64_t>(i) % 16);
    } else if (what == kDepth) {
      constexpr int32_t kCopies = 16;  // longer than it takes to issue the instructions
      GlobalTensor<float> source;
      source.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(in));
      for (int32_t j = 0; j < kCopies; ++j) {
        DataCopy(ub[4096], source, 4096);
      }
      SetFlag<HardEvent::MTE2_V>(EVENT_ID3);
      WaitFlag<HardEvent::MTE2_V>(EVENT_ID3);
      for (int32_t j = 0; j < Param(params, 2); ++j) {
        Adds(other[static_cast<uint32_t>(j) * 64], ub[128], 1.0f, 64, 1, {1, 1, 8, 8});
      }
      ticks.Mark();
    }
  }
  ticks.End();
  if (sum + static_cast<float>(found) < 0) {  // never: what was read has to be of use
    ub.SetValue(0, sum);
  }
}

}  // namespace probe

extern "C" __global__ __aicore__ void probe_scalar(GM_ADDR in, GM_ADDR out, GM_ADDR params) {
  probe::Scalar(in, out, params);
}
