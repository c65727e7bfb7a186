// SPDX-License-Identifier: Apache-2.0
// Bytes of scratch that functions of the high-level API may use and must have. Included by tiling/high_level_api.h.
#pragma once

#include <cstdint>

#include "graph/tensor.h"
#include "graph/types.h"
#include "kernel_tiling/reduce_pattern.h"
#include "tiling/platform/platform_ascendc.h"

namespace AscendC {

using TensorShape = ge::Shape;
using TensorDataType = ge::DataType;

// Functions of elements: typeSize is that of an element, a reused source saves scratch where the function knows how. The factor
// says how many temporaries of the operand's size live at a time.
#define ACLSIM_SCRATCH_SIZES(X) \
  X(Log)                        \
  X(Log2)                       \
  X(Log10)                      \
  X(Floor)                      \
  X(Ceil)                       \
  X(Trunc)                      \
  X(Frac)                       \
  X(Fmod)                       \
  X(Sign)                       \
  X(Sin)                        \
  X(Cos)                        \
  X(Tan)                        \
  X(Asin)                       \
  X(Acos)                       \
  X(Atan)                       \
  X(Sinh)                       \
  X(Cosh)                       \
  X(Tanh)                       \
  X(Asinh)                      \
  X(Acosh)                      \
  X(Atanh)                      \
  X(Erf)                        \
  X(Erfc)                       \
  X(Lgamma)                     \
  X(Digamma)                    \
  X(Xor)                        \
  X(Clamp)                      \
  X(Axpy)                       \
  X(Sigmoid)                    \
  X(GeGLU)                      \
  X(ReGlu)
#define ACLSIM_DECLARE_SCRATCH_(Name)                                                             \
  void Get##Name##MaxMinTmpSize(const ge::Shape& srcShape, uint32_t typeSize, bool isReuseSource, \
                                uint32_t& maxValue, uint32_t& minValue);                          \
  void Get##Name##TmpBufferFactorSize(uint32_t typeSize, uint32_t& maxLiveNodeCount,              \
                                      uint32_t& extraBuf);
ACLSIM_SCRATCH_SIZES(ACLSIM_DECLARE_SCRATCH_)
#undef ACLSIM_DECLARE_SCRATCH_

bool GetExpMaxMinTmpSize(const ge::Shape& srcShape, uint32_t typeSize, bool isReuseSource,
                         uint32_t& maxValue, uint32_t& minValue);
void GetExpTmpBufferFactorSize(uint32_t typeSize, uint32_t& maxLiveNodeCount, uint32_t& extraBuf);
void GetRoundMaxMinTmpSize(const platform_ascendc::PlatformAscendC& ascendcPlatform,
                           const ge::Shape& srcShape, uint32_t typeSize, bool isReuseSource,
                           uint32_t& maxValue, uint32_t& minValue);
void GetRoundTmpBufferFactorSize(const platform_ascendc::PlatformAscendC& ascendcPlatform,
                                 uint32_t typeSize, uint32_t& maxLiveNodeCount, uint32_t& extraBuf);
// A shape of one element in one dimension is a scalar.
void GetPowerMaxMinTmpSize(const ge::Shape& srcShape1, const ge::Shape& srcShape2, bool typeIsInt,
                           uint32_t typeSize, bool isReuseSource, uint32_t& maxValue,
                           uint32_t& minValue);
void GetPowerTmpBufferFactorSize(bool baseIsTensor, bool expIsTensor, bool typeIsInt,
                                 uint32_t typeSize, uint32_t& maxLiveNodeCount, uint32_t& extraBuf);
uint32_t GetGeluMaxTmpSize(const ge::Shape& srcShape, uint32_t typeSize);
uint32_t GetGeluMinTmpSize(const ge::Shape& srcShape, uint32_t typeSize);
void GetGeluMaxMinTmpSize(const ge::Shape& srcShape, uint32_t typeSize, uint32_t& maxValue,
                          uint32_t& minValue);
void GetSwiGLUMaxMinTmpSize(const ge::Shape& srcShape, uint32_t typeSize, uint32_t& maxValue,
                            uint32_t& minValue, bool isReuseSource);
void GetSwiGLUTmpBufferFactorSize(uint32_t typeSize, uint32_t& maxLiveNodeCount,
                                  uint32_t& extraBuf);
void GetSiluTmpSize(const ge::Shape& srcShape, uint32_t typeSize, bool isReuseSource,
                    uint32_t& maxValue, uint32_t& minValue);
void GetSwishTmpSize(const ge::Shape& srcShape, uint32_t typeSize, bool isReuseSource,
                     uint32_t& maxValue, uint32_t& minValue);

void GetBroadCastMaxMinTmpSize(const platform_ascendc::PlatformAscendC& ascendcPlatform,
                               const ge::Shape& srcShape, const ge::Shape& dstShape,
                               uint32_t typeSize, bool isReuseSource, uint32_t& maxValue,
                               uint32_t& minValue);
