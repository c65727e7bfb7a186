// SPDX-License-Identifier: Apache-2.0
// The cores of one launch wait for each other here: SyncAll, cross-core flags.
#pragma once

#include <array>
#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/core.h"
#include "engine/exchange.h"
#include "host/lock.h"

namespace aclsim {

// Ends a core whose partner has failed; the partner's finding says why.
struct CoreAbandoned {};

using MeetingMutex = Mutex<8, "meeting">;

// In which order the cores begin and their atomic copies take effect: ascending, or as the seed of chaos decides.
std::vector<uint32_t> TurnsOfCores(uint32_t cores);

// A flag that was set while it was set already.
struct SetTwice {
  uint8_t event = 0;
  int32_t id = 0;
  uint32_t first = 0, second = 0;  // sites of the sets
  uint32_t otherWait = 0;          // the last WaitFlag of the same event with another id; 0: none
  int32_t otherId = 0;
  bool waited = false;  // since the second set
};

struct CoreAside {
  std::array<std::pair<uint32_t, int32_t>, 40> lastWait{};  // WaitFlag of each event: site and id
  std::vector<SetTwice> setTwice;                           // not reported yet
  // Cleanings of lines of the data cache that stay as they are, as whoever polls does it.
  struct Line {
    uint64_t address = 0;
    std::array<uint64_t, 8> bytes{};
  };
  std::array<Line, 8> lines{};
  uint32_t nextLine = 0;
  uint32_t polls = 0;
};

// An AIV's request to its AIC's server of Matmul objects.
struct Request {
  std::vector<uint8_t> body;
  std::vector<void*> stack;  // of the call
};

// Cores that raise a counter together, as CoreSync::of and SyncEvent::number: all AIVs or all AICs (mode 0), the AIVs of an AI core
// (mode 1; mode 2 for its AIC), its AIC (mode 2). Mode 4 has a channel of its own between the AIC and each of its two AIVs.
class FlagSenders {
 public:
  enum Who : uint32_t {
    kPeers,
    kCube,
    kVectors,
    kCubeToFirst,
    kCubeToSecond,
    kFirstToCube,
    kSecondToCube,
    kWays
  };
  static uint32_t AllOf(CoreKind kind) { return kind == CoreKind::kCube ? 1 : 0; }
  // The number of the flags by which an AIV and its AIC tell each other about one Matmul object.
  static uint32_t OfObject(uint32_t vector, uint32_t object) {
    return kObjects + vector * (kMostObjects + 1) + object;
  }
  // kTscm: in place of an object, of copies into TSCM.
  static constexpr uint32_t kObjects = 2048, kMostObjects = 4, kTscm = kMostObjects;
  static uint32_t InGroup(uint32_t group, Who who) { return 2 + group * kWays + who; }
  static uint32_t GroupOf(uint32_t senders) { return (senders - 2) / kWays; }
  static Who WhoOf(uint32_t senders) { return static_cast<Who>((senders - 2) % kWays); }
};

// Bytes that a core writes into a local memory of another one of its AI core. They are there once the other core has waited for a
// flag that was set behind them; until then it finds what was there before.
struct Handover {
  struct Run {
    uint64_t at = 0;  // in the image of the core that gets it
    uint64_t bytes = 0;
  };
  uint32_t from = 0, to = 0;
  uint32_t number = 0;  // of those that `from` has handed over, from 1
  std::vector<Run> runs;
  std::vector<uint8_t> data;    // of all runs, one behind the other
  std::vector<uint8_t> shadow;  // a byte for each of data: 0 defined, 0xFF not; empty: all is
  const char* name = "";
  Pipe pipe = Pipe::kScalar;
  std::vector<void*> stack;  // of the call; empty where nobody observes
  Clock known{};             // how far the pipes of `to` were, as far as `from` knew
  uint32_t count = 0;        // instructions of `pipe`, with this one

  // One more run, which goes on with the last where it can. Returns where its bytes are in `data`.
  uint64_t Add(uint64_t at, uint64_t bytes) {
    if (!runs.empty() && runs.back().at + runs.back().bytes == at) {
      runs.back().bytes += bytes;
    } else {
      runs.push_back({at, bytes});
    }
    data.resize(data.size() + bytes);
    return data.size() - bytes;
  }
};

class Meeting {
 public:
  explicit Meeting(const KernelLaunch& launch);

