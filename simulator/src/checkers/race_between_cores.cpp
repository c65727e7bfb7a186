// SPDX-License-Identifier: Apache-2.0
// Races between the cores of one AI core: what flags tell them of each other, and what one writes into the other's memory.
#include "checkers/race.h"
#include "engine/meeting.h"

namespace aclsim {

namespace {

// SyncAll has this number in place of a flag's.
constexpr uint32_t kMeetingFlag = 0x80000000u;

}  // namespace

void GroupFlags::Join(RaceObserver::Knowledge* to, const RaceObserver::Knowledge& from) {
  for (size_t pipe = 0; pipe < kPipes; ++pipe) {
    if (from.clock[pipe] > to->clock[pipe]) {
      to->clock[pipe] = from.clock[pipe];
      to->source[pipe] = from.source[pipe];
    }
  }
}

GroupFlags::Counter& GroupFlags::Of(const SyncEvent& event) {
  Counter& counter = counters_[{event.flag, event.number}];
  counter.sets.resize(cores_);
  counter.waits.resize(cores_);
  return counter;
}

void GroupFlags::Set(uint32_t core, const SyncEvent& event,
                     const std::vector<RaceObserver::Knowledge>& group) {
  const std::lock_guard lock(mutex_);
  Counter& counter = Of(event);
  const uint32_t number = counter.sets[core]++;
  if (number < counter.gone) {
    return;
  }
  while (counter.rounds.size() <= number - counter.gone) {
    counter.rounds.emplace_back(cores_);
  }
  std::vector<RaceObserver::Knowledge>& round = counter.rounds[number - counter.gone];
  for (uint32_t other = 0; other < cores_; ++other) {
    Join(&round[other], group[other]);
  }
  // A counter of hardware holds 15: further behind is nobody.
  constexpr size_t kMostBehind = 64;
  if (counter.rounds.size() > kMostBehind && event.number < FlagSenders::kObjects) {
    counter.rounds.pop_front();
    ++counter.gone;
  }
}

std::vector<RaceObserver::Knowledge> GroupFlags::Wait(uint32_t core, const SyncEvent& event) {
  const std::lock_guard lock(mutex_);
  Counter& counter = Of(event);
  const uint32_t number = counter.waits[core]++;
  if (number < counter.gone || number - counter.gone >= counter.rounds.size()) {
    return std::vector<RaceObserver::Knowledge>(cores_);
  }
  std::vector<RaceObserver::Knowledge> told = counter.rounds[number - counter.gone];
  if (event.number >= FlagSenders::kObjects) {  // which one core waits for
    counter.rounds.pop_front();
    ++counter.gone;
  }
  return told;
}

// `own`: what the pipe that sets the flag knows of this core.
void RaceObserver::TellCores(const Core& core, const SyncEvent& event, const Knowledge& own) {
  std::deque<CoreSet>& sets = coreSets_[Index(event.from)];
  std::vector<Knowledge> group = std::move(sets.front().group);
  sets.pop_front();
  group.resize(core.launch.PerGroup());
  const uint32_t number = core.index % core.launch.PerGroup();
  GroupFlags::Join(&group[number], own);
  groupFlags_->Set(number, event, group);
}

void RaceObserver::Hear(const Core& core, const std::vector<Knowledge>& told) {
  group_.resize(told.size());
  for (size_t other = 0; other < told.size(); ++other) {
    if (other != core.index % core.launch.PerGroup()) {
      GroupFlags::Join(&group_[other], told[other]);
    }
  }
}

void RaceObserver::HearCores(const Core& core, const SyncEvent& event) {
  const uint32_t number = core.index % core.launch.PerGroup();
  const std::vector<Knowledge> told = groupFlags_->Wait(number, event);
  Hear(core, told);
  Join(Index(event.to), told[number], event.site);
}

// One finding for each pair of places.
void RaceObserver::ReportHandover(Core& core, const Handover& handover, const BlockRun& run,
                                  const char* kind, Place own, const std::string& detail) {
  const uint64_t begin = run.first * kBlockBytes;
  Access access;
  access.space = core.image.SpaceOf(begin);
  Finding finding;
  finding.kind = kind;
  finding.at = std::move(own);
  finding.at.core = core.index;
  Place other{PipeName(handover.pipe), handover.name,
              Format("on %s writes", core.launch.NameOf(handover.from).c_str()),
              FindKernelLine(handover.stack)};
  other.core = handover.from;
  finding.related.push_back(std::move(other));
  DescribeBytes(core, access, begin, run.end * kBlockBytes, &finding);
  finding.detail =
      Format("%s writes bytes of %s of %s from %llu on by %s, and %s",
             core.launch.NameOf(handover.from).c_str(), finding.buffer.c_str(),
             core.launch.NameOf(core.index).c_str(), static_cast<unsigned long long>(finding.begin),
             handover.name, detail.c_str());
  finding.advice = Format(
      "Hardware runs the cores side by side: the core finds old bytes, or loses its own. "
      "CrossCoreSetFlag on PIPE_%s behind the write and CrossCoreWaitFlag before the use; and a "
      "flag behind the use, which the writer waits for before it writes there again.",
      FactsOf(handover.pipe).flag);
  core.Find(std::move(finding));
}

// The other core must have known, when it issued the write, of what this one has done to the bytes.
void RaceObserver::CheckHandover(Core& core, const Handover& handover, const BlockRun& run) {
  for (size_t q = 0; q < pipes_; ++q) {
    const auto latest = static_cast<uint32_t>(touched_[q].Max(run.first, run.end));
    if (latest <= handover.known[q]) {
      continue;
    }
    if (executed_[q][latest].handed) {  // it may cover for what was done to other blocks
      for (uint64_t block = run.first; run.end - run.first > 1 && block < run.end; ++block) {
        CheckHandover(core, handover, {block, block + 1});
      }
      continue;
    }
    const Executed& own = executed_[q][latest];
    if (!reportedHandovers_.emplace(own.site, handover.stack).second) {
      continue;
    }
    const bool wrote = static_cast<uint32_t>(wrote_[q].Max(run.first, run.end)) == latest;
    const char* const does = wrote ? "writes" : "reads";
    ReportHandover(core, handover, run, wrote ? "race-write-after-write" : "race-write-after-read",
                   core.PlaceOf(own.name, static_cast<Pipe>(q), own.site, does),
                   Format("%s on this core %s them, and no flag between the two cores orders the "
                          "two",
                          own.name, does));
  }
}

void RaceObserver::OnMeets(Core& core, bool both) {
  if (!core.launch.Mixed()) {
    return;
  }
  // The meeting is told like a flag that no kernel has.
  meets_ = {};
  meets_.flag = kMeetingFlag;
  meets_.number = both ? 1 : 0;
  std::vector<Knowledge> group = group_;
  group.resize(core.launch.PerGroup());
  const uint32_t number = core.index % core.launch.PerGroup();
  group[number].clock = count_;
  groupFlags_->Set(number, meets_, group);
}

// From here on the bytes are as if `by`, which has waited for them, had written them.
void RaceObserver::OnHandover(Core& core, const Handover& handover, Pipe by, uint32_t site) {
  EndCalm();
  std::vector<BlockRun> runs;
  for (const Handover::Run& run : handover.runs) {
    const BlockRun blocks{FirstBlock(run.at), BlocksEnd(run.at + run.bytes)};
    if (!runs.empty() && blocks.first >= runs.back().first && blocks.first <= runs.back().end) {
      runs.back().end = std::max(runs.back().end, blocks.end);
    } else {
      runs.push_back(blocks);
    }
  }
  for (const BlockRun& run : runs) {
    CheckHandover(core, handover, run);
  }
  const size_t from = handover.from % core.launch.PerGroup();
  const uint32_t told = from < group_.size() ? group_[from].clock[Index(handover.pipe)] : 0;
  if (told < handover.count && reportedHandovers_.emplace(site, handover.stack).second) {
    ReportHandover(
        core, handover, runs.front(), "race-read-after-write",
        core.PlaceOf(core.lastInstruction, Pipe::kScalar, site, "waits for another pipe"),
        Format("the flag that this core has waited for says nothing of %s",
               PipeName(handover.pipe)));
  }
  const size_t pipe = Index(by);
  const uint32_t now = ++count_[pipe];
  executed_[pipe].push_back({handover.name, site, true});
  touched_[pipe].SetAll(runs, static_cast<int32_t>(now));
  wrote_[pipe].SetAll(runs, static_cast<int32_t>(now));
  Raise(pipe, pipe, now, 0, {});
}

}  // namespace aclsim
