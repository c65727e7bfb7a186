// SPDX-License-Identifier: Apache-2.0
// Sums, means, extremes, and what is made of them: softmax, norms of rows.
#include <algorithm>
#include <cmath>

#include "graph.h"
#include "opdev/op_log.h"

using torchops::Formula;
using torchops::Graph;
using torchops::Number;
using torchops::Tensor;
using Kind = RowReductionKind;

namespace {

std::vector<int64_t> Dims(const aclIntArray* dims) {
  return dims == nullptr ? std::vector<int64_t>()
                         : std::vector<int64_t>(dims->GetData(), dims->GetData() + dims->Size());
}

// Says whether out has the dims that the arguments of a reduction ask for.
bool Fits(Tensor x, const aclIntArray* dims, bool keepDims, Tensor out) {
  if (x == nullptr || out == nullptr) return false;
  const size_t rank = x->GetViewShape().GetDimNum();
  const size_t gone = dims == nullptr || dims->Size() == 0 ? rank : dims->Size();
  const size_t wanted = keepDims ? rank : rank - std::min(gone, rank);
  if (out->GetViewShape().GetDimNum() == wanted) return true;
  OP_LOGE(ACLNN_ERR_PARAM_INVALID, "keepDims is %d and out has %zu dims, want %zu", keepDims,
          out->GetViewShape().GetDimNum(), wanted);
  return false;
}

// This one looks at the dtype of out, too.
bool Fits(Tensor x, const aclIntArray* dims, bool keepDims, Tensor out, aclDataType dtype) {
  if (!Fits(x, dims, keepDims, out)) return false;
  const auto wanted = static_cast<op::DataType>(dtype);
  if (out->GetDataType() == wanted) return true;
  OP_LOGE(ACLNN_ERR_PARAM_INVALID, "dtype is %s and that of out is %s, want the same",
          op::ToString(wanted).GetString(), op::ToString(out->GetDataType()).GetString());
  return false;
}

// x in fp32, which has to hold what is added up: truth values, not numbers of 64 bits.
Tensor Addends(Graph& graph, Tensor x) {
  graph.Common({x});
  if (x != nullptr && graph.whole() &&
      (x->GetDataType() != op::DataType::DT_BOOL || x->Numel() > torchops::kMostExact)) {
    OP_LOGE(ACLNN_ERR_PARAM_INVALID,
            "sums of whole numbers are not here, but of at most 2^24 truth values");
    return nullptr;
  }
  graph.Reals();
  return graph.In(x);
}

Tensor Mean(Graph& graph, Tensor x, const std::vector<int64_t>& dims) {
  Tensor sum = graph.Sum(x, dims);
  if (sum == nullptr) return nullptr;
  const auto each = static_cast<double>(x->Numel()) / static_cast<double>(sum->Numel());
  return graph.Div(sum, graph.Constant(each));
}

Tensor Extreme(Graph& graph, Kind kind, Tensor x, const std::vector<int64_t>& dims) {
  graph.Common({x});
  if (x != nullptr &&
      (x->GetDataType() == op::DataType::DT_INT64 || x->GetDataType() == op::DataType::DT_INT32)) {
    OP_LOGE(ACLNN_ERR_PARAM_INVALID, "extremes of %s are not here",
            op::ToString(x->GetDataType()).GetString());
    return nullptr;
  }
  graph.Reals();
  return graph.Reduce(kind, graph.In(x), dims);
}

// The norm of order 1, 2 or infinity.
Tensor Norm(Graph& graph, Tensor self, const aclScalar* order, const std::vector<int64_t>& dims) {
  graph.Reals();
  const double p = order == nullptr ? 2 : Number(order).real;
  Tensor x = graph.Map(Formula::kAbsolute, {graph.In(self)});
  if (p == 1) return graph.Sum(x, dims);
  if (p == 2) return graph.Sqrt(graph.Sum(graph.Mul(x, x), dims));
  if (std::isinf(p) && p > 0) return graph.Maximum(x, dims);
  OP_LOGE(ACLNN_ERR_PARAM_INVALID, "the order of a norm is %f, want 1, 2 or infinity", p);
  return nullptr;
}

// Both softmaxes begin with x less its largest.
Tensor Shifted(Graph& graph, Tensor self, int64_t dim) {
  graph.Reals();
  Tensor x = graph.In(self);
  return graph.Sub(x, graph.Maximum(x, {dim}));
}

// The last dims that a norm is over, and those before.
struct Axes {
  std::vector<int64_t> normalized, before;
};

// No normalized dims: the reason is reported.
Axes AxesOf(Tensor x, const aclIntArray* wanted) {
  Axes axes;
  const op::Shape& shape = x->GetViewShape();
  const size_t rank = shape.GetDimNum();
  const size_t last = wanted == nullptr ? 0 : static_cast<size_t>(wanted->Size());
  bool same = last > 0 && last <= rank;
  for (size_t i = 0; same && i < last; ++i) same = shape[rank - last + i] == wanted->GetData()[i];
  if (!same) {
    OP_LOGE(ACLNN_ERR_PARAM_INVALID, "normalizedShape has %zu dims, want the last of %s", last,
            op::ToString(shape).GetString());
    return axes;
  }
  for (size_t dim = 0; dim < rank; ++dim) {
    (dim < rank - last ? axes.before : axes.normalized).push_back(static_cast<int64_t>(dim));
  }
  return axes;
}

bool LayerNorm(Graph& graph, Tensor input, const aclIntArray* shape, Tensor weight, Tensor bias,
               double eps, Tensor out, Tensor meanOut, Tensor rstdOut) {
  graph.Reals();
  Tensor x = graph.In(input);
  if (x == nullptr) return false;
  const Axes axes = AxesOf(x, shape);
  if (axes.normalized.empty()) return false;
  Tensor mean = Mean(graph, x, axes.normalized);
  Tensor far = graph.Sub(x, mean);
  Tensor variance = Mean(graph, graph.Mul(far, far), axes.normalized);
  Tensor rstd = graph.Div(graph.Constant(1), graph.Sqrt(graph.Linear(variance, 1, eps)));
  Tensor y = graph.Mul(far, rstd);
  if (weight != nullptr && !weight->IsEmpty()) y = graph.Mul(y, graph.In(weight));
  if (bias != nullptr && !bias->IsEmpty()) y = graph.Add(y, graph.In(bias));
  return graph.Give(y, out) && (meanOut == nullptr || graph.Give(mean, meanOut)) &&
         (rstdOut == nullptr || graph.Give(rstd, rstdOut));
}

}  // namespace

