// SPDX-License-Identifier: Apache-2.0
// l0op functions that compute: Cast, ReduceSumOp, Fill, ZerosLike.
#include <algorithm>
#include <cstring>

#include "aclnn_kernels/cast.h"
#include "aclnn_kernels/contiguous.h"
#include "level0/fill.h"
#include "level0/reduce_sum_op.h"
#include "level0/zero_op.h"
#include "opbase/cast.h"
#include "opbase/l0_common.h"
#include "opdev/tensor_view_utils.h"

namespace l0op {

using op::internal::Flow;
using op::internal::TensorUse;

namespace {

int64_t Elements(const TensorUse& use) {
  int64_t elements = 1;
  for (int64_t dim : use.dims) elements *= dim;
  return elements;
}

size_t ElementBytes(op::DataType dataType) {
  return static_cast<size_t>(ge::GetSizeByDataType(dataType));
}

// Adds along one dim of a [outer, dim, inner] block. Rows of inner elements are added in order, so
// the order per output element is that of the dim, whatever the layout.
template <typename T>
void SumDim(const std::vector<T>& in, int64_t outer, int64_t dim, int64_t inner,
            std::vector<T>* out) {
  out->assign(static_cast<size_t>(outer * inner), T{});
  for (int64_t o = 0; o < outer; ++o) {
    T* target = out->data() + o * inner;
    for (int64_t d = 0; d < dim; ++d) {
      const T* row = in.data() + (o * dim + d) * inner;
      for (int64_t i = 0; i < inner; ++i) target[i] += row[i];
    }
  }
}

template <typename T>
void SumDims(const TensorUse& in, const uint8_t* from, const TensorUse& out, uint8_t* to,
             const std::vector<bool>& reduced, op::DataType accumulator) {
  std::vector<T> values(static_cast<size_t>(Elements(in)));
  op::internal::ConvertElements(from, in.dataType, values.data(), accumulator, values.size());
  std::vector<int64_t> dims = in.dims;
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    if (!reduced[axis] || dims[axis] == 1) continue;
    int64_t outer = 1;
    int64_t inner = 1;
    for (size_t i = 0; i < axis; ++i) outer *= dims[i];
    for (size_t i = axis + 1; i < dims.size(); ++i) inner *= dims[i];
    std::vector<T> sums;
    SumDim(values, outer, dims[axis], inner, &sums);
    values = std::move(sums);
    dims[axis] = 1;
  }
  op::internal::ConvertElements(values.data(), accumulator, to, out.dataType, values.size());
}

bool DimsCountElements(const char* name, const aclTensor* x) {
  if (StoredElements(x) == x->Numel()) return true;
  OP_LOGE(ACLNN_ERR_PARAM_INVALID, "%s: %ld elements are stored in format %s, the dims say %ld",
          name, static_cast<long>(StoredElements(x)),
          op::ToString(x->GetStorageFormat()).GetString(), static_cast<long>(x->Numel()));
  return false;
}

const aclTensor* FillWith(const char* name, const aclTensor* value, const op::Shape& shape,
                          aclOpExecutor* executor) {
  aclTensor* out = NewResult(shape, value->GetDataType(), op::Format::FORMAT_ND, executor);
  if (out == nullptr) return nullptr;
  const auto fill = [](const std::vector<TensorUse>& uses, const std::vector<uint8_t*>& first) {
    const size_t size = ElementBytes(uses[1].dataType);
    const int64_t count = Elements(uses[1]);
    for (int64_t i = 0; i < count; ++i) {
      std::memcpy(first[1] + static_cast<size_t>(i) * size, first[0], size);
    }
  };
  return AddHostTask(name, {value}, out, Flow::kMove, fill, executor) ? out : nullptr;
}

}  // namespace

const aclTensor* Cast(const aclTensor* self, op::DataType dstDtype, aclOpExecutor* executor) {
  if (!CheckL0Args("Cast", self, executor)) return nullptr;
  if (self->GetDataType() == dstDtype) return self;
  if (!op::internal::CanConvert(self->GetDataType()) || !op::internal::CanConvert(dstDtype)) {
    OP_LOGE(ACLNN_ERR_PARAM_INVALID, "Cast from %s to %s is not supported",
            op::ToString(self->GetDataType()).GetString(), op::ToString(dstDtype).GetString());
    return nullptr;
  }
  const aclTensor* in = Contiguous(self, executor);
  if (in == nullptr || !DimsCountElements("Cast", in)) return nullptr;
  aclTensor* out = NewResult(self->GetViewShape(), dstDtype, self->GetViewFormat(), executor);
  if (out == nullptr) return nullptr;
  const auto convert = [](const std::vector<TensorUse>& uses, const std::vector<uint8_t*>& first) {
    op::internal::ConvertElements(first[0], uses[0].dataType, first[1], uses[1].dataType,
                                  static_cast<uint64_t>(Elements(uses[1])));
  };
  return AddHostTask("Cast", {in}, out, Flow::kElements, convert, executor) ? out : nullptr;
}

