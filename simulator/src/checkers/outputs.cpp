// SPDX-License-Identifier: Apache-2.0
#include "checkers/outputs.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "engine/gm_shadow.h"
#include "engine/options.h"

namespace aclsim {

namespace {

using Ull = unsigned long long;

// Offsets in an output.
struct Range {
  uint64_t begin = 0, end = 0;
};

struct Write {
  Range range;
  GmAccess access;
};

// In the order of their first bytes.
std::vector<Write> WritesTo(const GmRegion& region, const std::vector<GmUse*>& cores) {
  const auto start = reinterpret_cast<uint64_t>(region.addr);
  std::vector<Write> writes;
  for (const GmUse* core : cores) {
    if (core == nullptr) {
      continue;
    }
    for (const GmAccess& access : RowsOf(core->accesses)) {
      if (access.write && access.begin < start + region.bytes && start < access.end) {
        writes.push_back({{std::max(access.begin, start) - start,
                           std::min(access.end, start + region.bytes) - start},
                          access});
      }
    }
  }
  std::stable_sort(writes.begin(), writes.end(),
                   [](const Write& a, const Write& b) { return a.range.begin < b.range.begin; });
  return writes;
}

// Finds what is undefined and no write has touched: a value that was made of undefined ones has a finding of its own.
std::vector<Range> Unwritten(const GmRegion& region, const std::vector<Write>& writes) {
  std::vector<Range> gaps;
  auto write = writes.begin();
  uint64_t covered = 0;  // by the writes before `write`
  ForEachUndefinedGm(region.addr, region.bytes, [&](uint64_t begin, uint64_t end) {
    for (uint64_t at = begin; at < end;) {
      for (; write != writes.end() && write->range.begin <= at; ++write) {
        covered = std::max(covered, write->range.end);
      }
      const uint64_t until = write == writes.end() ? end : std::min(end, write->range.begin);
      at = std::max(at, std::min(covered, end));
      if (at < until) {
        gaps.push_back({at, until});
        at = until;
      }
    }
  });
  return gaps;
}

// Writes by plain pointers leave no record, only memory that no longer holds the poison.
bool WrittenByPointer(const GmRegion& region, const std::vector<Range>& gaps) {
  return std::ranges::any_of(gaps, [&](const Range& gap) {
    return std::any_of(region.addr + gap.begin, region.addr + gap.end,
                       [](uint8_t byte) { return byte != kPoisonByte; });
  });
}

std::string Elements(const Range& gap, uint64_t bytes, uint32_t width) {
  if (width == 0 || gap.begin % width != 0 || gap.end % width != 0) {
    return "";
  }
  return gap.end - gap.begin == width
             ? Format(" (element %llu of %llu)", static_cast<Ull>(gap.begin / width),
                      static_cast<Ull>(bytes / width))
             : Format(" (elements %llu to %llu of %llu)", static_cast<Ull>(gap.begin / width),
                      static_cast<Ull>(gap.end / width - 1), static_cast<Ull>(bytes / width));
}

// The SetGlobalBuffer of the first core that has made a tensor of this memory.
std::optional<Place> TensorOf(const GmRegion& region, const std::vector<GmUse*>& cores) {
  for (const GmUse* core : cores) {
    if (std::optional<Place> tensor = core != nullptr ? core->TensorOf(region) : std::nullopt) {
      return tensor;
    }
  }
  return std::nullopt;
}

// The last write before a gap and the first behind it; null: none.
struct Neighbours {
  const Write* before = nullptr;
  const Write* after = nullptr;
};
Neighbours NeighboursOf(const Range& gap, const std::vector<Write>& writes) {
  Neighbours found;
  for (const Write& write : writes) {
    if (write.range.end <= gap.begin &&
        (found.before == nullptr || write.range.end > found.before->range.end)) {
      found.before = &write;
    } else if (write.range.begin >= gap.end && found.after == nullptr) {
      found.after = &write;
    }
  }
  return found;
}

Place PlaceOf(const std::vector<GmUse*>& cores, const Write& write, const char* where) {
  const GmAccess& access = write.access;
  return cores[access.core]->Resolve(
      access.place,
      Format("wrote bytes [%llu, %llu) on core %u, %s", static_cast<Ull>(write.range.begin),
             static_cast<Ull>(write.range.end), access.core, where)
          .c_str());
}

// Nothing is written before the gap or behind it: the kernel is to blame, or the tensor that it has made of this memory.
void BlameKernel(const KernelLaunch& launch, std::optional<Place> made, Finding* finding) {
  finding->core = 0;
  finding->at.instruction = "the kernel";
  finding->at.note = "wrote nothing there";
  finding->at.line = FindKernelLine({static_cast<uint8_t*>(const_cast<void*>(launch.entry)) + 1});
  if (made && finding->at.line.line == 0) {
    finding->at = std::move(*made);
    finding->at.note += " and writes nothing to it";
  } else if (made) {
    finding->related.push_back(std::move(*made));
  }
}

void Blame(const KernelLaunch& launch, const std::vector<GmUse*>& cores, const GmRegion& region,
           const Neighbours& writes, Finding* finding) {
  const auto& [before, after] = writes;
  if (before == nullptr && after == nullptr) {
    BlameKernel(launch, TensorOf(region, cores), finding);
    return;
  }
  if (before != nullptr) {
    finding->core = before->access.core;
    finding->at = PlaceOf(cores, *before, "the last before the gap");
    if (after != nullptr) {
      finding->related.push_back(PlaceOf(cores, *after, "the first behind it"));
    }
  } else {
    finding->core = after->access.core;
    finding->at = PlaceOf(cores, *after, "the first behind the gap");
  }
  // A wrong first element of a core's part has no line but this.
  const uint32_t core = (before != nullptr ? before : after)->access.core;
  if (std::optional<Place> made = cores[core]->TensorOf(region)) {
    finding->related.push_back(std::move(*made));
  }
}

Finding Describe(const KernelLaunch& launch, const std::vector<GmUse*>& cores,
                 const GmRegion& region, const std::vector<Write>& writes,
                 const std::vector<Range>& gaps) {
  const Range& gap = gaps.front();
  Finding finding;
  finding.kind = "output-unwritten";
  finding.op = launch.opType;
  finding.blockDim = launch.blockDim;
  finding.space = "GM";
  finding.buffer = region.name;
  finding.begin = gap.begin;
  finding.end = gap.end;
  Blame(launch, cores, region, NeighboursOf(gap, writes), &finding);
  uint64_t bytes = 0;
  for (const Range& one : gaps) {
    bytes += one.end - one.begin;
  }
  finding.detail = Format(
      "no core wrote bytes [%llu, %llu)%s of %s; %llu of its %llu bytes are unwritten, in %zu %s",
      static_cast<Ull>(gap.begin), static_cast<Ull>(gap.end),
      Elements(gap, region.bytes, region.width).c_str(), region.name.c_str(),
      static_cast<Ull>(bytes), static_cast<Ull>(region.bytes), gaps.size(),
      gaps.size() == 1 ? "range" : "ranges");
  finding.advice =
      "Hardware leaves there what the memory held before: random numbers. Look at how the cores "
      "split the tensor, at the last tile and at the length of the copy: DataCopy drops what is "
      "no whole block of 32 bytes. ";
  finding.advice += region.whole
                        ? Format(
                              "If the operator writes %s in part on purpose, say so: "
                              "--partial-output %s, or ACLGRAD_SIM_PARTIAL_OUTPUTS=%s.",
                              region.name.c_str(), region.name.c_str(), region.name.c_str())
                        : "If the kernel writes it in part on purpose, copy that part only.";
  finding.soc = launch.soc->name;
  finding.tiling = launch.tilingText;
  finding.tilingKey = launch.tilingKey;
  return finding;
}

}  // namespace

std::vector<Finding> FindUnwritten(const KernelLaunch& launch, const std::vector<GmUse*>& cores) {
  std::vector<Finding> findings;
  for (const GmRegion& region : launch.regions) {
    if (!region.whole || FirstUndefinedGm(region.addr, region.bytes) == region.bytes) {
      continue;
    }
    const std::vector<Write> writes = WritesTo(region, cores);
    const std::vector<Range> gaps = Unwritten(region, writes);
    if (!gaps.empty() && !WrittenByPointer(region, gaps)) {
      findings.push_back(Describe(launch, cores, region, writes, gaps));
    }
  }
  return findings;
}

std::vector<UnwrittenMemory> FindUnwrittenIfRead(const KernelLaunch& launch,
                                                 const std::vector<GmUse*>& cores) {
  constexpr size_t kMost = 16;  // gaps of one argument
  std::vector<UnwrittenMemory> found;
  for (const GmRegion& region : launch.regions) {
    const auto within = [&](const GmRegion& output) {
      return output.whole && output.addr >= region.addr && output.addr < region.addr + region.bytes;
    };
    if (region.kind != RegionKind::kOutput || std::ranges::any_of(launch.regions, within) ||
        FirstUndefinedGm(region.addr, region.bytes) == region.bytes) {
      continue;
    }
    const std::vector<Write> writes = WritesTo(region, cores);
    std::vector<Range> gaps = Unwritten(region, writes);
    for (size_t i = 0; i < std::min(gaps.size(), kMost); ++i) {
      // Describe tells of the first.
      std::swap(gaps[0], gaps[i]);
      const Range& gap = gaps[0];
      Finding finding = Describe(launch, cores, region, writes, gaps);
      if (!writes.empty()) {
        // Programs copy whole buffers of which they use a number per block.
        finding.severity = Severity::kHint;
      }
      found.push_back({region.addr + gap.begin, region.addr + gap.end, std::move(finding)});
      std::swap(gaps[0], gaps[i]);
    }
  }
  return found;
}

}  // namespace aclsim
