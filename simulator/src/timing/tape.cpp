// SPDX-License-Identifier: Apache-2.0
#include "timing/tape.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <span>
#include <utility>

#include "device/lanes.h"
#include "timing/model.h"
#include "timing/profile.h"

namespace aclsim {

namespace {

constexpr uint64_t kRepeat = 256;
constexpr uint64_t kBlock = 32;
constexpr size_t kRecent = 32;  // instructions that a pipe can have under way
constexpr const char* kCleans = "DataCacheCleanAndInvalid";
constexpr uint64_t kScalarLine = 64;
constexpr size_t kScalarLines = 512;  // 32 KiB
// The compiler's own flags, clear of the kernel's.
constexpr uint32_t kAutomaticFlag = 0x80000000u;

// A2's banks: 16 groups of one block, a bank is 128 rows of a group. Cycles per repeat: VectorCosts.
constexpr uint64_t kGroups = kBankGroups;
constexpr uint64_t kBankBytes = 65536;

thread_local TapeObserver* current = nullptr;

// How far apart the repeats of an operand are.
int64_t RepeatStride(const Access& access) {
  return access.repeat > 1 ? access.repStride : static_cast<int64_t>(kRepeat);
}

// Bit per group that a full repeat touches; worst: most blocks in one group.
uint32_t Groups(const Access& whole, int* worst, int64_t repeat = 0) {
  Access access = whole;
  access.addr += static_cast<uint64_t>(repeat * RepeatStride(whole));
  std::array<int, kGroups> count{};
  uint32_t groups = 0;
  const uint64_t bytes = std::min<uint64_t>(access.bytes, kRepeat);
  *worst = 1;
  if (access.chunk >= access.bytes) {  // contiguous
    const uint64_t blocks = (bytes + kBlock - 1) / kBlock;
    for (uint64_t i = 0; i < blocks; ++i) {
      groups |= 1u << BankGroupOf(access.addr + i * kBlock);
    }
    return groups;
  }
  if (access.chunkStride == 0) {
    return 1u << BankGroupOf(access.addr);
  }
  for (uint64_t at = 0, block = 0; at < bytes && block < 8; at += access.chunk, ++block) {
    const uint64_t group = BankGroupOf(
        access.addr + static_cast<uint64_t>(static_cast<int64_t>(block) * access.chunkStride));
    groups |= 1u << group;
    *worst = std::max(*worst, ++count[group]);
  }
  return groups;
}

// Cycles per repeat by which two sources hold each other up.
double ReadConflicts(const Access& a, const Access& b) {
  int unused = 0;
  const auto shared = [&](int64_t repeat) {
    return (Groups(a, &unused, repeat) & Groups(b, &unused, repeat)) != 0;
  };
  constexpr auto kRow = static_cast<int64_t>(kGroups * kBlock);
  if ((RepeatStride(a) - RepeatStride(b)) % kRow == 0) {
    return shared(0) ? VectorCostsOf().sharedGroups : 0;
  }
  int found = 0;
  constexpr int kPeriod = kGroups;  // strides are whole blocks
  for (int repeat = 0; repeat < kPeriod; ++repeat) {
    found += shared(repeat) ? 1 : 0;
  }
  return (found == kPeriod ? VectorCostsOf().sharedGroups : VectorCostsOf().someRepeats) * found /
         kPeriod;
}

// Of an operand that an instruction takes lane by lane.
uint64_t BytesOf(const Access& access) { return access.table ? 0 : access.TotalBytes(); }

uint64_t RepeatsOf(const Record& record) {
  uint64_t repeats = static_cast<uint64_t>(std::max(record.repeat, 1));
  if (record.crowd > 0) {  // its accesses are all that lies between the addresses of lists
    return repeats;
  }
  for (int i = 0; i < record.accessCount; ++i) {
    const Access& access = record.access[static_cast<size_t>(i)];
    repeats = std::max(repeats, (BytesOf(access) + kRepeat - 1) / kRepeat);
  }
  return repeats;
}

bool PartialOf(const Record& record) {
  if (record.crowd > 0) {
    return false;
  }
  uint64_t bytes = 0;
  for (int i = 0; i < record.accessCount; ++i) {
    const Access& access = record.access[static_cast<size_t>(i)];
    if (!access.table) {
      bytes = std::max(bytes, access.repeat == 1 ? access.lastBytes : access.bytes);
    }
  }
  return bytes % kRepeat != 0;
}

}  // namespace

BankConflicts ConflictsOf(const Soc& soc, const Record& record) {
  BankConflicts found;
  if (soc.npuArch != 2201 || record.accessCount == 0) {
    return found;
  }
  if (record.crowd > 0) {
    // A repeat takes two cycles: two blocks of a group are there in time.
    found.groups = std::max(0, record.crowd - 2);
    return found;
  }
  const Access* reads[2] = {nullptr, nullptr};
  const Access* write = nullptr;
  int count = 0;
  for (int i = 0; i < record.accessCount; ++i) {
    const Access& access = record.access[static_cast<size_t>(i)];
    if (access.gm || access.table) {
      continue;
    }
    int worst = 1;
    Groups(access, &worst);
    found.groups = std::max(found.groups, static_cast<double>(worst - 1));
    if (access.use == Use::kRead && count < 2) {
      reads[count++] = &access;
    } else if (access.use == Use::kWrite && write == nullptr) {
      write = &access;
    }
  }
  int unused = 0;
  if (count == 2 && reads[0]->addr != reads[1]->addr) {
    found.groups += ReadConflicts(*reads[0], *reads[1]);
  }
  if (write != nullptr) {
    const uint32_t to = Groups(*write, &unused);
    for (int i = 0; i < count; ++i) {
      // A write that lies whole repeats away is a repeat late, and clear of the read.
      const uint64_t apart = reads[i]->addr > write->addr ? reads[i]->addr - write->addr
                                                          : write->addr - reads[i]->addr;
      if (apart % kRepeat != 0 && reads[i]->addr / kBankBytes == write->addr / kBankBytes &&
          (Groups(*reads[i], &unused) & to) != 0) {
        found.banks = VectorCostsOf().readWrite;
        return found;
      }
    }
  }
  return found;
}

TapeObserver::TapeObserver(const Soc& soc, Tape* tape, std::atomic<uint64_t>* writes)
    : soc_(soc),
      scalar_(ScalarCostsOf()),
      tape_(tape),
      schedule_(soc.npuArch),
      began_(ModelledNanos()),
      writes_(writes) {
  current = this;
  Rest(ChipCostsOf(soc).evidence, "bandwidths", kDecides);
  Rest(CopyLawOf(soc).evidence, "copies", kDecides);
}

TapeObserver::~TapeObserver() { current = nullptr; }

TapeObserver* TapeObserver::Current() { return current; }

double TapeObserver::Nanoseconds(const Core& core) {
  if (clock_ == nullptr) {
    clock_ = std::make_unique<CoreClock>(*tape_, ModelCostsOf(soc_));
  }
  const ChipCosts chip = ChipCostsOf(soc_);
  const double cycles = static_cast<double>(core.index) * chip.startCycles + clock_->Now();
  return static_cast<double>(began_) +
         1e3 * (chip.launchMicroseconds + cycles / chip.cyclesPerMicrosecond);
}

size_t TapeObserver::Rest(Evidence evidence, const std::string& on, double cycles) {
  std::vector<Ground>& grounds = tape_->grounds;
  const auto found = std::find_if(grounds.begin(), grounds.end(),
                                  [&](const Ground& ground) { return ground.name == on; });
  const auto at = static_cast<size_t>(found - grounds.begin());
  if (found == grounds.end()) {
    grounds.push_back({on, evidence, 0});
  }
  grounds[at].cycles += cycles;
  return at;
}

uint16_t TapeObserver::NameOf(const char* text) {
  const auto found = std::find(tape_->names.begin(), tape_->names.end(), text);
  if (found != tape_->names.end()) {
    return static_cast<uint16_t>(found - tape_->names.begin());
  }
  tape_->names.emplace_back(text);
  return static_cast<uint16_t>(tape_->names.size() - 1);
}

TapeObserver::Known& TapeObserver::Lookup(const char* function) {
  const auto found = known_.find(function);
  if (found != known_.end()) {
    return found->second;
  }
  return known_.emplace(function, Known{NameOf(function), CostOf(soc_, function)}).first->second;
}

Step& TapeObserver::Push(StepKind kind, Pipe pipe, const char* name, uint32_t site, double issue) {
  Step step;
  step.kind = kind;
  step.pipe = pipe;
  step.name = Lookup(name).name;
  step.site = site;
  step.issue = static_cast<float>(issue);
  tape_->steps.push_back(step);
  if (kind != StepKind::kScalar && kind != StepKind::kHear) {
    moved_ = tape_->steps.size();
  }
  if (kind == StepKind::kVector || kind == StepKind::kMeet || kind == StepKind::kTell) {
    Works();
  }
  return tape_->steps.back();
}

void TapeObserver::PushAutomatic(StepKind kind, Pipe pipe, uint32_t flag, uint32_t site) {
  static const char* const kNames[] = {"SetFlag", "WaitFlag", "PipeBarrier"};
  const size_t name = kind == StepKind::kSet ? 0 : kind == StepKind::kWait ? 1 : 2;
  Step& step = Push(kind, pipe, kNames[name], site, scalar_.sync);
  step.flag = flag;
  step.automatic = true;
}

bool TapeObserver::Touches(Pipe pipe, const Record& record) const {
  for (const Range& range : recent_[static_cast<size_t>(pipe)]) {
    for (int i = 0; i < record.accessCount; ++i) {
      const Access& access = record.access[static_cast<size_t>(i)];
      if (!access.gm && (range.write || access.use != Use::kRead) && access.addr < range.end &&
          range.begin < access.addr + access.Extent()) {
        return true;
      }
    }
  }
  return false;
}

void TapeObserver::Remember(Pipe pipe, const Record& record) {
  std::vector<Range>& recent = recent_[static_cast<size_t>(pipe)];
  size_t& oldest = oldest_[static_cast<size_t>(pipe)];
  for (int i = 0; i < record.accessCount; ++i) {
    const Access& access = record.access[static_cast<size_t>(i)];
    if (access.gm) {
      continue;
    }
    const Range range{access.addr, access.addr + access.Extent(), access.use != Use::kRead,
                      tape_->steps.size()};
    if (recent.size() < 3 * kRecent) {
      recent.push_back(range);
    } else {
      recent[oldest] = range;
      oldest = (oldest + 1) % recent.size();
    }
  }
}

// Instructions that the tape has before a step are done.
void TapeObserver::Forget(Pipe pipe, size_t before) {
  std::vector<Range>& recent = recent_[static_cast<size_t>(pipe)];
  size_t& oldest = oldest_[static_cast<size_t>(pipe)];
  std::erase_if(recent, [before](const Range& range) { return range.step <= before; });
  std::sort(recent.begin(), recent.end(),
            [](const Range& a, const Range& b) { return a.step < b.step; });
  oldest = 0;
}

void TapeObserver::AddVector(Record& record) {
  Known& known = Lookup(record.name);
  const FunctionCost& cost = known.cost;
  if (known.ground == SIZE_MAX) {
    known.ground = Rest(cost.evidence, record.name, 0);
    if (!cost.known && std::find(tape_->unknown.begin(), tape_->unknown.end(), record.name) ==
                           tape_->unknown.end()) {
      tape_->unknown.emplace_back(record.name);
    }
  }
  const bool wide = WidthOf(record.dtype) >= 4;
  const double repeats = static_cast<double>(RepeatsOf(record));
  const BankConflicts conflicts = ConflictsOf(soc_, record);
  double cycles = (conflicts.groups + conflicts.banks) * repeats +
                  (PartialOf(record) ? VectorCostsOf().partialRepeat : 0);
  const auto perRepeat = [wide](const InstructionCost& one) {
    return wide ? one.perRepeat32 : one.perRepeat16;
  };
  if (cost.levels) {
    const InstructionCost& one = cost.chain.front();
    const double lanes = wide ? 64 : 128;
    for (double left = repeats;; left = std::ceil(left / lanes)) {
      cycles += std::max(VectorCostsOf().leastCycles, perRepeat(one) * left);
      if (left <= 1) {
        break;
      }
      cycles += one.tail + one.head;
    }
  } else {
    for (size_t i = 0; i < cost.chain.size(); ++i) {
      cycles += std::max(VectorCostsOf().leastCycles, perRepeat(cost.chain[i]) * repeats);
      if (i > 0) {
        cycles += cost.chain[i - 1].tail + cost.chain[i].head;
      }
    }
  }
  tape_->conflicts.groups += conflicts.groups * repeats;
  tape_->conflicts.banks += conflicts.banks * repeats;
  for (int i = 0; i < record.accessCount; ++i) {
    tape_->vectorBytes += BytesOf(record.access[static_cast<size_t>(i)]);
  }
  Step& step = Push(StepKind::kVector, Pipe::kVector, record.name, record.site, scalar_.issue);
  step.head = static_cast<float>(cost.chain.front().head);
  step.cycles = static_cast<float>(cycles);
  step.tail = static_cast<float>(cost.chain.back().tail);
  const double took = cost.chain.front().head + cycles + cost.chain.back().tail;
  tape_->grounds[known.ground].cycles += took;
  if ((record.flow == Flow::kRepeats || record.flow == Flow::kGroups) && RepeatsOf(record) > 1) {
    tape_->rowSums += took;
  }
}

// A load or store: its bytes are those of the function, whose step comes when it ends.
void TapeObserver::AddToFunction(const Core& core, const Record& record) {
  functionWaits_ = functionWaits_ || (core.autoSync && Touches(Pipe::kVector, record));
  ++functionRecords_;
  function_.site = function_.site == 0 ? record.site : function_.site;
  for (int i = 0; i < record.accessCount; ++i) {
    const Access& access = record.access[static_cast<size_t>(i)];
    tape_->vectorBytes += BytesOf(access);
    const uint64_t begin = access.addr, end = begin + access.Extent();
    // Into the range of the same buffer and kind, else a new one while there is room.
    Access* known = nullptr;
    for (int j = 0; j < function_.accessCount; ++j) {
      Access& range = function_.access[static_cast<size_t>(j)];
      if (range.buffer == access.buffer && range.use == access.use) {
        known = &range;
      }
    }
    if (known == nullptr && function_.accessCount < static_cast<int>(function_.access.size())) {
      function_.Add(DenseAccess(access.use, begin, end - begin, access.buffer));
      continue;
    }
    known = known != nullptr ? known : &function_.access.back();
    const uint64_t from = std::min(known->addr, begin);
    const uint64_t to = std::max(known->addr + known->bytes, end);
    const Use use =
        known->use == Use::kWrite || access.use == Use::kWrite ? Use::kWrite : Use::kRead;
    *known = DenseAccess(use, from, to - from, known->buffer);
  }
}

void TapeObserver::AddFunction(const Core& core, const Record& record) {
  if (functionWaits_) {
    PushAutomatic(StepKind::kBarrier, Pipe::kVector, 0, record.site);
    recent_[static_cast<size_t>(Pipe::kVector)].clear();
    oldest_[static_cast<size_t>(Pipe::kVector)] = 0;
  }
  Known& known = Lookup(record.name);
  const Evidence evidence = schedule_.Ground();
  for (std::string& name : schedule_.TakeUnknown()) {
    tape_->unknown.push_back(std::move(name));
  }
  const size_t first = tape_->steps.size();
  const uint32_t site = function_.site != 0 ? function_.site : record.site;
  const FunctionTimes& times = FunctionTimesOf();
  Step& step = Push(StepKind::kVector, Pipe::kVector, record.name, site, scalar_.issue);
  step.head = static_cast<float>(times.head);
  step.cycles = static_cast<float>(record.cycles);
  step.tail = static_cast<float>(times.drain);
  known.ground = Rest(
      evidence, evidence == Evidence::kAssumed ? "vector functions, in part assumed" : record.name,
      times.head + record.cycles + times.drain);
  function_.pipe = Pipe::kVector;
  NoteUses(core, function_, first);
  // The race check counts each load and store, and the function itself.
  for (size_t i = 0; i <= functionRecords_; ++i) {
    Count(Pipe::kVector);
  }
  Remember(Pipe::kVector, function_);
  function_ = {};
  functionRecords_ = 0;
  functionWaits_ = false;
}

void TapeObserver::AddCopy(const Core& core, const Record& record) {
  Step& step = Push(StepKind::kCopy, record.pipe, record.name, record.site, scalar_.issue);
  step.copy = static_cast<uint32_t>(tape_->copies.size());
  if (record.atomic) {  // taken for a write that has its turn
    uint64_t bytes = 0;
    for (int i = 0; i < record.accessCount; ++i) {
      bytes += record.access[static_cast<size_t>(i)].gm
                   ? BytesOf(record.access[static_cast<size_t>(i)])
                   : 0;
    }
    const CopyLaw& law = CopyLawOf(soc_);
    Rest(Evidence::kAssumed, "atomic writes",
         law.writeLatency + OnCurve(law.write, static_cast<double>(bytes)));
  }
  for (int i = 0; i < record.accessCount; ++i) {
    const Access& access = record.access[static_cast<size_t>(i)];
    if (access.gm) {
      const bool write = access.use == Use::kWrite;
      tape_->copies.push_back({access.addr, access.bytes, access.repeat, access.repStride, write,
                               core.BypassesL2(access.addr, write), record.atomic});
      if (write) {
        Works();
      }
      return;
    }
  }
  tape_->copies.emplace_back();
}

void TapeObserver::AddScalar(const Record& record) {
  const Access& access = record.access[0];
  double cycles = scalar_.access;
  if (access.gm) {
    if (lines_.size() >= kScalarLines) {
      lines_.clear();
    }
    cycles = lines_.insert(access.addr / kScalarLine).second ? scalar_.gmMiss : scalar_.gmHit;
  }
  Push(StepKind::kScalar, Pipe::kScalar, record.name, record.site, 0).cycles =
      static_cast<float>(cycles);
}

void TapeObserver::NoteUses(const Core& core, const Record& record, size_t first) {
  for (int i = 0; i < record.accessCount; ++i) {
    const Access& access = record.access[static_cast<size_t>(i)];
    if (access.gm || access.buffer == 0 || access.buffer >= core.buffers.size()) {
      continue;
    }
    if (using_.size() <= access.buffer) {
      using_.resize(core.buffers.size());
    }
    Using& now = using_[access.buffer];
    const uint16_t generation = core.buffers[access.buffer].generation;
    if (now.use == SIZE_MAX || now.generation != generation) {
      now = {generation, tape_->uses.size()};
      tape_->uses.push_back({access.buffer, static_cast<uint32_t>(first), {}});
    }
    tape_->uses[now.use].last[static_cast<size_t>(record.pipe)] =
        static_cast<uint32_t>(tape_->steps.size());
  }
}

// The last step is the next instruction of a pipe.
void TapeObserver::Count(Pipe pipe) {
  tape_->instructions[static_cast<size_t>(pipe)].push_back(
      static_cast<uint32_t>(tape_->steps.size() - 1));
}

void TapeObserver::OnIssue(const Core& core, Record& record) {
  if (record.pipe == Pipe::kScalar) {
    for (const Pipe pipe : {Pipe::kVector, Pipe::kMte2, Pipe::kMte3}) {
      if (core.autoSync && Touches(pipe, record)) {
        const uint32_t flag = kAutomaticFlag + static_cast<uint32_t>(pipe);
        PushAutomatic(StepKind::kSet, pipe, flag, record.site);
        PushAutomatic(StepKind::kWait, Pipe::kScalar, flag, record.site);
        recent_[static_cast<size_t>(pipe)].clear();
        oldest_[static_cast<size_t>(pipe)] = 0;
      }
    }
    AddScalar(record);
    Count(record.pipe);
    NoteUses(core, record, tape_->steps.size() - 1);
    NoteLook(record);
    record.step = static_cast<uint32_t>(tape_->steps.size() - 1);
    return;
  }
  if (record.vectorFunction != 0) {
    if (record.accessCount > 0) {
      ForgetLoads(record);
      AddToFunction(core, record);
    } else {
      AddFunction(core, record);
    }
    return;
  }
  if (record.pipe == Pipe::kVector) {
    if (core.autoSync && Touches(Pipe::kVector, record)) {
      PushAutomatic(StepKind::kBarrier, Pipe::kVector, 0, record.site);
      recent_[static_cast<size_t>(Pipe::kVector)].clear();
      oldest_[static_cast<size_t>(Pipe::kVector)] = 0;
    }
    const size_t first = tape_->steps.size();
    AddVector(record);
    NoteUses(core, record, first);
  } else {
    AddCopy(core, record);
    NoteUses(core, record, tape_->steps.size() - 1);
  }
  ForgetLoads(record);
  if (record.pipe == Pipe::kMte2) {
    NoteLoad(record);
  }
  Count(record.pipe);
  Remember(record.pipe, record);
  record.step = static_cast<uint32_t>(tape_->steps.size() - 1);
}

void TapeObserver::OnRecord(Core&, const Record& record) {
  if (record.pipe == Pipe::kVector) {
    return;
  }
  const std::span accesses(record.access.data(), static_cast<size_t>(record.accessCount));
  const auto write = std::ranges::find_if(
      accesses, [](const Access& access) { return access.gm && access.use != Use::kRead; });
  if (write == accesses.end()) {
    return;
  }
  const bool scalar = record.pipe == Pipe::kScalar;
  if (scalar) {
    uncleaned_.push_back(tape_->writes.size());
  }
  tape_->writes.push_back({++*writes_, record.step, write->addr, scalar ? write->bytes : 0});
}

void TapeObserver::NoteLoad(const Record& record) {
  Load load;
  load.step = static_cast<uint32_t>(tape_->steps.size() - 1);
  for (int i = 0; i < record.accessCount; ++i) {
    const Access& access = record.access[static_cast<size_t>(i)];
    (access.gm ? load.gm : load.ub) = access;
  }
  if (load.gm.bytes > 0 && load.ub.bytes > 0) {
    loads_[oldestLoad_] = load;
    oldestLoad_ = (oldestLoad_ + 1) % loads_.size();
  }
}

// What the record overwrites in UB is no longer what was loaded.
void TapeObserver::ForgetLoads(const Record& record) {
  for (int i = 0; i < record.accessCount; ++i) {
    const Access& access = record.access[static_cast<size_t>(i)];
    if (access.gm || access.use == Use::kRead) {
      continue;
    }
    for (Load& load : loads_) {
      if (load.ub.bytes > 0 && access.addr < load.ub.addr + load.ub.Extent() &&
          load.ub.addr < access.addr + access.Extent()) {
        load = {};
      }
    }
  }
}

// A scalar access is issued: what of GM it is about to see.
void TapeObserver::NoteLook(const Record& record) {
  const Access& access = record.access[0];
  look_ = {};
  lookSite_ = record.site;
  if (access.use != Use::kRead || record.reference) {
    if (access.gm) {
      Works();
    } else {
      ForgetLoads(record);
    }
    return;
  }
  if (access.gm) {
    look_ = {static_cast<uint32_t>(tape_->steps.size() - 1), access.addr, access.bytes, 0};
    return;
  }
  for (const Load& load : loads_) {
    const uint64_t at = access.addr - load.ub.addr;
    if (load.ub.bytes == 0 || access.addr < load.ub.addr || at + access.bytes > load.ub.Extent()) {
      continue;
    }
    // Blocks lie one behind the other in UB where nothing says how far they are apart.
    const int64_t apart = load.ub.repeat == load.gm.repeat && load.gm.repeat > 1
                              ? load.ub.repStride
                              : static_cast<int64_t>(load.gm.bytes);
    if (apart > 0) {
      const uint64_t block = at / static_cast<uint64_t>(apart);
      const uint64_t in = at % static_cast<uint64_t>(apart);
      if (block < load.gm.repeat && in + access.bytes <= load.gm.bytes) {
        const auto begin = static_cast<int64_t>(block) * load.gm.repStride;
        look_ = {load.step, load.gm.addr + static_cast<uint64_t>(begin) + in, access.bytes, 0};
      }
    }
    return;
  }
}

// How often a core looks until another one has written is the host's affair. Looks at one place, between which the core did nothing
// but look and wait, are one when a later one gives another value: the first, which then sees what the last one saw.
void TapeObserver::OnRead(Core& core, const void* value, uint32_t bytes) {
  GmRead read = std::exchange(look_, {});
  if (read.bytes == 0) {
    return;
  }
  read.writes = *writes_;
  std::vector<GmRead>& reads = tape_->reads;
  const size_t end = tape_->steps.size();
  Look now{lookSite_, read.addr, 0, end, end, core.ownTime};
  std::memcpy(&now.value, value, std::min<size_t>(bytes, sizeof(now.value)));
  auto look = std::ranges::find_if(
      looks_, [&](const Look& other) { return other.addr == now.addr && other.site == now.site; });
  const bool again = look != looks_.end() && Repeats(look->last);
  if (look == looks_.end()) {
    look = looks_.begin() + static_cast<std::ptrdiff_t>(oldestLook_);
    oldestLook_ = (oldestLook_ + 1) % looks_.size();
  }
  if (again && look->value == now.value) {
    look->last = end;
  } else if (!again) {
    *look = now;
  } else {
    // A queue of two buffers has a flag for each: they are as they were every second time.
    const size_t second = look->first + (end - look->last);
    const size_t from = IsBalanced(look->first) ? look->first : second;
    const OwnTime own = look->own;
    *look = now;
    if (from < end && IsBalanced(from)) {
      look->own = core.ownTime = own;  // its code between the looks was part of the wait
      look->first = look->last = from;
      Erase(from);
      const auto kept = std::ranges::find(reads.rbegin(), reads.rend(), now.addr, &GmRead::addr);
      if (kept != reads.rend()) {
        kept->writes = read.writes;
        seen_ = static_cast<size_t>(reads.rend() - kept) - 1;
        return;
      }
    }
  }
  seen_ = reads.size();
  reads.push_back(read);
}

// Whether the steps since then only look and wait: scalar reads and cleanings of the cache, or the same once more as before them.
bool TapeObserver::Repeats(size_t since) const {
  const std::vector<Step>& steps = tape_->steps;
  if (since < worked_ || since >= moved_) {
    return since >= worked_;
  }
  const auto same = [&](const Step& a, const Step& b) {
    if (a.kind != b.kind || a.pipe != b.pipe || a.name != b.name || a.site != b.site) {
      return false;
    }
    if (a.kind != StepKind::kCopy) {
      return true;
    }
    const GmCopy &left = tape_->copies[a.copy], &right = tape_->copies[b.copy];
    return left.addr == right.addr && left.bytes == right.bytes && left.blocks == right.blocks &&
           left.step == right.step;
  };
  const size_t count = steps.size() - since;
  const auto middle = steps.begin() + static_cast<std::ptrdiff_t>(since);
  return count <= since &&
         std::equal(middle, steps.end(), middle - static_cast<std::ptrdiff_t>(count), same);
}

// Whether each flag is as it was before the steps from there on.
bool TapeObserver::IsBalanced(size_t from) const {
  std::map<uint32_t, int> flags;
  for (size_t i = from; i < tape_->steps.size(); ++i) {
    const Step& step = tape_->steps[i];
    if (step.kind == StepKind::kSet || step.kind == StepKind::kWait) {
      flags[step.flag] += step.kind == StepKind::kSet ? 1 : -1;
    }
  }
  return std::ranges::all_of(flags, [](const auto& flag) { return flag.second == 0; });
}

// The steps from there on have only looked and waited.
void TapeObserver::Erase(size_t from) {
  std::vector<Step>& steps = tape_->steps;
  const auto least = [from](auto at) {
    return static_cast<decltype(at)>(std::min<size_t>(at, from));
  };
  for (size_t i = steps.size(); i-- > from;) {
    const Step& step = steps[i];
    const std::string& name = tape_->names[step.name];
    if (name == kCleans || step.kind == StepKind::kHear) {
      Rest(Evidence::kAssumed, name, name == kCleans ? -step.cycles : -scalar_.mark);
    }
    if (step.kind == StepKind::kCopy) {
      tape_->polledBytes += tape_->copies[step.copy].bytes * tape_->copies[step.copy].blocks;
      tape_->copies.resize(step.copy);
    }
  }
  steps.resize(from);
  clock_.reset();  // it may have gone past them
  moved_ = least(moved_);
  // The checks have counted them: they stand for the look that stays.
  for (std::vector<uint32_t>& instructions : tape_->instructions) {
    for (auto step = instructions.rbegin(); step != instructions.rend() && *step >= from; ++step) {
      *step = static_cast<uint32_t>(from - 1);
    }
  }
  while (!tape_->uses.empty() && tape_->uses.back().first >= from) {
    tape_->uses.pop_back();
  }
  for (UbUse& use : tape_->uses) {
    std::ranges::transform(use.last, use.last.begin(), least);
  }
  for (Using& one : using_) {
    one.use = one.use < tape_->uses.size() ? one.use : SIZE_MAX;
  }
  for (std::vector<Range>& recent : recent_) {
    for (Range& range : recent) {
      range.step = least(range.step);
    }
  }
  for (auto& [flag, step] : setAt_) {
    step = least(step);
  }
  for (Look& look : looks_) {
    look = look.first > from ? Look{} : look;
    look.last = least(look.last);
  }
  for (Load& load : loads_) {
    load = load.step >= from ? Load{} : load;
  }
  std::erase_if(tape_->reads, [from](const GmRead& read) { return read.step >= from; });
}

void TapeObserver::OnIssueSync(const Core&, const SyncEvent& event) {
  const auto forget = [this](Pipe pipe) {
    recent_[static_cast<size_t>(pipe)].clear();
    oldest_[static_cast<size_t>(pipe)] = 0;
  };
  switch (event.kind) {
    case SyncEvent::Kind::kSet:
    case SyncEvent::Kind::kWait: {
      const bool set = event.kind == SyncEvent::Kind::kSet;
      if (IsCoreFlag(event.flag)) {
        Push(set ? StepKind::kSet : StepKind::kWait, set ? event.from : Pipe::kScalar, event.name,
             event.site, scalar_.sync)
            .flag = event.flag;
        Works();
        Rest(Evidence::kAssumed, event.name, set ? 0 : scalar_.meet);
        return;
      }
      if (event.flag == kScalarFlag) {  // one event stands for both ends
        PushAutomatic(StepKind::kSet, event.from, event.flag, event.site);
        PushAutomatic(StepKind::kWait, Pipe::kScalar, event.flag, event.site);
        return;
      }
      if (event.from == event.to) {
        if (set) {
          Push(StepKind::kBarrier, event.from, event.name, event.site, scalar_.sync);
          forget(event.from);
        }
        return;
      }
      // The compiler has nothing to add to an order that the kernel made.
      if (event.to == Pipe::kScalar && set) {
        setAt_[event.flag] = tape_->steps.size();
      } else if (event.to == Pipe::kScalar) {
        Forget(event.from, setAt_[event.flag]);
      }
      const double issue = event.flag >= kEventFlags ? scalar_.queue : scalar_.sync;
      Push(set ? StepKind::kSet : StepKind::kWait, set ? event.from : event.to, event.name,
           event.site, issue)
          .flag = event.flag;
      return;
    }
    case SyncEvent::Kind::kBarrier:
      Push(StepKind::kBarrier, event.from, event.name, event.site, scalar_.sync);
      forget(event.from);
      return;
    case SyncEvent::Kind::kAll:
      Push(StepKind::kAll, Pipe::kScalar, event.name, event.site, scalar_.sync);
      for (size_t pipe = 0; pipe < kPipes; ++pipe) {
        forget(static_cast<Pipe>(pipe));
      }
      return;
    case SyncEvent::Kind::kCores:
      switch (static_cast<CoreMeeting>(event.flag)) {
        case kMetAll:
          Push(StepKind::kMeet, Pipe::kScalar, event.name, event.site, scalar_.sync);
          Rest(Evidence::kAssumed, event.name, scalar_.meet);
          return;
        case kMarkSet:
        case kTurnPassed:
        case kStored:
          AddTold(StepKind::kTell, static_cast<CoreMeeting>(event.flag), event);
          return;
        case kMarkTaken:
          AddTold(StepKind::kHear, kMarkSet, event);
          Works();
          return;
        case kTurnTaken:
          AddTold(StepKind::kHear, kTurnPassed, event);
          Works();
          return;
        case kSomeCores:
          AddTold(StepKind::kHear, kStored, event);
          if (seen_ < tape_->reads.size()) {
            tape_->reads[seen_].writes = 0;  // this step waits for it
          }
          return;
      }
      return;
  }
}

void TapeObserver::AddTold(StepKind kind, CoreMeeting what, const SyncEvent& event) {
  Push(kind, Pipe::kScalar, event.name, event.site, scalar_.sync).flag =
      static_cast<uint32_t>(tape_->told.size());
  tape_->told.emplace_back(what, event.number);
  Rest(Evidence::kAssumed, event.name, scalar_.mark);
}

void TapeObserver::OnCacheClean(Core& core, uint64_t begin, uint64_t end) {
  std::erase_if(lines_, [begin, end](uint64_t line) {
    return line >= begin / kScalarLine && line <= (end - 1) / kScalarLine;
  });
  // No cost of it is published: as much as a line that is not there.
  Push(StepKind::kScalar, Pipe::kScalar, kCleans, core.sites.Capture(), 0).cycles =
      static_cast<float>(scalar_.gmMiss);
  Rest(Evidence::kAssumed, kCleans, scalar_.gmMiss);
  std::erase_if(uncleaned_, [&](size_t i) {
    GmWrite& write = tape_->writes[i];
    const uint64_t line = write.addr / kScalarLine;
    if (line < begin / kScalarLine || line > (end - 1) / kScalarLine) {
      return false;
    }
    write.step = static_cast<uint32_t>(tape_->steps.size() - 1);
    Works();
    return true;
  });
}

void TapeObserver::OnEnd(Core& core) {
  for (const BufferInfo& info : core.buffers) {
    const QueInfo& que = core.ques[info.que];
    tape_->buffers.push_back(
        {info.offset, info.bytes, info.que == 0 ? nullptr : que.initPc, que.pos});
  }
  for (const Step& step : tape_->steps) {
    if (tape_->stacks.find(step.site) == tape_->stacks.end()) {
      tape_->stacks.emplace(step.site, core.sites.Stack(step.site));
    }
  }
}

void LinkReads(std::vector<Tape>* tapes) {
  struct Write {
    uint64_t number = 0;
    uint64_t begin = 0, end = 0;
    uint32_t core = 0;
    uint32_t step = 0;
  };
  std::map<uint64_t, std::vector<Write>> lines;  // of GM that are read
  for (const Tape& tape : *tapes) {
    for (const GmRead& read : tape.reads) {
      lines[read.addr / kScalarLine];
      lines[(read.addr + read.bytes - 1) / kScalarLine];
    }
  }
  if (lines.empty()) {
    return;
  }
  for (uint32_t core = 0; core < tapes->size(); ++core) {
    const Tape& tape = (*tapes)[core];
    for (const GmWrite& write : tape.writes) {
      const auto add = [&](uint64_t begin, uint64_t end) {
        for (auto line = lines.lower_bound(begin / kScalarLine);
             line != lines.end() && line->first * kScalarLine < end; ++line) {
          line->second.push_back({write.number, begin, end, core, write.step});
        }
      };
      if (write.bytes > 0) {
        add(write.addr, write.addr + write.bytes);
        continue;
      }
      const GmCopy& copy = tape.copies[tape.steps[write.step].copy];
      for (uint32_t block = 0; block < copy.blocks; ++block) {
        const uint64_t begin = copy.addr + static_cast<uint64_t>(block * copy.step);
        add(begin, begin + copy.bytes);
      }
    }
  }
  for (auto& [line, writes] : lines) {
    std::ranges::sort(writes, {}, &Write::number);
  }
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> numbers;  // of cores' steps that are awaited
  for (uint32_t core = 0; core < tapes->size(); ++core) {
    Tape& tape = (*tapes)[core];
    for (const GmRead& read : tape.reads) {
      const Write* last = nullptr;
      for (const uint64_t at : {read.addr, read.addr + read.bytes - 1}) {
        const std::vector<Write>& writes = lines[at / kScalarLine];
        auto write = std::ranges::upper_bound(writes, read.writes, {}, &Write::number);
        while (write != writes.begin() &&
               (last == nullptr || std::prev(write)->number > last->number)) {
          --write;
          if (write->begin < read.addr + read.bytes && read.addr < write->end) {
            last = &*write;
          }
        }
      }
      if (last == nullptr || last->core == core) {
        continue;
      }
      const auto [number, isNew] =
          numbers.try_emplace({last->core, last->step}, static_cast<uint32_t>(numbers.size()));
      if (isNew) {
        (*tapes)[last->core].written.emplace_back(last->step, number->second);
      }
      Step& step = tape.steps[read.step];
      if (step.flag == 0) {
        tape.awaited.emplace_back();
        step.flag = static_cast<uint32_t>(tape.awaited.size());
      }
      tape.awaited[step.flag - 1].push_back(number->second);
    }
  }
  for (Tape& tape : *tapes) {
    std::ranges::sort(tape.written);
  }
}

}  // namespace aclsim
