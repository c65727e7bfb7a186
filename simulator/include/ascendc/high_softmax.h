// SPDX-License-Identifier: Apache-2.0
// High-level API: SoftMax, SimpleSoftMax, LogSoftMax, AdjustSoftMaxRes. One call is one step of the simulator, so how the
// tiling struct cuts the rows plays no part.
#pragma once

#include "ascendc/high_math.h"
#include "ascendc/softmax.h"
#include "kernel_tiling/softmax_split.h"

namespace AscendC {

enum class SoftmaxMode {
  SOFTMAX_NORMAL = 0,
  SOFTMAX_OUTPUT_WITHOUT_BRC = 1,
};
struct SoftmaxConfig {
  constexpr SoftmaxConfig(bool checkTiling) : isCheckTiling(checkTiling) {}
  constexpr SoftmaxConfig(bool checkTiling, uint32_t rows, uint32_t columns)
      : isCheckTiling(checkTiling), oriSrcM(rows), oriSrcK(columns) {}
  constexpr SoftmaxConfig(bool checkTiling, uint32_t rows, uint32_t columns, SoftmaxMode how)
      : isCheckTiling(checkTiling), oriSrcM(rows), oriSrcK(columns), mode(how) {}
  bool isCheckTiling = true;
  uint32_t oriSrcM = 0;
  uint32_t oriSrcK = 0;
  SoftmaxMode mode = SoftmaxMode::SOFTMAX_NORMAL;
};
constexpr SoftmaxConfig SOFTMAX_DEFAULT_CFG = {true, 0, 0, SoftmaxMode::SOFTMAX_NORMAL};

// Rows and columns of a tensor's shape, as the parts of softmax in CANN read them.
struct LastAxisShapeND {
  uint32_t m;
  uint32_t k;
};
namespace detail {

inline LastAxisShapeND LastAxisOf(const uint32_t* sizes, uint8_t dims, const char* name) {
  if (dims == 0 || sizes[dims - 1] == 0) {
    aclsim::AssertFail(name, __FILE__, __LINE__, "the tensor has a shape, SetShapeInfo");
  }
  uint32_t rows = 1;
  for (uint8_t i = 0; i + 1 < dims; ++i) {
    rows *= sizes[i];
  }
  return {rows, sizes[dims - 1]};
}

}  // namespace detail

inline LastAxisShapeND GetLastAxisShapeND(const ShapeInfo& shapeInfo) {
  return detail::LastAxisOf(shapeInfo.shape, shapeInfo.shapeDim, "GetLastAxisShapeND");
}
inline LastAxisShapeND GetLastAxisOriginShapeND(const ShapeInfo& srcShapeInfo) {
  return detail::LastAxisOf(srcShapeInfo.originalShape, srcShapeInfo.originalShapeDim,
                            "GetLastAxisOriginShapeND");
}

namespace detail {

// The shape: as given, else the one set on the source, else the tiling's.
template <typename T, typename Tiling>
aclsim::HighSoftmaxCall Softmax(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                                const Tiling& tiling, const SoftMaxShapeInfo& given,
                                const aclsim::HighWork& work = {}) {
  aclsim::HighSoftmaxCall call;
  call.dst = dst;
  call.src = src;
  call.statistics = false;
  call.work = work;
  const ShapeInfo shape = src.GetShapeInfo();
  if (given.srcM != 0 && given.srcK != 0) {
    call.rows = given.srcM;
    call.columns = given.srcK;
    call.summed = given.oriSrcK != 0 ? given.oriSrcK : given.srcK;
    return call;
  }
  if (shape.shapeDim != 0) {
    call.rows = 1;
    for (uint8_t i = 0; i + 1 < shape.shapeDim; ++i) {
      call.rows *= shape.shape[i];
    }
    call.columns = shape.shape[shape.shapeDim - 1];
    call.summed = shape.originalShape[shape.originalShapeDim - 1];
    return call;
  }
  call.rows = tiling.srcM;
  call.columns = call.summed = tiling.srcK;
  return call;
}
template <typename S>
aclsim::HighSoftmaxCall WithStatistics(aclsim::HighSoftmaxCall call, const LocalTensor<S>& sum,
                                       const LocalTensor<S>& max) {
  call.sum = sum;
  call.max = max;
  call.statistics = true;
  return call;
}

}  // namespace detail

#define ACLSIM_SOFTMAX_ND(Name) \
  static_assert(!isDataFormatNZ, Name ": the simulator has the ND format only")
#define ACLSIM_SOFTMAX_BLOCKS(Name)                         \
  static_assert(config.mode == SoftmaxMode::SOFTMAX_NORMAL, \
                Name ": the simulator has sums and maxima in blocks only")

template <typename T, bool isReuseSource = false, bool isBasicBlock = false,
          const SoftmaxConfig& config = SOFTMAX_DEFAULT_CFG>
void SoftMax(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor,
             const SoftMaxTiling& tiling, const SoftMaxShapeInfo& softmaxShapeInfo = {}) {
  aclsim::HighSoftmaxRows(aclsim::HighSoftmax::kSoftMax,
                          detail::Softmax(dstTensor, srcTensor, tiling, softmaxShapeInfo));
  ACLSIM_KEEP_FRAME();
}
template <typename T, bool isReuseSource = false, bool isBasicBlock = false,
          const SoftmaxConfig& config = SOFTMAX_DEFAULT_CFG>
void SoftMax(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor,
             const LocalTensor<uint8_t>& sharedTmpBuffer, const SoftMaxTiling& tiling,
             const SoftMaxShapeInfo& softmaxShapeInfo = {}) {
  aclsim::HighSoftmaxRows(aclsim::HighSoftmax::kSoftMax,
                          detail::Softmax(dstTensor, srcTensor, tiling, softmaxShapeInfo,
                                          detail::Work(sharedTmpBuffer)));
  ACLSIM_KEEP_FRAME();
}

// With sums and maxima in the type of the data, or in float next to half. SimpleSoftMax reads them.
#define ACLSIM_SOFTMAX(Name, op, Data, Statistic)                                                  \
  template <typename T, bool isReuseSource = false, bool isBasicBlock = false,                     \
            bool isDataFormatNZ = false, const SoftmaxConfig& config = SOFTMAX_DEFAULT_CFG>        \
  void Name(const LocalTensor<Data>& dstTensor, const LocalTensor<Statistic>& sumTensor,           \
            const LocalTensor<Statistic>& maxTensor, const LocalTensor<Data>& srcTensor,           \
            const SoftMaxTiling& tiling, const SoftMaxShapeInfo& softmaxShapeInfo = {}) {          \
    ACLSIM_SOFTMAX_ND(#Name);                                                                      \
    ACLSIM_SOFTMAX_BLOCKS(#Name);                                                                  \
    aclsim::HighSoftmaxRows(op, detail::WithStatistics(detail::Softmax(dstTensor, srcTensor,       \
                                                                       tiling, softmaxShapeInfo),  \
                                                       sumTensor, maxTensor));                     \
    ACLSIM_KEEP_FRAME();                                                                           \
  }                                                                                                \
  template <typename T, bool isReuseSource = false, bool isBasicBlock = false,                     \
            bool isDataFormatNZ = false, const SoftmaxConfig& config = SOFTMAX_DEFAULT_CFG>        \
  void Name(const LocalTensor<Data>& dstTensor, const LocalTensor<Statistic>& sumTensor,           \
            const LocalTensor<Statistic>& maxTensor, const LocalTensor<Data>& srcTensor,           \
            const LocalTensor<uint8_t>& sharedTmpBuffer, const SoftMaxTiling& tiling,              \
            const SoftMaxShapeInfo& softmaxShapeInfo = {}) {                                       \
    ACLSIM_SOFTMAX_ND(#Name);                                                                      \
    ACLSIM_SOFTMAX_BLOCKS(#Name);                                                                  \
    aclsim::HighSoftmaxRows(                                                                       \
        op, detail::WithStatistics(detail::Softmax(dstTensor, srcTensor, tiling, softmaxShapeInfo, \
                                                   detail::Work(sharedTmpBuffer)),                 \
                                   sumTensor, maxTensor));                                         \
    ACLSIM_KEEP_FRAME();                                                                           \
  }
ACLSIM_SOFTMAX(SoftMax, aclsim::HighSoftmax::kSoftMax, T, T)
ACLSIM_SOFTMAX(SoftMax, aclsim::HighSoftmax::kSoftMax, half, float)
ACLSIM_SOFTMAX(SimpleSoftMax, aclsim::HighSoftmax::kSimple, T, T)
ACLSIM_SOFTMAX(SimpleSoftMax, aclsim::HighSoftmax::kSimple, half, float)
#undef ACLSIM_SOFTMAX

namespace detail {
template <typename Data, typename Statistic>
aclsim::HighSoftmaxFlashCall Flash(const LocalTensor<Data>& dst, const LocalTensor<Statistic>& sum,
                                   const LocalTensor<Statistic>& max, const LocalTensor<Data>& src,
                                   const LocalTensor<Data>& expMax,
                                   const LocalTensor<Statistic>& inSum,
                                   const LocalTensor<Statistic>& inMax, const SoftMaxTiling& tiling,
                                   const SoftMaxShapeInfo& given, bool update) {
  const aclsim::HighSoftmaxCall shape = Softmax(dst, src, tiling, given);
  aclsim::HighSoftmaxFlashCall call;
  call.dst = dst;
  call.src = src;
  call.sum = sum;
  call.max = max;
  call.expMax = expMax;
  call.inSum = inSum;
  call.inMax = inMax;
  call.rows = shape.rows;
  call.columns = shape.columns;
  call.summed = shape.summed;
  call.update = update;
  return call;
}
inline aclsim::HighSoftmaxFlashCall Divided(aclsim::HighSoftmaxFlashCall call) {
  call.divide = true;
  return call;
}
template <const SoftmaxConfig& config>
aclsim::HighSoftmaxFlashCall Configured(aclsim::HighSoftmaxFlashCall call, bool basicBlock) {
  call.packed = config.mode == SoftmaxMode::SOFTMAX_OUTPUT_WITHOUT_BRC;
  call.basicBlock = basicBlock;
  return call;
}
inline aclsim::HighSoftmaxFlashCall Worked(aclsim::HighSoftmaxFlashCall call,
                                           const LocalTensor<uint8_t>& work) {
  call.work = Work(work);
  return call;
}
}  // namespace detail

// The tiling of a kernel that tiles itself.
constexpr SoftMaxTiling SoftMaxFlashV2TilingFunc(
    const SoftMaxShapeInfo& shapeInfo, uint32_t dataTypeSize1, uint32_t dataTypeSize2,
    uint32_t localWorkSpaceSize, bool /*isUpdate*/ = false, bool isBasicBlock = false,
    bool /*isDataFormatNZ*/ = false, bool isFlashOutputBrc = false) {
  const aclsim::SoftmaxRows rows{shapeInfo.srcM, shapeInfo.srcK, ONE_BLK_SIZE / dataTypeSize2};
  return aclsim::SplitFlashV2(rows, dataTypeSize1, dataTypeSize2, localWorkSpaceSize, isBasicBlock,
                              isFlashOutputBrc);
}

// Kernels call what implements it too, with the workspace in floats.
constexpr SoftMaxTiling SoftMaxFlashV2TilingFuncImpl(
    uint32_t srcM, uint32_t srcK, uint32_t dataTypeSize1, uint32_t dataTypeSize2,
    uint32_t localWorkSpaceSize, bool isUpdate = false, bool isBasicBlock = false,
    bool isDataFormatNZ = false, bool isFlashOutputBrc = false) {
  constexpr uint32_t kFloat = 4;
  return SoftMaxFlashV2TilingFunc({srcM, srcK, srcM, srcK}, dataTypeSize1, dataTypeSize2,
                                  localWorkSpaceSize * kFloat, isUpdate, isBasicBlock,
                                  isDataFormatNZ, isFlashOutputBrc);
}

// Softmax of rows that come in pieces.
#define ACLSIM_SOFTMAX_FLASH(Data, Statistic)                                                      \
  template <typename T, bool isReuseSource = false, bool isBasicBlock = false>                     \
  void SoftmaxFlash(const LocalTensor<Data>& dstTensor, const LocalTensor<Statistic>& sumTensor,   \
                    const LocalTensor<Statistic>& maxTensor, const LocalTensor<Data>& srcTensor,   \
                    const LocalTensor<Data>& expMaxTensor,                                         \
                    const LocalTensor<Statistic>& inSumTensor,                                     \
                    const LocalTensor<Statistic>& inMaxTensor, const SoftMaxTiling& tiling,        \
                    bool isUpdate = false, const SoftMaxShapeInfo& softmaxShapeInfo = {}) {        \
    aclsim::HighSoftmaxFlash(detail::Divided(                                                      \
        detail::Flash(dstTensor, sumTensor, maxTensor, srcTensor, expMaxTensor, inSumTensor,       \
                      inMaxTensor, tiling, softmaxShapeInfo, isUpdate)));                          \
    ACLSIM_KEEP_FRAME();                                                                           \
  }                                                                                                \
  template <typename T, bool isReuseSource = false, bool isBasicBlock = false>                     \
  void SoftmaxFlash(const LocalTensor<Data>& dstTensor, const LocalTensor<Statistic>& sumTensor,   \
                    const LocalTensor<Statistic>& maxTensor, const LocalTensor<Data>& srcTensor,   \
                    const LocalTensor<Data>& expMaxTensor,                                         \
                    const LocalTensor<Statistic>& inSumTensor,                                     \
                    const LocalTensor<Statistic>& inMaxTensor,                                     \
                    const LocalTensor<uint8_t>& sharedTmpBuffer, const SoftMaxTiling& tiling,      \
                    bool isUpdate = false, const SoftMaxShapeInfo& softmaxShapeInfo = {}) {        \
    aclsim::HighSoftmaxFlash(                                                                      \
        detail::Worked(detail::Divided(detail::Flash(dstTensor, sumTensor, maxTensor, srcTensor,   \
                                                     expMaxTensor, inSumTensor, inMaxTensor,       \
                                                     tiling, softmaxShapeInfo, isUpdate)),         \
                       sharedTmpBuffer));                                                          \
    ACLSIM_KEEP_FRAME();                                                                           \
  }                                                                                                \
  template <typename T, bool isUpdate = false, bool isReuseSource = false,                         \
            bool isBasicBlock = false, bool isDataFormatNZ = false,                                \
            const SoftmaxConfig& config = SOFTMAX_DEFAULT_CFG>                                     \
  void SoftmaxFlashV2(                                                                             \
      const LocalTensor<Data>& dstTensor, const LocalTensor<Statistic>& expSumTensor,              \
      const LocalTensor<Statistic>& maxTensor, const LocalTensor<Data>& srcTensor,                 \
      const LocalTensor<Data>& expMaxTensor, const LocalTensor<Statistic>& inExpSumTensor,         \
      const LocalTensor<Statistic>& inMaxTensor, const SoftMaxTiling& tiling,                      \
      const SoftMaxShapeInfo& softmaxShapeInfo = {}) {                                             \
    ACLSIM_SOFTMAX_ND("SoftmaxFlashV2");                                                           \
    aclsim::HighSoftmaxFlash(detail::Configured<config>(                                           \
        detail::Flash(dstTensor, expSumTensor, maxTensor, srcTensor, expMaxTensor, inExpSumTensor, \
                      inMaxTensor, tiling, softmaxShapeInfo, isUpdate),                            \
        isBasicBlock));                                                                            \
    ACLSIM_KEEP_FRAME();                                                                           \
  }                                                                                                \
  template <typename T, bool isUpdate = false, bool isReuseSource = false,                         \
            bool isBasicBlock = false, bool isDataFormatNZ = false,                                \
            const SoftmaxConfig& config = SOFTMAX_DEFAULT_CFG>                                     \
  void SoftmaxFlashV2(                                                                             \
      const LocalTensor<Data>& dstTensor, const LocalTensor<Statistic>& expSumTensor,              \
      const LocalTensor<Statistic>& maxTensor, const LocalTensor<Data>& srcTensor,                 \
      const LocalTensor<Data>& expMaxTensor, const LocalTensor<Statistic>& inExpSumTensor,         \
      const LocalTensor<Statistic>& inMaxTensor, const LocalTensor<uint8_t>& sharedTmpBuffer,      \
      const SoftMaxTiling& tiling, const SoftMaxShapeInfo& softmaxShapeInfo = {}) {                \
    ACLSIM_SOFTMAX_ND("SoftmaxFlashV2");                                                           \
    aclsim::HighSoftmaxFlash(detail::Worked(                                                       \
        detail::Configured<config>(                                                                \
            detail::Flash(dstTensor, expSumTensor, maxTensor, srcTensor, expMaxTensor,             \
                          inExpSumTensor, inMaxTensor, tiling, softmaxShapeInfo, isUpdate),        \
            isBasicBlock),                                                                         \
        sharedTmpBuffer));                                                                         \
    ACLSIM_KEEP_FRAME();                                                                           \
  }
ACLSIM_SOFTMAX_FLASH(T, T)
ACLSIM_SOFTMAX_FLASH(half, float)
#undef ACLSIM_SOFTMAX_FLASH

// The form that keeps the maxima of the piece as well. With another mode it does nothing, by its page.
template <typename T, bool isUpdate = false, bool isReuseSource = false, bool isBasicBlock = false,
          bool isDataFormatNZ = false, const SoftmaxConfig& config = SOFTMAX_DEFAULT_CFG>
void SoftmaxFlashV2(const LocalTensor<T>& dstTensor, const LocalTensor<T>& outReduceMax,
                    const LocalTensor<T>& outExpSum, const LocalTensor<T>& outMax,
                    const LocalTensor<T>& srcTensor, const LocalTensor<T>& outExpMax,
                    const LocalTensor<T>& inExpSum, const LocalTensor<T>& inMax,
                    const LocalTensor<uint8_t>& sharedTmpBuffer, const SoftMaxTiling& tiling,
                    const SoftMaxShapeInfo& softmaxShapeInfo = {}) {
  ACLSIM_SOFTMAX_ND("SoftmaxFlashV2");
  static_assert(config.mode == SoftmaxMode::SOFTMAX_OUTPUT_WITHOUT_BRC,
                "SoftmaxFlashV2 with outReduceMax takes SOFTMAX_OUTPUT_WITHOUT_BRC alone");
  aclsim::HighSoftmaxFlashCall call =
      detail::Configured<config>(detail::Flash(dstTensor, outExpSum, outMax, srcTensor, outExpMax,
                                               inExpSum, inMax, tiling, softmaxShapeInfo, isUpdate),
                                 isBasicBlock);
  call.reduceMax = outReduceMax;
  call.keepsReduceMax = isUpdate;
  aclsim::HighSoftmaxFlash(sharedTmpBuffer.GetSize() == 0 ? call
                                                          : detail::Worked(call, sharedTmpBuffer));
  ACLSIM_KEEP_FRAME();
}
template <typename T, bool isUpdate = false, bool isReuseSource = false, bool isBasicBlock = false,
          bool isDataFormatNZ = false, const SoftmaxConfig& config = SOFTMAX_DEFAULT_CFG>
void SoftmaxFlashV2(const LocalTensor<T>& dstTensor, const LocalTensor<T>& outReduceMax,
                    const LocalTensor<T>& outExpSum, const LocalTensor<T>& outMax,
                    const LocalTensor<T>& srcTensor, const LocalTensor<T>& outExpMax,
                    const LocalTensor<T>& inExpSum, const LocalTensor<T>& inMax,
                    const SoftMaxTiling& tiling, const SoftMaxShapeInfo& softmaxShapeInfo = {}) {
  SoftmaxFlashV2<T, isUpdate, isReuseSource, isBasicBlock, isDataFormatNZ, config>(
      dstTensor, outReduceMax, outExpSum, outMax, srcTensor, outExpMax, inExpSum, inMax,
      LocalTensor<uint8_t>(), tiling, softmaxShapeInfo);
}

// The logarithm is that to base 10, as documented.
template <typename T, bool isReuseSource = false, bool isDataFormatNZ = false>
void LogSoftMax(const LocalTensor<T>& dst, const LocalTensor<T>& sum, const LocalTensor<T>& max,
                const LocalTensor<T>& src, const LocalTensor<uint8_t>& sharedTmpBuffer,
                const LogSoftMaxTiling& tiling, const SoftMaxShapeInfo& softmaxShapeInfo = {}) {
  ACLSIM_SOFTMAX_ND("LogSoftMax");
  aclsim::HighSoftmaxRows(aclsim::HighSoftmax::kLog,
                          detail::WithStatistics(detail::Softmax(dst, src, tiling, softmaxShapeInfo,
                                                                 detail::Work(sharedTmpBuffer)),
                                                 sum, max));
  ACLSIM_KEEP_FRAME();
}

// Whole rows become `to` where the maximum is the number with the bits `from`.
template <typename T1, typename T2, bool isDataFormatNZ = false, uint8_t stepSizeMode = 0>
bool AdjustSoftMaxRes(const LocalTensor<T1>& softMaxRes, const LocalTensor<T2>& maxTensor,
                      const uint32_t from, const T1 to, const SoftMaxShapeInfo& softmaxShapeInfo) {
  ACLSIM_SOFTMAX_ND("AdjustSoftMaxRes");
  const bool found =
      aclsim::HighAdjustSoftmax(softMaxRes, maxTensor, from, detail::Scalar(to),
                                softmaxShapeInfo.srcM, softmaxShapeInfo.srcK, stepSizeMode != 0);
  ACLSIM_KEEP_FRAME();
  return found;
}

#undef ACLSIM_SOFTMAX_BLOCKS
#undef ACLSIM_SOFTMAX_ND

}  // namespace AscendC
