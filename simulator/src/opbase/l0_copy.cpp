// SPDX-License-Identifier: Apache-2.0
// l0op functions that move elements without looking at them: Contiguous, ViewCopy, Reshape,
// Transpose, Slice, BroadcastTo.
#include <algorithm>
#include <cstring>

#include "aclnn_kernels/contiguous.h"
#include "aclnn_kernels/reshape.h"
#include "aclnn_kernels/slice.h"
#include "aclnn_kernels/transpose.h"
#include "level0/broadcast_to.h"
#include "opbase/l0_common.h"
#include "opbase/strided_copy.h"
#include "opdev/format_utils.h"
#include "opdev/tensor_view_utils.h"

namespace l0op {

using op::internal::Flow;
using op::internal::HandleMaker;
using op::internal::HostTask;
using op::internal::TensorUse;

bool CheckL0Args(const char* function, const aclTensor* x, const aclOpExecutor* executor) {
  if (x != nullptr && executor != nullptr) return true;
  OP_LOGE(ACLNN_ERR_INNER_NULLPTR, "%s: the %s is NULL", function,
          x == nullptr ? "tensor" : "executor");
  return false;
}

aclTensor* NewResult(const op::Shape& shape, op::DataType dataType, op::Format format,
                     aclOpExecutor* executor) {
  return executor->AllocTensor(shape, dataType, format);
}

bool AddHostTask(const char* name, const std::vector<const aclTensor*>& inputs,
                 const aclTensor* out, Flow flow, HostTask::Body body, aclOpExecutor* executor,
                 bool isViewCopy) {
  op::internal::ExecutorState& state = executor->State();
  std::vector<TensorUse> from;
  const auto inBlocks = [](const aclTensor* x) {
    return op::IsPrivateFormat(x->GetStorageFormat());
  };
  if ((flow != Flow::kMove && std::any_of(inputs.begin(), inputs.end(), inBlocks)) ||
      (flow == Flow::kElements && inBlocks(out))) {
    OP_LOGE(ACLNN_ERR_PARAM_INVALID,
            "%s: elements in a private format are not where the dims say; make the tensor ND first "
            "(TransData)",
            name);
    return false;
  }
  for (const aclTensor* in : inputs) {
    from.emplace_back();
    if (!op::internal::MakeUse(in, state.NameOf(in), &from.back())) return false;
  }
  TensorUse to;
  if (!op::internal::MakeUse(out, state.NameOf(out), &to)) return false;
  if (to.Bytes() == 0) return true;
  auto task =
      std::make_shared<HostTask>(name, std::move(from), std::move(to), flow, std::move(body));
  task->isViewCopy = isViewCopy;
  state.AddTask(std::move(task));
  return true;
}

int64_t StoredElements(const aclTensor* tensor) {
  return op::IsPrivateFormat(tensor->GetStorageFormat()) ? tensor->GetStorageShape().GetShapeSize()
                                                         : tensor->Numel();
}

namespace {

std::vector<int64_t> RowMajor(const std::vector<int64_t>& dims) {
  std::vector<int64_t> strides(dims.size());
  int64_t stride = 1;
  for (size_t i = dims.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= dims[i];
  }
  return strides;
}

bool SubByte(op::DataType dataType) {
  return ge::GetSizeByDataType(dataType) >= ge::kDataTypeSizeBitOffset;
}

void CopyViews(const std::vector<TensorUse>& uses, const std::vector<uint8_t*>& first) {
  const TensorUse& in = uses[0];
  const TensorUse& out = uses[1];
  const uint8_t* src = first[0];
  uint8_t* dst = first[1];
  if (in.rowMajor && out.rowMajor) {
    std::memmove(dst, src, static_cast<size_t>(out.Bytes()));
    return;
  }
  const size_t size = static_cast<size_t>(ge::GetSizeByDataType(in.dataType));
  const bool sameDims = in.dims == out.dims;
  const uint8_t* inStart = src - (in.first - in.begin);
  uint8_t* outStart = dst - (out.first - out.begin);
  const bool overlap = inStart < outStart + out.Bytes() && outStart < inStart + in.Bytes();
  // Through a row-major buffer when memory is shared, or when neither side can be walked with the
  // other's dims.
  if (overlap || (!sameDims && !in.rowMajor && !out.rowMajor)) {
    int64_t elements = 1;
    for (int64_t dim : in.dims) elements *= dim;
    std::vector<uint8_t> buffer(static_cast<size_t>(elements) * size);
    op::internal::StridedCopy(buffer.data(), RowMajor(in.dims), src, in.strides, in.dims, size);
    op::internal::StridedCopy(dst, out.strides, buffer.data(), RowMajor(out.dims), out.dims, size);
  } else if (sameDims) {
    op::internal::StridedCopy(dst, out.strides, src, in.strides, in.dims, size);
  } else if (out.rowMajor) {
    op::internal::StridedCopy(dst, RowMajor(in.dims), src, in.strides, in.dims, size);
  } else {
    op::internal::StridedCopy(dst, out.strides, src, RowMajor(out.dims), out.dims, size);
  }
}

op::Shape ShapeOf(const aclIntArray* values) {
  op::Shape shape;
  for (uint64_t i = 0; i < values->Size(); ++i) shape.AppendDim((*values)[i]);
  return shape;
}

// A contiguous copy of another view of x's storage.
const aclTensor* CopyOfView(const char* name, const aclTensor* x, const op::Shape& shape,
                            const op::Strides& strides, int64_t offset, aclOpExecutor* executor) {
  if (op::IsPrivateFormat(x->GetStorageFormat())) {
    OP_LOGE(ACLNN_ERR_PARAM_INVALID,
            "%s: elements in format %s are not where the dims say; make the tensor ND first", name,
            op::ToString(x->GetStorageFormat()).GetString());
    return nullptr;
  }
  const aclTensor* view = executor->CreateView(x, shape, x->GetStorageShape(), strides, offset);
  aclTensor* out = NewResult(shape, x->GetDataType(), x->GetViewFormat(), executor);
  if (view == nullptr || out == nullptr || !AddCopy(name, view, out, executor)) return nullptr;
  return out;
}

}  // namespace

bool AddCopy(const char* name, const aclTensor* in, const aclTensor* out, aclOpExecutor* executor,
             bool isViewCopy) {
  const bool blocks = op::IsPrivateFormat(in->GetStorageFormat());
  // Outputs of a caller may have the dims for storage: elements are where these say then, whatever the format is called.
  // An input may be a view, whose storage has got other dims.
  const bool toBlocks = op::IsPrivateFormat(out->GetStorageFormat()) &&
                        (blocks || out->GetStorageShape() != out->GetViewShape());
  if (StoredElements(in) != StoredElements(out) || blocks != toBlocks ||
      (blocks && in->GetStorageShape() != out->GetStorageShape())) {
    OP_LOGE(
        ACLNN_ERR_PARAM_INVALID, "%s: %ld elements in format %s do not fit into %ld in %s", name,
        static_cast<long>(StoredElements(in)), op::ToString(in->GetStorageFormat()).GetString(),
        static_cast<long>(StoredElements(out)), op::ToString(out->GetStorageFormat()).GetString());
    return false;
  }
  const bool plain = op::IsContiguous(in) && op::IsContiguous(out);
  if (SubByte(in->GetDataType()) && !plain) {
    OP_LOGE(ACLNN_ERR_PARAM_INVALID, "%s: strided views of the sub-byte type %s have no copy", name,
            op::ToString(in->GetDataType()).GetString());
    return false;
  }
  return AddHostTask(name, {in}, out, Flow::kMove, CopyViews, executor, isViewCopy);
}

const aclTensor* Contiguous(const aclTensor* x, aclOpExecutor* executor) {
  if (!CheckL0Args("Contiguous", x, executor)) return nullptr;
  if (op::IsPrivateFormat(x->GetStorageFormat())) return x;
  if (!op::internal::CheckView(x, executor->State().NameOf(x).c_str())) return nullptr;
  const op::Shape& shape = x->GetViewShape();
  if (op::IsContiguous(x)) {
    // The storage shape is what operators size their results by.
    if (x->GetStorageShape() == shape && x->GetViewOffset() == 0) return x;
    return executor->CreateView(x, shape, x->GetViewOffset());
  }
  aclTensor* out = NewResult(shape, x->GetDataType(), x->GetViewFormat(), executor);
  if (out == nullptr || !AddCopy("Contiguous", x, out, executor)) return nullptr;
  return out;
}

const aclTensor* ViewCopy(const aclTensor* x, const aclTensor* y, aclOpExecutor* executor) {
  if (!CheckL0Args("ViewCopy", x, executor) || !CheckL0Args("ViewCopy", y, executor)) {
    return nullptr;
  }
  const std::string name = executor->State().NameOf(y);
  if (x->GetDataType() != y->GetDataType() || x->Numel() != y->Numel()) {
    OP_LOGE(ACLNN_ERR_PARAM_INVALID, "ViewCopy into %s: a result of %s%s does not fit into %s%s",
            name.c_str(), op::ToString(x->GetDataType()).GetString(),
            op::ToString(x->GetViewShape()).GetString(), op::ToString(y->GetDataType()).GetString(),
            op::ToString(y->GetViewShape()).GetString());
    return nullptr;
  }
  if (!op::internal::CheckView(x, executor->State().NameOf(x).c_str()) ||
      !op::internal::CheckView(y, name.c_str()) || !AddCopy("ViewCopy", x, y, executor, true)) {
    return nullptr;
  }
  return y;
}

const aclTensor* PickViewAsContiguous(const aclTensor* x, aclOpExecutor* executor) {
  if (!CheckL0Args("PickViewAsContiguous", x, executor)) return nullptr;
  if (!op::CanPickViewAsContiguous(x)) {
    OP_LOGE(ACLNN_ERR_PARAM_INVALID, "PickViewAsContiguous: strides %s of shape %s leave gaps",
            op::ToString(x->GetViewStrides()).GetString(),
            op::ToString(x->GetViewShape()).GetString());
    return nullptr;
  }
  std::vector<std::pair<int64_t, int64_t>> dims;  // stride, size
  for (size_t i = 0; i < x->GetViewShape().GetDimNum(); ++i) {
    dims.emplace_back(x->GetViewStrides()[i], x->GetViewShape()[i]);
  }
  std::sort(dims.begin(), dims.end(),
            [](const auto& a, const auto& b) { return a.first > b.first; });
  op::Shape shape;
  for (const auto& dim : dims) shape.AppendDim(dim.second);
  return executor->CreateView(x, shape, x->GetViewOffset());
}

const aclTensor* ReViewToOut(const aclTensor* x, const aclTensor* y, aclOpExecutor* executor) {
  if (!CheckL0Args("ReViewToOut", x, executor) || !CheckL0Args("ReViewToOut", y, executor)) {
    return nullptr;
  }
  return executor->CreateView(x, y->GetViewShape(), x->GetStorageShape(), y->GetViewStrides(),
                              x->GetViewOffset());
}

const aclTensor* Reshape(const aclTensor* x, const op::Shape& shape, aclOpExecutor* executor) {
  if (!CheckL0Args("Reshape", x, executor)) return nullptr;
  op::Shape target = shape;
  int64_t known = 1;
  size_t unknown = target.GetDimNum();
  bool valid = true;
  for (size_t i = 0; i < target.GetDimNum(); ++i) {
    if (target[i] == -1 && unknown == target.GetDimNum()) {
      unknown = i;
    } else {
      valid = valid && target[i] >= 0 && !__builtin_mul_overflow(known, target[i], &known);
    }
  }
  if (valid && unknown < target.GetDimNum()) {
    valid = known > 0 && x->Numel() % known == 0;
    if (valid) target[unknown] = x->Numel() / known;
  }
  if (!valid || target.GetShapeSize() != x->Numel()) {
    OP_LOGE(ACLNN_ERR_PARAM_INVALID, "Reshape: %s has %ld elements and does not become %s",
            op::ToString(x->GetViewShape()).GetString(), static_cast<long>(x->Numel()),
            op::ToString(shape).GetString());
    return nullptr;
  }
  const aclTensor* flat = Contiguous(x, executor);
  return flat == nullptr ? nullptr : executor->CreateView(flat, target, flat->GetViewOffset());
}

const aclTensor* Reshape(const aclTensor* x, const aclIntArray* shape, aclOpExecutor* executor) {
  if (shape == nullptr || shape->Size() > op::MAX_DIM_NUM) {
    OP_LOGE(ACLNN_ERR_INNER_NULLPTR, "Reshape: the shape is %s",
            shape == nullptr ? "NULL" : "too long");
    return nullptr;
  }
  return Reshape(x, ShapeOf(shape), executor);
}

const aclTensor* Transpose(const aclTensor* x, const aclIntArray* perm, aclOpExecutor* executor) {
  if (!CheckL0Args("Transpose", x, executor)) return nullptr;
  const size_t rank = x->GetViewShape().GetDimNum();
  std::vector<bool> used(rank, false);
  bool valid = perm != nullptr && perm->Size() == rank;
  op::Shape shape;
  op::Strides strides;
  for (size_t i = 0; valid && i < rank; ++i) {
    const int64_t dim = (*perm)[i] < 0 ? (*perm)[i] + static_cast<int64_t>(rank) : (*perm)[i];
    valid = dim >= 0 && dim < static_cast<int64_t>(rank) && !used[static_cast<size_t>(dim)];
    if (!valid) break;
    used[static_cast<size_t>(dim)] = true;
    shape.AppendDim(x->GetViewShape()[static_cast<size_t>(dim)]);
    strides.push_back(x->GetViewStrides()[static_cast<size_t>(dim)]);
  }
  if (!valid) {
    OP_LOGE(ACLNN_ERR_PARAM_INVALID, "Transpose: %s is no permutation of %zu dims",
            ToString(perm).GetString(), rank);
    return nullptr;
  }
  if (!op::internal::CheckView(x, executor->State().NameOf(x).c_str())) return nullptr;
  return CopyOfView("Transpose", x, shape, strides, x->GetViewOffset(), executor);
}

const aclTensor* Slice(const aclTensor* x, const aclIntArray* offsets, const aclIntArray* size,
                       aclOpExecutor* executor) {
  if (!CheckL0Args("Slice", x, executor)) return nullptr;
  const op::Shape& shape = x->GetViewShape();
  const size_t rank = shape.GetDimNum();
  bool valid =
      offsets != nullptr && size != nullptr && offsets->Size() == rank && size->Size() == rank;
  op::Shape target;
  int64_t offset = x->GetViewOffset();
  for (size_t i = 0; valid && i < rank; ++i) {
    const int64_t begin = (*offsets)[i];
    const int64_t count = (*size)[i] == -1 ? shape[i] - begin : (*size)[i];
    valid = begin >= 0 && count >= 0 && begin <= shape[i] && count <= shape[i] - begin;
    offset += begin * x->GetViewStrides()[i];
    target.AppendDim(count);
  }
  if (!valid) {
    OP_LOGE(ACLNN_ERR_PARAM_INVALID, "Slice: offsets %s and sizes %s do not fit shape %s",
            ToString(offsets).GetString(), ToString(size).GetString(),
            op::ToString(shape).GetString());
    return nullptr;
  }
  if (!op::internal::CheckView(x, executor->State().NameOf(x).c_str())) return nullptr;
  return CopyOfView("Slice", x, target, x->GetViewStrides(), offset, executor);
}

const aclTensor* BroadcastTo(const aclTensor* x, const aclIntArray* shape,
                             aclOpExecutor* executor) {
  if (!CheckL0Args("BroadcastTo", x, executor)) return nullptr;
  const op::Shape& from = x->GetViewShape();
  bool valid =
      shape != nullptr && shape->Size() <= op::MAX_DIM_NUM && shape->Size() >= from.GetDimNum();
  op::Shape target;
  op::Strides strides;
  for (size_t i = 0; valid && i < shape->Size(); ++i) {
    const size_t added = shape->Size() - from.GetDimNum();
    const int64_t old = i < added ? 1 : from[i - added];
    const int64_t dim = (*shape)[i] == -1 && i >= added ? old : (*shape)[i];
    valid = dim >= 0 && (old == dim || old == 1);
    target.AppendDim(dim);
    strides.push_back(i < added || (old == 1 && dim != 1) ? 0 : x->GetViewStrides()[i - added]);
  }
  if (!valid) {
    OP_LOGE(ACLNN_ERR_PARAM_INVALID, "BroadcastTo: shape %s does not broadcast to %s",
            op::ToString(from).GetString(), ToString(shape).GetString());
    return nullptr;
  }
  if (target == from) return x;
  if (!op::internal::CheckView(x, executor->State().NameOf(x).c_str())) return nullptr;
  return CopyOfView("BroadcastTo", x, target, strides, x->GetViewOffset(), executor);
}

}  // namespace l0op
