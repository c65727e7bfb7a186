// SPDX-License-Identifier: Apache-2.0
// Flags and barriers inside a core and between cores, atomic modes, the data cache, mask registers.
#pragma once

#include "ascendc/core_type.h"
#include "ascendc/tpipe.h"

namespace AscendC {

namespace detail {
// The event from one pipe to another.
constexpr HardEvent EventOf(pipe_t src, pipe_t dst) {
  constexpr struct {
    pipe_t src, dst;
    HardEvent event;
  } kPairs[] = {{PIPE_MTE2, PIPE_V, HardEvent::MTE2_V},
                {PIPE_V, PIPE_MTE2, HardEvent::V_MTE2},
                {PIPE_MTE3, PIPE_V, HardEvent::MTE3_V},
                {PIPE_V, PIPE_MTE3, HardEvent::V_MTE3},
                {PIPE_MTE3, PIPE_MTE2, HardEvent::MTE3_MTE2},
                {PIPE_MTE2, PIPE_MTE3, HardEvent::MTE2_MTE3},
                {PIPE_S, PIPE_V, HardEvent::S_V},
                {PIPE_V, PIPE_S, HardEvent::V_S},
                {PIPE_S, PIPE_MTE2, HardEvent::S_MTE2},
                {PIPE_MTE2, PIPE_S, HardEvent::MTE2_S},
                {PIPE_S, PIPE_MTE3, HardEvent::S_MTE3},
                {PIPE_MTE3, PIPE_S, HardEvent::MTE3_S},
                // The pairs of cube cores.
                {PIPE_MTE2, PIPE_MTE1, HardEvent::MTE2_MTE1},
                {PIPE_MTE1, PIPE_MTE2, HardEvent::MTE1_MTE2},
                {PIPE_MTE1, PIPE_M, HardEvent::MTE1_M},
                {PIPE_M, PIPE_MTE1, HardEvent::M_MTE1},
                {PIPE_MTE2, PIPE_M, HardEvent::MTE2_M},
                {PIPE_M, PIPE_MTE2, HardEvent::M_MTE2},
                {PIPE_M, PIPE_FIX, HardEvent::M_FIX},
                {PIPE_FIX, PIPE_M, HardEvent::FIX_M},
                {PIPE_MTE2, PIPE_FIX, HardEvent::MTE2_FIX},
                {PIPE_FIX, PIPE_MTE2, HardEvent::FIX_MTE2},
                {PIPE_MTE1, PIPE_FIX, HardEvent::MTE1_FIX},
                {PIPE_FIX, PIPE_MTE1, HardEvent::FIX_MTE1},
                {PIPE_MTE3, PIPE_MTE1, HardEvent::MTE3_MTE1},
                {PIPE_MTE1, PIPE_MTE3, HardEvent::MTE1_MTE3},
                {PIPE_FIX, PIPE_MTE3, HardEvent::FIX_MTE3},
                {PIPE_M, PIPE_S, HardEvent::M_S},
                {PIPE_FIX, PIPE_S, HardEvent::FIX_S}};
  for (const auto& pair : kPairs) {
    if (pair.src == src && pair.dst == dst) {
      return pair.event;
    }
  }
  return HardEvent::MAX;
}

// True where flags between cores, and mutexes, of this pipe do nothing: this half of a MIX kernel of Ascend 950 does not have the
// pipe, and both halves may share the code around them. Source: NotifyEventImpl in impl/basic_api/dav_3510/kernel_operator_sync_impl.h and
// GetBufInternal in kernel_event.h of asc-devkit.
template <pipe_t pipe>
constexpr bool kPipeOfOtherHalf =
    kArch == 3510 && (g_coreType == AIC ? pipe == PIPE_V || pipe == PIPE_MTE3
                                        : pipe == PIPE_MTE1 || pipe == PIPE_M || pipe == PIPE_FIX);

// Returns whether SetFlag and WaitFlag do nothing on this half of a MIX kernel: the flag is of the other half, and both may share the
// code around it. Source: SetFlag in impl/basic_api/kernel_operator_block_sync_intf_impl.h of asc-devkit, on 950 SetFlagInternal in kernel_event.h too.
// set_flag and wait_flag have no such rule.
constexpr bool IsOfOtherHalf(HardEvent event) {
  if (kArch != 2201 && kArch != 3510) {
    return false;
  }
  constexpr bool isOnAic = g_coreType == AIC, is950 = kArch == 3510;
  switch (event) {
    case HardEvent::MTE2_V:
    case HardEvent::V_MTE2:
    case HardEvent::MTE3_V:
    case HardEvent::V_MTE3:
    case HardEvent::V_V:
    case HardEvent::S_V:
    case HardEvent::V_S:
      return isOnAic;
    case HardEvent::MTE2_MTE1:
    case HardEvent::MTE1_MTE2:
    case HardEvent::MTE1_M:
    case HardEvent::M_MTE1:
    case HardEvent::M_FIX:
    case HardEvent::FIX_M:
      return !isOnAic;
    case HardEvent::S_MTE2:
    case HardEvent::MTE2_S:
      return false;
    case HardEvent::MTE3_MTE2:
    case HardEvent::MTE2_MTE3:
    case HardEvent::S_MTE3:
    case HardEvent::MTE3_S:
      return isOnAic && is950;
    case HardEvent::MTE2_M:
    case HardEvent::M_MTE2:
    case HardEvent::MTE2_FIX:
    case HardEvent::FIX_MTE2:
    case HardEvent::FIX_S:
    case HardEvent::M_S:
    case HardEvent::MTE1_FIX:
    case HardEvent::FIX_MTE1:
    case HardEvent::FIX_FIX:
      return !isOnAic && is950;
    default:
      return is950;  // from a pipe of one half to one of the other
  }
}
}  // namespace detail

template <HardEvent event>
void SetFlag(int32_t eventID) {
  if constexpr (!detail::IsOfOtherHalf(event)) {
    aclsim::SetFlagEvent(static_cast<uint8_t>(event), eventID);
    ACLSIM_KEEP_FRAME();
  }
}
template <HardEvent event>
void WaitFlag(int32_t eventID) {
  if constexpr (!detail::IsOfOtherHalf(event)) {
    aclsim::WaitFlagEvent(static_cast<uint8_t>(event), eventID);
    ACLSIM_KEEP_FRAME();
  }
}
template <pipe_t pipe>
void PipeBarrier() {
  static_assert(pipe != PIPE_S, "PipeBarrier<PIPE_S> does not exist: it hangs the core");
  aclsim::Barrier(pipe);
  ACLSIM_KEEP_FRAME();
}

using MutexID = uint8_t;

// Lets pipes of a core of Ascend 950 take turns: what stands behind a Lock on one pipe waits until another one, which had the mutex before,
// has done all that stands before its Unlock. A pipe does not wait for itself.
class Mutex {
 public:
  template <pipe_t pipe>
  static void Lock(MutexID id) {
    Check<pipe>();
    if constexpr (!detail::kPipeOfOtherHalf<pipe>) {
      aclsim::LockMutex(pipe, id);
      ACLSIM_KEEP_FRAME();
    }
  }
  template <pipe_t pipe>
  static void Unlock(MutexID id) {
    Check<pipe>();
    if constexpr (!detail::kPipeOfOtherHalf<pipe>) {
      aclsim::UnlockMutex(pipe, id);
      ACLSIM_KEEP_FRAME();
    }
  }

