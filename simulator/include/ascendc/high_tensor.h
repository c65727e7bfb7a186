// SPDX-License-Identifier: Apache-2.0
// High-level API on whole matrices: Broadcast, Sum, Mean, the reductions with a pattern, CumSum.
#pragma once

#include "ascendc/high_math.h"
#include "ascendc/vec_reduce.h"
#include "kernel_tiling/kernel_tiling.h"
#include "kernel_tiling/topk_mode.h"

namespace AscendC {

// Spreads a row (axis 0) or a column (axis 1). BroadCast is the older name.
template <typename T, int32_t dim, int32_t axis, bool isReuseSource = false>
void BroadCast(const LocalTensor<T>& dstLocal, const LocalTensor<T>& srcLocal,
               const uint32_t dstShape[dim], const uint32_t srcShape[dim],
               LocalTensor<uint8_t>& sharedTmpBuffer) {
  static_assert(dim == 1 || dim == 2, "Broadcast: one or two dimensions");
  static_assert(axis == 0 || axis == 1, "Broadcast: axis 0 or 1");
  aclsim::HighBroadcast(dstLocal, srcLocal, dstShape, srcShape, dim, axis,
                        detail::Work(sharedTmpBuffer));
  ACLSIM_KEEP_FRAME();
}
template <typename T, int32_t dim, int32_t axis, bool isReuseSource = false>
void BroadCast(const LocalTensor<T>& dstLocal, const LocalTensor<T>& srcLocal,
               const uint32_t dstShape[dim], const uint32_t srcShape[dim]) {
  static_assert(dim == 1 || dim == 2, "Broadcast: one or two dimensions");
  static_assert(axis == 0 || axis == 1, "Broadcast: axis 0 or 1");
  aclsim::HighBroadcast(dstLocal, srcLocal, dstShape, srcShape, dim, axis, {});
  ACLSIM_KEEP_FRAME();
}
template <typename T, int32_t dim, int32_t axis, bool isReuseSource = false>
void Broadcast(const LocalTensor<T>& dstLocal, const LocalTensor<T>& srcLocal,
               const uint32_t dstShape[dim], const uint32_t srcShape[dim],
               LocalTensor<uint8_t>& sharedTmpBuffer) {
  BroadCast<T, dim, axis, isReuseSource>(dstLocal, srcLocal, dstShape, srcShape, sharedTmpBuffer);
  ACLSIM_KEEP_FRAME();
}
template <typename T, int32_t dim, int32_t axis, bool isReuseSource = false>
void Broadcast(const LocalTensor<T>& dstLocal, const LocalTensor<T>& srcLocal,
               const uint32_t dstShape[dim], const uint32_t srcShape[dim]) {
  BroadCast<T, dim, axis, isReuseSource>(dstLocal, srcLocal, dstShape, srcShape);
  ACLSIM_KEEP_FRAME();
}

// Rows of `inner` elements, of which the first n count; inner fills whole 32-byte blocks.
struct SumParams {
  uint32_t outter = 1;
  uint32_t inner;
  uint32_t n;
};
struct MeanParams {
  uint32_t outter = 1;
  uint32_t inner;
  uint32_t n;
};

namespace detail {
template <typename T, typename Params>
aclsim::HighReduceCall RowReduce(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                                 const Params& params, const aclsim::HighWork& work = {}) {
  aclsim::HighReduceCall call;
  call.dst = dst;
  call.src = src;
  call.work = work;
  call.rows = params.outter;
  call.columns = params.n;
  call.step = params.inner;
  return call;
}
}  // namespace detail

template <typename T, int32_t reduceDim = -1, bool isReuseSource = false, bool isBasicBlock = false>
void Sum(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor,
         const LocalTensor<uint8_t>& sharedTmpBuffer, const SumParams& sumParams) {
  aclsim::HighReduce(
      aclsim::HighReduction::kRowSum,
      detail::RowReduce(dstTensor, srcTensor, sumParams, detail::Work(sharedTmpBuffer)));
  ACLSIM_KEEP_FRAME();
}
template <typename T, int32_t reduceDim = -1, bool isReuseSource = false, bool isBasicBlock = false>
void Sum(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor,
         const SumParams& sumParams) {
  aclsim::HighReduce(aclsim::HighReduction::kRowSum,
                     detail::RowReduce(dstTensor, srcTensor, sumParams));
  ACLSIM_KEEP_FRAME();
}
// accType: the type to add in.
template <typename T, typename accType = T, bool isReuseSource = false, bool isBasicBlock = false,
          int32_t reduceDim = -1>
void Mean(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor,
          const LocalTensor<uint8_t>& sharedTmpBuffer, const MeanParams& meanParams) {
  auto call = detail::RowReduce(dstTensor, srcTensor, meanParams, detail::Work(sharedTmpBuffer));
  call.wide = sizeof(accType) > sizeof(T);
  aclsim::HighReduce(aclsim::HighReduction::kRowMean, call);
  ACLSIM_KEEP_FRAME();
}
template <typename T, typename accType = T, bool isReuseSource = false, bool isBasicBlock = false,
          int32_t reduceDim = -1>
void Mean(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor,
          const MeanParams& meanParams) {
  auto call = detail::RowReduce(dstTensor, srcTensor, meanParams);
  call.wide = sizeof(accType) > sizeof(T);
  aclsim::HighReduce(aclsim::HighReduction::kRowMean, call);
  ACLSIM_KEEP_FRAME();
}

// A: an axis that stays, R: one that goes.
namespace Pattern {
namespace Reduce {
struct AR {};
struct RA {};
}  // namespace Reduce
}  // namespace Pattern

namespace detail {
// Rows start on 32-byte blocks, whatever their length.
template <typename T, typename Which>
aclsim::HighReduceCall PatternReduce(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                                     const uint32_t shape[], bool srcInnerPad, bool reuseSource,
                                     const aclsim::HighWork& work = {}) {
  static_assert(std::is_same<Which, Pattern::Reduce::AR>::value ||
                    std::is_same<Which, Pattern::Reduce::RA>::value,
                "reductions exist for Pattern::Reduce::AR and RA");
  constexpr uint32_t kPerBlock = 32 / sizeof(T);
  aclsim::HighReduceCall call;
  call.dst = dst;
  call.src = src;
  call.work = work;
  call.rows = shape[0];
  call.columns = shape[1];
  call.step = (shape[1] + kPerBlock - 1) / kPerBlock * kPerBlock;
  call.padded = srcInnerPad;
  call.overRows = std::is_same<Which, Pattern::Reduce::RA>::value;
  call.reuseSource = reuseSource;
  return call;
}
}  // namespace detail

#define ACLSIM_PATTERN_REDUCE(Name, op)                                                       \
  template <class T, class pattern, bool isReuseSource = false>                               \
  void Name(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor,                 \
            const LocalTensor<uint8_t>& sharedTmpBuffer, const uint32_t srcShape[],           \
            bool srcInnerPad) {                                                               \
    aclsim::HighReduce(                                                                       \
        op, detail::PatternReduce<T, pattern>(dstTensor, srcTensor, srcShape, srcInnerPad,    \
                                              isReuseSource, detail::Work(sharedTmpBuffer))); \
    ACLSIM_KEEP_FRAME();                                                                      \
  }                                                                                           \
  template <class T, class pattern, bool isReuseSource = false>                               \
  void Name(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor,                 \
            const uint32_t srcShape[], bool srcInnerPad) {                                    \
    aclsim::HighReduce(op, detail::PatternReduce<T, pattern>(dstTensor, srcTensor, srcShape,  \
                                                             srcInnerPad, isReuseSource));    \
    ACLSIM_KEEP_FRAME();                                                                      \
  }
ACLSIM_PATTERN_REDUCE(ReduceSum, aclsim::HighReduction::kSum)
ACLSIM_PATTERN_REDUCE(ReduceMean, aclsim::HighReduction::kMean)
ACLSIM_PATTERN_REDUCE(ReduceMax, aclsim::HighReduction::kMax)
ACLSIM_PATTERN_REDUCE(ReduceMin, aclsim::HighReduction::kMin)
ACLSIM_PATTERN_REDUCE(ReduceProd, aclsim::HighReduction::kProd)
ACLSIM_PATTERN_REDUCE(ReduceAny, aclsim::HighReduction::kAny)
ACLSIM_PATTERN_REDUCE(ReduceAll, aclsim::HighReduction::kAll)
#undef ACLSIM_PATTERN_REDUCE

struct TopKInfo {
  int32_t outter = 1;
  int32_t inner;
  int32_t n;
};

namespace detail {
template <bool hasIndex, bool hasFinished, TopKMode mode, typename T>
aclsim::HighTopKCall TopKOf(const LocalTensor<T>& values, const LocalTensor<int32_t>& indices,
                            const LocalTensor<T>& src, const LocalTensor<int32_t>& srcIndex,
                            const LocalTensor<bool>& finished, int32_t k, const TopKInfo& info,
                            bool largest) {
  static_assert(mode == TopKMode::TOPK_NORMAL || !hasFinished,
                "TopK: isHasfinish is for TOPK_NORMAL only");
  aclsim::HighTopKCall call;
  call.values = values;
  call.indices = indices;
  call.src = src;
  call.srcIndex = srcIndex;
  call.finished = finished;
  call.hasIndex = hasIndex;
  call.hasFinished = hasFinished;
  call.small = mode == TopKMode::TOPK_NSMALL;
  call.largest = largest;
  call.rows = static_cast<uint32_t>(info.outter);
  call.columns = static_cast<uint32_t>(info.inner);
  call.counted = static_cast<uint32_t>(info.n);
  call.k = static_cast<uint32_t>(k);
  return call;
}
}  // namespace detail

template <typename T, bool isInitIndex = false, bool isHasfinish = false, bool isReuseSrc = false,
          TopKMode topkMode = TopKMode::TOPK_NORMAL>
void TopK(const LocalTensor<T>& dstValueLocal, const LocalTensor<int32_t>& dstIndexLocal,
          const LocalTensor<T>& srcLocal, const LocalTensor<int32_t>& srcIndexLocal,
          const LocalTensor<bool>& finishLocal, const LocalTensor<uint8_t>& tmpLocal,
          const int32_t k, const TopkTiling&, const TopKInfo& topKInfo,
          const bool isLargest = true) {
  auto call = detail::TopKOf<isInitIndex, isHasfinish, topkMode>(
      dstValueLocal, dstIndexLocal, srcLocal, srcIndexLocal, finishLocal, k, topKInfo, isLargest);
  call.work = detail::Work(tmpLocal);
  aclsim::HighTopK(call);
  ACLSIM_KEEP_FRAME();
}
template <typename T, bool isInitIndex = false, bool isHasfinish = false, bool isReuseSrc = false,
          TopKMode topkMode = TopKMode::TOPK_NORMAL>
void TopK(const LocalTensor<T>& dstValueLocal, const LocalTensor<int32_t>& dstIndexLocal,
          const LocalTensor<T>& srcLocal, const LocalTensor<int32_t>& srcIndexLocal,
          const LocalTensor<bool>& finishLocal, const int32_t k, const TopkTiling&,
          const TopKInfo& topKInfo, const bool isLargest = true) {
  aclsim::HighTopK(detail::TopKOf<isInitIndex, isHasfinish, topkMode>(
      dstValueLocal, dstIndexLocal, srcLocal, srcIndexLocal, finishLocal, k, topKInfo, isLargest));
  ACLSIM_KEEP_FRAME();
}

enum class CumSumAlgorithm { CUMSUM_ALGORITHM_LINEBYLINE = 0, CUMSUM_ALGORITHM_SKLANSKY = 1 };
struct CumSumConfig {
  bool isLastAxis{true};
  bool isReuseSource{false};
  bool outputLastRow{false};
  CumSumAlgorithm algorithm{CumSumAlgorithm::CUMSUM_ALGORITHM_LINEBYLINE};
};
constexpr CumSumConfig defaultCumSumConfig = {true, false, true,
                                              CumSumAlgorithm::CUMSUM_ALGORITHM_LINEBYLINE};
struct CumSumInfo {
  uint32_t outter{0};
  uint32_t inner{0};
};

namespace detail {
template <typename T, const CumSumConfig& config>
aclsim::HighCumSumCall CumSumOf(const LocalTensor<T>& dst, const LocalTensor<T>& lastRow,
                                const LocalTensor<T>& src, const CumSumInfo& info,
                                const aclsim::HighWork& work = {}) {
  static_assert(config.algorithm == CumSumAlgorithm::CUMSUM_ALGORITHM_LINEBYLINE,
                "CumSum: the simulator adds line by line, as architecture 2201 does");
  aclsim::HighCumSumCall call;
  call.dst = dst;
  call.lastRow = lastRow;
  call.src = src;
  call.work = work;
  call.rows = info.outter;
  call.columns = info.inner;
  call.alongRow = config.isLastAxis;
  call.keepLastRow = config.outputLastRow;
  return call;
}
}  // namespace detail

template <typename T, const CumSumConfig& config = defaultCumSumConfig>
void CumSum(LocalTensor<T>& dstTensor, LocalTensor<T>& lastRowTensor,
            const LocalTensor<T>& srcTensor, LocalTensor<uint8_t>& sharedTmpBuffer,
            const CumSumInfo& cumSumInfo) {
  aclsim::HighCumSum(detail::CumSumOf<T, config>(dstTensor, lastRowTensor, srcTensor, cumSumInfo,
                                                 detail::Work(sharedTmpBuffer)));
  ACLSIM_KEEP_FRAME();
}
template <typename T, const CumSumConfig& config = defaultCumSumConfig>
void CumSum(LocalTensor<T>& dstTensor, LocalTensor<T>& lastRowTensor,
            const LocalTensor<T>& srcTensor, const CumSumInfo& cumSumInfo) {
  aclsim::HighCumSum(detail::CumSumOf<T, config>(dstTensor, lastRowTensor, srcTensor, cumSumInfo));
  ACLSIM_KEEP_FRAME();
}

}  // namespace AscendC
