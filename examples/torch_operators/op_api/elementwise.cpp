// SPDX-License-Identifier: Apache-2.0
// Arithmetic, activations and their gradients, choices: element by element.
#include <cmath>
#include <limits>

#include "graph.h"
#include "opdev/op_log.h"

using torchops::Formula;
using torchops::Graph;
using torchops::Number;
using torchops::Tensor;

namespace {

constexpr double kRootHalf = 0.70710678118654752440;
constexpr double kRootTwoOverPi = 0.79788456080286535588;
constexpr double kCubic = 0.044715;  // of the approximation of Gelu by tanh

Tensor Reciprocal(Graph& graph, Tensor x) { return graph.Div(graph.Constant(1), x); }

Tensor Logistic(Graph& graph, Tensor x) { return graph.Map(Formula::kLogistic, {x}); }

Tensor Tanh(Graph& graph, Tensor x) { return graph.Map(Formula::kHyperbolicTangent, {x}); }

// Both ways of Gelu are x * p; the gradient is p + x * p'.
struct Share {
  Tensor p;
  Tensor slope;  // p'
};

Share GeluShare(Graph& graph, Tensor x, bool byTanh, bool withSlope) {
  Share share = {};
  if (!byTanh) {
    Tensor erf = graph.Map(Formula::kErrorIntegral, {graph.Linear(x, kRootHalf, 0)});
    share.p = graph.Linear(erf, 0.5, 0.5);
    if (withSlope) {
      Tensor density = graph.Exp(graph.Linear(graph.Mul(x, x), -0.5, 0));
      share.slope = graph.Linear(density, kRootTwoOverPi / 2, 0);
    }
    return share;
  }
  Tensor square = graph.Mul(x, x);
  Tensor inner = graph.Linear(square, kRootTwoOverPi * kCubic, kRootTwoOverPi);
  Tensor tanh = Tanh(graph, graph.Mul(x, inner));
  share.p = graph.Linear(tanh, 0.5, 0.5);
  if (withSlope) {
    Tensor steep = graph.Linear(graph.Mul(tanh, tanh), -0.5, 0.5);
    share.slope =
        graph.Mul(steep, graph.Linear(square, 3 * kRootTwoOverPi * kCubic, kRootTwoOverPi));
  }
  return share;
}

// aclnnGelu and aclnnGeluBackward are the approximation, by their documents; V2 of both says which is wanted.
Tensor Gelu(Graph& graph, Tensor x, bool byTanh) {
  return graph.Mul(x, GeluShare(graph, x, byTanh, false).p);
}

Tensor GeluGradient(Graph& graph, Tensor gradient, Tensor x, bool byTanh) {
  const Share share = GeluShare(graph, x, byTanh, true);
  return graph.Mul(gradient, graph.Map(Formula::kAddProduct, {share.p, x, share.slope}));
}

Tensor LogSigmoid(Graph& graph, Tensor x) {
  Tensor far = graph.Linear(graph.Map(Formula::kAbsolute, {x}), -1, 0);
  Tensor rest = graph.Log(graph.Linear(graph.Exp(far), 1, 1));
  return graph.Sub(graph.Map(Formula::kMinimum, {x, graph.Constant(0)}), rest);
}

// x * ln(y), where a zero x is 0 unless y is NaN.
Tensor LogProduct(Graph& graph, Tensor x, Tensor y) {
  Tensor product = graph.Mul(x, graph.Log(y));
  Tensor number = graph.Map(Formula::kIsEqual, {y, y});
  Tensor zero = graph.Mul(number, graph.Map(Formula::kIsEqual, {x, graph.Constant(0)}));
  return graph.Select(zero, graph.Constant(0), product);
}

Tensor Power(Graph& graph, Tensor x, double exponent) {
  if (exponent == 1) return graph.Linear(x, 1, 0);
  if (exponent == 2) return graph.Mul(x, x);
  if (exponent == 3) return graph.Mul(graph.Mul(x, x), x);
  if (exponent == 0.5) return graph.Sqrt(x);
  if (exponent == -0.5) return Reciprocal(graph, graph.Sqrt(x));
  if (exponent == -1) return Reciprocal(graph, x);
  return graph.Map(Formula::kRaise, {x, graph.Constant(exponent)});
}

Tensor Clamp(Graph& graph, Tensor x, const aclScalar* low, const aclScalar* high) {
  x = low == nullptr ? x : graph.Map(Formula::kMaximum, {x, graph.Constant(Number(low))});
  return high == nullptr ? x : graph.Map(Formula::kMinimum, {x, graph.Constant(Number(high))});
}

bool IsBool(Tensor x) { return x != nullptr && x->GetDataType() == op::DataType::DT_BOOL; }

// Truth values are 0 and 1, and whole numbers have no instruction for their bits.
bool Bitwise(Graph& graph, Formula formula, Tensor self, Tensor other, Tensor out) {
  if (!IsBool(self) || !IsBool(other)) {
    OP_LOGE(ACLNN_ERR_PARAM_INVALID, "bits of whole numbers are not here, want tensors of bool");
    return false;
  }
  graph.Common({self, other});
  return graph.Give(graph.Map(formula, {graph.In(self), graph.In(other)}), out);
}

}  // namespace

