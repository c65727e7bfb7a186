// SPDX-License-Identifier: Apache-2.0
// Strided copies between GM and UB of any length: blocks at a distance in GM, each on a 32-byte
// boundary in UB. SoCs before 2201 have no DataCopyPad: aligned_copy.h.
#ifndef OP_KERNEL_COMMON_BLOCK_COPY_H_
#define OP_KERNEL_COMMON_BLOCK_COPY_H_

#include "kernel_operator.h"

// Which API the SoC lacks; without the macro there is no kernel to build.
#if defined(__CCE_AICORE__) && __CCE_AICORE__ < 220
#define OP_KERNEL_WHOLE_BLOCKS_ONLY 1  // no DataCopyPad, no Brcb
#else
#define OP_KERNEL_WHOLE_BLOCKS_ONLY 0
#endif

namespace rowreduce {

constexpr bool kWholeBlocksOnly = OP_KERNEL_WHOLE_BLOCKS_ONLY != 0;

struct BlockShape {
  uint32_t blocks;    // how many
  uint32_t length;    // elements of one block
  uint64_t distance;  // elements between the starts of two blocks in GM
};

constexpr uint32_t kMaxBlockCount = 4095;
constexpr uint64_t kMaxGapBytes = 0xFFFFFFFFull;

// Elements from one block to the next in UB.
template <typename T>
__aicore__ inline uint32_t UbPitch(uint32_t length) {
  constexpr uint32_t kElements = 32 / sizeof(T);
  return (length + kElements - 1) / kElements * kElements;
}

}  // namespace rowreduce

#if OP_KERNEL_WHOLE_BLOCKS_ONLY
// Builds on the above.
#include "common/aligned_copy.h"
#else

namespace rowreduce {

// Blocks that follow each other on both sides are one.
__aicore__ inline BlockShape Joined(const BlockShape& shape, uint32_t pitch) {
  if (pitch == shape.length && shape.distance == shape.length) {
    return BlockShape{1, shape.length * shape.blocks, shape.distance * shape.blocks};
  }
  return shape;
}

// A long copy that starts elsewhere takes more than a quarter longer. CANN's documents ask for 512; the model
// charges what starts off 256, by a measurement that cannot tell the two apart.
constexpr uint32_t kGoodStartBytes = 512;
constexpr uint32_t kMinSplitBytes = 4096;  // of a copy that is worth one more in front of it
// Ascend 950 takes 2 % longer for a start that is not good, and another copy longer than that.
#if defined(__NPU_ARCH__) && __NPU_ARCH__ == 3510
constexpr bool kStartsMatter = false;
#else
constexpr bool kStartsMatter = true;
#endif

// Elements of one long piece that are better copied by themselves, so that the rest has a good start;
// 0 where the rest would not begin on a block in UB, if the piece begins on element `lead` of one.
template <typename T>
__aicore__ inline uint32_t HeadOf(const AscendC::GlobalTensor<T>& gm, uint64_t offset,
                                  const BlockShape& shape, uint32_t lead = 0) {
  const uint64_t address = reinterpret_cast<uint64_t>(gm.GetPhyAddr(offset));
  const uint32_t head =
      static_cast<uint32_t>((kGoodStartBytes - address % kGoodStartBytes) % kGoodStartBytes);
  const uint64_t bytes = static_cast<uint64_t>(shape.length) * sizeof(T);
  return kStartsMatter && shape.blocks == 1 && (lead * sizeof(T) + head) % 32 == 0 &&
                 bytes >= head + kMinSplitBytes
             ? head / static_cast<uint32_t>(sizeof(T))
             : 0;
}

// Calls copy(GM element offset, UB element offset, params) for each DataCopyPad that the shape
// needs. toUb says on which side of the copy GM is: its gap counts bytes, that of UB counts blocks
// of 32 bytes.
template <typename T, bool toUb, typename Copy>
__aicore__ inline void ForCopies(const BlockShape& shape, uint32_t pitch, const Copy& copy) {
  const uint32_t ubGap =
      shape.blocks > 1 ? (pitch - UbPitch<T>(shape.length)) * static_cast<uint32_t>(sizeof(T)) / 32
                       : 0;
  const uint32_t bytes = shape.length * static_cast<uint32_t>(sizeof(T));
  const uint64_t gap = shape.blocks > 1 ? shape.distance * sizeof(T) - bytes : 0;
  // A gap that no instruction can express: one copy per block.
  const uint32_t most = gap > kMaxGapBytes ? 1 : kMaxBlockCount;
  const uint32_t step = most == 1 ? 0 : static_cast<uint32_t>(gap);
  for (uint32_t done = 0; done < shape.blocks; done += most) {
    const uint32_t left = shape.blocks - done;
    const uint16_t count = static_cast<uint16_t>(left < most ? left : most);
    const AscendC::DataCopyExtParams params(count, bytes, toUb ? step : ubGap, toUb ? ubGap : step,
                                            0);
    copy(done * shape.distance, done * pitch, params);
  }
}

// Bytes between the end of a block and the next 32-byte boundary are filled with zeros.
template <typename T>
struct CopyIn {
  const AscendC::LocalTensor<T>& dst;
  const AscendC::GlobalTensor<T>& src;
  uint64_t offset;
  AscendC::DataCopyPadExtParams<T> pad;

