// SPDX-License-Identifier: Apache-2.0
// Other path of op_common/op_host/util/fp16.h.
#ifndef UTIL_FP16_H_
#define UTIL_FP16_H_

#include "op_common/op_host/util/fp16.h"

#endif  // UTIL_FP16_H_
