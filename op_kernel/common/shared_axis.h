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
//   UB   ring     y and g of chunk 0 | 1 | 2 | 3 | next unit's 0 | 1
//        work     one chunk in fp32 (16-bit types), or the halves that are added up (fp32)
//        sums     a vector for each part: a lane of a row, a row of columns
//        out      two results on their way
//
// A chunk of a row lies as in the layouts Padded or Packed, rows of columns as in Columns; on Ascend 950 both are computed in
// registers. Chunks are added up in order, and sums of parts in the order "tree". UB: SharedUbOf.
#ifndef OP_KERNEL_COMMON_SHARED_AXIS_H_
#define OP_KERNEL_COMMON_SHARED_AXIS_H_

#include "common/chunk_ring.h"
#include "common/layout_columns.h"
#include "common/layout_packed.h"
#include "common/part_sums.h"
#include "common/register_rows.h"
#include "common/shared_work.h"

namespace rowreduce {

template <typename T, typename Step, bool kAlongLanes>
class Shared {
  using Sums = std::conditional_t<kAlongLanes, RowPartSums, ColumnPartSums>;
  static constexpr bool kFp32 = std::is_same_v<T, float>;
  static constexpr bool kPacks = SharedWork<T, kAlongLanes>::kPacks;
  static constexpr bool kSides = SharedWork<T, kAlongLanes>::kSides;
  // 16-bit columns have no buffers but those of their chunks, and a load waits for each.
  static constexpr bool kFreesEarly = !kFp32 && !kAlongLanes;

 public:
  __aicore__ inline Shared(TPipe* pipe, GM_ADDR y, GM_ADDR g, GM_ADDR out, GM_ADDR workspace,
                           const RowReduceTilingData& t)
      : t_(t),
        work_{t},
        operands_(y, g, out, t, static_cast<uint64_t>(t.outer * t.reduce * t.inner)),
        fp32_(static_cast<uint32_t>(t.tileLanes), Step()),
        inRegisters_(kRegisters && !work_.sideBySide),
        lanes_(static_cast<uint32_t>(t.tileLanes)),
        ring_(work_, operands_) {
    const SharedUb ub = SharedUbOf(
        SharedShape{t.tileLanes, sizeof(T), t.ring, work_.packed ? t.chunk : 0, work_.sumLanes,
                    work_.parts, kAlongLanes, t.share > 1, inRegisters_});
    pipe->InitBuffer(outQueue_, static_cast<uint8_t>(ub.out.count), ub.out.bytes);
    fp32_.Init(pipe, ub.work);
    operands_.HintInputs();
    ring_.Init(pipe, ub.in.bytes);
    if constexpr (kSides) {
      if (work_.sideBySide) {
        side_.Init(pipe, static_cast<uint32_t>(t.inner), static_cast<uint32_t>(t.sideLanes), 1);
      }
    }
    pipe->InitBuffer(part_, ub.part.bytes);
    if constexpr (kPacks) {
      if (work_.packed) {
        row_.Init(pipe, ub, static_cast<uint32_t>(t.chunk));
        firstBlock_.Init(pipe, ub.first, sizeof(T));
      }
    }
    if (ub.half.bytes > 0) {
      pipe->InitBuffer(half_, ub.half.bytes);
    }
    sums_.Init(pipe, ub, workspace, static_cast<uint32_t>(work_.parts), work_.sumLanes,
               t.share > 1);
  }

  // Where UB holds two pieces or three, a round is written after the sums of the next one or two: no core stands still
  // while sums are on their way.
  __aicore__ inline void Process() {
    for (int64_t round = 0; round < work_.rounds + t_.late; ++round) {
      const int64_t written = round - t_.late;
      if (!kFp32) {  // SCALAR has no time for it after the sums
        Drop(written);
      }
      if (round < work_.rounds) {
        SumRound(round);
      }
      if (kFp32) {
        Drop(written);
      }
      if (written >= 0) {
        WriteRound(written);
      }
    }
  }

 private:
  // Drops the data cache's lines with the sums of the unit that a round writes.
  __aicore__ inline void Drop(int64_t round) {
    if (round >= 0) {
      sums_.Drop(work_.SlotOf(work_.WorkOf(round).unit));
    }
  }

