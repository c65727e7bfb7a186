// SPDX-License-Identifier: Apache-2.0
// TPosition as data: what kernels call it, which pipes stand at the ends of a queue there, and which memory it is.
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
  QueueEnds ofVector;
  Space space;  // on an AIC
  QueueEnds ofCube;
  Space coupled;  // on a core with both units
  QueueEnds ofCoupled;

  // A core without a matrix unit keeps all of them in UB.
  Space SpaceOn(CoreKind kind) const {
    return kind == CoreKind::kVector ? Space::kUb : kind == CoreKind::kCube ? space : coupled;
  }
  QueueEnds EndsOn(CoreKind kind) const {
    return kind == CoreKind::kVector ? ofVector : kind == CoreKind::kCube ? ofCube : ofCoupled;
  }
};
namespace ends {
inline constexpr QueueEnds kVectors = {Pipe::kVector, Pipe::kVector};
inline constexpr QueueEnds kToL0 = {Pipe::kMte2, Pipe::kMte1};
inline constexpr QueueEnds kToUnit = {Pipe::kMte1, Pipe::kCube};
inline constexpr QueueEnds kIn = {Pipe::kMte2, Pipe::kVector};
inline constexpr QueueEnds kOut = {Pipe::kVector, Pipe::kMte3};
inline constexpr QueueEnds kToFix = {Pipe::kMte1, Pipe::kFix};
}  // namespace ends
// In the order of TPosition. A tensor comes in by MTE2 and leaves by MTE3; what is neither belongs to the vector pipe. On an AIC the pipe that
// computes is the cube pipe, with MTE1 before and FIX behind it; on a coupled core the vector pipe takes the results.
inline constexpr std::array kPositions = {
    PositionFacts{
        "GM", ends::kVectors, Space::kUb, {Pipe::kMte2, Pipe::kMte3}, Space::kUb, ends::kVectors},
    PositionFacts{"A1", ends::kVectors, Space::kL1, ends::kToL0, Space::kL1, ends::kToL0},
    PositionFacts{"A2", ends::kVectors, Space::kL0a, ends::kToUnit, Space::kL0a, ends::kToUnit},
    PositionFacts{"B1", ends::kVectors, Space::kL1, ends::kToL0, Space::kL1, ends::kToL0},
    PositionFacts{"B2", ends::kVectors, Space::kL0b, ends::kToUnit, Space::kL0b, ends::kToUnit},
    PositionFacts{"C1", ends::kVectors, Space::kL1, ends::kToL0, Space::kUb, ends::kIn},
    PositionFacts{
        "C2", ends::kVectors, Space::kBt, ends::kToUnit, Space::kL0c, {Pipe::kVector, Pipe::kCube}},
    PositionFacts{"CO1",
                  ends::kVectors,
                  Space::kL0c,
                  {Pipe::kCube, Pipe::kFix},
                  Space::kL0c,
                  {Pipe::kCube, Pipe::kVector}},
    PositionFacts{
        "CO2", ends::kVectors, Space::kUb, {Pipe::kFix, Pipe::kMte2}, Space::kUb, ends::kOut},
    PositionFacts{"VECIN", ends::kIn, Space::kUb, ends::kIn, Space::kUb, ends::kIn},
    PositionFacts{"VECOUT", ends::kOut, Space::kUb, ends::kOut, Space::kUb, ends::kOut},
    PositionFacts{"VECCALC", ends::kVectors, Space::kUb, ends::kVectors, Space::kUb,
                  ends::kVectors},
    PositionFacts{"SPM", ends::kVectors, Space::kL1, ends::kToL0, Space::kL1, ends::kToL0},
    PositionFacts{
        "TSCM", ends::kVectors, Space::kL1, ends::kToL0, Space::kL1, {Pipe::kMte3, Pipe::kMte1}},
    PositionFacts{"C2PIPE2GM", ends::kVectors, Space::kFb, ends::kToFix, Space::kUb,
                  ends::kVectors},
    PositionFacts{"C2PIPE2LOCAL", ends::kVectors, Space::kFb, ends::kToFix, Space::kUb,
                  ends::kVectors},
};
static_assert(kPositions.size() == static_cast<size_t>(AscendC::TPosition::MAX));
static_assert(kPositions[static_cast<size_t>(AscendC::TPosition::VECIN)].ofVector.fills ==
              Pipe::kMte2);
static_assert(kPositions[static_cast<size_t>(AscendC::TPosition::VECOUT)].ofVector.takes ==
              Pipe::kMte3);

inline PositionFacts PositionOf(uint8_t pos) {
  constexpr PositionFacts kUnknown = {"?",        ends::kVectors, Space::kUb, ends::kVectors,
                                      Space::kUb, ends::kVectors};
  return pos < kPositions.size() ? kPositions[pos] : kUnknown;
}
inline const char* PositionName(uint8_t pos) { return PositionOf(pos).name; }

}  // namespace aclsim
