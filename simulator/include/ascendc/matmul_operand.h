// SPDX-License-Identifier: Apache-2.0
// The matrices that Matmul multiplies: their blocks in L1 and their parts in L0.
#pragma once

#include "ascendc/matmul_batch.h"
#include "ascendc/matmul_memory.h"

namespace AscendC::detail::mm {

// A block of a matrix in L1, in columns of C0 elements with `height` rows each.
template <typename T>
struct Block {
  LocalTensor<T> tensor;
  uint32_t height = 0, columns = 0;
};

// A matrix in GM or L1 of which Matmul takes blocks. Its outer axis is M of A, or N of B; the other one is K.
template <typename Type, bool isLeft>
class Operand {
 public:
  using T = typename Type::T;
  static constexpr bool kInL1 = kIsInL1<Type>;
  static constexpr const char* kName = isLeft ? "A" : "B";

  // isPart: the tensor is the core's part alone, as it comes from UB.
  void Set(const GlobalTensor<T>& gm, bool transposed, bool isPart = false) {
    gm_ = gm;
    isSet_ = true;
    transposed_ = transposed != kIsColumnMajor<Type>;
    isPart_ = isPart;
  }
  void Set(const LocalTensor<T>& local, bool transposed) {
    whole_.tensor = local;
    isSet_ = true;
    transposed_ = transposed;
  }
  bool IsSet() const { return isSet_; }
  bool IsPart() const { return isPart_; }
  // Whether the rows in memory are those of the outer axis.
  bool OuterIsRow() const { return transposed_ != isLeft; }
  bool IsTransposed() const { return transposed_; }

  // An extent in memory: rows of a part lie in whole blocks of 32 bytes.
  uint32_t ExtentOf(uint32_t whole, uint32_t part) const {
    return !isPart_ ? whole : Type::format == CubeFormat::NZ ? part : UpTo(part, kC0<T>);
  }
  const T* Address() const { return gm_.GetPhyAddr(); }
  // The matrix of a batch that is multiplied from here on.
  void GoTo(const Place& place) { place_ = place; }
  uint64_t Offset() const { return place_.offset; }

  // Rows and columns of a block as L1 holds it: transposition moves whole squares.
  uint32_t HeightOf(uint32_t rows) const {
    return UpTo(rows, OuterIsRow() ? kRows : std::max(kSide<T>, kUnitOfK));
  }
  uint32_t WidthOf(uint32_t columns) const {
    return UpTo(columns, OuterIsRow() ? std::max(kC0<T>, kUnitOfK)
                                      : std::max(kC0<T>, kBitsOf<T> == 32 ? kRows : 0));
  }

