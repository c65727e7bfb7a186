// SPDX-License-Identifier: Apache-2.0
// The engine tells its observers these: one record per executed instruction, one event per synchronisation.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <optional>

#include "ascendc/device_abi.h"
#include "engine/pipes.h"
#include "soc/soc.h"

namespace aclsim {

class Core;
struct Handover;

// Instructions of each pipe that have completed.
using Clock = std::array<uint32_t, kPipes>;

enum class Use : uint8_t {
  kRead,
  kWrite,
  kSpoil,  // left undefined: scratch, lanes that hardware fills with junk
};

// Bytes that an operand takes: `repeat` times `bytes` bytes at addr, addr + repStride, ..., each cut into chunks of `chunk`
// contiguous bytes that are chunkStride apart. The last repeat may be shorter. Dense operands are one repeat of one chunk.
struct Access {
  Space space = Space::kUb;
  Use use = Use::kRead;
  uint8_t width = 1;    // bytes per lane
  bool masked = false;  // only lanes whose bit in `mask` is set
  bool table = false;   // data decides which of these bytes
  uint32_t buffer = 0;  // UB: the engine's handle
  uint64_t addr = 0;    // offset in the space, or GM address
  uint64_t chunk = 0;
  uint64_t bytes = 0;
  uint64_t lastBytes = 0;
  int64_t chunkStride = 0;
  int64_t repStride = 0;
  uint32_t repeat = 1;
  uint64_t mask[2] = {~0ull, ~0ull};

  bool InGm() const { return space == Space::kGm; }
  // Scratch in the part of UB that the toolchain keeps, which is no buffer of the kernel's.
  bool Reserved() const { return use == Use::kSpoil && buffer == 0; }
  // One past the last byte, relative to addr.
  uint64_t Extent() const;
  uint64_t TotalBytes() const { return (repeat - 1) * bytes + lastBytes; }
};

Access DenseAccess(Use use, uint64_t ubOffset, uint64_t bytes, uint32_t buffer);
// count blocks of len bytes, `step` bytes apart.
Access BlockAccess(Space space, Use use, uint64_t addr, uint64_t len, uint64_t count, uint64_t step,
                   uint32_t buffer);

// Returns the same bytes with less repetition, for those who do not ask which lane they belong to: strides of 0 name bytes anew.
inline Access Distinct(const Access& access) {
  Access bytes = access;
  if (!access.masked && access.chunkStride == 0) {
    bytes.bytes = std::min(access.bytes, access.chunk);
    bytes.lastBytes = std::min(access.lastBytes, access.chunk);
  }
  if (!access.masked && access.repeat > 1 && access.repStride == 0) {
    bytes.repeat = 1;
    bytes.bytes = bytes.lastBytes = std::max(bytes.bytes, bytes.lastBytes);
  }
  return bytes;
}

// Calls span(begin, end, repeat) for every contiguous piece, in address order of each repeat.
template <typename F>
void ForEachSpan(const Access& access, F&& span) {
  const bool dense =
      access.chunk >= access.bytes || access.chunkStride == static_cast<int64_t>(access.chunk);
  if (dense && !access.masked &&
      (access.repeat == 1 || access.repStride == static_cast<int64_t>(access.bytes))) {
    span(access.addr, access.addr + access.TotalBytes(), 0u);
    return;
  }
  for (uint32_t r = 0; r < access.repeat; ++r) {
    const uint64_t base = access.addr + static_cast<uint64_t>(r * access.repStride);
    const uint64_t bytes = r + 1 == access.repeat ? access.lastBytes : access.bytes;
    if (access.masked) {
      // Lanes side by side in one chunk are one piece.
      uint64_t chunk = base;
      for (uint64_t at = 0, lane = 0; at < bytes;
           at += access.chunk, chunk += static_cast<uint64_t>(access.chunkStride)) {
        const uint64_t end = std::min(access.chunk, bytes - at);
        uint64_t first = 0;
        for (uint64_t in = 0; in < end; in += access.width, ++lane) {
          if (((access.mask[lane / 64] >> (lane % 64)) & 1) == 0) {
            if (first < in) {
              span(chunk + first, chunk + in, r);
            }
            first = in + access.width;
          }
        }
        if (first < end) {
          span(chunk + first, chunk + end, r);
        }
      }
    } else if (dense) {
      span(base, base + bytes, r);
    } else {
      uint64_t at = 0;
      for (int64_t block = 0; at < bytes; ++block, at += access.chunk) {
        const uint64_t begin = base + static_cast<uint64_t>(block * access.chunkStride);
        span(begin, begin + std::min(access.chunk, bytes - at), r);
      }
    }
  }
}

// Flow says how definedness goes from sources to destinations.
enum class Flow : uint8_t {
  kLanes,    // lane i of the destination is made of lane i of every source
  kRepeats,  // a repeat's result is made of the same repeat of every source
  kGroups,   // a result is made of an equal share of the repeat's lanes: block and pair reductions
  kBits,     // bit i of the destination is made of lane i of every source
  kAll,      // every byte may depend on every source byte
  kMove,     // bytes move unchanged; Record::move does the same on another image of local memory
  kMoveGm,   // the same with GM as a source, whose shadow move takes for another image
  kStore,    // results go to GM; move writes their shadow from another image
  kCopy,  // blocks go from the second access to the first, which has padLeft bytes of padding before each
  kRegisters,  // between UB and registers: Record::held
  kNone,       // constants: whatever is written is defined
};

// An instruction of a vector function takes this from UB into registers, or the other way, byte by byte in the order of its access.
struct HeldLanes {
  bool undefined = false;  // some byte is: shadow says which
  uint32_t origin =
      0;  // whatever the observer of undefined values has put there, or one of the two below and a site
  uint8_t shadow[512];  // 0 defined, 0xFF not