// Functions of one tensor, and the same in place.
#define REAL_FUNCTION(Name, result)                      \
  ACLNN_FUNCTION(Name, (Tensor self, aclTensor * out), { \
    graph.Reals();                                       \
    Tensor x = graph.In(self);                           \
    return graph.Give(result, out);                      \
  })                                                     \
  ACLNN_FUNCTION(Inplace##Name, (aclTensor * selfRef), { \
    graph.Reals();                                       \
    Tensor x = graph.In(selfRef);                        \
    return graph.Give(result, selfRef);                  \
  })

REAL_FUNCTION(Exp, graph.Exp(x))
REAL_FUNCTION(Log, graph.Log(x))
REAL_FUNCTION(Sqrt, graph.Sqrt(x))
REAL_FUNCTION(Rsqrt, Reciprocal(graph, graph.Sqrt(x)))
REAL_FUNCTION(Reciprocal, Reciprocal(graph, x))
REAL_FUNCTION(Erf, graph.Map(Formula::kErrorIntegral, {x}))
REAL_FUNCTION(Tanh, Tanh(graph, x))
REAL_FUNCTION(Sin, graph.Map(Formula::kSine, {x}))
REAL_FUNCTION(Cos, graph.Map(Formula::kCosine, {x}))
REAL_FUNCTION(Sigmoid, Logistic(graph, x))
REAL_FUNCTION(Silu, graph.Mul(x, Logistic(graph, x)))
REAL_FUNCTION(Gelu, Gelu(graph, x, true))

// Functions that whole numbers have too.
#define ANY_FUNCTION(Name, result)                       \
  ACLNN_FUNCTION(Name, (Tensor self, aclTensor * out), { \
    graph.Common({self, out});                           \
    Tensor x = graph.In(self);                           \
    return graph.Give(result, out);                      \
  })                                                     \
  ACLNN_FUNCTION(Inplace##Name, (aclTensor * selfRef), { \
    graph.Common({selfRef});                             \
    Tensor x = graph.In(selfRef);                        \
    return graph.Give(result, selfRef);                  \
  })

ANY_FUNCTION(Neg, graph.Linear(x, -1, 0))
ANY_FUNCTION(Abs, graph.Map(Formula::kAbsolute, {x}))
ANY_FUNCTION(Relu, graph.Map(Formula::kMaximum, {x, graph.Constant(0)}))

// Functions of two: tensor and tensor, tensor and number, and both in place.
#define BINARY_FUNCTION(Name, result)                                               \
  ACLNN_FUNCTION(Name, (Tensor self, Tensor other, aclTensor * out), {              \
    graph.Common({self, other, out});                                               \
    Tensor x = graph.In(self), y = graph.In(other);                                 \
    return graph.Give(result, out);                                                 \
  })                                                                                \
  ACLNN_FUNCTION(Name##s, (Tensor self, const aclScalar* other, aclTensor* out), {  \
    graph.Common({self, out}, {other});                                             \
    Tensor x = graph.In(self), y = graph.Constant(Number(other));                   \
    return graph.Give(result, out);                                                 \
  })                                                                                \
  ACLNN_FUNCTION(Inplace##Name, (aclTensor * selfRef, Tensor other), {              \
    graph.Common({selfRef, other});                                                 \
    Tensor x = graph.In(selfRef), y = graph.In(other);                              \
    return graph.Give(result, selfRef);                                             \
  })                                                                                \
  ACLNN_FUNCTION(Inplace##Name##s, (aclTensor * selfRef, const aclScalar* other), { \
    graph.Common({selfRef}, {other});                                               \
    Tensor x = graph.In(selfRef), y = graph.Constant(Number(other));                \
    return graph.Give(result, selfRef);                                             \
  })

