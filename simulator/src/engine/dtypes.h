// SPDX-License-Identifier: Apache-2.0
// Element types: how wide they are, what kernels call them.
#pragma once

#include <cstddef>

#include "ascendc/device_abi.h"

namespace aclsim {

constexpr size_t kDTypes = 19;

// Returns whether it is a floating-point type that instructions compute with.
inline bool IsReal(DType dtype) {
  return dtype == DType::kFloat || dtype == DType::kHalf || dtype == DType::kBf16;
}

inline size_t WidthOf(DType dtype) {
  constexpr uint8_t kWidth[kDTypes] = {4, 2, 2, 1, 1, 2, 2, 4, 4, 8, 8, 1, 8, 1, 1, 1, 1, 1, 1};
  return kWidth[static_cast<size_t>(dtype)];
}
inline const char* NameOf(DType dtype) {
  constexpr const char* kName[kDTypes] = {
      "float",      "half",         "bfloat16_t",   "int8_t",       "uint8_t",
      "int16_t",    "uint16_t",     "int32_t",      "uint32_t",     "int64_t",
      "uint64_t",   "bool",         "double",       "fp8_e4m3fn_t", "fp8_e5m2_t",
      "hifloat8_t", "fp4x2_e2m1_t", "fp4x2_e1m2_t", "fp8_e8m0_t"};
  return kName[static_cast<size_t>(dtype)];
}

}  // namespace aclsim
