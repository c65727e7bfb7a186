// SPDX-License-Identifier: Apache-2.0
// nll_loss. What each row picks is found by comparing its target with 0, 1, 2, ...: no kernel scatters.
#include "graph.h"
#include "opdev/op_log.h"

using torchops::Formula;
using torchops::Graph;
using torchops::Tensor;

namespace {

constexpr int64_t kNone = 0;
constexpr int64_t kMean = 1;
constexpr int64_t kSum = 2;

struct Picked {
  Tensor places;   // [rows, classes]: 1 at the target of each row that is not ignored
  Tensor weights;  // [rows, 1]: the weight of that class, 0 for an ignored row
};

Picked Pick(Graph& graph, Tensor self, Tensor target, Tensor weight, int64_t reduction,
            int64_t ignoreIndex) {
  graph.Reals();
  Picked picked = {};
  if (self == nullptr || target == nullptr) return picked;
  const op::Shape& shape = self->GetViewShape();
  const size_t rank = shape.GetDimNum();
  const int64_t rows = target->Numel();
  if (rank < 1 || rank > 2 || rows != (rank == 2 ? shape[0] : 1)) {
    OP_LOGE(ACLNN_ERR_PARAM_INVALID, "self has shape %s and target %ld elements, want one a row",
            op::ToString(shape).GetString(), rows);
    return picked;
  }
  if (reduction < kNone || reduction > kSum) {
    OP_LOGE(ACLNN_ERR_PARAM_INVALID, "reduction is %ld, want 0 to 2", reduction);
    return picked;
  }
  const int64_t classes = shape[rank - 1];
  if (weight != nullptr && weight->Numel() != classes) {
    OP_LOGE(ACLNN_ERR_PARAM_INVALID, "weight has %ld elements, want %ld", weight->Numel(), classes);
    return picked;
  }
  Tensor number = graph.Reshape(graph.Index(target, classes, ignoreIndex), op::Shape({rows, 1}));
  Tensor ignored =
      graph.Map(Formula::kIsEqual, {number, graph.Constant(static_cast<double>(ignoreIndex))});
  Tensor same = graph.Map(Formula::kIsEqual, {graph.Ramp(classes), number});
  picked.places = graph.Select(ignored, graph.Constant(0), same);
  Tensor each = weight == nullptr ? graph.Constant(1) : graph.In(weight);
  picked.weights = graph.Sum(graph.Select(picked.places, each, graph.Constant(0)), {1});
  return picked;
}

}  // namespace

ACLNN_FUNCTION(NLLLoss,
               (Tensor self, Tensor target, Tensor weight, int64_t reduction, int64_t ignoreIndex,
                aclTensor* out, aclTensor* totalWeightOut),
               {
                 const Picked picked = Pick(graph, self, target, weight, reduction, ignoreIndex);
                 Tensor values = graph.Sum(
                     graph.Select(picked.places, graph.In(self), graph.Constant(0)), {-1});
                 Tensor loss = graph.Linear(graph.Mul(values, picked.weights), -1, 0);
                 Tensor total = graph.Sum(picked.weights, {});
                 if (!graph.Give(total, totalWeightOut)) return false;
                 if (reduction == kNone) return graph.Give(loss, out);
                 Tensor sum = graph.Sum(loss, {});
                 return graph.Give(reduction == kMean ? graph.Div(sum, total) : sum, out);
               })
ACLNN_FUNCTION(NLLLossBackward,
               (Tensor gradOutput, Tensor self, Tensor target, Tensor weight, int64_t reduction,
                int64_t ignoreIndex, Tensor totalWeight, aclTensor* out),
               {
                 const Picked picked = Pick(graph, self, target, weight, reduction, ignoreIndex);
                 Tensor gradient = graph.In(gradOutput);
                 if (gradient == nullptr || picked.weights == nullptr) return false;
                 gradient = graph.Reshape(
                     gradient,
                     op::Shape({gradient->Numel(), 1}));  // one for each row, or one for all
                 Tensor each = graph.Linear(graph.Mul(gradient, picked.weights), -1, 0);
                 if (reduction == kMean) each = graph.Div(each, graph.In(totalWeight));
                 return graph.Give(graph.Select(picked.places, each, graph.Constant(0)), out);
               })
