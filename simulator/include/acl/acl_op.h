// SPDX-License-Identifier: Apache-2.0
// Present so that programs that include it compile; the simulator runs operators through aclnn
// only.
#ifndef ACL_ACL_OP_H_
#define ACL_ACL_OP_H_
#include "acl/acl_base.h"
#endif  // ACL_ACL_OP_H_
