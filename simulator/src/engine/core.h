// SPDX-License-Identifier: Apache-2.0
// One simulated core: its local memories, buffers and queues, event flags, registers, the GM it may touch.
#pragma once

#include <algorithm>
#include <array>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "ascendc/device_abi.h"
#include "engine/cube_registers.h"
#include "engine/image.h"
#include "engine/keep_going.h"
#include "engine/kernel_launch.h"
#include "engine/mutexes.h"
#include "engine/queue_events.h"
#include "engine/record.h"
#include "engine/site.h"
#include "engine/strips.h"
#include "findings/fault.h"
#include "findings/finding.h"
#include "host/own_time.h"
#include "host/watchdog.h"

namespace aclsim {

enum class BufferState : uint8_t { kFree, kAllocated, kQueued };

// A piece of local memory that InitBuffer (or a fixed address) has given a meaning.
struct BufferInfo {
  uint32_t offset = 0;  // in the image
  uint32_t bytes = 0;
  uint32_t que = 0;  // owner; 0 for tensors at fixed addresses
  BufferState state = BufferState::kFree;
  uint16_t generation = 0;  // counts FreeTensor: a tensor of an older one is stale
  bool enQueued = false;    // its EnQue flag waits for DeQue
  bool freed = false;       // its FreeTensor flag waits for AllocTensor
  uint32_t allocSite = 0;   // of the last AllocTensor
  HeldEvent enQueEvent;     // of its EnQue, until DeQue
  HeldEvent freeEvent;      // of its FreeTensor, until AllocTensor
};

struct QueInfo {
  uint32_t pipe = 0;  // the TPipe whose InitBuffer, or whose pool's, it comes from
  bool gone = false;  // TPipe::Reset or Init has taken its buffers back
  uint8_t pos = 0;    // TPosition of AllocTensor's end
  uint8_t dst = 0;    // and of DeQue's
  int32_t depth = 0;
  bool tbuf = false;
  bool inCube = false;  // an AIV's, in L1 of its AIC: see device/tscm.h
  bool linked = false;  // the AIV itself writes into that L1: see device/link.h
  uint32_t bytes = 0;
  std::vector<uint32_t> buffers;
  std::vector<uint32_t> queued;  // FIFO of enqueued buffers
  uint32_t next = 0;             // round robin, as double buffering alternates
  void* initPc = nullptr;        // where InitBuffer was called
};

// A call of SetGlobalBuffer.
struct GlobalTensorCall {
  const GmRegion* region = nullptr;
  uint32_t site = 0;
  const void* outside = nullptr;  // the address, where it lies in no region
};

// A TPipe. Each hands UB and event ids out from the start, whatever the others have.
struct PipeInfo {
  void* object = nullptr;  // null once it is gone
  bool copied = false;     // from another one: queues outlive it
  bool destroyed = false;
  std::array<uint64_t, kSpaces> used{};  // bytes handed out
  uint64_t usedOfCube = 0;               // of an AIV, in L1 of its AIC, from its start on
  size_t buffers = 0;
  std::array<std::array<bool, 8>, 40> allocated{};          // AllocEventID
  std::array<std::array<uint32_t, 8>, 40> allocatedSite{};  // of the last one
  QueueEvents queueEvents{};
};

// A range of UB that a TBufPool hands out.
struct PoolInfo {
  uint32_t pipe = 0;
  uint64_t begin = 0;
  uint64_t end = 0;
  uint64_t next = 0;     // first byte that no buffer and no pool within has
  uint32_t ids = 0;      // buffers that it may have
  uint32_t buffers = 0;  // and has
  std::vector<uint32_t> ques;
};

// SetAtomicAdd and its kin leave this for the following copies to GM.
struct AtomicState {
  Atomic op = Atomic::kNone;
  DType dtype = DType::kFloat;
};

// Instructions leave these in registers for others, or for the kernel to ask for.
struct Registers {
  uint64_t gathered = 0;          // elements that the last GatherMask kept
  uint16_t merged[4] = {};        // structures that the last MrgSort took from each queue
  uint16_t deqScale = 0x3C00;     // SetDeqScale: bits of a half, 1 from the start
  bool deqScaleSet = false;       // by the kernel
  uint32_t sum = 0;               // bits of the last ReduceSum's result
  uint32_t extreme[2] = {};       // of the last maximum or minimum of all lanes: value and index
  uint64_t addresses[8][8] = {};  // set_va_reg_sb: rows of a transposition
  uint64_t padValue = 0;          // SetPadValue
  bool padSet = false;
  uint8_t* systemWorkspace = nullptr;  // SetSysWorkspace
  uint64_t loopModes[2][5] = {};       // SetLoopModePara: from UB, to UB
  uint8_t* matmulWorkspace = nullptr;  // of REGIST_MATMUL_OBJ
  bool tscmCopyPending =
      false;  // the AIC has yet to say that it has read what goes from UB to TSCM
};

// An instruction that had nothing to do, or not on all lanes: a count, mask or repeat of 0, a mask of SetVectorMask.
struct Idle {
  uint32_t site = 0;
  const char* name = "";
  const char* why = "";
  uint32_t buf = 0;
  uint64_t offset = 0;    // where in UB it would have begun to write
  uint32_t maskSite = 0;  // of that SetVectorMask
};
// A copy to GM that adds: kept until the cores meet, so that sums are made in the order of the cores, not of host threads.
struct AtomicWrite {
  uint8_t* dst = nullptr;
  AtomicState state;
  std::vector<uint8_t> data;
};

// The kinds that copies and lanes are cut down for.
inline constexpr const char* kUbOutOfBounds = "ub-out-of-bounds";
inline constexpr const char* kGmOutOfBounds = "gm-out-of-bounds";
inline constexpr const char* kGmWriteToInput = "gm-write-to-input";
inline constexpr const char* kGmWriteToConstant = "gm-write-to-constant";

// Core::instruction when the kernel has returned, and when a TPipe ends: by itself in most kernels. Arrays, as their addresses are
// compared: a literal has one in each file that names it, if the compiler does not merge them.
inline constexpr char kEndOfKernel[] = "end of kernel";
inline constexpr char kEndOfPipe[] = "TPipe::Destroy";

class Meeting;
class Scheduler;

class Core {
 public:
  Core(const KernelLaunch& launch, uint32_t index, uint8_t* ub, std::vector<Observer*> observers,
       Meeting* meeting);
  ~Core();
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  // The core that runs on this thread; a fault when kernel code runs outside a launch.
  static Core& Current();
  static Core* CurrentOrNull();
  static void SetCurrent(Core* core);

