// SPDX-License-Identifier: Apache-2.0
// High-level API: AscendQuant by tensor and by channel, AscendDequant, AscendAntiQuant.
#pragma once

#include "ascendc/high_math.h"
#include "ascendc/high_quant_abi.h"

namespace AscendC {

struct AscendQuantConfig {
  constexpr AscendQuantConfig(uint32_t count, uint32_t offsets, uint32_t scales, uint32_t work)
      : calcCount(count), offsetCount(offsets), scaleCount(scales), workLocalSize(work) {}
  uint32_t calcCount = 0;
  uint32_t offsetCount = 0;
  uint32_t scaleCount = 0;
  uint32_t workLocalSize = 0;
};
constexpr AscendQuantConfig ASCEND_QUANT_DEFAULT_CFG = {0, 0, 0, 0};

namespace detail {
template <typename T>
aclsim::HighQuantCall Quant(const LocalTensor<int8_t>& dst, const LocalTensor<T>& src,
                            uint32_t count) {
  aclsim::HighQuantCall call;
  call.dst = dst;
  call.src = src;
  call.count = count;
  return call;
}
template <typename T>
aclsim::HighQuantCall Scaled(aclsim::HighQuantCall call, const LocalTensor<T>& scale,
                             uint32_t count) {
  call.scale = scale;
  call.channels = count;
  return call;
}
inline aclsim::HighQuantCall Scaled(aclsim::HighQuantCall call, float scale, uint32_t = 0) {
  call.scaleValue = scale;
  return call;
}
template <typename T>
aclsim::HighQuantCall Moved(aclsim::HighQuantCall call, const LocalTensor<T>& offset,
                            uint32_t count) {
  call.offset = offset;
  call.offsets = count;
  return call;
}
inline aclsim::HighQuantCall Moved(aclsim::HighQuantCall call, float offset, uint32_t = 0) {
  call.offsetValue = offset;
  return call;
}
template <typename Call>
void Quantize(Call call) {
  aclsim::HighQuantize(call);
}
inline void Quantize(aclsim::HighQuantCall call, const LocalTensor<uint8_t>& work) {
  call.work = Work(work);
  aclsim::HighQuantize(call);
}
}  // namespace detail

// Scalars or tensors of scales and offsets; with scratch or without, with counts or of whole tensors.
#define ACLSIM_QUANT(Scale, Offset, counts, scaleCount, offsetCount, wholeScale, wholeOffset)      \
  template <typename T, bool isReuseSource = false,                                                \
            const AscendQuantConfig& config = ASCEND_QUANT_DEFAULT_CFG>                            \
  void AscendQuant(const LocalTensor<int8_t>& dstTensor, const LocalTensor<T>& srcTensor,          \
                   const LocalTensor<uint8_t>& sharedTmpBuffer, Scale scale, Offset offset counts, \
                   const uint32_t calCount) {                                                      \
    detail::Quantize(detail::Moved(detail::Scaled(detail::Quant(dstTensor, srcTensor, calCount),   \
                                                  scale, scaleCount),                              \
                                   offset, offsetCount),                                           \
                     sharedTmpBuffer);                                                             \
    ACLSIM_KEEP_FRAME();                                                                           \
  }                                                                                                \
  template <typename T, bool isReuseSource = false,                                                \
            const AscendQuantConfig& config = ASCEND_QUANT_DEFAULT_CFG>                            \
  void AscendQuant(const LocalTensor<int8_t>& dstTensor, const LocalTensor<T>& srcTensor,          \
                   Scale scale, Offset offset counts, const uint32_t calCount) {                   \
    detail::Quantize(detail::Moved(                                                                \
        detail::Scaled(detail::Quant(dstTensor, srcTensor, calCount), scale, scaleCount), offset,  \
        offsetCount));                                                                             \
    ACLSIM_KEEP_FRAME();                                                                           \
  }                                                                                                \
  template <typename T, bool isReuseSource = false,                                                \
            const AscendQuantConfig& config = ASCEND_QUANT_DEFAULT_CFG>                            \
  void AscendQuant(const LocalTensor<int8_t>& dstTensor, const LocalTensor<T>& srcTensor,          \
                   const LocalTensor<uint8_t>& sharedTmpBuffer, Scale scale, Offset offset) {      \
    detail::Quantize(                                                                              \
        detail::Moved(detail::Scaled(detail::Quant(dstTensor, srcTensor, srcTensor.GetSize()),     \
                                     scale, wholeScale),                                           \
                      offset, wholeOffset),                                                        \
        sharedTmpBuffer);                                                                          \
    ACLSIM_KEEP_FRAME();                                                                           \
  }                                                                                                \
  template <typename T, bool isReuseSource = false,                                                \
            const AscendQuantConfig& config = ASCEND_QUANT_DEFAULT_CFG>                            \
  void AscendQuant(const LocalTensor<int8_t>& dstTensor, const LocalTensor<T>& srcTensor,          \
                   Scale scale, Offset offset) {                                                   \
    detail::Quantize(                                                                              \
        detail::Moved(detail::Scaled(detail::Quant(dstTensor, srcTensor, srcTensor.GetSize()),     \
                                     scale, wholeScale),                                           \
                      offset, wholeOffset));                                                       \
    ACLSIM_KEEP_FRAME();                                                                           \
  }
#define ACLSIM_SCALES , const uint32_t scales
#define ACLSIM_SCALES_OFFSETS , const uint32_t scales, const uint32_t offsets
ACLSIM_QUANT(const float, const float, , 0, 0, 0, 0)
ACLSIM_QUANT(const LocalTensor<T>&, const T, ACLSIM_SCALES, scales, 0, scale.GetSize(), 0)
ACLSIM_QUANT(const LocalTensor<T>&, const LocalTensor<T>&, ACLSIM_SCALES_OFFSETS, scales, offsets,
             scale.GetSize(), offset.GetSize())
#undef ACLSIM_SCALES_OFFSETS
#undef ACLSIM_SCALES
#undef ACLSIM_QUANT

enum class DeQuantMode { DEQUANT_WITH_SINGLE_ROW = 0, DEQUANT_WITH_MULTI_ROW };
struct DequantParams {
  uint32_t m;
  uint32_t n;
  uint32_t calCount;
};

namespace detail {
// A single row that is several times the length of the scales counts as so many rows.
template <DeQuantMode mode, typename D>
aclsim::HighDequantCall Dequant(const LocalTensor<D>& dst, const LocalTensor<int32_t>& src,
                                const DequantParams& params) {
  aclsim::HighDequantCall call;
  call.dst = dst;
  call.src = src;
  call.rows = params.m;
  call.columns = params.n;
  call.counted = params.calCount;
  if (mode == DeQuantMode::DEQUANT_WITH_SINGLE_ROW && params.m == 1 && params.calCount != 0 &&
      params.calCount % (ONE_BLK_SIZE / sizeof(D)) == 0 && params.n % params.calCount == 0) {
    call.rows = params.n / params.calCount;
    call.columns = params.calCount;
  }
  return call;
}
template <typename S>
void Dequantize(aclsim::HighDequantCall call, const LocalTensor<S>& scale) {
  call.scale = scale;
  aclsim::HighDequantize(call);
}
template <typename S>
void Dequantize(aclsim::HighDequantCall call, S scale) {
  static_assert(std::is_same_v<S, float> || std::is_same_v<S, bfloat16_t>,
                "AscendDequant: a scalar is float or bfloat16_t");
  call.scalar = true;
  call.scaleValue = static_cast<float>(scale);
  aclsim::HighDequantize(call);
}
inline aclsim::HighDequantCall Worked(aclsim::HighDequantCall call,
                                      const LocalTensor<uint8_t>& work) {
  call.work = Work(work);
  return call;
}
}  // namespace detail

#define ACLSIM_DEQUANT(Scale)                                                                   \
  template <typename dstT, typename scaleT,                                                     \
            DeQuantMode mode = DeQuantMode::DEQUANT_WITH_SINGLE_ROW>                            \
  void AscendDequant(const LocalTensor<dstT>& dstTensor, const LocalTensor<int32_t>& srcTensor, \
                     Scale deqScale, const LocalTensor<uint8_t>& sharedTmpBuffer,               \
                     DequantParams params) {                                                    \
    detail::Dequantize(                                                                         \
        detail::Worked(detail::Dequant<mode>(dstTensor, srcTensor, params), sharedTmpBuffer),   \
        deqScale);                                                                              \
    ACLSIM_KEEP_FRAME();                                                                        \
  }                                                                                             \
  template <typename dstT, typename scaleT,                                                     \
            DeQuantMode mode = DeQuantMode::DEQUANT_WITH_SINGLE_ROW>                            \
  void AscendDequant(const LocalTensor<dstT>& dstTensor, const LocalTensor<int32_t>& srcTensor, \
                     Scale deqScale, DequantParams params) {                                    \
    detail::Dequantize(detail::Dequant<mode>(dstTensor, srcTensor, params), deqScale);          \
    ACLSIM_KEEP_FRAME();                                                                        \
  }
ACLSIM_DEQUANT(const LocalTensor<scaleT>&)
ACLSIM_DEQUANT(const scaleT)
#undef ACLSIM_DEQUANT

struct AntiQuantShapeInfo {
  uint32_t offsetHeight{0};
  uint32_t offsetWidth{0};
  uint32_t scaleHeight{0};
  uint32_t scaleWidth{0};
};

namespace detail {
template <bool isTranspose, typename I, typename O>
aclsim::HighAntiQuantCall AntiQuant(const LocalTensor<O>& dst, const LocalTensor<I>& src,
                                    uint32_t k) {
  static_assert(std::is_same_v<I, int8_t>, "AscendAntiQuant: the simulator has int8_t only");
  aclsim::HighAntiQuantCall call;
  call.dst = dst;
  call.src = src;
  call.count = src.GetSize();
  call.k = k;
  call.transposed = isTranspose;
  return call;
}
template <typename O>
aclsim::HighAntiQuantCall By(aclsim::HighAntiQuantCall call, const LocalTensor<O>& scale,
                             const AntiQuantShapeInfo& shape) {
  call.scale = scale;
  call.scales = shape.scaleHeight != 0 ? shape.scaleHeight * shape.scaleWidth : scale.GetSize();
  call.hasOffset = false;
  return call;
}
template <typename O>
aclsim::HighAntiQuantCall By(aclsim::HighAntiQuantCall call, const LocalTensor<O>& offset,
                             const LocalTensor<O>& scale, const AntiQuantShapeInfo& shape) {
  call = By(call, scale, shape);
  call.offset = offset;
  call.hasOffset = true;
  return call;
}
inline aclsim::HighAntiQuantCall By(aclsim::HighAntiQuantCall call, float offset, float scale) {
  call.scalar = true;
  call.offsetValue = offset;
  call.scaleValue = scale;
  return call;
}
inline void AntiQuantize(aclsim::HighAntiQuantCall call) { aclsim::HighAntiQuantize(call); }
inline void AntiQuantize(aclsim::HighAntiQuantCall call, const LocalTensor<uint8_t>& work) {
  call.work = Work(work);
  aclsim::HighAntiQuantize(call);
}
}  // namespace detail

// Scales and offsets, or scales alone; with scratch or without.
#define ACLSIM_ANTI_QUANT(parameters, ...)                                                      \
  template <typename InputDataType, typename OutputDataType, bool isTranspose>                  \
  void AscendAntiQuant(const LocalTensor<OutputDataType>& dst,                                  \
                       const LocalTensor<InputDataType>& src parameters,                        \
                       const LocalTensor<uint8_t>& sharedTmpBuffer, const uint32_t k,           \
                       [[maybe_unused]] const AntiQuantShapeInfo& shapeInfo = {}) {             \
    detail::AntiQuantize(detail::By(detail::AntiQuant<isTranspose>(dst, src, k), __VA_ARGS__),  \
                         sharedTmpBuffer);                                                      \
    ACLSIM_KEEP_FRAME();                                                                        \
  }                                                                                             \
  template <typename InputDataType, typename OutputDataType, bool isTranspose>                  \
  void AscendAntiQuant(const LocalTensor<OutputDataType>& dst,                                  \
                       const LocalTensor<InputDataType>& src parameters, const uint32_t k,      \
                       [[maybe_unused]] const AntiQuantShapeInfo& shapeInfo = {}) {             \
    detail::AntiQuantize(detail::By(detail::AntiQuant<isTranspose>(dst, src, k), __VA_ARGS__)); \
    ACLSIM_KEEP_FRAME();                                                                        \
  }
#define ACLSIM_SCALE_TENSOR , const LocalTensor<OutputDataType>& scale
#define ACLSIM_BOTH_TENSORS \
  , const LocalTensor<OutputDataType>&offset, const LocalTensor<OutputDataType>&scale
#define ACLSIM_SCALE_SCALAR , const OutputDataType scale
#define ACLSIM_BOTH_SCALARS , const OutputDataType offset, const OutputDataType scale
ACLSIM_ANTI_QUANT(ACLSIM_BOTH_TENSORS, offset, scale, shapeInfo)
ACLSIM_ANTI_QUANT(ACLSIM_SCALE_TENSOR, scale, shapeInfo)
ACLSIM_ANTI_QUANT(ACLSIM_BOTH_SCALARS, static_cast<float>(offset), static_cast<float>(scale))
ACLSIM_ANTI_QUANT(ACLSIM_SCALE_SCALAR, 0.0f, static_cast<float>(scale))
#undef ACLSIM_BOTH_SCALARS
#undef ACLSIM_SCALE_SCALAR
#undef ACLSIM_BOTH_TENSORS
#undef ACLSIM_SCALE_TENSOR
#undef ACLSIM_ANTI_QUANT

}  // namespace AscendC