ACLNN_FUNCTION(ReduceSum,
               (Tensor self, const aclIntArray* dims, bool keepDims, aclDataType dtype,
                aclTensor* out),
               {
                 return Fits(self, dims, keepDims, out, dtype) &&
                        graph.GiveExact(graph.Sum(Addends(graph, self), Dims(dims)), out);
               })
ACLNN_FUNCTION(Mean,
               (Tensor self, const aclIntArray* dims, bool keepDims, aclDataType dtype,
                aclTensor* out),
               {
                 return Fits(self, dims, keepDims, out, dtype) &&
                        graph.Give(Mean(graph, Addends(graph, self), Dims(dims)), out);
               })
ACLNN_FUNCTION(Amax, (Tensor self, const aclIntArray* dims, bool keepDims, aclTensor* out), {
  return Fits(self, dims, keepDims, out) &&
         graph.GiveExact(Extreme(graph, Kind::kMaximum, self, Dims(dims)), out);
})
ACLNN_FUNCTION(Amin, (Tensor self, const aclIntArray* dims, bool keepDims, aclTensor* out), {
  return Fits(self, dims, keepDims, out) &&
         graph.GiveExact(Extreme(graph, Kind::kMinimum, self, Dims(dims)), out);
})
ACLNN_FUNCTION(Max, (Tensor self, aclTensor* out),
               { return graph.GiveExact(Extreme(graph, Kind::kMaximum, self, {}), out); })
ACLNN_FUNCTION(Min, (Tensor self, aclTensor* out),
               { return graph.GiveExact(Extreme(graph, Kind::kMinimum, self, {}), out); })

namespace {

// 1 where an element is not zero.
Tensor Truth(Graph& graph, Tensor x) {
  graph.Reals();
  Tensor lanes = graph.In(x);
  return graph.Select(lanes, graph.Constant(1), graph.Constant(0));
}

}  // namespace

ACLNN_FUNCTION(All, (Tensor self, const aclIntArray* dims, bool keepDims, aclTensor* out), {
  return Fits(self, dims, keepDims, out) &&
         graph.GiveExact(graph.Reduce(Kind::kMinimum, Truth(graph, self), Dims(dims)), out);
})
ACLNN_FUNCTION(Any, (Tensor self, const aclIntArray* dims, bool keepDims, aclTensor* out), {
  return Fits(self, dims, keepDims, out) &&
         graph.GiveExact(graph.Reduce(Kind::kMaximum, Truth(graph, self), Dims(dims)), out);
})
ACLNN_FUNCTION(
    Norm, (Tensor self, const aclScalar* p, const aclIntArray* dims, bool keepDims, aclTensor* out),
    {
      return Fits(self, dims, keepDims, out) && graph.Give(Norm(graph, self, p, Dims(dims)), out);
    })
