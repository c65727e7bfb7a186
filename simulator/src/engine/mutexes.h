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
    Pipe pipe = Pipe::kScalar;                // of the last Lock
    uint32_t site = 0;                        // of it, or of the Unlock that followed
    std::array<uint32_t, kPipes> unlocked{};  // Unlocks that a pipe's next Lock waits for
    std::array<bool, kPipes> behind{};        // there were more of them
  };
  std::array<One, kMutexIds> each{};
};

// The kernel has ended: none may be locked.
void CheckMutexesUnlocked(Core& core);

}  // namespace aclsim
