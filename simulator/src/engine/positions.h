// SPDX-License-Identifier: Apache-2.0
// TPosition as data: what kernels call it, and which pipes stand at the ends of a queue there.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "ascendc/types.h"
#include "engine/pipes.h"

namespace aclsim {

struct PositionFacts {
  const char* name;
  Pipe fills;  // tensors that AllocTensor hands out there
  Pipe takes;  // those that DeQue hands out
};
// In the order of TPosition. A tensor comes in by MTE2 and leaves by MTE3; what is neither belongs to the vector pipe.
inline constexpr std::array kPositions = {
    PositionFacts{"GM", Pipe::kVector, Pipe::kVector},
    PositionFacts{"A1", Pipe::kVector, Pipe::kVector},
    PositionFacts{"A2", Pipe::kVector, Pipe::kVector},
    PositionFacts{"B1", Pipe::kVector, Pipe::kVector},
    PositionFacts{"B2", Pipe::kVector, Pipe::kVector},
    PositionFacts{"C1", Pipe::kVector, Pipe::kVector},
    PositionFacts{"C2", Pipe::kVector, Pipe::kVector},
    PositionFacts{"CO1", Pipe::kVector, Pipe::kVector},
    PositionFacts{"CO2", Pipe::kVector, Pipe::kVector},
    PositionFacts{"VECIN", Pipe::kMte2, Pipe::kVector},
    PositionFacts{"VECOUT", Pipe::kVector, Pipe::kMte3},
    PositionFacts{"VECCALC", Pipe::kVector, Pipe::kVector},
    PositionFacts{"SPM", Pipe::kVector, Pipe::kVector},
    PositionFacts{"TSCM", Pipe::kVector, Pipe::kVector},
    PositionFacts{"C2PIPE2GM", Pipe::kVector, Pipe::kVector},
    PositionFacts{"C2PIPE2LOCAL", Pipe::kVector, Pipe::kVector},
};
static_assert(kPositions.size() == static_cast<size_t>(AscendC::TPosition::MAX));
static_assert(kPositions[static_cast<size_t>(AscendC::TPosition::VECIN)].fills == Pipe::kMte2);
static_assert(kPositions[static_cast<size_t>(AscendC::TPosition::VECOUT)].takes == Pipe::kMte3);

inline PositionFacts PositionOf(uint8_t pos) {
  return pos < kPositions.size() ? kPositions[pos]
                                 : PositionFacts{"?", Pipe::kVector, Pipe::kVector};
}
inline const char* PositionName(uint8_t pos) { return PositionOf(pos).name; }

}  // namespace aclsim
