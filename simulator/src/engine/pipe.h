// SPDX-License-Identifier: Apache-2.0
// What buffers, flags and the scalar pipe's part of a core share.
#pragma once

#include "engine/core.h"

namespace aclsim {

constexpr uint32_t kBlockBytes = 32;

// The pipes at both ends of a queue: who fills its tensors and who takes them.
struct QueuePipes {
  Pipe from, to;
};

inline int32_t EventIds(const Core& core) { return core.soc.npuArch == 1001 ? 4 : 8; }
QueuePipes PipesOf(const QueInfo& que);
// The queue of a handle, which `call` wants.
QueInfo& Que(Core& core, uint32_t que, const char* call);
Buffer ToBuffer(Core& core, uint32_t buf);
// "MTE2_V": the name of a HardEvent.
const char* EventName(uint8_t event);
// Hands a flag of a pipe to another one, or to itself, to the scheduler.
void OrderPipes(Core& core, SyncEvent event);
void OrderPipes(Core& core, SyncEvent::Kind kind, Pipe from, Pipe to, uint32_t flag);
// That no flag is left set when the kernel ends.
void CheckFlagsDown(Core& core);
// Ids of AllocEventID that the kernel has kept.
void CheckEventsReleased(Core& core, uint32_t pipe);
// GmScalar, but for what a read gives: that is what the kernel finds there.
uint8_t* ReachGmScalar(const void* addr, uint64_t offsetBytes, uint32_t bytes, ScalarUse use);
// That atomic copies and the mask are as the kernel found them.
void CheckModesOff(Core& core);
// That a TILING_KEY_IS has matched, after the kernel's last instruction.
void CheckTilingKey(const Core& core, const char* last);

}  // namespace aclsim