BINARY_FUNCTION(Mul, graph.Mul(x, y))

// The same with alpha.
#define SCALED_FUNCTION(Name, result)                                                             \
  ACLNN_FUNCTION(Name, (Tensor self, Tensor other, const aclScalar* alpha, aclTensor* out), {     \
    graph.Common({self, other, out}, {alpha});                                                    \
    Tensor x = graph.In(self), y = graph.In(other);                                               \
    const Number s(alpha);                                                                        \
    return graph.Give(result, out);                                                               \
  })                                                                                              \
  ACLNN_FUNCTION(Name##s,                                                                         \
                 (Tensor self, const aclScalar* other, const aclScalar* alpha, aclTensor* out), { \
                   graph.Common({self, out}, {other, alpha});                                     \
                   Tensor x = graph.In(self), y = graph.Constant(Number(other));                  \
                   const Number s(alpha);                                                         \
                   return graph.Give(result, out);                                                \
                 })                                                                               \
  ACLNN_FUNCTION(Inplace##Name, (aclTensor * selfRef, Tensor other, const aclScalar* alpha), {    \
    graph.Common({selfRef, other}, {alpha});                                                      \
    Tensor x = graph.In(selfRef), y = graph.In(other);                                            \
    const Number s(alpha);                                                                        \
    return graph.Give(result, selfRef);                                                           \
  })                                                                                              \
  ACLNN_FUNCTION(Inplace##Name##s,                                                                \
                 (aclTensor * selfRef, const aclScalar* other, const aclScalar* alpha), {         \
                   graph.Common({selfRef}, {other, alpha});                                       \
                   Tensor x = graph.In(selfRef), y = graph.Constant(Number(other));               \
                   const Number s(alpha);                                                         \
                   return graph.Give(result, selfRef);                                            \
                 })

namespace {

Number Minus(Number s) {
  s.real = -s.real;
  s.whole = -s.whole;
  return s;
}

}  // namespace

SCALED_FUNCTION(Add, graph.Add(x, y, s))
SCALED_FUNCTION(Sub, graph.Add(x, y, Minus(s)))
SCALED_FUNCTION(Rsub, graph.Add(y, x, Minus(s)))

ACLNN_FUNCTION(AddV3, (const aclScalar* self, Tensor other, const aclScalar* alpha, aclTensor* out),
               {
                 graph.Common({other, out}, {self, alpha});
                 return graph.Give(
                     graph.Add(graph.Constant(Number(self)), graph.In(other), Number(alpha)), out);
               })

ACLNN_FUNCTION(Div, (Tensor self, Tensor other, aclTensor* out), {
  graph.Reals();
  return graph.Give(graph.Div(graph.In(self), graph.In(other)), out);
})
ACLNN_FUNCTION(Divs, (Tensor self, const aclScalar* other, aclTensor* out), {
  graph.Reals();
  return graph.Give(graph.Div(graph.In(self), graph.Constant(Number(other))), out);
})
ACLNN_FUNCTION(InplaceDiv, (aclTensor * selfRef, Tensor other), {
  graph.Reals();
  return graph.Give(graph.Div(graph.In(selfRef), graph.In(other)), selfRef);
})
ACLNN_FUNCTION(InplaceDivs, (aclTensor * selfRef, const aclScalar* other), {
  graph.Reals();
  return graph.Give(graph.Div(graph.In(selfRef), graph.Constant(Number(other))), selfRef);
})

