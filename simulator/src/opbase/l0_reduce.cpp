// SPDX-License-Identifier: Apache-2.0
// l0op functions along dims, and sequences: ReduceMean, ReduceMax, ReduceMin, ReduceAny, Sort, Arange, OnesLike.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <numeric>

#include "aclnn_kernels/contiguous.h"
#include "aclsim/level0.h"
#include "level0/fill.h"
#include "opbase/cast.h"
#include "opbase/l0_common.h"

namespace l0op {

using op::DataType;
using op::internal::Flow;
using op::internal::TensorUse;

namespace {

template <typename T>
using Folding = std::function<T(const std::vector<T>& values)>;

int64_t Product(const std::vector<int64_t>& dims) {
  return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
}

// For each result the values that belong to it, in row-major order.
template <typename T>
void Fold(const std::vector<TensorUse>& uses, const std::vector<uint8_t*>& first,
          const std::vector<bool>& reduced, const Folding<T>& fold) {
  const std::vector<int64_t>& dims = uses[0].dims;
  std::vector<T> values(static_cast<size_t>(Product(dims)));
  op::internal::ConvertElements(first[0], uses[0].dataType, values.data(), kWide<T>, values.size());
  std::vector<std::vector<T>> groups(static_cast<size_t>(Product(uses[1].dims)));
  for (size_t at = 0; at < values.size(); ++at) {
    size_t rest = at;
    size_t group = 0;
    size_t stride = 1;
    for (size_t i = dims.size(); i-- > 0;) {
      const auto size = static_cast<size_t>(dims[i]);
      if (!reduced[i]) {
        group += rest % size * stride;
        stride *= size;
      }
      rest /= size;
    }
    groups[group].push_back(values[at]);
  }
  std::vector<T> results;
  for (const std::vector<T>& group : groups) results.push_back(fold(group));
  op::internal::ConvertElements(results.data(), kWide<T>, first[1], uses[1].dataType,
                                results.size());
}

const aclTensor* Reduce(const char* name, const aclTensor* x, const aclIntArray* axes,
                        bool keepDims, DataType outType, const Folding<double>& real,
                        const Folding<int64_t>& integer, aclOpExecutor* executor) {
  if (!CheckL0Args(name, x, executor)) return nullptr;
  const DataType type = x->GetDataType();
  if (!op::internal::CanConvert(type) || op::IsComplexType(type)) {
    OP_LOGE(ACLNN_ERR_PARAM_INVALID, "%s of %s is not supported", name,
            op::ToString(type).GetString());
    return nullptr;
  }
  std::vector<bool> reduced;
  op::Shape result;
  if (!ReducedDims(name, x->GetViewShape(), axes, keepDims, &reduced, &result)) return nullptr;
  const aclTensor* in = Contiguous(x, executor);
  aclTensor* out = NewResult(result, outType, x->GetViewFormat(), executor);
  if (in == nullptr || out == nullptr) return nullptr;
  const bool whole = op::IsIntegralType(type, true);
  const auto body = [=](const std::vector<TensorUse>& uses, const std::vector<uint8_t*>& first) {
    if (whole) {
      Fold<int64_t>(uses, first, reduced, integer);
    } else {
      Fold<double>(uses, first, reduced, real);
    }
  };
  return AddHostTask(name, {in}, out, Flow::kAll, body, executor) ? out : nullptr;
}

template <typename T>
T Extreme(const std::vector<T>& values, bool largest) {
  T found = values.empty() ? T{} : values[0];
  for (const T value : values) {
    if (value != value) return value;  // NaN
    if (largest ? value > found : value < found) found = value;
  }
  return found;
}

const aclTensor* ReduceExtreme(const char* name, const aclTensor* self, const aclIntArray* dims,
                               bool keepDim, bool largest, aclOpExecutor* executor) {
  if (!CheckL0Args(name, self, executor)) return nullptr;
  return Reduce(
      name, self, dims, keepDim, self->GetDataType(),
      [largest](const std::vector<double>& values) { return Extreme(values, largest); },
      [largest](const std::vector<int64_t>& values) { return Extreme(values, largest); }, executor);
}

template <typename T>
std::vector<int64_t> Order(const std::vector<T>& row, bool descending) {
  std::vector<int64_t> order(row.size());
  std::iota(order.begin(), order.end(), 0);
  const auto less = [](T a, T b) { return a == a && (b != b || a < b); };  // NaN is the largest
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    const T left = row[static_cast<size_t>(a)];
    const T right = row[static_cast<size_t>(b)];
    return descending ? less(right, left) : less(left, right);
  });
  return order;
}

