// SPDX-License-Identifier: Apache-2.0
// Local memory outside of queues: LocalMemAllocator, PopStackBuffer; and filling GM with a value.
#pragma once

#include "ascendc/data_copy.h"
#include "ascendc/device_registers.h"
#include "ascendc/scalar.h"
#include "ascendc/sync.h"
#include "ascendc/sysvar.h"
#include "ascendc/vec_fill.h"

namespace AscendC {

namespace detail {
// A position in each memory, and what addresses there are multiples of.
struct MemoryOf {
  TPosition position;
  uint32_t align;
};
constexpr MemoryOf PlaceOf(Hardware hard) {
  constexpr uint32_t kOperand = 512, kResult = 1024, kTable = 128;
  return hard == Hardware::L1       ? MemoryOf{TPosition::A1, ONE_BLK_SIZE}
         : hard == Hardware::L0A    ? MemoryOf{TPosition::A2, kOperand}
         : hard == Hardware::L0B    ? MemoryOf{TPosition::B2, kOperand}
         : hard == Hardware::L0C    ? MemoryOf{TPosition::CO1, kResult}
         : hard == Hardware::BIAS   ? MemoryOf{TPosition::C2, kTable}
         : hard == Hardware::FIXBUF ? MemoryOf{TPosition::C2PIPE2GM, kTable}
                                    : MemoryOf{TPosition::VECCALC, ONE_BLK_SIZE};
}
}  // namespace detail

// Hands out a memory from the bottom; nothing is ever given back.
template <Hardware hard = Hardware::UB>
class LocalMemAllocator {
 public:
  static_assert(hard != Hardware::GM && hard != Hardware::MAX,
                "LocalMemAllocator hands out local memory");

  uint32_t GetCurAddr() const { return head_; }
  template <TPosition pos, class DataType, uint32_t tileSize>
  LocalTensor<DataType> Alloc() {
    return Take<DataType>(pos, tileSize);
  }
  template <TPosition pos, class DataType>
  LocalTensor<DataType> Alloc(uint32_t tileSize) {
    return Take<DataType>(pos, tileSize);
  }
  template <class DataType, uint32_t tileSize>
  LocalTensor<DataType> Alloc() {
    return Take<DataType>(detail::PlaceOf(hard).position, tileSize);
  }
  template <class DataType>
  LocalTensor<DataType> Alloc(uint32_t tileSize) {
    return Take<DataType>(detail::PlaceOf(hard).position, tileSize);
  }

 private:
  template <typename T>
  LocalTensor<T> Take(TPosition pos, uint32_t tileSize) {
    const LocalTensor<T> tensor(pos, head_, tileSize);
    constexpr uint32_t kAlign = detail::PlaceOf(hard).align;
    head_ += (static_cast<uint32_t>(detail::BytesOf<T>(tileSize)) + kAlign - 1) / kAlign * kAlign;
    return tensor;
  }

  uint32_t head_ = 0;
};

// All of UB that no InitBuffer has taken.
template <typename T, TPosition pos>
bool PopStackBuffer(LocalTensor<T>& popLocal) {
  const aclsim::Buffer rest = aclsim::UbRest();
  popLocal = LocalTensor<T>(rest, pos);
  return rest.bytes >= ONE_BLK_SIZE;
}

// size counts elements. The copies run on: a reader of the memory waits for MTE3.
template <typename T>
void InitGlobalMemory(GlobalTensor<T>& gmWorkspaceAddr, const uint64_t size, const T value) {
  static_assert(sizeof(T) == 2 || sizeof(T) == 4, "InitGlobalMemory fills 16- and 32-bit types");
  if ASCEND_IS_AIC {
    return;  // as CANN's own headers do, which fill by UB
  }
  constexpr uint64_t kMostBlocks = 255 * 8;  // one Duplicate
  LocalTensor<T> buffer;
  if (!PopStackBuffer<T, TPosition::VECCALC>(buffer)) {
    aclsim::AssertFail("InitGlobalMemory: UB has a block that no InitBuffer took", __FILE__,
                       __LINE__, "");
  }
  const uint64_t perCopy =
      Std::min<uint64_t>(buffer.GetLength() / ONE_BLK_SIZE, kMostBlocks) * ONE_BLK_SIZE / sizeof(T);
  const uint64_t filled = Std::min<uint64_t>(size, perCopy);
  const auto before = static_cast<int32_t>(GetTPipePtr()->FetchEventID(HardEvent::MTE3_V));
  SetFlag<HardEvent::MTE3_V>(before);
  WaitFlag<HardEvent::MTE3_V>(before);
  Duplicate(buffer, value, static_cast<int32_t>(filled));
  const auto ready = static_cast<int32_t>(GetTPipePtr()->FetchEventID(HardEvent::V_MTE3));
  SetFlag<HardEvent::V_MTE3>(ready);
  WaitFlag<HardEvent::V_MTE3>(ready);
  for (uint64_t at = 0; at < size; at += perCopy) {
    const uint64_t count = Std::min<uint64_t>(size - at, perCopy);
    DataCopyPad(gmWorkspaceAddr[at], buffer,
                DataCopyExtParams(1, static_cast<uint32_t>(count * sizeof(T)), 0, 0, 0));
  }
}
template <typename T>
void Fill(GlobalTensor<T>& gmWorkspaceAddr, const uint64_t size, const T value) {
  InitGlobalMemory(gmWorkspaceAddr, size, value);
}
template <typename T>
void InitOutput(GlobalTensor<T> gmWorkspaceAddr, uint32_t size, T value = 0) {
  InitGlobalMemory(gmWorkspaceAddr, size, value);
}

}  // namespace AscendC
