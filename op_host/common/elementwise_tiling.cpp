// SPDX-License-Identifier: Apache-2.0
// Chooses tile and split for the element-wise family: as even over the cores as GM lines allow,
// tiles as large as double buffering in UB permits.
#include "common/elementwise_tiling.h"

#include <algorithm>
#include <limits>

#include "common/ub_budget.h"

namespace optiling {
namespace {

constexpr int64_t kFloatBytes = 4;
constexpr int64_t kLineBytes = 512;  // GM moves in lines
constexpr int64_t kGoodCopyBytes = 16384;
constexpr int64_t kPipelineTiles = 4;  // tiles per core that let copies and arithmetic overlap
constexpr int64_t kApartLanes = 64;    // between fp32 operands, see Elementwise

int64_t CeilDiv(int64_t a, int64_t b) { return a / b + (a % b > 0 ? 1 : 0); }

// Mirrors the InitBuffer calls of Elementwise.
UbBudget Budget(int64_t lanes, int64_t bytes, int64_t inputs) {
  UbBudget budget;
  const int64_t apart = lanes + kApartLanes;
  const int64_t inLanes = bytes == kFloatBytes ? apart : lanes;
  budget.Add("in", 2, static_cast<uint64_t>(inputs * inLanes * bytes));
  budget.Add("out", 2, static_cast<uint64_t>(lanes * bytes));
  if (bytes < kFloatBytes) {
    const int64_t work = inputs >= 2 ? inputs : inputs + 1;
    budget.Add("f32 work", 1, static_cast<uint64_t>(work * apart * kFloatBytes));
  }
  return budget;
}

}  // namespace

std::string MakeElementwisePlan(const char* op, int64_t total, uint32_t elementBytes,
                                uint32_t inputs, const SocFacts& soc, ElementwisePlan* plan) {
  const std::string name(op);
  if (elementBytes != 2 && elementBytes != 4) {
    return name + ": " + std::to_string(elementBytes) +
           " B per element, wanted 4 (FLOAT) or 2 (FLOAT16, BF16)";
  }
  // 8-byte offsets on the device must not wrap.
  if (total <= 0 || total > std::numeric_limits<int64_t>::max() / 8) {
    return name + ": " + std::to_string(total) +
           " elements, wanted 1 to 2^60 (an empty tensor needs no launch)";
  }
  if (soc.cores <= 0) {
    return name + ": the platform reports " + std::to_string(soc.cores) + " vector cores on " +
           soc.name + ", wanted at least 1";
  }
  const int64_t bytes = elementBytes;
  const uint64_t usable = UsableUb(soc.ubBytes);
  ElementwisePlan made;
  made.total = total;
  made.lineLanes = kLineBytes / bytes;
  made.lines = CeilDiv(total, made.lineLanes);
  made.cores = std::min(made.lines, CoresForBytes(total * bytes, soc));

  const UbBudget line = Budget(made.lineLanes, bytes, inputs);
  int64_t most = static_cast<int64_t>(usable / line.Total());
  while (Budget((most + 1) * made.lineLanes, bytes, inputs).Total() <= usable) {
    ++most;
  }
  if (most == 0) {
    return name + ": UB needs " + WithCommas(line.Total()) + " B of " + WithCommas(usable) +
           " B usable on " + soc.name + " (" + line.Table() + ") at the smallest tile, " +
           std::to_string(made.lineLanes) +
           " lanes: check the UB size that the platform reports (" + WithCommas(soc.ubBytes) +
           " B)";
  }
  // Enough tiles per core for the pipes to overlap as long as copies stay large.
  const int64_t perCore = CeilDiv(made.lines, made.cores);
  const int64_t byCopies = perCore / (kGoodCopyBytes / kLineBytes);
  const int64_t tiles =
      std::max({CeilDiv(perCore, most), std::min(kPipelineTiles, byCopies), int64_t{1}});
  made.tileLanes = CeilDiv(perCore, tiles) * made.lineLanes;
  const PastL2 past = SharesPastL2(total, (inputs + 1) * bytes, bytes, soc);
  const int64_t tilesPerCore = CeilDiv(perCore * made.lineLanes, made.tileLanes);
  made.pastL2 = past.inputs > 0
                    ? 1 + static_cast<int32_t>(past.results * static_cast<double>(tilesPerCore))
                    : 0;
  made.ubBytes = Budget(made.tileLanes, bytes, inputs).Total();
  *plan = made;
  return {};
}

}  // namespace optiling
