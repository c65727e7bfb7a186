// SPDX-License-Identifier: Apache-2.0
#include "timing/model.h"

#include <algorithm>
#include <map>
#include <queue>
#include <set>
#include <span>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "engine/flag_numbers.h"
#include "timing/l2.h"
#include "timing/shares.h"

namespace aclsim {

namespace {

constexpr size_t kQueueDepth = 32;   // of a pipe; undocumented for these pipes, MTE1's is 32
constexpr double kSmallCopy = 8192;  // bytes up to which a copy pays all of CopyLaw::smallCopy
constexpr uint64_t kUbBlock = 32;
constexpr double kEpsilon = 1e-6;
constexpr double kNever = 1e300;

struct InFlight {
  double bytes;
  double complete;
};

// The latest of a pipe, at most N.
template <typename T, size_t N>
class Ring {
 public:
  static_assert((N & (N - 1)) == 0);
  size_t size() const { return end_ - begin_; }
  bool empty() const { return begin_ == end_; }
  T& operator[](size_t i) { return items_[(begin_ + i) % N]; }
  T& front() { return items_[begin_ % N]; }
  T& back() { return items_[(end_ - 1) % N]; }
  void push_back(const T& item) { items_[end_++ % N] = item; }
  void pop_front() { ++begin_; }

 private:
  std::array<T, N> items_;
  uint32_t begin_ = 0, end_ = 0;
};

// The times of SetFlags that no WaitFlag has taken.
class FlagTimes {
 public:
  bool empty() const { return next_ == times_.size(); }
  double front() const { return times_[next_]; }
  void push_back(double time) { times_.push_back(time); }
  void pop_front() {
    constexpr size_t kMostTaken = 64;
    if (++next_ == times_.size() || next_ == kMostTaken) {
      times_.erase(times_.begin(), times_.begin() + static_cast<std::ptrdiff_t>(next_));
      next_ = 0;
    }
  }

 private:
  std::vector<double> times_;
  size_t next_ = 0;
};

struct Task {
  uint32_t step;
  double issued;
};

struct PipeState {
  Ring<Task, kQueueDepth> tasks;     // issued, not started
  double free = 0;                   // when the next instruction may start behind the last
  double complete = 0;               // when all before are complete
  double gate = 0;                   // when the last WaitFlag or barrier lets go
  Ring<double, kQueueDepth> starts;  // of the last tasks
  bool serving = false;  // a copy has been scheduled and still moves bytes, or see AwaitsItsTime
  // Copies only.
  double since = 0;                          // start of the last copy
  Ring<InFlight, 8 * kQueueDepth> inFlight;  // moved, on their way
  std::vector<uint32_t> afterIt;             // SetFlags that wait for the copy under way
};

struct CoreState {
  const Tape* tape = nullptr;
  CoreTimes* times = nullptr;
  size_t next = 0;
  double scalar = 0;
  double met = 0;
  bool meeting = false;
  std::array<PipeState, kPipes> pipes;
  std::unordered_map<uint32_t, FlagTimes> flags;
  // The latest of them, by the last bits of their numbers.
  std::array<std::pair<uint32_t, FlagTimes*>, 64> latest{};
  std::unordered_map<uint32_t, uint32_t> arrivals, waits;  // of flags between cores
  std::set<uint32_t> meets;                                // by Step::flag
};

// The n-th time that all its senders set a flag between cores.
struct Round {
  uint32_t arrived = 0;
  double last = 0;
};

// A copy that moves bytes.
struct Transfer {
  uint32_t core = 0;
  Pipe pipe = Pipe::kScalar;
  uint32_t step = 0;
  bool read = false;
  uint64_t firstLine = 0;
  double latency = 0;  // until they are there
};

// All copies that move, in the order in which they started.
class Moving {
 public:
  // most: at one time.
  explicit Moving(size_t most) {
    const size_t stride = (most / kSharesWidth + 1) * kSharesWidth;
    values_.resize(stride * Rows().size());
    double* at = values_.data();
    for (double** row : Rows()) {
      *row = std::exchange(at, at + stride);
    }
    for (size_t i = 0; i < stride; ++i) {
      SetNothing(i);
    }
    transfers_.reserve(most);
  }

  const std::vector<Transfer>& Transfers() const { return transfers_; }

