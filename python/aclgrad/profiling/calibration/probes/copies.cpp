// SPDX-License-Identifier: Apache-2.0
// Times of copies. params: 0 reads and 1 writes, bytes of a block, blocks of a copy, bytes from block to block in GM, how often,
// bytes from copy to copy, bytes from core to core, bytes before the first, whether each waits for the one before, whether L2
// keeps nothing of what is read, bytes after which copies begin again at their first place (0: never), whether each read is followed by a
// write of as much, vector instructions beside each copy.
#include "probe.h"

namespace probe {

using namespace AscendC;

struct Plan {
  bool writes, waits, bypass, both;
  uint32_t block, blocks, times, vectors;
  int64_t step, distance, perCore, before, around;
};

__aicore__ inline void Copies(GM_ADDR in, GM_ADDR out, GM_ADDR params, const Plan& plan) {
  const int64_t first = plan.before + plan.perCore * static_cast<int64_t>(GetBlockIdx());
  GlobalTensor<uint8_t> source, target;
  source.SetGlobalBuffer(reinterpret_cast<__gm__ uint8_t*>(in) + first);
  target.SetGlobalBuffer(reinterpret_cast<__gm__ uint8_t*>(out) + first);
  if (plan.bypass) {
    source.SetL2CacheHint(CacheMode::CACHE_MODE_DISABLE);
  }
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  TBuf<TPosition::VECCALC> beside;
  pipe.InitBuffer(buffer, 128 * 1024);
  pipe.InitBuffer(beside, 32 * 1024);
  Ticks ticks(pipe, params);
  LocalTensor<uint8_t> ub = buffer.Get<uint8_t>();
  LocalTensor<float> lanes = beside.Get<float>();
  Duplicate(ub.ReinterpretCast<float>(), 1.0f, 128 * 1024 / 4);
  Duplicate(lanes, 1.0f, 32 * 1024 / 4);
  PipeBarrier<PIPE_ALL>();
  const DataCopyExtParams inward{static_cast<uint16_t>(plan.blocks), plan.block,
                                 static_cast<uint32_t>(plan.step - plan.block), 0, 0};
  const DataCopyExtParams outward{static_cast<uint16_t>(plan.blocks), plan.block, 0,
                                  static_cast<uint32_t>(plan.step - plan.block), 0};
  const DataCopyPadExtParams<uint8_t> pad{false, 0, 0, 0};
  const BinaryRepeatParams three{1, 1, 1, 8, 8, 8};
  int64_t at = 0;
  ticks.Begin();
  for (uint32_t i = 0; i < plan.times; ++i) {
    if (!plan.writes) {
      DataCopyPad(ub, source[static_cast<uint64_t>(at)], inward, pad);
    }
    if (plan.writes || plan.both) {
      DataCopyPad(target[static_cast<uint64_t>(at)], ub, outward);
    }
    for (uint32_t j = 0; j < plan.vectors; ++j) {
      Add(lanes, lanes[2048], lanes[4096 + 64], 64, 32, three);  // bank groups of their own
    }
    if (plan.waits) {
      PipeBarrier<PIPE_ALL>();
    }
    at += plan.distance;
    at = plan.around > 0 && at >= plan.around ? 0 : at;
  }
  ticks.End();
}

}  // namespace probe

extern "C" __global__ __aicore__ void probe_copies(GM_ADDR in, GM_ADDR out, GM_ADDR params) {
  using probe::Param;
  probe::Plan plan;
  plan.writes = Param(params, 0) != 0;
  plan.block = static_cast<uint32_t>(Param(params, 1));
  plan.blocks = static_cast<uint32_t>(Param(params, 2));
  plan.step = Param(params, 3);
  plan.times = static_cast<uint32_t>(Param(params, 4));
  plan.distance = Param(params, 5);
  plan.perCore = Param(params, 6);
  plan.before = Param(params, 7);
  plan.waits = Param(params, 8) != 0;
  plan.bypass = Param(params, 9) != 0;
  plan.around = Param(params, 10);
  plan.both = Param(params, 11) != 0;
  plan.vectors = static_cast<uint32_t>(Param(params, 12));
  probe::Copies(in, out, params, plan);
}
