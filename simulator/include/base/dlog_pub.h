// SPDX-License-Identifier: Apache-2.0
// Log messages by module and level. They are silent unless ASCEND_GLOBAL_LOG_LEVEL (0 debug ..
// 3 error) asks.
#pragma once

#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include "base/log_types.h"

#ifdef __cplusplus
extern "C" {
#endif
// 1 when a message of this level goes anywhere.
LOG_FUNC_VISIBILITY int32_t CheckLogLevel(int32_t moduleId, int32_t level);
LOG_FUNC_VISIBILITY void DlogRecord(int32_t moduleId, int32_t level, const char* fmt, ...)
    __attribute__((format(printf, 3, 4)));
LOG_FUNC_VISIBILITY void DlogVaList(int32_t moduleId, int32_t level, const char* fmt, va_list list);
LOG_FUNC_VISIBILITY int32_t dlog_getlevel(int32_t moduleId, int32_t* enableEvent);
LOG_FUNC_VISIBILITY int32_t dlog_setlevel(int32_t moduleId, int32_t level, int32_t enableEvent);
LOG_FUNC_VISIBILITY int32_t DlogSetAttr(LogAttr logAttr);
LOG_FUNC_VISIBILITY void DlogFlush(void);
#ifdef __cplusplus
}
#endif

#define DLOG_FILE_NAME __FILE__
#ifndef __FILENAME__
#define __FILENAME__ DLOG_FILE_NAME
#endif

#define Dlog(moduleId, level, fmt, ...)                                                    \
  do {                                                                                     \
    if (CheckLogLevel(moduleId, level) == 1) {                                             \
      DlogRecord(moduleId, level, "[%s:%d]" fmt, DLOG_FILE_NAME, __LINE__, ##__VA_ARGS__); \
    }                                                                                      \
  } while (0)
#define DlogSub(moduleId, submodule, level, fmt, ...)                                     \
  do {                                                                                    \
    if (CheckLogLevel(moduleId, level) == 1) {                                            \
      DlogRecord(moduleId, level, "[%s:%d][%s]" fmt, DLOG_FILE_NAME, __LINE__, submodule, \
                 ##__VA_ARGS__);                                                          \
    }                                                                                     \
  } while (0)
#define dlog_error(moduleId, ...) Dlog(moduleId, DLOG_ERROR, __VA_ARGS__)
#define dlog_warn(moduleId, ...) Dlog(moduleId, DLOG_WARN, __VA_ARGS__)
#define dlog_info(moduleId, ...) Dlog(moduleId, DLOG_INFO, __VA_ARGS__)
#define dlog_debug(moduleId, ...) Dlog(moduleId, DLOG_DEBUG, __VA_ARGS__)
