// SPDX-License-Identifier: Apache-2.0
// More of device_abi.h: instructions that leave or take something in registers, and the UB that is left.
#pragma once

#include "ascendc/device_abi.h"

namespace aclsim {

// The part of UB behind all buffers and before the compiler's reserve.
ACLSIM_DEVICE_API Buffer UbRest();

// --- the comparison register ----------------------------------------------------------------------------------------------
// One repeat; bits of lanes that do not work are 0.
ACLSIM_DEVICE_API void VecCompareRegister(Compare op, const Ub& src0, const Ub& src1,
                                          const VecCtl& ctl);
// Every repeat takes the same bits.
ACLSIM_DEVICE_API void VecSelectRegister(const Ub& dst, const Ub& src0, const Ub& src1,
                                         const VecCtl& ctl);
// Modes 1 and 2: the register holds the scalar, and src1 the bits; or it holds the bits' address in UB. The scalar pipe waits
// for it here.
ACLSIM_DEVICE_API void VecSelectDescribed(bool scalar, const Ub& dst, const Ub& src0,
                                          const void* src1, const VecCtl& ctl);
ACLSIM_DEVICE_API void LoadCmpMask(const Ub& src);
ACLSIM_DEVICE_API void StoreCmpMask(const Ub& dst);

// --- results and settings -------------------------------------------------------------------------------------------------
// Bits of the sum that the last ReduceSum left.
ACLSIM_DEVICE_API uint32_t ReducedSum();
// Bits of the value and of the index that the last ReduceMax or ReduceMin found.
ACLSIM_DEVICE_API void ReducedExtreme(uint32_t bits[2]);
ACLSIM_DEVICE_API void SetDequantScale(half scale);
ACLSIM_DEVICE_API void SetCopyPadValue(uint64_t bits);

// --- between cores --------------------------------------------------------------------------------------------------------
// The slot of a block and an event in gm; ub is scratch.
ACLSIM_DEVICE_API void BlockSet(const void* gm, const Ub& ub, int32_t block, int32_t event);
ACLSIM_DEVICE_API void BlockWait(const void* gm, const Ub& ub, int32_t block, int32_t event);
enum class Turn : uint8_t { kInit, kWait, kPass };
// gmBytes: of the workspace's GlobalTensor; 0: it was not told.
ACLSIM_DEVICE_API void BlockTurn(Turn turn, const void* gm, uint64_t gmBytes, const Ub& ub);
// Scalars past the data cache.
ACLSIM_DEVICE_API void BypassWrite(void* addr, const void* value, uint32_t bytes);
ACLSIM_DEVICE_API void BypassRead(const void* addr, void* value, uint32_t bytes);

// --- conversions ----------------------------------------------------------------------------------------------------------
// A binary instruction whose result is converted at once.
enum class BinaryCast : uint8_t { kAddRelu, kSubRelu, kMul, kAddDeqRelu };
ACLSIM_DEVICE_API void VecBinaryCast(BinaryCast op, const Ub& dst, const Ub& src0, const Ub& src1,
                                     const VecCtl& ctl);
// int4b_t, two to a byte: to half, or from it.
ACLSIM_DEVICE_API void VecCastFromInt4(const Ub& dst, const Ub& src, Round round,
                                       const VecCtl& ctl);
ACLSIM_DEVICE_API void VecCastToInt4(const Ub& dst, const Ub& src, Round round, const VecCtl& ctl);

}  // namespace aclsim
