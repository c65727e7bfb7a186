// SPDX-License-Identifier: Apache-2.0
// All that Ascend310P and Ascend910 do otherwise: they copy whole blocks of 32 bytes only (no DataCopyPad) and have no Brcb;
// Ascend910 has no sums and no transposition of fp32 either. pipeline.h includes this.
//
// GM addresses need no alignment there, lengths do.
//   In: a row is read up to the next 32 bytes, which is what follows it in GM; ClearPads clears that before a sum. What would
//       lie past the end of the tensor is read element by element.
//   Out: nothing but the rows is written, so cores need no agreement on who writes what. A row of 32 bytes or more is stored as
//       its whole blocks, and then once more as its tail, the 32 bytes that end where it ends. Shorter rows, which lie next to
//       each other in GM, are first moved together in UB. The tiling sees to it that these have 32 bytes; only a tensor that is
//       shorter as a whole is written by SCALAR.
//
// Transposition of 16-bit words (TransDataTo5HD) does what other SoCs have instructions for. Lanes of 32 bits come through, as
// both words of a lane go the same way. It takes a few instructions for 128 rows, where SCALAR takes a dozen cycles for a lane.
#ifndef OP_KERNEL_COMMON_LEGACY_H_
#define OP_KERNEL_COMMON_LEGACY_H_

#include "common/vector_ops.h"

