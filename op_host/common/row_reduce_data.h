// SPDX-License-Identifier: Apache-2.0
// What the host tells a row-reduction kernel. Host and device must lay it out alike: plain,
// fixed-width, no padding.
#ifndef OP_HOST_COMMON_ROW_REDUCE_DATA_H_
#define OP_HOST_COMMON_ROW_REDUCE_DATA_H_

#include <cstddef>
#include <cstdint>

// fp32 lanes that add up a part, more where a row of columns has more.
constexpr int32_t kRowReduceSumLanes = 512;
// Parts of a reduction. Not the number of cores of this SoC, on which no result may depend, but of
// the largest of its architecture: they share a reduction as evenly as these can.
constexpr int32_t kRowReduceMostParts = 48;
// fp32 lanes of a line of the scalar unit's data cache: the workspace starts the sums of each group of
// cores on one.
constexpr int32_t kRowReduceSlotLanes = 16;
// Lanes of the circle on which a packed row, or a chunk of one, is added up, at most
// (op_kernel/common/packed_rows.h).
constexpr int32_t kRowReduceCircleLanes = 512;
constexpr int32_t kRowReduceChunkCircle = 2048;
// Mask rows that follow each other at least, but at the ends of a tile, where rows of a tile are packed.
constexpr int32_t kRowReduceMaskRun = 16;
// Lanes of a row of folded columns (op_kernel/common/folded_columns.h) at most, and of the periods that one
// Gather turns where they are shorter.
constexpr int32_t kRowReduceFoldedLanes = 512;
// Bytes of a row in registers that is added up in the run of the elements of its tile (op_kernel/common/flat_rows.h), at
// most.
constexpr int32_t kRowReduceFlatBytes = 128;
// Columns that are added up in registers (op_kernel/common/register_columns.h), at least: fewer fill too little of one.
constexpr int32_t kRowReduceRegisterColumns = 32;
// Elements of a stream of short slabs at least, where copies move whole blocks: fp32 is turned by 16 blocks of words.
constexpr int32_t kRowReduceLeastStream = 128;
// Rounds whose sums of parts the workspace holds at a time, and from the sums of a piece to its results.
constexpr int32_t kRowReduceRounds = 6;
constexpr int32_t kRowReduceMostLate = 2;

// A unit is a row, a slab [R, B], or colTile columns of a slab. Where R fits, core c has unitsPerCore
// of them, one more if c < extraCores. Where it does not, units are cut into `share` equal pieces of
// parts, and in each round all cores take the next pieces, one each.
struct RowReduceTilingData {
  int64_t outer;     // A
  int64_t reduce;    // R
  int64_t inner;     // B
  int64_t colTiles;  // column tiles of a slab
  int64_t unitsPerCore;
  int32_t extraCores;
  int32_t colTile;     // columns of a unit, 0 when B == 1
  int32_t tileUnits;   // units of a tile
  int32_t tileLanes;   // elements that a buffer holds of one operand
  int32_t chunk;       // part of R per chunk, 0 when R fits
  int32_t ring;        // chunk buffers, 0 when R fits
  int32_t resident;    // chunks that stay in UB between the passes
  int32_t partChunks;  // chunks that are added up together, 0 when R fits
  int32_t share;       // cores that share a unit: pieces of it
  int32_t pastL2;      // tiles of a core that go past L2: the first inputs, then the first results
  int32_t columns;     // B where [R, B] is rows of columns that lie side by side, else 0
  int32_t missing;     // elements that the last of these rows has less
  int32_t late;        // rounds from the sums of a piece to its results
  int32_t slots;       // units whose sums of parts the workspace holds at a time
};

static_assert(sizeof(RowReduceTilingData) == 96, "layout is shared with the device");
static_assert(offsetof(RowReduceTilingData, extraCores) == 40, "layout is shared with the device");
static_assert(offsetof(RowReduceTilingData, pastL2) == 76, "layout is shared with the device");

#endif  // OP_HOST_COMMON_ROW_REDUCE_DATA_H_
