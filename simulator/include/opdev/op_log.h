// SPDX-License-Identifier: Apache-2.0
// Logging and checks of op_api sources. OP_LOGE(code, format, ...) is what aclGetRecentErrMsg
// returns; the other levels are silent unless ASCEND_GLOBAL_LOG_LEVEL (0 debug .. 3 error) asks.
#pragma once

#include <cstdint>

#include "opdev/op_errno.h"

#define OP_LOG_DEBUG 0
#define OP_LOG_INFO 1
#define OP_LOG_WARN 2
#define OP_LOG_ERROR 3

#ifndef unlikely
#define unlikely(x) __builtin_expect((x), 0)
#endif
#ifndef likely
#define likely(x) __builtin_expect((x), 1)
#endif

namespace op {
namespace internal {

bool LogEnabled(int level);
void LogText(int level, const char* file, int line, const char* fmt, ...)
    __attribute__((format(printf, 4, 5)));
// Adds "[code] api: text" to the calling thread's error message.
void ReportStatus(int code, const char* fmt, ...) __attribute__((format(printf, 2, 3)));

}  // namespace internal
}  // namespace op

#define OP_API_LOG_(level, ...)                                      \
  do {                                                               \
    if (op::internal::LogEnabled(level)) {                           \
      op::internal::LogText(level, __FILE__, __LINE__, __VA_ARGS__); \
    }                                                                \
  } while (false)

// log/log.h has its own meaning for some of these names; the header that comes last counts.
#undef OP_LOGD
#undef OP_LOGI
#undef OP_LOGW
#undef OP_LOGE
#undef OP_LOGE_WITHOUT_REPORT
#define OP_LOGD(...) OP_API_LOG_(OP_LOG_DEBUG, __VA_ARGS__)
#define OP_LOGI(...) OP_API_LOG_(OP_LOG_INFO, __VA_ARGS__)
#define OP_LOGW(...) OP_API_LOG_(OP_LOG_WARN, __VA_ARGS__)
#define OP_EVENT(...) OP_API_LOG_(OP_LOG_INFO, __VA_ARGS__)
#define OP_LOGE_WITHOUT_REPORT(code, ...) OP_API_LOG_(OP_LOG_ERROR, __VA_ARGS__)
#define OP_LOGE(code, ...)                         \
  do {                                             \
    OP_LOGE_WITHOUT_REPORT(code, __VA_ARGS__);     \
    op::internal::ReportStatus(code, __VA_ARGS__); \
  } while (false)

#define OP_CHECK_NOTNULL(value)                               \
  do {                                                        \
    if (unlikely((value) == nullptr)) {                       \
      OP_LOGE(ACLNN_ERR_INNER_NULLPTR, "%s is null", #value); \
      return ACLNN_ERR_INNER_NULLPTR;                         \
    }                                                         \
  } while (false)

// The cause was reported where it was found, so this only logs.
#define CHECK_RET(condition, returnValue)                                      \
  do {                                                                         \
    if (unlikely(!(condition))) {                                              \
      OP_LOGE_WITHOUT_REPORT(ACLNN_ERR_INNER, "check failed: %s", #condition); \
      return returnValue;                                                      \
    }                                                                          \
  } while (false)

#define CHECK_RET_CODE(func, ...)             \
  do {                                        \
    const aclnnStatus status_ = (func);       \
    if (unlikely(status_ != ACLNN_SUCCESS)) { \
      OP_LOGE(status_, __VA_ARGS__);          \
      return status_;                         \
    }                                         \
  } while (false)

#define OP_CHECK(condition, log, returnExpr) \
  do {                                       \
    if (unlikely(!(condition))) {            \
      log;                                   \
      returnExpr;                            \
    }                                        \
  } while (false)

#define OP_CHECK_NO_RETURN(condition, log) \
  do {                                     \
    if (unlikely(!(condition))) {          \
      log;                                 \
    }                                      \
  } while (false)

#define CHECK_COND(condition, code, ...) \
  do {                                   \
    if (unlikely(!(condition))) {        \
      OP_LOGE(code, __VA_ARGS__);        \
      return code;                       \
    }                                    \
  } while (false)