bool ReducedDims(const char* name, const op::Shape& shape, const aclIntArray* axes, bool keepDims,
                 std::vector<bool>* reduced, op::Shape* result) {
  const int64_t rank = static_cast<int64_t>(shape.GetDimNum());
  reduced->assign(shape.GetDimNum(), axes == nullptr || axes->Size() == 0);
  for (uint64_t i = 0; axes != nullptr && i < axes->Size(); ++i) {
    const int64_t axis = (*axes)[i] < 0 ? (*axes)[i] + rank : (*axes)[i];
    if (axis < 0 || axis >= rank) {
      OP_LOGE(ACLNN_ERR_PARAM_INVALID, "%s: axis %ld of a tensor of rank %ld", name,
              static_cast<long>((*axes)[i]), static_cast<long>(rank));
      return false;
    }
    (*reduced)[static_cast<size_t>(axis)] = true;
  }
  for (size_t i = 0; i < shape.GetDimNum(); ++i) {
    if (!(*reduced)[i]) {
      result->AppendDim(shape[i]);
    } else if (keepDims) {
      result->AppendDim(1);
    }
  }
  return true;
}

const aclTensor* ReduceSumOp(const aclTensor* x, const aclIntArray* axes, bool keepDims,
                             aclOpExecutor* executor) {
  if (!CheckL0Args("ReduceSumOp", x, executor)) return nullptr;
  const op::DataType type = x->GetDataType();
  if (!op::internal::CanConvert(type) || op::IsComplexType(type)) {
    OP_LOGE(ACLNN_ERR_PARAM_INVALID, "ReduceSumOp of %s is not supported",
            op::ToString(type).GetString());
    return nullptr;
  }
  std::vector<bool> reduced;
  op::Shape result;
  if (!ReducedDims("ReduceSumOp", x->GetViewShape(), axes, keepDims, &reduced, &result)) {
    return nullptr;
  }
  const aclTensor* in = Contiguous(x, executor);
  if (in == nullptr || !DimsCountElements("ReduceSumOp", in)) return nullptr;
  aclTensor* out = NewResult(result, type, x->GetViewFormat(), executor);
  if (out == nullptr) return nullptr;
  const bool integer = op::IsIntegralType(type, true);
  const auto sum = [reduced, integer](const std::vector<TensorUse>& uses,
                                      const std::vector<uint8_t*>& first) {
    // Unsigned, so that a wrap is defined.
    if (integer) {
      SumDims<uint64_t>(uses[0], first[0], uses[1], first[1], reduced, op::DataType::DT_UINT64);
    } else {
      SumDims<double>(uses[0], first[0], uses[1], first[1], reduced, op::DataType::DT_DOUBLE);
    }
  };
  return AddHostTask("ReduceSumOp", {in}, out, Flow::kAll, sum, executor) ? out : nullptr;
}

const aclTensor* Fill(const aclTensor*, const aclTensor* value, const aclIntArray* outShape,
                      aclOpExecutor* executor) {
  if (!CheckL0Args("Fill", value, executor)) return nullptr;
  if (outShape == nullptr || value->Numel() < 1 || outShape->Size() > op::MAX_DIM_NUM) {
    OP_LOGE(ACLNN_ERR_PARAM_INVALID, "Fill needs a shape and a value");
    return nullptr;
  }
  const aclTensor* one = executor->CreateView(value, op::Shape(), value->GetViewOffset());
  if (one == nullptr) return nullptr;
  op::Shape shape;
  for (uint64_t i = 0; i < outShape->Size(); ++i) shape.AppendDim((*outShape)[i]);
  return FillWith("Fill", one, shape, executor);
}

const aclTensor* ZerosLike(const aclTensor* self, aclOpExecutor* executor) {
  if (!CheckL0Args("ZerosLike", self, executor)) return nullptr;
  const aclTensor* zero = executor->AllocHostTensor(op::Shape(), self->GetDataType());
  return zero == nullptr ? nullptr : FillWith("ZerosLike", zero, self->GetViewShape(), executor);
}

}  // namespace l0op
