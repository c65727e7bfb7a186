// SPDX-License-Identifier: Apache-2.0
// Functions that compute element by element: comparisons, logic, IsFinite, Complex, Arange.
#include <cmath>
#include <cstring>

#include "aclnn_kernels/cast.h"
#include "aclnn_kernels/contiguous.h"
#include "opapi/functions.h"
#include "opbase/cast.h"
#include "opbase/element_types.h"
#include "opbase/l0_common.h"
#include "opdev/data_type_utils.h"
#include "opdev/shape_utils.h"

namespace opapi {

using op::internal::Bool;
using op::internal::Flow;
using op::internal::HostTask;
using op::internal::kIsComplex;
using op::internal::kIsNarrow;
using op::internal::TensorUse;
using op::internal::WithType;

namespace {

int64_t Elements(const TensorUse& use) {
  int64_t elements = 1;
  for (int64_t dim : use.dims) elements *= dim;
  return elements;
}

// The value that arithmetic takes for an element.
template <typename T>
auto Value(T element) {
  if constexpr (std::is_same_v<T, Bool>) {
    return element.value != 0;
  } else if constexpr (kIsNarrow<T>) {
    return static_cast<float>(element);
  } else {
    return element;
  }
}

template <typename T, typename F>
void ForElements(const std::vector<TensorUse>& uses, const std::vector<uint8_t*>& first, F result) {
  const int64_t count = Elements(uses.back());
  auto* out = reinterpret_cast<decltype(result(T(), T()))*>(first.back());
  const auto* a = reinterpret_cast<const T*>(first[0]);
  const auto* b = reinterpret_cast<const T*>(first[1]);
  // Loops of their own, as the compiler makes no vectors of a step that it does not know.
  if (Elements(uses[1]) == count) {
    for (int64_t i = 0; i < count; ++i) out[i] = result(a[i], b[i]);
  } else {
    for (int64_t i = 0; i < count; ++i) out[i] = result(a[i], *b);
  }
}

template <typename T>
void CompareAs(Relation relation, const std::vector<TensorUse>& uses,
               const std::vector<uint8_t*>& first) {
  const auto compare = [&](auto holds) {
    ForElements<T>(uses, first, [holds](T a, T b) -> uint8_t { return holds(Value(a), Value(b)); });
  };
  if (relation == Relation::kEq) return compare([](auto a, auto b) { return a == b; });
  if (relation == Relation::kNe) return compare([](auto a, auto b) { return a != b; });
  if constexpr (!kIsComplex<T>) {
    if (relation == Relation::kLt) return compare([](auto a, auto b) { return a < b; });
    if (relation == Relation::kLe) return compare([](auto a, auto b) { return a <= b; });
    if (relation == Relation::kGt) return compare([](auto a, auto b) { return a > b; });
    compare([](auto a, auto b) { return a >= b; });
  }
}

bool IsOrder(Relation relation) { return relation != Relation::kEq && relation != Relation::kNe; }

// A temporary of out's shape and of another type, and its way into out.
class Result {
 public:
  Result(const aclTensor* out, op::DataType type, aclOpExecutor* executor)
      : out_(out),
        executor_(executor),
        temporary_(l0op::NewResult(out->GetViewShape(), type, op::Format::FORMAT_ND, executor)) {}
  const aclTensor* tensor() const { return temporary_; }
  aclnnStatus Finish(bool added) const {
    return added ? CopyInto(temporary_, out_, executor_) : ACLNN_ERR_INNER_NULLPTR;
  }

