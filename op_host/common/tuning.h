// SPDX-License-Identifier: Apache-2.0
// Every number that is a choice: a different value would be right as well, and slower or larger. Host and device include
// this. What a constant earns beside other values is in docs/reference/choices.md, and this command decides it anew:
//
//   .venv/bin/python benchmarks/choices.py --only kFewRows
//
// The evidence of each group is said in front of it: `board` where a published measurement on hardware decides, `documents`
// where CANN's guides do, `model` where the timing model does (docs/timing_model.md says how far that is off).
#ifndef OP_HOST_COMMON_TUNING_H_
#define OP_HOST_COMMON_TUNING_H_

#include <cstdint>

namespace rowreduce {

// --- Order of additions (accuracy and speed; other values give other bits) --------------------------------------- model
constexpr int64_t kTileModulus =
    512;  // of rows of a tile that no repeat stride reaches, at most (sum_mod64.h)
constexpr int64_t kChunkModulus = 2048;  // of a chunk, at most
constexpr int64_t kPartLanes = 512;      // lanes to which the sum of a part is added up at once
constexpr int64_t kMostParts =
    48;  // parts of a reduction: cores of the largest SoC of 2201 and 310P
constexpr uint32_t kShortRowLanes =
    56;  // rows up to here are added up a block of each of eight rows at a time
constexpr uint32_t kFewFoldUnits = 32;  // up to here an odd unit of a tree waits for the next round
constexpr uint32_t kFoldApartLanes = 512;  // longer halves start in different bank groups

// --- Vector instructions: cycles by which one form is preferred to another ---------------------------------------- model
constexpr uint32_t kIssueCycles = 4;   // to issue an instruction
constexpr uint32_t kDrainCycles = 24;  // more, where the next one waits for it
constexpr uint32_t kPartCycles = 16;   // more, where its lanes are no whole repeats
constexpr uint32_t kFewSlabs = 8;      // up to here slabs are scaled one by one

// --- Layouts ------------------------------------------------------------------------------------------------------ model
constexpr int64_t kSideBySideLanes = 512;  // of a row of columns that lie side by side, at most
constexpr int64_t kSideBySideWaste = 16;   // one lane in so many may be padding
constexpr int64_t kSideBySideRepeats =
    4;  // an instruction takes as long as so many repeats to be issued
constexpr int64_t kFlatRowBytes = 128;    // of a row that lies flat in registers, at most
constexpr int64_t kRegisterColumns = 32;  // that are added up in registers, at least
constexpr int64_t kMaxShortRow =
    64;  // rows of one column are transposed up to here where whole blocks fit
constexpr int64_t kFewRows =
    16;  // of a core: to transpose them takes longer than to copy them one by one
constexpr int64_t kMinLongRow = 512;  // 16-bit rows are packed up to kMaxShortRow, and from here on
constexpr int64_t kMinRegisterRow = 48;  // fp32 rows of whole blocks are in registers from here on,
constexpr int64_t kMinNarrowRegisterRow = 16;  // 16-bit ones from here,
constexpr int64_t kMinOddRegisterRow = 9;      // rows of no multiple of 8 from here
constexpr int64_t kPaddedLegacyRows =
    24;                           // of a tile: the copies of more would fill the queues (310P, 910)
constexpr int64_t kMaskRun = 16;  // mask rows that follow each other, where rows are packed

// --- Tiles -------------------------------------------------------------------------------------------------------- model
constexpr int64_t kPipelineTiles = 4;          // of a core, so that copies and arithmetic overlap,
constexpr int64_t kPipelineCopyBytes = 16384;  // as long as each copy has so many bytes
constexpr int64_t kShortTiles =
    8;  // the same in registers, where arithmetic is so short that the first copy
constexpr int64_t kShortCopyBytes = 24576;  // and the last one show
constexpr int64_t kTurnBytes =
    128;  // of an operand that a core could handle while the next one starts
constexpr int64_t kLegacyCoreBytes = 4096;  // of an operand for each core of 310P and 910
constexpr int64_t kEvenUnits = 8;     // up to so many units of a core, an uneven split would show
constexpr int64_t kUnlikeTiles = 4;   // sizes of tiles of cores beside each other (elementwise.h),
constexpr int64_t kUnlikeSteps = 32;  // which differ by a tile's so manieth part
constexpr int64_t kApartLanes =
    64;  // by which fp32 operands of an element-wise tile lie further apart

// --- Columns ------------------------------------------------------------------------------------------------------ model
constexpr int64_t kSplitColumnBytes = 128;  // columns are split among cores down to here
constexpr int64_t kMinColumnBytes = 64;  // and down to here where cores cannot wait for each other
constexpr int64_t kLineColumnBytes = 8192;           // wider column tiles start on a line
constexpr int64_t kChunkColumnBytes[] = {256, 128};  // of columns in chunks, the first is preferred
constexpr int64_t kLegacyChunkColumns = 64;          // of columns that are read twice (310P, 910)
constexpr int64_t kMostLineRows = 4;  // rows side by side that make whole lines, at most
constexpr int64_t kMostWideRows =
    2048;  // up to here, columns of no whole blocks are rather wider than narrower

// --- GM ------------------------------------------------------------------------------------------------ board, documents
constexpr uint32_t kGoodStartBytes =
    512;  // a long copy should start on a multiple (CANN's guide to DataCopy)
constexpr uint32_t kMinSplitBytes = 4096;  // of a copy that is worth one more in front of it

// --- Sharing ------------------------------------------------------------------------------------------------------ model
constexpr int64_t kRounds = 6;        // whose sums the workspace holds at a time
constexpr int64_t kMostLate = 2;      // rounds from the sums of a piece to its results, at most
constexpr int64_t kSparedEvents = 2;  // event ids that no chunk buffer takes
constexpr int64_t kAheadBuffers = 2;  // chunk buffers that keep moving where not all chunks stay
// Pieces go around among all cores where that saves rounds: a tenth of rows of whole blocks, which keep GM busy when a few
// cores are left over; a quarter where cores wait for the sums of the round they are in.
constexpr double kFewerRounds = 0.9;
constexpr double kFewerRoundsThatWait = 0.75;

// What a sharing is expected to reach of the bandwidth bound (sharing.cpp).
struct Overlap {
  double lateAndAhead;  // results come a round late, and a buffer is left for a load meanwhile
  double late;          // no buffer is left
  double ahead;  // a core waits for the sums of its round, and has two buffers for loads meanwhile
  double none;   // it has one, or none
};
constexpr Overlap kOverlap{0.91, 0.90, 0.85, 0.65};
constexpr Overlap kOverlapOf16Bit{0.84, 0.76, 0.70, 0.58};
constexpr double kRowsInHalves =
    0.87;  // of rows in pieces of two chunks, two rounds late: one chunk is loaded ahead
constexpr double kOfHalfLines =
    1.14;  // of columns of half a GM line; narrower ones have the rate of L2
constexpr double kEnoughCores = 0.85;   // this share of the cores keeps GM busy with fp32
constexpr double kTensors = 3;          // sums are an addition to three tensors in GM, of fp32,
constexpr double kSteps = 9;            // and to nine instructions on each element, of 16 bit
constexpr double kChunkOverhead = 256;  // elements that a core works off in what a chunk takes once
constexpr double kLineOfSums = 400;  // and in what SCALAR takes for a line of sums of a 16-bit row
constexpr int64_t kPartsToSpare =
    4;  // one part in so many may be more than UB needs, of 16-bit rows
constexpr double kNear =
    0.85;  // what comes so near the best on the first number of cores is judged by both
constexpr double kOfFirst = 3;  // what the first number counts by the second

// Numbers of cores that sharings are chosen for, by the size of UB. Results must not depend on the number there is.
struct ModelCores {
  int64_t first;
  int64_t second;
};
constexpr ModelCores kModelCores{48, 40};
constexpr ModelCores kModelCoresOfLargeUb{72, 56};

// Chunk buffers, and how many of them keep a part between the passes.
struct Sharing {
  int64_t ring;
  int64_t keep;
};
constexpr Sharing kSharings[] = {{4, 1}, {5, 2}, {7, 2}, {6, 2}, {7, 3}, {6, 3}, {4, 2},
                                 {5, 3}, {7, 4}, {6, 4}, {7, 5}, {7, 6}, {5, 5}};
// Ways in which one core may hold the axis, the best first: it waits for no other then.
constexpr Sharing kHoldsColumns[] = {{4, 4}, {7, 7}};
constexpr Sharing kHoldsFp32Rows[] = {{5, 3}, {6, 4}};

// --- Facts that host and device share ------------------------------------------------------------------------------------
constexpr uint32_t kCacheLineLanes = 16;  // fp32 lanes of a line of the scalar unit's data cache
constexpr uint32_t kLeastLegacyStream =
    128;  // elements of a stream: Ascend910 transposes fp32 by 16 blocks of words

}  // namespace rowreduce

#endif  // OP_HOST_COMMON_TUNING_H_
