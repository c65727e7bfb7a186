// SPDX-License-Identifier: Apache-2.0
// Numbers of HCCL's functions, as ranks tell them to one another.
#pragma once

#include <cstdint>

namespace aclsim {

enum HcclFunction : uint32_t {
  kHcclSendRecv,
  kHcclAllReduce,
  kHcclReduce,
  kHcclReduceScatter,
  kHcclBroadcast,
  kHcclScatter,
  kHcclAllGather,
  kHcclAlltoAll,
  kHcclAlltoAllV,
  kHcclAllGatherV,
  kHcclBarrier,
};

const char* HcclFunctionName(uint32_t function);

}  // namespace aclsim