  void Add(const Transfer& transfer, double alone, double l2, double memory) {
    const size_t at = shares_.count++;
    transfers_.push_back(transfer);
    shares_.left[at] = 1;
    shares_.fullRate[at] = 1 / alone;
    shares_.fullCycles[at] = alone;
    shares_.l2[at] = l2;
    shares_.memory[at] = memory;
  }
  Transfer Take(size_t at) {
    const Transfer taken = transfers_[at];
    transfers_.erase(transfers_.begin() + static_cast<std::ptrdiff_t>(at));
    for (double* row :
         {shares_.left, shares_.fullRate, shares_.fullCycles, shares_.l2, shares_.memory}) {
      std::copy(row + at + 1, row + shares_.count, row + at);
    }
    SetNothing(--shares_.count);
    return taken;
  }

  // When the first ends, and which it is; kNever when nothing moves.
  double FirstEnd(double now, size_t* first) const { return loops_.firstEnd(shares_, now, first); }
  void Pass(double cycles) { loops_.pass(shares_, cycles); }
  void Share(const ChipCosts& chip) {
    loops_.share(shares_, chip.l2BytesPerCycle, chip.bytesPerCycle);
  }

 private:
  std::array<double**, 9> Rows() {
    return {&shares_.left, &shares_.rate,   &shares_.cycles, &shares_.fullRate, &shares_.fullCycles,
            &shares_.l2,   &shares_.memory, &shares_.demand, &shares_.ordered};
  }
  void SetNothing(size_t at) {
    for (double** row : Rows()) {
      (*row)[at] = 0;
    }
    shares_.left[at] = 1;
    shares_.fullCycles[at] = shares_.cycles[at] = kNever;
  }

  const SharesTable& loops_ = SharesLoops();
  std::vector<double> values_;
  Shares shares_;
  std::vector<Transfer> transfers_;
};

class Simulation {
 public:
  // alone: the tapes may wait for cores that are not among them, which then cost no time.
  Simulation(std::span<const Tape> tapes, const ModelCosts& costs, bool alone = false)
      : alone_(alone),
        law_(costs.law),
        chip_(costs.chip),
        scalar_(costs.scalar),
        cache_(costs.chip.l2Bytes),
        moving_(tapes.size() * kPipes) {
    result_.cores.resize(tapes.size());
    cores_.resize(tapes.size());
    for (size_t i = 0; i < tapes.size(); ++i) {
      cores_[i].tape = &tapes[i];
      cores_[i].times = &result_.cores[i];
      // Cores that start together would stay in step, and leave memory idle in the latencies of all.
      cores_[i].times->start = static_cast<double>(i) * chip_.startCycles;
      cores_[i].scalar = cores_[i].times->start + scalar_.start;
      cores_[i].times->busy[static_cast<size_t>(Pipe::kScalar)] = scalar_.start;
      cores_[i].times->spans.resize(tapes[i].steps.size());
      std::set<uint32_t> sets;
      for (const Step& step : tapes[i].steps) {
        if (step.kind == StepKind::kMeet) {
          cores_[i].meets.insert(step.flag);
        } else if (step.kind == StepKind::kSet && IsCoreFlag(step.flag)) {
          sets.insert(step.flag);
        }
      }
      for (const uint32_t flag : sets) {
        ++senders_[flag];
      }
    }
  }

  ChipTimes Run() {
    AdvanceAll();
    Release();
    do {
      while (NextEvent()) {
      }
      // Reads, where chaos held pipes back, may have come before writes that are later in program order.
    } while (GoesOnInAnyOrder());
    for (CoreState& core : cores_) {
      double end = core.scalar;
      for (const PipeState& pipe : core.pipes) {
        end = std::max(end, pipe.complete);
      }
      core.times->end = end;
      result_.end = std::max(result_.end, end);
    }
    return std::move(result_);
  }

  // Says of the first core where its scalar pipe is behind the steps that its tape has by now. Goes no further than it takes, so that
  // steps which come later find everything as they would in one run.
  double ScalarNow() {
    CoreState& core = cores_.front();
    core.times->spans.resize(core.tape->steps.size());
    AdvanceAll();
    Release();
    while (core.next < core.tape->steps.size() && NextEvent()) {
    }
    return core.scalar;
  }

