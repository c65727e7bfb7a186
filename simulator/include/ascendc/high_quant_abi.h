// SPDX-License-Identifier: Apache-2.0
// The templates of quantisation pack these operands. Bodies are in src/device/high_quant.cpp.
#pragma once

#include "ascendc/high_abi.h"

namespace aclsim {

// To int8_t: src * scale + offset, by tensor or by channel.
struct HighQuantCall {
  Ub dst;
  Ub src;
  Ub scale;
  Ub offset;
  HighWork work;
  uint32_t count = 0;
  uint32_t channels = 0;  // elements of scale; 0: it is a scalar
  uint32_t offsets = 0;   // elements of offset; 0: it is a scalar
  float scaleValue = 0;
  float offsetValue = 0;
};
ACLSIM_DEVICE_API void HighQuantize(const HighQuantCall& call);

// Rows of int32_t times a scale per column. Rows of the result are padded to whole blocks.
struct HighDequantCall {
  Ub dst;
  Ub src;
  Ub scale;
  HighWork work;
  bool scalar = false;
  float scaleValue = 0;
  uint32_t rows = 0;
  uint32_t columns = 0;
  uint32_t counted = 0;
};
ACLSIM_DEVICE_API void HighDequantize(const HighDequantCall& call);

// From int8_t: (src + offset) * scale, by tensor, or by channels that share a row of K elements in groups.
struct HighAntiQuantCall {
  Ub dst;
  Ub src;
  Ub offset;
  Ub scale;
  HighWork work;
  bool scalar = false;
  bool hasOffset = true;
  bool transposed = false;  // rows are channels
  float offsetValue = 0;
  float scaleValue = 0;
  uint32_t count = 0;
  uint32_t k = 0;
  uint32_t scales = 0;  // elements of scale
};
ACLSIM_DEVICE_API void HighAntiQuantize(const HighAntiQuantCall& call);

}  // namespace aclsim
