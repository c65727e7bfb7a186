// SPDX-License-Identifier: Apache-2.0
// The functions below the logging macros.
#ifndef LOG_DLOG_H_
#define LOG_DLOG_H_

#include <cstdint>

#ifndef DLOG_DEBUG
#define DLOG_DEBUG 0
#define DLOG_INFO 1
#define DLOG_WARN 2
#define DLOG_ERROR 3
#endif

constexpr int32_t OP_MODULE_ID = 63;

extern "C" {
// 1 when a message of this level goes anywhere.
int32_t CheckLogLevel(int32_t moduleId, int32_t level);
void DlogRecord(int32_t moduleId, int32_t level, const char* fmt, ...)
    __attribute__((format(printf, 3, 4)));
// Adds to the calling thread's error message, as "op: text".
void ReportOpError(const char* op, const char* fmt, ...) __attribute__((format(printf, 2, 3)));
}

#endif  // LOG_DLOG_H_
