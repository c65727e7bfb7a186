// SPDX-License-Identifier: Apache-2.0
// Prints the plan of each call on standard input, a line each: choices.py builds it with the tiling's sources as they
// are and with one constant changed, and sees which calls are planned otherwise.
#include <cstdio>
#include <string>

#include "common/elementwise_tiling.h"
#include "common/row_reduce_tiling.h"

int main() {
  using namespace optiling;
  ReduceView view;
  SocFacts soc;
  unsigned bytes = 0;
  char kind = 0;
  int wholeBlocksOnly = 0;
  int registers = 0;
  while (std::scanf(" %c %ld %ld %ld %u %ld %lu %lu %ld %d %d", &kind, &view.outer, &view.reduce,
                    &view.inner, &bytes, &soc.cores, &soc.ubBytes, &soc.l2Bytes, &soc.eventIds,
                    &wholeBlocksOnly, &registers) == 11) {
    soc.wholeBlocksOnly = wholeBlocksOnly != 0;
    soc.registers = registers != 0;
    if (kind == 'e') {
      ElementwisePlan plan;
      const std::string error = MakeElementwisePlan("", view.outer, bytes, 2, soc, &plan);
      std::printf("0 %s %ld %ld %ld %ld\n", error.c_str(), plan.cores, plan.data.tileLanes,
                  plan.data.inputsBypassL2, plan.data.resultsBypassL2);
      continue;
    }
    RowReducePlan plan;
    const std::string error = MakeRowReducePlan(
        "", view, bytes, soc, &plan, kind == 'm' ? RowInputs::kPairAndMaskRuns : RowInputs::kPair);
    std::printf("%d %s", static_cast<int>(plan.key), error.c_str());
#define PRINT_FIELD(name) std::printf(" %ld", plan.data.name);
    ROW_REDUCE_TILING_FIELDS(PRINT_FIELD)
#undef PRINT_FIELD
    std::printf(" %ld\n", plan.cores);
  }
  return 0;
}
