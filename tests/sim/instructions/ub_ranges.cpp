// SPDX-License-Identifier: Apache-2.0
// Copies, vector functions and strided instructions on the same UB, as a list says them: what the checks take by ranges.
#include "bench.h"

using namespace AscendC;
namespace Reg = AscendC::Reg;

namespace {

// As the Python side packs it. Places are in blocks; `count` registers, repeats or blocks.
struct Step {
  enum Kind : int32_t { kLoad, kStore, kReads, kWrites, kRepeats, kFirst, kSecond, kThird, kBack };
  int32_t kind;
  int32_t first;
  int32_t count;
  int32_t stride;
};

constexpr uint32_t kBytes = 64 * 1024;
constexpr uint32_t kBlockLanes = 8;

template <HardEvent event>
__attribute__((always_inline)) inline void Order() {
  SetFlag<event>(EVENT_ID0);
  WaitFlag<event>(EVENT_ID0);
}

}  // namespace

extern "C" __global__ void ub_ranges(GM_ADDR in, GM_ADDR out, GM_ADDR list, GM_ADDR count) {
  TPipe pipe;
  TBuf<> buffer;
  pipe.InitBuffer(buffer, kBytes);
  const LocalTensor<float> ub = buffer.Get<float>();
  Duplicate(ub, 1.0f, kBytes / sizeof(float));
  PipeBarrier<PIPE_ALL>();
  const auto* steps = reinterpret_cast<const Step*>(list);
  uint32_t stored = 0;
  for (uint32_t i = 0; i < *reinterpret_cast<const uint32_t*>(count); ++i) {
    const Step& step = steps[i];
    const LocalTensor<float> at = ub[step.first * kBlockLanes];
    __ubuf__ float* const lanes = reinterpret_cast<__ubuf__ float*>(at.GetPhyAddr());
    const uint32_t copied = step.count * kBlockLanes;
    switch (step.kind) {
      case Step::kLoad:
        DataCopy(at, Global<float>(in), copied);
        break;
      case Step::kStore:
        DataCopy(Global<float>(out)[stored], at, copied);
        stored += copied;
        break;
      case Step::kReads:
        __VEC_SCOPE__ {
          Reg::RegTensor<float> value;
          for (uint16_t r = 0; r < step.count; ++r) {
            Reg::LoadAlign(value, lanes + r * 8 * kBlockLanes);
          }
        }
        break;
      case Step::kWrites:
        __VEC_SCOPE__ {
          Reg::RegTensor<float> value;
          Reg::MaskReg all = Reg::CreateMask<float, Reg::MaskPattern::ALL>();
          Reg::Duplicate(value, 2.0f, all);
          for (uint16_t r = 0; r < step.count; ++r) {
            Reg::StoreAlign(lanes + r * 8 * kBlockLanes, value, all);
          }
        }
        break;
      case Step::kRepeats:
        Adds(at, at, 1.0f, uint64_t{40}, static_cast<uint8_t>(step.count),
             UnaryRepeatParams(1, 1, static_cast<uint8_t>(step.stride),
                               static_cast<uint8_t>(step.stride)));
        break;
      case Step::kFirst:
        Order<HardEvent::MTE2_V>();
        break;
      case Step::kSecond:
        Order<HardEvent::MTE2_V>();
        break;
      case Step::kThird:
        Order<HardEvent::V_MTE3>();
        break;
      default:
        Order<HardEvent::MTE3_V>();
    }
  }
  PipeBarrier<PIPE_ALL>();
}
