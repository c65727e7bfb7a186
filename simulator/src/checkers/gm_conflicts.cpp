// SPDX-License-Identifier: Apache-2.0
// This file judges accesses of different cores to GM once all cores have run: conflicts, and words by which one core tells another.
#include <algorithm>
#include <tuple>
#include <utility>

#include "checkers/core_order.h"
#include "checkers/gm_rows.h"
#include "checkers/gm_use.h"
#include "checkers/sync_words.h"
#include "engine/gm_shadow.h"

namespace aclsim {

namespace {

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

// A track is one place of one core that uses the same bytes again and again.
struct Track {
  std::vector<const GmAccess*>::const_iterator first, last;
  bool inOrder;  // copies, and issued in the order in which they ran
};

// Sorts the accesses, by address before all else.
std::vector<Track> TracksOf(std::vector<const GmAccess*>* all) {
  const auto track = [](const GmAccess* a) {
    return std::tie(a->begin, a->core, a->end, a->place, a->pipe, a->write, a->atomic);
  };
  std::sort(all->begin(), all->end(), [&](const GmAccess* a, const GmAccess* b) {
    return a->begin != b->begin ? a->begin < b->begin
                                : std::tuple_cat(track(a), std::tie(a->count)) <
                                      std::tuple_cat(track(b), std::tie(b->count));
  });
  std::vector<Track> tracks;
  for (auto at = all->cbegin(); at != all->cend(); ++at) {
    if (tracks.empty() || (*tracks.back().first)->begin != (*at)->begin ||
        track(*tracks.back().first) != track(*at)) {
      tracks.push_back({at, at, (*at)->pipe != Pipe::kScalar});
    } else {
      tracks.back().inOrder &= (*std::prev(at))->waits <= (*at)->waits;
    }
    tracks.back().last = std::next(at);
  }
  return tracks;
}

// Stale says whether the later access reads a line of its core's cache that may be older than what the earlier one wrote, up to byte `at`.
bool Stale(const CoreOrder& order, const GmAccess& earlier, const GmAccess& later, uint64_t at) {
  return earlier.write && later.filled != GmAccess::kNever &&
         !order.Before(earlier, later.core, later.filled, at, true);
}

struct Conflict {
  const GmAccess* first;
  const GmAccess* second;
  bool line;   // only the cache line is shared
  bool flags;  // the kernel has cross-core flags
};

Finding Describe(const KernelLaunch& launch, const std::vector<GmUse*>& cores,
                 const Conflict& conflict) {
  const GmAccess& a = *conflict.first;
  const GmAccess& b = *conflict.second;
  const auto place = [&](const GmAccess& access, const char* note) {
    Place found = cores[access.core]->Resolve(access.place, note);
    found.core = access.core;
    const uint64_t shared = conflict.line ? access.begin : std::max(a.begin, b.begin);
    found.count = access.CountAt(shared);
    return found;
  };
  Finding finding;
  finding.kind = conflict.line ? "gm-line-shared" : "gm-conflict";
  finding.op = launch.opType;
  finding.core = a.core;
  finding.blockDim = launch.blockDim;
  finding.space = "GM";
  uint64_t start = 0;
  const GmRegion* const region = RegionOf(launch, a.begin);
  if (region != nullptr) {
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
  const std::string ofA = launch.NameOf(a.core), ofB = launch.NameOf(b.core);
  finding.related.push_back(
      place(b, Format("%s on %s", b.write ? "writes" : "reads", ofB.c_str()).c_str()));
  // Parts of a tensor that overlap may begin at a wrong element.
  if (region != nullptr && a.write && b.write && !conflict.line) {
    if (std::optional<Place> tensor = cores[a.core]->TensorOf(*region)) {
      finding.related.push_back(std::move(*tensor));
    }
  }
  finding.detail = Format("%s %s and %s %s %s [%llu, %llu) of %s with no %s", ofA.c_str(),
                          a.write ? "writes" : "reads", ofB.c_str(), b.write ? "writes" : "reads",
                          conflict.line ? "the same 64-byte cache line, bytes" : "bytes",
                          static_cast<unsigned long long>(finding.begin),
                          static_cast<unsigned long long>(finding.end), finding.buffer.c_str(),
                          conflict.flags ? "SyncAll, cross-core flag or IBWait that orders the two"
                                         : "SyncAll between");
  finding.advice =
      conflict.line
          ? "Scalar writes go through the core's cache, which writes whole lines back: one core's "
            "value is lost now and then. Keep the cores' elements 64 bytes apart, or write by "
            "copies."
      : conflict.flags
          ? "Hardware runs the cores side by side: the last one wins, or a reader sees half. "
            "CrossCoreSetFlag tells of what its own pipe has done before, IBSet of all that its "
            "core "
            "has done; CrossCoreWaitFlag and IBWait hold back what is issued after them, nothing "
            "else."
          : "Hardware runs the cores side by side: the last one wins, or a reader sees half. Split "
            "the "
            "tensor so that each byte has one core, SetAtomicAdd, or SyncAll between them.";
  finding.soc = launch.soc->name;
  finding.tiling = launch.tilingText;
  finding.tilingKey = launch.tilingKey;
  return finding;
}

// Judges each pair of accesses of different cores that share bytes, or a line of the cache.
class ConflictFinder {
 public:
  ConflictFinder(const KernelLaunch& launch, const std::vector<GmUse*>& cores)
      : launch_(launch),
        cores_(cores),
        all_(Suspects(cores, &rows_)),
        tracks_(TracksOf(&all_)),
        order_(cores),
        words_(cores) {}

  std::vector<Finding> Find() {
    std::vector<const Track*> active;
    for (const Track& track : tracks_) {
      // A neighbour in the same cache line still matters.
      const uint64_t begin = (*track.first)->begin;
      const uint64_t line = begin / kLineBytes * kLineBytes;
      std::erase_if(active, [&](const Track* earlier) {
        const GmAccess& access = **earlier->first;
        return access.end <= (access.pipe == Pipe::kScalar ? line : begin);
      });
      for (const Track* earlier : active) {
        JudgeTracks(*earlier, track);
      }
      active.push_back(&track);
    }
    for (const auto& [a, b] : sums_) {
      AddSum(*a, *b);
    }
    return std::move(findings_);
  }

 private:
  // Shared says how two accesses of the same bytes are ordered.
  struct Shared {
    bool aFirst = false;
    bool bFirst = false;
    bool stale = false;                // the writer's line was not cleaned in time
    const GmAccess* reader = nullptr;  // of a line that is older in its cache
    bool ordered() const { return (aFirst || bFirst) && !stale && reader == nullptr; }
  };

  void JudgeTracks(const Track& x, const Track& y) {
    const GmAccess &a = **x.first, &b = **y.first;
    if (a.core == b.core || !(a.write || b.write)) {
      return;
    }
    if (!x.inOrder || !y.inOrder) {
      for (auto i = x.first; i != x.last; ++i) {
        for (auto j = y.first; j != y.last; ++j) {
          Judge(**i, **j);
        }
      }
      return;
    }
    // Accesses that are before one of x come first in y, then what nothing orders, then what is after it.
    const uint64_t last = std::min(a.end, b.end) - 1;
    for (auto i = x.first; i != x.last; ++i) {
      const auto next = std::partition_point(
          y.first, y.last, [&](const GmAccess* other) { return order_.Before(*other, **i, last); });
      if (next != y.last) {
        Judge(**i, **next);
      }
    }
  }

  void Judge(const GmAccess& a, const GmAccess& b) {
    if (b.begin >= a.end) {
      if (LoseLine(a, b)) {
        Add(a, b, true, {});
      }
      return;
    }
    // Who polls reads while the other writes; OnRead and SettleWords have judged it.
    if (Polled(a, b) || Polled(b, a)) {
      return;
    }
    if (a.write && b.write && words_.Hold(a, b)) {
      return;  // the documented way: each core clears the words of all
    }
    const Shared shared = SharedBytes(a, b);
    const bool current = !shared.stale && shared.reader == nullptr;
    const bool atomic = a.atomic && b.atomic;
    if (current && atomic && !shared.aFirst && !shared.bFirst && a.sum && b.sum) {
      sums_.push_back({&a, &b});
    }
    if (!shared.ordered() && !(current && atomic)) {
      Add(a, b, false, shared);
    }
  }

  bool Polled(const GmAccess& write, const GmAccess& read) const {
    return write.write && !read.write && (read.pipe == Pipe::kScalar || read.pipe == Pipe::kMte2) &&
           (write.pipe == Pipe::kScalar || write.pipe == Pipe::kMte3) &&
           cores_[read.core]->Polls(read.begin, read.end);
  }

  // A line is lost where each core writes it back as it was when the core first touched it.
  bool LoseLine(const GmAccess& a, const GmAccess& b) const {
    return a.write && b.write && a.pipe == Pipe::kScalar && b.pipe == Pipe::kScalar &&
           (a.end - 1) / kLineBytes == b.begin / kLineBytes &&
           !order_.Before(a, b, a.end - 1, true) && !order_.Before(b, a, b.begin, true);
  }

  Shared SharedBytes(const GmAccess& a, const GmAccess& b) const {
    const uint64_t last = std::min(a.end, b.end) - 1;
    Shared shared;
    shared.aFirst = order_.Before(a, b, last);
    shared.bFirst = !shared.aFirst && order_.Before(b, a, last);
    // A dirty line that another core uses later was not cleaned in time.
    shared.stale = (shared.aFirst && a.write && !order_.Before(a, b, last, true)) ||
                   (shared.bFirst && b.write && !order_.Before(b, a, last, true));
    if (!shared.stale && shared.aFirst && Stale(order_, a, b, last)) {
      shared.reader = &b;
    } else if (!shared.stale && shared.bFirst && Stale(order_, b, a, last)) {
      shared.reader = &a;
    }
    return shared;
  }

  void Add(const GmAccess& a, const GmAccess& b, bool line, const Shared& shared) {
    const GmAccess* first = shared.reader != nullptr ? shared.reader : a.core < b.core ? &a : &b;
    const GmAccess* second = first == &a ? &b : &a;
    const uint64_t kind = shared.reader != nullptr ? 3 : shared.stale ? 2 : line ? 1 : 0;
    if (findings_.size() >= kMostConflicts ||
        !reported_.insert({first->place, second->place, kind}).second) {
      return;
    }
    Finding finding = Describe(launch_, cores_, {first, second, line, order_.Flags()});
    if (shared.stale) {
      TellStale(shared.aFirst ? a : b, shared.aFirst ? b : a, &finding);
    } else if (shared.reader != nullptr) {
      TellOldLine(*first, *second, &finding);
    }
    findings_.push_back(std::move(finding));
  }

  void TellStale(const GmAccess& writer, const GmAccess& user, Finding* finding) const {
    const char* const meeting =
        order_.Flags() ? "the CrossCoreSetFlag or IBSet that tells of it" : "SyncAll";
    finding->kind = "gm-cache";
    finding->detail = Format(
        "%s wrote bytes [%llu, %llu) of %s through its data cache, and %s uses them after %s",
        launch_.NameOf(writer.core).c_str(), static_cast<unsigned long long>(finding->begin),
        static_cast<unsigned long long>(finding->end), finding->buffer.c_str(),
        launch_.NameOf(user.core).c_str(), meeting);
    finding->advice = Format(
        "Hardware reads the old value: the line is still in the cache. Call "
        "DataCacheCleanAndInvalid before %s.",
        meeting);
  }

  void TellOldLine(const GmAccess& reader, const GmAccess& writer, Finding* finding) const {
    finding->kind = "gm-cache";
    finding->related.push_back(cores_[reader.core]->Resolve(reader.fillPlace, kLoaded));
    finding->detail = Format(
        "%s's data cache may hold the line of bytes [%llu, %llu) of %s as it was before %s wrote "
        "them",
        launch_.NameOf(reader.core).c_str(), static_cast<unsigned long long>(finding->begin),
        static_cast<unsigned long long>(finding->end), finding->buffer.c_str(),
        launch_.NameOf(writer.core).c_str());
    finding->advice = kStaleAdvice;
  }

  std::string Pair(uint32_t a, uint32_t b) const {
    return launch_.Mixed() ? launch_.NameOf(a) + " and " + launch_.NameOf(b)
                           : Format("cores %u and %u", a, b);
  }

  // Floating-point atomics that nothing orders.
  void AddSum(const GmAccess& a, const GmAccess& b) {
    const GmAccess& first = a.core < b.core ? a : b;
    const GmAccess& second = &first == &a ? b : a;
    if (!reported_.insert({first.place, second.place, 4}).second) {
      return;
    }
    Finding finding = Describe(launch_, cores_, {&first, &second, false, order_.Flags()});
    finding.kind = "atomic-order";
    finding.severity = Severity::kHint;
    finding.detail = Format(
        "%s add floating-point numbers to bytes [%llu, %llu) of %s, in an order that changes from "
        "run to run",
        Pair(first.core, second.core).c_str(), static_cast<unsigned long long>(finding.begin),
        static_cast<unsigned long long>(finding.end), finding.buffer.c_str());
    finding.advice =
        "The last bits of the sum differ between runs on an NPU. Where results must repeat, write "
        "partial sums to the workspace and let one core add them after SyncAll. "
        "--chaos varies the order.";
    findings_.push_back(std::move(finding));
  }

  const KernelLaunch& launch_;
  const std::vector<GmUse*>& cores_;
  std::deque<GmAccess> rows_;
  std::vector<const GmAccess*> all_;
  const std::vector<Track> tracks_;
  const CoreOrder order_;
  const WordsOfAll words_;
  std::vector<Finding> findings_;
  std::set<std::array<uint64_t, 3>> reported_;
  std::vector<std::pair<const GmAccess*, const GmAccess*>> sums_;
};

}  // namespace

std::vector<Finding> SettleWords(const KernelLaunch& launch, const std::vector<GmUse*>& cores) {
  std::vector<Finding> findings;
  std::set<uint32_t> heard;
  std::map<uint32_t, WordRead> readers;  // by number of the store
  for (const GmUse* core : cores) {
    for (size_t i = 0; core != nullptr && i < core->wordReads.size(); ++i) {
      heard.insert(core->wordReads[i].number);
      readers.try_emplace(core->wordReads[i].number, core->wordReads[i]).first->second.core =
          static_cast<uint32_t>(std::ranges::find(cores, core) - cores.begin());
    }
  }
  if (heard.empty()) {
    return findings;
  }
  std::set<uint32_t> reported;
  for (uint32_t index = 0; index < cores.size(); ++index) {
    GmUse* core = cores[index];
    if (core == nullptr || core->wordStores.empty()) {
      continue;
    }
    std::vector<CoreSync> syncs;
    size_t next = 0;
    for (const WordStore& store : core->wordStores) {
      if (!heard.contains(store.number)) {
        continue;
      }
      for (; next < store.syncs; ++next) {
        syncs.push_back(core->syncs[next]);
      }
      syncs.push_back({.flag = CoreSync::kWord, .number = store.number, .done = store.done});
      if (store.clean || !reported.insert(store.place).second) {
        continue;
      }
      Finding finding;
      finding.kind = "gm-cache";
      finding.op = launch.opType;
      finding.core = index;
      finding.blockDim = launch.blockDim;
      finding.space = "GM";
      if (const GmRegion* region = RegionOf(launch, store.begin)) {
        finding.buffer = region->name;
        finding.begin = store.begin - reinterpret_cast<uint64_t>(region->addr);
        finding.end = finding.begin + 1;
      }
      const WordRead& reader = readers.at(store.number);
      finding.at = core->Resolve(store.place, "writes");
      finding.at.core = index;
      finding.related.push_back(cores[reader.core]->Resolve(
          reader.place, Format("waits for it on core %u", reader.core).c_str()));
      finding.related[0].core = reader.core;
      finding.detail = Format(
          "core %u polls byte %llu of %s for what core %u writes there through its data cache, "
          "which "
          "keeps it",
          reader.core, static_cast<unsigned long long>(finding.begin), finding.buffer.c_str(),
          index);
      finding.advice =
          "Hardware shows the other core the old value: a hang. Call DataCacheCleanAndInvalid on "
          "the "
          "line after the write.";
      finding.soc = launch.soc->name;
      finding.tiling = launch.tilingText;
      finding.tilingKey = launch.tilingKey;
      findings.push_back(std::move(finding));
    }
    for (; next < core->syncs.size(); ++next) {
      syncs.push_back(core->syncs[next]);
    }
    core->syncs = std::move(syncs);
  }
  return findings;
}

std::vector<Finding> FindGmConflicts(const KernelLaunch& launch, const std::vector<GmUse*>& cores) {
  if (std::ranges::any_of(cores,
                          [](const GmUse* core) { return core != nullptr && core->flagged; })) {
    return {};
  }
  return ConflictFinder(launch, cores).Find();
}

}  // namespace aclsim