namespace common {

// BlocksOf describes a DataCopy of all rows. Its count is 0 where their length or the gaps between them are no whole blocks.
template <typename T>
__aicore__ inline AscendC::DataCopyParams BlocksOf(const Rows& rows, uint32_t pitch, bool toUb) {
  constexpr uint32_t kElements = kBlockElements<T>;
  const uint64_t gap = rows.count > 1 ? rows.distance - rows.length : 0;
  if (rows.length % kElements != 0 || gap % kElements != 0 || gap / kElements > UINT16_MAX ||
      rows.count > kMaxRowsPerCopy) {
    return {0, 0, 0, 0};
  }
  const uint16_t gm = static_cast<uint16_t>(gap / kElements);
  const uint16_t ub = static_cast<uint16_t>((pitch - rows.length) / kElements);
  return {static_cast<uint16_t>(rows.count), static_cast<uint16_t>(rows.length / kElements),
          toUb ? gm : ub, toUb ? ub : gm};
}

template <typename T>
__aicore__ inline void CopyIn(const LocalTensor<T>& dst, const GlobalTensor<T>& src,
                              uint64_t offset, const Rows& rows, uint32_t pitch) {
  constexpr uint32_t kElements = kBlockElements<T>;
  if (pitch == rows.length && rows.distance == rows.length) {
    AscendC::DataCopy(dst, src[offset], rows.count * rows.length);
    return;
  }
  const AscendC::DataCopyParams blocks = BlocksOf<T>(rows, pitch, true);
  if (blocks.blockCount > 0) {
    AscendC::DataCopy(dst, src[offset], blocks);
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
  // SCALAR writes from here on. VECTOR may still read the buffer's old contents, and will read the new ones next.
  PipeBarrier<PIPE_ALL>();
  for (uint32_t r = safe; r < rows.count; ++r) {
    for (uint32_t i = whole; i < rows.length; ++i) {
      dst.SetValue(r * pitch + i, src.GetValue(offset + r * rows.distance + i));
    }
  }
  PipeBarrier<PIPE_ALL>();
}

// Moves `length` elements of each row by SCALAR: from element `first` of rows `from` apart to the start of rows `to` apart.
template <typename T>
__aicore__ inline void MoveElements(const LocalTensor<T>& rows, uint32_t count, uint32_t to,
                                    uint32_t from, uint32_t first, uint32_t length) {
  PipeBarrier<PIPE_ALL>();
  for (uint32_t r = first > 0 ? 0 : 1; r < count; ++r) {
    for (uint32_t i = 0; i < length; ++i) {
      rows.SetValue(r * to + i, rows.GetValue(r * from + first + i));
    }
  }
  PipeBarrier<PIPE_ALL>();
}

// Stores the first `whole` elements of rows, a number of blocks.
template <typename T>
__aicore__ inline void StoreBlocks(const GlobalTensor<T>& dst, uint64_t offset,
                                   const LocalTensor<T>& src, const Rows& rows, uint32_t pitch,
                                   uint32_t whole) {
  for (uint32_t r = 0; r < rows.count; ++r) {
    AscendC::DataCopy(dst[offset + r * rows.distance], src[r * pitch], whole);
  }
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
    // Short rows lie without a gap in GM, and so they do in UB from here on.
    MoveElements(src, rows.count, rows.length, pitch, 0, rows.length);
    rows = Rows{1, rows.count * rows.length, 0};
    if (rows.length < kElements) {
      // The whole tensor goes through SCALAR's cache. On 910 the device compiler writes it back (no --cce-no-dcache-flush).
      GlobalTensor<T> tensor = dst;
      for (uint32_t i = 0; i < rows.length; ++i) {
        tensor.SetValue(offset + i, src.GetValue(i));
      }
#if __CCE_AICORE__ != 100
      AscendC::DataCacheCleanAndInvalid<T, AscendC::CacheLine::ENTIRE_DATA_CACHE>(tensor);
#endif
      return;
    }
  }
  const AscendC::DataCopyParams blocks = BlocksOf<T>(rows, pitch, false);
  if (blocks.blockCount > 0) {
    AscendC::DataCopy(dst[offset], src, blocks);
    return;
  }
  const uint32_t whole = rows.length / kElements * kElements;
  StoreBlocks(dst, offset, src, rows, pitch, whole);
  if (whole < rows.length) {
    // The last 32 bytes of each row move to its beginning, which is stored already.
    const uint32_t tail = rows.length - kElements;
    MoveElements(src, rows.count, pitch, pitch, tail, kElements);
    StoreBlocks(dst, offset + tail, src, rows, pitch, kElements);
  }
}

// Stores rows of at least 32 bytes. `tails` has the last 32 bytes of rows that end within a block: MakeTails.
template <typename T>
__aicore__ inline void CopyOutWithTails(const GlobalTensor<T>& dst, uint64_t offset,
                                        const LocalTensor<T>& src, const Rows& rows, uint32_t pitch,
                                        const LocalTensor<T>& tails) {
  constexpr uint32_t kElements = kBlockElements<T>;
  if (rows.length % kElements == 0) {
    CopyOut(dst, offset, src, rows, pitch);
    return;
  }
  StoreBlocks(dst, offset, src, rows, pitch, rows.length / kElements * kElements);
  PipeBarrier<PIPE_MTE3>();  // a tail overlaps bytes that are on their way
  StoreBlocks(dst, offset + rows.length - kElements, tails, rows, kElements, kElements);
}

// --- Transposition of words

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

// blocks[8 r : 8 r + 8] = sums[r] for 128 rows at a time: both reach to the end of the last 128, and 16 blocks more are used.
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
  // Instructions write between blocks of each other, and the last part has some once more, so each waits for the one before.
  for (uint32_t step = 0; step < 2; ++step) {
    for (uint32_t c = 0; c < parts; ++c) {
      const uint32_t block =
          (c + 1 == parts ? length - kLanes : c * kLanes) / 8;  // first of the part
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
  const uint32_t start = length * static_cast<uint32_t>(sizeof(T) / 2) - kWords;  // word of a tail
  WordBlocks b;
  for (uint32_t r = 0; r < count;) {
    const uint32_t left = count - r;
    const uint32_t repeats = Max(1u, Min(left / kWords, kMaxRepeat));
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

// SumBlocksByWords is SumBlocks for up to 128 rows; sums beyond them hold anything. `blocks` has the lanes of 256 blocks.
__aicore__ inline void SumBlocksByWords(const LocalTensor<float>& sums,
                                        const LocalTensor<float>& src, uint32_t apart,
                                        uint32_t rows, const LocalTensor<float>& blocks) {
  const LocalTensor<float> other = blocks[kSpreadLanes];
  if (rows < kSpreadRows) {
    AscendC::Duplicate(blocks, 0.0F, static_cast<int32_t>(kSpreadLanes));
    PipeBarrier<PIPE_V>();
  }
  AscendC::DataCopy(
      blocks, src,
      AscendC::DataCopyParams(static_cast<uint16_t>(rows), 1, static_cast<uint16_t>(apart - 1), 0));
  PipeBarrier<PIPE_V>();
  const LocalTensor<half> words = blocks.ReinterpretCast<half>();
  const LocalTensor<half> between = other.ReinterpretCast<half>();
  WordBlocks b;
  // Word w of row 8 i + k becomes word i of block 16 k + w. Then both words of lane p of all k become the lanes of eight rows:
  // lane 128 p + r is lane p of row r.
  for (uint32_t i = 0; i < kWords; ++i) {
    b.from[i] = BlockOf(words, 8 * i);
    b.to[i] = BlockOf(between, i);
  }
  MoveWords(b, 8, 1, kWords);
  PipeBarrier<PIPE_V>();
  for (uint32_t i = 0; i < kWords; ++i) {
    b.from[i] = BlockOf(between, i / 2 * kWords + i % 2);
    b.to[i] = BlockOf(words, i);
  }
  MoveWords(b, 8, 2, kWords);
  PipeBarrier<PIPE_V>();
  for (uint32_t lanes = kBlockLanes / 2; lanes > 1; lanes /= 2) {
    const bool odd = lanes == kBlockLanes / 2;
    const LocalTensor<float> from = odd ? blocks : other;
    ForRows<Op::kAdd>(odd ? other : blocks, kSpreadRows, from, 2 * kSpreadRows, from[kSpreadRows],
                      2 * kSpreadRows, lanes, kSpreadRows);
    PipeBarrier<PIPE_V>();
  }
  AscendC::Add(sums, blocks, blocks[kSpreadRows], static_cast<int32_t>(kSpreadRows));
}

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
