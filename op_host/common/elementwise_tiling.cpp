// SPDX-License-Identifier: Apache-2.0
// Work is spread over cores as evenly as GM lines allow, in tiles as large as double buffering in UB permits.
#include "common/elementwise_tiling.h"

#include <algorithm>
#include <limits>

#include "common/elementwise_data.h"

namespace optiling {
namespace {

UbBudget Budget(int64_t lanes, int64_t bytes, int64_t inputs) {
  return BudgetOf(elementwise::UbOf(lanes, bytes, inputs));
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
  ElementwiseTilingData& data = made.data;
  data.total = total;
  data.lineLanes = kLineBytes / bytes;
  made.lines = CeilDiv(total, data.lineLanes);
  made.cores = Min(made.lines, CoresForBytes(total * bytes, soc));
  data.coreLanes = made.lines / made.cores * data.lineLanes;
  data.extraCores = made.lines % made.cores;

  const UbBudget line = Budget(data.lineLanes, bytes, inputs);
  int64_t most = static_cast<int64_t>(usable / line.Total());
  while (Budget((most + 1) * data.lineLanes, bytes, inputs).Total() <= usable) {
    ++most;
  }
  if (most == 0) {
    return name + ": UB needs " + WithCommas(line.Total()) + " B of " + WithCommas(usable) +
           " B usable on " + soc.name + " (" + line.Table() + ") at the smallest tile, " +
           std::to_string(data.lineLanes) +
           " lanes: check the UB size that the platform reports (" + WithCommas(soc.ubBytes) +
           " B)";
  }
  const int64_t perCore = CeilDiv(made.lines, made.cores);
  data.tileLanes = UnitsPerTile(perCore, most, kLineBytes) * data.lineLanes;
  const L2Bypass bypass = L2BypassOf(total, (inputs + 1) * bytes, bytes, soc);
  const int64_t tilesPerCore = CeilDiv(perCore * data.lineLanes, data.tileLanes);
  data.inputsBypassL2 = bypass.inputs > 0 ? 1 : 0;
  data.resultsBypassL2 = static_cast<int64_t>(bypass.results * static_cast<double>(tilesPerCore));
  made.ubBytes = Budget(data.tileLanes, bytes, inputs).Total();
  *plan = made;
  return {};
}

}  // namespace optiling
