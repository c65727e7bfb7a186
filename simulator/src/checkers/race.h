// SPDX-License-Identifier: Apache-2.0
// Happens-before between the pipes of one core: vector clocks over 32-byte blocks of UB and over bytes of GM. Two accesses to
// the same bytes, one of them a write, need a flag, a queue or a barrier between them; what the device compiler's automatic
// synchronisation inserts counts as there unless it is switched off.
#pragma once

#include <deque>
#include <map>
#include <set>
#include <unordered_map>
#include <vector>

#include "checkers/gm_history.h"
#include "checkers/marks.h"
#include "engine/core.h"
#include "host/lock.h"

namespace aclsim {

// Explicit flags and barriers of a launch, over all cores: those that never ordered two accesses are hints.
class SyncUse {
 public:
  struct Site {
    std::string name;
    std::vector<void*> stack;
    uint64_t executed = 0;
    bool used = false;
  };
  void Add(const Site& site);
  std::vector<Finding> Hints(const KernelLaunch& launch) const;

 private:
  Mutex<9, "uses of synchronisation"> mutex_;
  std::vector<Site> sites_;
};

class GroupFlags;

class RaceObserver : public Observer {
 public:
  // Who passed a piece of knowledge on: an entry of sources_[pipe]; 0 is nobody.
  struct Ref {
    uint32_t pipe = 0;
    uint32_t index = 0;
  };
  // How far the pipes of a core are, and by which of its waits and barriers that is known.
  struct Knowledge {
    Clock clock{};
    std::array<Ref, kPipes> source{};
    uint32_t site = 0;  // of the set that tells it
  };

  RaceObserver(uint64_t imageBytes, CoreKind kind, SyncUse* syncUse, GroupFlags* group);
  void OnIssue(const Core& core, Record& record) override;
  void OnIssueSync(const Core& core, const SyncEvent& event) override;
  void OnRecord(Core& core, const Record& record) override;
  void OnRegisters(Core& core, const RegisterAccess& access) override;
  void OnSync(Core& core, const SyncEvent& event) override;
  void OnMeets(Core& core, bool both) override;
  void OnHandover(Core& core, const Handover& handover, Pipe by, uint32_t site) override;
  void OnEnd(Core& core) override;
  // Instructions of `pipe` so far.
  uint32_t Count(Pipe pipe) const { return count_[Index(pipe)]; }
  // Another core may learn of all that `pipe` knows: the waits that it knows it by are of use.
  void Publish(Pipe pipe) {
    for (size_t other = 0; other < pipes_; ++other) {
      MarkUsed(Index(pipe), other, known_[Index(pipe)].clock[other]);
    }
  }
  // This is complete when `pipe` has done its instructions so far.
  Clock CompleteAfter(Pipe pipe) const;
  // The last instruction of `pipe` that wrote to [begin, end) of GM, as Count after it; 0: none.
  uint32_t LastGmWrite(Pipe pipe, uint64_t begin, uint64_t end) const {
    return gm_.LastWrite(Index(pipe), begin, end);
  }
  // Call site of the instruction up to which Count is `count`.
  uint32_t SiteOf(Pipe pipe, uint32_t count) const { return executed_[Index(pipe)][count].site; }
  const char* NameOf(Pipe pipe, uint32_t count) const { return executed_[Index(pipe)][count].name; }

 private:
  // The last accesses of each pipe, as its instruction count; 0 is never.
  // By block of UB, groups of a repeat's bytes. Signed: older hosts have no vector maximum of the other kind.
  using UbMarks = Marks<int32_t, 8, true>;
  struct Executed {
    const char* name;
    uint32_t site;
    bool handed = false;  // no instruction: what another core has written is there
  };
  // This says how a pipe came to know of another's progress: by which wait or barrier, and whose knowledge that passed on.
  struct Source {
    uint32_t upTo = 0;
    uint32_t site = 0;
    Ref parent;
  };

  // The sets of a flag tell its waits these, oldest first.
  class Told {
   public:
    Knowledge& Add(const Knowledge& knowledge) { return all_.emplace_back(knowledge); }
    bool Any() const { return next_ < all_.size(); }
    const Knowledge& Next() const { return all_[next_]; }
    void Drop() {
      if (++next_ == all_.size()) {
        Clear();
      }
    }
    void Clear() {
      all_.clear();
      next_ = 0;
    }
    // Empty where it has not been asked for since as many meetings.
    Told& Since(uint32_t meetings) {
      if (meetings_ != meetings) {
        meetings_ = meetings;
        Clear();
      }
      return *this;
    }

   private:
    std::vector<Knowledge> all_;
    size_t next_ = 0;
    uint32_t meetings_ = 0;
  };

