// SPDX-License-Identifier: Apache-2.0
// Instructions of the matrix unit share this: fractals, checks of operands and fields, the shadow of GM.
#pragma once

#include <cstring>

#include "ascendc/cube_abi.h"
#include "engine/core.h"
#include "engine/dtypes.h"
#include "engine/fractal_origins.h"
#include "engine/gm_shadow.h"

namespace aclsim {

// A fractal (kFractal bytes) of L0A, L0B and L1 has 16 rows of 32 bytes, one of L0C 16 rows of 16 elements.
constexpr uint64_t kFractalRows = 16;
constexpr uint64_t kCubeBlock = 32;
constexpr uint64_t kFractalIndex = 128;  // bytes of a fractal's index: two bits for each element
constexpr uint64_t kAccumulator = 4;     // bytes of an element of L0C

constexpr uint64_t CeilDiv(uint64_t value, uint64_t by) { return (value + by - 1) / by; }
constexpr uint64_t RoundTo(uint64_t value, uint64_t to) { return CeilDiv(value, to) * to; }
inline int32_t BlocksOf(uint64_t bytes) { return static_cast<int32_t>(CeilDiv(bytes, kCubeBlock)); }
// Columns of a fractal, of elements of so many bits.
constexpr uint64_t ColumnsOf(uint8_t bits) { return kCubeBlock * 8 / bits; }

constexpr const char* kFewerBits = "Hardware keeps the low bits: another move.";
inline int64_t Signed(uint64_t value) { return static_cast<int64_t>(value); }
inline void MarkNothing(Core& core, const Ub& dst, const char* field) { core.MarkIdle(dst, field); }

// Cores with a matrix unit run them; elsewhere they do not exist.
void CheckIsCube(const Core& core);
// Faults unless the SoC's matrix unit has the instruction, by the name of one or of a form of it.
void CheckThere(const Core& core, const char* name);
// Faults unless the SoC has copies from one memory to another.
void CheckWay(const Core& core, Space from, Space to);
// The operand lies in one of the spaces, on a multiple of `align`.
void CheckOperandIn(Core& core, const Ub& operand, std::initializer_list<Space> spaces,
                    uint32_t align, const char* role);
// A result in L0C. Kernels in use leave the tensor of their only one without a buffer: its address is 0 then, which faults that do not
// end the core go on with.
Ub AccumulatorOf(Core& core, const Ub& operand);
// how: where faults do not end the core it is done, and this says how; null: it is left out.
void CheckRange(const char* field, uint64_t value, uint64_t least, uint64_t most, const char* why,
                const char* how = nullptr);
// Returns where in the image the scales of an operand in L0A or L0B lie: at a sixteenth of its address in a memory of their own.
uint64_t ScalesOf(const Core& core, const Ub& operand);
// Returns where in the image the index of an operand in L0B lies: at a quarter of its address in a memory of its own.
uint64_t IndexOf(const Core& core, const Ub& operand);
[[noreturn]] void ThrowNotSimulated(const std::string& what);

// `count` blocks of len bytes, `step` apart, of an operand.
Access PartOf(const Core& core, const Ub& operand, Use use, uint64_t offset, uint64_t len,
              uint64_t count, uint64_t step);

// Bytes of GM into an image, or their shadow where the image is that of the undefined-value check.
using LoadGm = void (*)(const void* gm, uint64_t bytes, uint8_t* to);
inline void PlainLoad(const void* from, uint64_t bytes, uint8_t* to) {
  std::memcpy(to, from, bytes);
}
inline LoadGm LoaderOf(const uint8_t* image, const uint8_t* own) {
  return image == own ? PlainLoad : LoadGmShadow;
}

// An atomic operation that is on must be able to work on what is copied.
void CheckAtomic(Core& core, uint64_t len, DType copied);

}  // namespace aclsim
