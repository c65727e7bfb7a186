// SPDX-License-Identifier: Apache-2.0
// Other path of log/error_code.h.
#ifndef OP_COMMON_LOG_ERROR_CODE_H_
#define OP_COMMON_LOG_ERROR_CODE_H_

#include "log/error_code.h"

#endif  // OP_COMMON_LOG_ERROR_CODE_H_
