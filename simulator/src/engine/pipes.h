// SPDX-License-Identifier: Apache-2.0
// The pipes of a core as data. A further pipe is an enumerator and a row; what it runs says so by itself (Core::Issue).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "soc/soc.h"

namespace aclsim {

// Instructions of one pipe run in order; pipes run side by side unless a flag, queue or barrier orders them.
enum class Pipe : uint8_t { kScalar, kVector, kMte2, kMte3, kMte1, kCube, kFix };
inline constexpr size_t kPipes = 7;

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
    {"MTE1", "MTE1", {false, true, true}},
    {"CUBE", "M", {false, true, true}},
    {"FIXP", "FIX", {false, true, false}},
}};

constexpr const PipeFacts& FactsOf(Pipe pipe) { return kPipeFacts[static_cast<size_t>(pipe)]; }
constexpr const char* PipeName(Pipe pipe) { return FactsOf(pipe).name; }

constexpr bool HasPipe(CoreKind kind, Pipe pipe) {
  return FactsOf(pipe).kinds[static_cast<size_t>(kind)];
}
// Pipes from this number on are not of that kind.
constexpr size_t PipesEnd(CoreKind kind) {
  size_t end = kPipes;
  while (!HasPipe(kind, static_cast<Pipe>(end - 1))) {
    --end;
  }
  return end;
}
static_assert(PipesEnd(CoreKind::kVector) == 4 && PipesEnd(CoreKind::kCube) == 7);
static_assert(PipesEnd(CoreKind::kCoupled) == 6);
// All but the scalar pipe, which issues to them, in the order of a datum's way.
inline std::span<const Pipe> IssuedPipes(CoreKind kind) {
  static constexpr std::array kOfVector = {Pipe::kVector, Pipe::kMte2, Pipe::kMte3};
  static constexpr std::array kOfCube = {Pipe::kMte2, Pipe::kMte1, Pipe::kCube, Pipe::kFix,
                                         Pipe::kMte3};
  static constexpr std::array kOfCoupled = {Pipe::kMte2, Pipe::kMte1, Pipe::kCube, Pipe::kVector,
                                            Pipe::kMte3};
  return kind == CoreKind::kVector ? std::span<const Pipe>(kOfVector)
         : kind == CoreKind::kCube ? kOfCube
                                   : kOfCoupled;
}
// As bits, of those that such a core lacks.
constexpr uint8_t LackingPipes(CoreKind kind) {
  unsigned bits = 0;
  for (size_t i = 0; i < kPipes; ++i) {
    bits |= HasPipe(kind, static_cast<Pipe>(i)) ? 0 : 1u << i;
  }
  return static_cast<uint8_t>(bits);
}

// The pipe of that name in flags, where such a core has it.
constexpr std::optional<Pipe> PipeOfFlag(std::string_view flag, CoreKind kind) {
  for (size_t i = 0; i < kPipes; ++i) {
    if (kPipeFacts[i].flag == flag && kPipeFacts[i].kinds[static_cast<size_t>(kind)]) {
      return static_cast<Pipe>(i);
    }
  }
  return std::nullopt;
}

}  // namespace aclsim
