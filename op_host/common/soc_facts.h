// SPDX-License-Identifier: Apache-2.0
// SocFacts is what the tilings know of a SoC; beside it, how many cores work pays for, and what fits into L2.
#ifndef OP_HOST_COMMON_SOC_FACTS_H_
#define OP_HOST_COMMON_SOC_FACTS_H_

#include <algorithm>
#include <cstdint>
#include <string>

#include "common/tuning.h"

namespace optiling {

constexpr int64_t kFloatBytes = 4;
constexpr int64_t kBlockBytes = 32;
constexpr int64_t kLineBytes = 512;             // GM moves in lines
constexpr uint64_t kSmallUbBytes = 192 * 1024;  // of architecture 2201

inline int64_t CeilDiv(int64_t a, int64_t b) { return a / b + (a % b > 0 ? 1 : 0); }
inline int64_t AlignUp(int64_t a, int64_t b) { return CeilDiv(a, b) * b; }
inline int64_t AlignDown(int64_t a, int64_t b) { return a / b * b; }

struct SocFacts {
  std::string name;
  int64_t cores = 0;             // vector cores
  uint64_t ubBytes = 0;          // as PlatformAscendC reports it
  int64_t eventIds = 8;          // of a pair of pipes; each buffer of a queue takes one
  bool wholeBlocksOnly = false;  // 310P and 910 (op_kernel/common/legacy.h)
  bool registers = false;        // vector functions: Ascend 950
  uint64_t l2Bytes = 0;          // as PlatformAscendC reports it
  uint64_t systemWorkspace = 0;  // of the workspace, in front of what a kernel asks for
};

// Shares of tensors that are read once and written once which do not fit into L2 together: the inputs leave their place
// there to the results, and what of those does not fit either would only be evicted by the rest.
struct PastL2 {
  double inputs = 0;
  double results = 0;
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

// Cores for so many bytes of an operand. They start one after another: with n of them the last one waits n - 1 turns, in
// each of which it could have handled kTurnBytes, and has a share of 1 / n of the work. On 310P and 910 each has a block to
// store and more: scalar code at the ends of its part costs more.
inline int64_t CoresForBytes(int64_t bytes, const SocFacts& soc) {
  if (soc.wholeBlocksOnly) {
    return std::min(soc.cores, CeilDiv(bytes, rowreduce::kLegacyCoreBytes));
  }
  int64_t cores = 1;
  while (cores < soc.cores && cores * cores * rowreduce::kTurnBytes < bytes) {
    ++cores;
  }
  return cores;
}

}  // namespace optiling

#endif  // OP_HOST_COMMON_SOC_FACTS_H_