  // `outer` x `k` elements of the matrix, whose extents in GM are `ofOuter` and `ofK`, into L1.
  Block<T> ToL1(const LocalTensor<T>& to, uint32_t outer0, uint32_t outer, uint32_t k0, uint32_t k,
                uint32_t ofOuter, uint32_t ofK, bool rowByRow) const {
    const bool isRow = OuterIsRow();
    const uint32_t row0 = isRow ? outer0 : k0, rows = isRow ? outer : k;
    const uint32_t column0 = isRow ? k0 : outer0, columns = isRow ? k : outer;
    const Block<T> block{to, HeightOf(rows), WidthOf(columns)};
    if constexpr (kIsScaled<Type>) {
      // Products of MX types take whole pairs of scales: what a copy leaves of them is 0.
      if (isRow ? WidthOf(columns) != UpTo(columns, kC0<T>) : rows % kUnitOfK != 0) {
        const uint32_t bytes = BytesIn<T>(block.height * block.columns);
        InitConstValue(to.template ReinterpretCast<half>(),
                       InitConstValueParams<half>(1, bytes / ONE_BLK_SIZE, 0, half(0)));
        PipeBarrier<PIPE_MTE2>();
      }
    }
    if constexpr (Type::format == CubeFormat::NZ) {
      const uint32_t inMatrix = UpTo(isRow ? ofOuter : ofK, kRows);  // rows of a column of C0
      const uint32_t whole = UpTo(rows, kRows);
      if (column0 % kC0<T> != 0) {
        Misuse("Iterate", "GetTiling gives whole ones.",
               "%s is NZ, and a tile begins at column %u, within a fractal of %u columns", kName,
               column0, kC0<T>);
      }
      const GlobalTensor<T> from =
          gm_[place_.offset + uint64_t{column0} / kC0<T> * inMatrix * kC0<T> +
              uint64_t{row0} * kC0<T>];
      const uint32_t count = PartsOf(columns, kC0<T>);
      if (inMatrix - whole <= UINT16_MAX) {
        DataCopy(to, from,
                 DataCopyParams(static_cast<uint16_t>(count), static_cast<uint16_t>(whole),
                                static_cast<uint16_t>(inMatrix - whole),
                                static_cast<uint16_t>(block.height - whole)));
      } else {
        for (uint32_t i = 0; i < count; ++i) {
          DataCopy(to[i * block.height * kC0<T>], from[uint64_t{i} * inMatrix * kC0<T>],
                   whole * kC0<T>);
        }
      }
      return block;
    } else if constexpr (Type::format == CubeFormat::VECTOR) {
      DataCopy(to, gm_[k0], Nd2NzParams(1, 1, k, 0, k, 1, 1, 0));
      return block;
    } else {
      const uint32_t pitch = place_.pitch != 0 ? place_.pitch : isRow ? ofK : ofOuter;
      if constexpr (kNibbles<T>) {
        CopyPairs(to, uint64_t{row0} * pitch + column0, rows, columns, pitch, block.height);
        return block;
      }
      const GlobalTensor<T> from = gm_[place_.offset + uint64_t{row0} * pitch + column0];
      if (pitch <= UINT16_MAX) {
        DataCopy(to, from, Nd2NzParams(1, rows, columns, 0, pitch, block.height, 1, 0));
        return block;
      }
      if (!rowByRow) {
        Misuse("Iterate", "A config with intrinsicsCheck copies row by row.",
               "rows of %s have %u elements; without intrinsicsCheck they have at most 65535",
               kName, pitch);
      }
      for (uint32_t row = 0; row < rows; ++row) {
        DataCopy(to[row * kC0<T>], from[uint64_t{row} * pitch],
                 Nd2NzParams(1, 1, columns, 0, columns, block.height, 1, 0));
      }
      return block;
    }
  }
  // A block that the kernel itself copies there.
  Block<T> In(const LocalTensor<T>& to, uint32_t outer, uint32_t k) const {
    const bool isRow = OuterIsRow();
    return {to, HeightOf(isRow ? outer : k), WidthOf(isRow ? k : outer)};
  }
  // A matrix that is in L1 as a whole.
  Block<T> Whole(uint32_t outer, uint32_t k) const {
    const bool isRow = OuterIsRow();
    return {whole_.tensor, UpTo(isRow ? outer : k, kRows),
            UpTo(isRow ? k : outer, isRow ? std::max(kC0<T>, kUnitOfK) : kC0<T>)};
  }

  // A part of a block into L0, `outer` x `k` elements from (outer0, k0) on.
  void ToL0(const LocalTensor<T>& to, const Block<T>& block, uint32_t outer0, uint32_t outer,
            uint32_t k0, uint32_t k) const {
    CheckSquare(outer0);
    if constexpr (Type::format == CubeFormat::VECTOR) {
      LoadData(to, block.tensor[k0],
               LoadData2DParams(0, PartsOf(k, kFractalElements), 1, 0, 0, false, 0));
    } else if constexpr (kOn950) {
      const bool isRow = OuterIsRow();
      Columns(to, block, isRow ? outer0 : k0, isRow ? outer : k, isRow ? k0 : outer0,
              isRow ? k : outer, !isRow);
    } else if (OuterIsRow()) {
      if constexpr (isLeft && kNibbles<T>) {
        Rows(to, block, outer0, outer, k0, k);
      } else if constexpr (isLeft) {
        Window(to, block, outer0, UpTo(outer, kRows), k0, UpTo(k, kC0<T>), false);
      } else {
        Fractals(to, block, outer0, outer, k0, k);
      }
    } else if constexpr (kBitsOf<T> < 16) {
      SquaresOf8(to, block, outer0, outer, k0, k);
    } else if constexpr (isLeft && kBitsOf<T> == 32) {
      SquaresOf32(to, block, outer0, outer, k0, k);
    } else {
      Window(to, block, k0, UpTo(k, kRows), outer0, UpTo(outer, isLeft ? kRows : kC0<T>), isLeft);
    }
  }

