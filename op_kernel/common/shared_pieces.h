// SPDX-License-Identifier: Apache-2.0
// SharedPieces says who does what where cores share an axis that is longer than a tile, and ChunkBuffers loads it. The axis is
// cut into chunks, and these into parts, which one core or several take: a piece is the parts of a unit that one core takes in
// a round. A unit is a row, or colTile columns of a slab. All cores make all rounds, since they wait for each other in each.
// Three parts on four cores:
//
//   round     core 0            core 1            core 2            core 3
//   0         unit 0, part 0    unit 0, part 1    unit 0, part 2    unit 1, part 0    <- its sum is known after round 1
//   1         unit 1, part 2    unit 2, part 0    unit 2, part 1    unit 1, part 1
//   2         unit 3, part 1    unit 3, part 2    unit 2, part 2    unit 3, part 0
#ifndef OP_KERNEL_COMMON_SHARED_PIECES_H_
#define OP_KERNEL_COMMON_SHARED_PIECES_H_

#include "common/row_reduce.h"

namespace rowreduce {

struct Piece {
  int64_t round;
  int64_t unit;  // there is nothing to do behind the last one
  int64_t part;  // the first one
  int64_t endPart;
  int64_t chunk;  // the first one
  int64_t chunks;
  int64_t keptChunks;  // chunks that stay in UB between the passes
};

struct Chunk {
  uint64_t offset;
  Rows rows;
  uint32_t pitch;
  uint32_t multiple;  // AddHalves: a repeat of a row, or a row of columns
  uint32_t lead;      // lanes in front of it in its block of UB
  uint32_t count;     // lanes, with those that pad rows
  uint32_t lanes;     // the same as whole repeats, which are faster than a part of one
};

// With kAr the view is AR, rows; else it is ARA, columns.
template <typename T, bool kAr>
struct SharedPieces {
  // A chunk of a row that is no whole blocks starts on any element.
  static constexpr bool kPacks = !kWholeBlocksOnly && kAr && !kRegisters;
  // Columns that are no whole blocks lie side by side.
  static constexpr bool kSides = !kWholeBlocksOnly && !kAr;

  const RowReduceTilingData& t;
  const bool sideBySide = kSides && t.sideRows > 0;
  const bool packed = kPacks && t.reduce % kBlockElements<T> != 0;
  const int64_t axis = sideBySide ? t.sideRows : t.reduce;  // rows of a slab, or elements of a row
  const int64_t cores = AscendC::GetBlockNum();
  const int64_t units = t.outer * t.colTiles;
  const int64_t rounds = CeilDiv(units * t.pieces, cores);
  const int64_t chunks = CeilDiv(axis, t.chunk);        // chunks of a unit
  const int64_t parts = CeilDiv(chunks, t.partChunks);  // parts of a unit
  const int64_t partsOfCore = CeilDiv(parts, t.pieces);
  const uint32_t sumLanes = SumLanes();  // lanes of the sum of a part

  // Each round deals pieces from another core on, since the last piece of a unit is shorter than the others.
  __aicore__ inline Piece PieceOf(int64_t round) const {
    const int64_t index = round * cores + (AscendC::GetBlockIdx() + round) % cores;
    Piece piece;
    piece.round = round;
    piece.unit = index / t.pieces;
    piece.part = index % t.pieces * partsOfCore;
    piece.endPart = Min(piece.part + partsOfCore, parts);
    piece.chunk = piece.part * t.partChunks;
    piece.chunks = Min(piece.endPart * t.partChunks, chunks) - piece.chunk;
    piece.keptChunks = Min(piece.chunks, t.keptChunks);
    return piece;
  }

  // EndOf is the round of a unit's last piece.
  __aicore__ inline int64_t EndOf(int64_t unit) const {
    return ((unit + 1) * t.pieces - 1) / cores;
  }

  // EndOfPart is the chunk behind the last one of a part.
  __aicore__ inline int64_t EndOfPart(int64_t part) const {
    return Min((part + 1) * t.partChunks, chunks);
  }

  // WorkspaceIndex says which of the units of the workspace a unit is.
  __aicore__ inline uint64_t WorkspaceIndex(int64_t unit) const {
    return t.pieces > 1 ? static_cast<uint64_t>(unit % t.workspaceUnits) : 0;
  }

  __aicore__ inline Chunk ChunkOf(int64_t unit, int64_t index) const {
    const uint64_t inner = static_cast<uint64_t>(t.inner);
    const uint64_t slab = static_cast<uint64_t>(t.reduce) * inner;
    const uint64_t start = static_cast<uint64_t>(index * t.chunk);
    const uint32_t length = Shorter(axis - start, t.chunk);
    Chunk chunk;
    if constexpr (kAr) {
      chunk.offset = unit * slab + start;
      chunk.rows = Rows{1, length, length};
    } else if (sideBySide) {
      const uint64_t from = start * t.sideLanes;
      const uint32_t count = Shorter(slab - from, length * t.sideLanes);
      chunk.offset = unit * slab + from;
      chunk.rows = Rows{1, count, count};
    } else {
      const uint64_t column = static_cast<uint64_t>(unit % t.colTiles * t.colTile);
      chunk.offset = unit / t.colTiles * slab + start * inner + column;
      chunk.rows = Rows{length, Shorter(inner - column, t.colTile), inner};
    }
    chunk.pitch = WholeBlocks<T>(chunk.rows.length);
    chunk.multiple = kAr ? kRepeatLanes : sideBySide ? sumLanes : chunk.pitch;
    chunk.lead = packed ? static_cast<uint32_t>(chunk.offset % kBlockElements<T>) : 0;
    chunk.count = packed ? chunk.lead + chunk.rows.length : chunk.rows.count * chunk.pitch;
    chunk.lanes = AlignUp(chunk.count, kRepeatLanes);
    return chunk;
  }