  const KernelLaunch& launch;
  const uint32_t index;
  const uint32_t blockIdx;  // GetBlockIdx
  const Soc& soc;
  const CoreKind kind;
  const Image image;

  // --- local memory ---
  uint8_t* const ub;  // the image, which begins with UB
  uint64_t UbOffset(const void* addr) const {
    return static_cast<uint64_t>(static_cast<const uint8_t*>(addr) - ub);
  }
  // [addr, addr + bytes) must lie inside the operand's buffer. role names the operand: "dst", "src0", ...
  void CheckUb(const Ub& operand, int64_t begin, int64_t end, const char* role);
  // Does the same once the instruction runs: the kernel may have freed the tensor since.
  void CheckUbRange(const Ub& operand, int64_t begin, int64_t end, const char* role);
  void CheckUbAlign(const Ub& operand, uint32_t align, const char* role);
  // Whether an AIV's tensor lies in L1 of its AIC.
  bool IsInCube(const Ub& operand) const { return UbOffset(operand.addr) >= image.Bytes(); }
  Space SpaceOf(const Ub& operand) const { return image.SpaceOf(UbOffset(operand.addr)); }
  // "L1 [0, 512)": bytes of the image by the names and addresses that the kernel has for them.
  std::string NameRange(uint64_t begin, uint64_t end) const;
  std::string DescribeBuffer(uint32_t buf) const;
  std::string BufferTable() const { return BufferTable(currentPipe); }
  std::string BufferTable(uint32_t pipe) const;
  const BufferInfo& Info(uint32_t buf) const;

  // --- GM ---
  const GmRegion& CheckGm(const void* addr, uint64_t bytes, bool write, const char* role) {
    CountAccess(addr);
    return FindGm(addr, bytes, write, role);
  }

