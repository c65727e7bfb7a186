// SPDX-License-Identifier: Apache-2.0
// CANN's newer name of the same declarations.
#ifndef ACL_ACL_BASE_MDL_H_
#define ACL_ACL_BASE_MDL_H_
#include "acl/acl_base.h"
#endif  // ACL_ACL_BASE_MDL_H_
