// SPDX-License-Identifier: Apache-2.0
// Shapes with unknown dims, and axis ranges.
#pragma once

#include "exe_graph/runtime/shape.h"

namespace Ops {
namespace Base {

// A scalar has axis 0 only.
template <typename T1, typename T2>
bool CheckAxisBounds(const T1 dimNum, const T2 axis) {
  const int64_t rank = static_cast<int64_t>(dimNum);
  const int64_t value = static_cast<int64_t>(axis);
  return rank == 0 ? value == 0 : value >= -rank && value < rank;
}
inline void SetUnknownRank(gert::Shape& shape) { shape = gert::Shape({-2}); }
inline bool IsUnknownRank(const gert::Shape& shape) {
  return shape.GetDimNum() == 1 && shape.GetDim(0) == -2;
}
inline void SetUnknownShape(int64_t rank, gert::Shape& shape) {
  shape.SetDimNum(0);
  for (int64_t i = 0; i < rank; ++i) shape.AppendDim(-1);
}
inline bool IsUnknownShape(const gert::Shape& shape) {
  for (size_t i = 0; i < shape.GetDimNum(); ++i) {
    if (shape.GetDim(i) == -1) return true;
  }
  return false;
}

}  // namespace Base
}  // namespace Ops