uint32_t GetDropOutMaxTmpSize(const ge::Shape& srcShape, uint32_t typeSize, bool isReuseSource);
uint32_t GetDropOutMinTmpSize(const ge::Shape& srcShape, uint32_t typeSize, bool isReuseSource);
void GetDropOutMaxMinTmpSize(const ge::Shape& srcShape, uint32_t typeSize, bool isReuseSource,
                             uint32_t& maxValue, uint32_t& minValue);
// One of the sources is a scalar. SelectWithBytesMask is the older name.
#define ACLSIM_DECLARE_SELECT_SIZES_(Name)                                                   \
  uint32_t Get##Name##MaxTmpSize(const ge::Shape& src0Shape, const ge::Shape& src1Shape,     \
                                 uint32_t srcTypeSize, const ge::Shape& maskShape,           \
                                 uint32_t maskTypeSize, bool isReuseMask);                   \
  uint32_t Get##Name##MinTmpSize(const ge::Shape& src0Shape, const ge::Shape& src1Shape,     \
                                 uint32_t srcTypeSize, const ge::Shape& maskShape,           \
                                 uint32_t maskTypeSize, bool isReuseMask);                   \
  void Get##Name##MaxMinTmpSize(const ge::Shape& src0Shape, const ge::Shape& src1Shape,      \
                                uint32_t srcTypeSize, const ge::Shape& maskShape,            \
                                uint32_t maskTypeSize, bool isReuseMask, uint32_t& maxValue, \
                                uint32_t& minValue);
ACLSIM_DECLARE_SELECT_SIZES_(Select)
ACLSIM_DECLARE_SELECT_SIZES_(SelectWithBytesMask)
#undef ACLSIM_DECLARE_SELECT_SIZES_
void GetSumMaxMinTmpSize(uint32_t n, uint32_t typeSize, bool isReuseSource, uint32_t& maxSize,
                         uint32_t& minSize);
void GetMeanMaxMinTmpSize(uint32_t n, uint32_t srcTypeSize, uint32_t accTypeSize,
                          bool isReuseSource, uint32_t& maxSize, uint32_t& minSize);
void GetMeanTmpBufferFactorSize(uint32_t typeSize, uint32_t& maxLiveNodeCount,
                                uint32_t& extraBuffer);
void GetAscendQuantMaxMinTmpSize(const ge::Shape& srcShape, uint32_t typeSize, uint32_t& maxValue,
                                 uint32_t& minValue);
void GetAscendQuantTmpBufferFactorSize(uint32_t& maxLiveNodeCount, uint32_t& extraBuf);
void GetAscendDequantMaxMinTmpSize(const ge::Shape& srcShape, uint32_t typeSize, uint32_t& maxValue,
                                   uint32_t& minValue);
void GetAscendDequantTmpBufferFactorSize(const ge::Shape& srcShape, uint32_t& maxLiveNodeCount,
                                         uint32_t& extraBuf);
void GetAscendAntiQuantTmpBufferFactorSize(const ge::Shape& srcShape, const ge::Shape& scaleShape,
                                           bool isTranspose, ge::DataType inputDataType,
                                           ge::DataType outputDataType, uint32_t& maxLiveNodeCount,
                                           uint32_t& extraBuf);
void GetAscendAntiQuantMaxMinTmpSize(const ge::Shape& srcShape, const ge::Shape& scaleShape,
                                     bool isTranspose, ge::DataType inputDataType,
                                     ge::DataType outputDataType, uint32_t& maxValue,
                                     uint32_t& minValue);
void GetCumSumMaxMinTmpSize(const ge::Shape& srcShape, uint32_t typeSize, bool isLastAxis,
                            bool isReuseSource, uint32_t& maxValue, uint32_t& minValue);

void GetArithProgressionMaxMinTmpSize(uint32_t& maxValue, uint32_t& minValue);
void GetArangeMaxMinTmpSize(uint32_t& maxValue, uint32_t& minValue);
// Bytes of scratch of the device's Concat and Sort.
uint32_t GetConcatTmpSize(const platform_ascendc::PlatformAscendC& ascendcPlatform,
                          uint32_t elemCount, uint32_t dataTypeSize);
uint32_t GetSortTmpSize(const platform_ascendc::PlatformAscendC& ascendcPlatform,
                        uint32_t elemCount, uint32_t dataTypeSize);

// Architecture 2201 has AR and RA; with another pattern the values stay as they are.
#define ACLSIM_REDUCE_SIZES(X) \
  X(Sum)                       \
  X(Mean)                      \
  X(Max)                       \
  X(Min)                       \
  X(Prod)                      \
  X(Any)                       \
  X(All)
#define ACLSIM_DECLARE_REDUCE_(Name)                                                    \
  void GetReduce##Name##MaxMinTmpSize(const ge::Shape& srcShape, ge::DataType dataType, \
                                      ReducePattern pattern, bool isSrcInnerPad,        \
                                      bool isReuseSource, uint32_t& maxValue, uint32_t& minValue);
ACLSIM_REDUCE_SIZES(ACLSIM_DECLARE_REDUCE_)
#undef ACLSIM_DECLARE_REDUCE_

}  // namespace AscendC