  // --- state that instructions read ---
  std::vector<BufferInfo> buffers;  // [0] is unused: handle 0 is "none"
  std::vector<QueInfo> ques;        // [0] is unused
  std::vector<PoolInfo> pools;      // [0] is unused
  std::vector<PipeInfo> pipes;      // [0] stands for none
  uint32_t currentPipe = 0;         // what GetTPipePtr returns
  uint64_t UbUsed() const { return pipes[currentPipe].used[static_cast<size_t>(Space::kUb)]; }
  uint64_t ubPeak = 0;
  uint64_t tscmBegin = UINT64_MAX;              // of an AIC: L1 from here on is its AIVs'
  std::vector<GlobalTensorCall> globalTensors;  // kept when the launch is observed
  bool maskCounter = false;
  uint64_t maskBits[2] = {~0ull, ~0ull};
  std::array<std::array<int8_t, 8>, 40> flags{};       // SetFlag minus WaitFlag, in program order
  std::array<std::array<uint32_t, 8>, 40> flagSite{};  // of the last of either
  std::array<std::array<uint32_t, 8>, 40> firstSet{};  // the first SetFlag of each
  std::array<int32_t, 16> crossCore{};  // CrossCoreSetFlag minus CrossCoreWaitFlag, by flag
  // Sites of the last sets; behind those of modes 0 to 2 lie those of mode 4 with the first AIV and with the second one.
  std::array<uint32_t, 48> crossCoreSite{};
  uint32_t syncAllSite = 0;  // the call of the last SyncAll by flags in a MIX kernel
  AtomicState atomic;
  uint32_t atomicSite = 0;    // of the call that switched it on
  uint32_t maskModeSite = 0;  // of SetMaskCount
  uint32_t maskSite = 0;      // of SetVectorMask; 0 when the mask is an instruction's, or all lanes
  bool atomicsTold = false;   // the meeting has some of this core's sums
  Registers registers;
  CubeRegisters cube;
  UnitTiles unitTiles;
  Mutexes mutexes;
  std::vector<Idle> idle;  // since their buffers were handed out
  bool tilingKeyAsked = false;
  bool tilingKeyMatched = false;
  const char* instruction = "";  // the running one, for fault reports
  OwnTime ownTime;

  // --- instructions ---
  // Runs body as an instruction of `pipe`: now, or when the pipe gets to it. fill completes the record, which is only made
  // when somebody wants it. body must own what it needs.
  template <typename Fill, typename Body>
  void Issue(Pipe pipe, Fill&& fill, Body&& body) {
    CountInstruction();
    strips.Run();
    const bool defer = Defers(pipe);
    if (!Observed() && !defer) {
      body();
      return;
    }
    Record record;
    record.name = instruction;
    record.pipe = pipe;
    fill(record);
    Stamp(record);
    if (!defer) {
      if (record.narrow) {
        record.narrow(record);
      }
      Emit(record);
      body();
      ownTime.Leaves();
      return;
    }
    Push(std::move(record), std::forward<Body>(body));
  }
  // Tells the observers of an instruction that runs here and now, as part of one that nothing held up.
  template <typename Fill>
  void Tell(Pipe pipe, Fill&& fill) {
    Record record;
    record.name = instruction;
    record.pipe = pipe;
    fill(record);
    Stamp(record);
    Emit(record);
  }
  void Tell(const RegisterAccess& access);
  // The place in the kernel of the instruction that runs, for its record.
  uint32_t CaptureSite();
  // For the watchdog, which may have had enough of this core.
  void CountInstruction() {
    if (progress.Ends()) [[unlikely]] {
      ThrowHang();
    }
    progress.Issued();
  }
  void CountAccess(const void* address) {
    if (!progress.Touched(address) && progress.Ends()) [[unlikely]] {
      ThrowHang();
    }
  }
  // True if a vector instruction without a record may join `strips`.
  bool MayJoinStrips() const { return !Observed() && !Defers(Pipe::kVector) && !referenced; }
  // Does the same for bytes that move unchanged: move(ub) does it on any image of UB.
  template <typename Fill, typename Move>
  void IssueMove(Pipe pipe, Fill&& fill, Move&& move) {
    Issue(
        pipe,
        [&](Record& record) {
          record.flow = Flow::kMove;
          fill(record);
          record.move = move;
        },
        [this, move] { move(ub); });
  }
  // A scalar access: the compiler's automatic synchronisation makes it wait for instructions on the same bytes.
  void ScalarAccess(const Access& access, DType dtype, bool reference = false);
  // The scalar pipe waits for everything issued to `pipe`: instructions that return a value.
  void ScalarWaits(Pipe pipe);
  void RunDeferred(Record& record, const std::function<void()>& body);
  // Faults of run() are those of the instruction `name` that was called at `site`.
  template <typename Run>
  void RunAs(const char* name, uint32_t site, const Run& run) {
    const char* const issuing = instruction;
    instruction = name;
    runningSite = site;
    try {
      run();
    } catch (KernelFault& fault) {
      SkipFault(std::move(fault));
    }
    runningSite = 0;
    instruction = issuing;
  }
  void Sync(const SyncEvent& event);
  // Brings what other cores have written into this one's memories; `by`: the pipe that has waited for it.
  void Receive(Pipe by);
  SyncEvent MakeSync(SyncEvent::Kind kind, Pipe from, Pipe to, uint32_t flag, uint32_t number = 0);
  // All pipes are empty. Meets: before the core waits for the others.
  void Meets(bool both);
  void Meet(CoreMeeting how, uint32_t number);
  void SyncWords(uint64_t begin, uint64_t end);
  // UB bytes whose content is undefined from here on: AllocTensor, InitBuffer.
  void FreshUb(uint64_t begin, uint64_t end);