 private:
  __aicore__ inline uint32_t SumLanes() const {
    if (kAr) {
      return kBlockLanes;
    }
    return static_cast<uint32_t>(sideBySide ? PeriodOf(t.inner)
                                            : AlignUp(t.colTile, kBlockElements<T>));
  }

  __aicore__ inline static uint32_t Shorter(uint64_t left, int64_t most) {
    return static_cast<uint32_t>(Min(left, static_cast<uint64_t>(most)));
  }
};

// ChunkBuffers has the buffers of chunks. Chunks that have been added up stay in theirs between the passes as far as the tiling
// says (keptChunks); all other buffers load what comes next, also of the next unit. With kSumOfG, the first pass needs no y.
template <typename T, bool kAr, bool kSumOfG>
class ChunkBuffers {
  using Pieces = SharedPieces<T, kAr>;

 public:
  __aicore__ inline ChunkBuffers(const Pieces& pieces, Operands<T>& operands)
      : t_(pieces.t),
        pieces_(pieces),
        operands_(operands),
        lanes_(static_cast<uint32_t>(pieces.t.tileLanes)),
        free_(pieces.t.chunkBuffers),
        next_(pieces.PieceOf(0)) {}

  __aicore__ inline void Init(TPipe* pipe, uint32_t bytes) {
    pipe->InitBuffer(queue_, static_cast<uint8_t>(t_.chunkBuffers), bytes);
  }

  // Returns the next chunk that has been loaded.
  __aicore__ inline LocalTensor<T> Next() { return queue_.template DeQue<T>(); }

  // Returns a chunk of a round that has stayed in UB.
  __aicore__ inline LocalTensor<T> Kept(int64_t round, int64_t index) const {
    return kept_[KeptFrom(round) + index];
  }

  // Starts the loads that come next as far as there are buffers.
  __aicore__ inline void LoadAhead() {
    while (free_ > 0 && next_.unit < pieces_.units) {
      const bool again = nextLoad_ >= next_.chunks;
      const int64_t index = again ? nextLoad_ - next_.chunks + next_.keptChunks : nextLoad_;
      const Chunk chunk = pieces_.ChunkOf(next_.unit, next_.chunk + index);
      LocalTensor<T> in = queue_.template AllocTensor<T>();
      // The first pass of a chunk that is read again needs no y if f is g.
      if (!kSumOfG || again || index < next_.keptChunks) {
        Load(in, operands_.y_, chunk);
      }
      Load(in[lanes_], operands_.g_, chunk);
      queue_.EnQue(in);
      --free_;
      if (++nextLoad_ == 2 * next_.chunks - next_.keptChunks) {
        nextLoad_ = 0;
        next_ = pieces_.PieceOf(next_.round + 1);
      }
    }
  }

  __aicore__ inline void Free(LocalTensor<T>& in) {
    queue_.FreeTensor(in);
    ++free_;
    LoadAhead();
  }

  // Keeps a chunk that has been added up, or frees its buffer.
  __aicore__ inline void Keep(const Piece& piece, int64_t chunk, LocalTensor<T>& in) {
    const int64_t index = chunk - piece.chunk;
    if (index < piece.keptChunks) {
      kept_[KeptFrom(piece.round) + index] = in;
    } else {
      Free(in);
    }
  }

 private:
  static constexpr uint32_t kMostBuffers =
      8;  // event ids of a pair of pipes; each buffer takes one

  __aicore__ inline void Load(const LocalTensor<T>& in, const GlobalTensor<T>& gm,
                              const Chunk& chunk) {
    if constexpr (Pieces::kPacks) {
      if (chunk.lead > 0) {
        CopyRowIn(in, gm, chunk.offset, chunk.rows.length, chunk.lead);
        return;
      }
    }
    CopyIn(in, gm, chunk.offset, chunk.rows, chunk.pitch);
  }

  // KeptFrom is the index of a round's first kept chunk.
  __aicore__ inline int64_t KeptFrom(int64_t round) const {
    return round % (t_.roundsLate + 1) * t_.keptChunks;
  }

  const RowReduceTilingData& t_;
  const Pieces& pieces_;
  Operands<T>& operands_;
  const uint32_t lanes_;  // of an operand in a buffer
  int64_t free_;          // buffers without a chunk
  Piece next_;            // the round of the next load
  int64_t nextLoad_ = 0;  // how many of its loads have started
  LocalTensor<T> kept_[kMostBuffers];
  TQue<TPosition::VECIN, kMostBuffers> queue_;
};

}  // namespace rowreduce

#endif  // OP_KERNEL_COMMON_SHARED_PIECES_H_