 private:
  // Does what happens next; false when nothing does.
  bool NextEvent() {
    const double starts = starting_.empty() ? kNever : starting_.top().time;
    size_t first = 0;
    double ends = kNever;
    if (starts > now_) {  // otherwise no time passes, and nothing ends
      moving_.Share(chip_);
      ends = moving_.FirstEnd(now_, &first);
    }
    if (starts == kNever && ends == kNever) {
      return false;
    }
    if (starts <= ends) {
      PassTime(starts);
      const Starting event = starting_.top();
      starting_.pop();
      Begin(event);
      // Copies of many cores start at the same time: share the bandwidth once.
      while (!starting_.empty() && starting_.top().time <= now_ + kEpsilon) {
        const Starting other = starting_.top();
        starting_.pop();
        Begin(other);
      }
    } else {
      PassTime(ends);
      Moved(moving_.Take(first));
    }
    Release();
    return true;
  }

  // When a line of L2 is free for the next copy. Of those that share a place here the last one counts.
  struct LineTurn {
    uint64_t line = UINT64_MAX;
    double free = 0;
  };
  struct Starting {
    double time;
    uint32_t core;
    Pipe pipe;
    uint32_t step;
    bool operator<(
        const Starting& other) const {  // the earliest on top; ties in the order of cores
      return std::tie(time, core, pipe) > std::tie(other.time, other.core, other.pipe);
    }
  };

  void PassTime(double to) {
    moving_.Pass(to - now_);
    now_ = to;
  }

  void Begin(const Starting& event) {
    if (event.pipe == Pipe::kVector) {  // what it waited for is the time itself
      cores_[event.core].pipes[static_cast<size_t>(Pipe::kVector)].serving = false;
      Advance(event.core);
    } else {
      Start(event);
    }
  }

  // The bytes of a copy become traffic of L2 and memory.
  void Start(const Starting& event) {
    CoreState& core = cores_[event.core];
    const Step& step = core.tape->steps[event.step];
    const GmCopy& copy = core.tape->copies[step.copy];
    Transfer transfer;
    transfer.core = event.core;
    transfer.pipe = event.pipe;
    transfer.step = event.step;
    transfer.read = !copy.write;
    transfer.firstLine = copy.addr / kL2Line;
    double bytes = 0, sectors = 0, l2 = 0, missed = 0, evicted = 0, early = 0, alone = 0;
    for (uint32_t block = 0; block < copy.blocks; ++block) {
      const uint64_t begin = copy.addr + static_cast<uint64_t>(block * copy.step);
      const uint64_t end = begin + copy.bytes;
      const double lines = static_cast<double>((end + kL2Line - 1) / kL2Line - begin / kL2Line);
      const double factor = begin % law_.alignment != 0 && lines > 1 ? law_.unaligned : 1;
      const L2Cache::Traffic sum = cache_.Touch(begin, end, copy.write, !copy.bypass);
      bytes += static_cast<double>(copy.bytes) * factor;
      const double touched =
          static_cast<double>(SectorEnd(end) - begin / kL2Sector * kL2Sector) * factor;
      sectors += touched;
      l2 += std::max(touched, lines * law_.requestBytes);
      missed += static_cast<double>(sum.missed) * factor;
      evicted += static_cast<double>(sum.evicted);
    }
    const double share = sectors > 0 ? missed / sectors : 0;
    if (copy.write) {
      missed = copy.bypass ? missed : 0;
      alone = OnCurve(law_.write, bytes);
      transfer.latency = law_.writeLatency;
      early = copy.bypass ? 0 : law_.earlyWriteBack * sectors;
    } else {
      transfer.latency = law_.readLatency + share * law_.missLatency;
      alone = share * OnCurve(law_.readMiss, bytes) + (1 - share) * OnCurve(law_.readHit, bytes);
      result_.readBytes += sectors;
      result_.hitBytes += sectors - missed;
      const bool shared = std::any_of(moving_.Transfers().begin(), moving_.Transfers().end(),
                                      [&](const Transfer& other) {
                                        return other.read && other.core != transfer.core &&
                                               other.firstLine == transfer.firstLine;
                                      });
      if (shared) {
        alone /= law_.sameLine;
        l2 /= law_.sameLine;
      }
    }
    CoreTimes& times = *core.times;
    if (copy.toL1) {
      alone += copy.blocks * law_.l1Row;
    } else if (copy.blocks > 1) {
      const uint64_t blocks = std::min((copy.bytes + kUbBlock - 1) / kUbBlock, kL2Line / kUbBlock);
      const double least = static_cast<double>(copy.blocks * blocks) * law_.ubBlock;
      times.blocks += std::max(0.0, least - alone);
      alone = std::max(alone, least);
    }
    alone = std::max(alone, law_.leastCycles);
    if (copy.write) {
      const double wait = TurnsOf(copy);
      times.turns += wait;
      alone += wait;
    }
    const double small = 1 + law_.smallCopy * std::min(1.0, kSmallCopy / std::max(bytes, 1.0));
    const double memory = missed * small + evicted * law_.writeBack + early;
    result_.memoryBytes += missed + evicted;
    result_.memoryCycles += (missed + evicted * law_.writeBack + early) / chip_.bytesPerCycle;
    result_.writeBackCycles += (evicted * law_.writeBack + early) / chip_.bytesPerCycle;
    result_.l2Bytes += l2;
    moving_.Add(transfer, alone, l2, memory);
  }

