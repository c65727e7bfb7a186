// SPDX-License-Identifier: Apache-2.0
// High-level API, functions of elements: mathematics and activations. A new one is a line below and a row in
// src/device/high_math.cpp. Which forms a function has is CANN's choice.
#pragma once

#include "ascendc/high_abi.h"
#include "ascendc/vec_arith.h"

namespace AscendC {

namespace detail {

inline aclsim::HighWork Work(const LocalTensor<uint8_t>& tensor) {
  aclsim::HighWork work;
  work.ub = tensor;
  work.bytes = tensor.GetSize();
  work.given = true;
  return work;
}

template <typename T, typename U>
aclsim::HighElements Elements(const LocalTensor<T>& dst, const LocalTensor<U>& src, uint32_t count,
                              bool reuseSource = false, const aclsim::HighWork& work = {}) {
  aclsim::HighElements call;
  call.dst = dst;
  call.src[0] = src;
  call.count = count;
  call.reuseSource = reuseSource;
  call.work = work;
  return call;
}
template <typename T>
aclsim::HighElements Elements(const LocalTensor<T>& dst, const LocalTensor<T>& src0,
                              const LocalTensor<T>& src1, uint32_t count, bool reuseSource = false,
                              const aclsim::HighWork& work = {}) {
  aclsim::HighElements call = Elements(dst, src0, count, reuseSource, work);
  call.src[1] = src1;
  return call;
}
template <typename S>
aclsim::HighElements With(aclsim::HighElements call, const S& constant) {
  call.value = Scalar(constant);
  return call;
}

}  // namespace detail

// Forms: with or without scratch, with or without a count; without, the source's size counts.
#define ACLSIM_HIGH_COUNT(Name, op)                                                           \
  template <typename T, bool isReuseSource = false>                                           \
  void Name(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor,                 \
            const uint32_t calCount) {                                                        \
    aclsim::HighElement(op, detail::Elements(dstTensor, srcTensor, calCount, isReuseSource)); \
    ACLSIM_KEEP_FRAME();                                                                      \
  }
#define ACLSIM_HIGH_WHOLE(Name, op)                                                      \
  template <typename T, bool isReuseSource = false>                                      \
  void Name(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor) {          \
    aclsim::HighElement(                                                                 \
        op, detail::Elements(dstTensor, srcTensor, srcTensor.GetSize(), isReuseSource)); \
    ACLSIM_KEEP_FRAME();                                                                 \
  }
#define ACLSIM_HIGH_WORK_COUNT(Name, op)                                                    \
  template <typename T, bool isReuseSource = false>                                         \
  void Name(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor,               \
            const LocalTensor<uint8_t>& sharedTmpBuffer, const uint32_t calCount) {         \
    aclsim::HighElement(op, detail::Elements(dstTensor, srcTensor, calCount, isReuseSource, \
                                             detail::Work(sharedTmpBuffer)));               \
    ACLSIM_KEEP_FRAME();                                                                    \
  }
#define ACLSIM_HIGH_WORK(Name, op)                                                           \
  template <typename T, bool isReuseSource = false>                                          \
  void Name(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor,                \
            const LocalTensor<uint8_t>& sharedTmpBuffer) {                                   \
    aclsim::HighElement(op, detail::Elements(dstTensor, srcTensor, srcTensor.GetSize(),      \
                                             isReuseSource, detail::Work(sharedTmpBuffer))); \
    ACLSIM_KEEP_FRAME();                                                                     \
  }
#define ACLSIM_HIGH_ALL(Name, op)  \
  ACLSIM_HIGH_WORK_COUNT(Name, op) \
  ACLSIM_HIGH_WORK(Name, op)       \
  ACLSIM_HIGH_COUNT(Name, op)      \
  ACLSIM_HIGH_WHOLE(Name, op)

ACLSIM_HIGH_COUNT(Log, aclsim::High::kLog)
ACLSIM_HIGH_WHOLE(Log, aclsim::High::kLog)
ACLSIM_HIGH_COUNT(Log10, aclsim::High::kLog10)
ACLSIM_HIGH_WHOLE(Log10, aclsim::High::kLog10)
ACLSIM_HIGH_ALL(Log2, aclsim::High::kLog2)
ACLSIM_HIGH_WORK_COUNT(Floor, aclsim::High::kFloor)
ACLSIM_HIGH_COUNT(Floor, aclsim::High::kFloor)
ACLSIM_HIGH_WORK_COUNT(Ceil, aclsim::High::kCeil)
ACLSIM_HIGH_COUNT(Ceil, aclsim::High::kCeil)
ACLSIM_HIGH_WORK_COUNT(Round, aclsim::High::kRound)
ACLSIM_HIGH_COUNT(Round, aclsim::High::kRound)
ACLSIM_HIGH_ALL(Trunc, aclsim::High::kTrunc)
ACLSIM_HIGH_ALL(Frac, aclsim::High::kFrac)
ACLSIM_HIGH_ALL(Sign, aclsim::High::kSign)
ACLSIM_HIGH_ALL(Sin, aclsim::High::kSin)
ACLSIM_HIGH_ALL(Cos, aclsim::High::kCos)
ACLSIM_HIGH_ALL(Tan, aclsim::High::kTan)
ACLSIM_HIGH_ALL(Asin, aclsim::High::kAsin)
ACLSIM_HIGH_ALL(Acos, aclsim::High::kAcos)
ACLSIM_HIGH_ALL(Atan, aclsim::High::kAtan)
ACLSIM_HIGH_ALL(Sinh, aclsim::High::kSinh)
ACLSIM_HIGH_ALL(Cosh, aclsim::High::kCosh)
ACLSIM_HIGH_ALL(Tanh, aclsim::High::kTanh)
ACLSIM_HIGH_ALL(Asinh, aclsim::High::kAsinh)
ACLSIM_HIGH_ALL(Acosh, aclsim::High::kAcosh)
ACLSIM_HIGH_ALL(Atanh, aclsim::High::kAtanh)
ACLSIM_HIGH_ALL(Erf, aclsim::High::kErf)
ACLSIM_HIGH_ALL(Erfc, aclsim::High::kErfc)
ACLSIM_HIGH_WORK_COUNT(Lgamma, aclsim::High::kLgamma)
ACLSIM_HIGH_COUNT(Lgamma, aclsim::High::kLgamma)
ACLSIM_HIGH_WORK_COUNT(Digamma, aclsim::High::kDigamma)
ACLSIM_HIGH_COUNT(Digamma, aclsim::High::kDigamma)
ACLSIM_HIGH_ALL(Sigmoid, aclsim::High::kSigmoid)

// The template arguments of these choose between ways to compute the same function.
#define ACLSIM_HIGH_GELU(Name, op)                                                                 \
  template <typename T, bool highPrecision = false, bool highPerformance = false>                  \
  void Name(const LocalTensor<T>& dstLocal, const LocalTensor<T>& srcLocal,                        \
            const LocalTensor<uint8_t>& sharedTmpBuffer, const uint32_t dataSize) {                \
    aclsim::HighElement(                                                                           \
        op, detail::Elements(dstLocal, srcLocal, dataSize, false, detail::Work(sharedTmpBuffer))); \
    ACLSIM_KEEP_FRAME();                                                                           \
  }                                                                                                \
  template <typename T, bool highPrecision = false, bool highPerformance = false>                  \
  void Name(const LocalTensor<T>& dstLocal, const LocalTensor<T>& srcLocal,                        \
            const uint32_t dataSize) {                                                             \
    aclsim::HighElement(op, detail::Elements(dstLocal, srcLocal, dataSize));                       \
    ACLSIM_KEEP_FRAME();                                                                           \
  }
ACLSIM_HIGH_GELU(Gelu, aclsim::High::kGelu)
ACLSIM_HIGH_GELU(FasterGelu, aclsim::High::kFasterGelu)
ACLSIM_HIGH_GELU(FasterGeluV2, aclsim::High::kFasterGeluV2)
#undef ACLSIM_HIGH_GELU

// More terms of the series cost time on hardware; the value is that of the function for any number of them.
template <typename T, uint8_t taylorExpandLevel, bool isReuseSource = false>
void Exp(const LocalTensor<T>& dstLocal, const LocalTensor<T>& srcLocal,
         const LocalTensor<uint8_t>& sharedTmpBuffer, const uint32_t calCount) {
  aclsim::HighElement(
      aclsim::High::kExp,
      detail::Elements(dstLocal, srcLocal, calCount, isReuseSource, detail::Work(sharedTmpBuffer)));
  ACLSIM_KEEP_FRAME();
}
template <typename T, uint8_t taylorExpandLevel, bool isReuseSource = false>
void Exp(const LocalTensor<T>& dstLocal, const LocalTensor<T>& srcLocal, const uint32_t calCount) {
  aclsim::HighElement(aclsim::High::kExp,
                      detail::Elements(dstLocal, srcLocal, calCount, isReuseSource));
  ACLSIM_KEEP_FRAME();
}

// Two sources, or a source and a scalar on either side.
#define ACLSIM_HIGH_BINARY(Name, op)                                                         \
  template <typename T, bool isReuseSource = false>                                          \
  void Name(const LocalTensor<T>& dstTensor, const LocalTensor<T>& src0Tensor,               \
            const LocalTensor<T>& src1Tensor, const LocalTensor<uint8_t>& sharedTmpBuffer,   \
            const uint32_t calCount) {                                                       \
    aclsim::HighElement(op, detail::Elements(dstTensor, src0Tensor, src1Tensor, calCount,    \
                                             isReuseSource, detail::Work(sharedTmpBuffer))); \
    ACLSIM_KEEP_FRAME();                                                                     \
  }                                                                                          \
  template <typename T, bool isReuseSource = false>                                          \
  void Name(const LocalTensor<T>& dstTensor, const LocalTensor<T>& src0Tensor,               \
            const LocalTensor<T>& src1Tensor, const LocalTensor<uint8_t>& sharedTmpBuffer) { \
    Name<T, isReuseSource>(dstTensor, src0Tensor, src1Tensor, sharedTmpBuffer,               \
                           src0Tensor.GetSize());                                            \
    ACLSIM_KEEP_FRAME();                                                                     \
  }                                                                                          \
  template <typename T, bool isReuseSource = false>                                          \
  void Name(const LocalTensor<T>& dstTensor, const LocalTensor<T>& src0Tensor,               \
            const LocalTensor<T>& src1Tensor, const uint32_t calCount) {                     \
    aclsim::HighElement(                                                                     \
        op, detail::Elements(dstTensor, src0Tensor, src1Tensor, calCount, isReuseSource));   \
    ACLSIM_KEEP_FRAME();                                                                     \
  }                                                                                          \
  template <typename T, bool isReuseSource = false>                                          \
  void Name(const LocalTensor<T>& dstTensor, const LocalTensor<T>& src0Tensor,               \
            const LocalTensor<T>& src1Tensor) {                                              \
    Name<T, isReuseSource>(dstTensor, src0Tensor, src1Tensor, src0Tensor.GetSize());         \
    ACLSIM_KEEP_FRAME();                                                                     \
  }
ACLSIM_HIGH_BINARY(Power, aclsim::High::kPower)
ACLSIM_HIGH_BINARY(Fmod, aclsim::High::kFmod)
ACLSIM_HIGH_BINARY(Xor, aclsim::High::kXor)
ACLSIM_HIGH_BINARY(GeGLU, aclsim::High::kGeGlu)
#undef ACLSIM_HIGH_BINARY

namespace detail {
template <typename T>
aclsim::HighElements PowerScalar(const LocalTensor<T>& dst, const LocalTensor<T>& src, T scalar,
                                 int side, uint32_t count, const aclsim::HighWork& work = {}) {
  aclsim::HighElements call;
  call.dst = dst;
  call.src[1 - side] = src;
  call.scalar[side] = true;
  call.value = Scalar(scalar);
  call.count = count;
  call.work = work;
  return call;
}
}  // namespace detail

#define ACLSIM_HIGH_POWER(first, second, tensor, scalar, side)                                   \
  template <typename T, bool isReuseSource = false>                                              \
  void Power(const LocalTensor<T>& dstTensor, first, second,                                     \
             const LocalTensor<uint8_t>& sharedTmpBuffer, uint32_t calCount) {                   \
    aclsim::HighElement(aclsim::High::kPower,                                                    \
                        detail::PowerScalar(dstTensor, tensor, scalar, side, calCount,           \
                                            detail::Work(sharedTmpBuffer)));                     \
    ACLSIM_KEEP_FRAME();                                                                         \
  }                                                                                              \
  template <typename T, bool isReuseSource = false>                                              \
  void Power(const LocalTensor<T>& dstTensor, first, second,                                     \
             const LocalTensor<uint8_t>& sharedTmpBuffer) {                                      \
    aclsim::HighElement(aclsim::High::kPower,                                                    \
                        detail::PowerScalar(dstTensor, tensor, scalar, side, tensor.GetSize(),   \
                                            detail::Work(sharedTmpBuffer)));                     \
    ACLSIM_KEEP_FRAME();                                                                         \
  }                                                                                              \
  template <typename T, bool isReuseSource = false>                                              \
  void Power(const LocalTensor<T>& dstTensor, first, second, uint32_t calCount) {                \
    aclsim::HighElement(aclsim::High::kPower,                                                    \
                        detail::PowerScalar(dstTensor, tensor, scalar, side, calCount));         \
    ACLSIM_KEEP_FRAME();                                                                         \
  }                                                                                              \
  template <typename T, bool isReuseSource = false>                                              \
  void Power(const LocalTensor<T>& dstTensor, first, second) {                                   \
    aclsim::HighElement(aclsim::High::kPower,                                                    \
                        detail::PowerScalar(dstTensor, tensor, scalar, side, tensor.GetSize())); \
    ACLSIM_KEEP_FRAME();                                                                         \
  }
ACLSIM_HIGH_POWER(const LocalTensor<T>& src0Tensor, const T& src1Scalar, src0Tensor, src1Scalar, 1)
ACLSIM_HIGH_POWER(const T& src0Scalar, const LocalTensor<T>& src1Tensor, src1Tensor, src0Scalar, 0)
#undef ACLSIM_HIGH_POWER

#define ACLSIM_HIGH_CLAMP(Name, op)                                                             \
  template <typename T, bool isReuseSource = false>                                             \
  void Name(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor,                   \
            const LocalTensor<uint8_t>& sharedTmpBuffer, const T scalar,                        \
            const uint32_t calCount) {                                                          \
    aclsim::HighElement(                                                                        \
        op, detail::With(detail::Elements(dstTensor, srcTensor, calCount, isReuseSource,        \
                                          detail::Work(sharedTmpBuffer)),                       \
                         scalar));                                                              \
    ACLSIM_KEEP_FRAME();                                                                        \
  }                                                                                             \
  template <typename T, bool isReuseSource = false>                                             \
  void Name(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor, const T scalar,   \
            const uint32_t calCount) {                                                          \
    aclsim::HighElement(                                                                        \
        op,                                                                                     \
        detail::With(detail::Elements(dstTensor, srcTensor, calCount, isReuseSource), scalar)); \
    ACLSIM_KEEP_FRAME();                                                                        \
  }
ACLSIM_HIGH_CLAMP(ClampMax, aclsim::High::kClampMax)
ACLSIM_HIGH_CLAMP(ClampMin, aclsim::High::kClampMin)
#undef ACLSIM_HIGH_CLAMP

// dst += src * scalar, rounded once: finer than the instruction of the same name.
template <typename T, typename U, bool isReuseSource = false>
void Axpy(const LocalTensor<T>& dstTensor, const LocalTensor<U>& srcTensor, const U scalarValue,
          const LocalTensor<uint8_t>& sharedTmpBuffer, const uint32_t calCount) {
  aclsim::HighElements call = detail::Elements(dstTensor, srcTensor, calCount, isReuseSource,
                                               detail::Work(sharedTmpBuffer));
  call.src[1] = dstTensor;
  aclsim::HighElement(aclsim::High::kAxpy, detail::With(call, scalarValue));
  ACLSIM_KEEP_FRAME();
}

template <typename T, bool isReuseSource = false>
void Silu(const LocalTensor<T>& dstLocal, const LocalTensor<T>& srcLocal, uint32_t dataSize) {
  aclsim::HighElement(aclsim::High::kSilu, detail::Elements(dstLocal, srcLocal, dataSize));
  ACLSIM_KEEP_FRAME();
}
template <typename T, bool isReuseSource = false>
void Swish(const LocalTensor<T>& dstLocal, const LocalTensor<T>& srcLocal, uint32_t dataSize,
           const T scalarValue) {
  aclsim::HighElement(aclsim::High::kSwish,
                      detail::With(detail::Elements(dstLocal, srcLocal, dataSize), scalarValue));
  ACLSIM_KEEP_FRAME();
}

// src0 * Swish(src1)
template <typename T, bool isReuseSource = false>
void SwiGLU(LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor0,
            const LocalTensor<T>& srcTensor1, const float& scalarValue,
            const LocalTensor<uint8_t>& sharedTmpBuffer, const uint32_t calCount) {
  aclsim::HighElement(aclsim::High::kSwiGlu,
                      detail::With(detail::Elements(dstTensor, srcTensor0, srcTensor1, calCount,
                                                    isReuseSource, detail::Work(sharedTmpBuffer)),
                                   scalarValue));
  ACLSIM_KEEP_FRAME();
}
template <typename T, bool isReuseSource = false>
void SwiGLU(LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor0,
            const LocalTensor<T>& srcTensor1, const float& scalarValue,
            const LocalTensor<uint8_t>& sharedTmpBuffer) {
  SwiGLU<T, isReuseSource>(dstTensor, srcTensor0, srcTensor1, scalarValue, sharedTmpBuffer,
                           srcTensor0.GetSize());
  ACLSIM_KEEP_FRAME();
}
template <typename T, bool isReuseSource = false>
void SwiGLU(LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor0,
            const LocalTensor<T>& srcTensor1, const float& scalarValue, const uint32_t calCount) {
  aclsim::HighElement(
      aclsim::High::kSwiGlu,
      detail::With(detail::Elements(dstTensor, srcTensor0, srcTensor1, calCount, isReuseSource),
                   scalarValue));
  ACLSIM_KEEP_FRAME();
}
template <typename T, bool isReuseSource = false>
void SwiGLU(LocalTensor<T>& dstTensor, LocalTensor<T>& srcTensor0, LocalTensor<T>& srcTensor1,
            const float& scalarValue) {
  SwiGLU<T, isReuseSource>(dstTensor, srcTensor0, srcTensor1, scalarValue, srcTensor0.GetSize());
  ACLSIM_KEEP_FRAME();
}

// src0 * Relu(src1)
template <typename T, bool isReuseSource = false>
void ReGlu(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor0,
           const LocalTensor<T>& srcTensor1, const LocalTensor<uint8_t>& sharedTmpBuffer,
           const uint32_t calCount) {
  aclsim::HighElement(aclsim::High::kReGlu,
                      detail::Elements(dstTensor, srcTensor0, srcTensor1, calCount, isReuseSource,
                                       detail::Work(sharedTmpBuffer)));
  ACLSIM_KEEP_FRAME();
}
template <typename T, bool isReuseSource = false>
void ReGlu(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor0,
           const LocalTensor<T>& srcTensor1, const uint32_t calCount) {
  aclsim::HighElement(aclsim::High::kReGlu,
                      detail::Elements(dstTensor, srcTensor0, srcTensor1, calCount, isReuseSource));
  ACLSIM_KEEP_FRAME();
}

#undef ACLSIM_HIGH_ALL
#undef ACLSIM_HIGH_COUNT
#undef ACLSIM_HIGH_WHOLE
#undef ACLSIM_HIGH_WORK
#undef ACLSIM_HIGH_WORK_COUNT

}  // namespace AscendC
