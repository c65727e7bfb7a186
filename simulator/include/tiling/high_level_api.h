// SPDX-License-Identifier: Apache-2.0
// Tiling asks this header about the high-level API: bytes of scratch that a function may and must have, and the tiling structs of
// softmax. The sizes are those that CANN's public sources give for architecture 2201, as kernels lay out UB by them; the
// simulator's functions need less.
#pragma once

#include <cstdint>

#include "graph/tensor.h"
#include "kernel_tiling/kernel_tiling.h"
#include "kernel_tiling/topk_mode.h"
#include "register/tilingdata_base.h"
#include "tiling/high_level_sizes.h"

namespace optiling {

#define ACLSIM_HOST_FIELD_(type, name) TILING_DATA_FIELD_DEF(type, name);
#define ACLSIM_HOST_TILING_(Name, FIELDS) \
  BEGIN_TILING_DATA_DEF(Name)             \
  FIELDS(ACLSIM_HOST_FIELD_)              \
  END_TILING_DATA_DEF
ACLSIM_HOST_TILING_(SoftMaxTiling, ACLSIM_SOFTMAX_TILING);
ACLSIM_HOST_TILING_(LogSoftMaxTiling, ACLSIM_SOFTMAX_TILING);
ACLSIM_HOST_TILING_(LayerNormTiling, ACLSIM_LAYER_NORM_TILING);
ACLSIM_HOST_TILING_(LayerNormSeparateTiling, ACLSIM_LAYER_NORM_SEPARATE_TILING);
ACLSIM_HOST_TILING_(RmsNormTiling, ACLSIM_RMS_NORM_TILING);
ACLSIM_HOST_TILING_(GroupNormTiling, ACLSIM_GROUP_NORM_TILING);
ACLSIM_HOST_TILING_(BatchNormTiling, ACLSIM_BATCH_NORM_TILING);
ACLSIM_HOST_TILING_(TopkTiling, ACLSIM_TOPK_TILING);
#undef ACLSIM_HOST_TILING_
#undef ACLSIM_HOST_FIELD_

}  // namespace optiling

