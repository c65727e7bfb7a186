// SPDX-License-Identifier: Apache-2.0
// The pipes of a core as data. A further pipe is an enumerator and a row; what it runs says so by itself (Core::Issue).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "soc/soc.h"

namespace aclsim {

// Instructions of one pipe run in order; pipes run side by side unless a flag, queue or barrier orders them.
enum class Pipe : uint8_t { kScalar, kVector, kMte2, kMte3 };
inline constexpr size_t kPipes = 4;

struct PipeFacts {
  const char* name;  // in reports and traces
  const char* flag;  // in HardEvent::MTE2_V and PIPE_V
  // These kinds of cores have it, in the order of CoreKind.
  std::array<bool, 3> kinds;
};
inline constexpr std::array<PipeFacts, kPipes> kPipeFacts = {{
    {"SCALAR", "S", {true, true, true}},
    {"VECTOR", "V", {true, false, true}},
    {"MTE2", "MTE2", {true, true, true}},
    {"MTE3", "MTE3", {true, true, true}},
}};
// All but the scalar pipe, which issues to them.
inline constexpr std::array kIssuedPipes = {Pipe::kVector, Pipe::kMte2, Pipe::kMte3};
static_assert(kIssuedPipes.size() == kPipes - 1);

constexpr const PipeFacts& FactsOf(Pipe pipe) { return kPipeFacts[static_cast<size_t>(pipe)]; }
constexpr const char* PipeName(Pipe pipe) { return FactsOf(pipe).name; }

// The pipe of that name in flags; one that such a core does not have counts as the vector pipe.
constexpr Pipe PipeOfFlag(std::string_view flag, CoreKind kind) {
  for (size_t i = 0; i < kPipes; ++i) {
    if (kPipeFacts[i].flag == flag && kPipeFacts[i].kinds[static_cast<size_t>(kind)]) {
      return static_cast<Pipe>(i);
    }
  }
  return Pipe::kVector;
}

}  // namespace aclsim
