// SPDX-License-Identifier: Apache-2.0
// The loop "shared": an axis that is longer than a tile. Each core keeps the chunks of its part in UB, puts the sum of the
// part into the workspace, waits for the others, adds up the sums of all parts and writes the results of its own chunks.
// Chunks that do not stay in UB are read again by the second pass. Buffers that hold no chunk load what comes next, also of
// the next unit. One core has a whole unit where its UB holds all chunks; nothing is exchanged then. Six buffers, a unit of
// four chunks:
//
//   first pass    MTE2 loads chunk 0, 1, 2, 3 | VECTOR adds up each | chunks stay
//                 VECTOR adds up the four sums
//   second pass   VECTOR scales chunk 0 | MTE3 stores it | MTE2 loads chunk 0 of the next unit in its place | ..
//
//   UB   buffers  y and g of chunk 0 | 1 | 2 | 3 | next unit's 0 | 1
//        work     one chunk in fp32 (16-bit types), or the halves that are added up (fp32)
//        sums     a vector for each part: a lane of a row, a row of columns
//        out      two results on their way
//
// A chunk of a row lies as in the layouts Padded or Packed, rows of columns as in Columns; on Ascend 950 both are computed in
// registers. Chunks are added up in order, and sums of parts in the order "tree". UB: SharedUbOf.
#ifndef OP_KERNEL_COMMON_SHARED_AXIS_H_
#define OP_KERNEL_COMMON_SHARED_AXIS_H_

#include "common/layout_columns.h"
#include "common/layout_packed.h"
#include "common/part_sums.h"
#include "common/register_rows.h"
#include "common/shared_pieces.h"

namespace rowreduce {

template <typename T, typename Step, bool kAr>
class Shared {
  using Sums = std::conditional_t<kAr, RowPartSums, ColumnPartSums>;
  static constexpr bool kFp32 = std::is_same_v<T, float>;
  static constexpr bool kPacks = SharedPieces<T, kAr>::kPacks;
  static constexpr bool kSides = SharedPieces<T, kAr>::kSides;
  // 16-bit columns have no buffers but those of their chunks, and a load waits for each.
  static constexpr bool kFreesEarly = !kFp32 && !kAr;

 public:
  __aicore__ inline Shared(TPipe* pipe, GM_ADDR y, GM_ADDR g, GM_ADDR out, GM_ADDR workspace,
                           const RowReduceTilingData& t)
      : t_(t),
        pieces_{t},
        operands_(y, g, out, t, static_cast<uint64_t>(t.outer * t.reduce * t.inner)),
        fp32_(static_cast<uint32_t>(t.tileLanes), Step()),
        inRegisters_(kRegisters && !pieces_.sideBySide),
        lanes_(static_cast<uint32_t>(t.tileLanes)),
        buffers_(pieces_, operands_) {
    const SharedUb ub =
        SharedUbOf(SharedShape{t.tileLanes, sizeof(T), t.chunkBuffers, pieces_.packed ? t.chunk : 0,
                               pieces_.sumLanes, pieces_.parts, kAr, t.pieces > 1, inRegisters_});
    pipe->InitBuffer(outQueue_, static_cast<uint8_t>(ub.out.count), ub.out.bytes);
    fp32_.Init(pipe, ub.work);
    operands_.HintInputs();
    buffers_.Init(pipe, ub.in.bytes);
    if constexpr (kSides) {
      if (pieces_.sideBySide) {
        side_.Init(pipe, static_cast<uint32_t>(t.inner), static_cast<uint32_t>(t.sideLanes), 0);
      }
    }
    pipe->InitBuffer(part_, ub.part.bytes);
    if constexpr (kPacks) {
      if (pieces_.packed) {
        row_.Init(pipe, ub, static_cast<uint32_t>(t.chunk));
        firstBlock_.Init(pipe, ub.first, sizeof(T));
      }
    }
    if (ub.half.bytes > 0) {
      pipe->InitBuffer(half_, ub.half.bytes);
    }
    sums_.Init(pipe, ub, workspace, static_cast<uint32_t>(pieces_.parts), pieces_.sumLanes,
               t.pieces > 1);
  }

