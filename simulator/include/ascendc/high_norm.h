// SPDX-License-Identifier: Apache-2.0
// High-level API: LayerNorm, RmsNorm, GroupNorm, BatchNorm, Normalize, WelfordUpdate, WelfordFinalize. One call is one step of
// the simulator, so how the tiling structs cut the rows plays no part.
#pragma once

#include "ascendc/high_math.h"
#include "ascendc/high_norm_abi.h"
#include "kernel_tiling/kernel_tiling.h"
#include "kernel_tiling/reduce_pattern.h"

namespace AscendC {

struct NormalizeConfig {
  ReducePattern reducePattern = ReducePattern::AR;
  int32_t aLength = -1;
  bool isNoBeta = false;
  bool isNoGamma = false;
  bool isOnlyOutput = false;
};
constexpr NormalizeConfig NLCFG_NORM{};
struct NormalizePara {
  uint32_t aLength;
  uint32_t rLength;
  uint32_t rLengthWithPadding;
};
struct LayerNormConfig {
  bool isNoBeta = false;
  bool isNoGamma = false;
  bool isOnlyOutput = false;
  bool isOutputRstd = true;
};
constexpr LayerNormConfig LNCFG_NORM{};
struct LayerNormPara {
  uint32_t aLength;
  uint32_t rLength;
  uint32_t rLengthWithPadding;
};
struct WelfordUpdateConfig {
  constexpr WelfordUpdateConfig(bool inPlace) : isInplace(inPlace) {}
  bool isInplace = false;
};
constexpr WelfordUpdateConfig WFUPDATE_DEFAULT_CFG = {false};
struct WelfordUpdateParam {
  uint32_t rnLength;
  uint32_t abLength;
  uint32_t abComputeLength;
  float nRec;
};
struct WelfordFinalizeConfig {
  constexpr WelfordFinalizeConfig(bool correction) : isCorrection(correction) {}
  bool isCorrection = false;
};
constexpr WelfordFinalizeConfig WFFINALIZE_DEFAULT_CFG = {false};
struct WelfordFinalizePara {
  uint32_t rnLength;
  uint32_t abLength;
  uint32_t headCount;
  uint32_t headCountLength;
  uint32_t tailCount;
  uint32_t tailCountLength;
  float abRec;
  float rRec;
};

namespace detail {

template <typename T, typename M, typename U>
aclsim::HighNormCall Norm(const LocalTensor<T>& dst, const LocalTensor<M>& mean,
                          const LocalTensor<M>& variance, const LocalTensor<T>& src,
                          const LocalTensor<U>& gamma, const LocalTensor<U>& beta, float epsilon) {
  aclsim::HighNormCall call;
  call.dst = dst;
  call.src = src;
  call.mean = mean;
  call.variance = variance;
  call.gamma = gamma;
  call.beta = beta;
  call.epsilon = epsilon;
  call.hasMean = call.hasVariance = true;
  return call;
}
inline void Shape(aclsim::HighNormCall* call, const LayerNormTiling& tiling) {
  call->rows = tiling.bLength * tiling.sLength;
  call->step = tiling.hLength;
  call->counted = tiling.originalHLength;
}
inline void Shape(aclsim::HighNormCall* call, const GroupNormTiling& tiling) {
  call->rows = tiling.n * tiling.g;
  call->counted = tiling.d * tiling.hw;
  call->step = tiling.dhwAlignSize;
  call->channels = tiling.d;
  call->groups = tiling.g;
}
inline void Shape(aclsim::HighNormCall* call, const BatchNormTiling& tiling) {
  call->rows = call->step = tiling.meanVarSize;
  call->counted = tiling.originalBLength;
}

}  // namespace detail

// Normalised values, means and variances, all of the type of the source.
#define ACLSIM_NORM(Name, op, Tiling, extra)                                                    \
  template <typename T, bool isReuseSource = false extra>                                       \
  void Name(const LocalTensor<T>& output, const LocalTensor<T>& outputMean,                     \
            const LocalTensor<T>& outputVariance, const LocalTensor<T>& inputX,                 \
            const LocalTensor<T>& gamma, const LocalTensor<T>& beta,                            \
            const LocalTensor<uint8_t>& sharedTmpBuffer, const T epsilon, Tiling& tiling) {     \
    auto call = detail::Norm(output, outputMean, outputVariance, inputX, gamma, beta, epsilon); \
    detail::Shape(&call, tiling);                                                               \
    call.reuseSource = isReuseSource;                                                           \
    call.work = detail::Work(sharedTmpBuffer);                                                  \
    aclsim::HighNormalize(op, call);                                                            \
    ACLSIM_KEEP_FRAME();                                                                        \
  }                                                                                             \
  template <typename T, bool isReuseSource = false extra>                                       \
  void Name(const LocalTensor<T>& output, const LocalTensor<T>& outputMean,                     \
            const LocalTensor<T>& outputVariance, const LocalTensor<T>& inputX,                 \
            const LocalTensor<T>& gamma, const LocalTensor<T>& beta, const T epsilon,           \
            Tiling& tiling) {                                                                   \
    auto call = detail::Norm(output, outputMean, outputVariance, inputX, gamma, beta, epsilon); \
    detail::Shape(&call, tiling);                                                               \
    call.reuseSource = isReuseSource;                                                           \
    aclsim::HighNormalize(op, call);                                                            \
    ACLSIM_KEEP_FRAME();                                                                        \
  }
#define ACLSIM_BASIC_BLOCK , bool isBasicBlock = false
ACLSIM_NORM(LayerNorm, aclsim::HighNorm::kLayerNorm, LayerNormTiling, )
ACLSIM_NORM(GroupNorm, aclsim::HighNorm::kGroupNorm, GroupNormTiling, )
ACLSIM_NORM(BatchNorm, aclsim::HighNorm::kBatchNorm, BatchNormTiling, ACLSIM_BASIC_BLOCK)
#undef ACLSIM_BASIC_BLOCK
#undef ACLSIM_NORM

namespace detail {
template <const LayerNormConfig& config, typename U, typename T>
aclsim::HighNormCall LayerNormRows(const LocalTensor<T>& output,
                                   const LocalTensor<float>& outputMean,
                                   const LocalTensor<float>& outputRstd,
                                   const LocalTensor<T>& inputX, const LocalTensor<U>& gamma,
                                   const LocalTensor<U>& beta, float epsilon,
                                   const LayerNormPara& para) {
  static_assert(config.isOutputRstd, "LayerNorm: architecture 2201 has isOutputRstd only");
  static_assert(!config.isOnlyOutput, "LayerNorm: isOnlyOutput is not supported, as documented");
  auto call = Norm(output, outputMean, outputMean, inputX, gamma, beta, epsilon);
  call.rstd = outputRstd;
  call.hasVariance = false;
  call.hasRstd = true;
  call.hasGamma = !config.isNoGamma;
  call.hasBeta = !config.isNoBeta;
  call.rows = para.aLength;
  call.counted = para.rLength;
  call.step = para.rLengthWithPadding;
  return call;
}
template <const NormalizeConfig& config, typename U, typename T>
aclsim::HighNormCall NormalizeRows(const LocalTensor<T>& output,
                                   const LocalTensor<float>& outputRstd,
                                   const LocalTensor<float>& inputMean,
                                   const LocalTensor<float>& inputVariance,
                                   const LocalTensor<T>& inputX, const LocalTensor<U>& gamma,
                                   const LocalTensor<U>& beta, float epsilon,
                                   const NormalizePara& para) {
  static_assert(config.reducePattern == ReducePattern::AR, "Normalize: ReducePattern::AR only");
  auto call = Norm(output, inputMean, inputVariance, inputX, gamma, beta, epsilon);
  call.rstd = outputRstd;
  call.hasRstd = !config.isOnlyOutput;
  call.hasGamma = !config.isNoGamma;
  call.hasBeta = !config.isNoBeta;
  call.rows = config.aLength == -1 ? para.aLength : static_cast<uint32_t>(config.aLength);
  call.counted = para.rLength;
  call.step = para.rLengthWithPadding;
  return call;
}
}  // namespace detail

// Normalised rows, means and reciprocals of the standard deviation.
template <typename U, typename T, bool isReuseSource = false,
          const LayerNormConfig& config = LNCFG_NORM>
void LayerNorm(const LocalTensor<T>& output, const LocalTensor<float>& outputMean,
               const LocalTensor<float>& outputRstd, const LocalTensor<T>& inputX,
               const LocalTensor<U>& gamma, const LocalTensor<U>& beta, const float epsilon,
               const LocalTensor<uint8_t>& sharedTmpBuffer, const LayerNormPara& para,
               const LayerNormSeparateTiling&) {
  auto call = detail::LayerNormRows<config>(output, outputMean, outputRstd, inputX, gamma, beta,
                                            epsilon, para);
  call.work = detail::Work(sharedTmpBuffer);
  aclsim::HighNormalize(aclsim::HighNorm::kLayerNormRows, call);
  ACLSIM_KEEP_FRAME();
}
template <typename U, typename T, bool isReuseSource = false,
          const LayerNormConfig& config = LNCFG_NORM>
void LayerNorm(const LocalTensor<T>& output, const LocalTensor<float>& outputMean,
               const LocalTensor<float>& outputRstd, const LocalTensor<T>& inputX,
               const LocalTensor<U>& gamma, const LocalTensor<U>& beta, const float epsilon,
               const LayerNormPara& para, const LayerNormSeparateTiling&) {
  aclsim::HighNormalize(aclsim::HighNorm::kLayerNormRows,
                        detail::LayerNormRows<config>(output, outputMean, outputRstd, inputX, gamma,
                                                      beta, epsilon, para));
  ACLSIM_KEEP_FRAME();
}

// By means and variances that are known already.
template <typename U, typename T, bool isReuseSource = false,
          const NormalizeConfig& config = NLCFG_NORM>
void Normalize(const LocalTensor<T>& output, const LocalTensor<float>& outputRstd,
               const LocalTensor<float>& inputMean, const LocalTensor<float>& inputVariance,
               const LocalTensor<T>& inputX, const LocalTensor<U>& gamma,
               const LocalTensor<U>& beta, const LocalTensor<uint8_t>& sharedTmpBuffer,
               const float epsilon, const NormalizePara& para) {
  auto call = detail::NormalizeRows<config>(output, outputRstd, inputMean, inputVariance, inputX,
                                            gamma, beta, epsilon, para);
  call.work = detail::Work(sharedTmpBuffer);
  aclsim::HighNormalize(aclsim::HighNorm::kNormalize, call);
  ACLSIM_KEEP_FRAME();
}
template <typename U, typename T, bool isReuseSource = false,
          const NormalizeConfig& config = NLCFG_NORM>
void Normalize(const LocalTensor<T>& output, const LocalTensor<float>& outputRstd,
               const LocalTensor<float>& inputMean, const LocalTensor<float>& inputVariance,
               const LocalTensor<T>& inputX, const LocalTensor<U>& gamma,
               const LocalTensor<U>& beta, const float epsilon, const NormalizePara& para) {
  aclsim::HighNormalize(aclsim::HighNorm::kNormalize,
                        detail::NormalizeRows<config>(output, outputRstd, inputMean, inputVariance,
                                                      inputX, gamma, beta, epsilon, para));
  ACLSIM_KEEP_FRAME();
}

namespace detail {
template <typename T>
aclsim::HighNormCall Rms(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                         const LocalTensor<T>& gamma, float epsilon, const RmsNormTiling& tiling) {
  aclsim::HighNormCall call;
  call.dst = dst;
  call.src = src;
  call.gamma = gamma;
  call.hasBeta = false;
  call.epsilon = epsilon;
  call.rows = tiling.bLength * tiling.sLength;
  call.counted = tiling.originalHLength;
  call.step = tiling.hLength;
  return call;
}
}  // namespace detail
// x / sqrt(mean of x * x + epsilon) * gamma
template <typename T, bool isBasicBlock = false>
void RmsNorm(const LocalTensor<T>& dstLocal, const LocalTensor<T>& srcLocal,
             const LocalTensor<T>& gammaLocal, const LocalTensor<uint8_t>& sharedTmpBuffer,
             const T epsilon, const RmsNormTiling& tiling) {
  auto call = detail::Rms(dstLocal, srcLocal, gammaLocal, epsilon, tiling);
  call.work = detail::Work(sharedTmpBuffer);
  aclsim::HighNormalize(aclsim::HighNorm::kRmsNorm, call);
  ACLSIM_KEEP_FRAME();
}
template <typename T, bool isBasicBlock = false>
void RmsNorm(const LocalTensor<T>& dstLocal, const LocalTensor<T>& srcLocal,
             const LocalTensor<T>& gammaLocal, const T epsilon, const RmsNormTiling& tiling) {
  aclsim::HighNormalize(aclsim::HighNorm::kRmsNorm,
                        detail::Rms(dstLocal, srcLocal, gammaLocal, epsilon, tiling));
  ACLSIM_KEEP_FRAME();
}

namespace detail {
template <const WelfordUpdateConfig& config, typename T, typename U>
aclsim::HighWelfordUpdateCall Update(const LocalTensor<U>& outputMean,
                                     const LocalTensor<U>& outputVariance,
                                     const LocalTensor<U>& inputMean,
                                     const LocalTensor<U>& inputVariance,
                                     const LocalTensor<T>& inputX, const WelfordUpdateParam& para,
                                     bool reuseSource) {
  static_assert(std::is_same_v<U, float>, "WelfordUpdate: means and variances are float");
  aclsim::HighWelfordUpdateCall call;
  call.outMean = outputMean;
  call.outVariance = outputVariance;
  call.inMean = inputMean;
  call.inVariance = inputVariance;
  call.src = inputX;
  call.rows = para.rnLength;
  call.length = para.abLength;
  call.counted = para.abComputeLength;
  call.reciprocal = para.nRec;
  call.keepRest = config.isInplace;
  call.reuseSource = reuseSource;
  return call;
}
inline aclsim::HighWelfordFinalizeCall Finalize(const LocalTensor<float>& outputMean,
                                                const LocalTensor<float>& outputVariance,
                                                const LocalTensor<float>& inputMean,
                                                const LocalTensor<float>& inputVariance,
                                                const WelfordFinalizePara& para) {
  aclsim::HighWelfordFinalizeCall call;
  call.outMean = outputMean;
  call.outVariance = outputVariance;
  call.inMean = inputMean;
  call.inVariance = inputVariance;
  call.length = para.abLength;
  call.headCount = para.headCount;
  call.headLength = para.headCountLength;
  call.tailCount = para.tailCount;
  call.tailLength = para.tailCountLength;
  call.laneReciprocal = para.abRec;
  call.reciprocal = para.rRec;
  return call;
}
inline void Counts(aclsim::HighWelfordFinalizeCall* call, const LocalTensor<int32_t>& counts) {
  call->counts = counts;
  call->hasCounts = true;
}
}  // namespace detail

template <typename T, typename U, bool isReuseSource = false,
          const WelfordUpdateConfig& config = WFUPDATE_DEFAULT_CFG>
void WelfordUpdate(const LocalTensor<U>& outputMean, const LocalTensor<U>& outputVariance,
                   const LocalTensor<U>& inputMean, const LocalTensor<U>& inputVariance,
                   const LocalTensor<T>& inputX, const LocalTensor<uint8_t>& sharedTmpBuffer,
                   const WelfordUpdateParam& para) {
  auto call = detail::Update<config>(outputMean, outputVariance, inputMean, inputVariance, inputX,
                                     para, isReuseSource);
  call.work = detail::Work(sharedTmpBuffer);
  aclsim::HighWelfordUpdate(call);
  ACLSIM_KEEP_FRAME();
}
template <typename T, typename U, bool isReuseSource = false,
          const WelfordUpdateConfig& config = WFUPDATE_DEFAULT_CFG>
void WelfordUpdate(const LocalTensor<U>& outputMean, const LocalTensor<U>& outputVariance,
                   const LocalTensor<U>& inputMean, const LocalTensor<U>& inputVariance,
                   const LocalTensor<T>& inputX, const WelfordUpdateParam& para) {
  aclsim::HighWelfordUpdate(detail::Update<config>(outputMean, outputVariance, inputMean,
                                                   inputVariance, inputX, para, isReuseSource));
  ACLSIM_KEEP_FRAME();
}

// With scratch or without, with a count per lane or with those of a head and a tail.
#define ACLSIM_FINALIZE(parameter, argument, counts, work)                                      \
  template <bool isReuseSource = false,                                                         \
            const WelfordFinalizeConfig& config = WFFINALIZE_DEFAULT_CFG>                       \
  void WelfordFinalize(                                                                         \
      const LocalTensor<float>& outputMean, const LocalTensor<float>& outputVariance,           \
      const LocalTensor<float>& inputMean,                                                      \
      const LocalTensor<float>& inputVariance parameter argument, WelfordFinalizePara& para) {  \
    static_assert(!config.isCorrection, "WelfordFinalize: no correction on architecture 2201"); \
    auto call = detail::Finalize(outputMean, outputVariance, inputMean, inputVariance, para);   \
    counts;                                                                                     \
    work;                                                                                       \
    aclsim::HighWelfordFinalize(call);                                                          \
    ACLSIM_KEEP_FRAME();                                                                        \
  }
#define ACLSIM_COUNTS , const LocalTensor<int32_t>& counts
#define ACLSIM_WORK , const LocalTensor<uint8_t>& sharedTmpBuffer
ACLSIM_FINALIZE(, , , )
ACLSIM_FINALIZE(ACLSIM_COUNTS, , detail::Counts(&call, counts), )
ACLSIM_FINALIZE(, ACLSIM_WORK, , call.work = detail::Work(sharedTmpBuffer))
ACLSIM_FINALIZE(ACLSIM_COUNTS, ACLSIM_WORK, detail::Counts(&call, counts),
                call.work = detail::Work(sharedTmpBuffer))
#undef ACLSIM_WORK
#undef ACLSIM_COUNTS
#undef ACLSIM_FINALIZE

}  // namespace AscendC