  // Cycles until all lines at the ends of its blocks have taken its bytes, those of an atomic copy whole, behind other copies.
  double TurnsOf(const GmCopy& copy) {
    double wait = 0;
    uint64_t last = UINT64_MAX;  // a copy takes one turn for all that it has for a line
    const auto take = [&](uint64_t line) {
      if (line == std::exchange(last, line)) {
        return;
      }
      LineTurn& turn = turns_[line % turns_.size()];
      if (turn.line != line) {
        turn = {line, now_};
      }
      wait = std::max(wait, turn.free - now_);
      turn.free = std::max(turn.free, now_) + (copy.atomic ? law_.atomicTurn : law_.lineTurn);
    };
    for (uint32_t block = 0; block < copy.blocks; ++block) {
      const uint64_t begin = copy.addr + static_cast<uint64_t>(block * copy.step);
      const uint64_t end = (begin + copy.bytes - 1) / kL2Line;
      take(begin / kL2Line);
      for (uint64_t line = begin / kL2Line + 1; copy.atomic && line < end; ++line) {
        take(line);
      }
      take(end);
    }
    return wait;
  }

  static uint64_t SectorEnd(uint64_t addr) {
    return (addr + kL2Sector - 1) / kL2Sector * kL2Sector;
  }

  void Moved(const Transfer& transfer) {
    CoreState& core = cores_[transfer.core];
    PipeState& pipe = core.pipes[static_cast<size_t>(transfer.pipe)];
    const Step& step = core.tape->steps[transfer.step];
    const GmCopy& copy = core.tape->copies[step.copy];
    pipe.serving = false;
    pipe.free = now_;
    pipe.complete = std::max(pipe.complete, now_ + transfer.latency);
    Span& span = core.times->spans[transfer.step];
    span.end = pipe.complete;
    HasWritten(core, transfer.step, span.end);
    // Copies overlap: the pipe is busy while at least one is under way.
    double& busy = core.times->busy[static_cast<size_t>(transfer.pipe)];
    const double before = pipe.inFlight.empty() ? 0 : pipe.inFlight.back().complete;
    busy += span.end - std::max(span.start, std::min(before, span.end));
    pipe.inFlight.push_back({static_cast<double>(copy.bytes) * copy.blocks, pipe.complete});
    for (const uint32_t set : pipe.afterIt) {
      SetAt(core, set, pipe.complete);
    }
    pipe.afterIt.clear();
    Advance(transfer.core);
  }

  static FlagTimes& FlagOf(CoreState& core, uint32_t flag) {
    auto& [known, times] = core.latest[flag % core.latest.size()];
    if (times == nullptr || known != flag) {
      known = flag;
      times = &core.flags[flag];
    }
    return *times;
  }

  void SetAt(CoreState& core, uint32_t step, double time) {
    const uint32_t flag = core.tape->steps[step].flag;
    core.times->spans[step] = {time, time};
    if (!IsCoreFlag(flag)) {
      FlagOf(core, flag).push_back(time);
      return;
    }
    Round& round = rounds_[{flag, core.arrivals[flag]++}];
    round.last = std::max(round.last, time);
    released_ |= ++round.arrived == senders_[flag];
  }