  // The tile is copied with its scales, whose first one is (scaleOuter0, scaleK0) of their block.
  template <typename U, typename S>
  void ToL0(const LocalTensor<U>& to, const Block<T>& block, uint32_t outer0, uint32_t outer,
            uint32_t k0, uint32_t k, const Block<S>& scales, uint32_t scaleOuter0,
            uint32_t scaleK0) const {
    CheckSquare(outer0);
    const bool isRow = OuterIsRow();
    const uint32_t whole = UpTo(k, kUnitOfK), pairs = PartsOf(k, kPair);
    LoadData(to, block.tensor, scales.tensor,
             WindowOf(block, isRow ? outer0 : k0, isRow ? outer : whole, isRow ? k0 : outer0,
                      isRow ? whole : outer, !isRow),
             LoadData2DMxParams(scaleOuter0 / kRows, scaleK0 / kPair, PartsOf(outer, kRows), pairs,
                                scales.height, pairs));
  }

 private:
  static constexpr uint32_t kFractalElements = kFractalBytes * 8 / kBitsOf<T>;
  static constexpr uint32_t kUnitOfK = kIsScaled<Type> ? kPair : 1;

  // Transposition begins with a whole square.
  void CheckSquare(uint32_t outer0) const {
    if (!OuterIsRow() && outer0 % kSide<T> != 0) {
      Misuse("Iterate", "GetTiling gives such ones; or use steps of 1 along M and N.",
             "a tile of %s begins in the middle of a square: its rows are those of K, and base%s "
             "is no multiple of %u",
             kName, isLeft ? "M" : "N", kSide<T>);
    }
  }

