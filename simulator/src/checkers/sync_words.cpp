// SPDX-License-Identifier: Apache-2.0
#include "checkers/sync_words.h"

#include <algorithm>

#include "checkers/core_order.h"

namespace aclsim {

namespace {

using Ull = unsigned long long;
using Range = std::pair<uint64_t, uint64_t>;

std::vector<Range> Joined(std::vector<Range> ranges) {
  std::ranges::sort(ranges);
  std::vector<Range> joined;
  for (const Range& range : ranges) {
    if (!joined.empty() && range.first <= joined.back().second) {
      joined.back().second = std::max(joined.back().second, range.second);
    } else {
      joined.push_back(range);
    }
  }
  return joined;
}

// Who wrote to the words of a core: before it used them, or in no order with that.
struct Writers {
  std::vector<Range> before;
  std::vector<GmAccess> loose;
};

Writers WritersOf(const SyncWords& words, const std::vector<GmUse*>& cores,
                  const CoreOrder& order) {
  Writers writers;
  const GmAccess& use = words.use;
  for (const GmUse* core : cores) {
    if (core == nullptr) {
      continue;
    }
    for (size_t i = 0; i < core->accesses.size(); ++i) {
      for (uint32_t row = 0; row < core->accesses[i].rows; ++row) {
        const GmAccess access = core->accesses[i].Row(row);
        if (!access.write || access.end <= use.begin || use.end <= access.begin) {
          continue;
        }
        const uint64_t last = std::min(access.end, use.end) - 1;
        const bool own = access.core == use.core;
        // Its own writes count if they are no longer in the data cache only.
        const bool before = own ? i < words.accesses && access.cleaned <= words.cleans
                                : order.Before(access, use, last, true);
        if (before) {
          writers.before.emplace_back(access.begin, access.end);
        } else if (own ? i < words.accesses : !order.Before(use, access, use.begin)) {
          writers.loose.push_back(access);
        }
      }
    }
  }
  return writers;
}

bool Covered(const GmAccess& access, const GmAccess& use, const std::vector<Range>& joined) {
  const Range needed = {std::max(access.begin, use.begin), std::min(access.end, use.end)};
  return std::ranges::any_of(joined, [&](const Range& range) {
    return range.first <= needed.first && needed.second <= range.second;
  });
}

}  // namespace

WordsOfAll::WordsOfAll(const std::vector<GmUse*>& cores) {
  for (const GmUse* core : cores) {
    for (size_t i = 0; core != nullptr && i < core->words.size(); ++i) {
      ranges_.emplace_back(core->words[i].use.begin, core->words[i].use.end);
    }
  }
  ranges_ = Joined(std::move(ranges_));
}

bool WordsOfAll::Hold(const GmAccess& a, const GmAccess& b) const {
  return !ranges_.empty() && Covered(a, b, ranges_);
}

std::vector<Finding> FindSyncWords(const KernelLaunch& launch, const std::vector<GmUse*>& cores) {
  std::vector<Finding> findings;
  if (std::ranges::all_of(
          cores, [](const GmUse* core) { return core == nullptr || core->words.empty(); })) {
    return findings;
  }
  const CoreOrder order(cores);
  for (const GmUse* core : cores) {
    for (size_t i = 0; core != nullptr && i < core->words.size(); ++i) {
      const SyncWords& words = core->words[i];
      const GmAccess& use = words.use;
      Writers writers = WritersOf(words, cores, order);
      const std::vector<Range> before = Joined(std::move(writers.before));
      const auto loose = std::ranges::find_if(
          writers.loose, [&](const GmAccess& access) { return !Covered(access, use, before); });
      const bool cleared = words.firstBad == use.end - use.begin;
      if (cleared && loose == writers.loose.end()) {
        continue;
      }
      Finding finding;
      finding.kind = "sync-workspace";
      finding.op = launch.opType;
      finding.core = use.core;
      finding.blockDim = launch.blockDim;
      finding.space = "GM";
      uint64_t start = 0;
      for (const GmRegion& region : launch.regions) {
        const auto begin = reinterpret_cast<uint64_t>(region.addr);
        if (use.begin >= begin && use.begin < begin + region.bytes) {
          finding.buffer = region.name;
          start = begin;
          break;
        }
      }
      finding.begin = use.begin - start;
      finding.end = use.end - start;
      finding.at = core->Resolve(use.place, "waits by these words");
      const std::string name = finding.at.instruction;
      if (loose != writers.loose.end()) {
        const GmAccess& writer = *loose;
        const bool own = writer.core == use.core;
        finding.related.push_back(cores[writer.core]->Resolve(
            writer.place, Format("writes them on core %u", writer.core).c_str()));
        finding.detail =
            Format("core %u calls %s by bytes [%llu, %llu) of %s; core %u writes to them %s",
                   use.core, name.c_str(), static_cast<Ull>(finding.begin),
                   static_cast<Ull>(finding.end), finding.buffer.c_str(), writer.core,
                   own ? "before, but the write is still in its data cache"
                       : "as well, and nothing orders the two");
      } else {
        finding.begin += words.firstBad;
        finding.detail = Format(
            "core %u calls %s by words of %s, and bytes from %llu up to %llu of them %s before",
            use.core, name.c_str(), finding.buffer.c_str(), static_cast<Ull>(finding.begin),
            static_cast<Ull>(finding.end),
            words.undefined ? "were not written by anybody" : "were not 0");
      }
      finding.advice = Format(
          "%s on hardware goes by what it finds there: a hang, or a core that does not wait. The "
          "words must be 0 before the first core gets there. The host clears them (aclrtMemset, or "
          "a tensor of zeros as an input), or every core clears all of them by itself before it "
          "calls %s (InitGlobalMemory).",
          name.c_str(), name.c_str());
      finding.soc = launch.soc->name;
      finding.tiling = launch.tilingText;
      finding.tilingKey = launch.tilingKey;
      findings.push_back(std::move(finding));
    }
  }
  return findings;
}

}  // namespace aclsim
