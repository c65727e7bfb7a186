// SPDX-License-Identifier: Apache-2.0
// Functions of lists of tensors, as optimizers and the clipping of gradients call them, and a step of AdamW.
#include "graph.h"
#include "opdev/op_log.h"

using torchops::Formula;
using torchops::Graph;
using torchops::Number;
using torchops::Tensor;

namespace {

// A list, a number for all, and a number for each: the i-th of any of them, nullptr when it has none.
Tensor At(Graph& graph, const aclTensorList* list, uint64_t i) {
  return list != nullptr && i < list->Size() ? graph.In((*list)[i]) : nullptr;
}
Tensor At(Graph& graph, const aclScalar* number, uint64_t) {
  return graph.Constant(Number(number));
}
Tensor At(Graph& graph, const aclScalarList* numbers, uint64_t i) {
  return numbers != nullptr && i < numbers->Size() ? graph.Constant(Number((*numbers)[i]))
                                                   : nullptr;
}
// A tensor of one number for all, or of one for each.
Tensor At(Graph& graph, Tensor numbers, uint64_t i) {
  Tensor all = graph.In(numbers);
  if (all == nullptr) return nullptr;
  const auto place = all->Numel() == 1 ? 0 : static_cast<int64_t>(i);
  if (place >= all->Numel()) return nullptr;
  return graph.executor()->CreateView(all, op::Shape(), all->GetViewOffset() + place);
}

bool SameSize(const aclTensorList* self, const aclTensorList* out) {
  if (self == nullptr || out == nullptr) return false;
  if (self->Size() == out->Size()) return true;
  OP_LOGE(ACLNN_ERR_PARAM_INVALID, "self has %lu tensors and out %lu, want as many",
          static_cast<unsigned long>(self->Size()), static_cast<unsigned long>(out->Size()));
  return false;
}

Tensor Reciprocal(Graph& graph, Tensor x) { return graph.Div(graph.Constant(1), x); }

}  // namespace

#define LIST_FUNCTION(Name, Parameters, result)         \
  ACLNN_FUNCTION(Foreach##Name, Parameters, {           \
    graph.Reals();                                      \
    if (!SameSize(self, out)) return false;             \
    for (uint64_t i = 0; i < out->Size(); ++i) {        \
      Tensor x = At(graph, self, i);                    \
      if (!graph.Give(result, (*out)[i])) return false; \
    }                                                   \
    return true;                                        \
  })
#define LIST_OF_ONE(Name, result) \
  LIST_FUNCTION(Name, (const aclTensorList* self, const aclTensorList* out), result)
#define LIST_OF_TWO(Name, Other, result) \
  LIST_FUNCTION(Name, (const aclTensorList* self, Other other, const aclTensorList* out), result)

LIST_OF_ONE(Sqrt, graph.Sqrt(x))
LIST_OF_ONE(Exp, graph.Exp(x))
LIST_OF_ONE(Neg, graph.Linear(x, -1, 0))
LIST_OF_ONE(Abs, graph.Map(Formula::kAbsolute, {x}))
LIST_OF_ONE(Reciprocal, Reciprocal(graph, x))