  // True if cores wait for what they read of others, which does not come: now they no longer do.
  bool GoesOnInAnyOrder() {
    if (anyOrder_ || std::ranges::none_of(cores_, IsHeldUp)) {
      return false;
    }
    anyOrder_ = true;
    AdvanceAll();
    Release();
    return true;
  }

  // Other cores may wait for what the step has written.
  void HasWritten(const CoreState& core, uint32_t step, double time) {
    const auto& written = core.tape->written;
    if (written.empty()) {
      return;
    }
    const auto found = std::ranges::lower_bound(written, std::pair{step, 0u});
    if (found != written.end() && found->first == step) {
      written_[found->second] = time;
      released_ = true;
    }
  }

  // When all that the step reads of other cores is written; false: it is not yet.
  bool IsWritten(const CoreState& core, const Step& step, double* when) const {
    *when = 0;
    if (step.flag == 0 || anyOrder_) [[likely]] {
      return true;
    }
    for (const uint32_t number : core.tape->awaited[step.flag - 1]) {
      const auto found = written_.find(number);
      if (found == written_.end()) {
        return false;
      }
      *when = std::max(*when, found->second);
    }
    return true;
  }

  static bool IsHeldUp(const CoreState& core) {
    return core.next < core.tape->steps.size() ||
           std::ranges::any_of(
               core.pipes, [](const PipeState& pipe) { return !pipe.tasks.empty(); });
  }

  void AdvanceAll() {
    for (uint32_t i = 0; i < cores_.size(); ++i) {
      Advance(i);
    }
  }

  void Advance(uint32_t index) {
    CoreState& core = cores_[index];
    for (bool moved = true; moved;) {
      moved = StepScalar(core);
      for (size_t pipe = static_cast<size_t>(Pipe::kScalar) + 1; pipe < kPipes; ++pipe) {
        while (StepPipe(index, core, static_cast<Pipe>(pipe))) {
          moved = true;
        }
      }
    }
  }

  // A step of the scalar pipe, and where its times go.
  struct ScalarStep {
    CoreState& core;
    uint32_t at;
    const Step& step;
    Span& span;
    double& busy;
    double& waited;

    void WaitUntil(double time) const {
      waited += std::max(0.0, time - core.scalar);
      core.scalar = std::max(core.scalar, time);
    }
    void Issue() const {
      core.scalar += step.issue;
      busy += step.issue;
    }
  };

  // The next step in program order; false when the scalar pipe has to wait for something that is not known yet.
  bool StepScalar(CoreState& core) {
    if (core.next >= core.tape->steps.size()) {
      return false;
    }
    const auto at = static_cast<uint32_t>(core.next);
    const auto scalar = static_cast<size_t>(Pipe::kScalar);
    const ScalarStep now{core,
                         at,
                         core.tape->steps[at],
                         core.times->spans[at],
                         core.times->busy[scalar],
                         core.times->waited[scalar]};
    if (!StepOnce(now)) {
      return false;
    }
    ++core.next;
    return true;
  }

  bool StepOnce(const ScalarStep& now) {
    const bool own = now.step.pipe == Pipe::kScalar;
    switch (now.step.kind) {
      case StepKind::kScalar:
        return StepAccess(now);
      case StepKind::kAll:
      case StepKind::kMeet:
        return StepAll(now);
      case StepKind::kTell:
      case StepKind::kHear:
        return StepTold(now);
      case StepKind::kWait:
        return IsCoreFlag(now.step.flag) ? WaitForCores(now)
               : own                     ? WaitForFlag(now)
                                         : Enqueue(now);
      case StepKind::kSet:
        return own ? SetFlag(now) : Enqueue(now);
      case StepKind::kBarrier:
      case StepKind::kVector:
      case StepKind::kUnit:
      case StepKind::kCopy:
        return Enqueue(now);
    }
    return false;
  }

  bool StepAccess(const ScalarStep& now) {
    double written = 0;
    if (!IsWritten(now.core, now.step, &written)) {
      return false;
    }
    now.WaitUntil(written);
    now.core.scalar += now.step.issue;
    now.span = {now.core.scalar, now.core.scalar + now.step.cycles};
    now.core.scalar = now.span.end;
    now.busy += now.step.issue + now.step.cycles;
    HasWritten(now.core, now.at, now.span.end);
    return true;
  }

