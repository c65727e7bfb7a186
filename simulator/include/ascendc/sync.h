// SPDX-License-Identifier: Apache-2.0
// Flags, barriers and mask registers.
#pragma once

#include "ascendc/tpipe.h"

namespace AscendC {

template <HardEvent event>
void SetFlag(int32_t eventID) {
  aclsim::SetFlagEvent(static_cast<uint8_t>(event), eventID);
  ACLSIM_KEEP_FRAME();
}
template <HardEvent event>
void WaitFlag(int32_t eventID) {
  aclsim::WaitFlagEvent(static_cast<uint8_t>(event), eventID);
  ACLSIM_KEEP_FRAME();
}
template <pipe_t pipe>
void PipeBarrier() {
  static_assert(pipe != PIPE_S, "PipeBarrier<PIPE_S> does not exist: it hangs the core");
  aclsim::Barrier(pipe);
  ACLSIM_KEEP_FRAME();
}

inline void SetMaskNorm() { aclsim::SetMaskMode(false); }
inline void SetMaskCount() { aclsim::SetMaskMode(true); }
template <typename T, MaskMode mode = MaskMode::NORMAL>
void SetVectorMask(uint64_t maskHigh, uint64_t maskLow) {
  aclsim::SetMaskBits(maskHigh, maskLow);
}
template <typename T, MaskMode mode = MaskMode::NORMAL>
void SetVectorMask(int32_t len) {
  if (mode == MaskMode::COUNTER) {
    aclsim::SetMaskBits(0, static_cast<uint64_t>(len));
    return;
  }
  const uint64_t low = len >= 64 ? ~0ull : (1ull << len) - 1;
  const uint64_t high = len >= 128 ? ~0ull : (len > 64 ? (1ull << (len - 64)) - 1 : 0);
  aclsim::SetMaskBits(high, low);
}
inline void ResetMask() { aclsim::SetMaskBits(~0ull, ~0ull); }

}  // namespace AscendC
