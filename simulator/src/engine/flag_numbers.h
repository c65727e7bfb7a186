// SPDX-License-Identifier: Apache-2.0
// The numbers that pair sets of flags with their waits: events, mutexes, queue buffers, flags between cores.
#pragma once

#include <cstdint>
#include <string>

#include "engine/pipes.h"

namespace aclsim {

// Flags of mutexes come after those of events, and flags of queue buffers after them.
inline constexpr uint32_t kEventFlags = 40 * 8;
inline constexpr uint32_t kMutexIds = 32;
inline constexpr uint32_t kQueueFlags = kEventFlags + kMutexIds * kPipes;
// Those from here to their end are the unit flags of L0C: there are no events of such numbers.
inline constexpr uint32_t kUnitFlags = 35 * 8;
inline uint32_t EventFlag(uint8_t event, int32_t id) {
  return event * 8u + static_cast<uint32_t>(id);
}
// The flag that an Unlock sets for a pipe that may lock the mutex next.
inline uint32_t MutexFlag(uint32_t id, Pipe next) {
  return kEventFlags + id * static_cast<uint32_t>(kPipes) + static_cast<uint32_t>(next);
}
inline uint32_t EnQueFlag(uint32_t buffer) { return kQueueFlags + buffer * 2; }
inline uint32_t FreeFlag(uint32_t buffer) { return kQueueFlags + buffer * 2 + 1; }
// The wait that an instruction with a scalar result contains.
inline constexpr uint32_t kScalarFlag = UINT32_MAX;
// A flag between cores, as the set and the wait of one core.
inline constexpr uint32_t kCoreFlags = 0x40000000u;
inline uint32_t CoreFlag(uint16_t id) { return kCoreFlags + id; }
inline bool IsCoreFlag(uint32_t flag) { return (flag & ~0xFFFFu) == kCoreFlags; }
std::string FlagName(uint32_t flag);

}  // namespace aclsim