  static constexpr uint32_t kNeverWritten = 1u << 31;  // the register
  static constexpr uint32_t kBehindBuffer = 1u << 30;  // the bytes that were loaded
};

struct Record {
  const char* name = "";
  Pipe pipe = Pipe::kScalar;
  Flow flow = Flow::kLanes;
  DType dtype = DType::kFloat;  // of the lanes that are computed with
  bool atomic = false;
  bool ordered = false;  // hardware runs it behind the earlier instructions of its pipe
  uint8_t group = 1;     // Flow::kGroups: lanes per result; of an Mmad: columns of A in a cycle
  uint8_t crowd = 0;  // of a list of addresses: most blocks of a repeat's operand in one bank group
  bool reference = false;  // a scalar access by reference: read or write, nobody knows
  int accessCount = 0;
  std::array<Access, 8> access;
  int32_t repeat = 1;
  uint32_t padLeft = 0;    // Flow::kCopy: bytes of padding before each block in UB
  bool padDefined = true;  // whether the padding has a documented value
  uint32_t site = 0;       // call site in the kernel, see engine/site.h
  Clock issued{};          // what the scalar pipe had waited for when it issued the instruction
  uint32_t vectorFunction = 0;  // the one that it is part of, from 1
  HeldLanes* held = nullptr;    // Flow::kRegisters only
  double cycles = 0;            // of a whole vector function, told when it ends: with no access
  uint32_t step = 0;            // of the tape, see timing/tape.h
  uint32_t coreWaits = 0;       // SyncAll and CrossCoreWaitFlag before it was issued
  std::function<void(uint8_t* image)> move;  // Flow::kMove, kMoveGm and kStore
  std::array<Handover*, 2> handovers{};  // what goes into other cores' memories; the body owns them
  // Accesses that depend on data, such as a gather's: narrows them when the instruction runs, until then they are the widest.
  std::function<void(Record&)> narrow;

  void Add(const Access& a) { access[static_cast<size_t>(accessCount++)] = a; }
};

// A load or store of a vector function: it reads or writes all of [begin, end) of UB. There are millions of them, of 256 bytes each,
// for which a Record would be most of the work.
struct RegisterAccess {
  const char* name = "";
  uint32_t site = 0;
  uint32_t vectorFunction = 0;
  Use use = Use::kRead;
  uint32_t buffer = 0;
  uint64_t begin = 0, end = 0;
  HeldLanes* held = nullptr;

