// SPDX-License-Identifier: Apache-2.0
// SharedWork says who does what where cores share an axis that is longer than a tile. The axis is
// cut into chunks, and these into parts, which one core or several take: a piece is the parts of a
// unit that one core takes in a round. A unit is a row, or colTile columns of a slab. All cores
// make all rounds, since they wait for each other in each. Three parts on four cores:
//
//   round     core 0            core 1            core 2            core 3
//   0         unit 0, part 0    unit 0, part 1    unit 0, part 2    unit 1, part 0    <- its sum is known after round 1
//   1         unit 1, part 2    unit 2, part 0    unit 2, part 1    unit 1, part 1
//   2         unit 3, part 1    unit 3, part 2    unit 2, part 2    unit 3, part 0
#ifndef OP_KERNEL_COMMON_SHARED_WORK_H_
#define OP_KERNEL_COMMON_SHARED_WORK_H_

#include "common/gm_copy.h"
#include "common/row_reduce_data.h"
#include "common/row_reduce_ub.h"

namespace rowreduce {

// A Work is what a core does in a round.
struct Work {
  int64_t round;
  int64_t unit;  // there is nothing to do past the last one
  int64_t part;  // the first one
  int64_t endPart;
  int64_t chunk;  // the first one
  int64_t chunks;
  int64_t resident;  // chunks that stay in UB between the passes
};

struct Chunk {
  uint64_t offset;
  Rows rows;
  uint32_t pitch;
  uint32_t unit;   // lanes that a fold keeps apart: a repeat of a row, or a row of columns
  uint32_t lead;   // lanes in front of it in its block of UB
  uint32_t count;  // lanes, with those that pad rows
  uint32_t lanes;  // the same as whole repeats, which are faster than a part of one
};

// With kAlongLanes, the axis runs along the lanes of UB: rows (B == 1). Else it runs across them:
// columns.
template <typename T, bool kAlongLanes>
struct SharedWork {
  // A chunk of a row that is no whole blocks starts on any element.
  static constexpr bool kPacks = !kWholeBlocksOnly && kAlongLanes && !kRegisters;
  // Columns that are no whole blocks lie side by side.
  static constexpr bool kSides = !kWholeBlocksOnly && !kAlongLanes;

  const RowReduceTilingData& t;
  const bool sideBySide = kSides && t.sideRows > 0;
  const bool packed = kPacks && t.reduce % kBlockElements<T> != 0;
  const int64_t axis = sideBySide ? t.sideRows : t.reduce;  // rows of a slab, or elements of a row
  const int64_t cores = AscendC::GetBlockNum();
  const int64_t units = t.outer * t.colTiles;
  const int64_t rounds = CeilDiv(units * t.share, cores);
  const int64_t chunks = CeilDiv(axis, t.chunk);        // chunks of a unit
  const int64_t parts = CeilDiv(chunks, t.partChunks);  // parts of a unit
  const int64_t partsOfCore = CeilDiv(parts, t.share);
  const uint32_t sumLanes = SumLanes();  // lanes of the sum of a part

  // Cores take turns, since the last piece of a unit is shorter than the others.
  __aicore__ inline Work WorkOf(int64_t round) const {
    const int64_t piece = round * cores + (AscendC::GetBlockIdx() + round) % cores;
    Work work;
    work.round = round;
    work.unit = piece / t.share;
    work.part = piece % t.share * partsOfCore;
    work.endPart = Min(work.part + partsOfCore, parts);
    work.chunk = work.part * t.partChunks;
    work.chunks = Min(work.endPart * t.partChunks, chunks) - work.chunk;
    work.resident = Min(work.chunks, t.resident);
    return work;
  }

  // EndOf is the round of a unit's last piece.
  __aicore__ inline int64_t EndOf(int64_t unit) const { return ((unit + 1) * t.share - 1) / cores; }

  // EndOfPart is the chunk behind the last one of a part.
  __aicore__ inline int64_t EndOfPart(int64_t part) const {
    return Min((part + 1) * t.partChunks, chunks);
  }

  // SlotOf says where the workspace has the sums of a unit.
  __aicore__ inline uint64_t SlotOf(int64_t unit) const {
    return t.share > 1 ? static_cast<uint64_t>(unit % t.slots) : 0;
  }

  __aicore__ inline Chunk ChunkOf(int64_t unit, int64_t index) const {
    const uint64_t inner = static_cast<uint64_t>(t.inner);
    const uint64_t slab = static_cast<uint64_t>(t.reduce) * inner;
    const uint64_t start = static_cast<uint64_t>(index * t.chunk);
    const uint32_t length = Shorter(axis - start, t.chunk);
    Chunk chunk;
    if constexpr (kAlongLanes) {
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
    chunk.unit = kAlongLanes ? kRepeatLanes : sideBySide ? sumLanes : chunk.pitch;
    chunk.lead = packed ? static_cast<uint32_t>(chunk.offset % kBlockElements<T>) : 0;
    chunk.count = packed ? chunk.lead + chunk.rows.length : chunk.rows.count * chunk.pitch;
    chunk.lanes = AlignUp(chunk.count, kRepeatLanes);
    return chunk;
  }

 private:
  __aicore__ inline uint32_t SumLanes() const {
    if (kAlongLanes) {
      return kBlockLanes;
    }
    return static_cast<uint32_t>(sideBySide ? PeriodOf(t.inner)
                                            : AlignUp(t.colTile, kBlockElements<T>));
  }

  __aicore__ inline static uint32_t Shorter(uint64_t left, int64_t most) {
    return static_cast<uint32_t>(Min(left, static_cast<uint64_t>(most)));
  }
};

}  // namespace rowreduce

#endif  // OP_KERNEL_COMMON_SHARED_WORK_H_