 private:
  const aclTensor* out_;
  aclOpExecutor* executor_;
  aclTensor* temporary_;
};

// x as row-major elements of a type: as many as shape has, or only its one where that will do.
// nullptr with a report.
const aclTensor* Operand(const aclTensor* x, op::DataType type, const op::Shape& shape,
                         bool oneWillDo, aclOpExecutor* executor) {
  const aclTensor* cast = l0op::Cast(x, type, executor);
  if (cast == nullptr) return nullptr;
  if (oneWillDo && cast->Numel() == 1) return l0op::Contiguous(cast, executor);
  const aclTensor* view = Broadcast(cast, shape, executor);
  return view == nullptr ? nullptr : l0op::Contiguous(view, executor);
}

// Adds what computes out from self and other, which broadcast to its shape.
aclnnStatus AddBinary(const char* name, const aclTensor* self, const aclTensor* other,
                      op::DataType type, const aclTensor* out, op::DataType resultType,
                      const HostTask::Body& body, aclOpExecutor* executor) {
  if (out->IsEmpty()) return ACLNN_SUCCESS;
  const op::Shape& shape = out->GetViewShape();
  const aclTensor* a = Operand(self, type, shape, false, executor);
  const aclTensor* b = Operand(other, type, shape, true, executor);
  const Result result(out, resultType, executor);
  if (a == nullptr || b == nullptr || result.tensor() == nullptr) return ACLNN_ERR_INNER_NULLPTR;
  return result.Finish(
      l0op::AddHostTask(name, {a, b}, result.tensor(), Flow::kElements, body, executor));
}

aclnnStatus CheckShapes(const aclTensor* self, const aclTensor* other, const aclTensor* out,
                        aclOpExecutor* executor) {
  op::Shape both;
  if (!op::BroadcastInferShape(self->GetViewShape(), other->GetViewShape(), both)) {
    return Refuse(executor, other, ShapeText(other->GetViewShape()),
                  "one that broadcasts with that of " + executor->State().NameOf(self) +
                      ", which is " + ShapeText(self->GetViewShape()));
  }
  if (out->GetViewShape() != both) {
    return Refuse(executor, out, ShapeText(out->GetViewShape()), ShapeText(both));
  }
  return ACLNN_SUCCESS;
}

// The type in which a tensor is compared with a number: the tensor's, unless the number is of a
// wider kind (PyTorch's rule).
op::DataType TypeWithScalar(const aclTensor* tensor, const aclScalar* scalar) {
  const op::DataType self = tensor->GetDataType();
  const op::DataType other = scalar->GetDataType();
  if (op::IsComplexType(self)) return self;
  if (op::IsComplexType(other)) {
    return self == op::DataType::DT_DOUBLE ? op::DataType::DT_COMPLEX128
                                           : op::DataType::DT_COMPLEX64;
  }
  if (op::IsFloatingType(self)) return self;
  if (op::IsFloatingType(other)) return op::DataType::DT_FLOAT;
  if (self == op::DataType::DT_BOOL || other == op::DataType::DT_BOOL) {
    return self == op::DataType::DT_BOOL ? other : self;
  }
  // A number that the tensor's type does not have must not become one that it has.
  uint8_t narrow[sizeof(int64_t)] = {};
  int64_t back = 0;
  const int64_t value = scalar->ToInt64();
  op::internal::ConvertElements(&value, op::DataType::DT_INT64, narrow, self, 1);
  op::internal::ConvertElements(narrow, self, &back, op::DataType::DT_INT64, 1);
  return back == value ? self : op::DataType::DT_INT64;
}

aclnnStatus AddCompare(Relation relation, const aclTensor* self, const aclTensor* other,
                       op::DataType type, const aclTensor* out, aclOpExecutor* executor) {
  if (IsOrder(relation) && op::IsComplexType(type)) {
    return Refuse(executor, self, TypeText(type) + " after promotion",
                  "one with an order: complex numbers are equal or not");
  }
  const auto body = [relation, type](const std::vector<TensorUse>& uses,
                                     const std::vector<uint8_t*>& first) {
    WithType(type, [&](auto t) { CompareAs<typename decltype(t)::type>(relation, uses, first); });
  };
  return AddBinary("Compare", self, other, type, out, op::DataType::DT_BOOL, body, executor);
}

}  // namespace

aclnnStatus Compare(Relation relation, const aclTensor* self, const aclTensor* other,
                    const aclTensor* out, aclOpExecutor* executor) {
  aclnnStatus status = CheckElements(executor, {self, other, out});
  if (status == ACLNN_SUCCESS) status = CheckShapes(self, other, out, executor);
  if (status != ACLNN_SUCCESS) return status;
  const op::DataType type = op::PromoteType(self->GetDataType(), other->GetDataType());
  if (!op::internal::CanConvert(type)) {
    return Refuse(executor, other, TypeText(other->GetDataType()),
                  "one that has a common type with that of " + executor->State().NameOf(self) +
                      ", which is " + TypeText(self->GetDataType()));
  }
  return AddCompare(relation, self, other, type, out, executor);
}

aclnnStatus Compare(Relation relation, const aclTensor* self, const aclScalar* other,
                    const aclTensor* out, aclOpExecutor* executor) {
  aclnnStatus status = CheckElements(executor, {self, out});
  if (status == ACLNN_SUCCESS) status = CheckElements("other", other);
  if (status != ACLNN_SUCCESS) return status;
  const op::DataType type = TypeWithScalar(self, other);
  const aclTensor* scalar = Number(other, type, executor);
  if (scalar == nullptr) return ACLNN_ERR_INNER_NULLPTR;
  status = CheckShapes(self, scalar, out, executor);
  return status == ACLNN_SUCCESS ? AddCompare(relation, self, scalar, type, out, executor) : status;
}

aclnnStatus Equal(const aclTensor* self, const aclTensor* other, const aclTensor* out,
                  aclOpExecutor* executor) {
  aclnnStatus status = CheckElements(executor, {self, other});
  if (status != ACLNN_SUCCESS) return status;
  if (out->GetDataType() != op::DataType::DT_BOOL || out->Numel() != 1) {
    return Refuse(executor, out,
                  TypeText(out->GetDataType()) + " of " + ShapeText(out->GetViewShape()),
                  "one bool, of shape [1]");
  }
  const op::DataType type = op::PromoteType(self->GetDataType(), other->GetDataType());
  if (!op::internal::CanConvert(type)) {
    return Refuse(executor, other, TypeText(other->GetDataType()),
                  "one that has a common type with " + TypeText(self->GetDataType()));
  }
  const bool sameShape = self->GetViewShape() == other->GetViewShape();
  if (!sameShape || self->IsEmpty()) return Fill(out, sameShape ? 1 : 0, executor);
  const aclTensor* a = Operand(self, type, self->GetViewShape(), false, executor);
  const aclTensor* b = Operand(other, type, self->GetViewShape(), false, executor);
  const Result result(out, op::DataType::DT_BOOL, executor);
  if (a == nullptr || b == nullptr || result.tensor() == nullptr) return ACLNN_ERR_INNER_NULLPTR;
  const auto body = [type](const std::vector<TensorUse>& uses, const std::vector<uint8_t*>& first) {
    WithType(type, [&](auto t) {
      using T = typename decltype(t)::type;
      const auto* left = reinterpret_cast<const T*>(first[0]);
      const auto* right = reinterpret_cast<const T*>(first[1]);
      *first[2] = std::equal(left, left + Elements(uses[0]), right,
                             [](T x, T y) { return Value(x) == Value(y); });
    });
  };
  return result.Finish(
      l0op::AddHostTask("Equal", {a, b}, result.tensor(), Flow::kAll, body, executor));
}

aclnnStatus Logical(Logic logic, const aclTensor* self, const aclTensor* other,
                    const aclTensor* out, aclOpExecutor* executor) {
  aclnnStatus status = CheckElements(executor, {self, other, out});
  if (status == ACLNN_SUCCESS) status = CheckShapes(self, other, out, executor);
  if (status != ACLNN_SUCCESS) return status;
  const auto body = [logic](const std::vector<TensorUse>& uses,
                            const std::vector<uint8_t*>& first) {
    const auto combine = [&](auto result) {
      ForElements<uint8_t>(uses, first, [result](uint8_t a, uint8_t b) -> uint8_t {
        return result(a != 0, b != 0);
      });
    };
    if (logic == Logic::kAnd) return combine([](bool a, bool b) { return a && b; });
    if (logic == Logic::kOr) return combine([](bool a, bool b) { return a || b; });
    combine([](bool a, bool b) { return a != b; });
  };
  return AddBinary("Logical", self, other, op::DataType::DT_BOOL, out, op::DataType::DT_BOOL, body,
                   executor);
}

aclnnStatus LogicalNot(const aclTensor* self, const aclTensor* out, aclOpExecutor* executor) {
  const aclTensor* scalar = Number(1, op::DataType::DT_BOOL, executor);
  return scalar == nullptr ? ACLNN_ERR_INNER_NULLPTR
                           : Logical(Logic::kXor, self, scalar, out, executor);
}

aclnnStatus IsFinite(const aclTensor* self, const aclTensor* out, aclOpExecutor* executor) {
  const aclnnStatus status = CheckElements(executor, {self, out});
  if (status != ACLNN_SUCCESS) return status;
  if (self->GetViewShape() != out->GetViewShape()) {
    return Refuse(executor, out, ShapeText(out->GetViewShape()), ShapeText(self->GetViewShape()));
  }
  if (out->IsEmpty()) return ACLNN_SUCCESS;
  const op::DataType type = self->GetDataType();
  const aclTensor* in = l0op::Contiguous(self, executor);
  const Result result(out, op::DataType::DT_BOOL, executor);
  if (in == nullptr || result.tensor() == nullptr) return ACLNN_ERR_INNER_NULLPTR;
  const auto body = [type](const std::vector<TensorUse>& uses, const std::vector<uint8_t*>& first) {
    WithType(type, [&](auto t) {
      using T = typename decltype(t)::type;
      const auto* values = reinterpret_cast<const T*>(first[0]);
      for (int64_t i = 0; i < Elements(uses[1]); ++i) {
        const auto value = Value(values[i]);
        if constexpr (kIsComplex<T>) {
          first[1][i] = std::isfinite(value.real()) && std::isfinite(value.imag());
        } else if constexpr (std::is_floating_point_v<decltype(Value(T()))>) {
          first[1][i] = std::isfinite(value);
        } else {
          first[1][i] = 1;
        }
      }
    });
  };
  return result.Finish(
      l0op::AddHostTask("IsFinite", {in}, result.tensor(), Flow::kElements, body, executor));
}

aclnnStatus Complex(const aclTensor* real, const aclTensor* imag, const aclTensor* out,
                    aclOpExecutor* executor) {
  const op::DataType type = out->GetDataType();
  if (type != op::DataType::DT_COMPLEX64 && type != op::DataType::DT_COMPLEX128) {
    return Refuse(executor, out, TypeText(type), "complex64 or complex128");
  }
  for (const aclTensor* part : {real, imag}) {
    if (op::IsFloatingType(part->GetDataType())) continue;
    return Refuse(executor, part, TypeText(part->GetDataType()), "a floating-point type");
  }
  aclnnStatus status = CheckElements(executor, {real, imag});
  if (status == ACLNN_SUCCESS) status = CheckShapes(real, imag, out, executor);
  if (status != ACLNN_SUCCESS) return status;
  const bool wide = type == op::DataType::DT_COMPLEX128;
  const auto body = [wide](const std::vector<TensorUse>& uses, const std::vector<uint8_t*>& first) {
    if (wide) {
      ForElements<double>(uses, first, [](double a, double b) { return std::complex(a, b); });
    } else {
      ForElements<float>(uses, first, [](float a, float b) { return std::complex(a, b); });
    }
  };
  return AddBinary("Complex", real, imag, wide ? op::DataType::DT_DOUBLE : op::DataType::DT_FLOAT,
                   out, type, body, executor);
}

aclnnStatus Arange(const aclScalar* start, const aclScalar* end, const aclScalar* step,
                   const aclTensor* out, aclOpExecutor* executor) {
  const op::DataType type = out->GetDataType();
  aclnnStatus status = CheckElements(executor, {out});
  for (const auto& [name, scalar] : {std::pair("start", start), {"end", end}, {"step", step}}) {
    if (status == ACLNN_SUCCESS) status = CheckElements(name, scalar);
    if (status == ACLNN_SUCCESS && op::IsComplexType(scalar->GetDataType())) {
      status = Refuse(name, TypeText(scalar->GetDataType()), "a real number");
    }
  }
  if (status != ACLNN_SUCCESS) return status;
  if (op::IsComplexType(type) || type == op::DataType::DT_BOOL) {
    return Refuse(executor, out, TypeText(type), "an integer or floating-point type");
  }
  const bool integer = op::IsIntegralType(type);
  // 64 bits of mantissa: every integer is what it is.
  const auto value = [integer](const aclScalar* scalar) {
    return integer ? static_cast<long double>(scalar->ToInt64()) : scalar->ToDouble();
  };
  const long double by = value(step);
  const long double way = value(end) - value(start);
  if (by == 0 || std::isnan(by) || way * by < 0) {
    return Refuse("step", std::to_string(by),
                  "not 0, and one that leads from " + std::to_string(value(start)) + " to " +
                      std::to_string(value(end)));
  }
  // The caller's count may be another by one, as it may have divided in another type.
  const long double count = std::ceil(way / by);
  if (!(std::fabs(count - static_cast<long double>(out->Numel())) <= 1)) {
    return Refuse(executor, out, ShapeText(out->GetViewShape()),
                  std::to_string(count) + " elements");
  }
  if (out->IsEmpty()) return ACLNN_SUCCESS;
  const op::DataType inner = integer ? op::DataType::DT_INT64 : op::DataType::DT_DOUBLE;
  const Result result(out, inner, executor);
  if (result.tensor() == nullptr) return ACLNN_ERR_INNER_NULLPTR;
  const auto fill = [](auto from, auto each) {
    return [from, each](const std::vector<TensorUse>& uses, const std::vector<uint8_t*>& at) {
      auto* values = reinterpret_cast<std::decay_t<decltype(from)>*>(at[0]);
      using T = std::decay_t<decltype(from)>;
      for (int64_t i = 0; i < Elements(uses[0]); ++i) values[i] = from + static_cast<T>(i) * each;
    };
  };
  const HostTask::Body body = integer ? HostTask::Body(fill(static_cast<uint64_t>(start->ToInt64()),
                                                            static_cast<uint64_t>(step->ToInt64())))
                                      : HostTask::Body(fill(start->ToDouble(), step->ToDouble()));
  return result.Finish(
      l0op::AddHostTask("Arange", {}, result.tensor(), Flow::kAll, body, executor));
}

}  // namespace opapi
