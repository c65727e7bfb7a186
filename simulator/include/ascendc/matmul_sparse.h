// SPDX-License-Identifier: Apache-2.0
// B of 4:2 sparsity, as N rows of K / 2 elements: its blocks in L1 and its parts in L0B have an index beside them, two bits for each element.
#pragma once

#include "ascendc/matmul_operand.h"

namespace AscendC::detail::mm {

template <typename Type, typename = void>
constexpr bool kIsSparse = false;
template <typename Type>
constexpr bool kIsSparse<Type, std::void_t<decltype(&Type::indexPosition)>> = true;

template <typename Type>
constexpr TPosition kIndexPosition = [] {
  if constexpr (kIsSparse<Type>) {
    return Type::indexPosition;
  } else {
    return TPosition::GM;
  }
}();

// Columns of A for each element that a row of B has.
template <typename Type>
constexpr uint32_t kDropped = kIsSparse<Type> ? 2 : 1;
// Bytes of B for each one of its index.
constexpr uint32_t kOfIndex = 4;

class SparseIndex {
 public:
  void Set(const GlobalTensor<uint8_t>& gm) { gm_ = gm; }
  bool IsSet() const { return gm_.GetPhyAddr() != nullptr; }

  // Copies the index of `n` x `k` elements of B from (n0, k0) on, in the order of a block whose columns have `height` rows. In GM there are fractals of 16 x 8
  // bytes, column by column of them, for `ofN` rows.
  void ToL1(const LocalTensor<uint8_t>& to, uint32_t n0, uint32_t n, uint32_t k0, uint32_t k,
            uint32_t ofN, uint32_t height) const {
    constexpr uint32_t kBytes = kFractalBytes / kOfIndex, kBlocks = kBytes / ONE_BLK_SIZE;
    const uint32_t inGm = PartsOf(ofN, kRows), rows = PartsOf(n, kRows), inL1 = height / kRows;
    for (uint32_t i = 0; i < PartsOf(k, kC0<int8_t>); ++i) {
      const uint64_t from = uint64_t{k0 / kC0<int8_t> + i} * inGm + n0 / kRows;
      DataCopy(to[i * inL1 * kBytes], gm_[from * kBytes],
               DataCopyParams(1, static_cast<uint16_t>(rows * kBlocks), 0, 0));
    }
  }
  // A part of a block, `n` x `k` elements from (n0, k0) on, with its index.
  static void ToL0(const LocalTensor<int8_t>& to, const Block<int8_t>& block,
                   const LocalTensor<uint8_t>& index, uint32_t n0, uint32_t n, uint32_t k0,
                   uint32_t k) {
    const uint32_t n1 = PartsOf(n, kRows), inColumn = block.height / kRows;
    for (uint32_t i = 0; i < PartsOf(k, kC0<int8_t>); ++i) {
      LoadDataWithSparse(
          to[i * n1 * kFractalBytes], block.tensor, index,
          LoadData2DParams((k0 / kC0<int8_t> + i) * inColumn + n0 / kRows, n1, 1, 0, 0, false, 0));
    }
  }

 private:
  GlobalTensor<uint8_t> gm_;
};

}  // namespace AscendC::detail::mm
