// SPDX-License-Identifier: Apache-2.0
// The copies of block_copy.h for SoCs whose DMA moves whole blocks of 32 bytes only. GM addresses
// need no alignment there, lengths do. Part of block_copy.h.
//
// In: a block of any length is read up to the next 32 bytes, which is data that follows it in GM;
// whoever adds lanes up clears them first (ZeroPads). What would be read past the end of the tensor
// is read element by element.
//
// Out: nothing but the blocks themselves is written, so cores need no agreement on who writes what.
// A block of at least 32 bytes is stored as its whole part, and then once more as the 32 bytes that
// end where it ends; both say the same of the bytes that they share. Shorter blocks, which lie next
// to each other, are first moved together in UB. The tiling sees to it that what is moved together
// is at least 32 bytes (op_host/common/row_reduce_planner.h); only a tensor that is shorter as a
// whole is written element by element.
#ifndef OP_KERNEL_COMMON_ALIGNED_COPY_H_
#define OP_KERNEL_COMMON_ALIGNED_COPY_H_

#include "kernel_operator.h"

namespace rowreduce {

constexpr uint32_t kMaxCopyGap = 65535;  // blocks of 32 bytes

template <typename T>
constexpr uint32_t kElementsPerBlock = 32 / sizeof(T);

// One DataCopy for all blocks, if their length and what lies between them are whole blocks of 32
// bytes. gmGap counts elements.
template <typename T>
__aicore__ inline bool CopiesAtOnce(uint32_t length, uint64_t gmGap, uint32_t blocks) {
  constexpr uint32_t kElements = kElementsPerBlock<T>;
  return length % kElements == 0 && gmGap % kElements == 0 && gmGap / kElements <= kMaxCopyGap &&
         blocks <= kMaxBlockCount;
}

template <typename T>
__aicore__ inline void LoadBlocks(const AscendC::LocalTensor<T>& dst,
                                  const AscendC::GlobalTensor<T>& src, uint64_t offset,
                                  const BlockShape& shape, uint32_t pitch) {
  constexpr uint32_t kElements = kElementsPerBlock<T>;
  if (pitch == shape.length && shape.distance == shape.length) {
    AscendC::DataCopy(dst, src[offset], shape.blocks * shape.length);
    return;
  }
  const uint64_t gap = shape.blocks > 1 ? shape.distance - shape.length : 0;
  if (CopiesAtOnce<T>(shape.length, gap, shape.blocks)) {
    AscendC::DataCopy(
        dst, src[offset],
        AscendC::DataCopyParams(static_cast<uint16_t>(shape.blocks),
                                static_cast<uint16_t>(shape.length / kElements),
                                static_cast<uint16_t>(gap / kElements),
                                static_cast<uint16_t>((pitch - shape.length) / kElements)));
    return;
  }
  const uint32_t padded = UbPitch<T>(shape.length);
  const uint32_t whole = shape.length / kElements * kElements;
  const uint64_t end = src.GetSize();
  uint32_t safe = shape.blocks;  // blocks that may be read up to the next 32 bytes
  for (uint32_t b = 0; b < shape.blocks; ++b) {
    const uint64_t from = offset + b * shape.distance;
    if (from + padded <= end) {
      AscendC::DataCopy(dst[b * pitch], src[from], padded);
      continue;
    }
    safe = safe < b ? safe : b;
    if (whole > 0) {
      AscendC::DataCopy(dst[b * pitch], src[from], whole);
    }
  }
  if (safe == shape.blocks) {
    return;
  }
  // Vector instructions may still read what this buffer held before, and will read it next.
  AscendC::PipeBarrier<PIPE_ALL>();
  for (uint32_t b = safe; b < shape.blocks; ++b) {
    for (uint32_t i = whole; i < shape.length; ++i) {
      dst.SetValue(b * pitch + i, src.GetValue(offset + b * shape.distance + i));
    }
  }
  AscendC::PipeBarrier<PIPE_ALL>();
}

// Stores the last 32 bytes of each block, which are moved to its beginning in UB: that part is
// stored already.
template <typename T>
__aicore__ inline void StoreTails(const AscendC::GlobalTensor<T>& dst, uint64_t offset,
                                  const AscendC::LocalTensor<T>& src, const BlockShape& shape,
                                  uint32_t pitch) {
  constexpr uint32_t kElements = kElementsPerBlock<T>;
  AscendC::PipeBarrier<PIPE_ALL>();
  for (uint32_t b = 0; b < shape.blocks; ++b) {
    for (uint32_t i = 0; i < kElements; ++i) {
      src.SetValue(b * pitch + i, src.GetValue(b * pitch + shape.length - kElements + i));
    }
  }
  AscendC::PipeBarrier<PIPE_ALL>();
  for (uint32_t b = 0; b < shape.blocks; ++b) {
    const uint64_t to = offset + b * shape.distance + shape.length - kElements;
    AscendC::DataCopy(dst[to], src[b * pitch], kElements);
  }
}

// Moves blocks together in UB; they lie without a gap in GM.
template <typename T>
__aicore__ inline BlockShape Join(const AscendC::LocalTensor<T>& src, const BlockShape& shape,
                                  uint32_t pitch) {
  AscendC::PipeBarrier<PIPE_ALL>();
  for (uint32_t b = 1; b < shape.blocks; ++b) {
    for (uint32_t i = 0; i < shape.length; ++i) {
      src.SetValue(b * shape.length + i, src.GetValue(b * pitch + i));
    }
  }
  AscendC::PipeBarrier<PIPE_ALL>();
  return BlockShape{1, shape.blocks * shape.length, shape.blocks * shape.length};
}

// Writes the scalar unit's cache back. 910 has no instruction for it in the API: there the device
// compiler writes it back before a kernel ends, unless it is told --cce-no-dcache-flush.
template <typename T>
__aicore__ inline void CleanScalarWrites(const AscendC::GlobalTensor<T>& tensor) {
#if __CCE_AICORE__ != 100
  AscendC::DataCacheCleanAndInvalid<T, AscendC::CacheLine::ENTIRE_DATA_CACHE>(tensor);
#endif
}

// Rows of at least 32 bytes that end within a block, whose last 32 bytes lie on blocks of their own.
template <typename T>
__aicore__ inline void StoreRows(const AscendC::GlobalTensor<T>& dst, uint64_t offset,
                                 const AscendC::LocalTensor<T>& rows, const BlockShape& shape,
                                 uint32_t pitch, const AscendC::LocalTensor<T>& tails) {
  constexpr uint32_t kElements = kElementsPerBlock<T>;
  const uint32_t whole = shape.length / kElements * kElements;
  for (uint32_t b = 0; b < shape.blocks; ++b) {
    AscendC::DataCopy(dst[offset + b * shape.distance], rows[b * pitch], whole);
  }
  AscendC::PipeBarrier<PIPE_MTE3>();  // a tail begins in what is on its way
  for (uint32_t b = 0; b < shape.blocks; ++b) {
    const uint64_t to = offset + b * shape.distance + shape.length - kElements;
    AscendC::DataCopy(dst[to], tails[b * kElements], kElements);
  }
}

// src is used as scratch once its contents are stored.
template <typename T>
__aicore__ inline void StoreBlocks(const AscendC::GlobalTensor<T>& dst, uint64_t offset,
                                   const AscendC::LocalTensor<T>& src, BlockShape shape,
                                   uint32_t pitch) {
  constexpr uint32_t kElements = kElementsPerBlock<T>;
  if (pitch == shape.length && shape.distance == shape.length) {
    AscendC::DataCopy(dst[offset], src, shape.blocks * shape.length);
    return;
  }
  if (shape.length < kElements) {
    shape = Join(src, shape, pitch);
    if (shape.length < kElements) {
      // The whole tensor, through the scalar unit's cache.
      AscendC::GlobalTensor<T> tensor = dst;
      for (uint32_t i = 0; i < shape.length; ++i) {
        tensor.SetValue(offset + i, src.GetValue(i));
      }
      CleanScalarWrites(tensor);
      return;
    }
  }
  const uint64_t gap = shape.blocks > 1 ? shape.distance - shape.length : 0;
  if (CopiesAtOnce<T>(shape.length, gap, shape.blocks)) {
    AscendC::DataCopy(
        dst[offset], src,
        AscendC::DataCopyParams(static_cast<uint16_t>(shape.blocks),
                                static_cast<uint16_t>(shape.length / kElements),
                                static_cast<uint16_t>((pitch - shape.length) / kElements),
                                static_cast<uint16_t>(gap / kElements)));
    return;
  }
  const uint32_t whole = shape.length / kElements * kElements;
  for (uint32_t b = 0; b < shape.blocks; ++b) {
    AscendC::DataCopy(dst[offset + b * shape.distance], src[b * pitch], whole);
  }
  if (whole < shape.length) {
    StoreTails(dst, offset, src, shape, pitch);
  }
}

}  // namespace rowreduce

#endif  // OP_KERNEL_COMMON_ALIGNED_COPY_H_
