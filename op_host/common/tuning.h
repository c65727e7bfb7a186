// SPDX-License-Identifier: Apache-2.0
// Every number that is a choice: a different value would be right as well, and slower or larger. Host and device include
// this. What a constant earns beside other values is in docs/reference/choices.md, and this command decides it anew:
//
//   .venv/bin/python benchmarks/choices.py --only kPipelineTiles
//
// The evidence of each group is said in front of it: `board` where a published measurement on hardware decides, `documents`
// where CANN's guides do, `model` where the timing model does (docs/timing_model.md says how far that is off).
#ifndef OP_HOST_COMMON_TUNING_H_
#define OP_HOST_COMMON_TUNING_H_

#include <cstdint>

namespace common {

// --- Order of additions (accuracy and speed; other values give other bits) --------------------------------------- model
// A row of a tile is added up to at most kTileModulus partial sums (sum_mod64.h), a chunk of a row to
// at most kChunkModulus.
constexpr int64_t kTileModulus = 512;
constexpr int64_t kChunkModulus = 2048;
// Chunks of a part are added up to kPartLanes lanes before they are added to each other.
constexpr int64_t kPartLanes = 512;
// An axis has at most as many parts as the largest SoC of 2201 and 310P has cores.
constexpr int64_t kMostParts = 48;
// Rows of up to kShortRowLanes lanes are added up eight at a time, a block of each.
constexpr uint32_t kShortRowLanes = 56;
// The middle multiple of a row with an odd number of them, up to kShortTree, waits for the next halving, which saves an instruction.
constexpr uint32_t kShortTree = 32;
// Rows of more than kHalvesApartLanes lanes are halved such that both halves start in different bank
// groups.
constexpr uint32_t kHalvesApartLanes = 512;

// --- Vector instructions ------------------------------------------------------------------------------------------ model
// An instruction that waits for the one before it takes kDrainCycles longer.
constexpr uint32_t kDrainCycles = 24;
// Up to kFewSlabs slabs are scaled one by one.
constexpr uint32_t kFewSlabs = 8;

// --- Layouts ------------------------------------------------------------------------------------------------------ model
// Columns lie side by side where a period of them has at most kSideBySideLanes lanes, or where there are at most
// kSideBySideColumns. Where cores share an axis, a row has as many periods as fit into kSideBySideLanes, and at most one lane
// in kSideBySideWaste is padding. A tile of slabs is scaled kScaledLanes lanes at a time.
constexpr int64_t kSideBySideLanes = 512;
constexpr int64_t kSideBySideWaste = 16;
constexpr int64_t kSideBySideColumns = 39;
constexpr uint32_t kScaledLanes = 256;
// Rows of up to kFlatRowBytes bytes lie flat in registers. Columns are added up in registers from
// kRegisterColumns on.
constexpr int64_t kFlatRowBytes = 128;
constexpr int64_t kRegisterColumns = 32;
// Rows of up to kMaxShortRow elements that are no whole blocks are transposed, where 16 streams of
// whole blocks fit.
constexpr int64_t kMaxShortRow = 64;
// 16-bit rows are packed up to kMaxShortRow elements, and from kMinLongRow on.
constexpr int64_t kMinLongRow = 512;
// Rows are computed in registers from kMinRegisterRow elements on.
constexpr int64_t kMinRegisterRow = 9;
// Masked rows are packed where kMaskRun or more mask rows follow each other.
constexpr int64_t kMaskRun = 16;

// --- Tiles -------------------------------------------------------------------------------------------------------- model
// A core has kPipelineTiles tiles or more, so that copies and arithmetic overlap, as long as each
// copy has kPipelineCopyBytes.
constexpr int64_t kPipelineTiles = 4;
constexpr int64_t kPipelineCopyBytes = 16384;
// A core could handle kTurnBytes of an operand while the next core starts.
constexpr int64_t kTurnBytes = 128;
// A core of 310P and 910 gets at least kLegacyCoreBytes of an operand.
constexpr int64_t kLegacyCoreBytes = 4096;
// Tiles of cores beside each other have kUnlikeTiles sizes, a kUnlikeSteps-th of a tile apart (elementwise.h).
constexpr int64_t kUnlikeTiles = 4;
constexpr int64_t kUnlikeSteps = 32;

// --- Columns ------------------------------------------------------------------------------------------------------ model
// Columns are split among cores down to this width. Where cores cannot wait for each other, an axis is rather cut into chunks
// than into narrower columns.
constexpr int64_t kSplitColumnBytes = 128;
// Columns of an axis in chunks have one of these widths. The first is preferred.
constexpr int64_t kChunkColumnBytes[] = {256, 128};
// Columns are kLegacyChunkColumns wide where they are read twice (310P, 910).
constexpr int64_t kLegacyChunkColumns = 64;
// Chunks of columns side by side start on GM lines where kMostLineRows rows or fewer are whole
// lines.
constexpr int64_t kMostLineRows = 4;

// --- GM ------------------------------------------------------------------------------------------------ board, documents
// A long copy should start on a GM line (CANN's guide to DataCopy). Another one in front of it is worth it from kMinSplitBytes
// on.
constexpr uint32_t kMinSplitBytes = 4096;

// --- Sharing ------------------------------------------------------------------------------------------------------ model
// The workspace holds the sums of kRounds rounds at a time.
constexpr int64_t kRounds = 6;
// The results of a piece come at most kMostLate rounds after its sums.
constexpr int64_t kMostLate = 2;
// Chunk buffers leave kSparedEvents event ids to others.
constexpr int64_t kSparedEvents = 2;
// kAheadBuffers buffers keep loading if not all chunks stay in UB.
constexpr int64_t kAheadBuffers = 2;
// Pieces are spread over all cores where that saves rounds: a tenth of them for rows of whole blocks, which keep GM busy when
// a few cores are left over, and a quarter where cores wait for the sums of the round they are in.
constexpr double kFewerRounds = 0.9;
constexpr double kFewerRoundsThatWait = 0.75;

// A sharing is expected to reach one of these shares of the bandwidth bound (shared_axis.cpp).
struct Overlap {
  double lateAndAhead;  // results come a round late, and a buffer is left for a load meanwhile
  double late;          // no buffer is left
  double ahead;         // a core waits for the sums of its round, and has two buffers for loads
  double none;          // it has one, or none
};
constexpr Overlap kOverlap{0.91, 0.90, 0.85, 0.65};
constexpr Overlap kOverlapOf16Bit{0.84, 0.76, 0.70, 0.58};
// kEnoughCores is the share of the cores that keeps GM busy with fp32.
constexpr double kEnoughCores = 0.85;
// The sums that cores exchange are compared with what they add to: the kTensors tensors of an fp32
// call in GM, and the kInstructions instructions on each element of a 16-bit call.
constexpr double kTensors = 3;
constexpr double kInstructions = 9;
// A chunk takes as long to begin as kChunkOverhead elements take a core. A line of sums of a 16-bit row takes SCALAR as long
// as kLineOfSums elements.
constexpr double kChunkOverhead = 256;
constexpr double kLineOfSums = 400;
// Sharings that reach kNear times the best one on the first number of cores are judged by both
// numbers. The first counts kOfFirst times as much as the second. Columns of fp32 may have one part in kSpareParts more than
// UB needs, where cores then share them evenly; the first number counts kOfFirstWithSpares times as much for them.
constexpr double kNear = 0.85;
constexpr double kOfFirst = 3;
constexpr int64_t kSpareParts = 4;
constexpr double kOfFirstWithSpares = 0.5;

// Sharings are chosen for these numbers of cores, by the size of UB: results must not depend on the number there is.
struct ModelCores {
  int64_t first;
  int64_t second;
};
constexpr ModelCores kModelCores{48, 40};
constexpr ModelCores kModelCoresOfLargeUb{72, 56};

// A core has `chunkBuffers` buffers, of which `keptChunks` hold chunks between the passes.
struct Sharing {
  int64_t chunkBuffers;
  int64_t keptChunks;
};
constexpr Sharing kSharings[] = {{4, 1}, {5, 2}, {7, 2}, {6, 2}, {7, 3}, {6, 3}, {4, 2},
                                 {5, 3}, {7, 4}, {6, 4}, {7, 5}, {7, 6}, {5, 5}};
// One core takes the whole axis where such buffers hold it, and waits for no other.
constexpr Sharing kHoldsColumns{7, 7};
constexpr Sharing kHoldsFp32Rows{5, 3};

}  // namespace common

#endif  // OP_HOST_COMMON_TUNING_H_
