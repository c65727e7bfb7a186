// SPDX-License-Identifier: Apache-2.0
// MakeRowReducePlan is the tiling of the row reductions (op_kernel/common/row_reduce.h): a pure
// function of view, dtype and SoC. Layout, chunk and all else that the order of additions depends
// on follow from R, B and the dtype; only the split into units looks at the number of cores.
#ifndef OP_HOST_COMMON_ROW_REDUCE_TILING_H_
#define OP_HOST_COMMON_ROW_REDUCE_TILING_H_

#include <cstdint>
#include <string>
#include <vector>

#include "common/row_reduce_data.h"
#include "common/soc_facts.h"

namespace optiling {

// ReduceView is a contiguous tensor [A, R, B] seen from its reduction axis R. It is AR where B is
// 1, else ARA.
struct ReduceView {
  int64_t outer = 0;
  int64_t reduce = 0;
  int64_t inner = 0;
};

// LayoutChoice is a row of the table by which the tiling chooses (full_load_tiling.cpp,
// shared_axis.cpp).
struct LayoutChoice {
  const char* layout;
  bool taken;
  const char* why;  // when it is taken
};

struct RowReducePlan {
  uint64_t key = 0;  // ROW_REDUCE_...
  RowReduceTilingData data{};
  int64_t units = 0;
  int64_t cores = 0;
  uint64_t workspaceBytes = 0;
  uint64_t ubBytes = 0;
  std::vector<LayoutChoice> choices;  // in the order in which they were asked, the taken one last
};

// RowStreams is what a tile reads: y and g, and for masks a byte of each element besides. With
// kPairAndMaskRuns, kMaskRun or more mask rows follow each other. Masks go with the layouts Padded
// and Packed.
enum class RowStreams { kPair, kPairAndMask, kPairAndMaskRuns };

// Both return an empty string, or what is wrong and what would be right.
std::string MakeReduceView(const std::vector<int64_t>& dims, int64_t axis, ReduceView* view);
std::string MakeRowReducePlan(const char* op, const ReduceView& view, uint32_t elementBytes,
                              const SocFacts& soc, RowReducePlan* plan,
                              RowStreams streams = RowStreams::kPair);

}  // namespace optiling

#endif  // OP_HOST_COMMON_ROW_REDUCE_TILING_H_