  __aicore__ inline void operator()(uint64_t gm, uint32_t ub,
                                    const AscendC::DataCopyExtParams& params) const {
    AscendC::DataCopyPad(dst[ub], src[offset + gm], params, pad);
  }
};

template <typename T>
struct CopyOut {
  const AscendC::GlobalTensor<T>& dst;
  const AscendC::LocalTensor<T>& src;
  uint64_t offset;

  __aicore__ inline void operator()(uint64_t gm, uint32_t ub,
                                    const AscendC::DataCopyExtParams& params) const {
    AscendC::DataCopyPad(dst[offset + gm], src[ub], params);
  }
};

// pitch: elements from one block to the next in UB, a multiple of 32 bytes; at least UbPitch.
template <typename T>
__aicore__ inline void LoadBlocks(const AscendC::LocalTensor<T>& dst,
                                  const AscendC::GlobalTensor<T>& src, uint64_t offset,
                                  const BlockShape& shape, uint32_t pitch) {
  BlockShape joined = Joined(shape, pitch);
  const uint32_t head = HeadOf(src, offset, joined);
  if (head > 0) {
    AscendC::DataCopyPad(dst, src[offset], AscendC::DataCopyExtParams(1, head * sizeof(T), 0, 0, 0),
                         AscendC::DataCopyPadExtParams<T>(false, 0, 0, static_cast<T>(0)));
    joined.length -= head;
  }
  const uint8_t fill = static_cast<uint8_t>(UbPitch<T>(joined.length) - joined.length);
  const AscendC::DataCopyPadExtParams<T> pad(true, 0, fill, static_cast<T>(0));
  ForCopies<T, true>(joined, pitch, CopyIn<T>{dst[head], src, offset + head, pad});
}

template <typename T>
__aicore__ inline void StoreBlocks(const AscendC::GlobalTensor<T>& dst, uint64_t offset,
                                   const AscendC::LocalTensor<T>& src, const BlockShape& shape,
                                   uint32_t pitch) {
  ForCopies<T, false>(Joined(shape, pitch), pitch, CopyOut<T>{dst, src, offset});
}

// One piece, whose first element comes to lie on element `lead` of a block in UB. Zeros fill the block
// in front of it and behind it.
template <typename T>
__aicore__ inline void LoadPiece(const AscendC::LocalTensor<T>& dst,
                                 const AscendC::GlobalTensor<T>& src, uint64_t offset,
                                 uint32_t length, uint32_t lead) {
  const uint32_t head = HeadOf(src, offset, BlockShape{1, length, length}, lead);
  const uint32_t at = head > 0 ? lead + head : 0;
  if (head > 0) {
    AscendC::DataCopyPad(
        dst, src[offset], AscendC::DataCopyExtParams(1, head * sizeof(T), 0, 0, 0),
        AscendC::DataCopyPadExtParams<T>(true, static_cast<uint8_t>(lead), 0, static_cast<T>(0)));
    lead = 0;
  }
  const uint32_t rest = length - head;
  const uint8_t fill = static_cast<uint8_t>(UbPitch<T>(lead + rest) - lead - rest);
  AscendC::DataCopyPad(
      dst[at], src[offset + head], AscendC::DataCopyExtParams(1, rest * sizeof(T), 0, 0, 0),
      AscendC::DataCopyPadExtParams<T>(true, static_cast<uint8_t>(lead), fill, static_cast<T>(0)));
}

}  // namespace rowreduce

#endif

namespace rowreduce {

// In front of the copy of tile `index`: the first `past` tiles of a core go past L2.
template <typename T>
__aicore__ inline void HintTile(AscendC::GlobalTensor<T>& gm, int64_t index, int64_t past) {
  if (past > 0 && (index == 0 || index == past)) {
    gm.SetL2CacheHint(index == 0 ? AscendC::CacheMode::CACHE_MODE_DISABLE
                                 : AscendC::CacheMode::CACHE_MODE_NORMAL);
  }
}

template <typename T>
__aicore__ inline void LoadBlocks(const AscendC::LocalTensor<T>& dst,
                                  const AscendC::GlobalTensor<T>& src, uint64_t offset,
                                  const BlockShape& shape) {
  LoadBlocks(dst, src, offset, shape, UbPitch<T>(shape.length));
}

template <typename T>
__aicore__ inline void StoreBlocks(const AscendC::GlobalTensor<T>& dst, uint64_t offset,
                                   const AscendC::LocalTensor<T>& src, const BlockShape& shape) {
  StoreBlocks(dst, offset, src, shape, UbPitch<T>(shape.length));
}

// The way back of LoadPiece. Copies start on a block in UB: what the first block has of the piece lies once
// more on the one behind it.
template <typename T>
__aicore__ inline void StorePiece(const AscendC::GlobalTensor<T>& dst, uint64_t offset,
                                  const AscendC::LocalTensor<T>& src, uint32_t length,
                                  uint32_t lead) {
  constexpr uint32_t kElements = 32 / sizeof(T);
  const uint32_t left = kElements - lead;
  const uint32_t first = left < length ? left : length;
  StoreBlocks(dst, offset, src[UbPitch<T>(lead + length)], BlockShape{1, first, first});
  if (first < length) {
    const uint32_t rest = length - first;
    StoreBlocks(dst, offset + first, src[kElements], BlockShape{1, rest, rest});
  }
}

}  // namespace rowreduce

#endif  // OP_KERNEL_COMMON_BLOCK_COPY_H_
