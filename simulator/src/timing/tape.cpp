// SPDX-License-Identifier: Apache-2.0
// Steps of what a core does: instructions of each pipe, flags and meetings, in the order of the kernel.
#include "timing/tape.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>
#include <utility>

#include "engine/dtypes.h"
#include "engine/flag_numbers.h"
#include "engine/meeting.h"
#include "findings/finding.h"
#include "timing/model.h"
#include "timing/options.h"
#include "timing/profile.h"

namespace aclsim {

namespace {

constexpr uint64_t kRepeat = 256;
constexpr size_t kRecent = 32;        // instructions that a pipe can have under way
constexpr size_t kScalarLines = 512;  // 32 KiB
// The compiler's own flags, clear of the kernel's.
constexpr uint32_t kAutomaticFlag = 0x80000000u;

// Returns whether an instruction takes it lane by lane; scratch is as large as the kernel has room.
bool IsOperand(const Access& access) { return !access.table && access.use != Use::kSpoil; }

uint64_t BytesOf(const Access& access) { return IsOperand(access) ? access.TotalBytes() : 0; }

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
    if (IsOperand(access)) {
      bytes = std::max(bytes, access.repeat == 1 ? access.lastBytes : access.bytes);
    }
  }
  return bytes % kRepeat != 0;
}

}  // namespace

TapeObserver::TapeObserver(const Soc& soc, Tape* tape, std::atomic<uint64_t>* writes)
    : soc_(soc),
      scalar_(ScalarCostsOf(soc)),
      tape_(tape),
      schedule_(soc.npuArch),
      began_(ModelledNanos()),
      writes_(writes) {
  Rest(ChipCostsOf(soc).evidence, "bandwidths", kDecides);
  Rest(CopyLawOf(soc).evidence, "copies", kDecides);
}

std::optional<double> TapeObserver::Now(const Core& core) {
  if (!ProfileMode()) {
    return std::nullopt;
  }
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
  return known_.emplace(function, Known{NameOf(function), CostOf(soc_, function), SIZE_MAX, {}})
      .first->second;
}