  // All pipes of the core, and with kMeet all cores.
  bool StepAll(const ScalarStep& now) {
    CoreState& core = now.core;
    double complete = core.scalar;
    for (const PipeState& pipe : core.pipes) {
      if (!pipe.tasks.empty() || pipe.serving) {
        return false;
      }
      complete = std::max(complete, pipe.complete);
    }
    if (now.step.kind == StepKind::kMeet && !core.meeting) {
      core.meeting = true;
      core.met = complete;
      return false;
    }
    if (now.step.kind == StepKind::kMeet && core.met >= 0) {
      return false;  // until Meet() lets all cores go
    }
    now.span = {core.scalar, complete};
    now.WaitUntil(complete);
    core.meeting = false;
    return true;
  }

  // StepTold steps a word by which one core tells another through GM.
  bool StepTold(const ScalarStep& now) {
    const auto what = now.core.tape->told[now.step.flag];
    double from = now.core.scalar + now.step.issue;
    if (now.step.kind == StepKind::kHear) {
      const auto told = told_.find(what);
      if (told != told_.end()) {
        from = std::max(from, told->second);
      } else if (!alone_) {
        return false;
      }
    }
    now.span = {now.core.scalar, from + scalar_.mark};
    now.WaitUntil(now.span.end);
    if (now.step.kind == StepKind::kTell) {
      told_[what] = now.span.end;
      released_ = true;
    }
    return true;
  }

  bool WaitForCores(const ScalarStep& now) {
    CoreState& core = now.core;
    const Round& round = rounds_[{now.step.flag, core.waits[now.step.flag]}];
    if ((round.arrived == 0 || round.arrived < senders_[now.step.flag]) && !alone_) {
      return false;
    }
    ++core.waits[now.step.flag];
    now.Issue();
    now.span = {core.scalar, std::max(core.scalar, round.last + scalar_.meet)};
    now.WaitUntil(now.span.end);
    return true;
  }

  bool WaitForFlag(const ScalarStep& now) {
    FlagTimes& flag = FlagOf(now.core, now.step.flag);
    if (flag.empty()) {
      return false;
    }
    now.span = {now.core.scalar, std::max(now.core.scalar, flag.front())};
    now.WaitUntil(flag.front());
    flag.pop_front();
    now.Issue();
    return true;
  }

  bool SetFlag(const ScalarStep& now) {
    now.Issue();
    SetAt(now.core, now.at, now.core.scalar);
    return true;
  }

  // Hands the step to its own pipe, whose queue has room once the task kQueueDepth before has left it.
  bool Enqueue(const ScalarStep& now) {
    PipeState& pipe = now.core.pipes[static_cast<size_t>(now.step.pipe)];
    if (pipe.tasks.size() >= kQueueDepth) {
      return false;
    }
    if (pipe.starts.size() + pipe.tasks.size() >= kQueueDepth &&
        pipe.starts.size() >= kQueueDepth - pipe.tasks.size()) {
      now.WaitUntil(pipe.starts[pipe.starts.size() - (kQueueDepth - pipe.tasks.size())]);
    }
    now.Issue();
    pipe.tasks.push_back({now.at, now.core.scalar});
    return true;
  }

  // Bytes on their way at a time.
  static double Flying(PipeState& pipe, double time) {
    double bytes = 0;
    for (size_t i = 0; i < pipe.inFlight.size(); ++i) {
      const InFlight& one = pipe.inFlight[i];
      bytes += one.complete > time ? one.bytes : 0;
    }
    return bytes;
  }

  // True if a vector instruction waits for its turn among the copies' starts and ends, which alone tell what goes on beside it.
  bool AwaitsItsTime(uint32_t index, PipeState& pipe, uint32_t at, double start) {
    if (law_.besideVector == 0 || start <= now_ + kEpsilon) {
      return false;
    }
    if (!std::exchange(pipe.serving, true)) {
      starting_.push({start, index, Pipe::kVector, at});
    }
    return true;
  }

