// SPDX-License-Identifier: Apache-2.0
// Other path of log/log.h.
#ifndef OP_COMMON_LOG_LOG_H_
#define OP_COMMON_LOG_LOG_H_

#include "log/log.h"

#endif  // OP_COMMON_LOG_LOG_H_
