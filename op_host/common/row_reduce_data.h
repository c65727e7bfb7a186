// SPDX-License-Identifier: Apache-2.0
// This file declares the tiling data and tiling keys of the row reductions. Host and device include
// it.
#ifndef OP_HOST_COMMON_ROW_REDUCE_DATA_H_
#define OP_HOST_COMMON_ROW_REDUCE_DATA_H_

#include <cstdint>

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

#endif  // OP_HOST_COMMON_ROW_REDUCE_DATA_H_