ACLNN_FUNCTION(Maximum, (Tensor self, Tensor other, aclTensor* out), {
  graph.Common({self, other, out});
  return graph.Give(graph.Map(Formula::kMaximum, {graph.In(self), graph.In(other)}), out);
})
ACLNN_FUNCTION(Minimum, (Tensor self, Tensor other, aclTensor* out), {
  graph.Common({self, other, out});
  return graph.Give(graph.Map(Formula::kMinimum, {graph.In(self), graph.In(other)}), out);
})
ACLNN_FUNCTION(Clamp, (Tensor self, const aclScalar* min, const aclScalar* max, aclTensor* out), {
  graph.Common({self, out}, {min, max});
  return graph.Give(Clamp(graph, graph.In(self), min, max), out);
})
ACLNN_FUNCTION(ClampMin, (Tensor self, const aclScalar* min, aclTensor* out), {
  graph.Common({self, out}, {min});
  return graph.Give(Clamp(graph, graph.In(self), min, nullptr), out);
})
ACLNN_FUNCTION(ClampMax, (Tensor self, const aclScalar* max, aclTensor* out), {
  graph.Common({self, out}, {max});
  return graph.Give(Clamp(graph, graph.In(self), nullptr, max), out);
})

#define ADD_FUNCTION(Name, formula)                                                                \
  ACLNN_FUNCTION(                                                                                  \
      Name, (Tensor self, Tensor tensor1, Tensor tensor2, const aclScalar* value, aclTensor* out), \
      {                                                                                            \
        graph.Reals();                                                                             \
        return graph.Give(                                                                         \
            graph.Map(formula, {graph.In(self), graph.In(tensor1), graph.In(tensor2)},             \
                      Number(value)),                                                              \
            out);                                                                                  \
      })                                                                                           \
  ACLNN_FUNCTION(                                                                                  \
      Inplace##Name,                                                                               \
      (aclTensor * selfRef, Tensor tensor1, Tensor tensor2, const aclScalar* value), {             \
        graph.Reals();                                                                             \
        return graph.Give(                                                                         \
            graph.Map(formula, {graph.In(selfRef), graph.In(tensor1), graph.In(tensor2)},          \
                      Number(value)),                                                              \
            selfRef);                                                                              \
      })

ADD_FUNCTION(Addcmul, Formula::kAddProduct)
ADD_FUNCTION(Addcdiv, Formula::kAddQuotient)

#define LERP_FUNCTION(Name, Weight, weight)                                          \
  ACLNN_FUNCTION(Name, (Tensor self, Tensor end, Weight weight_, aclTensor * out), { \
    graph.Reals();                                                                   \
    Tensor x = graph.In(self);                                                       \
    Tensor way = graph.Sub(graph.In(end), x);                                        \
    return graph.Give(graph.Map(Formula::kAddProduct, {x, weight, way}), out);       \
  })                                                                                 \
  ACLNN_FUNCTION(Inplace##Name, (aclTensor * selfRef, Tensor end, Weight weight_), { \
    graph.Reals();                                                                   \
    Tensor x = graph.In(selfRef);                                                    \
    Tensor way = graph.Sub(graph.In(end), x);                                        \
    return graph.Give(graph.Map(Formula::kAddProduct, {x, weight, way}), selfRef);   \
  })

LERP_FUNCTION(Lerp, Tensor, graph.In(weight_))
LERP_FUNCTION(Lerps, const aclScalar*, graph.Constant(Number(weight_)))

ACLNN_FUNCTION(PowTensorScalar, (Tensor self, const aclScalar* exponent, aclTensor* out), {
  graph.Common({self, out}, {exponent});
  return graph.Give(Power(graph, graph.In(self), Number(exponent).real), out);
})
ACLNN_FUNCTION(InplacePowTensorScalar, (aclTensor * selfRef, const aclScalar* exponent), {
  graph.Common({selfRef}, {exponent});
  return graph.Give(Power(graph, graph.In(selfRef), Number(exponent).real), selfRef);
})
ACLNN_FUNCTION(PowTensorTensor, (Tensor self, Tensor exponent, aclTensor* out), {
  graph.Reals();
  return graph.Give(graph.Map(Formula::kRaise, {graph.In(self), graph.In(exponent)}), out);
})
ACLNN_FUNCTION(PowScalarTensor, (const aclScalar* self, Tensor exponent, aclTensor* out), {
  graph.Reals();
  Tensor base = graph.Constant(Number(self));
  return graph.Give(graph.Map(Formula::kRaise, {base, graph.In(exponent)}), out);
})

