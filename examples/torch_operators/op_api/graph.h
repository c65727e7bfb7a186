// SPDX-License-Identifier: Apache-2.0
// The aclnn functions of this folder are formulas over kernels. A Graph collects the launches of one call.
#pragma once

#include <cmath>
#include <functional>
#include <initializer_list>
#include <string>
#include <type_traits>
#include <vector>

#include "../op_kernel/element_map_tiling.h"
#include "../op_kernel/row_reduction_tiling.h"
#include "opdev/common_types.h"
#include "opdev/op_dfx.h"
#include "opdev/op_errno.h"
#include "opdev/op_executor.h"

namespace torchops {

using Tensor = const aclTensor*;
using Formula = ElementMapFormula;

constexpr int64_t kMostExact = 1 << 24;  // whole numbers up to here are fp32 numbers

// A number that fp32 and whole numbers each take in their own way. A scalar that is not there makes none: what is computed with it
// answers nullptr.
struct Number {
  template <typename T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
  Number(T value)
      : real(static_cast<double>(value)),
        whole(std::isfinite(real) ? static_cast<int64_t>(value) : 0) {}
  Number(const aclScalar* scalar) : given(scalar != nullptr) {
    if (!given) return;
    real = scalar->ToDouble();
    whole = scalar->ToInt64();
  }
  double real = 0;
  int64_t whole = 0;
  bool given = true;
};

// Every function answers nullptr, with the reason reported, when it cannot; nullptr as an argument is passed on.
// Tensors of 16 bits are computed in fp32 and rounded when they are given to an output.
class Graph {
 public:
  explicit Graph(aclOpExecutor* executor) : executor_(executor) {}

  // x in the dtype that the call is computed in: fp32 from Reals(), else as Common() finds for its tensors.
  void Common(std::initializer_list<Tensor> tensors,
              std::initializer_list<const aclScalar*> scalars = {});
  void Reals() { dtype_ = op::DataType::DT_FLOAT; }
  bool whole() const { return dtype_ == op::DataType::DT_INT64; }
  Tensor In(Tensor x);
  Tensor InAs(Tensor x, op::DataType dtype);
  Tensor Constant(Number value);
  Tensor Ramp(int64_t size);  // 0, 1, 2, ... in fp32

  // index, each of which the kernel wants to be at least 0 and less than size, or to be `other`.
  Tensor Index(Tensor index, int64_t size, int64_t other);

  // y = formula(a, b, c), broadcast.
  Tensor Map(Formula formula, std::initializer_list<Tensor> operands, Number s = 1, Number t = 0);
  Tensor Linear(Tensor a, Number s, Number t) { return Map(Formula::kLinear, {a}, s, t); }
  Tensor Add(Tensor a, Tensor b, Number s = 1) { return Map(Formula::kAddScaled, {a, b}, s); }
  Tensor Sub(Tensor a, Tensor b) { return Add(a, b, -1); }
  Tensor Mul(Tensor a, Tensor b) { return Map(Formula::kMultiply, {a, b}); }
  Tensor Div(Tensor a, Tensor b) { return Map(Formula::kDivide, {a, b}); }
  Tensor Exp(Tensor a) { return Map(Formula::kExponential, {a}); }
  Tensor Log(Tensor a) { return Map(Formula::kLogarithm, {a}); }
  Tensor Sqrt(Tensor a) { return Map(Formula::kSquareRoot, {a}); }
  Tensor Select(Tensor condition, Tensor a, Tensor b) {
    return Map(Formula::kSelect, {condition, a, b});
  }

  // Along these dims, which stay with size 1; none: along all.
  Tensor Reduce(RowReductionKind kind, Tensor x, const std::vector<int64_t>& dims);
  Tensor Sum(Tensor x, const std::vector<int64_t>& dims) {
    return Reduce(RowReductionKind::kSum, x, dims);
  }
  Tensor Maximum(Tensor x, const std::vector<int64_t>& dims) {
    return Reduce(RowReductionKind::kMaximum, x, dims);
  }

  Tensor Product(Tensor a, Tensor b);  // matrices, of any batch that broadcasts
  Tensor Gather(Tensor table, Tensor index);
  Tensor AddRows(Tensor x, Tensor index, int64_t rows, int64_t skipped);
  Tensor Reshape(Tensor x, const op::Shape& shape);

  // Rounds x to the dtype of out and stores it. False when x or out is nullptr, or when out wants whole numbers of fp32.
  bool Give(Tensor x, Tensor out);
  // This one takes numbers of fp32 that are whole, fit the dtype of out and are no larger than kMostExact.
  bool GiveExact(Tensor x, Tensor out);

  aclOpExecutor* executor() const { return executor_; }

 private:
  Tensor Broadcast(Tensor x, const op::Shape& shape);

  aclOpExecutor* const executor_;
  op::DataType dtype_ = op::DataType::DT_FLOAT;
};

// The first stage of each function.
aclnnStatus Plan(const char* function, uint64_t* workspaceSize, aclOpExecutor** executor,
                 const std::function<bool(Graph&)>& body);

}  // namespace torchops

// ACLNN_FUNCTION(Name, (parameters), body) defines both stages. The body, with `graph`, answers whether all went well.
#define ACLNN_PARAMETERS(...) __VA_ARGS__
#define ACLNN_FUNCTION(Name, Parameters, ...)                                           \
  extern "C" aclnnStatus aclnn##Name##GetWorkspaceSize(                                 \
      ACLNN_PARAMETERS Parameters, uint64_t* workspaceSize, aclOpExecutor** executor) { \
    L2_DFX_PHASE_1(aclnn##Name, DFX_IN(), DFX_OUT());                                   \
    return torchops::Plan(                                                              \
        "aclnn" #Name, workspaceSize,                                                   \
        executor, [&]([[maybe_unused]] torchops::Graph & graph) -> bool __VA_ARGS__);   \
  }                                                                                     \
  extern "C" aclnnStatus aclnn##Name(void* workspace, uint64_t workspaceSize,           \
                                     aclOpExecutor* executor, aclrtStream stream) {     \
    L2_DFX_PHASE_2(aclnn##Name);                                                        \
    return CommonOpExecutorRun(workspace, workspaceSize, executor, stream);             \
  }
