// SPDX-License-Identifier: Apache-2.0
// op::CopyToNpu and its kin: copies that an aclnn function asks for itself.
#pragma once

#include "aclnn/acl_meta.h"

namespace op {

// A copy on the device of a host tensor (AllocHostTensor, ConvertToTensor), made when the executor runs. nullptr when src is NULL or
// on the device.
const aclTensor* CopyToNpu(const aclTensor* src, aclOpExecutor* executor);
// This one does the same, as nobody can look at the copy before the executor runs.
const aclTensor* CopyToNpuSync(const aclTensor* src, aclOpExecutor* executor);
// Elements of src to those of dst, of the same type and number.
aclnnStatus CopyNpuToNpu(const aclTensor* src, const aclTensor* dst, aclOpExecutor* executor);

}  // namespace op