ACLNN_FUNCTION(GeluV2, (Tensor self, int64_t approximate, aclTensor* out), {
  graph.Reals();
  if (approximate != 0 && approximate != 1) {
    OP_LOGE(ACLNN_ERR_PARAM_INVALID, "approximate is %ld, want 0 or 1", approximate);
    return false;
  }
  return graph.Give(Gelu(graph, graph.In(self), approximate == 1), out);
})
ACLNN_FUNCTION(GeluBackward, (Tensor gradOutput, Tensor self, aclTensor* gradInput), {
  graph.Reals();
  return graph.Give(GeluGradient(graph, graph.In(gradOutput), graph.In(self), true), gradInput);
})
ACLNN_FUNCTION(
    GeluBackwardV2, (Tensor gradOutput, Tensor self, char* approximate, aclTensor* gradInput), {
      graph.Reals();
      const std::string how = approximate == nullptr ? "" : approximate;
      if (how != "none" && how != "tanh") {
        OP_LOGE(ACLNN_ERR_PARAM_INVALID, "approximate is \"%s\", want none or tanh", how.c_str());
        return false;
      }
      return graph.Give(GeluGradient(graph, graph.In(gradOutput), graph.In(self), how == "tanh"),
                        gradInput);
    })
ACLNN_FUNCTION(SiluBackward, (Tensor gradOutput, Tensor self, aclTensor* gradInput), {
  graph.Reals();
  Tensor x = graph.In(self);
  Tensor share = Logistic(graph, x);
  Tensor rest = graph.Linear(share, -1, 1);
  Tensor slope = graph.Mul(share, graph.Linear(graph.Mul(x, rest), 1, 1));
  return graph.Give(graph.Mul(graph.In(gradOutput), slope), gradInput);
})
ACLNN_FUNCTION(SigmoidBackward, (Tensor gradOutput, Tensor output, aclTensor* gradInput), {
  graph.Reals();
  Tensor y = graph.In(output);
  return graph.Give(graph.Mul(graph.In(gradOutput), graph.Mul(y, graph.Linear(y, -1, 1))),
                    gradInput);
})
ACLNN_FUNCTION(TanhBackward, (Tensor gradOutput, Tensor output, aclTensor* gradInput), {
  graph.Reals();
  Tensor y = graph.In(output);
  return graph.Give(graph.Mul(graph.In(gradOutput), graph.Linear(graph.Mul(y, y), -1, 1)),
                    gradInput);
})
ACLNN_FUNCTION(ThresholdBackward,
               (Tensor gradOutput, Tensor self, const aclScalar* threshold, aclTensor* gradInput), {
                 graph.Reals();
                 // NaN lets the gradient pass, so "at most" is what is asked for: neither above nor NaN.
                 Tensor x = graph.In(self);
                 Tensor above =
                     graph.Map(Formula::kIsGreater, {x, graph.Constant(Number(threshold))});
                 Tensor number = graph.Map(Formula::kIsEqual, {x, x});
                 Tensor atMost = graph.Mul(number, graph.Linear(above, -1, 1));
                 return graph.Give(graph.Select(atMost, graph.Constant(0), graph.In(gradOutput)),
                                   gradInput);
               })
ACLNN_FUNCTION(LogSigmoidForward, (Tensor self, aclTensor* out, aclTensor* buffer), {
  graph.Reals();
  Tensor x = graph.In(self);
  if (buffer != nullptr && !buffer->IsEmpty()) {
    Tensor far = graph.Linear(graph.Map(Formula::kAbsolute, {x}), -1, 0);
    if (!graph.Give(graph.Exp(far), buffer)) return false;
  }
  return graph.Give(LogSigmoid(graph, x), out);
})
ACLNN_FUNCTION(LogSigmoid, (Tensor self, aclTensor* out), {
  graph.Reals();
  return graph.Give(LogSigmoid(graph, graph.In(self)), out);
})