  Record ToRecord() const;
};

// UB of A2 is banks in 16 groups of one block.
inline constexpr uint64_t kBankGroups = 16;
inline uint64_t BankGroupOf(uint64_t offset) { return offset / 32 % kBankGroups; }

// A core has done this with the others, as the flag of SyncEvent::Kind::kCores.
enum CoreMeeting : uint32_t {
  kMetAll,      // SyncAll; number: of its workspace, 0 without one
  kSomeCores,   // it has waited for some; number: of the store that it has read
  kMarkSet,     // IBSet; number: of the mark
  kMarkTaken,   // IBWait of that mark
  kTurnPassed,  // NotifyNextBlock; number: of the turn that is over
  kTurnTaken,   // WaitPreBlock for that turn
  kStored,      // WriteGmByPassDCache; number: of the store. Only issued, as it orders nothing
};

struct SyncEvent {
  enum class Kind : uint8_t {
    kSet,      // `from` has reached a SetFlag (or EnQue, FreeTensor, CrossCoreSetFlag)
    kWait,     // `to` has passed the matching WaitFlag (or DeQue, AllocTensor, CrossCoreWaitFlag)
    kBarrier,  // instructions of `from` before are complete before those after
    kAll,      // every pipe is empty: PipeBarrier<PIPE_ALL>, TPipe's end
    kCores,    // cores have told or waited for others: flag is a CoreMeeting
  };
  Kind kind = Kind::kSet;
  Pipe from = Pipe::kScalar;
  Pipe to = Pipe::kScalar;
  uint32_t flag = 0;    // pairs a wait with its set
  uint32_t number = 0;  // of what a CoreMeeting is about; of flags between cores: FlagSenders
  const char* name = "";
  uint32_t site = 0;
  bool further = false;  // the call that this is of has its cost already
};

// Times the instructions of vector functions, as they run.
class VectorTimer {
 public:
  virtual ~VectorTimer() = default;
  virtual void Begin() = 0;
  // An instruction's sources are there at cycle `ready`. Returns the cycle at which its result is. site: its place in the kernel.
  virtual int64_t Issue(const char* name, DType dtype, int64_t ready, uint32_t site) = 0;
  // Cycles from the first instruction to the last result.
  virtual double End() = 0;
};

// Listens to one core; an instance per core, so it needs no locks. Cannot change a result.
class Observer {
 public:
  virtual ~Observer() = default;
  // In program order, before the instruction runs: may stamp record.issued.
  virtual void OnIssue(const Core&, Record&) {}
  // In program order: a flag, queue operation or barrier. The same event comes again as OnSync when its pipe gets to it.
  virtual void OnIssueSync(const Core&, const SyncEvent&) {}
  // In the order of execution, before the body.
  virtual void OnRecord(Core&, const Record&) {}
  virtual void OnSync(Core&, const SyncEvent&) {}
  // The core is about to meet others: all of its kind, or with `both` all of the launch. OnSync of kCores follows when they are there.
  virtual void OnMeets(Core&, bool /*both*/) {}
  // Another core has written into this one's memory, and `by` has waited for it, called at `site`.
  virtual void OnHandover(Core&, const Handover&, Pipe /*by*/, uint32_t /*site*/) {}
  virtual void OnFreshUb(Core&, uint64_t /*begin*/, uint64_t /*end*/) {}
  // The scalar read that was issued last has given these bytes.
  virtual void OnRead(Core&, const void* /*value*/, uint32_t /*bytes*/) {}
  // DataCacheCleanAndInvalid of [begin, end) of GM.
  virtual void OnCacheClean(Core&, uint64_t /*begin*/, uint64_t /*end*/) {}
  // WriteGmByPassDCache, called at `site`, is about to write [begin, end) of GM.
  virtual void OnBypassWrite(Core&, uint64_t /*begin*/, uint64_t /*end*/, uint32_t /*site*/) {}
  // SyncAll, IBSet or IBWait, called at `site`, is about to wait by these bytes of GM, which must have been 0.
  virtual void OnSyncWords(Core&, uint64_t /*begin*/, uint64_t /*end*/, uint32_t /*site*/) {}
  // A call of the API is left out after a fault.
  virtual void OnLeftOut(Core&) {}
  virtual void OnEnd(Core&) {}
  // Nanoseconds on the device by now, of an observer that knows.
  virtual std::optional<double> Now(const Core&) { return std::nullopt; }
  virtual VectorTimer* Timer() { return nullptr; }
  // In place of OnIssue and OnRecord, which it calls unless somebody knows better.
  virtual void OnRegisters(Core& core, const RegisterAccess& access);
};

}  // namespace aclsim
