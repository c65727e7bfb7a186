// SPDX-License-Identifier: Apache-2.0
// What host and device both know of a row reduction: tiling keys, tiling data, and the buffers in UB, one struct for each layout.
// The kernel makes its buffers from such a struct, and the tiling adds them up.
#ifndef OP_HOST_COMMON_ROW_REDUCE_DATA_H_
#define OP_HOST_COMMON_ROW_REDUCE_DATA_H_

#include <cstdint>

#include "common/sizes.h"
#include "common/tuning.h"

// A tiling key names the layout. The loop is full load, but for the two SHARED keys. Keys are
// macros because CANN's op compiler reads them from the preprocessed text.
#define ROW_REDUCE_PADDED 1          // AR, layout_padded.h
#define ROW_REDUCE_SHARED_ROWS 2     // AR, shared_axis.h
#define ROW_REDUCE_COLUMNS 3         // ARA, layout_columns.h
#define ROW_REDUCE_SHARED_COLUMNS 4  // ARA, shared_axis.h
#define ROW_REDUCE_TRANSPOSED 5      // AR and ARA, layout_transposed.h
#define ROW_REDUCE_PACKED 6          // AR, layout_packed.h
#define ROW_REDUCE_REGISTERS 7       // AR on Ascend 950, layout_registers.h

// A unit is a row, a slab [R, B], or colTile columns of a slab. With full load, core c has coreUnits of them, one more if
// c < extraCores. Where cores share an axis, it is cut into chunks, of which partChunks are a part. The parts of a unit are
// `pieces` equal pieces, and in each round all cores take the next pieces, one each.
#define ROW_REDUCE_TILING_FIELDS(FIELD)                                              \
  FIELD(outer)           /* A */                                                     \
  FIELD(reduce)          /* R */                                                     \
  FIELD(inner)           /* B */                                                     \
  FIELD(colTiles)        /* column tiles of a slab */                                \
  FIELD(colTile)         /* columns of a unit, 0 where B == 1 */                     \
  FIELD(coreUnits)       /* units of a core */                                       \
  FIELD(extraCores)      /* cores that have one more */                              \
  FIELD(tileUnits)       /* units of a tile */                                       \
  FIELD(tileLanes)       /* elements of room for one operand in a buffer */          \
  FIELD(sideRows)        /* rows of a slab whose columns lie side by side, else 0 */ \
  FIELD(sideLanes)       /* lanes of such a row */                                   \
  FIELD(inputsBypassL2)  /* leading tiles of a core whose inputs bypass L2 */        \
  FIELD(resultsBypassL2) /* leading tiles whose results do */                        \
  FIELD(chunk)           /* elements or rows along R of a chunk, 0 with full load */ \
  FIELD(chunkBuffers)    /* buffers of a core, of a chunk each */                    \
  FIELD(keptChunks)      /* chunks that stay in UB between the passes */             \
  FIELD(partChunks)      /* chunks of a part */                                      \
  FIELD(pieces)          /* pieces of a unit */                                      \
  FIELD(roundsLate)      /* rounds from the sums of a piece to its results */        \
  FIELD(workspaceUnits)  /* units whose sums of parts the workspace holds at a time */

struct RowReduceTilingData {
#define ROW_REDUCE_MEMBER(name) int64_t name;
  ROW_REDUCE_TILING_FIELDS(ROW_REDUCE_MEMBER)
#undef ROW_REDUCE_MEMBER
};