  // Copy pipes of the core that have bytes on their way.
  static double Beside(CoreState& core, double time) {
    double count = 0;
    for (const Pipe which : {Pipe::kMte2, Pipe::kMte3}) {
      const PipeState& pipe = core.pipes[static_cast<size_t>(which)];
      const bool moves = pipe.serving && pipe.since <= time + kEpsilon;
      count += moves || pipe.complete > time ? 1 : 0;
    }
    return count;
  }

  // The task at the head of a pipe's queue, and where its times go.
  struct PipeStep {
    uint32_t index;  // of the core
    CoreState& core;
    Pipe which;
    PipeState& pipe;
    uint32_t at;
    const Step& step;
    Span& span;
    double ready;

    void Leave(double start) const {
      pipe.tasks.pop_front();
      if (pipe.starts.size() == kQueueDepth) {
        pipe.starts.pop_front();
      }
      pipe.starts.push_back(start);
    }
    // The pipe stands until then.
    void Stand(double until) const {
      const double stands = std::max(ready, pipe.free);
      span = {stands, std::max(stands, until)};
      core.times->waited[static_cast<size_t>(which)] += span.end - span.start;
      pipe.gate = std::max(pipe.gate, span.end);
      Leave(ready);
    }
  };

  // The next task of a pipe; false when it has none, or waits for something that is not known yet.
  bool StepPipe(uint32_t index, CoreState& core, Pipe which) {
    PipeState& pipe = core.pipes[static_cast<size_t>(which)];
    if (pipe.tasks.empty()) {
      return false;
    }
    const auto [at, issued] = pipe.tasks.front();
    const PipeStep now{index,
                       core,
                       which,
                       pipe,
                       at,
                       core.tape->steps[at],
                       core.times->spans[at],
                       std::max(issued, pipe.gate)};
    switch (now.step.kind) {
      case StepKind::kVector:
        return StepVector(now);
      case StepKind::kUnit:
        StepUnit(now);
        return true;
      case StepKind::kCopy:
        return StepCopy(now);
      case StepKind::kSet:
        StepSet(now);
        return true;
      case StepKind::kWait: {
        FlagTimes& flag = FlagOf(core, now.step.flag);
        if (flag.empty()) {
          return false;
        }
        now.Stand(flag.front());
        flag.pop_front();
        return true;
      }
      case StepKind::kBarrier:
        if (pipe.serving) {
          return false;
        }
        now.Stand(pipe.complete);
        return true;
      default:
        now.Leave(now.ready);
        return true;
    }
  }

  bool StepVector(const PipeStep& now) {
    PipeState& pipe = now.pipe;
    const double start = std::max(now.ready, pipe.free);
    if (AwaitsItsTime(now.index, pipe, now.at, start)) {
      return false;
    }
    const bool first = start > pipe.free + kEpsilon || pipe.complete <= start;
    const double head = first ? now.step.head : 0;
    const double end =
        start + head + now.step.cycles * (1 + law_.besideVector * Beside(now.core, start));
    now.span = {start, end};
    // Busy until the results are written, as the counters of the hardware have it.
    const double written = std::max(pipe.complete, end + now.step.tail);
    now.core.times->busy[static_cast<size_t>(now.which)] +=
        written - std::max(start, pipe.complete);
    pipe.free = end;
    pipe.complete = written;
    now.Leave(start);
    return true;
  }

  // One behind the other: what an instruction takes to begin is hidden behind the one before it.
  void StepUnit(const PipeStep& now) {
    PipeState& pipe = now.pipe;
    const double start = std::max(now.ready, pipe.free);
    const bool first = start > pipe.free + kEpsilon || pipe.complete <= start;
    const double end = start + (first ? now.step.head : 0) + now.step.cycles;
    now.span = {start, end};
    now.core.times->busy[static_cast<size_t>(now.which)] += end - start;
    pipe.free = end;
    pipe.complete = std::max(pipe.complete, end);
    now.Leave(start);
  }

