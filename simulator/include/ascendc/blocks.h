// SPDX-License-Identifier: Apache-2.0
// Cores that wait for one another, accesses that bypass a core's data cache, and the device compiler's words for flags.
#pragma once

#include "ascendc/device_registers.h"
#include "ascendc/sync.h"
#include "ascendc/vec_fill.h"

namespace AscendC {

template <bool isAIVOnly = true>
void IBSet(const GlobalTensor<int32_t>& gmWorkspace, const LocalTensor<int32_t>& ubWorkspace,
           int32_t blockIdx, int32_t eventID) {
  aclsim::BlockSet(gmWorkspace.GetPhyAddr(), ubWorkspace, blockIdx, eventID);
}
template <bool isAIVOnly = true>
void IBWait(const GlobalTensor<int32_t>& gmWorkspace, const LocalTensor<int32_t>& ubWorkspace,
            int32_t blockIdx, int32_t eventID) {
  aclsim::BlockWait(gmWorkspace.GetPhyAddr(), ubWorkspace, blockIdx, eventID);
}
// Between WaitPreBlock and NotifyNextBlock, the blocks run one after the other in ascending order.
inline void InitDetermineComputeWorkspace(GlobalTensor<int32_t>& gmWorkspace,
                                          LocalTensor<int32_t>& ubWorkspace) {
  aclsim::BlockTurn(aclsim::Turn::kInit, gmWorkspace.GetPhyAddr(),
                    gmWorkspace.GetSize() * sizeof(int32_t), ubWorkspace);
  ACLSIM_KEEP_FRAME();
}
inline void WaitPreBlock(GlobalTensor<int32_t>& gmWorkspace, LocalTensor<int32_t>& ubWorkspace) {
  aclsim::BlockTurn(aclsim::Turn::kWait, gmWorkspace.GetPhyAddr(),
                    gmWorkspace.GetSize() * sizeof(int32_t), ubWorkspace);
  ACLSIM_KEEP_FRAME();
}
inline void NotifyNextBlock(GlobalTensor<int32_t>& gmWorkspace, LocalTensor<int32_t>& ubWorkspace) {
  aclsim::BlockTurn(aclsim::Turn::kPass, gmWorkspace.GetPhyAddr(),
                    gmWorkspace.GetSize() * sizeof(int32_t), ubWorkspace);
  ACLSIM_KEEP_FRAME();
}

// Hints to a fusion of several kernels; on its own, a kernel has no neighbours.
template <pipe_t AIV_PIPE = PIPE_MTE3, pipe_t AIC_PIPE = PIPE_FIX, bool FORCE = false>
void SetNextTaskStart() {}
template <bool FORCE = false>
void WaitPreTaskEnd() {}

// Scalar accesses that go straight to GM: a core that reads what another one wrote so comes after it.
template <typename T>
void WriteGmByPassDCache(__gm__ T* addr, T value) {
  static_assert(std::is_integral_v<T>, "WriteGmByPassDCache has integers only");
  aclsim::BypassWrite(addr, &value, sizeof(T));
}
template <typename T>
T ReadGmByPassDCache(__gm__ T* addr) {
  static_assert(std::is_integral_v<T>, "ReadGmByPassDCache has integers only");
  T value;
  aclsim::BypassRead(addr, &value, sizeof(T));
  return value;
}

template <bool condition, typename T, typename F>
using Conditional = std::conditional<condition, T, F>;

// TransDataTo5HD is made of this instruction, which takes lists of UB addresses.
template <typename T>
void TransDataTo5HDImpl(T* dstList[16], T* srcList[16], const TransDataTo5HDParams& params) {
  uint64_t dst[16];
  uint64_t src[16];
  for (int i = 0; i < 16; ++i) {
    dst[i] = reinterpret_cast<uint64_t>(dstList[i]);
    src[i] = reinterpret_cast<uint64_t>(srcList[i]);
  }
  TransDataTo5HD<T>(dst, src, params);
}

}  // namespace AscendC

// --- the device compiler's own words ----------------------------------------------------------------------------------------