namespace rowreduce {

using namespace common;

// A work area for two fp32 operands has kWorkApart lanes to spare. f starts half of them further
// from y than a tile is long, so that the blocks of both that one instruction reads lie in
// different bank groups of UB.
constexpr int64_t kWorkApart = 128;
// A load of registers may read up to kBehindRegisters bytes behind the last element.
constexpr int64_t kBehindRegisters = 256 + 32;

// A period is the fewest lanes that are whole blocks of fp32 and a multiple of `lanes`.
HOST_AND_DEVICE int64_t PeriodOf(int64_t lanes) {
  int64_t period = lanes;
  while (period % kBlockLanes != 0) {
    period *= 2;
  }
  return period;
}

// FitsStride says whether one instruction reaches rows that start on the same lane of a block: a
// repeat stride, in blocks, has 8 bits as the number of repeats has.
HOST_AND_DEVICE bool FitsStride(int64_t length) {
  return PeriodOf(length) <= kMaxRepeat * kBlockLanes;
}

// PartialCount is the number of partial sums of a row (sum_mod64.h): 64, or a larger power of two up to
// `most` and half of the row.
HOST_AND_DEVICE int64_t PartialCount(int64_t length, int64_t most) {
  int64_t partialCount = kRepeatLanes;
  while (partialCount < most && 4 * partialCount <= length) {
    partialCount *= 2;
  }
  return partialCount;
}

// TilePartialCount is the number of partial sums of a row of a tile.
HOST_AND_DEVICE int64_t TilePartialCount(int64_t length) {
  return FitsStride(length) ? kRepeatLanes : PartialCount(length, kTileModulus);
}

// TileShape describes a tile whose operands have room for `lanes` elements each.
struct TileShape {
  int64_t reduce;  // elements of a row
  int64_t units;   // rows or slabs
  int64_t lanes;
  int64_t elementBytes;
  bool wholeBlocksOnly;  // Ascend310P and Ascend910
};

// WorkOf is the work area for y and f of a tile in fp32, where GM holds 16-bit types.
HOST_AND_DEVICE UbBuffer WorkOf(int64_t lanes, int64_t elementBytes) {
  return Buffer(elementBytes < kFloatBytes ? (2 * lanes + kWorkApart) * kFloatBytes : 0);
}

// RowsUb is for the layouts Padded (layout_padded.h) and Packed (layout_packed.h).
struct RowsUb {
  UbBuffer in;          // y and g
  UbBuffer out;         // the results, and behind them the tails of rows (legacy.h)
  UbBuffer work;        // y and f in fp32
  UbBuffer sums;        // sums of rows, a lane each
  UbBuffer blocks;      // sums of rows, a block each
  UbBuffer tails;       // scratch in which tails are made
  UbBuffer partials;    // partial sums of each row, modulo 64 or more
  UbBuffer lasts;       // the last eight partial sums of each row
  UbBuffer transposed;  // the same, transposed
  UbBuffer offsets;     // byte offsets of a block's elements

  template <typename Visit>
  void ForEach(const Visit& visit) const {
    visit("in (y, g)", in);
    visit("out", out);
    visit("f32 work", work);
    visit("row sums", sums);
    visit("row sums as blocks", blocks);
    visit("tails", tails);
    visit("partial sums", partials);
    visit("last partial sums", lasts);
    visit("transposed sums", transposed);
    visit("lane offsets", offsets);
  }
};

HOST_AND_DEVICE RowsUb RowsUbOf(const TileShape& tile, bool packed) {
  const bool mod64 = tile.reduce % kBlockLanes != 0;
  const bool tails = tile.wholeBlocksOnly && tile.reduce * tile.elementBytes % kBlockBytes != 0;
  const int64_t tailBytes = tails ? AlignUp(tile.units, kStreams) * kBlockBytes : 0;
  const int64_t rows = AlignUp(tile.units, tile.wholeBlocksOnly ? kSpreadRows : kStreams);
  RowsUb ub;
  ub.in = Buffers(2, 2 * tile.lanes * tile.elementBytes);
  // A second output buffer would hide little of the time that a store takes. A larger tile saves
  // more.
  ub.out = Buffer(tile.lanes * tile.elementBytes + tailBytes);
  ub.work = WorkOf(tile.lanes, tile.elementBytes);
  ub.sums = Buffer(rows * kFloatBytes);
  ub.blocks = Buffer((rows + (tile.wholeBlocksOnly ? kSpreadRows : 0)) * kBlockBytes);
  ub.tails = Buffer(2 * tailBytes);
  if (mod64 && !tile.wholeBlocksOnly) {
    // SumFewPartials reads what lies behind a single row.
    const int64_t sums = FitsStride(tile.reduce) ? Max(tile.units, 2) : tile.units;
    ub.partials = Buffer(sums * TilePartialCount(tile.reduce) * kFloatBytes);
    ub.lasts = Buffer(AlignUp(tile.units, kStreams) * kBlockBytes);
    ub.transposed = ub.lasts;
  }
  ub.offsets = Buffer(packed ? kStreams * kFloatBytes : 0);
  return ub;
}

// MaskUbOf is the mask beside a tile of rows. A packed run of mask rows may start and end within a
// block. Only the first and the last run of a tile may have fewer than kMaskRun rows.
HOST_AND_DEVICE UbBuffer MaskUbOf(const TileShape& tile, bool packed) {
  const int64_t runs = tile.units / kMaskRun + 2;
  return Buffers(2, packed ? AlignUp(tile.units * tile.reduce, kBlockBytes) + runs * 2 * kBlockBytes
                           : tile.units * AlignUp(tile.reduce, kBlockBytes));
}

// SideBySideUb is for columns that lie side by side (layout_columns.h).
struct SideBySideUb {
  UbBuffer sums;     // sums of columns, for each slab a row of them
  UbBuffer periods;  // transposed periods of 16 slabs, or a period two times in a row and rotated
  UbBuffer offsets;  // byte offsets of lanes

