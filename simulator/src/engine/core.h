// SPDX-License-Identifier: Apache-2.0
// One simulated vector core: UB, buffers and queues, event flags, mask register, the GM it may touch.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "ascendc/device_abi.h"
#include "engine/fault.h"
#include "engine/launch.h"

namespace aclsim {

enum class Pipe : uint8_t { kScalar, kVector, kMte2, kMte3 };
const char* PipeName(Pipe pipe);

enum class BufferState : uint8_t { kFree, kAllocated, kQueued };

// A piece of UB that InitBuffer (or a fixed address) has given a meaning.
struct BufferInfo {
  uint32_t offset = 0;
  uint32_t bytes = 0;
  uint32_t que = 0;  // owner; 0 for tensors at fixed addresses
  BufferState state = BufferState::kFree;
};

struct QueInfo {
  uint8_t pos = 0;
  int32_t depth = 0;
  bool tbuf = false;
  uint32_t bytes = 0;
  std::vector<uint32_t> buffers;
  std::vector<uint32_t> queued;  // FIFO of enqueued buffers
  uint32_t next = 0;             // round robin, as double buffering alternates
  void* initPc = nullptr;        // where InitBuffer was called
};

class Observer;

// Bytes that an instruction reads or writes, relative to UB or absolute in GM.
struct Access {
  bool gm = false;
  bool write = false;
  uint64_t addr = 0;
  uint64_t bytes = 0;
};

struct Record {
  const char* name = "";
  Pipe pipe = Pipe::kScalar;
  std::array<Access, 4> access;
  int accessCount = 0;
  int32_t repeat = 1;
};

class Core {
 public:
  Core(const KernelLaunch& launch, uint32_t index, uint8_t* ub,
       const std::vector<Observer*>& observers);

  // The core that runs on this thread; a fault when kernel code runs outside a launch.
  static Core& Current();
  static Core* CurrentOrNull();
  static void SetCurrent(Core* core);

  const KernelLaunch& launch;
  const uint32_t index;
  const Soc& soc;

  // --- UB ---
  uint8_t* const ub;
  uint64_t UbOffset(const void* addr) const {
    return static_cast<uint64_t>(static_cast<const uint8_t*>(addr) - ub);
  }
  // [addr, addr + bytes) must lie inside the operand's buffer. role names the operand: "dst", "src0", ...
  void CheckUb(const Ub& operand, int64_t begin, int64_t end, const char* role);
  void CheckUbAlign(const Ub& operand, uint32_t align, const char* role);
  std::string DescribeBuffer(uint32_t buf) const;
  std::string BufferTable() const;
  const BufferInfo& Info(uint32_t buf) const;

  // --- GM ---
  const GmRegion& CheckGm(const void* addr, uint64_t bytes, bool write, const char* role);

  // --- state that instructions read ---
  std::vector<BufferInfo> buffers;  // [0] is unused: handle 0 is "none"
  std::vector<QueInfo> ques;        // likewise
  uint64_t ubUsed = 0;
  uint64_t ubPeak = 0;
  bool maskCounter = false;
  uint64_t maskBits[2] = {~0ull, ~0ull};
  std::array<std::array<uint8_t, 8>, 40> flags{};   // SetFlag minus WaitFlag
  std::array<std::array<bool, 8>, 40> allocated{};  // AllocEventID
  bool tilingKeyAsked = false;
  bool tilingKeyMatched = false;
  const char* instruction = "";  // the running one, for fault reports

  // Recording costs one branch when nobody listens.
  bool Observed() const { return !observers_.empty(); }
  void Emit(const Record& record);

 private:
  bool IsWritable(const uint8_t* begin, uint64_t bytes) const;

  const std::vector<Observer*>& observers_;
  size_t lastRegion_ = 0;
};

// Listens to every record of a launch; one instance per core, so it needs no locks.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void OnRecord(const Core& core, const Record& record) = 0;
};

}  // namespace aclsim
