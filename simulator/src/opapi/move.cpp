// SPDX-License-Identifier: Apache-2.0
// Functions that move, convert and fill: Copy, Cast, Fill, Cat, Pad.
#include <algorithm>
#include <vector>

#include "aclnn_kernels/cast.h"
#include "opapi/functions.h"
#include "opbase/l0_common.h"
#include "opdev/data_type_utils.h"
#include "opdev/shape_utils.h"

namespace opapi {
namespace {

bool Reaches(const op::Shape& from, const op::Shape& to) {
  op::Shape both;
  return op::BroadcastInferShape(from, to, both) && both == to;
}

// The part of out that a tensor of cat goes to.
const aclTensor* Part(const aclTensor* out, const op::Shape& shape, size_t dim, int64_t begin,
                      aclOpExecutor* executor) {
  return executor->CreateView(out, shape, out->GetStorageShape(), out->GetViewStrides(),
                              out->GetViewOffset() + begin * out->GetViewStrides()[dim]);
}

}  // namespace

aclnnStatus Copy(aclTensor* self, const aclTensor* src, aclOpExecutor* executor) {
  if (src->GetDataType() != self->GetDataType()) {
    const aclnnStatus status = CheckElements(executor, {self, src});
    if (status != ACLNN_SUCCESS) return status;
  }
  if (!Reaches(src->GetViewShape(), self->GetViewShape())) {
    return Refuse(
        executor, src, ShapeText(src->GetViewShape()),
        "one that broadcasts to that of selfRef, which is " + ShapeText(self->GetViewShape()));
  }
  return CopyInto(src, self, executor);
}

aclnnStatus Cast(const aclTensor* self, aclDataType type, const aclTensor* out,
                 aclOpExecutor* executor) {
  if (op::ToOpDataType(type) != out->GetDataType()) {
    return Refuse(executor, out, TypeText(out->GetDataType()),
                  "the one of argument dtype, which is " + TypeText(op::ToOpDataType(type)));
  }
  if (self->GetDataType() != out->GetDataType()) {
    const aclnnStatus status = CheckElements(executor, {self, out});
    if (status != ACLNN_SUCCESS) return status;
  }
  if (self->GetViewShape() != out->GetViewShape()) {
    return Refuse(executor, out, ShapeText(out->GetViewShape()),
                  "the shape of self, which is " + ShapeText(self->GetViewShape()));
  }
  return CopyInto(self, out, executor);
}

aclnnStatus Fill(const aclTensor* self, int64_t value, aclOpExecutor* executor) {
  // Zero is all bytes 0 in every type.
  if (value != 0) {
    const aclnnStatus status = CheckElements(executor, {self});
    if (status != ACLNN_SUCCESS) return status;
  }
  const aclTensor* constant = value == 0
                                  ? executor->AllocHostTensor(op::Shape(), self->GetDataType())
                                  : Number(value, self->GetDataType(), executor);
  return constant == nullptr ? ACLNN_ERR_INNER_NULLPTR : CopyInto(constant, self, executor);
}

aclnnStatus Fill(const aclTensor* self, const aclScalar* value, aclOpExecutor* executor) {
  aclnnStatus status = CheckElements(executor, {self});
  if (status == ACLNN_SUCCESS) status = CheckElements("value", value);
  if (status != ACLNN_SUCCESS) return status;
  const aclTensor* constant = Number(value, self->GetDataType(), executor);
  return constant == nullptr ? ACLNN_ERR_INNER_NULLPTR : CopyInto(constant, self, executor);
}

aclnnStatus Fill(const aclTensor* self, const aclTensor* value, aclOpExecutor* executor) {
  if (value->GetViewShape().GetDimNum() > 1 || value->Numel() != 1) {
    return Refuse(executor, value, ShapeText(value->GetViewShape()), "[] or [1]");
  }
  const aclnnStatus status = CheckElements(executor, {self, value});
  if (status != ACLNN_SUCCESS || self->IsEmpty()) return status;
  const aclTensor* one = executor->CreateView(value, op::Shape(), value->GetStorageShape(),
                                              op::Strides(), value->GetViewOffset());
  return one == nullptr ? ACLNN_ERR_INNER_NULLPTR : CopyInto(one, self, executor);
}

aclnnStatus Cat(const aclTensorList* tensors, int64_t dim, const aclTensor* out,
                aclOpExecutor* executor) {
  const op::Shape& whole = out->GetViewShape();
  const auto rank = static_cast<int64_t>(whole.GetDimNum());
  if (dim < -rank || dim >= rank) {
    return Refuse("dim", std::to_string(dim), "a dim of out of " + ShapeText(whole));
  }
  const auto axis = static_cast<size_t>(dim < 0 ? dim + rank : dim);
  int64_t begin = 0;
  for (uint64_t i = 0; i < tensors->Size(); ++i) {
    const aclTensor* tensor = tensors->GetData()[i];
    if (tensor == nullptr) {
      OP_LOGE(ACLNN_ERR_PARAM_NULLPTR, "tensors[%lu]: got a null pointer, want a live handle",
              static_cast<unsigned long>(i));
      return ACLNN_ERR_PARAM_NULLPTR;
    }
    const op::Shape& shape = tensor->GetViewShape();
    // A list that was empty once goes with every shape.
    if (shape.GetDimNum() == 1 && shape[0] == 0) continue;
    op::Shape want = whole;
    if (shape.GetDimNum() == whole.GetDimNum()) want.SetDim(axis, shape[axis]);
    if (shape != want || shape[axis] > whole[axis] - begin) {
      return Refuse(executor, tensor, ShapeText(shape),
                    "a part of out of " + ShapeText(whole) + " along dim " + std::to_string(axis) +
                        ", which is full up to " + std::to_string(begin));
    }
    if (tensor->GetDataType() != out->GetDataType()) {
      const aclnnStatus status = CheckElements(executor, {tensor, out});
      if (status != ACLNN_SUCCESS) return status;
    }
    const aclTensor* part = Part(out, shape, axis, begin, executor);
    const aclnnStatus status =
        part == nullptr ? ACLNN_ERR_INNER_NULLPTR : CopyInto(tensor, part, executor);
    if (status != ACLNN_SUCCESS) return status;
    begin += shape[axis];
  }
  if (begin != whole[axis]) {
    return Refuse("out", ShapeText(whole),
                  std::to_string(begin) + " along dim " + std::to_string(axis) +
                      ", which is what the tensors have together");
  }
  return ACLNN_SUCCESS;
}

aclnnStatus Pad(const aclTensor* self, const aclIntArray* pad, const aclScalar* value,
                const aclTensor* out, aclOpExecutor* executor) {
  const op::Shape& from = self->GetViewShape();
  const size_t rank = from.GetDimNum();
  if (pad->Size() % 2 != 0 || pad->Size() > 2 * rank) {
    return Refuse("pad", std::to_string(pad->Size()) + " numbers",
                  "two for each dim from the last, of self's " + std::to_string(rank));
  }
  if (self->GetDataType() != out->GetDataType()) {
    return Refuse(executor, out, TypeText(out->GetDataType()), TypeText(self->GetDataType()));
  }
  op::Shape want = from;
  op::Shape kept = from;
  int64_t source = self->GetViewOffset();
  int64_t target = out->GetViewOffset();
  std::vector<int64_t> begin(rank);
  for (size_t i = 0; i < pad->Size() / 2; ++i) {
    const size_t dim = rank - 1 - i;
    const int64_t before = (*pad)[2 * i];
    const int64_t after = (*pad)[2 * i + 1];
    want.SetDim(dim, from[dim] + before + after);
    // A negative number takes elements away.
    kept.SetDim(dim,
                std::max<int64_t>(
                    from[dim] + std::min<int64_t>(before, 0) + std::min<int64_t>(after, 0), 0));
    source += std::max<int64_t>(-before, 0) * self->GetViewStrides()[dim];
    begin[dim] = std::max<int64_t>(before, 0);
  }
  if (out->GetViewShape() != want) {
    return Refuse(executor, out, ShapeText(out->GetViewShape()), ShapeText(want));
  }
  const aclnnStatus status = Fill(out, value, executor);
  if (status != ACLNN_SUCCESS || kept.GetShapeSize() == 0) return status;
  for (size_t dim = 0; dim < rank; ++dim) target += begin[dim] * out->GetViewStrides()[dim];
  const aclTensor* part =
      executor->CreateView(self, kept, self->GetStorageShape(), self->GetViewStrides(), source);
  const aclTensor* place =
      executor->CreateView(out, kept, out->GetStorageShape(), out->GetViewStrides(), target);
  return part == nullptr || place == nullptr ? ACLNN_ERR_INNER_NULLPTR
                                             : CopyInto(part, place, executor);
}

}  // namespace opapi
