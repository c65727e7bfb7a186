// SPDX-License-Identifier: Apache-2.0
#include "affine.h"

#include "opdev/make_op_executor.h"
#include "opdev/op_dfx.h"

namespace l0op {

OP_TYPE_REGISTER(Affine);

static const aclTensor* OnAiCore(const aclTensor* base, const aclTensor* added, float factor,
                                 aclTensor* out, aclOpExecutor* executor) {
  L0_DFX(OnAiCore, base, added, factor, out);
  const auto status =
      ADD_TO_LAUNCHER_LIST_AICORE(Affine, OP_INPUT(base, added), OP_OUTPUT(out), OP_ATTR(factor));
  return status == ACLNN_SUCCESS ? out : nullptr;
}

const aclTensor* Affine(const aclTensor* x, const aclTensor* offset, float scale,
                        aclOpExecutor* executor) {
  aclTensor* out = executor->AllocTensor(x->GetViewShape(), x->GetDataType());
  return OnAiCore(x, offset, scale, out, executor);
}

}  // namespace l0op
