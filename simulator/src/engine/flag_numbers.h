// SPDX-License-Identifier: Apache-2.0
// The numbers that pair sets of flags with their waits: events, queue buffers, flags between cores.
#pragma once

#include <cstdint>
#include <string>

namespace aclsim {

// Flags of queue buffers come after those of events.
inline constexpr uint32_t kEventFlags = 40 * 8;
// Those from here to their end are the unit flags of L0C: there are no events of such numbers.
inline constexpr uint32_t kUnitFlags = 35 * 8;
inline uint32_t EventFlag(uint8_t event, int32_t id) {
  return event * 8u + static_cast<uint32_t>(id);
}
inline uint32_t EnQueFlag(uint32_t buffer) { return kEventFlags + buffer * 2; }
inline uint32_t FreeFlag(uint32_t buffer) { return kEventFlags + buffer * 2 + 1; }
// The wait that an instruction with a scalar result contains.
inline constexpr uint32_t kScalarFlag = UINT32_MAX;
// A flag between cores, as the set and the wait of one core.
inline constexpr uint32_t kCoreFlags = 0x40000000u;
inline uint32_t CoreFlag(uint16_t id) { return kCoreFlags + id; }
inline bool IsCoreFlag(uint32_t flag) { return (flag & ~0xFFFFu) == kCoreFlags; }
std::string FlagName(uint32_t flag);

}  // namespace aclsim