// The older functions have their number in a tensor, V2 has it as a scalar.
#define LIST_AND_NUMBER(Name, result)                   \
  LIST_OF_TWO(Name##Scalar, Tensor, result)             \
  LIST_OF_TWO(Name##ScalarV2, const aclScalar*, result) \
  LIST_OF_TWO(Name##ScalarList, const aclScalarList*, result)

LIST_AND_NUMBER(Add, graph.Add(x, At(graph, other, i)))
LIST_AND_NUMBER(Sub, graph.Sub(x, At(graph, other, i)))
LIST_AND_NUMBER(Mul, graph.Mul(x, At(graph, other, i)))
LIST_AND_NUMBER(Div, graph.Div(x, At(graph, other, i)))
LIST_AND_NUMBER(Pow, graph.Map(Formula::kRaise, {x, At(graph, other, i)}))

LIST_OF_TWO(MulList, const aclTensorList*, graph.Mul(x, At(graph, other, i)))
LIST_OF_TWO(DivList, const aclTensorList*, graph.Div(x, At(graph, other, i)))
LIST_OF_TWO(MaximumList, const aclTensorList*,
            graph.Map(Formula::kMaximum, {x, At(graph, other, i)}))
LIST_OF_TWO(MinimumList, const aclTensorList*,
            graph.Map(Formula::kMinimum, {x, At(graph, other, i)}))

#define LIST_AND_LIST(Name, Alpha, sign)                                             \
  LIST_FUNCTION(Name,                                                                \
                (const aclTensorList* self, const aclTensorList* other, Alpha alpha, \
                 const aclTensorList* out),                                          \
                graph.Add(x, graph.Mul(At(graph, other, i), At(graph, alpha, i)), sign))

LIST_AND_LIST(AddList, Tensor, 1)
LIST_AND_LIST(AddListV2, const aclScalar*, 1)
LIST_AND_LIST(SubList, Tensor, -1)
LIST_AND_LIST(SubListV2, const aclScalar*, -1)

#define ADD_OF_LISTS(Name, Value, both)                                                    \
  LIST_FUNCTION(                                                                           \
      Name,                                                                                \
      (const aclTensorList* self, const aclTensorList* first, const aclTensorList* second, \
       Value value, const aclTensorList* out),                                             \
      graph.Map(Formula::kAddProduct,                                                      \
                {x, graph.both(At(graph, first, i), At(graph, second, i)), At(graph, value, i)}))

ADD_OF_LISTS(AddcmulScalar, Tensor, Mul)
ADD_OF_LISTS(AddcmulScalarV2, const aclScalar*, Mul)
ADD_OF_LISTS(AddcmulScalarList, Tensor, Mul)
ADD_OF_LISTS(AddcdivScalar, Tensor, Div)
ADD_OF_LISTS(AddcdivScalarV2, const aclScalar*, Div)
ADD_OF_LISTS(AddcdivScalarList, Tensor, Div)

#define LERP_OF_LISTS(Name, Weight)                                        \
  LIST_FUNCTION(                                                           \
      Name,                                                                \
      (const aclTensorList* self, const aclTensorList* end, Weight weight, \
       const aclTensorList* out),                                          \
      graph.Map(Formula::kAddProduct, {x, graph.Sub(At(graph, end, i), x), At(graph, weight, i)}))

LERP_OF_LISTS(LerpScalar, const aclScalar*)
LERP_OF_LISTS(LerpList, const aclTensorList*)

ACLNN_FUNCTION(ForeachZeroInplace, (const aclTensorList* self), {
  for (uint64_t i = 0; i < self->Size(); ++i) {
    graph.Common({(*self)[i]});
    Tensor zero = graph.Mul(graph.Constant(0), graph.Constant(0));
    Tensor x = (*self)[i];
    zero = x == nullptr ? nullptr : graph.Select(graph.Constant(0), graph.In(x), zero);
    if (!graph.Give(zero, x)) return false;
  }
  return true;
})

// Each tensor is copied to its place in out, which has one dim more.
ACLNN_FUNCTION(Stack, (const aclTensorList* tensors, int64_t dim, aclTensor* out), {
  const op::Shape& whole = out->GetViewShape();
  const auto rank = static_cast<int64_t>(whole.GetDimNum());
  const auto axis = static_cast<size_t>(dim < 0 ? dim + rank : dim);
  if (axis >= whole.GetDimNum() || whole[axis] != static_cast<int64_t>(tensors->Size())) {
    OP_LOGE(ACLNN_ERR_PARAM_INVALID, "dim is %ld of %ld dims, with %lu tensors", dim, rank,
            static_cast<unsigned long>(tensors->Size()));
    return false;
  }
  op::Shape shape;
  op::Strides strides;
  for (size_t i = 0; i < whole.GetDimNum(); ++i) {
    if (i == axis) continue;
    shape.AppendDim(whole[i]);
    strides.push_back(out->GetViewStrides()[i]);
  }
  for (uint64_t i = 0; i < tensors->Size(); ++i) {
    const int64_t at = out->GetViewOffset() + static_cast<int64_t>(i) * out->GetViewStrides()[axis];
    Tensor place = graph.executor()->CreateView(out, shape, out->GetStorageShape(), strides, at);
    if (!graph.Give((*tensors)[i], place)) return false;
  }
  return true;
})

// foundInf becomes 1 where a gradient is not finite; all are multiplied by inScale.
ACLNN_FUNCTION(ForeachNonFiniteCheckAndUnscale,
               (const aclTensorList* scaledGrads, aclTensor* foundInf, Tensor inScale), {
                 graph.Reals();
                 Tensor found = graph.In(foundInf);
                 Tensor factor = graph.In(inScale);
                 for (uint64_t i = 0; i < scaledGrads->Size(); ++i) {
                   Tensor x = At(graph, scaledGrads, i);
                   // The difference is NaN for numbers that are not finite.
                   Tensor finite =
                       graph.Map(Formula::kIsEqual, {graph.Sub(x, x), graph.Constant(0)});
                   Tensor all = graph.Reduce(RowReductionKind::kMinimum, finite, {});
                   if (all == nullptr) return false;
                   all = graph.Reshape(all, foundInf->GetViewShape());
                   found = graph.Map(Formula::kMaximum, {found, graph.Linear(all, -1, 1)});
                   if (!graph.Give(graph.Mul(x, factor), (*scaledGrads)[i])) return false;
                 }
                 return graph.Give(found, foundInf);
               })

// After a step with infinities the scale shrinks; after growthInterval steps without one it grows.
ACLNN_FUNCTION(AmpUpdateScale,
               (Tensor scale, Tensor growthTracker, Tensor foundInf, double growthFactor,
                double backoffFactor, int64_t growthInterval, aclTensor* scaleOut,
                aclTensor* growthTrackerOut),
               {
                 graph.Reals();
                 Tensor now = graph.In(scale);
                 Tensor found = graph.In(foundInf);
                 Tensor good = graph.Linear(graph.In(growthTracker), 1, 1);
                 Tensor due = graph.Map(Formula::kIsEqual, {good, graph.Constant(growthInterval)});
                 Tensor grown = graph.Linear(now, growthFactor, 0);
                 Tensor finite =
                     graph.Map(Formula::kIsEqual, {graph.Sub(grown, grown), graph.Constant(0)});
                 Tensor next = graph.Select(graph.Mul(due, finite), grown, now);
                 next = graph.Select(found, graph.Linear(now, backoffFactor, 0), next);
                 Tensor restart = graph.Map(Formula::kMaximum, {found, due});
                 good = graph.Select(restart, graph.Constant(0), good);
                 return graph.Give(next, scaleOut) && graph.GiveExact(good, growthTrackerOut);
               })

ACLNN_FUNCTION(
    ApplyAdamWV2,
    (aclTensor * var, aclTensor* m, aclTensor* v, aclTensor* maxGradNorm, Tensor grad, Tensor step,
     float lr, float beta1, float beta2, float weightDecay, float eps, bool amsgrad, bool maximize),
    {
      graph.Reals();
      Tensor gradient = graph.Linear(graph.In(grad), maximize ? -1 : 1, 0);
      // The step is the number of steps before this one.
      Tensor steps = graph.Linear(graph.In(step), 1, 1);
      const auto rest = [&](float beta) {  // 1 - beta^steps
        return graph.Linear(graph.Map(Formula::kRaise, {graph.Constant(beta), steps}), -1, 1);
      };
      Tensor first = graph.Add(graph.Linear(graph.In(m), beta1, 0), gradient, 1.0 - beta1);
      Tensor second = graph.Add(graph.Linear(graph.In(v), beta2, 0), graph.Mul(gradient, gradient),
                                1.0 - beta2);
      if (!graph.Give(first, m) || !graph.Give(second, v)) return false;
      Tensor size = second;
      if (amsgrad) {
        size = graph.Map(Formula::kMaximum, {graph.In(maxGradNorm), second});
        if (!graph.Give(size, maxGradNorm)) return false;
      }
      size = graph.Linear(graph.Div(graph.Sqrt(size), graph.Sqrt(rest(beta2))), 1, eps);
      Tensor kept = graph.Linear(graph.In(var), 1.0 - static_cast<double>(lr) * weightDecay, 0);
      Tensor moved = graph.Div(graph.Div(first, rest(beta1)), size);
      return graph.Give(graph.Add(kept, moved, -static_cast<double>(lr)), var);
    })