 private:
  template <pipe_t pipe, int arch = detail::kArch>
  static constexpr void Check() {
    static_assert(arch == 3510, "Mutex is of Ascend 950 alone: take SetFlag and WaitFlag here");
    static_assert(pipe == PIPE_S || pipe == PIPE_V || pipe == PIPE_M || pipe == PIPE_MTE1 ||
                      pipe == PIPE_MTE2 || pipe == PIPE_MTE3 || pipe == PIPE_FIX,
                  "Mutex is of one pipe: PIPE_S, V, M, MTE1, MTE2, MTE3 or FIX");
  }
};
inline MutexID AllocMutexID() {
  const MutexID id = aclsim::AllocMutex();
  ACLSIM_KEEP_FRAME();
  return id;
}
inline void ReleaseMutexID(MutexID id) {
  aclsim::ReleaseMutex(id);
  ACLSIM_KEEP_FRAME();
}

// Keeps the compiler from moving memory accesses; no pipe waits for another.
inline void Barrier() { __asm__ volatile("" ::: "memory"); }

template <MemDsbT domain>
void DataSyncBarrier() {
  aclsim::Barrier(PIPE_ALL);
  ACLSIM_KEEP_FRAME();
}

// The address that the host got for the hardware's flags, in kernels that are launched by hand. They are the simulator's here.
inline void SetSyncBaseAddr(uint64_t /*address*/) {}

template <bool isAIVOnly = true>
void SyncAll() {
// A header of a cube kernel may have it for other kernels; a call is told.
#if !defined(ACLSIM_HALVES) && !defined(ACLSIM_FOR_CUBE)
  static_assert(isAIVOnly,
                "a vector kernel's SyncAll is SyncAll<true>; <false> waits for cube cores");
#endif
  if constexpr (isAIVOnly) {
    aclsim::SyncAllCores(nullptr, nullptr, 0);
  } else {
    aclsim::SyncBothKinds();
  }
  ACLSIM_KEEP_FRAME();
}
template <bool isAIVOnly = true>
void SyncAll(const GlobalTensor<int32_t>& gmWorkspace, const LocalTensor<int32_t>& ubWorkspace,
             const int32_t usedCores = 0) {
  static_assert(isAIVOnly, "SyncAll with a workspace is of AIVs; SyncAll<false>() has none");
  const aclsim::Ub ub = ubWorkspace;
  aclsim::SyncAllCores(gmWorkspace.GetPhyAddr(), &ub, static_cast<uint32_t>(usedCores));
}
template <uint8_t modeId, pipe_t pipe>
void CrossCoreSetFlag(uint16_t flagId) {
  static_assert(
      (pipe != PIPE_S || modeId == 4) && pipe != PIPE_ALL,
      "CrossCoreSetFlag is an instruction of one pipe that is not the scalar one, but for "
      "mode 4: name the pipe whose work the other cores wait for");
  if constexpr (!detail::kPipeOfOtherHalf<pipe>) {
    aclsim::CrossCoreSet(modeId, pipe, flagId);
    ACLSIM_KEEP_FRAME();
  }
}
template <uint8_t modeId = 0, pipe_t pipe = PIPE_S>
void CrossCoreWaitFlag(uint16_t flagId) {
  static_assert(pipe != PIPE_ALL, "CrossCoreWaitFlag holds back one pipe: name it");
  if constexpr (!detail::kPipeOfOtherHalf<pipe>) {
    aclsim::CrossCoreWait(modeId, pipe, flagId);
    ACLSIM_KEEP_FRAME();
  }
}

// The older names of these two, in the mode of an AIC and its AIVs.
template <pipe_t pipe, uint8_t modeId = 2>
void NotifyEvent(uint16_t flagId) {
  CrossCoreSetFlag<modeId, pipe>(flagId);
}
template <pipe_t pipe = PIPE_S, uint8_t modeId = 0>
void WaitEvent(uint16_t flagId) {
  CrossCoreWaitFlag<modeId, pipe>(flagId);
}

template <pipe_t src, pipe_t dst>
class TQueSync {
 public:
  void SetFlag(TEventID id) { AscendC::SetFlag<detail::EventOf(src, dst)>(id); }
  void WaitFlag(TEventID id) { AscendC::WaitFlag<detail::EventOf(src, dst)>(id); }
};

template <typename T>
void SetAtomicType() {
  aclsim::SetAtomicType(aclsim::DTypeOf<T>::value);
  ACLSIM_KEEP_FRAME();
}
template <typename T>
void SetAtomicAdd() {
  aclsim::SetAtomic(aclsim::Atomic::kAdd, aclsim::DTypeOf<T>::value);
  ACLSIM_KEEP_FRAME();
}
template <typename T>
void SetAtomicMax() {
  aclsim::SetAtomic(aclsim::Atomic::kMax, aclsim::DTypeOf<T>::value);
  ACLSIM_KEEP_FRAME();
}
template <typename T>
void SetAtomicMin() {
  aclsim::SetAtomic(aclsim::Atomic::kMin, aclsim::DTypeOf<T>::value);
  ACLSIM_KEEP_FRAME();
}
inline void SetAtomicNone() { aclsim::SetAtomic(aclsim::Atomic::kNone, aclsim::DType::kFloat); }
inline void DisableDmaAtomic() { SetAtomicNone(); }

template <typename T, CacheLine entireType, DcciDst dcciDst = DcciDst::CACHELINE_ALL>
void DataCacheCleanAndInvalid(const GlobalTensor<T>& dst) {
  aclsim::CleanCache(entireType == CacheLine::ENTIRE_DATA_CACHE ? nullptr : dst.GetPhyAddr());
  ACLSIM_KEEP_FRAME();
}

// Fetching code costs nothing here, and is done at once.
inline void ICachePreLoad(int64_t /*preFetchLen*/) {}
inline int64_t GetICachePreloadStatus() { return 0; }

inline void SetMaskNorm() { aclsim::SetMaskMode(false); }
inline void SetMaskCount() { aclsim::SetMaskMode(true); }
template <typename T, MaskMode mode = MaskMode::NORMAL>
void SetVectorMask(uint64_t maskHigh, uint64_t maskLow) {
  if (mode == MaskMode::COUNTER) {
    aclsim::SetMaskLanes(maskHigh, maskLow);
  } else {
    aclsim::SetMaskBits(maskHigh, maskLow);
  }
  ACLSIM_KEEP_FRAME();
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
