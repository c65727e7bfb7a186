// SPDX-License-Identifier: Apache-2.0
// TPosition as data: what kernels call it, which pipes stand at the ends of a queue there, and on an AIC which memory it is.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "ascendc/types.h"
#include "engine/pipes.h"

namespace aclsim {

struct QueueEnds {
  Pipe fills;  // tensors that AllocTensor hands out there
  Pipe takes;  // those that DeQue hands out
};
struct PositionFacts {
  const char* name;
  Pipe fills, takes;  // on a core with a vector pipe
  Space space;        // on an AIC
  QueueEnds ofCube;

  // A core with a vector pipe keeps all of them in UB, as instructions of the matrix unit are not there yet.
  Space SpaceOn(CoreKind kind) const { return kind == CoreKind::kCube ? space : Space::kUb; }
  QueueEnds EndsOn(CoreKind kind) const {
    return kind == CoreKind::kCube ? ofCube : QueueEnds{fills, takes};
  }
};
// In the order of TPosition. A tensor comes in by MTE2 and leaves by MTE3; what is neither belongs to the vector pipe. On an AIC the pipe that
// computes is the cube pipe, with MTE1 before and FIX behind it.
inline constexpr std::array kPositions = {
    PositionFacts{"GM", Pipe::kVector, Pipe::kVector, Space::kUb, {Pipe::kMte2, Pipe::kMte3}},
    PositionFacts{"A1", Pipe::kVector, Pipe::kVector, Space::kL1, {Pipe::kMte2, Pipe::kMte1}},
    PositionFacts{"A2", Pipe::kVector, Pipe::kVector, Space::kL0a, {Pipe::kMte1, Pipe::kCube}},
    PositionFacts{"B1", Pipe::kVector, Pipe::kVector, Space::kL1, {Pipe::kMte2, Pipe::kMte1}},
    PositionFacts{"B2", Pipe::kVector, Pipe::kVector, Space::kL0b, {Pipe::kMte1, Pipe::kCube}},
    PositionFacts{"C1", Pipe::kVector, Pipe::kVector, Space::kL1, {Pipe::kMte2, Pipe::kMte1}},
    PositionFacts{"C2", Pipe::kVector, Pipe::kVector, Space::kBt, {Pipe::kMte1, Pipe::kCube}},
    PositionFacts{"CO1", Pipe::kVector, Pipe::kVector, Space::kL0c, {Pipe::kCube, Pipe::kFix}},
    PositionFacts{"CO2", Pipe::kVector, Pipe::kVector, Space::kUb, {Pipe::kFix, Pipe::kMte2}},
    PositionFacts{"VECIN", Pipe::kMte2, Pipe::kVector, Space::kUb, {Pipe::kMte2, Pipe::kVector}},
    PositionFacts{"VECOUT", Pipe::kVector, Pipe::kMte3, Space::kUb, {Pipe::kVector, Pipe::kMte3}},
    PositionFacts{
        "VECCALC", Pipe::kVector, Pipe::kVector, Space::kUb, {Pipe::kVector, Pipe::kVector}},
    PositionFacts{"SPM", Pipe::kVector, Pipe::kVector, Space::kL1, {Pipe::kMte2, Pipe::kMte1}},
    PositionFacts{"TSCM", Pipe::kVector, Pipe::kVector, Space::kL1, {Pipe::kMte2, Pipe::kMte1}},
    PositionFacts{"C2PIPE2GM", Pipe::kVector, Pipe::kVector, Space::kFb, {Pipe::kMte1, Pipe::kFix}},
    PositionFacts{
        "C2PIPE2LOCAL", Pipe::kVector, Pipe::kVector, Space::kFb, {Pipe::kMte1, Pipe::kFix}},
};
static_assert(kPositions.size() == static_cast<size_t>(AscendC::TPosition::MAX));
static_assert(kPositions[static_cast<size_t>(AscendC::TPosition::VECIN)].fills == Pipe::kMte2);
static_assert(kPositions[static_cast<size_t>(AscendC::TPosition::VECOUT)].takes == Pipe::kMte3);

inline PositionFacts PositionOf(uint8_t pos) {
  constexpr PositionFacts kUnknown = {
      "?", Pipe::kVector, Pipe::kVector, Space::kUb, {Pipe::kVector, Pipe::kVector}};
  return pos < kPositions.size() ? kPositions[pos] : kUnknown;
}
inline const char* PositionName(uint8_t pos) { return PositionOf(pos).name; }

}  // namespace aclsim