  // Two elements of 4 bits are copied as a byte.
  void CopyPairs(const LocalTensor<T>& to, uint64_t first, uint32_t rows, uint32_t columns,
                 uint32_t pitch, uint32_t height) const {
    if (pitch % 2 != 0 || first % 2 != 0 || columns % 2 != 0 || place_.offset % 2 != 0) {
      Misuse("Iterate", "Rows of int4b_t are whole bytes: let the inner axis be even.",
             "rows of %s have %u elements, of which %u are copied", kName, pitch, columns);
    }
    if (pitch / 2 > UINT16_MAX) {
      Misuse("Iterate", "Use CubeFormat::NZ, or shorter rows.",
             "rows of %s have %u elements of 4 bits; at most 131070 are simulated", kName, pitch);
    }
    GlobalTensor<int8_t> from;
    from.SetGlobalBuffer(reinterpret_cast<__gm__ int8_t*>(gm_[place_.offset + first].GetPhyAddr()));
    DataCopy(to.template ReinterpretCast<int8_t>(), from,
             Nd2NzParams(1, rows, columns / 2, 0, pitch / 2, height, 1, 0));
  }
  // Columns of C0 into rows of fractals, one after the other.
  static void Rows(const LocalTensor<T>& to, const Block<T>& block, uint32_t row0, uint32_t rows,
                   uint32_t column0, uint32_t columns) {
    const uint32_t inColumn = block.height / kRows, across = PartsOf(columns, kC0<T>);
    for (uint32_t i = 0; i < PartsOf(rows, kRows); ++i) {
      LoadData(to[i * across * kFractalElements], block.tensor,
               LoadData2DParams(column0 / kC0<T> * inColumn + row0 / kRows + i, across, inColumn, 0,
                                0, false, 0));
    }
  }
  // A matrix in columns of C0 is a feature map of one column with a filter of 1 x 1: one load takes any window of it.
  static void Window(const LocalTensor<T>& to, const Block<T>& block, uint32_t row0, uint32_t rows,
                     uint32_t column0, uint32_t columns, bool transposed) {
    LoadData3DParamsV2<T> p;
    p.l1H = block.height;
    p.l1W = 1;
    p.channelSize = block.columns;
    p.kExtension = columns;
    p.mExtension = rows;
    p.kStartPt = column0;
    p.mStartPt = row0;
    p.enTranspose = transposed;
    LoadData(to, block.tensor, p);
  }
  // 950: L0A and L0B have columns of fractals as L1 has them, turned where the rows are those of K. Turning moves whole squares.
  static void Columns(const LocalTensor<T>& to, const Block<T>& block, uint32_t row0, uint32_t rows,
                      uint32_t column0, uint32_t columns, bool turned) {
    LoadData(to, block.tensor, WindowOf(block, row0, rows, column0, columns, turned));
  }
  static auto WindowOf(const Block<T>& block, uint32_t row0, uint32_t rows, uint32_t column0,
                       uint32_t columns, bool turned) {
    const uint32_t inRows = UpTo(rows, turned ? kSide<T> : kRows) / kRows;
    const uint32_t inColumns = UpTo(columns, turned ? std::max(kC0<T>, kRows) : kC0<T>) / kC0<T>;
    const uint32_t stride = turned ? inColumns * kC0<T> / kRows : inRows;
    return LoadData2DParamsV2(row0 / kRows, column0 / kC0<T>, inRows, inColumns,
                              static_cast<int32_t>(block.height / kRows), stride, turned, 0);
  }
  // B as N x K: its fractals lie in L1 as L0B wants them.
  static void Fractals(const LocalTensor<T>& to, const Block<T>& block, uint32_t n0, uint32_t n,
                       uint32_t k0, uint32_t k) {
    constexpr uint32_t kMostRepeats = 255;
    const uint32_t n1 = PartsOf(n, kRows), k1 = PartsOf(k, kC0<T>), inColumn = block.height / kRows;
    const uint32_t perLoad = n1 == inColumn ? std::max(1u, kMostRepeats / n1) : 1;
    for (uint32_t i = 0; i < k1; i += perLoad) {
      const uint32_t columns = std::min(perLoad, k1 - i);
      LoadData(to[i * n1 * kFractalElements], block.tensor,
               LoadData2DParams((k0 / kC0<T> + i) * inColumn + n0 / kRows, columns * n1, 1, 0, 0,
                                false, 0));
    }
  }
  // Squares of 32 x 32 bytes, or 64 x 64 elements of 4 bits: a column of them of A as K x M, a row of them of B as K x N.
  static void SquaresOf8(const LocalTensor<T>& to, const Block<T>& block, uint32_t outer0,
                         uint32_t outer, uint32_t k0, uint32_t k) {
    const uint32_t inColumn = block.height / kSide<T>, k1 = PartsOf(k, kSide<T>),
                   o1 = PartsOf(outer, kSide<T>);
    const uint32_t first = outer0 / kSide<T> * inColumn + k0 / kSide<T>;
    constexpr uint32_t kFractals = kSide<T> / kRows;  // of a square
    if constexpr (isLeft) {
      for (uint32_t i = 0; i < o1; ++i) {
        LoadDataWithTranspose(to[kFractals * i * k1 * kFractalElements], block.tensor,
                              LoadData2dTransposeParams(first + i * inColumn, k1, 1, 0, k1 - 1));
      }
    } else {
      for (uint32_t i = 0; i < k1; ++i) {
        LoadDataWithTranspose(to[kFractals * i * o1 * kFractalElements], block.tensor,
                              LoadData2dTransposeParams(first + i, o1, inColumn, kFractals - 1, 0));
      }
    }
  }
  // Squares of 16 x 16 words, whose halves lie in two columns of L1.
  static void SquaresOf32(const LocalTensor<T>& to, const Block<T>& block, uint32_t m0, uint32_t m,
                          uint32_t k0, uint32_t k) {
    const uint32_t inColumn = block.height / kRows, k1 = PartsOf(k, kRows);
    for (uint32_t i = 0; i < PartsOf(m, kRows); ++i) {
      LoadDataWithTranspose(
          to[2 * i * k1 * kFractalElements], block.tensor,
          LoadData2dTransposeParamsV2((m0 / kC0<T> + 2 * i) * inColumn + k0 / kRows, k1, 1, 1, 0,
                                      inColumn - 1));
    }
  }

  GlobalTensor<T> gm_;
  Place place_;
  Block<T> whole_;
  bool transposed_ = false, isSet_ = false, isPart_ = false;
};

// The block of an operand that is in L1, until another one is asked for.
template <typename T>
struct Held {
  Block<T> block;
  uint64_t matrix = 0;  // its place in a batch
  uint32_t slot = 0, outer0 = 0, k0 = 0;
  bool isHeld = false;
};

}  // namespace AscendC::detail::mm
