// SPDX-License-Identifier: Apache-2.0
// Copies of rows that lie apart, as a list says them: what the checks take as one access each.
#include "bench.h"

using namespace AscendC;

namespace {

// As the Python side packs it.
struct Step {
  enum Kind : int32_t { kLoad, kStore, kBarrier, kSyncAll, kForward };
  int32_t core;
  int32_t kind;
  uint32_t offset;
  uint32_t length;
  uint32_t count;
  uint32_t step;
};

constexpr uint32_t kBlockBytes = 32;
constexpr uint32_t kBytes = 160 * 1024;

}  // namespace

// Each copy has a part of UB of its own; kForward stores what the load before it has brought to the same place of `to`.
extern "C" __global__ void rows(GM_ADDR matrix, GM_ADDR to, GM_ADDR list, GM_ADDR count) {
  TPipe pipe;
  TBuf<> buffer;
  pipe.InitBuffer(buffer, kBytes);
  Duplicate(buffer.Get<int32_t>(), 1, kBytes / sizeof(int32_t));
  PipeBarrier<PIPE_ALL>();
  const LocalTensor<uint8_t> ub = buffer.Get<uint8_t>();
  const auto* steps = reinterpret_cast<const Step*>(list);
  uint32_t used = 0;
  uint32_t last = 0;
  for (uint32_t i = 0; i < *reinterpret_cast<const uint32_t*>(count); ++i) {
    const Step& step = steps[i];
    if (step.core >= 0 && step.core != GetBlockIdx()) {
      continue;
    }
    const uint32_t gap = step.step - step.length;
    if (step.kind == Step::kLoad) {
      DataCopyPad(ub[used], Global<uint8_t>(matrix)[step.offset],
                  DataCopyExtParams{static_cast<uint16_t>(step.count), step.length, gap, 0, 0},
                  DataCopyPadExtParams<uint8_t>{false, 0, 0, 0});
      last = used;
    } else if (step.kind == Step::kStore || step.kind == Step::kForward) {
      const bool forwards = step.kind == Step::kForward;
      DataCopyPad(Global<uint8_t>(forwards ? to : matrix)[step.offset], ub[forwards ? last : used],
                  DataCopyExtParams{static_cast<uint16_t>(step.count), step.length, 0, gap, 0});
    } else if (step.kind == Step::kBarrier) {
      PipeBarrier<PIPE_ALL>();
    } else {
      SyncAll();
    }
    used += (step.length + kBlockBytes - 1) / kBlockBytes * kBlockBytes * step.count;
  }
}
