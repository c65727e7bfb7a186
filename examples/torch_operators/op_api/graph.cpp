// SPDX-License-Identifier: Apache-2.0
#include "graph.h"

#include <numeric>
#include <utility>

#include "aclnn_kernels/cast.h"
#include "aclnn_kernels/contiguous.h"
#include "aclnn_kernels/reshape.h"
#include "aclnn_kernels/transdata.h"
#include "level0/broadcast_to.h"
#include "opdev/format_utils.h"
#include "opdev/make_op_executor.h"
#include "opdev/op_log.h"
#include "opdev/shape_utils.h"

namespace l0op {

OP_TYPE_REGISTER(ElementMap);
OP_TYPE_REGISTER(RowReduction);
OP_TYPE_REGISTER(MatrixProduct);
OP_TYPE_REGISTER(GatherRows);
OP_TYPE_REGISTER(AddRows);

static bool LaunchElementMap(const aclTensor* a, const aclTensor* b, const aclTensor* c,
                             aclTensor* y, int64_t formula, const torchops::Number& s,
                             const torchops::Number& t, aclOpExecutor* executor) {
  return ADD_TO_LAUNCHER_LIST_AICORE(ElementMap, OP_INPUT(a, b, c), OP_OUTPUT(y),
                                     OP_ATTR(formula, static_cast<float>(s.real),
                                             static_cast<float>(t.real), s.whole, t.whole)) ==
         ACLNN_SUCCESS;
}

static bool LaunchRowReduction(const aclTensor* x, aclTensor* y, int64_t kind,
                               aclOpExecutor* executor) {
  return ADD_TO_LAUNCHER_LIST_AICORE(RowReduction, OP_INPUT(x), OP_OUTPUT(y), OP_ATTR(kind)) ==
         ACLNN_SUCCESS;
}

static bool LaunchMatrixProduct(const aclTensor* a, const aclTensor* b, aclTensor* y,
                                aclOpExecutor* executor) {
  return ADD_TO_LAUNCHER_LIST_AICORE(MatrixProduct, OP_INPUT(a, b), OP_OUTPUT(y)) == ACLNN_SUCCESS;
}

static bool LaunchGatherRows(const aclTensor* table, const aclTensor* index, aclTensor* y,
                             aclOpExecutor* executor) {
  return ADD_TO_LAUNCHER_LIST_AICORE(GatherRows, OP_INPUT(table, index), OP_OUTPUT(y)) ==
         ACLNN_SUCCESS;
}

static bool LaunchAddRows(const aclTensor* x, const aclTensor* index, aclTensor* y, int64_t rows,
                          int64_t skipped, aclOpExecutor* executor) {
  return ADD_TO_LAUNCHER_LIST_AICORE(AddRows, OP_INPUT(x, index), OP_OUTPUT(y),
                                     OP_ATTR(rows, skipped)) == ACLNN_SUCCESS;
}

}  // namespace l0op