  template <typename Visit>
  void ForEach(const Visit& visit) const {
    visit("sums of columns", sums);
    visit("periods", periods);
    visit("lane offsets", offsets);
  }
};

// SideBySideUbOf is for `columns` columns in tiles of `slabs` slabs. Where cores share an axis, that is 0, and the columns form
// rows of `width` lanes.
HOST_AND_DEVICE SideBySideUb SideBySideUbOf(int64_t columns, int64_t width, int64_t slabs) {
  const int64_t period = PeriodOf(columns);
  SideBySideUb ub;
  if (slabs == 0) {
    ub.sums = Buffer(width * kFloatBytes);
    ub.periods = Buffer(3 * period * kFloatBytes);
    ub.offsets = Buffer(period * kFloatBytes);
  } else {
    ub.sums = Buffer(slabs * (period + kScaledLanes) * kFloatBytes);
    ub.periods = Buffer(period > columns ? Max(period, kStreams) * kStreams * kFloatBytes : 0);
  }
  return ub;
}

// ColumnsInRegisters says whether columns are added up in registers (Ascend 950). Fewer columns
// than kRegisterColumns would fill too little of one.
HOST_AND_DEVICE bool ColumnsInRegisters(bool registers, int64_t columns, int64_t sideRows) {
  return registers && sideRows == 0 && columns >= kRegisterColumns;
}

// ColumnsUbOf is for the layout Columns (layout_columns.h), beside SideBySideUb.
HOST_AND_DEVICE TileUb ColumnsUbOf(const TileShape& tile, bool inRegisters) {
  TileUb ub;
  ub.in = Buffers(2, 2 * tile.lanes * tile.elementBytes + (inRegisters ? kBehindRegisters : 0));
  ub.out = Buffer(tile.lanes * tile.elementBytes);
  ub.work = inRegisters ? Buffer(0) : WorkOf(tile.lanes, tile.elementBytes);
  return ub;
}

// TransposedUbOf is for the layout Transposed (layout_transposed.h).
HOST_AND_DEVICE TileUb TransposedUbOf(const TileShape& tile) {
  TileUb ub;
  ub.in = Buffers(2, 2 * tile.lanes * tile.elementBytes);
  ub.out = Buffers(2, tile.lanes * tile.elementBytes +
                          (tile.wholeBlocksOnly ? kStreams * kBlockBytes : 0));  // tails of streams
  ub.work = Buffer(2 * tile.lanes * kFloatBytes);
  return ub;
}

// LiesFlat says whether rows are so short that a tile is computed as one run of elements, in which
// only the sums look at rows.
HOST_AND_DEVICE bool LiesFlat(int64_t reduce, int64_t elementBytes) {
  return reduce * elementBytes <= kFlatRowBytes;
}

// RegistersUbOf is for the layout Registers (layout_registers.h). The work area has the sums of
// rows. For flat rows it has a sum and, of 16-bit types, f for each element.
HOST_AND_DEVICE TileUb RegistersUbOf(const TileShape& tile) {
  const int64_t copies = tile.elementBytes < kFloatBytes ? 2 : 1;
  TileUb ub;
  ub.in = Buffers(2, 2 * tile.lanes * tile.elementBytes + kBehindRegisters);
  ub.out = Buffers(2, tile.lanes * tile.elementBytes);
  ub.work = Buffer(LiesFlat(tile.reduce, tile.elementBytes)
                       ? copies * tile.lanes * kFloatBytes + kBehindRegisters
                       : tile.units * kFloatBytes);
  return ub;
}

// SharedShape describes an axis that cores share (shared_axis.h). SideBySideUb comes beside it.
struct SharedShape {
  int64_t lanes;  // elements of room for a chunk
  int64_t elementBytes;
  int64_t chunkBuffers;
  int64_t chunk;     // elements of a row that is packed, else 0
  int64_t sumLanes;  // lanes of the sum of a part
  int64_t parts;
  bool ar;           // B == 1
  bool shared;       // several cores share a unit
  bool inRegisters;  // computed in registers: Ascend 950
};

struct SharedUb {
  UbBuffer in;
  UbBuffer out;
  UbBuffer work;
  UbBuffer half;      // half a chunk of fp32: the scratch of its sum
  UbBuffer partials;  // partial sums of a packed row
  UbBuffer twice;     // 64 partial sums, two times in a row, and rotated
  UbBuffer offsets;   // byte offsets of lanes
  UbBuffer first;     // byte offsets of a block's elements
  UbBuffer part;      // the sum of a part, before it is added up to few lanes
  UbBuffer sums;      // sums of all parts, or of the unit
  UbBuffer all;       // sums of all parts, from the workspace
  UbBuffer mine;      // sums of parts on their way to the workspace

