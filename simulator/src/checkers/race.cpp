// SPDX-License-Identifier: Apache-2.0
#include "checkers/race.h"

#include <algorithm>
#include <set>

#include "ascendc/types.h"
#include "engine/flag_numbers.h"
#include "engine/meeting.h"

namespace aclsim {

namespace {

constexpr size_t kMostSources =
    1 << 20;  // beyond, no hints: the kernel is long enough without them

bool Writes(const Access& access) { return access.use != Use::kRead; }

// Behind the memories lie the comparison register, whose users hardware orders, and what they could not hold.
bool InUb(const Core& core, const Access& access) { return access.addr < core.image.Tracked(); }

// Returns where the tensor of an access begins.
uint64_t TensorOf(const Core& core, const Access& access) {
  const GmRegion* region = core.RegionOf(access.addr);
  return region != nullptr ? reinterpret_cast<uint64_t>(region->addr) : access.addr;
}

// Returns whether an access leaves no whole block out between its first and its last byte. May say no.
bool TouchesAllBlocks(const Access& access) {
  if (access.masked || access.TotalBytes() == 0) {
    return false;
  }
  const auto near = [](int64_t stride, uint64_t bytes) {
    return stride >= 0 && static_cast<uint64_t>(stride) < bytes + kBlockBytes;
  };
  uint64_t bytes = access.bytes;  // of a repeat, from its first to its last
  if (access.chunk < access.bytes) {
    if (!near(access.chunkStride, access.chunk)) {
      return false;
    }
    const uint64_t last = (access.bytes - 1) / access.chunk;
    bytes = last * static_cast<uint64_t>(access.chunkStride) + access.bytes - last * access.chunk;
  }
  return access.repeat == 1 || near(access.repStride, bytes);
}

const char* HazardOf(bool earlierWrote, bool nowWrites) {
  return earlierWrote ? (nowWrites ? "race-write-after-write" : "race-read-after-write")
                      : "race-write-after-read";
}

}  // namespace

void SyncUse::Add(const Site& site) {
  const std::lock_guard lock(mutex_);
  for (Site& known : sites_) {
    if (known.stack == site.stack && known.name == site.name) {
      known.executed += site.executed;
      known.used |= site.used;
      return;
    }
  }
  sites_.push_back(site);
}

std::vector<Finding> SyncUse::Hints(const KernelLaunch& launch) const {
  std::vector<Finding> hints;
  for (const Site& site : sites_) {
    if (site.used) {
      continue;
    }
    Finding hint;
    hint.kind = "sync-redundant";
    hint.severity = Severity::kHint;
    hint.op = launch.opType;
    hint.core = 0;
    hint.blockDim = launch.blockDim;
    hint.at = {"", site.name, "", FindKernelLine(site.stack)};
    hint.detail = Format("%s ordered no two accesses in this launch (passed %llu times)",
                         site.name.c_str(), static_cast<unsigned long long>(site.executed));
    hint.advice =
        Format("It may be left out%s, if larger shapes show the same: each one stalls a pipe.",
               site.name == "WaitFlag" ? " together with its SetFlag" : "");
    hint.soc = launch.soc->name;
    hint.tiling = launch.tilingText;
    hint.tilingKey = launch.tilingKey;
    hints.push_back(std::move(hint));
  }
  return hints;
}

RaceObserver::RaceObserver(uint64_t imageBytes, CoreKind kind, SyncUse* syncUse, GroupFlags* group)
    : pipes_(PipesEnd(kind)), syncUse_(syncUse), groupFlags_(group) {
  for (size_t p = 0; p < pipes_; ++p) {
    wrote_.emplace_back(imageBytes / kBlockBytes + 1, 0);
    touched_.emplace_back(imageBytes / kBlockBytes + 1, 0);
    executed_[p].resize(1);
  }
}

void RaceObserver::OnIssue(const Core& core, Record& record) {
  autoSync_ = core.autoSync;
  record.issued = Issued(core);
  for (Handover* handover : record.handovers) {
    if (handover != nullptr) {
      const size_t other = handover->to % core.launch.PerGroup();
      handover->known = other < group_.size() ? group_[other].clock : Clock{};
      handover->stack = core.sites.Stack(record.site);
    }
  }
}

Clock RaceObserver::Issued(const Core& core) const {
  const size_t scalar = Index(Pipe::kScalar);
  Clock issued = known_[scalar].clock;
  if (core.autoSync) {
    issued[scalar] = count_[scalar];
  }
  return issued;
}

void RaceObserver::OnIssueSync(const Core& core, const SyncEvent& event) {
  if (event.kind == SyncEvent::Kind::kSet && IsCoreFlag(event.flag)) {
    coreSets_[Index(event.from)].push_back({Issued(core), group_});
  }
}

Clock RaceObserver::CompleteAfter(Pipe pipe) const {
  Clock clock = known_[Index(pipe)].clock;
  clock[Index(pipe)] = count_[Index(pipe)];
  return clock;
}

void RaceObserver::Raise(size_t pipe, size_t other, uint32_t clock, uint32_t site, Ref parent) {
  Knowledge& known = known_[pipe];
  if (clock <= known.clock[other]) {
    return;
  }
  known.clock[other] = clock;
  if (sourceCount_ < kMostSources) {
    ++sourceCount_;
    std::vector<Source>& sources = sources_[pipe][other];
    if (sources.empty()) {
      sources.emplace_back();  // index 0 is "nobody"
    }
    sources.push_back({clock, site, parent});
    if (site < sites_.size() && sites_[site].executed != 0 && !sites_[site].used &&
        ((tellOf_[site] >> other) & 1) == 0) {
      tellOf_[site] = static_cast<uint8_t>(tellOf_[site] | 1u << other);
      ++unusedFor_[other];
    }
    known.source[other] = {static_cast<uint32_t>(pipe), static_cast<uint32_t>(sources.size() - 1)};
  }
}

void RaceObserver::Join(size_t pipe, const Knowledge& from, uint32_t site) {
  for (size_t q = 0; q < pipes_; ++q) {
    Raise(pipe, q, from.clock[q], site, from.source[q]);
  }
}

void RaceObserver::MarkUsed(size_t pipe, size_t other, uint32_t clock) {
  if (unusedFor_[other] == 0) {
    return;
  }
  Ref at = known_[pipe].source[other];
  while (at.index != 0) {
    const std::vector<Source>& sources = sources_[at.pipe][other];
    const auto last = sources.begin() + at.index + 1;
    // Mostly one of the last few.
    auto first = last - 1;
    for (uint32_t back = 2; first->upTo >= clock && first != sources.begin() + 1; back *= 2) {
      first = last - std::min(back, at.index);
    }
    const auto source = std::lower_bound(first, last, clock,
                                         [](const Source& s, uint32_t c) { return s.upTo < c; });
    if (source == last) {
      return;
    }
    if (source->site < sites_.size() && !sites_[source->site].used) {
      sites_[source->site].used = true;
      for (size_t q = 0; q < pipes_; ++q) {
        unusedFor_[q] -= (tellOf_[source->site] >> q) & 1;
      }
    }
    at = source->parent;
  }
}

// WaitFlags and barriers of the kernel's own are counted by their places.
void RaceObserver::CountSite(const Core& core, const SyncEvent& event) {
  if (event.site == 0 || event.kind == SyncEvent::Kind::kSet ||
      (event.kind == SyncEvent::Kind::kWait && event.flag >= kEventFlags) ||
      (std::string_view(event.name) != "WaitFlag" &&
       std::string_view(event.name) != "PipeBarrier")) {
    return;
  }
  if (event.site >= sites_.size()) {
    sites_.resize(event.site + 1);
    tellOf_.resize(event.site + 1);
  }
  SyncUse::Site& site = sites_[event.site];
  if (site.executed++ == 0) {
    site.name = event.name;
    site.stack = core.sites.Stack(event.site);
  }
}

void RaceObserver::OnSync(Core& core, const SyncEvent& event) {
  EndCalm();
  CountSite(core, event);
  const size_t from = Index(event.from);
  const size_t to = Index(event.to);
  switch (event.kind) {
    case SyncEvent::Kind::kSet: {
      if (IsCoreFlag(event.flag)) {
        for (size_t q = 0; q < pipes_; ++q) {
          Raise(from, q, coreSets_[from].front().issued[q], 0,
                known_[Index(Pipe::kScalar)].source[q]);
        }
      }
      Knowledge told = known_[from];
      told.site = event.flag < kEventFlags ? event.site : 0;
      told.clock[from] = count_[from];
      told.source[from] = {};
      if (IsCoreFlag(event.flag)) {
        TellCores(core, event, told);
      } else {
        ToldBy(event.flag).Add(told);
      }
      break;
    }
    case SyncEvent::Kind::kWait: {
      if (IsCoreFlag(event.flag)) {
        HearCores(core, event);
        break;
      }
      Told& sets = ToldBy(event.flag);
      if (sets.Any()) {
        if (const uint32_t set = sets.Next().site; set != 0 && event.site != 0) {
          paired_[PairOf(event.site)] = PairOf(set);
        }
        Join(to, sets.Next(), event.site);
        sets.Drop();
      }
      break;
    }
    case SyncEvent::Kind::kBarrier:
      Raise(from, from, count_[from], event.site, {});
      break;
    case SyncEvent::Kind::kAll:
    case SyncEvent::Kind::kCores:
      if (event.kind == SyncEvent::Kind::kCores && event.flag == kMetAll && core.launch.Mixed()) {
        Hear(core, groupFlags_->Wait(core.index % core.launch.PerGroup(), meets_));
      }
      for (size_t p = 0; p < pipes_; ++p) {
        for (size_t q = 0; q < pipes_; ++q) {
          Raise(p, q, count_[q], event.site, {});
        }
      }
      ++meetings_;
      break;
  }
}

RaceObserver::Told& RaceObserver::ToldBy(uint32_t flag) {
  constexpr size_t kFewFlags = 1024;
  if (flag >= kFewFlags) {
    return flags_[flag].Since(meetings_);
  }
  if (flag >= fewFlags_.size()) {
    fewFlags_.resize(flag + 1);
  }
  return fewFlags_[flag].Since(meetings_);
}

uint32_t RaceObserver::Limit(size_t pipe, size_t other, bool read) const {
  const size_t scalar = Index(Pipe::kScalar);
  const size_t vector = Index(Pipe::kVector);
  constexpr uint32_t kInOrder = UINT32_MAX;
  if (pipe == scalar && other == scalar) {
    return kInOrder;
  }
  if (autoSync_ && (pipe == scalar || other == scalar || (pipe == vector && other == vector))) {
    return kInOrder;
  }
  if (pipe == other && read) {
    return pipe == vector ? known_[pipe].clock[other]
                          : kInOrder;  // copy pipes read one space and write the other
  }
  return known_[pipe].clock[other];
}

// Its work on these bytes is complete, and no flag or barrier is left that might have been for that alone.
bool RaceObserver::IsSettled(size_t pipe, size_t other, const Touched& touched) const {
  if (unusedFor_[other] != 0 || pipe == Index(Pipe::kScalar)) {
    return false;
  }
  const bool writes = Writes(touched.access);
  const uint32_t limit = Limit(pipe, other, !writes);
  if (count_[other] <= limit) {
    return true;
  }
  const UbMarks& marks = writes && other != pipe ? touched_[other] : wrote_[other];
  return !marks.MayExceed(touched.all.first, touched.all.end, static_cast<int32_t>(limit));
}

void RaceObserver::FindTouched(const Core& core, const Record& record) {
  ubCount_ = 0;
  for (int i = 0; i < record.accessCount; ++i) {
    const Access& access = record.access[static_cast<size_t>(i)];
    if (access.InGm() || !InUb(core, access)) {
      continue;
    }
    if (ubCount_ == ub_.size()) {
      ub_.emplace_back();
    }
    Touched& touched = ub_[ubCount_++];
    touched.access = Distinct(access);
    FindRuns(&touched);
  }
}

void RaceObserver::FindRuns(Touched* touched) {
  const Access& access = touched->access;
  std::vector<BlockRun>& runs = touched->runs;
  runs.clear();
  const auto add = [&runs](const BlockRun& blocks) {
    if (!runs.empty() && blocks.first >= runs.back().first && blocks.first <= runs.back().end) {
      runs.back().end = std::max(runs.back().end, blocks.end);
    } else {
      runs.push_back(blocks);
    }
  };
  const auto addSpans = [&add](const Access& some) {
    ForEachSpan(some, [&add](uint64_t from, uint64_t to, uint32_t) {
      add({FirstBlock(from), BlocksEnd(to)});
    });
  };
  if (TouchesAllBlocks(access)) {
    runs.push_back({FirstBlock(access.addr), BlocksEnd(access.addr + access.Extent())});
  } else if (access.repeat < 3 || access.repStride % static_cast<int64_t>(kBlockBytes) != 0) {
    addSpans(access);
  } else {
    // All repeats but the last touch the same blocks, further on.
    Access one = access;
    one.repeat = 1;
    one.lastBytes = one.bytes;
    addSpans(one);
    firsts_ = runs;
    const auto step = static_cast<uint64_t>(access.repStride / static_cast<int64_t>(kBlockBytes));
    for (uint32_t r = 1; r + 1 < access.repeat; ++r) {
      for (const BlockRun& first : firsts_) {
        add({first.first + r * step, first.end + r * step});
      }
    }
    one.addr += static_cast<uint64_t>((access.repeat - 1) * access.repStride);
    one.bytes = one.lastBytes = access.lastBytes;
    addSpans(one);
  }
  touched->all = {UINT64_MAX, 0};
  for (const BlockRun& run : runs) {
    touched->all.first = std::min(touched->all.first, run.first);
    touched->all.end = std::max(touched->all.end, run.end);
  }
}

// A queue whose position is that of the other direction orders nothing between the two pipes of a copy: the cause of the race.
static void CheckQueueDirection(const Core& core, uint64_t offset, Pipe wrote, Pipe reads,
                                Finding* finding) {
  const QueInfo& que = core.ques[core.buffers[core.BufferAt(offset)].que];
  const bool out = wrote == Pipe::kVector && reads == Pipe::kMte3;
  const bool in = wrote == Pipe::kMte2 && reads == Pipe::kVector;
  const auto is = [&](AscendC::TPosition position) {
    return !que.tbuf && que.initPc != nullptr && que.pos == static_cast<uint8_t>(position) &&
           que.dst == que.pos;
  };
  if ((out && is(AscendC::TPosition::VECIN)) || (in && is(AscendC::TPosition::VECOUT))) {
    const char* const has = out ? "VECIN" : "VECOUT";
    Place place;
    place.instruction = "InitBuffer";
    place.note = Format("makes %s a queue of TPosition::%s", finding->buffer.c_str(), has);
    place.line = FindKernelLine({que.initPc});
    finding->related.push_back(std::move(place));
    finding->advice = Format(
        "EnQue and DeQue of a queue of TPosition::%s order %s: make %s a queue of "
        "TPosition::%s.",
        has, out ? "MTE2 before the vector pipe" : "the vector pipe before MTE3",
        finding->buffer.c_str(), out ? "VECOUT" : "VECIN");
  }
}

namespace {

std::string OrderAdvice(Pipe earlier, Pipe later) {
  if (later == earlier) {
    return Format(
        "Hardware may finish them in either order: wrong numbers now and then. "
        "PipeBarrier<PIPE_%s> between them.",
        FactsOf(later).flag);
  }
  return Format(
      "Hardware runs the pipes side by side: wrong numbers now and then. EnQue and DeQue the "
      "tensor, or SetFlag and WaitFlag of HardEvent::%s_%s between them.",
      FactsOf(earlier).flag, FactsOf(later).flag);
}

}  // namespace

void RaceObserver::DescribeBytes(const Core& core, const Access& access, uint64_t begin,
                                 uint64_t end, Finding* finding) {
  finding->space = SpaceName(access.space);
  uint64_t start = 0;
  if (access.InGm()) {
    if (const GmRegion* region = core.RegionOf(begin)) {
      finding->buffer = region->name;
      start = reinterpret_cast<uint64_t>(region->addr);
    }
  } else {
    finding->buffer = core.BufferName(begin, &start);
  }
  finding->begin = begin - start;
  finding->end = end - start;
}

void RaceObserver::Race(Core& core, const Record& record, const Access& access, size_t other,
                        uint32_t clock, bool earlierWrote, uint64_t begin, uint64_t end) {
  const Executed& earlier = executed_[other][clock];
  const Pipe otherPipe = static_cast<Pipe>(other);
  const bool writes = Writes(access);
  // Two lines that nothing orders are one finding, whatever they do to each other's bytes: a reader before all else.
  const auto [known, isNew] = reported_.emplace(std::array<uint64_t, 2>{record.site, earlier.site},
                                                Reported{core.findings.size(), 0, {}});
  Reported& reported = known->second;
  const std::array<uint32_t, 2> pair = {count_[Index(record.pipe)] + 1, clock};
  const bool again = !isNew && reported.last == pair;  // another operand of the same two
  reported.last = pair;
  const bool better = earlierWrote && !writes && !reported.reads;
  uint64_t count = 1;
  if (!isNew) {
    count = core.findings[reported.index].count += again ? 0 : 1;
    if (!better) {
      return;
    }
  }
  reported.reads = earlierWrote && !writes;
  Finding finding;
  finding.kind = HazardOf(earlierWrote, writes);
  finding.at = core.PlaceOf(record.name, record.pipe, record.site, writes ? "writes" : "reads");
  finding.related.push_back(
      core.PlaceOf(earlier.name, otherPipe, earlier.site, earlierWrote ? "wrote" : "read"));
  finding.at.core = finding.related[0].core = core.index;
  finding.at.count = count_[Index(record.pipe)] + 1;
  finding.related[0].count = clock;
  DescribeBytes(core, access, begin, end, &finding);
  finding.detail = Format(
      "%s bytes [%llu, %llu) of %s: %s on %s %s them, %s on %s %s them before, and nothing "
      "orders the two",
      finding.space, static_cast<unsigned long long>(finding.begin),
      static_cast<unsigned long long>(finding.end), finding.buffer.c_str(), record.name,
      PipeName(record.pipe), writes ? "writes" : "reads", earlier.name, PipeName(otherPipe),
      earlierWrote ? "wrote" : "read");
  finding.advice = OrderAdvice(otherPipe, record.pipe);
  if (!access.InGm() && earlierWrote) {
    CheckQueueDirection(core, begin, otherPipe, record.pipe, &finding);
  }
  finding.count = count;
  core.Find(std::move(finding));
  if (!isNew) {
    core.findings[reported.index] = std::move(core.findings.back());
    core.findings.pop_back();
  }
}

// One pipe's earlier accesses against one new access: a race, or a use of what ordered them.
void RaceObserver::Settle(Core& core, const Record& record, const Access& access, size_t other,
                          uint32_t latest, bool earlierWrote, uint64_t begin, uint64_t end) {
  if (latest == 0) {
    return;
  }
  const size_t pipe = Index(record.pipe);
  if (latest > Limit(pipe, other, !Writes(access))) {
    Race(core, record, access, other, latest, earlierWrote, begin, end);
    return;
  }
  MarkUsed(pipe, other, latest);
  // The compiler makes the scalar pipe wait for the conflicting instruction, and so for what came before it.
  if (autoSync_ && record.pipe == Pipe::kScalar && other != pipe) {
    Knowledge now = known_[other];
    now.clock[other] = count_[other];
    Join(pipe, now, 0);
  }
}

uint32_t RaceObserver::Latest(const UbMarks& marks, uint64_t from, uint64_t to) {
  return static_cast<uint32_t>(marks.Max(FirstBlock(from), BlocksEnd(to)));
}

void RaceObserver::CheckUb(Core& core, const Record& record, const Touched& touched) {
  const Access& access = touched.access;
  const bool writes = Writes(access);
  const size_t pipe = Index(record.pipe);
  for (size_t q = 0; q < pipes_; ++q) {
    // Who works in the reserved part orders its own instructions there. A vector function begins when its pipe has drained; what its
    // own loads and stores may do to each other is reg_memory.cpp's.
    if (count_[q] == 0 ||
        (q == pipe && (access.Reserved() || record.vectorFunction != 0 || record.ordered)) ||
        IsSettled(pipe, q, touched)) {
      continue;
    }
    // Instructions of one pipe read in order: they only collide when both write.
    const UbMarks& marks = writes && q != pipe ? touched_[q] : wrote_[q];
    int32_t most = 0;
    for (const BlockRun& run : touched.runs) {
      most = std::max(most, marks.Max(run.first, run.end));
    }
    const auto latest = static_cast<uint32_t>(most);
    bool earlierWrote = &marks == &wrote_[q];
    uint64_t begin = 0, end = 0;
    if (latest > Limit(pipe, q, !writes)) {
      // The first of its pieces that collides.
      ForEachSpan(access, [&](uint64_t from, uint64_t to, uint32_t) {
        if (begin == end && Latest(marks, from, to) == latest) {
          begin = from;
          end = to;
        }
      });
      earlierWrote = earlierWrote || Latest(wrote_[q], begin, end) == latest;
    }
    Settle(core, record, access, q, latest, earlierWrote, begin, end);
  }
}

void RaceObserver::UpdateUb(const Touched& touched, size_t pipe, uint32_t now) {
  if (touched.runs.empty()) {
    return;
  }
  touched_[pipe].SetAll(touched.runs, static_cast<int32_t>(now));
  if (Writes(touched.access)) {
    wrote_[pipe].SetAll(touched.runs, static_cast<int32_t>(now));
  }
}

// Inputs that nobody writes need no tracking.
bool RaceObserver::Tracked(const Core& core, const Access& access, bool write) {
  if (write) {
    return true;
  }
  const GmRegion* region = core.RegionOf(access.addr);
  return region != nullptr && !IsReadOnly(region->kind) &&
         (region->kind != RegionKind::kInput || core.Aliased(*region));
}

void RaceObserver::CheckGm(Core& core, const Record& record, const Access& access) {
  const size_t pipe = Index(record.pipe);
  const auto latest = gm_.Before(access, TensorOf(core, access), pipe);
  for (size_t q = 0; q < pipes_; ++q) {
    // Atomic copies may overtake each other.
    if (record.atomic && q == pipe) {
      continue;
    }
    Settle(core, record, access, q, latest[q].clock, latest[q].wrote, latest[q].begin,
           latest[q].end);
  }
}

void RaceObserver::OnRecord(Core& core, const Record& record) {
  EndCalm();
  Execute(core, record);
}

void RaceObserver::OnRegisters(Core& core, const RegisterAccess& access) {
  const size_t vector = Index(Pipe::kVector);
  const BlockRun run{FirstBlock(access.begin), BlocksEnd(access.end)};
  const bool writes = access.use == Use::kWrite;
  const bool calm = std::ranges::any_of(calm_, [&](const Calm& known) {
    return run.first >= known.first && run.end <= known.end && known.writes == writes;
  });
  if (!calm) {
    Record record = access.ToRecord();
    OnIssue(core, record);
    Execute(core, record);
    calm_[nextCalm_++ % calm_.size()] = CalmAround(core, access);
    return;
  }
  const uint32_t now = ++count_[vector];
  executed_[vector].push_back({access.name, access.site});
  touched_[vector].Set(run.first, run.end, static_cast<int32_t>(now));
  if (writes) {
    wrote_[vector].Set(run.first, run.end, static_cast<int32_t>(now));
  }
}

// As CheckUb has found it.
RaceObserver::Calm RaceObserver::CalmAround(const Core& core, const RegisterAccess& access) {
  constexpr size_t kMostReach = 256;  // 64 KB
  calmReach_ = std::min(2 * calmReach_, kMostReach);
  const size_t vector = Index(Pipe::kVector);
  const bool writes = access.use == Use::kWrite;
  Calm calm{FirstBlock(access.begin), BlocksEnd(access.end), writes};
  if (access.end > core.image.Tracked()) {
    return {};
  }
  uint64_t first = 0, end = core.image.Tracked() / kBlockBytes;
  for (size_t q = 0; q < pipes_; ++q) {
    const uint32_t limit = Limit(vector, q, !writes);
    if (q == vector || count_[q] == 0 || (unusedFor_[q] == 0 && count_[q] <= limit)) {
      continue;
    }
    const UbMarks& marks = writes ? touched_[q] : wrote_[q];
    const int32_t latest = marks.Max(calm.first, calm.end);
    if (static_cast<uint32_t>(latest) > limit) {
      return {};  // a race
    }
    // Each access, where flags are left that may be of use, tells of those that order it: the same ones for the same mark.
    const auto [from, to] =
        marks.Around(calm.first, calm.end, calmReach_,
                     [&, limit = static_cast<int32_t>(limit)](bool alike, int32_t most) {
                       return unusedFor_[q] == 0 ? most <= limit : alike && most == latest;
                     });
    first = std::max(first, from);
    end = std::min(end, to);
  }
  return first <= calm.first && calm.end <= end ? Calm{first, end, writes} : Calm{};
}

void RaceObserver::Execute(Core& core, const Record& record) {
  const size_t pipe = Index(record.pipe);
  if (record.pipe != Pipe::kScalar) {
    for (size_t q = 0; q < pipes_; ++q) {
      Raise(pipe, q, record.issued[q], 0, known_[Index(Pipe::kScalar)].source[q]);
    }
  }
  FindTouched(core, record);
  const auto forEachAccess = [&](const auto& ofUb, const auto& ofGm) {
    size_t next = 0;
    for (int i = 0; i < record.accessCount; ++i) {
      const Access& access = record.access[static_cast<size_t>(i)];
      if (!access.InGm()) {
        if (InUb(core, access)) {
          ofUb(ub_[next++]);
        }
      } else if (Tracked(core, access, Writes(access))) {
        ofGm(access);
      }
    }
  };
  forEachAccess([&](const Touched& touched) { CheckUb(core, record, touched); },
                [&](const Access& access) { CheckGm(core, record, access); });
  const uint32_t now = ++count_[pipe];
  executed_[pipe].push_back({record.name, record.site});
  for (Handover* handover : record.handovers) {
    if (handover != nullptr) {
      handover->count = now;
    }
  }
  if (record.vectorFunction != 0 && record.accessCount == 0) {  // it has ended, drained
    Raise(pipe, pipe, now, record.site, {});
  }
  forEachAccess(
      [&](const Touched& touched) { UpdateUb(touched, pipe, now); },
      [&](const Access& access) { gm_.Touch(access, TensorOf(core, access), pipe, now); });
}

void RaceObserver::OnEnd(Core&) {
  if (sourceCount_ >= kMostSources) {
    return;
  }
  const auto executed = [this](uint32_t site) { return sites_[site].executed != 0; };
  std::set<uint32_t> used;
  for (uint32_t site = 0; site < sites_.size(); ++site) {
    if (executed(site) && sites_[site].used) {
      used.insert(PairOf(site));
    }
  }
  for (uint32_t site = 0; site < sites_.size(); ++site) {
    if (executed(site)) {
      sites_[site].used = used.contains(PairOf(site));
      syncUse_->Add(sites_[site]);
    }
  }
}

uint32_t RaceObserver::PairOf(uint32_t site) {
  while (paired_.size() <= site) {
    paired_.push_back(static_cast<uint32_t>(paired_.size()));
  }
  while (paired_[site] != site) {
    site = paired_[site] = paired_[paired_[site]];
  }
  return site;
}

}  // namespace aclsim
