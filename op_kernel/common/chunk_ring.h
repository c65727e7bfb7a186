// SPDX-License-Identifier: Apache-2.0
// ChunkRing has the chunk buffers of a shared axis. Chunks that have been added up stay in theirs
// between the passes as far as the tiling says (`resident`); all other buffers load what comes
// next, also of the next unit.
#ifndef OP_KERNEL_COMMON_CHUNK_RING_H_
#define OP_KERNEL_COMMON_CHUNK_RING_H_

#include "common/row_reduce.h"
#include "common/shared_work.h"

namespace rowreduce {

// With kSumOfG, the first pass needs no y.
template <typename T, bool kAlongLanes, bool kSumOfG>
class ChunkRing {
  using WorkOfCores = SharedWork<T, kAlongLanes>;

 public:
  __aicore__ inline ChunkRing(const WorkOfCores& work, Operands<T>& operands)
      : t_(work.t),
        work_(work),
        operands_(operands),
        lanes_(static_cast<uint32_t>(work.t.tileLanes)),
        free_(work.t.ring),
        next_(work.WorkOf(0)) {}

  __aicore__ inline void Init(TPipe* pipe, uint32_t bytes) {
    pipe->InitBuffer(ring_, static_cast<uint8_t>(t_.ring), bytes);
  }

  // Returns the next chunk that has been loaded.
  __aicore__ inline LocalTensor<T> Next() { return ring_.template DeQue<T>(); }

  // Returns a resident chunk of a round.
  __aicore__ inline LocalTensor<T> Held(int64_t round, int64_t index) const {
    return held_[HeldFrom(round) + index];
  }

  // Starts the loads that come next as far as there are buffers.
  __aicore__ inline void LoadAhead() {
    while (free_ > 0 && next_.unit < work_.units) {
      const bool again = nextLoad_ >= next_.chunks;
      const int64_t index = again ? nextLoad_ - next_.chunks + next_.resident : nextLoad_;
      const Chunk chunk = work_.ChunkOf(next_.unit, next_.chunk + index);
      LocalTensor<T> in = ring_.template AllocTensor<T>();
      // Where f is g, the first pass of a chunk that is read again needs no y.
      if (!kSumOfG || again || index < next_.resident) {
        Load(in, operands_.y_, chunk);
      }
      Load(in[lanes_], operands_.g_, chunk);
      ring_.EnQue(in);
      --free_;
      if (++nextLoad_ == 2 * next_.chunks - next_.resident) {
        nextLoad_ = 0;
        next_ = work_.WorkOf(next_.round + 1);
      }
    }
  }

  __aicore__ inline void Free(LocalTensor<T>& in) {
    ring_.FreeTensor(in);
    ++free_;
    LoadAhead();
  }

  // Keeps a chunk that has been added up, or frees its buffer.
  __aicore__ inline void Keep(const Work& work, int64_t chunk, LocalTensor<T>& in) {
    const int64_t index = chunk - work.chunk;
    if (index < work.resident) {
      held_[HeldFrom(work.round) + index] = in;
    } else {
      Free(in);
    }
  }

 private:
  static constexpr uint32_t kMostRing = 8;  // event ids of a pair of pipes; each buffer takes one

  __aicore__ inline void Load(const LocalTensor<T>& in, const GlobalTensor<T>& gm,
                              const Chunk& chunk) {
    if constexpr (WorkOfCores::kPacks) {
      if (chunk.lead > 0) {
        CopyPieceIn(in, gm, chunk.offset, chunk.rows.length, chunk.lead);
        return;
      }
    }
    CopyIn(in, gm, chunk.offset, chunk.rows, chunk.pitch);
  }

  // HeldFrom is the place of a round's first resident chunk.
  __aicore__ inline int64_t HeldFrom(int64_t round) const {
    return round % (t_.late + 1) * t_.resident;
  }

  const RowReduceTilingData& t_;
  const WorkOfCores& work_;
  Operands<T>& operands_;
  const uint32_t lanes_;  // of an operand in a buffer
  int64_t free_;          // buffers without a chunk
  Work next_;             // the round of the next load
  int64_t nextLoad_ = 0;  // how many of its loads have started
  LocalTensor<T> held_[kMostRing];
  TQue<TPosition::VECIN, kMostRing> ring_;
};

}  // namespace rowreduce

#endif  // OP_KERNEL_COMMON_CHUNK_RING_H_
