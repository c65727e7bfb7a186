// SPDX-License-Identifier: Apache-2.0
// An AIV's share of the workspace: matrices of UB go by it to the AIC, and tiles of C come by it.
#pragma once

#include <algorithm>

#include "ascendc/data_copy.h"
#include "ascendc/matmul_abi.h"
#include "ascendc/matmul_memory.h"
#include "ascendc/matmul_misuse.h"
#include "ascendc/matmul_request.h"

namespace AscendC::detail::mm {

class Share {
 public:
  Share() = default;
  Share(TPipe* pipe, GM_ADDR workspace) : pipe_(pipe), workspace_(workspace) {}

  // The object of this AIV that had the last product, while its TPipe lives.
  void SetLast(const void* object) const {
    if (pipe_ != nullptr) {
      pipe_->SetLastProduct(object);
    }
  }
  bool IsLast(const void* object) const {
    return GetTPipePtr() != pipe_ || pipe_->LastProduct() == object;
  }

  // A tile of C on its way to UB.
  template <typename T>
  GlobalTensor<T> Slot() const {
    constexpr uint32_t kBytes = aclsim::kMatmulSlotBytes;
    GlobalTensor<T> slot;
    slot.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(
                             aclsim::MatmulWorkspace(workspace_, nullptr, kBytes, "a tile of C")),
                         kBytes / sizeof(T));
    return slot;
  }
  // Ordered with what the kernel's other pipes do to the tensor before and after. Rows lie in whole blocks of 32 bytes, whose rest nobody
  // reads; of NZ, a row is a column of fractals.
  template <typename Type>
  GlobalTensor<typename Type::T> InShare(const LocalTensor<typename Type::T>& local, int32_t rows,
                                         int32_t columns, const char* what) {
    using T = typename Type::T;
    auto count = static_cast<uint32_t>(rows);
    uint32_t row = BytesIn<T>(static_cast<uint32_t>(columns)), pitch = UpTo(row, ONE_BLK_SIZE);
    if constexpr (Type::format == CubeFormat::NZ) {
      row = count * ONE_BLK_SIZE;
      pitch = UpTo(count, kRows) * ONE_BLK_SIZE;
      count = PartsOf(static_cast<uint32_t>(columns), kC0<T>);
    }
    GlobalTensor<T> gm;
    gm.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(aclsim::MatmulWorkspace(
                           workspace_, reinterpret_cast<const void*>(local.GetPhyAddr()),
                           uint64_t{count} * pitch, what)),
                       CountIn<T>(uint64_t{count} * pitch));
    Order<HardEvent::V_MTE3>();
    Order<HardEvent::MTE2_MTE3>();
    DataCopyPad(gm, local,
                DataCopyExtParams(static_cast<uint16_t>(count), row,
                                  (pitch - UpTo(row, ONE_BLK_SIZE)) / uint32_t{ONE_BLK_SIZE},
                                  pitch - row, 0));
    Order<HardEvent::MTE3_V>();
    Order<HardEvent::MTE3_MTE2>();
    return gm;
  }
  // Ordered with what the kernel does to the tensor before and after by its vector unit and MTE3; the slot is read when the next
  // request takes effect. pitch: from row to row in UB. Without isAwaited the vector unit does not wait for the copy.
  template <bool isAwaited = true, typename T>
  void CopyToUb(const LocalTensor<T>& to, const GlobalTensor<T>& slot, const Answer& tile,
                uint32_t pitch) {
    constexpr uint32_t kSize = sizeof(T);
    const uint32_t row = UpTo(tile.columns * kSize, ONE_BLK_SIZE);
    if (uint64_t{tile.rows} * tile.pitch * kSize > aclsim::kMatmulSlotBytes) {
      Misuse("GetTensorC", "Use a smaller base block: a tile lies in L0C.",
             "a tile of %u rows of %u elements of %u bytes goes to UB", tile.rows, tile.pitch,
             kSize);
    }
    if (tile.rows > 1 && pitch * kSize % ONE_BLK_SIZE != 0) {
      Misuse("GetTensorC", "Rows in UB are whole blocks of 32 bytes.",
             "rows in UB are %u elements of %u bytes apart", pitch, kSize);
    }
    Order<HardEvent::V_MTE2>();
    Order<HardEvent::MTE3_MTE2>();
    DataCopyPad(to, slot,
                DataCopyExtParams(
                    static_cast<uint16_t>(tile.rows), tile.columns * kSize,
                    (tile.pitch - tile.columns) * kSize,
                    (pitch * kSize - std::min(pitch * kSize, row)) / uint32_t{ONE_BLK_SIZE}, 0),
                DataCopyPadExtParams<T>(false, 0, 0, T()));
    if constexpr (isAwaited) {
      AwaitCopies();
    }
    Order<HardEvent::MTE2_MTE3>();
  }
  void AwaitCopies() { Order<HardEvent::MTE2_V>(); }

 private:
  template <HardEvent event>
  void Order() {
    const TEventID id = pipe_->AllocEventID<event>();
    SetFlag<event>(id);
    WaitFlag<event>(id);
    pipe_->ReleaseEventID<event>(id);
  }

  TPipe* pipe_ = nullptr;
  GM_ADDR workspace_ = nullptr;
};

}  // namespace AscendC::detail::mm