ACLNN_FUNCTION(LinalgVectorNorm,
               (Tensor self, const aclScalar* ord, const aclIntArray* dims, bool keepDims,
                aclDataType dtype, aclTensor* out),
               {
                 return Fits(self, dims, keepDims, out, dtype) &&
                        graph.Give(Norm(graph, self, ord, Dims(dims)), out);
               })
ACLNN_FUNCTION(ForeachNorm,
               (const aclTensorList* self, const aclScalar* ord, const aclTensorList* out), {
                 for (uint64_t i = 0; i < self->Size(); ++i) {
                   if (!graph.Give(Norm(graph, (*self)[i], ord, {}), (*out)[i])) return false;
                 }
                 return true;
               })

ACLNN_FUNCTION(Softmax, (Tensor self, int64_t dim, aclTensor* out), {
  Tensor shares = graph.Exp(Shifted(graph, self, dim));
  return graph.Give(graph.Div(shares, graph.Sum(shares, {dim})), out);
})
ACLNN_FUNCTION(LogSoftmax, (Tensor self, int64_t dim, aclTensor* out), {
  Tensor x = Shifted(graph, self, dim);
  return graph.Give(graph.Sub(x, graph.Log(graph.Sum(graph.Exp(x), {dim}))), out);
})

ACLNN_FUNCTION(LayerNorm,
               (Tensor input, const aclIntArray* normalizedShape, Tensor weight, Tensor bias,
                double eps, aclTensor* out, aclTensor* meanOut, aclTensor* rstdOut),
               {
                 return LayerNorm(graph, input, normalizedShape, weight, bias, eps, out, meanOut,
                                  rstdOut);
               })
ACLNN_FUNCTION(FastLayerNorm,
               (Tensor input, const aclIntArray* normalizedShape, Tensor weight, Tensor bias,
                double eps, aclTensor* out, aclTensor* meanOut, aclTensor* rstdOut),
               {
                 return LayerNorm(graph, input, normalizedShape, weight, bias, eps, out, meanOut,
                                  rstdOut);
               })

ACLNN_FUNCTION(LayerNormBackward,
               (Tensor gradOut, Tensor input, const aclIntArray* normalizedShape, Tensor mean,
                Tensor rstd, Tensor weight, Tensor bias, const aclBoolArray* outputMask,
                aclTensor* gradInput, aclTensor* gradWeight, aclTensor* gradBias),
               {
                 graph.Reals();
                 Tensor x = graph.In(input);
                 if (x == nullptr || mean == nullptr || rstd == nullptr) return false;
                 if (outputMask == nullptr || outputMask->Size() != 3) {
                   OP_LOGE(ACLNN_ERR_PARAM_INVALID, "outputMask wants three truth values");
                   return false;
                 }
                 const Axes axes = AxesOf(x, normalizedShape);
                 if (axes.normalized.empty()) return false;
                 // One number for each row, whatever dims of size 1 it has.
                 op::Shape perRow = x->GetViewShape();
                 for (int64_t dim : axes.normalized) perRow.SetDim(static_cast<size_t>(dim), 1);
                 Tensor scale = graph.Reshape(graph.In(rstd), perRow);
                 Tensor far = graph.Sub(x, graph.Reshape(graph.In(mean), perRow));
                 Tensor normal = graph.Mul(far, scale);
                 Tensor gradient = graph.In(gradOut);
                 Tensor inner = weight == nullptr || weight->IsEmpty()
                                    ? gradient
                                    : graph.Mul(gradient, graph.In(weight));
                 const auto& asked = *outputMask;
                 if (asked[0]) {
                   Tensor along = Mean(graph, graph.Mul(inner, normal), axes.normalized);
                   Tensor rest = graph.Sub(inner, Mean(graph, inner, axes.normalized));
                   rest = graph.Map(Formula::kAddProduct, {rest, normal, along}, -1);
                   if (!graph.Give(graph.Mul(rest, scale), gradInput)) return false;
                 }
                 // Without dims before them there is one row, and nothing to add.
                 const auto total = [&](Tensor each) {
                   return axes.before.empty() ? each : graph.Sum(each, axes.before);
                 };
                 if (asked[1] && !graph.Give(total(graph.Mul(gradient, normal)), gradWeight))
                   return false;
                 return !asked[2] || graph.Give(total(graph.Linear(gradient, 1, 0)), gradBias);
               })
