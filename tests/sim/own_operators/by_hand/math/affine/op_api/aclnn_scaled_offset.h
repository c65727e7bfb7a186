// SPDX-License-Identifier: Apache-2.0
#ifndef ACLNN_SCALED_OFFSET_H_
#define ACLNN_SCALED_OFFSET_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

// out = 2 * added + factor * self, in float32 and rounded once; a negative factor is error 561999.
aclnnStatus aclnnScaledOffsetGetWorkspaceSize(const aclTensor* added, const aclTensor* self,
                                              const aclScalar* factor, aclTensor* out,
                                              uint64_t* workspaceSize, aclOpExecutor** executor);
aclnnStatus aclnnScaledOffset(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                              aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // ACLNN_SCALED_OFFSET_H_
