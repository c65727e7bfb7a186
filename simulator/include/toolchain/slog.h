// SPDX-License-Identifier: Apache-2.0
// The log interface of earlier releases: dlog_pub.h and events.
#pragma once

#include "base/dlog_pub.h"

#define DLOG_EVENT 0x10
#define ALL_MODULE (0x0000FFFFU)
#define LOG_SAVE_MODE_DEF (0x0U)
#define LOG_SAVE_MODE_UNI (0xFE756E69U)
#define LOG_SAVE_MODE_SEP (0xFE736570U)

#define dlog_event(moduleId, fmt, ...) \
  DlogRecord(moduleId, DLOG_EVENT, "[%s:%d]" fmt, DLOG_FILE_NAME, __LINE__, ##__VA_ARGS__)

// These are the same functions under the names that C++ sources of LOG_CPP use.
#define CheckLogLevelForC CheckLogLevel
#define DlogRecordForC DlogRecord
#define DlogGetlevelForC dlog_getlevel
#define DlogSetlevelForC dlog_setlevel
#define DlogSetAttrForC DlogSetAttr
#define DlogFlushForC DlogFlush
#define DlogForC Dlog
#define DlogSubForC DlogSub
