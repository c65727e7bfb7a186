// SPDX-License-Identifier: Apache-2.0
// The mutexes of a core of Ascend 950, by which its pipes take turns.
#pragma once

#include <array>
#include <cstdint>

#include "engine/flag_numbers.h"
#include "engine/pipes.h"

namespace aclsim {

class Core;

struct Mutexes {
  struct One {
    bool locked = false;
    bool allocated = false;
    Pipe pipe = Pipe::kScalar;                // the pipe of the last Lock
    uint32_t site = 0;                        // where that Lock is, or the Unlock that followed
    std::array<uint32_t, kPipes> unlocked{};  // Unlocks that a pipe's next Lock waits for
    std::array<bool, kPipes> behind{};  // a pipe's next Lock has more to wait for than it was told
  };
  std::array<One, kMutexIds> each{};
};

// The kernel has ended: none may be locked.
void CheckMutexesUnlocked(Core& core);

}  // namespace aclsim
