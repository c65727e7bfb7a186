// SPDX-License-Identifier: Apache-2.0
// Functions of CANN's own implementation that kernels in use call by name.
#pragma once

#include "ascendc/cube.h"
#include "ascendc/intrinsics.h"
#include "ascendc/local_memory.h"
#include "ascendc/vec_reduce.h"
#include "ascendc/vec_registers.h"

// Instructions are in memory already.
#ifndef PRELOAD
#define PRELOAD(len) static_cast<void>(len)
#endif

// Copies tiling data within the core's own memory.
inline void copy_data_align64(uint8_t* to, const uint8_t* from, uint64_t bytes) {
  std::memcpy(to, from, bytes);
}

namespace AscendC {

template <typename... Arguments>
void InitDump(bool, Arguments...) {}  // dumps need no memory here

// Tells a checker of the device what a kernel may touch. Here every access is checked against the allocations.
template <typename T>
void OOMCheckAddrRange(__gm__ T*, uint64_t) {}

constexpr int8_t TWO_NUM = 2;
constexpr int32_t HALF_FACTOR = 2, DOUBLE_FACTOR = 2;
constexpr int32_t CUBE_MAX_SIZE = 256;
constexpr uint8_t B16_DATA_NUM_PER_BLOCK = 16, B32_DATA_NUM_PER_BLOCK = 8;
constexpr int32_t B16_DATA_NUM_PER_REPEAT = 128, B32_DATA_NUM_PER_REPEAT = 64;
constexpr uint32_t B64_DATA_NUM_PER_REPEAT = 32;
constexpr uint32_t HALF_REPEAT_SIZE = 128, FLOAT_REPEAT_SIZE = 64;
constexpr uint16_t SYNC_AIC_FLAG = 11;
constexpr uint16_t SYNC_AIV_FLAG = 12;
constexpr uint16_t SYNC_AIV_ONLY_ALL = 14;
constexpr uint32_t ONE_FOURTH_DEFAULT_REPEAT_STRIDE = DEFAULT_REPEAT_STRIDE / 4;
constexpr uint32_t RESERVED_WORKSPACE = 16 * 1024 * 1024;

// How softmax reduces rows, which kernels with a softmax of their own tell one another.
struct ReduceLastND {
  uint32_t originalSrcM, originalSrcK, srcM, srcK, dstM, dstK;
};

// Clears the comparison register, as the bit modes of DropOut<T, true> want it before.
template <typename T>
void DropOutBitModeInit(const LocalTensor<T>& sharedTmpBuffer) {
  constexpr int32_t kLanes = 128;
  const LocalTensor<int16_t> zeros = sharedTmpBuffer.template ReinterpretCast<int16_t>();
  Duplicate(zeros, int16_t{0}, kLanes);
  PipeBarrier<PIPE_V>();
  SetCmpMask(zeros);
  PipeBarrier<PIPE_V>();
}
inline void DropOutBitModeInit() {
  LocalTensor<int16_t> buffer;
  PopStackBuffer<int16_t, TPosition::LCM>(buffer);
  DropOutBitModeInit(buffer);
}

// In 16 bits, as CANN's: an operand of 65536 is 0.
inline uint16_t CeilDiv(uint16_t value, uint16_t divisor) {
  return static_cast<uint16_t>((value + divisor - 1) / divisor);
}
template <typename T>
constexpr T Align(T value, T to) {
  return static_cast<T>((value + to - 1) / to * to);
}
inline uint16_t CeilAlign(uint16_t value, uint16_t divisor) {
  return static_cast<uint16_t>(CeilDiv(value, divisor) * divisor);
}

template <typename T, bool isSetMask = true>
void RepeatReduceSum(const LocalTensor<T>& dst, const LocalTensor<T>& src, const int32_t repeatTime,
                     const int32_t mask, const int32_t, const int32_t srcBlkStride,
                     const int32_t dstRepStride, const int32_t srcRepStride) {
  WholeReduceSum<T, isSetMask>(dst, src, mask, repeatTime, dstRepStride, srcBlkStride,
                               srcRepStride);
}

// By the mask register.
#define ACLSIM_BLOCK_REDUCE(Name, op, ...)                                                     \
  template <typename T>                                                                        \
  void Name##IntrinsicsImpl(__ubuf__ T* dst, __ubuf__ T* src, const int32_t repeatTime,        \
                            const int32_t dstRepStride, const int32_t srcBlkStride,            \
                            const int32_t srcRepStride) {                                      \
    aclsim::VecBlockReduce(aclsim::ReduceOp::k##op, detail::At(dst), detail::At(src),          \
                           detail::Reduce(aclsim::MaskCtl(false, 0, repeatTime), dstRepStride, \
                                          srcBlkStride, srcRepStride));                        \
  }
#include "ascendc/instructions.def"

template <typename T, typename U>
void CastImpl(__ubuf__ T* dst, __ubuf__ U* src, const RoundMode& roundMode, const uint32_t count) {
  aclsim::VecCast(detail::At(dst), detail::At(src), static_cast<aclsim::Round>(roundMode),
                  aclsim::CountCtl(static_cast<int32_t>(count)));
}

template <typename T>
void DuplicateImpl(__ubuf__ T* dst, const T& scalarValue, const int32_t& count) {
  aclsim::VecDuplicate(detail::At(dst), detail::Scalar(scalarValue), aclsim::CountCtl(count));
}
template <typename T>
void DuplicateImpl(__ubuf__ T* dst, const T& scalarValue, uint64_t mask, const uint8_t repeatTime,
                   const uint16_t dstBlockStride, const uint8_t dstRepeatStride) {
  aclsim::VecDuplicate(detail::At(dst), detail::Scalar(scalarValue),
                       aclsim::Strided(aclsim::MaskCtl(true, mask, repeatTime), dstBlockStride, 1,
                                       1, dstRepeatStride, 8, 8));
}

// The matrix unit's take what their instructions take.
template <typename... Arguments>
void MmadImpl(const Arguments&... arguments) {
  Mmad(arguments...);
}
template <typename... Arguments>
void LoadDataImpl(const Arguments&... arguments) {
  LoadData(arguments...);
}
template <typename... Arguments>
void SetFixPipeConfigImpl(const Arguments&... arguments) {
  SetFixPipeConfig(arguments...);
}

}  // namespace AscendC
