// SPDX-License-Identifier: Apache-2.0
// A tape has what one core does, in program order, with what the model needs to time it.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "engine/core.h"
#include "timing/costs.h"
#include "timing/vector_schedule.h"

namespace aclsim {

enum class StepKind : uint8_t {
  kVector,
  kUnit,     // an instruction of the matrix unit, within the core
  kCopy,     // MTE2 or MTE3
  kScalar,   // work of the scalar pipe
  kSet,      // pipe sets flag
  kWait,     // pipe waits for flag
  kBarrier,  // pipe drains
  kAll,      // every pipe drains
  kMeet,     // all cores
  kTell,     // one core has done something that another one may wait for
  kHear,     // until a core has told that
};

struct Step {
  StepKind kind = StepKind::kScalar;
  Pipe pipe = Pipe::kScalar;
  bool automatic = false;  // synchronisation that the compiler inserts
  uint16_t name = 0;       // Tape::names
  uint32_t flag =
      0;  // of kTell and kHear: Tape::told; of kCopy and kScalar: 0, or behind Tape::awaited; of kMeet: who meets
  uint32_t site = 0;
  uint32_t copy = 0;  // Tape::copies
  float issue = 0;    // cycles of the scalar pipe
  float head = 0;
  float cycles = 0;
  float tail = 0;
  // For changes.cpp, of kVector; `reads` of kScalar as well.
  float stream = 0;      // the part of `cycles` that grows with the repeats
  uint32_t repeats = 0;  // of its longest operand
  uint32_t reads = 0;    // one past the last vector step whose result is one of its sources
  uint16_t folds = 0;    // repeats that it sums up into one result each, from 2 on
  bool wide = false;     // of lanes of four bytes
  bool lanes = false;    // each result is made of the same lane of its sources
  bool again = false;    // a Cast of bytes that have been cast so before
  bool indexed =
      false;  // a copy, before which the scalar pipe has read a value that may say where it is
  bool carried = false;  // takes what the same line of the kernel has made before
};

// GM side of a copy.
struct GmCopy {
  uint64_t addr = 0;
  uint64_t bytes = 0;  // of a block
  uint32_t blocks = 1;
  int64_t step = 0;
  bool write = false;
  bool bypass = false;  // does not stay in L2
  bool atomic = false;
  bool toL1 = false;
};

// Bytes of GM that a core has written. Numbers count those of a launch, in the order in which the host made them.
struct GmWrite {
  uint64_t number = 0;
  uint32_t step = 0;   // that brings them to GM
  uint64_t addr = 0;   // of a scalar; a copy's are those of its step
  uint64_t bytes = 0;  // 0: a copy
};

// Bytes of GM that scalar code has seen: those that were there after that many writes.
struct GmRead {
  uint32_t step = 0;  // that reads them from GM
  uint64_t addr = 0;
  uint64_t bytes = 0;
  uint64_t writes = 0;
};

// Cycles that UB banks add: per repeat, or in all.
struct BankConflicts {
  double groups = 0;  // sources, or blocks of one operand, in one bank group
  double banks = 0;   // a result in the bank of a source
};

// A buffer of UB as InitBuffer gave it.
struct UbBuffer {
  uint32_t offset = 0;
  uint32_t bytes = 0;
  void* initPc = nullptr;  // where InitBuffer was called; null for a tensor at a fixed address
  uint8_t pos = 0;         // TPosition
  size_t ofQueue = 0;      // buffers that its queue has; 0: a TBuf's, or of no queue
  uint64_t touched = 0;    // bytes up to the last one that instructions took
};

// A time in which a buffer is used: of a queue's, from the first instruction behind AllocTensor to the last one before
// FreeTensor.
struct UbUse {
  uint32_t buffer = 0;                  // Tape::buffers
  uint32_t first = 0;                   // step
  std::array<uint32_t, kPipes> last{};  // one past the last step of each pipe
};

// An estimate rests on this, and how many cycles of some pipe it has for that.
struct Ground {
  std::string name;
  Evidence evidence = Evidence::kBoard;
  double cycles = 0;
};
inline constexpr uint32_t kRegisterArch = 3510;  // has vector functions
constexpr double kDecides = 1e300;               // cycles of what every estimate rests on

struct Tape {
  std::vector<Step> steps;
  std::array<std::vector<uint32_t>, kPipes> instructions;  // of each pipe, in order: their steps
  std::vector<GmCopy> copies;
  std::vector<std::pair<CoreMeeting, uint32_t>> told;  // what cores tell one another: kind, number
  std::vector<GmWrite> writes;
  std::vector<GmRead> reads;
  // By LinkReads. Of steps that read what other cores write: numbers of what they come after.
  std::vector<std::vector<uint32_t>> awaited;
  std::vector<std::pair<uint32_t, uint32_t>> written;  // steps that such a number is of, in order
  std::vector<UbBuffer> buffers;                       // by the engine's handle
  std::vector<UbUse> uses;
  std::vector<std::string> names;
  std::vector<std::string> unknown;                         // functions without a cost
  std::unordered_map<uint32_t, std::vector<void*>> stacks;  // by Step::site
  std::vector<Ground> grounds;
  BankConflicts conflicts;
  uint64_t polledBytes =
      0;                  // of GM that copies read while a core waited for another one: in no step
  double ownSeconds = 0;  // of the host, for scalar code between calls; see host/own_time.h
  uint64_t vectorBytes = 0;  // that vector instructions read and wrote
  double flops = 0;          // of Mmads, whole fractals: multiplications and additions
  double flopsPerCycle = 0;  // of the Mmad that does most in a cycle
  double queueCycles = 0;    // of the scalar pipe, for queue operations
  double coldCycles = 0;     // and for code that runs for the first time
  double rowSums = 0;        // cycles of instructions that make a value of each of several repeats
};

// Says which core comes after which, of those that pass words to one another in GM: when all tapes are complete.
void LinkReads(std::vector<Tape>* tapes);

class CoreClock;

// These say how the scalar pipe writes its data cache back, and bytes of a line of it.
inline constexpr const char* kCleans = "DataCacheCleanAndInvalid";
inline constexpr uint64_t kScalarLine = 64;

class TapeObserver : public Observer {
 public:
  // writes: to GM so far, by all cores of the launch.
  TapeObserver(const Soc& soc, Tape* tape, std::atomic<uint64_t>* writes);
  ~TapeObserver() override = default;
  TapeObserver(const TapeObserver&) = delete;
  TapeObserver& operator=(const TapeObserver&) = delete;
  void OnIssue(const Core& core, Record& record) override;
  void OnIssueSync(const Core& core, const SyncEvent& event) override;
  void OnRecord(Core& core, const Record& record) override;
  void OnRead(Core& core, const void* value, uint32_t bytes) override;
  void OnCacheClean(Core& core, uint64_t begin, uint64_t end) override;
  // It takes time on hardware, which nobody knows.
  void OnLeftOut(Core& core) override;
  void OnEnd(Core& core) override;
  // As the model has them of the core alone; of a launch that is profiled.
  std::optional<double> Now(const Core& core) override;
  VectorTimer* Timer() override { return soc_.npuArch == kRegisterArch ? &schedule_ : nullptr; }