  // A round is written after the sums of the next one or two, if UB holds two pieces or three: no core stands still while sums are on their
  // way.
  __aicore__ inline void Process() {
    for (int64_t round = 0; round < pieces_.rounds + t_.roundsLate; ++round) {
      const int64_t written = round - t_.roundsLate;
      if (!kFp32) {  // SCALAR has no time for it after the sums
        Invalidate(written);
      }
      if (round < pieces_.rounds) {
        SumRound(round);
      }
      if (kFp32) {
        Invalidate(written);
      }
      if (written >= 0) {
        WriteRound(written);
      }
    }
  }

 private:
  // Makes the data cache's lines with the sums of the unit that a round writes invalid.
  __aicore__ inline void Invalidate(int64_t round) {
    if (round >= 0) {
      sums_.Invalidate(pieces_.WorkspaceIndex(pieces_.PieceOf(round).unit));
    }
  }

  // Makes the first pass of a round: the sums of its parts.
  __aicore__ inline void SumRound(int64_t round) {
    const Piece piece = pieces_.PieceOf(round);
    buffers_.LoadAhead();
    for (int64_t part = piece.part; piece.unit < pieces_.units && part < piece.endPart; ++part) {
      LocalTensor<float> sum = sums_.Open(part);
      if (inRegisters_) {
        SumInRegisters(sum, piece, part);
      } else {
        SumPart(sum, piece, part);
      }
      sums_.Close(pieces_.WorkspaceIndex(piece.unit), part, sum);
    }
    sums_.Publish(round);
  }

  // sum = the sum of a part: a lane of a row, or a row of columns.
  __aicore__ inline void SumPart(const LocalTensor<float>& sum, const Piece& piece, int64_t part) {
    const Matrix lanes = AddUpPart(piece, part);
    if constexpr (!kAr) {
      AscendC::DataCopy(sum, lanes.lanes, lanes.width);
      return;
    }
    if constexpr (kPacks) {
      if (pieces_.packed) {
        row_.Sum(sum, lanes.lanes, pieces_.ChunkOf(piece.unit, piece.chunk).lead % kBlockLanes);
        return;
      }
    }
    SumRows(sum, lanes.lanes, lanes.pitch, lanes.width, 1, lanes.lanes, lanes.lanes);
  }

  // Adds a part up to the few lanes of a repeat, or to a row of columns.
  __aicore__ inline Matrix AddUpPart(const Piece& piece, int64_t part) {
    const int64_t first = part * t_.partChunks;
    const uint32_t multiple = pieces_.ChunkOf(piece.unit, first).multiple;
    const LocalTensor<float> sum = part_.template Get<float>();
    uint32_t width = Max(static_cast<uint32_t>(kPartLanes), multiple);
    for (int64_t i = first; i < pieces_.EndOfPart(part); ++i) {
      LocalTensor<T> in = buffers_.Next();
      const Matrix lanes = SumChunk(in, pieces_.ChunkOf(piece.unit, i), width);
      if (i == first) {
        width = lanes.width;
        AscendC::DataCopy(sum, lanes.lanes, width);
      } else {
        AscendC::Add(sum, sum, lanes.lanes, static_cast<int32_t>(lanes.width));
      }
      PipeBarrier<PIPE_V>();
      buffers_.Keep(piece, i, in);
    }
    return AddHalvesOfRow(sum, width, multiple, multiple, sum);
  }

  // Returns f(g, y) of a chunk, added up to at most `most` lanes.
  __aicore__ inline Matrix SumChunk(const LocalTensor<T>& in, const Chunk& chunk, uint32_t most) {
    const LocalTensor<float> f = fp32_.Summands(in, chunk.lanes);
    if constexpr (kAr) {
      ClearPads(f, chunk.pitch, chunk.rows.length, WholeBlocks<T>(chunk.rows.length), 1);
    }
    if constexpr (kPacks) {
      if (pieces_.packed) {
        return row_.Add(f, chunk.count, most);
      }
    }
    LocalTensor<float> scratch = f;
    if constexpr (kFp32) {
      scratch = half_.template Get<float>();  // f stays in the chunk's buffer
    }
    const uint32_t lanes = AlignUp(chunk.count, chunk.multiple);
    if (lanes > chunk.count) {  // columns side by side end within a row
      AscendC::Duplicate(f[chunk.count], 0.0F, static_cast<int32_t>(lanes - chunk.count));
      PipeBarrier<PIPE_V>();
    }
    return AddHalvesOfRow(f, lanes, chunk.multiple, most, scratch);
  }

