// SPDX-License-Identifier: Apache-2.0
// These functions transpose 16 streams of elements in UB, each of which starts on a block, by
// TransDataTo5HD in the form that takes addresses. (CANN's CPU debug check of the form with tensors
// wants a whole repeat stride behind the last repeat.)
#ifndef OP_KERNEL_COMMON_TRANSPOSE_H_
#define OP_KERNEL_COMMON_TRANSPOSE_H_

#include "common/arch.h"

namespace common {

// positions[16 p + i] = streams[i * length + p]
template <typename B>
__aicore__ inline void StreamsToLanes(const LocalTensor<B>& positions,
                                      const LocalTensor<B>& streams, uint32_t length) {
  constexpr uint32_t kElements = kBlockBytes / sizeof(B);
  uint64_t to[kStreams];
  uint64_t from[kStreams];
  for (uint32_t i = 0; i < kStreams; ++i) {
    to[i] = AddressOf(positions[i * kElements]);
    from[i] = AddressOf(streams[i * length]);
  }
  const uint32_t repeats = length / kElements;
  const bool one = repeats == 1;  // strides would shift the start of a single repeat
  AscendC::TransDataTo5HD<B>(
      to, from,
      AscendC::TransDataTo5HDParams(false, false, Bits8(repeats),
                                    static_cast<uint16_t>(one ? 0 : kStreams),
                                    static_cast<uint16_t>(one ? 0 : 1)));
}

// lanes[128 g + 16 p + i] = blocks[128 g + 8 i + p]: 16 blocks of fp32 each become 8 vectors of 16 lanes.
__aicore__ inline void BlocksToLanes(const LocalTensor<float>& lanes,
                                     const LocalTensor<float>& blocks, uint32_t groups) {
  uint64_t to[kStreams];
  uint64_t from[kStreams];
  for (uint32_t i = 0; i < kStreams; ++i) {
    to[i] = AddressOf(lanes[i * kBlockLanes]);
    from[i] = AddressOf(blocks[i * kBlockLanes]);
  }
  const uint16_t apart = groups == 1 ? 0 : kStreams;  // as in StreamsToLanes
  AscendC::TransDataTo5HD<float>(
      to, from, AscendC::TransDataTo5HDParams(false, false, Bits8(groups), apart, apart));
}

// This form takes the first blocks of at most 16 rows.
__aicore__ inline void BlocksToLanes(const LocalTensor<float>& lanes,
                                     const LocalTensor<float>& rows, uint32_t pitch,
                                     uint32_t count) {
  uint64_t to[kStreams];
  uint64_t from[kStreams];
  for (uint32_t i = 0; i < kStreams; ++i) {
    to[i] = AddressOf(lanes[i * kBlockLanes]);
    from[i] = AddressOf(rows[Min(i, count - 1) * pitch]);
  }
  AscendC::TransDataTo5HD<float>(to, from, AscendC::TransDataTo5HDParams(false, false, 1, 0, 0));
}

// streams[i * length + p] = positions[16 p + i] for 16 * repeats positions. One instruction makes as many streams as a
// block has elements.
template <typename B>
__aicore__ inline void LanesToStreams(const LocalTensor<B>& streams,
                                      const LocalTensor<B>& positions, uint32_t length,
                                      uint32_t repeats) {
  constexpr uint32_t kElements = kBlockBytes / sizeof(B);
  // Blocks of a position, and of 16 elements of a stream.
  constexpr uint32_t kBlocks = kStreams / kElements;
  const bool one = repeats == 1;
  for (uint32_t part = 0; part < kBlocks; ++part) {
    uint64_t to[kStreams];
    uint64_t from[kStreams];
    for (uint32_t i = 0; i < kStreams; ++i) {
      const uint32_t stream = part * kElements + i / kBlocks;
      to[i] = AddressOf(streams[stream * length + i % kBlocks * kElements]);
      from[i] = AddressOf(positions[i * kStreams + part * kElements]);
    }
    AscendC::TransDataTo5HD<B>(
        to, from,
        AscendC::TransDataTo5HDParams(false, false, Bits8(repeats),
                                      static_cast<uint16_t>(one ? 0 : kBlocks),
                                      static_cast<uint16_t>(one ? 0 : kStreams * kBlocks)));
  }
}

// This form takes all positions of the streams.
template <typename B>
__aicore__ inline void LanesToStreams(const LocalTensor<B>& streams,
                                      const LocalTensor<B>& positions, uint32_t length) {
  LanesToStreams(streams, positions, length, length / kStreams);
  if (length % kStreams != 0) {  // the last 16 positions, some of them once more
    const uint32_t last = length - kStreams;
    PipeBarrier<PIPE_V>();
    LanesToStreams(streams[last], positions[last * kStreams], length, 1);
  }
}

}  // namespace common

#endif  // OP_KERNEL_COMMON_TRANSPOSE_H_
