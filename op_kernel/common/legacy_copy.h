// SPDX-License-Identifier: Apache-2.0
// Copies of Ascend310P and Ascend910, which move whole blocks of 32 bytes only (no DataCopyPad).
// legacy.h includes them.
//
// GM addresses need no alignment there, lengths do.
//   In: a row is read up to the next 32 bytes, which is what follows it in GM; ClearPads clears that before a sum. What
//       would lie past the end of the tensor is read element by element.
//   Out: nothing but the rows themselves is written, so cores need no agreement on who writes what. A row of 32 bytes
//       or more is stored as its whole blocks, and then once more as the 32 bytes that end where it ends: its tail.
//       Shorter rows, which lie next to each other in GM, are first moved together in UB. The tiling sees to it that
//       what is moved together has 32 bytes; only a tensor that is shorter as a whole is written by the scalar unit.
#ifndef OP_KERNEL_COMMON_LEGACY_COPY_H_
#define OP_KERNEL_COMMON_LEGACY_COPY_H_

#include "common/vector_ops.h"

namespace common {

constexpr uint32_t kMaxCopyGap = 65535;  // blocks of 32 bytes

// CopiesAtOnce says whether one DataCopy takes all rows: their length and the gaps between them are
// whole blocks of 32 bytes. gmGap counts elements.
template <typename T>
__aicore__ inline bool CopiesAtOnce(uint32_t length, uint64_t gmGap, uint32_t rows) {
  constexpr uint32_t kElements = kBlockElements<T>;
  return length % kElements == 0 && gmGap % kElements == 0 && gmGap / kElements <= kMaxCopyGap &&
         rows <= kMaxRowsPerCopy;
}

template <typename T>
__aicore__ inline void CopyIn(const LocalTensor<T>& dst, const GlobalTensor<T>& src,
                              uint64_t offset, const Rows& rows, uint32_t pitch) {
  constexpr uint32_t kElements = kBlockElements<T>;
  if (pitch == rows.length && rows.distance == rows.length) {
    AscendC::DataCopy(dst, src[offset], rows.count * rows.length);
    return;
  }
  const uint64_t gap = rows.count > 1 ? rows.distance - rows.length : 0;
  if (CopiesAtOnce<T>(rows.length, gap, rows.count)) {
    AscendC::DataCopy(
        dst, src[offset],
        AscendC::DataCopyParams(static_cast<uint16_t>(rows.count),
                                static_cast<uint16_t>(rows.length / kElements),
                                static_cast<uint16_t>(gap / kElements),
                                static_cast<uint16_t>((pitch - rows.length) / kElements)));
    return;
  }
  const uint32_t padded = WholeBlocks<T>(rows.length);
  const uint32_t whole = rows.length / kElements * kElements;
  const uint64_t end = src.GetSize();
  uint32_t safe = rows.count;  // the first row that may not be read up to the next 32 bytes
  for (uint32_t r = 0; r < rows.count; ++r) {
    const uint64_t from = offset + r * rows.distance;
    if (from + padded <= end) {
      AscendC::DataCopy(dst[r * pitch], src[from], padded);
      continue;
    }
    safe = Min(safe, r);
    if (whole > 0) {
      AscendC::DataCopy(dst[r * pitch], src[from], whole);
    }
  }
  if (safe == rows.count) {
    return;
  }
  // SCALAR writes from here on. Vector instructions may still read the buffer's old contents, and
  // will read the new ones next.
  PipeBarrier<PIPE_ALL>();
  for (uint32_t r = safe; r < rows.count; ++r) {
    for (uint32_t i = whole; i < rows.length; ++i) {
      dst.SetValue(r * pitch + i, src.GetValue(offset + r * rows.distance + i));
    }
  }
  PipeBarrier<PIPE_ALL>();
}

// Stores the last 32 bytes of each row. They are first moved to its beginning in UB: that part is
// stored already.
template <typename T>
__aicore__ inline void StoreTails(const GlobalTensor<T>& dst, uint64_t offset,
                                  const LocalTensor<T>& src, const Rows& rows, uint32_t pitch) {
  constexpr uint32_t kElements = kBlockElements<T>;
  PipeBarrier<PIPE_ALL>();
  for (uint32_t r = 0; r < rows.count; ++r) {
    for (uint32_t i = 0; i < kElements; ++i) {
      src.SetValue(r * pitch + i, src.GetValue(r * pitch + rows.length - kElements + i));
    }
  }
  PipeBarrier<PIPE_ALL>();
  for (uint32_t r = 0; r < rows.count; ++r) {
    const uint64_t to = offset + r * rows.distance + rows.length - kElements;
    AscendC::DataCopy(dst[to], src[r * pitch], kElements);
  }
}

// Moves rows together in UB; they lie without a gap in GM.
template <typename T>
__aicore__ inline Rows Join(const LocalTensor<T>& src, const Rows& rows, uint32_t pitch) {
  PipeBarrier<PIPE_ALL>();
  for (uint32_t r = 1; r < rows.count; ++r) {
    for (uint32_t i = 0; i < rows.length; ++i) {
      src.SetValue(r * rows.length + i, src.GetValue(r * pitch + i));
    }
  }
  PipeBarrier<PIPE_ALL>();
  return Rows{1, rows.count * rows.length, rows.count * rows.length};
}

// Writes the scalar unit's cache back. 910 has no instruction for it in the API: there the device
// compiler writes it back before a kernel ends, unless it is told --cce-no-dcache-flush.
template <typename T>
__aicore__ inline void CleanScalarWrites(const GlobalTensor<T>& tensor) {
#if __CCE_AICORE__ != 100
  AscendC::DataCacheCleanAndInvalid<T, AscendC::CacheLine::ENTIRE_DATA_CACHE>(tensor);
#endif
}

// Stores rows. src is used as scratch once its contents are stored.
template <typename T>
__aicore__ inline void CopyOut(const GlobalTensor<T>& dst, uint64_t offset,
                               const LocalTensor<T>& src, Rows rows, uint32_t pitch) {
  constexpr uint32_t kElements = kBlockElements<T>;
  if (pitch == rows.length && rows.distance == rows.length) {
    AscendC::DataCopy(dst[offset], src, rows.count * rows.length);
    return;
  }
  if (rows.length < kElements) {
    rows = Join(src, rows, pitch);
    if (rows.length < kElements) {
      // This is the whole tensor. It goes through the scalar unit's cache.
      GlobalTensor<T> tensor = dst;
      for (uint32_t i = 0; i < rows.length; ++i) {
        tensor.SetValue(offset + i, src.GetValue(i));
      }
      CleanScalarWrites(tensor);
      return;
    }
  }
  const uint64_t gap = rows.count > 1 ? rows.distance - rows.length : 0;
  if (CopiesAtOnce<T>(rows.length, gap, rows.count)) {
    AscendC::DataCopy(
        dst[offset], src,
        AscendC::DataCopyParams(static_cast<uint16_t>(rows.count),
                                static_cast<uint16_t>(rows.length / kElements),
                                static_cast<uint16_t>((pitch - rows.length) / kElements),
                                static_cast<uint16_t>(gap / kElements)));
    return;
  }
  const uint32_t whole = rows.length / kElements * kElements;
  for (uint32_t r = 0; r < rows.count; ++r) {
    AscendC::DataCopy(dst[offset + r * rows.distance], src[r * pitch], whole);
  }
  if (whole < rows.length) {
    StoreTails(dst, offset, src, rows, pitch);
  }
}

// Stores rows of at least 32 bytes. `tails` has the last 32 bytes of rows that end within a block: MakeTails.
template <typename T>
__aicore__ inline void CopyOutWithTails(const GlobalTensor<T>& dst, uint64_t offset,
                                        const LocalTensor<T>& src, const Rows& rows, uint32_t pitch,
                                        const LocalTensor<T>& tails) {
  constexpr uint32_t kElements = kBlockElements<T>;
  const uint32_t whole = rows.length / kElements * kElements;
  if (whole == rows.length) {
    CopyOut(dst, offset, src, rows, pitch);
    return;
  }
  for (uint32_t r = 0; r < rows.count; ++r) {
    AscendC::DataCopy(dst[offset + r * rows.distance], src[r * pitch], whole);
  }
  PipeBarrier<PIPE_MTE3>();  // a tail overlaps bytes that are on their way
  for (uint32_t r = 0; r < rows.count; ++r) {
    const uint64_t to = offset + r * rows.distance + rows.length - kElements;
    AscendC::DataCopy(dst[to], tails[r * kElements], kElements);
  }
}

}  // namespace common

#endif  // OP_KERNEL_COMMON_LEGACY_COPY_H_
