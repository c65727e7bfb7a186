// SPDX-License-Identifier: Apache-2.0
// Code that both halves of a MIX kernel share: flags of the pipes that one of them lacks.
#include "bench.h"

extern "C" __attribute__((visibility("default")))
const uint64_t aclsimKernelTypes[] = {1, 12, 1, 2};  // key 12: an AIC and two AIVs

using namespace AscendC;

namespace {

constexpr uint32_t kCount = 64;

// Hardware would wait for ever for a flag that nobody sets.
void WaitForAllOfTheOtherHalf() {
  if ASCEND_IS_AIC {
    WaitFlag<HardEvent::MTE2_V>(EVENT_ID0);
    WaitFlag<HardEvent::V_MTE2>(EVENT_ID0);
    WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
    WaitFlag<HardEvent::MTE3_V>(EVENT_ID0);
    WaitFlag<HardEvent::S_V>(EVENT_ID0);
    WaitFlag<HardEvent::V_S>(EVENT_ID0);
  } else {
    WaitFlag<HardEvent::MTE2_MTE1>(EVENT_ID0);
    WaitFlag<HardEvent::MTE1_MTE2>(EVENT_ID0);
    WaitFlag<HardEvent::MTE1_M>(EVENT_ID0);
    WaitFlag<HardEvent::M_MTE1>(EVENT_ID0);
    WaitFlag<HardEvent::M_FIX>(EVENT_ID0);
    WaitFlag<HardEvent::FIX_M>(EVENT_ID0);
  }
#if __NPU_ARCH__ == 3510
  if ASCEND_IS_AIC {
    WaitFlag<HardEvent::MTE3_MTE2>(EVENT_ID0);
    WaitFlag<HardEvent::S_MTE3>(EVENT_ID0);
    Mutex::Lock<PIPE_V>(0);
    Mutex::Lock<PIPE_MTE3>(0);
    CrossCoreWaitFlag<4, PIPE_V>(3);
  } else {
    WaitFlag<HardEvent::MTE2_FIX>(EVENT_ID0);
    WaitFlag<HardEvent::M_V>(EVENT_ID0);
    Mutex::Lock<PIPE_FIX>(0);
    CrossCoreWaitFlag<4, PIPE_FIX>(3);
  }
#endif
}

template <HardEvent loaded>
void AddOne(GM_ADDR x, GM_ADDR y) {
  const LocalTensor<float> ub(TPosition::VECCALC, 0, kCount);
  DataCopy(ub, Global<float>(x), kCount);
  SetFlag<loaded>(EVENT_ID0);
  WaitFlag<loaded>(EVENT_ID0);
  Adds(ub, ub, 1.0f, kCount);
  SetFlag<HardEvent::V_MTE3>(EVENT_ID0);
  WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
  DataCopy(Global<float>(y), ub, kCount);
}

}  // namespace

extern "C" __global__ __aicore__ void no_waits(GM_ADDR x, GM_ADDR y) {
  WaitForAllOfTheOtherHalf();
  if ASCEND_IS_AIV {
    if (GetBlockIdx() == 0) {
      AddOne<HardEvent::MTE2_V>(x, y);
    }
  }
}

// The flag of the AICs orders nothing on an AIV.
extern "C" __global__ __aicore__ void wrong_flag(GM_ADDR x, GM_ADDR y) {
  if ASCEND_IS_AIV {
    if (GetBlockIdx() == 0) {
      AddOne<HardEvent::MTE2_MTE1>(x, y);
    }
  }
}

// set_flag is the instruction itself.
extern "C" __global__ __aicore__ void raw_flag(GM_ADDR, GM_ADDR) {
  if ASCEND_IS_AIV {
    set_flag(PIPE_MTE1, PIPE_M, EVENT_ID0);
  }
}

#if __NPU_ARCH__ == 3510
// The AIVs alone tell: an AIC has no vector pipe, and its call raises no counter of theirs.
extern "C" __global__ __aicore__ void told_by_aivs(GM_ADDR x, GM_ADDR y) {
  CrossCoreSetFlag<4, PIPE_V>(3);
  if ASCEND_IS_AIC {
    CrossCoreWaitFlag<4, PIPE_MTE2>(3);
    CrossCoreWaitFlag<4, PIPE_MTE2>(3 + 16);
  } else if (GetBlockIdx() == 0) {
    AddOne<HardEvent::MTE2_V>(x, y);
  }
}
#endif

// An AIC of Ascend 950 has no MTE3: its call does nothing, and the AIVs wait for ever. One of Atlas A2 has.
extern "C" __global__ __aicore__ void told_by_mte3(GM_ADDR x, GM_ADDR y) {
  if ASCEND_IS_AIC {
    CrossCoreSetFlag<2, PIPE_MTE3>(3);
  } else {
    CrossCoreWaitFlag(3);
    if (GetBlockIdx() == 0) {
      AddOne<HardEvent::MTE2_V>(x, y);
    }
  }
}
