// SPDX-License-Identifier: Apache-2.0
// The aclnn call that the calling thread is in.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "opdev/common_types.h"

namespace op::internal {

struct CallContext {
  std::string api;  // "aclnnSoftmaxBackward"
  // Argument names of the tensors of the first stage, for messages.
  std::vector<std::pair<const aclTensor*, std::string>> tensors;
};

CallContext& CurrentCall();

}  // namespace op::internal