namespace torchops {
namespace {

using op::DataType;
using op::Shape;

constexpr auto kFloat = DataType::DT_FLOAT;

bool IsReal(DataType dtype) {
  return dtype == kFloat || dtype == DataType::DT_FLOAT16 || dtype == DataType::DT_BF16;
}

bool IsWhole(DataType dtype) {
  return dtype == DataType::DT_BOOL || dtype == DataType::DT_INT8 || dtype == DataType::DT_UINT8 ||
         dtype == DataType::DT_INT16 || dtype == DataType::DT_INT32 || dtype == DataType::DT_INT64;
}

// x with the dims in another order, without a copy.
Tensor Permuted(Tensor x, const std::vector<size_t>& order, aclOpExecutor* executor) {
  Shape shape;
  op::Strides strides;
  for (size_t dim : order) {
    shape.AppendDim(x->GetViewShape()[dim]);
    strides.push_back(x->GetViewStrides()[dim]);
  }
  return executor->CreateView(x, shape, x->GetStorageShape(), strides, x->GetViewOffset());
}

std::vector<size_t> InOrder(size_t rank) {
  std::vector<size_t> order(rank);
  std::iota(order.begin(), order.end(), size_t{0});
  return order;
}

}  // namespace

void Graph::Common(std::initializer_list<Tensor> tensors,
                   std::initializer_list<const aclScalar*> scalars) {
  bool whole = true;
  for (Tensor each : tensors) whole = whole && (each == nullptr || IsWhole(each->GetDataType()));
  for (const aclScalar* each : scalars) {
    whole = whole && (each == nullptr || IsWhole(each->GetDataType()));
  }
  dtype_ = whole ? DataType::DT_INT64 : kFloat;
}

Tensor Graph::InAs(Tensor x, DataType dtype) {
  if (x == nullptr) return nullptr;
  if (!IsReal(x->GetDataType()) && !IsWhole(x->GetDataType())) {
    OP_LOGE(ACLNN_ERR_PARAM_INVALID,
            "a tensor has dtype %s, want float, float16, bfloat16, bool or a signed integer",
            op::ToString(x->GetDataType()).GetString());
    return nullptr;
  }
  // Kernels find elements by dims.
  Tensor plain = op::IsPrivateFormat(x->GetStorageFormat())
                     ? l0op::TransData(x, op::Format::FORMAT_ND, 1, executor_)
                     : x;
  return plain == nullptr ? nullptr
                          : l0op::Contiguous(l0op::Cast(plain, dtype, executor_), executor_);
}

Tensor Graph::In(Tensor x) { return InAs(x, dtype_); }

Tensor Graph::Constant(Number value) {
  if (!value.given) {
    OP_LOGE(ACLNN_ERR_PARAM_INVALID, "a number is nullptr");
    return nullptr;
  }
  const aclTensor* one = dtype_ == kFloat ? executor_->ConvertToTensor(&value.real, 1, dtype_)
                                          : executor_->ConvertToTensor(&value.whole, 1, dtype_);
  return one == nullptr ? nullptr : executor_->CreateView(one, Shape(), 0);
}

Tensor Graph::Ramp(int64_t size) {
  if (size < 1 || size > kMostExact) {
    OP_LOGE(ACLNN_ERR_PARAM_INVALID, "%ld classes, want 1 to 2^24", size);
    return nullptr;
  }
  std::vector<float> numbers(static_cast<size_t>(size));
  std::iota(numbers.begin(), numbers.end(), 0.0F);
  return executor_->ConvertToTensor(numbers.data(), numbers.size(), kFloat);
}

Tensor Graph::Index(Tensor index, int64_t size, int64_t other) {
  const DataType before = std::exchange(dtype_, DataType::DT_INT64);
  Tensor checked = Map(Formula::kIndex, {In(index), Constant(other)}, 0, size);
  dtype_ = before;
  return In(checked);
}

Tensor Graph::Broadcast(Tensor x, const Shape& shape) {
  if (x->GetViewShape() == shape) return l0op::Contiguous(x, executor_);
  op::ShapeVector dims = op::ToShapeVector(shape);
  if (dims.empty()) return Reshape(x, shape);
  const aclIntArray* wanted = executor_->AllocIntArray(dims.data(), dims.size());
  return wanted == nullptr ? nullptr : l0op::BroadcastTo(x, wanted, executor_);
}

Tensor Graph::Map(Formula formula, std::initializer_list<Tensor> operands, Number s, Number t) {
  Shape shape;
  if (!s.given || !t.given) {
    OP_LOGE(ACLNN_ERR_PARAM_INVALID, "a number is nullptr");
    return nullptr;
  }
  for (Tensor each : operands) {
    if (each == nullptr) return nullptr;
    Shape both;
    if (!op::BroadcastInferShape(shape, each->GetViewShape(), both)) {
      OP_LOGE(ACLNN_ERR_PARAM_INVALID, "shapes %s and %s do not broadcast",
              op::ToString(shape).GetString(), op::ToString(each->GetViewShape()).GetString());
      return nullptr;
    }
    shape = both;
  }
  aclTensor* y = executor_->AllocTensor(shape, (*operands.begin())->GetDataType());
  if (y == nullptr || y->IsEmpty()) return y;
  std::vector<Tensor> in;
  for (Tensor each : operands) {
    in.push_back(Broadcast(each, shape));
    if (in.back() == nullptr) return nullptr;
  }
  in.resize(3, in.front());
  const bool added = l0op::LaunchElementMap(in[0], in[1], in[2], y, static_cast<int64_t>(formula),
                                            s, t, executor_);
  return added ? y : nullptr;
}

Tensor Graph::Reshape(Tensor x, const Shape& shape) {
  return x == nullptr ? nullptr : l0op::Reshape(x, shape, executor_);
}

Tensor Graph::Reduce(RowReductionKind kind, Tensor x, const std::vector<int64_t>& dims) {
  if (x == nullptr) return nullptr;
  const Shape from = x->GetViewShape();
  const auto rank = static_cast<int64_t>(from.GetDimNum());
  std::vector<bool> gone(static_cast<size_t>(rank), dims.empty());
  for (int64_t dim : dims) {
    if (rank == 0 && (dim == 0 || dim == -1)) continue;
    if (dim < -rank || dim >= rank) {
      OP_LOGE(ACLNN_ERR_PARAM_INVALID, "dim is %ld, want one of %s", dim,
              op::ToString(from).GetString());
      return nullptr;
    }
    gone[static_cast<size_t>(dim < 0 ? dim + rank : dim)] = true;
  }
  std::vector<size_t> order;
  Shape result = from;
  int64_t rows = 1;
  int64_t columns = 1;
  for (size_t dim = 0; dim < from.GetDimNum(); ++dim) {
    if (gone[dim]) {
      columns *= from[dim];
      result.SetDim(dim, 1);
    } else {
      rows *= from[dim];
      order.push_back(dim);
    }
  }
  for (size_t dim = 0; dim < from.GetDimNum(); ++dim) {
    if (gone[dim]) order.push_back(dim);
  }
  if (columns == 0) {
    if (kind != RowReductionKind::kSum) {
      OP_LOGE(ACLNN_ERR_PARAM_INVALID, "a maximum of no elements");
      return nullptr;
    }
    Tensor zero = Constant(0);
    return zero == nullptr ? nullptr : Broadcast(zero, result);
  }
  aclTensor* y = executor_->AllocTensor(Shape({rows}), kFloat);
  if (y == nullptr || rows == 0) return Reshape(y, result);
  Tensor matrix = l0op::Contiguous(Permuted(x, order, executor_), executor_);
  matrix = Reshape(matrix, Shape({rows, columns}));
  if (matrix == nullptr ||
      !l0op::LaunchRowReduction(matrix, y, static_cast<int64_t>(kind), executor_)) {
    return nullptr;
  }
  return Reshape(y, result);
}

Tensor Graph::Product(Tensor a, Tensor b) {
  if (a == nullptr || b == nullptr) return nullptr;
  const Shape left = a->GetViewShape();
  const Shape right = b->GetViewShape();
  const size_t rankA = left.GetDimNum();
  const size_t rankB = right.GetDimNum();
  if (rankA < 2 || rankB < 2 || left[rankA - 1] != right[rankB - 2]) {
    OP_LOGE(ACLNN_ERR_PARAM_INVALID, "shapes %s and %s are no matrices to be multiplied",
            op::ToString(left).GetString(), op::ToString(right).GetString());
    return nullptr;
  }
  const int64_t m = left[rankA - 2];
  const int64_t k = left[rankA - 1];
  const int64_t n = right[rankB - 1];
  Shape batchA, batchB, batch;
  for (size_t i = 0; i + 2 < rankA; ++i) batchA.AppendDim(left[i]);
  for (size_t i = 0; i + 2 < rankB; ++i) batchB.AppendDim(right[i]);
  if (!op::BroadcastInferShape(batchA, batchB, batch)) {
    OP_LOGE(ACLNN_ERR_PARAM_INVALID, "batches %s and %s do not broadcast",
            op::ToString(batchA).GetString(), op::ToString(batchB).GetString());
    return nullptr;
  }
  const int64_t matrices = batch.GetShapeSize();
  Shape result = batch;
  result.AppendDim(m);
  result.AppendDim(n);
  aclTensor* y = executor_->AllocTensor(Shape({matrices, m, n}), kFloat);
  if (y == nullptr || y->IsEmpty()) return Reshape(y, result);
  if (k == 0) {
    Reals();
    Tensor zero = Constant(0);
    return zero == nullptr ? nullptr : Broadcast(zero, result);
  }
  // The kernel wants the rows of both along K.
  std::vector<size_t> order = InOrder(rankB);
  std::swap(order[rankB - 1], order[rankB - 2]);
  const auto matricesOf = [&](Tensor x, int64_t rows) -> Tensor {
    Shape shape = batch;
    shape.AppendDim(rows);
    shape.AppendDim(k);
    Tensor all = x == nullptr ? nullptr : Broadcast(x, shape);
    return Reshape(all, Shape({matrices, rows, k}));
  };
  Tensor first = matricesOf(a, m);
  Tensor second = matricesOf(Permuted(b, order, executor_), n);
  if (first == nullptr || second == nullptr ||
      !l0op::LaunchMatrixProduct(first, second, y, executor_)) {
    return nullptr;
  }
  return Reshape(y, result);
}

Tensor Graph::Gather(Tensor table, Tensor index) {
  if (table == nullptr || index == nullptr) return nullptr;
  if (table->GetViewShape().GetDimNum() != 2) {
    OP_LOGE(ACLNN_ERR_PARAM_INVALID, "weight has shape %s, want a matrix",
            op::ToString(table->GetViewShape()).GetString());
    return nullptr;
  }
  Shape result = index->GetViewShape();
  result.AppendDim(table->GetViewShape()[1]);
  aclTensor* y = executor_->AllocTensor(Shape({index->Numel(), table->GetViewShape()[1]}),
                                        table->GetDataType());
  if (y == nullptr || y->IsEmpty()) return Reshape(y, result);
  Tensor rows = l0op::Contiguous(table, executor_);
  Tensor places = InAs(index, DataType::DT_INT64);
  if (rows == nullptr || places == nullptr || !l0op::LaunchGatherRows(rows, places, y, executor_)) {
    return nullptr;
  }
  return Reshape(y, result);
}

Tensor Graph::AddRows(Tensor x, Tensor index, int64_t rows, int64_t skipped) {
  if (x == nullptr || index == nullptr) return nullptr;
  const Shape& shape = x->GetViewShape();
  const int64_t columns = shape[shape.GetDimNum() - 1];
  aclTensor* y = executor_->AllocTensor(Shape({rows, columns}), kFloat);
  if (y == nullptr || y->IsEmpty()) return y;
  Tensor given = Reshape(InAs(x, kFloat), Shape({index->Numel(), columns}));
  Tensor places = InAs(index, DataType::DT_INT64);
  if (given == nullptr || places == nullptr ||
      !l0op::LaunchAddRows(given, places, y, rows, skipped, executor_)) {
    return nullptr;
  }
  return y;
}

bool Graph::Give(Tensor x, Tensor out) {
  if (x == nullptr || out == nullptr) return false;
  const DataType wanted = out->GetDataType();
  if (x->GetDataType() == kFloat && IsWhole(wanted) && wanted != DataType::DT_BOOL) {
    OP_LOGE(ACLNN_ERR_PARAM_INVALID, "an output has dtype %s, which would be computed in float",
            op::ToString(wanted).GetString());
    return false;
  }
  return GiveExact(x, out);
}

bool Graph::GiveExact(Tensor x, Tensor out) {
  if (x == nullptr || out == nullptr) return false;
  if (out->IsEmpty()) return true;
  if (x->Numel() != out->Numel()) {
    OP_LOGE(ACLNN_ERR_PARAM_INVALID, "an output has shape %s, want %s",
            op::ToString(out->GetViewShape()).GetString(),
            op::ToString(x->GetViewShape()).GetString());
    return false;
  }
  Tensor rounded = l0op::Cast(Reshape(x, out->GetViewShape()), out->GetDataType(), executor_);
  return rounded != nullptr && l0op::ViewCopy(rounded, out, executor_) != nullptr;
}

aclnnStatus Plan(const char* function, uint64_t* workspaceSize, aclOpExecutor** executor,
                 const std::function<bool(Graph&)>& body) {
  auto plan = CREATE_EXECUTOR();
  if (plan.get() == nullptr) return ACLNN_ERR_INNER_CREATE_EXECUTOR;
  Graph graph(plan.get());
  if (!body(graph)) {
    OP_LOGE(ACLNN_ERR_PARAM_INVALID,
            "%s does not take these arguments. Next: what is reported before this says why",
            function);
    return ACLNN_ERR_PARAM_INVALID;
  }
  *workspaceSize = plan->GetWorkspaceSize();
  plan.ReleaseTo(executor);
  return ACLNN_SUCCESS;
}

}  // namespace torchops
