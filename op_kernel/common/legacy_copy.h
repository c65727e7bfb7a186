// SPDX-License-Identifier: Apache-2.0
// Copies of Ascend310P and Ascend910, which move whole blocks of 32 bytes only (no DataCopyPad). Part of legacy.h.
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

// One DataCopy takes all blocks, if their length and what lies between them are whole blocks of 32 bytes. gmGap counts
// elements.
template <typename T>
__aicore__ inline bool CopiesAtOnce(uint32_t length, uint64_t gmGap, uint32_t blocks) {
  constexpr uint32_t kElements = kBlockElements<T>;
  return length % kElements == 0 && gmGap % kElements == 0 && gmGap / kElements <= kMaxCopyGap &&
         blocks <= kMaxRowsPerCopy;
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
  uint32_t safe = rows.count;  // blocks that may be read up to the next 32 bytes
  for (uint32_t b = 0; b < rows.count; ++b) {
    const uint64_t from = offset + b * rows.distance;
    if (from + padded <= end) {
      AscendC::DataCopy(dst[b * pitch], src[from], padded);
      continue;
    }
    safe = Min(safe, b);
    if (whole > 0) {
      AscendC::DataCopy(dst[b * pitch], src[from], whole);
    }
  }
  if (safe == rows.count) {
    return;
  }
  // Vector instructions may still read what this buffer held before, and will read it next.
  PipeBarrier<PIPE_ALL>();
  for (uint32_t b = safe; b < rows.count; ++b) {
    for (uint32_t i = whole; i < rows.length; ++i) {
      dst.SetValue(b * pitch + i, src.GetValue(offset + b * rows.distance + i));
    }
  }
  PipeBarrier<PIPE_ALL>();
}

// Stores the last 32 bytes of each block, which are moved to its beginning in UB: that part is
// stored already.
template <typename T>
__aicore__ inline void StoreTails(const GlobalTensor<T>& dst, uint64_t offset,
                                  const LocalTensor<T>& src, const Rows& rows, uint32_t pitch) {
  constexpr uint32_t kElements = kBlockElements<T>;
  PipeBarrier<PIPE_ALL>();
  for (uint32_t b = 0; b < rows.count; ++b) {
    for (uint32_t i = 0; i < kElements; ++i) {
      src.SetValue(b * pitch + i, src.GetValue(b * pitch + rows.length - kElements + i));
    }
  }
  PipeBarrier<PIPE_ALL>();
  for (uint32_t b = 0; b < rows.count; ++b) {
    const uint64_t to = offset + b * rows.distance + rows.length - kElements;
    AscendC::DataCopy(dst[to], src[b * pitch], kElements);
  }
}

// Moves blocks together in UB; they lie without a gap in GM.
template <typename T>
__aicore__ inline Rows Join(const LocalTensor<T>& src, const Rows& rows, uint32_t pitch) {
  PipeBarrier<PIPE_ALL>();
  for (uint32_t b = 1; b < rows.count; ++b) {
    for (uint32_t i = 0; i < rows.length; ++i) {
      src.SetValue(b * rows.length + i, src.GetValue(b * pitch + i));
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
  for (uint32_t b = 0; b < rows.count; ++b) {
    AscendC::DataCopy(dst[offset + b * rows.distance], src[b * pitch], whole);
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
  for (uint32_t b = 0; b < rows.count; ++b) {
    AscendC::DataCopy(dst[offset + b * rows.distance], src[b * pitch], whole);
  }
  PipeBarrier<PIPE_MTE3>();  // a tail begins in what is on its way
  for (uint32_t b = 0; b < rows.count; ++b) {
    const uint64_t to = offset + b * rows.distance + rows.length - kElements;
    AscendC::DataCopy(dst[to], tails[b * kElements], kElements);
  }
}

}  // namespace common

#endif  // OP_KERNEL_COMMON_LEGACY_COPY_H_