  // This marks the numbers of SyncAlls that have no memory, beside 0.
  static constexpr uint32_t kNoMemory = 0x80000000u;
  // The calling core has reached SyncAll number n by this memory (null: the hardware's flags) of the first so many cores of its
  // kind, or of both kinds; returns when all have: the number of the memory, of null 0 or with kNoMemory.
  uint32_t SyncAll(Core& core, const void* memory, uint32_t participants, bool bothKinds);
  // A flag has a counter on each core. It goes up when all of some cores have set the flag, by the mode of the set; a wait takes one
  // from it, whatever the mode. WaitFlag returns who has raised it: FlagSenders.
  // Mode 4 has counters of its own: 16 on each AIV, 32 on the AIC, of which the upper 16 are between it and its second AIV.
  static constexpr uint8_t kOneVector = 4;
  static uint32_t SendersOf(const Core& core, uint8_t mode, uint16_t flag);
  void SetFlag(Core& core, uint8_t mode, uint16_t flag);
  uint32_t WaitFlag(Core& core, uint8_t mode, uint16_t flag);
  // HandOver: the core has written into another one's memory. Receive: what was handed to the core before the flags and meetings that
  // it has waited for, in the order of the cores, and of each core's in the order of its work.
  void HandOver(Core& core, std::shared_ptr<Handover> handover);
  std::vector<std::shared_ptr<const Handover>> Receive(const Core& core);
  // Flags of a MIX kernel that are set and not waited for, when all cores have left.
  std::vector<Finding> LeftFlags() const;
  // IBSet and IBWait: one core marks a slot of memory that has no mark, another one takes it away. The number of the mark.
  uint32_t SetMark(Core& core, uint64_t slot, std::string name);
  uint32_t TakeMark(Core& core, uint64_t slot);
  // Marks that nobody has taken, when all cores have left.
  std::vector<Finding> LeftMarks(const KernelLaunch& launch) const;
  // WaitPreBlock and NotifyNextBlock: the cores have their turns in ascending order, round after round. The number of the turn.
  uint32_t AwaitTurn(Core& core);
  uint32_t PassTurn(Core& core);
  // InitDetermineComputeWorkspace of a core: the words of all are cleared.
  void InitTurns();
  // Turns that a core has taken and not passed on, or that other cores have had more of, when all cores have left.
  std::vector<Finding> LeftTurns(const KernelLaunch& launch) const;
  // Matmul objects of an AIV, which its AIC serves. Post: a request of the AIV takes effect. TakeRequest: the next one of the AIC's
  // AIVs, and in *vector whose it is; null when all of them have left. AIVs have turns, so that the order is the same in each run:
  // one that is still at work is waited for, one that waits for others is not. holder: the only AIV whose requests are taken;
  // UINT32_MAX: none. The request stays until the next one is taken.
  void Register(const Core& core, uint32_t objects);
  uint32_t Objects(const Core& core) const { return served_[core.index].objects; }
  void Post(Core& core, Request request);
  const Request* TakeRequest(Core& core, uint32_t holder, uint32_t* vector);
  // The request that a core works for; null: none.
  const Request* Serving(const Core& core) const;
  void Answer(Core& core, uint32_t vector, uint32_t object, std::vector<uint8_t> body);
  std::vector<uint8_t> TakeAnswer(Core& core, uint32_t object);
  // The launch's memory between cores, made when it is first asked for, of so many bytes. ExchangeAt: null where addr is elsewhere.
  uint8_t* ExchangeOf(uint64_t bytes);
  const GmRegion* ExchangeAt(const void* addr);
  // A scalar past the data cache. Store: the number of the store. Load: that of the one that it reads when it is another core's,
  // else 0. A core that reads the same value over and over waits until it has changed.
  uint32_t Store(Core& core, uint8_t* to, const void* value, uint32_t bytes);
  uint32_t Load(Core& core, const uint8_t* from, void* value, uint32_t bytes);
  // A core polls, and what it looks at stays as it is: lets others get on for a moment.
  void Yield(Core& core);
  // A core cleans this line of the data cache, which is memory of GM: how often in a row the lines that it cleaned had the bytes of
  // their last cleaning; 0 where this one has changed.
  uint32_t CleaningsInVain(Core& core, uint64_t line);
  // Few calls of a core need this; it is its own thread's alone.
  CoreAside& Aside(const Core& core);
  // Words of GM that cores write for each other, while somebody checks. NoteStore: the core is about to write these bytes; the
  // number of the store. LastStore: that of another core or of this one to the word at `address`.
  struct Word {
    uint32_t core = 0;
    uint32_t number = 0;         // 0: nobody has written there
    std::array<uint8_t, 8> old;  // what was there before
  };
  uint32_t NoteStore(const Core& core, uint64_t address, uint64_t bytes);
  Word LastStore(uint64_t address, uint32_t bytes);
  uint32_t StoresSoFar() const { return wordStores_.load(std::memory_order_relaxed); }
  // The last SyncAll that `core` has passed comes after that store. The core's own thread asks.
  bool MetSince(uint32_t core, const Word& word) const;
  // A core has left the kernel; failed: with a fault. Whoever still waits for it can never pass.
  void Leave(uint32_t core, bool failed, FaultEnd last = {});
  // The host cannot run all cores: nobody passes any more.
  void Abandon();
  // Sums that the cores have told of take effect: those of all, in their order, or of one that reads or overwrites such bytes.
  void Publish();
  void SettleAtomics(Core& core, const uint8_t* begin, uint64_t bytes);

