// SPDX-License-Identifier: Apache-2.0
// SocFacts is what the tilings know of a SoC. The functions say how many cores a call pays for, what bypasses L2, and how large
// tiles are. UbBudget lists the buffers that a kernel will ask of UB by name, so that the error of an over-full tiling can say
// what filled it.
#ifndef OP_HOST_COMMON_SOC_FACTS_H_
#define OP_HOST_COMMON_SOC_FACTS_H_

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "common/sizes.h"
#include "common/tuning.h"

namespace optiling {

using namespace common;

constexpr int64_t kHalfLineBytes = 256;         // copies that start elsewhere are slower
constexpr uint64_t kSmallUbBytes = 192 * 1024;  // of architecture 2201

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

// L2Bypass has the shares of inputs and results that bypass L2 where they do not fit into it
// together. Each byte moves once, so inputs leave their place to the results. Results that do not
// fit either would only be evicted by the rest.
struct L2Bypass {
  double inputs = 0;
  double results = 0;
};

inline L2Bypass L2BypassOf(int64_t elements, int64_t bytesPerElement, int64_t resultBytes,
                           const SocFacts& soc) {
  const int64_t l2 = static_cast<int64_t>(soc.l2Bytes);
  if (l2 == 0 || elements <= l2 / bytesPerElement) {
    return {};
  }
  const double bytesInL2 = static_cast<double>(l2) / static_cast<double>(elements);
  const auto result = static_cast<double>(resultBytes);
  const auto inputs = static_cast<double>(bytesPerElement - resultBytes);
  return {Min(1.0, 1 - (bytesInL2 - result) / inputs), Max(0.0, 1 - bytesInL2 / result)};
}

// CoresForBytes returns the number of cores that an operand of `bytes` bytes pays for. Cores start
// one after another: the last of n waits for n - 1 others, could handle kTurnBytes in the time of
// each, and has 1 / n of the work. On 310P and 910 scalar code at both ends of what a core has costs
// more, so each core has kLegacyCoreBytes.
inline int64_t CoresForBytes(int64_t bytes, const SocFacts& soc) {
  if (soc.wholeBlocksOnly) {
    return Min(soc.cores, CeilDiv(bytes, kLegacyCoreBytes));
  }
  int64_t cores = 1;
  while (cores < soc.cores && cores * cores * kTurnBytes < bytes) {
    ++cores;
  }
  return cores;
}

// A tile has the `most` units that UB holds, or fewer: each core needs enough tiles for its pipes to overlap, as long as copies
// stay large.
inline int64_t UnitsPerTile(int64_t perCore, int64_t most, int64_t unitBytes) {
  const int64_t byCopies = perCore / Max(1, CeilDiv(kPipelineCopyBytes, unitBytes));
  const int64_t tiles = Max(CeilDiv(perCore, most), Min(kPipelineTiles, byCopies));
  return CeilDiv(perCore, Max(1, tiles));
}

// --- Budget of UB

// Several vector instructions of this architecture borrow the last 8 KiB; tilings leave them alone.
constexpr uint64_t kUbScratchBytes = 8 * 1024;

// `ubBytes` is all of UB, or what PlatformAscendC reports of it (a little less). The scratch counts
// from the end of UB.
constexpr uint64_t UsableUb(uint64_t ubBytes) {
  constexpr uint64_t kKiB = 1024;
  const uint64_t whole = (ubBytes + kKiB - 1) / kKiB * kKiB;
  return whole <= kUbScratchBytes ? 0 : whole - kUbScratchBytes;
}

inline std::string WithCommas(uint64_t value) {
  std::string text = std::to_string(value);
  for (size_t at = text.size(); at > 3; at -= 3) {
    text.insert(at - 3, ",");
  }
  return text;
}

class UbBudget {
 public:
  // Adds `buffers` allocations of `bytes` each, which TPipe rounds up to whole blocks.
  void Add(const char* name, uint64_t buffers, uint64_t bytes) {
    if (buffers > 0 && bytes > 0) {
      entries_.push_back({name, buffers, AlignUp(bytes, kBlockBytes)});
    }
  }
  // Adds all buffers of a layout.
  template <typename Ub>
  void Add(const Ub& ub) {
    ub.ForEach([this](const char* name, const UbBuffer& buffer) {
      Add(name, buffer.count, buffer.bytes);
    });
  }

  uint64_t Total() const {
    uint64_t total = 0;
    for (const Entry& entry : entries_) {
      total += entry.buffers * entry.bytes;
    }
    return total;
  }

  // Returns the buffers as text: "in 2x32,768 + out 2x16,384 + work 65,536".
  std::string Table() const {
    std::string text;
    for (const Entry& entry : entries_) {
      text += text.empty() ? "" : " + ";
      text += entry.name;
      text += entry.buffers == 1 ? " " : " " + std::to_string(entry.buffers) + "x";
      text += WithCommas(entry.bytes);
    }
    return text;
  }

 private:
  struct Entry {
    const char* name;
    uint64_t buffers;
    uint64_t bytes;
  };
  std::vector<Entry> entries_;
};

template <typename Ub>
UbBudget BudgetOf(const Ub& ub) {
  UbBudget budget;
  budget.Add(ub);
  return budget;
}

}  // namespace optiling

#endif  // OP_HOST_COMMON_SOC_FACTS_H_
