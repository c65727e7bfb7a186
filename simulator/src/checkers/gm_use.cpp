// SPDX-License-Identifier: Apache-2.0
#include "checkers/gm_use.h"

#include <algorithm>

namespace aclsim {

namespace {

constexpr uint64_t kLineBytes = 64;  // of the data cache
constexpr size_t kMostConflicts = 64;

const GmRegion* RegionOf(const KernelLaunch& launch, uint64_t addr) {
  for (const GmRegion& region : launch.regions) {
    const auto begin = reinterpret_cast<uint64_t>(region.addr);
    if (addr >= begin && addr < begin + region.bytes) {
      return &region;
    }
  }
  return nullptr;
}

struct Conflict {
  const GmAccess* first;
  const GmAccess* second;
  bool line;  // only the cache line is shared
};

Finding Describe(const KernelLaunch& launch, const std::vector<GmUse*>& cores,
                 const Conflict& conflict) {
  const auto place = [&](const GmAccess& access, const char* note) {
    const GmUse::PlaceInfo& info = cores[access.core]->places[access.place];
    return Place{PipeName(info.pipe), info.name, note, FindKernelLine(info.stack)};
  };
  const GmAccess& a = *conflict.first;
  const GmAccess& b = *conflict.second;
  Finding finding;
  finding.kind = conflict.line ? "gm-line-shared" : "gm-conflict";
  finding.op = launch.opType;
  finding.core = a.core;
  finding.blockDim = launch.blockDim;
  finding.space = "GM";
  uint64_t start = 0;
  if (const GmRegion* region = RegionOf(launch, a.begin)) {
    finding.buffer = region->name;
    start = reinterpret_cast<uint64_t>(region->addr);
  }
  finding.begin = std::max(a.begin, b.begin) - start;
  finding.end = std::min(a.end, b.end) - start;
  if (conflict.line) {
    finding.begin = std::min(a.begin, b.begin) - start;
    finding.end = std::max(a.end, b.end) - start;
  }
  finding.at = place(a, a.write ? "writes" : "reads");
  finding.related.push_back(
      place(b, Format("%s on core %u", b.write ? "writes" : "reads", b.core).c_str()));
  finding.detail =
      Format("core %u %s and core %u %s %s [%llu, %llu) of %s with no SyncAll between", a.core,
             a.write ? "writes" : "reads", b.core, b.write ? "writes" : "reads",
             conflict.line ? "the same 64-byte cache line, bytes" : "bytes",
             static_cast<unsigned long long>(finding.begin),
             static_cast<unsigned long long>(finding.end), finding.buffer.c_str());
  finding.advice =
      conflict.line
          ? "Scalar writes go through the core's cache, which writes whole lines back: one core's "
            "value is lost now and then. Keep the cores' elements 64 bytes apart, or write by "
            "copies."
          : "Hardware runs the cores side by side: the last one wins, or a reader sees half. Split "
            "the "
            "tensor so that each byte has one core, SetAtomicAdd, or SyncAll between them.";
  finding.soc = launch.soc->name;
  finding.tiling = launch.tilingText;
  finding.tilingKey = launch.tilingKey;
  return finding;
}

}  // namespace

uint32_t GmUse::PlaceOf(const Core& core, const Record& record) {
  const auto [place, isNew] = placeOf_.emplace(record.site, static_cast<uint32_t>(places.size()));
  if (isNew) {
    places.push_back({record.name, record.pipe, core.sites.Stack(record.site)});
  }
  return place->second;
}

void GmUse::Add(const Core& core, const Record& record, const Access& access) {
  GmAccess use;
  use.epoch = epoch_;
  use.core = core.index;
  use.place = PlaceOf(core, record);
  use.write = access.use != Use::kRead;
  use.atomic = record.atomic;
  use.scalar = use.cached = record.pipe == Pipe::kScalar;
  ForEachSpan(access, [&](uint64_t begin, uint64_t end, uint32_t) {
    if (!accesses.empty()) {
      GmAccess& last = accesses.back();
      if (last.end == begin && last.epoch == use.epoch && last.place == use.place &&
          last.write == use.write && last.atomic == use.atomic) {
        last.end = end;
        return;
      }
    }
    use.begin = begin;
    use.end = end;
    accesses.push_back(use);
  });
}

void GmUse::OnRecord(Core& core, const Record& record) {
  for (int i = 0; i < record.accessCount; ++i) {
    const Access& access = record.access[static_cast<size_t>(i)];
    if (!access.gm) {
      continue;
    }
    const bool writes = access.use != Use::kRead;
    const GmRegion* region = core.RegionOf(access.addr);
    if (region == nullptr || region->kind == RegionKind::kTiling ||
        (region->kind == RegionKind::kInput && !core.Aliased(*region))) {
      continue;
    }
    // A reference may be either; taking it for a read keeps the check quiet where it cannot know.
    Access judged = access;
    if (record.reference) {
      judged.use = Use::kRead;
    }
    Add(core, record, judged);
    if (record.pipe == Pipe::kScalar) {
      if (writes && !record.reference) {
        dirty_[access.addr / kLineBytes] = PlaceOf(core, record);
      }
      continue;
    }
    // The copy pipes do not see what is still in the cache.
    if (dirty_.empty() || writes) {
      continue;
    }
    ForEachSpan(access, [&](uint64_t begin, uint64_t end, uint32_t) {
      const auto line = dirty_.lower_bound(begin / kLineBytes);
      if (line == dirty_.end() || line->first * kLineBytes >= end) {
        return;
      }
      if (!reported_.emplace(record.site, line->second).second) {
        return;
      }
      Finding finding;
      finding.kind = "gm-cache";
      finding.space = "GM";
      finding.buffer = region->name;
      finding.begin = begin - reinterpret_cast<uint64_t>(region->addr);
      finding.end = end - reinterpret_cast<uint64_t>(region->addr);
      finding.at = core.PlaceOf(record.name, record.pipe, record.site, "reads");
      const PlaceInfo& writer = places[line->second];
      finding.related.push_back({PipeName(writer.pipe), writer.name, "wrote through the cache",
                                 FindKernelLine(writer.stack)});
      finding.detail = Format(
          "bytes [%llu, %llu) of %s hold a scalar write that is still in the core's "
          "data cache",
          static_cast<unsigned long long>(finding.begin),
          static_cast<unsigned long long>(finding.end), region->name.c_str());
      finding.advice =
          "Hardware copies the old value. Call DataCacheCleanAndInvalid after the scalar "
          "writes.";
      core.Find(std::move(finding));
    });
  }
}

void GmUse::OnSync(Core&, const SyncEvent& event) {
  if (event.kind == SyncEvent::Kind::kCores) {
    ++epoch_;
    flagged |= event.flag == kSomeCores;
  }
}

void GmUse::OnCacheClean(Core&, uint64_t begin, uint64_t end) {
  dirty_.erase(dirty_.lower_bound(begin / kLineBytes),
               dirty_.lower_bound((end + kLineBytes - 1) / kLineBytes));
  // Cleaned lines are in GM: what was written there counts as a copy from here on.
  for (GmAccess& access : accesses) {
    if (access.cached && access.write && access.epoch == epoch_ &&
        access.begin >= begin / kLineBytes * kLineBytes &&
        access.end <= (end + kLineBytes - 1) / kLineBytes * kLineBytes) {
      access.cached = false;
    }
  }
}

std::vector<Finding> FindGmConflicts(const KernelLaunch& launch, const std::vector<GmUse*>& cores) {
  std::vector<const GmAccess*> all;
  for (const GmUse* core : cores) {
    if (core == nullptr) {
      continue;
    }
    if (core->flagged) {
      return {};
    }
    for (const GmAccess& access : core->accesses) {
      all.push_back(&access);
    }
  }
  std::sort(all.begin(), all.end(), [](const GmAccess* a, const GmAccess* b) {
    return std::tie(a->begin, a->core, a->epoch) < std::tie(b->begin, b->core, b->epoch);
  });
  std::vector<Finding> findings;
  std::set<std::array<uint64_t, 4>> reported;
  std::vector<const GmAccess*> active;
  const auto judge = [&](const GmAccess* a, const GmAccess* b) {
    if (a->core == b->core || !(a->write || b->write)) {
      return;
    }
    const bool overlap = b->begin < a->end;
    // A dirty line that another core reads after a SyncAll was never cleaned.
    const bool stale = overlap && a->epoch != b->epoch &&
                       ((a->write && a->cached && a->epoch < b->epoch) ||
                        (b->write && b->cached && b->epoch < a->epoch));
    // Cleaning does not help: each core writes back the line as it was when it first touched it.
    const bool together = a->epoch == b->epoch || (a->cached && b->cached);
    const bool line = a->write && b->write && a->scalar && b->scalar && !overlap && together &&
                      (a->end - 1) / kLineBytes == b->begin / kLineBytes;
    const bool conflict = overlap && a->epoch == b->epoch && !(a->atomic && b->atomic);
    if (!stale && !line && !conflict) {
      return;
    }
    const GmAccess* first = a->core < b->core ? a : b;
    const GmAccess* second = first == a ? b : a;
    if (findings.size() >= kMostConflicts ||
        !reported.insert({first->place, second->place, stale, line}).second) {
      return;
    }
    Finding finding = Describe(launch, cores, {first, second, line});
    if (stale) {
      finding.kind = "gm-cache";
      finding.detail = Format(
          "core %u wrote bytes [%llu, %llu) of %s through its data cache, and core "
          "%u uses them after SyncAll",
          (a->epoch < b->epoch ? a : b)->core, static_cast<unsigned long long>(finding.begin),
          static_cast<unsigned long long>(finding.end), finding.buffer.c_str(),
          (a->epoch < b->epoch ? b : a)->core);
      finding.advice =
          "Hardware reads the old value: the line is still in the cache. Call "
          "DataCacheCleanAndInvalid before SyncAll.";
    }
    findings.push_back(std::move(finding));
  };
  for (const GmAccess* access : all) {
    // A neighbour in the same cache line still matters.
    const uint64_t line = access->begin / kLineBytes * kLineBytes;
    std::erase_if(active, [&](const GmAccess* earlier) {
      return earlier->end <= (earlier->scalar ? line : access->begin);
    });
    for (const GmAccess* earlier : active) {
      judge(earlier, access);
    }
    active.push_back(access);
  }
  return findings;
}

}  // namespace aclsim
