// SPDX-License-Identifier: Apache-2.0
#include "checkers/gm_use.h"

#include <algorithm>
#include <memory>
#include <tuple>

#include "checkers/race.h"

namespace aclsim {

namespace {

constexpr uint64_t kLineBytes = 64;  // of the data cache
constexpr size_t kMostConflicts = 64;
constexpr uint32_t kSyncAll = UINT32_MAX;  // as CoreSync::flag
constexpr const char* kLoaded = "had brought the line into the cache";
constexpr const char* kStaleAdvice =
    "Hardware reads the old value: neither copies nor other cores change what is in the cache. "
    "Call "
    "DataCacheCleanAndInvalid on the 64-byte line between its earlier use and this read.";

const GmRegion* RegionOf(const KernelLaunch& launch, uint64_t addr) {
  for (const GmRegion& region : launch.regions) {
    const auto begin = reinterpret_cast<uint64_t>(region.addr);
    if (addr >= begin && addr < begin + region.bytes) {
      return &region;
    }
  }
  return nullptr;
}

// Happens-before between cores. Set number n of a flag tells what its pipe has done and waited for; wait number n, which is
// after set number n of every core, lets its core know all of that.
class CoreOrder {
 public:
  explicit CoreOrder(const std::vector<GmUse*>& cores)
      : cores_(cores), now_(cores.size()), known_(cores.size()) {
    std::vector<Cursor> cursors(cores.size());
    for (const GmUse* core : cores) {
      std::map<uint32_t, uint32_t> sets;
      for (size_t i = 0; core != nullptr && i < core->syncs.size(); ++i) {
        const CoreSync& sync = core->syncs[i];
        flags_ |= sync.flag != kSyncAll;
        if (!sync.wait) {
          ++rounds_[{sync.flag, sets[sync.flag]++}].missing;
        }
      }
    }
    for (bool moved = true; moved;) {
      moved = false;
      for (uint32_t core = 0; core < cores.size(); ++core) {
        while (cores[core] != nullptr && Step(core, &cursors[core])) {
          moved = true;
        }
      }
    }
  }

  // Whether byte `at` is done with a when b is issued; clean: and a's value is in GM.
  bool Before(const GmAccess& a, const GmAccess& b, uint64_t at, bool clean = false) const {
    return Before(a, b.core, b.waits, at, clean);
  }
  // When `core` issues what comes after its first `waits` waits.
  bool Before(const GmAccess& a, uint32_t core, uint32_t waits, uint64_t at, bool clean) const {
    const std::vector<Known>& known = known_[core];
    if (waits == 0 || known.empty()) {
      return false;
    }
    const Progress& done = (*known[std::min<size_t>(waits, known.size()) - 1])[a.core];
    return done[static_cast<size_t>(a.pipe)] >= a.CountAt(at) &&
           (!clean || a.cleaned <= done[kCleans]);
  }
  // By more than SyncAll.
  bool Flags() const { return flags_; }

 private:
  using Known = std::shared_ptr<const std::vector<Progress>>;  // by core
  struct Round {
    uint32_t missing = 0;  // cores that have yet to set the flag
    std::vector<Progress> done;
    Known joined;   // into done, last
    Known reached;  // the same, for those that wait
    Known covered;  // what is part of it, last
  };
  struct Cursor {
    size_t next = 0;
    std::map<uint32_t, uint32_t> sets, waits;
  };

  static void Join(Progress* to, const Progress& from) {
    for (size_t i = 0; i < from.size(); ++i) {
      (*to)[i] = std::max((*to)[i], from[i]);
    }
  }
  static void Join(std::vector<Progress>* to, const std::vector<Progress>& from) {
    for (size_t core = 0; core < from.size(); ++core) {
      Join(&(*to)[core], from[core]);
    }
  }