  // Makes the second pass of a round: the results of its chunks.
  __aicore__ inline void WriteRound(int64_t round) {
    const Piece piece = pieces_.PieceOf(round);
    if (piece.unit >= pieces_.units) {
      sums_.Await(round);
      return;
    }
    for (int64_t i = 0; i < piece.chunks; ++i) {
      const Chunk chunk = pieces_.ChunkOf(piece.unit, piece.chunk + i);
      const bool kept = i < piece.keptChunks;
      LocalTensor<T> in = kept ? buffers_.Kept(piece.round, i) : buffers_.Next();
      if (inRegisters_) {
        WriteInRegisters(piece, chunk, in, i == 0);
      } else {
        WriteChunk(piece, chunk, in, i == 0, kept);
      }
    }
  }

  __aicore__ inline void WriteChunk(const Piece& piece, const Chunk& chunk, LocalTensor<T>& in,
                                    bool first, bool kept) {
    const Pair pair = fp32_.Widen(in, chunk.lanes);
    // The first pass has prepared a kept fp32 chunk in place, unless it had no need to.
    if (Step::kSumOfG || !kFp32 || !kept) {
      fp32_.step_.Prepare(pair.f, pair.y, chunk.lanes);
      PipeBarrier<PIPE_V>();
    }
    if (first) {  // before a load takes this chunk's place
      sums_.Fetch(pieces_.EndOf(piece.unit), pieces_.WorkspaceIndex(piece.unit));
    }
    if constexpr (kFreesEarly) {
      buffers_.Free(in);
    }
    if (first) {
      TakeSum();
    }
    Scale(pair.y, chunk);
    PipeBarrier<PIPE_V>();
    LocalTensor<T> out = outQueue_.template AllocTensor<T>();
    if constexpr (kFreesEarly) {
      fp32_.Combine(out, pair.y, pair, chunk.lanes);
      PipeBarrier<PIPE_V>();
    } else {
      // The operands' buffer takes the fp32 results: the next chunk may overwrite the work area at once.
      fp32_.Combine(out, in.template ReinterpretCast<float>(), pair, chunk.lanes);
      buffers_.Free(in);
    }
    if constexpr (kPacks) {
      if (chunk.lead > 0) {
        PipeBarrier<PIPE_V>();
        firstBlock_.Copy(out, chunk.count, chunk.lead);
      }
    }
    Store(out, chunk);
  }

  // Takes the sum of the unit that is written.
  __aicore__ inline void TakeSum() {
    sum_ = sums_.Take();
    if constexpr (kSides) {
      if (pieces_.sideBySide) {
        sum_ = side_.ForRow(Matrix{sum_, pieces_.sumLanes, pieces_.sumLanes}, 1).lanes;
      }
    }
  }

  __aicore__ inline void Scale(const LocalTensor<float>& y, const Chunk& chunk) const {
    if constexpr (kAr) {
      AscendC::Muls(y, y, sum_, static_cast<int32_t>(chunk.lanes));
    } else if (pieces_.sideBySide) {
      const uint32_t width = static_cast<uint32_t>(t_.sideLanes);
      const uint32_t rows = chunk.count / width;
      ForRows<Op::kMul>(y, width, y, width, sum_, 0, rows, width);
      if (rows * width < chunk.count) {
        const LocalTensor<float> last = y[rows * width];
        AscendC::Mul(last, last, sum_, static_cast<int32_t>(chunk.count - rows * width));
      }
    } else {
      ForRows<Op::kMul>(y, chunk.pitch, y, chunk.pitch, sum_, 0, chunk.rows.count, chunk.pitch);
    }
  }

