// SPDX-License-Identifier: Apache-2.0
// The log functions with a log type (DLOG_TYPE_*) beside the level.
#pragma once

#include <stdint.h>

#include "base/log_types.h"

#ifdef __cplusplus
extern "C" {
#endif
LOG_FUNC_VISIBILITY int32_t AlogCheckDebugLevel(uint32_t moduleId, int32_t level);
LOG_FUNC_VISIBILITY int32_t AlogRecord(uint32_t moduleId, uint32_t logType, int32_t level,
                                       const char* fmt, ...) __attribute__((format(printf, 4, 5)));
#ifdef __cplusplus
}
#endif