namespace AscendC {

uint32_t GetSoftMaxMaxTmpSize(const ge::Shape& srcShape, uint32_t dataTypeSize, bool isReuseSource);
uint32_t GetSoftMaxMinTmpSize(const ge::Shape& srcShape, uint32_t dataTypeSize, bool isReuseSource);
uint32_t GetSoftMaxGradMaxTmpSize(const ge::Shape& srcShape, uint32_t dataTypeSize, bool isFront,
                                  bool isReuseSource);
uint32_t GetSoftMaxGradMinTmpSize(const ge::Shape& srcShape, uint32_t dataTypeSize, bool isFront,
                                  bool isReuseSource);
void SoftMaxTilingFunc(const ge::Shape& srcShape, uint32_t dataTypeSize,
                       uint32_t localWorkSpaceSize, optiling::SoftMaxTiling& softmaxTiling);
void SoftMaxTilingFunc(const ge::Shape& srcShape, uint32_t dataTypeSize,
                       uint32_t localWorkSpaceSize, ::SoftMaxTiling& softmaxTiling);
void SoftMaxGradTilingFunc(const ge::Shape& srcShape, uint32_t dataTypeSize,
                           uint32_t localWorkSpaceSize, optiling::SoftMaxTiling& softmaxGradTiling,
                           bool isFront = false);
void SoftMaxGradTilingFunc(const ge::Shape& srcShape, uint32_t dataTypeSize,
                           uint32_t localWorkSpaceSize, ::SoftMaxTiling& softmaxGradTiling,
                           bool isFront = false);

uint32_t GetSoftMaxFlashMaxTmpSize(const ge::Shape& srcShape, uint32_t dataTypeSize, bool isUpdate,
                                   bool isReuseSource);
uint32_t GetSoftMaxFlashMinTmpSize(const ge::Shape& srcShape, uint32_t dataTypeSize, bool isUpdate,
                                   bool isReuseSource);
uint32_t GetSoftMaxFlashV2MaxTmpSize(const ge::Shape& srcShape, uint32_t dataTypeSize1,
                                     uint32_t dataTypeSize2, bool isUpdate,
                                     bool isBasicBlock = false, bool isFlashOutputBrc = false);
uint32_t GetSoftMaxFlashV2MinTmpSize(const ge::Shape& srcShape, uint32_t dataTypeSize1,
                                     uint32_t dataTypeSize2, bool isUpdate,
                                     bool isBasicBlock = false, bool isFlashOutputBrc = false);
#define ACLSIM_FLASH_TILING_(scope)                                                             \
  void SoftMaxFlashTilingFunc(const ge::Shape& srcShape, uint32_t dataTypeSize,                 \
                              uint32_t localWorkSpaceSize,                                      \
                              scope::SoftMaxTiling& softmaxFlashTiling, bool isUpdate = false); \
  void SoftMaxFlashV2TilingFunc(const ge::Shape& srcShape, uint32_t dataTypeSize1,              \
                                uint32_t dataTypeSize2, uint32_t localWorkSpaceSize,            \
                                scope::SoftMaxTiling& softmaxFlashTiling, bool isUpdate,        \
                                bool isBasicBlock = false, bool isFlashOutputBrc = false);      \
  bool IsBasicBlockInSoftMax(scope::SoftMaxTiling& tiling, uint32_t dataTypeSize = 2);
ACLSIM_FLASH_TILING_(optiling)
ACLSIM_FLASH_TILING_(AscendC::tiling)
#undef ACLSIM_FLASH_TILING_

uint32_t GetLogSoftMaxMaxTmpSize(const ge::Shape& srcShape, uint32_t dataTypeSize,
                                 bool isReuseSource);
uint32_t GetLogSoftMaxMinTmpSize(const ge::Shape& srcShape, uint32_t dataTypeSize,
                                 bool isReuseSource);
void LogSoftMaxTilingFunc(const ge::Shape& srcShape, uint32_t dataTypeSize,
                          uint32_t localWorkSpaceSize, optiling::LogSoftMaxTiling& softmaxTiling);
void LogSoftMaxTilingFunc(const ge::Shape& srcShape, uint32_t dataTypeSize,
                          uint32_t localWorkSpaceSize, ::LogSoftMaxTiling& softmaxTiling);

// Normalisation. Shapes: [B, S, H, H before padding] or [A, R] of LayerNorm, [B, S, H] of RmsNorm and BatchNorm, [N, C, H, W].
void GetLayerNormMaxMinTmpSize(const ge::Shape& srcShape, uint32_t typeSize, bool isReuseSource,
                               uint32_t& maxValue, uint32_t& minValue);
void GetLayerNormMaxMinTmpSize(const ge::Shape& srcShape, uint32_t typeSize, bool isReuseSource,
                               bool isComputeRstd, bool isOnlyOutput, uint32_t& maxValue,
                               uint32_t& minValue);
void GetNormalizeMaxMinTmpSize(const ge::Shape& srcShape, uint32_t typeSizeU, uint32_t typeSizeT,
                               bool isReuseSource, bool isComputeRstd, bool isOnlyOutput,
                               uint32_t& maxValue, uint32_t& minValue);
void GetWelfordUpdateMaxMinTmpSize(const ge::Shape& srcShape, uint32_t typeSizeT,
                                   uint32_t typeSizeU, bool isReuseSource, bool isInplace,
                                   uint32_t& maxValue, uint32_t& minValue);
void GetWelfordFinalizeMaxMinTmpSize(const ge::Shape& srcShape, uint32_t typeSize,
                                     bool isReuseSource, uint32_t& maxValue, uint32_t& minValue);
bool GetRmsNormMaxMinTmpSize(const ge::Shape& srcShape, uint32_t typeSize, uint32_t& maxValue,
                             uint32_t& minValue, bool isBasicBlock = false);
void GetGroupNormMaxMinTmpSize(const ge::Shape& srcShape, uint32_t typeSize, bool isReuseSource,
                               uint32_t groupNum, uint32_t& maxValue, uint32_t& minValue);
bool GetBatchNormMaxMinTmpSize(const ge::Shape& srcShape, const ge::Shape& originSrcShape,
                               uint32_t typeSize, bool isReuseSource, uint32_t& maxValue,
                               uint32_t& minValue, bool isBasicBlock = false);
#define ACLSIM_NORM_TILING_(scope)                                                          \
  void GetLayerNormNDTilingInfo(const ge::Shape& srcShape, uint32_t stackBufferSize,        \
                                uint32_t typeSize, bool isReuseSource,                      \
                                scope::LayerNormTiling& tiling);                            \
  void GetLayerNormNDTilingInfo(const ge::Shape& srcShape, uint32_t stackBufferSize,        \
                                uint32_t typeSize, bool isReuseSource, bool isComputeRstd,  \
                                scope::LayerNormSeparateTiling& tiling);                    \
  bool GetRmsNormTilingInfo(const ge::Shape& srcShape, const ge::Shape& originSrcShape,     \
                            uint32_t stackBufferByteSize, uint32_t typeSize,                \
                            scope::RmsNormTiling& tiling, bool isBasicBlock = false);       \
  void GetGroupNormNDTilingInfo(const ge::Shape& srcShape, uint32_t stackBufferSize,        \
                                uint32_t typeSize, bool isReuseSource, uint32_t groupNum,   \
                                scope::GroupNormTiling& tiling);                            \
  bool GetBatchNormNDTilingInfo(const ge::Shape& srcShape, const ge::Shape& originSrcShape, \
                                uint32_t stackBufferByteSize, uint32_t typeSize,            \
                                bool isReuseSource, scope::BatchNormTiling& tilling,        \
                                bool isBasicBlock = false);
ACLSIM_NORM_TILING_(optiling)
ACLSIM_NORM_TILING_(AscendC::tiling)
#undef ACLSIM_NORM_TILING_
bool GetTopKMaxMinTmpSize(const platform_ascendc::PlatformAscendC& ascendcPlatform, int32_t inner,
                          int32_t outter, bool isReuseSource, bool isInitIndex, TopKMode mode,
                          bool isLargest, uint32_t dataTypeSize, uint32_t& maxValue,
                          uint32_t& minValue);
// Sizes and the padded k; what CANN's kernel needs for its merges stays 0, as the simulator's has none.
bool TopKTilingFunc(const platform_ascendc::PlatformAscendC& ascendcPlatform, int32_t inner,
                    int32_t outter, int32_t k, uint32_t dataTypeSize, bool isInitIndex,
                    TopKMode mode, bool isLargest, optiling::TopkTiling& topKTiling);
bool TopKTilingFunc(const platform_ascendc::PlatformAscendC& ascendcPlatform, int32_t inner,
                    int32_t outter, int32_t k, uint32_t dataTypeSize, bool isInitIndex,
                    TopKMode mode, bool isLargest, ::TopkTiling& topKTiling);

// The older spelling.
inline void GetLayerNormNDTillingInfo(const ge::Shape& srcShape, uint32_t stackBufferSize,
                                      uint32_t typeSize, bool isReuseSource,
                                      optiling::LayerNormTiling& tilling) {
  GetLayerNormNDTilingInfo(srcShape, stackBufferSize, typeSize, isReuseSource, tilling);
}

}  // namespace AscendC
