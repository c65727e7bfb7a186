// SPDX-License-Identifier: Apache-2.0
// This file has all that Ascend310P and Ascend910 do otherwise: they copy whole blocks only
// (legacy_copy.h) and have no Brcb; Ascend910 has no sums and no transposition of fp32 either.
// gm_copy.h includes it.
//
// Transposition of 16-bit words (TransDataTo5HD) does what other SoCs have instructions for. Lanes
// of 32 bits come through, because both words of a lane go the same way. It takes a few
// instructions for 128 rows; the scalar unit would take a dozen cycles for each lane.
#ifndef OP_KERNEL_COMMON_LEGACY_H_
#define OP_KERNEL_COMMON_LEGACY_H_

#include "common/legacy_copy.h"

namespace common {

constexpr uint32_t kWords = 16;             // words of a block of 32 bytes
constexpr uint32_t kSpreadLanes = 8 * 128;  // fp32 lanes of the blocks of kSpreadRows rows

// MoveWords moves 16 blocks to 16 others: word w of from[i] becomes word i of to[w].
struct WordBlocks {
  uint64_t from[kWords];
  uint64_t to[kWords];
};

// BlockOf is the address of a block of 16 words.
__aicore__ inline uint64_t BlockOf(const LocalTensor<half>& words, uint32_t block) {
  return AddressOf(words[block * kWords]);
}

// Moves words `repeats` times, each time `fromStep` and `toStep` blocks further on.
__aicore__ inline void MoveWords(WordBlocks& blocks, uint32_t repeats, uint32_t fromStep,
                                 uint32_t toStep) {
  const bool one = repeats == 1;  // strides would shift the start of a single repeat
  AscendC::TransDataTo5HD<half>(
      blocks.to, blocks.from,
      AscendC::TransDataTo5HDParams(false, false, static_cast<uint8_t>(repeats),
                                    static_cast<uint16_t>(one ? 0 : toStep),
                                    static_cast<uint16_t>(one ? 0 : fromStep)));
}

// blocks[8 r : 8 r + 8] = sums[r] for 128 rows at a time: sums and blocks reach to the end of the last 128,
// and 16 blocks behind that are overwritten.
__aicore__ inline void SpreadSums(const LocalTensor<float>& blocks, const LocalTensor<float>& sums,
                                  uint32_t rows) {
  const uint32_t groups = CeilDiv(rows, kSpreadRows);
  const LocalTensor<half> from = sums.ReinterpretCast<half>();
  const LocalTensor<half> to = blocks.ReinterpretCast<half>();
  const uint32_t spare = groups * kSpreadRows;  // blocks
  WordBlocks b;
  for (uint32_t g = 0; g < groups; ++g) {
    // Word h of sums 8 i + k becomes word i of block 2 k + h.
    for (uint32_t i = 0; i < kWords; ++i) {
      b.from[i] = BlockOf(from, g * kWords + i);
      b.to[i] = BlockOf(to, spare + i);
    }
    MoveWords(b, 1, 0, 0);
    PipeBarrier<PIPE_V>();
    // Each pair of blocks is read eight times: all lanes of block 8 i + k become sum 8 i + k.
    for (uint32_t i = 0; i < kWords; ++i) {
      b.from[i] = BlockOf(to, spare + i % 2);
      b.to[i] = BlockOf(to, g * kSpreadRows + 8 * i);
    }
    MoveWords(b, 8, 2, 1);
    PipeBarrier<PIPE_V>();
  }
}

// lanes[128 p + r] = blocks[8 r + p] of 128 blocks. `spare` has as many lanes.
__aicore__ inline void BlocksToLanesByWords(const LocalTensor<float>& lanes,
                                            const LocalTensor<float>& blocks,
                                            const LocalTensor<float>& spare) {
  const LocalTensor<half> from = blocks.ReinterpretCast<half>();
  const LocalTensor<half> between = spare.ReinterpretCast<half>();
  const LocalTensor<half> to = lanes.ReinterpretCast<half>();
  WordBlocks b;
  // Word w of row 8 i + k becomes word i of block 16 k + w.
  for (uint32_t i = 0; i < kWords; ++i) {
    b.from[i] = BlockOf(from, 8 * i);
    b.to[i] = BlockOf(between, i);
  }
  MoveWords(b, 8, 1, kWords);
  PipeBarrier<PIPE_V>();
  // Both words of lane p of all k become the lanes of eight rows.
  for (uint32_t i = 0; i < kWords; ++i) {
    b.from[i] = BlockOf(between, i / 2 * kWords + i % 2);
    b.to[i] = BlockOf(to, i);
  }
  MoveWords(b, 8, 2, kWords);
  PipeBarrier<PIPE_V>();
}

// Moves 16 streams of fp32, `length` lanes each, to their positions or back:
// positions[16 p + i] = streams[i * length + p]. A stream is whole blocks, at least 16 of them. `spare` has room for 16
// streams, each rounded up to 128 lanes.
template <bool toPositions>
__aicore__ inline void TransposeByWords(const LocalTensor<float>& positions,
                                        const LocalTensor<float>& streams, uint32_t length,
                                        const LocalTensor<float>& spare) {
  constexpr uint32_t kLanes = 128;  // lanes of 16 blocks of a stream
  const LocalTensor<half> inStreams = streams.ReinterpretCast<half>();
  const LocalTensor<half> inPositions = positions.ReinterpretCast<half>();
  const LocalTensor<half> between = spare.ReinterpretCast<half>();
  const uint32_t parts = CeilDiv(length, kLanes);
  WordBlocks b;
  // Instructions write between the blocks of each other, and the last part has some blocks once
  // more, so each waits for the one before it.
  for (uint32_t step = 0; step < 2; ++step) {
    for (uint32_t c = 0; c < parts; ++c) {
      const bool last = c + 1 == parts;
      const uint32_t block = (last ? length - kLanes : c * kLanes) / 8;  // first of the part
      if ((step == 0) == toPositions) {
        // Word w of block i of a stream is word i of block w between, for one stream after the other.
        for (uint32_t i = 0; i < kWords; ++i) {
          (toPositions ? b.from : b.to)[i] = BlockOf(inStreams, block + i);
          (toPositions ? b.to : b.from)[i] = BlockOf(between, c * kWords * kWords + i);
        }
        MoveWords(b, kWords, toPositions ? length / 8 : kWords, toPositions ? kWords : length / 8);
        PipeBarrier<PIPE_V>();
      } else {
        // Both words of lane e of eight streams are the lanes of position 8 i + e.
        for (uint32_t eight = 0; eight < 2; ++eight) {
          for (uint32_t i = 0; i < kWords; ++i) {
            (toPositions ? b.from : b.to)[i] =
                BlockOf(between, (c * kWords + eight * 8 + i / 2) * kWords + i % 2);
            (toPositions ? b.to : b.from)[i] = BlockOf(inPositions, (block + i) * kWords + eight);
          }
          MoveWords(b, 8, 2, 2);
          PipeBarrier<PIPE_V>();
        }
      }
    }
  }
}

// Moves the last 32 bytes of rows that end within a block to blocks of their own. Pitch and length count elements. `spare`
// has two blocks for each row; it and `tails` reach to the end of the last 16 rows.
template <typename T>
__aicore__ inline void MakeTails(const LocalTensor<T>& tails, const LocalTensor<T>& rows,
                                 uint32_t pitch, uint32_t length, uint32_t count,
                                 const LocalTensor<float>& spare) {
  if (length % kBlockElements<T> == 0) {
    return;
  }
  const LocalTensor<half> from = rows.template ReinterpretCast<half>();
  const LocalTensor<half> between = spare.ReinterpretCast<half>();
  const LocalTensor<half> to = tails.template ReinterpretCast<half>();
  const uint32_t rowBlocks = pitch * static_cast<uint32_t>(sizeof(T)) / kBlockBytes;
  // The first word of a tail.
  const uint32_t start = length * static_cast<uint32_t>(sizeof(T) / 2) - kWords;
  WordBlocks b;
  for (uint32_t r = 0; r < count;) {
    const uint32_t left = count - r;
    const uint32_t groups = left / kWords;
    const uint32_t repeats = groups == 0 ? 1 : Min(groups, kMaxRepeat);
    const uint32_t most = Min(left, kWords);
    const uint32_t group = r / kWords;
    // Words of two blocks of 16 rows become 32 blocks, of which 16 are the tails' words.
    for (uint32_t second = 0; second < 2; ++second) {
      for (uint32_t i = 0; i < kWords; ++i) {
        const uint32_t row = r + Min(i, most - 1);  // no row follows the last one
        b.from[i] = BlockOf(from, row * rowBlocks + start / kWords + second);
        b.to[i] = BlockOf(between, (2 * group + second) * kWords + i);
      }
      MoveWords(b, repeats, kWords * rowBlocks, 2 * kWords);
    }
    PipeBarrier<PIPE_V>();
    for (uint32_t i = 0; i < kWords; ++i) {
      b.from[i] = BlockOf(between, 2 * group * kWords + start % kWords + i);
      b.to[i] = BlockOf(to, group * kWords + i);
    }
    MoveWords(b, repeats, 2 * kWords, kWords);
    r += repeats * kWords;
  }
}

#if OP_KERNEL_NO_FLOAT_REDUCE
// SumBlocksByWords is SumBlocks for up to 128 rows; sums beyond them hold anything. `spare` has the
// lanes of 256 blocks.
__aicore__ inline void SumBlocksByWords(const LocalTensor<float>& sums,
                                        const LocalTensor<float>& src, uint32_t apart,
                                        uint32_t rows, const LocalTensor<float>& spare) {
  const LocalTensor<float> blocks = spare;
  const LocalTensor<float> other = spare[kSpreadLanes];
  if (rows < kSpreadRows) {
    AscendC::Duplicate(blocks, 0.0F, static_cast<int32_t>(kSpreadLanes));
    PipeBarrier<PIPE_V>();
  }
  AscendC::DataCopy(
      blocks, src,
      AscendC::DataCopyParams(static_cast<uint16_t>(rows), 1, static_cast<uint16_t>(apart - 1), 0));
  PipeBarrier<PIPE_V>();
  BlocksToLanesByWords(blocks, blocks, other);
  for (uint32_t lanes = kBlockLanes / 2; lanes > 1; lanes /= 2) {
    const bool odd = lanes == kBlockLanes / 2;
    const LocalTensor<float> from = odd ? blocks : other;
    ForRows<Op::kAdd>(odd ? other : blocks, kSpreadRows, from, 2 * kSpreadRows, from[kSpreadRows],
                      2 * kSpreadRows, lanes, kSpreadRows);
    PipeBarrier<PIPE_V>();
  }
  AscendC::Add(sums, blocks, blocks[kSpreadRows], static_cast<int32_t>(kSpreadRows));
}
#endif

// rows[r, length:] = 0 up to the end of the last block of each row: lanes that pad a row take part in its sum. `padded` is
// the length in whole blocks of the tensor's type.
__aicore__ inline void ClearPads(const LocalTensor<float>& rows, uint32_t pitch, uint32_t length,
                                 uint32_t padded, uint32_t count) {
  if (length < padded) {
    const uint32_t first = length / kBlockLanes * kBlockLanes;
    uint64_t mask[2] = {((1ull << (padded - first)) - 1) & ~((1ull << (length - first)) - 1), 0};
    const uint32_t blocks = pitch / kBlockLanes;
    const bool atOnce = blocks <= kMaxRepeatStride;
    const uint32_t step = atOnce ? kMaxRepeat : 1;
    for (uint32_t r = 0; r < count; r += step) {
      AscendC::Duplicate(rows[r * pitch + first], 0.0F, mask, Bits8(Min(step, count - r)), 1,
                         Bits8(atOnce ? blocks : 0));
    }
  }
  PipeBarrier<PIPE_V>();
}

}  // namespace common

#endif  // OP_KERNEL_COMMON_LEGACY_H_
