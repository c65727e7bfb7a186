// SPDX-License-Identifier: Apache-2.0
// Other path of base/log_types.h.
#ifndef LOG_TYPES_H_
#define LOG_TYPES_H_

#include "base/log_types.h"

#endif  // LOG_TYPES_H_