 private:
  struct Range {
    uint64_t begin = 0, end = 0;
    bool write = false;
    size_t step = 0;  // of the tape
  };
  struct Known {
    uint16_t name;
    FunctionCost cost;
    size_t ground = SIZE_MAX;                     // of the tape; SIZE_MAX: not used yet
    std::unordered_map<uint8_t, size_t> untimed;  // the same, by type that nobody has timed
  };
  size_t GroundOf(Known* known, const Record& record);
  Known& Lookup(const char* function);
  void Count(Pipe pipe);
  void NoteCall(const Core& core, uint32_t site, bool function);
  size_t Rest(Evidence evidence, const std::string& on, double cycles);
  void AddFlag(const SyncEvent& event);
  void AddMeeting(const SyncEvent& event);
  void AddTold(StepKind kind, CoreMeeting what, const SyncEvent& event);
  void ForgetRecent(Pipe pipe);
  void Works() { worked_ = tape_->steps.size(); }
  bool Repeats(size_t since) const;
  bool IsBalanced(size_t from) const;
  void Erase(size_t from);
  void Uncount(size_t from);
  void NoteLoad(const Record& record);
  void ForgetLoads(const Record& record);
  void NoteLook(const Record& record);
  uint16_t NameOf(const char* text);
  Step& Push(StepKind kind, Pipe pipe, const char* name, uint32_t site, double issue);
  void PushAutomatic(StepKind kind, Pipe pipe, uint32_t flag, uint32_t site);
  bool Touches(Pipe pipe, const Record& record) const;
  void Remember(Pipe pipe, const Record& record);
  void Forget(Pipe pipe, size_t before);
  void NoteUses(const Core& core, const Record& record, size_t first);
  void NoteSources(const Record& record, bool sums, Step* step);
  void NoteResults(const Record& record);
  void AddVector(Record& record);
  void AddToFunction(const Record& record);
  void AddFunction(const Core& core, const Record& record);
  void AddUnit(const Record& record);
  void AddCopy(const Core& core, const Record& record);
  void AddScalar(const Record& record);
  void AddScalarAccess(const Core& core, Record& record);

