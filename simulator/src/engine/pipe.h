// SPDX-License-Identifier: Apache-2.0
// Buffers, flags and the scalar pipe's part of a core share this header.
#pragma once

#include <optional>

#include "ascendc/types.h"
#include "engine/core.h"
#include "engine/flag_numbers.h"

namespace aclsim {

constexpr uint32_t kBlockBytes = 32;

// The pipes at both ends of a queue: who fills its tensors and who takes them.
struct QueuePipes {
  Pipe from, to;
};

// A queue whose tensors lie in L1, whatever they come from.
inline bool IsTscm(const QueInfo& que) {
  return que.dst == static_cast<uint8_t>(AscendC::TPosition::TSCM);
}
inline int32_t EventIds(const Core& core) { return core.soc.npuArch == 1001 ? 4 : 8; }
QueuePipes PipesOf(const Core& core, const QueInfo& que);
// The flags of a buffer's EnQue: one for each way that EnQue and DeQue may name. A tensor that comes in and goes out by one queue
// uses two, and the second set may run before the first wait.
inline uint32_t EnQueFlag(uint32_t buffer, const QueuePipes& way) {
  constexpr uint32_t kWays = 3;
  return EnQueFlag(buffer * kWays + (way.from != Pipe::kMte2 ? 0 : way.to != Pipe::kMte3 ? 1 : 2));
}
// Flags that will not be used again: their buffer is gone.
void ForgetFlags(Core& core, uint32_t buffer);
// The queue of a handle, which `call` wants.
QueInfo& Que(Core& core, uint32_t que, const char* call);
Buffer ToBuffer(Core& core, uint32_t buf);
// "MTE2_V": the name of a HardEvent.
const char* EventName(uint8_t event);
// The pipe of a PIPE_V and its kin; none: one that the core does not have.
std::optional<Pipe> OwnPipe(const Core& core, int32_t pipe);
// Hands a flag of a pipe to another one, or to itself, to the scheduler.
void OrderPipes(Core& core, SyncEvent event);
void OrderPipes(Core& core, SyncEvent::Kind kind, Pipe from, Pipe to, uint32_t flag);
// A flag of this event, or of any, that was set while it was set: where something comes of it, such as a wait that cannot pass.
void ReportSetTwice(Core& core, std::optional<uint8_t> event);
// No flag may be left set when the kernel ends.
void CheckFlagsDown(Core& core);
// Ids of AllocEventID that the kernel has kept.
void CheckEventsReleased(Core& core, uint32_t pipe);
// GmScalar, but for what a read gives: that is what the kernel finds there.
uint8_t* ReachGmScalar(const void* addr, uint64_t offsetBytes, uint32_t bytes, ScalarUse use);
// Atomic copies and the mask must be as the kernel found them.
void CheckModesOff(Core& core);
// A TILING_KEY_IS must have matched; asked after the kernel's last instruction.
void CheckTilingKey(const Core& core, const char* last);

}  // namespace aclsim
