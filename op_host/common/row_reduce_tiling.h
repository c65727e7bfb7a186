// SPDX-License-Identifier: Apache-2.0
// Tiling of the row-reduction family (op_kernel/common/row_reduce.h): a pure function of shape,
// dtype and SoC.
#ifndef OP_HOST_COMMON_ROW_REDUCE_TILING_H_
#define OP_HOST_COMMON_ROW_REDUCE_TILING_H_

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "common/row_reduce_data.h"

namespace optiling {

enum class RowReducePath : uint64_t {
  kRows = 1,
  kLongRows = 2,
  kSlabs = 3,
  kLongSlabs = 4,
  kShortRows = 5,
  kPackedRows = 6,
  kRegisterRows = 7,
  kInterleavedRows = 8
};

struct SocFacts {
  std::string name;
  int64_t cores = 0;     // vector cores
  uint64_t ubBytes = 0;  // as PlatformAscendC reports it
  int64_t eventIds = 8;  // of a pair of pipes; each buffer of a queue takes one
  // Copies between GM and UB move whole blocks of 32 bytes only (op_kernel/common/aligned_copy.h).
  bool wholeBlocksOnly = false;
  bool registers = false;        // vector functions (op_kernel/common/register_rows.h)
  uint64_t l2Bytes = 0;          // as PlatformAscendC reports it
  uint64_t systemWorkspace = 0;  // of the workspace, in front of what a kernel asks for
};

// A contiguous tensor seen from its reduction axis.
struct ReduceView {
  int64_t outer = 0;
  int64_t reduce = 0;
  int64_t inner = 0;
};

struct RowReducePlan {
  RowReducePath path = RowReducePath::kRows;
  int64_t outer = 0;
  int64_t reduce = 0;
  int64_t inner = 0;
  int64_t units = 0;
  int64_t cores = 0;
  int64_t colTiles = 1;
  int64_t colTile = 0;
  int64_t tileUnits = 1;
  int64_t tileLanes = 0;
  int64_t chunk = 0;
  int64_t ring = 0;
  int64_t resident = 0;
  int64_t partChunks = 0;
  int64_t share = 1;
  int64_t late = 0;
  int64_t slots = 0;
  uint64_t workspaceBytes = 0;
  int32_t pastL2 = 0;
  int64_t columns = 0;
  int64_t missing = 0;
  uint64_t ubBytes = 0;
};

// What a tile streams in: y and g, or also a byte of mask per element, of which kRowReduceMaskRun rows
// or more follow each other (kPairAndMaskRuns) or fewer. A mask stream has whole rows only
// (RowReducePath::kRows and kPackedRows).
enum class RowStreams { kPair, kPairAndMask, kPairAndMaskRuns };

// Where tensors that are read once and written once do not fit in L2 together, the inputs leave their
// place there to the output; what of that does not fit either would only be evicted by the rest.
struct PastL2 {
  double inputs = 0;   // the share that does not fit beside the results
  double results = 0;  // the share that does not fit alone
};

inline PastL2 SharesPastL2(int64_t elements, int64_t bytesPerElement, int64_t resultBytes,
                           const SocFacts& soc) {
  const int64_t l2 = static_cast<int64_t>(soc.l2Bytes);
  if (l2 == 0 || elements <= l2 / bytesPerElement) {
    return {};
  }
  const double held = static_cast<double>(l2) / static_cast<double>(elements);  // bytes of each
  const auto result = static_cast<double>(resultBytes);
  const auto inputs = static_cast<double>(bytesPerElement - resultBytes);
  return {std::min(1.0, 1 - (held - result) / inputs), std::max(0.0, 1 - held / result)};
}

// Cores for so many bytes of an operand. They start one after another: with n of them the last waits n - 1 turns,
// in each of which it could have handled kTurnBytes, and has a share of 1 / n of the work.
// Where copies move whole blocks, each has a block to store and more: scalar code at the ends of its part costs more.
inline int64_t CoresForBytes(int64_t bytes, const SocFacts& soc) {
  constexpr int64_t kTurnBytes = 128;
  constexpr int64_t kWholeBlocksCoreBytes = 4096;
  if (soc.wholeBlocksOnly) {
    return std::min(soc.cores, (bytes + kWholeBlocksCoreBytes - 1) / kWholeBlocksCoreBytes);
  }
  int64_t cores = 1;
  while (cores < soc.cores && cores * cores * kTurnBytes < bytes) {
    ++cores;
  }
  return cores;
}

// Both return an empty string, or what is wrong and what would be right.
std::string MakeReduceView(const std::vector<int64_t>& dims, int64_t axis, ReduceView* view);
std::string MakeRowReducePlan(const char* op, const ReduceView& view, uint32_t elementBytes,
                              const SocFacts& soc, RowReducePlan* plan,
                              RowStreams streams = RowStreams::kPair);

inline void FillTiling(const RowReducePlan& plan, RowReduceTilingData* data) {
  *data = RowReduceTilingData{};
  data->outer = plan.outer;
  data->reduce = plan.reduce;
  data->inner = plan.inner;
  data->colTiles = plan.colTiles;
  data->unitsPerCore = plan.units / plan.cores;
  data->extraCores = static_cast<int32_t>(plan.units % plan.cores);
  data->colTile = static_cast<int32_t>(plan.colTile);
  data->tileUnits = static_cast<int32_t>(plan.tileUnits);
  data->tileLanes = static_cast<int32_t>(plan.tileLanes);
  data->chunk = static_cast<int32_t>(plan.chunk);
  data->ring = static_cast<int32_t>(plan.ring);
  data->resident = static_cast<int32_t>(plan.resident);
  data->partChunks = static_cast<int32_t>(plan.partChunks);
  data->share = static_cast<int32_t>(plan.share);
  data->pastL2 = plan.pastL2;
  data->columns = static_cast<int32_t>(plan.columns);
  data->missing = static_cast<int32_t>(plan.missing);
  data->late = static_cast<int32_t>(plan.late);
  data->slots = static_cast<int32_t>(plan.slots);
}

}  // namespace optiling

#endif  // OP_HOST_COMMON_ROW_REDUCE_TILING_H_