#define XLOGY_FUNCTION(Name, Self, self_, Other, other_)                   \
  ACLNN_FUNCTION(XLogY##Name, (Self self, Other other, aclTensor * out), { \
    graph.Reals();                                                         \
    return graph.Give(LogProduct(graph, self_, other_), out);              \
  })

XLOGY_FUNCTION(Tensor, Tensor, graph.In(self), Tensor, graph.In(other))
XLOGY_FUNCTION(ScalarSelf, const aclScalar*, graph.Constant(Number(self)), Tensor, graph.In(other))
XLOGY_FUNCTION(ScalarOther, Tensor, graph.In(self), const aclScalar*, graph.Constant(Number(other)))

ACLNN_FUNCTION(OneHot,
               (Tensor self, int64_t numClasses, Tensor onValue, Tensor offValue, int64_t axis,
                aclTensor* out),
               {
                 graph.Reals();
                 Tensor number = graph.Index(self, numClasses, 0);
                 if (number == nullptr || out == nullptr) return false;
                 op::Shape shape = number->GetViewShape();
                 if (axis != -1 && axis != static_cast<int64_t>(shape.GetDimNum())) {
                   OP_LOGE(ACLNN_ERR_PARAM_INVALID, "axis is %ld, want the last", axis);
                   return false;
                 }
                 shape.AppendDim(1);
                 Tensor same = graph.Map(Formula::kIsEqual,
                                         {graph.Ramp(numClasses), graph.Reshape(number, shape)});
                 return graph.GiveExact(graph.Select(same, graph.In(onValue), graph.In(offValue)),
                                        out);
               })

ACLNN_FUNCTION(SWhere, (Tensor condition, Tensor self, Tensor other, aclTensor* out), {
  graph.Common({self, other, out});
  return graph.Give(graph.Select(graph.In(condition), graph.In(self), graph.In(other)), out);
})
ACLNN_FUNCTION(InplaceMaskedFillScalar, (aclTensor * selfRef, Tensor mask, const aclScalar* value),
               {
                 graph.Common({selfRef}, {value});
                 Tensor filled =
                     graph.Select(graph.In(mask), graph.Constant(Number(value)), graph.In(selfRef));
                 return graph.Give(filled, selfRef);
               })
ACLNN_FUNCTION(InplaceMaskedFillTensor, (aclTensor * selfRef, Tensor mask, Tensor value), {
  graph.Common({selfRef, value});
  return graph.Give(graph.Select(graph.In(mask), graph.In(value), graph.In(selfRef)), selfRef);
})
ACLNN_FUNCTION(IsNegInf, (Tensor self, aclTensor* out), {
  graph.Reals();
  Tensor lowest = graph.Constant(-std::numeric_limits<double>::infinity());
  return graph.Give(graph.Map(Formula::kIsEqual, {graph.In(self), lowest}), out);
})
ACLNN_FUNCTION(IsPosInf, (Tensor self, aclTensor* out), {
  graph.Reals();
  Tensor highest = graph.Constant(std::numeric_limits<double>::infinity());
  return graph.Give(graph.Map(Formula::kIsEqual, {graph.In(self), highest}), out);
})
ACLNN_FUNCTION(BitwiseNot, (Tensor self, aclTensor* out), {
  graph.Common({self, out});
  // -1 - x, and for truth values 1 - x.
  return graph.Give(graph.Linear(graph.In(self), -1, IsBool(self) ? 1 : -1), out);
})

#define BITWISE_FUNCTION(Name, formula)                                                          \
  ACLNN_FUNCTION(Name##Tensor, (Tensor self, Tensor other, aclTensor * out),                     \
                 { return Bitwise(graph, formula, self, other, out); })                          \
  ACLNN_FUNCTION(Name##Scalar, (Tensor self, const aclScalar* other, aclTensor* out), {          \
    const bool bit = other != nullptr && other->GetDataType() == op::DataType::DT_BOOL;          \
    Tensor all = bit ? graph.executor()->ConvertToTensor(other, other->GetDataType()) : nullptr; \
    return Bitwise(graph, formula, self, all, out);                                              \
  })

BITWISE_FUNCTION(BitwiseAnd, Formula::kMinimum)
BITWISE_FUNCTION(BitwiseOr, Formula::kMaximum)
