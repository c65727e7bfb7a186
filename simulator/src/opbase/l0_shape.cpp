// SPDX-License-Identifier: Apache-2.0
// l0op functions that change shapes: UnsqueezeNd, SqueezeNd, ConcatD, SplitV, Pad, PadV3.
#include <algorithm>

#include "aclnn_kernels/cast.h"
#include "aclnn_kernels/contiguous.h"
#include "aclnn_kernels/pad.h"
#include "aclnn_kernels/slice.h"
#include "aclsim/level0.h"
#include "level0/broadcast_to.h"
#include "level0/fill.h"
#include "opbase/cast.h"
#include "opbase/l0_common.h"
#include "opdev/tensor_view_utils.h"

namespace l0op {

namespace {

// A dim of a tensor of this rank, counted from the end when negative; false when there is none.
bool Within(const char* name, int64_t rank, int64_t* dim) {
  const int64_t given = *dim;
  if (*dim < 0) *dim += rank;
  if (*dim >= 0 && *dim < rank) return true;
  OP_LOGE(ACLNN_ERR_PARAM_INVALID, "%s: dim %ld of a tensor of rank %ld", name,
          static_cast<long>(given), static_cast<long>(rank));
  return false;
}

const aclTensor* Viewed(const char* name, const aclTensor* x, const op::Shape& shape,
                        aclOpExecutor* executor) {
  if (op::IsContiguous(x)) return executor->CreateView(x, shape, x->GetViewOffset());
  OP_LOGE(ACLNN_ERR_PARAM_INVALID, "%s: got strides %s, want a contiguous tensor", name,
          op::ToString(x->GetViewStrides()).GetString());
  return nullptr;
}

// The part of out from offset on along dim.
const aclTensor* PartOf(const aclTensor* out, const op::Shape& shape, int64_t elements,
                        aclOpExecutor* executor) {
  return executor->CreateView(out, shape, out->GetStorageShape(), out->GetViewStrides(),
                              out->GetViewOffset() + elements);
}

std::vector<int64_t> HostValues(const aclTensor* tensor) {
  std::vector<int64_t> values(static_cast<size_t>(tensor->Numel()));
  op::internal::ConvertElements(tensor->GetData(), tensor->GetDataType(), values.data(),
                                op::DataType::DT_INT64, values.size());
  return values;
}

// pads holds a pair for each dim.
const aclTensor* Padded(const char* name, const aclTensor* self, const std::vector<int64_t>& pads,
                        const aclTensor* value, aclOpExecutor* executor) {
  const op::Shape& shape = self->GetViewShape();
  std::vector<int64_t> dims;
  int64_t elements = 0;
  bool valid = pads.size() == 2 * shape.GetDimNum();
  op::Strides strides;
  for (size_t i = 0; valid && i < shape.GetDimNum(); ++i) {
    valid = pads[2 * i] >= 0 && pads[2 * i + 1] >= 0;
    dims.push_back(pads[2 * i] + shape[i] + pads[2 * i + 1]);
  }
  if (!valid) {
    OP_LOGE(ACLNN_ERR_PARAM_INVALID, "%s: want two numbers from 0 on for each of %zu dims, got %zu",
            name, shape.GetDimNum(), pads.size());
    return nullptr;
  }
  const aclIntArray* target = executor->AllocIntArray(dims.data(), dims.size());
  const aclTensor* out = Fill(nullptr, value, target, executor);
  if (out == nullptr) return nullptr;
  for (size_t i = 0; i < dims.size(); ++i) elements += pads[2 * i] * out->GetViewStrides()[i];
  const aclTensor* inside = PartOf(out, shape, elements, executor);
  return inside != nullptr && AddCopy(name, self, inside, executor) ? out : nullptr;
}

bool OnHost(const char* name, const aclTensor* paddings) {
  if (paddings->GetPlacement() == gert::kOnHost) return true;
  OP_LOGE(ACLNN_ERR_PARAM_INVALID,
          "%s: paddings are on the device, want a host tensor (ConvertToTensor)", name);
  return false;
}

}  // namespace

const aclTensor* UnsqueezeNd(const aclTensor* x, const aclIntArray* dim, aclOpExecutor* executor) {
  if (!CheckL0Args("UnsqueezeNd", x, executor)) return nullptr;
  if (dim == nullptr) return x;
  const op::Shape& shape = x->GetViewShape();
  const auto rank = static_cast<int64_t>(shape.GetDimNum() + dim->Size());
  std::vector<bool> added(static_cast<size_t>(rank));
  for (uint64_t i = 0; i < dim->Size(); ++i) {
    int64_t at = (*dim)[i];
    if (!Within("UnsqueezeNd", rank, &at)) return nullptr;
    if (added[static_cast<size_t>(at)]) {
      OP_LOGE(ACLNN_ERR_PARAM_INVALID, "UnsqueezeNd: dim %ld twice", static_cast<long>(at));
      return nullptr;
    }
    added[static_cast<size_t>(at)] = true;
  }
  op::Shape result;
  size_t next = 0;
  for (const bool one : added) result.AppendDim(one ? 1 : shape[next++]);
  return Viewed("UnsqueezeNd", x, result, executor);
}

const aclTensor* UnsqueezeNd(const aclTensor* x, int64_t dim, aclOpExecutor* executor) {
  if (!CheckL0Args("UnsqueezeNd", x, executor)) return nullptr;
  return UnsqueezeNd(x, executor->AllocIntArray(&dim, 1), executor);
}

const aclTensor* SqueezeNd(const aclTensor* x, const aclIntArray* dim, aclOpExecutor* executor) {
  if (!CheckL0Args("SqueezeNd", x, executor)) return nullptr;
  const op::Shape& shape = x->GetViewShape();
  std::vector<bool> wanted(shape.GetDimNum(), dim == nullptr || dim->Size() == 0);
  for (uint64_t i = 0; dim != nullptr && i < dim->Size(); ++i) {
    int64_t at = (*dim)[i];
    if (!Within("SqueezeNd", static_cast<int64_t>(shape.GetDimNum()), &at)) return nullptr;
    wanted[static_cast<size_t>(at)] = true;
  }
  op::Shape result;
  for (size_t i = 0; i < shape.GetDimNum(); ++i) {
    if (!wanted[i] || shape[i] != 1) result.AppendDim(shape[i]);
  }
  return Viewed("SqueezeNd", x, result, executor);
}

const aclTensor* SqueezeNd(const aclTensor* x, int64_t dim, aclOpExecutor* executor) {
  if (!CheckL0Args("SqueezeNd", x, executor)) return nullptr;
  return SqueezeNd(x, executor->AllocIntArray(&dim, 1), executor);
}

const aclTensor* Expand(const aclTensor* self, const aclIntArray* shape, aclOpExecutor* executor) {
  return BroadcastTo(self, shape, executor);
}

aclTensor* ConcatD(const aclTensorList* inputs, int64_t dim, op::DataType outDtype,
                   aclOpExecutor* executor) {
  if (inputs == nullptr || inputs->Size() == 0 || executor == nullptr) {
    OP_LOGE(ACLNN_ERR_INNER_NULLPTR, "ConcatD: want at least one tensor");
    return nullptr;
  }
  const aclTensor* start = (*inputs)[0];
  if (!CheckL0Args("ConcatD", start, executor)) return nullptr;
  op::Shape shape = start->GetViewShape();
  if (!Within("ConcatD", static_cast<int64_t>(shape.GetDimNum()), &dim)) return nullptr;
  const auto axis = static_cast<size_t>(dim);
  shape[axis] = 0;
  for (uint64_t i = 0; i < inputs->Size(); ++i) {
    if (!CheckL0Args("ConcatD", (*inputs)[i], executor)) return nullptr;
    op::Shape own = (*inputs)[i]->GetViewShape();
    const int64_t length = axis < own.GetDimNum() ? own[axis] : 0;
    if (own.GetDimNum() == shape.GetDimNum()) own[axis] = shape[axis];
    if (own != shape) {
      OP_LOGE(ACLNN_ERR_PARAM_INVALID, "ConcatD: %s does not fit to %s along dim %ld",
              op::ToString((*inputs)[i]->GetViewShape()).GetString(),
              op::ToString(start->GetViewShape()).GetString(), static_cast<long>(dim));
      return nullptr;
    }
    shape[axis] += length;
  }
  aclTensor* out = NewResult(shape, outDtype, start->GetViewFormat(), executor);
  if (out == nullptr) return nullptr;
  int64_t elements = 0;
  for (uint64_t i = 0; i < inputs->Size(); ++i) {
    const aclTensor* part = Cast((*inputs)[i], outDtype, executor);
    if (part == nullptr) return nullptr;
    const aclTensor* place = PartOf(out, part->GetViewShape(), elements, executor);
    if (place == nullptr || !AddCopy("ConcatD", part, place, executor)) return nullptr;
    elements += part->GetViewShape()[axis] * out->GetViewStrides()[axis];
  }
  return out;
}

aclTensor* ConcatD(const aclTensorList* inputs, int64_t dim, aclOpExecutor* executor) {
  const bool any = inputs != nullptr && inputs->Size() > 0 && (*inputs)[0] != nullptr;
  const op::DataType type = any ? (*inputs)[0]->GetDataType() : op::DataType::DT_FLOAT;
  return ConcatD(inputs, dim, type, executor);
}

bool SplitVAiCoreSupport(const aclTensor*) { return true; }

const aclTensorList* SplitV(const aclTensor* self, const aclIntArray* splitSize, int64_t dim,
                            aclOpExecutor* executor) {
  if (!CheckL0Args("SplitV", self, executor)) return nullptr;
  const op::Shape& shape = self->GetViewShape();
  const auto rank = static_cast<int64_t>(shape.GetDimNum());
  if (!Within("SplitV", rank, &dim)) return nullptr;
  const auto axis = static_cast<size_t>(dim);
  std::vector<int64_t> offsets(shape.GetDimNum(), 0);
  std::vector<int64_t> sizes = {};
  for (size_t i = 0; i < shape.GetDimNum(); ++i) sizes.push_back(shape[i]);
  std::vector<const aclTensor*> parts;
  for (uint64_t i = 0; splitSize != nullptr && i < splitSize->Size(); ++i) {
    sizes[axis] = (*splitSize)[i];
    const aclTensor* part = Slice(self, executor->AllocIntArray(offsets.data(), offsets.size()),
                                  executor->AllocIntArray(sizes.data(), sizes.size()), executor);
    if (part == nullptr) return nullptr;
    parts.push_back(part);
    offsets[axis] += sizes[axis];
  }
  if (offsets[axis] != shape[axis]) {
    OP_LOGE(ACLNN_ERR_PARAM_INVALID, "SplitV: sizes %s do not sum up to dim %ld of %s",
            ToString(splitSize).GetString(), static_cast<long>(dim),
            op::ToString(shape).GetString());
    return nullptr;
  }
  return executor->AllocTensorList(parts.data(), parts.size());
}

const aclTensor* Pad(const aclTensor* self, const aclTensor* paddings, aclOpExecutor* executor) {
  if (!CheckL0Args("Pad", self, executor) || !CheckL0Args("Pad", paddings, executor) ||
      !OnHost("Pad", paddings)) {
    return nullptr;
  }
  const aclTensor* zero = executor->AllocHostTensor(op::Shape(), self->GetDataType());
  if (zero == nullptr) return nullptr;
  return Padded("Pad", self, HostValues(paddings), zero, executor);
}

const aclTensor* PadV3(const aclTensor* self, const aclTensor* paddings,
                       const aclTensor* constant_values, const std::string& mode,
                       const bool paddingsContiguous, aclOpExecutor* executor) {
  if (!CheckL0Args("PadV3", self, executor) || !CheckL0Args("PadV3", paddings, executor) ||
      !OnHost("PadV3", paddings)) {
    return nullptr;
  }
  if (mode != "constant") {
    OP_LOGE(ACLNN_ERR_PARAM_INVALID, "PadV3: mode %s is not simulated, constant is", mode.c_str());
    return nullptr;
  }
  std::vector<int64_t> pads = HostValues(paddings);
  if (!paddingsContiguous) {
    std::vector<int64_t> pairs;
    for (size_t i = 0; i < pads.size() / 2; ++i) {
      pairs.push_back(pads[i]);
      pairs.push_back(pads[pads.size() / 2 + i]);
    }
    pads = pairs;
  }
  const aclTensor* value = constant_values;
  if (value == nullptr) value = executor->AllocHostTensor(op::Shape(), self->GetDataType());
  return value == nullptr ? nullptr : Padded("PadV3", self, pads, value, executor);
}

const aclTensor* TensorMove(const aclTensor* x, const aclTensor* y, aclOpExecutor* executor) {
  return ViewCopy(x, y, executor);
}

}  // namespace l0op