  void CacheClean(uint64_t begin, uint64_t end);
  void BypassWrite(uint64_t begin, uint64_t end);

  // The kernel gets the bytes at `from`: of a scalar read that somebody observes. Returns where they stay as they are.
  uint8_t* ReadScalar(uint8_t* from, uint32_t bytes);
  void TellRead(const void* value, uint32_t bytes);

  bool Observed() const { return !observers_.empty(); }
  // The observer that times has these; null, or none, when none does.
  VectorTimer* Timer() const {
    VectorTimer* timer = nullptr;
    for (Observer* observer : observers_) {
      timer = observer->Timer() != nullptr ? observer->Timer() : timer;
    }
    return timer;
  }
  std::optional<double> Nanoseconds() const;
  void TellLeftOut();
  void End();

  // Writes to GM as the atomic mode says. The body of copies to GM.
  void StoreGm(uint8_t* dst, const uint8_t* src, uint64_t bytes, AtomicState state);
  // This core's pending sums, before it reads or overwrites such bytes itself.
  void SettleAtomics(const void* gm, uint64_t bytes);
  std::vector<AtomicWrite> TakeAtomics() { return std::move(atomics_); }

  // --- reports ---
  // A fault that is not where the kernel stands now.
  KernelFault FaultAt(const char* kind, uint32_t site, Pipe pipe, const char* instruction,
                      std::string detail, std::string advice, const std::vector<uint32_t>& related);
  Finding FindingOf(const KernelFault& fault) const;
  [[noreturn]] __attribute__((cold)) void ThrowHang() {
    ThrowHang(progress.How(), progress.Seconds(), CaptureStack());
  }
  [[noreturn]] void ThrowHang(Stuck how, double seconds, std::vector<void*> stack);
  // A finding of a check; the kernel goes on.
  void Find(Finding finding);
  // Returns whether this is the first finding of `kind` at these two sites: loops would report theirs in every round.
  bool IsFirst(const char* kind, uint32_t site, uint32_t other) {
    return reported_.emplace(kind, site, other).second;
  }
  Place PlaceOf(const char* instruction, Pipe pipe, uint32_t site, const char* note) const;
  // The index of the first buffer that holds UB byte `offset`; 0: none.
  size_t BufferAt(uint64_t offset) const;
  // The name in the kernel of the buffer that holds UB byte `offset`, and where it starts.
  std::string BufferName(uint64_t offset, uint64_t* start) const;
  // The running instruction has nothing to do, or not on all lanes; why is a phrase that follows its name.
  void MarkIdle(const Ub& dst, const char* why, uint32_t fromMask = 0) {
    constexpr size_t kMost = 64;
    const uint32_t site = sites.Capture();
    const auto same = [&](const Idle& known) { return known.site == site && known.buf == dst.buf; };
    if (idle.size() < kMost && std::none_of(idle.begin(), idle.end(), same)) {
      idle.push_back({site, instruction, why, dst.buf, UbOffset(dst.addr), fromMask});
    }
  }
  // The first instructions that should have written UB byte `offset` and had nothing to do.
  std::vector<Idle> IdleAt(uint64_t offset) const;
  const GmRegion* RegionOf(uint64_t addr) const;
  // SetL2CacheHint of the tensor that holds GM byte `addr`.
  void HintL2(uint64_t addr, bool read, bool write, bool bypass);
  bool BypassesL2(uint64_t addr, bool write) const;
  // The caller passed the same memory as an output or the workspace too, or the operator has no output.
  bool Aliased(const GmRegion& region) const {
    return IsWritable(region.addr, region.bytes, region.kind);
  }