  const Soc& soc_;
  const ScalarCosts& scalar_;
  Tape* const tape_;
  std::unordered_map<const char*, Known> known_;
  std::unordered_map<const char*, std::string> leftOut_;  // by the function
  std::array<std::vector<Range>, kPipes> recent_;  // UB of instructions that may still be under way
  std::array<size_t, kPipes> oldest_{};
  struct Using {
    uint16_t generation = 0;
    size_t use = SIZE_MAX;  // of the tape
  };
  std::vector<Using> using_;  // by buffer
  // UB has these of a vector instruction's results, or of a Cast's source: both until something else is written there.
  struct Made {
    uint64_t begin = 0, end = 0;
    uint32_t step = 0;
    uint64_t width = 0;  // of a Cast's source: bytes of a lane of its result
  };
  std::array<Made, 32> made_;
  std::array<Made, 16> cast_;
  size_t oldestMade_ = 0, oldestCast_ = 0;
  std::vector<uint64_t> touched_;  // by buffer
  size_t indexAt_ = 0;             // steps up to the last scalar read that may be an index
  std::unordered_map<uint32_t, size_t>
      copiedAt_;  // and up to the last copy of a place in the kernel
  std::unordered_map<uint32_t, size_t>
      setAt_;                           // step of the last SetFlag for the scalar pipe, by flag
  std::unordered_set<uint64_t> lines_;  // of GM in the scalar pipe's cache
  double pending_ = 0;                  // cycles of the scalar pipe before the next step
  size_t queues_ = 1;  // that the core had at the last call; there is one from the start
  std::unordered_set<uint32_t> called_;  // places in the kernel that have run
  VectorSchedule schedule_;
  Record function_;                   // what the vector function under way has touched, roughly
  size_t functionRecords_ = 0;        // its loads and stores
  std::unique_ptr<CoreClock> clock_;  // once the kernel has asked
  const int64_t began_;               // nanoseconds of the device before the launch

  // A scalar read of bytes of GM, or of such that were just copied from there.
  struct Look {
    uint32_t site = 0;
    uint64_t addr = 0;
    uint64_t value = 0;
    size_t first = 0;  // steps up to it, of those that were only repeated since: up to the first
    size_t last = 0;   // and up to the last
    OwnTime own;       // at the first
  };
  struct Load {
    Access ub, gm;
    uint32_t step = 0;
  };
  std::atomic<uint64_t>* const writes_;
  std::array<Look, 64> looks_;  // the latest of each place
  size_t oldestLook_ = 0;
  std::array<Load, 8> loads_;  // the latest
  size_t oldestLoad_ = 0;
  GmRead look_;  // that waits for its value; no bytes: none
  uint32_t lookSite_ = 0;
  size_t seen_ = 0;                // the last one, in Tape::reads
  std::vector<size_t> uncleaned_;  // in Tape::writes: they are in the data cache only
  size_t worked_ =
      0;  // steps up to the last that did more than to look at GM or to wait for the core's own pipes
  size_t moved_ = 0;  // and up to the last that was not the scalar pipe's alone
};

BankConflicts ConflictsOf(const Soc& soc, const Record& record);  // per repeat

}  // namespace aclsim
