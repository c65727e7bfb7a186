// SPDX-License-Identifier: Apache-2.0
// Chooses path, tile and split for the row-reduction family. Path, chunk and everything else that
// the order of additions depends on follow from R, B and the dtype; only the split into units looks
// at the number of cores.
#include "common/row_reduce_tiling.h"

#include <algorithm>
#include <limits>

#include "common/row_reduce_planner.h"

namespace optiling {

std::string MakeReduceView(const std::vector<int64_t>& dims, int64_t axis, ReduceView* view) {
  const int64_t rank = static_cast<int64_t>(dims.size());
  if (rank > 8) {
    return "rank " + std::to_string(rank) + " of the input, wanted at most 8";
  }
  const int64_t most = std::max<int64_t>(rank, 1);
  if (axis < -most || axis >= most) {
    return "axis " + std::to_string(axis) + " of a tensor of rank " + std::to_string(rank) +
           ", wanted a value in [" + std::to_string(-most) + ", " + std::to_string(most - 1) + "]";
  }
  const int64_t at = axis < 0 ? axis + most : axis;
  *view = {1, 1, 1};
  int64_t total = 1;
  for (int64_t i = 0; i < rank; ++i) {
    const int64_t dim = dims[static_cast<size_t>(i)];
    if (dim <= 0) {
      return "dim " + std::to_string(i) + " of the input is " + std::to_string(dim) +
             ", wanted a positive size (an empty tensor needs no launch)";
    }
    // 8-byte offsets on the device must not wrap.
    if (total > std::numeric_limits<int64_t>::max() / 8 / dim) {
      return "the input has more than 2^60 elements at dim " + std::to_string(i);
    }
    total *= dim;
    (i < at ? view->outer : (i == at ? view->reduce : view->inner)) *= dim;
  }
  return {};
}

std::string MakeRowReducePlan(const char* op, const ReduceView& view, uint32_t elementBytes,
                              const SocFacts& soc, RowReducePlan* plan, RowStreams streams) {
  if (elementBytes != 2 && elementBytes != 4) {
    return std::string(op) + ": " + std::to_string(elementBytes) +
           " B per element, wanted 4 (FLOAT) or 2 (FLOAT16, BF16)";
  }
  if (soc.cores <= 0) {
    return std::string(op) + ": the platform reports " + std::to_string(soc.cores) +
           " vector cores on " + soc.name + ", wanted at least 1";
  }
  const bool masked = streams != RowStreams::kPair;
  if (masked && view.inner != 1) {
    return std::string(op) + ": a mask along the axis in the middle, [A, R, B] = [" +
           std::to_string(view.outer) + ", " + std::to_string(view.reduce) + ", " +
           std::to_string(view.inner) + "], wanted B == 1";
  }
  RowReduceCase wanted{op, view, elementBytes, soc, masked, streams != RowStreams::kPairAndMask};
  if (view.reduce == 1 && !masked) {
    // Nothing to add up: the whole tensor is one long line of independent columns.
    wanted.view = {1, 1, view.outer * view.inner};
  } else if (view.inner > 1) {
    FoldColumns(&wanted);
  }
  return FitsWhole(wanted) ? PlanWhole(wanted, plan) : PlanChunks(wanted, plan);
}

}  // namespace optiling