  bool StepCopy(const PipeStep& now) {
    PipeState& pipe = now.pipe;
    double written = 0;
    if (pipe.serving || !IsWritten(now.core, now.step, &written)) {
      return false;
    }
    double start = std::max({now.ready, pipe.free, now_, written});
    const GmCopy& copy = now.core.tape->copies[now.step.copy];
    const double bytes = static_cast<double>(copy.bytes) * copy.blocks;
    double flying = Flying(pipe, start);
    // Boards copy 8 KiB to L1 in 257 cycles, one copy behind the other: no latency is between them.
    while (!copy.toL1 && !pipe.inFlight.empty() && flying + bytes > law_.window) {
      if (pipe.inFlight.front().complete > start) {
        start = pipe.inFlight.front().complete;
        flying = Flying(pipe, start);
      }
      pipe.inFlight.pop_front();
    }
    if (pipe.inFlight.size() > kQueueDepth * 4) {
      pipe.inFlight.pop_front();
    }
    now.span.start = start;
    pipe.since = start;
    pipe.serving = true;
    starting_.push({start, now.index, now.which, now.at});
    now.Leave(start);
    return true;
  }

  void StepSet(const PipeStep& now) {
    if (now.pipe.serving) {
      now.pipe.afterIt.push_back(now.at);
    } else {
      SetAt(now.core, now.at, std::max(now.pipe.complete, now.ready));
    }
    now.Leave(now.ready);
  }

  // Lets cores go that wait for what others have done by now.
  void Release() {
    for (bool again = true; again;) {
      again = Meet();
      while (std::exchange(released_, false)) {
        again = true;
        AdvanceAll();
      }
    }
  }

  // Lets those who meet go once all of them that are still running have come to a SyncAll of theirs.
  bool Meet() {
    std::set<uint32_t> all, absent;
    for (const CoreState& core : cores_) {
      if (core.next >= core.tape->steps.size()) {
        continue;
      }
      const uint32_t here = core.tape->steps[core.next].flag;
      if (core.meeting) {
        all.insert(here);
      }
      for (const uint32_t one : core.meets) {
        if (!core.meeting || one != here) {
          absent.insert(one);
        }
      }
    }
    const auto complete =
        std::ranges::find_if(all, [&](uint32_t one) { return !absent.contains(one); });
    if (complete == all.end()) {
      return false;
    }
    const auto meets = [&](const CoreState& core) {
      return core.next < core.tape->steps.size() && core.meeting &&
             core.tape->steps[core.next].flag == *complete;
    };
    double last = 0;
    for (const CoreState& core : cores_) {
      last = meets(core) ? std::max(last, core.met) : last;
    }
    for (uint32_t i = 0; i < cores_.size(); ++i) {
      CoreState& core = cores_[i];
      if (meets(core)) {
        const double gone = last + core.tape->steps[core.next].cycles;
        core.times->waited[static_cast<size_t>(Pipe::kScalar)] += gone - core.scalar;
        core.scalar = gone;
        core.met = -1;
      }
    }
    AdvanceAll();
    return true;
  }

  const bool alone_;
  std::unordered_map<uint32_t, uint32_t> senders_;  // cores that set a flag between cores
  const CopyLaw law_;
  const ChipCosts chip_;
  const ScalarCosts scalar_;
  L2Cache cache_;
  std::array<LineTurn, 4096> turns_;
  ChipTimes result_;
  std::vector<CoreState> cores_;
  Moving moving_;
  std::map<std::pair<uint32_t, uint32_t>, Round> rounds_;    // by flag and number
  std::map<std::pair<CoreMeeting, uint32_t>, double> told_;  // when
  std::unordered_map<uint32_t, double> written_;             // likewise; see Tape::awaited
  bool anyOrder_ = false;                                    // nobody waits for that
  bool released_ =
      false;  // cores may be waiting for a round that is complete, or for what has been told
  std::priority_queue<Starting> starting_;
  double now_ = 0;
};

}  // namespace

ModelCosts ModelCostsOf(const Soc& soc) {
  return {CopyLawOf(soc), ChipCostsOf(soc), ScalarCostsOf(soc)};
}

ChipTimes Time(const std::vector<Tape>& tapes, const ModelCosts& costs) {
  return Simulation(tapes, costs).Run();
}

class CoreClock::Model : public Simulation {
 public:
  using Simulation::Simulation;
};

CoreClock::CoreClock(const Tape& tape, const ModelCosts& costs)
    : model_(std::make_unique<Model>(std::span(&tape, 1), costs, true)) {}

CoreClock::~CoreClock() = default;

double CoreClock::Now() { return model_->ScalarNow(); }

}  // namespace aclsim