  __aicore__ inline void Store(LocalTensor<T>& out, const Chunk& chunk) {
    outQueue_.EnQue(out);
    out = outQueue_.template DeQue<T>();
    if (kPacks && chunk.lead > 0) {
      CopyRowOut(operands_.out_, chunk.offset, out, chunk.rows.length, chunk.lead);
    } else {
      CopyOut(operands_.out_, chunk.offset, out, chunk.rows, chunk.pitch);
    }
    outQueue_.FreeTensor(out);
  }

  // sum = the sum of a part, on Ascend 950.
  __aicore__ inline void SumInRegisters(const LocalTensor<float>& sum, const Piece& piece,
                                        int64_t part) {
#if OP_KERNEL_REGISTERS
    const int64_t first = part * t_.partChunks;
    for (int64_t i = first; i < pieces_.EndOfPart(part); ++i) {
      LocalTensor<T> in = buffers_.Next();
      const Chunk chunk = pieces_.ChunkOf(piece.unit, i);
      __ubuf__ T* y = InUb(in);
      __ubuf__ T* g = InUb(in[lanes_]);
      if constexpr (kAr) {
        RegisterRows<T, Step, true>::Sum(InUb(sum), y, g, chunk.rows.length, 1, i > first);
      } else {
        RegisterColumns<T, Step>::Sum(InUb(sum), y, g, static_cast<uint16_t>(chunk.rows.count),
                                      chunk.pitch, i > first);
      }
      PipeBarrier<PIPE_V>();
      buffers_.Keep(piece, i, in);
    }
#endif
  }

  __aicore__ inline void WriteInRegisters(const Piece& piece, const Chunk& chunk,
                                          LocalTensor<T>& in, bool first) {
#if OP_KERNEL_REGISTERS
    if (first) {
      sums_.Fetch(pieces_.EndOf(piece.unit), pieces_.WorkspaceIndex(piece.unit));
      sum_ = sums_.Take();
    }
    LocalTensor<T> out = outQueue_.template AllocTensor<T>();
    __ubuf__ T* y = InUb(in);
    __ubuf__ T* g = InUb(in[lanes_]);
    if constexpr (kAr) {
      const LocalTensor<float> sum = part_.template Get<float>();
      if (first) {
        AscendC::Duplicate(sum, sum_, static_cast<int32_t>(kBlockLanes));
        PipeBarrier<PIPE_V>();
      }
      RegisterRows<T, Step, true>::Combine(InUb(out), InUb(sum), y, g, chunk.rows.length, 1);
    } else {
      RegisterColumns<T, Step>::Combine(InUb(out), InUb(sum_), y, g,
                                        static_cast<uint16_t>(chunk.rows.count), chunk.pitch);
    }
    PipeBarrier<PIPE_V>();
    buffers_.Free(in);
    Store(out, chunk);
#endif
  }

  const RowReduceTilingData& t_;
  const SharedPieces<T, kAr> pieces_;
  Operands<T> operands_;
  Fp32Lanes<T, Step> fp32_;
  const bool inRegisters_;
  const uint32_t lanes_;  // of an operand in a buffer
  ChunkBuffers<T, kAr, Step::kSumOfG> buffers_;
  TQue<TPosition::VECOUT, 1> outQueue_;
  TBuf<TPosition::VECCALC> part_;
  TBuf<TPosition::VECCALC> half_;
  Mod64Row<float> row_;
  FirstBlock<float> firstBlock_;
  SideBySide<float> side_;
  Sums sums_;
  typename Sums::Sum sum_{};
};

template <typename T, typename Step, bool kAr>
__aicore__ inline void RunShared(GM_ADDR y, GM_ADDR g, GM_ADDR out, GM_ADDR workspace,
                                 const RowReduceTilingData& t) {
  TPipe pipe;
  Shared<T, Step, kAr> loop(&pipe, y, g, out, workspace, t);
  loop.Process();
}

}  // namespace rowreduce

#endif  // OP_KERNEL_COMMON_SHARED_AXIS_H_
