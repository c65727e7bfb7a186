// SPDX-License-Identifier: Apache-2.0
// This file has what the kernels need to know of an architecture: which instructions it has, and
// the sizes in which these count. (CANN, "Ascend C API": DataCopyPad, Brcb, WholeReduceSum,
// MicroAPI.)
#ifndef OP_KERNEL_COMMON_ARCH_H_
#define OP_KERNEL_COMMON_ARCH_H_

#include "common/sizes.h"
#include "common/tuning.h"
#include "kernel_operator.h"

// Ascend310P and Ascend910 copy whole blocks of 32 bytes only (no DataCopyPad) and have no Brcb: legacy.h.
#if defined(__CCE_AICORE__) && __CCE_AICORE__ < 220
#define OP_KERNEL_WHOLE_BLOCKS_ONLY 1
#else
#define OP_KERNEL_WHOLE_BLOCKS_ONLY 0
#endif
// Ascend910 has no WholeReduceSum and BlockReduceSum of fp32, and transposes 16-bit words only.
#if defined(__CCE_AICORE__) && __CCE_AICORE__ == 100
#define OP_KERNEL_NO_FLOAT_REDUCE 1
#else
#define OP_KERNEL_NO_FLOAT_REDUCE 0
#endif
// Ascend 950 has vector functions: instructions on registers between a load from UB and a store.
#if defined(__NPU_ARCH__) && __NPU_ARCH__ == 3510
#define OP_KERNEL_REGISTERS 1
#else
#define OP_KERNEL_REGISTERS 0
#endif

namespace common {

using AscendC::GlobalTensor;
using AscendC::LocalTensor;
using AscendC::PipeBarrier;
using AscendC::RoundMode;
using AscendC::TBuf;
using AscendC::TPipe;
using AscendC::TPosition;
using AscendC::TQue;

constexpr bool kWholeBlocksOnly = OP_KERNEL_WHOLE_BLOCKS_ONLY != 0;
constexpr bool kRegisters = OP_KERNEL_REGISTERS != 0;
// SoCs before 2201 have another name for rounding float to half to nearest even.
constexpr RoundMode kToNearestEven = kWholeBlocksOnly ? RoundMode::CAST_NONE : RoundMode::CAST_RINT;

constexpr uint32_t kMaxRepeatStride = 255;  // blocks from one repeat to the next

template <typename T>
constexpr uint32_t kBlockElements = kBlockBytes / sizeof(T);

// WholeBlocks rounds `length` elements up to whole blocks.
template <typename T>
__aicore__ inline uint32_t WholeBlocks(uint32_t length) {
  return AlignUp(length, kBlockElements<T>);
}

// Bits8 is for repeats and repeat strides, which have 8 bits. What a function does not bound
// itself, the tiling does; a debug build on the CPU stops where neither has.
__aicore__ inline uint8_t Bits8(uint32_t value) {
  ASCENDC_ASSERT((value <= kMaxRepeat), {
    KERNEL_LOG(KERNEL_ERROR, "%u does not fit the 8 bits of an instruction's repeat", value);
  });
  return static_cast<uint8_t>(value);
}

template <typename B>
__aicore__ inline uint64_t AddressOf(const LocalTensor<B>& tensor) {
  return reinterpret_cast<uint64_t>(tensor.GetPhyAddr());
}

}  // namespace common

#endif  // OP_KERNEL_COMMON_ARCH_H_