  // Makes the first pass of a round: the sums of its parts.
  __aicore__ inline void SumRound(int64_t round) {
    const Work work = work_.WorkOf(round);
    ring_.LoadAhead();
    for (int64_t part = work.part; work.unit < work_.units && part < work.endPart; ++part) {
      LocalTensor<float> sum = sums_.Open(part);
      if (inRegisters_) {
        SumInRegisters(sum, work, part);
      } else {
        SumPart(sum, work, part);
      }
      sums_.Close(work_.SlotOf(work.unit), part, sum);
    }
    sums_.Publish(round);
  }

  // sum = the sum of a part: a lane of a row, or a row of columns.
  __aicore__ inline void SumPart(const LocalTensor<float>& sum, const Work& work, int64_t part) {
    const Matrix lanes = FoldPart(work, part);
    if constexpr (!kAlongLanes) {
      AscendC::DataCopy(sum, lanes.lanes, lanes.width);
      return;
    }
    if constexpr (kPacks) {
      if (work_.packed) {
        row_.Sum(sum, lanes.lanes, work_.ChunkOf(work.unit, work.chunk).lead % kBlockLanes);
        return;
      }
    }
    SumRows(sum, lanes.lanes, lanes.pitch, lanes.width, 1, lanes.lanes, lanes.lanes);
  }

  // Adds a part up to the few lanes of a repeat, or to a row of columns.
  __aicore__ inline Matrix FoldPart(const Work& work, int64_t part) {
    const int64_t first = part * t_.partChunks;
    const uint32_t unit = work_.ChunkOf(work.unit, first).unit;
    const LocalTensor<float> sum = part_.template Get<float>();
    uint32_t width = Max(static_cast<uint32_t>(kPartLanes), unit);
    for (int64_t i = first; i < work_.EndOfPart(part); ++i) {
      LocalTensor<T> in = ring_.Next();
      const Matrix lanes = SumChunk(in, work_.ChunkOf(work.unit, i), width);
      if (i == first) {
        width = lanes.width;
        AscendC::DataCopy(sum, lanes.lanes, width);
      } else {
        AscendC::Add(sum, sum, lanes.lanes, static_cast<int32_t>(lanes.width));
      }
      PipeBarrier<PIPE_V>();
      ring_.Keep(work, i, in);
    }
    return FoldRow(sum, width, unit, unit, sum);
  }

  // Returns f(g, y) of a chunk, added up to at most `most` lanes.
  __aicore__ inline Matrix SumChunk(const LocalTensor<T>& in, const Chunk& chunk, uint32_t most) {
    const LocalTensor<float> f = fp32_.Summands(in, chunk.lanes);
    if constexpr (kAlongLanes) {
      ClearPads(f, chunk.pitch, chunk.rows.length, WholeBlocks<T>(chunk.rows.length), 1);
    }
    if constexpr (kPacks) {
      if (work_.packed) {
        return row_.Add(f, chunk.count, most);
      }
    }
    LocalTensor<float> scratch = f;
    if constexpr (kFp32) {
      scratch = half_.template Get<float>();  // f stays in the chunk's buffer
    }
    const uint32_t lanes = AlignUp(chunk.count, chunk.unit);
    if (lanes > chunk.count) {  // columns side by side end within a row
      AscendC::Duplicate(f[chunk.count], 0.0F, static_cast<int32_t>(lanes - chunk.count));
      PipeBarrier<PIPE_V>();
    }
    return FoldRow(f, lanes, chunk.unit, most, scratch);
  }

  // Makes the second pass of a round: the results of its chunks.
  __aicore__ inline void WriteRound(int64_t round) {
    const Work work = work_.WorkOf(round);
    if (work.unit >= work_.units) {
      sums_.Await(round);
      return;
    }
    for (int64_t i = 0; i < work.chunks; ++i) {
      const Chunk chunk = work_.ChunkOf(work.unit, work.chunk + i);
      const bool resident = i < work.resident;
      LocalTensor<T> in = resident ? ring_.Held(work.round, i) : ring_.Next();
      if (inRegisters_) {
        WriteInRegisters(work, chunk, in, i == 0);
      } else {
        WriteChunk(work, chunk, in, i == 0, resident);
      }
    }
  }

