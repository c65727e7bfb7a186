// SPDX-License-Identifier: Apache-2.0
// The event ids that queues hold. The toolkit's EnQue and FreeTensor take an id from TPipe and set its flag, DeQue and AllocTensor
// wait for it and give it back: a hand-written flag with the same id in between is set twice.
#pragma once

#include <array>
#include <cstdint>

namespace aclsim {

class Core;
enum class Pipe : uint8_t;
struct SyncEvent;

// An event id in the hands of a buffer.
struct HeldEvent {
  uint8_t event = 0;
  int8_t id = -1;     // none
  bool kept = false;  // in-place queues take theirs at InitBuffer and keep them
  uint32_t pipe = 0;  // the TPipe that it is from
};

struct QueueEvent {
  bool held = false;  // the id is a queue's
  bool up = false;    // its flag is set and not waited for
  uint32_t site = 0;  // of the call that set it
  const char* call = "";
};
using QueueEvents = std::array<std::array<QueueEvent, 8>, 40>;

// EnQue or FreeTensor at `site` sets the flag from one pipe to the other.
void RaiseQueueEvent(Core& core, HeldEvent* held, Pipe from, Pipe to, uint32_t site,
                     const char* call);
// DeQue or AllocTensor has waited for it.
void LowerQueueEvent(Core& core, HeldEvent* held);
// InitBuffer of an in-place queue; up: its flag is set at once.
void KeepQueueEvent(Core& core, HeldEvent* held, Pipe from, Pipe to, bool up);
// All ids of a TPipe are free and their flags down: its end.
void ForgetQueueEvents(Core& core, uint32_t pipe);
// A hand-written SetFlag or WaitFlag.
void CheckQueueEvents(Core& core, uint8_t event, int32_t id, const SyncEvent& sync);

}  // namespace aclsim
