// SPDX-License-Identifier: Apache-2.0
// UbBudget lists the buffers that a kernel will ask of UB by name, so that the error of an
// over-full tiling can say what filled it.
#ifndef OP_HOST_COMMON_UB_BUDGET_H_
#define OP_HOST_COMMON_UB_BUDGET_H_

#include <cstdint>
#include <string>
#include <vector>

#include "common/sizes.h"

namespace optiling {

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
      entries_.push_back({name, buffers, common::AlignUp(bytes, common::kBlockBytes)});
    }
  }
  // Adds all buffers of a layout.
  template <typename Ub>
  void Add(const Ub& ub) {
    ub.ForEach([this](const char* name, const common::UbBuffer& buffer) {
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

#endif  // OP_HOST_COMMON_UB_BUDGET_H_