  __aicore__ inline void WriteChunk(const Work& work, const Chunk& chunk, LocalTensor<T>& in,
                                    bool first, bool resident) {
    const Pair pair = fp32_.Widen(in, chunk.lanes);
    // The first pass has prepared a resident fp32 chunk in place, unless it had no need to.
    if (Step::kSumOfG || !kFp32 || !resident) {
      fp32_.step_.Prepare(pair.f, pair.y, chunk.lanes);
      PipeBarrier<PIPE_V>();
    }
    if (first) {  // before a load takes this chunk's place
      sums_.Fetch(work_.EndOf(work.unit), work_.SlotOf(work.unit));
    }
    if constexpr (kFreesEarly) {
      ring_.Free(in);
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
      ring_.Free(in);
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
      if (work_.sideBySide) {
        sum_ = side_.ForRow(Matrix{sum_, work_.sumLanes, work_.sumLanes}, 1).lanes;
      }
    }
  }

  __aicore__ inline void Scale(const LocalTensor<float>& y, const Chunk& chunk) const {
    if constexpr (kAlongLanes) {
      AscendC::Muls(y, y, sum_, static_cast<int32_t>(chunk.lanes));
    } else if (work_.sideBySide) {
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
      CopyPieceOut(operands_.out_, chunk.offset, out, chunk.rows.length, chunk.lead);
    } else {
      CopyOut(operands_.out_, chunk.offset, out, chunk.rows, chunk.pitch);
    }
    outQueue_.FreeTensor(out);
  }

  // sum = the sum of a part, on Ascend 950.
  __aicore__ inline void SumInRegisters(const LocalTensor<float>& sum, const Work& work,
                                        int64_t part) {
#if OP_KERNEL_REGISTERS
    const int64_t first = part * t_.partChunks;
    for (int64_t i = first; i < work_.EndOfPart(part); ++i) {
      LocalTensor<T> in = ring_.Next();
      const Chunk chunk = work_.ChunkOf(work.unit, i);
      __ubuf__ T* y = InUb(in);
      __ubuf__ T* g = InUb(in[lanes_]);
      if constexpr (kAlongLanes) {
        RegisterRows<T, Step, true>::Sum(InUb(sum), y, g, chunk.rows.length, 1, i > first);
      } else {
        RegisterColumns<T, Step>::Sum(InUb(sum), y, g, static_cast<uint16_t>(chunk.rows.count),
                                      chunk.pitch, i > first);
      }
      PipeBarrier<PIPE_V>();
      ring_.Keep(work, i, in);
    }
#endif
  }

  __aicore__ inline void WriteInRegisters(const Work& work, const Chunk& chunk, LocalTensor<T>& in,
                                          bool first) {
#if OP_KERNEL_REGISTERS
    if (first) {
      sums_.Fetch(work_.EndOf(work.unit), work_.SlotOf(work.unit));
      sum_ = sums_.Take();
    }
    LocalTensor<T> out = outQueue_.template AllocTensor<T>();
    __ubuf__ T* y = InUb(in);
    __ubuf__ T* g = InUb(in[lanes_]);
    if constexpr (kAlongLanes) {
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
    ring_.Free(in);
    Store(out, chunk);
#endif
  }

  const RowReduceTilingData& t_;
  const SharedWork<T, kAlongLanes> work_;
  Operands<T> operands_;
  Fp32Lanes<T, Step> fp32_;
  const bool inRegisters_;
  const uint32_t lanes_;  // of an operand in a buffer
  ChunkRing<T, kAlongLanes, Step::kSumOfG> ring_;
  TQue<TPosition::VECOUT, 1> outQueue_;
  TBuf<TPosition::VECCALC> part_;
  TBuf<TPosition::VECCALC> half_;
  Mod64Row<float> row_;
  FirstBlock<float> firstBlock_;
  SideBySide<float> side_;
  Sums sums_;
  typename Sums::Sum sum_{};
};

template <typename T, typename Step, bool kAlongLanes>
__aicore__ inline void RunShared(GM_ADDR y, GM_ADDR g, GM_ADDR out, GM_ADDR workspace,
                                 const RowReduceTilingData& t) {
  TPipe pipe;
  Shared<T, Step, kAlongLanes> loop(&pipe, y, g, out, workspace, t);
  loop.Process();
}

}  // namespace rowreduce

#endif  // OP_KERNEL_COMMON_SHARED_AXIS_H_