 private:
  Meeting(const KernelLaunch& launch, uint32_t cores);

  static constexpr size_t kFlags = 16;
  // Modes 0, 1 and 2, and the two channels of mode 4.
  static constexpr size_t kModes = 5;
  static constexpr size_t kChannel = 3;
  using Counts = std::array<uint32_t, kFlags>;
  // By flag, those of modes 0 to 2 before those of the channels: a core has one counter for all of the former.
  static constexpr size_t kCounters = 3 * kFlags;
  using Waits = std::array<uint32_t, kCounters>;
  static size_t CounterOf(size_t mode, size_t flag) {
    return mode < kChannel ? flag : (mode - kChannel + 1) * kFlags + flag;
  }

  // This says what a core waits for in vain, and the cores that it waits for.
  struct Vain {
    std::string what;
    std::vector<uint32_t> cores;
    std::string advice = "";  // in place of the usual one
  };
  // SyncAll by one memory.
  struct Gathering {
    struct Round {
      uint32_t core = 0;  // that came first
      uint32_t participants = 0;
      std::vector<void*> stack;
      std::vector<uint32_t> stores;  // by core: StoresSoFar when it came
      std::vector<Waits> waits;      // of MIX kernels, by core: waits_ when it came
      std::vector<uint32_t> handed;  // handovers by core when it came, in MIX kernels
    };
    uint32_t number = 0;
    std::vector<uint32_t> arrivals;  // by core
    std::vector<Round> rounds;
    uint32_t published = 0;  // the last of its number that went on without cores that ended
  };
  struct Mark {
    uint32_t number = 0;
    uint32_t core = 0;
    std::string name;
    std::vector<void*> stack;
  };

  // looks: nobody tells when the condition has come true. what: for whom others wait.
  void Wait(Core& core, std::unique_lock<MeetingMutex>& lock, const std::function<bool()>& passes,
            const std::function<Vain()>& vain, bool looks = false, std::string what = {});
  // Cores that raise counters together, and those whose counters they raise.
  template <typename Do>
  void ForEachSender(uint32_t senders, Do&& act) const;
  std::vector<uint32_t> Senders(uint32_t senders) const;
  std::vector<uint32_t> Receivers(uint32_t senders) const;
  // These are about one core's counters.
  std::vector<uint32_t> SendersFor(uint32_t core) const;
  std::vector<uint32_t> SendersFor(uint32_t core, uint8_t mode, uint16_t flag) const;
  // An index of kModes; NameOfMode: the mode as kernels know it.
  static uint8_t ModeOf(uint32_t senders);
  // The flag as the core that sets it knows it.
  static unsigned IdOf(uint32_t senders, size_t flag) {
    const bool upper = senders >= 2 && FlagSenders::WhoOf(senders) == FlagSenders::kCubeToSecond;
    return static_cast<unsigned>(flag + (upper ? kFlags : 0));
  }
  static unsigned NameOfMode(size_t mode) {
    return mode < kChannel ? static_cast<unsigned>(mode) : kOneVector;
  }
  // How often they have raised it.
  uint64_t Raised(uint32_t senders, size_t flag) const;
  void CheckCounter(Core& core, uint32_t senders, size_t flag);
  void CheckChangeOfMode(Core& core, uint8_t mode, uint16_t flag);
  void Learn(const Core& core, uint32_t senders, size_t flag, uint32_t number);
  Vain FlagInVain(const Core& core, const std::vector<uint32_t>& all, uint16_t flag) const;
  [[noreturn]] void ThrowDeadlock(const Vain& vain) const;
  void Tell(Core& core);
  void Apply(uint32_t core, uint64_t upTo);

