// SPDX-License-Identifier: Apache-2.0
// Other path of op_common/op_host/util/const_util.h.
#ifndef UTIL_CONST_UTIL_H_
#define UTIL_CONST_UTIL_H_

#include "op_common/op_host/util/const_util.h"

#endif  // UTIL_CONST_UTIL_H_
