// SPDX-License-Identifier: Apache-2.0
// Products of matrices, and rows that are looked up. What cubeMathType allows, to round factors of fp32, is not done here.
#include "graph.h"
#include "opdev/op_log.h"

using torchops::Formula;
using torchops::Graph;
using torchops::Number;
using torchops::Tensor;

namespace {

// The factors of a product as they are when both have one dtype that the cube takes, else in fp32.
struct Factors {
  Tensor a, b;
};

Factors FactorsOf(Graph& graph, Tensor a, Tensor b) {
  graph.Reals();
  if (a != nullptr && b != nullptr && a->GetDataType() == b->GetDataType() &&
      (a->GetDataType() == op::DataType::DT_FLOAT16 || a->GetDataType() == op::DataType::DT_BF16)) {
    return {a, b};
  }
  return {graph.In(a), graph.In(b)};
}

Tensor Product(Graph& graph, Tensor a, Tensor b) {
  const Factors factors = FactorsOf(graph, a, b);
  return graph.Product(factors.a, factors.b);
}

// A vector counts as a matrix of one row, or of one column when it comes second.
Tensor AsMatrix(Graph& graph, Tensor x, bool second) {
  if (x == nullptr || x->GetViewShape().GetDimNum() != 1) return x;
  const int64_t size = x->GetViewShape()[0];
  return graph.Reshape(x, second ? op::Shape({size, 1}) : op::Shape({1, size}));
}

// 0, 1 and 3 keep fp32 or allow less; 2 wants factors of fp16.
bool Takes(int8_t cubeMathType) {
  if (cubeMathType == 0 || cubeMathType == 1 || cubeMathType == 3) return true;
  OP_LOGE(ACLNN_ERR_PARAM_INVALID, "cubeMathType is %d, want 0, 1 or 3", cubeMathType);
  return false;
}

bool AddProduct(Graph& graph, Tensor self, Tensor a, Tensor b, const aclScalar* beta,
                const aclScalar* alpha, Tensor out, int8_t cubeMathType) {
  if (!Takes(cubeMathType)) return false;
  Tensor product = Product(graph, a, b);
  const Number share(beta);
  if (share.given && share.real == 0)
    return graph.Give(graph.Linear(product, Number(alpha), 0), out);
  if (Number(alpha).real != 1) product = graph.Linear(product, Number(alpha), 0);
  return graph.Give(graph.Add(product, graph.In(self), share), out);
}

}  // namespace

#define PRODUCT_FUNCTION(Name)                                                             \
  ACLNN_FUNCTION(Name, (Tensor self, Tensor mat2, aclTensor * out, int8_t cubeMathType), { \
    if (!Takes(cubeMathType)) return false;                                                \
    Tensor a = AsMatrix(graph, self, false);                                               \
    return graph.Give(Product(graph, a, AsMatrix(graph, mat2, true)), out);                \
  })

PRODUCT_FUNCTION(Mm)
PRODUCT_FUNCTION(Matmul)
PRODUCT_FUNCTION(BatchMatMul)

#define ADD_PRODUCT_FUNCTION(Name)                                                                \
  ACLNN_FUNCTION(Name,                                                                            \
                 (Tensor self, Tensor mat1, Tensor mat2, const aclScalar* beta,                   \
                  const aclScalar* alpha, aclTensor* out, int8_t cubeMathType),                   \
                 { return AddProduct(graph, self, mat1, mat2, beta, alpha, out, cubeMathType); }) \
  ACLNN_FUNCTION(                                                                                 \
      Inplace##Name,                                                                              \
      (aclTensor * selfRef, Tensor mat1, Tensor mat2, const aclScalar* beta,                      \
       const aclScalar* alpha, int8_t cubeMathType),                                              \
      { return AddProduct(graph, selfRef, mat1, mat2, beta, alpha, selfRef, cubeMathType); })

ADD_PRODUCT_FUNCTION(Addmm)
ADD_PRODUCT_FUNCTION(Baddbmm)

ACLNN_FUNCTION(Embedding, (Tensor weight, Tensor indices, aclTensor* out),
               { return graph.Give(graph.Gather(weight, indices), out); })
ACLNN_FUNCTION(EmbeddingDenseBackward,
               (Tensor grad, Tensor indices, int64_t numWeights, int64_t paddingIdx,
                bool scaleGradByFreq, aclTensor* out),
               {
                 if (scaleGradByFreq) {
                   OP_LOGE(ACLNN_ERR_PARAM_INVALID, "scaleGradByFreq is true, want false");
                   return false;
                 }
                 return graph.Give(graph.AddRows(grad, indices, numWeights, paddingIdx), out);
               })