Step& TapeObserver::Push(StepKind kind, Pipe pipe, const char* name, uint32_t site, double issue) {
  Step step;
  step.kind = kind;
  step.pipe = pipe;
  step.name = Lookup(name).name;
  step.site = site;
  step.issue = static_cast<float>(issue);
  if (kind != StepKind::kAll && kind != StepKind::kMeet && kind != StepKind::kTell &&
      kind != StepKind::kHear) {
    step.issue += static_cast<float>(std::exchange(pending_, 0.0));
  }
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
      if (!access.InGm() && (range.write || access.use != Use::kRead) && access.addr < range.end &&
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
    if (access.InGm()) {
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

// The scalar pipe's work before a call of the kernel: buffers that have been made since the last one, and code that runs for the first
// time. function: it is made of several instructions.
void TapeObserver::NoteCall(const Core& core, uint32_t site, bool function) {
  const size_t queues = core.ques.size();
  pending_ += static_cast<double>(queues - std::exchange(queues_, queues)) * scalar_.buffer;
  if (scalar_.cold > 0 && called_.insert(site).second) {
    const double cold = scalar_.cold + (function ? scalar_.coldFunction : 0);
    pending_ += cold;
    tape_->coldCycles += cold;
  }
}

// Says what an instruction's cost rests on: its row, or, of a type that the row was not timed for, an assumption that says so.
size_t TapeObserver::GroundOf(Known* known, const Record& record) {
  const FunctionCost& cost = known->cost;
  const auto dtype = static_cast<uint8_t>(record.dtype);
  if ((cost.dtypes >> dtype & 1) == 0) {
    const auto [at, added] = known->untimed.try_emplace(dtype, 0);
    if (added) {
      at->second = Rest(std::max(cost.evidence, Evidence::kAssumed),
                        Format("%s of %s", record.name, aclsim::NameOf(record.dtype)), 0);
    }
    return at->second;
  }
  if (known->ground == SIZE_MAX) {
    known->ground = Rest(cost.evidence, record.name, 0);
    if (!cost.known && std::find(tape_->unknown.begin(), tape_->unknown.end(), record.name) ==
                           tape_->unknown.end()) {
      tape_->unknown.emplace_back(record.name);
    }
  }
  return known->ground;
}

void TapeObserver::AddVector(Record& record) {
  Known& known = Lookup(record.name);
  const FunctionCost& cost = known.cost;
  const size_t ground = GroundOf(&known, record);
  const bool wide = WidthOf(record.dtype) >= 4;
  const double repeats = static_cast<double>(RepeatsOf(record));
  const BankConflicts conflicts = ConflictsOf(soc_, record);
  double cycles = (conflicts.groups + conflicts.banks) * repeats +
                  (PartialOf(record) ? VectorCostsOf().partialRepeat : 0);
  const auto perRepeat = [wide](const InstructionCost& one) {
    return wide ? one.perRepeat32 : one.perRepeat16;
  };
  // Those of one function follow one another in the registers of a vector function, where there are such.
  const bool fused = soc_.npuArch == kRegisterArch;
  const auto between = [&](const InstructionCost& before, const InstructionCost& next) {
    return fused ? FunctionTimesOf().between : before.tail + next.head;
  };
  if (cost.levels) {
    const InstructionCost& one = cost.chain.front();
    const double lanes = wide ? 64 : 128;
    for (double left = repeats;; left = std::ceil(left / lanes)) {
      cycles += std::max(VectorCostsOf().leastCycles, perRepeat(one) * left);
      if (left <= 1) {
        break;
      }
      cycles += between(one, one);
    }
  } else {
    for (size_t i = 0; i < cost.chain.size(); ++i) {
      cycles += std::max(VectorCostsOf().leastCycles, perRepeat(cost.chain[i]) * repeats);
      if (i > 0) {
        cycles += between(cost.chain[i - 1], cost.chain[i]);
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
  double stream = 0;
  for (const InstructionCost& one : cost.chain) {
    stream += perRepeat(one) * repeats;
  }
  stream += (conflicts.groups + conflicts.banks) * repeats;
  step.stream = static_cast<float>(std::min(stream, cycles));
  step.repeats = static_cast<uint32_t>(repeats);
  step.wide = wide;
  step.lanes = record.flow == Flow::kLanes && !cost.levels;
  step.folds = static_cast<uint16_t>(cost.levels && repeats > 1 ? std::min(repeats, 65535.0) : 0);
  NoteSources(record, cost.levels || record.flow == Flow::kRepeats, &step);
  const double took = cost.chain.front().head + cycles + cost.chain.back().tail;
  tape_->grounds[ground].cycles += took;
  if ((record.flow == Flow::kRepeats || record.flow == Flow::kGroups) && RepeatsOf(record) > 1) {
    tape_->rowSums += took;
  }
}

void TapeObserver::OnLeftOut(Core& core) {
  if (!ProfileMode()) {
    return;
  }
  Record record;
  record.name = leftOut_.try_emplace(core.instruction, Format("%s, left out", core.instruction))
                    .first->second.c_str();
  record.pipe = Pipe::kVector;
  record.flow = Flow::kNone;
  record.site = core.sites.Capture();
  AddVector(record);
}

// A load or store: its bytes are those of the function, whose step comes when it ends.
void TapeObserver::AddToFunction(const Record& record) {
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
  // Vector functions follow what comes before them without a barrier. The next one waits for this one's results, all but their last cycle,
  // and finds the pipe at work: it pays no head.
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
  const double last = std::min(times.drain, 1.0);
  step.cycles = static_cast<float>(record.cycles + times.drain - last);
  step.tail = static_cast<float>(last);
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
}

// An instruction of the matrix unit that stays within the AI core: so many cycles for each unit of its work, and some to begin.
void TapeObserver::AddUnit(const Record& record) {
  Known& known = Lookup(record.name);
  const size_t ground = GroundOf(&known, record);
  const InstructionCost& cost = known.cost.chain.front();
  const bool wide = WidthOf(record.dtype) >= 4;
  Step& step = Push(StepKind::kUnit, record.pipe, record.name, record.site, scalar_.issue);
  step.head = static_cast<float>(cost.head);
  step.cycles = static_cast<float>(
      std::max(1.0, (wide ? cost.perRepeat32 : cost.perRepeat16) * std::max(record.repeat, 1)));
  tape_->grounds[ground].cycles += step.head + step.cycles;
  if (record.pipe == Pipe::kCube) {
    constexpr double kFractal = 16 * 16 * 2;  // a multiplication and an addition for each of C
    const double inCycle = kFractal * record.group;
    tape_->flops += inCycle * record.repeat;
    tape_->flopsPerCycle = std::max(tape_->flopsPerCycle, inCycle);
  }
}

void TapeObserver::AddCopy(const Core& core, const Record& record) {
  Step& step = Push(StepKind::kCopy, record.pipe, record.name, record.site, scalar_.issue);
  step.copy = static_cast<uint32_t>(tape_->copies.size());
  step.indexed = indexAt_ > std::exchange(copiedAt_[record.site], tape_->steps.size());
  if (record.atomic) {  // taken for a write that has its turn
    uint64_t bytes = 0;
    for (int i = 0; i < record.accessCount; ++i) {
      bytes += record.access[static_cast<size_t>(i)].InGm()
                   ? BytesOf(record.access[static_cast<size_t>(i)])
                   : 0;
    }
    const CopyLaw& law = CopyLawOf(soc_);
    Rest(Evidence::kAssumed, "atomic writes",
         law.writeLatency + OnCurve(law.write, static_cast<double>(bytes)));
  }
  for (int i = 0; i < record.accessCount; ++i) {
    const Access& access = record.access[static_cast<size_t>(i)];
    if (access.InGm()) {
      const bool write = access.use == Use::kWrite;
      tape_->copies.push_back({access.addr, access.bytes, access.repeat, access.repStride, write,
                               core.BypassesL2(access.addr, write), record.atomic,
                               core.kind == CoreKind::kCube && !write});
      if (write) {
        Works();
      }
      return;
    }
  }
  // Within the core: nothing is known of it but that it is a copy.
  if (record.accessCount > 0 &&
      std::ranges::find(tape_->unknown, record.name) == tape_->unknown.end()) {
    tape_->unknown.emplace_back(record.name);
  }
  tape_->copies.emplace_back();
}

void TapeObserver::AddScalar(const Record& record) {
  const Access& access = record.access[0];
  double cycles = scalar_.access;
  if (access.InGm()) {
    if (lines_.size() >= kScalarLines) {
      lines_.clear();
    }
    cycles = lines_.insert(access.addr / kScalarLine).second ? scalar_.gmMiss : scalar_.gmHit;
  }
  Push(StepKind::kScalar, Pipe::kScalar, record.name, record.site, 0).cycles =
      static_cast<float>(cycles);
}

// NoteSources tells whose results the last step takes, and what it leaves for others.
void TapeObserver::NoteSources(const Record& record, bool sums, Step* step) {
  const bool cast = std::strcmp(record.name, "Cast") == 0;
  const std::span accesses(record.access.data(), static_cast<size_t>(record.accessCount));
  const auto meets = [](const Access& access, const Made& made) {
    return !access.InGm() && access.addr < made.end && made.begin < access.addr + access.Extent();
  };
  const auto result = std::ranges::find(accesses, Use::kWrite, &Access::use);
  for (const Access& access : accesses) {
    if (access.use != Use::kRead) {
      continue;
    }
    for (const Made& made : made_) {
      if (!meets(access, made)) {
        continue;
      }
      step->reads = std::max(step->reads, made.step + 1);
      Step& before = tape_->steps[made.step];
      step->carried |= before.site == step->site && before.name == step->name;
      // Sums of several repeats that are summed up again could have been one each before.
      if (sums && before.folds == 0 && !before.lanes && before.repeats > step->repeats) {
        before.folds = static_cast<uint16_t>(std::min(before.repeats / step->repeats, 65535u));
      }
    }
    if (!cast || result == accesses.end()) {
      continue;
    }
    const Made source{access.addr, access.addr + access.Extent(), 0, result->width};
    const auto same = std::ranges::find_if(cast_, [&](const Made& made) {
      return made.begin == source.begin && made.end == source.end && made.width == source.width;
    });
    step->again = same != cast_.end();
    if (!step->again) {
      cast_[oldestCast_++ % cast_.size()] = source;
    }
  }
}

// UB that a record overwrites is no longer what was there; a vector instruction's results are the last step's.
void TapeObserver::NoteResults(const Record& record) {
  for (int i = 0; i < record.accessCount; ++i) {
    const Access& access = record.access[static_cast<size_t>(i)];
    if (access.InGm() || access.use == Use::kRead) {
      continue;
    }
    const uint64_t begin = access.addr, end = begin + access.Extent();
    for (Made& made : cast_) {
      made = begin < made.end && made.begin < end ? Made{} : made;
    }
    const bool vector = record.pipe == Pipe::kVector;
    for (Made& made : made_) {
      const bool gone =
          vector ? begin <= made.begin && made.end <= end : begin < made.end && made.begin < end;
      made = gone ? Made{} : made;
    }
    if (vector && access.use == Use::kWrite) {
      made_[oldestMade_++ % made_.size()] = {begin, end,
                                             static_cast<uint32_t>(tape_->steps.size() - 1), 0};
    }
  }
}

void TapeObserver::NoteUses(const Core& core, const Record& record, size_t first) {
  for (int i = 0; i < record.accessCount; ++i) {
    const Access& access = record.access[static_cast<size_t>(i)];
    if (access.InGm() || access.buffer == 0 || access.buffer >= core.buffers.size()) {
      continue;
    }
    if (using_.size() <= access.buffer) {
      using_.resize(core.buffers.size());
      touched_.resize(core.buffers.size());
    }
    touched_[access.buffer] =
        std::max(touched_[access.buffer],
                 access.addr + access.Extent() - core.buffers[access.buffer].offset);
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

void TapeObserver::AddScalarAccess(const Core& core, Record& record) {
  for (const Pipe pipe : IssuedPipes(core.kind)) {
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
  NoteSources(record, false, &tape_->steps.back());
  const bool number = !record.access[0].InGm() && IsReal(record.dtype);
  if (record.access[0].use == Use::kRead && tape_->steps.back().reads == 0 && !number) {
    indexAt_ = tape_->steps.size();
  }
  NoteResults(record);
  NoteLook(record);
  record.step = static_cast<uint32_t>(tape_->steps.size() - 1);
}

void TapeObserver::OnIssue(const Core& core, Record& record) {
  if (record.vectorFunction == 0) {
    const bool vector = record.pipe == Pipe::kVector;
    const FunctionCost* const cost = vector ? &Lookup(record.name).cost : nullptr;
    NoteCall(core, record.site, vector && (cost->levels || cost->chain.size() > 1));
  }
  if (record.pipe == Pipe::kScalar) {
    AddScalarAccess(core, record);
    return;
  }
  if (record.vectorFunction != 0) {
    if (record.accessCount > 0) {
      ForgetLoads(record);
      AddToFunction(record);
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
    const bool inGm = std::any_of(record.access.begin(), record.access.begin() + record.accessCount,
                                  [](const Access& access) { return access.InGm(); });
    const bool toCube = record.handovers[0] != nullptr;  // of an AIV, into L1
    if ((core.kind != CoreKind::kVector || toCube) && !inGm) {
      AddUnit(record);
    } else {
      AddCopy(core, record);
    }
    NoteUses(core, record, tape_->steps.size() - 1);
  }
  ForgetLoads(record);
  NoteResults(record);
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
      accesses, [](const Access& access) { return access.InGm() && access.use != Use::kRead; });
  if (write == accesses.end()) {
    return;
  }
  const bool scalar = record.pipe == Pipe::kScalar;
  if (scalar) {
    uncleaned_.push_back(tape_->writes.size());
  }
  tape_->writes.push_back({++*writes_, record.step, write->addr, scalar ? write->bytes : 0});
}

void TapeObserver::OnIssueSync(const Core& core, const SyncEvent& event) {
  NoteCall(core, event.site, false);
  switch (event.kind) {
    case SyncEvent::Kind::kSet:
    case SyncEvent::Kind::kWait:
      AddFlag(event);
      return;
    case SyncEvent::Kind::kBarrier:
      Push(StepKind::kBarrier, event.from, event.name, event.site, scalar_.sync);
      ForgetRecent(event.from);
      return;
    case SyncEvent::Kind::kAll:
      Push(StepKind::kAll, Pipe::kScalar, event.name, event.site, scalar_.sync);
      for (size_t pipe = 0; pipe < kPipes; ++pipe) {
        ForgetRecent(static_cast<Pipe>(pipe));
      }
      return;
    case SyncEvent::Kind::kCores:
      AddMeeting(event);
      return;
  }
}

void TapeObserver::ForgetRecent(Pipe pipe) {
  recent_[static_cast<size_t>(pipe)].clear();
  oldest_[static_cast<size_t>(pipe)] = 0;
}

// A SetFlag or WaitFlag, of the kernel or of a queue.
void TapeObserver::AddFlag(const SyncEvent& event) {
  const bool set = event.kind == SyncEvent::Kind::kSet;
  const StepKind kind = set ? StepKind::kSet : StepKind::kWait;
  if (IsCoreFlag(event.flag)) {
    // A flag of other senders is another one.
    constexpr uint32_t kIds = 16, kSenders = 0xFFF;
    const uint32_t own = event.flag % kIds + std::min(event.number, kSenders) * kIds;
    Push(kind, set ? event.from : Pipe::kScalar, event.name, event.site, scalar_.sync).flag =
        CoreFlag(static_cast<uint16_t>(own));
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
      ForgetRecent(event.from);
    }
    return;
  }
  // The compiler has nothing to add to an order that the kernel made.
  if (event.to == Pipe::kScalar && set) {
    setAt_[event.flag] = tape_->steps.size();
  } else if (event.to == Pipe::kScalar) {
    Forget(event.from, setAt_[event.flag]);
  }
  const bool queue = event.flag >= kQueueFlags;
  const bool results = event.from == Pipe::kMte3 || event.to == Pipe::kMte3;
  const double issue = event.further ? 0
                       : !queue      ? scalar_.sync
                       : results     ? scalar_.queueOut
                                     : scalar_.queue;
  tape_->queueCycles += queue ? issue : 0;
  Push(kind, set ? event.from : event.to, event.name, event.site, issue).flag = event.flag;
}

// A core does these with the others.
void TapeObserver::AddMeeting(const SyncEvent& event) {
  switch (static_cast<CoreMeeting>(event.flag)) {
    case kMetAll: {
      const bool hard = event.number == 0 || (event.number & Meeting::kNoMemory) != 0;
      const double meet = hard ? scalar_.meet : scalar_.meetInGm;
      Step& step = Push(StepKind::kMeet, Pipe::kScalar, event.name, event.site, scalar_.sync);
      step.cycles = static_cast<float>(meet);
      step.flag = event.number;
      Rest(Evidence::kAssumed, event.name, meet);
      return;
    }
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
  touched_.resize(core.buffers.size());
  for (size_t i = 0; i < core.buffers.size(); ++i) {
    const BufferInfo& info = core.buffers[i];
    const QueInfo& que = core.ques[info.que];
    tape_->buffers.push_back({info.offset, info.bytes, info.que == 0 ? nullptr : que.initPc,
                              que.pos, que.tbuf || info.que == 0 ? 0 : que.buffers.size(),
                              touched_[i]});
  }
  for (const Step& step : tape_->steps) {
    if (tape_->stacks.find(step.site) == tape_->stacks.end()) {
      tape_->stacks.emplace(step.site, core.sites.Stack(step.site));
    }
  }
}

}  // namespace aclsim