  template <typename Visit>
  void ForEach(const Visit& visit) const {
    visit("in (y, g)", in);
    visit("out", out);
    visit("f32 work", work);
    visit("half a chunk", half);
    visit("partial sums", partials);
    visit("rotated partial sums", twice);
    visit("lane offsets", offsets);
    visit("element offsets", first);
    visit("sum of a part", part);
    visit("sums of parts", sums);
    visit("sums of all cores", all);
    visit("sums on their way", mine);
  }
};

HOST_AND_DEVICE SharedUb SharedUbOf(const SharedShape& shape) {
  const int64_t sum = shape.sumLanes * kFloatBytes;
  SharedUb ub;
  ub.in = Buffers(shape.chunkBuffers, 2 * shape.lanes * shape.elementBytes);
  ub.out = Buffers(2, shape.lanes * shape.elementBytes);
  if (!shape.inRegisters) {
    ub.work = WorkOf(shape.lanes, shape.elementBytes);
  }
  if (shape.chunk > 0) {
    ub.partials = Buffer(PartialCount(shape.chunk, kChunkModulus) * kFloatBytes);
    ub.twice = Buffer(3 * kRepeatLanes * kFloatBytes);
    ub.offsets = Buffer(kRepeatLanes * kFloatBytes);
    ub.first = Buffer(kStreams * kFloatBytes);
  } else if (shape.elementBytes == kFloatBytes && !shape.inRegisters) {
    ub.half = Buffer((shape.lanes / 2 + Max(kWorkApart, shape.sumLanes)) * kFloatBytes);
  }
  ub.part = Buffer(Max(kPartLanes, shape.sumLanes) * kFloatBytes);
  if (!shape.shared) {
    ub.sums = Buffer(shape.parts * sum);
  } else {
    ub.mine = Buffers(2, sum);
    ub.sums = Buffer(shape.ar ? 0 : sum);
    ub.all = Buffer(shape.ar ? 0 : shape.parts * sum);
  }
  return ub;
}

}  // namespace rowreduce

#endif  // OP_HOST_COMMON_ROW_REDUCE_DATA_H_
