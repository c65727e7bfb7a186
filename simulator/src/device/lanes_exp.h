// SPDX-License-Identifier: Apache-2.0
// exp of float, correctly rounded for every float (tests/sim/instructions/lanes_check.cpp): so every host gives the same bits,
// whichever way it takes. As host/level.h says.
#pragma once

#ifdef __AVX512F__
// Its own "undefined" vectors are what gcc 12 and 13 warn of (gcc bug 105593).
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>
#pragma GCC diagnostic pop
#endif

#include "device/lanes_level.h"

namespace aclsim::ACLSIM_LEVEL {

namespace {

// In double, rounded once. Fused steps give the same bits on hosts that have to emulate them; what is decided by comparing
// floats elsewhere is decided on their bits here, which every host has vector instructions for.
inline float Exp(float x) {
  const double kLog2e = 0x1.71547652b82fep+0;
  const double kLn2 = 0x1.62e42fefa39efp-1, kLn2Rest = 0x1.abc9e3b39803fp-56;
  const double kShift = 0x1.8p+52;  // its sums have the nearest integer in their low bits
  // At -104 and 104 the result is zero and infinity as a float, and neither as a double.
  const int32_t kMost = 0x42d00000;
  const uint32_t sign = BitsOf(x) & 0x80000000;
  const auto magnitude = static_cast<int32_t>(BitsOf(x) & 0x7fffffff);
  const double wide = FloatOf(static_cast<uint32_t>(magnitude < kMost ? magnitude : kMost) | sign);
  const double shifted = __builtin_fma(wide, kLog2e, kShift);
  const double k = shifted - kShift;
  double r = __builtin_fma(-k, kLn2, wide);
  r = __builtin_fma(-k, kLn2Rest, r);
  // Minimax on [-ln 2 / 2, ln 2 / 2] with 1 at 0, relative error 3e-16; then moved by 1e-16 for exp(-0x1.d2259ap+3).
  double p = 0x1.2a45f1c7ef4a6p-22;
  p = __builtin_fma(p, r, 0x1.730b886f9ba42p-19);
  p = __builtin_fma(p, r, 0x1.a017f66000b84p-16);
  p = __builtin_fma(p, r, 0x1.a01967f7c0196p-13);
  p = __builtin_fma(p, r, 0x1.6c16c20de9196p-10);
  p = __builtin_fma(p, r, 0x1.111111338ab62p-7);
  p = __builtin_fma(p, r, 0x1.555555552f412p-5);
  p = __builtin_fma(p, r, 0x1.5555555548c8p-3);
  p = __builtin_fma(p, r, 0x1.000000000003fp-1);
  p = __builtin_fma(p, r, 0x1.0000000000024p+0);
  p = __builtin_fma(p, r, 1.0);
  uint64_t exponent, bits;
  __builtin_memcpy(&exponent, &shifted, sizeof(exponent));
  __builtin_memcpy(&bits, &p, sizeof(bits));
  bits += exponent << 52;
  double result;
  __builtin_memcpy(&result, &bits, sizeof(result));
  return x != x ? x : static_cast<float>(result);
}

#ifdef __AVX512F__

// 2^(j / 32) = head * e^tail. The heads' bits lack what adding j to their exponent's place puts there.
struct ExpTable {
  alignas(64) uint32_t heads[32];
  alignas(64) float tails[32];
};
constexpr ExpTable kExpTable = {
    {0x3f800000, 0x3f7ecd87, 0x3f7daac3, 0x3f7c980f, 0x3f7b95c2, 0x3f7aa43a, 0x3f79c3d3,
     0x3f78f4f0, 0x3f7837f0, 0x3f778d3a, 0x3f76f532, 0x3f767043, 0x3f75fed7, 0x3f75a15b,
     0x3f75583f, 0x3f7523f6, 0x3f7504f3, 0x3f74fbaf, 0x3f7508a4, 0x3f752c4d, 0x3f75672a,
     0x3f75b9be, 0x3f76248c, 0x3f76a81e, 0x3f7744fd, 0x3f77fbb8, 0x3f78ccdf, 0x3f79b907,
     0x3f7ac0c7, 0x3f7be4ba, 0x3f7d257d, 0x3f7e83b3},
    {0x0p+0f,          -0x1.947416p-25f, 0x1.8d96d4p-25f,  -0x1.dda2fep-25f, -0x1.9c0c22p-27f,
     -0x1.a2fbb4p-25f, 0x1.964902p-25f,  -0x1.2b0dbcp-25f, 0x1.125002p-25f,  -0x1.cde8cep-26f,
     0x1.370be4p-25f,  0x1.336de2p-30f,  -0x1.0a3552p-25f, -0x1.c541b6p-26f, -0x1.00d8acp-27f,
     -0x1.6cb284p-25f, 0x1.26055cp-26f,  0x1.8b2bb8p-26f,  -0x1.05cb44p-25f, -0x1.1c2142p-26f,
     0x1.67a1cap-28f,  -0x1.348e56p-25f, 0x1.a3b5e4p-28f,  -0x1.0b7ec8p-25f, -0x1.f9c306p-27f,
     -0x1.e4c886p-26f, -0x1.6961b4p-28f, -0x1.b5151ep-28f, -0x1.a5217cp-28f, -0x1.ab7132p-26f,
     0x1.61428ep-28f,  -0x1.2ad5f8p-27f}};

// 16 lanes in pairs of floats, whose error is below kExpDoubt: right wherever all values within that far round to the same float.
// The others are few, and left to the one above.
constexpr float kExpDoubt = 0x1p-36f;
constexpr float kExpMost = 64.0f;  // beyond, parts of the pairs may be denormal

inline void Exp16(float* dst, const float* src) {
  const __m512 kShift = _mm512_set1_ps(0x1.8p+23f);
  const __m512 x = _mm512_loadu_ps(src);
  // x = (32 m + j) ln 2 / 32 + r + rest, r exactly; the integer is in the low bits of `shifted`.
  const __m512 shifted = _mm512_fmadd_ps(x, _mm512_set1_ps(0x1.715476p+5f), kShift);
  const __m512 k = _mm512_sub_ps(shifted, kShift);
  const __m512 r = _mm512_fnmadd_ps(k, _mm512_set1_ps(0x1.62e43p-6f), x);
  const __m512i n = _mm512_castps_si512(shifted);
  const __m512 tail = _mm512_permutex2var_ps(_mm512_load_ps(kExpTable.tails), n,
                                             _mm512_load_ps(kExpTable.tails + 16));
  const __m512 rest = _mm512_fnmadd_ps(k, _mm512_set1_ps(-0x1.05c61p-34f), tail);
  // e^(r + rest) = 1 + r + s
  const __m512 whole = _mm512_add_ps(r, rest);
  __m512 p = _mm512_set1_ps(0x1.555556p-5f);
  p = _mm512_fmadd_ps(p, whole, _mm512_set1_ps(0x1.555562p-3f));
  p = _mm512_fmadd_ps(p, whole, _mm512_set1_ps(0.5f));
  const __m512 s = _mm512_fmadd_ps(_mm512_mul_ps(whole, whole), p, rest);
  const __m512i heads = _mm512_permutex2var_epi32(_mm512_load_si512(kExpTable.heads), n,
                                                  _mm512_load_si512(kExpTable.heads + 16));
  const __m512 head = _mm512_castsi512_ps(_mm512_add_epi32(heads, _mm512_slli_epi32(n, 18)));
  // head * (1 + r) = high + dropped
  const __m512 high = _mm512_fmadd_ps(head, r, head);
  const __m512 dropped = _mm512_fmadd_ps(head, r, _mm512_sub_ps(head, high));
  const auto with = [&](float doubt) {
    const __m512 low = _mm512_fmadd_ps(head, _mm512_add_ps(s, _mm512_set1_ps(doubt)), dropped);
    return _mm512_add_ps(high, low);
  };
  const __m512 least = with(-kExpDoubt);
  const __mmask16 sure = _mm512_cmp_ps_mask(least, with(kExpDoubt), _CMP_EQ_OQ) &
                         _mm512_cmp_ps_mask(_mm512_abs_ps(x), _mm512_set1_ps(kExpMost), _CMP_LT_OQ);
  if (sure == 0xffff) [[likely]] {
    _mm512_storeu_ps(dst, least);
    return;
  }
  for (size_t i = 0; i < 16; ++i) {
    dst[i] = Exp(src[i]);
  }
}

#endif

}  // namespace

}  // namespace aclsim::ACLSIM_LEVEL