  const KernelLaunch& launch_;
  std::optional<Exchange> exchange_;
  MeetingMutex mutex_;
  Condition changed_;
  std::map<std::pair<const void*, uint32_t>, Gathering> gatherings_;  // by memory and who meets
  const std::vector<uint32_t> turns_;
  std::vector<CoreAside> asides_;                         // by core
  std::vector<FaultEnd> stands_;                          // by core: where it waits or has left
  std::vector<std::array<Counts, kModes>> sets_, taken_;  // by core; taken_: of waits
  std::vector<std::array<uint8_t, kFlags>> lastModes_;    // by core: of its last set of each flag
  std::vector<Waits> waits_;                              // by core
  std::vector<std::array<std::vector<void*>, kCounters>> setStacks_;  // of MIX kernels, by core
  // MIX kernels alone, by core: waits of the cores of its AI core, and what they have handed over, that it knows of; and for each of
  // its sets what it knew then.
  struct Known {
    Waits waits{};
    uint32_t handed = 0;
  };
  using Knowledge = std::vector<Known>;
  std::vector<Knowledge> known_;
  std::vector<std::array<std::array<std::vector<Knowledge>, kFlags>, kModes>> knownAtSet_;
  std::vector<uint32_t> handed_;                                        // by core
  std::vector<std::vector<std::shared_ptr<const Handover>>> onTheWay_;  // by core that gets them
  std::map<uint64_t, Mark> marks_;                                      // by address of the slot
  uint32_t marksSet_ = 0;
  struct Poll {
    const uint8_t* address = nullptr;
    std::vector<uint8_t> value;
    uint32_t count = 0;
  };
  std::vector<Poll> polls_;  // of Load, by core
  struct Stored {
    uint32_t core = 0;
    uint32_t number = 0;
  };
  std::map<const uint8_t*, Stored> stored_;  // by Store: address -> the last
  uint32_t stores_ = 0;
  Mutex<9, "words of a meeting">
      wordMutex_;  // guards words_; observers lock it while mutex_ is held
  std::unordered_map<uint64_t, Word> words_;  // by address / 4
  std::atomic<uint32_t> wordStores_{0};
  std::vector<std::vector<uint32_t>>
      met_;                       // by core, its own: Round::stores of the last that it has passed
  uint64_t turn_ = 0;             // PassTurn calls of all cores
  std::vector<uint64_t> rounds_;  // AwaitTurn calls, by core
  std::vector<uint64_t> passed_;  // PassTurn calls, by core
  std::vector<std::vector<void*>> turnStacks_;  // of the last AwaitTurn, by core
  bool turnsInitialised_ = false;
  // By core: sums that it has told of and the others have yet to meet for; how many have taken effect before those; and for each
  // set of a flag that some core has yet to set, how many it told of.
  std::vector<std::vector<AtomicWrite>> atomics_;
  std::vector<uint64_t> applied_;
  std::vector<std::array<std::array<std::vector<uint64_t>, kFlags>, kModes>> told_;
  std::vector<const std::function<bool()>*> waiting_;
  uint32_t alive_;
  std::vector<bool> left_;  // by core
  bool failed_ = false;
  bool stuck_ = false;
  bool abandoned_ = false;
  // Cores that a fault has ended, where faults do not end the launch, count as having been everywhere.
  const bool keepGoing_;
  std::vector<bool> dead_;
  bool died_ = false;  // one of them
  // An AIV has its Matmul objects, requests and answers here; an AIC whose turn is next, and what it works for.
  struct Served {
    uint32_t objects = 0;  // 0: not registered
    std::deque<Request> requests;
    std::array<std::deque<std::vector<uint8_t>>, FlagSenders::kMostObjects + 1> answers;
    uint32_t next = 0;
    bool serves = false, works = false;
    Request request;
  };
  std::vector<Served> served_;                          // by core
  std::vector<const std::function<bool()>*> waitsFor_;  // by core; null: it does not wait
};

}  // namespace aclsim
