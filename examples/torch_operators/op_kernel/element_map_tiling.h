// SPDX-License-Identifier: Apache-2.0
// The host tells the element_map kernel this; both know the formulas.
#ifndef ELEMENT_MAP_TILING_H
#define ELEMENT_MAP_TILING_H

#include <cstdint>

// A formula is of elements a, b and c at the same place and of the numbers s and t. The last column says what it computes.
#define ELEMENT_MAP_FORMULAS(FORMULA)                                         \
  FORMULA(Linear)            /* a * s + t */                                  \
  FORMULA(AddScaled)         /* a + s * b */                                  \
  FORMULA(Multiply)          /* a * b */                                      \
  FORMULA(Divide)            /* a / b */                                      \
  FORMULA(Maximum)           /* max(a, b) */                                  \
  FORMULA(Minimum)           /* min(a, b) */                                  \
  FORMULA(Clamp)             /* min(max(a, s), t) */                          \
  FORMULA(Absolute)          /* |a| */                                        \
  FORMULA(IsEqual)           /* a == b ? 1 : 0 */                             \
  FORMULA(IsGreater)         /* a > b ? 1 : 0 */                              \
  FORMULA(Select)            /* a != 0 ? b : c */                             \
  FORMULA(AddProduct)        /* a + s * b * c */                              \
  FORMULA(Index)             /* a, which s <= a < t or a == b; whole */       \
  FORMULA(AddQuotient)       /* a + s * b / c; floating point from here on */ \
  FORMULA(Exponential)       /* exp(a) */                                     \
  FORMULA(Logarithm)         /* ln(a) */                                      \
  FORMULA(SquareRoot)        /* sqrt(a) */                                    \
  FORMULA(Raise)             /* a to the power of b */                        \
  FORMULA(ErrorIntegral)     /* erf(a) */                                     \
  FORMULA(HyperbolicTangent) /* tanh(a) */                                    \
  FORMULA(Sine)              /* sin(a) */                                     \
  FORMULA(Cosine)            /* cos(a) */                                     \
  FORMULA(Logistic)          /* 1 / (1 + exp(-a)) */

enum class ElementMapFormula : int32_t {
#define ELEMENT_MAP_ENUMERATOR(name) k##name,
  ELEMENT_MAP_FORMULAS(ELEMENT_MAP_ENUMERATOR)
#undef ELEMENT_MAP_ENUMERATOR
};

struct ElementMapTilingData {
  int64_t elements;
  int64_t tilesPerCore;  // of each core but the last
  int32_t formula;
  float s;
  float t;
  int32_t unused;
  int64_t wholeS;  // s and t for whole numbers
  int64_t wholeT;
};

constexpr int64_t kMapTile = 2048;  // elements that a core computes at a time

#endif  // ELEMENT_MAP_TILING_H
