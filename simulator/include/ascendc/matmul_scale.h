// SPDX-License-Identifier: Apache-2.0
// The scales of A and B of MX types: one for 32 elements along K. L1 has them in fractals of 16 x 2. A fractal has two scales of each
// of 16 rows of A, or of 16 columns of B, and rows follow each other.
#pragma once

#include "ascendc/matmul_operand.h"

namespace AscendC::detail::mm {

// The type of an operand in L0, which says for eight bits that scales lie beside it.
template <typename T, bool isScaled>
struct InL0 {
  using Type = T;
};
template <>
struct InL0<fp8_e4m3fn_t, true> {
  using Type = mx_fp8_e4m3_t;
};
template <>
struct InL0<fp8_e5m2_t, true> {
  using Type = mx_fp8_e5m2_t;
};

constexpr uint32_t kScalesOfFractal = ONE_BLK_SIZE;  // 16 rows of two

inline uint32_t BytesOfScales(uint32_t outer, uint32_t k) {
  return PartsOf(outer, kRows) * PartsOf(k, kPair) * kScalesOfFractal;
}

template <typename Type, bool isLeft, bool = kIsScaled<Type>>
class Scales {
 public:
  static constexpr bool kInL1 = kHasScalesInL1<Type>;
  static constexpr const char* kName = isLeft ? "scaleA" : "scaleB";
  static constexpr const char* kCall = isLeft ? "SetTensorScaleA" : "SetTensorScaleB";

  void Set(const GlobalTensor<fp8_e8m0_t>& gm, bool transposed) {
    SetLayout(transposed);
    gm_ = gm;
  }
  void Set(const LocalTensor<fp8_e8m0_t>& local, bool transposed) {
    SetLayout(transposed);
    whole_ = local;
  }
  bool IsSet() const { return isSet_; }

  // The scales of `outer` x `k` elements from (outer0, k0) on, of a matrix of `ofOuter` x `ofK`.
  Block<fp8_e8m0_t> ToL1(const LocalTensor<fp8_e8m0_t>& to, uint32_t outer0, uint32_t outer,
                         uint32_t k0, uint32_t k, uint32_t ofOuter, uint32_t ofK) const {
    const uint32_t pairs = PartsOf(k, kPair), first = k0 / kPair, inGm = PartsOf(ofK, kPair);
    if constexpr (Type::scaleFormat == CubeFormat::NZ) {
      DataCopy(
          to, gm_[(uint64_t{outer0} / kRows * inGm + first) * kScalesOfFractal],
          DataCopyParams(static_cast<uint16_t>(PartsOf(outer, kRows)), static_cast<uint16_t>(pairs),
                         static_cast<uint16_t>(inGm - pairs), 0));
    } else {
      CopyPairs(to, outer0, outer, first, pairs, ofOuter, inGm);
    }
    return {to, pairs, 0};
  }
  // All of them, in a tensor of the kernel's own.
  Block<fp8_e8m0_t> Whole(uint32_t k) const { return {whole_, PartsOf(k, kPair), 0}; }

 private:
  void SetLayout(bool transposed) {
    if constexpr (Type::scaleFormat == CubeFormat::NZ) {
      if (transposed == isLeft) {
        Misuse(kCall, isLeft ? "Pass false." : "Pass true.",
               "%s is NZ, whose fractals lie as those of a matrix that is %stransposed", kName,
               isLeft ? "not " : "");
      }
    } else if (transposed && !Type::isScaleTrans) {
      Misuse(kCall, "Set SCALE_ISTRANS of the MatmulTypeWithScale as well.",
             "%s is to be transposed, which its MatmulTypeWithScale does not say", kName);
    }
    transposed_ = transposed;
    isSet_ = true;
  }
  // A pair of scales along K is moved as a number of 16 bits: in GM these are a matrix of K / 64 rows, or of as many columns.
  void CopyPairs(const LocalTensor<fp8_e8m0_t>& to, uint32_t outer0, uint32_t outer, uint32_t first,
                 uint32_t pairs, uint32_t ofOuter, uint32_t inGm) const {
    const LocalTensor<half> there = to.template ReinterpretCast<half>();
    GlobalTensor<half> from;
    from.SetGlobalBuffer(reinterpret_cast<__gm__ half*>(gm_.GetPhyAddr()));
    if (transposed_ != isLeft) {
#if __NPU_ARCH__ == 3510
      Dn2NzParams p;
      p.dnNum = 1, p.nValue = pairs, p.dValue = outer, p.srcDValue = inGm;
      p.dstNzC0Stride = pairs, p.dstNzNStride = 1;
      DataCopy(there, from[uint64_t{outer0} * inGm + first], p);
#endif
      return;
    }
    if (ofOuter > UINT16_MAX) {
      Misuse("Iterate", isLeft ? "Do not transpose scaleA." : "Transpose scaleB.",
             "rows of %s have %u pairs of scales; at most 65535 are simulated", kName, ofOuter);
    }
    DataCopy(there, from[uint64_t{first} * ofOuter + outer0],
             Nd2NzParams(1, pairs, outer, 0, ofOuter, pairs, 1, 0));
  }

  GlobalTensor<fp8_e8m0_t> gm_;
  LocalTensor<fp8_e8m0_t> whole_;
  bool transposed_ = false, isSet_ = false;
};
template <typename Type, bool isLeft>
class Scales<Type, isLeft, false> {};

}  // namespace AscendC::detail::mm