  // The next set or wait of a core; false when there is none, or a wait that cannot pass yet.
  bool Step(uint32_t core, Cursor* cursor) {
    const std::vector<CoreSync>& syncs = cores_[core]->syncs;
    if (cursor->next == syncs.size()) {
      return false;
    }
    const CoreSync& sync = syncs[cursor->next];
    Known& now = now_[core];
    if (!sync.wait) {
      Round& round = rounds_[{sync.flag, cursor->sets[sync.flag]++}];
      round.done.resize(cores_.size());
      if (now != nullptr && now != round.joined) {
        Join(&round.done, *now);
        round.joined = now;
      }
      Join(&round.done[core], sync.done);
      --round.missing;
    } else {
      Round& round = rounds_[{sync.flag, cursor->waits[sync.flag]}];
      if (round.missing > 0 || round.done.empty()) {
        return false;
      }
      ++cursor->waits[sync.flag];
      if (round.reached == nullptr) {
        round.reached = std::make_shared<const std::vector<Progress>>(round.done);
      }
      // Mostly a round tells all that the one before did.
      if (now == nullptr || now == round.covered) {
        now = round.reached;
      } else {
        std::vector<Progress> both = *round.reached;
        Join(&both, *now);
        if (both == *round.reached) {
          round.covered = now;
          now = round.reached;
        } else {
          now = std::make_shared<const std::vector<Progress>>(std::move(both));
        }
      }
      known_[core].push_back(now);
    }
    ++cursor->next;
    return true;
  }

