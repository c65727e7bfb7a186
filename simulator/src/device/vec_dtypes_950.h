// SPDX-License-Identifier: Apache-2.0
// Types that instructions on tensors have on Ascend 950, which computes them by registers. Other architectures have fewer.
#pragma once

#include <functional>

#include "ascendc/vec_arith.h"
#include "device/vec.h"

namespace aclsim {

inline bool Is950(const Core& core) { return core.soc.npuArch == 3510; }

// A fault where the instruction does not have the type in this form: some types have the count form only.
void RequireDType950(Core& core, DType dtype, const VecCtl& ctl);

// On n lanes; null where the types of other architectures are all that there are.
using LanesOf950 = std::function<void(uint8_t* to, const uint8_t* x, const uint8_t* y, size_t n)>;
LanesOf950 BinaryOf950(Op2 op, DType dtype);
LanesOf950 UnaryOf950(Op1 op, DType dtype);
LanesOf950 ScalarOf950(OpScalar op, DType dtype, ScalarValue scalar);

// Returns whether the conversion exists with this mode, and its lanes; false where the one of other architectures serves.
uint8_t CastModes950(DType from, DType to);
LanesOf950 CastOf950(DType from, DType to, Round round);
// As Cast of registers converts; false where the pair does not exist.
bool ConvertLanes(DType to, DType from, uint8_t* dst, const uint8_t* src, Round round,
                  bool saturate, size_t n);

}  // namespace aclsim
