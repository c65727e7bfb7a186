// SPDX-License-Identifier: Apache-2.0
// Lanes of UB moved by the transposition of 16-bit words, on SoCs before 2201: these have no Brcb and no
// DataCopyPad, 910 has no sums and no transposition of fp32 either. Whole lanes of 32 bits come through because
// two words of a lane go the same way. All of it is a few instructions for 128 rows; the scalar unit would
// take a dozen cycles for each lane.
#ifndef OP_KERNEL_COMMON_WORDS_H_
#define OP_KERNEL_COMMON_WORDS_H_

#include "kernel_operator.h"

namespace rowreduce {

using AscendC::LocalTensor;
using AscendC::PipeBarrier;

constexpr uint32_t kWords = 16;           // of a block of 32 bytes
constexpr uint32_t kTurnRows = 128;       // that are turned at once
constexpr uint32_t kTurnLanes = 8 * 128;  // fp32 lanes of their blocks

// 16 blocks each, moved by MoveWords: word w of from[i] becomes word i of to[w].
struct WordBlocks {
  uint64_t from[kWords];
  uint64_t to[kWords];
};

// The address of a block of 16 words.
__aicore__ inline uint64_t BlockOf(const LocalTensor<half>& words, uint32_t block) {
  return reinterpret_cast<uint64_t>(words[block * kWords].GetPhyAddr());
}

// `repeats` times, each so many blocks behind the one before.
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
__aicore__ inline void SpreadByWords(const LocalTensor<float>& blocks,
                                     const LocalTensor<float>& sums, uint32_t rows) {
  const uint32_t groups = (rows + kTurnRows - 1) / kTurnRows;
  const LocalTensor<half> from = sums.ReinterpretCast<half>();
  const LocalTensor<half> to = blocks.ReinterpretCast<half>();
  const uint32_t spare = groups * kTurnRows;  // blocks
  WordBlocks b;
  for (uint32_t g = 0; g < groups; ++g) {
    // Word h of sums 8 i + k becomes word i of block 2 k + h.
    for (uint32_t i = 0; i < kWords; ++i) {
      b.from[i] = BlockOf(from, g * kWords + i);
      b.to[i] = BlockOf(to, spare + i);
    }
    MoveWords(b, 1, 0, 0);
    PipeBarrier<PIPE_V>();
    // Eight times the two blocks of k: word h of sum 8 i + k is each eighth pair of words of block 8 i + k.
    for (uint32_t i = 0; i < kWords; ++i) {
      b.from[i] = BlockOf(to, spare + i % 2);
      b.to[i] = BlockOf(to, g * kTurnRows + 8 * i);
    }
    MoveWords(b, 8, 2, 1);
    PipeBarrier<PIPE_V>();
  }
}

// lanes[128 p + r] = blocks[8 r + p] of 128 blocks; spare: as many lanes.
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

// Between 16 streams of fp32, `length` lanes each, and their positions: positions[16 p + i] = streams[i * length +
// p]. A stream is whole blocks, at least 16 of them; spare: 16 streams of whole 128 lanes.
template <bool toPositions>
__aicore__ inline void TurnStreamsByWords(const LocalTensor<float>& positions,
                                          const LocalTensor<float>& streams, uint32_t length,
                                          const LocalTensor<float>& spare) {
  constexpr uint32_t kLanes = 128;  // of 16 blocks of a stream
  const LocalTensor<half> inStreams = streams.ReinterpretCast<half>();
  const LocalTensor<half> inPositions = positions.ReinterpretCast<half>();
  const LocalTensor<half> between = spare.ReinterpretCast<half>();
  const uint32_t pieces = (length + kLanes - 1) / kLanes;
  WordBlocks b;
  // What one instruction writes lies between the blocks of the next, and the last piece has some blocks once more:
  // each waits for the one before.
  for (uint32_t step = 0; step < 2; ++step) {
    for (uint32_t c = 0; c < pieces; ++c) {
      const bool last = c + 1 == pieces;
      const uint32_t block = (last ? length - kLanes : c * kLanes) / 8;  // of a stream
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

// The last 32 bytes of each row, which end within a block, on blocks of their own: pitch and length in elements.
// spare: two blocks for each row. Both reach to the end of the last 16 rows.
template <typename T>
__aicore__ inline void TailsByWords(const LocalTensor<T>& tails, const LocalTensor<T>& rows,
                                    uint32_t pitch, uint32_t length, uint32_t count,
                                    const LocalTensor<float>& spare) {
  constexpr uint32_t kMostRepeats = 255;
  const LocalTensor<half> from = rows.template ReinterpretCast<half>();
  const LocalTensor<half> between = spare.ReinterpretCast<half>();
  const LocalTensor<half> to = tails.template ReinterpretCast<half>();
  const uint32_t rowBlocks = pitch * static_cast<uint32_t>(sizeof(T)) / 32;
  const uint32_t start = length * static_cast<uint32_t>(sizeof(T) / 2) - kWords;  // of a tail
  WordBlocks b;
  for (uint32_t r = 0; r < count;) {
    const uint32_t left = count - r;
    const uint32_t groups = left / kWords;
    const uint32_t repeats = groups == 0 ? 1 : groups < kMostRepeats ? groups : kMostRepeats;
    const uint32_t most = left < kWords ? left : kWords;
    const uint32_t group = r / kWords;
    // Words of two blocks of 16 rows become 32 blocks, of which 16 are the tails' words.
    for (uint32_t second = 0; second < 2; ++second) {
      for (uint32_t i = 0; i < kWords; ++i) {
        const uint32_t row = r + (i < most ? i : most - 1);  // there are no more
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

}  // namespace rowreduce

#endif  // OP_KERNEL_COMMON_WORDS_H_