  const std::vector<GmUse*>& cores_;
  std::map<std::pair<uint32_t, uint32_t>, Round> rounds_;  // by flag and number of the set
  std::vector<Known> now_;                                 // by core
  std::vector<std::vector<Known>> known_;                  // by core, after each of its waits
  bool flags_ = false;
};

// The same bytes again and again, by one place of one core.
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

// Whether the later access reads a line of its core's cache that may be older than what the earlier one wrote, up to byte `at`.
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
  const auto place = [&](const GmAccess& access, const char* note) {
    return cores[access.core]->Resolve(access.place, note);
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
      Format("core %u %s and core %u %s %s [%llu, %llu) of %s with no %s", a.core,
             a.write ? "writes" : "reads", b.core, b.write ? "writes" : "reads",
             conflict.line ? "the same 64-byte cache line, bytes" : "bytes",
             static_cast<unsigned long long>(finding.begin),
             static_cast<unsigned long long>(finding.end), finding.buffer.c_str(),
             conflict.flags ? "SyncAll or cross-core flag that orders the two" : "SyncAll between");
  finding.advice =
      conflict.line
          ? "Scalar writes go through the core's cache, which writes whole lines back: one core's "
            "value is lost now and then. Keep the cores' elements 64 bytes apart, or write by "
            "copies."
      : conflict.flags
          ? "Hardware runs the cores side by side: the last one wins, or a reader sees half. "
            "CrossCoreSetFlag tells of what its own pipe has done before, and CrossCoreWaitFlag "
            "holds back what is issued after it, nothing else."
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

Place GmUse::Resolve(uint32_t place, const char* note) const {
  const PlaceInfo& info = places[place];
  return {PipeName(info.pipe), info.name, note, FindKernelLine(info.stack)};
}

bool GmAccess::Append(const GmAccess& next) {
  if (end != next.begin || waits != next.waits || place != next.place || pipe != next.pipe ||
      write != next.write || atomic != next.atomic || cleaned != next.cleaned ||
      filled != next.filled || fillPlace != next.fillPlace) {
    return false;
  }
  // Lines are cleaned one by one.
  if (cleaned == kNever && write && begin / kLineBytes != (next.end - 1) / kLineBytes) {
    return false;
  }
  if (lastCount == next.count) {
    if (count != next.count) {
      return false;
    }
    piece += next.piece;
  } else {
    const bool one = count == lastCount;  // instruction so far
    const uint64_t pieceOfLast = one ? piece : lastPiece;
    const uint32_t more = next.count - lastCount;
    if (next.piece > piece || pieceOfLast != piece || (!one && more != step)) {
      return false;
    }
    step = more;
    lastCount = next.count;
  }
  lastPiece = next.piece;
  end = next.end;
  return true;
}

void GmUse::Add(const Core& core, const Record& record, const Access& access, uint32_t place,
                const CacheFill& fill) {
  GmAccess use;
  use.count = use.lastCount = races_.Count(record.pipe);
  use.waits = record.coreWaits;
  use.core = core.index;
  use.place = place;
  use.pipe = record.pipe;
  use.write = access.use != Use::kRead;
  use.atomic = record.atomic;
  use.cleaned = record.pipe == Pipe::kScalar ? GmAccess::kNever : 0;
  if (record.pipe == Pipe::kScalar && !use.write && fill.waits < use.waits) {
    use.filled = fill.waits;
    use.fillPlace = fill.place;
  }
  ForEachSpan(access, [&](uint64_t begin, uint64_t end, uint32_t) {
    use.begin = begin;
    use.end = end;
    use.piece = end - begin;
    if (accesses.empty() || !accesses.back().Append(use)) {
      if (record.pipe == Pipe::kScalar && use.write) {
        uncleaned_.push_back(accesses.size());
      }
      accesses.push_back(use);
    }
  });
}

// A scalar access: since when the cache has what it reads.
CacheFill GmUse::Fill(const Access& access, const CacheFill& now) {
  const uint64_t end = access.addr + access.TotalBytes();
  CacheFill oldest = now;
  for (uint64_t number = access.addr / kLineBytes; number * kLineBytes < end; ++number) {
    if (recent_ == cached_.end() || recent_->first != number) {
      recent_ = cached_.try_emplace(number, CacheLine{now, 0, now}).first;
    }
    CacheLine& line = recent_->second;
    const uint64_t start = number * kLineBytes;
    const uint64_t from = std::max(access.addr, start) - start;
    const uint64_t bytes = std::min(end - start, kLineBytes) - from;
    const uint64_t mask = ~0ull >> (kLineBytes - bytes) << from;
    if (access.use != Use::kRead) {
      line.own |= mask;
      line.written = now;
      continue;
    }
    const CacheFill& fill = (line.own & mask) != 0 ? line.written : line.loaded;
    if (fill.waits < oldest.waits || fill.copies < oldest.copies) {
      oldest = fill;
    }
  }
  return oldest;
}

// A scalar read, against what the core itself copied to GM behind its cache.
void GmUse::CheckCopies(Core& core, const Record& record, const Access& access,
                        const GmRegion& region, const CacheFill& fill, const CacheFill& now) {
  const uint64_t end = access.addr + access.TotalBytes();
  const uint32_t copy = races_.LastGmWrite(Pipe::kMte3, access.addr, end);
  // What the read does not wait for either is a race.
  if (copy <= fill.copies || copy > now.copies) {
    return;
  }
  const uint32_t site = races_.SiteOf(Pipe::kMte3, copy);
  if (!reportedStale_.emplace(record.site, site).second) {
    return;
  }
  Finding finding;
  finding.kind = "gm-cache";
  finding.space = "GM";
  finding.buffer = region.name;
  finding.begin = access.addr - reinterpret_cast<uint64_t>(region.addr);
  finding.end = end - reinterpret_cast<uint64_t>(region.addr);
  finding.at = core.PlaceOf(record.name, record.pipe, record.site, "reads");
  finding.related.push_back(
      core.PlaceOf(races_.NameOf(Pipe::kMte3, copy), Pipe::kMte3, site, "wrote"));
  finding.related.push_back(Resolve(fill.place, kLoaded));
  finding.detail = Format(
      "the core's data cache may hold the line of bytes [%llu, %llu) of %s as it was before the "
      "core "
      "copied to them",
      static_cast<unsigned long long>(finding.begin), static_cast<unsigned long long>(finding.end),
      region.name.c_str());
  finding.advice = kStaleAdvice;
  core.Find(std::move(finding));
}

void GmUse::OnIssue(const Core&, Record& record) { record.coreWaits = waits_; }

void GmUse::OnRecord(Core& core, const Record& record) {
  for (int i = 0; i < record.accessCount; ++i) {
    const Access& access = record.access[static_cast<size_t>(i)];
    if (!access.gm) {
      continue;
    }
    const bool writes = access.use != Use::kRead;
    const GmRegion* region = core.RegionOf(access.addr);
    if (region == nullptr || IsReadOnly(region->kind) ||
        (region->kind == RegionKind::kInput && !core.Aliased(*region))) {
      continue;
    }
    // A reference may be either; taking it for a read keeps the check quiet where it cannot know.
    Access judged = access;
    if (record.reference) {
      judged.use = Use::kRead;
    }
    if (record.pipe == Pipe::kScalar) {
      const auto copies = static_cast<size_t>(Pipe::kMte3);
      const CacheFill now{record.coreWaits, races_.CompleteAfter(Pipe::kScalar)[copies],
                          PlaceOf(core, record)};
      const CacheFill fill = Fill(access, now);
      Add(core, record, judged, now.place, fill);
      if (fill.copies < now.copies) {
        CheckCopies(core, record, access, *region, fill, now);
      }
      if (writes && !record.reference) {
        dirty_[access.addr / kLineBytes] = now.place;
      }
      continue;
    }
    Add(core, record, judged, PlaceOf(core, record), {});
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
      finding.related.push_back(Resolve(line->second, "wrote through the cache"));
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

void GmUse::OnIssueSync(const Core&, const SyncEvent& event) {
  if (event.kind == SyncEvent::Kind::kSet && IsCoreFlag(event.flag)) {
    pending_[static_cast<size_t>(event.from)].push_back(syncs.size());
    syncs.push_back({event.flag, false, {}});
    syncs.back().done[kCleans] = cleans_;
  }
}

void GmUse::OnSync(Core&, const SyncEvent& event) {
  const auto tell = [](CoreSync* set, const Clock& complete) {
    std::copy(complete.begin(), complete.end(), set->done.begin());
  };
  if (event.kind == SyncEvent::Kind::kCores) {
    if (event.flag == kSomeCores) {
      flagged = true;
      return;
    }
    // All pipes are empty.
    Clock all;
    for (size_t pipe = 0; pipe < kPipes; ++pipe) {
      all[pipe] = races_.Count(static_cast<Pipe>(pipe));
    }
    syncs.push_back({kSyncAll, false, {}});
    tell(&syncs.back(), all);
    syncs.back().done[kCleans] = cleans_;
    syncs.push_back({kSyncAll, true, {}});
    ++waits_;
  } else if (IsCoreFlag(event.flag) && event.kind == SyncEvent::Kind::kSet) {
    std::deque<size_t>& pending = pending_[static_cast<size_t>(event.from)];
    tell(&syncs[pending.front()], races_.CompleteAfter(event.from));
    pending.pop_front();
  } else if (IsCoreFlag(event.flag) && event.kind == SyncEvent::Kind::kWait) {
    syncs.push_back({event.flag, true, {}});
    ++waits_;
  }
}

void GmUse::OnCacheClean(Core&, uint64_t begin, uint64_t end) {
  const auto forget = [&](auto* lines) {
    lines->erase(lines->lower_bound(begin / kLineBytes),
                 lines->lower_bound((end + kLineBytes - 1) / kLineBytes));
  };
  forget(&dirty_);
  forget(&cached_);
  recent_ = cached_.end();
  // Cleaned lines are in GM: whoever comes after it sees what was written there.
  ++cleans_;
  std::erase_if(uncleaned_, [&](size_t index) {
    GmAccess& access = accesses[index];
    const bool clean = access.begin >= begin / kLineBytes * kLineBytes &&
                       access.end <= (end + kLineBytes - 1) / kLineBytes * kLineBytes;
    if (clean) {
      access.cleaned = cleans_;
    }
    return clean;
  });
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
  const std::vector<Track> tracks = TracksOf(&all);
  const CoreOrder order(cores);
  std::vector<Finding> findings;
  std::set<std::array<uint64_t, 3>> reported;
  std::vector<const Track*> active;
  const auto judge = [&](const GmAccess* a, const GmAccess* b) {
    const bool overlap = b->begin < a->end;
    const bool scalars = a->pipe == Pipe::kScalar && b->pipe == Pipe::kScalar;
    bool stale = false, line = false;
    bool aFirst = false;
    const GmAccess* reader = nullptr;  // of a stale line
    if (overlap) {
      const uint64_t last = std::min(a->end, b->end) - 1;
      aFirst = order.Before(*a, *b, last);
      const bool bFirst = !aFirst && order.Before(*b, *a, last);
      // A dirty line that another core uses later was not cleaned in time.
      stale = (aFirst && a->write && !order.Before(*a, *b, last, true)) ||
              (bFirst && b->write && !order.Before(*b, *a, last, true));
      if (!stale) {
        reader = aFirst && Stale(order, *a, *b, last)   ? b
                 : bFirst && Stale(order, *b, *a, last) ? a
                                                        : nullptr;
      }
      if (!stale && reader == nullptr && (aFirst || bFirst || (a->atomic && b->atomic))) {
        return;
      }
    } else {
      // Each core writes back the line as it was when it first touched it.
      line = a->write && b->write && scalars &&
             (a->end - 1) / kLineBytes == b->begin / kLineBytes &&
             !order.Before(*a, *b, a->end - 1, true) && !order.Before(*b, *a, b->begin, true);
      if (!line) {
        return;
      }
    }
    const GmAccess* first = reader != nullptr ? reader : a->core < b->core ? a : b;
    const GmAccess* second = first == a ? b : a;
    const uint64_t kind = reader != nullptr ? 3 : stale ? 2 : line ? 1 : 0;
    if (findings.size() >= kMostConflicts ||
        !reported.insert({first->place, second->place, kind}).second) {
      return;
    }
    Finding finding = Describe(launch, cores, {first, second, line, order.Flags()});
    if (stale) {
      const char* const meeting = order.Flags() ? "CrossCoreSetFlag" : "SyncAll";
      finding.kind = "gm-cache";
      finding.detail = Format(
          "core %u wrote bytes [%llu, %llu) of %s through its data cache, and core "
          "%u uses them after %s",
          (aFirst ? a : b)->core, static_cast<unsigned long long>(finding.begin),
          static_cast<unsigned long long>(finding.end), finding.buffer.c_str(),
          (aFirst ? b : a)->core, meeting);
      finding.advice = Format(
          "Hardware reads the old value: the line is still in the cache. Call "
          "DataCacheCleanAndInvalid before %s.",
          meeting);
    }
    if (reader != nullptr) {
      finding.kind = "gm-cache";
      finding.related.push_back(cores[reader->core]->Resolve(reader->fillPlace, kLoaded));
      finding.detail = Format(
          "core %u's data cache may hold the line of bytes [%llu, %llu) of %s as it was before "
          "core "
          "%u wrote them",
          reader->core, static_cast<unsigned long long>(finding.begin),
          static_cast<unsigned long long>(finding.end), finding.buffer.c_str(), second->core);
      finding.advice = kStaleAdvice;
    }
    findings.push_back(std::move(finding));
  };
  const auto judgeTracks = [&](const Track& x, const Track& y) {
    const GmAccess &a = **x.first, &b = **y.first;
    if (a.core == b.core || !(a.write || b.write)) {
      return;
    }
    if (!x.inOrder || !y.inOrder) {
      for (auto i = x.first; i != x.last; ++i) {
        for (auto j = y.first; j != y.last; ++j) {
          judge(*i, *j);
        }
      }
      return;
    }
    // What is before an access of x comes first in y, then what nothing orders, then what is after it.
    const uint64_t last = std::min(a.end, b.end) - 1;
    for (auto i = x.first; i != x.last; ++i) {
      const auto next = std::partition_point(
          y.first, y.last, [&](const GmAccess* other) { return order.Before(*other, **i, last); });
      if (next != y.last) {
        judge(*i, *next);
      }
    }
  };
  for (const Track& track : tracks) {
    // A neighbour in the same cache line still matters.
    const uint64_t begin = (*track.first)->begin;
    const uint64_t line = begin / kLineBytes * kLineBytes;
    std::erase_if(active, [&](const Track* earlier) {
      const GmAccess& access = **earlier->first;
      return access.end <= (access.pipe == Pipe::kScalar ? line : begin);
    });
    for (const Track* earlier : active) {
      judgeTracks(*earlier, track);
    }
    active.push_back(&track);
  }
  return findings;
}

}  // namespace aclsim
