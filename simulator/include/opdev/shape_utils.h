// SPDX-License-Identifier: Apache-2.0
// Shapes: text, conversion, broadcasting.
#pragma once

#include "opdev/common_types.h"
#include "opdev/data_type_utils.h"

namespace op {

ge::AscendString ToString(const Shape& shape);
ge::AscendString ToString(const Strides& strides);
void ToShape(const int64_t* dims, uint64_t dimNum, Shape& shape);
void ToShape(const ShapeVector& dims, Shape& shape);
ShapeVector ToShapeVector(const Shape& shape);
// Right-aligned dims are equal or one of them is 1.
bool CheckBroadcastShape(const Shape& self, const Shape& other);
bool BroadcastInferShape(const Shape& self, const Shape& other, Shape& broadcastShape);

}  // namespace op