// The sorted values of each row along dim, or their places.
template <typename T>
void SortRows(const std::vector<TensorUse>& uses, const std::vector<uint8_t*>& first, size_t dim,
              bool descending, bool places) {
  const std::vector<int64_t>& dims = uses[0].dims;
  std::vector<T> values(static_cast<size_t>(Product(dims)));
  op::internal::ConvertElements(first[0], uses[0].dataType, values.data(), kWide<T>, values.size());
  std::vector<int64_t> found(values.size());
  const auto length = static_cast<size_t>(dims[dim]);
  size_t inner = 1;
  for (size_t i = dim + 1; i < dims.size(); ++i) inner *= static_cast<size_t>(dims[i]);
  std::vector<T> sorted(values.size());
  for (size_t row = 0; row * length < values.size(); ++row) {
    const size_t start = row / inner * inner * length + row % inner;
    std::vector<T> line;
    for (size_t i = 0; i < length; ++i) line.push_back(values[start + i * inner]);
    const std::vector<int64_t> order = Order(line, descending);
    for (size_t i = 0; i < length; ++i) {
      found[start + i * inner] = order[i];
      sorted[start + i * inner] = line[static_cast<size_t>(order[i])];
    }
  }
  if (places) {
    op::internal::ConvertElements(found.data(), DataType::DT_INT64, first[1], uses[1].dataType,
                                  found.size());
  } else {
    op::internal::ConvertElements(sorted.data(), kWide<T>, first[1], uses[1].dataType,
                                  sorted.size());
  }
}

}  // namespace

const aclTensor* ReduceMean(const aclTensor* self, const aclIntArray* dim, bool keepDim,
                            aclOpExecutor* executor) {
  if (!CheckL0Args("ReduceMean", self, executor)) return nullptr;
  const auto mean = [](const auto& values) {
    const double sum = std::accumulate(values.begin(), values.end(), 0.0);
    return sum / static_cast<double>(values.size());
  };
  return Reduce(
      "ReduceMean", self, dim, keepDim, self->GetDataType(), mean,
      [mean](const std::vector<int64_t>& values) {
        return values.empty() ? 0 : static_cast<int64_t>(mean(values));
      },
      executor);
}

const aclTensor* ReduceMean(const aclTensor* self, const aclIntArray* dim, bool keepDim,
                            bool noopWithEmptyAxes, aclOpExecutor* executor) {
  if (noopWithEmptyAxes && (dim == nullptr || dim->Size() == 0)) return self;
  return ReduceMean(self, dim, keepDim, executor);
}

const aclTensor* ReduceMax(const aclTensor* self, const aclIntArray* dims, bool keepDim,
                           aclOpExecutor* executor) {
  return ReduceExtreme("ReduceMax", self, dims, keepDim, true, executor);
}

const aclTensor* ReduceMax(const aclTensor* self, const aclIntArray* dims, bool keepDim,
                           bool noopWithEmptyAxes, aclOpExecutor* executor) {
  if (noopWithEmptyAxes && (dims == nullptr || dims->Size() == 0)) return self;
  return ReduceMax(self, dims, keepDim, executor);
}

const aclTensor* ReduceMin(const aclTensor* self, const aclIntArray* dims, bool keepDim,
                           aclOpExecutor* executor) {
  return ReduceExtreme("ReduceMin", self, dims, keepDim, false, executor);
}

const aclTensor* ReduceMin(const aclTensor* self, const aclIntArray* dims, bool keepDim,
                           bool noopWithEmptyAxes, aclOpExecutor* executor) {
  if (noopWithEmptyAxes && (dims == nullptr || dims->Size() == 0)) return self;
  return ReduceMin(self, dims, keepDim, executor);
}

