// SPDX-License-Identifier: Apache-2.0
// l0op functions that compute element by element, with broadcasting.
#include <algorithm>
#include <cmath>
#include <functional>

#include "aclnn_kernels/cast.h"
#include "aclnn_kernels/contiguous.h"
#include "aclsim/level0.h"
#include "level0/broadcast_to.h"
#include "opbase/cast.h"
#include "opbase/l0_common.h"

namespace l0op {

using op::DataType;
using op::internal::Flow;
using op::internal::TensorUse;

namespace {

template <typename T>
using Function = std::function<T(const T* values)>;  // values of one place, by input

template <typename T>
op::internal::HostTask::Body Computing(Function<T> function) {
  return [function = std::move(function)](const std::vector<TensorUse>& uses,
                                          const std::vector<uint8_t*>& first) {
    const size_t inputs = uses.size() - 1;
    uint64_t count = 1;
    for (int64_t dim : uses.back().dims) count *= static_cast<uint64_t>(dim);
    std::vector<std::vector<T>> wide(inputs);
    for (size_t i = 0; i < inputs; ++i) {
      wide[i].resize(count);
      op::internal::ConvertElements(first[i], uses[i].dataType, wide[i].data(), kWide<T>, count);
    }
    std::vector<T> results(count);
    std::vector<T> place(inputs);
    for (uint64_t at = 0; at < count; ++at) {
      for (size_t i = 0; i < inputs; ++i) place[i] = wide[i][at];
      results[at] = function(place.data());
    }
    op::internal::ConvertElements(results.data(), kWide<T>, first[inputs], uses[inputs].dataType,
                                  count);
  };
}

// One function for floating point, one for integers; none where a type has no meaning.
struct Both {
  Function<double> real;
  Function<int64_t> integer;
};

const aclTensor* Elementwise(const char* name, std::vector<const aclTensor*> inputs,
                             DataType outType, const Both& both, aclOpExecutor* executor) {
  bool real = false;
  op::Shape shape;
  for (const aclTensor* input : inputs) {
    if (!CheckL0Args(name, input, executor)) return nullptr;
    const DataType type = input->GetDataType();
    if (!op::internal::CanConvert(type) || op::IsComplexType(type)) {
      OP_LOGE(ACLNN_ERR_PARAM_INVALID, "%s of %s is not supported", name,
              op::ToString(type).GetString());
      return nullptr;
    }
    real = real || op::IsFloatingType(type);
    op::Shape wider;
    if (!op::BroadcastInferShape(shape, input->GetViewShape(), wider)) {
      OP_LOGE(ACLNN_ERR_PARAM_INVALID, "%s: shapes %s and %s do not broadcast", name,
              op::ToString(shape).GetString(), op::ToString(input->GetViewShape()).GetString());
      return nullptr;
    }
    shape = wider;
  }
  if (real ? !both.real : !both.integer) {
    OP_LOGE(ACLNN_ERR_PARAM_INVALID, "%s of %s is not supported", name,
            op::ToString(inputs[0]->GetDataType()).GetString());
    return nullptr;
  }
  const auto sizes = op::ToShapeVector(shape);
  const aclIntArray* dims = executor->AllocIntArray(sizes.data(), sizes.size());
  for (const aclTensor*& input : inputs) {
    input = BroadcastTo(input, dims, executor);
    if (input != nullptr) input = Contiguous(input, executor);
    if (input == nullptr) return nullptr;
  }
  aclTensor* out = NewResult(shape, outType, inputs[0]->GetViewFormat(), executor);
  if (out == nullptr) return nullptr;
  const auto body = real ? Computing<double>(both.real) : Computing<int64_t>(both.integer);
  return AddHostTask(name, inputs, out, Flow::kAll, body, executor) ? out : nullptr;
}

const aclTensor* Binary(const char* name, const aclTensor* a, const aclTensor* b, const Both& both,
                        aclOpExecutor* executor) {
  if (!CheckL0Args(name, a, executor) || !CheckL0Args(name, b, executor)) return nullptr;
  if (a->GetDataType() != b->GetDataType()) {
    OP_LOGE(ACLNN_ERR_PARAM_INVALID, "%s: got %s and %s, want one data type", name,
            op::ToString(a->GetDataType()).GetString(), op::ToString(b->GetDataType()).GetString());
    return nullptr;
  }
  return Elementwise(name, {a, b}, a->GetDataType(), both, executor);
}

template <typename Predicate>
const aclTensor* Comparison(const char* name, const aclTensor* a, const aclTensor* b,
                            Predicate holds, aclOpExecutor* executor) {
  const Both both{[holds](const double* v) { return holds(v[0], v[1]) ? 1.0 : 0.0; },
                  [holds](const int64_t* v) { return int64_t{holds(v[0], v[1])}; }};
  return Elementwise(name, {a, b}, DataType::DT_BOOL, both, executor);
}

const aclTensor* Unary(const char* name, const aclTensor* x, const Both& both,
                       aclOpExecutor* executor) {
  if (!CheckL0Args(name, x, executor)) return nullptr;
  return Elementwise(name, {x}, x->GetDataType(), both, executor);
}

// Integers wrap.
int64_t Wrapping(uint64_t value) { return static_cast<int64_t>(value); }
uint64_t Bits(int64_t value) { return static_cast<uint64_t>(value); }

int64_t IntegerPower(int64_t base, int64_t exponent) {
  if (exponent < 0) return base == 1 ? 1 : base == -1 ? (exponent % 2 == 0 ? 1 : -1) : 0;
  uint64_t result = 1;
  for (uint64_t factor = Bits(base); exponent > 0; exponent /= 2, factor *= factor) {
    if (exponent % 2 == 1) result *= factor;
  }
  return Wrapping(result);
}

double Larger(double a, double b) { return std::isnan(a) || std::isnan(b) ? NAN : std::max(a, b); }
double Smaller(double a, double b) { return std::isnan(a) || std::isnan(b) ? NAN : std::min(a, b); }

}  // namespace

const aclTensor* Add(const aclTensor* self, const aclTensor* other, aclOpExecutor* executor) {
  return Binary("Add", self, other,
                {[](const double* v) { return v[0] + v[1]; },
                 [](const int64_t* v) { return Wrapping(Bits(v[0]) + Bits(v[1])); }},
                executor);
}

const aclTensor* Sub(const aclTensor* self, const aclTensor* other, aclOpExecutor* executor) {
  return Binary("Sub", self, other,
                {[](const double* v) { return v[0] - v[1]; },
                 [](const int64_t* v) { return Wrapping(Bits(v[0]) - Bits(v[1])); }},
                executor);
}

const aclTensor* Mul(const aclTensor* self, const aclTensor* other, aclOpExecutor* executor) {
  return Binary("Mul", self, other,
                {[](const double* v) { return v[0] * v[1]; },
                 [](const int64_t* v) { return Wrapping(Bits(v[0]) * Bits(v[1])); }},
                executor);
}

const aclTensor* Div(const aclTensor* self, const aclTensor* other, aclOpExecutor* executor) {
  // -1 apart: the most negative number divided by it has no place.
  const auto integer = [](const int64_t* v) {
    return v[1] == 0 ? 0 : v[1] == -1 ? Wrapping(-Bits(v[0])) : v[0] / v[1];
  };
  return Binary("Div", self, other, {[](const double* v) { return v[0] / v[1]; }, integer},
                executor);
}

const aclTensor* RealDiv(const aclTensor* self, const aclTensor* other, aclOpExecutor* executor) {
  return Div(self, other, executor);
}

const aclTensor* Mod(const aclTensor* self, const aclTensor* other, aclOpExecutor* executor) {
  return Binary("Mod", self, other,
                {[](const double* v) { return std::fmod(v[0], v[1]); },
                 [](const int64_t* v) { return v[1] == 0 || v[1] == -1 ? 0 : v[0] % v[1]; }},
                executor);
}

const aclTensor* Pow(const aclTensor* self, const aclTensor* exponent, aclOpExecutor* executor) {
  return Binary("Pow", self, exponent,
                {[](const double* v) { return std::pow(v[0], v[1]); },
                 [](const int64_t* v) { return IntegerPower(v[0], v[1]); }},
                executor);
}

const aclTensor* Maximum(const aclTensor* self, const aclTensor* other, aclOpExecutor* executor) {
  return Binary("Maximum", self, other,
                {[](const double* v) { return Larger(v[0], v[1]); },
                 [](const int64_t* v) { return std::max(v[0], v[1]); }},
                executor);
}

const aclTensor* Minimum(const aclTensor* self, const aclTensor* other, aclOpExecutor* executor) {
  return Binary("Minimum", self, other,
                {[](const double* v) { return Smaller(v[0], v[1]); },
                 [](const int64_t* v) { return std::min(v[0], v[1]); }},
                executor);
}

const aclTensor* Axpy(const aclTensor* self, const aclTensor* other, float alpha,
                      aclOpExecutor* executor) {
  const double factor = alpha;
  const auto whole = static_cast<int64_t>(alpha);
  return Binary(
      "Axpy", self, other,
      {[factor](const double* v) { return v[0] + factor * v[1]; },
       [whole](const int64_t* v) { return Wrapping(Bits(v[0]) + Bits(whole) * Bits(v[1])); }},
      executor);
}

const aclTensor* Muls(const aclTensor* self, float alpha, aclOpExecutor* executor) {
  const double factor = alpha;
  const auto whole = static_cast<int64_t>(alpha);
  return Unary("Muls", self,
               {[factor](const double* v) { return factor * v[0]; },
                [whole](const int64_t* v) { return Wrapping(Bits(whole) * Bits(v[0])); }},
               executor);
}

const aclTensor* Equal(const aclTensor* self, const aclTensor* other, aclOpExecutor* executor) {
  return Comparison("Equal", self, other, std::equal_to<>(), executor);
}
const aclTensor* NotEqual(const aclTensor* self, const aclTensor* other, aclOpExecutor* executor) {
  return Comparison("NotEqual", self, other, std::not_equal_to<>(), executor);
}
const aclTensor* Greater(const aclTensor* self, const aclTensor* other, aclOpExecutor* executor) {
  return Comparison("Greater", self, other, std::greater<>(), executor);
}
const aclTensor* GreaterEqual(const aclTensor* self, const aclTensor* other,
                              aclOpExecutor* executor) {
  return Comparison("GreaterEqual", self, other, std::greater_equal<>(), executor);
}
const aclTensor* Less(const aclTensor* self, const aclTensor* other, aclOpExecutor* executor) {
  return Comparison("Less", self, other, std::less<>(), executor);
}
const aclTensor* LessEqual(const aclTensor* self, const aclTensor* other, aclOpExecutor* executor) {
  return Comparison("LessEqual", self, other, std::less_equal<>(), executor);
}
const aclTensor* LogicalAnd(const aclTensor* self, const aclTensor* other,
                            aclOpExecutor* executor) {
  const auto both = [](auto a, auto b) { return a != 0 && b != 0; };
  return Comparison("LogicalAnd", self, other, both, executor);
}
const aclTensor* LogicalOr(const aclTensor* self, const aclTensor* other, aclOpExecutor* executor) {
  const auto any = [](auto a, auto b) { return a != 0 || b != 0; };
  return Comparison("LogicalOr", self, other, any, executor);
}

const aclTensor* LogicalNot(const aclTensor* self, aclOpExecutor* executor) {
  return Elementwise("LogicalNot", {self}, DataType::DT_BOOL,
                     {[](const double* v) { return v[0] == 0 ? 1.0 : 0.0; },
                      [](const int64_t* v) { return int64_t{v[0] == 0}; }},
                     executor);
}

const aclTensor* Abs(const aclTensor* self, aclOpExecutor* executor) {
  return Unary("Abs", self,
               {[](const double* v) { return std::abs(v[0]); },
                [](const int64_t* v) { return v[0] < 0 ? Wrapping(-Bits(v[0])) : v[0]; }},
               executor);
}

const aclTensor* Neg(const aclTensor* self, aclOpExecutor* executor) {
  return Unary("Neg", self,
               {[](const double* v) { return -v[0]; },
                [](const int64_t* v) { return Wrapping(-Bits(v[0])); }},
               executor);
}

const aclTensor* Exp(const aclTensor* self, aclOpExecutor* executor) {
  return Unary("Exp", self, {[](const double* v) { return std::exp(v[0]); }, {}}, executor);
}

const aclTensor* Sqrt(const aclTensor* self, aclOpExecutor* executor) {
  return Unary("Sqrt", self, {[](const double* v) { return std::sqrt(v[0]); }, {}}, executor);
}

const aclTensor* Rsqrt(const aclTensor* self, aclOpExecutor* executor) {
  return Unary("Rsqrt", self, {[](const double* v) { return 1 / std::sqrt(v[0]); }, {}}, executor);
}

const aclTensor* Log(const aclTensor* self, const float base, const float scale, const float shift,
                     aclOpExecutor* executor) {
  const double divisor = base < 0 ? 1.0 : std::log(static_cast<double>(base));
  const double factor = scale;
  const double added = shift;
  return Unary("Log", self,
               {[=](const double* v) { return std::log(factor * v[0] + added) / divisor; }, {}},
               executor);
}

const aclTensor* SelectV2(const aclTensor* condition, const aclTensor* x1, const aclTensor* x2,
                          aclOpExecutor* executor) {
  if (!CheckL0Args("SelectV2", x1, executor)) return nullptr;
  return Elementwise("SelectV2", {condition, x1, x2}, x1->GetDataType(),
                     {[](const double* v) { return v[0] != 0 ? v[1] : v[2]; },
                      [](const int64_t* v) { return v[0] != 0 ? v[1] : v[2]; }},
                     executor);
}

const aclTensor* MaskedFill(const aclTensor* self, const aclTensor* mask, const aclTensor* value,
                            aclOpExecutor* executor) {
  return SelectV2(mask, value, self, executor);
}

}  // namespace l0op
