// SPDX-License-Identifier: Apache-2.0
// Instruction sets of the host. Some files are compiled once for each, and ACLSIM_LEVEL names the namespace. They hold plain loops
// only: library templates that the linker could merge across instruction sets must not be instantiated there.
#pragma once

#include <cstdint>

#ifndef ACLSIM_LEVEL
#define ACLSIM_LEVEL baseline
#endif

namespace aclsim {

enum class Level : uint8_t { kBaseline, kV3, kV4 };

// The highest one that this host can run and that the library was built for.
Level HostLevel();

// Function(), as it is in the namespace of that level.
#ifdef ACLSIM_X86_LEVELS
#define ACLSIM_OF_HOST(Table, Function)                  \
  namespace baseline {                                   \
  const Table& Function();                               \
  }                                                      \
  namespace v3 {                                         \
  const Table& Function();                               \
  }                                                      \
  namespace v4 {                                         \
  const Table& Function();                               \
  }                                                      \
  static const Table& OfHost() {                         \
    const Level level = HostLevel();                     \
    return level == Level::kV4   ? v4::Function()        \
           : level == Level::kV3 ? v3::Function()        \
                                 : baseline::Function(); \
  }
#else
#define ACLSIM_OF_HOST(Table, Function) \
  namespace baseline {                  \
  const Table& Function();              \
  }                                     \
  static const Table& OfHost() { return baseline::Function(); }
#endif

}  // namespace aclsim