const aclTensor* ReduceAny(const aclTensor* self, const aclIntArray* dim, bool keepDim,
                           aclOpExecutor* executor) {
  const auto any = [](const auto& values) {
    return std::any_of(values.begin(), values.end(), [](auto value) { return value != 0; });
  };
  return Reduce(
      "ReduceAny", self, dim, keepDim, DataType::DT_BOOL,
      [any](const std::vector<double>& values) { return any(values) ? 1.0 : 0.0; },
      [any](const std::vector<int64_t>& values) { return int64_t{any(values)}; }, executor);
}

const std::tuple<aclTensor*, aclTensor*> Sort(const aclTensor* self, int64_t dim, bool descending,
                                              bool, DataType indicesType, aclOpExecutor* executor) {
  if (!CheckL0Args("Sort", self, executor)) return {nullptr, nullptr};
  const op::Shape& shape = self->GetViewShape();
  const auto rank = static_cast<int64_t>(shape.GetDimNum());
  const DataType type = self->GetDataType();
  const int64_t axis = dim < 0 ? dim + rank : dim;
  if (axis < 0 || axis >= rank || !op::internal::CanConvert(type) || op::IsComplexType(type)) {
    OP_LOGE(ACLNN_ERR_PARAM_INVALID, "Sort of %s%s along dim %ld is not supported",
            op::ToString(type).GetString(), op::ToString(shape).GetString(),
            static_cast<long>(dim));
    return {nullptr, nullptr};
  }
  const aclTensor* in = Contiguous(self, executor);
  aclTensor* values = NewResult(shape, type, self->GetViewFormat(), executor);
  aclTensor* indices = NewResult(shape, indicesType, self->GetViewFormat(), executor);
  if (in == nullptr || values == nullptr || indices == nullptr) return {nullptr, nullptr};
  const auto at = static_cast<size_t>(axis);
  const bool whole = op::IsIntegralType(type, true);
  for (const bool places : {false, true}) {
    const auto body = [=](const std::vector<TensorUse>& uses, const std::vector<uint8_t*>& first) {
      if (whole) {
        SortRows<int64_t>(uses, first, at, descending, places);
      } else {
        SortRows<double>(uses, first, at, descending, places);
      }
    };
    if (!AddHostTask("Sort", {in}, places ? indices : values, Flow::kAll, body, executor)) {
      return {nullptr, nullptr};
    }
  }
  return {values, indices};
}

const aclTensor* Arange(const aclScalar* start, const aclScalar* end, const aclScalar* step,
                        const aclTensor* out, const bool isClosed, aclOpExecutor* executor) {
  if (!CheckL0Args("Arange", out, executor)) return nullptr;
  if (start == nullptr || end == nullptr || step == nullptr || step->ToDouble() == 0) {
    OP_LOGE(ACLNN_ERR_PARAM_INVALID, "Arange: want start, end and a step that is not 0");
    return nullptr;
  }
  const double steps = (end->ToDouble() - start->ToDouble()) / step->ToDouble();
  const double count = isClosed ? std::floor(steps) + 1 : std::ceil(steps);
  const auto length = static_cast<size_t>(std::max(count, 0.0));
  if (static_cast<int64_t>(length) > out->Numel()) {
    OP_LOGE(ACLNN_ERR_PARAM_INVALID, "Arange: %zu numbers, out has %ld elements", length,
            static_cast<long>(out->Numel()));
    return nullptr;
  }
  std::vector<double> numbers(length);
  for (size_t i = 0; i < length; ++i) {
    numbers[i] = start->ToDouble() + static_cast<double>(i) * step->ToDouble();
  }
  const aclTensor* made =
      executor->ConvertToTensor(numbers.data(), numbers.size(), out->GetDataType());
  aclTensor* result = NewResult(op::Shape({static_cast<int64_t>(length)}), out->GetDataType(),
                                op::Format::FORMAT_ND, executor);
  if (made == nullptr || result == nullptr) return nullptr;
  return AddCopy("Arange", made, result, executor) ? result : nullptr;
}

const aclTensor* OnesLike(const aclTensor* self, aclOpExecutor* executor) {
  if (!CheckL0Args("OnesLike", self, executor)) return nullptr;
  const double one = 1;
  const aclTensor* value = executor->ConvertToTensor(&one, 1, self->GetDataType());
  const auto sizes = op::ToShapeVector(self->GetViewShape());
  if (value == nullptr) return nullptr;
  return Fill(nullptr, value, executor->AllocIntArray(sizes.data(), sizes.size()), executor);
}

}  // namespace l0op
