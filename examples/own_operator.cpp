// SPDX-License-Identifier: Apache-2.0
// Calls MyOp, as `aclgrad new my_op` writes it, by its aclnn functions:
//
//   g++ own_operator.cpp $(aclgrad config --cflags --libs my_op) -o example
//   ASCEND_CUSTOM_OPP_PATH=$(aclgrad config --opp-path my_op) ./example
#include "aclnnop/aclnn_my_op.h"

#include "common.h"

int main() {
  const example::Session session;
  const example::Tensor<float> x({4}, {-2, -1, 0, 3});
  const example::Tensor<float> y({4});
  uint64_t workspaceSize = 0;
  aclOpExecutor* executor = nullptr;
  CHECK(aclnnMyOpGetWorkspaceSize(x.get(), /*slope=*/0.1, y.get(), &workspaceSize, &executor));
  const example::DeviceMemory workspace = example::Allocate(workspaceSize);
  CHECK(aclnnMyOp(workspace.get(), workspaceSize, executor, session.stream()));
  CHECK(aclrtSynchronizeStream(session.stream()));
  y.Print();
  return 0;
}
