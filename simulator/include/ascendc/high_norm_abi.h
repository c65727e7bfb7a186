// SPDX-License-Identifier: Apache-2.0
// The templates of normalisation pack these operands. Bodies are in src/device/high_norm.cpp.
#pragma once

#include "ascendc/high_abi.h"

namespace aclsim {

enum class HighNorm : uint8_t {
  kLayerNorm,
  kLayerNormRows,  // the form of [A, R]
  kRmsNorm,
  kGroupNorm,
  kBatchNorm,
  kNormalize,
  kCount
};
// Rows of `counted` elements are normalised: (x - mean) / sqrt(variance + epsilon) * gamma + beta.
struct HighNormCall {
  Ub dst;
  Ub src;
  Ub mean;      // results, or operands of Normalize
  Ub variance;  // likewise
  Ub rstd;
  Ub gamma;
  Ub beta;
  HighWork work;
  uint32_t rows = 0;
  uint32_t counted = 0;
  uint32_t step = 0;      // elements from row to row; batch norm: from element to element of a row
  uint32_t channels = 1;  // group norm: in a group, each with a gamma of its own
  uint32_t groups = 1;    // group norm: in a batch
  float epsilon = 0;
  bool hasMean = false;
  bool hasVariance = false;
  bool hasRstd = false;
  bool hasGamma = true;
  bool hasBeta = true;
  bool reuseSource = false;
};
ACLSIM_DEVICE_API void HighNormalize(HighNorm op, const HighNormCall& call);

// One more value for every lane: mean += (x - mean) / count, and the sum of squared differences to go with it.
struct HighWelfordUpdateCall {
  Ub outMean;
  Ub outVariance;
  Ub inMean;
  Ub inVariance;
  Ub src;
  HighWork work;
  uint32_t rows = 1;
  uint32_t length = 0;
  uint32_t counted = 0;
  float reciprocal = 0;  // of the count
  bool keepRest = false;
  bool reuseSource = false;
};
ACLSIM_DEVICE_API void HighWelfordUpdate(const HighWelfordUpdateCall& call);

// The lanes' means and sums become one; every lane stands for as many values as its count says.
struct HighWelfordFinalizeCall {
  Ub outMean;
  Ub outVariance;
  Ub inMean;
  Ub inVariance;
  Ub counts;
  HighWork work;
  bool hasCounts = false;
  uint32_t length = 0;
  uint32_t headCount = 0;
  uint32_t headLength = 0;
  uint32_t tailCount = 0;
  uint32_t tailLength = 0;
  float laneReciprocal = 0;  // of the number of lanes
  float reciprocal = 0;      // of the number of values
};
ACLSIM_DEVICE_API void HighWelfordFinalize(const HighWelfordFinalizeCall& call);

}  // namespace aclsim
