// SPDX-License-Identifier: Apache-2.0
// Instructions and copies cost these, generated from costs.json. The laws are in docs/timing_model.md.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "ascendc/device_abi.h"
#include "soc/soc.h"

namespace aclsim {

// Best first. kYours: from the board of ACLGRAD_CALIBRATION.
enum class Evidence : uint8_t {
  kYours,
  kBoard,
  kOfficial,
  kFitted,
  kSimulator,
  kAssumed,
  kExtrapolated
};
constexpr size_t kEvidences = 7;
const char* EvidenceName(Evidence evidence);

// One hardware instruction of the vector pipe, in cycles.
struct InstructionCost {
  double perRepeat32 = 4;
  double perRepeat16 = 4;
  double head = 14;  // paid when the pipe was empty
  double tail = 18;  // paid by whoever waits for the result
  Evidence evidence = Evidence::kAssumed;
  uint32_t dtypes = 0;  // that it was timed for, 1 << DType
};

// The instructions behind a function of the device API, each dependent on the one before. levels: one instruction, applied
// again to its results until one is left.
struct FunctionCost {
  std::vector<InstructionCost> chain;
  bool levels = false;
  bool known = true;
  uint32_t dtypes = UINT32_MAX;  // that all of its parts were timed for, 1 << DType
  Evidence evidence = Evidence::
      kBoard;  // the worst of its parts; what a function is made of is never known better than assumed
};

// GM <-> UB copies of one core.
struct CopyLaw {
  double readLatency = 0;  // of data in L2
  double missLatency = 0;  // what memory adds
  double writeLatency = 0;
  double leastCycles = 0;  // between two copies of a pipe
  double window = 0;       // bytes in flight
  double unaligned =
      1;  // factor on the bytes of blocks that cross lines and do not start on `alignment`
  uint64_t alignment = 512;
  double sameLine = 1;      // factor on the rate of copies that read what another core reads
  double requestBytes = 0;  // of L2's bandwidth that a line takes, however little of it is moved
  double writeBack = 1;  // factor on the memory's time for lines that L2 writes back between reads
  double earlyWriteBack = 0;  // share of the bytes written that take memory's time at once
  double smallCopy = 0;       // share by which copies of 8 KiB and less take more of memory's time
  double ubBlock =
      0;  // cycles of a block of UB, of the first 512 bytes of each block that a copy takes
  double l1Row = 0;       // cycles that a block of a copy to L1 takes besides its bytes
  double lineTurn = 0;    // cycles in which a line of L2 takes the bytes of one copy only
  double atomicTurn = 0;  // the same of a copy that adds to it
  double besideVector =
      0;  // share by which a copy pipe of the core that works holds up its vector pipe
  using Curve = std::vector<std::pair<double, double>>;  // bytes, cycles after the latency
  Curve readHit, readMiss, write;
  Evidence evidence = Evidence::kAssumed;
};

struct ScalarCosts {
  double start;         // from the start of a core to the kernel's first call
  double buffer;        // InitBuffer
  double cold;          // of a place in the kernel that runs for the first time: its code is read
  double coldFunction;  // the same, of a function that is made of several instructions
  double issue;         // of an instruction
  double sync;          // SetFlag, WaitFlag, barrier
  double queue;         // operation of a queue: of sources, and of results
  double queueOut;
  double access;         // GetValue or SetValue of UB
  double gmMiss, gmHit;  // of GM, by 64-byte line
  double meet;           // SyncAll, after the last core has come
  double meetInGm;       // the same, by words of GM
  double
      mark;  // of one core for another: set, and again found; a block that is read and one that is written
  Evidence evidence;
};

// These are of any instruction of the vector pipe.
struct VectorCosts {
  double leastCycles;    // in a stream
  double partialRepeat;  // bytes that are no multiple of a repeat
  double sharedGroups;   // a repeat: two sources in one bank group
  double someRepeats;    // the same, of those repeats that share one where others do not
  double readWrite;      // a repeat: source and destination in one bank
};

// These are of vector functions, which Ascend 950 has.
struct FunctionTimes {
  double head;        // before its first instruction
  double drain;       // after its last result
  double queue;       // instructions that are under way at a time, the first of them not done
  double dispatch;    // that come in a cycle
  double ports;       // that start in a cycle, of arithmetic
  double ubAccesses;  // registers that are loaded or stored in a cycle
  double ubWrites;    // of them stored
  double turn;        // cycles in which none come, when a loop turns
  double loop;        // the same, the first time since the function came to the loop
  double between;     // two dependent instructions of a function that is made of several
  Evidence evidence;
};
// An instruction of a vector function runs in one of these.
enum class RegisterUnit : uint8_t { kPorts, kOnePort, kLoad, kStore, kBarrier, kNone };
struct RegisterCost {
  double forward32 = 6;     // cycles until an instruction that needs the result may start
  double forward16 = 6;     // of elements of two bytes and less
  double initiation32 = 1;  // until the unit takes another one of its kind
  double initiation16 = 1;
  double integers = 1;  // factor on the initiation of elements that are no floating-point numbers
  RegisterUnit unit = RegisterUnit::kPorts;
  bool known = false;
  Evidence evidence = Evidence::kAssumed;
};

struct ChipCosts {
  double bytesPerCycle = 0;    // of memory, all cores together
  double l2BytesPerCycle = 0;  // of the L2 cache
  uint64_t l2Bytes = 0;        // that it holds
  double cyclesPerMicrosecond = 0;
  double launchMicroseconds = 0;
  double startCycles = 0;  // between the starts of two cores
  double band[3] = {};     // relative error to expect: vector-bound, memory-bound, else
  Evidence evidence = Evidence::kAssumed;
};

FunctionCost CostOf(const Soc& soc, const char* function);
const CopyLaw& CopyLawOf(const Soc& soc);
ChipCosts ChipCostsOf(const Soc& soc);
const ScalarCosts& ScalarCostsOf(const Soc& soc);
const VectorCosts& VectorCostsOf();
const FunctionTimes& FunctionTimesOf();
RegisterCost RegisterCostOf(uint32_t arch, const char* name);

// Returns what is wrong with the costs of the board's calibration, as words; empty: nothing.
std::string OverlaidCostsProblem();

// Cycles on a curve: linear between its points, and beyond them by the last rate.
double OnCurve(const CopyLaw::Curve& curve, double bytes);

}  // namespace aclsim