  void CountSite(const Core& core, const SyncEvent& event);
  static size_t Index(Pipe pipe) { return static_cast<size_t>(pipe); }
  Clock Issued(const Core& core) const;
  bool Tracked(const Core& core, const Access& access, bool write);
  // The clock up to which `pipe` may rely on `other`; UINT32_MAX: always in order.
  uint32_t Limit(size_t pipe, size_t other, bool read) const;
  // Blocks of UB that an access touches, those side by side in one run.
  struct BlockRun {
    uint64_t first;
    uint64_t end;
  };
  struct Touched {
    Access access;  // without repetition
    std::vector<BlockRun> runs;
    BlockRun all{};  // from the first to the last
  };
  // Keeps in ub_ what an instruction does to UB.
  void FindTouched(const Core& core, const Record& record);
  void FindRuns(Touched* touched);
  // Returns whether nothing that `other` has done to these blocks is of any account to a new access of `pipe`. May say no.
  bool IsSettled(size_t pipe, size_t other, const Touched& touched) const;
  // Blocks on which one more access of a vector function, of this use, finds what the last one has found: nothing. Until another pipe
  // does something, or synchronises.
  struct Calm {
    uint64_t first = 0;
    uint64_t end = 0;
    bool writes = false;
  };
  Calm CalmAround(const Core& core, const RegisterAccess& access);
  void EndCalm() {
    calm_ = {};
    calmReach_ = 1;
  }
  void Execute(Core& core, const Record& record);
  void TellCores(const Core& core, const SyncEvent& event, const Knowledge& own);
  void HearCores(const Core& core, const SyncEvent& event);
  Told& ToldBy(uint32_t flag);
  static uint32_t Latest(const UbMarks& marks, uint64_t from, uint64_t to);
  void CheckUb(Core& core, const Record& record, const Touched& touched);
  void CheckGm(Core& core, const Record& record, const Access& access);
  void UpdateUb(const Touched& touched, size_t pipe, uint32_t now);
  void Settle(Core& core, const Record& record, const Access& access, size_t other, uint32_t latest,
              bool earlierWrote, uint64_t begin, uint64_t end);
  void Raise(size_t pipe, size_t other, uint32_t clock, uint32_t site, Ref parent);
  void Join(size_t pipe, const Knowledge& from, uint32_t site);
  void CheckHandover(Core& core, const Handover& handover, const BlockRun& run);
  void ReportHandover(Core& core, const Handover& handover, const BlockRun& run, const char* kind,
                      Place own, const std::string& detail);
  void Hear(const Core& core, const std::vector<Knowledge>& told);
  void MarkUsed(size_t pipe, size_t other, uint32_t clock);
  // The bytes as they lie in their buffer, or in their region of GM.
  static void DescribeBytes(const Core& core, const Access& access, uint64_t begin, uint64_t end,
                            Finding* finding);
  void Race(Core& core, const Record& record, const Access& access, size_t other, uint32_t clock,
            bool earlierWrote, uint64_t begin, uint64_t end);

  bool autoSync_ = true;
  const size_t pipes_;  // of the core's kind: others have no instructions
  SyncUse* syncUse_;
  std::array<Knowledge, kPipes> known_;
  std::array<uint32_t, kPipes> count_{};
  std::vector<UbMarks> wrote_, touched_;  // by pipe
  std::vector<Touched> ub_;               // what the instruction does there
  size_t ubCount_ = 0;                    // of these
  std::vector<BlockRun> firsts_;          // of a repeat
  std::array<Calm, 8> calm_;
  uint32_t nextCalm_ = 0;
  size_t calmReach_ =
      1;  // groups of marks that are looked at on either side: more, the more accesses there are
  std::array<std::vector<Executed>, kPipes> executed_;
  GmHistory gm_;
  // Each set of a flag tells its wait this: under chaos a missing flag elsewhere lets a pipe set one again before its wait.
  std::vector<Told> fewFlags_;  // nearly all that there are
  std::unordered_map<uint32_t, Told> flags_;
  uint32_t meetings_ = 0;  // of all pipes: nothing that a set before could add
  // A CrossCoreSetFlag that was issued: what the core knew then of itself, as Record::issued, and of its AI core.
  struct CoreSet {
    Clock issued;
    std::vector<Knowledge> group;
  };
  std::array<std::deque<CoreSet>, kPipes> coreSets_;
  GroupFlags* groupFlags_;
  std::vector<Knowledge> group_;  // by core of the AI core: what flags have told this one
  SyncEvent meets_;               // the meeting that it is on its way to; no flag: none
  std::array<std::array<std::vector<Source>, kPipes>, kPipes> sources_;  // [pipe][other], by upTo
  size_t sourceCount_ = 0;
  struct Reported {
    size_t index;                  // of the finding
    bool reads;                    // it is a read of what was written
    std::array<uint32_t, 2> last;  // the instructions that were last counted
  };
  std::map<std::array<uint64_t, 2>, Reported> reported_;  // by both sites
  std::set<std::pair<uint32_t, std::vector<void*>>>
      reportedHandovers_;                   // own site, other core's call
  std::vector<SyncUse::Site> sites_;        // by call site; never executed: no flag and no barrier
  std::vector<uint8_t> tellOf_;             // by call site, the pipes of whose progress it has told
  std::array<size_t, kPipes> unusedFor_{};  // by that pipe: those sites that are of no use yet
  // Sets and the waits that took them, by call site: only all of these together may be left out.
  std::vector<uint32_t> paired_;
  uint32_t PairOf(uint32_t site);
};

// Flags between the cores of one AI core carry how far each of them is, as far as the one that sets the flag knows. So a core
// hears of its own work, where another one has waited for that and answers.
class GroupFlags {
 public:
  explicit GroupFlags(uint32_t cores) : cores_(cores) {}
  // By the core's number in the AI core. The n-th wait of a core hears what the n-th set of each core has told.
  void Set(uint32_t core, const SyncEvent& event,
           const std::vector<RaceObserver::Knowledge>& group);
  std::vector<RaceObserver::Knowledge> Wait(uint32_t core, const SyncEvent& event);
  // Takes what is further.
  static void Join(RaceObserver::Knowledge* to, const RaceObserver::Knowledge& from);

 private:
  struct Counter {
    std::deque<std::vector<RaceObserver::Knowledge>> rounds;
    uint32_t gone = 0;  // rounds that nobody waits for any more
    std::vector<uint32_t> sets, waits;
  };
  Counter& Of(const SyncEvent& event);

  const uint32_t cores_;
  Mutex<9, "flags of an AI core"> mutex_;
  std::map<std::pair<uint32_t, uint32_t>, Counter> counters_;  // by flag and FlagSenders
};

}  // namespace aclsim
