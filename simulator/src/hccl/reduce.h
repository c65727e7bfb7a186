// SPDX-License-Identifier: Apache-2.0
// Reductions of HCCL on plain arrays. Each step rounds to the type, as on the device.
#pragma once

#include <algorithm>
#include <cstdint>

#include "hccl/hccl_types.h"
#include "opdev/bfloat16.h"
#include "opdev/fp16_t.h"

namespace aclsim {

// Bytes of an element; 0 for what is no type.
inline uint64_t HcclTypeBytes(uint32_t type) {
  switch (type) {
    case HCCL_DATA_TYPE_INT8:
    case HCCL_DATA_TYPE_UINT8:
    case HCCL_DATA_TYPE_HIF8:
    case HCCL_DATA_TYPE_FP8E4M3:
    case HCCL_DATA_TYPE_FP8E5M2:
    case HCCL_DATA_TYPE_FP8E8M0:
      return 1;
    case HCCL_DATA_TYPE_INT16:
    case HCCL_DATA_TYPE_UINT16:
    case HCCL_DATA_TYPE_FP16:
    case HCCL_DATA_TYPE_BFP16:
      return 2;
    case HCCL_DATA_TYPE_INT32:
    case HCCL_DATA_TYPE_UINT32:
    case HCCL_DATA_TYPE_FP32:
      return 4;
    case HCCL_DATA_TYPE_INT64:
    case HCCL_DATA_TYPE_UINT64:
    case HCCL_DATA_TYPE_FP64:
      return 8;
    case HCCL_DATA_TYPE_INT128:
      return 16;
    default:
      return 0;
  }
}

template <typename T, typename Wide>
void ReduceAs(uint32_t op, uint8_t* into, const uint8_t* from, uint64_t count) {
  auto* const a = reinterpret_cast<T*>(into);
  const auto* const b = reinterpret_cast<const T*>(from);
  const auto loop = [&](auto step) {
    for (uint64_t i = 0; i < count; ++i) {
      a[i] = static_cast<T>(step(static_cast<Wide>(a[i]), static_cast<Wide>(b[i])));
    }
  };
  switch (op) {
    case HCCL_REDUCE_SUM:
      return loop([](Wide x, Wide y) { return x + y; });
    case HCCL_REDUCE_PROD:
      return loop([](Wide x, Wide y) { return x * y; });
    case HCCL_REDUCE_MAX:
      return loop([](Wide x, Wide y) { return x != x || x > y ? x : y; });
    default:
      return loop([](Wide x, Wide y) { return x != x || x < y ? x : y; });
  }
}

// into = into op from. False for a type that HCCL does not reduce.
inline bool HcclReduceInto(uint32_t type, uint32_t op, uint8_t* into, const uint8_t* from,
                           uint64_t count) {
  switch (type) {
    case HCCL_DATA_TYPE_INT8:
      return ReduceAs<int8_t, int32_t>(op, into, from, count), true;
    case HCCL_DATA_TYPE_INT16:
      return ReduceAs<int16_t, int32_t>(op, into, from, count), true;
    case HCCL_DATA_TYPE_INT32:
      return ReduceAs<int32_t, int64_t>(op, into, from, count), true;
    case HCCL_DATA_TYPE_INT64: {
      // The unsigned type wraps where the signed one may not.
      return op == HCCL_REDUCE_SUM || op == HCCL_REDUCE_PROD
                 ? ReduceAs<uint64_t, uint64_t>(op, into, from, count)
                 : ReduceAs<int64_t, int64_t>(op, into, from, count),
             true;
    }
    case HCCL_DATA_TYPE_FP16:
      return ReduceAs<op::fp16_t, float>(op, into, from, count), true;
    case HCCL_DATA_TYPE_BFP16:
      return ReduceAs<op::bfloat16, float>(op, into, from, count), true;
    case HCCL_DATA_TYPE_FP32:
      return ReduceAs<float, float>(op, into, from, count), true;
    default:
      return false;
  }
}

}  // namespace aclsim