  // --- after a fault, see keep_going.h ---
  const bool keepGoing;
  // The fault becomes a finding that says how the core goes on; where faults end cores it is thrown.
  void GoOn(KernelFault fault, std::string how);
  bool Faulted() const { return !faults_.empty(); }
  // Returns how many bytes from there on lie in the operand's buffer, and in a tensor (null: none) that may be read or written.
  uint64_t UbRoom(const Ub& operand, int64_t begin) const;
  uint64_t GmRoom(const GmRegion* region, const uint8_t* addr, uint64_t bytes, bool write) const;
  // Zeros, for a scalar access that leads nowhere.
  uint8_t* Nowhere(uint32_t bytes);
  // Memory behind UB for what UB cannot hold; 0 when that is full, too.
  uint64_t TakeBeyond(uint64_t bytes);
  // Tensors at addresses that UB does not have lie here instead: by address and length.
  std::map<std::pair<uint64_t, uint64_t>, uint32_t> elsewhere;
  // An AIV's tensors at addresses of its AIC's memories, by position, address and length.
  std::map<std::tuple<uint8_t, uint64_t, uint64_t>, uint32_t> ofCube;

  Meeting* const meeting;  // with the other cores of the launch
  ThreadProgress& progress;
  // The pipes on which instructions wait instead of running when they are issued, by bit; the scheduler's to set.
  // Those that its kind lacks are among them.
  uint8_t deferring;
  bool Defers(Pipe pipe) const { return (deferring >> static_cast<size_t>(pipe) & 1) != 0; }
  const std::unique_ptr<Scheduler> scheduler;
  ReadAhead readAhead;
  Strips strips{readAhead};
  bool referenced =
      false;  // the kernel holds a reference into UB, and sees what instructions write
  Sites sites;
  const bool autoSync;  // the compiler's, see docs/simulator.md
  std::vector<Finding> findings;
  bool hung = false;  // ThrowHang has ended it
  // The last instruction or synchronisation; an end only if there was nothing before.
  uint32_t lastSite = 0;
  const char* lastInstruction = "";
  uint32_t runningSite = 0;  // of the deferred instruction that runs; 0: the kernel itself is at it
  uint32_t vectorSite = 0;   // where the last vector function was called

 private:
  const GmRegion& FindGm(const void* addr, uint64_t bytes, bool write, const char* role);
  const GmRegion* GlobalOf(const void* addr);
  // Throws; names the SetGlobalBuffer of the tensor too.
  [[noreturn]] void ThrowGmOutOfBounds(const GmRegion* region, const void* addr, std::string detail,
                                       std::string advice) const;
  const GmRegion& CheckRegion(const GmRegion& region, const uint8_t* begin, uint64_t bytes,
                              bool write, const char* role);
  bool IsWritable(const uint8_t* begin, uint64_t bytes, RegionKind kind) const;
  std::string QueName(const BufferInfo& info) const;
  void Stamp(Record& record);
  void Push(Record&& record, std::function<void()> body);
  void Emit(const Record& record);

  const std::vector<Observer*> observers_;
  // Place of the finding in `findings`, by kind and stack.
  std::map<std::pair<std::string, std::vector<void*>>, size_t> faults_;
  std::vector<uint8_t> nowhere_;
  alignas(16) std::array<uint8_t, 16> scalar_{};  // the last value of ReadScalar
  uint64_t beyond_;                               // next byte behind UB that nobody has
  std::vector<AtomicWrite> atomics_;
  std::set<std::tuple<std::string_view, uint32_t, uint32_t>> reported_;
  // Regions of launch.regions whose reads, or writes, leave nothing in L2.
  std::vector<std::array<bool, 2>> bypassL2_;
  size_t lastRegion_ = 0;
  std::deque<GmRegion> globals_;  // those of the kernel's source that it has used
};

// Returns what the kernel calls a queue, by the place of its InitBuffer; "UB" without one.
std::string QueNameOf(void* initPc, uint8_t pos);

// In the order of the list.
void ApplyAtomics(const std::vector<AtomicWrite>& writes);
// Those that touch the bytes; they are empty afterwards.
void SettleAtomics(std::vector<AtomicWrite>* writes, const uint8_t* begin, uint64_t bytes);

// Faults that only the end shows: queues and flags left over, a tiling key that nobody asked for.
void CheckKernelEnd(Core& core);

}  // namespace aclsim
